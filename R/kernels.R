#' Kernels of a REML fit
#'
#' A kernel, such as a genetic relationship matrix, measures the samples' similarity for one
#' component. [fit_reml()] makes the kernels of `genotypes` and `components` itself. These functions
#' make others, for its argument `kernels`.
#'
#' @details
#' | Function | Kernel |
#' | --- | --- |
#' | `kernel_grm()` | sum over variants of z z' / c, never held as a matrix |
#' | `kernel_matrix()` | a given matrix, also of the package Matrix |
#' | `kernel_gcta()` | a matrix in files of GCTA or PLINK |
#' | `kernel_products()` | given by a function that computes products with vectors |
#' | [kernel_weighted()] | sum over blocks of variants of Z W Z' / c |
#' | [kernel_admixture()] | the kernel of genotypes, divided by ancestry |
#' | [kernel_dominance()] | dominance deviations of genotypes |
#' | [kernel_interaction()] | another kernel times an environment, or within its levels |
#' | [kernel_product()] | the product of two kernels, entry by entry |
#' | [kernel_groups()] | groups of samples, such as households, and repeated records |
#'
#' **Scale.** A column z has a variant's genotypes minus their mean, times v^(`scale_power` / 2),
#' where v is their population variance. A missing call is 0 in z, and c is the sum of v^(1 +
#' `scale_power`). So -1 gives each variant the same weight, as GCTA does; 0 gives VanRaden's
#' kernel.
#'
#' **Samples** of a kernel of genotypes or of files, or with row names, are matched by id. Any other
#' kernel must have the samples in the order of the fit's genotypes, or without genotypes, of its
#' `data`. A fit counts and names the samples that its kernels lack.
#'
#' **Files of GCTA.** `kernel_gcta("study")` reads `study.grm.bin` of `--make-grm-bin`, or
#' `study.grm.sp`, the sparse kernel of fastGWA (`--make-bK-sparse`). Each needs `study.grm.id`,
#' whose IIDs are the ids. If `study.grm.N.bin` is there, the kernel prints how many variants its
#' pairs have. GCTA standardises by expected variances, and divides by the variants that both
#' samples have. So such kernels differ slightly from those of `kernel_grm()`.
#'
#' **Sparse kernels**, from `.grm.sp` or a sparse class of the package Matrix, take the memory of
#' their entries. The exact path makes them dense.
#'
#' @param g Genotypes, from [open_genotypes()].
#' @param variants Variants of the kernel, as in `g[, variants]`. `NULL` (the default): all.
#' @param chromosomes Of these variants, the chromosomes in the kernel, as in [fit_reml()]: by
#'   default `"autosomes"`. A message counts variants that are left out.
#' @param scale_power Exponent of the variance in the scale, -1 by default.
#' @param K A symmetric matrix without negative eigenvalues, with a row for each sample. Row names
#'   are ids of samples. It may be of a class of the package Matrix, such as `dsCMatrix`.
#' @param path Path of a kernel's files, without `.grm.bin` or `.grm.sp`. With this extension, if
#'   both exist.
#' @param f A function. `f(V)` gives the kernel times V, a matrix with a row for each sample.
#' @param trace The sum of the kernel's diagonal. Or its diagonal, a number for each sample; a fit
#'   that drops samples needs the diagonal.
#' @param kernel One of these kernels.
#' @param V A matrix with a row for each sample, or a vector.
#' @param component Name of the component, for a kernel with several. `NULL` (the default): the
#'   kernel has one component.
#' @inheritParams fit_reml
#' @return A list of class `reml_kernel`. `kernel_times()`: a matrix of the size of `V`.
#' @section Errors:
#' * `ancify_input_error`: a matrix is not square, not symmetric or not finite, or its names differ
#'   between rows and columns. The message names the samples. In files: `ancify_format_error`.
#' * `ancify_input_error`: `trace` is not positive, `V` has another number of rows, or the kernel
#'   has no such `component`.
#' * `ancify_input_error`: no variant is on `chromosomes`.
#' * `ancify_chromosome_warning`: variants of X, Y or MT are in the kernel.
#' * `ancify_file_error`, `ancify_format_error`: the genotypes or files cannot be read; a value is
#'   not finite; or a file does not match its `.grm.id`.
#' * `ancify_package_error`: `K` is of the package Matrix, which is not installed.
#' * `ancify_device_error`: a GPU is asked for and cannot be used.
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
kernel_grm <- function(g, variants = NULL, scale_power = -1, chromosomes = "autosomes") {
  check_args(g = check_genotypes, scale_power = number())
  if (!is.null(variants)) g <- g[, variants]
  g <- genotypes_on(g, chromosomes, "the kernel")
  new_kernel("grm", g$samples$id, nrow(g), genotypes = g, scale_power = scale_power)
}

#' @rdname kernels
#' @export
kernel_matrix <- function(K) { # nolint: object_name_linter. The letter of the model's equation
  check_given()
  if (methods::is(K, "sparseMatrix")) {
    return(kernel_of_sparse(K))
  }
  # Dense matrices of the package Matrix
  if (methods::is(K, "Matrix")) K <- as.matrix(K)
  K <- check_kernel_matrix(K)
  new_kernel("matrix", rownames(K), nrow(K), matrix = K)
}

#' @rdname kernels
#' @export
kernel_products <- function(f, trace) {
  check_given()
  must_be(is.function(f), f, "f", "a function of a matrix")
  check_positive(trace, "trace")
  n <- if (length(trace) > 1) length(trace) else NA
  new_kernel("products", NULL, n, products = f, trace = trace)
}

#' @rdname kernels
#' @export
kernel_times <- function(kernel, V, component = NULL, # nolint: object_name_linter.
                         threads = NULL, backend = "auto", memory = NULL) {
  check_args(kernel = check_kernel)
  V <- as.matrix(V)
  refuse_if(!is.numeric(V) || !all(is.finite(V)), "`V` must be a matrix of finite numbers.")
  refuse_if(!kernel$n %in% c(NA, nrow(V)), "`V` has %s rows, but the kernel has %s.",
            format_count(nrow(V)), count_of(kernel$n, "sample"))
  check_row_order(V, "V", kernel$ids, "sample")
  component <- chosen_component(kernel, component)
  work <- new_work(threads, backend, memory)
  times <- kernel_kinds()[[kernel$kind]]$times
  if (!is.null(times)) {
    return(times(kernel, V))
  }
  core_times(model_of_kernel(kernel, nrow(V)), V, component, work)
}

# The index of a component within its kernel.
chosen_component <- function(kernel, component) {
  at <- if (is.null(kernel$parts) && is.null(component)) 1L else match(component, kernel$parts)
  refuse_if(length(at) != 1 || is.na(at), "`component` must be %s, not %s.",
            if (is.null(kernel$parts)) "NULL" else paste("one of", enumerate(quoted(kernel$parts))),
            show_value(component))
  at
}

#' @export
print.reml_kernel <- function(x, ...) {
  check_no_more(...)
  facts <- c(
    kernel_kinds()[[x$kind]]$words,
    if (!is.na(x$n)) count_of(x$n, "sample"),
    if (!is.null(x$genotypes)) count_of(ncol(x$genotypes), "variant"),
    if (!is.null(x$column)) sprintf("by %s of `data`", quoted(x$column))
  )
  scale <- if (is.null(x$scale_power)) "" else number_text(x$scale_power)
  entries <- if (is.null(x$entries)) "" else format_count(nrow(x$entries))
  counts <- paste(unique(vapply(as.numeric(x$counts), format_amount, "")), collapse = " to ")
  write_object("reml_kernel", facts, c(
    `scale power` = scale, components = enumerate(x$parts), `variants of a pair` = counts,
    `entries of a triangle` = entries
  ))
  invisible(x)
}
