# REML in plain R: dense matrices, inverted whole, from the equations alone. Slow and obvious; the
# core's fits are compared with it. And genotypes that look like those of a population.

# ---- Restricted likelihood -----------------------------------------------------------------------

# At the variances `theta` (residual last): the restricted log-likelihood, its score, the average
# and the expected information, effects with their covariance, and genetic values. `kernels`: n x n
# matrices. H = sum_g theta_g K_g + theta_e I, or sum_a theta_ea R_a for `residuals` R_a;
# P = H^-1 - H^-1 X (X'H^-1 X)^-1 X'H^-1.
oracle_reml_at <- function(theta, y, x, kernels, residuals = list(diag(length(y)))) {
  n <- length(y)
  parts <- c(unname(kernels), unname(residuals))
  h <- Reduce(`+`, Map(`*`, theta, parts))
  h_inverse <- solve(h)
  x_h_x <- crossprod(x, h_inverse %*% x)
  covariance <- solve(x_h_x)
  p <- h_inverse - h_inverse %*% x %*% covariance %*% crossprod(x, h_inverse)
  p_y <- drop(p %*% y)
  log_det <- function(a) as.numeric(determinant(a)$modulus)
  p_a <- lapply(parts, function(a) p %*% a)
  a_p_y <- vapply(parts, function(a) drop(a %*% p_y), numeric(n))
  pairs <- outer(seq_along(parts), seq_along(parts), Vectorize(function(i, j) {
    sum(p_a[[i]] * t(p_a[[j]]))
  }))
  list(
    log_likelihood = -0.5 * ((n - ncol(x)) * log(2 * pi) + log_det(h) + log_det(x_h_x) -
                               log_det(crossprod(x)) + sum(y * p_y)),
    score = 0.5 * (drop(crossprod(a_p_y, p_y)) - vapply(p_a, function(a) sum(diag(a)), 0)),
    average = 0.5 * crossprod(a_p_y, p %*% a_p_y),
    expected = 0.5 * pairs,
    coefficients = drop(covariance %*% crossprod(x, h_inverse %*% y)),
    coefficients_covariance = covariance,
    residual_projection = p_y,
    genetic = a_p_y[, seq_along(kernels), drop = FALSE] %*% diag(theta[seq_along(kernels)],
                                                                 length(kernels))
  )
}

# The largest restricted likelihood over theta_g >= 0: nlminb() from several starts, then Newton
# steps with the expected information, over the variances that are not at their bound.
oracle_reml <- function(y, x, kernels, starts = c(0.2, 0.5, 0.8)) {
  total <- sum(stats::lm.fit(x, y)$residuals^2) / (length(y) - ncol(x))
  lower <- c(rep(0, length(kernels)), 1e-6 * total)
  minus <- function(theta) -oracle_reml_at(theta, y, x, kernels)$log_likelihood
  slope <- function(theta) -oracle_reml_at(theta, y, x, kernels)$score
  searches <- lapply(starts, function(share) {
    start <- total * c(rep(share / length(kernels), length(kernels)), 1 - share)
    stats::nlminb(start, minus, slope, lower = lower, control = list(rel.tol = 1e-12))
  })
  theta <- searches[[which.min(vapply(searches, `[[`, 0, "objective"))]]$par
  for (step in 1:50) {
    at <- oracle_reml_at(theta, y, x, kernels)
    free <- theta > lower + 1e-7 * total | at$score > 0
    theta[!free] <- lower[!free]
    move <- solve(at$expected[free, free], at$score[free])
    if (sum(move * at$score[free]) < 1e-22) break
    theta[free] <- pmax(theta[free] + move, lower[free])
  }
  oracle_fit(theta, !free, y, x, kernels)
}

# The second way to the same point: EM, which no step takes out of bounds. It is slow.
oracle_em <- function(y, x, kernels, steps = 20000) {
  total <- stats::var(y)
  theta <- rep(total / (length(kernels) + 1), length(kernels) + 1)
  n <- length(y)
  for (step in seq_len(steps)) {
    change <- 2 * theta^2 * oracle_reml_at(theta, y, x, kernels)$score / n
    theta <- theta + change
    if (max(abs(change)) < 1e-13 * total) break
  }
  theta
}

# What a fit reports, at its theta.
oracle_fit <- function(theta, at_bound, y, x, kernels) {
  at <- oracle_reml_at(theta, y, x, kernels)
  residual <- stats::lm.fit(x, y)$residuals
  null <- oracle_reml_at(sum(residual^2) / (length(y) - ncol(x)), y, x, list())
  covariance <- function(information) {
    whole <- 0 * information
    whole[!at_bound, !at_bound] <- solve(information[!at_bound, !at_bound])
    whole
  }
  diagonals <- vapply(kernels, function(k) mean(diag(k)), 0)
  fit <- c(at, list(
    theta = theta, at_bound = at_bound, log_likelihood_null = null$log_likelihood,
    lrt = max(0, 2 * (at$log_likelihood - null$log_likelihood)),
    covariance = covariance(at$average), covariance_expected = covariance(at$expected)
  ))
  fit$se <- sqrt(diag(fit$covariance))
  c(fit, oracle_heritability(theta, diagonals, fit$covariance))
}

# h2 = V_G / (V_G + V_E), V_G = sum theta_g a_g, and its standard error by the delta method.
oracle_heritability <- function(theta, diagonals, covariance) {
  weights <- c(diagonals, 1)
  genetic <- sum((theta * weights)[seq_along(diagonals)])
  total <- sum(theta * weights)
  slope <- c(diagonals * theta[length(theta)], -genetic) / total^2
  list(h2 = genetic / total, se_h2 = sqrt(drop(slope %*% covariance %*% slope)))
}

# ---- Kernels -------------------------------------------------------------------------------------

# z_j = (g_j - mean) v^(power / 2); a missing call is 0. Variants that do not vary are left out.
oracle_columns <- function(calls, power = -1) {
  mean <- colMeans(calls, na.rm = TRUE)
  v <- colMeans(calls^2, na.rm = TRUE) - mean^2
  used <- is.finite(v) & v > 1e-12
  z <- sweep(calls[, used, drop = FALSE], 2, mean[used])
  z <- sweep(z, 2, v[used]^(power / 2), "*")
  z[is.na(z)] <- 0
  list(z = z, v = v[used], used = used)
}

# K = sum_j w_j z_j z_j' / sum_j w_j v_j^(1 + power).
oracle_kernel <- function(calls, weights = rep(1, ncol(calls)), power = -1) {
  columns <- oracle_columns(calls, power)
  w <- weights[columns$used]
  k <- tcrossprod(sweep(columns$z, 2, sqrt(w), "*")) / sum(w * columns$v^(1 + power))
  dimnames(k) <- NULL
  k
}

# The numbers of the model's parts that two sets of variants make.
oracle_kernels <- function(calls, labels, power = -1) {
  lapply(split(seq_len(ncol(calls)), labels), function(j) {
    oracle_kernel(calls[, j, drop = FALSE], power = power)
  })
}

# ---- Genotypes -----------------------------------------------------------------------------------

# `n` samples at `m` variants: haplotypes are copied from a few founders, and another founder is
# taken with the probability `switch` from one variant to the next. With `family` above 1, families
# of so many sisters and brothers, whose parents are such samples. A share `missing` is NA.
simulate_calls <- function(n, m, family = 1, founders = 20, switch = 0.02, missing = 0) {
  families <- ceiling(n / family)
  copies <- pmin(pmax(round(founders * stats::rbeta(m, 0.6, 1.2)), 1), founders - 1)
  pool <- vapply(copies, function(k) sample(rep(1:0, c(k, founders - k))), integer(founders))
  calls <- matrix(0L, n, m, dimnames = list(sprintf("s%d", seq_len(n)), sprintf("v%d", seq_len(m))))
  # Rows of `haplotypes` are parents' first, then their second haplotypes; of each family two.
  parents <- cbind(2 * rep(seq_len(families), each = family)[seq_len(n)] - 1, 0)
  parents[, 2] <- parents[, 1] + 1
  founder <- sample(founders, 4 * families, TRUE)
  side <- matrix(sample(0:1, 2 * n, TRUE), n)
  for (j in seq_len(m)) {
    another <- stats::runif(length(founder)) < switch
    founder[another] <- sample(founders, sum(another), TRUE)
    crossed <- stats::runif(2 * n) < switch / 10
    side[crossed] <- 1L - side[crossed]
    haplotypes <- pool[founder, j]
    calls[, j] <- haplotypes[parents[, 1] + 2 * families * side[, 1]] +
      haplotypes[parents[, 2] + 2 * families * side[, 2]]
  }
  calls[stats::runif(length(calls)) < missing] <- NA
  calls
}

# A trait of variance 1 of which a kernel of these calls makes `h2`.
simulate_trait <- function(calls, h2, power = -1, columns = oracle_columns(calls, power)) {
  effects <- stats::rnorm(ncol(columns$z)) * sqrt(h2 / sum(columns$v^(1 + power)))
  drop(columns$z %*% effects) + stats::rnorm(nrow(calls)) * sqrt(1 - h2)
}

# ---- BED files -----------------------------------------------------------------------------------

# Writes calls with dimnames to <stem>.bed, .bim and .fam; gives the BED's path.
oracle_write_bed <- function(calls, stem = tempfile(), chromosome = rep(1, ncol(calls))) {
  ids <- rownames(calls)
  bed_fileset(
    calls, stem, data.frame(ids, ids, 0, 0, 0, -9),
    data.frame(chromosome, colnames(calls), 0, 1000L * seq_len(ncol(calls)), "A", "G")
  )
}

# The calls of <stem>.bed, copies of the first allele of the .bim.
oracle_read_bed <- function(stem) {
  samples <- utils::read.table(paste0(stem, ".fam"), colClasses = "character")
  variants <- utils::read.table(paste0(stem, ".bim"), colClasses = "character")
  calls <- plain_bed(paste0(stem, ".bed"), nrow(samples))
  dimnames(calls) <- list(samples$V2, variants$V2)
  list(calls = calls, samples = samples, variants = variants)
}

# Standard errors of h2 by ancestry by the delta method, with slopes from differences.
oracle_h2_errors <- function(fit) {
  at <- function(fit) heritability(fit)$h2[-1]
  slope <- vapply(seq_along(fit$theta), function(i) {
    moved <- fit
    moved$theta[i] <- moved$theta[i] + 1e-6
    (at(moved) - at(fit)) / 1e-6
  }, at(fit))
  sqrt(rowSums(slope %*% vcov(fit, "components") * slope))
}
