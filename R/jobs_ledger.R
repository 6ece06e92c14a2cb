# The ledger of a folder lists the files that runs wrote there, and the source of each. It is an
# environment with one row per file. The states of a row:
#
# claimed    a run is about to write the file; the row still has the facts of the old file
# complete   the file is written; the row has its size, checksum, source and facts
# stale      a run wrote the file, but nothing else is known
#
# A file without a row is a user's: no run replaces or removes it. Rows whose paths end in "/" hold
# only facts: a species' row holds the report of its alignment.
#
# verb       no row               claimed                     complete             stale
# claim      claimed; an error    claimed                     claimed              claimed
#            if the file exists
# complete   complete             complete                    complete             complete
# release    -                    complete if it was before,  -                    -
#                                 else stale, or no row if
#                                 no file exists
# remove     -                    (all three) file and row are removed, if the file exists
# whole      no                   no                          yes, if source and   no
#                                                             file are unchanged
# foreign    files and folders    (all three) folders at the paths of files
#
# A run releases its claims when it ends. After a crash, the next run releases them when it begins.

# Claims files before they are written. An existing file of a user is an error.
claim_files <- function(ledger, paths) {
  refuse_others(ledger, paths)
  rows <- ledger_rows(ledger)
  known <- rows$path %in% paths
  new <- setdiff(paths, rows$path)
  if (length(new) == 0 && all(rows$state[known] == "claimed")) {
    return(invisible())
  }
  rows$state[known] <- "claimed"
  set_rows(ledger, rbind(rows, bare_rows(new, "claimed")))
  save_ledger(ledger, at_once = TRUE)
}

# `sums`: sizes, checksums and identities of the files, from the core
complete_files <- function(ledger, paths, made_from, sums, facts = "") {
  note_seen(ledger, paths, sums$identity)
  list2env(stats::setNames(rep(list(TRUE), length(paths)), paths), ledger$completed)
  rows <- list(
    path = paths, from = rep(as.numeric(source_number(ledger, made_from)), length(paths)),
    size = as.numeric(sums$size), checksum = sums$checksum, facts = rep_len(facts, length(paths))
  )
  ledger$pending <- list(rows = rows, earlier = ledger$pending)
  ledger$changed <- TRUE
  save_ledger(ledger)
}

# Claims, writes and completes a text file.
write_own <- function(ledger, path, made_from, lines) {
  claim_files(ledger, path)
  write_text(ledger_paths(ledger, path), lines)
  complete_files(ledger, path, made_from, sums_of(ledger_paths(ledger, path)))
}

sums_of <- function(paths) {
  checksums_impl(paths, new_work(1), function(share, lines, place) NULL)
}

# Records facts without a file; `path` ends in "/".
complete_facts <- function(ledger, path, made_from, facts) {
  no_file <- list(size = NA, checksum = NA_character_, identity = NA_character_)
  complete_files(ledger, path, made_from, no_file, facts)
}

# Drops claims of files that were not written.
release_claims <- function(ledger) {
  rows <- ledger_rows(ledger)
  claimed <- rows$state == "claimed"
  if (!any(claimed)) {
    return(invisible())
  }
  was_complete <- claimed & !is.na(rows$from)
  gone <- claimed & !was_complete
  gone[gone] <- !is_file(ledger_paths(ledger, rows$path[gone]))
  rows$state[claimed] <- "stale"
  rows$state[was_complete] <- "complete"
  set_rows(ledger, rows[!gone, ])
}

# Removes a run's files and their rows. Missing files, such as on an unmounted disk, keep their
# rows.
remove_own <- function(ledger, paths) {
  own <- intersect(paths, ledger_rows(ledger)$path)
  own <- own[is_file(ledger_paths(ledger, own))]
  remove_files(ledger_paths(ledger, own))
  forget_files(ledger, own)
}

# Whether each file is complete, was made from `from` (a value of known_source()), has this size and
# is unchanged. NULL accepts any source or size.
whole_files <- function(ledger, paths, from = NULL, sizes = NULL, work = new_work(1)) {
  whole <- are_complete(ledger, paths, from, sizes)
  to_read <- which(whole & !was_seen(ledger, paths))
  rows <- complete_rows(ledger, paths[to_read])
  rows$path <- ledger_paths(ledger, paths[to_read])
  identities <- identities_as_written(rows, work)
  note_seen(ledger, paths[to_read], identities)
  whole[to_read] <- !is.na(identities)
  whole
}

# whole_files() from the rows alone, without reading the files.
are_complete <- function(ledger, paths, from = NULL, sizes = NULL) {
  rows <- complete_rows(ledger, paths)
  good <- !is.na(rows$path) & (ledger$resume | are_in(paths, ledger$completed))
  if (!is.null(from)) good <- good & !is.na(from) & rows$from == from
  if (!is.null(sizes)) good <- good & rows$size == sizes
  good
}

# Existing files without a row, and folders at the paths of files.
foreign_files <- function(ledger, paths) {
  full <- ledger_paths(ledger, paths)
  c(paths[dir.exists(full)], setdiff(paths[is_file(full)], ledger_rows(ledger)$path))
}

refuse_others <- function(ledger, paths) {
  foreign <- foreign_files(ledger, paths)
  if (length(foreign)) {
    abort_ancify(
      in_the_way(ledger, foreign[1]), "file", file = ledger_paths(ledger, foreign[1])
    )
  }
}

in_the_way <- function(ledger, path, config_file = NULL) {
  full <- ledger_paths(ledger, path)
  why <- if (dir.exists(full)) {
    "is a folder in the place of an output"
  } else if (path %in% path_in(config_file, ledger$folder)) {
    "is this run's configuration file and would be replaced"
  } else {
    "would be replaced, but no run wrote it"
  }
  sprintf("%s %s. %s", quoted(full), why, way_out(ledger, path))
}

way_out <- function(ledger, path) {
  if (startsWith(path, "projected/")) {
    paste(
      "Move it away, or choose another `work_dir`. To use these projections, run the phase",
      "\"call\" alone."
    )
  } else {
    sprintf("Move it away, or choose another `%s`.", ledger$argument)
  }
}
