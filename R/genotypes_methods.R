#' Look at genotypes
#'
#' Methods for the result of [open_genotypes()].
#'
#' @param x Genotypes, as from [open_genotypes()].
#' @param i,j Samples and variants to choose: positions, a logical vector, or IIDs and variant IDs.
#'   If one is left out, all are chosen.
#' @param drop Not used: the result always has class `ancify_genotypes`.
#' @param threads Number of threads. `NULL` (the default): `options(ancify.threads = )`, else all
#'   cores.
#' @param progress Whether to show a progress bar; by default in interactive sessions.
#' @param ... Not used.
#' @return
#' * `[`: the chosen genotypes.
#' * `dim()`: numbers of samples and variants.
#' * `dimnames()`: a list of IIDs and variant IDs.
#' * `as.matrix()`: an integer matrix of calls with a row for each sample, `NA` if missing; a matrix
#'   of dosages, from 0 to 2, if `x` has them.
#' * `print()`: `x`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: a choice names no sample or variant of `x`, or one of them twice.
#' * `ancify_file_error` (field `file`): the file is missing, or was changed since it was opened.
#' * `ancify_format_error` (fields `file`, `line`): a record of a PGEN is damaged.
#' * `ancify_system_error`: the matrix does not fit into memory.
#' @seealso [open_genotypes()], [summary()][summary.ancify_genotypes]
#' @name genotype_methods
#' @examples
#' stem <- tempfile()
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0xdc, 0x0f, 0xe7, 0x0f, 0x6b, 0x01)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 %d", 1:6, 1:6, 11:16), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:3, 1:3), paste0(stem, ".bim"))
#'
#' g <- open_genotypes(stem)
#' dim(g)
#' as.matrix(g[g$samples$pheno1 > 12, c("snp3", "snp1")])
NULL

#' @rdname genotype_methods
#' @export
`[.ancify_genotypes` <- function(x, i, j, drop = FALSE) {
  refuse_if(nargs() - (!missing(drop)) < 3,
            "Choose by g[samples, variants]; leave one empty for all.")
  if (!missing(i)) {
    rows <- chosen_positions(i, x$samples$id, "sample")
    x$samples <- chosen_rows(x$samples, rows)
    x$sample_index <- x$sample_index[rows]
  }
  if (!missing(j)) {
    columns <- chosen_positions(j, x$variants$id, "variant")
    x$variants <- chosen_rows(x$variants, columns)
    x$variant_index <- x$variant_index[columns]
  }
  x$known <- new.env()
  x
}

# Positions among `ids`, each at most once. `what`: "sample" or "variant", for messages
chosen_positions <- function(wanted, ids, what) {
  positions <- if (is.character(wanted)) {
    positions_of_ids(wanted, ids, what)
  } else if (is.logical(wanted)) {
    positions_where(wanted, length(ids), what)
  } else {
    positions_by_number(wanted, length(ids), what)
  }
  twice <- anyDuplicated(positions)
  refuse_if(twice, "The %s %s is chosen twice.", what, quoted(ids[positions[twice]]))
  refuse_if(length(positions) == 0, "No %s is chosen.", what)
  positions
}

positions_of_ids <- function(wanted, ids, what) {
  positions <- match(wanted, ids)
  lacking <- which(is.na(positions))
  refuse_if(length(lacking), "There is no %s %s%s", what, quoted(wanted[lacking[1]]),
            if (length(lacking) > 1) sprintf(" (and %s more).", length(lacking) - 1) else ".")
  # An ID gives its first position, so it must not name several.
  twice <- intersect(wanted, ids[duplicated(ids)])
  refuse_if(length(twice), "There are several %ss %s: choose by position.", what, quoted(twice[1]))
  positions
}

positions_where <- function(wanted, n, what) {
  refuse_if(
    length(wanted) != n || anyNA(wanted), "To choose %ss, %s must be TRUE or FALSE, but %s.", what,
    count_of(n, "value"),
    if (anyNA(wanted)) "one is NA" else sprintf("there are %s", format_count(length(wanted)))
  )
  which(wanted)
}

positions_by_number <- function(wanted, n, what) {
  good <- is.numeric(wanted) && !is.object(wanted) && !anyNA(wanted) &&
    all(wanted == round(wanted) & abs(wanted) >= 1 & abs(wanted) <= n) &&
    length(unique(sign(wanted))) < 2
  refuse_if(
    !good,
    "%ss are chosen by numbers from 1 to %s (negative to leave out), by logical values or IDs.",
    paste0(toupper(substr(what, 1, 1)), substring(what, 2)), format_count(n)
  )
  seq_len(n)[wanted]
}

#' @rdname genotype_methods
#' @export
dim.ancify_genotypes <- function(x) c(length(x$sample_index), length(x$variant_index))

#' @rdname genotype_methods
#' @export
dimnames.ancify_genotypes <- function(x) list(x$samples$id, x$variants$id)

#' @rdname genotype_methods
#' @export
as.matrix.ancify_genotypes <- function(x, threads = NULL, progress = interactive(), ...) {
  check_no_more(...)
  genotype_matrix(x, new_work(threads, progress = progress))
}

genotype_matrix <- function(x, work) {
  dosages <- gives_dosages(x)
  bytes <- if (dosages) 8 * prod(dim(x)) else 4 * prod(dim(x))
  if (isTRUE(bytes > available_memory())) {
    abort_ancify(
      sprintf("A matrix of %s %s takes %s, more than the memory has left. Choose fewer.",
              format_count(prod(dim(x))), if (dosages) "dosages" else "calls", show_bytes(bytes)),
      "system"
    )
  }
  read <- if (dosages) genotype_dosages_impl else genotype_matrix_impl
  matrix <- with_watch("Reading", function(watch) {
    read(core_genotypes(x), work, watch)
  }, work$progress)
  dimnames(matrix) <- dimnames(x)
  matrix
}

#' @rdname genotype_methods
#' @export
print.ancify_genotypes <- function(x, ...) {
  of_file <- function(n, chosen) if (n != chosen) sprintf(" of %s", format_count(n)) else ""
  left_out <- if (!is.null(x$left_out)) left_out_text(x$left_out)
  write_object("ancify_genotypes", c(
    paste0(count_of(nrow(x), "sample"), of_file(x$n_file[["samples"]], nrow(x))),
    paste0(count_of(ncol(x), "variant"), of_file(x$n_file[["variants"]], ncol(x)))
  ), c(
    if (length(x$path) > 1) c(files = enumerate(x$path)) else c(file = x$path),
    genotypes = if (gives_dosages(x)) "dosages",
    `left out` = left_out,
    split = if (isTRUE(x$split > 0)) paste(count_of(x$split, "record"), "with several ALT alleles"),
    chromosomes = enumerate(unique(x$variants$chromosome)),
    `further columns` = enumerate(names(x$samples)[-(1:2)])
  ))
  invisible(x)
}
