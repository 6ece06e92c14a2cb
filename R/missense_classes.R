#' Classes of sites by missense scores
#'
#' `score_classes(scores, breaks)` divides missense sites by their score. With these classes,
#' [sfs_from_vcf()] computes the spectra of synonymous sites and of each score class in one pass.
#'
#' @details
#' A site has one class: its most severe consequence, and for missense sites the class of its lowest
#' score. Missense sites without a score, and sites without a known consequence, are excluded. To
#' use only canonical transcripts, select rows first: `scores[scores$canonical %in% TRUE, ]`.
#'
#' [fit_demography()] takes the spectrum of synonymous sites, and [dfe_model()] the spectra of the
#' classes. The `theta` of a class is the `theta` of synonymous sites times the ratio of possible
#' mutations in both. To count the possible mutations, score all possible changes in the same way.
#'
#' @param scores A result of [score_missense()], or some of its rows.
#' @param breaks Limits between classes of scores, at least one. A class includes its lower limit.
#' @return A data frame with a row per site: `chromosome`, `position`, `derived`, and `class`, a
#'   factor. Its levels are `"missense, below <break>"` and so on, from the lowest scores, then
#'   `"synonymous"`, `"stop gained"`, `"stop lost"` and `"start lost"`. A class without sites is
#'   also a level: `table()` counts 0, and its spectrum is empty.
#' @section Errors:
#' * `ancify_input_error`: `scores` is not a result of [score_missense()]; `breaks` are not finite
#'   numbers; no site has a class.
#' @seealso [score_missense()], [sfs_from_vcf()], [dfe_model()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib) && requireNamespace("Biostrings", quietly = TRUE)
#' focal <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "CATGGCATGGTAAC"), focal)
#' genes <- tempfile(fileext = ".gtf")
#' writeLines(paste("1", ".", "CDS", 2, 10, ".", "+", 0,
#'                  "gene_id \"g1\"; transcript_id \"t1\";", sep = "\t"), genes)
#' vcf <- tempfile(fileext = ".vcf")
#' records <- c("1\t6\t.\tC\tT\t.\t.\tAA=C", "1\t7\t.\tA\tC\t.\t.\tAA=C")
#' writeLines(c("##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO", records),
#'            vcf)
#' changes <- coding_changes(vcf, "AA", genes, focal, threads = 1)
#' model <- sequence_model(system.file("extdata", "esm2_random", package = "ancify"))
#' score_classes(score_missense(changes, model, threads = 1), breaks = 0)
score_classes <- function(scores, breaks) {
  check_args(scores = scores_with(c("consequence", "score")))
  good <- is.numeric(breaks) && length(breaks) && all(is.finite(breaks))
  must_be(good, breaks, "breaks", "finite numbers")
  breaks <- sort(unique(breaks))
  worst <- as.data.frame(scores)[is_worst(scores), ]
  names <- classes_between(breaks)
  class <- as.character(worst$consequence)
  missense <- class == "missense"
  class[missense] <- names[findInterval(worst$score[missense], breaks) + 1]
  # Classes without sites remain: their spectra are empty, not missing.
  others <- setdiff(intersect(consequences, gravest), "missense")
  table <- data.frame(worst[c("chromosome", "position", "derived")],
                      class = factor(class, c(names, others)))
  table <- table[!is.na(class), ]
  refuse_if(nrow(table) == 0, "`scores` has no site with a class: no consequence is known.")
  rownames(table) <- NULL
  table
}

classes_between <- function(breaks) {
  shown <- vapply(breaks, format, "", digits = 15)
  n <- length(breaks)
  paste("missense,", c(
    paste("below", shown[1]), if (n > 1) paste(shown[-n], "to", shown[-1]),
    paste(shown[n], "and above")
  ))
}
