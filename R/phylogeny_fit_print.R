# How fitted models and histories are printed.

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

# Facts for the title of a fit to site patterns.
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

#' @export
print.ancify_history_fit <- function(x, ...) {
  unknown <- x$estimates$parameter[is.na(x$estimates$std_error)]
  write_object("ancify_history_fit", site_fit_facts(x), c(
    message = if (!x$converged) x$message,
    undetermined = if (length(unknown)) paste(enumerate(unknown), "(or at a bound)"),
    data = fitted_data(x),
    copies = if (!is.null(x$variants)) {
      sprintf(
        "%s of the variants have other numbers of copies than the fitted history expects",
        format_percent(copies_amiss(x$variants$copies))
      )
    },
    confidence = if (!is.null(x$variants)) confidence_text(x),
    errors = errors_text(x),
    `not fitted` = if (is.null(x$variants)) {
      sprintf(
        "the focal size (%s) and the mutation rate",
        if (x$history$focal_size_given) "given" else "not given: the next older size"
      )
    } else {
      "the mutation rate"
    },
    history_fields(x$history)
  ))
  invisible(x)
}

confidence_text <- function(fit) {
  confidence <- fit$variants$confidence
  sprintf(
    "posteriors at the variants are %s on average, with a standard error of %.2g points by the fit",
    format_percent(confidence[["stated"]]), 100 * confidence[["std_error"]]
  )
}

errors_text <- function(fit) {
  if (fit$blocks > 0) {
    return(sprintf("from the differences between %d chromosomes", fit$blocks))
  }
  "for independent sites; linked sites are less informative"
}

fitted_data <- function(fit) {
  if (is.null(fit$variants)) {
    return("bases of the outgroups and one focal haplotype")
  }
  sprintf(
    "bases of the outgroups, and allele counts of %s in %s focal haplotypes; %s of them are known",
    count_of(round(fit$variants$sites), "variant"), fit$variants$n,
    format_percent(fit$variants$called)
  )
}

# A line of the log
describe_fitted_history <- function(history) {
  listed <- function(x) paste(vapply(round(x), format_count, ""), collapse = ", ")
  sprintf("Fitted the history: splits %s generations ago, sizes %s", listed(history$splits),
          listed(history$sizes))
}
