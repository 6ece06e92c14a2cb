# Events in words, for summary() of a demographic model.

# Conversion factors from the model's units, and the units' names. `events`: the model's events at
# given parameters. A model from a Demes file has the file's units, unless others are given.
demography_units <- function(model, events, reference_size, generation_time) {
  own <- attr(events, "reference_size") %||% attr(model, "reference_size")
  in_generations <- identical(attr(model, "time_units") %||% "generations", "generations")
  time_unit <- if (is.null(generation_time) && !in_generations) attr(model, "time_units")
  reference_size <- reference_size %||% own
  if (!in_generations) generation_time <- generation_time %||% attr(model, "generation_time")
  if (!is.null(reference_size)) check_positive(reference_size, "reference_size", 1)
  if (!is.null(generation_time)) {
    check_positive(generation_time, "generation_time", 1)
    refuse_if(is.null(reference_size),
              "`generation_time` needs `reference_size`, which gives generations.")
  }
  if (is.null(reference_size)) {
    return(
      list(time = 1, time_unit = "2N generations", size = 1, rate = 1, rate_unit = "2N m")
    )
  }
  list(
    time = 2 * reference_size * (generation_time %||% 1),
    time_unit = time_unit %||% if (is.null(generation_time)) "generations" else "years",
    size = reference_size, rate = 1 / (2 * reference_size), rate_unit = "m"
  )
}

time_words <- function(time, units) {
  paste(c(in_unit(time, units$time), if (units$size == 1) "x", units$time_unit), collapse = " ")
}

when_words <- function(time, units) {
  if (time == 0) "At the present" else paste(time_words(time, units), "ago")
}

size_words <- function(size, units) {
  if (units$size == 1) paste(in_unit(size, 1), "N") else in_unit(size, units$size)
}

rate_words <- function(rate, units) {
  if (units$size == 1) paste("2N m =", in_unit(rate, 1))
  else paste("a share of", format(rate * units$rate, digits = 3), "a generation")
}

in_unit <- function(value, unit) format_count(signif(value * unit, 4))

# ---- The `to_words` of rows of event_rows() ------------------------------------------------------

# `about`: names of the populations before (`there`) and after the event (`then`); the times ago at
# which it begins (`before`) and ends (`time`); and `units`.

equilibrium_to_words <- function(event, about) {
  c(
    sprintf("The model begins with one population of size %s, in equilibrium.",
            size_words(event$size, about$units)),
    selection_words(list(event$selection), about$then)
  )
}

epoch_to_words <- function(event, about) {
  if (event$end == event$start) {
    return(character())
  }
  names <- about$there
  sizes <- vapply(seq_along(names), function(k) {
    if (event$frozen[k]) sprintf("%s stays unchanged, as a sample of that time", names[k])
    else paste(names[k], size_change_words(event$size[[k]], event, about$units))
  }, "")
  span <- if (about$time == 0) {
    sprintf("From %s to the present", when_words(about$before, about$units))
  } else {
    sprintf("From %s to %s", in_unit(about$before, about$units$time),
            when_words(about$time, about$units))
  }
  c(
    sprintf("%s: %s.", span, paste(sizes, collapse = "; ")),
    migration_words(event, about), selection_words(event$selection, names),
    if (!all(event$mutates | event$frozen)) {
      sprintf("There are no new mutations in %s.", enumerate(names[!event$mutates & !event$frozen]))
    }
  )
}

size_change_words <- function(size, event, units) {
  from <- size_words(value_at(size, event$start), units)
  to <- size_words(value_at(size, event$end), units)
  if (is.numeric(size) || is.list(size) && from == to) {
    return(paste("has the size", from))
  }
  way <- if (is.function(size)) "by a function of time"
  else if (size$shape == "exp") "exponentially" else "linearly"
  sprintf("changes %s from %s to %s", way, from, to)
}

# Rates in the middle of the epoch. Equal rates in both directions appear once.
migration_words <- function(event, about) {
  flows <- epoch_flows(event, seq_along(about$there), about$before, about$time)
  said <- lapply(seq_len(nrow(flows)), function(i) {
    back <- flows$rate[flows$from == flows$to[i] & flows$to == flows$from[i]]
    both <- length(back) && back == flows$rate[i]
    if (both && flows$from[i] > flows$to[i]) {
      return(NULL)
    }
    sprintf(if (both) "between %s and %s: %s" else "from %s to %s: %s", about$there[flows$from[i]],
            about$there[flows$to[i]], rate_words(flows$rate[i], about$units))
  })
  said <- unlist(said)
  if (length(said)) sprintf("Migration meanwhile %s.", paste(said, collapse = "; "))
}

selection_words <- function(selection, names) {
  selected <- which(!vapply(selection, identical, NA, 0))
  if (!length(selected)) {
    return(character())
  }
  each <- vapply(selected, function(k) {
    of <- selection[[k]]
    sprintf("%s in %s", if (is.numeric(of)) in_unit(of, 1) else "a changing one", names[k])
  }, "")
  sprintf("Selection coefficients (2N s): %s.", enumerate(each))
}

admixture_to_words <- function(event, about) {
  born <- about$then[length(about$then)]
  from <- which(event$shares > 0)
  parents <- about$there[from]
  sprintf(
    "%s: %s %s.", when_words(about$time, about$units), born,
    if (length(from) == 1) paste("splits off from", parents)
    else paste("begins, with", enumerate(paste(format_percent(event$shares[from]), "of", parents)))
  )
}

pulse_to_words <- function(event, about) {
  dest <- event$destination
  from <- setdiff(which(event$shares > 0), dest)
  if (length(from)) {
    shares <- paste(format_percent(event$shares[from]), "of", about$there[dest], "comes from",
                    about$there[from])
    sprintf("%s: %s.", when_words(about$time, about$units), enumerate(shares))
  }
}

removal_to_words <- function(event, about) {
  sprintf("%s: %s leaves the model.", when_words(about$time, about$units),
          about$there[event$population])
}

reordering_to_words <- function(event, about) character()
