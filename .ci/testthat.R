# Rscript .ci/testthat.R FOLDER FILES [TESTS]: runs the R tests in TESTS (tests/testthat) on the
# installed package, those in files whose names match FILES ('' for all), and says why tests were
# skipped. How many passed and failed is left in FOLDER/r-counts too.
args <- commandArgs(TRUE)
folder <- args[1]
results <- as.data.frame(testthat::test_dir(
  c(args, "tests/testthat")[3], filter = args[2],
  package = "ancify", load_package = "installed", reporter = "check", stop_on_failure = FALSE
))
passed <- sum(results$passed)
failed <- sum(results$failed) + sum(results$error)
cat(passed, failed, "\n", file = file.path(folder, "r-counts"))

expectations <- unlist(results$result[results$skipped], recursive = FALSE)
skips <- Filter(function(x) inherits(x, "expectation_skip"), expectations)
reasons <- unique(vapply(skips, conditionMessage, ""))
cat(sprintf("%d passed, %d failed, %d skipped", passed, failed, length(skips)), reasons, sep = "\n")
quit(status = failed > 0)
