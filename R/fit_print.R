# How a fitted substitution model is printed.

#' @export
print.ancify_fit <- function(x, ...) {
  tree <- newick_text(x$tree, 5)
  # Quoted names may contain commas.
  if (!grepl("'", tree, fixed = TRUE)) tree <- gsub(",", ", ", tree, fixed = TRUE)
  write_object(
    "ancify_fit", c(x$model$name, site_fit_facts(x)),
    c(message = if (!x$converged) x$message, model_fields(x$model), tree = tree)
  )
  invisible(x)
}

# The title's facts of a fit to site patterns.
site_fit_facts <- function(fit) {
  c(
    paste(format_count(fit$sites), "sites"), sprintf("log-likelihood %.2f", fit$log_likelihood),
    sprintf("AIC %.2f", stats::AIC(fit)), if (!fit$converged) "not converged"
  )
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
