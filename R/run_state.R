# State is what a run keeps in its work folder for later runs: fits, and outcomes of tasks. Others
# may write to that folder too. So state is JSON, and decodes only to vectors, lists and the classes
# below. (RDS may hold code that R before 4.4 runs when it reads the file: CVE-2024-27322.)
#
# A value is an object of `type`, `values` and `attributes`. Numbers are in base 16, so that they
# come back unchanged.

# With 100,000 contigs, a file of state, a ledger or a record has 30 MB.
most_state_bytes <- 2^28

# With 40 outgroups on 100,000 contigs, there are nine million values.
most_state_values <- 1e7

write_state <- function(path, x) write_text(path, state_text(x))

state_text <- function(x) jsonlite::toJSON(encode_state(x), na = "null")

# NULL if the file is missing or holds no valid state.
read_state <- function(path) {
  tryCatch(decode_state(read_json_file(path)), error = function(condition) NULL)
}

# The lines of a text, such as a list of files; NULL if it cannot be read.
state_lines <- function(path) {
  text <- tryCatch(read_text_impl(path, most_state_bytes), error = function(condition) NULL)
  if (!is.null(text)) strsplit(text, "\r?\n")[[1]]
}

# Reads JSON into lists.
read_json_file <- function(path, ...) {
  text <- read_text_impl(path, most_state_bytes)
  check_json_size(text, path)
  jsonlite::parse_json(text, ...)
}

check_json_size <- function(text, path) {
  # Commas divide the values of JSON as of YAML. Each value takes 60 bytes of memory.
  values <- yaml_shape_impl(text)$entries
  if (values > most_state_values) {
    abort_ancify(
      sprintf("%s has %s values, more than any run writes: remove it.", quoted(path),
              format_count(values)),
      "format", file = path
    )
  }
}

encode_state <- function(x) {
  if (inherits(x, "condition")) x <- plain_condition(x)
  unknown <- setdiff(oldClass(x), state_classes(oldClass(x)))
  if (!typeof(x) %in% names(state_types) || length(unknown)) {
    stop("a value of class ", class(x)[1], " cannot be state of a run")
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

# encode() gives the values as jsonlite writes them; decode() takes the list that jsonlite reads.
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

# A vector of one type from single values; null becomes NA.
scalars <- function(values, type) {
  missing <- vapply(values, is.null, NA)
  stopifnot(is.list(values), lengths(values[!missing]) == 1,
            vapply(values[!missing], typeof, "") == type)
  result <- rep(as.vector(NA, type), length(values))
  result[!missing] <- unlist(values)
  result
}

# Classes of state, with a check of their objects. An invalid object gives FALSE or an error.
checks_of_state <- list(
  data.frame = function(x) length(unique(lengths(x))) < 2 && !is.null(names(x)),
  phylo = function(x) is.null(check_phylo(x)),
  ancify_model = function(x) !is.null(check_model(x)),
  ancify_history = function(x) !is.null(check_history(x)),
  ancify_fit = function(x) is.data.frame(x$estimates) && is.numeric(x$log_likelihood),
  ancify_history_fit = function(x) inherits(x$history, "ancify_history"),
  condition = function(x) is.character(x$message) && length(x$message) == 1 && is.null(x$call)
)

# Those of `classes` that state may have.
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
  # Only conditions may have classes of conditions.
  stopifnot("condition" %in% classes || all(classes %in% names(checks_of_state)))
}

# Drops calls and environments, which conditions of other packages have beside their message.
plain_condition <- function(x) {
  facts <- if (inherits(x, c("ancify_error", "ancify_warning"))) unclass(x)
  facts[c("message", "call")] <- NULL
  structure(
    c(list(message = conditionMessage(x), call = NULL), facts),
    class = state_classes(class(x))
  )
}
