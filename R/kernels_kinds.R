# The kinds of kernels, and their form for the core.

# The kinds of kernels, a row each:
# words: for print()
# core(kernel, rows, n, name): the kernel of some of its n samples, as a fit keeps it. A list has
#   `parts` and a `kind`. "grm" is for kernels within others: a fit has its variants as components
#   of its genotypes. "blocks" and "records" are made for fits alone.
# by_row: whether core() takes samples with several rows of `data`
# fields(kernel): the list for the core, of a kernel that a fit keeps
# times(kernel, V): the product, if the core does not compute it
# effects(kernel, factors, variance, response): effects of variants, if the kernel has any
kernel_kinds <- function() {
  row <- function(words, core = NULL, fields = NULL, times = NULL, effects = NULL,
                  by_row = FALSE) {
    list(words = words, core = core, fields = fields, times = times, effects = effects,
         by_row = by_row)
  }
  list(
    grm = row("of genotypes", core_grm, grm_fields),
    matrix = row(
      "a matrix", core_matrix, function(kernel) core_list("MatrixKernel", matrix = kernel),
      function(kernel, V) kernel$matrix %*% V # nolint: object_name_linter.
    ),
    sparse = row("a sparse matrix", core_sparse, sparse_fields),
    products = row(
      "a function", core_products, products_fields,
      function(kernel, V) products_of(kernel$products, V) # nolint: object_name_linter.
    ),
    weighted = row(
      "of weighted blocks", core_weighted, weighted_fields, effects = weighted_effects
    ),
    admixture = row("by ancestry", core_admixture, admixture_fields),
    dominance = row("of dominance", core_dominance, dominance_fields),
    groups = row("of groups", core_groups, groups_fields, by_row = TRUE),
    interaction = row("an interaction", core_interaction, interaction_fields, by_row = TRUE),
    blocks = row("within groups", fields = blocks_fields),
    product = row("a product of entries", core_product, product_fields, by_row = TRUE),
    records = row("of records", fields = records_fields)
  )
}

# The problem of a model for the core. Fields that the model lacks have the core's defaults.
# `settings`: list(work =, kept = the store of dense kernels, or none).
kernel_problem <- function(model, settings) {
  weights <- model$weights
  core_list(
    "RemlProblem",
    y = model$y, x = model$x, names = model$names, residual_shares = model$residual_shares,
    genotypes = if (!is.null(model$genotypes)) core_genotypes(model$genotypes),
    weights = if (!is.null(weights)) {
      core_list(
        "ComponentWeights",
        variant = weights$variant - 1, component = weights$component - 1L, weight = weights$weight
      )
    },
    n_genetic = model$n_genetic, scale_power = model$scale_power,
    individuals = if (!is.null(model$individuals)) model$individuals - 1L,
    kernel_scales = model$kernel_scales, even_diagonal = model$even_diagonal,
    kernels = lapply(unname(model$kernels), kernel_for_core),
    control = model$control, work = settings$work, kept = settings$kept
  )
}

# K V of a component of a model.
core_times <- function(model, V, component, work) { # nolint: object_name_linter.
  model$y <- numeric(nrow(V))
  problem <- kernel_problem(model, list(work = work))
  with_watch("Multiplying", function(watch) kernel_times_impl(problem, V, component - 1L, watch))
}

# A model of one kernel.
model_of_kernel <- function(kernel, n) {
  if (kernel$kind != "grm") {
    return(list(kernels = list(core_kernel(kernel, seq_len(n), n, "kernel"))))
  }
  m <- ncol(kernel$genotypes)
  list(
    genotypes = kernel$genotypes, n_genetic = 1, scale_power = kernel$scale_power,
    weights = list(variant = seq_len(m), component = rep(1L, m), weight = rep(1, m))
  )
}

# The kernel of some of its samples, as a fit keeps it: a matrix, or a list. `rows`: a sample with
# several rows of `data` is there several times.
core_kernel <- function(kernel, rows, n, name) {
  kind <- kernel_kinds()[[kernel$kind]]
  if (kind$by_row || !anyDuplicated(rows)) {
    return(kind$core(kernel, rows, n, name))
  }
  records_of_kernel(kind$core(kernel, unique(rows), n, name), rows)
}

# The same kernel in the form that the core takes.
kernel_for_core <- function(kernel) {
  kind <- kernel_kind(kernel) %||% "matrix"
  core_list("OtherKernel", kind = kind, fields = kernel_kinds()[[kind]]$fields(kernel))
}

core_matrix <- function(kernel, rows, n, name) unname(kernel$matrix[rows, rows, drop = FALSE])

core_products <- function(kernel, rows, n, name) {
  if (identical(rows, seq_len(n))) {
    return(list(
      kind = "products",
      products = function(V) products_of(kernel$products, V), # nolint: object_name_linter.
      trace = sum(kernel$trace)
    ))
  }
  refuse_if(
    length(kernel$trace) == 1,
    paste("Samples are dropped, so the kernel %s needs its diagonal as `trace`: give a number for",
          "each of the %s samples."), quoted(name), format_count(n)
  )
  list(
    kind = "products",
    products = function(V) { # nolint: object_name_linter.
      whole <- matrix(0, n, ncol(V))
      whole[rows, ] <- V
      products_of(kernel$products, whole)[rows, , drop = FALSE]
    },
    trace = sum(kernel$trace[rows])
  )
}

products_fields <- function(kernel) {
  core_list("ProductsKernel", products = kernel$products, trace = kernel$trace)
}

# Names of further kernels that contain variants on chromosomes of `g`.
kernels_of_variants <- function(fit, g) {
  is_there <- function(kernel) {
    if (is.null(kernel$genotypes)) {
      return(FALSE)
    }
    names <- comparable_chromosomes(kernel$genotypes, g)
    any(names[[1]] %in% names[[2]])
  }
  names(Filter(function(kernel) any(vapply(all_parts(kernel), is_there, NA)), fit$kernels))
}

# ---- Kernels of kernels --------------------------------------------------------------------------

core_interaction <- function(kernel, rows, n, name) {
  refuse_without_values(kernel)
  inner <- core_kernel(kernel$kernel, rows, n, name)
  values <- kernel$values
  if (is.numeric(values)) {
    return(list(kind = "interaction", parts = kernel$parts, kernel = inner,
                values = as.double(values)))
  }
  refuse_if(!(is.factor(values) || is.character(values) || is.logical(values)),
            "%s must have numbers or labels, as the environment of the kernel %s.",
            quoted(kernel$column), quoted(name))
  list(kind = "blocks", parts = kernel$parts, kernel = inner,
       groups = match(values, unique(values)))
}

interaction_fields <- function(kernel) {
  core_list("InteractionKernel", kernel = kernel_for_core(kernel$kernel), values = kernel$values)
}

blocks_fields <- function(kernel) {
  core_list("BlocksKernel", kernel = kernel_for_core(kernel$kernel), groups = kernel$groups - 1L)
}

core_product <- function(kernel, rows, n, name) {
  of <- function(k) {
    if (is.null(k$ids)) {
      return(core_kernel(k, rows, n, name))
    }
    core_kernel(k, match(kernel$ids[rows], k$ids), length(k$ids), name)
  }
  list(kind = "product", one = of(kernel$one), other = of(kernel$other))
}

product_fields <- function(kernel) {
  core_list("ProductOfKernels", one = kernel_for_core(kernel$one),
            other = kernel_for_core(kernel$other))
}

# The kernel of kernel_grm() within another.
core_grm <- function(kernel, rows, n, name) {
  list(kind = "grm", genotypes = kernel$genotypes[rows, ], scale_power = kernel$scale_power)
}

grm_fields <- function(kernel) {
  core_list(
    "GrmKernel", genotypes = core_genotypes(kernel$genotypes), scale_power = kernel$scale_power
  )
}

# `kernel`: as a fit keeps it, of the samples unique(rows).
records_of_kernel <- function(kernel, rows) {
  list(kind = "records", parts = if (is.list(kernel)) kernel$parts, kernel = kernel,
       individuals = match(rows, unique(rows)), n = length(unique(rows)))
}

records_fields <- function(kernel) {
  core_list(
    "RecordsKernel",
    kernel = kernel_for_core(kernel$kernel), individuals = kernel$individuals - 1L, n = kernel$n
  )
}
