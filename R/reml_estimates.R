# Variances and shares with both errors, from a fit's theta, information and Monte Carlo error of
# the score.

# ---- Covariances of theta ------------------------------------------------------------------------

# Variances at a bound are fixed: their rows are 0. All others are NA if the information is
# singular.
#
# Sampling: the inverse I^-1 of the information. Randomisation: I^-1 Cov(score) I^-1.
theta_covariance <- function(fit, of = c("sampling", "randomisation")) {
  of <- match.arg(of)
  covariance <- fit$information
  covariance[] <- 0
  free <- !fit$at_bound
  inverse <- tryCatch(
    solve(fit$information[free, free, drop = FALSE]), error = function(condition) NA
  )
  covariance[free, free] <- if (of == "sampling") {
    inverse
  } else if (anyNA(inverse)) {
    NA
  } else {
    inverse %*% fit$mc_score[free, free, drop = FALSE] %*% inverse
  }
  covariance
}

# Both errors of functions of theta, by the delta method. `gradients`: a row for each function. A
# variance at its bound counts as known.
delta_errors <- function(fit, gradients) {
  error <- function(of) {
    covariance <- theta_covariance(fit, of)
    sqrt(pmax(rowSums((gradients %*% covariance) * gradients), 0))
  }
  data.frame(se = error("sampling"), mc_se = error("randomisation"))
}

# ---- Shares --------------------------------------------------------------------------------------

# The shares `sets` %*% theta / sum(whole * theta), with both errors. A share has no error if all
# variances of the set, or all others, are at their bounds.
shares_of <- function(fit, sets, whole) {
  total <- sum(whole * fit$theta)
  share <- drop(sets %*% fit$theta) / total
  errors <- delta_errors(fit, (sets - outer(share, whole)) / total)
  has_free <- function(parts) rowSums(parts[, !fit$at_bound, drop = FALSE] != 0) > 0
  rest <- outer(rep(1, nrow(sets)), whole) - sets
  errors[!has_free(sets) | !has_free(rest), ] <- NA
  data.frame(estimate = share, errors)
}

# Data for shares: set_variances = the variance of each set of variants as a linear function of
# theta, a row for each genetic component; used_variants = the number of polymorphic variants of
# each set; n_variants = their total number.
#
# With standardised genotypes z_j, variant j has the variance sigma_j^2 |z_j|^2 / n, and sigma_j^2 =
# sum_g theta_g w_jg / c_g. A set without overlap therefore has the variance theta_g a_g. So does a
# set of alternatives: w_jg is the probability that j is in it, and j then has the variance theta_g
# / c_g.
facts_of_sets <- function(fit, work) {
  variances <- diag(fit$mean_diagonal[fit$names], length(fit$names))
  dimnames(variances) <- list(fit$names, fit$names)
  used <- fit$used_variants
  table <- fit$weights
  if (!fit$alternatives && !anyDuplicated(table$variant)) {
    return(list(set_variances = variances, used_variants = used,
                n_variants = different_variants(fit, work) %||% sum(used, na.rm = TRUE)))
  }
  moments <- genotype_moments(fit$genotypes, work)
  v <- moments$variance
  sets <- seq_len(fit$n_genetic)
  if (fit$alternatives) {
    used[sets] <- rowsum_of(table$weight * (v > 0)[table$variant], table$component, fit$n_genetic)
  } else {
    size <- ifelse(v > 0, v^(1 + fit$scale_power), 0)
    scale <- rowsum_of(table$weight * size[table$variant], table$component, fit$n_genetic)
    parts <- table$weight / scale[table$component] *
      (size * moments$called / nrow(fit$genotypes))[table$variant]
    for (set in sets) {
      members <- table$variant %in% table$variant[table$component == set]
      variances[set, sets] <- rowsum_of(parts * members, table$component, fit$n_genetic)
    }
  }
  of_others <- sum(used[-sets], na.rm = TRUE)
  n_variants <- of_others + if (fit$alternatives) sum(used[sets]) else sum(v > 0)
  list(set_variances = variances, used_variants = used,
       n_variants = different_variants(fit, work) %||% n_variants)
}

# The number of polymorphic variants if weighted kernels share a file with other components; each
# variant counts once. NULL if none do. For sets that exclude each other, it is the expected number.
different_variants <- function(fit, work) {
  kernels <- Filter(function(kernel) identical(kernel_kind(kernel), "weighted"), fit$kernels)
  sources <- c(lapply(unname(kernels), `[[`, "genotypes"), if (fit$n_genetic) list(fit$genotypes))
  paths <- vapply(sources, function(g) paste(g$path, collapse = "\n"), "")
  if (length(kernels) == 0 || !anyDuplicated(paths)) {
    return(NULL)
  }
  counts <- lapply(sources, function(g) genotype_moments(g, work)$variance > 0)
  if (fit$alternatives) {
    in_set <- rowsum_of(fit$weights$weight, fit$weights$variant, ncol(fit$genotypes))
    counts[[length(counts)]] <- counts[[length(counts)]] * in_set
  }
  keys <- unlist(Map(function(g, path) paste(g$variant_index, path), sources, paths))
  sum(unlist(counts)[!duplicated(keys)])
}

# Whether at least this many components are sets of variants.
has_variants <- function(fit, at_least = 1) sum(!is.na(fit$used_variants)) >= at_least

# Number of genotypes of each variant, and their mean and variance; NaN and 0 without any.
genotype_moments <- function(g, work) {
  if (gives_dosages(g)) {
    sums <- dosage_sums(g, work)
    return(list(called = sums$n, mean = sums$sum / sums$n, variance = sums$variance))
  }
  counts <- genotype_counts(g, work)
  called <- colSums(counts[1:3, , drop = FALSE])
  mean <- (counts[2, ] + 2 * counts[3, ]) / called
  variance <- (counts[2, ] + 4 * counts[3, ]) / called - mean^2
  # Exactly 0 for a monomorphic variant, without rounding.
  constant <- called == 0 | pmax(counts[1, ], counts[2, ], counts[3, ]) == called
  list(called = called, mean = mean, variance = ifelse(constant, 0, variance))
}

# Shares of the total variance: a row for h2, for each component, and for each residual.
variance_shares <- function(fit) {
  a <- fit$mean_diagonal
  is_genetic <- !fit$names %in% fit$environmental
  genetic <- rbind(h2 = a[fit$names] * is_genetic, fit$set_variances)
  residuals <- diag(a, length(a))[is_residual(names(a)), , drop = FALSE]
  rownames(residuals) <- names(a)[is_residual(names(a))]
  shares_of(fit, rbind(with_residuals(genetic, fit), residuals), a)
}

# As variance_shares(), of moments.
moment_shares <- function(he) {
  a <- he$mean_diagonal
  total <- sum(a * he$theta)
  in_h2 <- !is_residual(names(a)) & !names(a) %in% he$environmental
  sets <- rbind(h2 = a * in_h2, diag(a, length(a)))
  rownames(sets)[-1] <- names(a)
  share <- drop(sets %*% he$theta) / total
  slopes <- (sets - outer(share, a)) / total
  error <- function(covariance) sqrt(pmax(rowSums(slopes %*% covariance * slopes), 0))
  data.frame(estimate = share, se = error(he$covariance), mc_se = error(he$mc_covariance))
}

# Appends columns of zeros for the residuals.
with_residuals <- function(sets, fit) {
  cbind(sets, matrix(0, nrow(sets), length(fit$theta) - ncol(sets)))
}

# A set's share of the variance of all variants, over its share of the variants. NA for kernels not
# made of variants.
enrichments <- function(fit) {
  of_variants <- fit$names[!is.na(fit$used_variants)]
  a <- fit$mean_diagonal * (names(fit$mean_diagonal) %in% of_variants)
  variants <- fit$used_variants / fit$n_variants
  found <- shares_of(fit, with_residuals(fit$set_variances, fit), a) / variants
  found[is.na(variants) | sum(fit$theta * a) == 0, ] <- NA
  found
}

# The heritability in each ancestry alone, with both errors; NA for other components. NULL for a
# fit without ancestries.
ancestry_heritability <- function(fit) {
  rows <- list()
  components <- kernel_components(fit)
  for (name in names(components)) {
    kernel <- fit$kernels[[name]]
    # Interactions have variances that depend on the environment.
    if (!isTRUE(kernel_kind(kernel) %in% c("admixture", "records"))) next
    kernel <- admixture_within(kernel)
    if (is.null(kernel)) next
    # If another kernel divides the residual, this ancestry has no residual variance of its own.
    residual <- residual_names(fit)
    if (length(residual) > 1 && !identical(kernel$residual, "ancestry")) next
    rows[[name]] <- data.frame(
      component = components[[name]], share = colMeans(kernel$shares), residual = residual
    )
  }
  if (length(rows) == 0) {
    return(NULL)
  }
  rows <- do.call(rbind, rows)
  mean <- fit$mean_diagonal[rows$component] / rows$share
  genetic <- unname(fit$theta[rows$component] * mean)
  at_residual <- match(rows$residual, names(fit$theta))
  residual <- unname(fit$theta[at_residual])
  gradients <- matrix(0, nrow(rows), length(fit$theta))
  gradients[cbind(seq_along(mean), rows$component)] <- mean * residual / (genetic + residual)^2
  gradients[cbind(seq_along(mean), at_residual)] <- -genetic / (genetic + residual)^2
  found <- data.frame(h2 = genetic / (genetic + residual), delta_errors(fit, gradients))
  found[genetic <= 0, c("se", "mc_se")] <- NA
  all <- found[match(seq_along(fit$names), rows$component), ]
  stats::setNames(all, c("h2", "h2_se", "h2_mc_se"))
}

# ---- Likelihood ratio ----------------------------------------------------------------------------

# Numbers of these components whose variance is bounded by 0, and whose variance can be negative.
bounds_of <- function(fit, components) {
  lower <- stats::setNames(fit$control$lower, names(fit$theta))[components]
  c(bounded = sum(lower >= 0), free = sum(lower < 0))
}

# Twice the difference of two log-likelihoods, or 0 if it is negative or within rounding.
ratio_of <- function(log_likelihood, null) {
  ratio <- 2 * (log_likelihood - null)
  if (isTRUE(ratio < 1e-9 * max(1, abs(null)))) 0 else ratio
}

# Whether the p-value of the test is an upper bound.
lrt_is_bound <- function(fit) length(fit$names) > 1

# The test of all genetic components together.
genetic_lrt <- function(fit) {
  statistic <- ratio_of(fit$log_likelihood, fit$log_likelihood_null)
  bounds <- bounds_of(fit, fit$names)
  c(
    statistic = statistic, mc_se = 2 * fit$mc_log_likelihood,
    p_value = lrt_p_value(statistic, bounds[["bounded"]], bounds[["free"]])
  )
}
