# Jobs store state in their folder for later ones: fits, and outcomes of tasks. State is JSON,
# because R before 4.4 may run code in files of its own format (CVE-2024-27322).
#
# A value is an object of `type`, `values` and `attributes`. Numbers have 17 digits, so that they
# are read back exactly.

write_state <- function(path, x) write_text(path, state_text(x))

state_text <- function(x) jsonlite::toJSON(encode_state(x), na = "null", json_verbatim = TRUE)

# NULL if the file is missing or holds no valid state.
read_state <- function(path) {
  invalid <- function(condition) NULL
  tryCatch(decode_state(read_json_file(path)), error = invalid, warning = invalid)
}

state_types <- c("NULL", "logical", "integer", "double", "character", "list")

encode_state <- function(x) {
  if (inherits(x, "condition")) x <- plain_condition(x)
  if (!typeof(x) %in% state_types) stop("a ", typeof(x), " cannot be state of a run")
  attributes <- lapply(attributes(x), encode_state)
  attributes(x) <- NULL
  values <- switch(typeof(x),
    "NULL" = list(),
    double = json_numbers(x),
    character = enc2utf8(x),
    list = lapply(x, encode_state),
    x
  )
  list(type = jsonlite::unbox(typeof(x)), values = values, attributes = attributes)
}

# jsonlite writes 15 digits at most, and reads -0 as an integer.
json_numbers <- function(x) {
  text <- sub("^-0$", "-0.0", sprintf("%.17g", x))
  not_finite <- !is.finite(x)
  text[not_finite] <- ifelse(is.na(x) & !is.nan(x), "null", dQuote(text, FALSE))[not_finite]
  structure(sprintf("[%s]", paste(text, collapse = ",")), class = "json")
}

decode_state <- function(node) {
  type <- node$type
  stopifnot(type %in% state_types, length(type) == 1)
  x <- switch(type,
    "NULL" = NULL,
    list = lapply(node$values, decode_state),
    vapply(node$values, function(value) get(paste0("as.", type))(value %||% NA), vector(type, 1))
  )
  if (length(node$attributes)) attributes(x) <- lapply(node$attributes, decode_state)
  x
}

# Keeps only the package's own and R's basic classes. Conditions of other packages contain calls and
# environments besides their message.
plain_condition <- function(x) {
  facts <- if (inherits(x, c("ancify_error", "ancify_warning"))) unclass(x)
  facts[c("message", "call")] <- NULL
  kept <- grepl("^(ancify_([a-z_]+_)?)?(error|warning)$|^condition$", class(x))
  structure(c(list(message = conditionMessage(x), call = NULL), facts), class = class(x)[kept])
}
