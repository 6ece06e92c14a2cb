# The focal genome's bases, which a run stores beside the projections.

project_focal <- function(context, sources) {
  config <- context$config
  source <- stats::setNames(list(focal_source(config, sources)), config$focal_species)
  if (!whole_projections(context, source)) {
    claim_projections(context, config$focal_species)
    in_parts(context, "focal", list(config), list(sources = sources))
  }
}

# A job of in_parts().
focal_part <- function(context, sources) {
  config <- context$config
  sums <- write_focal(context)
  record_projected(
    context, config$focal_species, focal_source(config, sources), list(), sums
  )
}

ensure_focal <- function(context) {
  config <- context$config
  if (has_focal(config)) {
    context$log(sprintf(
      "The focal bases are read from %s",
      quoted(projected_folder(config, config$focal_species))
    ))
  } else {
    claim_projections(context, config$focal_species)
    # With `focal_fasta`, the alignments are not read and need not exist.
    focal_part(context, alignment_sources(config))
  }
}

# The folder of the focal genome to compare blocks with; "" without `focal_fasta`.
focal_to_compare <- function(config) {
  if (is.null(config$focal_fasta)) "" else projected_folder(config, config$focal_species)
}

write_focal <- function(context) {
  config <- context$config
  alignments <- config$outgroups$alignment
  problems <- if (is.null(config$focal_fasta)) {
    unlist(Map(
      input_problem, sprintf("outgroups.%s: %s", config$outgroups$tier, config$outgroups$name),
      alignments, FALSE
    ))
  } else {
    input_problem("focal_fasta", config$focal_fasta, FALSE)
  }
  if (length(problems)) {
    abort_ancify(
      paste(c("The focal species' own bases cannot be read:", problems), collapse = "\n"),
      "config", file = config$file, problems = unname(problems)
    )
  }
  with_watch("Reading focal bases", function(watch) {
    focal_sequences_impl(
      unique(alignments), projected_folder(config, config$focal_species),
      config_reading(config, context$backend, focal_fasta = config$focal_fasta %||% ""), watch
    )
  }, context$progress, inputs = expected_inputs(config))
}
