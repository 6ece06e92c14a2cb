# R values as JSON text.

to_json <- function(x, pretty = TRUE) {
  jsonlite::toJSON(
    keep_names(x), auto_unbox = TRUE, digits = NA, null = "null", na = "null", rownames = FALSE,
    pretty = pretty
  )
}

# In JSON only objects have names, so named vectors become lists.
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

# Equal descriptions give equal text, also if one of them was read from JSON.
canonical_json <- function(x) {
  as.character(to_json(x, pretty = FALSE))
}

# Whether two descriptions are equal.
same_json <- function(x, y) {
  # Usually nothing is on record; JSON takes milliseconds.
  if (is.null(x) || is.null(y)) {
    return(is.null(x) && is.null(y))
  }
  identical(x, y) || identical(canonical_json(x), canonical_json(y))
}
