# Which allele of a variant is ancestral, from calls, a VCF or posteriors.

# For each variant the probability that its counted allele is the ancestral one, given that one of
# its two alleles is; NA if nothing is known.
counted_is_ancestral <- function(ancestral, g) {
  known <- if (is.data.frame(ancestral)) {
    from_posteriors(ancestral, g)
  } else {
    check_htslib()
    from_records(records_of(ancestral, g), g)
  }
  if (all(is.na(known))) {
    abort_ancify(
      paste(
        "`ancestral` has no ancestral allele of any variant: compare names of chromosomes,",
        "genome build and alleles."
      ),
      "input"
    )
  }
  known
}

from_posteriors <- function(posterior, g) {
  bases <- c("A", "C", "G", "T")
  lacking <- setdiff(bases, names(posterior))
  if (length(lacking)) {
    abort_ancify(
      sprintf("`ancestral` has no column %s: give the result of polarise_sites().",
              enumerate(quoted(lacking))),
      "input"
    )
  }
  check_one_for_each_variant(nrow(posterior), g, "`ancestral` has %s rows")
  p <- as.matrix(posterior[bases])
  wrong <- which(rowSums(p < 0 | p > 1) > 0)
  if (length(wrong)) {
    abort_ancify(
      sprintf("Row %s of `ancestral` has a posterior outside 0 to 1.", format_count(wrong[1])),
      "input"
    )
  }
  of <- function(alleles) p[cbind(seq_len(nrow(p)), match(toupper(alleles), bases))]
  share_of_first(of(g$variants$counted), of(g$variants$other))
}

# NA if neither is possible.
share_of_first <- function(first, second) {
  share <- first / (first + second)
  ifelse(is.nan(share), NA, share)
}

# Records with an ancestral allele: chromosome, position, ref, alt, and the probability that ref is
# ancestral.
records_of <- function(ancestral, g) {
  read <- function(vcf) {
    with_watch("Reading", function(watch) ancestral_records_impl(vcf, watch))
  }
  if (is_variant_path(ancestral)) {
    return(read(check_path(ancestral, "ancestral")))
  }
  if (is_info(ancestral)) {
    abort_ancify(
      "Genotypes have no AA of their own: give the VCF that has it as `ancestral`.", "input"
    )
  }
  folder <- tempfile("ancify-variants-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "variants.vcf")
  annotated <- file.path(folder, "annotated.vcf")
  write_sites(g, file)
  # What is missing is counted in the components.
  suppressWarnings(
    annotate_vcf(file, ancestral, annotated, progress = FALSE, verbose = FALSE),
    classes = "ancify_annotation_warning"
  )
  read(annotated)
}

# A VCF of the variants with a position whose alleles are single bases, without samples.
write_sites <- function(g, file) {
  variants <- g$variants
  single <- function(alleles) toupper(alleles) %in% c("A", "C", "G", "T")
  rows <- which(single(variants$counted) & single(variants$other) & variants$position > 0)
  rows <- rows[order(match(variants$chromosome, unique(variants$chromosome))[rows],
                     variants$position[rows])]
  chosen <- variants[rows, ]
  records <- paste(
    chosen$chromosome, number_text(chosen$position), ".", toupper(chosen$other),
    toupper(chosen$counted), ".", ".", ".",
    sep = "\t"
  )
  columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
  writeLines(c("##fileformat=VCFv4.2", columns, if (length(rows)) records), file)
}

from_records <- function(records, g) {
  # Without a leading chr: names differ by it between files.
  site <- function(chromosome, position) {
    paste(bare_names(chromosome), number_text(position))
  }
  place <- site(g$variants$chromosome, g$variants$position)
  counted <- toupper(g$variants$counted)
  other <- toupper(g$variants$other)
  alleles <- function(first, second) paste(pmin(first, second), pmax(first, second))
  row <- match(
    paste(place, alleles(counted, other)),
    paste(site(records$chromosome, records$position), alleles(records$ref, records$alt))
  )
  ifelse(records$ref[row] == counted, records$ref_is_ancestral[row],
         1 - records$ref_is_ancestral[row])
}
