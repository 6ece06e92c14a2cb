#' Annotate variants in memory
#'
#' Adds ancestral alleles to variants that the package VariantAnnotation has read. It works as
#' [annotate_vcf()] does for files.
#'
#' @param variants A `VCF` of the package VariantAnnotation, collapsed or expanded, in any order.
#' @param ancestral The ancestral sequences, as in [annotate_vcf()].
#' @param ... Further arguments of [annotate_vcf()]: `reference`, `mask`, `threads`, `verbose`, and
#'   those for a history, which uses the variants' `GT`. `polarise` is not possible.
#' @return `variants` with the fields of [annotate_vcf()] in `info()`, declared in the header. They
#'   replace earlier columns of these names. `table(info(x)$AA_reason)` counts the reasons.
#' @section Errors:
#' * `ancify_input_error`: `variants` is not a `VCF`, or has no genotypes but there is a history.
#' * `ancify_package_error`: VariantAnnotation is not installed.
#' * Those of [annotate_vcf()], which counts records along the chromosomes.
#' @seealso [annotate_vcf()] for files, which takes less memory and time;
#'   [read_ancestral()] for calls of any regions
#' @export
#' @examplesIf length(find.package("VariantAnnotation", quiet = TRUE)) == 1
#' folder <- tempfile()
#' dir.create(folder)
#' writeLines(c(">chr1", "ACgTnN"), file.path(folder, "chr1.fa"))
#' vcf <- file.path(folder, "variants.vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
#' records <- sprintf("1\t%d\t.\t%s\t%s\t.\t.\t.", 1:6, "A", c("C", "C", "G", "G,T", "G", "T"))
#' writeLines(c("##fileformat=VCFv4.2", columns, records), vcf)
#'
#' \donttest{ # VariantAnnotation alone takes seconds to load
#' variants <- VariantAnnotation::readVcf(vcf)
#' if (!is.na(ancify_build_info()$htslib)) {
#'   variants <- annotate_variants(variants, folder)
#'   print(table(VariantAnnotation::info(variants)$AA_reason))
#' }
#' }
annotate_variants <- function(variants, ancestral, ...) {
  check_given()
  need_bioconductor(c("VariantAnnotation", "SummarizedExperiment"), "Variants in memory")
  if (!inherits(variants, "VCF")) {
    abort_ancify(
      sprintf("`variants` must be a VCF of the package VariantAnnotation, not %s.",
              show_value(variants)),
      "input"
    )
  }
  of_files <- intersect(c("out", "polarise", "keep_fields"), ...names())
  if (length(of_files)) {
    abort_ancify(sprintf("`%s` is for files only: use annotate_vcf().", of_files[1]), "input")
  }
  folder <- tempfile("ancify-variants-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "variants.vcf")
  annotated <- file.path(folder, "annotated.vcf")

  order <- write_variants(variants, file, with_genotypes = !is.null(list(...)$history))
  withCallingHandlers(
    annotate_vcf(file, ancestral, annotated, ...),
    ancify_error = function(condition) stop(in_terms_of_variants(condition, file, order)),
    ancify_warning = function(condition) {
      warning(in_terms_of_variants(condition, file, order))
      invokeRestart("muffleWarning")
    }
  )
  with_info(variants, VariantAnnotation::readVcf(annotated), order)
}

# The user does not know the temporary file. Name the variant instead of the file and its line.
in_terms_of_variants <- function(condition, file, order) {
  message <- gsub(quoted(file), "`variants`", conditionMessage(condition), fixed = TRUE)
  place <- regmatches(message, regexec("^`variants`, line [0-9]+: record ([0-9]+)", message))[[1]]
  if (length(place)) {
    number <- order[as.numeric(place[2])]
    message <- paste0("`variants`[", number, "]", substring(message, nchar(place[1]) + 1))
    condition[c("file", "line")] <- NULL
  }
  condition$message <- message
  condition
}

# Writes the columns that annotation needs, sorted. Gives the variants' numbers in the file's order.
write_variants <- function(variants, file, with_genotypes) {
  places <- SummarizedExperiment::rowRanges(variants)
  chromosomes <- as.character(GenomicRanges::seqnames(places))
  positions <- BiocGenerics::start(places)
  order <- order(match(chromosomes, unique(chromosomes)), positions)
  alternatives <- VariantAnnotation::alt(variants)
  if (inherits(alternatives, "List") && !inherits(alternatives, "XStringSet")) {
    alternatives <- S4Vectors::unstrsplit(IRanges::CharacterList(alternatives), ",")
  }
  alternatives <- as.character(alternatives)
  records <- paste(
    chromosomes, format(positions, scientific = FALSE, trim = TRUE), ".",
    as.character(VariantAnnotation::ref(variants)),
    ifelse(alternatives == "", ".", alternatives), ".", ".", ".",
    sep = "\t"
  )
  columns <- c("CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
  header <- "##fileformat=VCFv4.2"
  if (with_genotypes) {
    genotypes <- genotypes_of(variants)
    records <- paste(records, "GT", apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
    columns <- c(columns, "FORMAT", colnames(genotypes))
    header <- c(header, "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">")
  }
  writeLines(c(header, paste0("#", paste(columns, collapse = "\t")), records[order]), file)
  order
}

genotypes_of <- function(variants) {
  genotypes <- VariantAnnotation::geno(variants)$GT
  if (!is.character(genotypes) || ncol(genotypes) == 0) {
    abort_ancify("`variants` has no genotypes (GT), but `history` needs them.", "input")
  }
  genotypes[is.na(genotypes)] <- "."
  genotypes
}

annotation_fields <- c("AA", "AA_prob", "AA_post", "AA_reason")

# Adds the annotation to `variants`. `annotated`: the same variants in `order`.
with_info <- function(variants, annotated, order) {
  kept <- VariantAnnotation::info(variants)
  kept <- kept[!names(kept) %in% annotation_fields]
  added <- VariantAnnotation::info(annotated)[order(order), , drop = FALSE]
  rownames(added) <- rownames(kept)

  declared <- VariantAnnotation::info(VariantAnnotation::header(variants))
  anew <- VariantAnnotation::info(VariantAnnotation::header(annotated))
  declared <- declared[!rownames(declared) %in% rownames(anew), , drop = FALSE]
  VariantAnnotation::info(VariantAnnotation::header(variants)) <- rbind(
    declared[c("Number", "Type", "Description")], anew
  )
  VariantAnnotation::info(variants) <- cbind(kept, added)
  variants
}
