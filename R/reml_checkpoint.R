# Checkpoints of stochastic fits. The file has a line with a digest of all inputs that affect the
# result, a line with the checksum of the rest, a line of JSON that describes the vectors, and the
# vectors' bytes. R's own format is avoided, as it could contain code.

# list(path =, state = the last saved state or NULL, save = a function that saves the next state),
# or NULL without a file.
open_checkpoint <- function(path, problem, files) {
  if (is.null(path)) {
    return(NULL)
  }
  line <- checkpoint_line(digest_of(problem, files))
  list(
    path = path,
    state = earlier_state(path, line, problem),
    save = function(state) {
      bytes <- state_bytes(state)
      write_file_impl(path, c(line, checksum_line(bytes), bytes))
    }
  )
}

checksum_line <- function(bytes) charToRaw(paste0(bytes_checksum_impl(bytes), "\n"))

checkpoint_line <- function(digest) charToRaw(sprintf("ancify reml checkpoint %s\n", digest))

earlier_state <- function(path, line, problem) {
  if (!is_file(path)) {
    return(NULL)
  }
  refuse <- function(...) {
    abort_ancify(
      sprintf("%s is no whole checkpoint%s: remove it, or choose another file for `checkpoint`.",
              quoted(path), paste0("", ...)),
      "format", file = path
    )
  }
  sizes <- state_sizes(problem)
  bytes <- tryCatch(
    read_bytes_impl(path, most_checkpoint_bytes(sizes)),
    ancify_format_error = function(condition) refuse(", as it is larger than any")
  )
  name <- seq_len(length(checkpoint_line("")) - 1)
  if (!identical(bytes[name], line[name])) refuse()
  if (!identical(bytes[seq_along(line)], line)) {
    abort_ancify(
      sprintf("%s is the checkpoint of a fit with other inputs or settings: %s.", quoted(path),
              "remove it, or choose another file"),
      "input", file = path
    )
  }
  bytes <- bytes[-seq_along(line)]
  sum <- seq_along(checksum_line(raw()))
  if (!identical(bytes[sum], checksum_line(bytes[-sum]))) refuse()
  state_of(bytes[-sum], sizes, refuse)
}

# Calls fit(), whose errors then name the checkpoint that the fit resumed from: a state of valid
# form may still have impossible values.
naming_checkpoint <- function(checkpoint, fit) {
  if (is.null(checkpoint$state)) {
    return(fit())
  }
  tryCatch(fit(), ancify_input_error = function(condition) {
    abort_ancify(
      sprintf("%s The fit went on from the checkpoint %s: if that was changed, remove it.",
              conditionMessage(condition), quoted(checkpoint$path)),
      "input", file = checkpoint$path
    )
  })
}

# A digest of a problem and its files. Genotypes are identified by their bytes, not their path: a
# job may read a copy.
digest_of <- function(problem, files) {
  problem["work"] <- NULL
  problem$genotypes <- without_fields(problem$genotypes, c("path", "identity", "index_identity"))
  problem$kernels <- lapply(problem$kernels, identity_of_kernel, problem$y)
  whole <- tempfile("ancify-digest-")
  on.exit(unlink(whole))
  contents <- contents_of(files)
  saveRDS(list(package_version_text(), problem, contents), whole, compress = FALSE)
  unname(tools::md5sum(whole))
}

# A kernel in the form for the core, and those within it, without paths and functions.
identity_of_kernel <- function(kernel, y) {
  fields <- kernel$fields
  # A function is identified by its product with the response.
  if (kernel$kind == "products") fields$products <- fields$products(as.matrix(y))
  fields$genotypes <- without_fields(fields$genotypes, c("path", "identity", "index_identity"))
  if (kernel$kind == "records") y <- rowsum_of(y, fields$individuals + 1L, fields$n)
  inner <- intersect(inner_kernels, names(fields))
  fields[inner] <- lapply(fields[inner], identity_of_kernel, y)
  c(kernel["kind"], fields)
}

# ---- A state as bytes ----------------------------------------------------------------------------

# A state is a nested list of named vectors and matrices. Strings are stored in the JSON.
state_bytes <- function(state) {
  leaves <- leaves_of(state, character())
  index <- lapply(leaves, function(leaf) {
    value <- leaf$value
    list(
      path = as.list(leaf$path), type = typeof(value), length = length(value),
      dim = as.list(dim(value)), text = if (is.character(value)) as.list(value)
    )
  })
  numbers <- lapply(leaves, function(leaf) {
    if (!is.character(leaf$value)) writeBin(as.vector(leaf$value), raw(), endian = "little")
  })
  c(charToRaw(enc2utf8(paste0(to_json(index, pretty = FALSE), "\n"))), unlist(numbers))
}

leaves_of <- function(x, path) {
  if (!is.list(x)) {
    return(list(list(path = path, value = x)))
  }
  unlist(lapply(names(x), function(name) leaves_of(x[[name]], c(path, name))), recursive = FALSE)
}

# The state in the bytes of a checkpoint. `refuse`: a function that stops with the given reason.
state_of <- function(bytes, sizes, refuse) {
  end <- match(as.raw(10), utils::head(bytes, most_index_bytes), 0L)
  index <- tryCatch(
    state_index(bytes[seq_len(max(end - 1, 0))]),
    error = function(condition) refuse(", as its index is damaged")
  )
  if (!identical(names(index), names(state_fields))) refuse(", as its index lacks a vector")
  bytes <- bytes[-seq_len(end)]
  widths <- c(logical = 4, integer = 4, double = 8, character = 0)
  taken <- vapply(index, function(one) one$length * widths[[one$type]], 0)
  if (sum(taken) != length(bytes)) refuse(", as its vectors do not fill it")
  before <- cumsum(taken) - taken
  state <- list()
  flat <- list()
  for (name in names(index)) {
    one <- index[[name]]
    field <- state_fields[[name]]
    problem <- problem_of_length(one, field, c(sizes, flat))
    if (is.null(problem)) {
      value <- state_vector(bytes[before[[name]] + seq_len(taken[[name]])], one)
      if (!all(field$range(value, c(sizes, flat)))) problem <- "out of its range"
    }
    if (!is.null(problem)) refuse(sprintf(", as its vector %s is %s", quoted(name), problem))
    flat[[name]] <- value
    if (field$columns) dim(value) <- c(4 + sizes$k, length(value) / (4 + sizes$k))
    state <- with_leaf(state, strsplit(name, ".", fixed = TRUE)[[1]], value)
  }
  state
}

# The type, length, dim and text of each vector, by name. An error if the line is not an index.
state_index <- function(line) {
  entries <- jsonlite::parse_json(rawToChar(line))
  names <- vapply(entries, function(entry) {
    stopifnot(is.list(entry))
    check_index_entry(entry)
    paste(entry$path, collapse = ".")
  }, "")
  stats::setNames(entries, names)
}

check_index_entry <- function(entry) {
  are_numbers <- function(x) {
    is.list(x) && all(vapply(x, function(one) is.numeric(one) && length(one) == 1, NA)) &&
      all(vapply(x, function(one) isTRUE(one >= 0 && one == floor(one)), NA))
  }
  are_texts <- function(x) {
    is.list(x) && all(vapply(x, function(one) is.character(one) && length(one) == 1, NA)) &&
      all(validUTF8(unlist(x)))
  }
  stopifnot(
    are_texts(entry$path), are_texts(list(entry$type)), are_numbers(list(entry$length)),
    entry$type %in% c("logical", "integer", "double", "character"), are_numbers(entry$dim),
    is.null(entry$text) || are_texts(entry$text)
  )
}

# The problem with a vector of the index, or NULL. `sizes`: sizes of the fit, and the vectors before
# this one.
problem_of_length <- function(one, field, sizes) {
  lengths <- if (sizes$k == 2) field$one else field$several
  if (is.function(lengths)) lengths <- lengths(sizes, one$length)
  dim <- if (field$columns) c(4 + sizes$k, one$length / (4 + sizes$k)) else numeric()
  if (one$type != field$type) {
    sprintf("of the type %s, not %s", one$type, field$type)
  } else if (!one$length %in% lengths || !identical(as.double(unlist(one$dim)), as.double(dim))) {
    sprintf("of a length that no fit has, %s", format_count(one$length))
  } else if (one$type == "character" && length(one$text) != one$length) {
    "without its text"
  }
}

state_vector <- function(bytes, one) {
  switch(
    one$type,
    character = as.character(one$text),
    # Bytes may encode integers other than 0 and 1, which are not valid R logicals.
    logical = c(FALSE, TRUE)[match(readBin(bytes, "integer", one$length, endian = "little"), 0:1)],
    readBin(bytes, one$type, one$length, endian = "little")
  )
}

with_leaf <- function(x, path, value) {
  x <- as.list(x)
  x[[path[1]]] <- if (length(path) > 1) with_leaf(x[[path[1]]], path[-1], value) else value
  x
}

# ---- The schema ----------------------------------------------------------------------------------

# The index has about 3,000 bytes, plus a message.
most_index_bytes <- 1e5

# Sizes of a fit: n samples, k components with residuals, the largest number of probes, whether
# variances may be below 0, and the largest number of iterations.
state_sizes <- function(problem) {
  control <- problem$control
  given <- control$probes %||% ncol(control$given_probes)
  list(
    n = length(problem$y), k = length(problem$names),
    most = max(control$max_probes, given, length(problem$y)),
    signed = any(control$lower < 0, na.rm = TRUE) || !is.null(problem$residual_shares),
    iterations = control$max_iterations
  )
}

# An upper bound for any fit: 600 Lanczos steps for each probe, the response's vectors or the
# solutions, and a row of iterations for each step and probe.
most_checkpoint_bytes <- function(sizes) {
  k <- sizes$k
  most <- sizes$most
  iterations <- sizes$iterations + 2 * most + 700
  most_index_bytes +
    8 * (sizes$n * (700 + most) + most * (1300 + 4 * k) + iterations * (4 + k) + 4 * k^2)
}

# A vector of a state. `one`, `several`: its length in fits of one component and of several, as a
# number or a function of the sizes and the length found. Sizes include the vectors before this one.
# `range`: a function that says which values are valid. `columns`: whether each iteration has a
# column.
state_field <- function(type, one, several, range, columns = FALSE) as.list(environment())

# A fit scales y to a variance of 1 to 4, so no valid number is as large as 1e100.
is_usual <- function(x, s) is.finite(x) & abs(x) <= 1e100
is_size <- function(x, s) is_usual(x, s) & x >= 0
is_flag <- function(x, s) !is.na(x)
is_count <- function(x, s) !is.na(x) & x >= 0 & x <= s$most & x == floor(x)
is_line <- function(x, s) !is.na(x) & nchar(x, "bytes") <= 1000 & !grepl("\n", x)

are_variances <- function(x, s) {
  is_usual(x, s) & (s$signed | x >= 0)
}

# Rows: log-likelihood, s'I^-1 s, number of probes, step length, and variances.
are_iterations <- function(x, s) {
  row <- (seq_along(x) - 1) %% (4 + s$k) + 1
  (is_usual(x, s) | row == 1 & is.nan(x)) & (row != 3 | is_count(x, s)) & (row != 4 | is_size(x, s))
}

are_informations <- function(x, s) {
  a <- matrix(x, s$k)
  length(x) == 0 || all(is_usual(x, s)) && isSymmetric(a, tol = 1e-6) && all(diag(a) >= 0)
}

columns_of_iterations <- function(s, found) found - found %% (4 + s$k)
runs_of <- function(s, found) 1 + sum(s$blocks)
steps_of <- function(s, found) sum(s$runs.steps)
probes_of <- function(s) length(s$here.solutions) / s$n - 1

# All vectors of a state, in their order.
state_fields <- list(
  passes = state_field("double", 1, 1, function(x, s) is_size(x, s) & x < 2^53),
  orthogonal = state_field("logical", 1, 1, is_flag),
  blocks = state_field("integer", function(s, found) max(found, 1), 0,
                       function(x, s) is_count(x, s) & x > 0),
  iterations = state_field("double", columns_of_iterations, columns_of_iterations, are_iterations,
                           columns = TRUE),
  runs.squares = state_field("double", runs_of, 0, is_size),
  runs.steps = state_field("integer", runs_of, 0, function(x, s) !is.na(x) & x >= 0 & x < 1000),
  runs.exhausted = state_field("integer", runs_of, 0, function(x, s) x %in% 0:1),
  runs.diagonal = state_field("double", steps_of, 0, is_usual),
  runs.beside = state_field("double", steps_of, 0, is_size),
  response_vectors = state_field("double", function(s, found) s$n * s$runs.steps[1], 0, is_usual),
  phase = state_field("integer", 1, 1, function(x, s) x %in% 0:3),
  status = state_field("character", 1, 1, is_line),
  message = state_field("character", 1, 1, is_line),
  solved = state_field("logical", 1, 1, is_flag),
  sketch_weights = state_field("double", 0, function(s, found) s$k, is_usual),
  # Infinite if no step has been shortened.
  radius = state_field("double", 1, 1, function(x, s) is_size(x, s) | x %in% Inf),
  here.theta = state_field("double", 0, function(s, found) s$k, are_variances),
  here.solutions = state_field("double", 0, function(s, found) {
    max(found - found %% s$n, 2 * s$n)
  }, is_usual),
  here.forms = state_field("double", 0, function(s, found) s$k, is_usual),
  here.known = state_field("double", 0, function(s, found) s$k, is_usual),
  here.values = state_field("double", 0, function(s, found) 2 * s$k * probes_of(s), is_usual),
  here.information = state_field("double", 0, function(s, found) s$k^2, are_informations),
  first_probe = state_field("integer", 1, 1, is_count),
  # Present from the first batch on.
  batch_theta = state_field("double", 0, function(s, found) {
    switch(s$phase + 1, 0, s$k, s$k, c(0, s$k))
  }, are_variances),
  batch_values = state_field("double", 0, function(s, found) {
    if (length(s$batch_theta)) found - found %% (2 * s$k) else 0
  }, is_usual),
  first_values = state_field("double", 0, function(s, found) {
    if (length(s$batch_theta)) length(s$here.values) else 0
  }, is_usual)
)
