# The alpha model against fits of given kernels.

# `alpha`: of the frequency x. 1,000 variants of which many are rare
alpha_case <- function(n, m, alpha, derived = FALSE) {
  x <- exp(stats::runif(m, log(0.02), log(0.98)))
  calls <- matrix(stats::rbinom(n * m, 2, x), n, byrow = TRUE)
  dimnames(calls) <- list(paste0("s", seq_len(n)), paste0("v", seq_len(m)))
  size <- if (derived) x else 2 * x * (1 - x)
  effects <- stats::rnorm(m) * sqrt(size^alpha)
  value <- drop(calls %*% effects)
  y <- value / stats::sd(value) * 2 + stats::rnorm(n)
  g <- open_genotypes(calls, data.frame(chromosome = "1", position = seq_len(m), counted = "A",
                                        other = "C"))
  list(calls = calls, g = g, data = data.frame(id = rownames(calls), y = y))
}

quiet_alpha <- function(...) fit_alpha(..., threads = 1, progress = FALSE, verbose = FALSE)

# The restricted log-likelihood with a kernel of these variances of effects
oracle_alpha <- function(case, of_effects) {
  p <- colMeans(case$calls) / 2
  varies <- p > 0 & p < 1
  z <- scale(case$calls[, varies], scale = FALSE)
  weight <- of_effects(p[varies])
  kernel <- z %*% (weight * t(z)) / sum(weight * colMeans(z^2))
  quiet_fit(y ~ 1, case$data, kernels = list(g = kernel_matrix(kernel)))$log_likelihood
}

test_that("profiles of alpha are those of kernels in plain R", {
  set.seed(81)
  case <- alpha_case(60, 100, -0.5)
  alphas <- c(-1.5, -1, -0.5, 0, 0.5)
  p <- sample(c(0, 0.3, 1), 100, replace = TRUE)
  posterior <- data.frame(A = p, C = 1 - p, G = 0, T = 0)
  found <- suppressWarnings(quiet_alpha(y ~ 1, case$data, case$g, posterior, alphas))
  profile <- split(found$profile$log_likelihood, found$profile$model)
  expect_equal(profile$minor, vapply(alphas, function(alpha) {
    oracle_alpha(case, function(p) (2 * p * (1 - p))^alpha)
  }, 0), tolerance = 1e-7)
  varies <- colMeans(case$calls) %in% c(0, 2)
  q <- (1 - p)[!varies]
  expect_equal(profile$derived, vapply(alphas, function(alpha) {
    oracle_alpha(case, function(x) q * x^alpha + (1 - q) * (1 - x)^alpha)
  }, 0), tolerance = 1e-7)
  # With alpha = 0, all effects have the same variance.
  equal <- quiet_fit(y ~ 1, case$data, kernels = list(g = kernel_grm(case$g, scale_power = 0)))
  expect_equal(profile$minor[4], equal$log_likelihood, tolerance = 1e-9)
  expect_equal(found$estimates$log_likelihood,
               vapply(found$fits, `[[`, 0, "log_likelihood"), ignore_attr = TRUE)
  expect_equal(max(found$estimates$support), 1)
})

test_that("a maximum and its interval are those of the curve", {
  x <- seq(-2, 1, 0.25)
  found <- spline_maximum(x, -3 * (x + 0.6)^2, 0.95)
  reach <- sqrt(stats::qchisq(0.95, 1) / 6)
  expect_equal(found, c(alpha = -0.6, lower = -0.6 - reach, upper = -0.6 + reach),
               tolerance = 1e-2)
  expect_equal(spline_maximum(x, x, 0.95)[["alpha"]], 1)
  flat <- spline_maximum(x, -0.01 * (x + 0.6)^2, 0.95)
  expect_identical(unname(flat[-1]), c(-2, 1))
})

test_that("an estimate at an end, missing ancestors and other arguments are told", {
  set.seed(82)
  case <- alpha_case(50, 60, -0.5)
  unknown <- data.frame(A = rep(c(1, 0), c(50, 10)), C = 0, G = 0, T = 0)
  expect_warning(
    expect_warning(
      found <- quiet_alpha(y ~ 1, case$data, case$g, unknown, seq(3, 4, 0.25)),
      "minor is highest at alpha = 3, an end of `alphas`"
    ),
    "derived is highest"
  )
  expect_gte(found$left_out, 10)
  expect_output(print(found), "minor.*derived")
  expect_invisible(plot(found))
  expect_message(
    suppressWarnings(fit_alpha(y ~ 1, case$data, case$g, unknown, threads = 1)),
    "variants are without an ancestral allele or variation"
  )
  calls <- case$calls
  calls[, 3] <- 0
  expect_message(
    suppressWarnings(fit_alpha(y ~ 1, case$data, open_genotypes(calls), threads = 1)),
    "variants? (is|are) without variation"
  )
  constant <- open_genotypes(matrix(2, 50, 2, dimnames = list(rownames(case$calls), NULL)))
  expect_refusals(list(
    list(function() quiet_alpha(y ~ 1, case$data, case$g, components = NULL), "components"),
    list(function() quiet_alpha(y ~ 1, case$data, case$g, alphas = c(1, 2)), "alphas"),
    list(function() quiet_alpha(cbind(y, y^2) ~ 1, case$data, case$g), "one trait"),
    list(function() quiet_alpha(y ~ 1, case$data, constant), "No variant")
  ))
})

long_test_that("alpha is estimated without bias, and its model is told", {
  set.seed(83)
  p <- data.frame(A = rep(0, 1000), C = 1, G = 0, T = 0)
  found <- lapply(1:12, function(i) {
    derived <- i %% 2 == 0
    case <- alpha_case(400, 1000, -0.8, derived)
    at <- quiet_alpha(y ~ 1, case$data, case$g, p, seq(-2, 1, 0.5))
    at <- at$estimates[1 + derived, ]
    data.frame(error = at$alpha + 0.8, inside = at$lower <= -0.8 && at$upper >= -0.8,
               best = at$support == 1)
  })
  found <- do.call(rbind, found)
  expect_lt(abs(mean(found$error)), 3 * stats::sd(found$error) / sqrt(12))
  expect_gte(sum(found$inside), 9)
  expect_gte(sum(found$best), 9)
})
