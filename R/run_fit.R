# `estimate: true`: fits the model, and for coalescent the history, to the run's own sites.

# A job of in_parts(). Returns run_settings() with `fit` and, for coalescent, `history_fit` and
# `fitted_history`.
fit_part <- function(context) {
  config <- context$config
  log <- context$log
  settings <- run_settings(config, FALSE)
  with_focal <- needs_focal(config)
  patterns <- count_projected(config, with_focal, context$work)
  tree <- settings$tree %||% ladder_tree(patterns, config)
  fit <- fit_in_classes(patterns, tree, settings$model, "empirical", NULL, NULL, context$work)
  log(sprintf(
    "Fitted %s to %s sites: log-likelihood %.2f", fit$model$name, format_count(fit$sites),
    fit$log_likelihood
  ))
  if (has_classes(fit$model)) {
    log(paste("Rates by class, relative to all sites:", class_rates_text(fit$model$classes)))
  }
  settings$model <- fit$model
  settings$tree <- fit$tree
  settings$fit <- fit
  if (fits_history(config)) {
    settings$history_fit <- fit_run_history(patterns, context, fit$model)
    settings$history <- settings$history_fit$history
    settings$fitted_history <- settings$history
    log(describe_fitted_history(settings$history))
  }
  settings
}

fit_run_history <- function(patterns, context, model) {
  config <- context$config
  log <- context$log
  start <- starting_history(patterns, config)
  start$model <- model
  variants <- if (!is.null(config$variants)) {
    count_projected_variants(config, config$variants, NULL, context$work$progress)
  }
  if (is.null(variants) && is.null(config$history$focal_size)) {
    log("`history.focal_size` is not given: the next size is taken")
  }
  fit <- withCallingHandlers(
    fit_history(patterns, start, variants = variants, called = config$history$called %||% 1),
    ancify_log_message = function(line) {
      log(trimws(conditionMessage(line)))
      tryInvokeRestart("muffleMessage")
    }
  )
  log(paste("The history is fitted to", fitted_data(fit)))
  if (!is.null(fit$variants)) log(paste("By the fitted history,", confidence_text(fit)))
  fit
}

# ---- Starting values of searches --------------------------------------------------------

# Without a configured history, it begins at the divergences.
starting_history <- function(patterns, config) {
  if (has_history(config)) {
    return(suppressMessages(config_history(config)))
  }
  keys <- config$history
  rate <- keys$mutation_rate %||% default_mutation_rate
  splits <- split_by_divergence(divergence_from_focal(patterns, config$outgroups$name), rate)
  suppressMessages(coalescent_history(
    splits, size_by_split(splits), keys$focal_size, keys$focal_lineages %||% 20, rate,
    focal_times = keys$focal_times
  ))
}

# Substitutions per site between an outgroup and the focal species, over both lineages, with Jukes
# and Cantor's correction for multiple hits.
divergence_from_focal <- function(patterns, species) {
  all <- attr(patterns, "species")
  base <- function(name) toupper(substr(patterns$pattern, match(name, all), match(name, all)))
  focal <- base(attr(patterns, "focal"))
  vapply(species, function(name) {
    outgroup <- base(name)
    known <- outgroup != "N" & focal != "N"
    sites <- sum(patterns$count[known])
    refuse_if(sites == 0,
              "%s and the focal species share no site to fit a history to: check its alignment.",
              quoted(name))
    differ <- (sum(patterns$count[known & outgroup != focal]) + 1) / (sites + 1)
    -0.75 * log(1 - min(differ, 0.7) / 0.75)
  }, 0)
}

# The method coalescent needs no tree. Without one, the model is fitted on a caterpillar tree that
# adds outgroups in order of divergence.
ladder_tree <- function(patterns, config) {
  species <- config$outgroups$name
  nearest <- species[order(divergence_from_focal(patterns, species))]
  labels <- quoted_labels(c(config$focal_species, nearest))
  text <- Reduce(function(inside, label) sprintf("(%s,%s)", inside, label), labels)
  parse_newick(paste0(text, ";"))
}

write_fits <- function(context, made_from, fitted) {
  write_fitted(context, made_from, "model", fitted_model_keys(fitted$fit))
  if (!is.null(fitted$history_fit)) {
    write_fitted(context, made_from, "history", fitted_history_keys(fitted$history_fit))
  }
}

# `fit` is written as comments, so that the whole text can be pasted into a configuration.
write_fitted <- function(context, made_from, what, keys) {
  lines <- function(values) strsplit(yaml::as.yaml(values, precision = 10), "\n")[[1]]
  write_own(
    context$ledgers$output, fitted_files[[what]], made_from,
    c(lines(keys[names(keys) != "fit"]), paste("#", lines(keys["fit"])))
  )
}

fitted_model_keys <- function(fit) {
  keys <- list(tree = newick_text(fit$tree, 10), substitution_model = fit$model$name)
  classes <- if (has_classes(fit$model)) list(model_classes = lapply(fit$model$classes, rate_keys))
  c(keys, rate_keys(fit$model), classes, list(fit = fit_summary(fit)))
}

rate_keys <- function(model) {
  Filter(Negate(is.null), list(
    rate = model$relative_rate, model_kappa = model$kappa,
    model_base_freqs = as.numeric(model$base_freqs),
    model_rates = if (model$name == "GTR") as.numeric(model$rates),
    rate_alpha = model$alpha, n_rates = model$n_rates, invariant = model$invariant
  ))
}

fit_summary <- function(fit) {
  errors <- fit$estimates
  list(
    log_likelihood = fit$log_likelihood, fitted_values = fit$df, AIC = stats::AIC(fit),
    sites = whole_yaml(fit$sites),
    standard_errors = known_or_null(stats::setNames(errors$std_error, errors$parameter))
  )
}

# For YAML: whole numbers without a decimal point, and null for NA.
whole_yaml <- function(x) structure(format(x, scientific = FALSE), class = "verbatim")

known_or_null <- function(values) lapply(values, function(value) if (!is.na(value)) value)

fitted_history_keys <- function(fit) {
  history <- fit$history
  splits <- history$splits
  list(
    history = list(
      splits = as.list(splits), sizes = as.list(stats::setNames(history$sizes, names(splits))),
      into = as.list(stats::setNames(c("0", names(splits))[history$into + 1], names(splits))),
      focal_size = history$focal_size,
      focal_times = if (length(history$focal_times)) as.list(history$focal_times),
      focal_lineages = history$focal_lineages, mutation_rate = history$mutation_rate
    ),
    fit = fit_summary(fit)
  )
}

# The saved fit to the same sites with the same settings, or NULL.
saved_fit <- function(context, made_from) {
  ledger <- context$ledgers$work
  if (whole_files(ledger, fit_file, known_source(ledger, made_from))) {
    fitted <- read_state(ledger_paths(ledger, fit_file))
    if (is_fitted(fitted)) {
      return(fitted)
    }
    context$log("The saved fit is of another version of ancify: the model is fitted again")
    NULL
  }
}

# Whether this is a value of fit_part().
is_fitted <- function(fitted) {
  is.list(fitted) && inherits(fitted$fit, "ancify_fit") &&
    (is.null(fitted$history_fit) || inherits(fitted$history_fit, "ancify_history_fit"))
}

fit_now <- function(context, made_from) {
  fitted <- in_parts(context, "fit", list(context$config))[[1]]
  write_own(context$ledgers$work, fit_file, made_from, state_text(fitted))
  fitted
}
