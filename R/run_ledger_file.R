# The file of a ledger, <folder>/.ancify/ledger. Its first line has the version and the checksum of
# the rest: a JSON object with `sources` and the columns of the rows.

ledger_head <- "ancify ledger 1"

ledger_file <- function(folder) file.path(folder, ".ancify", "ledger")

# Reads the ledger of a folder, and writes nothing. A damaged ledger is an error: without it a run
# cannot tell its own files from a user's.
open_ledger <- function(folder, argument = "output_dir") {
  file <- ledger_file(folder)
  if (!is_there(file)) {
    return(new_ledger(folder, rows_of_lists(folder), argument = argument))
  }
  text <- tryCatch(read_text_impl(file, most_state_bytes), error = function(condition) NULL)
  body <- if (!is.null(text)) ledger_body(text)
  content <- if (!is.null(body)) {
    tryCatch(parse_ledger(body, file), error = function(condition) NULL)
  }
  if (is.null(content)) {
    abort_ancify(
      sprintf(
        "%s cannot be read, or has another version. It lists the files that runs wrote to %s. %s",
        quoted(file), quoted(folder), "Choose another folder, or move all of it away."
      ),
      "file", file = file
    )
  }
  new_ledger(folder, content$rows, content$sources, argument = argument)
}

# NULL if the first line has another version, or another checksum than the rest.
ledger_body <- function(text) {
  at <- regexpr("\n", text, fixed = TRUE)
  body <- sub("\n$", "", substring(text, at + 1, nchar(text)))
  if (identical(substring(text, 1, at - 1), ledger_line(body))) body
}

ledger_line <- function(body) paste(ledger_head, bytes_checksum_impl(charToRaw(body)))

# Gives list(rows =, sources =), or an error.
parse_ledger <- function(body, file) {
  check_json_size(body, file)
  content <- jsonlite::fromJSON(body)
  rows <- Map(function(column, like) {
    storage.mode(column) <- storage.mode(like)
    column
  }, content[names(ledger_columns)], ledger_columns)
  stopifnot(length(unique(lengths(rows))) == 1)
  rows <- data.frame(rows)
  sources <- as.character(content$sources)
  stopifnot(are_rows(rows, sources))
  list(rows = rows, sources = sources)
}

# Whether these can be rows of a ledger.
are_rows <- function(rows, sources) {
  types <- function(columns) vapply(columns, typeof, "")
  identical(types(rows), types(ledger_columns)) && all(
    rows$state %in% ledger_states, !anyDuplicated(rows$path), stays_inside(rows$path),
    rows$from %in% c(NA, seq_along(sources)), rows$state != "complete" | !is.na(rows$from)
  )
}

# Whether paths are within the folder.
stays_inside <- function(paths) {
  !is.na(paths) & !is_absolute(paths) & !grepl("(^|/)[.][.](/|$)", paths)
}

# Writes the ledger if it has changed. Within a phase, the time between two saves is 100 times the
# time of a save, but not above 30 s, unless that is less than 20 times.
save_ledger <- function(ledger, at_once = FALSE) {
  started <- proc.time()[["elapsed"]]
  if (!ledger$on_disk || !ledger$changed || (!at_once && started < ledger$next_save)) {
    return(invisible())
  }
  write_ledger(ledger)
  ledger$changed <- FALSE
  ended <- proc.time()[["elapsed"]]
  took <- ended - started
  ledger$next_save <- ended + max(20 * took, min(100 * took, 30))
}

write_ledger <- function(ledger) {
  rows <- ledger_rows(ledger)
  # Drop sources that no file is made from any more.
  used <- sort(unique(rows$from))
  rows$from <- match(rows$from, used)
  body <- jsonlite::toJSON(
    c(list(sources = ledger$sources[used]), as.list(rows)), digits = NA, na = "null"
  )
  write_text(ledger_file(ledger$folder), c(ledger_line(body), body))
  unlink(file.path(ledger$folder, earlier_lists))
}

# Lists of file names from before there were ledgers. Runs wrote these files and make them anew.
earlier_lists <- c(".ancify_files", "projected/.ancify_files", ".ancify/manifest.json")

rows_of_lists <- function(folder) {
  listed <- function(list) {
    path <- file.path(folder, list)
    names <- if (is_file(path)) state_lines(path)
    file.path(sub("^[.]$", "", dirname(list)), names)
  }
  paths <- sub("^/", "", unlist(lapply(earlier_lists[1:2], listed)))
  bare_rows(unique(paths[stays_inside(paths)]), "stale")
}
