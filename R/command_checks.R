# Checks of a command line before its command starts.

command_named <- function(name, rows) {
  if (!name %in% names(rows)) {
    usage_error("there is no command ", name, did_you_mean(name, names(rows), show = identity))
  }
  rows[[name]]
}

# Refuses unknown options, and reports required ones that are missing.
check_command_line <- function(name, row, parsed) {
  given <- setdiff(names(parsed), c("arguments", "rows", "verbose"))
  other <- setdiff(given, row$options)
  if (length(other)) {
    takes <- Filter(function(one) other[1] %in% one$options, parsed$rows)
    usage_error(name, " takes no ", long_name(other[1]), ", which is for ", enumerate(names(takes)))
  }
  lacking <- setdiff(row$required, given)
  if (length(lacking)) {
    option <- option_rows[[lacking[1]]]
    usage_error(name, " needs ", option$names[1], " ", option$value)
  }
  check_arguments(name, row$arguments, parsed$arguments)
  check_streams(name, row, parsed)
  check_results(row, parsed)
}

# `wanted`: the arguments of a row; `given`: the words on the command line.
check_arguments <- function(name, wanted, given) {
  if (length(given) < sum(!grepl("^\\[|^\\.", wanted))) {
    usage_error(name, " needs ", paste(wanted, collapse = " "))
  }
  if (length(given) > length(wanted) && !any(grepl("...", wanted, fixed = TRUE))) {
    usage_error(
      name, " takes ", if (length(wanted)) paste(wanted, collapse = " ") else "no arguments",
      ", not also ", given[length(wanted) + 1]
    )
  }
}

# Refuses - where it would be taken for a file name.
check_streams <- function(name, row, parsed) {
  values <- given_values(row, parsed)
  wrong <- setdiff(names(values)[vapply(values, identical, NA, "-")], row$streams)
  if (length(wrong)) {
    usage_error(name, " cannot use a standard stream for ", short_name(wrong[1]),
                ": give a file instead of -")
  }
}

# Refuses to overwrite inputs: files named on the command line, or calls in a folder.
check_results <- function(row, parsed) {
  values <- given_values(row, parsed)
  read <- lapply(values[!names(values) %in% output_options], function(path) {
    c(path, list.files(path, "[.]fa$", full.names = TRUE))
  })
  names(read) <- vapply(names(read), short_name, "")
  for (path in setdiff(row$writes(parsed), "-")) {
    name <- short_name(option_that_writes(path, row, parsed))
    check_output_file(path, name)
    do.call(refuse_same_file, c(path, read, name = name))
  }
}

# The output option whose value is the path, or else the row's first.
option_that_writes <- function(path, row, parsed) {
  options <- intersect(output_options, row$options)
  c(Filter(function(option) identical(parsed[[option]], path), options), options)[1]
}

# Arguments and values of options, by their names in `row`.
given_values <- function(row, parsed) {
  c(
    Filter(is.character, parsed[intersect(row$options, names(parsed))]),
    stats::setNames(parsed$arguments, rep_len(row$arguments, length(parsed$arguments)))
  )
}

# The user's name for an option or argument.
short_name <- function(name) {
  if (name %in% names(option_rows)) option_rows[[name]]$names[1] else name
}

# ---- Values --------------------------------------------------------------------------------------
