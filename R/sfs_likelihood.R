#' Compare a spectrum with a model
#'
#' `sfs_log_likelihood()` gives the log-likelihood of an observed spectrum under an expected one,
#' `optimal_theta()` the best-fitting scale, and `sfs_residuals()` the residual of each cell.
#' `misidentified_sfs()` exchanges ancestral and derived alleles at a share of sites.
#'
#' @details
#' The likelihood treats sites as independent, so cells are Poisson distributed. With
#' `multinomial = TRUE` the model is scaled to the data's number of sites, which is the
#' maximum-likelihood scale if theta is unknown. Cells masked in either spectrum are excluded. For
#' folded data the model is folded.
#'
#' A residual is the model's count minus the observed count, in standard deviations. `"linear"`
#' divides by the square root of the model's count. `"anscombe"` transforms counts first, so
#' residuals are nearly normal.
#'
#' @param model The expected spectrum, as from [expected_sfs()].
#' @param data The observed spectrum, as from [sfs_from_vcf()], with the same populations and sizes.
#' @param multinomial Whether to scale the model to the data's number of sites; `TRUE` (the
#'   default).
#' @param type `"anscombe"` (the default) or `"linear"`.
#' @param x An unfolded [sfs()].
#' @param share The share of misidentified sites, from 0 to 1.
#' @return
#' * `sfs_log_likelihood()`: a number, including all constants.
#' * `optimal_theta()`: the best factor for the model; the data's theta if `model` has a theta of 1.
#' * `sfs_residuals()`: an array with the spectra's shape. Masked cells are `NA`; with `"anscombe"`
#'   also cells without sites in the data.
#' * `misidentified_sfs()`: an [sfs()].
#' @section Errors:
#' `ancify_input_error`:
#' * An argument is not a spectrum, or the spectra differ in sizes or populations.
#' * `model` is folded and `data` are not.
#' * `data` have no sites, or sites in cells where `model` expects none, or a cell is negative.
#' * [misidentified_sfs()]: `x` is folded, or `share` is outside 0 to 1.
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
  check_args(type = choice(c("anscombe", "linear")), multinomial = flag())
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
  check_args(x = check_sfs)
  refuse_if(attr(x, "folded"), "`x` is folded: it has no ancestral alleles to exchange.")
  check_args(share = number(0, 1))
  counts <- plain_array(x)
  mask <- attr(x, "mask")
  new_sfs((1 - share) * counts + share * rev(counts), names(dimnames(x)), mask | rev(mask), FALSE)
}

# The cells unmasked in both spectra, with their counts. For folded data the model is folded.
cells_of_both <- function(model, data) {
  check_args(model = check_counted_sfs, data = check_counted_sfs)
  if (attr(data, "folded")) model <- fold(model)
  why <- unlike_sfs(model, data)
  refuse_if(!is.null(why), "Cannot compare `model` and `data`: %s.", why)
  known <- !attr(model, "mask") & !attr(data, "mask")
  cells <- list(which = which(known), model = plain_array(model)[known],
                data = plain_array(data)[known])
  refuse_if(!any(cells$data > 0) || any(cells$data < 0),
            "`data` must have sites in unmasked cells, and no negative cells.")
  refuse_if(any(cells$model < 0 | cells$model == 0 & cells$data > 0),
            "`model` has a negative cell, or expects no sites in a cell where `data` have some.")
  cells
}

# `model`, `data`: counts of cells.
poisson_log_likelihood <- function(model, data, multinomial) {
  if (multinomial) model <- model * sum(data) / sum(model)
  sum(-model + ifelse(data > 0, data * log(model), 0) - lgamma(data + 1))
}
