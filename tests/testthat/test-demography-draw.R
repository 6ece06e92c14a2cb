# Populations through time, as the picture of a model shows them.

history_at <- function(model, params = NULL) {
  history_of_events(core_events(events_at(model, params)))
}

size_at <- function(history, number, time) width_at(history, number, time)

test_that("sizes, founders and migration stand at their times ago", {
  history <- history_at(
    demography_model("split_asym_mig"),
    c(nu1 = 2, nu2 = 0.5, time = 0.3, m12 = 1, m21 = 3)
  )
  expect_identical(history$oldest, 0.3)
  expect_identical(history$there, 1:2)
  expect_equal(size_at(history, 1, 5), 1)
  expect_equal(size_at(history, 1, 0.1), 2)
  expect_equal(size_at(history, 2, 0.1), 0.5)
  expect_identical(size_at(history, 2, 0.4), 0)
  expect_identical(history$joins[[1]][c("from", "to", "time")], list(from = 1L, to = 2L, time = 0.3))
  flows <- history$flows[[1]]
  expect_equal(flows$rate[flows$to == 1], 1)
  expect_equal(flows$rate[flows$to == 2], 3)
  expect_true(all(flows$time > 0 & flows$time < 0.3))
})

test_that("courses and functions have their sizes, and a removed or frozen population ends", {
  model <- demography(
    event_equilibrium(), event_split(1),
    event_epoch(0.2, list(course(1, 4), function(t) 1 + t)), event_removal(1),
    event_epoch(0.1, 2)
  )
  history <- history_at(model)
  expect_equal(size_at(history, 1, 0.2), 2)
  expect_equal(size_at(history, 2, 0.1), 2)
  expect_equal(size_at(history, 2, 0.15), 2 * 0 + 1 + 0.15, tolerance = 1e-6)
  expect_identical(size_at(history, 1, 0.05), 0)
  expect_identical(history$there, 2L)
  frozen <- demography(
    event_equilibrium(), event_split(1), event_epoch(0.2, c(1, 1), frozen = c(FALSE, TRUE))
  )
  expect_identical(size_at(history_at(frozen), 2, 0.1), 0)
})

test_that("admixture and pulses join their sources, and orders follow", {
  model <- demography(
    event_equilibrium(), event_split(1), event_epoch(0.1, c(1, 1)),
    event_admixture(c(0.3, 0.7)), event_epoch(0.1, c(1, 1, 1)),
    event_pulse(1, c("2" = 0.1, "3" = 0.2)), event_reordering(c(3, 1, 2)),
    event_epoch(0.1, c(5, 1, 1))
  )
  history <- history_at(model)
  expect_identical(history$there, c(3L, 1L, 2L))
  # The new population stands beside its main ancestor.
  expect_identical(history$lanes, c(1L, 2L, 3L))
  expect_equal(size_at(history, 3, 0.05), 5)
  expect_equal(history$joins[[2]]$shares, c(0.3, 0.7))
  expect_identical(history$joins[[3]]$pulse, TRUE)
  expect_equal(history$joins[[3]]$shares, c(0.1, 0.2))
  expect_identical(history$joins[[3]]$from, c(2L, 3L))
})

test_that("every model by name is drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (name in demography_model()) {
    model <- demography_model(name)
    params <- stats::setNames(rep(0.5, length(model$params)), model$params)
    if ("time_split" %in% model$params) params[["time_split"]] <- 0.2
    expect_no_error(plot(model, if (length(params)) params))
    expect_no_error(plot(model, if (length(params)) params, reference_size = 1e4, main = name))
  }
})

test_that("wrong arguments of the picture are errors", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  model <- demography_model("two_epoch")
  expect_ancify_error(plot(model), "input", "nu")
  expect_ancify_error(plot(model, c(nu = 2, time = 1), reference_size = -1), "input")
  expect_ancify_error(plot(model, c(nu = 2, time = 1), populations = c("a", "b")), "input", "1 name")
  expect_ancify_error(plot(model, c(nu = -2, time = 1)), "input")
  expect_ancify_error(plot(model, c(nu = 2, time = 1), colour = 2), "input")
})
