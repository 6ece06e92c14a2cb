# A plain version of chunks and reading frames, after the rules of section 5 of the design.

# Starts and ends, from 1: overlaps are subtracted one by one.
oracle_chunks <- function(length, size) {
  n <- ceiling(length / size)
  more <- n * size - length
  overlap <- more %/% n
  wider <- more - overlap * (n - 1)
  start <- 0
  rows <- NULL
  for (i in seq_len(n)) {
    rows <- rbind(rows, c(start + 1, min(start + size, length)))
    start <- start + size - (if (i <= wider) overlap + 1 else overlap)
  }
  rows
}

# A matrix of the frame, bases and protein of frames without a stop.
oracle_frames <- function(bases, strict = FALSE, code = Biostrings::GENETIC_CODE) {
  letters <- strsplit(bases, "")[[1]]
  pairs <- if (strict) c("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN") else c("ACGT", "TGCA")
  strands <- list(F = letters, R = chartr(pairs[1], pairs[2], rev(letters)))
  rows <- NULL
  for (strand in names(strands)) {
    for (first in 1:3) {
      rest <- strands[[strand]][seq_along(letters) >= first]
      codons <- vapply(seq_len(length(rest) %/% 3), function(i) {
        paste(rest[3 * i - 2:0], collapse = "")
      }, "")
      residues <- unname(code[codons])
      if ("*" %in% residues) next
      residues <- if (strict) ifelse(is.na(residues), "X", residues) else residues[!is.na(residues)]
      if (length(residues) == 0) next
      kept <- utils::head(rest, 3 * length(residues) + (if (strict) 0 else 1))
      rows <- rbind(rows, c(paste0(strand, first), paste(kept, collapse = ""),
                            paste(residues, collapse = "")))
    }
  }
  rows
}

# ---- Detection ----------------------------------------------------------------------------------

# Its sequences, classifier and the expected files are made by fixtures/make_virus_detection.py.
virus_fixture <- function(name) testthat::test_path("fixtures", "virus_detection", name)

example_model <- function(name) system.file("extdata", name, package = "ancify")

# A detection with the models of the examples. Their DNA has letters that the model does not know.
detect <- function(x = virus_fixture("contigs.fa"), out = tempfile("viruses"),
                   dna = example_model("dnabert_random"), protein = example_model("esm2_random"),
                   classifier = virus_fixture("classifier.pth"), size = 60, threads = 1, ...) {
  suppressWarnings(
    detect_viruses(x, dna, protein, classifier, out, size, threads = threads, ...),
    classes = "ancify_sequence_warning"
  )
}
