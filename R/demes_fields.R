# Fields of a Demes file: defaults and checks.

# The samples recorded by write_demes(). Other metadata are ignored.
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

# Reads words and numbers by YAML 1.2: `N` is a name, and 010 is 10.
read_demes_yaml <- function(file, refuse) {
  number <- function(x) {
    value <- suppressWarnings(as.numeric(x))
    if (is.na(value)) x else value
  }
  word <- function(x) if (tolower(x) %in% c("true", "false")) tolower(x) == "true" else x
  handlers <- list("bool#yes" = word, "bool#no" = word, int = number, "int#oct" = number,
                   "int#hex" = number)
  invalid <- function(problem) refuse("this is not YAML: %s", problem)
  parse_yaml(read_text_file(file), handlers, invalid, strict = FALSE)
}

# A given field replaces its entire default.
with_demes_defaults <- function(own, defaults) {
  defaults <- as.list(defaults)
  defaults[names(own)] <- own
  defaults
}

# Checks that `x` is NULL or a mapping with allowed fields.
check_demes_fields <- function(x, what, allowed, refuse) {
  good <- is.null(x) || is.list(x) && (!length(x) || !is.null(names(x)))
  if (!good) refuse("%s must be a mapping of fields, not %s", what, show_value(x))
  unknown <- setdiff(names(x), allowed)
  if (length(unknown)) {
    refuse("%s has the unknown field %s: fields are %s", what, quoted(unknown[1]),
           enumerate(allowed))
  }
}

# Checks that `x` is a list of at least one mapping.
demes_mappings <- function(x, what, refuse) {
  good <- is.list(x) && length(x) && is.null(names(x)) &&
    all(vapply(x, function(one) is.list(one) && !is.null(names(one)), NA))
  if (!good) refuse("%s must be a list of mappings, at least one, not %s", what, show_value(x))
  x
}

# The file's migrations or pulses with their defaults, or an empty list.
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
    refuse("the time_units must be a word, such as generations or years")
  }
  time <- demes_number(
    yaml$generation_time %||% if (yaml$time_units == "generations") 1, "the generation_time",
    refuse, .Machine$double.xmin
  )
  if (yaml$time_units == "generations" && time != 1) {
    refuse("the generation_time is %s, but must be 1 for time_units of generations", format(time))
  }
  time
}

demes_number <- function(x, what, refuse, least = 0, most = Inf) {
  # YAML reads 2e4 and Infinity as text.
  number <- if (is.character(x)) suppressWarnings(as.numeric(x)) else x
  good <- is.numeric(number) && length(number) == 1 && isTRUE(number >= least && number <= most)
  if (!good) {
    refuse("%s is %s: it must be a number%s%s", what, show_value(x),
           if (least == 0) " from 0 on" else " above 0",
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
    refuse("%s must be %s, but there %s", what, count_of(length(names), "share"),
           if (length(x) == 1) "is 1" else paste("are", length(x)))
  }
  x
}
