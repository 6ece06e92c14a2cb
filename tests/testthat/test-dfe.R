# For populations of constant size, spectra are integrals.
exact_selected <- function(n, gamma) {
  density <- function(x) {
    if (abs(gamma) < 1e-8) {
      1 / x
    } else {
      expm1(-2 * gamma * (1 - x)) / expm1(-2 * gamma) / (x * (1 - x))
    }
  }
  vapply(1:(n - 1), function(d) {
    stats::integrate(function(x) stats::dbinom(d, n, x) * density(x), 0, 1, rel.tol = 1e-9,
                     subdivisions = 1000)$value
  }, 0)
}

# The mean of exact spectra over 400 equal shares of the distribution.
exact_dfe <- function(n, quantile) {
  shares <- (seq_len(400) - 0.5) / 400
  rowMeans(vapply(
    quantile(shares), function(strength) exact_selected(n, -strength), numeric(n - 1)
  ))
}

spectra_1d <- selected_spectra(demography_model("snm"), NULL, c(YRI = 8), c(60, 80, 100))

test_that("spectra under distributions are integrals over exact ones", {
  distributions <- list(
    list(dfe_gamma(2, 4), function(p) stats::qgamma(p, 2, scale = 4)),
    list(dfe_exponential(5), function(p) stats::qexp(p, 1 / 5)),
    list(dfe_lognormal(1, 0.7), function(p) stats::qlnorm(p, 1, 0.7))
  )
  for (one in distributions) {
    found <- segregating(dfe_sfs(spectra_1d, one[[1]], theta = 3))
    expect_equal(found / 3, exact_dfe(8, one[[2]]), tolerance = 3e-3)
  }
})

test_that("computed coefficients have the spectra of expected_sfs()", {
  model <- function(gamma) {
    list(
      event_equilibrium(gamma = gamma, h = 0.3), event_split(1),
      event_epoch(0.1, c(2, 1), m = 1, gamma = gamma, h = 0.3)
    )
  }
  gammas <- c(-20, 3, -1)
  spectra <- selected_spectra(model(0), NULL, c(A = 4, B = 3), c(40, 50), gammas, h = 0.3)
  expect_identical(spectra$gammas, c(-20, -1, 0, 3))
  for (gamma in spectra$gammas) {
    expected <- expected_sfs(model(gamma), NULL, c(A = 4, B = 3), c(40, 50))
    expect_equal(dfe_sfs(spectra, dfe_point(gamma)), expected, tolerance = 1e-12)
  }
  expect_equal(segregating(dfe_sfs(spectra, dfe_point(-0.25), 2)),
               2 * (0.25 * segregating(spectra$spectra[[2]]) +
                      0.75 * segregating(spectra$spectra[[3]])))
})

test_that("the weights of a distribution sum to 1, and are its shares", {
  gammas <- spectra_1d$gammas
  for (dfe in list(dfe_gamma(0.1, 5000), dfe_lognormal(7, 3), dfe_exponential(1e-6))) {
    expect_equal(sum(distribution_weights(dfe$parts[[1]]$cumulative, gammas)), 1)
  }
  # The whole distribution is beyond the ends.
  expect_equal(dfe_sfs(spectra_1d, dfe_lognormal(-20, 0.1)), dfe_sfs(spectra_1d, dfe_point(0)))
  expect_equal(
    dfe_sfs(spectra_1d, dfe_lognormal(20, 0.1)), dfe_sfs(spectra_1d, dfe_point(gammas[1]))
  )
  # Nearly the whole distribution is at one coefficient between computed ones.
  expect_equal(segregating(dfe_sfs(spectra_1d, dfe_lognormal(log(7), 1e-3))), exact_selected(8, -7),
               tolerance = 2e-3)
  expect_equal(dfe_sfs(spectra_1d, dfe_point(-7)), dfe_sfs(spectra_1d, dfe_lognormal(log(7), 1e-6)),
               tolerance = 1e-3)
})

test_that("splines of few coefficients are near the sums over many", {
  pdf <- function(x) stats::dgamma(x, 0.2, scale = 500)
  strengths <- exp(seq(log(1e-4), log(2000), length.out = 500))
  exact <- vapply(-strengths, function(gamma) segregating(dfe_sfs(spectra_1d, dfe_point(gamma))),
                  numeric(7))
  sums <- apply(exact, 1, function(values) {
    y <- values * pdf(strengths)
    sum(diff(strengths) * (y[-1] + y[-500]) / 2)
  })
  below <- stats::pgamma(strengths[1], 0.2, scale = 500)
  above <- stats::pgamma(strengths[500], 0.2, scale = 500, lower.tail = FALSE)
  sums <- sums + below * segregating(dfe_sfs(spectra_1d, dfe_point(0))) + above * exact[, 500]
  expect_equal(segregating(dfe_sfs(spectra_1d, dfe_gamma(0.2, 500))), sums, tolerance = 1e-3)
})

test_that("interpolated cells are never negative", {
  snm <- demography_model("snm")
  gammas <- -exp(seq(log(1e-2), log(1000), length.out = 12))
  spectra <- suppressWarnings(selected_spectra(snm, NULL, c(YRI = 20), c(40, 50, 60), gammas))
  for (gamma in -c(300, 100, 30, 3)) {
    expect_true(all(segregating(dfe_sfs(spectra, dfe_point(gamma))) >= 0))
  }
  narrow <- segregating(dfe_sfs(spectra, dfe_lognormal(log(300), 1e-3)))
  expect_true(all(narrow >= 0))
  expect_equal(narrow[1], segregating(dfe_sfs(spectra, dfe_point(-300)))[1], tolerance = 0.1)
})

test_that("mixtures are sums of their parts", {
  mixture <- dfe_mixture(
    dfe_mixture(dfe_gamma(0.2, 500), dfe_point(-3), shares = c(0.5, 0.5)), dfe_point(0),
    shares = c(0.8, 0.2)
  )
  expected <- 0.4 * segregating(dfe_sfs(spectra_1d, dfe_gamma(0.2, 500))) +
    0.4 * segregating(dfe_sfs(spectra_1d, dfe_point(-3))) +
    0.2 * segregating(dfe_sfs(spectra_1d, dfe_point(0)))
  expect_equal(segregating(dfe_sfs(spectra_1d, mixture)), expected)
  expect_output(print(mixture), "<dfe> 3 parts\n", fixed = TRUE)
  expect_output(print(mixture), "0.4  gamma(shape = 0.2, scale = 500)", fixed = TRUE)
  expect_output(print(spectra_1d), "101 selection coefficients\n  haplotypes  8\n")
})

test_that("a fit to a distribution's own spectrum recovers its parameters", {
  set.seed(31)
  data <- dfe_sfs(spectra_1d, dfe_gamma(0.3, 200), theta = 5000)
  model <- dfe_model(spectra_1d, dfe_gamma, theta = 5000)
  fit <- fit_demography(model, data, c(shape = 0.5, scale = 50), starts = 3, progress = FALSE)
  expect_true(fit$converged)
  expect_equal(coef(fit), c(shape = 0.3, scale = 200), tolerance = 1e-3)
  expect_identical(fit$theta, NA)
  expect_equal(fit$expected, data, tolerance = 1e-4)
  expect_identical(rownames(vcov(fit)), c("shape", "scale"))
  expect_output(print(summary(fit)), "Searches:\n log_likelihood shape scale")
  expect_ancify_error(predict(fit, 5), "input", "sample_sizes")

  folded <- fit_demography(model, fold(data), c(shape = 0.5, scale = 50), starts = 3,
                           progress = FALSE)
  expect_equal(coef(folded), c(shape = 0.3, scale = 200), tolerance = 0.01)

  with_neutral <- function(shape, scale, neutral) {
    dfe_mixture(dfe_gamma(shape, scale), dfe_point(0), shares = c(1 - neutral, neutral))
  }
  mixed <- dfe_sfs(spectra_1d, with_neutral(0.4, 100, 0.2), theta = 5000)
  mixed <- fit_demography(
    dfe_model(spectra_1d, with_neutral, 5000), mixed, c(shape = 0.6, scale = 150),
    fixed = c(neutral = 0.2), starts = 3, progress = FALSE
  )
  expect_equal(coef(mixed), c(shape = 0.4, scale = 100), tolerance = 1e-2)
})

test_that("grids too coarse for selection are a warning with the coefficients", {
  of <- function(gammas) {
    selected_spectra(demography_model("two_epoch"), c(2, 0.1), c(YRI = 8), c(60, 80, 100), gammas)
  }
  warning <- expect_warning(of(-c(1, 1000)), class = "ancify_grid_warning")
  expect_match(conditionMessage(warning), "from -1000 to -1000", fixed = TRUE)
  expect_match(conditionMessage(warning), "Used grids of 90, 120 and 150.", fixed = TRUE)
  expect_no_warning(of(-c(1, 10)))
})

test_that("parameters of either sign are fitted", {
  set.seed(32)
  data <- dfe_sfs(spectra_1d, dfe_lognormal(1, 2), theta = 5000)
  fit <- expect_no_warning(fit_demography(
    dfe_model(spectra_1d, dfe_lognormal, theta = 5000), data, c(meanlog = -1, sdlog = 1),
    lower = c(meanlog = -5), upper = c(meanlog = 8), starts = 3, progress = FALSE
  ))
  expect_equal(coef(fit), c(meanlog = 1, sdlog = 2), tolerance = 1e-2)
})

test_that("invalid arguments are errors in the user's terms", {
  input <- function(code, text) expect_ancify_error(code, "input", text)
  snm <- demography_model("snm")
  input(selected_spectra(demography(event_equilibrium(gamma = 1)), NULL, 4, 20), "selection")
  input(selected_spectra(snm, NULL, 4, 20, gammas = NA), "`gammas`")
  input(selected_spectra(snm, NULL, 4, 20, h = "a"), "`h`")
  input(dfe_gamma(-1, 1), "`shape`")
  input(dfe_gamma(1, 0), "`scale`")
  input(dfe_lognormal(NA, 1), "`meanlog`")
  input(dfe_point("a"), "`gamma`")
  input(dfe_mixture(1, shares = 1), "dfe_mixture() takes DFEs")
  input(dfe_mixture(dfe_point(0), shares = 0.5), "`shares`")
  input(dfe_sfs(spectra_1d, 1), "`dfe`")
  input(dfe_sfs(1, dfe_point(0)), "`spectra`")
  input(dfe_sfs(spectra_1d, dfe_point(5)), "coefficient 5")
  input(dfe_sfs(spectra_1d, dfe_point(-5000)), "-5000")
  few <- selected_spectra(snm, NULL, 4, 20, gammas = c(-1, -2))
  input(dfe_sfs(few, dfe_gamma(1, 1)), "at least 4")
  input(dfe_model(spectra_1d, dfe_gamma(1, 1)), "function")
  sparse <- selected_spectra(snm, NULL, 4, 30, gammas = -c(1e-4, 1e-3, 1, 2))
  input(dfe_sfs(sparse, dfe_gamma(1, 1)), "-0.001")
  input(selected_spectra(snm, NULL, 4, 20, gammas = 1e300), "`gammas`")
  model <- dfe_model(spectra_1d, dfe_gamma)
  data <- sfs(c(0, 5, 3, 2, 0), "YRI")
  input(fit_demography(model, data, c(shape = 1, scale = 1)), "Cannot compare")
  fit_with <- function(...) fit_demography(model, data, c(shape = 1, scale = 1), ...)
  input(fit_with(pts = 20, time = "dadi", backend = "auto"), "Leave out `pts` and `time`")
  input(fit_demography(model, dfe_sfs(spectra_1d, dfe_point(0)), c(shape = 1)), "scale")
})
