# The terms of a fit's log-likelihood: observations, and their expectations under a model.

# list(model, terms, settings). Terms are `sfs`, `ld` or both, each a list of
# data            the observations
# expected        function(sets, stop_at_errors): the expectations for each set of parameters, NULL
#                 if they cannot be computed
# log_likelihood  function(expected, data, multinomial)
# scaled          function(expected, theta): the expectations with this theta
# warn            function(params): warnings of numerical errors; two-locus statistics have none
demography_surface <- function(model, sfs, ld, space, pts, multinomial, misidentified, time,
                               extrapolate, sampling, backend, threads) {
  check_flag(multinomial, "multinomial")
  settings <- list(multinomial = multinomial, misidentified = misidentified)
  if (!inherits(model, "dfe_model")) {
    settings <- c(settings, list(sampling = sampling, backend = backend, threads = threads))
  }
  terms <- list()
  if (!is.null(sfs)) {
    if (!inherits(model, "dfe_model")) {
      settings <- c(settings, grid_settings(sfs, pts, time, extrapolate, sampling))
    }
    terms$sfs <- sfs_term(model, sfs, space, settings)
  }
  if (!is.null(ld)) terms$ld <- ld_term(model, ld, space, threads)
  list(model = model, terms = terms, settings = settings)
}

# The log-likelihood for each set of parameters; -Inf if the model cannot be computed.
log_likelihoods_at <- function(surface, sets) {
  values <- lapply(surface$terms, function(term) {
    vapply(term$expected(sets), function(one) {
      value <- if (!is.null(one)) {
        or_null(term$log_likelihood(one, term$data, surface$settings$multinomial))
      }
      if (is.null(value) || is.na(value)) -Inf else value
    }, 0)
  })
  Reduce(`+`, values)
}

# The surface with some parameters held at these values.
surface_with <- function(surface, held) {
  surface$terms <- lapply(surface$terms, function(term) {
    expected <- term$expected
    term$expected <- function(sets, ...) expected(lapply(sets, c, held), ...)
    term
  })
  surface
}

# The surface with other observations, a list named as its terms.
surface_of_data <- function(surface, data) {
  for (name in names(data)) surface$terms[[name]]$data <- data[[name]]
  surface
}

# Each term's expectations for these parameters, and the best theta or NA.
best_expected <- function(surface, params) {
  expected <- lapply(surface$terms, function(term) {
    term$expected(list(params), stop_at_errors = TRUE)[[1]]
  })
  theta <- NA
  if (!is.null(expected$sfs)) {
    data <- surface$terms$sfs$data
    if (attr(data, "folded")) expected$sfs <- fold(expected$sfs)
    if (surface$settings$multinomial) {
      theta <- optimal_theta(expected$sfs, data)
      expected$sfs <- expected$sfs * theta
    }
  }
  list(expected = expected$sfs, expected_ld = expected$ld, theta = theta)
}

# ---- Other observations --------------------------------------------------------------------------

# Other observations of a fit's terms, a list for each. Spectra are folded and masked like the data.
check_bootstraps <- function(bootstraps, fit, name = "bootstraps") {
  terms <- names(fit$surface$terms)
  if (is.null(bootstraps)) {
    return(list())
  }
  if (identical(terms, "sfs")) bootstraps <- list(sfs = bootstraps)
  refuse_if(!is.list(bootstraps) || !setequal(names(bootstraps), terms),
            "`%s` must be a list with %s, as the fit has them.", name,
            enumerate(sprintf("`%s`, a list of observations", terms)))
  lists <- lapply(stats::setNames(nm = terms), function(term) {
    check_observations[[term]](bootstraps[[term]], fit$surface$terms[[term]]$data, name)
  })
  refuse_if(length(unique(lengths(lists))) > 1,
            "`%s` must have as many spectra as two-locus statistics: those of the same windows.",
            name)
  lapply(seq_along(lists[[1]]), function(i) lapply(lists, `[[`, i))
}

# A function for each term
check_observations <- list(
  sfs = function(...) check_other_spectra(...), ld = function(...) check_other_ld(...)
)

check_other_spectra <- function(spectra, data, name) {
  good <- is.list(spectra) && length(spectra) > 1
  spectra <- lapply(spectra, function(one) {
    if (is_sfs(one) && attr(data, "folded")) one <- fold(one)
    good <<- good && is_sfs(one) && is.null(unlike_sfs(one, data))
    if (good) attr(one, "mask") <- attr(data, "mask") | attr(one, "mask")
    one
  })
  refuse_if(!good,
            "`%s` must be a list of at least two spectra, of the data's sizes and populations.",
            name)
  spectra
}

is_like_ld <- function(one, data) {
  inherits(one, "ld_statistics") && identical(one$bins, data$bins) &&
    identical(one$populations, data$populations) && !anyNA(one$values) &&
    identical(one$reference %||% data$reference, data$reference)
}

check_other_ld <- function(statistics, data, name) {
  is_like <- function(one) is_like_ld(one, data)
  refuse_if(
    !is.list(statistics) || length(statistics) < 2 || !all(vapply(statistics, is_like, NA)),
    "`%s$ld` must be a list of at least two results of ld_statistics(), of the data's bins, populations and reference, with pairs in each bin.", # nolint: line_length_linter.
    name
  )
  lapply(statistics, function(one) {
    if (is.null(one$reference)) ld_ratios(one, data$reference) else one
  })
}
