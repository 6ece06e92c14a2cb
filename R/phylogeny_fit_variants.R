# Fits of a history to joint counts of the outgroups' pattern and the focal sample's alleles.
#
# A site either varies or belongs to the rest. The cell of a varying site is the pattern, the two
# alleles and the number of copies. The cell of any other site is the pattern and its base. The
# probability of such a cell is that of the base in one haplotype, minus the probabilities of
# varying sites, weighted by the share of haplotypes with this base. So the rest needs no sum over
# samples, and may have any number of mutations.

# At most this many haplotypes of a sample are drawn. Twice the number takes three times as long,
# and adds little information.
most_drawn <- 10

# list(n =, varying = data frame of code, first, second, copies and count; rest = the same of code,
# base and count), from the counts of patterns and of sites that vary.
joint_counts <- function(counts, variants, history) {
  tables <- joint_tables(counts, variants, history, haplotypes_to_draw(variants))
  refuse_missing_positions(tables$rest, sum(variants$count), history)
  tables$rest <- tables$rest[tables$rest$count > 1e-9, ]
  tables
}

# The tables of joint_counts(), unchecked: counts of the rest may be 0 or below.
joint_tables <- function(counts, variants, history, n) {
  width <- length(history$splits)
  sites <- subsampled_sites(variants[variants$n >= n, ], n)
  both <- sites$copies > 0 & sites$copies < n
  fixed <- data.frame(
    code = sites$code, base = ifelse(sites$copies == 0, sites$first, sites$second),
    count = sites$count
  )[!both, ]
  # All variants, even those with too few haplotypes, are subtracted from the positions with their
  # first allele.
  states <- pattern_states(counts$pattern, width + 1)
  all <- data.frame(
    code = pattern_codes(states[seq_len(width), , drop = FALSE]), base = states[width + 1, ],
    count = counts$count
  )
  varying <- data.frame(code = variants$code, base = variants$first, count = -variants$count)
  all <- all[all$code < 5^width - 1, ]  # where an outgroup has a base
  rest <- summed(rbind(all, varying, fixed), c("code", "base"))
  # The alleles in the order of the alphabet
  sites <- sites[both, ]
  turned <- sites$first > sites$second
  sites[turned, c("first", "second")] <- sites[turned, c("second", "first")]
  sites$copies[turned] <- n - sites$copies[turned]
  list(
    n = n, rest = rest,
    varying = summed(sites, c("code", "first", "second", "copies"))
  )
}

pattern_codes <- function(states) colSums(states * 5^(seq_len(nrow(states)) - 1))

summed <- function(table, by) {
  key <- do.call(paste, table[by])
  first <- !duplicated(key)
  total <- rowsum(table$count, key, reorder = FALSE)
  data.frame(table[first, by], count = as.vector(total), row.names = NULL)
}

# The largest sample size up to `most_drawn` that 95% of the sites have.
haplotypes_to_draw <- function(variants) {
  sorted <- variants[order(variants$n), ]
  below <- cumsum(sorted$count) < 0.05 * sum(sorted$count)
  min(most_drawn, sorted$n[!below][1])
}

# Each site as its mean over all subsamples of n haplotypes.
subsampled_sites <- function(variants, n) {
  kinds <- split(seq_len(nrow(variants)), list(variants$n, variants$copies), drop = TRUE)
  parts <- lapply(kinds, function(rows) {
    part <- variants[rows, ]
    copies <- part$copies[1]
    drawn <- seq(max(0, n - part$n[1] + copies), min(n, copies))
    share <- stats::dhyper(drawn, copies, part$n[1] - copies, n)
    each <- rep(seq_along(rows), length(drawn))
    data.frame(
      part[each, c("code", "first", "second")], copies = rep(drawn, each = length(rows)),
      count = part$count[each] * rep(share, each = length(rows))
    )
  })
  none <- variants[0, c("code", "first", "second", "copies", "count")]
  summed(do.call(rbind, c(list(none), parts)), c("code", "first", "second", "copies"))
}

# ---- Probabilities ----------------------------------------------------------------------------

joint_cells <- function(counts, space) {
  list(
    count = c(counts$varying$count, counts$rest$count),
    log_probabilities = function(x) {
      probabilities <- with_watch("Fitting", function(watch) {
        joint_probabilities(space$history(x), counts, space$called(x), watch)
      })
      log(pmax(probabilities, .Machine$double.xmin))
    }
  )
}

# Probabilities of the cells of joint_counts(), varying sites first. `called`: the share of varying
# sites that are reported.
joint_probabilities <- function(history, counts, called, watch) {
  core <- core_history(history)
  model <- core_mutation_model(history)
  n <- counts$n
  one <- matrix(pattern_probabilities_impl(core, model, watch), ncol = 5)
  samples <- sample_probabilities(history, n, watch)
  rest <- rest_probabilities(one, samples, n, called)
  c(
    called * rowSums(by_ancestral_allele(samples, counts)),
    rest[cbind(counts$rest$code + 1, counts$rest$base + 1)]
  )
}

# Probabilities that a sample of n haplotypes varies, by [pattern, ancestral, derived, copies of the
# derived base].
sample_probabilities <- function(history, n, watch) {
  found <- sample_probabilities_impl(core_history(history), core_mutation_model(history), n, watch)
  array(found, c(length(found) / (4 * 4 * (n - 1)), 4, 4, n - 1))
}

# Probabilities of the varying cells: a column with the first allele ancestral, one with the second.
by_ancestral_allele <- function(samples, counts) {
  varying <- counts$varying
  code <- varying$code + 1
  first <- varying$first + 1
  second <- varying$second + 1
  cbind(
    samples[cbind(code, first, second, varying$copies)],
    samples[cbind(code, second, first, counts$n - varying$copies)]
  )
}

allele_probabilities <- function(history, counts) {
  samples <- with_watch("Fitting", function(watch) {
    sample_probabilities(history, counts$n, watch)
  })
  by_ancestral_allele(samples, counts)
}

# Probabilities of sites without a reported variant, by [pattern, base].
rest_probabilities <- function(one, samples, n, called) {
  share <- seq_len(n - 1) / n
  by_share <- function(share) array(matrix(samples, ncol = n - 1) %*% share, dim(samples)[1:3])
  with_ancestral <- rowSums(by_share(1 - share), dims = 2)
  with_derived <- rowSums(aperm(by_share(share), c(1, 3, 2)), dims = 2)
  varying <- with_ancestral + with_derived
  one - called * cbind(varying, rowSums(varying))
}

# Numbers of variants by copies of the rarer allele, observed and expected by the history.
copies_found <- function(history, counts) {
  n <- counts$n
  samples <- with_watch("Fitting", function(watch) sample_probabilities(history, n, watch))
  # The last pattern has no bases, so its probability is the sum over all others.
  samples <- matrix(samples, ncol = n - 1)
  last <- seq_len(nrow(samples)) %% 5^length(history$splits) == 0
  any_pattern <- colSums(samples[last, , drop = FALSE])
  rarer <- pmin(seq_len(n - 1), n - seq_len(n - 1))
  expected <- rowsum(any_pattern, rarer)[, 1]
  varying <- counts$varying
  found <- vapply(unique(rarer), function(copies) {
    sum(varying$count[pmin(varying$copies, n - varying$copies) == copies])
  }, 0)
  data.frame(
    copies = unique(rarer), sites = found,
    expected = unname(expected / sum(expected)) * sum(found)
  )
}

# The share of variants whose numbers of copies depart from those that the history expects.
copies_amiss <- function(copies) sum(abs(copies$sites - copies$expected)) / 2 / sum(copies$sites)

# ---- User input -------------------------------------------------------------------------------

# The variants as a numeric table: code, first, second, copies, n and count. NULL without variants.
variants_for_history <- function(variants, history) {
  if (is.null(variants)) {
    return(NULL)
  }
  columns <- c("pattern", "alleles", "counts", "n", "sites")
  refuse_if(!is.data.frame(variants) || !all(columns %in% names(variants)),
            "`variants` must be a result of count_variants(), or a data frame of %s, not %s.",
            enumerate(quoted(columns)),
            if (is.data.frame(variants)) show_value(names(variants)) else show_value(variants))
  patterns <- outgroups_in_order(variants$pattern, attr(variants, "species"), history)
  states <- pattern_states(patterns, length(history$splits))
  alleles <- allele_codes(as.character(variants$alleles))
  sample <- check_counts(variants$counts, variants$n, nrow(variants), history)
  check_variant_sites(variants$sites)
  table <- data.frame(
    code = pattern_codes(states), first = alleles[, 1], second = alleles[, 2],
    copies = sample$counts, n = sample$n, count = variants$sites
  )
  table$chromosome <- variants$chromosome
  used <- colSums(states < 4) > 0 & !is.na(table$copies) & table$n > 1 & table$count > 0
  refuse_if(!any(used),
            "`variants` has no site with an outgroup's base and counts of two haplotypes or more.")
  table[used, ]
}

outgroups_in_order <- function(patterns, species, history) {
  wanted <- names(history$splits)
  if (is.null(species) || is.null(wanted)) {
    return(patterns)
  }
  check_pattern_widths(patterns, species)
  missing <- setdiff(wanted, species)
  refuse_if(length(missing), "`variants` has bases of %s, but the history also needs those of %s.",
            enumerate(quoted(species)), enumerate(quoted(missing)))
  do.call(paste0, lapply(match(wanted, species), function(i) substr(patterns, i, i)))
}

check_variant_sites <- function(sites) {
  wrong <- which(!is.numeric(sites) | !is.finite(sites) | sites < 0)
  refuse_if(length(wrong), "`variants$sites[%d]` is %s: give the number of such sites.", wrong[1],
            show_value(sites[wrong[1]]))
}

check_called_share <- function(called) {
  if (is.null(called)) {
    return(invisible())
  }
  check_positive(called, "called", 1)
  refuse_if(called > 1, "`called` is %s: give the share of positions with calls, up to 1, or NULL.",
            called)
}

number_of_focal_sizes <- function(n, history) {
  own <- length(history$focal_size)
  if (is.null(n)) {
    return(if (own > 1) own else 3)
  }
  check_whole_number(n, "focal_sizes", 10)
  n
}

# Sites of the rest are positions of the patterns minus variants, so no count may be negative.
refuse_missing_positions <- function(rest, sites, history) {
  lacking <- which(rest$count < 0)
  # A few may come from corrections of the reference.
  if (-sum(rest$count[lacking]) > 0.01 * sites) {
    worst <- lacking[which.min(rest$count[lacking])]
    bases <- c("A", "C", "G", "T", "N")
    outgroups <- bases[rest$code[worst] %/% 5^(seq_along(history$splits) - 1) %% 5 + 1]
    refuse_input(
      paste(
        "`patterns` has %s sites fewer than `variants` with the bases %s of the outgroups and %s",
        "as REF: count both over the same positions, of the same genome build."
      ),
      format_count(ceiling(-rest$count[worst])), paste(outgroups, collapse = ""),
      bases[rest$base[worst] + 1]
    )
  }
}
