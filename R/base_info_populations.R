#' Populations whose allele counts are in INFO
#'
#' Catalogues of sites, such as gnomAD, have no samples. Their INFO counts the alleles of each
#' population instead. `info_populations(c("afr", "nfe"))` takes the place of a table of samples:
#' the counts are `AC_afr` and `AN_afr`, `AC_nfe` and `AN_nfe`.
#'
#' `AC` counts the copies of each ALT, and `AN` the called alleles of the record. The header must
#' declare the first with `Number=A` and the second with `Number=1`, both as `Integer`.
#'
#' A site is left out, with a warning, if a population lacks one of its two counts (`NO_COUNTS`), or
#' if `AC` exceeds `AN` (`BAD_COUNTS`). Counts of alleles that are left out, such as `*`, are
#' subtracted from `AN`.
#'
#' @param populations Words that name the populations in the file's fields, such as
#'   `c(AFR = "afr", EUR = "nfe")`. The vector's names, or else the words, name the populations in
#'   the result.
#' @param copies,called Names of the fields of INFO, in which `{pop}` stands for the population's
#'   word. The defaults are gnomAD's. One population needs no `{pop}`: `AC` and `AN` are the counts
#'   of the whole catalogue.
#' @return A data frame of class `ancify_info_populations` with the columns `population`, `copies`
#'   and `called`, for the argument `populations` of [sfs_from_vcf()], [mutation_spectrum()] and
#'   [coding_changes()]. [annotate_vcf()] and [count_variants()] take one population as `samples`.
#' @section Errors:
#' `ancify_input_error`: a name or a word is empty or repeated; or several populations have the same
#' field, as `copies` or `called` lacks `{pop}`.
#' @seealso [sfs_from_vcf()]
#' @export
#' @examples
#' info_populations(c(AFR = "afr", EUR = "nfe"))
#' info_populations("all", "AC", "AN")
#' info_populations(c("AFR", "EUR"), "{pop}_AC", "{pop}_AN")
info_populations <- function(populations, copies = "AC_{pop}", called = "AN_{pop}") {
  check_args(copies = text(), called = text())
  must_be(is.character(populations) && length(populations) > 0, populations, "populations",
          "words that name populations, such as \"afr\"")
  names <- names(populations) %||% rep("", length(populations))
  names <- ifelse(nzchar(names), names, populations)
  check_populations(names, length(names))
  fields <- data.frame(
    population = names, copies = fields_of_populations(populations, copies, "copies"),
    called = fields_of_populations(populations, called, "called")
  )
  structure(fields, class = c("ancify_info_populations", "data.frame"))
}

is_info_populations <- function(x) inherits(x, "ancify_info_populations")

# The name of each population's field.
fields_of_populations <- function(populations, pattern, name) {
  fields <- vapply(populations, function(word) gsub("{pop}", word, pattern, fixed = TRUE), "",
                   USE.NAMES = FALSE)
  twice <- fields[duplicated(fields)]
  refuse_if(length(twice),
            "`%s` is %s, so several populations have the field %s: put {pop} where they differ.",
            name, quoted(pattern), quoted(twice[1]))
  wrong <- fields[is.na(populations) | !nzchar(populations) | grepl("[;=,[:space:]]", fields)]
  refuse_if(length(wrong), "`%s` gives the field %s, which is no name of a field of INFO.", name,
            quoted(wrong[1]))
  fields
}
