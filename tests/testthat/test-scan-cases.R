# Scans of cases and controls, by logistic models in plain R.

set.seed(41)
case <- reml_case(90, 60)
case$data$case <- case$data$y + case$data$age > stats::quantile(case$data$y, 0.6)
x <- stats::model.matrix(~ sex + age, case$data)
imputed <- apply(case$calls, 2, function(z) replace(z, is.na(z), mean(z, na.rm = TRUE)))

plain_glm <- function(formula, data = environment(formula)) {
  # A variant may separate cases from controls.
  suppressWarnings(stats::glm(formula, binomial, data, epsilon = 1e-13, maxit = 100))
}

# The score test of each column, under means `m` and a covariance matrix: score, and z'Pz.
oracle_scores <- function(y, x, z, m, variance) {
  inverse <- solve(variance)
  p <- inverse - inverse %*% x %*% solve(crossprod(x, inverse %*% x), crossprod(x, inverse))
  centred <- scale(z, scale = FALSE)
  list(score = drop(crossprod(centred, y - m)), variance = colSums(centred * (p %*% centred)))
}

# Penalised quasi-likelihood with dense matrices, in the order of GMMAT.
oracle_pql <- function(y, x, kernel) {
  eta <- plain_glm(y ~ x - 1)$linear.predictors
  tau <- 0.5
  for (i in 1:500) {
    m <- stats::plogis(eta)
    w <- m * (1 - m)
    working <- eta + (y - m) / w
    inverse <- solve(diag(1 / w) + tau * kernel)
    p <- inverse - inverse %*% x %*% solve(crossprod(x, inverse %*% x), crossprod(x, inverse))
    py <- p %*% working
    score <- (sum(py * (kernel %*% py)) - sum(p * kernel)) / 2
    information <- sum(py * (kernel %*% p %*% kernel %*% py)) / 2
    before <- c(tau, eta)
    eta <- drop(working - py / w)
    tau <- max(tau + score / information, 0)
    if (max(abs(c(tau, eta) - before)) < 1e-11) break
  }
  m <- stats::plogis(eta)
  list(tau = tau, means = m, covariance = diag(1 / (m * (1 - m))) + tau * kernel)
}

test_that("without kernels, tests are score tests of glm()", {
  scan <- scan_variants(case ~ sex + age, case$data, case$g, threads = 1)
  data <- case$data
  null <- plain_glm(case ~ sex + age, data)
  rao <- t(apply(imputed, 2, function(z) {
    if (stats::var(z) == 0) {
      return(c(NA, NA))
    }
    data$z <- z
    full <- plain_glm(case ~ sex + age + z, data)
    unlist(stats::anova(null, full, test = "Rao")[2, c("Rao", "Pr(>Chi)")])
  }))
  near <- which(rao[, 1] < 4)
  expect_gt(length(near), 40)
  expect_equal(scan$p[near], rao[near, 2], tolerance = 1e-6, ignore_attr = TRUE)
  expect_identical(is.na(scan$p), is.na(rao[, 1]), ignore_attr = TRUE)
  w <- null$fitted.values * (1 - null$fitted.values)
  expected <- oracle_scores(case$data$case, x, imputed, null$fitted.values, diag(1 / w))
  tested <- !is.na(scan$p)
  expect_equal(scan$effect[tested], (expected$score / expected$variance)[tested],
               tolerance = 1e-6, ignore_attr = TRUE)
  expect_identical(attr(scan, "scan")$method, "logistic")
  expect_identical(attr(scan, "scan")$cases, sum(case$data$case) + 0)
  expect_output(print(scan), "logistic regression")
  numbers <- case$data
  numbers$case <- numbers$case + 1
  expect_no_warning(
    same <- scan_variants(case ~ sex + age, numbers, case$g, family = "binary", threads = 1)
  )
  expect_identical(same, scan)
  expect_identical(scan_variants(case ~ sex + age, case$data, case$g, threads = 2), scan)
})

test_that("a fit's null model is that of dense penalised quasi-likelihood", {
  fit <- quiet_fit(case ~ sex + age, case$data, case$g)
  scan <- scan_variants(fit, loco = FALSE)
  kernel <- kernel_times(kernel_grm(case$g), diag(90), threads = 1)
  expected <- oracle_pql(case$data$case, x, kernel)
  theta <- attr(scan, "scan")$theta
  expect_equal(theta[1, ], c(expected$tau, 1), tolerance = 1e-5, ignore_attr = TRUE)
  of_tests <- oracle_scores(case$data$case, x, imputed, expected$means, expected$covariance)
  tested <- which(!is.na(scan$p))
  z <- of_tests$score / sqrt(of_tests$variance)
  expect_equal(scan$effect[tested], (of_tests$score / of_tests$variance)[tested],
               tolerance = 1e-5, ignore_attr = TRUE)
  near <- intersect(tested, which(abs(z) < 1.99))
  expect_equal(scan$statistic[near], z[near], tolerance = 1e-5, ignore_attr = TRUE)
  expect_identical(attr(scan, "scan")$method, "logistic_mixed")
  expect_output(print(scan), "logistic mixed model")

  # Without the variant's chromosome
  loco <- scan_variants(fit)
  on_first <- which(case$g$variants$chromosome == "1")
  rest <- setdiff(seq_len(60), on_first)
  without <- oracle_pql(case$data$case, x,
                        kernel_times(kernel_grm(case$g, rest), diag(90), threads = 1))
  expect_equal(attr(loco, "scan")$theta[1, 1], without$tau, tolerance = 1e-5)
  of_first <- oracle_scores(case$data$case, x, imputed[, on_first], without$means,
                            without$covariance)
  expect_equal(loco$effect[on_first], of_first$score / of_first$variance, tolerance = 1e-5,
               ignore_attr = TRUE)
})

test_that("a stochastic fit gives nearly the same tests", {
  exact <- scan_variants(quiet_fit(case ~ sex + age, case$data, case$g), loco = FALSE)
  fit <- quiet_fit(case ~ sex + age, case$data, case$g, method = "stochastic",
                   control = reml_control(probes = 200))
  scan <- scan_variants(fit, loco = FALSE)
  theta <- function(scan) attr(scan, "scan")$theta[1, 1]
  expect_equal(theta(scan), theta(exact), tolerance = 0.05)
  expect_equal(scan$statistic, exact$statistic, tolerance = 0.05)
  expect_length(attr(scan, "scan")$ratios, 59)
})

test_that("small p-values are those of the exact distribution of the score", {
  set.seed(3)
  n <- 16
  outcomes <- as.matrix(expand.grid(rep(list(0:1), n)))
  for (cases in c(8, 3)) {
    y <- rep(0:1, c(n - cases, cases))
    covariate <- stats::rnorm(n)
    # Variants that favour cases
    calls <- vapply(1:60, function(j) stats::rbinom(n, 2, ifelse(y == 1, 0.6, 0.1)), numeric(n))
    calls <- calls[, apply(calls, 2, stats::var) > 0]
    dimnames(calls) <- list(1:n, NULL)
    data <- data.frame(id = 1:n, y = y == 1, covariate)
    scan <- scan_variants(y ~ covariate, data, open_genotypes(calls), threads = 1)
    m <- plain_glm(y ~ covariate)$fitted.values
    x <- cbind(1, covariate)
    w <- m * (1 - m)
    probability <- exp(drop(outcomes %*% log(m) + (1 - outcomes) %*% log(1 - m)))
    exact <- apply(calls, 2, function(z) {
      g <- z - x %*% solve(crossprod(x, w * x), crossprod(x, w * z))
      scores <- drop((outcomes - rep(m, each = nrow(outcomes))) %*% g)
      observed <- abs(sum(g * (y - m)))
      sum(probability[abs(scores) >= observed - 1e-9])
    })
    normal <- vapply(seq_along(exact), function(j) {
      g <- calls[, j] - x %*% solve(crossprod(x, w * x), crossprod(x, w * calls[, j]))
      2 * stats::pnorm(-abs(sum(g * (y - m))) / sqrt(sum(w * g^2)))
    }, 0)
    far <- which(normal < 2 * stats::pnorm(-2))
    expect_gt(length(far), 10)
    error <- function(p) stats::median(abs(log10(p[far]) - log10(exact[far])))
    expect_lt(error(scan$p), 0.1)
    expect_lt(error(scan$p), error(normal))
  }
})

test_that("rare variants are tested as by the whole distribution", {
  set.seed(8)
  n <- 400
  y <- rep(0:1, c(380, 20))
  age <- stats::rnorm(n)
  calls <- vapply(1:80, function(j) stats::rbinom(n, 1, ifelse(y == 1, 0.2, 0.02)), numeric(n))
  dimnames(calls) <- list(1:n, NULL)
  data <- data.frame(id = 1:n, y = y == 1, age)
  scan <- scan_variants(y ~ age, data, open_genotypes(calls), threads = 1)
  m <- plain_glm(y ~ age)$fitted.values
  x <- cbind(1, age)
  w <- m * (1 - m)
  far <- which(abs(scan$statistic) > 2.5)
  expect_gt(length(far), 20)
  for (j in far) {
    g <- drop(calls[, j] - x %*% solve(crossprod(x, w * x), crossprod(x, w * calls[, j])))
    expect_equal(scan$log10_p[j], oracle_saddlepoint(g, m, sum(g * (y - m))), tolerance = 0.02)
  }
})

test_that("scans of cases refuse what they cannot test", {
  data <- case$data
  data$separates <- data$case * 2 + stats::runif(90)
  expect_refusals(list(
    list(function() scan_variants(case ~ separates, data, case$g), "separate cases"),
    list(function() scan_variants(y ~ 1, data, case$g, family = "binary"), "cases are 1"),
    list(function() scan_variants(case ~ 1, data, case$g, family = "logit"), "`family`")
  ))
})
