#' Make a spectrum from a VCF
#'
#' Makes the joint site frequency spectrum of up to five populations from the genotypes of a VCF
#' or BCF: `sfs_from_vcf("variants.vcf.gz", "populations.txt")`. The ancestral alleles come from
#' the file's INFO, from the calls of a run, or from a FASTA file. Their posteriors, if there are
#' any, weigh each site.
#'
#' **Sites.** A site is a record with one REF and one ALT base, one of them ancestral. Each `GT`
#' allele that is not missing is a called haplotype, phased or not, at any ploidy: `./1` and a
#' haploid `1` are one each. [sfs_from_sites()] describes projection, posteriors and bootstrap.
#'
#' **Ancestral alleles and posteriors:**
#'
#' | Case | Result |
#' | --- | --- |
#' | `ancestral` is `NULL` | `AA` in INFO is ancestral; lower case is low confidence |
#' | `AA` has bars, as in the 1000 Genomes Project | the base before the first bar |
#' | INFO has `AA_post`, of A, C, G and T | posterior: that of `AA` over the sum of both alleles' |
#' | else INFO has `AA_prob` | posterior: `AA_prob` |
#' | `ancestral` is a run or a FASTA | its bases are ancestral; lower case is low confidence |
#' | `ancestral` is a run with `posterior: true` | posterior: the run's |
#' | there is no posterior | the site counts as certain |
#'
#' A run does not see the samples, so that its posteriors are not calibrated for variable sites
#' (`vignette("methods", "ancify")`). [annotate_vcf()] with a `history` writes better ones, as
#' `AA_post`.
#'
#' **Records.** Each record has one reason, the first that holds, as in [annotate_vcf()]:
#'
#' | Reason | Meaning |
#' | --- | --- |
#' | `INDEL` | an allele is not one of A, C, G, T (also `*` and `<DEL>`) |
#' | `MONOMORPHIC` | there is no ALT, or it is the same base as REF |
#' | `MULTIALLELIC` | there are several ALTs |
#' | `REF_MISMATCH` | REF differs from the base of `reference` |
#' | `NO_COVERAGE` | the ancestral base is missing (`N`, `-`, `.`, or nothing) |
#' | `UNRESOLVED` | the ancestral base is `n` |
#' | `NEITHER_ALLELE` | the ancestral base is neither REF nor ALT |
#' | `LOW` | the ancestral base has low confidence, and `low_confidence = FALSE` |
#' | `TOO_FEW` | a population has fewer called haplotypes than `project` |
#' | `USED` | the record is in the spectrum |
#'
#' **Insertions and deletions.** `kind` asks for the spectrum of records whose alleles have several
#' bases, by `AA` of [annotate_vcf()] with `also = "indels"`. All reasons above hold for them, and
#' `OTHER_KIND` for records of another kind. An insertion has a derived allele that is longer than
#' the ancestral one. Spectra of indels have no posteriors. Their mutation rates differ from those
#' of bases, so do not add them to a spectrum of SNPs. Some programs write the base at `POS` as the
#' `AA` of an indel. It would be taken for the allele of one base, so annotate such files anew.
#'
#' FILTER is ignored, and each part of a split multi-allelic record counts as a record. Filter and
#' join them first (`bcftools view -f PASS`, `bcftools norm -m +any`). Sites that do not vary in
#' these populations are in masked cells.
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted. It needs no index.
#' @param populations The population of each sample: a character vector of populations named by
#'   samples; a data frame with the columns `sample` and `population`; or the path of a file with
#'   a sample and its population a line, separated by a tab or blanks. Populations keep the order
#'   of their first appearance.
#' @param project Sample size of the spectrum: haplotypes for each population, in order or named.
#'   Default: the most called at any site, so that sites with missing genotypes are left out.
#' @param ancestral The source of ancestral bases: `NULL` (the default) or `"AA"` for `AA` in INFO,
#'   as in [annotate_vcf()]. Otherwise also as there: the output folder of a run (or the
#'   `ancify_run`), a FASTA file, or a path with `{chrom}` or `{chrom_id}`.
#' @param reference The focal genome's sequence, in the same forms or as a 2bit file. It shows CpG
#'   sites and REF mismatches. `NULL` (the default): neither is checked.
#' @param low_confidence Whether to use ancestral bases of low confidence; `TRUE` (the default).
#' @param subset Whether to leave out samples without a population. With `FALSE` (the default) such
#'   samples are an error.
#' @param window Length of the bootstrap's windows in bases, such as 1,000,000. Windows start at
#'   the first base of a chromosome; those without sites are ignored. `NULL` (the default): no
#'   bootstrap.
#' @param replicates Number of bootstrap spectra, 100 by default. Used only with a `window`.
#' @param kind The records to use: `"snps"` (the default), `"indels"`, or of these `"insertions"` or
#'   `"deletions"` alone, seen from the ancestral allele.
#' @param classes For a spectrum of each class of sites: a data frame of `chromosome`, `position`
#'   and `class`, and maybe `derived`, the derived base. Sites without a class are left out. Each
#'   level of a factor `class` has a spectrum, also without sites. A result of [coding_changes()]
#'   gives the worst consequence of each site. `NULL` (the default): all sites together. Not with
#'   `window`.
#' @inheritParams annotate_vcf
#' @inheritParams sfs_from_sites
#' @return An unfolded [sfs()], or with `classes` a list of these, named by classes. It has these
#'   attributes:
#' * `records`: a data frame of `reason`, in the order above, and `records`, their number. The sum
#'   is the number of records of the file.
#' * `letters`: with `AA` of INFO, a data frame of `letter` and `records` ([annotate_vcf()]).
#' * `sites`: as from [sfs_from_sites()].
#' * `misidentification`: with posteriors only, as from [sfs_from_sites()]. It has a row for each
#'   `mutation`, such as `"C>T"`, which includes its complement `"G>A"`. With a `reference` it has
#'   `cpg` too: whether an allele forms a CG with its neighbour, `NA` if unknown.
#' * `bootstrap`: with a `window` only, a list of spectra.
#' @section Errors:
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged or breaks its format. Cases:
#'   a VCF that is cut short, unsorted or without samples or genotypes; an impossible allele or
#'   posterior; a position beyond its chromosome's end; an undeclared chromosome in a header that
#'   declares others.
#' * `ancify_input_error`: samples and populations do not match; there are more than five
#'   populations; `project` exceeds the called haplotypes; no record is a site; a bootstrap has
#'   fewer than two windows; or `ancestral` or `reference` has none of the chromosomes. Or `kind` is
#'   for indels, but `ancestral` is not `AA`; or `classes` puts a site in two classes.
#' * `ancify_file_error` (field `file`): a file cannot be read.
#' * `ancify_package_error`: ancify was built without htslib.
#' * `ancify_annotation_warning`: `ancestral` lacks chromosomes of the VCF, or the VCF seems to be
#'   of another genome build ([annotate_vcf()]).
#' @inherit sfs_from_sites references
#' @seealso [sfs_from_sites()], [annotate_vcf()], [coding_changes()]; [fold()] if no ancestral
#'   alleles are known
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
                         classes = NULL) {
  check_given()
  vcf <- check_path(vcf, "vcf")
  if (is_info(ancestral)) ancestral <- NULL
  kind <- check_site_kind(kind, ancestral)
  if (!is.null(ancestral)) ancestral <- folder_of_calls(ancestral, "ancestral")
  if (!is.null(reference)) reference <- check_path(reference, "reference")
  check_flag(low_confidence, "low_confidence")
  check_flag(subset, "subset")
  if (!is.null(window)) check_whole_number(window, "window", 2^53)
  check_whole_number(replicates, "replicates")
  threads <- resolve_threads(threads)
  check_htslib()
  if (!is.null(classes)) classes <- site_classes(classes, kind, window)
  table <- population_table(populations)
  names <- unique(table$population)
  if (!is.null(project)) project <- order_sizes(project, names)
  samples <- variant_samples_impl(vcf)
  check_samples(samples, table, vcf, subset)

  found <- with_watch("Reading", function(watch) {
    numbers <- sample_populations(samples, table)
    tabulate_vcf(
      vcf, numbers, ancestral, reference, low_confidence, window, kind, classes, threads, watch
    )
  }, progress)
  if (!is.null(ancestral)) warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, is.null(ancestral))
  reasons <- c(reasons_without_mask, if (kind != "snps") "OTHER_KIND")
  left_out <- c(
    records_left_out(found, low_confidence, reasons),
    if (!is.null(classes)) c(UNCLASSED = found$unclassed)
  )
  check_any_site(found, left_out, vcf, is.null(ancestral))
  sizes <- sizes_to_project(project, found$most, names)
  draws <- draws_of_windows(found$windows, window, replicates, classes)
  result <- with_watch("Making the spectrum", function(watch) {
    variant_spectrum_impl(found$table, sizes, draws, threads, watch)
  }, progress)

  spectrum <- if (is.null(classes)) {
    site_spectrum(result, sizes, names)
  } else {
    spectra_of_classes(result$bootstrap, classes$names, sizes, names)
  }
  records <- c(left_out, TOO_FEW = result$sites - result$used, USED = result$used)
  if (is.null(ancestral)) attr(spectrum, "letters") <- found$letters
  attr(spectrum, "records") <- data.frame(reason = names(records), records = unname(records))
  if (found$has_posteriors) {
    sums <- result$misidentification
    kinds <- sums[c("mutation", if (!is.null(reference)) "cpg")]
    attr(spectrum, "misidentification") <- misidentification_rates(kinds, sums)
  }
  spectrum
}

# How often a replicate has each window. A class is a window, and has a replicate of its own.
draws_of_windows <- function(windows, window, replicates, classes) {
  if (!is.null(classes)) {
    diag(1L, windows)
  } else if (is.null(window)) {
    no_draws
  } else {
    draw_windows(windows, replicates)
  }
}

# `populations`: each sample's population number, as from sample_populations().
tabulate_vcf <- function(vcf, populations, ancestral, reference, low_confidence, window, kind,
                         classes, threads, watch) {
  use_info <- is.null(ancestral)
  # Sequences are found by these names. Without sequences, one pass over the file is enough.
  chromosomes <- if (use_info && is.null(reference)) {
    character()
  } else {
    variant_chromosomes_impl(vcf, watch)
  }
  options <- list(
    use_info = use_info, low_confidence = low_confidence, window = window %||% 0, threads = threads,
    kind = match(kind, site_kinds) - 1L, n_classes = length(classes$names),
    classes = classes$by_chromosome %||% list()
  )
  sequences <- record_sequences(chromosomes, ancestral, reference)
  tabulate_variants_impl(vcf, populations, sequences, options, watch)
}

reasons_without_mask <- c(
  "INDEL", "MONOMORPHIC", "MULTIALLELIC", "REF_MISMATCH", "NO_COVERAGE", "UNRESOLVED",
  "NEITHER_ALLELE", "LOW"
)

reasons_with_mask <- append(
  reasons_without_mask, "MASKED", match("REF_MISMATCH", reasons_without_mask)
)

# In the core's order.
site_kinds <- c("snps", "indels", "insertions", "deletions")

check_site_kind <- function(kind, ancestral) {
  kind <- check_choice(kind, site_kinds, "kind")
  if (kind != "snps" && !is.null(ancestral)) {
    abort_ancify(
      sprintf(
        paste(
          "`kind = %s` takes the ancestral alleles from AA in INFO: annotate the file by",
          "annotate_vcf(), with `also = \"indels\"`, and leave `ancestral` out."
        ),
        dQuote(kind, FALSE)
      ),
      "input"
    )
  }
  kind
}

# Numbers of records that are not sites, by reason.
records_left_out <- function(found, low_confidence, which = reasons_without_mask) {
  reasons <- c(
    colSums(found$reasons), MONOMORPHIC = found$monomorphic, OTHER_KIND = found$other_kind
  )
  if (low_confidence) reasons["LOW"] <- 0
  reasons[which]
}

check_any_site <- function(found, left_out, vcf, use_info) {
  if (sum(found$chromosomes$records) > sum(left_out)) {
    return(invisible())
  }
  some <- left_out[left_out > 0]
  abort_ancify(
    paste0(
      sprintf("%s has no record for a spectrum: ", quoted(vcf)),
      if (!length(some)) "it has no records",
      paste(vapply(some, format_count, ""), names(some), collapse = ", "), ".",
      if (use_info && left_out[["NO_COVERAGE"]] > 0) {
        " If its INFO has no AA, give `ancestral`: calls or a FASTA file."
      }
    ),
    "input"
  )
}

# ---- Populations ------------------------------------------------------------------------------

# A data frame of sample and population, without factors. `most`: populations that there may be.
population_table <- function(populations, most = core_limits()$populations) {
  is_named <- !is.null(names(populations))
  if (is.data.frame(populations)) {
    table <- population_columns(populations)
  } else if (is_named && (is.character(populations) || is.factor(populations))) {
    table <- list(sample = names(populations), population = populations)
  } else if (is.character(populations) && length(populations) == 1) {
    return(population_file(check_path(populations, "populations"), most))
  } else {
    abort_ancify(
      sprintf(
        paste(
          "`populations` must be populations named by samples, a data frame or the path of a file,",
          "not %s."
        ),
        show_value(populations)
      ),
      "input"
    )
  }
  table <- data.frame(lapply(table, as.character))
  check_population_table(table, most)
  table
}

# The table in a file. Errors name the file.
population_file <- function(file, most) {
  table <- read_populations_impl(file)
  tryCatch(check_population_table(table, most), ancify_input_error = function(condition) {
    abort_ancify(paste0(quoted(file), ": ", conditionMessage(condition)), "input", file = file)
  })
  table
}

population_columns <- function(populations) {
  columns <- c("sample", "population")
  if (!all(columns %in% names(populations))) {
    abort_ancify(
      sprintf("`populations` has the columns %s, but needs `sample` and `population`.",
              enumerate(quoted(names(populations)))),
      "input"
    )
  }
  populations[columns]
}

check_population_table <- function(table, most) {
  wrong <- which(is.na(table$sample) | is.na(table$population) | !nzchar(table$sample))
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`populations` has the sample %s in population %s: give both, or leave out the sample.",
        quoted(table$sample[wrong[1]]), quoted(table$population[wrong[1]])
      ),
      "input"
    )
  }
  twice <- which(duplicated(table$sample))
  if (length(twice)) {
    abort_ancify(
      sprintf("`populations` has the sample %s twice.", quoted(table$sample[twice[1]])), "input"
    )
  }
  names <- unique(table$population)
  if (length(names) < 1 || length(names) > most) {
    abort_ancify(
      sprintf(
        "`populations` has %d populations%s, but a spectrum has %s. %s", length(names),
        if (length(names)) sprintf(" (%s)", enumerate(quoted(names))) else "",
        if (is.finite(most)) sprintf("1 to %d", most) else "1 or more",
        if (length(names)) {
          "Leave out the other samples, with `subset = TRUE`."
        } else {
          "Name the samples to use."
        }
      ),
      "input"
    )
  }
  check_populations(names, length(names))
}

# Checks that the table and the file have the same samples.
check_samples <- function(samples, table, vcf, subset) {
  lacking <- setdiff(table$sample, samples)
  if (length(lacking)) {
    empty <- setdiff(table$population, table$population[table$sample %in% samples])
    abort_ancify(
      sprintf(
        "%s has no sample %s of `populations`%s; its samples are %s.%s", quoted(vcf),
        enumerate(quoted(lacking)),
        if (length(empty)) {
          sprintf(", so none of the population %s", enumerate(quoted(empty)))
        } else {
          ""
        },
        enumerate(quoted(samples)),
        if (identical(lacking, table$sample[1])) " Is the first line a header? Remove it." else ""
      ),
      "input"
    )
  }
  others <- setdiff(samples, table$sample)
  if (length(others) && !subset) {
    abort_ancify(
      sprintf(
        "%s of the samples of %s are in no population: %s. `subset = TRUE` leaves them out.",
        format_count(length(others)), quoted(vcf), enumerate(quoted(others))
      ),
      "input"
    )
  }
}

# Each sample's population number from 0, or -1 for none.
sample_populations <- function(samples, table) {
  numbers <- match(table$population, unique(table$population)) - 1L
  numbers <- numbers[match(samples, table$sample)]
  ifelse(is.na(numbers), -1L, numbers)
}
