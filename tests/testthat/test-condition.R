# What is known of a site: nothing, that it varies, or its allele counts.

near <- coalescent_history(c(40000, 120000, 200000), 30000, 30000)
bases <- c("A", "C", "G", "T")

test_that("posteriors without counts are sums over counts in gene trees", {
  set.seed(3)
  n <- 4
  # The focal lineages often reach the first split, and outgroups coalesce with single ones.
  recent <- coalescent_history(c(15000, 40000), 30000, 30000)
  trees <- lapply(1:800, function(i) simulated_tree(n, recent))
  for (pattern in c("GA", "CG", "NG")) {
    chances <- oracle_tree_counts(trees, n, pattern, c("A", "G"), recent$mutation_rate)
    known <- polarise_sites(rep(pattern, 3), rep("A/G", 3), 1:3, n, recent)
    # One copy of G: derived, or ancestral with three copies of A.
    by_count <- chances[, "A"] / (chances[, "A"] + rev(chances[, "G"]))
    expect_lt(max(abs(known$A - by_count)), 0.05)
    expected <- sum(chances[, "A"]) / sum(chances)
    expect_lt(abs(polarise_sites(pattern, "A/G", n = n, history = recent)$A - expected), 0.03)
  }
})

test_that("posteriors of varying sites are calibrated, and right more often than without", {
  sites <- read.delim(
    system.file("extdata", "lineage_sorting.tsv.gz", package = "ancify"), colClasses = "character"
  )
  sites <- sites[as.integer(sites$copies) > 0, ]
  weight <- as.integer(sites$sites)
  history <- near
  history$model <- substitution_model("K80", kappa = 4)
  alleles <- paste(sites$focal, sites$other, sep = "/")
  right <- function(posterior) {
    best <- max.col(posterior, ties.method = "first")
    correct <- bases[best] == sites$ancestor
    list(
      right = weighted.mean(correct, weight),
      stated = weighted.mean(posterior[cbind(seq_along(best), best)], weight),
      unsure = weighted.mean(posterior[, 1:4][cbind(seq_along(best), best)] < 0.9, weight)
    )
  }
  varying <- right(as.matrix(polarise_sites(sites$outgroups, alleles, history = history)[bases]))
  nothing <- right(call_ancestral(
    c(paste(substr(sites$outgroups, 1, 1), collapse = ""),
      paste(substr(sites$outgroups, 2, 2), collapse = "")),
    paste(substr(sites$outgroups, 3, 3), collapse = ""), "coalescent", history = history,
    posterior = TRUE, threads = 1
  )$posterior)
  expect_lt(abs(varying$stated - varying$right), 0.003)
  expect_gt(abs(nothing$stated - nothing$right), 0.01)
  expect_gt(varying$right, nothing$right + 0.005)
})

test_that("counts may be known at some sites", {
  mixed <- polarise_sites(c("AAA", "AAA"), c("A/G", "A/G"), c(NA, 5), c(20, 30), near)
  expect_equal(mixed[1, ], polarise_sites("AAA", "A/G", n = 20, history = near))
  expect_equal(mixed[2, ], polarise_sites("AAA", "A/G", 5, 30, near), ignore_attr = TRUE)
  # Without n, the history's lineages.
  expect_equal(polarise_sites("AAA", "A/G", history = near), mixed[1, ])
  expect_ancify_error(polarise_sites("AAA", "A/G", 5, history = near), "input", "`n`")
  expect_ancify_error(polarise_sites("AAA", "A/G", NA, 1, near), "input", "`n` of 2 or more")
})

test_that("a tie is no call", {
  tied <- polarise_sites(rep("NNN", 3), rep("A/G", 3), c(10, 5, NA), 20, near)
  expect_identical(tied$ancestral, c("n", "a", "n"))
  expect_equal(tied$A, c(0.5, 0.75, 0.5), tolerance = 1e-3)
  # The equilibrium frequencies are a prior that decides.
  model <- substitution_model(
    "GTR", base_freqs = c(0.4, 0.3, 0.2, 0.1), rates = c(1, 4, 1, 1, 4, 1)
  )
  expect_equal(called_bases(rbind(c(0.5, 0, 0.5, 0), c(0.4, 0.6, 0, 0)), 0.5, 0.2), c("n", "C"))
})

test_that("call_ancestral() calls what is known of each position", {
  inner <- c(a = "AGAANNAC", b = "AAGANNAC")
  outer <- c(c = "AAAGNGAC")
  history <- near
  names(history$splits) <- c("a", "b", "c")
  variants <- data.frame(
    position = c(8, 2, 3, 5, 6), alleles = c("C/T", "A/G", "A/G", "A/G", "A/G"),
    counts = c(NA, NA, 15, 3, 1), n = c(10, 20, 20, 20, 20)
  )
  call <- function(...) {
    call_ancestral(
      inner, outer, "coalescent", history = history, posterior = TRUE, threads = 1, ...
    )
  }
  plain <- call()
  found <- call(variants = variants)
  patterns <- c("CCC", "GAA", "AGA", "NNN", "NNG")
  expected <- polarise_sites(patterns, variants$alleles, variants$counts, variants$n, history)
  # Where no outgroup has a base, there is no call.
  use <- variants$position != 5
  expect_equal(found$posterior[variants$position[use], ], as.matrix(expected[use, bases]),
               ignore_attr = TRUE)
  letters <- strsplit(found$calls, "")[[1]]
  expect_identical(letters[variants$position[use]], expected$ancestral[use])
  expect_identical(letters[5], "N")
  others <- setdiff(1:8, variants$position)
  expect_identical(letters[others], strsplit(plain$calls, "")[[1]][others])
  expect_identical(found$posterior[others, ], plain$posterior[others, ])
  # Splits and sequences may have different orders.
  history$splits <- rev(history$splits)
  expect_equal(call(variants = variants), found)
  expect_identical(call(variants = variants[0, ]), plain)
})

test_that("variants that cannot be are errors", {
  refused <- function(variants, text, method = "coalescent") {
    history <- if (method == "coalescent") near
    expect_ancify_error(
      call_ancestral(c("AC", "AC"), "AG", method, history = history, variants = variants), "input",
      text
    )
  }
  row <- data.frame(position = 1, alleles = "A/G")
  refused(row, "takes no `variants`", "voting")
  refused("A/G", "`variants` must be a data frame")
  refused(data.frame(position = 1), "'alleles'")
  refused(cbind(row, copies = 3), "'copies'")
  refused(rbind(row, row), "each once")
  for (position in list(0, 3, 1.5, NA_real_, "1")) {
    refused(data.frame(position = position, alleles = "A/G"), "`variants$position` has")
  }
  refused(data.frame(position = 1, alleles = "A/A"), "site 1 are \"A/A\"")
  refused(cbind(row, counts = 3), "`n`")
  refused(cbind(row, counts = 3, n = 2), "count of 3 among 2")
})

test_that("a site without counts may lack its number of haplotypes too", {
  inner <- c(chimp = "ACGTNacc", gorilla = "ACGANNcG")
  history <- coalescent_history(c(240000, 320000, 1100000), 50000, 10000)
  call <- function(...) {
    variants <- data.frame(position = 3:4, alleles = c("G/T", "T/C"), counts = c(NA, 3), ...)
    call_ancestral(inner, c(macaque = "ATGTANNt"), "coalescent", history = history,
                   variants = variants, posterior = TRUE, threads = 1)
  }
  expect_identical(call(n = c(NA, 20)), call(n = c(max(2, history$focal_lineages), 20)))
})
