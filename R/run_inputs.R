# Identities of the files that a run reads. The attribute `inputs` of a configuration has one for
# each path, taken before the run reads it. The core opens only a file with that identity, and
# checks it again when it has read the file.

# `identity` is for the core: inode, size, and the times of the last change of contents and of any
# change. The other facts are for readers, and for file systems with coarse times.
file_identity <- function(path) {
  facts <- file_identity_impl(path)
  facts$modified <- sprintf("%.6f", facts$modified)
  facts
}

# NULL if the file cannot be read.
identity_if_readable <- function(path) {
  tryCatch(file_identity(path), ancify_error = function(condition) NULL)
}

# Adds the present identities of these files to the configuration.
with_inputs <- function(config, paths, identify = file_identity) {
  paths <- unique(paths)
  attr(config, "inputs")[paths] <- lapply(paths, identify)
  config
}

# Adds alignments and genomes. They may be missing if nothing is projected.
with_alignments <- function(config, phases) {
  identify <- if ("project" %in% phases) file_identity else identity_if_readable
  outgroups <- config$outgroups
  with_inputs(
    config, c(outgroups$alignment, stats::na.omit(outgroups$twobit), config$focal_fasta), identify
  )
}

# As with_inputs(), for files that this session wrote or verified by checksum.
with_seen <- function(config, ledger, paths) {
  known <- mget(paths, ledger$seen, ifnotfound = list(NULL))
  attr(config, "inputs")[ledger_paths(ledger, paths)] <- lapply(known, function(identity) {
    list(identity = identity)
  })
  config
}

# NULL if the file could not be read.
input_identity <- function(config, path) attr(config, "inputs")[[path]]

lengths_of_genome <- function(config) {
  path <- config$chromosome_lengths
  read_chromosome_lengths(path, input_identity(config, path)$identity %||% "")
}

# Rows of inputs for a run's record.
inputs_on_record <- function(config, paths) {
  unname(lapply(paths, function(path) c(list(path = path), input_identity(config, path))))
}

# Identities by path, for a job of the core.
expected_inputs <- function(config) {
  unlist(lapply(attr(config, "inputs"), `[[`, "identity"))
}
