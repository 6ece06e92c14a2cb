# The folders a run works in: locked, and without what an earlier one left when it was killed.

# Calls job(manifest) with the folders that these phases write locked, and keeps the record of what
# is finished even where the job fails.
work_in <- function(config, phases, resume, log, job) {
  writes_calls <- any(c("call", "evaluate") %in% phases)
  folders <- c(
    if (any(c("project", "call") %in% phases)) config$work_dir, if (writes_calls) config$output_dir
  )
  locks <- lock_folders(folders, log)
  on.exit(for (lock in locks) unlock_folder_impl(lock))
  remove_leftovers(config)
  manifest <- open_manifest(config, resume, log)
  on.exit(save_manifest(manifest, at_once = TRUE), add = TRUE, after = FALSE)
  job(manifest)
}

lock_folders <- function(folders, log) {
  locks <- list()
  done <- FALSE
  on.exit(if (!done) for (lock in locks) unlock_folder_impl(lock))
  locked <- character()
  for (folder in folders) {
    # One folder may have two names, which shows when it is there.
    if (normalizePath(folder, mustWork = FALSE) %in% locked) next
    lock <- lock_folder_impl(folder)
    locks <- c(locks, lock)
    locked <- c(locked, normalizePath(folder))
    if (!is_locked_impl(lock)) {
      log(sprintf("The file system of %s has no locks: have no two runs there at once",
                  quoted(folder)))
    }
  }
  done <- TRUE
  locks
}

remove_leftovers <- function(config) {
  species <- c(config$outgroups$name, config$focal_species)
  folders <- c(
    file.path(config$work_dir, ".ancify"), projected_folder(config, species), config$output_dir,
    file.path(config$output_dir, c("posterior", "evaluation"))
  )
  for (folder in folders) unlink(leftovers_impl(folder), expand = FALSE)
  # Folders only of the one name that runs give them.
  in_work_dir <- leftovers_impl(config$work_dir)
  not_kept <- in_work_dir[startsWith(basename(in_work_dir), "not_kept.")]
  unlink(not_kept, recursive = TRUE, expand = FALSE)
}

# A name like those of the core's temporary files, which is not taken.
temporary_name <- function(path) {
  tempfile(paste0(basename(path), ".ancify-tmp-", Sys.getpid(), "-"), dirname(path))
}
