# Parts of a run's phases: alignments and groups of chromosomes, as tasks if the run has a cluster.

# Runs a job, such as call_part() for "call", in this session or as one task per part.
# parts   configurations, with the names that messages use
# shared  further arguments by name
# here    arguments that only this process can use
# Returns the values in the order of `parts`.
in_parts <- function(context, job, parts, shared = list(), here = list()) {
  if (!is.null(context$cluster)) {
    return(run_parts_as_tasks(context, job, parts, shared))
  }
  lapply(unname(parts), function(part) {
    context$config <- part
    do.call(paste0(job, "_part"), c(list(context), shared, here))
  })
}

# One part per alignment, the largest file first; without a cluster, a single part.
parts_by_alignment <- function(cluster, config) {
  if (is.null(cluster)) {
    return(list(config))
  }
  outgroups <- split(config$outgroups, factor(config$outgroups$alignment))
  outgroups <- outgroups[order(-file.size(names(outgroups)))]
  parts <- lapply(outgroups, function(some) {
    config$outgroups <- some
    config
  })
  stats::setNames(parts, vapply(outgroups, function(some) enumerate(some$name), ""))
}

most_call_tasks <- 200

# Parts by chromosome, the longest first. Short chromosomes share a task of about a tenth of the
# longest chromosome, or of more bases if there would be over most_call_tasks tasks. With `together`
# (one value per chromosome), chromosomes share a task if and only if their values are equal.
parts_by_chromosome <- function(cluster, config, together = NULL) {
  if (is.null(cluster)) {
    return(list(config))
  }
  lengths <- sort(config$lengths, decreasing = TRUE)
  enough <- max(lengths[1] / 10, sum(lengths) / most_call_tasks)
  # Task indices: a task is complete when its chromosomes have enough bases.
  number <- cumsum(lengths >= enough)
  short <- lengths < enough
  before <- cumsum(lengths[short]) - lengths[short]
  number[short] <- number[length(number)] + 1 + floor(before / enough)
  if (!is.null(together)) number[] <- together[match(names(lengths), names(config$lengths))]
  groups <- split(names(lengths), factor(number, unique(number)))
  parts <- lapply(groups, function(chromosomes) {
    config$lengths <- config$lengths[chromosomes]
    config
  })
  stats::setNames(parts, vapply(groups, enumerate_short, ""))
}

enumerate_short <- function(words) {
  n <- length(words) - 1
  paste0(words[1], if (n) sprintf(" and %d more", n))
}

# ---- Tasks ---------------------------------------------------------------------------------------

job_titles <- c(
  project = "projection", focal = "focal bases", fit = "fit", call = "calls",
  evaluate = "evaluation"
)

task_ledgers <- c("work", "output", "projections")

run_parts_as_tasks <- function(context, job, parts, shared) {
  cluster <- context$cluster
  run_tasks(cluster, new_tasks(cluster, tasks_of_parts(cluster, job, parts, shared)),
            context[task_ledgers])
}

tasks_of_parts <- function(cluster, job, parts, shared) {
  lapply(seq_along(parts), function(i) {
    config <- parts[[i]]
    # A forked process can use one thread and no GPU.
    if (forks(cluster$param)) config[c("num_cpus", "backend")] <- list(1L, "cpu")
    folders <- c(config$work_dir, config$output_dir, config$not_kept_in %||% config$work_dir)
    task_of(
      job, "do_run_task", paste(c(job_titles[[job]], names(parts)[i]), collapse = " of "), config,
      shared, stats::setNames(folders, task_ledgers),
      # Only calling has GPU code.
      uses_gpu = job == "call", kept = is.null(config$not_kept_in)
    )
  })
}

# In the task's process: a job such as "call" is done by call_part().
do_run_task <- function(task, ledgers) {
  config <- task$part
  backend <- task_backend(
    task, config$backend, config$num_cpus, config$gpu_devices, config$gpu_memory
  )
  context <- new_context(config, backend, verbose = TRUE)
  context[task_ledgers] <- ledgers
  do.call(paste0(task$job, "_part"), c(list(context), task$shared))
}

# Records the work of an earlier session's task. Temporary projections are in a folder that has its
# own ledger.
settle_outcome <- function(context, outcome) {
  folder <- tasks_not_kept(context$config)
  if (!outcome$kept && dir.exists(folder)) {
    context$projections <- open_ledger(folder)
  } else if (!outcome$kept) {
    outcome$ledgers$projections$rows <- outcome$ledgers$projections$rows[0, ]
  }
  merge_outcome(context[task_ledgers], outcome)
  save_ledger(context$projections, at_once = TRUE)
}
