# Genotypes of a matrix, whose rows are samples. Calls and dosages are kept in memory.

open_matrix <- function(source, how) {
  is_snp_matrix <- methods::is(source, "SnpMatrix")
  if (is.logical(source) && all(is.na(source))) storage.mode(source) <- "integer"
  refuse_if(!is_snp_matrix && !is.numeric(source),
            "`source` must be a matrix of numbers or a SnpMatrix, not of %s.",
            if (is.factor(source)) "factors" else typeof(source))
  check_matrix_rows(rownames(source))
  refuse_if(ncol(source) == 0, "`source` has no variant.")
  table <- variants_of_matrix(source, how$variants)
  if (is_snp_matrix) source <- source@.Data
  dosages <- wants_dosages(how) && is.numeric(source)
  calls <- if (dosages) packed_dosages(source) else pack_calls_impl(source)
  if (is.numeric(calls)) refuse_call(source, calls)
  list(
    path = name_of_matrix(if (dosages) bytes_of_dosages(calls) else calls, rownames(source), table),
    files = character(), dosages = dosages,
    samples = list2DF(list(family = rep("0", nrow(source)), id = rownames(source))),
    variants = table, calls = calls
  )
}

packed_dosages <- function(matrix) {
  storage.mode(matrix) <- "double"
  packed <- pack_dosages_impl(matrix)
  if (is.numeric(packed)) refuse_dosage(matrix, packed)
  if (packed$rounded > 0) {
    inform_ancify(sprintf("%s of the matrix are rounded to 1/16384.",
                          count_of(packed$rounded, "dosage")))
  }
  packed$genotypes
}

bytes_of_dosages <- function(packed) {
  c(packed$dosages, charToRaw(paste(packed$units, collapse = " ")))
}

refuse_dosage <- function(dosages, place) {
  row <- (place - 1) %% nrow(dosages) + 1
  refuse_input("Dosages must be from 0 to 2 or missing, but that of sample %s at variant %s is %s.",
               quoted(rownames(dosages)[row]), format_count((place - 1) %/% nrow(dosages) + 1),
               format(dosages[[place]], digits = 15))
}

# Includes sample and variant data: equal calls may belong to different samples or variants.
name_of_matrix <- function(calls, ids, variants) {
  about <- paste(c(enc2utf8(ids), unlist(variants, use.names = FALSE)), collapse = "\n")
  sprintf("matrix %s", bytes_checksum_impl(c(calls, charToRaw(about))))
}

check_matrix_rows <- function(ids) {
  refuse_if(length(ids) == 0 || !all(nzchar(ids), !is.na(ids)),
            "The rows of `source` must be samples, and named by their IDs.")
  twice <- anyDuplicated(ids)
  refuse_if(twice, "Two rows of `source` are named %s.", quoted(ids[twice]))
}

refuse_call <- function(calls, place) {
  row <- (place - 1) %% nrow(calls) + 1
  value <- if (is.raw(calls)) {
    sprintf("the code %s, an uncertain genotype", as.integer(calls[[place]]))
  } else {
    format(calls[[place]], digits = 15)
  }
  may_be_dosage <- is.double(calls) && isTRUE(calls[[place]] > 0 && calls[[place]] < 2)
  refuse_input("Genotypes must be 0, 1, 2 or missing, but that of sample %s at variant %s is %s.%s",
               quoted(rownames(calls)[row]), format_count((place - 1) %/% nrow(calls) + 1), value,
               if (is.raw(calls)) {
                 " Set it to missing."
               } else if (may_be_dosage) {
                 " Set `dosages = TRUE` for dosages."
               } else {
                 ""
               })
}

# Accepted names of the columns of `variants`. Data from snpStats's read.plink() count allele.2.
names_of_columns <- list(
  chromosome = "chromosome", id = c("id", "snp.name"), position = "position",
  counted = c("counted", "allele.2"), other = c("other", "allele.1")
)

# Unknown values are 0, as in PLINK.
variants_of_matrix <- function(calls, given) {
  n <- ncol(calls)
  table <- list(
    chromosome = rep("0", n), id = colnames(calls) %||% paste0("v", seq_len(n)),
    position = integer(n), counted = rep("0", n), other = rep("0", n)
  )
  if (!is.null(given)) given <- in_column_order(check_variant_table(given, n), colnames(calls))
  for (column in names(table)) {
    name <- intersect(names_of_columns[[column]], names(given))
    if (length(name)) table[[column]] <- values_of_column(given[[name[1]]], column, name[1])
  }
  list2DF(table)
}

check_variant_table <- function(given, n) {
  given <- plain_table(given)
  refuse_if(!is.data.frame(given) || nrow(given) != n,
            "`variants` must be a data frame with a row for each of the %s, not %s.",
            count_of(n, "column"),
            if (is.data.frame(given)) count_of(nrow(given), "row") else show_value(given))
  unknown <- setdiff(names(given), c(unlist(names_of_columns), "cM"))
  refuse_if(length(unknown), "`variants` has the column %s; it takes %s.", quoted(unknown[1]),
            enumerate(names(names_of_columns)))
  given
}

# The rows of `variants` in the order of the columns, matched by ids or row names. Columns may have
# other names, such as those of PLINK's .raw, and then rows stay in order.
in_column_order <- function(given, columns) {
  id <- intersect(names_of_columns$id, names(given))
  for (ids in list(if (length(id)) ids_as_text(given[[id[1]]]), row_names_given(given))) {
    if (!any(columns %in% ids)) next
    at <- row_of_another(ids, columns)
    if (is.na(at)) break
    rows <- match(columns, ids)
    if (!anyNA(rows) && !anyDuplicated(columns)) {
      return(given[rows, , drop = FALSE])
    }
    refuse_input(
      "Row %s of `variants` is %s, but this column of `source` is %s: order rows as columns.",
      format_count(at), quoted(ids[at]), quoted(columns[at])
    )
  }
  given
}

values_of_column <- function(values, column, name) {
  if (column != "position") {
    return(enc2utf8(ifelse(is.na(values), "0", ids_as_text(values))))
  }
  whole <- is.numeric(values) && !anyNA(values) && all(values == round(values)) &&
    all(abs(values) <= .Machine$integer.max)
  refuse_if(!whole, "The column %s of `variants` must be whole numbers.", quoted(name))
  as.integer(values)
}

# Whole numbers without an exponent.
ids_as_text <- function(ids) {
  text <- as.character(ids)
  whole <- if (is.double(ids)) which(ids == floor(ids) & abs(ids) < 1e15)
  replace(text, whole, sprintf("%.0f", ids[whole]))
}
