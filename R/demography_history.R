# Events as populations through time, for the plot of a demographic model.

# The `to_history` of rows of event_rows(): the history after the event, which lasts from `before`
# to `time` ago.

equilibrium_to_history <- function(history, event, before, time) {
  history$there <- history$lanes <- 1L
  history$widths <- list(list(number = 1L, time = c(Inf, time), size = rep(event$size, 2)))
  history
}

admixture_to_history <- function(history, event, before, time) {
  number <- length(history$lanes) + 1L
  parents <- which(event$shares > 0)
  main_parent <- history$there[which.max(event$shares)]
  history$lanes <- append(history$lanes, number, match(main_parent, history$lanes))
  history$joins <- c(history$joins, list(list(
    from = history$there[parents], to = number, time = time, shares = event$shares[parents],
    pulse = FALSE
  )))
  history$there <- c(history$there, number)
  history
}

pulse_to_history <- function(history, event, before, time) {
  from <- setdiff(which(event$shares > 0), event$destination)
  if (length(from)) {
    history$joins <- c(history$joins, list(list(
      from = history$there[from], to = history$there[event$destination], time = time,
      shares = event$shares[from], pulse = TRUE
    )))
  }
  history
}

removal_to_history <- function(history, event, before, time) {
  history$there <- history$there[-event$population]
  history
}

reordering_to_history <- function(history, event, before, time) {
  history$there <- history$there[event$order]
  history
}

epoch_to_history <- function(history, event, before, time) {
  if (event$end == event$start) {
    return(history)
  }
  for (k in which(!event$frozen)) {
    size <- event$size[[k]]
    at <- seq(event$start, event$end, length.out = if (is.numeric(size)) 2 else 65)
    history$widths <- c(history$widths, list(list(
      number = history$there[k], time = before - (at - event$start),
      size = vapply(at, function(t) value_at(size, t), 0)
    )))
  }
  history$flows <- c(history$flows, list(epoch_flows(event, history$there, before, time)))
  history
}

# A data frame of migration, with the rates in the middle of the epoch.
epoch_flows <- function(event, there, before, time) {
  n <- length(there)
  pairs <- expand.grid(from = seq_len(n), to = seq_len(n))
  rates <- vapply(event$migration, value_at, 0, (event$start + event$end) / 2)
  pairs$rate <- rates[(pairs$to - 1) * n + pairs$from]
  pairs <- pairs[pairs$from != pairs$to & pairs$rate > 0, ]
  # Spread the arrows evenly over the epoch.
  share <- seq_len(nrow(pairs)) / (nrow(pairs) + 1)
  data.frame(from = there[pairs$from], to = there[pairs$to], rate = pairs$rate,
             time = before + share * (time - before))
}
