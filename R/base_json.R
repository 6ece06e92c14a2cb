# Converts R values to JSON, and reads the JSON and lists that runs wrote.

to_json <- function(x, pretty = TRUE, ...) {
  jsonlite::toJSON(
    keep_names(x, pretty), auto_unbox = TRUE, digits = NA, null = "null", na = "null",
    rownames = FALSE, pretty = pretty, json_verbatim = TRUE, ...
  )
}

# Named vectors become objects, because only objects have names in JSON.
keep_names <- function(x, pretty) {
  if (is.data.frame(x)) {
    x
  } else if (is.list(x)) {
    lapply(x, keep_names, pretty)
  } else if (is.null(names(x))) {
    x
  } else if (pretty) {
    as.list(x)
  } else {
    members <- paste0(json_texts(names(x)), ":", json_texts(unname(x)), recycle0 = TRUE)
    as_json(sprintf("{%s}", paste(members, collapse = ",")))
  }
}

# A text for each element of a vector, or for each row of a data frame. jsonlite takes a tenth of a
# millisecond for each element of a list, but little for these.
json_texts <- function(x) as.character(to_json(x, pretty = FALSE, collapse = FALSE))

# Texts that are JSON already.
as_json <- function(texts) structure(texts, class = "json")

# Equal descriptions give equal text, even if one of them was read from JSON. The text is identical
# to the output of to_json(), which takes longer.
canonical_json <- function(x) {
  plain_json_impl(x) %||% as.character(to_json(x, pretty = FALSE))
}

# True if two descriptions are equal.
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
