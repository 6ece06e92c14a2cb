# Kernels of which few entries are not 0, and matrices of the package Matrix.

# A sparse kernel. `entries`: a data frame of row, column and value: the lower triangle, sorted by
# column, then row.
sparse_kernel <- function(entries, ids, n, ...) {
  check_triangle(entries, n, names_of_rows(ids, n))
  new_kernel("sparse", ids, n, entries = entries, ...)
}

# A kernel of a sparse matrix of the package Matrix.
kernel_of_sparse <- function(K) { # nolint: object_name_linter.
  need_packages("Matrix", "Matrices of the package Matrix")
  refuse_if(nrow(K) != ncol(K) || nrow(K) == 0, "`K` must be a square matrix of numbers, not %s.",
            paste(dim(K), collapse = " x "))
  ids <- names_of_samples(rownames(K), colnames(K))
  K <- methods::as(methods::as(methods::as(K, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  entries <- data.frame(row = K@i + 1L, column = rep(seq_len(ncol(K)), diff(K@p)), value = K@x)
  sparse_kernel(lower_triangle(entries, nrow(K), names_of_rows(ids, nrow(K))), ids, nrow(K))
}

# The lower triangle of all entries of a matrix, which must be symmetric.
lower_triangle <- function(entries, n, samples) {
  entries <- entries[is.na(entries$value) | entries$value != 0, ]
  refuse_entry(entries, !is.finite(entries$value), samples, "is not finite")
  place <- function(row, column) (column - 1) * n + row
  mirror <- entries$value[match(place(entries$column, entries$row),
                                place(entries$row, entries$column))]
  refuse_entry(entries, abs(entries$value - replace(mirror, is.na(mirror), 0)) >
                 1e-8 * max(abs(entries$value), 0), samples, not_symmetric)
  entries[entries$row >= entries$column, ]
}

# The checks of check_kernel_entries() for a triangle, whose values are finite.
check_triangle <- function(entries, n, samples) {
  on_diagonal <- entries$row == entries$column
  diagonal <- replace(numeric(n), entries$row[on_diagonal], entries$value[on_diagonal])
  refuse_entry(entries, on_diagonal & entries$value < 0, samples, below_zero)
  refuse_if(all(diagonal == 0), "`K` is 0 on its diagonal, which makes no kernel.")
  most <- sqrt(diagonal[entries$row] * diagonal[entries$column]) + 1e-6 * mean(diagonal)
  refuse_entry(entries, abs(entries$value) > most, samples, too_large)
}

refuse_entry <- function(entries, wrong, samples, problem) {
  at <- which(wrong)[1]
  refuse_if(!is.na(at), "`K` of %s and %s %s.", samples[entries$row[at]],
            samples[entries$column[at]], problem)
}

# ---- For fits ------------------------------------------------------------------------------------

core_sparse <- function(kernel, rows, n, name) {
  place <- match(seq_len(n), rows)
  one <- place[kernel$entries$row]
  other <- place[kernel$entries$column]
  kept <- !is.na(one) & !is.na(other)
  entries <- data.frame(row = pmax(one, other), column = pmin(one, other),
                        value = kernel$entries$value)[kept, ]
  list(kind = "sparse", entries = entries[order(entries$column, entries$row), ])
}

sparse_fields <- function(kernel) {
  core_list(
    "SparseKernel",
    row = kernel$entries$row - 1L, column = kernel$entries$column - 1L,
    value = kernel$entries$value
  )
}
