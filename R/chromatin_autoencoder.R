# Autoencoders of distance maps: training.

#' Train an autoencoder of distance maps
#'
#' `fit_autoencoder(maps, task)` trains a convolutional network on maps of many cells: to describe
#' each map by few numbers, to correct false spots, or to fill in points that were not seen.
#'
#' @details
#' | `task` | What it learns | Used by |
#' | --- | --- | --- |
#' | `"cluster"` | to reconstruct each map from its code | `predict()` |
#' | `"denoise"` | the map before points were moved | `reconstruct()`, [outlier_scores()] |
#' | `"inpaint"` | the map before points were hidden | `reconstruct()` |
#'
#' **Winners.** On 10,000 simulated maps of 64 points, five seeds each (`vignette("chromatin")`):
#' * To fill in points, the network wins over interpolation: squared errors of 1.03 and 1.17 times
#'   the least possible. Where the model of the chain is known, `complete_maps(x, "conditional")`
#'   wins.
#' * To cluster, codes win by little: their adjusted Rand index is 0.95, that of [map_components()]
#'   0.93. On 2,000 maps of 16 points [map_components()] wins, by 0.74 and 0.54.
#' * To find false spots, [outlier_scores()] without a network wins: its area under the ROC curve is
#'   0.96, and 0.92 with a network.
#' * To correct them, [denoise_maps()] wins: its distances have an error of 0.055, those of the
#'   network 0.084, and the input 0.154.
#'
#' Try both on simulated maps that are like yours.
#'
#' **Network.** Four times a convolution of 3 x 3, ReLU and pooling, with 16, 32, 64 and 64
#' channels. Then a dense layer to the code, and the mirror image of all this, to one channel.
#' Softplus keeps distances above 0. The last layer takes the mean of both triangles, with a zero
#' diagonal. To inpaint, the network also sees which pairs were observed.
#'
#' Networks that denoise or inpaint also feed their input, beside the code, to one more convolution.
#' They learn the changes to the input. Before training they change nothing.
#'
#' **Training.** Adam with rate 1e-3, in batches of 64 maps. The loss is the mean squared error of
#' observed pairs. To denoise or inpaint, each epoch moves or hides other points of the
#' [structures()], and computes their distances. Training ends when the loss of the cells held out
#' has not fallen for 5 epochs. The weights of the best epoch are kept.
#'
#' **Stopping.** Ctrl-C ends training after a batch. Then there is a warning, and the result has the
#' best weights so far.
#'
#' **Geometry.** With `geometry`, the loss also has the squared errors of distances in the map's own
#' structure, by classical scaling. It pulls maps towards those that points in space can have. The
#' gradient goes through eigenvectors; close eigenvalues are damped. An epoch takes much longer with
#' it.
#'
#' **Work.** Numbers are of single precision. One seed gives the same weights at any number of
#' threads, to the last bit. The instruction sets of processors round differently. An epoch of 8,000
#' maps of 64 points takes nearly two minutes on one core, and time grows with the square of the
#' number of points. A batch needs some 300 MB for 64 points, and 64 times that for 512.
#'
#' **GPUs.** With `backend = "gpu"` the network learns on one GPU, the first of [available_gpus()],
#' in single precision. Its weights stay there. Threads of the CPU make the images meanwhile, with
#' the same random numbers. Dense layers are products by cuBLAS, a part of CUDA. Sums round
#' differently, as they do between instruction sets of processors: the losses of an epoch differ by
#' less than a relative 1e-4. Single weights may differ more. The geometry loss is for the CPU
#' alone.
#'
#' @param maps A [distance_maps()] object of two cells or more. Its missing pairs have no loss.
#' @param task A row of the table; `"cluster"` by default.
#' @param code Width of the code, at most the number of pairs. `NULL` (the default): 32 to cluster,
#'   else 512, or the number of pairs if that is less.
#' @param epochs The most epochs; 50 by default.
#' @param validation Share of the cells held out to judge the epochs, one at least; 0.2 by default.
#' @param share Chance of each point to be moved or hidden in training. `NULL` (the default): 0.05
#'   to denoise, 0.1 to inpaint. To cluster, maps stay as they are.
#' @param geometry Weight of the geometry loss; 0 (the default): none.
#' @param seed A positive whole number for the cells held out, the first weights, the order of
#'   cells, and the points moved or hidden; 1 by default.
#' @param backend Where the network runs. `"auto"` (the default) or `"cpu"`: the processor. `"gpu"`:
#'   the first of [available_gpus()].
#' @inheritParams distance_maps
#' @return An object of class `map_autoencoder`, for the functions in
#'   [predict()][predict.map_autoencoder]. It has these elements among others:
#'
#'   * `task`, `points`, `code`: the task, the number of points of a map, and the width of the code.
#'   * `epochs`: a data frame with a row an epoch: `training_loss` and `held_out_loss`, in squared
#'     units of the maps.
#'   * `best`: the number of the epoch whose weights are kept; 0 if none had ended.
#'   * `interrupted`: whether Ctrl-C ended training.
#'   * `held_out`: names of the cells held out.
#' @section Errors:
#' `ancify_input_error`: there is one cell, or all held out; `code` is wider than a map; an argument
#' is outside its range; all distances are 0; `geometry` is wanted on a GPU. Or distances are so
#' extreme that training gives numbers that are not finite.
#'
#' `ancify_device_error`: `backend` is `"gpu"`, and no GPU can be used, it fails or has too little
#' memory, or cuBLAS is missing.
#'
#' `ancify_cancelled_error`: training was stopped before its first batch.
#' @references
#' Kingma DP, Ba J (2015) Adam: a method for stochastic optimization. ICLR.
#'
#' He K and others (2015) Delving deep into rectifiers. ICCV: 1026-1034.
#' @seealso [predict.map_autoencoder], [read_autoencoder()], [save_model()]
#' @export
#' @examples
#' classes <- list(
#'   one = polymer_model(16, 16, domain_spring = 0.5), two = polymer_model(16, domain_spring = 0.5)
#' )
#' x <- simulate_polymers(80, classes, seed = 1)
#' fit <- fit_autoencoder(distance_maps(x), code = 2, epochs = 10, threads = 1)
#' fit
#' codes <- predict(fit, distance_maps(x))
#' aggregate(codes, list(class = attr(x, "model")), mean)
fit_autoencoder <- function(maps, task = c("cluster", "denoise", "inpaint"), code = NULL,
                            epochs = 50, validation = 0.2, share = NULL, geometry = 0, seed = 1,
                            threads = NULL, backend = "auto") {
  check_given()
  check_maps(maps, "maps")
  task <- check_choice(task, names(autoencoder_tasks), "task")
  code <- check_code(code, task, nrow(maps$maps))
  check_whole_number(epochs, "epochs")
  share <- check_spoilt_share(share, task)
  if (!is.numeric(geometry) || length(geometry) != 1 || !isTRUE(geometry >= 0 & geometry < Inf)) {
    abort_ancify(
      sprintf("`geometry` must be a number from 0, not %s.", show_value(geometry)), "input"
    )
  }
  check_whole_number(seed, "seed")
  backend <- choose_backend(backend, threads)
  out <- choose_judges(length(maps), validation, seed)
  settings <- list(
    unit = mean_distance(maps[which(!out)]), epochs = epochs, share = share, geometry = geometry,
    seed = seed
  )
  found <- structures_needed(maps, share > 0, threads)
  training <- new_training_impl()
  form <- list(task = task, points = maps$points, code = code)
  interrupted <- tryCatch({
    with_watch("Training", function(watch) {
      train_autoencoder_impl(training, form, maps$maps, found, out, settings, backend, watch)
    }, progress = interactive())
    FALSE
  }, interrupt = function(condition) TRUE)
  as_trained(trained_autoencoder_impl(training), interrupted, settings, maps$cells[out])
}

# By task: the width of the code, and the share of points that are spoilt. NULL: none may be.
autoencoder_tasks <- list(
  cluster = list(code = 32, share = NULL),
  denoise = list(code = 512, share = 0.05),
  inpaint = list(code = 512, share = 0.1)
)

check_code <- function(code, task, pairs) {
  if (is.null(code)) {
    return(min(autoencoder_tasks[[task]]$code, pairs))
  }
  if (check_whole_number(code, "code") > pairs) {
    abort_ancify(
      sprintf("`code` has %s, more than the %s of a map: choose fewer.",
              count_of(code, "number"), count_of(pairs, "distance")),
      "input"
    )
  }
  code
}

check_spoilt_share <- function(share, task) {
  usual <- autoencoder_tasks[[task]]$share
  if (is.null(share)) {
    return(usual %||% 0)
  }
  if (is.null(usual)) {
    abort_ancify("`share` is for `task` \"denoise\" and \"inpaint\": leave it out.", "input")
  }
  check_share(share, "share")
}

# Which cells are held out: one at least, and one at least is not.
choose_judges <- function(cells, validation, seed) {
  if (cells < 2) {
    abort_ancify("Training needs at least two cells, one of them for validation, not one.", "input")
  }
  n <- max(1, round(cells * check_share(validation, "validation")))
  if (n == cells) {
    abort_ancify(
      sprintf("`validation` %s holds out all %s: choose a smaller share.", format(validation),
              count_of(cells, "cell")),
      "input"
    )
  }
  seq_len(cells) %in% seeded(seed, sample.int(cells, n))
}

mean_distance <- function(maps) {
  unit <- mean(maps$maps, na.rm = TRUE)
  # As single precision holds it
  if (!isTRUE(unit > 1e-30 & unit < 1e30)) {
    abort_ancify(
      sprintf("The mean distance is %s: training needs one between 1e-30 and 1e30.", format(unit)),
      "input"
    )
  }
  unit
}

# Structures of maps that lack pairs or are spoilt; else an empty array.
structures_needed <- function(maps, spoilt, threads) {
  if (spoilt || anyNA(maps$maps)) {
    structures(maps, threads = threads)
  } else {
    array(0, c(maps$points, 3, 0))
  }
}

as_trained <- function(training, interrupted, settings, held_out) {
  fit <- structure(training$model, class = "map_autoencoder")
  if (length(fit$tensors) == 0) {
    abort_ancify("Training was stopped before its first batch.", "cancelled")
  }
  fit$epochs <- stats::setNames(
    as.data.frame(training$epochs * fit$unit^2), c("training_loss", "held_out_loss")
  )
  fit$best <- training$best
  fit$interrupted <- interrupted
  fit$held_out <- held_out
  fit$share <- settings$share
  fit$geometry <- settings$geometry
  if (interrupted) {
    warn_ancify(
      sprintf("Training was interrupted: the result has the weights of %s.",
              if (fit$best > 0) {
                sprintf("epoch %d, the best of %d", as.integer(fit$best), nrow(fit$epochs))
              } else {
                "the last batch, as no epoch had ended"
              }),
      "interrupted"
    )
  }
  fit
}
