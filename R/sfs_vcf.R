#' Make a spectrum from a VCF
#'
#' Makes the joint site frequency spectrum of up to five populations from the genotypes of a VCF
#' or BCF: `sfs_from_vcf("variants.vcf.gz", "populations.txt")`. Or the allele counts come from its
#' INFO, as in gnomAD: `sfs_from_vcf("sites.vcf.gz", info_populations("afr"), 100)`. The ancestral
#' alleles come from INFO, from the calls of a run, or from a FASTA file. Their posteriors, if
#' available, weight each site.
#'
#' **Sites.** A site is a record with one REF and one ALT base, one of them ancestral. Each `GT`
#' allele that is not missing is a called haplotype, phased or not, at any ploidy: `./1` and a
#' haploid `1` count as one each. [sfs_from_sites()] describes projection, posteriors and bootstrap.
#'
#' **Ancestral alleles and posteriors:**
#'
#' | Case | Result |
#' | --- | --- |
#' | `ancestral` is `NULL` | `AA` in INFO is ancestral; lower case is low confidence |
#' | `AA` has bars, as in the 1000 Genomes Project | the base before the first bar |
#' | INFO has `AA_post`, of A, C, G and T | posterior: `AA`'s value over the sum for both alleles |
#' | else INFO has `AA_prob` | posterior: `AA_prob` |
#' | `ancestral` is a run or a FASTA | its bases are ancestral; lower case is low confidence |
#' | `ancestral` is a run with `posterior: true` | posterior: the run's |
#' | no posterior exists | the site counts as certain |
#'
#' A run does not see the samples, so its posteriors are not calibrated for variable sites
#' (`vignette("methods", "ancify")`). [annotate_vcf()] with a `history` writes better ones, as
#' `AA_post`.
#'
#' **Records.** Each record has one reason, the first that applies, as in [annotate_vcf()]:
#'
#' | Reason | Meaning |
#' | --- | --- |
#' | `INDEL` | an allele is not one of A, C, G, T (also `<DEL>`) |
#' | `MONOMORPHIC` | ALT is absent, or is the same base as REF |
#' | `MULTIALLELIC` | several ALTs exist, excluding `*` and unobserved alleles |
#' | `REF_MISMATCH` | REF differs from the base of `reference`, or `AA_reason` says so |
#' | `MASKED` | `AA_reason` says so: the record was in the `mask` of [annotate_vcf()] |
#' | `NO_COVERAGE` | the ancestral base is missing (`N`, `-`, `.`, or nothing) |
#' | `UNRESOLVED` | the ancestral base is `n` |
#' | `NEITHER_ALLELE` | the ancestral base is neither REF nor ALT |
#' | `LOW` | the ancestral base has low confidence, and `low_confidence = FALSE` |
#' | `NO_COUNTS` | with [info_populations()]: a population lacks `AC` or `AN` |
#' | `BAD_COUNTS` | with [info_populations()]: `AC` exceeds `AN` |
#' | `TOO_FEW` | a population has fewer called haplotypes than `project` |
#' | `USED` | the record is in the spectrum |
#'
#' **Insertions and deletions.** `kind` requests the spectrum of records whose alleles have several
#' bases. Their `AA` must come from [annotate_vcf()] with `also = "indels"`. All reasons above apply
#' to indels, and `OTHER_KIND` to records of another kind. The derived allele of an insertion is
#' longer than the ancestral one. Spectra of indels have no posteriors. Their mutation rates differ
#' from those of bases, so do not add them to a spectrum of SNPs. Some programs write the base at
#' `POS` as the `AA` of an indel. That base would be mistaken for a one-base allele, so annotate
#' such files anew.
#'
#' FILTER is ignored, and each part of a split multi-allelic record counts as a record. Filter and
#' join records first (`bcftools view -f PASS`, `bcftools norm -m +any`). Sites that are invariant
#' in these populations are in masked cells.
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted. It needs no index.
#' @param populations The population of each sample: a character vector of populations named by
#'   samples; a data frame with the columns `sample` and `population`; or the path of a file with
#'   one sample and its population per line, separated by a tab or blanks. Populations keep the
#'   order of first appearance. For files of sites without genotypes: [info_populations()], or
#'   `NULL` for one population, by `AC` and `AN` of INFO.
#' @param project Sample size of the spectrum: haplotypes for each population, in order or named.
#'   Default: the maximum called at any site, so sites with missing genotypes are excluded. Above
#'   100,000 haplotypes there is no default.
#' @param ancestral The source of ancestral bases: `NULL` (the default) or `"AA"` for `AA` in INFO,
#'   as in [annotate_vcf()]. Its other forms are also accepted: the output folder of a run (or the
#'   `ancify_run`), a FASTA file, or a path with `{chrom}` or `{chrom_id}`.
#' @param reference The focal genome's sequence, in any of these forms or as a 2bit file. It reveals
#'   CpG sites and REF mismatches. `NULL` (the default): neither is checked.
#' @param low_confidence Whether to use ancestral bases of low confidence; `TRUE` (the default).
#' @param subset Whether to exclude samples without a population. With `FALSE` (the default) such
#'   samples are an error.
#' @param window Length of the bootstrap's windows in bases, such as 1,000,000. Windows start at
#'   the first base of a chromosome; windows without sites are ignored. `NULL` (the default): no
#'   bootstrap.
#' @param replicates Number of bootstrap spectra, 100 by default. Used only with a `window`.
#' @param kind The records to use: `"snps"` (the default), `"indels"`, or only `"insertions"` or
#'   `"deletions"`, relative to the ancestral allele.
#' @param classes For a spectrum of each class of sites: a data frame of `chromosome`, `position`
#'   and `class`, and optionally `derived`, the derived base. Sites without a class are excluded,
#'   with the reason `UNCLASSED`. Each level of a factor `class` has a spectrum, even without sites.
#'   A result of [coding_changes()] gives the worst consequence of each site. `NULL` (the default):
#'   all sites together. Not with `window`.
#' @param folded Whether to count the rarer allele of each SNP, which needs no ancestral alleles;
#'   `FALSE` (the default). With `TRUE`, `AA` is ignored.
#' @param mask A BED of regions whose sites are excluded, with the reason `MASKED`. `NULL` (the
#'   default): none.
#' @inheritParams annotate_vcf
#' @inheritParams sfs_from_sites
#' @return An [sfs()], unfolded unless `folded` is `TRUE`; with `classes` a list of spectra, named
#'   by class. It has these attributes:
#' * `records`: a data frame of `reason`, in the order above, and `records`, their number. The sum
#'   is the number of records of the file.
#' * `letters`: with `AA` of INFO, a data frame of `letter` and `records` ([annotate_vcf()]).
#' * `sites`: as from [sfs_from_sites()].
#' * `misidentification`: only with posteriors, as from [sfs_from_sites()]. It has a row for each
#'   `mutation`, such as `"C>T"`, which includes its complement `"G>A"`. With a `reference` it also
#'   has `cpg`: whether an allele forms a CG with its neighbour, `NA` if unknown.
#' * `bootstrap`: only with a `window`, a list of spectra.
#' @section Errors:
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged or violates its format. Cases:
#'   a VCF that is truncated, unsorted or without samples or genotypes; an impossible allele or
#'   posterior; a position beyond its chromosome's end; an undeclared chromosome in a header that
#'   declares others.
#' * `ancify_input_error`: samples and populations do not match; there are more than five
#'   populations; `project` exceeds the called haplotypes; no record is a site; a bootstrap has
#'   fewer than two windows; `ancestral` or `reference` has none of the chromosomes; `kind` is for
#'   indels, but `ancestral` is not `AA`; `folded` is combined with `ancestral`,
#'   `low_confidence = FALSE` or indels; or `classes` assigns a site to two classes.
#' * `ancify_file_error` (field `file`): a file cannot be read.
#' * `ancify_package_error`: ancify was built without htslib.
#' * `ancify_annotation_warning`: `ancestral` lacks chromosomes of the VCF, or the VCF seems to use
#'   another genome build ([annotate_vcf()]).
#' @inherit sfs_from_sites references
#' @seealso [sfs_from_sites()], [annotate_vcf()], [coding_changes()], [fold()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' records <- c(
#'   "1\t100\t.\tA\tC\t.\t.\tAA=A\tGT\t0|1\t0|0\t1|1",
#'   "1\t200\t.\tG\tT\t.\t.\tAA=t\tGT\t0/1\t./.\t0/0",
#'   "1\t300\t.\tG\tT,C\t.\t.\tAA=G\tGT\t0/1\t2/2\t0/0"
#' )
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2\ts3"
#' writeLines(c("##fileformat=VCFv4.2", columns, records), vcf)
#'
#' populations <- c(s1 = "YRI", s2 = "YRI", s3 = "CEU")
#' x <- sfs_from_vcf(vcf, populations, project = c(YRI = 2, CEU = 2), threads = 1)
#' x
#' attr(x, "records")
sfs_from_vcf <- function(vcf, populations, project = NULL, ancestral = NULL, reference = NULL,
                         low_confidence = TRUE, subset = FALSE, window = NULL, replicates = 100,
                         threads = NULL, progress = interactive(),
                         kind = c("snps", "indels", "insertions", "deletions"),
                         classes = NULL, folded = FALSE, mask = NULL) {
  check_args(folded = flag(), low_confidence = flag(), subset = flag(),
             window = optional(whole(2^53)), replicates = whole(), vcf = one_path())
  if (is_info(ancestral)) ancestral <- NULL
  kind <- check_site_kind(kind, ancestral)
  if (folded) check_foldable(kind, ancestral, low_confidence)
  if (!is.null(ancestral)) ancestral <- folder_of_calls(ancestral, "ancestral")
  check_args(reference = optional(one_path()), mask = optional(one_path()))
  work <- new_work(threads, progress = progress)
  check_htslib()
  if (!is.null(classes)) classes <- site_classes(classes, kind, window)
  given <- counts_for_spectrum(vcf, populations, project, subset)
  names <- given$names

  found <- with_watch("Reading", function(watch) {
    tabulate_vcf(
      vcf, given$counts, ancestral, reference, mask, low_confidence, window, kind, classes, folded,
      work, watch
    )
  }, work$progress)
  of_info <- is.null(ancestral) && !folded
  if (!is.null(ancestral)) warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, of_info)
  warn_about_counts(found, vcf)
  left_out <- c(
    records_left_out(found, low_confidence, reasons_for(kind, given$counts$named)),
    if (!is.null(classes)) c(UNCLASSED = found$unclassed)
  )
  check_any_site(found, left_out, vcf, of_info, paste(
    " Or give `folded = TRUE`, for counts of the rarer allele: a folded spectrum needs no",
    "ancestral alleles."
  ))
  sizes <- sizes_to_project(project, found$most, names)
  draws <- draws_of_windows(found$windows, window, replicates, classes)
  check_all_cells(sizes, 1 + ncol(draws))
  result <- with_watch("Making the spectrum", function(watch) {
    variant_spectrum_impl(found$table, sizes, draws, work, watch)
  }, work$progress)

  spectrum <- if (is.null(classes)) {
    site_spectrum(result, sizes, names)
  } else {
    spectra_of_classes(result$bootstrap, classes$names, sizes, names)
  }
  if (folded) spectrum <- fold_all(spectrum)
  if (of_info) attr(spectrum, "letters") <- found$letters
  with_records(spectrum, result, left_out, found$has_posteriors, by_cpg = !is.null(reference))
}

# list(names = of the populations or NULL, counts = as from count_source()). Unsuitable sizes are
# reported before the file is read.
counts_for_spectrum <- function(vcf, populations, project, subset) {
  given <- populations_given(populations)
  if (!is.null(project) && !is.null(given)) order_sizes(project, given$names)
  list(names = given$names, counts = count_source(vcf, given, subset))
}

# The reasons of records that are not sites. `named`: whether named fields of INFO count alleles.
reasons_for <- function(kind, named) {
  c(reasons_left_out, if (kind != "snps") "OTHER_KIND", if (named) reasons_of_counts)
}

# The spectrum with its counts of records and, if there are posteriors, its misidentification rates.
with_records <- function(spectrum, result, left_out, has_posteriors, by_cpg) {
  records <- c(left_out, TOO_FEW = result$sites - result$used, USED = result$used)
  attr(spectrum, "records") <- data.frame(reason = names(records), records = unname(records))
  if (has_posteriors) {
    sums <- result$misidentification
    kinds <- sums[c("mutation", if (by_cpg) "cpg")]
    attr(spectrum, "misidentification") <- misidentification_rates(kinds, sums)
  }
  spectrum
}

check_foldable <- function(kind, ancestral, low_confidence) {
  refuse_if(!is.null(ancestral),
            "`folded = TRUE` needs no ancestral alleles: leave `ancestral` out.")
  refuse_if(!low_confidence,
            "`folded = TRUE` needs no ancestral alleles: leave `low_confidence = FALSE` out.")
  refuse_if(
    kind != "snps",
    "`folded = TRUE` is for SNPs: insertions and deletions are told by the ancestral allele."
  )
}

# A spectrum and its bootstrap, or a list of spectra, folded.
fold_all <- function(x) {
  if (!is_sfs(x)) {
    return(lapply(x, fold))
  }
  folded <- fold(x)
  attr(folded, "sites") <- attr(x, "sites")
  bootstrap <- attr(x, "bootstrap")
  if (!is.null(bootstrap)) attr(folded, "bootstrap") <- lapply(bootstrap, fold)
  folded
}

# The multiplicity of each window in each replicate. A class acts as a window with its own
# replicate.
draws_of_windows <- function(windows, window, replicates, classes) {
  if (!is.null(classes)) {
    diag(1L, windows)
  } else if (is.null(window)) {
    no_draws
  } else {
    draw_windows(windows, replicates)
  }
}

# `counts`: as from count_source(). `least_posterior`: as in the core's VariantSitesOptions.
tabulate_vcf <- function(vcf, counts, ancestral, reference, mask, low_confidence, window, kind,
                         classes, folded, work, watch, least_posterior = 0) {
  use_info <- is.null(ancestral) && !folded
  # These names locate sequences and regions. Without them, one pass over the file is enough.
  located <- c(ancestral, reference, mask)
  chromosomes <- if (length(located)) variant_chromosomes_impl(vcf, watch) else character()
  options <- core_list(
    "VariantSitesOptions",
    use_info = use_info, folded = folded, mask = mask %||% "",
    low_confidence = low_confidence, window = window %||% 0, work = work,
    kind = match(kind, site_kinds) - 1L, n_classes = length(classes$names),
    classes = classes$by_chromosome %||% list(), least_posterior = least_posterior
  )
  sequences <- record_sequences(chromosomes, ancestral, reference)
  tabulate_variants_impl(vcf, counts, sequences, options, watch)
}

# Kinds in the core's order.
site_kinds <- c("snps", "indels", "insertions", "deletions")

check_site_kind <- function(kind, ancestral) {
  kind <- check_choice(kind, site_kinds, "kind")
  refuse_if(kind != "snps" && !is.null(ancestral),
            paste("`kind = %s` takes the ancestral alleles from AA in INFO: annotate the file by",
                  "annotate_vcf(), with `also = \"indels\"`, and leave `ancestral` out."),
            dQuote(kind, FALSE))
  kind
}
