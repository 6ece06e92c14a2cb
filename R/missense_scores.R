#' Score missense changes by a protein language model
#'
#' `score_missense(changes, model)` measures how well the derived residue fits its position in the
#' protein, compared with the ancestral residue. Other tools compare with the reference genome. At
#' sites where its base is derived, their scores have the wrong sign.
#'
#' @details
#' The score of a change is log p(derived residue) - log p(ancestral residue), with natural
#' logarithms. If it is negative, the derived residue is less likely under
#' the model.
#'
#' | `marginal` | The model sees | Passes |
#' | :--- | :--- | :--- |
#' | `"masked"` | a mask at the site | one for each codon with a change |
#' | `"wildtype"` | the residue at the site | one for each protein |
#'
#' Masked scores do not depend on the residue present at the site. Exchanging both residues only
#' changes their sign. Wild-type scores favour the residue that the model sees. The proteins are
#' therefore ancestral, unless `changes` were made with `background = "focal"`.
#'
#' **Uncertain ancestors.** With the posterior p of the ancestral base, the expected masked score is
#' (2p - 1) times the score: the other polarity has the opposite sign. Wild-type scores of the
#' other polarity are unknown, so `score` is then `llr`.
#'
#' **Long proteins** of more than 1022 residues are read in windows. A site is read in the window
#' with the nearest centre, see [embed_sequences()].
#'
#' **Computation.** Equal proteins are read once. Sequences are packed without padding. The result
#' is identical with any number of threads, to the last bit. For GPUs see [embed_sequences()].
#'
#' No weights of a trained model have been tested with this function yet.
#'
#' @param changes A result of [coding_changes()], or some of its rows.
#' @param model A model from [sequence_model()], with a language head.
#' @param marginal The model's view of a site: `"masked"` (the default) or `"wildtype"`.
#' @inheritParams embed_sequences
#' @return `changes`, a data frame of class `missense_scores`, with these columns:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `llr` | log p(derived) - log p(ancestral); `NA` if the row is not scored. |
#' | `score` | `llr`, times 2p - 1 if there is a posterior and `marginal` is `"masked"`. |
#' | `not_scored` | Reason for a missing score, see below; `NA` for scored rows. |
#' | `worst` | `TRUE` in one row per site: the most severe; among missense rows, the lowest score. |
#'
#' `not_scored` is one of these:
#'
#' | Value | Meaning |
#' | :--- | :--- |
#' | a consequence, such as `inner stop` | The row is not missense. |
#' | `beyond the stop` | The codon lies beyond the end of the protein. |
#' | `no such residue` | The model does not know one of the residues. |
#'
#' The result keeps the attributes of `changes`. It adds `marginal`, and `passes`, the number of
#' codons or proteins that the model read.
#' @section Errors:
#' * `ancify_input_error`: `changes` is not a result of [coding_changes()] or lacks its columns or
#'   proteins; `model` is not a model, or has no language head; `backend` does not support
#'   `precision`.
#' * `ancify_device_error`: as for [embed_sequences()].
#' @references
#' Meier J, Rao R, Verkuil R, and others (2021) Language models enable zero-shot prediction of the
#' effects of mutations on protein function. Advances in Neural Information Processing Systems 34.
#' @seealso [score_classes()] for spectra of classes of scores, [score_bias()], [coding_changes()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib) && requireNamespace("Biostrings", quietly = TRUE)
#' # ATG GCA TGG TAA: Met, Ala, Trp, stop
#' focal <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "CATGGCATGGTAAC"), focal)
#' genes <- tempfile(fileext = ".gtf")
#' writeLines(paste("1", ".", "CDS", 2, 10, ".", "+", 0,
#'                  "gene_id \"g1\"; transcript_id \"t1\";", sep = "\t"), genes)
#' vcf <- tempfile(fileext = ".vcf")
#' records <- c("1\t6\t.\tC\tT\t.\t.\tAA=C", "1\t8\t.\tT\tC\t.\t.\tAA=C")
#' writeLines(c("##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO", records),
#'            vcf)
#' changes <- coding_changes(vcf, "AA", genes, focal, threads = 1)
#'
#' # A random model, which the package has for examples
#' model <- sequence_model(system.file("extdata", "esm2_random", package = "ancify"))
#' score_missense(changes, model, threads = 1)
score_missense <- function(changes, model, marginal = c("masked", "wildtype"), threads = NULL,
                           backend = "auto", precision = NULL) {
  check_given()
  proteins <- check_scored_changes(changes)
  check_args(model = check_sequence_model, marginal = choice(c("masked", "wildtype")))
  work <- new_work(threads, backend, precision = precision, progress = interactive())
  not_scored <- why_not_scored(changes, proteins, model)
  rows <- which(is.na(not_scored))
  found <- site_log_probs(
    sequences_of_changes(changes, proteins)[rows], changes$codon[rows], model, marginal, work
  )
  token <- function(residue) cbind(found$row, match(residue[rows], model$tokens))
  llr <- rep(NA_real_, nrow(changes))
  llr[rows] <- found$values[token(changes$derived_residue)] -
    found$values[token(changes$ancestral_residue)]
  certainty <- if (marginal == "masked") 2 * changes$posterior - 1 else 1
  changes$llr <- llr
  changes$score <- llr * ifelse(is.na(certainty), 1, certainty)
  changes$not_scored <- not_scored
  changes$worst <- is_worst(changes)
  structure(changes, marginal = marginal, passes = found$passes,
            class = unique(c("missense_scores", class(changes))))
}

columns_to_score <- c("chromosome", "position", "derived", "posterior", "transcript", "codon",
                      "ancestral_residue", "derived_residue", "consequence", "protein")

# The proteins of changes.
check_scored_changes <- function(changes) {
  proteins <- attr(changes, "proteins")
  refuse_if(
    !inherits(changes, "coding_changes") || !all(columns_to_score %in% names(changes)) ||
      !is.data.frame(proteins),
    paste("`changes` must be a result of coding_changes() with all of its columns and attributes,",
          "or some of its rows, not %s."), show_value(changes)
  )
  # Functions other than rbind() keep only the proteins of the first of several results.
  refuse_if(!all(changes$protein %in% c(proteins$protein, NA)),
            paste(
              "The attribute `proteins` of `changes` lacks some of its proteins: bind results of",
              "coding_changes() by rbind()."
            ))
  proteins
}

sequences_of_changes <- function(changes, proteins) {
  proteins$sequence[match(changes$protein, proteins$protein)]
}

why_not_scored <- function(changes, proteins, model) {
  reason <- ifelse(changes$consequence == "missense", NA, as.character(changes$consequence))
  known <- changes$ancestral_residue %in% model$tokens & changes$derived_residue %in% model$tokens
  within <- changes$codon <= nchar(sequences_of_changes(changes, proteins))
  reason[is.na(reason) & !known] <- "no such residue"
  reason[is.na(reason) & !(within %in% TRUE)] <- "beyond the stop"
  reason
}

# list(values = a row of log-probabilities for each codon, row = the row of each element,
# passes = the number of sequences read). Equal proteins and their equal codons are computed once.
site_log_probs <- function(sequence, codon, model, marginal, work) {
  unique_sequences <- unique(sequence)
  site <- data.frame(protein = match(sequence, unique_sequences), codon = codon)
  key <- paste(site$protein, site$codon)
  first <- which(!duplicated(key))
  masked <- marginal == "masked"
  settings <- list(long = "window", work = work, devices = model_on_devices(model, work))
  sites <- core_list(
    "ResidueSites",
    protein = site$protein[first], residue = site$codon[first], masked = masked
  )
  made <- with_watch("Scoring", function(watch) {
    site_log_probs_impl(model$loaded, unique_sequences, sites, model_run(settings), watch)
  }, work$progress)
  tell_repeated(settings)
  list(values = made$values, row = match(key, key[first]),
       passes = if (masked) length(first) else length(unique_sequences))
}

# Whether a row is its site's most severe, and among missense rows the one with the lowest score.
is_worst <- function(scores) {
  grave <- match(scores$consequence, gravest)
  order <- order(grave, scores$score)
  place <- replace(integer(nrow(scores)), order, seq_along(order))
  site <- paste(scores$chromosome, scores$position, scores$derived)
  first_of_least(ifelse(is.na(grave), NA, place), site)
}

# One row per site, with the lowest score.
lowest_scores <- function(scores) {
  site <- paste(scores$chromosome, scores$position, scores$derived)
  as.data.frame(scores)[first_of_least(scores$score, site), ]
}

# A kind of argument of check_args(); `columns`: those that a function needs.
scores_with <- function(columns) {
  needed <- c("chromosome", "position", "derived", columns)
  function(x, name) {
    refuse_if(
      !inherits(x, "missense_scores") || !all(needed %in% names(x)),
      "`%s` must be a result of score_missense() with the columns %s, or some of its rows.",
      name, enumerate(needed)
    )
    x
  }
}

#' @export
print.missense_scores <- function(x, ...) {
  check_no_more(...)
  reasons <- table(x$not_scored)
  proteins <- attr(x, "proteins")
  focal <- sum(proteins$focal_codons)
  write_object("missense_scores", paste(attr(x, "marginal"), "marginals"), c(
    sites = format_count(nrow(unique(data.frame(x$chromosome, x$position, x$derived)))),
    scored = count_of(sum(!is.na(x$score)), "row"),
    if (length(reasons)) {
      c("not scored" = paste(vapply(reasons, format_count, ""), names(reasons), collapse = ", "))
    },
    if (focal > 0) {
      c(proteins = sprintf("%s with focal bases, as ancestral ones make a stop",
                           count_of(focal, "codon")))
    }
  ))
  shown <- c("chromosome", "position", "transcript", "codon", "ancestral_residue",
             "derived_residue", "score")
  if (all(shown %in% names(x))) {
    scored <- as.data.frame(x)[!is.na(x$score), shown]
    if (nrow(scored)) print(utils::head(scored, 6), row.names = FALSE, digits = 3)
  }
  invisible(x)
}
