#' Train a model for the method ml
#'
#' Trains gradient-boosted trees that predict the ancestral base from the outgroups' bases at a
#' position and around it. The trees are written as a LightGBM model in text form, for `method: ml`:
#' `ancify_train("ancify.yaml")`.
#'
#' Training sites come from the projected sequences in `<work_dir>/projected`. If one is missing,
#' all alignments are projected first, as by [ancify_run()]. Each base gets the same number of
#' sites, spread evenly over the genome. Their features are kept in memory, 8 bytes each in R.
#'
#' | `ml_training_reference` | Ancestral bases of the training sites |
#' | --- | --- |
#' | a folder of `<chromosome>.fa` | the reference's bases at positions with outgroup data |
#' | not set | calls of high confidence by `method: voting` |
#'
#' A reference has one sequence per file, in the coordinates of the focal genome. Chromosomes
#' without a file are excluded.
#'
#' Voting uses `min_inner_freq` and `min_outer_freq` of the configuration. A model trained on its
#' calls has seen no site where the tiers disagree. It is overconfident in all calls, so its
#' probabilities are uninformative (`vignette("methods", "ancify")`).
#'
#' The R package `lightgbm` trains the model. Without it, Python's `lightgbm` does so, through the
#' package `reticulate`. The environment variable `RETICULATE_PYTHON` selects the Python. A model
#' that another program trained on these features also works. Calling needs neither package.
#'
#' @inheritParams ancify_run
#' @param file Path of the model; `NULL` (the default) for `ml_model_path` of the configuration, or
#'   `<work_dir>/ancify_ml_model.lgb`. An existing file is replaced when the model is complete.
#' @param max_sites Maximum number of training sites, at least 4; 5 million by default.
#' @param seed A positive whole number for the choice of sites and for LightGBM; 1 by default. A
#'   seed gives identical sites with any number of threads.
#' @param rounds Rounds of boosting, each of which adds a tree for every base; 200 by default.
#' @param leaves Maximum number of leaves per tree, at least 2; 63 by default.
#' @param learning_rate Weight of a new tree, above 0 and at most 1; 0.1 by default.
#' @return The path of the model, invisibly.
#' @section Errors:
#' * `ancify_projection_warning`: projections were made from an alignment that the configuration
#'   does not name.
#' * `ancify_package_error`: no `lightgbm` can be used, or training fails.
#' * `ancify_config_error`: a setting cannot be used.
#' * `ancify_input_error`: an argument cannot be used, or a base has no site.
#' * `ancify_file_error`, `ancify_format_error`: a file cannot be read or written.
#' * `ancify_lock_error`: a run is working in `work_dir`.
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
  check_flag(verbose, "verbose")
  config <- read_config(config, "train")
  check_both_tiers(config)
  file <- check_output_file(file %||% ml_model_path(config))
  refuse_same_file(file, outgroups = config$outgroups$alignment, focal_fasta = config$focal_fasta,
                   name = "file")
  trainer <- find_trainer()
  work <- new_work(threads %||% config$num_cpus, progress = progress)
  log <- log_where(verbose)
  log(paste("Using", describe_work_impl(work)))
  for (note in config$notes) log(note)

  work_in(new_context(config, work, NULL, verbose), "project", project_where_missing)
  sites <- training_sites(config, max_sites, seed, work, log)
  log(sprintf("Training on %s sites with %s", format_count(length(sites$labels)), trainer$name))
  parameters <- training_parameters(seed, leaves, learning_rate, work$threads)
  write_whole(file, function(path) {
    train_with(trainer, sites, parameters, as.integer(rounds), path)
  })
  log(sprintf("Wrote %s", quoted(file)))
  invisible(file)
}

check_training_arguments <- function(max_sites, seed, rounds, leaves, learning_rate) {
  check_args(max_sites = whole(), seed = whole(), rounds = whole(), leaves = whole())
  refuse_if(max_sites < 4, "`max_sites` must be at least 4, one site for each base.")
  refuse_if(leaves < 2, "`leaves` must be at least 2.")
  good <- is.numeric(learning_rate) && length(learning_rate) == 1 &&
    isTRUE(learning_rate > 0 & learning_rate <= 1)
  must_be(good, learning_rate, "learning_rate", "a number above 0 and at most 1")
}

check_both_tiers <- function(config) {
  empty <- setdiff(c("inner", "outer"), config$outgroups$tier)
  if (length(empty)) {
    problem <- sprintf("`outgroups.%s` is empty: ml needs a species in each tier.", empty[1])
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
  } else {
    warn_about_kept_projections(config)
  }
}

# list(features =, labels =) of the training sites.
training_sites <- function(config, max_sites, seed, work, log) {
  references <- reference_files(config, log)
  lengths <- if (length(references)) config$lengths[names(references)] else config$lengths
  warn_about_minima(
    c(inner = config$min_inner_freq, outer = config$min_outer_freq),
    lengths(species_of_tiers(config))
  )
  sites <- with_watch("Reading training sites", function(watch) {
    options <- core_list(
    "TrainingOptions",
      n_inner = sum(config$outgroups$tier == "inner"), min_inner = config$min_inner_freq,
      min_outer = config$min_outer_freq, most_sites = max_sites, seed = seed, work = work
    )
    folders <- projected_folder(config, config$outgroups$name)
    ml_training_sites_impl(folders, lengths, unname(references), options, watch)
  }, work$progress)
  log(sprintf(
    "Labels from %s: %s", if (length(references)) "the reference" else "calls by voting",
    paste(c("A", "C", "G", "T"), vapply(sites$labelled, format_count, ""), collapse = ", ")
  ))
  sites
}

# Reference files named by chromosome; empty without a reference.
reference_files <- function(config, log) {
  folder <- config$ml_training_reference
  if (is.null(folder)) {
    return(character())
  }
  files <- stats::setNames(sequence_path(folder, names(config$lengths)), names(config$lengths))
  there <- file.exists(files)
  refuse_file_if(!any(there), folder,
                 "`ml_training_reference` is %s, which has no file for any chromosome, such as %s.",
                 quoted(folder), quoted(basename(files[1])))
  if (!all(there)) {
    log(sprintf(
      "Chromosomes without a reference file are left out: %s",
      enumerate(quoted(names(files)[!there]))
    ))
  }
  files[there]
}

# ---- LightGBM --------------------------------------------------------------------

training_parameters <- function(seed, leaves, learning_rate, threads) {
  list(
    objective = "multiclass", num_class = 4L, num_leaves = as.integer(leaves),
    learning_rate = learning_rate, min_data_in_leaf = 100L,
    # Each tree uses a subset of the sites and features.
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
        "Training needs LightGBM: install.packages(\"lightgbm\"), or the package reticulate with",
        "`pip install lightgbm` in its Python. RETICULATE_PYTHON chooses that Python."
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
