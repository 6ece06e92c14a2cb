# Folding, projecting and combining spectra.

test_that("folding adds the two cells of the rarer allele", {
  expect_identical(as.vector(unclass(fold(sfs(c(0, 12, 5, 3, 2, 0))))), c(0, 14, 8, 0, 0, 0))
  # Cells of exactly half share their sites equally.
  even <- fold(sfs(matrix(c(0, 10, 4, 0), 2)))
  expect_identical(as.vector(unclass(even)), c(0, 7, 7, 0))
  expect_identical(as.vector(attr(even, "mask")), c(TRUE, FALSE, FALSE, TRUE))
  expect_identical(fold(even), even)
})

test_that("folding is that of the plain implementation, with the mask", {
  set.seed(1)
  for (size in list(5, 6, c(3, 4), c(4, 4), c(2, 3, 2), c(1, 2, 1, 2, 3))) {
    mask <- array(runif(prod(size + 1)) < 0.2, size + 1)
    x <- random_sfs(size, mask)
    expected <- oracle_fold_sfs(plain_array(x), mask)
    expect_spectrum(fold(x), expected, names(dimnames(x)), TRUE)
    expect_equal(fold(unfold(fold(x))), fold(x), tolerance = 1e-14)
  }
})

test_that("projection draws without replacement", {
  # One derived copy of four: in a draw of two with probability 1/2.
  x <- project_sfs(sfs(c(0, 6, 0, 0, 0)), 2)
  expect_equal(as.vector(unclass(x)), c(3, 3, 0))
  # Two of four: 1/6, 4/6, 1/6.
  x <- project_sfs(sfs(c(0, 0, 6, 0, 0)), 2)
  expect_equal(as.vector(unclass(x)), c(1, 4, 1))
})

test_that("projection is that of the plain implementation, with the mask", {
  set.seed(2)
  for (size in list(7, c(4, 5), c(3, 2, 4))) {
    mask <- array(runif(prod(size + 1)) < 0.05, size + 1)
    x <- random_sfs(size, mask)
    to <- pmax(size - c(2, 0, 1)[seq_along(size)], 1)
    expected <- oracle_project_sfs(plain_array(x), mask, to)
    expect_spectrum(project_sfs(x, to), expected, names(dimnames(x)))
  }
})

test_that("the neutral spectrum stays neutral, and the sum is kept", {
  neutral <- function(n) sfs(c(0, 1 / seq_len(n - 1), 0))
  expect_equal(as.vector(project_sfs(neutral(40), 10)[2:10]), 1 / 1:9, tolerance = 1e-12)
  x <- sfs(array(1, c(6, 7)), mask = array(FALSE, c(6, 7)))
  expect_equal(sum(project_sfs(x, c(2, 3))), 42)
})

test_that("sizes are in order or named, and equal sizes change nothing", {
  x <- random_sfs(c(4, 5))
  expect_identical(project_sfs(x, c(B = 3)), project_sfs(x, c(4, 3)))
  expect_identical(project_sfs(x, c(B = 3, A = 2)), project_sfs(x, c(2, 3)))
  expect_identical(project_sfs(x, c(4, 5)), x)
  # Masked values have no effect.
  hidden <- x
  hidden[["0", "0"]] <- NaN
  expect_identical(project_sfs(hidden, c(2, 2))[2:8], project_sfs(x, c(2, 2))[2:8])
  refused <- function(size, ...) expect_ancify_error(project_sfs(x, size), "input", ...)
  refused(c(5, 5), "`size` is 5 for A", "1 to 4")
  refused(c(A = 0), "`size` is 0 for A")
  refused(c(A = 1.5), "1.5")
  refused(c(A = NA_real_), "NA")
  refused(c(C = 1), "'C'", "'A' and 'B'")
  refused(c(B = 2, B = 1), "'B' and 'B'", "each once")
  refused(3, "each of 2 populations")
  refused("3", "each of 2")
})

test_that("folded spectra are projected and summed as if unfolded", {
  x <- random_sfs(c(4, 6))
  expect_equal(project_sfs(fold(x), c(3, 4)), fold(project_sfs(x, c(3, 4))))
  expect_equal(marginal_sfs(fold(x), "B"), fold(marginal_sfs(x, "B")))
})

test_that("a marginal spectrum is a sum over the other populations", {
  set.seed(3)
  x <- random_sfs(c(2, 3, 4))
  counts <- plain_array(x)
  expect_equal(
    as.vector(unclass(marginal_sfs(x, "B"))), as.vector(apply(counts, 2, sum))
  )
  turned <- marginal_sfs(x, c("C", "A"))
  expect_identical(names(dimnames(turned)), c("C", "A"))
  expect_equal(turned["3", "1"], sum(counts["1", , "3"]))
  expect_identical(which(attr(turned, "mask")), c(1L, 15L))
  expect_identical(marginal_sfs(turned, 2:1), marginal_sfs(x, c(1, 3)))
  mask <- array(FALSE, 3:5)
  mask[2, 2, 2] <- TRUE
  expect_identical(
    which(attr(marginal_sfs(sfs(unname(counts), mask = mask), 1:2), "mask"), arr.ind = TRUE),
    cbind(row = 2L, col = 2L)
  )
  for (wrong in list("D", 4, c(1, 1), character(), 0, TRUE, NA)) {
    expect_ancify_error(marginal_sfs(x, wrong), "input", "'A', 'B' and 'C'")
  }
})

test_that("combining populations adds up their copies", {
  set.seed(953)
  for (folded in c(FALSE, TRUE)) {
    mask <- array(runif(4 * 3 * 5 * 2) < 0.1, c(4, 3, 5, 2))
    x <- random_sfs(c(3, 2, 4, 1), mask, folded)
    for (together in list(c(1, 2), c("D", "B"), c(3, 1), 1:4, c(2, 3, 4))) {
      numbers <- sort(if (is.character(together)) match(together, LETTERS) else together)
      size <- dim(x) - 1
      size[numbers[1]] <- sum(size[numbers])
      dim <- (size + 1)[-numbers[-1]]
      expected <- list(counts = array(0, dim), mask = array(FALSE, dim))
      cells <- cells_of_spectrum(dim(x))
      for (i in seq_len(nrow(cells))) {
        copies <- cells[i, ]
        copies[numbers[1]] <- sum(copies[numbers])
        at <- matrix(copies[-numbers[-1]] + 1, 1)
        expected$counts[at] <- expected$counts[at] + unclass(x)[i]
        expected$mask[at] <- expected$mask[at] || attr(x, "mask")[i]
      }
      labels <- LETTERS[1:4]
      labels[numbers[1]] <- paste(LETTERS[numbers], collapse = "+")
      expect_spectrum(combine_populations(x, together), expected, labels[-numbers[-1]], folded)
    }
  }
  x <- random_sfs(c(2, 3))
  expect_named(dimnames(combine_populations(x, 1:2, "both")), "both")
  for (wrong in list("A", 1, c(1, 1), c(1, 3), c("A", "x"))) {
    expect_ancify_error(combine_populations(x, wrong), "input", "`populations`")
  }
  expect_ancify_error(combine_populations(x, 1:2, ""), "input", "`name`")
})

test_that("unfolding shares sites equally, and folding restores the spectrum", {
  set.seed(954)
  for (size in list(6, 5, c(3, 4), c(2, 2, 3))) {
    x <- random_sfs(size, folded = TRUE)
    unfolded <- unfold(x)
    expect_false(attr(unfolded, "folded"))
    expect_equal(fold(unfolded), x)
    expect_equal(as.vector(unfolded), rev(as.vector(unfolded)))
    expect_identical(unfold(unfolded), unfolded)
  }
})

test_that("simulated spectra have Poisson distributed counts", {
  x <- sfs(c(5, 100, 50, 0, 20, 7), "A", c(TRUE, FALSE, FALSE, FALSE, TRUE, TRUE))
  drawn <- simulate(x, nsim = 2000, seed = 3)
  expect_length(drawn, 2000)
  expect_identical(drawn[1:2], simulate(x, nsim = 2, seed = 3))
  expect_identical(attr(drawn[[1]], "mask"), attr(x, "mask"))
  expect_named(dimnames(drawn[[1]]), "A")
  counts <- vapply(drawn, function(one) as.vector(unclass(one)), numeric(6))
  expect_true(all(counts[c(1, 4:6), ] == 0))
  expect_equal(rowMeans(counts)[2:3], c(100, 50), tolerance = 0.02)
  expect_equal(apply(counts[2:3, ], 1, var), c(100, 50), tolerance = 0.15)
  expect_true(attr(simulate(fold(x))[[1]], "folded"))
  expect_ancify_error(simulate(sfs(c(0, -1, 0))), "input", "-1", "[1]")
  expect_ancify_error(simulate(x, nsim = 0), "input", "`nsim`")
})
