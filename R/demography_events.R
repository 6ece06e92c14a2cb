#' Define the events of a demographic model
#'
#' A model of [demography()] is a list of events in chronological order, such as
#' `list(event_equilibrium(), event_split(1), event_epoch(0.2, nu = c(1, 0.5)))`. All values are in
#' the units of diffusion models.
#'
#' @details
#' Populations are numbered from 1, and a new one comes last.
#'
#' | Event | Effect |
#' | --- | --- |
#' | `event_equilibrium()` | one population in equilibrium; as in dadi, `gamma` ignores `nu` |
#' | `event_epoch()` | the populations evolve for a time |
#' | `event_split()` | a new population splits off, as a copy of its parent |
#' | `event_admixture()` | a new population is a mixture of others |
#' | `event_pulse()` | others replace a share of a population, at one time |
#' | `event_removal()` | a population leaves the model |
#' | `event_reordering()` | the populations are renumbered |
#'
#' The units, for a reference population of N diploid individuals:
#'
#' | Value | Unit |
#' | --- | --- |
#' | size | N |
#' | time | 2 N generations |
#' | migration rate | 2 N times the share of migrants in a generation |
#' | selection coefficient | 2 N times the coefficient of the derived allele |
#' | `theta0` | 4 N times the mutation rate times the length of the sequence |
#'
#' A value that changes in an epoch is a `size_history()`, or a function of time on the epoch's
#' clock.
#'
#' @param nu Sizes: a vector of numbers, or a list with a number, `size_history()` or function for
#'   each population. For `event_equilibrium()` one number, 1 by default.
#' @param gamma Selection coefficients, 0 by default: one for all populations, or in the form of
#'   `nu`. They are 2 N s, for fitnesses 1, `1 + 2 s h` and `1 + 2 s`.
#' @param h Dominance, in the form of `gamma`; 0.5 (the default) is additive.
#' @param theta0 Mutation rate: a number, 1 by default; in an epoch also a `size_history()` or a
#'   function. `NULL`, the default in an epoch, keeps the current rate.
#' @param duration Length of the epoch. For `size_history()` the time on the epoch's clock at
#'   which the value is `to`; `NULL` (the default) for the epoch's end.
#' @param m Migration rates, 0 by default: one number for all pairs; or a matrix (or list of rows)
#'   with the rate from population `j` into `i` in row `i` and column `j`.
#' @param frozen Whether to keep populations unchanged, like ancient samples: one value for all, or
#'   one for each; `FALSE` (the default). Frozen populations cannot have migration.
#' @param mutates Whether to give populations new mutations: one value for all, or one for each;
#'   `TRUE` (the default). With `FALSE` a population has only alleles that existed before or came by
#'   migration.
#' @param initial_t Start of the epoch's clock, 0 by default. It matters only if values change.
#' @param parent,pop Index of the population that splits, or that leaves.
#' @param props Shares. For `event_admixture()`, each population's share of the new population's
#'   ancestry, with sum 1. For `event_pulse()`, the replaced shares of `dest`, named by their source
#'   populations: `c("2" = 0.1)`.
#' @param dest Index of the population that receives the pulse.
#' @param order The old index of each population, in the new order.
#' @param from,to Values at time 0 and at time `duration` of the epoch's clock.
#' @param shape `"exponential"` (the default) or `"linear"` change between `from` and `to`.
#' @return A list of the arguments, of class `demography_event`, or of class
#'   `demography_size_history` for `size_history()`.
#' @section Errors:
#' * `ancify_input_error`: an argument is missing, or `shape` is unknown. Other values are checked
#'   later, by [expected_sfs()], as they may depend on parameters.
#' @references
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint demographic history
#' of multiple populations from multidimensional SNP frequency data. PLoS Genetics 5:e1000695.
#' @seealso [demography()], [expected_sfs()]
#' @name demography_events
#' @examples
#' # A population that grew tenfold, and then split into two that exchange migrants
#' demography(
#'   event_equilibrium(),
#'   event_epoch(0.2, nu = list(size_history(1, 10))),
#'   event_split(1),
#'   event_epoch(0.1, nu = c(10, 2), m = 0.5)
#' )
#'
#' # The third of three populations is admixed, gives a pulse to the first, and then leaves
#' admixture <- demography(
#'   event_equilibrium(), event_split(1), event_epoch(0.2, nu = c(1, 0.5)),
#'   event_admixture(c(0.7, 0.3)), event_epoch(0.05, nu = c(1, 0.5, 0.2)),
#'   event_pulse(1, c("3" = 0.1)), event_removal(3), event_reordering(c(2, 1))
#' )
#' expected_sfs(admixture, NULL, c(B = 3, A = 3), c(15, 20, 25))
NULL

new_event <- function(op, ...) {
  structure(Filter(Negate(is.null), list(op = op, ...)), class = "demography_event")
}

#' @rdname demography_events
#' @export
event_equilibrium <- function(nu = 1, gamma = 0, h = 0.5, theta0 = 1) {
  new_event("equilibrium", nu = nu, gamma = gamma, h = h, theta0 = theta0)
}

#' @rdname demography_events
#' @export
event_epoch <- function(duration, nu, m = 0, gamma = 0, h = 0.5, theta0 = NULL, frozen = FALSE,
                        initial_t = 0, mutates = TRUE) {
  check_given()
  new_event(
    "integrate", "T" = duration, nu = nu, m = m, gamma = gamma, h = h, theta0 = theta0,
    frozen = frozen, initial_t = initial_t, mutates = mutates
  )
}

#' @rdname demography_events
#' @export
event_split <- function(parent) {
  check_given()
  new_event("split", parent = parent)
}

#' @rdname demography_events
#' @export
event_admixture <- function(props) {
  check_given()
  new_event("new_pop", props = props)
}

#' @rdname demography_events
#' @export
event_pulse <- function(dest, props) {
  check_given()
  new_event("pulse", dest = dest, props = props)
}

#' @rdname demography_events
#' @export
event_removal <- function(pop) {
  check_given()
  new_event("remove", pop = pop)
}

#' @rdname demography_events
#' @export
event_reordering <- function(order) {
  check_given()
  new_event("reorder", order = order)
}

#' @rdname demography_events
#' @export
size_history <- function(from, to, duration = NULL, shape = c("exponential", "linear")) {
  check_given()
  types <- c(exponential = "exp", linear = "linear")
  type <- types[[check_choice(shape, names(types), "shape")]]
  structure(list(type = type, from = from, to = to, "T" = duration),
            class = "demography_size_history")
}

# ---- The registry of events ----------------------------------------------------------------------

# A row for each event, by its `op`.
# maker     the function that makes the event
# fields    the fields that the event may have
# to_core   function(event, populations, refuse): list(kind =, fields) for make_event() in the core;
#           refuse(field, problem) is the error for a wrong field
# change    change in the number of populations
# founds    TRUE if the event makes a population, which needs a name in Demes
# to_demes  function(graph, event, about): the graph of demes_of_events() after this core event
# to_history  likewise, for the picture of history_of_events()
# to_words  function(event, about): sentences about this core event, for summary(); see
#           demography_words.R for `about`
# plain     default values, which print() leaves out
event_row <- function(maker, fields, to_core, to_demes, to_history, to_words, change = 0,
                      founds = FALSE, plain = list()) {
  as.list(environment())
}

# A function, because R loads the functions `to_demes` after this file.
event_rows <- function() {
  plain <- list(m = 0, gamma = 0, h = 0.5, frozen = FALSE, initial_t = 0, mutates = TRUE)
  list(
    equilibrium = event_row(
      "event_equilibrium()", c("nu", "gamma", "h", "theta0"), equilibrium_to_core,
      equilibrium_to_demes, equilibrium_to_history, equilibrium_to_words, 1, TRUE,
      c(list(nu = 1, theta0 = 1), plain)
    ),
    integrate = event_row(
      "event_epoch()",
      c("T", "nu", "m", "gamma", "h", "theta0", "frozen", "initial_t", "mutates"),
      epoch_to_core, epoch_to_demes, epoch_to_history, epoch_to_words, plain = plain
    ),
    split = event_row("event_split()", "parent", split_to_core, admixture_to_demes,
                      admixture_to_history, admixture_to_words, 1, TRUE),
    new_pop = event_row("event_admixture()", "props", admixture_to_core, admixture_to_demes,
                        admixture_to_history, admixture_to_words, 1, TRUE),
    pulse = event_row("event_pulse()", c("dest", "props"), pulse_to_core, pulse_to_demes,
                      pulse_to_history, pulse_to_words),
    remove = event_row("event_removal()", "pop", removal_to_core, removal_to_demes,
                       removal_to_history, removal_to_words, -1),
    reorder = event_row("event_reordering()", "order", reordering_to_core, reordering_to_demes,
                        reordering_to_history, reordering_to_words)
  )
}

# Events for the core, with all parameters as numbers. Each has its `op` and the number of
# populations after it. The core checks the ranges of values.
core_events <- function(events) {
  rows <- event_rows()
  populations <- 0
  theta <- 1
  lapply(seq_along(events), function(i) {
    event <- events[[i]]
    op <- if (is.list(event)) event[["op"]]
    row <- if (is.character(op) && length(op) == 1) rows[[op]]
    refuse_if(is.null(row),
              "Event %d of the model is %s, not an event, such as event_equilibrium().", i,
              if (is.list(event)) show_value(op) else show_value(event))
    unknown <- setdiff(names(event), c("op", row$fields))
    refuse_if(length(unknown),
              "Event %d of the model, a list for %s, has the unknown field %s. Fields are %s.", i,
              row$maker, quoted(unknown[1]), enumerate(row$fields))
    refuse_if(populations == 0 && op != "equilibrium",
              "The first event of a model must be event_equilibrium().")
    if ("theta0" %in% row$fields) event$theta0 <- event$theta0 %||% theta
    result <- row$to_core(event, populations, function(name, problem) {
      if (name == "T") name <- "duration"
      refuse_input("Event %d of the model, %s: `%s` %s.", i, row$maker, name, problem)
    })
    if ("theta" %in% names(result)) theta <<- value_at(result$theta, result$end)
    populations <<- if (op == "equilibrium") 1 else populations + row$change
    c(result, list(op = op, populations = populations))
  })
}

equilibrium_to_core <- function(event, populations, refuse) {
  number <- function(name, default) one_number(event[[name]] %||% default, name, refuse)
  core_list(
    "equilibrium",
    kind = "equilibrium", size = number("nu", 1), theta = number("theta0", 1),
    selection = number("gamma", 0), dominance = number("h", 0.5)
  )
}

epoch_to_core <- function(event, populations, refuse) {
  start <- one_number(event[["initial_t"]] %||% 0, "initial_t", refuse)
  end <- start + one_number(event[["T"]], "T", refuse)
  histories <- function(name, default, n = populations, recycle = TRUE) {
    parameter_histories(event[[name]] %||% default, n, recycle, end, name, refuse)
  }
  migration <- event[["m"]] %||% 0
  core_list(
    "epoch",
    kind = "epoch", start = start, end = end, theta = histories("theta0", 1, 1)[[1]],
    size = histories("nu", NULL, recycle = FALSE),
    migration = migration_histories(migration, populations, end, refuse),
    selection = histories("gamma", 0), dominance = histories("h", 0.5),
    frozen = recycled_flags(event[["frozen"]] %||% FALSE, populations, "frozen", refuse),
    mutates = recycled_flags(event[["mutates"]] %||% TRUE, populations, "mutates", refuse)
  )
}

split_to_core <- function(event, populations, refuse) {
  parent <- population_number(event[["parent"]], populations, "parent", refuse)
  admixture_of(as.double(seq_len(populations) == parent))
}

admixture_to_core <- function(event, populations, refuse) {
  admixture_of(ancestry_shares(event[["props"]], populations, refuse))
}

admixture_of <- function(shares) core_list("admixture", kind = "admixture", shares = shares)

pulse_to_core <- function(event, populations, refuse) {
  dest <- population_number(event[["dest"]], populations, "dest", refuse)
  core_list(
    "pulse",
    kind = "pulse", destination = dest,
    shares = pulse_shares(event[["props"]], populations, dest, refuse)
  )
}

removal_to_core <- function(event, populations, refuse) {
  population <- population_number(event[["pop"]], populations, "pop", refuse)
  if (populations == 1) refuse("pop", "is the last population, which cannot be removed")
  core_list("removal", kind = "removal", population = population)
}

reordering_to_core <- function(event, populations, refuse) {
  order <- unlist(event[["order"]])
  if (!is.numeric(order) || !identical(sort(as.double(order)), as.double(seq_len(populations)))) {
    refuse("order", sprintf("must have each number from 1 to %d once", populations))
  }
  core_list("reordering", kind = "reordering", order = as.integer(order))
}

# A plain list of events is a model without parameters.
as_demography <- function(model) {
  if (inherits(model, "demography")) {
    return(model)
  }
  must_be(is.list(model) && length(model), model, "model", "a demography() or a list of events")
  structure(list(events = model, params = character()), class = "demography")
}
