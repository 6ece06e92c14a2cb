# Checks of exported functions: their arguments, and the packages that they need.

# Call it first in a function: all arguments without a default must have been given.
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

# `what`: the objects that these packages make, in the plural. `installer`: the function that
# installs them.
need_packages <- function(packages, what, installer = "install.packages") {
  missing <- packages[!vapply(packages, requireNamespace, NA, quietly = TRUE)]
  if (length(missing)) {
    abort_ancify(
      sprintf(
        "%s need the package%s %s. Install with %s(%s).", what,
        if (length(missing) > 1) "s" else "", enumerate(missing), installer, deparse1(missing)
      ),
      "package"
    )
  }
}

need_bioconductor <- function(packages, what) {
  need_packages(packages, what, "BiocManager::install")
}

# For methods whose `...` serves the generic alone: R would ignore a misspelt argument.
check_no_more <- function(...) {
  if (...length() > 0) {
    named <- sprintf("`%s`", Filter(nzchar, ...names()))
    abort_ancify(
      sprintf(
        "This function has no argument%s %s: see its help.",
        if (length(named) > 1) "s" else "",
        if (length(named)) enumerate(named) else "without a name"
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

# The path of an object that stands for a file, such as a TwoBitFile, FaFile or VcfFile, or a
# BSgenome of a 2bit file. Anything else, such as a path, stays as it is.
path_of <- function(x) {
  if (!isS4(x)) {
    return(x)
  }
  if (methods::is(x, "BSgenome")) {
    x <- tryCatch(methods::slot(x@single_sequences, "twobitfile"), error = function(condition) x)
  }
  tryCatch(BiocGenerics::path(x), error = function(condition) x)
}

check_path <- function(x, name) {
  x <- path_of(x)
  problem <- path_problem(check_text(x, name, "path"))
  if (!is.null(problem)) {
    abort_ancify(sprintf("`%s` is %s: %s.", name, show_value(x), problem), "input")
  }
  # The form that the core passes to the system.
  path.expand(enc2native(x))
}

# Why a text cannot be a path; NULL if it can.
path_problem <- function(path) {
  if (!validEnc(path)) {
    not_text
  } else if (nchar(path, "bytes") > most_path_bytes) {
    sprintf("a path has at most %s bytes", format_count(most_path_bytes))
  }
}

most_path_bytes <- 4095

not_text <- "it is not valid text in this session's encoding; choose another name"

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

or_null <- function(code) tryCatch(code, ancify_input_error = function(error) NULL)

check_level <- function(level) {
  if (!is.numeric(level) || length(level) != 1 || !isTRUE(level > 0 && level < 1)) {
    abort_ancify(sprintf("`level` must be between 0 and 1, not %s.", show_value(level)), "input")
  }
}

# Names of columns, as `confint()` of R has them.
tail_names <- function(level) {
  paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE, digits = 3), "%")
}

# The parameters of intervals: those given, or all.
check_parm <- function(parm, has) {
  unknown <- setdiff(parm, has)
  if (length(unknown)) {
    abort_ancify(
      sprintf("`parm` has %s, but there are intervals of %s.", enumerate(quoted(unknown)),
              enumerate(quoted(has))),
      "input"
    )
  }
  parm %||% has
}

# `n`: the length that `x` must have; NULL for any length above 0.
check_positive <- function(x, name, n = NULL) {
  right_length <- if (is.null(n)) length(x) > 0 else length(x) == n
  if (!is.numeric(x) || !right_length || !all(is.finite(x) & x > 0)) {
    abort_ancify(
      sprintf(
        "`%s` must be %s above 0, not %s.", name,
        if (is.null(n)) "numbers" else "a number", show_value(x)
      ),
      "input"
    )
  }
  x
}
