#' Compute a demographic model's expected spectrum
#'
#' Computes the expected site frequency spectrum of samples from one to five populations:
#' `expected_sfs(model, params, sample_sizes = c(A = 20, B = 20))`. It solves the diffusion of
#' allele frequencies from the model's first event to its last.
#'
#' @details
#' **Moments.** Without `pts`, spectra of neutral models come from moments of the allele
#' frequencies. Neither drift, migration, splits nor pulses raise the degree of a polynomial, so the
#' moments of a sample's degrees form a closed system. There is no grid. Constant epochs have only
#' rounding errors. Epochs with changing sizes or rates take steps of fourth order. These are
#' shortened until the error of cells with at least 1e-4 of the sites is below `tolerance`. The
#' spectrum's attribute `error` has the estimated error of each cell.
#'
#' **Grids.** With `pts`, selection or another `sampling`, the density of allele frequencies is
#' computed on a grid, and samples are drawn from it. A grid's error is a polynomial in its spacing,
#' dominated by the square. The spectra of several grids are therefore extrapolated to a spacing of
#' 0. A density under strong selection is too steep for a coarse grid, and would give negative
#' counts. The spectrum then comes from finer grids, which a warning names; counts are never
#' negative.
#'
#' **Time steps of grids.** `time = "dadi"` uses the time steps of the program dadi, and reproduces
#' its spectrum on each grid. Like dadi, it extrapolates to a smallest frequency of 0. `"accurate"`
#' computes spectra with steps 3 and 1.5 times as long, and extrapolates to a step length of 0. The
#' total number of steps is similar, but the error is much smaller. Its steps are shorter where
#' populations shrink fast.
#'
#' **Errors of grids.** Strong migration and pulses need fine grids, and long time steps need
#' shorter epochs. A spectrum should hardly change without its coarsest grid, or with half its step
#' length. A warning reports a large cell that changes by more than 2 %, and suggests a remedy. A
#' single grid is compared with a coarser one. Its counts have errors of some percent, unless it has
#' about a hundred points.
#'
#' @param model A [demography()], or a list of events from [demography_events].
#' @param params Values of the model's parameters, named or in the model's order, then values of the
#'   parameters of a `sampling` function. `NULL` (the default): none.
#' @param sample_sizes Haplotypes sampled from each population at the model's end, at least 1. The
#'   names of this vector become the spectrum's populations.
#' @param pts Grid points: one to six different whole numbers, from 4 on, each above the largest
#'   sample size. Three grids suit most models, each with some tens more points than haplotypes.
#'   `NULL` (the default): moments, for neutral models and analytic sampling. Other models, samples
#'   too large for moments, and other ways of `time` and `extrapolate` take three grids, which a
#'   message names.
#' @param time Time steps of grids, `"accurate"` (the default) or `"dadi"`: see Details.
#' @param extrapolate Extrapolation of grids. `"linear"` (the default): a polynomial of the values
#'   of all grids. `"log"`: a polynomial of their logarithms. `"none"`: one spectrum for each grid,
#'   without an estimate of its error; negative cells become 0, with a warning.
#' @param sampling Method that draws samples from the density:
#'   * `"analytic"` (the default): from a density that is linear between grid points.
#'   * `"direct"`: by sums over grid points.
#'   * A value of [sampling_ascertained()], [sampling_admixed()], [sampling_inbred()] or
#'     [sampling_low_coverage()].
#'   * A function that returns such a value. All its arguments are further parameters, even those
#'     with defaults. An argument with the name of a model parameter is that parameter.
#' @param tolerance Largest relative error of cells with at least 1e-4 of the sites, from 1e-10 to
#'   0.1: 1e-3 by default. It applies to moments.
#' @param threads Number of threads. `NULL` (the default): `getOption("ancify.threads")`, or else
#'   all cores. It does not change the result.
#' @param backend `"auto"` (the default) or `"cpu"`: the processor. `"gpu"`: all GPUs of
#'   [available_gpus()]; each grid's spectrum is the same within a relative 1e-12.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @return An [sfs()] in which the cells of invariant sites are masked. It is proportional to the
#'   events' `theta0`, 1 by default. By moments it has an attribute `error`, an array of each cell's
#'   estimated error. With `extrapolate = "none"` a list of spectra, named by `pts`.
#' @section Errors:
#' * `ancify_input_error`: events are inconsistent; a size is not above 0; a time or rate is
#'   negative; frozen populations have migration; a grid has no more points than a sample has
#'   haplotypes; or counts are negative on finer grids too.
#' * `ancify_device_error`: a GPU cannot be used, or has too little memory.
#' * `ancify_system_error`: this machine has too little memory.
#' * `ancify_grid_warning`: the grids were too coarse, so finer ones were used; counts are off by
#'   more than 2 %; or the steps of moments do not meet `tolerance`.
#' @references
#' Lukic, Hey and Chen (2011) Non-equilibrium allele frequency spectra via spectral methods.
#' Theoretical Population Biology 79:203, for the polynomials of moments.
#'
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint demographic history
#' of multiple populations from multidimensional SNP frequency data. PLoS Genetics 5:e1000695.
#' @seealso [demography()], [demography_model()], [fit_demography()]
#' @export
#' @examples
#' # The standard neutral model: 1 / i
#' expected_sfs(demography(event_equilibrium()), NULL, c(A = 5))
#'
#' growth <- demography(function(nu, time) {
#'   list(event_equilibrium(), event_epoch(time, nu = nu))
#' })
#' grown <- expected_sfs(growth, c(nu = 10, time = 0.1), 5)
#' max(attr(grown, "error"), na.rm = TRUE)
#'
#' # On grids
#' expected_sfs(growth, c(nu = 10, time = 0.1), 5, c(20, 30, 40))
expected_sfs <- function(model, params = NULL, sample_sizes, pts = NULL,
                         time = c("accurate", "dadi"), extrapolate = c("linear", "log", "none"),
                         sampling = "analytic", tolerance = 1e-3, threads = NULL, backend = "auto",
                         progress = interactive()) {
  check_given()
  work <- new_work(threads, backend, progress = progress)
  check_args(
    time = choice(c("accurate", "dadi")), extrapolate = choice(c("linear", "log", "none")),
    tolerance = number(1e-10, 0.1)
  )
  settled <- settle_spectrum(model, params, sample_sizes, sampling)
  spectrum_of_settled(settled, pts, time, extrapolate, tolerance, work)
}

# Computes by moments, or on grids. `settled`: the result of settle_spectrum().
spectrum_of_settled <- function(settled, pts, time, extrapolate, tolerance, work) {
  if (is.null(pts) && !only_on_grids(time, extrapolate) && has_moments(settled)) {
    found <- sfs_by_moments(
      list(settled$events), settled$sizes, settled$sampling, tolerance, work
    )
    warn_of_moments(found$largest, tolerance)
    return(found$spectra[[1]])
  }
  spectrum_on_grids(settled, pts %||% told_pts(settled$sampling$sizes), time, extrapolate, work)
}

# The events, the sampling and the sizes of a spectrum.
settle_spectrum <- function(model, params, sample_sizes, sampling) {
  settled <- settle_params(model, params, sampling)
  settled$sizes <- check_sample_sizes(sample_sizes, populations_after(settled$events))
  check_population_order(model, names(settled$sizes), "sample_sizes")
  settled$sampling <- check_sampling(settled$sampling, settled$sizes)
  settled
}

told_pts <- function(sizes) {
  pts <- default_pts(sizes)
  inform_ancify(sprintf("Computed on grids of %s points.", enumerate(pts)))
  pts
}

spectrum_on_grids <- function(settled, pts, time, extrapolate, work) {
  events <- settled$events
  sampling <- settled$sampling
  sizes <- settled$sizes
  pts <- check_pts(pts, sampling$sizes)
  if (extrapolate == "none") {
    return(spectra_of_single_grids(events, sizes, pts, time, sampling, work))
  }
  found <- on_fine_grids(list(events), sizes, pts, time, extrapolate, sampling, work, keep = TRUE)
  if (!identical(found$pts[[1]], pts)) warn_of_finer(pts, found$pts)
  warn_of_errors(events, found, time, extrapolate, sampling, work)
  found$spectra[[1]]
}

#' Choose how samples are drawn
#'
#' Values of the argument `sampling` of [expected_sfs()] and [fit_demography()], such as
#' `sampling_inbred(0.2)`.
#'
#' @param population Index, from 1, of the population in which the sites were found.
#' @param shares A matrix: the element in row `i` and column `j` is the share of sample `i` from
#'   population `j`. Each row sums to 1.
#' @param inbreeding Inbreeding coefficients from 0 to 1, one for each population or one for all:
#'   the probability that two alleles of an individual are identical by descent.
#' @param ploidy Haplotypes of an individual, 2 by default: one number for each population or one
#'   for all. Each sample size must be a multiple of it.
#' @param coverage A [coverage_model()], such as from [read_coverage()], with the spectrum's
#'   populations in the same order. The spectrum has at most the haplotypes of its individuals.
#'   Grids need more points than all these individuals have haplotypes.
#' @return A list of class `ancify_sampling`:
#'   * `sampling_ascertained()`: sites that differ between two further haplotypes of a population.
#'     The spectrum is proportional to the number of such sites.
#'   * `sampling_admixed()`: samples whose haplotypes come from several populations.
#'   * `sampling_inbred()`: samples of inbred individuals from up to three populations.
#'   * `sampling_low_coverage()`: genotypes called at low depth, from which [sfs_from_vcf()] draws
#'     `project` haplotypes. Only detected sites count.
#' @section Errors:
#' * `ancify_input_error`: an argument is missing. [expected_sfs()] checks the values.
#' @references
#' Blischak, Barker and Gutenkunst (2020) Inferring the demographic history of inbred species from
#' genome-wide SNP frequency data. Molecular Biology and Evolution 37:2124.
#'
#' Fonseca, Tran, Mendoza and Gutenkunst (2025) Modeling biases from low-pass genome sequencing to
#' enable accurate population genetic inferences. Molecular Biology and Evolution 42:msaf002.
#' @seealso [expected_sfs()], [coverage_model()]
#' @name sampling
#' @examples
#' snm <- demography(event_equilibrium())
#' expected_sfs(snm, NULL, 4, c(30, 40, 50), sampling = sampling_inbred(0.5))
#' expected_sfs(snm, NULL, 4, c(30, 40, 50), sampling = sampling_ascertained(1))
#'
#' # Inbreeding as a parameter, which fit_demography() can fit
#' inbred <- function(inbreeding) sampling_inbred(inbreeding)
#' expected_sfs(demography_model("growth"), c(nu = 5, time = 0.1, inbreeding = 0.5), 4,
#'              c(30, 40, 50), sampling = inbred)
#'
#' # A tenth of the first sample comes from the second population
#' split <- demography(event_equilibrium(), event_split(1), event_epoch(0.2, nu = c(1, 1)))
#' shares <- rbind(c(0.9, 0.1), c(0, 1))
#' expected_sfs(split, NULL, c(A = 3, B = 3), c(15, 20, 25), sampling = sampling_admixed(shares))
#'
#' # Ten individuals at 4-fold depth, and a spectrum of 16 haplotypes
#' low <- sampling_low_coverage(coverage_model(dpois(0:20, 4), 10))
#' expected_sfs(snm, NULL, 16, c(30, 40, 50), sampling = low)
NULL

new_sampling <- function(kind, ...) structure(list(kind = kind, ...), class = "ancify_sampling")

#' @rdname sampling
#' @export
sampling_ascertained <- function(population) {
  check_given()
  new_sampling("ascertained", population = population)
}

#' @rdname sampling
#' @export
sampling_admixed <- function(shares) {
  check_given()
  new_sampling("admixed", shares = shares)
}

#' @rdname sampling
#' @export
sampling_inbred <- function(inbreeding, ploidy = 2) {
  check_given()
  new_sampling("inbred", inbreeding = inbreeding, ploidy = ploidy)
}

#' @rdname sampling
#' @export
sampling_low_coverage <- function(coverage) {
  check_args(
    coverage = of_class("coverage_model", "a coverage_model(), as from read_coverage()")
  )
  new_sampling("low_coverage", coverage = coverage)
}

# ---- Arguments -----------------------------------------------------------------------------------

populations_after <- function(events) events[[length(events)]]$populations

# Populations are matched by position. A model with names of its own, as from a Demes file, refuses
# the same names in another order. `name`: the argument that gives them.
check_population_order <- function(model, populations, name) {
  known <- attr(model, "samples")
  common <- intersect(populations, known)
  refuse_if(
    any(match(common, populations) != match(common, known)),
    paste("`%s` has the populations %s, but the model's are %s: give them in the model's order,",
          "or read the model with `samples` in this order."), name, enumerate(quoted(populations)),
    enumerate(quoted(known))
  )
}

check_sample_sizes <- function(sizes, populations) {
  good <- is.numeric(sizes) && all(is.finite(sizes)) && all(sizes >= 1 & sizes == round(sizes))
  refuse_if(!good || length(sizes) != populations,
            "`sample_sizes` must have a positive whole number for each of %s, not %s.",
            count_of(populations, "population"), show_value(sizes))
  if (!is.null(names(sizes))) check_populations(names(sizes), length(sizes))
  refuse_if(prod(sizes + 1) > .Machine$integer.max, "A spectrum of %s cells is too large.",
            format_count(prod(sizes + 1)))
  stats::setNames(as.integer(sizes), names(sizes))
}

check_pts <- function(pts, sizes) {
  good <- is.numeric(pts) && length(pts) %in% 1:6 && all(is.finite(pts)) &&
    all(pts == round(pts)) && !anyDuplicated(pts)
  refuse_if(!good || any(pts < 4 | pts > 1e6),
            "`pts` must be one to six different whole numbers from 4 on, not %s.", show_value(pts))
  refuse_if(any(pts <= max(sizes)),
            "A grid of %d points is too small for %d haplotypes: give larger `pts`.", min(pts),
            max(sizes))
  as.integer(pts)
}

# The events and the sampling for these values of all parameters.
settle_params <- function(model, params, sampling) {
  model <- as_demography(model)
  params <- check_params(params, params_of_spectra(model, sampling))
  list(
    events = core_events(events_at(model, params[model$params])),
    sampling = sampling_at(sampling, params)
  )
}

params_of_spectra <- function(model, sampling) union(model$params, params_of_sampling(sampling))

# The parameters of a `sampling` function.
params_of_sampling <- function(sampling) {
  if (!is.function(sampling)) {
    return(character())
  }
  params <- names(formals(args(sampling)))
  refuse_if(!length(params) || "..." %in% params,
            "A `sampling` function must have named arguments, its parameters.")
  params
}

sampling_at <- function(sampling, params) {
  if (!is.function(sampling)) {
    return(sampling)
  }
  do.call(sampling, as.list(params[params_of_sampling(sampling)]))
}

check_sampling <- function(sampling, sizes) {
  if (!inherits(sampling, "ancify_sampling")) {
    sampling <- list(kind = check_choice(sampling, c("analytic", "direct"), "sampling"))
  }
  refuse <- function(name, problem) abort_ancify(sprintf("`%s` %s.", name, problem), "input")
  sampling <- switch(sampling$kind,
    ascertained = check_ascertained(sampling, sizes, refuse),
    admixed = check_admixed(sampling, sizes, refuse),
    inbred = check_inbred(sampling, sizes, refuse),
    low_coverage = check_low_coverage(sampling, sizes),
    sampling
  )
  # The core's sample sizes: the spectrum's, unless `sampling` has its own
  utils::modifyList(list(sizes = unname(sizes)), unclass(sampling))
}

check_ascertained <- function(sampling, sizes, refuse) {
  population <- population_number(sampling$population, length(sizes), "population", refuse)
  replace(sampling, "population", population)
}

check_admixed <- function(sampling, sizes, refuse) {
  shares <- sampling$shares
  n <- length(sizes)
  good <- is.matrix(shares) && is.numeric(shares) && all(dim(shares) == n) &&
    isTRUE(all(shares >= 0)) && all(abs(rowSums(shares) - 1) < 1e-9)
  if (!good) {
    refuse("shares", sprintf("must be a matrix of %d rows and columns; rows have the sum 1", n))
  }
  sampling
}

check_inbred <- function(sampling, sizes, refuse) {
  n <- length(sizes)
  inbreeding <- sampling$inbreeding
  ploidy <- sampling$ploidy
  if (!is.numeric(inbreeding) || !length(inbreeding) %in% c(1, n) ||
        !isTRUE(all(inbreeding >= 0 & inbreeding <= 1))) {
    refuse("inbreeding", sprintf("must be from 0 to 1, once or for each of %d populations", n))
  }
  if (!is.numeric(ploidy) || !length(ploidy) %in% c(1, n) ||
        !isTRUE(all(ploidy >= 1 & ploidy == round(ploidy) & sizes %% ploidy == 0))) {
    refuse("ploidy", "must be a whole number that divides each sample's haplotypes")
  }
  if (n > 3) refuse("sampling", "of inbred individuals is for up to 3 populations")
  # 1 is a degenerate case: all alleles of an individual are identical. Use a value close to it.
  sampling$inbreeding <- rep_len(pmin(inbreeding, 1 - 1e-10), n)
  sampling$ploidy <- rep_len(as.integer(ploidy), n)
  sampling
}

# Sample sizes of all individuals, and the matrices that convert their counts into called counts.
check_low_coverage <- function(sampling, sizes) {
  coverage <- sampling$coverage
  most <- 2L * coverage$individuals
  refuse_if(length(most) != length(sizes), "`coverage` has %s, but the spectrum has %s.",
            count_of(length(most), "population"), count_of(length(sizes), "population"))
  refuse_if(!is.null(names(most)) && !is.null(names(sizes)) &&
              !identical(names(most), names(sizes)),
            "`coverage` has the populations %s, but the spectrum has %s.",
            enumerate(quoted(names(most))), enumerate(quoted(names(sizes))))
  wrong <- which(sizes > most)
  refuse_if(
    length(wrong),
    paste("The spectrum has %d haplotypes of a population, but `coverage` has %s. Project it to",
          "fewer."), sizes[wrong[1]], count_of(most[wrong[1]] %/% 2, "diploid individual")
  )
  list(kind = "analytic", sizes = unname(most), called = called_matrices(coverage, sizes))
}

# Refuses an invalid model with the errors of expected_sfs().
check_computable <- function(events) {
  sampling <- check_sampling("analytic", rep(1L, populations_after(events)))
  spectra_of_models(list(events), 4L, "dadi", sampling, new_work(1))
}
