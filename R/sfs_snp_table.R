#' Make a spectrum from a table of SNPs
#'
#' Makes the joint site frequency spectrum of populations from a table of SNPs in dadi's format:
#' `sfs_from_snp_table("snps.txt", project = c(YRI = 20, CEU = 20))`.
#'
#' A table begins with a header, and has a row for each SNP:
#'
#' | Columns | Content |
#' | --- | --- |
#' | first | the bases of the focal species: before, at and after the SNP, such as `ACG` |
#' | second | these bases of the outgroup; `-` if unknown |
#' | `Allele1`, a column for each population | an allele, and its copies in each population |
#' | `Allele2`, a column for each population | the other allele, and its copies |
#' | others | names and positions, which are not read |
#'
#' Lines that begin with `#` are comments. The outgroup's middle base is the ancestral allele. Each
#' row has one reason, the first that applies:
#'
#' | Reason | Meaning |
#' | --- | --- |
#' | `NO_COVERAGE` | the outgroup's base is unknown |
#' | `NEITHER_ALLELE` | the outgroup's base is none of the two alleles |
#' | `TOO_FEW` | a population has fewer called haplotypes than `project` |
#' | `USED` | the row is in the spectrum |
#'
#' [sfs_from_sites()] describes projection. With `folded = TRUE`, the outgroup is not used.
#'
#' @param file Path of the table, plain or compressed by gzip.
#' @param populations Names of the populations to use, in order. `NULL` (the default): all.
#' @param folded Whether to count the rarer allele of each SNP, which needs no outgroup; `FALSE`
#'   (the default).
#' @inheritParams sfs_from_sites
#' @return An [sfs()] with the attributes `records`, a data frame of `reason` and `records`, their
#'   number, and `sites`, as from [sfs_from_sites()].
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file cannot be read.
#' * `ancify_format_error` (fields `file`, `line`): the header lacks `Allele1` or `Allele2`, their
#'   populations differ, rows differ in length, or a count is not a whole number.
#' * `ancify_input_error`: `populations` are not in the table, no row remains, or an error of
#'   [sfs_from_sites()].
#' @inherit read_sfs references
#' @seealso [read_sfs()], [sfs_from_vcf()], [sfs_from_sites()]
#' @export
#' @examples
#' file <- tempfile()
#' writeLines(c(
#'   "Human Chimp Allele1 YRI CEU Allele2 YRI CEU Gene Position",
#'   "ACG ATG C 29 24 T 1 0 abcb1 289",
#'   "CCT CCT C 29 23 G 3 2 abcb1 345"
#' ), file)
#' x <- sfs_from_snp_table(file, project = c(YRI = 4, CEU = 4), threads = 1)
#' attr(x, "records")
sfs_from_snp_table <- function(file, project = NULL, populations = NULL, folded = FALSE,
                               threads = NULL, progress = interactive()) {
  check_args(file = file_in(), folded = flag())
  table <- read_snp_table(file)
  names <- populations %||% table$populations
  check_populations(populations, length(names))
  absent <- setdiff(names, table$populations)
  refuse_if(length(absent), "`populations` has %s, but those of %s are %s.", quoted(absent[1]),
            quoted(file), enumerate(quoted(table$populations)))
  reason <- if (folded) rep("", length(table$outgroup)) else reasons_of_outgroup(table)
  kept <- reason == ""
  refuse_if(!any(kept), "No row of %s has an ancestral allele: with `folded` none is needed.",
            quoted(file))
  first_is_derived <- !folded & table$outgroup == table$allele2
  derived <- table$copies2
  derived[first_is_derived, ] <- table$copies1[first_is_derived, ]
  colnames(derived) <- table$populations
  called <- table$copies1 + table$copies2
  colnames(called) <- table$populations
  x <- sfs_from_sites(
    derived[kept, names, drop = FALSE], called[kept, names, drop = FALSE], project = project,
    threads = threads, progress = progress
  )
  sites <- attr(x, "sites")
  if (folded) {
    x <- fold(x)
    attr(x, "sites") <- sites
  }
  records <- c(
    NO_COVERAGE = sum(reason == "NO_COVERAGE"), NEITHER_ALLELE = sum(reason == "NEITHER_ALLELE"),
    TOO_FEW = sites$given - sites$used, USED = sites$used
  )
  attr(x, "records") <- data.frame(reason = names(records), records = unname(records))
  x
}

reasons_of_outgroup <- function(table) {
  ifelse(!table$outgroup %in% c("A", "C", "G", "T"), "NO_COVERAGE",
         ifelse(table$outgroup == table$allele1 | table$outgroup == table$allele2, "",
                "NEITHER_ALLELE"))
}

# list(populations =, outgroup = bases, allele1 =, allele2 =, copies1 = a matrix with a row for each
# SNP and a column for each population, copies2 =)
read_snp_table <- function(file) {
  read <- read_words(file, 5, 1e6, comments = TRUE)
  header <- vapply(read$columns, `[`, "", 1)
  alleles <- match(c("Allele1", "Allele2"), header)
  refuse <- function(line, ...) {
    abort_ancify(sprintf("%s, line %.0f: %s.", quoted(file), line, sprintf(...)), "format",
                 file = file, line = line)
  }
  if (anyNA(alleles) || alleles[1] != 3 || alleles[2] < 5) {
    refuse(read$line[1], paste("a table of SNPs has the columns of two species, Allele1, one for",
                               "each population, Allele2, and one for each population"))
  }
  populations <- header[seq(4, alleles[2] - 1)]
  of_first <- 3 + seq_along(populations)
  of_second <- alleles[2] + seq_along(populations)
  if (!identical(header[of_second], populations)) {
    refuse(read$line[1], "the populations after Allele2 are not those after Allele1: %s",
           enumerate(quoted(populations)))
  }
  rows <- lapply(read$columns, `[`, -1)
  if (!length(rows[[1]])) refuse(read$line[1], "no SNP follows the header")
  copies <- function(columns) {
    matrix(unlist(lapply(columns, function(i) copies_in(rows[[i]], read$line[-1], refuse))),
           ncol = length(columns))
  }
  list(
    populations = populations, outgroup = middle_letter(rows[[2]]), allele1 = toupper(rows[[3]]),
    allele2 = toupper(rows[[alleles[2]]]), copies1 = copies(of_first), copies2 = copies(of_second)
  )
}

# Whole numbers. `refuse(line, ...)` ends with an error.
copies_in <- function(words, lines, refuse) {
  wrong <- which(!grepl("^[0-9]{1,9}$", words))[1]
  if (!is.na(wrong)) {
    refuse(lines[wrong], "%s is not a number of copies", quoted(words[wrong]))
  }
  as.integer(words)
}

middle_letter <- function(texts) {
  middle <- (nchar(texts) + 1) %/% 2
  toupper(substr(texts, middle, middle))
}
