#' Describe a demographic model in words
#'
#' Describes the events of a model, from the past to the present:
#' `summary(demography_model("OutOfAfrica_3G09"), reference_size = 7300, generation_time = 25)`.
#'
#' @param object A [demography()].
#' @param params,reference_size,generation_time,populations As in [plot.demography()]. Populations
#'   that leave the model are called ghosts.
#' @param x The result of `summary()`.
#' @param ... Must be empty.
#' @return A list of class `summary.demography` with the character vector `sentences`. `print()`
#'   writes them.
#' @section Errors:
#' * `ancify_input_error`: the model is invalid, a parameter is missing, or an argument cannot be
#'   used.
#' @seealso [plot.demography()]
#' @export
#' @examples
#' summary(demography_model("split_mig"), c(nu1 = 2, nu2 = 0.5, time = 0.3, m = 1))
#' summary(demography_model("OutOfAfrica_3G09"), reference_size = 7300, generation_time = 25,
#'         populations = c("YRI", "CEU", "CHB"))
summary.demography <- function(object, params = NULL, reference_size = NULL, generation_time = NULL,
                               populations = NULL, ...) {
  check_no_more(...)
  events <- events_at(object, params)
  units <- demography_units(object, events, reference_size, generation_time)
  events <- core_events(events)
  check_computable(events)
  populations <- history_labels(populations %||% attr(object, "samples"), populations_after(events))
  if (is.numeric(populations)) populations <- paste("population", populations)
  structure(list(sentences = sentences_of(events, populations, units)),
            class = "summary.demography")
}

#' @rdname summary.demography
#' @export
print.summary.demography <- function(x, ...) {
  write_object("summary.demography", count_of(length(x$sentences), "sentence"))
  for (sentence in x$sentences) {
    writeLines(strwrap(sentence, min(80, getOption("width")) - 2, indent = 2, exdent = 4))
  }
  invisible(x)
}

sentences_of <- function(events, populations, units) {
  there <- histories_of_events(events)
  last <- there[[length(there)]]
  numbers <- seq_len(max(unlist(there)))
  names <- ifelse(numbers %in% last, populations[match(numbers, last)], NA)
  names[is.na(names)] <- paste("ghost", seq_len(sum(is.na(names))))
  ago <- times_of_events(events)
  ago[ago < 1e-12 * ago[1]] <- 0
  rows <- event_rows()
  said <- lapply(seq_along(events), function(i) {
    about <- list(
      there = if (i > 1) names[there[[i - 1]]], then = names[there[[i]]], before = ago[i],
      time = ago[i + 1], units = units
    )
    rows[[events[[i]]$op]]$to_words(events[[i]], about)
  })
  unlist(said)
}

# The populations' indices after each event.
histories_of_events <- function(events) {
  lapply(seq_along(events), function(i) history_of_events(events[seq_len(i)])$there)
}
