# The phase that projects.

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

# What the core tells of each outgroup that is projected.
projected_recorder <- function(manifest, config, sources) {
  function(i, report, checksums) {
    record_projected(
      manifest, config, config$outgroups$name[i], sources[[i]], report, checksums
    )
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
