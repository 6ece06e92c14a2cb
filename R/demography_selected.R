#' Compute spectra under distributions of fitness effects
#'
#' `selected_spectra()` computes a demographic model's spectra for many selection coefficients,
#' once. `dfe_sfs()` then weights them by a distribution of fitness effects (DFE):
#' `dfe_sfs(spectra, dfe_gamma(0.2, 1000))`. `dfe_model()` makes a model whose parameters
#' [fit_demography()] can fit.
#'
#' @details
#' Selection is constant in time, and equal in all populations except with `pairs`. Coefficients
#' `gamma` have the units of [demography_events]. A DFE describes negative coefficients:
#' `dfe_gamma(0.2, 1000)` is a gamma distribution of `-gamma`.
#'
#' | `gamma` of a mutation | Spectrum |
#' | --- | --- |
#' | between two computed coefficients | a cubic spline in `log(-gamma)`, or a line if negative |
#' | weaker than the weakest negative one | as for `gamma = 0`; for `dfe_point()` a line to 0 |
#' | stronger than the strongest one | as for the strongest one; for `dfe_point()` an error |
#'
#' **Pairs.** With `pairs = TRUE` each pair of coefficients has a spectrum, for a model that ends
#' with two populations. The second population has the second coefficient from its founding on. All
#' other populations, including the ancestor, have the first coefficient. [dfe_joint] has
#' distributions of pairs. With any other DFE, a mutation has the same coefficient in both
#' populations.
#'
#' **The folder.** With `cache`, finished spectra are kept in a folder; each file is complete or
#' absent. A repeated call with the same model and settings resumes an interrupted one. A complete
#' folder is only read. `.ancify/ledger` in the folder records the model and settings.
#'
#' **Time steps.** Steps of `pairs` are as short as a coefficient of 30 needs, even for stronger
#' coefficients. Without this limit, spectra of a coefficient of -100 would differ by 0.1 %. Spectra
#' of -2000 would differ by up to 3 % if a size changed within the last 0.002.
#'
#' The usual analysis fits a demographic model to synonymous sites first. It then fits a DFE to
#' nonsynonymous sites, with the first fit's parameters as `params`. Its `theta` is the first fit's
#' theta times the ratio of nonsynonymous to synonymous mutations.
#'
#' @param model A [demography()] or a list of events, without selection.
#' @param params,sample_sizes,pts,time,extrapolate,sampling,threads,backend,progress As in
#'   [expected_sfs()]. Strong selection needs many time steps, and finer grids than `pts` where
#'   these would give negative counts.
#' @param gammas Selection coefficients; 0 is added. Default: 100, or 30 for `pairs`, from -0.0001
#'   to -2000, evenly spaced on a logarithmic scale. Negative ones can be at most a factor of 4
#'   apart. Positive ones are for `dfe_point()`.
#' @param h Dominance, 0.5 (additive) by default.
#' @param pairs Whether to compute a spectrum for each pair of `gammas`: the first population's
#'   coefficient and the second's. `FALSE` (the default): the same coefficient in all populations.
#' @param cache A folder for the spectra, created if missing. `NULL` (the default): none.
#' @param spectra The result of `selected_spectra()`.
#' @param dfe For `dfe_sfs()` a DFE, such as `dfe_gamma(0.2, 1000)`. For `dfe_model()` a function
#'   that returns one, such as `dfe_gamma`; its arguments are the parameters.
#' @param theta Factor of the spectrum, 1 by default: 4 times the reference size times the mutation
#'   rate times the length of the selected sequence.
#' @param shape,scale Parameters of the gamma distribution, with mean `shape * scale`, and of the
#'   exponential distribution, with mean `scale`. `scale` is in units of `-gamma`.
#' @param meanlog,sdlog Mean and standard deviation of `log(-gamma)`.
#' @param gamma The selection coefficient of all mutations. A positive coefficient must be one of
#'   `gammas`, and a negative one no stronger than the strongest of them.
#' @param ... DFEs to mix.
#' @param shares Share of mutations for each of these DFEs, with sum 1.
#' @return
#' * `selected_spectra()`, `read_selected_spectra()`: a list of class `selected_spectra`: `gammas`,
#'   in increasing order, and `spectra`, an [sfs()] for each. With `pairs`, `spectra` is a matrix of
#'   them, with a row for each coefficient of the first population.
#' * `dfe_sfs()`: an [sfs()].
#' * `dfe_model()`: a list of class `dfe_model`, with the parameters' names as `params`.
#' * The other functions: a list of class `dfe`.
#' @section Errors:
#' * `ancify_input_error`: the model has selection of its own or is invalid for [expected_sfs()]; a
#'   distribution's parameter is invalid; a needed coefficient was not computed; or `cache` has
#'   spectra of another model or other settings, or is incomplete.
#' * `ancify_file_error`, `ancify_format_error`: files of `cache` are damaged, cannot be written, or
#'   would replace a user's own.
#' * `ancify_device_error`, `ancify_system_error`: as from [expected_sfs()].
#' * `ancify_grid_warning`: as from [expected_sfs()].
#' @references
#' Kim, Huber and Lohmueller (2017) Inference of the distribution of selection coefficients for new
#' nonsynonymous mutations using large samples. Genetics 206:345.
#' @seealso [dfe_joint] for two populations, [expected_sfs()], [fit_demography()]
#' @export
#' @examples
#' snm <- demography_model("snm")
#' spectra <- selected_spectra(snm, NULL, c(YRI = 8), c(40, 50, 60), gammas = -10^seq(-2, 2, 0.5))
#' spectra
#' deleterious <- dfe_mixture(dfe_gamma(0.3, 100), dfe_point(0), shares = c(0.9, 0.1))
#' dfe_sfs(spectra, deleterious, theta = 2000)
#' dfe_sfs(spectra, dfe_lognormal(2, 1), theta = 2000)
#' dfe_sfs(spectra, dfe_exponential(30), theta = 2000)
#'
#' data <- dfe_sfs(spectra, dfe_gamma(0.3, 100), theta = 2000)
#' set.seed(1)
#' fit_demography(dfe_model(spectra, dfe_gamma, theta = 2000), data, c(shape = 0.5, scale = 50))
#'
#' # Spectra in a folder: a second call reads them
#' folder <- tempfile("spectra-")
#' again <- selected_spectra(snm, NULL, c(YRI = 8), c(40, 50, 60), -10^seq(-2, 2, 0.5),
#'                           cache = folder)
#' identical(read_selected_spectra(folder), again)
selected_spectra <- function(model, params = NULL, sample_sizes, pts, gammas = NULL, h = 0.5,
                             time = c("accurate", "dadi"),
                             extrapolate = c("linear", "log"), sampling = "analytic",
                             threads = NULL, backend = "auto", progress = interactive(),
                             pairs = FALSE, cache = NULL) {
  check_args(pairs = flag(), progress = flag())
  settled <- settle_params(model, params, sampling)
  events <- settled$events
  refuse_if(has_selection(events), "`model` must have no selection: `gammas` are its coefficients.")
  gammas <- check_gammas(gammas %||% default_gammas(pairs))
  must_be(is_number(h), h, "h", "a number")
  sizes <- check_sample_sizes(sample_sizes, populations_after(events))
  check_population_order(model, names(sizes), "sample_sizes")
  refuse_if(pairs && length(sizes) != 2,
            "`pairs` are for a model that ends with two populations, but this one ends with %s.",
            count_of(length(sizes), "population"))
  check_args(time = choice(c("accurate", "dadi")), extrapolate = choice(c("linear", "log")))
  sampling <- check_sampling(settled$sampling, sizes)
  pts <- check_pts(pts, sampling$sizes)
  if (!is.null(cache)) cache <- check_path(cache, "cache")
  work <- new_work(threads, backend)
  sets <- coefficients_of(gammas, pairs)
  steps <- if (pairs && time == "accurate") "selected" else time
  compute <- function(which) {
    models <- lapply(which, function(k) with_selection(events, sets[k, ], h))
    on_fine_grids(models, sizes, pts, steps, extrapolate, sampling, work)
  }
  settings <- list(
    sample_sizes = unname(sizes), populations = names(sizes), pairs = pairs,
    gammas = exact_text(gammas), h = h, pts = pts, time = time, extrapolate = extrapolate,
    sampling = values_checksum(sampling), numerics = spectra_numerics
  )
  found <- if (is.null(cache)) {
    joined_parts(each_part(spectra_parts(settings), compute, progress))
  } else {
    of <- list(
      model = list(events = events_checksum(events)), settings = settings
    )
    spectra_in_folder(cache, of, compute, progress)
  }
  warn_of_finer_spectra(found, sets, pts)
  new_selected_spectra(found$spectra, settings)
}

default_gammas <- function(pairs) {
  -exp(seq(log(1e-4), log(2000), length.out = if (pairs) 30 else 100))
}

# A row for each spectrum: one coefficient for all populations, or two.
coefficients_of <- function(gammas, pairs) {
  if (!pairs) {
    return(matrix(gammas))
  }
  cbind(rep(gammas, length(gammas)), rep(gammas, each = length(gammas)))
}

has_pairs <- function(spectra) is.matrix(spectra$spectra)

# `found`: list(spectra =, pts = the grids used for each).
warn_of_finer_spectra <- function(found, sets, pts) {
  finer <- !vapply(found$pts, identical, NA, pts)
  if (any(finer)) {
    # Name the stronger coefficient of a pair, for which the grid is too coarse
    stronger <- sets[cbind(which(finer), max.col(abs(sets[finer, , drop = FALSE])))]
    strengths <- vapply(range(stronger), format, "", digits = 4)
    warn_of_finer(pts, found$pts, sprintf(
      " for selection coefficients from %s to %s", strengths[1], strengths[2]
    ))
  }
}

#' @export
print.selected_spectra <- function(x, ...) {
  write_object(
    "selected_spectra",
    count_of(length(x$spectra), if (has_pairs(x)) "pair" else "selection coefficient"),
    spectra_fields(x)
  )
  invisible(x)
}

spectra_fields <- function(spectra) {
  range <- vapply(range(spectra$gammas), format, "", digits = 4)
  c(
    haplotypes = paste(dim(spectra$spectra[[1]]) - 1, collapse = " x "),
    gammas = sprintf("%d from %s to %s", length(spectra$gammas), range[1], range[2])
  )
}

check_selected_spectra <- of_class("selected_spectra", "a result of selected_spectra()")

check_gammas <- function(gammas) {
  refuse_if(!is.numeric(gammas) || !length(gammas) || !isTRUE(all(abs(gammas) <= 1e6)),
            "`gammas` must be numbers from -1e6 to 1e6, not %s.", show_value(gammas))
  sort(unique(c(gammas, 0)))
}

has_selection <- function(events) {
  coefficients <- unlist(lapply(events, `[[`, "selection"), recursive = FALSE)
  !all(vapply(coefficients, identical, NA, 0))
}

# `gamma`: a number for all populations, or one for each role.
with_selection <- function(events, gamma, h) {
  Map(function(event, roles) {
    gammas <- rep_len(gamma, 2)[roles]
    # A list with one number for each population, one number, or NULL: an event without selection
    if (is.list(event$selection)) {
      event$selection <- as.list(gammas)
      event$dominance <- rep(list(h), length(gammas))
    } else if (!is.null(event$selection)) {
      event$selection <- gammas
      event$dominance <- h
    }
    event
  }, events, roles_of_populations(events))
}

# For each event, the role of each population after it: 2 for the population that is second at the
# model's end, 1 for all others.
roles_of_populations <- function(events) {
  ids <- Reduce(function(ids, event) {
    if (event$kind == "removal") return(ids[-event$population])
    if (event$kind == "reordering") return(ids[event$order])
    if (event$populations > length(ids)) c(ids, max(ids, 0) + 1) else ids
  }, events, integer(), accumulate = TRUE)[-1]
  second <- ids[[length(ids)]][2]
  lapply(ids, function(id) ifelse(id %in% second, 2, 1))
}
