# Rscript .ci/lint.R: lints all R code of the repository; the package is installed.
# A test sees testthat and the tests' helpers besides the package.
library(testthat)
for (helper in Sys.glob("tests/testthat/helper*.R")) source(helper)

lints <- list(lintr::lint_package(), lintr::lint_dir(".ci"), lintr::lint("exec/ancify"))
for (some in lints) print(some)
quit(status = any(lengths(lints) > 0))
