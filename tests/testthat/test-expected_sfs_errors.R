# Errors of grids and time steps: how small they are, and whether a warning tells of large ones.

# Half the expected sum of a genealogy's branches for two populations that split `time` ago: the
# number of segregating sites. The states are the lineages in each population, up to 4 and 4.
exact_sites <- function(time, nu, into_first, into_second) {
  states <- expand.grid(a = 0:8, b = 0:8)
  states <- states[states$a + states$b >= 1 & states$a + states$b <= 8, ]
  rates <- matrix(0, nrow(states), nrow(states))
  at <- function(a, b) which(states$a == a & states$b == b)
  for (k in seq_len(nrow(states))) {
    a <- states$a[k]
    b <- states$b[k]
    if (a + b == 1) next
    if (a > 1) rates[k, at(a - 1, b)] <- a * (a - 1) / 2 / nu[1]
    if (b > 1) rates[k, at(a, b - 1)] <- b * (b - 1) / 2 / nu[2]
    if (a > 0) rates[k, at(a - 1, b + 1)] <- rates[k, at(a - 1, b + 1)] + a * into_first
    if (b > 0) rates[k, at(a + 1, b - 1)] <- rates[k, at(a + 1, b - 1)] + b * into_second
  }
  diag(rates) <- -rowSums(rates)
  n <- states$a + states$b
  whole <- ifelse(n > 1, n, 0) # branches at each moment
  later <- vapply(n, function(n) 2 * sum(1 / seq_len(n - 1)[n > 1]), 0)
  # Backwards from the split, by the method of Runge and Kutta: d/dt v = rates v + branches
  v <- later
  steps <- 4000
  dt <- time / steps
  slope <- function(v) drop(rates %*% v) + whole
  for (step in seq_len(steps)) {
    k1 <- slope(v)
    k2 <- slope(v + dt / 2 * k1)
    k3 <- slope(v + dt / 2 * k2)
    v <- v + dt / 6 * (k1 + 2 * k2 + 2 * k3 + slope(v + dt * k3))
  }
  v[at(4, 4)] / 2
}

split_at <- function(m12, m21 = m12, nu = c(1, 1), time = 0.3) {
  list(event_equilibrium(), event_split(1), event_epoch(time, nu, rbind(c(0, m12), c(m21, 0))))
}

test_that("sites under migration of any strength are those of the coalescent", {
  cases <- list(
    list(0, 0, c(1, 1)), list(1, 1, c(1, 1)), list(5, 5, c(1, 0.3)), list(20, 20, c(1, 1)),
    list(40, 0, c(1, 2)), list(30, 30, c(0.5, 0.1))
  )
  for (case in cases) {
    events <- split_at(case[[1]], case[[2]], case[[3]])
    exact <- exact_sites(0.3, case[[3]], case[[1]], case[[2]])
    found <- expect_no_warning(expected_sfs(events, NULL, c(4, 4), c(40, 50, 60)))
    expect_equal(sum(found), exact, tolerance = 0.01)
    # On coarse grids within 3 %, or with a warning
    for (pts in list(c(20, 24, 28), c(20, 30), c(14, 20, 26, 32))) {
      said <- FALSE
      found <- withCallingHandlers(expected_sfs(events, NULL, c(4, 4), pts), warning = function(w) {
        said <<- inherits(w, "ancify_grid_warning")
        invokeRestart("muffleWarning")
      })
      expect_true(said || abs(sum(found) / exact - 1) < 0.03)
      expect_true(!said || max(case[[1]], case[[2]]) >= 20)
    }
  }
})

test_that("a warning names coarse grids, their error and finer ones", {
  told <- function(...) {
    conditionMessage(expect_warning(expected_sfs(...), class = "ancify_grid_warning"))
  }
  message <- told(split_at(20), NULL, c(4, 4), c(20, 24, 28))
  expect_match(message, "Grids of 20, 24 and 28 points are coarse for this model")
  expect_match(message, "off by about [0-9.]+ %")
  expect_match(message, "larger `pts`, such as 30, 36 and 42", fixed = TRUE)
  # dadi's extrapolation has the larger errors
  expect_match(told(split_at(20), NULL, c(4, 4), c(30, 40, 50), "dadi"), "Grids of 30, 40 and 50")
  expect_match(told(list(event_equilibrium()), NULL, 8, 20), "three `pts`, such as 20, 30 and 40")
  # Pulses, more populations, and logarithms
  pulse <- c(split_at(0), list(event_pulse(2, c("1" = 0.1)), event_epoch(0.02, c(1, 0.5))))
  told(pulse, NULL, c(8, 8), c(13, 18, 23), "accurate", "log")
  three <- list(event_equilibrium(), event_split(1), event_split(2), event_epoch(0.1, 1:3, 30))
  suppressWarnings(told(three, NULL, c(2, 2, 2), c(14, 16, 18)))
  # One grid, of which there is none that is coarser
  expect_no_warning(expected_sfs(list(event_equilibrium()), NULL, 19, 20))
})

test_that("time steps follow populations that shrink, and long ones of dadi are told", {
  shrinking <- function(from, to, time) {
    list(event_equilibrium(), event_epoch(0.5, from),
         event_epoch(time, list(size_history(from, to))))
  }
  for (case in list(c(100, 0.1, 0.2), c(10, 0.1, 0.2), c(30, 0.05, 0.1))) {
    exact <- exact_epoch(exact_epoch(exact_equilibrium(10), 0.5, function(t) case[1]), case[3],
                         function(t) case[1] * (case[2] / case[1])^(t / case[3]))
    events <- do.call(shrinking, as.list(case))
    found <- expect_no_warning(expected_sfs(events, NULL, 10, c(40, 50, 60)))
    expect_lt(max(abs(plain_array(found) / exact - 1)[2:10]), 0.01)
  }
  warning <- expect_warning(
    found <- expected_sfs(shrinking(100, 0.1, 0.2), NULL, 10, c(40, 50, 60), "dadi"),
    class = "ancify_grid_warning"
  )
  expect_match(conditionMessage(warning), "Time steps are long.*Give `time = \"accurate\"`")
})

test_that("common models on default grids have no warning", {
  values <- c(nu = 10, nu1 = 2, nu2 = 0.1, nu_b = 0.05, nu_f = 5, time = 0.2, time_b = 0.1,
              time_f = 0.1, m = 2, m12 = 1, m21 = 4, s = 0.2)
  for (name in c("snm", "two_epoch", "growth", "bottlegrowth", "three_epoch", "split_mig", "IM")) {
    model <- demography_model(name)
    sizes <- if (name %in% c("split_mig", "IM")) c(10, 10) else 20
    expect_no_warning(expected_sfs(model, values[model$params], sizes, c(40, 50, 60)))
  }
})

test_that("single grids are those asked for, and negative cells are told", {
  strong <- split_at(40)
  warning <- expect_warning(
    spectra <- expected_sfs(strong, NULL, c(4, 4), c(12, 60, 14), "dadi", "none"),
    class = "ancify_grid_warning"
  )
  expect_named(spectra, c("12", "60", "14"))
  expect_match(conditionMessage(warning), "12")
  expect_false(grepl("60", conditionMessage(warning)))
  expect_gte(min(unlist(lapply(spectra, plain_array))), 0)
  alone <- expect_no_warning(expected_sfs(strong, NULL, c(4, 4), 60, "dadi", "none"))
  expect_identical(alone[["60"]], spectra[["60"]])
})

test_that("weights of grids have the sum 1, for up to six grids", {
  for (pts in list(30, c(30, 40), c(60, 40, 50), c(20, 30, 40, 50), 10 * 3:7, 10 * 3:8)) {
    expect_equal(sum(weights_of_spacing(pts)), 1)
    found <- suppressWarnings(expected_sfs(list(event_equilibrium()), NULL, 8, pts))
    if (length(pts) > 1) expect_equal(found[2:8], 1 / (1:7), tolerance = 0.005, ignore_attr = TRUE)
  }
})

test_that("a fit warns once, of the spectrum at its estimates", {
  data <- 2000 * expected_sfs(split_at(20), NULL, c(4, 4), c(60, 70, 80))
  model <- demography(function(m) split_at(m))
  warnings <- list()
  fit <- withCallingHandlers(
    fit_demography(model, data, c(m = 15), starts = 1, pts = c(20, 24, 28), progress = FALSE),
    ancify_grid_warning = function(w) {
      warnings <<- c(warnings, list(conditionMessage(w)))
      invokeRestart("muffleWarning")
    },
    ancify_fit_warning = function(w) invokeRestart("muffleWarning")
  )
  expect_length(warnings, 1)
  expect_match(warnings[[1]], "coarse for this model at the estimates")
})
