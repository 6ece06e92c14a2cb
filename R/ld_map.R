#' Read a recombination map
#'
#' Reads genetic positions for [ld_statistics()]:
#' `read_recombination_map("genetic_map_chr22.txt.gz")`.
#'
#' **Formats** are recognised by the first line. A file may be compressed by gzip. Columns are
#' separated by blanks or tabs. Empty lines, and lines that begin with `#`, are skipped.
#'
#' | First line | Columns |
#' | --- | --- |
#' | begins with `Chromosome` | HapMap: chromosome, position, rate in cM/Mb, map in cM |
#' | has four columns | PLINK's `.map`: chromosome, identifier, map in cM, position |
#' | has three columns | PLINK's without identifiers: chromosome, map in cM, position |
#'
#' Rates are not used, as they follow from the map. Combine the tables of several files, such as one
#' per chromosome, by `rbind()`.
#'
#' @param file Path of the map.
#' @return A data frame of `chromosome`, `position` (of the base, from 1) and `centimorgans`, with a
#'   row for each row of the file.
#' @section Errors:
#' * `ancify_format_error` (fields `file`, `line`): a row has other columns, its position is not an
#'   integer, or its map not a number. Or positions or the map decrease, a chromosome's rows are not
#'   adjacent, or the map is constant.
#' * `ancify_file_error` (field `file`): the file cannot be read.
#' @seealso [ld_statistics()]
#' @export
#' @examples
#' file <- tempfile()
#' writeLines(c(
#'   "Chromosome Position(bp) Rate(cM/Mb) Map(cM)",
#'   "chr22 16051347 8.10 0.0", "chr22 16052618 8.10 0.01"
#' ), file)
#' read_recombination_map(file)
read_recombination_map <- function(file) {
  check_args(file = one_path())
  map <- with_watch("Reading", function(watch) read_recombination_map_impl(file, watch))
  data.frame(
    chromosome = map$chromosomes[map$chromosome], position = map$position,
    centimorgans = map$centimorgans
  )
}

# ---- The argument `map` -----------------------------------------------------------------------

# The map: a rate, or a sorted table.
check_map <- function(map) {
  if (is.data.frame(map)) {
    return(check_map_table(map))
  }
  refuse_if(
    !is.numeric(map) || length(map) != 1 || !isTRUE(map > 0 && map < 1),
    paste("`map` must be a map from read_recombination_map(), or the recombination rate per base",
          "and generation, such as 1e-8, not %s."), show_value(map)
  )
  map
}

check_map_table <- function(map) {
  columns <- c("chromosome", "position", "centimorgans")
  refuse_if(!all(columns %in% names(map)) || !nrow(map), "`map` must have rows and the columns %s.",
            enumerate(quoted(columns)))
  map <- as.data.frame(map)[columns]
  map$chromosome <- as.character(map$chromosome)
  good <- !is.na(map$chromosome) & is.numeric(map$position) & is.finite(map$position) &
    is.numeric(map$centimorgans) & is.finite(map$centimorgans)
  refuse_map_row(which(!good)[1], "needs a chromosome, and numbers as position and map")
  follows <- match(map$chromosome, map$chromosome)
  for (rows in split(seq_along(follows), follows)) {
    back <- which(diff(map$position[rows]) <= 0 | diff(map$centimorgans[rows]) < 0)[1]
    refuse_map_row(rows[back + 1], "goes back in position or map: sort it, one row per position")
  }
  map
}

refuse_map_row <- function(row, problem) {
  refuse_if(!is.na(row), "Row %s of `map` %s.", format_count(row), problem)
}

# Morgans of sites: interpolated linearly between the map's rows, NA outside. `chromosome`: indices
# of the names `chromosomes`, which may differ from the map's by chr. `from`: source of the sites.
morgans_of <- function(map, chromosomes, chromosome, position, from) {
  if (!is.data.frame(map)) {
    return(map * position)
  }
  known <- map$chromosome[match_chromosomes(chromosomes, map$chromosome)]
  lacking <- chromosomes[is.na(known)]
  refuse_if(length(lacking),
            "`map` has no chromosome %s of %s; it has %s. Add it, or leave out its sites.",
            enumerate(quoted(lacking)), from, enumerate(quoted(unique(map$chromosome))))
  morgans <- rep(NA_real_, length(position))
  for (number in seq_along(chromosomes)) {
    sites <- which(chromosome == number)
    rows <- map[map$chromosome == known[number], ]
    morgans[sites] <- on_map(rows, position[sites]) / 100
  }
  morgans
}

on_map <- function(rows, position) {
  if (nrow(rows) == 1) {
    return(ifelse(position == rows$position, rows$centimorgans, NA))
  }
  stats::approx(rows$position, rows$centimorgans, position)$y
}
