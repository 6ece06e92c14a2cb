# The record of a run, <output_dir>/ancify_run.json: settings, inputs and results. ancify_report()
# reads it.

run_record_format <- 1L

# NULL if the file cannot be read.
read_record_json <- function(file, ...) {
  tryCatch(
    suppressWarnings(read_json_file(file, ...)),
    error = function(condition) NULL
  )
}

# NULL without a record.
record_in <- function(folder) {
  record <- read_record_json(run_record_path(folder))
  if (is_run_record(record)) record
}

is_run_record <- function(record) {
  if (!is.list(record) || !identical(record$format, run_record_format)) {
    return(FALSE)
  }
  rows <- c(record$chromosomes, record$evaluation)
  is.list(record$settings) && is.list(record$chromosomes) && is.list(record$alignments) &&
    all(vapply(rows, is_row, NA, "chromosome"), vapply(record$alignments, is_row, NA, "species"))
}

# Whether `row` is a list of single values, with a text under `key`.
is_row <- function(row, key) {
  is_value <- function(value) is.null(value) || is_scalar(value)
  is.list(row) && all(vapply(row, is_value, NA)) && is.character(row[[key]])
}

record_file <- function(path) if (dir.exists(path)) run_record_path(path) else path

# Evaluates `code`. Errors outside the class ancify_error mean that the record was modified.
unless_damaged <- function(file, code) {
  tryCatch(code, error = function(condition) {
    if (inherits(condition, "ancify_error")) stop(condition)
    refuse_record(file, "is damaged")
  })
}

refuse_record <- function(file, why) {
  refuse_file(file, "%s %s. Give the output folder of ancify_run(), or run it again.", quoted(file),
              why)
}
