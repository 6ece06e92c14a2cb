# Polarising a VCF in one call.

polarise_quietly <- function(...) polarise(..., threads = 1, progress = FALSE, verbose = FALSE)

# A VCF of single-base records on the example's chr1, with the header's length
small_vcf <- function(lengths, positions = seq(1, 4000, 40)) {
  set.seed(7)
  bases <- c("A", "C", "G", "T")
  ref <- sample(bases, length(positions), TRUE)
  alt <- vapply(ref, function(base) sample(setdiff(bases, base), 1), "")
  records <- vcf_records("chr1", positions, ref, alt)
  contig <- sprintf("chr1,length=%.0f", lengths[["chr1"]])
  write_vcf(records, header = vcf_header(records, contig))
}

test_that("alignments give the alleles and reasons of a run with the same tree and method", {
  require_htslib()
  config <- ancify_example(new_folder())
  outgroups <- stats::setNames(config$outgroups$alignment, config$outgroups$name)
  vcf <- small_vcf(config$lengths)
  out <- tempfile(fileext = ".vcf")
  result <- polarise_quietly(vcf, outgroups, out)

  own <- config
  own$chromosomes <- "chr1"
  own$outgroups$tier <- "inner"
  own$method <- "likelihood"
  own$substitution_model <- "HKY85"
  own$estimate <- TRUE
  own$tree <- attr(attr(result, "run"), "config")$tree
  own$output_dir <- new_folder()
  run <- suppressWarnings(ancify_run(own, threads = 1, progress = FALSE, verbose = FALSE))
  staged <- tempfile(fileext = ".vcf")
  expected <- suppressWarnings(annotate_vcf(vcf, run, staged, polarise = TRUE, verbose = FALSE))
  expect_identical(result$records, expected$records)
  expect_gt(attr(result, "swapped"), 0)
  without_filter <- function(path) sub("^(([^\t]*\t){6})[^\t]*\t", "\\1", records_of(path))
  expect_identical(without_filter(out), without_filter(staged))
})

test_that("one outgroup gives its own bases", {
  require_htslib()
  config <- ancify_example(new_folder())
  vcf <- small_vcf(config$lengths)
  out <- tempfile(fileext = ".vcf")
  polarise_quietly(vcf, c(near1 = config$outgroups$alignment[1]), out)
  bases <- project_axt(config$outgroups$alignment[1], config$lengths["chr1"])
  staged <- tempfile(fileext = ".vcf")
  annotate_vcf(vcf, calls_folder(c(chr1 = as.character(bases[[1]]))), staged, polarise = TRUE,
               unpolarised = "flag", verbose = FALSE)
  expect_identical(records_of(out), records_of(staged))
})

test_that("records that cannot be polarised are flagged, dropped or kept", {
  require_htslib()
  records <- vcf_records("chr1", 1:6, "A", c("C", "C", "G", "G", "T", "C"))
  records[6] <- sub("\\.\t\\.$", "PASS\t.", records[6])
  vcf <- write_vcf(records)
  calls <- calls_folder(c(chr1 = "ACTnNa"))
  out <- tempfile(fileext = ".vcf")
  filters <- function(unpolarised) {
    polarise_quietly(vcf, calls, out, unpolarised = unpolarised)
    vapply(strsplit(grep("^#", readLines(out), invert = TRUE, value = TRUE), "\t"), `[`, "", 7)
  }
  polarised <- c(TRUE, TRUE, FALSE, FALSE, FALSE, TRUE)
  flagged <- filters("flag")
  expect_identical(flagged == "NOT_POLARISED", !polarised)
  expect_match(readLines(out), "##FILTER=<ID=NOT_POLARISED", all = FALSE, fixed = TRUE)
  expect_length(filters("drop"), sum(polarised))
  expect_warning(kept <- filters("keep"), class = "ancify_annotation_warning")
  expect_false("NOT_POLARISED" %in% kept)

  # A later call with a better source takes the flag away.
  again <- tempfile(fileext = ".vcf")
  filters("flag")
  polarise_quietly(out, calls_folder(c(chr1 = "ACGGTa")), again)
  expect_false(any(grepl("\tNOT_POLARISED\t", readLines(again))))
})

test_that("the tree is guessed by divergence", {
  patterns <- structure(
    data.frame(
      chromosome = "chr1", pattern = c("AAAA", "ACAA", "CAAC", "AACA", "ACCA"),
      count = c(900, 60, 10, 30, 40)
    ),
    species = c("near", "far", "middle", "focal"), focal = "focal",
    class = c("ancify_patterns", "data.frame")
  )
  tree <- ape::read.tree(text = guess_tree(patterns))
  expect_setequal(tree$tip.label, attr(patterns, "species"))
  expect_true(ape::is.monophyletic(tree, c("near", "focal")))
  expect_true(ape::is.monophyletic(tree, c("near", "focal", "middle")))
  pair <- patterns
  pair$pattern <- substring(pair$pattern, 3)
  attr(pair, "species") <- c("middle", "focal")
  expect_identical(guess_tree(pair), "(middle,focal);")
})

test_that("invalid sources are errors", {
  require_htslib()
  config <- ancify_example(new_folder())
  near <- c(near = config$outgroups$alignment[1])
  vcf <- write_vcf(vcf_records("chr1", 5, "A", "G"))
  expect_refused <- function(pattern, from = near, ..., class = "input") {
    out <- tempfile(fileext = ".vcf")
    expect_ancify_error(polarise_quietly(vcf, from, out, ...), class, pattern)
    expect_false(file.exists(out))
  }
  expect_refused("The length of 'chr1' is not in the VCF's header: give `chrom_lengths`")
  expect_refused("'chr1' is not in `chrom_lengths`", chrom_lengths = c(chr2 = 10))
  expect_refused("no.axt': there is no such file", c(near = "no.axt"))
  expect_refused("method", method = "voting")
  expect_refused("unpolarised", unpolarised = "delete")
  two <- c(near, far = config$outgroups$alignment[3])
  expect_refused("leaves of `tree` are 'human' and 'near', but the species are", two,
                 chrom_lengths = c(chr1 = 4e4), tree = "(human,near);")
  expect_ancify_error(
    annotate_vcf(vcf, calls_folder(c(chr1 = "ACGTA")), tempfile(fileext = ".vcf"),
                 unpolarised = "drop"),
    "input", "needs `polarise = TRUE`"
  )
  expect_ancify_error(polarise_quietly(vcf, "AA", "out.txt"), "input", "out.txt")
  alignment <- tempfile(fileext = ".vcf")
  file.copy(near, alignment)
  expect_ancify_error(polarise_quietly(vcf, c(near = alignment), alignment), "input", "one file")
})
