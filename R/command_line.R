# The command line, exec/ancify. run_command_line() gives the exit status: 0 if all is done, 1 for
# an error, 2 for wrong arguments, 3 for a fit that has not converged, 130 for Ctrl-C.

run_command_line <- function(args) {
  tryCatch(
    withCallingHandlers(
      run_command(parse_command_line(args)),
      warning = function(condition) {
        print_problem("warning: ", advice_of_commands(conditionMessage(condition)))
        invokeRestart("muffleWarning")
      }
    ),
    ancify_usage_error = function(condition) {
      message <- conditionMessage(condition)
      print_problem(message, if (endsWith(message, "?")) " See" else "; see", " ancify --help")
      2L
    },
    error = function(condition) {
      # Nobody reads any more, such as head at the end of its lines.
      if (is_closed_pipe(condition)) {
        return(0L)
      }
      print_problem("error: ", advice_of_commands(conditionMessage(condition)))
      1L
    },
    interrupt = function(condition) {
      print_problem("interrupted")
      130L
    }
  )
}

is_closed_pipe <- function(condition) grepl("SIGPIPE", conditionMessage(condition), fixed = TRUE)

# Messages advise R functions: names the commands that do the same.
advice_of_commands <- function(message) {
  rows <- command_rows()
  for (name in names(rows)) {
    pattern <- sprintf("\\b%s\\(\\)", rows[[name]]$instead)
    message <- gsub(pattern, paste0("`ancify ", name, "`"), message)
  }
  message
}

run_command <- function(parsed) {
  name <- parsed$arguments[1]
  if (isTRUE(parsed$version)) name <- "version"
  if (is.na(name)) {
    if (!isTRUE(parsed$help)) usage_error("no command given")
    name <- "help"
    parsed$arguments <- name
  }
  parsed$arguments <- parsed$arguments[-1]
  rows <- command_rows()
  if (name %in% names(own_commands)) {
    run_own_command(name, parsed$arguments)
  } else if (!name %in% names(rows)) {
    known <- c(names(rows), names(own_commands))
    usage_error("there is no command ", name, suggestion(name, known))
  } else if (isTRUE(parsed$help)) {
    writeLines(command_help(name))
    0L
  } else {
    check_command_line(name, rows[[name]], parsed)
    status <- rows[[name]]$run(parsed)
    if (is.integer(status)) status else 0L
  }
}

run_own_command <- function(name, arguments) {
  if (name == "version") {
    cat("ancify ", as.character(utils::packageVersion("ancify")), "\n", sep = "")
  } else if (name == "completion") {
    if (!identical(arguments %in% c("bash", "zsh"), TRUE)) {
      usage_error("completion needs bash or zsh")
    }
    writeLines(completion_script(arguments))
  } else if (length(arguments) == 0) {
    writeLines(general_help())
  } else {
    run_command(list(arguments = arguments, help = TRUE))
  }
  0L
}

# Refuses options that the command does not take, and lacks.
check_command_line <- function(name, row, parsed) {
  given <- setdiff(names(parsed), c("arguments", "verbose"))
  other <- setdiff(given, row$options)
  if (length(other)) usage_error(name, " takes no ", long_name(other[1]))
  lacking <- setdiff(row$required, given)
  if (length(lacking)) {
    option <- command_options[[lacking[1]]]
    usage_error(name, " needs ", option$names[1], " ", option$value)
  }
  n <- length(parsed$arguments)
  wanted <- paste(row$arguments, collapse = " ")
  if (n < sum(!grepl("^\\[|^\\.", row$arguments))) {
    usage_error(name, " needs ", wanted)
  }
  if (n > length(row$arguments) && !"..." %in% row$arguments) {
    usage_error(
      name, " takes ", if (nzchar(wanted)) wanted else "no arguments", ", not also ",
      parsed$arguments[length(row$arguments) + 1]
    )
  }
}

long_name <- function(option) utils::tail(command_options[[option]]$names, 1)
