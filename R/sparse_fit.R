#' Fit sparse effects and variance components
#'
#' `fit_sparse_reml(fit)` adds individual variant effects to a fit: a few large effects beside the
#' many small effects of its kernels.
#'
#' @details
#' Each round computes [lasso_path()] at the current variances, and selects the step with the
#' smallest EBIC. The variants with an effect in this step are the support. REML then re-estimates
#' the variances, with the support as fixed effects. Rounds end when the support no longer changes.
#' Rarely, rounds alternate between several supports. The smallest is then returned, with a warning.
#'
#' **Two estimates** of the support's effects are returned. The lasso's `effect` is shrunk towards
#' 0; predictions use it. `joint` is the generalised least squares estimate with the support as
#' fixed effects. As the same data chose the support, it is too large on average, and its error too
#' small.
#'
#' **Variance of the support.** With \eqn{g = Z_S b} it is \eqn{(|g|^2 + 2 g'(y - X\beta - g)) / n}.
#'
#' @inheritParams lasso_path
#' @param verbose Whether to log each round as messages of class `ancify_message`; `TRUE` (the
#'   default).
#' @return A list of class `sparse_reml`; [sparse_reml] describes its methods. Its fields:
#' * `support`: a data frame with a row for each variant of the support, as from [open_genotypes()],
#'   with `frequency` (of the counted allele), `effect`, `joint` and `joint_se`. Effects are per
#'   copy of the counted allele, in units of the response. `joint` is `NA` for a variant that
#'   depends linearly on others.
#' * `theta`: the variances of the fit's components, at which `path` was computed. If the fit has
#'   not converged, they belong to another of the alternating supports.
#' * `variances`: of the `support`, then of each component (theta times the mean of its kernel's
#'   diagonal).
#' * `path`: the last [lasso_path()].
#' * `rounds`: a data frame with `variants` (of the support), `lambda` and the variances of each
#'   round.
#' * `converged`: whether the support has converged.
#' * `fit`: the `reml_fit` of all other effects: fixed effects and genetic values of the kernels.
#' @section Errors:
#' * Those of [lasso_path()] and [fit_reml()].
#' * `ancify_fit_warning`: rounds alternate between supports, or variances have not converged.
#' @inherit lasso_path references
#' @seealso [sparse_reml] for the methods, [lasso_path()], [scan_variants()]
#' @export
#' @examples
#' # 60 samples and 40 variants, of which the first has an effect
#' set.seed(1)
#' stem <- tempfile()
#' calls <- matrix(sample(c(0, 2, 3), 60 * 40, replace = TRUE), 4)
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, c(1, 4, 16, 64) %*% calls)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 -9", 1:60, 1:60), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:40, 1:40), paste0(stem, ".bim"))
#' g <- open_genotypes(stem)
#' data <- data.frame(id = paste0("sample", 1:60), y = rnorm(60) + 2 * as.matrix(g)[, 1])
#'
#' fit <- fit_reml(y ~ 1, data, g, threads = 1, verbose = FALSE)
#' fit_sparse_reml(fit, verbose = FALSE)
fit_sparse_reml <- function(fit, genotypes = NULL, lambda = NULL, gamma = 0.5, candidates = NULL,
                            progress = interactive(), verbose = TRUE) {
  check_args(fit = check_reml_fit, verbose = flag())
  work <- work_of(fit, progress)
  settings <- path_settings_of(fit, lambda, gamma, candidates, work)
  fit <- with_genotypes(fit)
  g <- candidate_genotypes(fit, genotypes, work)
  search <- search_support(fit, g, settings, work, log_where(verbose))
  if (!search$converged) {
    warn_ancify(
      "The support has not converged: rounds alternate between several. The smallest is returned.",
      "fit"
    )
  }
  new_sparse_reml(fit, g, search, match.call(), work)
}

# Alternates path and REML until the support is unchanged, or supports alternate and this is the
# smallest. Returns list(theta =, refit = the REML of the support, columns = of the support, path =,
# residuals =, rounds =, converged =).
search_support <- function(fit, g, settings, work, log) {
  model <- fit
  refit <- NULL
  supports <- list(numeric())
  rounds <- NULL
  repeat {
    found <- found_path(model, g, settings, work)
    path <- found$path
    chosen <- path$variants$column[effects_at(path, NULL)$variant]
    rounds <- rbind(rounds, data.frame(
      variants = length(chosen), lambda = path$steps$lambda[path$best], t(model$theta),
      check.names = FALSE
    ))
    log(sprintf("Round %d: %s with an effect", nrow(rounds), count_of(length(chosen), "variant")))
    earlier <- Position(function(support) identical(support, chosen), supports)
    turn <- if (!is.na(earlier)) supports[earlier:length(supports)]
    if (length(turn) && length(chosen) == min(lengths(turn))) break
    supports <- c(supports, list(chosen))
    refit <- fit_beside(fit, support_columns(fit, g, chosen, work), work)
    model$theta <- refit$theta
  }
  converged <- length(turn) == 1
  if (!converged) refit <- fit_beside(fit, support_columns(fit, g, chosen, work), work)
  list(
    theta = model$theta, refit = refit, columns = chosen, path = path,
    residuals = found$residuals, rounds = rounds, converged = converged
  )
}

# Standardised genotypes of these variants, as in the fit's kernels: a row for each sample.
support_columns <- function(fit, g, columns, work) {
  if (length(columns) == 0) {
    return(matrix(0, nrow(g), 0))
  }
  moments <- genotype_moments(g[, columns], work)
  calls <- genotype_matrix(g[, columns], work)
  z <- sweep(sweep(calls, 2, moments$mean), 2, moments$variance^(fit$scale_power / 2), "*")
  z[is.na(z)] <- 0
  dimnames(z) <- list(NULL, columns)
  z
}

# REML with columns as additional fixed effects. Linearly dependent columns are excluded.
fit_beside <- function(fit, z, work) {
  model <- fit
  model$x <- joined_effects(fit$x, z)
  result <- run_reml(model, work)
  if (!result$converged) {
    warn_ancify(
      sprintf("The fit with the support as fixed effects has not converged: %s.", result$message),
      "fit"
    )
  }
  result
}

# ---- Result --------------------------------------------------------------------------------------

new_sparse_reml <- function(fit, g, search, call, work) {
  z <- support_columns(fit, g, search$columns, work)
  chosen <- effects_at(search$path, NULL)
  values <- drop(z %*% chosen$effect)
  fit <- fit_at_residuals(fit, search$theta, search$residuals, values, work)
  left <- fit$y - drop(fit$x %*% fit$coefficients) - values
  structure(
    list(
      call = call, support = support_table(fit, g, search, chosen, work), theta = fit$theta,
      variances = c(
        support = (sum(values^2) + 2 * sum(values * left)) / length(left),
        fit$theta * fit$mean_diagonal
      ),
      path = search$path, rounds = search$rounds, converged = search$converged,
      fit = fit, genotypes = g, values = stats::setNames(values, fit$ids)
    ),
    class = "sparse_reml"
  )
}

# The fit at these variances. `residuals` is P (y - g), with g the support's values. With H the
# covariance of y and S the projection off the fixed effects, S H P (y - g) = S (y - g). So y - g
# and H P (y - g) differ only by the fixed effects.
fit_at_residuals <- function(fit, theta, residuals, values, work) {
  problem <- core_problem(fit, list(work = work))
  products <- with_watch("Computing", function(watch) {
    component_products_impl(problem, residuals, watch)
  }, work$progress, inputs = fit_inputs(fit))
  components <- utils::head(theta, -1)
  genetic <- sweep(products, 2, components, "*")
  dimnames(genetic) <- list(NULL, names(components))
  fixed <- fit$y - values - rowSums(genetic) - theta[["residual"]] * residuals
  fit$coefficients[] <- if (ncol(fit$x)) qr.coef(qr(fit$x), fixed) else numeric()
  fit[c("theta", "residual_projection", "genetic")] <- list(theta, residuals, genetic)
  fit
}

support_table <- function(fit, g, search, chosen, work) {
  columns <- search$columns
  moments <- genotype_moments(g[, columns_or_first(columns)], work)
  here <- seq_along(columns)
  scale <- moments$variance[here]^(fit$scale_power / 2)
  at <- match(columns, names(search$refit$coefficients)) # none without a support
  joint_se <- sqrt(diag(search$refit$coefficients_covariance))[at]
  data.frame(
    chosen_rows(g$variants, columns), frequency = moments$mean[here] / 2,
    effect = chosen$per_copy, joint = unname(search$refit$coefficients[at]) * scale,
    joint_se = unname(joint_se) * scale
  )
}
