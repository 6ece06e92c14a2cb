#' Fit splits and population sizes
#'
#' Estimates the splits and population sizes of a history by maximum likelihood, from genome-wide
#' counts of site patterns under the multispecies coalescent: `fit_history(counts, start)$history`.
#'
#' The order of splits is part of the search. If the fit in the order of `history` puts two splits
#' at the same time, neighbouring orders are tried. Outgroups may become sisters, or cease to be
#' sisters.
#'
#' Ten million sites hardly separate splits from sizes: an older split from a smaller ancestral
#' population gives nearly the same patterns. A whole genome separates them. At the oldest split
#' this uncertainty affects posteriors. In simulations of 35 million sites the mean posterior had a
#' standard error of 0.003 to 0.01. Three billion sites reduce this error to a tenth.
#'
#' Neighbouring sites share gene trees, so they carry less information than independent sites. If
#' `patterns` and `variants` name ten chromosomes or more, standard errors come from the variation
#' between chromosomes. With fewer chromosomes the errors assume independent sites, and are too
#' small.
#'
#' A weak prior keeps the history plausible for small data sets: sizes, including a given focal
#' size, follow a log-normal distribution with standard deviation 1. Its influence on a fit to a
#' whole genome is negligible.
#'
#' Without `variants` the focal size is not estimated: one haplotype contains no information about
#' it. The fit uses the focal size of `history`, or else the next older size.
#'
#' With `variants`, the data are joint counts of the outgroups' pattern and the alleles of a focal
#' sample. Splits, sizes and focal sizes then come from the data. One focal size is seldom enough: a
#' bottleneck or growth that the history lacks distorts the splits too. `print()` reports the share
#' of variants whose allele counts depart from those expected under the fitted history. Samples of
#' more than 10 haplotypes are projected: they count as the mean over their subsamples of 10.
#'
#' If the model of `history` is by class, the fit uses its model of all sites. The fitted history
#' keeps the classes.
#'
#' Sites without a variant count as invariant in the sample. If variants were not called in parts of
#' the genome, set `called`; otherwise the focal sizes are underestimated.
#'
#' With `estimate: true` [ancify_run()] makes this fit for `method: coalescent`, including the
#' counts of `variants` if this setting is given.
#'
#' @param patterns The result of [count_patterns()] with the focal species' bases, or a data frame
#'   of `pattern`, such as `"ACNA"`, and `count`. Species without a split in `history` are left out.
#' @param history A [coalescent_history()]. The search begins at its splits and sizes, and changes
#'   each by a factor of at most 100. If another order of splits is more likely, `into` and the
#'   order change, with a message. The focal size, mutation rate and model do not change;
#'   `focal_times` remain the same shares of the time of the first split.
#' @param species,focal The species in the order of each pattern's bases, and the focal one of them;
#'   by default those of `patterns`. If unknown: the outgroups in the order of the splits, then the
#'   focal species.
#' @param variants The result of [count_variants()] for the same positions as `patterns`, or a data
#'   frame of the same columns. The first of `alleles` is the focal base in `patterns`. `NULL` (the
#'   default): none.
#' @param called The share of the positions of `patterns` at which `variants` would report a
#'   variant, above 0 and up to 1 (the default). `NULL`: it is fitted, and the number of variants
#'   then gives no information about the focal sizes.
#' @param focal_sizes With `variants`: the number of focal sizes to fit, up to 10. `NULL` (the
#'   default): as many as `history` has if these are several, else 3.
#' @return A list of class `ancify_history_fit`, with methods for `print()`, `summary()`, `coef()`,
#'   `logLik()`, `AIC()` and `BIC()`:
#'   * `history`: the fitted history, for [call_ancestral()] and [polarise_sites()];
#'   * `log_likelihood`, `df` (the number of fitted values) and `sites`;
#'   * `variants`: `NULL`, or a list of the projected number of haplotypes `n`, the number of
#'     `sites` that vary among them, the share `called`, and more:
#'       * `copies`: a data frame of `copies` of the rarer allele, the observed number of `sites`,
#'         and the number `expected` among all variants;
#'       * `confidence`: the mean posterior of the more probable ancestral allele at the variants
#'         (`stated`), and its standard error due to the uncertainty of the history (`std_error`);
#'   * `estimates`: a data frame of `parameter`, `estimate` (generations, diploid sizes) and
#'     `std_error`, `NA` if the data do not determine it or at a bound;
#'   * `blocks`: the number of chromosomes used for the standard errors, or 0 if these assume
#'     independent sites;
#'   * `converged` and `message` of the search.
#' @section Errors:
#' * `ancify_input_error`: the counts or the history cannot be used, or the counts lack an outgroup
#'   of the history or the focal species.
#' * `ancify_input_error`: `variants` has sites that `patterns` lacks, or `called` is not a share.
#' * `ancify_fit_warning`: the search did not converge, or a standard error exceeds its estimate.
#' * `ancify_fit_warning`: two splits are at nearly the same time in the best order found.
#' @references
#' Rannala and Yang (2003) Bayes estimation of species divergence times and
#' ancestral population sizes. Genetics 164:1645.
#'
#' Coffman, Hsieh, Gravel and Gutenkunst (2016) Computationally efficient composite likelihood
#' statistics for demographic inference. Molecular Biology and Evolution 33:591, for the standard
#' errors from chromosomes.
#' @seealso [coalescent_history()], [count_patterns()], [fit_substitution_model()] for the model of
#'   mutation
#' @export
#' @examples
#' config <- ancify_example()
#' ancify_run(config, "project", threads = 1, verbose = FALSE)
#' counts <- count_patterns(config, threads = 1)
#' # To two of the three outgroups, which is quicker
#' start <- coalescent_history(c(near1 = 3e5, far = 2e6), 30000, 10000)
#' fit <- fit_history(counts, start)
#' summary(fit)
fit_history <- function(patterns, history, species = NULL, focal = NULL, variants = NULL,
                        called = 1, focal_sizes = NULL) {
  check_args(history = check_history)
  check_pattern_counts(patterns)
  patterns <- patterns_for_history(patterns, history, species, focal)
  counts <- total_counts(patterns)
  check_called_share(called)
  focal_sizes <- number_of_focal_sizes(focal_sizes, history)
  variants <- variants_for_history(variants, history)
  quick <- quick_search(history, counts)
  better <- better_order(quick, history, function(start) quick_search(start, counts))
  if (!is.null(better)) tell_of_order(better$history, quick$objective - better$objective)
  data <- if (is.null(variants)) counts else joint_counts(counts, variants, history)
  fit <- if (is.null(variants)) {
    search_history(if (is.null(better)) history else better$history, data)
  } else {
    # Joint counts take longer, so the search begins at what one haplotype tells.
    start <- with_focal_sizes((better %||% quick)$history, focal_sizes)
    search_joint_history(start, data, called)
  }
  parts <- lapply(chromosome_blocks(patterns, variants), function(block) {
    counts <- total_counts(block$patterns)
    if (is.null(variants)) counts else joint_tables(counts, block$variants, history, data$n)
  })
  reported_fit(fit, data, parts)
}

# The posterior density of a history's parameters, and the bounds of their search. `data`: counts of
# patterns, or the result of joint_counts().
history_problem <- function(history, data, called = 1) {
  joint <- !is.data.frame(data)
  space <- history_space(history, joint, called)
  cells <- if (joint) joint_cells(data, space) else pattern_cells(data, space)
  surface <- likelihood_surface(cells$log_probabilities, cells$count)
  prior <- space$prior
  c(space, list(
    sites = sum(cells$count), log_likelihood = function(x) -surface$objective(x),
    objective = function(x) surface$objective(x) + prior$objective(x),
    gradient = function(x) surface$gradient(x) + prior$gradient(x),
    expansion = function(x, accurate = TRUE) {
      likelihood <- surface$expansion(x, accurate)
      list(
        gradient = likelihood$gradient + prior$gradient(x),
        information = likelihood$information + prior$information, slopes = likelihood$slopes
      )
    },
    prior_information = prior$information
  ))
}

# The observed cells, and their log-probabilities as a function of x.
pattern_cells <- function(counts, space) {
  history <- space$history(space$start)
  codes <- 1 + pattern_codes(pattern_states(counts$pattern, length(history$splits) + 1))
  list(count = counts$count, log_probabilities = function(x) {
    candidate <- space$history(x)
    probabilities <- with_watch("Fitting", function(watch) {
      pattern_probabilities_impl(core_history(candidate), core_mutation_model(candidate), watch)
    })
    log(probabilities[codes])
  })
}

search_problem <- function(problem, curvature, iterations) {
  # Per site, so that tolerances do not depend on the genome's length.
  stats::nlminb(
    problem$start,
    function(x) problem$objective(x) / problem$sites,
    function(x) problem$gradient(x) / problem$sites,
    function(x) curvature(x) / problem$sites,
    lower = problem$lower, upper = problem$upper,
    control = list(
      iter.max = iterations, eval.max = 1000, rel.tol = 1e-14, x.tol = 1e-9, sing.tol = 0
    )
  )
}

search_history <- function(history, counts) {
  problem <- history_problem(history, counts)
  # Splits and sizes are correlated along a narrow, curved ridge, so the search needs the true
  # curvature. Fisher's information is wrong far from the maximum.
  found <- search_problem(problem, function(x) second_derivatives(problem$objective, x, 1e-3), 500)
  x <- settled(found$par, problem$expansion, problem)
  found_fit(found, problem, x, problem$expansion(x))
}

# `at`: the gradient and information at x. `enough`: the gain in log-likelihood that may be left.
found_fit <- function(found, problem, x, at, enough = 1e-4) {
  list(
    history = problem$history(x), objective = problem$objective(x), problem = problem, x = x,
    information = at$information, slopes = at$slopes, message = found$message,
    converged = found$convergence == 0 || gain_left(at, x, problem) < enough
  )
}

# Uses Fisher's information: joint counts determine the parameters better than patterns do, so the
# true curvature is not necessary. The probabilities of all samples are slow to compute, so the
# search uses derivatives that need few evaluations.
search_joint_history <- function(history, counts, called) {
  problem <- history_problem(history, counts, called)
  # The search needs the gradient and the information at the same point.
  at <- remembering_last(function(x) problem$expansion(x, accurate = FALSE))
  quick <- problem
  quick$gradient <- function(x) at(x)$gradient
  found <- search_problem(quick, function(x) at(x)$information, 50)
  fit <- found_fit(found, problem, found$par, at(found$par), 0.01)
  fit$history$focal_size_given <- TRUE
  fit$variants <- list(
    n = counts$n, sites = sum(counts$varying$count), called = problem$called(fit$x),
    copies = copies_found(fit$history, counts)
  )
  fit
}

remembering_last <- function(f) {
  last <- NULL
  function(x) {
    if (!identical(x, last$x)) last <<- list(x = x, value = f(x))
    last$value
  }
}

# A search by Fisher's information is cheaper, and accurate enough to compare orders of splits.
quick_search <- function(history, counts) {
  problem <- history_problem(history, counts)
  found <- search_problem(problem, function(x) problem$expansion(x)$information, 30)
  list(
    history = problem$history(found$par), objective = found$objective * problem$sites
  )
}

# `data`: the fitted counts. `parts`: the counts of each block; empty for independent sites.
reported_fit <- function(fit, data, parts) {
  if (!fit$converged) {
    warn_ancify(paste("The fit of the history did not converge:", fit$message), "fit")
  }
  of_blocks <- if (length(parts)) information_of_blocks(cells_by_block(data, parts), fit$slopes)
  covariance <- history_covariance(fit, of_blocks)
  estimates <- history_estimates(fit$x, covariance, fit$problem)
  if (!is.null(fit$variants)) {
    fit$variants$confidence <- stated_confidence(fit, data, covariance)
  }
  warn_about_touching_splits(fit$history)
  warn_about_unknown_sizes(estimates)
  fitted <- fit$history
  if (!fitted$focal_size_given) fitted$focal_size <- next_size(fitted)
  structure(
    list(
      history = fitted, log_likelihood = fit$problem$log_likelihood(fit$x), df = length(fit$x),
      sites = fit$problem$sites, estimates = estimates, blocks = length(parts),
      converged = fit$converged, message = fit$message, variants = fit$variants
    ),
    class = c("ancify_history_fit", "ancify_fit")
  )
}

# If the standard error exceeds an estimate, the true value may be ten times smaller or larger.
# Times between focal sizes that hardly differ are never well determined; this does no harm.
warn_about_unknown_sizes <- function(estimates) {
  times <- startsWith(estimates$parameter, "focal time")
  unknown <- which(estimates$std_error > estimates$estimate & !times)
  if (length(unknown)) {
    warn_ancify(
      sprintf(
        "The data hardly determine these: %s (standard errors exceed the estimates). %s.",
        enumerate(quoted(estimates$parameter[unknown])), "Use more sites or fewer outgroups"
      ),
      "fit"
    )
  }
}

# Each pattern with the outgroups' bases in the order of the splits, then the focal base.
patterns_for_history <- function(patterns, history, species, focal) {
  species <- species %||% attr(patterns, "species")
  bases <- patterns$pattern
  if (is.null(species)) {
    check_pattern_widths(bases, c(outgroup_names(history), "focal"))
  } else {
    check_pattern_widths(bases, species)
    focal <- focal %||% attr(patterns, "focal")
    if (!is.null(focal)) check_focal(focal, names(history$splits))
    wanted <- c(names(history$splits) %||% setdiff(species, focal), focal)
    stop_where_missing(wanted, species, focal, history)
    columns <- lapply(match(wanted, species), function(i) substr(bases, i, i))
    bases <- do.call(paste0, columns)
  }
  patterns <- data.frame(patterns[names(patterns) == "chromosome"], count = patterns$count)
  patterns$pattern <- toupper(bases)
  check_all_known(patterns, c(outgroup_names(history), focal %||% "the focal species"))
  patterns
}

stop_where_missing <- function(wanted, species, focal, history) {
  missing <- setdiff(wanted, species)
  missing <- c(
    if (is.null(focal)) "the focal species (count_patterns() can count it)",
    if (length(missing)) quoted(missing)
  )
  refuse_if(length(missing), "`patterns` has bases of %s, but the history also needs those of %s.",
            enumerate(quoted(species)), enumerate(missing))
  refuse_if(length(wanted) != length(history$splits) + 1,
            "`patterns` has %d outgroups, but the history has %d splits: name the splits.",
            length(wanted) - 1, length(history$splits))
}

# Two steps of Fisher scoring. Near the maximum, changes of the log-likelihood are below double
# precision, so a search ends early on a flat ridge. The gradient is still accurate there.
settled <- function(x, expansion, space) {
  for (i in 1:2) {
    step <- scoring_step(expansion(x), x, space)
    # Only near the maximum is the likelihood as quadratic as these steps assume.
    if (!all(is.finite(step)) || any(abs(step) > 0.01)) break
    x <- pmin(pmax(x + step, space$lower), space$upper)
  }
  x
}

# The step from x to the maximum of a quadratic approximation. It is 0 for parameters at a bound,
# and Inf if the approximation has no maximum. `at`: the gradient and information at x.
scoring_step <- function(at, x, space) {
  free <- x > space$lower + 1e-6 & x < space$upper - 1e-6
  step <- numeric(length(x))
  step[free] <- tryCatch(
    -solve(at$information[free, free, drop = FALSE], at$gradient[free]),
    error = function(condition) Inf
  )
  step
}

# The gain in log-likelihood of a scoring step; Inf if there is none.
gain_left <- function(at, x, space) {
  gain <- -sum(at$gradient * scoring_step(at, x, space)) / 2
  if (is.finite(gain)) gain else Inf
}

# Minus the log-likelihood of counts and its gradient. `expansion`: the gradient (by more
# evaluations if `accurate`), Fisher's information, and `slopes`, the gradients of the
# log-probabilities.
likelihood_surface <- function(log_probabilities, counts) {
  list(
    objective = function(x) -sum(counts * log_probabilities(x)),
    gradient = function(x) -colSums(counts * derivatives(log_probabilities, x, 1e-4)),
    expansion = function(x, accurate = TRUE) {
      expected <- exp(log_probabilities(x))
      slopes <- if (accurate) {
        accurate_derivatives(log_probabilities, x, 1e-3)
      } else {
        derivatives(log_probabilities, x, 1e-4)
      }
      list(
        gradient = -colSums(counts * slopes),
        information = crossprod(slopes, sum(counts) / sum(expected) * expected * slopes),
        slopes = slopes
      )
    }
  )
}
