# Calculators of the expectations of a fit's terms, and the term of spectra. A calculator has
# work       function(): what it may use
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

grid_settings <- function(sfs, pts, time, extrapolate, sampling) {
  sizes <- sizes_of_sfs(sfs)
  drawn <- if (is.function(sampling)) sizes else check_sampling(sampling, sizes)$sizes
  list(
    pts = check_pts(pts %||% default_pts(drawn), drawn),
    time = check_choice(time, c("accurate", "dadi"), "time"),
    extrapolate = check_choice(extrapolate, c("linear", "log"), "extrapolate")
  )
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

demography_calculator <- function(model, sizes, settings) {
  # Made once, as its matrices may be large
  always <- if (!is.function(settings$sampling)) check_sampling(settings$sampling, sizes)
  work_here <- function() new_work(settings$threads, settings$backend)
  prepare <- function(params) {
    settled <- settle_params(model, params, settings$sampling)
    check_final_populations(settled$events, length(sizes))
    settled$sampling <- always %||% check_sampling(settled$sampling, sizes)
    check_pts(settings$pts, settled$sampling$sizes)
    settled
  }
  list(
    work = work_here,
    prepare = prepare,
    warn = function(params) {
      at <- prepare(params)
      work <- work_here()
      found <- on_fine_grids(
        list(at$events), sizes, settings$pts, settings$time, settings$extrapolate, at$sampling,
        work, keep = TRUE
      )
      where <- " at the estimates"
      if (!identical(found$pts[[1]], settings$pts)) warn_of_finer(settings$pts, found$pts, where)
      warn_of_errors(
        at$events, found, settings$time, settings$extrapolate, at$sampling, work, where
      )
    },
    compute = function(models, work) {
      samplings <- lapply(models, `[[`, "sampling")
      spectra <- vector("list", length(models))
      for (sampling in unique(samplings)) {
        alike <- which(vapply(samplings, identical, NA, sampling))
        events <- lapply(models[alike], `[[`, "events")
        spectra[alike] <- on_fine_grids(
          events, sizes, settings$pts, settings$time, settings$extrapolate, sampling, work
        )$spectra
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

# Computing time grows as the number of points to the power of the number of populations.
default_pts <- function(sizes) {
  if (length(sizes) > 3) max(sizes, 8) + c(4L, 8L, 12L) else max(sizes, 30) + c(10L, 20L, 30L)
}
