# Folders, options and what lies in files.

new_folder <- function() {
  folder <- tempfile("ancify-test-")
  dir.create(folder)
  folder
}

# Every file and folder in a folder, temporary names too.
content_of <- function(folder) {
  list.files(folder, all.files = TRUE, recursive = TRUE, include.dirs = TRUE, no.. = TRUE)
}

with_options <- function(values, code) {
  old <- options(values)
  on.exit(options(old))
  code
}

with_chunk_size <- function(bytes, code) {
  with_options(list(ancify.chunk_size = bytes), code)
}

with_folder <- function(folder, code) {
  old <- setwd(folder)
  on.exit(setwd(old))
  code
}

file_bytes <- function(path) {
  readBin(path, "raw", file.size(path))
}

# One block of an alignment. Without `end` the coordinates fit the row.
axt_block <- function(chromosome, start, focal, outgroup,
                      end = start + nchar(gsub("-", "", focal)) - 1) {
  c(sprintf("0 %s %.0f %.0f other 1 100 + 5", chromosome, start, end), focal, outgroup, "")
}

axt_file <- function(..., path = tempfile(fileext = ".axt")) {
  write_axt(c(...), path)
}

# The bytes of FASTA files as they must be, one per sequence.
fasta_bytes <- function(sequences) {
  Map(function(name, bases) charToRaw(paste0(">", name, "\n", bases, "\n")),
      names(sequences), sequences)
}

# Calls by the oracle where only few columns differ: each distinct one is called once.
vote_by_column <- function(inner, outer, ...) {
  columns <- do.call(paste0, strsplit(c(inner, outer), ""))
  distinct <- unique(columns)
  rows <- function(which) {
    vapply(which, function(i) paste(substr(distinct, i, i), collapse = ""), "")
  }
  tiers <- list(rows(seq_along(inner)), rows(length(inner) + seq_along(outer)))
  calls <- strsplit(oracle_vote(tiers[[1]], tiers[[2]], ...), "")[[1]]
  paste(calls[match(columns, distinct)], collapse = "")
}
