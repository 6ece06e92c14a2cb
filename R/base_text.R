# Files of text that R parses itself: the core reads them, within a limit.

# A configuration that lists 100,000 contigs has 2 MB, and so has a tree of as many species.
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
    "this is no file but a folder"
  }
  if (!is.null(problem)) {
    abort_ancify(sprintf("%s: %s; correct the path.", quoted(file), problem), "file", file = file)
  }
}

# What a text in YAML says; `refuse` takes what is wrong with it. A warning of the parser's is an
# error where `strict`.
parse_yaml <- function(text, handlers, refuse, strict) {
  shape <- yaml_shape_impl(text)
  for (part in names(most_of_yaml)) {
    if (shape[[part]] > most_of_yaml[[part]]) {
      refuse(sprintf(
        "%s are more than such a file needs, which has at most %s",
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
  # Each element takes a byte, unless aliases repeat it.
  if (has_more_elements_impl(parsed, nchar(text, "bytes"))) {
    refuse("its aliases make it larger than it is; write out what they stand for")
  }
  parsed
}

# The parser takes time in the square of the first three, and looks for each merged key among all.
most_of_yaml <- list(
  indent = 1000, collections = 10000, keys = 10000, entries = 1e6, merged = 20000
)

yaml_parts <- list(
  indent = "%s columns of indent", collections = "%s lists and mappings",
  keys = "%s keys of a mapping", entries = "%s entries",
  merged = "%s keys that merges (<<) repeat"
)
