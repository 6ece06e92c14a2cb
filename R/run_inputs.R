# Which files a run reads, and in which state. The attribute `inputs` of a configuration has an
# identity for each, by path, taken before the run reads them. The core opens no other file under
# such a path, and looks at the end of reading whether the file is still the same.

# `identity` is the core's: inode, size, and the times of the last change of contents and of any
# change. The rest is for people, and for file systems whose times are coarse.
file_identity <- function(path) {
  facts <- file_identity_impl(path)
  facts$modified <- sprintf("%.6f", facts$modified)
  facts
}

# NULL for one that can't be read.
identity_if_readable <- function(path) {
  tryCatch(file_identity(path), ancify_error = function(condition) NULL)
}

# The configuration with identities of these files, as they are now.
with_inputs <- function(config, paths, identify = file_identity) {
  paths <- unique(paths)
  attr(config, "inputs")[paths] <- lapply(paths, identify)
  config
}

# Alignments and focal genome, which need not be there where nothing is projected.
with_alignments <- function(config, phases) {
  identify <- if ("project" %in% phases) file_identity else identity_if_readable
  with_inputs(config, c(config$outgroups$alignment, config$focal_fasta), identify)
}

# As with_inputs(), for files that this session has written, or has found as they were written.
with_seen <- function(config, ledger, paths) {
  known <- mget(paths, ledger$seen, ifnotfound = list(NULL))
  attr(config, "inputs")[ledger_paths(ledger, paths)] <- lapply(known, function(identity) {
    list(identity = identity)
  })
  config
}

# NULL for a file that could not be read.
input_identity <- function(config, path) attr(config, "inputs")[[path]]

# Rows of a run's record.
inputs_on_record <- function(config, paths) {
  unname(lapply(paths, function(path) c(list(path = path), input_identity(config, path))))
}

# What a native job takes: the core's identities by path.
expected_inputs <- function(config) {
  unlist(lapply(attr(config, "inputs"), `[[`, "identity"))
}
