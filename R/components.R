#' Components of variants
#'
#' A component is a set of variants whose variance [fit_reml()] estimates. These functions make its
#' argument `components`: `components_by_chromosome(g)`, or `components_by_file(g)` for a set of
#' files.
#'
#' @details
#' | `components` of [fit_reml()] | Meaning |
#' | --- | --- |
#' | `NULL` | all variants are one component, `genotypes` |
#' | a factor or strings | the component of each variant, in order or named by id; `NA` for none |
#' | a named list | each component's variants, as ids, indices or `TRUE`; names of values are ids |
#' | a data frame | `variant` (ids), `component` and optionally `weight` |
#' | a matrix | a weight for each variant (row) in each component (column) |
#' | `ancify_components` | a result of the functions of this page |
#'
#' The id of a record that [open_genotypes()] has split by ALT allele stands for all its variants.
#' Weights are 0 or more, and 1 by default. Variants in no component are left out of the fit, which
#' reports their number.
#'
#' **Frequencies.** `components_by_frequency()` uses allele frequencies in the samples of `g`, over
#' observed calls or dosages. They are minor allele frequencies, or derived allele frequencies if
#' `ancestral` is given. Breaks are as in [cut()]: a bin excludes its lower and includes its upper
#' end. The first bin includes both ends.
#'
#' **Ancestral alleles.** `ancestral` is one of these:
#'
#' | `ancestral` | Derived allele |
#' | --- | --- |
#' | a run, its folder, a FASTA, or a path with `{chrom}` | as in [annotate_vcf()] |
#' | a VCF or BCF | as in [sfs_from_vcf()]: `AA`, `AA_post` and `AA_prob` in INFO |
#' | a data frame, one row per variant | from posteriors `A`, `C`, `G`, `T` of [polarise_sites()] |
#'
#' With a posterior p, a variant is in two bins: with weight p in the bin of its derived allele's
#' frequency, and with weight 1 - p in the bin of the other allele's frequency. A bin's variance is
#' therefore an expectation over its variants. Variants without an ancestral allele are in no
#' component.
#'
#' **Values.** `components_by_value()` takes any value of each variant, such as an allele age. A
#' table of ages may have a column `ancestral`, the ancestral base that its age assumes. An argument
#' `ancestral` is compared with this column. Variants that disagree are left out and counted.
#'
#' **Files.** A line of a table has a variant, its component and optionally a weight, separated by
#' tabs or blanks, or by commas (`.csv`). A first line `variant component` is a header. Other files
#' are recognised by their endings:
#'
#' | File | Content |
#' | --- | --- |
#' | `.json` | a list of variants for each component: `{"coding": ["rs1", "rs2"]}` |
#' | `.json` of GPU_REML | `{"components": [{"name": "coding", "variant_indices": [0, 2]}]}` |
#' | `.npz`, `.npy` | an array for each component: integers are indices, others weights |
#' | `.rds` | a data frame, components, or a named list of ids or of indices; from R 4.4 on |
#'
#' Indices in JSON and NumPy's arrays count variants from 0, in RDS from 1. Other members of a
#' component in JSON, such as `annotation`, have no effect. An array `component_names` names the
#' other arrays in order; further arrays of texts have no effect. Weights in an array are for all
#' variants in order.
#'
#' @param g Genotypes, from [open_genotypes()].
#' @param breaks Increasing numbers, the ends of the bins.
#' @param ancestral Source of ancestral alleles, as below. `NULL` (the default): they are not used.
#' @param values A number for each variant, in the order of `g` or named by id. Or a data frame of
#'   `variant` and `value`.
#' @param file Path of a table, or of a file of another format, as below.
#' @return A list of class `ancify_components`. `as.data.frame()` gives its table of `variant`,
#'   `component` and `weight`.
#' @section Errors:
#' * `ancify_input_error`: a component has no variant, or a weight is below 0 or not finite. The
#'   message names the component or variant.
#' * `ancify_input_error`: `breaks` do not increase, `values` do not match the variants, or
#'   `ancestral` has no variant of `g`.
#' * `ancify_format_error`, `ancify_file_error`: a file is damaged, or cannot be read; or it is an
#'   RDS file and R is older than 4.4.
#' * `ancify_package_error`: `ancestral` is not a data frame, and ancify was built without htslib.
#' @seealso [fit_reml()], [polarise_sites()]
#' @name components
#' @examples
#' file <- tempfile(fileext = ".json")
#' writeLines('{"coding": ["rs1", "rs3"], "other": ["rs2", "rs4", "rs5"]}', file)
#' read_components(file)
#' as.data.frame(read_components(file))
NULL

#' @rdname components
#' @export
components_by_chromosome <- function(g) {
  check_args(g = check_genotypes)
  chromosomes <- as.character(g$variants$chromosome)
  as_components(factor(chromosomes, unique(chromosomes)), g)
}

#' @rdname components
#' @export
components_by_file <- function(g) {
  check_args(g = check_genotypes)
  files <- factor(part_of_variants(g), seq_along(g$path))
  levels(files) <- names_of_files(g$path)
  as_components(droplevels(files), g)
}

#' @export
print.ancify_components <- function(x, ...) {
  check_no_more(...)
  n <- tabulate(x$table$component, length(x$names))
  sums <- vapply(split(x$table$weight, factor(x$table$component, seq_along(x$names))), sum, 0)
  weighted <- abs(sums - n) > 1e-9 * n
  fields <- paste0(
    vapply(n, count_of, "", "variant"),
    ifelse(weighted, sprintf(", weights sum to %s", vapply(sums, format, "", digits = 6)), "")
  )
  variants <- if (is.null(x$variants)) unique(x$table$variant) else x$variants
  facts <- c(count_of(length(x$names), "component"), count_of(length(variants), "variant"))
  left_out <- x$left_out[x$left_out > 0]
  write_object("ancify_components", facts, c(
    stats::setNames(fields, x$names),
    `left out` = if (any(left_out > 0)) {
      paste(format_count(left_out), names(left_out), collapse = ", ")
    }
  ))
  invisible(x)
}

#' @export
as.data.frame.ancify_components <- function(x, ...) {
  data.frame(
    variant = if (is.null(x$variants)) x$table$variant else x$variants[x$table$variant],
    component = x$names[x$table$component],
    weight = x$table$weight
  )
}

# `variants`: ids; NULL if the components apply to the variants of any genotypes, in order. `table`:
# a data frame with a row for each variant in each component: the indices of both, and the weight.
# `alternatives`: true if a variant in several components belongs to only one of them, with the
# weights as probabilities.
new_components <- function(names, variants, table, alternatives = FALSE) {
  table <- table[table$weight > 0, ]
  table <- table[order(table$variant, table$component), ]
  rownames(table) <- NULL
  structure(
    list(names = names, variants = variants, table = table, alternatives = alternatives),
    class = "ancify_components"
  )
}

# Components of variants of `g`, which also distinguish variants that share an id.
components_of_genotypes <- function(names, g, table, alternatives = FALSE) {
  components <- new_components(names, as.character(g$variants$id), table, alternatives)
  components$places <- places_of_repeated(g)
  components
}

# ---- All forms of the argument `components` ------------------------------------------------------

as_components <- function(x, g) {
  if (inherits(x, "ancify_components")) {
    x
  } else if (is.null(x)) {
    as_components(factor(rep("genotypes", ncol(g))), g)
  } else if (is.data.frame(x)) {
    components_of_table(x)
  } else if (is.matrix(x)) {
    components_of_matrix(x, g)
  } else if (is.factor(x) || is.character(x)) {
    components_of_labels(stats::setNames(as.factor(x), names(x)), g)
  } else if (is.list(x)) {
    components_of_list(x, g)
  } else {
    refuse_input(
      "`components` must be a factor, a list, a data frame, a matrix or components, not %s.",
      show_value(x)
    )
  }
}

components_of_labels <- function(labels, g) {
  if (!is.null(names(labels)) && !identical(names(labels), as.character(g$variants$id))) {
    known <- labels[!is.na(labels)]
    return(components_of_table(data.frame(variant = names(known), component = unname(known))))
  }
  check_one_for_each_variant(length(labels), g, "`components` has %s values")
  known <- which(!is.na(labels))
  components_of_genotypes(levels(labels), g, data.frame(
    variant = known, component = as.integer(labels)[known], weight = rep(1, length(known))
  ))
}

components_of_table <- function(x) {
  lacking <- setdiff(c("variant", "component"), names(x))
  refuse_if(length(lacking), "`components` is a data frame without the column %s.",
            enumerate(quoted(lacking)))
  weight <- x[["weight"]] %||% rep(1, nrow(x))
  variant <- ids_as_text(x$variant)
  component <- as.character(x$component)
  without <- which(is.na(variant) | is.na(component))
  refuse_if(length(without), "Row %s of `components` lacks its variant or component.", without[1])
  check_weights(weight, variant)
  # Keep levels without a row: components without a variant are an error later.
  names <- if (is.factor(x$component)) levels(x$component) else unique(component)
  ids <- unique(variant)
  table <- data.frame(
    variant = match(variant, ids), component = match(component, names), weight = weight
  )
  twice <- anyDuplicated(table[c("variant", "component")])
  refuse_if(twice, "The variant %s is twice in the component %s.", quoted(variant[twice]),
            quoted(component[twice]))
  new_components(names, ids, table)
}

components_of_matrix <- function(x, g) {
  check_one_for_each_variant(nrow(x), g, "`components` has %s rows")
  if (!is.null(rownames(x)) && !identical(rownames(x), as.character(g$variants$id))) {
    other <- which(rownames(x) != g$variants$id)[1]
    refuse_input("Row %s of `components` is %s, but this variant is %s.", format_count(other),
                 quoted(rownames(x)[other]), quoted(g$variants$id[other]))
  }
  at <- which(x != 0 | is.na(x), arr.ind = TRUE)
  weight <- x[at]
  check_weights(weight, g$variants$id[at[, 1]])
  components_of_genotypes(
    colnames(x) %||% paste0("component", seq_len(ncol(x))), g,
    data.frame(variant = unname(at[, 1]), component = unname(at[, 2]), weight = weight)
  )
}

components_of_list <- function(x, g) {
  refuse_if(is.null(names(x)) || any(!nzchar(names(x))),
            "`components` is a list, so each of its parts needs a name.")
  rows <- Map(function(one, name) listed_variants(one, name, g), x, names(x))
  components_of_genotypes(names(x), g, data.frame(
    variant = as.integer(unlist(rows, use.names = FALSE)),
    component = rep(seq_along(rows), lengths(rows)),
    weight = rep(1, sum(lengths(rows)))
  ))
}

# Indices of the variants that a user lists by number, id, or TRUE and FALSE.
listed_variants <- function(x, component, g) {
  what <- sprintf("The component %s", quoted(component))
  if (!is.character(x) && any(names(x) %in% g$variants$id)) {
    # Named values, such as a result of which(), are identified by their names.
    x <- names(if (is.logical(x)) x[which(x)] else x)
  }
  if (is.logical(x)) {
    check_one_for_each_variant(length(x), g, paste(what, "has %s values"))
    return(which(x))
  }
  if (is.numeric(x)) {
    wrong <- which(!(x %in% seq_len(ncol(g))))
    refuse_if(length(wrong), "%s has the variant %s, but numbers go from 1 to %s.", what,
              show_value(x[wrong[1]]), format_count(ncol(g)))
    rows <- x
  } else {
    x <- as.character(x)
    found <- rows_of_ids(x, g)
    warn_of_unknown(unique(x[setdiff(seq_along(x), found$of)]))
    rows <- found$row
  }
  twice <- anyDuplicated(rows)
  refuse_if(twice, "%s has the variant %s twice.", what, quoted(g$variants$id[rows[twice]]))
  rows
}

# ---- On the genotypes of a fit -------------------------------------------------------------------

of_these_variants <- function(components, g) {
  identical(components$variants, as.character(g$variants$id)) &&
    identical(components$places, places_of_repeated(g))
}

# The components with the variants' indices in `g`, for a fit.
components_on <- function(components, g, overlap = FALSE) {
  components <- as_components(components, g)
  if (is.null(components$variants)) components <- components_by_place(components, g)
  if (!of_these_variants(components, g)) {
    used <- sort(unique(components$table$variant))
    found <- if (is.null(components$places)) {
      rows_of_ids(components$variants[used], g)
    } else {
      known_rows(match(components$places[used], places_of_variants(g$variants)))
    }
    warn_of_unknown(components$variants[used[setdiff(seq_along(used), found$of)]])
    table <- merge_rows(components$table, used[found$of], found$row)
    components <- components_of_genotypes(components$names, g, table, components$alternatives)
  }
  check_none_empty(components)
  if (!overlap && !components$alternatives) check_no_overlap(components)
  components
}

# Components that a file gives by indices, on the variants of `g`.
components_by_place <- function(components, g) {
  n <- components$n_variants
  if (!is.null(n)) check_one_for_each_variant(n, g, "`components` has %s weights")
  beyond <- which(components$table$variant > ncol(g))[1]
  refuse_if(!is.na(beyond), "The component %s has the variant %s, but the genotypes have %s.",
            quoted(components$names[components$table$component[beyond]]),
            number_text(components$table$variant[beyond]), count_of(ncol(g), "variant"))
  components_of_genotypes(components$names, g, components$table)
}

# Keys that distinguish variants if several share an id, such as PLINK's dot; NULL if none do.
places_of_repeated <- function(g) {
  if (anyDuplicated(g$variants$id)) places_of_variants(g$variants)
}

# The variants with these ids: list(of = the index of an id, row = the index of its variant),
# without unknown ids. An id of a record that was split by ALT allele stands for all of its
# variants.
rows_of_ids <- function(ids, g) {
  all <- as.character(g$variants$id)
  found <- known_rows(match(ids, all))
  several <- which(all %in% intersect(ids, all[duplicated(all)]))
  if (length(several) == 0) {
    return(found)
  }
  record <- do.call(paste, lapply(g$variants[c("chromosome", "position", "other")], `[`, several))
  records <- unique(data.frame(id = all[several], record))
  refuse_if(anyDuplicated(records$id),
            "The id %s names several variants of the genotypes: give numbers of variants.",
            quoted(records$id[anyDuplicated(records$id)]))
  further <- several[duplicated(all[several])]
  list(of = c(found$of, match(all[further], ids)), row = c(found$row, further))
}

known_rows <- function(rows) list(of = which(!is.na(rows)), row = rows[!is.na(rows)])

# The table with the variants `row` in place of the variants `of`, which may have several.
merge_rows <- function(table, of, row) {
  order <- order(of)
  of <- of[order]
  n <- tabulate(of, max(of, table$variant, 0))[table$variant]
  rows <- rep(seq_along(n), n)
  merged <- table[rows, ]
  merged$variant <- row[order][match(table$variant, of)[rows] + sequence(n) - 1]
  merged
}

warn_of_unknown <- function(ids) {
  if (length(ids)) {
    warn_ancify(
      sprintf("%s of `components` %s not in the genotypes: %s.", count_of(length(ids), "variant"),
              if (length(ids) == 1) "is" else "are", enumerate(quoted(ids))),
      "components"
    )
  }
}

check_none_empty <- function(components) {
  refuse_if(length(components$names) == 0,
            "`components` has no variant: give sets of variants, or `NULL` for one set of all.")
  empty <- setdiff(seq_along(components$names), components$table$component)
  refuse_if(length(empty), "The component %s has no variant of the genotypes: leave it out.",
            enumerate(quoted(components$names[empty])))
}

# The components with only the variants that stay; a component without any is left out. `stays`:
# true or false for each variant.
components_where <- function(components, stays) {
  table <- components$table[stays[components$table$variant], ]
  names <- sort(unique(table$component))
  table$component <- match(table$component, names)
  components$table <- table
  components$names <- components$names[names]
  components
}

check_no_overlap <- function(components) {
  twice <- anyDuplicated(components$table$variant)
  if (twice) {
    variant <- components$table$variant[twice]
    among <- components$table$component[components$table$variant == variant]
    refuse_input("The variant %s is in the components %s: `overlap = TRUE` allows it.",
                 quoted(components$variants[variant]), enumerate(quoted(components$names[among])))
  }
}

check_one_for_each_variant <- function(n, g, what) {
  refuse_if(n != ncol(g), paste0(what, ", but the genotypes have %s."), format_count(n),
            count_of(ncol(g), "variant"))
}

check_weights <- function(weight, variant) {
  number <- if (is.numeric(weight)) weight else rep(NA_real_, length(weight))
  wrong <- which(!(is.finite(number) & number >= 0))
  refuse_if(length(wrong), "The variant %s has the weight %s: give numbers from 0 on.",
            quoted(variant[wrong[1]]), show_value(weight[wrong[1]]))
}
