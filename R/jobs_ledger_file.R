# Reads and writes the ledger file: a JSON object with `sources` and the columns of the rows.

# Reads the ledger of a folder, and writes nothing. A damaged ledger is an error, because without it
# a run cannot distinguish its own files from a user's.
open_ledger <- function(folder, argument = "output_dir") {
  file <- ledger_file(folder)
  if (!is_there(file)) {
    return(new_ledger(folder, rows_of_lists(folder), argument = argument))
  }
  body <- ledger_body(file)
  content <- if (!is.null(body)) {
    tryCatch(parse_ledger(body), error = function(condition) NULL)
  }
  if (is.null(content)) refuse_ledger(folder)
  new_ledger(folder, content$rows, content$sources, argument = argument)
}

# Returns list(rows =, sources =), or an error.
parse_ledger <- function(body) {
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

# Whether these are valid rows of a ledger.
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

# Writes the ledger if it has changed. Within a phase, the interval between saves is 100 times the
# duration of a save or 30 s, whichever is less, but at least 20 times the duration.
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
  # Drop sources without remaining files.
  used <- sort(unique(rows$from))
  rows$from <- match(rows$from, used)
  body <- jsonlite::toJSON(
    c(list(sources = ledger$sources[used]), as.list(rows)), digits = NA, na = "null"
  )
  for (file in c(ledger_file(ledger$folder), ledger_copy(ledger$folder))) {
    write_text(file, c(ledger_line(body), body))
  }
  unlink(file.path(ledger$folder, earlier_lists))
}

# Lists of files that runs of versions without ledgers wrote. Runs may replace these files.
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
