# Spectra from grids: made finer where they are too coarse for a model, and extrapolated.

# An array of cells, grids and models. With "accurate" steps, extrapolated to steps of length 0.
spectra_of_models <- function(models, pts, time, sampling, backend, progress = FALSE) {
  steps <- time_steps[[time]]
  result <- with_watch("Diffusion", function(watch) {
    grids <- c(steps[c("fineness", "strongest", "parts")], list(points = pts))
    expected_spectra_impl(models, grids, sampling, backend, watch)
  }, progress)
  result <- array(result, c(nrow(result), length(pts), length(steps$parts), length(models)))
  sums <- Map(function(i, weight) weight * result[, , i, , drop = FALSE],
              seq_along(steps$parts), steps$weights)
  array(Reduce(`+`, sums), dim(result)[c(1, 2, 4)])
}

# The error is proportional to the step. So twice the spectrum of half steps, minus that of whole
# ones, extrapolates to steps of length 0. Steps follow selection up to the coefficient `strongest`.
# "selected" is for pairs of coefficients: to be as accurate under strong selection, in relative
# terms, would take most of the time for the smallest counts.
time_steps <- list(
  dadi = list(fineness = 1e-3, strongest = Inf, parts = 1L, weights = 1),
  accurate = list(fineness = 3e-3, strongest = Inf, parts = 1:2, weights = c(-1, 2)),
  selected = list(fineness = 3e-3, strongest = 30, parts = 1:2, weights = c(-1, 2))
)

# The models' expected spectra, as a list, and for each the grid points that it took. Cells are
# negative where a density is too steep for the grid. Twice as many points make them smaller by
# orders of magnitude, so a few rounds do, and most models need none.
on_fine_grids <- function(models, sizes, pts, time, extrapolate, sampling, backend,
                          progress = FALSE) {
  result <- list(spectra = vector("list", length(models)), pts = vector("list", length(models)))
  open <- seq_along(models)
  for (points in finer_grids(pts, length(sizes))) {
    values <- spectra_of_models(models[open], points, time, sampling, backend, progress)
    fine <- !vapply(seq_along(open), function(i) any_below(values[, , i], sampling$sizes), NA)
    result$spectra[open[fine]] <- lapply(which(fine), function(i) {
      as_expected(values[, , i], sizes, points, extrapolate, sampling)
    })
    result$pts[open[fine]] <- list(points)
    open <- open[!fine]
    if (!length(open)) {
      return(result)
    }
  }
  abort_ancify(
    sprintf(
      "Cells of the spectrum are negative on grids of %s points, and on finer ones up to %s. Give larger `pts`, or weaker selection.", # nolint: line_length_linter.
      enumerate(pts), enumerate(points)
    ),
    "input"
  )
}

# Densities of more points than this are for the user to choose.
most_grid_points <- 3e6

# `pts`, and grids of half as many points more each time.
finer_grids <- function(pts, populations) {
  grids <- lapply(1.5^(0:8), function(factor) as.integer(round(pts * factor)))
  good <- vapply(grids, function(points) max(points)^populations <= most_grid_points, NA)
  grids[good | seq_along(grids) == 1]
}

# Whether any grid has negative cells beyond rounding. Extrapolation may hide them. `spectra`: a
# matrix of cells and grids.
any_below <- function(spectra, sizes) {
  known <- matrix(spectra, prod(sizes + 1))[!corner_mask(sizes + 1), , drop = FALSE]
  nrow(known) > 0 &&
    any(apply(known, 2, function(cells) min(cells) < -1e-6 * max(cells)), na.rm = TRUE)
}

# `taken`: the grid points of each model.
warn_of_finer <- function(pts, taken, where = "") {
  finest <- taken[[which.max(vapply(taken, max, 0L))]]
  warn_ancify(
    sprintf("The grids of %s points are too coarse%s: cells were negative. Used grids of %s.",
            enumerate(pts), where, enumerate(finest)),
    "grid"
  )
}

# The result of expected_sfs() from a matrix of cells and grids.
as_expected <- function(spectra, sizes, pts, extrapolate, sampling) {
  spectra <- matrix(spectra, ncol = length(pts))
  populations <- names(sizes)
  mask <- corner_mask(sizes + 1)
  as_sfs <- function(values) {
    # 0 but for rounding
    values[which(values < 0)] <- 0
    counts <- array(values, sampling$sizes + 1)
    if (!is.null(sampling$called)) counts <- called_counts(counts, sampling$called)
    new_sfs(counts, populations, mask, FALSE)
  }
  if (extrapolate == "none") {
    return(stats::setNames(lapply(seq_along(pts), function(i) as_sfs(spectra[, i])), pts))
  }
  as_sfs(extrapolated(spectra, pts, extrapolate == "log"))
}

# The value at 0 of a polynomial in each grid's smallest frequency. If it is unusable for a cell,
# the finest grid's value.
extrapolated <- function(spectra, pts, of_logarithms) {
  x <- smallest_frequencies_impl(pts)
  weights <- vapply(seq_along(x), function(i) prod(x[-i] / (x[-i] - x[i])), 0)
  logs <- log(ifelse(spectra > 0, spectra, NA))
  values <- if (of_logarithms) exp(logs %*% weights) else spectra %*% weights
  finest <- spectra[, which.max(pts)]
  good <- is.finite(values) & values > 0 & finest > 0
  good[good] <- abs(log10(values[good] / finest[good])) <= 10
  ifelse(good %in% TRUE, values, finest)
}
