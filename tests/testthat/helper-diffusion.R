# A plain implementation of the diffusion: whole matrices, solved by R, a line at a time.
# A density is an array with a dimension for each population.

# The spectrum of one coarse grid, which is quick, and whose error is not estimated.
coarse_sfs <- function(model, params = NULL, sizes, pts, ...) {
  expected_sfs(model, params, sizes, pts, extrapolate = "none", ...)[[1]]
}

oracle_grid <- function(n) {
  u <- seq(-1, 1, length.out = n)
  g <- 1 / (1 + exp(-8 * u))
  (g - g[1]) / (g[n] - g[1])
}

trapezoid_weights <- function(x) {
  n <- length(x)
  c(x[2] - x[1], x[3:n] - x[1:(n - 2)], x[n] - x[n - 1]) / 2
}

oracle_equilibrium <- function(x, nu = 1, gamma = 0, h = 0.5, theta0 = 1) {
  n <- length(x)
  inside <- 2:(n - 1)
  exponent <- function(s) 4 * gamma * h * s + 2 * gamma * (1 - 2 * h) * s^2
  from <- function(a) {
    stats::integrate(
      function(s) exp(-exponent(s)), a, 1, rel.tol = 1e-12, subdivisions = 2000
    )$value
  }
  whole <- from(0)
  phi <- numeric(n)
  phi[inside] <- exp(exponent(x[inside])) * vapply(x[inside], from, 0) / whole /
    (x[inside] * (1 - x[inside]))
  phi[n] <- 1 / whole
  phi[1] <- phi[2]
  array(nu * theta0 * phi, n)
}

# The value of a history at a time.
oracle_at <- function(history, t, end) {
  if (is.function(history)) {
    return(history(t))
  }
  if (is.list(history)) {
    share <- t / (if (is.null(history[["T"]])) end else history[["T"]])
    if (history$type == "exp") {
      return(history$from * (history$to / history$from)^share)
    }
    return(history$from + (history$to - history$from) * share)
  }
  history
}

# The parameters of an epoch at a time.
oracle_parameters <- function(event, t, end, p) {
  all <- function(values, n) {
    vapply(rep_len(as.list(values), n), oracle_at, 0, t, end)
  }
  m <- event$m
  if (is.null(m)) m <- 0
  if (is.list(m)) m <- do.call(rbind, lapply(m, unlist))
  if (length(m) == 1) m <- matrix(m, p, p)
  diag(m) <- 0
  default <- function(x, value) if (is.null(x)) value else x
  list(
    nu = all(event$nu, p), m = m, gamma = all(default(event$gamma, 0), p),
    h = all(default(event$h, 0.5), p), theta0 = oracle_at(event$theta0, t, end)
  )
}

oracle_time_step <- function(at, factor) {
  selection <- abs(at$gamma) * 2 *
    pmax(abs(at$h + (1 - 2 * at$h) / 2) / 4, abs(at$h + (1 - 2 * at$h) / 4) * 3 / 16)
  factor * min(1 / pmax(0.25 / at$nu, rowSums(at$m), selection))
}

# The matrix of one line along axis k. `others`: the frequencies on the other axes.
oracle_matrix <- function(x, dt, at, k, others) {
  n <- length(x)
  dx <- diff(x)
  middle <- x[-n] + dx / 2
  v <- x * (1 - x) / at$nu[k]
  h <- at$h[k]
  rates <- at$m[k, -k]
  move <- 2 * at$gamma[k] * (h + (1 - 2 * h) * middle) * middle * (1 - middle)
  for (j in seq_along(others)) move <- move + rates[j] * (others[j] - middle)
  # Each flux is the mean of both sides.
  flux <- matrix(0, n - 1, n)
  for (i in seq_len(n - 1)) {
    flux[i, i] <- move[i] / 2 + v[i] / (2 * dx[i])
    flux[i, i + 1] <- move[i] / 2 - v[i + 1] / (2 * dx[i])
  }
  a <- (rbind(flux, 0) - rbind(0, flux)) / trapezoid_weights(x)
  if (all(others == 0)) a[1, 1] <- a[1, 1] + 0.5 / at$nu[k] * 2 / dx[1]
  if (all(others == 1)) a[n, n] <- a[n, n] + 0.5 / at$nu[k] * 2 / dx[n - 1]
  diag(n) / dt + a
}

oracle_epoch <- function(phi, x, event, factor = 1e-3) {
  p <- length(dim(phi))
  n <- length(x)
  t <- if (is.null(event$initial_t)) 0 else event$initial_t
  end <- t + event[["T"]]
  frozen <- rep_len(if (is.null(event$frozen)) FALSE else event$frozen, p)
  mutates <- rep_len(if (is.null(event$mutates)) TRUE else event$mutates, p)
  at <- oracle_parameters(event, t, end, p)
  while (t < end) {
    dt <- min(oracle_time_step(at, factor), end - t)
    t <- t + dt
    at <- oracle_parameters(event, t, end, p)
    for (k in which(!frozen & mutates)) {
      new <- matrix(1, 1, p)
      new[k] <- 2
      phi[new] <- phi[new] + dt * at$theta0 / 2 / x[2] * 2^p / ((x[3] - x[1]) * x[2]^(p - 1))
    }
    for (k in which(!frozen)) {
      others <- as.matrix(expand.grid(rep(list(seq_len(n)), p - 1)))
      for (line in seq_len(n^(p - 1))) {
        index <- matrix(1, n, p)
        if (p > 1) index[, -k] <- rep(others[line, ], each = n)
        index[, k] <- seq_len(n)
        frequencies <- if (p > 1) x[others[line, ]] else numeric()
        phi[index] <- solve(oracle_matrix(x, dt, at, k, frequencies), phi[index] / dt)
      }
    }
  }
  phi
}

# The grid points around a frequency, and their shares.
oracle_spike <- function(x, z) {
  n <- length(x)
  upper <- min(max(which(x >= z)[1], 2), n)
  lower <- upper - 1
  width <- x[upper] - x[lower]
  at_lower <- (x[upper] - z) / width
  before <- if (lower > 1) x[lower] - x[lower - 1] else 0
  after <- if (upper < n) x[upper + 1] - x[upper] else 0
  spike <- numeric(n)
  spike[c(lower, upper)] <- c(at_lower, 1 - at_lower) * 2 /
    (at_lower * before + width + (1 - at_lower) * after)
  spike
}

oracle_new_population <- function(phi, x, shares) {
  p <- length(dim(phi))
  n <- length(x)
  at <- as.matrix(expand.grid(rep(list(seq_len(n)), p)))
  columns <- lapply(seq_len(nrow(at)), function(i) {
    # A frequency on a grid point has that point alone.
    z <- if (any(shares == 1)) x[at[i, shares == 1]] else sum(shares * x[at[i, ]])
    oracle_spike(x, min(z, 1)) * phi[i]
  })
  if (p == 1) columns[c(1, n)] <- list(numeric(n))
  array(do.call(rbind, columns), rep(n, p + 1))
}

oracle_remove <- function(phi, x, k) {
  p <- length(dim(phi))
  array(apply(phi, setdiff(seq_len(p), k), function(line) sum(line * trapezoid_weights(x))),
        rep(length(x), p - 1))
}

oracle_pulse <- function(phi, x, dest, shares) {
  p <- length(dim(phi))
  both <- oracle_remove(oracle_new_population(phi, x, shares), x, dest)
  aperm(both, append(seq_len(p - 1), p, dest - 1))
}

# Probabilities of derived copies, a column for each grid point.
oracle_binomial <- function(x, n) vapply(x, function(x) stats::dbinom(0:n, n, x), numeric(n + 1))

# Integrals of the binomial times a density that is linear between points.
oracle_analytic_weights <- function(x, n) {
  weights <- matrix(0, n + 1, length(x))
  for (i in seq_len(length(x) - 1)) {
    for (d in 0:n) {
      to <- function(hat) {
        stats::integrate(function(s) stats::dbinom(d, n, s) * hat(s), x[i], x[i + 1],
                         rel.tol = 1e-10)$value
      }
      width <- x[i + 1] - x[i]
      weights[d + 1, i] <- weights[d + 1, i] + to(function(s) (x[i + 1] - s) / width)
      weights[d + 1, i + 1] <- weights[d + 1, i + 1] + to(function(s) (s - x[i]) / width)
    }
  }
  weights
}

# `weights` has a matrix for each population.
oracle_sample <- function(phi, weights) {
  if (length(weights) == 1) {
    return(drop(weights[[1]] %*% phi))
  }
  for (k in seq_along(weights)) {
    rest <- dim(phi)[-k]
    phi <- apply(phi, setdiff(seq_along(weights), k), function(line) weights[[k]] %*% line)
    phi <- array(phi, c(nrow(weights[[k]]), rest))
    phi <- aperm(phi, append(seq_along(weights)[-1], 1, k - 1))
  }
  phi
}

# The density at the end of a model: a list of events with numbers, as in demography_models.json.
oracle_density <- function(events, x, factor = 1e-3) {
  phi <- NULL
  theta0 <- 1
  for (event in events) {
    # A rate holds until another is given.
    if (event$op %in% c("equilibrium", "integrate")) {
      if (is.null(event$theta0)) event$theta0 <- theta0
      end <- sum(unlist(event[c("initial_t", "T")]))
      theta0 <- oracle_at(event$theta0, end, end)
    }
    default <- function(name, value) if (is.null(event[[name]])) value else event[[name]]
    p <- length(dim(phi))
    phi <- switch(event$op,
      equilibrium = oracle_equilibrium(
        x, default("nu", 1), default("gamma", 0), default("h", 0.5), event$theta0
      ),
      integrate = oracle_epoch(phi, x, event, factor),
      split = oracle_new_population(phi, x, as.double(seq_len(p) == event$parent)),
      new_pop = oracle_new_population(phi, x, unlist(event$props)),
      pulse = {
        shares <- numeric(p)
        shares[as.integer(names(event$props))] <- unlist(event$props)
        shares[event$dest] <- 1 - sum(shares)
        oracle_pulse(phi, x, event$dest, shares)
      },
      remove = oracle_remove(phi, x, event$pop),
      reorder = aperm(phi, unlist(event$order))
    )
  }
  phi
}

# ---- Without a grid ------------------------------------------------------------------------------

# Exact expected spectra of neutral populations without migration. Spectra follow linear equations
# (Jouganous and others 2017), solved by the Runge-Kutta method. `nu`: a function of time that gives
# each population's size.
exact_equilibrium <- function(n) array(c(0, 1 / seq_len(n - 1), 0), n + 1)

exact_epoch <- function(spectrum, time, nu, steps = 2000) {
  n <- dim(spectrum) - 1
  drift <- lapply(n, function(n) {
    i <- 0:n
    d <- diag(-2 * i * (n - i))
    d[cbind(2:(n + 1), 1:n)] <- (i * (n - i))[1:n]
    d[cbind(1:n, 2:(n + 1))] <- (i * (n - i))[2:(n + 1)]
    d / 2
  })
  mutation <- array(0, n + 1)
  for (k in seq_along(n)) {
    cell <- matrix(1, 1, length(n))
    cell[k] <- 2
    mutation[cell] <- n[k] / 2
  }
  slope <- function(x, t) {
    change <- mutation
    for (k in seq_along(n)) {
      order <- c(k, setdiff(seq_along(n), k))
      along <- drift[[k]] %*% matrix(aperm(x, order), n[k] + 1)
      change <- change + aperm(array(along, (n + 1)[order]), order(order)) / nu(t)[k]
    }
    # Sites lost or fixed in all populations are ignored.
    change[c(1, length(change))] <- 0
    change
  }
  dt <- time / steps
  for (step in seq_len(steps)) {
    t <- (step - 1) * dt
    a <- slope(spectrum, t)
    b <- slope(spectrum + dt / 2 * a, t + dt / 2)
    c <- slope(spectrum + dt / 2 * b, t + dt / 2)
    d <- slope(spectrum + dt * c, t + dt)
    spectrum <- spectrum + dt / 6 * (a + 2 * b + 2 * c + d)
  }
  spectrum
}

# Splits a spectrum of one population into samples of two.
exact_split <- function(spectrum, n) {
  outer(0:n[1], 0:n[2], function(i, j) {
    spectrum[i + j + 1] * choose(n[1], i) * choose(n[2], j) / choose(sum(n), i + j)
  })
}
