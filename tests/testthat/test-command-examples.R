# The examples of each command's help run as they stand there.

require_tool("bgzip")
require_tool("bcftools")
set.seed(32)
folder <- command_folder()
rows <- command_rows()

# The lines of the help, not those of the table
examples_of <- function(name) {
  help <- command_help(name, rows)
  substring(help[-seq_len(which(help == "examples"))], 3)
}

example_runs <- function(name, before = character()) {
  result <- run_shell(folder, c("set -e -o pipefail", before, examples_of(name)))
  expect_identical(result$status, 0L, info = name)
  # Of records without a known ancestor, which no `--polarise` can mend.
  told <- grep("records keep the reference's allele", result$err, value = TRUE, invert = TRUE)
  expect_no_match(paste(told, collapse = "\n"), "ancify:", info = name)
}

long_test_that("examples of all commands run", {
  for (name in setdiff(names(rows), c("train", "report"))) {
    # init writes no file that is there.
    before <- if (name == "init") c("mkdir init", "cd init")
    example_runs(name, before)
  }
  made <- c("init/ancify.yaml", "out.vcf.gz", "out.bcf", "joint.fs", "rates.tsv", "windows.tsv",
            "states.tsv", "confidence.bed", "fitted.json", "fitted.fs", "fitted.yaml", "h2.json",
            "viruses/prediction_results.txt")
  expect_identical(made[!file.exists(file.path(folder, made))], character())
})

test_that("the example of report runs", {
  require_reports()
  example_runs("report")
  expect_true(file.exists(file.path(folder, "report.html")))
})

test_that("the example of train runs", {
  require_python_lightgbm()
  config <- yaml::read_yaml(file.path(folder, "ancify.yaml"))
  config$ml_training_reference <- file.path(folder, "parsimony_calls")
  config$method <- "voting"
  config$posterior <- FALSE
  yaml::write_yaml(config, file.path(folder, "ancify.yaml"))
  example_runs("train")
  expect_true(file.exists(file.path(folder, "model.txt")))
})
