# Whole runs, resumed ones, and their errors.

log_of <- function(code) {
  lines <- character()
  value <- withCallingHandlers(code, ancify_message = function(condition) {
    lines <<- c(lines, conditionMessage(condition))
    invokeRestart("muffleMessage")
  })
  list(value = value, lines = lines)
}

# ---- The main job --------------------------------------------------------------------

test_that("random alignments are called as the plain implementation calls them", {
  set.seed(1)
  for (i in 1:8) {
    n <- sample(1:4, 2, replace = TRUE)
    case <- random_config(n_inner = n[1], n_outer = n[2])
    for (threads in 1:2) {
      run <- run_quietly(case$config, threads = threads)
      expect_projected(case$config$work_dir, case$projected)
      expect_calls(case$config$output_dir, case$calls)
    }
    counts <- vapply(case$calls, oracle_counts, integer(4))
    expect_equal(t(as.matrix(as.data.frame(unclass(run)[rownames(counts)]))), unname(counts),
                 ignore_attr = TRUE)
    expect_identical(run$chromosome, names(case$lengths))
    expect_equal(run$length, unname(case$lengths))
    expect_identical(run$file, file.path(case$config$output_dir, paste0(run$chromosome, ".fa")))
  }
})

test_that("minima, a choice of chromosomes and small chunks give the expected calls", {
  set.seed(2)
  case <- random_config(
    n_inner = 3, n_outer = 2, min_inner_freq = 2, min_outer_freq = 2, chromosomes = c("one", "chr1")
  )
  projected <- lapply(case$projected, `[`, c("one", "chr1"))
  for (size in c(1, 17, 2^20)) {
    run <- with_chunk_size(size, run_quietly(case$config))
    expect_identical(run$chromosome, c("one", "chr1"))
    expect_projected(case$config$work_dir, projected)
    expect_calls(case$config$output_dir, expected_calls(projected, 3, 2, 2))
  }
})

test_that("the example's calls are the plain implementation's", {
  config <- ancify_example(new_folder())
  config$keep_projected <- TRUE
  run <- run_quietly(config, threads = 2)
  projected <- lapply(config$outgroups$alignment, function(axt) {
    oracle_project(readLines(axt), config$lengths)
  })
  names(projected) <- config$outgroups$name
  calls <- expected_calls(projected, 2)
  expect_projected(config$work_dir, projected)
  expect_calls(config$output_dir, calls)
  expect_equal(run$high, unname(vapply(calls, oracle_counts, integer(4))["high", ]))
})

long_test_that("the primates give 100,000 bases, as the plain implementation does", {
  data <- dirname(test_data("primates_hg18_100k", "config.yaml"))
  folder <- new_folder()
  species <- c("panTro2", "ponAbe2", "rheMac2")
  projected <- lapply(setNames(species, species), function(name) {
    oracle_project(readLines(file.path(data, paste0(name, ".axt"))), c(chr1 = 100000))
  })
  calls <- expected_calls(projected, 2)
  run <- with_folder(folder, {
    config <- file.path(data, "config.yaml")
    logged <- log_of(ancify_run(config, "project", threads = 2, progress = FALSE))
    expect_match(logged$lines[2], "beside the configuration file.*chrom.sizes")
    ancify_run(config, threads = 2, progress = FALSE, verbose = FALSE)
  })
  # Output paths are relative to the working directory.
  expect_identical(run$file, "./ancestral_calls/chr1.fa")
  expect_calls(file.path(folder, "ancestral_calls"), calls)
  expect_projected(folder, projected)
  lines <- readLines(file.path(folder, run$file))
  expect_identical(lines[1], ">chr1")
  expect_identical(nchar(lines[2]), 100000L)
  expect_equal(unlist(unclass(run)[names(oracle_counts("N"))]), oracle_counts(calls[["chr1"]]))
  expect_identical(run$length, 100000)

  # One thread, and phase by phase.
  again <- with_folder(folder, {
    unlink(c("projected", "ancestral_calls"), recursive = TRUE)
    project <- run_quietly(file.path(data, "config.yaml"), phases = "project", threads = 1)
    expect_false(file.exists("ancestral_calls"))
    expect_output(print(project), "chr1 +100,000")
    run_quietly(file.path(data, "config.yaml"), phases = "call", threads = 1)
  })
  expect_projected(folder, projected)
  expect_calls(file.path(folder, "ancestral_calls"), calls)
  for (column in names(run)) expect_identical(again[[column]], run[[column]])
})

# ---- Phases --------------------------------------------------------------------------

test_that("phases one by one give what the whole run gives", {
  set.seed(3)
  case <- random_config()
  project <- run_quietly(case$config, phases = "project")
  expect_projected(case$config$work_dir, case$projected)
  expect_false(file.exists(case$config$output_dir))
  expect_true(all(is.na(project[c("high", "low", "unresolved", "missing", "file")])))
  expect_identical(project$chromosome, names(case$lengths))
  expect_identical(names(attr(project, "seconds")), "project")

  call <- run_quietly(case$config, phases = "call")
  expect_calls(case$config$output_dir, case$calls)
  expect_identical(names(attr(call, "seconds")), "call")
  expect_null(attr(call, "alignments"))

  unlink(c(case$config$work_dir, case$config$output_dir), recursive = TRUE)
  run <- run_quietly(case$config)
  expect_calls(case$config$output_dir, case$calls)
  expect_identical(names(attr(run, "seconds")), "project and call")
  for (column in names(run)) expect_identical(run[[column]], call[[column]])
  # The order in which phases are named does not matter.
  expect_calls_again <- run_quietly(case$config, phases = c("call", "project", "call"))
  expect_identical(expect_calls_again$high, run$high)
})

test_that("calling needs the projected sequences, not the alignments", {
  set.seed(4)
  case <- random_config()
  run_quietly(case$config, phases = "project")
  unlink(file.path(case$folder, c("inner1.axt", "inner2.axt", "outer1.axt")))
  run <- run_quietly(case$config, phases = "call")
  expect_calls(case$config$output_dir, case$calls)
  condition <- expect_ancify_error(run_quietly(case$config), "config", "inner1.axt", "outer1.axt")
  expect_length(condition$problems, 3)
})

test_that("outputs of earlier runs are replaced", {
  set.seed(5)
  case <- random_config()
  run_quietly(case$config)
  other <- random_config()
  other$config[c("work_dir", "output_dir")] <- case$config[c("work_dir", "output_dir")]
  run_quietly(other$config)
  expect_projected(case$config$work_dir, other$projected)
  expect_calls(case$config$output_dir, other$calls)
})

test_that("a config is a path, a list or a value of ancify_config()", {
  set.seed(6)
  case <- random_config()
  path <- file.path(case$folder, "config.yaml")
  yaml::write_yaml(case$config, path)
  for (config in list(path, case$config, ancify_config(path), ancify_config(case$config))) {
    unlink(case$config$output_dir, recursive = TRUE)
    run_quietly(config)
    expect_calls(case$config$output_dir, case$calls)
  }
})

# ---- Sequences that no run made ------------------------------------------------------

sequences_of_others <- function() {
  set.seed(7)
  case <- random_config()
  run_quietly(case$config, phases = "project")
  case$file <- file.path(case$config$work_dir, "projected", "inner2", "chr2.fa")
  case$bases <- readLines(case$file)[2]
  case
}

test_that("sequences that no run made are used", {
  case <- sequences_of_others()
  for (text in c(
    paste0(">chr2\n", case$bases), paste0(">chr2\r\n", case$bases, "\r\n"),
    paste0(">chr2 made by hand, 2 words\n", case$bases, "\n"),
    paste0(">chr2\tof inner2\n", tolower(case$bases), "\n")
  )) {
    writeBin(charToRaw(text), case$file)
    unlink(case$config$output_dir, recursive = TRUE)
    run_quietly(case$config, phases = "call")
    expect_calls(case$config$output_dir, case$calls)
  }
})

test_that("unfitting sequences are errors, and nothing is called", {
  case <- sequences_of_others()
  refused <- function(text, ..., line) {
    writeBin(charToRaw(text), case$file)
    condition <- expect_ancify_error(
      run_quietly(case$config, phases = "call"), "format", case$file, ...
    )
    expect_identical(condition$file, case$file)
    expect_identical(condition$line, line)
    expect_identical(content_of(case$config$output_dir), character())
    unlink(case$config$output_dir, recursive = TRUE)
  }
  bases <- case$bases
  refused(paste0(">chr1\n", bases, "\n"), "'chr1', not 'chr2'", line = 1)
  refused(paste0(">\n", bases, "\n"), "not 'chr2'", line = 1)
  refused(paste0("chr2\n", bases, "\n"), "not a FASTA file", line = 1)
  refused("", "not a FASTA file", line = 1)
  refused(paste0(">chr2\n", substring(bases, 2), "\n"), "90", line = 2)
  refused(paste0(">chr2\nN", bases, "\n"), "90", line = 2)
  refused(paste0(">chr2\n", bases, "\n>chr2\n", bases, "\n"), "90", line = 2)
  refused(">chr2\n", "90", line = 2)
  broken <- gsub("(.{60})", "\\1\n", bases)
  refused(paste0(">chr2\n", broken, "\n"), "one line", line = 2)
})

test_that("a line that ends early is found, even in a file of the right size", {
  case <- sequences_of_others()
  writeLines(c(">chr2", sub("^(.{60}).", "\\1\n", case$bases)), case$file)
  condition <- expect_ancify_error(
    run_quietly(case$config, phases = "call"), "format", case$file, "one line"
  )
  expect_identical(condition$file, case$file)
  expect_identical(condition$line, 2)
  # Earlier calls may stay, and are complete.
  left <- content_of(case$config$output_dir)
  expect_true(all(left %in% c("chr1.fa", "one.fa")))
  for (file in left) {
    name <- sub(".fa", "", file, fixed = TRUE)
    expect_identical(file_bytes(file.path(case$config$output_dir, file)),
                     fasta_bytes(case$calls[name])[[1]])
  }
})

test_that("missing sequences are an error", {
  case <- sequences_of_others()
  unlink(case$file)
  condition <- expect_ancify_error(
    run_quietly(case$config, phases = "call"), "file", case$file, "missing", "phase \"project\""
  )
  expect_identical(condition$file, case$file)
  expect_false(file.exists(case$config$output_dir))
  unlink(file.path(case$config$work_dir, "projected"), recursive = TRUE)
  expect_ancify_error(
    run_quietly(case$config, phases = "call"), "file", "inner1/chr1.fa", "more: these projected"
  )
})

# ---- The result ----------------------------------------------------------------------

test_that("the result has a row a chromosome and the facts of the run", {
  set.seed(8)
  case <- random_config()
  run <- run_quietly(case$config, threads = 2)
  expect_s3_class(run, c("ancify_run", "data.frame"), exact = TRUE)
  expect_named(
    run, c("chromosome", "length", "high", "low", "unresolved", "missing", "file")
  )
  expect_equal(run$high + run$low + run$unresolved + run$missing, run$length)
  alignments <- attr(run, "alignments")
  expect_s3_class(alignments, "data.frame")
  expect_identical(alignments$species, names(case$projected))
  expect_identical(alignments$tier, c("inner", "inner", "outer"))
  expect_identical(alignments$alignment, file.path(case$folder, paste0(alignments$species, ".axt")))
  expect_equal(alignments$bad, c(0, 0, 0))
  for (i in 1:3) {
    blocks <- oracle_blocks(readLines(alignments$alignment[i]))
    asked <- vapply(blocks, `[[`, "", "chromosome") %in% names(case$lengths)
    expect_equal(alignments$used[i], sum(asked))
    expect_equal(alignments$passed_over[i], sum(!asked))
  }
  expect_s3_class(attr(run, "config"), "ancify_config")
  expect_identical(attr(run, "config")$lengths, case$lengths)
  expect_identical(attr(run, "backend"), cpu_backend(2))
  expect_true(all(unlist(attr(run, "seconds")) >= 0))
  expect_identical(attr(run_quietly(case$config), "backend"), cpu_backend(2))
  expect_identical(attr(run_quietly(case$config, threads = 1), "backend"), cpu_backend(1))
})

printed <- function(run) utils::capture.output(print(run))

test_that("print shows the calls as a table", {
  set.seed(9)
  case <- random_config(c(chr1 = 123456, chr2 = 90), axt = few_bases(lengths, name))
  with_folder(case$folder, {
    case$config$output_dir <- "calls"
    run <- run_quietly(case$config, threads = 1)
    lines <- printed(run)
    expect_true(all(nchar(lines) <= 80))
    expect_identical(lines[1], paste("<ancify_run> focal, voting, 3 outgroups,", cpu_backend(1)))
    expect_match(lines[2], "^ +length +high +low +unresolved +missing$")
    cells <- function(line) strsplit(trimws(sub("%", "", gsub(",", "", line))), "[ %]+")[[1]]
    expect_match(lines[3], "^chr1 +123,456 ")
    expect_equal(as.numeric(cells(lines[3])[-1]), unlist(run[1, 2:6], use.names = FALSE))
    expect_equal(as.numeric(cells(lines[4])[-1]), unlist(run[2, 2:6], use.names = FALSE))
    expect_equal(as.numeric(cells(lines[5])[-1]), unname(colSums(run[, 2:6])))
    expect_match(lines[6], "^share 100.00 % ")
    expect_equal(
      as.numeric(cells(lines[6])[-1]), unname(colSums(run[, 2:6]) / 123546 * 100),
      tolerance = 1e-2
    )
    expect_identical(lines[7], "Calls in calls/<chromosome>.fa")
    expect_length(lines, 7)
  })
})

test_that("print shows the first of many chromosomes, and runs without calls", {
  set.seed(10)
  lengths <- setNames(c(100000, sample(10:50, 29)), sprintf("chr%d", 1:30))
  case <- random_config(lengths, axt = few_bases(lengths, name))
  with_folder(case$folder, {
    case$config$work_dir <- "."
    lines <- printed(run_quietly(case$config, phases = "project"))
    expect_true(all(nchar(lines) <= 80))
    expect_match(lines[2], "^chr1 +100,000$")
    expect_length(grep("^chr", lines), 20)
    expect_match(lines, "and 10 more", all = FALSE)
    expect_match(lines, "Projected in ./projected/<species>/<chromosome>.fa", all = FALSE)
    lines <- printed(run_quietly(case$config))
    expect_length(grep("^chr", lines), 20)
    expect_match(lines, "and 10 more", all = FALSE)
    expect_match(lines, sprintf("^all +%s ", format(sum(lengths), big.mark = ",")), all = FALSE)
  })
})

test_that("some columns of the result are a data frame", {
  set.seed(11)
  run <- run_quietly(random_config()$config)
  expect_identical(as.data.frame(run[1:2, "high", drop = FALSE])$high, run$high[1:2])
  expect_output(print(run[, c("chromosome", "high")]), "chromosome")
  expect_output(print(run[2, ]), "chr2")
})

# ---- The log -------------------------------------------------------------------------

test_that("the log tells each step, and can be silenced", {
  set.seed(12)
  case <- random_config()
  logged <- log_of(ancify_run(case$config, threads = 2, progress = FALSE))
  expect_identical(logged$lines[1], paste0("Using ", cpu_backend(2), "\n"))
  for (line in c(paste("Projected", names(case$projected)), paste("Called", names(case$lengths)))) {
    expect_identical(sum(logged$lines == paste0(line, "\n")), 1L)
  }
  expect_match(logged$lines, "^Phase project and call took [0-9.]+ s\n$", all = FALSE)
  expect_s3_class(logged$value, "ancify_run")

  first <- tryCatch(ancify_run(case$config, progress = FALSE), message = identity)
  expect_s3_class(first, "ancify_message")
  expect_silent(ancify_run(case$config, progress = FALSE, verbose = FALSE))
  expect_silent(suppressMessages(ancify_run(case$config, progress = FALSE)))
  expect_silent(
    suppressMessages(ancify_run(case$config, progress = FALSE), classes = "ancify_message")
  )
})

test_that("the log has the notes on the configuration", {
  set.seed(13)
  case <- random_config(model_base_freqs = c(0.251, 0.25, 0.25, 0.25))
  logged <- log_of(ancify_run(case$config, progress = FALSE))
  expect_match(logged$lines[2], "model_base_freqs.*1.001")
})

test_that("threads come from the argument, else from num_cpus", {
  set.seed(14)
  case <- random_config(num_cpus = 3)
  first <- function(...) log_of(ancify_run(case$config, ..., progress = FALSE))$lines[1]
  expect_identical(first(), paste0("Using ", cpu_backend(3), "\n"))
  expect_identical(first(threads = 1), paste0("Using ", cpu_backend(1), "\n"))
  with_options(list(ancify.threads = 7), {
    expect_identical(first(), paste0("Using ", cpu_backend(3), "\n"))
  })
})

# ---- Warnings ------------------------------------------------------------------------

test_that("missing blocks of an alignment are one warning", {
  set.seed(15)
  case <- random_config(on_bad_block = "skip")
  axt <- file.path(case$folder, "inner2.axt")
  write_axt(c(axt_block("chr1", 1, "ACG", "TTT"), axt_block("one", 1, "A", "TT")), axt)
  warned <- expect_one_warning(
    run_quietly(case$config), "projection", "inner2.axt", "'chr2' and 'one'", "1 bad block"
  )
  expect_equal(attr(warned$value, "alignments")$bad, c(0, 1, 0))
  expect_equal(attr(warned$value, "alignments")$used[2], 1)
  expect_identical(warned$warning$file, axt)
  expect_identical(warned$warning$chromosomes, c("chr2", "one"))
})

test_that("a minimum that no vote can reach is a warning, once", {
  set.seed(16)
  case <- random_config(min_outer_freq = 2)
  expect_one_warning(run_quietly(case$config), "voting", "`min_outer_freq` is 2", "1 species")
  expect_calls(case$config$output_dir, expected_calls(case$projected, 2, 1, 2))
})

# ---- Errors --------------------------------------------------------------------------

test_that("a bad alignment is an error and leaves no incomplete file", {
  for (fault in c("bad block", "no AXT", "cut short")) {
    set.seed(17)
    case <- random_config()
    axt <- file.path(case$folder, "inner1.axt")
    line <- switch(fault,
      `bad block` = {
        write_axt(c(readLines(axt), "", axt_block("chr1", 500, "AC", "GT")), axt)
        grep("^0 chr1 500 501 ", readLines(axt))
      },
      `no AXT` = {
        writeLines(c(">chr1", "ACGT"), axt)
        1
      },
      `cut short` = {
        write_axt(readLines(axt), axt, compression = "gzip")
        writeBin(utils::head(file_bytes(axt), -10), axt)
        0
      }
    )
    for (threads in 1:2) {
      condition <- expect_ancify_error(run_quietly(case$config, threads = threads), "format", axt)
      expect_identical(condition$file, axt)
      expect_equal(condition$line, line)
      expect_false(file.exists(case$config$output_dir))
      left <- content_of(case$config$work_dir)
      expect_false(any(grepl("inner1/.|ancify-", left)))
    }
  }
})

test_that("a full disk is an error and leaves no call", {
  set.seed(18)
  with_small_disk(2^19, function(disk) {
    # A fit divides the phases.
    case <- random_config(
      c(chr1 = 100, chr2 = 2e5), axt = few_bases(lengths, name), method = "likelihood",
      estimate = TRUE,
      tree = "(((focal,inner1),inner2),outer1);"
    )
    case$config$output_dir <- file.path(disk, "calls")
    # The disk becomes full during the run.
    filling <- function(code) {
      withCallingHandlers(code, ancify_message = function(condition) {
        if (startsWith(conditionMessage(condition), "Phase project took")) {
          writeBin(raw(4e5), file.path(disk, "other"))
        }
        invokeRestart("muffleMessage")
      })
    }
    condition <- expect_ancify_error(
      filling(ancify_run(case$config, progress = FALSE)), "file", "calls/chr2.fa", "No space left"
    )
    expect_identical(condition$file, file.path(disk, "calls", "chr2.fa"))
    expect_identical(content_of(file.path(disk, "calls")), character())

    unlink(file.path(disk, "calls"), recursive = TRUE)
    axt <- case$config$outgroups$inner[[1]]$alignment
    condition <- expect_ancify_error(
      project_axt(axt, case$lengths, output_dir = file.path(disk, "inner1")), "file", "chr2.fa",
      "No space left"
    )
    expect_identical(basename(condition$file), "chr2.fa")
    expect_length(grep("\\.fa", content_of(disk)), 0)

    # On a full disk the run does not begin.
    case$config$work_dir <- disk
    expect_ancify_error(run_quietly(case$config), "check", "1 MB", disk, "make room")
    expect_identical(content_of(disk), "other")
  })
})

test_that("unusable settings are an error only if they are needed", {
  set.seed(19)
  case <- random_config()
  refused <- function(..., key, phases = all_of_them) {
    config <- case$config
    changes <- list(...)
    config[names(changes)] <- changes
    condition <- expect_ancify_error(run_quietly(config, phases = phases), "config", key)
    expect_match(condition$problems, key, fixed = TRUE, all = FALSE)
    expect_false(file.exists(case$config$work_dir))
    expect_false(file.exists(case$config$output_dir))
  }
  all_of_them <- c("project", "call", "evaluate")
  reference <- list(reference_dir = case$folder)
  refused(keep_projected = FALSE, key = "keep_projected", phases = "project")

  # Not needed: settings of another phase or another method.
  accepted <- function(..., phases = all_of_them) {
    config <- case$config
    changes <- list(...)
    config[names(changes)] <- changes
    expect_s3_class(run_quietly(config, phases = phases), "ancify_run")
  }
  accepted(method = "ml", ml_model_path = tempfile(), phases = "project")
  accepted(evaluation = reference, phases = c("project", "call"))
  accepted(substitution_model = "GTR", ml_high_threshold = 0.9, n_rates = 8)
  accepted(cluster = list(partition = "x", time = "10", memory = "500M"))
})

test_that("unusable arguments are errors that name them", {
  set.seed(20)
  case <- random_config()
  refused <- function(argument, ..., class = "input") {
    expect_ancify_error(ancify_run(case$config, ...), class, paste0("`", argument, "`"))
  }
  for (phases in list("count", character(), NULL, NA, 1, c("project", "count"))) {
    refused("phases", phases = phases)
  }
  for (threads in list(0, 1.5, NA, "2")) refused("threads", threads = threads)
  for (backend in list("tpu", NA, 1)) refused("backend", backend = backend)
  for (flag in list(NA, NULL, "yes", c(TRUE, FALSE))) {
    refused("progress", progress = flag)
    refused("verbose", verbose = flag)
  }
  for (config in list(1, NULL, list(), TRUE)) {
    expect_ancify_error(ancify_run(config), "input", "`config`")
  }
  expect_false(file.exists(case$config$work_dir))
})

test_that("an unusable GPU is an error before any work, with the reason", {
  set.seed(21)
  case <- random_config()
  condition <- tryCatch(run_quietly(case$config, backend = "gpu"), error = identity)
  skip_if(inherits(condition, "ancify_run"), "a GPU is here")
  expect_s3_class(condition, "ancify_device_error")
  expect_match(conditionMessage(condition), "GPU|driver|CUDA")
  expect_false(file.exists(case$config$work_dir))
  case$config$backend <- "gpu"
  expect_ancify_error(run_quietly(case$config), "device")
  expect_s3_class(run_quietly(case$config, backend = "cpu"), "ancify_run")
})

case_species <- function(case) {
  vapply(unlist(case$config$outgroups, recursive = FALSE), `[[`, "", "name", USE.NAMES = FALSE)
}

long_test_that("every way of a run gives the same bytes", {
  set.seed(31)
  for (species in list(c(2, 1), c(3, 1), c(5, 4))) {
    case <- random_config(n_inner = species[1], n_outer = species[2])
    for (simd in simd_levels()) {
      for (threads in 1:2) {
        for (keep in c(TRUE, FALSE)) {
          old <- options(ancify.simd = simd, ancify.chunk_size = 50 * threads)
          case$config$keep_projected <- keep
          run <- run_quietly(case$config, threads = threads)
          options(old)
          expect_calls(case$config$output_dir, case$calls)
          counts <- vapply(case$calls, oracle_counts, integer(4))
          expect_equal(unname(t(as.matrix(as.data.frame(unclass(run)[rownames(counts)])))),
                       unname(counts))
          expect_identical(attr(run, "alignments")$species, case_species(case))
          expect_identical(file.exists(file.path(case$config$work_dir, "projected")), keep)
          unlink(c(case$config$work_dir, case$config$output_dir), recursive = TRUE)
        }
      }
    }
  }
})

# Built without GPU code, the core calls on the CPU when R asks for a GPU.
test_that("on a GPU both phases run as one, and kept sequences are the same files", {
  set.seed(22)
  case <- random_config()
  work <- new_work(2)
  for (keep in c(TRUE, FALSE)) {
    case$config$keep_projected <- keep
    config <- read_config(case$config, all_phases)
    caller <- config_caller(config, run_settings(config, FALSE), work)
    timed <- function(name, job, ...) {
      expect_identical(name, "project and call")
      job(...)
    }
    context <- with_ledgers(new_context(config, work))
    result <- project_and_call(context, c("project", "call"), "gpu", caller, timed)
    for (ledger in context$ledgers[c("work", "output")]) save_ledger(ledger, at_once = TRUE)
    expect_identical(result$alignments$species, case_species(case))
    expect_sequences(config$output_dir, case$calls)
    projected <- list.files(
      file.path(config$work_dir, "projected"), recursive = TRUE, full.names = TRUE
    )
    expect_length(projected, if (keep) length(case_species(case)) * length(case$calls) else 0)
    if (keep) {
      kept <- lapply(projected, file_bytes)
      unlink(projected)
      run_quietly(case$config, phases = "project")
      expect_identical(lapply(projected, file_bytes), kept)
    }
    unlink(c(config$work_dir, config$output_dir), recursive = TRUE)
  }
})

test_that("missing vector instructions are an error", {
  old <- options(ancify.simd = "mmx")
  on.exit(options(old))
  expect_ancify_error(call_ancestral("A", "A"), "input", "ancify.simd", "mmx")
})
