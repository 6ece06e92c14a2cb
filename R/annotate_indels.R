# Ancestral alleles of records that are not SNPs of two alleles.

# Options that annotate_vcf() passes to the core. `use_info`: true if ancestral alleles come from
# INFO. `run`: the argument `ancestral`.
beyond_snps <- function(also, use_info, run, reference, work) {
  indels <- "indels" %in% also
  list(
    multiallelic = "multiallelic" %in% also, indels = indels,
    indel_sources = if (indels && !use_info) indel_sources(run, reference, work)
  )
}

check_also <- function(also) {
  choices <- c("multiallelic", "indels")
  if (is.null(also) || (is.character(also) && all(also %in% choices))) {
    return(invisible())
  }
  refuse_input("`also` must be among %s, not %s.", enumerate(quoted(choices)), show_value(also))
}

# The alignments of a run, the settings for reading them, and the method for indels.
indel_sources <- function(run, reference, work) {
  refuse_if(
    is.null(reference),
    paste("`also = \"indels\"` needs `reference`, the focal genome: repeats in it tell where an",
          "insertion or deletion can be placed.")
  )
  run <- as_run(run)
  config <- attr(run, "config")
  outgroups <- config$outgroups
  problems <- unlist(Map(
    input_problem, sprintf("outgroups.%s: %s", outgroups$tier, outgroups$name),
    outgroups$alignment, FALSE
  ))
  if (length(problems)) {
    abort_ancify(
      paste(c("The alignments of the run cannot be read again:", problems), collapse = "\n"), "file"
    )
  }
  refuse_changed(run)
  # The focal genome only serves to find bad blocks, so it is needed only if these are skipped.
  focal_fasta <- if (config$on_bad_block == "skip") config$focal_fasta
  core_list(
    "IndelSources",
    alignments = config_alignments(config),
    reading = config_reading(config, work, focal_fasta = focal_fasta %||% ""),
    method = indel_method(config)
  )
}

refuse_changed <- function(run) {
  for (path in attr(run, "config")$outgroups$alignment) {
    then <- facts_when_read(run, path)
    now <- file_identity(path)
    differs <- function(fact) isTRUE(then[[fact]] != now[[fact]])
    if (differs("size") || differs("sample_checksum")) {
      refuse_file(path,
                  "%s changed after the run read it: run it again, or bring the earlier file back.",
                  quoted(path))
    }
  }
}

# An alignment's size and checksum, from the run's record or its configuration in memory.
facts_when_read <- function(run, path) {
  record <- attr(run, "alignments")
  if (is.null(record$sample_checksum)) {
    return(input_identity(attr(run, "config"), path))
  }
  record[match(path, record$alignment), ]
}

as_run <- function(run) {
  if (inherits(run, "ancify_run")) {
    return(run)
  }
  refuse_if(is.null(record_in(run)),
            "`also = \"indels\"` needs a run, for its alignments, but %s has no record of one.",
            show_value(run))
  read_run_record(run)
}

# Substitution models do not describe insertions and deletions, so the method is parsimony on the
# run's tree, or voting without one.
indel_method <- function(config) {
  species <- species_of_tiers(config)
  refuse_if(
    is.null(config$tree) && any(lengths(species) == 0),
    paste("Insertions and deletions need a `tree` in the run's configuration, or outgroups in both",
          "tiers.")
  )
  row <- method_row(if (is.null(config$tree)) "voting" else "parsimony")
  settings <- list(
    min_inner_freq = config$min_inner_freq, min_outer_freq = config$min_outer_freq,
    ties = config$ties,
    tree = if (!is.null(config$tree)) parse_newick(config$tree),
    focal = if (tree_names_focal(config)) config$focal_species
  )
  core_method(row, species, settings)
}
