#' Count genotypes
#'
#' Counts the calls of each variant among the chosen samples. Counts are kept, so that each call is
#' read only once.
#'
#' @param object Genotypes, as from [open_genotypes()].
#' @inheritParams genotype_methods
#' @return A data frame of class `summary.ancify_genotypes`, with a row for each variant:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `chromosome`, `id`, `position`, `counted`, `other` | The variant, as in `object$variants`. |
#' | `hom_counted` | Samples with two copies of the counted allele. |
#' | `het` | Samples with one copy. |
#' | `hom_other` | Samples with none. |
#' | `missing` | Samples without a call; with dosages, samples without a dosage. |
#' | `uncertain` | With a BGEN or dosages: samples whose dosage is too far from a call. |
#' | `n` | Samples with a call; with dosages, samples with a dosage. |
#' | `frequency` | Frequency of the counted allele among these `2 * n`; `NA` if `n` is 0. |
#' | `info` | With dosages: quality of imputation, see below. |
#'
#' Genotypes with dosages (`open_genotypes(dosages = TRUE)`) have frequencies of dosages. `info` is
#' MACH's r2, as in PLINK 2: the variance of dosages over `2 * p * (1 - p)`, where `p` is the
#' frequency. It is about 1 for certain genotypes, 0 for dosages without information, and `NA`
#' without variation. On X, Y and MT, dosages of haploid samples vary twice as much, so `info` is
#' up to 2; PLINK 2 has none on X and MT. Samples of `uncertain` are among the `missing` calls of a
#' BGEN, and among the `n` of dosages.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file is missing, or was changed since it was opened.
#' * `ancify_format_error` (fields `file`, `line`): a record of a PGEN is damaged.
#' @seealso [open_genotypes()]
#' @export
#' @examples
#' stem <- tempfile()
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0xdc, 0x0f, 0xe7, 0x0f, 0x6b, 0x01)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 %d", 1:6, 1:6, 11:16), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:3, 1:3), paste0(stem, ".bim"))
#'
#' counts <- summary(open_genotypes(stem))
#' counts
#' counts$frequency
summary.ancify_genotypes <- function(object, threads = NULL, progress = interactive(), ...) {
  check_no_more(...)
  work <- new_work(threads, progress = progress)
  counts <- genotype_counts(object, work)
  calls <- list(hom_counted = counts[3, ], het = counts[2, ], hom_other = counts[1, ])
  table <- c(object$variants, calls, if (gives_dosages(object)) {
    columns_of_dosages(dosage_sums(object, work), counts)
  } else {
    columns_of_calls(counts, uncertain_counts(object, counts, work))
  })
  table <- table[lengths(table) > 0]
  structure(list2DF(table), class = c("summary.ancify_genotypes", "data.frame"))
}

columns_of_calls <- function(counts, uncertain) {
  n <- counts[1, ] + counts[2, ] + counts[3, ]
  frequency <- (counts[2, ] + 2 * counts[3, ]) / (2 * n)
  list(missing = counts[4, ], uncertain = uncertain, n = n,
       frequency = replace(frequency, n == 0, NA))
}

columns_of_dosages <- function(sums, counts) {
  n <- as.integer(sums$n)
  missing <- as.integer(colSums(counts)) - n
  frequency <- sums$sum / (2 * n)
  list(missing = missing, uncertain = counts[4, ] - missing, n = n,
       frequency = replace(frequency, n == 0, NA), info = imputation_info(sums))
}

# Samples with dosages, but without calls: at the largest threshold, all dosages have calls. NULL
# without a BGEN.
uncertain_counts <- function(g, counts, work) {
  if (!has_bgen(g$parts)) {
    return(NULL)
  }
  all_called <- g
  all_called$parts <- lapply(g$parts, function(part) {
    if (part$kind == "bgen") part$hard_call_threshold <- 0.5
    part
  })
  g$known$all_called <- all_called$known <- g$known$all_called %||% new.env()
  counts[4, ] - genotype_counts(all_called, work)[4, ]
}

# Whether each variant is equal in all samples that count. Dosages without variance have no info, or
# an info of 0.
is_constant <- function(x) {
  if (is.null(x$info)) {
    return(pmax(x$hom_counted, x$het, x$hom_other) == x$n)
  }
  is.na(x$info) | x$info == 0
}

#' @export
print.summary.ancify_genotypes <- function(x, ...) {
  calls <- sum(as.numeric(x$n))
  info <- if (!all(is.na(x$info))) range(x$info, na.rm = TRUE)
  range <- if (calls > 0) range(x$frequency, na.rm = TRUE)
  missing <- sprintf("%.3g %%", 100 * (1 - calls / (calls + sum(as.numeric(x$missing)))))
  write_object("summary.ancify_genotypes", count_of(nrow(x), "variant"), c(
    if (is.null(x$info)) c(`missing calls` = missing) else c(`missing dosages` = missing),
    frequency = paste(vapply(range, format, "", digits = 3), collapse = " to "),
    info = if (length(info)) paste(vapply(info, format, "", digits = 3), collapse = " to "),
    `without variation` = count_of(sum(is_constant(x)), "variant")
  ))
  print(utils::head(as.data.frame(x)), row.names = FALSE)
  invisible(x)
}
