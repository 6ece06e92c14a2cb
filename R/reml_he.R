#' Estimate variances by Haseman-Elston regression
#'
#' Estimates variance components by the method of moments: products of two samples' responses are
#' regressed on their kernel entries. It is faster, but less precise, than [fit_reml()].
#'
#' S is the projection that removes the fixed effects. The A_g are the kernels, with I for the
#' residual. Then theta solves \eqn{\sum_j \theta_j tr(S A_i S A_j) = y' S A_i S y}. Standard errors
#' are from a jackknife, which leaves out one block of samples at a time. They are conservative: for
#' unrelated samples up to 1.4 times too large. An estimate can be below 0.
#'
#' @inheritParams fit_reml
#' @param blocks Number of blocks of the jackknife. `NULL` (the default): 100, or one for each
#'   sample if there are fewer.
#' @param BPPARAM A `BiocParallelParam`. Its workers share the blocks of the jackknife, each on one
#'   thread, with the same result. They read the genotypes' files. `NULL` (the default): none.
#' @return A list of class `reml_he`:
#' * `theta`: the variances, named by component; `covariance`: their covariances.
#' * `h2`, `h2_se`: the genetic share of the variance, and its standard error.
#' * `mc_covariance`, `h2_mc_se`: the corresponding Monte Carlo errors, 0 if no probes were needed.
#' * `probes`, `passes`: numbers of random probes, and of passes through the genotypes.
#' * `mean_diagonal`: the mean of each kernel's diagonal.
#' * `ids`, `y`, `dropped`: sample ids, response, and numbers of dropped samples by reason.
#' * `family`, `labels`: as in a fit of [fit_reml()].
#'
#' `plot()` draws shares of the variance, with bars of two standard and two Monte Carlo errors. It
#' returns `x`, invisibly.
#' @section Errors:
#' As from [fit_reml()], and:
#' * `ancify_package_error`: `BPPARAM` needs the package BiocParallel. `ancify_task_error`: a worker
#'   has failed.
#' @references
#' Haseman and Elston (1972) The investigation of linkage between a quantitative trait and a marker
#' locus. Behavior Genetics 2:3.
#' @seealso [fit_reml()]; [pcgc()] for cases and controls
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' he <- haseman_elston(y ~ 1, data, kernels = list(family = kernel), blocks = 20, threads = 1)
#' he
#' plot(he)
haseman_elston <- function(formula, data, genotypes = NULL, components = NULL, kernels = NULL,
                           id = "id", overlap = FALSE, chromosomes = "autosomes", blocks = NULL,
                           control = reml_control(), threads = NULL, backend = "auto",
                           memory = NULL, BPPARAM = NULL, progress = interactive()) {
  check_args(overlap = flag(), control = check_control)
  work <- new_work(threads, backend, memory, progress = progress)
  model <- reml_model(genotypes, components, kernels, overlap, chromosomes)
  model <- model_on_samples(model, formula, data, id)
  warn_of_model(model, genotypes, work)
  tell_of_left_out(model$left_out, model$chromosomes, "the components", inform_ancify)
  check_one_residual(model, "Haseman-Elston regression")
  found <- jackknifed_moments(model, control, blocks, BPPARAM, work, new_work(1, memory = memory))
  new_reml_he(found, model)
}

# The moments of a model with its data. `of_worker`: the work of one of `param`. `corrected`:
# whether the jackknife is corrected for pairs of blocks.
jackknifed_moments <- function(model, control, blocks, param, work, of_worker,
                               corrected = FALSE) {
  if (!is.null(param)) check_workers(param, "cpu")
  if (!is.null(blocks)) check_whole_number(blocks, "blocks")
  n <- length(model$y)
  blocks <- blocks %||% min(100, n)
  refuse_if(blocks < 2 || blocks > n, "`blocks` must be from 2 to the number of samples, %s.",
            format_count(n))
  names <- c(model$names, "residual")
  check_row_order(control$probes, "probes", model$ids, "sample")
  model$control <- core_control(control, names, n, "stochastic")
  # Each worker makes its own problem, as pointers are valid in one session only.
  problem <- function(work) core_problem(model, list(work = work))
  moments_with_jackknife(problem(work), function() problem(of_worker), blocks, param, corrected)
}

# Workers compute the moments of groups of blocks, and this session everything else.
moments_with_jackknife <- function(problem, of_worker, blocks, param, corrected) {
  parts <- NULL
  if (!is.null(param)) {
    parts <- over_parts(jackknife_parts_impl(blocks), function(first) {
      with_watch("Regressing", function(watch) {
        jackknife_moments_impl(of_worker(), blocks, first, watch)
      }, FALSE)
    }, param, "Jackknife", FALSE)
  }
  found <- with_watch("Regressing", function(watch) {
    haseman_elston_impl(problem, blocks, unlist(lapply(parts, `[[`, "moments")), corrected,
                        watch)
  }, problem$work$progress)
  found$passes <- found$passes + sum(vapply(parts, `[[`, 0, "passes"))
  found
}

new_reml_he <- function(found, model) {
  names <- c(model$names, "residual")
  named <- function(covariance) `dimnames<-`(covariance, list(names, names))
  he <- list(
    theta = stats::setNames(found$theta, names), covariance = named(found$covariance),
    mc_covariance = named(found$mc_covariance),
    mean_diagonal = stats::setNames(found$mean_diagonal, names),
    environmental = model$environmental
  )
  h2 <- moment_shares(he)["h2", ]
  structure(
    c(he, list(
      h2 = h2$estimate, h2_se = h2$se, h2_mc_se = h2$mc_se, probes = found$probes,
      passes = found$passes, ids = model$ids, individuals = model$individuals, y = model$y,
      dropped = model$dropped,
      family = model$family, labels = model$labels, chromosomes = model$chromosomes,
      left_out = model$left_out
    )),
    class = "reml_he"
  )
}

#' @rdname haseman_elston
#' @param x A result of `haseman_elston()`.
#' @param main A title. `NULL` (the default): none.
#' @param ... Not used.
#' @export
plot.reml_he <- function(x, main = NULL, ...) {
  check_no_more(...)
  on_device({
    graphics::par(fit_lines)
    draw_shares(moment_shares(x), x$probes > 0, if (is.null(main)) 1 else 3)
    graphics::title(main)
  })
  invisible(x)
}

#' @export
print.reml_he <- function(x, ...) {
  check_no_more(...)
  shown <- function(estimate, se, mc_se) {
    number <- function(x) format(x, digits = 4)
    sprintf("%s (SE %s%s)", number(estimate), number(se),
            if (x$probes > 0) paste(", MC SE", number(mc_se)) else "")
  }
  write_object(
    "reml_he", paste0(count_samples(x), dropped_text(x$dropped)),
    c(
      h2 = shown(x$h2, x$h2_se, x$h2_mc_se),
      mapply(shown, x$theta, sqrt(diag(x$covariance)), sqrt(pmax(diag(x$mc_covariance), 0))),
      chromosomes = chromosomes_text(x)
    )
  )
  invisible(x)
}
