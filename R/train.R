#' Train a model for `method: ml`
#'
#' Trains gradient-boosted trees that tell an ancestral base from the outgroups'
#' bases at a position and around it, and writes them as LightGBM's text.
#'
#' The sites to learn from are taken from the projected sequences in
#' `<work_dir>/projected`; where one is missing, all alignments are projected
#' first, as [ancify_run()] does. Their ancestral bases are those of
#' `ml_training_reference`, a folder of `<chromosome>.fa` (one sequence in a file,
#' in the focal genome's coordinates; chromosomes without a file are left out), at
#' sites where an outgroup has data. Without it they are the calls of high
#' confidence that `method: voting` makes, with the configuration's
#' `min_inner_freq` and `min_outer_freq`: the model then extends to other sites
#' what is sure at these, has seen none at which the tiers disagree, and is too sure of all its
#' calls (`vignette("methods", "ancify")`): its probabilities mean little. Each base
#' gets an equal number of sites, spread evenly over the genome; only their features
#' are kept in memory (in R, 8 bytes each).
#'
#' Training is done by the R package `lightgbm` or, where it is not installed, by
#' Python's `lightgbm` through the package `reticulate` (which takes the Python
#' that the environment variable `RETICULATE_PYTHON` names, or that it finds). A
#' model that was trained elsewhere on the same features works as well. Calling
#' needs neither package.
#'
#' @inheritParams ancify_run
#' @param file Where the model goes; `NULL` (the default) for `ml_model_path` of
#'   the configuration or else `<work_dir>/ancify_ml_model.lgb`. A file that exists
#'   is replaced when the model is complete.
#' @param max_sites Most sites to train on, at least 4; default 5 million.
#' @param seed A positive whole number that decides which sites are drawn, and what
#'   LightGBM draws; default 1. The same number gives the same sites at any number
#'   of threads.
#' @param rounds,leaves,learning_rate Rounds of boosting, each of which adds a tree
#'   for every base (default 200), the most leaves of a tree (default 63) and the
#'   weight of a new tree (default 0.1).
#' @return The path of the model, invisibly.
#' @section Errors:
#' `ancify_package_error` where neither `lightgbm` can be used, or fails;
#' `ancify_config_error` for settings that can't be used; `ancify_input_error` for
#' arguments that can't be used and where a base has no site; `ancify_file_error`
#' and `ancify_format_error` for files that can't be read or written;
#' `ancify_lock_error` where a run works in `work_dir`.
#' @references Ke et al. (2017) LightGBM: A Highly Efficient Gradient Boosting
#'   Decision Tree. Advances in Neural Information Processing Systems 30.
#' @seealso [ancify_run()], [call_ancestral()]
#' @export
#' @examples
#' if (requireNamespace("lightgbm", quietly = TRUE)) {
#'   model <- ancify_train(ancify_example(), rounds = 20, threads = 1)
#'   readLines(model, 4)
#' }
ancify_train <- function(config, file = NULL, max_sites = 5e6, seed = 1, rounds = 200,
                         leaves = 63, learning_rate = 0.1, threads = NULL,
                         progress = interactive(), verbose = TRUE) {
  check_given()
  check_training_arguments(max_sites, seed, rounds, leaves, learning_rate)
  check_flag(progress, "progress")
  check_flag(verbose, "verbose")
  config <- read_config(config, "train")
  check_both_tiers(config)
  file <- check_output_file(file %||% ml_model_path(config))
  trainer <- find_trainer()
  backend <- choose_backend("cpu", threads %||% config$num_cpus)
  log <- log_where(verbose)
  log(paste("Using", backend$description))
  for (note in config$notes) log(note)

  work_in(
    new_context(config, backend, NULL, progress, verbose), "project", project_where_missing
  )
  sites <- training_sites(config, max_sites, seed, backend, progress, log)
  log(sprintf("Training on %s sites with %s", format_count(length(sites$labels)), trainer$name))
  parameters <- training_parameters(seed, leaves, learning_rate, backend$threads)
  write_whole(file, function(path) {
    train_with(trainer, sites, parameters, as.integer(rounds), path)
  })
  log(sprintf("Wrote %s", quoted(file)))
  invisible(file)
}

check_training_arguments <- function(max_sites, seed, rounds, leaves, learning_rate) {
  check_whole_number(max_sites, "max_sites")
  check_whole_number(seed, "seed")
  check_whole_number(rounds, "rounds")
  check_whole_number(leaves, "leaves")
  if (max_sites < 4) {
    abort_ancify("`max_sites` must be at least 4, one for each base.", "input")
  }
  if (leaves < 2) {
    abort_ancify("`leaves` must be at least 2.", "input")
  }
  good <- is.numeric(learning_rate) && length(learning_rate) == 1 &&
    isTRUE(learning_rate > 0 & learning_rate <= 1)
  if (!good) {
    abort_ancify(
      sprintf("`learning_rate` must be a number above 0 and at most 1, not %s.",
              show_value(learning_rate)),
      "input"
    )
  }
}

check_both_tiers <- function(config) {
  empty <- setdiff(c("inner", "outer"), config$outgroups$tier)
  if (length(empty)) {
    problem <- sprintf("`outgroups.%s` is empty: ml needs a species in both tiers.", empty[1])
    abort_ancify(problem, "config", file = config$file, problems = problem)
  }
}

# ---- Sites -----------------------------------------------------------------------

project_where_missing <- function(context) {
  config <- context$config
  if (!all(file.exists(projected_files(config, config$outgroups$name)))) {
    context$config <- with_alignments(read_config(config, c("project", "train")), "project")
    refuse_unkept_alone(config, "project")
    run_projection(context)
  }
}

# list(features =, labels =) of the sites drawn.
training_sites <- function(config, max_sites, seed, backend, progress, log) {
  references <- reference_files(config, log)
  lengths <- if (length(references)) config$lengths[names(references)] else config$lengths
  warn_about_minima(
    c(inner = config$min_inner_freq, outer = config$min_outer_freq),
    lengths(species_of_tiers(config))
  )
  sites <- with_watch("Reading training sites", function(watch) {
    options <- list(
      n_inner = sum(config$outgroups$tier == "inner"), min_inner = config$min_inner_freq,
      min_outer = config$min_outer_freq, most_sites = max_sites, seed = seed,
      threads = backend$threads
    )
    folders <- projected_folder(config, config$outgroups$name)
    ml_training_sites_impl(folders, lengths, unname(references), options, watch)
  }, progress)
  log(sprintf(
    "Labels from %s: %s", if (length(references)) "the reference" else "calls by vote",
    paste(c("A", "C", "G", "T"), vapply(sites$labelled, format_count, ""), collapse = ", ")
  ))
  sites
}

# By chromosome; empty where no reference is configured.
reference_files <- function(config, log) {
  folder <- config$ml_training_reference
  if (is.null(folder)) {
    return(character())
  }
  files <- stats::setNames(sequence_path(folder, names(config$lengths)), names(config$lengths))
  there <- file.exists(files)
  if (!any(there)) {
    abort_ancify(
      sprintf(
        "`ml_training_reference` is %s, which has no file of a chromosome to process, such as %s.",
        quoted(folder), quoted(basename(files[1]))
      ),
      "file",
      file = folder
    )
  }
  if (!all(there)) {
    log(sprintf(
      "Not trained on, as the reference lacks a file: %s", enumerate(quoted(names(files)[!there]))
    ))
  }
  files[there]
}

# ---- LightGBM --------------------------------------------------------------------

training_parameters <- function(seed, leaves, learning_rate, threads) {
  list(
    objective = "multiclass", num_class = 4L, num_leaves = as.integer(leaves),
    learning_rate = learning_rate, min_data_in_leaf = 100L,
    # Each tree sees a part of the sites and of the features.
    bagging_fraction = 0.8, bagging_freq = 5L, feature_fraction = 0.8,
    seed = as.integer(seed), deterministic = TRUE, force_row_wise = TRUE,
    num_threads = threads, verbosity = -1L
  )
}

# list(name =, train = function(features, labels, parameters, rounds, path))
find_trainer <- function(in_r = requireNamespace("lightgbm", quietly = TRUE),
                         in_python = python_has_lightgbm()) {
  if (in_r) {
    list(name = "the R package lightgbm", train = train_in_r)
  } else if (in_python) {
    list(name = "Python's lightgbm", train = train_in_python)
  } else {
    abort_ancify(
      paste(
        "Training needs LightGBM: install.packages(\"lightgbm\"), or the package reticulate and",
        "in its Python: pip install lightgbm. (RETICULATE_PYTHON says which Python that is.)"
      ),
      "package"
    )
  }
}

python_has_lightgbm <- function() {
  requireNamespace("reticulate", quietly = TRUE) && reticulate::py_module_available("lightgbm")
}

train_with <- function(trainer, sites, parameters, rounds, path) {
  fail <- function(condition) {
    abort_ancify(
      sprintf("%s could not train: %s", trainer$name, conditionMessage(condition)), "package"
    )
  }
  tryCatch(
    trainer$train(sites$features, sites$labels, parameters, rounds, path),
    error = fail
  )
}

train_in_r <- function(features, labels, parameters, rounds, path) {
  data <- lightgbm::lgb.Dataset(features, label = labels, params = parameters)
  model <- lightgbm::lgb.train(parameters, data, nrounds = rounds, verbose = -1L)
  lightgbm::lgb.save(model, path)
}

train_in_python <- function(features, labels, parameters, rounds, path) {
  lightgbm <- reticulate::import("lightgbm")
  data <- lightgbm$Dataset(reticulate::np_array(features), label = reticulate::np_array(labels))
  model <- lightgbm$train(parameters, data, num_boost_round = rounds)
  model$save_model(path)
}
