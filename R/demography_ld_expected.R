# Two-locus statistics that demographic models expect.

#' Compute a demographic model's two-locus statistics
#'
#' Computes the linkage disequilibrium that a model expects between two sites, by bins of their
#' recombination distance: `expected_ld(model, params, c("A", "B"), bins = c(1e-5, 1e-4, 1e-3),
#' reference_size = 1e4)`. Its ratios are \eqn{\sigma_d^2} and its analogues in up to five
#' populations.
#'
#' @details
#' **Equations.** Samples of two to four haplotypes are followed back in time. They coalesce,
#' migrate and recombine until their lineages differ by mutations at both sites. The system of
#' linear differential equations is from Hill and Robertson (1968) and Ragsdale and Gravel (2019).
#' No site mutates twice.
#'
#' **Precision.** Epochs of constant sizes and rates are solved to about 12 digits. Steps of other
#' epochs are halved and extrapolated, until statistics agree within a relative 1e-8. Statistics
#' below 1e-4 of the largest one agree within 1e-12 of the largest. Rounding causes errors of about
#' 1e-15 of pi2, so statistics of that size are noise.
#'
#' **Bins.** A bin's statistic is the mean over the bin by Simpson's rule: a sixth of the values at
#' both ends, and two thirds of the value in the middle. Bins should be narrow where statistics fall
#' fast. Chromosomes should be much longer than bins, so that distances of pairs of sites are spread
#' evenly over a bin. The distance serves as the recombination rate, as crossovers are rare at short
#' distances.
#'
#' **Units.** Distances are in Morgans, but a model's times are in units of 2 Nref generations. So
#' `reference_size`, Nref, sets the model's clock. [fit_demography()] can fit it.
#'
#' @param model A [demography()] without selection, or a list of events from [demography_events].
#' @param params Values of the model's parameters, named or in the model's order. `NULL` (the
#'   default): none.
#' @param populations Names of the populations at the model's end.
#' @param bins Limits of bins of recombination distance in Morgans: at least two increasing numbers
#'   from 0 to 0.5.
#' @param reference_size Nref, in diploid individuals. `NULL` (the default): the size in a model
#'   from [read_demes()].
#' @param threads,progress As in [expected_sfs()].
#' @return An object of class `ld_statistics`, like the result of [ld_statistics()] for data. Values
#'   are proportional to the square of the events' `theta0`, and heterozygosities to `theta0`.
#'   [ld_ratios()] gives ratios, which do not depend on it.
#' @section Errors:
#' * `ancify_input_error`: the model has selection, an invalid event, or sizes that jump within an
#'   epoch; `reference_size` is missing; or an argument cannot be used.
#' @references
#' Hill and Robertson (1968) Linkage disequilibrium in finite populations. Theoretical and Applied
#' Genetics 38:226.
#'
#' Ragsdale and Gravel (2019) Models of archaic admixture and recent history from two-locus
#' statistics. PLoS Genetics 15:e1008204.
#' @seealso [ld_statistics()], [ld_ratios()], [fit_demography()]
#' @export
#' @examples
#' bins <- c(1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
#' # After a bottleneck, linkage disequilibrium is high at long distances.
#' constant <- demography(event_equilibrium())
#' bottleneck <- demography(event_equilibrium(), event_epoch(0.05, nu = 0.1))
#' ratios <- function(model) {
#'   ld_ratios(expected_ld(model, populations = "A", bins = bins, reference_size = 1e4))$values
#' }
#' cbind(constant = ratios(constant)[, "DD.A.A"], bottleneck = ratios(bottleneck)[, "DD.A.A"])
#'
#' split <- demography_model("split_mig")
#' expected_ld(split, c(nu1 = 2, nu2 = 0.5, time = 0.2, m = 1), c("A", "B"), bins, 1e4)
expected_ld <- function(model, params = NULL, populations, bins, reference_size = NULL,
                        threads = NULL, progress = interactive()) {
  check_given()
  model <- as_demography(model)
  events <- events_at(model, params)
  size <- reference_size %||% attr(events, "reference_size") %||% attr(model, "reference_size")
  refuse_if(is.null(size), "`reference_size` must be given: only Demes files have their own.")
  check_positive(size, "reference_size", 1)
  events <- core_events(events)
  check_ld_populations(populations, populations_after(events))
  check_population_order(model, populations, "populations")
  check_bins(bins, "bins")
  refuse_if(max(bins) > 0.5,
            "`bins` must end at 0.5 Morgans, where sites are unlinked, or before, not at %s.",
            format(max(bins)))
  work <- new_work(threads, progress = progress)
  ld_of_models(list(events), populations, bins, size, work)[[1]]
}

check_ld_populations <- function(populations, n) {
  good <- is.character(populations) && !anyNA(populations) && !anyDuplicated(populations)
  must_be(good && length(populations) == n, populations, "populations",
          sprintf("different names of the %s at the model's end", count_of(n, "population")))
}

# An ld_statistics for each list of events; `sizes`: the reference size of each.
ld_of_models <- function(models, populations, bins, sizes, work) {
  middles <- (utils::head(bins, -1) + bins[-1]) / 2
  places <- sort(c(bins, middles))
  # The core scales recombination rates by a single reference size.
  results <- vector("list", length(models))
  for (size in unique(sizes)) {
    alike <- which(rep_len(sizes, length(models)) == size)
    columns <- with_watch("Two loci", function(watch) {
      expected_ld_impl(models[alike], length(populations), 2 * size * places, work, watch)
    }, work$progress)
    results[alike] <- lapply(seq_along(alike), function(i) {
      as_expected_ld(columns[, i], populations, bins)
    })
  }
  results
}

# `column`: statistics at the limits and middles of bins, then heterozygosities.
as_expected_ld <- function(column, populations, bins) {
  names <- ld_statistics_names(populations)
  n <- length(bins) - 1
  places <- 2 * n + 1
  values <- matrix(utils::head(column, length(names) * places), places, byrow = TRUE)
  first <- 2 * seq_len(n) - 1
  means <- (values[first, , drop = FALSE] + 4 * values[first + 1, , drop = FALSE] +
              values[first + 2, , drop = FALSE]) / 6
  new_ld_statistics(means, bins, populations, utils::tail(column, -length(names) * places),
                    source = "a demographic model")
}
