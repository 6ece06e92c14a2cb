# The files of sequences, posteriors and outgroups that records of a VCF are compared with.

# The sequences to compare records with; `ancestral` and `reference` may be NULL.
record_sequences <- function(chromosomes, ancestral, reference) {
  list(
    chromosomes = chromosomes, ancestral = sequence_files(ancestral, chromosomes, "ancestral"),
    phred = run_posteriors(ancestral %||% "", chromosomes),
    reference = sequence_files(reference, chromosomes, "reference")
  )
}

# A data frame of SequenceFile: path and chromosome, "" if the file names its sequences.
sequence_files <- function(path, chromosomes, name) {
  # A file without records needs no sequences.
  if (is.null(path) || length(chromosomes) == 0) {
    return(data.frame(chromosome = character(), path = character()))
  }
  if (!dir.exists(path) && !has_placeholder(path)) {
    return(data.frame(chromosome = "", path = path))
  }
  pattern <- if (dir.exists(path)) file.path(path, "{chrom}.fa") else path
  files <- pattern_files(pattern, chromosomes)
  if (all(is.na(files))) {
    abort_ancify(no_pattern_file(name, path, pattern, chromosomes), "input")
  }
  data.frame(chromosome = chromosomes, path = files)[!is.na(files), ]
}

# The files of posteriors of a run with `posterior: true`, by chromosome.
run_posteriors <- function(path, chromosomes) {
  if (!dir.exists(path) || length(chromosomes) == 0) {
    return(data.frame(chromosome = character(), path = character()))
  }
  files <- first_existing(
    find_phred(path, chromosomes), find_phred(path, other_prefix(chromosomes))
  )
  data.frame(chromosome = chromosomes, path = files)[!is.na(files), ]
}

# list(history =, projected =, samples =), or NULL without a history.
check_sample_history <- function(history, projected, samples, ancestral) {
  if (is.null(history)) {
    given <- c("projected", "samples")[c(!is.null(projected), !is.null(samples))]
    if (length(given)) {
      abort_ancify(
        sprintf("`%s` needs a `history`: give one, or leave it out.", given[1]),
        "input"
      )
    }
    return(NULL)
  }
  history <- check_history(history)
  if (is.null(names(history$splits))) {
    abort_ancify(
      "The splits of `history` have no names: name them after the outgroups in `projected`.",
      "input"
    )
  }
  list(
    history = history, samples = check_sample_names(samples),
    projected = check_path(projected %||% run_projected(ancestral), "projected")
  )
}

core_sample_history <- function(given, chromosomes) {
  if (is.null(given)) {
    return(NULL)
  }
  history <- given$history
  list(
    history = core_history(history), model = core_mutation_model(history),
    outgroups = outgroup_files(given$projected, names(history$splits), chromosomes),
    samples = given$samples
  )
}

check_sample_names <- function(samples) {
  if (is.null(samples)) {
    return(character())
  }
  if (!is.character(samples) || !length(samples) || anyNA(samples) || anyDuplicated(samples)) {
    abort_ancify(
      sprintf("`samples` must be names of samples, each once, not %s.", show_value(samples)),
      "input"
    )
  }
  enc2utf8(samples)
}

run_projected <- function(ancestral) {
  if (!inherits(ancestral, "ancify_run")) {
    abort_ancify(
      paste(
        "`projected` is missing, but `history` needs it: give the folder of the outgroups'",
        "projected sequences, or an ancify_run as `ancestral`."
      ),
      "input"
    )
  }
  file.path(attr(ancestral, "config")$work_dir, "projected")
}

# A data frame of chromosome, name (in the files) and path. The rows of a chromosome are in the
# order of the species. Chromosomes that the first species lacks are left out.
outgroup_files <- function(folder, species, chromosomes) {
  folders <- file.path(folder, species)
  absent <- folders[!dir.exists(folders)]
  if (length(absent)) {
    abort_ancify(
      sprintf(
        paste(
          "%s does not exist. `projected` must have a folder for each outgroup of the history:",
          "run with `keep_projected: true`, which keeps them."
        ),
        quoted(absent[1])
      ),
      "file", file = absent[1]
    )
  }
  first <- sequence_files(folders[1], chromosomes, "projected")
  files <- basename(first$path)
  data.frame(
    chromosome = rep(first$chromosome, each = length(species)),
    name = rep(sub("[.]fa$", "", files), each = length(species)),
    path = file.path(rep(folders, length(files)), rep(files, each = length(species)))
  )
}
