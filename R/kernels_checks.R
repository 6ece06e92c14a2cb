# Fields that all kernels share, and checks of kernels.

# `ids`: the samples' ids, or NULL; `n`: their number, NA if unknown. `parts`: names of the kernel's
# components, NULL if it has only one.
new_kernel <- function(kind, ids, n, ..., parts = NULL) {
  kernel <- structure(list(kind = kind, ids = ids, n = n, parts = parts, ...),
                      class = "reml_kernel")
  if (!is.null(kernel$genotypes)) {
    kernel$genotypes <- with_copies_by_sex(kernel$genotypes)
    warn_of_sex_chromosomes(kernel$genotypes, "are in the kernel")
    warn_of_haploid_calls(kernel$genotypes, new_work())
  }
  kernel
}

# The kind of a fit's kernel; NULL for a matrix.
kernel_kind <- function(kernel) if (is.list(kernel)) kernel$kind

# Names of the components of a kernel, as made by a user or kept by a fit.
component_names <- function(kernel, name) {
  if (is.list(kernel) && length(kernel$parts)) paste(name, kernel$parts, sep = ".") else name
}

# For each kernel of a fit, the indices of its components.
kernel_components <- function(fit) {
  Map(function(kernel, name) match(component_names(kernel, name), fit$names),
      fit$kernels, names(fit$kernels))
}

# ---- Checks --------------------------------------------------------------------------------------

check_kernel <- of_class("reml_kernel", "a kernel, such as kernel_matrix() makes")

# A matrix of doubles, with names of both rows and columns, or neither.
check_kernel_matrix <- function(K) { # nolint: object_name_linter.
  refuse_if(!is.matrix(K) || !is.numeric(K) || nrow(K) != ncol(K) || nrow(K) == 0,
            "`K` must be a square matrix of numbers, not %s.",
            if (is.matrix(K)) paste(dim(K), collapse = " x ") else show_value(K))
  storage.mode(K) <- "double"
  names <- names_of_samples(rownames(K), colnames(K))
  check_kernel_entries(K, if (is.null(names)) paste("row", seq_len(nrow(K))) else quoted(names))
  dimnames(K) <- if (!is.null(names)) list(names, names)
  K
}

# The names of the rows, or of the columns if rows have none. If both exist, they must agree.
names_of_samples <- function(rows, columns) {
  i <- if (!is.null(rows) && !is.null(columns)) which(rows != columns)[1] else NA
  refuse_if(!is.na(i), "Row %d of `K` is %s, but column %d is %s: name both alike.", i,
            quoted(rows[i]), i, quoted(columns[i]))
  names <- rows %||% columns
  refuse_if(anyDuplicated(names), "`K` has the sample %s twice.",
            quoted(names[anyDuplicated(names)]))
  names
}

check_kernel_entries <- function(K, samples) { # nolint: object_name_linter.
  refuse <- function(wrong, problem) {
    at <- arrayInd(which(wrong)[1], dim(K))
    refuse_if(!is.na(at[1]), "`K` of %s and %s %s.", samples[at[1]], samples[at[2]], problem)
  }
  refuse(!is.finite(K), "is not finite")
  refuse(abs(K - t(K)) > 1e-8 * max(abs(K)),
         "differs from its mirror entry: a kernel is symmetric")
  refuse(row(K) == col(K) & K < 0, "is below 0: a kernel has no negative eigenvalue")
  # Every 2 x 2 submatrix must have no negative eigenvalue, within the rounding that fits allow.
  most <- sqrt(diag(K))
  refuse(abs(K) > tcrossprod(most) + 1e-6 * mean(diag(K)),
         "is larger than their diagonals allow: a kernel has no negative eigenvalue")
}

products_of <- function(f, V) { # nolint: object_name_linter.
  product <- f(V)
  refuse_if(!is.numeric(product) || length(product) != length(V) || !all(is.finite(product)),
            "The function of kernel_products() must give a matrix of %s x %s finite numbers.",
            format_count(nrow(V)), format_count(ncol(V)))
  matrix(as.double(product), nrow(V), ncol(V))
}
