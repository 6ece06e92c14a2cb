#' Count mutations by ancestral context
#'
#' Counts the mutations in a VCF or BCF by type: the ancestral k-mer around a site, and the derived
#' base. `mutation_spectrum("variants.vcf.gz", run)` gives the 96 types of 3-mers.
#'
#' **Types.** `ACA>ATA` is a C between two As that became T. A type and its reverse complement count
#' as one, so there are 3 * 4^k / 2 types. Names use the strand whose ancestral base is A or C. With
#' `fold = "pyrimidine"` it is C or T, as in mutational signatures.
#'
#' **Context.** The bases beside a site are those of `ancestral`, so that a mutation is counted in
#' the context in which it happened. `context = "reference"` takes them from `reference`, for
#' comparison.
#'
#' **Sites, ancestral alleles and posteriors** are as in [sfs_from_vcf()]. A site whose ancestral
#' base has posterior p adds p to its type, and 1 - p to the type with exchanged alleles. A site
#' counts once in each population in which it varies. With `samples = TRUE`, each sample's count is
#' its number of haplotypes with the derived allele, over all sites.
#'
#' **Records.** Each record has one reason, the first that holds, as in [annotate_vcf()]:
#'
#' | Reason | Meaning |
#' | --- | --- |
#' | `INDEL` | an allele is not one of A, C, G, T (also `<DEL>`) |
#' | `MONOMORPHIC` | there is no ALT, or it is the same base as REF |
#' | `MULTIALLELIC` | there are several ALTs, not counting `*` and unobserved alleles |
#' | `REF_MISMATCH` | REF differs from the base of `reference` |
#' | `MASKED` | the record lies in `mask` |
#' | `NO_COVERAGE` | the ancestral base is missing (`N`, `-`, `.`, or nothing) |
#' | `UNRESOLVED` | the ancestral base is `n` |
#' | `NEITHER_ALLELE` | the ancestral base is neither REF nor ALT |
#' | `LOW` | the ancestral base has low confidence, and `low_confidence = FALSE` |
#' | `NO_COUNTS`, `BAD_COUNTS` | with [info_populations()]: as in [sfs_from_vcf()] |
#' | `NO_CONTEXT` | a base beside it is missing, `n` or beyond the end, or there is no sequence |
#' | `LOW_CONTEXT` | a base beside it has low confidence, and `low_confidence = FALSE` |
#' | `INVARIANT` | none or all of the called haplotypes have the derived allele |
#' | `TOO_FEW` | with `by = "frequency"`: as in [sfs_from_vcf()] |
#' | `USED` | the record is in the spectrum |
#'
#' **Windows** start at the first base of each chromosome with records. Bootstrap replicates draw
#' them with replacement, and give the standard errors of [as.data.frame()] and
#' [mutation_rates()].
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted. It needs no index.
#' @param ancestral The ancestral sequences: the output folder of a run (or the `ancify_run`), a
#'   FASTA file, or a path with `{chrom}` or `{chrom_id}`, as in [annotate_vcf()].
#' @param k Length of the context in bases: 1, 3 (the default), 5, 7 or 9.
#' @param populations The population of each sample, in the forms of [sfs_from_vcf()], but any
#'   number of populations. `NULL` (the default): all samples are one population, `all`. Without
#'   samples, `AC` and `AN` of INFO count it.
#' @param samples Whether to count mutations by sample; `FALSE` (the default). With `TRUE`,
#'   `populations` only selects samples.
#' @param mask A BED file, plain or gzip, of regions to exclude; `NULL` (the default) for none.
#' @param windows Length of windows in bases, such as 1,000,000. `NULL` (the default): whole
#'   chromosomes, and no bootstrap.
#' @param low_confidence Whether to use ancestral bases of low confidence; `TRUE` (the default).
#' @param replicates Number of bootstrap replicates, 100 by default. Used only with `windows`.
#' @param by `"type"` (the default), or `"frequency"` for an [sfs()] of each type. The latter takes
#'   `k` up to 5, up to five populations, and neither `windows` nor `samples`.
#' @param project With `by = "frequency"`: haplotypes of each population, as in [sfs_from_vcf()].
#' @param fold Ancestral bases in names of types: `"AC"` (the default) or `"pyrimidine"`.
#' @param context Where the bases beside a site come from: `"ancestral"` (the default) or
#'   `"reference"`.
#' @param reference The focal genome's sequence, in the forms of `ancestral` or as a 2bit file. It
#'   shows REF mismatches, and `context = "reference"` needs it. `NULL` (the default): none.
#' @param info Whether the sites' ancestral alleles and posteriors come from `AA`, `AA_post` and
#'   `AA_prob` of INFO; `FALSE` (the default). The bases beside them still come from `ancestral`.
#' @param subset Whether to leave out samples without a population. With `FALSE` (the default) such
#'   samples are an error.
#' @inheritParams annotate_vcf
#' @return A matrix of class `mutation_spectrum` with a row for each type and a column for each
#'   population or sample, with these attributes:
#' * `records`: a data frame of `reason`, in the order above, and `records`. They sum to the number
#'   of records in the file.
#' * `windows`: a data frame of `chromosome`, `start` and `end` (from 1, inclusive). Without
#'   `windows`, a row is a chromosome.
#' * `misidentification`: with posteriors only, a data frame as from [sfs_from_vcf()]: the rate of
#'   wrong ancestral alleles by `mutation` and by `cpg` (whether an allele forms a CG with its
#'   neighbour).
#'
#'   With `by = "frequency"`, a list of unfolded [sfs()], named by types, with the attributes
#'   `records` and `misidentification`.
#' @section Errors:
#' * `ancify_input_error`: `k` is even or above 9; samples and populations do not match; no record
#'   is a site; `ancestral`, `reference` or `mask` has none of the VCF's chromosomes; a bootstrap
#'   has fewer than two windows; or the spectrum would have more than 100 million counts.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged or breaks its format, or a
#'   position is beyond its sequence's end.
#' * `ancify_file_error`: a file cannot be read.
#' * `ancify_annotation_warning`: as from [annotate_vcf()].
#' @references
#' Harris and Pritchard (2017) Rapid evolution of the human mutation spectrum. eLife 6:e24284.
#'
#' DeWitt, Harris, Ragsdale and Harris (2021) Nonparametric coalescent inference of mutation
#' spectrum history and demography. PNAS 118:e2013798118.
#' @seealso [count_contexts()] and [mutation_rates()] for rates; [mutation_contrasts()],
#'   [collapse_contexts()], [signature_table()], [plot.mutation_spectrum()];
#'   `vignette("mutation_spectra", "ancify")`
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' calls <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "ACACGTNACG"), calls)
#' records <- c(
#'   "1\t2\t.\tC\tT\t.\t.\t.\tGT\t0/1\t0/0",
#'   "1\t5\t.\tA\tG\t.\t.\t.\tGT\t0/0\t1/0",
#'   "1\t8\t.\tA\tC\t.\t.\t.\tGT\t0/1\t0/1"
#' )
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2"
#' writeLines(c("##fileformat=VCFv4.2", columns, records), vcf)
#'
#' x <- mutation_spectrum(vcf, calls, populations = c(s1 = "YRI", s2 = "CEU"), threads = 1)
#' x
#' x[rowSums(x) > 0, ]
#' attr(x, "records")
mutation_spectrum <- function(vcf, ancestral, k = 3, populations = NULL, samples = FALSE,
                              mask = NULL, windows = NULL, low_confidence = TRUE, replicates = 100,
                              by = c("type", "frequency"), project = NULL,
                              fold = c("AC", "pyrimidine"), context = c("ancestral", "reference"),
                              reference = NULL, info = FALSE, subset = FALSE, threads = NULL,
                              progress = interactive()) {
  check_args(vcf = one_path())
  ancestral <- folder_of_calls(ancestral, "ancestral")
  check_args(k = check_k, by = choice(c("type", "frequency")), fold = choice(spectrum_folds),
             context = choice(c("ancestral", "reference")), samples = flag(),
             low_confidence = flag(), info = flag(), subset = flag(), mask = optional(one_path()),
             reference = optional(one_path()), windows = optional(whole(2^53)),
             replicates = whole())
  work <- new_work(threads, progress = progress)
  check_spectrum_kind(by, k, samples, windows, project, context, reference)
  check_htslib()
  columns <- columns_to_count(vcf, populations, samples, subset, by)
  types <- mutation_types(k, fold)
  check_cell_count(nrow(types) * length(columns$names))

  options <- core_list(
    "MutationOptions",
    k = k, use_info = info, reference_context = context == "reference",
    low_confidence = low_confidence, mask = mask %||% "", window = windows %||% 0,
    work = work,
    counted_as = if (by == "frequency") "frequencies" else if (samples) "haplotypes" else "sites"
  )
  found <- with_watch("Reading", function(watch) {
    sequences <- record_sequences(variant_chromosomes_impl(vcf, watch), ancestral, reference)
    count_mutations_impl(vcf, columns$counts, sequences, options, watch)
  }, work$progress)
  warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, info)
  warn_about_counts(found, vcf)
  reasons <- reasons_for("snps", columns$counts$named)
  records <- c(records_left_out(found, low_confidence, reasons), found$sites)
  check_any_site(found, records[names(records) != "USED"], vcf, FALSE)
  if (by == "frequency") {
    result <- sfs_of_types(found, types, project, columns$names, work)
    records <- c(records[names(records) != "USED"], result$records)
    result <- result$spectra
  } else {
    rules <- list(
      low_confidence = low_confidence, mask = mask, context = context, windows = windows
    )
    result <- counted_spectrum(found, types, columns$names, fold, samples, rules)
    if (!is.null(windows)) {
      attr(result, "draws") <- draw_windows(nrow(attr(result, "windows")), replicates)
    }
  }
  attr(result, "records") <- data.frame(reason = names(records), records = unname(records))
  if (found$has_posteriors) {
    attr(result, "misidentification") <- misidentification_of_types(found$errors, types)
  }
  result
}

# Refuses arguments that exclude or need each other.
check_spectrum_kind <- function(by, k, samples, windows, project, context, reference) {
  refuse <- function(...) abort_ancify(paste0(...), "input")
  if (context == "reference" && is.null(reference)) {
    refuse("`context = \"reference\"` needs a `reference`: give one.")
  }
  if (by == "type") {
    if (!is.null(project)) refuse("`project` needs `by = \"frequency\"`: leave it out.")
    return(invisible())
  }
  if (samples) refuse("`by = \"frequency\"` has no spectra of single samples: leave `samples` out.")
  if (!is.null(windows)) refuse("`by = \"frequency\"` has no windows: leave `windows` out.")
  if (k > 5) refuse(sprintf("`k` is %d, but with `by = \"frequency\"` it is at most 5.", k))
}

check_cell_count <- function(n) {
  refuse_if(n > most_cells, "The spectrum would have %s counts, more than %s: give a smaller `k`.",
            format_count(n), format_count(most_cells))
}

# list(names = of the columns, counts = as from count_source()).
columns_to_count <- function(vcf, populations, samples, subset, by) {
  most <- if (by == "frequency") core_limits()$populations else Inf
  given <- populations_given(populations, most) %||% all_samples(vcf)
  refuse_if(samples && is.null(given$table),
            "`samples = TRUE` counts by sample, but the counts are in INFO: leave it out.")
  if (samples) {
    there <- variant_samples_impl(vcf)
    check_samples(there, given$table, vcf, subset)
    names <- there[there %in% given$table$sample]
    given <- list(names = names, table = data.frame(sample = names, population = names))
    subset <- TRUE
  }
  list(names = given$names %||% "all", counts = count_source(vcf, given, subset))
}

# ---- Results ----------------------------------------------------------------------------------

# The only constructor of the class. `by_window`: a data frame of window, row, column and count,
# whose sums are the matrix; `rules`: how sites were chosen.
new_mutation_spectrum <- function(types, columns, by_window, windows, fold, samples, rules) {
  cell <- by_window$row + length(types) * (by_window$column - 1)
  counts <- sum_cells(cell, by_window$count, length(types) * length(columns))
  structure(
    matrix(counts, length(types), length(columns), dimnames = list(types, columns)),
    fold = fold, samples = samples, rules = rules, windows = windows, by_window = by_window,
    class = "mutation_spectrum"
  )
}

counted_spectrum <- function(found, types, columns, fold, samples, rules) {
  cell <- found$sums$cell
  by_window <- data.frame(
    window = found$sums$window + 1L, row = order(types$core)[cell %% nrow(types) + 1],
    column = cell %/% nrow(types) + 1, count = found$sums$count
  )
  windows <- windows_along(found$chromosomes$chromosome, found$lengths, rules$windows)
  new_mutation_spectrum(types$type, columns, by_window, windows, fold, samples, rules)
}

# The windows of chromosomes, in the core's order.
windows_along <- function(chromosomes, lengths, window) {
  parts <- Map(function(chromosome, length) {
    start <- if (is.null(window)) 1[length > 0] else seq_len(ceiling(length / window)) * window -
      window + 1
    data.frame(
      chromosome = rep(chromosome, length(start)), start = start,
      end = pmin(start + (window %||% length) - 1, length)
    )
  }, chromosomes, lengths)
  table <- do.call(rbind, unname(parts))
  rownames(table) <- NULL
  table
}

# The sums of counts in each of n cells. `cell`: the cell of each count, from 1.
sum_cells <- function(cell, count, n) {
  result <- numeric(n)
  sums <- rowsum(count, cell, reorder = FALSE)
  result[as.numeric(rownames(sums))] <- sums
  result
}

# An sfs of each type. The core computes spectra of drawn windows; each draw here is one type.
sfs_of_types <- function(found, types, project, populations, work) {
  sizes <- sizes_to_project(project, found$most, populations)
  check_cell_count(nrow(types) * prod(sizes + 1))
  result <- with_watch("Making the spectra", function(watch) {
    mutation_frequencies_impl(found$table, sizes, diag(1L, nrow(types)), work, watch)
  }, work$progress)
  list(
    spectra = spectra_of_classes(
      result$bootstrap[, types$core, drop = FALSE], types$type, sizes, populations
    ),
    records = c(TOO_FEW = result$sites - result$used, USED = result$used)
  )
}

# `errors`: sums over the sites of each type, in the core's order.
misidentification_of_types <- function(errors, types) {
  kinds <- data.frame(mutation = types$mutation, cpg = is_cpg_type(types$type))
  errors <- errors[types$core, ]
  kind <- paste(kinds$mutation, kinds$cpg)
  first <- !duplicated(kind)
  sums <- as.data.frame(rowsum(errors, kind, reorder = FALSE))
  some <- sums$sites > 0
  misidentification_rates(lapply(kinds[first, ][some, ], c), sums[some, ])
}
