# Other orders of a history's splits, tried where a fit ends with two splits at the same time.
#
# In a wrong order, the splits that should be exchanged move together until they touch. The
# exchange is then a short step to a history that is nearly the same.

# The ranks of splits that the next older split follows within this share of its own time.
touching <- function(history, within = 0.1) {
  times <- sort(unname(history$splits))
  which(diff(times) < within * times[-1])
}

# The best fit that such exchanges reach from `fit`, or NULL if none is better. `search` fits
# list(history =, objective =) from a start.
better_order <- function(fit, start, search) {
  better <- NULL
  repeat {
    best <- better %||% fit
    tries <- lapply(neighbouring_orders(best$history, start), search)
    objectives <- vapply(tries, `[[`, 0, "objective")
    if (!any(objectives < best$objective)) {
      return(better)
    }
    better <- tries[[which.min(objectives)]]
  }
}

# Histories in which two touching splits are exchanged, with the sizes of `start`.
neighbouring_orders <- function(history, start) {
  joins <- ranked_joins(history)
  joins$size <- ranked_joins(start)$size
  all <- lapply(touching(history), function(k) {
    # The search in the exchanged order begins where the splits are some distance apart.
    later <- seq_along(joins$time) > k
    apart <- joins
    apart$time[later] <- joins$time[later] + 0.2 * joins$time[k]
    lapply(exchanges(apart, k), history_of_joins, history = history)
  })
  unlist(all, recursive = FALSE)
}

# The other orders of joins k and k + 1. If they unite three populations, any other two of these may
# join first. Otherwise the two joins change places.
exchanges <- function(joins, k) {
  pairs <- list(c(joins$from[k], joins$into[k]), c(joins$from[k + 1], joins$into[k + 1]))
  three <- unique(unlist(pairs))
  with_pairs <- function(first, second) {
    joins$from[k + 0:1] <- c(first[1], second[1])
    joins$into[k + 0:1] <- c(first[2], second[2])
    joins
  }
  if (length(three) == 4) {
    return(list(with_pairs(pairs[[2]], pairs[[1]])))
  }
  # Older joins refer to the united population by this index.
  name <- joins$into[k + 1]
  lapply(pairs[[1]], function(last) {
    first <- setdiff(three, last)
    if (last == name) {
      with_pairs(first, c(first[2], name))
    } else {
      with_pairs(c(setdiff(first, name), name), c(last, name))
    }
  })
}

# The joins from the most recent on. Population 0 is the focal one.
ranked_joins <- function(history) {
  from <- order(history$splits)
  list(
    from = from, into = history$into[from], time = unname(history$splits)[from],
    size = history$sizes[from]
  )
}

history_of_joins <- function(joins, history) {
  history$splits[joins$from] <- joins$time
  history$sizes[joins$from] <- joins$size
  history$into[joins$from] <- as.integer(joins$into)
  history
}

# ---- Messages and warnings --------------------------------------------------------------

tell_of_order <- function(history, gain) {
  joins <- ranked_joins(history)
  names <- quoted(outgroup_names(history))
  into <- c("the focal species", names)[joins$into + 1]
  inform_ancify(sprintf(
    "Another order of splits than that of `history` has a log-likelihood higher by %s: %s.",
    format_count(round(gain)), paste(names[joins$from], "joins", into, collapse = ", ")
  ))
}

warn_about_touching_splits <- function(history) {
  at <- touching(history, 0.01)
  if (length(at)) {
    names <- quoted(outgroup_names(history))[order(history$splits)]
    warn_ancify(
      sprintf(
        paste(
          "These splits are at nearly the same time, so the data do not tell their order: %s.",
          "Use more sites, leave out one of these outgroups, or try other orders."
        ),
        enumerate(names[sort(unique(c(at, at + 1)))])
      ),
      "fit"
    )
  }
}
