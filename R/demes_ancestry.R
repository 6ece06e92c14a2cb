# Removes from a Demes graph everything that contributes no ancestry to the samples.

# The graph without demes that contribute nothing to a sampled one. An unsampled deme ends with its
# last contribution.
demes_ancestry_of <- function(graph, samples) {
  until <- demes_last_sent(graph, samples)
  starts <- vapply(graph$demes, `[[`, 0, "start")
  graph$demes <- lapply(graph$demes[until < starts], function(deme) {
    if (deme$name %in% samples) deme else demes_cut(deme, until[[deme$name]])
  })
  graph$pulses <- Filter(function(pulse) until[[pulse$dest]] <= pulse$time, graph$pulses)
  if (NROW(graph$migrations)) {
    last <- pmax(graph$migrations$end, until[graph$migrations$dest])
    graph$migrations$end <- unname(last)
    graph$migrations <- graph$migrations[last < graph$migrations$start, , drop = FALSE]
  }
  graph
}

# For each deme the most recent time ago at which it holds ancestors of the samples, Inf if never.
# Ancestry moves only back in time, so each deme is settled once, the most recent first.
demes_last_sent <- function(graph, samples) {
  until <- vapply(graph$demes, function(deme) {
    if (deme$name %in% samples) demes_end(deme) else Inf
  }, 0)
  pulses <- split(graph$pulses, vapply(graph$pulses, `[[`, "", "dest"))
  migrations <- if (NROW(graph$migrations)) split(graph$migrations, graph$migrations$dest)
  open <- until
  while (length(open) && min(open) < Inf) {
    dest <- names(which.min(open))
    all_sent <- demes_sent(graph$demes[[dest]], until[[dest]], pulses[[dest]], migrations[[dest]])
    for (sent in all_sent) until[sent$sources] <- pmin(until[sent$sources], sent$time)
    open <- until[setdiff(names(open), dest)]
  }
  until
}

# list(sources =, time =) for each way in which alleles enter a deme that contributes to samples
# until `until`: its ancestry, and the pulses and migrations into it.
demes_sent <- function(deme, until, pulses, migrations) {
  by_ancestry <- if (until < deme$start) list(list(sources = deme$ancestors, time = deme$start))
  by_pulses <- lapply(Filter(function(pulse) until <= pulse$time, pulses), function(pulse) {
    list(sources = pulse$sources[pulse$shares > 0], time = pulse$time)
  })
  sending <- migrations[migrations$rate > 0 & until < migrations$start, ]
  by_migration <- Map(function(source, end) {
    list(sources = source, time = max(end, until))
  }, sending$source, sending$end)
  c(by_ancestry, by_pulses, by_migration)
}

# The deme, truncated at a time ago.
demes_cut <- function(deme, time) {
  epochs <- deme$epochs[deme$epochs$start > time, ]
  n <- nrow(epochs)
  last <- epochs[n, ]
  if (last$end < time) {
    epochs$to[n] <- demes_size_at(last, time)
    epochs$end[n] <- time
  }
  deme$epochs <- epochs
  deme
}

# The size of a deme in an epoch, at a time ago.
demes_size_at <- function(epoch, time) {
  if (epoch$from == epoch$to) {
    return(epoch$from)
  }
  share <- (epoch$start - time) / (epoch$start - epoch$end)
  if (epoch$how == "linear") epoch$from + share * (epoch$to - epoch$from)
  else epoch$from * (epoch$to / epoch$from)^share
}
