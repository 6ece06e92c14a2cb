for (path in Sys.glob("../testthat/helper-*.R")) source(path, local = TRUE)
