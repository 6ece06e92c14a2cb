# Helpers of the tests of models and features.

cpu <- function(threads = 2) {
  ancify:::new_work(threads)
}

no_watch <- function(share, lines, place) NULL

features_of <- function(sequences, n_inner, piece = 4096, threads = 2) {
  ancify:::ml_features_impl(sequences, n_inner, piece, cpu(threads), no_watch)
}

predict_with <- function(model, features, raw = FALSE, threads = 2) {
  ancify:::ml_predict_impl(model, features, raw, cpu(threads), no_watch)
}

# The features by the specification: a matrix with a row for each position.
oracle_features <- function(sequences, n_inner) {
  bases <- do.call(rbind, strsplit(toupper(sequences), ""))
  codes <- matrix(match(bases, c("A", "C", "G", "T"), nomatch = 5) - 1, nrow = length(sequences))
  n <- ncol(codes)
  inner <- seq_len(n_inner)
  votes <- function(column) tabulate(column[column < 4] + 1, 4)
  consensus <- function(column) if (any(column < 4)) which.max(votes(column)) - 1 else 4
  all <- apply(codes, 2, consensus)
  half <- min(50, floor((n - 1) / 2))
  t(vapply(seq_len(n), function(i) {
    column <- codes[, i]
    with_data <- sum(column < 4)
    of_inner <- consensus(column[inner])
    of_outer <- consensus(column[-inner])
    window <- all[max(1, i - half):min(n, i + half)]
    known <- window[window < 4]
    before <- if (i > 1) all[i - 1] else 4
    after <- if (i < n) all[i + 1] else 4
    c(
      ifelse(column == 4, -1, column), with_data,
      if (with_data > 0) max(votes(column)) / with_data else 0,
      of_inner, of_outer, of_inner == of_outer && of_inner < 4,
      if (length(known)) mean(known %in% 1:2) else 0,
      (all[i] == 1 && after == 2) || (all[i] == 2 && before == 1), before, after
    )
  }, numeric(nrow(codes) + 9)))
}

# To the nearest 32-bit float.
as_float <- function(x) {
  x[] <- readBin(writeBin(as.vector(x), raw(), size = 4), "numeric", length(x), size = 4)
  x
}

# Sequences of related species, with runs without data.
random_species <- function(n, n_species, changed = 0.1) {
  ancestor <- random_base(n)
  vapply(seq_len(n_species), function(s) {
    sequence <- ifelse(runif(n) < changed, random_base(n), ancestor)
    for (start in sample(n, n %/% 150)) {
      sequence[start:min(n, start + sample(130, 1))] <- "N"
    }
    paste(sequence, collapse = "")
  }, "")
}

# Python's lightgbm through reticulate.
require_python_lightgbm <- function() {
  require_package("reticulate")
  if (!reticulate::py_module_available("lightgbm")) {
    lacking("Python's lightgbm (RETICULATE_PYTHON says in which Python)")
  }
  reticulate::import("lightgbm")
}

ml_method <- function(n_inner, n_outer, model_path, high, low) {
  species <- list(inner = seq_len(n_inner), outer = seq_len(n_outer))
  settings <- list(high = high, low = low, model_path = model_path)
  ancify:::core_method(ancify:::calling_methods()$ml, species, settings)
}

# `method`: a result of ml_method(). Gives list(calls =, posterior =).
called_by_model <- function(sequences, method, posterior = FALSE, threads = 2) {
  caller <- ancify:::make_caller(method, FALSE, cpu(threads))
  ancify:::call_in_memory_impl(sequences, caller, posterior, no_watch)
}
