# Autoencoders of distance maps: training, what they make, files, and which problems are told.

small_maps <- function(cells, points = 16, seed = 1) {
  distance_maps(simulate_polymers(cells, polymer_model(points), seed = seed))
}

small_fit <- function(maps, task = "cluster", ...) {
  fit_autoencoder(maps, task, epochs = 1, threads = 1, ...)
}

test_that("a network is the same at any number of threads, saved and read", {
  maps <- perturb_maps(small_maps(30), missing = 0.1, seed = 2)
  for (task in c("cluster", "denoise", "inpaint")) {
    fit <- small_fit(maps, task)
    expect_identical(fit_autoencoder(maps, task, epochs = 1, threads = 2), fit)
    expect_false(identical(small_fit(maps, task, seed = 2)$tensors, fit$tensors))
    again <- read_autoencoder(save_model(fit, tempfile(fileext = ".safetensors")))
    shared <- c("task", "points", "code", "unit", "scale", "tensors")
    expect_identical(unclass(again)[shared], unclass(fit)[shared])
    expect_identical(reconstruct_maps(again, maps, threads = 2),
                     reconstruct_maps(fit, maps, threads = 1))
    expect_identical(predict(again, maps, threads = 2), predict(fit, maps, threads = 1))
  }
  expect_identical(dimnames(predict(fit, maps))[[1]], maps$cells)
  expect_identical(dim(predict(fit, maps)), c(30L, 120L))
})

test_that("maps of another scale or unit than the training's are told", {
  x <- simulate_polymers(30, polymer_model(16), seed = 1)
  scales <- list("each", 1, 2.5)
  for (of_training in scales) {
    fit <- small_fit(distance_maps(x, of_training), "denoise")
    again <- read_autoencoder(save_model(fit, tempfile(fileext = ".safetensors")))
    for (scale in scales) {
      maps <- distance_maps(x, scale)
      for (by in list(fit, again)) {
        for (some in list(maps, maps[3], c(maps[1], maps[2]), perturb_maps(maps, seed = 1))) {
          if (identical(scale, of_training)) {
            expect_no_warning(predict(by, some, threads = 1))
          } else {
            uses <- list(
              predict, reconstruct_maps, function(by, some) outlier_scores(some, fit = by)
            )
            for (use in uses) {
              expect_ancify_error(use(by, some), "input", "divided by", "`scale = ")
            }
          }
        }
      }
    }
  }
  fit <- small_fit(distance_maps(x))
  # The unit is no whole number.
  expect_equal(fit$unit, mean(distance_maps(x)[!names(distance_maps(x)) %in% fit$held_out]$maps),
               tolerance = 1e-6)
  for (factor in c(1000, 0.001, 6)) {
    expect_warning(predict(fit, distance_maps(factor * x)), "times that of the training",
                   class = "ancify_unit_warning")
  }
  expect_no_warning(predict(fit, distance_maps(1.5 * x)))
  # Files of earlier versions do not tell.
  fit$scale <- NULL
  old <- read_autoencoder(save_model(fit, tempfile(fileext = ".safetensors")))
  expect_no_warning(predict(old, distance_maps(x)))
})

test_that("another R process predicts the same bytes", {
  maps <- small_maps(10)
  fit <- small_fit(maps)
  file <- save_model(fit, tempfile(fileext = ".safetensors"))
  kept <- tempfile(fileext = ".rds")
  codes <- tempfile(fileext = ".rds")
  saveRDS(maps, kept)
  job <- start_program(rscript, write_script(
    "library(ancify)",
    sprintf("fit <- read_autoencoder(%s)", deparse1(file)),
    sprintf("saveRDS(predict(fit, readRDS(%s)), %s)", deparse1(kept), deparse1(codes))
  ))
  on.exit(end_program(job))
  wait_for(!is.null(job$status()))
  expect_identical(job$status(), 0L)
  expect_identical(readRDS(codes), predict(fit, maps))
})

test_that("codes tell classes apart, and maps come back from them", {
  classes <- list(
    one = polymer_model(16, 16, domain_spring = 0.5), two = polymer_model(16)
  )
  x <- simulate_polymers(120, classes, seed = 3)
  maps <- distance_maps(x)
  fit <- fit_autoencoder(maps, code = 4, epochs = 25, threads = 1)
  loss <- fit$epochs$held_out_loss
  expect_identical(fit$best, as.numeric(which.min(loss)))
  expect_lt(min(loss), 0.5 * loss[1])
  squared <- map_metrics(reconstruct_maps(fit, maps), maps)
  bond <- mean(maps$maps[is_bond(16), ])
  out <- maps$cells %in% fit$held_out
  expect_length(fit$held_out, 24)
  expect_equal(mean(squared$squared[out]) * bond^2, min(loss), tolerance = 1e-4)
  clusters <- stats::kmeans(scale(predict(fit, maps)), 2, nstart = 10)$cluster
  expect_gt(cluster_metrics(clusters, attr(x, "model"))[["adjusted_rand"]], 0.5)
})

test_that("a network that inpaints does not change what was seen, and begins as interpolation", {
  x <- simulate_polymers(300, polymer_model(16), seed = 4)
  truth <- distance_maps(x)
  given <- perturb_maps(simulate_polymers(300, polymer_model(16), seed = 5), missing = 0.2,
                        seed = 6)
  fit <- fit_autoencoder(truth, "inpaint", epochs = 4, share = 0.2, threads = 1)
  done <- reconstruct_maps(fit, given)
  seen <- !is.na(given$maps)
  expect_identical(done$maps[seen], given$maps[seen])
  expect_false(anyNA(done$maps))
  expect_gt(min(done$maps), 0)
  right <- distance_maps(simulate_polymers(300, polymer_model(16), seed = 5))
  squared <- function(maps) mean(map_metrics(maps, right, given)$squared)
  # What the network begins with: points on lines, and those beyond the ends at the nearest one
  begin <- given
  begin$maps[!seen] <- measured(interpolated(map_structures(given)), new_work(1))$maps[!seen]
  expect_lt(squared(done), squared(begin))
  as_points <- reconstruct_maps(fit, given, "structure")
  expect_identical(max(map_metrics(as_points, right)$triangles), 0)
  # Without a step, only float rounding is between both.
  untrained <- fit
  last <- length(fit$tensors) - 1:0
  untrained$tensors[last] <- lapply(fit$tensors[last], `*`, 0)
  # Softplus keeps distances above 0.
  expect_equal(reconstruct_maps(untrained, given)$maps, pmax(begin$maps, 0.0036), tolerance = 1e-4)
})

test_that("a network that denoises scores false spots", {
  x <- simulate_polymers(200, polymer_model(16), seed = 7)
  fit <- fit_autoencoder(distance_maps(x), "denoise", epochs = 6, share = 0.1, threads = 1)
  perturbed <- perturb_maps(simulate_polymers(100, polymer_model(16), seed = 8), outliers = 0.1,
                         seed = 9)
  scores <- outlier_scores(perturbed, fit = fit)
  expect_identical(dim(scores), dim(perturbed$outliers))
  expect_equal(stats::median(scores), 1)
  expect_gt(attr(outlier_roc(scores, perturbed$outliers), "area"), 0.7)
  changed <- abs(reconstruct_maps(fit, perturbed)$maps - perturbed$maps)[, 3]
  at <- map_pairs(16)
  by_hand <- vapply(1:16, function(i) stats::median(changed[at$first == i | at$second == i]), 0)
  expect_equal(scores[, 3] / scores[1, 3], by_hand / by_hand[1])
})

test_that("the geometry loss is added", {
  maps <- small_maps(20, 8)
  fit <- small_fit(maps)
  bent <- small_fit(maps, geometry = 2)
  expect_false(identical(bent$tensors, fit$tensors))
  expect_gt(bent$epochs$held_out_loss, fit$epochs$held_out_loss)
})

test_that("Ctrl-C ends training and gives the weights so far", {
  job <- start_program(rscript, write_script(
    "library(ancify)",
    "maps <- distance_maps(simulate_polymers(300, polymer_model(16), seed = 1))",
    "cat('begins\\n')",
    "fit <- withCallingHandlers(",
    "  fit_autoencoder(maps, epochs = 1e6, seed = 2, threads = 2, validation = 0.5),",
    "  warning = function(condition) cat(conditionMessage(condition))",
    ")",
    "cat(fit$interrupted, all(is.finite(reconstruct_maps(fit, maps)$maps)))"
  ))
  on.exit(end_program(job))
  wait_for(any(grepl("begins", job$out())))
  Sys.sleep(1)
  expect_null(job$status())
  tools::pskill(job$pid, tools::SIGINT)
  wait_for(!is.null(job$status()))
  expect_identical(job$status(), 0L)
  expect_match(paste(job$out(), collapse = ""), "Training was interrupted: .*TRUE TRUE")
})

test_that("printing says what it is", {
  fit <- small_fit(small_maps(20))
  lines <- capture.output(expect_identical(print(fit), fit))
  expect_match(lines[1], "<map_autoencoder> to cluster maps of 16 points")
  expect_match(lines, "32 numbers", all = FALSE)
  expect_match(lines, "epoch 1 of 1 is kept", all = FALSE)
  expect_match(lines, "4 cells, mean squared error", all = FALSE)
  read <- read_autoencoder(save_model(fit, tempfile(fileext = ".safetensors")))
  expect_match(capture.output(print(read)), "read from a file", all = FALSE)
  fit[c("best", "interrupted", "epochs")] <- list(0, TRUE, fit$epochs[0, ])
  expect_match(capture.output(print(fit)), "interrupted in the first epoch", all = FALSE)
})

test_that("bad input is told", {
  maps <- small_maps(10)
  told <- function(code) conditionMessage(expect_ancify_error(code, "input"))
  expect_match(told(fit_autoencoder(1)), "`maps` must be the result of distance_maps")
  expect_match(told(small_fit(maps[1])), "at least two cells")
  expect_match(told(small_fit(maps, code = 121)), "121 numbers, more than the 120 distances")
  expect_match(told(small_fit(maps, code = 1.5)), "positive whole number")
  expect_match(told(small_fit(maps, "sing")), "must be one of")
  expect_match(told(small_fit(maps, validation = 0.99)), "holds out all 10 cells")
  expect_match(told(small_fit(maps, validation = 1)), "below 1")
  expect_match(told(small_fit(maps, share = 0.1)), "leave it out")
  expect_match(told(small_fit(maps, "inpaint", share = 1)), "below 1")
  expect_match(told(small_fit(maps, geometry = -1)), "from 0")
  expect_match(told(small_fit(maps, seed = 0)), "positive whole number")
  expect_match(told(small_fit(distance_maps(array(0, c(8, 3, 4))))), "mean distance is 0")
  expect_match(told(small_fit(distance_maps(simulate_polymers(4, seed = 1) * 1e90))),
               "between 1e-30 and 1e30")
  fit <- small_fit(maps)
  expect_match(told(predict(fit, small_maps(3, 17))), "16 points, but `maps` have 17")
  expect_match(told(predict(fit, 1)), "result of distance_maps")
  expect_match(told(reconstruct_maps(1, maps)), "autoencoder by fit_autoencoder")
  expect_match(told(reconstruct_maps(fit, maps, "picture")), "must be one of")
  expect_match(told(outlier_scores(maps, fit = fit)), "trained to cluster")
  expect_match(told(predict(fit, maps, more = 1)), "no argument")
  for (change in list(list(code = 3), list(points = NULL), list(task = "sing"), list(unit = -1),
                      list(tensors = fit$tensors[-1]), list(tensors = list("a")),
                      list(tensors = lapply(fit$tensors, function(x) replace(x, 1, NaN))))) {
    changed <- fit
    changed[names(change)] <- change
    expect_match(told(reconstruct_maps(changed, maps)), "was changed|16 points")
    expect_match(told(save_model(changed, tempfile())), "was changed")
  }
  expect_ancify_error(save_model(fit, tempdir()), "file")
  expect_ancify_error(read_autoencoder(tempfile()), "file")
  wrong <- tempfile()
  writeLines("no model", wrong)
  expect_ancify_error(read_autoencoder(wrong), "format")
  expect_match(
    conditionMessage(expect_ancify_error(
      read_autoencoder(test_path("fixtures", "classifier", "classifier.safetensors")), "format"
    )),
    "no autoencoder of distance maps"
  )
})

test_that("a backend that cannot be used is an error", {
  maps <- small_maps(10)
  fit <- small_fit(maps, "denoise")
  calls <- list(
    function(...) small_fit(maps, "denoise", ...),
    function(...) predict(fit, maps, ...),
    function(...) reconstruct_maps(fit, maps, ...),
    function(...) outlier_scores(maps, fit = fit, ...)
  )
  for (call in calls) {
    expect_identical(call(backend = "cpu"), call())
    expect_ancify_error(call(backend = "tpu"), "input", "`backend`")
    if (nrow(available_gpus()) == 0) expect_ancify_error(call(backend = "gpu"), "device")
  }
  expect_ancify_error(outlier_scores(maps, backend = "tpu"), "input", "`backend`")
})
