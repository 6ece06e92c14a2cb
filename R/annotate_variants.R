#' Annotate variants in memory
#'
#' Adds ancestral alleles to variants read by the package VariantAnnotation, or to ranges with
#' alleles, as [annotate_vcf()] does for files.
#'
#' @param variants A `VCF` of the package VariantAnnotation, collapsed or expanded, in any order. Or
#'   a `GRanges` with the columns `REF` and `ALT`, such as `rowRanges()` of one. Its alleles are on
#'   the plus strand, whatever the strand of a range.
#' @param ancestral The ancestral sequences, or `"AA"`, as in [annotate_vcf()].
#' @param polarise `TRUE` exchanges alleles so that REF is ancestral; `FALSE` (the default) leaves
#'   them as they are. Genotypes and other fields follow, as in [annotate_vcf()].
#' @param ... Further arguments of [annotate_vcf()]: `reference`, `mask`, `also`, `scores`,
#'   `keep_fields`, `threads`, `verbose`, and the arguments of a history, which uses the variants'
#'   `GT` if present.
#' @return For a `VCF`: `variants` with the fields of [annotate_vcf()] in `info()`, declared in the
#'   header. They replace earlier columns of these names. `table(info(x)$AA_reason)` counts the
#'   reasons. For a `GRanges`: `variants` with these fields as columns.
#' @section Errors:
#' * `ancify_input_error`: `variants` has another type, or lacks alleles.
#' * `ancify_package_error`: VariantAnnotation is not installed.
#' * Errors of [annotate_vcf()], which counts records in order of chromosome and position.
#' @seealso [annotate_vcf()] for files, which takes less memory and time; [read_ancestral()] for
#'   calls of regions
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
annotate_variants <- function(variants, ancestral, polarise = FALSE, ...) {
  check_given()
  need_bioconductor(c("VariantAnnotation", "SummarizedExperiment"), "Variants in memory")
  check_flag(polarise, "polarise")
  for (name in intersect(c("out", "unpolarised"), ...names())) {
    refuse_input("`%s` is for files only: use annotate_vcf().", name)
  }
  is_ranges <- inherits(variants, "GenomicRanges")
  must_be(is_ranges || inherits(variants, "VCF"), variants, "variants",
          "a VCF of the package VariantAnnotation, or a GRanges")
  folder <- tempfile("ancify-variants-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "variants.vcf")
  annotated <- file.path(folder, "annotated.vcf")

  order <- if (is_ranges) {
    alleles <- variants_of_ranges(variants)
    write_variants(alleles, file, with_genotypes = FALSE)
  } else if (polarise || is_info(ancestral) || counts_in_info(variants, ...)) {
    # All fields are written, as they may change, or give the ancestral allele or allele counts.
    write_all(variants, file)
  } else {
    write_variants(variants, file, with_genotypes = uses_genotypes(variants, ...))
  }
  withCallingHandlers(
    annotate_vcf(file, ancestral, annotated, polarise = polarise, ...),
    ancify_error = function(condition) stop(in_terms_of_variants(condition, file, order)),
    ancify_warning = function(condition) {
      warning(in_terms_of_variants(condition, file, order))
      invokeRestart("muffleWarning")
    }
  )
  annotated <- VariantAnnotation::readVcf(annotated)[order(order)]
  if (is_ranges) {
    with_columns(variants, annotated, polarise)
  } else if (polarise) {
    with_all(variants, annotated)
  } else {
    with_info(variants, annotated)
  }
}

# A VCF with the alleles of ranges.
variants_of_ranges <- function(ranges) {
  columns <- S4Vectors::mcols(ranges)
  refuse_if(!all(c("REF", "ALT") %in% names(columns)),
            "`variants` is a GRanges without the columns `REF` and `ALT`: add the alleles.")
  # A row may have several ALTs.
  alternatives <- lapply(as.list(columns$ALT), function(alt) {
    alt <- as.character(alt)
    alt[!is.na(alt) & alt != "."]
  })
  reference <- as.character(columns$REF)
  bad <- which(!grepl("^[ACGTMRWSYKVHDBN]+$", toupper(reference)))[1]
  refuse_if(!is.na(bad), "`variants`[%d]: REF must be bases, not %s.", bad,
            show_value(reference[bad]))
  S4Vectors::mcols(ranges) <- NULL
  VariantAnnotation::VCF(
    ranges,
    fixed = S4Vectors::DataFrame(
      REF = Biostrings::DNAStringSet(reference),
      ALT = IRanges::CharacterList(unname(alternatives)), QUAL = rep(NA_real_, length(ranges)),
      FILTER = rep(".", length(ranges))
    ),
    collapsed = TRUE
  )
}

# The ranges with the annotation as columns.
with_columns <- function(ranges, annotated, polarise) {
  columns <- S4Vectors::mcols(ranges)
  for (name in c("REF", "ALT")) {
    # A factor cannot take other alleles.
    if (is.factor(columns[[name]])) columns[[name]] <- as.character(columns[[name]])
  }
  added <- VariantAnnotation::info(annotated)
  rownames(added) <- NULL
  if (polarise) {
    swapped <- !is.na(added$AA_old_ref)
    alternatives <- IRanges::CharacterList(VariantAnnotation::alt(annotated))
    columns$REF[swapped] <- methods::as(
      as.character(VariantAnnotation::ref(annotated))[swapped], class(columns$REF)
    )
    columns$ALT[swapped] <- methods::as(
      if (methods::is(columns$ALT, "List") && !methods::is(columns$ALT, "XStringSet")) {
        alternatives[swapped]
      } else {
        unlist(alternatives[swapped])
      },
      class(columns$ALT)
    )
  }
  S4Vectors::mcols(ranges) <- cbind(columns[!names(columns) %in% names(added)], added)
  ranges
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

# The variants' indices, sorted by chromosome and position.
order_of_records <- function(variants) {
  places <- SummarizedExperiment::rowRanges(variants)
  chromosomes <- as.character(GenomicRanges::seqnames(places))
  order(match(chromosomes, unique(chromosomes)), BiocGenerics::start(places))
}

# Writes the variants with all their fields, sorted. Returns their indices in the file's order.
write_all <- function(variants, file) {
  order <- order_of_records(variants)
  # writeVcf() warns about its own internal pointers.
  suppressWarnings(VariantAnnotation::writeVcf(variants[order], file))
  order
}

# Writes the columns that annotation needs, as write_all() does.
write_variants <- function(variants, file, with_genotypes) {
  places <- SummarizedExperiment::rowRanges(variants)
  chromosomes <- as.character(GenomicRanges::seqnames(places))
  positions <- BiocGenerics::start(places)
  order <- order_of_records(variants)
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

# Only a history needs genotypes, and it uses them if there are any.
uses_genotypes <- function(variants, history = NULL, ...) {
  genotypes <- VariantAnnotation::geno(variants)$GT
  !is.null(history) && is.character(genotypes) && ncol(genotypes) > 0
}

# Counts come from AC and AN only if there are no genotypes.
counts_in_info <- function(variants, history = NULL, samples = NULL, ...) {
  is_info_populations(samples) || !is.null(history) && !uses_genotypes(variants, history) &&
    all(c("AC", "AN") %in% names(VariantAnnotation::info(variants)))
}

genotypes_of <- function(variants) {
  genotypes <- VariantAnnotation::geno(variants)$GT
  genotypes[is.na(genotypes)] <- "."
  genotypes
}

annotation_fields <- c("AA", "AA_prob", "AA_post", "AA_reason")

# Adds the annotation to `variants`. `annotated`: the same variants from the file.
with_info <- function(variants, annotated) {
  kept <- VariantAnnotation::info(variants)
  added <- VariantAnnotation::info(annotated)
  kept <- kept[!names(kept) %in% c(annotation_fields, names(added))]
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

# The variants from the file, with the data of their samples and the names of `variants`.
with_all <- function(variants, annotated) {
  if (inherits(variants, "ExpandedVCF")) annotated <- VariantAnnotation::expand(annotated)
  SummarizedExperiment::colData(annotated) <- SummarizedExperiment::colData(variants)
  GenomeInfoDb::seqinfo(annotated) <- GenomeInfoDb::seqinfo(variants)
  rownames(annotated) <- rownames(variants) # names() would add columns to the ranges
  annotated
}
