#' Read and write spectra
#'
#' The text format of dadi: comment lines that begin with `#`; a line of each
#' dimension's cells, one more than haplotypes, then `folded` or `unfolded` and
#' perhaps the populations' names in double quotes; a line of the counts, the last
#' population's fastest; and a line of the mask, 1 for masked cells. Files of its
#' older form end at the counts, and their first line at the numbers of cells: these
#' are read as unfolded, with the cells of sites that do not vary masked.
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
  lines <- sfs_lines(file)
  header <- read_sfs_header(lines$text[1], file, lines$number[1])
  cells <- prod(header$dim)
  counts <- read_cells(lines, 2, cells, "counts", file)
  if (header$newer && length(lines$text) == 2) {
    stop_on_sfs(
      file, lines$number[2], "the line of the mask is missing behind it; was the file cut short?"
    )
  }
  corners <- seq_len(cells) %in% c(1, cells)
  mask <- if (length(lines$text) == 2) corners else read_cells(lines, 3, cells, "mask", file) != 0
  shape <- function(values) aperm(array(values, rev(header$dim)))
  counts <- shape(counts)
  mask <- shape(mask)
  above <- header$folded & above_half(header$dim)
  wrong <- which(!mask & ifelse(above, !counts %in% 0, !is.finite(counts)))
  if (length(wrong)) {
    stop_on_sfs(
      file, lines$number[2], "the count is %s in the cell %s, which is not masked",
      format(counts[wrong[1]]), cell_name(wrong[1], header$dim)
    )
  }
  new_sfs(counts, header$populations, mask | above, header$folded)
}

# The lines that are neither comments nor empty, and their numbers.
sfs_lines <- function(file) {
  if (!file.exists(file) || dir.exists(file)) {
    abort_ancify(
      sprintf("%s is no file; correct the path.", quoted(file)), "file", file = file
    )
  }
  text <- read_lines_impl(file)
  number <- which(!grepl("^\\s*(#|$)", text))
  if (length(number) < 2 || length(number) > 3) {
    stop_on_sfs(
      file, if (length(number) > 3) number[4] else max(length(text), 1),
      "a spectrum's file has a line of sizes, one of counts and perhaps one of the mask, not %d %s",
      length(number), if (length(number) == 1) "line" else "lines"
    )
  }
  list(text = text[number], number = number)
}

stop_on_sfs <- function(file, line, ...) {
  abort_ancify(
    sprintf("%s, line %d: %s.", quoted(file), line, sprintf(...)), "format", file = file,
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
  if (length(dim) > most_populations) {
    stop_on_sfs(
      file, line, "there are %d populations, but a spectrum has at most %d", length(dim),
      most_populations
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

read_cells <- function(lines, i, n, what, file) {
  words <- strsplit(trimws(lines$text[i]), "\\s+")[[1]]
  if (length(words) != n) {
    stop_on_sfs(
      file, lines$number[i], "the %s of %s cells should be here, but there are %s", what,
      format_count(n), format_count(length(words))
    )
  }
  values <- suppressWarnings(as.numeric(words))
  good <- if (what == "mask") values %in% 0:1 else !is.na(values) | tolower(words) == "nan"
  if (!all(good)) {
    stop_on_sfs(
      file, lines$number[i], "%s is no number for the %s",
      quoted(cut_text(words[!good][1])), what
    )
  }
  values
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

# With as many digits as each number needs to be read again as itself.
exact_text <- function(x) {
  text <- sprintf("%.15g", x)
  finite <- which(is.finite(x))
  for (digits in c("%.16g", "%.17g")) {
    longer <- finite[as.numeric(text[finite]) != x[finite]]
    text[longer] <- sprintf(digits, x[longer])
  }
  text[is.na(x)] <- "nan"
  text[is.infinite(x)] <- ifelse(x[is.infinite(x)] > 0, "inf", "-inf")
  text
}
