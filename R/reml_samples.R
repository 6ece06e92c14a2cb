# Which samples a fit has, in which order, and their response and fixed effects.

# `order`: ids of all samples that kernels have, in the order of the analysis; NULL for that of the
# data. Gives list(ids =, at = their places in `order`, y =, x =, terms =, all_ids = those of the
# data, dropped = numbers of samples without a phenotype, and without a covariate).
analysis_samples <- function(formula, data, id, order) {
  ids <- sample_ids(data, id)
  frame <- model_frame(formula, data, id)
  order <- order %||% ids
  row <- match(order, ids)
  response <- stats::model.response(frame)
  covariates <- frame[-attr(stats::terms(frame), "response")]
  check_finite_values(frame, ids, row[!is.na(row)])
  # is.na() of a matrix, such as poly() makes, has a column for each of its columns.
  lacking <- lapply(covariates, function(x) rowSums(is.na(as.matrix(x))) > 0)
  incomplete <- Reduce(`|`, lacking, rep(FALSE, nrow(frame)))
  no_phenotype <- is.na(row) | is.na(response)[row]
  no_covariate <- !no_phenotype & incomplete[row]
  kept <- which(!no_phenotype & !no_covariate)
  check_any_sample(order, ids, kept, frame)
  y <- as.double(unname(response[row[kept]]))
  x <- fixed_effects(frame, row[kept])
  check_degrees_of_freedom(y, x, names(frame)[1])
  list(
    ids = order[kept], at = kept, y = y, x = structure(x, contrasts = NULL),
    terms = stats::terms(frame), contrasts = attr(x, "contrasts"),
    levels = levels_of(covariates[row[kept], , drop = FALSE]),
    columns = intersect(all.vars(stats::delete.response(stats::terms(frame))), names(data)),
    all_ids = ids,
    dropped = c("no phenotype" = sum(no_phenotype), "missing covariate" = sum(no_covariate))
  )
}

# The ids of the rows of `data`.
sample_ids <- function(data, id) {
  if (!is.data.frame(data)) {
    abort_ancify(sprintf("`data` must be a data frame, not %s.", show_value(data)), "input")
  }
  check_text(id, "id", "name of a column")
  if (!id %in% names(data)) {
    abort_ancify(
      sprintf("`data` has no column %s: name the column of sample ids by `id`.", quoted(id)),
      "input"
    )
  }
  ids <- ids_as_text(data[[id]])
  without <- which(is.na(ids) | !nzchar(ids))
  if (length(without)) {
    abort_ancify(sprintf("Row %s of `data` has no id.", format_count(without[1])), "input")
  }
  twice <- anyDuplicated(ids)
  if (twice) {
    abort_ancify(sprintf("`data` has the sample %s twice.", quoted(ids[twice])), "input")
  }
  ids
}

# Whole numbers without an exponent.
ids_as_text <- function(ids) {
  text <- as.character(ids)
  whole <- if (is.double(ids)) which(ids == floor(ids) & abs(ids) < 1e15)
  replace(text, whole, sprintf("%.0f", ids[whole]))
}

# A row for each row of `data`, with missing values. A dot stands for all columns but `id`.
model_frame <- function(formula, data, id) {
  if (!inherits(formula, "formula") || length(formula) != 3) {
    abort_ancify(
      sprintf("`formula` must be such as y ~ 1 or y ~ sex + age, not %s.",
              if (inherits(formula, "formula")) quoted(deparse1(formula)) else show_value(formula)),
      "input"
    )
  }
  frame <- tryCatch(
    stats::model.frame(
      stats::terms(formula, data = data[names(data) != id]), data, na.action = stats::na.pass
    ),
    error = function(condition) {
      abort_ancify(
        sprintf("`formula` and `data` do not fit: %s.", conditionMessage(condition)), "input"
      )
    }
  )
  if (!is.null(stats::model.offset(frame))) {
    abort_ancify("`formula` has an offset(): subtract it from the response.", "input")
  }
  response <- stats::model.response(frame)
  if (!is.numeric(response) || is.matrix(response)) {
    abort_ancify(
      sprintf("The response %s must be one column of numbers, not %s.", quoted(names(frame)[1]),
              show_value(response)),
      "input"
    )
  }
  frame
}

# Inf and NaN are faults; NA is a missing value.
check_finite_values <- function(frame, ids, rows) {
  for (name in names(frame)) {
    values <- as.matrix(frame[[name]])[rows, , drop = FALSE]
    if (!is.numeric(values)) next
    wrong <- which(rowSums(is.infinite(values) | is.nan(values)) > 0)
    if (length(wrong)) {
      abort_ancify(
        sprintf("%s of the sample %s is not finite: correct it, or make it NA.", quoted(name),
                quoted(ids[rows[wrong[1]]])),
        "input"
      )
    }
  }
}

check_any_sample <- function(order, ids, kept, frame) {
  if (length(kept)) {
    return(invisible())
  }
  common <- sum(order %in% ids)
  abort_ancify(
    if (length(ids) == 0) {
      "`data` has no row."
    } else if (length(order) == 0) {
      "The kernels have no common sample: compare their row names."
    } else if (common == 0) {
      sprintf("`data` has no sample of the genotypes or kernels: use ids such as %2$s, not %1$s.",
              quoted(ids[1]), quoted(order[1]))
    } else {
      sprintf("None of the %s has values of all of %s.", count_of(common, "common sample"),
              enumerate(quoted(names(frame))))
    },
    "input"
  )
}

# ---- Fixed effects -------------------------------------------------------------------------------

# The matrix of these rows, of full rank, with the contrasts as attribute.
fixed_effects <- function(frame, rows) {
  terms <- stats::delete.response(stats::terms(frame))
  frame <- droplevels(frame[rows, , drop = FALSE])
  # Contrasts need two levels.
  frame[lengths(levels_of(frame)) == 1] <- 1
  attr(frame, "terms") <- terms
  x <- stats::model.matrix(terms, frame)
  contrasts <- attr(x, "contrasts")
  if (attr(terms, "intercept") == 1) {
    constant <- apply(x, 2, function(values) all(values == values[1]))
    constant["(Intercept)"] <- FALSE
    warn_of_constant(colnames(x)[constant], length(rows))
    x <- x[, !constant, drop = FALSE]
  }
  check_independent(x)
  structure(
    matrix(as.double(x), nrow(x), dimnames = list(NULL, colnames(x))), contrasts = contrasts
  )
}

# The labels of each variable of a frame; NULL of numbers.
levels_of <- function(frame) {
  is_label <- function(x) is.factor(x) || is.character(x) || is.logical(x)
  lapply(frame, function(x) if (is_label(x)) levels(droplevels(as.factor(x))))
}

# The matrix of a fit's fixed effects for other samples, a row for each of `ids`.
fixed_effects_of <- function(fit, data, id, ids) {
  rows <- match(ids, sample_ids(data, id))
  if (anyNA(rows)) {
    abort_ancify(
      sprintf("`data` has no row of the sample %s.", quoted(ids[is.na(rows)][1])), "input"
    )
  }
  absent <- setdiff(fit$columns, names(data))
  if (length(absent)) {
    abort_ancify(sprintf("`data` lacks %s, as the fit has it.", enumerate(quoted(absent))), "input")
  }
  terms <- stats::delete.response(fit$terms)
  frame <- stats::model.frame(terms, data[rows, , drop = FALSE], na.action = stats::na.pass)
  check_same_kinds(frame, fit$levels)
  for (name in names(Filter(length, fit$levels))) {
    given <- as.character(frame[[name]])
    unknown <- which(!is.na(given) & !given %in% fit$levels[[name]])
    if (length(unknown)) {
      abort_ancify(
        sprintf(
          "The sample %s has %s %s, which no sample of the fit has.", quoted(ids[unknown[1]]), name,
          quoted(given[unknown[1]])
        ),
        "input"
      )
    }
    single <- length(fit$levels[[name]]) == 1
    frame[[name]] <- if (single) 1 else factor(given, fit$levels[[name]])
  }
  attr(frame, "terms") <- terms
  x <- stats::model.matrix(terms, frame, contrasts.arg = fit$contrasts)
  x[, colnames(fit$x), drop = FALSE]
}

# Numbers must be numbers, as in the fit.
check_same_kinds <- function(frame, levels) {
  labels <- lengths(levels_of(frame)) > 0 & lengths(levels[names(frame)]) == 0
  if (any(labels)) {
    abort_ancify(
      sprintf("%s of `data` must be numbers, as in the fit.", quoted(names(frame)[labels][1])),
      "input"
    )
  }
}

warn_of_constant <- function(covariates, n) {
  if (length(covariates)) {
    warn_ancify(
      sprintf("The covariate %s is dropped: it is the same in all %s.",
              enumerate(quoted(covariates)), count_of(n, "sample")),
      "covariate", covariates = covariates
    )
  }
}

check_independent <- function(x) {
  decomposition <- qr(x)
  free <- decomposition$pivot[seq_len(decomposition$rank)]
  dependent <- setdiff(seq_len(ncol(x)), free)
  if (length(dependent) == 0) {
    return(invisible())
  }
  on <- qr.coef(qr(x[, free, drop = FALSE]), x[, dependent[1]])
  scale <- sqrt(colSums(x^2))
  among <- free[abs(on) * scale[free] > 1e-7 * scale[dependent[1]]]
  abort_ancify(
    sprintf(
      "The covariate %s %s: leave one of them out.", quoted(colnames(x)[dependent[1]]),
      if (length(among)) {
        paste("is a combination of", enumerate(quoted(colnames(x)[among])))
      } else {
        "is 0 in all samples"
      }
    ),
    "input", covariates = colnames(x)[c(dependent, among)]
  )
}

# Errors for data without a fit. `name`: that of the response.
check_degrees_of_freedom <- function(y, x, name) {
  n <- length(y)
  p <- ncol(x)
  if (p >= n) {
    abort_ancify(
      sprintf("There are %s and %s: a fit needs more samples than effects.",
              count_of(n, "sample"), count_of(p, "fixed effect")),
      "input"
    )
  }
  if (all(y == y[1])) {
    abort_ancify(sprintf("The response %s does not vary: it is %s in all %s.", quoted(name),
                         number_text(y[1]), count_of(n, "sample")), "input")
  }
  left <- if (p) qr.resid(qr(x), y) else y
  # The core refuses what is too large or too small to be squared.
  if (isTRUE(sum(left^2) <= 1e-24 * sum(y^2)) && sum(y^2) > 0) {
    abort_ancify(
      sprintf("The fixed effects explain all of the response %s: nothing is left for variances.",
              quoted(name)),
      "input"
    )
  }
}
