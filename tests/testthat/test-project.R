# Projection of alignments.

random_lengths <- function() {
  lengths <- c(chr1 = sample(400, 1), chr2 = sample(60, 1), one = 1, `2L` = sample(100, 1))
  lengths[sample(length(lengths))]
}

test_that("projections of random alignments are the oracle's", {
  set.seed(1)
  for (i in 1:40) {
    lengths <- random_lengths()
    lines <- random_axt(lengths, n_blocks = sample(30, 1), overlap = TRUE)
    axt <- write_axt(
      lines, tempfile(),
      eol = sample(c("\n", "\r\n"), 1), final_newline = sample(c(TRUE, FALSE), 1)
    )
    expect_identical(differing(axt, lengths, oracle_project(lines, lengths)), character())
  }
})

test_that("compression and the file's name do not matter", {
  set.seed(2)
  lengths <- lengths_of(chr1 = 3000, chr2 = 500)
  lines <- random_axt(lengths, n_blocks = 60, overlap = TRUE)
  expected <- oracle_project(lines, lengths)
  for (compression in c("none", "gzip", "members", "bgzip")) {
    for (extension in c("", ".axt", ".gz")) {
      axt <- write_axt(lines, tempfile(fileext = extension), compression = compression)
      expect_identical(differing(axt, lengths, expected), character())
    }
  }
})

test_that("bgzip files of many blocks, members of both kinds and padding are read", {
  require_tool("bgzip")
  set.seed(3)
  lengths <- lengths_of(chr1 = 30000)
  # More text than the 64 KiB of one bgzip block.
  lines <- random_axt(lengths, n_blocks = 40, overlap = TRUE)
  expected <- oracle_project(lines, lengths)
  axt <- write_axt(lines, tempfile(), compression = "bgzip")
  expect_gt(sum(nchar(lines)), 3 * 2^16)
  expect_identical(differing(axt, lengths, expected), character())

  first <- c(axt_block("chr1", 1, "ACGT", "TTTT"), axt_block("chr1", 4, "AC", "GG"))
  second <- axt_block("chr1", 2, "a", "-")
  bytes <- c(
    file_bytes(write_axt(first, tempfile(), compression = "bgzip")),
    gzip_member(charToRaw(paste0(second, "\n", collapse = "")))
  )
  mixed <- tempfile()
  for (padding in c(0, 1, 1000)) {
    writeBin(c(bytes, raw(padding)), mixed)
    warned <- expect_one_warning(
      project_axt(mixed, c(chr1 = 6), overlaps = "last"), "projection", "overlap at 2 positions"
    )
    expect_identical(warned$value, c(chr1 = "T-TGGN"))
  }
})

test_that("chunks end at every byte", {
  set.seed(4)
  lengths <- lengths_of(chr1 = 90, one = 1)
  lines <- c("# comment", "", random_axt(lengths, n_blocks = 6), "", "", "#")
  expected <- oracle_project(lines, lengths)
  files <- c(
    plain = write_axt(lines, tempfile()),
    crlf = write_axt(lines, tempfile(), eol = "\r\n", final_newline = FALSE),
    members = write_axt(lines, tempfile(), compression = "members")
  )
  sizes <- c(1:300, 2^(9:14) - 1, 2^(9:14), 2^(9:14) + 1)
  for (axt in files) {
    good <- vapply(sizes, function(size) {
      with_chunk_size(size, identical(project_axt(axt, lengths), expected))
    }, NA)
    expect_identical(sizes[!good], numeric())
  }
  # Some of them also as files.
  for (size in c(1, 2, 3, 7, 64, 255)) {
    for (axt in files) {
      expect_identical(with_chunk_size(size, differing(axt, lengths, expected)), character())
    }
  }
})

test_that("chunks end at every byte of a bgzip file", {
  set.seed(5)
  lengths <- lengths_of(chr1 = 90, one = 1)
  lines <- random_axt(lengths, n_blocks = 6)
  axt <- write_axt(lines, tempfile(), compression = "bgzip")
  expected <- oracle_project(lines, lengths)
  sizes <- c(1:300, 2^(9:14) + 1)
  good <- vapply(sizes, function(size) {
    with_chunk_size(size, identical(project_axt(axt, lengths), expected))
  }, NA)
  expect_identical(sizes[!good], numeric())
})

# ---- Bad blocks ----------------------------------------------------------------------

bad_blocks <- function(length) {
  list(
    `rows differ in length` = axt_block("chr1", 3, "ACGT", "ACG"),
    `rows differ in length` = axt_block("chr1", 3, "ACG", "ACGTT"),
    `not inside the chromosome` = axt_block("chr1", length, "AC", "GT"),
    `not inside the chromosome` = axt_block("chr1", 0, "AC", "GT"),
    `not inside the chromosome` = axt_block("chr1", 9, "AC", "GT", end = 5),
    `not inside the chromosome` = axt_block("chr1", 1, "AC", "GT", end = 1e17),
    `span 3 positions but its focal row has 2 letters` = axt_block("chr1", 3, "AC", "GT", end = 5),
    `span 2 positions but its focal row has 1 letters` = axt_block("chr1", 3, "A-", "GT", end = 4),
    `span 2 positions but its focal row has 3 letters` =
      axt_block("chr1", 3, "ACG", "GTT", end = 4),
    `characters other than letters` = axt_block("chr1", 3, "ACG", "A.G"),
    `characters other than letters` = axt_block("chr1", 3, "AC*G", "AACG"),
    `characters other than letters` = axt_block("chr1", 3, "ACG", "A G")
  )
}

test_that("a bad block is an error with its file and line, at any chunk size", {
  good <- axt_block("chr1", 1, "ACGTACGTAC", "ACGTACGTTT")
  for (size in c(1, 10, 33, 2^20)) {
    with_chunk_size(size, {
      blocks <- bad_blocks(10)
      for (i in seq_along(blocks)) {
        axt <- axt_file("# first line", good, blocks[[i]], good)
        expect_refused(axt, c(chr1 = 10), names(blocks)[i], "on_bad_block", line = 6)
      }
    })
  }
})

test_that("messages name bad values", {
  axt <- axt_file(axt_block("chr1", 8, "ACGT", "ACGT"))
  expect_refused(axt, c(chr1 = 10), "chr1:8-11", "10 bases", line = 1)
  axt <- axt_file(axt_block("chr1", 8, "ACGT", "ACG"))
  expect_refused(axt, c(chr1 = 20), "(4 and 3)", line = 1)
})

test_that("text that is not a block is an error with its line", {
  good <- axt_block("chr1", 1, "ACG", "TTT")
  faults <- list(
    list("header of an AXT block: 'chr1 1 3'", 5, c(good, "chr1 1 3", "ACG", "TTT")),
    list("header of an AXT block", 5, c(good, "0 chr1 one 3 other 1 3 +", "ACG", "TTT")),
    list("header of an AXT block", 5, c(good, "0 chr1 1 3e0 other 1 3 +", "ACG", "TTT")),
    list("header of an AXT block", 5, c(good, "0 chr1 -1 1 other 1 3 + 5", "ACG", "TTT")),
    list("header of an AXT block", 5, c(good, "0 chr1 1 3 other 1 3 + 5 6", "ACG", "TTT")),
    list("header of an AXT block", 5, c(good, paste0("0 chr1 1 ", strrep("9", 30), " o 1 3 +"))),
    list("header of an AXT block", 5, c(good, "0 chr1 1 3 other 1 3 + 9000,5", "ACG", "TTT")),
    list("header of an AXT block", 5, c(good, "0 chr1 1 3 other 1 3 + inf", "ACG", "TTT")),
    list("header of an AXT block", 4, c(good[1:3], "TTT", good)),
    list("fewer than two rows", 5, c(good, good[1:2], "", good)),
    list("fewer than two rows", 5, c(good, good[1], "", good)),
    list("fewer than two rows", 5, c(good, good[1], good)),
    list("fewer than two rows", 5, c(good, good[1:2], good)),
    list("ends in the middle", 5, c(good, good[1:2])),
    list("ends in the middle", 5, c(good, good[1]))
  )
  for (size in c(1, 20, 2^20)) {
    with_chunk_size(size, {
      for (fault in faults) {
        axt <- axt_file(fault[[3]])
        expect_refused(axt, c(chr1 = 3), fault[[1]], "on_bad_block", line = fault[[2]])
        # Cut in the middle of the line.
        without_newline <- write_axt(fault[[3]], tempfile(), final_newline = FALSE)
        expect_refused(without_newline, c(chr1 = 3), fault[[1]], line = fault[[2]])
      }
    })
  }
})

# The lines of each block.
lines_by_block <- function(lines) {
  lapply(oracle_blocks(lines), function(block) lines[block$line + 0:2])
}

test_that("skipped bad blocks do not affect the rest", {
  set.seed(6)
  for (i in 1:20) {
    lengths <- lengths_of(chr1 = 20 + sample(200, 1), one = 1)
    good <- lines_by_block(random_axt(lengths, n_blocks = 20, overlap = TRUE))
    bad <- bad_blocks(lengths[["chr1"]])[sample(12, sample(12, 1), replace = TRUE)]
    blocks <- c(good, bad)
    order <- order(c(seq_along(good), runif(length(bad), 0, length(good) + 1)))
    lines <- unlist(blocks[order])
    expected <- oracle_project(lines, lengths, skip = TRUE)
    axt <- write_axt(lines, tempfile(), eol = sample(c("\n", "\r\n"), 1))
    size <- sample(c(1, 5, 50, 2^20), 1)
    warned <- with_chunk_size(size, expect_one_warning(
      project_axt(axt, lengths, on_bad_block = "skip"), "projection", axt, "left out"
    ))
    expect_identical(warned$value, expected)
    expect_identical(warned$warning$file, axt)
    expect_equal(warned$warning$bad_blocks, length(bad))
    starts <- cumsum(c(1, unname(lengths(blocks[order]))))[which(order > length(good))]
    expect_equal(warned$warning$lines, utils::head(starts, 5))
    expect_identical(
      suppressWarnings(differing(axt, lengths, expected, on_bad_block = "skip")), character()
    )
  }
})

test_that("skipped broken text does not affect the blocks around it", {
  good <- list(
    axt_block("chr1", 1, "ACGTAC", "TTTTTT"), axt_block("chr1", 3, "GT", "GG"),
    axt_block("chr1", 5, "A", "-")
  )
  expected <- c(chr1 = "TTGG-TN")
  broken <- list(
    "no header", c("no header", "ACGT", "ACGT", ""), c("0 chr1 1 2 other", "AA", "AA", ""),
    c("0 chr1 one 2 other 1 2 + 5", "AA", "AA", ""), "0 chr1 1 2 other 1 2 + 5",
    c("0 chr1 1 2 other 1 2 + 5", "AA"), c("0 chr1 1 2 other 1 2 + 5", "", ""),
    c("0 chr1 1 2 other 1 2 + 5", "AA", ""), c("0 chr1 1 2 other 1 2 + 5", "", "AA", ""),
    c("0 chr1 1 2 other 1 2 + 5", "AA", "12"), "12 13"
  )
  for (size in c(1, 9, 30, 2^20)) {
    for (lines in broken) {
      for (where in 0:3) {
        axt <- axt_file(unlist(append(good, list(lines), where)))
        warned <- with_chunk_size(size, expect_one_warning(
          project_axt(axt, c(chr1 = 7), on_bad_block = "skip", overlaps = "last"), "projection",
          "1 bad block left out"
        ))
        expect_identical(warned$value, expected)
        expect_equal(warned$warning$lines, 1 + 4 * where)
      }
    }
  }
})

test_that("a file of bad blocks alone is an error, also if they are skipped", {
  axt <- axt_file(rep(axt_block("chr1", 1, "AC", "G"), 10))
  expect_refused(axt, c(chr1 = 10), "every block is bad", "differ in length", line = 1, skip = TRUE)
})

# ---- Missing blocks ------------------------------------------------------------------

test_that("a chromosome without a block is a warning, once", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"), axt_block("three", 1, "A", "T"))
  lengths <- lengths_of(chr1 = 4, chr2 = 2, chr3 = 1)
  warned <- expect_one_warning(
    project_axt(axt, lengths), "projection", axt, "no block on 'chr2' and 'chr3'", "all N"
  )
  expect_identical(warned$value, c(chr1 = "NGTN", chr2 = "NN", chr3 = "N"))
  expect_identical(warned$warning$chromosomes, c("chr2", "chr3"))
  expect_identical(warned$warning$file, axt)
  expect_identical(warned$warning$bad_blocks, 0)
  expect_one_warning(project_axt(axt, lengths[1:2]), "projection", "no block on 'chr2'")
  expect_no_warning(project_axt(axt, lengths, chromosomes = "chr1"))
})

test_that("empty chromosomes and skipped blocks are one warning", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"), axt_block("chr2", 1, "A", "GT"))
  expect_one_warning(
    project_axt(axt, c(chr1 = 4, chr2 = 1), output_dir = new_folder(), on_bad_block = "skip"),
    "projection", "no block on 'chr2'", "1 bad block left out", "line 5", "differ in length"
  )
})

test_that("an alignment without a requested chromosome is an error", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"), axt_block("chr2", 1, "A", "G"))
  expect_refused(axt, c(chr7 = 10), "'chr7'", "'chr1', 'chr2'", "another genome", line = 0)
})

test_that("names may differ by a leading chr, and an identical name is preferred", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"), axt_block("2", 1, "A", "G"))
  expect_identical(project_axt(axt, c(`1` = 4, chr2 = 1)), c(`1` = "NGTN", chr2 = "G"))
  expect_identical(
    suppressWarnings(project_axt(axt, c(`1` = 4, chr1 = 4, `2` = 1))),
    c(`1` = "NNNN", chr1 = "NGTN", `2` = "G")
  )
})

# ---- Other and damaged files ---------------------------------------------------------

test_that("a missing file, a folder and an empty name are errors", {
  missing <- tempfile(fileext = ".axt")
  expect_refused(missing, c(chr1 = 10), "No such file", class = "file")
  expect_refused(new_folder(), c(chr1 = 10), "not a regular file", class = "file")
  expect_refused(file.path(axt_file("#"), "x"), c(chr1 = 10), "Not a directory", class = "file")
  skip_if_not(file.exists("/dev/null"))
  expect_refused("/dev/null", c(chr1 = 10), "not a regular file", class = "file")
})

test_that("an unreadable file is an error", {
  axt <- axt_file(axt_block("chr1", 1, "A", "C"))
  Sys.chmod(axt, "000")
  skip_if(file.access(axt, 4) == 0, "root may read every file")
  expect_refused(axt, c(chr1 = 10), "Permission denied", class = "file")
})

test_that("a file that is not AXT is an error", {
  refused <- function(content, ...) {
    axt <- tempfile()
    if (is.raw(content)) writeBin(content, axt) else writeLines(content, axt)
    expect_refused(axt, c(chr1 = 10), ...)
  }
  refused(character(), "no alignment block", line = 0)
  refused(c("", "# only comments", ""), "no alignment block", line = 0)
  refused(c(">chr1", "ACGTACGT"), "not the header of an AXT block: '>chr1'", line = 1)
  refused(c("##fileformat=VCFv4.2", "#CHROM\tPOS", "chr1\t1\t.\tA\tC\t.\t.\t."), line = 3)
  refused(c("s hg18.chr1 0 2 + 100 AC", "s panTro2.chr1 0 2 + 100 AC"), line = 1)
  set.seed(7)
  bytes <- as.raw(sample(0:255, 10000, replace = TRUE))
  refused(c(as.raw(0), bytes), "not the header", line = 1)
  refused(raw(100000), "not the header", line = 1)
  # It is an error also if bad blocks are skipped.
  axt <- tempfile()
  writeLines(c(">chr1", rep("ACGTACGT", 1000)), axt)
  expect_refused(axt, c(chr1 = 10), "every block is bad", "'>chr1'", line = 1, skip = TRUE)
})

damaged <- function(bytes, ...) {
  axt <- tempfile(fileext = ".axt.gz")
  writeBin(bytes, axt)
  expect_refused(axt, c(chr1 = 2000), ..., line = 0)
  expect_refused(axt, c(chr1 = 2000), ..., line = 0, skip = TRUE)
}

some_lines <- function() {
  set.seed(8)
  random_axt(c(chr1 = 2000), n_blocks = 30)
}

test_that("a compressed file that was cut short is an error", {
  bytes <- gzip_member(charToRaw(paste(some_lines(), collapse = "\n")))
  n <- length(bytes)
  for (end in c(2, 3, 9, 10, 11, 100, round(n / 2), n - 9, n - 8, n - 7, n - 4, n - 1)) {
    damaged(bytes[seq_len(end)], "cut short")
  }
  # The second member is cut.
  for (end in c(3, 100, n - 1)) damaged(c(bytes, bytes[seq_len(end)]), "cut short")
})

test_that("a bgzip file that was cut short is an error, between its blocks too", {
  require_tool("bgzip")
  bytes <- file_bytes(write_axt(some_lines(), tempfile(), compression = "bgzip"))
  n <- length(bytes)
  mark <- 28
  for (end in c(12, 20, 100, n - mark - 1, n - mark, n - mark + 5, n - 1)) {
    damaged(bytes[seq_len(end)], "cut short")
  }
})

test_that("a flipped bit in a compressed file is an error", {
  flipped <- function(bytes, at) {
    bytes[at] <- xor(bytes[at], as.raw(4))
    bytes
  }
  gzip <- gzip_member(charToRaw(paste(some_lines(), collapse = "\n")))
  n <- length(gzip)
  # In the data and in the trailer's checksum and size.
  for (at in c(round(n * (1:9) / 10), n - 6, n - 2)) {
    axt <- tempfile()
    writeBin(flipped(gzip, at), axt)
    expect_refused(axt, c(chr1 = 2000))
  }
  require_tool("bgzip")
  bgzip <- file_bytes(write_axt(some_lines(), tempfile(), compression = "bgzip"))
  n <- length(bgzip) - 28
  for (at in c(round(n * (1:9) / 10), n - 6, n - 2)) {
    axt <- tempfile()
    writeBin(flipped(bgzip, at), axt)
    expect_refused(axt, c(chr1 = 2000))
  }
})

test_that("data after the compressed data is an error", {
  gzip <- gzip_member(charToRaw(paste(some_lines(), collapse = "\n")))
  damaged(c(gzip, charToRaw("garbage")), "other data follow")
  damaged(c(gzip, raw(100), as.raw(1)), "other data follow")
  damaged(c(gzip, as.raw(0x1f)), "other data follow")
})

# ---- Arguments -----------------------------------------------------------------------

test_that("lengths come from a vector or a file, chromosomes in the requested order", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"), axt_block("chr2", 1, "A", "G"))
  sizes <- tempfile()
  writeLines(c("# a comment", "chr1\t4\t7\t9", "", "chr2  2"), sizes)
  both <- c(chr1 = "NGTN", chr2 = "GN")
  expect_identical(project_axt(axt, sizes), both)
  expect_identical(project_axt(axt, c(chr1 = 4L, chr2 = 2L)), both)
  expect_identical(project_axt(axt, sizes, chromosomes = c("chr2", "chr1")), both[2:1])
  expect_identical(project_axt(axt, sizes, chromosomes = "chr2"), both[2])
  expect_identical(project_axt(axt, c(chr2 = 2), chromosomes = factor("chr2")), both[2])
  numbered <- axt_file(axt_block("4", 1, "A", "g"))
  expect_identical(project_axt(numbered, c(`4` = 2), chromosomes = 4), c(`4` = "gN"))
})

test_that("an invalid file of lengths is an error with its line", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  refused <- function(lines, ..., line) {
    sizes <- tempfile()
    writeLines(lines, sizes)
    condition <- expect_ancify_error(project_axt(axt, sizes), "format", sizes, ...)
    expect_identical(condition$file, sizes)
    expect_identical(condition$line, line)
  }
  refused(c("chr1\t4", "chr2\tlong"), "line 2", "'chr2?long'", "positive whole number", line = 2)
  refused(c("chr1\t4", "chr2"), "line 2", "'chr2'", line = 2)
  refused("chr1 0", "line 1", line = 1)
  refused("chr1 -4", "line 1", line = 1)
  refused("chr1 1e3", "line 1", line = 1)
  refused("chr1 4.5", "line 1", line = 1)
  refused(c("chr1 4", "../chr2 5"), "line 2", "'../chr2'", line = 2)
  refused(c("chr1 4", "", ".. 5"), "line 3", line = 3)
  refused(c("chr1 4", "chr1 4"), "line 2", "twice", line = 2)
  refused("# nothing", "no chromosome", line = 0)
  missing <- tempfile()
  condition <- expect_ancify_error(project_axt(axt, missing), "file", missing, "No such file")
  expect_identical(condition$file, missing)
})

test_that("names that leave the folder are errors", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  for (name in c("../chr1", "a/b", ".", "..", "", NA)) {
    folder <- new_folder()
    lengths <- setNames(c(4, 4), c("chr1", name))
    expect_ancify_error(project_axt(axt, lengths, output_dir = folder), "input", "chrom_lengths")
    expect_identical(content_of(folder), character())
  }
})

test_that("invalid arguments are errors that name them", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  folder <- new_folder()
  refused <- function(argument, ...) {
    arguments <- list(axt = axt, chrom_lengths = c(chr1 = 4), output_dir = folder)
    changes <- list(...)
    arguments[names(changes)] <- changes
    expect_ancify_error(do.call(project_axt, arguments), "input", paste0("`", argument, "`"))
  }
  for (path in list(NULL, NA_character_, "", 1, c("a", "b"), character())) {
    refused("axt", axt = path)
    if (!is.null(path)) refused("output_dir", output_dir = path)
  }
  for (lengths in list(
    NULL, list(chr1 = 4), c(chr1 = TRUE), 4, c(chr1 = 0), c(chr1 = -1), c(chr1 = 1.5),
    c(chr1 = NA_real_), c(chr1 = Inf), c(chr1 = 4, chr1 = 4), c(chr1 = 2^60), numeric(),
    setNames(1:2, c("chr1", NA)), c("a", "b"), NA_character_
  )) {
    refused("chrom_lengths", chrom_lengths = lengths)
  }
  for (chromosomes in list("chr2", c("chr1", "chr1"), character(), NA, c("chr1", "other"))) {
    refused("chromosomes", chromosomes = chromosomes)
  }
  for (choice in list("ignore", NULL, NA, 1, c("skip", "error"))) {
    refused("on_bad_block", on_bad_block = choice)
  }
  for (threads in list(0, -1, 1.5, NA, "2", c(1, 2), Inf, 2^31)) {
    refused("threads", threads = threads)
  }
  refused("backend", backend = "tpu")
  for (progress in list(NULL, NA, 1, "yes")) refused("progress", progress = progress)
  expect_identical(content_of(folder), character())
})

test_that("projection has no GPU code yet", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  expect_ancify_error(project_axt(axt, c(chr1 = 4), backend = "gpu"), "device", "backend", "cpu")
  expect_identical(project_axt(axt, c(chr1 = 4), backend = "cpu"), c(chr1 = "NGTN"))
})

test_that("a sequence longer than an R string is an error at once without output_dir", {
  axt <- tempfile()
  seconds <- processor_seconds(
    expect_ancify_error(
      project_axt(axt, c(chr1 = 2^31, chr2 = 5)), "input", "'chr1'", "2^31 - 1", "output_dir"
    )
  )
  expect_lt(seconds, 1)
})

# ---- Output --------------------------------------------------------------------------

test_that("the folder is made, and existing files are replaced", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  folder <- file.path(new_folder(), "a", "b")
  for (bases in c("NGTN", "NGTNNN")) {
    path <- project_axt(axt, c(chr1 = nchar(bases)), output_dir = folder)
    expect_identical(path, c(chr1 = file.path(folder, "chr1.fa")))
    expect_identical(readLines(path), c(">chr1", bases))
  }
  expect_identical(content_of(folder), "chr1.fa")
  # After an error the earlier file is still there, as it was.
  bad <- axt_file(axt_block("chr1", 1, "AC", "GG"), axt_block("chr1", 1, "AC", "G"))
  expect_ancify_error(project_axt(bad, c(chr1 = 4), output_dir = folder), "format")
  expect_identical(content_of(folder), "chr1.fa")
  expect_identical(readLines(path), c(">chr1", "NGTNNN"))
})

test_that("an output folder that cannot be made is an error", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  folder <- file.path(axt, "folder")
  condition <- expect_ancify_error(
    project_axt(axt, c(chr1 = 4), output_dir = folder), "file", folder
  )
  expect_identical(condition$file, folder)
})

test_that("an output that is a folder is an error and leaves no other file", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"), axt_block("chr2", 2, "AC", "GT"))
  folder <- new_folder()
  dir.create(file.path(folder, "chr2.fa"))
  expect_ancify_error(
    project_axt(axt, c(chr1 = 4, chr2 = 4), output_dir = folder), "file", "chr2.fa"
  )
  expect_identical(content_of(folder), "chr2.fa")
})

test_that("there may be more chromosomes than open files", {
  set.seed(9)
  lengths <- setNames(sample(30, 700, replace = TRUE), sprintf("chrUn_%03d", 1:700))
  # In random order, so that files are opened repeatedly.
  lines <- random_axt(lengths, n_blocks = 2000)
  axt <- write_axt(lines, tempfile())
  expect_identical(differing(axt, lengths, oracle_project(lines, lengths)), character())
})

test_that("a full disk is an error and leaves no file", {
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"), axt_block("chr2", 2, "AC", "GT"))
  with_small_disk(2^16, function(folder) {
    for (lengths in list(c(chr1 = 1e6, chr2 = 10), c(chr2 = 10, chr1 = 1e6))) {
      condition <- expect_ancify_error(
        project_axt(axt, lengths, output_dir = folder), "file", "chr1.fa", "No space left", "space"
      )
      expect_identical(condition$file, file.path(folder, "chr1.fa"))
      expect_identical(content_of(folder), character())
    }
    # Less than the existing file is still written.
    expect_length(project_axt(axt, c(chr1 = 100, chr2 = 10), output_dir = folder), 2)
  })
})

# ---- Real data -----------------------------------------------------------------------

# The sequence of readAxt()'s rows. readAxt() does not keep the case.
from_axt_object <- function(axt, length) {
  focal <- charToRaw(paste(as.character(CNEr::targetSeqs(axt)), collapse = ""))
  outgroup <- charToRaw(paste(as.character(CNEr::querySeqs(axt)), collapse = ""))
  columns <- nchar(as.character(CNEr::targetSeqs(axt)))
  ranges <- CNEr::targetRanges(axt)
  is_position <- focal != charToRaw("-")
  # The index of each position in its block.
  number <- cumsum(is_position)
  before <- c(0, number[cumsum(columns)])[seq_along(columns)]
  position <- number - rep(before, columns) + rep(BiocGenerics::start(ranges), columns) - 1
  sequence <- rep(charToRaw("N"), length)
  # The last of several blocks on a position wins.
  sequence[position[is_position]] <- outgroup[is_position]
  sequence
}

without_case <- function(bytes) bytes & as.raw(0xdf)

long_test_that("CNEr reads the same from its alignment of human and chicken", {
  require_package("CNEr")
  axt <- system.file("extdata", "chr4.hg19.galGal3.net.axt.gz", package = "CNEr")
  length <- 191154276
  utils::capture.output(blocks <- suppressMessages(CNEr::readAxt(axt)))
  expect_length(blocks, 14411)
  projected <- project_axt(axt, c(chr4 = length))
  expect_identical(nchar(projected), c(chr4 = as.integer(length)))
  bytes <- charToRaw(projected)
  expected <- from_axt_object(blocks, length)
  expect_true(identical(without_case(bytes), without_case(expected)))

  folder <- new_folder()
  path <- project_axt(axt, c(chr4 = length), output_dir = folder, threads = 2)
  whole <- c(charToRaw(">chr4\n"), bytes, charToRaw("\n"))
  expect_true(identical(file_bytes(path), whole))
  expect_identical(content_of(folder), "chr4.fa")
  unlink(path)
})

long_test_that("CNEr reads the same from its alignment of zebrafish and human", {
  require_package("CNEr")
  axt <- system.file("extdata", "danRer10.hg38.net.axt", package = "CNEr")
  utils::capture.output(blocks <- suppressMessages(CNEr::readAxt(axt)))
  ends <- BiocGenerics::end(CNEr::targetRanges(blocks))
  projected <- project_axt(axt, c(chr6 = max(ends)))
  expected <- from_axt_object(blocks, max(ends))
  expect_true(identical(without_case(charToRaw(projected)), without_case(expected)))
})

test_that("an error removes the folders that the call made", {
  folder <- new_folder()
  axt <- axt_file(axt_block("chr1", 1, "ACGT", "ACGT"), axt_block("chr2", 1, "ACGT", "ACG"))
  for (size in c(1, 2^18)) {
    with_chunk_size(size, expect_ancify_error(
      project_axt(axt, c(chr1 = 10, chr2 = 10), output_dir = file.path(folder, "a", "b")), "format"
    ))
    expect_identical(content_of(folder), character())
  }
})
