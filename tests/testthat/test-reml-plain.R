# The plain R of helper-reml.R, with which fits are compared, against other programs and itself.

plain_case <- function(seed, families = 40, size = 3) {
  set.seed(seed)
  calls <- simulate_calls(families * size, 400, family = size, missing = 0.02)
  x <- cbind(1, stats::rnorm(nrow(calls)))
  kernels <- oracle_kernels(calls, rep(1:2, c(150, 250)))
  y <- simulate_trait(calls, 0.6) + drop(x %*% c(3, -1))
  list(calls = calls, x = x, y = unname(y), kernels = kernels)
}

test_that("the plain score is the slope of the plain likelihood, and informations its curvature", {
  case <- plain_case(1)
  theta <- c(0.3, 0.5, 0.7)
  at <- function(theta) oracle_reml_at(theta, case$y, case$x, case$kernels)
  here <- at(theta)
  slope <- vapply(1:3, function(i) {
    there <- function(d) at(replace(theta, i, theta[i] + d))$log_likelihood
    (8 * (there(1e-3) - there(-1e-3)) - (there(2e-3) - there(-2e-3))) / 12e-3
  }, 0)
  expect_equal(here$score, slope, tolerance = 1e-8)
  curvature <- vapply(1:3, function(i) {
    there <- function(d) at(replace(theta, i, theta[i] + d))$score
    -(8 * (there(1e-3) - there(-1e-3)) - (there(2e-3) - there(-2e-3))) / 12e-3
  }, numeric(3))
  # The average information is the mean of the observed and the expected one.
  expect_equal(unname(here$average), (curvature + here$expected) / 2, tolerance = 1e-7)
})

test_that("two ways find the same plain optimum", {
  case <- plain_case(2)
  fit <- oracle_reml(case$y, case$x, case$kernels)
  expect_false(any(fit$at_bound))
  expect_equal(oracle_em(case$y, case$x, case$kernels), fit$theta, tolerance = 1e-8)
  expect_lt(max(abs(fit$score)), 1e-8)
})

test_that("the plain likelihood is the same for another basis of the fixed effects", {
  case <- plain_case(3)
  other <- case$x %*% matrix(c(2, 1, -0.3, 5), 2)
  theta <- c(0.2, 0.1, 0.9)
  one <- oracle_reml_at(theta, case$y, case$x, case$kernels)
  two <- oracle_reml_at(theta, case$y, other, case$kernels)
  same <- c("log_likelihood", "score", "average", "expected", "residual_projection", "genetic")
  expect_equal(one[same], two[same], tolerance = 1e-9)
})

# Families of equal size, which are a random intercept.
intercept_case <- function(seed, families = 60, size = 5) {
  set.seed(seed)
  family <- rep(seq_len(families), each = size)
  data <- data.frame(id = seq_along(family), family = factor(family))
  data$age <- stats::rnorm(nrow(data))
  data$y <- 2 + 0.3 * data$age + stats::rnorm(families)[family] + stats::rnorm(nrow(data))
  list(data = data, kernel = outer(family, family, "==") + 0, x = cbind(1, data$age))
}

test_that("the plain optimum of a random intercept is that of lme4 and nlme", {
  if (!requireNamespace("lme4", quietly = TRUE)) lacking("the R package lme4")
  if (!requireNamespace("nlme", quietly = TRUE)) lacking("the R package nlme")
  case <- intercept_case(4)
  fit <- oracle_reml(case$data$y, case$x, list(case$kernel))
  by_lme4 <- lme4::lmer(y ~ age + (1 | family), case$data)
  expect_equal(fit$theta, as.data.frame(lme4::VarCorr(by_lme4))$vcov, tolerance = 1e-6)
  expect_equal(unname(fit$coefficients), unname(lme4::fixef(by_lme4)), tolerance = 1e-7)
  errors <- sqrt(diag(as.matrix(stats::vcov(by_lme4))))
  expect_equal(sqrt(diag(fit$coefficients_covariance)), unname(errors), tolerance = 1e-6)
  # lme4's and nlme's criterion lacks log|X'X|.
  without <- fit$log_likelihood - 0.5 * log(det(crossprod(case$x)))
  expect_equal(-lme4::REMLcrit(by_lme4) / 2, without, tolerance = 1e-10)
  by_nlme <- nlme::lme(y ~ age, case$data, random = ~ 1 | family)
  expect_equal(as.numeric(stats::logLik(by_nlme)), without, tolerance = 1e-10)
  expect_equal(sqrt(diag(by_nlme$varFix)), errors, tolerance = 1e-6, ignore_attr = TRUE)
})

# The fixture is of the same plain R. Its file says how it was made, so this sees changes of either.
test_that("the plain fit of CD8 is that of the table, and all values there are optima", {
  mice <- oracle_read_bed(mouse_files())
  table <- mouse_values()
  for (row in which(table$trait == 1)) {
    known <- table[row, ]
    y <- mouse_trait(mice, 1)
    calls <- mice$calls[!is.na(y), ]
    labels <- if (known$model == 1) rep(1, ncol(calls)) else mouse_halves(mice$variants$V1)
    y <- y[!is.na(y)]
    theta <- known_theta(known)
    at <- oracle_reml_at(theta, y, matrix(1, length(y)), oracle_kernels(calls, labels))
    move <- solve(at$average, at$score)
    expect_lt(sqrt(sum(move * at$score)), 1e-7)
    expect_equal(at$log_likelihood, known$log_likelihood, tolerance = 1e-11)
    expect_equal(sqrt(diag(solve(at$average))), known_se(known), tolerance = 1e-9)
    expect_equal(sum(oracle_columns(calls)$used), known$variants)
  }
})
