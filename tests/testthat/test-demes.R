# Reading and writing Demes files.

spectrum_of <- function(model, params, sizes) {
  segregating(coarse_sfs(model, params, sizes, 12))
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
    event_epoch(0.05, list(1, size_history(2, 1, shape = "linear"), size_history(0.5, 3))),
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
  file <- yaml_file(
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
    size_history(at(from), at(to))
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
    # Without ADM, of which there is no sample
    event_epoch(7000 * years, list(yri, ceu(8000, 1000), old), m(3, 3e-5), frozen = frozen),
    event_epoch(1000 * years, list(yri, ceu(1000, 0), old), frozen = frozen),
    event_reordering(c(2, 1, 3))
  )
  three <- read_demes(file, c("CEU", "YRI", "old"))
  expect_equal(core_events(three$events), core_events(expected), tolerance = 1e-10)
  expect_identical(attr(read_demes(file), "samples"), c("YRI", "CEU", "ADM"))
  expect_output(print(read_demes(file)), "new_pop: props = [", fixed = TRUE)
})

test_that("invalid files and models are errors that name the file", {
  refused <- function(..., text) {
    file <- yaml_file(...)
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
  expect_ancify_error(read_demes(yaml_file(root), "b"), "input", "`samples`")
})

test_that("words and numbers follow YAML 1.2", {
  file <- yaml_file(
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
  file <- yaml_file(
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
  file <- yaml_file(
    defaults, "  - {name: A, epochs: [{end_time: 100}]}", "  - {name: B, ancestors: [A]}",
    "  - {name: C, ancestors: [A]}",
    "pulses: [{sources: [A], dest: B, time: 100, proportions: [0.1]}]"
  )
  ops <- vapply(read_demes(file)$events, `[[`, "", "op")
  expect_identical(ops, c("equilibrium", "split", "split", "pulse", "remove", "integrate"))
  expect_identical(spectrum_of(read_demes(file), NULL, c(2, 2)) > 0, rep(TRUE, 7))
  replaced <- yaml_file(
    defaults, "  - {name: R, epochs: [{end_time: 500}]}",
    sprintf("  - {name: %s, ancestors: [R], epochs: [{end_time: %d}]}", LETTERS[1:5],
            c(0L, 0L, 0L, 100L, 100L)),
    "  - {name: F, ancestors: [A], start_time: 100}",
    "pulses: [{sources: [D, E], dest: A, time: 100, proportions: [0.1, 0.1]}]"
  )
  ops <- vapply(read_demes(replaced)$events, `[[`, "", "op")
  expect_identical(ops[-(1:5)], c("integrate", "pulse", "remove", "remove", "split", "integrate"))
})

test_that("metadata of other programs are ignored", {
  lines <- c("time_units: generations", "demes: [{name: A, epochs: [{start_size: 9}]}]")
  for (metadata in c("{ancify_other: {samples_x: [B]}}", "{ancify: {samples: [A, A]}}", "3")) {
    file <- yaml_file(lines, paste("metadata:", metadata))
    expect_identical(attr(read_demes(file), "samples"), "A")
  }
})

test_that("a fifth deme takes the place of an ancestor that ends", {
  file <- yaml_file(
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
  file <- yaml_file(
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
    event_epoch(0.1, c(1, 2, 3), rbind(0, c(0.5, 0, 0), 0)), event_removal(1),
    event_reordering(c(2, 1))
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
  refused(of(1, theta0 = size_history(1, 2)), "mutation")
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

test_that("demes that send nothing to sampled ones are left out", {
  write <- function(...) {
    file <- tempfile(fileext = ".yaml")
    writeLines(c("time_units: generations", "demes:", ...), file)
    file
  }
  two <- c("- {name: anc, epochs: [{end_time: 1000, start_size: 1000}]}",
           "- {name: A, ancestors: [anc], epochs: [{start_size: 500}]}",
           "- {name: B, ancestors: [anc], epochs: [{start_size: 2000, end_size: 500}]}")
  side <- function(n, from = "A", prefix = "G") {
    sprintf("- {name: %s%d, ancestors: [%s], start_time: %d, epochs: [{start_size: 300}]}", prefix,
            1:n, from, 900 - 50 * (1:n))
  }
  events <- function(...) {
    model <- read_demes(write(...), samples = c("A", "B"))
    model$events
  }
  plain <- events(two)
  # Children, chains of them, and demes that only receive
  expect_equal(events(two, side(5)), plain)
  chain <- sprintf("- {name: C%d, ancestors: [%s], start_time: %d, epochs: [{start_size: 300}]}",
                   1:6, c("A", paste0("C", 1:5)), 900 - 50 * (1:6))
  expect_equal(events(two, chain), plain)
  receives <- c("migrations:", "- {source: A, dest: G1, rate: 1e-4}",
                "- {source: G2, dest: G3, rate: 1e-4}", "pulses:",
                "- {sources: [B], dest: G4, time: 100, proportions: [0.1]}")
  expect_equal(events(two, side(6), receives), plain)

  populations <- function(events) {
    max(vapply(core_events(events), `[[`, 0, "populations"))
  }
  # A deme that sends by a pulse stays until then, and so does the deme that it comes from
  pulse <- c("pulses:", "- {sources: [C2], dest: B, time: 400, proportions: [0.2]}")
  with_pulse <- events(two, chain[1:3], pulse)
  expect_identical(populations(with_pulse), 3)
  ops <- vapply(with_pulse, `[[`, "", "op")
  expect_identical(sum(ops == "pulse"), 1L)
  cut <- sub("start_size: 300", "end_time: 400, start_size: 300", chain[2])
  expect_equal(with_pulse, events(two, sub("start_size: 300", "end_time: 800, start_size: 300",
                                           chain[1]), cut, pulse))
  # And one that sends migrants, until these end
  migrants <- c(
    "migrations:", "- {source: G1, dest: A, rate: 1e-3, start_time: 500, end_time: 200}"
  )
  expect_equal(events(two, side(5), migrants),
               events(two, sub("start_size", "end_time: 200, start_size", side(1)), migrants))
  # More than five that all send are too many
  six <- c("migrations:", sprintf("- {source: G%d, dest: A, rate: 1e-3}", 1:4))
  expect_ancify_error(events(two, side(4), six), "format", "more than 5 demes")
  # The spectrum is that of a model that keeps the deme
  kept <- list(
    event_equilibrium(), event_split(1), event_epoch(75 / 1000, c(0.5, 2), 0), event_split(1),
    event_epoch(0.1, c(0.5, 2, 0.3), rbind(c(0, 0, 2), 0, 0)), event_epoch(0.1, c(0.5, 2, 0.3)),
    event_removal(3)
  )
  file <- write(
    "- {name: anc, epochs: [{end_time: 550, start_size: 1000}]}",
    "- {name: A, ancestors: [anc], epochs: [{start_size: 500}]}",
    "- {name: B, ancestors: [anc], epochs: [{start_size: 2000}]}",
    "- {name: G, ancestors: [A], start_time: 400, epochs: [{start_size: 300}]}",
    "migrations:", "- {source: G, dest: A, rate: 0.001, end_time: 200}"
  )
  pts <- c(20, 25, 30)
  found <- expected_sfs(read_demes(file, samples = c("A", "B")), NULL, c(3, 3), pts)
  expected <- expected_sfs(kept, NULL, c(3, 3), pts)
  expect_equal(as.vector(found), as.vector(expected), tolerance = 5e-4)
})

test_that("populations that begin at one time have older ancestors, in files that are read back", {
  file <- tempfile(fileext = ".yaml")
  # An admixture interpolates the grid where a split copies it.
  read_back <- function(..., most = 0.03) {
    model <- list(event_equilibrium(), event_epoch(0.1, 2), ...)
    write_demes(model, file, reference_size = 1000)
    sizes <- rep(3, tail(core_events(model), 1)[[1]]$populations)
    spectrum <- function(model) {
      found <- suppressWarnings(expected_sfs(model, NULL, sizes, 16, "dadi"))
      plain_array(found)[!attr(found, "mask")]
    }
    found <- spectrum(read_demes(file))
    expect_lt(sum(abs(found - spectrum(model))) / sum(found), most)
    yaml::read_yaml(file)$demes
  }
  demes <- read_back(event_split(1), event_split(2), event_epoch(0.1, 1:3), most = 1e-6)
  expect_identical(unlist(demes[[3]]$ancestors), "pop1")
  demes <- read_back(event_split(1), event_admixture(c(0.3, 0.7)), event_epoch(0.1, 1:3))
  expect_identical(unlist(demes[[3]]$ancestors), "pop1")
  demes <- read_back(event_split(1), event_epoch(0.1, c(1, 3)), event_admixture(c(0.3, 0.7)),
                     event_split(3), event_epoch(0.1, 1:4))
  expect_identical(unlist(demes[[4]]$ancestors), c("pop1", "pop2"))
  expect_equal(unlist(demes[[4]]$proportions), c(0.3, 0.7))
  demes <- read_back(event_split(1), event_epoch(0.1, c(1, 3)), event_admixture(c(0.3, 0.7)),
                     event_admixture(c(0.5, 0, 0.5)), event_epoch(0.1, 1:4))
  expect_equal(unlist(demes[[4]]$proportions), c(0.65, 0.35))
  names <- grep("^sim_split", demography_model(), value = TRUE)
  expect_gt(length(names), 5)
  for (name in names) {
    model <- demography_model(name)
    values <- stats::setNames(rep(0.5, length(model$params)), model$params)
    expect_s3_class(read_demes(write_demes(model, file, values, 1000)), "demography")
  }
})

test_that("names of populations in another order than the model's are refused", {
  file <- tempfile(fileext = ".yaml")
  write_demes(demography_model("split_mig"), file, c(nu1 = 5, nu2 = 0.2, time = 0.1, m = 1), 1e4,
              c("YRI", "CEU"))
  model <- read_demes(file)
  right <- expected_sfs(model, NULL, c(YRI = 4, CEU = 3), c(20, 25, 30))
  parameters <- tempfile(fileext = ".yaml")
  writeLines(c("parameters:", "- name: m", "  values: [{migrations: {0: rate, 1: rate}}]"),
             parameters)
  free <- read_demes(file, parameters = parameters)
  other <- marginal_sfs(right, c("CEU", "YRI"))
  for (code in list(
    function() expected_sfs(model, NULL, c(CEU = 3, YRI = 4), c(20, 25, 30)),
    function() expected_sfs(model, NULL, c(CEU = 3, other = 4), c(20, 25, 30)),
    function() expected_ld(model, NULL, c("CEU", "YRI"), c(1e-5, 1e-4)),
    function() selected_spectra(model, NULL, c(CEU = 3, YRI = 4), c(20, 25, 30)),
    function() fit_demography(free, other)
  )) {
    expect_ancify_error(code(), "input", "'YRI' and 'CEU'", "model's order", "`samples`")
  }
  # Without common names, and in the file's own other order
  plain <- expected_sfs(model, NULL, c(4, 3), c(20, 25, 30))
  expect_equal(plain_array(plain), plain_array(right), ignore_attr = TRUE)
  expect_no_error(expected_sfs(model, NULL, c(A = 4, B = 3), c(20, 25, 30)))
  turned <- read_demes(file, c("CEU", "YRI"))
  found <- expected_sfs(turned, NULL, c(CEU = 3, YRI = 4), c(20, 25, 30))
  expect_equal(plain_array(found), plain_array(other), tolerance = 1e-4, ignore_attr = TRUE)
})
