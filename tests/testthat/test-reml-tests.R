# Likelihoods at any place, intervals, and tests of nested fits.

set.seed(16)
case <- reml_case()
one <- quiet_fit(y ~ sex, case$data, case$g)
two <- quiet_fit(y ~ sex, case$data, case$g, list(a = 1:30, b = 31:60))
kernels <- list(oracle_kernel(case$calls[, 1:30]), oracle_kernel(case$calls[, 31:60]))
x <- one$x

test_that("a likelihood is that of plain R, anywhere", {
  for (theta in list(c(0.2, 0.5, 0.9), c(0, 0.1, 2), two$theta)) {
    expected <- oracle_reml_at(theta, two$y, x, kernels)
    found <- reml_log_likelihood(two, theta, progress = FALSE)
    expect_equal(found$log_likelihood, expected$log_likelihood, tolerance = 1e-11)
    expect_equal(unname(found$score), expected$score, tolerance = 1e-8)
    expect_equal(unname(found$information), unname(expected$average), tolerance = 1e-9)
    quadratic <- vapply(c(kernels, list(diag(80))), function(k) {
      sum(expected$residual_projection * (k %*% expected$residual_projection))
    }, 0)
    expect_equal(unname(found$traces), quadratic - 2 * expected$score, tolerance = 1e-8)
  }
  expect_identical(
    reml_log_likelihood(two, c(residual = 1, b = 0.5, a = 0.2), progress = FALSE),
    reml_log_likelihood(two, c(0.2, 0.5, 1), progress = FALSE)
  )
  expect_refusals(list(
    list(function() reml_log_likelihood(two, 1), "1 number", "'a', 'b' and 'residual'"),
    list(function() reml_log_likelihood(two, c(1, NA, 1)), "`theta`"),
    list(function() reml_log_likelihood(two$theta, 1), "fit_reml()"),
    list(function() reml_log_likelihood(replace(two, "memory", 1e5), two$theta), "100 kB")
  ))
})

test_that("Wald intervals are estimates and errors", {
  table <- confint(two, level = 0.9)
  se <- sqrt(diag(solve(two$information)))
  expect_equal(unname(table[1:3, ]), unname(two$theta + outer(se, qnorm(c(0.05, 0.95)))))
  expect_identical(rownames(table), c("a", "b", "residual", "h2", "(Intercept)", "sexm"))
  expect_identical(colnames(table), c("5 %", "95 %"))
  expect_identical(confint(two, "h2", level = 0.9), table["h2", , drop = FALSE])
  expect_refusals(list(
    list(function() confint(two, "c"), "'c'"), list(function() confint(two, level = 95), "95"),
    list(function() confint(two, "h2", method = "profile"), "'h2'"),
    list(function() confint(replace(two, "path", "stochastic"), method = "profile"), "exact"),
    list(function() plot(replace(two, "path", "stochastic"), type = "profile"), "exact")
  ))
})

test_that("profile intervals end where the profile falls by the quantile", {
  table <- confint(two, method = "profile", progress = FALSE)
  lower <- c(0, 0, 1e-6)
  best_with <- function(k, value) {
    minus <- function(others) {
      -oracle_reml_at(replace(rep(value, 3), -k, others), two$y, x, kernels)$log_likelihood
    }
    -nlminb(two$theta[-k], minus, lower = lower[-k], control = list(rel.tol = 1e-13))$objective
  }
  for (k in 1:3) {
    for (side in 1:2) {
      fall <- 2 * (two$log_likelihood - best_with(k, table[k, side]))
      if (table[k, side] > 0) {
        expect_equal(fall, qchisq(0.95, 1), tolerance = 1e-3)
      } else {
        expect_lt(fall, qchisq(0.95, 1))
      }
    }
    expect_true(table[k, 1] < two$theta[k] && two$theta[k] < table[k, 2])
  }
})

test_that("a test of all components is by the fit's two likelihoods", {
  table <- anova(one)
  expect_s3_class(table, "anova")
  statistic <- 2 * (one$log_likelihood - one$log_likelihood_null)
  expect_equal(table$LRT[2], statistic)
  expect_equal(table$logLik, c(one$log_likelihood_null, one$log_likelihood))
  expect_equal(table[["Pr(>LRT)"]][2], pchisq(statistic, 1, lower.tail = FALSE) / 2)
  expect_identical(table$npar, c(3L, 4L))
  expect_output(print(table), "null: residual")
  exact <- anova(one, test = "exact", nsim = 2000)
  expect_identical(exact, anova(one, test = "exact", nsim = 2000))
  expect_equal(exact[["Pr(>LRT)"]][2], lrt_p_value(statistic, 1), tolerance = 0.5)
})

test_that("unions of components are nested without a bound, others with one", {
  # Two halves in place of the whole: nothing is at a bound.
  merged <- anova(two, one)
  expect_equal(merged$LRT[2], 2 * (two$log_likelihood - one$log_likelihood))
  expect_equal(merged[["Pr(>LRT)"]][2], pchisq(merged$LRT[2], 1, lower.tail = FALSE))
  half <- quiet_fit(y ~ sex, case$data, case$g, list(z = 31:60))
  dropped <- anova(two, half)
  expect_equal(dropped[["Pr(>LRT)"]][2], lrt_p_value(dropped$LRT[2], 1))
  # A kernel is known by its name and numbers.
  pairs <- kernel_matrix(outer(rep(1:40, each = 2), rep(1:40, each = 2), "==") + 0)
  with_pairs <- quiet_fit(y ~ sex, case$data, case$g, kernels = list(pair = pairs))
  pairs_alone <- quiet_fit(y ~ sex, case$data, kernels = list(pair = pairs))
  for (null in list(one, pairs_alone)) {
    table <- anova(with_pairs, null)
    expect_equal(table[["Pr(>LRT)"]][2], lrt_p_value(table$LRT[2], 1))
  }
  # With a bound below 0, or none
  for (bound in c(-0.5, -Inf)) {
    free <- quiet_fit(y ~ sex, case$data, case$g, list(a = 1:30, b = 31:60),
                      control = reml_control(lower = c(a = bound)))
    table <- anova(free, half)
    expect_equal(table[["Pr(>LRT)"]][2], pchisq(table$LRT[2], 1, lower.tail = FALSE))
    alone <- quiet_fit(y ~ sex, case$data, case$g, control = reml_control(lower = bound))
    expect_ancify_error(anova(alone, test = "exact"), "input", "a bound at 0")
  }
})

test_that("fits that are not nested are refused", {
  third <- quiet_fit(y ~ sex, case$data, case$g, list(a = 1:20))
  other_half <- quiet_fit(y ~ sex, case$data, case$g, list(z = 21:60))
  weighted <- quiet_fit(y ~ sex, case$data, case$g, matrix(1:60, 60))
  expect_refusals(list(
    list(function() anova(two, quiet_fit(y ~ 1, case$data, case$g)), "fixed effects differ"),
    list(function() anova(two, quiet_fit(age ~ sex, case$data, case$g)), "responses"),
    list(function() anova(two, quiet_fit(y ~ sex, case$data[-1, ], case$g)), "samples"),
    list(function() anova(two, third), "'a'"), list(function() anova(two, other_half), "'z'"),
    list(function() anova(two, weighted), "'component1'"),
    list(function() anova(one, two), "'a'"), list(function() anova(two, two), "same components"),
    list(function() anova(two, 1), "`null`"), list(function() anova(two, test = "exact"), "one"),
    list(function() anova(one, test = "wald"), "`test`"),
    list(function() anova(one, nsim = 0, test = "exact"), "`nsim`")
  ))
})

test_that("a bootstrap draws responses from the null", {
  table <- anova(two, one, test = "bootstrap", nsim = 3, seed = 4, progress = FALSE)
  responses <- simulate(one, 3, 4)
  ratios <- vapply(responses, function(response) {
    data <- replace(case$data, "y", response)
    full <- quiet_fit(y ~ sex, data, case$g, list(a = 1:30, b = 31:60))
    max(2 * (full$log_likelihood - quiet_fit(y ~ sex, data, case$g)$log_likelihood), 0)
  }, 0)
  expect_equal(table[["Pr(>LRT)"]][2], (1 + sum(ratios >= table$LRT[2] - 1e-6)) / 4)
  none <- anova(two, test = "bootstrap", nsim = 2, progress = FALSE)
  expect_true(none[["Pr(>LRT)"]][2] %in% ((1:3) / 3))
})
