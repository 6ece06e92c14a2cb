# Files of spectra.

sfs_file <- function(...) {
  path <- tempfile(fileext = ".fs")
  writeLines(c(...), path)
  path
}

test_that("a spectrum that is written and read has the same numbers", {
  set.seed(4)
  for (x in list(
    sfs(c(0, 1 / 3, 2 / 7, 1e-300, 0)), random_sfs(c(3, 4)), random_sfs(c(2, 3), folded = TRUE),
    random_sfs(c(1, 2, 3, 2, 1)) * 1e15,
    sfs(c(0, 3, NaN, 1, 0), mask = c(TRUE, FALSE, TRUE, FALSE, TRUE)),
    sfs(c(Inf, 1, -Inf), "A b", c(TRUE, FALSE, TRUE)), abs(random_sfs(c(30, 30))) / 3
  )) {
    path <- write_sfs(x, tempfile(fileext = ".fs"))
    expect_identical(read_sfs(path), x)
  }
})

test_that("the last population varies fastest", {
  path <- write_sfs(
    sfs(matrix(1:6, 2, dimnames = NULL), c("A", "B b")), tempfile(), c("first", "second\nthird")
  )
  expect_identical(readLines(path), c(
    "# first", "# second", "# third", "2 3 unfolded \"A\" \"B b\"", "1 3 5 2 4 6", "1 0 0 0 0 1"
  ))
  x <- read_sfs(path)
  expect_identical(unclass(x)["1", "0"], 2)
})

test_that("comments, empty lines, gzip and the older form are read", {
  old <- read_sfs(sfs_file("# a comment", "2 3 ", "", "nan 1 2 3 4 5  "))
  expect_false(attr(old, "folded"))
  expect_null(names(dimnames(old)))
  expect_identical(which(attr(old, "mask")), c(1L, 6L))
  expect_identical(as.vector(as.array(old)), c(NA, 3, 1, 4, 2, NA))
  path <- tempfile(fileext = ".fs.gz")
  connection <- gzfile(path, "w")
  writeLines(c("3 folded \"A\"\r", "0 2 0\r", "1 0 1\r"), connection)
  close(connection)
  expect_identical(read_sfs(path), sfs(c(0, 2, 0), "A", folded = TRUE))
})

test_that("the spectrum of YRI and CEU is read, and folds and projects without loss", {
  x <- read_sfs(test_data("sfs", "YRI_CEU.fs"))
  expect_identical(dim(x), c(21L, 21L))
  expect_equal(x["0", "1"], 1505.721985213899)
  expect_equal(x["1", "0"], 3842.972452752669)
  folded <- fold(x)
  expect_equal(sum(folded), sum(x))
  expect_equal(fold(project_sfs(x, c(8, 12))), project_sfs(folded, c(8, 12)))
  expect_identical(read_sfs(write_sfs(x, tempfile())), x)
})

test_that("invalid files are errors with their line", {
  refused <- function(lines, line, ...) {
    path <- sfs_file(lines)
    condition <- expect_ancify_error(read_sfs(path), "format", path, sprintf("line %d", line), ...)
    expect_equal(condition$line, line)
  }
  refused("# nothing", 1, "0 lines")
  refused("3 unfolded", 1, "1 line")
  refused(c("3", "1 2 3", "1 0 1", "", "4"), 5, "not more lines")
  refused(c("three", "1 2 3"), 1, "'three'")
  refused(c("3.5", "1 2 3"), 1, "'3.5'")
  refused(c("-3", "1 2 3"), 1, "'-3'")
  refused(c("unfolded", "1 2 3"), 1, "'unfolded'")
  refused(c("\"A\"", "1 2 3"), 1, "plus 1", "not '\"A\"'")
  refused(c("2 2 2 2 2 2 unfolded", "1"), 1, "6 populations", "at most 5")
  refused(c("3 unfolded A", "1 2 3"), 1, "'3 unfolded A'")
  refused(c("3 unfolded \"A", "1 2 3"), 1, "double quotes")
  refused(c("3 unfolded \"A\" B", "1 2 3"), 1, "double quotes")
  refused(c("3 3 unfolded \"A\"", "1"), 1, "2 names")
  refused(c("3 3 unfolded \"A\" \"A\"", "1"), 1, "unique")
  refused(c("# x", "3 unfolded", "1 2"), 3, "counts must have 3 values", "there are 2")
  refused(c("1000000 1000000 1000000", "1 2"), 2, "1,000,000,000,000,000,000 values")
  refused(c("3 unfolded", "1 2 3"), 2, "mask is missing")
  refused(c("3 unfolded", "1 x 3", "1 0 1"), 2, "'x'")
  refused(c("3 unfolded", "1 2 3", "1 0"), 3, "mask must have 3 values")
  refused(c("3 unfolded", "1 2 3", "1 0 2"), 3, "0 or 1, not '2'")
  refused(c("3 unfolded", "1 nan 3", "1 0 1"), 2, "NaN in the unmasked cell [1]")
  refused(c("4 folded", "0 2 1 0", "1 0 0 1"), 2, "1 in the unmasked cell [2]")
})

test_that("negative and infinite counts are refused, in files and elsewhere", {
  read <- function(count) {
    read_sfs(sfs_file(c("# x", "4 unfolded", paste("0 3", count, "0"), "1 0 0 1")))
  }
  for (count in c("-2", "-1e-9", "-inf", "inf", "nan")) {
    condition <- expect_ancify_error(read(count), "format", "in the unmasked cell [2]", "below 0")
    expect_equal(condition$line, 3)
  }
  expect_ancify_error(sfs(c(0, 1, -2, 0)), "input", "-2 in cell [2]", "not below 0")
  # Masked cells may have any number
  expect_equal(sum(sfs(c(0, 1, -2, 0), mask = c(TRUE, FALSE, TRUE, TRUE))), 1)
  # Differences are spectra, but no data
  less <- sfs(c(0, 1, 2, 0)) - 2
  expect_equal(sum(less), -1)
  expect_ancify_error(write_sfs(less, tempfile()), "input", "below 0")
  expect_ancify_error(sfs_log_likelihood(sfs(c(0, 1, 2, 0)), less), "input", "`data`", "below 0")
  expect_ancify_error(
    fit_demography(demography_model("two_epoch"), less, c(nu = 1, time = 1)), "input", "`sfs`"
  )
})

test_that("folded files without a mask, byte order marks and other ends of lines are read", {
  lines <- c("# x", "5 folded \"A\"", "0 3 2 0 0")
  x <- read_sfs(sfs_file(lines))
  expect_true(attr(x, "folded"))
  expect_identical(as.vector(x), c(NA, 3, 2, NA, NA))
  joint <- read_sfs(sfs_file(c("3 2 folded", "0 1 2 0 0 0")))
  expect_identical(which(!attr(joint, "mask")), c(2L, 4L))
  expect_ancify_error(read_sfs(sfs_file(c("5 folded", "0 3 2 1 0"))), "format", "folded spectrum")
  whole <- c("# x", "4 unfolded", "", "0 3 2 0", "1 0 0 1")
  expected <- read_sfs(sfs_file(whole))
  for (end in c("\n", "\r\n", "\r")) {
    for (mark in list(raw(), as.raw(c(0xef, 0xbb, 0xbf)))) {
      path <- tempfile()
      writeBin(c(mark, charToRaw(paste0(whole, end, collapse = ""))), path)
      expect_identical(read_sfs(path), expected)
      # Numbers of lines stay those of the file
      writeBin(c(mark, charToRaw(paste0(replace(whole, 4, "0 x 2 0"), end, collapse = ""))), path)
      expect_ancify_error(read_sfs(path), "format", "line 4")
    }
  }
})

test_that("damaged gzip and files that are no text are errors, not other numbers", {
  path <- tempfile()
  write_sfs(sfs(1:50 / 7), path)
  text <- c(readLines(path)[-3], "")
  text[1] <- "50"
  bytes <- gzip_member(charToRaw(paste(text, collapse = "\n")))
  for (end in length(bytes) - c(1, 8, 20)) {
    writeBin(bytes[seq_len(end)], path)
    expect_ancify_error(read_sfs(path), "format", path, "cut short")
  }
  flipped <- bytes
  flipped[60] <- xor(flipped[60], as.raw(4))
  writeBin(flipped, path)
  expect_ancify_error(read_sfs(path), "format", path, "damaged")
  for (odd in list(as.raw(c(0x33, 0x0a, 0xff, 0x0a)), as.raw(c(0x33, 0, 0x0a)))) {
    writeBin(odd, path)
    expect_ancify_error(read_sfs(path), "format", path, "not UTF-8 text")
  }
})

test_that("missing files, and files that cannot be written, are errors", {
  expect_ancify_error(read_sfs(tempfile()), "file", "no such file")
  expect_ancify_error(read_sfs(tempdir()), "file", "a folder, not a file")
  expect_ancify_error(read_sfs(c("a", "b")), "input", "`file`")
  x <- sfs(c(0, 1, 0))
  expect_ancify_error(
    write_sfs(x, file.path(sfs_file("a file"), "x.fs")), "file", "x.fs", "cannot create the file"
  )
  expect_ancify_error(write_sfs(1:3, tempfile()), "input", "class sfs")
  for (comments in list(1, NA_character_, "\xff")) {
    expect_ancify_error(write_sfs(x, tempfile(), comments), "input", "`comments`")
  }
})

# Changes, removes or adds one to four bytes, or doubles a piece.
mutated <- function(bytes) {
  odd <- c(charToRaw("0123456789.-+eE \"\t\n\r#anifoldux"), as.raw(c(0xc3, 0xa9, 0xff)))
  for (k in seq_len(sample(4, 1))) {
    at <- sample(length(bytes), 1)
    bytes <- switch(sample(4, 1),
      replace(bytes, at, sample(odd, 1)),
      if (length(bytes) > 1) bytes[-at] else bytes,
      append(bytes, sample(odd, 1), at),
      append(bytes, bytes[at:min(length(bytes), at + sample(8, 1))], at)
    )
  }
  bytes
}

test_that("a damaged spectrum is an error with a line, or a valid spectrum", {
  set.seed(1)
  path <- tempfile(fileext = ".fs")
  seeds <- lapply(list(
    c("# a comment", "2 3 unfolded \"A\" \"B b\"", "1 3 5 2 4 6", "1 0 0 0 0 1"),
    c("3 3 folded", "0 2 1 4 1 0 0 0 0", "1 0 0 0 0 1 1 1 1"), c("4", "nan 1e-3 .5 2"),
    c("3 unfolded \"x\"", "-inf 1.5e300 0", "1 0 1")
  ), function(lines) charToRaw(paste0(paste(lines, collapse = "\n"), "\n")))
  outcomes <- vapply(seq_len(800), function(i) {
    writeBin(mutated(seeds[[sample(length(seeds), 1)]]), path)
    x <- tryCatch(read_sfs(path), ancify_format_error = function(condition) condition$line)
    if (!inherits(x, "sfs")) return(if (x > 0) "error" else "no line")
    if (identical(read_sfs(write_sfs(x, path)), x)) "spectrum" else "another spectrum"
  }, "")
  expect_setequal(outcomes, c("error", "spectrum"))
})

test_that("a name of a compressed file is refused, as files are plain text", {
  x <- sfs(c(0, 3, 2, 1, 0))
  for (extension in c("gz", "bgz", "bz2", "xz", "zst")) {
    file <- tempfile(fileext = paste0(".sfs.", extension))
    expect_ancify_error(write_sfs(x, file), "input", "`file`", paste0(".", extension))
    expect_false(file.exists(file))
  }
  kmers <- count_kmers(Biostrings::DNAStringSet("ACGTACGTTGCA"), 3)
  expect_ancify_error(write_kmers(kmers, tempfile(fileext = ".gz"), "text"), "input", "'.gz'")
  model <- demography_model("two_epoch")
  expect_ancify_error(
    write_demes(model, tempfile(fileext = ".gz"), c(nu = 2, time = 0.1), 1e4), "input", "'.gz'"
  )
})
