# State that a run keeps for later ones in its work folder: fits, and the outcomes of tasks. Others
# may write there too. So state is JSON, and only vectors, lists and the classes below come of it.
# (RDS may hold code, which R before 4.4 runs as it reads the file: CVE-2024-27322.)
#
# A value is an object of `type`, `values` and `attributes`. Numbers are written
# in base 16, so that the very same come back.

# A file of state, a ledger and a record of 100,000 contigs have 30 MB.
most_state_bytes <- 2^28

# Forty outgroups on as many contigs have nine million values.
most_state_values <- 1e7

write_state <- function(path, x) write_text(path, state_text(x))

state_text <- function(x) jsonlite::toJSON(encode_state(x), na = "null")

# NULL for a file that is not there, or holds no such state.
read_state <- function(path) {
  tryCatch(decode_state(read_json_file(path)), error = function(condition) NULL)
}

# The lines of a text, such as a list of files; NULL likewise.
state_lines <- function(path) {
  text <- tryCatch(read_text_impl(path, most_state_bytes), error = function(condition) NULL)
  if (!is.null(text)) strsplit(text, "\r?\n")[[1]]
}

# Lists, as JSON has them.
read_json_file <- function(path, ...) {
  text <- read_text_impl(path, most_state_bytes)
  check_json_size(text, path)
  jsonlite::parse_json(text, ...)
}

check_json_size <- function(text, path) {
  # What commas divide is the same in JSON. Each value takes 60 bytes of memory.
  values <- yaml_shape_impl(text)$entries
  if (values > most_state_values) {
    abort_ancify(
      sprintf("%s has %s values, more than any run leaves: remove it.", quoted(path),
              format_count(values)),
      "format", file = path
    )
  }
}

encode_state <- function(x) {
  if (inherits(x, "condition")) x <- plain_condition(x)
  unknown <- setdiff(oldClass(x), state_classes(oldClass(x)))
  if (!typeof(x) %in% names(state_types) || length(unknown)) {
    stop("a value of class ", class(x)[1], " is none of a run's state") # nolint
  }
  attributes <- lapply(attributes(x), encode_state)
  attributes(x) <- NULL
  values <- state_types[[typeof(x)]]$encode(x)
  list(type = jsonlite::unbox(typeof(x)), values = values, attributes = attributes)
}

decode_state <- function(node) {
  type <- state_types[[node$type]]
  x <- type$decode(node$values)
  if (length(node$attributes)) attributes(x) <- lapply(node$attributes, decode_state)
  check_state(x)
  x
}

# Each gives the values as jsonlite writes them, and takes a list of what it has read.
state_types <- list(
  "NULL" = list(encode = function(x) list(), decode = function(values) NULL),
  logical = list(encode = identity, decode = function(values) scalars(values, "logical")),
  integer = list(encode = identity, decode = function(values) scalars(values, "integer")),
  double = list(
    encode = function(x) sprintf("%a", x),
    decode = function(values) {
      text <- scalars(values, "character")
      stopifnot(grepl("^(-?(0x[01](\\.[0-9a-f]+)?p[+-][0-9]+|Inf)|NaN|NA)$", text))
      text[text == "NA"] <- NA
      as.numeric(text)
    }
  ),
  character = list(encode = enc2utf8, decode = function(values) scalars(values, "character")),
  list = list(
    encode = function(x) lapply(x, encode_state),
    decode = function(values) lapply(values, decode_state)
  )
)

# A vector of single values of a type, of which null is NA.
scalars <- function(values, type) {
  missing <- vapply(values, is.null, NA)
  stopifnot(is.list(values), lengths(values[!missing]) == 1,
            vapply(values[!missing], typeof, "") == type)
  result <- rep(as.vector(NA, type), length(values))
  result[!missing] <- unlist(values)
  result
}

# Classes of state, with what must hold of their objects: an error or FALSE for one that is none.
checks_of_state <- list(
  data.frame = function(x) length(unique(lengths(x))) < 2 && !is.null(names(x)),
  phylo = function(x) is.null(check_phylo(x)),
  ancify_model = function(x) !is.null(check_model(x)),
  ancify_history = function(x) !is.null(check_history(x)),
  ancify_fit = function(x) is.data.frame(x$estimates) && is.numeric(x$log_likelihood),
  ancify_history_fit = function(x) inherits(x$history, "ancify_history"),
  condition = function(x) is.character(x$message) && length(x$message) == 1 && is.null(x$call)
)

# Those of these classes that state may have.
state_classes <- function(classes) {
  of_condition <- "^(ancify_([a-z_]+_)?)?(error|warning)$"
  classes[classes %in% names(checks_of_state) | grepl(of_condition, classes)]
}

check_state <- function(x) {
  classes <- oldClass(x)
  stopifnot(classes %in% state_classes(classes))
  for (class in intersect(classes, names(checks_of_state))) {
    stopifnot(is.list(x), checks_of_state[[class]](x))
  }
  # Only a condition has a condition's classes.
  stopifnot("condition" %in% classes || all(classes %in% names(checks_of_state)))
}

# Without what other packages' conditions have beside their message: calls and environments.
plain_condition <- function(x) {
  facts <- if (inherits(x, c("ancify_error", "ancify_warning"))) unclass(x)
  facts[c("message", "call")] <- NULL
  structure(
    c(list(message = conditionMessage(x), call = NULL), facts),
    class = state_classes(class(x))
  )
}
