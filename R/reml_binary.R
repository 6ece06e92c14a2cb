# Warnings about traits of few values, such as case-control status, that are treated as numeric.

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
  "It is fitted as a number, so that variances and h2 are those of the observed scale, not of",
  "liability."
)
two_values_scanned <- paste(
  "The linear test takes it as a number: with few cases or rare variants its p values are too",
  "small. Test these by logistic regression, such as plink2 --glm firth."
)
