#' Merge weak components
#'
#' Merges components whose variance is not significantly above 0 into one background component, and
#' fits the model again: `merge_components(fit)`.
#'
#' @details
#' A component has z = theta / se. The standard error is from the inverse of the information matrix
#' of all variances, including the residual's and those at a bound. Components with z below the
#' argument `z` are weak. Its default, 1.6449, is a one-sided test at 5 %.
#'
#' | Weak components | Result |
#' | --- | --- |
#' | sets of variants | one component of all their variants, with the sums of their weights |
#' | groups of a [kernel_weighted()] | one group of all their blocks |
#' | other kernels | unchanged, as their sum would need a scale |
#' | the only weak one of its kind | unchanged |
#'
#' The model is fitted again once. No further components are merged, even if some are still weak.
#'
#' @param fit A fit of [fit_reml()].
#' @param z Components with a smaller z are merged, 1.6449 by default.
#' @param background Name of the new component, `"background"` by default.
#' @inheritParams fit_reml
#' @return A fit as from [fit_reml()], of class `reml_fit`. Its field `merged` is a data frame with
#'   a row for each genetic component of `fit`, which `print()` shows:
#'
#' | Column | Content |
#' | --- | --- |
#' | `component`, `theta`, `se`, `z` | the component, and its test |
#' | `weak` | whether its z is below `z` |
#' | `into` | its component in the new fit |
#'
#'   If there is nothing to merge, the result is `fit` with this field.
#' @section Errors:
#' * `ancify_input_error`: `fit` is not a fit, the information has no inverse, or `background` is
#'   the name of another component.
#' * `ancify_file_error`: the fit's genotypes are missing or were changed.
#' * `ancify_fit_warning`: the new fit has not converged.
#' @seealso [fit_reml()], [heritability()]
#' @export
#' @examples
#' # 60 samples and 40 variants on four chromosomes; variants of the first have effects
#' set.seed(1)
#' stem <- tempfile()
#' calls <- matrix(sample(c(0, 2, 3), 60 * 40, replace = TRUE), 4)
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, c(1, 4, 16, 64) %*% calls)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 -9", 1:60, 1:60), paste0(stem, ".fam"))
#' writeLines(sprintf("%d snp%d 0 %d G A", rep(1:4, each = 10), 1:40, 1:40), paste0(stem, ".bim"))
#' g <- open_genotypes(stem)
#' y <- drop(as.matrix(g)[, 1:10] %*% rnorm(10)) + rnorm(60)
#' data <- data.frame(id = paste0("sample", 1:60), y)
#'
#' fit <- fit_reml(y ~ 1, data, g, components_by_chromosome(g), threads = 1)
#' merge_components(fit)
merge_components <- function(fit, z = 1.6449, background = "background",
                             progress = interactive()) {
  check_args(fit = check_reml_fit, z = number(), background = text("name of a component"))
  judged <- judged_components(fit, z)
  model <- with_genotypes(fit)
  number <- seq_along(fit$names) # of the first component that is merged with it
  for (set in mergeable_sets(fit)) {
    some <- which(judged$weak[set$components])
    if (length(some) < 2) next
    weak <- set$components[some]
    judged$into[weak] <- paste0(set$prefix, background)
    number[weak] <- weak[1]
    model <- set$merge(model, some, background)
  }
  if (anyDuplicated(number)) {
    fit <- refitted(model, judged$into, number, match.call(), work_of(fit, progress))
  }
  fit$merged <- judged
  fit
}

# The table `merged`, before any component is merged.
judged_components <- function(fit, z) {
  inverse <- tryCatch(solve(fit$information), error = function(condition) NULL)
  variance <- if (!is.null(inverse)) diag(inverse)
  refuse_if(is.null(variance) || !all(is.finite(variance) & variance > 0),
            "The information of the variances has no inverse: leave out a redundant component.")
  genetic <- seq_along(fit$names)
  table <- data.frame(
    component = fit$names, theta = unname(fit$theta[genetic]), se = sqrt(unname(variance[genetic]))
  )
  table$z <- table$theta / table$se
  table$weak <- table$z < z
  table$into <- table$component
  table
}

# Groups of components that can be merged: their indices, the prefix of their names, and
# merge(model, some, name). The merged component takes the position of the first.
mergeable_sets <- function(fit) {
  components <- kernel_components(fit)
  weighted <- Filter(function(name) identical(kernel_kind(fit$kernels[[name]]), "weighted"),
                     names(components))
  c(
    list(list(components = seq_len(fit$n_genetic), prefix = "", merge = merge_sets)),
    lapply(weighted, function(name) {
      merge <- function(model, some, background) {
        model$kernels[[name]] <- merge_groups(model$kernels[[name]], some, background)
        model
      }
      list(components = components[[name]], prefix = paste0(name, "."), merge = merge)
    })
  )
}

# New indices after some of n components become one.
merged_numbers <- function(n, some) {
  into <- replace(seq_len(n), some, min(some))
  match(into, sort(unique(into)))
}

# A variant of several weak sets has the sum of its weights.
merge_sets <- function(model, some, background) {
  weights <- model$weights
  weights$component <- merged_numbers(model$n_genetic, some)[weights$component]
  weights <- stats::aggregate(weight ~ component + variant, weights, sum)
  model$weights <- weights[c("variant", "component", "weight")]
  model$n_genetic <- model$n_genetic - length(some) + 1L
  model
}

# Given ranks add up; divisors of 0, for the mean diagonal, stay 0.
merge_groups <- function(kernel, some, background) {
  into <- merged_numbers(length(kernel$parts), some)
  kernel$component <- into[kernel$component + 1] - 1L
  kernel$divisors <- rowsum_of(kernel$divisors, into, max(into))
  kernel$parts[some] <- background
  kernel$parts <- kernel$parts[!duplicated(into)]
  kernel
}

# The new fit. For each old component, `into`: name of its new component; `number`: index of the
# first component merged with it.
refitted <- function(model, into, number, call, work) {
  model$names <- into[!duplicated(number)]
  check_component_names(model$names)
  # A background has the lowest bound of its parts. A given start is for the old components.
  groups <- c(number, length(number) + seq_along(residual_names(model)))
  lower <- split(model$control$lower, groups)
  model$control$lower <- unname(vapply(lower, min, 0))
  model$control["start"] <- list(NULL)
  result <- run_reml(model, work)
  old <- c(names(result), "call", "formula", "set_variances", "n_variants", "merged")
  fit <- new_reml_fit(unclass(model)[setdiff(names(model), old)], result, call, work)
  warn_not_converged(fit)
  fit
}
