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
  expect_identical(
    history$joins[[1]][c("from", "to", "time")], list(from = 1L, to = 2L, time = 0.3)
  )
  flows <- history$flows[[1]]
  expect_equal(flows$rate[flows$to == 1], 1)
  expect_equal(flows$rate[flows$to == 2], 3)
  expect_true(all(flows$time > 0 & flows$time < 0.3))
})

test_that("histories of sizes are drawn, and a removed or frozen population ends", {
  model <- demography(
    event_equilibrium(), event_split(1),
    event_epoch(0.2, list(size_history(1, 4), function(t) 1 + t)), event_removal(1),
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
    expect_no_error(plot(model, if (length(params)) params, reference_size = 1e4,
                         generation_time = 25, main = name))
  }
})

test_that("wrong arguments of the picture are errors", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  model <- demography_model("two_epoch")
  expect_ancify_error(plot(model), "input", "nu")
  expect_ancify_error(plot(model, c(nu = 2, time = 1), reference_size = -1), "input")
  expect_ancify_error(plot(model, c(nu = 2, time = 1), populations = c("a", "b")), "input",
                      "1 name")
  expect_ancify_error(plot(model, c(nu = -2, time = 1)), "input")
  expect_ancify_error(plot(model, c(nu = 2, time = 1), colour = 2), "input")
})

test_that("a model is told in words", {
  words <- function(...) summary(...)$sentences
  params <- c(nu1 = 2, nu2 = 0.5, time = 0.3, m = 1)
  expect_identical(words(demography_model("split_mig"), params), c(
    "The model begins with one population of size 1 N, in equilibrium.",
    "0.3 x 2N generations ago: population 2 splits off from population 1.",
    paste("From 0.3 x 2N generations ago to the present: population 1 has the size 2 N;",
          "population 2 has the size 0.5 N."),
    "Migration meanwhile between population 1 and population 2: 2N m = 1."
  ))
  years <- words(demography_model("OutOfAfrica_3G09"), reference_size = 7300, generation_time = 25,
                 populations = c("YRI", "CEU", "CHB"))
  # Times and sizes as published
  expect_true("140,000 years ago: CEU splits off from YRI." %in% years)
  expect_match(years, "From 140,000 to 21,200 years ago: YRI .* 12,300; CEU .* 2,100", all = FALSE)
  expect_match(years, "CHB changes exponentially from 510 to 54,090", all = FALSE)
  expect_match(years, "between CEU and CHB: a share of 9.6e-05 a generation", all = FALSE)
  asymmetric <- words(demography_model("split_asym_mig"),
                      c(nu1 = 1, nu2 = 1, time = 1, m12 = 2, m21 = 0))
  expect_match(asymmetric, "from population 2 to population 1: 2N m = 2", all = FALSE)
  others <- words(demography(
    event_equilibrium(gamma = -5), event_split(1), event_epoch(0.1, list(1, function(t) 1 + t)),
    event_admixture(c(0.3, 0.7)), event_epoch(0.1, c(1, 1, 1), gamma = list(0, 0, -3)),
    event_pulse(1, c("2" = 0.1)), event_removal(2),
    event_epoch(0.1, c(1, 1), frozen = c(FALSE, TRUE)), event_pulse(1, c("2" = 0.2))
  ))
  expect_identical(others[c(2, 4, 7, 9, 11)], c(
    "Selection coefficients (2N s): -5 in population 1.",
    paste("From 0.3 to 0.2 x 2N generations ago: population 1 has the size 1 N;",
          "ghost 1 changes by a function of time from 1 N to 1.1 N."),
    "Selection coefficients (2N s): -3 in population 2.",
    "0.1 x 2N generations ago: ghost 1 leaves the model.",
    "At the present: 20 % of population 1 comes from population 2."
  ))
  expect_match(others, "begins, with 30 % of population 1 and 70 % of ghost 1", all = FALSE)
  expect_match(others, "population 2 stays unchanged", all = FALSE)
  for (name in demography_model()) {
    model <- demography_model(name)
    params <- stats::setNames(rep(0.5, length(model$params)), model$params)
    if ("time_split" %in% model$params) params[["time_split"]] <- 0.2
    printed <- utils::capture.output(print(summary(model, if (length(params)) params)))
    expect_true(all(nchar(printed) <= 80))
  }
  expect_ancify_error(summary(demography_model("snm"), generation_time = 25), "input",
                      "`generation_time`")
  expect_ancify_error(summary(demography_model("two_epoch")), "input", "nu")
})

test_that("models of Demes files are drawn and told in the units of the file", {
  file <- function(units, generation, times = 1) {
    path <- tempfile(fileext = ".yaml")
    writeLines(c(
      paste("time_units:", units), generation, "demes:",
      sprintf("- {name: anc, epochs: [{end_time: %s, start_size: 8000}]}", 60000 / times),
      "- {name: A, ancestors: [anc], epochs: [{start_size: 14000}]}",
      "- {name: B, ancestors: [anc], epochs: [{start_size: 1500}]}"
    ), path)
    path
  }
  words <- function(...) summary(read_demes(file(...)))$sentences
  expect_match(words("years", "generation_time: 29"), "60,000 years ago: . splits", all = FALSE)
  expect_match(words("years", "generation_time: 29"), "B has the size 1,500", all = FALSE)
  expect_match(words("generations", NULL, 10), "6,000 generations ago: . splits", all = FALSE)
  expect_match(words("months", "generation_time: 3"), "60,000 months ago", all = FALSE)
  # Others, if given
  model <- read_demes(file("years", "generation_time: 29"))
  doubled <- summary(model, reference_size = 16000)$sentences
  expect_match(doubled, "120,000 years ago", all = FALSE)
  expect_match(summary(model, generation_time = 14.5)$sentences, "30,000 years ago", all = FALSE)
  pdf <- tempfile(fileext = ".pdf")
  grDevices::pdf(pdf, compress = FALSE, useKerning = FALSE)
  plot(model)
  grDevices::dev.off()
  expect_match(readLines(pdf, warn = FALSE), "time ago, years", all = FALSE)
})
