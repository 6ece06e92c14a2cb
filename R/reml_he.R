#' Estimate variances by Haseman-Elston regression
#'
#' Estimates variance components by moments: products of two samples' responses are regressed on
#' their kernels. It takes less time than [fit_reml()], which is more precise.
#'
#' S is the projection that removes the fixed effects. The A_g are the kernels, and I for the
#' residual. Then theta solves \eqn{\sum_j \theta_j tr(S A_i S A_j) = y' S A_i S y}. Standard errors
#' are by jackknife, which leaves out one block of samples at a time. An estimate can be below 0.
#'
#' @inheritParams fit_reml
#' @param blocks Number of blocks of the jackknife, 100 by default.
#' @return A list of class `reml_he`: `theta`, its `covariance`, and `h2` with its standard error
#'   `h2_se`. `names` and `ids` are components and samples, `dropped` counts samples left out.
#' @section Errors:
#' As from [fit_reml()].
#' @references
#' Haseman and Elston (1972) The investigation of linkage between a quantitative trait and a marker
#' locus. Behavior Genetics 2:3.
#' @seealso [fit_reml()]
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' haseman_elston(y ~ 1, data, kernels = list(family = kernel), blocks = 20, threads = 1)
haseman_elston <- function(formula, data, genotypes = NULL, components = NULL, kernels = NULL,
                           id = "id", overlap = FALSE, blocks = 100, control = reml_control(),
                           threads = NULL, memory = NULL, progress = interactive()) {
  check_given()
  check_flag(overlap, "overlap")
  check_flag(progress, "progress")
  check_control(control)
  check_whole_number(blocks, "blocks")
  model <- reml_model(genotypes, components, kernels, overlap)
  model <- model_on_samples(model, formula, data, id)
  n <- length(model$y)
  if (blocks < 2 || blocks > n) {
    abort_ancify(sprintf("`blocks` must be from 2 to the number of samples, %s.", format_count(n)),
                 "input")
  }
  names <- c(model$names, "residual")
  problem <- c(
    core_problem(model), list(control = core_control(control, names, n, "stochastic")),
    core_settings(threads, memory)
  )
  found <- with_watch("Regressing", function(watch) {
    haseman_elston_impl(problem, blocks, watch)
  }, progress)
  a <- found$mean_diagonal
  whole <- sum(found$theta * a)
  h2 <- 1 - found$theta[length(a)] * a[length(a)] / whole
  gradient <- a * c(rep(1, length(a) - 1), 0) / whole - h2 * a / whole
  structure(
    list(
      theta = stats::setNames(found$theta, names),
      covariance = matrix(found$covariance, length(a), dimnames = list(names, names)), h2 = h2,
      h2_se = sqrt(drop(gradient %*% found$covariance %*% gradient)), names = model$names,
      ids = model$ids, dropped = model$dropped
    ),
    class = "reml_he"
  )
}

#' @export
print.reml_he <- function(x, ...) {
  check_no_more(...)
  se <- sqrt(diag(x$covariance))
  shown <- function(estimate, se) sprintf("%s (SE %s)", format(estimate, digits = 4),
                                          format(se, digits = 4))
  write_object(
    "reml_he", paste0(count_of(length(x$ids), "sample"), dropped_text(x$dropped)),
    c(h2 = shown(x$h2, x$h2_se), mapply(shown, x$theta, se))
  )
  invisible(x)
}
