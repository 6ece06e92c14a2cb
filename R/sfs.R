#' Make a site frequency spectrum
#'
#' A site frequency spectrum counts sites by the copies of the derived allele in a sample: 0, 1,
#' ..., n of n haplotypes. A joint spectrum does so for up to five populations at once. `sfs()`
#' makes one from an array of counts: `sfs(c(0, 12, 5, 3, 2, 0), "YRI")`.
#'
#' **Shape.** A spectrum is a numeric array with a dimension for each population, of n + 1 cells
#' for n haplotypes. Its dimnames are the derived copies, so `x["0", "3"]` is `x[1, 4]`. The
#' names of the dimnames are the populations.
#'
#' **Mask.** Masked cells are not data. No sum uses them, and they are `NA` in plain arrays and
#' vectors. A folded spectrum counts copies of the rarer allele; its cells above half of all
#' haplotypes are also masked.
#'
#' **Arithmetic** works cell by cell, with numbers, with arrays of the same shape, and with spectra
#' of the same populations; so do `sqrt()`, `log()`, `round()` and similar functions. A cell of the
#' result is masked if it is masked in an operand or not finite. A negative difference is not data:
#' likelihoods, fits and files refuse it. Comparisons give a logical array. `sum()`, `mean()`,
#' `range()` and similar functions use unmasked cells: `sum(x)` counts segregating sites.
#'
#' **Subsets.** `x["3", ]`, with whole populations and single numbers of copies, is a spectrum of
#' the whole populations. Any other subset, and any subset of a folded spectrum, is a plain array or
#' vector.
#'
#' @param counts A numeric array of up to five dimensions, with n + 1 cells for n haplotypes; a
#'   vector for one population. Unmasked cells are finite and not negative, but may be fractional,
#'   as in model expectations. A spectrum keeps its populations, mask and folding unless others are
#'   given, so `sfs(x, "CEU")` renames a population.
#' @param populations Names of the populations, in the order of the dimensions. `NULL` (the
#'   default): the names of `counts`' dimnames, if any.
#' @param mask A logical array of the shape of `counts`. `NULL` (the default) masks the two cells
#'   of invariant sites, with no or only derived copies. A folded spectrum's cells above half are
#'   always masked.
#' @param folded Whether `counts` refer to the rarer allele; `FALSE` (the default). If `TRUE`, cells
#'   above half of all haplotypes must be 0, `NA` or masked.
#' @return An array of class `sfs` with the attributes `mask`, a logical array, and `folded`. For a
#'   spectrum `x`:
#' * `as.array(x)` and `as.vector(x)`: the plain array and the plain vector. `c(x, y)` joins such
#'   vectors.
#' * `dim(x) - 1`: the sample sizes.
#' * `names(dimnames(x))`: the populations.
#' @section Errors:
#' `ancify_input_error`:
#' * `counts` is not such an array, has a nonfinite or negative unmasked cell, or is folded with
#'   sites in cells above half.
#' * `mask` has another shape.
#' * `populations` has another length, or a name that is empty, repeated, or has quotes or line
#'   breaks.
#' * In arithmetic: the spectra differ in sizes, in populations, or in folding.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint
#' demographic history of multiple populations from multidimensional SNP frequency
#' data. PLoS Genetics 5:e1000695.
#' @seealso [sfs_from_vcf()] for genotypes, [sfs_from_sites()] for allele counts, [read_sfs()];
#'   [fold()], [project_sfs()], [marginal_sfs()] and [combine_populations()]; [sfs_statistics()];
#'   [plot.sfs()]
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
  if (is_sfs(counts)) {
    check_sfs(counts, "counts")
    mask <- mask %||% attr(counts, "mask")
    if (missing(folded)) folded <- attr(counts, "folded")
  }
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
  check_counted_sfs(new_sfs(counts, populations, mask, folded), "counts")
}

# Differences of spectra may be negative; counts are not.
check_counted_sfs <- function(x, name) {
  check_sfs(x, name)
  wrong <- which(x < 0 & !attr(x, "mask"))
  refuse_if(length(wrong),
            "`%s` is %s in cell %s: a count of sites is not below 0. Correct it, or mask the cell.",
            name, format(unclass(x)[wrong[1]]), cell_name(wrong[1], dim(x)))
  invisible(x)
}

# The only constructor of the class.
new_sfs <- function(counts, populations, mask, folded) {
  dim <- unname(dim(counts))
  copies <- lapply(dim, function(cells) as.character(seq_len(cells) - 1))
  names(copies) <- populations
  structure(
    array(as.double(counts), dim, copies), mask = array(mask, dim), folded = folded, class = "sfs"
  )
}

is_sfs <- function(x) inherits(x, "sfs")

# TRUE for the two cells of sites that are invariant in all populations.
corner_mask <- function(dim) array(seq_len(prod(dim)) %in% c(1, prod(dim)), dim)

# A user may have modified a spectrum.
check_sfs <- function(x, name = "x") {
  refuse_if(!is_sfs(x),
            "`%s` must be a site frequency spectrum of class sfs, not %s. sfs() makes one.", name,
            show_value(x))
  refuse_if(!is_whole(x), "`%s` is not a valid spectrum any more: make it again with sfs().", name)
  wrong <- which(!is.finite(x) & !attr(x, "mask"))
  refuse_if(length(wrong), "`%s` is %s in cell %s: give a number, or mask the cell.", name,
            unclass(x)[wrong[1]], cell_name(wrong[1], dim(x)))
  x
}

is_whole <- function(x) {
  mask <- attr(x, "mask")
  all(
    is.double(x), is.array(x), is.list(dimnames(x)), is.logical(mask),
    identical(dim(x), dim(mask)), is.logical(attr(x, "folded"))
  )
}

# The name of a cell: its derived copies in each population, such as [0, 3].
cell_name <- function(i, dim) {
  sprintf("[%s]", paste(arrayInd(i, dim) - 1, collapse = ", "))
}

as_counts <- function(counts) {
  if (is_sfs(counts)) counts <- plain_array(counts)
  must_be(is.numeric(counts) && !is.object(counts), counts, "counts", "a numeric array or vector")
  if (is.null(dim(counts))) counts <- array(counts, length(counts))
  refuse_if(
    length(dim(counts)) > core_limits()$populations || any(dim(counts) < 2),
    "`counts` is an array of %s, but a spectrum has 1 to %d dimensions of at least 2 cells.",
    paste(dim(counts), collapse = " x "), core_limits()$populations
  )
  counts
}

as_mask <- function(mask, dim) {
  if (is.null(mask)) {
    return(array(seq_len(prod(dim)) %in% c(1, prod(dim)), dim))
  }
  shape <- dim(mask) %||% length(mask)
  refuse_if(!is.logical(mask) || anyNA(mask) || !identical(as.integer(shape), as.integer(dim)),
            "`mask` must be an array of %s, with TRUE or FALSE for each cell.",
            paste(dim, collapse = " x "))
  array(mask, dim)
}

check_folded_away <- function(counts, mask, above) {
  wrong <- which(above & !mask & !is.na(counts) & counts != 0)
  refuse_if(length(wrong),
            "`counts` is %s in cell %s, but a folded spectrum has no such cell. fold() folds one.",
            format(counts[wrong[1]]), cell_name(wrong[1], dim(counts)))
}

# For each cell the sum of copies over populations.
total_copies <- function(dim) {
  Reduce(function(total, cells) outer(total, seq_len(cells) - 1, "+"), dim[-1],
         array(seq_len(dim[1]) - 1, dim[1]))
}

# TRUE for cells in which more than half of all haplotypes have the allele.
above_half <- function(dim) {
  total_copies(dim) > sum(dim - 1) %/% 2
}

# Names of the populations, or `population 1` and so on.
population_labels <- function(x) {
  names(dimnames(x)) %||% paste("population", seq_along(dim(x)))
}

# The stored values of all cells, including masked cells.
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

# Base R's as.matrix() would show the stored counts of masked cells.
#' @export
as.matrix.sfs <- function(x, ...) as.matrix(as.array(x), ...)

#' @export
c.sfs <- function(...) do.call(c, lapply(list(...), function(x) if (is_sfs(x)) as.array(x) else x))

#' @export
as.integer.sfs <- function(x, ...) as.integer(as.array(x))

#' @export
is.na.sfs <- function(x) is.na(plain_array(x)) | attr(x, "mask")

#' @export
summary.sfs <- function(object, ...) summary(unmasked(object), ...)

#' @importFrom stats quantile
#' @export
quantile.sfs <- function(x, ...) stats::quantile(unmasked(x), ...)

#' @importFrom stats median
#' @export
median.sfs <- function(x, na.rm = FALSE, ...) { # nolint: object_name_linter.
  stats::median(unmasked(x))
}

#' @export
t.sfs <- function(x) aperm(x)

#' @export
aperm.sfs <- function(a, perm = NULL, ...) {
  check_sfs(a)
  if (is.character(perm)) perm <- match(perm, names(dimnames(a)))
  turned <- function(values) aperm(array(values, dim(a)), perm)
  order <- perm %||% rev(seq_along(dim(a)))
  new_sfs(turned(plain_array(a)), names(dimnames(a))[order], turned(attr(a, "mask")),
          attr(a, "folded"))
}

# The counts of cells that are not masked.
unmasked <- function(x) as.array(x)[!attr(x, "mask")]

#' @export
mean.sfs <- function(x, ...) mean(unmasked(x), ...)

# The reason why two spectra do not match, or NULL.
unlike_sfs <- function(e1, e2) {
  sizes <- function(x) paste(dim(x) - 1, collapse = ", ")
  if (!identical(dim(e1), dim(e2))) {
    sprintf("the sample sizes are %s and %s (project_sfs() changes them)", sizes(e1), sizes(e2))
  } else if (attr(e1, "folded") != attr(e2, "folded")) {
    "one is folded and the other is not (fold() folds it)"
  } else if (length(unique(population_names(list(e1, e2)))) > 1) {
    sprintf("the populations are %s and %s", enumerate(population_labels(e1)),
            enumerate(population_labels(e2)))
  }
}

# The population names of each spectrum that has names.
population_names <- function(spectra) {
  Filter(Negate(is.null), lapply(spectra, function(x) names(dimnames(x))))
}
