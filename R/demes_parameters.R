# Models from Demes files whose parameters are fields of the file.

# The error for an invalid Demes file or parameter file.
demes_refusal <- function(file) {
  function(...) {
    abort_ancify(sprintf("'%s': %s.", file, sprintf(...)), "format", file = file, line = 0)
  }
}

# A model whose parameters are fields of the Demes file, named by the parameter file `file`.
demes_with_parameters <- function(yaml, samples, file) {
  refuse <- demes_refusal(file)
  options <- read_demes_yaml(file, refuse)
  check_demes_fields(options, "the file", c("parameters", "constraints"), refuse)
  params <- lapply(demes_mappings(options$parameters, "parameters", refuse), demes_parameter,
                   yaml = yaml, refuse = refuse)
  names(params) <- vapply(params, `[[`, "", "name")
  if (anyDuplicated(names(params))) {
    refuse("the parameter %s occurs twice", names(params)[anyDuplicated(names(params))])
  }
  check_fields_once(params, refuse)
  constraints <- lapply(options$constraints, demes_constraint, names(params), refuse)
  places <- lapply(params, `[[`, "places")
  model <- demography(demes_function(yaml, samples, places, constraints))
  for (kind in c("start", "lower", "upper")) {
    attr(model, kind) <- unlist(lapply(params, `[[`, kind))
  }
  with_file <- "The start values of '%s' make no model: %s"
  tryCatch(events_at(model, attr(model, "start")), ancify_input_error = function(error) {
    abort_ancify(sprintf(with_file, file, conditionMessage(error)), "format", file = file, line = 0)
  })
  model
}

# A function of the parameters that returns the events.
demes_function <- function(yaml, samples, places, constraints) {
  # Values that Demes does not allow are invalid parameters.
  refuse <- function(...) abort_ancify(sprintf("%s.", sprintf(...)), "input")
  events <- function(values) {
    for (one in constraints) {
      if (values[[one$larger]] <= values[[one$smaller]]) {
        refuse("%s must be greater than %s", one$larger, one$smaller)
      }
    }
    for (name in names(values)) {
      for (place in places[[name]]) yaml <- set_place(yaml, place, values[[name]])
    }
    graph <- demes_graph(yaml, refuse)
    structure(demes_events(graph, samples), reference_size = graph$reference_size)
  }
  f <- function() NULL
  formals(f) <- stats::setNames(rep(list(substitute()), length(places)), names(places))
  body(f) <- bquote(events(.(as.call(c(as.name("list"), sapply(names(places), as.name))))))
  environment(f) <- list2env(list(events = events), parent = baseenv())
  f
}

# list(name, places, start, lower, upper); a place is a list of names and indices.
demes_parameter <- function(one, yaml, refuse) {
  check_demes_fields(
    one, "a parameter", c("name", "description", "values", "lower_bound", "upper_bound"), refuse
  )
  name <- one$name
  if (!is.character(name) || length(name) != 1 || !is_deme_name(name)) {
    refuse("each parameter needs a name of letters, digits and _, not %s", show_value(name))
  }
  values <- demes_mappings(one$values, paste("the values of", name), refuse)
  places <- unlist(lapply(values, demes_places, yaml = yaml, refuse = refuse), recursive = FALSE)
  start <- value_of_places(name, places, yaml, refuse)
  lower <- demes_bound(one, "lower_bound", refuse)
  upper <- demes_bound(one, "upper_bound", refuse)
  outside <- is.infinite(start) || is.unsorted(c(lower, start, upper)) ||
    !is.null(lower) && identical(lower, upper)
  if (outside) {
    refuse("%s is %s in the Demes file: it must be finite, and between its bounds", name,
           format(start))
  }
  list(name = name, places = places, start = start, lower = lower, upper = upper)
}

# The value that all places have in the Demes file.
value_of_places <- function(name, places, yaml, refuse) {
  there <- vapply(places, function(place) {
    value <- get_place(yaml, place)
    field <- field_words(place)
    if (is.null(value)) refuse("%s names %s, which the Demes file does not have", name, field)
    if (is_last_share(yaml, place)) {
      refuse("%s cannot be %s: the last share is what the others leave", name, field)
    }
    demes_number(value, paste(field, "of the Demes file"), refuse)
  }, 0)
  if (length(unique(there)) > 1) {
    refuse("the values of %s differ in the Demes file: %s", name, enumerate(format(there)))
  }
  there[1]
}

# An infinite bound is no bound: NULL.
demes_bound <- function(one, field, refuse) {
  if (!is.null(one[[field]])) {
    value <- demes_number(one[[field]], paste(field, "of", one$name), refuse)
    if (is.finite(value)) value
  }
}

# A place in words, with indices from 0 as in the file.
field_words <- function(place) {
  keys <- vapply(place, function(key) if (is.numeric(key)) format(key - 1) else key, "")
  paste(keys, collapse = " ")
}

# True if a place is a deme's share of its last ancestor, which set_place() computes.
is_last_share <- function(yaml, place) {
  is_share_of_deme(place) && place[[4]] == length(get_place(yaml, place[1:3]))
}

is_share_of_deme <- function(place) place[[1]] == "demes" && identical(place[[3]], "proportions")

# If two parameters set one field, only the later would take effect.
check_fields_once <- function(params, refuse) {
  fields <- unlist(lapply(params, function(one) unique(vapply(one$places, field_words, ""))))
  if (anyDuplicated(fields)) {
    refuse("%s is a value of two parameters", fields[anyDuplicated(fields)])
  }
}

# The places that one mapping of `values` names.
demes_places <- function(value, yaml, refuse) {
  check_demes_fields(value, "a value", c("demes", "migrations", "pulses"), refuse)
  places <- lapply(names(value), function(kind) {
    what <- paste("the", kind, "of a value")
    check_demes_fields(value[[kind]], what, names(value[[kind]]), refuse)
    lapply(names(value[[kind]]), function(key) {
      index <- if (kind == "demes") demes_number_of(yaml, key, refuse) else index_of(key, refuse)
      lapply(fields_of(value[[kind]][[key]], refuse), function(rest) c(list(kind, index), rest))
    })
  })
  unlist(unlist(places, recursive = FALSE), recursive = FALSE)
}

demes_number_of <- function(yaml, name, refuse) {
  names <- vapply(yaml$demes, function(deme) as.character(deme$name), "")
  if (!name %in% names) refuse("a value names the unknown deme %s", quoted(name))
  match(name, names)
}

# Indices in the file begin at 0.
index_of <- function(key, refuse) {
  index <- suppressWarnings(as.numeric(key))
  if (length(index) != 1 || is.na(index) || index < 0 || index %% 1 != 0) {
    refuse("%s is no number of an epoch, a share, a migration or a pulse", show_value(key))
  }
  index + 1
}

# `start_time`, `{epochs: {0: end_size}}` and `{proportions: 0}` as lists of places.
fields_of <- function(value, refuse) {
  if (is.character(value) && length(value) == 1) {
    return(list(list(value)))
  }
  if (!is.list(value) || is.null(names(value))) {
    refuse("a value must end with a field's name, not with %s", show_value(value))
  }
  unlist(lapply(names(value), function(field) {
    inner <- value[[field]]
    if (field == "proportions") {
      return(list(list(field, index_of(inner, refuse))))
    }
    if (field != "epochs" || !is.list(inner)) refuse("%s cannot be fitted", quoted(field))
    epoch_fields(inner, refuse)
  }), recursive = FALSE)
}

epoch_fields <- function(epochs, refuse) {
  lapply(names(epochs), function(key) {
    field <- epochs[[key]]
    if (!is.character(field) || length(field) != 1) {
      refuse("epoch %s must have one field's name, not %s", key, show_value(field))
    }
    list("epochs", index_of(key, refuse), field)
  })
}

demes_constraint <- function(one, names, refuse) {
  check_demes_fields(one, "a constraint", c("params", "constraint"), refuse)
  params <- unlist(one$params)
  if (length(params) != 2 || !all(params %in% names)) {
    refuse("a constraint needs two of the parameters %s", enumerate(names))
  }
  ways <- c("greater_than", "less_than")
  if (!isTRUE(one$constraint %in% ways)) {
    refuse("a constraint must be %s, not %s", paste(ways, collapse = " or "),
           show_value(one$constraint))
  }
  if (one$constraint == "less_than") params <- rev(params)
  list(larger = params[1], smaller = params[2])
}

# ---- Places in lists of lists --------------------------------------------------------------------

get_place <- function(x, place) {
  for (key in place) {
    there <- if (is.character(key)) key %in% names(x) else key <= length(x)
    if (!there) {
      return(NULL)
    }
    x <- x[[key]]
  }
  x
}

# The last ancestor of a deme has the remaining share.
set_place <- function(x, place, value) {
  changed <- set_value(x, place, value)
  if (is_share_of_deme(place)) {
    shares <- unlist(get_place(changed, place[1:3]))
    n <- length(shares)
    changed <- set_value(changed, place[1:3], c(shares[-n], 1 - sum(shares[-n])))
  }
  changed
}

set_value <- function(x, place, value) {
  if (!length(place)) {
    return(value)
  }
  key <- place[[1]]
  x[[key]] <- set_value(x[[key]], place[-1], value)
  x
}
