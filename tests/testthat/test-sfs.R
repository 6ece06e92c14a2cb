# Spectra as objects.

two <- sfs(matrix(1:12, 3, 4), c("YRI", "CEU"))

test_that("a spectrum is an array with a mask and populations", {
  expect_s3_class(two, "sfs")
  expect_identical(dim(two), c(3L, 4L))
  expect_identical(names(dimnames(two)), c("YRI", "CEU"))
  expect_identical(which(attr(two, "mask")), c(1L, 12L))
  expect_false(attr(two, "folded"))
  expect_identical(two[["2", "1"]], 6)
  expect_identical(names(dimnames(sfs(table(YRI = factor(c(1, 1, 2), 0:3)) |> unclass()))), "YRI")
  expect_identical(dim(sfs(c(0, 3, 0))), 3L)
  expect_null(names(dimnames(sfs(c(0, 3, 0)))))
  expect_identical(sum(attr(sfs(array(1, rep(3, 5))), "mask")), 2L)
})

test_that("a given mask is kept, and cells above half of a folded spectrum are masked", {
  mask <- c(FALSE, TRUE, FALSE, FALSE)
  expect_identical(as.vector(attr(sfs(1:4, mask = mask), "mask")), mask)
  folded <- sfs(c(0, 3, 2, NA, 0), folded = TRUE)
  expect_identical(as.vector(attr(folded, "mask")), c(TRUE, FALSE, FALSE, TRUE, TRUE))
  expect_identical(as.vector(unclass(folded)), c(0, 3, 2, 0, 0))
})

test_that("a spectrum keeps its mask and folding when it is made again", {
  masked <- sfs(c(0, 50, 12, 5, 3, 0), "A", mask = 1:6 %in% c(1, 2, 6))
  renamed <- function(x, names) {
    dimnames(x) <- stats::setNames(dimnames(x), names)
    x
  }
  expect_identical(sfs(masked, "B"), renamed(masked, "B"))
  expect_identical(sum(sfs(masked)), 20)
  for (x in list(two, fold(two), two / sum(two))) {
    expect_identical(sfs(x), x)
    expect_identical(sfs(x, c("B", "C")), renamed(x, c("B", "C")))
  }
  expect_identical(sfs(masked, mask = attr(sfs(1:6), "mask")), sfs(c(0, 50, 12, 5, 3, 0), "A"))
  expect_identical(sfs(fold(masked), folded = TRUE), fold(masked))
  expect_ancify_error(sfs(masked, folded = TRUE), "input", "no such cell")
})

test_that("c() joins plain vectors, with NA in masked cells", {
  x <- sfs(c(9, 12, 5, 9), "A")
  expect_identical(unname(c(x)), as.vector(x))
  expect_identical(unname(c(x, 1, x)), c(as.vector(x), 1, as.vector(x)))
  expect_identical(unname(c(two)), as.vector(two))
  expect_identical(names(c(x)), as.character(0:3))
})

test_that("plain arrays of a spectrum have NA in masked cells", {
  expect_identical(as.array(two)["0", "0"], NA_real_)
  expect_identical(as.vector(as.array(two)), c(NA, 2:11 + 0, NA))
  expect_null(attr(as.array(two), "mask"))
  expect_identical(as.vector(two), c(NA, 2:11 + 0, NA))
  expect_identical(as.numeric(two), as.vector(two))
})

test_that("only subsets of whole populations are spectra", {
  row <- two["1", ]
  expect_s3_class(row, "sfs")
  expect_identical(as.vector(unclass(row)), c(2, 5, 8, 11))
  expect_identical(names(dimnames(row)), "CEU")
  expect_false(any(attr(row, "mask")))
  expect_identical(as.vector(attr(two[, 1], "mask")), c(TRUE, FALSE, FALSE))
  expect_identical(two[], two)
  expect_identical(two[, ], two)
  expect_identical(two[1:3, ], two)
  three <- random_sfs(c(2, 3, 4))
  part <- three[, "3", ]
  expect_identical(names(dimnames(part)), c("A", "C"))
  expect_identical(as.vector(unclass(part)), as.vector(plain_array(three)[, 4, ]))
  expect_identical(as.vector(attr(part, "mask")), as.vector(attr(three, "mask")[, 4, ]))

  expect_identical(two[1:3], c(NA, 2, 3))
  expect_identical(two["0", "1"], 4)
  expect_identical(two[1, 1], NA_real_)
  expect_identical(two[cbind(c(1, 2), c(1, 2))], c(NA, 5))
  for (part in list(two[2:3, ], two[3:1, ], two[, "1", drop = FALSE], fold(two)["1", ],
                    two[0, ], two[c(TRUE, FALSE, TRUE), ])) {
    expect_false(inherits(part, "sfs"))
  }
  expect_identical(fold(two)[], fold(two))
  expect_error(two["4", ], "subscript")
})

test_that("arithmetic is cell by cell, and a cell masked in either operand is masked", {
  other <- sfs(matrix(2, 3, 4), mask = matrix(1:12 == 5, 3))
  sum <- two + other
  expect_spectrum(
    sum, list(counts = matrix(1:12 + 2, 3), mask = matrix(1:12 %in% c(1, 5, 12), 3)),
    c("YRI", "CEU")
  )
  expect_identical(2 * two, two + two)
  expect_identical(-two, two * -1)
  expect_identical(two - matrix(1, 3, 4), two - 1)
  ratio <- (two - 3) / (two - 3)
  expect_identical(which(attr(ratio, "mask")), c(1L, 3L, 12L))
  expect_identical(which(two > 10), 11L)
  expect_identical((two == two)[1], NA)
  folded <- fold(two)
  expect_identical(sum((folded + 1)[above_half(dim(folded))], na.rm = TRUE), 0)
  expect_true(all(unclass(folded + 1)[above_half(dim(folded))] == 0))
})

test_that("functions work cell by cell, and mask cells that are not finite", {
  expect_identical(as.vector(sqrt(two)), sqrt(as.vector(two)))
  expect_identical(which(attr(expect_silent(log(two - 5)), "mask")), c(1:5, 12L))
  expect_identical(round(two / 3, 1)[["1", "0"]], 0.7)
  expect_false(inherits(cumsum(two), "sfs"))
  expect_true(all(unclass(exp(fold(two)))[above_half(dim(two))] == 0))
})

test_that("sums use unmasked cells only", {
  expect_identical(mean(two), 6.5)
  expect_identical(sum(two), sum(2:11) + 0)
  expect_identical(range(two), c(2, 11))
  expect_identical(max(two, 100), 100)
})

test_that("operands that do not match are errors", {
  refused <- function(code, ...) expect_ancify_error(code, "input", ...)
  refused(two + project_sfs(two, c(2, 2)), "2, 3 and 2, 2")
  refused(two + fold(two), "folded")
  refused(two + sfs(matrix(1:12, 3, 4), c("YRI", "CHB")), "YRI and CEU", "YRI and CHB")
  refused(two + 1:3, "one number or an array of 3 x 4")
  refused("a" * two, "one number")
})

test_that("invalid spectra are errors", {
  refused <- function(code, ...) expect_ancify_error(code, "input", ...)
  refused(sfs("a"), "`counts` must be a numeric array")
  refused(sfs(1), "array of 1")
  refused(sfs(numeric()), "array of 0")
  refused(sfs(array(0, rep(2, 6))), "1 to 5 dimensions")
  refused(sfs(c(0, NA, 1, 0)), "`counts` is NA in cell [1]")
  refused(sfs(matrix(c(0, 1, Inf, 0), 2)), "Inf in cell [0, 1]")
  refused(sfs(1:4, c("A", "B")), "1 name")
  refused(sfs(matrix(1:4, 2), c("A", "A")), "`populations[2]`")
  refused(sfs(1:4, "a\"b"), "without quotes")
  refused(sfs(1:4, "\xff"), "`populations[1]`")
  refused(sfs(1:4, mask = c(TRUE, FALSE)), "array of 4")
  refused(sfs(1:4, mask = 1:4), "TRUE or FALSE")
  refused(sfs(1:5, folded = TRUE), "4 in cell [3]", "fold()")
  refused(sfs(1:5, folded = NA), "`folded`")
  refused(fold(1:5), "class sfs")
  changed <- two
  changed["1", "1"] <- NA
  refused(print(changed), "NA in cell [1, 1]")
  attr(changed, "mask") <- NULL
  refused(changed + 1, "not a valid spectrum any more")
})

test_that("printing fits 80 columns", {
  for (size in list(300, c(20, 24), c(6, 5000 / 50, 4), c(4, 4, 4, 4, 4))) {
    for (folded in c(FALSE, TRUE)) {
      lines <- format_sfs(random_sfs(size, folded = folded) * 1e5)
      expect_true(all(nchar(lines) <= 80))
      expect_length(lines, 4 + length(size))
    }
  }
  expect_identical(format_sfs(sfs(c(0, 1200, 5, 3, 2.25, 0))), c(
    "<sfs> 1 population, unfolded",
    "  sites  1,210 in 6 cells, 2 masked",
    "Sites by copies of the derived allele in one population:",
    "population    haplotypes      1  2  3     4",
    "population 1           5  1,200  5  3  2.25"
  ))
  expect_identical(format_sfs(fold(two))[3:6], c(
    "Sites by copies of the rarer allele in one population:",
    "population  haplotypes   1",
    "YRI                  2  26",
    "CEU                  3  39"
  ))
  expect_output(expect_invisible(print(sfs(matrix(0, 2, 2)))), "sites  0 in 4 cells, 2 masked")
})

test_that("functions of base R have no counts of masked cells", {
  x <- sfs(c(90, 5, 3, 2, 10))
  values <- c(5, 3, 2)
  expect_equal(summary(x), summary(values))
  expect_equal(quantile(x), stats::quantile(values))
  expect_equal(median(x), 3)
  expect_identical(as.integer(x), c(NA, 5L, 3L, 2L, NA))
  expect_identical(as.vector(is.na(x)), c(TRUE, FALSE, FALSE, FALSE, TRUE))
  mask <- matrix(FALSE, 3, 3)
  mask[c(1, 4, 9)] <- TRUE
  counts <- matrix(c(500, 1:7, 100), 3)
  joint <- sfs(counts, c("A", "B"), mask)
  known <- replace(counts, mask, NA)
  expect_equal(unname(as.matrix(joint)), known)
  expect_equal(unname(apply(joint, 1, sum)), rowSums(known))
  expect_equal(unname(as.matrix(t(joint))), t(known))
  expect_identical(names(dimnames(t(joint))), c("B", "A"))
  expect_equal(sum(t(joint)), sum(joint))
  three <- sfs(array(1:24, 2:4), c("A", "B", "C"))
  turned <- aperm(three, c(3, 1, 2))
  expect_equal(unname(as.array(turned)), unname(aperm(as.array(three), c(3, 1, 2))))
  expect_identical(names(dimnames(turned)), c("C", "A", "B"))
  expect_equal(aperm(three, c("C", "A", "B")), turned)
  three[[2]] <- NA
  expect_identical(which(is.na(three)), c(1L, 2L, 24L))
})
