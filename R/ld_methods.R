#' Methods for two-locus statistics
#'
#' Methods for the results of [ld_statistics()] and [ld_ratios()].
#'
#' * `print()` shows the data, `summary()` also \eqn{\sigma_d^2} of each bin.
#' * `as.data.frame()` gives a row for each bin and statistic.
#' * `x[populations]` keeps some populations, in the order given.
#' * `c()` combines measurements of parts of a genome, such as chromosomes. Each part keeps its
#'   blocks.
#' * `vcov()` gives the covariance of estimates: first all values, with bins of the first statistic
#'   before bins of the second, then heterozygosities. It is a jackknife over blocks,
#'   \eqn{(B - 1) / B \sum_b (e_b - \bar{e})(e_b - \bar{e})'}, with \eqn{e_b} estimated without
#'   block b. After [ld_ratios()], estimates are ratios, and so are their standard errors. With
#'   fewer blocks than values the matrix is singular.
#' * `plot()` draws statistics against distance.
#'
#' @param x,object An `ld_statistics`.
#' @param i Names of populations of `x`.
#' @param ... For `c()`: further objects with the same bins and populations, before [ld_ratios()].
#'   Otherwise not used.
#' @param row.names,optional Not used.
#' @return
#' * `as.data.frame()`: a data frame of `statistic`, the bin's limits `lower` and `upper` in
#'   Morgans, `value`, and if measured, `std_error` (`NA` for a single block) and `pairs`.
#' * `vcov()`: a matrix with names such as `DD.YRI.YRI[3]`, for the third bin, and `H.YRI.YRI`.
#' * `summary()`: a list with `sigma_d2`, a data frame as above, of ratios of DD.
#' * `x[populations]` and `c()`: an `ld_statistics`. `print()`: `x`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `x` does not have such populations; objects differ in bins or in
#'   populations; or `vcov()` is asked for values that have fewer than two blocks.
#' @name ld_methods
#' @seealso [ld_statistics()]
#' @examples
#' calls <- matrix(rbinom(20 * 40, 2, 0.3), 20, dimnames = list(paste0("s", 1:20), NULL))
#' variants <- data.frame(chromosome = rep(c("1", "2"), each = 20), position = 1000 * 1:40)
#' g <- open_genotypes(calls, variants)
#' x <- ld_statistics(
#'   g, map = 1e-8, bins = c(0, 1e-4, 2e-4), blocks = 10000, threads = 1
#' )
#' as.data.frame(ld_ratios(x))
#' sqrt(diag(vcov(x)))
NULL

#' @rdname ld_methods
#' @export
print.ld_statistics <- function(x, ...) {
  check_no_more(...)
  write_object(
    "ld_statistics",
    c(
      count_of(length(x$populations), "population"), count_of(nrow(x$values), "bin"),
      if (!is.null(x$reference)) sprintf("ratios to %s", x$reference)
    ),
    ld_fields(x)
  )
  invisible(x)
}

ld_fields <- function(x) {
  c(
    populations = enumerate(x$populations),
    statistics = sprintf(
      "%s, such as %s", format_count(ncol(x$values)), colnames(x$values)[1]
    ),
    distances = sprintf("%s to %s Morgans", format(x$bins[1]), format(max(x$bins))),
    pairs = if (!is.null(x$pairs)) {
      sprintf("%s of %s", format_count(sum(x$pairs)), count_of(x$sites, "site"))
    },
    records = format_records(x$records, "USED"),
    blocks = if (!is.null(x$blocks)) format_count(nrow(x$blocks$pairs)),
    source = if (nzchar(x$source)) x$source
  )
}

#' @rdname ld_methods
#' @export
summary.ld_statistics <- function(object, ...) {
  check_no_more(...)
  ratios <- if (is.null(object$reference)) ld_ratios(object) else object
  rows <- as.data.frame(ratios)
  dd <- ld_table(object$populations)
  structure(
    class = "summary.ld_statistics",
    list(
      fields = ld_fields(object), reference = ratios$reference,
      sigma_d2 = rows[rows$statistic %in% dd$name[dd$kind == "DD"], ]
    )
  )
}

#' @export
print.summary.ld_statistics <- function(x, ...) {
  write_object("summary of ld_statistics", NULL, x$fields)
  cat(sprintf("\nRatios of DD to pi2 of %s, by distance in Morgans:\n", x$reference))
  print(x$sigma_d2, row.names = FALSE, digits = 4)
  invisible(x)
}

#' @rdname ld_methods
#' @export
as.data.frame.ld_statistics <- function(x, row.names = NULL, # nolint: object_name_linter.
                                        optional = FALSE, ...) {
  check_no_more(...)
  n <- nrow(x$values)
  m <- ncol(x$values)
  rows <- data.frame(
    statistic = rep(colnames(x$values), each = n), lower = rep(utils::head(x$bins, -1), m),
    upper = rep(x$bins[-1], m), value = as.vector(x$values)
  )
  if (!is.null(x$blocks)) {
    one <- nrow(x$blocks$pairs) < 2
    rows$std_error <- if (one) NA_real_ else utils::head(sqrt(diag(vcov(x))), n * m)
    rows$pairs <- rep(unname(x$pairs), m)
  }
  rows
}

#' @rdname ld_methods
#' @export
vcov.ld_statistics <- function(object, ...) {
  check_no_more(...)
  n <- if (is.null(object$blocks)) 0 else nrow(object$blocks$pairs)
  refuse_if(
    n < 2,
    paste("Covariances need statistics of two or more blocks, not %d: measure them with `blocks`,",
          "the length of a block in bases."), n
  )
  left <- vapply(seq_len(n), function(b) without_block(object, b), estimates_of(object))
  left <- t(left - rowMeans(left))
  crossprod(left) * (n - 1) / n
}

# All values and heterozygosities, with names.
estimates_of <- function(x) {
  labels <- outer(
    seq_len(nrow(x$values)), colnames(x$values), function(bin, name) sprintf("%s[%d]", name, bin)
  )
  c(stats::setNames(as.vector(x$values), labels), x$heterozygosity)
}

# The estimates without a block.
without_block <- function(x, b) {
  blocks <- x$blocks
  kept <- list(
    sums = blocks$sums[-b, , , drop = FALSE], pairs = blocks$pairs[-b, , drop = FALSE],
    heterozygosity = blocks$heterozygosity[-b, , drop = FALSE]
  )
  rest <- ld_from_blocks(
    kept, x$bins, x$populations, x$length * (1 - blocks$bases[b] / sum(blocks$bases)),
    sum(blocks$sites[-b]), NULL, x$source
  )
  estimates_of(if (is.null(x$reference)) rest else ld_ratios(rest, x$reference))
}

#' @rdname ld_methods
#' @export
`[.ld_statistics` <- function(x, i) {
  check_known_population(i, x$populations, "i")
  refuse_if(
    anyDuplicated(i) || (!is.null(x$reference) && !x$reference %in% i),
    "`i` must have each population once%s.",
    if (is.null(x$reference)) "" else paste(", and that of the ratios,", quoted(x$reference))
  )
  columns <- columns_of(x, i)
  if (!is.null(x$blocks)) {
    x$blocks$sums <- x$blocks$sums[, , columns$statistics, drop = FALSE]
    x$blocks$heterozygosity <- x$blocks$heterozygosity[, columns$heterozygosity, drop = FALSE]
  }
  x$values <- x$values[, columns$statistics, drop = FALSE]
  x$heterozygosity <- x$heterozygosity[columns$heterozygosity]
  x$populations <- i
  relabelled(x)
}

# Column indices of the statistics of chosen populations. If `chosen` changes the order of
# populations, names change too.
columns_of <- function(x, chosen) {
  numbers <- match(chosen, x$populations)
  old <- ld_table(x$populations)
  new <- ld_table(chosen)
  rows <- matrix(numbers[as.matrix(new[c("i", "j", "k", "l")])], nrow(new))
  pairs <- matrix(numbers[ordered_pairs(length(chosen))], ncol = 2)
  list(
    statistics = match(ordered_names(new$kind, rows, x$populations), old$name),
    heterozygosity = match(
      joined_names("H", t(apply(pairs, 1, sort)), x$populations), names(x$heterozygosity)
    )
  )
}

# Names of statistics whose populations are given in any order.
ordered_names <- function(kind, rows, populations) {
  for (r in seq_along(kind)) {
    row <- rows[r, ]
    rows[r, ] <- switch(kind[r],
      DD = c(sort(row[1:2]), NA, NA), Dz = c(row[1], sort(row[2:3]), NA),
      pi2 = {
        pairs <- rbind(sort(row[1:2]), sort(row[3:4]))
        as.vector(t(pairs[order(pairs[, 1], pairs[, 2]), ]))
      }
    )
  }
  joined_names(kind, rows, populations)
}

# Renames the fields' columns after the populations.
relabelled <- function(x) {
  colnames(x$values) <- ld_statistics_names(x$populations)
  names(x$heterozygosity) <- heterozygosity_names(x$populations)
  if (!is.null(x$blocks)) {
    dimnames(x$blocks$sums)[[3]] <- colnames(x$values)
    colnames(x$blocks$heterozygosity) <- names(x$heterozygosity)
  }
  x
}

#' @rdname ld_methods
#' @export
c.ld_statistics <- function(...) {
  parts <- lapply(list(...), check_ld, name = "...")
  first <- parts[[1]]
  for (part in parts) {
    refuse_if(is.null(part$blocks) || !is.null(part$reference),
              "c() puts measured statistics together, before ld_ratios().")
    refuse_if(!identical(part$bins, first$bins) || !identical(part$populations, first$populations),
              "The statistics differ in bins or in populations: measure all with the same.")
  }
  sums <- lapply(parts, function(part) matrix(part$blocks$sums, nrow(part$blocks$pairs)))
  bound <- function(name) do.call(rbind, lapply(parts, function(part) part$blocks[[name]]))
  total <- function(name) sum(vapply(parts, function(part) part[[name]], 0))
  # Scale blocks to bases of `length`, as the accessible fraction may differ between parts.
  bases_of <- function(part) {
    bases <- part$blocks$bases
    if (is.na(part$length)) bases else bases * part$length / sum(bases)
  }
  pairs <- bound("pairs")
  records <- first$records
  records$records <- rowSums(vapply(parts, function(x) x$records$records, records$records))
  ld_from_blocks(
    list(
      sums = array(do.call(rbind, sums), c(nrow(pairs), dim(first$blocks$sums)[-1])),
      pairs = pairs, heterozygosity = bound("heterozygosity"),
      sites = unlist(lapply(parts, function(part) part$blocks$sites)),
      bases = unlist(lapply(parts, bases_of))
    ),
    first$bins, first$populations, total("length"), total("sites"), records,
    enumerate(unique(vapply(parts, function(part) part$source, "")))
  )
}
