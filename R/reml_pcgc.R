#' Estimate heritability of liability by moments
#'
#' Phenotype-correlation genotype-correlation (PCGC) regression: estimates the heritability of
#' liability from cases and controls, also if cases are enriched in the sample.
#'
#' @details
#' Sample i has the probability p_i of being a case in a sample such as this, from a logistic
#' regression on the fixed effects. Let K be the prevalence, P the share of cases in the sample,
#' and s = K(1-P) / (P(1-K)). A case has the standardised residual Z_i = (1-p_i) / sqrt(p_i(1-p_i)),
#' a control -p_i / sqrt(p_i(1-p_i)). In the population, the probability of a case is
#' K_i = s p_i / (1 - p_i + s p_i). The threshold t_i has the normal tail K_i. With the kernel's
#' value K_ij, the expectation of Z_i Z_j is h2 K_ij c_i c_j, where
#'
#' \deqn{c_i = \frac{\phi(t_i) (1 - p_i + s p_i)}{\sqrt{p_i (1-p_i)} (K_i + s (1-K_i))}}
#'
#' Least squares over pairs of different samples gives the variance of each component. These are
#' shares of the variance of liability besides the fixed effects. The variance of t_i in the
#' population, v, is that of the fixed effects, so dividing by 1 + v gives shares of all variance.
#'
#' Errors are from the jackknife of [haseman_elston()], which leaves out blocks of samples. It is
#' corrected for pairs of blocks (Efron and Stein 1981), because each pair of samples counts twice.
#' Errors take the p_i as known.
#'
#' @inheritParams haseman_elston
#' @param formula The response and the fixed effects. The response is of cases and controls, as with
#'   `family = "binary"` in [fit_reml()].
#' @param prevalence Share of cases in the population.
#' @return A list of class `reml_pcgc`:
#' * `shares`: a data frame with the rows `h2` and one for each component. `share`, `se` and `mc_se`
#'   are of all variance of liability. `conditional`, `conditional_se` and `conditional_mc_se` are
#'   of that besides the fixed effects.
#' * `fixed_variance`: v, the variance of liability by fixed effects.
#' * `prevalence`, `cases`: shares of cases in the population and the sample.
#' * `covariance`, `mc_covariance`: of the conditional shares of components.
#' * `probes`, `passes`, `ids`, `dropped`, `labels`: as from [haseman_elston()].
#' @section Errors:
#' As from [haseman_elston()], and:
#' * `ancify_input_error`: the response has other values than two, `prevalence` is not between 0 and
#'   1, or the fixed effects separate cases from controls.
#' @references
#' Golan, Lander and Rosset (2014) Measuring missing heritability: inferring the contribution of
#' common variants. PNAS 111:E5272.
#'
#' Efron and Stein (1981) The jackknife estimate of variance. Annals of Statistics 9:586.
#' @seealso [liability()], [haseman_elston()]
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' risk <- rnorm(20)[families] + rnorm(100)
#' data <- data.frame(id = 1:100, disease = risk > 1)
#' pcgc(disease ~ 1, data, kernels = list(family = kernel), prevalence = 0.24, blocks = 20)
pcgc <- function(formula, data, genotypes = NULL, components = NULL, kernels = NULL, prevalence,
                 id = "id", overlap = FALSE, chromosomes = "autosomes", blocks = NULL,
                 control = reml_control(), threads = NULL, backend = "auto", memory = NULL,
                 BPPARAM = NULL, progress = interactive()) {
  check_args(overlap = flag(), control = check_control, prevalence = check_level)
  work <- new_work(threads, backend, memory, progress = progress)
  model <- reml_model(genotypes, components, kernels, overlap, chromosomes)
  model <- model_on_samples(model, formula, data, id, "binary")
  warn_of_model(model, genotypes, work)
  tell_of_left_out(model$left_out, model$chromosomes, "the components", inform_ancify)
  check_one_residual(model, "PCGC regression")
  refuse_records(model, "PCGC regression takes")
  cases <- mean(model$y)
  scales <- pcgc_scales(model$y, fitted_probabilities(model$x, model$y), prevalence)
  model$y <- scales$residual
  model$x <- model$x[, 0, drop = FALSE]
  model$kernel_scales <- scales$scale
  model$even_diagonal <- TRUE
  found <- jackknifed_moments(model, control, blocks, BPPARAM, work, new_work(1, memory = memory),
                              corrected = TRUE)
  new_pcgc(found, model, scales, list(prevalence = prevalence, cases = cases))
}

# The probabilities of a case by logistic regression.
fitted_probabilities <- function(x, y) {
  # Warnings of separation become an error.
  fit <- suppressWarnings(stats::glm.fit(
    x, y, family = stats::binomial(), control = list(epsilon = 1e-12, maxit = 100)
  ))
  p <- fit$fitted.values
  refuse_if(!fit$converged || any(p < separated | p > 1 - separated),
            "The fixed effects separate cases from controls: leave out the one that does.")
  unname(p)
}

# A probability that no finite sample supports.
separated <- 1e-7

# list(residual = Z, scale = c, variance = v) for probabilities p.
pcgc_scales <- function(y, p, prevalence) {
  cases <- mean(y)
  s <- prevalence * (1 - cases) / (cases * (1 - prevalence))
  in_population <- s * p / (1 - p + s * p)
  threshold <- stats::qnorm(in_population, lower.tail = FALSE)
  sd <- sqrt(p * (1 - p))
  # Weights of samples in the population.
  weight <- ifelse(y == 1, prevalence / cases, (1 - prevalence) / (1 - cases)) / length(y)
  list(
    residual = (y - p) / sd,
    scale = stats::dnorm(threshold) * (1 - p + s * p) /
      (sd * (in_population + s * (1 - in_population))),
    variance = sum(weight * (threshold - sum(weight * threshold))^2)
  )
}

new_pcgc <- function(found, model, scales, facts) {
  genetic <- seq_along(model$names)
  # A kernel's mean diagonal, weighted by c^2, is near 1.
  size <- found$mean_diagonal[genetic] / mean(scales$scale^2)
  covariances <- lapply(found[c("covariance", "mc_covariance")], function(covariance) {
    covariance <- covariance[genetic, genetic, drop = FALSE] * outer(size, size)
    `dimnames<-`(covariance, list(model$names, model$names))
  })
  sets <- rbind(h2 = 1, diag(length(genetic)))
  rownames(sets)[-1] <- model$names
  share <- drop(sets %*% (found$theta[genetic] * size))
  error <- function(covariance) sqrt(pmax(rowSums((sets %*% covariance) * sets), 0))
  conditional <- data.frame(
    conditional = share, conditional_se = error(covariances$covariance),
    conditional_mc_se = error(covariances$mc_covariance)
  )
  shares <- conditional / (1 + scales$variance)
  names(shares) <- c("share", "se", "mc_se")
  structure(
    c(
      list(shares = cbind(shares, conditional), fixed_variance = scales$variance), facts,
      covariances, found[c("probes", "passes")],
      model[c("ids", "dropped", "labels", "chromosomes", "left_out")]
    ),
    class = "reml_pcgc"
  )
}

#' @export
print.reml_pcgc <- function(x, ...) {
  check_no_more(...)
  number <- function(x) format(x, digits = 4)
  shown <- function(row) {
    paste0(number(row$share), " (SE ", number(row$se),
           if (x$probes > 0) paste(", MC SE", number(row$mc_se)), ")")
  }
  rows <- if (nrow(x$shares) > 2) seq_len(nrow(x$shares)) else 1
  lines <- vapply(rows, function(i) shown(x$shares[i, ]), "")
  write_object(
    "reml_pcgc", paste0(count_of(length(x$ids), "sample"), dropped_text(x$dropped)),
    c(
      cases = sprintf("%s of the sample, %s of the population", format_percent(x$cases),
                      format_percent(x$prevalence)),
      stats::setNames(lines, c("h2 of liability", rownames(x$shares)[-1])[rows]),
      `fixed effects` = if (x$fixed_variance > 0) {
        sprintf("%s of the variance of liability",
                format_percent(x$fixed_variance / (1 + x$fixed_variance)))
      },
      chromosomes = chromosomes_text(x)
    )
  )
  invisible(x)
}
