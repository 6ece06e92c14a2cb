#' Read a pairwise alignment
#'
#' Reads the blocks of a file in AXT format, in one pass, as pairs of ranges of the
#' focal and the outgroup's genome with the aligned sequences.
#'
#' AXT counts the positions of an outgroup's minus strand from the end of its
#' chromosome. With `outgroup_lengths` they are counted from its start, as `GRanges`
#' mean them: a block at 11 to 20 of the minus strand of a chromosome of 100 bases is
#' 81 to 90, strand `-`. Without they stay as the file has them, as in
#' `CNEr::readAxt()`, and a warning says so. The sequence is as the file has it in
#' either case: on the minus strand that is the reverse complement of the outgroup's
#' genome.
#'
#' Each block is checked as [project_axt()] does, its outgroup's coordinates too; only
#' the focal chromosomes' lengths are not known here.
#'
#' @param axt Path of an alignment in UCSC's AXT format, plain, gzip or bgzip (told apart
#'   by content). The focal genome is the first of each pair of rows.
#' @inheritParams project_axt
#' @param outgroup_lengths Lengths of the outgroup's chromosomes, as `chrom_lengths` in
#'   [project_axt()]; `NULL` (the default) where they are not known.
#' @param chromosomes Names of the focal chromosomes whose blocks are wanted; `NULL`
#'   (the default) for all.
#' @return A `Pairs` of the Bioconductor package S4Vectors, with a pair a block in the
#'   file's order: `first()` the focal ranges, a `GRanges` on strand `+`, and `second()`
#'   the outgroup's, both with the column `seqs`, a `BStringSet` of the rows with case
#'   and gaps; `mcols()` has the blocks' `score`, `NA` where there is none. Sequences
#'   are in memory, so take large files chromosome by chromosome.
#' @section Errors:
#' `ancify_input_error` for arguments that can't be used and positions beyond 2^31 - 1,
#' which `GRanges` can't hold; `ancify_file_error` for files that can't be read;
#' `ancify_format_error` (fields `file` and `line`) for text that is not AXT, bad blocks,
#' damaged compression, a chromosome that `outgroup_lengths` does not name, and a file
#' without a block that is wanted; `ancify_package_error` where GenomicRanges or
#' Biostrings is not installed. Blocks left out are an `ancify_projection_warning`, minus
#' strands without `outgroup_lengths` an `ancify_strand_warning`.
#' @references The format: <https://genome.ucsc.edu/goldenPath/help/axt.html>
#' @seealso [project_axt()], which projects an alignment onto the focal genome
#' @export
#' @examplesIf length(find.package(c("Biostrings", "GenomicRanges"), quiet = TRUE)) == 2
#' \donttest{ # GenomicRanges alone takes seconds to load
#' axt <- tempfile(fileext = ".axt")
#' writeLines(c("0 chr1 3 6 chr5 11 13 - 250", "ACGT", "a-GT"), axt)
#' pairs <- read_axt(axt, outgroup_lengths = c(chr5 = 100), threads = 1)
#' pairs
#' S4Vectors::second(pairs)$seqs
#' }
read_axt <- function(axt, outgroup_lengths = NULL, chromosomes = NULL,
                     on_bad_block = c("error", "skip"), threads = NULL,
                     progress = interactive()) {
  check_given()
  axt <- check_path(axt, "axt")
  on_bad_block <- check_choice(on_bad_block, c("error", "skip"), "on_bad_block")
  if (!is.null(outgroup_lengths)) {
    outgroup_lengths <- lengths_given(outgroup_lengths, "outgroup_lengths")
  }
  if (is.factor(chromosomes)) chromosomes <- as.character(chromosomes)
  if (!is.null(chromosomes)) check_names(chromosomes, "chromosomes")
  need_bioconductor(c("GenomicRanges", "Biostrings"), "Pairs of ranges")
  backend <- choose_backend("cpu", threads)
  blocks <- with_watch("Reading", function(watch) {
    options <- list(
      chromosomes = as.character(chromosomes), outgroup_lengths = outgroup_lengths %||% numeric(),
      on_bad_block = on_bad_block, chunk_size = chunk_size()
    )
    read_axt_impl(axt, options, backend, watch)
  }, progress)
  warn_about_blocks(blocks, axt, outgroup_lengths)
  without <- setdiff(chromosomes, blocks$focal$chromosome)
  if (length(without)) {
    warn_ancify(
      sprintf("%s has no block on %s.", quoted(axt), enumerate(quoted(without))), "projection",
      file = axt
    )
  }
  # Not inside the call of Pairs(), a generic, which would make other errors of ours.
  focal <- aligned_ranges(blocks$focal, "+", axt)
  strand <- ifelse(blocks$minus, "-", "+")
  outgroup <- aligned_ranges(blocks$outgroup, strand, axt, outgroup_lengths)
  S4Vectors::Pairs(focal, outgroup, score = replace(blocks$score, is.nan(blocks$score), NA))
}

check_names <- function(x, name) {
  if (!is.character(x) || length(x) == 0 || anyNA(x)) {
    abort_ancify(sprintf("`%s` must be names, not %s.", name, show_value(x)), "input")
  }
}

warn_about_blocks <- function(blocks, axt, outgroup_lengths) {
  if (blocks$bad > 0) {
    warn_ancify(
      sprintf(
        "%s: bad blocks left out: %s, the first at line %.0f: %s.", quoted(axt),
        format_count(blocks$bad), blocks$bad_line, blocks$bad_problem
      ),
      "projection", file = axt, bad_blocks = blocks$bad, lines = blocks$bad_line
    )
  }
  if (is.null(outgroup_lengths) && any(blocks$minus)) {
    warn_ancify(
      sprintf(
        paste(
          "%s: of the outgroup's ranges %s are on the minus strand, and count from the",
          "chromosome's end as AXT does; give `outgroup_lengths` to count from its start."
        ),
        quoted(axt), format_count(sum(blocks$minus))
      ),
      "strand", file = axt
    )
  }
}

aligned_ranges <- function(rows, strand, axt, lengths = NULL) {
  if (any(c(rows$end, lengths) > .Machine$integer.max)) {
    abort_ancify(
      sprintf("%s has positions beyond 2^31 - 1, which GRanges can't hold.", quoted(axt)), "input"
    )
  }
  names <- unique(rows$chromosome)
  lengths <- if (is.null(lengths)) rep(NA_integer_, length(names)) else as.integer(lengths[names])
  GenomicRanges::GRanges(
    factor(rows$chromosome, names), IRanges::IRanges(rows$start, rows$end), strand,
    seqs = Biostrings::BStringSet(rows$bases), seqlengths = stats::setNames(lengths, names)
  )
}
