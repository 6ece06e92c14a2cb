# Sparse effects by dense matrices, and by glmnet.

# What the lasso at `theta` works on: z = columns of all variants that vary, p, q_matrix = Z'PZ,
# q = Z'Py, whole = y'Py.
oracle_lasso_parts <- function(y, x, calls, theta, kernels, power = -1) {
  n <- length(y)
  h_inverse <- solve(Reduce(`+`, Map(`*`, theta, c(unname(kernels), list(diag(n))))))
  p <- h_inverse - h_inverse %*% x %*% solve(crossprod(x, h_inverse %*% x), crossprod(x, h_inverse))
  columns <- oracle_columns(calls, power)
  list(
    z = columns$z, variants = which(columns$used), p = p,
    q_matrix = crossprod(columns$z, p %*% columns$z),
    q = drop(crossprod(columns$z, p %*% y)), whole = drop(y %*% p %*% y)
  )
}

# The largest violation of the conditions of the minimum at b, as a share of max|q|.
oracle_violation <- function(parts, b, lambda) {
  slope <- parts$q - drop(parts$q_matrix %*% b)
  violation <- ifelse(b == 0, pmax(abs(slope) - lambda, 0), abs(slope - lambda * sign(b)))
  max(violation) / max(abs(parts$q))
}

# Effects of a step of a path, for the variants of `parts`.
effects_of_step <- function(path, parts, step) {
  chosen <- path$effects[path$effects$step == step, ]
  b <- numeric(length(parts$q))
  b[match(path$variants$column[chosen$variant], parts$variants)] <- chosen$effect
  b
}

# The lasso by glmnet: |w - Ab|^2 / 2 + lambda |b|_1 with P = LL', A = L'Z and w = L'y.
oracle_glmnet <- function(parts, y, lambda) {
  eigen <- eigen(parts$p, symmetric = TRUE)
  whitened <- t(eigen$vectors) * sqrt(pmax(eigen$values, 0))
  fit <- glmnet::glmnet(
    whitened %*% parts$z, drop(whitened %*% y), lambda = lambda / length(y), standardize = FALSE,
    intercept = FALSE, thresh = 1e-16, maxit = 1e7
  )
  as.matrix(fit$beta)
}

# 90 samples in families and 70 variants of which three have large effects, with missing and
# constant ones.
sparse_case <- function(effects = c(1, -0.8, 0.9), n = 90, m = 70) {
  calls <- simulate_calls(n, m, family = 3, switch = 0.2, missing = 0.02)
  calls[, 7] <- 1
  at <- round(seq(10, m - 5, length.out = length(effects)))
  z <- oracle_columns(calls[, at, drop = FALSE])$z
  y <- drop(z %*% effects) + simulate_trait(replace(calls, is.na(calls), 1)[, -7], 0.3)
  data <- data.frame(id = rownames(calls), sex = rep(0:1, length.out = n), y = y)
  list(calls = calls, g = open_genotypes(oracle_write_bed(calls)), data = data, at = at)
}

quiet_sparse <- function(...) fit_sparse_reml(..., progress = FALSE, verbose = FALSE)
