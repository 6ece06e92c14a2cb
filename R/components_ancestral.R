# The ancestral allele of each variant, from calls, a VCF or posteriors.

# For each variant the probability that its counted allele is ancestral, given that one of its two
# alleles is; NA if unknown.
counted_is_ancestral <- function(ancestral, g) {
  known <- if (is.data.frame(ancestral)) {
    from_posteriors(ancestral, g)
  } else {
    check_htslib()
    from_records(records_of(ancestral, g), g)
  }
  refuse_if(all(is.na(known)),
            paste(
              "`ancestral` has no ancestral allele of any variant: compare names of chromosomes,",
              "genome build and alleles."
            ))
  known
}

from_posteriors <- function(posterior, g) {
  bases <- c("A", "C", "G", "T")
  lacking <- setdiff(bases, names(posterior))
  refuse_if(length(lacking), "`ancestral` has no column %s: give the result of polarise_sites().",
            enumerate(quoted(lacking)))
  check_one_for_each_variant(nrow(posterior), g, "`ancestral` has %s rows")
  check_row_order(posterior, "ancestral", g$variants$id, "variant")
  p <- as.matrix(posterior[bases])
  wrong <- which(rowSums(p < 0 | p > 1) > 0)
  refuse_if(length(wrong), "Row %s of `ancestral` has a posterior outside 0 to 1.",
            format_count(wrong[1]))
  of <- function(alleles) p[cbind(seq_len(nrow(p)), match(toupper(alleles), bases))]
  share_of_first(of(g$variants$counted), of(g$variants$other))
}

# The normalised probability of the first; NA if neither is possible.
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
  refuse_if(is_info(ancestral),
            "Genotypes have no AA of their own: give the VCF that has it as `ancestral`.")
  own_numbers <- has_own_numbers(
    chromosomes_of_file(g), sequences = sequences_by_number(ancestral, g)
  )
  annotated_sites(g, ancestral, own_numbers, function(reasons, file) read(file))
}

# The numbers from 23 to 26 that name sequences of `ancestral`. Sequences do not use PLINK's codes,
# so these are the species' own chromosomes. Without such numbers in `g`, the search is skipped.
sequences_by_number <- function(ancestral, g) {
  codes <- as.character(23:26)
  if (!any(codes %in% bare_names(unlist(chromosomes_of_file(g))))) {
    return(character())
  }
  probe <- list(variants = data.frame(chromosome = codes, position = 1, counted = "A", other = "C"))
  tryCatch(
    {
      found <- annotated_sites(probe, ancestral, TRUE, function(reasons, file) reasons)
      found <- attr(found, "chromosomes")
      found$chromosome[!is.na(found$sequence)]
    },
    # No file has such a name
    ancify_input_error = function(condition) character()
  )
}

# work(table of reasons, path of the annotated VCF) of the variants of `g`.
annotated_sites <- function(g, ancestral, own_numbers, work) {
  folder <- tempfile("ancify-variants-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "variants.vcf")
  annotated <- file.path(folder, "annotated.vcf")
  write_sites(g, file, own_numbers)
  # Components count the variants without an ancestral allele, so these warnings are redundant.
  reasons <- suppressWarnings(
    annotate_vcf(file, ancestral, annotated, progress = FALSE, verbose = FALSE),
    classes = "ancify_annotation_warning"
  )
  work(reasons, annotated)
}

# Writes a VCF without samples, of the variants that have a position and single-base alleles.
write_sites <- function(g, file, own_numbers) {
  variants <- g$variants
  single <- function(alleles) toupper(alleles) %in% c("A", "C", "G", "T")
  rows <- which(single(variants$counted) & single(variants$other) & variants$position > 0)
  # Sequences do not use PLINK's numbers, and the pseudoautosomal regions lie on X.
  variants$chromosome <- sub("^XY$", "X", genotype_chromosomes(variants$chromosome, own_numbers))
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
  # Names may differ between files by a leading chr.
  site <- function(chromosome, position) {
    paste(bare_names(chromosome), number_text(position))
  }
  # Records place the pseudoautosomal regions on X.
  names <- comparable_chromosomes(g, list(variants = records))
  names <- lapply(names, sub, pattern = "^XY$", replacement = "X")
  place <- site(names[[1]], g$variants$position)
  counted <- toupper(g$variants$counted)
  other <- toupper(g$variants$other)
  alleles <- function(first, second) paste(pmin(first, second), pmax(first, second))
  row <- match(
    paste(place, alleles(counted, other)),
    paste(site(names[[2]], records$position), alleles(records$ref, records$alt))
  )
  ifelse(records$ref[row] == counted, records$ref_is_ancestral[row],
         1 - records$ref_is_ancestral[row])
}
