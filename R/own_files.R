# Which files in the output folder are runs' own: <output_dir>/.ancify_files names them, by their
# paths in it. A run replaces and removes no others.

own_list <- function(folder) file.path(folder, ".ancify_files")

own_files <- function(folder) {
  if (file.exists(own_list(folder))) {
    return(readLines(own_list(folder), encoding = "UTF-8"))
  }
  # Copies of a folder may lack the list, which is hidden.
  record <- read_record_json(run_record_path(folder))
  if (!is_run_record(record)) {
    return(character())
  }
  chromosomes_of <- function(rows) {
    unlist(lapply(rows, function(row) if (is.list(row)) row$chromosome))
  }
  c(
    call_files_of(chromosomes_of(record$chromosomes), isTRUE(record$settings$posterior)),
    evaluation_path(chromosomes_of(record$evaluation)), if (length(record$fit)) fitted_files,
    run_record_file
  )
}

call_files_of <- function(chromosomes, posterior = TRUE) {
  c(paste0(chromosomes, ".fa"), if (posterior) phred_file(chromosomes))
}

run_record_file <- "ancify_run.json"
summary_files <- c(run_record_file, unname(fitted_files))

# Before they are written.
note_own_files <- function(folder, files) {
  noted <- own_files(folder)
  if (!file.exists(own_list(folder)) || !all(files %in% noted)) {
    write_text(own_list(folder), union(noted, files))
  }
}

# When they have been removed.
disown_files <- function(folder, files) {
  noted <- own_files(folder)
  if (any(files %in% noted)) write_text(own_list(folder), setdiff(noted, files))
}

# Before calls are made: what tells of those that will not be there any more goes.
begin_calls <- function(config, log) {
  folder <- config$output_dir
  other <- other_settings(config)
  if (length(other)) {
    log(sprintf("Calls in %s, made with another %s, are replaced", quoted(folder),
                enumerate(other)))
  }
  note_own_files(folder, call_files_of(names(config$lengths), config$posterior))
  unlink(file.path(folder, summary_files), expand = FALSE)
}

# What the phases write or remove.
files_replaced <- function(config, phases) {
  chromosomes <- names(config$lengths)
  c(
    if ("call" %in% phases) c(call_files_of(chromosomes), summary_files),
    if (any(c("call", "evaluate") %in% phases)) evaluation_path(chromosomes)
  )
}

check_would_replace <- function(config, phases) {
  folder <- config$output_dir
  files <- files_replaced(config, phases)
  found <- function(file, ...) {
    file <- file.path(folder, file)
    finding("permission", "output_dir", "error", sprintf(
      "%s%s would be replaced. Choose another `output_dir`, or move it away.", quoted(file), ...
    ), file)
  }
  others <- c(others_files(config, files), blocked_folders(config, phases))
  if (length(others)) {
    return(found(others[1], ", which no run has written,"))
  }
  own <- path_in(config$file, folder)
  if (length(own) && own %in% files) found(own, ", this configuration,")
}

others_files <- function(config, files) {
  others <- setdiff(files, own_files(config$output_dir))
  others <- others[file.exists(file.path(config$output_dir, others))]
  if (length(others)) others[!is_in_manifest(config, others)] else others
}

# Also where list and record are lost: the calls that the manifest knows, and what belongs to them.
is_in_manifest <- function(config, files) {
  manifest <- open_manifest(config, TRUE, function(line) NULL)
  entry <- manifest$called[[manifest$output]]
  rows <- entry$chromosomes
  calls <- call_files_of(rows$chromosome, !is.null(rows$phred_size))
  table <- data.frame(
    path = file.path(config$output_dir, calls), size = c(rows$size, rows$phred_size) %||% NA,
    checksum = c(rows$checksum, rows$phred_checksum) %||% NA
  )
  whole <- calls[as_written(table, choose_backend("cpu", config$num_cpus), FALSE)]
  evaluated <- evaluation_path(sub("[.]fa$", "", whole))
  fitted <- if (length(whole) && !is.null(entry$made_from$fitted_to)) fitted_files
  files %in% c(whole, evaluated, fitted)
}

# Folders that the phases make, with something else in their places.
blocked_folders <- function(config, phases) {
  folders <- c(
    if ("call" %in% phases && config$posterior) "posterior",
    if ("evaluate" %in% phases) "evaluation"
  )
  paths <- file.path(config$output_dir, folders)
  folders[file.exists(paths) & !dir.exists(paths)]
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
