#' Read phenotypes, covariates and samples to keep
#'
#' Read tables of samples, plain text or gzip, with columns separated by blanks:
#' `read_phenotypes("traits.txt")`. Samples are known by their IID, in any order.
#'
#' **Columns.** A line has the family ID (FID), the individual ID (IID), and values. A header begins
#' with `FID IID` or with `IID`; after the latter, lines have no FID. Each may have a `#` in front.
#' Without a header the columns are `pheno1`, `pheno2` and so on, or `covar1`, `covar2`.
#'
#' **Values** are numbers. A covariate without any number becomes a factor. To make a factor of
#' numbers, use [factor()].
#'
#' @param path Path of a table. `read_keep()` uses its IDs alone; in a file of one column, these are
#'   IIDs.
#' @param na Texts that stand for a missing value. A number among them stands for all its spellings,
#'   as -9 for -9.0. In covariates -9 is a value by default, as it may be one.
#' @return A data frame with the IID of each sample in `id`, in the order of the file. After it,
#'   `read_phenotypes()` and `read_covariates()` have a column for each of the table, and
#'   `read_keep()` has `family`.
#' @section Errors:
#' * `ancify_file_error` (field `file`): a file is missing or cannot be read.
#' * `ancify_format_error` (fields `file`, `line`): an IID occurs twice; a line has another number
#'   of columns; a value is not a number; or there is no sample or no value.
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
read_phenotypes <- function(path, na = c("NA", "-9")) {
  check_given()
  sample_values(check_path(path, "path"), na, "pheno", factors = FALSE)
}

#' @rdname read_phenotypes
#' @export
read_covariates <- function(path, na = "NA") {
  check_given()
  sample_values(check_path(path, "path"), na, "covar", factors = TRUE)
}

#' @rdname read_phenotypes
#' @export
read_keep <- function(path) {
  check_given()
  list2DF(read_sample_table(check_path(path, "path"))[c("id", "family")])
}

read_sample_table <- function(path) {
  with_watch("Reading", function(watch) read_samples_impl(path, watch))
}

# `stem`: names of columns without a header. `factors`: whether text may become a factor
sample_values <- function(path, na, stem, factors) {
  if (!is.character(na)) {
    abort_ancify(sprintf("`na` must be texts, not %s.", show_value(na)), "input")
  }
  table <- read_sample_table(path)
  names <- table$names
  if (length(names) == 0) names <- sprintf("%s%d", stem, seq_along(table$columns))
  check_value_names(names, path)
  columns <- Map(function(text, name) {
    as_values(text, name, table, path, na, factors)
  }, table$columns, names)
  list2DF(c(table["id"], stats::setNames(columns, names)))
}

check_value_names <- function(names, path) {
  if (length(names) == 0) {
    abort_ancify(
      sprintf("%s: there is no column of values after the IID.", quoted(path)), "format",
      file = path, line = 1
    )
  }
  twice <- names[duplicated(c("id", names))[-1]]
  if (length(twice)) {
    abort_ancify(
      sprintf("%s, line 1: the column %s has a name that another has.", quoted(path),
              quoted(twice[1])),
      "format", file = path, line = 1
    )
  }
}

as_values <- function(text, name, table, path, na, factors) {
  numbers <- numbers_of(text, na)
  if (!is.null(numbers)) {
    return(numbers)
  }
  bad <- !text %in% na
  is_number <- is.finite(suppressWarnings(as.numeric(text)))
  if (factors && !any(is_number & bad)) {
    return(factor(replace(text, !bad, NA)))
  }
  at <- which(bad & !is_number)[1]
  abort_ancify(
    sprintf(
      "%s, line %.0f: %s in the column %s is not a number.%s", quoted(path), table$line[at],
      show_value(text[at]), quoted(name),
      if (at == 1 && length(table$names) == 0) {
        " A header must begin with FID IID, or with IID."
      } else {
        " Missing values are given by `na`."
      }
    ),
    "format", file = path, line = table$line[at]
  )
}
