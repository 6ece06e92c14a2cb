# How a fitted substitution model is printed.

#' @export
print.ancify_fit <- function(x, ...) {
  cat(sprintf(
    "<ancify_fit> %s, %s sites, log-likelihood %.2f, AIC %.2f\n", x$model$name,
    format_count(x$sites), x$log_likelihood, stats::AIC(x)
  ))
  if (!x$converged) cat("  not converged:", x$message, "\n")
  print(x$model)
  tree <- newick_text(x$tree, 5)
  # Quoted names may hold commas and blanks.
  if (!grepl("'", tree, fixed = TRUE)) tree <- gsub(",", ", ", tree, fixed = TRUE)
  cat(strwrap(tree, getOption("width"), exdent = 14, initial = "  tree        "), sep = "\n")
  invisible(x)
}

#' @export
summary.ancify_fit <- function(object, ...) {
  structure(list(fit = object), class = "summary.ancify_fit")
}

#' @export
print.summary.ancify_fit <- function(x, ...) {
  print(x$fit)
  cat("\n")
  print(format(x$fit$estimates, digits = 4), row.names = FALSE, right = FALSE)
  invisible(x)
}

#' @export
#' @importFrom stats coef logLik
coef.ancify_fit <- function(object, ...) {
  stats::setNames(object$estimates$estimate, object$estimates$parameter)
}

#' @export
logLik.ancify_fit <- function(object, ...) {
  structure(object$log_likelihood, df = object$df, nobs = object$sites, class = "logLik")
}
