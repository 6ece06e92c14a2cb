# Which files in the output folder are runs' own: <output_dir>/.ancify_files names them, by their
# paths in it. A run replaces and removes no others.

own_list <- function(folder) file.path(folder, ".ancify_files")

own_files <- function(config) {
  tryCatch(
    suppressWarnings(readLines(own_list(config$output_dir), encoding = "UTF-8")),
    # Copies of a folder may lack the list, which is hidden.
    error = function(condition) union(files_on_record(config$output_dir), files_in_manifest(config))
  )
}

files_on_record <- function(folder) {
  record <- record_in(folder)
  if (is.null(record)) {
    return(character())
  }
  chromosomes_of <- function(rows) vapply(rows, `[[`, "", "chromosome")
  c(
    call_files_of(chromosomes_of(record$chromosomes), isTRUE(record$settings$posterior)),
    evaluation_path(chromosomes_of(record$evaluation)), if (length(record$fit)) fitted_files,
    run_record_file
  )
}

# The calls that are as the manifest has them, and what belongs to them.
files_in_manifest <- function(config) {
  manifest <- open_manifest(config, TRUE, function(line) NULL)
  entry <- manifest$called[[manifest$output]]
  rows <- entry$chromosomes
  if (!length(rows$chromosome)) {
    return(character())
  }
  calls <- call_files_of(rows$chromosome, posterior = !is.null(rows$phred_size))
  table <- data.frame(
    path = file.path(config$output_dir, calls), size = c(rows$size, rows$phred_size),
    checksum = c(rows$checksum, rows$phred_checksum)
  )
  whole <- calls[as_written(table, choose_backend("cpu", config$num_cpus), FALSE)]
  c(
    whole, evaluation_path(rows$chromosome[sequence_file(rows$chromosome) %in% whole]),
    if (length(whole) && !is.null(entry$made_from$fitted_to)) fitted_files
  )
}

call_files_of <- function(chromosomes, posterior) {
  c(sequence_file(chromosomes), if (posterior) phred_file(chromosomes))
}

run_record_file <- "ancify_run.json"
summary_files <- c(run_record_file, unname(fitted_files))

# What the phases write or remove.
files_replaced <- function(config, phases) {
  chromosomes <- names(config$lengths)
  c(
    # Posteriors of earlier calls are removed.
    if ("call" %in% phases) c(call_files_of(chromosomes, posterior = TRUE), summary_files),
    if (any(c("call", "evaluate") %in% phases)) evaluation_path(chromosomes)
  )
}

# Before they are written or removed: others may have come since the look.
claim_files <- function(config, files) {
  folder <- config$output_dir
  others <- others_files(config, files)
  if (length(others)) {
    abort_ancify(in_the_way(config, others[1]), "file", file = file.path(folder, others[1]))
  }
  noted <- own_files(config)
  if (!file.exists(own_list(folder)) || !all(files %in% noted)) {
    write_text(own_list(folder), union(noted, files))
  }
}

# Evaluates `job`, which claims files. What it removed, or did not come to write, is no run's when
# it has ended.
with_claims <- function(config, in_tasks, job) {
  done <- FALSE
  # Tasks may be at work for a moment longer than what failed.
  on.exit(if (done || !in_tasks) disown_absent(config))
  result <- job
  done <- TRUE
  result
}

disown_absent <- function(config) {
  folder <- config$output_dir
  if (file.exists(own_list(folder))) {
    noted <- own_files(config)
    paths <- file.path(folder, noted)
    there <- is_there(paths) & !dir.exists(paths)
    if (!all(there)) write_text(own_list(folder), noted[there])
  }
}

# Before calls are made: what tells of those that will not be there any more goes.
begin_calls <- function(config, log) {
  other <- other_settings(config)
  if (length(other)) {
    log(sprintf("Calls in %s, made with another %s, are replaced", quoted(config$output_dir),
                enumerate(other)))
  }
  claim_files(config, files_replaced(config, "call"))
  unlink(file.path(config$output_dir, summary_files), expand = FALSE)
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

# Those that no run has written. A folder in a file's place is one, whatever was there before.
others_files <- function(config, files) {
  paths <- file.path(config$output_dir, files)
  is_folder <- dir.exists(paths)
  c(files[is_folder], setdiff(files[is_there(paths) & !is_folder], own_files(config)))
}

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
