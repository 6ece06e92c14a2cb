# Components by frequency, or by any value of the variants.

#' @rdname components
#' @export
components_by_frequency <- function(g, breaks, ancestral = NULL) {
  check_args(g = check_genotypes, breaks = check_breaks)
  frequency <- allele_frequencies(g)
  if (is.null(ancestral)) {
    return(components_of_bins(bins_of(pmin(frequency$counted, frequency$other), breaks), g))
  }
  derived <- 1 - counted_is_ancestral(ancestral, g)
  components_of_pairs(
    bins_of(frequency$counted, breaks), bins_of(frequency$other, breaks), derived, g
  )
}

# Frequencies of both alleles, each from its own copies: 1 - 0.99 exceeds 0.01 in floating point.
allele_frequencies <- function(g) {
  work <- new_work(progress = interactive())
  if (gives_dosages(g)) {
    sums <- dosage_sums(g, work)
    n <- sums$n
    copies <- list(counted = sums$sum, other = 2 * n - sums$sum)
  } else {
    counts <- genotype_counts(g, work)
    n <- colSums(counts[1:3, , drop = FALSE])
    copies <- list(counted = 2 * counts[3, ] + counts[2, ], other = 2 * counts[1, ] + counts[2, ])
  }
  lapply(copies, function(copies) ifelse(n == 0, NA, copies / (2 * n)))
}

#' @rdname components
#' @export
components_by_value <- function(g, values, breaks, ancestral = NULL) {
  check_args(g = check_genotypes, breaks = check_breaks)
  found <- value_of_variants(values, g)
  left_out <- integer()
  if (!is.null(ancestral)) {
    refuse_if(is.null(found$ancestral),
              "`values` has no column `ancestral` to compare with: leave out `ancestral`.")
    disagree <- which(!is.na(found$value) & is_other_ancestor(found$ancestral, ancestral, g))
    found$value[disagree] <- NA
    left_out <- c("with another ancestral allele" = length(disagree))
  }
  components_of_bins(bins_of(found$value, breaks), g, left_out)
}

# True for given ancestral alleles that differ from the likelier ones. Unknown alleles and ties give
# false.
is_other_ancestor <- function(given, ancestral, g) {
  counted_is <- counted_is_ancestral(ancestral, g)
  given <- toupper(given)
  likely <- toupper(ifelse(counted_is > 0.5, g$variants$counted, g$variants$other))
  is_known <- !given %in% c(NA, "", ".", "-", "N") & !counted_is %in% c(NA, 0.5)
  is_known & given != likely
}

# The bin of each value, NA outside all bins.
bins_of <- function(values, breaks) {
  cut(values, breaks, include.lowest = TRUE, dig.lab = 6)
}

components_of_bins <- function(bins, g, left_out = integer()) {
  components <- as_components(bins, g)
  components$left_out <- c(
    left_out, "outside all bins or unknown" = sum(is.na(bins)) - sum(left_out)
  )
  check_none_empty(components)
  components
}

# `first`, `second`: the bins of each variant if the counted allele is derived, and if it is
# ancestral. `derived`: the probability that it is derived, or NA.
components_of_pairs <- function(first, second, derived, g) {
  same <- !is.na(first) & !is.na(second) & first == second
  known <- which(!is.na(derived))
  both <- known[!same[known]]
  table <- data.frame(
    variant = c(known, both), component = c(as.integer(first)[known], as.integer(second)[both]),
    weight = c(ifelse(same, 1, derived)[known], 1 - derived[both])
  )
  table <- table[!is.na(table$component), ]
  components <- components_of_genotypes(levels(first), g, table, TRUE)
  covered <- unique(components$table$variant)
  components$left_out <- c(
    "without an ancestral allele" = sum(is.na(derived)),
    "outside all bins or unknown" = length(setdiff(known, covered))
  )
  check_none_empty(components)
  components
}

check_breaks <- function(breaks, name) {
  good <- is.numeric(breaks) && length(breaks) > 1 && !anyNA(breaks) && all(diff(breaks) > 0)
  must_be(good, breaks, name, "at least two rising numbers")
}

# list(value = a number for each variant of g or NA, ancestral = bases or NULL).
value_of_variants <- function(values, g) {
  if (is.data.frame(values)) {
    lacking <- setdiff(c("variant", "value"), names(values))
    refuse_if(length(lacking), "`values` is a data frame without the column %s.",
              enumerate(quoted(lacking)))
    rows <- rows_by_id(values$variant, g)
    return(list(
      value = check_values(values$value)[rows],
      ancestral = if ("ancestral" %in% names(values)) as.character(values$ancestral)[rows]
    ))
  }
  values <- check_values(values)
  if (!is.null(names(values))) {
    return(list(value = unname(values)[rows_by_id(names(values), g)]))
  }
  check_one_for_each_variant(length(values), g, "`values` has %s values")
  list(value = values)
}

# For each variant of g its row in a table of these ids; NA if it is absent.
rows_by_id <- function(ids, g) {
  ids <- ids_as_text(ids)
  twice <- anyDuplicated(ids)
  refuse_if(twice, "`values` has the variant %s twice.", quoted(ids[twice]))
  of_each <- rep(NA_integer_, ncol(g))
  found <- rows_of_ids(ids, g)
  of_each[found$row] <- found$of
  refuse_if(length(found$row) == 0,
            "`values` has no variant of the genotypes: use their ids, such as %2$s, not %1$s.",
            quoted(ids[1]), quoted(g$variants$id[1]))
  of_each
}

check_values <- function(values) must_be(is.numeric(values), values, "values", "numbers")
