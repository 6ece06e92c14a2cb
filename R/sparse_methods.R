#' Methods for sparse fits
#'
#' Summarise, plot and predict from a fit by [fit_sparse_reml()].
#'
#' @details
#' | Function | Result |
#' | --- | --- |
#' | `summary()` | the support with its effects, the variances with their shares, the rounds |
#' | `as.data.frame()` | the table of the support |
#' | `coef()` | effects of the support by variant id; with `which`, fixed effects or variances |
#' | `plot()` | the path, with the selected step: see [lasso_path()] |
#' | `predict()` | fixed effects plus values of the support plus genetic values of the kernels |
#'
#' **Predictions** use means and scales of the fit's samples, and match variants like
#' [predict.reml_fit()].
#'
#' **Shares** are fractions of the sum of all variances, including the support's.
#'
#' @param object,x A result of [fit_sparse_reml()], or its summary.
#' @param which `"support"` (the default), `"fixed"` or `"components"`.
#' @inheritParams predict.reml_fit
#' @param type `"response"` (the default): all terms. `"genetic"`: without the fixed effects.
#' @param main A title. `NULL` (the default): none.
#' @return As in the table. `predict()` gives a numeric vector, named by sample, like
#'   [predict.reml_fit()]. Its attribute `support` counts variants of the support: `used`,
#'   `turned` (among those used) and `absent`.
#' @section Errors:
#' * Those of [predict.reml_fit()].
#' @seealso [fit_sparse_reml()]
#' @name sparse_reml
#' @examples
#' # 60 samples and 40 variants, of which the first has an effect; ten samples are held out
#' set.seed(1)
#' stem <- tempfile()
#' calls <- matrix(sample(c(0, 2, 3), 60 * 40, replace = TRUE), 4)
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, c(1, 4, 16, 64) %*% calls)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 -9", 1:60, 1:60), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:40, 1:40), paste0(stem, ".bim"))
#' g <- open_genotypes(stem)
#' data <- data.frame(id = paste0("sample", 1:60), y = rnorm(60) + 2 * as.matrix(g)[, 1])
#'
#' fit <- fit_reml(y ~ 1, data, g[1:50, ], threads = 1, verbose = FALSE)
#' sparse <- fit_sparse_reml(fit, verbose = FALSE)
#' summary(sparse)
#' coef(sparse)
#' cor(predict(sparse, g[51:60, ]), data$y[51:60])
NULL

#' @rdname sparse_reml
#' @export
print.sparse_reml <- function(x, ...) {
  check_no_more(...)
  write_sparse(x)
  if (nrow(x$support)) {
    columns <- c("chromosome", "id", "position", "counted", "frequency", "effect")
    largest <- utils::head(order(-abs(x$support$effect)), 10)
    print(x$support[largest, columns], row.names = FALSE, digits = 4)
  }
  invisible(x)
}

write_sparse <- function(x) {
  shares <- x$variances / sum(x$variances)
  lines <- sprintf("%s (%s)", vapply(x$variances, format, "", digits = 4),
                   vapply(shares, format_percent, ""))
  write_object(
    "sparse_reml",
    c(deparse1(x$fit$formula), count_of(length(x$fit$y), "sample"),
      paste(count_of(nrow(x$support), "variant"), "of", format_count(x$path$tested)),
      if (!x$converged) "not converged"),
    stats::setNames(lines, names(x$variances))
  )
}

#' @rdname sparse_reml
#' @export
summary.sparse_reml <- function(object, ...) {
  check_no_more(...)
  structure(
    list(
      fit = object, support = object$support, rounds = object$rounds,
      variances = data.frame(
        variance = object$variances, share = object$variances / sum(object$variances)
      ),
      fixed = object$fit$coefficients
    ),
    class = "summary.sparse_reml"
  )
}

#' @rdname sparse_reml
#' @export
print.summary.sparse_reml <- function(x, ...) {
  check_no_more(...)
  write_sparse(x$fit)
  show_table <- function(title, table) {
    cat("\n", title, "\n", sep = "")
    print(table, row.names = FALSE, digits = 4)
  }
  if (nrow(x$support)) show_table("Support", x$support)
  if (length(x$fixed)) {
    show_table("Fixed effects", data.frame(effect = names(x$fixed), estimate = unname(x$fixed)))
  }
  show_table("Rounds", x$rounds)
  invisible(x)
}

#' @rdname sparse_reml
#' @export
as.data.frame.sparse_reml <- function(x, ...) x$support

#' @rdname sparse_reml
#' @export
coef.sparse_reml <- function(object, which = c("support", "fixed", "components"), ...) {
  check_no_more(...)
  switch(
    check_choice(which, c("support", "fixed", "components"), "which"),
    support = stats::setNames(object$support$effect, object$support$id),
    fixed = object$fit$coefficients,
    components = object$theta
  )
}

#' @rdname sparse_reml
#' @export
plot.sparse_reml <- function(x, main = NULL, ...) {
  check_no_more(...)
  plot.lasso_path(x$path, main)
  invisible(x)
}

#' @rdname sparse_reml
#' @export
predict.sparse_reml <- function(object, genotypes = NULL, data = NULL, id = "id",
                                type = c("response", "genetic"), progress = interactive(), ...) {
  check_no_more(...)
  if (is.null(genotypes)) {
    return(predict.reml_fit(object$fit, NULL, data, id, type) + object$values)
  }
  type <- check_choice(type, c("response", "genetic"), "type")
  work <- work_of(object$fit, progress)
  beside <- predicted_by(object$fit, genotypes, data, id, type, work)
  genotypes <- with_copies_by_sex(genotypes, chromosomes_of_file(object$genotypes))
  places <- matched_variants(
    support_effects(object), genotypes, chromosomes_of_file(object$genotypes)
  )
  structure(
    beside + genetic_values(genotypes, places, work), support = places$counts
  )
}

# The tested variants with their `mean` and `effect`, which is 0 outside the support.
support_effects <- function(object) {
  variants <- object$genotypes$variants
  best <- effects_at(object$path, NULL)
  columns <- object$path$variants$column[best$variant]
  of_support <- function(values) replace(numeric(nrow(variants)), columns, values)
  data.frame(
    variants, mean = of_support(2 * object$support$frequency),
    effect = of_support(object$support$effect)
  )
}
