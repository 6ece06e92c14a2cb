# The methods of calling, as the core takes them: a list for as_method_options().

calling_methods <- c("voting", "parsimony", "likelihood", "ml", "coalescent")
tree_methods <- c("parsimony", "likelihood")
# They compare the tiers; for the others the tiers are only names.
two_tier_methods <- c("voting", "ml")
# They go through columns of any number of outgroups; the others call by a table of all patterns.
columnwise_methods <- c("voting", "ml")
posterior_methods <- c("likelihood", "ml", "coalescent")

# `species`: list(inner =, outer =), names; `settings`: list(min_inner_freq =, min_outer_freq =,
# high =, low =, tree =, a phylo, focal =, model =, history =, model_path =), of which each method
# takes its own.
core_method <- function(name, species, settings) {
  method <- list(
    name = name, n_inner = length(species$inner), n_outer = length(species$outer),
    min_inner = as.integer(settings$min_inner_freq),
    min_outer = as.integer(settings$min_outer_freq),
    high = settings$high, low = settings$low
  )
  all <- c(species$inner, species$outer)
  if (name %in% tree_methods) {
    method$tree <- core_tree(settings$tree, all, settings$focal)
  }
  if (name == "likelihood") {
    method$model <- core_model(settings$model)
  }
  if (name == "coalescent") {
    history <- history_of_species(settings$history, all)
    method$history <- core_history(history)
    method$model <- core_mutation_model(history)
  }
  if (name == "ml") {
    method$model_path <- settings$model_path
  }
  method
}

# The history with its splits in the order of the species; without names they are in it already.
history_of_species <- function(history, species) {
  names <- names(history$splits)
  if (is.null(names) && length(history$splits) == length(species)) {
    return(history)
  }
  if (is.null(names) || length(names) != length(species) || !setequal(names, species)) {
    abort_ancify(
      sprintf(
        "The history has splits of %s, but the outgroups are %s: give a split for each.",
        if (is.null(names)) length(history$splits) else enumerate(quoted(names)),
        enumerate(quoted(species))
      ),
      "input"
    )
  }
  order <- match(species, names)
  history$splits <- history$splits[order]
  history$sizes <- history$sizes[order]
  history$into <- match(history$into[order], order, nomatch = 0L)
  history
}

# What calls by a method, an external pointer. The core checks the method as it makes it, which for
# coalescent can take seconds, and reads the model of ml: so this comes before work on sequences.
make_caller <- function(method, with_phred, backend, progress = FALSE, inputs = NULL) {
  with_watch("Making the method", function(watch) {
    make_caller_impl(method, with_phred, backend, watch)
  }, progress, inputs = inputs)
}

check_thresholds_given <- function(high, low) {
  for (name in c("high", "low")) {
    value <- get(name)
    if (!is.numeric(value) || length(value) != 1 || !isTRUE(value >= 0 & value <= 1)) {
      abort_ancify(
        sprintf("`%s` must be a number from 0 to 1, not %s.", name, show_value(value)), "input"
      )
    }
  }
  if (low > high) {
    abort_ancify(sprintf("`low` is %s, above `high`, %s: exchange them.", low, high), "input")
  }
}
