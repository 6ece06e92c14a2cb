# What runs in a work folder have finished: <work_dir>/.ancify/manifest.json. A file is not made
# again where its record says that it was made from what it would be made from now, and its checksum
# is still that which was taken while it was written.
#
# projected  by species: source, what it was projected from; report, of the chromosomes whose
#            lengths are report_on; files, columns chromosome, size, checksum, none where they were
#            not kept
# called     by output folder: made_from; chromosomes, columns chromosome, size, checksum,
#            phred_size, phred_checksum and the counts
# Several methods may take the same projections, so there are several output folders.

manifest_format <- 1

# Without `resume` nothing on record counts.
open_manifest <- function(config, resume, log) {
  manifest <- new_manifest(
    file.path(config$work_dir, ".ancify", "manifest.json"),
    normalizePath(config$output_dir, mustWork = FALSE)
  )
  record <- if (file.exists(manifest$path)) read_manifest(manifest$path, log)
  manifest$projected <- record$projected %||% list()
  manifest$called <- record$called %||% list()
  if (!resume) forget(manifest, config)
  manifest
}

# An environment, as it is filled in from the callbacks of native jobs. `whole`, also one, has the
# identities, by path, of files that this session has written, or has found as they were written.
# Without a path it is never written.
new_manifest <- function(path, output) {
  manifest <- new.env(parent = emptyenv())
  manifest$path <- path
  manifest$output <- output
  manifest$next_save <- proc.time()[["elapsed"]] + 1
  manifest$changed <- FALSE
  manifest$rows <- list()
  manifest$projected <- list()
  manifest$called <- list()
  manifest$whole <- new.env(parent = emptyenv())
  manifest
}

# `identities`: as the core tells of them, NA for files that are not whole
note_whole <- function(manifest, paths, identities) {
  known <- !is.na(identities)
  list2env(stats::setNames(as.list(identities[known]), paths[known]), manifest$whole)
}

# For files that tasks have written: their identities as this machine sees them. Another machine may
# see others.
find_whole <- function(manifest, paths) {
  identities <- vapply(paths, function(path) {
    identity_if_readable(path)$identity %||% NA_character_
  }, "")
  note_whole(manifest, paths, identities)
}

known_whole <- function(manifest, paths) {
  vapply(paths, exists, NA, manifest$whole, inherits = FALSE, USE.NAMES = FALSE)
}

read_manifest <- function(path, log) {
  record <- tryCatch(parse_manifest(path), error = function(condition) NULL)
  if (is.null(record)) {
    log(sprintf("%s can't be read, or is another version's: all is made anew", quoted(path)))
  }
  record
}

# NULL, or an error, where it is none.
parse_manifest <- function(path) {
  record <- read_json_file(path)
  if (!identical(as.numeric(record$format), manifest_format)) {
    return(NULL)
  }
  columns <- function(table) lapply(table, unlist)
  record$projected <- lapply(record$projected, function(entry) {
    entry$report <- columns(entry$report)
    entry$report_on <- unlist(entry$report_on)
    entry$files <- columns(entry$files)
    stopifnot(is_projection(entry))
    entry
  })
  record$called <- lapply(record$called, function(entry) {
    entry$chromosomes <- columns(entry$chromosomes)
    stopifnot(is.list(entry$made_from), is_table_of_calls(entry$chromosomes))
    entry
  })
  record
}

is_projection <- function(entry) {
  is.list(entry$source) && is_report(entry$report, entry$report_on) &&
    is_table(entry$files, "size", c("chromosome", "checksum"))
}

is_table_of_calls <- function(table) {
  is_table(
    table, c("size", "phred_size", call_counts), c("chromosome", "checksum", "phred_checksum")
  )
}

# Columns of numbers and of texts, of one length; or none.
is_table <- function(table, numbers, texts = character()) {
  length(table) == 0 || (
    length(unique(lengths(table[c(numbers, texts)]))) == 1 &&
      all(vapply(table[numbers], is.numeric, NA), vapply(table[texts], is.character, NA))
  )
}

is_report <- function(report, report_on) {
  length(report) == 0 || (
    is_table(report, c("passed_over", "bad", "duplicates")) && length(report$bad) == 1 &&
      is_table(list(blocks = report$blocks, on = report_on), c("blocks", "on"))
  )
}

forget <- function(manifest, config) {
  unlink(fit_path(manifest))
  manifest$projected[c(config$outgroups$name, config$focal_species)] <- NULL
  manifest$called[[manifest$output]] <- NULL
}

# Writes it if something is new. Between the items of a phase that takes a hundredth of the time at
# most; of a record so large that more than half a minute's work would be at stake, a twentieth.
save_manifest <- function(manifest, at_once = FALSE) {
  started <- proc.time()[["elapsed"]]
  if (is.null(manifest$path) || !manifest$changed || (!at_once && started < manifest$next_save)) {
    return(invisible())
  }
  gather_rows(manifest)
  record <- list(
    format = manifest_format, ancify = package_version_text(),
    projected = manifest$projected, called = manifest$called
  )
  write_text(manifest$path, to_json(record))
  manifest$changed <- FALSE
  ended <- proc.time()[["elapsed"]]
  took <- ended - started
  manifest$next_save <- ended + max(20 * took, min(100 * took, 30))
}

package_version_text <- function() as.character(utils::packageVersion("ancify"))

to_json <- function(x) {
  jsonlite::toJSON(
    keep_names(x), auto_unbox = TRUE, digits = NA, null = "null", na = "null", rownames = FALSE,
    pretty = TRUE
  )
}

# JSON has names in objects, so in lists, only.
keep_names <- function(x) {
  if (is.data.frame(x)) {
    x
  } else if (is.list(x)) {
    lapply(x, keep_names)
  } else if (!is.null(names(x))) {
    as.list(x)
  } else {
    x
  }
}

# Whether two descriptions say the same, be they R's or read from JSON.
same_json <- function(x, y) {
  text <- function(value) to_json(jsonlite::fromJSON(to_json(value), simplifyVector = FALSE))
  # Most often nothing is on record, and turning descriptions into JSON takes milliseconds.
  if (is.null(x) || is.null(y)) {
    return(is.null(x) && is.null(y))
  }
  identical(x, y) || identical(text(x), text(y))
}

# ---- What things are made from -----------------------------------------------------------

# What each outgroup is projected from, by species.
alignment_sources <- function(config) {
  outgroups <- config$outgroups
  many <- have_many_species(outgroups$alignment) %in% TRUE
  # Rows of several species are told apart by the names of all chromosomes.
  lengths <- if (any(many)) input_identity(config, config$chromosome_lengths)
  # Blocks that differ from it are bad.
  focal <- if (!is.null(config$focal_fasta)) input_identity(config, config$focal_fasta)
  sources <- lapply(seq_len(nrow(outgroups)), function(i) {
    list(
      ancify = package_version_text(), alignment = input_identity(config, outgroups$alignment[i]),
      on_bad_block = config$on_bad_block, compared_with = focal,
      maf = if (many[i]) {
        names <- names_in_maf(outgroups)
        list(names[i], names[longer_named(outgroups, i)], focal_in_maf(config), lengths)
      }
    )
  })
  stats::setNames(sources, outgroups$name)
}

# Outgroups of the same file whose names there go on behind that of outgroup i and a dot: of a MAF's
# rows that fit both names, theirs are those of the longer one.
longer_named <- function(outgroups, i) {
  names <- names_in_maf(outgroups)
  which(outgroups$alignment == outgroups$alignment[i] & startsWith(names, paste0(names[i], ".")))
}

# What the focal species' own bases are taken from.
focal_source <- function(config, sources) {
  if (is.null(config$focal_fasta)) {
    return(list(focal_rows = unname(sources)))
  }
  focal <- input_identity(config, config$focal_fasta)
  list(ancify = package_version_text(), focal_fasta = focal)
}

# Of sequences that calling finds in their folders: what the record says they were projected from,
# or the files themselves where others made them. `on_record`: which is which, by species.
projected_sources <- function(config, manifest, on_record) {
  species <- names(on_record)
  sources <- lapply(species, function(name) {
    if (on_record[[name]]) {
      return(manifest$projected[[name]]$source)
    }
    list(files = unname(attr(config, "inputs")[projected_files(config, name)]))
  })
  stats::setNames(sources, species)
}

projected_files <- function(config, species) {
  folders <- rep(projected_folder(config, species), each = length(config$lengths))
  sequence_path(folders, rep(names(config$lengths), times = length(species)))
}

# Keys that change no call.
immaterial_keys <- c(
  "work_dir", "output_dir", "num_cpus", "backend", "gpu_devices", "gpu_memory", "keep_projected",
  "on_bad_block", "evaluation", "cluster", "chromosomes", "chromosome_lengths", "focal_fasta",
  "ml_training_reference"
)

settings_of_calls <- function(config) {
  settings <- raw_config(config)
  settings[immaterial_keys] <- NULL
  settings$outgroups <- split(config$outgroups$name, config$outgroups$tier)
  settings
}

# What calls are made from besides the lengths of their chromosomes, which their files tell.
call_sources <- function(config, sources) {
  settings <- settings_of_calls(config)
  files <- method_of(config)$files(config)
  settings[names(files)] <- lapply(files, function(path) input_identity(config, path))
  list(
    ancify = package_version_text(), settings = settings, sources = sources,
    # A fit is to all of a run's sites.
    fitted_to = if (fits(config)) as.list(config$lengths)
  )
}

# ---- What is left to do --------------------------------------------------------------------

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

# The identities of files that have the size and the checksum on record; NA for others.
identities_as_written <- function(table, backend, progress) {
  identities <- rep(NA_character_, NROW(table))
  there <- which(file.size(as.character(table$path)) == table$size)
  if (length(there)) {
    found <- with_watch("Checking what is there", function(watch) {
      checksums_impl(table$path[there], backend$threads, watch)
    }, progress)
    same <- found$size == table$size[there] & found$checksum == table$checksum[there]
    identities[there] <- ifelse(same, found$identity, NA)
  }
  identities
}

as_written <- function(table, backend, progress) {
  !is.na(identities_as_written(table, backend, progress))
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

# In the output folder of a run.
phred_path <- function(folder, chromosome) file.path(folder, phred_file(chromosome))
phred_file <- function(chromosome) {
  file.path("posterior", paste0(chromosome, ".phred", recycle0 = TRUE))
}

# ---- What is done ----------------------------------------------------------------------------

# Where nothing is recorded of what is finished.

# Whether the focal species' own bases are to be written, as those on record would be others now.
focal_is_left <- function(config, manifest, sources, backend, progress) {
  focal <- config$focal_species
  !same_json(manifest$projected[[focal]]$source, focal_source(config, sources)) ||
    !whole_projections(config, manifest, focal, backend, progress)
}

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

record_projected <- function(manifest, config, species, source, report, checksums) {
  lengths <- config$lengths
  entry <- manifest$projected[[species]]
  if (!same_json(entry$source, source)) entry <- list()
  entry$source <- source
  entry$report <- report
  entry$report_on <- lengths
  if (length(checksums$size)) {
    note_whole(manifest, projected_files(config, species), checksums$identity)
    entry$files <- list(
      chromosome = names(lengths), size = checksums$size, checksum = checksums$checksum
    )
  }
  manifest$projected[[species]] <- entry
  manifest$changed <- TRUE
  save_manifest(manifest)
}

# The reports on record, as they are for these chromosomes; NULL if one is missing.
recorded_reports <- function(manifest, sources, lengths) {
  reports <- lapply(names(sources), recorded_report, manifest, sources, lengths)
  if (!any(vapply(reports, is.null, NA))) reports
}

recorded_report <- function(name, manifest, sources, lengths) {
  entry <- manifest$projected[[name]]
  if (same_json(entry$source, sources[[name]])) report_of(entry, lengths)
}

# NULL where a chromosome is not on record, or in another length, which decides what blocks are bad;
# and where no block is on any of them: reading the alignment tells what is wrong then. Bad
# blocks and further rows of a species are counted whatever chromosome they are on.
report_of <- function(entry, lengths) {
  at <- match(names(lengths), names(entry$report_on))
  report <- entry$report
  if (anyNA(at) || any(entry$report_on[at] != lengths) || sum(report$blocks[at]) == 0) {
    return(NULL)
  }
  report$passed_over <- report$passed_over + sum(report$blocks[-at])
  report$blocks <- report$blocks[at]
  report
}

# ---- Fits ------------------------------------------------------------------------------------

fit_path <- function(manifest) file.path(dirname(manifest$path), "fitted.json")

# What was fitted to the same sites with the same settings, or NULL.
saved_fit <- function(manifest, made_from) {
  saved <- read_state(fit_path(manifest))
  if (is.list(saved) && same_json(saved$made_from, made_from) && is_fitted(saved$fitted)) {
    saved$fitted
  }
}

# Whether it is what fit_part() gives.
is_fitted <- function(fitted) {
  is.list(fitted) && inherits(fitted$fit, "ancify_fit") &&
    (is.null(fitted$history_fit) || inherits(fitted$history_fit, "ancify_history_fit"))
}

fit_now <- function(config, manifest, made_from, cluster, backend, progress, verbose) {
  fitted <- in_parts(
    cluster, "fit", list(config), list(), manifest, backend, progress, verbose
  )[[1]]
  write_state(fit_path(manifest), list(made_from = made_from, fitted = fitted))
  fitted
}

# ---- Calls -----------------------------------------------------------------------------------

call_counts <- c("high", "low", "unresolved", "missing")

record_called <- function(manifest, config, chromosome, counts, calls, phred) {
  note_whole(manifest, sequence_path(config$output_dir, chromosome), calls$identity)
  manifest$rows[[length(manifest$rows) + 1]] <- c(
    list(chromosome = chromosome, size = calls$size, checksum = calls$checksum,
         phred_size = phred$size, phred_checksum = phred$checksum),
    stats::setNames(as.list(counts), call_counts)
  )
  manifest$changed <- TRUE
  save_manifest(manifest)
}

# Puts the rows of chromosomes called since the last time into the table.
gather_rows <- function(manifest, output = manifest$output) {
  rows <- manifest$rows
  if (length(rows) == 0) {
    return(invisible())
  }
  columns <- lapply(stats::setNames(nm = names(rows[[1]])), function(name) {
    unlist(lapply(rows, `[[`, name))
  })
  table <- manifest$called[[output]]$chromosomes
  kept <- !table$chromosome %in% columns$chromosome
  manifest$called[[output]]$chromosomes <- Map(
    function(name, new) c(table[[name]][kept], new), names(columns), columns
  )
  manifest$rows <- list()
}

# The table of counts, a row a chromosome, of those that are on record as called.
recorded_counts <- function(config, manifest) {
  gather_rows(manifest)
  rows <- manifest$called[[manifest$output]]$chromosomes
  at <- match(names(config$lengths), rows$chromosome)
  data.frame(lapply(rows[call_counts], function(column) as.numeric(column)[at]))
}
