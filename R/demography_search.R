#' Fit a demographic model
#'
#' Finds the maximum likelihood parameters for a spectrum:
#' `fit_demography(demography_model("split_mig"), x, start = c(nu1 = 1, nu2 = 1, time = 0.2, m =
#' 1))`. The model is a [demography()] or a distribution of fitness effects.
#'
#' @details
#' **Searches.** Each search climbs to a local maximum by a quasi-Newton method (`stats::nlminb()`).
#' Parameters with a lower bound above 0 are on a logarithmic scale. Gradients are finite
#' differences, computed together on all threads. The first search begins at `start`, the others at
#' `start` times random factors from 1/2 to 2. `set.seed()` makes a fit reproducible.
#'
#' **Convergence.** A fit has converged if the three best searches agree on the log-likelihood
#' within `tolerance`, and no parameter is at a default bound. No further searches start once three
#' agree. With `seconds`, searches end when this time is over, at the best point so far.
#'
#' **Numerical error.** The default grids and time steps cause errors of some hundredths in a
#' log-likelihood. For 40 haplotypes of Yoruba and CEU the maximum is -1066.39, even on grids twice
#' as fine. `time = "dadi"` gives dadi's -1066.26: without extrapolation, its time steps have a
#' larger error.
#'
#' **Linkage disequilibrium.** With `ld`, the log-likelihood is the sum of a term for the spectrum
#' and a term for two-locus statistics. In each bin the ratios ([ld_ratios()]) have a multivariate
#' normal distribution. The model gives its mean, and the data's blocks its covariance
#' ([vcov()][ld_methods]). Ratios of heterozygosities form one more bin. Bins and the spectrum count
#' as independent, so this is a composite likelihood. Recombination sets the time scale: the fit has
#' a further parameter `reference_size`, Nref, which needs a `start`. Sizes are then
#' `nu * reference_size` diploid individuals, and times `2 * reference_size * time` generations.
#' Models from [read_demes()] do not need this parameter, as their parameters are in individuals and
#' in the file's units of time.
#'
#' **Standard errors.** Linked sites are not independent. Use bootstrap spectra, as from
#' [sfs_from_vcf()], in [vcov.demography_fit()].
#'
#' @param model A [demography()] with parameters, or a [dfe_model()].
#' @param sfs The data's spectrum, an [sfs()]. If it is folded, the model's spectrum is folded too.
#'   `NULL`: the fit uses `ld` alone.
#' @param start Named values of the parameters for the first search, in the units of
#'   [demography_events]. Default: the start values of a model from [read_demes()].
#' @param lower,upper Named bounds of some or all parameters. Default: the bounds of a model from
#'   [read_demes()]; else a thousandth of `start`, and a thousand times `start`; for `misidentified`
#'   an upper bound of 1. Give both for a parameter that may be 0 or change sign, such as the
#'   `meanlog` of a [dfe_model()].
#' @param fixed Named values of parameters not to fit. `NULL` (the default): none.
#' @param starts Largest number of searches, 20 by default.
#' @param pts Grid points, as in [expected_sfs()]. `NULL` (the default): moments, to a relative
#'   1e-6, for neutral models with analytic sampling, and default grids otherwise. These have n +
#'   10, n + 20 and n + 30 points, with n the haplotypes of the largest sample, at least 30. For
#'   more than three populations: n + 4, n + 8 and n + 12, with n at least 8.
#' @param misidentified Whether to fit the share of misidentified sites too, as the parameter
#'   `misidentified` with a start of 0.01; `FALSE` (the default).
#' @param multinomial Whether to fit theta. `TRUE` (the default) scales the model to the data;
#'   `FALSE` (the default for a [dfe_model()]) takes theta from the model.
#' @param tolerance Largest difference in log-likelihood between agreeing searches, 0.1 by default.
#' @param seconds Longest time of all searches; `Inf` (the default): until they end. A search ends
#'   after 200 iterations in any case. Not with `BPPARAM`.
#' @param time,extrapolate,sampling,threads,backend As in [expected_sfs()]. If `sampling` is a
#'   function, its arguments are fitted too. Give bounds for their range: `upper = c(inbreeding =
#'   1)`. Of these and `pts`, a [dfe_model()] takes only `threads`, as it already has its spectra.
#' @param BPPARAM A `BiocParallelParam`. Its workers run all `starts` searches, each on one thread.
#'   `NULL` (the default): this session runs one search after another.
#' @param progress Whether to show the number of finished searches. Default: only in interactive
#'   sessions.
#' @param ld Two-locus statistics of the data, as from [ld_statistics()] with `blocks`, of the
#'   populations of `sfs`. They need at least two more blocks than a bin has ratios. `NULL` (the
#'   default): none.
#' @return A list of class `demography_fit`:
#' * `model`, `data`: the arguments `model` and `sfs`.
#' * `ld`, `expected_ld`: the ratios of `ld`, and their expectation; `NULL` without `ld`.
#' * `params`: the values of all parameters; `fitted`: the names of the fitted ones.
#' * `theta`: the fitted theta, `NA` without `multinomial` or `sfs`.
#' * `log_likelihood`: the maximum log-likelihood.
#' * `expected`: the model's spectrum, with this theta.
#' * `converged`: `TRUE` if the fit has converged.
#' * `at_bounds`: names of the parameters within 1 % of a bound.
#' * `bounds`: a data frame with a row for each fitted parameter. `lower` and `upper` are its
#'   bounds, `lower_of` and `upper_of` their source (`"user"`, `"default"` or the parameter's
#'   `"range"`). `at` is the bound that the estimate has reached, or `NA`.
#' * `searches`: a data frame with a row for each search: `log_likelihood` and the parameters.
#'
#' Methods: see [demography_fit]. [vcov()][vcov.demography_fit], [confint()][confint.demography_fit]
#' and [anova()][anova.demography_fit] have their own pages.
#' @section Errors:
#' * `ancify_input_error`: the arguments are inconsistent, the model cannot be computed at `start`,
#'   or `sfs` has no more sites than parameters to fit.
#' * `ancify_device_error`, `ancify_system_error`: as from [expected_sfs()].
#' * `ancify_package_error`: `BPPARAM` needs the package BiocParallel.
#' * `ancify_fit_warning`: the fit has not converged, or a parameter is at a bound.
#' * `ancify_grid_warning`: as from [expected_sfs()], at the estimates.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint demographic history
#' of multiple populations from multidimensional SNP frequency data. PLoS Genetics 5:e1000695.
#'
#' Ragsdale and Gravel (2019) Models of archaic admixture and recent history from two-locus
#' statistics. PLoS Genetics 15:e1008204.
#' @seealso [expected_ld()] for two-locus statistics, [demography_fit] for the methods,
#'   [vcov.demography_fit()] for standard errors, [sfs_log_likelihood()], [demography_model()]
#' @export
#' @examples
#' data <- sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI")
#' set.seed(1)
#' fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), starts = 3,
#'                       pts = c(20, 30))
#' fit
#' AIC(fit)
fit_demography <- function(model, sfs, start = NULL, lower = NULL, upper = NULL, fixed = NULL,
                           starts = 20, pts = NULL, misidentified = FALSE,
                           multinomial = inherits(model, "demography"), tolerance = 0.1,
                           time = "accurate", extrapolate = "linear", sampling = "analytic",
                           threads = NULL, backend = "auto", BPPARAM = NULL,
                           progress = interactive(), ld = NULL, seconds = Inf) {
  check_given()
  arguments <- as.list(environment())
  check_observed(model, sfs, ld, misidentified)
  check_args(misidentified = flag(), starts = whole(), progress = flag(), tolerance = positive(1),
             seconds = check_seconds)
  # One thread for each worker.
  if (!is.null(BPPARAM)) {
    check_workers(BPPARAM, backend)
    threads <- 1
    refuse_if(seconds < Inf, "`seconds` is for the searches of one session: leave out `BPPARAM`.")
  }
  if (inherits(model, "dfe_model")) {
    refuse_of_dfe_model(
      pts = pts, time = time, extrapolate = extrapolate, sampling = sampling, backend = backend
    )
  }
  space <- search_space(
    model, sampling, with_own(model, "start", start), with_own(model, "lower", lower),
    with_own(model, "upper", upper), fixed,
    own_params(model, misidentified, ld)
  )
  if (is.null(ld)) check_enough_sites(sfs, names(space$start))
  surface <- demography_surface(
    model, sfs, ld, space, pts, multinomial && !is.null(sfs), misidentified, time, extrapolate,
    sampling, backend, threads
  )
  # Invalid parameters are an error at `start`; during a search they have likelihood 0.
  with_input_errors_as(
    "With the parameters of `start`: %s",
    for (term in surface$terms) {
      one <- term$expected(list(space$start), stop_at_errors = TRUE)[[1]]
      term$log_likelihood(one, term$data, surface$settings$multinomial)
    }
  )
  searches <- all_searches(surface, space, starts, tolerance, BPPARAM, progress, seconds)
  values <- vapply(searches, `[[`, 0, "log_likelihood")
  best <- searches[[which.max(values)]]
  params <- do.call(rbind, lapply(searches, `[[`, "params"))
  table <- data.frame(log_likelihood = values, params)
  fit <- finished_fit(surface, space, best, table[order(-values), ], tolerance)
  fit$arguments <- arguments[setdiff(names(arguments), c("BPPARAM", "progress"))]
  warn_of_fit(fit, tolerance, seconds)
  fit
}

# ---- Arguments -----------------------------------------------------------------------------------

# Parameters that a fit adds to its model's parameters
own_params <- function(model, misidentified, ld) {
  c(if (misidentified) "misidentified", if (!is.null(ld)) params_of_ld(model))
}

# Observations that a fit can use
check_observed <- function(model, sfs, ld, misidentified) {
  refuse_if(is.null(sfs) && is.null(ld), "There is nothing to fit to: give `sfs`, `ld` or both.")
  check_args(sfs = optional(check_counted_sfs), ld = optional(check_ld))
  refuse_if(isTRUE(misidentified) && (is.null(sfs) || attr(sfs, "folded")),
            "`misidentified` must be FALSE: %s no ancestral alleles.",
            if (is.null(sfs)) "two-locus statistics need" else "folded data have")
  if (!is.null(ld)) check_ld_fits(model, sfs, ld)
}

# Without more sites than parameters no optimum exists: a search moves to ever stronger migration
# and smaller sizes, where each evaluation takes minutes. An expected spectrum may have any scale,
# so only whole counts are checked.
check_enough_sites <- function(sfs, fitted) {
  counts <- as.vector(unclass(sfs))[!as.vector(attr(sfs, "mask"))]
  sites <- sum(counts)
  refuse_if(sites > 0 && all(counts == round(counts)) && sites <= length(fitted),
            "`sfs` has %s, too few to fit %s (%s): %s.", count_of(sites, "site"),
            count_of(length(fitted), "parameter"), enumerate(fitted),
            "give more sites, or fix parameters by `fixed`")
}

check_ld_fits <- function(model, sfs, ld) {
  refuse_if(inherits(model, "dfe_model"),
            "`ld` is for a demography(): two-locus statistics have no selection.")
  named <- names(dimnames(sfs))
  refuse_if(!is.null(named) && !identical(named, ld$populations),
            "`sfs` has the populations %s, but `ld` has %s: choose the same, in the same order.",
            enumerate(quoted(named)), enumerate(quoted(ld$populations)))
}

# Refuses arguments that a dfe_model() cannot use, because its spectra are already computed.
refuse_of_dfe_model <- function(...) {
  given <- list(...)
  defaults <- as.list(formals(fit_demography))[names(given)]
  set <- names(given)[!mapply(identical, given, defaults)]
  refuse_if(length(set), "Leave out %s: a dfe_model() takes its spectra from selected_spectra().",
            enumerate(sprintf("`%s`", set)))
}

check_seconds <- function(x, name) {
  must_be(is.numeric(x) && length(x) == 1 && !is.na(x) && x > 0, x, name, "a time above 0, or Inf")
}

# ---- Searches ------------------------------------------------------------------------------------

# The step of finite differences, on the search's scale. Its effect far exceeds the noise from
# changes in the number of time steps.
slope_step <- 1e-3

# Climbs from `start`; ends at the best point so far if `deadline` (elapsed seconds of proc.time())
# passes.
one_search <- function(surface, space, start, deadline = Inf) {
  lower <- to_scale(space, space$lower)
  upper <- to_scale(space, space$upper)
  best <- list(objective = Inf, par = to_scale(space, start))
  value <- function(x) {
    if (proc.time()[["elapsed"]] > deadline) stop(out_of_time())
    value <- -log_likelihoods_at(surface, list(from_scale(space, x)))
    if (value < best$objective) best <<- list(objective = value, par = x)
    value
  }
  gradient <- function(x) {
    above <- pmin(x + slope_step, upper)
    below <- pmax(x - slope_step, lower)
    n <- length(x)
    sets <- lapply(seq_len(2 * n), function(i) {
      k <- (i - 1) %% n + 1
      from_scale(space, replace(x, k, if (i <= n) above[k] else below[k]))
    })
    values <- -log_likelihoods_at(surface, sets)
    upper_values <- values[seq_len(n)]
    lower_values <- values[n + seq_len(n)]
    slopes <- (upper_values - lower_values) / (above - below)
    if (all(is.finite(slopes))) {
      return(slopes)
    }
    # Next to invalid parameters, use a one-sided difference.
    here <- value(x)
    to_above <- (upper_values - here) / (above - x)
    to_below <- (here - lower_values) / (x - below)
    one_sided <- ifelse(is.finite(to_above), to_above, to_below)
    ifelse(is.finite(slopes), slopes, ifelse(is.finite(one_sided), one_sided, 0))
  }
  found <- tryCatch(
    stats::nlminb(
      to_scale(space, start), value, gradient, lower = lower, upper = upper,
      control = list(rel.tol = 1e-9, x.tol = 1e-6, iter.max = 200)
    ),
    out_of_time = function(condition) best
  )
  list(log_likelihood = -found$objective, params = from_scale(space, found$par))
}

out_of_time <- function() {
  structure(class = c("out_of_time", "condition"), list(message = "out of time", call = NULL))
}

all_searches <- function(surface, space, starts, tolerance, param, progress, seconds) {
  deadline <- proc.time()[["elapsed"]] + seconds
  place <- function(i) if (i == 1) space$start else place_near_start(surface, space)
  if (!is.null(param)) {
    return(over_parts(lapply(seq_len(starts), place), with_ancify(function(place) {
      one_search(surface, space, place)
    }), param, "Searches", progress))
  }
  if (progress) {
    bar <- cli::cli_progress_bar("Searches", total = starts, clear = TRUE, .auto_close = FALSE)
    on.exit(cli::cli_progress_done(id = bar))
  }
  searches <- list()
  for (i in seq_len(starts)) {
    searches[[i]] <- one_search(surface, space, place(i), deadline)
    if (progress) cli::cli_progress_update(id = bar)
    if (is_agreed(vapply(searches, `[[`, 0, "log_likelihood"), tolerance)) break
    if (proc.time()[["elapsed"]] > deadline) break
  }
  searches
}

# A random point near the start. Its model may still be invalid after ten attempts.
place_near_start <- function(surface, space) {
  for (try in 1:10) {
    near <- space$start * 2^stats::runif(length(space$start), -1, 1)
    near <- pmin(pmax(near, space$lower), space$upper)
    if (is.finite(log_likelihoods_at(surface, list(near)))) break
  }
  near
}

# True if the three best searches reached the same maximum.
is_agreed <- function(values, tolerance) {
  values <- values[is.finite(values)]
  length(values) >= 3 && sort(values, decreasing = TRUE)[3] >= max(values) - tolerance
}

finished_fit <- function(surface, space, best, searches, tolerance) {
  rownames(searches) <- NULL
  params <- c(best$params, space$fixed)
  names <- params_of_spectra(surface$model, surface$settings$sampling)
  params <- params[intersect(c(names, "misidentified", "reference_size"), names(params))]
  there <- best_expected(surface, best$params)
  bounds <- bounds_of_space(space, best$params)
  structure(
    list(
      model = surface$model, data = surface$terms$sfs$data, ld = surface$terms$ld$data,
      params = params, fitted = names(space$start), theta = there$theta,
      log_likelihood = best$log_likelihood, expected = there$expected,
      expected_ld = there$expected_ld,
      converged = is_agreed(searches$log_likelihood, tolerance) && !is_at_default(bounds),
      at_bounds = rownames(bounds)[!is.na(bounds$at)], bounds = bounds, searches = searches,
      surface = surface
    ),
    class = "demography_fit"
  )
}

warn_of_fit <- function(fit, tolerance, seconds) {
  if (!is_agreed(fit$searches$log_likelihood, tolerance)) {
    warn_ancify(
      sprintf(
        "The fit has not converged: of %s%s no three agree within %s in log-likelihood. Give more %s or a better `start`.", # nolint: line_length_linter.
        count_of(nrow(fit$searches), "search"),
        if (seconds < Inf) sprintf(" in %s seconds", format(seconds)) else "", format(tolerance),
        if (seconds < Inf) "`seconds`" else "`starts`"
      ),
      "fit"
    )
  }
  if (!is.null(fit$surface$terms$sfs)) fit$surface$terms$sfs$warn(fit$params)
  if (length(fit$at_bounds)) {
    warn_ancify(paste(bound_sentences(fit$bounds), collapse = " "), "fit")
  }
}
