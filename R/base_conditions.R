# Errors, warnings and log lines have their own classes, so that users can catch each kind
# separately.

new_condition <- function(message, class, kind, ..., call = NULL) {
  structure(
    class = c(paste0("ancify_", class, "_", kind), paste0("ancify_", kind), kind, "condition"),
    list(message = message, call = call, ...)
  )
}

# `class`: "input", "format", "file", "config", "check", "package", "device", "lock", "task",
# "cancelled", "usage", "system" or "internal"; `...`: fields of the condition.
abort_ancify <- function(message, class, ...) {
  stop(new_condition(message, class, "error", ...))
}

# Raises an input error if `wrong`. `format` and `...` are as for sprintf(); without `...`, `format`
# is the message. They are evaluated only if the input is wrong.
refuse_if <- function(wrong, format, ...) {
  if (wrong) abort_ancify(if (...length()) sprintf(format, ...) else format, "input")
  invisible()
}

# An input error, or an error of `file`; `format` and `...` are as for refuse_if().
refuse_input <- function(format, ...) refuse_if(TRUE, format, ...)

refuse_file <- function(file, format, ...) refuse_file_if(TRUE, file, format, ...)

refuse_file_if <- function(wrong, file, format, ...) {
  if (wrong) abort_ancify(if (...length()) sprintf(format, ...) else format, "file", file = file)
}

# One error for several problems. `kinds`: the class of each problem; if all classes are equal, the
# error has that class too.
error_of_problems <- function(lead, problems, class, kinds, ...) {
  kind <- unique(unname(kinds))
  new_condition(
    paste(c(lead, paste("*", problems)), collapse = "\n"),
    c(class, if (length(kind) == 1 && !is.na(kind)) kind), "error", problems = problems, ...
  )
}

# Raises an exception of the core as an R error, with fields from the list `facts`. The core's
# messages may lack a full stop.
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

# The function that receives log lines.
log_where <- function(verbose) if (verbose) inform_ancify else function(line) NULL

# Evaluates `code` and inserts the messages of its input errors into `format`.
with_input_errors_as <- function(format, code) {
  withCallingHandlers(code, ancify_input_error = function(condition) {
    condition$message <- sprintf(format, conditionMessage(condition))
    stop(condition)
  })
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# Turns faults of configuration values into input errors, for values passed as arguments.
input_faults <- function(code) {
  tryCatch(code, ancify_fault = function(condition) {
    abort_ancify(conditionMessage(condition), "input")
  })
}
