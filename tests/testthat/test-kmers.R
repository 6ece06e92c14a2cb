# k-mers: counted, written, read, and what is refused.

# ---- Counting -----------------------------------------------------------------------------------

test_that("counts are those of a plain counter, on one strand and on both", {
  set.seed(1)
  sequences <- some_sequences()
  fasta <- fasta_of(sequences)
  for (k in c(1, 2, 4, 5, 12, 13, 16, 21, 31, 32, 33, 47, 64)) {
    for (canonical in c(TRUE, FALSE)) {
      x <- count_kmers(fasta, k, canonical)
      expected <- oracle_kmers(sequences, k, canonical)
      expect_identical(as.data.frame(x), expected)
      expect_identical(length(x), nrow(expected))
    }
  }
})

test_that("FASTQ, gzip, bgzip, several files and small chunks make no difference", {
  set.seed(2)
  sequences <- some_sequences()
  expected <- oracle_kmers(sequences, 15)
  fastq <- fastq_of(sequences)
  gzip <- tempfile()
  writeBin(gzip_member(file_bytes(fastq)), gzip)
  for (path in c(fastq, gzip)) {
    expect_identical(as.data.frame(count_kmers(path, 15)), expected)
  }
  apart <- vapply(seq_along(sequences), function(i) fastq_of(sequences[i]), "")
  expect_identical(as.data.frame(count_kmers(apart, 15)), expected)
})

test_that("a DNAStringSet is counted like a file", {
  require_package("Biostrings")
  set.seed(3)
  sequences <- toupper(some_sequences())
  for (k in c(6, 17)) {
    expect_identical(
      as.data.frame(count_kmers(Biostrings::DNAStringSet(sequences), k)), oracle_kmers(sequences, k)
    )
  }
})

test_that("threads, memory and parts on disk give the same bytes", {
  set.seed(4)
  genome <- random_bases(30000)
  starts <- sample(29900, 3000, TRUE)
  reads <- stats::setNames(substring(genome, starts, starts + 99), seq_along(starts))
  fastq <- fastq_of(reads)
  for (k in c(11, 25, 55)) {
    written <- lapply(list(c(1, 1e9), c(2, 1e9), c(2, 1), c(1, 1e5)), function(way) {
      folder <- new_folder()
      stem <- file.path(folder, "x")
      count_kmers(fastq, k, threads = way[1], memory = way[2], out = stem)
      expect_setequal(content_of(folder), c("x.kmc_pre", "x.kmc_suf"))
      database_bytes(stem)
    })
    expect_length(unique(written), 1)
    opposite <- vapply(reads, oracle_reverse_complement, "")
    reversed <- file.path(new_folder(), "x")
    count_kmers(fastq_of(opposite), k, out = reversed)
    expect_identical(database_bytes(reversed), written[[1]])
    expect_identical(sum(read_kmers(reversed)[substr(reads[1:2], 1, k)] > 0), 2L)
  }
})

test_that("k-mers with other counts than wanted are left out", {
  set.seed(5)
  sequences <- some_sequences()
  for (k in c(3, 14)) {
    expected <- oracle_kmers(sequences, k)
    expected <- expected[expected$count >= 2 & expected$count <= 5, ]
    rownames(expected) <- NULL
    x <- count_kmers(fasta_of(sequences), k, min_count = 2, max_count = 5)
    expect_gt(nrow(expected), 0)
    expect_identical(as.data.frame(x), expected)
    filtered <- filter_kmers(count_kmers(fasta_of(sequences), k), 2, 5)
    expect_identical(as.data.frame(filtered), expected)
  }
})

test_that("sequences shorter than k give no k-mers", {
  for (k in c(5, 20, 40)) {
    expect_warning(
      x <- count_kmers(fasta_of(c(a = "ACGT", b = "NNNNNN")), k),
      sprintf("no k-mer to count.* has %d bases", k), class = "ancify_sequence_warning"
    )
    expect_identical(length(x), 0L)
    expect_identical(nrow(as.data.frame(x)), 0L)
    expect_identical(nrow(kmer_histogram(x)), 0L)
  }
})

test_that("files without a base are named, and the others are counted", {
  set.seed(12)
  sequences <- some_sequences()
  expected <- oracle_kmers(sequences, 9)
  fasta <- fasta_of(sequences)
  empty <- tempfile_of(character())
  nothing_in_gzip <- tempfile()
  writeBin(gzip_member(raw()), nothing_in_gzip)
  without_bases <- list(
    empty, tempfile_of(c("", "", "")), tempfile_of(">header"), nothing_in_gzip,
    tempfile_of(c("@read", "", "+", ""))
  )
  for (path in without_bases) {
    for (files in list(c(fasta, path), c(path, fasta))) {
      expect_warning(
        x <- count_kmers(files, 9), basename(path), fixed = TRUE, class = "ancify_sequence_warning"
      )
      expect_identical(as.data.frame(x), expected)
    }
  }
  expect_warning(count_kmers(c(unlist(without_bases[1:2]), fasta), 9), "2 files have no sequence")
  expect_no_warning(count_kmers(c(fasta, fasta), 9))
  expect_ancify_error(count_kmers(empty, 9), "format", empty, "no sequence")
  expect_ancify_error(
    count_kmers(c(empty, nothing_in_gzip), 9), "format", empty, "no other file has one"
  )
})

test_that("proteins and RNA have no k-mers of DNA", {
  fasta <- fasta_of(some_sequences())
  protein <- fasta_of(c(ubiquitin = "MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIF"))
  expect_ancify_error(count_kmers(protein, 3), "format", protein, "the letter 'Q'", "proteins")
  expect_ancify_error(count_kmers(c(fasta, protein), 15), "format", protein, "proteins")
  for (rna in c("ACGUACGU", "acguacgu")) {
    path <- fasta_of(c(rna = rna))
    expect_ancify_error(count_kmers(path, 3), "format", path, "U is RNA's: write T")
    expect_ancify_error(kmer_matrix(c(rna = rna), 2), "input", "at position 4")
  }
  # Ambiguous and masked bases are those of DNA.
  masked <- c(masked = "ACGTXXXXRYSWKMBDHVN-ACGT")
  expect_identical(sum(as.data.frame(count_kmers(fasta_of(masked), 4))$count), 2)
})

test_that("lines that end in CR alone are lines", {
  sequences <- some_sequences()
  as_old_macs <- function(path) {
    bytes <- file_bytes(path)
    writeBin(replace(bytes, bytes == charToRaw("\n"), charToRaw("\r")), made <- tempfile())
    made
  }
  expected <- oracle_kmers(sequences, 21)
  for (path in c(fasta_of(sequences), fastq_of(sequences))) {
    expect_identical(as.data.frame(count_kmers(as_old_macs(path), 21)), expected)
  }
})

# ---- KMC and Jellyfish --------------------------------------------------------------------------

long_test_that("KMC and its tools find the same k-mers, and each reads the other's database", {
  set.seed(6)
  fasta <- fasta_of(some_sequences())
  for (k in c(4, 13, 21, 31, 32, 33, 64)) {
    stem <- file.path(new_folder(), "x")
    x <- as.data.frame(count_kmers(fasta, k, out = stem))
    theirs <- kmc_database(fasta, k)
    expect_identical(kmc_rows(theirs), x)
    expect_identical(kmc_rows(stem), x)
    expect_identical(as.data.frame(read_kmers(theirs)), x)
  }
  one_strand <- kmc_database(fasta, 21, canonical = FALSE)
  expect_identical(
    as.data.frame(read_kmers(one_strand)), as.data.frame(count_kmers(fasta, 21, FALSE))
  )
})

long_test_that("a database that KMC has not sorted is read as kmc_dump reads it", {
  set.seed(13)
  folder <- new_folder()
  fasta <- fasta_of(some_sequences())
  made_by <- function(...) {
    stem <- tempfile("theirs", folder)
    run_tool("kmc", c("-t1", "-m2", "-fm", "-n64", ..., fasta, stem, folder))
    stem
  }
  ways <- list(
    c("-k14", "-ci1", "-p5"), c("-k21", "-ci1", "-p6"), c("-k33", "-ci2", "-p5", "-b"),
    c("-k64", "-ci1", "-p7"), c("-k25", "-ci1", "-p5", "-cs300"), c("-k25", "-ci1", "-cs100000"),
    c("-k21", "-ci1", "-p5", "-cs1"), c("-k9", "-ci1", "-cs1"),
    c("-k9", "-ci1", "-cx100000000000", "-cs10000000000")
  )
  for (way in ways) {
    stem <- do.call(made_by, as.list(way))
    expected <- kmc_rows(stem)
    x <- read_kmers(stem)
    expect_identical(as.data.frame(x), expected)
    expect_identical(unname(x[expected$kmer]), expected$count)
    expect_identical(head(x, 7), head(expected, 7))
    ours <- write_kmers(x, tempfile("ours", folder))
    expect_identical(kmc_rows(ours), expected)
    expect_identical(as.data.frame(filter_kmers(x)), expected)
    expect_identical(as.data.frame(kmer_union(x, read_kmers(ours), "max")), expected)
  }
})

test_that("a database in bins is merged in many pieces as in one", {
  set.seed(14)
  folder <- new_folder()
  fasta <- fasta_of(c(long = random_bases(400000)))
  theirs <- file.path(folder, "theirs")
  run_tool("kmc", c("-t1", "-m2", "-fm", "-n64", "-p5", "-k20", "-ci1", fasta, theirs, folder))
  ours <- count_kmers(fasta, 20)
  expect_identical(as.data.frame(read_kmers(theirs)), as.data.frame(ours))
  expect_identical(length(kmer_subtract(read_kmers(theirs), ours)), 0L)
})

test_that("a damaged database in bins is an error that names the file", {
  set.seed(15)
  folder <- new_folder()
  stem <- file.path(folder, "theirs")
  run_tool("kmc", c("-t1", "-m2", "-fm", "-n64", "-p5", "-k14", "-ci1", fasta_of(some_sequences()),
                    stem, folder))
  before <- stats::setNames(database_bytes(stem), kmc_paths_of(stem))
  refused <- function(ending, change, ...) {
    for (path in names(before)) writeBin(before[[path]], path)
    path <- paste0(stem, ending)
    writeBin(change(before[[path]]), path)
    expect_ancify_error(as.data.frame(read_kmers(stem)), "format", path, ...)
  }
  set_byte <- function(back, value) {
    function(bytes) replace(bytes, length(bytes) - back, as.raw(value))
  }
  refused(".kmc_pre", function(bytes) bytes[-(5:12)], "bytes, not")
  refused(".kmc_pre", set_byte(75 - 16, 12), "length of signatures is 12")
  refused(".kmc_pre", function(bytes) {
    replace(bytes, length(bytes) - 75 + 28:35, as.raw(c(1, rep(0, 7)))) # one k-mer
  }, "numbers of its prefixes")
  refused(".kmc_pre", function(bytes) replace(bytes, 21:24, as.raw(255)), "numbers of its prefixes")
  refused(".kmc_suf", function(bytes) bytes[-(5:7)], "no room")
  refused(".kmc_suf", function(bytes) replace(bytes, seq(5, length(bytes) - 4), raw(1)), "count 0")
})

test_that("a database of KMC is written as it is, whatever counts it says that it keeps", {
  set.seed(11)
  folder <- new_folder()
  theirs <- file.path(folder, "theirs")
  # Counts from 3 on are kept, but stored as 2.
  run_tool("kmc", c("-k11", "-ci3", "-cs2", "-t1", "-m2", "-fm", fasta_of(some_sequences()), theirs,
                    folder))
  write_kmers(read_kmers(theirs), file.path(folder, "ours"))
  expect_identical(database_bytes(file.path(folder, "ours")), database_bytes(theirs))
  expect_gt(length(read_kmers(theirs)), 0)
})

test_that("kmc_tools makes the same sets of our databases", {
  set.seed(7)
  sequences <- some_sequences()
  folder <- new_folder()
  stems <- file.path(folder, c("x", "y"))
  x <- count_kmers(fasta_of(sequences), 19, out = stems[1])
  y <- count_kmers(fasta_of(c(sequences[2], other = random_bases(300))), 19, out = stems[2])
  ours <- list(
    union = kmer_union(x, y), intersect = kmer_intersect(x, y),
    kmers_subtract = kmer_subtract(x, y), counters_subtract = kmer_subtract(x, y, "diff")
  )
  outputs <- file.path(folder, names(ours))
  run_tool("kmc_tools", c("-t1", "simple", stems, as.vector(rbind(names(ours), outputs))))
  for (i in seq_along(ours)) expect_identical(as.data.frame(ours[[i]]), kmc_rows(outputs[i]))
})

test_that("jellyfish counts the same, and its text is read and written", {
  set.seed(8)
  fasta <- fasta_of(some_sequences())
  x <- count_kmers(fasta, 21)
  folder <- new_folder()
  counted <- file.path(folder, "counted")
  run_tool("jellyfish", c("count", "-C", "-m", "21", "-s", "10000", "-o", counted, fasta))
  text <- file.path(folder, "text")
  writeLines(run_tool("jellyfish", c("dump", "-c", counted)), text)
  expect_identical(as.data.frame(read_kmers(text)), as.data.frame(x))
  ours <- write_kmers(x, file.path(folder, "ours"), "text")
  expect_identical(readLines(ours), sort(readLines(text), method = "radix"))
})

# ---- What is refused ----------------------------------------------------------------------------

test_that("a damaged FASTQ is an error with its record, and nothing is written", {
  record <- c("@a", "ACGT", "+", "FFFF")
  expect_bad_fastq <- function(lines, line, ...) {
    writeLines(lines, path <- tempfile())
    folder <- new_folder()
    for (k in c(3, 20)) {
      condition <- expect_ancify_error(
        count_kmers(path, k, out = file.path(folder, "x")), "format", path, ...
      )
      expect_identical(condition$line, line)
      expect_identical(content_of(folder), character())
    }
  }
  expect_bad_fastq(c(record, "@b", "ACGTA", "+", "FFFF"), 8, "record 2", "5 bases", "4 qualities")
  expect_bad_fastq(c(record, "@b", "ACGT"), 5, "record 2", "cut short")
  expect_bad_fastq(c(record, record, "b", "A", "+", "F"), 9, "record 3", "not with @")
  expect_bad_fastq(c("@b", "A", "-", "F"), 3, "record 1", "must begin with +")
})

test_that("arguments out of range are errors", {
  fasta <- fasta_of(c(a = "ACGT"))
  expect_ancify_error(count_kmers(fasta, 65), "input", "`k`", "64")
  expect_ancify_error(count_kmers(fasta, 0), "input", "`k`")
  expect_ancify_error(count_kmers(1, 3), "input", "`x`")
  expect_ancify_error(count_kmers(tempfile(), 3), "file", "no such file")
  expect_ancify_error(count_kmers(fasta, 3, min_count = 5, max_count = 4), "input", "`min_count`")
  expect_ancify_error(count_kmers(fasta, 3, memory = -1), "input", "`memory`")
  expect_ancify_error(count_kmers(fasta, 3, backend = "card"), "input", "`backend`", "card")
  missing <- file.path(tempfile(), "x")
  expect_ancify_error(count_kmers(fasta, 3, out = missing), "file", missing)
  x <- count_kmers(fasta, 3)
  expect_ancify_error(x["ACGT"], "input", "3 bases")
  expect_ancify_error(kmer_union(x, count_kmers(fasta, 4)), "input", "3 and 4")
  expect_ancify_error(kmer_union(x, count_kmers(fasta, 3, FALSE)), "input", "canonical")
  expect_ancify_error(kmer_union(x, 1), "input", "`y`")
})

test_that("a GPU that is not there is an error, before anything is read", {
  skip_if(nrow(available_gpus()) > 0, "there is a GPU")
  fasta <- fasta_of(c(a = random_bases(100)))
  stem <- file.path(new_folder(), "x")
  for (k in c(3, 25)) {
    expect_error(
      count_kmers(fasta, k, out = stem, backend = "gpu"), "GPU|driver|CUDA",
      class = "ancify_device_error"
    )
  }
  expect_length(list.files(dirname(stem)), 0)
})

test_that("a full disk is an error, and its parts are removed", {
  set.seed(9)
  fasta <- fasta_of(c(a = random_bases(5000)))
  folder <- new_folder()
  limited <- sprintf(
    "ancify::count_kmers(%s, 25, memory = 1, out = %s)", deparse(fasta),
    deparse(file.path(folder, "x"))
  )
  script <- tempfile(fileext = ".R")
  writeLines(c(sprintf(".libPaths(%s)", deparse1(.libPaths())), limited), script)
  # No file may have more than 2 KB.
  lines <- suppressWarnings(system2(
    "sh",
    c("-c", shQuote(sprintf("trap '' XFSZ; ulimit -f 4; %s --vanilla %s 2>&1", rscript, script))),
    stdout = TRUE
  ))
  expect_match(paste(lines, collapse = " "), "cannot (write|reserve)")
  expect_identical(content_of(folder), character())
})

test_that("a damaged database is an error that names the file", {
  set.seed(10)
  stem <- file.path(new_folder(), "x")
  count_kmers(fasta_of(some_sequences()), 21, out = stem)
  bytes <- stats::setNames(database_bytes(stem), paste0(stem, c(".kmc_pre", ".kmc_suf")))
  expect_damaged <- function(ending, change, ...) {
    for (path in names(bytes)) writeBin(bytes[[path]], path)
    path <- paste0(stem, ending)
    writeBin(change(bytes[[path]]), path)
    expect_ancify_error(as.data.frame(read_kmers(stem)), "format", path, ...)
  }
  cut <- function(bytes) utils::head(bytes, -20)
  set_byte <- function(back, value) {
    function(bytes) replace(bytes, length(bytes) - back, as.raw(value))
  }
  expect_damaged(".kmc_pre", cut, "cut short")
  expect_damaged(".kmc_suf", cut, "cut short")
  expect_damaged(".kmc_suf", function(bytes) raw(3), "not a file of a KMC database")
  expect_damaged(".kmc_suf", function(bytes) bytes[-(5:7)], "no room")
  expect_damaged(".kmc_pre", set_byte(71, 65), "its k is 65")
  expect_damaged(".kmc_pre", set_byte(71, 22), "multiple of 4")
  expect_damaged(".kmc_pre", set_byte(10, 2), "header is not one of a KMC database")
  records <- function(value) {
    function(bytes) replace(bytes, seq(5, length(bytes) - 4), as.raw(value))
  }
  expect_damaged(".kmc_suf", records(0), "count 0")
  expect_damaged(".kmc_suf", records(1), "not in order")
  expect_damaged(".kmc_pre", function(bytes) replace(bytes, 13:14, as.raw(255)), "in order")
})

test_that("no database is written over one that is read", {
  stem <- file.path(new_folder(), "x")
  x <- count_kmers(fasta_of(c(a = "ACGTTTGCA")), 3, out = stem)
  before <- database_bytes(stem)
  expect_ancify_error(kmer_union(x, x, out = stem), "input", "choose another `out`")
  expect_ancify_error(filter_kmers(x, out = stem), "input", "choose another `out`")
  expect_identical(database_bytes(stem), before)
})

test_that("a text with other rows is an error with its line", {
  expect_bad_text <- function(lines, ...) {
    writeLines(lines, path <- tempfile())
    expect_ancify_error(read_kmers(path), "format", path, ...)
  }
  expect_bad_text(c("AAA 1", "AAC"), "line 2", "'AAC'")
  expect_bad_text(c("AAA 1", "AACA 1"), "line 2", "3 bases")
  expect_bad_text(c("AAA 1", "ANA 1"), "line 2")
  expect_bad_text(c("AAA 1", "AAC 0"), "line 2")
  expect_bad_text(c("AAA 1", "TTT 1"), "line 2", "not canonical")
  expect_bad_text(c("AAA 1", "AAC 3", "AAA 1"), "AAA", "twice")
})

test_that("files of several writers are never mixed", {
  stem <- file.path(new_folder(), "x")
  # All have the same size: only the k-mers in one file and their starts in the other differ.
  sequences <- c("AAAAAAAAACAAAAAAAAAG", "CCCCCCCCCACCCCCCCCCG", "AAAAAAAAACCCCCCCCCCG")
  kmers <- lapply(sequences, function(bases) {
    count_kmers(fasta_of(c(one = bases)), 9, canonical = FALSE, threads = 1)
  })
  tables <- lapply(kmers, as.data.frame)
  write_as <- function(k) write_kmers(kmers[[k + 1]], stem)
  read_whose <- function() {
    found <- as.data.frame(read_kmers(stem))
    whose <- Position(function(table) identical(table, found), tables)
    if (is.na(whose)) "a mixture" else as.character(whose - 1)
  }
  expect_never_mixed(write_as, read_whose)
  expect_setequal(content_of(dirname(stem)), basename(kmc_paths(stem)))
})

test_that("names of databases may have their extension, for writing as for reading", {
  folder <- new_folder()
  path <- function(name) file.path(folder, name)
  counted <- count_kmers(Biostrings::DNAStringSet("ACGTACGTTGCA"), 3, out = path("a.kmc_pre"))
  expect_setequal(list.files(folder), c("a.kmc_pre", "a.kmc_suf"))
  few <- filter_kmers(counted, min_count = 3, out = path("few.kmc_suf"))
  expect_equal(as.data.frame(read_kmers(path("few"))), as.data.frame(few))
  expect_identical(write_kmers(few, path("b.kmc_pre")), path("b"))
  expect_equal(as.data.frame(read_kmers(path("b.kmc_suf"))), as.data.frame(few))
  expect_ancify_error(write_kmers(counted, path("a.kmc_suf")), "input", "`path`")
  count_kmers(Biostrings::DNAStringSet("ACGTACGTTGCA"), 3, out = path("reads.fastq.gz"))
  expect_length(read_kmers(path("reads.fastq.gz")), length(counted))
  # A text beside a database of its name
  write_kmers(few, path("a"), "text")
  expect_ancify_error(read_kmers(path("a")), "input", "both a text and a database", "a.kmc_pre")
  expect_length(read_kmers(path("a.kmc_pre")), length(counted))
})
