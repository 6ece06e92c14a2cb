# Checks of exported functions: their arguments, and the packages that they need.

# Checks arguments of the calling function, in the order of `...`. Each is `argument = kind`: a kind
# takes a value and its name, and returns the value to use, or refuses it. First, check_given()
# refuses missing arguments.
check_args <- function(...) {
  frame <- parent.frame()
  check_given(frame, sys.function(sys.parent()))
  apply_kinds(..., frame = frame)
}

# check_args() for methods whose `...` is only the generic's
check_method <- function(...) {
  frame <- parent.frame()
  check_given(frame, sys.function(sys.parent()))
  eval(quote(check_no_more(...)), frame)
  apply_kinds(..., frame = frame)
}

# Makes each kind only in its turn, because it may use the values of earlier arguments.
apply_kinds <- function(..., frame) {
  for (i in seq_len(...length())) {
    name <- ...names()[i]
    kind <- ...elt(i)
    assign(name, kind(get(name, frame), name), frame)
  }
}

# Refuses missing arguments that have no default. Exported functions call it first, or check_args().
check_given <- function(frame = parent.frame(), fun = sys.function(sys.parent())) {
  takes <- formals(fun)
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
    refuse_input("This function has no argument%s %s: see its help.",
                 if (length(named) > 1) "s" else "",
                 if (length(named)) enumerate(named) else "without a name")
  }
}

# The index of the first name that is the ID of another row; NA if there is none. Names that are not
# IDs, such as 1, 2, 3, do not indicate an order.
row_of_another <- function(ids, names) {
  which(names %in% ids & names != ids)[1]
}

# `given`: an argument with a row for each of `ids`, in order. `of`: a singular noun for the ids.
check_row_order <- function(given, name, ids, of) {
  names <- row_names_given(given)
  at <- if (length(names) == length(ids)) row_of_another(as.character(ids), names) else NA
  refuse_if(!is.na(at), "Row %s of `%s` is %s, but this %s is %s: order rows as %ss.",
            format_count(at), name, quoted(names[at]), of, quoted(ids[at]), of)
}

# Names of rows; NULL for the indices that R gives to all tables.
row_names_given <- function(x) {
  names <- if (is.data.frame(x)) attr(x, "row.names") else rownames(x)
  if (is.character(names)) names
}

# Refuses `x` unless it is `good`.
must_be <- function(good, x, name, what) {
  refuse_if(!good, "`%s` must be %s, not %s.", name, what, show_value(x))
  x
}

# Kinds of arguments for check_args(). An argument cannot have the name of a kind that checks it or
# another argument of the call.

# `what`: an object of this class, in words.
of_class <- function(class, what) {
  force(class)
  force(what)
  function(x, name) must_be(inherits(x, class), x, name, what)
}

optional <- function(kind) function(x, name) if (!is.null(x)) kind(x, name)

flag <- function() check_flag

whole <- function(most = .Machine$integer.max) {
  function(x, name) check_whole_number(x, name, most)
}

at_least <- function(least) {
  function(x, name) {
    good <- is_number(x) && x >= least && x == round(x) && x <= .Machine$integer.max
    must_be(good, x, name, sprintf("a whole number from %s on", least))
  }
}

number <- function(from = -Inf, to = Inf) {
  function(x, name) {
    must_be(is_number(x) && x >= from && x <= to, x, name, paste0(
      "a number", if (is.finite(from)) paste(" from", from), if (is.finite(to)) paste(" to", to)
    ))
  }
}

share <- function() check_share

positive <- function(n = NULL) function(x, name) check_positive(x, name, n)

text <- function(what = "text") function(x, name) check_text(x, name, what)

choice <- function(choices) function(x, name) check_choice(x, choices, name)

one_path <- function() check_path

file_in <- function() check_file

# Checks that code outside check_args() calls too

check_whole_number <- function(x, name, most = .Machine$integer.max) {
  good <- is.numeric(x) && length(x) == 1 && isTRUE(x >= 1 & x == round(x))
  must_be(good, x, name, "a positive whole number")
  must_be(x <= most, x, name, sprintf("a positive whole number up to %s", format_count(most)))
}

check_share <- function(x, name) {
  must_be(is_number(x) && x >= 0 && x < 1, x, name, "a number from 0 to below 1")
}

check_sample_names <- function(samples) {
  if (is.null(samples)) {
    return(character())
  }
  good <- is.character(samples) && length(samples) && !anyNA(samples) && !anyDuplicated(samples)
  must_be(good, samples, "samples", "names of samples, each once")
  enc2utf8(samples)
}

# Names of `n` populations, or NULL
check_populations <- function(populations, n) {
  if (is.null(populations)) {
    return(invisible())
  }
  refuse_if(!is.character(populations) || length(populations) != n,
            "`populations` must be %d %s, not %s.", n, if (n == 1) "name" else "names",
            show_value(populations))
  wrong <- is.na(populations) | !validEnc(populations)
  wrong <- wrong | !nzchar(populations, keepNA = FALSE) | duplicated(populations)
  wrong[!wrong] <- grepl("[\"[:cntrl:]]", populations[!wrong])
  refuse_if(any(wrong),
            "`populations[%d]` is %s: a name must be unique, not empty, and without quotes.",
            which(wrong)[1], show_value(populations[wrong][1]))
}

check_flag <- function(x, name) {
  must_be(isTRUE(x) || isFALSE(x), x, name, "TRUE or FALSE")
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

# The path of an existing file
check_file <- function(x, name) {
  file <- check_path(x, name)
  check_is_file(file)
  file
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
  must_be(is.character(x) && length(x) == 1 && !is.na(x) && nzchar(x), x, name, paste("one", what))
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

check_level <- function(x, name) {
  must_be(is_number(x) && x > 0 && x < 1, x, name, "between 0 and 1")
}

# Column names of intervals, as in R's `confint()`.
tail_names <- function(level) {
  paste(format(100 * c(1 - level, 1 + level) / 2, trim = TRUE, digits = 3), "%")
}

# The parameters that get intervals: `parm`, or all.
check_parm <- function(parm, has) {
  unknown <- setdiff(parm, has)
  refuse_if(length(unknown), "`parm` has %s, but there are intervals of %s.",
            enumerate(quoted(unknown)), enumerate(quoted(has)))
  parm %||% has
}

# `n`: the length that `x` must have; NULL for any length above 0.
check_positive <- function(x, name, n = NULL) {
  right_length <- if (is.null(n)) length(x) > 0 else length(x) == n
  must_be(is.numeric(x) && right_length && all(is.finite(x) & x > 0), x, name,
          if (is.null(n)) "numbers above 0" else "a number above 0")
}
