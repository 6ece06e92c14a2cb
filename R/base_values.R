# Readers of the values of settings, and their faults.

# A reader of values, with the documentation's name for such values.
typed <- function(type, read) structure(read, type = type)

# The source of a configuration, and the findings of reading it.
new_origin <- function(file = NULL, notes = character()) {
  refuse_if(!is.null(file) && (length(file) != 1 || is.na(file) || !nzchar(file)),
            "`config` must be one path, a list or an ancify_config.")
  origin <- new.env(parent = emptyenv())
  origin$file <- file
  origin$problems <- character()
  origin$failed <- character()
  origin$notes <- notes
  origin$beside <- character()
  origin$inputs <- list()
  origin
}

# Reads a mapping by its table of keys. A faulty value becomes NULL: its fault is added to
# origin$problems, and its key to origin$failed, for checks that involve several keys.
read_section <- function(values, keys, prefix, origin) {
  check_keys(names(values), names(keys), prefix, origin)
  result <- lapply(keys, function(key) key$default)
  for (name in names(keys)) {
    value <- values[[name, exact = TRUE]]
    path <- paste0(prefix, name)
    if (!is.null(value)) {
      result[name] <- list(attempt(origin, keys[[name]]$read(value, path, origin), path))
    } else if (keys[[name]]$required) {
      add_problem(origin, "`%s` is missing, and has no default: set it.", path)
      origin$failed <- c(origin$failed, path)
    }
  }
  result
}

check_keys <- function(given, known, prefix, origin) {
  in_section <- function(key) sprintf("`%s%s`", prefix, key)
  listed <- FALSE
  for (name in given[!given %in% known]) {
    advice <- did_you_mean(name, known, in_section)
    if (advice == "." && !listed) {
      advice <- paste0("; settings here: ", paste(known, collapse = ", "), ".")
      listed <- TRUE
    }
    add_problem(origin, "%s is not a setting%s", in_section(name), advice)
  }
  for (name in unique(given[duplicated(given)])) {
    add_problem(origin, "`%s%s` is given twice: keep one.", prefix, name)
  }
}

key_section <- function(keys) {
  typed("mapping", function(value, key, origin) {
    # A named R vector is a mapping too, such as c(near = 1000, far = 5000).
    if (is.atomic(value) && !is.null(names(value))) value <- as.list(value)
    if (!is.list(value) || (length(value) > 0 && is.null(names(value)))) {
      fault(value, key, sprintf("give the keys %s under it.", enumerate(names(keys))))
    }
    read_section(value, keys, paste0(key, "."), origin)
  })
}

# A list of mappings
key_entries <- function(keys) {
  typed("list", function(value, key, origin) {
    if (!is.list(value) || !is.null(names(value))) {
      needed <- names(Filter(function(key) key$required, keys))
      fault(value, key, sprintf("give a list of entries, each with %s.",
                                enumerate(sprintf("`%s`", needed))))
    }
    lapply(seq_along(value), function(i) {
      path <- sprintf("%s[%d]", key, i)
      attempt(origin, key_section(keys)(value[[i]], path, origin), path)
    })
  })
}

# Stops the reading of a key's value; attempt() records the fault and continues.
fault <- function(value, key, advice) {
  message <- sprintf("`%s` is %s: %s", key, show_value(value), advice)
  stop(structure(class = c("ancify_fault", "error", "condition"), list(message = message)))
}

attempt <- function(origin, expression, key) {
  tryCatch(expression, ancify_fault = function(condition) {
    origin$problems <- c(origin$problems, conditionMessage(condition))
    origin$failed <- c(origin$failed, key)
    NULL
  })
}

add_problem <- function(origin, format, ...) {
  origin$problems <- c(origin$problems, sprintf(format, ...))
}

read_text <- typed("text", function(value, key, origin) {
  text <- if (is.numeric(value) && is_scalar(value)) number_text(value) else value
  if (!is_scalar(text) || !is.character(text) || !nzchar(text)) {
    fault(value, key, "give one text.")
  }
  # Refuse invalid text, which enc2utf8() would alter.
  if (!validEnc(text)) fault(value, key, paste0(not_text, "."))
  enc2utf8(text)
})

# A reader of text for a job's script.
text_like <- function(pattern, wanted) {
  typed("text", function(value, key, origin) {
    text <- read_text(value, key, origin)
    if (!grepl(pattern, text)) fault(value, key, paste("give", wanted))
    text
  })
}

# A name, or several.
read_node <- typed("name or list of names", function(value, key, origin) {
  names <- vapply(as.list(value), as_name, "")
  if (length(names) == 0 || anyNA(names) || is.list(value) && !is.null(names(value))) {
    fault(value, key, "give one name, or a list of names (in R as character).")
  }
  unique(unname(names))
})

read_name <- typed("name", function(value, key, origin) {
  name <- as_name(value)
  if (is.na(name)) {
    fault(value, key, "give one name (in R as character).")
  }
  if (!names_a_species(name)) {
    fault(name, key, paste0("a file will have this name: ", name_advice(blanks = TRUE), "."))
  }
  name
})

read_names <- typed("list of names", function(value, key, origin) {
  if (length(value) == 0 || is.list(value) && !is.null(names(value))) {
    fault(value, key, "give a list of names, or leave the key out for all chromosomes.")
  }
  names <- vapply(as.list(value), as_name, "")
  if (anyNA(names)) {
    fault(value, key, "each item must be one name (in R as character).")
  }
  bad <- unique(names[!names_a_path(names)])
  if (length(bad)) {
    fault(bad, key, paste0("a file will have this name: ", name_advice(), "."))
  }
  twice <- unique(names[duplicated(names)])
  if (length(twice)) {
    fault(twice, key, "listed twice; keep one.")
  }
  names
})

# A value for each outgroup, in their order or by name.
read_populations <- typed("names, or 0", function(value, key, origin) {
  names <- vapply(as.list(value), as_name, "")
  if (length(names) == 0 || anyNA(names)) {
    fault(value, key, "give an outgroup's name, or 0 for the focal species, for each outgroup.")
  }
  names
})

as_name <- function(value) {
  if (is.factor(value)) {
    value <- as.character(value)
  }
  if (!is_scalar(value) || is.logical(value)) {
    NA_character_
  } else if (is.numeric(value)) {
    number_text(value)
  } else {
    name <- as.character(value)
    # enc2utf8() would alter an invalid name, which names_a_path() refuses later.
    if (validEnc(name)) enc2utf8(name) else name
  }
}

as_number <- function(value) {
  if (is.character(value) && is_scalar(value)) {
    value <- suppressWarnings(as.numeric(value))
  }
  if (is.numeric(value) && is_scalar(value) && is.finite(value)) as.numeric(value) else NA_real_
}

read_number <- function(lowest = -Inf, highest = Inf, above = -Inf) {
  type <- if (above == 0) {
    paste0("number above 0", if (is.finite(highest)) paste(" up to", format_count(highest)))
  } else {
    sprintf("number from %s to %s", lowest, highest)
  }
  typed(type, function(value, key, origin) {
    number <- as_number(value)
    if (is.na(number) || number < lowest || number > highest || number <= above) {
      fault(value, key, sprintf("give a %s.", type))
    }
    number
  })
}

read_share <- typed("number from 0 to below 1", function(value, key, origin) {
  share <- as_number(value)
  if (is.na(share) || share < 0 || share >= 1) {
    fault(value, key, "give a number from 0 to below 1.")
  }
  share
})

whole_number <- function(lowest, highest = .Machine$integer.max) {
  type <- if (highest < .Machine$integer.max) {
    sprintf("whole number from %d to %s", lowest, format_count(highest))
  } else {
    sprintf("whole number of at least %d", lowest)
  }
  typed(type, function(value, key, origin) {
    number <- as_number(value)
    if (is.na(number) || number != round(number) || number < lowest || number > highest) {
      fault(value, key, sprintf("give a %s.", type))
    }
    as.integer(number)
  })
}

as_numbers <- function(value) {
  if (is.factor(value)) NA_real_ else vapply(as.list(value), as_number, 0)
}

positive_numbers <- typed("numbers above 0", function(value, key, origin) {
  numbers <- as_numbers(value)
  if (length(numbers) == 0 || anyNA(numbers) || any(numbers <= 0)) {
    fault(value, key, "give one or more numbers above 0.")
  }
  numbers
})

labelled_numbers <- function(labels) {
  type <- sprintf("%d numbers above 0", length(labels))
  typed(type, function(value, key, origin) {
    if (length(value) == length(labels) && setequal(names(value), labels)) {
      value <- unname(value[labels])
    }
    numbers <- as_numbers(value)
    if (length(numbers) != length(labels) || anyNA(numbers) || any(numbers <= 0) ||
      !is.null(names(value))) {
      fault(value, key, sprintf("give %s, for %s.", type, enumerate(labels)))
    }
    structure(numbers, names = labels)
  })
}

read_devices <- typed("list of whole numbers", function(value, key, origin) {
  devices <- as_numbers(value)
  if (anyNA(devices) || any(devices < 0 | devices != round(devices)) || anyDuplicated(devices)) {
    fault(value, key, "give device numbers from 0, each once, or null for all devices.")
  }
  as.integer(devices)
})

one_of <- function(...) {
  choices <- c(...)
  marked <- sprintf("`%s`", choices)
  type <- paste(paste(utils::head(marked, -1), collapse = ", "), "or", utils::tail(marked, 1))
  typed(type, function(value, key, origin) {
    # The Python tool accepts hky85 for HKY85.
    chosen <- if (is_scalar(value)) match(tolower(value), tolower(choices)) else NA
    if (is.na(chosen)) {
      guess <- if (is_scalar(value)) closest(as.character(value), choices)
      hint <- if (length(guess)) sprintf(" (did you mean %s?)", quoted(guess)) else ""
      fault(value, key, sprintf("choose one of %s%s.", enumerate(choices), hint))
    }
    choices[chosen]
  })
}

read_flag <- typed("`true` or `false`", function(value, key, origin) {
  # The words of YAML 1.1 for true and false
  word <- if (is_scalar(value)) tolower(value) else ""
  if (word %in% c("true", "yes", "on", "y")) {
    TRUE
  } else if (word %in% c("false", "no", "off", "n")) {
    FALSE
  } else {
    fault(value, key, "give true or false.")
  }
})

# `auto`, or a value accepted by `read`
auto_or <- function(read) {
  typed(paste0("`auto`, ", attr(read, "type")), function(value, key, origin) {
    if (identical(value, "auto")) {
      return(value)
    }
    tryCatch(
      read(value, key, origin),
      ancify_fault = function(condition) {
        fault(value, key, sprintf("give auto, %s.", gsub("`", "", attr(read, "type"))))
      }
    )
  })
}

read_output <- typed("path", function(value, key, origin) {
  path <- read_text(value, key, origin)
  problem <- path_problem(path)
  if (!is.null(problem)) fault(path, key, paste0(problem, "."))
  path.expand(path)
})

# Looks in the working directory first, then beside the configuration file. missing_inputs() reports
# a missing file.
read_input <- typed("path", function(value, key, origin) {
  path <- read_output(path_of(value), key, origin)
  if (is_absolute(path)) {
    return(path)
  }
  # For files by chromosome, check their folder.
  there <- function(path) file.exists(if (has_placeholder(path)) dirname(path) else path)
  if (!there(path) && !is.null(origin$file)) {
    beside <- file.path(dirname(origin$file), path)
    if (!there(beside)) {
      return(path)
    }
    origin$beside <- c(origin$beside, path)
    path <- beside
  }
  absolute_path(path)
})
