# Mutation spectra against mutyper's, where its rules apply: calls in upper case, no missing genotypes.

test_that("types, positions and frequencies are mutyper's", {
  require_htslib()
  python <- mutyper_program()
  set.seed(21)
  letters <- sample(c("A", "C", "G", "T", "N", "a"), 3000, TRUE, c(6, 6, 6, 6, 1, 1))
  calls <- c(chr1 = paste(letters, collapse = ""))
  position <- sort(sample(10:2990, 600))
  ref <- sample(c("A", "C", "G", "T"), 600, TRUE)
  alt <- c(A = "C", C = "T", G = "T", T = "A")[ref]
  called <- toupper(letters[position])
  # Either allele is the base called, at most sites.
  fits <- runif(600) < 0.9 & called != "N"
  swapped <- runif(600) < 0.5
  ref[fits & !swapped] <- called[fits & !swapped]
  alt[fits & swapped] <- called[fits & swapped]
  same <- ref == alt
  alt[same] <- c(A = "G", C = "A", G = "C", T = "G")[ref[same]]
  genotypes <- t(vapply(seq_len(600), function(i) {
    repeat {
      alleles <- matrix(rbinom(8, 1, runif(1)), 4)
      if (sum(alleles) %in% 1:7) {
        return(apply(alleles, 1, paste, collapse = "|"))
      }
    }
  }, character(4)))
  copies <- rowSums(matrix(lengths(regmatches(genotypes, gregexpr("1", genotypes))), 600))
  info <- sprintf("AC=%d;AN=8;AF=%g", copies, copies / 8)
  lines <- paste(vcf_records("chr1", position, ref, alt, info), "GT",
                 apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  vcf <- write_vcf(lines, header = vcf_header(lines, more = c(
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">",
    "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"c\">",
    "##INFO=<ID=AN,Number=1,Type=Integer,Description=\"n\">",
    "##INFO=<ID=AF,Number=A,Type=Float,Description=\"f\">"
  )))
  fasta <- write_fasta(calls, tempfile(fileext = ".fa"))
  mutyper <- function(...) {
    result <- run_program(python, "-c", "from mutyper.cli import main; main()", ..., timeout = 120)
    if (result$status != 0) stop(paste(utils::tail(result$err, 6), collapse = "\n"))
    result$out[nzchar(result$out)]
  }
  table_of <- function(lines, ...) {
    as.matrix(utils::read.delim(text = lines, check.names = FALSE, row.names = 1, ...))
  }
  # mutyper takes lower case for missing only with --strict.
  for (strict in c(TRUE, FALSE)) {
    k <- if (strict) 3 else 5
    arguments <- c(if (strict) "--strict", "--k", k)
    typed <- tempfile_of(mutyper("variants", arguments, fasta, vcf))
    x <- mutations_of(vcf, fasta, k, low_confidence = !strict)
    theirs <- utils::read.delim(text = mutyper("spectra", "--population", typed),
                                check.names = FALSE)
    expect_gt(sum(theirs), 200)
    expect_identical(sum(x), sum(theirs) + 0)
    expect_equal(as.matrix(x)[names(theirs), ], unlist(theirs), ignore_attr = TRUE)

    theirs <- table_of(mutyper("spectra", typed))
    x <- mutations_of(vcf, fasta, k, samples = TRUE, low_confidence = !strict)
    expect_equal(t(as.matrix(x)[colnames(theirs), ]), theirs, ignore_attr = TRUE)

    theirs <- table_of(mutyper("ksfs", typed))
    x <- mutations_of(vcf, fasta, k, by = "frequency", low_confidence = !strict)
    ours <- vapply(x[colnames(theirs)], function(one) as.vector(one)[2:8], numeric(7))
    expect_equal(ours, theirs, ignore_attr = TRUE)

    theirs <- table_of(mutyper("targets", arguments, fasta), header = FALSE)
    ours <- count_contexts(fasta, k, low_confidence = !strict, threads = 1, progress = FALSE)
    expect_equal(as.vector(ours[rownames(theirs)]), as.vector(theirs))
    expect_identical(sum(ours), sum(theirs) + 0)
  }
})
