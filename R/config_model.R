# The settings of substitution models, for all sites and by class.

rate_settings <- function() {
  list(
    model_kappa = config_setting(
      read_number(above = 0), "Ratio of the rates of transitions and transversions (K80, HKY85).",
      2, python = TRUE
    ),
    model_base_freqs = config_setting(
      read_base_frequencies, "Equilibrium frequencies of A, C, G and T (HKY85, GTR).",
      rate_values("base", 0.25), python = TRUE
    ),
    model_rates = config_setting(
      labelled_numbers(rate_labels$exchange),
      "Relative rates of AC, AG, AT, CG, CT and GT (GTR).", rate_values("exchange", 1),
      python = TRUE
    ),
    rate_alpha = config_setting(
      read_number(above = 0, highest = most_alpha), "Shape of gamma distributed rates over sites.",
      unset = "one rate for all sites", example = "0.5"
    ),
    n_rates = config_setting(
      whole_number(1, most_rates), "Number of rate classes that stand for the gamma distribution.",
      4L
    ),
    invariant = config_setting(read_share, "Share of sites that never change.", 0)
  )
}

# The settings of a class of neighbours.
class_settings <- function() {
  rate <- config_setting(
    read_number(above = 0), "The class's mean rate, relative to all sites.", required = TRUE
  )
  c(list(rate = rate), rate_settings())
}

# Either "cpg", for classes to be fitted, or the rates of each class.
classes_or_rates <- function() {
  typed("`cpg`, or rates of each class", function(value, key, origin) {
    if (is_scalar(value) && tolower(value) %in% class_kinds) {
      return(tolower(value))
    }
    if (!is.list(value) || !setequal(names(value), neighbour_classes)) {
      fault(
        value, key, sprintf("give cpg, or rates of the classes %s.", enumerate(neighbour_classes))
      )
    }
    lapply(stats::setNames(nm = neighbour_classes), function(name) {
      path <- paste(key, name, sep = ".")
      attempt(origin, key_section(class_settings())(value[[name]], path, origin), path)
    })
  })
}

# The classification of a configuration's model; NULL without classes.
classes_by <- function(config) if (!is.null(config$model_classes)) class_kinds
