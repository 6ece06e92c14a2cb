# Spectra of files without genotypes, or without ancestral alleles.

write_records <- function(records, header = character(), samples = character()) {
  path <- tempfile(fileext = ".vcf")
  columns <- c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO",
               if (length(samples)) c("FORMAT", samples))
  writeLines(c("##fileformat=VCFv4.2", "##contig=<ID=1,length=10000>", header,
               paste(columns, collapse = "\t"), records), path)
  path
}

counts_header <- c(
  "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"Allele count\">",
  "##INFO=<ID=AN,Number=1,Type=Integer,Description=\"Allele number\">",
  "##INFO=<ID=AA,Number=1,Type=String,Description=\"Ancestral allele\">"
)

site <- function(position, ref, alt, info) {
  paste(1, position, ".", ref, alt, ".", "PASS", info, sep = "\t")
}

counts_of <- function(x) as.vector(plain_array(x))

test_that("AC and AN of a file of sites give the spectrum of one population", {
  vcf <- write_records(c(
    site(1, "A", "T", "AA=A;AC=1;AN=6"), site(2, "C", "T", "AA=T;AC=1;AN=6"),
    site(3, "G", "T", "AA=G;AC=4;AN=6"), site(4, "C", "T", "AA=C;AC=3;AN=4"),
    site(5, "C", "T", "AA=C;AN=6"), site(6, "C", "T,G", "AA=C;AC=1,1;AN=6"),
    site(7, "C", "T", "AA=C;AC=.;AN=6")
  ), counts_header)
  x <- sfs_from_vcf(vcf, NULL, progress = FALSE)
  expect_identical(counts_of(x), c(0, 1, 0, 0, 1, 1, 0))
  records <- attr(x, "records")
  expect_identical(records$records[match(c("USED", "TOO_FEW", "MULTIALLELIC"), records$reason)],
                   c(3, 3, 1))
  # Fewer haplotypes take sites of fewer too
  expect_equal(sum(sfs_from_vcf(vcf, NULL, project = 4, progress = FALSE), 0) > 0, TRUE)
  expect_identical(attr(sfs_from_vcf(vcf, NULL, 4, progress = FALSE), "sites")$used, 4)
  folded <- sfs_from_vcf(vcf, NULL, folded = TRUE, progress = FALSE)
  expect_identical(counts_of(folded), c(0, 2, 1, 0, 0, 0, 0))
  more <- write_records(site(1, "A", "T", "AA=A;AC=7;AN=6"), counts_header)
  expect_ancify_error(sfs_from_vcf(more, NULL, progress = FALSE), "format", "AC is 7, but AN is 6")
  for (bad in c("AC=1e3;AN=4e3", "AC=1.9;AN=6", "AC=12abc;AN=60")) {
    odd <- write_records(site(1, "A", "T", paste0("AA=A;", bad)), counts_header)
    expect_ancify_error(sfs_from_vcf(odd, NULL, progress = FALSE), "format", odd,
                        "not a whole number")
  }
  bare <- write_records(site(1, "A", "T", "AA=A"), counts_header)
  expect_ancify_error(sfs_from_vcf(bare, NULL, progress = FALSE), "format", "AC and AN")
})

test_that("a folded spectrum needs no ancestral allele", {
  gt <- function(position, ref, alt, info, ...) {
    paste(c(site(position, ref, alt, info), "GT", ...), collapse = "\t")
  }
  records <- c(
    gt(10, "A", "C", ".", "0/1", "0/0", "1/1", "0/0"),
    gt(20, "a", "C", "AA=C", "1/1", "1/1", "1/1", "0/0"),
    gt(30, "AT", "A", ".", "1/1", "1/1", "1/1", "0/0")
  )
  vcf <- write_records(records, c(
    counts_header, "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">"
  ), paste0("s", 1:4))
  one <- stats::setNames(rep("p", 4), paste0("s", 1:4))
  x <- sfs_from_vcf(vcf, one, folded = TRUE, progress = FALSE)
  expect_true(attr(x, "folded"))
  expect_identical(counts_of(x)[2:5], c(0, 1, 1, 0))
  expect_null(attr(x, "misidentification"))
  # Two populations, and windows
  two <- stats::setNames(rep(c("p", "q"), each = 2), names(one))
  set.seed(1)
  joint <- sfs_from_vcf(vcf, two, folded = TRUE, window = 15, replicates = 3, progress = FALSE)
  expect_identical(sum(joint), 2)
  expect_identical(unclass(joint)["1", "2"], 1)
  expect_length(attr(joint, "bootstrap"), 3)
  expect_true(attr(attr(joint, "bootstrap")[[1]], "folded"))
  # As from any choice of ancestral alleles
  fasta <- tempfile(fileext = ".fa")
  writeLines(c(">1", paste(rep("C", 40), collapse = "")), fasta)
  expect_identical(counts_of(fold(sfs_from_vcf(vcf, one, ancestral = fasta, progress = FALSE))),
                   counts_of(x))
  unknown <- write_records(records[1], c(
    counts_header, "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">"
  ), paste0("s", 1:4))
  expect_ancify_error(sfs_from_vcf(unknown, one, progress = FALSE), "input", "`folded = TRUE`")
  expect_ancify_error(sfs_from_vcf(vcf, one, ancestral = fasta, folded = TRUE), "input", "folded")
  expect_ancify_error(sfs_from_vcf(vcf, one, kind = "indels", folded = TRUE), "input", "SNPs")
})
