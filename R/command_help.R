# Help of the command line, made from its rows.

help_command <- function(parsed) {
  if (length(parsed$arguments)) {
    command_named(parsed$arguments, parsed$rows)
    writeLines(command_help(parsed$arguments, parsed$rows))
  } else {
    writeLines(general_help(parsed$rows))
  }
}

version_command <- function(parsed) cat("ancify ", package_version_text(), "\n", sep = "")

general_help <- function(rows) {
  c(
    "usage: ancify COMMAND [ARGUMENTS] [OPTIONS]", "", "commands",
    in_columns(names(rows), vapply(rows, `[[`, "", "purpose")), "",
    "options of all commands", option_lines(c("verbose", "help", "version")), "",
    strwrap(paste(
      "Options come before or after the command. `ancify COMMAND --help` tells those of a command.",
      "The exit status is 0 if all is done, 1 for an error, 2 for wrong arguments, 3 for a fit",
      "that has not converged."
    ), 80)
  )
}

command_help <- function(name, rows) {
  row <- rows[[name]]
  needed <- vapply(option_rows[row$required], function(option) {
    paste(option$names[1], option$value)
  }, "")
  c(
    strwrap(paste(c("usage: ancify", name, row$arguments, needed, "[OPTIONS]"), collapse = " "), 80,
            exdent = 2), "",
    strwrap(sentence(row$purpose), 80),
    unlist(lapply(c(row$details, if (length(row$streams)) streams_sentence(row)), function(text) {
      c("", strwrap(text, 80))
    })),
    "", "options", option_lines(c(row$options, "help"), name),
    "", "examples", paste0("  ", unlist(strsplit(row$examples, "\n", fixed = TRUE)))
  )
}

sentence <- function(text) paste0(toupper(substr(text, 1, 1)), substring(text, 2), ".")

streams_sentence <- function(row) {
  output <- "output" %in% row$streams
  input <- setdiff(row$streams, "output")
  if (any(input %in% row$options)) input <- long_name(input)
  paste(c(
    if (length(input)) {
      paste(input, "may be - for the standard input, which is kept in a temporary file.")
    },
    if (output) "-o - is the standard output."
  ), collapse = " ")
}

# `options`: names of option_rows; `command`: the command whose help this is, if any.
option_lines <- function(options, command = NULL) {
  rows <- option_rows[options]
  in_columns(
    vapply(rows, function(option) {
      trimws(paste(paste(option$names, collapse = ", "), option$value))
    }, ""),
    vapply(rows, function(option) {
      default <- of_command(option$default, command)
      paste(c(of_command(option$help, command), if (length(default)) paste("default:", default)),
            collapse = "; ")
    }, "")
  )
}

# Two columns, the second one wrapped.
in_columns <- function(first, second) {
  width <- max(nchar(first)) + 4
  unlist(Map(function(first, second) {
    strwrap(second, 80, initial = formatC(paste0("  ", first), width = -width),
            prefix = strrep(" ", width))
  }, first, second), use.names = FALSE)
}
