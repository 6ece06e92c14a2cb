#' Estimate how effects depend on frequency
#'
#' Fits the alpha model, in which the variance of a variant's effect is a power of its allele
#' frequency: `fit_alpha(y ~ 1, data, g)`. With ancestral alleles, it compares powers of the minor
#' and of the derived frequency.
#'
#' @details
#' Let p be the frequency of one allele of a variant in the samples of `genotypes`, and x that of
#' its derived allele. The effect of a copy has a variance proportional to
#'
#' | Model | Variance of effects |
#' | --- | --- |
#' | `minor` | \eqn{[2p(1-p)]^\alpha}, equal for both alleles |
#' | `derived` | \eqn{x^\alpha} |
#'
#' With alpha = 0, effects do not depend on frequency. With alpha = -1, all variants in
#' Hardy-Weinberg equilibrium explain the same variance, as by the default of [fit_reml()].
#' Selection against variants of large effect makes alpha negative. 2p(1-p) does not tell whether
#' the rare allele is the old or the new one. So the models have the same alpha for rare derived
#' alleles, but differ for common ones: with a negative alpha, old variants with a rare ancestral
#' allele have large effects by `minor`, and small ones by `derived`.
#'
#' A variant with a posterior probability of its derived allele has the mean of x^alpha over both
#' alleles. Given `ancestral`, variants without an ancestral allele are left out of both models, and
#' counted. Both models then have the same data and as many parameters, so their log-likelihoods can
#' be compared as they are.
#'
#' The restricted likelihood is computed for each of `alphas`, by a fit with weights of variants,
#' and interpolated by a cubic spline. Its maximum is the estimate; a last fit takes it as known.
#' The interval contains the values at which twice the decrease in log-likelihood is below a
#' chi-squared quantile with 1 degree of freedom. An interval that reaches an end of `alphas` ends
#' there. On the stochastic path, all fits share their random probes.
#'
#' The likelihood tells little about alpha if the heritability is small, or if all variants have
#' similar frequencies. Linkage disequilibrium varies with frequency, which this model ignores.
#'
#' @inheritParams fit_reml
#' @param genotypes Genotypes, from [open_genotypes()].
#' @param ancestral Source of ancestral alleles, as in [components_by_frequency()]. `NULL` (the
#'   default): only the model `minor` is fitted.
#' @param alphas Increasing values of alpha, at least five. Default: -2 to 1 in steps of 0.25.
#' @param level Confidence level of intervals, 0.95 by default.
#' @param ... Further arguments of [fit_reml()], such as `method`, `kernels` and `threads`, but not
#'   `components`, `overlap` and `checkpoint`.
#' @return A list of class `alpha_fit`:
#' * `estimates`: a data frame with a row for each model: `model`, `alpha`, its interval `lower` and
#'   `upper`, `log_likelihood`, `h2` and its standard error `se`. `support`: the likelihood relative
#'   to that of the best model.
#' * `profile`: a data frame of `model`, `alpha`, `log_likelihood` and `h2`, a row for each fit.
#' * `fits`: for each model its fit at the estimate, see [fit_reml()].
#' * `level`; `n_variants`, `left_out`: numbers of variants with and without a place in the models.
#'
#' `plot()` draws the profiles.
#' @section Errors:
#' As from [fit_reml()] and [components_by_frequency()], and:
#' * `ancify_input_error`: there are fewer than five `alphas`, or they do not increase; or there are
#'   several traits.
#' * `ancify_fit_warning`: the estimate is at an end of `alphas`, or fits have not converged.
#' @references
#' Speed, Hemani, Johnson and Balding (2012) Improved heritability estimation from genome-wide SNPs.
#' American Journal of Human Genetics 91:1011.
#'
#' Zeng and others (2018) Signatures of negative selection in the genetic architecture of human
#' complex traits. Nature Genetics 50:746.
#' @seealso [components_by_frequency()] for one variance for each bin of frequencies, [fit_reml()]
#' @export
#' @examples
#' set.seed(1)
#' p <- runif(60, 0.02, 0.98)
#' calls <- matrix(rbinom(60 * 100, 2, p), 100, byrow = TRUE)
#' rownames(calls) <- paste0("s", 1:100)
#' g <- open_genotypes(calls)
#' data <- data.frame(id = rownames(calls), y = rnorm(100) + calls %*% rnorm(60, 0, 0.3))
#' found <- fit_alpha(y ~ 1, data, g, chromosomes = "all", threads = 1)
#' found
#' plot(found)
fit_alpha <- function(formula, data, genotypes, ancestral = NULL, alphas = seq(-2, 1, 0.25),
                      level = 0.95, ..., verbose = TRUE) {
  check_args(genotypes = check_genotypes, alphas = check_alphas, level = check_level,
             verbose = flag())
  bad <- intersect(...names(), c("components", "overlap", "checkpoint"))
  refuse_if(length(bad), "fit_alpha() takes no `%s`: its fits differ in their weights alone.",
            bad[1])
  variants <- alpha_variants(genotypes, ancestral)
  log <- log_where(verbose)
  if (variants$left_out > 0) {
    log(sprintf("%s without %svariation left out of the alpha model",
                count_with_verb(variants$left_out, "variant", "is", "are"),
                if (is.null(ancestral)) "" else "an ancestral allele or "))
  }
  fit_at <- function(model, alpha, verbose) {
    weights <- alpha_weights(model, alpha, variants)
    rows <- which(weights > 0)
    components <- components_of_genotypes("genotypes", genotypes, data.frame(
      variant = rows, component = 1L, weight = weights[rows] / mean(weights[rows])
    ))
    components$scale_power <- 0 # weights are variances of the effect of a copy
    fit <- fit_reml(formula, data, genotypes, components, ..., verbose = verbose)
    refuse_if(!inherits(fit, "reml_fit"), "fit_alpha() takes one trait, not several.")
    fit
  }
  models <- c("minor", if (!is.null(ancestral)) "derived")
  found <- lapply(stats::setNames(nm = models), function(model) {
    alpha_profile(model, fit_at, alphas, level, verbose && model == models[1])
  })
  new_alpha_fit(found, variants, level)
}

check_alphas <- function(alphas, name) {
  good <- is.numeric(alphas) && length(alphas) > 4 && all(is.finite(alphas)) &&
    all(diff(alphas) > 0)
  must_be(good, alphas, name, "at least five increasing numbers")
}

# list(counted = the frequency of the counted allele, derived = the probability that it is derived,
# is_used = whether, left_out = the number of those that are not).
alpha_variants <- function(g, ancestral) {
  frequency <- allele_frequencies(g)
  derived <- if (is.null(ancestral)) rep(0.5, ncol(g)) else 1 - counted_is_ancestral(ancestral, g)
  is_used <- !is.na(derived) & frequency$counted > 0 & frequency$other > 0
  is_used <- is_used & !is.na(is_used)
  refuse_if(!any(is_used), "No variant varies in the samples of `genotypes`.")
  list(counted = frequency$counted, other = frequency$other, derived = derived, is_used = is_used,
       left_out = sum(!is_used))
}

# The variances of effects of a copy
alpha_weights <- function(model, alpha, variants) {
  of_effects <- switch(
    model,
    minor = (2 * variants$counted * variants$other)^alpha,
    derived = variants$derived * variants$counted^alpha +
      (1 - variants$derived) * variants$other^alpha
  )
  ifelse(variants$is_used, of_effects, 0)
}

# list(table = a row for each alpha, estimate = alpha and its interval, fit = at the estimate).
alpha_profile <- function(model, fit_at, alphas, level, verbose) {
  fits <- lapply(alphas, function(alpha) suppressWarnings(fit_at(model, alpha, FALSE)))
  failed <- sum(!vapply(fits, `[[`, NA, "converged"))
  if (failed) {
    warn_ancify(sprintf("%s of the profile of %s not converged.",
                        count_with_verb(failed, "fit"), model), "fit")
  }
  table <- data.frame(
    model = model, alpha = alphas, log_likelihood = vapply(fits, `[[`, 0, "log_likelihood"),
    h2 = vapply(fits, function(fit) variance_shares(fit)["h2", "estimate"], 0)
  )
  estimate <- spline_maximum(alphas, table$log_likelihood, level)
  if (estimate[["alpha"]] %in% range(alphas)) {
    warn_ancify(sprintf("The likelihood of %s is highest at alpha = %s, an end of `alphas`.", model,
                        format(estimate[["alpha"]])), "fit")
  }
  list(table = table, estimate = estimate, fit = fit_at(model, estimate[["alpha"]], verbose))
}

# The highest point of the spline, and where it has fallen by half the chi-squared quantile.
spline_maximum <- function(x, y, level) {
  curve <- stats::splinefun(x, y, method = "natural")
  best <- which.max(y)
  near <- x[c(max(best - 1, 1), min(best + 1, length(x)))]
  top <- stats::optimize(curve, near, maximum = TRUE, tol = 1e-8)
  if (y[best] >= top$objective) top <- list(maximum = x[best], objective = y[best])
  below <- function(at) curve(at) - top$objective + stats::qchisq(level, 1) / 2
  # From the maximum outwards, so that the interval is without gaps.
  end_at <- function(outwards) {
    beyond <- outwards[below(outwards) < 0]
    if (length(beyond) == 0) {
      return(outwards[length(outwards)])
    }
    inside <- c(top$maximum, outwards[seq_len(match(beyond[1], outwards) - 1)])
    stats::uniroot(below, sort(c(inside[length(inside)], beyond[1])), tol = 1e-8)$root
  }
  left <- rev(x[x < top$maximum])
  right <- x[x > top$maximum]
  c(
    alpha = top$maximum, lower = if (length(left)) end_at(left) else top$maximum,
    upper = if (length(right)) end_at(right) else top$maximum
  )
}

new_alpha_fit <- function(found, variants, level) {
  estimates <- do.call(rbind, lapply(names(found), function(model) {
    fit <- found[[model]]$fit
    h2 <- variance_shares(fit)["h2", ]
    data.frame(model = model, t(found[[model]]$estimate), log_likelihood = fit$log_likelihood,
               h2 = h2$estimate, se = h2$se)
  }))
  estimates$support <- exp(estimates$log_likelihood - max(estimates$log_likelihood))
  structure(
    list(
      estimates = estimates, profile = do.call(rbind, unname(lapply(found, `[[`, "table"))),
      fits = lapply(found, `[[`, "fit"), level = level, n_variants = sum(variants$is_used),
      left_out = variants$left_out
    ),
    class = "alpha_fit"
  )
}

#' @export
print.alpha_fit <- function(x, ...) {
  check_no_more(...)
  fit <- x$fits[[1]]
  write_object("alpha_fit", c(reml_facts(fit), count_of(x$n_variants, "variant")), c(
    `left out` = if (x$left_out) count_of(x$left_out, "variant"),
    interval = paste(format(100 * x$level), "%")
  ))
  print_table(x$estimates, 4)
  invisible(x)
}

#' @export
plot.alpha_fit <- function(x, main = NULL, ...) {
  check_no_more(...)
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  graphics::par(las = 1, mgp = c(2.6, 0.6, 0), tcl = -0.3, mar = c(4, 4.5, 3, 1))
  colours <- stats::setNames(unname(fit_colours)[seq_along(x$fits)], names(x$fits))
  fall <- x$profile$log_likelihood - max(x$estimates$log_likelihood)
  graphics::plot(x$profile$alpha, fall, type = "n", xlab = "alpha",
                 ylab = "Log-likelihood below the best model")
  for (model in names(x$fits)) {
    rows <- x$profile$model == model
    graphics::lines(stats::spline(x$profile$alpha[rows], fall[rows], 200, method = "natural"),
                    col = colours[[model]])
    graphics::points(x$profile$alpha[rows], fall[rows], pch = 20, col = colours[[model]])
  }
  here <- x$estimates[c("alpha", "lower", "upper")]
  graphics::abline(v = here$alpha, col = colours)
  graphics::abline(v = unlist(here[-1]), col = rep(colours, 2), lty = 3)
  graphics::legend("bottom", names(colours), col = colours, lty = 1, bty = "n")
  graphics::title(main)
  invisible(x)
}
