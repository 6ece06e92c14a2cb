#' Read and write spectra
#'
#' The text format of dadi: comment lines that begin with `#`; a line of each
#' dimension's cells, one more than haplotypes, then `folded` or `unfolded` and
#' perhaps the populations' names in double quotes; a line of the counts, the last
#' population's fastest; and a line of the mask, 1 for masked cells. Files of its
#' older form end at the counts, and their first line at the numbers of cells: these
#' are read as unfolded, with the cells of sites that do not vary masked. A file has at most
#' 33,554,432 cells, as many as five populations of 31 copies each.
#'
#' @param file Path of the file. Reading, it may be gzipped; writing, a folder that is not there is
#'   made.
#' @param x An [sfs()].
#' @param comments Texts that go above it, a comment for each of their lines; `NULL` (the default)
#'   for none.
#' @return `read_sfs()`: an `sfs`. `write_sfs()`: the path, invisibly. What is
#'   written is read again as the very same numbers.
#' @section Errors:
#' `ancify_file_error` for a file that is not there or can't be read or written;
#' `ancify_format_error` with the `line` of one that is not of this format or not text, or
#' has counts that are not finite in cells that are not masked, and for damaged compression;
#' `ancify_input_error` for an `x` that is not a whole spectrum, and comments that are no texts.
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
read_sfs <- function(file) {
  check_given()
  file <- check_path(file, "file")
  check_is_file(file)
  reader <- open_spectrum_impl(file)
  line <- next_sfs_line(reader, 0, file)
  header <- read_sfs_header(spectrum_text_impl(reader), file, line)
  cells <- prod(header$dim)
  counts_line <- next_sfs_line(reader, 1, file)
  counts <- read_cells(reader, cells, "counts", file, counts_line, line)
  mask_line <- next_spectrum_line_impl(reader)
  if (mask_line$found) {
    mask <- read_cells(reader, cells, "mask", file, mask_line$number, line) != 0
    check_sfs_end(reader, file)
  } else if (header$newer) {
    stop_on_sfs(
      file, counts_line, "the line of the mask is missing behind it; was the file cut short?"
    )
  } else {
    mask <- seq_len(cells) %in% c(1, cells)
  }
  shape <- function(values) aperm(array(values, rev(header$dim)))
  counts <- shape(counts)
  mask <- shape(mask)
  wrong <- !mask & !is.finite(counts)
  if (header$folded) {
    above <- above_half(header$dim)
    wrong[above] <- !mask[above] & !counts[above] %in% 0
    mask <- mask | above
  }
  wrong <- which(wrong)
  if (length(wrong)) {
    stop_on_sfs(
      file, counts_line, "the count is %s in the cell %s, which is not masked",
      format(counts[wrong[1]]), cell_name(wrong[1], header$dim)
    )
  }
  new_sfs(counts, header$populations, mask, header$folded)
}

# The number of the next line that is neither a comment nor empty; there were `before`.
next_sfs_line <- function(reader, before, file) {
  line <- next_spectrum_line_impl(reader)
  if (!line$found) stop_on_sfs_lines(before, max(line$number, 1), file)
  line$number
}

stop_on_sfs_lines <- function(n, line, file) {
  stop_on_sfs(
    file, line,
    "a spectrum's file has a line of sizes, one of counts and perhaps one of the mask, not %d %s",
    n, if (n == 1) "line" else "lines"
  )
}

# That nothing comes behind the third line.
check_sfs_end <- function(reader, file) {
  line <- next_spectrum_line_impl(reader)
  if (!line$found) {
    return(invisible())
  }
  n <- 4
  while (next_spectrum_line_impl(reader)$found) n <- n + 1
  stop_on_sfs_lines(n, line$number, file)
}

stop_on_sfs <- function(file, line, ...) {
  abort_ancify(
    sprintf("%s, line %.0f: %s.", quoted(file), line, sprintf(...)), "format", file = file,
    line = line
  )
}

read_sfs_header <- function(text, file, line) {
  sizes <- sub("\".*", "", text)
  names <- substring(text, nchar(sizes) + 1)
  words <- strsplit(trimws(sizes), "\\s+")[[1]]
  folding <- any(utils::tail(words, 1) %in% c("folded", "unfolded"))
  dim <- suppressWarnings(as.numeric(if (folding) utils::head(words, -1) else words))
  if (length(dim) == 0 || anyNA(dim) || any(dim != round(dim) | dim < 2 | dim > 1e6)) {
    stop_on_sfs(
      file, line, paste(
        "%s must be each population's haplotypes plus 1, then `folded` or `unfolded` and",
        "perhaps names in double quotes"
      ), quoted(cut_text(text))
    )
  }
  if (length(dim) > core_limits()$populations) {
    stop_on_sfs(
      file, line, "there are %d populations, but a spectrum has at most %d", length(dim),
      core_limits()$populations
    )
  }
  if (!grepl("^(\"[^\"]*\"\\s*)*$", names) || (nzchar(names) && !folding)) {
    stop_on_sfs(file, line, "the populations' names must be in double quotes, at the line's end")
  }
  populations <- regmatches(names, gregexpr("[^\"]+(?=\"(\\s|$))", names, perl = TRUE))[[1]]
  if (!nzchar(names)) populations <- NULL
  tryCatch(
    check_populations(populations, length(dim)),
    ancify_input_error = function(condition) {
      stop_on_sfs(file, line, "%s", sub("\\.$", "", conditionMessage(condition)))
    }
  )
  list(
    dim = as.integer(dim), newer = folding, folded = utils::tail(words, 1) == "folded",
    populations = populations
  )
}

# Five populations of 31 copies each have as many.
most_sfs_cells <- 2^25

# The numbers of the line that the reader has gone to; `header` is the number of the first line.
read_cells <- function(reader, n, what, file, line, header) {
  read <- spectrum_numbers_impl(reader, min(n, most_sfs_cells), what)
  if (min(n, read$words) > most_sfs_cells) {
    stop_on_sfs(file, header, "there are %s cells, but a spectrum's file has at most %s",
                format_count(n), format_count(most_sfs_cells))
  }
  if (read$words != n) {
    stop_on_sfs(
      file, line, "the %s of %s cells should be here, but there are %s", what, format_count(n),
      if (read$words > n) "more" else format_count(read$words)
    )
  }
  wrong <- if (what == "mask") which(!read$values %in% 0:1)
  if (length(wrong)) {
    stop_on_sfs(file, line, "%s is no number for the mask", quoted(format(read$values[wrong[1]])))
  }
  read$values
}

#' @rdname read_sfs
#' @export
write_sfs <- function(x, file, comments = NULL) {
  check_given()
  check_sfs(x)
  file <- check_path(file, "file")
  if (!is.null(comments) &&
    (!is.character(comments) || anyNA(comments) || !all(validEnc(comments)))) {
    abort_ancify(sprintf("`comments` must be texts, not %s.", show_value(comments)), "input")
  }
  populations <- names(dimnames(x))
  header <- c(
    dim(x), if (attr(x, "folded")) "folded" else "unfolded",
    if (!is.null(populations)) sprintf("\"%s\"", populations)
  )
  by_last <- function(values) as.vector(aperm(values))
  text <- c(
    sprintf("# %s", unlist(strsplit(as.character(comments), "\r\n|\r|\n"))),
    paste(header, collapse = " "),
    paste(exact_text(by_last(plain_array(x))), collapse = " "),
    paste(as.integer(by_last(attr(x, "mask"))), collapse = " ")
  )
  write_text(file, text)
  invisible(file)
}
