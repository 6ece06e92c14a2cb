# Kernels of weighted blocks, against dense matrices.

set.seed(14)
case <- reml_case(60, 40)
g <- case$g
sizes <- c(7, 20, 1, 12)
blocks <- lapply(sizes, function(k) crossprod(matrix(rnorm(k * (k + 2)), k + 2)) / k)
groups <- c("a", "b", "a", "b")

# sum_b Z_b W_b Z_b' over some blocks, of these samples.
oracle_weighted <- function(rows = 1:60, chosen = 1:4, power = -1) {
  columns <- oracle_columns(case$calls[rows, ], power)
  of_block <- rep(seq_along(sizes), sizes)
  total <- 0
  for (b in chosen) {
    used <- columns$used[of_block == b]
    z <- columns$z[, of_block[columns$used] == b, drop = FALSE]
    total <- total + z %*% blocks[[b]][used, used, drop = FALSE] %*% t(z)
  }
  unname(total)
}

by_trace <- function(k) k / mean(diag(k))

root <- chol(by_trace(oracle_weighted()) + diag(60) / 1e6)
case$data$y <- drop(rnorm(60) %*% root) / 2 + rnorm(60)

test_that("a kernel of blocks multiplies as its matrix", {
  v <- matrix(rnorm(180), 60)
  for (power in c(-1, 0)) {
    sum <- oracle_weighted(power = power)
    kernel <- kernel_weighted(g, blocks, scale_power = power)
    expect_equal(kernel_times(kernel, v, threads = 2), by_trace(sum) %*% v, tolerance = 1e-10)
    ranked <- kernel_weighted(g, blocks, normalisation = "rank", ranks = sizes, scale_power = power)
    expect_equal(kernel_times(ranked, v, threads = 1), sum %*% v / 40, tolerance = 1e-10)
  }
  grouped <- kernel_weighted(g, blocks, groups)
  expect_equal(kernel_times(grouped, v, "b", threads = 1),
               by_trace(oracle_weighted(chosen = c(2, 4))) %*% v, tolerance = 1e-10)
})

test_that("both paths fit it as an explicit matrix", {
  fit <- quiet_fit(y ~ sex, case$data, kernels = list(ld = kernel_weighted(g, blocks)))
  matrix <- list(ld = kernel_matrix(by_trace(oracle_weighted())))
  dense <- quiet_fit(y ~ sex, case$data, kernels = matrix)
  same <- c("theta", "log_likelihood", "information", "genetic", "mean_diagonal")
  expect_equal(fit[same], dense[same], tolerance = 1e-7)
  expected <- oracle_reml(case$data$y, model.matrix(~sex, case$data),
                          list(by_trace(oracle_weighted())))
  expect_equal(unname(fit$theta), expected$theta, tolerance = 1e-6)
  expect_equal(heritability(fit)$share, heritability(dense)$share, tolerance = 1e-7)
  stochastic <- quiet_fit(y ~ sex, case$data, kernels = list(ld = kernel_weighted(g, blocks)),
                          method = "stochastic")
  of_matrix <- quiet_fit(y ~ sex, case$data, kernels = matrix, method = "stochastic")
  expect_equal(stochastic$theta, of_matrix$theta, tolerance = 1e-4)
})

test_that("groups are components, and the normalisation changes no share", {
  grouped <- function(...) list(ld = kernel_weighted(g, blocks, groups, ...))
  fit <- quiet_fit(y ~ 1, case$data, kernels = grouped())
  expect_named(fit$theta, c("ld.a", "ld.b", "residual"))
  parts <- lapply(list(a = c(1, 3), b = c(2, 4)), function(b) by_trace(oracle_weighted(chosen = b)))
  dense <- quiet_fit(y ~ 1, case$data, kernels = lapply(parts, kernel_matrix))
  expect_equal(unname(fit$theta), unname(dense$theta), tolerance = 1e-6)
  ranked <- quiet_fit(y ~ 1, case$data, kernels = grouped(normalisation = "rank", ranks = sizes))
  expect_equal(unname(ranked$divisors), c(8, 32))
  expect_equal(heritability(ranked), heritability(fit), tolerance = 1e-6)
  table <- heritability(fit)
  expect_identical(table$variants, c(39, 7, 32)) # variant 5 does not vary
  expect_equal(table["ld.b", "enrichment"], table["ld.b", "share"] / table["h2", "share"] * 39 / 32)
})

test_that("identity blocks are the plain kernel", {
  case <- reml_case(50, 30, missing = 0)
  identities <- lapply(c(13, 17), diag)
  kernel <- kernel_weighted(case$g, identities)
  fit <- quiet_fit(y ~ sex, case$data, kernels = list(genotypes = kernel))
  plain <- quiet_fit(y ~ sex, case$data, case$g)
  expect_equal(fit$theta, plain$theta, tolerance = 1e-8)
  expect_equal(fit$log_likelihood, plain$log_likelihood, tolerance = 1e-10)
  expect_equal(variant_effects(fit), variant_effects(plain), tolerance = 1e-7)
})

test_that("predictions are those of the kernel between samples", {
  old <- 1:50
  fit <- quiet_fit(y ~ 1, case$data, kernels = list(ld = kernel_weighted(g[old, ], blocks, groups)))
  mean <- colMeans(case$calls[old, ], na.rm = TRUE)
  v <- colMeans(case$calls[old, ]^2, na.rm = TRUE) - mean^2
  z <- t((t(case$calls) - mean) / sqrt(v))
  z[is.na(z)] <- 0
  z[, v < 1e-12] <- 0
  of_block <- rep(seq_along(sizes), sizes)
  expected <- 0
  for (b in seq_along(sizes)) {
    part <- match(groups[b], c("a", "b"))
    zb <- z[, of_block == b, drop = FALSE]
    expected <- expected + fit$theta[part] / fit$divisors[part] *
      drop(zb %*% (blocks[[b]] %*% crossprod(zb[old, , drop = FALSE], fit$residual_projection)))
  }
  expect_equal(unname(predict(fit, type = "genetic")), unname(expected[old]), tolerance = 1e-7)
  found <- predict(fit, g[51:60, ], type = "genetic")
  expect_equal(c(found), expected[51:60], tolerance = 1e-7, ignore_attr = TRUE)
  # Sets of variants and blocks together: a variant has the sum of its effects.
  both <- quiet_fit(y ~ 1, case$data, g[old, 1:25],
                    kernels = list(ld = kernel_weighted(g[old, ], blocks)))
  expect_equal(c(predict(both, g[old, ], type = "genetic")), rowSums(both$genetic),
               tolerance = 1e-7, ignore_attr = TRUE)
})

test_that("saved fits, checkpoints and draws have their genotypes again", {
  kernels <- list(ld = kernel_weighted(g, blocks, groups))
  path <- tempfile()
  fit <- quiet_fit(y ~ 1, case$data, kernels = kernels, method = "stochastic", checkpoint = path)
  again <- quiet_fit(y ~ 1, case$data, kernels = kernels, method = "stochastic", checkpoint = path)
  expect_identical(again$theta, fit$theta)
  other <- list(ld = kernel_weighted(g, rev(lapply(rev(blocks), function(w) 2 * w + 0.1)), groups))
  expect_ancify_error(
    quiet_fit(y ~ 1, case$data, kernels = other, method = "stochastic", checkpoint = path), "input",
    "other inputs or settings"
  )
})

test_that("a saved fit finds its genotypes, and draws have their covariance", {
  fit <- quiet_fit(y ~ 1, case$data, kernels = list(ld = kernel_weighted(g, blocks, groups)))
  saved <- unserialize(serialize(fit, NULL))
  fit$theta[] <- c(0, 1, 1e-12)
  drawn <- as.matrix(simulate(fit, 4000, seed = 1)) - drop(fit$x %*% fit$coefficients)
  k <- by_trace(oracle_weighted(chosen = c(2, 4)))
  expect_lt(max(abs(tcrossprod(drawn) / 4000 - k)), 6 * max(diag(k)) / sqrt(4000))
  theta <- c(0.3, 0.2, 0.7)
  expected <- reml_log_likelihood(fit, theta, progress = FALSE)
  folder <- new_folder()
  file.rename(case$file, file.path(folder, basename(case$file)))
  on.exit(file.rename(file.path(folder, basename(case$file)), case$file))
  expect_ancify_error(reml_log_likelihood(saved, theta), "file", "does not exist")
  with_folder(folder, {
    expect_identical(reml_log_likelihood(saved, theta, progress = FALSE), expected)
  })
})

# The file has other times since it was opened.
g <- open_genotypes(case$file)

test_that("a fit of all blocks is nested in one of groups", {
  fit <- quiet_fit(y ~ 1, case$data, g, kernels = list(ld = kernel_weighted(g, blocks, groups)))
  null <- quiet_fit(y ~ 1, case$data, kernels = list(ld = kernel_weighted(g, blocks, groups)))
  expect_s3_class(anova(fit, null), "data.frame")
  twice <- kernel_weighted(g, lapply(blocks, `*`, 2), groups)
  other <- quiet_fit(y ~ 1, case$data, kernels = list(ld = twice))
  expect_ancify_error(anova(fit, other), "input", "ld.a")
})

test_that("kernels of blocks print", {
  expect_output(print(kernel_weighted(g, blocks, groups)),
                "of weighted blocks, 60 samples, 40\\s+variants.*components +a and b")
})

test_that("bad blocks are refused", {
  with_block <- function(b, block) replace(blocks, b, list(block))
  at <- function(block, i, j, value) {
    block[i, j] <- value
    block
  }
  expect_refusals(list(
    list(function() kernel_weighted(g, 1), "list of square matrices"),
    list(function() kernel_weighted(g, with_block(2, matrix(1, 2, 3))), "block 2", "2 x 3"),
    list(function() kernel_weighted(g, with_block(2, "a")), "block 2", "square"),
    list(function() kernel_weighted(g, blocks[-4]), "40 variants", "block 3", "before 'v29'"),
    list(function() kernel_weighted(g, c(blocks, list(diag(3)))), "block 5", "3 rows", "'v40'"),
    list(function() kernel_weighted(g, with_block(2, at(blocks[[2]], 3, 5, 9))), "Row 5", "block 2",
         "'v12'", "symmetric"),
    list(function() kernel_weighted(g, with_block(1, at(blocks[[1]], 2, 2, NA))), "Row 2",
         "block 1", "'v2'", "not finite"),
    list(function() kernel_weighted(g, with_block(4, at(blocks[[4]], 3, 3, -1))), "Row 3",
         "block 4", "'v31'", "below 0"),
    list(function() kernel_weighted(g, list(ld = diag(38), x = matrix(c(1, 2, 2, 1), 2))),
         "block 2 'x'", "eigenvalue -1"),
    list(function() kernel_weighted(g, list(`rownames<-`(diag(40), rev(g$variants$id)))), "Row 1",
         "'v1'", "'v40'"),
    list(function() kernel_weighted(g, blocks, c("a", "b")), "`groups`", "4 blocks", "2 values"),
    list(function() kernel_weighted(g, blocks, 1:4), "`groups`"),
    list(function() kernel_weighted(g, blocks, normalisation = "rank"), "`ranks`"),
    list(function() kernel_weighted(g, blocks, ranks = 1:4), "`ranks`"),
    list(function() kernel_weighted(g, blocks, normalisation = "rank", ranks = 1), "1 number"),
    list(function() kernel_weighted(g, blocks, normalisation = "rank", ranks = c(1, 1, 0, 1)),
         "`ranks`"),
    list(function() kernel_weighted(g, blocks, normalisation = "mean"), "normalisation"),
    list(function() kernel_times(kernel_weighted(g, blocks, groups), 1:60), "`component`", "'a'"),
    list(function() kernel_times(kernel_weighted(g, blocks), 1:60, "a"), "`component`")
  ))
  # Variant 5 does not vary.
  still <- kernel_weighted(g, list(diag(4), diag(1), diag(35)), c("a", "c", "b"))
  expect_ancify_error(quiet_fit(y ~ 1, case$data, kernels = list(ld = still)), "input", "'ld.c'")
})

test_that("a variant of two kernels is counted once", {
  half <- kernel_weighted(g[, 1:27], blocks[1:2])
  other <- kernel_weighted(g[, 1:27], lapply(sizes[1:2], function(k) diag(seq_len(k))))
  fit <- quiet_fit(y ~ sex, case$data, g[, 8:40], kernels = list(w = half, v = other))
  expect_identical(fit$used_variants, c(33, 26, 26))
  expect_identical(heritability(fit)["h2", "variants"], 39)
  alone <- quiet_fit(y ~ sex, case$data, kernels = list(w = half))
  expect_identical(heritability(alone)["h2", "variants"], 26)
})

test_that("weights that are all 0 are refused", {
  zero <- replace(blocks, c(1, 3), lapply(sizes[c(1, 3)], function(k) matrix(0, k, k)))
  expect_refusals(list(
    list(function() kernel_weighted(g, zero, groups), "group 'a'", "all 0"),
    list(function() kernel_weighted(g[, 1:7], zero[1]), "all 0")
  ))
  expect_silent(kernel_weighted(g, zero))
})
