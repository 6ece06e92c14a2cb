# Two-locus statistics of models: against known values, Wright-Fisher matrices and moments.

expected <- function(model, populations, bins, size = 1, ...) {
  expected_ld(model, populations = populations, bins = bins, reference_size = size, threads = 1,
              progress = FALSE, ...)
}

# Bins so narrow that their means are values at `rho`, 4 Nref r, with Nref = 1e5.
at_rho <- function(model, populations, rho) {
  places <- rho / 4e5
  rows <- lapply(places, function(place) {
    expected(model, populations, place + c(0, 1e-16), 1e5)$values
  })
  do.call(rbind, rows)
}

test_that("a constant population has the ratio of Ohta and Kimura", {
  rho <- c(0.5, 4, 100)
  x <- at_rho(demography(event_equilibrium(theta0 = 3)), "A", rho)
  found <- unname(x[, "DD.A.A"] / x[, "pi2.A.A.A.A"])
  expect_equal(found, (5 + rho / 2) / (11 + 13 * rho / 2 + rho^2 / 2), tolerance = 1e-8)
})

test_that("mutations may be in chosen populations only", {
  after <- function(mutates, theta0 = 1) {
    model <- demography(
      event_equilibrium(), event_split(1),
      event_epoch(0.3, c(1, 0.5), theta0 = theta0, mutates = mutates)
    )
    at_rho(model, c("A", "B"), c(1, 20))
  }
  expect_identical(after(FALSE), after(TRUE, theta0 = 0))
  one <- after(c(TRUE, FALSE))
  expect_equal(one[, "pi2.A.A.A.A"], after(TRUE)[, "pi2.A.A.A.A"])
  expect_equal(one[, "pi2.B.B.B.B"], after(FALSE)[, "pi2.B.B.B.B"])
})

# Means of D^2, D (1 - 2 p) (1 - 2 q) and p (1 - p) q (1 - q) after a generation of 2 N haplotypes
# that are drawn from all that `frequencies`, of AB, Ab, aB and ab, expect.
oracle_generation <- function(frequencies, n, r) {
  statistics <- function(x) {
    p <- x[1] + x[2]
    q <- x[1] + x[3]
    d <- x[1] - p * q
    c(d^2, d * (1 - 2 * p) * (1 - 2 * q), p * (1 - p) * q * (1 - q))
  }
  counts <- as.matrix(expand.grid(0:n, 0:n, 0:n))
  counts <- cbind(counts, n - rowSums(counts))
  counts <- counts[counts[, 4] >= 0, ]
  d <- frequencies[1] - (frequencies[1] + frequencies[2]) * (frequencies[1] + frequencies[3])
  parents <- frequencies + r * d * c(-1, 1, 1, -1)
  weights <- apply(counts, 1, stats::dmultinom, prob = parents)
  after <- colSums(weights * t(apply(counts / n, 1, statistics)))
  rbind(before = statistics(frequencies), after = after)
}

test_that("a generation of the Wright-Fisher model changes statistics as the equations say", {
  # Without mutation (theta0 = 0 after the start) statistics change linearly, so the model's change
  # over a generation is that of each start, but for terms of order 1 / n^2 and r^2.
  n <- 40
  r <- 0.002
  start <- oracle_generation(c(0.3, 0.2, 0.1, 0.4), n, r)
  drift <- rbind(c(-3, 1, 1), c(4, -5, 0), c(0, 1, -2)) / n
  recombination <- diag(c(-2, -1, 0)) * r
  change <- (drift + recombination) %*% start["before", ]
  expect_equal(as.vector(change), unname(start["after", ] - start["before", ]), tolerance = 0.06)

  # The same matrix as the core's, over a fifth of 2 Nref generations
  before <- at_rho(demography(event_equilibrium()), "A", 6)
  after <- at_rho(
    demography(event_equilibrium(), event_epoch(0.2, nu = 0.5, theta0 = 0)), "A", 6
  )
  rates <- 2 * drift * n + diag(c(-2, -1, 0)) * 3
  values <- as.vector(before)
  for (i in 1:2000) {
    middle <- values + drop(rates %*% values) * 5e-5
    values <- values + drop(rates %*% middle) * 1e-4
  }
  expect_equal(as.vector(after), values, tolerance = 1e-6)
})

test_that("models of one to three populations agree with moments", {
  models <- list(
    bottleneck = demography(
      event_equilibrium(), event_epoch(0.05, 0.1), event_epoch(0.2, 3)
    ),
    pulse = demography(
      event_equilibrium(), event_split(1),
      event_epoch(0.2, c(2, 0.5), m = rbind(c(0, 1), c(0.3, 0))), event_pulse(2, c("1" = 0.1)),
      event_epoch(0.05, c(2, 0.5))
    ),
    out_of_africa = demography(
      event_equilibrium(), event_epoch(0.219, 1.685), event_split(1),
      event_epoch(0.325, c(1.685, 0.287), m = 3.65), event_split(2),
      event_epoch(0.0581, list(1.685, size_history(0.14, 4.07), size_history(0.07, 7.41)),
                  m = rbind(c(0, 0.438, 0.277), c(0.438, 0, 1.4), c(0.277, 1.4, 0)))
    )
  )
  table <- read.csv(test_path("fixtures", "moments_expected_ld.csv"))
  table$statistic <- gsub("_", ".", table$statistic)
  rho <- unique(table$rho)
  for (name in names(models)) {
    theirs <- table[table$model == name, ]
    populations <- as.character(0:2)[seq_len(c(bottleneck = 1, pulse = 2, out_of_africa = 3)[name])]
    ours <- at_rho(models[[name]], populations, rho)
    ours <- ours[cbind(match(theirs$rho, rho), match(theirs$statistic, colnames(ours)))]
    whole <- abs(theirs$whole - ours)
    half <- abs(theirs$half - ours)
    # Their error is in proportion to their steps, and vanishes.
    expect_lt(max(abs(2 * theirs$half - theirs$whole - ours) / abs(ours)), 1e-4)
    expect_lt(sum(half), 0.6 * sum(whole))
  }
})

test_that("a bin has Simpson's mean", {
  model <- demography(event_equilibrium(), event_epoch(0.1, 0.3))
  ends <- c(1e-5, 3e-5)
  places <- 4e5 * c(ends[1], mean(ends), ends[2])
  wanted <- colSums(at_rho(model, "A", places) * c(1, 4, 1)) / 6
  x <- expected(model, "A", ends, 1e5)
  expect_equal(x$values[1, ], wanted, tolerance = 1e-9)
  expect_equal(rownames(x$values), "[1e-05,3e-05)")
  expect_null(x$blocks)
})

test_that("a function of time is as the history that it computes", {
  history <- demography(event_equilibrium(), event_epoch(0.1, list(size_history(0.2, 5))))
  functions <- demography(
    event_equilibrium(), event_epoch(0.1, list(function(t) 0.2 * 25^(t / 0.1)))
  )
  bins <- c(0, 1e-5, 1e-3)
  expect_equal(expected(functions, "A", bins, 1e4)$values, expected(history, "A", bins, 1e4)$values)
  jump <- function(t) if (t < 0.0333) 100 else 0.005
  expect_error(
    expected(demography(event_equilibrium(), event_epoch(0.1, list(jump))), "A", bins, 1e4),
    "two epochs", class = "ancify_input_error"
  )
})

test_that("growth after a split is computed at all distances", {
  histories <- list(size_history(1, 2), size_history(1, 0.5))
  model <- demography(event_equilibrium(), event_split(1), event_epoch(0.3, histories))
  # Each population alone, and no linkage disequilibrium that both share
  alone <- function(one) demography(event_equilibrium(), event_epoch(0.3, histories[one]))
  for (bin in list(c(1e-3, 1e-2), c(0.1, 0.5))) {
    x <- expected(model, c("A", "B"), bin, 1e4)$values
    expect_equal(x[, "DD.A.A"], expected(alone(1), "A", bin, 1e4)$values[, "DD.A.A"])
    expect_equal(x[, "DD.B.B"], expected(alone(2), "B", bin, 1e4)$values[, "DD.B.B"])
    expect_lt(abs(x[, "DD.A.B"]), 1e-5 * x[, "DD.A.A"])
  }
})

test_that("wrong input is refused in plain words", {
  model <- demography(event_equilibrium())
  refused <- function(call, words) expect_error(call, words, class = "ancify_input_error")
  refused(expected(demography(event_equilibrium(gamma = -1)), "A", c(0, 1e-3)), "without selection")
  refused(expected(model, c("A", "B"), c(0, 1e-3)), "`populations`")
  refused(expected(model, NA_character_, c(0, 1e-3)), "`populations`")
  refused(expected(model, "A", c(1e-3, 0)), "`bins`")
  refused(expected(model, "A", c(0, 2)), "0.5 Morgans")
  refused(expected(model, "A", c(0, 1e-3), -1), "`reference_size`")
  long <- demography(event_equilibrium(), event_epoch(1, 1))
  refused(expected(long, "A", c(0, 0.5), 1e12), "shorten the epoch")
  refused(expected("model", "A", c(0, 1e-3)), "`model`")
})

# ---- Fits ----------------------------------------------------------------------------------------

# Measured statistics: the model's, and blocks that scatter around them.
measured_ld <- function(model, populations, bins, size, blocks = 40, scatter = 0.05) {
  x <- expected(model, populations, bins, size)
  set.seed(1)
  noise <- function(n) 1 + scatter * (stats::runif(n) - 0.5)
  sums <- array(0, c(blocks, dim(x$values)))
  for (b in seq_len(blocks)) sums[b, , ] <- x$values * noise(length(x$values))
  pairs <- matrix(1, blocks, nrow(x$values))
  heterozygosity <- outer(noise(blocks), x$heterozygosity)
  ld_from_blocks(
    list(
      sums = sums, pairs = pairs, heterozygosity = heterozygosity, sites = rep(1, blocks),
      bases = rep(1, blocks)
    ),
    bins, populations, NA_real_, blocks, NULL, ""
  )
}

two_epoch <- demography_model("two_epoch")
truth <- c(nu = 3, time = 0.15)
history <- demography(event_equilibrium(), event_epoch(0.15, nu = 3))
ld_of_history <- measured_ld(history, "A", c(1, 3, 10, 30, 100) * 1e-5, 5000)
sfs_of_history <- 2000 * expected_sfs(history, NULL, c(A = 10), c(20, 30, 40))

long_test_that("a joint fit has the reference size, and one log-likelihood of both terms", {
  start <- c(nu = 2, time = 0.2, reference_size = 8000)
  fit <- fit_demography(two_epoch, sfs_of_history, start, starts = 3, pts = c(20, 30),
                        ld = ld_of_history, threads = 1)
  expect_equal(coef(fit), c(truth, reference_size = 5000), tolerance = 0.05)
  expect_equal(fit$theta, 2000, tolerance = 0.02)
  ld <- fit$ld
  names <- setdiff(colnames(ld$values), "pi2.A.A.A.A")
  # The plain normal density
  of_ld <- vapply(1:4, function(bin) {
    covariance <- vcov(ld)[sprintf("%s[%d]", names, bin), sprintf("%s[%d]", names, bin)]
    distance <- ld$values[bin, names] - fit$expected_ld$values[bin, names]
    -sum(distance * solve(covariance, distance)) / 2 - log(det(2 * pi * covariance)) / 2
  }, 0)
  expect_equal(
    as.numeric(logLik(fit)), sum(of_ld) + sfs_log_likelihood(fit$expected, fit$data),
    tolerance = 1e-8
  )
  expect_identical(attr(logLik(fit), "nobs"), 9L + 8L)
  expect_output(print(fit), "LD in 4 bins")
  expect_identical(names(diag(vcov(fit))), c("nu", "time", "reference_size", "theta"))

  spectra <- simulate(fit, 5, seed = 1)
  boot <- list(sfs = spectra, ld = rep(list(ld_of_history), 5))
  expect_true(all(diag(vcov(fit, boot)) > 0))
  expect_error(vcov(fit, spectra), "`sfs`", class = "ancify_input_error")
  expect_error(vcov(fit, list(sfs = spectra, ld = boot$ld[1:3])), "same windows",
               class = "ancify_input_error")
  other <- ld_ratios(ld_of_history)
  other$reference <- "B"
  expect_error(vcov(fit, list(sfs = spectra, ld = rep(list(other), 5))), "reference",
               class = "ancify_input_error")
  refits <- refit_demography(fit, lapply(boot, utils::head, 2))
  expect_equal(refits$reference_size, c(5000, 5000), tolerance = 0.1)
  null <- update(fit, fixed = c(reference_size = 5000))
  expect_identical(null$fitted, c("nu", "time"))
  expect_identical(anova(fit, null)$Df[2], 1L)
})

test_that("parameters of a Demes file have sizes, so a fit needs no reference size", {
  file <- tempfile(fileext = ".yaml")
  writeLines(c(
    "time_units: generations", "demes:", "- name: A", "  epochs:",
    "  - {start_size: 4000, end_time: 2000}", "  - {start_size: 12000}"
  ), file)
  free <- tempfile(fileext = ".yaml")
  writeLines(c(
    "parameters:", "- {name: before, values: [demes: {A: {epochs: {0: start_size}}}]}",
    "- {name: after, values: [demes: {A: {epochs: {1: start_size}}}]}",
    "- {name: time, values: [demes: {A: {epochs: {0: end_time}}}]}"
  ), free)
  model <- read_demes(file, parameters = free)
  sizes <- c(before = 5000, after = 15000, time = 1500)
  bins <- c(1e-5, 1e-4)
  wanted <- expected(history, "A", bins, 5000)$values
  found <- function(model) expected(model, "A", bins, NULL, params = sizes)$values
  expect_equal(found(model), wanted)
  expect_equal(found(inherit_demography(model)), wanted)
  expect_error(expected(history, "A", bins, NULL), "`reference_size`", class = "ancify_input_error")

  fit <- fit_demography(model, sfs_of_history, starts = 3, pts = c(20, 30), ld = ld_of_history,
                        threads = 1)
  expect_equal(coef(fit), sizes, tolerance = 0.05)
  null <- update(fit, fixed = c(time = 1500))
  expect_identical(null$fitted, c("before", "after"))
})

test_that("a fit to two-locus statistics alone has no spectrum", {
  start <- c(nu = 2, time = 0.2, reference_size = 8000)
  fit <- fit_demography(two_epoch, NULL, start, starts = 3, ld = ld_of_history, threads = 1)
  expect_equal(coef(fit), c(truth, reference_size = 5000), tolerance = 0.1)
  expect_identical(fit$theta, NA)
  expect_identical(predict(fit), fit$expected_ld)
  for (call in list(plot, residuals, simulate, function(x) predict(x, 4))) {
    expect_error(call(fit), "no spectrum", class = "ancify_input_error")
  }
})

test_that("a fit refuses statistics that it cannot use", {
  refused <- function(words, ..., sfs = NULL, model = two_epoch,
                      start = c(nu = 2, time = 0.2, reference_size = 8000)) {
    expect_error(fit_demography(model, sfs, start, starts = 1, ...), words,
                 class = "ancify_input_error")
  }
  refused("`sfs`, `ld` or both")
  refused("two-locus statistics", ld = 1)
  refused("reference_size", ld = ld_of_history, start = c(nu = 2, time = 0.2))
  refused("blocks", ld = expected(history, "A", c(1e-5, 1e-4), 5000))
  few <- measured_ld(history, "A", c(1, 3) * 1e-5, 5000, blocks = 3)
  refused("3 blocks, too few", ld = few)
  refused("the same order", ld = ld_of_history, sfs = sfs(c(0, 3, 2, 1, 0), "B"))
  refused("`ld` has 1 population", ld = ld_of_history,
          model = demography_model("split_mig"),
          start = c(nu1 = 1, nu2 = 1, time = 0.1, m = 1, reference_size = 5000))
  refused("ancestral", ld = ld_of_history, misidentified = TRUE)
  refused("`reference_size`", ld = ld_of_history,
          start = c(nu = 2, time = 0.2, reference_size = -1))
})
