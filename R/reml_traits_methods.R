#' Methods for REML fits of several traits
#'
#' Summarise a fit of [fit_reml()] of two or more traits, `fit_reml(cbind(a, b) ~ sex, ...)`: its
#' covariances, correlations and heritabilities.
#'
#' @details
#' **Model.** Each trait has fixed effects of its own, of the same covariates. Component g has a
#' matrix C_g of covariances between traits: the genetic values of the traits a and b have the
#' covariance C_gab K_g. Residuals of the same sample have the covariance C_eab.
#'
#' **Missing values.** A sample with some of the traits stays. Residual covariances come from
#' samples with both traits. If no sample has both, their residual covariance is `NA`, and the
#' genetic one comes from relatives across the traits.
#'
#' | Function | Result |
#' | --- | --- |
#' | `summary()` | covariances and correlations, heritabilities, fixed effects, samples, search |
#' | `as.data.frame()` | the table of covariances and correlations |
#' | `coef()`, `vcov()` | fixed effects and their covariance; `which = "components"` for theta |
#' | `logLik()`, `nobs()` | restricted log-likelihood; number of values of all traits |
#' | `fitted()` | fixed effects plus genetic values |
#' | `residuals()` | traits minus fixed effects, and minus genetic values by default |
#' | `plot()` | correlations by component, with standard errors |
#' | [heritability()] | each trait's heritability |
#' | [genetic_correlation()] | correlations with tests |
#'
#' `predict()`, `simulate()`, `anova()` and scans take fits of one trait.
#'
#' **Search.** Newton steps keep each C_g positive semidefinite. With one kernel, and all traits in
#' each sample, eigenvectors of the kernel make samples independent, and a step takes milliseconds.
#' Otherwise each step factors a matrix over all values of all traits.
#'
#' The stochastic path takes only products with kernels, which all traits share. Values are whitened
#' by sample with the phenotypic covariance of its traits, so that missing ones cost nothing. Random
#' probes estimate traces, and a regression on quantities whose means are known reduces their error.
#' `method = "auto"` takes this path above 5,000 samples (with one kernel and no missing values), or
#' above 5,000 values.
#'
#' **Errors.** `se` is by the delta method, from the inverse information. A singular C_g, such as
#' that of a correlation of 1, counts as known to be singular. A correlation at 1 or -1, or of a
#' trait without variance, has no error. `mc_se` is the error by random probes of the stochastic
#' path, 0 on the exact one.
#'
#' @param object,x A fit, or its summary.
#' @param which `"fixed"` (the default) or `"components"`.
#' @param type Residuals that exclude (`"conditional"`, the default) or include (`"marginal"`)
#'   genetic values.
#' @param main A title. `NULL` (the default): none.
#' @param digits Number of digits to print, 6 by default.
#' @param ... Not used.
#' @return As in the table. `coef()`, `fitted()` and `residuals()`: a matrix with a column for each
#'   trait. `plot()`: the ggplot2 picture, invisibly. `as.data.frame()`: a row for each component
#'   and pair of traits, with `covariance`, `se`, `mc_se`, `correlation`, `correlation_se`,
#'   `correlation_mc_se`, and `singular`: whether the component's matrix is singular.
#' @section Errors:
#' * `ancify_package_error`: a picture needs the package ggplot2.
#' @references
#' Thompson (1973) The estimation of variance and covariance components with an application when
#' records are subject to culling. Biometrics 29:527.
#'
#' Lee, Yang, Goddard, Visscher and Wray (2012) Estimation of pleiotropy between complex diseases
#' using single-nucleotide polymorphism-derived genomic relationships and restricted maximum
#' likelihood. Bioinformatics 28:2540.
#'
#' Zhou and Stephens (2014) Efficient multivariate linear mixed model algorithms for genome-wide
#' association studies. Nature Methods 11:407.
#' @seealso [fit_reml()], [genetic_correlation()]
#' @name reml_traits
#' @examples
#' families <- rep(1:40, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' shared <- rnorm(40)[families]
#' data <- data.frame(id = 1:200, a = shared + rnorm(200), b = shared + rnorm(200))
#' data$b[1:20] <- NA
#' fit <- fit_reml(cbind(a, b) ~ 1, data, kernels = list(family = kernel), threads = 1)
#' summary(fit)
#' heritability(fit)
#' coef(fit)
NULL

#' @rdname reml_traits
#' @export
print.reml_traits_fit <- function(x, ...) {
  check_no_more(...)
  rows <- trait_heritability(x)
  rows <- rows[rows$component == "h2", ]
  shares <- stats::setNames(
    Map(estimate_text, rows$share, rows$se), paste("h2 of", rows$trait)
  )
  table <- covariance_table(x)
  table <- table[table$trait_1 != table$trait_2, ]
  correlations <- stats::setNames(
    paste("correlation", Map(estimate_text, table$correlation, table$correlation_se)),
    sprintf("%s: %s, %s", table$component, table$trait_1, table$trait_2)
  )
  write_object("reml_fit", traits_facts(x), c(
    unlist(shares), correlations, chromosomes = chromosomes_text(x),
    message = if (!x$converged) x$message
  ))
  invisible(x)
}

# "0.597 (SE 0.032)".
estimate_text <- function(estimate, se) {
  if (is.na(estimate)) {
    return("not estimated")
  }
  shown <- format(estimate, digits = 4)
  if (is.na(se)) shown else sprintf("%s (SE %s)", shown, format(se, digits = 4))
}

traits_facts <- function(fit) {
  c(
    deparse1(fit$formula), count_of(nrow(fit$y), "sample"), paste(fit$path, "path"),
    if (!fit$converged) "not converged"
  )
}

#' @rdname reml_traits
#' @export
summary.reml_traits_fit <- function(object, ...) {
  check_no_more(...)
  estimate <- object$coefficients
  fixed <- data.frame(
    trait = rep(colnames(estimate), each = nrow(estimate)),
    effect = rep(rownames(estimate), ncol(estimate)), estimate = as.vector(estimate),
    se = sqrt(diag(object$coefficients_covariance)), row.names = NULL
  )
  fixed$z <- fixed$estimate / fixed$se
  fixed$p_value <- 2 * stats::pnorm(-abs(fixed$z))
  structure(
    list(fit = object, components = covariance_table(object),
         heritability = trait_heritability(object), fixed = fixed),
    class = "summary.reml_traits_fit"
  )
}

#' @rdname reml_traits
#' @export
print.summary.reml_traits_fit <- function(x, digits = 6, ...) {
  check_no_more(...)
  fit <- x$fit
  write_object("reml_fit", traits_facts(fit), c(
    samples = paste0(format_count(nrow(fit$y)), dropped_text(fit$dropped)),
    traits = describe_traits(fit$y)[1], chromosomes = chromosomes_text(fit),
    `log-likelihood` = format_number(fit$log_likelihood, digits + 3),
    search = sprintf("%s after %s", if (fit$converged) "converged" else "not converged",
                     count_of(max(fit$iterations$iteration), "step")),
    message = if (!fit$converged) fit$message
  ))
  table <- x$components
  for (of in c("covariance", "correlation")) {
    columns <- c("component", "trait_1", "trait_2", of,
                 if (of == "covariance") "se" else "correlation_se")
    shown <- table[of == "covariance" | table$trait_1 != table$trait_2, columns]
    names(shown)[5] <- "se"
    cat(if (of == "covariance") "\nCovariances\n" else "\nCorrelations\n")
    print_table(shown, digits)
  }
  if (any(table$singular)) {
    cat("\nSingular matrices:", enumerate(unique(table$component[table$singular])), "\n")
  }
  cat("\nHeritability\n")
  print_table(x$heritability, digits)
  if (nrow(x$fixed)) {
    cat("\nFixed effects\n")
    print_table(x$fixed, digits)
  }
  invisible(x)
}

#' @rdname reml_traits
#' @export
as.data.frame.reml_traits_fit <- function(x, ...) covariance_table(x)

#' @rdname reml_traits
#' @export
coef.reml_traits_fit <- function(object, which = c("fixed", "components"), ...) {
  check_no_more(...)
  if (check_which(which) == "fixed") object$coefficients else object$theta
}

#' @rdname reml_traits
#' @export
vcov.reml_traits_fit <- function(object, which = c("fixed", "components"), ...) {
  check_no_more(...)
  if (check_which(which) == "fixed") {
    object$coefficients_covariance
  } else {
    traits_theta_covariance(object)
  }
}

#' @rdname reml_traits
#' @export
logLik.reml_traits_fit <- function(object, ...) {
  check_no_more(...)
  structure(
    object$log_likelihood, df = length(object$theta) + length(object$coefficients),
    nobs = nobs(object), class = "logLik"
  )
}

#' @rdname reml_traits
#' @export
nobs.reml_traits_fit <- function(object, ...) {
  check_no_more(...)
  sum(!is.na(object$y))
}

#' @rdname reml_traits
#' @export
fitted.reml_traits_fit <- function(object, ...) {
  check_no_more(...)
  object$x %*% object$coefficients + rowSums(object$genetic, dims = 2)
}

#' @rdname reml_traits
#' @export
residuals.reml_traits_fit <- function(object, type = c("conditional", "marginal"), ...) {
  check_method(type = choice(c("conditional", "marginal")))
  genetic <- if (type == "conditional") rowSums(object$genetic, dims = 2) else 0
  object$y - object$x %*% object$coefficients - genetic
}

#' @rdname reml_traits
#' @export
plot.reml_traits_fit <- function(x, main = NULL, ...) {
  check_no_more(...)
  need_ggplot2()
  traits <- colnames(x$y)
  table <- covariance_table(x)
  table <- table[table$trait_1 != table$trait_2, ]
  table$label <- ifelse(is.na(table$correlation), "", sprintf("%.2f", table$correlation))
  known <- !is.na(table$correlation_se)
  table$label[known] <- sprintf("%s\n(%.2f)", table$label[known], table$correlation_se[known])
  table$component <- factor(table$component, names(x$covariances))
  mirrored <- table
  mirrored[c("trait_1", "trait_2")] <- table[c("trait_2", "trait_1")]
  table <- rbind(table, mirrored)
  table$trait_1 <- factor(table$trait_1, traits)
  table$trait_2 <- downwards(table$trait_2, traits)
  picture <- ggplot2::ggplot(table, by_column(x = "trait_1", y = "trait_2")) +
    ggplot2::geom_tile(by_column(fill = "correlation"), colour = "white") +
    ggplot2::geom_text(by_column(label = "label"), size = 3) +
    panels("component") +
    ggplot2::scale_x_discrete(drop = FALSE) +
    ggplot2::scale_y_discrete(drop = FALSE) +
    ggplot2::scale_fill_gradient2(
      "correlation", low = fit_colours[["randomisation"]], high = fit_colours[["sampling"]],
      limits = c(-1, 1), na.value = "grey90"
    ) +
    ggplot2::labs(title = main, x = NULL, y = NULL) +
    picture_theme()
  draw_picture(picture)
}
