# Spectra by moments against the structured coalescent, closed forms and fine grids.

split_model <- function(nu, m, time, ...) {
  list(event_equilibrium(), event_split(1), event_epoch(time, nu = nu, m = m, ...))
}

expect_same_cells <- function(found, expected, tolerance) {
  inside <- !corner_mask(dim(found))
  expect_lt(max(abs(found[inside] / expected[inside] - 1)), tolerance)
}

test_that("moments equal the structured coalescent, however strong migration is", {
  for (m in list(c(0, 0), c(1, 1), c(20, 20), c(80, 80), c(7, 0), c(0, 7))) {
    rates <- matrix(c(0, m[2], m[1], 0), 2)
    for (nu in list(c(1, 1), c(0.2, 3))) {
      exact <- coalescent_spectrum(c(3, 2), nu, rates, 0.3)
      found <- expected_sfs(split_model(nu, rates, 0.3), NULL, c(3, 2))
      expect_same_cells(found, exact, 1e-9)
    }
  }
  strong <- expected_sfs(split_model(c(1, 1), 20, 0.3), NULL, c(4, 4))
  expect_equal(sum(strong, na.rm = TRUE), 3.0833, tolerance = 2e-5)
})

test_that("a population at equilibrium has 1 / i sites with i derived alleles", {
  found <- expected_sfs(list(event_equilibrium(nu = 2, theta0 = 3)), NULL, 30)
  expect_equal(as.numeric(found)[2:30], 6 / (1:29), tolerance = 1e-11)
})

test_that("two haplotypes of a population of two sizes have the exact spectrum", {
  # Their expected time to an ancestor is 1 + (nu - 1)(1 - exp(-T / nu)).
  found <- expected_sfs(list(event_equilibrium(), event_epoch(0.4, nu = 0.3)), NULL, 2)
  expect_equal(found[[2]], 1 + (0.3 - 1) * (1 - exp(-0.4 / 0.3)), tolerance = 1e-11)
})

test_that("changing sizes meet the tolerance, and the error is stated", {
  growth <- demography(function(nu, time) {
    list(event_equilibrium(), event_epoch(time, nu = list(list(type = "exp", from = 1, to = nu))))
  })
  best <- expected_sfs(growth, c(nu = 30, time = 0.4), 20, tolerance = 1e-9)
  for (tolerance in c(1e-2, 1e-3, 1e-6)) {
    found <- expected_sfs(growth, c(nu = 30, time = 0.4), 20, tolerance = tolerance)
    expect_same_cells(found, best, tolerance)
    error <- attr(found, "error")
    expect_true(all(abs(found - best)[2:20] <= error[2:20]))
  }
  # Two lineages have not merged after t with this probability.
  two <- expected_sfs(growth, c(nu = 30, time = 0.4), 2, tolerance = 1e-10)
  survival <- function(t) exp(-0.4 / log(30) / 30 * (30^(t / 0.4) - 1))
  exact <- stats::integrate(survival, 0, 0.4, rel.tol = 1e-12)$value + survival(0.4)
  expect_equal(two[[2]], exact, tolerance = 1e-8)
})

# The spectrum after a pulse, from spectra before it: k of the first n haplotypes descend from the
# second population, with binomial probability.
after_pulse <- function(before, n, share) {
  spectrum <- array(0, n + 1)
  for (k in 0:n[1]) {
    old <- before(c(n[1] - k, n[2] + k))
    cells <- which(array(TRUE, dim(old)), arr.ind = TRUE) - 1
    for (i in seq_len(nrow(cells))) {
      moved <- 0:k
      weight <- stats::dhyper(moved, cells[i, 2], n[2] + k - cells[i, 2], k) *
        stats::dbinom(k, n[1], share)
      at <- cbind(cells[i, 1] + moved, cells[i, 2] - moved) + 1
      good <- weight > 0
      spectrum[at[good, , drop = FALSE]] <-
        spectrum[at[good, , drop = FALSE]] + weight[good] * old[i]
    }
  }
  spectrum
}

test_that("a pulse moves haplotypes", {
  model <- split_model(c(1, 0.5), 0.7, 0.3)
  before <- function(sizes) {
    if (sizes[1] > 0) {
      return(unclass(expected_sfs(model, NULL, sizes)))
    }
    one <- expected_sfs(c(model, list(event_removal(1))), NULL, sizes[2])
    array(unclass(one), c(1, sizes[2] + 1))
  }
  exact <- after_pulse(before, c(3, 4), 0.2)
  pulsed <- expected_sfs(c(model, list(event_pulse(1, c("2" = 0.2)))), NULL, c(3, 4))
  expect_same_cells(pulsed, exact, 1e-9)
})

test_that("every event agrees with fine grids", {
  model <- list(
    event_equilibrium(), event_epoch(0.1, nu = 2), event_split(1),
    event_epoch(0.2, nu = c(1, 0.5), m = 1), event_admixture(c(0.3, 0.7)),
    event_epoch(0.1, nu = c(1, 2, 0.4), m = 0.5), event_removal(2), event_reordering(2:1),
    event_epoch(0.2, nu = c(1, 1))
  )
  found <- expected_sfs(model, NULL, c(A = 4, B = 5))
  grids <- expected_sfs(model, NULL, c(A = 4, B = 5), c(60, 75, 90))
  expect_same_cells(found, grids, 0.02)
  expect_identical(names(dimnames(found)), c("A", "B"))
})

test_that("a sample of fewer haplotypes is a projection, and isolated ghosts change nothing", {
  model <- list(
    event_equilibrium(), event_split(1), event_split(2), event_epoch(0.2, nu = c(1, 2, 0.1), m = 0)
  )
  wide <- expected_sfs(model, NULL, c(12, 9, 3))
  narrow <- expected_sfs(model, NULL, c(5, 4, 1))
  expect_same_cells(project_sfs(wide, c(5, 4, 1)), narrow, 1e-9)
  without <- expected_sfs(
    list(event_equilibrium(), event_split(1), event_epoch(0.2, nu = c(1, 2))), NULL, c(5, 4)
  )
  marginal <- expected_sfs(c(model, list(event_removal(3))), NULL, c(5, 4))
  expect_same_cells(marginal, without, 1e-9)
})

test_that("frozen populations and those without mutations agree with grids", {
  model <- list(
    event_equilibrium(), event_split(1),
    event_epoch(0.1, nu = c(1, 1), frozen = c(FALSE, TRUE)),
    event_epoch(0.1, nu = c(1, 2), mutates = c(TRUE, FALSE), theta0 = 2)
  )
  found <- expected_sfs(model, NULL, c(5, 4))
  expect_same_cells(found, expected_sfs(model, NULL, c(5, 4), c(60, 80, 100)), 5e-3)
})

test_that("selection and other samplings take grids, which a message names", {
  selected <- list(event_equilibrium(gamma = -1))
  expect_message(expected_sfs(selected, NULL, 4), "grids of 40, 50 and 60 points")
  expect_message(
    expected_sfs(list(event_equilibrium()), NULL, 4, sampling = sampling_inbred(0.5)), "grids of"
  )
  snm <- list(event_equilibrium())
  expect_message(
    dadi <- expected_sfs(snm, NULL, 4, time = "dadi"), "grids of 40, 50 and 60 points"
  )
  expect_identical(dadi, expected_sfs(snm, NULL, 4, c(40, 50, 60), time = "dadi"))
  expect_null(attr(suppressMessages(expected_sfs(selected, NULL, 4)), "error"))
})

test_that("low coverage is by moments of all individuals", {
  low <- sampling_low_coverage(coverage_model(dpois(0:20, 4), 10))
  snm <- list(event_equilibrium())
  found <- expected_sfs(snm, NULL, 16, sampling = low)
  expect_same_cells(found, expected_sfs(snm, NULL, 16, c(60, 80, 100), sampling = low), 2e-3)
})

test_that("a jump of a size within an epoch is told", {
  jump <- function(t) if (t < 0.037) 1 else 3
  model <- list(event_equilibrium(), event_epoch(0.1, nu = list(jump)))
  expect_warning(expected_sfs(model, NULL, 5, tolerance = 1e-9), "do not meet the tolerance 1e-09",
                 class = "ancify_grid_warning")
})

test_that("the tolerance is checked", {
  snm <- list(event_equilibrium())
  for (tolerance in list(0, 1, NA, "a")) {
    expect_error(expected_sfs(snm, NULL, 4, tolerance = tolerance), "`tolerance` must be",
                 class = "ancify_input_error")
  }
})
