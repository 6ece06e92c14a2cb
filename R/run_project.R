# The phase "project".

run_projection <- function(context) {
  config <- context$config
  sources <- alignment_sources(config)
  left <- species_left(context, sources)
  log_skipped(context$log, "Projections of", left)
  if (!is.null(config$focal_fasta)) {
    project_focal(context, sources)
    context$config <- with_seen(
      config, context$ledgers$projections,
      projections_of(config$focal_species, names(config$lengths))
    )
  }
  if (any(left)) {
    some <- context$config
    some$outgroups <- config$outgroups[left, ]
    claim_projections(context, some$outgroups$name)
    in_parts(
      context, "project", parts_by_alignment(context$cluster, some), list(sources = sources)
    )
  }
  if (needs_focal(config)) project_focal(context, sources)
  tell_about_projection(context, reports_on_record(context, sources))
}

# Jobs of in_parts() -------------------------------------------------------------------------------

project_part <- function(context, sources) {
  config <- context$config
  species <- config$outgroups$name
  with_watch("Projecting", function(watch) {
    project_files_impl(
      config_alignments(config, projected_folder(config, species)),
      config_reading(config, context$work, focal_to_compare(config)), watch
    )
  }, context$work$progress, context$verbose, expected_inputs(config), list(
    projected = projected_recorder(context, sources[species])
  ))
}

# Records each outgroup that the core has projected.
projected_recorder <- function(context, sources) {
  function(i, report, sums) {
    record_projected(context, context$config$outgroups$name[i], sources[[i]], report, sums)
  }
}

# `left`: by name, whether each item remains to be made.
log_skipped <- function(log, what, left) {
  if (!all(left)) {
    log(sprintf(
      "%s %s: kept from an earlier run", what, enumerate(names(left)[!left])
    ))
  }
}

# Logs and warns; returns the table of alignments.
tell_about_projection <- function(context, reports) {
  outgroups <- context$config$outgroups
  for (i in seq_along(reports)) {
    context$log(describe_blocks(outgroups$name[i], reports[[i]]))
    warn_about_projection(
      reports[[i]], outgroups$alignment[i], context$config$lengths, context$config$overlaps
    )
  }
  number <- function(field) vapply(reports, function(report) sum(report[[field]]), 0)
  data.frame(
    species = outgroups$name, tier = outgroups$tier, alignment = outgroups$alignment,
    used = number("blocks"), bad = number("bad"), passed_over = number("passed_over"),
    duplicates = number("duplicates"), shared = number("shared"), secondary = number("secondary")
  )
}

describe_blocks <- function(species, report) {
  sprintf(
    "%s: %s blocks used, %s on other chromosomes passed over, %s bad left out", species,
    format_count(sum(report$blocks)), format_count(report$passed_over), format_count(report$bad)
  )
}
