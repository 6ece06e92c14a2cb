# Chunks of sequences, and reading frames.

dna_of <- function(...) Biostrings::DNAStringSet(c(...))

test_that("chunks are those of the rule, for all lengths below 40 chunks", {
  require_package("Biostrings")
  size <- 7
  lengths <- seq_len(40 * size - 1)
  genome <- random_bases(max(lengths))
  set <- dna_of(stats::setNames(substring(genome, 1, lengths), paste0("s", lengths)))
  chunks <- chunk_sequences(set, size)
  expected <- lapply(lengths, oracle_chunks, size)
  rows <- do.call(rbind, expected)
  n <- vapply(expected, nrow, 0L)
  about <- S4Vectors::mcols(chunks)
  expect_identical(unname(cbind(about$start, about$end) + 0), rows)
  expect_identical(about$sequence, rep(names(set), n))
  expect_identical(names(chunks), paste0(about$sequence, "_chunk_", sequence(n)))
  expect_identical(unname(as.character(chunks)), substring(genome, rows[, 1], rows[, 2]))
})

test_that("the last chunk is often short, and even ones are not", {
  require_package("Biostrings")
  set <- dna_of(a = random_bases(501), b = random_bases(500), c = "AC", d = "G")
  expect_identical(Biostrings::width(chunk_sequences(set)), c(500L, 251L, 500L, 2L, 1L))
  even <- chunk_sequences(set, rule = "even")
  expect_identical(Biostrings::width(even), c(500L, 500L, 500L, 2L, 1L))
  expect_identical(S4Vectors::mcols(even)$start[1:2], 1:2)
  starts <- S4Vectors::mcols(chunk_sequences(set, 120, "even"))$start[1:5]
  expect_identical(starts, as.integer(floor(0:4 * (501 - 120) / 4)) + 1L)
})

test_that("frames are those of a plain translation", {
  require_package("Biostrings")
  set.seed(1)
  code <- c("A", "C", "G", "T", "C", "G", "A", "C", "G")
  x <- c(
    vapply(c(1:30, rep(45, 40)), random_bases, "", code),
    vapply(rep(40, 60), random_bases, "", c(code, code, "N", "R", "B"))
  )
  x <- stats::setNames(x, paste0("s", seq_along(x)))
  for (strict in c(FALSE, TRUE)) {
    found <- six_frames(dna_of(x), if (strict) "strict" else "virnucpro")
    expected <- lapply(x, oracle_frames, strict)
    n <- vapply(expected, NROW, 0L)
    expect_true(any(n == 0) && any(n > 3))
    rows <- do.call(rbind, expected)
    kept <- found$frames[found$frames$frame != "no_frame", ]
    expect_identical(kept$sequence, rep(names(x), n))
    expect_identical(kept$frame, rows[, 1])
    expect_identical(kept$id, paste0(kept$sequence, kept$frame))
    expect_identical(as.character(found$dna), stats::setNames(rows[, 2], kept$id))
    expect_identical(as.character(found$protein), stats::setNames(rows[, 3], kept$id))
    without <- found$frames[found$frames$frame == "no_frame", ]
    expect_identical(without$sequence, names(x)[n == 0])
    expect_true(all(is.na(without$id)))
    expect_identical(unique(found$frames$sequence), names(x))
  }
})

test_that("other genetic codes are those of Biostrings", {
  require_package("Biostrings")
  x <- dna_of(a = "AGATGAATA")
  expect_identical(nrow(six_frames(x, "strict", 2)$frames), nrow(oracle_frames(
    "AGATGAATA", TRUE, Biostrings::getGeneticCode("2")
  )))
  expect_ancify_error(six_frames(x, genetic_code = "2"), "input")
  expect_ancify_error(six_frames(x, "strict", "none"), "input")
})

test_that("files are read as sets are", {
  require_package("Biostrings")
  set.seed(2)
  x <- c(one = random_bases(1300, c("A", "C", "G", "T", "N")), two = random_bases(90), three = "A")
  fasta <- fasta_of(tolower(x))
  gzip <- tempfile()
  writeBin(gzip_member(file_bytes(fasta)), gzip)
  for (path in c(fasta, gzip, fastq_of(x))) {
    expect_identical(as.character(chunk_sequences(path)), as.character(chunk_sequences(dna_of(x))))
    expect_identical(six_frames(path)$frames, six_frames(dna_of(x))$frames)
  }
  contig <- c("a:b:c:101:110:1" = "ACGTACGTAC", "a:b:c:101:110:-1" = "CC")
  expect_identical(Biostrings::width(chunk_sequences(fasta_of(contig))), c(10L, 2L))
  apart <- vapply(seq_along(x), function(i) fasta_of(x[i]), "")
  expect_identical(names(chunk_sequences(apart, 2000)), paste0(names(x), "_chunk_1"))
  expect_identical(names(chunk_sequences(unname(dna_of(x)), 2000)), paste0(1:3, "_chunk_1"))
})

test_that("what is no DNA is refused, with file and line", {
  require_package("Biostrings")
  wrong <- list(
    list(c(">a", "ACG", ">p", "MKTAYIAKQ"), 3, "'p': the letter 'I' stands for no base"),
    list(c(">a", "ACG", ">a", "AC"), 3, "'a': a record before it has the same name"),
    list(c(">a", ">b", "AC"), 1, "'a': it has no bases"),
    list(c(">a", "AC", ">b"), 3, "'b': it has no bases"),
    list(c("> ", "AC"), 1, "it has no name"),
    list("ACGT", 1, "not a FASTA file")
  )
  for (one in wrong) {
    writeLines(one[[1]], path <- tempfile())
    for (run in list(chunk_sequences, six_frames)) {
      condition <- expect_ancify_error(run(path), "format")
      expect_match(conditionMessage(condition), one[[3]], fixed = TRUE)
      expect_identical(condition$line + 0, one[[2]])
      expect_identical(condition$file, path)
    }
  }
  for (byte in list(0, 0xe9)) {
    writeBin(c(charToRaw(">a"), as.raw(byte), charToRaw("\nACGT\n")), path <- tempfile())
    expect_ancify_error(chunk_sequences(path), "format", "is not UTF-8 text")
  }
  expect_match(
    conditionMessage(expect_ancify_error(chunk_sequences(dna_of(a = "A", b = "")), "input")),
    "Sequence 'b': there is no base"
  )
  expect_match(
    conditionMessage(expect_ancify_error(six_frames(dna_of(a = "A", a = "C")), "input")),
    "Sequence 'a': a sequence before has the same name"
  )
  expect_ancify_error(chunk_sequences(Biostrings::AAStringSet("MK")), "input")
  expect_ancify_error(chunk_sequences(tempfile()), "file")
  for (size in list(0, 1.5, NA, "a")) {
    expect_ancify_error(chunk_sequences(dna_of(a = "A"), size), "input")
  }
})

test_that("sets of several vectors give what one vector gives", {
  set.seed(4)
  x <- stats::setNames(vapply(c(90, 9, 400, 1, 60, 60), random_bases, ""), letters[1:6])
  fasta <- fasta_of(x)
  results <- function() {
    chunks <- chunk_sequences(fasta, 50)
    c(list(chunks = chunks), six_frames(chunks))
  }
  one <- results()
  expect_length(one$chunks@pool, 1)
  for (size in c(1, 50, 100, 470)) {
    parts <- with_function("largest_part", function() size, results())
    expect_gt(length(parts$chunks@pool), 1)
    for (set in c("chunks", "dna", "protein")) {
      expect_true(methods::validObject(parts[[set]]))
      expect_identical(as.character(parts[[set]]), as.character(one[[set]]))
    }
    expect_identical(parts$frames, one$frames)
    expect_identical(S4Vectors::mcols(parts$chunks), S4Vectors::mcols(one$chunks))
    # Sequences of a set may lie anywhere in its vectors.
    at <- sample(length(parts$chunks))
    expect_identical(
      as.character(six_frames(parts$chunks[at])$protein),
      as.character(six_frames(dna_of(as.character(one$chunks)[at]))$protein)
    )
  }
})

test_that("all letters of DNA pass from files to sets and back", {
  require_package("Biostrings")
  x <- c(a = paste(Biostrings::DNA_ALPHABET, collapse = ""))
  chunks <- chunk_sequences(fasta_of(x))
  expect_identical(as.character(chunks), c(a_chunk_1 = x[["a"]]))
  for (strict in c(FALSE, TRUE)) {
    found <- six_frames(chunks, if (strict) "strict" else "virnucpro")
    expected <- oracle_frames(x[["a"]], strict)
    expect_identical(unname(as.character(found$dna)), expected[, 2])
    expect_identical(unname(as.character(found$protein)), expected[, 3])
  }
})

test_that("an empty set gives empty results", {
  require_package("Biostrings")
  expect_length(chunk_sequences(Biostrings::DNAStringSet()), 0)
  found <- six_frames(Biostrings::DNAStringSet())
  expect_identical(dim(found$frames), c(0L, 3L))
  expect_length(found$protein, 0)
})

# ---- Calls --------------------------------------------------------------------------------------

test_that("calls are those of the largest scores of both kinds", {
  set.seed(3)
  n <- sample(0:6, 60, TRUE)
  chunks <- paste0(rep(c("a", "b_chunk_2", "c"), each = 20), "_chunk_", rep(1:20, 3))
  frames <- do.call(rbind, Map(function(chunk, n) {
    if (n == 0) return(data.frame(sequence = chunk, frame = "no_frame", id = NA))
    frame <- sample(frame_names, n)
    data.frame(sequence = chunk, frame = frame, id = paste0(chunk, frame))
  }, chunks, n))
  ids <- frames$id[!is.na(frames$id)]
  p <- stats::setNames(sample(seq(0, 1, 0.125), length(ids), TRUE), ids)
  calls <- chunk_calls(frames, rev(p))
  expect_identical(calls$chunk, chunks)
  expect_identical(calls$frames, n)
  for (i in seq_along(chunks)) {
    scores <- p[frames$id[frames$sequence == chunks[i] & !is.na(frames$id)]]
    if (n[i] == 0) {
      expect_identical(unlist(calls[i, 3:5], use.names = FALSE), rep(NA_real_, 3))
      expect_identical(calls$not_called[i], "no frame")
    } else {
      expect_identical(calls$virus[i], max(scores))
      expect_identical(calls$other[i], max(1 - scores))
      expect_identical(calls$is_virus[i], max(scores) >= max(1 - scores))
    }
  }
  expect_true(any(calls$virus == calls$other, na.rm = TRUE)) # ties
  contigs <- contig_calls(calls)
  expect_identical(contigs$sequence, c("a", "b_chunk_2", "c"))
  expect_identical(contigs$chunks, rep(20L, 3))
  by <- rep(1:3, each = 20)
  expect_equal(contigs$called, as.vector(tapply(n > 0, by, sum)))
  expect_equal(contigs$viral, as.vector(tapply(calls$is_virus, by, sum, na.rm = TRUE)))
  expect_identical(contigs$called + contigs$no_frame, contigs$chunks)
})

test_that("records of equal names in several files are told apart", {
  require_package("Biostrings")
  here <- setwd(new_folder())
  on.exit(setwd(here))
  fastq <- function(file, names, bases) {
    writeLines(paste0("@", names, " mate\n", bases, "\n+\n", strrep("I", nchar(bases))), file)
  }
  fastq("r_R1.fastq", c("r1", "r2"), c("ACGT", "AC"))
  fastq("r_R2.fastq", c("r1", "r3/2"), c("ACGG", "GG"))
  told <- expect_message(chunks <- chunk_sequences(c("r_R1.fastq", "r_R2.fastq")))
  expect_match(gsub("\\s+", " ", conditionMessage(told)), "'/1' and '/2' after names tell the file")
  mates <- c("r1/1", "r2/1", "r1/2", "r3/2/2")
  expect_identical(S4Vectors::mcols(chunks)$sequence, mates)
  expect_identical(unname(as.character(chunks)), c("ACGT", "AC", "ACGG", "GG"))
  calls <- data.frame(chunk = names(chunks), is_virus = NA, not_called = "no frame")
  expect_identical(contig_calls(calls)$sequence, mates)
  # The numbers are those of the files, of which one may be empty, or of another format.
  file.create("none.fastq")
  writeLines(c(">r1", "GGG"), "x.fa")
  expect_warning(
    chunks <- suppressMessages(chunk_sequences(c("none.fastq", "r_R1.fastq", "x.fa"))),
    "no sequence", class = "ancify_sequence_warning"
  )
  expect_identical(S4Vectors::mcols(chunks)$sequence, c("r1/2", "r2/2", "r1/3"))
  # Other names stay as they are, and a name twice in a file is an error.
  fastq("other.fastq", "r4", "AC")
  expect_silent(chunks <- chunk_sequences(c("r_R1.fastq", "other.fastq")))
  expect_identical(S4Vectors::mcols(chunks)$sequence, c("r1", "r2", "r4"))
  fastq("twice.fastq", c("r1", "r1"), c("AC", "AC"))
  for (files in list("twice.fastq", c("r_R1.fastq", "twice.fastq"))) {
    expect_ancify_error(chunk_sequences(files), "format", "a record before it has the same name")
  }
  expect_ancify_error(chunk_sequences(c("x.fa", "./x.fa")), "input", "give each file once")
})

test_that("calls need a probability of each frame", {
  frames <- data.frame(sequence = "a_chunk_1", frame = c("F1", "F2"), id = c("aF1", "aF2"))
  refused <- function(p, ...) expect_ancify_error(chunk_calls(frames, p), "input", ...)
  refused(c(aF1 = 0.5), "but lacks 'aF2'")
  refused(c(aF1 = 0.5, aF2 = 1.5), "from 0 to 1")
  refused(c(aF1 = 0.5, aF2 = NA), "from 0 to 1")
  refused(c(0.5, 0.5), "but lacks 'aF1' and 'aF2'")
  refused(c(aF1 = 0.5, aF2 = 0, aF1 = 1), "'aF1' twice")
  refused("a", "from 0 to 1")
  expect_ancify_error(chunk_calls(list(), c(a = 1)), "input", "a table of six_frames()")
  expect_ancify_error(contig_calls(frames), "input", "a table of chunk_calls()")
})

test_that("a small compressed file of a huge sequence is refused", {
  bases <- paste(rep("A", 1e6), collapse = "")
  for (start in list(">a", "@a")) {
    connection <- gzfile(path <- tempfile(fileext = ".gz"), "w")
    writeLines(start, connection)
    for (line in 1:200) cat(bases, file = connection, sep = if (line %% 2) "\n" else "")
    close(connection)
    expect_ancify_error(chunk_sequences(path), "format", path)
  }
})

test_that("files without a record are named, and the others are read", {
  fasta <- tempfile_of(c(">a", "ACGTACGT"))
  empty <- tempfile_of(character())
  expect_warning(
    chunks <- chunk_sequences(c(fasta, empty), 5), basename(empty), fixed = TRUE,
    class = "ancify_sequence_warning"
  )
  expect_identical(as.character(chunks), as.character(chunk_sequences(fasta, 5)))
  others <- tempfile_of("")
  expect_ancify_error(chunk_sequences(c(empty, others)), "format", empty, "no sequence")
})
