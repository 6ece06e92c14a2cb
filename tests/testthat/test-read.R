# Called bases and confidences of regions.

random_calls <- function(n) {
  letters <- c("A", "C", "G", "T", "a", "c", "g", "t", "n", "N", "-")
  paste(rep(sample(letters, n, TRUE), sample(3, n, TRUE))[seq_len(n)], collapse = "")
}

oracle_confidence <- function(call) {
  if (call %in% c("A", "C", "G", "T")) {
    "high"
  } else if (call %in% c("a", "c", "g", "t")) {
    "low"
  } else if (call == "n") {
    "unresolved"
  } else {
    "missing"
  }
}

oracle_reverse_complement <- function(calls) {
  other <- c(A = "T", C = "G", G = "C", T = "A", a = "t", c = "g", g = "c", t = "a")
  bases <- rev(strsplit(calls, "")[[1]])
  paste(ifelse(bases %in% names(other), other[bases], bases), collapse = "")
}

# One row for each range of equal confidence, found position by position.
oracle_runs <- function(calls, chromosome, start, end) {
  confidence <- vapply(strsplit(substr(calls, start, end), "")[[1]], oracle_confidence, "")
  runs <- rle(unname(confidence))
  ends <- start - 1 + cumsum(runs$lengths)
  data.frame(
    chromosome = rep(chromosome, length(ends)), start = ends - runs$lengths + 1, end = ends,
    name = runs$values
  )
}

runs_of <- function(ranges) {
  data.frame(
    chromosome = as.character(GenomicRanges::seqnames(ranges)),
    start = as.numeric(GenomicRanges::start(ranges)), end = as.numeric(GenomicRanges::end(ranges)),
    name = as.character(ranges$name)
  )
}

random_regions <- function(lengths, n) {
  chromosome <- sample(names(lengths), n, TRUE)
  start <- vapply(lengths[chromosome], sample, 0L, size = 1)
  end <- start + vapply(lengths[chromosome] - start + 1L, sample, 0L, size = 1) - 1L
  GenomicRanges::GRanges(
    chromosome, IRanges::IRanges(start, end), sample(c("+", "-", "*"), n, TRUE)
  )
}

test_that("regions have calls, reverse complements on the minus strand, and confidences", {
  require_package("Biostrings")
  require_package("GenomicRanges")
  set.seed(71)
  lengths <- c(chr2 = 900L, chr10 = 1L, chrX = 300L)
  calls <- vapply(lengths, random_calls, "")
  folder <- calls_folder(calls)
  regions <- random_regions(lengths, 60)
  got <- read_ancestral(folder, regions)
  expect_s4_class(got, "BStringSet")
  expect_null(names(got))
  chromosome <- as.character(GenomicRanges::seqnames(regions))
  start <- GenomicRanges::start(regions)
  end <- GenomicRanges::end(regions)
  plus <- substr(calls[chromosome], start, end)
  minus <- as.character(GenomicRanges::strand(regions)) == "-"
  expected <- ifelse(minus, vapply(plus, oracle_reverse_complement, ""), plus)
  expect_identical(as.character(got), unname(expected))
  names(regions) <- paste0("r", seq_along(regions))
  expect_identical(names(read_ancestral(folder, regions)), names(regions))

  runs <- read_confidence(folder, regions)
  expect_identical(levels(runs$name), c("high", "low", "unresolved", "missing"))
  expect_equal(
    runs_of(runs),
    do.call(rbind, Map(oracle_runs, calls[chromosome], chromosome, start, end)),
    ignore_attr = TRUE
  )
})

test_that("without regions whole chromosomes are read, in natural order", {
  require_package("Biostrings")
  require_package("GenomicRanges")
  set.seed(72)
  calls <- vapply(c(chr10 = 50, chr2 = 700, chr1_alt = 20, chr1 = 3), random_calls, "")
  folder <- calls_folder(calls)
  in_order <- calls[c("chr1", "chr1_alt", "chr2", "chr10")]
  expect_identical(as.character(read_ancestral(folder)), in_order)
  runs <- read_confidence(folder)
  expect_equal(
    runs_of(runs),
    do.call(rbind, Map(oracle_runs, in_order, names(in_order), 1, nchar(in_order))),
    ignore_attr = TRUE
  )
  lengths <- stats::setNames(as.integer(nchar(in_order)), names(in_order))
  expect_identical(GenomeInfoDb::seqlengths(runs), lengths)

  require_package("rtracklayer")
  bed <- tempfile(fileext = ".bed")
  rtracklayer::export(runs, bed)
  lines <- utils::read.delim(bed, header = FALSE)
  expect_equal(
    data.frame(lines[[1]], lines[[2]] + 1, lines[[3]], lines[[4]]), runs_of(runs),
    ignore_attr = TRUE
  )
})

test_that("a run is read like its folder, in the run's order of chromosomes", {
  require_package("Biostrings")
  set.seed(73)
  case <- random_config()
  run <- run_quietly(case$config)
  expect_identical(as.character(read_ancestral(run)), case$calls)
  expect_identical(names(read_ancestral(case$config$output_dir)), c("chr1", "chr2", "one"))
  writeLines(c(">chr2", "ACG"), run$file[2])
  expect_ancify_error(read_ancestral(run), "input", "chr2.fa", "has been replaced")
  # Only the run knows the lengths.
  rows <- structure(run, files = NULL)
  condition <- expect_ancify_error(
    read_ancestral(rows), "format", "chr2.fa", "3 bases", "run again"
  )
  expect_identical(condition$file, run$file[2])
  unlink(run$file[2])
  expect_ancify_error(read_ancestral(run), "file", "chr2.fa")
  for (damaged in list(run[0, ], run[, 1:2], rbind(run, run), replace(run, "file", 1))) {
    expect_ancify_error(read_ancestral(damaged), "input", "`run` lacks rows")
  }
  run$file <- NA_character_
  expect_ancify_error(read_ancestral(run), "input", "without calls", "\"call\"")
})

test_that("invalid regions and files are errors with the reason", {
  require_package("Biostrings")
  require_package("GenomicRanges")
  folder <- calls_folder(c(chr1 = "ACGTacgtnN"))
  region <- function(text) GenomicRanges::GRanges(text)
  for (text in c("chr1", "chr1:2", "chr1:a-2", "chr1:-2--1")) {
    expect_ancify_error(read_ancestral(folder, text), "input", "GRanges", quoted(text))
  }
  expect_ancify_error(read_ancestral(folder, region("chr2:1-2")), "input", "'chr2'", "'chr1'")
  expect_ancify_error(read_confidence(folder, region("1:1-2")), "input", "leading 'chr'")
  for (text in c("chr1:5-11", "chr1:0-3", "chr1:12-15")) {
    expect_ancify_error(
      read_ancestral(folder, region(c("chr1:1-2", text))), "input", "`regions[2]`", text, "10 bases"
    )
  }
  empty <- GenomicRanges::GRanges("chr1", IRanges::IRanges(3, 2))
  expect_identical(as.character(read_ancestral(folder, empty)), "")
  expect_length(read_confidence(folder, empty), 0)
  expect_length(read_ancestral(folder, empty[0]), 0)

  expect_ancify_error(read_ancestral(new_folder()), "file", "no calls")
  expect_ancify_error(read_ancestral("gone"), "file", "'gone'", "not a folder")
  expect_ancify_error(read_ancestral(3), "input", "`run`")
  writeLines(c(">chr1", "ACGT", "ACGT"), file.path(folder, "chr1.fa"))
  expect_ancify_error(read_ancestral(folder), "format", "chr1.fa", "one line")
  for (odd in c("ACGTRcgt", "ACGT*cgt")) {
    odd <- calls_folder(c(chr1 = odd))
    condition <- expect_ancify_error(read_confidence(odd), "format", "chr1.fa", "not a call")
    expect_identical(condition$line, 2)
  }
  gaps <- read_confidence(calls_folder(c(chr1 = "A-.N")))
  expect_identical(as.character(gaps$name), c("high", "missing"))
  expect_ancify_error(
    need_bioconductor(c("Biostrings", "nosuchpackage"), "Calls"), "package",
    "BiocManager::install(\"nosuchpackage\")"
  )
})

test_that("the content of its files identifies a run", {
  case <- random_config(
    lengths = c(chr1 = 500, chr2 = 90), method = "likelihood", posterior = TRUE,
    tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);"
  )
  config <- case$config
  first <- run_quietly(config)
  posteriors <- read_posterior(first, "chr1")
  kept <- unserialize(serialize(first, NULL))

  # It stays the same if made again, or copied away and back.
  run_quietly(config, resume = FALSE)
  copy <- tempfile("calls-")
  file.rename(config$output_dir, copy)
  dir.create(config$output_dir)
  files <- list.files(copy, full.names = TRUE, all.files = TRUE, no.. = TRUE)
  file.copy(files, config$output_dir, recursive = TRUE)
  expect_identical(read_posterior(kept, "chr1"), posteriors)

  # The same calls with other posteriors; then another chromosome, which no record mentions.
  config$tree <- "((inner1:0.11,inner2:0.1):0.1,outer1:0.3);"
  config$chromosomes <- "chr1"
  run_quietly(config)
  config$chromosomes <- "chr2"
  run_quietly(config)
  expect_ancify_error(read_posterior(kept, "chr1"), "input", "replaced")

  # The run of an evaluation remembers the files.
  again <- run_quietly(case$config)
  found <- run_quietly(case$config, phases = "evaluate")
  Sys.setFileTime(again$file, Sys.time() + 9)
  expect_identical(read_posterior(found, "chr1"), posteriors)
  expect_no_error(run_quietly(found, phases = "evaluate"))
  config$chromosomes <- "chr1"
  run_quietly(config)
  expect_ancify_error(read_posterior(found, "chr1"), "input", "replaced")

  again <- run_quietly(case$config)
  expect_identical(read_posterior(subset(again, chromosome == "chr1"), "chr1"), posteriors)
})

test_that("files that a failed run replaced are not read as an earlier run's", {
  case <- random_config(lengths = c(chr1 = 500, chr2 = 90))
  first <- run_quietly(case$config)
  case$config$min_inner_freq <- 2L
  put_in_the_way <- function() {
    unlink(first$file[2])
    dir.create(first$file[2])
  }
  expect_ancify_error(once_calls_begin(put_in_the_way, run_quietly(case$config)), "file", "chr2.fa")
  region <- data.frame(chromosome = "chr1", start = 1, end = 9)
  expect_ancify_error(read_ancestral(first, region), "input", "replaced")
  expect_ancify_error(ancify_report(case$config$output_dir, "a.html"), "file", "does not exist")
})

test_that("a run whose calls a later run replaced is an error", {
  skip_if_not_installed("ggplot2")
  case <- random_config(lengths = c(chr1 = 500, chr2 = 90))
  first <- run_quietly(case$config)
  region <- data.frame(chromosome = "chr1", start = 1, end = 9)
  expect_no_error(read_ancestral(first, region))
  again <- run_quietly(case$config)
  expect_no_error(read_ancestral(first, region))

  case$config$min_inner_freq <- 2L
  lines <- log_lines(second <- ancify_run(case$config, progress = FALSE))
  expect_match(lines, "are replaced: they were made with another `min_inner_freq`", all = FALSE)
  expect_no_error(read_ancestral(second, region))
  folder <- case$config$output_dir
  html <- tempfile(fileext = ".html")
  for (use in list(
    function() read_ancestral(first, region), function() ancify_evaluate(first),
    function() ancify_report(first, html),
    function() compare_calls(first = first, second = second, progress = FALSE),
    function() annotate_vcf(tempfile(), first, tempfile(fileext = ".vcf")),
    function() sfs_from_vcf(tempfile(), c(a = "A"), ancestral = first),
    function() read_posterior(first, "chr1")
  )) {
    expect_ancify_error(use(), "input", "replaced", folder, "`output_dir` for each run")
  }
})

test_that("a run in a folder with calls of another configuration has its own chromosomes alone", {
  case <- random_config(lengths = c(chr1 = 500, chr2 = 90, chr3 = 80))
  run_quietly(case$config)
  case$config$min_inner_freq <- 2L
  case$config$chromosomes <- "chr1"
  run <- run_quietly(case$config)
  folder <- case$config$output_dir
  expect_no_warning(alone <- count_contexts(run, threads = 1))
  expect_equal(sum(alone), sum(count_contexts(file.path(folder, "chr1.fa"), threads = 1)))
  expect_warning(
    both <- count_contexts(folder, threads = 1),
    "several configurations: chr2 and chr3 were made with another `min_inner_freq` than chr1",
    class = "ancify_calls_warning"
  )
  expect_gt(sum(both), sum(alone))
  expect_warning(read_ancestral(folder, progress = FALSE), class = "ancify_calls_warning")
  if (!is.na(ancify_build_info()$htslib)) {
    vcf <- write_vcf(vcf_records(rep(c("chr1", "chr2"), each = 5), rep(1:5, 2), "A", "C"))
    out <- tempfile(fileext = ".vcf")
    expect_warning(
      annotate_vcf(vcf, run, out, threads = 1, progress = FALSE, verbose = FALSE),
      "no sequence for 'chr2': 5 records", class = "ancify_annotation_warning"
    )
  }
  # One chromosome alone, other spellings, and a damaged ledger
  region <- data.frame(chromosome = "chr1", start = 1, end = 9)
  expect_no_warning(read_ancestral(folder, region))
  file.copy(file.path(folder, "chr2.fa"), file.path(folder, "1.fa"))
  expect_identical(sequence_files(folder_of_calls(run, "run"), "1", "x")$path,
                   file.path(folder, "chr1.fa"))
  unlink(file.path(folder, "1.fa"))
  ledger <- ledger_file(folder)
  whole <- file_bytes(ledger)
  writeBin(replace(whole, 50, as.raw(0)), ledger)
  expect_no_warning(count_contexts(folder, threads = 1))
  writeBin(whole, ledger)
  # Settings of all chromosomes count.
  case$config$chromosomes <- NULL
  expect_warning(ancify_evaluate(case$config, progress = FALSE), "another `min_inner_freq`",
                 class = "ancify_evaluation_warning")
})
