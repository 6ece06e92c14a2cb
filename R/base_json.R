# Converts R values to JSON, and reads the JSON and lists that runs wrote.

to_json <- function(x, pretty = TRUE) {
  jsonlite::toJSON(
    keep_names(x), auto_unbox = TRUE, digits = NA, null = "null", na = "null", rownames = FALSE,
    pretty = pretty
  )
}

# Named vectors become lists, because only objects have names in JSON.
keep_names <- function(x) {
  if (is.data.frame(x)) {
    x
  } else if (is.list(x)) {
    lapply(x, keep_names)
  } else if (!is.null(names(x))) {
    as.list(x)
  } else {
    x
  }
}

# Equal descriptions give equal text, even if one of them was read from JSON.
canonical_json <- function(x) {
  as.character(to_json(x, pretty = FALSE))
}

# Whether two descriptions are equal.
same_json <- function(x, y) {
  # Usually no record exists, so avoid the conversion, which takes milliseconds.
  if (is.null(x) || is.null(y)) {
    return(is.null(x) && is.null(y))
  }
  identical(x, y) || identical(canonical_json(x), canonical_json(y))
}

# With 100,000 contigs, a state file, ledger or record takes 30 MB.
most_state_bytes <- 2^28

# Reads JSON into lists.
read_json_file <- function(path, ...) {
  jsonlite::parse_json(read_text_impl(path, most_state_bytes), ...)
}

# The lines of a text, such as a list of files; NULL if it cannot be read.
state_lines <- function(path) {
  text <- tryCatch(read_text_impl(path, most_state_bytes), error = function(condition) NULL)
  if (!is.null(text)) strsplit(text, "\r?\n")[[1]]
}
