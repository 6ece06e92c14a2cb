# Genotypes of BGEN: the calls of PLINK 2, and everything else as with a BED of the same calls.

# A VCF with dosages, or with phase. Males of `haploid` have one copy. Returns its path.
vcf_of_dosages <- function(n, m, phased = FALSE, haploid = integer()) {
  records <- vapply(seq_len(m), function(j) {
    frequency <- stats::runif(1, 0.05, 0.95)
    copies <- matrix(stats::rbinom(2 * n, 1, frequency), n)
    if (phased) {
      call <- paste(copies[, 1], copies[, 2], sep = "|")
      call[haploid] <- copies[haploid, 1]
    } else {
      dosage <- pmin(2, pmax(0, rowSums(copies) + stats::rnorm(n, sd = 0.12)))
      call <- sprintf("%s:%.4f", c("0/0", "0/1", "1/1")[round(dosage) + 1], dosage)
      call[haploid] <- sprintf("%d:%.4f", copies[haploid, 1], pmin(1, pmax(
        0, copies[haploid, 1] + stats::rnorm(length(haploid), sd = 0.06)
      )))
    }
    call[stats::runif(n) < 0.05] <- if (phased) "./." else "./.:."
    call[intersect(which(startsWith(call, "./.")), haploid)] <- if (phased) "." else ".:."
    paste(c(if (length(haploid)) "X" else "1", 5e6 + 10 * j, paste0("v", j), "A", "C", ".", ".",
            ".", if (phased) "GT" else "GT:DS", call), collapse = "\t")
  }, "")
  write_vcf(records, header = vcf_header(records, c("1", "X"), declared_formats))
}

# The calls that PLINK 2 makes of a BGEN, with a row for each sample
calls_of_plink <- function(stem) {
  bed <- run_plink("plink2", "--bgen", paste0(stem, ".bgen"), "ref-first", "--sample",
                   paste0(stem, ".sample"), "--make-bed")
  open_genotypes(paste0(bed, ".bed"))
}

expect_calls_of_plink_bed <- function(stem) {
  g <- open_bgen_file(paste0(stem, ".bgen"))
  bed <- calls_of_plink(stem)
  expect_identical(bare(as.matrix(g)), bare(as.matrix(bed)))
  expect_identical(g$variants, bed$variants)
  expect_identical(g$samples$id, bed$samples$id)
  g
}

sexes <- function(n, males) {
  path <- tempfile()
  writeLines(c("#IID\tSEX", sprintf("s%d\t%d", seq_len(n), 2 - seq_len(n) %in% males)), path)
  path
}

test_that("hard calls of dosages are those of PLINK 2, at any number of bits", {
  set.seed(1)
  # PLINK 2 crashes at small blocks that cannot be compressed.
  for (n in c(301, 1000)) {
    males <- seq_len(n)[stats::runif(n) < 0.5]
    for (haploid in list(integer(), males)) {
      vcf <- vcf_of_dosages(n, 30, haploid = haploid)
      for (bits in c(1, 2, 4, 8, 16)) {
        stem <- run_plink("plink2", "--vcf", vcf, "dosage=DS", "--update-sex", sexes(n, males),
                          "--export", "bgen-1.2", "ref-first", sprintf("bits=%d", bits))
        g <- expect_calls_of_plink_bed(stem)
        if (bits >= 8) expect_gt(sum(summary(g)$uncertain), 100)
      }
    }
  }
})

test_that("phased and haploid probabilities have the calls of PLINK 2", {
  set.seed(2)
  for (n in c(301, 1000)) {
    males <- seq_len(n)[stats::runif(n) < 0.5]
    for (haploid in list(integer(), males)) {
      vcf <- vcf_of_dosages(n, 25, phased = TRUE, haploid = haploid)
      for (bits in c(8, 16)) {
        stem <- run_plink("plink2", "--vcf", vcf, "--update-sex", sexes(n, males), "--export",
                          "bgen-1.2", "ref-first", sprintf("bits=%d", bits))
        g <- expect_calls_of_plink_bed(stem)
        expect_identical(bare(as.matrix(g)), bare(as.matrix(open_genotypes(vcf))))
      }
    }
  }
})

test_that("Zstandard of BGEN 1.3 has the calls of PLINK 2", {
  if (is.na(ancify_build_info()$zstd)) skip("built without libzstd")
  set.seed(3)
  stem <- run_plink("plink2", "--vcf", vcf_of_dosages(500, 40), "dosage=DS", "--export",
                    "bgen-1.3", "ref-first", "bits=8")
  expect_calls_of_plink_bed(stem)
})

test_that("other thresholds make other calls, which summary() counts", {
  stored <- list(c(255, 0), c(230, 25), c(200, 55), c(128, 127), c(127, 128), c(10, 240), c(0, 10),
                 NULL, 255, 12, 128)
  variant <- list(id = "v", chromosome = "01", position = 5, alleles = c("A", "CT"))
  path <- tempfile(fileext = ".bgen")
  writeBin(bgen_bytes(list(bgen_variant(stored, variant)), 11, paste0("i", 1:11)), path)
  calls <- function(threshold) {
    g <- open_genotypes(path, hard_call_threshold = threshold)
    counts <- summary(g)
    found <- as.vector(as.matrix(g))
    expect_identical(counts$missing, sum(is.na(found)))
    expect_identical(counts$uncertain, counts$missing - 1L)
    expect_identical(summary(g), counts)
    found
  }
  expect_identical(calls(0.1), c(0L, 0L, NA, NA, NA, 1L, 2L, NA, 0L, 2L, NA))
  expect_identical(calls(0), c(0L, NA, NA, NA, NA, NA, NA, NA, 0L, NA, NA))
  expect_identical(calls(0.25), c(0L, 0L, 0L, NA, NA, 1L, 2L, NA, 0L, 2L, NA))
  expect_identical(calls(0.5), c(0L, 0L, 0L, 0L, 1L, 1L, 2L, NA, 0L, 2L, 0L))
  expect_warning(g <- open_genotypes(path), "within 0.1 of.*hard_call_threshold",
                 class = "ancify_dosage_warning")
  expect_identical(g$parts[[1]]$hard_call_threshold, 0.1)
  expect_identical(g$variants, data.frame(chromosome = "1", id = "v", position = 5L, counted = "CT",
                                          other = "A"))
  expect_refusals(list(
    list(function() open_genotypes(path, hard_call_threshold = 0.6), "from 0 to 0.5"),
    list(function() open_genotypes(path, hard_call_threshold = "a"), "hard_call_threshold"),
    list(function() open_genotypes(path, variants = data.frame()), "for a matrix"),
    list(function() open_genotypes(bed_fileset(matrix(0:2, 3)), hard_call_threshold = 0.1),
         "for a BGEN"),
    list(function() open_genotypes(bed_fileset(matrix(0:2, 3)), samples = path), "for a BGEN")
  ))
})

# ---- Samples ------------------------------------------------------------------------------------

test_that("samples are those of a .sample, or of the file", {
  calls <- matrix(c(0:2, NA), 4, 2)
  ids <- paste0("i", 1:4)
  path <- bgen_of_calls(calls, ids)
  expect_identical(open_bgen_file(path)$samples, data.frame(family = "0", id = ids))
  columns <- list(sex = c(1, 2, NA, 2), y = c("1.5", "NA", "-9", "2"), group = letters[1:4])
  beside <- sample_beside(path, ids, paste0("f", 1:4), columns, c("D", "P", "D"))
  g <- open_bgen_file(path)
  expected <- data.frame(family = paste0("f", 1:4), id = ids, sex = c(1, 2, NA, 2),
                         y = c(1.5, NA, NA, 2), group = letters[1:4])
  expect_identical(g$samples, expected)
  expect_identical(basename(g$files[["samples"]]), basename(beside))
  expect_identical(bare(as.matrix(g)), calls)
  # IDs in the file may be of families, or both.
  for (in_file in list(paste0("f", 1:4), paste0("f", 1:4, "_i", 1:4),
                       sprintf("(anonymous_sample_%d)", 1:4), NULL)) {
    expect_identical(open_bgen_file(bgen_of_calls(calls, in_file, path = path))$samples, expected)
  }
  bgen_of_calls(calls, rev(ids), path = path)
  expect_ancify_error(open_bgen_file(path), "format", "Sample 1 is 'i4'", "'i1' in")
  # A given .sample may rename samples, but not reorder them.
  expect_ancify_error(open_bgen_file(path, samples = beside), "format", "another order", "'i4'")
  bgen_of_calls(calls, paste0("other", 1:4), path = path)
  expect_ancify_error(open_bgen_file(path), "format", "Sample 1 is 'other1'", "`samples`")
  expect_identical(open_bgen_file(path, samples = beside)$samples, expected)
  # A single ID
  writeLines(c("ID missing age", "0 0 C", paste(ids, 0, 21:24)), beside)
  bgen_of_calls(calls, NULL, path = path)
  expected <- data.frame(family = "0", id = ids, age = 21:24 + 0)
  expect_identical(open_bgen_file(path)$samples, expected)
})

test_that("samples that do not fit are refused", {
  calls <- matrix(c(0:2, NA), 4, 2)
  path <- bgen_of_calls(calls, NULL)
  expect_ancify_error(open_bgen_file(path), "format", "no sample IDs", "a .sample as `samples`")
  expect_ancify_error(open_bgen_file(path, samples = "none.sample"), "file", "none.sample")
  beside <- sample_beside(path, paste0("i", 1:3))
  expect_ancify_error(open_bgen_file(path), "format", "has 3 samples, but", "has 4.")
  write <- function(...) writeLines(c(...), beside)
  bad <- list(
    list(c("ID_1 ID_2 missing", "0 0", "a b 0"), "line 2"),
    list(c("ID_1 ID_2 missing", "a b 0"), "line 2", "types of its columns", "'a'"),
    list(c("ID_1 ID_2 x", "0 0 0", "a b 0"), "line 2", "not with 3"),
    list(c("sex", "D", "1"), "line 2", "not with 0"),
    list(c("ID_1 ID_2", "0 0", "a b", "c b"), "line 4", "the IID 'b' is also in line 3"),
    list(c("ID_1 ID_2", "0 0", "a b", "c"), "line 4", "1 column"),
    list(c("ID_1 ID_2", "0 0"), "no sample"), list("ID_1 ID_2", "no sample"),
    list(character(), "no sample")
  )
  for (one in bad) {
    write(one[[1]])
    do.call(expect_ancify_error, c(list(quote(open_bgen_file(path)), "format", ".sample"), one[-1]))
  }
})

# ---- Variants -----------------------------------------------------------------------------------

test_that("variants of other numbers of alleles are left out and counted", {
  variant <- function(alleles, id) {
    bgen_variant(list(c(255, 0), c(0, 0)), list(id = id, chromosome = "1", position = 1,
                                                alleles = alleles))
  }
  path <- tempfile(fileext = ".bgen")
  write <- function(...) writeBin(bgen_bytes(list(...), 2, c("a", "b")), path)
  write(variant(c("A", "C", "G"), "v1"), variant(c("A", "C"), "v2"), variant("A", "v3"),
        variant(c("A", "T"), "v4"))
  g <- open_bgen_file(path)
  expect_identical(g$variants$id, c("v2", "v4"))
  expect_identical(g$left_out, c(multiallelic = 1L, one_allele = 1L))
  expect_output(print(g), "2 variants of 4.*1 record with several ALT.*1 record with one allele")
  expect_identical(bare(as.matrix(g)), matrix(c(0L, 2L), 2, 2))
  write(variant(c("A", "C", "G"), "v1"))
  expect_ancify_error(open_bgen_file(path), "format", "no variant of two alleles")
})

test_that("a BGEN that is cut, damaged or of another layout is refused", {
  set.seed(4)
  calls <- random_calls(5, 3)
  for (zlib in c(FALSE, TRUE)) {
    path <- bgen_of_calls(calls, zlib = zlib)
    whole <- file_bytes(path)
    for (n in seq(0, length(whole) - 1)) {
      writeBin(whole[seq_len(n)], path)
      expect_ancify_error(as.matrix(open_bgen_file(path)), "format", basename(path))
    }
    writeBin(c(whole, as.raw(1)), path)
    expect_ancify_error(open_bgen_file(path), "format", "1 bytes follow")
  }
  damaged <- replace(whole, length(whole) - 6, xor(whole[length(whole) - 6], as.raw(0x55)))
  writeBin(damaged, path)
  expect_ancify_error(as.matrix(open_bgen_file(path)), "format", "variant 3 has")
  writeBin(bgen_bytes(list(raw(100)), 5, layout = 1), path)
  expect_ancify_error(open_bgen_file(path), "format", "layout 1", "export bgen-1.2")
  stored <- list(c(1, 2, 3), c(1, 2))
  variant <- list(id = "v", chromosome = "1", position = 5, alleles = c("A", "C"))
  writeBin(bgen_bytes(list(bgen_variant(stored, variant)), 2, c("a", "b")), path)
  expect_ancify_error(as.matrix(open_bgen_file(path)), "format", "variant 1 has 3 copies in",
                      "sample 1")
  renamed <- tempfile()
  file.copy(path, renamed)
  expect_ancify_error(open_genotypes(renamed), "format", "ends in .bgen")
  expect_ancify_error(open_bgen_file("none.bgen"), "file", "none.bgen")
})

# ---- As a BED -----------------------------------------------------------------------------------

test_that("choices, counts and copies are those of a BED of the same calls", {
  set.seed(5)
  for (n in c(1, 4, 7, 130)) {
    calls <- random_calls(n, 30, missing = 0.2)
    bed <- open_genotypes(bed_fileset(calls))
    for (zlib in c(FALSE, TRUE)) {
      g <- open_bgen_file(bgen_of_calls(calls, zlib = zlib))
      expect_identical(g$variants, bed$variants)
      expect_identical(as.matrix(g), as.matrix(bed))
      counts <- as.data.frame(summary(g))
      expect_identical(counts$uncertain, integer(30))
      expect_identical(counts[names(counts) != "uncertain"], as.data.frame(summary(bed)))
      part <- list(rev(seq_len(n)), c(30, 2:5))
      expect_identical(as.matrix(g[part[[1]], part[[2]]]), as.matrix(bed[part[[1]], part[[2]]]))
      written <- write_bed(g[part[[1]], part[[2]]], tempfile())
      expect_identical(file_bytes(written),
                       file_bytes(write_bed(bed[part[[1]], part[[2]]], tempfile())))
    }
  }
})

test_that("files of a set may be BGEN, with one warning", {
  set.seed(7)
  calls <- random_calls(9, 12)
  table <- plain_variants(12)
  first <- table[[1]] <= 11
  paths <- c(bgen_of_calls(calls[9:1, first], paste0("i", 9:1)),
             bed_fileset(calls[, !first], variants = table[!first, ]))
  told <- capture_warnings(g <- open_genotypes(paths))
  expect_length(told, 1)
  expect_identical(bare(as.matrix(g)), calls[9:1, ])
  bed <- open_genotypes(bed_fileset(calls))
  expect_identical(as.matrix(g), as.matrix(bed)[9:1, ], ignore_attr = TRUE)
  expect_identical(summary(g)$uncertain, integer(12))
  expect_identical(summary(g)$missing, summary(bed)$missing)
})

test_that("commands take phenotypes of a .sample, with their own missing values", {
  set.seed(8)
  calls <- random_calls(40, 10)
  ids <- paste0("i", 1:40)
  y <- round(stats::rnorm(40), 3)
  path <- bgen_of_calls(calls)
  sample_beside(path, ids, columns = list(y = replace(y, 3, -7)), types = "P")
  out <- tempfile()
  result <- run_here("scan", "--genotypes", path, "--na", "-7", "--out", out)
  expect_identical(result$status, 0L)
  scan <- scan_variants(y ~ 1, data.frame(id = ids, y = replace(y, 3, NA)), open_bgen_file(path),
                        progress = FALSE)
  written <- utils::read.delim(paste0(out, ".scan.tsv"))
  expect_equal(written$beta, scan$beta, tolerance = 1e-5)
})

test_that("products, fits, scans and predictions have the bytes of a BED's, also saved", {
  set.seed(6)
  calls <- random_calls(60, 80)
  ids <- paste0("i", 1:60)
  bed <- open_genotypes(bed_fileset(calls))
  path <- bgen_of_calls(calls, zlib = TRUE)
  g <- open_bgen_file(path)
  v <- matrix(stats::rnorm(120), 60)
  expect_identical(kernel_times(kernel_grm(g), v), kernel_times(kernel_grm(bed), v))
  data <- data.frame(id = ids, y = rnorm(60))
  sets <- list(a = 1:20, b = 21:80)
  likelihood_again <- expect_fits_of_bed(g, bed, data, sets)
  require_package("BiocParallel")
  regress <- function(genotypes, ...) haseman_elston(y ~ 1, data, genotypes, sets, blocks = 6, ...)
  expect_identical(regress(g, BPPARAM = BiocParallel::SnowParam(1)), regress(bed))
  # A file that has changed is refused.
  bgen_of_calls(2L - calls, zlib = TRUE, path = path)
  expect_ancify_error(likelihood_again(), "file", "has changed since the fit")
  expect_ancify_error(as.matrix(g), "file", "open it again")
})
