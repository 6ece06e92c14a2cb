# Likelihoods of spectra.

some_spectra <- function(folded = FALSE) {
  data <- random_sfs(c(4, 5))
  model <- new_sfs(
    plain_array(data) * stats::rexp(length(data)) + 0.1, NULL, corner_mask(dim(data)), FALSE
  )
  if (folded) data <- fold(data)
  list(model = model, data = data)
}

random_sfs <- function(sizes) {
  sfs(array(stats::rpois(prod(sizes + 1), 20), sizes + 1))
}

test_that("likelihoods are those of Poisson distributed counts", {
  set.seed(931)
  for (folded in c(FALSE, TRUE)) {
    both <- some_spectra(folded)
    model <- if (folded) fold(both$model) else both$model
    known <- !attr(model, "mask") & !attr(both$data, "mask")
    m <- plain_array(model)[known]
    d <- round(plain_array(both$data)[known])
    both$data[known] <- d
    expect_equal(sfs_log_likelihood(both$model, both$data, FALSE), sum(stats::dpois(d, m, TRUE)))
    theta <- sum(d) / sum(m)
    expect_equal(optimal_theta(both$model, both$data), theta)
    expect_equal(sfs_log_likelihood(both$model, both$data), sum(stats::dpois(d, theta * m, TRUE)))
    # No other theta is more likely.
    for (scale in theta * c(0.99, 1.01)) {
      expect_lt(sfs_log_likelihood(both$model * scale, both$data, FALSE),
                sfs_log_likelihood(both$model, both$data))
    }
  }
})

test_that("residuals are those of the formulas", {
  set.seed(932)
  both <- some_spectra()
  both$data[2, 3] <- 0
  m <- as.array(both$model)
  d <- as.array(both$data)
  expect_equal(sfs_residuals(both$model, both$data, "linear", FALSE), (m - d) / sqrt(m))
  expected <- 1.5 * ((m^(2 / 3) - m^(-1 / 3) / 9) - (d^(2 / 3) - d^(-1 / 3) / 9)) / m^(1 / 6)
  expected[2, 3] <- NA
  expect_equal(sfs_residuals(both$model, both$data, multinomial = FALSE), expected)
  scaled <- sfs_residuals(both$model * 3, both$data)
  expect_equal(scaled, sfs_residuals(both$model, both$data))
})

test_that("misidentification mirrors a share of the spectrum", {
  x <- sfs(c(0, 8, 4, 2, 0))
  expect_equal(as.vector(plain_array(misidentified_sfs(x, 0.25))), c(0, 6.5, 4, 3.5, 0))
  expect_equal(misidentified_sfs(x, 0), x)
  for (share in list(-0.1, 1.1, NA, "a")) {
    expect_ancify_error(misidentified_sfs(x, share), "input", "`share`")
  }
  expect_ancify_error(misidentified_sfs(fold(x), 0.1), "input", "folded")
})

test_that("spectra that cannot be compared are errors", {
  x <- sfs(c(0, 8, 4, 2, 0))
  expect_ancify_error(sfs_log_likelihood(x, sfs(c(0, 1, 1, 0))), "input",
                      "sample sizes are 4 and 3")
  expect_ancify_error(sfs_log_likelihood(fold(x), x), "input", "folded")
  ab <- sfs(matrix(1:9, 3), c("A", "B"))
  expect_ancify_error(sfs_log_likelihood(ab, sfs(matrix(1:9, 3), c("B", "A"))), "input", "A and B")
  expect_ancify_error(sfs_log_likelihood(x, x * 0), "input", "must have sites")
  expect_ancify_error(sfs_log_likelihood(1, x), "input", "`model`")
  expect_ancify_error(sfs_log_likelihood(x, 1), "input", "`data`")
  expect_ancify_error(sfs_log_likelihood(sfs(c(0, 8, 0, 2, 0)), x), "input", "no sites")
  expect_equal(sfs_log_likelihood(x, fold(x)), sfs_log_likelihood(fold(x), fold(x)))
})
