# ALTs that stand for no allele of their own: spanning deletions and alleles that were not seen.

spanning_header <- c(
  vcf_info,
  "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"c\">",
  "##INFO=<ID=AF,Number=A,Type=Float,Description=\"f\">",
  "##INFO=<ID=AN,Number=1,Type=Integer,Description=\"n\">",
  "##INFO=<ID=AA_reason,Number=1,Type=String,Description=\"r\">",
  "##INFO=<ID=END,Number=1,Type=Integer,Description=\"e\">",
  "##FORMAT=<ID=AD,Number=R,Type=Integer,Description=\"d\">",
  "##FORMAT=<ID=PL,Number=G,Type=Integer,Description=\"l\">",
  "##FORMAT=<ID=PW,Number=G,Type=String,Description=\"w\">",
  "##FORMAT=<ID=SB,Number=4,Type=Integer,Description=\"s\">"
)

spanning_vcf <- function(records) {
  write_vcf(records, header = vcf_header(records, more = spanning_header))
}

# The lines of records after annotation.
annotated_lines <- function(vcf, bases, ...) {
  out <- tempfile(fileext = ".vcf")
  suppressWarnings(
    annotate_vcf(vcf, calls_folder(list(chr1 = bases)), out, verbose = FALSE, threads = 1, ...)
  )
  grep("^chr1", readLines(out), value = TRUE)
}

reasons_of <- function(lines) sub(".*AA_reason=([A-Z_]+).*", "\\1", lines)

# Genotypes of a ploidy in the order of VCF, as sorted rows.
oracle_genotypes <- function(alleles, ploidy) {
  all <- expand.grid(rep(list(seq_len(alleles) - 1), ploidy))
  all <- unique(matrix(apply(all, 1, sort), ncol = ploidy, byrow = TRUE))
  all[do.call(order, lapply(ploidy:1, function(k) all[, k])), , drop = FALSE]
}

# The values of a field of Number=G after an exchange of the first allele and `alt`.
oracle_exchanged <- function(values, alleles, alt, ploidy) {
  genotypes <- oracle_genotypes(alleles, ploidy)
  other <- replace(seq_len(alleles) - 1, c(1, alt + 1), c(alt, 0))
  key <- apply(genotypes, 1, paste, collapse = " ")
  new <- apply(genotypes, 1, function(one) paste(sort(other[one + 1]), collapse = " "))
  values[match(new, key)]
}

test_that("a base beside ALTs that are no alleles is a SNP, and without one there is no variant", {
  require_htslib()
  for (no in no_alleles) {
    alts <- c(paste0("C,", no), paste0(no, ",C"), paste0(no, ",*,c"), no, paste0("C,G,", no),
              paste0("AT,", no), paste0("<DEL>,", no))
    vcf <- spanning_vcf(vcf_records("chr1", seq_along(alts), "A", alts))
    expect_identical(
      reasons_of(annotated_lines(vcf, "ACCAAAA")),
      c("OK", "OK", "OK", "OK", "MULTIALLELIC", "INDEL", "INDEL"), info = no
    )
    several <- annotated_lines(vcf, "GGGGGGG", also = "multiallelic")
    expect_identical(
      reasons_of(several), c(rep("NEITHER_ALLELE", 4), "OK", "INDEL", "INDEL"), info = no
    )
  }
})

test_that("exchanged records keep the place of an ALT that is no allele", {
  require_htslib()
  pl <- c("1", "20", "300", "4000", "50", "6")
  record <- function(position, alt, genotypes) {
    paste(
      vcf_records("chr1", position, "A", alt, "AC=3,1;AN=9;AF=0.5,0.125;END=9"), "GT:AD:PL:PW:SB",
      paste(genotypes, "7,8,9", paste(pl, collapse = ","), "a,bc,d,e,f,ghi", "1,2,3,4", sep = ":"),
      "1:7,8,9:1,20,300:.:.", sep = "\t"
    )
  }
  vcf <- spanning_vcf(c(record(1, "C,*", "0/2"), record(2, "<NON_REF>,C", "0|1")))
  lines <- strsplit(annotated_lines(vcf, "CC", polarise = TRUE), "\t")
  expect_identical(lapply(lines, `[`, 4:5), list(c("C", "A,*"), c("C", "<NON_REF>,A")))
  info <- function(i, id) sub(sprintf(".*\\b%s=([^;]*).*", id), "\\1", lines[[i]][8])
  expect_identical(c(info(1, "AC"), info(2, "AC")), c("5,1", "3,5"))
  expect_identical(c(info(1, "AF"), info(2, "AF")), c("0.375,0.125", "0.5,0.375"))
  expect_identical(c(info(1, "END"), info(1, "AA_old_ref")), c("9", "A"))
  expected <- function(alt, genotype, ad) {
    diploid <- oracle_exchanged(pl, 3, alt, 2)
    words <- oracle_exchanged(c("a", "bc", "d", "e", "f", "ghi"), 3, alt, 2)
    haploid <- oracle_exchanged(pl[1:3], 3, alt, 1)
    list(
      "GT:AD:PL:PW",
      paste(genotype, ad, paste(diploid, collapse = ","), paste(words, collapse = ","), sep = ":"),
      paste(if (alt == 1) 0 else 1, ad, paste(haploid, collapse = ","), ".", sep = ":")
    )
  }
  expect_identical(as.list(lines[[1]][9:11]), expected(1, "1/2", "8,7,9"))
  expect_identical(as.list(lines[[2]][9:11]), expected(2, "2|1", "9,8,7"))
})

test_that("values of triploid genotypes follow too, and an exchange is undone by another", {
  require_htslib()
  words <- paste0("w", seq_len(nrow(oracle_genotypes(3, 3))))
  vcf <- spanning_vcf(paste(
    vcf_records("chr1", 1, "A", "*,C"), "GT:PW", paste0("0/1/2:", paste(words, collapse = ",")),
    sep = "\t"
  ))
  out <- tempfile(fileext = ".vcf")
  annotate_vcf(vcf, calls_folder(list(chr1 = "C")), out, polarise = TRUE, verbose = FALSE)
  line <- strsplit(tail(readLines(out), 1), "\t")[[1]]
  expect_identical(
    line[10], paste0("2/1/0:", paste(oracle_exchanged(words, 3, 2, 3), collapse = ","))
  )
  back <- annotated_lines(out, "A", polarise = TRUE)
  expect_identical(strsplit(back, "\t")[[1]][c(4, 5, 9, 10)],
                   strsplit(tail(readLines(vcf), 1), "\t")[[1]][c(4, 5, 9, 10)])
})

test_that("haplotypes without the base are not called, in spectra, by AC and in counts", {
  require_htslib()
  records <- vcf_records(
    "chr1", 2:5, "A", c("C,*", "*,C", "C,<NON_REF>", "*"),
    c("AA=A;AC=2,1;AN=6", "AA=C;AC=1,2;AN=6", "AA=A;AC=2,0;AN=6", "AA=A;AC=1;AN=6")
  )
  genotypes <- rbind(
    c("0|1", "1|2", "0|0"), c("0|1", "2|2", "0|0"), c("0|1", "0|1", "0|0"), c("0|1", "0|0", "0|0")
  )
  lines <- paste(records, "GT", apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  populations <- c(s1 = "P", s2 = "P", s3 = "P")
  x <- sfs_from_vcf(spanning_vcf(lines), populations, project = 5, threads = 1)
  one <- function(derived, called) dhyper(0:5, derived, called - derived, 5)
  expected <- one(2, 5) + one(3, 5) + one(2, 6)
  expect_equal(as.vector(plain_array(x))[2:5], expected[2:5])
  expect_identical(records_of_reason(x)[["MONOMORPHIC"]], 1)
  sites <- sfs_from_vcf(spanning_vcf(records), NULL, project = 5, threads = 1)
  expect_equal(as.vector(plain_array(sites))[2:5], expected[2:5])
  found <- mutation_spectrum(spanning_vcf(lines), calls_folder(list(chr1 = "AACAAA")), threads = 1)
  expect_identical(records_of_reason(found)[["USED"]], 3)
})

test_that("likelihoods are those of the base and REF", {
  require_htslib()
  pl <- c(0, 10, 30, 5, 6, 7)
  sample_of <- function(values) paste(values, collapse = ",")
  populations <- c(s1 = "P", s2 = "P")
  record <- function(alt, first, second) {
    spanning_vcf(paste(vcf_records("chr1", 1:2, "A", alt, "AA=A"), "PL", sample_of(first),
                       sample_of(second), sep = "\t"))
  }
  of <- function(vcf) {
    plain_array(suppressWarnings(sfs_from_likelihoods(vcf, populations, threads = 1)))
  }
  plain <- of(record("C", pl[1:3], c(20, 0, 20)))
  expect_equal(of(record("C,*", pl, c(20, 0, 20, 9, 1, 2))), plain)
  behind <- c(0, 5, 6, 10, 7, 30)
  expect_equal(of(record("*,C", behind, c(20, 9, 1, 0, 2, 20))), plain)
  expect_ancify_error(of(record("C,*", 1:3, 1:3)), "format", "a diploid one has 6")
})

test_that("genotypes and pairs of sites take such SNPs, without haplotypes that lack the base", {
  require_htslib()
  lines <- paste(
    vcf_records("chr1", 1:3, "A", c("C,*", "<NON_REF>,C", "*")), "GT",
    c("0/1\t1/1\t1/2", "0/2\t2/2\t0/1", "0/1\t0/0\t0/0"), sep = "\t"
  )
  x <- open_genotypes(spanning_vcf(lines))
  found <- as.matrix(x)
  expect_equal(found, matrix(c(1, 2, NA), 3, 2), ignore_attr = TRUE)
})

test_that("count_variants() takes SNPs beside a spanning deletion, and tells of excluded sites", {
  require_htslib()
  config <- ancify_example()
  ancify_run(config, "project", threads = 1, verbose = FALSE)
  count <- function(alts, info = ".") {
    lines <- paste(vcf_records("chr1", c(100, 200), "A", alts, info), "GT", "0/1\t0/2", sep = "\t")
    count_variants(config, spanning_vcf(sub("0/2", "0/0", lines)))
  }
  plain <- count(c("C", "G"))
  expect_identical(count(c("C,*", "G,<NON_REF>")), plain)
  for (reason in c("MASKED", "REF_MISMATCH")) {
    info <- c(paste0("AA_reason=", reason), "AA_reason=OK")
    expect_warning(
      found <- count(c("C", "G"), info), "1 site is left out", class = "ancify_annotation_warning"
    )
    expect_identical(sum(found$sites), sum(plain$sites) - 1)
  }
})
