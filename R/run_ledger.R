# The ledger of a folder: which of its files are runs' own, and what each was made from. It is an
# environment with a row a file, whose state is one of
#
# claimed    a run is about to write it; what was known of it before is still in the row
# complete   written: size, checksum, what it was made from, and facts that need no reading again
# stale      a run's own, of which no more is known
#
# A file without a row is a user's, and no run replaces or removes it. Rows whose paths end in "/"
# have facts alone: a species' row has the report of its alignment.
#
# verb       no row                   claimed                     complete       stale
# claim      claimed, or an error     claimed                     claimed        claimed
#            where a file is there
# complete   complete                 complete                    complete       complete
# release    -                        complete if it was; else    -              -
#            stale, or no row where no file is there
# remove     -                        no file, no row where there was a file (all three)
# whole      no                       no                          yes, if made from the same and as
#                                                                 it was written         (stale: no)
# foreign    files, and folders       folders in their places (all three)
#
# A run releases its claims when it ends; after a crash the next one does when it opens the ledger.

# Before a run writes these: an error where one is a user's.
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

# `sums`: sizes, checksums and identities of the files, as the core gives them
complete_files <- function(ledger, paths, made_from, sums, facts = "") {
  note_seen(ledger, paths, sums$identity)
  list2env(stats::setNames(rep(list(TRUE), length(paths)), paths), ledger$completed)
  ledger$pending[[length(ledger$pending) + 1]] <- list(
    path = paths, from = rep(as.numeric(source_number(ledger, made_from)), length(paths)),
    size = as.numeric(sums$size), checksum = sums$checksum, facts = rep_len(facts, length(paths))
  )
  ledger$changed <- TRUE
  save_ledger(ledger)
}

# Claims, writes and completes a text.
write_own <- function(ledger, path, made_from, lines, facts = "") {
  claim_files(ledger, path)
  write_text(ledger_paths(ledger, path), lines)
  complete_files(ledger, path, made_from, sums_of(ledger_paths(ledger, path)), facts)
}

sums_of <- function(paths) checksums_impl(paths, 1L, function(share, lines) NULL)

# Facts that are of no file; `path` ends in "/".
complete_facts <- function(ledger, path, made_from, facts) {
  no_file <- list(size = NA, checksum = NA_character_, identity = NA_character_)
  complete_files(ledger, path, made_from, no_file, facts)
}

# Claims of files that were not written are given up.
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

# Files that are away, as on a disk that is not mounted, stay a run's own.
remove_own <- function(ledger, paths) {
  own <- intersect(paths, ledger_rows(ledger)$path)
  own <- own[is_file(ledger_paths(ledger, own))]
  remove_files(ledger_paths(ledger, own))
  forget_files(ledger, own)
}

# Which files are complete, made from `from` as known_source() gives it, of these `sizes`, and as
# they were written; NULL for any.
whole_files <- function(ledger, paths, from = NULL, sizes = NULL, threads = 1, progress = FALSE) {
  whole <- are_complete(ledger, paths, from, sizes)
  to_read <- which(whole & !was_seen(ledger, paths))
  rows <- complete_rows(ledger, paths[to_read])
  rows$path <- ledger_paths(ledger, paths[to_read])
  identities <- identities_as_written(rows, threads, progress)
  note_seen(ledger, paths[to_read], identities)
  whole[to_read] <- !is.na(identities)
  whole
}

# The same, without a look at the files.
are_complete <- function(ledger, paths, from = NULL, sizes = NULL) {
  rows <- complete_rows(ledger, paths)
  good <- !is.na(rows$path) & (ledger$resume | are_in(paths, ledger$completed))
  if (!is.null(from)) good <- good & !is.na(from) & rows$from == from
  if (!is.null(sizes)) good <- good & rows$size == sizes
  good
}

# A folder in a file's place is foreign, whatever was there before.
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
    "is in the way, a folder"
  } else if (path %in% path_in(config_file, ledger$folder)) {
    "would be replaced, but is this configuration"
  } else {
    "would be replaced, but is not known as a run's"
  }
  sprintf("%s %s. %s", quoted(full), why, way_out(path))
}

way_out <- function(path) {
  if (startsWith(path, "projected/")) {
    paste(
      "Move it away, or choose another `work_dir`; the phase \"call\" alone uses projections of",
      "others."
    )
  } else {
    "Choose another `output_dir`, or move it away."
  }
}
