# Checks for files that a run would replace.

check_would_replace <- function(config, phases) {
  c(
    look_in_folder("work_dir", config$work_dir, projections_replaced(config, phases), config$file),
    look_in_folder("output_dir", config$output_dir, files_replaced(config, phases), config$file)
  )
}

# A damaged ledger is a finding, not an error.
look_in_folder <- function(key, folder, files, config_file) {
  found <- function(what, file) finding("permission", key, "error", what, file)
  ledger <- tryCatch(open_ledger(folder), ancify_file_error = identity)
  if (inherits(ledger, "condition")) {
    return(found(conditionMessage(ledger), ledger$file))
  }
  foreign <- c(foreign_files(ledger, files), intersect(path_in(config_file, folder), files))
  if (length(foreign)) {
    found(in_the_way(ledger, foreign[1], config_file), ledger_paths(ledger, foreign[1]))
  }
}

# Files that the phases write or remove in the output folder.
files_replaced <- function(config, phases) {
  chromosomes <- names(config$lengths)
  c(
    # A run removes posteriors of earlier calls.
    if ("call" %in% phases) c(calls_and_posteriors(chromosomes, posterior = TRUE), summary_files),
    if (any(c("call", "evaluate") %in% phases)) evaluation_file(chromosomes)
  )
}

# Files that the phases write to the work folder. Calling uses existing focal bases unchanged.
projections_replaced <- function(config, phases) {
  if ("project" %in% phases && !keeps_projections(config, phases)) {
    return(character())
  }
  species <- species_projected(config, phases)
  if (!"project" %in% phases && has_focal(config)) species <- character()
  projections_of(species, names(config$lengths))
}
