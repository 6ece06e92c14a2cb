# The fitted parameters of a history, as a vector x: logarithms of the times between splits and of
# the sizes. A fit to joint counts adds the logarithms of the focal sizes, and the logits of their
# times as shares of the next older time. If `called` is fitted, its logarithm comes last.

# The largest factor between an estimate and its start.
most_change <- 100

# list(start =, lower =, upper =, history = and called = and values = functions of x, names =,
# prior =). `called`: NULL if it is fitted.
history_space <- function(history, joint = FALSE, called = 1) {
  n <- length(history$splits)
  epochs <- if (joint) length(history$focal_size) else 0
  sizes <- n + seq_len(n + epochs)
  times <- 2 * n + epochs + seq_len(max(epochs - 1, 0))
  finds_called <- joint && is.null(called)
  start <- c(
    interval_logarithms(history), log(unname(history$sizes)), if (joint) log(history$focal_size),
    if (joint) stats::qlogis(focal_time_shares(history)), if (finds_called) log(0.9)
  )
  called_at <- length(start)
  history_of <- function(x) {
    with_values(
      history, cumsum(exp(x[seq_len(n)])), exp(x[sizes]), if (joint) stats::plogis(x[times])
    )
  }
  share_called <- function(x) if (finds_called) exp(x[called_at]) else called
  upper <- start + log(most_change)
  if (finds_called) upper[called_at] <- 0
  list(
    start = start, lower = start - log(most_change), upper = upper,
    history = history_of, called = share_called,
    values = function(x) {
      at <- history_of(x)
      unname(c(
        at$splits, at$sizes, if (joint) c(at$focal_size, at$focal_times),
        if (finds_called) share_called(x)
      ))
    },
    names = c(
      paste(rep(c("split", "size"), each = n), outgroup_names(history)),
      if (joint) numbered("focal size", epochs), if (joint) numbered("focal time", epochs - 1),
      if (finds_called) "called"
    ),
    prior = history_prior(
      start, sizes, times,
      if (joint) numeric() else log(history$focal_size[history$focal_size_given])
    )
  )
}

numbered <- function(name, n) if (n == 1) name else paste(name, seq_len(n), recycle0 = TRUE)

# Logarithms of the times between splits.
interval_logarithms <- function(history) {
  times <- sort(unname(history$splits))
  log(pmax(diff(c(0, times)), times[1] / 1000))
}

focal_time_shares <- function(history) {
  history$focal_times / c(history$focal_times, focal_split(history))[-1]
}

# The history with `n` focal sizes: its own, or equal ones from which a search can begin.
with_focal_sizes <- function(history, n) {
  if (length(history$focal_size) == n) {
    return(history)
  }
  size <- exp(mean(log(history$focal_size)))
  # Most lineages of a sample coalesce within 2N generations.
  oldest <- min(focal_split(history), 2 * size)
  history$focal_size <- rep(size, n)
  history$focal_times <- oldest * 0.3^rev(seq_len(n - 1))
  history
}

# The history with these values. Focal sizes and the shares of their times remain if they are not
# given.
with_values <- function(history, splits, sizes, shares) {
  n <- length(splits)
  if (is.null(shares)) shares <- focal_time_shares(history)
  history$splits[order(history$splits)] <- splits
  history$sizes[] <- sizes[seq_len(n)]
  if (length(sizes) > n) history$focal_size <- sizes[-seq_len(n)]
  history$focal_times <- rev(cumprod(rev(shares))) * focal_split(history)
  history
}

# Minus the log density of the prior: half the sum of squares of a linear function of x. Logarithms
# of sizes have standard deviation 1 about their mean, and logits of times have standard deviation 2
# about their start. `known`: logarithms of sizes that are not fitted.
history_prior <- function(start, sizes, times, known) {
  all <- length(sizes) + length(known)
  slopes <- matrix(0, all + length(times), length(start))
  centred <- diag(all) - 1 / all
  slopes[seq_len(all), sizes] <- centred[, seq_along(sizes)]
  slopes[cbind(all + seq_along(times), times)] <- 1 / 2
  fixed <- c(centred[, -seq_along(sizes), drop = FALSE] %*% known, -start[times] / 2)
  residuals <- function(x) drop(slopes %*% x) + fixed
  list(
    objective = function(x) sum(residuals(x)^2) / 2,
    gradient = function(x) drop(crossprod(slopes, residuals(x))),
    information = crossprod(slopes)
  )
}
