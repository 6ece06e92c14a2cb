# Demographic models and their events.

test_that("a model has events, or a function that returns them", {
  fixed <- demography(event_equilibrium(), event_epoch(0.1, 2))
  expect_identical(fixed$params, character())
  free <- demography(function(nu, time) list(event_equilibrium(), event_epoch(time, nu)))
  expect_identical(free$params, c("nu", "time"))
  spectrum <- function(model, params) coarse_sfs(model, params, 5, 12)
  expected <- spectrum(fixed, NULL)
  expect_identical(spectrum(free, c(nu = 2, time = 0.1)), expected)
  expect_identical(spectrum(free, c(time = 0.1, nu = 2)), expected)
  expect_identical(spectrum(free, list(2, 0.1)), expected)
  expect_identical(spectrum(fixed$events, NULL), expected)

  expect_ancify_error(demography(), "input", "events")
  expect_ancify_error(demography(event_equilibrium(), 3), "input", "not 3")
  expect_ancify_error(demography(function() 1), "input", "arguments")
  for (params in list(NULL, 1, c(1, 2, 3), c(nu = 1, t = 2), c(nu = NA, time = 1), c("a", "b"))) {
    expect_ancify_error(spectrum(free, params), "input", "`params`")
  }
  expect_ancify_error(spectrum(fixed, 1), "input", "no parameters")
  expect_ancify_error(spectrum(3, NULL), "input", "`model`")
  expect_ancify_error(spectrum(demography(function(x) x), 1), "input", "list of events")
})

test_that("models are printed", {
  expect_output(
    print(demography_model("split_mig")),
    "<demography> 4 parameters\n  parameters  nu1, nu2, time, m\n", fixed = TRUE
  )
  expect_output(print(demography_model("split_mig")), "event_split(1)", fixed = TRUE)
  lines <- utils::capture.output(print(demography_model("OutOfAfrica_2L06")))
  expect_length(lines, 6)
  expect_identical(lines[1], "<demography> 5 events")
  expect_match(lines[4], "split: parent = 1", fixed = TRUE)
  odd <- demography(
    event_equilibrium(), event_split(1), event_epoch(1, c(1, 1), theta0 = function(t) 1),
    event_epoch(1, list(size_history(1, 2), 1), m = list(list(0, function(t) 2), list(0.5, 0)))
  )
  expect_output(print(odd), "theta0 = a function", fixed = TRUE)
  expect_output(print(odd), "nu = [1 to 2, 1], m = [0 a function; 0.5 0]", fixed = TRUE)
})

test_that("the published models have the values of their papers", {
  path <- test_data("demography_models.json")
  published <- jsonlite::fromJSON(path, simplifyVector = FALSE)
  expect_setequal(names(published), grep("[0-9][LGR][0-9]", demography_model(), value = TRUE))
  for (name in names(published)) {
    steps <- published[[name]]$steps
    sizes <- c(2, 3, 2, 1)[seq_len(populations_after(core_events(steps)))]
    spectrum <- function(model) {
      suppressWarnings(expected_sfs(model, NULL, sizes, 7, time = "dadi"))
    }
    expect_equal(spectrum(demography_model(name)), spectrum(steps), tolerance = 1e-12)
  }
})

test_that("models by name agree in special cases", {
  spectrum <- function(name, ...) {
    plain_array(
      coarse_sfs(demography_model(name), c(...), if (grepl(two, name)) c(4, 5) else 8, 20)
    )
  }
  two <- "_2d|split|IM"
  expect_equal(spectrum("two_epoch", 1, 0.3), spectrum("snm"), tolerance = 0.01)
  expect_equal(spectrum("growth", 3, 0.2), spectrum("bottlegrowth", 1, 3, 0.2))
  expect_equal(spectrum("three_epoch", 2, 2, 0.1, 0.2), spectrum("two_epoch", 2, 0.3),
               tolerance = 1e-4)
  expect_equal(spectrum("split_asym_mig", 2, 0.5, 0.2, 1, 1), spectrum("split_mig", 2, 0.5, 0.2, 1))
  expect_equal(spectrum("split_delay_mig", 2, 0.5, 0.2, 0, 1, 2),
               spectrum("split_asym_mig", 2, 0.5, 0.2, 0, 0))
  expect_equal(spectrum("bottlegrowth_split", 0.5, 3, 0.3, 0.1),
               spectrum("bottlegrowth_split_mig", 0.5, 3, 0, 0.3, 0.1))
  expect_equal(spectrum("bottlegrowth_2d", 0.5, 3, 0.3),
               spectrum("bottlegrowth_split", 0.5, 3, 0.3, 0), tolerance = 1e-6)
  expect_equal(spectrum("IM_pre", 1, 0, 0.4, 2, 3, 0.2, 1, 2), spectrum("IM", 0.4, 2, 3, 0.2, 1, 2))
  pre <- list(
    event_equilibrium(), event_epoch(0.3, 2), event_split(1),
    event_epoch(0.2, list(size_history(0.8, 2), size_history(1.2, 3)), rbind(c(0, 1), c(2, 0)))
  )
  expect_equal(spectrum("IM_pre", 2, 0.3, 0.4, 2, 3, 0.2, 1, 2),
               plain_array(coarse_sfs(pre, NULL, c(4, 5), 20)), tolerance = 1e-12)
  for (name in demography_model()) expect_s3_class(demography_model(name), "demography")
  expect_ancify_error(demography_model("none"), "input", "none")
})

test_that("a sample of one haplotype has no variable sites", {
  one <- expect_no_warning(expected_sfs(demography_model("snm"), NULL, c(A = 1), c(10, 12)))
  expect_true(all(attr(one, "mask")))
})

test_that("an epoch of length 0 changes nothing", {
  grown <- function(time) {
    growth <- event_epoch(time, list(size_history(1, 5)), theta0 = size_history(1, 2))
    list(event_equilibrium(), growth)
  }
  expect_identical(coarse_sfs(grown(0), NULL, 4, 20),
                   coarse_sfs(demography_model("snm"), NULL, 4, 20))
})

test_that("a mutation rate holds until another is given", {
  spectrum <- function(...) plain_array(expected_sfs(list(...), NULL, 6, c(20, 24)))
  one <- spectrum(event_equilibrium(), event_epoch(0.1, 2), event_epoch(0.2, 1))
  expect_equal(
    spectrum(event_equilibrium(theta0 = 100), event_epoch(0.1, 2), event_epoch(0.2, 1)), 100 * one
  )
  given <- spectrum(event_equilibrium(), event_epoch(0.1, 2, theta0 = size_history(1, 3)),
                    event_epoch(0.2, 1, theta0 = 3))
  expect_identical(
    spectrum(event_equilibrium(), event_epoch(0.1, 2, theta0 = size_history(1, 3)),
             event_epoch(0.2, 1)),
    given
  )
  expect_equal(
    spectrum(event_equilibrium(), event_epoch(0.1, 2, theta0 = size_history(1, 9, 0.2)),
             event_epoch(0.2, 1)), given
  )
  expect_output(print(event_epoch(0.1, 2, theta0 = 1)), "theta0 = 1", fixed = TRUE)
  expect_output(print(event_epoch(0.1, 2)), "T = 0.1, nu = 2$")
})

test_that("invalid events are errors in the user's terms", {
  start <- list(event_equilibrium(), event_split(1))
  of <- function(...) expected_sfs(c(start, list(...)), NULL, c(2, 2), 10)
  expect_ancify_error(of(event_epoch(1, 1)), "input", "Event 3", "event_epoch()", "`nu`",
                      "1 value for 2 populations")
  expect_ancify_error(of(event_epoch(1, c(1, -1))), "input", "event 3", "size of population 2",
                      "-1")
  expect_ancify_error(of(event_epoch(1, c(1, 0))), "input", "above 0")
  expect_ancify_error(of(event_epoch(-1, c(1, 1))), "input", "event 3", "-1")
  expect_ancify_error(of(event_epoch(NA, c(1, 1))), "input", "event_epoch(): `duration`")
  expect_ancify_error(of(event_epoch(1, c(1, 1), m = -2)), "input", "migration into population 1")
  expect_ancify_error(of(event_epoch(1, c(1, 1), m = diag(3))), "input", "3 x 3")
  expect_ancify_error(of(event_epoch(1, c(1, 1), m = list(1, 2, 3))), "input", "2 rows")
  expect_ancify_error(of(event_epoch(1, c(1, 1), m = 1, frozen = c(TRUE, FALSE))), "input",
                      "population 1 is frozen")
  expect_ancify_error(of(event_epoch(1, c(1, 1), frozen = NA)), "input", "`frozen`")
  expect_ancify_error(of(event_epoch(1, c(1, 1), theta0 = -1)), "input", "theta")
  expect_ancify_error(of(event_epoch(1, list(size_history(1, 0), 1))), "input", "from 1 to 0")
  expect_ancify_error(of(event_epoch(1, list(size_history(1, 2, 0), 1))), "input", "duration 0")
  expect_ancify_error(of(event_epoch(1, list(function(t) "a", 1))), "input", "size of population 1")
  expect_error(of(event_epoch(1, list(function(t) stop("mine"), 1))), "mine")
  expect_ancify_error(of(event_split(3)), "input", "`parent` is 3", "1 to 2")
  expect_ancify_error(of(event_pulse(1, c("1" = 0.2))), "input", "`props`")
  expect_ancify_error(of(event_pulse(1, 0.2)), "input", "`props`")
  expect_ancify_error(of(event_pulse(1, c("2" = 1.2))), "input", "Event 3", "at most 1")
  expect_ancify_error(of(event_admixture(c(0.5, 0.4))), "input", "sum 1")
  expect_ancify_error(of(event_reordering(c(1, 1))), "input", "`order`")
  expect_ancify_error(of(event_removal(0)), "input", "`pop`")
  expect_ancify_error(of(list(op = "integrate", "T" = 1, nu = c(1, 1), gama = 2)), "input", "gama")
  expect_ancify_error(of(list(op = c("split", "x"))), "input", "Event 3")
  expect_ancify_error(of(event_removal(1), event_removal(1)), "input", "last population")
  expect_ancify_error(of(list(op = "other")), "input", "Event 3", "other")
  expect_ancify_error(of(3), "input", "Event 3")
  expect_ancify_error(expected_sfs(list(event_epoch(1, 1)), NULL, 2, 10), "input",
                      "The first event")
  six <- c(list(event_equilibrium()), rep(list(event_split(1)), 5))
  expect_ancify_error(expected_sfs(six, NULL, rep(1, 6), 10), "input", "more than 5")
})

test_that("invalid samples and grids are errors", {
  of <- function(sizes = 4, pts = 10, ...) {
    expected_sfs(list(event_equilibrium()), NULL, sizes, pts, ...)
  }
  for (sizes in list(0, 2.5, NA, c(2, 2), "a", NULL)) {
    expect_ancify_error(of(sizes), "input", "`sample_sizes`")
  }
  for (pts in list(3, 10.5, NA, "a", c(10, 10), 11:17)) {
    expect_ancify_error(of(pts = pts), "input", "`pts`")
  }
  expect_ancify_error(of(20, c(20, 30)), "input", "20 points", "20 haplotypes")
  expect_ancify_error(of(time = "other"), "input", "`time`")
  expect_ancify_error(of(extrapolate = "other"), "input", "`extrapolate`")
  expect_ancify_error(of(sampling = "other"), "input", "`sampling`")
  expect_ancify_error(of(sampling = sampling_ascertained(2)), "input", "`population`")
  expect_ancify_error(of(sampling = sampling_admixed(diag(2))), "input", "`shares`")
  expect_ancify_error(of(sampling = sampling_inbred(2)), "input", "`inbreeding`")
  expect_ancify_error(of(5, sampling = sampling_inbred(0.2)), "input", "`ploidy`")
  expect_ancify_error(of(5, sampling = sampling_inbred(0, 2.5)), "input", "`ploidy`")
  for (sizes in list(c(A = 2, A = 2), c(A = 2, 2))) {
    expect_ancify_error(
      expected_sfs(list(event_equilibrium(), event_split(1)), NULL, sizes, 10), "input"
    )
  }
  skip_if(nrow(available_gpus()) > 0, "a GPU is here")
  expect_error(of(backend = "gpu"), "GPU|driver|CUDA", class = "ancify_device_error")
})
