# Tables of samples: phenotypes, covariates, and samples to keep.

table_file <- function(...) {
  path <- tempfile(fileext = ".txt")
  writeLines(c(...), path)
  path
}

test_that("phenotypes are read with and without header, in any form of the file", {
  lines <- c("f1 i1 1.5 -9", "f2 i2 NA 3", "", "f1\ti3\t-0.25 1e3 ")
  plain <- data.frame(id = c("i1", "i2", "i3"), pheno1 = c(1.5, NA, -0.25), pheno2 = c(NA, 3, 1000))
  expect_identical(read_phenotypes(table_file(lines)), plain)
  named <- stats::setNames(plain, c("id", "CD8", "weight"))
  for (header in c("FID IID CD8 weight", "#FID\tIID CD8 weight", "\ufeffFID IID CD8 weight")) {
    expect_identical(read_phenotypes(table_file(header, lines)), named)
  }
  without <- sub("^\\S+\\s", "", lines)
  for (header in c("IID CD8 weight", "#IID CD8 weight")) {
    expect_identical(read_phenotypes(table_file(header, without)), named)
  }
  expect_identical(read_phenotypes(table_file(paste0(c("FID IID CD8 weight", lines), "\r"))), named)
  path <- table_file("FID IID CD8 weight", lines)
  writeBin(gzip_member(file_bytes(path)), path)
  expect_identical(read_phenotypes(path), named)
})

test_that("IDs are text, whatever they look like", {
  expect_identical(read_phenotypes(table_file("1 007 1", "1 7 2", "1 7.0 3"))$id,
                   c("007", "7", "7.0"))
})

test_that("-9 is missing in phenotypes, and in covariates only if that is asked for", {
  path <- table_file("f i1 -9", "f i2 -9.0", "f i3 NA", "f i4 1")
  expect_identical(read_phenotypes(path)$pheno1, c(NA, NA, NA, 1))
  expect_identical(read_covariates(path)$covar1, c(-9, -9, NA, 1))
  expect_identical(read_covariates(path, c("NA", "-9"))$covar1, c(NA, NA, NA, 1))
  expect_identical(read_phenotypes(path, "NA")$pheno1, c(-9, -9, NA, 1))
  expect_identical(read_phenotypes(table_file("f i1 .", "f i2 1"), ".")$pheno1, c(NA, 1))
  # What other programs write for a missing number.
  path <- table_file("f i1 nan", "f i2 NaN", "f i3 .", "f i4 na", "f i5 NAN", "f i6 3")
  expect_identical(read_phenotypes(path)$pheno1, c(rep(NA, 5), 3))
  expect_identical(read_covariates(path)$covar1, c(rep(NA, 5), 3))
  sexes <- table_file("f i1 nan", "f i2 male", "f i3 .")
  expect_identical(read_covariates(sexes)$covar1, factor(c(NA, "male", NA)))
  expect_identical(read_phenotypes(path, "3")$pheno1, rep(NA_real_, 6))
  expect_identical(read_covariates(table_file("f i1 x", "f i2 3.0", "f i3 2"), c("X", "3"))$covar1,
                   c(NA, NA, 2))
  # Other text stays text.
  na <- c("NA", ".", "-9")
  expect_ancify_error(read_phenotypes(table_file("f i1 .", "f i2 1,5"), na), "format", "'1,5'")
  expect_identical(read_covariates(table_file("f i1 male", "f i2 ."), na)$covar1,
                   factor(c("male", NA)))
  expect_ancify_error(read_phenotypes(path, -9), "input", "`na`")
})

test_that("text becomes a factor in covariates alone", {
  path <- table_file("FID IID sex age", "f i1 male 3", "f i2 female 4", "f i3 NA 5")
  expect_identical(read_covariates(path), data.frame(
    id = c("i1", "i2", "i3"), sex = factor(c("male", "female", NA)), age = c(3, 4, 5)
  ))
  condition <- expect_ancify_error(read_phenotypes(path), "format", "line 2", "'male'", "'sex'")
  expect_identical(condition$file, path)
  expect_identical(condition$line, 2)
})

test_that("a value that is no number is named by line and column", {
  refused <- function(path, ...) {
    expect_ancify_error(read_phenotypes(path), "format", ...)
    expect_ancify_error(read_covariates(path), "format", ...)
  }
  for (bad in c("x", "1,5", "Inf", "1.2.3")) {
    path <- table_file("FID IID a b", "f i1 1 1", "", sprintf("f i2 2 %s", bad))
    refused(path, "line 4", sprintf("'%s' in the column 'b' is not a number", bad), "`na`")
  }
  refused(table_file("family mouse CD8", "f i1 1"), "line 1", "'CD8'", "FID IID")
})

test_that("tables that are no tables of samples are refused with their line", {
  refused <- function(lines, line, ...) {
    path <- table_file(lines)
    for (read in c(read_phenotypes, read_covariates, read_keep)) {
      condition <- expect_ancify_error(read(path), "format", path, ...)
      expect_identical(condition$line, line)
    }
  }
  refused(c("f i1 1", "f i2 2", "g i1 3"), 3, "line 3", "the IID 'i1' is also in line 1")
  refused(c("FID IID a", "f i1 1", "f i2"), 3, "line 3", "2 columns")
  refused(character(), 0, "there is no sample")
  refused("FID IID a", 0, "there is no sample")
  expect_ancify_error(read_phenotypes(table_file("f i1")), "format", "no column of values")
  expect_ancify_error(read_covariates(table_file("i1", "i2")), "format", "no column of values")
  expect_ancify_error(read_phenotypes(table_file("FID IID a a", "f i1 1 2")), "format", "'a'")
  expect_ancify_error(read_phenotypes(table_file("FID IID id", "f i1 1")), "format", "'id'")
  for (read in c(read_phenotypes, read_covariates, read_keep)) {
    condition <- expect_ancify_error(read("no/such/file"), "file", "no/such/file")
    expect_identical(condition$file, "no/such/file")
    expect_ancify_error(read(), "input", "`path`")
  }
})

test_that("samples to keep are IIDs with their families", {
  expected <- data.frame(id = c("i1", "i2"), family = c("f1", "f2"))
  expect_identical(read_keep(table_file("f1 i1", "f2 i2")), expected)
  expect_identical(read_keep(table_file("#FID IID", "f1 i1", "f2 i2")), expected)
  expect_identical(read_keep(table_file("f1 i1 x", "f2 i2 1")), expected)
  expected$family <- "0"
  expect_identical(read_keep(table_file("i1", "i2")), expected)
  expect_identical(read_keep(table_file("#IID", "i1", "i2")), expected)
})
