#' Polarise polymorphic sites
#'
#' Computes the posterior of the ancestral base at sites that are polymorphic in the focal species.
#' It uses the outgroups' bases, the two alleles and, if they are known, their counts.
#'
#' A polymorphism is itself evidence. Deep ancestry in the focal species often comes with incomplete
#' lineage sorting, and the rarer allele is more often the derived one.
#'
#' The posterior sums over all gene trees of the sample and the outgroups, given the history
#' (multispecies coalescent, Rannala and Yang 2003). Each population follows Kingman's coalescent
#' (1982), and bases mutate by a reversible model. Nothing is simulated: a Markov process describes
#' the number of lineages and their bases (as in Bryant and others 2012).
#'
#' The node called is the sample's most recent common ancestor. Since then one mutation has produced
#' the derived allele. Recurrent mutations are neglected, so other bases have probability 0. Large
#' samples need no projection to smaller ones.
#'
#' Without `counts` a site is only known to vary among `n` haplotypes. The probabilities are then
#' summed over all counts from 1 to `n` - 1. [call_ancestral()] without `variants` gives another
#' posterior, as it does not assume that a site varies.
#'
#' If the two alleles are equally probable, the call is `n`. Without outgroup bases this happens at
#' 10 copies of 20, or without counts. At other counts the more frequent allele is the more probable
#' one.
#'
#' Millions of sites in thousands of haplotypes take seconds with up to three outgroups. Each
#' further outgroup multiplies the time by about twenty.
#'
#' @param patterns The outgroups' bases at each site, in the order of the history's splits: texts
#'   such as `"ACN"`, or a character matrix with a column for each outgroup. If both the columns and
#'   the splits have names, they are matched by name. Case has no influence; letters other than A,
#'   C, G and T are missing data.
#' @param alleles The two alleles of each site in the focal species: texts such as `"A/G"`, or a
#'   character matrix with two columns.
#' @param counts Copies of the second allele in the sample: a whole number from 0 to `n` for each
#'   site. `NA`: both alleles are in the sample, but their counts are not known. `NULL` (the
#'   default): `NA` at all sites.
#' @param n Number of haplotypes in the sample: a whole number up to a million, or one for each
#'   site. Counts need it. `NULL` (the default): the history's `focal_lineages`.
#' @param history A [coalescent_history()].
#' @param neighbours For a history whose model is by CpG: the class of each site, as [cpg_class()]
#'   gives it. `NULL` (the default) for a model of all sites.
#' @return A data frame with a row for each site. A row is `NA` if the site is impossible under the
#'   history. If all copies are of one allele, it is the ancestral one.
#'
#'   | Column | Meaning |
#'   | --- | --- |
#'   | `A`, `C`, `G`, `T` | the posterior |
#'   | `ancestral` | the most probable base: upper case from 0.8, lower from 0.5; `n` in a tie |
#' @references
#' Bryant, Bouckaert, Felsenstein, Rosenberg and RoyChoudhury (2012) Inferring
#' species trees directly from biallelic genetic markers. Molecular Biology and
#' Evolution 29:1917.
#'
#' Kingman (1982) The coalescent. Stochastic Processes and their Applications
#' 13:235.
#'
#' Rannala and Yang (2003) Bayes estimation of species divergence times and
#' ancestral population sizes. Genetics 164:1645.
#' @section Errors:
#' The message names the first site that is wrong.
#' * `ancify_input_error`: a pattern's length differs from the history's number of splits.
#' * `ancify_input_error`: alleles are not two different bases, counts are not whole numbers from 0
#'   to `n`, or arguments differ in length.
#' * `ancify_input_error`: `neighbours` is missing, is not a class, or does not suit the model.
#' * `ancify_input_error`: `n` is missing with counts, or below 2 without.
#' * `ancify_input_error`: the history has more than six outgroups, or more than 40 of the sample's
#'   lineages reach its first split.
#' @seealso [coalescent_history()], [call_ancestral()], [sfs_from_sites()], and [annotate_vcf()] for
#'   the same in a VCF
#' @export
#' @examples
#' history <- coalescent_history(
#'   splits = c(chimp = 240000, gorilla = 320000, macaque = 1100000),
#'   sizes = 50000, focal_size = 10000
#' )
#' polarise_sites(
#'   patterns = c("AAA", "AGG", "GNA"), alleles = c("A/G", "A/G", "C/G"),
#'   counts = c(3, 3, 4990), n = 5008, history = history
#' )
polarise_sites <- function(patterns, alleles, counts = NULL, n = NULL, history,
                           neighbours = NULL) {
  check_args(history = check_history)
  patterns <- in_order_of_splits(patterns, history)
  states <- pattern_states(patterns, length(history$splits))
  alleles <- allele_codes(alleles)
  sample <- check_counts(counts, n, nrow(alleles), history)
  check_same_sites(
    patterns = ncol(states), alleles = nrow(alleles), counts = length(sample$counts)
  )
  classes <- class_numbers(neighbours, history$model, ncol(states))
  posterior <- site_posteriors(states, alleles, sample, history, classes)
  result <- as.data.frame(posterior)
  result$ancestral <- called_bases(posterior)
  result
}

# A matrix with a row for each site, NA where it is impossible. `states`, `alleles`, `sample` and
# `classes` are results of pattern_states(), allele_codes(), check_counts() and class_numbers().
site_posteriors <- function(states, alleles, sample, history, classes) {
  weights <- 5L^(seq_along(history$splits) - 1L)
  posterior <- with_watch("Polarising", function(watch) {
    sites <- core_list(
      "PolymorphicSites",
      pattern = as.integer(colSums(states * weights)), first = alleles[, 1],
      second = alleles[, 2], copies = sample$counts, haplotypes = sample$n,
      neighbours = classes
    )
    polarise_impl(core_history(history), core_mutation_model(history), sites, watch)
  })
  posterior[rowSums(posterior) == 0, ] <- NA
  colnames(posterior) <- c("A", "C", "G", "T")
  posterior
}

# Columns in the order of the splits, if both have names.
in_order_of_splits <- function(patterns, history) {
  columns <- colnames(patterns)
  splits <- names(history$splits)
  if (!is.matrix(patterns) || is.null(columns) || is.null(splits)) {
    return(patterns)
  }
  refuse_if(!setequal(columns, splits) || anyDuplicated(columns),
            "The columns of `patterns` are %s: name them as the history's splits, %s.",
            enumerate(quoted(columns)), enumerate(quoted(splits)))
  patterns[, splits, drop = FALSE]
}

# Base codes, a row for each species and a column for each pattern.
pattern_states <- function(patterns, species, name = "patterns") {
  if (is.matrix(patterns) && is.character(patterns)) {
    patterns <- do.call(paste0, lapply(seq_len(ncol(patterns)), function(i) {
      ifelse(patterns[, i] %in% c("A", "C", "G", "T", "a", "c", "g", "t"), patterns[, i], "N")
    }))
  }
  must_be(is.character(patterns) && !anyNA(patterns) && all(validEnc(patterns)), patterns, name,
          "texts such as \"ACN\" or a character matrix")
  wrong <- which(nchar(patterns) != species)
  refuse_if(length(wrong), "`%s[%d]` is \"%s\": give a base or N for each of the %d species.", name,
            wrong[1], patterns[wrong[1]], species)
  codes <- base_codes(unlist(strsplit(patterns, "", fixed = TRUE)))
  matrix(codes, nrow = species)
}

# Base codes: 0 to 3 for A, C, G and T, 4 for everything else.
base_codes <- function(bases) {
  match(toupper(bases), c("A", "C", "G", "T"), nomatch = 5L) - 1L
}

# A matrix of two columns of base codes.
allele_codes <- function(alleles) {
  if (is.character(alleles) && !is.matrix(alleles)) {
    pairs <- strsplit(alleles, "/", fixed = TRUE)
    pairs[nchar(alleles, type = "bytes") != 3 | lengths(pairs) != 2] <- list(c("", ""))
    texts <- alleles
    alleles <- matrix(as.character(unlist(pairs)), ncol = 2, byrow = TRUE)
  } else if (is.character(alleles) && ncol(alleles) == 2) {
    texts <- paste(alleles[, 1], alleles[, 2], sep = "/")
  } else {
    refuse_input(
      "`alleles` must be texts such as \"A/G\" or a character matrix of two columns, not %s.",
      show_value(alleles)
    )
  }
  codes <- matrix(base_codes(alleles), ncol = 2)
  wrong <- which(codes[, 1] == 4 | codes[, 2] == 4 | codes[, 1] == codes[, 2])
  refuse_if(length(wrong), "The alleles of site %d are \"%s\": give two of A, C, G and T.",
            wrong[1], texts[wrong[1]])
  codes
}

# list(counts =, n =), whole numbers for each of `sites`; unknown counts are NA.
check_counts <- function(counts, n, sites, history) {
  # A vector of NA alone is logical.
  as_numbers <- function(x) if (is.logical(x) && all(is.na(x))) as.numeric(x) else x
  counts <- as_numbers(counts %||% rep(NA, sites))
  n <- as_numbers(n %||% NA)
  refuse_if(!is.numeric(counts) || !is.numeric(n) || !length(n) %in% c(1, length(counts)),
            "`counts` must be a number or NA for each site, and `n` one number or as many.")
  n <- rep_len(n, length(counts))
  known <- !is.na(counts)
  n[!known & is.na(n)] <- max(2, history$focal_lineages)
  wrong <- which(!are_sampled(ifelse(known, counts, 1), n) | (!known & n < 2))
  if (length(wrong)) {
    site <- wrong[1]
    refuse_input(
      if (known[site]) {
        "Site %d has a count of %s among %s haplotypes: give whole numbers from 0 to `n`."
      } else {
        "Site %d has a count of %s, so it varies, among %s haplotypes: give `n` of 2 or more."
      },
      site, format(counts[site]), format(n[site])
    )
  }
  refuse_large_samples(n)
  list(counts = as.integer(counts), n = as.integer(n))
}

refuse_large_samples <- function(n) {
  most_haplotypes <- core_limits()$haplotypes
  large <- which(n > most_haplotypes)
  refuse_if(length(large), "Site %d has %s haplotypes: `n` must be at most %s.", large[1],
            format_count(n[large[1]]), format_count(most_haplotypes))
}

are_sampled <- function(counts, n) {
  whole <- function(x) is.finite(x) & x == floor(x)
  whole(counts) & whole(n) & counts >= 0 & counts <= n & n >= 1
}

check_same_sites <- function(...) {
  sites <- c(...)
  refuse_if(any(sites != sites[[1]]), "The arguments differ in the number of sites: %s.",
            paste(sprintf("`%s` has %d", names(sites), as.integer(sites)), collapse = ", "))
}

# The core's class indices of the sites; empty for a model of all sites.
class_numbers <- function(neighbours, model, sites) {
  if (is.null(model$classes)) {
    refuse_if(!is.null(neighbours),
              "The history's model has no rates by class, so leave out `neighbours`.")
    return(integer())
  }
  refuse_if(is.null(neighbours),
            "The history's model has rates by class: give each site's class in `neighbours`.")
  check_same_sites(patterns = sites, neighbours = length(neighbours))
  numbers <- match(neighbours, neighbour_classes) - 1L
  wrong <- which(is.na(numbers))
  refuse_if(length(wrong), "`neighbours[%d]` is %s: give one of %s.", wrong[1],
            show_value(neighbours[wrong[1]]), enumerate(quoted(neighbour_classes)))
  numbers
}

# A tie between two alleles is called "n", not the first letter.
called_bases <- function(posterior, high = 0.8, low = 0.5) {
  bases <- rep(NA_character_, nrow(posterior))
  known <- which(!is.na(posterior[, 1]))
  posterior <- posterior[known, , drop = FALSE]
  rounding <- 1e-12
  best <- max.col(posterior, ties.method = "first")
  most <- posterior[cbind(seq_along(best), best)] + rounding
  tied <- rowSums(posterior + 2 * rounding >= most) > 1
  base <- c("A", "C", "G", "T")[best]
  bases[known] <- ifelse(
    tied | most < low, "n", ifelse(most >= high, base, tolower(base))
  )
  bases
}
