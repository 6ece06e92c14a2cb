# Paths of a run's files.

# Whether a run would write these files, even if their folders have other names here.
is_written <- function(paths, config) {
  species <- c(config$outgroups$name, config$focal_species)
  folders <- c(config$output_dir, projected_folder(config, species))
  paths <- normalizePath(paths, mustWork = FALSE)
  dirname(paths) %in% normalizePath(folders, mustWork = FALSE) &
    basename(paths) %in% paste0(names(config$lengths), ".fa")
}

fitted_files <- c(model = "fitted_model.yml", history = "fitted_history.yml")

# In the output folder of a run.
evaluation_file <- function(chromosome) {
  file.path("evaluation", paste0(chromosome, ".evaluation.txt", recycle0 = TRUE))
}

projected_files <- function(config, species) {
  folders <- rep(projected_folder(config, species), each = length(config$lengths))
  sequence_path(folders, rep(names(config$lengths), times = length(species)))
}

# In the output folder of a run.
phred_path <- function(folder, chromosome) file.path(folder, phred_file(chromosome))

phred_file <- function(chromosome) {
  file.path("posterior", paste0(chromosome, ".phred", recycle0 = TRUE))
}

# In the work folder of a run.
fit_file <- ".ancify/fitted.json"

calls_and_posteriors <- function(chromosomes, posterior) {
  c(sequence_file(chromosomes), if (posterior) phred_file(chromosomes))
}

# In the work folder of a run, species by species.
projections_of <- function(species, chromosomes) {
  species <- rep(species, each = length(chromosomes))
  file.path("projected", species, sequence_file(chromosomes))
}

run_record_file <- "ancify_run.json"

summary_files <- c(run_record_file, unname(fitted_files))

sequence_path <- function(folder, chromosome) file.path(folder, sequence_file(chromosome))

sequence_file <- function(chromosome) paste0(chromosome, ".fa", recycle0 = TRUE)

run_record_path <- function(folder) file.path(folder, run_record_file)

tasks_not_kept <- function(config) file.path(config$work_dir, ".ancify", "not_kept")

all_phases <- c("project", "call", "evaluate")

projected_folder <- function(config, species) {
  file.path(config$not_kept_in %||% config$work_dir, "projected", species)
}
