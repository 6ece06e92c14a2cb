# VCF as text, and what is expected of it, in plain R.

write_vcf <- function(records, path = tempfile(fileext = ".vcf"), header = vcf_header(records)) {
  writeLines(c(header, records), path)
  path
}

# `records`: lines of at least eight columns; more are FORMAT and samples s1, s2, ...
vcf_header <- function(records, contigs = unique(sub("\t.*", "", records)), more = character()) {
  columns <- c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
  n <- max(8, lengths(strsplit(records, "\t")))
  if (n > 9) columns <- c(columns, "FORMAT", paste0("s", seq_len(n - 9)))
  c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=%s>", contigs), more,
    paste(columns, collapse = "\t")
  )
}

vcf_records <- function(chromosome, position, ref, alt, info = ".") {
  paste(chromosome, position, ".", ref, alt, ".", ".", info, sep = "\t")
}

# Sorted records with single bases, several ALTs, indels and no ALT.
random_vcf <- function(lengths, n = 60) {
  unlist(lapply(names(lengths), function(name) {
    position <- sort(sample(lengths[[name]], n, replace = TRUE))
    allele <- function(n) {
      sample(c("A", "C", "G", "T", "a", "N", "AC", "GTT", "*", "<DEL>"), n, replace = TRUE,
             prob = c(rep(4, 4), rep(1, 6)))
    }
    ref <- sub("[*<].*", "T", allele(n))
    alt <- vapply(sample(0:3, n, replace = TRUE, prob = c(1, 6, 2, 1)), function(k) {
      if (k == 0) "." else paste(allele(k), collapse = ",")
    }, "")
    vcf_records(name, position, ref, alt)
  }))
}

as_bgzip <- function(path, to = paste0(path, ".gz")) {
  require_tool("bgzip")
  stopifnot(system2("bgzip", c("-c", shQuote(path)), stdout = to) == 0)
  to
}

as_bcf <- function(path, to = sub("vcf$", "bcf", path)) {
  require_tool("bcftools")
  stopifnot(system2("bcftools", c("view", "-Ob", "-o", shQuote(to), shQuote(path))) == 0)
  to
}

# The records of a file as bcftools reads them, and an error where it complains.
bcftools_lines <- function(command, path, ...) {
  require_tool("bcftools")
  result <- run_program("bcftools", command, ..., path)
  expect_identical(result$status, 0L)
  expect_identical(result$err, character())
  result$out
}

variant_annotation_vcf <- function() {
  path <- system.file("extdata", "chr22.vcf.gz", package = "VariantAnnotation")
  if (!nzchar(path)) lacking("the package VariantAnnotation")
  path
}

require_htslib <- function() {
  if (is.na(ancify_build_info()$htslib)) lacking("a build with htslib")
}
