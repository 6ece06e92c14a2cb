# Variants chosen by quality, against PLINK.

# 300 samples of both sexes, with variants of autosomes, X, XY, Y and MT.
filtered_study <- function(n = 300, m = 200) {
  calls <- random_calls(n, m, missing = 0)
  calls[cbind(rep(seq_len(n), m), rep(seq_len(m), each = n))[runif(n * m) < rep(
    rep_len(c(0, 0, 0.02, 0.1), m), each = n), ]] <- NA
  # Some variants with too few heterozygotes
  for (j in seq(5, m, by = 9)) calls[which(calls[, j] == 1 & runif(n) < 0.6), j] <- 0L
  samples <- plain_samples(n)
  samples[[5]] <- rep_len(1:2, n)
  variants <- plain_variants(m)
  variants[[1]] <- rep(c(1, 2, 23, 25, 24, 26), c(m - 60, 20, 20, 10, 5, 5))
  male <- samples[[5]] == 1
  for (j in which(variants[[1]] %in% 23:24)) calls[male & calls[, j] %in% 1, j] <- 2L
  bed_fileset(calls, tempfile("filter-"), samples, variants)
}

kept_by <- function(...) suppressMessages(filter_variants(..., progress = FALSE))$variants$id

test_that("frequency and missing calls are those of PLINK 2", {
  set.seed(1)
  path <- filtered_study()
  g <- open_genotypes(path)[, 1:160]
  stem <- sub("[.]bed$", "", path)
  kept_by_plink <- function(...) {
    out <- run_plink("plink2", "--bfile", stem, "--chr", "1-22", ..., "--nonfounders",
                     "--write-snplist", "allow-dups")
    readLines(paste0(out, ".snplist"))
  }
  expect_identical(kept_by(g, maf = 0.2), kept_by_plink("--maf", "0.2"))
  expect_identical(kept_by(g, missing = 0.05), kept_by_plink("--geno", "0.05"))
  expect_identical(kept_by(g, hwe = 1e-4), kept_by_plink("--hwe", "1e-4"))
  expect_identical(kept_by(g), g$variants$id)
  three <- suppressMessages(filter_variants(g, 0.1, 0.05, 0.01))
  expect_identical(sum(three$filtered) + ncol(three), ncol(g))
  expect_true(all(three$filtered > 0))
  expect_identical(as.matrix(three), as.matrix(g)[, three$variants$id])
})

test_that("males have one copy of X and Y, as in PLINK 2", {
  set.seed(5)
  path <- filtered_study(m = 260)
  g <- open_genotypes(path)
  of_sexes <- g[, g$variants$chromosome %in% 23:25]
  kept_by_plink <- function(...) {
    out <- run_plink("plink2", "--bfile", sub("[.]bed$", "", path), "--chr", "23-25", ...,
                     "--nonfounders", "--write-snplist", "allow-dups")
    readLines(paste0(out, ".snplist"))
  }
  for (maf in c(0.1, 0.2, 0.3, 0.4)) {
    expect_identical(kept_by(of_sexes, maf = maf), kept_by_plink("--maf", maf))
  }
  for (share in c(0.01, 0.03, 0.1)) {
    expect_identical(kept_by(of_sexes, missing = share), kept_by_plink("--geno", share))
  }
  # Females alone have no copy of Y.
  females <- of_sexes[g$samples$sex == 2, of_sexes$variants$chromosome == 24]
  expect_ancify_error(filter_variants(females, missing = 0.5), "input", "No variant remains")
})

test_that("p-values are those of PLINK 2, of females on X", {
  set.seed(2)
  path <- filtered_study()
  g <- open_genotypes(path)
  out <- run_plink("plink2", "--bfile", sub("[.]bed$", "", path), "--hardy", "--nonfounders")
  column <- function(ending, name) {
    table <- utils::read.delim(paste0(out, ending), check.names = FALSE)
    stats::setNames(table[[name]], table$ID)
  }
  p <- hardy_weinberg_p(g, genotype_counts(g, new_work(1)), new_work(1))
  names(p) <- g$variants$id
  expected <- column(".hardy", "P")
  expect_gt(length(expected), 150)
  expect_equal(p[names(expected)], expected, tolerance = 1e-5)
  # PLINK 2 tests X also for the frequencies of both sexes; its first column is of females' counts.
  females <- g[g$samples$sex == 2, g$variants$chromosome == "23"]
  counts <- genotype_counts(females, new_work(1))
  expect_identical(unname(p[females$variants$id]), hardy_weinberg_impl(counts))
  expect_true(all(p[g$variants$chromosome %in% c("24", "26")] == 1))
})

test_that("what is left out is told, and wrong limits are refused", {
  set.seed(3)
  g <- open_genotypes(filtered_study())
  expect_message(filter_variants(g, maf = 0.2, missing = 0.05),
                 "Left out: [0-9]+ of 200 variants, [0-9]+ by `maf` and [0-9]+ by `missing`")
  expect_silent(filter_variants(g))
  expect_ancify_error(filter_variants(g, maf = 0.6), "input", "`maf`", "0 to 0.5")
  # A sample without calls
  none <- matrix(c(NA, NA, 1, 0), 2, dimnames = list(c("a", "b"), c("x", "y")))
  expect_identical(kept_by(open_genotypes(none), maf = 0.1), "y")
  expect_identical(kept_by(open_genotypes(none), missing = 0.9), "y")
  expect_ancify_error(filter_variants(open_genotypes(none)[, "x"], maf = 0.1), "input",
                      "No variant remains", "1 by `maf`")
})

test_that("commands filter variants", {
  set.seed(4)
  path <- filtered_study()
  g <- open_genotypes(path)
  traits <- tempfile()
  write.table(data.frame(IID = g$samples$id, y = rnorm(nrow(g))), traits, quote = FALSE,
              row.names = FALSE)
  out <- tempfile()
  result <- run_here("scan", "--genotypes", path, "--pheno", traits, "--maf", "0.2", "--missing",
                     "0.05", "--out", out)
  expect_identical(result$status, 0L)
  scan <- utils::read.delim(paste0(out, ".scan.tsv"))
  expect_identical(scan$id, kept_by(g, maf = 0.2, missing = 0.05))
  expect_identical(run_here("scan", "--genotypes", path, "--pheno", traits, "--maf", "x", "--out",
                            out)$status, 2L)
})
