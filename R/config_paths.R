# Paths of a run's files.

# True for files that a run would write, under any path of their folders.
is_written <- function(paths, config) {
  species <- c(config$outgroups$name, config$focal_species)
  folders <- c(config$output_dir, projected_folder(config, species))
  paths <- normalizePath(paths, mustWork = FALSE)
  dirname(paths) %in% normalizePath(folders, mustWork = FALSE) &
    basename(paths) %in% paste0(names(config$lengths), ".fa")
}

fitted_files <- c(model = "fitted_model.yml", history = "fitted_history.yml")

# Relative to a run's output folder.
evaluation_file <- function(chromosome) {
  file.path("evaluation", paste0(chromosome, ".evaluation.txt", recycle0 = TRUE))
}

projected_files <- function(config, species) {
  folders <- rep(projected_folder(config, species), each = length(config$lengths))
  sequence_path(folders, rep(names(config$lengths), times = length(species)))
}

# `folder`: the output folder of a run.
phred_path <- function(folder, chromosome) file.path(folder, phred_file(chromosome))

phred_file <- function(chromosome) {
  file.path("posterior", chromosome_file(chromosome, ".phred"))
}

# Relative to a run's work folder.
fit_file <- ".ancify/fitted.json"

calls_and_posteriors <- function(chromosomes, posterior) {
  c(sequence_file(chromosomes), if (posterior) phred_file(chromosomes))
}

# Relative to a run's work folder, one species after another.
projections_of <- function(species, chromosomes) {
  species <- rep(species, each = length(chromosomes))
  file.path("projected", species, sequence_file(chromosomes))
}

run_record_file <- "ancify_run.json"

summary_files <- c(run_record_file, unname(fitted_files))

run_record_path <- function(folder) file.path(folder, run_record_file)

tasks_not_kept <- function(config) file.path(config$work_dir, ".ancify", "not_kept")

all_phases <- c("project", "call", "evaluate")

projected_folder <- function(config, species) {
  file.path(config$not_kept_in %||% config$work_dir, "projected", species)
}

# A data frame of chromosome, name (in the files) and path. The rows of a chromosome are in the
# order of the species. Chromosomes that the first species lacks are omitted.
outgroup_files <- function(folder, species, chromosomes) {
  bad <- species[!names_a_species(species)]
  refuse_if(length(bad), "The outgroup %s of `history` cannot name a folder: rename it.",
            quoted(bad[1]))
  folders <- file.path(folder, species)
  absent <- folders[!dir.exists(folders)]
  refuse_file_if(
    length(absent), absent[1],
    paste(
      "%s does not exist. `projected` must have a folder for each outgroup of the history:",
      "run with `keep_projected: true`, which keeps them."
    ),
    quoted(absent[1])
  )
  pattern <- sequence_path(folders[1], "{chrom}")
  found <- pattern_files(pattern, chromosomes)
  refuse_if(length(chromosomes) && all(is.na(found)),
            no_pattern_file("projected", folders[1], pattern, chromosomes))
  files <- basename(found[!is.na(found)])
  list2DF(core_list(
    "OutgroupFiles",
    chromosome = rep(chromosomes[!is.na(found)], each = length(species)),
    name = rep(sub("[.]fa$", "", files), each = length(species)),
    path = file.path(rep(folders, length(files)), rep(files, each = length(species)))
  ))
}
