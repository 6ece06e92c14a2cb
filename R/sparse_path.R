#' Compute the path of sparse effects
#'
#' `lasso_path(fit)` gives a few variants individual effects beside a fit's kernels, for a
#' decreasing sequence of penalties. [fit_sparse_reml()] chooses one of them.
#'
#' @details
#' **Effects** b minimise \eqn{\frac12 b'Qb - q'b + \lambda |b|_1} at the variances of the fit. Here
#' \eqn{Q = Z'PZ} and \eqn{q = Z'Py}, with P as in [reml_log_likelihood()]. The columns Z are all
#' polymorphic variants, standardised as in the fit's kernels. They also remain in the kernels.
#'
#' **Penalties.** The first of the 60 values of lambda is the smallest at which no variant has an
#' effect, max|q|. The last is a twentieth of it. The values are evenly spaced on the log scale.
#'
#' **Candidates.** Q is computed only for candidates, the variants with the largest |q|. Their path
#' is compared with the gradients of all variants. Variants that violate the optimality conditions
#' become candidates, until none does. The result is therefore the path of all variants, for any
#' initial number of candidates. Memory grows with the square of the number of candidates; the
#' stochastic path solves a linear system for each.
#'
#' **EBIC** is the extended Bayesian information criterion, \eqn{k \log n + n \log(RSS / n) + 2
#' \gamma \log {c \choose k}}. Here k of the c tested variants have an effect, and
#' \eqn{RSS = y'Py - 2b'q + b'Qb}.
#'
#' @param fit A fit from [fit_reml()].
#' @param genotypes Genotypes of the variants. `NULL` (the default): the fit's own. Others must have
#'   the same samples.
#' @param lambda Decreasing penalties, in inverse units of the response. `NULL` (the default): 60,
#'   as above.
#' @param gamma Weight of the number of variants in EBIC, from 0 (the usual BIC) to 1. Default: 0.5.
#' @param candidates Initial number of candidates. `NULL` (the default): 2,000, or as many as fit
#'   into a quarter of the fit's `memory`.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @param x,object The result of `lasso_path()`.
#' @param step Index of a step of the path. `NULL` (the default): the step with the smallest EBIC.
#' @param ... Not used.
#' @return A list of class `lasso_path`:
#' * `steps`: a data frame with a row for each lambda: `lambda`, `variants` (with an effect), `rss`,
#'   `ebic` and `violation`. The last is the largest violation of the optimality conditions by any
#'   variant, as a share of max|q|; below 1e-8.
#' * `effects`: a data frame of `step`, `variant` (a row of `variants`), `effect` and `per_copy`.
#'   `effect` is per unit of standardised genotype, `per_copy` per copy of the counted allele. Both
#'   are in units of the response.
#' * `variants`: a data frame of the variants that have an effect in a step, as from
#'   [open_genotypes()], with their `column` there.
#' * `best`: the step with the smallest EBIC.
#' * `tested`, `candidates`: counts of variants; `theta`: the fit's variances.
#'
#' `coef()` gives the effects per copy in a step, named by variant. `as.data.frame()` gives a row
#' for each step and variant with an effect. `plot()` draws the effects against lambda, names the
#' variants of the step with the smallest EBIC, and returns `x`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: the fit has no genotypes and none are given; `lambda` does not decrease;
#'   the candidates exceed the memory (field `bytes`); or no variant is polymorphic.
#' * `ancify_file_error`: the fit's genotypes are missing or were modified.
#' @references
#' Tibshirani (1996) Regression shrinkage and selection via the lasso. Journal of the Royal
#' Statistical Society B 58:267.
#'
#' Chen and Chen (2008) Extended Bayesian information criteria for model selection with large model
#' spaces. Biometrika 95:759.
#' @seealso [fit_sparse_reml()], [fit_reml()], [scan_variants()]
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
#' path <- lasso_path(fit)
#' path
#' coef(path)
#' plot(path)
lasso_path <- function(fit, genotypes = NULL, lambda = NULL, gamma = 0.5, candidates = NULL,
                       progress = interactive()) {
  check_args(fit = check_reml_fit)
  work <- work_of(fit, progress)
  settings <- path_settings_of(fit, lambda, gamma, candidates, work)
  fit <- with_genotypes(fit)
  found_path(fit, candidate_genotypes(fit, genotypes, work), settings, work)$path
}

# The genotypes to test, of which sex chromosomes are told.
candidate_genotypes <- function(fit, genotypes, work) {
  g <- tested_genotypes(fit, genotypes)
  warn_of_sex_chromosomes(g, "are tested")
  warn_of_haploid_calls(g, work)
  g
}

# ---- Settings ------------------------------------------------------------------------------------

# Initial number of candidates, if memory suffices.
usual_candidates <- 2000

product_bytes <- function(candidates) 8 * candidates^2

path_settings_of <- function(fit, lambda, gamma, candidates, work) {
  check_one_residual(fit, "A path of sparse effects")
  check_lambda(lambda)
  check_numbers(gamma, "gamma")
  must_be(length(gamma) == 1 && gamma >= 0 && gamma <= 1, gamma, "gamma", "a number from 0 to 1")
  # Kernels take half of the memory, Q a quarter, and tested genotypes and candidates the rest.
  memory <- path_settings(fit, fit$path, work)$work$memory
  most <- floor(sqrt(memory / 4 / product_bytes(1)))
  if (!is.null(candidates)) {
    check_whole_number(candidates, "candidates")
    if (candidates > most) refuse_candidates(candidates, most, "choose at most")
  }
  list(
    lambda = as.double(lambda), gamma = gamma, candidates = candidates %||% usual_candidates,
    most = most, memory = max(memory / 8, block_bytes(length(fit$y)))
  )
}

refuse_candidates <- function(candidates, most, advice) {
  abort_ancify(
    sprintf(
      "%s take %s, but the fit's `memory` leaves %s for them: %s %s, or fit with more memory.",
      count_of(candidates, "candidate"), show_bytes(product_bytes(candidates)),
      show_bytes(product_bytes(most)), advice, format_count(most)
    ),
    "input", bytes = product_bytes(candidates)
  )
}

check_lambda <- function(lambda) {
  if (is.null(lambda)) {
    return(invisible())
  }
  check_positive(lambda, "lambda")
  rising <- which(diff(lambda) >= 0)
  refuse_if(length(rising),
            "`lambda` must fall, but %s comes after %s: sort it, by sort(decreasing = TRUE).",
            number_text(lambda[rising[1] + 1]), number_text(lambda[rising[1]]))
}

# ---- Path ----------------------------------------------------------------------------------------

# list(path =, residuals = P (y - Z b) of the best step). `g`: the tested variants.
found_path <- function(fit, g, settings, work) {
  problem <- core_problem(fit, path_settings(fit, fit$path, work))
  problem$work$memory <- max(problem$work$memory / 2, block_bytes(length(fit$y)))
  of_core <- core_list(
    "SparsePathSettings",
    scale_power = fit$scale_power, lambda = settings$lambda,
    candidates = min(settings$candidates, settings$most), most = settings$most,
    memory = settings$memory, exact = fit$path == "exact", seed = fit$control$seed
  )
  found <- with_watch("Selecting", function(watch) {
    sparse_path_impl(problem, core_genotypes(g), unname(fit$theta), of_core, watch)
  }, work$progress, inputs = fit_inputs(fit))
  if (found$needed > 0) {
    refuse_candidates(found$needed, settings$most, "end `lambda` earlier, so that it needs at most")
  }
  path <- new_lasso_path(found, fit, g, settings$gamma, work)
  list(path = path, residuals = found$residuals[, path$best])
}

new_lasso_path <- function(found, fit, g, gamma, work) {
  places <- which(found$effects != 0, arr.ind = TRUE)
  column <- found$variants[places[, 1]] + 1
  columns <- sort(unique(column))
  variance <- genotype_moments(g[, columns_or_first(columns)], work)$variance
  variant <- match(column, columns)
  effects <- data.frame(step = places[, 2], variant = variant, effect = found$effects[places])
  effects$per_copy <- effects$effect * variance[variant]^(fit$scale_power / 2)
  effects <- effects[order(effects$step, effects$variant), ]
  rownames(effects) <- NULL
  steps <- data.frame(
    lambda = found$lambda, variants = tabulate(effects$step, length(found$lambda)),
    rss = found$rss
  )
  steps$ebic <- ebic(steps, length(fit$y), found$tested, gamma)
  steps$violation <- found$violation
  structure(
    list(
      steps = steps, effects = effects,
      variants = data.frame(chosen_rows(g$variants, columns), column = columns),
      best = which.min(steps$ebic), tested = found$tested, candidates = length(found$variants),
      theta = fit$theta, samples = length(fit$y), gamma = gamma
    ),
    class = "lasso_path"
  )
}

# The columns, or the first one if there are none, as genotypes need at least one variant.
columns_or_first <- function(columns) if (length(columns)) columns else 1

ebic <- function(steps, n, tested, gamma) {
  k <- steps$variants
  k * log(n) + n * log(steps$rss / n) + 2 * gamma * lchoose(tested, k)
}

# ---- Methods -------------------------------------------------------------------------------------

#' @rdname lasso_path
#' @export
print.lasso_path <- function(x, ...) {
  check_no_more(...)
  best <- x$steps[x$best, ]
  shown <- function(lambda) format(lambda, digits = 4)
  write_object("lasso_path", c(
    count_of(x$samples, "sample"), paste(count_of(x$tested, "variant"), "tested")
  ), c(
    lambda = sprintf("%s falling from %s to %s", format_count(nrow(x$steps)),
                     shown(x$steps$lambda[1]), shown(min(x$steps$lambda))),
    "variants" = sprintf("up to %s with an effect", format_count(max(x$steps$variants))),
    "least EBIC" = sprintf("step %s, lambda %s, %s", format_count(x$best), shown(best$lambda),
                           count_of(best$variants, "variant"))
  ))
  invisible(x)
}

#' @rdname lasso_path
#' @export
coef.lasso_path <- function(object, step = NULL, ...) {
  check_no_more(...)
  chosen <- effects_at(object, step)
  stats::setNames(chosen$per_copy, object$variants$id[chosen$variant])
}

effects_at <- function(path, step) {
  step <- step %||% path$best
  check_whole_number(step, "step", nrow(path$steps))
  path$effects[path$effects$step == step, ]
}

#' @rdname lasso_path
#' @export
as.data.frame.lasso_path <- function(x, ...) {
  variants <- x$variants[names(x$variants) != "column"]
  table <- data.frame(
    step = x$effects$step, lambda = x$steps$lambda[x$effects$step],
    chosen_rows(variants, x$effects$variant), effect = x$effects$effect,
    per_copy = x$effects$per_copy
  )
  rownames(table) <- NULL
  table
}

#' @rdname lasso_path
#' @param main A title. `NULL` (the default): none.
#' @export
plot.lasso_path <- function(x, main = NULL, ...) {
  check_no_more(...)
  chosen <- effects_at(x, NULL)
  labels <- shorten(variant_labels(x$variants[chosen$variant, ]))
  old <- graphics::par(las = 1, mgp = c(2.4, 0.6, 0), tcl = -0.3,
                       mar = c(4, 5, if (is.null(main)) 3 else 5, max(nchar(labels), 0) * 0.55 + 1))
  on.exit(graphics::par(old))
  effects <- matrix(0, nrow(x$steps), nrow(x$variants))
  effects[cbind(x$effects$step, x$effects$variant)] <- x$effects$effect
  lambda <- x$steps$lambda
  graphics::plot.new()
  graphics::plot.window(rev(range(lambda)), range(0, effects), log = "x")
  colours <- grDevices::hcl.colors(max(ncol(effects), 1), "Dark 3")
  for (j in seq_len(ncol(effects))) graphics::lines(lambda, effects[, j], col = colours[j])
  graphics::abline(h = 0, col = "grey60")
  graphics::abline(v = lambda[x$best], lty = 2)
  graphics::axis(1)
  graphics::axis(2)
  counted <- unique(round(seq(1, nrow(x$steps), length.out = 7)))
  graphics::axis(3, lambda[counted], x$steps$variants[counted], lwd = 0, line = -0.8)
  graphics::mtext("variants", line = 1, cex = graphics::par("cex"))
  graphics::title(main, xlab = expression(lambda), ylab = "standardised effect")
  ink <- colours[chosen$variant]
  graphics::points(rep(lambda[x$best], nrow(chosen)), chosen$effect, pch = 19, cex = 0.7, col = ink)
  name_lines(labels, effects[nrow(effects), chosen$variant], ink)
  invisible(x)
}

# Names lines in the right margin, beside their last `values`.
name_lines <- function(labels, values, colours) {
  if (length(labels) == 0) {
    return()
  }
  order <- order(values)
  size <- 0.8 * size_of_rows(length(labels))
  usr <- graphics::par("usr")
  inch <- diff(usr[3:4]) / graphics::par("pin")[2]
  at <- apart(values[order], size * graphics::par("cin")[2] * inch)
  graphics::mtext(labels[order], 4, 0.2, at = at, col = colours[order],
                  cex = size * graphics::par("cex"))
}

# Ids of variants; their places without an id.
variant_labels <- function(variants) {
  ifelse(variants$id %in% c(".", "", NA), paste0(variants$chromosome, ":", variants$position),
         variants$id)
}
