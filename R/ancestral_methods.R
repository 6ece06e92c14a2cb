# The registry of calling methods. A row holds everything that R knows about a method; other files
# of R/ do not compare method names.

# The call if a rule leaves several bases: n, or the first of A, C, G and T.
tie_rules <- c("open", "alphabet")

# help        paragraph in ?call_ancestral
# core        name of the core's method
# arguments   arguments of call_ancestral() that not all methods take
# both_tiers  TRUE if both tiers need a species
# tree        "" without a tree, "topology", or "lengths" for a tree with branch lengths
# thresholds  prefix of the keys <thresholds>_high_threshold and <thresholds>_low_threshold; NULL
#             for a method without a posterior
# fits        the parts that `estimate: true` fits: "model", "history"
# shown       function(config): text in a printed configuration
# check       function(config, origin): adds problems of its keys to `origin`
# look        function(settings, species): warns of implausible settings
# given       function(arguments, species): settings from the arguments of call_ancestral()
# configured  function(config): settings from a configuration, besides those of run_settings()
# files       function(config): input files, named by key; a run records their identities
# to_core     function(settings, species): the method's elements for as_method_options()
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

# A function, because rows name functions from files that R loads later.
calling_methods <- function() {
  list(
    voting = voting_row(), parsimony = parsimony_row(), likelihood = likelihood_row(),
    ml = ml_row(), coalescent = coalescent_row()
  )
}

method_names <- function() names(calling_methods())

# The row of a method's name, or of a configuration's method; NULL if unknown.
method_row <- function(name) calling_methods()[[name]]

method_of <- function(config) if (!is.null(config$method)) method_row(config$method)

has_posterior <- function(row) !is.null(row$thresholds)

needs_tree <- function(row) nzchar(row$tree)

names_with_posterior <- function() names(Filter(has_posterior, calling_methods()))

# ---- Rows ----------------------------------------------------------------------------------

voting_row <- function() {
  calling_method(
    help = "the consensus of a tier is its most frequent base.
      A base with fewer votes than the tier's minimum is no consensus.
      Both tiers agree: upper case. Only one has a consensus: lower case. They differ, or a
      tie in a tier decides the call: `n` (`ties`). Neither has one: `N`.",
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
      Hartigan 1973 for nodes with more than two branches). One base: upper case.
      Several: `n`, or with `ties = \"alphabet\"` the first of two or three in lower case.
      No data: `N`.",
    core = "parsimony", arguments = c("tree", "focal", "node"), tree = "topology",
    given = given_tree, to_core = tree_to_core
  )
}

likelihood_row <- function() {
  calling_method(
    help = "the base of the largest posterior on the tree with its branch lengths
      (Felsenstein 1981), under `model`. From `high` on: upper case. From `low` on:
      lower case. Below, and if two bases have the same: `n`. No data: `N`.",
    core = "likelihood", arguments = c("tree", "focal", "node", "model"), tree = "lengths",
    thresholds = "likelihood", fits = "model",
    given = function(arguments, species) {
      settings <- given_tree(arguments, species)
      refuse_if(!has_lengths(settings$tree), lengths_missing)
      c(settings, list(model = check_model(arguments$model %||% "JC69")))
    },
    to_core = function(settings, species) {
      c(tree_to_core(settings, species), list(model = core_model(settings$model)))
    }
  )
}

ml_row <- function() {
  calling_method(
    help = "gradient-boosted trees, from the bases at a position and around it.
      [ancify_train()] makes such a model. `high` and `low` are as for likelihood.",
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
    help = "as likelihood, but the posterior sums over all gene trees that `history` allows,
      and so over incomplete lineage sorting. The node called is the most recent common
      ancestor of the history's focal lineages. At most six outgroups; each of them
      multiplies the time of preparation by about 15.",
    core = "coalescent", arguments = c("history", "model", "variants"), thresholds = "likelihood",
    fits = c("model", "history"),
    check = function(config, origin) {
      check_history_key(config, origin)
      check_variants_key(config, origin)
    },
    given = function(arguments, species) {
      history <- check_history(arguments$history)
      if (!is.null(arguments$model)) history$model <- check_model(arguments$model)
      list(history = history)
    },
    configured = function(config) {
      c(if (has_history(config)) list(history = config_history(config)),
        list(variants = known_sites_of(config)))
    },
    files = function(config) {
      c(variants_files(config), Filter(Negate(is.null), config["variant_samples"]))
    },
    to_core = function(settings, species) {
      history <- history_of_species(settings$history, species)
      list(
        history = core_history(history), model = core_mutation_model(history),
        variants = settings$variants
      )
    }
  )
}

# The files of `variants` by source name: one file, or with {chrom} each existing file.
variants_files <- function(config, chromosomes = names(lengths_of_genome(config))) {
  path <- config$variants
  if (is.null(path) || !has_placeholder(path)) {
    return(list(variants = path)[!is.null(path)])
  }
  files <- pattern_files(path, chromosomes)
  as.list(stats::setNames(files, paste("variants of", chromosomes))[!is.na(files)])
}

no_variants_file <- function(name, config) {
  path <- config$variants
  no_pattern_file(name, path, path, names(config$lengths))
}

# The core's settings of known sites; NULL without `variants`.
known_sites_of <- function(config) {
  chromosomes <- names(config$lengths)
  paths <- variants_files(config, chromosomes)
  if (length(paths) == 0) {
    return(NULL)
  }
  core_list(
    "KnownSites",
    paths = unlist(paths, use.names = FALSE), chromosomes = chromosomes,
    samples = if (!is.null(config$variant_samples)) read_keep(config$variant_samples)$id
  )
}

check_variants_key <- function(config, origin) {
  if (is.null(config$variants) && !is.null(config$variant_samples)) {
    add_problem(
      origin, "`variant_samples` is given, but `variants` is not: name the VCF of the samples."
    )
  }
}

given_tree <- function(arguments, species) {
  tree <- input_faults(as_phylo(arguments$tree))
  stop_on_tree_problems(tree, species, arguments$focal)
  input_faults(called_node(tree, arguments$node))
  list(tree = tree, focal = arguments$focal, node = arguments$node)
}

tree_to_core <- function(settings, species) {
  list(tree = core_tree(settings$tree, species, settings$focal, settings$node))
}

# ---- For the core ----------------------------------------------------------------------------

# The argument of as_method_options(). `species`: list(inner =, outer =) of names. `settings`:
# list(min_inner_freq =, min_outer_freq =, ties =, high =, low =) and the method's own.
core_method <- function(row, species, settings) {
  method <- core_list(
    "MethodOptions",
    name = row$core, n_inner = length(species$inner), n_outer = length(species$outer),
    min_inner = settings$min_inner_freq, min_outer = settings$min_outer_freq,
    ties = settings$ties, high = settings$high, low = settings$low, model = NULL, tree = NULL,
    history = NULL, model_path = NULL, variants = NULL
  )
  own <- row$to_core(settings, c(species$inner, species$outer))
  method[names(own)] <- own
  method
}

# A method that can call, as an external pointer. The core checks the settings and reads an ml model
# here, before any work on sequences. For coalescent this can take seconds.
make_caller <- function(method, with_phred, work, verbose = FALSE, inputs = NULL) {
  with_watch("Making the method", function(watch) {
    make_caller_impl(method, with_phred, work, watch)
  }, work$progress, verbose, inputs)
}

# The reason why a GPU cannot make a configuration's calls; NULL if it can.
no_code_on_devices <- function(config) {
  limits <- core_limits()
  row <- method_of(config)
  if (!is.null(config$model_classes) && "model" %in% row$fits) {
    "A model by class has no GPU code: it calls on the CPU"
  } else if (nrow(config$outgroups) > limits$tabulated &&
    !row$core %in% limits$methods_always_on_devices) {
    "The method has no GPU code for so many outgroups: it calls on the CPU"
  }
}

# The history with its splits in the order of the species. Unnamed splits are already in this order.
history_of_species <- function(history, species) {
  names <- names(history$splits)
  if (is.null(names) && length(history$splits) == length(species)) {
    return(history)
  }
  refuse_if(
    is.null(names) || length(names) != length(species) || !setequal(names, species),
    "The history has splits of %s, but the outgroups are %s: give a split for each.",
    if (is.null(names)) {
      count_of(length(history$splits), "outgroup")
    } else {
      enumerate(quoted(names))
    },
    enumerate(quoted(species))
  )
  order <- match(species, names)
  history$splits <- history$splits[order]
  history$sizes <- history$sizes[order]
  history$into <- match(history$into[order], order, nomatch = 0L)
  history
}

# ---- Arguments -------------------------------------------------------------------------------

# A method's settings, from the arguments of call_ancestral() that not all methods take.
method_arguments <- function(method, arguments, species) {
  row <- method_row(method)
  given <- names(Filter(Negate(is.null), arguments))
  foreign <- setdiff(given, row$arguments)
  refuse_if(length(foreign), "`method` %s takes no `%s`: leave it out, or choose another method.",
            quoted(method), foreign[1])
  if (!is.null(arguments$focal)) check_focal(arguments$focal, species)
  refuse_if(needs_tree(row) && is.null(arguments$tree),
            "`tree` is missing: `method` %s needs Newick text, a file with it, or a phylo.",
            quoted(method))
  row$given(arguments, species)
}

# `minima` and `species`: the fewest votes and the species counts, named by tier.
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

# The help of all methods, as a markdown list.
methods_help <- function() {
  paragraphs <- vapply(calling_methods(), function(row) gsub("\n *", "\n  ", row$help), "")
  paste0("* `\"", names(paragraphs), "\"`: ", paragraphs, collapse = "\n")
}

# The path of the model of ml, for training and for calling.
ml_model_path <- function(config) {
  config$ml_model_path %||% file.path(config$work_dir, "ancify_ml_model.lgb")
}
