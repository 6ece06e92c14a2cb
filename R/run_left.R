# Finds the remaining work from the ledgers.

# Whether each species has all its files, unchanged and made from its source.
whole_projections <- function(context, sources) {
  config <- context$config
  chromosomes <- names(config$lengths)
  ledger <- context$ledgers$projections
  paths <- projections_of(names(sources), chromosomes)
  from <- rep(vapply(sources, known_source, 0, ledger = ledger), each = length(chromosomes))
  sizes <- rep(fasta_size(config$lengths), length(sources))
  all_of_species <- function(good) {
    rep(colSums(!matrix(good, length(chromosomes))) == 0, each = length(chromosomes))
  }
  # Read only the files of species that are complete by the ledger.
  whole <- all_of_species(are_complete(ledger, paths, from, sizes))
  whole[whole] <- whole_files(ledger, paths[whole], from[whole], sizes[whole], context$work)
  first <- seq(1, by = length(chromosomes), length.out = length(sources))
  stats::setNames(all_of_species(whole)[first], names(sources))
}

# The sources of species whose files are unchanged since an earlier run, by species.
sources_on_record <- function(context, species) {
  chromosomes <- names(context$config$lengths)
  sources <- made_from_of(context$ledgers$projections, projections_of(species, chromosomes[1]))
  names(sources) <- species
  sources <- Filter(Negate(is.null), sources)
  sources[whole_projections(context, sources)]
}

# The size in bytes of a chromosome's one-line FASTA.
fasta_size <- function(lengths) {
  unname(nchar(names(lengths), "bytes") + 3 + lengths)
}

# The outgroups still to be projected.
species_left <- function(context, sources) {
  config <- context$config
  reported <- !vapply(reports_on_record(context, sources), is.null, NA)
  left <- stats::setNames(!reported, names(sources))
  left[reported] <- !whole_projections(context, sources[reported])
  # An outgroup projected alone would also take rows of outgroups with longer names.
  for (i in which(left)) left[longer_named(config$outgroups, i)] <- TRUE
  left
}

# The chromosomes still to be called from the source `made_from`.
chromosomes_left <- function(context, made_from) {
  config <- context$config
  chromosomes <- names(config$lengths)
  whole <- whole_files(
    context$ledgers$output, calls_and_posteriors(chromosomes, config$posterior),
    known_source(context$ledgers$output, made_from),
    c(fasta_size(config$lengths), if (config$posterior) unname(config$lengths)),
    context$work
  )
  left <- rowSums(!matrix(whole, length(chromosomes))) > 0
  stats::setNames(left | is.na(recorded_counts(context)$high), chromosomes)
}

# chromosomes_left() for a run that must read the alignments again. If a report is not on record,
# all chromosomes are left, because a report must cover all of them. An alignment without a usable
# block is an error, so each alignment gets a chromosome on which it has a block.
unkept_left <- function(context, sources, made_from) {
  left <- chromosomes_left(context, made_from)
  reports <- reports_on_record(context, sources)
  if (any(vapply(reports, is.null, NA))) left[] <- TRUE
  if (!any(left)) {
    return(left)
  }
  for (report in reports) {
    has_block <- report$blocks > 0
    if (!any(left & has_block)) left[which(has_block)[1]] <- TRUE
  }
  left
}

# Whether an earlier run completed any file of this configuration, from the current sources.
has_record <- function(context) {
  config <- context$config
  ledger <- context$ledgers$output
  made_from <- known_source(ledger, call_sources(config, alignment_sources(config)))
  any(projections_on_record(context)) ||
    any(are_complete(ledger, sequence_file(names(config$lengths)), made_from))
}

# Whether each projection of the outgroups exists and was made from these alignments. It may have
# been modified since.
projections_on_record <- function(context) {
  config <- context$config
  sources <- alignment_sources(config)
  from <- vapply(sources, known_source, 0, ledger = context$ledgers$work)
  paths <- projections_of(names(sources), names(config$lengths))
  are_complete(context$ledgers$work, paths, rep(from, each = length(config$lengths))) &
    file.exists(ledger_paths(context$ledgers$work, paths))
}

# ---- Reports of alignments and counts of calls, as facts -----------------------------------------

record_projected <- function(context, species, source, report, sums) {
  lengths <- context$config$lengths
  if (length(sums$size)) {
    paths <- projections_of(species, names(lengths))
    complete_files(context$ledgers$projections, paths, source, sums)
  }
  # The focal species has no report.
  if (length(report)) {
    complete_facts(
      context$ledgers$work, report_row(species), source,
      canonical_json(c(report, list(on = lengths)))
    )
  }
}

report_row <- function(species) paste0("projected/", species, "/", recycle0 = TRUE)

# Reports in the order of `sources`, for the configuration's chromosomes; NULL if not on record.
reports_on_record <- function(context, sources) {
  rows <- report_row(names(sources))
  ledger <- context$ledgers$work
  same <- are_complete(ledger, rows, vapply(sources, known_source, 0, ledger = ledger))
  facts <- facts_of(ledger, rows)
  lapply(seq_along(sources), function(i) {
    if (same[i]) report_of(facts[[i]], context$config$lengths)
  })
}

# NULL in two cases. A chromosome is not on record with this length, which determines bad blocks; or
# these chromosomes have no block, and reading the alignment again raises the error. Counts other
# than those of good blocks and of blocks passed over are of all chromosomes of the report.
report_of <- function(facts, lengths) {
  report <- lapply(facts, unlist)
  if (!is_report(report)) {
    return(NULL)
  }
  at <- match(names(lengths), names(report$on))
  if (anyNA(at) || any(report$on[at] != lengths) || sum(report$blocks[at]) == 0) {
    return(NULL)
  }
  report$passed_over <- report$passed_over + sum(report$blocks[-at])
  report$blocks <- report$blocks[at]
  report$on <- NULL
  report
}

is_report <- function(report) {
  counts <- c("passed_over", "bad", "duplicates", "shared", "secondary")
  all(vapply(report[c(counts, "blocks", "on")], is.numeric, NA)) &&
    all(lengths(report[counts]) == 1) && length(report$blocks) == length(report$on)
}

call_counts <- c("high", "low", "unresolved", "missing")

counts_as_facts <- function(counts) {
  sprintf("{%s}", paste0("\"", call_counts, "\":", sprintf("%.0f", counts), collapse = ","))
}

# The table of counts, one row per chromosome, with NA if its calls are not on record.
recorded_counts <- function(context) {
  facts <- facts_of(context$ledgers$output, sequence_file(names(context$config$lengths)))
  columns <- lapply(stats::setNames(nm = call_counts), function(name) {
    vapply(facts, function(counts) {
      if (is.numeric(counts[[name]])) as.numeric(counts[[name]]) else NA_real_
    }, 0)
  })
  data.frame(columns)
}

# ---- Projections without a record ----------------------------------------------------------------

check_projected <- function(species, config) {
  chromosomes <- rep(names(config$lengths), times = length(species))
  files <- projected_files(config, species)
  missing <- files[!file.exists(files)]
  refuse_file_if(
    length(missing), missing[1],
    "%s: %s missing. Run the phase \"project\" first, or correct `work_dir`.",
    enumerate(quoted(missing)),
    if (length(missing) == 1) "this projected sequence is" else "these projected sequences are"
  )
  check_sequences_impl(files, chromosomes, config$lengths[chromosomes])
}
