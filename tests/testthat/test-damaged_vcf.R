# Damaged VCF and BCF: an error that names the file, and the output unchanged.

damaged_header <- c(
  "##fileformat=VCFv4.2", "##contig=<ID=1,length=100>",
  "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">",
  "##INFO=<ID=NOTE,Number=1,Type=String,Description=\"n\">",
  "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">",
  "##FORMAT=<ID=NOTE,Number=1,Type=String,Description=\"n\">",
  "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2"
)
good_fields <- c("1", "9", ".", "A", "C", ".", ".", "AA=A;NOTE=xy", "GT:NOTE", "0/1:x", "1/1:y")

# A record with other values in some columns; "@" stands for a NUL.
damaged_record <- function(...) {
  changes <- c(...)
  columns <- strsplit(sub("^#", "", damaged_header[7]), "\t")[[1]]
  paste(replace(good_fields, match(names(changes), columns), changes), collapse = "\t")
}

damaged_file <- function(lines, end = "\n", path = tempfile("damaged-", fileext = ".vcf")) {
  bytes <- charToRaw(paste0(lines, end, collapse = ""))
  writeBin(replace(bytes, bytes == charToRaw("@"), as.raw(0)), path)
  path
}

# The calls agree with the good record, so that it is used.
calls_to_annotate <- function() {
  path <- tempfile(fileext = ".fa")
  writeLines(c(">1", strrep("A", 100)), path)
  path
}

# The errors of both functions. Also checks that annotate_vcf() left nothing behind.
refusals <- function(vcf) {
  folder <- new_folder()
  found <- list()
  for (name in c("out.vcf", "out.vcf.gz", "out.bcf")) {
    out <- file.path(folder, name)
    writeLines("as it was", out)
    found[[name]] <- tryCatch(
      annotate_vcf(vcf, calls_to_annotate(), out, threads = 1, verbose = FALSE), error = identity
    )
    expect_identical(readLines(out), "as it was")
  }
  expect_setequal(content_of(folder), names(found))
  found$sfs <- tryCatch(spectrum_of_damaged(vcf), error = identity)
  found
}

spectrum_of_damaged <- function(vcf) {
  sfs_from_vcf(vcf, c(s1 = "P", s2 = "P"), threads = 1, progress = FALSE)
}

# Counts of the reasons that occur.
records_with <- function(x) {
  records <- records_of_reason(x)
  records[records > 0]
}

expect_both_refuse <- function(vcf, ..., line = NULL) {
  for (condition in refusals(vcf)) {
    expect_s3_class(condition, "ancify_format_error")
    expect_identical(condition$file, vcf)
    if (!is.null(line)) expect_identical(condition$line, line)
    for (text in c(vcf, ...)) expect_match(conditionMessage(condition), text, fixed = TRUE)
  }
}

test_that("a NUL is an error that names its record", {
  require_htslib()
  refused <- function(..., also = "is a NUL") {
    expect_both_refuse(damaged_file(c(damaged_header, damaged_record(POS = "5"),
                                      damaged_record(...))), "record 2", also, line = 9)
  }
  refused(INFO = "AA=A;NOTE=x@y", also = "byte 26 of the line")
  refused(INFO = "AA=A@")
  refused(INFO = "@")
  refused(CHROM = "1@")
  refused(ID = "rs@1")
  refused(REF = "A@")
  refused(ALT = "C,@G")
  refused(FILTER = "@PASS")
  refused(QUAL = "3@")
  refused(FORMAT = "GT@:NOTE")
  refused(s1 = "0/1@:x")
  refused(s2 = "1/1:y@")
  # In the header, htslib reads only the text before it.
  for (at in c(2, 4, 7)) {
    header <- replace(damaged_header, at, sub("I", "I@", damaged_header[at]))
    expect_both_refuse(damaged_file(c(header, damaged_record())), "header")
  }
})

test_that("a NUL in a VCF for an evaluation is an error that names its record", {
  require_htslib()
  case <- random_config(c(chr1 = 50), axt = few_bases(c(chr1 = 50), name))
  vcf <- damaged_file(c("##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
                        "chr1\t3\t.\tA\tC\t.\t.\tX=@"))
  case$config$evaluation <- list(vcf_dir = dirname(vcf), vcf_pattern = basename(vcf))
  expect_ancify_error(run_quietly(case$config), "format", vcf, "record 1", "NUL")
})

test_that("a position beyond the declared length is an error", {
  require_htslib()
  for (position in c("101", "5000", "2147483648")) {
    vcf <- damaged_file(c(damaged_header, damaged_record(), damaged_record(POS = position)))
    expect_both_refuse(vcf, "record 2", paste("position", position, "of '1'"), "length=100",
                       "bcftools reheader", line = 9)
  }
  vcf <- damaged_file(c(damaged_header, damaged_record(), damaged_record(POS = "101")))
  expect_both_refuse(as_bcf(vcf), "record 2", "position 101", "length=100")
  for (position in c("-1", "1e3", "5.0", "99999999999999999999", "")) {
    vcf <- damaged_file(c(damaged_header, damaged_record(POS = position)))
    expect_both_refuse(vcf, "record 1", sprintf("'%s', not a whole number", position), line = 8)
  }
  # The last base, and without a length
  x <- spectrum_of_damaged(damaged_file(c(damaged_header, damaged_record(POS = "100"))))
  expect_identical(records_with(x), c(USED = 1))
  header <- sub(",length=100", "", damaged_header, fixed = TRUE)
  x <- spectrum_of_damaged(damaged_file(c(header, damaged_record(POS = "2147483648"))))
  expect_identical(records_with(x), c(USED = 1))
})

test_that("position 0, before the first base, has no ancestral base", {
  require_htslib()
  vcf <- damaged_file(c(damaged_header, damaged_record(POS = "0"), damaged_record()))
  expect_identical(records_with(spectrum_of_damaged(vcf)), c(NO_COVERAGE = 1, USED = 1))
  found <- annotate_vcf(vcf, calls_to_annotate(), tempfile(fileext = ".vcf"), verbose = FALSE)
  expect_identical(found$records[found$reason == "NO_COVERAGE"], 1)
})

test_that("wrong columns, samples and fields are errors", {
  require_htslib()
  refused <- function(record, ...) expect_both_refuse(damaged_file(c(damaged_header, record)), ...)
  refused("1\t9\t.\tA\tC\t.\t.", "record 1: it has only 7 of the 8 tab-separated columns", line = 8)
  refused("", "only 1 of the 8 tab-separated columns", line = 8)
  refused(sub("\t[^\t]*$", "", damaged_record()), "the number of samples differs", line = 8)
  refused(paste0(damaged_record(), "\t0/0:z"), "the number of samples differs", line = 8)
  refused(damaged_record(FORMAT = "GT:GT", s1 = "0/1:0/1", s2 = "1/1:0/0"), "FORMAT names GT twice")
  refused(damaged_record(FORMAT = "GT:NOTE:NOTE"), "FORMAT names NOTE twice")
  with_columns <- function(from, to) {
    expect_both_refuse(damaged_file(c(sub(from, to, damaged_header), damaged_record())), "header")
  }
  with_columns("s2$", "s1")
  with_columns("\ts2$", "\t")
  with_columns("^#CHROM", "CHROM")
})

test_that("files that are cut, empty or of another format are errors", {
  require_htslib()
  vcf <- damaged_file(c(damaged_header, damaged_record()))
  bytes <- file_bytes(as_bcf(vcf))
  for (left in c(length(bytes) - 28, length(bytes) - 40, 60, 10)) {
    path <- tempfile(fileext = ".bcf")
    writeBin(bytes[seq_len(left)], path)
    expect_both_refuse(path)
  }
  expect_both_refuse(damaged_file(character()), "neither VCF nor BCF")
  expect_both_refuse(damaged_file("##fileformat=VCFv4.2"), "header")
  expect_both_refuse(damaged_file(c(damaged_header, damaged_record()), "\r"), "CR alone")
})

test_that("CR LF ends lines too", {
  require_htslib()
  lines <- c(damaged_header, damaged_record())
  out <- tempfile(fileext = ".vcf")
  annotate_vcf(damaged_file(lines, "\r\n"), calls_to_annotate(), out, verbose = FALSE)
  expected <- sub("NOTE=xy", "NOTE=xy;AA_reason=OK", damaged_record())
  expect_identical(utils::tail(readLines(out), 1), expected)
  expect_identical(records_with(spectrum_of_damaged(damaged_file(lines, "\r\n"))), c(USED = 1))
})

test_that("a BCF record with fewer samples than its header is an error", {
  require_htslib()
  require_tool("bgzip")
  bcf <- as_bcf(damaged_file(c(damaged_header, damaged_record())))
  plain <- tempfile()
  system2("bgzip", c("-dc", shQuote(bcf)), stdout = plain)
  bytes <- file_bytes(plain)
  # Bytes 6 to 9 are the header's length; bytes 29 to 31 of a record its number of samples.
  record <- 9 + sum(as.integer(bytes[6:9]) * 256^(0:3))
  expect_identical(as.integer(bytes[record + 29]), 2L)
  bytes[record + 29] <- as.raw(0)
  writeBin(bytes, plain)
  damaged <- tempfile(fileext = ".bcf")
  system2("bgzip", c("-c", shQuote(plain)), stdout = damaged)
  expect_both_refuse(damaged, "record 1")
})

test_that("a byte order mark, and lines that end in CR alone, are told", {
  vcf <- write_vcf(vcf_records("1", 1:2, "A", "C", "AA=A"))
  bytes <- file_bytes(vcf)
  writeBin(c(as.raw(c(0xef, 0xbb, 0xbf)), bytes), vcf)
  annotate <- function() annotate_vcf(vcf, "AA", tempfile(fileext = ".vcf"), progress = FALSE)
  expect_ancify_error(annotate(), "format", "byte order mark")
  bytes[bytes == charToRaw("\n")] <- charToRaw("\r")
  writeBin(bytes, vcf)
  expect_ancify_error(annotate(), "format", "CR alone")
})
