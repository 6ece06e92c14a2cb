# Autoencoders of distance maps: training.

#' Train an autoencoder of distance maps
#'
#' `fit_autoencoder(maps, task)` trains a convolutional network on the maps of many cells. The
#' network encodes each map compactly, corrects false spots, or fills in unseen points.
#'
#' @details
#' | `task` | The network learns | Used by |
#' | --- | --- | --- |
#' | `"cluster"` | to reconstruct each map from its code | `predict()` |
#' | `"denoise"` | the map before points were moved | `reconstruct_maps()`, [outlier_scores()] |
#' | `"inpaint"` | the map before points were hidden | `reconstruct_maps()` |
#'
#' **Choice of method.** Results on 10,000 simulated maps of 64 points, with five seeds
#' (`vignette("chromatin")`):
#' * To fill in points, the network beats interpolation: their squared errors are 1.03 and 1.16
#'   times the least possible. If the model of the chain is known, `complete_maps(x, "conditional")`
#'   is best.
#' * To cluster, codes win narrowly: their adjusted Rand index is 0.95, against 0.93 by
#'   [map_components()]. On 2,000 maps of 16 points [map_components()] wins, with 0.74 against 0.54.
#' * To find false spots, [outlier_scores()] is better without a network: its area under the ROC
#'   curve is 0.96, against 0.92 with a network.
#' * To correct false spots, [denoise_maps()] wins: its distances have an error of 0.055, against
#'   0.084 by the network and 0.154 in the input.
#'
#' Compare the methods on simulated maps that resemble yours.
#'
#' **Network.** The encoder has four blocks of 3 x 3 convolution, ReLU and pooling, with 16, 32, 64
#' and 64 channels, and a dense layer to the code. The decoder is its mirror image and ends in one
#' channel. Softplus keeps distances above 0. The last layer averages both triangles and sets the
#' diagonal to zero. For inpainting, the network also sees which pairs were observed.
#'
#' Networks that denoise or inpaint have one more convolution, of the decoder's output and the
#' input. They learn the correction to the input, which is zero before training.
#'
#' **Training.** Adam minimises the loss with a learning rate of 1e-3, in batches of 64 maps. The
#' loss is the mean squared error of observed pairs. For denoising or inpainting, each epoch moves
#' or hides different points of the [map_structures()], and computes their distances. Training ends
#' when the held-out loss has not fallen for 5 epochs. The weights of the best epoch are kept.
#'
#' **Stopping.** Ctrl-C ends training after a batch, with a warning. The result holds the best
#' weights so far.
#'
#' **Geometry.** `geometry` adds a loss: the squared errors of distances in the reconstructed map's
#' own structure, by classical scaling. It pulls maps towards distances that points in space can
#' have. Its gradient passes through eigenvectors, and is damped for close eigenvalues. Epochs
#' become much slower.
#'
#' **Computation.** Values have single precision. A seed gives bit-identical weights at any number
#' of threads. The instruction sets of processors round differently. An epoch of 8,000 maps of 64
#' points takes nearly two minutes on one core, and time grows with the square of the number of
#' points. A batch needs some 300 MB for 64 points, and 64 times that for 512.
#'
#' **GPUs.** With `backend = "gpu"` the network trains on one GPU, the first of [available_gpus()],
#' in single precision. Its weights stay on the GPU, while CPU threads prepare the input images with
#' the same random numbers. Dense layers use cuBLAS, a part of CUDA. GPUs round sums differently, as
#' instruction sets of processors do: the relative difference of an epoch's losses is below 1e-4.
#' Individual weights may differ more. The geometry loss runs only on the CPU.
#'
#' @param maps A [distance_maps()] object of two cells or more, of at most 512 points. Missing pairs
#'   do not enter the loss.
#' @param task A row of the table; `"cluster"` by default.
#' @param code Width of the code, at most the number of pairs. `NULL` (the default): 32 to cluster,
#'   else 512, or the number of pairs if that is less.
#' @param epochs Maximum number of epochs; 50 by default.
#' @param validation Share of the cells held out for validation, at least one cell; 0.2 by default.
#' @param share Probability that a point is moved or hidden in training. `NULL` (the default): 0.05
#'   to denoise, 0.1 to inpaint. Clustering leaves maps unchanged.
#' @param geometry Weight of the geometry loss; 0 (the default) for none.
#' @param seed A positive whole number for the held-out cells, the initial weights, the order of
#'   cells, and the points moved or hidden; 1 by default.
#' @param backend Device that runs the network. `"auto"` (the default) or `"cpu"`: the processor.
#'   `"gpu"`: the first of [available_gpus()].
#' @inheritParams distance_maps
#' @return An object of class `map_autoencoder`, for the functions in
#'   [predict()][predict.map_autoencoder]. Its elements include:
#'
#'   * `task`, `points`, `code`: the task, the number of points of a map, and the width of the code.
#'   * `scale`: the divisor of the maps, as text: a number or `"each"`.
#'   * `epochs`: a data frame with a row per epoch: `training_loss` and `held_out_loss`, in squared
#'     units of the maps.
#'   * `best`: the index of the epoch whose weights are kept; 0 if no epoch was completed.
#'   * `interrupted`: `TRUE` if Ctrl-C ended training.
#'   * `held_out`: names of the held-out cells.
#' @section Errors:
#' `ancify_input_error`: only one cell is given, or all are held out; maps have over 512 points;
#' `code` is wider than a map; an argument is outside its range; all distances are 0; `geometry` is
#' requested on a GPU; or distances are so extreme that training gives non-finite values.
#'
#' `ancify_device_error`: `backend` is `"gpu"`, but no GPU can be used, the GPU fails or has too
#' little memory, or cuBLAS is missing.
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
  check_args(maps = check_maps)
  refuse_if(maps$points > most_points_of_networks,
            "A network takes maps of at most %d points, not %d: average neighbouring points.",
            most_points_of_networks, maps$points)
  task <- check_choice(task, names(autoencoder_tasks), "task")
  code <- check_code(code, task, nrow(maps$maps))
  check_whole_number(epochs, "epochs")
  share <- check_corruption_share(share, task)
  check_args(geometry = number(0), seed = whole())
  work <- new_work(threads, backend, progress = interactive())
  out <- choose_judges(length(maps), validation, seed)
  settings <- core_list(
    "AutoencoderTraining",
    task = task, points = maps$points, code = code, unit = mean_distance(maps[which(!out)]),
    epochs = epochs, share = share, geometry = geometry, seed = seed
  )
  found <- structures_needed(maps, share > 0, work)
  training <- new_training_impl()
  data <- core_list("TrainingMaps", maps = maps$maps, structures = found, held_out = out)
  interrupted <- tryCatch({
    with_watch("Training", function(watch) {
      train_autoencoder_impl(training, data, settings, work, watch)
    }, work$progress)
    FALSE
  }, interrupt = function(condition) TRUE)
  made <- trained_autoencoder_impl(training)
  made$model$scale <- scale_text(maps)
  as_trained(made, interrupted, settings, maps$cells[out])
}

# The memory of a batch grows with the square of the number of points. The core has the same limit.
most_points_of_networks <- 512

# The divisor of the maps, as networks store it.
scale_text <- function(maps) {
  if (is_each(maps)) "each" else format(maps$scale, digits = 17)
}

# Defaults by task: the width of the code, and the share of corrupted points (NULL: no corruption).
autoencoder_tasks <- list(
  cluster = list(code = 32, share = NULL),
  denoise = list(code = 512, share = 0.05),
  inpaint = list(code = 512, share = 0.1)
)

check_code <- function(code, task, pairs) {
  if (is.null(code)) {
    return(min(autoencoder_tasks[[task]]$code, pairs))
  }
  refuse_if(check_whole_number(code, "code") > pairs,
            "`code` has %s, more than the %s of a map: choose fewer.", count_of(code, "number"),
            count_of(pairs, "distance"))
  code
}

check_corruption_share <- function(share, task) {
  usual <- autoencoder_tasks[[task]]$share
  if (is.null(share)) {
    return(usual %||% 0)
  }
  refuse_if(is.null(usual), "`share` is for `task` \"denoise\" and \"inpaint\": leave it out.")
  check_share(share, "share")
}

# Chooses the cells held out: at least one, but not all.
choose_judges <- function(cells, validation, seed) {
  refuse_if(cells < 2, "Training needs at least two cells, one of them for validation, not one.")
  n <- max(1, round(cells * check_share(validation, "validation")))
  refuse_if(n == cells, "`validation` %s holds out all %s: choose a smaller share.",
            format(validation), count_of(cells, "cell"))
  seq_len(cells) %in% seeded(seed, sample.int(cells, n))
}

mean_distance <- function(maps) {
  unit <- mean(maps$maps, na.rm = TRUE)
  # The core stores this unit in single precision.
  refuse_if(!isTRUE(unit > 1e-30 & unit < 1e30),
            "The mean distance is %s: training needs one between 1e-30 and 1e30.", format(unit))
  unit
}

# The structures of maps, needed only for missing pairs or corruption; otherwise an empty array.
structures_needed <- function(maps, is_corrupted, work) {
  if (is_corrupted || anyNA(maps$maps)) {
    structures_of(maps, work)
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
