# Every error, warning and log line of the package has a class of its own, so
# that users can catch one kind and leave the rest.

new_condition <- function(message, class, kind, ..., call = NULL) {
  structure(
    class = c(paste0("ancify_", class, "_", kind), paste0("ancify_", kind), kind, "condition"),
    list(message = message, call = call, ...)
  )
}

# `class`: "input", "format", "file", "config", "check", "package", "device", "lock", "task",
# "cancelled", "usage" or "system"; `...`: its facts.
abort_ancify <- function(message, class, ...) {
  stop(new_condition(message, class, "error", ...))
}

# One error for several problems; where `kinds`, those that each of them would be alone, are one, it
# is of that class too.
error_of_problems <- function(lead, problems, class, kinds, ...) {
  kind <- unique(unname(kinds))
  new_condition(
    paste(c(lead, paste("*", problems)), collapse = "\n"),
    c(class, if (length(kind) == 1 && !is.na(kind)) kind), "error", problems = problems, ...
  )
}

# What the core throws comes here, with the facts of the exception in a list. Its messages are no
# whole sentences.
abort_from_core <- function(class, message, facts) {
  if (!grepl("[.?]$", message)) message <- paste0(message, ".")
  do.call(abort_ancify, c(list(message, class), facts))
}

warn_ancify <- function(message, class, ...) {
  warning(new_condition(message, class, "warning", ...))
}

# A line of a run's log: a message that suppressMessages() silences.
inform_ancify <- function(line) {
  message(new_condition(paste0(line, "\n"), "log", "message"))
}

# What takes the lines of a log.
log_where <- function(verbose) if (verbose) inform_ancify else function(line) NULL

# Evaluates `code`, whose errors of input say `format`, with their own message in it.
with_input_errors_as <- function(format, code) {
  withCallingHandlers(code, ancify_input_error = function(condition) {
    condition$message <- sprintf(format, conditionMessage(condition))
    stop(condition)
  })
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# Faults of values that are arguments, not keys of a configuration.
input_faults <- function(code) {
  tryCatch(code, ancify_fault = function(condition) {
    abort_ancify(conditionMessage(condition), "input")
  })
}
