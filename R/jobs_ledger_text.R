# The text of a ledger, <folder>/.ancify/ledger. Its first line has the version and the checksum of
# the remaining text. Each save also writes a copy, from which users can restore a damaged ledger.

ledger_head <- "ancify ledger 1"

ledger_name <- file.path(".ancify", "ledger")

ledger_file <- function(folder) file.path(folder, ledger_name)

ledger_copy <- function(folder) paste0(ledger_file(folder), ".copy")

# The text after the first line; NULL if the file is no ledger, or its first line has another
# version or a wrong checksum.
ledger_body <- function(file) {
  text <- tryCatch(read_text_impl(file, most_state_bytes), error = function(condition) NULL)
  if (is.null(text)) {
    return(NULL)
  }
  at <- regexpr("\n", text, fixed = TRUE)
  body <- substring(text, at + 1, nchar(text) - endsWith(text, "\n"))
  if (identical(substring(text, 1, at - 1), ledger_line(body))) body
}

ledger_line <- function(body) paste(ledger_head, bytes_checksum_impl(charToRaw(body)))

# An error, because without a ledger the runs' files cannot be distinguished from a user's.
refuse_ledger <- function(folder) {
  file <- ledger_file(folder)
  copied <- ledger_body(ledger_copy(folder))
  way_out <- if (is.null(copied) || identical(copied, ledger_body(file))) {
    "put back a copy of the ledger"
  } else {
    sprintf("to use them again, put back the ledger's copy (cp %s %s)",
            shQuote(ledger_copy(folder)), shQuote(file))
  }
  refuse_file(
    file,
    paste(
      "%s is damaged, or of another version. It tells the results in %s from your own files,",
      "which are as they were: %s, or choose another folder."
    ),
    quoted(file), quoted(folder), way_out
  )
}
