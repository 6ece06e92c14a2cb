# Demes files with fields that are parameters.

admixed_file <- function() {
  yaml_file(
    "time_units: years", "generation_time: 25",
    "demes:",
    "- {name: anc, epochs: [{start_size: 1e4, end_time: 50000}]}",
    "- {name: A, ancestors: [anc], epochs: [{start_size: 2e4}]}",
    paste0("- {name: B, ancestors: [anc], ",
           "epochs: [{start_size: 5000, end_time: 20000}, {end_size: 8000}]}"),
    "- {name: C, ancestors: [A, B], proportions: [0.3, 0.7], start_time: 10000,",
    "   epochs: [{start_size: 3000}]}",
    "migrations:",
    "- {demes: [A, B], rate: 1e-4}",
    "pulses:",
    "- {sources: [A], dest: B, proportions: [0.1], time: 5000}"
  )
}

free_file <- function(...) {
  yaml_file(
    "parameters:",
    "- name: split", "  description: time of the split", "  values:",
    "  - demes: {anc: {epochs: {0: end_time}}}", "  lower_bound: 20000", "  upper_bound: 1e6",
    "- {name: N_B, values: [{demes: {B: {epochs: {0: start_size}}}}], upper_bound: 50000}",
    "- {name: grown, values: [demes: {B: {epochs: {1: end_size}}}]}",
    "- {name: share, values: [demes: {C: {proportions: 0}}], lower_bound: 0, upper_bound: 1}",
    "- {name: begin, values: [demes: {C: start_time}]}",
    "- {name: m, values: [migrations: {0: rate}]}",
    "- {name: f, values: [pulses: {0: {proportions: 0}}]}",
    "- {name: when, values: [pulses: {0: time}]}",
    ...
  )
}

test_that("each kind of place is changed as in a file with other values", {
  model <- read_demes(admixed_file(), parameters = free_file())
  start <- c(split = 50000, N_B = 5000, grown = 8000, share = 0.3, begin = 10000, m = 1e-4, f = 0.1,
             when = 5000)
  expect_identical(attr(model, "start"), start)
  expect_identical(attr(model, "lower"), c(split = 20000, share = 0))
  expect_identical(attr(model, "upper"), c(split = 1e6, N_B = 50000, share = 1))
  expect_identical(attr(model, "samples"), c("A", "B", "C"))
  spectrum <- function(...) coarse_sfs(..., sizes = c(2, 2, 2), pts = 10)
  plain <- read_demes(admixed_file())
  expect_identical(spectrum(model, start), spectrum(plain))
  changed <- c(split = 60000, N_B = 4000, grown = 9000, share = 0.4, begin = 9000, m = 2e-4,
               f = 0.2, when = 4000)
  lines <- readLines(admixed_file())
  with <- function(from, to) lines <<- sub(from, to, lines, fixed = TRUE)
  with("end_time: 50000", "end_time: 60000")
  with("start_size: 5000", "start_size: 4000")
  with("end_size: 8000", "end_size: 9000")
  with("[0.3, 0.7]", "[0.4, 0.6]")
  with("start_time: 10000", "start_time: 9000")
  with("rate: 1e-4", "rate: 2e-4")
  with("[0.1], time: 5000", "[0.2], time: 4000")
  expect_equal(spectrum(model, changed), spectrum(read_demes(yaml_file(lines))))
  # By name, in any order
  expect_identical(spectrum(model, rev(changed)), spectrum(model, changed))
})

test_that("an infinite bound is none, and demes keep their names", {
  free <- yaml_file("parameters:", "- {name: a, values: [pulses: {0: time}], upper_bound: .inf}")
  model <- read_demes(admixed_file(), parameters = free)
  expect_null(attr(model, "upper"))
  expect_match(summary(model, 5000)$sentences, "C begins, with 70 % of B and 30 % of A",
               all = FALSE, fixed = TRUE)
})

test_that("constraints and values that Demes does not allow are invalid parameters", {
  constrained <- free_file(
    "constraints:", "- {params: [split, begin], constraint: greater_than}",
    "- {params: [when, begin], constraint: less_than}"
  )
  model <- read_demes(admixed_file(), parameters = constrained)
  at <- function(...) {
    coarse_sfs(model, replace(attr(model, "start"), ...), c(2, 2, 2), 10)
  }
  expect_s3_class(at("when", 9000), "sfs")
  expect_ancify_error(at("when", 10000), "input", "begin must be greater than when")
  expect_ancify_error(at("share", 1.5), "input", "proportions")
  expect_ancify_error(at("m", 2), "input", "rate")
})

test_that("a fit takes its start and bounds from the file", {
  file <- yaml_file(
    "time_units: generations", "demes:",
    "- {name: anc, epochs: [{start_size: 10000, end_time: 1000}]}",
    "- {name: A, ancestors: [anc], epochs: [{start_size: 20000}]}"
  )
  free <- yaml_file(
    "parameters:",
    paste0("- {name: N, values: [demes: {A: {epochs: {0: start_size}}}], ",
           "lower_bound: 0, upper_bound: 1e6}"),
    "- {name: T, values: [demes: {anc: {epochs: {0: end_time}}}], lower_bound: 10}"
  )
  model <- read_demes(file, parameters = free)
  truth <- c(N = 30000, T = 4000)
  data <- expected_sfs(model, truth, c(A = 10), c(20, 25, 30)) * 4000
  fit_it <- function(...) {
    set.seed(950)
    fit_demography(model, data, ..., pts = c(20, 25, 30), starts = 3, progress = FALSE)
  }
  fit <- fit_it()
  expect_true(fit$converged)
  # Also on the linear scale, which a lower bound of 0 asks for.
  expect_equal(coef(fit), truth, tolerance = 0.01)
  expect_identical(fit$bounds$lower, c(0, 10))
  expect_identical(fit$bounds$upper_of, c("user", "default"))
  other <- fit_it(start = c(N = 25000), lower = c(T = 20))
  expect_equal(coef(other), truth, tolerance = 0.01)
  expect_identical(other$bounds$lower, c(0, 20))
  expect_equal(coef(fit_it(fixed = c(N = 30000))), truth["T"], tolerance = 0.01)
  expect_equal(coef(update(fit, fixed = c(N = 30000))), truth["T"], tolerance = 0.01)
})

test_that("faults of the file are errors that name it", {
  wrong <- function(parameters, ...) {
    expect_ancify_error(
      read_demes(admixed_file(), parameters = yaml_file("parameters:", parameters)), "format", ...
    )
  }
  wrong("- {name: a, values: [demes: {X: start_time}]}", "unknown deme 'X'")
  wrong("- {name: a, values: [demes: {A: start_time}]}", "which the Demes file does not have")
  wrong("- {name: a, values: [demes: {A: {epochs: {3: end_size}}}]}", "does not have")
  wrong("- {name: a, values: [demes: {A: {epochs: {x: end_size}}}]}", "'x' is no number")
  wrong("- {name: a, values: [demes: {A: {epochs: {0: end_size}}}]}",
        "a names demes 1 epochs 0 end_size, which the Demes file does not have")
  wrong("- {name: a, values: [demes: {A: {epochs: {0: [end_size, end_time]}}}]}",
        "one field's name")
  wrong("- {name: a, values: [demes: {A: {colour: 0}}]}", "'colour' cannot be fitted")
  wrong("- {name: a, values: [migrations: {4: rate}]}", "does not have")
  wrong("- {name: a, values: [pulses: {0: dest}]}", "must be a number")
  wrong("- {name: a, values: [trees: {0: rate}]}", "unknown field 'trees'")
  wrong("- {name: a, values: 3}", "the values of a")
  wrong("- {name: 3, values: [pulses: {0: time}]}", "needs a name")
  wrong("- {name: a, value: 3}", "unknown field 'value'")
  wrong("- {name: a, values: [pulses: {0: time}], lower_bound: low}", "lower_bound of a")
  wrong(rep("- {name: a, values: [pulses: {0: time}]}", 2), "occurs twice")
  wrong(
    "- {name: a, values: [demes: {A: {epochs: {0: start_size}}, B: {epochs: {0: start_size}}}]}",
    "differ in the Demes file", "20000", "5000"
  )
  wrong("- {name: a, values: [demes: {C: {proportions: 1}}]}", "last share")
  wrong(c("- {name: a, values: [pulses: {0: time}]}",
          "- {name: b, values: [{pulses: {0: time}}]}"),
        "pulses 0 time is a value of two parameters")
  wrong("- {name: a, values: [pulses: {0.5: time}]}", "'0.5' is no number")
  for (bounds in c("lower_bound: 6000", "upper_bound: 4000", "lower_bound: 5000, upper_bound: 5000",
                   "lower_bound: 6000, upper_bound: 4000")) {
    wrong(sprintf("- {name: a, values: [pulses: {0: time}], %s}", bounds),
          "a is 5000", "between its bounds")
  }
  wrong("  3", "parameters must be a list")
  pulse <- "- {name: a, values: [pulses: {0: time}]}"
  wrong(c(pulse, "constraints: [{params: [a, b], constraint: less_than}]"), "two of the parameters")
  wrong(c(pulse, "constraints: [{params: [a, a], constraint: equal}]"), "greater_than or less_than")
  wrong(c(pulse, "constraints: [{params: [a, a], constraint: less_than}]"), "make no model")
  wrong(c(pulse, "constraints: 3"), "constraint")
  expect_ancify_error(read_demes(admixed_file(), parameters = "/nowhere"), "file")
  expect_ancify_error(read_demes(admixed_file(), parameters = yaml_file("[")), "format", "YAML")
  expect_ancify_error(read_demes(admixed_file(), parameters = 3), "input", "`parameters`")
})
