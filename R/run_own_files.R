# Which files in a folder are runs' own: <folder>/.ancify_files names them, by their paths in it. A
# run replaces and removes no others. There are two such places, the output folder and that of the
# projections; a place is a list:
#
# key, folder   the configuration's key that decides where it is, and its path
# written       files that runs of this configuration write there
# on_record()   where there is no list, files that something else tells to be runs' own
# whole(files)  those of `files` that are as the manifest has them
# way_out       what to do about a file of others

calls_place <- function(config) {
  list(
    key = "output_dir", folder = config$output_dir, written = files_replaced(config, "call"),
    on_record = function() union(files_on_record(config$output_dir), files_in_manifest(config)),
    whole = function(files) whole_calls(config),
    way_out = "Choose another `output_dir`, or move it away."
  )
}

projections_place <- function(config) {
  list(
    key = "work_dir", folder = file.path(config$work_dir, "projected"),
    written = projections_of(
      c(config$outgroups$name, config$focal_species), names(config$lengths)
    ),
    on_record = character, whole = function(files) whole_projected(config, files),
    way_out = paste(
      "Move it away, or choose another `work_dir`; the phase \"call\" alone uses projections of",
      "others."
    )
  )
}

own_list <- function(folder) file.path(folder, ".ancify_files")

# Copies of a folder may lack the list, which is hidden.
own_files <- function(place) listed_files(place$folder) %||% place$on_record()

# NULL without a list; a damaged one names nothing.
listed_files <- function(folder) {
  list <- own_list(folder)
  if (file.exists(list) && !dir.exists(list)) state_lines(list) %||% character()
}

files_on_record <- function(folder) {
  record <- record_in(folder)
  if (is.null(record)) {
    return(character())
  }
  chromosomes_of <- function(rows) vapply(rows, `[[`, "", "chromosome")
  c(
    calls_and_posteriors(chromosomes_of(record$chromosomes), isTRUE(record$settings$posterior)),
    evaluation_file(chromosomes_of(record$evaluation)), if (length(record$fit)) fitted_files,
    run_record_file
  )
}

# The calls that are as the manifest has them, and what belongs to them.
files_in_manifest <- function(config) {
  entry <- called_before(config)
  calls <- whole_calls(config, entry)
  chromosomes <- entry$chromosomes$chromosome
  c(
    calls, evaluation_file(chromosomes[sequence_file(chromosomes) %in% calls]),
    if (length(calls) && !is.null(entry$made_from$fitted_to)) fitted_files
  )
}

called_before <- function(config) {
  manifest <- manifest_before(config)
  manifest$called[[manifest$output]]
}

manifest_before <- function(config) open_manifest(config, TRUE, function(line) NULL)

# Calls and posteriors
whole_calls <- function(config, entry = called_before(config)) {
  rows <- entry$chromosomes
  if (!length(rows$chromosome)) {
    return(character())
  }
  calls <- calls_and_posteriors(rows$chromosome, posterior = !is.null(rows$phred_size))
  table <- data.frame(
    path = file.path(config$output_dir, calls), size = c(rows$size, rows$phred_size),
    checksum = c(rows$checksum, rows$phred_checksum)
  )
  calls[as_written(table, choose_backend("cpu", config$num_cpus), FALSE)]
}

whole_projected <- function(config, files) {
  entries <- Filter(function(entry) length(entry$files), manifest_before(config)$projected)
  tables <- lapply(names(entries), function(species) {
    on_record <- entries[[species]]$files
    data.frame(
      file = projections_of(species, on_record$chromosome), size = on_record$size,
      checksum = on_record$checksum
    )
  })
  on_record <- do.call(rbind, tables)
  at <- match(files, on_record$file)
  table <- data.frame(
    path = file.path(config$work_dir, "projected", files), size = on_record$size[at] %||% NA,
    checksum = on_record$checksum[at] %||% NA
  )
  files[as_written(table, choose_backend("cpu", config$num_cpus), FALSE)]
}

# What the phases write or remove in the output folder.
files_replaced <- function(config, phases) {
  chromosomes <- names(config$lengths)
  c(
    # Posteriors of earlier calls are removed.
    if ("call" %in% phases) c(calls_and_posteriors(chromosomes, posterior = TRUE), summary_files),
    if (any(c("call", "evaluate") %in% phases)) evaluation_file(chromosomes)
  )
}

# What they write to the folder of projections. A focal species' bases that are there serve calls as
# they are.
projections_replaced <- function(config, phases) {
  if ("project" %in% phases && !config$keep_projected) {
    return(character())
  }
  species <- species_projected(config, phases)
  if (!"project" %in% phases && has_focal(config)) species <- character()
  projections_of(species, names(config$lengths))
}

# Others may have come since the look.
refuse_others <- function(place, files) {
  others <- others_files(place, files)
  if (length(others)) {
    abort_ancify(
      in_the_way(place, others[1]), "file", file = file.path(place$folder, others[1])
    )
  }
}

# Before they are written.
claim_files <- function(place, files) {
  folder <- place$folder
  refuse_others(place, files)
  note_claim(folder, files)
  if (!all(files %in% listed_files(folder))) {
    write_own_list(folder, union(own_files(place), files))
  }
}

# A folder that is made for one run has nothing of others.
claim_projections <- function(config, species) {
  if (is.null(config$not_kept_in)) {
    claim_files(projections_place(config), projections_of(species, names(config$lengths)))
  }
}

# Those that are runs' own; afterwards these names are no run's, so that what comes there stays.
remove_own <- function(place, files) {
  there <- files[is_file(file.path(place$folder, files))]
  own <- setdiff(there, others_files(place, there))
  remove_files(file.path(place$folder, own))
  disown_absent(place$folder, own)
}

disown_absent <- function(folder, files) {
  listed <- listed_files(folder)
  stays <- !listed %in% files | is_file(file.path(folder, listed))
  if (!all(stays)) write_own_list(folder, listed[stays])
}

# Of the run that is at work: files by their folder
claims_here <- list2env(list(files = list()), parent = emptyenv())

note_claim <- function(folder, files) {
  claims_here$files[[folder]] <- union(claims_here$files[[folder]], files)
}

# Evaluates `job`, which claims files in these places. What it did not come to write is no run's
# when it has ended; what it did not claim stays one's, though it be away, as on a disk that is not
# mounted.
with_claims <- function(config, places, in_tasks, job) {
  claims_here$files <- list()
  for (place in places) list_own(place)
  # A failed run's tasks may go on for a moment. A list that is too long does no harm to the result.
  on.exit(if (!in_tasks || !length(tasks_at_work(config))) {
    for (folder in names(claims_here$files)) {
      tryCatch(
        disown_absent(folder, claims_here$files[[folder]]), ancify_error = function(condition) NULL
      )
    }
  })
  job
}

# Before a run, for the manifest may forget what it told.
list_own <- function(place) {
  there <- place$written[is_file(file.path(place$folder, place$written))]
  own <- union(own_files(place), setdiff(there, others_files(place, there)))
  if (!setequal(own, listed_files(place$folder))) write_own_list(place$folder, own)
}

# No list for none.
write_own_list <- function(folder, files) {
  if (length(files)) {
    write_text(own_list(folder), sort(files, method = "radix"))
  } else {
    unlink(own_list(folder))
  }
}

# Before calls are made of all chromosomes of `config`: what tells of those that will not be there
# any more goes, and is no run's even if it is away.
begin_calls <- function(config, log) {
  other <- other_settings(config)
  if (length(other)) {
    log(sprintf("Calls in %s, made with another %s, are replaced", quoted(config$output_dir),
                enumerate(other)))
  }
  place <- calls_place(config)
  chromosomes <- names(config$lengths)
  refuse_others(place, place$written)
  goes <- c(summary_files, evaluation_file(chromosomes))
  remove_files(file.path(place$folder, goes))
  disown_absent(place$folder, goes)
  claim_files(place, calls_and_posteriors(chromosomes, config$posterior))
  # With each call its posterior is written, or goes.
  note_claim(place$folder, phred_file(chromosomes))
}

in_the_way <- function(place, file, config_file = NULL) {
  path <- file.path(place$folder, file)
  why <- if (dir.exists(path)) {
    "is in the way, a folder"
  } else if (file %in% path_in(config_file, place$folder)) {
    "would be replaced, but is this configuration"
  } else {
    "would be replaced, but is not known as a run's"
  }
  sprintf("%s %s. %s", quoted(path), why, place$way_out)
}

# Those that are not known as runs'. A folder in a file's place is one, whatever was there before.
others_files <- function(place, files) {
  paths <- file.path(place$folder, files)
  unknown <- setdiff(files[is_file(paths)], own_files(place))
  c(files[dir.exists(paths)], if (length(unknown)) setdiff(unknown, place$whole(unknown)))
}
