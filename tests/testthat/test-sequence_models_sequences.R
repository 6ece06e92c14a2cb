# Sequences for models: paths, names and other texts are refused, unknown letters are counted.

set.seed(41)
protein <- sequence_model(example_model("esm2_random"))
dna <- sequence_model(example_model("dnabert_random"))

refused_text <- function(x, says, by = protein, how = embed_sequences) {
  expect_match(conditionMessage(expect_ancify_error(how(x, by), "input")), says)
}

test_that("a path is no sequence, whether there is such a file or not", {
  here <- setwd(new_folder())
  on.exit(setwd(here))
  writeLines(c(">a", "MKTAYIAKQR"), "proteins.faa")
  file.copy("proteins.faa", "MKV")
  file.copy("proteins.faa", "bases")
  for (how in list(embed_sequences, residue_log_probs)) {
    for (path in c("proteins.faa", "MKV", file.path(getwd(), "proteins.faa"), "none.fasta",
                   "none.fa.gz", "data/none", "..\\none.fa")) {
      refused_text(path, "path: read the file with Biostrings::readAAStringSet", how = how)
      refused_text(c("MKT", path), "is a path", how = how)
    }
  }
  for (path in c("proteins.faa", "bases", "x/y.fna")) {
    refused_text(path, "path: read the file with Biostrings::readDNAStringSet", dna)
  }
  refused_text("reads.fastq.gz", "has the letter 'e' at position 2", dna)
  out <- file.path(getwd(), "run")
  expect_ancify_error(embed_sequences("proteins.faa", protein, out = out), "input", "is a path")
  expect_false(file.exists(out))
})

test_that("names, FASTA and other texts are no sequences", {
  for (text in c("BRCA2_HUMAN", "P38398", ">a\nMKT", "MKT AYI", "MKT\n", "NP_000050.3", "M1T")) {
    refused_text(text, "must be sequences of residues, but .* has the letter")
  }
  refused_text("MKTAYIAKQR", "must be sequences of DNA, but .* has the letter", dna)
  refused_text("chr1:100", "must be sequences of DNA", dna)
  expect_silent(embed_sequences(c("mkt-.A", "A<mask>C", "XBUZO"), protein))
  expect_identical(suppressWarnings(attr(embed_sequences(c(a = "RYSWKM.-"), dna), "unknown")),
                   c(a = 8))
})

test_that("a large share of unknown letters, and DNA for proteins, are told", {
  told <- function(x, by = protein) {
    conditionMessage(expect_warning(embed_sequences(x, by), class = "ancify_sequence_warning"))
  }
  expect_match(told(c(a = "MKTAYIAKQJ")), "1 letter .*in 'a'.* unknown letters\\.$")
  expect_match(told(c(a = "MJJ", b = "KT")),
               "2 letters .* That is 40 % of all: check the input\\.$")
  expect_match(told(c(a = "ACGTNNNN"), dna), "That is 50 % of all")
  expect_match(told(strrep("ACGTN", 10)), "letters of DNA alone, and the model reads proteins")
  expect_silent(embed_sequences(c("ACG", strrep("ACGTM", 20)), protein))
  out <- new_folder()
  for (i in 1:2) {
    expect_warning(embed_sequences(c(a = "MJJ"), protein, out = out), "67 % of all",
                   class = "ancify_sequence_warning")
  }
})
