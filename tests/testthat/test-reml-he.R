# Haseman-Elston regression.

set.seed(19)
case <- reml_case()

# sum_j theta_j tr(S A_i S A_j) = y'S A_i S y.
plain_moments <- function(y, x, kernels) {
  s <- diag(length(y)) - x %*% solve(crossprod(x), t(x))
  parts <- lapply(c(kernels, list(diag(length(y)))), function(k) s %*% k %*% s)
  left <- outer(seq_along(parts), seq_along(parts), Vectorize(function(i, j) {
    sum(parts[[i]] * parts[[j]])
  }))
  solve(left, vapply(parts, function(part) sum(y * (part %*% y)), 0))
}

test_that("variances solve the equations of moments", {
  found <- haseman_elston(y ~ sex, case$data, case$g, list(a = 1:30, b = 31:60), blocks = 8,
                          threads = 1)
  kernels <- list(oracle_kernel(case$calls[, 1:30]), oracle_kernel(case$calls[, 31:60]))
  x <- model.matrix(~ sex, case$data)
  theta <- plain_moments(case$data$y, x, kernels)
  mc <- sqrt(diag(found$mc_covariance))
  expect_true(all(abs(found$theta - theta) <= 1e-6 + 5 * mc))
  expect_named(found$theta, c("a", "b", "residual"))
  expect_identical(dimnames(found$covariance), list(names(found$theta), names(found$theta)))
  expect_true(all(diag(found$covariance) > 0))
  a <- c(mean(diag(kernels[[1]])), mean(diag(kernels[[2]])), 1)
  h2 <- function(theta) 1 - theta[3] / sum(theta * a)
  expect_equal(found$h2, h2(unname(found$theta)), tolerance = 1e-8)
  slope <- vapply(1:3, function(i) {
    step <- 1e-6 * (1:3 == i)
    (h2(unname(found$theta) + step) - h2(unname(found$theta) - step)) / 2e-6
  }, 0)
  expect_equal(found$h2_se, sqrt(drop(slope %*% found$covariance %*% slope)), tolerance = 1e-5)
  expect_output(print(found), "<reml_he> 80 samples")
  shares <- moment_shares(found)
  expect_identical(rownames(shares), c("h2", "a", "b", "residual"))
  expect_equal(shares["h2", "estimate"], 1 - shares["residual", "estimate"])
  expect_equal(shares["h2", "se"], shares["residual", "se"])
  texts <- drawn_texts(expect_identical(plot(found), found))
  expect_identical(intersect(rownames(shares), texts), rownames(shares))
})

test_that("bad arguments are refused", {
  expect_refusals(list(
    list(function() haseman_elston(y ~ 1, case$data, case$g, blocks = 1), "2 to", "80"),
    list(function() haseman_elston(y ~ 1, case$data, case$g, blocks = 81), "80"),
    list(function() haseman_elston(y ~ 1, case$data, case$g, control = 1), "`control`"),
    list(function() haseman_elston(y ~ 1, case$data), "genetic component")
  ))
})

test_that("few samples are a block each", {
  expect_identical(haseman_elston(y ~ sex, case$data, case$g),
                   haseman_elston(y ~ sex, case$data, case$g, blocks = nrow(case$data)))
})
