# Samples' sexes, calls that a sex cannot have, and pseudoautosomal regions.

# 8 variants each of these chromosomes in 40 samples, of which every third is of unknown sex.
sexed_genotypes <- function() {
  set.seed(5)
  names <- c("1", "X", "25", "Y", "MT", "Z", "W")
  chromosome <- rep(names[1:5], each = 8)
  m <- length(chromosome)
  calls <- matrix(sample(c(0:2, NA), 40 * m, TRUE), 40, dimnames = list(1:40, NULL))
  g <- open_genotypes(calls, data.frame(chromosome, position = seq_len(m) * 1e6))
  g$samples$sex <- rep_len(c(1, 2, 0), 40)
  list(g = g, calls = calls, chromosome = chromosome, sex = rep_len(c("m", "f", "u"), 40))
}

# The calls of an analysis, one by one.
oracle_copies <- function(calls, chromosome, sex) {
  one_copy <- list(X = "m", Y = "m", MT = c("m", "f", "u"), Z = "f", W = "f")
  no_copy <- list(Y = "f", W = "m")
  for (j in seq_len(ncol(calls))) {
    one <- sex %in% one_copy[[chromosome[j]]]
    calls[one & calls[, j] %in% 1, j] <- NA
    calls[sex %in% no_copy[[chromosome[j]]], j] <- NA
  }
  calls
}

test_that("sexes are read by PLINK's codes and words", {
  sexes <- function(...) sexes_of(data.frame(...))
  expect_identical(sexes(sex = c("1", "2", "0", "M", "f", "male", "Female", NA, "-9", "x")),
                   c("male", "female", "unknown", "male", "female", "male", "female", "unknown",
                     "unknown", "unknown"))
  expect_identical(sexes(SEX = factor(c("female", "male"))), c("female", "male"))
  expect_identical(sexes(sex = c(1, 2, NA)), c("male", "female", "unknown"))
  expect_identical(sexes(id = 1:2), c("unknown", "unknown"))
})

test_that("calls that a sex cannot have are missing in analyses alone", {
  case <- sexed_genotypes()
  g <- case$g
  analysed <- with_copies_by_sex(g)
  expect_identical(unname(as.matrix(g)), unname(case$calls))
  expected <- oracle_copies(case$calls, case$chromosome, case$sex)
  expect_gt(sum(is.na(expected)) - sum(is.na(case$calls)), 100)
  expect_identical(unname(as.matrix(analysed)), unname(expected))
  expect_identical(as.matrix(with_copies_by_sex(g[7:3, 30:10])), expected[7:3, 30:10],
                   ignore_attr = TRUE)
  expect_equal(summary(analysed)$missing, colSums(is.na(expected)), ignore_attr = TRUE)
  # From files of both formats, from a set in other orders, and where females have one copy
  first <- case$chromosome %in% c("1", "X")
  sources <- list(
    write_bed(g, tempfile()), write_pgen(g, tempfile()),
    c(write_bed(g[, first], tempfile()), write_pgen(g[40:1, !first], tempfile()))
  )
  for (source in sources) {
    of_files <- with_copies_by_sex(open_genotypes(source))
    expect_identical(unname(as.matrix(of_files)), unname(expected))
  }
  birds <- g
  birds$variants$chromosome <- chartr("XY", "ZW", case$chromosome)
  birds$chromosomes <- list(unique(birds$variants$chromosome))
  expect_identical(
    unname(as.matrix(with_copies_by_sex(birds))),
    unname(oracle_copies(case$calls, birds$variants$chromosome, case$sex))
  )
})

test_that("calls that count as missing are told in counts", {
  case <- sexed_genotypes()
  hets <- function(chromosome, sexes) {
    case$calls[case$sex %in% sexes, case$chromosome == chromosome] %in% 1
  }
  n <- sum(hets("X", "m"), hets("Y", "m"), hets("MT", c("m", "f", "u")))
  expect_warning(warn_of_haploid_calls(with_copies_by_sex(case$g), new_work(1)),
                 sprintf("^%d heterozygous calls are set missing.*8 variants of chromosome X", n),
                 class = "ancify_chromosome_warning")
  # Without males, and on autosomes
  females <- case$g[case$sex == "f", case$chromosome %in% c("1", "X", "25")]
  expect_no_warning(warn_of_haploid_calls(with_copies_by_sex(females), new_work(1)))
  suppressWarnings(expect_warning(
    kernel_grm(case$g, chromosomes = "X"), "`split_par`", class = "ancify_chromosome_warning"
  ))
})

test_that("a kernel of X has the calls that sexes can have", {
  case <- sexed_genotypes()
  on_x <- case$chromosome == "X"
  kernel <- suppressWarnings(kernel_grm(case$g, chromosomes = "X"))
  v <- matrix(stats::rnorm(80), 40)
  expected <- oracle_kernel(oracle_copies(case$calls, case$chromosome, case$sex)[, on_x])
  expect_equal(kernel_times(kernel, v, threads = 1), expected %*% v, tolerance = 1e-12)
  # Dense kernels that a session keeps are those of these sexes.
  y <- rowSums(case$calls[, on_x], na.rm = TRUE)
  data <- data.frame(id = 1:40, y = y + stats::rnorm(40))
  fit_of <- function(g) {
    suppressWarnings(quiet_fit(y ~ 1, data, g, method = "exact", chromosomes = "X"))$theta
  }
  others <- case$g
  others$samples$sex <- 3 - others$samples$sex
  first <- fit_of(case$g)
  second <- fit_of(others)
  expect_false(isTRUE(all.equal(first, second)))
  expect_identical(fit_of(case$g), first)
})

test_that("predictions have the calls that sexes can have", {
  case <- sexed_genotypes()
  data <- data.frame(id = 1:40, y = stats::rnorm(40))
  fit <- suppressWarnings(quiet_fit(y ~ 1, data, case$g, chromosomes = "X"))
  fit$theta[] <- 1
  effects <- variant_effects(fit)
  calls <- oracle_copies(case$calls, case$chromosome, case$sex)[, case$chromosome == "X"]
  centred <- sweep(calls, 2, 2 * effects$frequency)
  expected <- drop(replace(centred, is.na(centred), 0) %*% effects$effect)
  suppressWarnings(expect_warning(
    values <- predict(fit, case$g, type = "genetic"), "heterozygous calls",
    class = "ancify_chromosome_warning"
  ))
  expect_equal(values, expected, tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("pseudoautosomal regions are those of the build", {
  position <- c(60000, 60001, 2699520, 2699521, 154931043, 154931044, 155260560, 155260561,
                10000, 10001, 2781479, 2781480, 155701382, 155701383, 156030895, 156030896)
  m <- length(position)
  g <- open_genotypes(
    matrix(0, 1, m + 1, dimnames = list("a", NULL)),
    data.frame(chromosome = c(rep("chrX", m), "1"), position = c(position, 100000))
  )
  par_of <- function(regions) which(variant_classes(split_par(g, regions))$class == "PAR")
  grch37 <- which(position >= 60001 & position <= 2699520 |
                    position >= 154931044 & position <= 155260560)
  grch38 <- which(position >= 10001 & position <= 2781479 |
                    position >= 155701383 & position <= 156030895)
  for (name in c("GRCh37", "hg19")) expect_identical(par_of(name), grch37)
  for (name in c("GRCh38", "hg38")) expect_identical(par_of(name), grch38)
  expect_identical(par_of(data.frame(start = c(60001, 155260561), end = c(60001, 155260561))),
                   c(2L, 8L))
  split <- split_par(g, "GRCh38")
  expect_identical(split$variants$chromosome[c(1, 5, m + 1)], c("XY", "chrX", "1"))
  for (wrong in list("GRCh36", NULL, 1, data.frame(start = 2, end = 1), data.frame(start = 1))) {
    expect_ancify_error(split_par(g, wrong), "input", "`regions`", "GRCh38")
  }
  expect_ancify_error(split_par(g[, m + 1], "GRCh38"), "input", "no variant of chromosome X")
})

test_that("pseudoautosomal regions are those of plink2", {
  # The last positions of both regions, and the first beyond
  position <- list(
    b37 = c(60001, 2699520, 2699521, 2781479, 154931043, 154931044, 155260560),
    b38 = c(10001, 2699521, 2781479, 2781480, 154931044, 155701382, 155701383, 156030895)
  )
  for (build in names(position)) {
    at <- position[[build]]
    g <- open_genotypes(matrix(0, 1, length(at), dimnames = list("a", NULL)),
                        data.frame(chromosome = "X", position = at))
    stem <- sub("[.]bed$", "", write_bed(g, tempfile()))
    out <- tempfile()
    run_tool("plink2", c("--bfile", stem, "--split-par", build, "--make-just-bim", "--out", out))
    theirs <- utils::read.table(paste0(out, ".bim"))
    is_par <- variant_classes(split_par(g, sub("b", "GRCh", build)))$class == "PAR"
    expect_gt(sum(is_par), 3)
    expect_equal(theirs$V4[theirs$V1 != "X"], at[is_par])
  }
})

test_that("codes stay PLINK's codes beside names of other files, or of split_par()", {
  calls <- matrix(0:1, 2, 4, dimnames = list(c("a", "b"), NULL))
  variants <- data.frame(chromosome = c("1", "23", "23", "25"), position = c(5, 5, 1e6, 1e6))
  g <- split_par(open_genotypes(calls, variants), "GRCh38")
  expect_identical(variant_classes(g)$class, c("autosome", "X", "PAR", "PAR"))
  one <- bed_fileset(matrix(0:1, 2, 2), variants = plain_variants(2))
  other <- bed_fileset(matrix(0:1, 2, 2), variants = plain_variants(4)[3:4, ])
  rename <- function(path, names) {
    bim <- sub("bed$", "bim", path)
    writeLines(paste(names, sub("^[0-9]+ v", paste0(" ", names[1], "v"), readLines(bim))), bim)
  }
  rename(one, c("1", "23"))
  rename(other, c("2", "X"))
  set <- open_genotypes(c(one, other))
  expect_identical(variant_classes(set)$class, rep(c("autosome", "X"), 2))
})
