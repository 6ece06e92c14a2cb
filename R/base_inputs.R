# Identities of the files that a job reads. The attribute `inputs` of a configuration holds an
# identity for each path, taken before the job reads the file. The core opens only a file with this
# identity, and checks it again after reading.

# `identity` is for the core: inode, size, modification time and change time. The other facts are
# for people, and for file systems with coarse timestamps.
file_identity <- function(path) {
  facts <- file_identity_impl(path)
  facts$modified <- sprintf("%.6f", facts$modified)
  facts
}

# NULL if the file cannot be read.
identity_if_readable <- function(path) {
  tryCatch(file_identity(path), ancify_error = function(condition) NULL)
}

# Adds the current identities of these files to the configuration.
with_inputs <- function(config, paths, identify = file_identity) {
  paths <- unique(paths)
  attr(config, "inputs")[paths] <- lapply(paths, identify)
  config
}

# NULL if the file could not be read.
input_identity <- function(config, path) attr(config, "inputs")[[path]]

# Rows of inputs for a run's record.
inputs_on_record <- function(config, paths) {
  identities <- unname(attr(config, "inputs")[paths])
  Map(function(path, identity) c(list(path = path), identity), paths, identities,
      USE.NAMES = FALSE)
}

# Identities by path, for a job of the core.
expected_inputs <- function(config) {
  unlist(lapply(attr(config, "inputs"), `[[`, "identity"))
}
