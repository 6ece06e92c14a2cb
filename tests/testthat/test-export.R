# Ancestral states for other programs, against plain R and against tsinfer itself.

random_calls <- function(lengths) {
  vapply(lengths, function(n) {
    letters <- c("A", "C", "G", "T", "a", "c", "g", "t", "n", "N")
    paste(rep(sample(letters, n, TRUE), sample(1:4, n, TRUE))[seq_len(n)], collapse = "")
  }, "")
}

read_states <- function(path) {
  utils::read.delim(path, colClasses = c("character", "numeric", "character"))
}

test_that("states of a VCF's records are those of the calls, in any container", {
  require_htslib()
  lengths <- c(chr1 = 300, chr2 = 120)
  for (seed in 1:3) {
    set.seed(seed)
    calls <- random_calls(lengths)
    run <- calls_folder(calls)
    records <- random_vcf(lengths)
    vcf <- write_vcf(records)
    bare <- write_vcf(sub("^chr", "", records))
    out <- tempfile(fileext = ".tsv")
    for (path in c(vcf, as_bgzip(vcf), as_bcf(vcf), bare)) {
      result <- export_states(run, "tsinfer", out, sites = path)
      table <- read_states(out)
      expect_named(table, c("chromosome", "position", "ancestral_state"))
      states <- oracle_states(records, calls)
      expect_identical(table$ancestral_state, states)
      expect_identical(table$position, as.numeric(sub("[^\t]*\t(\\d+)\t.*", "\\1", records)))
      expect_identical(result$called + result$unknown, length(records) + 0L)
      expect_identical(result$called, sum(states != "N"))
    }
    expect_identical(unique(table$chromosome), c("1", "2"))
    export_states(run, "tsinfer", out, sites = vcf, low_confidence = FALSE)
    expect_identical(read_states(out)$ancestral_state, oracle_states(records, calls, FALSE))
    expect_true(any(oracle_states(records, calls, FALSE) != states))
    require_package("VariantAnnotation")
    export_states(run, "tsinfer", out, sites = VariantAnnotation::VcfFile(as_bgzip(vcf)))
    expect_identical(read_states(out)$ancestral_state, oracle_states(records, calls))
  }
})

test_that("sites are tables and ranges too, and keep their order", {
  run <- calls_folder(c(chr1 = "ACgtnN", chr10 = "TTa"))
  sites <- data.frame(
    chromosome = factor(c("chr10", "chr1", "chr1", "chr1", "chr10")), position = c(3, 6, 1, 1, 1)
  )
  out <- tempfile()
  export_states(run, "tsinfer", out, sites = sites)
  expect_identical(read_states(out)$ancestral_state, c("A", "N", "A", "A", "T"))
  export_states(run, "tsinfer", out, sites = "chr1:2-2")
  expect_identical(read_states(out)$ancestral_state, "C")
  expect_warning(
    export_states(run, "tsinfer", out, sites = data.frame(chromosome = c("chr1", "chr7"),
                                                          position = c(3, 99))),
    "no calls of 'chr7': 1 site ", class = "ancify_annotation_warning"
  )
  expect_identical(read_states(out)$ancestral_state, c("G", "N"))
  require_package("GenomicRanges")
  places <- GenomicRanges::GRanges(c("chr1:4-4", "chr1:1-2", "chr10:2-2"))
  export_states(run, "tsinfer", out, sites = places)
  expect_identical(read_states(out)$ancestral_state, c("T", "N", "T"))
})

test_that("tsinfer reads the states as documented", {
  require_htslib()
  python <- tsinfer_python()
  require_tool("tabix")
  set.seed(4)
  n <- 40
  calls <- random_calls(c(chr1 = 400))
  position <- sort(sample(400, n))
  base <- strsplit(toupper(calls), "")[[1]][position]
  ref <- ifelse(base == "N", "A", base)
  derived <- c(A = "C", C = "G", G = "T", T = "A")[ref]
  swapped <- seq_len(n) %% 3 == 0
  alleles <- cbind(ifelse(swapped, derived, ref), ifelse(swapped, ref, derived))
  alleles[7, 2] <- paste0(alleles[7, 1], "T")
  alleles[8, ] <- c("A", "C")
  genotypes <- matrix(sample(c("0|0", "0|1", "1|0", "1|1"), n * 6, TRUE), n)
  records <- paste(vcf_records("chr1", position, alleles[, 1], alleles[, 2]), "GT",
                   apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  header <- vcf_header(records, contigs = character(), more = c(
    "##contig=<ID=chr1,length=400>", "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"x\">"
  ))
  vcf <- as_bgzip(write_vcf(records, header = header))
  expect_identical(run_program("tabix", vcf)$status, 0L)
  states <- tempfile(fileext = ".tsv")
  export_states(calls_folder(calls), "tsinfer", states, sites = vcf)

  zarr <- tempfile(fileext = ".vcz")
  made <- run_program(python, "-m", "bio2zarr", "vcf2zarr", "convert", "--no-progress", vcf, zarr)
  if (made$status != 0) stop(paste(utils::tail(made$err, 6), collapse = "\n"))
  script <- tempfile(fileext = ".py")
  writeLines(c(
    "import sys, numpy, tsinfer",
    "zarr, states = sys.argv[1:]",
    # As in the help page.
    "states = numpy.loadtxt(states, dtype=str, skiprows=1, usecols=2, ndmin=1)",
    "data = tsinfer.VariantData(zarr, ancestral_state=states)",
    "for site in data.sites():",
    "  i = site.ancestral_allele",
    "  print(int(site.position), 'N' if i < 0 else site.alleles[i])",
    "print(tsinfer.infer(data).num_sites)"
  ), script)
  read <- run_program(python, script, zarr, states, timeout = 120)
  expect_identical(read$status, 0L)
  expected <- oracle_states(records, calls)
  # tsinfer takes a base that is no allele for unknown.
  expected[expected != alleles[, 1] & expected != alleles[, 2]] <- "N"
  expect_identical(read$out[seq_len(n)], paste(position, expected))
  expect_identical(read$out[n + 1], as.character(n))
  expect_true(all(c("N", "A", "C", "G", "T") %in% expected))
})

test_that("sequences for Relate have a base where there is a call", {
  set.seed(5)
  calls <- random_calls(c(chr1 = 500000, chr2 = 7))
  run <- calls_folder(calls)
  out <- file.path(new_folder(), "a", "b")
  result <- export_states(run, "relate", out)
  for (name in names(calls)) {
    # As Relate reads it: the first line is a header, the others are the sequence.
    lines <- readLines(file.path(out, paste0(name, ".fa")))
    expect_identical(lines[1], paste0(">", name))
    expect_identical(paste(lines[-1], collapse = ""), gsub("[^ACGT]", "N", toupper(calls[[name]])))
  }
  expect_identical(result$chromosome, names(calls))
  expect_identical(row.names(result), c("1", "2"))
  expect_identical(result$file, file.path(out, c("chr1.fa", "chr2.fa")))
  expect_identical(result$unknown + 0L, nchar(gsub("[^nN]", "", calls)) + 0, ignore_attr = TRUE)
  expect_identical(result$filled, c(0, 0))
  export_states(run, "relate", out, chromosomes = "chr2", low_confidence = FALSE)
  expect_identical(readLines(file.path(out, "chr2.fa"))[2], gsub("[^ACGT]", "N", calls[["chr2"]]))
})

test_that("sequences for SLiM have the reference where there is no call", {
  set.seed(6)
  calls <- random_calls(c(chr1 = 3000, chr2 = 50))
  run <- calls_folder(calls)
  genome <- vapply(nchar(calls), function(n) {
    paste(sample(c("A", "C", "G", "T", "a", "c", "g", "t", "N", "R"), n, TRUE), collapse = "")
  }, "")
  whole <- tempfile(fileext = ".fa")
  writeLines(rbind(paste0(">", sub("chr", "", names(genome))), genome), whole)
  twobit <- write_twobit(gsub("R", "N", genome))
  for (reference in c(whole, twobit, calls_folder(genome))) {
    for (low in c(TRUE, FALSE)) {
      out <- new_folder()
      result <- export_states(run, "slim", out, reference = reference, low_confidence = low)
      for (name in names(calls)) {
        sequence <- readLines(file.path(out, paste0(name, ".fa")))[2]
        expect_match(sequence, "^[ACGT]+$")
        expect_identical(sequence, oracle_filled(calls[[name]], genome[[name]], "A", low))
      }
      marked <- mapply(oracle_filled, calls, genome, "-", low)
      expect_identical(result$unknown, unname(nchar(gsub("[^-]", "", marked))) + 0)
      called <- gsub(if (low) "[nN]" else "[nNacgt]", "", calls)
      expect_identical(result$called, unname(nchar(called)) + 0)
      expect_identical(result$called + result$filled + result$unknown, unname(nchar(calls)) + 0)
      expect_true(all(result[c("called", "filled", "unknown")] > 0))
    }
  }
})

test_that("BED and bigBed have the confidences of stretches and of sites", {
  set.seed(7)
  calls <- random_calls(c(chr1 = 400, chr2 = 60))
  run <- calls_folder(calls)
  out <- tempfile(fileext = ".bed")
  result <- export_states(run, "bed", out)
  expect_identical(readLines(out), unlist(Map(oracle_bed, names(calls), calls), use.names = FALSE))
  expect_identical(result$unknown, sum(nchar(gsub("[^nN]", "", calls))) + 0)
  expect_identical(result$called, sum(nchar(gsub("[nN]", "", calls))) + 0)
  export_states(run, "bed", out, chromosomes = "chr2")
  expect_identical(readLines(out), oracle_bed("chr2", calls[["chr2"]]))

  sites <- data.frame(chromosome = c("2", "1", "1", "chr2", "1"), position = c(60, 9, 4, 60, 10))
  export_states(run, "bed", out, sites = sites)
  at <- function(name, i) {
    paste(name, i - 1, i, confidence_word(substr(calls[[name]], i, i)), sep = "\t")
  }
  expect_identical(
    readLines(out), c(at("chr1", 4), at("chr1", 9), at("chr1", 10), at("chr2", 60))
  )

  expect_identical(
    export_states(run, "bed", out, sites = sites[0, ])[c("called", "unknown")],
    data.frame(called = 0, unknown = 0)
  )
  expect_identical(file.size(out), 0)

  require_package("rtracklayer")
  big <- tempfile(fileext = ".bb")
  for (places in list(NULL, sites)) {
    export_states(run, "bed", out, sites = places)
    expect_identical(
      export_states(run, "bigbed", big, sites = places)[-2],
      export_states(run, "bed", out, sites = places)[-2]
    )
    plain <- rtracklayer::import(out)
    ranges <- rtracklayer::import(rtracklayer::BigBedFile(big))
    expect_identical(as.data.frame(ranges)[1:3], as.data.frame(plain)[1:3])
    expect_identical(ranges$name, plain$name)
  }
  expect_identical(GenomeInfoDb::seqlengths(ranges), c(chr1 = 400L, chr2 = 60L))

  none <- export_states(run, "bigbed", big, sites = sites[0, ])
  expect_identical(none$called + none$unknown, 0)
  expect_length(rtracklayer::import(rtracklayer::BigBedFile(big)), 0)
})

bytes_of <- function(path) readBin(path, "raw", file.size(path))

# Calls of several of bgzip's blocks.
long_calls <- function(seed) {
  set.seed(seed)
  random_calls(c(chr1 = 150000, chr2 = 60, chr10 = 7, chr11 = 121, chrX = 90000))
}

test_that("a FASTA file of all chromosomes has their calls, in lines, and an index", {
  calls <- long_calls(8)
  run <- calls_folder(calls)
  out <- file.path(new_folder(), "a", "b", "ancestral.fa")
  result <- export_states(run, "fasta", out)
  expect_identical(readLines(out), oracle_fasta(calls, 60))
  expect_identical(readLines(paste0(out, ".fai")), oracle_fai(calls, 60))
  expect_identical(content_of(dirname(out)), c("ancestral.fa", "ancestral.fa.fai"))
  called <- sum(nchar(gsub("[nN]", "", calls)))
  expect_identical(result, data.frame(
    chromosome = NA_character_, file = out, called = called + 0, filled = 0,
    unknown = sum(nchar(calls)) - called + 0
  ))
  for (width in c(1, 7, 60, 121, 2e9)) {
    export_states(run, "fasta", out, width = width)
    expect_identical(readLines(out), oracle_fasta(calls, width))
    expect_identical(readLines(paste0(out, ".fai")), oracle_fai(calls, width))
  }
  high <- export_states(run, "fasta", out, low_confidence = FALSE)
  calls <- gsub("[acgt]", "N", calls)
  expect_identical(readLines(out), oracle_fasta(calls, 60))
  expect_identical(high$called, sum(nchar(gsub("[nN]", "", calls))) + 0)
  export_states(run, "fasta", out, chromosomes = c("chr10", "chr2"), low_confidence = FALSE)
  expect_identical(readLines(out), oracle_fasta(calls[c("chr10", "chr2")], 60))
})

test_that("bgzip and its indexes are those of bgzip and samtools, with any threads", {
  require_htslib()
  require_tool("bgzip")
  calls <- long_calls(9)
  run <- calls_folder(calls)
  folder <- new_folder()
  at <- function(...) file.path(folder, paste0(...))
  export_states(run, "fasta", at("plain.fa"), width = 50)
  export_states(run, "fasta", at("one.fa.gz"), width = 50, threads = 1)
  export_states(run, "fasta", at("many.fa.gz"), width = 50, threads = 3)
  for (ending in c("", ".fai", ".gzi")) {
    expect_identical(bytes_of(at("one.fa.gz", ending)), bytes_of(at("many.fa.gz", ending)))
  }
  expect_identical(readLines(at("one.fa.gz.fai")), oracle_fai(calls, 50))
  unpacked <- run_program("bgzip", "-dc", at("one.fa.gz"))
  expect_identical(unpacked$out, oracle_fasta(calls, 50))
  file.copy(at("one.fa.gz"), at("again.fa.gz"))
  expect_identical(run_program("bgzip", "-r", at("again.fa.gz"))$status, 0L)
  expect_identical(bytes_of(at("again.fa.gz.gzi")), bytes_of(at("one.fa.gz.gzi")))
  expect_gt(file.size(at("one.fa.gz.gzi")), 8)

  # samtools, and the package Rsamtools, which has its code
  indexers <- list(
    if (requireNamespace("Rsamtools", quietly = TRUE)) Rsamtools::indexFa,
    if (nzchar(Sys.which("samtools"))) {
      function(path) expect_identical(run_program("samtools", "faidx", path)$status, 0L)
    }
  )
  for (index in Filter(Negate(is.null), indexers)) {
    for (name in c("plain.fa", "one.fa.gz")) {
      file.copy(at(name), at("copy-", name), overwrite = TRUE)
      index(at("copy-", name))
      made <- list.files(folder, paste0("^copy-", name, "[.](fai|gzi)$"))
      expect_length(made, if (name == "plain.fa") 1 else 2)
      for (file in made) expect_identical(bytes_of(at(file)), bytes_of(at(sub("copy-", "", file))))
      unlink(at(made))
    }
  }
})

test_that("Rsamtools finds any region by the indexes", {
  require_package("Rsamtools")
  calls <- long_calls(10)
  run <- calls_folder(calls)
  outs <- file.path(new_folder(), c("a.fa", if (!is.na(ancify_build_info()$htslib)) "a.fa.gz"))
  name <- sample(names(calls), 40, TRUE)
  start <- ceiling(runif(40) * nchar(calls)[name])
  end <- pmin(start + sample(c(0, 3, 100, 70000), 40, TRUE), nchar(calls)[name])
  places <- GenomicRanges::GRanges(name, IRanges::IRanges(start, end))
  for (out in outs) {
    export_states(run, "fasta", out)
    genome <- Rsamtools::FaFile(out)
    expect_identical(GenomeInfoDb::seqlengths(genome), nchar(calls))
    expect_identical(unname(as.character(Rsamtools::getSeq(genome, places))),
                     unname(toupper(substring(calls[name], start, end))))
  }
})

test_that("bcftools fills AA from the FASTA file, as documented", {
  require_htslib()
  require_tool("bcftools")
  set.seed(11)
  lengths <- c(chr1 = 3000, chr2 = 500)
  calls <- random_calls(lengths)
  position <- list(sort(sample(3000, 60)), sort(sample(500, 20)))
  records <- vcf_records(rep(names(lengths), lengths(position)), unlist(position), "A", "C")
  vcf <- write_vcf(records)
  folder <- new_folder()
  fasta <- file.path(folder, "ancestral.fa.gz")
  export_states(calls_folder(calls), "fasta", fasta)
  header <- file.path(folder, "aa.hdr")
  writeLines('##INFO=<ID=AA,Number=1,Type=String,Description="Ancestral allele">', header)
  result <- run_program("bcftools", "+fill-from-fasta", vcf, "--", "-c", "AA", "-f", fasta,
                        "-h", header, "-i", 'TYPE="snp"')
  expect_identical(result$status, 0L)
  filled <- sub(".*AA=([^;\t]*).*", "\\1", grep("^chr", result$out, value = TRUE))
  expect_identical(filled, toupper(unlist(Map(function(call, at) strsplit(call, "")[[1]][at], calls,
                                              position), use.names = FALSE)))
})

test_that("ANGSD's condition holds: the index is newer than its file, in whole seconds", {
  run <- calls_folder(c(chr1 = "ACGT"))
  outs <- file.path(new_folder(), c("a.fa", if (!is.na(ancify_build_info()$htslib)) "a.fa.gz"))
  for (out in outs) {
    export_states(run, "fasta", out)
    seconds <- floor(as.numeric(file.mtime(c(out, paste0(out, ".fai")))))
    expect_lt(seconds[1], seconds[2])
  }
})

test_that("a FASTA file replaces no calls, and is whole or absent", {
  run <- calls_folder(c(chr1 = "ACGT", chr2 = "TTTT"))
  before <- content_of(run)
  fails <- function(out, ..., class = "input", width = NULL) {
    expect_ancify_error(export_states(run, "fasta", out, width = width), class, ...)
  }
  fails(file.path(run, "chr2.fa"), "one file")
  fails(file.path(run, "all.fa"), "read as a chromosome")
  expect_identical(content_of(run), before)
  export_states(run, "fasta", file.path(run, "all.fasta"))
  expect_identical(call_files(run)$chromosome, c("chr1", "chr2"))

  folder <- new_folder()
  out <- file.path(folder, "a.fa")
  for (name in c("a", "a.fa.bz2", "a.gz", "a.txt")) fails(file.path(folder, name), ".fa.gz")
  for (width in list(0, -1, 1.5, NA, "6", c(60, 60), 3e9)) fails(out, "`width`", width = width)
  expect_ancify_error(export_states(run, "relate", out, width = 60), "input", "`width`")
  expect_ancify_error(export_states(run, "fasta", out, sites = "chr1:1-1"), "input", "`sites`")
  expect_ancify_error(export_states(run, "fasta", out, threads = 0), "input", "`threads`")
  expect_ancify_error(export_states(file.path(folder, "none"), "fasta", out), "file", "none")
  dir.create(file.path(folder, "b.fa"))
  fails(file.path(folder, "b.fa"), class = "file", "is a folder")
  expect_identical(content_of(folder), "b.fa")

  export_states(run, "fasta", out)
  old <- lapply(paste0(out, c("", ".fai")), bytes_of)
  writeLines(c(">chr2", "AC?T"), file.path(run, "chr2.fa"))
  fails(out, class = "format", "not a call")
  expect_identical(lapply(paste0(out, c("", ".fai")), bytes_of), old)
  expect_setequal(content_of(folder), c("a.fa", "a.fa.fai", "b.fa"))
})

test_that("a FASTA file on a full disk is an error, and leaves nothing", {
  run <- calls_folder(c(chr1 = strrep(random_calls(c(x = 1e5)), 5)))
  with_small_disk(100000, function(folder) {
    expect_ancify_error(export_states(run, "fasta", file.path(folder, "a.fa")), "file", "No space")
    expect_identical(content_of(folder), character())
    require_htslib()
    for (threads in c(1, 2)) {
      expect_ancify_error(
        export_states(run, "fasta", file.path(folder, "a.fa.gz"), threads = threads), "file",
        "No space"
      )
      expect_identical(content_of(folder), character())
    }
  })
})

test_that("bgzip needs htslib, and plain FASTA does not", {
  run <- calls_folder(c(chr1 = "ACGT"))
  check <- check_htslib
  with_function("check_htslib", function(...) check(NA, ...), {
    out <- file.path(new_folder(), "a.fa.gz")
    expect_ancify_error(export_states(run, "fasta", out), "package", "bgzip", "libhts-dev")
    export_states(run, "fasta", sub("[.]gz$", "", out))
    expect_identical(content_of(dirname(out)), c("a.fa", "a.fa.fai"))
  })
})

test_that("a run's result is exported as its folder is", {
  run <- ancify_run(ancify_example(), threads = 1, verbose = FALSE)
  folder <- dirname(run$file[1])
  from_run <- tempfile()
  from_folder <- tempfile()
  export_states(run, "bed", from_run)
  export_states(folder, "bed", from_folder)
  expect_setequal(readLines(from_run), readLines(from_folder))
})

test_that("what a format does not take or needs is an error", {
  run <- calls_folder(c(chr1 = "ACGT"))
  out <- tempfile()
  sites <- data.frame(chromosome = "chr1", position = 1)
  fails <- function(..., class = "input") expect_ancify_error(export_states(run, ...), class)
  expect_match(conditionMessage(fails("tsinfr", out)), "tsinfer")
  expect_match(conditionMessage(fails("tsinfer", out)), "needs `sites`")
  expect_match(conditionMessage(fails("slim", out)), "needs `reference`")
  expect_match(conditionMessage(fails("relate", out, sites = sites)), "not take `sites`")
  expect_match(conditionMessage(fails("bed", out, reference = "a.fa")), "not take `reference`")
  expect_match(conditionMessage(fails("bed", out, low_confidence = FALSE)), "`low_confidence`")
  expect_match(conditionMessage(fails("relate", out, chromosomes = "chr2")), "among 'chr1'")
  expect_match(conditionMessage(fails("bed", out, sites = sites, chromosomes = "chr1")), "leave")
  expect_match(conditionMessage(fails("bed", out, sites = 7)), "`sites` must be")
  expect_match(
    conditionMessage(fails("bed", out, sites = data.frame(chromosome = "chr1", position = NA))),
    "`sites` must be"
  )
  sites$position <- 5
  expect_match(conditionMessage(fails("tsinfer", out, sites = sites)), "chr1:5, is not inside")
  sites$chromosome <- "chr3"
  expect_match(conditionMessage(fails("tsinfer", out, sites = sites)), "'chr3'")
  fails("bed", new_folder(), class = "file")
  expect_false(file.exists(out))
})

test_that("no file that is read is replaced, and none is left half written", {
  calls <- c(chr1 = "ACGT", chr2 = "ACGNN")
  run <- calls_folder(calls)
  expect_ancify_error(export_states(run, "relate", run), "input", "one file")
  expect_identical(readLines(file.path(run, "chr2.fa")), c(">chr2", "ACGNN"))
  genome <- calls_folder(c(chr1 = "TTTT", chr2 = "TTTTT"))
  expect_ancify_error(export_states(run, "slim", genome, reference = genome), "input", "one file")
  expect_identical(readLines(file.path(genome, "chr1.fa")), c(">chr1", "TTTT"))

  out <- file.path(new_folder(), "new")
  short <- calls_folder(c(chr1 = "TTT", chr2 = "TTTTT"))
  expect_ancify_error(export_states(run, "slim", out, reference = short), "input", "3 bases")
  expect_false(file.exists(out))
  lacks <- calls_folder(c(chr1 = "TTTT"))
  expect_ancify_error(export_states(run, "slim", out, reference = lacks), "input", "'chr2'")
  expect_identical(list.files(out, all.files = TRUE, no.. = TRUE), "chr1.fa")

  writeLines(c(">chr2", "ACG?N"), file.path(run, "chr2.fa"))
  fresh <- file.path(new_folder(), "new")
  expect_ancify_error(export_states(run, "relate", fresh), "format", "not a call")
  expect_identical(list.files(fresh, all.files = TRUE, no.. = TRUE), "chr1.fa")
  bed <- file.path(new_folder(), "a.bed")
  expect_ancify_error(export_states(run, "bed", bed), "format", "not a call")
  expect_identical(list.files(dirname(bed), all.files = TRUE, no.. = TRUE), character())
})

test_that("sites of a damaged VCF leave no output", {
  require_htslib()
  vcf <- write_vcf(vcf_records("chr1", c(3, 1), "A", "C"))
  out <- tempfile()
  expect_ancify_error(
    export_states(calls_folder(c(chr1 = "ACGT")), "tsinfer", out, sites = vcf), "format"
  )
  expect_false(file.exists(out))
})

test_that("states do not replace calls of the run, whatever the format", {
  run <- calls_folder(c(chr1 = "ACGT", chr2 = "TTTT"))
  out <- file.path(run, "chr2.fa")
  site <- data.frame(chromosome = "chr1", position = 2)
  expect_ancify_error(export_states(run, "tsinfer", out, sites = site), "input", "one file")
  expect_ancify_error(export_states(run, "bed", out), "input", "one file")
  expect_ancify_error(export_states(run, "bed", out, chromosomes = "chr1"), "input", "one file")
  link <- tempfile()
  file.symlink(out, link)
  expect_ancify_error(export_states(run, "bed", link), "input", "one file")
  if (requireNamespace("rtracklayer", quietly = TRUE)) {
    expect_ancify_error(export_states(run, "bigbed", out), "input", "one file")
  }
  expect_identical(readLines(out), c(">chr2", "TTTT"))
})

test_that("states do not replace the VCF that they are for", {
  require_htslib()
  vcf <- write_vcf(vcf_records("chr1", 1, "A", "C"))
  before <- readLines(vcf)
  run <- calls_folder(c(chr1 = "ACGT"))
  for (format in c("tsinfer", "bed")) {
    expect_ancify_error(export_states(run, format, vcf, sites = vcf), "input", "one file")
  }
  expect_identical(readLines(vcf), before)
})

test_that("a FASTA of all chromosomes replaces no input of the run", {
  config <- ancify_example(new_folder())
  run <- ancify_run(config, threads = 1, progress = FALSE, verbose = FALSE)
  inputs <- inputs_of_run(run)
  lengths <- file.path(new_folder(), "genome.fa.fai")
  writeLines(sprintf("%s\t%d", names(config$lengths), config$lengths), lengths)
  attr(run, "config")$chromosome_lengths <- lengths
  attr(run, "config")$focal_fasta <- sub("genome", "focal", sub("[.]fai$", "", lengths))
  for (out in sub("[.]fai$", "", c(lengths, attr(run, "config")$focal_fasta))) {
    expect_ancify_error(export_states(run, "fasta", out, threads = 1), "input", "are one file")
    expect_false(file.exists(out))
  }
  expect_true(all(config$outgroups$alignment %in% inputs))
})
