# Estimates the errors of expected spectra, from grids and steps that are available or cheap.

# Warns of errors above this limit. Suitable grids and steps stay far below it.
most_error <- 0.02

# Warns of a spectrum that is far from the limit of fine grids and short steps. `found`: the result
# of on_fine_grids(keep = TRUE) for one model. `where`: words to follow "for this model".
warn_of_errors <- function(events, found, time, extrapolate, sampling, work, where = "") {
  values <- found$values[[1]]
  pts <- found$pts[[1]]
  grids <- if (length(pts) > 1) {
    grid_error(values, pts, time, extrapolate, sampling$sizes)
  } else {
    single_grid_error(events, values, pts, time, sampling, work)
  }
  warn_of_grid_error(grids, pts, where)
  steps <- step_error(events, values, pts, time, sampling, work)
  if (steps > most_error) {
    warn_ancify(
      sprintf(
        "Time steps are long for this model%s: counts are off by %s. %s.", where,
        percent_off(steps),
        if (time == "dadi") "Give `time = \"accurate\"`"
        else "Divide epochs in which sizes or rates change into shorter ones"
      ),
      "grid"
    )
  }
}

warn_of_grid_error <- function(error, pts, where) {
  if (error > most_error) {
    one <- length(pts) == 1
    warn_ancify(
      sprintf(
        "%s %s points %s coarse for this model%s: counts are off by %s. Give %s `pts`, such as %s.", # nolint: line_length_linter.
        if (one) "A grid of" else "Grids of", enumerate(pts), if (one) "is" else "are", where,
        percent_off(error), if (one) "three" else "larger",
        enumerate(if (one) pts + c(0, 10, 20) else ceiling(1.5 * pts))
      ),
      "grid"
    )
  }
}

percent_off <- function(error) {
  if (error > 0.99) "100 % or more" else sprintf("about %.2g %%", 100 * error)
}

# The largest relative difference of a cell from its value in `spectrum`, among cells with at least
# a hundredth of all sites; or, if larger, the share of sites in another cell.
relative_change <- function(other, spectrum) {
  if (!all(is.finite(c(other, spectrum)))) {
    return(Inf)
  }
  differences <- abs(other - spectrum)
  total <- sum(spectrum)
  large <- spectrum > 0 & spectrum >= total / 100
  max(0, differences[large] / spectrum[large], if (total > 0) sum(differences) / total)
}

# A matrix with a row for each cell of variable sites; other dimensions of `values` become columns.
varying_cells <- function(values, sizes) {
  matrix(values, prod(sizes + 1))[!corner_mask(sizes + 1), , drop = FALSE]
}

# The change of the spectrum without its coarsest grid. It estimates the error of the other grids,
# and so exceeds the error of all grids. With two grids, the other one is not extrapolated; the
# error of both is about the square of its error.
grid_error <- function(values, pts, time, extrapolate, sizes) {
  spectra <- without_steps(array(values, c(dim(values), 1)), time)
  spectra <- varying_cells(spectra, sizes)
  of <- function(grids, weights) {
    extrapolated(spectra[, grids, drop = FALSE], pts[grids], weights, extrapolate == "log")
  }
  limit <- of(seq_along(pts), weights_of_spacing)
  difference <- relative_change(of(-which.min(pts), weights_of_spacing), limit)
  taken <- of(seq_along(pts), time_steps[[time]]$of_grids)
  max(if (length(pts) == 2) difference^2 else difference, relative_change(taken, limit))
}

# The change of the spectrum by extrapolation with a coarser grid; 0 if no grid is coarser.
single_grid_error <- function(events, values, pts, time, sampling, work) {
  coarser <- max(4L, max(sampling$sizes) + 1L, as.integer(2 * pts / 3))
  if (coarser >= pts) {
    return(0)
  }
  fine <- without_steps(array(values, c(dim(values), 1)), time)
  coarse <- spectra_of_models(list(events), coarser, time, sampling, work)
  spectra <- varying_cells(cbind(fine[, 1, 1], coarse[, 1, 1]), sampling$sizes)
  relative_change(spectra[, 1], extrapolated(
    spectra, c(pts, coarser), weights_of_spacing, FALSE
  ))
}

# The change of the spectrum by steps of half the length, on the coarsest grid. "accurate" steps
# need it only where whole and half steps differ: their remaining error is a part of this
# difference. A grid of a third of the points costs a fraction, and suffices to show that the
# difference is well below the limit.
step_error <- function(events, values, pts, time, sampling, work) {
  steps <- time_steps[[time]]
  if (length(steps$parts) > 1) {
    of_parts <- varying_cells(values[, which.min(pts), ], sampling$sizes)
    taken <- drop(of_parts %*% steps$weights)
    if (relative_change(of_parts[, length(steps$parts)], taken) <= most_error) {
      return(0)
    }
  }
  difference <- function(points) step_difference(events, points, steps, sampling, work)
  few <- max(4L, max(sampling$sizes) + 1L, as.integer(min(pts) / 3))
  rough <- if (few < min(pts)) difference(few) else Inf
  if (rough <= most_error / 1.5) rough else difference(min(pts))
}

# The difference between the spectrum of these steps and the limit of shorter ones, on one grid.
step_difference <- function(events, points, steps, sampling, work) {
  parts <- c(steps$parts, 2L * max(steps$parts))
  spectra <- spectra_of_steps(list(events), points, steps, parts, sampling, work)
  spectra <- varying_cells(spectra, sampling$sizes)
  n <- length(steps$parts)
  taken <- drop(spectra[, seq_len(n), drop = FALSE] %*% steps$weights)
  relative_change(taken, 2 * spectra[, n + 1] - spectra[, n])
}
