# Spectra of neutral models by moments of allele frequencies, with the error of their time steps.

# Beyond these, grids are faster: a computation of a minute, or gigabytes.
most_moments <- 5e6
most_moment_work <- 5e9

# Whether moments give this spectrum. `settled`: of settle_spectrum().
has_moments <- function(settled) {
  if (settled$sampling$kind != "analytic" || !all(vapply(settled$events, is_neutral, NA))) {
    return(FALSE)
  }
  cost <- moment_cost_impl(settled$events, 1L, settled$sampling$sizes)
  cost[1] <= most_moments && cost[2] * length(settled$sizes)^2 <= most_moment_work
}

# `event`: of core_events(). Its values are numbers, or change with time.
is_neutral <- function(event) {
  all(vapply(as.list(event$selection), function(one) is.numeric(one) && one == 0, NA))
}

changes_with_time <- function(event) {
  values <- c(list(event$theta), as.list(event$size), as.list(event$migration))
  event$kind == "epoch" && !all(vapply(values, is.numeric, NA))
}

# The result of expected_sfs().
sfs_by_moments <- function(settled, tolerance, work) {
  found <- moments_within(settled, tolerance, work)
  if (!found$meets) {
    warn_ancify(
      sprintf("Steps of moments do not meet the tolerance %s: cells are off by %s. Divide epochs where sizes or rates jump.", # nolint: line_length_linter.
              format(tolerance), percent_off(found$largest)),
      "grid"
    )
  }
  result <- as_expected_sfs(found$spectrum, settled$sizes, settled$sampling)
  error <- as_expected_sfs(found$error, settled$sizes, settled$sampling)
  attr(result, "error") <- array(error, dim(error), dimnames(error))
  result
}

# Numbers of parts of epochs that change. Multiples of each other would agree about a jump of a
# size, wherever it is.
moment_parts <- c(3L, 5L, 8L, 13L, 21L, 34L, 55L, 89L, 144L, 233L, 377L, 610L, 987L)

# More and more parts of epochs that change, until the spectrum settles.
moments_within <- function(settled, tolerance, work) {
  spectrum_of <- function(parts) {
    moment_spectra(list(settled$events), parts, settled$sampling$sizes, work)[, 1]
  }
  if (!any(vapply(settled$events, changes_with_time, NA))) {
    spectrum <- spectrum_of(1L)
    return(list(spectrum = spectrum, error = rounding_of(spectrum, settled), meets = TRUE))
  }
  coarse <- spectrum_of(moment_parts[1])
  for (i in seq_along(moment_parts)[-1]) {
    fine <- spectrum_of(moment_parts[i])
    found <- extrapolated_moments(coarse, fine, moment_parts[i] / moment_parts[i - 1], settled)
    if (found$largest <= tolerance) break
    coarse <- fine
  }
  c(found, list(meets = found$largest <= tolerance))
}

# `ratio`: of parts. The error of the fourth-order method falls with its fourth power. That of the
# extrapolated spectrum is smaller; where differences change their sign, a share of the largest
# difference stands in.
extrapolated_moments <- function(coarse, fine, ratio, settled) {
  change <- (fine - coarse) / (ratio^4 - 1)
  spectrum <- fine + change
  variable <- !corner_mask(settled$sampling$sizes + 1)
  large <- variable & spectrum >= 1e-4 * sum(spectrum[variable])
  largest <- max(abs(change[large]) / spectrum[large])
  error <- pmax(abs(change), largest / 4 * abs(spectrum)) + rounding_of(spectrum, settled)
  list(spectrum = spectrum, error = error, largest = max(error[large] / spectrum[large]))
}

# Rounding and truncated series, of all sites of the spectrum
rounding_of <- function(spectrum, settled) {
  variable <- !corner_mask(settled$sampling$sizes + 1)
  rep(1e-12 * sum(spectrum[variable]), length(spectrum))
}

# A matrix of cells and models. Epochs with changing sizes or rates have this many `parts`.
moment_spectra <- function(models, parts, sizes, work) {
  with_watch("Moments", function(watch) {
    moment_spectra_impl(models, parts, sizes, work, watch)
  }, work$progress)
}
