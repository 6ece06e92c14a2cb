# Folders, options and what lies in files.

new_folder <- function() {
  folder <- tempfile("ancify-test-")
  dir.create(folder)
  folder
}

# Every file and folder in a folder, temporary names too.
content_of <- function(folder) {
  files <- list.files(
    folder, all.files = TRUE, recursive = TRUE, include.dirs = TRUE, no.. = TRUE
  )
  # What runs keep for themselves beside calls, from the first of them on
  setdiff(files, c(".ancify", ".ancify/ledger", ".ancify/ledger.copy"))
}

# Checksums by the files' paths within a folder.
content_of_files <- function(folder) {
  files <- list.files(folder, all.files = TRUE, recursive = TRUE, no.. = TRUE)
  stats::setNames(tools::md5sum(file.path(folder, files)), files)
}

with_options <- function(values, code) {
  old <- options(values)
  on.exit(options(old))
  code
}

with_chunk_size <- function(bytes, code) {
  with_options(list(ancify.chunk_size = bytes), code)
}

yaml_file <- function(...) {
  file <- tempfile(fileext = ".yaml")
  writeLines(c(...), file)
  file
}

# A function that gives the paths of files in a folder
paths_in <- function(folder) function(name) file.path(folder, name)

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

lengths_of <- function(...) {
  lengths <- c(...)
  stopifnot(is.numeric(lengths), !is.null(names(lengths)))
  lengths
}

# Projects into memory and into files, at 1 and 2 threads; which of these differ from what is
# expected.
differing <- function(axt, lengths, expected, ...) {
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  paths <- setNames(file.path(folder, paste0(names(lengths), ".fa")), names(lengths))
  # Random blocks overlap.
  project <- function(...) {
    suppressWarnings(project_axt(axt, lengths, ...), classes = "ancify_projection_warning")
  }
  in_memory <- function(threads) {
    identical(project(threads = threads, ...), expected)
  }
  in_files <- function(threads) {
    written <- project(output_dir = folder, threads = threads, ...)
    identical(written, paths) &&
      identical(lapply(written, file_bytes), fasta_bytes(expected)) &&
      identical(content_of(folder), sort(basename(paths)))
  }
  good <- c(
    memory_1 = in_memory(1), memory_2 = in_memory(2),
    files_1 = in_files(1), files_2 = in_files(2)
  )
  names(good)[!good]
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

# A file's CRC-32 as gzip writes it, in hexadecimal digits.
crc32_by_gzip <- function(path) {
  packed <- tempfile()
  on.exit(unlink(packed))
  system2("gzip", c("-c", shQuote(path)), stdout = packed)
  tail <- utils::tail(file_bytes(packed), 8)
  paste(rev(as.character(tail[1:4])), collapse = "")
}

# A function of the package in another form while `code` runs.
with_function <- function(name, replacement, code) {
  old <- get(name, asNamespace("ancify"))
  utils::assignInNamespace(name, replacement, "ancify")
  on.exit(utils::assignInNamespace(name, old, "ancify"))
  code
}

primates_folder <- function() test_data("primates_hg18_100k")

# Changes a ledger as an attacker would: its checksum is right again. `of`: "sources", or a column.
forge_ledger <- function(folder, of, from, to) {
  ledger <- open_ledger(folder)
  change <- function(text) {
    changed <- sub(from, to, text)
    if (identical(changed, text)) stop("nothing to forge: ", from)
    changed
  }
  if (of == "sources") {
    ledger$sources <- change(ledger$sources)
  } else {
    rows <- ledger_rows(ledger)
    rows[[of]] <- change(rows[[of]])
    set_rows(ledger, rows)
  }
  write_ledger(ledger)
}

# Several processes write a set of files and read it, for at least three seconds and until each
# reader has found more than `least` whole sets; for a minute at most. `write`: a function of 0, 1
# or 2, the name of a writer. `read`: gives the names of the writers whose files it has found.
expect_never_mixed <- function(write, read, least = 10) {
  write(0)
  started <- Sys.time()
  # How long each process goes on depends on the load of the machine.
  many_times <- function(code, is_done) {
    results <- list()
    repeat {
      results[[length(results) + 1]] <- tryCatch(code(), ancify_error = identity)
      seconds <- as.numeric(Sys.time() - started, units = "secs")
      if (seconds > 60 || seconds > 3 && is_done(results)) break
    }
    results
  }
  ended <- tempfile("ended", c(tempdir(), tempdir()))
  readers <- lapply(ended, function(file) {
    parallel::mcparallel({
      found <- many_times(read, function(results) sum(vapply(results, is.character, NA)) > least)
      file.create(file)
      found
    })
  })
  writers <- lapply(0:2, function(k) {
    parallel::mcparallel(many_times(function() write(k), function(results) all(file.exists(ended))))
  })
  found <- unlist(parallel::mccollect(readers), recursive = FALSE)
  written <- unlist(parallel::mccollect(writers), recursive = FALSE)
  expect_false(any(vapply(written, inherits, NA, "error")))
  # Files that are replaced after they were opened are an error.
  whole <- Filter(is.character, found)
  expect_gt(length(whole), least)
  expect_identical(unique(lengths(whole)), 1L)
  expect_true(all(unlist(whole) %in% as.character(0:2)))
}
