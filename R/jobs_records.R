# Validates the ledger contents of resumed runs by a schema, because others may have changed the
# file and its checksum.

# A value of a record: its type ("number", "text" or "flag"), its permitted lengths, and a test of
# validity. With `each`, it stands for a list of such values under any names.
record_field <- function(type, least = 1, most = 1, good = function(x) TRUE, each = FALSE) {
  structure(as.list(environment()), class = "record_field")
}

whole_field <- function(from, to, least = 1, most = 1) {
  record_field("number", least, most, function(x) x >= from & x <= to & x == floor(x))
}

text_field <- record_field("text")

# The sources of complete files and their facts, as lists from JSON.
recorded_sources <- function(ledger, paths) or_bad_record(ledger, made_from_of(ledger, paths))
recorded_facts <- function(ledger, paths, fields) {
  facts <- or_bad_record(ledger, facts_of(ledger, paths))
  lapply(facts, checked_record, fields, ledger)
}

or_bad_record <- function(ledger, code) {
  tryCatch(code, error = function(condition) refuse_damaged_record(ledger, "its rows are no JSON"))
}

# Checks a record, which may be NULL. `fields`: a field, or a named list of fields or of such lists.
checked_record <- function(record, fields, ledger) {
  if (!is.null(record)) {
    problem <- problem_of_record(record, fields, "the run")
    if (length(problem)) refuse_damaged_record(ledger, problem)
  }
  record
}

refuse_damaged_record <- function(ledger, problem) {
  file <- ledger_file(ledger$folder)
  abort_ancify(
    sprintf("%s is no ledger that a run writes, as %s: %s `%s`.", quoted(file), problem,
            "remove the folder's results with it, or choose another", ledger$argument),
    "format", file = file, line = 0
  )
}

# The fault of a record, or NULL.
problem_of_record <- function(x, fields, name) {
  if (inherits(fields, "record_field")) {
    values <- if (fields$each) x else list(x)
    good <- is.list(values) && all(vapply(values, is_good_value, NA, fields))
    return(if (!good) sprintf("%s has a value that no run has", name))
  }
  if (!is.list(x) || !setequal(names(x), names(fields)) || anyDuplicated(names(x))) {
    return(sprintf("%s lacks one of its values", name))
  }
  problems <- lapply(names(fields), function(part) {
    problem_of_record(x[[part]], fields[[part]], sprintf("'%s'", part))
  })
  unlist(problems)[1]
}

# JSON represents one value as a scalar, and several as a list.
is_good_value <- function(x, field) {
  is_type <- switch(field$type, number = is.numeric, text = is.character, flag = is.logical)
  values <- as.list(x)
  scalars <- vapply(values, function(value) length(value) == 1 && is_type(value), NA)
  if (!all(scalars) || length(values) < field$least || length(values) > field$most) {
    return(FALSE)
  }
  values <- unlist(values)
  # good() may also get texts, and warns of texts that are not numbers.
  length(values) == 0 || isTRUE(all(!is.na(values) & suppressWarnings(field$good(values))))
}
