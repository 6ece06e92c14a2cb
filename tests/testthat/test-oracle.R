# The oracle, against cases worked out by hand.

block <- function(chromosome, start, end, focal, outgroup, score = " 5") {
  c(paste0("0 ", chromosome, " ", start, " ", end, " o 1 1 +", score), focal, outgroup, "")
}

test_that("a focal letter stands for a position, a focal gap for none", {
  lines <- block("c", 2, 5, "A-cN-R", "tGa-C-")
  expect_identical(oracle_project(lines, c(c = 7)), c(c = "Nta--NN"))
})

test_that("a column of two gaps stands for no position", {
  expect_identical(oracle_project(block("c", 1, 2, "-A--C-", "-G--T-"), c(c = 2)), c(c = "GT"))
})

test_that("the best block wins, or the last one, with its '-' and 'N' too", {
  lines <- c(block("c", 1, 5, "AAAAA", "ccccc"), block("c", 2, 4, "AAA", "-NG", score = " 6"))
  expect_identical(oracle_project(lines, c(c = 6)), c(c = "c-NGcN"))
  lines <- c(lines, block("c", 3, 3, "A", "T"))
  expect_identical(oracle_project(lines, c(c = 6)), c(c = "c-NGcN"))
  expect_identical(oracle_project(lines, c(c = 6), overlaps = "last"), c(c = "c-TGcN"))
  lines <- c(lines, block("c", 5, 6, "AA", "Cg"), block("c", 5, 6, "AA", "AA", score = ""))
  expect_identical(oracle_project(lines, c(c = 6)), c(c = "c-NGcg"))
  expect_identical(oracle_project(lines, c(c = 6), overlaps = "missing"), c(c = "cNNNNN"))
})

test_that("chromosomes are separate, and others ignored", {
  lines <- c(
    "## a comment", "", block("b", 1, 1, "A", "g"), "# another", block("else", 1, 9, "A", "GG"),
    block("a", 2, 2, "A", "T")[1:3]
  )
  expect_identical(oracle_project(lines, c(a = 2, b = 1)), c(a = "NT", b = "g"))
  expect_identical(oracle_project(paste0(lines, "\r"), c(a = 2, b = 1)), c(a = "NT", b = "g"))
  expect_identical(oracle_project(character(), c(a = 3)), c(a = "NNN"))
})

test_that("a bad block is an error, or left out", {
  good <- block("c", 1, 2, "AC", "GT")
  bad <- list(
    "different length" = block("c", 1, 2, "AC", "G"),
    "outside" = block("c", 3, 5, "ACG", "ACG"),
    "outside" = block("c", 0, 1, "AC", "GT"),
    "coordinates" = block("c", 1, 3, "AC", "GT"),
    "coordinates" = block("c", 1, 2, "A-", "GT"),
    "neither" = block("c", 1, 2, "AC", "G*")
  )
  for (i in seq_along(bad)) {
    lines <- c(good, bad[[i]])
    expect_error(oracle_project(lines, c(c = 4)), names(bad)[i])
    expect_error(oracle_project(lines, c(c = 4)), "line 5")
    expect_identical(oracle_project(lines, c(c = 4), skip = TRUE), c(c = "GTNN"))
  }
})

test_that("tiers that agree, are alone, differ or are missing", {
  #          agree  inner alone  outer alone  differ  neither
  inner <- c("Aa",   "cC",        "N-",        "GG",   "NR")
  outer <- c("A",    "-",         "t",         "T",    "y")
  expect_identical(
    oracle_vote(
      vapply(1:2, function(i) paste(substr(inner, i, i), collapse = ""), ""),
      paste(outer, collapse = "")
    ),
    "ActnN"
  )
})

test_that("ties are open, or go to the first of A, C, G, T, and minima count votes", {
  expect_identical(oracle_vote(c("TG", "GC"), c("GC"), ties = "alphabet"), "GC")
  expect_identical(oracle_vote(c("TG", "GC"), c("GC")), "nn")
  expect_identical(oracle_vote(c("TGN", "GCN"), c("NAN")), "nnN")
  expect_identical(oracle_vote(c("TT", "TC", "AC"), c("TC")), "TC")
  expect_identical(oracle_vote(c("AA", "NA"), c("AA"), min_inner = 2), "aA")
  # Votes for different bases do not add up.
  expect_identical(oracle_vote(c("C", "A"), c("A"), min_inner = 2), "a")
  expect_identical(oracle_vote(c("AA", "AA"), c("AA", "NA"), min_outer = 2), "aA")
  expect_identical(oracle_vote("A", "A", min_inner = 2, min_outer = 2), "N")
})

test_that("positions are counted by the case of their call", {
  expect_identical(
    oracle_counts("ACGTTacgnnNNNN"),
    c(high = 5L, low = 3L, unresolved = 2L, missing = 4L)
  )
})

test_that("random alignments are well formed and have overlaps, gaps and other chromosomes", {
  set.seed(1)
  lengths <- c(chr1 = 300, chr2 = 1, `2L` = 40)
  lines <- random_axt(lengths, n_blocks = 100, overlap = TRUE)
  expect_silent(projected <- oracle_project(lines, lengths))
  expect_identical(nchar(projected), c(chr1 = 300L, chr2 = 1L, `2L` = 40L))
  blocks <- oracle_blocks(lines)
  focal <- unlist(lapply(blocks, `[[`, "focal"))
  outgroup <- unlist(lapply(blocks, `[[`, "outgroup"))
  expect_true(any(focal == "-" & outgroup == "-"))
  expect_true(any(focal == "-" & outgroup != "-"))
  expect_true(any(focal != "-" & outgroup == "-"))
  expect_true(all(c("a", "A", "n", "N", "R") %in% focal))
  on_chr1 <- Filter(function(block) block$chromosome == "chr1", blocks)
  expect_true(1 %in% vapply(on_chr1, `[[`, 0, "start"))
  expect_true(300 %in% vapply(on_chr1, `[[`, 0, "end"))
  expect_true(any(vapply(blocks, `[[`, "", "chromosome") == "chrElse"))
})

test_that("files read back, however they are written", {
  set.seed(2)
  lines <- random_axt(c(chr1 = 200), n_blocks = 10)
  for (compression in c("none", "gzip", "members")) {
    path <- write_axt(lines, tempfile(), compression = compression)
    expect_identical(readLines(path), lines)
  }
  path <- write_axt(lines, tempfile(), eol = "\r\n", final_newline = FALSE)
  bytes <- readBin(path, "raw", file.size(path))
  expect_identical(rawToChar(bytes), paste(lines, collapse = "\r\n"))
  path <- write_axt(lines, tempfile(), compression = "bgzip")
  expect_identical(readLines(path), lines)
  # The extra field BC tells bgzip from gzip.
  expect_identical(readBin(path, "raw", 14)[13:14], charToRaw("BC"))
})
