#' Make a substitution model
#'
#' Describes how bases replace each other along the branches of a tree. The methods `likelihood`
#' and `coalescent` use such a model, and [fit_substitution_model()] starts its search from one.
#'
#' | `name` | Rates | Base frequencies |
#' | --- | --- | --- |
#' | `"JC69"` (Jukes and Cantor 1969) | one exchange rate | equal |
#' | `"K80"` (Kimura 1980) | transitions `kappa` times as fast as transversions | equal |
#' | `"HKY85"` (Hasegawa, Kishino and Yano 1985) | as K80 | any |
#' | `"GTR"` (Tavaré 1986) | six exchange rates | any |
#'
#' All models are reversible: the rate from one base to another is their exchange rate times the
#' frequency of the second. Rates are scaled so that a branch length is the expected number of
#' changes per site.
#'
#' Rates may follow a gamma distribution among sites, with mean 1 and shape `alpha`, and a share of
#' sites may be invariant. `n_rates` classes of equal probability approximate the distribution, each
#' by its mean rate (Yang 1994).
#'
#' The C of a CpG mutates to T about ten times as often as another C, and its G to A. With
#' `by = "cpg"` the classes of [cpg_class()] have their own rates. Initially these equal the rates
#' of all sites; [fit_substitution_model()], and [ancify_run()] with `estimate: true`, fit them.
#'
#' @param name `"JC69"` (the default), `"K80"`, `"HKY85"` or `"GTR"`.
#' @param kappa Rate of transitions relative to transversions, for K80 and HKY85; 2 by default.
#' @param base_freqs Frequencies of A, C, G and T, for HKY85 and GTR; equal by default. A sum within
#'   0.01 of 1 is scaled to 1, with a message. Names, if present, give the order.
#' @param rates Exchange rates AC, AG, AT, CG, CT and GT, for GTR; equal by default. Only their
#'   ratios matter. Names, if present, give the order: `c(AG = 4, CT = 4, AC = 1, ...)`.
#' @param alpha Shape of the gamma distribution, at most 10,000; `NULL` (the default) for one rate.
#' @param n_rates Number of gamma classes, 1 to 100; 4 by default.
#' @param invariant Share of invariant sites, at least 0 (the default) and below 1.
#' @param by `"cpg"` for rates by [cpg_class()]; `NULL` (the default) for one model of all sites.
#' @return A list of class `ancify_model` with these arguments; `rates` and `base_freqs` are
#'   filled in. With `by` it also has `classes`, a model for each class. Their `relative_rate`
#'   is the mean rate of the class, relative to that of all sites.
#' @section Errors:
#' * `ancify_input_error`: a value is impossible, or the model has no such parameter.
#' @references
#' Hasegawa, Kishino and Yano (1985) Dating of the human-ape splitting by a molecular
#' clock of mitochondrial DNA. Journal of Molecular Evolution 22:160.
#'
#' Jukes and Cantor (1969) Evolution of protein molecules. In: Munro (ed.) Mammalian
#' Protein Metabolism, Academic Press, 21-132.
#'
#' Kimura (1980) A simple method for estimating evolutionary rates of base substitutions
#' through comparative studies of nucleotide sequences. Journal of Molecular Evolution
#' 16:111.
#'
#' Tavaré (1986) Some probabilistic and statistical problems in the analysis of DNA
#' sequences. Lectures on Mathematics in the Life Sciences 17:57.
#'
#' Yang (1994) Maximum likelihood phylogenetic estimation from DNA sequences with
#' variable rates over sites. Journal of Molecular Evolution 39:306.
#' @seealso [fit_substitution_model()], [cpg_class()], [call_ancestral()], [coalescent_history()]
#' @encoding UTF-8
#' @export
#' @examples
#' substitution_model("HKY85", kappa = 4, base_freqs = c(0.3, 0.2, 0.2, 0.3))
#' substitution_model("GTR", rates = c(1, 4, 0.8, 1.2, 4.5, 1), alpha = 0.5)
#' substitution_model("GTR", by = "cpg")
substitution_model <- function(name = "JC69", kappa = NULL, base_freqs = NULL, rates = NULL,
                               alpha = NULL, n_rates = 4, invariant = 0, by = NULL) {
  check_args(name = choice(model_names))
  refuse_foreign(name, kappa = kappa, base_freqs = base_freqs, rates = rates)
  check_args(kappa = optional(positive(1)), alpha = optional(check_alpha),
             n_rates = whole(most_rates), invariant = share())
  origin <- new_origin()
  read <- function(value, reader, key) {
    input_faults(reader(as.list(value), key, origin))
  }
  base_freqs <- read(
    base_freqs %||% rate_values("base", 0.25), read_base_frequencies, "base_freqs"
  )
  rates <- read(
    rates %||% rate_values("exchange", 1), labelled_numbers(rate_labels$exchange), "rates"
  )
  for (note in origin$notes) inform_ancify(note)
  model <- new_model(name, kappa %||% 2, base_freqs, rates, alpha, n_rates, invariant)
  if (is.null(check_by(by))) model else in_classes(model)
}

check_by <- function(by) if (!is.null(by)) check_choice(by, class_kinds, "by")

# The classifications that models may use.
class_kinds <- "cpg"

model_names <- c("JC69", "K80", "HKY85", "GTR")

has_kappa <- function(name) name %in% c("K80", "HKY85")

has_frequencies <- function(name) name %in% c("HKY85", "GTR")

refuse_foreign <- function(name, ...) {
  given <- list(...)
  has <- c(
    kappa = has_kappa(name), base_freqs = has_frequencies(name), rates = name == "GTR"
  )
  foreign <- names(given)[!vapply(given, is.null, NA) & !has[names(given)]]
  refuse_if(length(foreign), "%s has no %s: leave it out, or choose another model.", name,
            enumerate(paste0("`", foreign, "`")))
}

# Above this shape, rates hardly differ.
most_alpha <- 1e4

most_rates <- 100

check_alpha <- function(x, name) {
  check_positive(x, name, 1)
  refuse_if(x > most_alpha, "`%s` is %s: give at most %s, or NULL for one rate.", name,
            show_value(x), format_count(most_alpha))
  x
}

# Sets parameters that this model lacks to their fixed values.
new_model <- function(name, kappa, base_freqs, rates, alpha, n_rates, invariant) {
  if (has_kappa(name)) {
    rates <- rate_values("exchange", 1)
    rates[c("AG", "CT")] <- kappa
  } else {
    kappa <- NULL
    if (name == "JC69") rates <- rate_values("exchange", 1)
  }
  if (!has_frequencies(name)) base_freqs <- rate_values("base", 0.25)
  structure(
    list(
      name = name, kappa = kappa, base_freqs = base_freqs, rates = rates, alpha = alpha,
      n_rates = as.integer(n_rates), invariant = invariant
    ),
    class = "ancify_model"
  )
}

#' @export
print.ancify_model <- function(x, ...) {
  write_object("ancify_model", x$name, model_fields(x))
  invisible(x)
}

model_fields <- function(model) {
  numbers <- function(values) {
    paste(names(values), vapply(values, format, "", digits = 4), collapse = ", ")
  }
  c(
    kappa = if (!is.null(model$kappa)) format(model$kappa, digits = 4),
    rates = if (model$name == "GTR") numbers(model$rates),
    frequencies = if (has_frequencies(model$name)) numbers(model$base_freqs),
    gamma = if (!is.null(model$alpha)) {
      sprintf("shape %s, %d classes", format(model$alpha, digits = 4), model$n_rates)
    },
    invariant = if (model$invariant > 0) format(model$invariant, digits = 4),
    `relative rate` = if (!is.null(model$relative_rate)) format(model$relative_rate, digits = 4),
    `relative rates` = if (!is.null(model$classes)) class_rates_text(model$classes)
  )
}

# ---- For the core ---------------------------------------------------------------------

core_model <- function(model) {
  core_list(
    "SubstitutionModel",
    exchangeabilities = as.numeric(model$rates), frequencies = as.numeric(model$base_freqs),
    alpha = model$alpha, n_rates = model$n_rates, invariant = model$invariant,
    rate = model$relative_rate,
    classes = if (!is.null(model$classes)) unname(lapply(model$classes, core_model))
  )
}

# The model with this name, or a validated ancify_model.
check_model <- function(model) {
  if (is.character(model)) {
    return(substitution_model(check_choice(model, model_names, "model")))
  }
  must_be(inherits(model, "ancify_model"), model, "model", "a result of substitution_model()")
  # The user may have changed its fields, so build it anew.
  model <- unclass(model)
  name <- check_choice(model$name, model_names, "model$name")
  made <- substitution_model(
    name, if (has_kappa(name)) model$kappa, if (has_frequencies(name)) model$base_freqs,
    if (name == "GTR") model$rates, model$alpha, model$n_rates, model$invariant
  )
  if (!is.null(model$classes)) made$classes <- check_class_models(model$classes)
  rate <- model$relative_rate
  if (!is.null(rate)) made <- with_rate(made, check_positive(rate, "model$relative_rate", 1))
  made
}

# ---- Models by class -------------------------------------------------------------------------

# Classes by neighbouring bases, see cpg_class(), in the core's order.
neighbour_classes <- c("other", "NpG", "CpN", "CpNpG")

# A model whose classes all equal `model` until they are fitted.
in_classes <- function(model) {
  model$classes <- stats::setNames(
    rep(list(with_rate(model, 1)), length(neighbour_classes)), neighbour_classes
  )
  model
}

rate_labels <- list(
  base = c("A", "C", "G", "T"),
  exchange = c("AC", "AG", "AT", "CG", "CT", "GT")
)

rate_values <- function(labels, value) {
  structure(rep(value, length(rate_labels[[labels]])), names = rate_labels[[labels]])
}

read_base_frequencies <- typed("4 numbers that sum to 1", function(value, key, origin) {
  frequencies <- labelled_numbers(rate_labels$base)(value, key, origin)
  total <- sum(frequencies)
  if (abs(total - 1) > 0.01 + 1e-9) {
    fault(value, key, sprintf("they sum to %s, and must sum to 1.", format(total, digits = 6)))
  }
  if (abs(total - 1) > 1e-9) {
    origin$notes <- c(
      origin$notes,
      sprintf("`%s` sum to %s and were scaled to 1.", key, format(total, digits = 6))
    )
  }
  frequencies / total
})

# `rate`: the mean rate of a class relative to that of all sites.
with_rate <- function(model, rate) {
  model$relative_rate <- rate
  model
}

config_model <- function(config) {
  model_of <- function(values) {
    new_model(
      config$substitution_model, values$model_kappa, values$model_base_freqs, values$model_rates,
      values$rate_alpha, values$n_rates, values$invariant
    )
  }
  model <- model_of(config)
  classes <- config$model_classes
  if (is.list(classes)) {
    model$classes <- lapply(classes, function(values) with_rate(model_of(values), values[["rate"]]))
    model
  } else if (is.null(classes)) {
    model
  } else {
    in_classes(model)
  }
}

has_classes <- function(model) is.list(model) && !is.null(model$classes)

# The model of all sites, whose mean rate is 1.
without_classes <- function(model) {
  model[c("classes", "relative_rate")] <- NULL
  model
}

# Validates the classes of a model again.
check_class_models <- function(classes) {
  refuse_if(!is.list(classes) || !identical(names(classes), neighbour_classes),
            "`model$classes` must be a list of %s: make it by fit_substitution_model().",
            enumerate(quoted(neighbour_classes)))
  lapply(classes, function(model) {
    rate <- check_positive(model$relative_rate, "model$classes$relative_rate", 1)
    with_rate(without_classes(check_model(model)), rate)
  })
}

class_rates_text <- function(classes) {
  rates <- vapply(classes, function(model) format(model$relative_rate, digits = 4), "")
  paste(names(rates), rates, collapse = ", ")
}
