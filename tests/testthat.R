library(testthat)
library(ancify)

# R CMD check shall not take long: ./check runs the other tests, and so does testthat::test_dir().
if (Sys.getenv("ANCIFY_LONG_TESTS") == "") Sys.setenv(ANCIFY_LONG_TESTS = "no")
test_check("ancify")
