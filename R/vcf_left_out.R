# Records of a VCF without a usable ancestral allele, by reason.

reasons_left_out <- c(
  "INDEL", "MONOMORPHIC", "MULTIALLELIC", "REF_MISMATCH", "MASKED", "NO_COVERAGE", "UNRESOLVED",
  "NEITHER_ALLELE", "LOW"
)

# Further reasons of sites that are counted by info_populations()
reasons_of_counts <- c("NO_COUNTS", "BAD_COUNTS")

# Counts of records that are not sites, by reason.
records_left_out <- function(found, low_confidence, which = reasons_left_out) {
  reasons <- c(
    colSums(found$reasons), MONOMORPHIC = found$monomorphic, OTHER_KIND = found$other_kind,
    NO_COUNTS = found$without_counts, BAD_COUNTS = found$impossible_counts
  )
  if (low_confidence) reasons["LOW"] <- 0
  reasons[which]
}

# `way_out`: advice on spectra without ancestral alleles.
# `use`: the purpose of the sites; `words`: descriptions that replace the names of reasons.
check_any_site <- function(found, left_out, vcf, use_info, way_out = "", use = "a spectrum",
                           words = character()) {
  if (sum(found$chromosomes$records) > sum(left_out)) {
    return(invisible())
  }
  some <- left_out[left_out > 0]
  names <- ifelse(names(some) %in% names(words), words[names(some)], names(some))
  refuse_input(
    paste0(
      sprintf("%s has no record for %s: ", quoted(vcf), use),
      if (!length(some)) "it has no records",
      paste(vapply(some, format_count, ""), names, collapse = ", "), ".",
      if (use_info && left_out[["NO_COVERAGE"]] > 0) {
        paste0(" If its INFO has no AA, give `ancestral`: calls or a FASTA file.", way_out)
      }
    )
  )
}
