# Reads the demes, migrations and pulses of a Demes file.

# The graph with all defaults filled in and times in generations ago: `demes`, `migrations`,
# `pulses`, and facts of the file. A deme has its name, ancestors, proportions, start, and epochs (a
# data frame of start, end, from, to, asexual and how).
demes_graph <- function(yaml, refuse) {
  check_demes_fields(yaml, "the file", demes_fields$file, refuse)
  defaults <- as.list(yaml$defaults)
  check_demes_fields(defaults, "defaults", demes_fields$defaults, refuse)
  for (of in names(defaults)) {
    allowed <- setdiff(demes_fields[[of]], c("name", "defaults", "epochs"))
    check_demes_fields(defaults[[of]], paste("defaults of", of), allowed, refuse)
  }
  generation <- demes_generation(yaml, refuse)
  demes <- list()
  for (deme in demes_mappings(yaml$demes, "demes", refuse)) {
    check_demes_fields(deme, "a deme", demes_fields$deme, refuse)
    one <- demes_deme(with_demes_defaults(deme, defaults$deme), demes,
                      as.list(defaults$epoch), generation, refuse)
    demes[[one$name]] <- one
  }
  roots <- Filter(function(deme) is.infinite(deme$start), demes)
  if (length(roots) != 1) {
    refuse("%d demes have no ancestors, but a model needs exactly one such deme", length(roots))
  }
  list(
    demes = demes, reference_size = roots[[1]]$epochs$from[1], refuse = refuse,
    migrations = demes_migrations(yaml, demes, generation, refuse),
    pulses = demes_pulses(yaml, demes, generation, refuse),
    samples = demes_written_samples(yaml$metadata, names(demes)),
    time_units = yaml$time_units, generation_time = generation
  )
}

demes_deme <- function(deme, earlier, epoch_defaults, generation, refuse) {
  name <- deme$name
  good <- is.character(name) && length(name) == 1 && is_deme_name(name)
  if (!good || name %in% names(earlier)) {
    refuse("each deme needs a unique name of letters, digits and _, not %s", show_value(name))
  }
  parents <- demes_ancestry(deme, earlier, refuse)
  start <- demes_start(deme, earlier[parents$ancestors], generation, refuse)
  epochs <- demes_epochs(deme, epoch_defaults, start, refuse)
  epochs[c("start", "end")] <- epochs[c("start", "end")] / generation
  c(list(name = name, start = start / generation, epochs = epochs), parents)
}

# The time ago at which a deme starts, in the file's time units.
demes_start <- function(deme, parents, generation, refuse) {
  start <- deme$start_time
  if (is.null(start) && length(parents) == 1) start <- demes_end(parents[[1]]) * generation
  start <- demes_number(start %||% Inf, paste("the start_time of deme", deme$name), refuse)
  if (is.finite(start) != (length(parents) > 0)) {
    refuse("deme %s must have both ancestors and a start_time, or neither", deme$name)
  }
  for (parent in parents) {
    if (!is_alive(parent, start / generation)) {
      refuse("deme %s starts at %s, but its ancestor %s does not exist then", deme$name,
             format(start), parent$name)
    }
  }
  start
}

# True if a deme can be an ancestor or a source at a time. Its end is included, its start is not.
is_alive <- function(deme, time) demes_end(deme) <= time && time < deme$start

demes_ancestry <- function(deme, earlier, refuse) {
  what <- paste("the ancestors of deme", deme$name)
  ancestors <- demes_names(deme$ancestors, what, refuse, core_limits()$populations)
  unknown <- setdiff(ancestors, names(earlier))
  if (length(unknown)) {
    refuse("deme %s has the ancestor %s, which is no earlier deme", deme$name, unknown[1])
  }
  proportions <- demes_shares(
    deme$proportions %||% if (length(ancestors) == 1) 1, ancestors,
    paste("the proportions of deme", deme$name), refuse, .Machine$double.xmin
  )
  sum <- sum(proportions)
  if (length(ancestors) && abs(sum - 1) > 1e-6) {
    refuse("the proportions of deme %s have the sum %s, not 1", deme$name, format(sum))
  }
  list(ancestors = ancestors, proportions = proportions / sum)
}

# A data frame with a row for each epoch, in the file's time units.
demes_epochs <- function(deme, defaults, start, refuse) {
  check_demes_fields(deme$defaults, paste("defaults of deme", deme$name), "epoch", refuse)
  own <- deme$defaults$epoch
  check_demes_fields(own, paste("defaults of epochs of deme", deme$name), demes_fields$epoch,
                     refuse)
  defaults <- with_demes_defaults(own, defaults)
  given <- list(list())
  if (!is.null(deme$epochs)) {
    given <- demes_mappings(deme$epochs, paste("the epochs of deme", deme$name), refuse)
  }
  rows <- list()
  size <- NULL
  for (i in seq_along(given)) {
    what <- sprintf("epoch %d of deme %s", i, deme$name)
    check_demes_fields(given[[i]], what, demes_fields$epoch, refuse)
    epoch <- with_demes_defaults(given[[i]], defaults)
    number <- function(field, default, most = Inf) {
      demes_number(epoch[[field]] %||% default, sprintf("the %s of %s", field, what), refuse,
                   most = most)
    }
    largest <- .Machine$double.xmax
    from <- number("start_size", size %||% epoch$end_size, largest)
    rows[[i]] <- data.frame(
      start = start, end = number("end_time", if (i == length(given)) 0, largest), from = from,
      to = number("end_size", from, largest),
      asexual = number("cloning_rate", 0) + number("selfing_rate", 0)
    )
    rows[[i]]$how <- demes_way(epoch$size_function, rows[[i]], what, refuse)
    check_demes_epoch_read(rows[[i]], what, refuse)
    start <- rows[[i]]$end
    size <- rows[[i]]$to
  }
  do.call(rbind, rows)
}

demes_way <- function(given, epoch, what, refuse) {
  if (is.null(given)) {
    return(if (epoch$from == epoch$to) "constant" else "exponential")
  }
  ways <- c("constant", "exponential", "linear")
  if (!is.character(given) || length(given) != 1 || !given %in% ways) {
    refuse("the size_function of %s is %s: it must be one of %s", what, show_value(given),
           enumerate(ways))
  }
  given
}

check_demes_epoch_read <- function(epoch, what, refuse) {
  if (epoch$asexual > 0) {
    refuse("%s has a cloning_rate or selfing_rate above 0, which is not supported", what)
  }
  must_stay <- epoch$how == "constant" || is.infinite(epoch$start)
  good <- epoch$from > 0 && epoch$to > 0 && epoch$end < epoch$start &&
    !(must_stay && epoch$from != epoch$to)
  if (!good) {
    refuse("%s is invalid: time from %s to %s, %s size from %s to %s", what, format(epoch$start),
           format(epoch$end), epoch$how, format(epoch$from), format(epoch$to))
  }
}

demes_end <- function(deme) deme$epochs$end[nrow(deme$epochs)]

# A data frame of source, dest, rate, start and end.
demes_migrations <- function(yaml, demes, generation, refuse) {
  rows <- lapply(demes_entries(yaml, "migration", refuse), function(one) {
    pairs <- demes_pairs(one, names(demes), refuse)
    time <- function(x) if (!is.null(x)) demes_number(x, "a migration's time", refuse) / generation
    both <- function(f, g) {
      mapply(function(a, b) f(g(demes[[a]]), g(demes[[b]])), pairs$source, pairs$dest)
    }
    first <- both(min, function(deme) deme$start)
    last <- both(max, demes_end)
    pairs$rate <- demes_number(one$rate, "a migration's rate", refuse, most = 1)
    pairs$start <- time(one$start_time) %||% first
    pairs$end <- time(one$end_time) %||% last
    wrong <- which(pairs$start > first | pairs$end < last | pairs$start <= pairs$end)
    if (length(wrong)) {
      k <- wrong[1]
      refuse("a migration from %s to %s lasts from %s to %s, but both demes from %s to %s",
             pairs$source[k], pairs$dest[k], format(pairs$start[k] * generation),
             format(pairs$end[k] * generation), format(first[[k]] * generation),
             format(last[[k]] * generation))
    }
    pairs
  })
  check_demes_overlaps(do.call(rbind, rows), refuse)
}

demes_pairs <- function(one, names, refuse) {
  if (is.null(one$demes) == is.null(one$source) || is.null(one$source) != is.null(one$dest)) {
    refuse("a migration must have either demes, or a source and a dest")
  }
  of <- function(field, most = 1) {
    demes_names(one[[field]], paste("a migration's", field), refuse, most)
  }
  pairs <- if (is.null(one$demes)) {
    expand.grid(source = of("source"), dest = of("dest"), stringsAsFactors = FALSE)
  } else {
    both <- of("demes", core_limits()$populations)
    all <- expand.grid(source = both, dest = both, stringsAsFactors = FALSE)
    all[all$source != all$dest, ]
  }
  if (!nrow(pairs) || any(pairs$source == pairs$dest)) {
    refuse("a migration must be between different demes")
  }
  unknown <- setdiff(unlist(pairs), names)
  if (length(unknown)) refuse("a migration has the unknown deme %s", quoted(unknown[1]))
  pairs
}

check_demes_overlaps <- function(migrations, refuse) {
  n <- NROW(migrations)
  if (n < 2) {
    return(migrations)
  }
  # Sorted by pair, the oldest first: if any two overlap, two neighbours do.
  sorted <- migrations[order(migrations$source, migrations$dest, -migrations$start), ]
  one <- sorted[-n, ]
  next_one <- sorted[-1, ]
  wrong <- which(
    one$source == next_one$source & one$dest == next_one$dest & next_one$start > one$end
  )
  if (length(wrong)) {
    refuse("migrations from %s to %s overlap", one$source[wrong[1]], one$dest[wrong[1]])
  }
  migrations
}

demes_pulses <- function(yaml, demes, generation, refuse) {
  pulses <- lapply(demes_entries(yaml, "pulse", refuse), function(one) {
    pulse <- demes_pulse(one, names(demes), refuse)
    time <- pulse$time / generation
    there <- vapply(demes[pulse$sources], is_alive, NA, time)
    dest <- demes[[pulse$dest]]
    if (!all(there) || time <= demes_end(dest) || time > dest$start) {
      refuse("a pulse from %s to %s at %s is at a time when not all of them exist",
             enumerate(pulse$sources), dest$name, format(pulse$time))
    }
    replace(pulse, "time", time)
  })
  pulses[order(-vapply(pulses, `[[`, 0, "time"))]
}

demes_pulse <- function(one, names, refuse) {
  sources <- demes_names(one$sources, "a pulse's sources", refuse, core_limits()$populations)
  dest <- demes_names(one$dest, "a pulse's dest", refuse, 1)
  if (!length(sources) || !length(dest) || dest %in% sources || !all(c(sources, dest) %in% names)) {
    refuse("a pulse needs sources and another deme as its dest")
  }
  shares <- demes_shares(one$proportions, sources, "a pulse's proportions", refuse)
  if (sum(shares) > 1) refuse("a pulse's proportions have the sum %s, above 1", format(sum(shares)))
  time <- demes_number(one$time, "a pulse's time", refuse, .Machine$double.xmin)
  list(sources = sources, shares = shares, dest = dest, time = time)
}

demes_samples <- function(graph, samples) {
  ends <- vapply(graph$demes, demes_end, 0)
  if (is.null(samples)) {
    samples <- graph$samples %||% names(ends)[ends == 0]
    if (!length(samples)) {
      graph$refuse("no deme exists at the present; name the demes to sample in `samples`")
    }
  }
  refuse_if(!is.character(samples) || !length(samples) || anyDuplicated(samples) ||
              !all(samples %in% names(ends)), "`samples` must be some of the demes %s, each once.",
            enumerate(names(ends)))
  samples
}
