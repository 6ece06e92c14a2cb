#' Principal components of genotypes
#'
#' `pca(g)` gives the principal components of samples: the eigenvectors of the genomic relationship
#' matrix with the largest eigenvalues, without that matrix. They serve as covariates against
#' population structure.
#'
#' @details
#' The matrix K is the one of [kernel_grm()]. A block Krylov method multiplies it by a few columns
#' in each pass through the genotypes. It ends when the residual K u - lambda u of each component u
#' is below `tolerance` times the largest eigenvalue. Methods with a fixed number of passes do not
#' know this error. The starting columns are random, from a seed of their own.
#'
#' Leave out related samples ([relatedness()]) and long regions of high linkage disequilibrium
#' before: families and inversions have components of their own.
#'
#' @param g Genotypes, from [open_genotypes()], with at least two samples.
#' @param n Number of components, 10 by default, and fewer than samples.
#' @param chromosomes,scale_power As in [kernel_grm()].
#' @param tolerance Largest residual, 1e-5 by default, from 1e-10 to 0.1.
#' @param most_passes Most passes through the genotypes, 50 by default. If they do not suffice, a
#'   warning says so.
#' @param threads,backend,memory As in [fit_reml()].
#' @return A list of class `genotype_pca`:
#' * `vectors`: a matrix with a row for each sample, named by id, and columns `PC1`, `PC2`, ... of
#'   length 1. The largest coordinate of each is positive.
#' * `values`: eigenvalues. `residuals`: the residuals, divided by the largest eigenvalue.
#' * `passes`, `converged`; `samples`, `variants`: numbers.
#'
#' `as.data.frame()` gives the vectors with a column `id`, for `data` of [fit_reml()]. `plot()`
#' draws two components and returns the `ggplot` invisibly.
#' @section Errors:
#' * `ancify_input_error`: an argument is out of its range, no variant is on `chromosomes`, or no
#'   variant varies. `plot()`: `components` are not two of `x`, or `groups` has another length.
#' * `ancify_fit_warning`: passes did not suffice.
#' * `ancify_file_error`, `ancify_format_error`: genotypes cannot be read, or have changed.
#' @references
#' Musco C, Musco C (2015) Randomized block Krylov methods for stronger and faster approximate
#' singular value decomposition. Advances in Neural Information Processing Systems 28.
#'
#' Patterson N, Price AL, Reich D (2006) Population structure and eigenanalysis. PLoS Genetics
#' 2:e190.
#' @seealso [relatedness()], [kernel_grm()]
#' @export
#' @examples
#' set.seed(1)
#' frequency <- rbind(runif(500), runif(500))[rep(1:2, each = 20), ]
#' calls <- matrix(rbinom(length(frequency), 2, frequency), 40)
#' rownames(calls) <- paste0("sample", 1:40)
#' p <- pca(open_genotypes(calls), n = 2, threads = 1)
#' p
#' head(as.data.frame(p))
pca <- function(g, n = 10, chromosomes = "autosomes", scale_power = -1, tolerance = 1e-5,
                most_passes = 50, threads = NULL, backend = "auto", memory = NULL) {
  check_args(g = check_genotypes, tolerance = number(1e-10, 0.1), most_passes = whole())
  must_be(is_number(n) && n >= 1 && n < nrow(g) && n == round(n), n, "n",
          sprintf("a whole number from 1 to %s, one below the number of samples", nrow(g) - 1))
  work <- new_work(threads, backend, memory)
  kernel <- kernel_grm(g, scale_power = scale_power, chromosomes = chromosomes)
  model <- model_of_kernel(kernel, nrow(g))
  found <- largest_eigenpairs(function(v) core_times(model, v, 1L, work), nrow(g), n,
                              tolerance, most_passes)
  if (!found$converged) {
    warn_ancify(sprintf(
      paste("%s of %s components have residuals above %s after %s: set `most_passes` higher, or",
            "`n` to fewer components."),
      sum(found$residuals > tolerance), n, format(tolerance), count_of(found$passes, "pass")
    ), "fit")
  }
  dimnames(found$vectors) <- list(g$samples$id, paste0("PC", seq_len(n)))
  structure(c(found, list(samples = nrow(g), variants = ncol(kernel$genotypes))),
            class = "genotype_pca")
}

# The n largest eigenvalues of a symmetric matrix of `size` rows, and their vectors. `times`
# multiplies it by columns. A basis grows by a block in each pass; eigenvectors are sought in it.
largest_eigenpairs <- function(times, size, n, tolerance, most_passes) {
  block <- min(size, n + 8)
  basis <- products <- matrix(0, size, 0)
  fresh <- seeded(1, matrix(stats::rnorm(size * block), size))
  for (pass in seq_len(most_passes)) {
    fresh <- orthogonal_to(basis, fresh)
    basis <- cbind(basis, fresh)
    fresh <- times(fresh)
    products <- cbind(products, fresh)
    found <- eigenpairs_in(basis, products, n)
    found$passes <- pass
    found$converged <- ncol(found$vectors) == n && all(found$residuals <= tolerance)
    if (found$converged || ncol(basis) == size) break
  }
  found
}

# Rayleigh-Ritz: eigenvectors within a basis, whose products with the matrix are given.
eigenpairs_in <- function(basis, products, n) {
  projected <- crossprod(basis, products)
  inner <- eigen((projected + t(projected)) / 2, symmetric = TRUE)
  chosen <- seq_len(min(n, ncol(basis)))
  weights <- inner$vectors[, chosen, drop = FALSE]
  values <- inner$values[chosen]
  vectors <- basis %*% weights
  residuals <- sqrt(colSums((products %*% weights - vectors %*% diag(values, length(values)))^2))
  largest <- vectors[cbind(max.col(t(abs(vectors)), "first"), chosen)]
  list(vectors = vectors %*% diag(ifelse(largest < 0, -1, 1), length(chosen)), values = values,
       residuals = residuals / values[1])
}

# Orthonormal columns that span those of x without their parts in the basis; twice, as the first
# time rounds. At most as many as the space has left.
orthogonal_to <- function(basis, x) {
  x <- x[, seq_len(min(ncol(x), nrow(x) - ncol(basis))), drop = FALSE]
  for (time in 1:2) {
    x <- qr.Q(qr(x - basis %*% crossprod(basis, x)))
  }
  x
}

#' @export
print.genotype_pca <- function(x, ...) {
  write_object("genotype_pca", c(
    count_of(x$samples, "sample"), count_of(x$variants, "variant"),
    count_of(ncol(x$vectors), "component")
  ), c(
    eigenvalues = paste(format(utils::head(x$values, 10), digits = 4), collapse = " "),
    passes = sprintf("%s, residuals up to %s", x$passes, format(max(x$residuals), digits = 2))
  ))
  invisible(x)
}

#' @export
as.data.frame.genotype_pca <- function(x, ...) {
  data.frame(id = rownames(x$vectors), x$vectors, row.names = NULL)
}

#' @rdname pca
#' @param x An object of `pca()`.
#' @param components Two components, by number.
#' @param groups A label for each sample, for colours. `NULL` (the default): none.
#' @param ... Not used.
#' @export
plot.genotype_pca <- function(x, components = 1:2, groups = NULL, ...) {
  check_no_more(...)
  must_be(length(components) == 2 && all(components %in% seq_along(x$values)), components,
          "components", sprintf("two numbers of components, up to %s", length(x$values)))
  refuse_if(!is.null(groups) && length(groups) != x$samples,
            "`groups` has %s, but the components have %s.", count_of(length(groups), "label"),
            count_of(x$samples, "sample"))
  need_ggplot2()
  names <- colnames(x$vectors)[components]
  points <- data.frame(x$vectors[, names], groups = if (is.null(groups)) "" else factor(groups))
  picture <- ggplot2::ggplot(points, by_column(x = names[1], y = names[2], colour = "groups")) +
    ggplot2::geom_point(size = 1.2, alpha = 0.8) +
    ggplot2::scale_colour_viridis_d(end = 0.85, guide = if (is.null(groups)) "none" else "legend") +
    ggplot2::labs(x = component_label(x, components[1]), y = component_label(x, components[2]),
                  colour = NULL) +
    picture_theme()
  draw_picture(picture)
}

component_label <- function(x, component) {
  sprintf("PC%d, eigenvalue %s", component, format(x$values[component], digits = 3))
}
