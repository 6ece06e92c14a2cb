# Messages of the command line, which name commands and options.

print_problem <- function(...) {
  cat("ancify: ", ..., "\n", sep = "", file = stderr())
}

# Evaluates a command's `code`, and rewords its errors and warnings to name commands and options.
in_shell_words <- function(name, rows, code) {
  withCallingHandlers(
    code,
    warning = function(condition) {
      print_problem("warning: ", shell_words(conditionMessage(condition), name, rows))
      invokeRestart("muffleWarning")
    },
    error = function(condition) {
      condition$message <- shell_words(conditionMessage(condition), name, rows)
      condition$command <- name
      stop(condition)
    }
  )
}

# Rewords a message for R users: functions become commands, and arguments become options.
shell_words <- function(message, name, rows) {
  for (command in names(rows)) {
    for (instead in rows[[command]]$instead) {
      message <- gsub(paste0("\\b", instead, "\\(\\)"), sprintf("`ancify %s`", command), message)
    }
  }
  words <- words_of_arguments(rows[[name]])
  for (argument in names(words)) {
    pattern <- sprintf("`%s( = TRUE)?`", argument)
    message <- gsub(pattern, sprintf("`%s`", words[[argument]]), message)
    with_value <- sprintf("`%s = \"([a-z]+)\"`", argument)
    message <- gsub(with_value, sprintf("`%s \\1`", words[[argument]]), message)
  }
  gsub(paste0(folder_of_pipes(), "/"), "", message, fixed = TRUE)
}

# The text of this command, from texts named by commands; unnamed texts are for all commands.
of_command <- function(texts, command) {
  if (is.null(names(texts))) texts else unname(texts[names(texts) == command])
}

# The command line's names for R's arguments. Messages about a configuration keep such names,
# because there they name settings.
words_of_arguments <- function(row) {
  options <- setdiff(row$options, names(row$words))
  if ("config" %in% options) {
    return(row$words)
  }
  c(row$words, vapply(options, long_name, ""))
}
