# Score tests of cases and controls, under a logistic null model.
#
# Penalised quasi-likelihood (Breslow and Clayton 1993, JASA 88:9) fits logit(m) = X b + u by steps
# of a linear mixed model of the working response eta + W^-1 (y - m), whose residuals have the
# variance W^-1, W = diag(m (1 - m)). Times W^1/2, its residual is I, so theta has 1 for it.

# ---- Null model ----------------------------------------------------------------------------------

# The logistic model of a model with its data: list(model = weighted for core_problem(), means =,
# residuals =, theta =). `how`: of what it is, for messages.
fit_logistic <- function(model, how, work) {
  y <- model$y
  p <- fitted_probabilities(model$x, y)
  eta <- stats::qlogis(p)
  theta <- logistic_start(model)
  converged <- length(theta) == 0
  damping <- 1
  before <- 0
  for (i in seq_len(if (converged) 0 else model$control$max_iterations)) {
    point <- logistic_point(model, eta, theta, how, work)
    refuse_if(!all(abs(point$eta) < largest_eta),
              paste("The logistic model %s has no finite estimate, as where few cases are close",
                    "relatives: scan by a formula, without kernels."), how)
    step <- logistic_step(theta, point$score, point$information)
    # The new eta moves the optimum of the variances, so that whole steps may go to and fro.
    if (sum(step$change * before) < 0) damping <- damping / 2
    before <- step$change
    change <- max(abs(point$eta - eta))
    eta <- point$eta
    theta <- theta + damping * step$change
    close <- logistic_tolerances[[model$path]]
    converged <- step$decrement < close[["decrement"]] && change < close[["eta"]]
    if (converged) break
  }
  if (!converged) {
    warn_ancify(sprintf("The logistic model %s has not converged.", how), "fit")
  }
  logistic_null(model, eta, theta)
}

# As fit_logistic(), with the log odds `eta` and the genetic variances `theta`.
logistic_null <- function(model, eta, theta = numeric()) {
  means <- stats::plogis(eta)
  list(model = weighted_model(model, eta), means = means, residuals = model$y - means,
       theta = stats::setNames(c(theta, 1), c(model$names, "residual")))
}

# Where a formula's scan starts. Firth's regression estimates all effects, so it starts from log
# odds of 0: a null model has no estimate where a fixed effect separates cases from controls.
null_of_formula <- function(model, firth, work) {
  if (firth) {
    logistic_null(model, numeric(length(model$y)))
  } else {
    fit_logistic(model, "of the null", work)
  }
}

# Beyond this log odds, probabilities are 0 and 1 within rounding.
largest_eta <- 30

# s'I^-1 s of the last step, and the largest change of eta.
logistic_tolerances <- list(
  exact = c(decrement = 1e-12, eta = 1e-7), stochastic = c(decrement = 1e-4, eta = 1e-3)
)

# Genetic variances on the scale of eta, from those of 0 and 1. From above 1, steps may diverge.
logistic_start <- function(model) {
  p <- mean(model$y)
  start <- model$control$start %||% model$theta
  pmin(pmax(unname(start[seq_along(model$names)]), 0) / (p * (1 - p))^2, 1)
}

weighted_model <- function(model, eta) {
  means <- stats::plogis(eta)
  roots <- sqrt(means * (1 - means))
  model$y <- roots * eta + (model$y - means) / roots
  model$x <- roots * model$x
  model$kernel_scales <- roots
  model
}

# Score and information of genetic variances, and the new eta.
logistic_point <- function(model, eta, theta, how, work) {
  weighted <- weighted_model(model, eta)
  problem <- core_problem(weighted, path_settings(model, model$path, work))
  point <- with_watch(paste("Fitting", how), function(watch) {
    reml_point_impl(problem, c(theta, 1), model$path == "exact", watch)
  }, work$progress, inputs = fit_inputs(model))
  genetic <- seq_along(theta)
  # The fitted part is the response less its residual, which is P y for a residual variance of 1.
  list(
    score = point$score[genetic], information = point$information[genetic, genetic, drop = FALSE],
    eta = (weighted$y - point$residual_projection) / weighted$kernel_scales
  )
}

# A step of the variances, which stay at 0 or above and at most double beyond 1.
logistic_step <- function(theta, score, information) {
  free <- theta > 0 | score > 0
  step <- numeric(length(theta))
  if (any(free)) step[free] <- solve(information[free, free, drop = FALSE], score[free])
  new <- pmin(pmax(theta + step, 0), 2 * theta + 1)
  # A variance that moves to its bound has converged only once it is there.
  change <- new - theta
  list(change = change, decrement = sum(change * (information %*% change)))
}

# ---- Tests ---------------------------------------------------------------------------------------

# Scores beyond so many standard deviations have saddlepoint tails.
least_saddlepoint_z <- 2

# As scan_part(), of the part's chromosome.
scan_case_part <- function(fit, g, part, dense, firth, work) {
  left_out <- part$chromosome
  model <- if (nzchar(left_out)) model_without(fit, left_out, dense, work) else fit
  how <- if (nzchar(left_out)) sprintf("without chromosome %s", left_out) else "of the null"
  scan_cases(fit_logistic(model, how, work), g, firth, work)
}

# As scan_ols(), of a null model of fit_logistic(). `firth`: whether effects are those of Firth's
# penalised likelihood.
scan_cases <- function(null, g, firth, work) {
  model <- null$model
  with_kernels <- length(model$names) > 0
  # Genetic values are not estimated again for each variant.
  which_firth <- if (!firth) "none" else if (with_kernels) "given null" else "whole"
  exact <- with_kernels && model$path == "exact"
  settings <- if (with_kernels) path_settings(model, model$path, work) else list(work = work)
  problem <- core_problem(model, settings)
  theta <- unname(null$theta)
  inputs <- if (with_kernels) fit_inputs(model)
  run <- function(label, job) with_watch(label, job, work$progress, inputs = inputs)
  variances <- if (exact) {
    run("Scanning", function(watch) case_squares_impl(problem, core_genotypes(g), theta, watch))
  }
  ratios <- if (with_kernels && !exact) case_ratios(problem, g, theta, model$control$seed, run)
  ratio <- mean(ratios %||% 1)
  tests <- run("Scanning", function(watch) {
    case_tests_impl(
      problem, core_genotypes(g), core_list(
        "CaseModel",
        means = null$means, residuals = null$residuals, roots = model$kernel_scales,
        firth = which_firth, variances = as.double(variances), ratio = ratio,
        least_z = if (which_firth == "whole") Inf else least_saddlepoint_z
      ), watch
    )
  })
  variance <- ifelse(tests$square > 0, variances %||% (ratio * tests$square), 0)
  c(case_effects(tests, variance, which_firth), list(
    response = tests$score, square = variance, n = tests$n, frequency = tests$frequency,
    df = rep(Inf, ncol(g)), theta = null$theta, ratios = ratios
  ))
}

# list(effect =, se =, statistic =). The statistic's p-value is Firth's own after his whole
# regression, else that of the score.
case_effects <- function(tests, variance, firth) {
  if (firth != "none") warn_of_no_firth(tests)
  if (firth == "whole") {
    effect <- tests$firth_effect
    return(list(effect = effect, se = tests$firth_error, statistic = effect / tests$firth_error))
  }
  z <- case_z(tests, variance)
  statistic <- sign(tests$score) * z
  if (firth == "none") {
    effect <- tests$score / variance
    # The normal one, unless the tails differ from the normal's.
    se <- ifelse(is.na(tests$root), 1 / sqrt(variance), abs(effect) / z)
    return(list(effect = effect, se = se, statistic = statistic))
  }
  # Genetic values explain a part of the variant's effect, as its score's variance is smaller.
  by <- variance / tests$square
  list(effect = tests$firth_effect / by, se = tests$firth_error / sqrt(by), statistic = statistic)
}

warn_of_no_firth <- function(tests) {
  lacking <- sum(tests$square > 0 & is.na(tests$firth_effect))
  if (lacking > 0) {
    warn_ancify(sprintf(
      "Firth's regression has not converged for %s, with NA: test %s without `firth`.",
      count_of(lacking, "variant"), if (lacking == 1) "it" else "them"
    ), "fit")
  }
}

# The normal quantiles of two-sided p-values: of a normal score, or of saddlepoint tails.
case_z <- function(tests, variance) {
  z <- abs(tests$score) / sqrt(variance)
  far <- which(!is.na(tests$root))
  tail <- function(root) stats::pnorm(-abs(root[far]), log.p = TRUE)
  larger <- pmax(tail(tests$root), tail(tests$opposite_root))
  smaller <- pmin(tail(tests$root), tail(tests$opposite_root))
  log_half <- pmin(larger + log1p(exp(smaller - larger)), 0) - log(2)
  z[far] <- stats::qnorm(log_half, lower.tail = FALSE, log.p = TRUE)
  z
}

# The score's variance over g'W g, of some variants that vary.
case_ratios <- function(problem, g, theta, seed, run) {
  varying <- which(genotype_moments(g, problem$work)$variance > 0)
  run("Sampling", function(watch) {
    sampled_ratios(problem, g, sampled_of(varying), theta, seed, watch)
  })
}
