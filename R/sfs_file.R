#' Read and write spectra
#'
#' `read_sfs()` reads a spectrum from a text file in dadi's format; `write_sfs()` writes one:
#' `write_sfs(x, "yri.fs")`. Writing and reading a spectrum preserves its values exactly.
#'
#' A file has these lines, in order:
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
#' @param file Path of the file. `read_sfs()` also reads gzip; `write_sfs()` creates missing
#'   folders.
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
read_sfs <- function(file) {
  check_args(file = file_in())
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
  } else if (header$newer && !header$folded) {
    stop_on_sfs(
      file, counts_line, "the line of the mask is missing; was the file cut short?"
    )
  } else {
    mask <- seq_len(cells) %in% c(1, cells)
  }
  shape <- function(values) aperm(array(values, rev(header$dim)))
  counts <- shape(counts)
  mask <- shape(mask)
  wrong <- !mask & !(is.finite(counts) & counts >= 0)
  if (header$folded) {
    above <- above_half(header$dim)
    wrong[above] <- !mask[above] & !counts[above] %in% 0
    mask <- mask | above
  }
  wrong <- which(wrong)
  if (length(wrong)) {
    stop_on_sfs(
      file, counts_line, "the count is %s in the unmasked cell %s%s",
      format(counts[wrong[1]]), cell_name(wrong[1], header$dim),
      if (counts[wrong[1]] %in% c(NaN, -Inf, Inf) || counts[wrong[1]] < 0) {
        ", but a count of sites is a number that is not below 0"
      } else {
        ", but a folded spectrum has no sites there"
      }
    )
  }
  new_sfs(counts, header$populations, mask, header$folded)
}

# The number of the next line of data. `before`: the number of preceding lines of data.
next_sfs_line <- function(reader, before, file) {
  line <- next_spectrum_line_impl(reader)
  if (!line$found) stop_on_sfs_lines(before, max(line$number, 1), file)
  line$number
}

stop_on_sfs_lines <- function(n, line, file) {
  stop_on_sfs(
    file, line,
    "a spectrum has a line of sizes, one of counts and at most one of the mask, not %s %s",
    n, if (n == 1) "line" else "lines"
  )
}

# Checks that no line follows the mask.
check_sfs_end <- function(reader, file) {
  line <- next_spectrum_line_impl(reader)
  if (line$found) stop_on_sfs_lines("more", line$number, file)
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
        "the sizes must be each population's haplotypes plus 1, then `folded` or `unfolded` and",
        "optional names in double quotes, not %s"
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

# The cells of five populations of 31 haplotypes.
most_sfs_cells <- 2^25

# The values of the reader's current line. `line`: its number; `header`: the number of the line of
# sizes.
read_cells <- function(reader, n, what, file, line, header) {
  read <- spectrum_numbers_impl(reader, min(n, most_sfs_cells), what)
  if (min(n, read$words) > most_sfs_cells) {
    stop_on_sfs(file, header, "there are %s cells, but a file has at most %s",
                format_count(n), format_count(most_sfs_cells))
  }
  if (read$words != n) {
    stop_on_sfs(
      file, line, "the %s must have %s values, but there are %s", what, format_count(n),
      if (read$words > n) "more" else format_count(read$words)
    )
  }
  wrong <- if (what == "mask") which(!read$values %in% 0:1)
  if (length(wrong)) {
    stop_on_sfs(file, line, "the mask must be 0 or 1, not %s",
                quoted(format(read$values[wrong[1]])))
  }
  read$values
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
