# Files of posteriors.

phred_file <- function(values, folder = new_folder(), chromosome = "chr1") {
  dir.create(file.path(folder, "posterior"), showWarnings = FALSE)
  writeBin(as.raw(values), file.path(folder, "posterior", paste0(chromosome, ".phred")))
  folder
}

test_that("posteriors are read from a folder or a file, whole or in part", {
  values <- c(0, 10, 255, 254, 37)
  expected <- c(0L, 10L, NA, 254L, 37L)
  folder <- phred_file(values)
  expect_identical(read_posterior(folder, "chr1"), expected)
  expect_identical(read_posterior(file.path(folder, "posterior"), "chr1"), expected)
  file <- file.path(folder, "posterior", "chr1.phred")
  expect_identical(read_posterior(file), expected)
  for (start in 1:5) {
    for (end in start:5) {
      expect_identical(read_posterior(file, NULL, start, end), expected[start:end])
    }
  }
  expect_identical(read_posterior(file, start = 3, end = 2), integer())
})

test_that("missing posteriors are errors with the reason", {
  folder <- phred_file(1:5)
  expect_ancify_error(read_posterior(folder, "chr2"), "file", "chr2.phred", "posteriors of 'chr1'")
  unlink(file.path(folder, "posterior", "chr1.phred"))
  expect_ancify_error(read_posterior(folder, "chr2"), "file", "chr2.phred", "posterior: true")
  folder <- phred_file(1:5)
  expect_ancify_error(read_posterior(file.path(folder, "x.phred")), "file", "x.phred")
  expect_ancify_error(read_posterior(folder), "input", "`chromosome`")
  file <- file.path(folder, "posterior", "chr1.phred")
  expect_ancify_error(read_posterior(file, "chr1"), "input", "`run` is a file")
  for (range in list(c(0, 3), c(1, 6), c(4, 2), c(1.5, 2), c(NA, 2))) {
    expect_ancify_error(read_posterior(folder, "chr1", range[1], range[2]), "input", "1 to 5")
  }
})

test_that("bigWig files have the values of read_posterior()", {
  require_package("rtracklayer")
  set.seed(81)
  values <- sample(c(255, 0, 3, 40, 254), 3000, replace = TRUE, prob = c(5, 1, 1, 5, 1))
  values <- rep(values, sample(5, 3000, replace = TRUE))
  folder <- phred_file(values)
  phred_file(c(255, 7), folder, "chr2")
  files <- export_posterior(folder)
  expect_identical(names(files), c("chr1", "chr2"))
  expect_true(all(file.exists(files)))
  for (name in names(files)) {
    ranges <- rtracklayer::import(files[[name]])
    expected <- read_posterior(folder, name)
    got <- rep(NA_integer_, length(expected))
    for (i in seq_along(ranges)) {
      at <- seq(GenomicRanges::start(ranges)[i], GenomicRanges::end(ranges)[i])
      got[at] <- as.integer(ranges$score[i])
    }
    expect_identical(got, expected)
    expect_identical(GenomeInfoDb::seqlengths(ranges)[[name]], length(expected))
  }
  other <- new_folder()
  export_posterior(folder, "chr2", other)
  expect_identical(content_of(other), "chr2.bw")
  expect_ancify_error(export_posterior(folder, "chr3"), "file", "chr3")
  for (wrong in list(5, NA_character_, "../posterior/chr1", mean)) {
    expect_ancify_error(export_posterior(folder, wrong), "input", "`chromosomes`")
  }
  phred_file(c(255, 255), folder, "chrM")
  phred_file(integer(), folder, "chrN")
  expect_message(
    expect_message(files <- export_posterior(folder), "'chrM' has no posteriors"), "'chrN'"
  )
  expect_identical(names(files), c("chr1", "chr2"))
  expect_false(any(file.exists(file.path(folder, "posterior", c("chrM.bw", "chrN.bw")))))
  expect_ancify_error(export_posterior(other), "file", "no posteriors")
})
