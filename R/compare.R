#' Compare the calls of several runs
#'
#' Compares runs of one focal genome position by position: called bases, agreement and differing
#' bases. `compare_calls(voting = run1, parsimony = run2)` gives tables of counts.
#'
#' Two runs agree if both call the same base, in upper or lower case. `n`, `N`, `-` and `.` are not
#' calls. The result is the same at any number of threads.
#'
#' @param ... Two to twelve runs, each the result of [ancify_run()] or its output folder, or one
#'   list of them. Argument names name the runs; without names, folders do.
#' @param window Length of a window in bases; 1,000,000 by default. Windows begin at the start of a
#'   chromosome; its last one may be shorter.
#' @param threads Number of threads; `NULL` (the default) for `getOption("ancify.threads")`, or
#'   all cores.
#' @param progress `TRUE` shows a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @return A list of class `ancify_comparison` of data frames, for `print()`, `summary()` and
#'   [`plot()`][plot.ancify_comparison]. All counts are in positions. Pairs of runs are in the
#'   columns `first` and `second`. `called` counts the positions called by exactly the runs of
#'   `called_by`.
#'
#'   | Table | A row for each | Columns |
#'   | --- | --- | --- |
#'   | `runs` | run | `run`, `folder` |
#'   | `confidence` | run, chromosome | `length`, `high`, `low`, `unresolved`, `missing` |
#'   | `pairs` | chromosome, pair | `both` call, `same` base, `only_first`, `only_second` |
#'   | `agreement` | these, confidences | `first_confidence`, `second_confidence`, `both`, `same` |
#'   | `called` | chromosome, set of runs | `called_by` (`a + b` or `none`), `positions` |
#'   | `confusion` | pair, two bases | `first_base`, `second_base`, `positions` |
#'   | `windows` | chromosome, window, pair | `start`, `end`, `both` call, `differ` |
#'
#'   `summary()` gives a data frame with a row for each pair, over all chromosomes:
#'
#'   | Column | Meaning |
#'   | --- | --- |
#'   | `both`, `agreement` | positions that both call, and the share with the same base |
#'   | `both_high`, `agreement_high` | as above, for calls of high confidence |
#'   | `only_first`, `only_second` | positions that one run calls |
#'   | `transitions`, `transversions` | kinds of differences |
#' @section Errors:
#' * `ancify_calls_warning`: calls of several configurations in one folder are read together.
#' * `ancify_input_error`: there are fewer than two runs or more than twelve, two share a name, or
#'   one has no calls.
#' * `ancify_input_error`: the runs have no chromosome in common, a chromosome's lengths differ, or
#'   a letter is not a call.
#' * `ancify_input_error`: the runs give more than 100,000,000 windows and pairs.
#' * `ancify_file_error`, `ancify_format_error`: a file cannot be read, or is not one-line FASTA.
#' * `ancify_comparison_warning`: chromosomes that some runs lack are left out.
#' @seealso [plot.ancify_comparison()] for pictures, [ancify_report()] for a page of them
#' @export
#' @examples
#' config <- ancify_example()
#' voting <- ancify_run(config, threads = 1, verbose = FALSE)
#' config$method <- "parsimony"
#' config$tree <- "(((focal,near1),near2),far);"
#' config$output_dir <- file.path(tempdir(), "parsimony")
#' parsimony <- ancify_run(config, threads = 1, verbose = FALSE)
#' comparison <- compare_calls(voting = voting, parsimony = parsimony, threads = 1)
#' comparison
#' summary(comparison)
compare_calls <- function(..., window = 1e6, threads = NULL, progress = interactive()) {
  check_whole_number(window, "window", 2^53)
  work <- new_work(threads, progress = progress)
  files <- files_of_runs(list(...))
  lengths <- common_lengths(files)
  check_windows(lengths, window, choose(length(files), 2))
  folders <- run_folders(files)
  counts <- with_watch("Comparing", function(watch) {
    compared_folders(folders, lengths, window, FALSE, work, watch)
  }, work$progress)
  new_comparison(counts, folders, lengths, window)
}

# The counts of differences by chromosome and window. With `any_letters`, letters that are not calls
# count as missing.
compared_folders <- function(folders, lengths, window, any_letters, work, watch) {
  compared <- core_list(
    "ComparedFolders",
    folders = folders, lengths = lengths, window = window, any_letters = any_letters
  )
  compare_calls_impl(compared, work, watch)
}

# The files of each run, by name.
files_of_runs <- function(runs) {
  if (length(runs) == 1 && is.list(runs[[1]]) && !inherits(runs[[1]], "ancify_run")) {
    runs <- runs[[1]]
  }
  most_runs <- core_limits()$compared_runs
  refuse_if(length(runs) < 2 || length(runs) > most_runs, "Give 2 to %d runs to compare, not %d.",
            most_runs, length(runs))
  names <- names(runs) %||% rep("", length(runs))
  unnamed <- names %in% c("", NA)
  names[unnamed] <- sprintf("run %d", which(unnamed))
  files <- Map(call_files, runs, names)
  for (one in files) warn_about_mixed_calls(one$file)
  names[unnamed] <- basename(run_folders(files))[unnamed]
  refuse_if(anyDuplicated(names), "Two runs have the name %s: name them, as in %s.",
            quoted(names[anyDuplicated(names)]), "compare_calls(first = ..., second = ...)")
  odd <- names[names == "none" | grepl(" + ", names, fixed = TRUE)]
  refuse_if(length(odd),
            "A run cannot have the name %s, which means a set of runs: give it another name.",
            quoted(odd[1]))
  stats::setNames(files, names)
}

run_folders <- function(files) {
  vapply(files, function(one) dirname(one$file[1]), "")
}

# The lengths of the chromosomes that all runs have.
common_lengths <- function(files) {
  chromosomes <- lapply(files, `[[`, "chromosome")
  common <- Reduce(intersect, chromosomes)
  if (length(common) == 0) {
    shown <- sprintf("%s has %s", names(files), vapply(chromosomes, function(names) {
      enumerate(quoted(names))
    }, ""))
    refuse_input("The runs have no chromosome in common: %s.", paste(shown, collapse = "; "))
  }
  left_out <- setdiff(unlist(chromosomes), common)
  if (length(left_out)) {
    warn_ancify(
      sprintf("The comparison leaves out %s, which not all runs have.",
              enumerate(quoted(left_out))),
      "comparison", chromosomes = left_out
    )
  }
  lengths <- vapply(files, function(one) {
    with_lengths(one[match(common, one$chromosome), ])$length
  }, numeric(length(common)))
  lengths <- matrix(lengths, length(common), dimnames = list(common, names(files)))
  other <- which(lengths != lengths[, 1], arr.ind = TRUE)
  if (nrow(other)) {
    at <- other[1, ]
    refuse_input("%s has %s bases in %s, but %s in %s: compare calls of one genome.",
                 quoted(common[at[[1]]]), format_count(lengths[at[[1]], 1]),
                 quoted(names(files)[1]), format_count(lengths[at[[1]], at[[2]]]),
                 quoted(names(files)[at[[2]]]))
  }
  stats::setNames(lengths[, 1], common)
}

# A data frame of this number of rows takes 5 GB.
most_window_rows <- 1e8

check_windows <- function(lengths, window, pairs) {
  rows <- sum(ceiling(lengths / window)) * pairs
  refuse_if(rows > most_window_rows,
            "`window` of %s makes %s windows and pairs of runs; the limit is %s: increase it.",
            format_count(window), format_count(rows), format_count(most_window_rows))
}

# ---- From counts to tables ---------------------------------------------------------

# States of a position in the core's order: the bases of high and of low confidence, unresolved,
# missing.
state_confidence <- factor(confidences[c(rep(1:2, each = 4), 3, 4)], confidences)

state_base <- c(rep(c("A", "C", "G", "T"), 2), NA, NA)

is_called <- !is.na(state_base)

# `counts`: for each chromosome list(pairs =, called =, both =, differ =), in positions. The
# dimensions of `pairs` are second state, first state and pair. `called` has one dimension, the set
# of runs; `both` and `differ` have pair and window.
new_comparison <- function(counts, folders, lengths, window) {
  runs <- names(folders)
  pairs <- pairs_of_runs(runs)
  joint <- array(
    vapply(counts, `[[`, numeric(100 * nrow(pairs)), "pairs"),
    c(10, 10, nrow(pairs), length(lengths))
  )
  structure(
    list(
      runs = data.frame(run = runs, folder = unname(folders)),
      confidence = confidence_table(joint, pairs, runs, lengths),
      pairs = pair_table(joint, pairs, names(lengths)),
      agreement = agreement_table(joint, pairs, names(lengths)),
      called = called_table(lapply(counts, `[[`, "called"), runs, names(lengths)),
      confusion = confusion_table(joint, pairs),
      windows = window_table(counts, pairs, lengths, window)
    ),
    class = "ancify_comparison"
  )
}

# Pairs in the core's order.
pairs_of_runs <- function(runs) {
  pairs <- utils::combn(runs, 2)
  data.frame(first = pairs[1, ], second = pairs[2, ])
}

# Counts of positions by pair and chromosome, if both runs have one of these states.
sum_of_states <- function(joint, first, second) {
  colSums(joint[second, first, , , drop = FALSE], dims = 2)
}

# A run's counts come from its pair with the first run.
confidence_table <- function(joint, pairs, runs, lengths) {
  one_run <- function(run) {
    pair <- which(pairs$first == runs[1] & pairs$second == if (run == 1) runs[2] else runs[run])
    count <- function(confidence) {
      states <- state_confidence == confidence
      all <- rep(TRUE, 10)
      if (run == 1) {
        sum_of_states(joint, states, all)[pair, ]
      } else {
        sum_of_states(joint, all, states)[pair, ]
      }
    }
    counts <- lapply(stats::setNames(confidences, confidences), count)
    data.frame(run = runs[run], chromosome = names(lengths), length = unname(lengths), counts)
  }
  do.call(rbind, lapply(seq_along(runs), one_run))
}

# A row for each chromosome and pair; pairs vary fastest.
by_pair <- function(pairs, chromosomes, ...) {
  data.frame(
    chromosome = rep(chromosomes, each = nrow(pairs)),
    first = rep(pairs$first, length(chromosomes)), second = rep(pairs$second, length(chromosomes)),
    ...
  )
}

pair_table <- function(joint, pairs, chromosomes) {
  by_pair(
    pairs, chromosomes,
    both = c(sum_of_states(joint, is_called, is_called)), same = c(sum_of_same(joint, is_called)),
    only_first = c(sum_of_states(joint, is_called, !is_called)),
    only_second = c(sum_of_states(joint, !is_called, is_called))
  )
}

# Counts of positions with the same base, in these states.
sum_of_same <- function(joint, first, second = first) {
  Reduce(`+`, lapply(c("A", "C", "G", "T"), function(base) {
    sum_of_states(joint, first & state_base %in% base, second & state_base %in% base)
  }))
}

agreement_table <- function(joint, pairs, chromosomes) {
  sure <- confidences[1:2]
  tables <- lapply(sure, function(first) {
    lapply(sure, function(second) {
      states <- list(state_confidence == first, state_confidence == second)
      by_pair(
        pairs, chromosomes,
        first_confidence = first, second_confidence = second,
        both = c(sum_of_states(joint, states[[1]], states[[2]])),
        same = c(sum_of_same(joint, states[[1]], states[[2]]))
      )
    })
  })
  do.call(rbind, unlist(tables, recursive = FALSE))
}

called_table <- function(counts, runs, chromosomes) {
  sets <- seq_along(counts[[1]]) - 1
  names <- vapply(sets, function(set) {
    paste(runs[bitwAnd(set, 2^(seq_along(runs) - 1)) > 0], collapse = " + ")
  }, "")
  data.frame(
    chromosome = rep(chromosomes, each = length(sets)),
    called_by = rep(ifelse(names == "", "none", names), length(chromosomes)),
    positions = unlist(counts, use.names = FALSE)
  )
}

confusion_table <- function(joint, pairs) {
  bases <- c("A", "C", "G", "T")
  cells <- expand.grid(second_base = bases, first_base = bases, stringsAsFactors = FALSE)
  tables <- Map(function(first, second) {
    count <- sum_of_states(joint, state_base %in% first, state_base %in% second)
    data.frame(pairs, first_base = first, second_base = second, positions = rowSums(count))
  }, cells$first_base, cells$second_base)
  do.call(rbind, unname(tables))
}

window_table <- function(counts, pairs, lengths, window) {
  windows <- windows_of(lengths, window)
  n <- nrow(pairs)
  count <- function(field) unlist(lapply(counts, `[[`, field), use.names = FALSE)
  by_window <- lapply(windows, rep, each = n)
  data.frame(
    chromosome = names(lengths)[by_window$chromosome], start = by_window$start,
    end = by_window$end, first = rep(pairs$first, nrow(windows)),
    second = rep(pairs$second, nrow(windows)), both = count("both"), differ = count("differ")
  )
}

# The windows of chromosomes: the index of each window's chromosome, its start and its end.
windows_of <- function(lengths, width) {
  n <- ceiling(unname(lengths) / width)
  chromosome <- rep(seq_along(n), n)
  start <- 1 + width * (sequence(n) - 1)
  end <- pmin(start + width - 1, unname(lengths)[chromosome])
  data.frame(chromosome = chromosome, start = start, end = end)
}

# ---- Checks ------------------------------------------------------------------------

# The columns of each table: keys, then counts or lengths.
comparison_columns <- list(
  runs = list(c("run", "folder"), character()),
  confidence = list(c("run", "chromosome"), c("length", confidences)),
  pairs = list(
    c("chromosome", "first", "second"), c("both", "same", "only_first", "only_second")
  ),
  agreement = list(
    c("chromosome", "first", "second", "first_confidence", "second_confidence"), c("both", "same")
  ),
  called = list(c("chromosome", "called_by"), "positions"),
  confusion = list(c("first", "second", "first_base", "second_base"), "positions"),
  windows = list(c("chromosome", "first", "second"), c("start", "end", "both", "differ"))
)

# The user may have changed a comparison.
check_comparison <- function(x, name = "x") {
  must_be(inherits(x, "ancify_comparison"), x, name, "a result of compare_calls()")
  is_whole <- function(table, columns) {
    all(
      is.data.frame(table), NROW(table) > 0, unlist(columns) %in% names(table),
      vapply(columns[[2]], function(column) is.numeric(table[[column]]), NA)
    )
  }
  whole <- mapply(is_whole, unclass(x)[names(comparison_columns)], comparison_columns)
  refuse_if(!all(whole),
            "`%s` was changed: its table `%s` lacks rows, columns or numbers. Compare again.", name,
            names(comparison_columns)[!whole][1])
  x
}
