# REML of several traits, against plain R (helper-reml_traits.R) and GEMMA.

traits_fit <- function(case, kernels = 1, formula = cbind(a, b) ~ age, ...) {
  quiet_fit(formula, case$data, kernels = case$given[kernels], ...)
}

expect_oracle_at <- function(fit, case, kernels) {
  at <- oracle_traits_at(unname(fit$covariances), case$y, case$x, case$kernels[kernels])
  expect_true(fit$converged)
  expect_equal(fit$log_likelihood, at$log_likelihood, tolerance = 1e-10)
  expect_equal(unname(fit$score), at$score, tolerance = 1e-7)
  expect_equal(unname(fit$information), at$average, tolerance = 1e-8)
  expect_equal(unname(coef(fit)), at$coefficients, tolerance = 1e-8)
  expect_equal(unname(vcov(fit)), unname(at$coefficients_covariance), tolerance = 1e-8)
  expect_equal(as.vector(fit$genetic), as.vector(unlist(at$genetic)), tolerance = 1e-8)
}

# BFGS stops at about 1e-9 of the likelihood.
expect_highest <- function(fit, case, kernels) {
  theirs <- oracle_traits(case$y, case$x, case$kernels[kernels])
  expect_gt(fit$log_likelihood, theirs$log_likelihood - 1e-9)
  expect_lt(fit$log_likelihood, theirs$log_likelihood + 1e-6)
  for (g in seq_along(fit$covariances)) {
    expect_equal(unname(fit$covariances[[g]]), theirs$covariances[[g]], tolerance = 1e-3)
  }
}

test_that("traits of all samples have the equations and the maximum of plain R", {
  set.seed(31)
  case <- traits_case()
  fit <- traits_fit(case)
  expect_oracle_at(fit, case, 1)
  expect_lt(max(abs(fit$score)), 1e-6)
  expect_highest(fit, case, 1)
})

test_that("expected information is that of plain R", {
  set.seed(31)
  for (missing in c(0, 0.15)) {
    case <- traits_case(missing = missing)
    fit <- traits_fit(case, control = reml_control(information = "expected"))
    at <- oracle_traits_at(unname(fit$covariances), case$y, case$x, case$kernels[1])
    expect_equal(unname(fit$information), at$expected, tolerance = 1e-8)
  }
})

test_that("traits with missing values, one kernel or two, are those of plain R", {
  set.seed(32)
  case <- traits_case(missing = 0.15)
  for (kernels in list(1, 1:2)) {
    fit <- traits_fit(case, kernels)
    expect_oracle_at(fit, case, kernels)
    expect_highest(fit, case, kernels)
  }
})

test_that("three traits are those of plain R", {
  set.seed(33)
  case <- traits_case(n = 40, traits = 3, missing = 0.1)
  fit <- traits_fit(case, formula = cbind(a, b, c) ~ age)
  expect_oracle_at(fit, case, 1)
  expect_equal(dim(fit$genetic), c(40, 3, 1))
  expect_equal(nrow(genetic_correlation(fit, tests = FALSE)), 6)
})

test_that("a correlation at its bound has a singular matrix, and the highest likelihood", {
  set.seed(5)
  traits_case(rg = 1)
  case <- traits_case(rg = 1)
  fit <- traits_fit(case)
  expect_highest(fit, case, 1)
  table <- as.data.frame(fit)
  expect_true(all(table$singular == (table$component == "1")))
  at <- table$trait_1 != table$trait_2
  expect_equal(table$correlation[at][1], 1, tolerance = 1e-9)
  expect_true(is.na(table$correlation_se[at][1]))
  expect_true(all(is.finite(table$se)))
  tests <- genetic_correlation(fit)
  expect_equal(tests$lrt_1[1], 0, tolerance = 1e-6)
  expect_equal(tests$p_1[1], 1)
})

test_that("tests of correlations are likelihood ratios of plain R", {
  set.seed(36)
  case <- traits_case(rg = 0.2, missing = 0.1)
  fit <- traits_fit(case)
  tests <- genetic_correlation(fit)
  sign <- sign(tests$rg[1])
  ratio <- function(correlation) {
    theirs <- oracle_traits(case$y, case$x, case$kernels[1], correlation)
    2 * (fit$log_likelihood - theirs$log_likelihood)
  }
  expect_equal(c(tests$lrt_0[1], tests$lrt_1[1]), c(ratio(0), ratio(sign)), tolerance = 1e-5)
  expect_equal(tests$p_0[1], stats::pchisq(tests$lrt_0[1], 1, lower.tail = FALSE))
  expect_equal(tests$p_1[1], stats::pchisq(tests$lrt_1[1], 1, lower.tail = FALSE) / 2)
  expect_true(is.na(tests$lrt_1[2]))
})

test_that("errors of correlations and heritabilities are those of differences", {
  set.seed(37)
  case <- traits_case(n = 120, missing = 0.1)
  # Each kernel has a trait's genetic values.
  for (k in 1:2) {
    root <- t(chol(case$kernels[[k]] + 1e-8 * diag(120)))
    case$data[c("a", "b")] <- case$data[c("a", "b")] + 3 * root %*% matrix(stats::rnorm(240), 120)
  }
  fit <- traits_fit(case, 1:2)
  expect_false(any(as.data.frame(fit)$singular))
  covariance <- solve(fit$information)
  error_of <- function(value_at) {
    slope <- vapply(seq_along(fit$theta), function(i) {
      step <- 1e-5 * abs(fit$theta[i])
      moved <- function(by) {
        at <- fit
        at$theta[i] <- at$theta[i] + by
        at$covariances <- ancify:::covariance_matrices(at)
        value_at(at)
      }
      (moved(step) - moved(-step)) / (2 * step)
    }, 0)
    sqrt(drop(slope %*% covariance %*% slope))
  }
  table <- as.data.frame(fit)
  pairs <- table[table$trait_1 != table$trait_2, ]
  for (g in 1:3) {
    expect_equal(pairs$correlation_se[g], error_of(function(at) {
      stats::cov2cor(at$covariances[[g]])[1, 2]
    }), tolerance = 1e-6)
  }
  of_b <- function(at) {
    parts <- vapply(at$covariances, function(c) c["b", "b"], 0) * c(at$mean_diagonal, 1)
    sum(parts[1:2]) / sum(parts)
  }
  shares <- heritability(fit)
  row <- shares$trait == "b" & shares$component == "h2"
  expect_equal(c(shares$share[row], shares$se[row]), c(of_b(fit), error_of(of_b)), tolerance = 1e-6)
})

test_that("sums of traits have the sums' covariances, in any units", {
  set.seed(38)
  case <- traits_case()
  fit <- traits_fit(case)
  turned <- case$data
  turned$a <- 1e5 * case$data$a
  turned$b <- 1e-4 * (case$data$a - 2 * case$data$b)
  other <- quiet_fit(cbind(a, b) ~ age, turned, kernels = case$given[1])
  by <- rbind(c(1e5, 0), 1e-4 * c(1, -2))
  for (g in 1:2) {
    expect_equal(unname(other$covariances[[g]]),
                 unname(by %*% fit$covariances[[g]] %*% t(by)), tolerance = 1e-6)
  }
  expect_equal(other$log_likelihood,
               fit$log_likelihood - (60 - 2) * as.numeric(determinant(by)$modulus),
               tolerance = 1e-8)
})

test_that("traits without a common sample have a genetic correlation, and no residual one", {
  set.seed(39)
  case <- traits_case(n = 80, rg = 0.8)
  case$y[1:40, "a"] <- case$y[41:80, "b"] <- NA
  case$data[c("a", "b")] <- case$y
  expect_message(
    fit <- fit_reml(cbind(a, b) ~ age, case$data, kernels = case$given[1], threads = 1),
    "No sample has both a and b"
  )
  at <- oracle_traits_at(unname(fit$covariances), case$y, case$x, case$kernels[1])
  expect_equal(fit$log_likelihood, at$log_likelihood, tolerance = 1e-10)
  expect_equal(unname(fit$score), at$score, tolerance = 1e-6)
  tests <- genetic_correlation(fit)
  expect_true(is.na(tests$rg[2]))
  expect_true(all(is.finite(unlist(tests[1, c("rg", "lrt_0", "p_0", "lrt_1", "p_1")]))))
})

test_that("results do not depend on threads, and a saved fit is tested elsewhere", {
  set.seed(40)
  case <- reml_case(n = 60)
  case$data$z <- case$data$y + stats::rnorm(60)
  case$data$z[1:4] <- NA
  fit <- quiet_fit(cbind(y, z) ~ sex, case$data, case$g)
  both <- fit_reml(cbind(y, z) ~ sex, case$data, case$g, threads = 2, verbose = FALSE,
                   progress = FALSE)
  expect_identical(both$theta, fit$theta)
  saveRDS(fit, path <- tempfile())
  expect_equal(genetic_correlation(readRDS(path)), genetic_correlation(fit))
  expect_equal(fit$dropped[["no phenotype"]], 0)
})

test_that("methods of fits of several traits agree with its fields", {
  set.seed(41)
  case <- traits_case(missing = 0.1)
  fit <- traits_fit(case)
  expect_equal(unname(fitted(fit) + residuals(fit)), unname(case$y))
  expect_equal(unname(residuals(fit, "marginal")), unname(case$y - case$x %*% coef(fit)))
  expect_equal(nobs(fit), sum(!is.na(case$y)))
  expect_equal(attr(logLik(fit), "df"), 6 + 4)
  expect_equal(unname(coef(fit, "components")), as.data.frame(fit)$covariance)
  expect_equal(unname(sqrt(diag(vcov(fit, "components")))), as.data.frame(fit)$se)
  expect_output(print(fit), "residual: a, b *correlation")
  expect_output(print(summary(fit)), "Covariances.*Correlations.*Heritability.*Fixed effects")
  expect_s3_class(update(fit, . ~ 1, kernels = case$given[1], data = case$data, verbose = FALSE),
                  "reml_traits_fit")
})

test_that("plot() draws the correlations of each component", {
  skip_if_not_installed("ggplot2")
  set.seed(42)
  case <- traits_case(traits = 3, n = 40)
  fit <- traits_fit(case, formula = cbind(a, b, c) ~ 1)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  picture <- plot(fit, main = "Three traits")
  expect_s3_class(picture, "ggplot")
  expect_equal(nrow(picture$data), 12)
  expect_equal(sort(unique(picture$data$correlation)),
               sort(genetic_correlation(fit, tests = FALSE)$rg))
})

test_that("traits that cannot be fitted are refused", {
  set.seed(43)
  case <- traits_case(missing = 0.1)
  data <- case$data
  data$one <- 1
  data$none <- NA_real_
  data$wrong <- replace(data$a, 2, Inf)
  data$half <- ifelse(is.na(data$b), 1, 0)
  equal <- list(a = case$given[[1]], b = case$given[[1]])
  fit_of <- function(...) {
    function() quiet_fit(..., data = data, kernels = case$given[1])
  }
  expect_refusals(list(
    list(fit_of(cbind(a, b) ~ 1, checkpoint = tempfile()), "checkpoint"),
    list(fit_of(cbind(a, b) ~ 1, control = reml_control(lower = -Inf)), "lower"),
    list(fit_of(cbind(a, b) ~ 1, method = "exact", memory = 1e5), "memory", "stochastic"),
    list(fit_of(cbind(a, one) ~ 1), "'one'", "does not vary"),
    list(fit_of(cbind(a, none) ~ 1), "'none'", "no value"),
    list(fit_of(cbind(a, b = a) ~ 1), "'a'", "equal"),
    list(fit_of(cbind(a, a) ~ 1), "'a'", "twice"),
    list(fit_of(cbind(a, wrong) ~ 1), "not finite"),
    list(fit_of(cbind(a, b) ~ half), "'b'", "'half'"),
    list(function() quiet_fit(cbind(a, b) ~ 1, data, kernels = equal), "'b'", "leave it out"),
    list(function() genetic_correlation(quiet_fit(a ~ 1, data, kernels = case$given[1])),
         "several traits"),
    list(function() haseman_elston(cbind(a, b) ~ 1, data, kernels = case$given[1]), "one column")
  ))
  negative <- case$kernels[[1]] - 2 * diag(60)
  expect_refusals(list(list(function() {
    quiet_fit(cbind(a, b) ~ 1, data, kernels = list(k = kernel_matrix(negative)))
  }, "negative eigenvalue")))
})

long_test_that("covariances of two traits of mice, and their errors, are GEMMA's", {
  program("gemma")
  stem <- mouse_files()
  mice <- oracle_read_bed(stem)
  folder <- new_folder()
  run_tool("gemma", c("-bfile", stem, "-gk", "1", "-n", "1", "-outdir", folder, "-o", "k"))
  writeLines("rs3683945", variant <- tempfile())
  run_tool("gemma", c(
    "-bfile", stem, "-k", file.path(folder, "k.cXX.txt"), "-lmm", "1", "-n", "1", "6", "-snps",
    variant, "-outdir", folder, "-o", "two"
  ))
  log <- readLines(file.path(folder, "two.log.txt"))
  triangle_after <- function(title) {
    at <- match(title, trimws(log))
    as.numeric(unlist(strsplit(trimws(log[at + 1:2]), "[[:space:]]+")))
  }
  data <- data.frame(id = mice$samples$V2, a = mouse_trait(mice, 1), b = mouse_trait(mice, 6))
  rows <- which(!is.na(data$a) & !is.na(data$b))
  k <- read_square(file.path(folder, "k.cXX.txt"))[rows, rows]
  k <- sweep(k, 2, colMeans(k))
  k <- sweep(k, 1, rowMeans(k))
  fit_by <- function(information) {
    quiet_fit(cbind(a, b) ~ 1, data[rows, ], kernels = list(k = kernel_matrix((k + t(k)) / 2)),
              control = reml_control(information = information))
  }
  fit <- fit_by("average")
  theirs <- c(triangle_after("## REMLE estimate for Vg in the null model:"),
              triangle_after("## REMLE estimate for Ve in the null model:"))
  # GEMMA prints six digits.
  expect_equal(unname(fit$theta), theirs, tolerance = 1e-5)
  # Its errors are those of the observed information.
  observed <- 2 * fit$information - fit_by("expected")$information
  errors <- c(triangle_after("## se(Vg):"), triangle_after("## se(Ve):"))
  expect_equal(unname(sqrt(diag(solve(observed)))), errors, tolerance = 1e-5)
  expect_equal(fit$log_likelihood,
               numbers_after(log, "## REMLE log-likelihood in the null model ="), tolerance = 1e-5)
})
