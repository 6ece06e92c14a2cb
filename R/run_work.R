# The folders a run works in: locked, and without what an earlier run left when it was killed.

# Calls job(context) with the folders that these phases write locked. What is finished is on record
# also where the job fails.
work_in <- function(context, phases, job, resume = TRUE) {
  config <- context$config
  in_tasks <- !is.null(context$cluster)
  writes_calls <- any(c("call", "evaluate") %in% phases)
  makes_files <- any(c("project", "call") %in% phases)
  in_work_dir <- in_tasks || makes_files
  locks <- lock_folders(
    c(if (in_work_dir) config$work_dir, if (writes_calls) config$output_dir), context$log
  )
  on.exit(unlock_folders(locks))
  if (in_work_dir) refuse_at_work(config)
  remove_leftovers(config, in_work_dir, writes_calls)
  # Of tasks, which alone go on from there.
  if (in_work_dir && !(in_tasks && !config$keep_projected)) {
    unlink(tasks_not_kept(config), recursive = TRUE, expand = FALSE)
  }
  # What an evaluation does not make anew stays on record.
  context <- with_ledgers(context, resume || !makes_files)
  written <- c(if (in_work_dir) context$work, if (writes_calls) context$output)
  if (in_work_dir) settle_earlier_tasks(context, resume)
  for (ledger in written) release_claims(ledger)
  # A failed run's tasks may go on for a moment, and write what was claimed for them.
  on.exit(
    {
      if (!in_tasks || !length(tasks_at_work(config))) for (ledger in written) release_claims(ledger)
      for (ledger in written) save_ledger(ledger, at_once = TRUE)
    },
    add = TRUE, after = FALSE
  )
  job(context)
}

# Only in folders that are locked: who works in another one may be on another machine, where its
# temporary files look left.
remove_leftovers <- function(config, in_work_dir, in_output_dir) {
  remove <- function(...) {
    for (folder in c(...)) unlink(leftovers_impl(folder), expand = FALSE)
  }
  if (in_output_dir) {
    remove(config$output_dir, file.path(config$output_dir, c("posterior", "evaluation", ".ancify")))
  }
  if (in_work_dir) {
    own <- file.path(config$work_dir, ".ancify")
    species <- c(config$outgroups$name, config$focal_species)
    remove(own, file.path(config$work_dir, "projected"), projected_folder(config, species))
    # Folders only of the names that runs give them.
    left <- c(leftovers_impl(config$work_dir), leftovers_impl(own))
    left <- left[grepl("^(not_kept|registry)\\.", basename(left))]
    unlink(left, recursive = TRUE, expand = FALSE)
  }
}
