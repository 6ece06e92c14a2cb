# The samples of a fit in their order, their response and fixed effects.

# `order`: ids of all samples in kernels, in the order of the analysis; NULL for the order of the
# data. `several`: whether the response may be a matrix of traits, of which a sample may lack some.
# `groups`: further columns that samples need. `repeated`: whether a sample may have several rows.
# Returns list(ids =, at = their indices in `order`, rows = those in `data`, y =, x =, terms =,
# contrasts =, levels =, columns =, all_ids = ids of the data, dropped = numbers of samples without
# a phenotype, and without a covariate, family =, labels = as from coded_response()).
analysis_samples <- function(formula, data, id, order, family = NULL, several = FALSE,
                             groups = character(), repeated = FALSE) {
  ids <- sample_ids(data, id, repeated)
  frame <- model_frame(formula, data, id)
  response <- stats::model.response(frame)
  coded <- if (several && is_matrix_of_traits(response)) {
    coded_traits(response, family)
  } else {
    coded_response(response, names(frame)[1], family)
  }
  frame[[1]] <- coded$values
  order <- order %||% unique(ids)
  records <- record_rows(order, ids)
  row <- records$row
  response <- stats::model.response(frame)
  covariates <- frame[-attr(stats::terms(frame), "response")]
  check_finite_values(frame, ids, row[!is.na(row)])
  # A covariate may be a matrix, as from poly().
  lacking <- lapply(covariates, function(x) rowSums(is.na(as.matrix(x))) > 0)
  incomplete <- Reduce(`|`, lacking, rep(FALSE, nrow(frame)))
  no_group <- rowSums(is.na(data[groups])) > 0
  no_phenotype <- is.na(row) | (rowSums(!is.na(as.matrix(response))) == 0)[row]
  no_covariate <- !no_phenotype & incomplete[row]
  no_group <- !no_phenotype & !no_covariate & no_group[row]
  kept <- which(!no_phenotype & !no_covariate & !no_group)
  check_any_sample(order, ids, kept, frame)
  x <- fixed_effects(frame, row[kept])
  if (is.matrix(response)) {
    y <- traits_of(response, row[kept])
    check_traits(y, x)
  } else {
    y <- as.double(unname(response[row[kept]]))
    check_degrees_of_freedom(y, x, names(frame)[1])
  }
  list(
    ids = order[records$at[kept]], at = records$at[kept], rows = row[kept], y = y,
    x = structure(x, contrasts = NULL),
    terms = stats::terms(frame), contrasts = attr(x, "contrasts"),
    levels = levels_of(covariates[row[kept], , drop = FALSE]),
    columns = intersect(all.vars(stats::delete.response(stats::terms(frame))), names(data)),
    all_ids = ids,
    dropped = c(if (repeated) c("not in data" = sum(is.na(row))),
                "no phenotype" = sum(no_phenotype) - repeated * sum(is.na(row)),
                "missing covariate" = sum(no_covariate),
                if (length(groups)) c("missing group or environment" = sum(no_group))),
    family = coded$family, labels = coded$labels
  )
}

# The rows of `data`, with these ids, in the order of their samples: list(at = indices in `order`,
# row = NA for a sample without a row).
record_rows <- function(order, ids) {
  at <- match(ids, order)
  rows <- which(!is.na(at))
  lacking <- setdiff(seq_along(order), at)
  at <- c(at[rows], lacking)
  sorted <- order(at)
  list(at = at[sorted], row = c(rows, rep(NA, length(lacking)))[sorted])
}

# The ids of the rows of `data`. `repeated`: whether a sample may have several. `advice`: if not.
sample_ids <- function(data, id, repeated = FALSE, advice = NULL) {
  must_be(is.data.frame(data), data, "data", "a data frame")
  check_text(id, "id", "name of a column")
  refuse_if(!id %in% names(data), "`data` has no column %s: name the column of sample ids by `id`.",
            quoted(id))
  check_column(id, data)
  ids <- ids_as_text(data[[id]])
  without <- which(is.na(ids) | !nzchar(ids))
  refuse_if(length(without), "Row %s of `data` has no id.", format_count(without[1]))
  twice <- if (repeated) 0 else anyDuplicated(ids)
  refuse_if(twice, "`data` has the sample %s twice: leave a row out. %s.", quoted(ids[twice]),
            advice %||%
              sprintf("fit_reml() takes several with `kernels = kernel_groups(~ %s)`", id))
  ids
}

# A row for each row of `data`, with missing values. A dot stands for all columns but `id`.
model_frame <- function(formula, data, id) {
  refuse_if(!inherits(formula, "formula") || length(formula) != 3,
            "`formula` must be such as y ~ 1 or y ~ sex + age, not %s.",
            if (inherits(formula, "formula")) quoted(deparse1(formula)) else show_value(formula))
  frame <- tryCatch(
    stats::model.frame(
      stats::terms(formula, data = data[names(data) != id]), data, na.action = stats::na.pass
    ),
    error = function(condition) {
      refuse_input("`formula` and `data` do not fit: %s.", conditionMessage(condition))
    }
  )
  refuse_if(!is.null(stats::model.offset(frame)),
            "`formula` has an offset(): subtract it from the response.")
  frame
}

# The traits of these rows: a column for each trait, with a unique name, and NA for missing values.
traits_of <- function(response, rows) {
  names <- colnames(response) %||% rep("", ncol(response))
  names[!nzchar(names)] <- paste0("trait", seq_along(names))[!nzchar(names)]
  refuse_if(anyDuplicated(names), "The response has the trait %s twice.",
            quoted(names[anyDuplicated(names)]))
  y <- matrix(as.double(response[rows, ]), length(rows))
  colnames(y) <- names
  y
}

# Each trait needs variation, and fixed effects that are independent in its own samples.
check_traits <- function(y, x) {
  for (trait in colnames(y)) {
    here <- !is.na(y[, trait])
    refuse_if(!any(here), "The trait %s has no value in the samples of the fit.", quoted(trait))
    with_input_errors_as(sprintf("In the samples of the trait %s: %%s", quoted(trait)), {
      check_independent(x[here, , drop = FALSE])
      check_degrees_of_freedom(y[here, trait], x[here, , drop = FALSE], trait)
    })
  }
  refuse_if(anyDuplicated(y, MARGIN = 2), "The traits %s are equal: give each once.",
            enumerate(quoted(colnames(y)[duplicated(y, MARGIN = 2) |
                                           duplicated(y, MARGIN = 2, fromLast = TRUE)])))
}

# Inf and NaN are errors; NA is a missing value.
check_finite_values <- function(frame, ids, rows) {
  for (name in names(frame)) {
    values <- as.matrix(frame[[name]])[rows, , drop = FALSE]
    if (!is.numeric(values)) next
    wrong <- which(rowSums(is.infinite(values) | is.nan(values)) > 0)
    refuse_if(length(wrong), "%s of the sample %s is not finite: correct it, or make it NA.",
              quoted(name), quoted(ids[rows[wrong[1]]]))
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
      rows <- frame[ids %in% order, , drop = FALSE]
      empty <- names(rows)[vapply(rows, function(x) all(is.na(x)), NA)]
      sprintf("None of the %s has %s.", count_of(common, "common sample"), if (length(empty)) {
        paste("a value of", enumerate(quoted(empty)))
      } else {
        paste("values of all of", enumerate(quoted(names(frame))))
      })
    },
    "input"
  )
}

# ---- Fixed effects -------------------------------------------------------------------------------

# The matrix of fixed effects in these rows, of full rank, with contrasts as attribute.
fixed_effects <- function(frame, rows) {
  terms <- stats::delete.response(stats::terms(frame))
  frame <- with_used_levels(frame[rows, , drop = FALSE])
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

# The frame without unused levels. Factors keep the contrasts that a user has set.
with_used_levels <- function(frame) {
  for (name in names(Filter(is.factor, frame))) {
    whole <- frame[[name]]
    frame[[name]] <- droplevels(whole)
    # Contrasts need two levels.
    if (nlevels(frame[[name]]) > 1) {
      attr(frame[[name]], "contrasts") <- contrasts_of_used(whole, nlevels(frame[[name]]), name)
    }
  }
  frame
}

# The contrasts of a factor for its `n` remaining levels. A known scheme, which R may store as a
# matrix, applies to any number of levels.
contrasts_of_used <- function(x, n, name) {
  contrasts <- attr(x, "contrasts")
  if (!is.matrix(contrasts) || n == nlevels(x)) {
    return(contrasts)
  }
  schemes <- c("contr.treatment", "contr.sum", "contr.helmert", "contr.poly", "contr.SAS")
  for (scheme in schemes) {
    matrix <- get(scheme, asNamespace("stats"))(nlevels(x))
    if (isTRUE(all.equal(unname(matrix), unname(contrasts)))) {
      return(scheme)
    }
  }
  refuse_input("%s has a matrix of contrasts, but no sample of the fit has %s: %s.", quoted(name),
               enumerate(quoted(setdiff(levels(x), x))),
               "drop this from `data`, and set contrasts for the levels that are left")
}

# The labels of each variable of a frame; NULL for numbers.
levels_of <- function(frame) {
  is_label <- function(x) is.factor(x) || is.character(x) || is.logical(x)
  lapply(frame, function(x) if (is_label(x)) levels(droplevels(as.factor(x))))
}

# Fixed effects with further columns, without those that depend linearly on others.
joined_effects <- function(x, more) {
  both <- cbind(x, more)
  decomposition <- qr(both)
  both[, sort(decomposition$pivot[seq_len(decomposition$rank)]), drop = FALSE]
}

# The matrix of a fit's fixed effects for other samples, a row for each of `ids`.
fixed_effects_of <- function(fit, data, id, ids) {
  given <- sample_ids(data, id, advice = "Predictions take one row for each sample")
  rows <- match(ids, given)
  refuse_if(anyNA(rows), "`data` has no row of the sample %s.", quoted(ids[is.na(rows)][1]))
  absent <- setdiff(fit$columns, names(data))
  refuse_if(length(absent), "`data` lacks %s, as the fit has it.", enumerate(quoted(absent)))
  terms <- stats::delete.response(fit$terms)
  frame <- covariates_of(terms, data, rows)
  check_same_kinds(frame, fit$levels)
  for (name in names(Filter(length, fit$levels))) {
    given <- as.character(frame[[name]])
    unknown <- which(!is.na(given) & !given %in% fit$levels[[name]])
    refuse_if(length(unknown), "The sample %s has %s %s, which no sample of the fit has.",
              quoted(ids[unknown[1]]), name, quoted(given[unknown[1]]))
    single <- length(fit$levels[[name]]) == 1
    frame[[name]] <- if (single) 1 else factor(given, fit$levels[[name]])
  }
  attr(frame, "terms") <- terms
  x <- stats::model.matrix(terms, frame, contrasts.arg = fit$contrasts)
  x[, colnames(fit$x), drop = FALSE]
}

# The covariates of these rows. A variable found in the workspace would keep the order of the fit's
# samples, so check that the frame follows the rows.
covariates_of <- function(terms, data, rows) {
  frame_of <- function(rows) {
    tryCatch(
      stats::model.frame(terms, data[rows, , drop = FALSE], na.action = stats::na.pass),
      error = function(condition) {
        refuse_input("The covariates of the fit cannot be made of `data`: %s.",
                     conditionMessage(condition))
      }
    )
  }
  refuse_if(nrow(frame_of(c(rows, rows))) != 2 * length(rows),
            "Some covariates of the fit are not columns of `data`: add them, and fit %s again.",
            quoted(deparse1(stats::formula(terms))))
  frame_of(rows)
}

# Covariates that are numeric in the fit must be numeric in `data`.
check_same_kinds <- function(frame, levels) {
  labels <- lengths(levels_of(frame)) > 0 & lengths(levels[names(frame)]) == 0
  refuse_if(any(labels), "%s of `data` must be numbers, as in the fit.",
            quoted(names(frame)[labels][1]))
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

# Errors if the data have no residual variation. `name`: name of the response.
check_degrees_of_freedom <- function(y, x, name) {
  n <- length(y)
  p <- ncol(x)
  refuse_if(p >= n, "There are %s and %s: a fit needs more samples than effects.",
            count_of(n, "sample"), count_of(p, "fixed effect"))
  refuse_if(all(y == y[1]), "The response %s does not vary: it is %s in all %s.", quoted(name),
            number_text(y[1]), count_of(n, "sample"))
  # Scale the response so that its squares do not overflow.
  y <- y / max(abs(y))
  left <- if (p) qr.resid(qr(x), y) else y
  # The core refuses responses that are too large or too small to be squared.
  refuse_if(sum(left^2) <= 1e-24 * sum(y^2),
            "The fixed effects explain all of the response %s: nothing is left for variances.",
            quoted(name))
}
