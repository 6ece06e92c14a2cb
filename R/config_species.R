# Readers of a configuration's outgroups and chromosome lengths.

outgroup_table <- function(outgroups) {
  tiers <- lapply(c("inner", "outer"), function(tier) {
    entries <- Filter(function(entry) !is.null(entry$name), outgroups[[tier]])
    text <- function(key) {
      vapply(entries, function(entry) entry[[key]] %||% NA_character_, "")
    }
    # An unreadable alignment is NA here, and its problem is already recorded.
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

# The table of aliases must be readable, and describe the same genome as the table of lengths.
check_aliases <- function(config, origin) {
  path <- config$chromosome_aliases
  if (is.null(path) || is.null(config$lengths)) {
    return(invisible())
  }
  read_small_input("chromosome_aliases", path, origin, function(path, identity) {
    read_chromosome_aliases(path, names(config$lengths), identity)
  })
}

# The result of read(path, identity). An error is recorded as a problem, with the result NULL.
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
  # R cannot check whether files of names outside the session's encoding exist.
  foreign <- wanted[is.na(iconv(wanted, "UTF-8", ""))]
  if (length(foreign)) {
    add_problem(
      origin, "`chromosomes`: this session's encoding can't say %s: start R in UTF-8 (%s).",
      enumerate(quoted(foreign)), "LC_ALL=C.UTF-8"
    )
  }
  lengths[setdiff(wanted, unknown)]
}

# Lengths from a Seqinfo or a named vector are written to a file that lasts as long as the session.
read_lengths_file <- typed("path", function(value, key, origin) {
  lengths <- if (isS4(value) && isS4(path_of(value))) {
    lengths_of_seqinfo(value, key)
  } else if (!is.null(names(value)) && is.numeric(unlist(value)) && all(lengths(value) == 1)) {
    tryCatch(check_lengths(unlist(value), key), ancify_input_error = function(condition) {
      fault(value, key, paste0("give a path or lengths. ", conditionMessage(condition)))
    })
  }
  if (!is.null(lengths)) {
    value <- tempfile(fileext = ".chrom.sizes")
    write_text(value, paste(names(lengths), number_text(lengths), sep = "\t"))
  }
  read_input(value, key, origin)
})
