# Gene models from files, against rtracklayer, and damaged ones.

require_package("Biostrings")

read_genes <- function(path) with_watch("Reading", function(watch) coding_parts(path, watch))

gff_line <- function(chromosome, type, start, end, strand, phase, attributes) {
  paste(chromosome, "ancify", type, start, end, ".", strand, phase, attributes, sep = "\t")
}

# Genes with transcripts, exons and coding parts, in GFF3 as Ensembl and NCBI write it.
gff3_of_genes <- function(n = 40) {
  lines <- lapply(seq_len(n), function(i) {
    start <- 1000 * i
    strand <- sample(c("+", "-"), 1)
    starts <- start + c(0, 30, 90)
    ends <- starts + sample(5:20, 3)
    line <- function(...) gff_line("chr%31", ...)
    c(
      line("gene", start, start + 200, strand, ".",
           sprintf("ID=gene:g%d;Name=a%%2Cb;biotype=protein_coding", i)),
      line("mRNA", start, start + 200, strand, ".",
           sprintf("ID=transcript:t%d;Parent=gene:g%d;tag=basic%s", i, i,
                   sample(c("", ",MANE_Select", ",MANE Select"), 1))),
      line("lnc_RNA", start, start + 200, strand, ".", sprintf("ID=u%d;Parent=gene:g%d", i, i)),
      line("exon", starts, ends, strand, ".", sprintf("Parent=transcript:t%d,u%d", i, i)),
      line("CDS", starts, ends, strand, sample(0:2, 3, replace = TRUE),
           sprintf("ID=c%d;Parent=transcript:t%d%s;transl_table=%d", i, i,
                   sample(c("", sprintf(",u%d", i)), 1), sample(c(1, 11), 1))),
      "###"
    )
  })
  c("##gff-version 3", "#!genome-build x", "", unlist(lines), "##FASTA", ">chr1", "ACGTN")
}

gtf_of_genes <- function(n = 40) {
  lines <- lapply(seq_len(n), function(i) {
    start <- 1000 * i
    starts <- start + c(0, 30, 90)
    ids <- sprintf("gene_id \"g%d\"; transcript_id \"t;%d\"; level 2; tag \"basic\";", i, i)
    c(
      gff_line("chr1", "gene", start, start + 200, "+", ".", sprintf("gene_id \"g%d\";", i)),
      gff_line("chr1", "transcript", start, start + 200, "+", ".",
               paste(ids, "tag \"Ensembl_canonical\"; tag \"CCDS\";")),
      gff_line("chr1", "exon", starts, starts + 11, "+", ".", ids),
      gff_line("chr1", "CDS", starts, starts + 11, "+", sample(0:2, 3, replace = TRUE), ids)
    )
  })
  c("#!genome-build x", unlist(lines))
}

write_gff <- function(lines, extension = ".gff3") {
  path <- tempfile(fileext = extension)
  writeLines(lines, path)
  path
}

# ATG GCA TGG TAA at 2 to 13
one_gene <- function(from = 2, to = 13, strand = "+", phase = 0, parent = "Parent=t1") {
  c("##gff-version 3", gff_line("1", "mRNA", 2, 13, "+", ".", "ID=t1;Parent=g1"),
    gff_line("1", "CDS", from, to, strand, phase, paste0("ID=c1;", parent)))
}

# Expects an error that names the file and the line.
expect_bad_line <- function(lines, number, ...) {
  path <- write_gff(lines)
  condition <- expect_ancify_error(read_genes(path), "format", path, ...)
  expect_identical(condition$file, path)
  expect_equal(condition$line, number)
}

test_that("parts are those that rtracklayer reads", {
  require_package("rtracklayer")
  set.seed(1)
  for (lines in list(gff3_of_genes(), gtf_of_genes())) {
    is_gtf <- !startsWith(lines[1], "##")
    path <- write_gff(lines, if (is_gtf) ".gtf" else ".gff3")
    ours <- read_genes(path)
    theirs <- as.list(rtracklayer::readGFF(path, filter = list(type = "CDS")))
    parents <- if (is_gtf) as.list(theirs$transcript_id) else as.list(theirs$Parent)
    of <- rep(seq_along(parents), lengths(parents))
    expect_identical(ours$transcript, sub("^transcript:", "", unlist(parents)))
    for (column in c("start", "end", "phase")) {
      expect_equal(ours[[column]], as.integer(theirs[[column]])[of])
    }
    expect_identical(ours$strand, as.character(theirs$strand)[of])
    expect_identical(unique(ours$chromosome), "chr1")
    if (!is_gtf) expect_equal(ours$code, as.integer(theirs$transl_table)[of])
    by_range <- rtracklayer::import(path)
    GenomeInfoDb::seqlevels(by_range) <- "chr1"
    by_range <- read_genes(by_range)
    by_range$code <- as.integer(by_range$code)
    # import() keeps one of several tags of a line of GTF.
    if (is_gtf) by_range$rank <- ours$rank
    expect_equal(by_range, ours)
  }
  expect_identical(unique(ours$rank), 2)
})

test_that("a part's owners may be genes, segments and pseudogenes", {
  path <- write_gff(c(
    "##gff-version 3", gff_line("1", "gene", 1, 90, "+", ".", "ID=gene-a"),
    gff_line("1", "CDS", 1, 9, "+", 0, "ID=x;Parent=gene-a"),
    gff_line("1", "V_gene_segment", 11, 19, "+", ".", "ID=v;Parent=gene:b"),
    gff_line("1", "CDS", 11, 19, "+", 0, "ID=y;Parent=v"),
    gff_line("1", "CDS", 21, 29, "+", 0, "ID=z;Parent=unknown")
  ))
  parts <- read_genes(path)
  expect_identical(parts$gene, c("gene-a", "b", NA))
  expect_identical(parts$transcript, c("gene-a", "v", "unknown"))
})

test_that("a line that is wrong is named", {
  for (start in c(".", "abc", "NA", "1.5", "-3", "0", "2147483648", "99999999999999999999", "")) {
    expect_bad_line(one_gene(start), 3, "start '", "whole number")
  }
  for (end in c(".", "1e1", "2147483648", "13 ")) {
    expect_bad_line(one_gene(to = end), 3, "end '", "whole number")
  }
  expect_bad_line(one_gene(13, 2), 3, "start 13 lies behind the end 2")
  lines <- one_gene()
  expect_bad_line(replace(lines, 2, sub("\t2\t", "\tx\t", lines[2])), 2, "start 'x'")
  for (strand in c(".", "?", "*", "")) expect_bad_line(one_gene(strand = strand), 3, "strand '")
  for (phase in c("3", "-1", "0.5", "x", "")) expect_bad_line(one_gene(phase = phase), 3, "phase '")
  for (parent in c("", "Parent=", "parent=t1", "transcript_id \"t1\"")) {
    expect_bad_line(one_gene(parent = parent), 3, "names no transcript")
  }
  expect_bad_line(one_gene(parent = "Parent=t%FF"), 3, "not UTF-8")
  expect_bad_line(one_gene(parent = "Parent=t1;transl_table=x"), 3, "transl_table 'x'")
  expect_bad_line(one_gene(parent = "Parent=t1;Parent=t2"), 3, "Parent occurs twice")
  expect_bad_line(c(lines, "1 . CDS 2 13 . + 0 Parent=t1"), 4, "nine columns")
  expect_bad_line(c(lines, lines[3]), 4, "the same coding part of 't1'", "line 3")
  latin <- c(lines[1:2], sub("c1", "c\xe4", lines[3], useBytes = TRUE))
  path <- tempfile(fileext = ".gff3")
  writeLines(latin, path, useBytes = TRUE)
  expect_ancify_error(read_genes(path), "format", "line 3", "not UTF-8")
})

test_that("a transcript has one genetic code, whichever part names it", {
  parts <- function(...) {
    ids <- sprintf("ID=c;Parent=t%s", c(...))
    read_genes(write_gff(c("##gff-version 3", gff_line("1", "CDS", 2, 7, "+", 0, ids[1]),
                           gff_line("1", "CDS", 11, 16, "+", 0, ids[2]))))
  }
  expect_equal(as.integer(parts("", ";transl_table=2")$code), c(2, 2))
  expect_equal(as.integer(parts(";transl_table=4", "")$code), c(4, 4))
  expect_ancify_error(parts(";transl_table=2", ";transl_table=4"), "input", "'t'", "is 2 and 4")
})

test_that("parts that are repeated, and R's objects, are checked alike", {
  # Each part has its own id, so that all are one coding sequence.
  ids <- sprintf("ID=c%d;Parent=t1", 1:2)
  lines <- c("##gff-version 3", gff_line("1", "CDS", 2, 13, "+", 0, ids))
  expect_ancify_error(parts_on(read_genes(write_gff(lines)), "1", "x.vcf"), "input",
                      "the same coding part twice")
  require_package("GenomicRanges")
  ranges <- function(start = 2, end = 13, strand = "+", ...) {
    GenomicRanges::GRanges("1", IRanges::IRanges(start, end), strand, type = "CDS", ID = "c1",
                           Parent = IRanges::CharacterList("t1"), ...)
  }
  expect_identical(read_genes(ranges(phase = 1L))$phase, 1L)
  expect_ancify_error(read_genes(ranges(0, 13, phase = 0L)), "input", "'t1' from 0 to 13")
  expect_ancify_error(read_genes(ranges(5, 4, phase = 0L)), "input", "'t1' from 5 to 4")
  expect_ancify_error(read_genes(ranges(strand = "*", phase = 0L)), "input", "the strand '*'")
  expect_ancify_error(read_genes(ranges(phase = 3L)), "input", "with the phase")
  expect_ancify_error(read_genes(ranges(phase = "x")), "input", "with the phase")
  expect_warning(read_genes(ranges(phase = NA)), "1 coding part without a phase",
                 class = "ancify_annotation_warning")
  expect_warning(read_genes(ranges()), "1 coding part without a phase",
                 class = "ancify_annotation_warning")
  orphan <- ranges(phase = 0L)
  orphan$Parent <- IRanges::CharacterList(character())
  expect_ancify_error(read_genes(orphan), "input", "without a transcript")
  list <- GenomicRanges::GRangesList(t1 = ranges(strand = "*"))
  expect_ancify_error(read_genes(list), "input", "the strand '*'")
  names(list) <- NA
  expect_ancify_error(read_genes(list), "input", "coding part")
  for (wrong in list(NULL, data.frame(start = 1), NA, 3)) {
    expect_ancify_error(read_genes(wrong), "input", "`genes` must be")
  }
  # Two elements with one name are two transcripts.
  twice <- GenomicRanges::GRangesList(t1 = ranges(), t1 = ranges())
  expect_identical(parts_on(read_genes(twice), "1", "x.vcf")$number, 1:2)
})

test_that("a file may have a byte order mark, and line ends of any kind", {
  lines <- one_gene()
  expected <- read_genes(write_gff(lines))
  expect_identical(read_genes(write_gff(c("track name=x", "", lines))), expected)
  mark <- "\ufeff"
  for (text in c(paste0(mark, paste0(lines, "\n", collapse = "")),
                 paste0(lines, "\r\n", collapse = ""), paste0(lines, "\r", collapse = ""),
                 paste(lines, collapse = "\r"), paste(lines, collapse = "\n"))) {
    path <- tempfile()
    writeBin(charToRaw(enc2utf8(text)), path)
    expect_identical(read_genes(path), expected)
  }
})

test_that("a gzip file that is cut or damaged is refused", {
  path <- tempfile(fileext = ".gff3.gz")
  connection <- gzfile(path, "wb")
  set.seed(2)
  writeLines(c(gff3_of_genes(60), strrep("ACGT", 100)), connection)
  close(connection)
  bytes <- readBin(path, "raw", 1e6)
  cut <- tempfile(fileext = ".gff3.gz")
  for (n in seq(2, length(bytes) - 1, by = 50)) {
    writeBin(bytes[seq_len(n)], cut)
    expect_ancify_error(read_genes(cut), "format", cut)
  }
  # The checksum, and a byte of the data
  for (at in c(length(bytes) - 6, length(bytes) %/% 2)) {
    damaged <- bytes
    damaged[at] <- xor(damaged[at], as.raw(0x55))
    writeBin(damaged, cut)
    expect_ancify_error(read_genes(cut), "format", cut)
  }
})

test_that("lines that repeat by the million take neither memory nor time", {
  bomb <- function(lines) {
    row <- paste(lines, collapse = "\n")
    path <- tempfile(fileext = ".gff3.gz")
    writeBin(bomb_bytes(one_gene(), row, 2e6 * (nchar(row) + 1)), path)
    path
  }
  owner <- gff_line("1", "mRNA", 2, 13, "+", ".", "ID=t1;Parent=g1;tag=basic")
  seconds <- processor_seconds({
    expect_ancify_error(read_genes(bomb(one_gene()[3])), "format", "the same coding part")
    expect_ancify_error(read_genes(bomb(owner)), "format", "times as large")
    expect_ancify_error(read_genes(bomb(c("# x", "", strrep("x", 50)))), "format", "line 6")
  })
  expect_lt(seconds, 20)
})

test_that("a pipe in place of a file does not hold the session", {
  pipe <- tempfile()
  skip_if(system2("mkfifo", shQuote(pipe)) != 0)
  expect_ancify_error(read_genes(pipe), "file", pipe)
  expect_ancify_error(read_genes(tempdir()), "file", "folder")
})

test_that("lines of genes with a bare name, as of AUGUSTUS, leave GTF what it is", {
  line <- function(type, attributes) gff_line("1", type, 2, 13, "+", 0, attributes)
  part <- line("CDS", "transcript_id \"g1.t1\"; gene_id \"g1\";")
  path <- tempfile(fileext = ".gtf")
  of <- function(...) {
    writeLines(c(...), path)
    as.list(read_genes(path)[c("transcript", "gene", "phase")])
  }
  alone <- of(part)
  expect_identical(alone, list(transcript = "g1.t1", gene = "g1", phase = 0L))
  expect_identical(of(line("gene", "g1"), line("transcript", "g1.t1"), part), alone)
  expect_identical(of(line("gene", ""), part), alone)
  # Bare names alone are no GTF.
  expect_ancify_error(of(line("gene", "g1"), line("CDS", "g1.t1")), "format", "names no transcript")
})

# Two chromosomes with the gene of the example on `chromosome`, and a variant on each.
two_chromosomes <- function(names, derived = "C") {
  letters <- list("CATGGCATGGTAACC", "CATGGCATGGTAACC")
  list(
    fasta = write_fasta(stats::setNames(letters, names), tempfile(fileext = ".fa")),
    vcf = write_vcf(vcf_records(names, 7, "A", derived)),
    genes = function(chromosome) {
      path <- tempfile(fileext = ".gff3")
      writeLines(c(
        "##gff-version 3",
        gff_line(chromosome, "mRNA", 2, 13, "+", ".", "ID=t1;Parent=g1"),
        gff_line(chromosome, "CDS", 2, 13, "+", 0, "ID=c1;Parent=t1")
      ), path)
      path
    }
  )
}

test_that("a chromosome of the same name comes before another spelling", {
  require_htslib()
  for (names in list(c("chrM", "chrMT"), c("MT", "chrM"), c("chr1", "1"))) {
    x <- two_chromosomes(names)
    for (name in names) {
      found <- coding_changes(x$vcf, x$fasta, x$genes(name), x$fasta, genetic_code = "2",
                              threads = 1) |> suppressWarnings()
      expect_identical(unique(found$chromosome), name)
    }
    codes <- stats::setNames(c("2", "5"), names)
    found <- coding_changes(x$vcf, x$fasta, x$genes(names[2]), x$fasta, genetic_code = codes,
                            threads = 1) |> suppressWarnings()
    expect_identical(unique(found$genetic_code), 5L)
  }
  # Without one, the other spelling is the same chromosome.
  x <- two_chromosomes(c("chrM", "chr2"))
  found <- coding_changes(x$vcf, x$fasta, x$genes("MT"), x$fasta, genetic_code = "2", threads = 1)
  expect_identical(unique(found$chromosome), "chrM")
})

test_that("only results of the same files and settings are pieces of one", {
  require_htslib()
  x <- two_chromosomes(c("1", "2"))
  records <- function(x) {
    found <- attr(x, "records")
    stats::setNames(found$records, found$reason)[c("MASKED", "NOT_CODING", "CODING")]
  }
  one <- x$genes("1")
  found <- function(genes = one, ...) {
    coding_changes(x$vcf, x$fasta, genes, x$fasta, threads = 1, progress = FALSE, ...)
  }
  first <- found()
  expect_equal(records(first), c(MASKED = 0, NOT_CODING = 1, CODING = 1))
  twice <- 2 * records(first)
  again <- two_chromosomes(c("1", "2"))$genes("1")
  expect_equal(records(rbind(first, found(again))), records(first))
  expect_equal(records(rbind(first, first[0, ])), records(first))
  mask <- tempfile(fileext = ".bed")
  writeLines("2\t6\t7", mask)
  others <- list(found(x$genes("2")), found(background = "focal"), found(low_confidence = FALSE),
                 found(genetic_code = "11"))
  for (other in others) expect_equal(records(rbind(first, other)), twice)
  expect_equal(records(rbind(first, found(mask = mask))),
               c(MASKED = 1, NOT_CODING = 1, CODING = 2))
})
