# Sparse effects, against dense matrices and glmnet.

test_that("paths are minima over all variants, however many candidates there are", {
  set.seed(21)
  case <- sparse_case()
  x <- cbind(1, case$data$sex)
  for (power in c(-1, 0)) {
    sets <- list(a = 1:40, b = 41:70)
    kernels <- lapply(sets, function(set) kernel_grm(case$g, set, power))
    fit <- quiet_fit(y ~ sex, case$data, kernels = kernels)
    dense <- lapply(sets, function(set) oracle_kernel(case$calls[, set], power = power))
    parts <- oracle_lasso_parts(case$data$y, x, case$calls, fit$theta, dense, power)
    path <- lasso_path(fit)
    expect_equal(path$steps$lambda, max(abs(parts$q)) * 0.05^((0:59) / 59), tolerance = 1e-8)
    expect_identical(path$tested, length(parts$q) + 0)
    for (step in seq_len(60)) {
      b <- effects_of_step(path, parts, step)
      expect_lt(oracle_violation(parts, b, path$steps$lambda[step]), 1e-8)
      rss <- parts$whole - 2 * sum(b * parts$q) + drop(b %*% parts$q_matrix %*% b)
      expect_equal(path$steps$rss[step], rss, tolerance = 1e-9)
    }
    expect_lt(max(path$steps$violation), 1e-8)
    k <- path$steps$variants
    expect_equal(
      path$steps$ebic,
      k * log(90) + 90 * log(path$steps$rss / 90) + lchoose(length(parts$q), k)
    )
    few <- lasso_path(fit, candidates = 4)
    expect_lt(few$candidates, path$candidates)
    expect_equal(few$effects, path$effects, tolerance = 1e-6)
    expect_equal(few$steps, path$steps, tolerance = 1e-6)
  }
})

test_that("paths are those of glmnet on the whitened problem", {
  if (!requireNamespace("glmnet", quietly = TRUE)) lacking("Debian's r-cran-glmnet")
  set.seed(22)
  case <- sparse_case()
  fit <- quiet_fit(y ~ sex, case$data, case$g)
  path <- lasso_path(fit)
  parts <- oracle_lasso_parts(case$data$y, cbind(1, case$data$sex), case$calls, fit$theta,
                              list(oracle_kernel(case$calls)))
  theirs <- oracle_glmnet(parts, case$data$y, path$steps$lambda)
  ours <- vapply(1:60, function(step) effects_of_step(path, parts, step), parts$q)
  expect_equal(unname(ours), unname(theirs), tolerance = 1e-5)
})

test_that("the stochastic path has the same minima", {
  set.seed(23)
  case <- sparse_case()
  fit <- quiet_fit(y ~ sex, case$data, case$g)
  exact <- lasso_path(fit)
  fit$path <- "stochastic"
  solved <- lasso_path(fit, candidates = 5)
  expect_lt(max(solved$steps$violation), 1e-8)
  expect_equal(solved$steps, exact$steps, tolerance = 1e-6)
  expect_equal(solved$effects, exact$effects, tolerance = 1e-5)
})

test_that("variants that are alike share what one of them would have", {
  set.seed(24)
  case <- sparse_case()
  calls <- case$calls
  calls[, 11:14] <- calls[, case$at[1]]
  calls[, 15] <- 2 - calls[, case$at[1]]
  fit <- quiet_fit(y ~ 1, case$data, open_genotypes(oracle_write_bed(calls)))
  parts <- oracle_lasso_parts(case$data$y, cbind(rep(1, 90)), calls, fit$theta,
                              list(oracle_kernel(calls)))
  path <- lasso_path(fit)
  for (step in seq(5, 60, 5)) {
    b <- effects_of_step(path, parts, step)
    expect_lt(oracle_violation(parts, b, path$steps$lambda[step]), 1e-8)
  }
  # A support with variants that depend on each other has effects as a whole.
  expect_silent(sparse <- quiet_sparse(fit))
  expect_true(sparse$converged)
})

test_that("large effects are found, and their REML is that of covariates", {
  set.seed(25)
  case <- sparse_case(effects = c(1.6, -1.4, 1.5))
  fit <- quiet_fit(y ~ sex, case$data, case$g)
  sparse <- quiet_sparse(fit)
  expect_true(sparse$converged)
  columns <- match(sparse$support$id, case$g$variants$id)
  expect_true(all(case$at %in% columns))
  expect_lt(length(columns), 15)
  # theta is that of the support as covariates
  z <- oracle_columns(case$calls[, columns])$z
  colnames(z) <- paste0("c", seq_along(columns))
  formula <- stats::reformulate(c("sex", colnames(z)), "y")
  beside <- quiet_fit(formula, cbind(case$data, z), case$g)
  expect_equal(sparse$theta, beside$theta, tolerance = 1e-6)
  sd <- unname(sqrt(oracle_columns(case$calls[, columns])$v))
  expect_equal(sparse$support$joint * sd, unname(beside$coefficients[-(1:2)]), tolerance = 1e-6)
  se <- unname(sqrt(diag(beside$coefficients_covariance))[-(1:2)])
  expect_equal(sparse$support$joint_se * sd, se, tolerance = 1e-6)
  # effects are the minimum there
  kernel <- oracle_kernel(case$calls)
  x <- cbind(1, case$data$sex)
  parts <- oracle_lasso_parts(case$data$y, x, case$calls, sparse$theta, list(kernel))
  b <- effects_of_step(sparse$path, parts, sparse$path$best)
  expect_lt(oracle_violation(parts, b, sparse$path$steps$lambda[sparse$path$best]), 1e-8)
  expect_equal(unname(coef(sparse)), b[match(columns, parts$variants)] / sd)
  # the other effects are those of the response without the support's values
  values <- drop(parts$z %*% b)
  rest <- oracle_reml_at(sparse$theta, case$data$y - values, x, list(kernel))
  expect_equal(unname(coef(sparse, "fixed")), unname(rest$coefficients), tolerance = 1e-6)
  expected <- drop(x %*% rest$coefficients) + rest$genetic[, 1] + values
  expect_equal(unname(predict(sparse)), unname(expected), tolerance = 1e-6)
  expect_equal(c(predict(sparse, case$g, case$data)), predict(sparse), tolerance = 1e-6,
               ignore_attr = TRUE)
  left <- case$data$y - drop(x %*% rest$coefficients) - values
  expect_equal(sparse$variances[["support"]], (sum(values^2) + 2 * sum(values * left)) / 90,
               tolerance = 1e-6)
})

test_that("few variants are selected where none has an effect of its own", {
  set.seed(26)
  selected <- vapply(1:8, function(i) {
    case <- sparse_case(effects = 0)
    sparse <- quiet_sparse(quiet_fit(y ~ 1, case$data, case$g))
    if (nrow(sparse$support) == 0) expect_identical(nrow(sparse$rounds), 1L)
    nrow(sparse$support)
  }, 0L)
  expect_lt(mean(selected > 0), 0.35)
})

test_that("the unit of the response does not matter", {
  set.seed(27)
  case <- sparse_case()
  sparse <- quiet_sparse(quiet_fit(y ~ sex, case$data, case$g))
  case$data$y <- 3 * case$data$y
  larger <- quiet_sparse(quiet_fit(y ~ sex, case$data, case$g))
  expect_identical(larger$support$id, sparse$support$id)
  expect_equal(larger$support$effect, 3 * sparse$support$effect, tolerance = 1e-7)
  expect_equal(larger$variances, 9 * sparse$variances, tolerance = 1e-7)
  expect_equal(larger$path$steps$ebic, sparse$path$steps$ebic, tolerance = 1e-7)
})

test_that("held-out samples are predicted by means of the fit, with turned alleles", {
  set.seed(28)
  case <- sparse_case()
  old <- 1:70
  sparse <- quiet_sparse(quiet_fit(y ~ sex, case$data, case$g[old, ]))
  expect_gt(nrow(sparse$support), 0)
  predicted <- predict(sparse, case$g[-old, ], case$data)
  centred <- sweep(case$calls[-old, sparse$support$id, drop = FALSE], 2,
                   2 * sparse$support$frequency)
  centred[is.na(centred)] <- 0
  values <- drop(centred %*% coef(sparse))
  beside <- predict(sparse$fit, case$g[-old, ], case$data)
  expect_equal(c(predicted), c(beside) + values, ignore_attr = TRUE)
  stem <- tempfile("turned")
  oracle_write_bed(2 - case$calls[-old, ], stem)
  bim <- utils::read.table(paste0(stem, ".bim"), colClasses = "character")
  bim[c("V5", "V6")] <- bim[c("V6", "V5")]
  write_columns(bim, paste0(stem, ".bim"))
  turned <- predict(sparse, open_genotypes(stem), case$data)
  expect_equal(c(turned), c(predicted))
  k <- nrow(sparse$support)
  expect_identical(attr(turned, "support"), c(used = k, turned = k, absent = 0L))
})

test_that("other genotypes may be selected from, beside any kernel", {
  set.seed(29)
  case <- sparse_case()
  families <- kernel_matrix(outer(1:90, 1:90, function(i, j) (i + 2) %/% 3 == (j + 2) %/% 3) + 0)
  fit <- quiet_fit(y ~ 1, case$data, kernels = list(family = families))
  expect_ancify_error(lasso_path(fit), "input", "has no genotypes")
  parts <- oracle_lasso_parts(case$data$y, cbind(rep(1, 90)), case$calls, fit$theta,
                              list(families$matrix))
  path <- lasso_path(fit, case$g)
  b <- effects_of_step(path, parts, 30)
  expect_lt(oracle_violation(parts, b, path$steps$lambda[30]), 1e-8)
  sparse <- quiet_sparse(fit, case$g)
  expect_ancify_error(predict(sparse, case$g), "input", "'family'")
})

test_that("sparse fits have the same bytes with more threads, and less memory", {
  set.seed(30)
  case <- sparse_case()
  fit <- quiet_fit(y ~ sex, case$data, case$g)
  plain <- lasso_path(fit, candidates = 10)
  fit$threads <- 4
  fit$memory <- 6e5
  expect_identical(lasso_path(fit, candidates = 10), plain)
})

test_that("paths that cannot be made are refused", {
  set.seed(31)
  case <- sparse_case()
  fit <- quiet_fit(y ~ 1, case$data, case$g)
  small <- replace(fit, "memory", 6e5)
  expect_refusals(list(
    list(function() lasso_path(case$g), "fit of fit_reml()"),
    list(function() lasso_path(fit, lambda = c(1, 2)), "must fall", "2 comes after 1"),
    list(function() lasso_path(fit, lambda = 0), "above 0"),
    list(function() lasso_path(fit, gamma = 2), "0 to 1"),
    list(function() fit_sparse_reml(fit, lambda = c(3, 3)), "must fall"),
    list(function() lasso_path(fit, candidates = 1e7), "10,000,000 candidates take 800 TB",
         "at most"),
    list(function() lasso_path(small, candidates = 500), "500 candidates take 2 MB", "memory"),
    list(function() lasso_path(fit, case$g[-1, ]), "lacks 1 sample")
  ))
  # Candidates that join need memory too.
  tiny <- replace(fit, "memory", exact_bytes(90, 1) + 4 * 8 * 12^2)
  error <- expect_ancify_error(lasso_path(tiny), "input", "end `lambda` earlier")
  expect_gt(error$bytes, 8 * 12^2)
  path <- lasso_path(fit)
  early <- lasso_path(tiny, lambda = path$steps$lambda[1:5])
  expect_equal(early$steps$rss, path$steps$rss[1:5], tolerance = 1e-8)
  expect_ancify_error(coef(path, 61), "input", "up to 60")
})

test_that("sparse fits print, and draw their path", {
  set.seed(32)
  case <- sparse_case()
  fit <- quiet_fit(y ~ sex, case$data, case$g)
  path <- lasso_path(fit)
  expect_output(print(path), "90 samples, 69 variants tested.*60 falling from.*least EBIC")
  table <- as.data.frame(path)
  expect_equal(table$per_copy[table$step == 20], unname(coef(path, 20)))
  sparse <- quiet_sparse(fit)
  expect_output(print(sparse), "y ~ sex, 90 samples.*of 69.*support.*genotypes.*residual")
  expect_output(print(summary(sparse)), "Support.*joint_se.*Fixed effects.*Rounds")
  expect_identical(as.data.frame(sparse), sparse$support)
  expect_identical(coef(sparse, "components"), sparse$theta)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(path), path)
  expect_identical(plot(sparse, main = "A path"), sparse)
  expect_length(setdiff(names(coef(path)), drawn_texts(plot(path))), 0)
  path$variants$id <- "."
  chosen <- path$effects$variant[path$effects$step == path$best]
  places <- paste0(path$variants$chromosome, ":", path$variants$position)[chosen]
  expect_length(setdiff(places, drawn_texts(plot(path))), 0)
  messages <- capture.output(fit_sparse_reml(fit), type = "message")
  expect_match(messages[1], "Round 1: [0-9]+ variants? with an effect")
})
