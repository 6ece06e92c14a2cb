# The command demography: a fit of a named model, or the likelihood of a model in a Demes file.

demography_command <- function(parsed) {
  # Searches start at random points, but a command must be reproducible.
  set.seed(number_option(parsed$seed, "--seed") %||% 1)
  model <- model_option(parsed$model)
  fixed <- values_option(parsed, "fixed")
  start <- start_option(parsed$start, parsed$model, model$params, names(fixed))
  size <- number_option(parsed$reference_size, "--reference-size")
  if (!is.null(size) && is.null(parsed$out)) usage_error("--reference-size needs --out PREFIX")
  draw <- picture_option(parsed$plot)
  bootstraps <- bootstraps_option(parsed$bootstraps)
  data <- read_sfs(parsed$arguments, sizes = haplotypes_option(parsed$haplotypes))
  if (length(model$params)) {
    fit <- fit_demography(
      model, data, start, values_option(parsed, "lower"), values_option(parsed, "upper"), fixed,
      starts = number_option(parsed$starts, "--starts") %||% 20,
      misidentified = isTRUE(parsed$misidentified),
      tolerance = decimal_options(parsed, "tolerance")$tolerance %||% 0.1,
      seconds = decimal_options(parsed, "seconds")$seconds %||% Inf,
      threads = threads_option(parsed), progress = isatty(stderr())
    )
    print(summary(fit))
    errors <- if (isTRUE(parsed$errors) || length(bootstraps)) fit_errors(fit, bootstraps)
    facts <- c(fit[c("params", "theta", "log_likelihood")], aic = stats::AIC(fit),
               fit[c("converged", "at_bounds", "searches")], list(errors = errors))
  } else {
    refuse_fit_options(parsed)
    fit <- compared_model(model, data, threads_option(parsed))
    facts <- fit[c("theta", "log_likelihood")]
    cat(sprintf("log-likelihood %.2f\ntheta %.4g\n", fit$log_likelihood, fit$theta))
  }
  files <- demography_files(parsed)
  if (!is.null(parsed$out)) {
    write_text(files[1], to_json(c(model = parsed$model, facts)))
    write_sfs(fit$expected, files[2])
    if (!is.null(size)) write_demes(model, files[3], fit$params, size)
  }
  if (!is.null(draw)) draw(fit)
  wrote(files)
  if (identical(fit$converged, FALSE)) 3L else 0L
}

# A row for each parameter: its estimate, standard error and 95 % interval. NULL, with a warning, if
# the fit has none.
fit_errors <- function(fit, bootstraps) {
  table <- tryCatch(
    {
      errors <- sqrt(diag(vcov(fit, bootstraps)))
      ends <- stats::confint(fit, fit$fitted, bootstraps = bootstraps, progress = FALSE)
      ends <- ends[match(names(errors), rownames(ends)), , drop = FALSE]
      data.frame(parameter = names(errors), estimate = all_estimates(fit)[names(errors)],
                 std_error = errors, lower = ends[, 1], upper = ends[, 2], row.names = NULL)
    },
    ancify_input_error = function(error) {
      warn_ancify(sprintf("No standard errors: %s", conditionMessage(error)), "fit")
      NULL
    }
  )
  if (!is.null(table)) print(table, row.names = FALSE, digits = 4)
  table
}

# The paths of a command's results.
demography_files <- function(parsed) {
  endings <- c(".json", ".fs", if (!is.null(parsed$reference_size)) ".yaml")
  c(if (!is.null(parsed$out)) paste0(parsed$out, endings), parsed$plot)
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

# Parses a=1,b=2 as named numbers; NA for other texts.
named_numbers <- function(text) {
  parts <- strsplit(split_option(text), "=", fixed = TRUE)
  values <- suppressWarnings(as.numeric(vapply(parts, `[`, "", 2)))
  names(values) <- vapply(parts, `[`, "", 1)
  values
}

# `fixed`: names of parameters that need no start.
start_option <- function(text, name, params, fixed = character()) {
  values <- named_numbers(text)
  wanted <- setdiff(params, fixed)
  absent <- setdiff(wanted, names(values))
  if (anyNA(values) || anyDuplicated(names(values)) || length(absent) ||
        !all(names(values) %in% params)) {
    usage_error(
      name, if (length(params)) " needs --start " else " has no parameters: leave out --start",
      paste0(wanted, "=VALUE", collapse = ",", recycle0 = TRUE)
    )
  }
  values
}

# Values of parameters; NULL if absent.
values_option <- function(parsed, option) {
  values <- named_numbers(parsed[[option]])
  if (anyNA(values) || anyDuplicated(names(values))) {
    usage_error(long_name(option), " must be as nu=1,time=0.5, not ", parsed[[option]])
  }
  if (length(values)) values
}

# 20,30 or YRI=20,CEU=30; NULL if absent.
haplotypes_option <- function(text) {
  if (is.null(text)) {
    return(NULL)
  }
  is_named <- grepl("=", text, fixed = TRUE)
  sizes <- suppressWarnings(if (is_named) named_numbers(text) else as.numeric(split_option(text)))
  if (anyNA(sizes)) usage_error("--haplotypes must be as 20,30 or YRI=20,CEU=30, not ", text)
  sizes
}

# Spectra of the files that match one of the patterns; NULL if absent.
bootstraps_option <- function(text) {
  if (is.null(text)) {
    return(NULL)
  }
  files <- Sys.glob(split_option(text))
  if (length(files) < 2) {
    usage_error("--bootstraps needs two or more spectra, but ", length(files), " match ", text)
  }
  lapply(files, read_sfs)
}

# A function(fit) that draws into the file; NULL without one.
picture_option <- function(path) {
  if (is.null(path)) {
    return(NULL)
  }
  open <- picture_devices[[tolower(tools::file_ext(path))]]
  if (is.null(open)) usage_error("--plot must end with .pdf, .png or .svg, not ", path)
  function(fit) {
    write_whole(path, function(temporary) {
      open(temporary)
      on.exit(grDevices::dev.off())
      plot(fit)
    })
  }
}

picture_devices <- list(
  pdf = function(path) grDevices::pdf(path, 8, 7),
  png = function(path) grDevices::png(path, 8, 7, "in", res = 200),
  svg = function(path) grDevices::svg(path, 8, 7)
)

refuse_fit_options <- function(parsed) {
  given <- intersect(
    c("lower", "upper", "fixed", "misidentified", "starts", "tolerance", "seconds", "errors",
      "bootstraps"),
    names(parsed)
  )
  if (length(given)) {
    usage_error(parsed$model, " has no parameters: leave out ", long_name(given[1]))
  }
}

# Compares the data with a model without parameters. The result has the parts of a fit that its
# picture needs.
compared_model <- function(model, data, threads) {
  sizes <- dim(data) - 1L
  names(sizes) <- names(dimnames(data))
  check_final_populations(core_events(events_at(model, NULL)), length(sizes))
  expected <- expected_sfs(model, NULL, sizes, threads = threads, progress = isatty(stderr()))
  if (attr(data, "folded")) expected <- fold(expected)
  theta <- optimal_theta(expected, data)
  structure(class = "demography_fit", list(
    theta = theta, log_likelihood = sfs_log_likelihood(expected, data), data = data,
    expected = expected * theta
  ))
}
