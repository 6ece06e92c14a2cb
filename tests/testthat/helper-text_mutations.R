# Files with faults of any kind: mutated texts, and what a reader makes of them.

# How many a test tries of each reader; `ANCIFY_TEST_MUTATIONS` makes it more.
n_mutations <- function(default) {
  as.integer(Sys.getenv("ANCIFY_TEST_MUTATIONS", as.character(default)))
}

# What readers may stumble over: ends of numbers, of texts and of nesting.
odd_texts <- c(
  "0", "-1", "1e400", "1e-400", "NaN", "inf", "NA", "0x10", "2147483648", "99999999999999999999",
  "1.5", "", " ", "\t", "\r", "\n", "\n\n", "#", "\"", "'", "[", "]", "{", "}", "(", ")", ",", ";",
  ":", ": ", "- ", "? ", "| ", "> ", "&a ", "*a ", "!x ", "!expr 1", "<<: ", "~", "null", "---\n",
  "true", "%s", "\\", "\u00e9", "\xef\xbb\xbf", "\xff", "\xc3", "..", "/", "NULL", "TRUE",
  "Infinity"
)

# `bytes` with one to four faults; `words` are of its format, `others` texts that pieces come from.
mutated_bytes <- function(bytes, words, others) {
  from <- function(texts) {
    text <- sample(texts, 1)
    if (text == "") raw() else charToRaw(text)
  }
  piece_of <- function(text) {
    at <- sample(length(text), 1)
    text[at:min(length(text), at + sample(40, 1))]
  }
  for (k in seq_len(sample(4, 1, prob = c(10, 3, 1, 1)))) {
    n <- length(bytes)
    at <- sample(n + 1, 1)
    before <- bytes[seq_len(at - 1)]
    cut <- min(n + 1, at + sample(c(0, 0:3, 1, 8, 30), 1))
    behind <- if (cut <= n) bytes[cut:n] else raw()
    middle <- switch(sample(6, 1),
      from(odd_texts), from(words), as.raw(sample(0:255, 1)), piece_of(sample(others, 1)[[1]]),
      raw(), rep(if (at <= n) piece_of(bytes[at:n]) else raw(), sample(5, 1))
    )
    bytes <- c(before, middle, behind)
    if (!length(bytes)) bytes <- as.raw(10)
  }
  bytes
}

# Writes `n` mutants of the texts to a file and gives what read(path) makes of each: "value",
# "error" for one of the package, or what else happened, with the text. `check` looks at values and
# gives what is wrong with one.
outcomes_of_mutants <- function(n, texts, words, read, seed = 1, check = function(value) NULL) {
  set.seed(seed)
  path <- tempfile()
  seeds <- lapply(texts, function(lines) charToRaw(enc2utf8(paste0(lines, "\n", collapse = ""))))
  vapply(seq_len(n), function(i) {
    bytes <- mutated_bytes(sample(seeds, 1)[[1]], words, seeds)
    writeBin(bytes, path)
    seconds <- processor_seconds(outcome <- outcome_of(read(path), check))
    if (seconds > 20) outcome <- paste("too slow:", outcome)
    if (outcome %in% c("value", "error")) outcome else paste(outcome, "in", text_of_bytes(bytes))
  }, "")
}

outcome_of <- function(code, check) {
  tryCatch(
    {
      value <- without_own_warnings(code)
      problem <- check(value)
      if (is.null(problem)) "value" else problem
    },
    ancify_error = function(condition) {
      if (all(validUTF8(conditionMessage(condition)))) "error" else "an error that is no text"
    },
    warning = function(condition) paste("warning:", conditionMessage(condition)),
    error = function(condition) paste("error of R:", conditionMessage(condition))
  )
}

without_own_warnings <- function(code) {
  withCallingHandlers(code, ancify_warning = function(condition) invokeRestart("muffleWarning"))
}

# In hexadecimal digits, which any console can show.
text_of_bytes <- function(bytes) {
  paste(format(bytes), collapse = "")
}
