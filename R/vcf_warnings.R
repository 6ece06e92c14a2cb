# Warnings about how a VCF fits the ancestral sequences.

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

# Sites without usable counts in INFO. `fate`: what becomes of them.
warn_about_counts <- function(found, vcf, fate = "They are left out") {
  counts <- c(found$without_counts, found$impossible_counts)
  problems <- c("lack AC or AN of a population", "have an AC above its AN")
  if (any(counts > 0)) {
    records <- vapply(counts, format_count, "")
    warn_ancify(
      sprintf(
        "%s: %s. %s; leave out such populations, or correct INFO (bcftools +fill-tags).",
        quoted(vcf),
        paste(records[counts > 0], "sites", problems[counts > 0], collapse = " and "), fate
      ),
      "annotation"
    )
  }
}

# Signs of another genome build: REF differs from the reference, or the ancestral base is neither
# allele. With random bases, half of the sites have neither allele.
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

# Chromosomes that exceed the share on their own; otherwise all, if they exceed it together.
suspicious_chromosomes <- function(counts, all, share) {
  fewest <- 1000
  alone <- which(all >= fewest & counts > share * all)
  together <- sum(all) >= fewest && sum(counts) > share * sum(all)
  if (length(alone) || !together) alone else seq_along(all)
}
