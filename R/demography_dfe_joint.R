#' Describe joint distributions of fitness effects of two populations
#'
#' Joint distributions of the selection coefficients of new mutations in two populations, such as
#' `dfe_bivariate_lognormal(3, 2, correlation = 0.8)`. [dfe_sfs()] takes them with
#' `selected_spectra(pairs = TRUE)`, and [fit_demography()] fits them as a [dfe_model()].
#'
#' @details
#' | Distribution | Coefficients of a mutation in both populations |
#' | --- | --- |
#' | `dfe_bivariate_lognormal()` | lognormal, with a correlation of the logarithms |
#' | `dfe_independent()` | independent, each from its own DFE |
#' | `dfe_correlated()` | equal for a share `w` of mutations, else independent from one DFE |
#' | any other DFE | equal in both |
#'
#' [dfe_mixture()] mixes all of these. The share `w` of `dfe_correlated()` is the correlation of
#' coefficients between populations (Huang and others 2021). The last parameter of `mixture()` in
#' dadi is the independent share, `1 - w`. In [fit_demography()] parameters named `w` have the
#' bounds 0 and 1, and parameters named `correlation` -1 and 1.
#'
#' Between computed coefficients, cells are cubic splines in the logarithms of both. Beyond them
#' each coefficient is treated as in [dfe_sfs()].
#'
#' Positive selection is a point in the DFE of one population. Its coefficient must be one of
#' the computed `gammas`: `dfe_independent(dfe_mixture(dfe_lognormal(3, 2), dfe_point(5), shares =
#' c(0.95, 0.05)))`.
#'
#' @param meanlog,sdlog Mean and standard deviation of `log(-gamma)`: a number for each population,
#'   or one for both.
#' @param correlation Correlation of `log(-gamma)` between populations, from -1 to 1.
#' @param first,second,dfe DFEs of one population. `second` equals `first` by default.
#' @param w Share of mutations with the same coefficient in both populations, from 0 to 1.
#' @return A list of class `dfe`.
#' @section Errors:
#' * `ancify_input_error`: a parameter is outside its range, or a joint DFE is given in place of a
#'   DFE of one population.
#' @references
#' Huang, Fortier, Coffman, Struck, Irby, James, Leon-Burguete, Ragsdale and Gutenkunst (2021)
#' Inferring genome-wide correlations of mutation fitness effects between populations. Molecular
#' Biology and Evolution 38:4588.
#' @seealso [selected_spectra()], [fit_demography()]
#' @name dfe_joint
#' @examples
#' split <- demography(event_equilibrium(), event_split(1), event_epoch(0.1, nu = c(1, 0.5)))
#' spectra <- selected_spectra(split, NULL, c(A = 6, B = 6), c(12, 16, 20),
#'                             gammas = -4^seq(-2, 2), pairs = TRUE)
#' dfe_sfs(spectra, dfe_bivariate_lognormal(1, 1, correlation = 0.5), theta = 2000)
#'
#' # Both populations have one DFE; w is the correlation between them
#' gamma_w <- function(shape, scale, w) dfe_correlated(dfe_gamma(shape, scale), w)
#' data <- dfe_sfs(spectra, gamma_w(0.5, 10, w = 0.7), theta = 20000)
#' model <- dfe_model(spectra, gamma_w, theta = 20000)
#' set.seed(1)
#' fit_demography(model, data, c(shape = 0.4, scale = 15, w = 0.5), starts = 3)
NULL

#' @rdname dfe_joint
#' @export
dfe_bivariate_lognormal <- function(meanlog, sdlog, correlation) {
  check_args(meanlog = for_populations(is.finite, "finite"),
             sdlog = for_populations(function(x) is.finite(x) & x > 0, "above 0"),
             correlation = number(dfe_ranges$correlation[1], dfe_ranges$correlation[2]))
  words <- function(x) paste(format(unique(x), trim = TRUE), collapse = " and ")
  new_dfe(
    name = sprintf("bivariate lognormal(meanlog = %s, sdlog = %s, correlation = %s)",
                   words(meanlog), words(sdlog), format(correlation)),
    normal = list(mean = rep_len(meanlog, 2), sd = rep_len(sdlog, 2), correlation = correlation)
  )
}

#' @rdname dfe_joint
#' @export
dfe_independent <- function(first, second = first) {
  check_args(first = check_of_one, second = check_of_one)
  new_dfe(name = sprintf("%s, and independent %s", dfe_words(first), dfe_words(second)),
          both = list(first = first, second = second))
}

#' @rdname dfe_joint
#' @export
dfe_correlated <- function(dfe, w) {
  check_args(w = number(dfe_ranges$w[1], dfe_ranges$w[2]), dfe = check_of_one)
  dfe_mixture(dfe, dfe_independent(dfe), shares = c(w, 1 - w))
}

# Parameters of a DFE with one of these names have this range, also in fits.
dfe_ranges <- list(w = c(0, 1), correlation = c(-1, 1))

# A kind of argument: a number for both populations, or one for each
for_populations <- function(is_good, what) {
  function(x, name) {
    must_be(is.numeric(x) && length(x) %in% 1:2 && all(is_good(x)), x, name,
            sprintf("one or two numbers that are %s", what))
  }
}

check_of_one <- function(dfe, name) {
  check_dfe(dfe, name)
  is_joint <- vapply(dfe$parts, function(part) any(c("both", "normal") %in% names(part)), NA)
  refuse_if(any(is_joint), "`%s` must be a DFE of one population, but %s is of two.", name,
            dfe$parts[[which(is_joint)[1]]]$name)
  dfe
}

dfe_words <- function(dfe) {
  parts <- vapply(dfe$parts, function(part) {
    if (length(dfe$parts) > 1) paste(format(part$share), part$name) else part$name
  }, "")
  paste(parts, collapse = " + ")
}
