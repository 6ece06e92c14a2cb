# Completing, denoising and components, against plain versions.

model <- polymer_model(40, c(15, 25), domain_spring = 0.05)
x <- simulate_polymers(150, model, seed = 1)
truth <- distance_maps(x)
given <- perturb_maps(x, missing = 0.1, seed = 2)
hidden <- is.na(given$maps)

test_that("interpolated points are on the line between their neighbours", {
  expect_warning(done <- complete_maps(given), "Ends of the chain", class = "ancify_maps_warning")
  expect_false(anyNA(done$maps))
  expect_identical(done$maps[!hidden], given$maps[!hidden])
  expect_identical(done$mask, given$mask)
  for (cell in 1:10) {
    points <- x[, , cell]
    seen <- which(given$mask[, cell])
    inner <- min(seen):max(seen)
    line <- apply(points, 2, function(axis) stats::approx(seen, axis[seen], inner)$y)
    expect_equal(as.array(done)[inner, inner, cell], as.matrix(stats::dist(line)),
                 tolerance = 1e-8, ignore_attr = TRUE)
  }
  expect_identical(complete_maps(truth), truth)
  expect_identical(
    suppressWarnings(complete_maps(given, threads = 1)),
    suppressWarnings(complete_maps(given, threads = 2))
  )
})

# Maps of the chains with some points hidden in all cells, and those pairs.
with_hidden <- function(chains, points) {
  seen <- chains
  seen[points, , ] <- NA
  maps <- distance_maps(seen)
  list(maps = maps, pairs = is.na(maps$maps), truth = distance_maps(chains)$maps)
}

test_that("points at an end are as far away as their separations tell", {
  chains <- list(
    ideal = simulate_polymers(200, polymer_model(16), seed = 9),
    balls = simulate_polymers(200, self_avoiding_model(16), seed = 9)
  )
  for (kind in names(chains)) {
    for (points in list(1:3, 16, c(1:3, 14:16), 1:8, c(1:2, 9, 15:16))) {
      case <- with_hidden(chains[[kind]], points)
      ends <- setdiff(points, 9)
      expect_warning(
        done <- complete_maps(case$maps),
        sprintf("%s points in 200 cells", format_count(200 * length(ends))),
        class = "ancify_maps_warning"
      )
      expect_false(anyNA(done$maps))
      expect_identical(done$maps[!case$pairs], case$maps$maps[!case$pairs])
      expect_equal(mean(done$maps[case$pairs]), mean(case$truth[case$pairs]), tolerance = 0.08)
      # Means vary less than distances: contacts are lost, but none are invented.
      bond <- mean(case$truth[is_bond(16), ])
      contacts <- function(maps) mean(maps[case$pairs] < 1.5 * bond)
      expect_lt(contacts(done$maps), contacts(case$truth) + 0.02)
      neighbours <- case$pairs & is_bond(16)
      expect_equal(mean(done$maps[neighbours]), mean(case$truth[neighbours]), tolerance = 0.15)
    }
  }
})

test_that("completion at the ends of an ideal chain is that of its model", {
  case <- with_hidden(simulate_polymers(300, polymer_model(20), seed = 2), c(1:4, 18:20))
  done <- suppressWarnings(complete_maps(case$maps))
  by_model <- complete_maps(case$maps, "conditional", polymer_model(20))
  expect_equal(done$maps[case$pairs], by_model$maps[case$pairs], tolerance = 0.15)
  # Maps of another unit, or each of its own size, are completed alike.
  doubled <- suppressWarnings(complete_maps(distance_maps(map_structures(case$maps) * 2)))
  expect_equal(doubled$maps, 2 * done$maps, tolerance = 1e-4)
})

test_that("cells with few points seen, or none apart, are completed", {
  few <- with_hidden(simulate_polymers(50, polymer_model(16), seed = 3), setdiff(1:16, c(5, 11)))
  done <- suppressWarnings(complete_maps(few$maps))
  expect_true(all(is.finite(done$maps) & done$maps > 0))
  same_place <- array(1, c(16, 3, 2))
  same_place[1:2, , ] <- NA
  expect_true(all(suppressWarnings(complete_maps(distance_maps(same_place)))$maps < 1e-100))
  expect_no_warning(denoise_maps(distance_maps(simulate_polymers(20, polymer_model(16), seed = 4))))
})

test_that("mean lengths are those of normal vectors", {
  set.seed(1)
  for (case in list(c(2, 1), c(0, 1.5), c(1e-5, 1), c(1, 3), c(9, 0.5))) {
    drawn <- matrix(stats::rnorm(3e5, sd = case[2]), 3)
    drawn[1, ] <- drawn[1, ] + case[1]
    expect_equal(mean_length(case[1], case[2]), mean(sqrt(colSums(drawn^2))), tolerance = 0.01)
  }
  # No jump where the series takes over
  expect_equal(mean_length(0.0009999, 1), mean_length(0.0010001, 1), tolerance = 1e-6)
})

test_that("conditional means are those of the joint covariance, and beat all else", {
  done <- complete_maps(given, "conditional", model)
  expect_identical(done$maps[!hidden], given$maps[!hidden])
  # Universal kriging: from the covariance instead of the precision, with a free centre
  covariance <- solve(laplacian(model) + 1 / 40)
  for (cell in 1:3) {
    h <- which(!given$mask[, cell])
    k <- covariance[h, -h] %*% solve(covariance[-h, -h])
    o <- covariance[-h, -h]
    ones <- rep(1, nrow(o))
    centre <- function(v) sum(solve(o, v)) / sum(solve(o, ones))
    mean <- apply(x[-h, , cell], 2, function(v) centre(v) + k %*% (v - centre(v)))
    rest <- rep(1, length(h)) - k %*% ones
    variance <- covariance[h, h] - k %*% covariance[-h, h] +
      tcrossprod(rest) / sum(solve(o, ones))
    first <- h[1]
    far <- setdiff(1:40, h)[5]
    length <- sqrt(sum((mean[1, ] - x[far, , cell])^2))
    expect_equal(unname(as.array(done)[first, far, cell]),
                 mean_length(length, sqrt(variance[1, 1])), tolerance = 1e-8)
  }
  squared <- function(maps) {
    figures <- map_metrics(maps, truth, given)
    stats::weighted.mean(figures$squared, figures$pairs)
  }
  bound <- squared(done)
  interpolated <- suppressWarnings(complete_maps(given))
  expect_gt(squared(interpolated) / bound, 1.05)
  expect_lt(squared(interpolated) / bound, 1.35)
  expect_gt(squared(complete_maps(given, "lowrank")) / bound, 1.2)
  expect_equal(complete_maps(distance_maps(map_structures(given), 2), "conditional", model)$maps,
               done$maps / 2, tolerance = 1e-6)
})

test_that("points that no pairs connect with the others are completed too", {
  whole <- as.array(truth[1])
  whole[1:3, 4:40, 1] <- whole[4:40, 1:3, 1] <- NA
  apart <- distance_maps(whole)
  expect_true(all(apart$mask))
  for (method in c("interpolate", "conditional")) {
    done <- suppressWarnings(complete_maps(apart, method, model))
    expect_false(anyNA(done$maps))
    expect_identical(done$maps[!is.na(apart$maps)], apart$maps[!is.na(apart$maps)])
  }
})

test_that("low-rank completion finds maps of low rank", {
  set.seed(3)
  weights <- matrix(stats::runif(3 * 60), 3)
  exact <- truth[1:60]
  exact$maps <- truth$maps[, 1:3] %*% weights
  perturbed <- exact
  perturbed$maps[sample(length(perturbed$maps), 3000)] <- NA
  done <- complete_maps(perturbed, "lowrank", rank = 3)
  lost <- is.na(perturbed$maps)
  expect_lt(sqrt(mean((done$maps - exact$maps)[lost]^2)), 0.02 * mean(exact$maps))
  expect_identical(done$maps[!lost], exact$maps[!lost])
  perturbed$maps[7, ] <- NA
  expect_ancify_error(complete_maps(perturbed, "lowrank", rank = 3), "input", "points 1 and 5")
  expect_ancify_error(complete_maps(given[1:10], "lowrank"), "input", "more than 10 cells")
})

test_that("completion refuses what it cannot use", {
  refuse <- function(...) expect_ancify_error(complete_maps(...), "input")
  expect_match(conditionMessage(refuse(given, "linear")), "must be one of")
  expect_match(conditionMessage(refuse(given, "conditional")), "needs a `model`")
  expect_match(conditionMessage(refuse(given, "conditional", polymer_model(30))), "30 points")
  expect_match(conditionMessage(refuse(given, "conditional", self_avoiding_model(40))), "springs")
  expect_match(conditionMessage(refuse(x)), "distance_maps")
})

test_that("outlier scores find points that were moved", {
  perturbed <- perturb_maps(x, outliers = 0.05, seed = 3)
  scores <- outlier_scores(perturbed)
  expect_identical(dim(scores), c(40L, 150L))
  expect_equal(stats::median(scores), 1)
  expect_gt(attr(outlier_roc(scores, perturbed$outliers), "area"), 0.92)
  # Of a straight line with one point off, that point has the highest score.
  line <- cbind(1:20, 0, 0)
  line[8, 2] <- 6
  line <- line + 1e-3 * sin(1:60)
  expect_identical(which.max(outlier_scores(distance_maps(line))), 8L)
  expect_equal(outlier_scores(perturbed[5:1]) * stats::median(outlier_scores(perturbed)[, 1:5]),
               scores[, 5:1] * stats::median(scores[, 1:5]), tolerance = 1)
  holes <- perturb_maps(x, missing = 0.2, seed = 1)
  expect_identical(unname(is.na(outlier_scores(holes))), unname(!holes$mask))
})

test_that("without outliers only pairs of removed points change, also in inexact maps", {
  x <- simulate_polymers(6, polymer_model(20), seed = 1)
  inexact <- function(maps) {
    set.seed(1)
    maps$maps <- abs(maps$maps + rnorm(length(maps$maps), sd = 0.3))
    maps
  }
  noisy <- inexact(distance_maps(x))
  expect_identical(denoise_maps(noisy, threshold = 1e6), noisy)

  x[5, , 1] <- x[5, , 1] + 30
  moved <- inexact(distance_maps(x))
  gap <- moved
  gap$maps[3, 2] <- NA
  at <- map_pairs(20)
  for (given in list(moved, gap)) {
    is_out <- outlier_scores(given) > 2.5
    expect_true(is_out[5, 1])
    removed <- is_out[at$first, ] | is_out[at$second, ]
    done <- denoise_maps(given)
    expect_identical(done$maps[!removed], given$maps[!removed])
    expect_lt(max(done$maps[removed[, 1], 1]), max(given$maps[removed[, 1], 1]) / 2)
  }
})

test_that("denoising brings maps nearer to the truth", {
  error <- function(maps) mean(map_metrics(maps, truth)$error)
  perturbed <- perturb_maps(x, outliers = 0.05, seed = 3)
  expect_lt(error(denoise_maps(perturbed)), 0.5 * error(perturbed))
  expect_identical(denoise_maps(perturbed, threads = 1), denoise_maps(perturbed, threads = 2))
  # Moved points are points still.
  expect_equal(denoise_maps(perturbed, "rank")$maps, perturbed$maps, tolerance = 1e-9)
  set.seed(1)
  jittered <- truth
  jittered$maps <- truth$maps * stats::runif(length(truth$maps), 0.8, 1.2)
  rank <- denoise_maps(jittered, "rank")
  smacof <- denoise_maps(jittered, "smacof")
  plain <- stats::cmdscale(as.array(jittered)[, , 3], 3)
  expect_equal(as.array(rank)[, , 3], as.matrix(stats::dist(plain)), tolerance = 1e-6,
               ignore_attr = TRUE)
  expect_lt(error(smacof), 0.5 * error(jittered))
  expect_true(all(map_metrics(smacof, truth)$triangles == 0))
  expect_true(any(map_metrics(jittered, truth)$triangles > 0))
  expect_identical(is.na(denoise_maps(given)$maps), hidden)
  # Points that no pairs connect with the others stay as they are.
  whole <- as.array(jittered[1])
  whole[1:3, 4:40, 1] <- whole[4:40, 1:3, 1] <- NA
  apart <- distance_maps(whole)
  for (method in c("outliers", "rank", "smacof")) {
    expect_identical(is.na(denoise_maps(apart, method)$maps), is.na(apart$maps))
  }
  expect_identical(denoise_maps(apart, "smacof")$maps[1:3], apart$maps[1:3])
  nowhere <- distance_maps(matrix(0, 20, 3))
  expect_identical(as.vector(outlier_scores(nowhere)), rep(NA_real_, 20))
  expect_identical(denoise_maps(nowhere), nowhere)
  expect_ancify_error(denoise_maps(truth, threshold = 1e-6), "input", "choose a higher one")
  expect_ancify_error(denoise_maps(truth, threshold = 0), "input", "`threshold`")
})

test_that("components are those of prcomp(), for few and for many cells", {
  for (cells in list(1:30, 1:150)) {
    scores <- map_components(truth[cells], 4)
    plain <- stats::prcomp(as.matrix(truth[cells]))
    expect_equal(abs(unname(scores)), abs(unname(plain$x[, 1:4])), tolerance = 1e-6,
                 ignore_attr = TRUE)
    expect_equal(attr(scores, "share"), (plain$sdev^2 / sum(plain$sdev^2))[1:4])
    expect_true(all(colSums(scores^3) > 0))
  }
  turned <- map_components(truth[150:1], 4)
  expect_equal(turned[150:1, ], map_components(truth, 4)[, ], tolerance = 1e-6)
  same <- truth[1:20]
  same$maps[] <- same$maps[, 1]
  expect_identical(attr(map_components(same, 2), "share"), c(NA_real_, NA_real_))
  expect_ancify_error(map_components(given), "input", "complete them first")
  expect_ancify_error(map_components(truth[1], 1), "input", "more than 1 cells")
  expect_ancify_error(map_components(truth, 0), "input", "`n`")
})
