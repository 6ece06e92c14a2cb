# The folders a run works in: locked, and without what an earlier one left when it was killed.

# Calls job(manifest) with the folders that these phases write locked, and keeps the record of what
# is finished even where the job fails.
work_in <- function(config, phases, resume, in_tasks, log, job) {
  writes_calls <- any(c("call", "evaluate") %in% phases)
  makes_files <- any(c("project", "call") %in% phases)
  in_work_dir <- in_tasks || makes_files
  locks <- lock_folders(
    c(if (in_work_dir) config$work_dir, if (writes_calls) config$output_dir), log
  )
  on.exit(unlock_folders(locks))
  if (in_work_dir) refuse_at_work(config)
  remove_leftovers(config, in_work_dir, writes_calls)
  # Of tasks, which alone go on from there.
  if (in_work_dir && !(in_tasks && !config$keep_projected)) {
    unlink(tasks_not_kept(config), recursive = TRUE, expand = FALSE)
  }
  # What an evaluation does not make anew stays on record.
  resume <- resume || !makes_files
  manifest <- open_manifest(config, resume, log)
  if (in_work_dir) settle_earlier_tasks(config, manifest, resume)
  on.exit(save_manifest(manifest, at_once = TRUE), add = TRUE, after = FALSE)
  places <- c(
    if (makes_files) list(projections_place(config)), if (writes_calls) list(calls_place(config))
  )
  with_claims(config, places, in_tasks, job(manifest))
}

# Only in folders that are locked: who works in another one may be on another machine, where its
# temporary files look left.
remove_leftovers <- function(config, in_work_dir, in_output_dir) {
  remove <- function(...) {
    for (folder in c(...)) unlink(leftovers_impl(folder), expand = FALSE)
  }
  if (in_output_dir) {
    remove(config$output_dir, file.path(config$output_dir, c("posterior", "evaluation")))
  }
  if (in_work_dir) {
    own <- file.path(config$work_dir, ".ancify")
    species <- c(config$outgroups$name, config$focal_species)
    remove(own, projections_place(config)$folder, projected_folder(config, species))
    # Folders only of the names that runs give them.
    left <- c(leftovers_impl(config$work_dir), leftovers_impl(own))
    left <- left[grepl("^(not_kept|registry)\\.", basename(left))]
    unlink(left, recursive = TRUE, expand = FALSE)
  }
}
