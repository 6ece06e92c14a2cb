# Values of events: numbers, size histories and functions of time, which are checked and converted
# for the core.

one_number <- function(x, name, refuse) {
  if (!is.numeric(x) || length(x) != 1 || !is.finite(x)) {
    refuse(name, sprintf("must be a number, not %s", show_value(x)))
  }
  as.double(x)
}

population_number <- function(x, populations, name, refuse) {
  if (!is.numeric(x) || length(x) != 1 || !x %in% seq_len(populations)) {
    refuse(name, sprintf("is %s, but there %s", show_value(x), populations_there_are(populations)))
  }
  as.integer(x)
}

populations_there_are <- function(n) {
  if (n == 1) "is 1 population, with the number 1" else sprintf("are populations 1 to %d", n)
}

is_size_history <- function(x) is.list(x) && is.character(x[["type"]])

parameter_histories <- function(x, n, recycle, end, name, refuse) {
  if (is.function(x) || is_size_history(x)) x <- list(x)
  if (length(x) == 1 && recycle) x <- rep(as.list(x), n)
  if (length(x) != n) {
    refuse(name, paste("has", count_of(length(x), "value"), "for", count_of(n, "population")))
  }
  lapply(x, parameter_history, end, name, refuse)
}

# A number, list(shape, from, to, duration), or a function of time.
parameter_history <- function(x, end, name, refuse) {
  if (is.function(x)) x else if (is_size_history(x)) as_change(x, end, name, refuse)
  else one_number(x, name, refuse)
}

as_change <- function(x, end, name, refuse) {
  if (length(x$type) != 1 || !x$type %in% c("exp", "linear")) {
    refuse(name, sprintf("changes by type %s: it must be exp or linear", show_value(x$type)))
  }
  duration <- one_number(x[["T"]] %||% end, name, refuse)
  from <- one_number(x$from, name, refuse)
  to <- one_number(x$to, name, refuse)
  # Nothing changes in an epoch of length 0.
  if (end == 0 && is.null(x[["T"]])) {
    return(from)
  }
  if (duration <= 0) refuse(name, sprintf("has duration %s: it must be above 0", duration))
  if (x$type == "exp" && !(from > 0 && to > 0)) {
    refuse(name, sprintf("cannot change exponentially from %s to %s", from, to))
  }
  core_list("ParameterChange", shape = x$type, from = from, to = to, duration = duration)
}

# The value at time `t` of a result of parameter_history().
value_at <- function(history, t) {
  if (is.function(history)) {
    history(t)
  } else if (is.list(history)) {
    share <- t / history$duration
    if (history$shape == "exp") history$from * (history$to / history$from)^share
    else history$from + share * (history$to - history$from)
  } else {
    history
  }
}

# A list of rates, row by row.
migration_histories <- function(m, populations, end, refuse) {
  n <- populations
  if (is.list(m) && is.null(dim(m)) && !is_size_history(m)) {
    if (length(m) != n || any(lengths(m) != n)) {
      refuse("m", sprintf("must have %d rows of %d rates", n, n))
    }
    m <- do.call(rbind, lapply(m, as.list))
  }
  if (is.null(dim(m))) {
    one <- parameter_histories(m, 1, FALSE, end, "m", refuse)
    return(ifelse(c(diag(n)) == 1, list(0), one))
  }
  if (!identical(dim(m), c(as.integer(n), as.integer(n)))) {
    refuse("m", sprintf("is a matrix of %s, but there %s", paste(dim(m), collapse = " x "),
                        populations_there_are(n)))
  }
  lapply(as.list(t(m)), parameter_history, end, "m", refuse)
}

recycled_flags <- function(x, n, name, refuse) {
  x <- unlist(x)
  if (!is.logical(x) || anyNA(x) || !length(x) %in% c(1, n)) {
    refuse(name, sprintf("must be TRUE or FALSE, once or for each of %d populations", n))
  }
  rep_len(x, n)
}

ancestry_shares <- function(props, populations, refuse) {
  props <- unlist(props)
  good <- is.numeric(props) && length(props) == populations && isTRUE(all(props >= 0))
  if (!good || abs(sum(props) - 1) > 1e-9) {
    refuse("props", sprintf("must be shares of %d populations, with the sum 1", populations))
  }
  as.double(props)
}

# The ancestry of `dest` after a pulse: a share for each population, its own included.
pulse_shares <- function(props, populations, dest, refuse) {
  props <- unlist(props)
  others <- setdiff(seq_len(populations), dest)
  sources <- others[match(names(props), others)]
  if (length(sources) != length(props) || anyNA(sources) || anyDuplicated(sources)) {
    refuse("props", sprintf("must be named by numbers of other populations. There %s",
                            populations_there_are(populations)))
  }
  if (!is.numeric(props) || !isTRUE(all(props >= 0)) || sum(props) > 1) {
    refuse("props", "must be shares, with a sum of at most 1")
  }
  shares <- replace(numeric(populations), sources, props)
  shares[dest] <- 1 - sum(props)
  shares
}
