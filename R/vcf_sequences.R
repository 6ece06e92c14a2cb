# The files of sequences and posteriors with which records of a VCF are compared.

# The sequences to compare records with; `ancestral` and `reference` may be NULL.
record_sequences <- function(chromosomes, ancestral, reference) {
  core_list(
    "RecordSequences",
    chromosomes = chromosomes, ancestral = sequence_files(ancestral, chromosomes, "ancestral"),
    phred = run_posteriors(ancestral %||% "", chromosomes),
    reference = sequence_files(reference, chromosomes, "reference")
  )
}

# A data frame of the path of each chromosome's file, for the core.
chromosome_files <- function(chromosome, path) {
  list2DF(core_list("FileColumns", chromosome = chromosome, path = path))
}

# A data frame of SequenceFile: path and chromosome, which is "" if the file names its sequences.
sequence_files <- function(path, chromosomes, name) {
  # A file without records needs no sequences.
  if (is.null(path) || length(chromosomes) == 0) {
    return(chromosome_files(character(), character()))
  }
  if (!dir.exists(path) && !has_placeholder(path)) {
    return(chromosome_files("", path))
  }
  pattern <- if (dir.exists(path)) file.path(path, "{chrom}.fa") else path
  files <- first_existing(function(names) only_of_run(fill_pattern(pattern, names), path),
                          chromosomes)
  refuse_if(all(is.na(files)), no_pattern_file(name, path, pattern, chromosomes))
  warn_about_mixed_calls(files[!is.na(files)])
  chromosome_files(chromosomes, files)[!is.na(files), ]
}

# The files of posteriors of a run with `posterior: true`, by chromosome.
run_posteriors <- function(path, chromosomes) {
  if (!dir.exists(path) || length(chromosomes) == 0) {
    return(chromosome_files(character(), character()))
  }
  files <- first_existing(function(names) only_of_run(find_phred(path, names), path), chromosomes)
  chromosome_files(chromosomes, files)[!is.na(files), ]
}

# Whether ancestral alleles come from the records' INFO.
is_info <- function(ancestral) identical(ancestral, "AA")
