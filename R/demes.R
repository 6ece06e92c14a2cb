#' Demographic models in Demes files
#'
#' Demes is a format for demographic models that many programs read and write (Gower and others
#' 2022).
#'
#' @details
#' A model of this package is in units of a reference size: for a Demes file that is the size at
#' which the oldest deme begins. Times in years are divided by the file's generation time. A deme
#' that ends before the present and is sampled is one of long ago: it stays as it was.
#'
#' Cloning and selfing have no place in diffusion models here: a file with them is an error, as is
#' more than one deme without ancestors, and a time at which there are more than five demes.
#'
#' @param file The path of a Demes file, in YAML.
#' @param samples Names of the demes that are sampled, in the spectrum's order. Default: those that
#'   there are at the present.
#' @param model A [demography()], or a list of events.
#' @param params The values of the model's parameters.
#' @param reference_size Diploid individuals of the reference population.
#' @param demes Names of the model's populations, in the order in which they come up. Default:
#'   `pop1` and so on.
#' @param description A text for the file.
#' @return `read_demes()`: a [demography()] without parameters, with the attributes `samples` and
#'   `reference_size`. `write_demes()`: the path, invisibly. Times there are in generations.
#' @section Errors:
#' `ancify_file_error` for a file that can't be read or written; `ancify_format_error` for what is
#' no Demes file, or one that can't be a model here; `ancify_input_error` for models that Demes
#' can't say: with selection, mutation that changes, or sizes and rates that are functions.
#' @references
#' Gower and others (2022) Demes: a standard format for demographic models. Genetics 222:iyac131.
#' @seealso [demography()]
#' @export
#' @examples
#' file <- tempfile(fileext = ".yaml")
#' write_demes(demography_model("split_mig"), file, c(nu1 = 2, nu2 = 0.5, time = 0.1, m = 1),
#'             reference_size = 10000, demes = c("YRI", "CEU"))
#' writeLines(readLines(file))
#' read_demes(file)
read_demes <- function(file, samples = NULL) {
  file <- check_path(file, "file")
  graph <- demes_graph(file)
  samples <- demes_samples(graph, samples)
  model <- do.call(demography, demes_events(graph, samples))
  attr(model, "samples") <- samples
  attr(model, "reference_size") <- graph$reference_size
  model
}

# ---- Reading -------------------------------------------------------------------------------------

# What is wrong in this file.
demes_problem <- function(file, ...) {
  abort_ancify(sprintf("'%s': %s.", file, sprintf(...)), "format", file = file, line = 0)
}

# With all defaults filled in, times in generations ago: demes, a list by name, of ancestors,
# proportions, start, and epochs, a data frame of start, end, from, to and how; migrations and
# pulses.
demes_graph <- function(file) {
  if (!file.exists(file)) {
    abort_ancify(sprintf("'%s': there is no such file.", file), "file", file = file)
  }
  yaml <- tryCatch(yaml::read_yaml(file), error = function(error) {
    demes_problem(file, "this is no YAML: %s", conditionMessage(error))
  })
  if (!is.list(yaml) || !is.list(yaml$demes) || !length(yaml$demes)) {
    demes_problem(file, "a Demes file has a list of demes")
  }
  refuse <- function(...) demes_problem(file, ...)
  generation <- if (identical(yaml$time_units, "generations")) {
    1
  } else {
    demes_number(yaml$generation_time, "the generation_time", refuse, .Machine$double.xmin)
  }
  demes <- list()
  for (deme in yaml$demes) {
    one <- demes_deme(utils::modifyList(as.list(yaml$defaults$deme), deme), demes,
                      as.list(yaml$defaults$epoch), generation, refuse)
    demes[[one$name]] <- one
  }
  roots <- Filter(function(deme) is.infinite(deme$start), demes)
  if (length(roots) != 1) {
    refuse("%s have no beginning: a model here has one ancestral population",
           count_of(length(roots), "deme"))
  }
  list(
    demes = demes, reference_size = roots[[1]]$epochs$from[1],
    migrations = demes_migrations(yaml, demes, generation, refuse),
    pulses = demes_pulses(yaml, demes, generation, refuse)
  )
}

demes_number <- function(x, what, refuse, least = 0) {
  # YAML takes 2e4 and Infinity for texts.
  given <- x
  if (is.character(x)) x <- suppressWarnings(as.numeric(x))
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x < least) {
    refuse("%s is %s: it must be a number%s", what, show_value(given),
           if (least == 0) ", not below 0" else " above 0")
  }
  as.double(x)
}

demes_deme <- function(deme, earlier, epoch_defaults, generation, refuse) {
  name <- deme$name
  if (!is.character(name) || length(name) != 1 || name %in% names(earlier)) {
    refuse("each deme needs a name of its own, not %s", show_value(name))
  }
  parents <- demes_ancestry(deme, earlier, refuse)
  start <- deme$start_time
  if (is.null(start) && length(parents$ancestors) == 1) {
    start <- demes_end(earlier[[parents$ancestors]]) * generation
  }
  start <- demes_number(start %||% Inf, paste("the start_time of deme", name), refuse)
  if (is.finite(start) != (length(parents$ancestors) > 0)) {
    refuse("deme %s must have ancestors and a time at which it starts, or neither", name)
  }
  epochs <- demes_epochs(deme, epoch_defaults, start, refuse)
  epochs[c("start", "end")] <- epochs[c("start", "end")] / generation
  c(list(name = name, start = start / generation, epochs = epochs), parents)
}

demes_ancestry <- function(deme, earlier, refuse) {
  ancestors <- as.character(unlist(deme$ancestors))
  unknown <- setdiff(ancestors, names(earlier))
  if (length(unknown)) {
    refuse("deme %s has the ancestor %s, which is none before", deme$name, unknown[1])
  }
  proportions <- as.double(unlist(deme$proportions) %||% rep(1, length(ancestors) == 1))
  good <- length(proportions) == length(ancestors) &&
    (length(ancestors) == 0 || isTRUE(abs(sum(proportions) - 1) < 1e-6))
  if (!good) refuse("deme %s needs a proportion for each ancestor, with the sum 1", deme$name)
  list(ancestors = ancestors, proportions = proportions)
}

# A data frame with a row for each, in the file's units of time.
demes_epochs <- function(deme, defaults, start, refuse) {
  defaults <- utils::modifyList(defaults, as.list(deme$defaults$epoch))
  given <- lapply(deme$epochs %||% list(list()), function(epoch) {
    utils::modifyList(defaults, as.list(epoch))
  })
  rows <- list()
  size <- NULL
  for (i in seq_along(given)) {
    number <- function(field, default) {
      demes_number(given[[i]][[field]] %||% default,
                   sprintf("the %s of epoch %d of deme %s", field, i, deme$name), refuse)
    }
    from <- number("start_size", size %||% given[[i]]$end_size)
    rows[[i]] <- data.frame(
      start = start, end = number("end_time", if (i == length(given)) 0), from = from,
      to = number("end_size", from), asexual = number("cloning_rate", 0) + number("selfing_rate", 0)
    )
    rows[[i]]$how <- as.character(given[[i]]$size_function %||% demes_usual_way(rows[[i]]))[1]
    check_demes_epoch_read(rows[[i]], sprintf("epoch %d of deme %s", i, deme$name), refuse)
    start <- rows[[i]]$end
    size <- rows[[i]]$to
  }
  do.call(rbind, rows)
}

demes_usual_way <- function(epoch) if (epoch$from == epoch$to) "constant" else "exponential"

check_demes_epoch_read <- function(epoch, what, refuse) {
  if (epoch$asexual > 0) {
    refuse("%s has a cloning_rate or a selfing_rate above 0, which have no place here", what)
  }
  must_stay <- epoch$how == "constant" || is.infinite(epoch$start)
  good <- epoch$from > 0 && epoch$to > 0 && epoch$end < epoch$start &&
    epoch$how %in% c("constant", "exponential", "linear") && !(must_stay && epoch$from != epoch$to)
  if (!good) {
    refuse("%s goes from %s to %s, with a size from %s to %s (%s)", what, format(epoch$start),
           format(epoch$end), format(epoch$from), format(epoch$to), epoch$how)
  }
}

demes_end <- function(deme) deme$epochs$end[nrow(deme$epochs)]

# A data frame of source, dest, rate, start and end.
demes_migrations <- function(yaml, demes, generation, refuse) {
  rows <- lapply(yaml$migrations, function(one) {
    one <- utils::modifyList(as.list(yaml$defaults$migration), one)
    pairs <- if (is.null(one$demes)) {
      data.frame(source = one$source %||% NA, dest = one$dest %||% NA)
    } else {
      all <- expand.grid(source = unlist(one$demes), dest = unlist(one$demes),
                         stringsAsFactors = FALSE)
      all[all$source != all$dest, ]
    }
    if (!all(unlist(pairs) %in% names(demes))) refuse("a migration is between demes there are not")
    time <- function(x) if (is.null(x)) NULL else demes_number(x, "a migration's time", refuse)
    pairs$rate <- demes_number(one$rate, "a migration's rate", refuse)
    start <- time(one$start_time) %||% Inf
    end <- time(one$end_time) %||% 0
    both <- function(f, g) {
      vapply(seq_len(nrow(pairs)), function(i) {
        f(g(demes[[pairs$source[i]]]), g(demes[[pairs$dest[i]]]))
      }, 0)
    }
    pairs$start <- pmin(start / generation, both(min, function(deme) deme$start))
    pairs$end <- pmax(end / generation, both(max, demes_end))
    pairs
  })
  do.call(rbind, rows)
}

demes_pulses <- function(yaml, demes, generation, refuse) {
  pulses <- lapply(yaml$pulses, function(one) {
    one <- utils::modifyList(as.list(yaml$defaults$pulse), one)
    sources <- as.character(unlist(one$sources))
    shares <- as.double(unlist(one$proportions))
    if (length(sources) != length(shares) || !all(c(sources, one$dest) %in% names(demes)) ||
          length(one$dest) != 1 || !isTRUE(sum(shares) <= 1 && all(shares >= 0))) {
      refuse("a pulse needs sources, a proportion for each, and a dest")
    }
    list(
      sources = sources, shares = shares, dest = one$dest,
      time = demes_number(one$time, "a pulse's time", refuse) / generation
    )
  })
  pulses[order(-vapply(pulses, `[[`, 0, "time"))]
}

demes_samples <- function(graph, samples) {
  ends <- vapply(graph$demes, demes_end, 0)
  if (is.null(samples)) {
    return(names(ends)[ends == 0])
  }
  if (!is.character(samples) || !length(samples) || anyDuplicated(samples) ||
        !all(samples %in% names(ends))) {
    abort_ancify(
      sprintf("`samples` must be some of the demes %s, each once.", enumerate(names(ends))), "input"
    )
  }
  samples
}

# The model's events, from the oldest time at which anything happens to the present.
demes_events <- function(graph, samples) {
  demes <- graph$demes
  times <- c(
    unlist(lapply(demes, function(deme) c(deme$start, deme$epochs$end))),
    graph$migrations$start, graph$migrations$end, vapply(graph$pulses, `[[`, 0, "time"), 0
  )
  times <- sort(unique(times[is.finite(times)]), decreasing = TRUE)
  events <- list(event_equilibrium())
  there <- names(demes)[vapply(demes, function(deme) is.infinite(deme$start), NA)]
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

# What happens at a time: pulses, then demes begin, then demes end. A deme that ends where a child
# of its own begins, and is not sampled, becomes that child.
demes_at_time <- function(graph, time, there, samples) {
  pulses <- Filter(function(pulse) pulse$time == time, graph$pulses)
  events <- lapply(pulses, function(pulse) {
    props <- stats::setNames(pulse$shares, match(pulse$sources, there))
    event_pulse(match(pulse$dest, there), props)
  })
  ends <- function(name) demes_end(graph$demes[[name]]) == time && time > 0 && !name %in% samples
  born <- Filter(function(deme) deme$start == time, graph$demes)
  for (k in seq_along(born)) {
    later <- unlist(lapply(born[-seq_len(k)], `[[`, "ancestors"))
    parents <- born[[k]]$ancestors
    if (length(parents) == 1 && ends(parents) && !parents %in% later) {
      there[there == parents] <- born[[k]]$name
    } else {
      events <- c(events, list(demes_birth(born[[k]], there)))
      there <- c(there, born[[k]]$name)
    }
  }
  for (name in Filter(ends, there)) {
    events <- c(events, list(event_removal(match(name, there))))
    there <- setdiff(there, name)
  }
  list(events = events, there = there)
}

demes_birth <- function(deme, there) {
  parents <- match(deme$ancestors, there)
  if (length(parents) == 1) {
    return(event_split(parents))
  }
  event_admixture(replace(numeric(length(there)), parents, deme$proportions))
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
    at <- function(time) {
      share <- (epoch$start - time) / (epoch$start - epoch$end)
      if (epoch$how == "linear") epoch$from + share * (epoch$to - epoch$from)
      else epoch$from * (epoch$to / epoch$from)^share
    }
    course(at(start) / n, at(end) / n, shape = epoch$how)
  })
  m <- matrix(0, length(there), length(there))
  now <- graph$migrations[graph$migrations$start >= start & graph$migrations$end <= end, ]
  for (i in seq_len(NROW(now))) {
    pair <- cbind(match(now$dest[i], there), match(now$source[i], there))
    m[pair] <- m[pair] + 2 * n * now$rate[i]
  }
  event_epoch((start - end) / (2 * n), nu, m, frozen = unname(frozen))
}

# ---- Writing -------------------------------------------------------------------------------------

#' @rdname read_demes
#' @export
write_demes <- function(model, file, params = NULL, reference_size, demes = NULL,
                        description = NULL) {
  file <- check_path(file, "file")
  check_positive(reference_size, "reference_size", 1)
  events <- core_events(events_at(model, params))
  graph <- demes_of_events(events, reference_size, check_deme_names(demes, events))
  yaml <- c(list(description = description, time_units = "generations"), graph)
  write_text(file, yaml::as.yaml(Filter(length, yaml), precision = 15,
                                 indent.mapping.sequence = TRUE))
  invisible(file)
}

check_deme_names <- function(demes, events) {
  n <- sum(vapply(events, `[[`, "", "kind") %in% c("equilibrium", "admixture"))
  demes <- demes %||% paste0("pop", seq_len(n))
  if (!is.character(demes) || length(demes) != n || anyDuplicated(demes) || anyNA(demes)) {
    abort_ancify(
      sprintf("`demes` must be %s, all of them different.", count_of(n, "name")), "input"
    )
  }
  demes
}

refuse_in_demes <- function(what) {
  abort_ancify(sprintf("A Demes file can't say that %s.", what), "input")
}

# What is said so far of demes, migrations and pulses is in `graph`; `there` are the numbers of the
# demes that are the model's populations now.
demes_of_events <- function(events, n, names) {
  durations <- vapply(events, function(event) {
    if (event$kind == "epoch") event$end - event$start else 0
  }, 0)
  # Generations ago, after each event.
  ago <- 2 * n * (sum(durations) - cumsum(durations))
  graph <- list(demes = list(), migrations = list(), pulses = list(), there = integer())
  for (i in seq_along(events)) {
    tell <- demes_tellers[[events[[i]]$kind]]
    graph <- tell(graph, events[[i]], list(n = n, names = names, time = ago[i]))
  }
  graph$demes <- lapply(graph$demes, finish_deme)
  graph[c("demes", "migrations", "pulses")]
}

# By the kind of an event, functions of the graph, the event, and list(n =, names =, time =).
demes_tellers <- list(
  equilibrium = function(graph, event, about) {
    if (event$selection != 0) refuse_in_demes("there is selection")
    epoch <- list(start_size = about$n * event$size, end_time = about$time)
    graph$demes <- list(list(name = about$names[1], epochs = list(epoch)))
    graph$there <- 1L
    graph
  },
  admixture = function(graph, event, about) {
    parents <- graph$there[event$shares > 0]
    number <- length(graph$demes) + 1L
    graph$demes[[number]] <- list(
      name = about$names[number], ancestors = as.list(about$names[parents]),
      proportions = as.list(event$shares[event$shares > 0]), start_time = about$time,
      epochs = list()
    )
    graph$there <- c(graph$there, number)
    graph
  },
  pulse = function(graph, event, about) {
    from <- setdiff(which(event$shares > 0), event$destination)
    graph$pulses <- c(graph$pulses, list(list(
      sources = as.list(about$names[graph$there[from]]), proportions = as.list(event$shares[from]),
      dest = about$names[graph$there[event$destination]], time = about$time
    )))
    graph
  },
  removal = function(graph, event, about) {
    graph$there <- graph$there[-event$population]
    graph
  },
  reordering = function(graph, event, about) {
    graph$there <- graph$there[event$order]
    graph
  },
  epoch = function(graph, event, about) {
    if (event$end == event$start) {
      return(graph)
    }
    check_demes_epoch(event)
    for (k in which(!event$frozen)) {
      number <- graph$there[k]
      epoch <- demes_size(event$size[[k]], event, about$n, about$time)
      graph$demes[[number]]$epochs <- c(graph$demes[[number]]$epochs, list(epoch))
    }
    rates <- demes_rates(event, about$names[graph$there], about$n, about$time)
    graph$migrations <- c(graph$migrations, rates)
    graph
  }
)

# A deme that nothing happened to after it began is there at the same time.
finish_deme <- function(deme) {
  if (!length(deme$epochs)) refuse_in_demes(sprintf("%s has no time to live in", deme$name))
  deme
}

check_demes_epoch <- function(event) {
  is_zero <- function(course) is.numeric(course) && course == 0
  if (!all(vapply(event$selection, is_zero, NA))) refuse_in_demes("there is selection")
  if (!is.numeric(event$theta)) refuse_in_demes("mutation changes in time")
  courses <- c(event$size, event$migration)
  if (any(vapply(courses, is.function, NA))) {
    refuse_in_demes("a size or a rate is a function; course() can be said")
  }
}

# An epoch of a deme, with the sizes that its course has at the event's beginning and end.
demes_size <- function(size, event, n, time) {
  if (is.numeric(size)) {
    return(list(start_size = n * size, end_time = time))
  }
  at <- function(t) {
    share <- t / size$duration
    if (size$shape == "linear") size$from + share * (size$to - size$from)
    else size$from * (size$to / size$from)^share
  }
  list(
    start_size = n * at(event$start), end_size = n * at(event$end), end_time = time,
    size_function = if (size$shape == "linear") "linear" else "exponential"
  )
}

demes_rates <- function(event, names, n, end) {
  k <- length(names)
  rates <- list()
  for (i in seq_len(k)) {
    for (j in setdiff(seq_len(k), i)) {
      rate <- event$migration[[(i - 1) * k + j]]
      if (!is.numeric(rate)) refuse_in_demes("a migration rate changes in an epoch")
      if (rate > 0) {
        rates <- c(rates, list(list(
          source = names[j], dest = names[i], rate = rate / (2 * n),
          start_time = end + 2 * n * (event$end - event$start), end_time = end
        )))
      }
    }
  }
  rates
}
