# Which files in the output folder are runs' own: <output_dir>/.ancify_files names them, by their
# paths in it. A run replaces and removes no others.

own_list <- function(folder) file.path(folder, ".ancify_files")

own_files <- function(config) {
  folder <- config$output_dir
  # Copies of a folder may lack the list, which is hidden.
  listed_files(folder) %||% union(files_on_record(folder), files_in_manifest(config))
}

# NULL without a list.
listed_files <- function(folder) {
  tryCatch(
    suppressWarnings(readLines(own_list(folder), encoding = "UTF-8")),
    error = function(condition) NULL
  )
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
  manifest <- open_manifest(config, TRUE, function(line) NULL)
  manifest$called[[manifest$output]]
}

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

calls_and_posteriors <- function(chromosomes, posterior) {
  c(sequence_file(chromosomes), if (posterior) phred_file(chromosomes))
}

run_record_file <- "ancify_run.json"
summary_files <- c(run_record_file, unname(fitted_files))

# What the phases write or remove.
files_replaced <- function(config, phases) {
  chromosomes <- names(config$lengths)
  c(
    # Posteriors of earlier calls are removed.
    if ("call" %in% phases) c(calls_and_posteriors(chromosomes, posterior = TRUE), summary_files),
    if (any(c("call", "evaluate") %in% phases)) evaluation_file(chromosomes)
  )
}

# Others may have come since the look.
refuse_others <- function(config, files) {
  others <- others_files(config, files)
  if (length(others)) {
    path <- file.path(config$output_dir, others[1])
    abort_ancify(in_the_way(config, others[1]), "file", file = path)
  }
}

# Before they are written.
claim_files <- function(config, files) {
  folder <- config$output_dir
  refuse_others(config, files)
  claims$files <- union(claims$files, files)
  if (!all(files %in% listed_files(folder))) {
    write_own_list(folder, union(own_files(config), files))
  }
}

# Those that are runs' own; afterwards these names are no run's, so that what comes there stays.
remove_own <- function(config, files) {
  there <- files[is_file(file.path(config$output_dir, files))]
  own <- setdiff(there, others_files(config, there))
  remove_files(file.path(config$output_dir, own))
  disown_absent(config$output_dir, own)
}

disown_absent <- function(folder, files) {
  listed <- listed_files(folder)
  stays <- !listed %in% files | is_file(file.path(folder, listed))
  if (!all(stays)) write_own_list(folder, listed[stays])
}

# Of the run that is at work
claims <- new.env(parent = emptyenv())

# Evaluates `job`, which claims files. What it did not come to write is no run's when it has ended;
# what it did not claim stays one's, though it be away, as on a disk that is not mounted.
with_claims <- function(config, in_tasks, job) {
  claims$files <- character()
  folder <- config$output_dir
  # Now, for the manifest may forget what it told.
  there <- files_replaced(config, "call")
  there <- there[is_file(file.path(folder, there))]
  own <- union(own_files(config), setdiff(there, others_files(config, there)))
  if (!setequal(own, listed_files(folder))) write_own_list(folder, own)
  # A failed run's tasks may go on for a moment. A list that is too long does no harm to the result.
  on.exit(if (!in_tasks || !length(tasks_at_work(config))) {
    tryCatch(disown_absent(folder, claims$files), ancify_error = function(condition) NULL)
  })
  job
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
  chromosomes <- names(config$lengths)
  refuse_others(config, files_replaced(config, "call"))
  goes <- c(summary_files, evaluation_file(chromosomes))
  remove_files(file.path(config$output_dir, goes))
  disown_absent(config$output_dir, goes)
  claim_files(config, calls_and_posteriors(chromosomes, config$posterior))
  # With each call its posterior is written, or goes.
  claims$files <- union(claims$files, phred_file(chromosomes))
}

check_would_replace <- function(config, phases) {
  files <- files_replaced(config, phases)
  others <- c(
    others_files(config, files), intersect(path_in(config$file, config$output_dir), files)
  )
  if (length(others)) {
    finding("permission", "output_dir", "error", in_the_way(config, others[1]),
            file.path(config$output_dir, others[1]))
  }
}

in_the_way <- function(config, file) {
  path <- file.path(config$output_dir, file)
  why <- if (dir.exists(path)) {
    "is in the way, a folder"
  } else if (file %in% path_in(config$file, config$output_dir)) {
    "would be replaced, but is this configuration"
  } else {
    "would be replaced, but is not known as a run's"
  }
  sprintf("%s %s. Choose another `output_dir`, or move it away.", quoted(path), why)
}

# Those that are not known as runs'. A folder in a file's place is one, whatever was there before.
others_files <- function(config, files) {
  paths <- file.path(config$output_dir, files)
  unknown <- setdiff(files[is_file(paths)], own_files(config))
  c(files[dir.exists(paths)], if (length(unknown)) setdiff(unknown, whole_calls(config)))
}

is_file <- function(paths) is_there(paths) & !dir.exists(paths)

# A link to what is not, such as a disk that is not mounted, is there too.
is_there <- function(paths) {
  file.exists(paths) | !Sys.readlink(paths) %in% c("", NA)
}

# Of a file in the folder its path there, else nothing.
path_in <- function(file, folder) {
  if (is.null(file)) {
    return(character())
  }
  folder <- paste0(normalizePath(folder, mustWork = FALSE), "/")
  file <- normalizePath(file, mustWork = FALSE)
  if (startsWith(file, folder)) substring(file, nchar(folder) + 1) else character()
}
