# Reading and writing Demes files.

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

test_that("admixture, pulses, frozen populations and linear change are written too", {
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
  # The file's reference is its oldest size, twice the model's.
  expect_equal(attr(again, "reference_size"), 1000)
  expect_equal(2 * spectrum_of(again, NULL, c(2, 3, 4)), spectrum_of(model, NULL, c(2, 3, 4)),
               tolerance = 1e-3)
  expect_identical(attr(read_demes(file), "samples"), c("C", "A", "B"))
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
  old <- 1000 / 7300
  m <- function(n, share) replace(matrix(0, n, n), cbind(1:2, 2:1), share * rate)
  frozen <- c(FALSE, FALSE, TRUE)
  expected <- list(
    event_equilibrium(), event_epoch(80000 * years, yri), event_split(1),
    event_epoch(110000 * years, c(yri, 2100 / 7300), m(2, 25e-5)), event_split(2),
    event_epoch(8800 * years, c(yri, 2100 / 7300, old), m(3, 25e-5)),
    event_epoch(12200 * years, list(yri, ceu(21200, 9000), old), m(3, 3e-5)),
    event_epoch(1000 * years, list(yri, ceu(9000, 8000), old), m(3, 3e-5), frozen = frozen),
    event_pulse(2, c("1" = 0.05)),
    event_epoch(3000 * years, list(yri, ceu(8000, 5000), old), m(3, 3e-5), frozen = frozen),
    event_admixture(c(0.3, 0.7, 0)),
    event_epoch(4000 * years, list(yri, ceu(5000, 1000), old, old), m(4, 3e-5),
                frozen = c(frozen, FALSE)),
    event_epoch(1000 * years, list(yri, ceu(1000, 0), old, old), frozen = c(frozen, FALSE)),
    event_removal(4), event_reordering(c(2, 1, 3))
  )
  three <- read_demes(file, c("CEU", "YRI", "old"))
  expect_equal(core_events(three$events), core_events(expected), tolerance = 1e-10)
  expect_identical(attr(read_demes(file), "samples"), c("YRI", "CEU", "ADM"))
  expect_output(print(read_demes(file)), "new_pop: props = [", fixed = TRUE)
})

test_that("invalid files and models are errors that name the file", {
  refused <- function(..., text) {
    file <- write_yaml(...)
    condition <- expect_ancify_error(read_demes(file), "format", file, text)
    expect_identical(condition$file, file)
  }
  units <- "time_units: generations"
  root <- c(units, "demes:", "  - {name: a, epochs: [{start_size: 100}]}")
  refused("a: [", text = "YAML")
  refused("3", text = "mapping")
  refused(units, "demes: []", text = "demes must be a list")
  refused(units, "demes: {A: 1}", text = "demes must be a list")
  refused("time_units: generations", "generation_time: 25", root[-1], text = "generation_time")
  refused(root, "migration: [{source: a, dest: b, rate: 1}]", text = "'migration'")
  refused(root, "migrations: [foo]", text = "list of mappings")
  refused(root, "migrations: {demes: [a, b], rate: 1e-4}", text = "list of mappings")
  refused("defaults: foo", root, text = "defaults must be a mapping")
  refused("defaults: {epoch: bar}", root, text = "defaults of epoch")
  refused(units, "demes:", "  - {name: a, epochs: []}", text = "epochs of deme a")
  refused(units, "demes:", "  - {name: '', epochs: [{start_size: 1}]}", text = "a unique name")
  refused(units, "demes:", "  - {name: a b, epochs: [{start_size: 1}]}", text = "a unique name")
  refused(units, "demes:", "  - {name: a, epochs: [{start_size: .inf}]}", text = "start_size")
  refused(units, "demes:", "  - {name: a, epochs: [{start_size: 1, size_function: b}]}",
          text = "size_function")
  refused(units, "demes:", "  - {name: a, epochs: [{start_size: 1, cloning_rates: 1}]}",
          text = "'cloning_rates'")
  refused(units, "demes:", "  - {name: a, epochs: [{start_size: 1, end_time: 10}]}",
          text = "`samples`")
  refused("time_units: years", root[-1], text = "generation_time")
  refused(root, root[3], text = "a unique name")
  refused(root, "  - {name: b, epochs: [{start_size: 100}]}", text = "2 demes have no ancestors")
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
  refused(root, "migrations: [{source: a, dest: b, rate: 0.1}]", text = "unknown deme 'b'")
  refused(root, "pulses: [{sources: [b], dest: a, proportions: [0.1], time: 3}]", text = "pulse")
  three <- c(
    units, "defaults: {epoch: {start_size: 1000}}", "demes:",
    "  - {name: A, epochs: [{end_time: 100}]}", "  - {name: B, ancestors: [A]}",
    "  - {name: C, ancestors: [A]}"
  )
  pulse <- function(..., text) refused(three, sprintf("pulses: [{%s}]", paste0(...)), text = text)
  pulse("sources: [B], dest: C, proportion: 0.5, time: 50", text = "'proportion'")
  pulse("dest: C, proportions: [0.5], time: 50", text = "sources")
  pulse("sources: [B], dest: C, proportions: [], time: 50", text = "proportions")
  pulse("sources: [B, B], dest: C, proportions: [0.1, 0.1], time: 50", text = "each once")
  pulse("sources: [C], dest: C, proportions: [0.1], time: 50", text = "another deme")
  pulse("sources: [B], dest: C, proportions: [abc], time: 50", text = "'abc'")
  for (time in c("500", "0", ".inf")) {
    pulse("sources: [B], dest: C, proportions: [0.5], time: ", time, text = "time")
  }
  pulse("sources: [A], dest: C, proportions: [0.5], time: 50", text = "not all of them exist")
  migration <- function(..., text) {
    refused(three, sprintf("migrations: [{%s}]", c(...)), text = text)
  }
  migration("demes: [B, C], rate: -1", text = "rate")
  migration("demes: [B, C], rate: 5", text = "rate")
  migration("demes: [B], rate: 0.1", text = "different demes")
  migration("source: C, dest: C, rate: 0.1", text = "different demes")
  migration("source: [B, C], dest: C, rate: 0.1", text = "source")
  migration("source: [], dest: C, rate: 0.1", text = "different demes")
  migration("demes: [B, C], rate: 0.7}, {source: A, dest: B, rate: 0.7", text = "from")
  refused("time_units: .na.character", "generation_time: 3", root[-1], text = "time_units")
  migration("source: B, dest: C, demes: [B, C], rate: 0.1", text = "either demes, or")
  migration("demes: [B, C], rate: 0.1, start_time: 200", text = "from 200 to 0")
  migration("demes: [B, C], rate: 0.1, start_time: 10, end_time: 20", text = "from 10 to 20")
  refused(three, "migrations: [{demes: [B, C], rate: 0.1}, {source: B, dest: C, rate: 0.1}]",
          text = "overlap")
  refused(three, "  - {name: D, ancestors: [A]}", "migrations: [{demes: [B, C, D], rate: 0.7}]",
          text = "add up to more than 1")
  refused(three, "  - {name: D, ancestors: [A], start_time: 50}",
          text = "ancestor A does not exist")
  refused(three, "  - {name: D, ancestors: [B, B], proportions: [0.5, 0.5], start_time: 50}",
          text = "each once")
  refused(three, "  - {name: D, ancestors: [B, C], proportions: [1.5, -0.5], start_time: 50}",
          text = "proportions")
  six <- sprintf("  - {name: %s, ancestors: [A], start_time: 100}", c("D", "E", "F", "G"))
  refused(three, six, text = "more than 5 demes")
  expect_ancify_error(read_demes(tempfile()), "file", "no such file")
  expect_ancify_error(read_demes(write_yaml(root), "b"), "input", "`samples`")
})

test_that("words and numbers follow YAML 1.2", {
  file <- write_yaml(
    "time_units: generations", "demes:", "  - {name: N, epochs: [{start_size: 3000000000}]}",
    "  - {name: y, ancestors: [N], start_time: 010, epochs: [{start_size: 1e3}]}"
  )
  model <- expect_no_warning(read_demes(file))
  expect_identical(attr(model, "reference_size"), 3e9)
  expect_identical(attr(model, "samples"), c("N", "y"))
  expect_equal(model$events[[3]][["T"]], 10 / 6e9)
})

test_that("files are UTF-8 in any locale", {
  lines <- c(
    "time_units: generations", "description: Ten\u00e9rio", "defaults: {epoch: {start_size: 100}}",
    "demes:", "  - {name: A}", "  - {name: B, ancestors: [A], start_time: 9}",
    "migrations: [{demes: [A, B], rate: 0.01}]"
  )
  file <- tempfile()
  writeLines(enc2utf8(lines), file, useBytes = TRUE)
  expected <- read_demes(file)
  expect_equal(expected$events[[3]]$m, rbind(c(0, 2), c(2, 0)))
  locale <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", locale))
  Sys.setlocale("LC_CTYPE", "C")
  expect_identical(read_demes(file), expected)
  writeBin(c(readBin(file, "raw", 1e4), as.raw(0xe9)), file)
  expect_ancify_error(read_demes(file), "format", "UTF-8")
  writeBin(as.raw(c(65, 0, 66)), file)
  expect_ancify_error(read_demes(file), "format", "UTF-8")
})

test_that("a given field replaces its default as a whole", {
  file <- write_yaml(
    "time_units: generations", "defaults:", "  epoch: {start_size: 100}",
    "  pulse: {sources: [B, C], dest: A, proportions: [5e-1, 0.2]}", "demes:", "  - {name: A}",
    "  - {name: B, ancestors: [A], start_time: 200}",
    "  - {name: C, ancestors: [A], start_time: 150}",
    "pulses: [{time: 100, proportions: [1e-1, 0.3]}, {time: 50, proportions: [0, 0.1]}]"
  )
  pulses <- Filter(function(event) event$op == "pulse", read_demes(file)$events)
  expect_equal(pulses[[1]]$props, c("2" = 0.1, "3" = 0.3))
  expect_equal(pulses[[2]]$props, c("2" = 0, "3" = 0.1))
})

test_that("demes that end give ancestry first, then make room", {
  defaults <- c("time_units: generations", "defaults: {epoch: {start_size: 100}}", "demes:")
  file <- write_yaml(
    defaults, "  - {name: A, epochs: [{end_time: 100}]}", "  - {name: B, ancestors: [A]}",
    "  - {name: C, ancestors: [A]}",
    "pulses: [{sources: [A], dest: B, time: 100, proportions: [0.1]}]"
  )
  ops <- vapply(read_demes(file)$events, `[[`, "", "op")
  expect_identical(ops, c("equilibrium", "split", "split", "pulse", "remove", "integrate"))
  expect_identical(spectrum_of(read_demes(file), NULL, c(2, 2)) > 0, rep(TRUE, 7))
  replaced <- write_yaml(
    defaults, "  - {name: R, epochs: [{end_time: 500}]}",
    sprintf("  - {name: %s, ancestors: [R], epochs: [{end_time: %d}]}", LETTERS[1:5],
            c(0L, 0L, 0L, 100L, 100L)),
    "  - {name: F, ancestors: [A], start_time: 100}"
  )
  ops <- vapply(read_demes(replaced)$events, `[[`, "", "op")
  expect_identical(ops[-(1:5)], c("integrate", "remove", "remove", "split", "integrate"))
})

test_that("metadata of other programs are ignored", {
  lines <- c("time_units: generations", "demes: [{name: A, epochs: [{start_size: 9}]}]")
  for (metadata in c("{ancify_other: {samples_x: [B]}}", "{ancify: {samples: [A, A]}}", "3")) {
    file <- write_yaml(lines, paste("metadata:", metadata))
    expect_identical(attr(read_demes(file), "samples"), "A")
  }
})

test_that("a fifth deme takes the place of an ancestor that ends", {
  file <- write_yaml(
    "time_units: generations", "defaults: {epoch: {start_size: 100}}", "demes:",
    "  - {name: R, epochs: [{end_time: 200}]}",
    sprintf("  - {name: %s, ancestors: [R], epochs: [{end_time: %d}]}", LETTERS[1:5],
            c(0L, 0L, 0L, 100L, 100L)),
    "  - {name: F, ancestors: [D, E], proportions: [0.4, 0.6], start_time: 100}"
  )
  model <- read_demes(file)
  kinds <- vapply(model$events, `[[`, "", "op")
  expect_identical(kinds[-(1:5)], c("integrate", "pulse", "remove", "integrate"))
  expect_identical(model$events[[7]]$props, c("1" = 0.6))
})

test_that("pulses into a new deme come after its birth", {
  file <- write_yaml(
    "time_units: generations", "defaults: {epoch: {start_size: 100}}", "demes:",
    "  - {name: A}", "  - {name: B, ancestors: [A], start_time: 100}",
    "  - {name: C, ancestors: [B], start_time: 50}",
    "pulses: [{sources: [A], dest: C, proportions: [0.1], time: 50}]"
  )
  ops <- vapply(read_demes(file)$events, `[[`, "", "op")
  expect_identical(ops, c("equilibrium", "split", "integrate", "split", "pulse", "integrate"))
})

test_that("the final populations and their order are kept", {
  model <- demography(
    event_equilibrium(), event_split(1), event_epoch(0.1, c(1, 2)), event_split(2),
    event_epoch(0.1, c(1, 2, 3)), event_removal(1), event_reordering(c(2, 1))
  )
  file <- tempfile()
  write_demes(model, file, reference_size = 100)
  again <- read_demes(file)
  expect_identical(attr(again, "samples"), c("pop3", "pop2"))
  expect_equal(spectrum_of(again, NULL, c(2, 3)), spectrum_of(model, NULL, c(2, 3)))
  expect_identical(attr(read_demes(file, "pop2"), "samples"), "pop2")
})

test_that("equal times are written as equal", {
  set.seed(12)
  for (i in 1:20) {
    times <- stats::runif(3, 0, 0.1)
    model <- demography(
      event_equilibrium(), event_epoch(times[1], 2), event_split(1),
      event_epoch(times[2], c(1, 2), 1), event_epoch(times[3], c(2, 1), 2)
    )
    file <- tempfile()
    write_demes(model, file, reference_size = stats::runif(1, 100, 20000))
    expect_s3_class(read_demes(file), "demography")
  }
})

test_that("models that Demes cannot describe are errors, and leave no file", {
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
  refused(of(1), "`demes`", demes = "North America")
  refused(of(1), "`description`", description = list(1))
  refused(of(-1), "size of population 1")
  refused(of(1, theta0 = 5), "mutation")
  two <- function(...) list(event_equilibrium(), event_split(1), ...)
  refused(two(event_epoch(0.1, c(1, 2), frozen = c(TRUE, FALSE)), event_epoch(0.1, c(1, 2))),
          "after it was frozen")
  refused(two(event_pulse(1, c("2" = 0.1)), event_epoch(0.1, c(1, 2))), "directly after a split")
  refused(two(event_epoch(0.1, c(1, 2)), event_pulse(1, c("2" = 0.1))), "at the present")
  refused(two(event_epoch(0.1, c(1, 2)), event_pulse(1, c("2" = 0.1)), event_split(1),
              event_removal(1), event_epoch(0.1, c(1, 2))), "ends at that time")
  refused(two(event_epoch(0.01, c(1, 2), m = 1000)), "migrants")
  refused(two(event_split(1), event_epoch(0.01, c(1, 1, 1), m = 150)), "migrants")
  refused(list(event_equilibrium(), event_epoch(1e-17, 2), event_epoch(0.5, 3)), "too short")
  expect_ancify_error(
    write_demes(of(1), tempfile(), reference_size = -1), "input", "reference_size"
  )
})
