# Dosages for tests: VCFs with them, their values by PLINK 2, and PGEN of records of one size.

# Dosages that are 0 to 2 copies and some uncertainty, to `digits` decimals. A share is missing, and
# a share is without uncertainty.
random_dosages <- function(n, m, digits = 3, missing = 0.05, certain = 0.3) {
  calls <- matrix(stats::rbinom(n * m, 2, rep(stats::runif(m), each = n)), n)
  dosages <- calls + stats::rnorm(n * m, sd = 0.3)
  dosages[] <- round(pmin(2, pmax(0, dosages)), digits)
  at <- stats::runif(n * m) < certain
  dosages[at] <- calls[at]
  dosages[stats::runif(n * m) < missing] <- NA
  dosages
}

# A VCF with a variant for each column of `fields`, the text of each sample under `format`, which is
# one for each variant. Returns its path.
vcf_of_fields <- function(fields, format, path = tempfile(fileext = ".vcf"), alts = "G",
                          chromosome = 1, ids = paste0("s", seq_len(nrow(fields)))) {
  m <- ncol(fields)
  records <- vapply(seq_len(m), function(j) {
    paste(c(rep_len(chromosome, m)[j], 10 * j, paste0("v", j), "A", rep_len(alts, m)[j], ".", ".",
            ".", rep_len(format, m)[j], fields[, j]), collapse = "\t")
  }, "")
  writeLines(c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=%s>", unique(chromosome)),
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Call\">",
    "##FORMAT=<ID=DS,Number=A,Type=Float,Description=\"Dosage\">",
    "##FORMAT=<ID=HDS,Number=.,Type=Float,Description=\"Dosages of haplotypes\">",
    "##FORMAT=<ID=GP,Number=G,Type=Float,Description=\"Probabilities of genotypes\">",
    paste(c("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT", ids), collapse = "\t"), records
  ), path)
  path
}

texts_of_numbers <- function(x) {
  text <- format(x, digits = 15, trim = TRUE, scientific = FALSE, drop0trailing = TRUE)
  matrix(ifelse(is.na(x), ".", text), nrow(x))
}

# GT:DS, where dosages that are called for certain may lack DS.
fields_of_dosages <- function(dosages, bare = 0) {
  calls <- ifelse(is.na(dosages), "./.", c("0/0", "0/1", "1/1")[round(dosages) + 1])
  text <- texts_of_numbers(dosages)
  text[stats::runif(length(text)) < bare & dosages %in% 0:2] <- "."
  matrix(paste(calls, text, sep = ":"), nrow(dosages))
}

# Dosages in steps of 1 / 16384, with a row for each sample, as PLINK 2 exports them.
steps_of_plink <- function(...) {
  stem <- run_plink("plink2", ..., "--export", "A-transpose")
  table <- utils::read.delim(paste0(stem, ".traw"), check.names = FALSE)
  # REF is counted.
  copies <- 2 - as.matrix(table[-(1:6)])
  round(16384 * unname(t(copies)))
}

steps_of <- function(g) round(16384 * bare(as.matrix(g)))

# The types of the records of a PGEN of storage mode 10, of up to 65,536 variants.
pgen_types <- function(path) {
  bytes <- as.integer(file_bytes(path))
  n <- sum(bytes[4:7] * 256^(0:3))
  wide <- bytes[12] %% 8 >= 4
  unpacked(bytes[20 + seq_len(if (wide) n else ceiling(n / 2))], if (wide) 8 else 4, n)
}

# A PGEN of storage mode 03, or 04 if `phased`, of dosages in steps of 1 / 16384. Returns its path.
pgen_of_steps <- function(steps, phased = FALSE) {
  calls <- ifelse(is.na(steps), NA, round(steps / 16384))
  path <- pgen_fileset(calls)
  bytes <- as.integer(file_bytes(path))
  width <- ceiling(nrow(steps) / 4)
  two_bytes <- function(n) as.vector(rbind(n %% 256, n %/% 256))
  records <- lapply(seq_len(ncol(steps)), function(j) {
    stored <- ifelse(is.na(steps[, j]), 65535, steps[, j])
    c(bytes[12 + (j - 1) * width + seq_len(width)], two_bytes(stored),
      if (phased) two_bytes(ifelse(is.na(steps[, j]), 32768, 0)))
  })
  bytes[3] <- 3 + phased
  writeBin(as.raw(c(bytes[1:12], unlist(records))), path)
  path
}
