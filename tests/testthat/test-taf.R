# Projection of TAF files.

taf_species <- c(maf_outgroups, paste0("other", 1:30))

taf_file <- function(lines, ...) write_axt(lines, tempfile(fileext = ".taf"), ...)

test_that("projections of TAF are those of the same alignment in MAF", {
  set.seed(71)
  for (i in 1:10) {
    lengths <- c(chr1 = 100 + sample(200, 1), chr.2 = sample(60, 1), one = 1)
    maf_lines <- random_taf_maf(lengths, taf_species)
    blocks <- oracle_maf_blocks(maf_lines)
    maf <- maf_file(maf_lines)
    for (runs in c(FALSE, TRUE)) {
      taf <- taf_file(
        taf_lines(blocks, runs), eol = sample(c("\n", "\r\n"), 1),
        compression = sample(c("none", "gzip", "members", "bgzip"), 1)
      )
      for (name in maf_outgroups) {
        overlaps <- sample(overlap_rules, 1)
        project <- function(file) {
          suppressWarnings(
            project_maf(file, lengths, name, maf_focal, overlaps = overlaps)
          )
        }
        expect_identical(with_chunk_size(sample(c(1, 7, 300, 1e5), 1), project(taf)), project(maf))
      }
    }
  }
})

test_that("one TAF serves several outgroups of a run, and its counts are the MAF's", {
  set.seed(72)
  for (runs in c(FALSE, TRUE)) {
    lengths <- c(chr1 = 200, b.chr = 20)
    maf_lines <- random_taf_maf(lengths, taf_species)
    expected <- oracle_project_maf(maf_lines, maf_focal, maf_outgroups, lengths)
    config <- maf_config(
      taf_lines(oracle_maf_blocks(maf_lines), runs), lengths, compression = "gzip"
    )
    for (keep in c(TRUE, FALSE)) {
      config$keep_projected <- keep
      expect_maf_run(config, expected, threads = 2)
    }
  }
})

test_that("a line of columns needs no focal base, and may belong to two focal rows", {
  taf <- taf_file(c(
    "#taf", "AT ; i 0 hg.chr1 0 + 9 i 1 near.c 3 + 9", "CG", "-T ;", "-A", "GC ; s 0 hg.chr1 2 + 9",
    "TGA ; i 1 hg.chr1 5 + 9"
  ))
  expect_identical(project_maf(taf, c(chr1 = 9)), c(chr1 = "TGCANANNN"))
})

taf_head <- c("#taf", "AT- ; i 0 hg.chr1 0 + 9 i 1 near.c 3 + 9 i 2 far.c 0 + 5")

expect_taf_refused <- function(lines, ..., line, skip = FALSE) {
  condition <- expect_ancify_error(
    project_maf(taf_file(lines), c(chr1 = 9), on_bad_block = if (skip) "skip" else "error"),
    "format", ...
  )
  expect_identical(condition$line, line)
}

test_that("a bad column of a TAF is an error with its line, or left out and counted", {
  expect_taf_refused(
    c(taf_head, "CG"), "this column of TAF has 2 bases, but the number of rows is 3",
    "on_bad_block", line = 3
  )
  lines <- c(taf_head, "CG", "GGG", "GGG ; s 0 hg.chr1 4 + 9",
             "TTT ; s 0 hg.chr1 5 + 9 s 1 near.c 7 + 9 s 2 far.c 2 + 5")
  warned <- expect_one_warning(
    project_maf(taf_file(lines), c(chr1 = 9), on_bad_block = "skip"), "projection",
    "2 bad blocks left out, the first at line 3"
  )
  expect_identical(warned$value, c(chr1 = "NNNNNTNNN"))
  long <- c(taf_head, "CG-", "TTT ; s 0 hg.chr1 8 + 9", "TTT", "AAA ; s 0 hg.chr1 3 + 9 g 1 9",
            "AA*; s 0 hg.chr1 4 + 9 s 1 near.c 0 + 9 ", "CCC ; s 0 hg.chr1 5 + 9")
  expect_taf_refused(long, "start 8, size 2", "'hg.chr1'", line = 4)
  expect_taf_refused(long[-(4:5)], "start 14, size 1", "'near.c'", line = 4)
  warned <- expect_one_warning(
    project_maf(taf_file(long), c(chr1 = 9), on_bad_block = "skip"), "projection",
    "2 bad blocks left out, the first at line 4"
  )
  expect_identical(warned$value, c(chr1 = "TGNNACNNN"))
  expect_taf_refused(c(taf_head[1], "A* ; i 0 hg.chr1 0 + 9 i 1 near.c 3 + 9"), "'near.c'",
                     "letters and -", line = 2)
})

test_that("after a wrong character, no position is known until coordinates are stated", {
  head <- c("#taf", "AA ; i 0 hg.chr1 0 + 9 i 1 near.c 0 + 9")
  lines <- c(head, "*G", "TT", "GG ; g 1 0", "CC", "TT ; s 0 hg.chr1 6 + 9 s 1 near.c 6 + 9", "AA")
  warned <- expect_one_warning(
    project_maf(taf_file(lines), c(chr1 = 9), on_bad_block = "skip"), "projection",
    "2 bad blocks left out, the first at line 2"
  )
  expect_identical(warned$value, c(chr1 = "NNNNNNTAN"))
})

test_that("a change that cannot be read ends the reading of a TAF", {
  for (skip in c(FALSE, TRUE)) {
    expect_taf_refused(c(taf_head, "CGT ; d 3"), "row '3'", "is 3", "cannot", line = 3,
                       skip = skip)
    expect_taf_refused(c("#taf version:2", taf_head[-1]), "'version:2'", line = 1, skip = skip)
  }
})

test_that("messages name what a TAF lacks", {
  taf <- taf_file(taf_head)
  expect_ancify_error(project_axt(taf, c(chr1 = 9)), "input", "maf_name", "'hg.chr1', 'near.c'")
  expect_ancify_error(project_maf(taf, c(chr1 = 9), "no"), "format", "'no'", "'near.c'")
  expect_ancify_error(project_maf(taf, c(chr1 = 9), focal_maf_name = "no"), "format", "'no.'",
                      "focal_maf_name")
  expect_ancify_error(project_maf(taf_file("#taf"), c(chr1 = 9)), "format", "no alignment block")
})
