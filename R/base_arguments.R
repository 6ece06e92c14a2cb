# Checks of exported functions: their arguments, and the packages that they need.

# Refuses missing arguments that have no default. Exported functions call it first.
check_given <- function() {
  frame <- parent.frame()
  takes <- formals(sys.function(sys.parent()))
  has_none <- function(default) is.name(default) && !nzchar(default)
  needed <- names(takes)[vapply(takes, has_none, NA)]
  missing <- Filter(
    function(name) name != "..." && eval(call("missing", as.name(name)), frame), needed
  )
  refuse_if(length(missing), "%s must be given: %s no default.",
            enumerate(sprintf("`%s`", missing)),
            if (length(missing) == 1) "it has" else "they have")
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

# For methods whose `...` is only the generic's: R would ignore a misspelt argument.
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

# The index of the first name that is the ID of another row; NA if there is none. Names that are not
# IDs, such as 1, 2, 3, do not indicate an order.
row_of_another <- function(ids, names) {
  which(names %in% ids & names != ids)[1]
}

# `given`: an argument with a row for each of `ids`, in order. `of`: their name in the singular.
check_row_order <- function(given, name, ids, of) {
  names <- row_names_given(given)
  at <- if (length(names) == length(ids)) row_of_another(as.character(ids), names) else NA
  refuse_if(!is.na(at), "Row %s of `%s` is %s, but this %s is %s: order rows as %ss.",
            format_count(at), name, quoted(names[at]), of, quoted(ids[at]), of)
}

# Names of rows; NULL for the numbers that R gives to all tables.
row_names_given <- function(x) {
  names <- if (is.data.frame(x)) attr(x, "row.names") else rownames(x)
  if (is.character(names)) names
}

check_whole_number <- function(x, name, most = .Machine$integer.max) {
  good <- is.numeric(x) && length(x) == 1 && isTRUE(x >= 1 & x == round(x))
  refuse_if(!good, "`%s` must be a positive whole number, not %s.", name, show_value(x))
  refuse_if(x > most, "`%s` must be a positive whole number up to %s, not %s.", name,
            format_count(most), show_value(x))
  x
}

check_at_least <- function(x, name, least) {
  good <- is.numeric(x) && length(x) == 1 && isTRUE(x >= least && x == round(x) && x <= 2^31 - 1)
  refuse_if(!good, "`%s` must be a whole number from %s on, not %s.", name, least, show_value(x))
  x
}

check_share <- function(x, name) {
  good <- is.numeric(x) && length(x) == 1 && isTRUE(x >= 0 & x < 1)
  refuse_if(!good, "`%s` must be a number from 0 to below 1, not %s.", name, show_value(x))
  x
}

check_sample_names <- function(samples) {
  if (is.null(samples)) {
    return(character())
  }
  refuse_if(!is.character(samples) || !length(samples) || anyNA(samples) || anyDuplicated(samples),
            "`samples` must be names of samples, each once, not %s.", show_value(samples))
  enc2utf8(samples)
}

check_flag <- function(x, name) {
  refuse_if(!isTRUE(x) && !isFALSE(x), "`%s` must be TRUE or FALSE, not %s.", name, show_value(x))
  x
}

# The path of an object that represents a file, such as a TwoBitFile, FaFile or VcfFile, or a
# BSgenome of a 2bit file. Other values, such as paths, are returned unchanged.
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
  refuse_if(!is.null(problem), "`%s` is %s: %s.", name, show_value(x), problem)
  # The core passes paths to the system in this form.
  path.expand(enc2native(x))
}

# The reason why a text cannot be a path; NULL if it can.
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
  refuse_if(!is.character(x) || length(x) != 1 || is.na(x) || !nzchar(x),
            "`%s` must be one %s, not %s.", name, what, show_value(x))
  x
}

check_choice <- function(x, choices, name) {
  if (identical(x, choices)) {
    return(choices[1])
  }
  is_word <- is.character(x) && length(x) == 1 && !is.na(x)
  refuse_if(!is_word || !x %in% choices, "`%s` must be one of %s, not %s%s", name,
            enumerate(quoted(choices)), show_value(x),
            if (is_word) did_you_mean(x, choices) else ".")
  x
}

or_null <- function(code) tryCatch(code, ancify_input_error = function(error) NULL)

check_level <- function(level) {
  refuse_if(!is.numeric(level) || length(level) != 1 || !isTRUE(level > 0 && level < 1),
            "`level` must be between 0 and 1, not %s.", show_value(level))
}

# Column names of intervals, as in R's `confint()`.
tail_names <- function(level) {
  paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE, digits = 3), "%")
}

# The parameters of intervals: the given ones, or all.
check_parm <- function(parm, has) {
  unknown <- setdiff(parm, has)
  refuse_if(length(unknown), "`parm` has %s, but there are intervals of %s.",
            enumerate(quoted(unknown)), enumerate(quoted(has)))
  parm %||% has
}

# `n`: the length that `x` must have; NULL for any length above 0.
check_positive <- function(x, name, n = NULL) {
  right_length <- if (is.null(n)) length(x) > 0 else length(x) == n
  refuse_if(!is.numeric(x) || !right_length || !all(is.finite(x) & x > 0),
            "`%s` must be %s above 0, not %s.", name, if (is.null(n)) "numbers" else "a number",
            show_value(x))
  x
}
