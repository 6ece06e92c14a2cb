# Writes a demographic model as a Demes file.

#' @rdname read_demes
#' @export
write_demes <- function(model, file, params = NULL, reference_size, demes = NULL,
                        description = NULL) {
  check_args(file = file_out(), reference_size = positive(1))
  good <- is.null(description) || is.character(description) && length(description) == 1
  must_be(good && !anyNA(description), description, "description", "a text")
  events <- core_events(events_at(model, params))
  check_computable(events)
  graph <- demes_of_events(events, reference_size, check_deme_names(demes, events))
  yaml <- c(list(description = description, time_units = "generations"), graph)
  write_text(file, yaml::as.yaml(Filter(length, yaml), precision = 15,
                                 indent.mapping.sequence = TRUE))
  invisible(file)
}

check_deme_names <- function(demes, events) {
  founds <- vapply(event_rows(), `[[`, NA, "founds")
  n <- sum(founds[vapply(events, `[[`, "", "op")])
  demes <- demes %||% paste0("pop", seq_len(n))
  good <- is.character(demes) && length(demes) == n && !anyDuplicated(demes)
  must_be(good && all(is_deme_name(demes)), demes, "demes",
          sprintf("%s of letters, digits and _, each a different one", count_of(n, "name")))
  demes
}

# Events add demes, migrations and pulses to `graph`. `there`: the deme indices of the model's
# current populations. `stopped`: the indices of frozen demes. `theta`: the scaled mutation rate.
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
      refuse_in_demes("a pulse goes into a population that ends at that time")
    }
  }
  # Record the final populations and their order, which the demes do not determine.
  graph$metadata <- list(ancify = list(samples = as.list(names[graph$there])))
  graph[c("demes", "migrations", "pulses", "metadata")]
}

# Refuses a deme without an epoch, which Demes does not allow.
finish_deme <- function(deme) {
  if (!length(deme$epochs)) refuse_in_demes(sprintf("%s exists for no time", deme$name))
  deme
}
