# Calculators of the expectations of a fit's terms, and the term of spectra. A calculator has
# work       function(): the threads and devices that it may use
# prepare    function(params): a model
# compute    function(models, work): the expectations of each model
# warn       function(params): warnings of numerical errors

# The function `expected` of a term. `names`: the parameters that the calculator's prepare() takes.
expected_by <- function(calculator, names, space) {
  calculator$work() # reports an error of the backend before any error of parameters
  prepare <- function(params) calculator$prepare(c(params, space$fixed)[names])
  function(sets, stop_at_errors = FALSE) {
    # Made anew: a worker or a saved fit may be on another machine.
    work <- calculator$work()
    compute <- function(models) calculator$compute(models, work)
    if (stop_at_errors) {
      return(compute(lapply(sets, prepare)))
    }
    models <- lapply(sets, function(params) or_null(prepare(params)))
    there <- which(!vapply(models, is.null, NA))
    result <- vector("list", length(sets))
    result[there] <- or_null(compute(models[there])) %||%
      lapply(models[there], function(one) or_null(compute(list(one))[[1]]))
    result
  }
}

# ---- Spectra -------------------------------------------------------------------------------------

# Without `pts`, each model has moments or the default grids.
grid_settings <- function(sfs, pts, time, extrapolate, sampling) {
  sizes <- sizes_of_sfs(sfs)
  drawn <- if (is.function(sampling)) sizes else check_sampling(sampling, sizes)$sizes
  time <- check_choice(time, c("accurate", "dadi"), "time")
  extrapolate <- check_choice(extrapolate, c("linear", "log"), "extrapolate")
  if (only_on_grids(time, extrapolate)) pts <- pts %||% default_pts(drawn)
  list(pts = if (!is.null(pts)) check_pts(pts, drawn), time = time, extrapolate = extrapolate)
}

sizes_of_sfs <- function(sfs) stats::setNames(dim(sfs) - 1L, names(dimnames(sfs)))

sfs_term <- function(model, sfs, space, settings) {
  check_population_order(model, names(dimnames(sfs)), "sfs")
  calculator <- if (inherits(model, "dfe_model")) dfe_calculator(model, sfs)
  else demography_calculator(model, sizes_of_sfs(sfs), settings)
  spectra <- expected_by(calculator, params_of_spectra(model, settings$sampling), space)
  list(
    data = sfs,
    warn = function(params) calculator$warn(params[params_of_spectra(model, settings$sampling)]),
    expected = if (!settings$misidentified) spectra else function(sets, ...) {
      Map(function(one, params) {
        if (!is.null(one)) misidentified_sfs(one, c(params, space$fixed)[["misidentified"]])
      }, spectra(sets, ...), sets)
    },
    log_likelihood = sfs_log_likelihood,
    scaled = function(expected, theta) expected * theta
  )
}

# The tolerance of moments in fits: differences of log-likelihoods need more digits than pictures.
fit_tolerance <- 1e-6

demography_calculator <- function(model, sizes, settings) {
  # Made once, as its matrices may be large
  always <- if (!is.function(settings$sampling)) check_sampling(settings$sampling, sizes)
  work_here <- function() new_work(settings$threads, settings$backend)
  prepare <- function(params) {
    settled <- settle_params(model, params, settings$sampling)
    check_final_populations(settled$events, length(sizes))
    settled$sampling <- always %||% check_sampling(settled$sampling, sizes)
    settled$moments <- is.null(settings$pts) && has_moments(settled)
    if (!settled$moments) {
      settled$pts <- check_pts(
        settings$pts %||% default_pts(settled$sampling$sizes), settled$sampling$sizes
      )
    }
    settled
  }
  list(
    work = work_here,
    prepare = prepare,
    warn = function(params) {
      at <- prepare(params)
      work <- work_here()
      where <- " at the estimates"
      if (at$moments) {
        found <- sfs_by_moments(list(at$events), sizes, at$sampling, fit_tolerance, work)
        return(warn_of_moments(found$largest, fit_tolerance, where))
      }
      found <- on_fine_grids(
        list(at$events), sizes, at$pts, settings$time, settings$extrapolate, at$sampling,
        work, keep = TRUE
      )
      if (!identical(found$pts[[1]], at$pts)) warn_of_finer(at$pts, found$pts, where)
      warn_of_errors(
        at$events, found, settings$time, settings$extrapolate, at$sampling, work, where
      )
    },
    compute = function(models, work) {
      ways <- lapply(models, `[`, c("sampling", "moments", "pts"))
      spectra <- vector("list", length(models))
      for (way in unique(ways)) {
        alike <- which(vapply(ways, identical, NA, way))
        events <- lapply(models[alike], `[[`, "events")
        found <- if (way$moments) {
          sfs_by_moments(events, sizes, way$sampling, fit_tolerance, work)
        } else {
          on_fine_grids(
            events, sizes, way$pts, settings$time, settings$extrapolate, way$sampling, work
          )
        }
        spectra[alike] <- found$spectra
      }
      spectra
    }
  )
}

# `n`: the number of populations of the data, the argument `name`.
check_final_populations <- function(events, n, name = "sfs") {
  populations <- populations_after(events)
  refuse_if(populations != n, "The model ends with %s, but `%s` has %s.",
            count_of(populations, "population"), name, count_of(n, "population"))
}

dfe_calculator <- function(model, data) {
  one <- model$spectra$spectra[[1]]
  why <- unlike_sfs(if (attr(data, "folded")) fold(one) else one, data)
  refuse_if(!is.null(why), "Cannot compare the spectra of `model` and `sfs`: %s.", why)
  cells <- cells_of(model$spectra)
  list(
    work = function() NULL,
    prepare = function(params) do.call(model$dfe, as.list(params)),
    warn = function(params) invisible(), # selected_spectra() has warned
    compute = function(dfes, work) {
      lapply(dfes, function(dfe) summed_spectra(model$spectra, cells, dfe, model$theta))
    }
  )
}
