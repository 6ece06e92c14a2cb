#' Kernels of a REML fit
#'
#' A kernel says how alike the samples are for one genetic component. [fit_reml()] makes those of
#' `genotypes` and `components` itself. These functions make others, for its argument `kernels`.
#'
#' @details
#' | Function | Kernel |
#' | --- | --- |
#' | `kernel_grm()` | sum over variants of z z' / c, never held as a matrix |
#' | `kernel_matrix()` | a matrix that you have |
#' | `kernel_products()` | a function that gives its products with vectors |
#' | [kernel_weighted()] | sum over blocks of variants of Z W Z' / c |
#' | [kernel_admixture()] | the kernel of genotypes, by ancestry |
#'
#' **Scale.** A column z has a variant's genotypes minus their mean, times v^(`scale_power` / 2),
#' where v is their population variance. A missing call is 0 there, and c is the sum of v^(1 +
#' `scale_power`). So -1 gives each variant the same weight, as GCTA does; 0 gives VanRaden's
#' kernel.
#'
#' **Samples.** A kernel of genotypes or with row names finds its samples by their ids. Any other
#' has the samples in the order of the fit's genotypes, or without these of its `data`.
#'
#' @param g Genotypes, from [open_genotypes()].
#' @param variants Variants of the kernel, as in `g[, variants]`. `NULL` (the default): all.
#' @param scale_power Power of the variance in the scale, -1 by default.
#' @param K A symmetric matrix without negative eigenvalues, with a row for each sample. Row names
#'   are ids of samples.
#' @param f A function. `f(V)` gives the kernel times V, a matrix with a row for each sample.
#' @param trace The sum of the kernel's diagonal. Or its diagonal, a number for each sample, which
#'   a fit needs that drops samples.
#' @param kernel One of these kernels.
#' @param V A matrix with a row for each sample, or a vector.
#' @param component Name of the component, for a kernel that has several. `NULL` (the default) is
#'   for one that has not.
#' @inheritParams fit_reml
#' @return A list of class `reml_kernel`. `kernel_times()`: a matrix of the size of `V`.
#' @section Errors:
#' * `ancify_input_error`: a matrix is not square, not symmetric or not finite, or its names differ
#'   between rows and columns. The message names the samples.
#' * `ancify_input_error`: `trace` is not above 0, `V` has another number of rows, or the kernel has
#'   no such `component`.
#' * `ancify_file_error`, `ancify_format_error`: the genotypes cannot be read.
#' @references
#' Yang, Lee, Goddard and Visscher (2011) GCTA: a tool for genome-wide complex trait analysis.
#' American Journal of Human Genetics 88:76.
#'
#' VanRaden (2008) Efficient methods to compute genomic predictions. Journal of Dairy Science
#' 91:4414.
#' @seealso [fit_reml()], [kernel_weighted()], [kernel_admixture()]
#' @name kernels
#' @examples
#' families <- rep(1:20, each = 5)
#' K <- outer(families, families, "==") + 0
#' kernel_times(kernel_matrix(K), 1:100)[1:6]
#'
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' fit_reml(y ~ 1, data, kernels = list(family = kernel_matrix(K)), threads = 1)
NULL

#' @rdname kernels
#' @export
kernel_grm <- function(g, variants = NULL, scale_power = -1) {
  check_given()
  check_genotypes(g, "g")
  check_scale_power(scale_power)
  if (!is.null(variants)) g <- g[, variants]
  new_kernel("grm", g$samples$id, nrow(g), genotypes = g, scale_power = scale_power)
}

#' @rdname kernels
#' @export
kernel_matrix <- function(K) { # nolint: object_name_linter. The letter of the model's equation
  check_given()
  K <- check_kernel_matrix(K)
  new_kernel("matrix", rownames(K), nrow(K), matrix = K)
}

#' @rdname kernels
#' @export
kernel_products <- function(f, trace) {
  check_given()
  if (!is.function(f)) {
    abort_ancify(sprintf("`f` must be a function of a matrix, not %s.", show_value(f)), "input")
  }
  check_positive(trace, "trace")
  n <- if (length(trace) > 1) length(trace) else NA
  new_kernel("products", NULL, n, products = f, trace = trace)
}

#' @rdname kernels
#' @export
kernel_times <- function(kernel, V, component = NULL, # nolint: object_name_linter
                         threads = NULL, memory = NULL) {
  check_given()
  check_kernel(kernel, "kernel")
  V <- as.matrix(V)
  if (!is.numeric(V) || !all(is.finite(V))) {
    abort_ancify("`V` must be a matrix of finite numbers.", "input")
  }
  if (!kernel$n %in% c(NA, nrow(V))) {
    abort_ancify(
      sprintf("`V` has %s rows, but the kernel has %s.", format_count(nrow(V)),
              count_of(kernel$n, "sample")),
      "input"
    )
  }
  component <- chosen_component(kernel, component)
  times <- kernel_kinds()[[kernel$kind]]$times
  if (!is.null(times)) {
    return(times(kernel, V))
  }
  core_times(kernel_problem(kernel, nrow(V)), V, component, core_settings(threads, memory))
}

# K V of a component of a problem. `settings`: from core_settings().
core_times <- function(problem, V, component, settings) { # nolint: object_name_linter
  problem <- c(problem, settings)
  with_watch("Multiplying", function(watch) kernel_times_impl(problem, V, component - 1L, watch))
}

# The number of a component among the kernel's.
chosen_component <- function(kernel, component) {
  at <- if (is.null(kernel$parts) && is.null(component)) 1L else match(component, kernel$parts)
  if (length(at) != 1 || is.na(at)) {
    abort_ancify(
      sprintf(
        "`component` must be %s, not %s.",
        if (is.null(kernel$parts)) "NULL" else paste("one of", enumerate(quoted(kernel$parts))),
        show_value(component)
      ),
      "input"
    )
  }
  at
}

#' @export
print.reml_kernel <- function(x, ...) {
  check_no_more(...)
  facts <- c(
    kernel_kinds()[[x$kind]]$words,
    if (!is.na(x$n)) count_of(x$n, "sample"),
    if (!is.null(x$genotypes)) count_of(ncol(x$genotypes), "variant")
  )
  scale <- if (is.null(x$scale_power)) "" else number_text(x$scale_power)
  write_object("reml_kernel", facts, c(`scale power` = scale, components = enumerate(x$parts)))
  invisible(x)
}

# `ids`: those of the samples, or NULL; `n`: their number, NA if the kernel does not say. `parts`:
# names of its components, NULL if the kernel is one.
new_kernel <- function(kind, ids, n, ..., parts = NULL) {
  structure(list(kind = kind, ids = ids, n = n, parts = parts, ...), class = "reml_kernel")
}

# The kinds of kernels, a row each:
# words: for print()
# core(kernel, rows, n, name): the kernel of some of its n samples, as a fit keeps it. Lists have
#   their `kind`, a row of the core's table too, and `parts`. A kernel of genotypes has none: these
#   are components of the fit's genotypes.
# times(kernel, V): the product, where the core does not make it
# effects(kernel, factors, variance, response): effects of variants, where the kernel has them
kernel_kinds <- function() {
  row <- function(words, core = NULL, times = NULL, effects = NULL) {
    list(words = words, core = core, times = times, effects = effects)
  }
  list(
    grm = row("of genotypes"),
    matrix = row("a matrix", core_matrix, function(kernel, V) kernel$matrix %*% V), # nolint
    products = row(
      "a function", core_products, function(kernel, V) products_of(kernel$products, V) # nolint
    ),
    weighted = row("of weighted blocks", core_weighted, effects = weighted_effects),
    admixture = row("by ancestry", core_admixture)
  )
}

# ---- Checks --------------------------------------------------------------------------------------

check_kernel <- function(kernel, name) {
  if (!inherits(kernel, "reml_kernel")) {
    abort_ancify(
      sprintf("`%s` must be a kernel, such as kernel_matrix() makes, not %s.", name,
              show_value(kernel)),
      "input"
    )
  }
}

check_scale_power <- function(x) {
  if (!is.numeric(x) || length(x) != 1 || !is.finite(x)) {
    abort_ancify(sprintf("`scale_power` must be a number, not %s.", show_value(x)), "input")
  }
}

# A matrix of doubles whose rows have names, or none.
check_kernel_matrix <- function(K) { # nolint: object_name_linter
  if (!is.matrix(K) || !is.numeric(K) || nrow(K) != ncol(K) || nrow(K) == 0) {
    abort_ancify(
      sprintf("`K` must be a square matrix of numbers, not %s.",
              if (is.matrix(K)) paste(dim(K), collapse = " x ") else show_value(K)),
      "input"
    )
  }
  storage.mode(K) <- "double"
  names <- rownames(K) %||% colnames(K)
  sample <- function(i) if (is.null(names)) paste("row", i) else quoted(names[i])
  refuse <- function(wrong, problem) {
    at <- arrayInd(which(wrong)[1], dim(K))
    if (!is.na(at[1])) {
      abort_ancify(sprintf("`K` of %s and %s %s.", sample(at[1]), sample(at[2]), problem), "input")
    }
  }
  if (!is.null(rownames(K)) && !is.null(colnames(K)) && any(rownames(K) != colnames(K))) {
    i <- which(rownames(K) != colnames(K))[1]
    abort_ancify(
      sprintf("Row %d of `K` is %s, but column %d is %s: name both alike.", i,
              quoted(rownames(K)[i]), i, quoted(colnames(K)[i])),
      "input"
    )
  }
  if (anyDuplicated(names)) {
    abort_ancify(
      sprintf("`K` has the sample %s twice.", quoted(names[anyDuplicated(names)])), "input"
    )
  }
  refuse(!is.finite(K), "is not finite")
  refuse(abs(K - t(K)) > 1e-8 * max(abs(K)),
         "differs from its mirror entry: a kernel is symmetric")
  refuse(row(K) == col(K) & K < 0, "is below 0: a kernel has no negative eigenvalue")
  dimnames(K) <- if (!is.null(names)) list(names, names)
  K
}

products_of <- function(f, V) { # nolint: object_name_linter
  product <- f(V)
  if (!is.numeric(product) || length(product) != length(V) || !all(is.finite(product))) {
    abort_ancify(
      sprintf("The function of kernel_products() must give a matrix of %s x %s finite numbers.",
              format_count(nrow(V)), format_count(ncol(V))),
      "input"
    )
  }
  matrix(as.double(product), nrow(V), ncol(V))
}

# ---- For the core --------------------------------------------------------------------------------

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

# How the core does its work. Results do not depend on it.
core_settings <- function(threads, memory) {
  if (!is.null(memory)) check_positive(memory, "memory", 1)
  list(
    threads = resolve_threads(threads),
    simd = getOption("ancify.simd", "auto"),
    memory = memory %||% default_memory()
  )
}

# Half of what this process can still allocate.
default_memory <- function() {
  available <- available_memory()
  if (is.na(available)) 2^33 else available / 2
}

# The kernel of some of its samples, as a fit keeps it: a matrix, or a list.
core_kernel <- function(kernel, rows, n, name) {
  kernel_kinds()[[kernel$kind]]$core(kernel, rows, n, name)
}

# The same as the core takes it.
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
      products = function(V) products_of(kernel$products, V), # nolint: object_name_linter
      trace = sum(kernel$trace)
    ))
  }
  if (length(kernel$trace) == 1) {
    abort_ancify(
      sprintf(
        paste(
          "Samples are dropped, so the kernel %s needs its diagonal as `trace`: give a number for",
          "each of the %s samples."
        ),
        quoted(name), format_count(n)
      ),
      "input"
    )
  }
  list(
    kind = "products",
    products = function(V) { # nolint: object_name_linter
      whole <- matrix(0, n, ncol(V))
      whole[rows, ] <- V
      products_of(kernel$products, whole)[rows, , drop = FALSE]
    },
    trace = sum(kernel$trace[rows])
  )
}
