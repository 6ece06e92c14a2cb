# Counts records by hand: list(derived copies of called haplotypes, reason).
oracle_indel_sites <- function(lines, kind) {
  lapply(strsplit(lines, "\t"), function(field) {
    alts <- strsplit(field[5], ",")[[1]]
    alleles <- c(field[4], alts)
    aa <- sub(".*AA=", "", field[8])
    known <- toupper(aa) %in% alleles && aa %in% c(toupper(aa), tolower(aa))
    longer <- nchar(setdiff(alleles, toupper(aa))[1]) - nchar(aa)
    reason <- if (!all(grepl("^[ACGT]+$", alleles))) {
      "INDEL"
    } else if (all(nchar(alleles) == 1)) {
      "OTHER_KIND"
    } else if (length(alts) > 1) {
      "MULTIALLELIC"
    } else if (length(unique(nchar(alleles))) == 1) {
      "OTHER_KIND"
    } else if (!grepl("^([ACGT]+|[acgt]+)$", aa)) {
      "NO_COVERAGE"
    } else if (!known) {
      "NEITHER_ALLELE"
    } else if (kind == "insertions" && longer < 0 || kind == "deletions" && longer > 0) {
      "OTHER_KIND"
    } else {
      "USED"
    }
    genotypes <- as.numeric(unlist(strsplit(field[10:13], "[/|]")))
    list(reason = reason, derived = sum(alleles[genotypes + 1] != toupper(aa)))
  })
}

test_that("spectra of indels are those of the plain implementation", {
  require_htslib()
  set.seed(811)
  alleles <- c("A", "AC", "ACG", "AT", "G", "<DEL>")
  records <- vapply(1:300, function(i) {
    drawn <- sample(alleles, 3, prob = c(4, 3, 3, 2, 2, 1))
    ref <- setdiff(drawn, "<DEL>")[1]
    alts <- setdiff(drawn, ref)
    if (runif(1) < 0.8) alts <- alts[1]
    aa <- sample(c(ref, alts[1], tolower(ref), "aCG", ".", "TTT"), 1, prob = c(4, 4, 2, 1, 1, 1))
    genotypes <- replicate(4, paste(sample(0:length(alts), 2, TRUE), collapse = "|"))
    paste(c(vcf_records("1", i, ref, paste(alts, collapse = ","), paste0("AA=", aa)), "GT",
            genotypes), collapse = "\t")
  }, "")
  header <- vcf_header(records, more = c(
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">"
  ))
  vcf <- write_vcf(records, header = header)
  populations <- stats::setNames(rep("one", 4), paste0("s", 1:4))
  for (kind in c("indels", "insertions", "deletions")) {
    expected <- oracle_indel_sites(records, kind)
    reasons <- vapply(expected, `[[`, "", "reason")
    x <- sfs_from_vcf(vcf, populations, kind = kind, threads = 2)
    found <- records_of_reason(x)
    expect_identical(found[found > 0], c(table(factor(reasons, names(found)))[found > 0]) + 0)
    derived <- vapply(expected[reasons == "USED"], `[[`, 0, "derived")
    expect_equal(as.numeric(x)[2:8], as.numeric(table(factor(derived, 1:7))))
    expect_gt(sum(reasons == "USED"), 30)
  }
  expect_ancify_error(
    sfs_from_vcf(vcf, populations, kind = "indels", ancestral = calls_folder(c(chr1 = "ACGT"))),
    "input", "also = \"indels\""
  )
  expect_ancify_error(sfs_from_vcf(vcf, populations, kind = "indel"), "input", "indels")
})
