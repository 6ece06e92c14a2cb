# Estimators of theta and tests of neutrality, all linear in a spectrum.
#
# With x[i] sites of i derived copies among n haplotypes, E x[i] = theta / i, and every estimator is
# sum(w[i] i x[i]), where the weights w sum to 1. A test is the difference of two estimators, with
# weights d, over its standard deviation: its variance is alpha theta + beta theta^2, where alpha =
# sum(d[i]^2 i) and beta = sum(d[i] d[j] i j sigma[i, j]) (Achaz 2009). sigma is that of Fu (1995).

# The weights of each estimator, in a matrix with a row for each number of derived copies from 1 to
# n - 1. Those without singletons are of Achaz (2008).
theta_weights <- function(n) {
  i <- seq_len(n - 1)
  inner <- i > 1
  between <- inner & i < n - 1
  normalised <- function(weights) weights / sum(weights)
  cbind(
    watterson = normalised(1 / i),
    pi = normalised(n - i),
    theta_h = normalised(i),
    theta_l = normalised(rep(1, n - 1)),
    singletons = as.numeric(i == 1),
    folded_singletons = normalised((i == 1) / i + (i == n - 1) / i),
    watterson_inner = normalised(inner / i),
    pi_inner = normalised(inner * (n - i)),
    watterson_between = normalised(between / i),
    pi_between = normalised(between * (n - i))
  )
}

# Each test: an estimator, the one that is subtracted from it, and the sites by which theta is
# estimated for the variance: all, those that are no derived singletons ("inner"), or those whose
# rarer allele is no singleton ("between").
neutrality_tests <- list(
  tajima_d = c("pi", "watterson", "all"),
  zeng_h = c("pi", "theta_l", "all"),
  zeng_e = c("theta_l", "watterson", "all"),
  fu_li_d = c("watterson", "singletons", "all"),
  fu_li_f = c("pi", "singletons", "all"),
  fu_li_d_star = c("watterson", "folded_singletons", "all"),
  fu_li_f_star = c("pi", "folded_singletons", "all"),
  achaz_y = c("pi_inner", "watterson_inner", "inner"),
  achaz_y_star = c("pi_between", "watterson_between", "between")
)

# The covariances of spectra over theta^2, without the Poisson part on the diagonal: equations (2)
# and (3) of Fu (1995).
fu_covariances <- function(n) {
  i <- seq_len(n - 1)
  a <- c(0, cumsum(1 / i)) # a[k] is the sum of 1/j for j below k
  b <- 2 * n / ((n - i + 1) * (n - i)) * (a[n] + 1 / n - a[i]) - 2 / (n - i)
  b <- c(b, 0) # b(n) is taken for no cell
  tail <- (a[n] - a[i]) / (n - i)
  # For i above j
  cell <- function(i, j) {
    ifelse(
      i + j < n, (b[i + 1] - b[i]) / 2,
      ifelse(i + j == n, tail[i] + tail[j] - (b[i] + b[j + 1]) / 2 - 1 / (i * j),
             (b[j] - b[j + 1]) / 2 - 1 / (i * j))
    )
  }
  sigma <- outer(i, i, function(i, j) cell(pmax(i, j), pmin(i, j)))
  diag(sigma) <- ifelse(2 * i < n, b[i + 1], ifelse(2 * i == n, 2 * tail - 1 / i^2, b[i] - 1 / i^2))
  sigma
}

# Which cells count for the estimate of theta in a variance.
cells_of_variance <- function(n) {
  i <- seq_len(n - 1)
  cbind(all = i > 0, inner = i > 1, between = i > 1 & i < n - 1)
}

# The constants of all tests for n haplotypes: list(alpha =, beta = by test, a =, b = by set of
# cells). E S = a theta and Var S = a theta + b theta^2 for the sites S of a set.
test_constants <- function(n) {
  i <- seq_len(n - 1)
  weights <- theta_weights(n)
  sigma <- fu_covariances(n)
  sets <- cells_of_variance(n)
  differences <- vapply(neutrality_tests, function(test) {
    weights[, test[1]] - weights[, test[2]]
  }, numeric(n - 1))
  in_counts <- differences * i
  list(
    alpha = colSums(differences^2 * i), beta = colSums(in_counts * (sigma %*% in_counts)),
    a = colSums(sets / i), b = colSums(sets * (sigma %*% sets))
  )
}

# What a scan sums over the sites of a window, for each number of derived copies from 0 to n: the
# estimators, the sites of each set of cells.
site_values <- function(n) {
  i <- seq_len(n - 1)
  sets <- cells_of_variance(n)
  colnames(sets) <- paste0("sites_", colnames(sets))
  rbind(0, cbind(theta_weights(n) * i, sets), 0)
}

# The statistics of windows with these sums, as data frames have them.
window_statistics <- function(sums, n) {
  constants <- test_constants(n)
  tests <- lapply(names(neutrality_tests), function(name) {
    test <- neutrality_tests[[name]]
    sites <- sums[, paste0("sites_", test[3])]
    a <- constants$a[[test[3]]]
    theta <- sites / a
    squared <- pmax(sites * (sites - 1), 0) / (a^2 + constants$b[[test[3]]])
    variance <- constants$alpha[[name]] * theta + constants$beta[[name]] * squared
    ifelse(variance > 0, (sums[, test[1]] - sums[, test[2]]) / sqrt(variance), NaN)
  })
  names(tests) <- names(neutrality_tests)
  data.frame(
    segregating = sums[, "sites_all"],
    sums[, c("watterson", "pi", "theta_h", "theta_l"), drop = FALSE],
    tajima_d = tests$tajima_d, fay_wu_h = sums[, "pi"] - sums[, "theta_h"], tests[-1],
    row.names = NULL
  )
}
