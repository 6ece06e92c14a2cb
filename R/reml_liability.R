#' Heritability of liability
#'
#' Converts the heritability of cases and controls to that of liability, a normal trait that makes a
#' case of everyone beyond a threshold: `liability(fit, prevalence = 0.01)`.
#'
#' @details
#' A fit takes cases as 1 and controls as 0. Let K be the share of cases in the population, P that
#' in the sample, and z the normal density at the threshold. A share of the variance h2 of the
#' observed scale is then the share
#'
#' \deqn{h^2 \frac{K^2 (1-K)^2}{z^2 P (1-P)}}
#'
#' of liability (Lee and others 2011). K and P count as known, so errors have the same factor. The
#' formula holds for small effects of many variants. REML underestimates the heritability of
#' liability where cases are rare and enriched in the sample; [pcgc()] does not.
#'
#' @param fit A fit of [fit_reml()] or [haseman_elston()] with a binary response.
#' @param prevalence Share of cases in the population. `NULL` (the default): that of the fit.
#' @return A data frame with the rows `h2` and one for each genetic component:
#'
#' | Column | Content |
#' | --- | --- |
#' | `observed`, `observed_se`, `observed_mc_se` | share on the observed scale, with both errors |
#' | `liability`, `liability_se`, `liability_mc_se` | share of the variance of liability |
#' @section Errors:
#' * `ancify_input_error`: the response is not binary, or there is no `prevalence` between 0 and 1.
#' @references
#' Lee, Wray, Goddard and Visscher (2011) Estimating missing heritability for disease from
#' genome-wide association studies. American Journal of Human Genetics 88:294.
#' @seealso [fit_reml()], [pcgc()]
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' risk <- rnorm(20)[families] + rnorm(100)
#' data <- data.frame(id = 1:100, disease = risk > 1)
#' fit <- fit_reml(disease ~ 1, data, kernels = list(family = kernel), threads = 1)
#' liability(fit, prevalence = 0.1)
liability <- function(fit, prevalence = NULL) {
  check_given()
  must_be(inherits(fit, c("reml_fit", "reml_he")), fit, "fit",
          "a fit of fit_reml() or haseman_elston()")
  prevalence <- checked_prevalence(prevalence %||% fit$prevalence, fit)
  shares <- if (inherits(fit, "reml_fit")) variance_shares(fit) else moment_shares(fit)
  shares <- shares[!is_residual(rownames(shares)), ]
  factor <- liability_factor(prevalence, mean(fit$y))
  data.frame(
    observed = shares$estimate, observed_se = shares$se, observed_mc_se = shares$mc_se,
    liability = factor * shares$estimate, liability_se = factor * shares$se,
    liability_mc_se = factor * shares$mc_se, row.names = rownames(shares)
  )
}

# The factor between shares of the variance of liability and of the observed scale.
liability_factor <- function(prevalence, cases) {
  density <- stats::dnorm(stats::qnorm(prevalence))
  (prevalence * (1 - prevalence) / density)^2 / (cases * (1 - cases))
}

checked_prevalence <- function(prevalence, model) {
  refuse_if(!is_binary(model),
            "A prevalence needs a response of cases and controls: fit with `family = \"binary\"`.")
  check_level(prevalence, "prevalence")
}
