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
  setdiff(Sys.glob("R/*.R"), "R/ancestral_methods.R")
)
if (length(asks)) cat("compare a method's name, which only its row may:", asks, "\n")

# Names that tests use may be defined in other files, which testthat sources.
linters <- with(asNamespace("lintr"), eval(str2lang(read.dcf(".lintr")[, "linters"])))
linters_of <- function(file) {
  if (startsWith(file, "tests/")) linters[names(linters) != "object_usage_linter"] else linters
}

# Prints where code is above lintr's limit of complexity. Counting takes long, and is done only
# where there are many branches: each adds two at most. Oracles are plain, and so may be complex.
branches <- c("if", "for", "while", "repeat", "break", "next", "&&", "||")
is_simple <- function(file) {
  code <- parse(file, keep.source = TRUE)
  lines <- utils::getSrcLocation(code, "line")
  may_be_complex <- vapply(code, function(one) sum(all.names(one) %in% branches) >= 7, NA)
  complexity <- vapply(as.list(code[may_be_complex]), cyclocomp::cyclocomp, 0)
  at <- lines[may_be_complex][complexity > 15]
  if (length(at)) cat(sprintf("%s:%d: complexity above 15\n", file, at), sep = "")
  length(at) == 0
}

files <- commandArgs(TRUE)
if (length(files) == 0) {
  folders <- c("R", "tests", "inst", "vignettes", ".ci", "benchmarks")
  files <- c("exec/ancify", list.files(folders, "[.](R|Rmd)$", recursive = TRUE, full.names = TRUE))
}
files <- setdiff(files, "R/RcppExports.R")
lints <- lapply(files, function(file) lintr::lint(file, linters = linters_of(file)))
for (some in lints) print(some)
simple <- vapply(grep("^tests/|[.]Rmd$", files, value = TRUE, invert = TRUE), is_simple, NA)
quit(status = any(lengths(lints) > 0) || !all(simple) || length(asks) > 0)
