# Bioconductor's classes as arguments and results.

test_that("regions may be text, tables, ranges and variants, and give the same", {
  require_package("VariantAnnotation")
  require_package("GenomicRanges")
  set.seed(3)
  calls <- c(chr1 = paste(sample(c("A", "c", "n", "N"), 3000, TRUE), collapse = ""))
  folder <- calls_folder(calls)
  text <- c("chr1:1,001-1,020", "chr1:5-9:-")
  ranges <- GenomicRanges::GRanges(c("chr1:1001-1020", "chr1:5-9:-"))
  expect_identical(
    unname(as.character(read_ancestral(folder, text))),
    as.character(read_ancestral(folder, ranges))
  )
  expect_named(read_ancestral(folder, text), text)
  table <- as.data.frame(ranges)
  expect_identical(
    as.character(read_ancestral(folder, table)), as.character(read_ancestral(folder, ranges))
  )
  expect_identical(
    as.character(read_ancestral(folder, methods::as(table, "DataFrame"))),
    as.character(read_ancestral(folder, ranges))
  )
  table$strand <- c("1", "-1")
  expect_ancify_error(read_ancestral(folder, table), "input", "`strand` (+, - or *)")
  expect_equal(read_confidence(folder, text), read_confidence(folder, ranges))
  vcf <- tempfile(fileext = ".vcf")
  columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
  writeLines(c(
    "##fileformat=VCFv4.2", "##contig=<ID=chr1>", columns,
    "chr1\t7\t.\tA\tC\t.\t.\t.", "chr1\t90\t.\tAC\tC\t.\t.\t."
  ), vcf)
  variants <- VariantAnnotation::readVcf(vcf)
  expect_identical(
    unname(as.character(read_ancestral(folder, variants))),
    substring(calls[["chr1"]], c(7, 90), c(7, 91))
  )
})

test_that("a colon may be a part of a chromosome's name", {
  expect_identical(
    regions_of_text(c("HLA:01:3-1,004", "HLA:01:5-5:-")),
    data.frame(chromosome = "HLA:01", start = c(3, 5), end = c(1004, 5), strand = c("*", "-"))
  )
  expect_null(regions_of_text(c("chr1:1-2", "chr1")))
})

test_that("ranges of confidence have all chromosomes of the run", {
  require_package("GenomicRanges")
  folder <- calls_folder(c(chr1 = "ACGT", chr2 = "acgtt", chr10 = "nN"))
  for (regions in list("chr2:2-3", GenomicRanges::GRanges(), NULL)) {
    expect_identical(
      GenomeInfoDb::seqlengths(read_confidence(folder, regions)),
      c(chr1 = 4L, chr2 = 5L, chr10 = 2L)
    )
  }
})

test_that("confidences as Rle are those of the ranges, position by position", {
  require_package("GenomicRanges")
  set.seed(4)
  calls <- vapply(c(chr1 = 700, chr2 = 40), function(n) {
    paste(sample(c("A", "c", "n", "N"), n, TRUE), collapse = "")
  }, "")
  folder <- calls_folder(calls)
  kinds <- c(A = "high", c = "low", n = "unresolved", N = "missing")
  by_position <- lapply(strsplit(calls, ""), function(call) unname(kinds[call]))
  whole <- read_confidence(folder, as = "rle")
  expect_s4_class(whole, "RleList")
  expect_named(whole, names(calls))
  expect_identical(lapply(as.list(whole), as.character), by_position)
  some <- read_confidence(folder, c(b = "chr2:3-9", a = "chr1:10-500", none = "chr2:5-4"), "rle")
  expect_identical(
    lapply(as.list(some), as.character),
    list(b = by_position$chr2[3:9], a = by_position$chr1[10:500], none = character())
  )
})

test_that("a run has a Seqinfo, and results carry it", {
  require_package("GenomicRanges")
  config <- ancify_example(new_folder())
  config$genome <- "sim1"
  run <- run_quietly(config)
  info <- GenomeInfoDb::seqinfo(run)
  expect_identical(GenomeInfoDb::seqnames(info), run$chromosome)
  expect_equal(unname(GenomeInfoDb::seqlengths(run)), run$length)
  expect_identical(unique(unname(GenomeInfoDb::genome(run))), "sim1")
  expect_identical(GenomeInfoDb::seqinfo(read_confidence(run)), info)
  # Without the setting, and from a folder, the genome is not known.
  info <- GenomeInfoDb::seqinfo(read_confidence(config$output_dir))
  expect_true(all(is.na(GenomeInfoDb::genome(info))))
})

long_test_that("the S4 method is there in whatever order packages load", {
  require_package("GenomicRanges")
  code <- c(
    "x <- structure(data.frame(chromosome = 'chr1', length = 5),",
    "  class = c('ancify_run', 'data.frame'))",
    "stopifnot(GenomeInfoDb::seqlengths(x) == 5)"
  )
  loads <- c("loadNamespace('ancify')", "loadNamespace('GenomeInfoDb')")
  for (order in list(loads, rev(loads))) {
    script <- tempfile(fileext = ".R")
    writeLines(c(order, code), script)
    expect_identical(system2(file.path(R.home("bin"), "Rscript"), script), 0L)
  }
})

test_that("lengths may be a Seqinfo or an object that has one", {
  require_package("GenomicRanges")
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  info <- GenomeInfoDb::Seqinfo("chr1", 4)
  expect_identical(project_axt(axt, info), c(chr1 = "NGTN"))
  expect_identical(project_axt(axt, GenomicRanges::GRanges(info)), c(chr1 = "NGTN"))
  expect_ancify_error(
    project_axt(axt, GenomeInfoDb::Seqinfo("chr1")), "input", "without the length of 'chr1'"
  )
  expect_ancify_error(project_axt(axt, Biostrings::DNAString("AC")), "input", "DNAString")
})

test_that("a DNAString is a species", {
  require_package("Biostrings")
  inner <- Biostrings::DNAString("ACGT")
  outer <- Biostrings::DNAString("ACCT")
  expect_identical(
    as.character(call_ancestral(inner, outer)), unname(call_ancestral("ACGT", "ACCT"))
  )
})

test_that("summary() gives shares by chromosome", {
  run <- run_quietly(ancify_example(new_folder()))
  shares <- summary(run)$shares
  expect_identical(shares$chromosome, c(run$chromosome, "all"))
  expect_equal(shares$high, c(run$high / run$length, sum(run$high) / sum(run$length)))
  expect_equal(rowSums(shares[c("high", "low", "unresolved", "missing")]), rep(1, nrow(shares)),
               ignore_attr = TRUE)
  expect_output(print(summary(run)), "<ancify_run> focal, voting.*alignments.*near1 \\(.* blocks")
  expect_ancify_error(summary(run, 3), "input")
})

test_that("objects that stand for files are taken as their paths", {
  require_package("BSgenome")
  folder <- tempfile()
  dir.create(folder)
  genome <- file.path(folder, "single_sequences.2bit")
  write_twobit(c(chr1 = "ACGTACGT", chr2 = "GGGG"), genome)
  bs <- BSgenome::BSgenome(
    "Homo sapiens", "Human", "hg1", "us", NA, "2026", NA, NA, c("chr1", "chr2"),
    mseqnames = NULL, seqs_pkgname = "none", seqs_dirpath = folder
  )
  alignment_with <- function(bases) {
    axt <- tempfile(fileext = ".axt")
    writeLines(c("0 chr1 2 4 q 1 3 + 0", "CGT", bases, ""), axt)
    axt
  }
  settings <- list(focal_species = "f", outgroups = list(
    inner = list(list(name = "near", alignment = alignment_with("CTT"))),
    outer = list(list(name = "far", alignment = alignment_with("CAT")))
  ))
  for (object in list(bs, rtracklayer::TwoBitFile(genome))) {
    config <- ancify_config(c(settings, list(chromosome_lengths = object, focal_fasta = object)))
    expect_identical(config$lengths, c(chr1 = 8, chr2 = 4))
    expect_identical(config$focal_fasta, normalizePath(genome))
  }
})

test_that("a Seqinfo is the lengths of a configuration", {
  require_package("GenomeInfoDb")
  example <- ancify_example(tempfile())
  settings <- yaml::read_yaml(example$file)
  lengths <- example$lengths
  settings$chromosome_lengths <- GenomeInfoDb::Seqinfo(names(lengths), lengths, genome = "ex1")
  with_folder(dirname(example$file), {
    run <- ancify_run(settings, threads = 1, progress = FALSE, verbose = FALSE)
    expect_identical(stats::setNames(run$length, run$chromosome), lengths)
    # Nothing is done again in a later session, where the file has another name.
    first <- content_of_files("ancestral_calls")
    again <- tempfile(fileext = ".chrom.sizes")
    file.copy(attr(run, "config")$chromosome_lengths, again)
    settings$chromosome_lengths <- again
    lines <- capture.output(
      ancify_run(settings, threads = 1, progress = FALSE, verbose = TRUE), type = "message"
    )
    expect_match(lines, "nothing|kept|already", all = FALSE)
  })
  unknown <- GenomeInfoDb::Seqinfo(c("chr1", "chr2"), c(10, NA))
  expect_ancify_error(
    ancify_config(replace(settings, "chromosome_lengths", list(unknown))), "input", "'chr2'"
  )
})
