# Proteins of results of coding_changes(), and methods that bind and print results.

# The proteins of changes, which refer to them by index. Names include a checksum of the sequence,
# so that rows of another result are not mistaken for rows of this one.
named_proteins <- function(proteins, changes) {
  transcript <- changes$transcript[match(seq_along(proteins$sequence), changes$protein)]
  checksum <- vapply(proteins$sequence, texts_checksum_impl, "", USE.NAMES = FALSE)
  data.frame(protein = paste(transcript, checksum, sep = ":"), transcript = transcript, proteins)
}

# A checksum of a result's files, gene models and settings. Results of equal origin are pieces of
# one result, whose records count once.
origin_of <- function(vcf, mask, sequences, parts, codes, options) {
  tables <- sequences[c("ancestral", "phred", "reference")]
  files <- c(vcf, mask, unlist(lapply(tables, function(table) table$path)))
  texts_checksum_impl(c(
    files, vapply(files, identity_of, ""), do.call(paste, c(unname(parts), sep = "\t")),
    paste(codes), options$genetic_codes, paste(options[c("use_info", "low_confidence", "focal")])
  ))
}

#' @rdname coding_changes
#' @param ...,deparse.level,make.row.names,stringsAsFactors Results of `coding_changes()`, such as
#'   one for each chromosome, or of [score_missense()] with the same marginals. `rbind()` keeps all
#'   their proteins, and adds up their records. The other arguments are as in [rbind()].
#' @export
rbind.coding_changes <- function(..., deparse.level = 1, # nolint: object_name_linter.
                                 make.row.names = TRUE, # nolint: object_name_linter.
                                 stringsAsFactors = FALSE) { # nolint: object_name_linter.
  results <- unname(Filter(length, list(...)))
  check_bound(results)
  tables <- lapply(results, as.data.frame)
  bound <- do.call(rbind, c(tables, make.row.names = make.row.names,
                            stringsAsFactors = stringsAsFactors))
  is_whole <- function(x) inherits(x, "coding_changes") && !is.null(attr(x, "records"))
  if (!all(vapply(results, is_whole, NA))) {
    return(bound)
  }
  # Pieces of one result all have its records and proteins.
  origins <- lapply(seq_along(results), function(i) attr(results[[i]], "origin") %||% i)
  first <- results[!duplicated(origins)]
  joined <- function(name) do.call(rbind, lapply(first, attr, name))
  of_reason <- rowsum(joined("records")$records, joined("records")$reason, reorder = FALSE)
  proteins <- joined("proteins")
  attributes(bound)[c("marginal", "passes", "origin")] <- list(
    attr(first[[1]], "marginal"),
    if (!is.null(attr(first[[1]], "passes"))) sum(joined("passes")),
    texts_checksum_impl(as.character(unlist(origins)))
  )
  structure(
    bound, proteins = proteins[!duplicated(proteins$protein), ],
    records = data.frame(reason = rownames(of_reason), records = unname(of_reason[, 1])),
    class = class(first[[1]])
  )
}

# Results that are bound have the same columns, and scores the same marginals.
check_bound <- function(results) {
  kind <- function(x) list(names(x), attr(x, "marginal"))
  kinds <- lapply(Filter(function(x) inherits(x, "coding_changes"), results), kind)
  refuse_if(
    length(unique(kinds)) > 1,
    paste("rbind() takes results of coding_changes(), or results of score_missense() with the same",
          "`marginal`, all with the same columns.")
  )
}

#' @export
print.coding_changes <- function(x, ...) {
  counts <- table(x$consequence)
  counts <- counts[counts > 0]
  sites <- nrow(unique(data.frame(x$chromosome, x$position)))
  write_object("coding_changes", NULL, c(
    sites = format_count(sites),
    transcripts = format_count(length(unique(x$transcript))),
    stats::setNames(vapply(counts, format_count, ""), names(counts))
  ))
  shown <- c("chromosome", "position", "transcript", "codon", "ancestral_residue",
             "derived_residue", "consequence")
  if (nrow(x) > 0 && all(shown %in% names(x))) {
    print(utils::head(as.data.frame(x)[shown], 6), row.names = FALSE)
  }
  invisible(x)
}

#' @export
as.data.frame.coding_changes <- function(x, ...) {
  attributes(x)[c("records", "proteins", "origin")] <- NULL
  class(x) <- "data.frame"
  x
}
