# Covariances, correlations and heritabilities of several traits, with their standard errors.

# ---- Covariance of theta -------------------------------------------------------------------------

# The inverse information. A singular covariance matrix stays singular: only changes that keep its
# rank count, as a variance at its bound counts as known.
traits_theta_covariance <- function(fit) {
  free <- free_directions(fit)
  covariance <- free %*% solve(crossprod(free, fit$information %*% free), t(free))
  dimnames(covariance) <- dimnames(fit$information)
  covariance
}

# The covariance of theta's Monte Carlo error.
traits_mc_covariance <- function(fit) {
  covariance <- traits_theta_covariance(fit)
  covariance %*% fit$mc_score %*% covariance
}

# A basis of the changes of theta that keep the rank of each covariance matrix, and 0 where data
# tell nothing.
free_directions <- function(fit) {
  k <- length(fit$theta)
  unknown <- diag(k)[diag(fit$information) == 0, , drop = FALSE]
  held <- rbind(do.call(rbind, lapply(seq_along(fit$covariances), held_by_rank, fit)), unknown)
  if (nrow(held) == 0) {
    return(diag(k))
  }
  decomposition <- qr(t(held))
  qr.Q(decomposition, complete = TRUE)[, -seq_len(decomposition$rank), drop = FALSE]
}

# The linear functions of theta that are 0 for changes D of a singular matrix C that keep its rank:
# N'DN = 0, where N spans the null space of C.
held_by_rank <- function(component, fit) {
  null <- null_space(component, fit)
  pairs <- trait_pairs(colnames(fit$y))
  at <- (component - 1) * nrow(pairs) + seq_len(nrow(pairs))
  rows <- list()
  for (u in seq_len(ncol(null))) {
    for (v in seq_len(u)) {
      both <- null[pairs$row, u] * null[pairs$column, v]
      other <- null[pairs$column, u] * null[pairs$row, v]
      row <- numeric(length(fit$theta))
      row[at] <- ifelse(pairs$row == pairs$column, both, both + other)
      rows <- c(rows, list(row))
    }
  }
  do.call(rbind, rows)
}

# The core bounds the residual's eigenvalues by a millionth of the variance.
least_eigenvalues <- c(genetic = 1e-8, residual = 5e-6)

# Directions of traits without variance of a component, in columns.
null_space <- function(component, fit) {
  sd <- sqrt(total_variances(fit))
  eigen <- eigen(mean_diagonals(fit)[component] * fit$covariances[[component]] / outer(sd, sd),
                 symmetric = TRUE)
  kind <- if (component > length(fit$names)) "residual" else "genetic"
  eigen$vectors[, eigen$values < least_eigenvalues[[kind]], drop = FALSE] / sd
}

is_singular <- function(fit) {
  singular <- vapply(seq_along(fit$covariances), function(g) ncol(null_space(g, fit)) > 0, NA)
  stats::setNames(singular, names(fit$covariances))
}

mean_diagonals <- function(fit) c(fit$mean_diagonal, residual = 1)

# The variance of each trait, summed over components.
total_variances <- function(fit) {
  rowSums(mapply(function(a, covariance) a * diag(covariance), mean_diagonals(fit),
                 fit$covariances))
}

# ---- Functions of theta --------------------------------------------------------------------------

# A row for each component and pair of traits: the covariance, and the correlation of two traits.
covariance_table <- function(fit) {
  pairs <- trait_pairs(colnames(fit$y))
  components <- names(fit$covariances)
  table <- data.frame(
    component = rep(components, each = nrow(pairs)), pairs[c("trait_1", "trait_2")],
    covariance = unname(fit$theta), row.names = NULL
  )
  covariance <- traits_theta_covariance(fit)
  error <- sqrt(pmax(diag(covariance), 0))
  # Without any freedom there is no error.
  table$se <- ifelse(error > 0, error, NA)
  random <- traits_mc_covariance(fit)
  table$mc_se <- sqrt(pmax(diag(random), 0))
  table$covariance[diag(fit$information) == 0] <- NA
  correlations <- vapply(seq_len(nrow(table)), function(i) {
    before <- (i - 1) %/% nrow(pairs) * nrow(pairs)
    correlation_at(fit, list(covariance, random), i, before, pairs)
  }, c(correlation = 0, correlation_se = 0, correlation_mc_se = 0))
  data.frame(table, t(correlations), singular = is_singular(fit)[table$component],
             row.names = NULL)
}

# The correlation of the row `i` of covariance_table(), whose component follows `before` values of
# theta, and its errors by these covariances of theta; NA for a variance, or beside one of 0.
correlation_at <- function(fit, covariances, i, before, pairs) {
  none <- c(correlation = NA_real_, correlation_se = NA_real_, correlation_mc_se = NA_real_)
  pair <- pairs[i - before, ]
  variance_of <- function(trait) before + which(pairs$row == trait & pairs$column == trait)
  of <- c(variance_of(pair$row), variance_of(pair$column))
  values <- unname(fit$theta[c(i, of)])
  sizes <- unname(fit$theta[of] / total_variances(fit)[c(pair$row, pair$column)])
  if (pair$row == pair$column || any(sizes < 1e-7) || fit$information[i, i] == 0) {
    return(none)
  }
  correlation <- values[1] / sqrt(values[2] * values[3])
  slope <- c(1 / sqrt(values[2] * values[3]), -correlation / (2 * values[2:3]))
  # A correlation of 1 or -1 is at its bound.
  at_bound <- abs(correlation) > 1 - 1e-6
  errors <- vapply(covariances, function(covariance) {
    variance <- drop(slope %*% covariance[c(i, of), c(i, of)] %*% slope)
    if (at_bound) NA_real_ else sqrt(max(variance, 0))
  }, 0)
  c(correlation = correlation, correlation_se = errors[1], correlation_mc_se = errors[2])
}

# The share of each trait's variance that components explain: rows by trait, for all of them
# together and for each.
trait_heritability <- function(fit) {
  covariance <- traits_theta_covariance(fit)
  random <- traits_mc_covariance(fit)
  traits <- colnames(fit$y)
  pairs <- trait_pairs(traits)
  a <- mean_diagonals(fit)
  rows <- lapply(seq_along(traits), function(trait) {
    own <- which(pairs$row == trait & pairs$column == trait)
    at <- own + (seq_along(a) - 1) * nrow(pairs)
    parts <- a * fit$theta[at]
    in_h2 <- !names(a) %in% c(fit$environmental, "residual")
    sets <- rbind(h2 = in_h2, diag(length(a))[seq_along(fit$names), ])
    if (length(fit$names) == 1) sets <- sets[1, , drop = FALSE]
    share <- drop(sets %*% parts) / sum(parts)
    slopes <- (sets - share) %*% diag(a) / sum(parts)
    variance_by <- function(of_theta) rowSums((slopes %*% of_theta[at, at]) * slopes)
    variance <- variance_by(covariance)
    data.frame(
      trait = traits[trait], component = c("h2", fit$names)[seq_along(share)], share = share,
      se = ifelse(variance > 0, sqrt(pmax(variance, 0)), NA),
      mc_se = sqrt(pmax(variance_by(random), 0)), row.names = NULL
    )
  })
  do.call(rbind, rows)
}
