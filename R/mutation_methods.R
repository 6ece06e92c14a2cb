# Methods of mutation spectra.

#' Use a mutation spectrum
#'
#' Extracts parts of the result of [mutation_spectrum()], converts it to plain objects, or collapses
#' it to shorter contexts: `collapse_contexts(x, 3)`.
#'
#' | Call | Value |
#' | --- | --- |
#' | `x[types, columns]` | a spectrum of these types and populations (or samples) |
#' | `x[cells]` | a plain vector of counts |
#' | `as.matrix(x)` | the plain matrix of counts |
#' | `as.data.frame(x)` | a row for each type and column, with standard errors |
#' | `collapse_contexts(x, k)` | the spectrum by the inner k bases of each context |
#' | `x + 1`, `log(x)` and other arithmetic | a plain matrix |
#' | `proportions(as.matrix(x), 2)` | the share of each type |
#'
#' `collapse_contexts()` sums the types with the same inner context. It differs slightly from the
#' spectrum of [mutation_spectrum()] with the shorter k, as `x` excludes sites that lack an outer
#' base.
#'
#' @param x A [mutation_spectrum()].
#' @param i,j Types and columns: names, indices or `TRUE` and `FALSE`.
#' @param drop `TRUE` gives a plain vector or matrix. `FALSE` (the default) gives a spectrum.
#' @param k Length of the new contexts in bases: odd, and at most the length in `x`.
#' @param by_window `TRUE` gives a row for each nonzero count in a window. `FALSE` (the default)
#'   gives the counts summed over windows.
#' @param row.names,optional Not used.
#' @param ... Not used.
#' @return See the table. `as.data.frame(x)` has these columns:
#'
#'   | Column | Value |
#'   | --- | --- |
#'   | `type`, `mutation`, `context` | such as `ACA>ATA`, `C>T`, `ACA` |
#'   | `population` or `sample` | the column |
#'   | `count` | sites, or haplotypes of the sample |
#'   | `std_error` | bootstrap standard error; only if `x` has one, and not by window |
#'   | `chromosome`, `start`, `end` | the window; only with `by_window` |
#' @section Errors:
#' * `ancify_input_error`: `x` has no such type or column, or one is selected twice. In
#'   `collapse_contexts()` also: `k` is even or longer than the contexts of `x`, or `x` lacks types.
#' @seealso [mutation_spectrum()]
#' @name mutation_methods
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' calls <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "ACACGTNACG"), calls)
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1"
#' record <- "1\t4\t.\tC\tT\t.\t.\t.\tGT\t0/1"
#' writeLines(c("##fileformat=VCFv4.2", columns, record), vcf)
#'
#' x <- mutation_spectrum(vcf, calls, k = 5, threads = 1)
#' collapse_contexts(x, 1)
#' as.data.frame(x["CACGT>CATGT", ])
NULL

check_mutation_spectrum <- function(x, name = "x") {
  must_be(inherits(x, "mutation_spectrum"), x, name, "a spectrum of mutation_spectrum()")
  refuse_if(!is.matrix(x) || !is.data.frame(attr(x, "by_window")),
            "`%s` is not a valid spectrum any more: make it again with mutation_spectrum().", name)
  x
}

bases_of_types <- function(x) {
  refuse_if(nrow(x) == 0, "The spectrum has no types: choose at least one.")
  nchar(context_of_type(rownames(x)[1]))
}

plain_counts <- function(x) {
  if (inherits(x, "mutation_spectrum")) {
    return(matrix(as.vector(unclass(x)), nrow(x), ncol(x), dimnames = dimnames(x)))
  }
  if (inherits(x, "mutation_contexts")) stats::setNames(as.vector(unclass(x)), names(x)) else x
}

#' @rdname mutation_methods
#' @export
as.matrix.mutation_spectrum <- function(x, ...) plain_counts(x)

#' @export
Ops.mutation_spectrum <- function(e1, e2) {
  compute <- get(.Generic, mode = "function") # nolint: object_usage_linter.
  if (missing(e2)) compute(plain_counts(e1)) else compute(plain_counts(e1), plain_counts(e2))
}

#' @export
Ops.mutation_contexts <- Ops.mutation_spectrum

#' @export
Math.mutation_spectrum <- function(x, ...) {
  get(.Generic, mode = "function")(plain_counts(x), ...) # nolint: object_usage_linter.
}

#' @rdname mutation_methods
#' @export
`[.mutation_spectrum` <- function(x, i, j, drop = FALSE) {
  # x[i] has one index, x[i, ] two, of which one is empty.
  indices <- nargs() - if (missing(drop)) 1 else 2
  if (indices < 2) {
    return(plain_counts(x)[i])
  }
  rows <- taken(if (!missing(i)) i, rownames(x), "type")
  columns <- taken(if (!missing(j)) j, colnames(x), "column")
  if (drop) {
    return(plain_counts(x)[rows, columns])
  }
  by <- attr(x, "by_window")
  by <- data.frame(
    window = by$window, row = match(by$row, rows), column = match(by$column, columns),
    count = by$count
  )
  with_counts(x, rownames(x)[rows], colnames(x)[columns], by[!is.na(by$row) & !is.na(by$column), ])
}

# The indices that `index` selects; NULL selects all.
taken <- function(index, names, what) {
  numbers <- stats::setNames(seq_along(names), names)
  if (!is.null(index)) numbers <- numbers[index]
  wrong <- which(is.na(numbers) | duplicated(numbers))
  refuse_if(length(wrong), "The spectrum has no %s %s, or it is taken twice.", what,
            if (is.logical(index)) paste("number", wrong[1]) else show_value(index[wrong[1]]))
  unname(numbers)
}

# The spectrum with other types, columns and counts by window.
with_counts <- function(x, types, columns, by_window) {
  result <- new_mutation_spectrum(
    types, columns, by_window, attr(x, "windows"), attr(x, "fold"), attr(x, "samples"),
    attr(x, "rules")
  )
  for (name in c("draws", "records", "misidentification")) attr(result, name) <- attr(x, name)
  result
}

#' @rdname mutation_methods
#' @export
as.data.frame.mutation_spectrum <- function(x, row.names = NULL, # nolint: object_name_linter.
                                            optional = FALSE, ..., by_window = FALSE) {
  check_method(by_window = flag(), x = check_mutation_spectrum)
  by <- attr(x, "by_window")
  if (by_window) {
    windows <- attr(x, "windows")[by$window, ]
    return(data.frame(windows, type_columns(x, by$row, by$column), count = by$count,
                      row.names = NULL))
  }
  table <- type_columns(x, as.vector(row(x)), as.vector(col(x)))
  table$count <- as.vector(plain_counts(x))
  if (!is.null(attr(x, "draws"))) {
    table$std_error <- bootstrap_errors(attr(x, "draws"), function(times) drawn_counts(x, times))
  }
  table
}

type_columns <- function(x, row, column) {
  types <- rownames(x)
  table <- data.frame(
    type = types[row], mutation = mutation_of_type(types)[row],
    context = context_of_type(types)[row]
  )
  table[[if (attr(x, "samples")) "sample" else "population"]] <- colnames(x)[column]
  table
}

# ---- Bootstrap --------------------------------------------------------------------------------

# The counts when each window is drawn `times` times.
drawn_counts <- function(x, times) {
  by <- attr(x, "by_window")
  sum_cells(by$row + nrow(x) * (by$column - 1), by$count * times[by$window], length(x))
}

# Standard deviations of value() over the columns of `draws`.
bootstrap_errors <- function(draws, value) {
  mean <- 0
  squares <- 0
  for (i in seq_len(ncol(draws))) {
    one <- value(draws[, i])
    step <- one - mean
    mean <- mean + step / i
    squares <- squares + step * (one - mean)
  }
  sqrt(squares / (ncol(draws) - 1))
}

# ---- Shorter contexts -------------------------------------------------------------------------

#' @rdname mutation_methods
#' @export
collapse_contexts <- function(x, k) {
  check_args(x = check_whole_spectrum, k = check_k)
  refuse_if(k > bases_of_types(x),
            "`k` is %d, but the contexts of `x` have %d bases: give at most these.", k,
            bases_of_types(x))
  types <- mutation_types(k, attr(x, "fold"))$type
  by <- attr(x, "by_window")
  by$row <- match(shorten_types(rownames(x), k), types)[by$row]
  cell <- by$row + length(types) * (by$column - 1)
  key <- cell + length(types) * ncol(x) * (by$window - 1)
  first <- which(!duplicated(key))
  by <- data.frame(
    by[first, c("window", "row", "column")],
    count = as.vector(rowsum(by$count, key, reorder = FALSE)), row.names = NULL
  )
  with_counts(x, types, colnames(x), by)
}

# Sums over types require all types.
check_whole_spectrum <- function(x, name) {
  check_mutation_spectrum(x, name)
  all <- 3 * 4^bases_of_types(x) / 2
  refuse_if(nrow(x) != all, "The spectrum has %s of %s types: take the whole spectrum.",
            format_count(nrow(x)), format_count(all))
  x
}

# ---- Print ------------------------------------------------------------------------------------

#' @export
print.mutation_spectrum <- function(x, ...) {
  check_mutation_spectrum(x)
  what <- if (attr(x, "samples")) "sample" else "population"
  facts <- c(
    count_of(nrow(x), "type"), if (nrow(x)) sprintf("%d-mers", bases_of_types(x)),
    count_of(ncol(x), what)
  )
  records <- attr(x, "records")
  draws <- attr(x, "draws")
  write_object("mutation_spectrum", facts, c(
    sites = format_count(records$records[records$reason == "USED"]),
    records = format_records(records), windows = format_windows(x),
    bootstrap = if (!is.null(draws)) paste(format_count(ncol(draws)), "replicates")
  ))
  unit <- if (attr(x, "samples")) "Haplotypes with the derived allele" else "Sites"
  writeLines(c(paste0(unit, " by mutation:"), mutation_lines(x)))
  invisible(x)
}

# A table of mutations, with CpG sites separate, and as many columns as fit.
mutation_lines <- function(x) {
  types <- rownames(x)
  kind <- paste0(mutation_of_type(types), ifelse(is_cpg_type(types) %in% TRUE, " CpG", ""))
  sums <- rowsum(plain_counts(x), kind)
  lines <- format(c("", rownames(sums)))
  for (column in colnames(x)) {
    cells <- c(cut_text(column, 20), vapply(sums[, column], format_amount, ""))
    more <- paste0("  ", format(cells, justify = "right"))
    if (nchar(lines[1]) + nchar(more[1]) > min(80, getOption("width")) - 6) {
      lines[1] <- paste(lines[1], "...")
      break
    }
    lines <- paste0(lines, more)
  }
  paste0("  ", lines)
}
