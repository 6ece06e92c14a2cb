#' Find the ancestral alleles of polymorphic sites
#'
#' The posterior of the ancestral base at sites that are polymorphic in the focal
#' species, from the outgroups' bases, the two alleles and their counts. That a
#' site is polymorphic changes the odds: deep ancestry in the focal species goes
#' more often with gene trees that differ from the species tree, and of two alleles
#' the rarer is more often the younger.
#'
#' The posterior is summed over all gene trees of the focal sample and the
#' outgroups under the multispecies coalescent (Rannala and Yang 2003) with the
#' given history: Kingman's coalescent (1982) in each population, mutation by
#' a reversible model along all lineages, as a Markov process over the lineages'
#' number and bases (in the way of Bryant and others 2012), so that nothing is
#' simulated. The node called is the sample's most recent common ancestor. Since
#' then one mutation has made one allele from the other; that there were more at
#' the same site is neglected, so bases other than the two alleles have no
#' probability. Counts are used as they are: large samples need no projection to
#' smaller ones.
#'
#' Thousands of haplotypes and millions of sites take seconds with up to three
#' outgroups, and every further one about twenty times as long.
#'
#' @param patterns The outgroups' bases at each site, in the order of the
#'   history's splits: texts such as `"ACN"`, or a character matrix with a column
#'   for each outgroup, which names of columns and splits may tell. Case does not
#'   matter; all but A, C, G and T is missing.
#' @param alleles The two alleles of each site in the focal species: texts such
#'   as `"A/G"`, or a character matrix with two columns.
#' @param counts Copies of the second allele in the sample, a whole number from 0 to `n` for each
#'   site.
#' @param n Haplotypes in the sample, one number or one for each site; at most a
#'   million, and whole.
#' @param history A [coalescent_history()]. Its `focal_lineages` have no influence
#'   here, as `n` says which sample it is.
#' @return A data frame with a row for each site: `A`, `C`, `G`, `T`, the
#'   posterior, and `ancestral`, the most probable base, in upper case from 0.8 on,
#'   in lower case from 0.5 on, and else `n`. All are `NA` at a site that the
#'   history says cannot be. Where all copies are of one allele it is the
#'   ancestor's.
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
#' `ancify_input_error` that names the first site that is wrong: patterns of
#' another length than the history, alleles that are no two different bases, counts
#' that are not whole numbers from 0 to `n`, arguments of different lengths. The
#' same for a history in which more than 40 of the sample's lineages come back to
#' the first split, or with more than six outgroups.
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
polarise_sites <- function(patterns, alleles, counts, n, history) {
  check_given()
  history <- check_history(history)
  patterns <- in_order_of_splits(patterns, history)
  states <- pattern_states(patterns, length(history$splits))
  alleles <- allele_codes(alleles)
  counts <- check_counts(counts, n)
  n <- rep_len(n, length(counts))
  check_same_sites(patterns = ncol(states), alleles = nrow(alleles), counts = length(counts))

  weights <- 5L^(seq_along(history$splits) - 1L)
  posterior <- with_watch("Polarising", function(watch) {
    sites <- list(
      pattern = as.integer(colSums(states * weights)), first = alleles[, 1],
      second = alleles[, 2], copies = counts, haplotypes = as.integer(n)
    )
    polarise_impl(core_history(history), core_mutation_model(history), sites, watch)
  })
  posterior[rowSums(posterior) == 0, ] <- NA
  colnames(posterior) <- c("A", "C", "G", "T")
  result <- as.data.frame(posterior)
  result$ancestral <- called_bases(posterior)
  result
}

# Columns by the splits' names, where both have names.
in_order_of_splits <- function(patterns, history) {
  columns <- colnames(patterns)
  splits <- names(history$splits)
  if (!is.matrix(patterns) || is.null(columns) || is.null(splits)) {
    return(patterns)
  }
  if (!setequal(columns, splits) || anyDuplicated(columns)) {
    abort_ancify(
      sprintf(
        "The columns of `patterns` are %s, but the history's splits are %s: give these.",
        enumerate(quoted(columns)), enumerate(quoted(splits))
      ),
      "input"
    )
  }
  patterns[, splits, drop = FALSE]
}

# Base codes, a row for each species and a column for each pattern.
pattern_states <- function(patterns, species) {
  if (is.matrix(patterns) && is.character(patterns)) {
    patterns <- do.call(paste0, lapply(seq_len(ncol(patterns)), function(i) {
      ifelse(patterns[, i] %in% c("A", "C", "G", "T", "a", "c", "g", "t"), patterns[, i], "N")
    }))
  }
  if (!is.character(patterns) || anyNA(patterns) || !all(validEnc(patterns))) {
    abort_ancify(
      sprintf(
        "`patterns` must be texts such as \"ACN\" or a character matrix, not %s.",
        show_value(patterns)
      ),
      "input"
    )
  }
  wrong <- which(nchar(patterns) != species)
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`patterns[%d]` is \"%s\": it must have a base or N for each of the %d species.",
        wrong[1], patterns[wrong[1]], species
      ),
      "input"
    )
  }
  codes <- base_codes(unlist(strsplit(patterns, "", fixed = TRUE)))
  matrix(codes, nrow = species)
}

# 0 to 3 for A, C, G, T, 4 for all else.
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
    abort_ancify(
      sprintf(
        "`alleles` must be texts such as \"A/G\" or a character matrix of two columns, not %s.",
        show_value(alleles)
      ),
      "input"
    )
  }
  codes <- matrix(base_codes(alleles), ncol = 2)
  wrong <- which(codes[, 1] == 4 | codes[, 2] == 4 | codes[, 1] == codes[, 2])
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "The alleles of site %d are \"%s\": they must be two of A, C, G and T.", wrong[1],
        texts[wrong[1]]
      ),
      "input"
    )
  }
  codes
}

check_counts <- function(counts, n) {
  if (!is.numeric(counts) || !is.numeric(n) || !length(n) %in% c(1, length(counts))) {
    abort_ancify(
      "`counts` must be a number for each site, and `n` one number or as many.", "input"
    )
  }
  n <- rep_len(n, length(counts))
  right <- is.finite(counts) & is.finite(n) & counts == floor(counts) & n == floor(n) &
    counts >= 0 & counts <= n & n >= 1
  wrong <- which(!right)
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "Site %d has a count of %s among %s haplotypes: give whole numbers from 0 to `n`.",
        wrong[1], format(counts[wrong[1]]), format(n[wrong[1]])
      ),
      "input"
    )
  }
  most_haplotypes <- core_limits()$haplotypes
  large <- which(n > most_haplotypes)
  if (length(large)) {
    abort_ancify(
      sprintf(
        "Site %d has %s haplotypes: `n` can be up to %s.", large[1], format_count(n[large[1]]),
        format_count(most_haplotypes)
      ),
      "input"
    )
  }
  as.integer(counts)
}

check_same_sites <- function(...) {
  sites <- c(...)
  if (any(sites != sites[[1]])) {
    abort_ancify(
      sprintf(
        "The arguments are of different numbers of sites: %s.",
        paste(sprintf("`%s` of %d", names(sites), as.integer(sites)), collapse = ", ")
      ),
      "input"
    )
  }
}

called_bases <- function(posterior) {
  bases <- rep(NA_character_, nrow(posterior))
  known <- which(!is.na(posterior[, 1]))
  best <- max.col(posterior[known, , drop = FALSE], ties.method = "first")
  most <- posterior[cbind(known, best)]
  base <- c("A", "C", "G", "T")[best]
  bases[known] <- ifelse(most >= 0.8, base, ifelse(most >= 0.5, tolower(base), "n"))
  bases
}
