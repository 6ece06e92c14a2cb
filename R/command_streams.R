# Standard streams of the command line. Progress, logs and problems go to the standard error.

# `parsed` with a file for each input pipe: the standard input for -, and pipes such as <(...). A
# temporary file holds all of a pipe, because readers open a file twice.
keep_pipes <- function(parsed) {
  parsed$arguments <- vapply(parsed$arguments, kept_pipe, "", USE.NAMES = FALSE)
  options <- setdiff(names(Filter(is.character, parsed)), c("arguments", output_options))
  parsed[options] <- lapply(parsed[options], kept_pipe)
  parsed
}

# The path itself unless it is a pipe.
kept_pipe <- function(path) {
  if (path != "-" && !are_special_files_impl(path)) {
    return(path)
  }
  kept <- file.path(folder_of_pipes(), if (path == "-") "standard input" else path)
  dir.create(dirname(kept), showWarnings = FALSE, recursive = TRUE)
  from <- file(if (path == "-") "stdin" else path, "rb", raw = path != "-")
  to <- file(kept, "wb")
  on.exit({
    close(from)
    close(to)
  })
  while (length(bytes <- readBin(from, "raw", 2^20))) writeBin(bytes, to)
  kept
}

# A path in this folder has a pipe's name, for messages.
folder_of_pipes <- function() file.path(tempdir(), "pipes")

# Writes lines to a file, or for - to the standard output.
write_lines <- function(path, lines) {
  if (path != "-") {
    return(write_text(path, lines))
  }
  # R's own connection does not report a full disk.
  flush(stdout())
  bytes <- charToRaw(paste0(enc2utf8(lines), "\n", collapse = ""))
  with_watch("Writing", function(watch) write_standard_output_impl(bytes, watch))
}

write_tsv <- function(path, table) write_lines(path, tsv_lines(table))

# Prints the summary of a result. It goes to the standard error if the result itself is on the
# standard output.
print_beside <- function(path, x, ...) {
  if (path == "-") {
    writeLines(utils::capture.output(print(x, ...)), stderr())
  } else {
    print(x, ...)
  }
}

wrote <- function(paths) cat(sprintf("Wrote %s\n", paths), sep = "")
