# Random haplotypes of each population: a matrix of 0 and 1 with a row for each site.
random_haplotypes <- function(n, sites) {
  lapply(n, function(one) matrix(rbinom(one * sites, 1, runif(sites)), sites))
}

spectrum_of <- function(haplotypes) {
  n <- vapply(haplotypes, ncol, 0L)
  copies <- vapply(haplotypes, rowSums, numeric(nrow(haplotypes[[1]])))
  counts <- array(0, n + 1)
  for (i in seq_len(nrow(copies))) {
    at <- matrix(copies[i, ] + 1, 1)
    counts[at] <- counts[at] + 1
  }
  sfs(counts)
}

# The mean number of differences between two haplotypes.
oracle_pi <- function(haplotypes) {
  pairs <- utils::combn(ncol(haplotypes), 2)
  mean(apply(pairs, 2, function(pair) sum(haplotypes[, pair[1]] != haplotypes[, pair[2]])))
}

# Fst from mean squares of an analysis of variance of alleles, site by site.
oracle_fst <- function(haplotypes) {
  n <- vapply(haplotypes, ncol, 0L)
  group <- rep(seq_along(n), n)
  alleles <- do.call(cbind, haplotypes)
  nc <- (sum(n) - sum(n^2) / sum(n)) / (length(n) - 1)
  parts <- apply(alleles, 1, function(y) {
    means <- tapply(y, group, mean)
    among <- sum(n * (means - mean(y))^2) / (length(n) - 1)
    within <- sum((y - means[group])^2) / (sum(n) - length(n))
    c((among - within) / nc, within)
  })
  varies <- rowSums(alleles) > 0 & rowSums(alleles) < ncol(alleles)
  sum(parts[1, varies]) / sum(parts[, varies])
}

test_that("statistics are those computed from haplotypes", {
  set.seed(951)
  haplotypes <- random_haplotypes(c(7, 4, 5), 60)
  x <- spectrum_of(haplotypes)
  table <- sfs_statistics(x)
  expect_identical(table$population, paste("population", 1:3))
  expect_identical(table$haplotypes, c(7, 4, 5))
  varying <- vapply(haplotypes, function(one) {
    sum(rowSums(one) > 0 & rowSums(one) < ncol(one))
  }, 0)
  expect_equal(table$segregating, varying)
  expect_equal(table$watterson, varying / c(sum(1 / 1:6), sum(1 / 1:3), sum(1 / 1:4)))
  expect_equal(table$pi, vapply(haplotypes, oracle_pi, 0))
  folded <- sfs_statistics(fold(x))
  expect_equal(folded, table)
  expect_identical(sfs_statistics(sfs(1:5, "YRI"))$population, "YRI")
})

test_that("Tajima's D is that of his equation (38)", {
  # n = 5, S = 4, a1 = 25/12, a2 = 205/144
  x <- sfs(c(0, 1, 1, 1, 1, 0))
  a1 <- 25 / 12
  e1 <- (6 / 12 - 12 / 25) / a1
  e2 <- (2 * 33 / 180 - 7 / (5 * a1) + (205 / 144) / a1^2) / (a1^2 + 205 / 144)
  pi <- 2 * (4 + 6 + 6 + 4) / 20
  expect_equal(sfs_statistics(x)$tajima_d, (pi - 4 / a1) / sqrt(e1 * 4 + e2 * 4 * 3))
  # For the expected spectrum of constant size D is 0, and both estimates are theta.
  neutral <- sfs_statistics(sfs(c(0, 100 / 1:19, 0)))
  expect_equal(neutral$watterson, 100)
  expect_equal(neutral$pi, 100)
  expect_equal(neutral$tajima_d, 0)
})

test_that("statistics of small samples are NaN where they are not defined", {
  table <- sfs_statistics(sfs(matrix(1:12, 2, 6)))
  expect_identical(is.nan(table$pi), c(TRUE, FALSE))
  expect_true(is.nan(table$tajima_d[1]))
  expect_equal(sfs_statistics(sfs(c(0, 3, 0)))$pi, 3)
  expect_true(is.nan(sfs_statistics(sfs(c(0, 3, 2, 0)))$tajima_d))
  expect_true(is.nan(sfs_statistics(sfs(rep(0, 7)))$tajima_d))
  expect_ancify_error(sfs_statistics(1:3), "input", "class sfs")
})

test_that("Fst is that of an analysis of variance, and 0 within one population", {
  set.seed(952)
  for (n in list(c(6, 4), c(3, 8, 5), c(1, 9))) {
    haplotypes <- random_haplotypes(n, 40)
    x <- spectrum_of(haplotypes)
    expect_equal(sfs_fst(x), oracle_fst(haplotypes))
    expect_equal(sfs_fst(fold(x)), sfs_fst(x))
  }
  # Two samples drawn from one sample, in every possible way.
  one <- rexp(13)
  copies <- as.matrix(expand.grid(0:5, 0:7))
  drawn <- array(dhyper(copies[, 1], rowSums(copies), 12 - rowSums(copies), 5) *
                   one[rowSums(copies) + 1], c(6, 8))
  expect_equal(sfs_fst(sfs(drawn)), 0)
  expect_ancify_error(sfs_fst(sfs(1:4)), "input", "two populations")
  expect_ancify_error(sfs_fst(sfs(matrix(1:4, 2))), "input", "second haplotype")
})
