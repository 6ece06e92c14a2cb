#' Describe the history of the outgroups
#'
#' States when the outgroups split from the focal species, how large the ancestral populations
#' were, and how bases mutate. The method `coalescent` and [polarise_sites()] need it.
#'
#' Going back in time, each outgroup joins the focal species' ancestors at its split. Its element of
#' `sizes` is the size of this ancestral population from that split back to the next older one. The
#' splits may be given in any order.
#'
#' Outgroups may be closer to each other than to the focal species, such as chimp and bonobo. Then
#' `into` says that bonobo joins chimp. Bonobo's split is then its split from chimp, and its size is
#' the size of their common ancestors.
#'
#' A single focal haplotype contains no information about the focal population's size since the
#' first split. Take `focal_size` from another source, such as the heterozygosity divided by four
#' times the mutation rate. Without it, the next older size is used, with a message.
#'
#' @param splits Generations since the split of each outgroup, all named or all without names.
#' @param sizes Diploid population size from each split on, going back, named by the outgroups or
#'   in the order of `splits`.
#'   Give plain numbers, not thousands; one number means the same size everywhere.
#' @param focal_size Diploid size of the focal population since the first split; with `focal_times`,
#'   several sizes, the present one first. `NULL` (the default): the size from the first split on.
#' @param focal_lineages Number of focal haplotypes whose most recent common ancestor is the node
#'   called; 20 by default, at most 10,000. More lineages change little: the ancestor of 20 is the
#'   whole population's with probability 19 / 21. [polarise_sites()] uses the sample's number of
#'   haplotypes instead.
#' @param mutation_rate Mutations per site and generation; 1.25e-8 by default.
#' @param model A [substitution_model()], the name of one, or a list of its arguments, whose `name`
#'   is `"GTR"` by default. `NULL` (the default) for Jukes and Cantor's model.
#' @param into The population that each outgroup joins: 0 (the default) for the focal species', or
#'   an outgroup's index or name; named by the outgroups or in the order of `splits`.
#' @param focal_times Times in generations ago at which the second and further `focal_size` begin.
#'   They increase, and are more recent than the first split. `NULL` (the default) for one size.
#' @return A list of class `ancify_history` with these arguments and `focal_size_given`.
#' @section Errors:
#' * `ancify_input_error`: a value is not above 0, a size is below 1, or lengths differ.
#' * `ancify_input_error`: [substitution_model()] refuses the model.
#' * `ancify_input_error`: an outgroup joins another one whose own split is not older.
#' * `ancify_input_error`: `focal_times` do not increase up to the first split, or `focal_size` does
#'   not have exactly one more element.
#' @references
#' Rannala and Yang (2003) Bayes estimation of species divergence times and
#' ancestral population sizes. Genetics 164:1645.
#' @seealso [fit_history()] to estimate a history, [polarise_sites()] and [call_ancestral()] to use
#'   it
#' @export
#' @examples
#' # Human, with chimp, gorilla and macaque
#' coalescent_history(
#'   splits = c(chimp = 240000, gorilla = 320000, macaque = 1100000),
#'   sizes = 50000, focal_size = 10000
#' )
coalescent_history <- function(splits, sizes, focal_size = NULL, focal_lineages = 20,
                               mutation_rate = 1.25e-8, model = NULL, into = 0,
                               focal_times = NULL) {
  check_args(splits = positive())
  check_split_names(names(splits))
  sizes <- by_outgroup(sizes, names(splits), "sizes")
  sizes <- recycled(check_size(sizes, "sizes"), length(splits), "sizes")
  into <- by_outgroup(into, names(splits), "into")
  into <- join_numbers(recycled(into, length(splits), "into"), names(splits))
  check_joins(splits, into)
  check_whole_number(focal_lineages, "focal_lineages", most_focal_lineages)
  history <- structure(
    list(
      splits = splits, sizes = sizes, focal_size = focal_size,
      focal_size_given = !is.null(focal_size),
      focal_lineages = as.integer(focal_lineages),
      mutation_rate = check_positive(mutation_rate, "mutation_rate", 1),
      model = complete_model(model), into = into,
      focal_times = if (length(focal_times)) {
        check_positive(focal_times, "focal_times")
      } else {
        numeric()
      }
    ),
    class = "ancify_history"
  )
  if (is.null(focal_size)) {
    history$focal_size <- next_size(history)
    inform_ancify(sprintf(
      "`focal_size` is not given, so it is the size before the first split: %s.",
      format_count(history$focal_size)
    ))
  } else {
    check_size(focal_size, "focal_size", if (length(focal_size) == 1) 1)
  }
  check_focal_times(history$focal_times, history)
  history
}

check_focal_times <- function(times, history) {
  refuse_if(length(history$focal_size) != length(times) + 1,
            "`focal_size` has %s and `focal_times` %s: give one size more than times.",
            count_of(length(history$focal_size), "value"), count_of(length(times), "value"))
  wrong <- which(diff(c(0, times, focal_split(history))) <= 0)
  refuse_if(length(wrong),
            "`focal_times` are %s: they must increase, up to the first split at %s generations.",
            enumerate(vapply(times, format_count, "")), format_count(focal_split(history)))
}

most_focal_lineages <- 10000

#' @export
print.ancify_history <- function(x, ...) {
  write_object("ancify_history", count_of(length(x$splits), "outgroup"), history_fields(x))
  invisible(x)
}

history_fields <- function(history) {
  names <- outgroup_names(history)
  order <- order(history$splits)
  to <- c("the focal species", names)[history$into + 1]
  whole <- function(numbers) vapply(round(numbers), format_count, "")
  splits <- sprintf(
    "%s joins %s at %s generations, size %s", names[order], to[order],
    whole(history$splits[order]), whole(history$sizes[order])
  )
  c(
    `focal size` = focal_size_text(history), haplotypes = format_count(history$focal_lineages),
    structure(splits, names = c("splits", rep("", length(splits) - 1))),
    `mutation rate` = paste(format(history$mutation_rate), "a site and generation")
  )
}

focal_size_text <- function(history) {
  whole <- function(numbers) vapply(round(numbers), format_count, "")
  older <- sprintf(
    "%s from %s generations on", whole(history$focal_size[-1]), whole(history$focal_times)
  )
  paste(c(whole(history$focal_size[1]), older), collapse = ", ")
}

outgroup_names <- function(history) {
  names <- names(history$splits)
  if (is.null(names)) paste("outgroup", seq_along(history$splits)) else names
}

# The size of the population that the focal one joins at the first split.
next_size <- function(history) {
  joining <- which(history$into == 0)
  history$sizes[[joining[which.min(history$splits[joining])]]]
}

# The time of the focal population's first split.
focal_split <- function(history) min(history$splits[history$into == 0])

check_size <- function(x, name, n = NULL) {
  check_positive(x, name, n)
  refuse_if(any(x < 1), "`%s` is %s: give numbers of diploids of 1 or more, not thousands.", name,
            show_value(x[x < 1][1]))
  x
}

# `into` and sequences refer to outgroups by name; in `into` "0" is the focal species.
check_split_names <- function(names) {
  if (is.null(names)) {
    return(invisible())
  }
  wrong <- which(is.na(names) | names %in% c("", "0") | duplicated(names))
  refuse_if(length(wrong),
            "The name of split %d is %s: give all splits different names, not \"0\", or none.",
            wrong[1], show_value(names[wrong[1]]))
}

recycled <- function(x, n, name) {
  refuse_if(!is.atomic(x) || !length(x) %in% c(1, n),
            "`%s` has length %d: give one value for each of the %d splits, or one for all.", name,
            length(x), n)
  rep_len(x, n)
}

# Values in the order of the outgroups: matched by name, or as given.
by_outgroup <- function(values, outgroups, name) {
  if (is.null(names(values))) {
    return(values)
  }
  refuse_if(!setequal(names(values), outgroups) || anyDuplicated(names(values)),
            "`%s` names %s, but the outgroups are %s: give a number for each.", name,
            enumerate(quoted(names(values))), enumerate(quoted(outgroups)))
  unname(values[outgroups])
}

join_numbers <- function(into, names) {
  known <- if (is.character(into)) c("0", names) else c(0, seq_along(into))
  numbers <- match(into, known) - 1L
  wrong <- which(is.na(numbers))
  refuse_if(length(wrong), "`into` has %s: give 0 or an outgroup's number or name.",
            show_value(into[wrong[1]]))
  numbers
}

# A population must exist when an outgroup joins it: its own split is older.
check_joins <- function(splits, into) {
  for (i in which(into > 0)) {
    refuse_if(
      splits[[into[i]]] <= splits[[i]],
      paste("Outgroup %d joins outgroup %d %s generations ago, but the latter's own split is at",
            "%s. It must be older: exchange the two, or let both join the same population."), i,
      into[i], format_count(splits[[i]]), format_count(splits[[into[i]]])
    )
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

# The model is GTR unless the list names another.
model_of_list <- function(model) {
  known <- names(formals(substitution_model))
  good <- is.list(model) && !is.null(names(model)) && all(names(model) %in% known) &&
    !anyDuplicated(names(model))
  refuse_if(!good, "`model` must be a substitution_model(), its name, or a list of %s, not %s.",
            enumerate(known), show_value(if (is.list(model)) names(model) else model))
  do.call(substitution_model, utils::modifyList(list(name = "GTR"), model))
}

# ---- For the core -----------------------------------------------------------------

core_history <- function(history) {
  order <- order(history$splits)
  core_list(
    "History",
    focal_size = as.numeric(history$focal_size), focal_times = as.numeric(history$focal_times),
    focal_lineages = history$focal_lineages, mutation_rate = history$mutation_rate,
    time = as.numeric(history$splits[order]), from = order, into = history$into[order],
    size = as.numeric(history$sizes[order])
  )
}

core_mutation_model <- function(history) {
  core_model(history$model)
}

# A given history must fit the outgroups. With `estimate: true` no history is necessary.
check_history_key <- function(config, origin) {
  if (NROW(config$outgroups) == 0) {
    return(invisible())
  }
  problem <- too_many_for_coalescent(NROW(config$outgroups))
  if (!is.null(problem)) {
    add_problem(origin, "`outgroups`: %s", problem)
    return(invisible())
  }
  if (any(startsWith(as.character(origin$failed), "history"))) {
    return(invisible())
  }
  given <- !vapply(config$history[c("splits", "sizes")], is.null, NA)
  if (sum(given) == 1) {
    add_problem(
      origin, "`history.%s` is missing, but `%s` is given: give both.",
      c("splits", "sizes")[!given], c("splits", "sizes")[given]
    )
    return(invisible())
  }
  if (has_history(config)) {
    tryCatch(
      suppressMessages(config_history(config)),
      ancify_input_error = function(condition) {
        add_problem(origin, "`history`: %s", conditionMessage(condition))
      }
    )
  } else if (isTRUE(config$estimate)) {
    check_epochs_key(config$history, origin)
  } else {
    add_problem(
      origin,
      paste(
        "`history` is missing: `method` %s needs `splits` and `sizes`",
        "(or `estimate: true`)."
      ),
      quoted(config$method)
    )
  }
}

# Checks the initial focal sizes of a fit; the first split is still unknown.
check_epochs_key <- function(history, origin) {
  times <- history$focal_times
  if (!length(times) && length(history$focal_size) < 2) {
    return(invisible())
  }
  if (length(history$focal_size) != length(times) + 1 || any(diff(times) <= 0)) {
    add_problem(
      origin, "`history.focal_times` must increase, with one value fewer than `history.focal_size`."
    )
  }
}

has_history <- function(config) {
  !is.null(config$history$splits) && !is.null(config$history$sizes)
}

# The problem with so many outgroups, which the core would find only when it makes the method; NULL
# if there is none.
too_many_for_coalescent <- function(outgroups) {
  most <- core_limits()$coalescent_outgroups
  if (outgroups > most) {
    sprintf(
      "the coalescent takes at most %d outgroups, not %d; %s.", most, outgroups,
      "leave out some of the distant ones, or choose likelihood"
    )
  }
}

# The coalescent_history() of a configuration, its splits named and in the outgroups' order.
config_history <- function(config) {
  history <- config$history
  species <- config$outgroups$name
  in_order <- function(values, name) {
    values <- by_outgroup(values, species, name)
    refuse_if(length(values) != length(species) && !(name != "splits" && length(values) == 1),
              "`%s` has %d numbers, but there are %d outgroups: give one for each.", name,
              length(values), length(species))
    values
  }
  coalescent_history(
    stats::setNames(in_order(history$splits, "splits"), species),
    in_order(history$sizes, "sizes"), history$focal_size, history$focal_lineages,
    history$mutation_rate, config_model(config), in_order(history$into %||% "0", "into"),
    history$focal_times
  )
}

# Validates a history again.
check_history <- function(history, name = "history") {
  must_be(inherits(history, "ancify_history"), history, name, "a result of coalescent_history()")
  # The user may have changed its fields, so build it anew.
  history <- unclass(history)
  made <- suppressMessages(coalescent_history(
    history$splits, history$sizes, history$focal_size, history$focal_lineages,
    history$mutation_rate, history$model, history$into,
    if (length(history$focal_times)) history$focal_times
  ))
  made$focal_size_given <- isTRUE(history$focal_size_given)
  made
}

# ---- Starts of searches -------------------------------------------------------------------

default_mutation_rate <- formals(coalescent_history)$mutation_rate

# This share of the difference between two species is assumed to have arisen before their split, in
# the ancestral population.
share_before_split <- 0.1

# Generations, by the substitutions per site between two species.
split_by_divergence <- function(divergence, rate = default_mutation_rate) {
  (1 - share_before_split) * divergence / (2 * rate)
}

# The size of the ancestral population before a split.
size_by_split <- function(split) {
  pmax(split * share_before_split / (1 - share_before_split) / 2, 1)
}
