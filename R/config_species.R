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
      maf_name = text("maf_name")
    )
  })
  do.call(rbind, tiers)
}

read_lengths <- function(config, origin) {
  path <- config$chromosome_lengths
  if (is.null(path)) {
    return(NULL)
  }
  problem <- input_problem("chromosome_lengths", path, folder = FALSE)
  lengths <- if (is.null(problem)) {
    tryCatch(
      {
        origin$inputs[[path]] <- file_identity(path)
        read_chromosome_lengths(path, origin$inputs[[path]]$identity)
      },
      ancify_error = function(condition) {
        problem <<- paste0("`chromosome_lengths`: ", conditionMessage(condition))
        NULL
      }
    )
  }
  origin$problems <- c(origin$problems, problem)
  if (is.null(lengths)) NULL else requested_lengths(lengths, config, origin)
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
