# Lines of spectra in files.

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

check_dimensions <- function(dim, file, line) {
  if (length(dim) > core_limits()$populations) {
    stop_on_sfs(
      file, line, "there are %d populations, but a spectrum has at most %d", length(dim),
      core_limits()$populations
    )
  }
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

# The array of values in the order of files, where the last population varies fastest.
by_last_population <- function(values, dim) aperm(array(values, rev(dim)))

# Refuses counts that are not sites. `line`: the number of their line.
finished_sfs <- function(counts, mask, folded, populations, file, line) {
  wrong <- !mask & !(is.finite(counts) & counts >= 0)
  if (folded) {
    above <- above_half(dim(counts))
    wrong[above] <- !mask[above] & !counts[above] %in% 0
    mask <- mask | above
  }
  wrong <- which(wrong)
  if (length(wrong)) {
    stop_on_sfs(
      file, line, "the count is %s in the unmasked cell %s%s",
      format(counts[wrong[1]]), cell_name(wrong[1], dim(counts)),
      if (counts[wrong[1]] %in% c(NaN, -Inf, Inf) || counts[wrong[1]] < 0) {
        ", but a count of sites is a number that is not below 0"
      } else {
        ", but a folded spectrum has no sites there"
      }
    )
  }
  new_sfs(counts, populations, mask, folded)
}
