# What must not change a fit, or changes it in a way that is known.

property_case <- function(seed, n = 150, m = 400) {
  set.seed(seed)
  calls <- simulate_calls(n, m, family = 3, missing = 0.02)
  data <- data.frame(
    id = rownames(calls), age = stats::rnorm(n), size = stats::runif(n), stringsAsFactors = FALSE
  )
  data$y <- unname(simulate_trait(calls, 0.6)) + data$age
  sets <- rep(c("first", "second"), c(150, m - 150))
  list(calls = calls, data = data, sets = sets, file = oracle_write_bed(calls))
}

# `by`: the path. The stochastic one has few probes here: what is compared has the same ones.
fit_by <- function(by, formula, data, file, sets = NULL, ...) {
  g <- if (is.character(file)) open_genotypes(file) else file
  fit_reml(
    formula, data, g, sets, method = by, threads = 1, progress = FALSE, verbose = FALSE,
    control = reml_control(max_probes = 64, mc_tolerance = 0.5), ...
  )
}

# Expects equal variances. Solves of the stochastic path end at a residual of 1e-5 for probes.
expect_same_theta <- function(one, two, factor = 1) {
  exact <- one$path == "exact"
  se <- sqrt(diag(vcov(one, "components")))
  differences <- abs(one$theta * factor - two$theta) / (se * factor)
  expect_lt(max(differences), if (exact) 1e-7 else 5e-3)
  if (exact) expect_equal(two$theta, one$theta * factor, tolerance = 1e-8)
}

paths <- c("exact", "stochastic")

test_that("another basis of the fixed effects gives the same fit", {
  case <- property_case(41)
  for (by in paths) {
    one <- fit_by(by, y ~ age + size, case$data, case$file, case$sets)
    other <- y ~ I(3 * age - size + 2) + I(0.1 * size + 5 * age)
    two <- fit_by(by, other, case$data, case$file, case$sets)
    expect_same_theta(one, two)
    expect_equal(fitted(two), fitted(one), tolerance = 1e-4)
    if (by == "exact") {
      expect_equal(two$log_likelihood, one$log_likelihood, tolerance = 1e-10)
      expect_equal(two$log_likelihood_null, one$log_likelihood_null, tolerance = 1e-10)
    }
  }
})

test_that("variances have the unit of the response, squared", {
  case <- property_case(42)
  for (by in paths) {
    one <- fit_by(by, y ~ age, case$data, case$file, case$sets)
    for (unit in c(1e-5, 1e4)) {
      two <- fit_by(by, I(unit * y + 7 * unit) ~ age, case$data, case$file, case$sets)
      expect_same_theta(one, two, unit^2)
      expect_equal(heritability(two)$share, heritability(one)$share, tolerance = 1e-3)
      expect_equal(
        two$log_likelihood, one$log_likelihood - (nobs(one) - 2) * log(unit),
        tolerance = if (by == "exact") 1e-10 else 1e-4
      )
    }
  }
})

test_that("which allele is counted has no influence", {
  case <- property_case(43)
  flipped <- sample(ncol(case$calls), 200)
  other <- case$calls
  other[, flipped] <- 2L - other[, flipped]
  for (by in paths) {
    one <- fit_by(by, y ~ age, case$data, case$file, case$sets)
    expect_same_theta(one, fit_by(by, y ~ age, case$data, oracle_write_bed(other), case$sets))
  }
})

test_that("the order of samples and variants has no influence", {
  case <- property_case(44)
  rows <- sample(nrow(case$calls))
  columns <- sample(ncol(case$calls))
  other <- oracle_write_bed(case$calls[rows, columns])
  one <- fit_by("exact", y ~ age, case$data, case$file, case$sets)
  two <- fit_by("exact", y ~ age, case$data, other, case$sets[columns])
  expect_same_theta(one, two)
  expect_equal(fitted(two)[names(fitted(one))], fitted(one), tolerance = 1e-8)
  # A probe has a number for each sample, so only the variants may change their places.
  other <- oracle_write_bed(case$calls[, columns])
  one <- fit_by("stochastic", y ~ age, case$data, case$file, case$sets)
  expect_same_theta(one, fit_by("stochastic", y ~ age, case$data, other, case$sets[columns]))
  # The order within a data frame is that of the genotypes' samples.
  expect_identical(
    fit_by("stochastic", y ~ age, case$data[rows, ], case$file, case$sets)$theta, one$theta
  )
})

test_that("the kernels of parts sum to that of the whole", {
  case <- property_case(45)
  whole <- fit_by("exact", y ~ age, case$data, case$file)
  parts <- fit_by("exact", y ~ age, case$data, case$file, case$sets)
  share <- parts$used_variants / sum(parts$used_variants)
  for (theta in list(c(0.5, 0.5), c(0.1, 2))) {
    one <- reml_log_likelihood(whole, theta)
    two <- reml_log_likelihood(parts, c(theta[1] * share, theta[2]))
    expect_equal(two$log_likelihood, one$log_likelihood, tolerance = 1e-11)
    expect_equal(sum(share * two$score[1:2]), one$score[[1]], tolerance = 1e-8)
    expect_equal(two$score[["residual"]], one$score[["residual"]], tolerance = 1e-8)
  }
  expect_gte(parts$log_likelihood, whole$log_likelihood)
})

test_that("chosen samples and variants are as a file of their own", {
  case <- property_case(46)
  rows <- sort(sample(nrow(case$calls), 120))
  columns <- sort(sample(ncol(case$calls), 300))
  g <- open_genotypes(case$file)[rows, columns]
  file <- oracle_write_bed(case$calls[rows, columns])
  for (by in paths) {
    one <- fit_by(by, y ~ age, case$data, g, case$sets[columns])
    two <- fit_by(by, y ~ age, case$data, file, case$sets[columns])
    for (field in c("theta", "information", "log_likelihood", "genetic", "coefficients")) {
      expect_identical(one[[field]], two[[field]])
    }
  }
})

test_that("a variance that the data lack is at its bound, by both paths", {
  case <- property_case(47)
  set.seed(48)
  case$data$y <- unname(simulate_trait(case$calls[, case$sets == "first"], 0.6))
  other <- simulate_calls(150, 200, family = 1)
  k <- list(other = kernel_matrix(oracle_kernel(other)))
  for (by in paths) {
    fit <- fit_by(by, y ~ age, case$data, case$file, kernels = k)
    known <- oracle_reml(
      case$data$y, cbind(1, case$data$age), list(oracle_kernel(case$calls), oracle_kernel(other))
    )
    expect_identical(unname(fit$at_bound), known$at_bound)
    if (by == "exact") expect_equal(unname(fit$theta), known$theta, tolerance = 1e-8)
  }
})

test_that("with as many orthogonal probes as samples the stochastic fit is the exact one", {
  case <- property_case(49, n = 90, m = 200)
  sets <- rep(c("first", "second"), c(80, 120))
  probes <- sqrt(90) * qr.Q(qr(matrix(stats::rnorm(90^2), 90)))
  expect_both <- function(tolerance, ...) {
    fits <- lapply(paths, function(by) {
      fit_reml(
        y ~ age, case$data, ..., method = by, threads = 1, progress = FALSE, verbose = FALSE,
        control = reml_control(probes = probes, tolerance = 1e-18)
      )
    })
    for (field in c("theta", "log_likelihood", "information", "coefficients")) {
      expect_equal(fits[[2]][[field]], fits[[1]][[field]], tolerance = tolerance)
    }
  }
  g <- open_genotypes(case$file)
  for (labels in list(rep("all", 200), sets)) {
    expect_both(1e-9, kernels = lapply(oracle_kernels(case$calls, labels), kernel_matrix))
    # Products with genotypes have 28 bits for probes.
    expect_both(1e-7, genotypes = g, components = labels)
  }
})

test_that("threads, vector instructions and memory have no influence on a byte", {
  case <- property_case(50)
  fit <- function(by, threads = 1, memory = NULL) {
    fit_reml(
      y ~ age, case$data, open_genotypes(case$file), case$sets, method = by, threads = threads,
      memory = memory, progress = FALSE, verbose = FALSE,
      control = reml_control(max_probes = 32, mc_tolerance = 0.5)
    )[c("theta", "log_likelihood", "information", "genetic", "coefficients")]
  }
  for (by in paths) {
    first <- fit(by)
    expect_identical(fit(by, 2), first)
    expect_identical(fit(by, 8), first)
    for (simd in simd_levels()) {
      with_options(list(ancify.simd = simd), expect_identical(fit(by, 2), first))
    }
  }
  # Memory for one of two blocks of genotypes, beside the matrices of the exact path.
  expect_identical(fit("stochastic", memory = 2e4), fit("stochastic"))
  expect_identical(fit("exact", memory = exact_bytes(150, 2) + 2e4), fit("exact"))
  expect_ancify_error(fit("stochastic", memory = 1e3), "input", "the memory for genotypes")
})

test_that("many samples, in several pieces of vectors, have equal bytes with any threads", {
  calls <- random_calls(2100, 60)
  dimnames(calls) <- list(sprintf("s%d", 1:2100), sprintf("v%d", 1:60))
  data <- data.frame(id = rownames(calls), y = simulate_trait(calls, 0.3))
  g <- open_genotypes(oracle_write_bed(calls))
  fit <- function(threads, sets) {
    fit_reml(
      y ~ 1, data, g, sets, method = "stochastic", threads = threads, progress = FALSE,
      verbose = FALSE, control = reml_control(max_probes = 16, mc_tolerance = 0.9, rank = 10)
    )[c("theta", "log_likelihood", "information", "mc_score", "genetic", "coefficients")]
  }
  for (sets in list(NULL, rep(c("a", "b"), 30))) expect_identical(fit(4, sets), fit(1, sets))
})
