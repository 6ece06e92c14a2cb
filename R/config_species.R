# How outgroups and chromosome lengths of a configuration are read.

outgroup_table <- function(outgroups) {
  tiers <- lapply(c("inner", "outer"), function(tier) {
    entries <- Filter(function(entry) !is.null(entry$name), outgroups[[tier]])
    text <- function(key) {
      vapply(entries, function(entry) entry[[key]] %||% NA_character_, "")
    }
    # An alignment that could not be read is a problem already.
    data.frame(
      name = text("name"), tier = rep(tier, length(entries)), alignment = text("alignment"),
      maf_name = text("maf_name"), twobit = text("twobit")
    )
  })
  do.call(rbind, tiers)
}

read_lengths <- function(config, origin) {
  path <- config$chromosome_lengths
  if (is.null(path)) {
    return(NULL)
  }
  lengths <- read_small_input("chromosome_lengths", path, origin, read_chromosome_lengths)
  if (is.null(lengths)) NULL else requested_lengths(lengths, config, origin)
}

# The table must be readable, and of the same genome as the table of lengths.
check_aliases <- function(config, origin) {
  path <- config$chromosome_aliases
  if (is.null(path) || is.null(config$lengths)) {
    return(invisible())
  }
  read_small_input("chromosome_aliases", path, origin, function(path, identity) {
    read_chromosome_aliases(path, names(config$lengths), identity)
  })
}

# What read(path, identity) gives; NULL, with a problem of the configuration, after an error.
read_small_input <- function(key, path, origin, read) {
  problem <- input_problem(key, path, folder = FALSE)
  result <- if (is.null(problem)) {
    tryCatch(
      {
        origin$inputs[[path]] <- file_identity(path)
        read(path, origin$inputs[[path]]$identity)
      },
      ancify_error = function(condition) {
        problem <<- sprintf("`%s`: %s", key, conditionMessage(condition))
        NULL
      }
    )
  }
  origin$problems <- c(origin$problems, problem)
  result
}

requested_lengths <- function(lengths, config, origin) {
  wanted <- if (is.null(config$chromosomes)) names(lengths) else config$chromosomes
  unknown <- setdiff(wanted, names(lengths))
  if (length(unknown)) {
    add_problem(
      origin, "`chromosomes`: there is no %s in %s, which has %s; use its names.",
      enumerate(quoted(unknown)), quoted(config$chromosome_lengths),
      enumerate(quoted(names(lengths)))
    )
  }
  # R could not tell whether their files are there.
  foreign <- wanted[is.na(iconv(wanted, "UTF-8", ""))]
  if (length(foreign)) {
    add_problem(
      origin, "`chromosomes`: this session's encoding can't say %s: start R in UTF-8 (%s).",
      enumerate(quoted(foreign)), "LC_ALL=C.UTF-8"
    )
  }
  lengths[setdiff(wanted, unknown)]
}
