#' Read phenotypes, covariates and samples to keep
#'
#' `read_phenotypes("traits.txt")` reads a table of samples, as plain text or gzip, with columns
#' separated by blanks. IIDs identify samples, in any order.
#'
#' **Columns.** A line has the family ID (FID), the individual ID (IID), and values. A header begins
#' with `FID IID`, or with `IID` if lines have no FID. Either may begin with `#`. Without a header
#' the columns are `pheno1`, `pheno2` and so on, or `covar1`, `covar2`.
#'
#' **Values** are numbers. A covariate without any number becomes a factor. To convert numbers to a
#' factor, use [factor()].
#'
#' @param path Path of a table. `read_keep()` uses only its IDs; in a file with one column, these
#'   are IIDs.
#' @param na Further strings that represent a missing value, in upper or lower case. A number among
#'   them covers all its spellings, such as -9.0 for -9. By default -9 in phenotypes only, as -9 can
#'   be a covariate's value. `NA`, `NaN` and a dot are always missing.
#' @return A data frame with the IID of each sample in `id`, in the order of the file. Then
#'   `read_phenotypes()` and `read_covariates()` have a column for each column of the table, and
#'   `read_keep()` has `family`.
#' @section Errors:
#' * `ancify_file_error` (field `file`): a file is missing or cannot be read.
#' * `ancify_format_error` (fields `file`, `line`): an IID occurs twice; a line has another number
#'   of columns; a value is not a number; or the table has no sample or no value.
#' @seealso [open_genotypes()]
#' @export
#' @examples
#' path <- tempfile()
#' writeLines(c("FID IID CD8 sex", "f1 mouse1 0.25 male", "f1 mouse2 NA female"), path)
#' read_covariates(path)
#' read_keep(path)
#'
#' writeLines(c("f1 mouse1 0.25", "f1 mouse2 -9"), path)
#' read_phenotypes(path)
read_phenotypes <- function(path, na = "-9") {
  check_given()
  sample_values(check_path(path, "path"), na, "pheno", factors = FALSE)
}

#' @rdname read_phenotypes
#' @export
read_covariates <- function(path, na = character()) {
  check_given()
  sample_values(check_path(path, "path"), na, "covar", factors = TRUE)
}

#' @rdname read_phenotypes
#' @export
read_keep <- function(path) {
  check_args(path = one_path())
  table <- with_watch("Reading", function(watch) read_samples_impl(path, "", watch))
  list2DF(table[c("id", "family")])
}

# Phenotypes of which some columns may be faulty: list(table = without these columns, names = of all
# phenotypes, faults = why, by column).
faulty_phenotypes <- function(path, na) {
  columns <- value_columns(check_path(path, "path"), na, "pheno", keep_faults = TRUE)
  is_fault <- vapply(columns, is.character, NA) & names(columns) != "id"
  list(table = list2DF(columns[!is_fault]), names = names(columns)[-1], faults = columns[is_fault])
}

sample_values <- function(path, na, stem, factors) {
  list2DF(value_columns(path, na, stem, factors))
}

# `stem`: prefix of column names without a header. `factors`: whether text may become a factor.
# `keep_faults`: whether a column of text is a string, its fault, in place of an error.
value_columns <- function(path, na, stem, factors = FALSE, keep_faults = FALSE) {
  must_be(is.character(na), na, "na", "texts")
  table <- with_watch("Reading", function(watch) {
    read_values_impl(
      path, core_list(
        "ValueRules", missing = na, stem = stem, factors = factors, keep_faults = keep_faults
      ), watch
    )
  })
  columns <- lapply(table$columns, function(column) {
    if (is.list(column)) factor_of_codes(column) else column
  })
  c(table["id"], stats::setNames(columns, table$names))
}

# As factor() converts strings, with sorted levels.
factor_of_codes <- function(coded) {
  levels <- sort(coded$levels)
  structure(match(coded$levels, levels)[coded$codes], levels = levels, class = "factor")
}
