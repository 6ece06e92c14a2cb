# Log lines and warnings about how a VCF fits the ancestral sequences.

describe_matches <- function(found) {
  sprintf(
    "%s: %s records, ancestral sequence %s", found$chromosome,
    vapply(found$records, format_count, ""),
    ifelse(is.na(found$sequence), "missing", quoted(found$sequence))
  )
}

describe_letters <- function(letters) {
  some <- letters[letters$records > 0, ]
  sprintf("AA of the records: %s",
          paste(some$letter, vapply(some$records, format_count, ""), collapse = ", "))
}

describe_posteriors <- function(report) {
  sprintf(
    "Posteriors from the history in %s records: %s by alleles and counts, %s by alleles alone",
    format_count(report$posteriors), format_count(report$counted),
    format_count(report$posteriors - report$counted)
  )
}

describe_swaps <- function(report) {
  c(
    sprintf("REF and ALT exchanged in %s records", format_count(report$swapped)),
    sprintf("%s removed from %s of them", report$dropped$field,
            vapply(report$dropped$records, format_count, ""))
  )
}

# A reader with another file's index gives wrong records.
warn_about_index <- function(out) {
  for (index in Filter(file.exists, paste0(out, c(".csi", ".tbi")))) {
    warn_ancify(
      sprintf(
        "%s is the index of an earlier %s: make it again (bcftools index -f%s).", quoted(index),
        quoted(basename(out)), if (endsWith(index, ".tbi")) " -t" else ""
      ),
      "annotation"
    )
  }
}

warn_about_unmatched <- function(found, ancestral) {
  without <- found[is.na(found$sequence), ]
  if (nrow(without)) {
    warn_ancify(
      sprintf(
        "%s has no sequence for %s: %s records get NO_COVERAGE or an earlier reason.",
        quoted(ancestral), enumerate(quoted(without$chromosome)), format_count(sum(without$records))
      ),
      "annotation"
    )
  }
}

# Signs of another genome build: REF differs from the reference, or the ancestral base is neither
# allele. By chance, this is so at half of the sites.
warn_about_positions <- function(report, vcf, from_info = FALSE) {
  shares <- c(REF_MISMATCH = 0.01, NEITHER_ALLELE = 0.25)
  questions <- c(
    REF_MISMATCH = "Check the genome build, and whether REF and ALT are exchanged.",
    NEITHER_ALLELE = if (from_info) {
      "Check the genome build and strand of AA in its INFO."
    } else {
      "Check whether its positions are of another genome build."
    }
  )
  looked_at <- list(
    REF_MISMATCH = setdiff(colnames(report$reasons), c("INDEL", "MULTIALLELIC")),
    NEITHER_ALLELE = c("NEITHER_ALLELE", "LOW", "OK")
  )
  for (reason in names(shares)) {
    all <- rowSums(report$reasons[, looked_at[[reason]], drop = FALSE])
    suspicious <- suspicious_chromosomes(report$reasons[, reason], all, shares[[reason]])
    if (!length(suspicious)) next
    names <- report$chromosomes$chromosome[suspicious]
    warn_ancify(
      sprintf(
        "%s: %s of %s records%s are %s. %s", quoted(vcf),
        format_count(sum(report$reasons[suspicious, reason])), format_count(sum(all[suspicious])),
        if (length(names) < length(all)) paste(" on", enumerate(names)) else "",
        reason, questions[[reason]]
      ),
      "annotation"
    )
  }
}

# Chromosomes that exceed the share on their own; else all, if they exceed it together.
suspicious_chromosomes <- function(counts, all, share) {
  fewest <- 1000
  alone <- which(all >= fewest & counts > share * all)
  together <- sum(all) >= fewest && sum(counts) > share * sum(all)
  if (length(alone) || !together) alone else seq_along(all)
}
