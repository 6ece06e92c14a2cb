# The core's exact path: kernels that are functions, bad kernels, stops, and the null of the LRT.

set.seed(17)
n <- 60
zs <- list(a = matrix(rnorm(n * 40), n), b = matrix(rnorm(n * 25), n))
kernels <- lapply(zs, function(z) tcrossprod(z) / ncol(z))
genetic <- drop(zs$a %*% rnorm(40) / 6 + zs$b %*% rnorm(25) / 5)
table <- data.frame(id = seq_len(n), x = rnorm(n), y = genetic + rnorm(n))
of_matrix <- function(k) kernel_matrix(k)
of_products <- function(k) kernel_products(function(V) k %*% V, diag(k))
fit_kernels <- function(...) quiet_fit(y ~ x, table, kernels = list(...))

test_that("kernels are the same as matrices and as products", {
  for (names in list("a", c("a", "b"))) {
    expected <- do.call(fit_kernels, lapply(kernels[names], of_matrix))
    found <- do.call(fit_kernels, lapply(kernels[names], of_products))
    same <- c("theta", "information", "log_likelihood", "coefficients", "genetic", "kernel_form")
    expect_equal(found[same], expected[same], tolerance = 1e-10)
  }
  mixed <- fit_kernels(a = of_products(kernels$a), b = of_matrix(kernels$b))
  expect_equal(mixed$theta, expected$theta, tolerance = 1e-10)
})

test_that("the maximum is that of plain R, with any number of kernels", {
  x <- cbind(1, table$x)
  for (names in list("a", "b", c("a", "b"))) {
    expected <- oracle_reml(table$y, x, kernels[names])
    fit <- do.call(fit_kernels, lapply(kernels[names], of_matrix))
    expect_equal(unname(fit$theta), expected$theta, tolerance = 1e-8)
    expect_equal(fit$log_likelihood, expected$log_likelihood, tolerance = 1e-10)
    expect_equal(unname(fit$information), unname(expected$average), tolerance = 1e-7)
    expect_lt(tail(fit$iterations$decrement, 1), 1e-18)
    expect_identical(fit$iterations$iteration, seq_len(nrow(fit$iterations)) - 1)
    expect_identical(unlist(tail(fit$iterations, 1)[names(fit$theta)]), fit$theta)
  }
})

test_that("errors of a kernel's function reach the user", {
  fails <- function(f) quiet_fit(y ~ x, table, kernels = list(k = kernel_products(f, n)))
  expect_error(fails(function(V) stop("no such matrix")), "no such matrix")
  expect_refusals(list(
    list(function() fails(function(V) V[-1, ]), "60 x "),
    list(function() fails(function(V) V * NA), "finite")
  ))
})

test_that("bad kernels are named", {
  shifted <- kernels$b - diag(0.2, n)
  twice <- kernels$a + 2 * diag(n)
  expect_refusals(list(
    list(function() fit_kernels(good = of_matrix(kernels$a), bad = of_matrix(shifted)), "'bad'",
         "negative eigenvalue -"),
    list(function() fit_kernels(bad = of_matrix(shifted)), "'bad'", "negative eigenvalue -"),
    list(function() fit_kernels(a = of_matrix(kernels$a), again = of_matrix(twice)), "'again'",
         "sum of multiples"),
    list(function() fit_kernels(units = of_matrix(diag(3, n))), "'units'", "sum of multiples"),
    list(function() fit_kernels(mean = of_matrix(matrix(1, n, n))), "'mean'", "fixed effects")
  ))
})

# Families of one size: F of the analysis of variance tells the statistic.
test_that("draws under the null have the distribution of the analysis of variance", {
  draws <- 20000
  between <- 9
  within <- 40
  kernel <- list(
    diagonal = c(rep(0, within), rep(5, between)), off_diagonal = numeric(within + between)
  )
  values <- reml_null_lrt_impl(kernel, draws, 3, new_work(2), function(...) NULL)
  statistic <- function(f) {
    ifelse(f <= 1, 0, (between + within) * log((between * f + within) / (between + within)) -
             between * log(f))
  }
  for (p in c(0.7, 0.9, 0.95, 0.99)) {
    above <- mean(values > statistic(stats::qf(p, between, within)))
    expect_lt(abs(above - (1 - p)), 4 * sqrt(p * (1 - p) / draws))
  }
  zero <- stats::pf(1, between, within)
  expect_lt(abs(mean(values == 0) - zero), 4 * sqrt(zero * (1 - zero) / draws))
})

test_that("Ctrl-C stops a fit within a second", {
  for (kernels in 1:2) {
    marker <- tempfile()
    job <- start_program(rscript, write_script(
      "n <- 3000",
      "z <- matrix(rnorm(n * 20), n)",
      "kernels <- list(diag(n) + tcrossprod(z[, 1:10]), diag(n) + tcrossprod(z[, 11:20]))",
      "control <- ancify:::core_control(ancify::reml_control(),",
      sprintf("  c('a', 'b')[1:%d] |> c('residual'), n, 'exact')", kernels),
      "model <- list(y = rnorm(n), x = matrix(1, n), control = control,",
      sprintf("  kernels = kernels[1:%d])", kernels),
      "settings <- list(work = ancify:::new_work(1, memory = 1e9))",
      "problem <- ancify:::core_problem(model, settings)",
      sprintf("watch <- function(share, lines, place) file.create(%s)", deparse1(marker)),
      "ancify:::reml_exact_impl(problem, watch)",
      "cat('done')"
    ), env = c(library_environment(), "OPENBLAS_NUM_THREADS=1"))
    on.exit(end_program(job), add = TRUE)
    wait_for(file.exists(marker))
    Sys.sleep(0.3)
    expect_null(job$status())
    tools::pskill(job$pid, tools::SIGINT)
    expect_lt(wait_for(!is.null(job$status())), 1)
    expect_identical(job$out(), character())
  }
})
