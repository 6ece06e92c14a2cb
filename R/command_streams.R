# Standard streams of the command line. Progress, logs and problems go to the standard error.

# A path to read. For - it is a temporary file with all of the standard input, as readers look at a
# file twice.
input_path <- function(path) {
  if (path != "-") {
    return(path)
  }
  spooled <- file.path(tempdir(), "standard-input")
  from <- file("stdin", "rb")
  to <- file(spooled, "wb")
  on.exit({
    close(from)
    close(to)
  })
  while (length(bytes <- readBin(from, "raw", 2^20))) writeBin(bytes, to)
  spooled
}

# Writes lines to a file, or for - to the standard output.
write_lines <- function(path, lines) {
  if (path == "-") writeLines(lines) else write_text(path, lines)
}

write_tsv <- function(path, table) {
  cells <- lapply(table, function(column) {
    if (is.double(column)) ifelse(is.na(column), "NA", exact_text(column)) else column
  })
  write_lines(path, c(paste(names(table), collapse = "\t"), do.call(paste, c(cells, sep = "\t"))))
}

# Prints what is told about a result. If the result itself is on the standard output, this goes to
# the standard error.
print_beside <- function(path, x, ...) {
  if (path == "-") {
    writeLines(utils::capture.output(print(x, ...)), stderr())
  } else {
    print(x, ...)
  }
}

wrote <- function(paths) cat(sprintf("Wrote %s\n", paths), sep = "")
