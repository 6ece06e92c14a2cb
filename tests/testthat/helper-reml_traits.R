# REML of several traits in plain R: one matrix over all values, from the equations alone.

# At covariances C_g, the residual's last: the restricted log-likelihood, its score, average and
# expected information by the packed covariances, fixed effects with their covariance, and genetic
# values. `y`: n x t, with NA. `kernels`: n x n matrices.
oracle_traits_at <- function(covariances, y, x, kernels) {
  t <- ncol(y)
  seen <- which(!is.na(y))
  parts <- c(unname(kernels), list(diag(nrow(y))))
  whole_x <- kronecker(diag(t), x)[seen, , drop = FALSE]
  at <- which(lower.tri(diag(t), TRUE), arr.ind = TRUE)
  slopes <- unlist(lapply(parts, function(k) {
    lapply(seq_len(nrow(at)), function(i) {
      unit <- matrix(0, t, t)
      unit[at[i, 1], at[i, 2]] <- unit[at[i, 2], at[i, 1]] <- 1
      kronecker(unit, k)[seen, seen]
    })
  }), recursive = FALSE)
  theta <- unlist(lapply(covariances, function(c) c[lower.tri(c, TRUE)]))
  h <- Reduce(`+`, Map(`*`, theta, slopes))
  inverse <- solve(h)
  xhx <- crossprod(whole_x, inverse %*% whole_x)
  p <- inverse - inverse %*% whole_x %*% solve(xhx, crossprod(whole_x, inverse))
  values <- y[seen]
  py <- drop(p %*% values)
  log_det <- function(a) as.numeric(determinant(a)$modulus)
  p_a <- lapply(slopes, function(a) p %*% a)
  a_py <- vapply(slopes, function(a) drop(a %*% py), py)
  b <- drop(solve(xhx, crossprod(whole_x, inverse %*% values)))
  scattered <- replace(matrix(0, nrow(y), t), seen, py)
  list(
    log_likelihood = -0.5 * ((length(seen) - ncol(whole_x)) * log(2 * pi) + log_det(h) +
                               log_det(xhx) - log_det(crossprod(whole_x)) + sum(values * py)),
    score = 0.5 * (drop(crossprod(a_py, py)) - vapply(p_a, function(a) sum(diag(a)), 0)),
    average = 0.5 * crossprod(a_py, p %*% a_py),
    expected = 0.5 * outer(seq_along(slopes), seq_along(slopes), Vectorize(function(i, j) {
      sum(p_a[[i]] * t(p_a[[j]]))
    })),
    coefficients = matrix(b, ncol(x)), coefficients_covariance = solve(xhx),
    genetic = Map(function(k, c) k %*% scattered %*% c, unname(kernels),
                  covariances[seq_along(kernels)])
  )
}

# The largest restricted likelihood over covariances C_g = L_g L_g': optim() from one start.
# `correlation`: that of the two traits by the first component, or NULL.
oracle_traits <- function(y, x, kernels, correlation = NULL) {
  t <- ncol(y)
  m <- t * (t + 1) / 2
  variances <- vapply(seq_len(t), function(a) {
    here <- !is.na(y[, a])
    sum(stats::lm.fit(x[here, , drop = FALSE], y[here, a])$residuals^2) / (sum(here) - ncol(x))
  }, 0)
  covariances_of <- function(values) {
    lapply(seq_len(length(kernels) + 1), function(g) {
      l <- matrix(0, t, t)
      l[lower.tri(l, TRUE)] <- values[(g - 1) * m + seq_len(m)]
      c <- tcrossprod(l)
      if (g == 1 && !is.null(correlation)) {
        c[1, 2] <- c[2, 1] <- correlation * sqrt(c[1, 1] * c[2, 2])
      }
      c * outer(sqrt(variances), sqrt(variances))
    })
  }
  minus <- function(values) {
    tryCatch(-oracle_traits_at(covariances_of(values), y, x, kernels)$log_likelihood,
             error = function(e) 1e10)
  }
  l <- diag(t)
  start <- rep(l[lower.tri(l, TRUE)] / sqrt(length(kernels) + 1), length(kernels) + 1)
  found <- stats::optim(start, minus, method = "BFGS", control = list(reltol = 1e-14, maxit = 1000))
  covariances <- covariances_of(found$par)
  c(oracle_traits_at(covariances, y, x, kernels), list(covariances = covariances))
}

# A study of traits with genetic correlation `rg`, and a share of values missing. The kernels are
# those of two sets of variants.
traits_case <- function(n = 60, m = 80, rg = 0.5, missing = 0, traits = 2) {
  calls <- simulate_calls(n, m, family = 4)
  kernels <- oracle_kernels(calls, rep(1:2, each = m / 2))
  root <- t(chol(kernels[[1]] + 1e-8 * diag(n)))
  correlation <- matrix(rg, traits, traits) + (1 - rg + 1e-9) * diag(traits)
  y <- root %*% matrix(stats::rnorm(n * traits), n) %*% chol(correlation) +
    matrix(stats::rnorm(n * traits), n)
  y <- sweep(y, 2, 3^(seq_len(traits) - 1), "*")
  lost <- matrix(stats::runif(length(y)) < missing, n)
  # Each sample keeps a trait.
  lost[rowSums(lost) == traits, 1] <- FALSE
  y[lost] <- NA
  colnames(y) <- letters[seq_len(traits)]
  data <- data.frame(id = seq_len(n), y, age = stats::rnorm(n))
  list(y = y, x = cbind(1, data$age), kernels = kernels, data = data,
       given = lapply(kernels, function(k) kernel_matrix((k + t(k)) / 2)))
}
