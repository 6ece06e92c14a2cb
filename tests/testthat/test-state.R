# State of runs in files for later runs.

round_trip <- function(x) {
  path <- tempfile()
  write_state(path, x)
  read_state(path)
}

test_that("values are read back exactly", {
  values <- list(
    list(), NULL, TRUE, c(NA, FALSE), logical(), 1L, c(a = NA, b = -5L), integer(),
    c(0.1, -1 / 3, 1e-310, .Machine$double.xmin, .Machine$double.xmax, 5e-324, 2^60 + 1024),
    c(NA, NaN, Inf, -Inf, 0), double(), c("a", NA, "NA", "", "\u00e9\n\"\\"), character(),
    matrix(1:6, 2, dimnames = list(NULL, c("x", "y", "z"))),
    data.frame(a = 1:3, b = c("x", NA, "z"), row.names = c("p", "q", "r")), data.frame(),
    factor(c("b", NA, "a"), levels = c("b", "a")), structure(list(1:2), class = "of_some_class"),
    list(a = NULL, b = list(1, list("x"))), stats::setNames(list(1, 2), c("", "a"))
  )
  for (value in values) expect_identical(round_trip(value), value)
  expect_identical(1 / round_trip(-0), -Inf)
  set.seed(271)
  numbers <- c(rnorm(500) * 10^sample(-300:300, 500, TRUE), runif(500))
  expect_identical(round_trip(numbers), numbers)
})

test_that("fits of every kind are read back unchanged", {
  set.seed(272)
  settings <- list(
    list(method = "likelihood", tree = "(((focal,near1),near2),far);",
         substitution_model = "GTR", rate_alpha = 0.5),
    list(method = "coalescent", history = list(mutation_rate = 1e-8))
  )
  for (keys in settings) {
    case <- related_case(estimate = TRUE)
    case$config[names(keys)] <- keys
    fitted <- NULL
    where <- asNamespace("ancify")
    keep <- function(value) fitted <<- value
    suppressMessages(trace("write_fits", bquote(.(keep)(fitted)), where = where, print = FALSE))
    suppressWarnings(run_quietly(case$config))
    suppressMessages(untrace("write_fits", where = where))
    expect_s3_class(fitted$fit, "ancify_fit")
    expect_identical(round_trip(fitted), fitted)
    lines <- log_lines(suppressWarnings(ancify_run(case$config, progress = FALSE)))
    expect_false(any(startsWith(lines, "Fitted")))
  }
})

test_that("conditions are read back with their messages", {
  error <- tryCatch(abort_ancify("no.", "format", file = "a", line = 3), error = identity)
  back <- round_trip(error)
  expect_identical(class(back), class(error))
  expect_identical(back[c("message", "file", "line")], error[c("message", "file", "line")])
  # Errors of other packages keep their message, not their call.
  other <- tryCatch(stop("something"), error = identity)
  class(other) <- c("rlang_error", class(other))
  other$trace <- environment()
  expect_identical(class(round_trip(other)), c("error", "condition"))
  expect_identical(conditionMessage(round_trip(other)), "something")
})

test_that("state has plain numbers of 17 digits, and as many attributes as R needs", {
  expect_identical(
    as.character(state_text(c(a = 0.1, b = NA, c = 2))),
    paste0(
      '{"type":"double","values":[0.10000000000000001,null,2],"attributes":{"names":{"type":',
      '"character","values":["a","b","c"],"attributes":[]}}}'
    )
  )
})

test_that("invalid state gives NULL, and runs no code", {
  expect_null(read_state(tempfile()))
  path <- tempfile()
  node <- function(type, values, attributes = "{}") {
    sprintf('{"type":"%s","values":%s,"attributes":%s}', type, values, attributes)
  }
  writeLines(node("integer", "[1,2]"), path)
  expect_identical(read_state(path), 1:2)
  hostile <- c(
    "", "[", "{}", "null", "5", '"text"', "[1,2]", node("closure", "[]"), node("language", "[]"),
    node("builtin", '["c3lzdGVt"]'), node("expression", '["system(1)"]'),
    node("symbol", '["a"]'), node("double", '["system(1)"]'), node("double", "[[1,2]]"),
    node("list", "[1]"), node("list", '{"a":{}}'),
    node("integer", "[1,2]", sprintf('{"dim":%s}', node("integer", "[3]"))),
    "\xff", "a\\u0000", strrep("[", 1e6)
  )
  for (text in hostile) {
    writeLines(text, path, useBytes = TRUE)
    expect_null(read_state(path), info = substring(encodeString(text), 1, 100))
  }
  # R's own format: a promise in it is evaluated when it is read.
  saveRDS(list(1), path)
  expect_null(read_state(path))
})

# A serialized promise to make a file: R before 4.4 makes it when the value is used.
crafted_rds <- function(path, effect) {
  word <- function(x) writeBin(as.integer(x), raw(), endian = "big")
  of_call <- serialize(bquote(file.create(.(effect))), NULL, version = 2)
  body <- function(bytes) bytes[-(1:14)]
  # Format 2, then a promise (5) that has no environment, no value yet (252), and the call.
  bytes <- c(as.raw(c(0x58, 0x0a)), word(c(2, 0x040202, 0x020300, 5, 252)), body(of_call))
  connection <- gzfile(path, "wb")
  on.exit(close(connection))
  writeBin(bytes, connection)
}

test_that("crafted files of R's format in the places of state do nothing", {
  set.seed(273)
  case <- random_config(method = "likelihood", tree = "(((focal,inner1),inner2),outer1);",
                        estimate = TRUE)
  suppressWarnings(run_quietly(case$config))
  own <- file.path(case$config$work_dir, ".ancify")
  effect <- tempfile("effect-")
  places <- file.path(own, c("fitted.rds", "fitted.json", "tasks/call-1/outcome.rds",
                             "tasks/call-1/outcome.json"))
  dir.create(dirname(places[4]), recursive = TRUE)
  for (place in places) crafted_rds(place, effect)
  suppressWarnings(run_quietly(case$config))
  expect_false(file.exists(effect))
})
