# A residual variance for each ancestry, against dense matrices.

set.seed(23)
case <- reml_case(70, 50)
q <- matrix(rexp(210)^2, 70)
q <- q / rowSums(q)
colnames(q) <- c("x", "y", "z")
case$data$y <- drop(case$data$y + sqrt(q %*% c(0.1, 1, 3)) * rnorm(70))
kernel <- kernel_admixture(case$g, q, residual = "ancestry")
fit <- quiet_fit(y ~ sex, case$data, kernels = list(by = kernel))

dense <- oracle_kernel(case$calls)
kernels <- lapply(1:3, function(a) dense * sqrt(outer(q[, a], q[, a])))
residuals <- lapply(1:3, function(a) diag(q[, a]))
x <- stats::model.matrix(~ sex, case$data)
oracle_at <- function(theta) oracle_reml_at(theta, case$data$y, x, kernels, residuals)

# The largest log-likelihood by nlminb(), from several starts
oracle_maximum <- function(kernels, residuals, lower) {
  k <- length(kernels) + length(residuals)
  at <- function(theta) oracle_reml_at(theta, case$data$y, x, kernels, residuals)
  found <- lapply(c(0.2, 1, 3), function(start) {
    stats::nlminb(rep(start, k), function(theta) -at(theta)$log_likelihood,
                  function(theta) -at(theta)$score, lower = lower,
                  control = list(rel.tol = 1e-13, x.tol = 1e-12))
  })
  found[[which.min(vapply(found, `[[`, 0, "objective"))]]
}

test_that("the likelihood is that of dense matrices, at any variances", {
  for (theta in list(c(0.3, 0.2, 0.1, 0.5, 1, 2), c(0, 0, 1, 2, 0.01, 0.3))) {
    found <- reml_log_likelihood(fit, theta, progress = FALSE)
    expected <- oracle_at(theta)
    expect_equal(found$log_likelihood, expected$log_likelihood, tolerance = 1e-10)
    expect_equal(unname(found$score), expected$score, tolerance = 1e-8)
    expect_equal(unname(found$information), expected$average, tolerance = 1e-8)
  }
  other <- quiet_fit(y ~ sex, case$data, kernels = list(by = kernel),
                     control = reml_control(information = "expected"))
  at <- oracle_at(other$theta)
  expect_equal(unname(other$information), at$expected, tolerance = 1e-8)
  expect_equal(other$theta, fit$theta, tolerance = 1e-6)
})

test_that("a fit has the largest likelihood, and what belongs to it", {
  names <- c("by.x", "by.y", "by.z", "residual.x", "residual.y", "residual.z")
  expect_named(fit$theta, names)
  expect_true(fit$converged)
  best <- oracle_maximum(kernels, residuals, c(0, 0, 0, rep(1e-6 * var(case$data$y), 3)))
  expect_equal(unname(fit$theta), best$par, tolerance = 1e-4)
  expect_gte(fit$log_likelihood, -best$objective - 1e-9)
  at <- oracle_at(fit$theta)
  expect_equal(fit$log_likelihood, at$log_likelihood, tolerance = 1e-10)
  expect_lt(max(abs(at$score[!fit$at_bound])), 1e-6)
  expect_equal(unname(fit$coefficients), unname(at$coefficients), tolerance = 1e-8)
  expect_equal(unname(fit$coefficients_covariance), unname(at$coefficients_covariance),
               tolerance = 1e-8)
  expect_equal(unname(fit$genetic), at$genetic, tolerance = 1e-8)
  expect_equal(fit$residual_projection, at$residual_projection, tolerance = 1e-8)
  null <- oracle_maximum(list(), residuals, rep(1e-6, 3))
  expect_equal(fit$log_likelihood_null, -null$objective, tolerance = 1e-8)
  expect_equal(unname(fit$mean_diagonal),
               c(vapply(kernels, function(k) mean(diag(k)), 0), colMeans(q)), tolerance = 1e-10,
               ignore_attr = TRUE)
  expect_output(print(summary(fit)), "residual.z")
  expect_output(print(anova(fit)), "null: residual.x, residual.y and residual.z")
})

test_that("the stochastic path finds the same, by exact probes and by few", {
  fit_with <- function(...) {
    quiet_fit(y ~ sex, case$data, kernels = list(by = kernel), method = "stochastic",
              control = reml_control(...))
  }
  # As many orthogonal probes as the complement has dimensions
  other <- fit_with(probes = 70, tolerance = 1e-10)
  expect_true(other$converged)
  expect_named(other$theta, names(fit$theta))
  se <- sqrt(diag(vcov(fit, "components")))
  expect_lt(max(abs(other$theta - fit$theta)[!fit$at_bound] / se[!fit$at_bound]), 1e-4)
  expect_identical(other$at_bound, fit$at_bound)
  expect_equal(other$mean_diagonal, fit$mean_diagonal, tolerance = 1e-7)
  expect_equal(other$coefficients, fit$coefficients, tolerance = 1e-4)
  expect_equal(other$coefficients_covariance, fit$coefficients_covariance, tolerance = 1e-3)
  expect_identical(dim(other$genetic), dim(fit$genetic))
  expect_equal(other$genetic, fit$genetic, tolerance = 1e-3)
  expect_equal(other$log_likelihood, fit$log_likelihood, tolerance = 1e-3)
  expect_equal(other$log_likelihood_null, fit$log_likelihood_null, tolerance = 1e-3)
  free <- !fit$at_bound
  expect_equal(other$information[free, free], fit$information[free, free], tolerance = 1e-2)

  few <- suppressWarnings(fit_with(max_probes = 60, probes = 20))
  expect_lt(max((abs(few$theta - fit$theta) / se)[free]), 1)
  scans <- lapply(list(fit, other), scan_variants, case$g[, 1:4], loco = FALSE, progress = FALSE)
  expect_equal(scans[[2]]$effect, scans[[1]]$effect, tolerance = 0.2)
})

test_that("heritability takes the residual of its ancestry", {
  mean <- colSums(q * diag(dense)) / colSums(q)
  genetic <- fit$theta[1:3] * mean
  table <- heritability(fit)
  expect_equal(table$h2, unname(c(NA, genetic / (genetic + fit$theta[4:6]))), tolerance = 1e-8)
  whole <- sum(fit$theta * fit$mean_diagonal)
  expect_equal(table["h2", "share"], sum((fit$theta * fit$mean_diagonal)[1:3]) / whole)
  free <- fit$theta[1:3] > 0
  expect_equal(table$h2_se[-1][free], oracle_h2_errors(fit)[free], tolerance = 1e-4)
  expect_identical(nrow(as.data.frame(fit)), 6L)
})

test_that("equal residual variances are the shared one, and one ancestry has one", {
  shared <- quiet_fit(y ~ sex, case$data, kernels = list(by = kernel_admixture(case$g, q)))
  at <- function(fit, residual) {
    reml_log_likelihood(fit, c(0.3, 0.2, 0.4, residual), progress = FALSE)$log_likelihood
  }
  expect_equal(at(fit, rep(0.7, 3)), at(shared, 0.7), tolerance = 1e-12)
  expect_gte(fit$log_likelihood, shared$log_likelihood)
  one <- kernel_admixture(case$g, matrix(1, 70, 1), residual = "ancestry")
  expect_named(quiet_fit(y ~ 1, case$data, kernels = list(a = one))$theta,
               c("a.ancestry1", "residual"))
})

test_that("draws, scans, profiles and other samples know the residuals", {
  moved <- fit
  moved$theta[] <- c(0, 0, 0, 1, 4, 0.25)
  drawn <- as.matrix(simulate(moved, 4000, seed = 1)) - drop(fit$x %*% fit$coefficients)
  expect_equal(rowMeans(drawn^2), drop(q %*% c(1, 4, 0.25)), tolerance = 0.1, ignore_attr = TRUE)

  scan <- scan_variants(fit, case$g[, 1:4], loco = FALSE, progress = FALSE)
  h <- Reduce(`+`, Map(`*`, fit$theta, c(kernels, residuals)))
  z <- as.matrix(case$g[, 1:4])
  z[is.na(z)] <- matrix(colMeans(z, na.rm = TRUE), 70, 4, byrow = TRUE)[is.na(z)]
  expected <- apply(z, 2, function(one) {
    w <- cbind(one, x)
    covariance <- solve(crossprod(w, solve(h, w)))
    c((covariance %*% crossprod(w, solve(h, case$data$y)))[1], sqrt(covariance[1, 1]))
  })
  expect_equal(rbind(scan$effect, scan$se), expected, tolerance = 1e-7, ignore_attr = TRUE)

  limits <- confint(fit, "residual.z", method = "profile", progress = FALSE)
  expect_true(limits[1] < fit$theta[["residual.z"]] && fit$theta[["residual.z"]] < limits[2])

  some <- c(3:40, 45:70)
  part <- quiet_fit(y ~ sex, case$data[some, ], kernels = list(by = kernel))
  at <- oracle_reml_at(part$theta, case$data$y[some], x[some, ],
                       lapply(kernels, function(k) k[some, some]),
                       lapply(residuals, function(r) r[some, some]))
  # Kernels of some samples have means and variances of these.
  expect_false(isTRUE(all.equal(part$log_likelihood, at$log_likelihood)))
  k <- oracle_kernel(case$calls[some, ])
  at <- oracle_reml_at(part$theta, case$data$y[some], x[some, ],
                       lapply(1:3, function(a) k * sqrt(outer(q[some, a], q[some, a]))),
                       lapply(residuals, function(r) r[some, some]))
  expect_equal(part$log_likelihood, at$log_likelihood, tolerance = 1e-10)
})

test_that("an interaction keeps the residual by ancestry", {
  data <- case$data
  data$z <- stats::rnorm(70)
  data$farm <- sample(c("north", "south"), 70, TRUE)
  theta <- c(0.3, 0.2, 0.1, 0.5, 1, 2)
  for (column in c("z", "farm")) {
    by <- kernel_interaction(kernel, stats::as.formula(paste("~", column)))
    found <- quiet_fit(y ~ sex, data, kernels = list(by = by))
    expect_named(found$theta, names(fit$theta))
    of_rows <- if (column == "z") tcrossprod(data$z) else outer(data$farm, data$farm, "==")
    at <- oracle_reml_at(theta, data$y, x, lapply(kernels, function(k) k * of_rows), residuals)
    found <- reml_log_likelihood(found, theta, progress = FALSE)
    expect_equal(found$log_likelihood, at$log_likelihood, tolerance = 1e-9)
    expect_equal(unname(found$score), at$score, tolerance = 1e-7)
  }
})

test_that("all rows of a sample have its ancestries, also within interactions", {
  rows <- rep(1:70, rep(1:2, 35))
  data <- case$data[rows, ]
  data$y <- data$y + stats::rnorm(length(rows))
  data$z <- stats::rnorm(length(rows))
  z <- tcrossprod(data$z)
  same <- outer(data$id, data$id, "==") + 0
  theta <- c(0.3, 0.2, 0.1, 0.4, 0.5, 1, 2)
  parts <- list(list(kernel, 1), list(kernel_interaction(kernel, ~ z), z))
  fits <- lapply(parts, function(part) {
    found <- quiet_fit(y ~ sex, data, kernels = list(by = part[[1]], lasting = kernel_groups(~ id)))
    at <- oracle_reml_at(
      theta, data$y, x[rows, ],
      c(lapply(kernels, function(k) k[rows, rows] * part[[2]]), list(same)),
      lapply(1:3, function(a) diag(q[rows, a]))
    )
    likelihood <- reml_log_likelihood(found, theta, progress = FALSE)
    expect_equal(likelihood$log_likelihood, at$log_likelihood, tolerance = 1e-9)
    expect_equal(unname(likelihood$score), at$score, tolerance = 1e-7)
    found
  })
  mean <- colSums(q[rows, ] * diag(dense)[rows]) / colSums(q[rows, ])
  genetic <- fits[[1]]$theta[1:3] * mean
  expect_equal(heritability(fits[[1]])$h2[2:4], unname(genetic / (genetic + fits[[1]]$theta[5:7])),
               tolerance = 1e-8)
  expect_null(heritability(fits[[2]])$h2)
  again <- kernel_interaction(kernel, ~ z)
  expect_ancify_error(quiet_fit(y ~ sex, data, kernels = list(again = again, other = kernel,
                                                              id = kernel_groups(~ id))),
                      "input", "'again' and 'other'")
})

test_that("what needs one residual variance says so", {
  fit_with <- function(...) quiet_fit(y ~ sex, case$data, kernels = list(by = kernel, ...))
  shared <- quiet_fit(y ~ sex, case$data, kernels = list(by = kernel_admixture(case$g, q)))
  expect_refusals(list(
    list(function() haseman_elston(y ~ 1, case$data, kernels = list(by = kernel), blocks = 10),
         "Haseman-Elston", "\"shared\""),
    list(function() lasso_path(fit, case$g), "sparse effects", "\"shared\""),
    list(function() anova(fit, test = "bootstrap"), "`null`"),
    list(function() anova(fit, shared), "residuals differ"),
    list(function() fit_with(again = kernel), "'by' and 'again'"),
    list(function() fit_with(residual.x = kernel_matrix(diag(70))), "'residual.x'"),
    list(function() kernel_admixture(case$g, q, residual = "own"), "`residual`")
  ))
})
