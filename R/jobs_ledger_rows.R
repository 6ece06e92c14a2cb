# A ledger in memory: its rows (see jobs_ledger.R), the sources of its files, and the files known to
# this session.

# Columns of a row. `path` is within the folder; `from` is the index of a source.
ledger_columns <- list(
  path = character(), state = character(), from = numeric(), size = numeric(),
  checksum = character(), facts = character()
)

ledger_states <- c("claimed", "complete", "stale")

# `on_disk`: whether the ledger is saved. Task ledgers are not. `argument`: the argument or setting
# that a user changes to choose another folder.
new_ledger <- function(folder, rows = data.frame(ledger_columns), sources = character(),
                       on_disk = TRUE, argument = "output_dir") {
  ledger <- new.env(parent = emptyenv())
  ledger$folder <- folder
  ledger$argument <- argument
  ledger$on_disk <- on_disk
  ledger$rows <- rows
  # Sources of files as JSON. Rows refer to them by index.
  ledger$sources <- sources
  # Texts of sources, once they have been requested
  ledger$described <- list()
  # Rows completed since the last ledger_rows(), as a chain: to append to a list would copy it
  ledger$pending <- NULL
  # Identities, by path, of files that this session wrote or verified by checksum
  ledger$seen <- new.env(parent = emptyenv())
  # Paths that this session completed. With `resume`, other files can also be whole.
  ledger$completed <- new.env(parent = emptyenv())
  ledger$resume <- TRUE
  ledger$changed <- FALSE
  ledger$next_save <- proc.time()[["elapsed"]] + 1
  ledger
}

# ---- Rows --------------------------------------------------------------------------------------

ledger_paths <- function(ledger, paths) file.path(ledger$folder, paths)

# Items of a phase are completed one by one, and their rows are joined only on request.
ledger_rows <- function(ledger) {
  if (!is.null(ledger$pending)) {
    pending <- list()
    chain <- ledger$pending
    while (!is.null(chain)) {
      pending[[length(pending) + 1]] <- chain$rows
      chain <- chain$earlier
    }
    columns <- lapply(stats::setNames(nm = names(pending[[1]])), function(name) {
      unlist(lapply(rev(pending), `[[`, name))
    })
    new <- data.frame(columns, state = rep("complete", length(columns$path)))
    new <- new[!duplicated(new$path, fromLast = TRUE), names(ledger_columns)]
    ledger$rows <- rbind(ledger$rows[!ledger$rows$path %in% new$path, ], new)
    ledger$pending <- NULL
  }
  ledger$rows
}

set_rows <- function(ledger, rows) {
  ledger$rows <- rows
  ledger$changed <- TRUE
}

bare_rows <- function(paths, state) {
  n <- length(paths)
  data.frame(
    path = paths, state = rep(state, n), from = rep(NA_real_, n), size = rep(NA_real_, n),
    checksum = rep(NA_character_, n), facts = rep("", n)
  )
}

forget_files <- function(ledger, paths) {
  rows <- ledger_rows(ledger)
  stay <- !rows$path %in% paths
  if (!all(stay)) set_rows(ledger, rows[stay, ])
}

# The rows of complete files, in the order of `paths`; NA for others.
complete_rows <- function(ledger, paths) {
  rows <- ledger_rows(ledger)
  rows <- rows[rows$state == "complete", ]
  rows[match(paths, rows$path), ]
}

# The sources of complete files: a list with NULL for other files.
made_from_of <- function(ledger, paths) {
  found <- sources_of_files(ledger, paths)
  found$sources[found$number]
}

# Returns list(sources = unique sources of complete files, number = the index of each file's source
# or NA), because many files share a source.
sources_of_files <- function(ledger, paths) {
  from <- complete_rows(ledger, paths)$from
  known <- unique(from[!is.na(from)])
  list(
    sources = recorded_objects(ledger, ledger$sources[known], list()), number = match(from, known)
  )
}

# The source index of the file that was completed last, whose row is the last.
last_source <- function(ledger, paths) {
  rows <- ledger_rows(ledger)
  utils::tail(rows$from[rows$path %in% paths], 1)
}

# The facts of complete files: a list with NULL for other files.
facts_of <- function(ledger, paths) {
  facts <- complete_rows(ledger, paths)$facts
  facts[is.na(facts) | facts == ""] <- "null"
  recorded_objects(ledger, facts)
}

# Objects from their texts in a ledger. Values that are not objects, which no run writes, become
# `otherwise`: the ledger's checksum does not authenticate its contents.
recorded_objects <- function(ledger, texts, otherwise = NULL) {
  objects <- tryCatch(
    jsonlite::parse_json(sprintf("[%s]", paste(texts, collapse = ","))),
    error = function(condition) NULL
  )
  if (length(objects) != length(texts)) refuse_ledger(ledger$folder)
  is_object <- function(x) is.list(x) && (length(x) == 0 || !is.null(names(x)))
  lapply(objects, function(x) if (is_object(x)) x else otherwise)
}

# ---- Sources of files ---------------------------------------------------------------------------

source_number <- function(ledger, made_from) {
  # All chromosomes of a phase share one source.
  if (!identical(made_from, ledger$last_source)) {
    text <- source_text(ledger, made_from)
    if (!text %in% ledger$sources) ledger$sources <- c(ledger$sources, text)
    ledger$last_source <- made_from
    ledger$last_number <- match(text, ledger$sources)
  }
  ledger$last_number
}

# The index of a source; NA if no file was made from it.
known_source <- function(ledger, made_from) match(source_text(ledger, made_from), ledger$sources)

# The text of a source is made only once, because this takes milliseconds.
source_text <- function(ledger, made_from) {
  for (known in ledger$described) {
    if (identical(known$made_from, made_from)) {
      return(known$text)
    }
  }
  text <- canonical_json(made_from)
  ledger$described <- c(ledger$described, list(list(made_from = made_from, text = text)))
  text
}

# ---- Files known to this session -----------------------------------------------------------------

# `identities`: from the core; NA for files that are not whole
note_seen <- function(ledger, paths, identities) {
  known <- !is.na(identities)
  list2env(stats::setNames(as.list(identities[known]), paths[known]), ledger$seen)
}

was_seen <- function(ledger, paths) are_in(paths, ledger$seen)

are_in <- function(names, environment) {
  vapply(names, exists, NA, environment, inherits = FALSE, USE.NAMES = FALSE)
}

# Identities of files with the recorded size and checksum; NA for others.
identities_as_written <- function(table, work) {
  identities <- rep(NA_character_, NROW(table))
  there <- which(file.size(as.character(table$path)) == table$size)
  if (length(there)) {
    found <- with_watch("Checking existing files", function(watch) {
      checksums_impl(table$path[there], work, watch)
    }, work$progress)
    same <- found$size == table$size[there] & found$checksum == table$checksum[there]
    identities[there] <- ifelse(same, found$identity, NA)
  }
  identities
}
