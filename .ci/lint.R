# Rscript .ci/lint.R [FILE...]: lints these files, or all R code. The package is installed.
# A test sees testthat and the tests' helpers besides the package, a benchmark what all share.
library(testthat)
for (shared in c(
  Sys.glob("tests/testthat/helper*.R"), "benchmarks/simulated.R", "benchmarks/timing.R",
  "benchmarks/accuracy/est_sfs.R", "benchmarks/accuracy/histories.R"
)) source(shared)

# What is particular to a method stands in its row.
code <- function(file) sub("#.*", "", readLines(file))
asks <- Filter(
  function(file) any(grepl("method *(==|!=|%in%)", code(file))),
  setdiff(Sys.glob("R/*.R"), "R/call_methods.R")
)
if (length(asks)) cat("compare a method's name, which only its row may:", asks, "\n")

# Complexity takes longer than all other lints together, so it is looked at where it may be too
# high: each branch adds two at most, and 15 are too many.
branches <- c("if", "for", "while", "repeat", "break", "next", "&&", "||")
may_be_complex <- function(file) {
  any(vapply(parse(file), function(code) sum(all.names(code) %in% branches) >= 7, NA))
}
complexity <- function(files) {
  lapply(Filter(may_be_complex, files), lintr::lint, linters = lintr::cyclocomp_linter(15))
}

files <- commandArgs(TRUE)
lints <- if (length(files)) {
  c(lapply(files, lintr::lint), complexity(files))
} else {
  c(
    list(
      lintr::lint_package(), lintr::lint_dir(".ci"), lintr::lint("exec/ancify"),
      lintr::lint_dir("benchmarks")
    ),
    complexity(c(
      "exec/ancify",
      list.files(c("R", "tests", ".ci", "benchmarks"), "[.]R$", recursive = TRUE, full.names = TRUE)
    ))
  )
}
for (some in lints) print(some)
quit(status = any(lengths(lints) > 0) || length(asks) > 0)
