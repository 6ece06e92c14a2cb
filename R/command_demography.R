# The command demography: a fit of a named model, or the likelihood of a model in a Demes file.

demography_command <- function(parsed) {
  # Searches start at random points, but a command must be reproducible.
  set.seed(1)
  model <- model_option(parsed$model)
  start <- start_option(parsed$start, parsed$model, model$params)
  size <- number_option(parsed$reference_size, "--reference-size")
  if (!is.null(size) && is.null(parsed$out)) usage_error("--reference-size needs --out PREFIX")
  data <- read_sfs(parsed$arguments)
  if (length(model$params)) {
    fit <- fit_demography(
      model, data, start,
      starts = number_option(parsed$starts, "--starts") %||% 20,
      threads = threads_option(parsed), progress = isatty(stderr())
    )
    print(summary(fit))
    facts <- c(fit[c("params", "theta", "log_likelihood")], aic = stats::AIC(fit),
               fit[c("converged", "at_bounds", "searches")])
  } else {
    fit <- compared_model(model, data, threads_option(parsed))
    facts <- fit[c("theta", "log_likelihood")]
    cat(sprintf("log-likelihood %.2f\ntheta %.4g\n", fit$log_likelihood, fit$theta))
  }
  files <- demography_files(parsed)
  if (length(files)) {
    write_text(files[1], to_json(c(model = parsed$model, facts)))
    write_sfs(fit$expected, files[2])
    if (!is.null(size)) write_demes(model, files[3], fit$params, size)
    wrote(files)
  }
  if (identical(fit$converged, FALSE)) 3L else 0L
}

# The paths of a command's results.
demography_files <- function(parsed) {
  endings <- c(".json", ".fs", if (!is.null(parsed$reference_size)) ".yaml")
  if (!is.null(parsed$out)) paste0(parsed$out, endings)
}

# A common model by its name, or the model in a Demes file.
model_option <- function(name) {
  if (name %in% demography_model()) {
    demography_model(name)
  } else if (file.exists(name)) {
    read_demes(name)
  } else {
    usage_error("there is no model and no file ", name,
                did_you_mean(name, demography_model(), show = identity))
  }
}

# Parses a=1,b=2 as named numbers.
start_option <- function(text, name, params) {
  parts <- strsplit(split_option(text), "=", fixed = TRUE)
  values <- suppressWarnings(as.numeric(vapply(parts, `[`, "", 2)))
  names(values) <- vapply(parts, `[`, "", 1)
  if (anyNA(values) || anyDuplicated(names(values)) || !setequal(names(values), params)) {
    usage_error(
      name, if (length(params)) " needs --start " else " has no parameters: leave out --start",
      paste0(params, "=VALUE", collapse = ",", recycle0 = TRUE)
    )
  }
  values
}

# Compares the data with a model without parameters. The result has the form of a fit.
compared_model <- function(model, data, threads) {
  sizes <- dim(data) - 1L
  names(sizes) <- names(dimnames(data))
  check_final_populations(core_events(events_at(model, NULL)), length(sizes))
  expected <- expected_sfs(model, NULL, sizes, threads = threads, progress = isatty(stderr()))
  if (attr(data, "folded")) expected <- fold(expected)
  theta <- optimal_theta(expected, data)
  list(theta = theta, log_likelihood = sfs_log_likelihood(expected, data),
       expected = expected * theta)
}
