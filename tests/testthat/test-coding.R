# Coding changes of VCF files, against plain R and VariantAnnotation.

require_htslib()
require_package("rtracklayer")

# A row of each site is the worst, if anything is known of it.
expect_worst_of_each_site <- function(found) {
  rank <- match(found$consequence,
                c("stop gained", "start lost", "stop lost", "missense", "synonymous"))
  sites <- paste(found$chromosome, found$position, found$derived)
  for (rows in split(seq_along(sites), sites)) {
    expected <- if (all(is.na(rank[rows]))) integer() else which.min(rank[rows])
    expect_identical(which(found$worst[rows]), expected)
  }
}

# The proteins of transcripts with a missense change.
expect_proteins <- function(found, x, background) {
  proteins <- attr(found, "proteins")
  expected <- lapply(x$genes$transcripts, oracle_protein, x$genes, x$calls, background,
                     found[found$consequence == "missense", ])
  names(expected) <- vapply(x$genes$transcripts, `[[`, "", "name")
  expected <- expected[proteins$transcript]
  expect_identical(proteins$sequence, vapply(expected, `[[`, "", "sequence", USE.NAMES = FALSE))
  expect_equal(proteins$focal_codons,
               vapply(expected, `[[`, 0, "focal_codons", USE.NAMES = FALSE))
}

test_that("changes are those of a plain implementation", {
  set.seed(1)
  for (round in 1:3) {
    x <- coding_example()
    for (background in c("ancestral", "focal")) {
      found <- changes_of(x, background = background)
      expect_proteins(found, x, background)
      expected <- oracle_changes(x$sites, x$genes, x$calls, background)
      expect_identical(sorted_changes(found), sorted_changes(expected))
      known <- !is.na(found$derived_codon)
      expect_identical(found$derived_residue[known],
                       unname(Biostrings::GENETIC_CODE[found$derived_codon[known]]))
    }
    sure <- changes_of(x, low_confidence = FALSE)
    expect_identical(
      sorted_changes(sure),
      sorted_changes(oracle_changes(x$sites[!x$sites$low, ], x$genes, x$calls))
    )
    records <- attr(found, "records")
    expect_identical(sum(records$records), 600)
    coding <- nrow(unique(found[c("chromosome", "position")]))
    expect_lte(coding, records$records[records$reason == "CODING"]) # a position may be there twice
  }
  expect_worst_of_each_site(found)
  proteins <- attr(found, "proteins")
  expect_setequal(found$protein[found$consequence == "missense"], seq_len(nrow(proteins)))
  expect_true(all(is.na(found$protein[found$consequence != "missense"])))
  consequences <- table(found$consequence)
  expect_true(all(consequences[c("synonymous", "missense", "stop gained", "inner stop")] > 0))
})

test_that("consequences are VariantAnnotation's where REF is ancestral, and exchanged where not", {
  require_package("VariantAnnotation")
  set.seed(2)
  x <- coding_example(faulty = 0)
  whole <- vapply(x$genes$transcripts, function(x) x$phase == 0, NA)
  gff <- write_genes(x$genes$transcripts[whole])
  txdb <- suppressWarnings(GenomicFeatures::makeTxDbFromGFF(gff))
  genes <- GenomicFeatures::cdsBy(txdb, "tx", use.names = TRUE)
  found <- coding_changes(x$vcf, x$ancestral, genes, x$focal, "focal", threads = 1)
  found <- found[!is.na(found$ancestral_residue), ]

  focal <- Rsamtools::FaFile(x$focal)
  Rsamtools::indexFa(x$focal)
  at <- match(paste(found$chromosome, found$position),
              paste(x$sites$chromosome, x$sites$position))
  alt <- ifelse(found$derived == x$sites$ref[at], found$ancestral, found$derived)
  query <- GenomicRanges::GRanges(found$chromosome, IRanges::IRanges(found$position, width = 1))
  # It warns of ranges beyond transcripts, which it leaves out.
  theirs <- suppressWarnings(VariantAnnotation::predictCoding(
    query, txdb, seqSource = focal, varAllele = Biostrings::DNAStringSet(alt)
  ))
  theirs <- data.frame(
    query = theirs$QUERYID, transcript = names(genes)[as.integer(theirs$TXID)],
    ref = as.character(theirs$REFAA), var = as.character(theirs$VARAA)
  )
  key <- paste(theirs$query, theirs$transcript)
  ours <- match(paste(seq_along(query), found$transcript), key)
  expect_false(anyNA(ours))
  exchanged <- found$derived == x$sites$ref[at]
  expect_identical(found$ancestral_residue,
                   ifelse(exchanged, theirs$var[ours], theirs$ref[ours]))
  expect_identical(found$derived_residue, ifelse(exchanged, theirs$ref[ours], theirs$var[ours]))
  expect_gt(sum(exchanged), 5)
})

test_that("a small gene has the known changes, by each way to give it", {
  x <- small_files()
  found <- changes_of(x)
  expect_identical(as.character(found$consequence),
                   c("start lost", "missense", "synonymous", "stop gained", "synonymous"))
  expect_identical(found$ancestral_residue, c("M", "A", "A", "W", "*"))
  expect_identical(found$derived_codon, c("GTG", "GTC", "GCA", "TGA", "TGA"))
  expect_identical(found$gene, rep("g1", 5))
  expect_true(all(found$worst & found$canonical))
  expect_identical(found$ref_is_ancestral, c(TRUE, TRUE, FALSE, TRUE, TRUE))
  expect_identical(attr(found, "proteins"),
                   data.frame(transcript = "t1", sequence = "MAW", focal_codons = 0))
  expect_output(print(found), "synonymous   2")
  expect_identical(nrow(as.data.frame(found[0, ])), 0L)

  as_in_file <- as.data.frame(found)
  x$gff <- tempfile(fileext = ".gtf")
  writeLines(paste("chr1", ".", "CDS", 2, 10, ".", "+", 0,
                   "gene_id \"g1\"; transcript_id \"t1\";", sep = "\t"), x$gff)
  expect_identical(as.data.frame(changes_of(x)), as_in_file[1:4, ])
  x$gff <- rtracklayer::import(x$gff)
  expect_identical(as.data.frame(changes_of(x)), as_in_file[1:4, ])

  x <- small_files()
  info <- write_vcf(vcf_records("1", 6:7, c("C", "A"), c("T", "C"), c("AA=c", "AA=C|||")))
  found <- coding_changes(info, "AA", x$gff, x$focal, threads = 1, progress = FALSE)
  expect_identical(found$ancestral_codon, c("GCA", "GCC"))

  # ATA is methionine in mitochondria.
  x$vcf <- write_vcf(vcf_records("1", c(2, 4), c("A", "G"), c("G", "A")))
  expect_identical(as.character(changes_of(x)$consequence), rep("start lost", 2))
  expect_identical(as.character(changes_of(x, genetic_code = "2")$consequence),
                   c("start lost", "synonymous"))
})

test_that("transcripts may have several coding sequences and parents", {
  x <- small_files()
  lines <- c(
    "##gff-version 3", sprintf("1\t.\tmRNA\t2\t13\t.\t+\t.\tID=t%d;Parent=g1", 1:2),
    "1\t.\tCDS\t2\t4\t.\t+\t0\tID=c1;Parent=t1,t2", "1\t.\tCDS\t8\t13\t.\t+\t0\tID=c1;Parent=t1,t2",
    "1\t.\tCDS\t5\t7\t.\t+\t0\tID=c2;Parent=t2", "1\t.\tCDS\t8\t13\t.\t+\t0\tID=c2;Parent=t2"
  )
  writeLines(lines, x$gff)
  found <- changes_of(x)
  expect_identical(found$transcript, c("t1", "t2", "t2", "t2", rep(c("t1", "t2", "t2"), 2)))
  expect_identical(found$codon, c(1L, 1L, 1L, 1L, rep(2L, 3), rep(3L, 3)))
})

test_that("the canonical transcript has the best tag, else the longest coding sequence", {
  x <- small_files()
  canonical <- function(lines) {
    x$gff <- tempfile(fileext = if (startsWith(lines[1], "##")) ".gff3" else ".gtf")
    writeLines(lines, x$gff)
    found <- changes_of(x)
    by_range <- changes_of(replace(x, "gff", list(rtracklayer::import(x$gff))))
    if (startsWith(lines[1], "##")) expect_identical(by_range$canonical, found$canonical)
    unique(found$transcript[found$canonical %in% TRUE])
  }
  gtf <- function(ends, tags = "") {
    sprintf("1\t.\tCDS\t2\t%d\t.\t+\t0\tgene_id \"g\"; transcript_id \"t%d\"; tag \"basic\"; %s",
            ends, seq_along(ends), tags)
  }
  mane <- "tag \"MANE_Select\"; tag \"CCDS\";"
  ensembl <- "tag \"Ensembl_canonical\"; tag \"CCDS\";"
  expect_identical(canonical(gtf(c(7, 10, 10))), "t2")
  expect_identical(canonical(gtf(c(7, 10), c(ensembl, ""))), "t1")
  expect_identical(canonical(gtf(c(7, 10, 10), c(ensembl, "", mane))), "t3")
  gff <- function(tags) {
    c("##gff-version 3",
      sprintf("1\t.\tmRNA\t2\t13\t.\t+\t.\tID=t%d;Parent=g1;tag=basic%s", 1:2, tags),
      sprintf("1\t.\tCDS\t2\t%d\t.\t+\t0\tID=c%d;Parent=t%d", c(7, 13), 1:2, 1:2))
  }
  expect_identical(canonical(gff("")), "t2")
  expect_identical(canonical(gff(c(",MANE Select", ",Ensembl_canonical"))), "t1")
  ranges <- GenomicRanges::GRangesList(
    t1 = GenomicRanges::GRanges("1", IRanges::IRanges(2, 13), "+")
  )
  expect_true(all(is.na(changes_of(replace(x, "gff", list(ranges)))$canonical)))
})

test_that("a gene on two chromosomes has a canonical transcript on each", {
  parts <- data.frame(
    transcript = c("a", "b", "a"), gene = "g", sequence = "", rank = 3,
    chromosome = c("X", "X", "Y"), start = 1, end = 3, strand = "+", phase = 0L
  )
  found <- transcripts_of(parts_on(parts, c("X", "Y"), "x.vcf"))
  expect_identical(found$canonical, c(TRUE, FALSE, TRUE))
})

test_that("bad input is named", {
  x <- small_files()
  gone <- x
  gone$gff <- "no.gff3"
  expect_ancify_error(changes_of(gone), "file", "no.gff3")
  other <- x
  other$gff <- tempfile(fileext = ".gff3")
  writeLines(c("##gff-version 3", "2\t.\tCDS\t2\t13\t.\t+\t0\tID=c1;Parent=t1"), other$gff)
  expect_ancify_error(changes_of(other), "input", "has no chromosome of")
  writeLines(c("##gff-version 3", "1\t.\texon\t2\t13\t.\t+\t0\tID=c1;Parent=t1"), other$gff)
  expect_ancify_error(changes_of(other), "input", "no coding part")
  writeLines("no features at all", other$gff)
  expect_ancify_error(changes_of(other), "format", "cannot be read as GFF3 or GTF")
  expect_ancify_error(changes_of(x, genetic_code = "77"), "input", "`genetic_code`")
  expect_identical(changes_of(x, genetic_code = 1), changes_of(x))
  for (at in c("0\t14", "13\t2")) {
    writeLines(c("##gff-version 3", sprintf("1\t.\tCDS\t%s\t.\t+\t0\tParent=t1", at)), other$gff)
    expect_ancify_error(changes_of(other), "input", "'t1' from")
  }
  writeLines(c("##gff-version 3", "1\t.\tCDS\t100\t111\t.\t+\t0\tParent=t1"), other$gff)
  far <- changes_of(other)
  expect_identical(nrow(far), 0L)
  expect_output(print(far), "sites +0")
  # Two genes with one name of a transcript
  other$gff <- tempfile(fileext = ".gtf")
  writeLines(sprintf("1\t.\tCDS\t%d\t%d\t.\t+\t0\tgene_id \"g%d\"; transcript_id \"u\";",
                     c(2, 8), c(7, 13), 1:2), other$gff)
  found <- changes_of(other)
  expect_identical(found$gene, c("g1", "g1", "g1", "g2", "g2"))
  expect_identical(found$codon, c(1L, 2L, 2L, 1L, 2L))
  expect_ancify_error(
    coding_changes(x$vcf, x$ancestral, 3, x$focal), "input", "`genes` must be the path"
  )
  expect_ancify_error(
    coding_changes(x$vcf, x$ancestral, GenomicRanges::GRangesList(), x$focal), "input",
    "without names"
  )
  short <- x
  short$focal <- write_letters(list(`1` = "CATGGCATGGT"))
  expect_ancify_error(changes_of(short), "format", "beyond")
  partial <- x
  writeLines(c("##gff-version 3", "1\t.\tCDS\t2\t12\t.\t+\t0\tID=c1;Parent=t1"), partial$gff)
  expect_identical(unique(as.character(changes_of(partial)$consequence)), "partial codon")
})
