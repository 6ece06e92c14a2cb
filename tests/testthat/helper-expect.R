# Expects an error of the package whose message holds all these texts; gives it back.
expect_ancify_error <- function(code, class, ...) {
  # expect_error() would take milliseconds for the calls that led there. Other errors come through.
  condition <- tryCatch(
    {
      code
      NULL
    },
    ancify_error = identity
  )
  expect_s3_class(condition, paste0("ancify_", class, "_error"))
  expect_s3_class(condition, "ancify_error")
  for (text in c(...)) expect_match(conditionMessage(condition), text, fixed = TRUE)
  invisible(condition)
}

# Expects project_axt() to refuse a file, in memory and with an output folder, naming the file (and
# the line), and to leave nothing behind.
expect_refused <- function(axt, lengths, ..., class = "format", line = NULL, skip = FALSE) {
  on_bad_block <- if (skip) "skip" else "error"
  folder <- new_folder()
  for (output_dir in list(NULL, folder)) {
    condition <- expect_ancify_error(
      project_axt(axt, lengths, output_dir = output_dir, on_bad_block = on_bad_block),
      class, axt, ...
    )
    expect_identical(condition$file, axt)
    if (!is.null(line)) {
      expect_identical(condition$line, line)
      if (line > 0) expect_match(conditionMessage(condition), sprintf("line %.0f", line))
    }
  }
  expect_identical(content_of(folder), character())
  invisible(condition)
}

# Expects one warning of the package, the only one; gives the value.
expect_one_warning <- function(code, class, ...) {
  caught <- list()
  value <- withCallingHandlers(code, warning = function(condition) {
    caught[[length(caught) + 1]] <<- condition
    invokeRestart("muffleWarning")
  })
  expect_length(caught, 1)
  expect_s3_class(caught[[1]], paste0("ancify_", class, "_warning"))
  expect_s3_class(caught[[1]], "ancify_warning")
  for (text in c(...)) expect_match(conditionMessage(caught[[1]]), text, fixed = TRUE)
  invisible(list(value = value, warning = caught[[1]]))
}
