# Methods of autoencoders of distance maps.

#' Use an autoencoder of distance maps
#'
#' `predict()` gives the code of each cell, and `reconstruct_maps()` the network's map of it.
#'
#' @details
#' Maps must have the number of points, the unit and the `scale` of the training maps. If training
#' maps were divided by their own radius of gyration (`scale = "each"`), divide new maps likewise.
#'
#' Missing pairs are interpolated from the [map_structures()] before the network sees them.
#'
#' @param object,x,fit An autoencoder by [fit_autoencoder()] or [read_autoencoder()].
#' @param maps A [distance_maps()] object.
#' @param what `"map"` (the default): the network's distances. `"structure"`: the distances of their
#'   [map_structures()], which satisfy the triangle inequality.
#' @param ... Not used.
#' @inheritParams distance_maps
#' @inheritParams fit_autoencoder
#' @return
#' * `predict()`: a matrix of cells x code.
#' * `reconstruct_maps()`: a [distance_maps()] object without missing pairs. Inpainting with
#'   `what = "map"` leaves observed pairs unchanged.
#' * `print()`: `x`, invisibly.
#' @section Warnings:
#' `ancify_unit_warning`: distances are over five times larger or smaller than in training.
#' @section Errors:
#' `ancify_input_error`: maps have another number of points or another `scale` than in training. Or
#' an autoencoder was modified so that its parts disagree.
#'
#' `ancify_device_error`: as in [fit_autoencoder()].
#' @seealso [fit_autoencoder()], [map_structures()] for coordinates, [outlier_scores()]
#' @export
#' @examples
#' x <- simulate_polymers(60, polymer_model(16), seed = 1)
#' maps <- distance_maps(x)
#' fit <- fit_autoencoder(maps, "inpaint", epochs = 3, threads = 1)
#' given <- perturb_maps(x[, , 1:5], missing = 0.1, seed = 2)
#' done <- reconstruct_maps(fit, given)
#' map_metrics(done, maps[1:5], given)[c("cell", "pairs", "error")]
#' dim(predict(fit, maps))
predict.map_autoencoder <- function(object, maps, threads = NULL, backend = "auto", ...) {
  check_given()
  check_no_more(...)
  check_fits(object, maps)
  codes <- run_network(object, maps, encode_maps_impl, new_work(threads, backend))
  matrix(
    t(codes), length(maps), dimnames = list(maps$cells, paste0("code", seq_len(nrow(codes))))
  )
}

#' @rdname predict.map_autoencoder
#' @export
reconstruct_maps <- function(fit, maps, what = c("map", "structure"), threads = NULL,
                        backend = "auto") {
  check_given()
  check_fits(fit, maps)
  check_args(what = choice(c("map", "structure")))
  work <- new_work(threads, backend)
  maps <- reconstructed(fit, maps, work)
  if (what == "structure") maps$maps <- measured(structures_of(maps, work), work)$maps
  maps
}

# The network's maps: all pairs, or only missing ones if it was trained to inpaint.
reconstructed <- function(fit, maps, work) {
  made <- run_network(fit, maps, reconstruct_maps_impl, work)
  changed <- if (fit$task == "inpaint") is.na(maps$maps) else TRUE
  maps$maps[changed] <- made[changed]
  maps
}

# `job`: encode_maps_impl or reconstruct_maps_impl.
run_network <- function(fit, maps, job, work) {
  found <- structures_needed(maps, FALSE, work)
  with_watch("Reconstructing", function(watch) {
    job(core_autoencoder(fit), maps$maps, found, work, watch)
  }, work$progress)
}

# The median change that the network makes to each point's pairs: points x cells. A false spot
# changes in all its pairs; another point, only in its pairs with false spots.
changed_by <- function(fit, maps, work) {
  change <- abs(reconstructed(fit, maps, work)$maps - maps$maps)
  at <- map_pairs(maps$points)
  change_at <- function(point) {
    apply(change[at$first == point | at$second == point, , drop = FALSE], 2, stats::median,
          na.rm = TRUE)
  }
  by_point <- vapply(seq_len(maps$points), change_at, numeric(length(maps)))
  matrix(no_nan(t(by_point)), maps$points, dimnames = list(NULL, maps$cells))
}

core_autoencoder <- function(fit) {
  core_list(
    "Autoencoder",
    task = fit$task, points = fit$points, code = fit$code, unit = fit$unit,
    scale = fit$scale %||% "", tensors = fit$tensors
  )
}

check_autoencoder <- function(fit, name) {
  must_be(inherits(fit, "map_autoencoder"), fit, name, "an autoencoder by fit_autoencoder()")
  good <- isTRUE(fit$task %in% names(autoencoder_tasks)) && is.list(fit$tensors) &&
    all(vapply(fit$tensors, function(x) all(is.finite(x)), NA)) &&
    all(vapply(fit[c("points", "code", "unit")], function(x) isTRUE(is.finite(x) & x > 0), NA))
  refuse_if(!good, "The autoencoder was changed: its parts do not fit. Train or read it again.")
  fit
}

check_fits <- function(fit, maps) {
  check_args(fit = check_autoencoder, maps = check_maps)
  refuse_if(maps$points != fit$points,
            "The autoencoder is for maps of %d points, but `maps` have %d.", as.integer(fit$points),
            maps$points)
  check_scale_of_training(fit, maps)
}

check_scale_of_training <- function(fit, maps) {
  trained <- fit$scale %||% ""
  if (nzchar(trained) && !same_scale_text(trained, scale_text(maps))) {
    divided <- function(scale) {
      if (scale == "each") "each divided by their radius of gyration" else
        paste("divided by", format(as.numeric(scale), digits = 3))
    }
    refuse_input("The autoencoder learned from maps %s, but `maps` are %s: give them `scale = %s`.",
                 divided(trained), divided(scale_text(maps)),
                 if (trained == "each") "\"each\"" else trained)
  }
  # Cells differ in size, but averages over cells rarely differ so much.
  ratio <- mean(maps$maps, na.rm = TRUE) / fit$unit
  if (!isTRUE(ratio > 1 / 5 & ratio < 5)) {
    warn_ancify(
      sprintf("The mean distance is %s times that of the training: give maps in its unit.",
              format(ratio, digits = 2)),
      "unit"
    )
  }
}

same_scale_text <- function(a, b) {
  a == b || (a != "each" && b != "each" && same_scale(as.numeric(a), as.numeric(b)))
}

#' @rdname predict.map_autoencoder
#' @export
print.map_autoencoder <- function(x, ...) {
  check_method(x = check_autoencoder)
  trained <- !is.null(x$epochs)
  held_out <- if (trained && x$best > 0) x$epochs$held_out_loss[x$best]
  write_object("map_autoencoder", sprintf("to %s maps of %d points", x$task, as.integer(x$points)),
               c(
    code = count_of(x$code, "number"),
    weights = format_count(sum(lengths(x$tensors))),
    training = if (!trained) {
      "unknown, as it was read from a file"
    } else if (x$best == 0) {
      "interrupted in the first epoch, after some batches"
    } else {
      sprintf("epoch %d of %d is kept%s", as.integer(x$best), nrow(x$epochs),
              if (x$interrupted) "; it was interrupted" else "")
    },
    "held out" = if (length(held_out)) {
      sprintf("%s, mean squared error %s", count_of(length(x$held_out), "cell"),
              format(held_out, digits = 3))
    }
  ))
  invisible(x)
}

#' Read an autoencoder of distance maps
#'
#' `read_autoencoder(file)` reads an autoencoder that [save_model()] wrote. Its predictions are
#' byte-identical to the saved autoencoder's.
#'
#' @param file Path of a safetensors file.
#' @return An object of class `map_autoencoder`, without a record of its training.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file cannot be read.
#' * `ancify_format_error` (fields `file`, `line`): the file is damaged, or contains no autoencoder
#'   of maps.
#' @seealso [fit_autoencoder()], [predict.map_autoencoder]
#' @export
#' @examples
#' maps <- distance_maps(simulate_polymers(20, polymer_model(16), seed = 1))
#' fit <- fit_autoencoder(maps, epochs = 1, threads = 1)
#' file <- save_model(fit, tempfile(fileext = ".safetensors"))
#' identical(predict(read_autoencoder(file), maps), predict(fit, maps))
read_autoencoder <- function(file) {
  check_args(file = file_in())
  structure(read_autoencoder_impl(file), class = "map_autoencoder")
}

#' @rdname save_model
#' @export
save_model.map_autoencoder <- function(object, file, ...) { # nolint: object_name_linter.
  check_method(object = check_autoencoder, file = file_out())
  write_autoencoder_impl(core_autoencoder(object), file)
  invisible(file)
}
