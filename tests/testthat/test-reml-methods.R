# Methods of fits.

set.seed(21)
case <- reml_case()
one <- quiet_fit(y ~ sex, case$data, case$g)
several <- quiet_fit(y ~ sex, case$data, case$g, components_by_chromosome(case$g))
bounded <- quiet_fit(age ~ sex, case$data, case$g, components_by_chromosome(case$g))

# The gradient of f at theta, by differences.
slopes <- function(f, theta) {
  vapply(seq_along(theta), function(i) {
    step <- 1e-6 * (seq_along(theta) == i)
    (f(theta + step) - f(theta - step)) / 2e-6
  }, 0)
}

test_that("coef() and vcov() give fixed effects, or variances", {
  expect_identical(coef(one), one$coefficients)
  expect_named(coef(one), c("(Intercept)", "sexm"))
  expect_identical(coef(one, "components"), one$theta)
  expect_identical(vcov(one), one$coefficients_covariance)
  expect_equal(vcov(several, "components"), solve(several$information))
  # Variances at their bound are fixed.
  free <- !bounded$at_bound
  expect_true(any(bounded$at_bound))
  covariance <- vcov(bounded, "components")
  expect_equal(covariance[free, free, drop = FALSE],
               solve(bounded$information[free, free, drop = FALSE]))
  expect_equal(sum(covariance != 0), sum(free)^2)
  expect_ancify_error(coef(one, "both"), "input", "`which`")
  expect_ancify_error(vcov(one, "fixed", 1), "input")
})

test_that("logLik() serves AIC() and BIC()", {
  expect_identical(as.numeric(logLik(one)), one$log_likelihood)
  expect_equal(AIC(several), -2 * several$log_likelihood + 2 * 7)
  expect_equal(BIC(several), -2 * several$log_likelihood + log(80) * 7)
  expect_identical(nobs(one), 80L)
})

test_that("fitted values and residuals add up", {
  expect_equal(unname(fitted(several) + residuals(several)), several$y)
  expect_identical(predict(several), fitted(several))
  marginal <- residuals(several, "marginal")
  expect_equal(unname(marginal), several$y - drop(several$x %*% several$coefficients))
  # The residuals of the model are theta_e P y.
  expect_equal(unname(residuals(several)),
               several$theta[["residual"]] * several$residual_projection, tolerance = 1e-6)
  expect_named(fitted(several), case$data$id)
})

test_that("nlme's functions know fits", {
  skip_if_not_installed("nlme")
  expect_identical(nlme::fixef(one), coef(one))
  expect_identical(nlme::VarCorr(one)[, "Variance"], one$theta)
  expect_equal(rowSums(nlme::ranef(several)) + drop(several$x %*% coef(several)),
               fitted(several), ignore_attr = TRUE)
  expect_identical(dimnames(nlme::ranef(several)), list(case$data$id, c("1", "2", "3", "4")))
})

test_that("update() fits again with other arguments", {
  data <- case$data
  g <- case$g
  fit <- fit_reml(y ~ sex, data, g, threads = 1, verbose = FALSE, progress = FALSE)
  with_age <- update(fit, . ~ . + age)
  expect_named(coef(with_age), c("(Intercept)", "sexm", "age"))
  expect_equal(with_age$theta, quiet_fit(y ~ sex + age, data, g)$theta)
})

test_that("errors of shares are those of the delta method", {
  h <- heritability(several)
  a <- several$mean_diagonal
  covariance <- theta_covariance(several)
  se_of <- function(f) {
    slope <- slopes(f, several$theta)
    sqrt(drop(slope %*% covariance %*% slope))
  }
  expect_equal(h["h2", "se"], se_of(function(t) 1 - t[5] * a[5] / sum(t * a)), tolerance = 1e-6)
  expect_equal(h["3", "se"], se_of(function(t) t[3] * a[3] / sum(t * a)), tolerance = 1e-6)
  m <- several$used_variants / sum(several$used_variants)
  expect_equal(h["3", "enrichment"], unname(
    several$theta[3] * a[3] / sum(several$theta[1:4] * a[1:4]) / m[3]
  ))
  expect_equal(h["3", "enrichment_se"],
               se_of(function(t) t[3] * a[3] / sum(t[1:4] * a[1:4]) / m[3]), tolerance = 1e-6)
  expect_identical(h$mc_se, rep(0, 5))
  table <- as.data.frame(several)
  expect_equal(sum(table$share), 1)
  expect_equal(table$share_se[5], h["h2", "se"])
  expect_equal(table$z, table$theta / table$se)
})

test_that("random errors come from the covariance of the score", {
  random <- several
  set.seed(1)
  random$mc_score <- crossprod(matrix(rnorm(25), 5)) / 100
  dimnames(random$mc_score) <- dimnames(random$information)
  random$mc_log_likelihood <- 0.25
  inverse <- solve(random$information)
  expect_equal(theta_covariance(random, "randomisation"), inverse %*% random$mc_score %*% inverse)
  expect_equal(as.data.frame(random)$mc_se,
               sqrt(unname(diag(inverse %*% random$mc_score %*% inverse))))
  expect_output(print(summary(random)), "MC SE")
  expect_output(print(random), "MC SE")
  random$at_bound[["2"]] <- TRUE
  expect_identical(which(is.na(as.data.frame(random)$mc_se)), 2L)
  # A share has no error if its only variance is at a bound.
  expect_identical(which(is.na(heritability(random)$mc_se)), 3L)
})

test_that("nothing genetic is a ratio of 0, p of 1 and an h2 without error", {
  families <- rep(1:25, each = 4)
  kernel <- kernel_matrix(outer(families, families, "==") + 0)
  for (seed in c(6, 7, 11)) {
    set.seed(seed)
    fit <- quiet_fit(y ~ 1, data.frame(id = 1:100, y = rnorm(100)), kernels = list(a = kernel))
    if (!fit$at_bound[["a"]]) next
    expect_identical(genetic_lrt(fit)[["statistic"]], 0)
    expect_identical(anova(fit)[["Pr(>LRT)"]][2], 1)
    expect_identical(heritability(fit)["h2", "se"], NA_real_)
    expect_identical(unname(confint(fit)["h2", ]), c(NA_real_, NA_real_))
    expect_output(print(fit), "h2 +0 \\(at a bound\\)")
  }
  set.seed(6)
  expect_identical(runif(1), {
    set.seed(6)
    simulate(fit, seed = 1)
    runif(1)
  })
})

test_that("profiles of a response of genotypes alone have ends, and higher likelihoods are told", {
  set.seed(3)
  z <- scale(matrix(rbinom(320, 2, 0.4), 40))
  y <- drop(z %*% rnorm(8))
  halves <- lapply(list(a = 1:4, b = 5:8), function(k) kernel_matrix(tcrossprod(z[, k]) / 4))
  fit <- suppressWarnings(quiet_fit(y ~ 1, data.frame(id = 1:40, y = y), kernels = halves))
  expect_true(fit$at_bound[["residual"]])
  expect_false(anyNA(suppressWarnings(confint(fit, method = "profile"))))
  several$log_likelihood <- several$log_likelihood - 1
  expect_warning(confint(several, "1", method = "profile"), class = "ancify_fit_warning")
})

test_that("a set's variance with overlap sums that of its variants", {
  sets <- list(a = 1:30, b = 21:60, c = c(2, 25, 40))
  weighted <- weights <- vapply(sets, function(set) as.numeric(1:60 %in% set), numeric(60))
  weighted[] <- weights * runif(180, 0.5, 2)
  for (w in list(weights, weighted)) {
    fit <- quiet_fit(y ~ sex, case$data, case$g, w, overlap = TRUE)
    columns <- oracle_columns(case$calls)
    used <- which(columns$used)
    scale <- colSums(w[used, ])
    each <- drop(w[used, ] %*% (fit$theta[1:3] / scale)) * colSums(columns$z^2) / 80
    variance <- vapply(sets, function(set) sum(each[used %in% set]), 0)
    whole <- sum(fit$theta * fit$mean_diagonal)
    h <- heritability(fit)
    expect_equal(setNames(h$share[-1], names(sets)), variance / whole, tolerance = 1e-10)
    expect_equal(h["h2", "share"], sum(each) / whole, tolerance = 1e-10)
    expect_identical(h$variants, c(59, 29, 40, 3))
    expect_equal(
      h$enrichment[-1], unname(variance / sum(each) / (c(29, 40, 3) / 59)), tolerance = 1e-10
    )
  }
})

test_that("draws of a model have its covariance", {
  calls <- case$calls[1:6, ]
  file <- oracle_write_bed(calls)
  pairs <- outer(rep(1:3, each = 2), rep(1:3, each = 2), "==") + 0
  fit <- suppressWarnings(quiet_fit(
    y ~ 1, case$data, open_genotypes(file), list(a = 1:30, b = 31:60),
    list(pair = kernel_matrix(pairs))
  ))
  fit$theta[] <- c(0.7, 0.2, 0.4, 0.3)
  fit$coefficients[] <- 2
  drawn <- as.matrix(simulate(fit, 20000, seed = 1))
  expected <- 0.7 * oracle_kernel(calls[, 1:30]) + 0.2 * oracle_kernel(calls[, 31:60]) +
    0.4 * pairs + 0.3 * diag(6)
  # A covariance of 20,000 draws has a standard error below 2 / 140 of the variances.
  expect_lt(max(abs(cov(t(drawn)) - expected)), 4 * 2.5 / sqrt(20000))
  expect_lt(max(abs(rowMeans(drawn) - 2)), 4 * sqrt(2.5 / 20000))
  expect_identical(simulate(fit, 2, seed = 5), simulate(fit, 2, seed = 5))
  expect_identical(dimnames(drawn)[[1]], sprintf("s%d", 1:6))
  fit$theta[1] <- -0.1
  expect_ancify_error(simulate(fit), "input", "'a'")
})

test_that("a summary shows samples, variants, components and effects", {
  shown <- capture.output(print(summary(one)))
  for (text in c(
    "y ~ sex, 80 samples, exact path", "59 vary, 1 do not", "converged after",
    "without genetic components", "likelihood ratio", "genotypes", "residual", "h2", "sexm", "p = "
  )) {
    expect_match(paste(shown, collapse = "\n"), text, fixed = TRUE)
  }
  expect_match(shown, sprintf("genotypes +59 %s ", format(one$theta[[1]], digits = 9)),
               all = FALSE)
  shown <- capture.output(print(summary(several), digits = 3))
  expect_match(paste(shown, collapse = "\n"), "p at most")
  expect_match(shown, sprintf("^ +h2 +%s", format(heritability(several)$share[1], digits = 3)),
               all = FALSE)
  expect_true(all(nchar(shown) <= 80))
})

test_that("fits are drawn", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  expect_identical(plot(one), one)
  for (type in c("components", "trace", "profile")) plot(several, type, main = "Title")
  grDevices::dev.off()
  expect_gt(file.size(file), 5000)
  expect_ancify_error(plot(one, "line"), "input", "`type`")
})

test_that("a picture of many components names each", {
  shares <- data.frame(estimate = 1:40 / 100, se = 0.1, mc_se = 0.05,
                       row.names = sprintf("chromosome %d", 1:40))
  texts <- drawn_texts(draw_shares(shares, TRUE, 1), height = 4)
  expect_identical(intersect(rownames(shares), texts), rownames(shares))
})

test_that("p-values know the bound", {
  chi <- function(x, df) pchisq(x, df, lower.tail = FALSE)
  expect_identical(lrt_p_value(0, 1), 1)
  expect_equal(lrt_p_value(2.7, 1), chi(2.7, 1) / 2)
  expect_equal(lrt_p_value(2.7, 3), (chi(2.7, 2) + chi(2.7, 3)) / 2)
  expect_equal(lrt_p_value(2.7, 1, 2), (chi(2.7, 2) + chi(2.7, 3)) / 2)
  expect_equal(lrt_p_value(2.7, 0, 2), chi(2.7, 2))
  expect_equal(genetic_lrt(one)[["statistic"]],
               2 * (one$log_likelihood - one$log_likelihood_null))
})

test_that("a fixed effect with the name of a component has its own interval", {
  set.seed(19)
  litter <- rep(1:20, each = 4)
  data <- data.frame(id = 1:80, litter = stats::rnorm(80))
  data$y <- stats::rnorm(20)[litter] + data$litter + stats::rnorm(80)
  kernel <- kernel_matrix(outer(litter, litter, "==") + 0)
  fit <- function(name) {
    quiet_fit(y ~ litter, data, kernels = stats::setNames(list(kernel), name))
  }
  same <- confint(fit("litter"))
  other <- confint(fit("family"))
  expect_equal(unname(same), unname(other))
  expect_identical(rownames(same), c("litter", "residual", "h2", "(Intercept)", "litter"))
  expect_identical(nrow(confint(fit("litter"), "litter")), 2L)
  expect_identical(rownames(confint(fit("litter"), c("h2", "residual"))), c("h2", "residual"))
  expect_identical(rownames(confint(fit("litter"), "litter", method = "profile")), "litter")
})
