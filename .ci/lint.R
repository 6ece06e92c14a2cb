# Rscript .ci/lint.R: lints all R code of the repository; the package is installed.
# A test sees testthat and the tests' helpers besides the package.
library(testthat)
for (helper in Sys.glob("tests/testthat/helper*.R")) source(helper)

# Of two functions with one name in a package, the file that is read last has the say.
defined <- unlist(lapply(Sys.glob("R/*.R"), function(file) {
  unlist(lapply(parse(file), function(call) {
    if (is.call(call) && identical(call[[1]], as.name("<-")) && is.name(call[[2]])) {
      as.character(call[[2]])
    }
  }))
}))
twice <- unique(defined[duplicated(defined)])
if (length(twice)) cat("defined twice in R/:", twice, "\n")

lints <- list(lintr::lint_package(), lintr::lint_dir(".ci"), lintr::lint("exec/ancify"))
for (some in lints) print(some)
quit(status = any(lengths(lints) > 0) || length(twice) > 0)
