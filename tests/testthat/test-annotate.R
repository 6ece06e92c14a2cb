# The reason of each record by the help page, in plain R. `calls`, `reference` (letters) and `mask`
# (flags) are vectors by position, in lists by chromosome.
oracle_reasons <- function(records, calls, reference = NULL, mask = NULL) {
  vapply(strsplit(records, "\t"), function(field) {
    position <- as.numeric(field[2])
    ref <- toupper(field[4])
    alts <- strsplit(toupper(field[5]), ",")[[1]]
    alts <- alts[!alts %in% c(".", no_alleles)]
    call <- calls[[field[1]]][position]
    if (is.null(call)) call <- "N"
    expected <- toupper(reference[[field[1]]][position])
    bases <- c("A", "C", "G", "T")
    if (!all(c(ref, alts) %in% bases)) {
      "INDEL"
    } else if (length(alts) > 1) {
      "MULTIALLELIC"
    } else if (isTRUE(expected %in% bases && expected != ref)) {
      "REF_MISMATCH"
    } else if (isTRUE(mask[[field[1]]][position])) {
      "MASKED"
    } else if (call == "n") {
      "UNRESOLVED"
    } else if (!toupper(call) %in% bases) {
      "NO_COVERAGE"
    } else if (!toupper(call) %in% c(ref, alts)) {
      "NEITHER_ALLELE"
    } else if (call %in% bases) {
      "OK"
    } else {
      "LOW"
    }
  }, "")
}

reason_names <- c("INDEL", "MULTIALLELIC", "REF_MISMATCH", "MASKED", "NO_COVERAGE", "UNRESOLVED",
                  "NEITHER_ALLELE", "LOW", "OK")

letters_of <- function(sequences) {
  stats::setNames(strsplit(unname(sequences), ""), names(sequences))
}

annotation_case <- function() {
  set.seed(7)
  calls <- c(chr1 = random_letters(400), chr2 = random_letters(90))
  info <- sample(c(".", "X=1", "AA=G", "AA=n;X=2", "FLAG;AA=T"), 300, TRUE)
  records <- random_vcf(nchar(calls), 150)
  fields <- strsplit(records, "\t")
  records <- vapply(seq_along(fields), function(i) {
    paste(c(fields[[i]][1:7], info[i], "GT:DP", "0|1:7", "./.:.", "1:3"), collapse = "\t")
  }, "")
  declared <- c(
    "##INFO=<ID=X,Number=1,Type=Integer,Description=\"x\">",
    "##INFO=<ID=AA,Number=.,Type=Integer,Description=\"another\">",
    "##INFO=<ID=FLAG,Number=0,Type=Flag,Description=\"f\">",
    "##ALT=<ID=DEL,Description=\"d\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">",
    "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"d\">"
  )
  header <- vcf_header(records, more = declared)
  list(calls = calls, records = records, header = header, vcf = write_vcf(records, header = header))
}

random_letters <- function(n) {
  paste(sample(c("A", "C", "G", "T", "a", "c", "g", "t", "n", "N", "-"), n, TRUE), collapse = "")
}

test_that("reasons and alleles are those of the plain implementation, in every form of input", {
  require_htslib()
  case <- annotation_case()
  calls <- letters_of(case$calls)
  reference <- lapply(calls, function(call) sample(c("A", "c", "G", "T", "N"), length(call), TRUE))
  mask <- lapply(calls, function(call) runif(length(call)) < 0.2)
  bed <- tempfile(fileext = ".bed")
  at <- lapply(mask, which)
  writeLines(c(
    "track name=x", sprintf("%s\t%d\t%d\tname", sub("chr", "", rep(names(at), lengths(at))),
                            unlist(at) - 1, unlist(at))[sample(sum(lengths(at)))]
  ), bed)
  genome <- write_fasta(vapply(reference, paste, "", collapse = ""), tempfile(fileext = ".fa"))

  folder <- new_folder()
  for (name in names(case$calls)) {
    write_fasta(case$calls[name], file.path(folder, paste0(name, ".fa")), 1e4)
    other <- stats::setNames(case$calls[name], paste0("ANCESTOR_for_chromosome:X:", name, ":1:9:1"))
    write_fasta(other, file.path(folder, sub("chr", "epo_", paste0(name, ".txt"))))
  }
  named <- stats::setNames(
    c(case$calls, "ACGT"),
    c("ANCESTOR_for_chromosome:GRCh38:1:1:400:1", "2 a description", "chrUn")
  )
  many <- write_fasta(named, tempfile(fileext = ".fa"))
  forms <- c(folder, file.path(folder, "epo_{chrom_id}.txt"), many, as_bgzip(many))
  for (form in forms) {
    plain <- annotate(case$vcf, form)
    reasons <- oracle_reasons(case$records, calls)
    lines <- records_of(plain$out)
    expect_identical(info_of(lines, "AA_reason"), reasons)
    expect_identical(plain$counts$reason, reason_names)
    expect_identical(plain$counts$records,
                     as.numeric(table(factor(reasons, reason_names))))
    call <- mapply(function(field) calls[[field[1]]][as.numeric(field[2])],
                   strsplit(case$records, "\t"))
    given <- ifelse(reasons == "INDEL" | call %in% c("n", "N", "-"), ".", call)
    expect_identical(info_of(lines, "AA"), given)
    chromosomes <- attr(plain$counts, "chromosomes")
    expect_identical(chromosomes$chromosome, c("chr1", "chr2"))
    expect_identical(chromosomes$records, c(150, 150))
  }
  expect_identical(chromosomes$sequence, c("ANCESTOR_for_chromosome:GRCh38:1:1:400:1", "2"))

  full <- annotate(case$vcf, folder, reference = genome, mask = bed)
  reasons <- oracle_reasons(case$records, calls, reference, mask)
  expect_identical(info_of(records_of(full$out), "AA_reason"), reasons)
  expect_true(all(full$counts$records > 0))
})

test_that("only the annotation's fields change, in every format and at any number of threads", {
  require_htslib()
  case <- annotation_case()
  fasta <- write_fasta(case$calls, tempfile(fileext = ".fa"))
  without <- function(lines) {
    fields <- do.call(rbind, strsplit(lines, "\t"))
    info <- gsub("(^|;)AA(_reason)?=[^;]*", "", fields[, 8])
    fields[, 8] <- ifelse(info == "", ".", sub("^;", "", info))
    fields
  }
  plain <- annotate(case$vcf, fasta)
  lines <- records_of(plain$out)
  expect_identical(without(lines), without(case$records))
  header <- grep("^##INFO=<ID=AA", readLines(plain$out), value = TRUE)
  expect_length(header, 2)
  expect_match(header, "ID=AA,Number=1,Type=String", all = FALSE)
  bcftools_lines("stats", plain$out)
  for (input in c(case$vcf, as_bgzip(case$vcf), as_bcf(case$vcf))) {
    for (ending in c(".vcf", ".vcf.gz", ".bcf")) {
      for (threads in c(1, 4)) {
        result <- annotate(input, fasta, out = tempfile(fileext = ending), threads = threads)
        expect_identical(bcftools_lines("view", result$out, "-H"), lines)
        expect_identical(result$counts, plain$counts)
      }
    }
  }
})

test_that("an output is never an input, and an earlier index is named", {
  require_htslib()
  folder <- new_folder()
  case <- annotation_case()
  fasta <- write_fasta(case$calls, file.path(folder, "a.fa"))
  vcf <- file.path(folder, "v.vcf")
  file.copy(case$vcf, vcf)
  file.symlink(vcf, file.path(folder, "link.vcf"))
  before <- readLines(vcf)
  spellings <- c(vcf, file.path(folder, ".", "v.vcf"), file.path(folder, "link.vcf"))
  for (out in spellings) {
    expect_ancify_error(annotate(vcf, fasta, out = out), "input", "`out` and `vcf` are one file")
  }
  expect_identical(readLines(vcf), before)

  out <- file.path(folder, "out.vcf.gz")
  expect_no_warning(annotate(vcf, fasta, out = out))
  bcftools_lines("index", out)
  expect_warning(annotate(vcf, fasta, out = out), "out.vcf.gz.csi.*bcftools index -f\\)",
                 class = "ancify_annotation_warning")
})

test_that("new calls remove the posteriors of earlier ones", {
  require_htslib()
  declared <- sprintf(
    "##INFO=<ID=%s,Number=.,Type=Float,Description=\"x\">", c("AA_prob", "AA_post")
  )
  record <- vcf_records("1", 1, "A", "C", "AA=C;AA_prob=0.9;AA_post=0,1,0,0;AA_reason=OK")
  vcf <- write_vcf(record, header = vcf_header(record, more = declared))
  result <- annotate(vcf, write_fasta(c("1" = "a"), tempfile()))
  expect_identical(records_of(result$out), vcf_records("1", 1, "A", "C", "AA=a;AA_reason=LOW"))
})

test_that("a field that a record has twice becomes one", {
  require_htslib()
  records <- vcf_records("1", 1:2, "A", "C", c("AA=G;DP=1;AA=T", "AA_prob=1;AA_reason=x;AA=G;AA=T"))
  vcf <- write_vcf(records)
  for (input in c(vcf, as_bgzip(vcf))) {
    lines <- records_of(annotate(input, write_fasta(c("1" = "An"), tempfile()))$out)
    expect_identical(lines[1], vcf_records("1", 1, "A", "C", "AA=A;DP=1;AA_reason=OK"))
    expect_identical(lines[2], vcf_records("1", 2, "A", "C", "AA_reason=UNRESOLVED"))
  }
})

test_that("real variants get back their own alleles", {
  require_htslib()
  vcf <- variant_annotation_vcf()
  fields <- do.call(rbind, strsplit(
    bcftools_lines("query", vcf, c("-f", "%POS\t%REF\t%ALT\t%INFO/AA\n")), "\t"
  ))
  position <- as.numeric(fields[, 1])
  # As bytes: there are 50 million.
  base <- rep(charToRaw("N"), max(position))
  known <- fields[, 4] %in% c("A", "C", "G", "T", "a", "c", "g", "t")
  base[position[known]] <- charToRaw(paste(fields[known, 4], collapse = ""))
  fasta <- write_fasta(c(chr22 = rawToChar(base)), tempfile(fileext = ".fa"), length(base))
  result <- annotate(vcf, fasta, out = tempfile(fileext = ".vcf.gz"))
  expect_identical(sum(result$counts$records), as.numeric(nrow(fields)))
  expect_identical(attr(result$counts, "chromosomes")$sequence, "chr22")

  got <- do.call(rbind, strsplit(
    bcftools_lines("query", result$out, c("-f", "%POS\t%REF\t%ALT\t%INFO/AA\t%INFO/AA_reason\n")),
    "\t"
  ))
  expect_identical(got[, 1:3], fields[, 1:3])
  # Single-base records at positions without a second record.
  at_position <- rawToChar(base[position], multiple = TRUE)
  can <- known & nchar(fields[, 2]) == 1 & nchar(fields[, 3]) == 1 & at_position == fields[, 4]
  expect_identical(got[can, 4], fields[can, 4])
  expect_gt(sum(can), 9000)
  expect_lte(sum(known & !can), sum(got[, 5] == "INDEL") + sum(duplicated(position)))
  bcftools_lines("view", result$out, "-H")
  bcftools_lines("stats", result$out)
  same <- function(path) bcftools_lines("annotate", path, c("-x", "INFO"))
  strip <- function(lines) lines[!startsWith(lines, "#")]
  expect_identical(strip(same(result$out)), strip(same(vcf)))
})

test_that("a run's posteriors become AA_prob", {
  require_htslib()
  config <- example_with_posteriors()
  run <- run_quietly(config, threads = 2)
  set.seed(2)
  position <- sort(sample(25000, 500))
  call <- strsplit(readLines(run$file[2])[2], "")[[1]][position]
  records <- vcf_records("2", position, "A", "T")
  result <- annotate(write_vcf(records), run)
  lines <- records_of(result$out)
  phred <- read_posterior(config$output_dir, "chr2")[position]
  called <- !toupper(call) %in% "N"
  expect_identical(info_of(lines, "AA"), ifelse(called, call, "."))
  prob <- suppressWarnings(as.numeric(info_of(lines, "AA_prob")))
  expect_identical(is.na(prob), !called)
  expect_equal(prob[called], 1 - 10^(-phred[called] / 10), tolerance = 1e-5)
  expect_match(readLines(result$out), "ID=AA_prob,Number=1,Type=Float", all = FALSE)
  expect_identical(attr(result$counts, "chromosomes")$sequence, run$file[2])
})

test_that("the log has each chromosome's sequence, and a missing one is a warning", {
  require_htslib()
  vcf <- write_vcf(vcf_records(c("chr1", "chr3"), 1, "A", "C"))
  fasta <- write_fasta(c("1" = "A", "2" = "C"), tempfile(fileext = ".fa"))
  out <- tempfile(fileext = ".vcf")
  lines <- suppressWarnings(log_lines(annotate_vcf(vcf, fasta, out)))
  expect_match(lines[1], "chr1: 1 records, ancestral sequence '1'", fixed = TRUE)
  caught <- expect_one_warning(annotate(vcf, fasta), "annotation", "'chr3'", "1 records")
  expect_identical(info_of(records_of(caught$value$out), "AA_reason"), c("OK", "NO_COVERAGE"))
  expect_identical(attr(caught$value$counts, "chromosomes")$sequence, c("1", NA))

  # The header declares no chromosome: the file is read first, and the result declares them.
  records <- vcf_records(c("chr1", "chr2"), 1, "A", "C")
  bare <- write_vcf(records, header = vcf_header(records, contigs = character()))
  result <- annotate(bare, fasta, out = tempfile(fileext = ".bcf"))
  expect_match(bcftools_lines("view", result$out, "-h"), "contig=<ID=chr2>", all = FALSE)
})

test_that("a part of a chromosome with Ensembl's name has its coordinates", {
  require_htslib()
  vcf <- write_vcf(vcf_records("Y", 1:5, "A", "C"))
  fasta <- write_fasta(c("ANCESTOR_for_chromosome:GRCh37:Y:3:5:1" = "ACc"), tempfile())
  for (ancestral in c(fasta, sub("[^/]*$", "{chrom}.fa", fasta))) {
    if (ancestral != fasta) file.copy(fasta, sub("{chrom}", "Y", ancestral, fixed = TRUE))
    lines <- records_of(annotate(vcf, ancestral)$out)
    expect_identical(info_of(lines, "AA"), c(".", ".", "A", "C", "c"))
    expect_identical(info_of(lines, "AA_reason"), rep(c("NO_COVERAGE", "OK", "LOW"), c(2, 2, 1)))
  }
  minus <- write_fasta(c("ANCESTOR_for_chromosome:GRCh37:Y:3:5:-1" = "ACc"), tempfile())
  expect_ancify_error(annotate(vcf, minus), "format", "line 1", "minus strand")
})

test_that("a file without records has 0 records of all reasons", {
  require_htslib()
  vcf <- tempfile_of(
    c("##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO")
  )
  fasta <- write_fasta(c(chr1 = "A"), tempfile(fileext = ".fa"))
  out <- tempfile(fileext = ".vcf")
  for (ancestral in c(fasta, new_folder())) {
    report <- annotate_vcf(vcf, ancestral, out, verbose = FALSE)
    expect_identical(sum(report$records), 0)
    expect_match(readLines(out), "ID=AA_reason", all = FALSE)
  }
})

test_that("invalid input is an error with its place, and leaves no file", {
  require_htslib()
  folder <- new_folder()
  out <- file.path(folder, "out.vcf")
  fasta <- write_fasta(c(chr1 = strrep("A", 50)), tempfile(fileext = ".fa"))
  good <- vcf_records("chr1", c(1, 30, 50), "A", "C")
  refused <- function(class, ..., vcf = write_vcf(good), ancestral = fasta, to = out,
                      reference = NULL, mask = NULL) {
    expect_ancify_error(
      annotate_vcf(vcf, ancestral, to, reference = reference, mask = mask, threads = 2,
                   verbose = FALSE),
      class, ...
    )
    expect_identical(content_of(folder), character())
  }
  expect_line <- function(condition, line) expect_identical(condition$line, line)
  vcf <- write_vcf(c(good, vcf_records("chr1", 51, "A", "C")))
  refused("format", vcf, "record 4", "line 7", "position 51", "50 bases", vcf = vcf)
  refused("format", "record 3", "sort", vcf = write_vcf(good[c(1, 3, 2)]))
  refused("format", "record 2", "3 of the 8", vcf = write_vcf(c(good[1], "chr1\t30\t.")))
  refused("format", "record 1", "number of samples",
          vcf = write_vcf(paste0(good[1], "\tGT\t0|1"), header = vcf_header(
            paste0(good[1], "\tGT\t0|1\t0|1")
          )))
  for (more in c("\tGT", "\tGT\t0|1")) {
    refused("format", "record 2", "line 5", "names no samples", vcf = write_vcf(
      c(good[1], paste0(good[2], more)), header = vcf_header(good)
    ))
  }
  refused("format", "neither VCF nor BCF", vcf = write_vcf(good, header = character()))
  refused("input", "none of the chromosomes", "'chr1'", "'chr7'",
          ancestral = write_fasta(c(chr7 = "A"), tempfile()))
  refused("input", "`ancestral`", "no file for 'chr1'", ancestral = new_folder())
  refused("input", "`reference`", "{chrom}.fa", reference = file.path(tempdir(), "no{chrom}.fa"))
  refused("file", "nowhere", ancestral = "nowhere")
  refused("file", "nowhere", vcf = "nowhere")
  refused("format", "line 1", "not a FASTA", ancestral = write_vcf(good))
  refused("format", "line 3", "second sequence",
          ancestral = write_fasta(c(chr1 = "A", "1" = "A"), tempfile()))
  bed <- tempfile()
  writeLines(c("chr1\t1\t2", "chr1\t5\tx"), bed)
  refused("format", "line 2", "BED", mask = bed)
  writeLines("chr9\t1\t2", bed)
  refused("input", bed, "no region", mask = bed)
  refused("input", "`out`", ".vcf.gz", to = file.path(folder, "out.txt"))
  refused("input", "`vcf`", vcf = 1)
  mask <- tempfile(fileext = ".vcf")
  writeLines("chr1\t1\t2", mask)
  refused("input", "`out` and `mask` are one file", mask = mask, to = mask)
  expect_identical(readLines(mask), "chr1\t1\t2")
  refused("format", "no sequence", ancestral = tempfile_of(character()))
  far <- write_vcf(c(good, vcf_records("chr2", "3000000000", "A", "C")))
  suppressWarnings(
    refused("format", "record 4", "too large for BCF", vcf = far, to = file.path(folder, "o.bcf"))
  )
  undeclared <- write_vcf(c(good, vcf_records("chr2", 1, "A", "C")), header = vcf_header(good))
  refused("format", "record 4", "not declared", vcf = undeclared, to = file.path(folder, "o.bcf"))
  # No sequence was looked for on a chromosome that is not declared.
  refused("format", "record 4", "'chr2' is not declared", vcf = undeclared)
})

test_that("positions of another genome build are a warning", {
  set.seed(31)
  n <- 4000
  genome <- sample(c("A", "C", "G", "T"), n, TRUE)
  folder <- new_folder()
  for (name in c("chr1", "chr2")) {
    writeLines(c(paste0(">", name), paste(genome, collapse = "")),
               file.path(folder, paste0(name, ".fa")))
  }
  other <- c(A = "C", C = "G", G = "T", T = "A")
  records <- function(name, count, shift) {
    at <- sort(sample(n - 100, count))
    sprintf("%s\t%d\t.\t%s\t%s\t.\t.\t.", name, at + shift, genome[at], other[genome[at]])
  }
  annotate <- function(..., reference = NULL) {
    vcf <- tempfile(fileext = ".vcf")
    writeLines(c(
      "##fileformat=VCFv4.2", "##contig=<ID=chr1>", "##contig=<ID=chr2>",
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO", ...
    ), vcf)
    annotate_vcf(vcf, folder, tempfile(fileext = ".vcf"), reference, verbose = FALSE)
  }
  warns <- function(text, ...) {
    expect_warning(annotate(...), text, class = "ancify_annotation_warning")
  }
  good <- records("chr1", 1500, 0)
  expect_no_warning(annotate(good))
  expect_no_warning(annotate(good, reference = folder))
  bad <- records("chr1", 1500, 50)
  warns("of 1,500 records are NEITHER_ALLELE. Check whether its positions", bad)
  warns("of 1,500 records are REF_MISMATCH. Check the genome build", bad, reference = folder)

  # One bad chromosome, and few records on each of two
  many <- records("chr1", 3900, 0)
  warns("of 1,000 records on chr2 are NEITHER_ALLELE", many, records("chr2", 1000, 50))
  expect_no_warning(annotate(many, records("chr2", 999, 50)))
  warns("of 1,998 records are NEITHER", records("chr1", 999, 50), records("chr2", 999, 50))
})

test_that("a mask may have a chromosome by two names", {
  require_htslib()
  vcf <- write_vcf(vcf_records("1", 1:3, "A", "C", "AA=A"))
  mask <- tempfile(fileext = ".bed")
  writeLines(c("1\t0\t1", "chr1\t2\t3"), mask)
  found <- annotate_vcf(vcf, "AA", tempfile(fileext = ".vcf"), mask = mask, progress = FALSE)
  expect_equal(found$records[found$reason == "MASKED"], 2)
})
