#' Site frequency spectra
#'
#' A site frequency spectrum counts the sites at which 0, 1, ..., n of a population's
#' n haplotypes have the derived allele; a joint spectrum counts those of up to five
#' populations at once.
#'
#' A spectrum is a numeric array of one dimension for each population, of n + 1
#' cells for n haplotypes. Its dimnames are the numbers of derived copies, so that
#' `x["0", "3"]` is the same as `x[1, 4]`, and are named by the populations.
#'
#' Cells in the mask are not data: they count in no sum and are `NA` wherever a
#' plain array or vector is made of a spectrum. In a folded spectrum, which counts
#' copies of the rarer allele, these are also the cells in which more than half of
#' all haplotypes would have it.
#'
#' **Arithmetic** with numbers, arrays of the same shape and other spectra of the
#' same populations works cell by cell, and so do `sqrt()`, `log()`, `round()` and the
#' like. The result's mask has the cells masked in either, and those where the result
#' is not finite. Comparisons give a logical array. `sum()`, `mean()`, `range()` and
#' the like are over the cells that are not masked: `sum(x)` is the number of
#' segregating sites.
#'
#' **Parts** of a spectrum: with whole populations and single numbers of copies, as in
#' `x["3", ]`, the result is a spectrum of the whole ones. Anything else, and any part
#' of a folded spectrum, is a plain array or vector.
#'
#' @param counts A numeric array of n + 1 cells in each of up to five dimensions,
#'   or for one population a vector. Finite where not masked; expected counts need
#'   not be whole numbers.
#' @param populations Their names, in the order of the dimensions; by default the
#'   names of `counts`' dimnames, if there are any.
#' @param mask A logical array of the shape of `counts`; by default the two cells
#'   of sites that do not vary, none or all copies derived, are masked. Cells that a
#'   folded spectrum does not have are masked in any case.
#' @param folded Whether `counts` are of the rarer allele; `FALSE` by default. Its cells above half
#'   of all haplotypes must then be 0, `NA` or masked.
#' @return An array of class `sfs` with the attributes `mask`, a logical array, and
#'   `folded`. `as.array()` gives the plain array, `as.vector()` the plain vector,
#'   `dim(x) - 1` the sample sizes, `names(dimnames(x))` the populations.
#' @section Errors:
#' `ancify_input_error` for counts that are no such array, not finite where not
#' masked, or in cells that a folded spectrum does not have; for a mask of another
#' shape; for names that are missing, not unique, or hold quotes or line breaks; and
#' in arithmetic for spectra of different sizes or populations, or one folded and
#' the other not.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint
#' demographic history of multiple populations from multidimensional SNP frequency
#' data. PLoS Genetics 5:e1000695.
#' @seealso [sfs_from_vcf()] makes one from genotypes, [sfs_from_sites()] from allele
#'   counts, [read_sfs()] reads one; [fold()], [project_sfs()], [marginal_sfs()] and
#'   [combine_populations()]; [sfs_statistics()]; [plot.sfs()]
#' @export
#' @examples
#' one <- sfs(c(0, 12, 5, 3, 2, 0), "YRI")
#' one
#' sum(one)
#'
#' two <- sfs(matrix(1:12, 3, 4), c("YRI", "CEU"))
#' two["1", ]
#' two / sum(two)
sfs <- function(counts, populations = NULL, mask = NULL, folded = FALSE) {
  check_given()
  counts <- as_counts(counts)
  populations <- populations %||% names(dimnames(counts))
  check_populations(populations, length(dim(counts)))
  check_flag(folded, "folded")
  mask <- as_mask(mask, dim(counts))
  if (folded) {
    above <- above_half(dim(counts))
    check_folded_away(counts, mask, above)
    mask <- mask | above
    counts[above] <- 0
  }
  check_sfs(new_sfs(counts, populations, mask, folded), "counts")
}

# The one maker of the class.
new_sfs <- function(counts, populations, mask, folded) {
  dim <- unname(dim(counts))
  copies <- lapply(dim, function(cells) as.character(seq_len(cells) - 1))
  names(copies) <- populations
  structure(
    array(as.double(counts), dim, copies), mask = array(mask, dim), folded = folded, class = "sfs"
  )
}

is_sfs <- function(x) inherits(x, "sfs")

# Of sites that do not vary in any population.
corner_mask <- function(dim) array(seq_len(prod(dim)) %in% c(1, prod(dim)), dim)

# Spectra may have been changed since they were made.
check_sfs <- function(x, name = "x") {
  if (!is_sfs(x)) {
    abort_ancify(
      sprintf("`%s` must be a site frequency spectrum of class sfs, not %s; sfs() makes one.",
              name, show_value(x)),
      "input"
    )
  }
  if (!is_whole(x)) {
    abort_ancify(
      sprintf("`%s` is no longer a whole spectrum; make it again with sfs().", name), "input"
    )
  }
  wrong <- which(!is.finite(x) & !attr(x, "mask"))
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`%s` is %s in the cell %s: give a number, or mask the cell.", name, unclass(x)[wrong[1]],
        cell_name(wrong[1], dim(x))
      ),
      "input"
    )
  }
  x
}

is_whole <- function(x) {
  mask <- attr(x, "mask")
  all(
    is.double(x), is.array(x), is.list(dimnames(x)), is.logical(mask),
    identical(dim(x), dim(mask)), is.logical(attr(x, "folded"))
  )
}

# Derived copies in each population, as in [0, 3].
cell_name <- function(i, dim) {
  sprintf("[%s]", paste(arrayInd(i, dim) - 1, collapse = ", "))
}

as_counts <- function(counts) {
  if (is_sfs(counts)) counts <- plain_array(counts)
  if (!is.numeric(counts) || is.object(counts)) {
    abort_ancify(
      sprintf("`counts` must be a numeric array or vector, not %s.", show_value(counts)), "input"
    )
  }
  if (is.null(dim(counts))) counts <- array(counts, length(counts))
  if (length(dim(counts)) > core_limits()$populations || any(dim(counts) < 2)) {
    abort_ancify(
      sprintf(
        "`counts` is an array of %s: a spectrum has 1 to %d dimensions of at least 2 cells each.",
        paste(dim(counts), collapse = " x "), core_limits()$populations
      ),
      "input"
    )
  }
  counts
}

check_populations <- function(populations, n) {
  if (is.null(populations)) {
    return(invisible())
  }
  if (!is.character(populations) || length(populations) != n) {
    abort_ancify(
      sprintf("`populations` must be %d %s, not %s.", n, if (n == 1) "name" else "names",
              show_value(populations)),
      "input"
    )
  }
  wrong <- is.na(populations) | !validEnc(populations)
  wrong <- wrong | !nzchar(populations, keepNA = FALSE) | duplicated(populations)
  wrong[!wrong] <- grepl("[\"[:cntrl:]]", populations[!wrong])
  if (any(wrong)) {
    abort_ancify(
      sprintf(
        "`populations[%d]` is %s: names must be unique, not empty, and without quotes.",
        which(wrong)[1], show_value(populations[wrong][1])
      ),
      "input"
    )
  }
}

as_mask <- function(mask, dim) {
  if (is.null(mask)) {
    return(array(seq_len(prod(dim)) %in% c(1, prod(dim)), dim))
  }
  shape <- dim(mask) %||% length(mask)
  if (!is.logical(mask) || anyNA(mask) || !identical(as.integer(shape), as.integer(dim))) {
    abort_ancify(
      sprintf("`mask` must be TRUE or FALSE for each cell, an array of %s.",
              paste(dim, collapse = " x ")),
      "input"
    )
  }
  array(mask, dim)
}

check_folded_away <- function(counts, mask, above) {
  wrong <- which(above & !mask & !is.na(counts) & counts != 0)
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`counts` is %s in the cell %s, which a folded spectrum does not have; fold() folds one.",
        format(counts[wrong[1]]), cell_name(wrong[1], dim(counts))
      ),
      "input"
    )
  }
}

# Copies in all populations together, for each cell.
total_copies <- function(dim) {
  Reduce(function(total, cells) outer(total, seq_len(cells) - 1, "+"), dim[-1],
         array(seq_len(dim[1]) - 1, dim[1]))
}

# Cells in which more than half of all haplotypes have the allele.
above_half <- function(dim) {
  total_copies(dim) > sum(dim - 1) %/% 2
}

# Named by the populations, or by their numbers.
population_labels <- function(x) {
  names(dimnames(x)) %||% paste("population", seq_along(dim(x)))
}

# What is stored, masked or not.
plain_array <- function(x) {
  if (!is_sfs(x)) {
    return(x)
  }
  array(as.vector(unclass(x)), dim(x), dimnames(x))
}

#' @export
as.array.sfs <- function(x, ...) {
  counts <- plain_array(check_sfs(x))
  counts[attr(x, "mask")] <- NA
  counts
}

#' @export
as.double.sfs <- function(x, ...) as.double(as.array(x))

#' @export
as.vector.sfs <- function(x, mode = "any") as.vector(as.array(x), mode)

#' @export
mean.sfs <- function(x, ...) mean(as.array(x)[!attr(x, "mask")], ...)

unlike_sfs <- function(e1, e2) {
  sizes <- function(x) paste(dim(x) - 1, collapse = ", ")
  if (!identical(dim(e1), dim(e2))) {
    sprintf("the sample sizes are %s and %s; project_sfs() makes them equal", sizes(e1), sizes(e2))
  } else if (attr(e1, "folded") != attr(e2, "folded")) {
    "one is folded and the other is not; fold() folds it"
  } else if (length(unique(population_names(list(e1, e2)))) > 1) {
    sprintf("the populations are %s and %s", enumerate(population_labels(e1)),
            enumerate(population_labels(e2)))
  }
}

# Of those spectra that have names.
population_names <- function(spectra) {
  Filter(Negate(is.null), lapply(spectra, function(x) names(dimnames(x))))
}
