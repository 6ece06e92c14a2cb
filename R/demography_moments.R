# Spectra of neutral models by moments of allele frequencies, with the error of their time steps.

# Limits of moments, and of the work of one constant step per epoch; beyond them, grids are used.
# They amount to hundreds of megabytes, and about a minute.
most_moments <- 5e6
most_moment_work <- 5e9

# True if moments give this spectrum. `settled`: events, and a sampling by check_sampling().
has_moments <- function(settled) {
  sizes <- settled$sampling$sizes
  if (settled$sampling$kind != "analytic" || !all(vapply(settled$events, is_neutral, NA))) {
    return(FALSE)
  }
  cost <- moment_cost_impl(settled$events, 1L, sizes)
  cost[1] <= most_moments && cost[2] * length(sizes)^2 <= most_moment_work
}

# `event`: of core_events(). Its values are numbers, or change with time.
is_neutral <- function(event) {
  all(vapply(as.list(event$selection), function(one) is.numeric(one) && one == 0, NA))
}

changes_with_time <- function(event) {
  values <- c(list(event$theta), as.list(event$size), as.list(event$migration))
  event$kind == "epoch" && !all(vapply(values, is.numeric, NA))
}

# For models with the same sampling, a list of two: `spectra`, each with an attribute `error`, and
# the `largest` relative error of each.
sfs_by_moments <- function(models, sizes, sampling, tolerance, work) {
  found <- moments_within(models, sampling$sizes, tolerance, work)
  spectra <- lapply(found, function(one) {
    result <- as_expected_sfs(one$spectrum, sizes, sampling)
    error <- as_expected_sfs(one$error, sizes, sampling)
    attr(result, "error") <- array(error, dim(error), dimnames(error))
    result
  })
  list(spectra = spectra, largest = vapply(found, `[[`, 0, "largest"))
}

# `largest`: the largest relative error of a spectrum. `where`: words to follow the tolerance.
warn_of_moments <- function(largest, tolerance, where = "") {
  if (largest > tolerance) {
    warn_ancify(
      sprintf("Steps of moments do not meet the tolerance %s%s: cells are off by %s. Divide epochs where sizes or rates jump.", # nolint: line_length_linter.
              format(tolerance), where, percent_off(largest)),
      "grid"
    )
  }
}

# Part counts of epochs that change. Spectra of 8 and 16 parts could agree about a jump in a size,
# and both be wrong, so no count is a multiple of the previous one.
moment_parts <- c(3L, 5L, 8L, 13L, 21L, 34L, 55L, 89L, 144L, 233L, 377L, 610L, 987L)

# Cuts epochs that change into more and more parts, until each model's spectrum settles. A list for
# each model: `spectrum`, its `error`, and the `largest` relative error of a cell with many sites.
moments_within <- function(models, sizes, tolerance, work) {
  variable <- !corner_mask(sizes + 1)
  spectra_of <- function(which, parts) moment_spectra(models[which], parts, sizes, work)
  changing <- vapply(models, function(events) any(vapply(events, changes_with_time, NA)), NA)
  result <- vector("list", length(models))
  if (any(!changing)) {
    spectra <- spectra_of(!changing, 1L)
    result[!changing] <- lapply(seq_len(ncol(spectra)), function(i) {
      list(spectrum = spectra[, i], error = rounding_of(spectra[, i], variable), largest = 0)
    })
  }
  open <- which(changing)
  coarse <- if (length(open)) spectra_of(open, moment_parts[1])
  for (i in seq_along(moment_parts)[-1]) {
    if (!length(open)) break
    fine <- spectra_of(open, moment_parts[i])
    ratio <- moment_parts[i] / moment_parts[i - 1]
    result[open] <- lapply(seq_along(open), function(k) {
      extrapolated_moments(coarse[, k], fine[, k], ratio, variable)
    })
    far <- vapply(result[open], `[[`, 0, "largest") > tolerance
    open <- open[far]
    coarse <- fine[, far, drop = FALSE]
  }
  result
}

# `ratio`: the ratio of part counts. The error of the fourth-order method falls with its fourth
# power, and extrapolation leaves a smaller error. The estimate is at least a share of the largest
# relative difference, because differences that change sign are small.
extrapolated_moments <- function(coarse, fine, ratio, variable) {
  change <- (fine - coarse) / (ratio^4 - 1)
  spectrum <- fine + change
  large <- variable & spectrum >= 1e-4 * sum(spectrum[variable])
  largest <- max(abs(change[large]) / spectrum[large])
  error <- pmax(abs(change), largest / 4 * abs(spectrum)) + rounding_of(spectrum, variable)
  list(spectrum = spectrum, error = error, largest = max(error[large] / spectrum[large]))
}

# Rounding and truncated series, relative to all sites of the spectrum
rounding_of <- function(spectrum, variable) {
  rep(1e-12 * sum(spectrum[variable]), length(spectrum))
}

# A matrix of cells and models. Epochs with changing sizes or rates have this many `parts`.
moment_spectra <- function(models, parts, sizes, work) {
  with_watch("Moments", function(watch) {
    moment_spectra_impl(models, parts, sizes, work, watch)
  }, work$progress)
}
