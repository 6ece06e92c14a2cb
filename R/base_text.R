# Text files that R parses itself. The core reads them, up to a size limit.

# A configuration that lists 100,000 contigs has 2 MB. So has a tree of 100,000 species.
most_text_bytes <- 2^24

# The text of a small file, plain or gzip, in UTF-8 and without a byte order mark.
read_text_file <- function(file) {
  check_is_file(file)
  read_text_impl(file, most_text_bytes)
}

check_is_file <- function(file) {
  problem <- if (!file.exists(file)) {
    "there is no such file"
  } else if (dir.exists(file)) {
    "this is a folder, not a file"
  }
  if (!is.null(problem)) {
    abort_ancify(sprintf("%s: %s; correct the path.", quoted(file), problem), "file", file = file)
  }
}

# Parses a text in YAML. `refuse`: a function that takes the message of a problem. If `strict`, the
# parser's warnings are problems too.
parse_yaml <- function(text, handlers, refuse, strict) {
  shape <- yaml_shape_impl(text)
  for (part in names(most_of_yaml)) {
    if (shape[[part]] > most_of_yaml[[part]]) {
      refuse(sprintf(
        "it has %s; the limit is %s",
        sprintf(yaml_parts[[part]], format_count(shape[[part]])), format_count(most_of_yaml[[part]])
      ))
    }
  }
  invalid <- function(condition) refuse(trimws(conditionMessage(condition)))
  read <- function() yaml::yaml.load(text, handlers = handlers, eval.expr = FALSE)
  parsed <- if (strict) {
    tryCatch(read(), error = invalid, warning = invalid)
  } else {
    tryCatch(suppressWarnings(read()), error = invalid)
  }
  # Without aliases each element takes a byte at least, so more elements come from aliases.
  if (has_more_elements_impl(parsed, nchar(text, "bytes"))) {
    refuse("its aliases repeat too much; write out their values")
  }
  parsed
}

# The parser's time grows with the square of the first three, and it searches all keys for each
# merged key.
most_of_yaml <- list(
  indent = 1000, collections = 10000, keys = 10000, entries = 1e6, merged = 20000
)

yaml_parts <- list(
  indent = "%s columns of indent", collections = "%s lists and mappings",
  keys = "%s keys of a mapping", entries = "%s entries",
  merged = "%s keys that merges (<<) repeat"
)
