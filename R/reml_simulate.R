# Responses drawn from a fitted model.

#' @rdname reml_fit
#' @export
simulate.reml_fit <- function(object, nsim = 1, seed = NULL, ...) {
  check_method(nsim = whole())
  refuse_if(any(object$theta < 0),
            "The variance of %s is below 0, so nothing can be simulated: fit with `lower = 0`.",
            enumerate(quoted(names(object$theta)[object$theta < 0])))
  object <- with_genotypes(object)
  work <- new_work(object$threads, memory = object$memory)
  n <- length(object$y)
  drawn <- seeded(seed, {
    drop(object$x %*% object$coefficients) + genetic_draws(object, nsim, work) +
      sqrt(residual_variances(object)) * matrix(stats::rnorm(n * nsim), n)
  })
  dimnames(drawn) <- list(object$ids, paste0("sim_", seq_len(nsim)))
  as.data.frame(drawn)
}

genetic_draws <- function(fit, nsim, work) {
  values <- matrix(0, length(fit$y), nsim)
  if (fit$n_genetic) values <- values + draws_of_variants(fit, nsim, work)
  components <- kernel_components(fit)
  for (name in names(components)) {
    for (i in seq_along(components[[name]])) {
      theta <- fit$theta[[components[[name]][i]]]
      if (theta <= 0) next
      dense <- dense_kernel(fit$kernels[[name]], i, length(fit$y), work)
      values <- values + sqrt(theta) * draws_of_kernel(dense, values)
    }
  }
  values
}

# Number of variants whose calls are in memory at once.
simulated_block <- 1000

# Draws u = sum_j z_j b_j, where b_j has the variance sum_g theta_g w_jg / c_g.
draws_of_variants <- function(fit, nsim, work) {
  table <- fit$weights
  v <- genotype_moments(fit$genotypes, work)$variance
  size <- ifelse(v > 0, v^(1 + fit$scale_power), 0)
  scale <- rowsum_of(table$weight * size[table$variant], table$component, fit$n_genetic)
  variance <- rowsum_of(
    table$weight * (fit$theta[seq_len(fit$n_genetic)] / scale)[table$component], table$variant,
    length(v)
  )
  values <- matrix(0, nrow(fit$genotypes), nsim)
  used <- which(variance > 0 & v > 0)
  for (block in split(used, (seq_along(used) - 1) %/% simulated_block)) {
    z <- standardised(fit$genotypes[, block], fit$scale_power, work)
    effects <- sqrt(variance[block]) * matrix(stats::rnorm(length(block) * nsim), length(block))
    values <- values + z %*% effects
  }
  values[fit$individuals %||% seq_along(fit$y), , drop = FALSE]
}

# Calls minus their mean, times variance^(scale_power / 2); 0 without a call.
standardised <- function(g, scale_power, work) {
  moments <- genotype_moments(g, work)
  z <- t((t(genotype_matrix(g, work)) - moments$mean) * moments$variance^(scale_power / 2))
  z[is.na(z)] <- 0
  z
}

# The matrix of a component, by its index in the kernel.
dense_kernel <- function(kernel, component, n, work) {
  if (!is.list(kernel)) {
    return(kernel)
  }
  if (!is.null(kernel$products)) {
    return(kernel$products(diag(n)))
  }
  core_times(list(kernels = list(kernel)), diag(n), component, work)
}

# `size`: rows and columns of the draws.
draws_of_kernel <- function(dense, size) {
  n <- nrow(size)
  parts <- eigen(dense, symmetric = TRUE)
  parts$vectors %*% (sqrt(pmax(parts$values, 0)) * matrix(stats::rnorm(length(size)), n))
}
