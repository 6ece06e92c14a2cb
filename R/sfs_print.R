# How a spectrum is printed.

#' @export
print.sfs <- function(x, ...) {
  writeLines(format_sfs(check_sfs(x)))
  invisible(x)
}

# The spectrum of each population by itself, as far as the line goes.
format_sfs <- function(x) {
  width <- min(80, getOption("width"))
  folded <- attr(x, "folded")
  n <- length(dim(x))
  title <- sprintf(
    "<sfs> %s, %s", if (n == 1) "1 population" else sprintf("%d populations", n),
    if (folded) "folded" else "unfolded"
  )
  cells <- sprintf(
    "%s sites in %s cells, %s masked", format_amount(sum(x)), format_count(length(x)),
    format_count(sum(attr(x, "mask")))
  )
  made <- c(
    format_records(attr(x, "records")), format_made(attr(x, "sites"), attr(x, "bootstrap"))
  )
  each <- lapply(seq_len(n), function(k) as.array(marginal_sfs(x, k)))
  head <- cbind(
    c("population", cut_text(population_labels(x), 20)), c("haplotypes", format_count(dim(x) - 1))
  )
  head <- paste0(format(head[, 1]), "  ", formatC(head[, 2], width = max(nchar(head[, 2]))))
  lines <- paste0(head, spectrum_columns(each, folded, width - nchar(head[1])))
  about <- sprintf(
    "sites by copies of the %s allele in one population:", if (folded) "rarer" else "derived"
  )
  c(title, cells, made, about, lines)
}

# What became of the sites, and how many replicates there are.
format_made <- function(sites, bootstrap) {
  c(
    if (!is.null(sites)) {
      sprintf("of %s sites, %s with too few haplotypes called", format_count(sites$given),
              format_count(sites$given - sites$used))
    },
    if (!is.null(bootstrap)) sprintf("%s bootstrap spectra", format_count(length(bootstrap)))
  )
}

# Of sfs_from_vcf(): which records are no sites.
format_records <- function(records) {
  if (is.null(records)) {
    return(NULL)
  }
  left <- records[!records$reason %in% c("TOO_FEW", "USED") & records$records > 0, ]
  text <- sprintf("%s records%s", format_count(sum(records$records)),
                  if (nrow(left)) ", left out " else "")
  strwrap(paste0(
    text, paste(format_count(left$records), left$reason, collapse = ", ")
  ), min(80, getOption("width")), exdent = 2)
}

# From one copy on: sites without it are those of the other populations. A line more than spectra.
spectrum_columns <- function(spectra, folded, width) {
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

# Whole numbers as they are, others to four digits.
format_amount <- function(x) {
  if (x == round(x) && abs(x) < 1e12) format_count(x) else format(x, digits = 4, big.mark = ",")
}
