# The registry of calling methods: a row holds all that R knows of a method. Nothing else in R/ asks
# for a method's name.

# help        its paragraph in ?call_ancestral
# core        the method of the core that calls
# arguments   those of call_ancestral() that it takes besides the ones of all methods
# both_tiers  whether both tiers need a species, as it compares them
# tree        whether it needs a tree: "" for none, "topology", or "lengths" for one with lengths
# thresholds  the posterior's thresholds: <thresholds>_high_threshold and _low_threshold are keys of
#             the configuration; NULL for a method without a posterior
# fits        what `estimate: true` fits: "model", "history"
# shown       function(config): what a printed configuration says of it
# check       function(config, origin): adds what is wrong in its keys to the problems of `origin`
# look        function(settings, species): warns of settings that cannot be meant
# given       function(arguments, species): its settings, of the arguments of call_ancestral()
# configured  function(config): its settings besides those of run_settings(), of a configuration
# files       function(config): the files that it reads, named by key; a record has their identities
# to_core     function(settings, species): its own elements for as_method_options()
calling_method <- function(help, core, arguments = character(), both_tiers = FALSE, tree = "",
                           thresholds = NULL, fits = character(),
                           shown = function(config) NULL,
                           check = function(config, origin) NULL,
                           look = function(settings, species) NULL,
                           given = function(arguments, species) NULL,
                           configured = function(config) NULL,
                           files = function(config) NULL,
                           to_core = function(settings, species) NULL) {
  as.list(environment())
}

# A function, as rows name functions of files that R reads later.
calling_methods <- function() {
  list(
    voting = voting_row(), parsimony = parsimony_row(), likelihood = likelihood_row(),
    ml = ml_row(), coalescent = coalescent_row()
  )
}

method_names <- function() names(calling_methods())

# The row of a method's name, or of a configuration's method: NULL where that is not known.
method_row <- function(name) calling_methods()[[name]]

method_of <- function(config) if (!is.null(config$method)) method_row(config$method)

has_posterior <- function(row) !is.null(row$thresholds)

needs_tree <- function(row) nzchar(row$tree)

names_with_posterior <- function() names(Filter(has_posterior, calling_methods()))

# ---- Rows ----------------------------------------------------------------------------------

voting_row <- function() {
  calling_method(
    help = "the consensus of a tier is its most frequent base, ties going to
      the first of A, C, G and T; with fewer votes than the tier's minimum it has
      none. Where both tiers agree the call is that base in upper case; where only
      one has a consensus, its base in lower case; where they differ, `n`; where
      neither has one, `N`.",
    core = "voting", both_tiers = TRUE,
    shown = function(config) {
      sprintf(", fewest votes inner %d, outer %d", config$min_inner_freq, config$min_outer_freq)
    },
    look = function(settings, species) {
      warn_about_minima(
        c(inner = settings$min_inner_freq, outer = settings$min_outer_freq), lengths(species)
      )
    }
  )
}

parsimony_row <- function() {
  calling_method(
    help = "the bases that need the fewest changes on the tree (Fitch 1971;
      Hartigan 1973 for nodes with more than two branches). One base: upper case;
      two or three: the first in lower case; all four: `n`; no data: `N`.",
    core = "parsimony", arguments = c("tree", "focal"), tree = "topology",
    given = given_tree, to_core = tree_to_core
  )
}

likelihood_row <- function() {
  calling_method(
    help = "the posterior of the ancestral base on the tree with its branch
      lengths (Felsenstein 1981), under `model`. Its maximum is called in upper case
      from `high` on, in lower case from `low` on, and else is `n`; no data: `N`.",
    core = "likelihood", arguments = c("tree", "focal", "model"), tree = "lengths",
    thresholds = "likelihood", fits = "model",
    given = function(arguments, species) {
      settings <- given_tree(arguments, species)
      if (!has_lengths(settings$tree)) abort_ancify(lengths_missing, "input")
      c(settings, list(model = check_model(arguments$model %||% "JC69")))
    },
    to_core = function(settings, species) {
      c(tree_to_core(settings, species), list(model = core_model(settings$model)))
    }
  )
}

ml_row <- function() {
  calling_method(
    help = "gradient-boosted trees on the bases at a position and around it, as
      [ancify_train()] makes them.",
    core = "ml", arguments = "model", both_tiers = TRUE, thresholds = "ml",
    given = function(arguments, species) {
      path <- check_path(arguments$model, "model")
      problem <- input_problem("model", path, FALSE)
      if (!is.null(problem)) abort_ancify(problem, "file", file = path)
      list(model_path = path)
    },
    configured = function(config) list(model_path = ml_model_path(config)),
    files = function(config) list(ml_model_path = ml_model_path(config)),
    to_core = function(settings, species) list(model_path = settings$model_path)
  )
}

coalescent_row <- function() {
  calling_method(
    help = "the posterior as of likelihood, but summed over the gene trees that the history makes
      possible, as near relatives' gene trees often differ from the species tree. The
      node called is the most recent common ancestor of the history's focal lineages.
      At most six outgroups; making the table takes about 15 times as long with each.",
    core = "coalescent", arguments = c("history", "model"), thresholds = "likelihood",
    fits = c("model", "history"),
    check = check_history_key,
    given = function(arguments, species) {
      history <- check_history(arguments$history)
      if (!is.null(arguments$model)) history$model <- check_model(arguments$model)
      list(history = history)
    },
    configured = function(config) {
      if (has_history(config)) list(history = config_history(config))
    },
    to_core = function(settings, species) {
      history <- history_of_species(settings$history, species)
      list(history = core_history(history), model = core_mutation_model(history))
    }
  )
}

given_tree <- function(arguments, species) {
  tree <- input_faults(as_phylo(arguments$tree))
  stop_on_tree_problems(tree, species, arguments$focal)
  list(tree = tree, focal = arguments$focal)
}

tree_to_core <- function(settings, species) {
  list(tree = core_tree(settings$tree, species, settings$focal))
}

# ---- For the core ----------------------------------------------------------------------------

# What as_method_options() takes. `species`: list(inner =, outer =), names; `settings`:
# list(min_inner_freq =, min_outer_freq =, high =, low =) and the method's own.
core_method <- function(row, species, settings) {
  c(
    list(
      name = row$core, n_inner = length(species$inner), n_outer = length(species$outer),
      min_inner = as.integer(settings$min_inner_freq),
      min_outer = as.integer(settings$min_outer_freq),
      high = settings$high, low = settings$low
    ),
    row$to_core(settings, c(species$inner, species$outer))
  )
}

# What calls by a method, an external pointer. The core checks the method as it makes it, which for
# coalescent can take seconds, and reads the model of ml: so this comes before work on sequences.
make_caller <- function(method, with_phred, backend, progress = FALSE, inputs = NULL) {
  with_watch("Making the method", function(watch) {
    make_caller_impl(method, with_phred, backend, watch)
  }, progress, inputs = inputs)
}

# Whether devices call so many outgroups by a method.
runs_on_devices <- function(row, n_outgroups) {
  limits <- core_limits()
  n_outgroups <= limits$tabulated || row$core %in% limits$methods_always_on_devices
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

# ---- Arguments -------------------------------------------------------------------------------

# The settings that a method makes of the arguments of call_ancestral() that only some take.
method_arguments <- function(method, arguments, species) {
  row <- method_row(method)
  given <- names(Filter(Negate(is.null), arguments))
  foreign <- setdiff(given, row$arguments)
  if (length(foreign)) {
    abort_ancify(
      sprintf("`method` %s takes no `%s`: leave it out, or choose another method.",
              quoted(method), foreign[1]),
      "input"
    )
  }
  if (!is.null(arguments$focal)) check_focal(arguments$focal, species)
  if (needs_tree(row) && is.null(arguments$tree)) {
    abort_ancify(
      sprintf("`tree` is missing: `method` %s needs one (Newick text, a file with it, a phylo).",
              quoted(method)),
      "input"
    )
  }
  row$given(arguments, species)
}

check_posterior_flag <- function(posterior, method) {
  check_flag(posterior, "posterior")
  if (posterior && !has_posterior(method_row(method))) {
    abort_ancify(
      sprintf(
        "`method` %s has no posterior: set `posterior = FALSE`, or choose one of %s.",
        quoted(method), enumerate(names_with_posterior())
      ),
      "input"
    )
  }
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

# Of tiers, named, the fewest votes and the species.
warn_about_minima <- function(minima, species) {
  for (tier in names(minima)[minima > species[names(minima)]]) {
    warn_ancify(
      sprintf(
        "`min_%s_freq` is %d but the %s tier has %d species: it never has a consensus.",
        tier, as.integer(minima[[tier]]), tier, as.integer(species[[tier]])
      ),
      "voting"
    )
  }
}

# The rows' paragraphs, as a list of roxygen2's markdown.
methods_help <- function() {
  paragraphs <- vapply(calling_methods(), function(row) gsub("\n *", "\n  ", row$help), "")
  paste0("* `\"", names(paragraphs), "\"`: ", paragraphs, collapse = "\n")
}

# Where the model is for training and for calling.
ml_model_path <- function(config) {
  config$ml_model_path %||% file.path(config$work_dir, "ancify_ml_model.lgb")
}
