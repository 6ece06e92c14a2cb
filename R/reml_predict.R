#' Predict traits from genotypes
#'
#' `predict(fit, genotypes, data)` predicts the trait of new samples. `variant_effects(fit)` gives
#' the variant effects that it uses, for polygenic scores.
#'
#' @details
#' The effect of a copy of the counted allele is
#' \eqn{s_j^2 \sum_g \theta_g w_{jg} z_j'Py / c_g}, with kernels as in [kernels], z the centred
#' calls of the fit's samples, and s the factor that standardises them. With blocks W of
#' [kernel_weighted()] it is \eqn{s_j \sum_k \theta W_{jk} s_k z_k'Py / c}. It is the best linear
#' unbiased prediction. A genetic value is the sum of effects times centred calls. Calls are centred
#' by the mean in the fit's samples, so a missing call adds nothing.
#'
#' **Matching.** Variants of `genotypes` are matched to the fit's by chromosome, position and both
#' alleles, in upper or lower case. If these are equal for several variants, as without positions,
#' ids decide; if ids are equal too, the variants are not used. Chromosomes may have `chr` before
#' their names, or PLINK's numbers, such as 23 for X; XY is a part of X. If `genotypes` counts the
#' other allele, calls are turned. Strands are never flipped: `A/C` and `T/G` are different
#' variants. Variants of the fit that `genotypes` lacks add nothing; a warning counts them.
#'
#' @param object,fit A fit of [fit_reml()], whose components all use genotypes of one file: sets of
#'   variants, or kernels of [kernel_grm()] and [kernel_weighted()].
#' **Groups.** Predictions of the fit's own samples include their effects of groups
#' ([kernel_groups()]) in the response. Those of `genotypes` do not, even for samples of the fit.
#'
#' @param genotypes Genotypes of the samples to predict, from [open_genotypes()]. `NULL` (the
#'   default): the samples of the fit.
#' @param data A data frame with the covariates of these samples. `NULL` (the default): none, if
#'   the formula has no covariates.
#' @param id Name of the column of `data` with the samples' ids, `"id"` by default.
#' @param type `"response"` (the default): fixed effects plus genetic values. `"genetic"`: genetic
#'   values alone.
#' @param progress Whether to show a progress bar after two seconds. Default: only in interactive
#'   sessions.
#' @param ... Not used.
#' @return `predict()`: a numeric vector in units of the response, named by sample; `NA` if a
#'   covariate is missing. Its attribute `variants` counts variants of the fit: `used`, `turned`
#'   (among those used) and `absent`.
#'
#'   `variant_effects()`: a data frame with a row for each variant of the fit: `chromosome`, `id`,
#'   `position`, `counted`, `other`, `frequency` (of the counted allele in the fit's samples) and
#'   `effect` (of a copy, in units of the response; 0 if the variant is not in a component).
#' @section Errors:
#' * `ancify_input_error`: the fit has other kernels.
#' * `ancify_input_error`: `genotypes` has no variant of the fit, or `data` lacks a sample or a
#'   covariate, or has a label that the fit has not seen.
#' * `ancify_file_error`: the fit's genotypes are missing or were changed.
#' * `ancify_variants_warning`: `genotypes` lacks variants of the fit, or has other alleles at their
#'   positions.
#' * `ancify_chromosome_warning`: variants of X, Y or MT count as autosomal.
#' @references
#' Henderson (1975) Best linear unbiased estimation and prediction under a selection model.
#' Biometrics 31:423.
#'
#' Goddard (2009) Genomic selection: prediction of accuracy and maximisation of long term response.
#' Genetica 136:245.
#' @seealso [fit_reml()], [scan_variants()]
#' @export
#' @examples
#' # 60 samples and 40 variants; ten samples are held out
#' set.seed(1)
#' stem <- tempfile()
#' calls <- matrix(sample(c(0, 2, 3), 60 * 40, replace = TRUE), 4)
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, c(1, 4, 16, 64) %*% calls)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 -9", 1:60, 1:60), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:40, 1:40), paste0(stem, ".bim"))
#' g <- open_genotypes(stem)
#' y <- drop(as.matrix(g)[, 1:20] %*% rnorm(20)) + rnorm(60)
#' data <- data.frame(id = paste0("sample", 1:60), y)
#'
#' fit <- fit_reml(y ~ 1, data, g[1:50, ], threads = 1, verbose = FALSE)
#' cor(predict(fit, g[51:60, ]), data$y[51:60])
#' head(variant_effects(fit))
predict.reml_fit <- function(object, genotypes = NULL, data = NULL, id = "id",
                             type = c("response", "genetic"), progress = interactive(), ...) {
  check_method(type = choice(c("response", "genetic")))
  if (is.null(genotypes)) {
    refuse_if(!is.null(data), "`data` is given, but `genotypes` is not: give those of its samples.")
    is_genetic <- !object$names %in% object$environmental
    genetic <- stats::setNames(rowSums(object$genetic[, is_genetic, drop = FALSE]), object$ids)
    return(if (type == "response") fitted.reml_fit(object) else genetic)
  }
  predicted_by(object, genotypes, data, id, type, work_of(object, progress))
}

# The values of `genotypes` by a fit's fixed effects and effects of variants.
predicted_by <- function(fit, genotypes, data, id, type, work) {
  check_genotypes(genotypes, "genotypes")
  fit <- with_genotypes(fit)
  genotypes <- with_copies_by_sex(genotypes, fit_chromosomes(fit))
  ids <- genotypes$samples$id
  fixed <- if (type == "response") drop(new_effects(fit, data, id, ids) %*% fit$coefficients) else 0
  places <- matched_variants(variant_effects_of(fit, work), genotypes, fit_chromosomes(fit))
  warn_of_sex_chromosomes(genotypes, "are counted", places$at)
  if (length(places$at)) warn_of_haploid_calls(genotypes[, places$at], work)
  values <- genetic_values(genotypes, places, work)
  structure(stats::setNames(values + fixed, ids), variants = places$counts)
}

# `places`: a result of matched_variants().
genetic_values <- function(genotypes, places, work) {
  # A fit without genetic variance has no effects.
  if (length(places$at) == 0) {
    return(numeric(nrow(genotypes)))
  }
  with_watch("Predicting", function(watch) {
    genetic_values_impl(
      core_genotypes(genotypes[, places$at]), work, places$mean, places$effect, watch
    )
  }, work$progress)
}

#' @rdname predict.reml_fit
#' @export
variant_effects <- function(fit, progress = interactive()) {
  check_args(fit = check_reml_fit)
  effects <- variant_effects_of(with_genotypes(fit), work_of(fit, progress))
  effects$frequency <- effects$mean / 2
  effects[c("chromosome", "id", "position", "counted", "other", "frequency", "effect")]
}

# The variants of a fit, with `mean` and `effect`.
variant_effects_of <- function(fit, work) {
  # Effects of groups are not of variants, and 0 for new groups.
  kernels <- Filter(Negate(is_environmental), fit$kernels)
  effects_of <- lapply(kernels, function(kernel) {
    if (is.list(kernel)) kernel_kinds()[[kernel$kind]]$effects
  })
  without <- names(kernels)[vapply(effects_of, is.null, NA)]
  refuse_if(length(without),
            "The fit has %s, without variant effects: fit genotypes or weighted blocks only.",
            enumerate(quoted(without)))
  projection <- fit$residual_projection
  # A sample's records share its genotypes.
  if (!is.null(fit$individuals)) {
    projection <- rowsum_of(projection, fit$individuals, nrow(fit$genotypes))
  }
  problem <- kernel_problem(list(y = projection), list(work = work))
  part <- function(g, effects) {
    moments <- genotype_moments(g, work)
    response <- scan_quadratic_forms(problem, g, projection)$response
    effect <- effects(moments$variance, response)
    list(g = g, mean = moments$mean, effect = ifelse(moments$variance > 0, effect, 0))
  }
  of_kernel <- function(kernel, effects, components) {
    factors <- unname(fit$theta[components]) / fit$divisors[components]
    part(kernel$genotypes, function(...) effects(kernel, factors, ...))
  }
  sum_of_effects(c(
    if (!is.null(fit$genotypes)) list(part(fit$genotypes, function(...) set_effects(fit, ...))),
    Map(of_kernel, kernels, effects_of, kernel_components(fit)[names(kernels)])
  ))
}

# Effects of variants in sets.
set_effects <- function(fit, variance, response) {
  weights <- fit$weights
  weight <- weights$weight * (variance > 0)[weights$variant]
  power <- variance[weights$variant]^(1 + fit$scale_power)
  sets <- seq_len(fit$n_genetic)
  total <- rowsum_of(ifelse(weight > 0, weight * power, 0), weights$component, fit$n_genetic)
  share <- ifelse(weight > 0, weight * (fit$theta[sets] / total)[weights$component], 0)
  coefficient <- rowsum_of(share, weights$variant, length(variance))
  ifelse(coefficient != 0, variance^fit$scale_power * coefficient * response, 0)
}

# Sums effects over parts that share variants. `parts`: lists of genotypes `g`, `mean` and `effect`.
sum_of_effects <- function(parts) {
  sources <- unique(lapply(parts, function(part) part$g$path))
  refuse_if(length(sources) > 1,
            "The kernels of the fit have genotypes of %s, but effects need one open_genotypes().",
            enumerate(quoted(unique(unlist(sources)))))
  all_of <- function(of) unlist(lapply(parts, of), use.names = FALSE)
  number <- all_of(function(part) part$g$variant_index)
  variants <- do.call(rbind, lapply(parts, function(part) part$g$variants))
  first <- which(!duplicated(number))
  effect <- rowsum_of(all_of(function(part) part$effect), match(number, number[first]),
                      length(first))
  mean <- all_of(function(part) part$mean)[first]
  data.frame(variants[first, ], mean = mean, effect = effect, row.names = NULL)
}

# The fixed effects of these samples.
new_effects <- function(fit, data, id, ids) {
  if (is.null(data)) {
    refuse_if(length(setdiff(colnames(fit$x), "(Intercept)")),
              "The fit has the covariates %s: give their `data`, or choose `type = \"genetic\"`.",
              enumerate(quoted(setdiff(colnames(fit$x), "(Intercept)"))))
    return(matrix(1, length(ids), ncol(fit$x)))
  }
  fixed_effects_of(fit, data, id, ids)
}

# All chromosome names in the files of a fit's genotypes.
fit_chromosomes <- function(fit) {
  of_kernels <- lapply(Filter(is.list, unname(fit$kernels)), `[[`, "genotypes")
  unlist(lapply(c(list(fit$genotypes), of_kernels), chromosomes_of_file), recursive = FALSE)
}

# Matches variants with effects to other genotypes: list(at = their indices there, mean =, effect =
# of the allele counted there, counts =). `chromosomes`: all in the files of the fit.
matched_variants <- function(effects, genotypes, chromosomes) {
  own_numbers <- has_own_numbers(chromosomes, chromosomes_of_file(genotypes))
  effects <- variant_keys(effects, own_numbers)
  variants <- variant_keys(genotypes$variants, own_numbers)
  repeated_in <- function(key) key[duplicated(key)]
  repeated <- c(repeated_in(effects$key), repeated_in(variants$key))
  at <- match(key_by_id(effects, repeated), key_by_id(variants, repeated), incomparables = NA)
  used <- effects$effect != 0
  if (all(is.na(at))) refuse_other_variants(effects, variants)
  warn_of_absent(effects[used & is.na(at), ], sum(used), variants)
  at <- at[used]
  effects <- effects[used, ]
  found <- !is.na(at)
  is_turned <- found & effects$counted != variants$counted[at]
  list(
    at = at[found],
    mean = ifelse(is_turned, 2 - effects$mean, effects$mean)[found],
    effect = ifelse(is_turned, -effects$effect, effects$effect)[found],
    counts = c(used = sum(found), turned = sum(is_turned), absent = sum(!found))
  )
}

# A table of variants with alleles in upper case, and their places and keys. A `place` is the
# chromosome, under a common name, and the position; pseudoautosomal positions are those of X. A
# `key` is a place with both alleles.
variant_keys <- function(variants, own_numbers) {
  variants$counted <- toupper(variants$counted)
  variants$other <- toupper(variants$other)
  chromosomes <- genotype_chromosomes(variants$chromosome, own_numbers)
  variants$place <- paste(sub("^XY$", "X", chromosomes), variants$position)
  variants$key <- paste(variants$place, pmin(variants$counted, variants$other),
                        pmax(variants$counted, variants$other))
  variants
}

# Repeated keys are extended by ids; NA if these are equal as well.
key_by_id <- function(variants, repeated) {
  needs_id <- variants$key %in% repeated
  key <- ifelse(needs_id, paste(variants$key, variants$id), variants$key)
  replace(key, key %in% key[duplicated(key)], NA)
}

# `absent`: variants of the fit, out of `n`, that are not used. `variants`: the genotypes' variants.
warn_of_absent <- function(absent, n, variants) {
  if (nrow(absent) == 0) {
    return(invisible())
  }
  is_there <- absent$place %in% variants$place
  is_one <- absent$key %in% variants$key
  reasons <- c(
    "no variant is at the same place" = sum(!is_there), "alleles differ" = sum(is_there & !is_one),
    "several have place and alleles, but not the id" = sum(is_one)
  )
  reasons <- reasons[reasons > 0]
  warn_ancify(
    sprintf(
      paste("`genotypes` lacks %s of the fit's %s, which add nothing to predictions: %s.",
            "If they are of the same genome build, fit the variants that both have."),
      format_count(nrow(absent)), count_of(n, "variant"),
      enumerate(sprintf("of %s %s", vapply(reasons, format_count, ""), names(reasons)))
    ),
    "variants"
  )
}

refuse_other_variants <- function(effects, variants) {
  at <- match(effects$key, variants$key)
  is_one <- any(!is.na(at))
  if (!is_one) at <- match(effects$place, variants$place)
  first <- which(!is.na(at))[1]
  alleles <- function(variants, i) paste0(variants$counted[i], "/", variants$other[i])
  abort_ancify(
    paste(
      "`genotypes` has no variant of the fit, by chromosome, position and alleles.",
      if (is.na(first)) {
        "None is at the same place: are both of the same genome?"
      } else if (is_one) {
        sprintf(
          "Several share place and alleles, and their ids differ, as %s in the fit and %s here.",
          quoted(effects$id[first]), quoted(variants$id[at[first]])
        )
      } else {
        sprintf(
          "At the same place are %s with other alleles, as %s:%s, %s in the fit and %s here.",
          count_of(sum(!is.na(at)), "variant"), effects$chromosome[first],
          format_count(effects$position[first]), alleles(effects, first),
          alleles(variants, at[first])
        )
      }
    ),
    "input"
  )
}
