# R values as JSON text.

to_json <- function(x, pretty = TRUE) {
  jsonlite::toJSON(
    keep_names(x), auto_unbox = TRUE, digits = NA, null = "null", na = "null", rownames = FALSE,
    pretty = pretty
  )
}

# JSON has names in objects, so in lists, only.
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

# The same text for the same description, be it R's or read from JSON.
canonical_json <- function(x) {
  read <- jsonlite::fromJSON(to_json(x), simplifyVector = FALSE)
  as.character(to_json(read, pretty = FALSE))
}

# Whether two descriptions say the same.
same_json <- function(x, y) {
  # Most often nothing is on record, and turning descriptions into JSON takes milliseconds.
  if (is.null(x) || is.null(y)) {
    return(is.null(x) && is.null(y))
  }
  identical(x, y) || identical(canonical_json(x), canonical_json(y))
}
