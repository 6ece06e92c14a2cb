# Events from the graph of a Demes file.

# The model's events, from the oldest time of the graph to the present.
demes_events <- function(graph, samples) {
  graph <- demes_ancestry_of(graph, samples)
  demes <- graph$demes
  graph$starts <- vapply(demes, `[[`, 0, "start")
  graph$pulse_times <- vapply(graph$pulses, `[[`, 0, "time")
  times <- c(
    graph$starts, unlist(lapply(demes, function(deme) deme$epochs$end)), graph$migrations$start,
    graph$migrations$end, graph$pulse_times, 0
  )
  times <- sort(unique(times[is.finite(times)]), decreasing = TRUE)
  events <- list(event_equilibrium())
  there <- names(demes)[is.infinite(graph$starts)]
  for (i in seq_along(times)) {
    now <- demes_at_time(graph, times[i], there, samples)
    events <- c(events, now$events)
    there <- now$there
    if (i < length(times)) {
      events <- c(events, list(demes_epoch(graph, there, times[i], times[i + 1])))
    }
  }
  gone <- setdiff(there, samples)
  for (deme in gone) {
    events <- c(events, list(event_removal(match(deme, there))))
    there <- setdiff(there, deme)
  }
  order <- match(samples, there)
  if (any(order != seq_along(order))) events <- c(events, list(event_reordering(order)))
  events
}

# The events at one time: pulses, births of demes, pulses into these, ends of demes. An unsampled
# deme that ends at the birth of its child becomes that child.
demes_at_time <- function(graph, time, there, samples) {
  born <- graph$demes[graph$starts == time]
  events <- demes_pulses_at(graph, time, there, except = names(born))
  ends <- function(name) demes_end(graph$demes[[name]]) == time && time > 0 && !name %in% samples
  give_later <- unlist(lapply(graph$pulses[graph$pulse_times == time], function(pulse) {
    if (pulse$dest %in% names(born)) pulse$sources
  }))
  remove <- function(names) {
    for (name in names) {
      events <<- c(events, list(event_removal(match(name, there))))
      there <<- setdiff(there, name)
    }
  }
  # Demes that end without descendants are removed first, to free places.
  parents <- unlist(lapply(born, `[[`, "ancestors"))
  remove(Filter(function(name) ends(name) && !name %in% c(parents, give_later), there))
  for (k in seq_along(born)) {
    later <- c(give_later, unlist(lapply(born[-seq_len(k)], `[[`, "ancestors")))
    free <- Filter(function(name) ends(name) && !name %in% later, born[[k]]$ancestors)
    now <- demes_birth(born[[k]], free, there, graph$refuse)
    events <- c(events, now$events)
    there <- now$there
  }
  events <- c(events, demes_pulses_at(graph, time, there, only = names(born)))
  remove(Filter(ends, there))
  list(events = events, there = there)
}

demes_pulses_at <- function(graph, time, there, except = character(), only = names(graph$demes)) {
  pulses <- Filter(function(pulse) {
    !pulse$dest %in% except && pulse$dest %in% only
  }, graph$pulses[graph$pulse_times == time])
  lapply(pulses, function(pulse) {
    props <- stats::setNames(pulse$shares, match(pulse$sources, there))
    event_pulse(match(pulse$dest, there), props)
  })
}

# The birth of a deme. `free`: ancestors whose place it may take. It takes one if it has no other
# ancestor, or if the model is full. A pulse then brings other ancestry.
demes_birth <- function(deme, free, there, refuse) {
  parents <- match(deme$ancestors, there)
  is_full <- length(there) == core_limits()$populations
  if (length(free) && (length(parents) == 1 || is_full)) {
    place <- match(free[1], there)
    others <- parents != place
    props <- stats::setNames(deme$proportions[others], parents[others])
    return(list(
      events = if (any(others)) list(event_pulse(place, props)),
      there = replace(there, place, deme$name)
    ))
  }
  if (is_full) {
    refuse(paste("there are more than %d demes that samples descend from when %s begins,",
                 "including those that end at that time"), core_limits()$populations, deme$name)
  }
  shares <- replace(numeric(length(there)), parents, deme$proportions)
  event <- if (length(parents) == 1) event_split(parents) else event_admixture(shares)
  list(events = list(event), there = c(there, deme$name))
}

demes_epoch <- function(graph, there, start, end) {
  n <- graph$reference_size
  frozen <- vapply(there, function(name) demes_end(graph$demes[[name]]) >= start, NA)
  nu <- lapply(there, function(name) {
    epochs <- graph$demes[[name]]$epochs
    epoch <- epochs[which(epochs$start >= start & epochs$end <= end), ]
    if (!nrow(epoch)) {
      return(utils::tail(epochs$to, 1) / n)
    }
    if (epoch$from == epoch$to) {
      return(epoch$from / n)
    }
    size_history(demes_size_at(epoch, start) / n, demes_size_at(epoch, end) / n, shape = epoch$how)
  })
  m <- matrix(0, length(there), length(there))
  now <- graph$migrations[graph$migrations$start >= start & graph$migrations$end <= end, ]
  for (i in seq_len(NROW(now))) {
    pair <- cbind(match(now$dest[i], there), match(now$source[i], there))
    m[pair] <- m[pair] + 2 * n * now$rate[i]
  }
  if (any(rowSums(m) > 2 * n * (1 + 1e-9))) {
    graph$refuse("the migration rates into a deme add up to more than 1, from %s to %s ago",
                 format(start), format(end))
  }
  event_epoch((start - end) / (2 * n), nu, m, frozen = unname(frozen))
}
