# Every reader of the registry on files that are cut, damaged, of another kind, or made to fill
# memory: each ends as a value, or as an error of the package that names the file.

outcome_in <- function(reader, path) outcome_of(reader$read(path), function(value) NULL)

expect_outcomes <- function(outcomes, of, allowed = c("value", "error")) {
  expect_identical(unique(outcomes[!outcomes %in% allowed]), character(), info = of)
}

test_that("compression, a byte order mark and other line ends change nothing", {
  for (name in names(readers())) {
    reader <- readers()[[name]]
    plain <- reader$read(reader_file(reader, reader_text(reader$lines)))
    same <- function(bytes, end = "") {
      expect_equal(reader$read(reader_file(reader, bytes, end)), plain, info = name,
                   ignore_attr = c("file", "path"))
    }
    same(gzip_bytes(reader_text(reader$lines)), ".gz")
    text <- reader_text(reader$lines)
    same(c(as.raw(c(0xef, 0xbb, 0xbf)), text))
    if (!is.na(ancify_build_info()$zstd)) {
      same(zstd_bytes(text), ".zst")
      same(c(skipped_frame, zstd_bytes(text)), ".zst")
    }
    same(reader_text(reader$lines, "\r"))
    same(reader_text(reader$lines, "\r\n"))
  }
})

test_that("gzip that is cut anywhere is an error", {
  for (name in names(readers())) {
    reader <- readers()[[name]]
    whole <- gzip_bytes(reader_text(reader$lines))
    outcomes <- vapply(seq(2, length(whole) - 1), function(n) {
      outcome_in(reader, reader_file(reader, whole[seq_len(n)], ".gz"))
    }, "")
    expect_outcomes(outcomes, name, "error")
    damaged <- whole
    damaged[length(whole) - 5] <- xor(damaged[length(whole) - 5], as.raw(1))
    expect_outcomes(outcome_in(reader, reader_file(reader, damaged, ".gz")), name, "error")
  }
})

long_test_that("text that is cut anywhere is a value or an error", {
  for (name in names(readers())) {
    reader <- readers()[[name]]
    whole <- reader_text(reader$lines)
    outcomes <- vapply(seq(0, length(whole) - 1), function(n) {
      outcome_in(reader, reader_file(reader, whole[seq_len(n)]))
    }, "")
    expect_outcomes(outcomes, name)
  }
})

test_that("bytes that are no text, and formats that are not read, are values or errors", {
  odd <- list(
    as.raw(c(0xff, 0xfe, 0x41, 0)), charToRaw("BZh91AY&SY"), charToRaw("<!DOCTYPE html>\n"),
    charToRaw("version https://git-lfs.github.com/spec/v1\n"), as.raw(0:255), raw(64)
  )
  for (name in names(readers())) {
    reader <- readers()[[name]]
    text <- reader_text(reader$lines)
    middle <- length(text) %/% 2
    odd$inside <- c(text[seq_len(middle)], as.raw(c(0xff, 0xc3)), text[-seq_len(middle)])
    expect_outcomes(vapply(odd, function(bytes) outcome_in(reader, reader_file(reader, bytes)), ""),
                    name)
    for (k in 2:4) {
      expect_outcomes(outcome_in(reader, reader_file(reader, odd[[k]])), name, "error")
    }
  }
})

test_that("pipes and folders are errors at once", {
  skip_on_os("windows")
  for (name in names(readers())) {
    reader <- readers()[[name]]
    pipe <- tempfile(fileext = reader$extension)
    system2("mkfifo", pipe)
    expect_outcomes(outcome_in(reader, pipe), name, "error")
    expect_outcomes(outcome_in(reader, new_folder()), name, "error")
    expect_outcomes(outcome_in(reader, tempfile(fileext = reader$extension)), name, "error")
  }
})

# Twice the time in which scan() reads 80 MB of numbers, under the load of this moment.
slow_machine_limit <- function() {
  path <- tempfile()
  writeBin(gzip_bytes(rep(charToRaw("0.25 0.75\n"), 2^24 / 10)), path)
  file <- gzfile(path)
  on.exit(close(file))
  10 * processor_seconds(scan(file, quiet = TRUE))
}

# Readers that keep text end after 64 MB of it, so 80 MB show the same as gigabytes. Others take
# time in proportion: a twelfth of 20 s here, twice as long on slow machines.
long_test_that("small files that inflate a thousandfold take neither memory nor time", {
  megabytes <- 80
  for (name in names(readers())) {
    reader <- readers()[[name]]
    repeated <- function(start, word) {
      megabyte <- gzip_bytes(rep(charToRaw(word), 2^20 / nchar(word)))
      c(gzip_bytes(charToRaw(start)), rep(megabyte, megabytes))
    }
    bombs <- list(
      rows = bomb_bytes(reader$lines, reader$row, megabytes * 2^20),
      line = repeated(reader$row, "A"),
      words = repeated("1", " 1"),
      blank = bomb_bytes(reader$lines, "", megabytes * 2^20)
    )
    for (kind in names(bombs)) {
      path <- reader_file(reader, bombs[[kind]], ".gz")
      seconds <- processor_seconds(memory <- added_memory(outcome <- outcome_in(reader, path)))
      expect_outcomes(outcome, paste(name, kind))
      limit <- if (seconds < 3) 3 else slow_machine_limit()
      expect_lt(seconds, limit, label = paste(name, kind))
      if (!is.na(memory)) expect_lt(memory, 6e8, label = paste("memory of", name, kind))
      unlink(path)
    }
  }
})
