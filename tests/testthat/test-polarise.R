# Posteriors of polymorphic sites.

human <- coalescent_history(c(chimp = 240000, gorilla = 320000, macaque = 1100000), 50000, 10000)

test_that("posteriors are probabilities of the two alleles", {
  result <- polarise_sites(
    c("AAA", "AGG", "GNA"), c("A/G", "A/G", "C/G"), c(3, 3, 4990), 5008, human
  )
  expect_identical(names(result), c("A", "C", "G", "T", "ancestral"))
  expect_identical(result$ancestral, c("A", "A", "G"))
  expect_equal(rowSums(result[1:4]), rep(1, 3))
  expect_equal(result$T, numeric(3))
  expect_equal(result$C[1:2], numeric(2))
})

test_that("named columns go to the splits of their names", {
  patterns <- cbind(macaque = c("A", "G"), chimp = c("A", "A"), gorilla = c("C", "N"))
  expected <- polarise_sites(c("ACA", "ANG"), c("A/G", "A/G"), c(3, 3), 20, human)
  expect_identical(polarise_sites(patterns, c("A/G", "A/G"), c(3, 3), 20, human), expected)
  colnames(patterns)[1] <- "rhesus"
  expect_ancify_error(
    polarise_sites(patterns, c("A/G", "A/G"), c(3, 3), 20, human), "input", "'rhesus'", "'macaque'"
  )
})

test_that("without outgroup data the rarer allele is derived", {
  n <- 200
  result <- polarise_sites(rep("NNN", n - 1), rep("C/T", n - 1), seq_len(n - 1), n, human)
  # In one population of constant size: the allele's frequency (Watterson and Guess 1977). The
  # split cuts the branch, but hardly any sample's ancestry reaches it.
  expect_equal(result$C, 1 - seq_len(n - 1) / n, tolerance = 1e-3)
})

test_that("an ancestry that crosses the split makes a discordant outgroup less convincing", {
  near <- coalescent_history(c(40000, 120000, 200000), 30000, 30000)
  old <- coalescent_history(c(400000, 480000, 560000), 30000, 30000)
  posterior <- function(history) polarise_sites("GAA", "A/G", 10, 20, history)$A
  expect_gt(posterior(near), 0.8)
  expect_gt(posterior(near), posterior(old))
})

test_that("texts and matrices are the same sites", {
  patterns <- c("AcN", "G-T")
  as_texts <- polarise_sites(patterns, c("A/C", "g/t"), c(1, 2), c(10, 12), human)
  as_matrices <- polarise_sites(
    rbind(c("A", "C", NA), c("G", "*", "T")), rbind(c("A", "C"), c("G", "T")), c(1, 2), c(10, 12),
    human
  )
  expect_identical(as_texts, as_matrices)
})

test_that("in a monomorphic sample the allele is ancestral", {
  result <- polarise_sites(c("AAA", "AAA"), c("A/G", "A/G"), c(0, 20), 20, human)
  expect_identical(result$ancestral, c("A", "G"))
})

test_that("no sites give no rows", {
  result <- polarise_sites(character(), character(), numeric(), 20, human)
  expect_identical(dim(result), c(0L, 5L))
})

test_that("case is confidence", {
  posterior <- rbind(c(0.8, 0.2, 0, 0), c(0.3, 0.7, 0, 0), c(0.4, 0.3, 0.3, 0), NA)
  expect_identical(called_bases(posterior), c("A", "c", "n", NA))
})

test_that("invalid sites are errors that name the first", {
  refused <- function(patterns, alleles, counts, n, text, history = human) {
    expect_ancify_error(polarise_sites(patterns, alleles, counts, n, history), "input", text)
  }
  refused("AA", "A/G", 1, 10, "`patterns[1]` is \"AA\"")
  refused(NA_character_, "A/G", 1, 10, "`patterns` must be texts")
  refused(c("AAA", "CCC"), c("A/G", "A/GT"), c(1, 1), 10, "site 2 are \"A/GT\"")
  refused("AAA", "A/A", 1, 10, "site 1 are \"A/A\"")
  refused("AAA", "A", 1, 10, "site 1 are \"A\"")
  refused("AAA", 1, 1, 10, "`alleles` must be")
  refused("AAA", "A/G", 11, 10, "count of 11 among 10")
  refused("AAA", "A/G", Inf, 10, "count of Inf among 10")
  refused("AAA", "A/G", 1.5, 10, "count of 1.5")
  refused("AAA", "A/G", 1, c(10, 10), "`n` one number or as many")
  refused(c("AAA", "AAA"), "A/G", 1, 10, "`patterns` has 2, `alleles` has 1")
  refused("AAA", "A/G", 1, 10, "coalescent_history()", history = list())
})
