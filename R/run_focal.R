# The focal genome of a run: projected where alignments have it, and kept.

project_focal <- function(config, sources, manifest, cluster, backend, progress, verbose) {
  if (focal_is_left(config, manifest, sources, backend, progress)) {
    claim_projections(config, config$focal_species)
    in_parts(
      cluster, "focal", list(config), list(sources = sources), manifest, backend, progress, verbose
    )
  }
}

# A job of in_parts().
focal_part <- function(config, sources, manifest, backend, progress, verbose) {
  checksums <- write_focal(config, backend, progress)
  species <- config$focal_species
  record_projected(manifest, config, species, focal_source(config, sources), list(), checksums)
}

ensure_focal <- function(config, manifest, backend, progress, log = function(line) NULL) {
  if (has_focal(config)) {
    log(sprintf(
      "The focal species' bases are those in %s",
      quoted(projected_folder(config, config$focal_species))
    ))
  } else {
    claim_projections(config, config$focal_species)
    # With `focal_fasta` nothing looks at the alignments, which need not be there.
    focal_part(config, alignment_sources(config), manifest, backend, progress)
  }
}

# The folder of the focal genome that blocks are compared with; "" without `focal_fasta`.
focal_to_compare <- function(config) {
  if (is.null(config$focal_fasta)) "" else projected_folder(config, config$focal_species)
}

write_focal <- function(config, backend, progress = FALSE) {
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
      paste(c("The focal species' own bases can't be had.", problems), collapse = "\n"),
      "config", file = config$file, problems = unname(problems)
    )
  }
  checksums <- with_watch("Reading focal bases", function(watch) {
    focal_sequences_impl(
      unique(alignments), projected_folder(config, config$focal_species),
      config_reading(config, backend, focal_fasta = config$focal_fasta %||% ""), watch
    )
  }, progress, inputs = expected_inputs(config))
  invisible(checksums)
}
