# Printing of fits.

#' @rdname reml_fit
#' @export
print.reml_fit <- function(x, ...) {
  check_no_more(...)
  h2 <- variance_shares(x)["h2", ]
  components <- vapply(names(x$theta), function(name) {
    paste(format(x$theta[[name]], digits = 4), if (x$at_bound[[name]]) "(at its bound)")
  }, "")
  write_object(
    "reml_fit", reml_facts(x),
    c(h2 = with_errors(h2, x), liability_text(x), components, chromosomes = chromosomes_text(x),
      message = if (!x$converged) x$message)
  )
  if (!is.null(x$merged)) {
    is_merged <- any(x$merged$into != x$merged$component)
    cat(if (is_merged) "\nMerged components\n" else "\nNo components were merged\n")
    print_table(x$merged[c("component", "theta", "se", "z", "into")], 4)
  }
  invisible(x)
}

reml_facts <- function(fit) {
  c(
    deparse1(fit$formula), count_samples(fit), paste(fit$path, "path"),
    if (!fit$converged) "not converged"
  )
}

# "0.597 (SE 0.032)", with the Monte Carlo error if there is one.
with_errors <- function(row, fit) {
  shown <- function(x) format(x, digits = 4)
  if (is.na(row$se)) {
    return(paste(shown(row$estimate), if (any(fit$at_bound)) "(at a bound)" else "(no SE)"))
  }
  paste0(
    shown(row$estimate), " (SE ", shown(row$se),
    if (has_random_error(fit)) paste0(", MC SE ", shown(row$mc_se)), ")"
  )
}

has_random_error <- function(fit) any(fit$mc_score != 0) || fit$mc_log_likelihood > 0

#' @rdname reml_fit
#' @export
summary.reml_fit <- function(object, ...) {
  check_no_more(...)
  fixed <- data.frame(estimate = object$coefficients)
  fixed$se <- sqrt(diag(object$coefficients_covariance))
  fixed$z <- fixed$estimate / fixed$se
  fixed$p_value <- 2 * stats::pnorm(-abs(fixed$z))
  structure(
    list(
      fit = object, components = as.data.frame(object), shares = heritability(object),
      fixed = fixed, lrt = genetic_lrt(object)
    ),
    class = "summary.reml_fit"
  )
}

#' @rdname reml_fit
#' @export
as.data.frame.reml_fit <- function(x, ...) {
  errors <- delta_errors(x, diag(length(x$theta)))
  errors[x$at_bound, ] <- NA
  share <- variance_shares(x)[-1, ]
  n_residuals <- length(x$theta) - length(x$names)
  enrichment <- enrichments(x)[c(seq_along(x$names), rep(NA, n_residuals)), ]
  table <- data.frame(
    component = names(x$theta), variants = c(x$used_variants, rep(NA, n_residuals)),
    theta = x$theta, errors,
    z = x$theta / errors$se, share = share$estimate, share_se = share$se,
    share_mc_se = share$mc_se, enrichment = enrichment$estimate, enrichment_se = enrichment$se,
    enrichment_mc_se = enrichment$mc_se, at_bound = x$at_bound
  )
  rownames(table) <- NULL
  table
}

#' @rdname reml_fit
#' @param digits Number of digits to print. `NULL` (the default): 9 on the exact path, 5 on the
#'   stochastic one.
#' @export
print.summary.reml_fit <- function(x, digits = NULL, ...) {
  check_no_more(...)
  fit <- x$fit
  digits <- digits %||% if (fit$path == "exact") 9 else 5
  write_object("reml_fit", reml_facts(fit), c(
    samples = paste0(sub("^(\\S+) samples?$", "\\1", count_samples(fit)),
                     dropped_text(fit$dropped)),
    cases = if (is_binary(fit)) cases_text(fit$y, fit$labels),
    variants = variants_text(fit), chromosomes = chromosomes_text(fit),
    `log-likelihood` = log_likelihood_text(fit, digits),
    `likelihood ratio` = lrt_text(x$lrt, fit, digits),
    search = search_text(fit),
    message = if (!fit$converged) fit$message
  ))
  cat("\nVariance components\n")
  print_table(theta_columns(x$components, fit), digits)
  cat("\nShares of the variance", if (is_binary(fit)) " (observed scale)", "\n", sep = "")
  print_table(share_columns(x$shares, fit), digits)
  print_liability(fit, digits)
  if (nrow(x$fixed)) {
    cat("\nFixed effects\n")
    print_table(data.frame(effect = rownames(x$fixed), x$fixed), digits)
  }
  invisible(x)
}

variants_text <- function(fit) {
  if (is.null(fit$genotypes)) {
    return("")
  }
  paste0(
    format_count(fit$n_variants), " vary",
    if (fit$constant_variants > 0) paste0(", ", format_count(fit$constant_variants), " do not"),
    if (fit$uncovered > 0) paste0(", ", format_count(fit$uncovered), " in no component")
  )
}

# "autosomes; left out: 40 variants of X", or nothing if all are in the fit.
chromosomes_text <- function(fit) {
  if (length(fit$left_out) == 0) {
    return("")
  }
  sprintf("%s; left out: %s", enumerate(fit$chromosomes), chromosome_counts_text(fit$left_out))
}

log_likelihood_text <- function(fit, digits) {
  if (is.na(fit$log_likelihood)) {
    return("not computed")
  }
  paste0(
    format_number(fit$log_likelihood, digits + 3),
    if (fit$mc_log_likelihood > 0) sprintf(" (MC SE %.2g)", fit$mc_log_likelihood),
    if (length(fit$environmental)) ", without components " else ", without genetic components ",
    format_number(fit$log_likelihood_null, digits + 3)
  )
}

lrt_text <- function(lrt, fit, digits) {
  if (is.na(lrt[["statistic"]])) {
    return("")
  }
  paste0(
    format_number(lrt[["statistic"]], digits),
    if (lrt[["mc_se"]] > 0) sprintf(" (MC SE %.2g)", lrt[["mc_se"]]), ", p ",
    if (lrt_is_bound(fit)) "at most " else "= ", format(lrt[["p_value"]], digits = 3)
  )
}

search_text <- function(fit) {
  paste0(
    if (fit$converged) "converged" else "not converged", " after ",
    count_of(max(fit$iterations$iteration), "step"),
    if (!is.null(fit$genotypes)) {
      sprintf(", %s over the genotypes", pass_text(fit$passes))
    },
    if (fit$probes > 0) paste0(", ", count_of(fit$probes, "probe"))
  )
}

pass_text <- function(passes) {
  if (passes == 1) "1 pass" else paste(format(passes, digits = 3), "passes")
}

# The informative columns for this fit.
theta_columns <- function(table, fit) {
  table <- table[c(
    "component", if (has_variants(fit)) "variants", "theta", "se",
    if (has_random_error(fit)) "mc_se", "z"
  )]
  if (any(fit$at_bound)) table$bound <- ifelse(fit$at_bound, "at its bound", "")
  table
}

# The share h2, and each component's share if there are several.
share_columns <- function(table, fit) {
  columns <- c("share", "se", "mc_se")
  if (has_variants(fit, 2)) columns <- c(columns, paste0("enrichment", c("", "_se", "_mc_se")))
  if (!has_random_error(fit)) columns <- columns[!grepl("mc_se", columns)]
  rows <- if (length(fit$names) > 1) seq_len(nrow(table)) else 1
  data.frame(component = rownames(table), table[columns])[rows, ]
}

format_whole <- function(x) ifelse(is.na(x), "", vapply(round(x), format_count, ""))

# Numbers with this many digits, including final zeros; an empty string for NA.
format_number <- function(x, digits) {
  plain <- is.finite(x) & abs(x) >= 1e-4 & abs(x) < 10^digits
  text <- vapply(x, format, "", digits = digits)
  text[plain] <- sub("[.]$", "", formatC(x[plain], digits, format = "fg", flag = "#"))
  ifelse(is.na(x), "", text)
}

# Estimates with `digits` digits, ratios and p with at most four; an empty cell for NA.
print_table <- function(table, digits) {
  shown <- Map(function(column, name) {
    if (!is.numeric(column)) {
      return(column)
    }
    most <- if (grepl("^z$|^p_|^enrichment", name)) min(digits, 4) else digits
    if (name == "variants") format_whole(column) else format_number(column, most)
  }, table, names(table))
  # An error stands beside its estimate, so its column name can be short.
  titles <- c(se = "SE", mc_se = "MC SE", p_value = "p")
  short <- sub("^(share|enrichment)_", "", names(table))
  names(shown) <- ifelse(short %in% names(titles), titles[short], short)
  print(data.frame(shown, check.names = FALSE), row.names = FALSE)
}

# ---- Liability -----------------------------------------------------------------------------------

# A line of the heritability of liability, if the fit has a prevalence.
liability_text <- function(fit) {
  if (is.null(fit$prevalence)) {
    return(if (is_binary(fit)) c(scale = "observed, not of liability"))
  }
  row <- liability(fit)["h2", c("liability", "liability_se", "liability_mc_se")]
  c(`h2 of liability` = with_errors(stats::setNames(row, c("estimate", "se", "mc_se")), fit))
}

print_liability <- function(fit, digits) {
  if (is.null(fit$prevalence)) {
    return(invisible())
  }
  cat(sprintf("\nShares of the variance of liability (prevalence %s, cases %s)\n",
              format_percent(fit$prevalence), format_percent(mean(fit$y))))
  table <- liability(fit)[c("liability", "liability_se", "liability_mc_se")]
  names(table) <- c("share", "se", "mc_se")
  if (!has_random_error(fit)) table$mc_se <- NULL
  rows <- if (length(fit$names) > 1) seq_len(nrow(table)) else 1
  print_table(data.frame(component = rownames(table), table)[rows, ], digits)
}
