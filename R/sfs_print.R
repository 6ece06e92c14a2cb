# Prints a spectrum.

#' @export
print.sfs <- function(x, ...) {
  writeLines(format_sfs(check_sfs(x)))
  invisible(x)
}

# Fields, then each population's own spectrum, truncated at the line width.
format_sfs <- function(x) {
  width <- min(80, getOption("width"))
  folded <- attr(x, "folded")
  n <- length(dim(x))
  top <- object_lines(
    "sfs", c(count_of(n, "population"), if (folded) "folded" else "unfolded"), sfs_fields(x)
  )
  each <- lapply(seq_len(n), function(k) as.array(marginal_sfs(x, k)))
  head <- cbind(
    c("population", cut_text(population_labels(x), 20)), c("haplotypes", format_count(dim(x) - 1))
  )
  head <- paste0(format(head[, 1]), "  ", formatC(head[, 2], width = max(nchar(head[, 2]))))
  lines <- paste0(head, sfs_columns(each, folded, width - nchar(head[1])))
  about <- sprintf(
    "Sites by copies of the %s allele in one population:", if (folded) "rarer" else "derived"
  )
  c(top, about, lines)
}

# Counts of cells, sites, records, excluded sites and bootstrap spectra.
sfs_fields <- function(x) {
  sites <- attr(x, "sites")
  c(
    sites = sprintf(
      "%s in %s cells, %s masked", format_amount(sum(x)), format_count(length(x)),
      format_count(sum(attr(x, "mask")))
    ),
    records = format_records(attr(x, "records")),
    given = if (!is.null(sites)) {
      sprintf("%s, %s with too few called haplotypes", count_of(sites$given, "site"),
              format_count(sites$given - sites$used))
    },
    bootstrap = if (!is.null(attr(x, "bootstrap"))) {
      paste(format_count(length(attr(x, "bootstrap"))), "spectra")
    }
  )
}

# A header line of copies, then a line for each spectrum. Copies start at 1: sites without a copy
# vary only in other populations.
sfs_columns <- function(spectra, folded, width) {
  last <- vapply(spectra, function(one) {
    n <- length(one) - 1
    if (folded) n %/% 2 else n - 1
  }, 0)
  lines <- rep("", length(spectra) + 1)
  for (copies in seq_len(max(last, 0))) {
    values <- mapply(function(one, last) {
      if (copies > last) "" else if (is.na(one[copies + 1])) "-" else format_amount(one[copies + 1])
    }, spectra, last)
    column <- format(c(format(copies), values), justify = "right")
    more <- if (copies < max(last)) 4 else 0
    if (nchar(lines[1]) + nchar(column[1]) + 2 + more > width) {
      lines[1] <- paste(lines[1], "...")
      break
    }
    lines <- paste0(lines, "  ", column)
  }
  sub(" +$", "", lines)
}
