# Mutated files that a run leaves for later ones: ledgers, record, fit.

# A finished run with a fit and an evaluation.
finished_run <- function() {
  set.seed(281)
  case <- related_case(method = "likelihood", tree = "(((focal,near1),near2),far);",
                       estimate = TRUE, evaluation = list())
  suppressWarnings(run_quietly(case$config))
  case$config
}

lines_in <- function(...) list(readLines(file.path(...), warn = FALSE))

expect_only <- function(outcomes, expected) {
  expect_identical(setdiff(outcomes, expected), character())
}

test_that("a mutated record is read, or an error of the package", {
  config <- finished_run()
  outcomes <- outcomes_of_mutants(
    n_mutations(300), lines_in(config$output_dir, "ancify_run.json"),
    c("\"chromosomes\"", "\"format\": 1", "{}", "[[]]", "\"NA\""),
    read_run_record, seed = 1
  )
  expect_only(outcomes, c("value", "error"))
  expect_true("error" %in% outcomes)
})

test_that("a mutated ledger is an error, or as it was; a mutated fit counts for nothing", {
  config <- finished_run()
  folder <- new_folder()
  dir.create(file.path(folder, ".ancify"))
  ledgers <- outcomes_of_mutants(
    n_mutations(300), lines_in(ledger_file(config$output_dir)),
    c("\"path\"", "{}", "[]", "\"size\": 1", "ancify ledger 1"), function(path) {
      file.copy(path, ledger_file(folder), overwrite = TRUE)
      open_ledger(folder)
    }, seed = 2
  )
  expect_only(ledgers, c("value", "error"))
  # As a program would damage it that makes the first line anew
  bodies <- outcomes_of_mutants(
    n_mutations(300), list(readLines(ledger_file(config$output_dir))[-1]),
    c("\"path\"", "{}", "[]", "\"size\": 1"), function(path) {
      body <- paste(readLines(path, warn = FALSE), collapse = "\n")
      writeLines(c(ledger_line(body), body), ledger_file(folder))
      open_ledger(folder)
    }, seed = 5
  )
  expect_only(bodies, c("value", "error"))
  fits <- outcomes_of_mutants(
    n_mutations(300), lines_in(config$work_dir, fit_file),
    c("\"type\":\"list\"", "\"class\"", "[\"phylo\"]", "1e999"), read_state, seed = 3
  )
  expect_only(fits, "value")
})

test_that("runs go on from mutated state, with the same calls", {
  config <- finished_run()
  calls <- Sys.glob(file.path(config$output_dir, "*.fa"))
  expected <- lapply(calls, file_bytes)
  ledgers <- ledger_file(c(config$work_dir, config$output_dir))
  files <- c(
    ledgers, file.path(config$work_dir, fit_file), file.path(config$output_dir, run_record_file)
  )
  kept <- lapply(files, file_bytes)
  set.seed(4)
  for (i in seq_len(n_mutations(25))) {
    at <- sample(length(files), 1)
    outcome <- outcome_of({
      writeBin(mutated_bytes(kept[[at]], c("{}", "[]", "chr1.fa"), kept), files[at])
      suppressWarnings(run_quietly(config))
    }, check = function(run) {
      if (!identical(lapply(calls, file_bytes), expected)) "other calls"
    })
    # A damaged ledger does not say any more which files are a user's.
    expect_true(outcome %in% c("value", if (files[at] %in% ledgers) "error"),
                label = paste(outcome, basename(files[at])))
    for (k in seq_along(files)) writeBin(kept[[k]], files[k])
  }
})
