# How objects are printed.

test_that("fields stand behind labels of one width, and empty ones are left out", {
  expect_identical(
    object_lines("a", c("one", NULL, "two"), c(x = "1", longer = "", yy = "2", NULL)),
    c("<a> one, two", "  x   1", "  yy  2")
  )
  expect_identical(object_lines("a"), "<a>")
})

test_that("no line is longer than the screen is wide", {
  before <- options(width = 30)
  on.exit(options(before))
  fields <- c(
    text = strrep("word ", 20), path = on_one_line(paste0("/", strrep("a  b/", 20))),
    structure("1", names = strrep("label", 20))
  )
  lines <- object_lines("class", strrep("fact ", 20), fields)
  expect_true(all(nchar(lines) <= 30))
  expect_match(lines, "^  path +[.]{3}a  b/a  b/", all = FALSE)
})

test_that("paths keep their blanks", {
  path <- "/data/my  folder/x.axt.gz"
  expect_identical(object_lines("a", on_one_line(path)), paste("<a>", path))
})

test_that("a fit that has not converged says so, with any message", {
  fit <- structure(
    list(
      model = substitution_model(), sites = 10, log_likelihood = -1, df = 1, converged = FALSE,
      message = NULL, tree = ape::read.tree(text = "(a:1,b:2);")
    ),
    class = "ancify_fit"
  )
  expect_output(print(fit), "not converged")
})
