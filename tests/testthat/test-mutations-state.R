# Mutated files that a run leaves for later ones: manifest, list of own files, record, fit.

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

test_that("a mutated manifest, fit or list of files counts for nothing, or is as it was", {
  config <- finished_run()
  own <- file.path(config$work_dir, ".ancify")
  manifest <- outcomes_of_mutants(
    n_mutations(300), lines_in(own, "manifest.json"), c("\"files\"", "{}", "[]", "\"size\": 1"),
    function(path) read_manifest(path, function(line) NULL), seed = 2
  )
  expect_only(manifest, "value")
  fits <- outcomes_of_mutants(
    n_mutations(300), lines_in(own, "fitted.json"),
    c("\"type\":[\"list\"]", "\"class\"", "[\"phylo\"]", "\"0x1p+0\""), read_state, seed = 3
  )
  expect_only(fits, "value")
})

test_that("runs go on from mutated state, with the same calls", {
  config <- finished_run()
  calls <- Sys.glob(file.path(config$output_dir, "*.fa"))
  expected <- lapply(calls, file_bytes)
  files <- c(
    file.path(config$work_dir, ".ancify", c("manifest.json", "fitted.json")),
    file.path(config$output_dir, c(".ancify_files", "ancify_run.json")),
    file.path(config$work_dir, "projected", ".ancify_files")
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
    # Files that a mutated list does not name are others', and a run leaves these alone.
    expect_true(outcome %in% c("value", if (basename(files[at]) == ".ancify_files") "error"),
                label = paste(outcome, basename(files[at])))
    for (k in seq_along(files)) writeBin(kept[[k]], files[k])
  }
})
