#' Read a classifier of embeddings
#'
#' `read_classifier(file)` reads a classifier that [save_model()], PyTorch or VirNucPro wrote, for
#' [predict()][predict.embedding_classifier].
#'
#' Files are safetensors, or torch's zip files (`.pth`, `.pt`) with a dictionary of tensors or a
#' whole `MLPClassifier` of VirNucPro. A training checkpoint has the dictionary under
#' `model_state_dict`, `state_dict`, `model` or `module`; its other entries, such as an optimizer's
#' state, are ignored. Pickled code of torch is never run. The tensors are `hidden_layer.weight`,
#' `hidden_layer.bias`, `bn1.weight`, `bn1.bias`, `bn1.running_mean`, `bn1.running_var`,
#' `output_layer.weight` and `output_layer.bias`. The prefixes `module.` and `_orig_mod.` are
#' allowed. The file determines the widths of rows and of the hidden layer.
#'
#' **Tested.** Small random classifiers agree with PyTorch, before and after training steps. No
#' published weights have been tested yet.
#'
#' @param file Path of the file.
#' @param classes Names of both classes, if the file lacks them; `NULL`: `"others"` and
#'   `"virus"`, as in VirNucPro.
#' @return An object of class `embedding_classifier`, without a training record.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file cannot be read.
#' * `ancify_format_error` (fields `file`, `line`): the file is damaged, contains no such
#'   classifier, or has tensors that the classifier does not use. The message names tensors or keys
#'   of the file.
#' * `ancify_input_error`: `classes` are not two names, or the file has other names.
#' @seealso [train_classifier()]
#' @export
#' @examples
#' set.seed(1)
#' group <- rep(1:10, each = 8)
#' fit <- train_classifier(matrix(rnorm(80 * 4), 80) + group %% 2, group %% 2, group, threads = 1)
#' file <- save_model(fit, tempfile(fileext = ".safetensors"))
#' read_classifier(file)
read_classifier <- function(file, classes = NULL) {
  check_args(file = file_in())
  classifier <- structure(read_classifier_impl(file), class = "embedding_classifier")
  if (!is.null(classes)) check_classes(classes, classifier$classes, file)
  if (length(classifier$classes) == 0) {
    classifier$classes <- enc2utf8(classes %||% c("others", "virus"))
  }
  classifier
}

# `told`: the class names in the file, if any.
check_classes <- function(classes, told, file) {
  good <- is.character(classes) && length(classes) == 2 && !anyNA(classes) && all(nzchar(classes))
  must_be(good && classes[1] != classes[2], classes, "classes", "two different names")
  refuse_if(length(told) && !identical(enc2utf8(classes), told),
            "`classes` are %s, but those of %s are %s.", enumerate(quoted(classes)), quoted(file),
            enumerate(quoted(told)))
}

#' Save a trained model
#'
#' `save_model(fit, file)` writes a model's weights as safetensors, which other programs can read.
#'
#' Tensors of an autoencoder have PyTorch's names and shapes; the file also records the task, the
#' number of points, and the unit. Tensors of a classifier have the names that [read_classifier()]
#' lists, and its class names are the metadata `class0` and `class1`. The training record is not in
#' the file: `saveRDS()` also keeps it.
#'
#' @param object A model from [train_classifier()] or [fit_autoencoder()].
#' @param file Path of the file. An existing file is replaced when the new one is complete.
#' @param ... Not used.
#' @return The path, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `object` is not such a model, or was modified so that its parts disagree.
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
  refuse_input("`object` must be a trained model, such as one of train_classifier(), not %s.",
               show_value(object))
}

#' @rdname save_model
#' @export
save_model.embedding_classifier <- function(object, file, ...) {
  check_method(object = check_parts, file = file_out())
  write_classifier_impl(core_classifier(object), file)
  invisible(file)
}

#' Use a classifier of embeddings
#'
#' `predict(classifier, newdata)` gives the probability of each class for rows of embeddings.
#' `plot()` draws the course of training, or the calibration on held-out rows; `autoplot()` gives
#' the ggplot2 object.
#'
#' @param object,x A classifier from [train_classifier()] or [read_classifier()].
#' @param newdata Embeddings: a matrix with an embedding per row and the columns of the training
#'   data. Columns are matched by name if the training data had names, too. Classifiers read from
#'   files have no column names.
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @param type `"training"`: the losses by epoch. `"calibration"`: for each tenth of probability,
#'   the share of the last class among held-out rows.
#' @param ... Not used.
#' @return
#' * `predict()`: a matrix with a row for each row of `newdata`, with its names, and a column per
#'   class. Rows sum to 1.
#' * `print()`: `x`, invisibly.
#' * `autoplot()`: a `ggplot`. `plot()`: this `ggplot`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: the widths of `newdata` and the classifier differ (the message gives
#'   both); `newdata` lacks a named column, or has values that are not finite; the parts of a
#'   modified classifier disagree; or a classifier to draw has no training record.
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
  check_method(object = check_parts)
  newdata <- check_embeddings(newdata, "newdata", object$width)
  work <- new_work(threads, progress = interactive())
  class_probabilities(object, in_trained_order(newdata, object$columns), work)
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
  check_method(type = choice(c("training", "calibration")))
  refuse_if(is.null(object$epochs),
            "The classifier was read from a file, so there is no record of its training to draw.")
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
