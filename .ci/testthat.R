# Rscript .ci/testthat.R FOLDER: runs the R tests on the installed package, and says why tests were
# skipped. How many passed and failed is left in FOLDER/r-counts too.
folder <- commandArgs(TRUE)
results <- as.data.frame(testthat::test_dir(
  "tests/testthat",
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
