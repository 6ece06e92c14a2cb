# The input of the core for a fit: genotypes with weights by component, and other kernels.

# Components and kernels before samples are chosen. Gives a list:
# names: of all components; n_genetic: the number of those that genotypes and components make
# genotypes: the variants in a component, or NULL; uncovered: the number of those in none
# weights: a table of variant, component and weight; scale_power
# environmental: names of those that are groups of samples, and not genetic
# chromosomes: those in the components; left_out: numbers of variants of others, by chromosome
# alternatives: whether weights are probabilities of components that exclude each other
# kernels: the other kernels
reml_model <- function(genotypes, components, kernels, overlap, chromosomes = "autosomes") {
  kernels <- check_kernels(kernels)
  of_genotypes <- vapply(kernels, function(kernel) kernel$kind == "grm", NA)
  components <- checked_components(genotypes, components, overlap)
  left_out <- NULL
  if (!is.null(genotypes)) {
    genotypes <- with_copies_by_sex(genotypes)
    stays <- on_chromosomes(genotypes, chromosomes)
    used <- seq_along(stays) %in% components$table$variant
    check_any_on(used, stays, genotypes, chromosomes)
    before <- components$names
    components <- components_where(components, stays)
    warn_of_no_variants(setdiff(before, components$names), chromosomes)
    left_out <- count_by_chromosome(genotypes, !stays)
  }
  sets <- c(
    if (!is.null(genotypes)) genotype_sets(genotypes, components),
    lapply(kernels[of_genotypes], function(kernel) {
      n <- ncol(kernel$genotypes)
      list(genotypes = kernel$genotypes, rows = seq_len(n), weight = rep(1, n),
           scale_power = kernel$scale_power)
    })
  )
  others <- Map(component_names, kernels[!of_genotypes], names(kernels)[!of_genotypes])
  names <- c(names(sets), unlist(others, use.names = FALSE))
  check_component_names(names)
  c(
    list(names = names, n_genetic = length(sets), kernels = kernels[!of_genotypes],
         environmental = unlist(others[vapply(names(others), function(name) {
           is_environmental(kernels[[name]])
         }, NA)], use.names = FALSE),
         alternatives = isTRUE(components$alternatives), chromosomes = chromosomes,
         left_out = left_out),
    joined_sets(sets, if (!is.null(genotypes)) genotypes$variant_index[stays])
  )
}

warn_of_no_variants <- function(components, chromosomes) {
  if (length(components)) {
    warn_ancify(
      sprintf("%s left out, without a variant of %s: %s. To choose: `chromosomes = \"all\"`.",
              count_with_verb(length(components), "component", "is", "are"),
              enumerate(chromosomes), enumerate(quoted(components))),
      "components"
    )
  }
}

check_kernels <- function(kernels) {
  if (inherits(kernels, "reml_kernel")) kernels <- list(kernels)
  if (is.null(kernels)) {
    return(list())
  }
  must_be(is.list(kernels), kernels, "kernels", "a list of kernels, such as kernel_matrix() makes")
  names <- names(kernels) %||% rep("", length(kernels))
  names[!nzchar(names)] <- paste0("kernel", seq_along(names))[!nzchar(names)]
  for (i in seq_along(kernels)) check_kernel(kernels[[i]], sprintf("kernels$%s", names[i]))
  stats::setNames(kernels, names)
}

check_component_names <- function(names) {
  refuse_if(length(names) == 0, "There is no genetic component: give `genotypes`, or `kernels`.")
  refuse_if(anyNA(names) || !all(nzchar(names)), "A component has no name: name every component.")
  meaning <- ifelse(is_residual(names), "a residual", ifelse(
    names == "h2", "the heritability", ifelse(duplicated(names), "two components", NA)
  ))
  bad <- which(!is.na(meaning))
  refuse_if(length(bad), "The name %s stands for %s: choose another.", quoted(names[bad[1]]),
            meaning[bad[1]])
}

checked_components <- function(genotypes, components, overlap) {
  if (is.null(genotypes)) {
    refuse_if(!is.null(components), "`components` are sets of variants, so they need `genotypes`.")
    return(NULL)
  }
  check_genotypes(genotypes, "genotypes")
  components_on(components, genotypes, overlap)
}

# For each component its variants (indices in its genotypes) and their weights.
genotype_sets <- function(genotypes, components) {
  parts <- split(components$table, factor(components$table$component, seq_along(components$names)))
  sets <- lapply(parts, function(part) {
    list(genotypes = genotypes, rows = part$variant, weight = part$weight,
         scale_power = components$scale_power %||% -1)
  })
  stats::setNames(sets, components$names)
}

# One matrix of genotypes, with variants in the order of the file, and the weights of all sets.
# `covered`: indices of the variants that components should cover.
joined_sets <- function(sets, covered) {
  if (length(sets) == 0) {
    return(list(
      genotypes = NULL, scale_power = -1, uncovered = 0,
      weights = data.frame(variant = integer(), component = integer(), weight = double())
    ))
  }
  base <- sets[[1]]$genotypes
  powers <- unique(vapply(sets, `[[`, 0, "scale_power"))
  refuse_if(
    length(powers) > 1,
    "The kernels have the scale powers %s, but a fit has one. Those of `components` have -1.",
    enumerate(vapply(powers, number_text, ""))
  )
  for (name in names(sets)) check_same_samples(sets[[name]]$genotypes, base, name)
  index <- lapply(sets, function(set) set$genotypes$variant_index[set$rows])
  # Naming so many values would take longer than the rest of this function.
  numbers <- unlist(index, use.names = FALSE)
  all <- sort(unique(numbers))
  weights <- data.frame(
    variant = match(numbers, all), component = rep(seq_along(sets), lengths(index)),
    weight = unlist(lapply(sets, `[[`, "weight"), use.names = FALSE)
  )
  list(
    genotypes = with_variants(sets, index, all), scale_power = powers,
    weights = weights[order(weights$variant, weights$component), ],
    uncovered = sum(!covered %in% all)
  )
}

check_same_samples <- function(g, base, name) {
  refuse_if(
    !identical(g$path, base$path) || !identical(g$sample_index, base$sample_index),
    paste("The kernel %s has other genotypes or samples than the first component. Make all from",
          "the same samples of one open_genotypes(), or give this one by kernel_matrix()."),
    quoted(name)
  )
}

# The genotypes of these variants, which may be spread over several subsets of one file.
with_variants <- function(sets, index, all) {
  g <- sets[[1]]$genotypes
  if (all(all %in% g$variant_index)) {
    return(g[, match(all, g$variant_index)])
  }
  rows <- do.call(rbind, lapply(sets, function(set) set$genotypes$variants[set$rows, ]))
  rows <- rows[match(all, unlist(index, use.names = FALSE)), ]
  rownames(rows) <- NULL
  g$variants <- rows
  g$variant_index <- all
  g
}

# ---- Samples -------------------------------------------------------------------------------------

# Chooses the samples of a model. Returns the result of analysis_samples() and the model, whose
# genotypes and kernels have these samples. `unmatched`: ids of samples not in kernels. `family`,
# `several`: as for analysis_samples(). `residual`: the column of the residual's groups. If samples
# have several rows of `data`, `individuals` is each row's sample among those of the genotypes.
model_on_samples <- function(model, formula, data, id, family = NULL, several = FALSE,
                             residual = NULL) {
  repeated <- takes_records(model$kernels, id)
  order <- model$genotypes$samples$id %||% common_order(model$kernels) %||%
    unique(sample_ids(data, id, repeated))
  in_kernels <- rep(TRUE, length(order))
  for (name in names(model$kernels)) {
    kernel <- model$kernels[[name]]
    if (!is.null(kernel$ids)) {
      in_kernels <- in_kernels & order %in% kernel$ids
    } else if (!kernel$n %in% c(NA, length(order))) {
      refuse_input("The kernel %s has %s without names, but there are %s: give row names.",
                   quoted(name), count_of(kernel$n, "sample"), format_count(length(order)))
    }
  }
  g <- model$genotypes
  groups <- unique(c(unlist(lapply(unname(model$kernels), kernel_columns)), residual))
  check_columns(groups, data)
  samples <- analysis_samples(formula, data, id, order[in_kernels], family, several,
                              groups, repeated)
  whole <- if (is.null(g)) unique(samples$all_ids) else order
  samples$unmatched <- setdiff(whole, order[in_kernels])
  samples$dropped <- c(
    "not in keep" = length(g$file_ids) - length(g$samples$id),
    "not in genotypes" = if (is.null(g)) 0 else sum(!samples$all_ids %in% g$file_ids),
    samples$dropped,
    "not in kernels" = sum(!whole %in% order[in_kernels])
  )
  at <- which(in_kernels)[samples$at]
  used <- data[samples$rows, , drop = FALSE]
  check_no_infinite(groups, used, samples$ids)
  samples[c("at", "all_ids", "rows")] <- NULL
  if (anyDuplicated(at)) model$individuals <- match(at, unique(at))
  if (!is.null(g)) model$genotypes <- g[unique(at), ]
  model$kernels <- Map(function(kernel, name) {
    rows <- if (is.null(kernel$ids)) at else match(samples$ids, kernel$ids)
    core_kernel(with_column_values(kernel, used), rows, length(kernel$ids %||% order), name)
  }, model$kernels, names(model$kernels))
  model$residual_groups <- if (!is.null(residual)) residual_groups(used[[residual]], residual)
  c(samples, model)
}

# The ids of the first kernel. NULL if a kernel has no names: it must then be in the order of the
# data. Groups of `data` have any order.
common_order <- function(kernels) {
  ids <- lapply(Filter(Negate(is_environmental), unname(kernels)), `[[`, "ids")
  if (length(ids) && all(lengths(ids) > 0)) ids[[1]]
}

# Warns of data that a model accepts but that are often a mistake. `genotypes`: the argument.
warn_of_model <- function(model, genotypes, work) {
  if (!is_binary(model)) {
    warn_of_few_values(model$y, response_name(model$terms), two_values_fitted)
  }
  warn_of_variants(model, genotypes, work)
}

warn_of_variants <- function(model, genotypes, work) {
  if (!is.null(genotypes)) {
    warn_of_sex_chromosomes(model$genotypes, "are in the components")
    warn_of_haploid_calls(model$genotypes, work)
  }
}

# ---- For the core --------------------------------------------------------------------------------

# `model`: as from model_on_samples(), or a fit, with its `control`. `settings`: as for
# kernel_problem().
core_problem <- function(model, settings) {
  model$names <- c(model$names, residual_names(model))
  model$residual_shares <- dividing_kernel(model)$shares
  if (!is.null(model$control)) model$control <- control_list(model$control)
  kernel_problem(model, settings)
}
