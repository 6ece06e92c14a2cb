# Firth's regression in scans of cases and controls, by plain R and by plink2.

set.seed(43)
n <- 150
calls <- vapply(rep(c(0.02, 0.1, 0.4), each = 15), function(f) stats::rbinom(n, 2, f), numeric(n))
calls[, 1] <- 1
dimnames(calls) <- list(sprintf("s%d", seq_len(n)), NULL)
data <- data.frame(id = rownames(calls), age = stats::rnorm(n))
data$case <- data$age + calls[, 40] + stats::rnorm(n) > 1.8
# All carriers are cases, so that the likelihood has no maximum.
calls[, 2] <- 0
calls[which(data$case)[1:4], 2] <- 1
calls[, 3] <- data$case
g <- open_genotypes(calls)
x <- stats::model.matrix(~age, data)

test_that("effects, errors and p are those of Firth's penalised likelihood", {
  scan <- scan_variants(case ~ age, data, g, firth = TRUE, threads = 1)
  expected <- apply(calls[, -1], 2, function(z) oracle_firth(data$case, cbind(x, z)))
  expect_equal(scan$effect[-1], expected[1, ], tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(scan$se[-1], expected[2, ], tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(scan$p, 2 * stats::pnorm(-abs(scan$effect / scan$se)), tolerance = 1e-12)
  expect_identical(which(is.na(scan$p)), 1L)
  expect_gt(scan$effect[2], 1)
  expect_identical(attr(scan, "scan")$method, "firth")
  expect_output(print(scan), "Firth's logistic regression")
  expect_identical(scan_variants(case ~ age, data, g, firth = TRUE, threads = 2), scan)
})

test_that("the effects of a fit are those beside the null model's log odds, over the ratio", {
  fit <- quiet_fit(case ~ age, data, g)
  scan <- scan_variants(fit, loco = FALSE, firth = TRUE)
  score <- scan_variants(fit, loco = FALSE)
  expect_equal(scan$p, score$p, tolerance = 1e-12)
  expect_identical(attr(scan, "scan")$method, "firth_mixed")
  problem <- with_genotypes(fit)
  null <- fit_logistic(problem, "of the null", work_of(fit, FALSE))
  w <- null$means * (1 - null$means)
  u <- crossprod(x, w * x)
  variance <- attr(scan, "scan")$theta[1, 1] *
    kernel_times(kernel_grm(g), diag(n), threads = 1) + diag(1 / w)
  inverse <- solve(variance)
  p <- inverse - inverse %*% x %*% solve(crossprod(x, inverse %*% x), crossprod(x, inverse))
  for (j in 2:45) {
    z <- calls[, j] - mean(calls[, j])
    left <- z - x %*% solve(u, crossprod(x, w * z))
    found <- oracle_firth(data$case, left, stats::qlogis(null$means))
    ratio <- sum(z * (p %*% z)) / sum(w * left^2)
    expect_equal(scan$effect[j], found[1] / ratio, tolerance = 1e-5)
    expect_equal(scan$se[j], found[2] / sqrt(ratio), tolerance = 1e-5)
  }
  expect_identical(scan$statistic, score$statistic)
  # Near 0 both effects agree.
  near <- which(abs(score$statistic) < 0.5 & score$frequency > 0.2)
  expect_gt(length(near), 3)
  expect_equal(scan$effect[near], score$effect[near], tolerance = 0.1)
  expect_equal(scan$se[near], score$se[near], tolerance = 0.1)
})

test_that("a score of 0 has an effect, an error and a p-value", {
  y <- rep(c(TRUE, FALSE), 20)
  calls <- cbind(rep(0:1, each = 20))
  rownames(calls) <- sprintf("s%d", seq_along(y))
  scan <- scan_variants(y ~ 1, data.frame(id = rownames(calls), y = y), open_genotypes(calls))
  expect_equal(scan$effect, 0, tolerance = 1e-12)
  expect_equal(scan$se, 1 / sqrt(40 / 16), tolerance = 1e-12)
  expect_equal(scan$p, 1, tolerance = 1e-12)
})

test_that("singletons have the log odds of counts with 1/2 added", {
  y <- rep(c(TRUE, FALSE), c(10, 30))
  calls <- cbind(case = as.numeric(seq_along(y) == 1), control = as.numeric(seq_along(y) == 40))
  rownames(calls) <- sprintf("s%d", seq_along(y))
  data <- data.frame(id = rownames(calls), y = y)
  scan <- scan_variants(y ~ 1, data, open_genotypes(calls), firth = TRUE)
  expected <- c(log(3) - log(9.5 / 30.5), -log(3) - log(10.5 / 29.5))
  expect_equal(scan$effect, expected, tolerance = 1e-9)
})

test_that("a fixed effect may separate cases from controls", {
  data$exposed <- data$case | data$age > 1
  scan <- scan_variants(case ~ exposed, data, g, firth = TRUE)
  fixed <- cbind(1, data$exposed)
  expected <- apply(calls[, -(1:3)], 2, function(z) oracle_firth(data$case, cbind(fixed, z)))
  expect_equal(scan$effect[-(1:3)], expected[1, ], tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(scan$se[-(1:3)], expected[2, ], tolerance = 1e-6, ignore_attr = TRUE)
  expect_refusals(list(list(function() scan_variants(case ~ exposed, data, g), "separate")))
})

test_that("the stochastic path gives nearly the same effects", {
  exact <- scan_variants(quiet_fit(case ~ age, data, g), loco = FALSE, firth = TRUE)
  fit <- quiet_fit(case ~ age, data, g, method = "stochastic", control = reml_control(probes = 100))
  common <- which(exact$frequency > 0.2)
  scan <- scan_variants(fit, loco = FALSE, firth = TRUE)
  expect_equal(scan$effect[common], exact$effect[common], tolerance = 0.1)
})

test_that("effects, errors and p are those of plink2 --glm firth", {
  set.seed(44)
  case <- reml_case(300, 200, missing = 0)
  y <- case$data$y + case$data$age
  case$data$y <- 1 + (y > stats::quantile(y, 0.85))
  stem <- sub("[.]bed$", "", case$file)
  plink <- plink2_glm(stem, plink2_files(stem, case$data, "age"), method = "firth")
  scan <- scan_variants(y ~ age, case$data, case$g, family = "binary", firth = TRUE, threads = 1)
  row <- match(plink$ID, scan$id)
  tested <- which(!is.na(plink$BETA))
  expect_gt(length(tested), 150)
  sign <- ifelse(plink$A1 == scan$counted[row], 1, -1)
  expect_equal(scan$effect[row][tested], (sign * plink$BETA)[tested], tolerance = 1e-4)
  expect_equal(scan$se[row][tested], plink$SE[tested], tolerance = 1e-4)
  expect_equal(scan$p[row][tested], plink$P[tested], tolerance = 1e-4)
})

test_that("rare variants and singletons have the effects and errors of plink2", {
  set.seed(45)
  n <- 200
  calls <- replicate(300, as.numeric(seq_len(n) %in% sample(n, sample(4, 1))))
  dimnames(calls) <- list(sprintf("s%d", seq_len(n)), sprintf("v%d", seq_len(300)))
  data <- data.frame(id = rownames(calls), y = 1 + stats::rbinom(n, 1, 0.15), age = stats::rnorm(n))
  file <- tempfile(fileext = ".bed")
  write_bed(open_genotypes(calls), file)
  stem <- sub("[.]bed$", "", file)
  plink <- plink2_glm(stem, plink2_files(stem, data, "age"), method = "firth")
  scan <- scan_variants(y ~ age, data, open_genotypes(file), family = "binary", firth = TRUE)
  expect_false(anyNA(scan$effect))
  row <- match(plink$ID, scan$id)
  # Both count the rare allele, which has no name.
  tested <- !is.na(plink$BETA)
  expect_gt(mean(tested), 0.9)
  # plink2's search ends at steps of 1e-4.
  off <- abs(scan$effect[row] - plink$BETA) / plink$SE
  expect_lt(max(off[tested]), 2e-3)
  expect_equal(scan$se[row][tested], plink$SE[tested], tolerance = 1e-3)
})

test_that("the regression of a quantitative response is refused", {
  data$y <- stats::rnorm(n)
  expect_refusals(list(
    list(function() scan_variants(y ~ age, data, g, firth = TRUE), "`firth`", "binary"),
    list(function() scan_variants(quiet_fit(y ~ age, data, g), firth = TRUE), "`firth`"),
    list(function() scan_variants(case ~ age, data, g, firth = 2), "`firth`")
  ))
})
