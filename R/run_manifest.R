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
