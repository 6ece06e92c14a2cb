# Several genotype files as one set: the same as one file of all their variants.

# A study of calls in a file for each of three chromosomes, in the formats and orders of samples
# given, and in one BED. Returns paths.
study_of_files <- function(n = 37, m = 90, kinds = c("bed", "bed", "bed"), orders = NULL) {
  calls <- random_calls(n, m)
  samples <- plain_samples(n)
  variants <- plain_variants(m)
  variants[[1]] <- rep(1:3, each = m / 3)
  folder <- tempfile("study-")
  dir.create(folder)
  of_chromosome <- function(chromosome) {
    rows <- orders[[chromosome]] %||% seq_len(n)
    columns <- which(variants[[1]] == chromosome)
    stem <- file.path(folder, paste0("chr", chromosome))
    bed <- bed_fileset(calls[rows, columns, drop = FALSE], stem, samples[rows, ],
                        variants[columns, ])
    if (kinds[chromosome] == "bed") {
      return(bed)
    }
    plink <- run_plink("plink2", "--bfile", stem, "--make-pgen", "--export", "vcf")
    unlink(paste0(stem, c(".bed", ".bim", ".fam")))
    if (kinds[chromosome] == "vcf") {
      lines <- readLines(paste0(plink, ".vcf"))
      # PLINK 2 joins FID and IID.
      writeLines(gsub("f[0-9]_i", "i", lines), paste0(stem, ".vcf"))
      return(paste0(stem, ".vcf"))
    }
    for (ending in c(".pgen", ".pvar", ".psam")) {
      file.copy(paste0(plink, ending), paste0(stem, ending))
    }
    paste0(stem, ".pgen")
  }
  list(
    one = bed_fileset(calls, file.path(folder, "all"), samples, variants),
    files = vapply(1:3, of_chromosome, ""), folder = folder
  )
}

expect_one_study <- function(set, one) {
  expect_identical(as.matrix(set), as.matrix(one))
  expect_identical(set$variants, one$variants)
  expect_identical(set$samples$id, one$samples$id)
  expect_identical(summary(set), summary(one))
  rows <- rev(seq_len(nrow(one)))[-2]
  columns <- c(ncol(one):25, 3)
  expect_identical(as.matrix(set[rows, columns]), as.matrix(one[rows, columns]))
  expect_identical(file_bytes(write_bed(set[rows, columns], tempfile())),
                   file_bytes(write_bed(one[rows, columns], tempfile())))
}

test_that("a set of files has the genotypes of one file, named in four ways", {
  set.seed(1)
  study <- study_of_files()
  one <- open_genotypes(study$one)
  list <- file.path(study$folder, "files.txt")
  writeLines(study$files, list)
  ways <- list(
    study$files, sub("[.]bed$", "", study$files), file.path(study$folder, "chr{1:3}.bed"),
    file.path(study$folder, "chr{1:2,3}"), list
  )
  for (way in ways) {
    set <- open_genotypes(way)
    expect_one_study(set, one)
    expect_identical(set$path, normalizePath(study$files))
    expect_identical(set$n_file, one$n_file)
  }
  shown <- paste(capture.output(print(set)), collapse = " ")
  expect_match(shown, "37 samples, 90 variants.*files.*chr1.bed.*chr3.bed")
  expect_identical(open_genotypes(study$files[2])$path, normalizePath(study$files[2]))
})

test_that("samples may have another order in each file, and formats may differ", {
  set.seed(2)
  for (n in c(1, 4, 5, 37)) {
    study <- study_of_files(n, kinds = c("pgen", "bed", "vcf"),
                            orders = list(NULL, rev(seq_len(n)), sample(n)))
    expect_one_study(open_genotypes(study$files), open_genotypes(study$one))
  }
})

test_that("samples that a file lacks are told and left out", {
  set.seed(3)
  study <- study_of_files(orders = list(NULL, 30:2, c(37, 1:34)))
  expect_warning(
    set <- open_genotypes(study$files),
    "29 samples in all 3 files are used. Not in all are 8 samples, such as 'i1' of '.*chr1.bed'",
    class = "ancify_samples_warning"
  )
  expect_identical(set$samples$id, paste0("i", 2:30))
  expect_one_study(set, open_genotypes(study$one)[2:30, ])
  ids <- readLines(sub("bed$", "fam", study$files[3]))
  writeLines(sub(" i", " j", ids), sub("bed$", "fam", study$files[3]))
  expect_ancify_error(open_genotypes(study$files), "input", "no sample in common", "'i1'", "'j37'")
})

test_that("a set that counts variants twice, or lacks a file, is refused", {
  set.seed(4)
  study <- study_of_files()
  expect_ancify_error(open_genotypes(study$files[c(1, 2, 1)]), "input", "chr1.bed", "twice")
  expect_ancify_error(open_genotypes(c(study$files[1], study$one)), "input", "all.bed",
                      "30 variants that an earlier file", "'v1'")
  expect_ancify_error(open_genotypes(file.path(study$folder, "chr{1:4}.bed")), "file", "chr4.bed")
  list <- file.path(study$folder, "files.list")
  writeLines(c(study$files[1], "chr9.bed"), list)
  expect_ancify_error(open_genotypes(list), "file", "chr9.bed")
  writeLines("a b", list)
  expect_ancify_error(open_genotypes(list), "format", "files.list")
  set <- open_genotypes(study$files)
  bytes <- file_bytes(study$files[2])
  writeBin(rev(bytes), study$files[2])
  expect_ancify_error(as.matrix(set), "file", "chr2.bed", "changed")
})

test_that("fits, scans, components and predictions of a set are those of one file", {
  set.seed(5)
  study <- study_of_files(60, 90, orders = list(60:1, NULL, c(2:60, 1)))
  set <- open_genotypes(study$files)
  one <- open_genotypes(study$one)[match(set$samples$id, paste0("i", 1:60)), ]
  data <- data.frame(id = paste0("i", 1:60), y = rnorm(60))
  data$y <- data$y + as.matrix(one)[match(data$id, one$samples$id), 40] %in% 2
  numbers <- function(g) {
    fit <- fit_reml(y ~ 1, data, g, components_by_chromosome(g), threads = 1, progress = FALSE)
    list(fit$theta, as.data.frame(scan_variants(fit, progress = FALSE)),
         predict(fit, genotypes = one[c(5, 1), ]), fit$dropped)
  }
  expect_identical(numbers(set), numbers(one))
  by_file <- as.data.frame(components_by_file(set))
  expect_identical(by_file$component, paste0("chr", set$variants$chromosome))
  expect_identical(by_file$weight, as.data.frame(components_by_chromosome(set))$weight)
  expect_identical(as.data.frame(components_by_file(set[, 31:60]))$component, rep("chr2", 30))
})

test_that("a saved fit of a set finds its files again", {
  set.seed(6)
  study <- study_of_files(60, 90)
  data <- data.frame(id = paste0("i", 1:60), y = rnorm(60))
  fit <- fit_reml(y ~ 1, data, open_genotypes(study$files), threads = 1, progress = FALSE)
  before <- scan_variants(fit, progress = FALSE)
  moved <- tempfile("moved-")
  dir.create(moved)
  file.copy(list.files(study$folder, full.names = TRUE), moved)
  unlink(study$folder, recursive = TRUE)
  with_folder(moved, {
    expect_identical(scan_variants(fit, progress = FALSE), before)
    unlink(file.path(moved, "chr3.bed"))
    expect_ancify_error(scan_variants(fit, progress = FALSE), "file", "chr3.bed")
  })
})

test_that("a command takes several files", {
  set.seed(7)
  study <- study_of_files(60, 90)
  traits <- tempfile(fileext = ".tsv")
  write.table(data.frame(IID = paste0("i", 1:60), y = rnorm(60)), traits, quote = FALSE,
              row.names = FALSE)
  table_of <- function(...) {
    out <- tempfile()
    result <- run_here("scan", ..., "--pheno", traits, "--out", out)
    expect_identical(result$status, 0L)
    readLines(paste0(out, ".scan.tsv"))
  }
  expected <- table_of("--genotypes", study$one)
  words <- c("--genotypes", study$files)
  expect_identical(do.call(table_of, as.list(words)), expected)
  pattern <- file.path(study$folder, "chr{1:3}.bed")
  expect_identical(table_of("--genotypes", pattern), expected)
})

test_that("sexes come from any file, and contradictions are told", {
  set.seed(8)
  study <- study_of_files(6, 9)
  give_sexes <- function(file, sexes) {
    fam <- sub("bed$", "fam", file)
    table <- utils::read.table(fam, colClasses = "character")
    write_columns(replace(table, 5, list(sexes)), fam)
  }
  give_sexes(study$files[1], c(0, 0, 1, 2, 0, 1))
  give_sexes(study$files[2], c(1, 0, 1, 2, 0, 1))
  give_sexes(study$files[3], c(1, 2, 0, 2, 0, 1))
  expect_silent(set <- open_genotypes(study$files))
  expect_identical(sexes_of(set$samples),
                   c("male", "female", "male", "female", "unknown", "male"))
  give_sexes(study$files[3], c(1, 2, 2, 2, 0, 1))
  expect_warning(set <- open_genotypes(study$files), "the sex of 1 sample, such as 'i3'",
                 class = "ancify_samples_warning")
  expect_identical(sexes_of(set$samples)[3], "male")
})

test_that("a variant counts twice under another name or with the other allele too", {
  calls <- matrix(c(0, 1, 2, 1), 2)
  file_of <- function(...) bed_fileset(calls, variants = data.frame(...))
  one <- file_of(c("X", "2"), c("a", "b"), 0, c(5, 7), "A", "C")
  again <- list(
    file_of(c("chrX", "3"), c("a", "c"), 0, c(5, 9), "A", "C"),
    file_of(c("23", "3"), c("other", "c"), 0, c(5, 9), "C", "A")
  )
  for (other in again) {
    expect_ancify_error(open_genotypes(c(one, other)), "input", "1 variant that an earlier file")
  }
  expect_identical(ncol(open_genotypes(c(one, file_of("X", c("a", "d"), 0, 5:6, "A", "G")))), 4L)
})
