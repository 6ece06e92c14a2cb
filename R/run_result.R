# The result of a run, of class ancify_run, from the run itself or from its record.

# A run read from its record: the value of ancify_run() without the objects of its fit. `path` is
# the record or its folder.
read_run_record <- function(path) {
  file <- record_file(path)
  if (!file.exists(file)) refuse_record(file, "does not exist")
  record <- read_record_json(file, simplifyVector = TRUE, simplifyDataFrame = FALSE)
  if (is.null(record)) refuse_record(file, "cannot be read")
  if (!is_run_record(record)) refuse_record(file, "is not a record of a run")
  unless_damaged(file, run_of_record(record))
}

# The files of a run, one row each, for later detection of changes. Checksums are known only for
# files that runs made.
files_of_run <- function(context, run) {
  if (anyNA(run$file)) {
    return(NULL)
  }
  table <- function(names) {
    path <- ledger_paths(context$ledgers$output, names)
    checksum <- complete_rows(context$ledgers$output, names)$checksum
    checksum[!was_seen(context$ledgers$output, names)] <- NA
    data.frame(
      chromosome = run$chromosome, path = path, size = file.size(path),
      modified = file.mtime(path), checksum = checksum
    )
  }
  files <- rbind(
    table(sequence_file(run$chromosome)),
    if (context$config$posterior) table(phred_file(run$chromosome))
  )
  # Calls that no run made may lack posteriors.
  files[!is.na(files$size), ]
}

# A later run, for instance with another method, may have replaced this run's calls.
check_not_replaced <- function(run, name) {
  files <- attr(run, "files")
  if (is.null(files)) {
    return(invisible())
  }
  files <- files[files$chromosome %in% run$chromosome & file.exists(as.character(files$path)), ]
  same <- files$size == file.size(files$path)
  # Files that were made again or restored may have the same contents: compare checksums.
  touched <- same & files$modified != file.mtime(files$path)
  same[touched] <- !is.na(identities_as_written(files[touched, ], new_work()))
  changed <- files$path[!same]
  refuse_if(length(changed),
            "`%s`: %s has been replaced by a later run or by hand. Run it again, %s.", name,
            quoted(changed[1]), "with a separate `output_dir` for each run")
}

run_of_record <- function(record) {
  rows <- rows_of_json(record$chromosomes)
  config <- config_of_record(record, rows)
  alignments <- rows_of_json(record$alignments)
  structure(
    rows[c("chromosome", run_counts, "file")],
    class = c("ancify_run", "data.frame"),
    alignments = if (!anyNA(alignments$used)) alignments, config = config,
    backend = record$backend, seconds = unlist(record$seconds), made_with = record$made_with,
    finished = record$finished, fit_facts = fit_of_record(record$fit),
    evaluation = if (!is.null(record$evaluation)) rows_of_json(record$evaluation)
  )
}

fit_of_record <- function(fit) {
  for (table in c("estimates", "classes")) {
    if (!is.null(fit[[table]])) fit[[table]] <- rows_of_json(fit[[table]])
  }
  fit
}

# A data frame from its rows, each a list; absent elements become NA.
rows_of_json <- function(rows) {
  names <- unique(unlist(lapply(rows, names)))
  columns <- lapply(stats::setNames(nm = names), function(name) {
    unlist(lapply(rows, function(row) row[[name]] %||% NA))
  })
  data.frame(columns, check.names = FALSE)
}

config_of_record <- function(record, rows) {
  # Read only the values, because the inputs may no longer exist.
  config <- read_section(record$settings, config_keys(), "", new_origin())
  config$outgroups <- outgroup_table(config$outgroups)
  config["lengths"] <- list(stats::setNames(as.numeric(rows$length), rows$chromosome))
  config["notes"] <- list(character())
  config["file"] <- list(record$config_file)
  structure(config, class = "ancify_config")
}

new_run <- function(config, result, backend, seconds) {
  calls <- result$calls
  if (is.null(calls)) {
    none <- rep(NA_real_, length(config$lengths))
    calls <- data.frame(
      high = none, low = none, unresolved = none, missing = none, file = NA_character_
    )
  }
  rows <- data.frame(
    chromosome = names(config$lengths), length = unname(config$lengths), calls
  )
  structure(
    rows,
    class = c("ancify_run", "data.frame"),
    alignments = result$alignments, config = config, backend = backend, seconds = seconds,
    fit = result$fit, history = result$history, evaluation = result$evaluation
  )
}

# Row subsets keep the run's attributes.
#' @export
`[.ancify_run` <- function(x, ...) {
  some <- NextMethod()
  if (!is.data.frame(some)) {
    return(some)
  }
  lost <- setdiff(names(attributes(x)), names(attributes(some)))
  attributes(some)[lost] <- attributes(x)[lost]
  some
}

#' @export
print.ancify_run <- function(x, ...) {
  config <- attr(x, "config")
  if (is.null(config) || !all(c("chromosome", run_counts) %in% names(x)) || !nrow(x)) {
    return(NextMethod())
  }
  write_object("ancify_run", c(
    config$focal_species, config$method, count_of(nrow(config$outgroups), "outgroup"),
    attr(x, "backend")
  ))
  if (anyNA(x$high)) {
    print_projected(x, config)
  } else {
    print_calls(x, config)
  }
  invisible(x)
}

run_counts <- c("length", "high", "low", "unresolved", "missing")

# Checks an ancify_run, which the user may have modified.
check_called <- function(run, name = "run") {
  refuse_if(anyNA(run$file) || anyNA(run$high),
            "`%s` is a run without calls: run the phase \"call\" first.", name)
  of_type <- function(columns, is_type) {
    all(vapply(columns, function(column) is_type(run[[column]]), NA))
  }
  refuse_if(nrow(run) == 0 || anyDuplicated(run$chromosome) ||
              !of_type(c("chromosome", "file"), is.character) || !of_type(run_counts, is.numeric),
            "`%s` lacks rows or columns of ancify_run(): give its whole result.", name)
  run
}

most_rows_printed <- 20

print_calls <- function(x, config) {
  counts <- as.matrix(as.data.frame(unclass(x)[run_counts]))
  total <- colSums(counts)
  shown <- seq_len(min(nrow(x), most_rows_printed))
  counts <- rbind(counts[shown, , drop = FALSE], total)
  text <- array(vapply(counts, format_count, ""), dim(counts))
  text <- rbind(text, sprintf("%.2f %%", 100 * total / total[["length"]]))
  dimnames(text) <- list(c(x$chromosome[shown], "all", "share"), run_counts)
  print(text, quote = FALSE, right = TRUE)
  print_rest(x)
  cat("Calls in ", file.path(config$output_dir, "<chromosome>.fa"), "\n", sep = "")
}

print_projected <- function(x, config) {
  shown <- utils::head(x, most_rows_printed)
  lengths <- format(vapply(shown$length, format_count, ""), justify = "right")
  cat(paste0(format(shown$chromosome), "  ", lengths, "\n"), sep = "")
  print_rest(x)
  projected <- file.path(config$work_dir, "projected", "<species>", "<chromosome>.fa")
  cat("Projected in ", projected, "\n", sep = "")
}

print_rest <- function(x) {
  if (nrow(x) > most_rows_printed) {
    cat("... and", nrow(x) - most_rows_printed, "more chromosomes\n")
  }
}
