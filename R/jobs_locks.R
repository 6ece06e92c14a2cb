# Locks of a run's folders.

lock_folders <- function(folders, log) {
  locks <- list()
  done <- FALSE
  on.exit(if (!done) unlock_folders(locks))
  locked <- character()
  for (folder in folders) {
    # Two paths may name one folder, which is detectable only once it exists.
    if (normalizePath(folder, mustWork = FALSE) %in% locked) next
    lock <- lock_folder_impl(folder)
    locks <- c(locks, lock)
    locked <- c(locked, normalizePath(folder))
    if (!is_locked_impl(lock)) {
      log(sprintf("The file system of %s has no locks: never start two runs there at once",
                  quoted(folder)))
    }
  }
  locks_held$process <- Sys.getpid()
  locks_held$locks <- locks
  done <- TRUE
  locks
}

# The locks of this session, for processes forked during a run.
locks_held <- new.env(parent = emptyenv())

unlock_folders <- function(locks) {
  for (lock in locks) unlock_folder_impl(lock)
  locks_held$locks <- NULL
}

# Releases a parent's locks in a forked child, which would otherwise hold them after the parent's
# end.
let_go_of_locks <- function() {
  if (!identical(locks_held$process, Sys.getpid())) unlock_folders(locks_held$locks)
}
