# A plain implementation of spectra: cell by cell, with binomial coefficients.

# The copies of each cell: a row for each, in R's order.
cells_of_spectrum <- function(dim) {
  as.matrix(expand.grid(lapply(dim, function(cells) seq_len(cells) - 1)))
}

# The probability that h of n copies become k of m.
oracle_weight <- function(h, n, k, m) choose(m, k) * choose(n - m, h - k) / choose(n, h)

# Plain unfolded arrays, as list(counts =, mask =).
oracle_project_sfs <- function(counts, mask, size) {
  from <- cells_of_spectrum(dim(counts))
  to <- cells_of_spectrum(size + 1)
  result <- array(0, size + 1)
  masked <- array(FALSE, size + 1)
  for (i in seq_len(nrow(from))) {
    for (j in seq_len(nrow(to))) {
      weight <- prod(oracle_weight(from[i, ], dim(counts) - 1, to[j, ], size))
      if (weight == 0) next
      result[j] <- result[j] + weight * counts[i]
      masked[j] <- masked[j] || mask[i]
    }
  }
  list(counts = result, mask = masked)
}

oracle_fold_sfs <- function(counts, mask) {
  n <- dim(counts) - 1
  cells <- cells_of_spectrum(dim(counts))
  result <- array(0, dim(counts))
  masked <- array(FALSE, dim(counts))
  place <- function(copies) 1 + sum(copies * cumprod(c(1, dim(counts)))[seq_along(n)])
  for (i in seq_len(nrow(cells))) {
    other <- place(n - cells[i, ])
    derived <- sum(cells[i, ])
    if (2 * derived > sum(n)) {
      result[other] <- result[other] + counts[i]
      masked[i] <- TRUE
    } else if (2 * derived == sum(n)) {
      result[i] <- result[i] + counts[i] / 2
      result[other] <- result[other] + counts[i] / 2
    } else {
      result[i] <- result[i] + counts[i]
    }
    masked[i] <- masked[i] || mask[i] || mask[other]
  }
  list(counts = result, mask = masked)
}

random_sfs <- function(size, mask = NULL, folded = FALSE) {
  x <- sfs(array(rexp(prod(size + 1)), size + 1), LETTERS[seq_along(size)], mask)
  if (folded) fold(x) else x
}

# Expects a spectrum with an oracle's counts and mask.
expect_spectrum <- function(x, expected, populations, folded = FALSE) {
  expect_s3_class(x, "sfs")
  expect_equal(array(as.vector(unclass(x)), dim(x)), expected$counts, tolerance = 1e-12)
  expect_identical(attr(x, "mask"), expected$mask)
  expect_identical(attr(x, "folded"), folded)
  expect_identical(names(dimnames(x)), populations)
}

# Site by site: each cell's probability, as counted and with exchanged alleles.
oracle_sfs_of_sites <- function(derived, called, size, posterior = rep(1, nrow(derived))) {
  cells <- cells_of_spectrum(size + 1)
  spectrum <- array(0, size + 1)
  for (i in seq_len(nrow(derived))) {
    if (any(called[i, ] < size)) next
    chance <- function(copies) {
      apply(cells, 1, function(to) prod(oracle_weight(copies, called[i, ], to, size)))
    }
    spectrum <- spectrum + posterior[i] * chance(derived[i, ]) +
      (1 - posterior[i]) * chance(called[i, ] - derived[i, ])
  }
  spectrum
}

# Sites of several populations, with missing genotypes.
random_counts <- function(n, most) {
  called <- vapply(most, function(m) m - rbinom(n, 3, 0.2), numeric(n))
  derived <- vapply(seq_along(most), function(k) {
    rbinom(n, called[, k], rbeta(n, 0.5, 1.5)) + 0
  }, numeric(n))
  list(derived = derived, called = called)
}

# The entries of segregating sites, without names
segregating <- function(x) as.vector(unmasked(x))

sfs_of_vcf <- function(..., threads = 1) sfs_from_vcf(..., threads = threads, progress = FALSE)
