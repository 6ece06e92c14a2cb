# A residual variance for each group of samples, against dense matrices and nlme.

set.seed(53)
case <- reml_case(90, 60)
case$data$y <- case$data$y + ifelse(case$data$sex == "f", 0.5, 1.6) * stats::rnorm(90)
x <- stats::model.matrix(~ age, case$data)
k <- oracle_kernel(case$calls)
residuals <- lapply(c("f", "m"), function(sex) diag(as.numeric(case$data$sex == sex)))
fit <- quiet_fit(y ~ age, case$data, case$g, residual = ~ sex)

test_that("the fit has the largest likelihood of dense matrices", {
  expect_named(fit$theta, c("genotypes", "residual.f", "residual.m"))
  minus <- function(theta) {
    -oracle_reml_at(theta, case$data$y, x, list(k), residuals)$log_likelihood
  }
  best <- stats::nlminb(c(0.5, 0.5, 1), minus, lower = c(0, 1e-3, 1e-3),
                        control = list(rel.tol = 1e-13))
  expect_equal(unname(fit$theta), best$par, tolerance = 1e-4)
  expect_gte(fit$log_likelihood, -best$objective - 1e-9)
  at <- oracle_reml_at(fit$theta, case$data$y, x, list(k), residuals)
  expect_equal(fit$log_likelihood, at$log_likelihood, tolerance = 1e-10)
  expect_equal(unname(fit$information), at$average, tolerance = 1e-7)
  expect_equal(unname(fit$mean_diagonal), c(mean(diag(k)), 0.5, 0.5), tolerance = 1e-9)
})

test_that("the stochastic path agrees", {
  stochastic <- quiet_fit(y ~ age, case$data, case$g, residual = ~ sex, method = "stochastic")
  expect_equal(stochastic$theta, fit$theta, tolerance = 0.02)
})

test_that("a random intercept with variances by group is nlme's", {
  if (!requireNamespace("nlme", quietly = TRUE)) lacking("the R package nlme")
  data <- data.frame(id = 1:200, family = rep(1:50, each = 4), env = rep(c("a", "b"), 100))
  data$y <- stats::rnorm(50)[data$family] + ifelse(data$env == "a", 1, 2) * stats::rnorm(200)
  plain <- quiet_fit(y ~ env, data, kernels = list(family = kernel_groups(~ family)),
                     residual = ~ env)
  theirs <- nlme::lme(y ~ env, data, random = ~ 1 | family,
                      weights = nlme::varIdent(form = ~ 1 | env))
  ratios <- stats::coef(theirs$modelStruct$varStruct, unconstrained = FALSE, allCoef = TRUE)
  expect_equal(plain$theta[["family"]], as.numeric(nlme::VarCorr(theirs)[1, 1]), tolerance = 1e-3)
  expect_equal(unname(plain$theta[c("residual.a", "residual.b")]),
               unname((theirs$sigma * ratios[c("a", "b")])^2), tolerance = 1e-3)
  expect_equal(plain$log_likelihood - 0.5 * log(det(crossprod(plain$x))),
               as.numeric(stats::logLik(theirs)), tolerance = 1e-7)
})

test_that("one group is the whole residual, and groups without samples are none", {
  one <- quiet_fit(y ~ age, case$data, case$g)
  of_one <- quiet_fit(y ~ age, transform(case$data, all = "a"), case$g, residual = ~ all)
  expect_identical(of_one$theta, one$theta)
  data <- transform(case$data, sex = factor(sex, c("f", "m", "x")))
  expect_identical(quiet_fit(y ~ age, data, case$g, residual = ~ sex)$theta, fit$theta)
})

test_that("groups of records may change between rows", {
  data <- case$data[rep(1:90, each = 2), ]
  data$place <- rep(c("lab", "field"), 90)
  data$y <- data$y + ifelse(data$place == "lab", 0.3, 1.5) * stats::rnorm(180)
  found <- quiet_fit(y ~ age, data, case$g, kernels = list(lasting = kernel_groups(~ id)),
                     residual = ~ place)
  twice <- k[rep(1:90, each = 2), rep(1:90, each = 2)]
  at <- oracle_reml_at(
    found$theta, data$y, stats::model.matrix(~ age, data),
    list(twice, outer(data$id, data$id, "==") + 0),
    lapply(c("field", "lab"), function(place) diag(as.numeric(data$place == place)))
  )
  expect_equal(found$log_likelihood, at$log_likelihood, tolerance = 1e-9)
  expect_lt(max(abs(at$score[!found$at_bound])), 1e-5)
  expect_gt(found$theta[["residual.field"]], found$theta[["residual.lab"]])
})

test_that("draws have the variances of their groups", {
  drawn <- fit
  drawn$theta[] <- c(1e-12, 0.5, 2)
  draws <- as.matrix(simulate(drawn, 4000, seed = 1)) - drop(fit$x %*% fit$coefficients)
  expect_equal(unname(rowMeans(draws^2)), ifelse(case$data$sex == "f", 0.5, 2), tolerance = 0.1)
})

test_that("a group of one row has no residual variance", {
  fit_by <- function(groups) {
    case$data$lab <- groups
    quiet_fit(y ~ age, case$data, case$g, residual = ~ lab)
  }
  expect_ancify_error(fit_by(c("west", rep(c("east", "north"), length.out = 89))), "input",
                      "'lab'", "'west'", "NA")
  expect_ancify_error(fit_by(seq_len(90)), "input", "'lab'", "leave out `residual`")
})

test_that("bad residuals are refused", {
  q <- cbind(a = stats::runif(90))
  by <- kernel_admixture(case$g, cbind(q, b = 1 - q[, 1]), residual = "ancestry")
  refused <- function(...) function() quiet_fit(y ~ age, case$data, ...)
  expect_refusals(list(
    list(refused(case$g, residual = "sex"), "`residual`"),
    list(refused(case$g, residual = ~ sex + age), "`residual`"),
    list(refused(case$g, residual = ~ farm), "'farm'"),
    list(refused(kernels = list(by = by), residual = ~ sex), "'by'", "one by group"),
    list(function() quiet_fit(cbind(y, age) ~ 1, case$data, case$g, residual = ~ sex),
         "one residual")
  ))
})
