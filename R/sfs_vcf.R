#' Make a spectrum of a VCF
#'
#' Makes the joint spectrum of up to five populations from the genotypes in a VCF or BCF.
#' What is ancestral comes from its INFO, or from the calls of a run or any FASTA;
#' posteriors, where there are, are in the spectrum.
#'
#' A site is a record with one ALT and two single bases, one of which is ancestral. Its
#' haplotypes called are those of the genotypes' (`GT`) alleles that are not missing,
#' phased or not, whatever the ploidy: `./1` is one, and so is a haploid `1`. What becomes
#' of sites, how they are projected, and what posteriors and windows do, is as in
#' [sfs_from_sites()].
#'
#' **What is ancestral.** By default `AA` in INFO, in either case; lower case is low
#' confidence. Of what the 1000 Genomes Project wrote (`G|||`) the base before the bar
#' counts. The posterior of `AA` is `AA_prob`; with `AA_post`, those of A, C, G and T, it is
#' that of `AA` over the sum of the two alleles'. With the folder of a run that has
#' `posterior: true`, posteriors are the run's. A site without one is sure. A run
#' knows nothing of the samples: where these vary its posteriors are not calibrated
#' (`vignette("methods", "ancify")`), and [annotate_vcf()] with a `history` gives better
#' ones, as `AA_post`.
#'
#' **Records.** Each is of one reason, the first that holds, as in [annotate_vcf()]:
#'
#'   | | |
#'   | --- | --- |
#'   | `INDEL` | an allele is not one of A, C, G, T (also `*` and `<DEL>`) |
#'   | `MONOMORPHIC` | there is no ALT, or it is the same base as REF |
#'   | `MULTIALLELIC` | there are several ALTs |
#'   | `REF_MISMATCH` | REF is another base than `reference` has there |
#'   | `NO_COVERAGE` | no base is given as ancestral (`N`, `-`, `.`, or nothing) |
#'   | `UNRESOLVED` | it is `n` |
#'   | `NEITHER_ALLELE` | it is neither REF nor ALT |
#'   | `LOW` | it is of low confidence, with `low_confidence = FALSE` |
#'   | `TOO_FEW` | fewer haplotypes are called than wanted, in any population |
#'   | `USED` | it is in the spectrum |
#'
#' FILTER does not count, and each part of a multi-allelic record that was split is a record:
#' filter and join them before (`bcftools view -f PASS`, `bcftools norm -m +any`). Sites that
#' do not vary in these populations are in the cells that are masked.
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted; no index is needed.
#' @param populations The population of each sample: a character vector of populations
#'   named by the samples; a data frame with the columns `sample` and `population`; or the
#'   path of a file with a sample and its population a line, divided by a tab or blanks.
#'   Populations are in the order in which they come first.
#' @param project Haplotypes of each population that the spectrum is to have, in
#'   their order or named by them. By default the most that are called at any site:
#'   then only sites without missing genotypes are used.
#' @param ancestral What is ancestral: `NULL` (the default) for `AA` in INFO; or as for
#'   [annotate_vcf()] the output folder of a run (or the `ancify_run`), a FASTA file, or a
#'   path with `{chrom}` or `{chrom_id}` in it.
#' @param reference The genome's own sequence, in any of these forms, to tell which sites
#'   are in a CpG and where REF is another base; `NULL` (the default) for none.
#' @param low_confidence Whether to use sites with an ancestral base of low confidence; `TRUE` by
#'   default.
#' @param subset Whether to leave out samples that are in no population; with `FALSE` (the
#'   default) they are an error.
#' @param window Length of the windows of a bootstrap in bases, such as 1,000,000; windows
#'   begin at the chromosome's start, and those without sites do not count. `NULL` (the
#'   default) for no bootstrap.
#' @param replicates Spectra to draw, 100 by default; none without a `window`.
#' @inheritParams annotate_vcf
#' @inheritParams sfs_from_sites
#' @return An [sfs()], unfolded, as from [sfs_from_sites()], with the same attributes: `sites`;
#'   where there are posteriors `misidentification`, by `mutation` (such as `"C>T"`, which
#'   stands for its complement `"G>A"` too) and with a `reference` by `cpg`: whether one of the
#'   two alleles makes a CG with its neighbour, `NA` where that is not known; with a window
#'   `bootstrap`. Besides `records`, a data frame of `reason` and the number of `records`,
#'   in the order above, which add up to those of the file.
#' @section Errors:
#' `ancify_format_error`, with the record and its line, for a VCF that is damaged, cut short or not
#' sorted, or has a genotype of an allele or a posterior that cannot be; for a position behind the
#' end of its sequence or the length that the header declares; where sequences are looked up, for a
#' chromosome that the header does not declare though it declares others; for a VCF without samples
#' or without genotypes; with the line
#' for a file of populations that is none. `ancify_input_error` for samples that the VCF does not
#' have, samples in no population, populations without samples or more than five, sizes that no site
#' has called, no site at all, and a bootstrap of fewer than two windows; `ancify_file_error` for
#' files that can't be read; `ancify_package_error` where the package was built without htslib.
#' Chromosomes that `ancestral` does not have are an `ancify_annotation_warning`, and so are
#' records that seem to be of another build of the genome, as [annotate_vcf()] says.
#' @inherit sfs_from_sites references
#' @seealso [sfs_from_sites()], [annotate_vcf()]; [fold()] where no allele is known to be
#'   ancestral
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
                         threads = NULL, progress = interactive()) {
  check_given()
  vcf <- check_path(vcf, "vcf")
  if (!is.null(ancestral)) ancestral <- folder_of_calls(ancestral, "ancestral")
  if (!is.null(reference)) reference <- check_path(reference, "reference")
  check_flag(low_confidence, "low_confidence")
  check_flag(subset, "subset")
  if (!is.null(window)) check_whole_number(window, "window", 2^53)
  check_whole_number(replicates, "replicates")
  threads <- resolve_threads(threads)
  check_htslib()
  table <- population_table(populations)
  names <- unique(table$population)
  if (!is.null(project)) project <- order_sizes(project, names)
  samples <- variant_samples_impl(vcf)
  check_samples(samples, table, vcf, subset)

  found <- with_watch("Reading", function(watch) {
    numbers <- sample_populations(samples, table)
    tabulate_vcf(vcf, numbers, ancestral, reference, low_confidence, window, threads, watch)
  }, progress)
  if (!is.null(ancestral)) warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, is.null(ancestral))
  left_out <- records_left_out(found, low_confidence)
  check_any_site(found, left_out, vcf, is.null(ancestral))
  sizes <- sizes_to_project(project, found$most, names)
  draws <- if (is.null(window)) no_draws else draw_windows(found$windows, replicates)
  result <- with_watch("Making the spectrum", function(watch) {
    variant_spectrum_impl(found$table, sizes, draws, threads, watch)
  }, progress)

  spectrum <- site_spectrum(result, sizes, names)
  records <- c(left_out, TOO_FEW = result$sites - result$used, USED = result$used)
  attr(spectrum, "records") <- data.frame(reason = names(records), records = unname(records))
  if (found$has_posteriors) {
    sums <- result$misidentification
    kinds <- sums[c("mutation", if (!is.null(reference)) "cpg")]
    attr(spectrum, "misidentification") <- misidentification_rates(kinds, sums)
  }
  spectrum
}

# `populations`: the number of each sample's.
tabulate_vcf <- function(vcf, populations, ancestral, reference, low_confidence, window, threads,
                         watch) {
  use_info <- is.null(ancestral)
  # Sequences are looked up by these; without any the file is read only once.
  chromosomes <- if (use_info && is.null(reference)) {
    character()
  } else {
    variant_chromosomes_impl(vcf, watch)
  }
  options <- list(
    use_info = use_info, low_confidence = low_confidence, window = window %||% 0, threads = threads
  )
  sequences <- record_sequences(chromosomes, ancestral, reference)
  tabulate_variants_impl(vcf, populations, sequences, options, watch)
}

# The reasons of records that are no sites.
records_left_out <- function(found, low_confidence) {
  reasons <- c(colSums(found$reasons), MONOMORPHIC = found$monomorphic)
  if (low_confidence) reasons["LOW"] <- 0
  reasons[c("INDEL", "MONOMORPHIC", "MULTIALLELIC", "REF_MISMATCH", "NO_COVERAGE", "UNRESOLVED",
            "NEITHER_ALLELE", "LOW")]
}

check_any_site <- function(found, left_out, vcf, use_info) {
  if (sum(found$chromosomes$records) > sum(left_out)) {
    return(invisible())
  }
  some <- left_out[left_out > 0]
  abort_ancify(
    paste0(
      sprintf("%s has no record for a spectrum", quoted(vcf)),
      if (length(some)) ", but " else ": it has none at all",
      paste(vapply(some, format_count, ""), names(some), collapse = ", "), ".",
      if (use_info && left_out[["NO_COVERAGE"]] > 0) {
        " Where AA is not in its INFO, `ancestral` can name calls or a FASTA file."
      }
    ),
    "input"
  )
}

# ---- Populations ------------------------------------------------------------------------------

# A data frame of sample and population, without factors.
population_table <- function(populations) {
  is_named <- !is.null(names(populations))
  if (is.data.frame(populations)) {
    table <- population_columns(populations)
  } else if (is_named && (is.character(populations) || is.factor(populations))) {
    table <- list(sample = names(populations), population = populations)
  } else if (is.character(populations) && length(populations) == 1) {
    return(population_file(check_path(populations, "populations")))
  } else {
    abort_ancify(
      sprintf(
        paste(
          "`populations` must be populations named by their samples, a data frame or the path of",
          "a file with both, not %s."
        ),
        show_value(populations)
      ),
      "input"
    )
  }
  table <- data.frame(lapply(table, as.character))
  check_population_table(table)
  table
}

# The table of a file, whose errors name it.
population_file <- function(file) {
  table <- read_populations_impl(file)
  tryCatch(check_population_table(table), ancify_input_error = function(condition) {
    abort_ancify(paste0(quoted(file), ": ", conditionMessage(condition)), "input", file = file)
  })
  table
}

population_columns <- function(populations) {
  columns <- c("sample", "population")
  if (!all(columns %in% names(populations))) {
    abort_ancify(
      sprintf("`populations` has the columns %s: it must have `sample` and `population`.",
              enumerate(quoted(names(populations)))),
      "input"
    )
  }
  populations[columns]
}

check_population_table <- function(table) {
  wrong <- which(is.na(table$sample) | is.na(table$population) | !nzchar(table$sample))
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`populations` has the sample %s in %s: give both, and leave out samples that are in none.",
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
  if (length(names) < 1 || length(names) > core_limits()$populations) {
    abort_ancify(
      sprintf(
        "`populations` has %d populations%s: a spectrum is of 1 to %d. %s", length(names),
        if (length(names)) sprintf(" (%s)", enumerate(quoted(names))) else "",
        core_limits()$populations,
        "Leave out the samples of others, with `subset = TRUE`."
      ),
      "input"
    )
  }
  check_populations(names, length(names))
}

# That the table and the file have the same samples.
check_samples <- function(samples, table, vcf, subset) {
  lacking <- setdiff(table$sample, samples)
  if (length(lacking)) {
    empty <- setdiff(table$population, table$population[table$sample %in% samples])
    abort_ancify(
      sprintf(
        "%s has no sample %s of `populations`%s; its samples are %s.%s", quoted(vcf),
        enumerate(quoted(lacking)),
        if (length(empty)) {
          sprintf(", so that there is none of the population %s", enumerate(quoted(empty)))
        } else {
          ""
        },
        enumerate(quoted(samples)),
        if (identical(lacking, table$sample[1])) " Is the first line a header? Take it out." else ""
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

# For each sample its population's number from 0, or -1.
sample_populations <- function(samples, table) {
  numbers <- match(table$population, unique(table$population)) - 1L
  numbers <- numbers[match(samples, table$sample)]
  ifelse(is.na(numbers), -1L, numbers)
}
