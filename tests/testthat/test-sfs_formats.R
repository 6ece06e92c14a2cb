# Spectra in the files of fastsimcoal2, realSFS and tables of SNPs.

obs_file <- function(name, ...) {
  path <- file.path(new_folder(), name)
  writeLines(c(...), path)
  path
}

named_sfs <- function(x, populations, folded = FALSE) {
  sfs(array(as.vector(unclass(x)), dim(x)), populations, attr(x, "mask"), folded)
}

# A spectrum as fastsimcoal2's line of counts: the last population varies fastest.
in_line <- function(x) paste(sprintf("%.17g", aperm(unclass(x))), collapse = " ")

test_that("spectra of one population are read, folded by the file's name", {
  lines <- c("1 observations", "d0_0\td0_1\td0_2\td0_3\td0_4", "900\t7\t5\t0\t0\t")
  derived <- read_sfs(obs_file("x_DAFpop0.obs", lines))
  expect_identical(derived, sfs(c(900, 7, 5, 0, 0), "pop0"))
  minor <- read_sfs(obs_file("x_MAFpop0.obs", lines))
  expect_identical(minor, sfs(c(900, 7, 5, 0, 0), "pop0", folded = TRUE))
  expect_identical(read_sfs(obs_file("x.obs", lines), folded = TRUE), minor)
  expect_identical(read_sfs(obs_file("x_MAFpop0.obs", lines), folded = FALSE), derived)
})

test_that("rows of a joint spectrum are of the population that labels them", {
  counts <- matrix(c(10, 1:11), 3, 4)
  lines <- c("1 observation", "\td0_0\td0_1\td0_2", sprintf(
    "d1_%d\t%s", 0:3, apply(counts, 2, paste, collapse = "\t")
  ))
  expected <- sfs(counts, c("pop0", "pop1"))
  expect_identical(read_sfs(obs_file("x_jointDAFpop1_0.obs", lines)), expected)
  # Columns of the later population
  lines <- c("1 observation", "\td2_0\td2_1\td2_2\td2_3", sprintf(
    "d0_%d %s", 0:2, apply(counts, 1, paste, collapse = " ")
  ))
  expected <- sfs(counts, c("pop0", "pop2"))
  expect_identical(read_sfs(obs_file("x_jointDAFpop0_2.obs", lines)), expected)
})

test_that("spectra of several populations are read in one line", {
  set.seed(2)
  x <- random_sfs(c(3, 2, 4))
  lines <- c("1 observations. No. of demes and sample sizes are on next line", "3\t3 2 4")
  read <- read_sfs(obs_file("x_DSFS.obs", lines, in_line(x)))
  expect_identical(read, named_sfs(x, paste0("pop", 0:2)))
  folded <- fold(x)
  expect_equal(read_sfs(obs_file("x_MSFS.obs", lines, in_line(folded))),
               named_sfs(folded, paste0("pop", 0:2), folded = TRUE))
})

test_that("files of realSFS need sizes", {
  set.seed(3)
  for (sizes in list(4, c(YRI = 4, CEU = 2), c(2, 3, 2), c(A = 2, B = 2, C = 2, D = 2))) {
    x <- named_sfs(random_sfs(unname(sizes)), names(sizes))
    path <- obs_file("x.ml", in_line(x))
    expect_identical(read_sfs(path, sizes = sizes), x)
    # The counts of invariant sites are kept.
    expect_identical(unclass(read_sfs(path, sizes))[[1]], unclass(x)[[1]])
  }
  expect_identical(read_sfs(obs_file("x", "900 7 5 0 0"), 4, folded = TRUE),
                   sfs(c(900, 7, 5, 0, 0), folded = TRUE))
  expect_ancify_error(read_sfs(obs_file("x", "900.5 7 5 0 0.1")), "format", "give `sizes`")
  expect_ancify_error(read_sfs(path, sizes = c(2, 2)), "format", "counts must have 9 values")
  expect_ancify_error(read_sfs(path, sizes = "two"), "input", "`sizes`")
  expect_ancify_error(read_sfs(path, sizes = c(A = 8, A = 8)), "input", "unique")
  expect_ancify_error(read_sfs(path, sizes = rep(1, 6)), "format", "at most 5")
  expect_ancify_error(read_sfs(obs_file("x", c("1 2 3", "1 2 4")), 2), "format", "line 2",
                      "second spectrum", "keep one")
  # Old versions wrote logarithms.
  expect_ancify_error(read_sfs(obs_file("x", "-0.1 -3 -4"), 2), "format", "-3", "below 0")
})

test_that("wrong files of fastsimcoal2 are errors with their line", {
  refused <- function(lines, line, ...) {
    path <- obs_file("x_DAFpop0.obs", lines)
    condition <- expect_ancify_error(read_sfs(path), "format", path, sprintf("line %d", line), ...)
    expect_equal(condition$line, line)
  }
  labels <- "d0_0 d0_1 d0_2"
  refused(c("100 observations", labels, "1 2 3"), 1, "100 spectra", "keep one")
  refused("1 observations", 1, "cut short")
  refused(c("1 observations", labels), 2, "cut short")
  refused(c("1 observations", "d0_0 d0_2", "1 2"), 2, "'d0_2'", "label")
  refused(c("1 observations", "d0_0", "1"), 2, "label")
  refused(c("1 observations", labels, "1 2"), 3, "2 counts, but 3 labels")
  refused(c("1 observations", labels, "1 x 2"), 3, "'x'")
  refused(c("1 observations", labels, "1 2 3", "4 5 6"), 3, "more lines")
  refused(c("1 observations", labels, "d1_0 1 2 3", "d1_2 1 2 3"), 4, "'d1_2'")
  refused(c("1 observations", labels, "d0_0 1 2 3", "d0_1 1 2 3"), 4, "both of pop0")
  refused(c("1 observations", labels, "d1_0 1 2 3", "d1_1 1 2"), 4, "2 counts")
  refused(c("1 observations", labels, "1 -2 3"), 3, "below 0")
  refused(c("1 observations", "2 4", "1"), 2, "number of populations")
  refused(c("1 observations", "2 1 1", "1 2 3"), 3, "counts must have 4 values")
  refused(c("1 observations", "6 1 1 1 1 1 1", "1"), 2, "at most 5")
})

# ---- Tables of SNPs -----------------------------------------------------------------------------

snp_lines <- c(
  "# a comment", "Human Chimp Allele1 YRI CEU Allele2 YRI CEU Gene Position",
  "ACG ATG C 29 24 T 1 0 abcb1 289", "CCT CCT C 29 23 G 3 2 abcb1 345",
  "AGT A-T G 30 24 A 2 0 abcb1 400", "AGT ACT G 3 2 A 2 1 abcb1 401",
  "agt agt g 5 4 a 2 1 abcb1 402"
)

test_that("tables of SNPs give the spectrum of their counts", {
  path <- obs_file("snps.txt", snp_lines)
  x <- sfs_from_snp_table(path, project = c(4, 3), threads = 1)
  derived <- cbind(YRI = c(29, 3, 2), CEU = c(24, 2, 1))
  called <- cbind(YRI = c(30, 32, 7), CEU = c(24, 25, 5))
  expected <- sfs_from_sites(derived, called, project = c(4, 3), threads = 1)
  expect_identical(x, expected, ignore_attr = "records")
  expect_identical(attr(x, "records"), data.frame(
    reason = c("NO_COVERAGE", "NEITHER_ALLELE", "TOO_FEW", "USED"), records = c(1, 1, 0, 3)
  ))
  one <- sfs_from_snp_table(path, 30, "YRI", threads = 1)
  expect_identical(names(dimnames(one)), "YRI")
  expect_equal(attr(one, "records")$records, c(1, 1, 1, 2))
  swapped <- sfs_from_snp_table(path, c(3, 4), c("CEU", "YRI"), threads = 1)
  expect_equal(plain_array(swapped), t(plain_array(x)), ignore_attr = TRUE)
  folded <- sfs_from_snp_table(path, c(4, 3), folded = TRUE, threads = 1)
  all <- sfs_from_sites(
    cbind(YRI = c(1, 3, 2, 2, 2), CEU = c(0, 2, 0, 1, 1)),
    cbind(YRI = c(30, 32, 32, 5, 7), CEU = c(24, 25, 24, 3, 5)), project = c(4, 3), threads = 1
  )
  expect_equal(plain_array(folded), plain_array(fold(all)))
  expect_equal(attr(folded, "records")$records, c(0, 0, 0, 5))
})

test_that("wrong tables of SNPs are errors", {
  refused <- function(lines, line, ...) {
    path <- obs_file("snps.txt", lines)
    condition <- expect_ancify_error(sfs_from_snp_table(path), "format", path, ...)
    expect_equal(condition$line, line)
  }
  refused(sub("Allele2", "Other", snp_lines), 2, "Allele2")
  refused(sub("Allele2 YRI CEU", "Allele2 CEU YRI", snp_lines), 2, "not those after Allele1")
  refused(sub("29 24 T", "29.5 24 T", snp_lines), 3, "'29.5'", "copies")
  refused(sub("29 24 T", "-1 24 T", snp_lines), 3, "'-1'")
  refused(sub(" 345", "", snp_lines), 4, "9 columns")
  refused(snp_lines[1:2], 2, "no SNP")
  path <- obs_file("snps.txt", snp_lines)
  expect_ancify_error(sfs_from_snp_table(path, populations = "JPT"), "input", "'JPT'", "'YRI'")
  path <- obs_file("snps.txt", snp_lines[c(2, 5)])
  expect_ancify_error(sfs_from_snp_table(path), "input", "`folded`")
})
