# Configurations that run.

# A configuration with random alignments (or the lines that `axt` gives), the sequences and the
# calls expected. Keys of the configuration in `...`. It keeps projections, for tests to read.
random_config <- function(lengths = c(chr1 = 500, chr2 = 90, one = 1), n_inner = 2, n_outer = 1,
                          ..., axt = random_axt(lengths, n_blocks = 20)) {
  alignment <- substitute(axt)
  folder <- new_folder()
  sizes <- file.path(folder, "chrom.sizes")
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), sizes)
  species <- c(sprintf("inner%d", seq_len(n_inner)), sprintf("outer%d", seq_len(n_outer)))
  projected <- list()
  for (name in species) {
    lines <- eval(alignment)
    write_axt(lines, file.path(folder, paste0(name, ".axt")))
    projected[[name]] <- oracle_project(lines, lengths)
  }
  entries <- lapply(species, function(name) {
    list(name = name, alignment = file.path(folder, paste0(name, ".axt")))
  })
  config <- list(
    focal_species = "focal", chromosome_lengths = sizes,
    outgroups = list(
      inner = entries[seq_len(n_inner)], outer = entries[n_inner + seq_len(n_outer)]
    ),
    work_dir = file.path(folder, "work"), output_dir = file.path(folder, "calls"), num_cpus = 2,
    keep_projected = TRUE
  )
  changes <- list(...)
  config[names(changes)] <- changes
  list(
    folder = folder, config = config, lengths = lengths, projected = projected,
    calls = expected_calls(projected, n_inner)
  )
}

# Alignments of a few bases, where random ones would take the plain implementation long.
few_bases <- function(lengths, species) {
  # A comment tells the files apart: copies of an alignment are a warning.
  blocks <- lapply(names(lengths), function(name) axt_block(name, 2, "ACGT", "A-GC"))
  c(unlist(blocks), paste("#", species))
}

# By chromosome, from lists of sequences by species, inner ones first.
expected_calls <- function(projected, n_inner, ...) {
  chromosomes <- names(projected[[1]])
  vapply(chromosomes, function(chromosome) {
    species <- vapply(projected, `[[`, "", chromosome)
    inner <- seq_len(n_inner)
    vote_by_column(species[inner], species[-inner], ...)
  }, "")
}

# How a log names the CPU with this many threads.
cpu_backend <- function(threads) {
  plural <- if (threads == 1) "" else "s"
  sprintf("CPU backend (%s, %d thread%s)", ancify_build_info()$simd, threads, plural)
}

run_quietly <- function(...) {
  ancify_run(..., progress = FALSE, verbose = FALSE)
}

# Evaluates `code`, and calls action() when the function `done` ends: before the first call.
once_calls_begin <- function(action, code, done = "begin_calls") {
  where <- asNamespace("ancify")
  act <- bquote(.(action)())
  suppressMessages(trace(done, exit = act, where = where, print = FALSE))
  on.exit(suppressMessages(untrace(done, where = where)))
  code
}

# Expects exactly the files of the calls and the run's record.
expect_calls <- function(folder, calls) {
  expect_sequences(folder, calls, "ancify_run.json")
}

expect_sequences <- function(folder, calls, beside = NULL) {
  expect_identical(content_of(folder), sort(c(beside, paste0(names(calls), ".fa"))))
  paths <- file.path(folder, paste0(names(calls), ".fa"))
  expect_true(identical(lapply(paths, file_bytes), unname(fasta_bytes(calls))))
}

expect_projected <- function(work_dir, projected) {
  for (species in names(projected)) {
    expect_sequences(file.path(work_dir, "projected", species), projected[[species]])
  }
  expect_identical(list.files(file.path(work_dir, "projected")), sort(names(projected)))
}

# A run's result without its times and backend.
columns_of <- function(run) {
  unclass(run)[names(run)]
}

# The lines a run logs.
log_lines <- function(code) {
  lines <- character()
  withCallingHandlers(code, ancify_message = function(condition) {
    lines <<- c(lines, conditionMessage(condition))
    invokeRestart("muffleMessage")
  })
  lines
}

# The files of calls of a run, by chromosome.
calls_folder <- function(calls, folder = new_folder()) {
  for (name in names(calls)) {
    writeLines(c(paste0(">", name), calls[[name]]), file.path(folder, paste0(name, ".fa")))
  }
  folder
}

# By run, then by chromosome.
random_runs <- function(names, lengths) {
  lapply(stats::setNames(names, names), function(name) {
    vapply(lengths, function(n) {
      letters <- c("A", "C", "G", "T", "a", "c", "g", "t", "n", "N")
      paste(c(sample(letters, n, TRUE), letters)[seq_len(n)], collapse = "")
    }, "")
  })
}

# The example's configuration with calls by likelihood, and their posteriors.
example_with_posteriors <- function() {
  config <- ancify_example(new_folder())
  config$method <- "likelihood"
  config$tree <- "(((focal:0.02,near1:0.02):0.01,near2:0.03):0.05,far:0.08);"
  config$posterior <- TRUE
  config
}

# A run that takes long: many gzip members with the same blocks, of which the later ones win.
long_alignment <- function(gigabytes = 20) {
  n <- 2^20
  block <- paste(axt_block("chr1", 1, strrep("A", n), strrep("C", n)), collapse = "\n")
  member <- gzip_member(charToRaw(paste0(block, "\n\n")))
  path <- tempfile(fileext = ".axt.gz")
  connection <- file(path, "wb")
  on.exit(close(connection))
  for (i in seq_len(ceiling(gigabytes * 2^30 / (2 * n)))) writeBin(member, connection)
  path
}

# The vector instructions of this machine, the best last.
simd_levels <- function() {
  best <- match(ancify_build_info()$simd, c("AVX2", "AVX-512"), nomatch = 0)
  c("scalar", "avx2", "avx512")[seq_len(best + 1)]
}
