# Warnings of a VCF whose records do not fit a run's calls.

describe_matches <- function(found) {
  sprintf(
    "%s: %s records, ancestral sequence %s", found$chromosome,
    vapply(found$records, format_count, ""),
    ifelse(is.na(found$sequence), "not there", quoted(found$sequence))
  )
}

describe_swaps <- function(report) {
  c(
    sprintf("REF and ALT exchanged in %s records", format_count(report$swapped)),
    sprintf("%s taken out of %s of them", report$dropped$field,
            vapply(report$dropped$records, format_count, ""))
  )
}

warn_about_unmatched <- function(found, ancestral) {
  without <- found[is.na(found$sequence), ]
  if (nrow(without)) {
    warn_ancify(
      sprintf(
        "%s has no sequence for %s: %s records are NO_COVERAGE or of an earlier reason.",
        quoted(ancestral), enumerate(quoted(without$chromosome)), format_count(sum(without$records))
      ),
      "annotation"
    )
  }
}

# Variants of another build give themselves away: REF is not the reference's base, or the ancestral
# base is neither allele, as it would be at half of the sites by chance.
warn_about_positions <- function(report, vcf, from_info = FALSE) {
  shares <- c(REF_MISMATCH = 0.01, NEITHER_ALLELE = 0.25)
  questions <- c(
    REF_MISMATCH = "Is it of another build of the genome, or are REF and ALT exchanged?",
    NEITHER_ALLELE = if (from_info) {
      "Is AA, in its INFO, of another build or strand?"
    } else {
      "Are its positions those of another build of the genome?"
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

# Those that are by themselves, or else all where they are it together.
suspicious_chromosomes <- function(counts, all, share) {
  fewest <- 1000
  alone <- which(all >= fewest & counts > share * all)
  together <- sum(all) >= fewest && sum(counts) > share * sum(all)
  if (length(alone) || !together) alone else seq_along(all)
}
