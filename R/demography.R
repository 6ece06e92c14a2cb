#' Make a demographic model
#'
#' Makes a demographic model from events in chronological order. To fit parameters, give a function
#' of them that returns the events: `demography(function(nu, time) list(event_equilibrium(),
#' event_epoch(time, nu)))`.
#'
#' @param ... Either events, as from [demography_events], or one function that returns a list of
#'   events. The function's arguments are the model's parameters, with their names.
#' @return A list of class `demography`: `events`, the list or the function, and `params`, the
#'   parameters' names.
#' @section Errors:
#' * `ancify_input_error`: an argument is not an event, or the function has no named arguments. The
#'   events' values are checked later, by [expected_sfs()].
#' @seealso [demography_events], [demography_model()] for common ones, [expected_sfs()],
#'   [fit_demography()], [read_demes()]
#' @export
#' @examples
#' split_mig <- demography(function(nu1, nu2, time, m) {
#'   list(
#'     event_equilibrium(),
#'     event_split(1),
#'     event_epoch(time, nu = c(nu1, nu2), m = m)
#'   )
#' })
#' split_mig
#' expected_sfs(split_mig, c(nu1 = 2, nu2 = 0.5, time = 0.2, m = 1), c(A = 4, B = 4), c(20, 25, 30))
demography <- function(...) {
  given <- list(...)
  if (length(given) == 1 && is.function(given[[1]])) {
    events <- given[[1]]
    params <- names(formals(args(events)))
    refuse_if(
      !length(params) || "..." %in% params,
      "A model's function must have named arguments, its parameters. Without parameters, give events." # nolint: line_length_linter.
    )
  } else {
    events <- given
    params <- character()
    check_events(events)
  }
  structure(list(events = events, params = params), class = "demography")
}

check_events <- function(events) {
  good <- vapply(events, inherits, NA, "demography_event")
  refuse_if(!length(events) || !all(good),
            "A model must have events, such as event_equilibrium(), not %s.",
            if (length(events)) show_value(events[[which(!good)[1]]]) else "nothing")
}

#' @export
print.demography <- function(x, ...) {
  if (length(x$params)) {
    write_object("demography", count_of(length(x$params), "parameter"),
                 c(parameters = paste(x$params, collapse = ", ")))
    cat(deparse(body(x$events), width.cutoff = 40), sep = "\n")
  } else {
    write_object("demography", count_of(length(x$events), "event"))
    lines <- vapply(x$events, format_event, "")
    cat(strwrap(lines, getOption("width"), indent = 2, exdent = 6), sep = "\n")
  }
  invisible(x)
}

#' @export
print.demography_event <- function(x, ...) {
  cat(strwrap(format_event(x), getOption("width"), exdent = 2), sep = "\n")
  invisible(x)
}

# Omits fields with default values.
format_event <- function(event) {
  plain <- event_rows()[[event$op]]$plain
  is_plain <- vapply(names(event), function(name) {
    values <- unlist(event[[name]])
    name %in% names(plain) && is.atomic(values) && all(values %in% plain[[name]])
  }, NA)
  fields <- vapply(event[!is_plain][-1], format_values, "")
  if (!length(fields)) {
    return(event$op)
  }
  paste0(event$op, ": ", paste(names(fields), fields, sep = " = ", collapse = ", "))
}

format_values <- function(x) {
  if (is_list_of_rows(x)) x <- do.call(rbind, lapply(x, as.list))
  if (is.matrix(x)) {
    rows <- apply(x, 1, function(row) paste(vapply(row, format_parameter, ""), collapse = " "))
    return(paste0("[", paste(rows, collapse = "; "), "]"))
  }
  if (is_size_history(x) || is.function(x)) x <- list(x)
  text <- trimws(paste(names(x), vapply(x, format_parameter, "")))
  if (length(text) == 1 && is.null(names(x))) {
    return(text)
  }
  paste0("[", paste(text, collapse = ", "), "]")
}

is_list_of_rows <- function(x) {
  is.list(x) && !is_size_history(x) && any(lengths(x) > 1) && !any(vapply(x, is_size_history, NA))
}

format_parameter <- function(value) {
  if (is.function(value)) {
    "a function"
  } else if (is_size_history(value)) {
    sprintf("%s to %s", format(value$from, digits = 4), format(value$to, digits = 4))
  } else {
    format(value, digits = 4)
  }
}

# A model's events for these parameter values.
events_at <- function(model, params) {
  model <- as_demography(model)
  params <- check_params(params, model$params)
  if (!length(model$params)) {
    return(model$events)
  }
  events <- do.call(model$events, as.list(params))
  refuse_if(!is.list(events) || !length(events),
            "The model's function must return a list of events.")
  events
}

# Returns parameters in the model's order. Values without names are already in this order.
check_params <- function(params, names) {
  if (is.list(params)) params <- unlist(params)
  refuse_if(length(params) != length(names), "`params` has %s, but must have %s.",
            count_of(length(params), "value"), needed_params(names))
  if (!length(names)) {
    return(params)
  }
  refuse_if(!is.numeric(params) || !all(is.finite(params)), "`params` must be finite numbers.")
  if (is.null(names(params))) {
    return(stats::setNames(params, names))
  }
  refuse_if(!setequal(names(params), names), "`params` names %s, but must name %s.",
            enumerate(names(params)), enumerate(names))
  params[names]
}

needed_params <- function(names) {
  if (!length(names)) {
    return("none: the model has no parameters")
  }
  paste("one value for each of", enumerate(names))
}
