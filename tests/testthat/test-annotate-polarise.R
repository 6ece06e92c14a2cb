# A polarised record in plain R. `line`: text. `kinds`: what each field's values describe, named as
# "INFO/AD": A, R or G as Number has them, or "count", "share", "dose", "strand" or "phased". Gives
# list(line =, dropped =).
oracle_swapped <- function(line, kinds) {
  field <- strsplit(line, "\t")[[1]]
  info <- strsplit(strsplit(field[8], ";")[[1]], "=")
  value <- stats::setNames(vapply(info, function(x) x[2], ""), vapply(info, `[`, "", 1))
  format <- strsplit(field[9], ":")[[1]]
  samples <- do.call(rbind, strsplit(field[-(1:9)], ":"))
  dropped <- character()
  old_ref <- field[4]
  field[4:5] <- field[5:4]

  for (i in seq_along(format)) {
    kind <- kinds[paste0("FORMAT/", format[i])]
    if (format[i] == "GT") {
      samples[, i] <- chartr("01", "10", samples[, i])
    } else if (!is.na(kind)) {
      copies <- rep(0, nrow(samples))
      if ("GT" %in% format) {
        genotypes <- samples[, format == "GT"] # exchanged already, if GT comes first
        copies <- lengths(strsplit(genotypes, "[/|]"))
        # A dot has no ploidy of its own, but that of the others if they have one.
        others <- unique(copies[genotypes != "."])
        if (kind == "dose") copies[genotypes == "."] <- if (length(others) == 1) others else 0
      }
      new <- mapply(oracle_changed, samples[, i], kind, copies)
      if (anyNA(new)) dropped <- c(dropped, paste0("FORMAT/", format[i])) else samples[, i] <- new
    }
  }
  for (id in names(value)) {
    kind <- kinds[paste0("INFO/", id)]
    if (is.na(kind) || value[id] == ".") next
    all <- if (kind == "count") value[sub("AC", "AN", id)] else 0
    new <- oracle_changed(value[id], kind, as.integer(all))
    if (is.na(new)) dropped <- c(dropped, paste0("INFO/", id)) else value[id] <- new
  }

  value <- value[!paste0("INFO/", names(value)) %in% dropped]
  flag <- is.na(value)
  field[8] <- paste(ifelse(flag, names(value), paste0(names(value), "=", value)), collapse = ";")
  keep <- !paste0("FORMAT/", format) %in% dropped
  field[9] <- paste(format[keep], collapse = ":")
  field[-(1:9)] <- apply(samples[, keep, drop = FALSE], 1, paste, collapse = ":")
  list(line = paste(field, collapse = "\t"), old_ref = old_ref, dropped = dropped)
}

# NA if impossible. `all`: the ploidy of a sample, 0 if unknown; or all copies of a count.
oracle_changed <- function(text, kind, all) {
  values <- strsplit(text, ",")[[1]]
  n <- length(values)
  if (text == ".") {
    return(text)
  }
  if (kind %in% c("count", "share", "dose")) {
    most <- if (kind == "share") 1 else all
    if (n != 1 && kind != "share" || is.na(most) || most == 0 && kind == "dose") {
      return(NA_character_)
    }
    new <- most - suppressWarnings(as.numeric(values))
    if (any(new < 0 | new > most, na.rm = TRUE)) {
      return(NA_character_)
    }
    return(paste(ifelse(is.na(new), ".", sprintf("%g", new)), collapse = ","))
  }
  if (kind == "phased") {
    return(chartr("01", "10", text))
  }
  order <- if (kind == "R" && n == 2 || kind == "G" && n >= max(2, all + 1)) {
    n:1
  } else if (kind == "strand" && n == 4) {
    c(3, 4, 1, 2)
  }
  if (is.null(order)) NA_character_ else paste(values[order], collapse = ",")
}

declare <- function(column, id, number, type) {
  sprintf("##%s=<ID=%s,Number=%s,Type=%s,Description=\"x\">", column, id, number, type)
}

field_kinds <- c(
  "INFO/AC" = "count", "INFO/AF" = "share", "INFO/EUR_AF" = "share", "INFO/LDAF" = "share",
  "INFO/AC_afr" = "count", "INFO/AF_popmax" = "A", "INFO/DP4" = "strand", "FORMAT/DS" = "dose",
  "FORMAT/HDS" = "share", "FORMAT/PGT" = "phased", "INFO/MLEAC" = "A", "INFO/CIGAR" = "A",
  "INFO/XR" = "R", "INFO/XS" = "R", "INFO/XG" = "G", "FORMAT/AD" = "R", "FORMAT/SR" = "R",
  "FORMAT/PL" = "G", "FORMAT/GL" = "G", "FORMAT/GS" = "G", "FORMAT/EC" = "A"
)

# Fields of all kinds, with values that htslib does not change. AD and CIGAR are reserved, but their
# declarations differ from the standard.
polarising_header <- function(records) {
  vcf_header(records, more = c(
    declare("INFO", c("AC", "AF", "AN", "MLEAC", "CIGAR", "XR", "XS", "XG", "DP", "FL", "DP4"),
            c("A", "A", "1", "A", ".", "R", "R", "G", "1", "0", "4"),
            c("Integer", "Float", "Integer", "Integer", "String", "Integer", "String", "Float",
              "Integer", "Flag", "Integer")),
    declare("INFO", c("EUR_AF", "LDAF", "AC_afr", "AN_afr", "AF_popmax", "AF_src"), "1",
            c("Float", "Float", "Integer", "Integer", "Float", "String")),
    declare("FORMAT", c("GT", "AD", "SR", "PL", "GL", "GS", "EC", "DP", "DS", "HDS", "PGT"),
            c("1", ".", "R", "G", "G", "G", "A", "1", "1", ".", "1"),
            c("String", "Integer", "String", "Integer", "Float", "String", "Integer", "Integer",
              "Float", "Float", "String"))
  ))
}

# `drops`: whether to include fields that cannot be recomputed.
polarising_case <- function(n = 120, drops = TRUE) {
  set.seed(11)
  one_of <- function(...) sample(c(...), 1)
  values <- function(n, make) {
    if (runif(1) < 0.1) return(".")
    value <- as.character(make(n))
    value[runif(n) < 0.1] <- "."
    if (all(value == ".")) "." else paste(value, collapse = ",")
  }
  numbers <- function(n) {
    sample(c(0:9, 100, 200, 40000, 3e6), n, TRUE) |> format(scientific = FALSE, trim = TRUE)
  }
  fractions <- function(n) sample(c("-0.5", "0", "-12.25", "3"), n, TRUE)
  words <- function(n) sample(c("a", "bcd", "x y"), n, TRUE)
  wrong <- function() if (drops && runif(1) < 0.05) 1 else 0
  sample_of <- function(format) {
    copies <- one_of(1, 2, 2, 2, 3)
    alleles <- sample(c("0", "1", "."), copies, TRUE, c(5, 5, 1))
    genotype <- paste(alleles, collapse = one_of("/", "|"))
    paste(vapply(format, function(id) {
      switch(id,
        GT = genotype, AD = values(2 + wrong(), numbers), SR = values(2, words),
        PL = values(copies + 1 - wrong(), numbers), GL = values(copies + 1, fractions),
        GS = values(copies + 1 - wrong(), words), EC = values(1, numbers), DP = "7",
        DS = if (!drops && genotype == ".") {
          "."
        } else if (wrong()) {
          "3.5"
        } else {
          values(1, function(n) one_of("0", "0.5", "1"))
        },
        HDS = values(2, function(n) sample(c("0", "0.25", "1"), n, TRUE)),
        PGT = values(1, function(n) one_of("0|1", "1|1", "1|0"))
      )
    }, ""), collapse = ":")
  }
  info_of <- function(alts) {
    an <- sample(20, 1)
    some <- c(
      if (alts) paste0("AC=", paste(rep(sample(0:(an %/% alts), 1), alts), collapse = ",")),
      "AF=0.125", if (!drops || runif(1) < 0.8) paste0("AN=", an),
      paste0("XR=", values(2 + wrong(), numbers)),
      paste0("XS=", values(2, function(n) c("u", "vw"))),
      paste0("XG=", values(3, fractions)), "DP=9", "FL", "EUR_AF=0.25", "LDAF=1", "AF_src=x",
      paste0("DP4=", values(4 + wrong(), numbers)), if (drops) "AF_popmax=0.5",
      if (!drops || runif(1) < 0.8) paste0("AN_afr=", an), paste0("AC_afr=", sample(0:an, 1)),
      if (drops) c("MLEAC=3", "CIGAR=1X")[one_of(1, 2)]
    )
    paste(sample(some), collapse = ";")
  }
  alleles <- t(replicate(n, sample(c("A", "C", "G", "T"), 2)))
  alleles[sample(n, 10), 2] <- c("AC", "<DEL>", "*", ".", "G,T")
  records <- vapply(seq_len(n), function(i) {
    known <- runif(1) < 0.9
    format <- c("GT"[known], sample(c(
      "AD", "SR", "PL", "GL", "GS", "DP", "HDS", "PGT", "DS"[known || drops], "EC"[drops]
    )))
    paste(c(
      vcf_records("1", 3 * i, alleles[i, 1], alleles[i, 2],
                  info_of(lengths(strsplit(sub("^[.]$", "", alleles[i, 2]), ",")))),
      paste(format, collapse = ":"), replicate(4, sample_of(format))
    ), collapse = "\t")
  }, "")
  calls <- rep("N", 3 * n)
  call <- ifelse(runif(n) < 0.7, alleles[, 2], alleles[, 1])
  call <- ifelse(nchar(call) == 1 & !call %in% c("*", "."), call, "T")
  calls[3 * seq_len(n)] <- ifelse(runif(n) < 0.5, tolower(call), call)
  list(
    records = records, alleles = alleles,
    vcf = write_vcf(records, header = polarising_header(records)),
    fasta = write_fasta(c("1" = paste(calls, collapse = "")), tempfile(fileext = ".fa"))
  )
}

without_annotation <- function(lines) {
  field <- do.call(rbind, strsplit(lines, "\t"))
  info <- gsub("(^|;)AA(_reason|_old_ref)?=[^;]*", "", field[, 8])
  field[, 8] <- sub("^;", "", info)
  apply(field, 1, paste, collapse = "\t")
}

sort_info <- function(lines) {
  field <- do.call(rbind, strsplit(lines, "\t"))
  field[, 8] <- vapply(strsplit(field[, 8], ";"), function(x) paste(sort(x), collapse = ";"), "")
  apply(field, 1, paste, collapse = "\t")
}

test_that("polarised records are those of the plain implementation, in every format", {
  require_htslib()
  case <- polarising_case()
  plain <- records_of(annotate(case$vcf, case$fasta)$out)
  reason <- info_of(plain, "AA_reason")
  swaps <- reason %in% c("LOW", "OK") & toupper(info_of(plain, "AA")) == case$alleles[, 2]
  expect_gt(sum(swaps & reason == "LOW"), 10)
  expect_gt(sum(swaps & reason == "OK"), 10)
  expected <- lapply(case$records[swaps], oracle_swapped, field_kinds)

  result <- annotate(case$vcf, case$fasta, polarise = TRUE)
  lines <- records_of(result$out)
  expect_identical(lines[!swaps], plain[!swaps])
  expect_identical(without_annotation(lines)[swaps], vapply(expected, `[[`, "", "line"))
  expect_identical(info_of(lines, "AA_old_ref"), ifelse(swaps, case$alleles[, 1], "."))
  expect_identical(info_of(lines, "AA"), info_of(plain, "AA"))
  expect_identical(info_of(lines, "AA_reason"), reason)

  expect_identical(sum(result$counts$records), as.numeric(length(lines)))
  expect_identical(attr(result$counts, "swapped"), as.numeric(sum(swaps)))
  dropped <- table(unlist(lapply(expected, `[[`, "dropped")))
  # Byte order, independent of the locale.
  dropped <- dropped[order(names(dropped), method = "radix")]
  expect_identical(
    attr(result$counts, "dropped"),
    data.frame(field = names(dropped), records = as.numeric(dropped))
  )
  expect_true(all(c("FORMAT/AD", "FORMAT/DS", "FORMAT/EC", "FORMAT/GS", "FORMAT/PL", "INFO/AC",
                    "INFO/AC_afr", "INFO/AF_popmax", "INFO/CIGAR", "INFO/DP4", "INFO/MLEAC",
                    "INFO/XR") %in% names(dropped)))

  header <- readLines(result$out)
  expect_length(grep("^##ancify_polarised=\"REF is the ancestral allele", header), 1)
  expect_match(header, "ID=AA_old_ref,Number=1,Type=String", all = FALSE)
  bcftools_lines("stats", result$out)
  for (input in c(case$vcf, as_bgzip(case$vcf), as_bcf(case$vcf))) {
    for (ending in c(".vcf", ".vcf.gz", ".bcf")) {
      other <- annotate(input, case$fasta, polarise = TRUE, out = tempfile(fileext = ending))
      expect_identical(bcftools_lines("view", other$out, "-H"), lines)
      expect_identical(other$counts, result$counts)
    }
  }
})

test_that("records that are polarised twice are the original", {
  require_htslib()
  case <- polarising_case(drops = FALSE)
  once <- annotate(case$vcf, case$fasta, polarise = TRUE)
  expect_identical(nrow(attr(once$counts, "dropped")), 0L)
  refs <- rep("N", 3 * nrow(case$alleles))
  refs[3 * seq_len(nrow(case$alleles))] <- case$alleles[, 1]
  back <- write_fasta(c("1" = paste(refs, collapse = "")), tempfile(fileext = ".fa"))
  twice <- annotate(once$out, back, polarise = TRUE)
  expect_identical(attr(twice$counts, "swapped"), attr(once$counts, "swapped"))
  lines <- records_of(twice$out)
  expect_identical(without_annotation(lines), case$records)
  expect_identical(unique(info_of(lines, "AA_old_ref")), ".")
  expect_length(grep("^##ancify_polarised", readLines(twice$out)), 1)

  # The same calls again exchange nothing, and AA_old_ref stays.
  again <- annotate(once$out, case$fasta, polarise = TRUE)
  expect_identical(attr(again$counts, "swapped"), 0)
  same <- info_of(records_of(once$out), "AA_old_ref")
  expect_identical(info_of(records_of(again$out), "AA_old_ref"), same)
})

test_that("AF of real polarised genotypes equals that recomputed from them", {
  require_htslib()
  require_tool("bcftools")
  fill <- function(from) {
    to <- tempfile(fileext = ".vcf")
    run_program("bcftools", "+fill-tags", from, "-o", to, "--", "-t", "AN,AC,AF")
    to
  }
  lines <- readLines(fill(variant_annotation_vcf()))
  filled <- tempfile_of(utils::head(lines, 2000))
  records <- records_of(filled)
  field <- do.call(rbind, strsplit(records, "\t"))
  set.seed(3)
  position <- as.numeric(field[, 2])
  call <- substr(ifelse(runif(length(position)) < 0.3, field[, 4], field[, 5]), 1, 1)
  # As bytes: there are 50 million.
  bases <- rep(charToRaw("N"), max(position))
  bases[position] <- charToRaw(paste(gsub("[^ACGT]", "N", call), collapse = ""))
  fasta <- write_fasta(c(chr22 = rawToChar(bases)), tempfile(fileext = ".fa"), length(bases))
  result <- annotate(filled, fasta, polarise = TRUE)
  lines <- records_of(result$out)
  swaps <- info_of(lines, "AA_old_ref") != "."
  expect_gt(sum(swaps), 1000)

  kinds <- c(
    "INFO/AC" = "count", "INFO/AF" = "share", "INFO/LDAF" = "share", "FORMAT/GL" = "G",
    "FORMAT/DS" = "dose",
    stats::setNames(rep("share", 4), sprintf("INFO/%s_AF", c("AFR", "AMR", "ASN", "EUR")))
  )
  expected <- vapply(records[swaps], function(line) oracle_swapped(line, kinds)$line, "")
  # The input had a field AA.
  plain <- function(lines) sort_info(without_annotation(lines))
  expect_identical(plain(lines[swaps]), plain(unname(expected)))
  expect_identical(plain(lines[!swaps]), plain(records[!swaps]))
  expect_identical(nrow(attr(result$counts, "dropped")), 0L)

  again <- records_of(fill(result$out))
  expect_identical(info_of(lines, "AC"), info_of(again, "AC"))
  expect_identical(info_of(lines, "AN"), info_of(again, "AN"))
  expect_equal(as.numeric(info_of(lines, "AF")), as.numeric(info_of(again, "AF")),
               tolerance = 1e-5)
  bcftools_lines("stats", result$out)
})

test_that("the dose of a sample without a genotype needs a ploidy that all others have", {
  require_htslib()
  fasta <- write_fasta(c("1" = "C"), tempfile(fileext = ".fa"))
  dose <- function(...) {
    record <- paste(c(vcf_records("1", 1, "A", "C"), "GT:DS", ...), collapse = "\t")
    header <- vcf_header(record, more = declare("FORMAT", c("GT", "DS"), "1", c("String", "Float")))
    annotate(write_vcf(record, header = header), fasta, polarise = TRUE)
  }
  expect_match(records_of(dose("0/1:1", ".:0.25")$out), "\tGT:DS\t1/0:1\t.:1.75$")
  expect_match(records_of(dose("1:1", ".:0.25")$out), "\tGT:DS\t0:0\t.:0.75$")
  for (first in c("0/1:1", "0/1:.")) {
    mixed <- dose(first, "1:1", ".:0.25")
    expect_match(records_of(mixed$out), "\tGT\t1/0\t0\t.$")
    expect_identical(attr(mixed$counts, "dropped"),
                     data.frame(field = "FORMAT/DS", records = 1), ignore_attr = TRUE)
  }
})

test_that("fields to keep stay as they are", {
  require_htslib()
  folder <- new_folder()
  fasta <- write_fasta(c("1" = "C"), file.path(folder, "a.fa"))
  record <- paste0(vcf_records("1", 1, "A", "C", "AF=0.25;XA=3"), "\tGT:DS\t0/1:0.75")
  vcf <- write_vcf(record, header = vcf_header(record, more = c(
    declare("INFO", c("AF", "XA"), c("A", "A"), c("Float", "Integer")),
    declare("FORMAT", c("GT", "DS"), "1", c("String", "Float"))
  )))
  out <- file.path(folder, "out.vcf")
  polarised <- function(...) annotate(vcf, fasta, polarise = TRUE, out = out, ...)
  expect_match(records_of(polarised()$out), "\tAF=0.75;.*\tGT:DS\t1/0:1.25$")
  kept <- polarised(keep_fields = c("INFO/AF", "INFO/XA", "FORMAT/DS"))
  expect_match(records_of(kept$out), "\tAF=0.25;XA=3;.*\tGT:DS\t1/0:0.75$")
  expect_identical(nrow(attr(kept$counts, "dropped")), 0L)

  # Numbers in texts, as of ANNOVAR, and names of later programs
  texts <- c("AF_afr", "AF_popmax", "AC_nfe", "CAF", "TOPMED", "AF1", "AF_src", "NCBI_AC")
  values <- c(0.8, "0.9,1e-05", 8, "0.1,0.9", "0.2,0.8", 1, "gnomAD4", 17)
  info <- paste0(texts, "=", values, collapse = ";")
  record <- vcf_records("1", 1, "A", "C", paste0(info, ";AA=c"))
  vcf <- write_vcf(record, header = vcf_header(record, more = c(
    declare("INFO", texts, ".", "String"), declare("INFO", "AA", "A", "String")
  )))
  exchanged <- annotate(vcf, "AA", polarise = TRUE, out = out)
  expect_match(records_of(exchanged$out), "\tAF_src=gnomAD4;NCBI_AC=17;AA=c;[^;]*;AA_old_ref=A$")
  expect_setequal(attr(exchanged$counts, "dropped")$field, paste0("INFO/", texts[1:6]))

  expect_ancify_error(polarised(keep_fields = "AF"), "input", "`keep_fields`", "'AF'")
  expect_ancify_error(polarised(keep_fields = "FORMAT/GT"), "input", "`keep_fields`")
  expect_ancify_error(polarised(keep_fields = NA), "input", "`keep_fields`")
  expect_ancify_error(polarised(keep_fields = "FORMAT/AF"), "input", "FORMAT/AF")
  expect_ancify_error(annotate(vcf, fasta, keep_fields = "INFO/AF"), "input", "`polarise = TRUE`")
})

test_that("the log has the numbers of exchanges and of removed fields", {
  require_htslib()
  records <- vcf_records("1", 1:2, "A", "C", "MLEAC=1")
  header <- vcf_header(records, more = declare("INFO", "MLEAC", "A", "Integer"))
  fasta <- write_fasta(c("1" = "CC"), tempfile(fileext = ".fa"))
  vcf <- write_vcf(records, header = header)
  lines <- log_lines(annotate_vcf(vcf, fasta, tempfile(fileext = ".vcf"), polarise = TRUE))
  expect_identical(trimws(lines[2:3]), c("REF and ALT exchanged in 2 records",
                                         "INFO/MLEAC removed from 2 of them"))
})

test_that("invalid genotypes and fields are errors; undeclared ones are not", {
  require_htslib()
  folder <- new_folder()
  fasta <- write_fasta(c("1" = "CC"), tempfile(fileext = ".fa"))
  polarised <- function(record, more) {
    vcf <- write_vcf(record, header = vcf_header(record, more = more))
    annotate(vcf, fasta, polarise = TRUE, out = file.path(folder, "out.vcf"))
  }
  refused <- function(..., more = declare("FORMAT", "GT", "1", "String"), samples) {
    record <- paste(c(vcf_records("1", 1, "A", "C"), "GT", samples), collapse = "\t")
    expect_ancify_error(polarised(record, more), "format", "record 1", ...)
    expect_identical(content_of(folder), character())
  }
  refused("names an allele", samples = c("0/1", "1/2"))
  refused("Type=String", samples = c("0", "1"), more = declare("FORMAT", "GT", "1", "Integer"))
  twice <- vcf_records("1", 1, "A", "C", "AC=1;AN=2;AC=2")
  expect_ancify_error(polarised(twice, character()), "format", "record 1", "twice")
  expect_ancify_error(
    annotate_vcf(write_vcf(vcf_records("1", 1, "A", "C")), fasta, tempfile(fileext = ".vcf"),
                 polarise = NA),
    "input", "`polarise`"
  )

  # No declarations, no sample, and a record that loses all of FORMAT
  record <- paste0(vcf_records("1", 1, "A", "C", "AC=1;AN=4;AD=3,1;XY=5"), "\tAD:GT\t5,6:0|1")
  lines <- records_of(polarised(record, character())$out)
  expect_match(lines, "^1\t1\t.\tC\tA\t.\t.\tAN=4;AD=1,3;XY=5;AA=C;AA_reason=OK;AA_old_ref=A\t")
  expect_match(lines, "\tAD:GT\t6,5:1|0", fixed = TRUE)
  sites <- polarised(vcf_records("1", 1, "A", "C"), character())
  expect_match(records_of(sites$out), "AA_old_ref=A")
  only <- paste0(vcf_records("1", 1, "A", "C"), "\tEC\t3\t.")
  out <- polarised(only, declare("FORMAT", "EC", "A", "Integer"))$out
  expect_length(bcftools_lines("view", out, "-H"), 1)
})

test_that("values of local alleles, and of more alleles than the record has, are removed", {
  require_htslib()
  polarised <- function(more, format, samples) {
    records <- paste(c(vcf_records("1", 1, "A", "C"), format, samples), collapse = "\t")
    header <- vcf_header(records, more = c(declare("FORMAT", "GT", "1", "String"), more))
    fasta <- write_fasta(c("1" = "C"), tempfile(fileext = ".fa"))
    result <- annotate(write_vcf(records, header = header), fasta, polarise = TRUE)
    list(samples = strsplit(records_of(result$out), "\t")[[1]][-(1:8)],
         dropped = attr(result$counts, "dropped")$field)
  }
  for (number in c("LA", "LR", "LG")) {
    local <- polarised(declare("FORMAT", "XL", number, "Integer"), "GT:XL", c("0/1:3,4", "0:."))
    expect_identical(local, list(samples = c("GT", "1/0", "1"), dropped = "FORMAT/XL"))
  }
  pl <- declare("FORMAT", "PL", ".", "Integer")
  # A record that bcftools norm -m split, with PL not declared Number=G
  expect_identical(polarised(pl, "GT:PL", c("0/1:1,2,3,4,5,6", ".:1,2,3"))$dropped, "FORMAT/PL")
  expect_identical(polarised(pl, "GT:PL", c("0:1,2,3", "1:1,2"))$dropped, "FORMAT/PL")
  # Haploids among diploids, no genotype, unknown ploidy
  expect_identical(polarised(pl, "GT:PL", c("0:1,2,3", "1:1,2", ".:1,2,3", "0|1:.,2,3"))$samples,
                   c("GT:PL", "1:3,2,1", "0:2,1", ".:3,2,1", "1|0:3,2,."))
  expect_identical(polarised(pl, "GT:PL", c(".:1,2,3,4,5", "."))$samples,
                   c("GT:PL", ".:5,4,3,2,1", ".:."))
})

test_that("genotypes after the end of a line are missing", {
  require_htslib()
  records <- paste(vcf_records("1", 1:3, "A", "C"), "DP:GT",
                   c("5:0|1\t6", "5\t.:0/0/1", "5\t6"), sep = "\t")
  header <- vcf_header(records, more = c(declare("FORMAT", "GT", "1", "String"),
                                         declare("FORMAT", "DP", "1", "Integer")))
  fasta <- write_fasta(c("1" = "CCC"), tempfile(fileext = ".fa"))
  vcf <- write_vcf(records, header = header)
  for (input in c(vcf, as_bcf(vcf))) {
    genotypes <- function(polarise) {
      sub(".*\tDP:GT\t", "", records_of(annotate(input, fasta, polarise = polarise)$out))
    }
    expect_identical(genotypes(FALSE), c("5:0|1\t6:.", "5:.\t.:0/0/1", "5:.\t6:."))
    expect_identical(genotypes(TRUE), c("5:1|0\t6:.", "5:.\t.:1/1/0", "5:.\t6:."))
  }
})

test_that("an AA_old_ref in the input is not taken for this call's", {
  require_htslib()
  records <- vcf_records("1", 1:2, "A", "C", c("AA_old_ref=A", "AA_old_ref=C"))
  header <- vcf_header(records, more = declare("INFO", "AA_old_ref", "1", "String"))
  fasta <- write_fasta(c("1" = "CC"), tempfile(fileext = ".fa"))
  lines <- records_of(annotate(write_vcf(records, header = header), fasta, polarise = TRUE)$out)
  expect_identical(info_of(lines, "AA_old_ref"), c("A", "."))
})
