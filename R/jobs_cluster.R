# The calling session's side of BiocParallel tasks. jobs_tasks.R has the tasks' side.

# ---- The cluster of a job ------------------------------------------------------------------------

# The cluster of a job in `folder`: an environment, or NULL if the calling session does all work
# itself.
new_cluster <- function(param, folder, backend, progress, log) {
  if (is.null(param)) {
    return(NULL)
  }
  check_workers(param, backend)
  cluster <- new.env(parent = emptyenv())
  cluster$given <- param
  cluster$param <- param
  cluster$folder <- tasks_folder(folder)
  cluster$session <- basename(tempfile(paste0(Sys.getpid(), "-", Sys.info()[["nodename"]], "-")))
  cluster$progress <- progress
  cluster$log <- log
  cluster
}

describe_cluster <- function(cluster) {
  kind <- class(cluster$param)[1]
  if (is_batch(cluster$param)) {
    return(paste(kind, "on", BiocParallel::bpbackend(cluster$param)))
  }
  workers <- BiocParallel::bpnworkers(cluster$param)
  sprintf("%s with %d worker%s", kind, workers, if (workers == 1) "" else "s")
}

# ---- Tasks ---------------------------------------------------------------------------------------

# What a task does, the same for all parts of a job:
# job       a word for its folder and for the progress bar
# does      the name of a function(task, ledgers) of this package
# part      the task's own work
# shared    further values for all tasks
# ledgers   named folders; the task records what it writes there
# uses_gpu  whether the job has GPU code
# kept      whether what it writes stays after the job
task_of <- function(job, does, title, part, shared, ledgers, uses_gpu = FALSE, kept = TRUE) {
  as.list(environment())
}

# `tasks`: values of task_of().
new_tasks <- function(cluster, tasks) {
  lapply(seq_along(tasks), function(i) {
    c(tasks[[i]], list(
      folder = file.path(normalizePath(cluster$folder), sprintf("%s-%d", tasks[[i]]$job, i)),
      session = cluster$session, shares_gpus = !is_batch(cluster$param),
      version = package_version_text(), working_dir = getwd(), libraries = .libPaths(),
      options = options()[grepl("^ancify\\.", names(options()))]
    ))
  })
}

# Returns the values of tasks by new_tasks(), whose rows go to `ledgers`, by name. After a failure
# the other tasks continue; all failures become one error.
run_tasks <- function(cluster, tasks, ledgers) {
  for (task in tasks) dir.create(task$folder)
  outcomes <- vector("list", length(tasks))
  bar <- NULL
  if (cluster$progress) {
    bar <- cli::cli_progress_bar(
      paste("Tasks:", tasks[[1]]$job), total = length(tasks), clear = TRUE, .auto_close = FALSE
    )
    on.exit(cli::cli_progress_done(id = bar))
  }
  gather <- function() {
    for (i in which(vapply(outcomes, is.null, NA))) {
      if (!has_outcome(tasks[[i]])) next
      outcome <- read_outcome(tasks[[i]]$folder, names(ledgers))
      if (is.null(outcome)) next
      merge_outcome(ledgers, outcome, written_now = TRUE)
      outcomes[[i]] <<- outcome
      show_outcome(cluster, outcome)
      if (!is.null(bar)) cli::cli_progress_update(id = bar)
    }
  }
  all_ended <- FALSE
  on.exit(if (!all_ended) cancel_tasks(cluster, tasks), add = TRUE, after = FALSE)
  # Cancel before BiocParallel handles the interrupt, as it waits for its workers.
  withCallingHandlers(
    dispatch_until_ended(cluster, tasks, gather),
    interrupt = function(condition) cancel_tasks(cluster, tasks)
  )
  all_ended <- TRUE
  gather()
  throw_failures(tasks, outcomes, cluster$problem)
  lapply(outcomes, `[[`, "value")
}

show_outcome <- function(cluster, outcome) {
  where <- sprintf("%s (%s)", outcome$task$title, describe_place(outcome$place))
  for (line in outcome$lines) cluster$log(sprintf("%s: %s", where, line))
  for (condition in outcome$warnings) warning(condition)
  cluster$log(if (is.null(outcome$error)) {
    sprintf("%s: done in %.1f s", where, outcome$seconds)
  } else {
    sprintf("%s: failed: %s", where, conditionMessage(outcome$error))
  })
}

# Lists the folder, as network file systems may cache the absence of a single file.
has_file <- function(task, name) name %in% list.files(task$folder)

has_begun <- function(task) has_file(task, "log")

has_outcome <- function(task) has_file(task, basename(outcome_file(task)))

# If a worker dies, BiocParallel ends its whole loop. Once the other tasks have ended, tasks that no
# worker had begun are sent again.
dispatch_until_ended <- function(cluster, tasks, gather) {
  repeat {
    left <- tasks[!vapply(tasks, has_begun, NA)]
    if (length(left) == 0) break
    problem <- tryCatch(
      {
        dispatch_tasks(cluster, left, gather)
        NULL
      },
      error = identity
    )
    # After an interrupt, terminated workers appear as an error.
    if (is_cancelled(cluster)) stop(interrupted())
    wait_for_tasks(tasks, gather)
    if (!any(vapply(left, has_begun, NA))) stop_on_dispatch(problem, left)
    cluster$problem <- problem
    # A failed batch job ends no other. Workers that the user started cannot be restarted.
    if (is_batch(cluster$param) || BiocParallel::bpisup(cluster$given)) break
    if (!is.null(problem)) {
      stop_workers(cluster)
      start_workers(cluster)
    }
  }
}

stop_on_dispatch <- function(problem, tasks) {
  abort_ancify(
    sprintf(
      paste(
        "None of %d tasks was begun%s. Check that the workers can load ancify from %s and see the",
        "folder %s."
      ),
      length(tasks), if (is.null(problem)) "" else paste0(": ", conditionMessage(problem)),
      enumerate(quoted(tasks[[1]]$libraries)), quoted(dirname(tasks[[1]]$folder))
    ),
    "task"
  )
}

wait_for_tasks <- function(tasks, gather, seconds = Inf) {
  until <- proc.time()[["elapsed"]] + seconds
  repeat {
    gather()
    working <- Filter(function(task) {
      has_begun(task) && !has_outcome(task) && !is.null(at_work(task$folder))
    }, tasks)
    if (length(working) == 0 || proc.time()[["elapsed"]] > until) {
      return(working)
    }
    Sys.sleep(0.2)
  }
}

# Sends the tasks to the workers, and calls gather() as tasks end.
dispatch_tasks <- function(cluster, tasks, gather) {
  param <- cluster$param
  if (is_batch(param)) {
    registry <- param$registry
    as_it_was <- list(
      stop_on_error = BiocParallel::bpstopOnError(param), resources = param$resources,
      sleep = registry$sleep, functions = registry$cluster.functions
    )
    on.exit({
      BiocParallel::bpstopOnError(param) <- as_it_was$stop_on_error
      param$resources <- as_it_was$resources
      registry$sleep <- as_it_was$sleep
      registry$cluster.functions <- as_it_was$functions
      tasks_here$gather <- NULL
      tasks_here$last_job <- NULL
    })
    # batchtools calls this function between polls of the queue. It also saves the function to disk,
    # where a closure would include all data of the run.
    tasks_here$gather <- gather
    registry$sleep <- gather_and_sleep
    registry$cluster.functions$submitJob <- note_submitted(registry$cluster.functions$submitJob)
    BiocParallel::bpstopOnError(param) <- FALSE
    if (!tasks[[1]]$uses_gpu && !is.null(param$resources$gpus)) param$resources$gpus <- 0L
    BiocParallel::bplapply(tasks, do_task_anywhere, BPPARAM = param)
  } else {
    i <- 0
    next_task <- function() {
      i <<- i + 1
      if (i <= length(tasks)) tasks[[i]]
    }
    BiocParallel::bpiterate(
      next_task, do_task_anywhere,
      REDUCE = function(so_far, value) {
        gather()
        so_far
      },
      init = TRUE, reduce.in.order = FALSE, BPPARAM = param
    )
  }
}

# Returns the seconds until the next poll of the queue, from 1.25 up to 15.
gather_and_sleep <- function(i) {
  tasks_here$gather()
  min(1 + i / 4, 15)
}

# Interrupts wait until the job's identifier is known; otherwise the job could not be cancelled.
note_submitted <- function(submit) {
  force(submit)
  function(reg, jc) {
    suspendInterrupts({
      job <- submit(reg = reg, jc = jc)
      if (job$status == 0) tasks_here$last_job <- job$batch.id
      job
    })
  }
}

is_cancelled <- function(cluster) file.exists(cancelled_file(cluster$folder))

interrupted <- function() {
  structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL))
}

# Tasks notice cancellation within a second. Forked tasks cannot, so a signal ends them.
cancel_tasks <- function(cluster, tasks) {
  if (is_cancelled(cluster)) {
    return(invisible())
  }
  write_text(cancelled_file(cluster$folder), cluster$session)
  if (is_batch(cluster$param)) cancel_batch_jobs(cluster$param$registry)
  working <- wait_for_tasks(tasks, function() NULL, seconds = 3)
  for (task in working) {
    owner <- strsplit(at_work(task$folder) %||% "", " ")[[1]]
    here <- length(owner) == 4 && owner[4] == Sys.info()[["nodename"]]
    if (here && owner[2] != Sys.getpid()) tools::pskill(as.integer(owner[2]))
  }
}

# batchtools may not have recorded the last job before an interrupt, so cancel it separately.
cancel_batch_jobs <- function(registry) {
  suppressMessages(try(batchtools::killJobs(reg = registry), silent = TRUE))
  for (job in tasks_here$last_job) {
    try(registry$cluster.functions$killJob(registry, job), silent = TRUE)
  }
}

# ---- Failures ------------------------------------------------------------------------------------

# `problem`: BiocParallel's last error, or NULL.
throw_failures <- function(tasks, outcomes, problem) {
  failures <- Map(function(task, outcome) {
    if (is.null(outcome) && !has_begun(task)) {
      why <- if (is.null(problem)) "" else paste0(" (", conditionMessage(problem), ")")
      sprintf("%s was not begun: its job was cancelled or cannot run%s", task$title, why)
    } else if (is.null(outcome)) {
      sprintf("%s ended without an outcome, perhaps killed: %s", task$title,
              beginning_of(task$folder))
    } else if (!is.null(outcome$error)) {
      sprintf("%s failed on %s: %s", task$title, describe_place(outcome$place),
              conditionMessage(outcome$error))
    }
  }, tasks, outcomes)
  failed <- !vapply(failures, is.null, NA)
  if (!any(failed)) {
    return(invisible())
  }
  errors <- lapply(outcomes[failed], `[[`, "error")
  kinds <- vapply(errors, function(error) class(error)[1], "")
  kinds[!grepl("^ancify_", kinds)] <- NA
  kinds <- sub("^ancify_(.*)_error$", "\\1", kinds)
  lead <- sprintf("%d of %d tasks failed; the next run repeats only these:", sum(failed),
                  length(tasks))
  stop(error_of_problems(
    lead, unlist(failures), "task", kinds, tasks = vapply(tasks[failed], `[[`, "", "title"),
    file = errors[[1]]$file, line = errors[[1]]$line
  ))
}
