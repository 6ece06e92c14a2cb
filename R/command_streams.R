# Standard streams of the command line. Progress, logs and problems go to standard error.

# Replaces each input pipe in `parsed` by a temporary file with its contents, because readers open a
# file twice. Pipes are standard input (-) and pipes such as <(...).
keep_pipes <- function(parsed) {
  parsed$arguments <- vapply(parsed$arguments, kept_pipe, "", USE.NAMES = FALSE)
  options <- setdiff(names(Filter(is.character, parsed)), c("arguments", output_options))
  parsed[options] <- lapply(parsed[options], kept_pipe)
  parsed
}

# The path itself, or a file with the contents of the pipe.
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

# Files in this folder have the names of pipes, for messages.
folder_of_pipes <- function() file.path(tempdir(), "pipes")

# Writes lines to a file, or to standard output if `path` is -.
write_lines <- function(path, lines) {
  if (path != "-") {
    return(write_text(path, lines))
  }
  # R's own connection would not report a full disk.
  flush(stdout())
  bytes <- charToRaw(paste0(enc2utf8(lines), "\n", collapse = ""))
  with_watch("Writing", function(watch) write_standard_output_impl(bytes, watch))
}

write_tsv <- function(path, table) write_lines(path, tsv_lines(table))

# Prints the summary of a result, to standard error if the result itself is on standard output.
print_beside <- function(path, x, ...) {
  if (path == "-") {
    writeLines(utils::capture.output(print(x, ...)), stderr())
  } else {
    print(x, ...)
  }
}

wrote <- function(paths) cat(sprintf("Wrote %s\n", paths), sep = "")
