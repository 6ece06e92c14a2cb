# The six parameters of Gutenkunst and others (2009) for Yoruba and CEU.
out_of_africa_2d <- demography(function(nu1, nu2_b, nu2_f, m, time_pre, time) {
  list(
    event_equilibrium(), event_epoch(time_pre, nu1), event_split(1),
    event_epoch(time, list(nu1, size_history(nu2_b, nu2_f)), m)
  )
})

long_test_that("Yoruba and CEU have the maximum that dadi finds", {
  data <- read_sfs(test_data("sfs", "YRI_CEU.fs"))
  # From dadi's documentation, with a log-likelihood of -1066.346 and a theta of 2749.
  known <- c(nu1 = 1.881, nu2_b = 0.0710, nu2_f = 1.845, m = 0.911, time_pre = 0.355, time = 0.111)
  there <- expected_sfs(out_of_africa_2d, known, c(20, 20), c(40, 50, 60), time = "dadi")
  expect_lt(abs(sfs_log_likelihood(there, data) + 1066.346), 0.01)
  expect_lt(abs(optimal_theta(there, data) - 2749), 1)

  start <- c(nu1 = 2, nu2_b = 0.1, nu2_f = 2, m = 1, time_pre = 0.2, time = 0.2)
  set.seed(921)
  # On the default grids, with dadi's time steps
  fit <- fit_demography(out_of_africa_2d, data, start, starts = 5, time = "dadi", progress = FALSE)
  expect_true(fit$converged)
  expect_lt(abs(as.numeric(logLik(fit)) + 1066.26), 0.01)
  expect_lt(max(abs(coef(fit) / known - 1)), 0.06)
  expect_equal(attr(logLik(fit), "df"), 7)
  expect_equal(stats::AIC(fit), 14 - 2 * fit$log_likelihood)
  # No parameters nearby are more likely.
  for (k in names(known)) {
    for (factor in c(0.98, 1.02)) {
      near <- replace(coef(fit), k, coef(fit)[[k]] * factor)
      near <- expected_sfs(out_of_africa_2d, near, c(20, 20), c(40, 50, 60), time = "dadi")
      expect_lt(sfs_log_likelihood(near, data), fit$log_likelihood)
    }
  }
  # Default time steps are the nearer ones to steps of length 0; default grids cost 0.05.
  value <- function(pts, time) {
    sfs_log_likelihood(expected_sfs(out_of_africa_2d, coef(fit), c(20, 20), pts, time), data)
  }
  limit <- value(c(80, 100, 120), "accurate")
  expect_lt(abs(value(c(40, 50, 60), "accurate") - limit), 0.06)
  expect_gt(abs(value(c(40, 50, 60), "dadi") - limit), 0.1)
})

# A model's expected spectrum.
true_spectrum <- function(model, params, sizes, theta) {
  expected_sfs(model, params, sizes, c(20, 25, 30)) * theta
}

quick_fit <- function(...) {
  fit_demography(..., pts = c(20, 25, 30), starts = 3, progress = FALSE, threads = 1)
}

long_test_that("a fit to a model's own spectrum recovers its parameters", {
  set.seed(922)
  truth <- c(nu_b = 0.3, nu_f = 2, time = 0.3)
  model <- demography_model("bottlegrowth")
  data <- true_spectrum(model, truth, c(YRI = 12), 5000)
  for (folded in c(FALSE, TRUE)) {
    start <- c(time = 0.2, nu_b = 0.5, nu_f = 1)
    fit <- quick_fit(model, if (folded) fold(data) else data, start)
    expect_true(fit$converged)
    expect_equal(coef(fit), truth, tolerance = 0.02)
    expect_equal(fit$theta, 5000, tolerance = 0.02)
  }
  fixed <- quick_fit(model, data, c(nu_b = 0.5, nu_f = 1), fixed = c(time = 0.3))
  expect_equal(coef(fixed), truth[1:2], tolerance = 0.01)
  expect_equal(fixed$params, replace(truth, 1:2, coef(fixed)))
  expect_equal(attr(logLik(fixed), "df"), 3)

  wrong <- quick_fit(model, misidentified_sfs(data, 0.05), truth, misidentified = TRUE)
  expect_equal(wrong$params, c(truth, misidentified = 0.05), tolerance = 0.02)
  expect_equal(plain_array(predict(wrong)), plain_array(predict(wrong, c(YRI = 12))))
  expect_equal(dim(predict(wrong, 40)), 41)

  known <- quick_fit(demography(function(nu, theta) list(event_equilibrium(nu, theta0 = theta))),
                     true_spectrum(demography_model("snm"), NULL, 8, 300), c(theta = 100),
                     fixed = c(nu = 1), multinomial = FALSE)
  expect_equal(coef(known), c(theta = 300), tolerance = 1e-4)
  expect_true(is.na(known$theta))
  expect_equal(attr(logLik(known), "df"), 1)
})

test_that("searches by workers give the same fit", {
  param <- cluster_params("multicore")[[1]]
  model <- demography_model("two_epoch")
  data <- true_spectrum(model, c(nu = 3, time = 0.1), 8, 2000)
  set.seed(923)
  here <- quick_fit(model, data, c(nu = 1.5, time = 0.3))
  set.seed(923)
  there <- quick_fit(model, data, c(nu = 1.5, time = 0.3), BPPARAM = param)
  expect_equal(coef(there), coef(here))
  expect_identical(there$searches, here$searches)
})

long_test_that("arguments of a `sampling` function are fitted too", {
  inbred <- function(inbreeding) sampling_inbred(inbreeding)
  model <- demography_model("two_epoch")
  truth <- c(nu = 3, time = 0.1, inbreeding = 0.4)
  data <- expected_sfs(model, truth, 8, c(20, 25, 30), sampling = inbred) * 2000
  expect_identical(
    data,
    expected_sfs(model, truth[1:2], 8, c(20, 25, 30), sampling = sampling_inbred(0.4)) * 2000
  )
  expect_identical(
    expected_sfs(model, unname(truth), 8, c(20, 25, 30), sampling = inbred) * 2000, data
  )
  set.seed(924)
  fit <- quick_fit(model, data, c(nu = 2, time = 0.2, inbreeding = 0.2), upper = c(inbreeding = 1),
                   sampling = inbred)
  expect_equal(coef(fit), truth, tolerance = 1e-3)
  expect_equal(predict(fit, 4), fit$theta * expected_sfs(
    model, coef(fit)[1:2], 4, fit$surface$settings$pts,
    sampling = sampling_inbred(coef(fit)[["inbreeding"]])
  ))
  expect_named(diag(vcov(fit)), c(names(truth), "theta"))
  known <- quick_fit(model, data, c(nu = 2, time = 0.2), fixed = c(inbreeding = 0.4),
                     sampling = inbred)
  expect_equal(known$params[c("nu", "time", "inbreeding")], truth, tolerance = 1e-3)
  # A function made anew or read from a file is the same model; other values are another.
  again <- eval(parse(keep.source = TRUE, text = "function(ploidy) {
    function(inbreeding) {
      sampling_inbred(inbreeding, ploidy)
    }
  }"))
  full <- quick_fit(model, data, truth, upper = c(inbreeding = 1), sampling = again(2))
  null_of <- function(ploidy) {
    quick_fit(model, data, truth[1:2], fixed = truth[3], sampling = again(ploidy))
  }
  bootstraps <- stats::simulate(data, 5, seed = 925)
  saved <- tempfile(fileext = ".rds")
  saveRDS(null_of(2), saved)
  expect_s3_class(anova(full, readRDS(saved), bootstraps), "anova")
  other <- expect_warning(null_of(4), "nu is at the default bound", class = "ancify_fit_warning")
  expect_ancify_error(anova(full, other, bootstraps), "input", "`null`")
  # The model may have no parameters. selected_spectra() takes parameters of both too.
  snm <- demography_model("snm")
  of_snm <- expected_sfs(snm, 0.3, 8, c(20, 25, 30), sampling = inbred) * 2000
  fit <- quick_fit(snm, of_snm, c(inbreeding = 0.2), upper = c(inbreeding = 1), sampling = inbred)
  expect_equal(coef(fit), c(inbreeding = 0.3), tolerance = 1e-3)
  selected <- selected_spectra(model, truth, 4, c(10, 12), c(-1, -2), sampling = inbred)
  expect_identical(selected, selected_spectra(
    model, truth[1:2], 4, c(10, 12), c(-1, -2), sampling = sampling_inbred(0.4)
  ))
  # Near the edge of its range.
  data <- expected_sfs(model, replace(truth, 3, 0.997), 8, c(20, 25, 30), sampling = inbred) * 2000
  fit <- quick_fit(model, data, replace(truth, 3, 0.997), sampling = inbred)
  expect_ancify_error(vcov(fit), "input", "`upper`")
})

long_test_that("users' functions work in new R processes", {
  param <- cluster_params("snow")[[1]]
  model <- eval(quote(demography(function(nu, time) {
    list(event_equilibrium(), event_epoch(time, nu))
  })), globalenv())
  inbred <- eval(quote(function(inbreeding) sampling_inbred(inbreeding)), globalenv())
  truth <- c(nu = 3, time = 0.1, inbreeding = 0.4)
  data <- expected_sfs(model, truth, 8, c(20, 25, 30), sampling = inbred) * 2000
  fit <- quick_fit(model, data, truth, upper = c(inbreeding = 1), sampling = inbred,
                   BPPARAM = param)
  expect_equal(coef(fit), truth, tolerance = 1e-3)
})

long_test_that("workers leave the session's search path alone", {
  script <- write_script(
    "data <- ancify::sfs(c(0, 1200, 530, 320, 230, 180, 0), 'YRI')",
    "fit <- ancify::fit_demography(",
    "  ancify::demography_model('two_epoch'), data, c(nu = 2, time = 0.1), starts = 1, pts = 20,",
    "  BPPARAM = BiocParallel::SerialParam()",
    ")",
    "cat('package:ancify' %in% search())"
  )
  expect_identical(run_program(rscript, script)$out, "FALSE")
})

test_that("fewer sites than parameters are refused, not searched for ever", {
  cells <- matrix(0, 5, 5)
  cells[2, 3] <- cells[3, 1] <- 1
  start <- c(nu1 = 1, nu2 = 1, time = 0.1, m = 1)
  split <- demography_model("split_mig")
  refused <- function(...) {
    expect_ancify_error(fit_demography(split, ..., progress = FALSE), "input", "too few")
  }
  condition <- refused(sfs(cells), start)
  expect_match(conditionMessage(condition), "2 sites, too few to fit 4 parameters")
  refused(sfs(2 * cells), start)
  refused(sfs(cells), start[3:4], fixed = start[1:2])
  refused(fold(sfs(cells)), start)
  expect_ancify_error(fit_demography(demography_model("two_epoch"), sfs(c(0, 1, 1, 0, 0)),
                                     c(nu = 1, time = 0.1)), "input", "2 sites")
})

test_that("a fit at a bound, or not converged, is a warning", {
  model <- demography_model("two_epoch")
  data <- true_spectrum(model, c(nu = 3, time = 0.1), 8, 2000)
  start <- c(nu = 1.5, time = 0.3)
  expect_warning(
    fit <- quick_fit(model, data, start, upper = c(nu = 2)),
    "nu is at your bound, `upper = c(nu = 2)`: give a larger one, or fix it.", fixed = TRUE,
    class = "ancify_fit_warning"
  )
  expect_identical(fit$at_bounds, "nu")
  expect_identical(fit$bounds["nu", "at"], "upper")
  expect_identical(fit$bounds$upper_of, c("user", "default"))
  expect_equal(fit$bounds$lower, unname(start) / 1000)
  expect_ancify_error(vcov(fit), "input", "bound: nu")
  # Without migration in the data, its rate goes to the default bound.
  known <- c(nu1 = 1, nu2 = 1, time = 0.3)
  split <- demography_model("split_mig")
  apart <- true_spectrum(split, c(known, m = 0), c(6, 6), 2000)
  expect_warning(
    none <- quick_fit(split, apart, c(m = 1), fixed = known),
    paste("m is at the default bound 0.001, so the fit has not converged:",
          "give `lower = c(m = 1e-06)`, or fix it."), fixed = TRUE, class = "ancify_fit_warning"
  )
  expect_false(none$converged)
  expect_warning(
    fit_demography(model, data, start, starts = 1, pts = c(20, 30), progress = FALSE), "converged",
    class = "ancify_fit_warning"
  )
})

test_that("searches end when their time is over, at the best point so far", {
  model <- demography_model("two_epoch")
  data <- true_spectrum(model, c(nu = 3, time = 0.1), 8, 2000)
  start <- c(nu = 1.5, time = 0.3)
  fit_within <- function(seconds, ...) {
    fit_demography(model, data, start, seconds = seconds, progress = FALSE, ...)
  }
  expect_warning(fit <- fit_within(1e-9), "of 1 search in 1e-09 seconds.*more `seconds`",
                 class = "ancify_fit_warning")
  expect_false(fit$converged)
  expect_equal(coef(fit), start)
  expect_equal(fit$log_likelihood, sfs_log_likelihood(fit$expected, data))
  expect_true(fit_within(600)$converged)
  for (wrong in list(0, -1, NA_real_, "1", c(1, 2))) {
    expect_ancify_error(fit_within(wrong), "input", "`seconds`")
  }
})

test_that("standard errors are those of independent sites, and larger for linked sites", {
  set.seed(924)
  model <- demography_model("two_epoch")
  theta <- 4000
  data <- true_spectrum(model, c(nu = 3, time = 0.2), 10, theta)
  fit <- quick_fit(model, data, c(nu = 2, time = 0.2))
  # Fisher information of Poisson counts, by the Jacobian of the expected counts.
  spectrum <- function(x) {
    as.vector(plain_array(expected_sfs(model, x[1:2], 10, c(20, 25, 30)) * x[[3]]))[2:10]
  }
  at <- c(coef(fit), theta = fit$theta)
  jacobian <- vapply(1:3, function(k) {
    step <- replace(0 * at, k, at[[k]] * 1e-4)
    (spectrum(at + step) - spectrum(at - step)) / (2 * sum(step))
  }, numeric(9))
  expected <- solve(t(jacobian) %*% (jacobian / spectrum(at)))
  found <- vcov(fit)
  expect_identical(rownames(found), c("nu", "time", "theta"))
  expect_equal(sqrt(unname(diag(found))), sqrt(diag(expected)), tolerance = 0.02)

  bootstraps <- lapply(1:200, function(i) stats::simulate(data, seed = i)[[1]])
  independent <- sqrt(diag(vcov(fit, bootstraps)) / diag(found))
  expect_true(all(abs(independent - 1) < 0.2))
  # Each site four times: the same number of sites, a quarter of them independent.
  linked <- lapply(1:200, function(i) stats::simulate(data / 4, seed = i)[[1]] * 4)
  expect_true(all(abs(sqrt(diag(vcov(fit, linked)) / diag(found)) - 2) < 0.4))

  null <- quick_fit(model, data, c(time = 0.2), fixed = c(nu = 3))
  test <- anova(fit, null, bootstraps)
  expect_s3_class(test, "anova")
  expect_lt(abs(test["fit", "adjustment"] - 1), 0.3)
  expect_gt(test["fit", "Pr(>Chi)"], 0.5)
  expect_lt(abs(anova(fit, null, linked)["fit", "adjustment"] - 0.25), 0.1)
  far <- quick_fit(model, data, c(time = 0.2), fixed = c(nu = 1.3))
  expect_lt(anova(fit, far, bootstraps)["fit", "Pr(>Chi)"], 1e-4)
  expect_ancify_error(anova(null, fit, bootstraps), "input", "`null`")
  expect_ancify_error(anova(fit, null, list(1, 2)), "input", "`bootstraps`")
})

test_that("fits are printed and plotted", {
  model <- demography_model("two_epoch")
  data <- true_spectrum(model, c(nu = 3, time = 0.1), c(YRI = 8), 2000)
  fit <- quick_fit(model, data, c(nu = 1.5), fixed = c(time = 0.1))
  expect_output(print(fit), "converged")
  expect_output(print(summary(fit)), "fixed  time")
  expect_true(all(nchar(utils::capture.output(print(summary(fit)))) <= 80))
  expect_equal(as.vector(stats::residuals(fit)), as.vector(sfs_residuals(fit$expected, data)))

  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(fit))
  for (n in 2:4) {
    splits <- rep(list(event_split(1)), n - 1)
    model <- demography(function(time) {
      c(list(event_equilibrium()), splits, list(event_epoch(time, rep(1, n))))
    })
    data <- coarse_sfs(model, 0.05, rep(3, n), 8) * 1000
    fit <- suppressWarnings(
      fit_demography(model, data, c(time = 0.06), starts = 1, pts = 8, progress = FALSE)
    )
    if (n < 4) expect_invisible(plot(fit, main = "a title"))
  }
  expect_ancify_error(plot(fit), "input", "three")
})

test_that("a fit keeps names, masks and folding of the data", {
  set.seed(925)
  model <- demography_model("two_epoch")
  known <- plain_array(true_spectrum(model, c(nu = 3, time = 0.2), 10, 4000))
  data <- sfs(as.vector(known), "YRI")
  fit <- quick_fit(model, data, c(nu = 2, time = 0.2))
  expect_equal(coef(fit), c(nu = 3, time = 0.2), tolerance = 0.02)
  expect_equal(dim(fit$expected + data), 11)
  bootstraps <- lapply(1:50, function(i) stats::simulate(data, seed = i)[[1]])
  masked <- data
  attr(masked, "mask")[2] <- TRUE
  masked_fit <- quick_fit(model, masked, c(nu = 2, time = 0.2))
  masked_too <- lapply(bootstraps, function(one) {
    attr(one, "mask")[2] <- TRUE
    one
  })
  expect_identical(vcov(masked_fit, bootstraps), vcov(masked_fit, masked_too))
  folded_fit <- quick_fit(model, fold(data), c(nu = 2, time = 0.2))
  expect_equal(vcov(folded_fit, bootstraps), vcov(folded_fit, lapply(bootstraps, fold)))
  expect_ancify_error(vcov(fit, lapply(bootstraps, fold)), "input", "`bootstraps`")
  expect_ancify_error(anova(fit, fit), "input", "`null`")

  direct <- quick_fit(model, data, c(nu = 2, time = 0.2), sampling = "direct")
  expect_equal(predict(direct, c(YRI = 10)), predict(direct))
  expect_true(attr(predict(folded_fit, 8), "folded"))
  expect_ancify_error(predict(fit, "a"), "input", "`sample_sizes`")
})

long_test_that("a parameter that may be 0 can be tested", {
  set.seed(926)
  model <- demography_model("split_mig")
  start <- c(nu1 = 1, nu2 = 0.5, time = 0.5, m = 1)
  data <- true_spectrum(model, start, c(5, 5), 4000)
  full <- quick_fit(model, data, start)
  # The number of threads makes no difference.
  null <- fit_demography(model, data, start[1:3], fixed = c(m = 0), pts = c(20, 25, 30),
                         starts = 3, progress = FALSE, threads = 2)
  bootstraps <- lapply(1:50, function(i) stats::simulate(data, seed = i)[[1]])
  test <- anova(full, null, bootstraps)
  expect_lt(abs(test["fit", "adjustment"] - 1), 0.5)
  expect_lt(test["fit", "Pr(>Chi)"], 1e-3)
  # It goes one way only.
  expect_equal(test["fit", "Pr(>Chi)"], stats::pchisq(test["fit", "LR"], 1, lower.tail = FALSE) / 2)
})

test_that("a parameter may be called theta", {
  set.seed(927)
  two_epoch <- demography_model("two_epoch")
  data <- true_spectrum(two_epoch, c(nu = 3, time = 0.2), 8, 4000)
  renamed <- demography(function(theta, time) two_epoch$events(theta, time))
  fit <- quick_fit(two_epoch, data, c(nu = 2, time = 0.2))
  same <- quick_fit(renamed, data, c(theta = 2, time = 0.2))
  expect_equal(unname(coef(same)), unname(coef(fit)), tolerance = 1e-3)
  expect_equal(unname(vcov(same)), unname(vcov(fit)), tolerance = 1e-2)
})

test_that("a maximum next to invalid parameters is found", {
  set.seed(928)
  # Sizes above 3.002 are invalid.
  model <- demography(function(nu, time) {
    list(event_equilibrium(), event_epoch(time, if (nu < 3.002) nu else -1))
  })
  data <- true_spectrum(model, c(nu = 3, time = 0.2), 8, 4000)
  fit <- quick_fit(model, data, c(nu = 2, time = 0.3))
  expect_equal(coef(fit), c(nu = 3, time = 0.2), tolerance = 0.02)
  expect_true(fit$converged)
})

test_that("models that cannot be fitted are errors", {
  model <- demography_model("two_epoch")
  data <- true_spectrum(model, c(nu = 3, time = 0.1), 8, 2000)
  fit <- function(..., start = c(nu = 1, time = 0.1)) quick_fit(model, data, start, ...)
  expect_ancify_error(quick_fit(demography_model("snm"), data, 1), "input", "parameters")
  expect_ancify_error(quick_fit(model, 1, c(nu = 1, time = 1)), "input", "`sfs`")
  for (start in list(c(nu = 1), c(1, 2), c(nu = 1, time = NA), c(nu = 1, other = 2), NULL)) {
    expect_ancify_error(fit(start = start), "input", "`start`")
  }
  expect_ancify_error(fit(start = c(nu = -1, time = 0.1)), "input", "size of population 1")
  expect_ancify_error(fit(start = c(nu = 0, time = 0.1)), "input", "bounds, 0 and 0")
  expect_ancify_error(fit(upper = c(nu = 0.5)), "input", "start of nu", "0.5")
  expect_ancify_error(fit(lower = c(other = 1)), "input", "`lower`", "nu")
  expect_ancify_error(fit(fixed = c(nu = 1, time = 1)), "input", "nothing to fit")
  expect_ancify_error(
    quick_fit(model, fold(data), c(nu = 1, time = 1), misidentified = TRUE), "input", "folded data"
  )
  none <- data * 0
  expect_ancify_error(quick_fit(model, none, c(nu = 1, time = 1)), "input", "must have sites")
  expect_ancify_error(fit(tolerance = "a"), "input", "`tolerance`")
  expect_ancify_error(fit(BPPARAM = 3), "input", "`BPPARAM`")
  forked <- cluster_params("multicore")[[1]]
  expect_ancify_error(fit(BPPARAM = forked, backend = "gpu"), "device", "SnowParam")
  expect_ancify_error(fit(sampling = function() "direct"), "input", "named arguments")
  expect_ancify_error(fit(sampling = function(share) "direct"), "input", "value for share")
  expect_ancify_error(
    fit(sampling = function(misidentified) "direct", misidentified = TRUE), "input",
    "misidentified", "another name"
  )
  # Errors of other arguments do not blame the parameters.
  for (wrong in list(list(threads = -1), list(backend = "foo"), list(sampling = "foo"))) {
    message <- tryCatch(
      do.call(fit_demography, c(list(model, data, c(nu = 1, time = 0.1)), wrong)),
      ancify_input_error = conditionMessage
    )
    expect_match(message, paste0("`", names(wrong), "`"), fixed = TRUE)
    expect_false(grepl("start", message))
  }
  two <- coarse_sfs(demography_model("snm_2d"), NULL, c(3, 3), 10)
  expect_ancify_error(quick_fit(model, two, c(nu = 1, time = 1)), "input", "1 population")
})

test_that("a model with other populations than the data is this error", {
  expect_ancify_error(
    fit_demography(demography_model("split_mig"), sfs(c(0, 4, 2, 1, 0)), pts = 20, starts = 1,
                   c(nu1 = 1, nu2 = 1, time = 0.1, m = 1)),
    "input", "The model ends with 2 populations, but `sfs` has 1 population."
  )
})

test_that("searches of one parameter have a column of it", {
  data <- sfs(c(0, 500, 240, 150, 110, 90, 70, 60, 0))
  fit <- fit_demography(
    demography_model("two_epoch"), data, c(nu = 2), fixed = c(time = 0.1), starts = 2,
    pts = c(20, 30)
  )
  expect_named(fit$searches, c("log_likelihood", "nu"))
  expect_identical(dim(fit$searches), c(2L, 2L))
})
