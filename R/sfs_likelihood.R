#' Compare a spectrum with a model's
#'
#' The likelihood of a spectrum of data, given the one that a model expects, and what is left of
#' each cell.
#'
#' @details
#' Sites are taken to be independent, so that each cell's number is Poisson distributed. Where the
#' scale of the model's spectrum, its theta, is not known, that of greatest likelihood is the one by
#' which both spectra have the same number of sites (`multinomial = TRUE`). Only cells that are
#' masked in neither are looked at, and for folded data the model is folded.
#'
#' Residuals are the model's number less the data's, divided by what it would be off by chance:
#' `"linear"` by the square root of the model's number; `"anscombe"` after a transformation by
#' which they are nearly normal.
#'
#' @param model The spectrum that a model expects, as [expected_sfs()] gives it.
#' @param data The data's, of the same populations and sizes, such as that of [sfs_from_vcf()].
#' @param multinomial Whether the model's spectrum is scaled to as many sites as the data have,
#'   `TRUE` by default.
#' @param type `"anscombe"` (the default) or `"linear"`.
#' @param x An unfolded [sfs()].
#' @param share The share of sites, from 0 to 1, whose ancestral and derived allele were exchanged.
#' @return `sfs_log_likelihood()`: a number, with all constants. `optimal_theta()`: the factor of
#'   greatest likelihood; where `model` is of a theta of 1, the theta of the data.
#'   `sfs_residuals()`: an array of the spectra's size, with `NA` for cells that are masked, or by
#'   `"anscombe"` have no sites in the data. `misidentified_sfs()`: an `sfs`.
#' @section Errors:
#' `ancify_input_error` for what is no spectrum, spectra of different sizes or populations, folded
#' models for data that are not, data without sites, and models that expect no sites, or less,
#' where data have some; for [misidentified_sfs()] a folded `x`, and a `share` outside 0 to 1.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint demographic history
#' of multiple populations from multidimensional SNP frequency data. PLoS Genetics 5:e1000695.
#'
#' Pierce and Schafer (1986) Residuals in generalized linear models. Journal of the American
#' Statistical Association 81:977.
#' @seealso [expected_sfs()], [fit_demography()]
#' @name sfs_likelihood
#' @examples
#' data <- sfs(c(0, 120, 50, 33, 30, 0), "YRI")
#' model <- expected_sfs(demography_model("snm"), NULL, c(YRI = 5), c(20, 30, 40))
#' sfs_log_likelihood(model, data)
#' optimal_theta(model, data)
#' sfs_residuals(model, data)
#' sfs_log_likelihood(misidentified_sfs(model, 0.02), data)
NULL

#' @rdname sfs_likelihood
#' @export
sfs_log_likelihood <- function(model, data, multinomial = TRUE) {
  check_given()
  cells <- cells_of_both(model, data)
  check_flag(multinomial, "multinomial")
  poisson_log_likelihood(cells$model, cells$data, multinomial)
}

#' @rdname sfs_likelihood
#' @export
optimal_theta <- function(model, data) {
  check_given()
  cells <- cells_of_both(model, data)
  sum(cells$data) / sum(cells$model)
}

#' @rdname sfs_likelihood
#' @export
sfs_residuals <- function(model, data, type = c("anscombe", "linear"), multinomial = TRUE) {
  check_given()
  type <- check_choice(type, c("anscombe", "linear"), "type")
  check_flag(multinomial, "multinomial")
  cells <- cells_of_both(model, data)
  m <- cells$model
  d <- cells$data
  if (multinomial) m <- m * sum(d) / sum(m)
  residuals <- if (type == "linear") {
    (m - d) / sqrt(m)
  } else {
    transformed <- function(x) x^(2 / 3) - x^(-1 / 3) / 9
    ifelse(d > 0, 1.5 * (transformed(m) - transformed(d)) / m^(1 / 6), NA)
  }
  all <- array(NA_real_, dim(data), dimnames(data))
  all[cells$which] <- residuals
  all
}

#' @rdname sfs_likelihood
#' @export
misidentified_sfs <- function(x, share) {
  check_given()
  check_sfs(x)
  if (attr(x, "folded")) {
    abort_ancify("`x` is folded: it does not know ancestral alleles, rightly or not.", "input")
  }
  if (!is.numeric(share) || length(share) != 1 || !isTRUE(share >= 0 && share <= 1)) {
    abort_ancify(sprintf("`share` must be a number from 0 to 1, not %s.", show_value(share)),
                 "input")
  }
  counts <- plain_array(x)
  mask <- attr(x, "mask")
  new_sfs((1 - share) * counts + share * rev(counts), names(dimnames(x)), mask | rev(mask), FALSE)
}

# Which cells are known in both spectra, and what they have there; the model as the data are folded.
cells_of_both <- function(model, data) {
  check_sfs(model, "model")
  check_sfs(data, "data")
  if (attr(data, "folded")) model <- fold(model)
  why <- unlike_sfs(model, data)
  if (!is.null(why)) abort_ancify(sprintf("Can't compare `model` and `data`: %s.", why), "input")
  known <- !attr(model, "mask") & !attr(data, "mask")
  cells <- list(which = which(known), model = plain_array(model)[known],
                data = plain_array(data)[known])
  if (!any(cells$data > 0) || any(cells$data < 0)) {
    abort_ancify(
      "`data` must have sites in cells that are not masked, and nowhere fewer than none.", "input"
    )
  }
  if (any(cells$model < 0 | cells$model == 0 & cells$data > 0)) {
    abort_ancify("`model` expects no sites, or fewer than none, in cells where `data` have some.",
                 "input")
  }
  cells
}

# Of cells.
poisson_log_likelihood <- function(model, data, multinomial) {
  if (multinomial) model <- model * sum(data) / sum(model)
  sum(-model + ifelse(data > 0, data * log(model), 0) - lgamma(data + 1))
}
