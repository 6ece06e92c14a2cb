# REML of several traits by products and probes, against the exact path (test-reml-traits.R).

both_paths <- function(case, kernels, ..., formula = cbind(a, b) ~ age) {
  lapply(c(exact = "exact", stochastic = "stochastic"), function(method) {
    quiet_fit(formula, case$data, kernels = case$given[kernels], method = method, ...)
  })
}

# The case with genetic values by both kernels.
with_both <- function(case) {
  for (kernel in case$kernels) {
    root <- t(chol(kernel + 1e-8 * diag(nrow(kernel))))
    values <- root %*% matrix(stats::rnorm(2 * nrow(kernel)), ncol = 2)
    case$data[c("a", "b")] <- case$data[c("a", "b")] + 2 * values
  }
  case
}

# Errors of theta in its Monte Carlo errors.
errors_of <- function(paths) {
  (paths$stochastic$theta - paths$exact$theta) / as.data.frame(paths$stochastic)$mc_se
}

test_that("as many orthogonal probes as values give the exact fit", {
  set.seed(51)
  case <- traits_case(n = 32, missing = 0.2)
  for (kernels in list(1, 1:2)) {
    # The exact path's tolerance is lower.
    paths <- both_paths(case, kernels, control = reml_control(tolerance = 1e-14))
    ours <- paths$stochastic
    expect_equal(ours$theta, paths$exact$theta, tolerance = 1e-5)
    at <- oracle_traits_at(unname(ours$covariances), case$y, case$x, case$kernels[kernels])
    expect_equal(ours$log_likelihood, at$log_likelihood, tolerance = 1e-7)
    expect_equal(unname(ours$score), at$score, tolerance = 1e-5)
    expect_equal(unname(ours$information), at$average, tolerance = 1e-5)
    expect_equal(unname(coef(ours)), at$coefficients, tolerance = 1e-6)
    expect_equal(unname(vcov(ours)), unname(at$coefficients_covariance), tolerance = 1e-5)
    expect_equal(as.vector(ours$genetic), as.vector(unlist(at$genetic)), tolerance = 1e-6)
    expect_true(all(ours$mc_score == 0))
  }
})

test_that("estimates are the exact path's, within their Monte Carlo errors", {
  set.seed(52)
  case <- with_both(traits_case(n = 300, m = 600, missing = 0.15))
  for (kernels in list(1, 1:2)) {
    paths <- both_paths(case, kernels)
    expect_true(paths$stochastic$converged)
    expect_lt(max(abs(errors_of(paths))), 4)
    table <- as.data.frame(paths$stochastic)
    expect_true(all(table$mc_se > 0 & table$mc_se < 0.08 * table$se))
    expect_equal(table$se, as.data.frame(paths$exact)$se, tolerance = 0.1)
    expect_lt(abs(paths$stochastic$log_likelihood - paths$exact$log_likelihood),
              4 * paths$stochastic$mc_log_likelihood)
    expect_true(all(as.data.frame(paths$exact)$mc_se == 0))
  }
})

test_that("three traits without missing values agree with the exact path", {
  set.seed(53)
  case <- traits_case(n = 250, m = 500, traits = 3)
  paths <- both_paths(case, 1, formula = cbind(a, b, c) ~ age)
  expect_lt(max(abs(errors_of(paths))), 4)
  shares <- heritability(paths$stochastic)
  expect_lt(max(abs(shares$share - heritability(paths$exact)$share) / shares$mc_se), 4)
  table <- genetic_correlation(paths$stochastic)
  expect_named(table, c("component", "trait_1", "trait_2", "rg", "se", "mc_se"))
  theirs <- genetic_correlation(paths$exact, tests = FALSE)
  expect_lt(max(abs(table$rg - theirs$rg) / table$mc_se), 4)
})

test_that("traits without a common sample have no residual correlation", {
  set.seed(54)
  case <- traits_case(n = 200, m = 300, rg = 0.8)
  case$data$a[1:100] <- case$data$b[101:200] <- NA
  paths <- both_paths(case, 1)
  known <- !is.na(as.data.frame(paths$exact)$covariance)
  expect_lt(max(abs(errors_of(paths)[known])), 4)
  expect_true(is.na(genetic_correlation(paths$stochastic)$rg[2]))
})

test_that("stochastic fits of genotypes do not depend on threads, and follow units", {
  set.seed(55)
  case <- reml_case(n = 150)
  case$data$z <- case$data$y + stats::rnorm(150)
  case$data$z[1:10] <- NA
  fit_by <- function(data, threads) {
    fit_reml(cbind(y, z) ~ sex, data, case$g, method = "stochastic", threads = threads,
             verbose = FALSE, progress = FALSE)
  }
  fit <- fit_by(case$data, 1)
  expect_identical(fit_by(case$data, 2)$theta, fit$theta)
  expect_output(print(fit), "stochastic path")
  case$data$z <- 1024 * case$data$z
  expect_equal(unname(fit_by(case$data, 1)$theta), unname(fit$theta) * rep(c(1, 1024, 1024^2), 2),
               tolerance = 1e-9)
})

test_that("settings without a stochastic path of several traits are refused", {
  set.seed(56)
  case <- traits_case()
  fit_of <- function(...) {
    function() {
      quiet_fit(cbind(a, b) ~ 1, case$data, kernels = case$given[1], method = "stochastic", ...)
    }
  }
  expect_refusals(list(
    list(fit_of(control = reml_control(information = "expected")), "exact"),
    list(fit_of(control = reml_control(probes = matrix(1, 60, 2))), "probes", "number"),
    list(fit_of(checkpoint = tempfile()), "checkpoint"),
    list(function() genetic_correlation(fit_of()(), tests = TRUE), "exact")
  ))
  equal <- list(a = case$given[[1]], b = case$given[[1]])
  expect_refusals(list(list(function() {
    quiet_fit(cbind(a, b) ~ 1, case$data, kernels = equal, method = "stochastic")
  }, "'b'", "leave it out")))
})

long_test_that("traits of thousands of samples are the exact path's", {
  set.seed(57)
  case <- traits_case(n = 2000, m = 4000, missing = 0.1)
  paths <- both_paths(case, 1)
  expect_true(paths$stochastic$converged)
  expect_lt(max(abs(errors_of(paths))), 4)
})
