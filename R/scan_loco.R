# Fits of a scan without the variants of one chromosome.

# After an exact fit, the matrices of the genotypes' components, from which a chromosome's part is
# subtracted: list(kernels =, divisors =, bytes = twice the size of these matrices). NULL if they do
# not fit into `memory`.
dense_kernels <- function(fit, work) {
  bytes <- 2 * fit$n_genetic * 8 * length(fit$y)^2
  settings <- path_settings(fit, fit$path, work)
  left <- settings$work$memory - bytes
  settings$work$memory <- left
  if (fit$path == "exact" && fit$n_genetic > 0 && left >= block_bytes(length(fit$y))) {
    c(made_kernels(fit, settings), list(bytes = bytes))
  }
}

# list(kernels =, divisors =) of a model.
made_kernels <- function(model, settings) {
  with_watch("Making kernels", function(watch) {
    dense_kernels_impl(core_problem(model, settings), watch)
  }, settings$work$progress, inputs = fit_inputs(model))
}

# The kernels of a fit without the variants that `weights` lists.
kernels_without <- function(dense, fit, weights, work) {
  sets <- sort(unique(weights$component))
  if (length(sets) == 0) {
    return(dense$kernels)
  }
  part <- fit
  part$weights <- replace(weights, "component", list(match(weights$component, sets)))
  part$n_genetic <- length(sets)
  settings <- path_settings(fit, fit$path, work)
  settings$kept <- NULL # a chromosome's part is used only once
  off <- made_kernels(part, settings)
  dense$kernels[sets] <- Map(
    function(kernel, divisor, less, by) (divisor * kernel - by * less) / (divisor - by),
    dense$kernels[sets], dense$divisors[sets], off$kernels, off$divisors
  )
  dense$kernels
}

# The fit without the variants of a chromosome.
fit_without <- function(fit, chromosome, dense, work) {
  model <- model_without(fit, chromosome, dense, work)
  or_tell_of_bounds(
    fit_again(model, sprintf("without chromosome %s", chromosome), work), fit, chromosome
  )
}

# The model of a fit without the variants of a chromosome; its start is the fit's variances.
# Components that become empty are removed. `dense`: from dense_kernels().
model_without <- function(fit, chromosome, dense, work) {
  varies <- genotype_moments(fit$genotypes, work)$variance > 0
  stays <- varies & fit$variant_chromosomes != chromosome
  weights <- fit$weights[stays[fit$weights$variant], , drop = FALSE]
  sets <- sort(unique(weights$component))
  kept <- c(sets, fit$n_genetic + seq_len(length(fit$names) - fit$n_genetic))
  refuse_if(length(kept) == 0,
            "All variants of the fit are on chromosome %s: choose `loco = FALSE`.",
            quoted(chromosome))
  model <- fit
  weights$component <- match(weights$component, sets)
  model$weights <- weights
  model$n_genetic <- length(sets)
  model$names <- fit$names[kept]
  with_residual <- c(kept, which(is_residual(names(fit$theta))))
  # A negative variance may make the covariance singular without the chromosome's variants.
  model$control$start <- pmax(fit$theta[with_residual], 0)
  model$control$lower <- fit$control$lower[with_residual]
  if (!is.null(dense) && length(sets) > 0) {
    off <- (varies & !stays)[fit$weights$variant] & fit$weights$component %in% sets
    kernels <- kernels_without(dense, fit, fit$weights[off, , drop = FALSE], work)
    model$kernels <- c(kernels[sets], fit$kernels)
    model$n_genetic <- 0L
  }
  if (model$n_genetic == 0) model["genotypes"] <- list(NULL)
  model
}

# A model with the variances estimated for it. `how`: in what it differs from the fit.
fit_again <- function(model, how, work) {
  result <- run_reml(model, work, paste("Fitting", how))
  if (!result$converged) {
    warn_ancify(sprintf("The fit %s has not converged: %s.", how, result$message), "fit")
  }
  found <- c("theta", "residual_projection")
  model[found] <- result[found]
  model
}

# The value of `expr`. If variances below 0 cause an error, its message suggests a remedy.
or_tell_of_bounds <- function(expr, fit, chromosome) {
  tryCatch(expr, ancify_input_error = function(condition) {
    if (!any(fit$control$lower < 0, na.rm = TRUE)) stop(condition)
    refuse_input(
      "%s: %s %s", if (nzchar(chromosome)) paste("Without chromosome", chromosome) else "Scan",
      conditionMessage(condition),
      "The fit allows variances below 0, and so a singular covariance: fit with `lower = 0`."
    )
  })
}
