# Spectra in the files of other programs: fastsimcoal2 and ANGSD's realSFS.

# ---- fastsimcoal2 -------------------------------------------------------------------------------

# The first line of fastsimcoal2's files says how many spectra follow.
is_observations <- function(text) grepl("^[0-9]+\\s+observations?\\b", text, perl = TRUE)

# The spectrum after the first line `text`: of one population, as labels of cells and a line of
# counts; of two, with labels of columns and rows; or of several, as sizes and a line of counts.
read_observations <- function(reader, text, file, line, folded) {
  n <- as.numeric(sub("\\s.*", "", text))
  if (n != 1) {
    stop_on_sfs(file, line, "there are %s spectra: keep one, with 1 observation", format_count(n))
  }
  line <- next_observed_line(reader, file)
  text <- spectrum_text_impl(reader)
  found <- if (is_cell_label(text)) {
    read_labelled_counts(reader, split_blanks(text), file, line)
  } else {
    read_observed_counts(reader, text, file, line)
  }
  if (next_spectrum_line_impl(reader)$found) {
    stop_on_sfs(file, found$line, "there are more lines than 1 observation has")
  }
  counts <- found$counts
  folded <- folded %||% grepl("(MAF|MSFS)[^/]*$", file)
  finished_sfs(counts, corner_mask(dim(counts)), folded, found$populations, file, found$line)
}

next_observed_line <- function(reader, file) {
  line <- next_spectrum_line_impl(reader)
  if (!line$found) {
    stop_on_sfs(file, max(line$number, 1), "lines are missing; was the file cut short?")
  }
  line$number
}

split_blanks <- function(text) strsplit(trimws(text), "\\s+")[[1]]

# Below labels such as d0_0 and d0_1 stands one line of counts, or a row for each cell of a second
# population, which begins with its label. The result is in the order of the populations.
read_labelled_counts <- function(reader, labels, file, line) {
  columns <- check_cell_labels(labels, file, line)
  line <- next_observed_line(reader, file)
  words <- split_blanks(spectrum_text_impl(reader))
  if (!is_cell_label(words[1])) {
    counts <- array(observed_numbers(words, length(labels), file, line), length(labels))
    return(list(counts = counts, line = line, populations = columns))
  }
  rows <- list()
  row_labels <- character()
  while (is_cell_label(words[1])) {
    row_labels <- c(row_labels, words[1])
    rows <- c(rows, list(observed_numbers(words[-1], length(labels), file, line)))
    row <- next_spectrum_line_impl(reader)
    if (!row$found) break
    line <- row$number
    words <- split_blanks(spectrum_text_impl(reader))
  }
  populations <- c(columns, check_cell_labels(row_labels, file, line))
  counts <- do.call(cbind, rows)
  if (populations[1] == populations[2]) {
    stop_on_sfs(file, line, "columns and rows are both of %s", populations[1])
  }
  ordered <- order(as.numeric(sub("pop", "", populations)))
  list(counts = aperm(counts, ordered), line = line, populations = populations[ordered])
}

is_cell_label <- function(word) grepl("^d[0-9]+_", word)

# The population of labels d<population>_<copies>, from no copy on: pop0 of d0_0.
check_cell_labels <- function(labels, file, line) {
  population <- sub("^d([0-9]+)_.*", "\\1", labels[1])
  wrong <- which(labels != sprintf("d%s_%d", population, seq_along(labels) - 1))
  if (length(wrong) || length(labels) < 2) {
    stop_on_sfs(file, line, "%s is not the label of a cell that follows, such as d0_1",
                quoted(labels[c(wrong, 1)[1]]))
  }
  paste0("pop", population)
}

observed_numbers <- function(words, n, file, line) {
  if (length(words) != n) {
    stop_on_sfs(file, line, "there are %d counts, but %d labels of cells", length(words), n)
  }
  numbers <- numbers_of_impl(words, character())
  if (is.character(numbers)) stop_on_sfs(file, line, "%s is not a count", quoted(numbers))
  numbers
}

# `text`: the number of populations, and the haplotypes of each. The counts of the next line are in
# the order of dadi.
read_observed_counts <- function(reader, text, file, line) {
  sizes <- suppressWarnings(as.numeric(split_blanks(text)))
  whole <- all(is.finite(sizes) & sizes == round(sizes) & sizes > 0 & sizes <= 1e6)
  if (!whole || sizes[1] != length(sizes) - 1) {
    stop_on_sfs(file, line, "%s is not the number of populations and the haplotypes of each",
                quoted(cut_text(text)))
  }
  check_dimensions(sizes[-1] + 1, file, line)
  counts_line <- next_observed_line(reader, file)
  counts <- read_all_counts(reader, sizes[-1], file, counts_line, line)
  c(counts, list(populations = paste0("pop", seq_along(sizes[-1]) - 1)))
}

# ---- realSFS ------------------------------------------------------------------------------------

# A line of counts without sizes, in the order of dadi.
read_real_sfs <- function(reader, sizes, file, line, folded) {
  must_be(is.numeric(sizes) && length(sizes) >= 1 && all(is.finite(sizes)) &&
            all(sizes == round(sizes) & sizes >= 1 & sizes <= 1e6), sizes, "sizes",
          "the haplotypes of each population")
  check_dimensions(sizes + 1, file, line)
  check_populations(names(sizes), length(sizes))
  found <- read_all_counts(reader, sizes, file, line, line)
  more <- next_spectrum_line_impl(reader)
  if (more$found) {
    stop_on_sfs(file, more$number, "there is a second spectrum, such as a bootstrap's: keep one")
  }
  finished_sfs(found$counts, corner_mask(dim(found$counts)), folded %||% FALSE, names(sizes), file,
               line)
}

# ---- Both ---------------------------------------------------------------------------------------

read_all_counts <- function(reader, sizes, file, line, header) {
  counts <- read_cells(reader, prod(sizes + 1), "counts", file, line, header)
  list(counts = by_last_population(counts, sizes + 1), line = line)
}
