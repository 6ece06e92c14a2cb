# The command line, exec/ancify. run_command_line() gives the exit status: 0 for success, 1 for an
# error, 2 for wrong arguments, 3 for a fit that has not converged, 130 for Ctrl-C.

run_command_line <- function(args, rows = command_rows()) {
  tryCatch(
    run_command(parse_command_line(args), rows),
    ancify_usage_error = function(condition) {
      message <- sub("([^.])[.]$", "\\1", conditionMessage(condition))
      print_problem(
        message, if (endsWith(message, "?")) " See " else "; see ",
        paste(c("ancify", condition$command, "--help"), collapse = " ")
      )
      2L
    },
    error = function(condition) {
      # The reader of the result has ended, such as head after its last line.
      if (is_closed_pipe(condition)) {
        return(0L)
      }
      print_problem("error: ", conditionMessage(condition))
      1L
    },
    interrupt = function(condition) {
      print_problem("interrupted")
      130L
    }
  )
}

# The core's error message names the signal. exec/ancify ignores the signal itself, so that commands
# still write their files if the reader of their output has ended.
is_closed_pipe <- function(condition) grepl("SIGPIPE", conditionMessage(condition), fixed = TRUE)

# Returns the exit status.
run_command <- function(parsed, rows) {
  name <- if (isTRUE(parsed$version)) "version" else parsed$arguments[1]
  if (is.na(name)) {
    if (!isTRUE(parsed$help)) usage_error("no command given")
    name <- "help"
    parsed$help <- NULL
  }
  row <- command_named(name, rows)
  parsed$arguments <- parsed$arguments[-1]
  if (isTRUE(parsed$help)) {
    writeLines(command_help(name, rows))
    return(0L)
  }
  parsed$rows <- rows
  in_shell_words(name, rows, {
    if (!isTRUE(parsed$version)) check_command_line(name, row, parsed)
    status <- row$run(keep_pipes(parsed))
  })
  if (is.integer(status)) status else 0L
}
