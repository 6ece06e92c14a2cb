# Spectra from grids, which are refined if too coarse for a model, and extrapolated.

# An array of cells, grids and models, extrapolated to steps of length 0 by the rule `time`.
spectra_of_models <- function(models, pts, time, sampling, work) {
  steps <- time_steps[[time]]
  without_steps(spectra_of_steps(models, pts, steps, steps$parts, sampling, work), time)
}

# An array of cells, grids, parts and models. Each time step is cut into this many `parts`.
spectra_of_steps <- function(models, pts, steps, parts, sampling, work) {
  result <- with_watch("Diffusion", function(watch) {
    grids <- core_list(
      "DiffusionGrids",
      fineness = steps$fineness, strongest = steps$strongest, looks_ahead = steps$looks_ahead,
      parts = parts, points = pts
    )
    expected_spectra_impl(models, grids, core_sampling(sampling), work, watch)
  }, work$progress)
  array(result, c(nrow(result), length(pts), length(parts), length(models)))
}

core_sampling <- function(sampling) {
  core_list(
    "Sampling",
    kind = sampling$kind, sizes = sampling$sizes, population = sampling$population,
    shares = sampling$shares, inbreeding = sampling$inbreeding, ploidy = sampling$ploidy
  )
}

without_steps <- function(values, time) {
  weights <- time_steps[[time]]$weights
  sums <- Map(function(i, weight) weight * values[, , i, , drop = FALSE],
              seq_along(weights), weights)
  array(Reduce(`+`, sums), dim(values)[c(1, 2, 4)])
}

# The error is proportional to the step length. So twice the spectrum of half steps, minus the
# spectrum of whole steps, extrapolates to steps of length 0. Steps shorten with selection up to the
# coefficient `strongest`. Steps that look ahead are short enough for shrinking populations.
# `of_grids`: the weights of grids, as a function of their points.
# "selected" is for pairs of coefficients: equal relative accuracy under strong selection would
# spend most of the time on the smallest counts.
step_rule <- function(fineness, strongest, parts, weights, looks_ahead, of_grids) {
  as.list(environment())
}

# Weights for the value at 0 of a polynomial in the smallest frequency, as in dadi.
weights_of_frequencies <- function(pts) {
  x <- smallest_frequencies_impl(pts)
  vapply(seq_along(x), function(i) prod(x[-i] / (x[-i] - x[i])), 0)
}

# Weights with sum 1 that minimise the expected squared error. A grid's error is a polynomial in its
# spacing. Drift causes most of it, in proportion to the squared spacing; splits add a linear term,
# and migration a large fourth-power term. `sizes`: typical coefficients of the polynomial, relative
# to a count, in models of one to three populations.
weights_of_spacing <- function(pts) {
  if (length(pts) == 1) {
    return(1)
  }
  sizes <- c(1, 50, 100, 5000, 2e4, 5e5)
  errors <- sizes * t(outer(1 / (pts - 1), seq_along(sizes), "^"))
  finest <- which.max(pts)
  weights <- numeric(length(pts))
  others <- qr(errors[, -finest, drop = FALSE] - errors[, finest], LAPACK = TRUE)
  weights[-finest] <- qr.coef(others, -errors[, finest])
  weights[finest] <- 1 - sum(weights)
  weights
}

time_steps <- list(
  dadi = step_rule(1e-3, Inf, 1L, 1, FALSE, weights_of_frequencies),
  accurate = step_rule(3e-3, Inf, 1:2, c(-1, 2), TRUE, weights_of_spacing),
  selected = step_rule(3e-3, 30, 1:2, c(-1, 2), TRUE, weights_of_spacing)
)

# A list of three lists with an element for each model: `spectra`, its expected spectrum; `pts`, the
# grid points used; and with `keep` its `values`, an array of cells, grids and parts of steps. Cells
# are negative where a density is too steep for the grid. Twice as many points shrink them by orders
# of magnitude, so a few rounds suffice, and most models need none.
on_fine_grids <- function(models, sizes, pts, time, extrapolate, sampling, work, keep = FALSE) {
  none <- vector("list", length(models))
  result <- list(spectra = none, pts = none, values = none)
  steps <- time_steps[[time]]
  open <- seq_along(models)
  for (points in finer_grids(pts, length(sizes))) {
    parts <- spectra_of_steps(models[open], points, steps, steps$parts, sampling, work)
    values <- without_steps(parts, time)
    fine <- !vapply(seq_along(open), function(i) any_below(values[, , i], sampling$sizes), NA)
    result$spectra[open[fine]] <- lapply(which(fine), function(i) {
      as_expected(values[, , i], sizes, points, time, extrapolate, sampling)
    })
    result$pts[open[fine]] <- list(points)
    if (keep) {
      result$values[open[fine]] <- lapply(which(fine), function(i) {
        array(parts[, , , i], dim(parts)[1:3])
      })
    }
    open <- open[!fine]
    if (!length(open)) {
      return(result)
    }
  }
  refuse_input(
    "Cells of the spectrum are negative on grids of %s points, and on finer ones up to %s. Give larger `pts`, or weaker selection.", # nolint: line_length_linter.
    enumerate(pts), enumerate(points)
  )
}

# Refinement stops at densities of this many points; only the user may choose more.
most_grid_points <- 3e6

# `pts`, then grids with 50 % more points in each round.
finer_grids <- function(pts, populations) {
  grids <- lapply(1.5^(0:8), function(factor) as.integer(round(pts * factor)))
  good <- vapply(grids, function(points) max(points)^populations <= most_grid_points, NA)
  grids[good | seq_along(grids) == 1]
}

# True if any grid has negative cells beyond rounding. Extrapolation may hide them. `spectra`: a
# matrix of cells and grids.
any_below <- function(spectra, sizes) {
  known <- matrix(spectra, prod(sizes + 1))[!corner_mask(sizes + 1), , drop = FALSE]
  nrow(known) > 0 &&
    any(apply(known, 2, function(cells) min(cells) < -1e-6 * max(cells)), na.rm = TRUE)
}

# `taken`: the grid points used for each model.
warn_of_finer <- function(pts, taken, where = "") {
  finest <- taken[[which.max(vapply(taken, max, 0L))]]
  warn_ancify(
    sprintf("The grids of %s points are too coarse%s: cells were negative. Used grids of %s.",
            enumerate(pts), where, enumerate(finest)),
    "grid"
  )
}

# The result of expected_sfs() from a matrix of cells and grids.
as_expected <- function(spectra, sizes, pts, time, extrapolate, sampling) {
  spectra <- matrix(spectra, ncol = length(pts))
  values <- extrapolated(spectra, pts, time_steps[[time]]$of_grids, extrapolate == "log")
  as_expected_sfs(values, sizes, sampling)
}

as_expected_sfs <- function(values, sizes, sampling) {
  # 0 up to rounding
  values[which(values < 0)] <- 0
  counts <- array(values, sampling$sizes + 1)
  if (!is.null(sampling$called)) counts <- called_counts(counts, sampling$called)
  new_sfs(counts, names(sizes), corner_mask(sizes + 1), FALSE)
}

# A list of the spectra of these grids, named by `pts`. Where cells are negative they become 0.
spectra_of_single_grids <- function(events, sizes, pts, time, sampling, work) {
  values <- spectra_of_models(list(events), pts, time, sampling, work)
  spectra <- lapply(seq_along(pts), function(i) as_expected_sfs(values[, i, 1], sizes, sampling))
  coarse <- vapply(seq_along(pts), function(i) any_below(values[, i, 1], sampling$sizes), NA)
  if (any(coarse)) {
    warn_ancify(
      sprintf("%s %s points %s too coarse: negative cells became 0. Give larger `pts`.",
              if (sum(coarse) == 1) "A grid of" else "Grids of", enumerate(pts[coarse]),
              if (sum(coarse) == 1) "is" else "are"),
      "grid"
    )
  }
  stats::setNames(spectra, pts)
}

# The sum of spectra, or of their logarithms, with the weights of their grids. Cells whose sum is
# unusable get the finest grid's value.
extrapolated <- function(spectra, pts, of_grids, of_logarithms) {
  weights <- of_grids(pts)
  finest <- spectra[, which.max(pts)]
  if (of_logarithms) spectra[which(spectra <= 0)] <- NA
  values <- if (of_logarithms) exp(log(spectra) %*% weights) else spectra %*% weights
  good <- which(is.finite(values) & values > 0 & finest > 0)
  good <- good[abs(log10(values[good] / finest[good])) <= 10]
  replace(finest, good, values[good])
}

# True for values of `time` and `extrapolate` that only grids support
only_on_grids <- function(time, extrapolate) time == "dadi" || extrapolate != "linear"

# Computing time grows as the number of points to the power of the number of populations.
default_pts <- function(sizes) {
  if (length(sizes) > 3) max(sizes, 8) + c(4L, 8L, 12L) else max(sizes, 30) + c(10L, 20L, 30L)
}
