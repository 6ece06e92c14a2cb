#' Compute mutation rates and compare populations
#'
#' `mutation_rates(x, contexts)` divides the counts of a spectrum by the number of positions with
#' the context. `mutation_contrasts(x, "YRI", "CEU")` tests which types differ between populations.
#'
#' **Rates** are sites per position with the ancestral context. They increase with sample size, as
#' larger samples have more variable sites. So compare types, or samples of equal size. Chromosomes
#' without records in the VCF do not contribute positions. The bootstrap for standard errors draws
#' windows of sites and positions jointly.
#'
#' **Contrasts** compare each type with all others in a 2 x 2 table, by a chi-squared test without
#' continuity correction. Sites that vary in both populations count in both, and nearby sites are
#' not independent. The p-values are therefore only a guide; adjust them for multiple testing
#' ([stats::p.adjust()]).
#'
#' @param x A [mutation_spectrum()].
#' @param contexts The result of [count_contexts()] with the arguments of `x`: `k`, `mask`,
#'   `windows`, `low_confidence` and `fold`.
#' @param a,b Names of two columns of `x`.
#' @return `mutation_rates()`: the data frame of [as.data.frame()][mutation_methods], with these
#'   columns in place of `std_error`:
#'
#'   | Column | Value |
#'   | --- | --- |
#'   | `positions` | positions with the context |
#'   | `rate` | `count / positions`; `NaN` without positions |
#'   | `std_error` | standard error of the rate; only if `x` has a bootstrap |
#'
#'   `mutation_contrasts()`: a data frame with a row for each type:
#'
#'   | Column | Value |
#'   | --- | --- |
#'   | `type`, `mutation`, `context` | as in `mutation_rates()` |
#'   | `count_a`, `count_b` | the counts |
#'   | `ratio` | the type's share in `a` over its share in `b` |
#'   | `statistic`, `p_value` | of the test; `NaN` if the type or all others are absent |
#' @section Errors:
#' * `ancify_input_error`: `contexts` were counted with other arguments, lack a chromosome of `x`,
#'   or have another length for it; or `x` has no such column, or lacks types.
#' @references
#' Harris and Pritchard (2017) Rapid evolution of the human mutation spectrum. eLife 6:e24284.
#' @seealso [mutation_spectrum()], [plot.mutation_spectrum()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' calls <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "ACACGTNACG"), calls)
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2"
#' record <- "1\t4\t.\tC\tT\t.\t.\t.\tGT\t0/1\t0/0"
#' writeLines(c("##fileformat=VCFv4.2", columns, record), vcf)
#'
#' x <- mutation_spectrum(vcf, calls, populations = c(s1 = "YRI", s2 = "CEU"), threads = 1)
#' rates <- mutation_rates(x, count_contexts(calls, threads = 1))
#' rates[rates$count > 0, ]
#' mutation_contrasts(x, "YRI", "CEU")["ACG>ATG" == rownames(x), ]
mutation_rates <- function(x, contexts) {
  check_args(x = check_mutation_spectrum)
  check_contexts(contexts, x)
  by <- contexts_in_windows(contexts, attr(x, "windows"))
  context <- match(context_of_type(rownames(x)), names(contexts))
  positions <- function(times) {
    sums <- sum_cells(by$row, by$count * times[by$window], length(contexts))
    rep(sums[context], ncol(x))
  }
  draws <- attr(x, "draws")
  attr(x, "draws") <- NULL
  table <- as.data.frame(x)
  table$positions <- positions(rep(1, nrow(attr(x, "windows"))))
  table$rate <- table$count / table$positions
  if (!is.null(draws)) {
    table$std_error <- bootstrap_errors(draws, function(times) {
      drawn_counts(x, times) / positions(times)
    })
  }
  table
}

check_contexts <- function(contexts, x) {
  must_be(inherits(contexts, "mutation_contexts"), contexts, "contexts",
          "those of count_contexts()")
  facts <- function(k, fold, rules) {
    mask <- if (!is.null(rules$mask)) normalizePath(rules$mask, mustWork = FALSE)
    list(
      k = k, fold = fold, mask = mask %||% "none", windows = rules$windows %||% "none",
      # Lower case marks repeats in a reference, and repeats contain sites too.
      low_confidence = rules$low_confidence || identical(rules$context, "reference")
    )
  }
  of_x <- facts(bases_of_types(x), attr(x, "fold"), attr(x, "rules"))
  of_contexts <- facts(nchar(names(contexts)[1]), attr(contexts, "fold"), attr(contexts, "rules"))
  for (name in names(of_x)) {
    refuse_if(of_x[[name]] != of_contexts[[name]],
              "`contexts` were counted with `%s` %s, but the spectrum with %s: count them again.",
              name, show_value(of_contexts[[name]]), show_value(of_x[[name]]))
  }
}

# The counts of contexts by window, with window indices of `windows`.
contexts_in_windows <- function(contexts, windows) {
  theirs <- attr(contexts, "windows")
  place <- match_chromosomes(theirs$chromosome, windows$chromosome)
  known <- !is.na(place)
  theirs$chromosome[known] <- windows$chromosome[place[known]]
  lacking <- setdiff(windows$chromosome, theirs$chromosome)
  refuse_if(length(lacking),
            "`contexts` lack %s of the spectrum: count them in the sequences of the spectrum.",
            enumerate(quoted(lacking)))
  ends <- function(table) tapply(table$end, table$chromosome, max)
  other <- which(ends(theirs)[names(ends(windows))] != ends(windows))
  if (length(other)) {
    name <- names(ends(windows))[other[1]]
    refuse_input("%s has %s bases in `contexts`, but %s in the spectrum: use the same sequences.",
                 quoted(name), format_count(ends(theirs)[[name]]),
                 format_count(ends(windows)[[name]]))
  }
  key <- function(table) paste(table$chromosome, number_text(table$start))
  by <- attr(contexts, "by_window")
  by$window <- match(key(theirs), key(windows))[by$window]
  by[!is.na(by$window), ]
}

#' @rdname mutation_rates
#' @export
mutation_contrasts <- function(x, a, b) {
  check_args(x = check_whole_spectrum)
  refuse_if(length(a) != 1 || length(b) != 1, "`a` and `b` must each be one column, not %s and %s.",
            show_value(a), show_value(b))
  counts <- plain_counts(x[, c(a, b)])
  totals <- matrix(colSums(counts), nrow(counts), 2, byrow = TRUE)
  expected <- function(share) totals * share
  share <- rowSums(counts) / sum(counts)
  statistic <- rowSums((counts - expected(share))^2 / expected(share)) +
    rowSums((counts - expected(share))^2 / expected(1 - share))
  table <- type_columns(x, seq_len(nrow(x)), 1)[c("type", "mutation", "context")]
  table$count_a <- counts[, 1]
  table$count_b <- counts[, 2]
  table$ratio <- unname(counts[, 1] / totals[, 1] / (counts[, 2] / totals[, 2]))
  table$statistic <- unname(statistic)
  table$p_value <- stats::pchisq(table$statistic, 1, lower.tail = FALSE)
  rownames(table) <- NULL
  table
}

#' Make a table for packages of mutational signatures
#'
#' `signature_table(x)` names and orders the types of a spectrum as in catalogues of signatures:
#' `A[C>T]A` for `ACA>ATA`, with C or T as the ancestral base.
#'
#' Packages such as MutationalPatterns take the matrix. SigProfiler reads it as a text file with the
#' types in the first column:
#' `write.table(data.frame(MutationType = rownames(t), t), "x.txt", sep = "\t", row.names = FALSE)`.
#'
#' Counts from posteriors are fractional. Round them for programs that need whole numbers.
#'
#' @param x A [mutation_spectrum()] of all types, folded in any way.
#' @return A plain matrix with a row for each type, sorted by mutation and then by context, and the
#'   columns of `x`.
#' @section Errors:
#' * `ancify_input_error`: `x` is not a spectrum, or lacks types.
#' @references
#' Alexandrov and others (2020) The repertoire of mutational signatures in human cancer. Nature
#' 578:94-101.
#' @seealso [mutation_spectrum()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' calls <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "ACACGTNACG"), calls)
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1"
#' record <- "1\t4\t.\tC\tT\t.\t.\t.\tGT\t0/1"
#' writeLines(c("##fileformat=VCFv4.2", columns, record), vcf)
#' head(signature_table(mutation_spectrum(vcf, calls, samples = TRUE, threads = 1)))
signature_table <- function(x) {
  check_args(x = check_whole_spectrum)
  types <- mutation_types(bases_of_types(x), "pyrimidine")
  mine <- mutation_types(bases_of_types(x), attr(x, "fold"))
  counts <- plain_counts(x)[mine$type[match(types$core, mine$core)], , drop = FALSE]
  rownames(counts) <- signature_names(types$type)
  counts
}
