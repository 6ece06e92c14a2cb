# Kernels by ancestry, against dense matrices.

set.seed(19)
case <- reml_case(60, 40)
g <- case$g
q <- matrix(runif(180), 60)
q <- q / rowSums(q)
colnames(q) <- c("x", "y", "z")

oracle_ancestries <- function(rows = 1:60, power = -1) {
  k <- oracle_kernel(case$calls[rows, ], power = power)
  lapply(c(x = "x", y = "y", z = "z"), function(a) k * sqrt(outer(q[rows, a], q[rows, a])))
}

test_that("a kernel of an ancestry multiplies as its matrix", {
  v <- matrix(rnorm(180), 60)
  for (power in c(-1, 0)) {
    kernel <- kernel_admixture(g, q, scale_power = power)
    for (a in colnames(q)) {
      expect_equal(kernel_times(kernel, v, a, threads = 2),
                   oracle_ancestries(power = power)[[a]] %*% v, tolerance = 1e-10)
    }
  }
})

test_that("both paths fit ancestries as explicit matrices", {
  some <- c(1:20, 25:60)
  fit <- quiet_fit(y ~ sex, case$data[some, ], kernels = list(by = kernel_admixture(g, q)))
  expect_named(fit$theta, c("by.x", "by.y", "by.z", "residual"))
  dense <- quiet_fit(y ~ sex, case$data[some, ],
                     kernels = lapply(oracle_ancestries(some), kernel_matrix))
  same <- c("theta", "log_likelihood", "information", "genetic", "mean_diagonal")
  expect_equal(lapply(fit[same], unname), lapply(dense[same], unname), tolerance = 1e-6,
               ignore_attr = TRUE)
  stochastic <- quiet_fit(y ~ sex, case$data[some, ], method = "stochastic",
                          kernels = list(by = kernel_admixture(g, q)))
  expect_equal(stochastic$theta, fit$theta, tolerance = 1e-2)
})

test_that("heritability is given by ancestry", {
  fit <- quiet_fit(y ~ sex, case$data, kernels = list(by = kernel_admixture(g, q)))
  diagonal <- diag(oracle_kernel(case$calls))
  mean <- colSums(q * diagonal) / colSums(q)
  expected <- fit$theta[1:3] * mean / (fit$theta[1:3] * mean + fit$theta[["residual"]])
  table <- heritability(fit)
  expect_equal(table$h2, c(NA, unname(expected)), tolerance = 1e-8)
  free <- fit$theta[1:3] > 0
  expect_true(any(free))
  expect_equal(table$h2_se[-1][free], oracle_h2_errors(fit)[free], tolerance = 1e-4)
  expect_null(heritability(quiet_fit(y ~ 1, case$data, g))$h2)
})

test_that("one ancestry is the plain kernel", {
  fit <- quiet_fit(y ~ 1, case$data, kernels = list(a = kernel_admixture(g, matrix(1, 60, 1))))
  plain <- quiet_fit(y ~ 1, case$data, g)
  expect_equal(unname(fit$theta), unname(plain$theta), tolerance = 1e-8)
  expect_equal(heritability(fit)["a.ancestry1", "h2"], heritability(plain)["h2", "share"],
               tolerance = 1e-8)
})

test_that("Q files are read, for the samples or the whole file", {
  path <- tempfile(fileext = ".Q")
  write_columns(format(unname(q), digits = 6), path)
  whole <- kernel_admixture(g, path)
  expect_equal(unname(whole$shares), unname(q), tolerance = 1e-5)
  expect_identical(whole$parts, paste0("ancestry", 1:3))
  expect_equal(rowSums(whole$shares), rep(1, 60), tolerance = 1e-15)
  expect_equal(kernel_admixture(g[c(9, 4), ], path)$shares, whole$shares[c(9, 4), ])
})

test_that("saved fits have their genotypes again, and draws their covariance", {
  fit <- quiet_fit(y ~ 1, case$data, kernels = list(by = kernel_admixture(g, q)))
  saved <- unserialize(serialize(fit, NULL))
  theta <- c(0.1, 0.2, 0.3, 0.5)
  expect_identical(reml_log_likelihood(saved, theta, progress = FALSE),
                   reml_log_likelihood(fit, theta, progress = FALSE))
  fit$theta[] <- c(0, 1, 0, 1e-12)
  drawn <- as.matrix(simulate(fit, 4000, seed = 1)) - drop(fit$x %*% fit$coefficients)
  k <- oracle_ancestries()$y
  expect_lt(max(abs(tcrossprod(drawn) / 4000 - k)), 6 * max(diag(k)) / sqrt(4000))
  expect_ancify_error(variant_effects(fit), "input", "'by'")
})

test_that("bad shares are refused", {
  at <- function(i, j, value) {
    q[i, j] <- value
    q
  }
  file_of <- function(...) {
    path <- tempfile(fileext = ".Q")
    writeLines(as.character(c(...)), path)
    path
  }
  lines <- apply(q, 1, paste, collapse = " ")
  with_line <- function(line) file_of(replace(lines, 5, line))
  expect_refusals(list(
    list(function() kernel_admixture(g, 1), "`shares`", "60 samples"),
    list(function() kernel_admixture(g, q[-1, ]), "59 x 3"),
    list(function() kernel_admixture(g, at(3, 2, q[3, 2] + 0.006)), "Row 3", "'s3'", "1.006"),
    list(function() kernel_admixture(g, at(7, 1, -0.1)), "Row 7", "'s7'"),
    list(function() kernel_admixture(g, at(7, 1, NA)), "Row 7", "'s7'"),
    list(function() kernel_admixture(g, `rownames<-`(q, rev(g$samples$id))), "Row 1", "'s60'"),
    list(function() kernel_admixture(g, cbind(q, w = 0)), "'w'"),
    list(function() kernel_admixture(g, cbind(q, x = 0)), "'x' twice"),
    list(function() kernel_times(kernel_admixture(g, q), 1:60), "`component`", "'z'")
  ))
  expect_silent(kernel_admixture(g, at(3, 2, q[3, 2] + 0.004)))
  expect_refusals(list(
    list(function() kernel_admixture(g, file_of(lines[-1])), "59 lines", "60 samples"),
    list(function() kernel_admixture(g, with_line("1 0")), "line 5", "2 columns"),
    list(function() kernel_admixture(g, with_line("1 0 x")), "line 5"),
    list(function() kernel_admixture(g, with_line("1 0 1")), "line 5", "sum to 2"),
    list(function() kernel_admixture(g, file_of()), "0 lines")
  ), "format")
  expect_ancify_error(kernel_admixture(g, "none.Q"), "file", "none.Q")
})

test_that("lines of a file are not taken for samples in another order", {
  set.seed(18)
  case <- reml_case(20, 12)
  path <- tempfile(fileext = ".Q")
  shares <- stats::runif(20)
  utils::write.table(cbind(shares, 1 - shares), path, row.names = FALSE, col.names = FALSE)
  of <- function(g) unname(kernel_admixture(g, path)$shares[, 1])
  expect_equal(of(case$g), shares)
  expect_equal(of(case$g[5:1, ]), shares[5:1])
  expect_ancify_error(of(case$g[20:1, ]), "input", path, "another order")
  expect_equal(of(case$g[20:1, ][20:1, ]), shares)
})
