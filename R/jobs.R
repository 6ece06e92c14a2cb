# What the native jobs need from R: threads, a backend, and someone who watches.

# Threads to use: as asked, else options(ancify.threads =), else all cores
# (or as many as the environment variable RCPP_PARALLEL_NUM_THREADS says).
resolve_threads <- function(threads) {
  threads <- threads %||% getOption("ancify.threads", RcppParallel::defaultNumThreads())
  as.integer(check_whole_number(threads, "threads", most_threads))
}

most_threads <- 4096

`%||%` <- function(x, y) if (is.null(x)) y else x

# At the head of a function: all of its arguments that have no default were given.
check_given <- function() {
  frame <- parent.frame()
  takes <- formals(sys.function(sys.parent()))
  has_none <- function(default) is.name(default) && !nzchar(default)
  needed <- names(takes)[vapply(takes, has_none, NA)]
  missing <- Filter(
    function(name) name != "..." && eval(call("missing", as.name(name)), frame), needed
  )
  if (length(missing)) {
    abort_ancify(
      sprintf(
        "%s must be given: %s no default.", enumerate(sprintf("`%s`", missing)),
        if (length(missing) == 1) "it has" else "they have"
      ),
      "input"
    )
  }
}

# `installer`: the function that installs the packages, with which `what` is made.
need_packages <- function(packages, what, installer = "install.packages") {
  missing <- packages[!vapply(packages, requireNamespace, NA, quietly = TRUE)]
  if (length(missing)) {
    abort_ancify(
      sprintf(
        "%s take the package%s %s: %s(%s).", what, if (length(missing) > 1) "s" else "",
        enumerate(missing), installer, deparse1(missing)
      ),
      "package"
    )
  }
}

need_bioconductor <- function(packages, what) {
  need_packages(packages, what, "BiocManager::install")
}

# Of a method whose `...` is there for its generic alone: a name with a slip would be passed over.
check_no_more <- function(...) {
  if (...length() > 0) {
    named <- Filter(nzchar, ...names())
    abort_ancify(
      sprintf(
        "There is no argument %s here: see the function's help.",
        if (length(named)) enumerate(sprintf("`%s`", named)) else "without a name"
      ),
      "input"
    )
  }
}

check_whole_number <- function(x, name, most = .Machine$integer.max) {
  good <- is.numeric(x) && length(x) == 1 && isTRUE(x >= 1 & x == round(x))
  if (!good) {
    abort_ancify(
      sprintf("`%s` must be a positive whole number, not %s.", name, show_value(x)), "input"
    )
  }
  if (x > most) {
    abort_ancify(
      sprintf("`%s` must be a positive whole number up to %s, not %s.", name, format_count(most),
              show_value(x)),
      "input"
    )
  }
  x
}

check_flag <- function(x, name) {
  if (!isTRUE(x) && !isFALSE(x)) {
    abort_ancify(sprintf("`%s` must be TRUE or FALSE, not %s.", name, show_value(x)), "input")
  }
  x
}

check_path <- function(x, name) {
  problem <- path_problem(check_text(x, name, "path"))
  if (!is.null(problem)) {
    abort_ancify(sprintf("`%s` is %s: %s.", name, show_value(x), problem), "input")
  }
  # As the core hands it to the system.
  path.expand(enc2native(x))
}

# Why a text can be no path.
path_problem <- function(path) {
  if (!validEnc(path)) {
    not_text
  } else if (nchar(path, "bytes") > most_path_bytes) {
    sprintf("a path has at most %s bytes", format_count(most_path_bytes))
  }
}

most_path_bytes <- 4095
not_text <- "these bytes are no text in this session's encoding; rename what is called so"

check_text <- function(x, name, what = "text") {
  if (!is.character(x) || length(x) != 1 || is.na(x) || !nzchar(x)) {
    abort_ancify(sprintf("`%s` must be one %s, not %s.", name, what, show_value(x)), "input")
  }
  x
}

check_choice <- function(x, choices, name) {
  if (identical(x, choices)) {
    return(choices[1])
  }
  is_word <- is.character(x) && length(x) == 1 && !is.na(x)
  if (!is_word || !x %in% choices) {
    abort_ancify(
      sprintf("`%s` must be one of %s, not %s%s", name, enumerate(quoted(choices)), show_value(x),
              if (is_word) did_you_mean(x, choices) else "."),
      "input"
    )
  }
  x
}

backends <- c("auto", "cpu", "gpu")

# `devices` and `gpu_memory` as a configuration has them.
choose_backend <- function(backend, threads, devices = NULL, gpu_memory = NULL) {
  simd <- check_choice(
    getOption("ancify.simd", "auto"), c("auto", "scalar", "avx2", "avx512"),
    "options(ancify.simd = )"
  )
  backend_impl(list(
    kind = check_choice(backend, backends, "backend"), devices = as.integer(devices),
    threads = resolve_threads(threads), simd = simd,
    gpus_per_card = gpus_per_card(),
    # No limit is 0; no device has more than 2^52 bytes.
    gpu_memory = if (is.null(gpu_memory)) 0 else min(max(gpu_memory, 1), 2^52)
  ))
}

# Runs job(watch), where a native job calls watch() 20 times a second with the
# share done and new lines for the log. The bar is cli's: it shows up after two
# seconds, and only where there is a terminal to draw it on.
with_watch <- function(label, job, progress = FALSE, verbose = FALSE) {
  bar <- NULL
  if (check_flag(progress, "progress")) {
    bar <- cli::cli_progress_bar(label, total = 1000, clear = TRUE, .auto_close = FALSE)
    on.exit(cli::cli_progress_done(id = bar))
  }
  watch <- function(share, lines) {
    end_if_cancelled()
    if (verbose) {
      for (line in lines) inform_ancify(line)
    }
    if (!is.null(bar)) {
      cli::cli_progress_update(set = floor(min(share, 0.999) * 1000), id = bar)
    }
    NULL
  }
  job(watch)
}

# Bytes of text a job handles at a time; the tests make it small.
chunk_size <- function() {
  check_whole_number(getOption("ancify.chunk_size", 2^18), "options(ancify.chunk_size = )")
}
