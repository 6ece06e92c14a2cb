# Kernels that fit_reml() takes besides genotypes.

set.seed(12)
case <- reml_case(40, 30)
g <- case$g
v <- matrix(rnorm(40 * 3), 40)

test_that("a kernel of genotypes multiplies as its matrix", {
  for (power in c(-1, 0, -0.25)) {
    dense <- oracle_kernel(case$calls, power = power)
    expect_equal(kernel_times(kernel_grm(g, scale_power = power), v, threads = 2),
                 unname(dense %*% v), tolerance = 1e-10)
  }
  some <- oracle_kernel(case$calls[, 3:9])
  expect_equal(kernel_times(kernel_grm(g, 3:9), v[, 1], threads = 1),
               unname(some %*% v[, 1, drop = FALSE]), tolerance = 1e-10)
})

test_that("matrices and functions multiply", {
  k <- crossprod(matrix(rnorm(1600), 40)) / 40
  expect_equal(kernel_times(kernel_matrix(k), v), k %*% v)
  expect_equal(kernel_times(kernel_products(function(V) k %*% V, 40), v), k %*% v)
  expect_equal(kernel_times(kernel_products(function(V) as.vector(k %*% V), diag(k)), v), k %*% v)
})

test_that("kernels of some samples are parts of the matrix", {
  k <- crossprod(matrix(rnorm(1600), 40)) / 40
  rows <- c(5, 2, 30)
  expect_identical(core_kernel(kernel_matrix(k), rows, 40, "k"), k[rows, rows])
  part <- core_kernel(kernel_products(function(V) k %*% V, diag(k)), rows, 40, "k")
  expect_equal(part$products(diag(3)), k[rows, rows])
  expect_equal(part$trace, sum(diag(k)[rows]))
  expect_ancify_error(
    core_kernel(kernel_products(function(V) k %*% V, 40), rows, 40, "k"), "input", "'k'",
    "40 samples"
  )
  whole <- core_kernel(kernel_products(function(V) k %*% V, 40), 1:40, 40, "k")
  expect_identical(whole$trace, 40)
})

test_that("kernels print", {
  expect_output(print(kernel_grm(g, 1:7)), "<reml_kernel> of genotypes, 40 samples, 7 variants")
  expect_output(print(kernel_matrix(diag(3))), "<reml_kernel> a matrix, 3 samples")
  expect_output(print(kernel_products(identity, 3)), "<reml_kernel> a function")
})

test_that("bad kernels are refused", {
  named <- function(rows, columns = rows) matrix(1, 2, 2, dimnames = list(rows, columns))
  bad <- function(...) matrix(c(...), 2, dimnames = list(c("a", "b"), c("a", "b")))
  expect_refusals(list(
    list(function() kernel_matrix(1:3), "square matrix"),
    list(function() kernel_matrix(matrix(1, 2, 3)), "2 x 3"),
    list(function() kernel_matrix(matrix("a")), "1 x 1"),
    list(function() kernel_matrix(bad(1, NA, 1, 1)), "'b' and 'a'", "not finite"),
    list(function() kernel_matrix(bad(1, 2, 3, 1)), "'b' and 'a'", "symmetric"),
    list(function() kernel_matrix(unname(bad(1, 2, 3, 1))), "row 2 and row 1"),
    list(function() kernel_matrix(bad(1, 0, 0, -1)), "'b' and 'b'", "below 0"),
    list(function() kernel_matrix(bad(0, 1, 1, 0)), "'b' and 'a'", "no negative eigenvalue"),
    list(function() kernel_matrix(bad(4, 2.1, 2.1, 1)), "'b' and 'a'", "no negative eigenvalue"),
    list(function() kernel_matrix(named(c("a", "a"))), "'a' twice"),
    list(function() kernel_matrix(named(c("a", "b"), c("b", "a"))), "Row 1", "'a'", "'b'"),
    list(function() kernel_products(1, 1), "`f`"),
    list(function() kernel_products(identity, -1), "`trace`"),
    list(function() kernel_grm(matrix(1)), "open_genotypes()"),
    list(function() kernel_grm(g, scale_power = NA), "`scale_power`"),
    list(function() kernel_times(1, 1), "`kernel`"),
    list(function() kernel_times(kernel_matrix(diag(3)), 1:2), "2 rows", "3 samples"),
    list(function() kernel_times(kernel_matrix(diag(3)), c(1, NA, 1)), "`V`"),
    list(function() kernel_times(kernel_products(function(V) 1, 3), 1:3), "3 x 1"),
    list(function() kernel_times(kernel_products(function(V) V * NA, 3), 1:3), "finite")
  ))
})

test_that("rows are in the order of samples where their names say so", {
  ids <- c("a", "b", "c")
  kernel <- kernel_matrix(diag(3) |> `dimnames<-`(list(ids, ids)))
  v <- matrix(1:3, 3, dimnames = list(ids, NULL))
  expect_equal(kernel_times(kernel, v), v, ignore_attr = TRUE)
  expect_equal(kernel_times(kernel, `rownames<-`(v, 3:1)), v, ignore_attr = TRUE)
  expect_ancify_error(kernel_times(kernel, v[3:1, , drop = FALSE]), "input",
                      "Row 1 of `V` is 'c', but this sample is 'a'")
})
