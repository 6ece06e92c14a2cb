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

test_that("variants in memory get what annotate_vcf() writes for their file, in any order", {
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

test_that("other columns stay, and a written file declares the fields", {
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
  expect_setequal(new$AA[VariantAnnotation::isSNV(result)], "g")
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
  declared <- sprintf("##INFO=<ID=%s,Number=.,Type=Float,Description=\"x\">", c("AA_post", "AA_prob"))
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
  expect_ancify_error(annotate_variants(variants, calls, polarise = TRUE), "input", "`polarise`")
  expect_ancify_error(annotate_variants(variants, calls, out = "a.vcf"), "input", "`out`")
  other <- calls_folder(c(chr2 = "ACGT"))
  expect_ancify_error(annotate_variants(variants, other), "input", "chr1")
})
