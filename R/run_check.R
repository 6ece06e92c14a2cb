#' Check a run's inputs before it starts
#'
#' @description
#' Checks that the alignments, the table of lengths and the focal genome are consistent, and that
#' disk space and memory suffice. This takes seconds; [ancify_run()] runs these checks before any
#' work:
#'
#' ```
#' ancify_check("config.yaml")   # <ancify_check> 0 errors, 1 warning, ...
#' ```
#'
#' @inheritParams ancify_run
#' @param progress Whether to show a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @return A data frame of class `ancify_check` with one row per finding, the most severe first:
#'
#'   | Column | Content |
#'   |:-------|:--------|
#'   | `check` | kind of check, see below |
#' | `subject` | outgroup, folder or setting |
#'   | `status` | ordered factor: `ok`, `note`, `warning`, `error` |
#'   | `finding` | the finding in words |
#'   | `file`, `line` | location of the fault, if it is in a file |
#'
#'   An `error` would stop the run or invalidate its result.
#' @section Checks:
#' | Check | Content |
#' |:------|:----------------|
#' | `text` | compression, and each block as in [project_axt()] |
#' | `names` | chromosome names against the table of lengths |
#' | `lengths` | largest coordinate of each chromosome; index of `focal_fasta` |
#' | `focal` | focal letters of each block |
#' | `divergence` | whether inner outgroups are closer than outer ones |
#' | `disk`, `permission` | disk space and write permission for the outputs; your own files |
#' | `memory` | the run's requirement against free memory (Linux only) |
#' | `backend` | the backend of the run, or why a GPU cannot be used |
#' | `configuration` | the findings of [ancify_config()]; inputs that the phases lack |
#'
#' * `text` reads the first 16 MB of text of every alignment, and the part of `focal_fasta` that
#'   they cover. [ancify_run()] also limits this to about a 256th of the file's bytes, but at least
#'   1 MB of text. This takes about 2 % of the run's time; later the run checks every block.
#' * `names` treats names that differ by a leading `chr` as equal, as a run does. It recognises
#'   accessions of RefSeq and GenBank, and warns of duplicate alignments. If all files are read
#'   to their ends, it warns of chromosomes that no alignment covers.
#' * `focal` compares with `focal_fasta`, or else with the other alignments at common positions.
#'   Differences at more than 1 % of letters indicate another build, wrong coordinates or a wrong
#'   strand. With three or more files, the check names the discordant one.
#' * `divergence` compares an inner and an outer outgroup at common positions. It warns if the inner
#'   one differs more from the focal genome, by 5 % and four standard errors. They may have been
#'   exchanged.
#' * `disk` counts no space for complete files, which a run keeps. While a run replaces a file, the
#'   old and the new one both need space. Folders on one file system are counted together.
#' * `permission` also finds files that no run wrote but that this run would replace.
#' * `memory` respects the limit of the process's control group.
#' * `configuration` also finds missing projections, calls, trained models and evaluation files. It
#'   finds impossible settings of the method, and a tier with too few outgroups for a consensus. If
#'   [ancify_config()] finds errors, nothing else is checked.
#' @section Errors:
#' A problem with the run is a row of the result, not an error.
#' * `ancify_file_error`: the configuration file cannot be read.
#' * `ancify_input_error`: another argument cannot be used.
#' @seealso [ancify_run()], [ancify_config()]
#' @export
#' @examples
#' ancify_check(ancify_example(), threads = 1)
ancify_check <- function(config, phases = c("project", "call", "evaluate"), threads = NULL,
                         backend = NULL, progress = interactive()) {
  check_given()
  phases <- check_phases(phases)
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
  config$num_cpus <- threads %||% config$num_cpus
  work <- tryCatch(
    config_work(config, progress), ancify_device_error = function(condition) condition
  )
  if (inherits(work, "condition")) {
    on_backend <- finding("backend", config$backend, "error", conditionMessage(work))
    work <- new_work(config$num_cpus, progress = progress)
  } else {
    on_backend <- finding("backend", config$backend, "ok", describe_work_impl(work))
  }
  config$num_cpus <- work$threads
  new_check(c(
    look_at_run(config, phases, work, work$backend, FALSE),
    check_what_phases_need(config, phases, work, run), on_backend
  ))
}

# Finds the errors and warnings that ancify_run() would raise before any work. `run`: the user's
# `config`, which may be an earlier run.
check_what_phases_need <- function(config, phases, work, run) {
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
    # A fit makes its own caller.
    if (!is_wrong && !fits_model(config)) {
      look(config_caller(config, run_settings(config, FALSE), work))
    }
  }
  found
}

# The checks of ancify_run(): a single error for all errors, a warning for each warning, and log
# lines for notes.
check_inputs <- function(config, phases, work, kind, log) {
  tell_findings(look_at_run(config, phases, work, kind, TRUE), log)
}

# Errors stop, warnings are warnings, and notes go to the log.
tell_findings <- function(findings, log) {
  checks <- new_check(findings)
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

# The beginnings of alignments, and a genome's index.
look_at_texts <- function(config, work, brief = TRUE) {
  c(check_alignment_texts(config, work, brief), check_fasta_index(config))
}

# `kind`: a value of kind_of_run().
look_at_run <- function(config, phases, work, kind, brief) {
  c(
    if ("project" %in% phases) look_at_texts(config, work, brief),
    check_permission(config, phases, kind),
    check_would_replace(config, phases),
    check_disk(config, phases, kind),
    check_memory(config, phases, kind)
  )
}

# An evaluation of an earlier run needs that run's own calls.
check_own_calls <- function(given, phases) {
  if (inherits(given, "ancify_run") && "evaluate" %in% phases && !"call" %in% phases) {
    check_not_replaced(given, "config")
  }
}
