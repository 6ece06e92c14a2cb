# Dosages of PGEN, against PLINK 2, and what refuses, counts and prints dosages.

# Texts GT:DS:HDS of phased dosages. The share of certain haplotypes varies with the variant.
fields_of_haplotypes <- function(n, m) {
  share <- rep(rep_len(c(0.6, 0.97, 1), m), each = n)
  draw <- function() {
    certain <- stats::rbinom(n * m, 1, 0.4)
    uncertain <- round(pmin(1, pmax(0, certain + stats::rnorm(n * m, sd = 0.2))), 3)
    ifelse(stats::runif(n * m) < share, certain, uncertain)
  }
  one <- draw()
  two <- draw()
  matrix(sprintf("%d|%d:%s:%s,%s", as.integer(round(one)), as.integer(round(two)),
                 texts_of_numbers(cbind(one + two)), one, two), n)
}

test_that("dosages of PGEN are those of PLINK 2, however they are stored", {
  set.seed(11)
  types <- integer()
  for (n in c(1, 9, 300)) {
    shares <- c(0, 0.5, 0.9, 0.99)
    fields <- do.call(cbind, lapply(shares, function(certain) {
      fields_of_dosages(random_dosages(n, 15, missing = if (certain == 0) 0 else 0.05,
                                       certain = certain), bare = 1)
    }))
    unphased <- vcf_of_fields(fields, "GT:DS")
    phased <- vcf_of_fields(fields_of_haplotypes(n, 40), "GT:DS:HDS")
    for (made in list(c("--vcf", unphased, "dosage=DS"), c("--vcf", phased, "dosage=DS"),
                      c("--vcf", phased, "dosage=HDS"))) {
      stem <- do.call(run_plink, as.list(c("plink2", made, "--make-pgen")))
      types <- c(types, pgen_types(paste0(stem, ".pgen")))
      g <- open_genotypes(stem, dosages = TRUE)
      expected <- steps_of_plink("--pfile", stem)
      expect_identical(steps_of(g), expected)
      some <- sample(ncol(g), 7)
      expect_identical(steps_of(g[n:1, some]), expected[n:1, some, drop = FALSE])
      hard <- suppressWarnings(open_genotypes(stem), "ancify_dosage_warning")
      expect_type(as.matrix(hard), "integer")
    }
  }
  # Lists, all samples, bits; each with and without phases of dosages
  expect_setequal(unique(types %/% 32), c(0, 1:3, 5:7))
})

test_that("PGEN of records of one size give dosages", {
  set.seed(12)
  for (n in c(1, 6, 37)) {
    steps <- 16384 * random_dosages(n, 12, 9)
    steps[] <- round(steps)
    for (phased in c(FALSE, TRUE)) {
      path <- pgen_of_steps(steps, phased)
      g <- open_genotypes(path, dosages = TRUE)
      expect_identical(steps_of(g), steps)
      if (!phased) expect_identical(steps_of_plink("--pfile", sub(".pgen$", "", path)), steps)
      expect_warning(hard <- open_genotypes(path), "12 variants.*`dosages = TRUE`",
                     class = "ancify_dosage_warning")
      expect_identical(bare(as.matrix(hard)), matrix(as.integer(round(steps / 16384)), n))
    }
  }
})

test_that("a damaged dosage, and dosages of several ALT alleles, are errors that say so", {
  set.seed(13)
  steps <- round(16384 * random_dosages(9, 4, missing = 0))
  path <- pgen_of_steps(steps)
  bytes <- file_bytes(path)
  at <- 12 + 21 + 3 + 18
  writeBin(replace(bytes, at, as.raw(0xf0)), path)
  g <- open_genotypes(path, dosages = TRUE)
  expect_error(as.matrix(g), "variant 2 has a damaged record: .*more than two copies",
               class = "ancify_format_error")
  expect_identical(steps_of(g[, -2]), steps[, -2])

  writeBin(bytes, path)
  pvar <- sub("pgen$", "pvar", path)
  lines <- readLines(pvar)
  lines[4] <- sub("A$", "A,CC", lines[4])
  writeLines(lines, pvar)
  g <- open_genotypes(path, dosages = TRUE)
  expect_error(as.matrix(g), "variant 2 has dosages of several ALT alleles.*Leave it out",
               class = "ancify_format_error")
  expect_identical(steps_of(g[, -(2:3)]), steps[, -2])
  dropped <- open_genotypes(path, dosages = TRUE, multiallelic = "drop")
  expect_identical(steps_of(dropped), steps[, -2])
})

test_that("dosages of a file that has none are refused, and one of a set suffices", {
  set.seed(14)
  calls <- random_calls(8, 5)
  bed <- bed_fileset(calls)
  expect_error(open_genotypes(bed, dosages = TRUE), "has hard calls only",
               class = "ancify_input_error")
  expect_error(open_genotypes(pgen_fileset(calls), dosages = TRUE), "has hard calls only",
               class = "ancify_input_error")
  expect_error(open_genotypes(bed, dosages = "DS"), "is for a VCF", class = "ancify_input_error")
  expect_error(open_genotypes(vcf_zarr_of_calls(calls), dosages = TRUE), "has hard calls only",
               class = "ancify_input_error")
  expect_error(open_genotypes(vcf_zarr_of_calls(calls), dosages = "DS"), "declares no DS",
               class = "ancify_input_error")
  expect_error(open_genotypes(bed, dosages = "PL"), "must be TRUE, FALSE",
               class = "ancify_input_error")
  steps <- round(16384 * random_dosages(8, 3))
  with <- pgen_of_steps(steps)
  pvar <- sub("pgen$", "pvar", with)
  writeLines(sub("^[0-9]+\t", "23\t", readLines(pvar)), pvar)
  g <- open_genotypes(c(bed, with), dosages = TRUE)
  expect_identical(steps_of(g), cbind(16384 * calls, steps))
  expect_output(print(g), "genotypes *dosages")
  expect_type(as.matrix(open_genotypes(bed)), "integer")
})

test_that("frequencies, missing samples and info of dosages are those of PLINK 2", {
  set.seed(15)
  n <- 200
  dosages <- random_dosages(n, 60)
  dosages[, 5] <- 1
  dosages[, 6] <- NA
  stem <- run_plink("plink2", "--vcf", vcf_of_fields(fields_of_dosages(dosages), "GT:DS"),
                    "dosage=DS", "--make-pgen")
  g <- open_genotypes(stem, dosages = TRUE)
  table <- summary(g)
  out <- run_plink("plink2", "--pfile", stem, "--freq", "cols=+machr2")
  freq <- utils::read.delim(paste0(out, ".afreq"))
  expect_equal(table$frequency, as.numeric(freq$ALT_FREQS), tolerance = 1e-5)
  expect_equal(table$info, suppressWarnings(as.numeric(freq$MACH_R2)), tolerance = 1e-5)
  expect_identical(2L * table$n, as.integer(freq$OBS_CT))
  copies <- steps_of(g) / 16384
  expect_equal(table$frequency[-6], colMeans(copies, na.rm = TRUE)[-6] / 2)
  expect_identical(table$missing, as.integer(colSums(is.na(copies))))
  hard <- summary(suppressWarnings(open_genotypes(stem)))
  expect_identical(table$uncertain, hard$missing - table$missing)
  expect_identical(table$het, hard$het)
  expect_output(print(table), "info")

  kept <- suppressMessages(filter_variants(g, maf = 0.1, missing = 0.06, info = 0.9))
  out <- run_plink("plink2", "--pfile", stem, "--maf", 0.1, "--geno", 0.06, "dosage",
                   "--mach-r2-filter", 0.9, 3, "--write-snplist")
  expect_identical(kept$variants$id, readLines(paste0(out, ".snplist")))
  expect_named(kept$filtered, c("maf", "missing", "hwe", "info"))
  expect_message(filter_variants(g, info = 0.9), "by `info`")
  expect_error(filter_variants(suppressWarnings(open_genotypes(stem)), info = 0.3),
               "`info` is for dosages", class = "ancify_input_error")
})

test_that("dosages on X count copies by sex", {
  set.seed(16)
  n <- 40
  dosages <- random_dosages(n, 10)
  vcf <- vcf_of_fields(fields_of_dosages(dosages), "GT:DS", chromosome = "X")
  stem <- run_plink("plink2", "--vcf", vcf, "dosage=DS", "--make-pgen")
  psam <- readLines(paste0(stem, ".psam"))
  sex <- rep(1:2, n / 2)
  writeLines(c("#IID\tSEX", paste0("s", seq_len(n), "\t", sex)), paste0(stem, ".psam"))
  g <- open_genotypes(stem, dosages = TRUE)
  weight <- ifelse(sex == 1, 0.5, 1)
  copies <- steps_of(g) / 16384
  frequency <- colSums(copies * weight, na.rm = TRUE) / (2 * colSums((!is.na(copies)) * weight))
  limit <- stats::median(pmin(frequency, 1 - frequency))
  kept <- suppressMessages(filter_variants(g, maf = limit))
  expect_identical(kept$variants$id,
                   g$variants$id[pmin(frequency, 1 - frequency) >= limit])
})

test_that("commands take dosages and a limit of info", {
  set.seed(17)
  stem <- run_plink("plink2", "--vcf", vcf_of_fields(fields_of_dosages(random_dosages(60, 30)),
                                                     "GT:DS", chromosome = sort(rep(1:3, 10))),
                    "dosage=DS", "--make-pgen")
  g <- open_genotypes(stem, dosages = TRUE)
  traits <- tempfile()
  write.table(data.frame(IID = g$samples$id, y = rnorm(nrow(g))), traits, quote = FALSE,
              row.names = FALSE)
  out <- tempfile()
  arguments <- c("scan", "--genotypes", paste0(stem, ".pgen"), "--pheno", traits, "--info", "0.9",
                 "--out", out)
  result <- do.call(run_here, as.list(c(arguments, "--dosages")))
  expect_identical(result$status, 0L)
  scan <- utils::read.delim(paste0(out, ".scan.tsv"))
  expect_identical(scan$id, suppressMessages(filter_variants(g, info = 0.9))$variants$id)
  expect_false(do.call(run_here, as.list(arguments))$status == 0L)
})
