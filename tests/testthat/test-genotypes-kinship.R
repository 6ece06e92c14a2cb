# Kinship of pairs, and choices of samples without relatives.

# Samples of two populations with children, and missing calls
kinship_case <- function(n_variants = 3000) {
  frequency <- matrix(runif(2 * n_variants, 0.1, 0.9), 2)
  population <- rep(1:2, c(8, 7))
  gamete <- function(i) rbinom(n_variants, 1, frequency[population[i], ])
  first <- t(vapply(seq_along(population), gamete, numeric(n_variants)))
  second <- t(vapply(seq_along(population), gamete, numeric(n_variants)))
  transmitted <- function(i) ifelse(runif(n_variants) < 0.5, first[i, ], second[i, ])
  calls <- first + second
  calls <- rbind(calls, t(replicate(2, transmitted(1) + transmitted(2)))) # full siblings
  calls <- rbind(calls, transmitted(1) + transmitted(3)) # their half sibling
  calls <- rbind(calls, calls[5, ]) # a twin
  calls[sample(length(calls), 1000)] <- NA
  dimnames(calls) <- list(paste0("s", seq_len(nrow(calls))), paste0("v", seq_len(n_variants)))
  calls
}

kinship_of <- function(a, b) {
  both <- !is.na(a) & !is.na(b)
  a <- a[both]
  b <- b[both]
  h1 <- sum(a == 1 & b != 1)
  h2 <- sum(a != 1 & b == 1)
  0.5 - (4 * sum(abs(a - b) == 2) + h1 + h2) / (4 * (sum(a == 1 & b == 1) + min(h1, h2)))
}

test_that("kinship is that of plain counts", {
  set.seed(61)
  calls <- kinship_case()
  g <- open_genotypes(calls)
  all <- relatedness(g, bound = -Inf, threads = 2)
  expect_identical(nrow(all), 171L)
  expect_equal(all$kinship, mapply(function(i, j) kinship_of(calls[i, ], calls[j, ]),
                                   all$first, all$second), ignore_attr = TRUE)
  one <- all[all$first == "s2" & all$second == "s9", ]
  expect_identical(one$n, as.numeric(sum(!is.na(calls["s2", ] + calls["s9", ]))))
  expect_identical(one$opposite,
                   as.numeric(sum(abs(calls["s2", ] - calls["s9", ]) == 2, na.rm = TRUE)))
  pairs <- relatedness(g, threads = 1)
  expect_identical(pairs, `rownames<-`(all[all$kinship >= 2^-4.5, ], NULL))
  degree <- function(a, b) as.character(pairs$degree[pairs$first == a & pairs$second == b])
  expect_identical(degree("s1", "s16"), "first")
  expect_identical(degree("s16", "s17"), "first")
  expect_identical(degree("s16", "s18"), "second")
  expect_identical(degree("s5", "s19"), "twin")
  # Less memory, other levels and threads change nothing.
  expect_identical(relatedness(g, memory = 100, threads = 3), pairs)
  for (simd in simd_levels()) {
    expect_identical(with_options(list(ancify.simd = simd), relatedness(g, threads = 1)), pairs)
  }
})

test_that("kinship is plink2's", {
  require_tool("plink2")
  set.seed(62)
  stem <- tempfile()
  g <- open_genotypes(kinship_case(), data.frame(chromosome = rep(c("1", "X"), c(2900, 100)),
                                                 position = 10 * 1:3000))
  write_bed(g, stem)
  g <- open_genotypes(paste0(stem, ".bed"))
  expect_message(all <- relatedness(g, bound = -Inf, threads = 1), "100 variants of X")
  stem <- run_plink("plink2", "--bfile", stem, "--make-king-table", "--king-cutoff", "0.0442")
  theirs <- utils::read.delim(paste0(stem, ".kin0"))
  place <- function(ids) match(ids, g$samples$id)
  key <- function(a, b) paste(pmin(place(a), place(b)), pmax(place(a), place(b)))
  theirs <- theirs[match(key(all$first, all$second), key(theirs$IID1, theirs$IID2)), ]
  expect_equal(all$kinship, theirs$KINSHIP, tolerance = 5e-6)
  expect_identical(all$n, as.numeric(theirs$NSNP))
  expect_equal(all$opposite / all$n, theirs$IBS0, tolerance = 1e-5)
  stays <- unrelated_samples(all[all$kinship > 0.0442, ], g$samples$id)
  expect_length(stays, length(readLines(paste0(stem, ".king.cutoff.in.id"))) - 1)
})

test_that("samples without relatives are as many as a greedy choice leaves", {
  pairs <- data.frame(first = c("a", "a", "b", "d"), second = c("b", "c", "c", "e"))
  ids <- c("f", "e", "d", "c", "b", "a")
  expect_identical(unrelated_samples(pairs, ids), c("f", "e", "c"))
  expect_identical(unrelated_samples(pairs[4:1, ], ids), c("f", "e", "c"))
  expect_identical(unrelated_samples(pairs[0, ], ids), ids)
})

test_that("what cannot be is refused", {
  g <- open_genotypes(matrix(c(0, 1, 2, 1, 1, 0), 3, dimnames = list(letters[1:3], NULL)))
  expect_ancify_error(relatedness(1), "input", "`g`")
  expect_ancify_error(relatedness(g, bound = 1), "input", "`bound`")
  expect_ancify_error(relatedness(g, chromosomes = "7"), "input", "no chromosome '7'")
  expect_ancify_error(unrelated_samples(list(), "a"), "input", "`pairs`")
  pairs <- data.frame(first = "a", second = "b")
  expect_ancify_error(unrelated_samples(pairs, c("a", "a")), "input", "`ids`")
  expect_ancify_error(unrelated_samples(pairs, "a"), "input", "not in `ids`: b")
})
