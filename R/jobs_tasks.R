# Parts of a job in other processes, on this machine or on others with the same files. Their files
# are in <folder>/.ancify/tasks, where <folder> is the job's own:
#
# session      names the calling session; tasks of other sessions do nothing
# cancelled    exists when the tasks must end
# <task>/log   messages of the task, from its start
# <task>/outcome.json
#
# A task locks its folder while it works, and keeps its ledgers in memory. The calling session holds
# the locks of the folders that tasks write to, and adds the tasks' rows to its own ledgers.

tasks_folder <- function(folder) file.path(folder, ".ancify", "tasks")

session_file <- function(folder) file.path(folder, "session")

outcome_file <- function(task) file.path(task$folder, "outcome.json")

log_file <- function(task) file.path(task$folder, "log")

# ---- In the task's process ---------------------------------------------------------------------

# The function sent to workers. It needs only a library with this package.
do_task_anywhere <- function(task) {
  .libPaths(task$libraries)
  get("do_task", asNamespace("ancify"))(task)
}

environment(do_task_anywhere) <- baseenv()

# A task is a list: the fields of task_of(), and facts of the calling session, by new_tasks().
do_task <- function(task) {
  let_go_of_locks()
  old <- setwd(task$working_dir)
  on.exit(setwd(old))
  options <- options(task$options)
  on.exit(options(options), add = TRUE)
  # Check before locking too, because a later session's task may use this folder.
  if (!is_wanted(task)) {
    return(invisible())
  }
  lock <- lock_folder_impl(task$folder)
  on.exit(unlock_folder_impl(lock), add = TRUE)
  if (!is_wanted(task)) {
    return(invisible())
  }
  place <- this_place()
  told <- character()
  tell <- function(line) {
    told <<- c(told, line)
    write_text(log_file(task), told)
  }
  tell(sprintf("%s: %s, on %s", utc_time(Sys.time()), task$title, describe_place(place)))
  tasks_here$current <- task
  on.exit(tasks_here$current <- NULL, add = TRUE)
  on.exit(let_go_of_gpu(), add = TRUE)
  outcome <- watched_outcome(task, tell)
  tell(if (is.null(outcome$error)) "done" else paste("failed:", conditionMessage(outcome$error)))
  outcome$place <- place
  outcome$task <- task["title"]
  outcome$kept <- task$kept
  write_state(outcome_file(task), outcome)
  invisible()
}

# Runs the job. Returns the rows of its ledgers, its value or error, and its messages.
watched_outcome <- function(task, tell) {
  outcome <- list(lines = character(), warnings = list())
  ledgers <- lapply(task$ledgers, new_ledger, on_disk = FALSE)
  started <- proc.time()[["elapsed"]]
  withCallingHandlers(
    tryCatch(
      outcome$value <- do_job(task, ledgers),
      error = function(condition) outcome$error <<- condition
    ),
    ancify_message = function(condition) {
      line <- trimws(conditionMessage(condition))
      tell(line)
      outcome$lines <<- c(outcome$lines, line)
      invokeRestart("muffleMessage")
    },
    warning = function(condition) {
      tell(paste("warning:", conditionMessage(condition)))
      outcome$warnings <<- c(outcome$warnings, list(condition))
      invokeRestart("muffleWarning")
    }
  )
  outcome$seconds <- proc.time()[["elapsed"]] - started
  outcome$ledgers <- lapply(ledgers, function(ledger) {
    list(rows = ledger_rows(ledger), sources = ledger$sources)
  })
  outcome
}

do_job <- function(task, ledgers) {
  if (task$version != package_version_text()) {
    abort_ancify(
      sprintf("The worker has ancify %s, the calling session %s: install the same version.",
              package_version_text(), task$version),
      "package"
    )
  }
  get(task$does, asNamespace("ancify"))(task, ledgers)
}

# The backend of a task's own machine. The arguments are those of choose_backend().
task_backend <- function(task, kind, threads, devices = NULL, gpu_memory = NULL) {
  if (!task$uses_gpu) kind <- "cpu"
  if (kind != "cpu" && task$shares_gpus) devices <- take_gpu(devices, task)
  backend <- choose_backend(kind, threads, devices, gpu_memory)
  inform_ancify(paste("Using", backend$description))
  backend
}

# Waits for a free GPU of this machine, and locks it for this task. Returns its number, or `devices`
# if there is no GPU. The lock ends with the task or its process.
take_gpu <- function(devices, task) {
  numbers <- devices %||% available_gpus()$number
  if (length(numbers) == 0) {
    return(devices)
  }
  repeat {
    for (device in numbers) {
      folder <- file.path(
        dirname(task$folder), "gpus", sprintf("%s-%d", Sys.info()[["nodename"]], device)
      )
      tasks_here$gpu <- tryCatch(
        lock_folder_impl(folder),
        ancify_lock_error = function(condition) NULL
      )
      if (!is.null(tasks_here$gpu)) {
        return(device)
      }
    }
    end_if_cancelled()
    Sys.sleep(0.1)
  }
}

let_go_of_gpu <- function() {
  if (is.null(tasks_here$gpu)) {
    return(invisible())
  }
  # Frees the task's memory on the GPU, which another process takes next.
  gc()
  unlock_folder_impl(tasks_here$gpu)
  tasks_here$gpu <- NULL
}

is_wanted <- function(task) {
  tasks <- dirname(task$folder)
  identical(state_lines(session_file(tasks)), task$session) && !file.exists(cancelled_file(tasks))
}

# The host, process and batch job of this process.
this_place <- function() {
  systems <- c(SLURM_JOB_ID = "Slurm", PBS_JOBID = "PBS", LSB_JOBID = "LSF", JOB_ID = "SGE")
  ids <- Sys.getenv(names(systems))
  at <- which(nzchar(ids))[1]
  # Slurm's name for the machine.
  node <- Sys.getenv("SLURMD_NODENAME", Sys.info()[["nodename"]])
  list(
    host = node, process = Sys.getpid(),
    job = if (!is.na(at)) paste(systems[[at]], "job", ids[[at]])
  )
}

describe_place <- function(place) {
  paste(c(place$host, place$job %||% paste("process", place$process)), collapse = ", ")
}

# ---- In the calling session ----------------------------------------------------------------------

# The process that locks a task's folder, from its line in the lock file; NULL if none does.
at_work <- function(folder) {
  lock <- tryCatch(
    lock_folder_impl(folder),
    ancify_lock_error = function(condition) NULL
  )
  if (is.null(lock)) {
    return(paste("process", state_lines(file.path(folder, ".ancify.lock"))[1]))
  }
  unlock_folder_impl(lock)
  NULL
}

# The processes of running tasks of a job in `folder`, by the tasks' folders.
tasks_at_work <- function(folder) {
  tasks <- list.dirs(tasks_folder(folder), recursive = FALSE)
  Filter(Negate(is.null), lapply(stats::setNames(nm = tasks), at_work))
}

# Raises an error if tasks of an earlier session still run. Its other tasks can no longer begin.
refuse_at_work <- function(folder) {
  if (!dir.exists(tasks_folder(folder))) {
    return(invisible())
  }
  write_text(session_file(tasks_folder(folder)), "none")
  working <- tasks_at_work(folder)
  if (length(working) == 0) {
    return(invisible())
  }
  first_lines <- vapply(names(working), beginning_of, "")
  many <- length(working) > 1
  abort_ancify(
    paste(c(
      sprintf(
        "%s of an earlier run %s still at work in this folder. Wait, or cancel %s (scancel, kill):",
        if (many) paste(length(working), "tasks") else "A task", if (many) "are" else "is",
        if (many) "them" else "it"
      ),
      sprintf("* %s (%s)", first_lines, unlist(working))
    ), collapse = "\n"),
    "lock",
    file = names(working)[1]
  )
}

# Records the work of an earlier session's tasks that the session itself did not record.
# `settle(outcome)` adds one task's rows to ledgers; `names`: the names of these ledgers.
settle_earlier_tasks <- function(folder, names, settle, resume = TRUE) {
  tasks <- tasks_folder(folder)
  if (resume) {
    for (task in list.dirs(tasks, recursive = FALSE)) {
      outcome <- read_outcome(task, names)
      if (!is.null(outcome)) settle(outcome)
    }
  }
  unlink(tasks, recursive = TRUE, expand = FALSE)
}

# The first line of a task's log, or its name if it was killed before writing one.
beginning_of <- function(folder) {
  c(state_lines(log_file(list(folder = folder))), basename(folder))[1]
}

# The outcome of a task with ledgers of these names; NULL without a valid one.
read_outcome <- function(folder, names) {
  outcome <- read_state(outcome_file(list(folder = folder)))
  if (isTRUE(tryCatch(is_outcome(outcome, names), error = function(condition) FALSE))) outcome
}

# Whether this is an outcome, as made by watched_outcome() and do_task().
is_outcome <- function(outcome, names) {
  is_part <- function(part) isTRUE(outcome_parts[[part]](outcome[[part]]))
  is.list(outcome) && all(vapply(names(outcome_parts), is_part, NA)) &&
    identical(names(outcome$ledgers), names)
}

outcome_parts <- list(
  lines = is.character,
  seconds = is.numeric,
  warnings = function(all) all(vapply(all, inherits, NA, "warning")),
  error = function(error) is.null(error) || inherits(error, "error"),
  task = function(task) is_scalar(task$title),
  place = function(place) is_scalar(place$host),
  kept = function(kept) isTRUE(kept) || isFALSE(kept),
  ledgers = function(all) all(vapply(all, is_part_of_ledger, NA))
)

is_part_of_ledger <- function(part) {
  is.data.frame(part$rows) && is.character(part$sources) && are_rows(part$rows, part$sources)
}

# Adds the rows of a task to `ledgers`, by name. `written_now`: whether the task has just
# written its files. If so, their identities are taken here: other machines may see different ones.
merge_outcome <- function(ledgers, outcome, written_now = FALSE) {
  for (name in names(ledgers)) {
    ledger <- ledgers[[name]]
    part <- outcome$ledgers[[name]]
    by_source <- split(part$rows, part$rows$from)
    for (number in names(by_source)) {
      rows <- by_source[[number]]
      identity <- if (written_now) {
        vapply(ledger_paths(ledger, rows$path), identity_now, "")
      } else {
        NA_character_
      }
      made_from <- jsonlite::parse_json(part$sources[[as.integer(number)]])
      complete_files(
        ledger, rows$path, made_from, c(rows[c("size", "checksum")], list(identity = identity)),
        rows$facts
      )
    }
  }
}

# NA if the file cannot be read.
identity_now <- function(path) identity_if_readable(path)$identity %||% NA_character_
