# Fits beside those of other programs, and of the plain R in helper-reml.R.

fit_of <- function(...) fit_reml(..., threads = 2, progress = FALSE, verbose = FALSE)

# Expects a fit to be the one that the plain R finds.
expect_plain_fit <- function(fit, known, tolerance = 1e-8) {
  expect_true(fit$converged)
  expect_equal(unname(fit$theta), known$theta, tolerance = tolerance)
  expect_identical(unname(fit$at_bound), known$at_bound)
  expect_equal(as.numeric(logLik(fit)), known$log_likelihood, tolerance = 1e-10)
  expect_equal(fit$log_likelihood_null, known$log_likelihood_null, tolerance = 1e-10)
  expect_equal(unname(fit$information), unname(known$average), tolerance = 1e-6)
  expect_equal(unname(coef(fit)), unname(known$coefficients), tolerance = 1e-7)
  expect_equal(unname(vcov(fit)), unname(known$coefficients_covariance), tolerance = 1e-7)
  expect_equal(fit$residual_projection, known$residual_projection, tolerance = 1e-6)
  expect_equal(unname(fit$genetic), unname(known$genetic), tolerance = 1e-6)
  h2 <- heritability(fit)["h2", ]
  expect_equal(h2$share, known$h2, tolerance = tolerance)
  no_error <- all(fit$at_bound[fit$names])
  expect_equal(h2$se, if (no_error) NA_real_ else known$se_h2, tolerance = 1e-6)
}

# Related samples with missing calls, two sets of variants and a covariate; some samples have no
# phenotype.
oracle_case <- function(seed, h2 = 0.5, n = 240, m = 600) {
  set.seed(seed)
  calls <- simulate_calls(n, m, family = 3, missing = 0.03)
  data <- data.frame(id = rownames(calls), age = stats::rnorm(n), stringsAsFactors = FALSE)
  data$y <- unname(10 * simulate_trait(calls, h2) + 4 * data$age + 100)
  data$y[sample(n, 9)] <- NA
  kept <- !is.na(data$y)
  list(
    data = data, calls = calls, genotypes = open_genotypes(oracle_write_bed(calls)),
    y = data$y[kept], x = cbind(1, data$age[kept]), kept = kept,
    sets = factor(rep(c("first", "second"), c(floor(m / 3), m - floor(m / 3))))
  )
}

test_that("exact fits are those of plain R: one kernel, two, and a variance at its bound", {
  case <- oracle_case(11)
  calls <- case$calls[case$kept, ]
  one <- fit_of(y ~ age, case$data, case$genotypes, method = "exact")
  expect_plain_fit(one, oracle_reml(case$y, case$x, list(oracle_kernel(calls))))
  two <- fit_of(y ~ age, case$data, case$genotypes, case$sets, method = "exact")
  expect_plain_fit(two, oracle_reml(case$y, case$x, oracle_kernels(calls, case$sets)))

  nothing <- oracle_case(111, h2 = 0)
  known <- oracle_reml(nothing$y, nothing$x, list(oracle_kernel(nothing$calls[nothing$kept, ])))
  fit <- fit_of(y ~ age, nothing$data, nothing$genotypes, method = "exact")
  expect_true(known$at_bound[1])
  expect_plain_fit(fit, known)
})

test_that("weights that overlap and other scales have the plain kernels", {
  case <- oracle_case(14)
  calls <- case$calls[case$kept, ]
  set.seed(15)
  weights <- cbind(
    a = stats::runif(ncol(calls)), b = stats::runif(ncol(calls)) * (case$sets == "second")
  )
  kernels <- lapply(1:2, function(k) oracle_kernel(calls, weights[, k]))
  fit <- fit_of(y ~ age, case$data, case$genotypes, weights, overlap = TRUE, method = "exact")
  expect_plain_fit(fit, oracle_reml(case$y, case$x, kernels))

  for (power in c(0, -0.25)) {
    kernel <- kernel_grm(case$genotypes, scale_power = power)
    fit <- fit_of(y ~ age, case$data, kernels = list(all = kernel), method = "exact")
    expect_plain_fit(fit, oracle_reml(case$y, case$x, list(oracle_kernel(calls, power = power))))
  }
})

test_that("the likelihood at any variances is the plain one", {
  case <- oracle_case(16)
  calls <- case$calls[case$kept, ]
  for (sets in list(factor(rep("all", ncol(calls))), case$sets)) {
    fit <- fit_of(y ~ age, case$data, case$genotypes, sets, method = "exact")
    for (theta in list(c(20, 30, 40), c(0, 1, 90), c(60, 5, 1))) {
      theta <- if (nlevels(sets) == 2) theta else theta[-1]
      known <- oracle_reml_at(theta, case$y, case$x, oracle_kernels(calls, sets))
      here <- reml_log_likelihood(fit, theta)
      expect_equal(here$log_likelihood, known$log_likelihood, tolerance = 1e-10)
      expect_equal(unname(here$score), known$score, tolerance = 1e-8)
      expect_equal(unname(here$information), unname(known$average), tolerance = 1e-8)
    }
  }
})

# ---- Mice ----------------------------------------------------------------------------------------

mouse_data <- function(g) {
  # Of the .fam: a trait that is 0 or 1 is a number too.
  data.frame(id = g$samples$id, g$samples[sprintf("pheno%d", 1:6)], stringsAsFactors = FALSE)
}

long_test_that("exact fits of six traits of mice have the values that plain R gives", {
  g <- open_genotypes(mouse_files())
  data <- mouse_data(g)
  table <- mouse_values()
  for (row in seq_len(nrow(table))) {
    known <- table[row, ]
    sets <- if (known$model == 2) mouse_halves(g$variants$chromosome)
    formula <- stats::reformulate("1", sprintf("pheno%d", known$trait))
    fit <- fit_of(formula, data, g, sets, method = "exact")
    expect_equal(nobs(fit), known$n)
    expect_equal(sum(fit$used_variants), known$variants)
    expect_equal(unname(fit$theta), known_theta(known), tolerance = 1e-8)
    expect_equal(as.data.frame(fit)$se, known_se(known), tolerance = 1e-7)
    h2 <- heritability(fit)["h2", ]
    expect_equal(c(h2$share, h2$se), c(known$h2, known$se_h2), tolerance = 1e-7)
    expect_equal(fit$log_likelihood, known$log_likelihood, tolerance = 1e-11)
    expect_equal(summary(fit)$lrt[["statistic"]], known$lrt, tolerance = 1e-9)
    expect_equal(coef(fit)[[1]], known$intercept, tolerance = 1e-8 * known$se_intercept)
  }
})

test_that("expected information gives the standard errors that plain R gives", {
  g <- open_genotypes(mouse_files())
  known <- mouse_values()[1, ]
  fit <- fit_of(pheno1 ~ 1, mouse_data(g), g, method = "exact",
                control = reml_control(information = "expected"))
  expect_equal(as.data.frame(fit)$se, known_values(known, "se_expected"), tolerance = 1e-7)
})

long_test_that("stochastic fits of mice are the exact ones, within the error they state", {
  g <- open_genotypes(mouse_files())
  for (row in c(1, 6, 7, 12)) {
    known <- mouse_values()[row, ]
    sets <- if (known$model == 2) mouse_halves(g$variants$chromosome)
    formula <- stats::reformulate("1", sprintf("pheno%d", known$trait))
    fit <- fit_of(formula, mouse_data(g), g, sets, method = "stochastic")
    errors <- as.data.frame(fit)
    expect_true(fit$converged)
    expect_true(all(errors$mc_se <= 0.05 * errors$se))
    # Four of its own errors, and what the last step may leave.
    expect_true(all(abs(fit$theta - known_theta(known)) < 4 * errors$mc_se + 0.01 * errors$se))
    expect_equal(errors$se, known_se(known), tolerance = 0.03)
    if (known$model == 1) expect_lte(fit$passes, 60)
  }
})

# ---- GEMMA ---------------------------------------------------------------------------------------

# GEMMA stops where a step still changes its sixth digit a little.
six_digits <- 1e-5

long_test_that("GEMMA has the CD8 of the table, with its own kinship and BED", {
  stem <- mouse_cd8_files()
  known <- mouse_values()[1, ]
  theirs <- gemma_reml(paste0(stem, ".pheno"), gemma_kinship(stem))
  expect_equal(theirs$theta, known_theta(known), tolerance = six_digits)
  expect_equal(theirs$se, known_se(known), tolerance = six_digits)
  expect_equal(c(theirs$h2, theirs$se_h2), c(known$h2, known$se_h2), tolerance = six_digits)
})

# GEMMA takes the diagonal of h2 from the kinship after centring it in the samples with a trait.
centred <- function(k) {
  k <- sweep(k, 2, colMeans(k))
  sweep(k, 1, rowMeans(k))
}

long_test_that("with GEMMA's kinships as kernels, variances are GEMMA's", {
  stem <- mouse_cd8_files()
  y <- as.numeric(readLines(paste0(stem, ".pheno")))
  data <- data.frame(id = seq_along(y), y = y)
  path <- gemma_kinship(stem, 1)
  theirs <- gemma_reml(paste0(stem, ".pheno"), path)
  k <- centred(read_square(path))
  fit <- fit_of(y ~ 1, data, kernels = list(k = kernel_matrix((k + t(k)) / 2)))
  expect_equal(unname(fit$theta), theirs$theta, tolerance = six_digits)
  expect_equal(as.data.frame(fit)$se, theirs$se, tolerance = six_digits)
  expect_equal(unlist(heritability(fit)["h2", c("share", "se")], use.names = FALSE),
               c(theirs$h2, theirs$se_h2), tolerance = six_digits)
})

test_that("with two kernels and a covariate, variances are GEMMA's", {
  program("gemma")
  case <- oracle_case(21)
  calls <- case$calls[case$kept, ]
  kernels <- lapply(oracle_kernels(calls, case$sets), centred)
  paths <- vapply(kernels, function(k) {
    write_columns(format(k, digits = 15), path <- tempfile())
    path
  }, "")
  writeLines(format(case$y, digits = 15), phenotypes <- tempfile())
  write_columns(format(case$x, digits = 15), covariates <- tempfile())
  theirs <- gemma_reml(phenotypes, unname(paths), covariates)
  data <- data.frame(id = seq_along(case$y), y = case$y, age = case$x[, 2])
  fit <- fit_of(y ~ age, data, kernels = lapply(kernels, function(k) kernel_matrix((k + t(k)) / 2)))
  expect_equal(unname(fit$theta), theirs$theta, tolerance = 1e-4)
  expect_equal(as.data.frame(fit)$se, theirs$se, tolerance = 1e-4)
})

# ---- BOLT-REML -----------------------------------------------------------------------------------

# It takes 100 probes, each of which adds the error of a sample: 0.1 standard errors in all.
expect_near_bolt <- function(fit, theirs) {
  se <- as.data.frame(fit)$se
  free <- !fit$at_bound
  expect_true(all(abs(fit$theta - theirs$theta)[free] < 0.35 * se[free]))
  # Its errors know no bound.
  if (all(free)) expect_equal(theirs$se, se, tolerance = 0.1)
}

long_test_that("variances of two components are near those of BOLT-REML, by both paths", {
  program("bolt")
  set.seed(22)
  calls <- simulate_calls(800, 1500, family = 4)
  sets <- stats::setNames(rep(c("first", "second"), c(500, 1000)), colnames(calls))
  y <- 3 * (simulate_trait(calls[, 1:500], 0.3) + simulate_trait(calls[, 501:1500], 0.5))
  data <- data.frame(id = rownames(calls), y = unname(y))
  bed <- oracle_write_bed(calls)
  theirs <- bolt_reml(sub("[.]bed$", "", bed), data, sets)
  for (method in c("exact", "stochastic")) {
    fit <- fit_of(y ~ 1, data, open_genotypes(bed), unname(sets), method = method)
    expect_near_bolt(fit, theirs)
  }
})

long_test_that("BOLT-LMM's example has BOLT-REML's variances, one of them at its bound", {
  program("bolt")
  stem <- bolt_example()
  variants <- utils::read.table(file.path(dirname(stem), "EUR_subset.modelSnps2"))
  excluded <- readLines(file.path(dirname(stem), "EUR_subset.exclude2"))
  g <- open_genotypes(stem)
  variants <- variants[!variants$V1 %in% excluded & variants$V1 %in% g$variants$id, ]
  # A file of traits and covariates, one of which is text.
  data <- read_covariates(file.path(dirname(stem), "EUR_subset.pheno2.covars"), c("NA", "-9"))
  sets <- data.frame(variant = variants$V1, component = variants$V2)
  fit <- fit_of(PHENO ~ 1, data, g, sets)
  expect_equal(nobs(fit), sum(!is.na(data$PHENO)))
  known <- data[match(g$samples$id, data$id), "PHENO"]
  calls <- as.matrix(g[!is.na(known), variants$V1])
  expect_plain_fit(fit, oracle_reml(
    known[!is.na(known)], matrix(1, sum(!is.na(known))), oracle_kernels(calls, sets$component)
  ))
  theirs <- bolt_reml(
    stem, data.frame(id = g$samples$id, y = known)[!is.na(known), ],
    stats::setNames(variants$V2, variants$V1)
  )
  expect_identical(unname(fit$at_bound), c(TRUE, FALSE, FALSE))
  expect_lt(theirs$theta[1], 1e-6)
  expect_near_bolt(fit, theirs)
})

# ---- A random intercept --------------------------------------------------------------------------

intercept_case <- function(seed, families = 60, size = 5, spread = 1) {
  set.seed(seed)
  family <- rep(seq_len(families), each = size)
  data <- data.frame(id = seq_along(family), family = factor(family))
  data$age <- stats::rnorm(nrow(data))
  data$y <- 2 + 0.3 * data$age + spread * stats::rnorm(families)[family] + stats::rnorm(nrow(data))
  list(data = data, kernel = outer(family, family, "==") + 0)
}

test_that("a random intercept has lme4's and nlme's criterion, variances and standard errors", {
  if (!requireNamespace("lme4", quietly = TRUE)) lacking("the R package lme4")
  if (!requireNamespace("nlme", quietly = TRUE)) lacking("the R package nlme")
  case <- intercept_case(31)
  kernels <- list(matrix = kernel_matrix(case$kernel), products = kernel_products(
    function(v) rowsum(v, case$data$family)[case$data$family, , drop = FALSE], nrow(case$data)
  ))
  by_lme4 <- lme4::lmer(y ~ age + (1 | family), case$data)
  by_nlme <- nlme::lme(y ~ age, case$data, random = ~ 1 | family)
  for (kernel in kernels) {
    fit <- fit_of(y ~ age, case$data, kernels = list(family = kernel))
    # theirs lacks log|X'X|
    without <- fit$log_likelihood - 0.5 * log(det(crossprod(fit$x)))
    expect_equal(without, -lme4::REMLcrit(by_lme4) / 2, tolerance = 1e-10)
    expect_equal(without, as.numeric(stats::logLik(by_nlme)), tolerance = 1e-10)
    expect_equal(unname(fit$theta), as.data.frame(lme4::VarCorr(by_lme4))$vcov, tolerance = 1e-6)
    expect_equal(coef(fit), lme4::fixef(by_lme4), tolerance = 1e-7)
    expect_equal(vcov(fit), as.matrix(stats::vcov(by_lme4)), tolerance = 1e-6)
    expect_equal(vcov(fit), by_nlme$varFix, tolerance = 1e-6)
    modes <- lme4::ranef(by_lme4)$family[case$data$family, 1]
    expect_equal(unname(fit$genetic[, 1]), modes, tolerance = 1e-5)
    expect_equal(unname(residuals(fit)), unname(stats::residuals(by_lme4)), tolerance = 1e-5)
  }
})

test_that("likelihood ratios without an effect have RLRsim's distribution", {
  if (!requireNamespace("RLRsim", quietly = TRUE)) lacking("the R package RLRsim")
  case <- intercept_case(32, families = 12, size = 4, spread = 0.5)
  fit <- fit_of(y ~ age, case$data, kernels = list(family = kernel_matrix(case$kernel)))
  set.seed(33)
  draws <- RLRsim::RLRTSim(
    fit$x, stats::model.matrix(~ family - 1, case$data), qrX = qr(fit$x),
    sqrt.Sigma = diag(nlevels(case$data$family)), nsim = 20000
  )
  statistic <- anova(fit)$LRT[2]
  theirs <- mean(draws >= statistic)
  ours <- anova(fit, test = "exact", nsim = 20000)$`Pr(>LRT)`[2]
  expect_gt(theirs, 0.002)
  expect_lt(abs(ours - theirs), 5 * sqrt(2 * theirs / 20000))
})
