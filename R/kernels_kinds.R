# The kinds of kernels, and their form for the core.

# The kinds of kernels, a row each:
# words: for print()
# core(kernel, rows, n, name): the kernel of some of its n samples, as a fit keeps it. A list has
#   `parts` and a `kind`, which the core's table knows too. "grm" needs no function: its variants
#   become components of the fit's genotypes.
# times(kernel, V): the product, if the core does not compute it
# effects(kernel, factors, variance, response): effects of variants, if the kernel has any
kernel_kinds <- function() {
  row <- function(words, core = NULL, times = NULL, effects = NULL) {
    list(words = words, core = core, times = times, effects = effects)
  }
  list(
    grm = row("of genotypes"),
    matrix = row(
      "a matrix", core_matrix,
      function(kernel, V) kernel$matrix %*% V # nolint: object_name_linter.
    ),
    products = row(
      "a function", core_products,
      function(kernel, V) products_of(kernel$products, V) # nolint: object_name_linter.
    ),
    weighted = row("of weighted blocks", core_weighted, effects = weighted_effects),
    admixture = row("by ancestry", core_admixture)
  )
}

# K V of a component of a problem.
core_times <- function(problem, V, component, work) { # nolint: object_name_linter.
  problem$work <- work
  with_watch("Multiplying", function(watch) kernel_times_impl(problem, V, component - 1L, watch))
}

# A problem of one kernel without a response.
kernel_problem <- function(kernel, n) {
  if (kernel$kind != "grm") {
    of_core <- core_kernel(kernel, seq_len(n), n, "kernel")
    return(list(y = numeric(n), genotypes = NULL, kernels = list(with_core_genotypes(of_core))))
  }
  m <- ncol(kernel$genotypes)
  list(
    genotypes = core_genotypes(kernel$genotypes),
    weights = list(variant = seq_len(m) - 1, component = integer(m), weight = rep(1, m)),
    n_genetic = 1L, scale_power = kernel$scale_power, kernels = list()
  )
}

# The kernel of some of its samples, as a fit keeps it: a matrix, or a list.
core_kernel <- function(kernel, rows, n, name) {
  kernel_kinds()[[kernel$kind]]$core(kernel, rows, n, name)
}

# The same kernel, with genotypes in the form that the core takes.
with_core_genotypes <- function(kernel) {
  if (is.list(kernel) && !is.null(kernel$genotypes)) {
    kernel$genotypes <- core_genotypes(kernel$genotypes)
  }
  kernel
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

# Names of further kernels that contain variants on chromosomes of `g`.
kernels_of_variants <- function(fit, g) {
  is_there <- function(kernel) {
    if (!is.list(kernel) || is.null(kernel$genotypes)) {
      return(FALSE)
    }
    names <- comparable_chromosomes(kernel$genotypes, g)
    any(names[[1]] %in% names[[2]])
  }
  names(Filter(is_there, fit$kernels))
}
