# Coding changes of VCF files, against plain R and VariantAnnotation.

require_htslib()
require_package("Biostrings")

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
  expect_setequal(found$protein[found$consequence == "missense"], proteins$protein)
  expect_true(all(is.na(found$protein[found$consequence != "missense"])))
  consequences <- table(found$consequence)
  found_kinds <- c("synonymous", "missense", "stop gained", "partial codon", "inner stop")
  expect_true(all(consequences[found_kinds] > 0))
})

test_that("consequences are VariantAnnotation's where REF is ancestral, and exchanged where not", {
  require_package("VariantAnnotation")
  set.seed(2)
  x <- coding_example(faulty = 0)
  whole <- vapply(x$genes$transcripts, function(x) {
    x$phase == 0 && length(coding_positions(x)) %% 3 == 0
  }, NA)
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
                   data.frame(protein = paste0("t1:", texts_checksum_impl("MAW")),
                              transcript = "t1", sequence = "MAW", focal_codons = 0))
  expect_output(print(found), "synonymous   2")
  expect_identical(nrow(as.data.frame(found[0, ])), 0L)

  as_in_file <- as.data.frame(found)
  x$gff <- tempfile(fileext = ".gtf")
  writeLines(paste("chr1", ".", "CDS", 2, 10, ".", "+", 0,
                   "gene_id \"g1\"; transcript_id \"t1\";", sep = "\t"), x$gff)
  expect_identical(as.data.frame(changes_of(x)), as_in_file[1:4, ])
  if (requireNamespace("rtracklayer", quietly = TRUE)) {
    x$gff <- rtracklayer::import(x$gff)
    expect_identical(as.data.frame(changes_of(x)), as_in_file[1:4, ])
  }

  x <- small_files()
  info <- write_vcf(vcf_records("1", 6:7, c("C", "A"), c("T", "C"), c("AA=c", "AA=C|||")))
  found <- coding_changes(info, "AA", x$gff, x$focal, threads = 1, progress = FALSE)
  expect_identical(found$ancestral_codon, c("GCA", "GCC"))

  # ATA is methionine in mitochondria.
  x$vcf <- write_vcf(vcf_records("1", c(2, 4), c("A", "G"), c("G", "A")))
  expect_identical(as.character(changes_of(x)$consequence), rep("start lost", 2))
  expect_identical(as.character(changes_of(x, genetic_code = c(chr1 = "2"))$consequence),
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
  require_package("rtracklayer")
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
    chromosome = c("X", "X", "Y"), start = 1, end = 3, strand = "+", phase = 0L, code = NA,
    open_start = FALSE
  )
  found <- transcripts_of(parts_on(parts, c("X", "Y"), "x.vcf"))
  expect_identical(found$canonical, c(TRUE, FALSE, TRUE))
})

test_that("a transcript with coding parts on both strands is left out", {
  x <- small_files()
  x$gff <- tempfile(fileext = ".gff3")
  part <- function(from, to, strand, transcript) {
    paste("1", ".", "CDS", from, to, ".", strand, 0, paste0("ID=c;Parent=", transcript), sep = "\t")
  }
  spliced <- c(part(2, 7, "+", "rps12"), part(8, 13, "-", "rps12"))
  writeLines(c("##gff-version 3", spliced, part(2, 13, "+", "t1")), x$gff)
  expect_warning(found <- changes_of(x), "One transcript has coding parts.*is left out: 'rps12'",
                 class = "ancify_annotation_warning")
  expect_identical(unique(found$transcript), "t1")
  writeLines(c("##gff-version 3", spliced), x$gff)
  expect_ancify_error(changes_of(x), "input", "no other is left: 'rps12'")
  # On two chromosomes, it is two.
  writeLines(c("##gff-version 3", part(2, 13, "+", "t1"), sub("^1", "2", part(2, 13, "-", "t1"))),
             x$gff)
  expect_no_warning(found <- changes_of(x))
  expect_identical(unique(found$transcript), "t1")
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
  expect_ancify_error(changes_of(other), "format", other$gff, "line 1", "no line of GFF3 or GTF")
  expect_ancify_error(changes_of(x, genetic_code = "77"), "input", "`genetic_code`")
  expect_identical(changes_of(x, genetic_code = 1), changes_of(x))
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
})

test_that("whole codons of cut transcripts have consequences", {
  cut <- "ATGGCATTTGG"
  expect_identical(consequences_of(cut, c(1, 5, 6, 10, 11), c("G", "T", "G", "A", "A")),
                   c("start lost", "missense", "synonymous", "partial codon", "partial codon"))
  # The other strand has the same gene: CCAAATGCCAT.
  expect_identical(
    consequences_of("CCAAATGCCAT", c(1, 2, 6, 7, 11), c("T", "T", "C", "A", "C"), strand = "-"),
    c("partial codon", "partial codon", "synonymous", "missense", "start lost")
  )
  # Without a start: the bases of the phase are a cut codon, and ATG within a gene is no start.
  expect_identical(consequences_of("GATGGCATTT", c(1, 2, 6), c("A", "G", "T"), phase = 1),
                   c("partial codon", "missense", "missense"))
  for (note in c(";tag=basic,cds_start_NF", ";tag=cds_start_NF")) {
    expect_identical(consequences_of("ATGGCATTT", 1, "G", note = note), "missense")
  }
  expect_identical(consequences_of("ATGGCATTT", 1, "G", part_note = ";start_range=.,3"), "missense")
  expect_identical(
    consequences_of("AAATGCCAT", 9, "C", strand = "-", part_note = ";end_range=11,."), "missense"
  )
  expect_identical(consequences_of("ATGGCATTT", 1, "G", part_note = ";end_range=11,."),
                   "start lost")
  # Without both ends, and of few bases
  expect_identical(consequences_of("GGATGGCATTTG", c(2, 4, 12), c("A", "A", "A"), phase = 2),
                   c("partial codon", "missense", "partial codon"))
  expect_identical(consequences_of("ATGG", c(1, 4), c("G", "A")), c("start lost", "partial codon"))
  expect_identical(consequences_of("GG", 1:2, c("A", "A")), rep("partial codon", 2))
  expect_identical(consequences_of("GG", 1:2, c("A", "A"), phase = 2), rep("partial codon", 2))
  # A stop before the cut codon is an inner one.
  expect_identical(consequences_of("ATGTAAGG", 1, "G"), "inner stop")
})

test_that("without a phase, a sequence needs whole codons", {
  expect_warning(whole <- consequences_of("ATGGCATTT", 5, "T", phase = "."), "without a phase",
                 class = "ancify_annotation_warning")
  expect_identical(whole, "missense")
  suppressWarnings({
    cut <- consequences_of("ATGGCATT", 5, "T", phase = ".")
    open <- consequences_of("ATGGCATTT", 5, "T", phase = ".", note = ";tag=cds_start_NF")
  }, classes = "ancify_annotation_warning")
  expect_identical(c(cut, open), rep("partial codon", 2))
})

test_that("mitochondria have their own genetic code", {
  # ATG ATA TTT TAA: ATG is methionine in mitochondria, as ATA is. AGA>AGG is a stop there.
  x <- "ATGATATTTTAA"
  code <- function(...) consequences_of(x, 6, "G", ...)
  for (name in c("chrM", "MT", "M", "chrMT", "Mito", "NC_012920.1", "mitochondrion_genome",
                 "MT.1", "chrM_rCRS", "NC_002008.4")) {
    expect_warning(found <- code(chromosome = name), paste0(name, ".*genetic_code = c"),
                   class = "ancify_annotation_warning")
    expect_identical(found, "no genetic code")
    expect_no_warning(found <- code(chromosome = name, genetic_code = c(1, chrM = 2)))
    expect_identical(found, "synonymous")
  }
  expect_identical(code(), "missense")
  expect_identical(code(chromosome = "chrMT1"), "missense")
  # A word of the file, of the chromosome, and both
  expect_no_warning(found <- code(chromosome = "chrM", part_note = ";transl_table=2"))
  expect_identical(found, "synonymous")
  expect_identical(code(chromosome = "MT", genetic_code = c(MT = "1")), "missense")
  expect_identical(code(genetic_code = c(chr1 = 1), part_note = ";transl_table=2"), "missense")
  expect_identical(code(genetic_code = c("2", chr1 = "1")), "missense")
  expect_identical(code(chromosome = "MT", genetic_code = "5"), "synonymous")
  # With one code for all, AGA is a stop in the nucleus: this is told.
  expect_warning(
    found <- consequences_of("ATGAAATTTTAA", 5, "G", genetic_code = "2"), "mitochondria alone",
    class = "ancify_annotation_warning"
  )
  expect_identical(found, "stop gained")
  expect_no_warning(consequences_of(x, 6, "G", genetic_code = "4"))
  for (bad in list(c("1", "2"), character(), c(chr1 = 77), NA, c(a = 1, a = 2), list(1, "x"))) {
    expect_ancify_error(code(genetic_code = bad), "input", "`genetic_code`")
  }
  expect_ancify_error(code(part_note = ";transl_table=77"), "input", "`transl_table`", "77")
  expect_warning(code(genetic_code = c("1", nonsense = "2")), "'nonsense'.*not used",
                 class = "ancify_annotation_warning")
})

test_that("transcripts with several genetic codes are read in one run", {
  genes <- tempfile(fileext = ".gff3")
  part <- "%s\t.\tCDS\t3\t14\t.\t+\t0\tID=c%s;Parent=t%s"
  writeLines(sprintf(part, c("1", "MT"), 1:2, 1:2), genes)
  letters <- write_letters(list(`1` = "CCATGATATTTTAACC", MT = "CCATGATATTTTAACC"))
  vcf <- write_vcf(vcf_records(c("1", "MT"), c(8, 8), "A", "G", "AA=A"))
  found <- coding_changes(vcf, "AA", genes, letters, genetic_code = c(1, MT = 2), threads = 1,
                          progress = FALSE)
  expect_identical(as.character(found$consequence), c("missense", "synonymous"))
  expect_identical(found$derived_residue, c("M", "M"))
  expect_identical(found$ancestral_residue, c("I", "M"))
  expect_identical(found$genetic_code, 1:2)
})

test_that("a table of classes has positions and no missing values", {
  for (position in c(NA, NaN, Inf, 0, 1.5, 2^31)) {
    table <- data.frame(chromosome = "1", position = position, class = "a")
    expect_ancify_error(site_classes(table, "snps", NULL), "input", "number 1")
  }
})

test_that("a file without SNPs is told in words of codons", {
  x <- small_files()
  for (alleles in list(c("CA", "TT"), c("C", "<DEL>"), c("C", "<DEL>,*"), c("CA", "C"))) {
    x$vcf <- write_vcf(vcf_records("1", 6, alleles[1], alleles[2], "AA=C"))
    error <- expect_ancify_error(changes_of(x), "input", "a change of a codon", "1 with an allele")
    expect_no_match(conditionMessage(error), "spectrum|INDEL")
  }
  for (alt in c("C", "*", "<NON_REF>")) {
    x$vcf <- write_vcf(vcf_records("1", 6, "C", alt))
    expect_ancify_error(changes_of(x), "input", "a change of a codon", "1 MONOMORPHIC")
  }
})

test_that("a mixture of bases of two times makes no stop, with either base at the site", {
  focal_bases <- function(ancestor, focal, ref, alt, at = 6) {
    vcf <- write_vcf(vcf_records("1", at, ref, alt))
    gff <- write_genes(list(list(name = "t", chromosome = "1", strand = "+", phase = 0,
                                 parts = rbind(c(1, nchar(focal))))))
    found <- coding_changes(vcf, write_letters(list(`1` = ancestor)), gff,
                            write_letters(list(`1` = focal)), threads = 1, progress = FALSE)
    list(found$ancestral_codon, found$derived_codon, as.character(found$consequence),
         found$focal_codon)
  }
  # TAC became CAC; of the site C > A, only CAA has ever been.
  expect_identical(focal_bases("ATGTACTGGTAA", "ATGCACTGGTAA", "C", "A"),
                   list("CAC", "CAA", "missense", TRUE))
  expect_identical(focal_bases("ATGTAATGGTAA", "ATGCAATGGTAA", "A", "C"),
                   list("CAA", "CAC", "missense", TRUE))
  # The reference makes the stop, too.
  expect_identical(focal_bases("ATGTACTGGTAA", "ATGTACTGGTAA", "C", "A"),
                   list("TAC", "TAA", "stop gained", TRUE))
  expect_identical(focal_bases("ATGTACTGGTAA", "ATGTGCTGGTAA", "C", "A"),
                   list("TAC", "TAA", "stop gained", FALSE))
})

test_that("phases that contradict the lengths of parts leave codons unknown", {
  focal <- write_letters(list(`1` = "ATGGCATaaCCAGACTTC"))
  vcf <- write_vcf(vcf_records("1", 12:13, c("A", "G"), c("G", "T"), c("AA=A", "AA=G")))
  found_with <- function(phases, strand = "+", parts = c("1\t7", "10\t18"), ids = "t1") {
    gff <- tempfile(fileext = ".gff3")
    writeLines(c("##gff-version 3", sprintf("1\t.\tCDS\t%s\t.\t%s\t%s\tID=c%s;Parent=%s", parts,
                                            strand, phases, ids, ids)), gff)
    coding_changes(vcf, "AA", gff, focal, threads = 1, progress = FALSE)
  }
  expect_warning(found <- found_with(c(0, 0)), "phases of the coding parts of 1 transcript.*'t1'",
                 class = "ancify_annotation_warning")
  expect_identical(as.character(found$consequence), rep("partial codon", 2))
  # The second part is the first of the other strand.
  expect_warning(found_with(c(0, 1), "-"), class = "ancify_annotation_warning")
  expect_no_warning(found <- found_with(c(0, 0), "-"))
  expect_false(any(found$consequence == "partial codon"))
  expect_no_warning(found <- found_with(c(0, 2)))
  expect_false(any(found$consequence == "partial codon"))
  # Others are as before.
  parts <- c("1\t7", "10\t18", "10\t18")
  expect_warning(found <- found_with(c(0, 0, 0), parts = parts, ids = c("t1", "t1", "t2")), "'t1'")
  expect_identical(found$transcript[found$consequence != "partial codon"], rep("t2", 2))
  expect_warning(found_with(c(".", ".")), "without a phase")
})

test_that("results of several files are bound with their proteins and records", {
  x <- small_files()
  whole <- changes_of(x)
  part <- function(rows) {
    lines <- readLines(x$vcf)
    header <- startsWith(lines, "#")
    y <- x
    y$vcf <- tempfile(fileext = ".vcf")
    writeLines(c(lines[header], lines[!header][rows]), y$vcf)
    changes_of(y)
  }
  bound <- rbind(part(1:2), NULL, part(3:5))
  expect_s3_class(bound, "coding_changes")
  expect_identical(as.data.frame(bound), as.data.frame(whole))
  expect_identical(attr(bound, "records"), attr(whole, "records"))
  expect_identical(attr(bound, "proteins"), attr(whole, "proteins"))
  expect_identical(as.data.frame(do.call(rbind, list(whole))), as.data.frame(whole))
  expect_ancify_error(rbind(whole, whole[-1]), "input", "same columns")
  # Pieces of one result count its records once.
  pieces <- list(
    rbind(whole[1:2, ], whole[3:5, ]), rbind(whole[1:2, ], whole[3:5, ], make.row.names = FALSE),
    do.call(rbind, unname(split(whole, factor(whole$codon)))), rbind(whole, data.frame())
  )
  for (piece in pieces) {
    expect_identical(as.data.frame(piece), as.data.frame(whole))
    expect_identical(attributes(piece)[c("records", "proteins")],
                     attributes(whole)[c("records", "proteins")])
  }
  # Choices of columns have no records.
  chosen <- rbind(whole[1:2, c("position", "codon")], whole[3:5, c("position", "codon")])
  expect_identical(as.data.frame(chosen), as.data.frame(whole)[c("position", "codon")])
  expect_identical(nrow(rbind(whole, as.data.frame(whole))), 10L)
})
