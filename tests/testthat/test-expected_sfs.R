# Expected spectra, compared with a plain implementation of the diffusion.

relative_difference <- function(found, expected) {
  max(abs(as.vector(found) / as.vector(expected) - 1))
}

# One grid's spectrum with dadi's time steps.
grid_spectrum <- function(events, sizes, pts, ...) {
  spectrum <- expected_sfs(events, NULL, sizes, pts, time = "dadi", extrapolate = "none", ...)
  plain_array(spectrum[[1]])
}

expect_as_oracle <- function(events, sizes, pts) {
  x <- oracle_grid(pts)
  weights <- lapply(sizes, function(n) oracle_analytic_weights(x, n))
  expected <- oracle_sample(oracle_density(events, x), weights)
  for (simd in c("scalar", "auto")) {
    found <- with_options(list(ancify.simd = simd), grid_spectrum(events, sizes, pts))
    expect_lt(relative_difference(found, expected), 1e-9)
  }
}

# An epoch of `steps` time steps, with all kinds of parameters.
some_epoch <- function(populations, steps, migrants = TRUE) {
  n <- populations
  m <- matrix(if (migrants) stats::runif(n^2, 0, 3) else 0, n, n)
  event <- event_epoch(
    0, nu = as.list(stats::runif(n, 0.5, 3)), m = m, gamma = stats::rnorm(n),
    h = stats::runif(n), theta0 = stats::runif(1, 0.5, 2)
  )
  event$nu[[1]] <- size_history(event$nu[[1]], 0.7, shape = sample(c("exponential", "linear"), 1))
  at <- oracle_parameters(within_time(event, 1), 0, 1, n)
  within_time(event, steps * oracle_time_step(at, 1e-3))
}

within_time <- function(event, time) {
  event[["T"]] <- time
  event
}

test_that("equilibria are those of numerical integration", {
  cases <- list(c(0, 0.5), c(2, 0.5), c(-8, 0.5), c(1.5, 0.1), c(-3, 0.9), c(4, -0.5), c(-4, 1.5))
  for (case in cases) {
    event <- event_equilibrium(1.3, case[1], case[2], 0.8)
    expect_as_oracle(list(event), 6, 12)
  }
})

test_that("strong selection gives finite spectra", {
  for (gamma in c(-2000, -400, 400, 2000)) {
    additive <- grid_spectrum(list(event_equilibrium(1, gamma)), 10, 60)
    # The same by the other method, for a dominance just off 0.5.
    other <- grid_spectrum(list(event_equilibrium(1, gamma, 0.5 + 1e-12)), 10, 60)
    expect_true(all(is.finite(additive)))
    expect_lt(max(abs(other - additive)[2:10] / max(additive[2:10])), 1e-7)
  }
})

test_that("an equilibrium of any selection is computed or an error", {
  for (gamma in c(-1e6, -3e4, 3e4, 1e6)) {
    for (h in c(0, 0.2, 2)) {
      spectrum <- function() grid_spectrum(list(event_equilibrium(1, gamma, h)), 5, 40)
      if (gamma > 0 && h == 2) {
        expect_ancify_error(spectrum(), "input", "the equilibrium density overflows")
      } else {
        expect_true(all(is.finite(suppressWarnings(spectrum()))))
      }
    }
  }
})

test_that("counts are never negative: finer grids are taken where selection asks for them", {
  selected <- function(gamma) list(event_equilibrium(), event_epoch(0.1, 1, gamma = gamma))
  warning <- expect_warning(
    spectrum <- expected_sfs(selected(-200), NULL, 8, c(15, 20, 25)), class = "ancify_grid_warning"
  )
  taken <- c(51, 68, 84)
  expect_match(conditionMessage(warning), "15, 20 and 25 points are too coarse", fixed = TRUE)
  expect_match(conditionMessage(warning), "Used grids of 51, 68 and 84.", fixed = TRUE)
  expect_identical(expect_no_warning(expected_sfs(selected(-200), NULL, 8, taken)), spectrum)
  for (gamma in c(-500, -2000)) {
    for (way in c("linear", "log", "none")) {
      counts <- suppressWarnings(
        expected_sfs(selected(gamma), NULL, 20, c(30, 40), extrapolate = way)
      )
      expect_gte(min(unlist(counts)), 0)
    }
  }
  # Where no selection acts, grids stay as they are given.
  split <- demography_model("split_asym_mig")
  params <- c(nu1 = 0.814, nu2 = 27.9, time = 0.0509, m12 = 0.0643, m21 = 0.0171)
  apart <- expect_no_warning(
    expected_sfs(split, params, c(20, 20), c(40, 50, 60), extrapolate = "none")
  )
  expect_named(apart, c("40", "50", "60"))
  expect_identical(min(plain_array(apart[["40"]])), 0)
})

test_that("one population evolves as in the oracle", {
  set.seed(910)
  for (round in 1:3) expect_as_oracle(list(event_equilibrium(), some_epoch(1, 7)), 5, 11)
})

test_that("two and three populations evolve as in the oracle", {
  set.seed(911)
  for (migrants in c(TRUE, FALSE)) {
    events <- list(event_equilibrium(), event_split(1), some_epoch(2, 4, migrants))
    expect_as_oracle(events, c(3, 4), 9)
    events <- c(events, list(event_admixture(c(0.3, 0.7)), some_epoch(3, 2, migrants)))
    expect_as_oracle(events, c(3, 2, 4), 7)
  }
})

test_that("four and five populations evolve as in the oracle", {
  set.seed(912)
  events <- list(
    event_equilibrium(), event_split(1), event_split(2), some_epoch(3, 1), event_split(3),
    some_epoch(4, 2)
  )
  expect_as_oracle(events, c(2, 3, 1, 2), 6)
  events <- c(events, list(event_admixture(c(0.1, 0.2, 0.3, 0.4)), some_epoch(5, 1)))
  expect_as_oracle(events, c(2, 1, 2, 3, 1), 5)
})

test_that("pulses, removals and reorderings are as in the oracle", {
  set.seed(913)
  three <- list(
    event_equilibrium(), event_split(1), some_epoch(2, 2), event_split(1), some_epoch(3, 1)
  )
  for (event in list(
    event_pulse(2, c("1" = 0.2, "3" = 0.3)), event_pulse(1, c("3" = 0.37)),
    event_pulse(3, c("2" = 1)), event_reordering(c(3, 1, 2)), event_reordering(c(2, 1, 3))
  )) {
    expect_as_oracle(c(three, list(event, some_epoch(3, 1))), c(2, 3, 4), 7)
  }
  for (pop in 1:3) {
    expect_as_oracle(c(three, list(event_removal(pop), some_epoch(2, 1))), c(3, 2), 8)
  }
})

test_that("mutations may be in chosen populations only", {
  set.seed(8)
  for (mutates in list(c(TRUE, FALSE), c(FALSE, TRUE), FALSE)) {
    epoch <- some_epoch(2, 6)
    epoch$mutates <- mutates
    expect_as_oracle(list(event_equilibrium(), event_split(1), epoch), c(4, 3), 10)
  }
  spectrum <- function(mutates, theta0 = 1) {
    grid_spectrum(list(
      event_equilibrium(), event_split(1),
      event_epoch(0.1, c(1, 2), 0.5, theta0 = theta0, mutates = mutates)
    ), c(4, 3), 12)
  }
  expect_identical(spectrum(FALSE), spectrum(TRUE, theta0 = 0))
  one <- spectrum(c(TRUE, FALSE)) + spectrum(c(FALSE, TRUE)) - spectrum(FALSE)
  expect_equal(one, spectrum(TRUE))
  expect_ancify_error(spectrum(c(TRUE, NA)), "input", "`mutates` must be TRUE or FALSE")
  model <- demography(event_equilibrium(), event_split(1),
                      event_epoch(0.1, c(1, 2), mutates = c(FALSE, TRUE)))
  expect_match(summary(model)$sentences, "no new mutations in population 1", all = FALSE)
  expect_ancify_error(write_demes(model, tempfile(fileext = ".yaml"), reference_size = 100),
                      "input", "has no new mutations")
})

test_that("frozen populations stay unchanged", {
  epoch <- some_epoch(3, 3, FALSE)
  epoch$frozen <- c(FALSE, TRUE, FALSE)
  events <- list(event_equilibrium(), event_split(1), event_split(1), epoch)
  expect_as_oracle(events, c(3, 2, 4), 7)
})

test_that("other ways of sampling are as in the oracle", {
  set.seed(914)
  events <- list(event_equilibrium(), event_split(1), some_epoch(2, 3))
  sizes <- c(4, 6)
  x <- oracle_grid(10)
  phi <- oracle_density(events, x)
  weights <- lapply(sizes, function(n) t(t(oracle_binomial(x, n)) * trapezoid_weights(x)))
  spectrum <- function(sampling) grid_spectrum(events, sizes, 10, sampling = sampling)

  expect_lt(relative_difference(spectrum("direct"), oracle_sample(phi, weights)), 1e-9)
  ascertained <- weights
  ascertained[[2]] <- t(t(weights[[2]]) * x * (1 - x))
  expect_lt(
    relative_difference(spectrum(sampling_ascertained(2))[-1, -1],
                        oracle_sample(phi, ascertained)[-1, -1]),
    1e-9
  )

  shares <- rbind(c(0.8, 0.2), c(0.5, 0.5))
  expected <- matrix(0, 5, 7)
  for (i in 1:10) {
    for (j in 1:10) {
      y <- shares %*% x[c(i, j)]
      expected <- expected + phi[i, j] * trapezoid_weights(x)[i] * trapezoid_weights(x)[j] *
        outer(stats::dbinom(0:4, 4, y[1]), stats::dbinom(0:6, 6, y[2]))
    }
  }
  expect_lt(relative_difference(spectrum(sampling_admixed(shares)), expected), 1e-9)
})

test_that("inbred samples have beta-binomial counts", {
  events <- list(event_equilibrium())
  x <- oracle_grid(12)
  phi <- oracle_density(events, x)
  inbreeding <- 0.3
  # All genotypes of three diploid individuals.
  genotype <- function(k, x) {
    a <- x * (1 - inbreeding) / inbreeding
    b <- (1 - x) * (1 - inbreeding) / inbreeding
    choose(2, k) * beta(k + a, 2 - k + b) / beta(a, b)
  }
  ways <- expand.grid(0:2, 0:2, 0:2)
  expected <- vapply(1:5, function(d) {
    these <- ways[rowSums(ways) == d, ]
    sum(vapply(seq_len(nrow(these)), function(i) {
      inside <- 2:11
      p <- genotype(these[i, 1], x[inside]) * genotype(these[i, 2], x[inside]) *
        genotype(these[i, 3], x[inside])
      sum(p * phi[inside] * trapezoid_weights(x)[inside])
    }, 0))
  }, 0)
  found <- grid_spectrum(events, 6, 12, sampling = sampling_inbred(inbreeding))
  expect_lt(relative_difference(found[2:6], expected), 1e-9)
  expect_equal(grid_spectrum(events, 6, 12, sampling = sampling_inbred(0, 3)),
               grid_spectrum(events, 6, 12, sampling = "direct"), tolerance = 1e-12)
})

test_that("the neutral spectrum is 1 / i", {
  for (n in c(5, 20, 300)) {
    x <- expected_sfs(list(event_equilibrium()), NULL, n, n + c(100, 200, 300))
    expect_lt(relative_difference(x[2:n], 1 / seq_len(n - 1)), 2e-3)
  }
})

test_that("spectra are the same at any number of threads", {
  set.seed(915)
  events <- list(
    event_equilibrium(), event_split(1), event_split(2), some_epoch(3, 3), some_epoch(3, 2, FALSE)
  )
  spectra <- lapply(c(1, 2, 8), function(threads) {
    expected_sfs(events, NULL, c(5, 6, 7), c(20, 40, 50), threads = threads)
  })
  expect_identical(spectra[[2]], spectra[[1]])
  expect_identical(spectra[[3]], spectra[[1]])
})

# ---- Comparisons without a grid ----------------------------------------------------------------

# Neutral models without migration, and their exact spectra.
exact_cases <- function() {
  n <- c(8, 8)
  split <- exact_split(exact_equilibrium(16), n)
  list(
    three_epoch = list(
      events = list(event_equilibrium(), event_epoch(0.2, 0.1), event_epoch(0.1, 2)), sizes = 20,
      pts = c(80, 100, 120),
      exact = exact_epoch(
        exact_epoch(exact_equilibrium(20), 0.2, function(t) 0.1), 0.1, function(t) 2
      )
    ),
    growth = list(
      events = list(event_equilibrium(), event_epoch(0.3, list(size_history(0.2, 3)))), sizes = 20,
      pts = c(80, 100, 120),
      exact = exact_epoch(exact_equilibrium(20), 0.3, function(t) 0.2 * 15^(t / 0.3))
    ),
    linear = list(
      events = list(event_equilibrium(),
                    event_epoch(0.3, list(size_history(2, 0.2, shape = "linear")))),
      sizes = 20, pts = c(80, 100, 120),
      exact = exact_epoch(exact_equilibrium(20), 0.3, function(t) 2 - 1.8 * t / 0.3)
    ),
    split = list(
      events = list(event_equilibrium(), event_split(1), event_epoch(0.2, c(2, 0.3))), sizes = n,
      pts = c(60, 80, 100), exact = exact_epoch(split, 0.2, function(t) c(2, 0.3))
    ),
    both_grow = list(
      events = list(
        event_equilibrium(), event_split(1),
        event_epoch(0.2, list(function(t) 0.1 * 20^(t / 0.2), size_history(0.3, 5)))
      ),
      sizes = n, pts = c(60, 80, 100), exact = exact_epoch(split, 0.2, function(t) {
        c(0.1 * 20^(t / 0.2), 0.3 * (5 / 0.3)^(t / 0.2))
      })
    )
  )
}

test_that("the error of accurate steps is at most a third of dadi's", {
  for (case in exact_cases()) {
    inside <- 2:(length(case$exact) - 1)
    for (extrapolate in c("linear", "log")) {
      errors <- lapply(c("dadi", "accurate"), function(time) {
        x <- expected_sfs(case$events, NULL, case$sizes, case$pts, time, extrapolate)
        (plain_array(x) / case$exact - 1)[inside]
      })
      expect_lt(max(abs(errors[[1]])), 0.025)
      expect_lt(max(abs(errors[[2]])), max(abs(errors[[1]])) / 3)
      expect_lt(sum(errors[[2]]^2), sum(errors[[1]]^2) / 9)
    }
  }
})

test_that("populations without migration have their own spectra", {
  sizes <- c(0.5, 2, 1, 3, 0.8)
  n <- 4
  for (populations in 2:5) {
    pts <- list(c(40, 50, 60), c(30, 35, 40), c(16, 18, 20), c(10, 12, 14))[[populations - 1]]
    splits <- lapply(seq_len(populations - 1), event_split)
    epoch <- event_epoch(0.1, sizes[seq_len(populations)])
    x <- suppressWarnings(expected_sfs(c(list(event_equilibrium()), splits, list(epoch)), NULL,
                                       rep(n, populations), pts))
    tolerance <- c(0.005, 0.01, 0.05, 0.15)[populations - 1]
    for (k in seq_len(populations)) {
      alone <- exact_epoch(exact_equilibrium(n), 0.1, function(t) sizes[k])
      marginal <- apply(plain_array(x), k, sum)
      expect_lt(max(abs(marginal / alone - 1)[2:n]), tolerance)
    }
  }
})

test_that("the order of splits at one time does not matter", {
  # Three populations from one: two splits of the first, or one of it and one of the second.
  of <- function(...) {
    list(event_equilibrium(), ..., event_epoch(0.1, c(1, 0.5, 2), 1))
  }
  # Without the cells of sites that do not vary.
  spectrum <- function(events) {
    x <- expected_sfs(events, NULL, c(3, 4, 5), c(20, 25, 30))
    plain_array(x)[!attr(x, "mask")]
  }
  first <- spectrum(of(event_split(1), event_split(1)))
  expect_equal(spectrum(of(event_split(1), event_split(2))), first)
  # With reordered populations on the way.
  exchanged <- spectrum(list(
    event_equilibrium(), event_split(1), event_split(1), event_epoch(0.1, c(1, 2, 0.5), 1),
    event_reordering(c(1, 3, 2))
  ))
  expect_lt(relative_difference(exchanged, first), 5e-4)
})

# The models of fixtures/make_dadi_spectra.py, whose spectra dadi computed.
dadi_models <- function() {
  migration <- function(n, ...) {
    rates <- list(...)
    m <- matrix(0, n, n)
    for (name in names(rates)) {
      at <- as.integer(strsplit(name, "")[[1]])
      m[at[1], at[2]] <- rates[[name]]
    }
    m
  }
  to_four <- list(
    event_equilibrium(), event_split(1), event_epoch(0.05, c(1, 0.4)), event_split(2),
    event_epoch(0.03, c(1, 0.4, 0.8), migration(3, "23" = 2, "32" = 1)),
    event_admixture(c(0.5, 0.2, 0.3)),
    event_epoch(0.02, c(1, 0.4, 0.8, 0.3), migration(4, "14" = 1.5, "41" = 0.5, "32" = 0.7),
                gamma = c(0, 0, -1, 0))
  )
  list(
    one = list(
      event_equilibrium(1.5, -2, 0.3, 1.2),
      event_epoch(0.15, list(size_history(0.5, 4)), gamma = -2, h = 0.3, theta0 = 1.2)
    ),
    two = list(
      event_equilibrium(), event_split(1),
      event_epoch(0.1, list(2, size_history(0.1, 0.5)), migration(2, "12" = 0.5, "21" = 1.5),
                  gamma = c(1, -3), h = c(0.5, 0.2)),
      event_pulse(2, c("1" = 0.2)), event_epoch(0.05, c(2, 0.5), frozen = c(TRUE, FALSE))
    ),
    three = list(
      event_equilibrium(), event_epoch(0.1, 1.7), event_split(1),
      event_epoch(0.08, c(1.7, 0.2), 3), event_admixture(c(0.3, 0.7)),
      event_epoch(0.04, list(1.7, size_history(0.1, 2), 0.5), migration(
        3, "12" = 0.4, "13" = 0.2, "21" = 0.4, "23" = 1, "31" = 0.2, "32" = 1
      )),
      event_pulse(3, c("1" = 0.1, "2" = 0.2)), event_epoch(0.01, c(1.7, 2, 0.5)),
      event_reordering(c(3, 1, 2))
    ),
    four = to_four,
    five = c(to_four, list(
      event_admixture(c(0.1, 0.2, 0.3, 0.4)),
      event_epoch(0.01, c(1, 0.4, 0.8, 0.3, 2), migration(5, "15" = 0.5, "51" = 1, "45" = 0.3)),
      event_removal(2)
    ))
  )
}

test_that("each grid's spectrum is dadi's, for one to five populations", {
  theirs <- utils::read.csv(test_path("fixtures", "dadi_spectra.csv"))
  sizes <- list(
    one = 8, two = c(5, 6), three = c(3, 4, 2), four = c(2, 3, 2, 2), five = c(2, 2, 3, 2)
  )
  models <- dadi_models()
  for (name in names(models)) {
    of <- theirs[theirs$model == name, ]
    spectra <- suppressWarnings(expected_sfs(
      models[[name]], NULL, sizes[[name]], unique(of$points), "dadi", "none"
    ))
    for (points in names(spectra)) {
      spectrum <- plain_array(spectra[[points]])
      expected <- aperm(array(of$value[of$points == points], rev(dim(spectrum))))
      inside <- !corner_mask(dim(spectrum))
      expect_lt(max(abs(spectrum / expected - 1)[inside]), 1e-8)
    }
  }
})

test_that("all levels of vector instructions give the same spectra", {
  set.seed(9)
  events <- list(event_equilibrium(), event_split(1), some_epoch(2, 20), event_split(2),
                 some_epoch(3, 20))
  of <- function(simd) {
    with_options(list(ancify.simd = simd), grid_spectrum(events, c(5, 6, 7), 22))
  }
  scalar <- of("scalar")
  for (simd in simd_levels()) expect_identical(of(simd), scalar, info = simd)
})
