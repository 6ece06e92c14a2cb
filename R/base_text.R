# Text files that R parses itself. The core reads them, up to a size limit.

# A configuration that lists 100,000 contigs takes 2 MB, as does a tree of 100,000 species.
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
  refuse_file_if(!is.null(problem), file, "%s: %s; correct the path.", quoted(file), problem)
}

# Parses YAML text. `refuse`: a function that receives the message of a problem. If `strict`, the
# parser's warnings are problems too.
parse_yaml <- function(text, handlers, refuse, strict) {
  lines <- strsplit(text, "\r\n|\r|\n")[[1]]
  refuse_deep_yaml(text, lines, refuse)
  refuse_second_document(lines, refuse)
  invalid <- function(condition) refuse(trimws(conditionMessage(condition)))
  read <- function() yaml::yaml.load(text, handlers = handlers, eval.expr = FALSE)
  if (strict) {
    tryCatch(read(), error = invalid, warning = invalid)
  } else {
    tryCatch(suppressWarnings(read()), error = invalid)
  }
}

# The parser's time grows with the square of the depth, and takes minutes at 100,000 levels.
most_yaml_depth <- 1000

# Refuses deep nesting. Bounds on the depth are the columns before a line's first word, and the
# number of open brackets.
refuse_deep_yaml <- function(text, lines, refuse) {
  brackets <- regmatches(text, gregexpr("[][{}]", text))[[1]]
  open <- cumsum(ifelse(brackets %in% c("[", "{"), 1, -1))
  indent <- attr(regexpr("^[-?: \t]*", lines), "match.length")
  if (max(open, indent, 0) > most_yaml_depth) {
    refuse(sprintf("it is nested more than %s levels deep", format_count(most_yaml_depth)))
  }
}

# Refuses a second document, which the parser would ignore.
refuse_second_document <- function(lines, refuse) {
  content <- grep("^([ \t]*(#|$)|%|---[ \t]*(#|$))", lines, invert = TRUE)
  second <- grep("^---([ \t]|$)", lines)
  second <- second[second > min(content, Inf) & second <= max(content, 0)]
  if (length(second)) {
    refuse(sprintf("a second document begins at line %d (---); write a file for each", second[1]))
  }
}
