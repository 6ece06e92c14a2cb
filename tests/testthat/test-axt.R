# One row for each block: coordinates, strand, score, sequences.
oracle_pairs <- function(lines) {
  lines <- lines[!startsWith(lines, "#") & nzchar(lines)]
  header <- do.call(rbind, lapply(strsplit(lines[c(TRUE, FALSE, FALSE)], "[ \t]+"), `[`, 2:9))
  data.frame(
    focal = header[, 1], start = as.numeric(header[, 2]), end = as.numeric(header[, 3]),
    outgroup = header[, 4], outgroup_start = as.numeric(header[, 5]),
    outgroup_end = as.numeric(header[, 6]), strand = header[, 7], score = as.numeric(header[, 8]),
    focal_row = lines[c(FALSE, TRUE, FALSE)], outgroup_row = lines[c(FALSE, FALSE, TRUE)]
  )
}

pairs_of <- function(pairs) {
  focal <- S4Vectors::first(pairs)
  outgroup <- S4Vectors::second(pairs)
  expect_true(all(as.character(GenomicRanges::strand(focal)) == "+"))
  data.frame(
    focal = as.character(GenomicRanges::seqnames(focal)),
    start = as.numeric(GenomicRanges::start(focal)), end = as.numeric(GenomicRanges::end(focal)),
    outgroup = as.character(GenomicRanges::seqnames(outgroup)),
    outgroup_start = as.numeric(GenomicRanges::start(outgroup)),
    outgroup_end = as.numeric(GenomicRanges::end(outgroup)),
    strand = as.character(GenomicRanges::strand(outgroup)),
    score = S4Vectors::mcols(pairs)$score,
    focal_row = as.character(focal$seqs), outgroup_row = as.character(outgroup$seqs)
  )
}

small_axt <- c(
  "# comment", "0 chr2 3 7 chr5 10 13 + 500", "AC-GTn", "acTG--", "",
  "1 chr1 1 1 chrX 11 11 -", "A", "G", "2 chr2 9 10 chr5 1 2 - 7", "AC", "gt"
)
small_lengths <- c(chr5 = 20, chrX = 11, chrY = 5)

test_that("blocks are pairs of ranges, and lengths turn minus strands round", {
  require_package("Biostrings")
  require_package("GenomicRanges")
  axt <- axt_file(small_axt)
  as_in_file <- oracle_pairs(small_axt)
  warned <- expect_one_warning(
    read_axt(axt), "strand", axt, "2 of the outgroup's ranges", "`outgroup_len"
  )
  expect_s4_class(warned$value, "Pairs")
  expect_identical(pairs_of(warned$value), as_in_file)

  turned <- as_in_file
  minus <- turned$strand == "-"
  turned$outgroup_start[minus] <- c(1, 19)
  turned$outgroup_end[minus] <- c(1, 20)
  pairs <- read_axt(axt, small_lengths, threads = 1)
  expect_identical(pairs_of(pairs), turned)
  expect_identical(
    GenomeInfoDb::seqlengths(S4Vectors::second(pairs)), c(chr5 = 20L, chrX = 11L)
  )
  sizes <- tempfile()
  writeLines(sprintf("%s\t%d", names(small_lengths), as.integer(small_lengths)), sizes)
  expect_identical(pairs_of(read_axt(axt, sizes)), turned)
  some <- pairs_of(read_axt(axt, small_lengths, "chr2"))
  expect_equal(some, turned[turned$focal == "chr2", ], ignore_attr = TRUE)
})

test_that("CNEr reads the same from a net alignment, also with lengths", {
  require_package("CNEr")
  file <- system.file("extdata", "chr4.hg19.galGal3.net.axt.gz", package = "CNEr")
  utils::capture.output(theirs <- CNEr::readAxt(file))
  ours <- suppressWarnings(read_axt(file))
  expect_length(ours, 14411)
  expect_identical(pairs_of(ours)$score, as.numeric(CNEr::score(theirs)))
  for (side in list(list(S4Vectors::first(ours), CNEr::first(theirs)),
                    list(S4Vectors::second(ours), CNEr::second(theirs)))) {
    expect_identical(as.character(side[[1]]), as.character(side[[2]]))
    expect_identical(toupper(as.character(side[[1]]$seqs)), as.character(side[[2]]$seqs))
  }

  ends <- tapply(GenomicRanges::end(S4Vectors::second(ours)),
                 as.character(GenomicRanges::seqnames(S4Vectors::second(ours))), max)
  lengths <- stats::setNames(as.numeric(ends) + 1000, names(ends))
  turned <- S4Vectors::second(read_axt(file, lengths))
  raw <- pairs_of(ours)
  minus <- raw$strand == "-"
  expect_true(any(minus) && any(!minus))
  length <- unname(lengths[raw$outgroup])
  expect_equal(
    GenomicRanges::start(turned), ifelse(minus, length - raw$outgroup_end + 1, raw$outgroup_start)
  )
  expect_identical(GenomicRanges::width(turned), GenomicRanges::width(S4Vectors::second(ours)))
})

test_that("bad blocks are errors with file and line, or left out", {
  require_package("Biostrings")
  require_package("GenomicRanges")
  bad <- axt_file(small_axt, "3 chr2 11 12 chr5 4 4 + 1", "AC", "GT", "")
  condition <- expect_ancify_error(
    read_axt(bad, small_lengths), "format", bad, "chr5:4-4", "2 letters", "on_bad_block"
  )
  expect_identical(condition$line, 12)
  skipped <- expect_one_warning(
    read_axt(bad, small_lengths, on_bad_block = "skip"), "projection", bad, "line 12"
  )
  expect_length(skipped$value, 3)

  axt <- axt_file(small_axt)
  expect_ancify_error(read_axt(axt, c(chr5 = 20)), "format", "line 6", "'chrX'")
  expect_ancify_error(read_axt(axt, c(chr5 = 12, chrX = 11)), "format", "line 2", "12 bases long")
  expect_ancify_error(read_axt(axt, chromosomes = "chr3"), "format", "chromosomes asked for")
  some <- expect_one_warning(
    read_axt(axt, small_lengths, factor(c("chr2", "chr3"))), "projection", axt, "no block on 'chr3'"
  )
  expect_gt(length(some$value), 0)
  expect_ancify_error(read_axt(axt_file("# none")), "format", "no alignment block")
  others <- list(
    MAF = c("##maf version=1", "a score=0", "s hg.chr1 0 4 + 9 ACGT", "s q.chr1 0 4 + 9 ACGT", ""),
    TAF = c("#taf version:1", "AC ; i 0 hg.chr1 0 + 9 i 1 q.chr1 0 + 9"),
    PAF = paste("q", 9, 0, 4, "+", "chr1", 9, 0, 4, 4, 4, 60, "cs:Z:=ACGT", sep = "\t"),
    chain = c("chain 5 chr1 9 + 0 4 q 9 + 0 4 1", "4", "")
  )
  for (format in names(others)) {
    file <- tempfile(fileext = ".axt")
    writeLines(others[[format]], file)
    expect_ancify_error(read_axt(file), "format", file, sprintf("this is a %s file", format),
                        "project_axt()")
  }
  expect_ancify_error(read_axt("gone.axt"), "file", "gone.axt")
  expect_ancify_error(read_axt(axt, 5), "input", "`outgroup_lengths`")
  expect_ancify_error(read_axt(axt, chromosomes = NA), "input", "`chromosomes`")
  huge <- axt_file("0 chr1 3000000001 3000000002 chr5 1 2 +", "AC", "GT")
  expect_ancify_error(read_axt(huge), "input", "2^31 - 1")
})
