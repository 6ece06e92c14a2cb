# The log of annotate_vcf(), and warnings about its output.

describe_source <- function(source, report) {
  if (source$use_info) {
    describe_letters(report$letters)
  } else if (!is.null(source$folder)) {
    describe_matches(report$chromosomes)
  }
}

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

# Programs that take REF for ancestral do not read AA_reason.
warn_about_not_polarised <- function(report, out, multiallelic) {
  if (report$not_polarised == 0) {
    return(invisible())
  }
  warn_ancify(
    sprintf(
      paste(
        "%s: %s of %s records keep the reference's allele as REF, as no ancestral allele could",
        "take its place: leave them out (bcftools view%s -i",
        "'AA_reason=\"OK\" || AA_reason=\"LOW\"')."
      ),
      quoted(out), format_count(report$not_polarised), format_count(sum(report$reasons)),
      if (multiallelic) " --max-alleles 2" else ""
    ),
    "annotation"
  )
}

# A reader that uses another file's index returns wrong records.
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
