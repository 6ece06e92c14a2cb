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
  chromosomes <- vapply(record$chromosomes, `[[`, "", "chromosome")
  c(call_files_of(chromosomes), evaluation_path(chromosomes), summary_files)
}

call_files_of <- function(chromosomes, posterior = TRUE) {
  c(paste0(chromosomes, ".fa"), if (posterior) phred_file(chromosomes))
}

summary_files <- c("ancify_run.json", unname(fitted_files))

# Before they are written.
note_own_files <- function(folder, files) {
  noted <- own_files(folder)
  if (!file.exists(own_list(folder)) || !all(files %in% noted)) {
    write_text(own_list(folder), union(noted, files))
  }
}

# Before calls are made: what tells of those that will not be there any more goes.
begin_calls <- function(config, log) {
  folder <- config$output_dir
  other <- other_settings(config)
  if (length(other)) {
    log(sprintf("Calls in %s, made with another %s, are replaced", quoted(folder),
                enumerate(other)))
  }
  note_own_files(folder, c(
    call_files_of(names(config$lengths), config$posterior), basename(run_record_path(folder)),
    if (fits(config)) fitted_files
  ))
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
  others <- others_files(config, files)
  if (length(others)) {
    return(found(others[1], ", which no run has written,"))
  }
  own <- path_in(config$file, folder)
  if (length(own) && own %in% files) found(own, ", this configuration,")
}

others_files <- function(config, files) {
  others <- setdiff(files, own_files(config$output_dir))
  paths <- file.path(config$output_dir, others)
  others <- others[file.exists(paths) & !dir.exists(paths)]
  if (length(others)) others[!is_in_manifest(config, others)] else others
}

# Also where list and record are lost.
is_in_manifest <- function(config, files) {
  manifest <- open_manifest(config, TRUE, function(line) NULL)
  rows <- manifest$called[[manifest$output]]$chromosomes
  calls <- match(files, call_files_of(rows$chromosome))
  table <- data.frame(
    path = file.path(config$output_dir, files), size = c(rows$size, rows$phred_size)[calls] %||% NA,
    checksum = c(rows$checksum, rows$phred_checksum)[calls] %||% NA
  )
  as_written(table, choose_backend("cpu", config$num_cpus), FALSE)
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
