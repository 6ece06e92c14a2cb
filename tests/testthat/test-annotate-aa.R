# A VCF's own AA as the source of ancestral alleles.

aa_header <- "##INFO=<ID=AA,Number=1,Type=String,Description=\"x\">"

# The kind of AA, from the text of INFO.
oracle_letter <- function(info) {
  text <- regmatches(info, regexec("(^|;)AA=([^;]*)", info))[[1]]
  if (!length(text)) {
    return("absent")
  }
  letter <- sub("\\|.*", "", text[3])
  if (letter %in% c("A", "C", "G", "T")) {
    "high"
  } else if (letter %in% c("a", "c", "g", "t")) {
    "low"
  } else if (letter %in% c(".", "-")) {
    letter
  } else if (letter %in% c("N", "n")) {
    "N"
  } else {
    "other"
  }
}

letters_of <- function(result) {
  table <- attr(result, "letters")
  stats::setNames(table$records, table$letter)
}

test_that("the AA of records is the ancestral allele, and stays as it is", {
  require_htslib()
  values <- c("A|||", "g", ".", "-", "N|||", "?|TT|T|unsure", "AC", "n", "T", ".|||")
  records <- vcf_records("chr1", seq_along(values), "A", "G", paste0("AA=", values))
  records <- c(records, vcf_records("chr1", 11:12, "A", c("G,T", "G"), c("AA=A", "DP=3")))
  vcf <- write_vcf(records, header = vcf_header(records, more = c(
    aa_header, "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"x\">"
  )))
  out <- tempfile(fileext = ".vcf")
  result <- annotate_vcf(vcf, "AA", out, polarise = TRUE, verbose = FALSE)
  lines <- grep("^#", readLines(out), value = TRUE, invert = TRUE)
  fields <- do.call(rbind, strsplit(lines, "\t"))
  reason <- sub(".*AA_reason=([A-Z_]+).*", "\\1", fields[, 8])
  expect_identical(reason, c(
    "OK", "LOW", rep("NO_COVERAGE", 5), "UNRESOLVED", "NEITHER_ALLELE", "NO_COVERAGE",
    "MULTIALLELIC", "NO_COVERAGE"
  ))
  expect_identical(sub("(;|^)AA=([^;]*).*", "\\2", fields[1:10, 8]), values)
  expect_identical(fields[2, 4:5], c("G", "A"))
  expect_identical(attr(result, "swapped"), 1)
  expected <- table(factor(vapply(strsplit(records, "\t"), function(record) {
    oracle_letter(record[8])
  }, ""), names(letters_of(result))))
  expect_identical(letters_of(result), c(expected) + 0)
  expect_message(annotate_vcf(vcf, "AA", out), "AA of the records: high 3, low 1, \\. 2, - 1")
})

test_that("a file without AA is an error, and leaves no output", {
  require_htslib()
  vcf <- write_vcf(vcf_records("chr1", 1:2, "A", "G"))
  out <- tempfile(fileext = ".vcf")
  expect_ancify_error(annotate_vcf(vcf, "AA", out), "input", "no record", "AA in INFO")
  expect_false(file.exists(out))
})

test_that("spectra by AA are those of a polarised file, in the 1000 Genomes' data", {
  require_htslib()
  vcf <- variant_annotation_vcf()
  lines <- readLines(vcf)
  records <- strsplit(grep("^#", lines, value = TRUE, invert = TRUE), "\t")
  samples <- strsplit(grep("^#CHROM", lines, value = TRUE), "\t")[[1]][-(1:9)]
  populations <- stats::setNames(rep("p", length(samples)), samples)
  spectrum <- sfs_from_vcf(vcf, populations, ancestral = "AA", threads = 1)
  expect_identical(spectrum, sfs_from_vcf(vcf, populations, threads = 1))
  expected <- table(factor(
    vapply(records, function(record) oracle_letter(record[8]), ""), names(letters_of(spectrum))
  ))
  expect_identical(letters_of(spectrum), c(expected) + 0)
  out <- tempfile(fileext = ".vcf.gz")
  annotate_vcf(vcf, "AA", out, polarise = TRUE, verbose = FALSE)
  # By hand: copies of ALT where REF is ancestral.
  lines <- grep("AA_reason=(OK|LOW)", readLines(out), value = TRUE)
  lines <- lines[!startsWith(lines, "#")]
  copies <- vapply(strsplit(lines, "\t"), function(record) {
    sum(strsplit(paste(sub(":.*", "", record[-(1:9)]), collapse = "|"), "[|/]")[[1]] == "1")
  }, 0L)
  n <- 2 * length(samples)
  inner <- seq_len(n - 1)
  expect_equal(
    as.vector(as.array(spectrum))[inner + 1], c(table(factor(copies, inner))), ignore_attr = TRUE
  )
})

test_that("AA of a BCF is that of the VCF, and bcftools reads the same values", {
  require_htslib()
  values <- c("A|||", "g", ".", "-", "N", "?|TT|T|unsure", "AC", "n", ".|||")
  records <- vcf_records("chr1", seq_along(values), "A", "G", paste0("AA=", values))
  vcf <- write_vcf(records, header = vcf_header(records, more = aa_header))
  bcf <- as_bcf(vcf)
  expect_identical(bcftools_lines("query", bcf, "-f", "%INFO/AA\n"), values)
  results <- lapply(c(vcf, bcf), function(path) {
    annotate_vcf(path, "AA", tempfile(fileext = ".vcf"), verbose = FALSE)
  })
  expect_identical(letters_of(results[[2]]), letters_of(results[[1]]))
  expect_identical(letters_of(results[[1]])[["."]], 2)
})

test_that("AA of a small file of the VCF's specification", {
  require_htslib()
  vcf <- test_data("vcf", "ex2.vcf")
  result <- annotate_vcf(vcf, "AA", tempfile(fileext = ".vcf"), verbose = FALSE)
  records <- grep("^#", readLines(vcf), value = TRUE, invert = TRUE)
  info <- vapply(strsplit(records, "\t"), `[`, "", 8)
  kinds <- factor(vapply(info, oracle_letter, ""), names(letters_of(result)))
  expect_identical(letters_of(result), c(table(kinds)) + 0)
  expect_gt(letters_of(result)[["high"]], 0)
  expect_gt(letters_of(result)[["absent"]], 0)
})

test_that("a file that is called AA is read by ./AA", {
  require_htslib()
  folder <- new_folder()
  writeLines(c(">chr1", "ACGT"), file.path(folder, "AA"))
  vcf <- write_vcf(vcf_records("chr1", 2, "C", "T"))
  out <- tempfile(fileext = ".vcf")
  before <- setwd(folder)
  on.exit(setwd(before))
  expect_ancify_error(annotate_vcf(vcf, "AA", out), "input", "AA in INFO")
  annotate_vcf(vcf, "./AA", out, verbose = FALSE)
  expect_match(readLines(out), "AA=C;AA_reason=OK", all = FALSE)
})
