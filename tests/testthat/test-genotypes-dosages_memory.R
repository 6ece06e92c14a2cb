# Dosages that are kept in memory: those of a VCF or BCF, against PLINK 2, and of a matrix.

open_quietly <- function(...) suppressMessages(open_genotypes(...))

# GT:DS by chance: both, one of them, or none
fields_by_chance <- function(dosages) {
  calls <- ifelse(is.na(dosages), "./.", c("0/0", "0|1", "1/1")[round(dosages) + 1])
  text <- texts_of_numbers(dosages)
  calls[stats::runif(length(calls)) < 0.1] <- "./."
  text[stats::runif(length(text)) < 0.1] <- "."
  matrix(paste(calls, text, sep = ":"), nrow(dosages))
}

test_that("dosages and calls of DS are those of PLINK 2", {
  set.seed(21)
  for (n in c(1, 50)) {
    dosages <- cbind(random_dosages(n, 10), random_dosages(n, 10, digits = 4),
                     random_dosages(n, 5, digits = 7), random_dosages(n, 3, certain = 1))
    vcf <- vcf_of_fields(fields_by_chance(dosages), "GT:DS")
    stem <- run_plink("plink2", "--vcf", vcf, "dosage=DS", "--make-pgen")
    expect_message(g <- open_genotypes(vcf, dosages = TRUE), "dosages are those of DS")
    # Dosages of more digits than a float has may be at the limit between two steps.
    expected <- steps_of_plink("--pfile", stem)
    expect_identical(steps_of(g)[, -(21:25)], expected[, -(21:25)])
    expect_lte(max(0, abs(steps_of(g) - expected), na.rm = TRUE), 1)
    expect_identical(is.na(steps_of(g)), is.na(expected))
    bed <- suppressMessages(write_bed(g, tempfile()))
    hard <- suppressWarnings(open_genotypes(stem), "ancify_dosage_warning")
    expect_identical(as.matrix(open_genotypes(bed)), as.matrix(hard))
    expect_identical(open_quietly(vcf, dosages = "DS")$variants, g$variants)
    expect_warning(calls <- open_genotypes(vcf), "has dosages [(]DS[)], but only its calls",
                   class = "ancify_dosage_warning")
    expect_type(as.matrix(calls), "integer")
  }
})

test_that("decimal dosages are exact, and others rounded and counted", {
  dosages <- cbind(c(0.001, 1.999, NA), c(0.0001, 1.5, 2), c(1, 0, 2), c(0.123456, 1, 0.1234567))
  vcf <- vcf_of_fields(fields_of_dosages(dosages), "GT:DS")
  expect_message(g <- open_genotypes(vcf, dosages = TRUE), "2 rounded to 1/16384")
  expect_equal(bare(as.matrix(g))[, 1:3], dosages[, 1:3], tolerance = 1e-15)
  expect_equal(bare(as.matrix(g))[, 4], round(dosages[, 4] * 16384) / 16384, tolerance = 1e-15)
})

test_that("haploid dosages count twice, and calls without DS are told", {
  fields <- matrix(c("0:0.25", "1:1", "0/1:1.25", "1:.", "./.:."), 5)
  vcf <- vcf_of_fields(fields, "GT:DS", chromosome = "X")
  expect_message(g <- open_genotypes(vcf, dosages = TRUE), "calls of 1 genotype without it")
  expect_identical(as.vector(as.matrix(g)), c(0.5, 2, 1.25, 2, NA))
  sexes <- tempfile()
  writeLines(c("#IID\tSEX", paste0("s", 1:5, "\t", c(1, 1, 2, 1, 1))), sexes)
  stem <- run_plink("plink2", "--vcf", vcf, "dosage=DS", "--update-sex", sexes, "--make-pgen")
  expect_identical(steps_of(open_genotypes(stem, dosages = TRUE)), steps_of(g))
})

test_that("GP gives expected copies, also of several ALT alleles", {
  set.seed(22)
  n <- 30
  p <- matrix(stats::rexp(3 * n), 3)
  p <- round(t(p) / colSums(p), 3)
  fields <- matrix(sprintf("0/0:%s,%s,%s", p[, 1], p[, 2], p[, 3]), n)
  fields[2] <- "0/1:."
  vcf <- vcf_of_fields(fields, "GT:GP")
  header <- readLines(vcf)
  writeLines(header[!grepl("ID=DS", header)], vcf)
  expect_message(g <- open_genotypes(vcf, dosages = TRUE), "dosages are those of GP")
  expected <- (p[, 2] + 2 * p[, 3]) / rowSums(p)
  expected[2] <- 1
  expect_equal(as.vector(as.matrix(g)), expected, tolerance = 1e-4)
  stem <- run_plink("plink2", "--vcf", vcf, "dosage=GP", "--make-pgen")
  expect_identical(steps_of(g), steps_of_plink("--pfile", stem))

  three <- matrix(c("0/1:0.1,0.2,0,0.3,0.4,0", "2/2:0,0,0,0,0,1", "1:0.5,0.25,0.25"), 3)
  vcf <- vcf_of_fields(three, "GT:GP", alts = "G,T")
  g <- open_quietly(vcf, dosages = "GP")
  expect_equal(bare(as.matrix(g)), cbind(c(0.6, 0, 0.5), c(0.7, 2, 0.5)), tolerance = 1e-6)
  both <- vcf_of_fields(matrix(c("0/1:0.9,0.1", "2/2:0.1,1.85"), 2), "GT:DS", alts = "G,T")
  expect_identical(bare(as.matrix(open_quietly(both, dosages = TRUE))),
                   cbind(c(0.9, 0.1), c(0.1, 1.85)))
})

test_that("each record has the dosages of its first field", {
  fields <- cbind(c("0/0:0.3:0.5,0.5,0", "0/1:.:0,1,0", "1/1:1.9:0,0,1"),
                  c("0/0:0.5,0.5,0", "0/1:0.1,0.8,0.1", "1/1:."),
                  c("0/0:.:0.5,0.5,0", "0/1:.:0,0.75,0.25", "1/1:.:."))
  vcf <- vcf_of_fields(fields, c("GT:DS:GP", "GT:GP", "GT:DS:GP"))
  expect_message(g <- open_genotypes(vcf, dosages = TRUE),
                 "those of DS, or of GP in 2 records, and calls of 3 genotypes")
  expect_identical(bare(as.matrix(g)), cbind(c(0.3, 1, 1.9), c(0.5, 1, 2), c(0.5, 1.25, 2)))
  expect_identical(bare(as.matrix(open_quietly(vcf, dosages = "DS")))[, 2:3],
                   cbind(c(0, 1, 2), c(0, 1, 2)))
})

test_that("dosages of up to six decimals are those of PLINK 2, to the last step", {
  set.seed(27)
  for (digits in 4:6) {
    dosages <- matrix(round(stats::runif(12000, 0, 2), digits), 4000)
    vcf <- vcf_of_fields(texts_of_numbers(dosages), "DS")
    g <- open_quietly(vcf, dosages = TRUE)
    expect_identical(steps_of(g), floor(16384 * dosages + 0.5))
  }
})

test_that("a haploid dosage of 0.5 is no heterozygous call, as in PLINK 2", {
  fields <- cbind(c("0:0.5", "1:0.5", "0:0", "1:1", "0/1:1", "0/0:0"),
                  c("0", "1", "0/1", "1", "0/1", "1/1"))
  vcf <- vcf_of_fields(fields, c("GT:DS", "GT"), chromosome = "X")
  psam <- tempfile(fileext = ".psam")
  writeLines(c("#IID\tSEX", paste0("s", 1:6, "\t", c(1, 1, 1, 1, 2, 2))), psam)
  stem <- run_plink("plink2", "--vcf", vcf, "dosage=DS", "--psam", psam, "--freq",
                    "cols=chrom,altfreq,nobs")
  frequencies <- utils::read.delim(paste0(stem, ".afreq"))$ALT_FREQS
  g <- open_quietly(vcf, dosages = TRUE)
  g$samples$sex <- c(1, 1, 1, 1, 2, 2)
  expect_identical(bare(as.matrix(g))[, 1], c(1, 1, 0, 2, 1, 0))
  # The heterozygous call of a male counts as missing, here.
  expect_equal(sum(c(1, 1, 0, 2, 2, 0)) / 16, frequencies[1], tolerance = 1e-5)
  g$by_sex <- TRUE
  counts <- heterozygous_counts(g[1:4, ], new_work(1))
  expect_identical(as.numeric(counts), c(0, 1))
})

test_that("bad dosages of a VCF, and fields that it lacks, are errors that say so", {
  refused <- function(field, problem, ...) {
    vcf <- vcf_of_fields(matrix(c("0/0:0.1", field), 2), ...)
    expect_error(open_genotypes(vcf, dosages = TRUE), problem, class = "ancify_format_error")
  }
  refused("0/0:2.1", "sample 's2' has a dosage beyond its copies in DS", "GT:DS")
  refused("0/0:-0.1", "sample 's2' has a dosage beyond its copies in DS", "GT:DS")
  refused("1:1.2", "beyond its copies", "GT:DS")
  refused("0/0:1", "not one number for each ALT", "GT:DS", alts = "G,T")
  vcf <- vcf_of_fields(matrix("0/0:0.2,1.1,0"), "GT:GP")
  expect_error(open_genotypes(vcf, dosages = "GP"), "no probability",
               class = "ancify_format_error")
  plain <- vcf_file("1\t1\tv\tA\tC\t.\t.\t.\tGT\t0/1", "s1")
  expect_error(open_genotypes(plain, dosages = TRUE), "hard calls only",
               class = "ancify_input_error")
  expect_error(open_genotypes(plain, dosages = "DS"), "declares no DS",
               class = "ancify_input_error")
})

test_that("dosages of a VCF are read again after a saved session", {
  set.seed(23)
  vcf <- vcf_of_fields(fields_of_dosages(random_dosages(20, 6)), "GT:DS")
  g <- open_quietly(vcf, dosages = TRUE)
  expected <- as.matrix(g)
  file <- tempfile()
  saveRDS(g, file)
  expect_identical(as.matrix(readRDS(file)), expected)
})

test_that("a matrix of dosages is exact in decimals, and other numbers are rounded", {
  ids <- paste0("s", 1:4)
  decimal <- matrix(c(0.001, 1.5, NA, 2, 0, 1, 2, 1.2345), 4, dimnames = list(ids, c("a", "b")))
  g <- open_genotypes(decimal, dosages = TRUE)
  expect_equal(as.matrix(g), decimal, tolerance = 1e-15)
  codes <- matrix((0:3 * 50) / 127.5, 4, dimnames = list(ids, "a"))
  expect_silent(g <- open_genotypes(codes, dosages = TRUE))
  expect_equal(as.matrix(g), codes, tolerance = 1e-15)
  other <- matrix(c(pi / 2, 1, 0, 1), 4, dimnames = list(ids, "a"))
  expect_message(g <- open_genotypes(other, dosages = TRUE), "1 dosage of the matrix")
  expect_equal(as.matrix(g)[1], round(16384 * pi / 2) / 16384, tolerance = 1e-15)
  file <- tempfile()
  saveRDS(g, file)
  expect_identical(as.matrix(readRDS(file)), as.matrix(g))
  expect_false(g$path == open_genotypes(other / 2, dosages = TRUE)$path)
  expect_error(open_genotypes(decimal), "`dosages = TRUE`", class = "ancify_input_error")
  expect_error(open_genotypes(decimal + 0.5, dosages = TRUE), "from 0 to 2.*'s4'.*is 2.5",
               class = "ancify_input_error")
})

test_that("write_pgen() writes dosages that PLINK 2 reads, in any unit and order", {
  set.seed(24)
  n <- 23
  dosages <- cbind(random_dosages(n, 9), random_dosages(n, 5, digits = 7),
                   random_dosages(n, 3, certain = 1))
  g <- open_quietly(vcf_of_fields(fields_of_dosages(dosages), "GT:DS"), dosages = TRUE)
  rows <- sample(n)
  columns <- sample(ncol(g), 12)
  written <- write_pgen(g[rows, columns], tempfile())
  expected <- steps_of(g)[rows, columns]
  again <- open_genotypes(written, dosages = TRUE)
  expect_identical(steps_of(again), expected)
  expect_identical(again$samples$id, g$samples$id[rows])
  stem <- sub(".pgen$", "", written)
  expect_identical(steps_of_plink("--pfile", stem), expected)
  copy <- run_plink("plink2", "--pfile", stem, "--make-pgen")
  expect_identical(steps_of(open_genotypes(copy, dosages = TRUE)), expected)
  expect_message(bed <- write_bed(g, tempfile()), "A BED has no dosages")
  hard <- suppressWarnings(open_genotypes(write_pgen(g, tempfile())), "ancify_dosage_warning")
  expect_identical(as.matrix(open_genotypes(bed)), as.matrix(hard))
})

test_that("calls that dosages contradict are missing in a PGEN", {
  stored <- list(c(250, 5), c(100, 60), NULL, c(0, 0))
  variant <- list(id = "v", chromosome = "1", position = 5, alleles = c("A", "G"))
  path <- tempfile(fileext = ".bgen")
  writeBin(bgen_bytes(list(bgen_variant(stored, variant)), 4, paste0("s", 1:4)), path)
  g <- open_genotypes(path, dosages = TRUE, hard_call_threshold = 0.5)
  written <- write_pgen(g, tempfile())
  expected <- round(16384 * as.vector(as.matrix(g)))
  expect_identical(as.vector(steps_of(open_genotypes(written, dosages = TRUE))), expected)
  hard <- suppressWarnings(open_genotypes(written), "ancify_dosage_warning")
  expect_identical(as.vector(as.matrix(hard)), c(0L, 1L, NA, 2L))
})

test_that("a variant of equal dosages has no variation, and one of doubtful calls has", {
  dosages <- cbind(equal = c(a = 0.3, b = 0.3, c = NA), near = c(0.05, 0.02, 0.08), none = NA,
                   two = 2)
  table <- summary(open_genotypes(dosages, dosages = TRUE))
  expect_output(print(table), "missing dosages +33.3 %.*without variation +3 variants")
  expect_output(print(table[2, ]), "without variation +0 variants")
})
