#' Train a classifier of embeddings
#'
#' `train_classifier(x, labels, groups)` learns to distinguish two classes, such as viral and other
#' reading frames, by their embeddings. Whole groups, such as genomes, are held out of training for
#' validation.
#'
#' **Network.** The network is VirNucPro's: a dense layer with 512 units, batch normalization, ReLU,
#' dropout of one half, and a dense layer to two classes. It accepts rows of any width.
#'
#' **Training.** Weights are initialized by Glorot and Bengio's uniform distribution. Stochastic
#' gradient descent minimizes the cross-entropy, with momentum 0.9 and batches of 32 rows. The
#' learning rate is 2e-4, multiplied by 0.85 every 10 epochs. Training ends when the held-out loss
#' has not decreased for 5 epochs, or after 200 epochs. The weights of the best epoch are kept.
#'
#' **Groups.** Rows of one genome resemble each other, so a split by rows would overestimate the
#' accuracy. If `held_out` is a share, groups are drawn in that proportion from each of three kinds:
#' groups of one class, of the other, and of both. The best epoch is chosen on the held-out groups,
#' so their AUC is slightly too high. For an unbiased estimate, keep some genomes for `predict()`
#' alone.
#'
#' **Computation.** Values have single precision. A seed gives identical weights with any number of
#' threads, to the last bit. Instruction sets of processors round differently.
#'
#' @param x Embeddings: a matrix with an embedding per row, as from [embed_sequences()]. To join
#'   several embeddings of a sequence, use `cbind()`.
#' @param labels The class of each row: a factor with two levels, `TRUE` and `FALSE`, or two other
#'   values. The class to detect is the last level, `TRUE`, or the last value in sorted order.
#' @param groups The group of each row, such as its genome.
#' @param held_out Share of the groups to hold out, above 0 and below 1; 0.2 by default. Or the
#'   names of these groups.
#' @param seed A positive whole number for the split, the initial weights, the order of rows and
#'   dropout; 1 by default.
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @return An object of class `embedding_classifier`, for [predict()][predict.embedding_classifier]
#'   and [save_model()]. Its elements include:
#'
#'   * `classes`: the names of both classes.
#'   * `epochs`: a data frame with a row per epoch: `rate`, `training_loss`, `held_out_loss`.
#'   * `best`: the index of the epoch whose weights are kept.
#'   * `held_out`: a data frame with a row for each held-out row: its index `row`, its `group` and
#'     `label`, and the `probability` of the last class.
#'   * `auc`: the area under the ROC curve for the held-out rows.
#'   * `calibration`: a data frame with a row for each non-empty tenth of probability: `from`, `to`,
#'     the number of rows `n`, their mean probability `predicted`, and the share `observed` of the
#'     last class.
#' @section Errors:
#' * `ancify_input_error`: an argument has another shape or range; there are fewer than two groups;
#'   the training rows, or the held-out rows, have only one class; or embeddings are so large that
#'   training gives values that are not finite.
#' @references
#' Glorot X, Bengio Y (2010) Understanding the difficulty of training deep feedforward neural
#' networks. AISTATS 9: 249-256.
#'
#' Ioffe S, Szegedy C (2015) Batch normalization: accelerating deep network training by reducing
#' internal covariate shift. ICML 37: 448-456.
#' @seealso [read_classifier()], [embed_sequences()]
#' @export
#' @examples
#' # Random numbers in place of embeddings: 30 genomes, and the first half are viruses
#' set.seed(1)
#' genome <- rep(1:30, each = 12)
#' virus <- genome <= 15
#' x <- matrix(rnorm(360 * 8), 360) + virus
#' fit <- train_classifier(x, ifelse(virus, "virus", "others"), genome, threads = 1)
#' fit
#' predict(fit, x[c(1, 360), ])
train_classifier <- function(x, labels, groups, held_out = 0.2, seed = 1, threads = NULL) {
  check_given()
  x <- check_embeddings(x, "x")
  labels <- as_labels(labels, nrow(x))
  groups <- as_groups(groups, nrow(x))
  check_whole_number(seed, "seed")
  work <- new_work(threads, progress = interactive())
  second <- as.integer(labels) - 1L
  out <- choose_held_out(second, groups, held_out, seed)
  check_both_classes(labels, groups, out)
  fit <- with_watch("Training", function(watch) {
    embeddings <- core_list("LabelledEmbeddings", x = x, labels = second, held_out = out)
    train_classifier_impl(embeddings, seed, work, watch)
  }, work$progress)
  fit$classifier$classes <- enc2utf8(levels(labels))
  fit$classifier$columns <- colnames(x)
  classifier <- structure(fit$classifier, class = "embedding_classifier")
  classifier$epochs <- stats::setNames(
    as.data.frame(fit$epochs), c("rate", "training_loss", "held_out_loss")
  )
  classifier$best <- fit$best
  classifier$training <- c(rows = sum(!out), groups = length(unique(groups[!out])))
  p <- class_probabilities(classifier, x[out, , drop = FALSE], work)[, 2]
  classifier$held_out <- data.frame(
    row = which(out), group = groups[out], label = labels[out], probability = unname(p)
  )
  classifier$auc <- auc_of(p, second[out])
  classifier$calibration <- calibration_of(p, second[out])
  classifier
}

# `x`: checked embeddings, with the columns in the order of training. A row for each of them.
class_probabilities <- function(classifier, x, work) {
  p <- with_watch("Classifying", function(watch) {
    classify_impl(core_classifier(classifier), x, work, watch)
  }, work$progress)
  matrix(c(1 - p, p), ncol = 2, dimnames = list(rownames(x), classifier$classes))
}

core_classifier <- function(object) {
  core_list(
    "Classifier",
    width = object$width, hidden = object$hidden, classes = object$classes, tensors = object$tensors
  )
}

# ---- Arguments ----------------------------------------------------------------------------------

# Returns a matrix of finite numbers, of type double. `width`: the required number of columns.
check_embeddings <- function(x, name, width = NULL) {
  refuse_if(!is.matrix(x) || !is.numeric(x),
            "`%s` must be a matrix of numbers with a row an embedding, not %s.", name,
            if (is.matrix(x)) sprintf("one of type %s", typeof(x)) else show_value(x))
  refuse_if(
    !is.null(width) && ncol(x) != width,
    "The classifier takes %s a row, but `%s` has %s: embed with the models it was trained on.",
    count_of(width, "number"), name, format_count(ncol(x))
  )
  refuse_if(ncol(x) == 0, "`%s` has no columns.", name)
  # Larger values would be infinite in single precision.
  bad <- which(rowSums(!is.finite(x) | abs(x) > 3.4e38) > 0)
  refuse_if(length(bad),
            "`%s` has numbers that are not finite in %s, such as row %s: leave these rows out.",
            name, count_of(length(bad), "row"), format_count(bad[1]))
  storage.mode(x) <- "double"
  x
}

# The columns of `x` in the order of the training data, matched by name if both have names.
in_trained_order <- function(x, columns) {
  if (is.null(columns) || is.null(colnames(x)) || anyDuplicated(columns)) {
    return(x)
  }
  missing <- setdiff(columns, colnames(x))
  refuse_if(length(missing),
            "`newdata` has no column %s of the training data: name its columns as there, or none.",
            quoted(missing[1]))
  x[, columns, drop = FALSE]
}

# A modified classifier may have parts of other sizes, which the core would read out of bounds.
check_parts <- function(classifier, name) {
  hidden <- classifier$hidden
  sizes <- c(hidden * classifier$width, rep(hidden, 5), 2 * hidden, 2)
  tensors <- classifier$tensors
  refuse_if(!identical(as.numeric(lengths(tensors)), sizes) ||
              !all(vapply(tensors, function(x) is.double(x) && all(is.finite(x)), NA)) ||
              !is.character(classifier$classes) || length(classifier$classes) != 2,
            "The classifier was changed: its parts do not fit. Train or read it again.")
  classifier
}

check_by_row <- function(values, n, name) {
  if (!is.atomic(values) || length(values) != n || anyNA(values)) {
    problem <- if (!is.atomic(values)) {
      show_value(values)
    } else if (length(values) != n) {
      format_count(length(values))
    } else {
      "missing values"
    }
    refuse_input("`%s` must have a value for each of %s, not %s.", name, count_of(n, "row"),
                 problem)
  }
  values
}

as_labels <- function(labels, n) {
  labels <- droplevels(as.factor(check_by_row(labels, n, "labels")))
  refuse_if(nlevels(labels) != 2, "`labels` must have two classes, not %s: %s.",
            format_count(nlevels(labels)),
            if (nlevels(labels)) enumerate(quoted(levels(labels))) else "there are no rows")
  labels
}

as_groups <- function(groups, n) {
  groups <- group_names(check_by_row(groups, n, "groups"))
  refuse_if(length(unique(groups)) < 2,
            "`groups` has only %s, but one is needed to train and another one to be held out.",
            quoted(groups[1]))
  groups
}

# Whole numbers are written in full: 100000, not 1e+05.
group_names <- function(groups) {
  is_whole <- is.double(groups) && !is.object(groups) && all(groups %% 1 %in% 0)
  if (is_whole) sprintf("%.0f", groups) else as.character(groups)
}

# ---- Split --------------------------------------------------------------------------------------

# Which rows are held out. `second`: 1 for rows of the second class, otherwise 0.
choose_held_out <- function(second, groups, held_out, seed) {
  if (is.numeric(held_out) && length(held_out) == 1 && isTRUE(held_out > 0 & held_out < 1)) {
    return(groups %in% seeded(seed, draw_groups(second, groups, held_out)))
  }
  held_out <- group_names(held_out)
  unknown <- setdiff(held_out, groups)
  refuse_if(length(held_out) == 0 || length(unknown),
            "`held_out` must be a share between 0 and 1, or names of groups, not %s.",
            if (length(unknown)) enumerate(quoted(unknown)) else "empty")
  groups %in% held_out
}

# Draws a share of the groups of each kind: all rows of one class, of the other, or of both. A
# kind's only group is left; of several groups, at least one is drawn and one is left.
draw_groups <- function(second, groups, share) {
  means <- vapply(split(second, groups), mean, 0)
  kinds <- split(names(means), ifelse(means %in% 0:1, means, 0.5))
  unlist(lapply(kinds, function(names) {
    n <- length(names)
    names[sample.int(n, min(max(1, round(share * n)), n - 1))]
  }))
}

check_both_classes <- function(labels, groups, out) {
  for (side in list(list("Training", !out), list("What is held out", out))) {
    there <- unique(labels[side[[2]]])
    refuse_if(length(there) < 2,
              "%s has %s, in %s. Both classes are needed on both sides: name groups in `held_out`.",
              side[[1]],
              if (length(there)) sprintf("one class only, %s", quoted(there)) else "no row",
              count_of(length(unique(groups[side[[2]]])), "group"))
  }
}

# ---- Held-out rows ------------------------------------------------------------------------------

# The probability that a row of the second class ranks above a row of the first; ties count one
# half.
auc_of <- function(p, second) {
  n <- tabulate(second + 1, 2)
  (sum(rank(p)[second == 1]) - n[2] * (n[2] + 1) / 2) / (n[1] * n[2])
}

calibration_of <- function(p, second) {
  bin <- pmin(floor(10 * p), 9)
  mean_of <- function(values) as.vector(tapply(values, bin, mean))
  from <- sort(unique(bin))
  data.frame(
    from = from / 10, to = (from + 1) / 10, n = as.vector(table(bin)), predicted = mean_of(p),
    observed = mean_of(second)
  )
}

# The mean absolute difference of predicted and observed shares, weighted by the number of rows.
calibration_error <- function(calibration) {
  stats::weighted.mean(abs(calibration$predicted - calibration$observed), calibration$n)
}
