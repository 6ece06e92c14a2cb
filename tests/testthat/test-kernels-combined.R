# Interactions with environments and products of kernels, against dense matrices.

set.seed(43)
case <- reml_case(70, 60)
case$data$z <- stats::rnorm(70)
case$data$farm <- factor(sample(c("north", "south", "west"), 70, TRUE))
k <- oracle_kernel(case$calls)
grm <- kernel_grm(case$g)
zz <- tcrossprod(case$data$z)
within_farm <- outer(case$data$farm, case$data$farm, "==") + 0
x <- stats::model.matrix(~ sex + z, case$data)
case$data$y <- case$data$y + drop(t(chol(k * zz + k * within_farm + diag(1e-6, 70))) %*%
                                    stats::rnorm(70))
fit_by <- function(..., data = case$data) {
  quiet_fit(y ~ sex + z, data, case$g, kernels = list(...))
}
expect_dense_fit <- function(fit, kernels, data = case$data) {
  expected <- oracle_reml(data$y, stats::model.matrix(~ sex + z, data), kernels)
  expect_equal(unname(fit$theta), expected$theta, tolerance = 1e-6)
  expect_equal(fit$log_likelihood, expected$log_likelihood, tolerance = 1e-9)
  expect_equal(unname(fit$genetic), expected$genetic, tolerance = 1e-5)
  expect_equal(unname(fit$mean_diagonal), c(vapply(kernels, function(k) mean(diag(k)), 0), 1))
}

test_that("an interaction with numbers has the fit of K * zz'", {
  fit <- fit_by(warmth = kernel_interaction(grm, ~ z))
  expect_dense_fit(fit, list(k, k * zz))
  expect_gt(fit$theta[["warmth"]], 0)
})

test_that("an interaction with labels has the fit of K within levels", {
  for (as in list(identity, as.character)) {
    data <- case$data
    data$farm <- as(data$farm)
    expect_dense_fit(fit_by(farm = kernel_interaction(grm, ~ farm), data = data),
                     list(k, k * within_farm))
  }
})

test_that("interactions of any kernels nest, with fewer samples", {
  other <- crossprod(matrix(stats::rnorm(70 * 80), 80)) / 80
  dimnames(other) <- list(case$data$id, case$data$id)
  some <- c(5:30, 40:70)
  nested <- kernel_interaction(kernel_interaction(kernel_matrix(other), ~ farm), ~ z)
  theta <- c(0.4, 0.8, 0.6)
  fit <- fit_by(nested = nested, data = case$data[some, ])
  expected <- oracle_reml_at(
    theta, case$data$y[some], x[some, ],
    list(oracle_kernel(case$calls[some, ]), (other * within_farm * zz)[some, some])
  )
  found <- reml_log_likelihood(fit, theta, progress = FALSE)
  expect_equal(found$log_likelihood, expected$log_likelihood, tolerance = 1e-9)
  expect_equal(unname(found$score), expected$score, tolerance = 1e-7)
})

test_that("the stochastic path multiplies interactions as the exact one", {
  kernels <- list(warmth = kernel_interaction(grm, ~ z), farm = kernel_interaction(grm, ~ farm))
  exact <- quiet_fit(y ~ sex + z, case$data, case$g, kernels = kernels)
  stochastic <- quiet_fit(y ~ sex + z, case$data, case$g, kernels = kernels, method = "stochastic",
                          control = reml_control(mc_tolerance = 1e-3))
  expect_true(stochastic$converged)
  expect_equal(stochastic$theta, exact$theta, tolerance = 1e-3)
})

test_that("environments may change between the records of a sample", {
  data <- case$data[rep(1:70, each = 2), ]
  data$z <- stats::rnorm(140)
  data$y <- data$y + stats::rnorm(140)
  fit <- fit_by(lasting = kernel_groups(~ id), warmth = kernel_interaction(grm, ~ z), data = data)
  twice <- k[rep(1:70, each = 2), rep(1:70, each = 2)]
  expect_dense_fit(fit, list(twice, outer(data$id, data$id, "==") + 0,
                             twice * tcrossprod(data$z)), data)
  # A random slope is not genetic.
  slope <- fit_by(lasting = kernel_groups(~ id), data = data,
                  slope = kernel_interaction(kernel_groups(~ id), ~ z))
  expect_identical(slope$environmental, c("lasting", "slope"))
})

test_that("a random slope is lme4's", {
  if (!requireNamespace("lme4", quietly = TRUE)) lacking("the R package lme4")
  data <- case$data[rep(1:70, each = 4), ]
  data$z <- stats::rnorm(280)
  data$y <- stats::rnorm(70)[rep(1:70, each = 4)] * data$z + stats::rnorm(280)
  fit <- quiet_fit(y ~ z, data, kernels = list(
    id = kernel_groups(~ id), slope = kernel_interaction(kernel_groups(~ id), ~ z)
  ))
  theirs <- suppressMessages(lme4::lmer(y ~ z + (1 | id) + (0 + z | id), data))
  expect_equal(fit$log_likelihood - 0.5 * log(det(crossprod(fit$x))),
               -lme4::REMLcrit(theirs) / 2, tolerance = 1e-7)
})

test_that("a product has the fit of the entries' products, on the exact path alone", {
  epistasis <- kernel_product(grm, grm)
  v <- matrix(stats::rnorm(140), 70)
  expect_equal(kernel_times(epistasis, v, threads = 2), (k * k) %*% v, tolerance = 1e-9)
  expect_dense_fit(fit_by(epistasis = epistasis), list(k, k * k))
  named <- `dimnames<-`(within_farm, list(rev(case$data$id), rev(case$data$id)))
  turned <- kernel_product(grm, kernel_matrix(named))
  expect_equal(kernel_times(turned, v), (k * within_farm[70:1, 70:1]) %*% v, tolerance = 1e-9)
  some <- c(1:20, 31:70)
  fit <- fit_by(turned = turned, data = case$data[some, ])
  theta <- c(0.4, 0.8, 0.6)
  expect_equal(
    reml_log_likelihood(fit, theta, progress = FALSE)$log_likelihood,
    oracle_reml_at(theta, case$data$y[some], x[some, ], list(
      oracle_kernel(case$calls[some, ]),
      oracle_kernel(case$calls[some, ]) * within_farm[70:1, 70:1][some, some]
    ))$log_likelihood, tolerance = 1e-9
  )
  expect_ancify_error(quiet_fit(y ~ 1, case$data, case$g, method = "stochastic",
                                kernels = list(epistasis = epistasis)), "input",
                      "kernel_product()", "exact")
})

test_that("with little memory, no path is advised that a product lacks", {
  for (method in c("auto", "exact", "stochastic")) {
    found <- expect_ancify_error(
      quiet_fit(y ~ 1, case$data, case$g, method = method, memory = 20000,
                kernels = kernel_product(grm, grm)), "input", "give more", "kernel_product() out"
    )
    expect_no_match(conditionMessage(found), "choose")
  }
})

test_that("fits can be saved, compared and drawn from, but have no effects of variants", {
  kernels <- list(warmth = kernel_interaction(grm, ~ z), epistasis = kernel_product(grm, grm))
  fit <- quiet_fit(y ~ sex + z, case$data, case$g, kernels = kernels)
  saved <- unserialize(serialize(fit, NULL))
  theta <- c(0.3, 0.4, 0.2, 0.5)
  expect_identical(reml_log_likelihood(saved, theta, progress = FALSE),
                   reml_log_likelihood(fit, theta, progress = FALSE))
  narrow <- quiet_fit(y ~ sex + z, case$data, case$g, kernels = kernels["warmth"])
  expect_identical(nrow(anova(fit, narrow)), 2L)
  expect_identical(dim(simulate(fit, 2, seed = 1)), c(70L, 2L))
  expect_ancify_error(predict(fit, case$g, case$data, progress = FALSE), "input", "'warmth'")
  expect_equal(predict(fit), fitted(fit))
})

test_that("leaving out a chromosome tells of kernels that keep its variants", {
  fit <- fit_by(warmth = kernel_interaction(grm, ~ z))
  expect_warning(scan_variants(fit, progress = FALSE), "'warmth'")
})

test_that("bad combinations are refused", {
  with_z <- function(z) {
    case$data$z <- z
    function() {
      quiet_fit(y ~ sex, case$data, case$g, kernels = list(e = kernel_interaction(grm, ~ z)))
    }
  }
  unnamed <- kernel_matrix(diag(70))
  q <- cbind(a = rep(0.5, 70), b = 0.5)
  expect_refusals(list(
    list(function() kernel_interaction(grm, "z"), "`environment`"),
    list(function() kernel_interaction(diag(3), ~ z), "`k`"),
    list(function() kernel_interaction(grm), "`environment`"),
    list(with_z(replace(case$data$z, 4, Inf)), "'z'", "finite"),
    list(with_z(I(as.list(1:70))), "'z'"),
    list(function() kernel_times(kernel_interaction(grm, ~ z), 1:70), "'z'"),
    list(function() kernel_product(grm, unnamed), "`k1`"),
    list(function() kernel_product(unnamed, kernel_matrix(diag(3))), "70 samples", "3"),
    list(function() kernel_product(grm, kernel_matrix(matrix(1, 1, 1, FALSE, list("q", "q")))),
         "common"),
    list(function() kernel_product(grm, kernel_admixture(case$g, q)), "`k2`", "'a'"),
    list(function() kernel_product(kernel_groups(~ farm), grm), "`k1`",
         "kernel_interaction(k2, ~ farm)", "factor")
  ))
})

test_that("combined kernels print what they are", {
  expect_output(print(kernel_interaction(grm, ~ z)), "interaction, 70 samples, by 'z'")
  expect_output(print(kernel_groups(~ herd)), "of groups, by 'herd'")
})
