# What a run has left to do, by its manifest.

# Which species have a record of all chromosomes, and files that are as they were written.
whole_projections <- function(config, manifest, species, backend, progress) {
  chromosomes <- names(config$lengths)
  tables <- lapply(species, function(name) {
    files <- manifest$projected[[name]]$files
    at <- match(chromosomes, files$chromosome)
    size <- as.numeric(files$size)[at]
    size[size != fasta_size(config$lengths)] <- NA
    data.frame(
      species = rep(name, length(at)), size = size, checksum = as.character(files$checksum)[at],
      path = sequence_path(projected_folder(config, name), chromosomes)
    )
  })
  table <- do.call(rbind, tables)
  # Only species that have all, and that this run has not written: no other file has to be read.
  complete <- !table$species %in% table$species[is.na(table$size)]
  to_read <- complete & !known_whole(manifest, table$path)
  note_whole(
    manifest, table$path[to_read], identities_as_written(table[to_read, ], backend, progress)
  )
  whole <- complete & known_whole(manifest, table$path)
  stats::setNames(!species %in% table$species[!whole], species)
}

# Bytes of a chromosome's one-line FASTA.
fasta_size <- function(lengths) {
  unname(nchar(names(lengths), "bytes") + 3 + lengths)
}

# Which outgroups are to be projected.
species_left <- function(config, manifest, sources, backend, progress) {
  same <- vapply(names(sources), function(name) {
    entry <- manifest$projected[[name]]
    !is.null(report_of(entry, config$lengths)) && same_json(entry$source, sources[[name]])
  }, NA)
  left <- !same
  left[same] <- !whole_projections(config, manifest, names(sources)[same], backend, progress)
  # Without them what is left would take their rows too.
  for (i in which(left)) left[longer_named(config$outgroups, i)] <- TRUE
  left
}

# Which chromosomes are to be called from what `made_from` says. Those that were called from
# something else are forgotten, as their files will be others.
chromosomes_left <- function(config, manifest, made_from, backend, progress) {
  output <- manifest$output
  left <- stats::setNames(rep(TRUE, length(config$lengths)), names(config$lengths))
  if (!same_json(manifest$called[[output]]$made_from, made_from)) {
    manifest$called[[output]] <- list(made_from = made_from, chromosomes = list())
    return(left)
  }
  rows <- manifest$called[[output]]$chromosomes
  at <- match(names(left), rows$chromosome)
  known <- which(!is.na(at))
  known <- known[rows$size[at[known]] == fasta_size(config$lengths[known])]
  if (length(known) == 0) {
    return(left)
  }
  table <- data.frame(
    path = sequence_path(config$output_dir, names(left)[known]), size = rows$size[at[known]],
    checksum = rows$checksum[at[known]]
  )
  if (config$posterior) {
    table <- rbind(table, data.frame(
      path = phred_path(config$output_dir, names(left)[known]),
      size = rows$phred_size[at[known]], checksum = rows$phred_checksum[at[known]]
    ))
  }
  whole <- matrix(as_written(table, backend, progress), length(known))
  left[known] <- rowSums(!whole) > 0
  left
}

# As chromosomes_left(), where the alignments have to be read anew for what is left. A report of the
# whole files is not to be had from some of the chromosomes: without one on record, all are left. An
# alignment of which nothing could be used is an error, so each has a block on one that is left.
unkept_left <- function(config, manifest, sources, made_from, backend, progress) {
  left <- chromosomes_left(config, manifest, made_from, backend, progress)
  reports <- recorded_reports(manifest, sources, config$lengths)
  if (is.null(reports)) left[] <- TRUE
  if (!any(left)) {
    return(left)
  }
  for (report in reports) {
    has_block <- report$blocks > 0
    if (!any(left & has_block)) left[which(has_block)[1]] <- TRUE
  }
  left
}

# Whether an earlier run has finished something of this configuration.
has_record <- function(manifest, config) {
  kept <- vapply(manifest$projected[config$outgroups$name], function(entry) {
    length(entry$files) > 0
  }, NA)
  any(kept) || length(manifest$called[[manifest$output]]$chromosomes) > 0
}

# Where nothing is recorded of what is finished.

# Whether the focal species' own bases are to be written, as those on record would be others now.
focal_is_left <- function(config, manifest, sources, backend, progress) {
  focal <- config$focal_species
  !same_json(manifest$projected[[focal]]$source, focal_source(config, sources)) ||
    !whole_projections(config, manifest, focal, backend, progress)
}

check_projected <- function(species, config) {
  chromosomes <- rep(names(config$lengths), times = length(species))
  files <- projected_files(config, species)
  missing <- files[!file.exists(files)]
  if (length(missing)) {
    abort_ancify(
      sprintf(
        "%s: %s missing. Run the phase \"project\" too, or correct `work_dir`.",
        enumerate(quoted(missing)),
        if (length(missing) == 1) "this projected sequence is" else "these projected sequences are"
      ),
      "file",
      file = missing[1]
    )
  }
  check_sequences_impl(files, chromosomes, config$lengths[chromosomes])
}
