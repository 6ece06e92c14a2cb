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

test_that("PLINK 2 reads what write_pgen() writes", {
  set.seed(3)
  g <- open_genotypes(bed_fileset(random_calls(203, 50)))
  chosen <- g[sample(203, 77), sort(sample(50, 31))]
  written <- write_pgen(chosen, file.path(tempfile("new-"), "x.pgen"))
  stem <- sub(".pgen$", "", written)
  copy <- paste0(run_plink("plink2", "--pfile", stem, "--make-bed"), ".bed")
  expect_identical(as.matrix(open_genotypes(copy)), as.matrix(chosen))
  ours <- open_genotypes(written)
  expect_identical(as.matrix(ours), as.matrix(chosen))
  expect_identical(ours$variants, chosen$variants)
  expect_identical(unname(as.list(ours$samples[c("family", "id", "SEX")])),
                   unname(as.list(chosen$samples[c("family", "id", "sex")])))
  # Further columns of a .psam stay.
  again <- open_genotypes(write_pgen(ours[3:1, ], tempfile()))
  expect_identical(again$samples, ours[3:1, ]$samples)
  expect_ancify_error(write_pgen(ours, written, overwrite = TRUE), "input", "is a file of `g`")
  expect_ancify_error(write_pgen(chosen, stem), "input", "exists")
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

# A VCF whose calls have a phase, dosages or, if `several`, up to three ALT alleles, by variant.
# Returns its path.
vcf_of_all_tracks <- function(n, m, several = TRUE) {
  allele <- function(alts) sample(0:alts, n, replace = TRUE, prob = 2^-(0:alts))
  records <- vapply(seq_len(m), function(j) {
    kind <- j %% if (several) 6 else 4
    alts <- if (kind >= 4) 2 + j %% 2 else 1
    one <- allele(alts)
    two <- allele(alts)
    bar <- if (kind %% 2 == 1) sample(c("|", "/"), n, replace = TRUE) else "/"
    call <- paste0(one, bar, two)
    call[stats::runif(n) < 0.05] <- "./."
    with_dosage <- kind %in% 2:3
    if (with_dosage) {
      dosage <- pmin(2, pmax(0, one + two + round(stats::rnorm(n, sd = 0.2), 3)))
      call <- paste0(call, ":", dosage)
    }
    paste(c("1", 10 * j, paste0("v", j), "A", paste(c("C", "G", "T")[seq_len(alts)],
                                                    collapse = ","),
            ".", ".", ".", if (with_dosage) "GT:DS" else "GT", call), collapse = "\t")
  }, "")
  write_vcf(records, header = vcf_header(records, more = declared_formats))
}

# Genotypes have the calls of the VCF that PLINK 2 makes of them.
expect_calls_of_plink <- function(stem, several) {
  exported <- open_genotypes(paste0(run_plink("plink2", "--pfile", stem,
                                              if (file.exists(paste0(stem, ".pvar.zst"))) "vzs",
                                              "--export", "vcf"), ".vcf"))
  g <- suppressWarnings(open_genotypes(stem), "ancify_dosage_warning")
  expect_identical(as.matrix(g), as.matrix(exported))
  expect_identical(g$variants, exported$variants)
  expect_identical(g$split, several)
  some <- sample(ncol(g), min(7, ncol(g)))
  expect_identical(as.matrix(g[, some]), as.matrix(exported)[, some, drop = FALSE])
  g
}

test_that("PGEN with phase, dosages and several ALT alleles have the hard calls of PLINK 2", {
  set.seed(6)
  for (n in c(1, 7, 300)) {
    # PLINK 2 does not take dosages of several ALT alleles from a VCF.
    for (dosage in c(FALSE, TRUE)) {
      vcf <- vcf_of_all_tracks(n, 60, several = !dosage)
      for (vzs in c(FALSE, TRUE)) {
        if (vzs && is.na(ancify_build_info()$zstd)) next
        stem <- run_plink("plink2", "--vcf", vcf, if (dosage) "dosage=DS", "--make-pgen",
                          if (vzs) "vzs")
        expect_identical(file.exists(paste0(stem, ".pvar.zst")), vzs)
        g <- expect_calls_of_plink(stem, if (dosage) 0 else 20)
        expect_identical(ncol(g), if (dosage) 60L else 90L)
        if (!dosage) expect_identical(bare(as.matrix(g)), bare(as.matrix(open_genotypes(vcf))))
      }
    }
  }
})

test_that("dosages are told", {
  set.seed(9)
  stem <- run_plink("plink2", "--vcf", vcf_of_all_tracks(50, 12, several = FALSE), "dosage=DS",
                    "--make-pgen")
  expect_warning(open_genotypes(stem), "dosages of 6 variants.*plink2",
                 class = "ancify_dosage_warning")
})

# The SNPs of a VCF after bcftools has split its records: copies of ALT, a column for each.
copies_by_bcftools <- function(vcf) {
  require_tool("bcftools")
  norm <- tempfile(fileext = ".vcf")
  expect_identical(run_program("bcftools", "norm", "-m", "-any", "-o", norm, vcf)$status, 0L)
  lines <- bcftools_lines("query", norm, "-f", "%ID %REF %ALT[ %GT]\n")
  words <- do.call(cbind, strsplit(gsub("|", "/", lines, fixed = TRUE), " ", fixed = TRUE))
  codes <- c("0/0" = 0L, "0/1" = 1L, "1/0" = 1L, "1/1" = 2L)
  list(id = words[1, ], counted = words[3, ],
       calls = matrix(codes[words[-(1:3), ]], nrow(words) - 3))
}

test_that("variants of several ALT alleles are split as bcftools splits them", {
  set.seed(7)
  for (n in c(1, 5, 300)) {
    vcf <- vcf_of_all_tracks(n, 60)
    expected <- copies_by_bcftools(vcf)
    for (g in list(open_genotypes(run_plink("plink2", "--vcf", vcf, "--make-pgen")),
                   open_genotypes(vcf))) {
      expect_identical(g$split, 20)
      expect_identical(g$variants$id, expected$id)
      expect_identical(g$variants$counted, expected$counted)
      expect_identical(bare(as.matrix(g)), expected$calls)
      some <- c(ncol(g):30, 2)
      expect_identical(as.matrix(g[, some]), as.matrix(g)[, some, drop = FALSE])
    }
  }
})

test_that("many ALT alleles, in lists and in bits, are split as bcftools splits them", {
  set.seed(8)
  for (share in c(0.02, 0.5)) {
    n <- 300
    records <- vapply(1:20, function(j) {
      alts <- paste0("C", strrep("T", seq_len(j)))
      draw <- function() ifelse(runif(n) < share, sample(0:j, n, TRUE), 0)
      text <- paste(draw(), draw(), sep = "/")
      text[runif(n) < 0.03] <- "./."
      paste(c(1, j, paste0("v", j), "C", paste(alts, collapse = ","), ".", ".", ".", "GT", text),
            collapse = "\t")
    }, "")
    vcf <- vcf_file(records, paste0("s", seq_len(n)))
    g <- open_genotypes(run_plink("plink2", "--vcf", vcf, "--make-pgen"))
    expected <- copies_by_bcftools(vcf)
    expect_identical(g$variants$counted, expected$counted)
    expect_identical(bare(as.matrix(g)), expected$calls)
  }
})

test_that("variants of several ALT alleles are left out of a PGEN and counted", {
  set.seed(7)
  stem <- run_plink("plink2", "--vcf", vcf_of_all_tracks(50, 12), "--make-pgen")
  expect_output(print(open_genotypes(stem)), "split +4 records with several ALT alleles")
  g <- open_genotypes(stem, multiallelic = "drop")
  expect_output(print(g), "8 variants of .*4 records with several ALT alleles")
  expect_identical(g$left_out, c(multiallelic = 4))
  # Numbers are those of the file.
  expect_identical(as.matrix(g[, c(8, 1)]), as.matrix(g)[, c(8, 1)])
  written <- write_bed(g, tempfile())
  expect_identical(bare(as.matrix(open_genotypes(written))), bare(as.matrix(g)))
  # A table that hides the alleles
  pvar <- paste0(stem, ".pvar")
  writeLines(sub("C,G(,T)?", "C", readLines(pvar)), pvar)
  expect_ancify_error(open_genotypes(stem), "format", "variant 4 has several ALT alleles")
  writeLines(sub("\tC$", "\tC,G", readLines(pvar)), pvar)
  expect_ancify_error(open_genotypes(stem, multiallelic = "drop"), "format", ".pvar",
                      "no variant of two alleles", "12 variants with several")
})

test_that("tables compressed by Zstandard are whole", {
  if (is.na(ancify_build_info()$zstd)) skip("built without libzstd")
  set.seed(8)
  stem <- run_plink("plink2", "--bfile", sub(".bed$", "", bed_fileset(random_calls(20, 30))),
                    "--make-pgen", "vzs")
  expect_identical(dim(open_genotypes(stem)), c(20L, 30L))
  packed <- paste0(stem, ".pvar.zst")
  bytes <- file_bytes(packed)
  for (n in seq(5, length(bytes) - 1, by = 7)) {
    writeBin(bytes[seq_len(n)], packed)
    expect_ancify_error(open_genotypes(stem), "format", ".pvar.zst")
  }
  writeBin(c(bytes, charToRaw("rest")), packed)
  expect_ancify_error(open_genotypes(stem), "format", ".pvar.zst")
  # Genotypes themselves are read anywhere.
  writeBin(bytes, paste0(stem, ".pgen"))
  expect_ancify_error(open_genotypes(stem), "format", ".pgen", "zstd -d")
})

test_that("PGEN with their index beside them have the genotypes of those with their own", {
  set.seed(15)
  # The second has two blocks.
  for (calls in list(calls_of_all_tracks(300, 108), random_calls(6, 65540))) {
    stem <- run_plink("plink2", "--bfile", sub(".bed$", "", bed_fileset(calls)), "--make-pgen")
    path <- with_index_beside(paste0(stem, ".pgen"))
    g <- open_genotypes(path)
    expect_identical(bare(as.matrix(g)), calls)
    expect_identical(bare(as.matrix(g[, c(3, ncol(calls))])), calls[, c(3, ncol(calls))])
    expect_true(paste0(path, ".pgi") %in% g$files)
  }
  # A header extension of three bytes (its flag, no flags of a footer, its length)
  stem <- run_plink("plink2", "--vcf", vcf_of_all_tracks(50, 20, several = FALSE), "dosage=DS",
                    "--make-pgen")
  own <- open_genotypes(stem, dosages = TRUE)
  expected <- list(as.matrix(own), own$variants)
  path <- with_index_beside(paste0(stem, ".pgen"), as.raw(c(2, 0, 3, 0x61, 0x62, 0x63)))
  beside <- open_genotypes(path, dosages = TRUE)
  expect_identical(list(as.matrix(beside), beside$variants), expected)
})

test_that("the index beside a PGEN must be there, whole and unchanged", {
  set.seed(16)
  calls <- calls_of_all_tracks(300, 108)
  stem <- run_plink("plink2", "--bfile", sub(".bed$", "", bed_fileset(calls)), "--make-pgen")
  path <- with_index_beside(paste0(stem, ".pgen"))
  index <- paste0(path, ".pgi")
  bytes <- file_bytes(index)
  for (n in c(0, 2, 11, 30, length(bytes) - 1)) {
    writeBin(bytes[seq_len(n)], index)
    expect_ancify_error(open_genotypes(stem), "format", ".pgen.pgi")
  }
  writeBin(c(bytes, as.raw(0)), index)
  expect_ancify_error(open_genotypes(stem), "format", ".pgi'", "its header ends at byte")
  writeBin(replace(bytes, 3, as.raw(0x10)), index)
  expect_ancify_error(open_genotypes(stem), "format", "not the index of")
  own <- file_bytes(path)
  writeBin(bytes, path)
  expect_ancify_error(open_genotypes(stem), "format", "the index of a PGEN")
  writeBin(own, path)
  unlink(index)
  condition <- expect_ancify_error(open_genotypes(stem), "file", ".pgi': there is no such file")
  expect_identical(condition$file, index)
  writeBin(bytes, index)
  g <- open_genotypes(stem)
  expect_ancify_error(write_pgen(g, stem, overwrite = TRUE), "input", "is a file of `g`")
  writeBin(c(bytes, as.raw(0)), index)
  expect_ancify_error(as.matrix(g), "file", ".pgi'", "changed since the run began")
})
