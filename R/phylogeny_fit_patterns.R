# Tables of site patterns: their checks, and the counts that a fit to a tree needs.

# `by`: if not NULL, the last letter of a pattern is the class of its sites.
new_patterns <- function(counts, species, focal, by) {
  patterns <- data.frame(
    chromosome = rep(names(counts), vapply(counts, function(one) length(one$pattern), 0L)),
    pattern = as.character(unlist(lapply(counts, `[[`, "pattern")))
  )
  if (!is.null(by)) {
    width <- length(species)
    letter <- substr(patterns$pattern, width + 1, width + 1)
    patterns$pattern <- substr(patterns$pattern, 1, width)
    patterns$neighbours <- neighbour_classes[1 + base_codes(letter)]
  }
  patterns$count <- as.numeric(unlist(lapply(counts, `[[`, "count")))
  structure(
    patterns, class = c("ancify_patterns", "data.frame"), species = species, focal = focal
  )
}

#' @export
print.ancify_patterns <- function(x, ...) {
  species <- attr(x, "species")
  if (is.null(species) || !all(c("chromosome", "pattern", "count") %in% names(x))) {
    return(NextMethod())
  }
  patterns <- count_of(length(unique(x$pattern)), "pattern")
  write_object("ancify_patterns", c(
    paste(format_count(sum(x$count)), "sites"),
    paste(patterns, "of", enumerate(ifelse(species == "", "?", species)))
  ))
  most <- utils::head(order(-x$count), 10)
  print.data.frame(x[most, ], row.names = FALSE)
  if (nrow(x) > length(most)) cat("... and", format_count(nrow(x) - length(most)), "more rows\n")
  invisible(x)
}

# Counts summed over all chromosomes.
total_counts <- function(counts) {
  totals <- rowsum(counts$count, counts$pattern)
  data.frame(pattern = rownames(totals), count = totals[, 1], row.names = NULL)
}

check_pattern_counts <- function(patterns) {
  fail <- function(...) abort_ancify(sprintf(...), "input")
  if (!is.data.frame(patterns) || !is.character(patterns$pattern) || !is.numeric(patterns$count)) {
    fail("`patterns` must be a data frame of `pattern`, such as \"ACNA\", and `count`.")
  }
  counts <- patterns$count
  wrong <- which(is.na(patterns$pattern) | !is.finite(counts) | counts < 0)
  if (length(wrong)) {
    fail(
      "Row %d of `patterns` has the pattern %s and the count %s: give a text and a number.",
      wrong[1], show_value(patterns$pattern[wrong[1]]), format(counts[wrong[1]])
    )
  }
  if (sum(counts) == 0) fail("`patterns` has no sites: it has no rows, or all counts are 0.")
  if (sum(counts) > 2^53) fail("`patterns` has %s sites: give at most 2^53.", format(sum(counts)))
}

# list(patterns =, counts =, species =, focal =) of the tree's species, the focal one last.
counts_for_tree <- function(patterns, tree, species, focal) {
  species <- species %||% attr(patterns, "species")
  given_focal <- focal
  focal <- given_focal %||% attr(patterns, "focal")
  refuse_if(is.null(species),
            "`species` is missing: give the species' names in the order of each pattern's bases.")
  check_pattern_widths(patterns$pattern, species)
  if (!is.null(given_focal)) check_focal(given_focal)
  extra <- setdiff(tree$tip.label, species)
  refuse_if(
    length(extra),
    paste("`tree` has %s, but the patterns have no such bases. Count the bases of a focal species",
          "too: without them, the place where its lineage joins is unknown."),
    enumerate(quoted(extra))
  )
  # The counts may have focal bases that the tree does not need.
  if (is.null(given_focal) && !is.null(focal) && !focal %in% tree$tip.label) focal <- NULL
  unused <- setdiff(attr(patterns, "focal"), focal)
  others <- setdiff(species, c(focal, unused))
  stop_on_tree_problems(tree, others, focal)
  refuse_if(length(tree$tip.label) < 2, "`tree` must have at least two species.")
  columns <- match(c(others, focal), species)
  letters <- lapply(columns, function(i) substr(patterns$pattern, i, i))
  totals <- total_counts(data.frame(
    pattern = toupper(do.call(paste0, letters)), count = patterns$count
  ))
  check_all_known(totals, c(others, focal))
  list(patterns = totals$pattern, counts = totals$count, species = others, focal = focal)
}

# A species without any base cannot be placed in the tree.
check_all_known <- function(totals, species) {
  known <- vapply(seq_along(species), function(i) {
    any(substr(totals$pattern[totals$count > 0], i, i) %in% rate_labels$base)
  }, NA)
  refuse_if(
    !all(known),
    "No site has a base of %s, so the place in the tree is unknown: leave out this species.",
    enumerate(quoted(species[!known]))
  )
}

check_pattern_widths <- function(patterns, species) {
  wrong <- which(nchar(patterns) != length(species))
  refuse_if(length(wrong),
            "The pattern %s has %d bases, but there are %d species: give a base or N for each.",
            show_value(patterns[wrong[1]]), nchar(patterns[wrong[1]]), length(species))
}
