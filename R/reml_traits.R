# Fits of several traits: their arguments, their problem for the core, and the fit.

# ---- Fit -----------------------------------------------------------------------------------------

# The path of several traits; refuses arguments of fit_reml() that they cannot have.
traits_path <- function(model, wanted, control, checkpoint, work) {
  refuse_if(!is.null(checkpoint), "Several traits write no `checkpoint`: leave it out.")
  refuse_if(!is.null(control$start) || !identical(control$lower, 0),
            paste("`start` and `lower` of reml_control() are for one trait: the covariances of",
                  "several traits have their own start and bounds. Leave them out."))
  path <- choose_traits_path(model, wanted, work)
  if (path == "stochastic") {
    refuse_if(is.matrix(control$probes),
              "Several traits take random `probes` on the stochastic path: give their number.")
    refuse_if(control$information == "expected",
              "Expected information of several traits needs the exact path: give method = 'exact'.")
  }
  path
}

choose_traits_path <- function(model, wanted, work) {
  check_choice(wanted, c("auto", "exact", "stochastic"), "method")
  if (wanted == "exact") check_traits_memory(model, work)
  if (wanted != "auto") {
    return(wanted)
  }
  fits <- traits_bytes(model) + block_bytes(nrow(model$y)) <= work$memory
  if (traits_size(model) <= most_exact_samples && fits) "exact" else "stochastic"
}

fit_traits <- function(model, genotypes, control, work, call, log) {
  check_one_residual(model, "A fit of several traits")
  refuse_records(model, "A fit of several traits takes")
  for (trait in colnames(model$y)) {
    warn_of_few_values(stats::na.omit(model$y[, trait]), trait, two_values_beside_others)
  }
  warn_of_variants(model, genotypes, work)
  model$control <- core_control(control, c(model$names, "residual"), nrow(model$y), model$path)
  model <- with_file_facts(model)
  for (line in describe_traits(model$y)) log(line)
  tell_of_left_out(model$left_out, model$chromosomes, "the components", log)
  result <- with_watch("Fitting", function(watch) {
    reml_traits_impl(
      traits_problem(model, work), with_nan(model$y), model$path == "exact", watch
    )
  }, work$progress, inputs = fit_inputs(model))
  new_traits_fit(model, result, call)
}

# The core's missing value.
with_nan <- function(y) {
  y[is.na(y)] <- NaN
  unname(y)
}

# Whether eigenvectors of one kernel make the samples independent.
is_separable <- function(model) length(model$names) == 1 && !anyNA(model$y)

# Lines of the log: numbers of samples by trait, and of those with all.
describe_traits <- function(y) {
  by_trait <- sprintf("%s with %s", vapply(colSums(!is.na(y)), format_count, ""), colnames(y))
  common <- crossprod(!is.na(y))
  apart <- which(common == 0 & lower.tri(common), arr.ind = TRUE)
  c(
    sprintf("%s; %s with all traits", enumerate(by_trait),
            format_count(sum(stats::complete.cases(y)))),
    sprintf("No sample has both %s and %s: their residual covariance is not estimated",
            colnames(y)[apart[, 2]], colnames(y)[apart[, 1]])
  )
}

# ---- For the core --------------------------------------------------------------------------------

# Rows of the largest matrix of the exact path.
traits_size <- function(model) if (is_separable(model)) nrow(model$y) else sum(!is.na(model$y))

# Bytes of the matrices: of the kernel and its eigenvectors, or of the kernels and all values of
# traits.
traits_bytes <- function(model) {
  n <- nrow(model$y)
  if (is_separable(model)) {
    return(8 * 4 * n^2)
  }
  values <- sum(!is.na(model$y))
  components <- length(model$names) + 1
  8 * (components * n^2 + 3 * values^2 + components * length(model$y) * values)
}

check_traits_memory <- function(model, work) {
  needed <- traits_bytes(model) + block_bytes(nrow(model$y))
  refuse_if(needed > work$memory,
            paste("The exact path of several traits needs %s, but `memory` is %s: give more, or",
                  "choose 'stochastic'."),
            show_bytes(needed), show_bytes(work$memory))
}

# A model or fit of several traits as a problem of the core, which takes the traits beside it.
traits_problem <- function(model, work) {
  settings <- list(work = work)
  exact <- model$path == "exact"
  if (exact) settings$work$memory <- work$memory - traits_bytes(model)
  model$y <- numeric(nrow(model$y))
  core_problem(model, if (exact) with_kept_kernels(settings, model) else settings)
}

# ---- Result --------------------------------------------------------------------------------------

new_traits_fit <- function(model, result, call) {
  traits <- colnames(model$y)
  effects <- colnames(model$x)
  components <- c(model$names, "residual")
  pairs <- trait_pairs(traits)
  parameters <- as.vector(outer(
    sprintf("%s, %s", pairs$trait_1, pairs$trait_2), components,
    function(pair, component) sprintf("%s(%s)", component, pair)
  ))
  result$information <- result[[model$control$information]]
  result$average <- result$expected <- NULL
  for (name in c("theta", "score")) names(result[[name]]) <- parameters
  for (name in c("information", "mc_score")) {
    dimnames(result[[name]]) <- list(parameters, parameters)
  }
  names(result$mean_diagonal) <- model$names
  names(result$iterations)[-(1:5)] <- parameters
  result$genetic <- array(
    result$genetic, c(length(model$ids), length(traits), length(model$names)),
    list(model$ids, traits, model$names)
  )
  dimnames(result$residual_projection) <- list(model$ids, traits)
  dimnames(result$coefficients) <- list(effects, traits)
  both <- as.vector(outer(effects, traits, function(effect, trait) paste0(trait, ":", effect)))
  dimnames(result$coefficients_covariance) <- list(both, both)
  rownames(model$y) <- model$ids
  fit <- c(list(call = call, formula = stats::formula(model$terms)), result, model)
  fit$covariances <- covariance_matrices(fit)
  structure(fit, class = "reml_traits_fit")
}

# The pairs of traits in the order of theta: the lower triangle, by column.
trait_pairs <- function(traits) {
  at <- which(lower.tri(diag(length(traits)), TRUE), arr.ind = TRUE)
  data.frame(trait_1 = traits[at[, 2]], trait_2 = traits[at[, 1]], row = at[, 1], column = at[, 2])
}

# The covariance matrix of each component.
covariance_matrices <- function(fit) {
  traits <- colnames(fit$y)
  components <- c(fit$names, "residual")
  values <- matrix(fit$theta, ncol = length(components))
  matrices <- lapply(seq_along(components), function(g) {
    whole <- matrix(0, length(traits), length(traits), dimnames = list(traits, traits))
    whole[lower.tri(whole, TRUE)] <- values[, g]
    whole[upper.tri(whole)] <- t(whole)[upper.tri(whole)]
    whole
  })
  stats::setNames(matrices, components)
}

check_traits_fit <- of_class("reml_traits_fit", "a fit of several traits of fit_reml()")
