# fit_reml() on small studies, beside plain R.

set.seed(14)
case <- reml_case()
x <- function(data = case$data) model.matrix(~ sex, data)
one <- quiet_fit(y ~ sex, case$data, case$g)
by_chromosome <- quiet_fit(y ~ sex, case$data, case$g, components_by_chromosome(case$g))

expect_like_oracle <- function(fit, oracle, tolerance = 1e-7) {
  expect_equal(unname(fit$theta), oracle$theta, tolerance = tolerance)
  expect_equal(fit$log_likelihood, oracle$log_likelihood, tolerance = 1e-9)
  expect_equal(fit$log_likelihood_null, oracle$log_likelihood_null, tolerance = 1e-9)
  expect_equal(unname(fit$coefficients), unname(oracle$coefficients), tolerance = 1e-6)
  expect_equal(unname(fit$genetic), oracle$genetic, tolerance = 1e-6, ignore_attr = TRUE)
  covariance <- theta_covariance(fit)
  expect_equal(unname(covariance), oracle$covariance, tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(unname(unlist(variance_shares(fit)["h2", 1:2])), c(oracle$h2, oracle$se_h2),
               tolerance = 1e-6)
}

test_that("a fit of all variants is that of plain R", {
  expect_like_oracle(one, oracle_reml(case$data$y, x(), list(oracle_kernel(case$calls))))
  expect_named(one$theta, c("genotypes", "residual"))
  expect_identical(one$ids, case$data$id)
  expect_identical(one$used_variants[1], 59)
  expect_true(one$converged)
})

test_that("fits and scans do not depend on what was fitted before", {
  results <- function(g, data = case$data, components = NULL) {
    fit <- quiet_fit(y ~ sex, data, g, components)
    list(theta = fit$theta, covariance = theta_covariance(fit), passes = fit$passes,
         scan = scan_variants(fit, loco = FALSE, progress = FALSE))
  }
  tries <- list(
    list(), list(), list(data = case$data[-(1:4), ]), list(),
    list(components = components_by_chromosome(case$g)), list()
  )
  for (try in tries) {
    expect_identical(
      do.call(results, c(list(case$g), try)),
      do.call(results, c(list(open_genotypes(case$file)), try))
    )
  }
})

test_that("an intercept beside a covariate is no obstacle to a stochastic fit", {
  for (seed in 1:2) {
    set.seed(seed)
    calls <- matrix(stats::rbinom(400 * 150, 2, 0.4), 400,
                    dimnames = list(paste0("s", 1:400), paste0("v", 1:150)))
    data <- data.frame(id = rownames(calls), sex = rep(0:1, 200),
                       y = drop(scale(calls) %*% stats::rnorm(150)) / 10 + stats::rnorm(400))
    fit <- quiet_fit(y ~ sex, data, open_genotypes(oracle_write_bed(calls)), method = "stochastic")
    expect_true(fit$converged)
    exact <- quiet_fit(y ~ sex, data, open_genotypes(oracle_write_bed(calls)))
    expect_equal(fit$coefficients_covariance, exact$coefficients_covariance, tolerance = 0.05)
  }
})

test_that("a fit by chromosomes is that of plain R", {
  kernels <- oracle_kernels(case$calls, rep(1:4, each = 15))
  expect_like_oracle(by_chromosome, oracle_reml(case$data$y, x(), kernels), 1e-6)
  expect_named(by_chromosome$theta, c("1", "2", "3", "4", "residual"))
})

test_that("weights and scale power reach the kernels", {
  set.seed(1)
  weights <- matrix(runif(120), 60, dimnames = list(NULL, c("a", "b")))
  fit <- quiet_fit(y ~ sex, case$data, case$g, weights, overlap = TRUE)
  kernels <- lapply(1:2, function(k) oracle_kernel(case$calls, weights[, k]))
  expect_like_oracle(fit, oracle_reml(case$data$y, x(), kernels), 1e-6)
  fit <- quiet_fit(y ~ sex, case$data, kernels = list(k = kernel_grm(case$g, scale_power = 0)))
  expect_like_oracle(
    fit, oracle_reml(case$data$y, x(), list(oracle_kernel(case$calls, power = 0)))
  )
})

test_that("genotypes and other kernels are fitted together", {
  pairs <- outer(rep(1:40, each = 2), rep(1:40, each = 2), "==") + 0
  expected <- oracle_reml(case$data$y, x(), list(oracle_kernel(case$calls), pairs))
  for (kernel in list(kernel_matrix(pairs), kernel_products(function(V) pairs %*% V, 80))) {
    fit <- quiet_fit(y ~ sex, case$data, case$g, kernels = list(pair = kernel))
    expect_like_oracle(fit, expected, 1e-6)
    expect_named(fit$theta, c("genotypes", "pair", "residual"))
    expect_identical(is.na(as.data.frame(fit)$enrichment), c(FALSE, TRUE, TRUE))
  }
})

test_that("only the samples of a fit count for its kernels", {
  some <- sample(80, 60)
  table <- case$data[sample(80), ]
  table$y[!table$id %in% case$data$id[some]] <- NA
  fit <- quiet_fit(y ~ sex, table, case$g)
  kept <- sort(some)
  expect_like_oracle(fit, oracle_reml(
    case$data$y[kept], x(case$data[kept, ]), list(oracle_kernel(case$calls[kept, ]))
  ))
  expect_identical(fit$ids, case$data$id[kept])
})

test_that("the order of samples in the data and of variants in components has no influence", {
  expect_identical(quiet_fit(y ~ sex, case$data[80:1, ], case$g)$theta, one$theta)
  expect_identical(quiet_fit(y ~ sex, case$data, case$g[, 60:1])$theta, one$theta)
  fit <- quiet_fit(y ~ sex, case$data, case$g, list(b = 60:31, a = 30:1))
  other <- quiet_fit(y ~ sex, case$data, case$g, list(a = 1:30, b = 31:60))
  expect_equal(fit$theta[names(other$theta)], other$theta, tolerance = 1e-8)
})

test_that("a fit says what it leaves out and which path it takes", {
  table <- transform(case$data, y = replace(y, 1:3, NA))
  said <- capture_messages(
    fit <- fit_reml(y ~ 1, table, case$g, list(a = 1:20), threads = 1, progress = FALSE)
  )
  expect_match(said[1], "77 samples; left out: 3 no phenotype", fixed = TRUE)
  expect_match(said[2], "20 variants in 1 component; 40 in none are left out", fixed = TRUE)
  expect_match(said[3], "The exact path", fixed = TRUE)
  expect_identical(fit$uncovered, 40L)
  expect_silent(quiet_fit(y ~ 1, table, case$g))
})

test_that("the core refuses probes without length and false traces, and fits the smallest data", {
  set.seed(22)
  n <- 30
  data <- data.frame(id = seq_len(n), y = rnorm(n))
  k <- replicate(2, tcrossprod(matrix(rnorm(n^2), n)) / n, simplify = FALSE)
  fit_with <- function(probes, ...) {
    quiet_fit(y ~ 1, data, ..., method = "stochastic", control = reml_control(probes = probes))
  }
  kernels <- stats::setNames(lapply(k, kernel_matrix), c("a", "b"))
  signs <- sample(c(-1, 1), n, TRUE)
  for (some in 1:2) {
    expect_ancify_error(fit_with(cbind(signs, 0), kernels = kernels[seq_len(some)]), "input",
                        "column 2")
    expect_ancify_error(fit_with(matrix(1, n, 2), kernels = kernels[seq_len(some)]), "input",
                        "explain all columns")
    expect_true(is.finite(suppressWarnings(
      fit_with(cbind(signs, 1), kernels = kernels[seq_len(some)])
    )$theta[[1]]))
  }
  false <- list(a = kernel_products(function(V) k[[1]] %*% V, 3 * sum(diag(k[[1]]))))
  expect_ancify_error(quiet_fit(y ~ 1, data, kernels = false, method = "exact"), "input", "`trace`")
  tiny <- data.frame(id = 1:4, y = c(1, 3, 2, 5))
  for (seed in 1:10) {
    fit <- quiet_fit(y ~ 1, tiny, kernels = list(a = kernel_matrix(diag(1:4))),
                     method = "stochastic", control = reml_control(seed = seed))
    expect_true(all(is.finite(fit$theta)))
  }
})

test_that("what is too large or too small for its squares is said", {
  set.seed(23)
  n <- 30
  data <- data.frame(id = seq_len(n), y = rnorm(n))
  k <- tcrossprod(matrix(rnorm(n^2), n)) / n
  other <- kernel_matrix(tcrossprod(matrix(rnorm(n^2), n)) / n)
  for (method in c("exact", "stochastic")) {
    fit <- function(of_y = 1, of_k = 1, more = NULL) {
      quiet_fit(y ~ 1, transform(data, y = y * of_y), method = method,
                kernels = c(list(k = kernel_matrix(of_k * k)), more))
    }
    plain <- fit()$theta
    for (size in c(1e-60, 1e60)) {
      expect_equal(fit(of_y = size)$theta, plain * size^2, tolerance = 1e-6)
      expect_equal(fit(of_k = size)$theta * c(size, 1), plain, tolerance = 1e-6)
    }
    for (size in c(1e200, 1e80, 1e-80, 1e-200, 1e-310)) {
      expect_ancify_error(fit(of_y = size), "input", "y is too large or too small")
    }
    for (size in c(1e200, 1e80, 1e-80, 1e-200)) {
      for (more in list(NULL, list(other = other))) {
        expect_ancify_error(fit(of_k = size, more = more), "input",
                            "the kernel of 'k' is too large or too small")
      }
    }
    expect_ancify_error(fit(of_k = 0), "input", "the kernel of 'k' has no variance")
  }
})

test_that("variances at their bounds converge, whatever the path", {
  set.seed(24)
  n <- 150
  calls <- matrix(stats::rbinom(n * 300, 2, rep(stats::runif(300, 0.05, 0.5), each = n)), n,
                  dimnames = list(sprintf("i%d", 1:n), NULL))
  g <- open_genotypes(calls, data.frame(chromosome = 1, position = 1:300))
  thirds <- list(a = 1:100, b = 101:200, c = 201:300)
  at_bound <- 0
  for (seed in 1:30) {
    set.seed(seed)
    data <- data.frame(id = rownames(calls), y = rnorm(n))
    for (components in list(thirds, NULL)) {
      fits <- lapply(c("exact", "stochastic"), function(method) {
        quiet_fit(y ~ 1, data, g, components, method = method, control = reml_control(seed = seed))
      })
      for (fit in fits) expect_true(fit$converged)
      se <- sqrt(diag(theta_covariance(fits[[1]])))
      expect_lt(max(abs(fits[[2]]$theta - fits[[1]]$theta) / max(se)), 0.3)
      at_bound <- at_bound + sum(fits[[2]]$at_bound)
    }
  }
  expect_gt(at_bound, 30)
})

test_that("the path is chosen by samples and memory", {
  expect_identical(choose_path("auto", 5000, 1, 1e12), "exact")
  expect_identical(choose_path("auto", 5001, 1, 1e12), "stochastic")
  expect_identical(choose_path("auto", 4000, 1, exact_bytes(4000, 1)), "stochastic")
  expect_identical(choose_path("auto", 4000, 1, exact_bytes(4000, 1) + block_bytes(4000)), "exact")
  expect_identical(choose_path("exact", 20000, 1, 1e12), "exact")
  expect_identical(choose_path("stochastic", 10, 1, 1e12), "stochastic")
  expect_refusals(list(
    list(function() choose_path("exact", 20000, 2, 1e9), "19.2 GB", "1 GB"),
    list(function() choose_path("both", 10, 1, 1e9), "`method`"),
    list(function() quiet_fit(y ~ 1, case$data, case$g, control = list()), "`control`"),
    list(function() quiet_fit(y ~ 1, case$data, case$g, memory = -1), "`memory`"),
    list(function() quiet_fit(y ~ 1, case$data, case$g, backend = "tpu"), "`backend`"),
    list(function() quiet_fit(y ~ 1), "`data`"),
    list(function() fit_reml(y ~ 1, case$data, case$g, verbose = 1), "`verbose`")
  ))
})

test_that("a GPU that is not there is an error, wherever products are made", {
  skip_if(nrow(available_gpus()) > 0, "there is a GPU")
  fit <- quiet_fit(y ~ 1, case$data, case$g)
  on_gpu <- fit
  on_gpu$backend <- "gpu"
  uses <- list(
    function() quiet_fit(y ~ 1, case$data, case$g, backend = "gpu"),
    function() haseman_elston(y ~ 1, case$data, case$g, backend = "gpu"),
    function() scan_variants(y ~ 1, case$data, case$g, backend = "gpu"),
    function() kernel_times(kernel_grm(case$g), fit$y, backend = "gpu"),
    function() scan_variants(on_gpu, loco = FALSE),
    function() lasso_path(on_gpu),
    function() variant_effects(on_gpu)
  )
  for (use in uses) expect_error(use(), "GPU|driver|CUDA", class = "ancify_device_error")
  expect_identical(quiet_fit(y ~ 1, case$data, case$g, backend = "cpu")$theta, fit$theta)
})

test_that("a search that ends early is a warning", {
  warned <- expect_one_warning(
    quiet_fit(y ~ sex, case$data, case$g, control = reml_control(max_iterations = 1)), "fit",
    "has not converged"
  )
  expect_false(warned$value$converged)
  expect_output(print(warned$value), "not converged")
  expect_output(print(summary(warned$value)), "not converged after")
})

test_that("no variance of the genotypes is a flagged bound", {
  set.seed(3)
  table <- case$data
  # Alike samples get unlike responses.
  table$y <- eigen(oracle_kernel(case$calls))$vectors[, 75:80] %*% rnorm(6) + 1
  fit <- quiet_fit(y ~ 1, table, case$g)
  expect_identical(fit$theta[["genotypes"]], 0)
  expect_identical(fit$at_bound, c(genotypes = TRUE, residual = FALSE))
  shown <- as.data.frame(fit)
  expect_identical(is.na(shown$se), c(TRUE, FALSE))
  expect_identical(heritability(fit)["h2", "share"], 0)
  expect_identical(genetic_lrt(fit)[["p_value"]], 1)
  expect_output(print(summary(fit)), "at its bound")
})

test_that("the smallest studies end in a result or an error, never in NaN", {
  small <- function(rows, variants, y = case$data$y) {
    table <- transform(case$data, y = y)[rows, ]
    tryCatch(quiet_fit(y ~ 1, table, case$g[, variants]), ancify_error = identity,
             ancify_fit_warning = identity)
  }
  varies <- which(apply(case$calls[1:2, ], 2, function(g) !anyNA(g) && g[1] != g[2]))
  of_genotypes <- 3 * replace(case$calls[, 9], is.na(case$calls[, 9]), 1)
  for (fit in list(small(1:2, varies), small(1:80, 9), small(1:80, 9, of_genotypes))) {
    if (inherits(fit, "reml_fit")) {
      expect_false(anyNA(fit$theta))
      expect_true(all(is.finite(fit$theta)))
      expect_no_error(capture.output(print(summary(fit))))
    } else {
      expect_gt(nchar(conditionMessage(fit)), 20)
    }
  }
  expect_ancify_error(quiet_fit(y ~ 1, case$data, case$g[, 5]), "input", "'genotypes'", "varies")
})
