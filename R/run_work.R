# Locks the folders of a run, and removes leftovers of killed runs.

# Calls job(context) while the folders that these phases write are locked. Completed work is
# recorded even if the job fails.
work_in <- function(context, phases, job, resume = TRUE) {
  config <- context$config
  writes <- folders_written(context, phases)
  locks <- lock_folders(unlist(config[writes]), context$log)
  on.exit(unlock_folders(locks))
  if ("work_dir" %in% writes) refuse_at_work(config$work_dir)
  remove_leftovers(config, "work_dir" %in% writes, "output_dir" %in% writes)
  # The phase "evaluate" alone makes no calls, so calls on record count even without `resume`.
  context <- with_ledgers(context, resume || !any(c("project", "call") %in% phases))
  ledgers <- list(work_dir = context$work, output_dir = context$output)[writes]
  if ("work_dir" %in% writes) take_over_work_dir(context, phases, resume)
  for (ledger in ledgers) release_claims(ledger)
  on.exit(close_ledgers(context, ledgers), add = TRUE, after = FALSE)
  job(context)
}

# The settings of the folders that these phases write.
folders_written <- function(context, phases) {
  makes_files <- any(c("project", "call") %in% phases)
  c(
    if (makes_files || !is.null(context$cluster)) "work_dir",
    if (any(c("call", "evaluate") %in% phases)) "output_dir"
  )
}

# Takes over leftovers of an earlier session's tasks in the work folder.
take_over_work_dir <- function(context, phases, resume) {
  config <- context$config
  # Only a run in tasks can resume from these projections.
  if (is.null(context$cluster) || keeps_projections(config, phases)) {
    unlink(tasks_not_kept(config), recursive = TRUE, expand = FALSE)
  }
  settle <- function(outcome) settle_outcome(context, outcome)
  settle_earlier_tasks(config$work_dir, task_ledgers, settle, resume)
}

# Tasks of a failed run may still be writing their claimed files: keep the claims.
close_ledgers <- function(context, ledgers) {
  at_work <- !is.null(context$cluster) && length(tasks_at_work(context$config$work_dir)) > 0
  for (ledger in ledgers) {
    if (!at_work) release_claims(ledger)
    save_ledger(ledger, at_once = TRUE)
  }
}

# Removes leftovers only from locked folders: another machine's run may need the temporary files of
# others.
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
    # Remove only folders with names that runs give.
    left <- c(leftovers_impl(config$work_dir), leftovers_impl(own))
    left <- left[grepl("^(not_kept|registry)\\.", basename(left))]
    unlink(left, recursive = TRUE, expand = FALSE)
  }
}
