#' Read a classifier of embeddings
#'
#' `read_classifier(file)` reads a classifier that [save_model()], PyTorch or VirNucPro wrote, for
#' [predict()][predict.embedding_classifier].
#'
#' Files are safetensors, or torch's zip files (`.pth`, `.pt`) with a table of tensors or a whole
#' `MLPClassifier` of VirNucPro. Nothing that torch has pickled is run. The tensors are
#' `hidden_layer.weight`, `hidden_layer.bias`, `bn1.weight`, `bn1.bias`, `bn1.running_mean`,
#' `bn1.running_var`, `output_layer.weight` and `output_layer.bias`. Widths of rows and of the
#' hidden layer are those of the file.
#'
#' **Tested.** Small random classifiers agree with PyTorch, before and after steps of training. No
#' published weights have been run yet.
#'
#' @param file Path of the file.
#' @param classes Names of both classes, if the file does not tell them; `NULL`: `"others"` and
#'   `"virus"`, as in VirNucPro.
#' @return An object of class `embedding_classifier`, without a record of its training.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file cannot be read.
#' * `ancify_format_error` (fields `file`, `line`): it is damaged, or has no such classifier.
#' * `ancify_input_error`: `classes` are not two names, or the file tells others.
#' @seealso [train_classifier()]
#' @export
#' @examples
#' set.seed(1)
#' group <- rep(1:10, each = 8)
#' fit <- train_classifier(matrix(rnorm(80 * 4), 80) + group %% 2, group %% 2, group, threads = 1)
#' file <- save_model(fit, tempfile(fileext = ".safetensors"))
#' read_classifier(file)
read_classifier <- function(file, classes = NULL) {
  check_given()
  file <- check_path(file, "file")
  check_is_file(file)
  classifier <- structure(read_classifier_impl(file), class = "embedding_classifier")
  if (!is.null(classes)) check_classes(classes, classifier$classes, file)
  if (length(classifier$classes) == 0) {
    classifier$classes <- enc2utf8(classes %||% c("others", "virus"))
  }
  classifier
}

# `told`: the classes that the file tells, if any.
check_classes <- function(classes, told, file) {
  good <- is.character(classes) && length(classes) == 2 && !anyNA(classes) && all(nzchar(classes))
  if (!good || classes[1] == classes[2]) {
    abort_ancify(
      sprintf("`classes` must be two different names, not %s.", show_value(classes)), "input"
    )
  }
  if (length(told) && !identical(enc2utf8(classes), told)) {
    abort_ancify(
      sprintf("`classes` are %s, but those of %s are %s.", enumerate(quoted(classes)),
              quoted(file), enumerate(quoted(told))),
      "input"
    )
  }
}

#' Save a trained model
#'
#' `save_model(fit, file)` writes the weights of a model as safetensors, which other programs read.
#'
#' For an autoencoder, tensors have the names and shapes that PyTorch would give them; the file also
#' tells the task, the number of points, and the unit. For a classifier, tensors have the names that
#' [read_classifier()] lists, and the names of its classes are the metadata `class0` and `class1`.
#' The record of its training is not in the file: `saveRDS()` keeps that too.
#'
#' @param object A model by [train_classifier()] or [fit_autoencoder()].
#' @param file Path of the file. An existing file is replaced when the new one is complete.
#' @param ... Not used.
#' @return The path, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `object` is no such model, or was changed so that its parts do not fit.
#' * `ancify_file_error` (field `file`): the file cannot be written.
#' @seealso [read_classifier()], [read_autoencoder()]
#' @export
#' @examples
#' set.seed(1)
#' group <- rep(1:10, each = 8)
#' fit <- train_classifier(matrix(rnorm(80 * 4), 80) + group %% 2, group %% 2, group, threads = 1)
#' file <- save_model(fit, tempfile(fileext = ".safetensors"))
#' identical(predict(read_classifier(file), matrix(1, 1, 4))[[2]],
#'           predict(fit, matrix(1, 1, 4))[[2]])
save_model <- function(object, file, ...) UseMethod("save_model")

#' @export
save_model.default <- function(object, file, ...) {
  check_given()
  abort_ancify(
    sprintf("`object` must be a trained model, such as one of train_classifier(), not %s.",
            show_value(object)),
    "input"
  )
}

#' @rdname save_model
#' @export
save_model.embedding_classifier <- function(object, file, ...) {
  check_given()
  check_no_more(...)
  check_parts(object)
  file <- check_output_file(check_path(file, "file"))
  write_classifier_impl(object, file)
  invisible(file)
}

#' Use a classifier of embeddings
#'
#' `predict(classifier, newdata)` gives the probability of each class for rows of embeddings.
#' `plot()` draws how a classifier was trained, or how its probabilities agree with the rows held
#' out; `autoplot()` gives the ggplot2 object.
#'
#' @param object,x A classifier of [train_classifier()] or [read_classifier()].
#' @param newdata Embeddings: a matrix with a row each, and the columns of those in training.
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @param type `"training"`: the losses by epoch. `"calibration"`: for each tenth of probability,
#'   the share of the last class among rows held out.
#' @param ... Not used.
#' @return
#' * `predict()`: a matrix with a row for each of `newdata`, named as these, and a column a class.
#'   Rows add up to 1.
#' * `print()`: `x`, invisibly.
#' * `autoplot()`: a `ggplot`. `plot()`: the same, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `newdata` has another width than the classifier (the message gives both),
#'   or numbers that are not finite; the parts of a classifier that was changed do not fit; a
#'   classifier to draw has no record of its training.
#' * `ancify_package_error`: ggplot2 is not installed.
#' @seealso [train_classifier()]
#' @examples
#' set.seed(1)
#' group <- rep(1:10, each = 8)
#' x <- matrix(rnorm(80 * 4), 80) + group %% 2
#' fit <- train_classifier(x, group %% 2, group, threads = 1)
#' predict(fit, x[1:3, ])
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(fit)
#' @export
predict.embedding_classifier <- function(object, newdata, threads = NULL, ...) {
  check_given()
  check_no_more(...)
  check_parts(object)
  newdata <- check_embeddings(newdata, "newdata", object$width)
  backend <- choose_backend("cpu", threads)
  p <- with_watch("Classifying", function(watch) {
    classify_impl(object, newdata, backend, watch)
  }, progress = interactive())
  matrix(c(1 - p, p), ncol = 2, dimnames = list(rownames(newdata), object$classes))
}

#' @rdname predict.embedding_classifier
#' @export
print.embedding_classifier <- function(x, ...) {
  check_no_more(...)
  trained <- !is.null(x$epochs)
  write_object("embedding_classifier", paste(quoted(x$classes), collapse = " or "), c(
    network = sprintf("%s, %s, 2 classes", count_of(x$width, "number"),
                      count_of(x$hidden, "hidden unit")),
    training = if (!trained) {
      "unknown, as it was read from a file"
    } else {
      sprintf("%s of %s; epoch %d of %d is kept", count_of(x$training[["rows"]], "row"),
              count_of(x$training[["groups"]], "group"), as.integer(x$best), nrow(x$epochs))
    },
    "held out" = if (trained) {
      sprintf(
        "%s of %s: AUC %.3f, mean error of probabilities %.3f", count_of(nrow(x$held_out), "row"),
        count_of(length(unique(x$held_out$group)), "group"), x$auc,
        calibration_error(x$calibration)
      )
    }
  ))
  invisible(x)
}

#' @rdname predict.embedding_classifier
#' @usage \method{autoplot}{embedding_classifier}(object, type = c("training", "calibration"), ...)
#' @exportS3Method ggplot2::autoplot
autoplot.embedding_classifier <- function(object, # nolint: object_name_linter.
                                          type = c("training", "calibration"), ...) {
  check_no_more(...)
  type <- check_choice(type, c("training", "calibration"), "type")
  if (is.null(object$epochs)) {
    abort_ancify(
      "The classifier was read from a file, so there is no record of its training to draw.", "input"
    )
  }
  need_ggplot2()
  if (type == "training") losses_picture(object) else calibration_picture(object)
}

#' @rdname predict.embedding_classifier
#' @export
plot.embedding_classifier <- function(x, type = c("training", "calibration"), ...) {
  draw_picture(autoplot.embedding_classifier(x, type, ...))
}

losses_picture <- function(fit) {
  n <- nrow(fit$epochs)
  rows <- c("training, with dropout", "held out")
  losses <- data.frame(
    epoch = rep(seq_len(n), 2), loss = c(fit$epochs$training_loss, fit$epochs$held_out_loss),
    rows = factor(rep(rows, each = n), rows)
  )
  ggplot2::ggplot(losses, by_column(x = "epoch", y = "loss", colour = "rows")) +
    ggplot2::geom_vline(xintercept = fit$best, linetype = 2, colour = "grey40") +
    ggplot2::geom_line() +
    ggplot2::geom_point(size = 0.7) +
    ggplot2::scale_colour_manual(NULL, values = c("#4A90C2", dark_colour)) +
    ggplot2::labs(
      x = "Epoch", y = "Cross-entropy", title = "Losses by epoch",
      subtitle = sprintf("Weights of epoch %d are kept", as.integer(fit$best))
    ) +
    picture_theme()
}

calibration_picture <- function(fit) {
  ggplot2::ggplot(fit$calibration, by_column(x = "predicted", y = "observed")) +
    ggplot2::geom_abline(colour = "grey40") +
    ggplot2::geom_line(colour = dark_colour) +
    ggplot2::geom_point(by_column(size = "n"), colour = dark_colour) +
    ggplot2::scale_size_area("Rows", max_size = 4) +
    ggplot2::coord_fixed(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(
      x = sprintf("Mean probability of %s", quoted(fit$classes[2])),
      y = sprintf("Share of %s", quoted(fit$classes[2])), title = "Rows held out",
      subtitle = sprintf("AUC %.3f, mean error of probabilities %.3f", fit$auc,
                         calibration_error(fit$calibration))
    ) +
    picture_theme()
}
