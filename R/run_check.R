#' Look at a run's inputs before it starts
#'
#' Looks at everything that could spoil a run, or end it after hours: whether the alignments,
#' the table of lengths and the focal genome belong together, and whether disk and memory have
#' room for the result. [ancify_run()] takes the same look before any work.
#'
#' Of every alignment the first 16 MB of text are read, all files at once on all threads, and
#' of `focal_fasta` as much as these reach. What lies behind is caught by the run, which checks
#' every block. [ancify_run()] itself reads the first 16 MB too, but no more than about a 64th
#' of a file's bytes (and at least 1 MB of text), so that its look takes about 2 % of its
#' time.
#'
#' What is looked at:
#' * `text`: compression, and every block as [project_axt()] checks it.
#' * `names`: the chromosomes' names against those in the table of lengths. Names that differ
#'   by a leading `chr`, and accessions of RefSeq and GenBank, are told as such.
#' * `lengths`: the largest coordinate on each chromosome against its length; the lengths in
#'   the index of `focal_fasta` (`<focal_fasta>.fai`), if there is one.
#' * `focal`: the focal letters of each block against the focal genome where `focal_fasta` is
#'   given, else against those of other alignments at positions that both cover. Where more
#'   than 1 % differ, a file is of another build, or its coordinates or its strand are wrong;
#'   with three files or more the odd one out is named.
#' * `divergence`: how much each outgroup differs from the focal row. An inner outgroup that
#'   differs more than an outer one at the positions that both cover, by 5 % and four standard
#'   errors at least, is a warning: they may have been exchanged.
#' * `disk`, `permission`: room for what will be written, on each file system, and folders
#'   that can be written to, where no files but those of runs would be replaced. A file that
#'   is there and as long as it has to be needs no room, as a run goes on from it; with another in
#'   its place, both need room until it is complete.
#' * `memory`: what the run needs against what is available, also to the process's control
#'   group (Linux alone).
#' * `backend`: which one will be used, or why a GPU can't be.
#' * `configuration`: what [ancify_config()] finds, if it finds something; then nothing else
#'   can be looked at. Else what the phases lack: projections or calls of a phase that is left out,
#'   a trained model, a method that can be made of the settings, a tier with as many outgroups as
#'   its consensus needs, the files of an evaluation.
#'
#' @inheritParams ancify_run
#' @param progress Whether to show a progress bar if it takes more than two seconds; by default
#'   in interactive sessions alone.
#' @return A data frame of class `ancify_check` with one row a finding, the gravest first:
#'   `check`, as above; `subject`, the outgroup, folder or key it is about; `status`, an
#'   ordered factor: `ok`, `note`, `warning` or `error`; `finding`, in words; `file`, and
#'   `line` where the fault has one. An error is what would end the run or spoil its result.
#' @section Errors:
#' What is wrong with a run is no error here. `ancify_file_error` where the configuration file
#' can't be read, `ancify_input_error` for other arguments that can't be used.
#' @seealso [ancify_run()], [ancify_config()]
#' @export
#' @examples
#' ancify_check(ancify_example(), threads = 1)
ancify_check <- function(config, phases = c("project", "call", "evaluate"), threads = NULL,
                         backend = NULL, progress = interactive()) {
  check_given()
  phases <- check_phases(phases)
  check_flag(progress, "progress")
  run <- config
  config <- tryCatch(
    read_config(config, phases),
    ancify_config_error = function(condition) condition
  )
  if (inherits(config, "condition")) {
    file <- config$file %||% ""
    return(new_check(all_findings(lapply(config$problems, function(problem) {
      finding("configuration", file, "error", problem)
    }))))
  }
  phases <- phases_asked_for(phases, config)
  config$backend <- backend %||% config$backend
  config$num_cpus <- resolve_threads(threads %||% config$num_cpus)
  backend <- tryCatch(
    choose_backend(config$backend, config$num_cpus, config$gpu_devices, config$gpu_memory),
    ancify_device_error = function(condition) condition
  )
  if (inherits(backend, "condition")) {
    on_backend <- finding("backend", config$backend, "error", conditionMessage(backend))
    backend <- choose_backend("cpu", config$num_cpus)
  } else {
    on_backend <- finding("backend", config$backend, "ok", backend$description)
  }
  new_check(c(
    look_at_run(config, phases, backend, backend$kind, FALSE, progress),
    check_what_phases_need(config, phases, backend, run), on_backend
  ))
}

# What ancify_run() ends or warns with by itself before any work.
# `run`: what the user gave, which may be an earlier run.
check_what_phases_need <- function(config, phases, backend, run) {
  found <- list()
  is_wrong <- FALSE
  note <- function(status, condition) {
    found <<- c(found, finding(
      "configuration", config$file %||% "", status, conditionMessage(condition)
    ))
  }
  look <- function(job) {
    tryCatch(
      withCallingHandlers(job, ancify_warning = function(condition) {
        note("warning", condition)
        invokeRestart("muffleWarning")
      }),
      ancify_error = function(condition) {
        note("error", condition)
        is_wrong <<- TRUE
      }
    )
  }
  look(refuse_unkept_alone(config, phases))
  if ("evaluate" %in% phases) {
    look(files_compared_with(config))
    if (!"call" %in% phases) {
      look(check_calls(config))
      look(warn_about_other_settings(config))
      look(check_own_calls(run, phases))
    }
  }
  if ("call" %in% phases) {
    look(check_before_work(config, function(line) NULL))
    if (!"project" %in% phases) {
      look(check_projected(config$outgroups$name, config))
    }
    # A fit makes its own.
    if (!is_wrong && !fits_model(config)) {
      look(config_caller(config, run_settings(config, FALSE), backend, FALSE))
    }
  }
  found
}

# The look of ancify_run(): one error for all that is wrong, warnings and log lines for the rest.
check_inputs <- function(config, phases, backend, kind, progress, log) {
  checks <- new_check(look_at_run(config, phases, backend, kind, TRUE, progress))
  errors <- checks[checks$status == "error", ]
  if (nrow(errors)) stop(check_error(errors, checks))
  for (i in which(checks$status == "warning")) {
    warn_ancify(
      sprintf("%s: %s", checks$subject[i], checks$finding[i]), "check",
      check = checks$check[i], subject = checks$subject[i], file = checks$file[i]
    )
  }
  for (i in which(checks$status == "note")) {
    log(sprintf("%s: %s", checks$subject[i], checks$finding[i]))
  }
}

# `kind`: as kind_of_run() has it.
look_at_run <- function(config, phases, backend, kind, brief, progress) {
  c(
    if ("project" %in% phases) check_alignment_texts(config, backend, brief, progress),
    if ("project" %in% phases) check_fasta_index(config),
    check_permission(config, phases, kind),
    check_would_replace(config, phases),
    check_disk(config, phases, kind),
    check_memory(config, phases, kind)
  )
}

# Who has a run evaluated again means the calls that it made.
check_own_calls <- function(given, phases) {
  if (inherits(given, "ancify_run") && "evaluate" %in% phases && !"call" %in% phases) {
    check_not_replaced(given, "config")
  }
}
