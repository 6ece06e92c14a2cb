spectrum_of <- function(model, params, sizes) {
  x <- expected_sfs(model, params, sizes, 12)
  plain_array(x)[!attr(x, "mask")]
}

write_yaml <- function(...) {
  file <- tempfile(fileext = ".yaml")
  writeLines(c(...), file)
  file
}

test_that("models that are written and read are the same", {
  cases <- list(
    two_epoch = c(2, 0.1), growth = c(3, 0.2), bottlegrowth_split_mig = c(0.5, 3, 1, 0.3, 0.1),
    IM = c(0.4, 2, 3, 0.2, 1, 2), split_delay_mig = c(2, 0.5, 0.2, 0.1, 1, 2),
    OutOfAfrica_2L06 = NULL, OutOfAfrica_3G09 = NULL, NewWorld_4G09_no_admixture = NULL,
    ArchaicAdmixture_5R19 = NULL
  )
  for (name in names(cases)) {
    model <- demography_model(name)
    file <- tempfile()
    write_demes(model, file, cases[[name]], reference_size = 7300)
    again <- read_demes(file)
    expect_equal(attr(again, "reference_size"), 7300)
    sizes <- rep(3, length(attr(again, "samples")))
    expect_equal(spectrum_of(again, NULL, sizes), spectrum_of(model, cases[[name]], sizes),
                 tolerance = 1e-9)
  }
})

test_that("admixture, pulses, frozen and linear ones are written too", {
  model <- demography(
    event_equilibrium(2), event_split(1), event_epoch(0.1, c(1, 2), rbind(c(0, 0.5), c(0, 0))),
    event_admixture(c(0.3, 0.7)),
    event_epoch(0.05, list(1, course(2, 1, shape = "linear"), course(0.5, 3))),
    event_pulse(2, c("1" = 0.1, "3" = 0.2)),
    event_epoch(0.05, c(1, 1, 3), frozen = c(TRUE, FALSE, FALSE)), event_reordering(c(3, 1, 2))
  )
  file <- tempfile()
  write_demes(model, file, reference_size = 500, demes = c("A", "B", "C"), description = "a test")
  again <- read_demes(file, c("C", "A", "B"))
  # The file's reference is the oldest size, twice that of the model.
  expect_equal(attr(again, "reference_size"), 1000)
  expect_equal(2 * spectrum_of(again, NULL, c(2, 3, 4)), spectrum_of(model, NULL, c(2, 3, 4)),
               tolerance = 1e-3)
  expect_identical(attr(read_demes(file), "samples"), c("B", "C"))
  expect_identical(yaml::read_yaml(file)$description, "a test")
})

test_that("defaults, years, branches and ancient samples are read", {
  file <- write_yaml(
    "time_units: years", "generation_time: 25", "defaults: {epoch: {start_size: 1000}}", "demes:",
    "  - name: anc", "    epochs: [{end_time: 220e3, start_size: 7300}]",
    "  - {name: AMH, ancestors: [anc], epochs: [{end_time: 140e3, start_size: 12300}]}",
    "  - {name: OOA, ancestors: [AMH], epochs: [{end_time: 21.2e3, start_size: 2100}]}",
    "  - {name: YRI, ancestors: [AMH], epochs: [{start_size: 12300}]}",
    "  - {name: CEU, ancestors: [OOA], epochs: [{end_size: 29725}]}",
    "  - {name: old, ancestors: [OOA], start_time: 30000, epochs: [{end_time: 9000}]}",
    "  - {name: ADM, ancestors: [YRI, CEU], proportions: [0.3, 0.7], start_time: 5000}",
    "migrations:",
    "  - {demes: [YRI, OOA], rate: 25e-5}",
    "  - {demes: [YRI, CEU], rate: 3e-5, end_time: 1000}",
    "pulses:", "  - {sources: [YRI], dest: CEU, proportions: [0.05], time: 8000}"
  )
  years <- 1 / (2 * 7300 * 25)
  rate <- 2 * 7300
  ceu <- function(from, to) {
    at <- function(t) 1000 * 29.725^((21200 - t) / 21200) / 7300
    course(at(from), at(to))
  }
  yri <- 12300 / 7300
  sides <- function(n, i, j, m) replace(matrix(0, n, n), cbind(c(i, j), c(j, i)), m * rate)
  expected <- list(
    event_equilibrium(), event_epoch(80000 * years, yri), event_split(1),
    event_epoch(110000 * years, c(2100 / 7300, yri), sides(2, 1, 2, 25e-5)), event_split(1),
    event_epoch(8800 * years, c(2100, 12300, 1000) / 7300, sides(3, 1, 2, 25e-5)),
    event_epoch(12200 * years, list(ceu(21200, 9000), yri, 1000 / 7300), sides(3, 1, 2, 3e-5))
  )
  after <- function(last) list(
    event_epoch(1000 * years, list(ceu(9000, 8000), yri, 1), sides(3, 1, 2, 3e-5),
                frozen = c(FALSE, FALSE, TRUE)),
    event_pulse(1, c("2" = 0.05)),
    event_epoch(7000 * years, list(ceu(8000, 1000), yri, 1), sides(3, 1, 2, 3e-5),
                frozen = c(FALSE, FALSE, TRUE)),
    event_epoch(1000 * years, list(ceu(1000, 0), yri, 1), frozen = c(FALSE, FALSE, TRUE))
  )
  three <- read_demes(file, c("CEU", "YRI", "old"))
  expect_equal(spectrum_of(three, NULL, c(3, 4, 2)),
               spectrum_of(c(expected, after()), NULL, c(3, 4, 2)), tolerance = 0.02)
  expect_identical(attr(read_demes(file), "samples"), c("YRI", "CEU", "ADM"))
  expect_output(print(read_demes(file)), "new_pop: props = [", fixed = TRUE)
})

test_that("what is no Demes file, or no model here, is an error that names the file", {
  refused <- function(..., text) {
    file <- write_yaml(...)
    condition <- expect_ancify_error(read_demes(file), "format", file, text)
    expect_identical(condition$file, file)
  }
  units <- "time_units: generations"
  root <- c(units, "demes:", "  - {name: a, epochs: [{start_size: 100}]}")
  refused("a: [", text = "YAML")
  refused("3", text = "list of demes")
  refused(units, "demes: []", text = "list of demes")
  refused("time_units: years", root[-1], text = "generation_time")
  refused(root, root[3], text = "name of its own")
  refused(root, "  - {name: b, epochs: [{start_size: 100}]}", text = "2 demes have no beginning")
  refused(root, "  - {name: b, ancestors: [c], start_time: 5}", text = "ancestor c")
  refused(root, "  - {name: b, ancestors: [a], start_time: x, epochs: [{start_size: 1}]}",
          text = "'x'")
  refused(root, "  - {name: b, ancestors: [a], start_time: 5, epochs: [{start_size: 0}]}",
          text = "size from 0")
  refused(root, "  - {name: b, ancestors: [a], start_time: 5}", text = "start_size")
  refused(root,
          "  - {name: b, ancestors: [a], start_time: 5, epochs: [{start_size: 1, end_time: 9}]}",
          text = "from 5 to 9")
  refused(units, "demes:", "  - {name: a, epochs: [{start_size: 100, selfing_rate: 0.5}]}",
          text = "selfing_rate")
  refused(root, "migrations: [{source: a, dest: b, rate: 0.1}]", text = "demes there are not")
  refused(root, "migrations: [{demes: [a, a], rate: -1}]", text = "rate")
  refused(root, "pulses: [{sources: [b], dest: a, proportions: [0.1], time: 3}]", text = "pulse")
  expect_ancify_error(read_demes(tempfile()), "file", "no such file")
  expect_ancify_error(read_demes(write_yaml(root), "b"), "input", "`samples`")
})

test_that("what Demes can't say is an error that leaves no file", {
  refused <- function(model, text, ...) {
    file <- tempfile()
    expect_ancify_error(write_demes(model, file, reference_size = 100, ...), "input", text)
    expect_false(file.exists(file))
  }
  of <- function(...) list(event_equilibrium(), event_epoch(0.1, ...))
  refused(list(event_equilibrium(gamma = 1)), "selection")
  refused(of(1, gamma = 1), "selection")
  refused(of(1, theta0 = course(1, 2)), "mutation")
  refused(of(function(t) 1), "function")
  refused(demography_model("snm_2d"), "no time")
  refused(of(1), "`demes`", demes = c("a", "b"))
  expect_ancify_error(
    write_demes(of(1), tempfile(), reference_size = -1), "input", "reference_size"
  )
})
