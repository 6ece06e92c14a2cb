#' Fit a demographic model
#'
#' Finds the parameters of a [demography()], or of a distribution of fitness effects, with which it
#' is most likely to give a spectrum.
#'
#' @details
#' From each start a quasi-Newton search (`stats::nlminb()`) goes to the next maximum, on a
#' logarithmic scale for parameters whose lower bound is above 0. Gradients come from spectra a
#' little to both sides, all computed at once on all threads. Further starts are `start` times
#' factors from 1/2 to 2 by chance, so that `set.seed()` makes a fit repeatable. The search ends
#' when three starts have come to within `tolerance` of the best log-likelihood, or with the last
#' start; in the first case the fit has converged.
#'
#' Sites near each other are not independent, so that standard errors need bootstrap spectra, such
#' as [sfs_from_vcf()] makes: see [vcov.demography_fit()].
#'
#' @param model A [demography()] with parameters, or a [dfe_model()], for which `pts` and `time` to
#'   `backend` say nothing.
#' @param sfs The data's spectrum, an [sfs()]. For a folded one the model is folded.
#' @param start Named values of the parameters where the first search begins, in the units of
#'   [demography_events].
#' @param lower,upper Bounds, named, of some parameters or all. Default: a hundredth and a hundred
#'   times `start`, and 1 for the upper bound of `misidentified`. A parameter that may be 0, or of
#'   either sign, such as the `meanlog` of a [dfe_model()], needs both.
#' @param fixed Named values of parameters that are not fitted; `NULL` (the default) for none.
#' @param starts How many searches there are at most, 20 by default.
#' @param pts Grids, as [expected_sfs()] takes them. Default: 10, 20 and 30 points more than the
#'   largest sample has haplotypes, but 40 at least; for more than three populations 4, 8 and 12
#'   points more, but 12 at least.
#' @param misidentified Whether the share of sites whose ancestral allele was mistaken is a further
#'   parameter, `misidentified`, from 0.01 at the start; `FALSE` by default.
#' @param multinomial Whether theta is what fits best, rather than what the model says: `TRUE` by
#'   default, but not for a [dfe_model()].
#' @param tolerance Difference of log-likelihoods below which searches have come to the same
#'   maximum, 0.1 by default.
#' @param time,extrapolate,sampling,threads,backend As in [expected_sfs()]; what `sampling` is a
#'   function of is fitted too, and needs bounds of what it may be: `upper = c(inbreeding = 1)`. Of
#'   a [dfe_model()], whose spectra are there already, neither these nor `pts` can be set, but
#'   `threads`.
#' @param BPPARAM A `BiocParallelParam` whose workers search from one start each, with one thread;
#'   all starts are done then. `NULL` (the default): one after the other, here.
#' @param progress Whether to show how many searches are done; by default in interactive
#'   sessions alone.
#' @return A list of class `demography_fit`: `model`, `data`, `params`, the values of all
#'   parameters, `fitted`, the names of those that were fitted, `theta` (with `multinomial`, else
#'   `NA`), `log_likelihood`, `expected`, the model's spectrum scaled to the data, `converged`,
#'   `at_bounds`, the names of parameters within 1 % of a bound, and `searches`, a data frame of
#'   what each search came to. There are methods for `print()`, `summary()`, `coef()`, `logLik()`
#'   and with it `AIC()` and `BIC()`, `predict()`, `residuals()`, `plot()` and `vcov()`.
#' @section Errors:
#' `ancify_input_error` for what does not fit together, and where the model can't be computed at
#' `start`; `ancify_device_error` and `ancify_system_error` as [expected_sfs()] gives them;
#' `ancify_package_error` for a `BPPARAM` without the package BiocParallel. A fit that has not
#' converged, and parameters at bounds, are an `ancify_fit_warning`.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint demographic history
#' of multiple populations from multidimensional SNP frequency data. PLoS Genetics 5:e1000695.
#' @seealso [demography_fit] for the methods, [vcov.demography_fit()] for standard errors,
#'   [sfs_log_likelihood()], [demography_model()]
#' @export
#' @examples
#' data <- sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI")
#' set.seed(1)
#' fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), starts = 3,
#'                       pts = c(20, 30))
#' fit
#' AIC(fit)
fit_demography <- function(model, sfs, start, lower = NULL, upper = NULL, fixed = NULL,
                           starts = 20, pts = NULL, misidentified = FALSE,
                           multinomial = inherits(model, "demography"), tolerance = 0.1,
                           time = "accurate", extrapolate = "linear", sampling = "analytic",
                           threads = NULL, backend = "auto", BPPARAM = NULL,
                           progress = interactive()) {
  check_given()
  check_sfs(sfs, "sfs")
  check_flag(misidentified, "misidentified")
  check_whole_number(starts, "starts")
  check_flag(progress, "progress")
  check_positive(tolerance, "tolerance", 1)
  # Workers leave each other the other cores.
  if (!is.null(BPPARAM)) {
    check_workers(BPPARAM, backend)
    threads <- 1
  }
  if (inherits(model, "dfe_model")) {
    refuse_of_dfe_model(
      pts = pts, time = time, extrapolate = extrapolate, sampling = sampling, backend = backend
    )
  }
  if (misidentified && attr(sfs, "folded")) {
    abort_ancify("Folded data do not know ancestral alleles: `misidentified` must be FALSE.",
                 "input")
  }
  space <- search_space(model, sampling, start, lower, upper, fixed, misidentified)
  surface <- demography_surface(
    model, sfs, space, pts, multinomial, misidentified, time, extrapolate, sampling, backend,
    threads
  )
  # What is wrong at the start is an error of its own; on the way there, it is an unlikely place.
  with_input_errors_as(
    "With the parameters of `start`, %s",
    sfs_log_likelihood(surface$spectra(list(space$start), stop_at_errors = TRUE)[[1]], sfs)
  )
  searches <- all_searches(surface, space, starts, tolerance, BPPARAM, progress)
  values <- vapply(searches, `[[`, 0, "log_likelihood")
  best <- searches[[which.max(values)]]
  table <- data.frame(log_likelihood = values, t(vapply(searches, `[[`, space$start, "params")))
  if (length(space$start) == 1) names(table)[2] <- names(space$start)
  fit <- finished_fit(surface, space, best, table[order(-values), ], tolerance)
  warn_of_fit(fit, tolerance)
  fit
}

# ---- The likelihood's surface --------------------------------------------------------------------

demography_surface <- function(model, data, space, pts, multinomial, misidentified, time,
                               extrapolate, sampling, backend, threads) {
  check_flag(multinomial, "multinomial")
  settings <- list(multinomial = multinomial, misidentified = misidentified)
  if (inherits(model, "dfe_model")) {
    calculator <- dfe_calculator(model, data)
  } else {
    sizes <- stats::setNames(dim(data) - 1L, names(dimnames(data)))
    settings <- c(settings, list(
      pts = check_pts(pts %||% default_pts(sizes), sizes),
      time = check_choice(time, c("accurate", "dadi"), "time"),
      extrapolate = check_choice(extrapolate, c("linear", "log"), "extrapolate"),
      sampling = sampling, backend = backend, threads = threads
    ))
    if (!is.function(sampling)) check_sampling(sampling, sizes)
    calculator <- demography_calculator(model, sizes, settings)
  }
  calculator$backend() # what can't be had is no matter of the parameters
  names <- params_of_spectra(model, sampling)
  prepare <- function(params) calculator$prepare(c(params, space$fixed)[names])
  # NULL for parameters with which there is no model, or none that can be computed.
  spectra <- function(sets, stop_at_errors = FALSE) {
    # Of the machine that computes: a worker's, or that to which a saved fit has come.
    backend <- calculator$backend()
    compute <- function(models) calculator$compute(models, backend)
    if (stop_at_errors) {
      result <- compute(lapply(sets, prepare))
    } else {
      models <- lapply(sets, function(params) or_null(prepare(params)))
      there <- which(!vapply(models, is.null, NA))
      result <- vector("list", length(sets))
      result[there] <- or_null(compute(models[there])) %||%
        lapply(models[there], function(one) or_null(compute(list(one))[[1]]))
    }
    if (misidentified) {
      result <- Map(function(one, params) {
        if (!is.null(one)) misidentified_sfs(one, c(params, space$fixed)[["misidentified"]])
      }, result, sets)
    }
    result
  }
  log_likelihoods <- function(sets) {
    vapply(spectra(sets), function(one) {
      value <- if (!is.null(one)) or_null(sfs_log_likelihood(one, data, multinomial))
      if (is.null(value) || is.na(value)) -Inf else value
    }, 0)
  }
  list(
    model = model, data = data, spectra = spectra, log_likelihoods = log_likelihoods,
    settings = settings
  )
}

# What bears on spectra that are computed already.
refuse_of_dfe_model <- function(...) {
  given <- list(...)
  defaults <- as.list(formals(fit_demography))[names(given)]
  set <- names(given)[!mapply(identical, given, defaults)]
  if (length(set)) {
    abort_ancify(
      sprintf(
        "Leave out %s: the spectra of a dfe_model are those that selected_spectra() computed.",
        enumerate(sprintf("`%s`", set))
      ),
      "input"
    )
  }
}

# Makes of parameters what many spectra are computed of at once.
demography_calculator <- function(model, sizes, settings) {
  list(
    backend = function() choose_backend(settings$backend, settings$threads),
    prepare = function(params) {
      settled <- settle_params(model, params, settings$sampling)
      populations <- populations_after(settled$events)
      if (populations != length(sizes)) {
        abort_ancify(
          sprintf("The model ends with %s, and `sfs` has %s.",
                  count_of(populations, "population"), count_of(length(sizes), "population")),
          "input"
        )
      }
      settled$sampling <- check_sampling(settled$sampling, sizes)
      settled
    },
    compute = function(models, backend) {
      samplings <- lapply(models, `[[`, "sampling")
      spectra <- vector("list", length(models))
      for (sampling in unique(samplings)) {
        alike <- which(vapply(samplings, identical, NA, sampling))
        events <- lapply(models[alike], `[[`, "events")
        values <- spectra_of_models(events, settings$pts, settings$time, sampling, backend)
        spectra[alike] <- lapply(seq_along(alike), function(i) {
          as_expected(values[, , i], sizes, settings$pts, settings$extrapolate)
        })
      }
      spectra
    }
  )
}

dfe_calculator <- function(model, data) {
  one <- model$spectra$spectra[[1]]
  why <- unlike_sfs(if (attr(data, "folded")) fold(one) else one, data)
  if (!is.null(why)) {
    abort_ancify(sprintf("Can't compare the `model`'s spectra and `sfs`: %s.", why), "input")
  }
  list(
    backend = function() NULL,
    prepare = function(params) do.call(model$dfe, as.list(params)),
    compute = function(dfes, backend) {
      lapply(dfes, function(dfe) dfe_sfs(model$spectra, dfe, model$theta))
    }
  )
}

# The time goes with the populations' power of it.
default_pts <- function(sizes) {
  if (length(sizes) > 3) max(sizes, 8) + c(4L, 8L, 12L) else max(sizes, 30) + c(10L, 20L, 30L)
}

# ---- Searches ------------------------------------------------------------------------------------

# On the search's scale; far above the noise that steps of other numbers make.
slope_step <- 1e-3

one_search <- function(surface, space, start) {
  lower <- to_scale(space, space$lower)
  upper <- to_scale(space, space$upper)
  value <- function(x) -surface$log_likelihoods(list(from_scale(space, x)))
  gradient <- function(x) {
    above <- pmin(x + slope_step, upper)
    below <- pmax(x - slope_step, lower)
    n <- length(x)
    sets <- lapply(seq_len(2 * n), function(i) {
      k <- (i - 1) %% n + 1
      from_scale(space, replace(x, k, if (i <= n) above[k] else below[k]))
    })
    values <- -surface$log_likelihoods(sets)
    upper_values <- values[seq_len(n)]
    lower_values <- values[n + seq_len(n)]
    slopes <- (upper_values - lower_values) / (above - below)
    if (all(is.finite(slopes))) {
      return(slopes)
    }
    # Beside a place where there is no model, to the other side.
    here <- value(x)
    to_above <- (upper_values - here) / (above - x)
    to_below <- (here - lower_values) / (x - below)
    one_sided <- ifelse(is.finite(to_above), to_above, to_below)
    ifelse(is.finite(slopes), slopes, ifelse(is.finite(one_sided), one_sided, 0))
  }
  found <- stats::nlminb(
    to_scale(space, start), value, gradient, lower = lower, upper = upper,
    control = list(rel.tol = 1e-9, x.tol = 1e-6, iter.max = 200)
  )
  list(log_likelihood = -found$objective, params = from_scale(space, found$par))
}

all_searches <- function(surface, space, starts, tolerance, param, progress) {
  place <- function(i) if (i == 1) space$start else place_near_start(surface, space)
  if (!is.null(param)) {
    return(BiocParallel::bplapply(lapply(seq_len(starts), place), function(place) {
      # Functions of the user's find the package's where they find theirs.
      if (!"package:ancify" %in% search()) {
        attachNamespace("ancify")
        on.exit(detach("package:ancify"))
      }
      one_search(surface, space, place)
    }, BPPARAM = param))
  }
  if (progress) {
    bar <- cli::cli_progress_bar("Searches", total = starts, clear = TRUE, .auto_close = FALSE)
    on.exit(cli::cli_progress_done(id = bar))
  }
  searches <- list()
  for (i in seq_len(starts)) {
    searches[[i]] <- one_search(surface, space, place(i))
    if (progress) cli::cli_progress_update(id = bar)
    if (is_agreed(vapply(searches, `[[`, 0, "log_likelihood"), tolerance)) break
  }
  searches
}

# Where there is a model, if one is soon found.
place_near_start <- function(surface, space) {
  for (try in 1:10) {
    near <- space$start * 2^stats::runif(length(space$start), -1, 1)
    near <- pmin(pmax(near, space$lower), space$upper)
    if (is.finite(surface$log_likelihoods(list(near)))) break
  }
  near
}

# Whether the three best searches came to the same maximum.
is_agreed <- function(values, tolerance) {
  values <- values[is.finite(values)]
  length(values) >= 3 && sort(values, decreasing = TRUE)[3] >= max(values) - tolerance
}

finished_fit <- function(surface, space, best, searches, tolerance) {
  rownames(searches) <- NULL
  params <- c(best$params, space$fixed)
  names <- params_of_spectra(surface$model, surface$settings$sampling)
  params <- params[intersect(c(names, "misidentified"), names(params))]
  there <- best_expected(surface, best$params)
  near <- abs(best$params - space$lower) <= 0.01 * abs(space$lower) |
    abs(best$params - space$upper) <= 0.01 * abs(space$upper)
  structure(
    list(
      model = surface$model, data = surface$data, params = params, fitted = names(space$start),
      theta = there$theta, log_likelihood = best$log_likelihood, expected = there$expected,
      converged = is_agreed(searches$log_likelihood, tolerance),
      at_bounds = names(space$start)[near], searches = searches, surface = surface
    ),
    class = "demography_fit"
  )
}

# What the model expects of the data with these parameters, and the theta that fits best, or NA.
best_expected <- function(surface, params) {
  expected <- surface$spectra(list(params), stop_at_errors = TRUE)[[1]]
  if (attr(surface$data, "folded")) expected <- fold(expected)
  theta <- if (surface$settings$multinomial) optimal_theta(expected, surface$data) else NA
  list(expected = if (is.na(theta)) expected else expected * theta, theta = theta)
}

warn_of_fit <- function(fit, tolerance) {
  if (!fit$converged) {
    warn_ancify(
      sprintf(
        "The fit has not converged: of %s no three came to within %s of the best log-likelihood. Give more `starts`, or a better `start`.", # nolint
        count_of(nrow(fit$searches), "start"), format(tolerance)
      ),
      "fit"
    )
  }
  if (length(fit$at_bounds)) {
    warn_ancify(sprintf("At a bound of what it may be: %s.", enumerate(fit$at_bounds)), "fit")
  }
}
