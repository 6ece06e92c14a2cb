# Two-locus statistics as a term of fit_demography().

# The log-likelihood is a sum over bins. The ratios of a bin have a multivariate normal
# distribution, with the covariance from the data's blocks. Bins count as independent, so this is a
# composite likelihood, as in Ragsdale and Gravel (2019), PLoS Genetics 15:e1008204.
ld_term <- function(model, ld, space, threads) {
  check_population_order(model, ld$populations, "ld")
  ld <- as_ld_ratios(ld)
  weights <- ld_weights(ld)
  clock <- params_of_ld(model)
  calculator <- list(
    work = function() new_work(threads),
    prepare = function(params) {
      events <- events_at(model, params[model$params])
      size <- if (length(clock)) params[[clock]] else attr(events, "reference_size")
      check_positive(size, "reference_size", 1)
      events <- core_events(events)
      check_final_populations(events, length(ld$populations), "ld")
      list(events = events, size = size)
    },
    compute = function(models, work) {
      found <- ld_of_models(
        lapply(models, `[[`, "events"), ld$populations, ld$bins, vapply(models, `[[`, 0, "size"),
        work
      )
      lapply(found, ld_ratios, ld$reference)
    }
  )
  list(
    data = ld,
    expected = expected_by(calculator, c(model$params, clock), space),
    log_likelihood = function(expected, data, ...) {
      ld_log_likelihood(ld_vectors(expected), ld_vectors(data), weights)
    },
    scaled = function(expected, theta) expected # a ratio has no theta
  )
}

# The parameter that a fit adds to scale recombination. Parameters of a Demes file already set the
# scale.
params_of_ld <- function(model) {
  has_sizes <- length(model$params) && !is.null(attr(model, "reference_size"))
  if (has_sizes) character() else "reference_size"
}

as_ld_ratios <- function(ld) if (is.null(ld$reference)) ld_ratios(ld) else ld

# The compared values: in each bin all ratios, except the ratio that is always 1. Ratios of
# heterozygosities are a separate part.
ld_vectors <- function(x) {
  left_out <- pi2_name(x$reference)
  own <- paste("H", x$reference, x$reference, sep = ".")
  bins <- lapply(seq_len(nrow(x$values)), function(bin) {
    x$values[bin, setdiff(colnames(x$values), left_out)]
  })
  others <- x$heterozygosity[setdiff(names(x$heterozygosity), own)]
  c(bins, if (length(others)) list(others))
}

number_compared <- function(ld) length(unlist(ld_vectors(ld)))

# The Cholesky factor of each part's covariance, and its logarithmic normal density at the mean.
ld_weights <- function(ld) {
  covariance <- stats::vcov(ld)
  parts <- ld_vectors(ld)
  blocks <- nrow(ld$blocks$pairs)
  most <- max(lengths(parts))
  refuse_if(
    blocks < most + 2,
    "`ld` has %s, too few for the covariance of %s in a bin: measure it with at least %d, or with fewer populations.", # nolint: line_length_linter.
    count_of(blocks, "block"), count_of(most, "ratio"), most + 2L
  )
  lapply(seq_along(parts), function(part) {
    bin <- part <= nrow(ld$values)
    names <- names(parts[[part]])
    if (bin) names <- sprintf("%s[%d]", names, part)
    factor <- tryCatch(chol(covariance[names, names, drop = FALSE]), error = function(error) NULL)
    refuse_if(is.null(factor) || anyNA(parts[[part]]),
              "`ld` has ratios without a covariance in %s: measure it with other `bins`.",
              if (bin) sprintf("the bin %s", rownames(ld$values)[part]) else "heterozygosities")
    list(factor = factor, scale = -sum(log(diag(factor))) - length(names) * log(2 * pi) / 2)
  })
}

ld_log_likelihood <- function(expected, data, weights) {
  sum(mapply(function(model, observed, weight) {
    distance <- backsolve(weight$factor, observed - model, transpose = TRUE)
    weight$scale - sum(distance^2) / 2
  }, expected, data, weights))
}
