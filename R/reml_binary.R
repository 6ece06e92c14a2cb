# Responses of two values, as cases and controls have.

# ---- Coding --------------------------------------------------------------------------------------

# The response of a model as numbers: list(values =, family =, labels = c(control =, case =), or
# NULL). `family`: an argument, or NULL for that of the response's type. `name`: of the response.
coded_response <- function(response, name, family) {
  has_labels <- is.factor(response) || is.logical(response)
  family <- family %||% if (has_labels) "binary" else "gaussian"
  binary <- family == "binary"
  refuse_if(is.matrix(response) || !(is.numeric(response) || binary && has_labels),
            "The response %s must be one column of numbers, not %s.%s", quoted(name),
            show_value(response), advice_on_response(response, has_labels))
  labels <- if (binary) case_labels(response, name)
  values <- if (binary) match(as.character(response), labels) - 1 else response
  list(values = values, family = family, labels = labels)
}

# As coded_response(), of a matrix of traits.
coded_traits <- function(response, family) {
  refuse_if(identical(family, "binary"),
            "Several traits are quantitative: give cases and controls one trait at a time.")
  list(values = response, family = "gaussian", labels = NULL)
}

is_matrix_of_traits <- function(response) {
  is.matrix(response) && ncol(response) > 1 && is.numeric(response)
}

advice_on_response <- function(response, has_labels) {
  if (is.matrix(response)) {
    ""
  } else if (has_labels) {
    " With `family = \"binary\"` it is one of cases and controls."
  } else {
    " Cases and controls may be a factor, whose second level is the cases."
  }
}

# The texts of a control and a case.
case_labels <- function(response, name) {
  if (is.logical(response)) {
    return(c(control = "FALSE", case = "TRUE"))
  }
  if (is.factor(response)) {
    labels <- if (nlevels(response) == 2) levels(response) else levels(droplevels(response))
    refuse_if(length(labels) != 2, "The response %s has %s, but cases and controls are two: %s.",
              quoted(name), count_of(length(labels), "level"), enumerate(quoted(labels)))
    return(c(control = labels[1], case = labels[2]))
  }
  values <- sort(unique(response))
  refuse_if(identical(as.double(values), c(0, 1, 2)),
            paste("The response %s has the values 0, 1 and 2. In PLINK's code of cases (2) and",
                  "controls (1), 0 is a missing phenotype: make it NA."), quoted(name))
  plain <- all(values %in% 0:1)
  refuse_if(!plain && !all(values %in% 1:2),
            paste("The response %s has the value %s: cases are 1 and controls 0, or as in PLINK",
                  "cases are 2 and controls 1."),
            quoted(name), number_text(setdiff(values, 0:2)[1]))
  if (plain) c(control = "0", case = "1") else c(control = "1", case = "2")
}

# "120 cases ('2') and 300 controls ('1')"
cases_text <- function(y, labels) {
  sprintf("%s (%s) and %s (%s)", count_of(sum(y == 1), "case"), quoted(labels[["case"]]),
          count_of(sum(y == 0), "control"), quoted(labels[["control"]]))
}

is_binary <- function(model) identical(model$family, "binary")

# `family` of an exported function.
check_family <- function() optional(choice(c("gaussian", "binary")))

# ---- Warnings ------------------------------------------------------------------------------------

# `taken`: the treatment of a trait of two values, and advice. `name`: name of the response.
warn_of_few_values <- function(y, name, taken) {
  counts <- table(y)
  if (length(counts) == 2) {
    warn_ancify(
      sprintf(
        "The response %s has two values, as cases and controls have: %s in %s and %s in %s. %s",
        quoted(name), names(counts)[1], count_of(counts[[1]], "sample"), names(counts)[2],
        format_count(counts[[2]]), taken
      ),
      "response"
    )
  } else if (identical(names(counts), c("0", "1", "2"))) {
    warn_ancify(
      sprintf(
        paste("The response %s has the values 0, 1 and 2 and is taken as a number. In PLINK's code",
              "of cases (2) and controls (1), 0 is a missing phenotype: make it NA."),
        quoted(name)
      ),
      "response"
    )
  }
}

# The name of a model's response.
response_name <- function(terms) deparse1(attr(terms, "variables")[[2]])

two_values_fitted <- paste(
  "It is fitted as a number, so that variances and h2 are those of the observed scale. With",
  "`family = \"binary\"` and a `prevalence`, h2 is that of liability, too."
)
two_values_beside_others <- paste(
  "It is fitted as a number, so that its variances are those of the observed scale. Fitted alone",
  "with `family = \"binary\"`, it is one of cases and controls."
)
two_values_scanned <- paste(
  "The linear test takes it as a number: with few cases or rare variants its p values are too",
  "small. Test these by logistic regression: `family = \"binary\"`."
)
