# Annotation of variants in memory.

in_info <- function(variants) VariantAnnotation::info(variants)
read_variants <- function(path) {
  suppressWarnings(VariantAnnotation::readVcf(path)) # of header lines it does not know
}

# A VCF, calls for it, and both annotated as a file.
annotation_case <- function(records, lengths) {
  calls <- vapply(lengths, function(n) {
    paste(sample(c("A", "C", "G", "T", "a", "c", "g", "t", "n", "N"), n, TRUE), collapse = "")
  }, "")
  case <- list(vcf = write_vcf(records), calls = calls_folder(calls))
  case$annotated <- tempfile(fileext = ".vcf")
  annotate_vcf(case$vcf, case$calls, case$annotated, verbose = FALSE)
  case
}

long_test_that("variants in memory get what annotate_vcf() writes for their file, in any order", {
  require_package("VariantAnnotation")
  require_htslib()
  set.seed(1)
  lengths <- c(chr1 = 200, two = 100)
  case <- annotation_case(random_vcf(lengths), lengths)
  expected <- read_variants(case$annotated)
  variants <- read_variants(case$vcf)
  result <- annotate_variants(variants, case$calls, verbose = FALSE)
  expect_identical(in_info(result)$AA, in_info(expected)$AA)
  expect_identical(in_info(result)$AA_reason, in_info(expected)$AA_reason)
  expect_identical(as.data.frame(VariantAnnotation::fixed(result)),
                   as.data.frame(VariantAnnotation::fixed(variants)))

  mixed <- sample(nrow(variants))
  shuffled <- annotate_variants(variants[mixed, ], case$calls, verbose = FALSE)
  expect_identical(in_info(shuffled)$AA_reason, in_info(expected)$AA_reason[mixed])
  none <- annotate_variants(variants[0, ], case$calls, verbose = FALSE)
  expect_identical(nrow(none), 0L)
})

long_test_that("other columns stay, and a written file declares the fields", {
  require_package("VariantAnnotation")
  require_htslib()
  variants <- VariantAnnotation::readVcf(
    variant_annotation_vcf(), "hg19", param = GenomicRanges::GRanges("22:50300000-50305000")
  )
  calls <- new_folder()
  writeLines(c(">chr22", strrep("g", 50305000)), file.path(calls, "chr22.fa"))
  mask <- tempfile(fileext = ".bed")
  writeLines("chr22\t50300999\t50302000", mask)
  result <- annotate_variants(variants, calls, mask = mask, verbose = FALSE)
  old <- in_info(variants)
  new <- in_info(result)
  expect_identical(new[setdiff(names(old), "AA")], old[names(old) != "AA"])
  expect_identical(
    new$AA_reason == "MASKED",
    BiocGenerics::start(result) %in% 50301000:50302000 & VariantAnnotation::isSNV(result)
  )
  is_snv <- VariantAnnotation::isSNV(result)
  expect_setequal(new$AA[is_snv & new$AA_reason != "MASKED"], "g")
  expect_true(all(is.na(new$AA[new$AA_reason == "MASKED"])))
  expect_identical(VariantAnnotation::geno(result), VariantAnnotation::geno(variants))

  # A second annotation adds no column.
  again <- annotate_variants(result, calls, mask = mask, verbose = FALSE)
  expect_identical(in_info(again), new)
  written <- tempfile(fileext = ".vcf")
  suppressWarnings(VariantAnnotation::writeVcf(result, written)) # of a pointer of its own
  expect_identical(in_info(read_variants(written))$AA_reason, new$AA_reason)

  expanded <- VariantAnnotation::expand(variants)
  expect_identical(
    in_info(annotate_variants(expanded, calls, mask = mask, verbose = FALSE))$AA_reason,
    new$AA_reason
  )
})

test_that("columns of an earlier history are removed without a warning", {
  require_package("VariantAnnotation")
  require_htslib()
  record <- vcf_records("chr1", 1, "A", "C", "AA_post=1,0,0,0;AA_prob=1")
  declared <- sprintf(
    "##INFO=<ID=%s,Number=.,Type=Float,Description=\"x\">", c("AA_post", "AA_prob")
  )
  variants <- read_variants(write_vcf(record, header = vcf_header(record, more = declared)))
  expect_silent(result <- annotate_variants(variants, calls_folder(c(chr1 = "C")), verbose = FALSE))
  expect_identical(names(in_info(result)), c("AA", "AA_reason"))
})

test_that("invalid input is an error that names the variant", {
  require_package("VariantAnnotation")
  require_htslib()
  expect_ancify_error(annotate_variants("variants.vcf", "calls"), "input", "must be a VCF")
  vcf <- write_vcf(vcf_records("chr1", c(5, 50), "A", "G"))
  variants <- VariantAnnotation::readVcf(vcf)
  calls <- calls_folder(c(chr1 = "ACGTACGT"))
  expect_ancify_error(annotate_variants(variants, calls, verbose = FALSE), "format",
                      "`variants`", "position 50")
  # The number is that in `variants`, in any order.
  far <- expect_ancify_error(annotate_variants(variants[2:1, ], calls, verbose = FALSE), "format",
                             "`variants`[1]: position 50")
  expect_null(far$line)
  expect_ancify_error(annotate_variants(variants, calls, polarise = 1), "input", "`polarise`")
  places <- GenomicRanges::granges(SummarizedExperiment::rowRanges(variants))
  expect_ancify_error(annotate_variants(places, calls), "input", "`REF` and `ALT`")
  S4Vectors::mcols(places) <- S4Vectors::DataFrame(REF = c("A", NA), ALT = "G")
  expect_ancify_error(annotate_variants(places, calls), "input", "`variants`[2]: REF must be bases")
  expect_ancify_error(annotate_variants(variants, calls, out = "a.vcf"), "input", "`out`")
  other <- calls_folder(c(chr2 = "ACGT"))
  expect_ancify_error(annotate_variants(variants, other), "input", "chr1")
})

test_that("polarised variants in memory are those of a polarised file", {
  require_package("VariantAnnotation")
  require_htslib()
  records <- paste(
    vcf_records("chr1", c(5, 2, 3, 7), c("A", "C", "G", "T"), c("G", "T", "A", "A"),
                c("AF=0.25", "AF=0.5", "AF=1", "AF=0")),
    "GT:DS", c("0|1:1", "1/1:2", "./.:.", "0|0:0"), sep = "\t"
  )
  declared <- c(
    "##INFO=<ID=AF,Number=A,Type=Float,Description=\"x\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"x\">",
    "##FORMAT=<ID=DS,Number=1,Type=Float,Description=\"x\">"
  )
  sorted <- records[c(2, 3, 1, 4)]
  vcf <- write_vcf(sorted, header = vcf_header(records, more = declared))
  calls <- calls_folder(c(chr1 = "ATANGNaA"))
  out <- tempfile(fileext = ".vcf")
  annotate_vcf(vcf, calls, out, polarise = TRUE, verbose = FALSE)
  expected <- VariantAnnotation::readVcf(out)
  mixed <- c(3, 1, 4, 2)
  variants <- VariantAnnotation::readVcf(vcf)[mixed]
  result <- annotate_variants(variants, calls, polarise = TRUE, verbose = FALSE)
  expect_identical(
    as.character(VariantAnnotation::ref(result)),
    as.character(VariantAnnotation::ref(expected))[mixed]
  )
  without_names <- function(table) {
    rownames(table) <- NULL
    table
  }
  expect_equal(without_names(in_info(result)), without_names(in_info(expected)[mixed, ]))
  for (field in c("GT", "DS")) {
    expect_identical(
      unname(VariantAnnotation::geno(result)[[field]]),
      unname(VariantAnnotation::geno(expected)[[field]][mixed, , drop = FALSE])
    )
  }
  expect_identical(sum(!is.na(in_info(result)$AA_old_ref)), 4L)
  expect_identical(dimnames(result), dimnames(variants))
  expect_identical(
    names(S4Vectors::mcols(SummarizedExperiment::rowRanges(result))),
    names(S4Vectors::mcols(SummarizedExperiment::rowRanges(variants)))
  )
  expect_s4_class(
    annotate_variants(VariantAnnotation::expand(variants), calls, polarise = TRUE, verbose = FALSE),
    "ExpandedVCF"
  )

  ranges <- SummarizedExperiment::rowRanges(variants)
  polarised <- annotate_variants(ranges, calls, polarise = TRUE, verbose = FALSE)
  expect_identical(class(polarised$ALT), class(ranges$ALT))
  expect_identical(as.character(polarised$REF), as.character(VariantAnnotation::ref(result)))
  expect_identical(as.character(unlist(polarised$ALT)), as.character(ranges$REF))
  expect_identical(polarised$AA_reason, in_info(result)$AA_reason)
  ranges$REF <- as.character(ranges$REF)
  ranges$ALT <- as.character(unlist(ranges$ALT))
  texts <- annotate_variants(ranges, calls, polarise = TRUE, verbose = FALSE)
  expect_identical(texts$REF, as.character(polarised$REF))
  expect_identical(texts$ALT, ranges$REF)
})

test_that("alleles of ranges may be factors, also where they are exchanged", {
  require_package("VariantAnnotation")
  require_htslib()
  ranges <- GenomicRanges::GRanges("chr1", IRanges::IRanges(c(3, 1), width = 1), REF = factor("A"),
                                   ALT = factor(c("G", "T")))
  result <- annotate_variants(ranges, calls_folder(c(chr1 = "TCA")), polarise = TRUE,
                              verbose = FALSE)
  expect_identical(result$REF, c("A", "T"))
  expect_identical(result$ALT, c("G", "A"))
})

test_that("indels in memory get the states of those in a file", {
  require_htslib()
  require_package("VariantAnnotation")
  set.seed(804)
  case <- simulated_indels(30, c("near1", "near2", "far"))
  run <- run_of_alignments(case$genome, case$rows, 2)
  reference <- write_fasta(c(chr1 = case$genome), tempfile(fileext = ".fa"))
  vcf <- write_vcf(vcf_records("chr1", case$position, case$ref, case$alt))
  expected <- records_of(annotate(vcf, run, reference = reference, also = "indels")$out)
  variants <- VariantAnnotation::readVcf(vcf)
  shuffled <- sample(length(variants))
  annotate_some <- function(variants, ...) {
    annotate_variants(variants, run, reference = reference, also = "indels", verbose = FALSE, ...)
  }
  info <- VariantAnnotation::info(annotate_some(variants[shuffled]))
  expect_identical(info$AA_reason, info_of(expected, "AA_reason")[shuffled])
  expect_identical(ifelse(is.na(info$AA), ".", info$AA), info_of(expected, "AA")[shuffled])

  ranges <- annotate_some(SummarizedExperiment::rowRanges(variants), polarise = TRUE)
  called <- ranges$AA_reason %in% c("OK", "LOW")
  expect_identical(as.character(ranges$REF)[called], case$ancestral[called])
})
