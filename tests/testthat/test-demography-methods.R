# The methods of a fit beside plain derivatives and searches of its likelihood.

two_epoch <- demography_model("two_epoch")
known_grids <- c(20, 25, 30)

fitted_two_epoch <- function(theta = 4e4) {
  truth <- c(nu = 3, time = 0.2)
  data <- expected_sfs(two_epoch, truth, 10, known_grids) * theta
  data <- stats::simulate(data, seed = 940)[[1]]
  fit_demography(two_epoch, data, c(nu = 2, time = 0.2), pts = known_grids, starts = 3,
                 progress = FALSE, threads = 1)
}
set.seed(941)
fit <- fitted_two_epoch()
null <- update(fit, fixed = c(time = 0.18))
bootstraps <- stats::simulate(fit$data, 30, seed = 942)

counts_of <- function(x) as.vector(plain_array(x))[2:10]

# Minus the log-likelihood of all three parameters.
minus_log_likelihood <- function(x, data = fit$data) {
  expected <- counts_of(expected_sfs(two_epoch, x[1:2], 10, known_grids, threads = 1)) * x[3]
  -sum(stats::dpois(counts_of(data), expected, log = TRUE))
}

slope_at <- function(x, data) {
  vapply(1:3, function(k) {
    step <- replace(0 * x, k, 1e-3 * x[[k]])
    (minus_log_likelihood(x - step, data) - minus_log_likelihood(x + step, data)) / (2 * sum(step))
  }, 0)
}

information_at <- function(x, f = minus_log_likelihood) {
  stats::optimHess(x, f, control = list(parscale = abs(x), ndeps = rep(1e-3, 3)))
}

estimates <- unname(c(coef(fit), fit$theta))
null_place <- unname(c(null$params[c("nu", "time")], null$theta))

test_that("errors of logarithms are those of a fit of logarithms", {
  of_logs <- solve(stats::optimHess(log(estimates), function(x) minus_log_likelihood(exp(x))))
  expect_equal(unname(vcov(fit, log = TRUE)), of_logs, tolerance = 0.02)
  relative <- sqrt(diag(vcov(fit))) / c(coef(fit), fit$theta)
  expect_equal(sqrt(diag(vcov(fit, log = TRUE))), relative)
  expect_ancify_error(vcov(fit, log = 1), "input", "`log`")
})

test_that("the three tests are those of their definitions", {
  statistic <- function(...) {
    table <- anova(fit, null, ...)
    table["fit", 3]
  }
  ratio <- 2 * (minus_log_likelihood(null_place) - minus_log_likelihood(estimates))
  expect_equal(statistic(), ratio, tolerance = 1e-5)
  distance <- estimates[2] - 0.18
  inverse <- solve(information_at(estimates))
  expect_equal(statistic(test = "Wald"), distance^2 / inverse[2, 2], tolerance = 0.02)
  at_null <- solve(information_at(null_place))
  slope <- slope_at(null_place, fit$data)
  expect_equal(statistic(test = "score"), slope[2]^2 * at_null[2, 2], tolerance = 0.02)
  # For linked sites
  slopes <- function(place) stats::var(t(vapply(bootstraps, slope_at, numeric(3), x = place)))
  godambe <- inverse %*% slopes(estimates) %*% inverse
  expect_equal(statistic(bootstraps, "Wald"), distance^2 / godambe[2, 2], tolerance = 0.02)
  variability <- slopes(null_place)
  godambe <- at_null %*% variability %*% at_null
  expect_equal(statistic(bootstraps, "score"), (at_null[2, 2] * slope[2])^2 / godambe[2, 2],
               tolerance = 0.02)
  adjustment <- solve(at_null)[2, 2] / variability[2, 2]
  expect_equal(statistic(bootstraps), ratio * adjustment, tolerance = 0.02)
  expect_identical(names(anova(fit, null, bootstraps))[4:6], c("adjustment", "Df", "Pr(>Chi)"))
  expect_ancify_error(anova(null, fit), "input", "exchange")
  table <- anova(fit, null)
  expect_identical(table$npar, c(2, 3))
  expect_identical(rownames(table), c("null", "fit"))
  expect_equal(table["fit", "Pr(>Chi)"], stats::pchisq(ratio, 1, lower.tail = FALSE),
               tolerance = 1e-4)
  expect_output(print(table), "Likelihood ratio test of independent sites")
  expect_identical(stats::AIC(fit, null)$df, c(3, 2))
})

test_that("the tests agree near the estimates of many sites", {
  set.seed(943)
  fit <- fitted_two_epoch(theta = 1e6)
  near <- update(fit, fixed = coef(fit)["time"] + sqrt(diag(vcov(fit)))["time"])
  statistics <- vapply(c("LR", "Wald", "score"), function(test) {
    anova(fit, near, test = test)["fit", test]
  }, 0)
  expect_equal(unname(statistics), rep(1, 3), tolerance = 0.05)
})

test_that("a parameter at its bound goes one way only", {
  lower <- 1.05 * coef(fit)["nu"]
  expect_warning(
    bounded <- update(fit, lower = lower, start = 1.1 * coef(fit)["nu"]), "nu is at your bound"
  )
  at_it <- update(bounded, fixed = lower, lower = NULL)
  score <- anova(bounded, at_it, test = "score")
  expect_identical(score["fit", "score"], 0)
  expect_identical(score["fit", "Pr(>Chi)"], 1)
  expect_ancify_error(anova(bounded, at_it, test = "Wald"), "input", "at a bound")
  expect_output(print(anova(bounded, at_it)), "mixture of chi-squared")
  far <- update(fit, fixed = c(nu = 30))
  expect_ancify_error(anova(fit, far, test = "score"), "input", "curve", "`test = \"LR\"`")
})

test_that("profiles are the best log-likelihoods, and their ends have the level's height", {
  along <- profile(fit, "time", progress = FALSE)
  best <- function(time) {
    stats::optimize(function(nu) {
      expected <- expected_sfs(two_epoch, c(nu, time), 10, known_grids, threads = 1)
      sfs_log_likelihood(expected, fit$data)
    }, c(1, 10), maximum = TRUE, tol = 1e-6)$objective
  }
  for (i in c(1, 3, nrow(along))) {
    expect_equal(along$log_likelihood[i], best(along$value[i]), tolerance = 1e-7)
  }
  expect_equal(along$z^2, 2 * (fit$log_likelihood - along$log_likelihood), tolerance = 1e-6)
  expect_identical(order(along$z), seq_len(nrow(along)))
  ends <- confint(fit, "time", level = 0.9, method = "profile", progress = FALSE)
  expect_identical(dimnames(ends), list("time", c("5 %", "95 %")))
  for (end in ends) {
    expect_equal(2 * (fit$log_likelihood - best(end)), stats::qchisq(0.9, 1), tolerance = 0.02)
  }
  # Twice the variance, twice the deviance
  doubled <- lapply(stats::simulate(fit$data / 2, 30, seed = 942), function(one) one * 2)
  scale <- diag(vcov(fit, doubled))[["time"]] / diag(vcov(fit))[["time"]]
  linked <- profile(fit, "time", 0.5, doubled, progress = FALSE)
  expect_equal(linked$z^2, 2 * (fit$log_likelihood - linked$log_likelihood) / scale,
               tolerance = 1e-6)
  # One parameter alone
  alone <- confint(null, method = "profile", progress = FALSE)
  expect_lt(alone[1], coef(null))
  expect_gt(alone[2], coef(null))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(along))
})

test_that("an interval ends at the user's bound, and has no end at a default one", {
  flat <- sfs(c(0, 1200, 530, 320, 230, 180, 0))
  set.seed(944)
  fit <- fit_demography(two_epoch, flat, c(nu = 2, time = 0.1), pts = c(20, 30), starts = 3,
                        progress = FALSE)
  # Data cannot tell long times.
  expect_identical(confint(fit, "time", method = "profile", progress = FALSE)[2], NA_real_)
  fit <- update(fit, upper = c(time = 5))
  expect_equal(confint(fit, "time", method = "profile", progress = FALSE)[2], 5)
})

test_that("Wald intervals are those of standard errors", {
  errors <- sqrt(diag(vcov(fit, bootstraps)))
  all <- c(coef(fit), theta = fit$theta)
  found <- confint(fit, method = "wald", bootstraps = bootstraps)
  expect_equal(found[, 2], all + stats::qnorm(0.975) * errors)
  expect_identical(confint(fit), confint(fit, method = "wald"))
  expect_identical(
    confint(fit, "nu", bootstraps = bootstraps, progress = FALSE),
    confint(fit, "nu", method = "profile", bootstraps = bootstraps, progress = FALSE)
  )
  logs <- confint(fit, "nu", log = TRUE)
  expect_equal(sqrt(prod(logs)), coef(fit)[["nu"]])
  expect_ancify_error(confint(fit, "m"), "input", "'m'", "'nu'")
  expect_ancify_error(confint(fit, level = 95), "input", "`level`")
  expect_ancify_error(confint(fit, "theta", method = "profile"), "input", "'theta'")
})

test_that("an updated fit has the other arguments, and begins at the estimates", {
  expect_identical(null$params[["time"]], 0.18)
  expect_equal(null$surface$settings, fit$surface$settings)
  back <- update(null, fixed = NULL, starts = 3)
  expect_equal(back$log_likelihood, fit$log_likelihood, tolerance = 1e-8)
  expect_warning(
    wrong <- update(fit, misidentified = TRUE, lower = c(misidentified = 0)), "misidentified is at"
  )
  expect_identical(wrong$fitted, c("nu", "time", "misidentified"))
  right <- update(wrong, misidentified = FALSE, lower = NULL)
  expect_equal(right$log_likelihood, fit$log_likelihood, tolerance = 1e-6)
  grown <- update(fit, model = demography_model("growth"))
  expect_identical(names(coef(grown)), c("nu", "time"))
  expect_lt(grown$log_likelihood, fit$log_likelihood)
  expect_ancify_error(update(fit, colour = 1), "input", "`colour`")
  expect_ancify_error(update(fit, 1), "input", "without a name")
})

test_that("simulated spectra have the fit's mean, or its number of sites", {
  draws <- stats::simulate(fit, 200, seed = 945)
  mean <- Reduce(`+`, lapply(draws, counts_of)) / 200
  expect_lt(max(abs(mean - counts_of(fit$expected)) / sqrt(counts_of(fit$expected) / 200)), 4)
  expect_gt(stats::var(vapply(draws, sum, 0, na.rm = TRUE)), 0)
  fixed <- stats::simulate(fit, 20, seed = 945, draws = "multinomial")
  expect_identical(unique(vapply(fixed, function(x) sum(counts_of(x)), 0)),
                   sum(counts_of(fit$data)))
  masked <- fit$data
  attr(masked, "mask")[3] <- TRUE
  of_masked <- update(fit, sfs = masked)
  expect_true(attr(stats::simulate(of_masked, seed = 1)[[1]], "mask")[3])
  nothing <- stats::simulate(sfs(c(0, 0, 0, 0)), draws = "multinomial")[[1]]
  expect_identical(sum(plain_array(nothing)), 0)
  expect_ancify_error(stats::simulate(fit, draws = "normal"), "input", "`draws`")
})

long_test_that("a parametric bootstrap has the errors of the Fisher information", {
  draws <- stats::simulate(fit, 60, seed = 946)
  refits <- refit_demography(fit, draws, progress = FALSE)
  expect_named(refits, c("log_likelihood", "nu", "time", "theta"))
  ratio <- vapply(log(refits[-1]), stats::sd, 0) / sqrt(diag(vcov(fit, log = TRUE)))
  expect_true(all(abs(ratio - 1) < 0.35))
  one <- update(fit, sfs = draws[[2]])
  expect_equal(refits$log_likelihood[2], one$log_likelihood, tolerance = 1e-7)
  param <- cluster_params("multicore")[[1]]
  expect_equal(refit_demography(fit, draws[1:3], param), refits[1:3, ])
  expect_ancify_error(refit_demography(1, draws), "input", "`fit`")
  expect_ancify_error(refit_demography(fit, NULL), "input", "`spectra`")
  expect_ancify_error(refit_demography(fit, draws, BPPARAM = 2), "input", "`BPPARAM`")
})

test_that("standard errors do not follow jumps where the number of time steps changes", {
  split <- demography_model("split_mig")
  data <- project_sfs(read_sfs(test_data("sfs", "YRI_CEU.fs")), c(10, 10))
  expect_warning(fit <- fit_demography(
    split, data, c(nu1 = 1.8, nu2 = 0.4, time = 0.33, m = 1.7), pts = known_grids, starts = 1,
    progress = FALSE
  ), "converged")
  known <- !attr(data, "mask")
  minus_log_likelihood <- function(x) {
    expected <- expected_sfs(split, exp(x[1:4]), c(10, 10), known_grids) * exp(x[[5]])
    sum((plain_array(expected) - plain_array(data) * log(plain_array(expected)))[known])
  }
  estimates <- log(c(coef(fit), theta = fit$theta))
  # Over wide differences the jumps are small.
  wide <- list(ndeps = rep(0.05, 5))
  curvature <- stats::optimHess(estimates, minus_log_likelihood, control = wide)
  expect_equal(sqrt(diag(vcov(fit, log = TRUE))), sqrt(diag(solve(curvature))), tolerance = 0.03)
})

test_that("a profile stops where parameters are invalid, without a known end", {
  # Time 2 must be less than 0.2.
  model <- demography(function(time) {
    list(event_equilibrium(), event_epoch(0.2 - time, 3), event_epoch(time, 0.5))
  })
  expected <- expected_sfs(model, c(time = 0.19), 10, known_grids) * 4000
  data <- stats::simulate(expected, seed = 1)[[1]]
  set.seed(947)
  fit <- fit_demography(model, data, c(time = 0.1), pts = known_grids, starts = 3, progress = FALSE)
  along <- profile(fit, progress = FALSE)
  expect_true(all(is.finite(along$z)))
  expect_lt(nrow(along), 20)
  expect_lte(max(along$value), 0.2)
  ends <- confint(fit, method = "profile", progress = FALSE)
  expect_lt(ends[1], coef(fit))
  expect_identical(ends[2], NA_real_)
})

test_that("workers have one thread each", {
  old <- options(ancify.threads = 3)
  on.exit(options(old))
  threads <- function(...) getOption("ancify.threads")
  on_workers <- over_parts(1:2, threads, cluster_params("serial")[[1]], "Parts", FALSE)
  expect_identical(on_workers, list(1, 1))
  expect_identical(threads(), 3)
})
