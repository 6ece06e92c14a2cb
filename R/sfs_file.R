#' Read and write spectra
#'
#' `read_sfs()` reads a spectrum from a text file of dadi, fastsimcoal2 or ANGSD's realSFS.
#' `write_sfs()` writes dadi's format: `write_sfs(x, "yri.fs")`. Writing and reading a spectrum
#' preserves its values exactly.
#'
#' A file of dadi has these lines, in order:
#'
#' | Line | Content |
#' | --- | --- |
#' | comments | each begins with `#` |
#' | sizes | each population's haplotypes plus 1, `folded` or `unfolded`, quoted names (optional) |
#' | counts | one number per cell; the last population varies fastest |
#' | mask | 1 for each masked cell, otherwise 0 |
#'
#' Older files have only sizes and counts, without `folded` or `unfolded`. They are read as
#' unfolded, with the cells of invariant sites masked. A folded spectrum may also lack the mask; its
#' cells above half are then masked too. A byte order mark is skipped. A file has at most 33,554,432
#' cells, enough for five populations of 31 haplotypes each.
#'
#' Files of **fastsimcoal2** begin with `1 observations`: `_DAFpop0.obs`, `_jointDAFpop1_0.obs` and
#' `_DSFS.obs`. Populations are named `pop0` and so on, in their order. If `MAF` or `MSFS` is in the
#' file's name, the spectrum is folded. Files of several observations are refused.
#'
#' Files of **realSFS** have one line of counts, and need `sizes`. Files of bootstraps have a line a
#' spectrum, and are refused. The counts of invariant sites, in masked cells, are kept.
#'
#' [sfs_from_snp_table()] reads dadi's tables of SNPs.
#'
#' @param file Path of the file. `read_sfs()` also reads gzip; `write_sfs()` creates missing
#'   folders.
#' @param sizes For a file of realSFS, the haplotypes of each population: twice the number of
#'   diploids. Names are those of the populations. `NULL` (the default): the file has sizes.
#' @param folded Whether the file counts rarer alleles. `NULL` (the default): as a file of dadi or
#'   the name of a file of fastsimcoal2 says, and `FALSE` for realSFS.
#' @param x An [sfs()].
#' @param comments Texts to write above the spectrum, one comment per line. `NULL` (the default):
#'   none.
#' @return `read_sfs()`: an [sfs()]. `write_sfs()`: the path, invisibly.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file does not exist, or cannot be read or written.
#' * `ancify_format_error` (fields `file`, `line`): the file is not in this format, is not text, has
#'   damaged compression, or has an unmasked count that is not finite or is negative.
#' * `ancify_input_error`: `x` is not a valid spectrum or has a negative count, or `comments` are
#'   not texts.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint
#' demographic history of multiple populations from multidimensional SNP frequency
#' data. PLoS Genetics 5:e1000695.
#' @seealso [sfs()]
#' @export
#' @examples
#' file <- tempfile(fileext = ".fs")
#' write_sfs(sfs(matrix(1:12, 3, 4), c("YRI", "CEU")), file, comments = "made by hand")
#' cat(readLines(file), sep = "\n")
#' read_sfs(file)
read_sfs <- function(file, sizes = NULL, folded = NULL) {
  check_args(file = file_in(), folded = optional(flag()))
  reader <- open_spectrum_impl(file)
  line <- next_sfs_line(reader, 0, file)
  if (!is.null(sizes)) {
    return(read_real_sfs(reader, sizes, file, line, folded))
  }
  text <- spectrum_text_impl(reader)
  if (is_observations(text)) {
    return(read_observations(reader, text, file, line, folded))
  }
  read_dadi_sfs(reader, read_sfs_header(text, file, line, folded), file, line)
}

# `line`: the number of the header's line.
read_dadi_sfs <- function(reader, header, file, line) {
  cells <- prod(header$dim)
  counts_line <- next_sfs_line(reader, 1, file)
  counts <- read_cells(reader, cells, "counts", file, counts_line, line)
  mask_line <- next_spectrum_line_impl(reader)
  if (mask_line$found) {
    mask <- read_cells(reader, cells, "mask", file, mask_line$number, line) != 0
    check_sfs_end(reader, file)
  } else if (header$newer && !header$folded) {
    stop_on_sfs(
      file, counts_line, "the line of the mask is missing; was the file cut short?"
    )
  } else {
    mask <- seq_len(cells) %in% c(1, cells)
  }
  finished_sfs(by_last_population(counts, header$dim), by_last_population(mask, header$dim),
               header$folded, header$populations, file, counts_line)
}

# `folded`: as given by the user; NULL if not.
read_sfs_header <- function(text, file, line, folded) {
  sizes <- sub("\".*", "", text)
  names <- substring(text, nchar(sizes) + 1)
  words <- strsplit(trimws(sizes), "\\s+")[[1]]
  folding <- any(utils::tail(words, 1) %in% c("folded", "unfolded"))
  dim <- suppressWarnings(as.numeric(if (folding) utils::head(words, -1) else words))
  if (length(dim) == 0 || anyNA(dim) || any(dim != round(dim) | dim < 2 | dim > 1e6)) {
    stop_on_sizes(text, anyNA(dim) || folding, file, line)
  }
  check_dimensions(dim, file, line)
  if (nzchar(names) && !folding) stop_on_names(file, line)
  list(
    dim = as.integer(dim), newer = folding,
    folded = is_folded(if (folding) utils::tail(words, 1), folded, file, line),
    populations = if (nzchar(names)) quoted_populations(names, length(dim), file, line)
  )
}

stop_on_names <- function(file, line) {
  stop_on_sfs(file, line, "the populations' names must be in double quotes, at the line's end")
}

quoted_populations <- function(text, n, file, line) {
  if (!grepl("^(\"[^\"]*\"\\s*)*$", text)) stop_on_names(file, line)
  populations <- regmatches(text, gregexpr("[^\"]+(?=\"(\\s|$))", text, perl = TRUE))[[1]]
  tryCatch(
    check_populations(populations, n),
    ancify_input_error = function(condition) {
      stop_on_sfs(file, line, "%s", sub("\\.$", "", conditionMessage(condition)))
    }
  )
  populations
}

# `says`: `folded` or `unfolded` of the file, NULL in older files. `given`: by the user, or NULL.
is_folded <- function(says, given, file, line) {
  if (is.null(says)) {
    return(given %||% FALSE)
  }
  if (!is.null(given) && given != (says == "folded")) {
    stop_on_sfs(file, line, "the file says %s, but `folded` is %s", says, given)
  }
  says == "folded"
}

# `is_other`: whether some words are no numbers.
stop_on_sizes <- function(text, is_other, file, line) {
  stop_on_sfs(
    file, line, paste(
      "the sizes must be each population's haplotypes plus 1, then `folded` or `unfolded` and",
      "optional names in double quotes, not %s%s"
    ), quoted(cut_text(text)),
    if (is_other) "" else ". For a spectrum of realSFS, which has no sizes, give `sizes`"
  )
}

#' @rdname read_sfs
#' @export
write_sfs <- function(x, file, comments = NULL) {
  check_args(x = check_counted_sfs, file = file_out())
  refuse_if(!is.null(comments) &&
              (!is.character(comments) || anyNA(comments) || !all(validEnc(comments))),
            "`comments` must be texts, not %s.", show_value(comments))
  write_text(file, sfs_lines(x, comments))
  invisible(file)
}

# The lines of a spectrum's file.
sfs_lines <- function(x, comments = NULL) {
  populations <- names(dimnames(x))
  header <- c(
    dim(x), if (attr(x, "folded")) "folded" else "unfolded",
    if (!is.null(populations)) sprintf("\"%s\"", populations)
  )
  by_last <- function(values) as.vector(aperm(values))
  c(
    sprintf("# %s", unlist(strsplit(as.character(comments), "\r\n|\r|\n"))),
    paste(header, collapse = " "),
    paste(exact_text(by_last(plain_array(x))), collapse = " "),
    paste(as.integer(by_last(attr(x, "mask"))), collapse = " ")
  )
}
