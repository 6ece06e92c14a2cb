#' Estimate variance components
#'
#' Estimates by restricted maximum likelihood (REML) how much of a trait's variance genotypes
#' explain, in total and by component: `fit_reml(height ~ sex, data, open_genotypes("x.bed"))`.
#'
#' @details
#' **Model.** y = X b + u_1 + ... + u_G + e. The genetic values u_g have covariance theta_g K_g, the
#' residuals e have theta_e I. Or they have a variance for each group (`residual`), or for each
#' ancestry ([kernel_admixture()]). K_g is the kernel of component g ([kernels]). Variances are in
#' squared units of the response.
#'
#' **Samples** are matched by id, and have the order of the genotypes. Samples without phenotype or
#' with a missing covariate are dropped and counted. `data` has one row for each sample, or several
#' with [kernel_groups()] of their ids.
#'
#' **Variants** are standardised by the mean and variance of their observed calls in the samples of
#' the fit. A missing call counts as the mean. Monomorphic variants are left out and counted.
#'
#' **Cases and controls.** A factor of two levels, of which the second is the cases, or a logical
#' response is binary. So is a numeric one with `family = "binary"`, if it is 0 and 1, or 1 and 2 as
#' in PLINK. It is fitted as 0 and 1, so that variances are those of the observed scale.
#' `prevalence` adds the heritability of liability, see [liability()]. [pcgc()] is another
#' estimator.
#'
#' **Chromosomes.** By default, components have the autosomes alone: variants of X, Y, MT and the
#' pseudoautosomal region (XY), also under PLINK's numbers 23 to 26, are left out and counted. So
#' are components that have no other variant. If `chromosomes` includes X, calls are copies as in
#' the file, 0 or 2 for males, whose variance is then twice that of females. Heterozygous calls of
#' males on X and Y are missing. A warning counts them.
#'
#' **Paths.**
#'
#' | `method` | Meaning |
#' | --- | --- |
#' | `"exact"` | dense matrices: no random error, but memory quadratic in the number of samples |
#' | `"stochastic"` | only products with the kernels, and random probes for traces |
#' | `"auto"` | exact for up to 5,000 samples where memory allows, else stochastic |
#'
#' The stochastic path adds a Monte Carlo error to each estimate. Results show it as `mc_se`, beside
#' the standard error. The fit adds probes until this error is small ([reml_control()]).
#'
#' **Several traits.** `cbind(a, b) ~ sex` fits traits jointly, with their genetic and residual
#' covariances: see [reml_traits]. Samples that lack some of the traits stay.
#'
#' **Several fits.** The session keeps the dense kernels of its last exact fit, if they take at most
#' an eighth of the free memory. The next fit or scan of the same genotypes, samples and components
#' reuses them.
#'
#' **Repeatability.** Equal inputs, settings and `seed` give equal results, for any number of
#' threads, and on GPUs.
#'
#' **GPUs.** With `backend = "gpu"` the GPUs multiply genotypes, and the CPU computes everything
#' else. The exact path, with its dense matrices, therefore gains little. Samples are divided among
#' GPUs. Genotypes stay in GPU memory if they fit, where a call takes 2 bits, and a dosage 2 bytes.
#' Otherwise each pass copies them again. Functions that take a fit use its field `backend`. Workers
#' of a `BPPARAM` use the CPU. `"auto"` is the CPU, as other users may need the GPU.
#'
#' @param formula The response and the fixed effects, such as `y ~ sex + age`. A constant covariate
#'   is dropped with a warning.
#' @param data A data frame with a row for each sample, or for each record of [kernel_groups()].
#' @param genotypes Genotypes, from [open_genotypes()]; or `NULL` (the default) with `kernels`.
#' @param components Sets of variants, each with a variance: see [components]. `NULL` (the
#'   default): one component of all variants.
#' @param kernels A named list of further kernels, from [kernels]. `NULL` (the default): none.
#' @param id Name of the column of `data` with the samples' ids, `"id"` by default.
#' @param overlap Whether a variant may be in several components, `FALSE` by default.
#' @param chromosomes Chromosomes in the components: names such as `c(1:22, "X")`, `"all"`, or
#'   `"autosomes"` (the default), which may stand beside names. Names may begin with `chr`, or be
#'   PLINK's numbers.
#' @param method The path: `"auto"` (the default), `"exact"` or `"stochastic"`.
#' @param control Settings, from [reml_control()].
#' @param family `"gaussian"`: a quantitative response. `"binary"`: cases and controls. `NULL` (the
#'   default): binary for a factor or a logical response.
#' @param prevalence Share of cases in the population, for a binary response. `NULL` (the default):
#'   no heritability of liability.
#' @param residual A formula of a column of `data`, such as `~ sex`: each group then has a residual
#'   variance of its own, named after it: `residual.f`. A group needs two rows. Rows without a value
#'   (`NA` or `NaN`) are dropped and counted. `NULL` (the default): one residual variance, or that
#'   of [kernel_admixture()].
#' @param threads Number of threads. `NULL` (the default): `getOption("ancify.threads")`, or else
#'   all cores.
#' @param backend `"auto"` (the default) or `"cpu"`: the CPU. `"gpu"`: all GPUs of
#'   [available_gpus()] compute the products with genotypes. Results do not depend on it. See "GPUs"
#'   of [fit_reml()].
#' @param memory Bytes for genotypes and, on the exact path, its matrices. `NULL` (the default):
#'   half of what is available. Genotypes that do not fit are read again in each pass. Vectors of
#'   the stochastic path take another 100 MB or so, or 3 kB per sample.
#' @param checkpoint Path of a file to which the stochastic path writes its state after each step.
#'   A fit with the same inputs and settings resumes from it. `NULL` (the default): none.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @param verbose Whether to log omitted data and the path as messages of class `ancify_message`;
#'   `TRUE` (the default).
#' @return A list of class `reml_fit`; [reml_fit] describes its methods. For several traits: a list
#'   of class `reml_traits_fit`, see [reml_traits]. The fields of a `reml_fit`:
#' * `theta`: the variances, named by component. The residual variance, or the residual variances by
#'   group or ancestry, come last.
#' * `coefficients`, `coefficients_covariance`: the fixed effects.
#' * `log_likelihood`, `log_likelihood_null`: at `theta`, and without genetic components.
#' * `score`, `information`: gradient of the log-likelihood, and average (or expected) information.
#' * `mc_log_likelihood`, `mc_score`: the Monte Carlo standard deviation of the log-likelihood, and
#'   covariance of the score. They are 0 on the exact path.
#' * `mean_diagonal`: the mean of each kernel's diagonal.
#' * `at_bound`: which variances are at their bound.
#' * `converged`, `status`, `message`: whether the search converged, and if not, why.
#' * `iterations`: a data frame of the search; `passes`: number of passes through all genotypes.
#' * `ids`, `y`, `x`: sample ids, response and matrix of fixed effects.
#' * `individuals`: with several rows for a sample, the index of each row's sample. `environmental`:
#'   names of components that are groups of samples.
#' * `dropped`: numbers of dropped samples by reason.
#' * `family`, `prevalence`: as above; `labels`: the values of controls and cases, or `NULL`.
#' * `genetic`: the genetic values, a row for each sample and a column for each component.
#' * `divisors`: c of each component with weighted blocks, see [kernel_weighted()].
#' * `used_variants`: number of polymorphic variants in each component (with posteriors, the
#'   expected number); `uncovered`: number of variants in no component.
#' * `chromosomes`: the argument; `left_out`: numbers of variants on other chromosomes, by name.
#' @section Errors:
#' * `ancify_input_error`: samples, covariates, components or kernels are inconsistent. The message
#'   names the sample, variable, variant or component.
#' * `ancify_input_error`: the response does not vary, there are as many fixed effects as samples,
#'   or a kernel has a negative eigenvalue.
#' * `ancify_input_error`: several traits have a `checkpoint`, `start` or `lower`, a residual by
#'   ancestry, or matrices of the exact path larger than `memory`.
#' * `ancify_input_error`: several traits have expected information, or a matrix of `probes`, on the
#'   stochastic path.
#' * `ancify_input_error`: a binary response has other values than two, or `prevalence` is given
#'   for a quantitative one.
#' * `ancify_input_error`: `checkpoint` has other inputs or settings.
#' * `ancify_file_error`, `ancify_format_error`: genotypes or `checkpoint` cannot be read.
#' * `ancify_device_error`: `backend` is `"gpu"`, and no GPU can be used, or one fails or has too
#'   little memory.
#' * `ancify_covariate_warning`: a constant covariate is dropped.
#' * `ancify_input_error`: the components have no variant of `chromosomes`.
#' * `ancify_chromosome_warning`: variants of X, Y or MT are treated as autosomal, or have calls
#'   that count as missing.
#' * `ancify_response_warning`: a quantitative response has two values, or PLINK's codes 0, 1 and 2.
#' * `ancify_components_warning`: variants of `components` are not in the genotypes.
#' * `ancify_fit_warning`: the fit has not converged.
#' @references
#' Patterson and Thompson (1971) Recovery of inter-block information when block sizes are unequal.
#' Biometrika 58:545.
#'
#' Gilmour, Thompson and Cullis (1995) Average information REML. Biometrics 51:1440.
#'
#' Loh and others (2015) Contrasting genetic architectures of schizophrenia and other complex
#' diseases using fast variance-components analysis. Nature Genetics 47:1385.
#' @seealso [reml_fit] for the methods, [heritability()], [haseman_elston()], [components],
#'   [kernels]
#' @export
#' @examples
#' families <- rep(1:20, each = 5)
#' kernel <- kernel_matrix(outer(families, families, "==") + 0)
#' set.seed(1)
#' data <- data.frame(id = 1:100, y = rnorm(20)[families] + rnorm(100))
#' fit <- fit_reml(y ~ 1, data, kernels = list(family = kernel), threads = 1)
#' summary(fit)
fit_reml <- function(formula, data, genotypes = NULL, components = NULL, kernels = NULL,
                     id = "id", overlap = FALSE, chromosomes = "autosomes", method = "auto",
                     control = reml_control(), family = NULL, prevalence = NULL, residual = NULL,
                     threads = NULL, backend = "auto", memory = NULL, checkpoint = NULL,
                     progress = interactive(), verbose = TRUE) {
  check_args(overlap = flag(), verbose = flag(), control = check_control, family = check_family())
  work <- new_work(threads, backend, memory, progress = progress)
  if (!is.null(checkpoint)) checkpoint <- check_output_file(checkpoint, "checkpoint")
  model <- reml_model(genotypes, components, kernels, overlap, chromosomes)
  if (!is.null(residual)) residual <- one_column(residual, "residual")
  model <- model_on_samples(model, formula, data, id, family, several = TRUE, residual = residual)
  if (!is.null(prevalence)) model$prevalence <- checked_prevalence(prevalence, model)
  model[c("threads", "memory", "backend")] <- list(threads, memory, backend)
  if (is.matrix(model$y)) {
    model$path <- traits_path(model, method, control, checkpoint, work)
    log <- log_where(verbose)
    for (line in describe_model(model, method)) log(line)
    fit <- fit_traits(model, genotypes, control, work, match.call(), log)
    warn_not_converged(fit)
    return(fit)
  }
  warn_of_model(model, genotypes, work)
  n <- length(model$y)
  model$path <- chosen_path(model, method, work$memory)
  model$control <- core_control(control, c(model$names, residual_names(model)), n, model$path)
  check_row_order(control$probes, "probes", model$ids, "sample")
  model <- with_file_facts(model)
  log <- log_where(verbose)
  if (work$backend == "gpu") log(paste("Using", describe_work_impl(work)))
  for (line in describe_model(model, method)) log(line)
  tell_of_left_out(model$left_out, model$chromosomes, "the components", log)
  fit <- new_reml_fit(model, run_reml(model, work, checkpoint = checkpoint), match.call(), work)
  warn_not_converged(fit)
  fit
}

warn_not_converged <- function(fit) {
  if (!fit$converged) warn_ancify(sprintf("The fit has not converged: %s.", fit$message), "fit")
}

new_reml_fit <- function(model, result, call, work) {
  fit <- c(list(call = call, formula = stats::formula(model$terms)), result, model)
  facts <- facts_of_sets(fit, work)
  fit[names(facts)] <- facts
  structure(fit, class = "reml_fit")
}

check_control <- of_class("reml_control", "settings, from reml_control()")

# Lines of the log: omitted data, and the path.
describe_model <- function(model, wanted) {
  c(
    paste0(count_samples(model), dropped_text(model$dropped)),
    if (is_binary(model)) cases_text(model$y, model$labels),
    if (length(model$unmatched)) {
      paste("Not in the kernels:", enumerate(quoted(model$unmatched)))
    },
    if (!is.null(model$genotypes)) {
      sprintf("%s in %s%s", count_of(ncol(model$genotypes), "variant"),
              count_of(model$n_genetic, "component"),
              if (model$uncovered) {
                sprintf("; %s in none are left out", format_count(model$uncovered))
              } else {
                ""
              })
    },
    if (wanted == "auto") {
      sprintf("The %s path, for %s", model$path, count_samples(model))
    }
  )
}

# "480 samples", or "480 records of 209 samples".
count_samples <- function(model) {
  n <- length(model$ids)
  if (is.null(model$individuals)) {
    return(count_of(n, "sample"))
  }
  sprintf("%s of %s", count_of(n, "record"), count_of(max(model$individuals), "sample"))
}

# "; left out: 530 no phenotype", or nothing.
dropped_text <- function(dropped) {
  some <- dropped[dropped > 0]
  if (length(some) == 0) {
    return("")
  }
  paste0(
    "; left out: ", paste(vapply(some, format_count, ""), names(some), collapse = ", ")
  )
}
