#' Read and write Demes files
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
#' more than one deme without ancestors, and a time at which there are more than five demes. So are
#' more than 2,000 demes, epochs, migrations and pulses, counted together. At one
#' time pulses come first, then demes begin, then pulses into these, then demes end.
#'
#' The populations at a written model's end, in their order, are in the file's metadata, where
#' `read_demes()` looks for its default of `samples`. `theta0` is not in the file, and sizes are in
#' units of the first size when they come back.
#'
#' @param file The path of a Demes file, in YAML; reading, it may be gzipped.
#' @param samples Names of the demes that are sampled, in the spectrum's order. Default: those that
#'   `write_demes()` has noted, else those that there are at the present.
#' @param model A [demography()], or a list of events.
#' @param params The values of the model's parameters, named, or in the model's order; `NULL`
#'   (the default) for a model without any.
#' @param reference_size Diploid individuals of the reference population, a number above 0.
#' @param demes Names of the model's populations, in the order in which they come up. Default:
#'   `pop1` and so on.
#' @param description A text that says in the file what the model is; `NULL` (the default) for
#'   none.
#' @return `read_demes()`: a [demography()] without parameters, with the attributes `samples` and
#'   `reference_size`. `write_demes()`: the path, invisibly. Times there are in generations.
#' @section Errors:
#' `ancify_file_error` for a file that can't be read or written; `ancify_format_error` for what is
#' no Demes file, or one that can't be a model here; `ancify_input_error` for what is no model, and
#' for models that Demes can't say: with selection, mutation that changes, sizes and rates that are
#' functions, rates that change, populations that go on after they were frozen, and pulses at the
#' present, or after a split without any time between.
#' @references
#' Gower and others (2022) Demes: a standard format for demographic models. Genetics 222:iyac131.
#' @seealso [demography()], [demography_model()]
#' @export
#' @examples
#' file <- tempfile(fileext = ".yaml")
#' write_demes(demography_model("split_mig"), file, c(nu1 = 2, nu2 = 0.5, time = 0.1, m = 1),
#'             reference_size = 10000, demes = c("YRI", "CEU"))
#' writeLines(readLines(file))
#' read_demes(file)
read_demes <- function(file, samples = NULL) {
  check_given()
  file <- check_path(file, "file")
  graph <- demes_graph(file)
  samples <- demes_samples(graph, samples)
  model <- do.call(demography, demes_events(graph, samples))
  attr(model, "samples") <- samples
  attr(model, "reference_size") <- graph$reference_size
  model
}

# ---- Reading -------------------------------------------------------------------------------------

# With all defaults filled in, times in generations ago: demes, a list by name, of ancestors,
# proportions, start, and epochs, a data frame of start, end, from, to and how; migrations and
# pulses.
demes_graph <- function(file) {
  refuse <- function(...) {
    abort_ancify(sprintf("'%s': %s.", file, sprintf(...)), "format", file = file, line = 0)
  }
  yaml <- read_demes_yaml(file, refuse)
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
    refuse("%s have no beginning: a model here has one ancestral population",
           count_of(length(roots), "deme"))
  }
  list(
    demes = demes, reference_size = roots[[1]]$epochs$from[1], refuse = refuse,
    migrations = demes_migrations(yaml, demes, generation, refuse),
    pulses = demes_pulses(yaml, demes, generation, refuse),
    samples = demes_written_samples(yaml$metadata, names(demes))
  )
}

# What write_demes() left there; any other metadata is others' matter.
demes_written_samples <- function(metadata, names) {
  ours <- if (is.list(metadata)) metadata[["ancify"]]
  samples <- if (is.list(ours)) unlist(ours[["samples"]])
  if (is.character(samples) && all(samples %in% names) && !anyDuplicated(samples)) samples
}

demes_fields <- list(
  file = c("description", "time_units", "generation_time", "doi", "defaults", "demes", "migrations",
           "pulses", "metadata"),
  defaults = c("epoch", "deme", "migration", "pulse"),
  deme = c("name", "description", "ancestors", "proportions", "start_time", "epochs", "defaults"),
  epoch = c("start_size", "end_size", "end_time", "size_function", "cloning_rate", "selfing_rate"),
  migration = c("rate", "start_time", "end_time", "demes", "source", "dest"),
  pulse = c("sources", "dest", "time", "proportions")
)

# Words and numbers as YAML 1.2 has them: `N` is a name, and 010 is 10.
read_demes_yaml <- function(file, refuse) {
  number <- function(x) {
    value <- suppressWarnings(as.numeric(x))
    if (is.na(value)) x else value
  }
  word <- function(x) if (tolower(x) %in% c("true", "false")) tolower(x) == "true" else x
  handlers <- list("bool#yes" = word, "bool#no" = word, int = number, "int#oct" = number,
                   "int#hex" = number)
  invalid <- function(problem) refuse("this is no YAML: %s", problem)
  yaml <- parse_yaml(read_text_file(file), handlers, invalid, strict = FALSE)
  check_demes_number(yaml, refuse)
  yaml
}

# Entries of all kinds in a file; each takes some milliseconds.
most_demes_entries <- 2000

check_demes_number <- function(yaml, refuse) {
  if (!is.list(yaml)) {
    return(invisible())
  }
  epochs <- vapply(as.list(yaml$demes), function(deme) {
    if (is.list(deme)) length(deme[["epochs"]]) else 0L
  }, 0L)
  n <- length(yaml$demes) + sum(epochs) + length(yaml$migrations) + length(yaml$pulses)
  if (n > most_demes_entries) {
    refuse("there are %s demes, epochs, migrations and pulses: at most %s can be read",
           format_count(n), format_count(most_demes_entries))
  }
}

# What is given replaces a default as a whole.
with_demes_defaults <- function(own, defaults) {
  defaults <- as.list(defaults)
  defaults[names(own)] <- own
  defaults
}

# A mapping that has no other fields; NULL for none.
check_demes_fields <- function(x, what, allowed, refuse) {
  good <- is.null(x) || is.list(x) && (!length(x) || !is.null(names(x)))
  if (!good) refuse("%s must be a mapping of fields, not %s", what, show_value(x))
  unknown <- setdiff(names(x), allowed)
  if (length(unknown)) {
    refuse("%s has the field %s: it may have %s", what, quoted(unknown[1]), enumerate(allowed))
  }
}

# A list of mappings, one at least.
demes_mappings <- function(x, what, refuse) {
  good <- is.list(x) && length(x) && is.null(names(x)) &&
    all(vapply(x, function(one) is.list(one) && !is.null(names(one)), NA))
  if (!good) refuse("%s must be a list of mappings, one at least, not %s", what, show_value(x))
  x
}

# The file's migrations or pulses, with their defaults; there may be none.
demes_entries <- function(yaml, kind, refuse) {
  name <- paste0(kind, "s")
  given <- if (length(yaml[[name]])) demes_mappings(yaml[[name]], name, refuse)
  lapply(given, function(one) {
    check_demes_fields(one, paste("a", kind), demes_fields[[kind]], refuse)
    with_demes_defaults(one, yaml$defaults[[kind]])
  })
}

demes_generation <- function(yaml, refuse) {
  if (!is.character(yaml$time_units) || length(yaml$time_units) != 1 || is.na(yaml$time_units)) {
    refuse("the time_units must be generations, years or another word")
  }
  time <- demes_number(
    yaml$generation_time %||% if (yaml$time_units == "generations") 1, "the generation_time",
    refuse, .Machine$double.xmin
  )
  if (yaml$time_units == "generations" && time != 1) {
    refuse("the generation_time is %s generations: it can only be 1", format(time))
  }
  time
}

demes_number <- function(x, what, refuse, least = 0, most = Inf) {
  # YAML takes 2e4 and Infinity for texts.
  number <- if (is.character(x)) suppressWarnings(as.numeric(x)) else x
  good <- is.numeric(number) && length(number) == 1 && isTRUE(number >= least && number <= most)
  if (!good) {
    refuse("%s is %s: it must be a number%s%s", what, show_value(x),
           if (least == 0) ", not below 0" else " above 0",
           if (is.finite(most)) paste(" and at most", format(most)) else "")
  }
  as.double(number)
}

demes_names <- function(x, what, refuse, most = Inf) {
  x <- unlist(x)
  good <- is.null(x) || is.character(x) && !anyDuplicated(x) && length(x) <= most
  if (!good) {
    refuse("%s must be names, each once%s, not %s", what,
           if (is.finite(most)) paste(", and at most", most) else "", show_value(x))
  }
  as.character(x)
}

# Shares, one for each of `names`.
demes_shares <- function(x, names, what, refuse, least = 0) {
  x <- vapply(as.list(unlist(x)), demes_number, 0, what, refuse, least, 1)
  if (length(x) != length(names)) {
    refuse("%s must be %s: there %s", what, count_of(length(names), "share"),
           if (length(x) == 1) "is 1" else paste("are", length(x)))
  }
  x
}

demes_deme <- function(deme, earlier, epoch_defaults, generation, refuse) {
  name <- deme$name
  good <- is.character(name) && length(name) == 1 && is_deme_name(name)
  if (!good || name %in% names(earlier)) {
    refuse("each deme needs a name of its own, of letters, digits and _, not %s", show_value(name))
  }
  parents <- demes_ancestry(deme, earlier, refuse)
  start <- demes_start(deme, earlier[parents$ancestors], generation, refuse)
  epochs <- demes_epochs(deme, epoch_defaults, start, refuse)
  epochs[c("start", "end")] <- epochs[c("start", "end")] / generation
  c(list(name = name, start = start / generation, epochs = epochs), parents)
}

# In the file's units of time.
demes_start <- function(deme, parents, generation, refuse) {
  start <- deme$start_time
  if (is.null(start) && length(parents) == 1) start <- demes_end(parents[[1]]) * generation
  start <- demes_number(start %||% Inf, paste("the start_time of deme", deme$name), refuse)
  if (is.finite(start) != (length(parents) > 0)) {
    refuse("deme %s must have ancestors and a time at which it starts, or neither", deme$name)
  }
  for (parent in parents) {
    if (!is_alive(parent, start / generation)) {
      refuse("deme %s starts at %s, when there is no deme %s", deme$name, format(start),
             parent$name)
    }
  }
  start
}

is_deme_name <- function(x) grepl("^[[:alpha:]_][[:alnum:]_]*$", x)

# As an ancestor or a source: until its end, and not yet when it starts.
is_alive <- function(deme, time) demes_end(deme) <= time && time < deme$start

demes_ancestry <- function(deme, earlier, refuse) {
  what <- paste("the ancestors of deme", deme$name)
  ancestors <- demes_names(deme$ancestors, what, refuse, core_limits()$populations)
  unknown <- setdiff(ancestors, names(earlier))
  if (length(unknown)) {
    refuse("deme %s has the ancestor %s, which is none before", deme$name, unknown[1])
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

# A data frame with a row for each, in the file's units of time.
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
    refuse("%s has a cloning_rate or a selfing_rate above 0, which have no place here", what)
  }
  must_stay <- epoch$how == "constant" || is.infinite(epoch$start)
  good <- epoch$from > 0 && epoch$to > 0 && epoch$end < epoch$start &&
    !(must_stay && epoch$from != epoch$to)
  if (!good) {
    refuse("%s goes from %s to %s, with a size from %s to %s (%s)", what, format(epoch$start),
           format(epoch$end), format(epoch$from), format(epoch$to), epoch$how)
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
      refuse("a migration from %s to %s goes from %s to %s: both demes are there from %s to %s",
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
    refuse("a migration has either demes, or a source and a dest")
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
    refuse("a migration is between different demes")
  }
  if (!all(unlist(pairs) %in% names)) refuse("a migration is between demes there are not")
  pairs
}

check_demes_overlaps <- function(migrations, refuse) {
  n <- NROW(migrations)
  if (n < 2) {
    return(migrations)
  }
  # Those of a pair behind each other, the oldest first: where two overlap, two neighbours do.
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
      refuse("a pulse from %s to %s at %s is at a time at which not all of them are there",
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
    refuse("a pulse goes from sources to another deme, its dest")
  }
  shares <- demes_shares(one$proportions, sources, "a pulse's proportions", refuse)
  if (sum(shares) > 1) refuse("a pulse's proportions have the sum %s", format(sum(shares)))
  time <- demes_number(one$time, "a pulse's time", refuse, .Machine$double.xmin)
  list(sources = sources, shares = shares, dest = dest, time = time)
}

demes_samples <- function(graph, samples) {
  ends <- vapply(graph$demes, demes_end, 0)
  if (is.null(samples)) {
    samples <- graph$samples %||% names(ends)[ends == 0]
    if (!length(samples)) {
      graph$refuse("no deme is there at the present: the argument `samples` says which to sample")
    }
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

# What happens at a time: pulses, then demes begin, then pulses into these, then demes end. A deme
# that ends where a child of its own begins, and is not sampled, becomes that child.
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
  # What gives nothing to anyone makes room first.
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

# `free` are the ancestors of which it may take the place: it does where it has no other, or where
# there is no room. What it has of others comes as a pulse then.
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
    refuse("there are more than %d demes when %s begins, those among them that end then",
           core_limits()$populations, deme$name)
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
  if (any(rowSums(m) > 2 * n * (1 + 1e-9))) {
    graph$refuse("more than all of a deme are migrants, in a generation from %s to %s ago",
                 format(start), format(end))
  }
  event_epoch((start - end) / (2 * n), nu, m, frozen = unname(frozen))
}

# ---- Writing -------------------------------------------------------------------------------------

#' @rdname read_demes
#' @export
write_demes <- function(model, file, params = NULL, reference_size, demes = NULL,
                        description = NULL) {
  check_given()
  file <- check_path(file, "file")
  check_positive(reference_size, "reference_size", 1)
  good <- is.null(description) || is.character(description) && length(description) == 1
  if (!good || anyNA(description)) {
    abort_ancify(sprintf("`description` must be a text, not %s.", show_value(description)), "input")
  }
  events <- core_events(events_at(model, params))
  check_computable(events)
  graph <- demes_of_events(events, reference_size, check_deme_names(demes, events))
  yaml <- c(list(description = description, time_units = "generations"), graph)
  write_text(file, yaml::as.yaml(Filter(length, yaml), precision = 15,
                                 indent.mapping.sequence = TRUE))
  invisible(file)
}

# What is no model is the error that expected_sfs() would make of it.
check_computable <- function(events) {
  sampling <- check_sampling("analytic", rep(1L, populations_after(events)))
  spectra_of_models(list(events), 4L, "dadi", sampling, choose_backend("cpu", 1))
}

check_deme_names <- function(demes, events) {
  founds <- vapply(event_rows(), `[[`, NA, "founds")
  n <- sum(founds[vapply(events, `[[`, "", "op")])
  demes <- demes %||% paste0("pop", seq_len(n))
  good <- is.character(demes) && length(demes) == n && !anyDuplicated(demes)
  if (!good || !all(is_deme_name(demes))) {
    abort_ancify(
      sprintf("`demes` must be %s of letters, digits and _, all of them different, not %s.",
              count_of(n, "name"), show_value(demes)),
      "input"
    )
  }
  demes
}

refuse_in_demes <- function(what) {
  abort_ancify(sprintf("A Demes file can't say that %s.", what), "input")
}

# What is said so far of demes, migrations and pulses is in `graph`; `there` are the numbers of the
# demes that are the model's populations now, `stopped` of those that were frozen, and `theta` is
# what it has been.
demes_of_events <- function(events, n, names) {
  durations <- vapply(events, function(event) {
    if (is.null(event$end)) 0 else event$end - event$start
  }, 0)
  done <- cumsum(durations)
  # Generations ago, before and after each event.
  ago <- 2 * n * (done[length(done)] - c(0, done))
  graph <- list(demes = list(), migrations = list(), pulses = list(), there = integer(),
                stopped = integer())
  rows <- event_rows()
  for (i in seq_along(events)) {
    about <- list(n = n, names = names, before = ago[i], time = ago[i + 1])
    graph <- rows[[events[[i]]$op]]$to_demes(graph, events[[i]], about)
  }
  graph$demes <- lapply(graph$demes, finish_deme)
  ends <- vapply(graph$demes, function(deme) deme$epochs[[length(deme$epochs)]]$end_time, 0)
  for (pulse in graph$pulses) {
    if (ends[match(pulse$dest, names)] == pulse$time) {
      refuse_in_demes("a pulse goes into a population that ends at that moment")
    }
  }
  # Which populations there are at the end, and in which order, is not in the demes.
  graph$metadata <- list(ancify = list(samples = as.list(names[graph$there])))
  graph[c("demes", "migrations", "pulses", "metadata")]
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
  parents <- graph$there[event$shares > 0]
  check_not_stopped(graph, parents)
  number <- length(graph$demes) + 1L
  graph$demes[[number]] <- list(
    name = about$names[number], ancestors = as.list(about$names[parents]),
    proportions = as.list(event$shares[event$shares > 0]), start_time = about$time,
    epochs = list()
  )
  graph$there <- c(graph$there, number)
  graph
}

pulse_to_demes <- function(graph, event, about) {
  from <- setdiff(which(event$shares > 0), event$destination)
  if (!length(from)) {
    return(graph)
  }
  check_not_stopped(graph, graph$there[c(from, event$destination)])
  starts <- vapply(graph$demes, function(deme) deme$start_time %||% Inf, 0)
  if (any(starts <= about$time)) {
    refuse_in_demes("a pulse comes after a split, without any time between")
  }
  if (about$time == 0) refuse_in_demes("a pulse comes at the present")
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
    refuse_in_demes("an epoch is as short as one here")
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

# A deme without time of its own could not be written.
finish_deme <- function(deme) {
  if (!length(deme$epochs)) refuse_in_demes(sprintf("%s has no time to live in", deme$name))
  deme
}

check_not_stopped <- function(graph, demes) {
  if (any(demes %in% graph$stopped)) {
    refuse_in_demes("something happens to a population after it was frozen")
  }
}

check_demes_epoch <- function(event, theta) {
  is_zero <- function(course) is.numeric(course) && course == 0
  if (!all(vapply(event$selection, is_zero, NA))) refuse_in_demes("there is selection")
  if (!identical(event$theta, theta)) refuse_in_demes("mutation changes in time")
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

demes_rates <- function(event, names, about) {
  k <- length(names)
  rates <- list()
  for (i in seq_len(k)) {
    into <- event$migration[(i - 1) * k + setdiff(seq_len(k), i)]
    if (!all(vapply(into, is.numeric, NA))) refuse_in_demes("a migration rate changes in an epoch")
    if (sum(unlist(into)) > 2 * about$n) {
      refuse_in_demes("more than all of a population are migrants")
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
