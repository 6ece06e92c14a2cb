#' Read a pairwise alignment
#'
#' Reads the blocks of an AXT file in one pass. Each block is a pair of ranges, in the focal
#' genome and in the outgroup's, with the aligned sequences.
#'
#' AXT counts positions on an outgroup's minus strand from the end of the chromosome. `GRanges`
#' count from its start:
#'
#' | `outgroup_lengths` | Ranges on the minus strand |
#' | --- | --- |
#' | given | from the start: 11 to 20 of 100 bases becomes 81 to 90, strand `-` |
#' | `NULL` | as in the file and in `CNEr::readAxt()`, with a warning |
#'
#' The sequences stay as in the file: on the minus strand, they are the reverse complement of the
#' outgroup's genome.
#'
#' Blocks are checked as in [project_axt()], and so are their coordinates in the outgroup. They are
#' not checked against the lengths of the focal chromosomes, which are unknown here.
#'
#' @param axt Path of an alignment in UCSC's AXT format: plain, gzip or bgzip, recognised by
#'   content. The focal genome is the first row of each pair.
#' @inheritParams project_axt
#' @param outgroup_lengths Lengths of the outgroup's chromosomes in bases, in the forms of
#'   `chrom_lengths` in [project_axt()]; `NULL` (the default) if unknown.
#' @param chromosomes Names of the focal chromosomes to read; `NULL` (the default) for all.
#' @return A `Pairs` of the package S4Vectors with a pair for each block, in the file's order.
#'   All of it is held in memory, so read large files chromosome by chromosome.
#'   * `first()`: the focal ranges, a `GRanges` on strand `+`;
#'   * `second()`: the outgroup's ranges, a `GRanges`;
#'   * the column `seqs` of both: a `BStringSet` of the rows, with case and gaps;
#'   * `mcols()`: the blocks' `score`, `NA` if absent.
#' @section Errors:
#' * `ancify_input_error`: an argument cannot be used, or a position is beyond 2^31 - 1, the limit
#'   of `GRanges`.
#' * `ancify_file_error`: a file cannot be read.
#' * `ancify_format_error` (fields `file` and `line`): the text is not AXT, a block is bad, or the
#'   compression is damaged.
#' * `ancify_format_error`: `outgroup_lengths` lacks a chromosome, or the file has no block on the
#'   chromosomes asked for.
#' * `ancify_package_error`: GenomicRanges or Biostrings is not installed.
#' * `ancify_projection_warning`: bad blocks were left out, or a chromosome has no block.
#' * `ancify_strand_warning`: blocks are on the minus strand, but `outgroup_lengths` is missing.
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
  check_args(axt = one_path(), on_bad_block = choice(c("error", "skip")))
  if (!is.null(outgroup_lengths)) {
    outgroup_lengths <- lengths_given(outgroup_lengths, "outgroup_lengths")
  }
  if (is.factor(chromosomes)) chromosomes <- as.character(chromosomes)
  if (!is.null(chromosomes)) check_names(chromosomes, "chromosomes")
  need_bioconductor(c("GenomicRanges", "Biostrings"), "Pairs of ranges")
  work <- new_work(threads, progress = progress)
  blocks <- with_watch("Reading", function(watch) {
    options <- core_list(
    "AxtPairsOptions",
      chromosomes = as.character(chromosomes), outgroup_lengths = outgroup_lengths %||% numeric(),
      on_bad_block = on_bad_block, chunk_size = chunk_size()
    )
    read_axt_impl(axt, options, work, watch)
  }, work$progress)
  warn_about_blocks(blocks, axt, outgroup_lengths)
  without <- setdiff(chromosomes, blocks$focal$chromosome)
  if (length(without)) {
    warn_ancify(
      sprintf("%s has no block on %s.", quoted(axt), enumerate(quoted(without))), "projection",
      file = axt
    )
  }
  # Evaluate the ranges outside Pairs(), because that generic would replace the classes of our
  # errors.
  focal <- aligned_ranges(blocks$focal, "+", axt)
  strand <- ifelse(blocks$minus, "-", "+")
  outgroup <- aligned_ranges(blocks$outgroup, strand, axt, outgroup_lengths)
  S4Vectors::Pairs(focal, outgroup, score = replace(blocks$score, is.nan(blocks$score), NA))
}

check_names <- function(x, name) {
  must_be(is.character(x) && length(x) != 0 && !anyNA(x), x, name, "names as text")
}

warn_about_blocks <- function(blocks, axt, outgroup_lengths) {
  if (blocks$bad > 0) {
    warn_ancify(
      sprintf(
        "%s: %s left out, the first at line %.0f: %s.", quoted(axt),
        count_of(blocks$bad, "bad block"), blocks$bad_line, blocks$bad_problem
      ),
      "projection", file = axt, bad_blocks = blocks$bad, lines = blocks$bad_line
    )
  }
  if (is.null(outgroup_lengths) && any(blocks$minus)) {
    warn_ancify(
      sprintf(
        paste(
          "%s: %s of the outgroup's ranges are on the minus strand and count from the",
          "chromosome's end, as in AXT. To count from its start, give `outgroup_lengths`."
        ),
        quoted(axt), format_count(sum(blocks$minus))
      ),
      "strand", file = axt
    )
  }
}

aligned_ranges <- function(rows, strand, axt, lengths = NULL) {
  refuse_if(any(c(rows$end, lengths) > .Machine$integer.max),
            "%s has positions beyond 2^31 - 1, the limit of GRanges.", quoted(axt))
  names <- unique(rows$chromosome)
  lengths <- if (is.null(lengths)) rep(NA_integer_, length(names)) else as.integer(lengths[names])
  GenomicRanges::GRanges(
    factor(rows$chromosome, names), IRanges::IRanges(rows$start, rows$end), strand,
    seqs = Biostrings::BStringSet(rows$bases), seqlengths = stats::setNames(lengths, names)
  )
}
