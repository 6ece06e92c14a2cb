#' Count variants for a fit
#'
#' Counts the polymorphic sites of a VCF by the outgroups' bases, the two alleles and their copies.
#' [fit_history()] takes these counts. For example:
#' `count_variants("ancify.yaml", "variants.vcf.gz")`.
#'
#' The outgroups' bases come from the projected sequences in `<work_dir>/projected`. [ancify_run()]
#' with the phase `"project"` writes them.
#'
#' A site is a record with one REF and one ALT base, both present among the samples. Copies are
#' counted in `GT`, or taken from `AC` and `AN` in INFO if there is no `GT`. Records without counts,
#' positions with several sites, and positions where no outgroup has a base are not used. Records
#' that [annotate_vcf()] marked as `MASKED` or `REF_MISMATCH` are not used either; a warning counts
#' them. FILTER is ignored, so filter first (`bcftools view -f PASS`).
#'
#' @param x A configuration: a path, a list or an [ancify_config()].
#' @param vcf Path of a sorted VCF or BCF, plain, gzip or bgzip; with `{chrom}` (the chromosome's
#'   name) or `{chrom_id}` (without `chr`) for one file per chromosome. `NULL` (the default): the
#'   configuration's `variants`.
#' @param samples Names of the samples to count, all of one population; or [info_populations()] of
#'   one, to count by its fields of INFO. `NULL` (the default): the configuration's
#'   `variant_samples`, else all samples.
#' @param progress `TRUE` shows a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @return A data frame of class `ancify_variant_counts` with a row for each kind of site of a
#'   chromosome. The attribute `species` holds the outgroups in the order of the bases.
#'
#'   | Column | Meaning |
#'   | --- | --- |
#'   | `chromosome` | its name in the configuration |
#'   | `pattern` | a base or `N` for each outgroup |
#'   | `alleles` | REF and ALT, such as `"A/G"` |
#'   | `counts` | copies of ALT |
#' | `n` | sample haplotypes with a known allele |
#'   | `sites` | the number of such sites |
#' @section Errors:
#' * `ancify_projection_warning`: projections were made from another alignment than the
#'   configuration names.
#' * `ancify_config_error`: the configuration is not valid.
#' * `ancify_input_error`: no VCF is given, it lacks a sample, has none of the chromosomes, or none
#'   of its records can be used.
#' * `ancify_format_error` (fields `file`, `line`): the VCF is damaged, or a position is beyond its
#'   chromosome's end.
#' * `ancify_file_error` (field `file`): a file cannot be read.
#' * `ancify_package_error`: ancify was built without htslib.
#' @seealso [count_patterns()] for all sites, [fit_history()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' config <- ancify_example()
#' ancify_run(config, "project", threads = 1, verbose = FALSE)
#' records <- c(
#'   "chr1\t100\t.\tA\tC\t.\t.\t.\tGT\t0|1\t0|0", "chr1\t200\t.\tG\tT\t.\t.\t.\tGT\t1|1\t0|1"
#' )
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2"
#' writeLines(c("##fileformat=VCFv4.2", "##contig=<ID=chr1>", columns, records), vcf)
#' count_variants(config, vcf)
count_variants <- function(x, vcf = NULL, samples = NULL, progress = interactive()) {
  check_given()
  config <- read_config(x, "count")
  vcf <- vcf %||% config$variants
  refuse_if(is.null(vcf), "There is no VCF: give `vcf`, or set `variants` in the configuration.")
  check_projected(config$outgroups$name, config)
  warn_about_kept_projections(config)
  count_projected_variants(config, check_path(vcf, "vcf"), samples, progress)
}

count_projected_variants <- function(config, vcf, samples, progress) {
  check_htslib()
  if (is.null(samples) && !is.null(config$variant_samples)) {
    samples <- read_keep(config$variant_samples)$id
  }
  config$variants <- vcf
  files <- unlist(variants_files(config, names(config$lengths)))
  refuse_if(!length(files), no_variants_file("vcf", config))
  parts <- lapply(files, count_in_vcf, config, counted_samples(samples), progress)
  counts <- do.call(rbind, lapply(parts, `[[`, "table"))
  if (NROW(counts) == 0) {
    total <- function(name) format_count(sum(vapply(parts, `[[`, 0, name)))
    refuse_input(
      paste(
        "%s has no record to count: %s are on the configuration's chromosomes, %s have alleles",
        "without counts (`GT`, or `AC` and `AN`), and `AA_reason` excludes %s."
      ),
      quoted(vcf), total("records"), total("uncounted"), total("excluded")
    )
  }
  warn_excluded(vcf, sum(vapply(parts, `[[`, 0, "excluded")))
  rownames(counts) <- NULL
  structure(
    counts, species = config$outgroups$name, class = c("ancify_variant_counts", "data.frame")
  )
}

# list(table =, records =, uncounted =, excluded =) of one file.
count_in_vcf <- function(vcf, config, samples, progress) {
  species <- config$outgroups$name
  counts <- with_watch("Counting variants", function(watch) {
    chromosomes <- variant_chromosomes_impl(vcf, watch)
    known <- names(config$lengths)
    chromosomes <- chromosomes[!is.na(match_chromosomes(chromosomes, known))]
    files <- outgroup_files(dirname(projected_folder(config, species)[1]), species, chromosomes)
    count_variants_impl(vcf, files, samples, watch)
  }, progress)
  bases <- c("A", "C", "G", "T", "N")
  letters <- lapply(seq_along(species), function(i) {
    bases[counts$pattern %/% 5^(i - 1) %% 5 + 1]
  })
  table <- data.frame(
    chromosome = configured_names(counts$chromosomes, config)[counts$chromosome + 1],
    pattern = do.call(paste0, letters),
    alleles = paste(bases[counts$first + 1], bases[counts$second + 1], sep = "/"),
    counts = counts$copies, n = counts$haplotypes, sites = counts$sites
  )
  list(table = table, records = counts$records, uncounted = counts$uncounted,
       excluded = counts$excluded)
}

warn_excluded <- function(vcf, excluded) {
  if (excluded == 0) {
    return(invisible())
  }
  warn_ancify(
    sprintf(
      paste("%s: %s left out, which `AA_reason` calls MASKED or REF_MISMATCH. To count all, remove",
            "it (bcftools annotate -x INFO/AA_reason)."),
      quoted(vcf), if (excluded == 1) "1 site is" else paste(format_count(excluded), "sites are")
    ),
    "annotation"
  )
}

# A VCF may have "1" for "chr1".
configured_names <- function(chromosomes, config) {
  names(config$lengths)[match_chromosomes(chromosomes, names(config$lengths))]
}

#' @export
print.ancify_variant_counts <- function(x, ...) {
  if (!all(c("pattern", "n", "sites") %in% names(x))) {
    return(NextMethod())
  }
  n <- if (nrow(x)) unique(range(x$n)) else 0
  write_object("ancify_variant_counts", c(
    paste(format_count(sum(x$sites)), "sites"),
    paste(paste(vapply(n, format_count, ""), collapse = " to "), "haplotypes"),
    paste("outgroups", enumerate(attr(x, "species") %||% "?"))
  ))
  most <- utils::head(order(-x$sites), 10)
  print.data.frame(x[most, ], row.names = FALSE)
  if (nrow(x) > length(most)) cat("... and", format_count(nrow(x) - length(most)), "more rows\n")
  invisible(x)
}
