# Genotypes as PLINK 1.9 and PLINK 2 read and write them.

# Frequencies of A1 and numbers of observed alleles, by variant ID
plink_frequencies <- function(path) {
  out <- run_plink("plink1.9", "--bfile", sub(".bed$", "", path), "--freq", "--nonfounders",
                   "--allow-no-sex", "--keep-allele-order")
  utils::read.table(paste0(out, ".frq"), header = TRUE, colClasses = c(SNP = "character"))
}

# plink1.9 prints four digits.
expect_plink_frequencies <- function(path) {
  expected <- plink_frequencies(path)
  counts <- summary(open_genotypes(path))
  counts <- counts[match(expected$SNP, counts$id), ]
  expect_identical(2L * counts$n, expected$NCHROBS)
  expect_identical(signif(counts$frequency, 4), replace(expected$MAF, counts$n == 0, NA))
  nrow(expected)
}

test_that("frequencies are those of PLINK 1.9", {
  set.seed(1)
  calls <- random_calls(200, 300, missing = 0.1)
  calls[, 7] <- NA
  expect_identical(expect_plink_frequencies(bed_fileset(calls)), 300L)
})

test_that("the mice of GEMMA have the frequencies of PLINK 1.9", {
  path <- paste0(mouse_files(), ".bed")
  g <- open_genotypes(path)
  expect_identical(dim(g), c(1940L, 12226L))
  expect_identical(names(g$samples)[5:11], c("sex", sprintf("pheno%d", 1:6)))
  expect_identical(sum(!is.na(g$samples$pheno1)), 1410L)
  phenotyped <- summary(g[!is.na(g$samples$pheno1), ])
  varying <- phenotyped$frequency > 0 & phenotyped$frequency < 1
  expect_identical(sum(varying), 10992L)
  # PLINK leaves out variants without a position.
  expect_identical(expect_plink_frequencies(path), sum(g$variants$position >= 0))
  expect_identical(bare(as.matrix(g[, 501:520])), plain_bed(path, 1940)[, 501:520])
})

test_that("PLINK reads what write_bed() writes", {
  set.seed(2)
  calls <- random_calls(203, 50)
  g <- open_genotypes(bed_fileset(calls))
  chosen <- g[sample(203, 77), sort(sample(50, 31))]
  written <- write_bed(chosen, tempfile())
  stem <- sub(".bed$", "", written)
  expect_plink_frequencies(written)
  for (program in c("plink1.9", "plink2")) {
    copy <- paste0(run_plink(program, "--bfile", stem, "--make-bed", "--allow-no-sex",
                             if (program == "plink1.9") "--keep-allele-order"), ".bed")
    expect_identical(file_bytes(copy), file_bytes(written))
    expect_identical(as.matrix(open_genotypes(copy)), as.matrix(chosen))
  }
})

test_that("PGEN of PLINK 2 have the calls of their BED, by every track", {
  set.seed(3)
  # Around 256 and 65,536 samples are numbered by more bytes.
  for (n in c(1, 3, 50, 255, 256, 257, 1000, 65535, 65536)) {
    calls <- calls_of_all_tracks(n, if (n > 60000) 27 else 108)
    stem <- run_plink("plink2", "--bfile", sub(".bed$", "", bed_fileset(calls)), "--make-pgen")
    path <- paste0(stem, ".pgen")
    g <- open_genotypes(path)
    expect_identical(bare(as.matrix(g)), calls)
    some <- sample(ncol(calls), 13)
    expect_identical(bare(as.matrix(g[, some])), calls[, some, drop = FALSE])
    if (n > 60000) next
    plain <- plain_pgen(path)
    expect_identical(bare(plain), calls)
    if (n >= 255) expect_setequal(attr(plain, "tracks"), c(0:4, 6, 7))
  }
})

test_that("PGEN of PLINK 2 without records have the calls of their BED", {
  set.seed(4)
  calls <- random_calls(57, 41)
  bed <- bed_fileset(calls)
  stem <- run_plink("plink2", "--bfile", sub(".bed$", "", bed), "--make-pgen", "format=2")
  expect_identical(file_bytes(paste0(stem, ".pgen"))[3], as.raw(2))
  g <- open_genotypes(stem)
  expect_identical(bare(as.matrix(g)), calls)
  expect_identical(g$variants, open_genotypes(bed)$variants)
  expect_identical(g$samples[c("family", "id")], open_genotypes(bed)$samples[c("family", "id")])
  written <- write_bed(g, tempfile())
  expect_identical(file_bytes(written), file_bytes(bed))
})

test_that("PGEN of several blocks are read", {
  set.seed(5)
  calls <- random_calls(6, 65540)
  stem <- run_plink("plink2", "--bfile", sub(".bed$", "", bed_fileset(calls)), "--make-pgen")
  g <- open_genotypes(stem)
  last <- 65530:65540
  expect_identical(bare(as.matrix(g[, last])), calls[, last])
  expect_identical(bare(as.matrix(g)), calls)
})

test_that("phased calls, dosages and several ALT alleles are refused with the way out", {
  header <- c(
    "##fileformat=VCFv4.2", "##contig=<ID=1>",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Call\">",
    "##FORMAT=<ID=DS,Number=A,Type=Float,Description=\"Dosage\">"
  )
  columns <- "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT s1 s2 s3 s4"
  records <- c(
    plain = "1 1 v1 A C . . . GT:DS 0/1:1 0/0:0 1/1:2 ./.:.",
    phased = "1 2 v2 A C . . . GT:DS 0|1:1 1|0:1 1/1:2 0/0:0",
    dosages = "1 2 v2 A C . . . GT:DS 0/1:1.2 0/0:0.1 1/1:2 0/0:0",
    several = "1 2 v2 A C,T . . . GT 0/1 0/2 1/1 0/0"
  )
  why <- c(phased = "phased calls", dosages = "dosages", several = "several ALT alleles")
  for (kind in names(why)) {
    vcf <- tempfile(fileext = ".vcf")
    writeLines(c(header, gsub(" ", "\t", c(columns, records[c("plain", kind)]))), vcf)
    stem <- run_plink("plink2", "--vcf", vcf, if (kind == "dosages") "dosage=DS", "--make-pgen")
    if (kind == "several") {
      expect_ancify_error(open_genotypes(stem), "format", ".pvar", "line", why[[kind]])
      pvar <- paste0(stem, ".pvar")
      writeLines(sub("C,T", "C", readLines(pvar)), pvar)
    }
    message <- conditionMessage(expect_ancify_error(
      open_genotypes(stem), "format", paste("variant 2 has", why[[kind]])
    ))
    if (kind == "several") next # its .pvar was changed
    # What the message says to run gives genotypes that open.
    arguments <- sub(".*plink2 (.*) --out NAME.*", "\\1", message)
    arguments <- gsub("'", "", strsplit(arguments, " ")[[1]])
    again <- do.call(run_plink, as.list(c("plink2", arguments)))
    expect_identical(dim(open_genotypes(again)), c(4L, 2L))
  }
})
