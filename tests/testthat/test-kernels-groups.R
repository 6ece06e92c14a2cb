# Groups of samples and repeated records, against dense matrices and lme4.

set.seed(41)
case <- reml_case(60, 50)
records <- case$data[sample(rep(1:60, sample(1:4, 60, TRUE))), ]
records$herd <- sample(letters[1:12], nrow(records), TRUE)
records$year <- stats::rnorm(nrow(records))
records$y <- records$y + stats::rnorm(60)[match(records$id, case$data$id)] +
  stats::rnorm(12)[match(records$herd, letters)] + stats::rnorm(nrow(records))
# The order of a fit: samples as in the genotypes, and their rows as in `data`
sorted <- records[order(match(records$id, case$data$id)), ]
to_individuals <- outer(sorted$id, case$data$id, "==") + 0
same <- function(column) outer(sorted[[column]], sorted[[column]], "==") + 0
of_records <- function(k) to_individuals %*% k %*% t(to_individuals)
dense <- list(of_records(oracle_kernel(case$calls)), same("id"), same("herd"))
x <- stats::model.matrix(~ sex + year, sorted)
kernels <- list(lasting = kernel_groups(~ id), herd = kernel_groups(~ herd))
fit <- quiet_fit(y ~ sex + year, records, case$g, kernels = kernels)

test_that("repeated records have the fit of dense matrices", {
  expected <- oracle_reml(sorted$y, x, dense)
  expect_named(fit$theta, c("genotypes", "lasting", "herd", "residual"))
  expect_true(all(fit$theta > 0.01))
  expect_equal(unname(fit$theta), expected$theta, tolerance = 1e-7)
  expect_equal(fit$log_likelihood, expected$log_likelihood, tolerance = 1e-10)
  expect_equal(unname(fit$information), expected$average, tolerance = 1e-6)
  expect_equal(unname(fit$genetic), expected$genetic, tolerance = 1e-6)
  expect_equal(unname(fit$mean_diagonal), c(vapply(dense, function(k) mean(diag(k)), 0), 1))
  expect_identical(fit$ids, sorted$id)
  expect_identical(nobs(fit), nrow(records))
})

test_that("the stochastic path agrees, and its bytes do not depend on threads", {
  both <- lapply(1:2, function(threads) {
    fit_reml(y ~ sex + year, records, case$g, kernels = kernels, method = "stochastic",
             control = reml_control(mc_tolerance = 1e-3), threads = threads, progress = FALSE,
             verbose = FALSE)
  })
  expect_equal(both[[1]]$theta, fit$theta, tolerance = 1e-3)
  expect_identical(both[[1]]$theta, both[[2]]$theta)
})

test_that("the order of rows does not matter, beyond that of a sample's rows", {
  again <- quiet_fit(y ~ sex + year, records[rev(seq_len(nrow(records))), ], case$g,
                     kernels = kernels)
  expect_equal(again$theta, fit$theta, tolerance = 1e-8)
})

test_that("groups alone have lme4's variances and effects", {
  if (!requireNamespace("lme4", quietly = TRUE)) lacking("the R package lme4")
  plain <- quiet_fit(y ~ sex + year, records, kernels = kernels)
  theirs <- lme4::lmer(y ~ sex + year + (1 | id) + (1 | herd), records)
  variances <- as.data.frame(lme4::VarCorr(theirs))
  at <- match(c("id", "herd", "Residual"), variances$grp)
  expect_equal(unname(plain$theta), variances$vcov[at], tolerance = 1e-4)
  expect_equal(plain$log_likelihood - 0.5 * log(det(crossprod(plain$x))),
               -lme4::REMLcrit(theirs) / 2, tolerance = 1e-8)
  modes <- lme4::ranef(theirs)$herd
  at <- match(sorted$herd, rownames(modes))
  by_herd <- stats::setNames(plain$genetic[, "herd"], NULL)
  rows <- match(paste(plain$ids, plain$y), paste(sorted$id, sorted$y))
  expect_equal(by_herd, modes[at[rows], 1], tolerance = 1e-3)
})

test_that("h2 leaves groups out, and their shares stay in the total", {
  a <- fit$mean_diagonal
  shares <- heritability(fit)
  expect_equal(shares["h2", "share"], unname((a * fit$theta)[1] / sum(a * fit$theta)))
  expect_equal(shares["h2", "se"], shares["genotypes", "se"], tolerance = 1e-12)
  expect_equal(shares["lasting", "share"], unname((a * fit$theta)[2] / sum(a * fit$theta)))
  found <- haseman_elston(y ~ sex, records, case$g, kernels = kernels, blocks = 10, threads = 1,
                          progress = FALSE)
  a <- found$mean_diagonal
  expect_equal(found$h2, unname((a * found$theta)[1] / sum(a * found$theta)))
})

test_that("predictions of the fit's samples have its genetic values", {
  own <- drop(fit$x %*% fit$coefficients) + fit$genetic[, "genotypes"]
  predicted <- predict(fit, case$g, sorted[!duplicated(sorted$id), ], progress = FALSE)
  first <- !duplicated(fit$ids)
  expect_equal(unname(predicted[fit$ids[first]]), unname(own[first]), tolerance = 1e-6)
  expect_equal(unname(predict(fit, type = "genetic")), unname(fit$genetic[, "genotypes"]))
  expect_equal(unname(fitted(fit)), drop(fit$x %*% fit$coefficients) + rowSums(fit$genetic),
               ignore_attr = TRUE)
  expect_identical(dim(ranef.reml_fit(fit)), dim(fit$genetic))
})

test_that("other kernels of samples become those of records", {
  k <- crossprod(matrix(stats::rnorm(60 * 70), 70)) / 70
  dimnames(k) <- list(case$data$id, case$data$id)
  q <- cbind(a = stats::runif(60))
  q <- cbind(q, b = 1 - q[, 1])
  others <- list(
    kernel_matrix(k), kernel_matrix(methods::as(Matrix::Matrix(k, sparse = TRUE), "CsparseMatrix")),
    kernel_products(function(v) k %*% v, diag(k))
  )
  theta <- c(0.5, 0.3, 0.7)
  expected <- oracle_reml_at(theta, sorted$y, x, list(of_records(k), same("id")))
  some <- list(lasting = kernel_groups(~ id))
  for (other in others) {
    # Kernels without names have the order of the samples' first rows.
    data <- if (is.null(other$ids)) sorted else records
    of_k <- quiet_fit(y ~ sex + year, data, kernels = c(list(k = other), some))
    found <- reml_log_likelihood(of_k, theta, progress = FALSE)
    expect_equal(found$log_likelihood, expected$log_likelihood, tolerance = 1e-8)
    expect_equal(unname(found$score), expected$score, tolerance = 1e-6)
  }
  admixture <- kernel_admixture(case$g, q)
  by <- quiet_fit(y ~ sex + year, records, kernels = c(list(by = admixture), some))
  shared <- oracle_kernel(case$calls)
  parts <- lapply(1:2, function(a) of_records(shared * sqrt(outer(q[, a], q[, a]))))
  theta <- c(0.5, 0.2, 0.3, 0.7)
  expect_equal(
    reml_log_likelihood(by, theta, progress = FALSE)$log_likelihood,
    oracle_reml_at(theta, sorted$y, x, c(parts, list(same("id"))))$log_likelihood, tolerance = 1e-8
  )
})

test_that("rows without a group are dropped and counted", {
  some <- records
  some$herd[c(3, 8)] <- NA
  some$year[5] <- NA
  part <- quiet_fit(y ~ sex + year, some, case$g, kernels = kernels)
  expect_identical(part$dropped[["missing group or environment"]], 2L)
  expect_identical(part$dropped[["missing covariate"]], 1L)
  whole <- quiet_fit(y ~ sex + year, records[-c(3, 5, 8), ], case$g, kernels = kernels)
  expect_identical(part$theta, whole$theta)
})

test_that("fits of records can be saved, drawn from and compared", {
  saved <- unserialize(serialize(fit, NULL))
  theta <- c(0.3, 0.4, 0.2, 0.5)
  expect_identical(reml_log_likelihood(saved, theta, progress = FALSE),
                   reml_log_likelihood(fit, theta, progress = FALSE))
  narrow <- quiet_fit(y ~ sex + year, records, case$g, kernels = kernels["lasting"])
  expect_identical(nrow(anova(fit, narrow)), 2L)
  drawn <- fit
  drawn$theta[] <- c(0.7, 1, 0.5, 1e-12)
  draws <- as.matrix(simulate(drawn, 4000, seed = 1)) - drop(fit$x %*% fit$coefficients)
  covariance <- 0.7 * dense[[1]] + dense[[2]] + 0.5 * dense[[3]]
  expect_lt(max(abs(tcrossprod(draws) / 4000 - covariance)),
            6 * max(diag(covariance)) / sqrt(4000))
})

test_that("a checkpoint of records resumes to the same bytes", {
  path <- tempfile()
  run <- function() {
    quiet_fit(y ~ sex, records, case$g, kernels = kernels, method = "stochastic",
              checkpoint = path)
  }
  first <- run()
  expect_identical(run()$theta, first$theta)
})

test_that("records and samples are counted apart", {
  some <- records
  some$y[some$id == some$id[1]] <- NA
  one <- which(some$id == some$id[2])
  said <- capture_messages(
    part <- fit_reml(y ~ sex, some[-one, ], case$g, kernels = kernels, threads = 2,
                     progress = FALSE)
  )
  lacking <- sum(some$id == some$id[1])
  n <- nrow(records) - lacking - length(one)
  without_row <- 60L - length(unique(some$id[-one]))
  expect_identical(part$dropped[c("not in data", "no phenotype")],
                   c("not in data" = without_row, "no phenotype" = lacking))
  counted <- sprintf("%d records of %d samples", n, length(unique(part$ids)))
  expect_match(said[1], sprintf("%s; left out: %d not in data, %d no phenotype", counted,
                                without_row, lacking), fixed = TRUE)
  expect_output(print(part), counted)
  expect_output(print(summary(part)), paste0(counted, "; left out"))
  moments <- haseman_elston(y ~ sex, some[-one, ], case$g, kernels = kernels, progress = FALSE)
  expect_output(print(moments), counted)
})

test_that("a column of groups, environments or ids has one value for each row", {
  data <- case$data
  data$two <- matrix(rep(1:30, 4), 60)
  data$more <- I(as.list(rep(1:30, 2)))
  data$scaled <- scale(seq_len(60))
  data$farm <- rep(1:30, 2)
  refused <- function(kernel = NULL, table = data, ...) {
    function() quiet_fit(y ~ sex, table, case$g, kernels = kernel, ...)
  }
  within <- function(column) kernel_interaction(kernel_grm(case$g), column)
  ids <- data
  ids$id <- cbind(data$id, data$id)
  expect_refusals(list(
    list(refused(kernel_groups(~ two)), "'two'", "one value"),
    list(refused(kernel_groups(~ more)), "'more'", "one value"),
    list(refused(within(~ two)), "'two'", "one value"),
    list(refused(within(~ more)), "'more'", "one value"),
    list(refused(residual = ~ two), "'two'", "one value"),
    list(refused(table = ids), "'id'", "one value"),
    list(refused(table = transform(ids, id = I(as.list(data$id)))), "'id'", "one value")
  ))
  data$number <- as.numeric(data$scaled)
  expect_equal(quiet_fit(y ~ sex, data, case$g, kernels = within(~ scaled))$theta,
               quiet_fit(y ~ sex, data, case$g, kernels = within(~ number))$theta)
})

test_that("groups may be NaN for a missing value, but not infinite", {
  data <- case$data
  data$farm <- as.numeric(rep(1:30, 2))
  data$farm[7] <- NaN
  part <- quiet_fit(y ~ sex, data, case$g, kernels = kernel_groups(~ farm))
  expect_identical(part$dropped[["missing group or environment"]], 1L)
  data$farm[9] <- Inf
  expect_ancify_error(quiet_fit(y ~ sex, data, case$g, kernels = kernel_groups(~ farm)), "input",
                      "'farm'", quoted(data$id[9]), "not finite")
  expect_ancify_error(quiet_fit(y ~ sex, data, case$g, residual = ~ farm), "input", "not finite")
})

test_that("bad groups and records are refused", {
  refused <- function(...) function() quiet_fit(y ~ sex, ...)
  expect_refusals(list(
    list(refused(records, case$g), "twice", "kernel_groups(~ id)"),
    list(refused(records, case$g, kernels = kernel_groups(~ herd)), "twice"),
    list(refused(case$data, case$g, kernels = kernel_groups(~ id)), "'id'", "residual"),
    list(refused(records, case$g, kernels = list(kernel_groups(~ id), kernel_groups(~ farm))),
         "'farm'"),
    list(function() kernel_groups("herd"), "`groups`"),
    list(function() kernel_groups(~ herd + id), "`groups`"),
    list(function() kernel_groups(y ~ herd), "`groups`"),
    list(function() kernel_groups(), "`groups`"),
    list(function() kernel_times(kernel_groups(~ herd), 1:10), "'herd'", "fit_reml()"),
    list(function() scan_variants(fit, progress = FALSE), "one row"),
    list(function() predict(fit, case$g, records, progress = FALSE), "twice", "Predictions"),
    list(function() quiet_fit(cbind(y, year) ~ sex, records, case$g, kernels = kernels), "one row"),
    list(function() {
      records$ill <- records$y > 0
      pcgc(ill ~ sex, records, case$g, kernels = kernels, prevalence = 0.1)
    }, "one row")
  ))
})
