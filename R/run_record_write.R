# Writes the record of a run, ancify_run.json.

# `earlier`: what was on record when the run began; it is gone where calls were made anew.
# `compared_with`: the files of an evaluation.
record_run <- function(run, compared_with, phases, manifest, started, earlier) {
  if ("call" %in% phases) {
    write_run_record(run, compared_with, phases, manifest, started, earlier)
  } else if ("evaluate" %in% phases) {
    record_evaluation(run, compared_with)
  }
}

write_run_record <- function(run, compared_with, phases, manifest, started, earlier) {
  config <- attr(run, "config")
  folder <- config$output_dir
  settings <- raw_config(config)
  chromosomes <- chromosomes_on_record(run, manifest)
  evaluation <- attr(run, "evaluation")
  if (is.null(evaluation)) {
    evaluation <- evaluation_left(config, earlier, chromosomes)
    left <- vapply(evaluation, `[[`, "", "chromosome")
    remove_own(calls_place(config), evaluation_file(setdiff(chromosomes$chromosome, left)))
    # Those of the evaluation on record.
    if (length(evaluation)) settings["evaluation"] <- earlier$settings["evaluation"]
    compared_with <- if (length(evaluation)) earlier$compared_with
  }
  record <- list(
    format = run_record_format, made_with = made_with(), host = Sys.info()[["nodename"]],
    started = utc_time(started), finished = utc_time(Sys.time()),
    backend = attr(run, "backend"), seconds = attr(run, "seconds"),
    config_file = config$file, settings = settings,
    alignments = alignments_on_record(config, phases, manifest),
    other_inputs = other_inputs(config, phases, manifest),
    chromosomes = chromosomes, fit = fit_facts(attr(run, "fit")), evaluation = evaluation,
    compared_with = compared_with
  )
  # All of them, for nothing may have been left to call.
  claim_files(
    calls_place(config),
    c(calls_and_posteriors(names(config$lengths), config$posterior), run_record_file)
  )
  write_text(run_record_path(folder), to_json(record))
}

# What an earlier evaluation says of these same calls: those of other calls, such as another run's
# that a copy has replaced, are on record with another checksum. NULL for nothing, or where this
# run's calls are to be compared with something else.
evaluation_left <- function(config, earlier, chromosomes) {
  if (!is.null(config$evaluation) && !evaluated_alike(config, earlier)) {
    return(NULL)
  }
  before <- rows_of_json(earlier$chromosomes)
  checksum <- before$checksum[match(chromosomes$chromosome, before$chromosome)]
  there <- file.exists(file.path(config$output_dir, evaluation_file(chromosomes$chromosome)))
  same <- chromosomes$chromosome[which(chromosomes$checksum == checksum & there)]
  rows <- Filter(function(row) row$chromosome %in% same, earlier$evaluation)
  if (length(rows)) rows
}

evaluated_alike <- function(config, record) {
  same_json(record$settings$evaluation, config$evaluation)
}

# An evaluation of calls that an earlier run made. That of other chromosomes stays, if they were
# compared with the same.
record_evaluation <- function(run, compared_with) {
  config <- attr(run, "config")
  # One that came with others' calls stays as it is.
  record <- if (run_record_file %in% own_files(calls_place(config))) record_in(config$output_dir)
  on_record <- rows_of_json(record$chromosomes)
  at <- match(run$chromosome, on_record$chromosome)
  if (all(is.na(at))) {
    return(invisible())
  }
  # Others may lie in the places of the calls on record.
  as_counted <- lapply(call_counts, function(count) run[[count]] == on_record[[count]][at])
  made <- attr(run, "evaluation")
  rows <- lapply(which(Reduce(`&`, as_counted)), function(i) as.list(made[i, ]))
  other <- Filter(function(row) !row$chromosome %in% made$chromosome, record$evaluation)
  if (length(rows)) {
    if (!evaluated_alike(config, record)) other <- NULL
    record$settings["evaluation"] <- list(config$evaluation)
  }
  path <- function(input) input$path
  others <- if (length(other)) record$compared_with
  others <- Filter(function(input) !path(input) %in% lapply(compared_with, path), others)
  record["compared_with"] <- list(if (length(rows)) c(compared_with, others) else others)
  rows <- c(rows, other)
  in_order <- order(match(vapply(rows, `[[`, "", "chromosome"), on_record$chromosome))
  record["evaluation"] <- list(if (length(rows)) rows[in_order])
  write_text(run_record_path(config$output_dir), to_json(record))
}

# The versions that bear on a result.
made_with <- function() {
  build <- unclass(ancify_build_info())
  c(build, list(R = as.character(getRversion()), system = utils::sessionInfo()$running))
}

# By species; of projections that others made, these files.
sources_of_calls <- function(manifest) manifest$called[[manifest$output]]$made_from$sources

# A row an outgroup. Where others made its projection, or it is found there and not of the alignment
# that the configuration names, all that is told of this is NA.
alignments_on_record <- function(config, phases, manifest) {
  outgroups <- config$outgroups
  sources <- sources_of_calls(manifest)[outgroups$name]
  if (!"project" %in% phases) {
    named <- alignment_sources(config)
    same <- mapply(function(read, named) {
      same_json(read$alignment, named$alignment) && same_json(read$maf, named$maf)
    }, sources, named)
    sources[!same] <- list(NULL)
  }
  of_file <- function(field, missing) {
    vapply(sources, function(source) source$alignment[[field]] %||% missing, missing)
  }
  reports <- lapply(outgroups$name, recorded_report, manifest, sources, config$lengths)
  count <- function(field) {
    vapply(reports, function(report) sum(as.numeric(report[[field]] %||% NA)), 0)
  }
  data.frame(
    species = outgroups$name, tier = outgroups$tier, alignment = outgroups$alignment,
    size = of_file("size", NA_real_), modified = of_file("modified", NA_character_),
    sample_checksum = of_file("sample_checksum", NA_character_),
    used = count("blocks"), bad = count("bad"), passed_over = count("passed_over"),
    duplicates = count("duplicates")
  )
}

other_inputs <- function(config, phases, manifest) {
  lengths <- config$chromosome_lengths
  inputs <- list(
    chromosome_lengths = c(list(path = lengths), input_identity(config, lengths))
  )
  focal <- if (!is.null(config$focal_fasta)) focal_on_record(config, phases, manifest)
  if (!is.null(focal)) inputs$focal_fasta <- c(list(path = config$focal_fasta), focal)
  # As they were read, whatever lies there by now.
  c(inputs, lapply(method_of(config)$files(config), function(path) {
    c(list(path = path), input_identity(config, path))
  }))
}

# The focal genome, if it is what blocks were compared with or what the focal bases were taken from.
focal_on_record <- function(config, phases, manifest) {
  read <- lapply(unname(sources_of_calls(manifest)), function(source) {
    source$focal_fasta %||% source$compared_with
  })
  read <- Filter(Negate(is.null), read)
  if (!"project" %in% phases) {
    named <- input_identity(config, config$focal_fasta)
    read <- Filter(function(one) same_json(one, named), read)
  }
  if (length(read)) read[[1]]
}

chromosomes_on_record <- function(run, manifest) {
  rows <- manifest$called[[manifest$output]]$chromosomes
  at <- match(run$chromosome, rows$chromosome)
  data.frame(
    unclass(run)[c("chromosome", run_counts, "file")], size = rows$size[at],
    checksum = rows$checksum[at], phred_checksum = rows$phred_checksum[at] %||% NA_character_
  )
}

# What a report says of a fit; NULL for none.
fit_facts <- function(fit) {
  if (is.null(fit)) {
    return(NULL)
  }
  list(
    model = fit$model$name, sites = fit$sites, log_likelihood = fit$log_likelihood,
    AIC = stats::AIC(fit), converged = fit$converged, estimates = fit$estimates,
    tree = newick_text(fit$tree, 5)
  )
}
