# Principal components against the eigenvectors of the dense matrix.

pca_case <- function(n = 60, n_variants = 800) {
  set.seed(63)
  frequency <- matrix(runif(3 * n_variants, 0.1, 0.9), 3)[rep(1:3, length.out = n), ]
  calls <- matrix(rbinom(n * n_variants, 2, frequency), n)
  calls[sample(length(calls), length(calls) / 100)] <- NA
  rownames(calls) <- paste0("s", seq_len(n))
  open_genotypes(calls)
}

test_that("components are eigenvectors of the dense matrix", {
  g <- pca_case()
  dense <- eigen(kernel_times(kernel_grm(g), diag(60)), symmetric = TRUE)
  p <- pca(g, n = 4, tolerance = 1e-9, threads = 1)
  expect_true(p$converged)
  expect_lte(max(p$residuals), 1e-9)
  expect_equal(p$values, dense$values[1:4])
  expect_equal(abs(colSums(p$vectors * dense$vectors[, 1:4])), rep(1, 4), ignore_attr = TRUE)
  expect_equal(crossprod(p$vectors), diag(4), ignore_attr = TRUE)
  expect_true(all(apply(p$vectors, 2, function(v) v[which.max(abs(v))]) > 0))
  expect_identical(rownames(p$vectors), g$samples$id)
  expect_identical(pca(g, n = 4, tolerance = 1e-9, threads = 2, memory = 5000)$vectors, p$vectors)
  # All but one, of which the last is the eigenvalue 0
  expect_equal(pca(g, n = 59, threads = 1)$values, dense$values[1:59])
})

test_that("the session's random numbers stay", {
  g <- pca_case(10, 50)
  set.seed(1)
  expected <- runif(1)
  set.seed(1)
  pca(g, n = 2, threads = 1)
  expect_identical(runif(1), expected)
})

test_that("components separate populations, serve as covariates and are drawn", {
  g <- pca_case()
  p <- pca(g, n = 2, threads = 1)
  within <- residuals(lm(p$vectors ~ factor(rep(1:3, 20))))
  expect_lt(max(colSums(within^2)), 0.05)
  data <- cbind(as.data.frame(p), y = rnorm(60))
  expect_identical(names(data), c("id", "PC1", "PC2", "y"))
  expect_s3_class(fit_reml(y ~ PC1 + PC2, data, g, threads = 1), "reml_fit")
  expect_output(print(p), "60 samples, 800 variants, 2 components")
  require_package("ggplot2")
  expect_s3_class(plot(p, groups = rep(1:3, 20)), "ggplot")
  expect_ancify_error(plot(p, components = 2:3), "input", "`components`")
  expect_ancify_error(plot(p, groups = 1), "input", "`groups`")
})

test_that("what does not converge or cannot be is told", {
  g <- pca_case()
  expect_warning(p <- pca(g, n = 4, most_passes = 1, threads = 1), "4 of 4 components",
                 class = "ancify_fit_warning")
  expect_false(p$converged)
  expect_ancify_error(pca(g, n = 60), "input", "from 1 to 59")
  expect_ancify_error(pca(g, tolerance = 0), "input", "`tolerance`")
  constant <- open_genotypes(matrix(1, 5, 3, dimnames = list(letters[1:5], NULL)))
  expect_ancify_error(pca(constant, n = 1, threads = 1), "input", "no variant that varies")
})
