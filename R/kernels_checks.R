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
  check_kernel_entries(K, names_of_rows(names, nrow(K)))
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

# The samples of a matrix, for messages.
names_of_rows <- function(ids, n) if (is.null(ids)) paste("row", seq_len(n)) else quoted(ids)

# One column after the other, because a kernel may take most of the memory.
check_kernel_entries <- function(K, samples) { # nolint: object_name_linter.
  columns <- seq_len(ncol(K))
  refuse <- function(wrong, problem) {
    for (j in columns) {
      i <- which(wrong(j))[1]
      refuse_if(!is.na(i), "`K` of %s and %s %s.", samples[i], samples[j], problem)
    }
  }
  refuse(function(j) !is.finite(K[, j]), "is not finite")
  rounding <- 1e-8 * max(abs(range(K)))
  refuse(function(j) abs(K[, j] - K[j, ]) > rounding, not_symmetric)
  refuse(function(j) columns == j & K[j, j] < 0, below_zero)
  # Every 2 x 2 submatrix must have no negative eigenvalue, within the rounding that fits allow.
  most <- sqrt(diag(K))
  rounding <- 1e-6 * mean(diag(K))
  refuse(function(j) abs(K[, j]) > most * most[j] + rounding, too_large)
}

not_symmetric <- "differs from its mirror entry: a kernel is symmetric"
below_zero <- "is below 0: a kernel has no negative eigenvalue"
too_large <- "is larger than their diagonals allow: a kernel has no negative eigenvalue"

products_of <- function(f, V) { # nolint: object_name_linter.
  product <- f(V)
  refuse_if(!is.numeric(product) || length(product) != length(V) || !all(is.finite(product)),
            "The function of kernel_products() must give a matrix of %s x %s finite numbers.",
            format_count(nrow(V)), format_count(ncol(V)))
  matrix(as.double(product), nrow(V), ncol(V))
}
