# What all kernels share, and what is checked of them.

# `ids`: those of the samples, or NULL; `n`: their number, NA if the kernel does not say. `parts`:
# names of its components, NULL if the kernel is one.
new_kernel <- function(kind, ids, n, ..., parts = NULL) {
  structure(list(kind = kind, ids = ids, n = n, parts = parts, ...), class = "reml_kernel")
}

# The kind of a fit's kernel; NULL for a matrix.
kernel_kind <- function(kernel) if (is.list(kernel)) kernel$kind

# Names of a kernel's components, or of a fit's kernel's.
component_names <- function(kernel, name) {
  if (is.list(kernel) && length(kernel$parts)) paste(name, kernel$parts, sep = ".") else name
}

# For each kernel of a fit the numbers of its components.
kernel_components <- function(fit) {
  Map(function(kernel, name) match(component_names(kernel, name), fit$names),
      fit$kernels, names(fit$kernels))
}

# ---- Checks --------------------------------------------------------------------------------------

check_kernel <- function(kernel, name) {
  if (!inherits(kernel, "reml_kernel")) {
    abort_ancify(
      sprintf("`%s` must be a kernel, such as kernel_matrix() makes, not %s.", name,
              show_value(kernel)),
      "input"
    )
  }
}

check_scale_power <- function(x) {
  if (!is.numeric(x) || length(x) != 1 || !is.finite(x)) {
    abort_ancify(sprintf("`scale_power` must be a number, not %s.", show_value(x)), "input")
  }
}

# A matrix of doubles whose rows have names, or none.
check_kernel_matrix <- function(K) { # nolint: object_name_linter.
  if (!is.matrix(K) || !is.numeric(K) || nrow(K) != ncol(K) || nrow(K) == 0) {
    abort_ancify(
      sprintf("`K` must be a square matrix of numbers, not %s.",
              if (is.matrix(K)) paste(dim(K), collapse = " x ") else show_value(K)),
      "input"
    )
  }
  storage.mode(K) <- "double"
  names <- names_of_samples(rownames(K), colnames(K))
  check_kernel_entries(K, if (is.null(names)) paste("row", seq_len(nrow(K))) else quoted(names))
  dimnames(K) <- if (!is.null(names)) list(names, names)
  K
}

# The names of the rows, or of the columns if rows have none. Both must be alike.
names_of_samples <- function(rows, columns) {
  i <- if (!is.null(rows) && !is.null(columns)) which(rows != columns)[1] else NA
  if (!is.na(i)) {
    abort_ancify(
      sprintf("Row %d of `K` is %s, but column %d is %s: name both alike.", i, quoted(rows[i]), i,
              quoted(columns[i])),
      "input"
    )
  }
  names <- rows %||% columns
  if (anyDuplicated(names)) {
    abort_ancify(
      sprintf("`K` has the sample %s twice.", quoted(names[anyDuplicated(names)])), "input"
    )
  }
  names
}

check_kernel_entries <- function(K, samples) { # nolint: object_name_linter.
  refuse <- function(wrong, problem) {
    at <- arrayInd(which(wrong)[1], dim(K))
    if (!is.na(at[1])) {
      abort_ancify(
        sprintf("`K` of %s and %s %s.", samples[at[1]], samples[at[2]], problem), "input"
      )
    }
  }
  refuse(!is.finite(K), "is not finite")
  refuse(abs(K - t(K)) > 1e-8 * max(abs(K)),
         "differs from its mirror entry: a kernel is symmetric")
  refuse(row(K) == col(K) & K < 0, "is below 0: a kernel has no negative eigenvalue")
}

products_of <- function(f, V) { # nolint: object_name_linter.
  product <- f(V)
  if (!is.numeric(product) || length(product) != length(V) || !all(is.finite(product))) {
    abort_ancify(
      sprintf("The function of kernel_products() must give a matrix of %s x %s finite numbers.",
              format_count(nrow(V)), format_count(ncol(V))),
      "input"
    )
  }
  matrix(as.double(product), nrow(V), ncol(V))
}
