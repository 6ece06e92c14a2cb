# What all functions of the package have in common.

exported <- function() {
  exports <- mget(sort(getNamespaceExports("ancify")), asNamespace("ancify"))
  Filter(is.function, exports)
}

needed <- function(fun) {
  takes <- formals(fun)
  has_none <- vapply(takes, function(default) identical(paste(deparse(default)), ""), NA)
  setdiff(names(takes)[has_none], "...")
}

test_that("arguments that have no default and were not given are named", {
  for (name in names(exported())) {
    fun <- exported()[[name]]
    if (length(needed(fun)) == 0) next
    condition <- expect_error(fun(), class = "ancify_input_error", label = name)
    for (argument in needed(fun)) {
      expect_match(
        conditionMessage(condition), sprintf("`%s`", argument), fixed = TRUE, info = name
      )
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

test_that("arguments that a method does not have are not passed over", {
  spectrum <- sfs(c(0, 12, 5, 3, 2, 0), "YRI")
  expect_ancify_error(plot(spectrum, mian = "YRI"), "input", "has no argument `mian`: see its help")
  expect_ancify_error(plot(spectrum, mian = 1, a = 2), "input", "has no arguments `mian` and `a`")
  expect_ancify_error(fold(spectrum, TRUE), "input", "without a name")
  expect_ancify_error(simulate(spectrum, nsmi = 2, sed = 1), "input", "`nsmi` and `sed`")
})

test_that("arguments are checked by their kinds in order, and become what these return", {
  read <- function(n, file = NULL, how = c("fast", "exact"), ...) {
    check_method(n = whole(5), file = optional(one_path()), how = choice(c("fast", "exact")))
    list(n, file, how)
  }
  expect_identical(read(2), list(2, NULL, "fast"))
  expect_ancify_error(read(), "input", "`n` must be given")
  expect_ancify_error(read(9, fiel = "x"), "input", "has no argument `fiel`")
  expect_ancify_error(read(9, ""), "input", "`n` must be a positive whole number up to 5, not 9")
  expect_ancify_error(read(2, identity), "input", "`file` must be one path, not a function")
  expect_ancify_error(read(2, how = "slow"), "input", "`how` must be one of 'fast' and 'exact'")
})
