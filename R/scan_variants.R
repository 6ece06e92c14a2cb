#' Scan variants for association
#'
#' Tests each variant for association with a trait: `scan_variants(height ~ sex, data, g)` by
#' ordinary least squares, `scan_variants(fit)` by the mixed model of a fit.
#'
#' @details
#' | `x` | Test |
#' | --- | --- |
#' | a formula | least squares with the variant and the fixed effects: as [lm()], with t values |
#' | a fit of [fit_reml()] | the same, with the fit's covariance: z values |
#' | a formula, with a binary response | score test of logistic regression |
#' | a fit with a binary response | score test of a logistic mixed model |
#' | a formula, with a binary response and `firth = TRUE` | Wald test of Firth's regression |
#'
#' A variant's column contains copies of the counted allele, minus their mean: so keep the
#' intercept. A missing call counts as the mean of the observed calls. Monomorphic variants, and
#' variants that depend linearly on the fixed effects, are not tested.
#'
#' **Sex chromosomes** are tested as by `plink2 --glm`, by the sex in `genotypes$samples`:
#'
#' | Chromosome | Copies of the counted allele | Test |
#' | --- | --- | --- |
#' | X | 0, 1, 2 in females; 0, 2 in males | with sex as a further fixed effect |
#' | Y | 0, 1 in males | only if all samples are male; others are left out |
#' | MT | 0, 1 | as autosomes |
#' | XY | 0, 1, 2 | as autosomes |
#'
#' Heterozygous calls of males on X and Y, and of all samples on MT, count as missing; PLINK takes
#' those on X as one of two copies. In samples of unknown sex, X is as in females, and the fixed
#' effects of sex have a level for them. Z and W are as X and Y, with females in place of males.
#' Warnings count all of these. [split_par()] separates pseudoautosomal regions (XY) from X.
#'
#' **Leaving one chromosome out.** A variant that is also in the kernel is tested against itself,
#' which costs power. With `loco = TRUE`, the variances are estimated again without the variants of
#' its chromosome. Kernels other than [kernel_grm()] keep all variants. [kernel_weighted()] and
#' [kernel_admixture()] contain variants, so statistics are too small; a warning says so.
#'
#' **Mixed model.** With P as in [reml_log_likelihood()] and a variant's column z, the effect is
#' z'Py / z'Pz, with the variance 1 / z'Pz. Variances are those estimated without the variant's
#' effect. z'Pz is exact after an exact fit. After a stochastic fit it is z'Sz times a constant,
#' where S removes the fixed effects. The constant is the mean of z'Pz / z'Sz over 128 variants.
#' [print()] shows the spread of these ratios.
#'
#' **Cases and controls.** Binary responses are those of [fit_reml()]. The null model has m, the
#' probabilities of a case, with logit(m) = X b + u. Genetic values u have the fit's kernels, and
#' variances by penalised quasi-likelihood (Breslow and Clayton 1993), from the fit's as start. It
#' is estimated again without each chromosome. A variant's score z'(y - m) has the variance z'Pz.
#' Here P is that of the covariance \eqn{\sum_g \theta_g K_g + W^{-1}}, W = diag(m (1 - m)).
#' After a stochastic fit, z'Pz is z'Wz off the fixed effects times a constant, as above.
#'
#' P-values of scores beyond two standard deviations are by saddlepoint approximation (Dey and
#' others 2017), also with few cases and rare variants. Relatives change the score's variance by a
#' ratio, so the score is divided by its root (Zhou and others 2018). Samples with the usual
#' homozygous genotype enter as normal. The effect is the score over its variance, a log odds ratio
#' near 0; large effects are underestimated. Its standard error fits the p-value. With about ten
#' cases, tests of the mixed model are conservative. The CPU computes these tests.
#'
#' **Firth's regression** gives a finite log odds ratio, with little bias, also where all carriers
#' are cases. It maximises the likelihood times the root of the information's determinant (Firth
#' 1993). For a formula, all effects are estimated with the variant's, as by `plink2 --glm firth`,
#' and p-values are Wald tests. Fixed effects may then separate cases from controls. For a fit, the
#' null model's log odds are kept as an offset, as by SAIGE. The effect is also divided by the ratio
#' above, so that it is the score test's near 0. The standard error is that of this estimate: the
#' root of the inverse information, over the root of the ratio. `statistic` and p-values remain
#' those of the score, so they differ from a Wald test, and may differ in sign from the effect.
#'
#' **Genomic ranges.** `GenomicRanges::makeGRangesFromDataFrame(scan, keep.extra.columns = TRUE,
#' start.field = "position", end.field = "position")` makes a `GRanges` of a scan.
#'
#' @param x A formula with the response and the fixed effects, or a fit of [fit_reml()].
#' @param data A data frame with a row for each sample.
#' @param genotypes Genotypes to test, from [open_genotypes()]. For a fit: `NULL` (the default) for
#'   its own genotypes, without the chromosomes that it left out; other genotypes must have its
#'   samples.
#' @param id Name of the column of `data` with the samples' ids, `"id"` by default.
#' @param loco Whether to leave a variant's chromosome out of the kernels, `TRUE` by default.
#' @param family `"gaussian"`: a quantitative response. `"binary"`: cases and controls. `NULL` (the
#'   default): binary for a factor or a logical response, see [fit_reml()].
#' @param firth Whether effects of a binary response are those of Firth's regression, see Details.
#'   `FALSE` by default.
#' @param threads Number of threads. `NULL` (the default): `getOption("ancify.threads")`, or else
#'   all cores.
#' @param backend As in [fit_reml()]. The scan of a fit uses the fit's backend.
#' @param memory Bytes for genotypes. `NULL` (the default): half of what is available.
#' @param BPPARAM A `BiocParallelParam`. Each worker leaves out one chromosome at a time, on one
#'   thread, with the same result. Workers read the genotypes' files. `NULL` (the default): none.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @param ... Not used.
#' @return A data frame of class `variant_scan` with a row for each variant:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `chromosome`, `id`, `position`, `counted`, `other` | The variant, as in `genotypes$variants`. |
#' | `n` | Samples with a call. |
#' | `frequency` | Frequency of the counted allele among the calls. |
#' | `effect`, `se` | Effect of a counted allele (a log odds ratio for cases), standard error. |
#' | `statistic` | `effect / se`; for a fit with `firth`, the z value of the score's p-value. |
#' | `p` | Two-sided p-value. |
#' | `log10_p` | -log10 of `p`, also if `p` underflows to 0. |
#'
#' The last five are `NA` for a variant that is not tested. The attribute `scan` is a list:
#'
#' | Element | Content |
#' | :--- | :--- |
#' | `method` | `"ols"`, `"mixed"`, `"logistic"`, `"logistic_mixed"`, `"firth"`, `"firth_mixed"` |
#' | `samples`, `cases` | Number of samples; of cases, for a binary response. |
#' | `loco`, `whole` | Whether chromosomes are left out; names of kernels that keep all variants. |
#' | `df` | Degrees of freedom. |
#' | `theta` | Variances, a row for each chromosome left out, and for X if sex is added there. |
#' | `ratios` | The sampled z'Pz / z'Sz. |
#' | `lambda`, `tested` | Genomic control of all tested variants, their number; kept by `head()`. |
#' @section Errors:
#' * `ancify_input_error`: the fit allows variances below 0, and a covariance is singular.
#' * `ancify_input_error`: samples, covariates and genotypes are inconsistent; a fit without
#'   genotypes needs `genotypes`; or leaving out a chromosome leaves no variants.
#' * `ancify_file_error`, `ancify_format_error`: genotypes cannot be read, or have changed.
#' * `ancify_chromosome_warning`: variants of Y are not tested, variants of X are tested without
#'   the sex of samples, or heterozygous calls count as missing.
#' * `ancify_input_error`: a binary response has other values than two, or its fit has several
#'   residual variances.
#' * `ancify_input_error`: the fixed effects separate cases from controls, in a fit or without
#'   `firth`.
#' * `ancify_input_error`: a logistic mixed model diverges, or `firth` is given for a quantitative
#'   response.
#' * `ancify_fit_warning`: a null model, or Firth's regression of a variant, has not converged.
#' * `ancify_scan_warning`: a weighted or admixture kernel keeps the tested chromosome's variants.
#' * `ancify_response_warning`: a quantitative response has two values, or PLINK's codes 0, 1 and 2.
#' * `ancify_device_error`: a GPU is asked for and cannot be used.
#' * `ancify_package_error`: `BPPARAM` needs the package BiocParallel. `ancify_task_error`: a worker
#'   has failed.
#' @references
#' Yang and others (2014) Advantages and pitfalls in the application of mixed-model association
#' methods. Nature Genetics 46:100.
#'
#' Svishcheva and others (2012) Rapid variance components-based method for whole-genome association
#' analysis. Nature Genetics 44:1166.
#'
#' Breslow and Clayton (1993) Approximate inference in generalized linear mixed models. Journal of
#' the American Statistical Association 88:9.
#'
#' Dey and others (2017) A fast and accurate algorithm to test for binary phenotypes and its
#' application to PheWAS. American Journal of Human Genetics 101:37.
#'
#' Firth (1993) Bias reduction of maximum likelihood estimates. Biometrika 80:27.
#'
#' Zhou and others (2018) Efficiently controlling for case-control imbalance and sample relatedness
#' in large-scale genetic association studies. Nature Genetics 50:1335.
#' @seealso [fit_reml()], [open_genotypes()], [plot.variant_scan()]
#' @export
#' @examples
#' # 60 samples and 40 variants on two chromosomes; the first variant has an effect
#' set.seed(1)
#' stem <- tempfile()
#' calls <- matrix(sample(c(0, 2, 3), 60 * 40, replace = TRUE), 4)
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, c(1, 4, 16, 64) %*% calls)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 -9", 1:60, 1:60), paste0(stem, ".fam"))
#' variants <- sprintf("%d snp%d 0 %d G A", rep(1:2, each = 20), 1:40, 1:40)
#' writeLines(variants, paste0(stem, ".bim"))
#' g <- open_genotypes(stem)
#' data <- data.frame(id = paste0("sample", 1:60), y = rnorm(60) + as.matrix(g)[, 1])
#'
#' scan_variants(y ~ 1, data, g, threads = 1)
#' fit <- fit_reml(y ~ 1, data, g, threads = 1, verbose = FALSE)
#' scan_variants(fit)
#'
#' data$disease <- data$y > 1
#' scan_variants(disease ~ 1, data, g, threads = 1)
scan_variants <- function(x, ...) UseMethod("scan_variants")

#' @export
scan_variants.default <- function(x, ...) {
  check_given()
  refuse_input("`x` must be a formula or a fit of fit_reml(), not %s.", show_value(x))
}

#' @rdname scan_variants
#' @export
scan_variants.formula <- function(x, data, genotypes, id = "id", family = NULL, firth = FALSE,
                                  threads = NULL, backend = "auto", memory = NULL,
                                  progress = interactive(), ...) {
  check_method(family = check_family(), firth = flag())
  work <- new_work(threads, backend, memory, progress = progress)
  check_genotypes(genotypes, "genotypes")
  model <- model_on_samples(
    list(genotypes = genotypes, kernels = list(), names = character()), x, data, id, family
  )
  check_firth(model, firth)
  g <- with_copies_by_sex(model$genotypes)
  copies <- scan_copies(g, model$x)
  warn_of_scan(model, g, copies, work)
  parts <- split(seq_len(ncol(g)), copies$by_sex)
  scans <- lapply(parts, function(part) {
    if (copies$by_sex[part[1]]) model$x <- joined_effects(model$x, copies$sexes)
    if (is_binary(model)) {
      scan_cases(null_of_formula(model, firth, work), g[, part], firth, work)
    } else {
      scan_ols(model, g[, part], work)
    }
  })
  in_order <- columns_in_order(scans, parts)
  new_scan(g, in_order, copies, list(
    method = if (firth) "firth" else if (is_binary(model)) "logistic" else "ols",
    samples = length(model$y), cases = case_count(model), loco = FALSE, df = scans[[1]]$df[1]
  ))
}

check_firth <- function(model, firth) {
  refuse_if(firth && !is_binary(model),
            "`firth` is for cases and controls, but the response is a number: add %s.",
            "`family = \"binary\"`")
}

case_count <- function(model) if (is_binary(model)) sum(model$y)

# As scan_quadratic_forms(), with the effect, its standard error and the degrees of freedom.
scan_ols <- function(model, g, work) {
  df <- length(model$y) - ncol(model$x) - 1
  refuse_if(df < 1, "A test of a variant needs at least %s for %s, but there are %s.",
            count_of(ncol(model$x) + 2, "sample"), count_of(ncol(model$x), "fixed effect"),
            format_count(length(model$y)))
  residual <- unname(stats::lm.fit(model$x, model$y)$residuals)
  forms <- scan_quadratic_forms(core_problem(model, list(work = work)), g, residual)
  effect <- forms$response / forms$square
  left <- pmax(sum(residual^2) - forms$response * effect, 0)
  c(forms, list(effect = effect, se = sqrt(left / df / forms$square), df = rep(df, ncol(g))))
}

# Vectors of the parts' variants, joined in the order of the variants. `parts`: their indices.
columns_in_order <- function(scans, parts) {
  order <- order(unlist(parts, use.names = FALSE))
  names <- c("response", "square", "n", "frequency", "effect", "se", "statistic", "df")
  lapply(stats::setNames(nm = names), function(name) {
    unlist(lapply(scans, `[[`, name), use.names = FALSE)[order]
  })
}

#' @rdname scan_variants
#' @export
scan_variants.reml_fit <- function(x, genotypes = NULL, loco = TRUE, firth = FALSE,
                                   BPPARAM = NULL, progress = interactive(), ...) {
  check_method(loco = flag(), firth = flag(), progress = flag())
  check_firth(x, firth)
  if (!is.null(BPPARAM)) {
    check_workers(BPPARAM, "cpu")
    x <- for_worker(x)
    progress <- FALSE
  }
  work <- work_of(x, progress)
  fit <- with_genotypes(x)
  if (is_binary(fit)) check_one_residual(fit, "A scan of cases and controls")
  g <- tested_genotypes(fit, genotypes)
  copies <- scan_copies(g, fit$x)
  warn_of_scan(fit, g, copies, work)
  names <- comparable_chromosomes(g, fit$genotypes)
  fit$variant_chromosomes <- names[[2]]
  parts <- scan_parts(fit, names[[1]], loco, copies$by_sex)
  whole <- if (loco) kernels_of_variants(fit, g)
  warn_of_whole(whole)
  left_out <- vapply(parts, function(part) part$chromosome, "")
  dense <- if (any(nzchar(left_out)) && length(parts) > 1) dense_kernels(fit, work)
  if (!is.null(dense)) work$memory <- work$memory - dense$bytes
  scans <- over_parts(parts, function(part) {
    if (part$by_sex) fit$x <- joined_effects(fit$x, copies$sexes)
    scan_part(fit, g[, part$variants], part, dense, firth, work)
  }, BPPARAM, "Scanning", FALSE)
  in_order <- columns_in_order(scans, lapply(parts, `[[`, "variants"))
  new_scan(g, in_order, copies, list(
    method = if (firth) "firth_mixed" else if (is_binary(fit)) "logistic_mixed" else "mixed",
    samples = length(fit$y), cases = case_count(fit), loco = any(nzchar(left_out)), df = Inf,
    whole = whole, theta = thetas_of(scans, names(parts), names(fit$theta)),
    ratios = unlist(lapply(scans, `[[`, "ratios"), use.names = FALSE)
  ))
}

warn_of_whole <- function(kernels) {
  if (length(kernels)) {
    warn_ancify(
      sprintf(
        paste(
          "%s %s all variants, also those of the tested chromosome, so statistics are too small:",
          "%s. Give these variants by `genotypes` or kernel_grm() to leave them out."
        ),
        count_of(length(kernels), "kernel"), if (length(kernels) == 1) "keeps" else "keep",
        enumerate(quoted(kernels))
      ),
      "scan"
    )
  }
}

warn_of_scan <- function(model, g, copies, work) {
  if (!is_binary(model)) {
    warn_of_few_values(model$y, response_name(model$terms), two_values_scanned)
  }
  warn_of_copies(g, copies)
  warn_of_haploid_calls(g, work)
}

# Scans variants by a fit without the chromosome that is left out for them; "" for the fit itself.
# `part`: one of scan_parts(). A fit with the fixed effects of sex is estimated again.
scan_part <- function(fit, g, part, dense, firth, work) {
  if (is_binary(fit)) {
    return(scan_case_part(fit, g, part, dense, firth, work))
  }
  model <- if (nzchar(part$chromosome)) {
    fit_without(fit, part$chromosome, dense, work)
  } else if (part$by_sex) {
    fit_again(fit, "with sex as a fixed effect", work)
  } else {
    fit
  }
  forms <- or_tell_of_bounds(scan_mixed(model, g, work), fit, part$chromosome)
  c(forms, list(
    effect = forms$response / forms$square, se = 1 / sqrt(forms$square), df = rep(Inf, ncol(g)),
    theta = model$theta
  ))
}

# ---- Mixed model ---------------------------------------------------------------------------------

# Groups of variants that are tested by the same fit: list(variants = their indices, chromosome =
# that left out of the fit, "" for none, by_sex = whether sex is a fixed effect). `chromosomes`,
# `by_sex`: one for each tested variant.
scan_parts <- function(fit, chromosomes, loco, by_sex) {
  in_fit <- fit$variant_chromosomes[unique(fit$weights$variant)]
  left_out <- ifelse(loco & chromosomes %in% in_fit, chromosomes, "")
  name <- ifelse(by_sex, chromosomes, left_out)
  lapply(split(seq_along(name), factor(name, unique(name))), function(variants) {
    list(variants = variants, chromosome = left_out[variants[1]], by_sex = by_sex[variants[1]])
  })
}

# z'Py and z'Pz of the variants of `g`, as scan_quadratic_forms(); after a stochastic fit also the
# ratios.
scan_mixed <- function(fit, g, work) {
  problem <- core_problem(fit, path_settings(fit, fit$path, work))
  exact <- fit$path == "exact"
  forms <- scan_quadratic_forms(
    problem, g, fit$residual_projection, if (exact) unname(fit$theta), fit_inputs(fit)
  )
  varying <- which(forms$square > 0)
  if (exact || length(varying) == 0) {
    return(forms)
  }
  sampled <- sampled_of(varying)
  forms$ratios <- with_watch("Sampling", function(watch) {
    sampled_ratios(problem, g, sampled, unname(fit$theta), fit$control$seed, watch)
  }, work$progress, inputs = fit_inputs(fit))
  forms$square <- forms$square * mean(forms$ratios)
  forms
}

# A row for each chromosome left out, and a column for each variance; NA for a component that became
# empty.
thetas_of <- function(scans, chromosomes, components) {
  rows <- lapply(scans, function(scan) stats::setNames(scan$theta[components], components))
  matrix(unlist(rows), length(rows), byrow = TRUE, dimnames = list(chromosomes, components))
}

# ---- Result --------------------------------------------------------------------------------------

# `forms`: a result of scan_ols(), scan_cases() or scan_part() for all variants. `copies`: from
# scan_copies().
new_scan <- function(g, forms, copies, facts) {
  statistic <- forms$statistic %||% (forms$effect / forms$se)
  none <- !is.finite(forms$effect) | copies$left_out
  log_p <- stats::pt(-abs(statistic), forms$df, log.p = TRUE) + log(2)
  columns <- list(
    effect = forms$effect * copies$scale, se = forms$se * copies$scale, statistic = statistic,
    p = exp(log_p), log10_p = -log_p / log(10)
  )
  table <- c(g$variants, forms[c("n", "frequency")], lapply(columns, replace, none, NA))
  facts[c("lambda", "tested")] <- list(genomic_control(table), sum(!is.na(table$log10_p)))
  structure(list2DF(table), class = c("variant_scan", "data.frame"), scan = facts)
}
