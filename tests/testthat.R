library(testthat)
library(ancify)

test_check("ancify")
