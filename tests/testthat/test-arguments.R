# What all functions of the package have in common.

exported <- function() {
  exports <- mget(sort(getNamespaceExports("ancify")), asNamespace("ancify"))
  Filter(is.function, exports)
}

needed <- function(fun) {
  takes <- formals(fun)
  setdiff(names(takes)[vapply(takes, identical, NA, quote(expr = ))], "...")
}

test_that("arguments that have no default and were not given are named", {
  for (name in names(exported())) {
    fun <- exported()[[name]]
    if (length(needed(fun)) == 0) next
    condition <- expect_error(fun(), class = "ancify_input_error", label = name)
    for (argument in needed(fun)) {
      expect_match(conditionMessage(condition), sprintf("`%s`", argument), fixed = TRUE, info = name)
    }
  }
  expect_ancify_error(write_sfs(file = "sfs.fs"), "input", "`x` must be given: it has no default")
  # Also where one function hands them on to another
  wrapper <- function(calls) read_ancestral(calls)
  expect_ancify_error(wrapper(), "input", "`run` must be given")
})

test_that("arguments that several functions take come in one order, at the end", {
  common <- c("threads", "backend", "resume", "BPPARAM", "progress", "verbose")
  for (name in names(exported())) {
    arguments <- names(formals(exported()[[name]]))
    expect_identical(intersect(arguments, common), intersect(common, arguments), info = name)
  }
})
