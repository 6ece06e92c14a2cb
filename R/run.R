#' Call the ancestral alleles of a genome
#'
#' Carries out a configuration: projects each outgroup's alignment onto the focal
#' genome's coordinates, then calls the ancestral base at every position.
#'
#' Phase `"project"` writes `<work_dir>/projected/<species>/<chromosome>.fa`,
#' several alignments at once; phase `"call"` reads these files, whoever made
#' them, and writes `<output_dir>/<chromosome>.fa`: one line, exactly as long as
#' the chromosome, `ACGT` for calls of high confidence, `acgt` for low, `n` where
#' the outgroups leave it open and `N` where they have no data, as
#' [call_ancestral()] explains for each method. A file appears when it is complete,
#' only in place of one that an earlier run wrote: projections that others made are for the phase
#' `"call"` alone. Phase `"evaluate"` compares the
#' calls with a reference and with known variants, as [ancify_evaluate()] explains; beside other
#' phases it runs only where the configuration has an `evaluation` block.
#'
#' With `estimate: true` the phase `"call"` begins by a fit to the projected
#' sequences' pattern counts ([count_patterns()], [fit_substitution_model()]): for
#' the method likelihood the branch lengths and the substitution model, for
#' coalescent also the history (its focal size and mutation rate remain as they are
#' given). `rate_alpha` and `invariant` are fitted if they are set. What was fitted
#' is in `<output_dir>/fitted_model.yml` and `fitted_history.yml`, as keys of a
#' configuration, with the fit's figures as comments. The fit takes the focal bases
#' from `focal_fasta`, or else from the alignments' focal rows, and they are kept in
#' `<work_dir>/projected/<focal_species>`.
#'
#' With `posterior: true` the error of each call, phred-scaled in one byte a
#' position, goes to `<output_dir>/posterior/<chromosome>.phred`, which
#' [read_posterior()] and [export_posterior()] read.
#'
#' What lies beside the calls belongs to them: before calls are made anew, evaluations of these
#' chromosomes, `fitted_model.yml`, `fitted_history.yml` and `ancify_run.json` that an earlier run
#' left in `output_dir` are removed, and posteriors with each chromosome's calls. Where they are not
#' made anew, an evaluation stays where `ancify_run.json` has it as one of these same calls.
#'
#' With `keep_projected: false` both phases run as one: the projected sequences
#' stay in memory, half a byte a position and outgroup, and are never written. With
#' `estimate: true` they are, in a new folder in `work_dir` that is removed at the
#' end, also after an error; earlier projections stay as they are.
#'
#' On a GPU the alignments are read and checked by the CPU all the same. Where both phases run
#' and nothing is estimated, they run as one: the projected bases go to the GPUs' memory as they
#' come, a byte a position and outgroup, and are called there; with `keep_projected: true` the
#' files are written too. What does not fit `gpu_memory` goes there in tiles later, from the
#' files or from the computer's memory; the log tells so. The phase `"call"` without the other
#' sends the files' bases in tiles.
#'
#' With `focal_fasta` the focal letters of every block are compared with that genome. It is
#' read once, before the alignments: into `<work_dir>/projected/<focal_species>`, or with
#' `keep_projected: false` into half a byte of memory a position.
#'
#' All settings and files are checked before any work starts, and what [ancify_check()] looks
#' at: the first part of every alignment, disk, permissions and memory. The run can be
#' interrupted at any time, which leaves no incomplete file.
#'
#' @param config Path of a YAML file, a list, or what [ancify_config()] or an earlier run returned.
#' @param phases Which phases to run: one or more of `"project"`, `"call"` and `"evaluate"`; all
#'   by default.
#' @param threads Threads; `NULL` (the default) for `num_cpus` of the
#'   configuration (default 4).
#' @param backend `"auto"`, `"cpu"` or `"gpu"`; `NULL` (the default) for
#'   `backend` of the configuration (default `"auto"`), as [call_ancestral()]
#'   explains them. On GPUs the calls are made, chromosome by chromosome in turn on
#'   those of `gpu_devices`.
#' @param resume Whether to go on from what earlier runs have finished, as by default; `FALSE`
#'   makes all anew.
#' @param BPPARAM A `BiocParallelParam`, such as `BiocParallel::SnowParam(4)` or [slurm_param()],
#'   whose workers carry out the run in tasks; `NULL` (the default) for this process alone.
#' @param progress Whether to show a progress bar for phases that take more than two seconds; by
#'   default in interactive sessions alone.
#' @param verbose Whether to log what is done, as by default, as messages of class
#'   `ancify_message`; the first line says which backend and how many threads.
#' @return `ancify_run()` and `ancify_call()` give a data frame of class `ancify_run` with one row a
#'   chromosome:
#'   `chromosome`; `length` in bases; the numbers of positions called with
#'   `high` and with `low` confidence, `unresolved` and `missing` (`NA` without
#'   the phase `"call"`); `file`, the path of the calls.
#'   Attributes: `alignments`, a data frame with one row an outgroup (`species`,
#'   `tier`, `alignment`, the blocks `used`, `bad` and `passed_over`, and the
#'   `duplicates`, rows of a species that its block of a MAF had already; `bad` and
#'   `duplicates` are those on all chromosomes of the run that read the alignment);
#'   `config`; `backend`, as the log has it; `seconds`, by phase; where
#'   `estimate` is true `fit`, an `ancify_fit`, and `history`; `evaluation`, what
#'   [ancify_evaluate()] gives, where that phase ran. `ancify_project()` gives the attribute
#'   `alignments`.
#' @section What is done again:
#' Each file appears when it is whole, and what is finished is recorded in
#' `<work_dir>/.ancify/manifest.json`: what a species' projections and a chromosome's calls were
#' made from (which inputs, the settings that matter, the package's version), and each file's size
#' and CRC-32, taken while it was written. Started
#' again with the same configuration, also after a crash, a run does only what is missing, what is
#' no longer as it was written, or what would be made from something else, says what it leaves as
#' it is, and ends with the same bytes. Calls are final chromosome by chromosome; an outgroup's
#' projections when its alignment is read to the end. With `keep_projected: false` the alignments
#' are read again for chromosomes that are left. `fitted.json` beside the manifest keeps a fit.
#'
#' An input is known by its inode, its size, and the times of the last change of its contents and
#' of any change. These are taken when the run begins, and compared when the file is opened and at
#' the end of reading. A file that was replaced or changed meanwhile is an error: start the run
#' again. A copy, a renamed file, or one whose permissions were changed is another input to the next
#' run, which makes anew what depends on it.
#'
#' A run locks `work_dir` and `output_dir` while it works there (`.ancify.lock`); the lock ends with
#' the process, however that ends. What a killed run left under temporary names, the next one in
#' these folders removes. `.ancify_files` in `output_dir` and in `<work_dir>/projected` names what
#' runs wrote there: later ones replace and remove nothing else, and end before any work where
#' something else is in the way, or before they write where it came meanwhile. So does a run where
#' `.ancify.lock` is a link, or no run's.
#'
#' A run that calls leaves `<output_dir>/ancify_run.json` beside its calls: versions, backend,
#' settings, inputs with their identities and checksums, counts and checksums of the chromosomes'
#' files, seconds by phase, fit and evaluation. Versions, backend, host and times are those of the
#' last run, also where earlier ones had made the calls. [ancify_report()] makes a page of it.
#' @section In tasks:
#' With `BPPARAM` each alignment is a task of its own, the largest file first, then each chromosome,
#' the longest first; chromosomes below a tenth of the longest share tasks, and there are at most
#' about 200. Evaluation has tasks by chromosome too, and a fit and `focal_fasta` are one each. The
#' result is the same to the byte.
#'
#' The workers must see the same files by the same paths, and find the same version of this
#' package: they get the calling session's library paths, working directory and options of
#' `ancify`. Each task uses `num_cpus` threads; forked workers (`MulticoreParam`) use one, and no
#' GPU. Where tasks call on GPUs, those of a batch system take what their job was given, and
#' others one GPU of their machine each, which they wait for. Projections always go to files, with
#' `keep_projected: false` to `<work_dir>/.ancify/not_kept`, which is removed after the last call.
#'
#' A task's log and outcome are in `<work_dir>/.ancify/tasks/<task>`; the calling session tells of
#' a task when it has ended, shows how many have, and alone holds the locks and writes the record.
#' A task that fails leaves the others alone: when these have ended, an `ancify_task_error` names
#' each failure with its host or job, and the next run does what is left. An interrupt cancels
#' queued and running tasks. Should the calling session be killed, tasks at work go on, and those
#' that wait do nothing; a later run takes over what they finish, and while one is at work it is
#' an `ancify_lock_error` that names it.
#' @section Errors:
#' `ancify_config_error` for settings that can't be used. `ancify_check_error` for what the look
#' before the run finds, with all findings in the field `problems` and the whole table in
#' `checks`; where they are of one kind it is an `ancify_format_error` or `ancify_file_error` too,
#' with `file` and `line` of the first.
#' What is suspicious, such as an inner outgroup that differs more than an outer one, is an
#' `ancify_check_warning` with the fields `check`, `subject` and `file`. `ancify_file_error`,
#' `ancify_format_error` and `ancify_device_error` as [project_axt()] and [call_ancestral()] give
#' them.
#' What the alignments lack is an `ancify_projection_warning`. `ancify_lock_error` where another
#' run, whose process and host it names, works in one of the folders. `ancify_task_error` (fields
#' `problems` and `tasks`) where tasks of `BPPARAM` failed; where their errors are of one kind it is
#' of that class too, with `file` and `line` of the first.
#' @seealso [ancify_init()] for a configuration to start from, [ancify_check()] for its inputs,
#'   `vignette("cluster", "ancify")`
#' @export
#' @examples
#' run <- ancify_run(ancify_example(), threads = 1)
#' run
#' readLines(run$file[1])[2] |> substr(2001, 2060)
#'
#' # One phase after the other, in a folder of its own
#' config <- ancify_example(tempfile("phases-"))
#' ancify_project(config, threads = 1, verbose = FALSE)
#' ancify_call(config, threads = 1, verbose = FALSE)
#' @examplesIf requireNamespace("BiocParallel", quietly = TRUE)
#'
#' # In tasks
#' ancify_run(ancify_example(), resume = FALSE, BPPARAM = BiocParallel::SerialParam())
ancify_run <- function(config, phases = c("project", "call", "evaluate"), threads = NULL,
                       backend = NULL, resume = TRUE, BPPARAM = NULL, progress = interactive(),
                       verbose = TRUE) {
  check_given()
  phases <- check_phases(phases)
  check_flag(resume, "resume")
  check_flag(progress, "progress")
  check_flag(verbose, "verbose")
  given <- config
  config <- read_config(given, phases)
  phases <- phases_asked_for(phases, config)
  check_own_calls(given, phases)
  config$backend <- backend %||% config$backend
  refuse_unkept_alone(config, phases)
  config$num_cpus <- resolve_threads(threads %||% config$num_cpus)
  log <- log_where(verbose)
  cluster <- new_cluster(BPPARAM, config, progress, log)
  backend <- session_backend(config, cluster)
  kind <- kind_of_run(backend, cluster)
  log(paste("Using", backend$description))
  for (note in config$notes) log(note)
  config <- with_alignments(config, phases)
  check_inputs(config, phases, backend, kind, progress, log)
  files <- if ("evaluate" %in% phases) files_to_compare(config, phases, log)
  caller <- NULL
  if ("call" %in% phases) {
    check_before_work(config, log)
    config <- with_inputs(config, unlist(method_of(config)$files(config)))
    # Before any work, for it checks what a method needs; a fit makes its own.
    if (!fits(config)) {
      caller <- config_caller(config, run_settings(config, verbose), backend, progress)
    }
  }

  work_in(config, phases, resume, !is.null(cluster), log, function(manifest) {
    if (kind == "gpu") log_what_stays_on_the_cpu(config, phases, manifest, log)
    started <- Sys.time()
    earlier <- record_in(config$output_dir)
    seconds <- c()
    timed <- function(name, job, ...) {
      start <- proc.time()[["elapsed"]]
      result <- job(..., backend, progress, verbose)
      save_manifest(manifest, at_once = TRUE)
      if (is.null(result)) {
        return(NULL)
      }
      seconds[[name]] <<- proc.time()[["elapsed"]] - start
      log(sprintf("Phase %s took %.1f s", name, seconds[[name]]))
      result
    }
    result <- with_workers(cluster, function() {
      carry_out(config, phases, manifest, cluster, kind, caller, files, timed)
    })
    run <- new_run(config, result, backend$description, seconds)
    attr(run, "files") <- files_of_run(run, manifest, phases)
    record_run(run, result$compared_with, phases, manifest, started, earlier)
    run
  })
}

#' @rdname ancify_run
#' @export
ancify_project <- function(config, threads = NULL, backend = NULL, resume = TRUE, BPPARAM = NULL,
                           progress = interactive(), verbose = TRUE) {
  run <- ancify_run(config, "project", threads, backend, resume, BPPARAM, progress, verbose)
  attr(run, "alignments")
}

#' @rdname ancify_run
#' @export
ancify_call <- function(config, threads = NULL, backend = NULL, resume = TRUE, BPPARAM = NULL,
                        progress = interactive(), verbose = TRUE) {
  ancify_run(config, "call", threads, backend, resume, BPPARAM, progress, verbose)
}

# "cpu" or "gpu"; "tasks" on machines like this one, or "jobs" of a batch system.
kind_of_run <- function(backend, cluster) {
  if (is.null(cluster)) {
    return(backend$kind)
  }
  if (is_batch(cluster$given)) "jobs" else "tasks"
}

# Tasks choose their own, where they run.
session_backend <- function(config, cluster) {
  if (is.null(cluster)) {
    return(choose_backend(
      config$backend, config$num_cpus, config$gpu_devices, config$gpu_memory
    ))
  }
  backend <- choose_backend("cpu", config$num_cpus)
  backend$description <- describe_cluster(cluster)
  backend
}

log_what_stays_on_the_cpu <- function(config, phases, manifest, log) {
  on_gpu <- runs_on_devices(method_of(config), nrow(config$outgroups))
  if ("project" %in% phases) {
    goes <- on_gpu && runs_as_one(config, phases, "gpu", manifest)
    log(paste0("Projection runs on the CPU", if (goes) "; its bases go to the GPU as they come"))
  }
  if ("call" %in% phases && !on_gpu) {
    log("The method has no GPU code for so many outgroups: it calls on the CPU")
  }
}

# Whether projection and calling run as one on a "cpu" or a "gpu": there calling takes the sequences
# from the device's memory even if they are kept, unless an earlier run has made some of the files.
# In tasks they never do.
runs_as_one <- function(config, phases, kind, manifest) {
  can_run_as_one(config, phases, kind) &&
    (!config$keep_projected || !has_record(manifest, config))
}

can_run_as_one <- function(config, phases, kind) {
  all(c("project", "call") %in% phases) && !fits(config) && kind %in% c("cpu", "gpu") &&
    (!config$keep_projected || kind == "gpu")
}

# All phases; timed() runs one by its name, function and first arguments.
carry_out <- function(config, phases, manifest, cluster, kind, caller, files, timed) {
  result <- project_and_call(config, phases, manifest, cluster, kind, caller, timed)
  if ("evaluate" %in% phases) {
    evaluated <- timed("evaluate", run_evaluation, config, files, manifest, cluster)
    result[c("evaluation", "compared_with")] <- evaluated[c("evaluation", "compared_with")]
    result$calls <- result$calls %||% evaluated$calls
  }
  result
}

project_and_call <- function(config, phases, manifest, cluster, kind, caller, timed) {
  if (runs_as_one(config, phases, kind, manifest)) {
    return(timed("project and call", run_both, config, manifest, caller))
  }
  if (all(c("project", "call") %in% phases) && !config$keep_projected) {
    earlier <- timed("call", called_earlier, config, manifest)
    if (!is.null(earlier)) {
      return(earlier)
    }
    # Its own folder, so that nothing is removed but what this run wrote.
    config$not_kept_in <- folder_not_kept(config, cluster)
    done <- FALSE
    on.exit(if (done || is.null(cluster)) {
      unlink(config$not_kept_in, recursive = TRUE, expand = FALSE)
    })
  }
  result <- list()
  if ("project" %in% phases) {
    result$alignments <- timed("project", run_projection, config, manifest, cluster)
  }
  if ("call" %in% phases) {
    result <- c(result, timed("call", run_calling, config, manifest, cluster, caller))
  }
  done <- TRUE
  result
}

# For projections that are removed in the end. Those of tasks stay until the last call is made, so
# that what failed is all that a second run has to do.
folder_not_kept <- function(config, cluster) {
  if (is.null(cluster)) {
    return(temporary_name(file.path(config$work_dir, "not_kept")))
  }
  tasks_not_kept(config)
}

tasks_not_kept <- function(config) file.path(config$work_dir, ".ancify", "not_kept")

all_phases <- c("project", "call", "evaluate")

check_phases <- function(phases) {
  if (!is.character(phases) || length(phases) == 0 || !all(phases %in% all_phases)) {
    abort_ancify(
      sprintf("`phases` must be among %s, not %s.", enumerate(quoted(all_phases)),
              show_value(phases)),
      "input"
    )
  }
  unique(phases)
}

# Without a configuration of it, there is an evaluation only where it is all that is asked for.
phases_asked_for <- function(phases, config) {
  if (is.null(config$evaluation) && length(phases) > 1) setdiff(phases, "evaluate") else phases
}

# Who has a run evaluated again means the calls that it made.
check_own_calls <- function(given, phases) {
  if (inherits(given, "ancify_run") && "evaluate" %in% phases && !"call" %in% phases) {
    check_not_replaced(given, "config")
  }
}

# Projections that are not kept are of use to calls of the same run alone.
refuse_unkept_alone <- function(config, phases) {
  if ("project" %in% phases && !"call" %in% phases && !config$keep_projected) {
    problem <- paste(
      "With `keep_projected: false` projections are for calls of the same run alone: run the phase",
      "\"call\" too, or set `keep_projected: true`."
    )
    abort_ancify(problem, "config", file = config$file, problems = problem)
  }
}

projected_folder <- function(config, species) {
  file.path(config$not_kept_in %||% config$work_dir, "projected", species)
}

run_projection <- function(config, manifest, cluster, backend, progress, verbose) {
  log <- log_where(verbose)
  sources <- alignment_sources(config)
  left <- species_left(config, manifest, sources, backend, progress)
  log_skipped(log, "Projections of", left)
  if (!is.null(config$focal_fasta)) {
    project_focal(config, sources, manifest, cluster, backend, progress, verbose)
    config <- with_whole(config, manifest, projected_files(config, config$focal_species))
  }
  if (any(left)) {
    some <- config
    some$outgroups <- config$outgroups[left, ]
    claim_projections(some, some$outgroups$name)
    in_parts(
      cluster, "project", parts_by_alignment(cluster, some), list(sources = sources), manifest,
      backend, progress, verbose
    )
  }
  if (needs_focal(config)) {
    project_focal(config, sources, manifest, cluster, backend, progress, verbose)
  }
  reports <- recorded_reports(manifest, sources, config$lengths)
  tell_about_projection(reports, config, verbose)
}

# Jobs of in_parts() -------------------------------------------------------------------------------

project_part <- function(config, sources, manifest, backend, progress, verbose) {
  species <- config$outgroups$name
  with_watch("Projecting", function(watch) {
    project_files_impl(
      config_alignments(config, projected_folder(config, species)),
      config_reading(config, backend, focal_to_compare(config)), watch
    )
  }, progress, verbose, expected_inputs(config), list(
    projected = projected_recorder(manifest, config, sources[species])
  ))
}

call_part <- function(config, fitted, caller = NULL, manifest, backend, progress, verbose) {
  if (is.null(caller)) {
    caller <- config_caller(config, fitted %||% run_settings(config, FALSE), backend, progress)
  }
  with_watch("Calling", function(watch) {
    call_files_impl(
      projected_folder(config, config$outgroups$name), caller, config$lengths, config$output_dir,
      watch
    )
  }, progress, verbose, expected_inputs(config), list(
    called = called_recorder(manifest, config)
  ))
}

# What the core tells of each outgroup that is projected.
projected_recorder <- function(manifest, config, sources) {
  function(i, report, checksums) {
    record_projected(
      manifest, config, config$outgroups$name[i], sources[[i]], report, checksums
    )
  }
}

called_recorder <- function(manifest, config) {
  function(i, counts, calls, phred) {
    record_called(manifest, config, names(config$lengths)[i], counts, calls, phred)
  }
}

# `left`: by name, what is not there yet.
log_skipped <- function(log, what, left) {
  if (!all(left)) {
    log(sprintf(
      "%s %s: there from an earlier run, as they were written", what, enumerate(names(left)[!left])
    ))
  }
}

config_alignments <- function(config, folders = "") {
  outgroups <- config$outgroups
  as_alignments(
    outgroups$name, outgroups$alignment, names_in_maf(outgroups), folders,
    outgroups$tier == "inner"
  )
}

config_reading <- function(config, backend, focal_folder = "", focal_fasta = "") {
  reading_of(
    config$lengths, backend, config$on_bad_block, focal_in_maf(config),
    names(lengths_of_genome(config)), focal_folder, focal_fasta
  )
}

# Logs and warns; gives the table of alignments.
tell_about_projection <- function(reports, config, verbose) {
  outgroups <- config$outgroups
  for (i in seq_along(reports)) {
    if (verbose) inform_ancify(describe_blocks(outgroups$name[i], reports[[i]]))
    warn_about_projection(reports[[i]], outgroups$alignment[i], config$lengths)
  }
  number <- function(field) vapply(reports, function(report) sum(report[[field]]), 0)
  data.frame(
    species = outgroups$name, tier = outgroups$tier, alignment = outgroups$alignment,
    used = number("blocks"), bad = number("bad"), passed_over = number("passed_over"),
    duplicates = number("duplicates")
  )
}

describe_blocks <- function(species, report) {
  sprintf(
    "%s: %s blocks used, %s on other chromosomes passed over, %s bad left out", species,
    format_count(sum(report$blocks)), format_count(report$passed_over), format_count(report$bad)
  )
}

run_calling <- function(config, manifest, cluster, caller, backend, progress, verbose) {
  log <- log_where(verbose)
  check_projected(config$outgroups$name, config)
  if (needs_focal(config)) ensure_focal(config, manifest, backend, progress, log)
  on_record <- whole_projections(config, manifest, species_read(config), backend, progress)
  config <- with_whole(config, manifest, projected_files(config, names(on_record)[on_record]))
  config <- with_inputs(config, projected_files(config, names(on_record)[!on_record]))
  sources <- projected_sources(config, manifest, on_record)
  made_from <- call_sources(config, sources)
  fitted <- if (fits(config)) {
    saved_fit(manifest, made_from) %||%
      fit_now(config, manifest, made_from, cluster, backend, progress, verbose)
  }
  left <- chromosomes_left(config, manifest, made_from, backend, progress)
  log_skipped(log, "Calls of", left)
  if (any(left)) {
    some <- config
    some$lengths <- config$lengths[left]
    begin_calls(some, log)
    in_parts(
      cluster, "call", parts_by_chromosome(cluster, some), list(fitted = fitted), manifest, backend,
      progress, verbose, list(caller = caller), made_from
    )
  }
  called_result(config, manifest, fitted)
}

# What calls are made from: with a fit to it, the focal species too.
species_read <- function(config) {
  c(config$outgroups$name, if (needs_focal(config)) config$focal_species)
}

called_result <- function(config, manifest, fitted = NULL) {
  if (!is.null(fitted)) write_fits(config, fitted)
  remove_stale(config)
  list(
    calls = call_table(recorded_counts(config, manifest), config), fit = fitted$fit,
    history = fitted$fitted_history
  )
}

# Both phases as one, with projected sequences written only if they are kept.
run_both <- function(config, manifest, caller, backend, progress, verbose) {
  log <- log_where(verbose)
  outgroups <- config$outgroups
  folders <- if (config$keep_projected) projected_folder(config, outgroups$name) else ""
  sources <- alignment_sources(config)
  left <- unkept_left(config, manifest, sources, call_sources(config, sources), backend, progress)
  log_skipped(log, "Calls of", left)
  if (any(left)) {
    if (config$keep_projected && !is.null(config$focal_fasta)) {
      project_focal(config, sources, manifest, NULL, backend, progress, verbose)
      config <- with_whole(config, manifest, projected_files(config, config$focal_species))
    }
    some <- config
    some$lengths <- config$lengths[left]
    if (config$keep_projected) claim_projections(some, outgroups$name)
    begin_calls(some, log)
    with_watch("Projecting and calling", function(watch) {
      project_and_call_impl(
        config_alignments(some, folders),
        config_reading(
          some, backend, if (config$keep_projected) focal_to_compare(config) else "",
          config$focal_fasta %||% ""
        ),
        caller, config$output_dir, watch
      )
    }, progress, verbose, expected_inputs(config), list(
      projected = if (all(left)) projected_recorder(manifest, some, sources),
      called = called_recorder(manifest, some)
    ))
  }
  reports <- recorded_reports(manifest, sources, config$lengths)
  c(
    list(alignments = tell_about_projection(reports, config, verbose)),
    called_result(config, manifest)
  )
}

# What a run that fits to projections, and does not keep them, has finished earlier; NULL if
# something is left.
called_earlier <- function(config, manifest, backend, progress, verbose) {
  sources <- alignment_sources(config)
  read <- if (needs_focal(config)) list(focal_source(config, sources))
  read <- stats::setNames(c(sources, read), species_read(config))
  made_from <- call_sources(config, read)
  fitted <- saved_fit(manifest, made_from)
  left <- unkept_left(config, manifest, sources, made_from, backend, progress)
  if (is.null(fitted) || any(left)) {
    return(NULL)
  }
  if (verbose) log_skipped(inform_ancify, "Calls of", left)
  reports <- recorded_reports(manifest, sources, config$lengths)
  c(
    list(alignments = tell_about_projection(reports, config, verbose)),
    called_result(config, manifest, fitted)
  )
}

# What an earlier run wrote beside calls that are no longer there.
remove_stale <- function(config) {
  fitted <- if (fits(config)) method_of(config)$fits
  stale <- c(
    if (!config$posterior) phred_file(names(config$lengths)),
    fitted_files[setdiff(names(fitted_files), fitted)]
  )
  remove_own(calls_place(config), stale)
}

remove_files <- function(paths) {
  unlink(paths, expand = FALSE)
  left <- paths[file.exists(paths)]
  if (length(left)) {
    abort_ancify(
      sprintf("%s can't be removed, but belongs to earlier calls: remove it.", quoted(left[1])),
      "file", file = left[1]
    )
  }
}

# What would end the run after the projection; and what the log should say of the method.
check_before_work <- function(config, log) {
  row <- method_of(config)
  check_method_files(config, row)
  row$look(config, species_of_tiers(config))
  if (needs_tree(row) && !tree_names_focal(config)) {
    log(no_focal_in_tree(config$focal_species))
  }
  if (config$estimate && !fits(config)) {
    log(sprintf("`estimate` is true, but `method` %s has nothing to fit", quoted(config$method)))
  }
}

# Only calling needs them; training writes the model.
check_method_files <- function(config, row) {
  files <- row$files(config)
  problems <- unlist(Map(input_problem, names(files), files, FALSE), use.names = FALSE)
  if (!is.null(problems)) {
    abort_ancify(problems[1], "config", file = config$file, problems = problems)
  }
}

# The table of outgroups has the inner ones first.
species_of_tiers <- function(config) {
  split(config$outgroups$name, factor(config$outgroups$tier, c("inner", "outer")))
}

config_caller <- function(config, settings, backend, progress) {
  make_caller(
    core_method(method_of(config), species_of_tiers(config), settings), config$posterior, backend,
    progress, expected_inputs(config)
  )
}

# What core_method() takes, from the configuration alone.
run_settings <- function(config, verbose) {
  row <- method_of(config)
  threshold <- function(which) {
    if (has_posterior(row)) config[[sprintf("%s_%s_threshold", row$thresholds, which)]]
  }
  settings <- list(
    min_inner_freq = config$min_inner_freq, min_outer_freq = config$min_outer_freq,
    high = threshold("high"), low = threshold("low"), model = config_model(config)
  )
  if (!is.null(config$tree)) {
    settings$tree <- parse_newick(config$tree)
    settings$focal <- if (tree_names_focal(config)) config$focal_species
  }
  quietly <- if (verbose) identity else suppressMessages
  c(settings, quietly(row$configured(config)))
}

tree_names_focal <- function(config) {
  !is.null(config$tree) && config$focal_species %in% parse_newick(config$tree)$tip.label
}

call_table <- function(counts, config) {
  data.frame(counts, file = sequence_path(config$output_dir, names(config$lengths)))
}

check_projected <- function(species, config) {
  chromosomes <- rep(names(config$lengths), times = length(species))
  files <- projected_files(config, species)
  missing <- files[!file.exists(files)]
  if (length(missing)) {
    abort_ancify(
      sprintf(
        "%s: %s missing. Run the phase \"project\" too, or correct `work_dir`.",
        enumerate(quoted(missing)),
        if (length(missing) == 1) "this projected sequence is" else "these projected sequences are"
      ),
      "file",
      file = missing[1]
    )
  }
  check_sequences_impl(files, chromosomes, config$lengths[chromosomes])
}

new_run <- function(config, result, backend, seconds) {
  calls <- result$calls
  if (is.null(calls)) {
    none <- rep(NA_real_, length(config$lengths))
    calls <- data.frame(
      high = none, low = none, unresolved = none, missing = none, file = NA_character_
    )
  }
  rows <- data.frame(
    chromosome = names(config$lengths), length = unname(config$lengths), calls
  )
  structure(
    rows,
    class = c("ancify_run", "data.frame"),
    alignments = result$alignments, config = config, backend = backend, seconds = seconds,
    fit = result$fit, history = result$history, evaluation = result$evaluation
  )
}

# Some rows, as subset() takes them, are of the same run.
#' @export
`[.ancify_run` <- function(x, ...) {
  some <- NextMethod()
  if (!is.data.frame(some)) {
    return(some)
  }
  lost <- setdiff(names(attributes(x)), names(attributes(some)))
  attributes(some)[lost] <- attributes(x)[lost]
  some
}

#' @export
print.ancify_run <- function(x, ...) {
  config <- attr(x, "config")
  if (is.null(config) || !all(c("chromosome", run_counts) %in% names(x)) || !nrow(x)) {
    return(NextMethod())
  }
  cat(sprintf(
    "<ancify_run> %s, %s, %d outgroups, %s\n", config$focal_species, config$method,
    nrow(config$outgroups), attr(x, "backend")
  ))
  if (anyNA(x$high)) {
    print_projected(x, config)
  } else {
    print_calls(x, config)
  }
  invisible(x)
}

run_counts <- c("length", "high", "low", "unresolved", "missing")

# Of an ancify_run, which may have been changed since.
check_called <- function(run, name = "run") {
  if (anyNA(run$file) || anyNA(run$high)) {
    abort_ancify(
      sprintf("`%s` is a run without calls: run the phase \"call\" too.", name), "input"
    )
  }
  of_type <- function(columns, is_type) {
    all(vapply(columns, function(column) is_type(run[[column]]), NA))
  }
  if (nrow(run) == 0 || anyDuplicated(run$chromosome) ||
    !of_type(c("chromosome", "file"), is.character) || !of_type(run_counts, is.numeric)) {
    abort_ancify(
      sprintf(
        "`%s` has not the rows and columns that ancify_run() gives, or none: take them all.", name
      ),
      "input"
    )
  }
}

most_rows_printed <- 20

print_calls <- function(x, config) {
  counts <- as.matrix(as.data.frame(unclass(x)[run_counts]))
  total <- colSums(counts)
  shown <- seq_len(min(nrow(x), most_rows_printed))
  counts <- rbind(counts[shown, , drop = FALSE], total)
  text <- array(vapply(counts, format_count, ""), dim(counts))
  text <- rbind(text, sprintf("%.2f %%", 100 * total / total[["length"]]))
  dimnames(text) <- list(c(x$chromosome[shown], "all", "share"), run_counts)
  print(text, quote = FALSE, right = TRUE)
  print_rest(x)
  cat("Calls in ", file.path(config$output_dir, "<chromosome>.fa"), "\n", sep = "")
}

print_projected <- function(x, config) {
  shown <- utils::head(x, most_rows_printed)
  lengths <- format(vapply(shown$length, format_count, ""), justify = "right")
  cat(paste0(format(shown$chromosome), "  ", lengths, "\n"), sep = "")
  print_rest(x)
  projected <- file.path(config$work_dir, "projected", "<species>", "<chromosome>.fa")
  cat("Projected in ", projected, "\n", sep = "")
}

print_rest <- function(x) {
  if (nrow(x) > most_rows_printed) {
    cat("... and", nrow(x) - most_rows_printed, "more chromosomes\n")
  }
}
