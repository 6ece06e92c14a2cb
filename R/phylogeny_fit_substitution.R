# Fits substitution models to counts of site patterns.

fit_model <- function(counts, tree, model, base_freqs, work) {
  tree <- ape::collapse.singles(tree)
  if (base_freqs == "empirical" && has_frequencies(model$name)) {
    model$base_freqs <- empirical_frequencies(counts)
  }
  likelihood <- pattern_likelihood_impl(
    core_tree(tree, counts$species, counts$focal), length(counts$species),
    counts$patterns, counts$counts
  )
  space <- parameter_space(tree, model, base_freqs == "ml")
  slope <- slope_of(likelihood, space, work)
  sites <- sum(counts$counts)
  value <- function(x) {
    at <- space$point(x)
    log_likelihood_impl(likelihood, at$lengths, at$model, work)
  }
  # Per site, so that tolerances do not depend on the genome's length.
  search <- function(start) {
    stats::nlminb(
      start, function(x) -value(x) / sites, function(x) -slope(x)$gradient / sites,
      lower = space$lower, upper = space$upper,
      control = list(iter.max = 1000, eval.max = 2000, rel.tol = 1e-14, x.tol = 1e-9, sing.tol = 0)
    )
  }
  tries <- lapply(space$starts, search)
  found <- tries[[which.min(vapply(tries, `[[`, 0, "objective"))]]
  # The last steps gain less than double precision resolves, so nlminb may not report convergence.
  gradient <- slope(found$par)$gradient
  converged <- found$convergence == 0 ||
    at_rest(gradient, found$par, space, sites)
  if (!converged) warn_ancify(paste("The fit did not converge:", found$message), "fit")
  fitted <- space$natural(found$par)
  structure(
    list(
      tree = fitted$tree, model = fitted$model, log_likelihood = value(found$par),
      df = length(space$start) + 3 * (base_freqs == "empirical" && has_frequencies(model$name)),
      sites = sites, focal = counts$focal,
      estimates = estimate_table(found$par, space, slope),
      converged = converged, message = found$message
    ),
    class = "ancify_fit"
  )
}

# Whether the gradient is below 1, or below double precision for this number of sites.
at_rest <- function(gradient, x, space, sites) {
  free <- x > space$lower + 1e-6 & x < space$upper - 1e-6
  all(abs(gradient[free]) < max(1, 1e-8 * sites))
}

empirical_frequencies <- function(counts) {
  bases <- strsplit(counts$patterns, "", fixed = TRUE)
  weights <- rep(counts$counts, lengths(bases))
  all <- factor(unlist(bases), rate_labels$base)
  totals <- tapply(weights, all, sum, default = 0)
  refuse_if(any(totals == 0),
            "No species has %s, so the counts give no base frequencies: take another model.",
            enumerate(names(totals)[totals == 0]))
  structure(as.numeric(totals / sum(totals)), names = rate_labels$base)
}

# ---- By class of neighbours -------------------------------------------------------------

# The fit to all sites. If the model has classes, these are fitted too, and added to the fitted
# model; the fit also has a table of them.
fit_in_classes <- function(patterns, tree, model, base_freqs, species, focal, work) {
  fit_of <- function(patterns, model) {
    counts <- counts_for_tree(patterns, tree, species, focal)
    fit_model(counts, tree, model, base_freqs, work)
  }
  in_classes <- if (!is.null(model$classes)) patterns_by_class(patterns)
  fit <- fit_of(patterns, without_classes(model))
  if (is.null(in_classes)) {
    return(fit)
  }
  parts <- Map(function(name, patterns) {
    naming_class(name, fit_of(patterns, fit$model))
  }, neighbour_classes, in_classes)
  length_of <- function(fit) sum(fit$tree$edge.length)
  rates <- vapply(parts, length_of, 0) / length_of(fit)
  fit$model$classes <- Map(function(part, rate) with_rate(part$model, rate), parts, rates)
  fit$classes <- data.frame(
    neighbours = neighbour_classes, sites = vapply(parts, `[[`, 0, "sites"), rate = rates,
    log_likelihood = vapply(parts, `[[`, 0, "log_likelihood"), row.names = NULL
  )
  fit$converged <- fit$converged && all(vapply(parts, `[[`, NA, "converged"))
  fit
}

# The patterns of each class.
patterns_by_class <- function(patterns) {
  neighbours <- patterns$neighbours
  refuse_if(
    is.null(neighbours) || !all(neighbours %in% neighbour_classes),
    paste("The model has rates by class, but `patterns` lacks classes in a column `neighbours`:",
          "count them by `count_patterns(by = \"cpg\")`.")
  )
  empty <- setdiff(neighbour_classes, neighbours[patterns$count > 0])
  refuse_if(length(empty),
            "No site is of class %s: count more sites, or fit a model without classes.",
            enumerate(quoted(empty)))
  lapply(neighbour_classes, function(name) {
    here <- neighbours == name
    structure(
      data.frame(pattern = patterns$pattern[here], count = patterns$count[here]),
      species = attr(patterns, "species"), focal = attr(patterns, "focal")
    )
  })
}

# Names the class in errors and warnings: it may lack, for example, a base that other sites have.
naming_class <- function(name, code) {
  in_class <- function(condition) {
    sprintf("In the sites of class %s: %s", quoted(name), conditionMessage(condition))
  }
  withCallingHandlers(
    tryCatch(code, ancify_input_error = function(condition) {
      abort_ancify(in_class(condition), "input")
    }),
    ancify_fit_warning = function(condition) {
      warn_ancify(in_class(condition), "fit")
      tryInvokeRestart("muffleWarning")
    }
  )
}

# ---- Parameters ----------------------------------------------------------------------

# All parameters are logarithms, or the logit of the share of invariant sites, so they stay in
# range. Gives named start, lower and upper; point(x) for the core; natural(x), a list(tree =,
# model =); values(x) on the natural scale.
parameter_space <- function(tree, model, fit_frequencies) {
  branches <- free_branches(tree)
  start <- c(branches$start, rate_start(model, fit_frequencies))
  n_branches <- length(branches$start)
  kind <- c(rep("length", n_branches), sub(" .*", "", names(start)[-seq_len(n_branches)]))
  bounds <- list(
    length = log(c(1e-8, 20)), kappa = log(c(1e-3, 1e4)), rate = log(c(1e-5, 1e5)),
    frequency = log(c(1e-5, 1e5)), alpha = log(c(0.02, 200)), invariant = c(-12, 12)
  )
  bound <- function(which) vapply(kind, function(one) bounds[[one]][which], 0, USE.NAMES = FALSE)
  within <- function(x) pmin(pmax(x, bound(1)), bound(2))
  natural <- function(x) {
    fitted <- branches$with_lengths(exp(x[kind == "length"]))
    list(tree = fitted, model = with_rates(model, x, kind))
  }
  list(
    start = within(start), starts = several_starts(within(start)), lower = bound(1),
    upper = bound(2), natural = natural,
    point = function(x) {
      at <- natural(x)
      likelihood_point(at$tree, at$model)
    },
    values = function(x) natural_values(x, kind)
  )
}

likelihood_point <- function(tree, model) {
  lengths <- branch_lengths(tree)
  core_list(
    "LikelihoodPoint",
    lengths = replace(lengths, is.na(lengths), 0), model = core_model(model)
  )
}

# Gamma rates with many slow sites resemble invariant sites. With both fitted, the likelihood can
# have two maxima.
several_starts <- function(start) {
  both <- c("alpha", "invariant")
  if (!all(both %in% names(start))) {
    return(list(start))
  }
  list(start, replace(start, both, c(log(10), 0)))
}

# The branches; the two at a binary root count as one.
free_branches <- function(tree) {
  lengths <- if (has_lengths(tree)) tree$edge.length else rep(0.1, nrow(tree$edge))
  root <- which(tree$edge[, 1] == length(tree$tip.label) + 1)
  free <- seq_len(nrow(tree$edge))
  share <- rep(1, nrow(tree$edge))
  if (length(root) == 2) {
    free[root[2]] <- root[1]
    total <- sum(lengths[root])
    share[root] <- if (total > 0) lengths[root] / total else 0.5
    lengths[root] <- total
  }
  distinct <- unique(free)
  names <- vapply(distinct, function(edge) branch_name(tree, edge, root), "")
  list(
    start = structure(log(pmax(lengths[distinct], 1e-6)), names = names),
    with_lengths = function(values) {
      tree$edge.length <- unname(values)[match(free, distinct)] * share
      tree
    }
  )
}

branch_name <- function(tree, edge, root) {
  ends <- if (length(root) == 2 && edge %in% root) root else edge
  below <- vapply(tree$edge[ends, 2], function(node) clade_text(tree, node), "")
  paste("length", paste(below, collapse = " to "))
}

rate_start <- function(model, fit_frequencies) {
  relative <- function(values, prefix) {
    last <- length(values)
    structure(log(values[-last] / values[last]), names = paste(prefix, names(values)[-last]))
  }
  c(
    if (has_kappa(model$name)) c(kappa = log(model$kappa)),
    if (model$name == "GTR") relative(model$rates, "rate"),
    if (fit_frequencies && has_frequencies(model$name)) relative(model$base_freqs, "frequency"),
    if (!is.null(model$alpha)) c(alpha = log(model$alpha)),
    if (model$invariant > 0) c(invariant = stats::qlogis(model$invariant))
  )
}

with_rates <- function(model, x, kind) {
  one <- function(which) unname(x[kind == which])
  rates <- model$rates
  if (any(kind == "rate")) rates[] <- exp(c(one("rate"), 0))
  frequencies <- model$base_freqs
  if (any(kind == "frequency")) frequencies[] <- scaled_parameters(exp(c(one("frequency"), 0)))
  new_model(
    model$name, if (any(kind == "kappa")) exp(one("kappa")) else model$kappa, frequencies, rates,
    if (any(kind == "alpha")) exp(one("alpha")) else model$alpha, model$n_rates,
    if (any(kind == "invariant")) stats::plogis(one("invariant")) else model$invariant
  )
}

scaled_parameters <- function(x) x / sum(x)

# Each base frequency depends on all three parameters.
natural_values <- function(x, kind) {
  values <- exp(x)
  logits <- c(x[kind == "frequency"], 0)
  values[kind == "frequency"] <- utils::head(scaled_parameters(exp(logits)), -1)
  values[kind == "invariant"] <- stats::plogis(x[kind == "invariant"])
  values
}

# ---- Derivatives ------------------------------------------------------------------------

# list(value =, gradient =) at x, by central differences.
slope_of <- function(likelihood, space, work, step = 1e-4) {
  function(x) {
    moved <- function(by) {
      lapply(seq_along(x), function(i) space$point(replace(x, i, x[[i]] + by)))
    }
    around <- core_list(
      "LikelihoodPoints",
      up = moved(step), down = moved(-step), steps = rep(2 * step, length(x))
    )
    log_likelihood_gradient_impl(likelihood, space$point(x), around, work)
  }
}
