# Arithmetic, subsets and summaries of spectra.

#' @export
`[.sfs` <- function(x, ..., drop = TRUE) {
  dim <- dim(x)
  part <- as.array(x)[..., drop = drop]
  cells <- array(seq_along(x), dim, dimnames(x))[..., drop = FALSE]
  if (length(dim(cells)) != length(dim)) {
    return(part)
  }
  whole <- whole_dimensions(cells, dim)
  is_spectrum <- drop && any(whole) && all(dim(cells)[!whole] == 1) && !attr(x, "folded")
  if (!all(whole) && !is_spectrum) {
    return(part)
  }
  pick <- function(values) array(values[cells], dim[whole])
  new_sfs(
    pick(unclass(x)), names(dimnames(x))[whole], pick(attr(x, "mask")), attr(x, "folded")
  )
}

# For each dimension, whether a subset has all of its cells, in order. `cells`: the subset's indices
# in the whole array.
whole_dimensions <- function(cells, dim) {
  vapply(seq_along(dim), function(k) {
    identical(positions_along(cells, k, dim), seq_len(dim[k]))
  }, NA)
}

# The positions of a subset's cells along dimension k of the whole array.
positions_along <- function(cells, k, dim) {
  n <- dim(cells)[k]
  first <- matrix(1L, n, length(dim))
  first[, k] <- seq_len(n)
  if (length(cells)) arrayInd(cells[first], dim)[, k] else integer()
}

#' @export
Ops.sfs <- function(e1, e2) {
  compute <- get(.Generic, mode = "function") # nolint: object_usage_linter.
  if (missing(e2)) {
    result <- compute(plain_array(e1))
    spectra <- list(e1)
  } else {
    spectra <- Filter(is_sfs, list(e1, e2))
    check_operands(e1, e2, .Generic) # nolint: object_usage_linter.
    result <- compute(plain_array(e1), plain_array(e2))
  }
  for (spectrum in spectra) check_sfs(spectrum)
  like <- spectra[[1]]
  mask <- Reduce(`|`, lapply(spectra, attr, "mask"))
  result <- array(result, dim(like), dimnames(like))
  if (is.logical(result)) {
    result[mask] <- NA
    return(result)
  }
  computed_sfs(result, common_populations(spectra), mask, attr(like, "folded"))
}

# Masks nonfinite cells. A folded spectrum's cells above half stay 0.
computed_sfs <- function(result, populations, mask, folded) {
  if (folded) result[above_half(dim(result))] <- 0
  new_sfs(result, populations, mask | !is.finite(result), folded)
}

#' @export
Math.sfs <- function(x, ...) {
  generic <- .Generic # nolint: object_usage_linter.
  compute <- get(generic, mode = "function")
  if (startsWith(generic, "cum")) {
    return(compute(as.array(x)))
  }
  result <- suppressWarnings(compute(plain_array(check_sfs(x)), ...))
  computed_sfs(result, names(dimnames(x)), attr(x, "mask"), attr(x, "folded"))
}

check_operands <- function(e1, e2, operator) {
  why <- if (!is_sfs(e1)) {
    unlike_array(e1, dim(e2))
  } else if (!is_sfs(e2)) {
    unlike_array(e2, dim(e1))
  } else {
    unlike_sfs(e1, e2)
  }
  refuse_if(!is.null(why), "Cannot compute `%s` of these spectra: %s.", operator, why)
}

unlike_array <- function(x, dim) {
  if (!(is.numeric(x) || is.logical(x)) || !(length(x) == 1 || identical(dim(x), dim))) {
    sprintf("the other operand must be one number or an array of %s", paste(dim, collapse = " x "))
  }
}

common_populations <- function(spectra) {
  names <- population_names(spectra)
  if (length(names)) names[[1]]
}

#' @export
Summary.sfs <- function(..., na.rm = FALSE) { # nolint: object_name_linter.
  operands <- lapply(list(...), function(x) {
    if (is_sfs(x)) as.vector(unclass(check_sfs(x)))[!attr(x, "mask")] else x
  })
  do.call(.Generic, c(operands, na.rm = na.rm)) # nolint: object_usage_linter.
}
