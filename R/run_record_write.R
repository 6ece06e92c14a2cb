# Writes the record of a run, ancify_run.json, from the ledgers. It is for people and for
# ancify_report(); no run bases decisions on it.

record_run <- function(context, run, phases, started) {
  if ("call" %in% phases) {
    write_run_record(context, run, phases, started)
  } else if ("evaluate" %in% phases) {
    amend_run_record(context)
  }
}

write_run_record <- function(context, run, phases, started) {
  config <- attr(run, "config")
  chromosomes <- names(config$lengths)
  evaluations <- evaluations_on_record(context, chromosomes, is.null(config$evaluation))
  # Remove evaluations of other calls.
  others <- evaluation_file(setdiff(chromosomes, evaluations$chromosome))
  remove_own(context$ledgers$output, others)
  record <- list(
    format = run_record_format, made_with = made_with(), host = Sys.info()[["nodename"]],
    started = utc_time(started), finished = utc_time(Sys.time()),
    backend = attr(run, "backend"), seconds = attr(run, "seconds"),
    config_file = config$file, settings = raw_config(config),
    alignments = alignments_on_record(context, phases),
    other_inputs = other_inputs(context, phases),
    chromosomes = chromosomes_on_record(context, run), fit = fit_facts(attr(run, "fit"))
  )
  save_record(context, with_evaluations(record, evaluations))
}

# Adds an evaluation of an earlier run's calls to the record of that run, if the record is
# unchanged.
amend_run_record <- function(context) {
  ledger <- context$ledgers$output
  if (!whole_files(ledger, run_record_file)) {
    return(invisible())
  }
  record <- record_in(ledger$folder)
  chromosomes <- vapply(record$chromosomes, `[[`, "", "chromosome")
  evaluations <- evaluations_on_record(context, chromosomes)
  if (any(names(context$config$lengths) %in% evaluations$chromosome)) {
    record$chromosomes <- rows_of_json(record$chromosomes)
    save_record(context, with_evaluations(record, evaluations))
  }
}

save_record <- function(context, record) {
  ledger <- context$ledgers$output
  made_from <- list(ancify = package_version_text())
  write_own(ledger, run_record_file, made_from, to_json(record))
}

# Adds evaluations to a record, with their settings and comparison files.
with_evaluations <- function(record, evaluations) {
  facts <- evaluations$facts
  if (length(facts) == 0) {
    record[c("evaluation", "compared_with")] <- list(NULL)
    return(record)
  }
  record$settings["evaluation"] <- list(evaluations$source$evaluation)
  record$evaluation <- rows_of_json(lapply(facts, `[[`, "row"))
  inputs <- unlist(lapply(facts, `[[`, "compared_with"), recursive = FALSE)
  record$compared_with <- rows_of_json(inputs[!duplicated(vapply(inputs, `[[`, "", "path"))])
  record
}

# Versions that affect a result.
made_with <- function() {
  build <- unclass(ancify_build_info())
  c(build, list(R = as.character(getRversion()), system = utils::osVersion))
}

# The sources of the calls by species. For projections that no run wrote, these are the files
# themselves.
sources_of_calls <- function(context) {
  made_from_of(context$ledgers$output, sequence_file(names(context$config$lengths)[1]))[[1]]$sources
}

# One row per outgroup. The facts of its alignment are NA if no run made its projection, or if the
# configuration names another alignment than the projection's.
alignments_on_record <- function(context, phases) {
  config <- context$config
  outgroups <- config$outgroups
  sources <- sources_of_calls(context)[outgroups$name]
  if (!"project" %in% phases) {
    named <- alignment_sources(config)
    same <- mapply(function(read, named) {
      fields <- c("alignment", "maf", "twobit")
      all(mapply(same_json, read[fields], named[fields]))
    }, sources, named)
    sources[!same] <- list(NULL)
  }
  of_file <- function(field, missing) {
    vapply(sources, function(source) source$alignment[[field]] %||% missing, missing)
  }
  reports <- reports_on_record(context, sources)
  count <- function(field) {
    vapply(reports, function(report) sum(as.numeric(report[[field]] %||% NA)), 0)
  }
  data.frame(
    species = outgroups$name, tier = outgroups$tier, alignment = outgroups$alignment,
    size = of_file("size", NA_real_), modified = of_file("modified", NA_character_),
    sample_checksum = of_file("sample_checksum", NA_character_),
    used = count("blocks"), bad = count("bad"), passed_over = count("passed_over"),
    duplicates = count("duplicates"), shared = count("shared"), secondary = count("secondary")
  )
}

other_inputs <- function(context, phases) {
  config <- context$config
  lengths <- config$chromosome_lengths
  inputs <- list(
    chromosome_lengths = c(list(path = lengths), input_identity(config, lengths))
  )
  aliases <- config$chromosome_aliases
  if (!is.null(aliases)) {
    inputs$chromosome_aliases <- c(list(path = aliases), input_identity(config, aliases))
  }
  inputs$twobit <- twobits_on_record(context)
  focal <- if (!is.null(config$focal_fasta)) focal_on_record(context, phases)
  if (!is.null(focal)) inputs$focal_fasta <- c(list(path = config$focal_fasta), focal)
  # The identities of the files when they were read
  c(inputs, lapply(method_of(config)$files(config), function(path) {
    c(list(path = path), input_identity(config, path))
  }))
}

# The genomes from which the outgroups' projections were made, by species.
twobits_on_record <- function(context) {
  outgroups <- context$config$outgroups
  read <- lapply(sources_of_calls(context)[outgroups$name], `[[`, "twobit")
  rows <- Map(c, lapply(outgroups$twobit, function(path) list(path = path)), read)
  stats::setNames(rows, outgroups$name)[!vapply(read, is.null, NA)]
}

# The focal genome, if blocks were compared with it or focal bases were taken from it.
focal_on_record <- function(context, phases) {
  read <- lapply(unname(sources_of_calls(context)), function(source) {
    source$focal_fasta %||% source$compared_with
  })
  read <- Filter(Negate(is.null), read)
  if (!"project" %in% phases) {
    named <- input_identity(context$config, context$config$focal_fasta)
    read <- Filter(function(one) same_json(one, named), read)
  }
  if (length(read)) read[[1]]
}

chromosomes_on_record <- function(context, run) {
  calls <- complete_rows(context$ledgers$output, sequence_file(run$chromosome))
  phred <- complete_rows(context$ledgers$output, phred_file(run$chromosome))
  data.frame(
    unclass(run)[c("chromosome", run_counts, "file")], size = calls$size,
    checksum = calls$checksum, phred_checksum = phred$checksum
  )
}

# Facts of a fit for the report; NULL without a fit.
fit_facts <- function(fit) {
  if (is.null(fit)) {
    return(NULL)
  }
  facts <- list(
    model = fit$model$name, sites = fit$sites, log_likelihood = fit$log_likelihood,
    AIC = stats::AIC(fit), converged = fit$converged, estimates = fit$estimates,
    tree = newick_text(fit$tree, 5)
  )
  facts$classes <- fit$classes
  facts
}
