# Genotypes of VCF, BCF and matrices: the same as those of a BED of the same calls.

# Lines of a VCF with the calls' SNPs. `text`: genotypes for 0, 1, 2 and a missing call.
vcf_of_calls <- function(calls, variants = plain_variants(ncol(calls)),
                         text = c("0/0", "0|1", "1/1", "./.")) {
  genotypes <- matrix(text[ifelse(is.na(calls), 3, calls) + 1], nrow(calls))
  # Of a .bim: chromosome, id, centimorgans, position, counted, other
  paste(variants[[1]], variants[[4]], variants[[2]], variants[[6]], variants[[5]], ".", ".", ".",
        "GT", apply(genotypes, 2, paste, collapse = "\t"), sep = "\t")
}

one_of_each <- function(calls) {
  vcf <- vcf_file(vcf_of_calls(calls), rownames(calls))
  table <- stats::setNames(plain_variants(ncol(calls))[-3],
                           c("chromosome", "id", "position", "counted", "other"))
  table$chromosome <- as.character(table$chromosome)
  codes <- matrix(as.raw(ifelse(is.na(calls), 0, calls + 1)), nrow(calls),
                  dimnames = list(rownames(calls), table$id))
  require_package("snpStats")
  list(
    vcf = open_genotypes(vcf), compressed = open_genotypes(as_bgzip(vcf)),
    bcf = open_genotypes(as_bcf(vcf)), integer = open_genotypes(calls, table),
    double = open_genotypes(calls + 0, table),
    snp_matrix = open_genotypes(methods::new("SnpMatrix", codes), table)
  )
}

named_calls <- function(n, m, ...) {
  calls <- random_calls(n, m, ...)
  rownames(calls) <- paste0("i", seq_len(n))
  calls
}

test_that("all sources have the calls, samples and variants of a BED, and are written as one", {
  set.seed(5)
  for (n in c(1, 4, 7)) {
    calls <- named_calls(n, 30, missing = 0.2)
    bed <- open_genotypes(bed_fileset(calls))
    for (g in one_of_each(calls)) {
      expect_identical(g$variants, bed$variants)
      expect_identical(g$samples, data.frame(family = "0", id = rownames(calls)))
      expect_identical(as.matrix(g), as.matrix(bed))
      expect_identical(summary(g), summary(bed))
      part <- list(rev(seq_len(n)), c(30, 2:5))
      expect_identical(as.matrix(g[part[[1]], part[[2]]]), as.matrix(bed[part[[1]], part[[2]]]))
      written <- write_bed(g[part[[1]], part[[2]]], tempfile())
      expect_identical(file_bytes(written),
                       file_bytes(write_bed(bed[part[[1]], part[[2]]], tempfile())))
      expect_identical(file_bytes(sub("bed$", "bim", written)),
                       file_bytes(sub("bed$", "bim", write_bed(bed[, part[[2]]], tempfile()))))
    }
  }
})

test_that("a fit has the bytes of a BED's, is saved, and goes on elsewhere", {
  set.seed(6)
  calls <- named_calls(40, 60)
  data <- data.frame(id = rownames(calls), y = rnorm(40))
  numbers <- function(fit) fit[c("theta", "information", "log_likelihood", "genetic", "divisors")]
  sets <- list(a = 1:20, b = 21:60)
  bed <- open_genotypes(bed_fileset(calls))
  fit_bed <- quiet_fit(y ~ 1, data, bed, sets)
  sources <- one_of_each(calls)
  point <- c(0.2, 0.1, 0.7)
  expected <- reml_log_likelihood(fit_bed, point, progress = FALSE)
  for (name in names(sources)) {
    g <- sources[[name]]
    fit <- quiet_fit(y ~ 1, data, g, sets)
    expect_identical(numbers(fit), numbers(fit_bed))
    expect_identical(predict(fit, g, progress = FALSE), predict(fit_bed, bed, progress = FALSE))
    again <- unserialize(serialize(fit, NULL))
    expect_identical(reml_log_likelihood(again, point, progress = FALSE), expected)
    expect_identical(as.matrix(unserialize(serialize(g, NULL))), as.matrix(bed))
  }
  # Workers read the file again.
  require_package("BiocParallel")
  regress <- function(...) haseman_elston(y ~ 1, data, sources$vcf, sets, blocks = 6, ...)
  expect_identical(regress(BPPARAM = BiocParallel::SnowParam(1)), regress())
  # Calls of a file are not saved with a fit.
  saved <- serialize(sources$vcf, NULL)
  expect_lt(length(saved), length(serialize(sources$integer, NULL)) + 1000)
  # A file that has changed is refused, as that of a BED.
  fit <- quiet_fit(y ~ 1, data, sources$vcf, sets)
  again <- unserialize(serialize(fit, NULL))
  lines <- readLines(sources$vcf$path)
  writeLines(sub("0/0", "1/1", lines), sources$vcf$path)
  expect_ancify_error(reml_log_likelihood(again, point, progress = FALSE), "file",
                      "has changed since the fit")
  expect_ancify_error(as.matrix(sources$vcf), "file", "open it again")
  unlink(sources$vcf$path)
  expect_ancify_error(reml_log_likelihood(again, point, progress = FALSE), "file",
                      "does not exist")
})

test_that("a large VCF that has changed in one byte is refused", {
  set.seed(10)
  calls <- named_calls(6, 20, missing = 0)
  calls[6, 1] <- 0L
  records <- sub("^(\\S+\t\\S+\t)\\S+", paste0("\\1", strrep("x", 150000)), vcf_of_calls(calls))
  path <- vcf_file(records, rownames(calls))
  facts <- file_facts(path)
  parts <- file_identity(path)
  data <- data.frame(id = rownames(calls), y = rnorm(6))
  fit <- unserialize(serialize(quiet_fit(y ~ 1, data, open_genotypes(path)), NULL))
  lines <- readLines(path)
  at <- grep("^1\t10\t", lines)
  writeLines(replace(lines, at, sub("0/0$", "1/1", lines[at])), path)
  # Parts of the file are the same.
  expect_identical(file_identity(path)[c("size", "sample_checksum")],
                   parts[c("size", "sample_checksum")])
  expect_false(identical(file_facts(path)$checksum, facts$checksum))
  expect_ancify_error(reml_log_likelihood(fit, c(1, 1), progress = FALSE), "file",
                      "has changed since the fit")
  part <- replace(fit$genotypes$parts[[1]], "identity", identity_of(path))
  expect_ancify_error(calls_again(part), "file", "other genotypes")
})

test_that("genotypes with names that a BED's tables cannot have are not written as one", {
  calls <- named_calls(4, 3)
  blank <- `rownames<-`(calls, c("a", "b", "c d", "e"))
  chromosome <- data.frame(chromosome = c("1", "2\tx", "3"))
  expect_refusals(list(
    list(function() write_bed(open_genotypes(blank), tempfile()), ".fam", "'c d'"),
    list(function() write_bed(open_genotypes(calls, chromosome), tempfile()), ".bim", "chromosome")
  ))
})

test_that("two matrices are two sources, and a fit knows whose null it has", {
  set.seed(7)
  a <- open_genotypes(named_calls(40, 30))
  b <- open_genotypes(named_calls(40, 30))
  expect_false(a$path == b$path)
  calls <- as.matrix(a)
  expect_identical(open_genotypes(calls)$path, a$path)
  expect_false(open_genotypes(calls[, 30:1])$path == a$path)
  expect_false(open_genotypes(`rownames<-`(calls, rev(rownames(calls))))$path == a$path)
  data <- data.frame(id = a$samples$id, y = rnorm(40))
  expect_ancify_error(
    fit_reml(y ~ 1, data, kernels = list(a = kernel_grm(a), b = kernel_grm(b)), threads = 1),
    "input", "other genotypes"
  )
})

test_that("records of other kinds are left out and counted, haploid calls count twice", {
  record <- function(position, ref, alt, genotypes, format = "GT", id = ".") {
    paste("1", position, id, ref, alt, ".", ".", ".", format, paste(genotypes, collapse = "\t"),
          sep = "\t")
  }
  path <- vcf_file(c(
    record(1, "A", "C", c("0/1", "1", "."), id = "x"),
    record(1, "A", "C,G", c("0/1", "1", "2")),
    record(2, "A", "CT", c("0/1", "1", ".")), record(3, "A", "<DEL>", c("0/1", "1", ".")),
    record(4, "A", ".", c("0/0", "0", ".")), record(5, "A", "*", c("0/0", "0", ".")),
    record(6, "A", "C", c("1", "2", "3"), "XX"),
    record(7, "g", "T", c("./1", "0|.", "0")),
    record(8, "N", "T", c("./1", "0|.", "0")),
    record(9, "T", "T", c("0/1", "0|.", "0")), record(10, "g", "G", c("0/1", "0|.", "0")),
    record(11, "A", "a", c("0/1", "0|.", "0"))
  ), c("a", "b", "c"))
  # XX has to be declared.
  writeLines(append(readLines(path),
                    "##FORMAT=<ID=XX,Number=1,Type=Integer,Description=\"x\">", 1), path)
  split <- open_genotypes(path)
  expect_identical(bare(as.matrix(split)),
                   cbind(c(1L, 2L, NA), c(1L, 2L, 0L), c(0L, 0L, 2L), c(NA, NA, 0L)))
  expect_identical(split$split, 1)
  expect_identical(split$left_out, c(multiallelic = 0, not_snp = 8, without_genotypes = 1))
  g <- open_genotypes(path, multiallelic = "drop")
  expect_identical(bare(as.matrix(g)), cbind(c(1L, 2L, NA), c(NA, NA, 0L)))
  expect_identical(g$left_out, c(multiallelic = 1, not_snp = 8, without_genotypes = 1))
  expect_identical(g$variants, data.frame(
    chromosome = "1", id = c("x", "."), position = c(1L, 7L), counted = c("C", "T"),
    other = c("A", "g")
  ))
  expect_output(print(g), "left out +1 record with several ALT alleles, 8 records that are no SNP")
  # A name that says nothing is no obstacle.
  other <- tempfile()
  file.copy(as_bgzip(path), other)
  expect_identical(as.matrix(open_genotypes(other)), as.matrix(split))
})

test_that("genotypes of bcftools and PLINK 2 from a VCF are ours", {
  set.seed(8)
  calls <- named_calls(25, 40, missing = 0.1)
  calls[, 3] <- calls[, 4] <- rep(c(0L, 2L), length.out = 25)
  of_one_chromosome <- replace(plain_variants(40), 1, "1")
  records <- vcf_of_calls(calls, of_one_chromosome)
  records[3] <- gsub("1/1", "1", gsub("0/0", "0", records[3]))
  records <- append(records, c("1\t35\tm\tA\tC,G\t.\t.\t.\tGT", "1\t36\ti\tA\tCT\t.\t.\t.\tGT") |>
                      paste(paste(rep("0/1", 25), collapse = "\t"), sep = "\t"), 3)
  path <- vcf_file(records, rownames(calls))
  g <- open_genotypes(path, multiallelic = "drop")
  expect_identical(unname(g$left_out), c(1, 1, 0))
  text <- bcftools_lines("query", path, "-i", "N_ALT==1 && TYPE==\"snp\"", "-f",
                         "[%GT\\t]\\n")
  genotype <- do.call(cbind, strsplit(text, "\t"))
  copies <- c("0/0" = 0L, "0" = 0L, "0|1" = 1L, "1/1" = 2L, "1" = 2L)[genotype]
  expect_identical(bare(as.matrix(g)), matrix(unname(copies), 25))
  out <- run_plink("plink2", "--vcf", path, "--snps-only", "--max-alleles", "2", "--make-bed",
                   "--threads", "1")
  expect_identical(as.matrix(open_genotypes(paste0(out, ".bed"))), as.matrix(g))
})

test_that("snpStats reads what write_bed() writes, and counts the same allele", {
  require_package("snpStats")
  set.seed(9)
  path <- bed_fileset(random_calls(9, 12))
  expected <- open_genotypes(path)
  plink <- suppressWarnings(snpStats::read.plink(path))
  g <- open_genotypes(plink$genotypes, plink$map)
  flipped <- c("chromosome", "id", "position", "other", "counted")
  expect_identical(unname(as.list(g$variants)), unname(as.list(expected$variants[flipped])))
  expect_identical(as.matrix(g), 2L - as.matrix(expected))
  expect_identical(methods::as(plink$genotypes, "numeric"), as.matrix(g) + 0)
})

test_that("rows of variants are those of the matrix's columns by their names", {
  calls <- named_calls(6, 5)
  colnames(calls) <- paste0("v", 1:5)
  variants <- data.frame(chromosome = "1", id = colnames(calls), position = 1:5 * 10L,
                         counted = "A", other = "C")
  expected <- open_genotypes(calls, variants)
  same <- function(g) {
    expect_identical(as.matrix(g), as.matrix(expected))
    expect_identical(g$variants, expected$variants)
  }
  same(open_genotypes(calls, variants[5:1, ]))
  same(open_genotypes(calls, `rownames<-`(variants[-2], variants$id)[c(2, 1, 3, 5, 4), ]))
  names(variants)[2] <- "snp.name"
  same(open_genotypes(calls, variants[c(3, 4, 5, 1, 2), ]))
  codes <- methods::new("SnpMatrix", matrix(as.raw(ifelse(is.na(calls), 0, calls + 1)), 6,
                                            dimnames = dimnames(calls)))
  same(open_genotypes(codes, variants[5:1, ]))
  # Names of another kind, as of .raw files, and row numbers say nothing.
  variants$snp.name <- paste0("rs", 5:1)
  expect_identical(open_genotypes(calls, variants)$variants$id, paste0("rs", 5:1))
  numbered <- `colnames<-`(calls, 1:5)
  expect_identical(open_genotypes(numbered, variants[5:1, -2])$variants$position, 5:1 * 10L)
  # What cannot be put in order
  variants$snp.name <- c("v1", "v3", "rs3", "rs4", "rs5")
  expect_ancify_error(open_genotypes(calls, variants), "input", "Row 3 of `variants` is 'rs3'",
                      "'v3'")
  variants$snp.name <- c("v2", "v1", "v1", "v4", "v5")
  expect_ancify_error(open_genotypes(calls, variants), "input", "Row 1 of `variants` is 'v2'")
})

test_that("sources that cannot be are refused", {
  calls <- named_calls(4, 3, missing = 0)
  bad <- calls
  bad[3, 2] <- 3L
  twice <- `rownames<-`(calls, c("a", "b", "b", "c"))
  codes <- methods::new("SnpMatrix", matrix(as.raw(1:6), 2, dimnames = list(c("a", "b"), 1:3)))
  path <- bed_fileset(calls)
  vcf <- function(...) vcf_file(c(...), c("a", "b"))
  snp <- "1\t5\t.\tA\tC\t.\t.\t.\tGT"
  expect_refusals(list(
    list(function() open_genotypes(bad), "sample 'i3' at variant 2 is 3"),
    list(function() open_genotypes(bad / 2), "0.5"),
    list(function() open_genotypes(replace(calls + 0, 1, NaN)), "NaN"),
    list(function() open_genotypes(bare(calls)), "named by their IDs"),
    list(function() open_genotypes(twice), "named 'b'"),
    list(function() open_genotypes(calls[, 0]), "no variant"),
    list(function() open_genotypes(matrix("0", 1, 1, dimnames = list("a", NULL))), "character"),
    list(function() open_genotypes(as.data.frame(calls)), "path or matrix", "data.frame"),
    list(function() open_genotypes(structure(factor(1), dim = c(1, 1))), "factors"),
    list(function() open_genotypes(codes), "sample 'b' at variant 2", "uncertain", "missing"),
    list(function() open_genotypes(calls, data.frame(id = 1:2)), "each of the 3 columns"),
    list(function() open_genotypes(calls, data.frame(ref = 1:3)), "'ref'", "counted"),
    list(function() open_genotypes(calls, data.frame(position = c(1, NA, 2))), "whole numbers"),
    list(function() open_genotypes(path, data.frame(id = 1:3)), "for a matrix")
  ))
  expect_refusals(class = "format", list(
    list(function() open_genotypes(vcf(paste(snp, "0/1/1", "0/0", sep = "\t"))), "'a'",
         "more than two"),
    list(function() open_genotypes(vcf("1\t5\t.\tA\tCC\t.\t.\t.\tGT\t0/1\t0/0")), "no SNP"),
    list(function() open_genotypes(vcf_file("1\t5\t.\tA\tC\t.\t.\t.\tGT", NULL)), "sample"),
    list(function() open_genotypes(vcf(paste(snp, "0/1", "0/2", sep = "\t"))), "allele 2")
  ))
  expect_ancify_error(open_genotypes("none.vcf"), "file", "no such file")
})
