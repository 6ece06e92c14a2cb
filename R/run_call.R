# The phase that calls, alone or with projections that are not kept.

# Whether projection and calling run as one on a "cpu" or a "gpu": there calling takes the sequences
# from the device's memory even if they are kept, unless an earlier run has made some of the files.
# In tasks they never do.
runs_as_one <- function(config, phases, kind, manifest) {
  can_run_as_one(config, phases, kind) &&
    (!config$keep_projected || !has_record(manifest, config))
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

called_recorder <- function(manifest, config) {
  function(i, counts, calls, phred) {
    record_called(manifest, config, names(config$lengths)[i], counts, calls, phred)
  }
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
  fitted <- if (fits_model(config)) {
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
  fitted <- if (fits_model(config)) method_of(config)$fits
  stale <- c(
    if (!config$posterior) phred_file(names(config$lengths)),
    fitted_files[setdiff(names(fitted_files), fitted)]
  )
  remove_own(calls_place(config), stale)
}
