# Scans of single variants, against lm(), dense matrices, plink2 and GEMMA.

# 80 samples in families, 60 variants on three chromosomes, with missing and constant ones.
scan_data <- function(missing = 0.03) {
  set.seed(94)
  calls <- simulate_calls(80, 60, family = 4, missing = missing)
  calls[, 7] <- 1
  calls[, 8] <- NA
  chromosome <- rep(c("1", "2", "3"), each = 20)
  stem <- tempfile("scan")
  oracle_write_bed(calls, stem, chromosome)
  data <- data.frame(
    id = rownames(calls), sex = rep(0:1, 40), age = stats::rnorm(80),
    y = simulate_trait(replace(calls, is.na(calls), 1)[, -(7:8)], 0.5)
  )
  list(calls = calls, g = open_genotypes(stem), data = data, chromosome = chromosome)
}

scan_columns <- c("effect", "se", "statistic", "p")

test_that("a scan by least squares is that of lm()", {
  study <- scan_data()
  scan <- scan_variants(y ~ sex + age, study$data, study$g, threads = 1)
  expected <- oracle_ols(study$data$y, as.matrix(study$data[c("sex", "age")]), study$calls)
  expect_equal(unname(as.matrix(as.data.frame(scan)[scan_columns])), unname(expected),
               tolerance = 1e-9)
  expect_equal(which(is.na(scan$p)), 7:8)
  expect_equal(scan$log10_p, -log10(scan$p))
  counts <- summary(study$g)
  expect_equal(scan$n, counts$n)
  expect_equal(scan$frequency, counts$frequency)
})

test_that("a variant that depends on the fixed effects is not tested", {
  study <- scan_data(missing = 0)
  study$data$copy <- study$calls[, 3] + 0
  scan <- scan_variants(y ~ copy, study$data, study$g, threads = 1)
  expect_equal(which(is.na(scan$effect)), c(3, 7, 8))
  # Its square off the effects is below 1e-5 of the whole.
  study$data$nearly <- study$data$copy + 1e-3 * study$data$age / stats::sd(study$data$age)
  for (x in list(y ~ nearly, fit_reml(y ~ nearly, study$data, study$g, verbose = FALSE))) {
    scan <- if (inherits(x, "formula")) {
      scan_variants(x, study$data, study$g, threads = 1)
    } else {
      scan_variants(x, loco = FALSE)
    }
    expect_true(3 %in% which(is.na(scan$effect)))
  }
})

test_that("samples of a scan are those with a phenotype and all covariates", {
  study <- scan_data()
  data <- study$data[c(80:1), ]
  data$y[3] <- NA
  data$age[10] <- NA
  kept <- rev(setdiff(1:80, c(3, 10)))
  scan <- scan_variants(y ~ age, data, study$g, threads = 1)
  expected <- oracle_ols(data$y[kept], data$age[kept], study$calls[data$id[kept], ])
  expect_equal(scan$statistic, unname(expected[, 3]), tolerance = 1e-9)
})

test_that("a mixed scan is that of the whole covariance, on both paths", {
  study <- scan_data()
  x <- cbind(1, study$data$sex)
  sets <- list(a = 1:30, b = 31:60)
  fits <- list(
    one = fit_reml(y ~ sex, study$data, study$g, threads = 1, verbose = FALSE),
    two = fit_reml(y ~ sex, study$data, study$g, sets, threads = 1, verbose = FALSE)
  )
  kernels <- list(
    one = list(oracle_kernel(study$calls)),
    two = lapply(sets, function(set) oracle_kernel(study$calls[, set]))
  )
  tested <- setdiff(1:60, 7:8)
  for (name in names(fits)) {
    fit <- fits[[name]]
    expected <- oracle_gls(study$data$y, x, study$calls[, tested], fit$theta, kernels[[name]])
    scan <- scan_variants(fit, loco = FALSE)
    expect_equal(scan$effect[tested], unname(expected[, "effect"]), tolerance = 1e-6)
    expect_equal(scan$se[tested], unname(expected[, "se"]), tolerance = 1e-6)
    expect_equal(which(is.na(scan$p)), 7:8)
  }
  # The other path scales z'Sz by the mean ratio.
  fit <- fits$one
  fit$path <- "stochastic"
  scaled <- scan_variants(fit, loco = FALSE)
  s <- diag(80) - tcrossprod(qr.Q(qr(x)))
  z <- apply(study$calls[, tested], 2, function(z) replace(z - mean(z, na.rm = TRUE), is.na(z), 0))
  square <- colSums(z * (s %*% z))
  exact <- 1 / oracle_gls(study$data$y, x, study$calls[, tested], fit$theta, kernels$one)[, "se"]^2
  expect_equal(attr(scaled, "scan")$ratios, unname(exact / square), tolerance = 1e-6)
  expect_equal(scaled$se[tested], unname(1 / sqrt(square * mean(exact / square))),
               tolerance = 1e-6)
})

test_that("each chromosome is tested without its variants in the kernels", {
  study <- scan_data()
  sets <- list(first = 1:20, rest = 21:60)
  fit <- fit_reml(y ~ sex, study$data, study$g, sets, threads = 1, verbose = FALSE)
  scan <- scan_variants(fit)
  without <- list(
    "1" = list(rest = 21:60), "2" = list(first = 1:20, rest = 41:60),
    "3" = list(first = 1:20, rest = 21:40)
  )
  for (chromosome in names(without)) {
    part <- fit_reml(y ~ sex, study$data, study$g, without[[chromosome]], threads = 1,
                     verbose = FALSE)
    on <- study$chromosome == chromosome
    expected <- scan_variants(part, study$g[, on], loco = FALSE)
    expect_equal(scan$statistic[on], expected$statistic, tolerance = 1e-6)
    theta <- attr(scan, "scan")$theta[chromosome, ]
    expect_equal(theta[!is.na(theta)], part$theta, tolerance = 1e-6)
  }
  one <- fit_reml(y ~ sex, study$data, study$g[, 1:20], threads = 1, verbose = FALSE)
  expect_ancify_error(scan_variants(one), "input", "loco = FALSE")
  # Other chromosomes have nothing to leave out.
  others <- study$g[, 21:60]
  expect_equal(scan_variants(one, others)$p, scan_variants(one, others, loco = FALSE)$p)
})

test_that("kernels without a chromosome are made anew where memory has no room for all", {
  study <- scan_data()
  n <- nrow(study$data)
  sets <- list(first = 1:20, rest = 21:60)
  scan_with <- function(memory) {
    fit <- fit_reml(y ~ sex, study$data, study$g, sets, threads = 1, verbose = FALSE,
                    memory = memory)
    room <- dense_kernels(fit, work_of(fit))
    list(room = !is.null(room), scan = scan_variants(fit))
  }
  room <- scan_with(1e9)
  none <- scan_with(exact_bytes(n, 2) + 3 * block_bytes(n))
  expect_equal(c(room$room, none$room), c(TRUE, FALSE))
  expect_equal(room$scan$statistic, none$scan$statistic, tolerance = 1e-8)
  expect_equal(attr(room$scan, "scan")$theta, attr(none$scan, "scan")$theta, tolerance = 1e-8)
})

test_that("a component may be left with constant variants alone", {
  study <- scan_data()
  # On chromosome 2 the component has no variant that varies.
  calls <- study$calls
  calls[, 21] <- 1
  stem <- tempfile("constant")
  oracle_write_bed(calls, stem, study$chromosome)
  g <- open_genotypes(stem)
  sets <- list(first = 1:21, rest = 22:60)
  fit <- fit_reml(y ~ sex, study$data, g, sets, threads = 1, verbose = FALSE)
  theta <- attr(scan_variants(fit), "scan")$theta
  expect_identical(is.na(theta[, "first"]), c("1" = TRUE, "2" = FALSE, "3" = FALSE))
})

test_that("a scan has the same bytes for all threads, levels of instructions and memory", {
  study <- scan_data()
  fit <- fit_reml(y ~ sex, study$data, study$g, threads = 1, verbose = FALSE)
  plain <- scan_variants(fit)
  fit$threads <- 4
  expect_identical(scan_variants(fit), plain)
  one <- scan_variants(y ~ sex, study$data, study$g, threads = 1)
  expect_identical(scan_variants(y ~ sex, study$data, study$g, threads = 3, memory = 2e4), one)
})

test_that("a scan by least squares is that of plink2", {
  study <- scan_data(missing = 0)
  stem <- tempfile("complete")
  oracle_write_bed(study$calls[, -(7:8)], stem, study$chromosome[-(7:8)])
  theirs <- plink2_glm(stem, plink2_files(stem, study$data, c("sex", "age")))
  ours <- scan_variants(y ~ sex + age, study$data, open_genotypes(stem), threads = 1)
  ours <- ours[match(theirs$ID, ours$id), ]
  sign <- ifelse(theirs$A1 == ours$counted, 1, -1)
  expect_gt(nrow(theirs), 30)
  expect_equal(ours$effect * sign, theirs$BETA, tolerance = 1e-4)
  expect_equal(ours$statistic * sign, theirs$T_STAT, tolerance = 1e-4)
  expect_equal(ours$p, theirs$P, tolerance = 1e-4)
})

test_that("a mixed scan of mice is GEMMA's score test at its variances", {
  stem <- mouse_cd8_files()
  g <- open_genotypes(stem)
  y <- g$samples$pheno1
  n <- length(y)
  kinship <- gemma_kinship(stem)
  theirs <- gemma_scan(stem, kinship)
  theirs <- theirs[seq(1, nrow(theirs), 10), ]
  k <- read_square(kinship)
  data <- data.frame(id = g$samples$id, y = y)
  fit <- fit_reml(y ~ 1, data, kernels = list(k = kernel_matrix(k)), threads = 1, verbose = FALSE)
  # GEMMA takes the ratio of variances by maximum likelihood, and theirs from the residuals.
  eigen <- eigen(k, symmetric = TRUE)
  values <- pmax(eigen$values, 0)
  turned <- crossprod(eigen$vectors, cbind(y, 1))
  likelihood <- function(log_ratio) {
    d <- exp(log_ratio) * values + 1
    left <- stats::lm.wfit(turned[, 2, drop = FALSE], turned[, 1], 1 / d)$residuals
    -0.5 * (n * log(sum(left^2 / d)) + sum(log(d)))
  }
  ratio <- exp(stats::optimize(likelihood, c(-5, 5), maximum = TRUE, tol = 1e-10)$maximum)
  d <- ratio * values + 1
  left <- stats::lm.wfit(turned[, 2, drop = FALSE], turned[, 1], 1 / d)$residuals
  df <- n - 2
  residual <- sum(left^2 / d) / df
  fit$theta[] <- c(ratio, 1) * residual
  fit$residual_projection <- drop(eigen$vectors %*% (left / d)) / residual
  ours <- scan_variants(fit, g[, theirs$rs], loco = FALSE)
  expect_equal(theirs$allele1, ours$counted)
  expect_lt(max(abs(ours$effect - theirs$beta) / theirs$se), 1e-4)
  # Their error takes the variant off the residuals.
  expect_equal(ours$se * sqrt(1 - ours$statistic^2 / df), theirs$se, tolerance = 1e-5)
  score <- stats::pf(ours$statistic^2 * n / df, 1, df, lower.tail = FALSE)
  expect_equal(score, theirs$p_score, tolerance = 1e-4)
})

test_that("wrong scans are refused", {
  study <- scan_data()
  expect_ancify_error(scan_variants("y ~ sex"), "input", "formula or a fit")
  expect_ancify_error(scan_variants(y ~ sex, study$data, "mice.bed"), "input", "genotypes")
  few <- study$data[1:4, ]
  expect_ancify_error(
    scan_variants(y ~ sex + age, few, study$g), "input", "at least 5 samples"
  )
  families <- kernel_matrix(outer(1:80, 1:80, function(i, j) (i + 3) %/% 4 == (j + 3) %/% 4) + 0)
  fit <- fit_reml(y ~ 1, study$data, kernels = list(family = families), threads = 1,
                  verbose = FALSE)
  expect_ancify_error(scan_variants(fit), "input", "has no genotypes")
  expect_ancify_error(scan_variants(fit, study$g[-2, ]), "input", "lacks 1 sample")
  # Other kernels have no variants to leave out.
  scan <- scan_variants(fit, study$g[80:1, ])
  expect_identical(scan$p, scan_variants(fit, study$g, loco = FALSE)$p)
})

test_that("scans print, and keep what they are", {
  study <- scan_data()
  scan <- scan_variants(y ~ sex, study$data, study$g, threads = 1)
  expect_output(print(scan), "least squares.*80.*60, of which 58 tested.*lambda")
  top <- scan[order(scan$p)[1:3], ]
  expect_s3_class(top, "variant_scan")
  expect_output(print(top), "3, of which 3 tested")
  facts <- attr(head(scan), "scan")
  squared <- stats::qchisq(-scan$log10_p * log(10), 1, lower.tail = FALSE, log.p = TRUE)
  expect_equal(facts$lambda, stats::median(squared, na.rm = TRUE) / stats::qchisq(0.5, 1))
  expect_output(print(head(scan)), sprintf("lambda.* %.3f, of 58 variants", facts$lambda))
  expect_identical(class(scan[, c("id", "p")]), "data.frame")
  expect_identical(dim(cbind(scan, gene = "none")), c(60L, 13L))
  ranges <- GenomicRanges::makeGRangesFromDataFrame(
    scan, keep.extra.columns = TRUE, start.field = "position", end.field = "position"
  )
  expect_equal(ranges$log10_p, scan$log10_p)
})

test_that("pictures of scans show each variant", {
  study <- scan_data()
  scan <- scan_variants(y ~ sex, study$data, study$g, threads = 1)
  manhattan <- ggplot2::autoplot(scan)
  expect_equal(sort(manhattan$data$log10_p), sort(scan$log10_p))
  expect_false(is.unsorted(manhattan$data$place))
  qq <- ggplot2::autoplot(scan, "qq")
  expect_equal(nrow(qq$data), 58)
  expect_silent(ggplot2::ggplot_build(qq))
  expect_silent(ggplot2::ggplot_build(manhattan))
  expect_ancify_error(plot(scan[7:8, ]), "input", "No variant")
})

test_that("a singular covariance of negative variances is refused with a way out", {
  set.seed(5)
  case <- reml_case(50, 60, h2 = 0.02)
  case$data$y <- rnorm(50)
  sets <- list(a = 1:10, b = 11:60)
  free <- suppressWarnings(quiet_fit(y ~ 1, case$data, case$g, sets,
                                     control = reml_control(lower = -Inf)))
  expect_true(any(free$theta < 0))
  # Rounding decides whether such a fit ends at a covariance that is singular.
  scan <- tryCatch(suppressWarnings(scan_variants(free, progress = FALSE)),
                   ancify_input_error = conditionMessage)
  if (is.character(scan)) expect_match(scan, "Without chromosome .*`lower = 0`")
  if (is.data.frame(scan)) expect_true(all(scan$se > 0, na.rm = TRUE))
  singular <- function(fit) {
    or_tell_of_bounds(abort_ancify("The covariance is not positive.", "input"), fit, "3")
  }
  expect_ancify_error(singular(free), "input", "Without chromosome 3", "`lower = 0`")
  one <- case$g$variants
  one$chromosome <- "7"
  alone <- suppressWarnings(quiet_fit(y ~ 1, case$data, open_genotypes(case$calls, one), sets,
                                      control = reml_control(lower = -Inf)))
  expect_match(conditionMessage(expect_ancify_error(scan_variants(alone), "input")),
               "choose `loco = FALSE`[.]$")
  bounded <- quiet_fit(y ~ 1, case$data, case$g, sets)
  expect_no_match(conditionMessage(expect_ancify_error(singular(bounded), "input")), "lower")
  expect_gt(sum(is.finite(scan_variants(bounded, progress = FALSE)$effect)), 50)
})

test_that("kernels of variants that keep the tested chromosome are told", {
  study <- scan_data()
  g <- study$g[, study$chromosome != "3"]
  blocks <- rep(list(diag(10)), ncol(g) / 10)
  shares <- cbind(a = stats::runif(80), b = 0)
  shares[, "b"] <- 1 - shares[, "a"]
  for (kernel in list(kernel_weighted(g, blocks), kernel_admixture(g, shares))) {
    fit <- fit_reml(y ~ 1, study$data, kernels = list(own = kernel), threads = 1, verbose = FALSE)
    expect_warning(scan <- scan_variants(fit, g), "1 kernel keeps all variants.*'own'",
                   class = "ancify_scan_warning")
    expect_identical(attr(scan, "scan")$whole, "own")
    expect_output(print(scan), "of all variants")
    expect_no_warning(scan_variants(fit, g, loco = FALSE))
    both <- fit_reml(y ~ 1, study$data, g[, 1:30], kernels = list(own = kernel), threads = 1,
                     verbose = FALSE)
    expect_warning(scan <- scan_variants(both), class = "ancify_scan_warning")
    expect_output(print(scan), "without the variant's chromosome, but for 'own'")
  }
  # A kernel of another chromosome
  one <- study$chromosome[study$chromosome != "3"] == "1"
  fit <- fit_reml(y ~ 1, study$data, kernels = list(own = kernel_weighted(g[, one], blocks[1:2])),
                  threads = 1, verbose = FALSE)
  expect_no_warning(scan_variants(fit, g[, !one]))
  plain <- fit_reml(y ~ 1, study$data, kernels = list(own = kernel_grm(g)), threads = 1,
                    verbose = FALSE)
  expect_no_warning(scan <- scan_variants(plain, g))
  expect_output(print(scan), "without the variant's chromosome\n")
})
