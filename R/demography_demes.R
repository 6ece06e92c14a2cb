# Translates events of a demographic model into a Demes graph.

is_deme_name <- function(x) grepl("^[[:alpha:]_][[:alnum:]_]*$", x)

refuse_in_demes <- function(what) {
  abort_ancify(sprintf("A Demes file cannot describe this model: %s.", what), "input")
}

# The `to_demes` of rows of event_rows(); `about` is list(n =, names =, before =, time =).

equilibrium_to_demes <- function(graph, event, about) {
  if (event$selection != 0) refuse_in_demes("there is selection")
  epoch <- list(start_size = about$n * event$size, end_time = about$time)
  graph$demes <- list(list(name = about$names[1], epochs = list(epoch)))
  graph$there <- 1L
  graph$theta <- event$theta
  graph
}

admixture_to_demes <- function(graph, event, about) {
  shares <- shares_of_older(graph, event, about)
  parents <- which(shares > 0)
  check_not_stopped(graph, parents)
  number <- length(graph$demes) + 1L
  graph$demes[[number]] <- list(
    name = about$names[number], ancestors = as.list(about$names[parents]),
    proportions = as.list(shares[parents]), start_time = about$time, epochs = list()
  )
  graph$there <- c(graph$there, number)
  graph
}

# The parents' shares, by deme index. An ancestor must be older than its child, so a
# deme that begins at exactly this time is replaced by its own ancestors.
shares_of_older <- function(graph, event, about) {
  shares <- numeric(length(graph$demes))
  shares[graph$there] <- event$shares
  for (number in rev(seq_along(shares))) {
    deme <- graph$demes[[number]]
    if (shares[number] > 0 && identical(deme$start_time, about$time)) {
      from <- match(unlist(deme$ancestors), about$names)
      shares[from] <- shares[from] + shares[number] * unlist(deme$proportions)
      shares[number] <- 0
    }
  }
  shares
}

pulse_to_demes <- function(graph, event, about) {
  from <- setdiff(which(event$shares > 0), event$destination)
  if (!length(from)) {
    return(graph)
  }
  check_not_stopped(graph, graph$there[c(from, event$destination)])
  starts <- vapply(graph$demes, function(deme) deme$start_time %||% Inf, 0)
  if (any(starts <= about$time)) {
    refuse_in_demes("a pulse comes directly after a split")
  }
  if (about$time == 0) refuse_in_demes("a pulse is at the present")
  graph$pulses <- c(graph$pulses, list(list(
    sources = as.list(about$names[graph$there[from]]), proportions = as.list(event$shares[from]),
    dest = about$names[graph$there[event$destination]], time = about$time
  )))
  graph
}

removal_to_demes <- function(graph, event, about) {
  graph$there <- graph$there[-event$population]
  graph
}

reordering_to_demes <- function(graph, event, about) {
  graph$there <- graph$there[event$order]
  graph
}

epoch_to_demes <- function(graph, event, about) {
  if (event$end == event$start) {
    return(graph)
  }
  if (signif(about$before, 15) == signif(about$time, 15)) {
    refuse_in_demes("an epoch is too short")
  }
  check_demes_epoch(event, graph$theta)
  check_not_stopped(graph, graph$there[!event$frozen])
  graph$stopped <- union(graph$stopped, graph$there[event$frozen])
  for (k in which(!event$frozen)) {
    number <- graph$there[k]
    epoch <- demes_size(event$size[[k]], event, about$n, about$time)
    graph$demes[[number]]$epochs <- c(graph$demes[[number]]$epochs, list(epoch))
  }
  rates <- demes_rates(event, about$names[graph$there], about)
  graph$migrations <- c(graph$migrations, rates)
  graph
}

check_not_stopped <- function(graph, demes) {
  if (any(demes %in% graph$stopped)) {
    refuse_in_demes("a population changes after it was frozen")
  }
}

check_demes_epoch <- function(event, theta) {
  is_zero <- function(history) is.numeric(history) && history == 0
  if (!all(vapply(event$selection, is_zero, NA))) refuse_in_demes("there is selection")
  if (!identical(event$theta, theta)) refuse_in_demes("the mutation rate changes")
  if (!all(event$mutates | event$frozen)) refuse_in_demes("a population has no new mutations")
  histories <- c(event$size, event$migration)
  if (any(vapply(histories, is.function, NA))) {
    refuse_in_demes("a size or a rate is a function; use size_history()")
  }
}

# A deme's epoch, with its sizes at the start and end of the event.
demes_size <- function(size, event, n, time) {
  if (is.numeric(size)) {
    return(list(start_size = n * size, end_time = time))
  }
  list(
    start_size = n * value_at(size, event$start), end_size = n * value_at(size, event$end),
    end_time = time,
    size_function = if (size$shape == "linear") "linear" else "exponential"
  )
}

demes_rates <- function(event, names, about) {
  k <- length(names)
  rates <- list()
  for (i in seq_len(k)) {
    into <- event$migration[(i - 1) * k + setdiff(seq_len(k), i)]
    if (!all(vapply(into, is.numeric, NA))) refuse_in_demes("a migration rate changes in an epoch")
    if (sum(unlist(into)) > 2 * about$n) {
      refuse_in_demes("the shares of migrants into a population add up to more than 1")
    }
    for (j in setdiff(seq_len(k), i)) {
      rate <- event$migration[[(i - 1) * k + j]]
      if (rate > 0) {
        rates <- c(rates, list(list(
          source = names[j], dest = names[i], rate = rate / (2 * about$n),
          start_time = about$before, end_time = about$time
        )))
      }
    }
  }
  rates
}
