# The phase "call", by itself or in one pass with the projection.

# Whether projection and calling run in one pass. They do not in tasks, nor if files of an earlier
# run save work.
runs_as_one <- function(context, phases, kind) {
  kept <- keeps_projections(context$config, phases)
  can_run_as_one(context$config, phases, kind) &&
    !(if (kept) has_record(context) else takes_projections(context))
}

# Whether a run of both phases calls from projections on disk. With `keep_projected: auto` it does
# if an earlier run left all of them.
takes_projections <- function(context) {
  config <- context$config
  keeps_projections(config, c("project", "call")) ||
    (identical(config$keep_projected, "auto") && all(projections_on_record(context)))
}

# Runs all phases. timed(name, function, ...) runs one phase; the evaluation compares calls with
# `files`.
carry_out <- function(context, phases, kind, caller, files, timed) {
  result <- project_and_call(context, phases, kind, caller, timed)
  if ("evaluate" %in% phases) {
    evaluated <- timed("evaluate", run_evaluation, context, files)
    result$evaluation <- evaluated$evaluation
    result$calls <- result$calls %||% evaluated$calls
  }
  result
}

project_and_call <- function(context, phases, kind, caller, timed) {
  if (runs_as_one(context, phases, kind)) {
    return(timed("project and call", run_both, context, caller))
  }
  if (all(c("project", "call") %in% phases) && !takes_projections(context)) {
    earlier <- timed("call", called_earlier, context)
    if (!is.null(earlier)) {
      return(earlier)
    }
    context <- with_projections_not_kept(context)
    done <- FALSE
    on.exit(if (done || is.null(context$cluster)) {
      unlink(context$projections$folder, recursive = TRUE, expand = FALSE)
    })
  }
  result <- list()
  if ("project" %in% phases) {
    result$alignments <- timed("project", run_projection, context)
  }
  if ("call" %in% phases) {
    result <- c(result, timed("call", run_calling, context, caller))
  }
  done <- TRUE
  result
}

# Temporary projections have a folder of their own, so that a run removes only its own files. The
# tasks' folder stays until all calls are made, so that a second run repeats only failed tasks.
with_projections_not_kept <- function(context) {
  work_dir <- context$config$work_dir
  folder <- if (is.null(context$cluster)) {
    temporary_name(file.path(work_dir, "not_kept"))
  } else {
    tasks_not_kept(context$config)
  }
  context$config$not_kept_in <- folder
  context$projections <- if (is.null(context$cluster)) {
    new_ledger(folder, on_disk = FALSE)
  } else {
    open_ledger(folder)
  }
  context$projections$resume <- context$work$resume
  context
}

call_part <- function(context, made_from, fitted, caller = NULL) {
  config <- context$config
  if (is.null(caller)) {
    settings <- fitted %||% run_settings(config, FALSE)
    caller <- config_caller(
      config, settings, context$backend, context$progress, context$verbose
    )
  }
  with_watch("Calling", function(watch) {
    call_files_impl(
      projected_folder(config, config$outgroups$name), caller, config$lengths, config$output_dir,
      watch
    )
  }, context$progress, context$verbose, expected_inputs(config), list(
    called = called_recorder(context, made_from)
  ))
}

# Records each chromosome that the core has called.
called_recorder <- function(context, made_from) {
  chromosomes <- names(context$config$lengths)
  function(i, counts, calls, phred) {
    ledger <- context$output
    if (context$config$posterior) {
      complete_files(ledger, phred_file(chromosomes[i]), made_from, phred)
    }
    complete_files(
      ledger, sequence_file(chromosomes[i]), made_from, calls, counts_as_facts(counts)
    )
  }
}

run_calling <- function(context, caller) {
  config <- context$config
  check_projected(config$outgroups$name, config)
  if (needs_focal(config)) ensure_focal(context)
  species <- species_read(config)
  on_record <- sources_on_record(context, species)
  warn_about_old_projections(config, on_record)
  config <- with_seen(
    config, context$projections, projections_of(names(on_record), names(config$lengths))
  )
  config <- with_inputs(config, projected_files(config, setdiff(species, names(on_record))))
  context$config <- config
  made_from <- call_sources(config, projected_sources(config, species, on_record))
  fitted <- if (fits_model(config)) saved_fit(context, made_from) %||% fit_now(context, made_from)
  left <- chromosomes_left(context, made_from)
  log_skipped(context$log, "Calls of", left)
  if (any(left)) {
    context$config$lengths <- config$lengths[left]
    begin_calls(context)
    in_parts(
      context, "call", parts_by_chromosome(context$cluster, context$config),
      list(made_from = made_from, fitted = fitted), list(caller = caller)
    )
    context$config <- config
  }
  called_result(context, made_from, fitted)
}

# Prepares for calling the configuration's chromosomes: removes summaries of earlier calls, claims
# files.
begin_calls <- function(context) {
  config <- context$config
  other <- other_settings(config, context$output)
  if (length(other)) {
    context$log(sprintf("Calls in %s are replaced: they were made with another %s",
                        quoted(config$output_dir), enumerate(other)))
  }
  ledger <- context$output
  chromosomes <- names(config$lengths)
  refuse_others(ledger, files_replaced(config, "call"))
  remove_own(ledger, c(
    summary_files, evaluation_file(chromosomes), if (!config$posterior) phred_file(chromosomes)
  ))
  claim_files(ledger, calls_and_posteriors(chromosomes, config$posterior))
}

# The species whose sequences determine the calls; a fit may also need the focal species.
species_read <- function(config) {
  c(config$outgroups$name, if (needs_focal(config)) config$focal_species)
}

called_result <- function(context, made_from, fitted = NULL) {
  if (!is.null(fitted)) write_fits(context, made_from, fitted)
  remove_unused(context)
  list(
    calls = call_table(recorded_counts(context), context$config), fit = fitted$fit,
    history = fitted$fitted_history
  )
}

# Runs both phases in one pass. Projections are written only if they are kept.
run_both <- function(context, caller) {
  config <- context$config
  species <- config$outgroups$name
  kept <- keeps_projections(config, c("project", "call"))
  folders <- if (kept) projected_folder(config, species) else ""
  sources <- alignment_sources(config)
  made_from <- call_sources(config, sources)
  left <- unkept_left(context, sources, made_from)
  log_skipped(context$log, "Calls of", left)
  if (any(left)) {
    some <- context
    if (kept && !is.null(config$focal_fasta)) {
      project_focal(context, sources)
      some$config <- with_seen(
        config, context$projections, projections_of(config$focal_species, names(config$lengths))
      )
    }
    some$config$lengths <- config$lengths[left]
    if (kept) claim_projections(some, species)
    begin_calls(some)
    with_watch("Projecting and calling", function(watch) {
      project_and_call_impl(
        config_alignments(config, folders),
        config_reading(
          some$config, context$backend, if (kept) focal_to_compare(config) else "",
          config$focal_fasta %||% ""
        ),
        caller,
        core_list("CallOutput", folder = config$output_dir, memory = memory_to_take(config)),
        watch
      )
    }, context$progress, context$verbose, expected_inputs(some$config), list(
      projected = if (all(left)) projected_recorder(some, sources),
      called = called_recorder(some, made_from)
    ))
  }
  reports <- reports_on_record(context, sources)
  c(
    list(alignments = tell_about_projection(context, reports)), called_result(context, made_from)
  )
}

# The result of an earlier run that fitted a model and kept no projections; NULL if work remains.
called_earlier <- function(context) {
  config <- context$config
  sources <- alignment_sources(config)
  read <- if (needs_focal(config)) list(focal_source(config, sources))
  read <- stats::setNames(c(sources, read), species_read(config))
  made_from <- call_sources(config, read)
  fitted <- saved_fit(context, made_from)
  left <- unkept_left(context, sources, made_from)
  if (is.null(fitted) || any(left)) {
    return(NULL)
  }
  log_skipped(context$log, "Calls of", left)
  reports <- reports_on_record(context, sources)
  c(
    list(alignments = tell_about_projection(context, reports)),
    called_result(context, made_from, fitted)
  )
}

# Removes files of earlier calls that this configuration does not make.
remove_unused <- function(context) {
  config <- context$config
  fitted <- if (fits_model(config)) method_of(config)$fits
  remove_own(context$output, c(
    if (!config$posterior) phred_file(names(config$lengths)),
    fitted_files[setdiff(names(fitted_files), fitted)]
  ))
}
