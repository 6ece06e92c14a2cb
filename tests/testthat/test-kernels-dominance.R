# Kernels of dominance, against GCTA's formula in plain R.

# Codes 0, 2p, 4p - 2 minus their mean, times v^(power / 2) with v = (2p(1 - p))^2; 0 if missing.
oracle_dominance <- function(calls, power = -1) {
  p <- colMeans(calls, na.rm = TRUE) / 2
  varies <- apply(calls, 2, function(of) length(unique(stats::na.omit(of))) > 1)
  columns <- vapply(which(varies), function(j) {
    code <- c(0, 2 * p[j], 4 * p[j] - 2)[calls[, j] + 1]
    code <- code - mean(code, na.rm = TRUE)
    replace(code, is.na(code), 0)
  }, numeric(nrow(calls)))
  v <- (2 * p * (1 - p))[varies]^2
  unname(tcrossprod(columns %*% diag(v^(power / 2)))) / sum(v^(1 + power))
}

set.seed(47)
case <- reml_case(80, 150, missing = 0.03)
d <- oracle_dominance(case$calls)
kernel <- kernel_dominance(case$g)
case$data$y <- case$data$y + drop(t(chol(d + diag(1e-6, 80))) %*% stats::rnorm(80))

test_that("products are those of GCTA's and of Vitezica's codes", {
  v <- matrix(stats::rnorm(240), 80)
  for (power in c(-1, 0, -0.5)) {
    expect_equal(kernel_times(kernel_dominance(case$g, scale_power = power), v, threads = 2),
                 oracle_dominance(case$calls, power) %*% v, tolerance = 1e-9)
  }
  many <- kernel_dominance(open_genotypes(oracle_write_bed(simulate_calls(80, 600))))
  expect_identical(kernel_times(many, v, memory = 30000), kernel_times(many, v))
})

test_that("the code is uncorrelated with copies in Hardy-Weinberg equilibrium", {
  p <- 0.3
  share <- c((1 - p)^2, 2 * p * (1 - p), p^2)
  code <- c(0, 2 * p, 4 * p - 2)
  centred <- code - sum(share * code)
  expect_equal(sum(share * centred * 0:2), 0)
  expect_equal(sum(share * centred^2), (2 * p * (1 - p))^2)
  # Vitezica's codes of 0, 1 and 2 copies
  expect_equal(centred, c(-2 * p^2, 2 * p * (1 - p), -2 * (1 - p)^2))
})

test_that("both paths fit dominance beside the additive kernel", {
  fit <- quiet_fit(y ~ sex, case$data, case$g, kernels = list(dominance = kernel))
  expected <- oracle_reml(case$data$y, stats::model.matrix(~ sex, case$data),
                          list(oracle_kernel(case$calls), d))
  expect_gt(fit$theta[["dominance"]], 0)
  expect_equal(unname(fit$theta), expected$theta, tolerance = 1e-6)
  expect_equal(fit$log_likelihood, expected$log_likelihood, tolerance = 1e-9)
  expect_equal(unname(fit$mean_diagonal),
               c(mean(diag(oracle_kernel(case$calls))), mean(diag(d)), 1), tolerance = 1e-9)
  expect_equal(heritability(fit)["h2", "share"], expected$h2, tolerance = 1e-6)
  stochastic <- quiet_fit(y ~ sex, case$data, case$g, kernels = list(dominance = kernel),
                          method = "stochastic", control = reml_control(mc_tolerance = 1e-3))
  expect_equal(stochastic$theta, fit$theta, tolerance = 1e-3)
  saved <- unserialize(serialize(fit, NULL))
  expect_identical(reml_log_likelihood(saved, c(1, 1, 1), progress = FALSE),
                   reml_log_likelihood(fit, c(1, 1, 1), progress = FALSE))
  expect_ancify_error(predict(fit, case$g, case$data), "input", "'dominance'")
})

test_that("frequencies are those of the fit's samples and variants", {
  some <- c(3:40, 50:80)
  part <- kernel_dominance(case$g[, c(9:60, 3)])
  fit <- quiet_fit(y ~ sex, case$data[some, ], kernels = list(d = part))
  theta <- c(0.6, 0.8)
  expect_equal(
    reml_log_likelihood(fit, theta, progress = FALSE)$log_likelihood,
    oracle_reml_at(
      theta, case$data$y[some], stats::model.matrix(~ sex, case$data[some, ]),
      list(oracle_dominance(case$calls[some, c(9:60, 3)]))
    )$log_likelihood, tolerance = 1e-9
  )
})

test_that("genotypes without calls or variation are refused", {
  dosages <- matrix(stats::runif(60, 0, 2), 12, dimnames = list(paste0("s", 1:12), NULL))
  expect_refusals(list(
    list(function() kernel_dominance(open_genotypes(dosages, dosages = TRUE)), "dosages"),
    list(function() kernel_times(kernel_dominance(case$g[, 5]), 1:80), "varies"),
    list(function() kernel_dominance(1), "`g`")
  ))
})
