# Rscript .ci/testthat.R FOLDER: runs the R tests on the installed package. The last line of what it prints says how many
# passed; the numbers are left in FOLDER/r-counts.
folder <- commandArgs(TRUE)
results <- as.data.frame(testthat::test_dir(
  "tests/testthat",
  package = "ancify", load_package = "installed", reporter = "check", stop_on_failure = FALSE
))
passed <- sum(results$passed)
failed <- sum(results$failed) + sum(results$error)
skipped <- sum(results$skipped)
cat(passed, failed, "\n", file = file.path(folder, "r-counts"))

skips <- unlist(results$result[results$skipped], recursive = FALSE)
reasons <- unique(vapply(Filter(function(x) inherits(x, "expectation_skip"), skips), conditionMessage, ""))
cat(sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped), unique(sub("^Reason: ", "", reasons)), sep = "\n  ")
quit(status = failed > 0)
