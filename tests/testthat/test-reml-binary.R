# Cases and controls: their coding, and heritability of liability.

set.seed(31)
case <- reml_case(80, 60)
case$data$case <- case$data$y > stats::quantile(case$data$y, 0.7)
fit_as <- function(response, ...) {
  data <- case$data
  data$response <- response
  quiet_fit(response ~ sex, data, case$g, ...)
}

test_that("cases are TRUE, a factor's second level, 1, or PLINK's 2", {
  plain <- suppressWarnings(fit_as(case$data$case + 0), classes = "ancify_response_warning")
  expect_identical(plain$family, "gaussian")
  responses <- list(
    list(case$data$case, c("FALSE", "TRUE")),
    list(factor(ifelse(case$data$case, "ill", "healthy")), c("healthy", "ill")),
    list(factor(ifelse(case$data$case, "a", "b"), c("b", "a", "c")), c("b", "a")),
    list(case$data$case + 0, c("0", "1"), "binary"),
    list(case$data$case + 1L, c("1", "2"), "binary")
  )
  for (response in responses) {
    expect_no_warning(fit <- fit_as(response[[1]], family = unlist(response[-(1:2)])))
    expect_identical(fit$y, case$data$case + 0)
    expect_identical(fit$theta, plain$theta)
    expect_identical(fit$labels, c(control = response[[2]][1], case = response[[2]][2]))
  }
  with_missing <- fit_as(replace(case$data$case, 3:4, NA))
  expect_identical(length(with_missing$y), 78L)
  expect_output(print(summary(with_missing)), "24 cases? \\('TRUE'\\) and|cases \\('TRUE'\\) and")
})

test_that("responses that are not of cases and controls are refused", {
  y <- case$data$case
  expect_refusals(list(
    list(function() fit_as(replace(y + 1, 1, 0), family = "binary"), "0 is a missing phenotype"),
    list(function() fit_as(y * 2 - 1, family = "binary"), "has the value -1", "cases are 1"),
    list(function() fit_as(case$data$y, family = "binary"), "cases are 1 and controls 0"),
    list(function() fit_as(factor(rep(1:4, 20))), "4 levels", "'1', '2', '3' and '4'"),
    list(function() fit_as(y, family = "gaussian"), "family = \"binary\""),
    list(function() fit_as(ifelse(y, "a", "b")), "second level is the cases"),
    list(function() fit_as(rep(TRUE, 80)), "does not vary"),
    list(function() fit_as(y, family = "poisson"), "`family` must be one of"),
    list(function() fit_as(case$data$y, prevalence = 0.1), "family = \"binary\""),
    list(function() fit_as(y, prevalence = 1), "`prevalence`"),
    list(function() liability(fit_as(y)), "`prevalence`"),
    list(function() liability(quiet_fit(y ~ 1, case$data, case$g), 0.1), "family = \"binary\""),
    list(function() liability(1, 0.1), "`fit` must be a fit")
  ))
})

test_that("h2 of liability is that of the observed scale times Lee's factor", {
  k <- 0.02
  p <- mean(case$data$case)
  z <- dnorm(qnorm(k))
  factor <- k^2 * (1 - k)^2 / (z^2 * p * (1 - p))
  sets <- list(a = 1:20, b = 21:60)
  fit <- quiet_fit(case ~ sex, case$data, case$g, components = sets, prevalence = k)
  shares <- heritability(fit)
  found <- liability(fit)
  expect_identical(rownames(found), c("h2", "a", "b"))
  expect_equal(found$observed, shares$share)
  expect_equal(found$liability, factor * shares$share)
  expect_equal(found$liability_se, factor * shares$se)
  expect_identical(found, liability(fit_as(case$data$case, components = sets), k))
  expect_output(print(summary(fit)), "Shares of the variance of liability \\(prevalence 2 %")
  expect_output(print(fit), "h2 of liability")
  expect_output(print(fit_as(case$data$case)), "observed")
  expect_identical(merge_components(fit, z = 100, progress = FALSE)$prevalence, k)

  data <- case$data
  moments <- haseman_elston(case ~ sex, data, case$g, sets, threads = 1, progress = FALSE)
  of_moments <- liability(moments, k)
  expect_equal(of_moments["h2", "observed"], moments$h2)
  expect_equal(of_moments["h2", "liability_se"], factor * moments$h2_se)
  a <- moments$mean_diagonal
  expect_equal(of_moments["b", "observed"],
               moments$theta[["b"]] * a[["b"]] / sum(moments$theta * a), tolerance = 1e-12)
})

# ---- PCGC ----------------------------------------------------------------------------------------

# Least squares over pairs of samples, with the probabilities by glm().
oracle_pcgc <- function(y, x, kernels, prevalence) {
  p <- stats::glm(y ~ x - 1, family = binomial(), epsilon = 1e-13, maxit = 100)$fitted.values
  cases <- mean(y)
  odds <- p / (1 - p) * prevalence * (1 - cases) / (cases * (1 - prevalence))
  k <- odds / (1 + odds)
  t <- qnorm(1 - k)
  ratio <- (cases - prevalence) / (cases * (1 - prevalence))
  c <- dnorm(t) * (1 - p * ratio) / (sqrt(p * (1 - p)) * (k + (1 - k) * (1 - ratio)))
  z <- (y - p) / sqrt(p * (1 - p))
  pairs <- which(upper.tri(kernels[[1]]), arr.ind = TRUE)
  columns <- vapply(kernels, function(kernel) kernel[pairs] * c[pairs[, 1]] * c[pairs[, 2]],
                    numeric(nrow(pairs)))
  products <- z[pairs[, 1]] * z[pairs[, 2]]
  size <- vapply(kernels, function(kernel) sum(c^2 * diag(kernel)) / sum(c^2), 0)
  weight <- ifelse(y == 1, prevalence / cases, (1 - prevalence) / (1 - cases))
  list(
    share = unname(stats::coef(stats::lm(products ~ columns - 1))) * size,
    variance = stats::cov.wt(cbind(t), weight, method = "ML")$cov[1]
  )
}

test_that("PCGC is least squares over pairs of samples", {
  y <- case$data$case + 0
  x <- stats::model.matrix(~ sex + age, case$data)
  sets <- list(a = 1:20, b = 21:60)
  kernels <- lapply(sets, function(set) {
    kernel_times(kernel_grm(case$g, set), diag(80), threads = 1)
  })
  expected <- oracle_pcgc(y, x, kernels, 0.05)
  found <- pcgc(case ~ sex + age, case$data, case$g, sets, prevalence = 0.05, threads = 1,
                progress = FALSE)
  expect_equal(found$shares$conditional, unname(c(sum(expected$share), expected$share)),
               tolerance = 1e-6)
  expect_equal(found$fixed_variance, expected$variance, tolerance = 1e-6)
  expect_equal(found$shares$share, found$shares$conditional / (1 + expected$variance),
               tolerance = 1e-6)
  expect_identical(found$probes, 0L)
  expect_output(print(found), "h2 of liability")
  # A kernel given as a matrix is the same.
  of_matrices <- pcgc(case ~ sex + age, case$data, kernels = lapply(kernels, kernel_matrix),
                      prevalence = 0.05, threads = 1, progress = FALSE)
  expect_equal(of_matrices$shares, found$shares, tolerance = 1e-6)
  # Without covariates nothing is explained by fixed effects.
  plain <- pcgc(case ~ 1, case$data, case$g, prevalence = 0.05, threads = 1, progress = FALSE)
  expect_equal(plain$fixed_variance, 0, tolerance = 1e-12)
  of_one <- oracle_pcgc(y, x[, 1, drop = FALSE], list(
    kernel_times(kernel_grm(case$g), diag(80), threads = 1)
  ), 0.05)
  expect_equal(plain$shares["h2", "share"], of_one$share, tolerance = 1e-6)
})

test_that("the jackknife of PCGC is corrected for pairs of blocks", {
  # Leaving out single blocks, and pairs of them, in plain R
  y <- case$data$case + 0
  z <- (y - mean(y)) / sqrt(mean(y) * (1 - mean(y)))
  kernel <- kernel_times(kernel_grm(case$g), diag(80), threads = 1)
  diag(kernel) <- 0
  factor <- liability_factor(0.05, mean(y))
  size <- mean(diag(kernel_times(kernel_grm(case$g), diag(80), threads = 1)))
  block <- rep(1:10, each = 8)
  estimate <- function(some) {
    sum(z[some] * (kernel[some, some] %*% z[some])) / sum(kernel[some, some]^2)
  }
  leave_out <- vapply(1:10, function(b) estimate(block != b), 0)
  jackknife <- 9 / 10 * sum((leave_out - mean(leave_out))^2)
  whole <- estimate(rep(TRUE, 80))
  between <- sum(vapply(1:10, function(b) sum(kernel[block != b, block == b]^2), 0)) / (80 * 72)
  pairs <- 0
  for (a in 1:9) {
    for (b in (a + 1):10) {
      residual <- sum(z[block == a] * (kernel[block == a, block == b] %*% z[block == b])) -
        whole * between * 64
      pairs <- pairs + (2 * residual / sum(kernel^2))^2
    }
  }
  expected <- max(jackknife - pairs, jackknife / 2)
  found <- pcgc(case ~ 1, case$data, case$g, prevalence = 0.05, blocks = 10, threads = 1,
                progress = FALSE)
  expect_equal(found$shares["h2", "se"], factor * size * sqrt(expected), tolerance = 1e-3)
})

test_that("PCGC by probes is near that of exact traces, and workers give the same", {
  set.seed(5)
  n <- 2400
  families <- rep(seq_len(n / 4), each = 4)
  kernel <- Matrix::sparseMatrix(
    rep(seq_len(n), each = 4), rep((families - 1) * 4, each = 4) + 1:4, x = 1
  )
  risk <- stats::rnorm(n / 4)[families] * sqrt(0.5) + stats::rnorm(n) * sqrt(0.5)
  data <- data.frame(id = seq_len(n), case = risk > qnorm(0.9), age = stats::rnorm(n))
  found <- pcgc(case ~ age, data, kernels = kernel_matrix(kernel), prevalence = 0.1, threads = 1,
                progress = FALSE)
  expect_gt(found$probes, 0)
  expected <- oracle_pcgc(data$case + 0, cbind(1, data$age), list(as.matrix(kernel)), 0.1)
  expect_lt(abs(found$shares["h2", "conditional"] - expected$share),
            4 * found$shares["h2", "conditional_mc_se"] + 1e-9)
  expect_lt(abs(found$shares["h2", "share"] - 0.5), 4 * found$shares["h2", "se"])
})

test_that("input of PCGC is checked", {
  estimate <- function(formula, data = case$data, ...) {
    pcgc(formula, data, case$g, threads = 1, progress = FALSE, ...)
  }
  data <- case$data
  data$separates <- data$case * 2 + stats::runif(80)
  expect_refusals(list(
    list(function() estimate(case ~ 1, prevalence = 0), "`prevalence`"),
    list(function() estimate(y ~ 1, prevalence = 0.1), "cases are 1 and controls 0"),
    list(function() estimate(case ~ separates, data, prevalence = 0.1), "separate cases"),
    list(function() estimate(case ~ 1, prevalence = 0.1, blocks = 1), "`blocks`")
  ))
})
