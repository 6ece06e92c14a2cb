# VCF as text, and its oracles in plain R.

write_vcf <- function(records, path = tempfile(fileext = ".vcf"), header = vcf_header(records)) {
  writeLines(c(header, records), path)
  path
}

# `records`: lines of at least eight columns; more are FORMAT and samples s1, s2, ...
vcf_header <- function(records, contigs = unique(sub("\t.*", "", records)), more = character()) {
  columns <- c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
  n <- max(8, lengths(strsplit(records, "\t")))
  if (n > 9) columns <- c(columns, "FORMAT", paste0("s", seq_len(n - 9)))
  c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=%s>", contigs), more,
    paste(columns, collapse = "\t")
  )
}

# Declarations of FORMAT for vcf_header(more =)
declared_formats <- c(
  GT = "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Call\">",
  DS = "##FORMAT=<ID=DS,Number=A,Type=Float,Description=\"Dosage\">"
)

vcf_records <- function(chromosome, position, ref, alt, info = ".") {
  paste(chromosome, position, ".", ref, alt, ".", ".", info, sep = "\t")
}

# Sorted records with single bases, several ALTs, indels and no ALT.
random_vcf <- function(lengths, n = 60) {
  unlist(lapply(names(lengths), function(name) {
    position <- sort(sample(lengths[[name]], n, replace = TRUE))
    allele <- function(n) {
      sample(c("A", "C", "G", "T", "a", "N", "AC", "GTT", "*", "<DEL>", "<NON_REF>"), n,
             replace = TRUE, prob = c(rep(4, 4), rep(1, 7)))
    }
    ref <- sub("[*<].*", "T", allele(n))
    alt <- vapply(sample(0:3, n, replace = TRUE, prob = c(1, 6, 2, 1)), function(k) {
      if (k == 0) "." else paste(allele(k), collapse = ",")
    }, "")
    vcf_records(name, position, ref, alt)
  }))
}

as_bgzip <- function(path, to = paste0(path, ".gz")) {
  require_tool("bgzip")
  stopifnot(system2("bgzip", c("-c", shQuote(path)), stdout = to) == 0)
  to
}

as_bcf <- function(path, to = sub("vcf$", "bcf", path)) {
  require_tool("bcftools")
  stopifnot(system2("bcftools", c("view", "-Ob", "-o", shQuote(to), shQuote(path))) == 0)
  to
}

# The records of a file as bcftools reads them; its complaints are errors.
bcftools_lines <- function(command, path, ...) {
  require_tool("bcftools")
  result <- run_program("bcftools", command, ..., path)
  expect_identical(result$status, 0L)
  expect_identical(result$err, character())
  result$out
}

variant_annotation_vcf <- function() {
  path <- system.file("extdata", "chr22.vcf.gz", package = "VariantAnnotation")
  if (!nzchar(path)) lacking("the package VariantAnnotation")
  path
}

require_htslib <- function() {
  if (is.na(ancify_build_info()$htslib)) lacking("a build with htslib")
}

vcf_info <- c(
  "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">",
  "##INFO=<ID=AA_prob,Number=1,Type=Float,Description=\"p\">",
  "##INFO=<ID=AA_post,Number=4,Type=Float,Description=\"q\">",
  "##ALT=<ID=DEL,Description=\"d\">",
  "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">",
  "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"d\">"
)

# Declarations of fields of INFO, by default of counts of alleles.
count_declarations <- function(fields, number = ifelse(grepl("^AC", fields), "A", "1"),
                               type = "Integer") {
  sprintf("##INFO=<ID=%s,Number=%s,Type=%s,Description=\"x\">", fields, number, type)
}

# A VCF of these records, with a matrix of genotypes.
genotype_vcf <- function(records, genotypes, format = "GT") {
  lines <- paste(records, format, apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  write_vcf(lines, header = vcf_header(lines, more = vcf_info))
}

# ---- Genotypes --------------------------------------------------------------------------------

# Genotypes: a row for each record, a column for each sample. Mixed ploidy, phased and unphased,
# with missing alleles.
random_genotypes <- function(n, samples, alleles = 2, missing = 0.1) {
  one <- function(alleles) {
    ploidy <- sample(1:3, 1, prob = c(2, 7, 1))
    drawn <- sample(c(seq_len(alleles) - 1), ploidy, TRUE, c(3, rep(1, alleles - 1)))
    paste(ifelse(runif(ploidy) < missing, ".", drawn), collapse = sample(c("/", "|"), 1))
  }
  matrix(vapply(rep(alleles, length.out = n * samples), one, ""), n, samples)
}

# ALTs that stand for no allele of their own
no_alleles <- c("*", "<*>", "<NON_REF>", "<X>")

# What becomes of each record as the help page of sfs_from_vcf() has it: a data frame of reason,
# posterior, mutation and window, with matrices of derived and called haplotypes. `ancestral` and
# `reference` are bases of each position, in lists by chromosome.
oracle_vcf_sites <- function(lines, populations, low_confidence = TRUE, ancestral = NULL,
                             reference = NULL, window = 1e9) {
  columns <- strsplit(grep("^#CHROM", lines, value = TRUE), "\t")[[1]]
  fields <- strsplit(lines[!startsWith(lines, "#")], "\t")
  bases <- c("A", "C", "G", "T")
  names <- unique(unname(populations))
  derived <- called <- matrix(0, length(fields), length(names), dimnames = list(NULL, names))
  reason <- mutation <- place <- character(length(fields))
  posterior <- rep(NA, length(fields))
  cpg <- rep(FALSE, length(fields))
  for (i in seq_along(fields)) {
    field <- fields[[i]]
    position <- as.numeric(field[2])
    place[i] <- paste(field[1], (position - 1) %/% window)
    info <- function(id) {
      found <- regmatches(field[8], regexec(sprintf("(^|;)%s=([^;]*)", id), field[8]))[[1]]
      if (length(found)) found[3] else "."
    }
    base <- if (is.null(ancestral)) {
      sub("[|].*", "", info("AA"))
    } else {
      ancestral[[field[1]]][position]
    }
    alts <- strsplit(sub("^[.]$", "", field[5]), ",")[[1]]
    alleles <- toupper(c(field[4], alts))
    expected <- toupper(reference[[field[1]]][position])
    real <- alleles[!alleles %in% no_alleles]
    reason[i] <- if (!all(real %in% bases)) {
      "INDEL"
    } else if (length(real) == 1 || identical(real[1], real[-1])) {
      "MONOMORPHIC"
    } else if (length(real) > 2) {
      "MULTIALLELIC"
    } else if (isTRUE(expected %in% bases && expected != alleles[1])) {
      "REF_MISMATCH"
    } else if (base == "n") {
      "UNRESOLVED"
    } else if (!toupper(base) %in% bases) {
      "NO_COVERAGE"
    } else if (!toupper(base) %in% alleles) {
      "NEITHER_ALLELE"
    } else if (!low_confidence && !base %in% bases) {
      "LOW"
    } else {
      "SITE"
    }
    if (reason[i] != "SITE") next
    is_derived <- ifelse(alleles %in% no_alleles, NA, alleles != toupper(base))
    for (sample in names(populations)) {
      values <- strsplit(field[match(c("FORMAT", sample), columns)], ":")
      genotype <- c(values[[2]][values[[1]] == "GT"], ".")[1]
      copies <- suppressWarnings(as.numeric(strsplit(genotype, "[/|]")[[1]]))
      copies <- copies[!is.na(is_derived[copies + 1])]
      k <- populations[[sample]]
      called[i, k] <- called[i, k] + length(copies)
      derived[i, k] <- derived[i, k] + sum(is_derived[copies + 1])
    }
    of_bases <- suppressWarnings(as.numeric(strsplit(info("AA_post"), ",")[[1]]))
    posterior[i] <- if (is.na(of_bases[1])) {
      suppressWarnings(as.numeric(info("AA_prob")))
    } else {
      of_bases[match(toupper(base), bases)] / sum(of_bases[match(real, bases)])
    }
    change <- paste(alleles[which(!is_derived)], alleles[which(is_derived)], sep = ">")
    mutation[i] <- if (grepl("^[AC]", change)) change else chartr("ACGT", "TGCA", change)
    if (!is.null(reference)) {
      here <- function(at) {
        base <- if (at > 0) toupper(reference[[field[1]]][at]) else NA
        if (base %in% bases) base else NA
      }
      cpg[i] <- any(c("C" %in% alleles && here(position + 1) == "G",
                      "G" %in% alleles && here(position - 1) == "C"))
    }
  }
  result <- data.frame(reason, posterior, mutation, cpg, window = place)
  result$derived <- derived
  result$called <- called
  result
}

# How many records of a spectrum's VCF there are of each reason.
records_of_reason <- function(x) {
  records <- attr(x, "records")
  stats::setNames(records$records, records$reason)
}
