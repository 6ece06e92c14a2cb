#' The history of the focal species and its outgroups
#'
#' What the method `coalescent` and [polarise_sites()] have to know: when the
#' outgroups' populations split from the focal species', how large the ancestral
#' populations were, and how bases mutate.
#'
#' The outgroups form a ladder by default: going back in time, each joins the
#' focal species' ancestors at its split, and `sizes` has the size that these
#' ancestors' population has from there on, up to the next split. Their order need
#' not be that of the splits. Where outgroups are nearer to each other than to
#' the focal species, such as chimp and bonobo, `into` says so: bonobo's split is
#' that from chimp, and its size that of their common ancestors.
#'
#' One haplotype of the focal species says nothing about its population's size
#' since the first split. It has to come from elsewhere, such as the heterozygosity
#' divided by four times the mutation rate; without it the size next to it is
#' taken, and a message says so.
#'
#' @param splits Generations since each outgroup's split; a name for each, or none.
#' @param sizes Diploid population sizes (not in thousands) from each split on, going back, in the
#'   order of `splits`; one number for the same everywhere.
#' @param focal_size Diploid size of the focal population since its first split.
#'   `NULL` (the default): the size from the first split on.
#' @param focal_lineages Haplotypes of the focal species whose most recent common
#'   ancestor is the node called (20 by default). More change little: 20 have the
#'   common ancestor of the whole population with a probability of 19 / 21. At most
#'   10,000.
#'   [polarise_sites()] takes the sample's number instead.
#' @param mutation_rate Mutations per site and generation.
#' @param model How bases mutate: a [substitution_model()], the name of one, or a list
#'   of its arguments, `"GTR"` where `name` is not among them. `NULL` (the default) for
#'   the model of Jukes and Cantor.
#' @param into For each outgroup the population it joins: 0 for the focal
#'   species', or an outgroup's number or name. Default: 0 for all.
#' @return A list of class `ancify_history` of all of these, and `focal_size_given`.
#' @section Errors:
#' `ancify_input_error` for numbers that are not above 0, sizes below 1, models that
#' [substitution_model()] refuses, lengths that differ,
#' and for an outgroup that joins one that has joined another before.
#' @seealso [polarise_sites()]
#' @export
#' @examples
#' # Human, with chimp, gorilla and macaque
#' coalescent_history(
#'   splits = c(chimp = 240000, gorilla = 320000, macaque = 1100000),
#'   sizes = 50000, focal_size = 10000
#' )
coalescent_history <- function(splits, sizes, focal_size = NULL, focal_lineages = 20,
                               mutation_rate = 1.25e-8, model = NULL, into = 0) {
  splits <- check_positive(splits, "splits")
  check_split_names(names(splits))
  sizes <- recycled(check_size(sizes, "sizes"), length(splits), "sizes")
  into <- join_numbers(recycled(into, length(splits), "into"), names(splits))
  check_joins(splits, into)
  check_whole_number(focal_lineages, "focal_lineages", most_focal_lineages)
  history <- structure(
    list(
      splits = splits, sizes = sizes, focal_size = focal_size,
      focal_size_given = !is.null(focal_size),
      focal_lineages = as.integer(focal_lineages),
      mutation_rate = check_positive(mutation_rate, "mutation_rate", 1),
      model = complete_model(model), into = into
    ),
    class = "ancify_history"
  )
  if (is.null(focal_size)) {
    history$focal_size <- next_size(history)
    inform_ancify(sprintf(
      "`focal_size` is not given: %s, the size before the first split, is taken.",
      format_count(history$focal_size)
    ))
  } else {
    check_size(focal_size, "focal_size", 1)
  }
  history
}

most_focal_lineages <- 10000

#' @export
print.ancify_history <- function(x, ...) {
  names <- outgroup_names(x)
  order <- order(x$splits)
  cat("A history of the focal species and its outgroups, going back in time\n")
  cat(sprintf(
    "  now: population size %s, %d haplotypes\n", format_count(x$focal_size), x$focal_lineages
  ))
  to <- c("the focal species", names)[x$into + 1]
  cat(sprintf(
    "  %s generations: %s joins %s, size %s\n",
    vapply(x$splits[order], format_count, ""), names[order], to[order],
    vapply(x$sizes[order], format_count, "")
  ), sep = "")
  cat(sprintf("  %s mutations per site and generation\n", format(x$mutation_rate)))
  invisible(x)
}

outgroup_names <- function(history) {
  names <- names(history$splits)
  if (is.null(names)) paste("outgroup", seq_along(history$splits)) else names
}

# The size of the population into which the focal one goes over.
next_size <- function(history) {
  joining <- which(history$into == 0)
  history$sizes[[joining[which.min(history$splits[joining])]]]
}

# `n`: how many there must be; NULL for at least one.
check_positive <- function(x, name, n = NULL) {
  right_length <- if (is.null(n)) length(x) > 0 else length(x) == n
  if (!is.numeric(x) || !right_length || !all(is.finite(x) & x > 0)) {
    abort_ancify(
      sprintf(
        "`%s` must be %s above 0, not %s.", name,
        if (is.null(n)) "numbers" else "a number", show_value(x)
      ),
      "input"
    )
  }
  x
}

check_size <- function(x, name, n = NULL) {
  check_positive(x, name, n)
  if (any(x < 1)) {
    abort_ancify(
      sprintf("`%s` is %s: give diploid numbers of 1 or more, not thousands.", name,
              show_value(x[x < 1][1])),
      "input"
    )
  }
  x
}

# An outgroup's name is how `into` and sequences refer to it; there "0" is the focal species.
check_split_names <- function(names) {
  if (is.null(names)) {
    return(invisible())
  }
  wrong <- which(is.na(names) | names %in% c("", "0") | duplicated(names))
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "The name of split %d is %s: give each a name of its own, other than \"0\", or none.",
        wrong[1], show_value(names[wrong[1]])
      ),
      "input"
    )
  }
}

recycled <- function(x, n, name) {
  if (!is.atomic(x) || !length(x) %in% c(1, n)) {
    abort_ancify(
      sprintf("`%s` has length %d; give one for each of the %d splits, or one for all.",
              name, length(x), n),
      "input"
    )
  }
  rep_len(x, n)
}

join_numbers <- function(into, names) {
  known <- if (is.character(into)) c("0", names) else c(0, seq_along(into))
  numbers <- match(into, known) - 1L
  wrong <- which(is.na(numbers))
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`into` names %s, which is neither 0 nor an outgroup.", show_value(into[wrong[1]])
      ),
      "input"
    )
  }
  numbers
}

# An outgroup is still there when another joins it, and goes on from there.
check_joins <- function(splits, into) {
  for (i in which(into > 0)) {
    if (splits[[into[i]]] <= splits[[i]]) {
      abort_ancify(
        sprintf(
          paste(
            "Outgroup %d joins outgroup %d %s generations ago, but that one's own split is at %s,",
            "and must be later: exchange them, or let both join the same."
          ),
          i, into[i], format_count(splits[[i]]), format_count(splits[[into[i]]])
        ),
        "input"
      )
    }
  }
}

complete_model <- function(model) {
  if (is.null(model)) {
    return(check_model("JC69"))
  }
  if (is.character(model) || inherits(model, "ancify_model")) {
    return(check_model(model))
  }
  model_of_list(model)
}

# GTR unless it names another.
model_of_list <- function(model) {
  known <- names(formals(substitution_model))
  good <- is.list(model) && !is.null(names(model)) && all(names(model) %in% known) &&
    !anyDuplicated(names(model))
  if (!good) {
    abort_ancify(
      sprintf(
        "`model` must be a substitution_model(), the name of one, or a list of %s, not %s.",
        enumerate(known), show_value(if (is.list(model)) names(model) else model)
      ),
      "input"
    )
  }
  do.call(substitution_model, utils::modifyList(list(name = "GTR"), model))
}

# ---- For the core -----------------------------------------------------------------

core_history <- function(history) {
  order <- order(history$splits)
  list(
    focal_size = history$focal_size, focal_lineages = history$focal_lineages,
    mutation_rate = history$mutation_rate,
    time = as.numeric(history$splits[order]), from = order, into = history$into[order],
    size = as.numeric(history$sizes[order])
  )
}

core_mutation_model <- function(history) {
  core_model(history$model)
}

# ---- Estimation -------------------------------------------------------------------

# Splits and sizes of maximum likelihood, from genome-wide pattern counts.
#
# A whole genome tells splits from sizes; ten million sites hardly do, for an older split before a
# small population gives nearly the same patterns. So that such data end at a plausible history,
# sizes are taken to differ by chance, log-normally with a standard deviation of 1, also from the
# focal size; on a genome's counts that has no weight.
#
# `counts`: a data frame of `pattern`, texts of the outgroups' bases in the order of the history's
# splits and then the focal base, and `count`. `history`: where the search begins, and what is not
# estimated: the focal size, the mutation rate and model, which outgroup joins where, and the order
# of the splits. `most_change`: by which factor an estimate may differ from where the search begins.
#
# Gives list(history =, log_likelihood =, standard_errors = of the logarithms of the times between
# splits and of the sizes, converged =, message =).
fit_history <- function(counts, history, most_change = 100) {
  history <- check_history(history)
  check_pattern_counts(counts)
  states <- pattern_states(counts$pattern, length(history$splits) + 1, "counts$pattern")
  codes <- 1 + colSums(states * 5^(seq_len(nrow(states)) - 1))
  log_probabilities <- function(x) {
    candidate <- with_parameters(history, x)
    probabilities <- with_watch("Fitting", function(watch) {
      pattern_probabilities_impl(core_history(candidate), core_mutation_model(candidate), watch)
    })
    log(probabilities[codes])
  }
  surface <- likelihood_surface(log_probabilities, counts$count)
  prior <- size_prior(length(history$splits), log(history$focal_size[history$focal_size_given]))
  start <- history_parameters(history)
  space <- list(lower = start - log(most_change), upper = start + log(most_change))
  sites <- sum(counts$count)
  gradient <- function(x) surface$gradient(x) + prior$gradient(x)
  # By site, so that tolerances mean the same for any genome.
  fit <- stats::nlminb(
    start,
    function(x) (surface$objective(x) + prior$objective(x)) / sites,
    function(x) gradient(x) / sites,
    function(x) slopes_of(gradient, x) / sites,
    lower = space$lower, upper = space$upper,
    control = list(iter.max = 500, eval.max = 1000, rel.tol = 1e-14, x.tol = 1e-9, sing.tol = 0)
  )
  information <- surface$information(fit$par) + prior$information
  converged <- fit$convergence == 0 ||
    gain_left(gradient(fit$par), information, fit$par, space) < 1e-4
  fitted <- with_parameters(history, fit$par)
  if (!history$focal_size_given) fitted$focal_size <- next_size(fitted)
  list(
    history = fitted, log_likelihood = -surface$objective(fit$par),
    standard_errors = standard_errors(information), converged = converged, message = fit$message
  )
}

# Second derivatives from a gradient. Splits and sizes trade against each other along a narrow,
# curved ridge, which a search follows that knows its shape; Fisher's information, which expects
# what is not there far from the maximum, leads it astray.
slopes_of <- function(gradient, x, step = 1e-3) {
  slopes <- vapply(seq_along(x), function(i) {
    by <- replace(numeric(length(x)), i, step)
    (gradient(x + by) - gradient(x - by)) / (2 * step)
  }, numeric(length(x)))
  (slopes + t(slopes)) / 2
}

# By how much the log-likelihood would still rise, were it a parabola; Inf where that is not known.
gain_left <- function(gradient, information, x, space) {
  free <- x > space$lower + 1e-6 & x < space$upper - 1e-6
  step <- tryCatch(
    solve(information[free, free, drop = FALSE], gradient[free]),
    error = function(condition) Inf
  )
  sum(gradient[free] * step) / 2
}

# Minus the log-likelihood of counts, its gradient, and Fisher's information. Derivatives are
# central differences of smooth functions.
likelihood_surface <- function(log_probabilities, counts) {
  derivatives <- function(x, step = 1e-4) {
    vapply(seq_along(x), function(i) {
      by <- replace(numeric(length(x)), i, step)
      (log_probabilities(x + by) - log_probabilities(x - by)) / (2 * step)
    }, numeric(length(counts)))
  }
  list(
    objective = function(x) -sum(counts * log_probabilities(x)),
    gradient = function(x) -colSums(counts * derivatives(x)),
    information = function(x) {
      expected <- exp(log_probabilities(x))
      derived <- derivatives(x)
      crossprod(derived, sum(counts) / sum(expected) * expected * derived)
    }
  )
}

# Half the sum of squares of the logarithms of sizes about their mean; `known`: those of sizes that
# are not estimated.
size_prior <- function(n_sizes, known) {
  all <- n_sizes + length(known)
  centred <- diag(all) - 1 / all
  sizes <- seq_len(n_sizes)
  values <- function(x) c(x[n_sizes + sizes], known)
  information <- matrix(0, 2 * n_sizes, 2 * n_sizes)
  information[n_sizes + sizes, n_sizes + sizes] <- centred[sizes, sizes]
  list(
    objective = function(x) sum((centred %*% values(x))^2) / 2,
    gradient = function(x) c(numeric(n_sizes), (centred %*% values(x))[sizes]),
    information = information
  )
}

# NA where the data say nothing on a parameter.
standard_errors <- function(information) {
  inverse <- tryCatch(solve(information), error = function(e) NA * information)
  variances <- diag(inverse)
  sqrt(ifelse(variances > 0, variances, NA))
}

# Logarithms of the times between splits, and of the sizes.
history_parameters <- function(history) {
  times <- sort(unname(history$splits))
  log(c(pmax(diff(c(0, times)), times[1] / 1000), unname(history$sizes)))
}

with_parameters <- function(history, parameters) {
  n <- length(history$splits)
  history$splits[order(history$splits)] <- cumsum(exp(parameters[seq_len(n)]))
  history$sizes[] <- exp(parameters[n + seq_len(n)])
  history
}

check_pattern_counts <- function(patterns) {
  fail <- function(...) abort_ancify(sprintf(...), "input")
  if (!is.data.frame(patterns) || !is.character(patterns$pattern) || !is.numeric(patterns$count)) {
    fail("`patterns` must be a data frame of `pattern`, texts such as \"ACNA\", and `count`.")
  }
  counts <- patterns$count
  wrong <- which(is.na(patterns$pattern) | !is.finite(counts) | counts < 0)
  if (length(wrong)) {
    fail(
      "Row %d of `patterns` has the pattern %s and the count %s: give a text and a number.",
      wrong[1], show_value(patterns$pattern[wrong[1]]), format(counts[wrong[1]])
    )
  }
  if (sum(counts) == 0) fail("`patterns` has no sites: all counts are 0, or there are none.")
  if (sum(counts) > 2^53) fail("`patterns` has %s sites: give at most 2^53.", format(sum(counts)))
}
