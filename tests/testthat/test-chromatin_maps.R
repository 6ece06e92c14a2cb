# Distance maps against dist(), and what cannot be a map.

x <- simulate_polymers(5, polymer_model(20), seed = 1)
maps <- distance_maps(x)

plain_map <- function(points) unname(as.matrix(stats::dist(points)))

table_of <- function(x) {
  points <- dim(x)[1]
  data.frame(
    cell = rep(seq_len(dim(x)[3]), each = points), point = seq_len(points),
    x = as.vector(x[, 1, ]), y = as.vector(x[, 2, ]), z = as.vector(x[, 3, ])
  )
}

test_that("maps are the distances of points, in all shapes of input", {
  for (cell in 1:5) {
    expect_equal(as.array(maps)[, , cell], plain_map(x[, , cell]), tolerance = 1e-14)
    expect_equal(unname(as.matrix(maps)[cell, ]), {
      whole <- plain_map(x[, , cell])
      whole[upper.tri(whole)]
    }, tolerance = 1e-14)
  }
  expect_identical(distance_maps(lapply(1:5, function(cell) x[, , cell])), maps)
  expect_identical(distance_maps(table_of(x)), maps)
  shuffled <- table_of(x)[c(1, 20, 2:19, sample(21:100)), ]
  expect_setequal(names(distance_maps(shuffled)), names(maps))
  expect_identical(distance_maps(shuffled)[names(maps)], maps)
  expect_identical(distance_maps(as.array(maps)), maps)
  expect_identical(distance_maps(x[, , 1]), maps[1])
  steps <- as.matrix(stats::dist(1:9))
  storage.mode(steps) <- "integer"
  expect_identical(distance_maps(steps), distance_maps(cbind(1:9, 0, 0)))
  expect_identical(distance_maps(list(a = x[, , 1], b = x[, , 2]))["b"]$maps, maps[2]$maps)
  expect_identical(colnames(as.matrix(maps))[1:3], c("1-2", "1-3", "2-3"))
})

test_that("threads do not change maps, and neither does the order of cells or points", {
  expect_identical(distance_maps(x, threads = 1), distance_maps(x, threads = 2))
  expect_identical(distance_maps(x[, , 5:1])$maps, maps[5:1]$maps)
  expect_identical(as.array(distance_maps(x[20:1, , ])), as.array(maps)[20:1, 20:1, ],
                   ignore_attr = TRUE)
})

test_that("points that were not seen are NA, in a table as missing rows", {
  with_holes <- x
  with_holes[c(1, 7), , 2] <- NA
  holes <- distance_maps(with_holes)
  expect_identical(which(!holes$mask), c(21L, 27L))
  expect_identical(is.na(as.array(holes)[, , 2]), outer(1:20 %in% c(1, 7), 1:20 %in% c(1, 7), `|`))
  expect_false(anyNA(holes$maps[, -2]))
  rows <- table_of(x)
  expect_identical(distance_maps(rows[-c(21, 27), ]), holes)
  rows[c(21, 27), c("x", "y", "z")] <- NaN
  expect_identical(distance_maps(rows), holes)
  expect_identical(distance_maps(as.array(holes)), holes)
  # Numbers of cells as they are written
  rows$cell <- rows$cell * 1e5
  expect_identical(names(distance_maps(rows))[1], "100000")
  # Single pairs
  whole <- as.array(maps)
  whole[3, 9, 1] <- whole[9, 3, 1] <- NA
  expect_identical(sum(is.na(distance_maps(whole)$maps)), 1L)
  expect_true(all(distance_maps(whole)$mask))
})

test_that("scales divide all maps, or each by its radius of gyration", {
  expect_equal(distance_maps(x, 2)$maps, maps$maps / 2)
  expect_identical(distance_maps(x, 2)$scale, 2)
  radius <- apply(x, 3, function(points) sqrt(sum(apply(points, 2, var)) * 19 / 20))
  each <- distance_maps(x, "each")
  expect_equal(each$scale, radius)
  expect_equal(each$maps, maps$maps / rep(radius, each = 190))
  expect_equal(summary(each)$radius, rep(1, 5))
  expect_identical(each[2]$scale, each$scale[2])
  for (scale in list(0, "all", NA, c(1, 2), NULL)) {
    expect_ancify_error(distance_maps(x, scale), "input", "above 0 or \"each\"")
  }
  x[, , 3] <- 1
  expect_ancify_error(distance_maps(x, "each"), "input", "cell '3' are at one place")
})

test_that("methods say what is in the maps", {
  expect_length(maps, 5)
  expect_identical(names(maps[c(TRUE, FALSE)]), c("1", "3", "5"))
  expect_identical(maps[-1], maps[2:5])
  for (i in list(6, "x", NA, c(1, 9))) {
    expect_ancify_error(maps[i], "input", "There is no cell")
  }
  for (i in list(0, integer(), -(1:5), FALSE)) {
    expect_ancify_error(maps[i], "input", "No cell is chosen: choose one or more.")
  }
  told <- summary(maps)
  expect_equal(told$bond[2], mean(sqrt(rowSums(diff(x[, , 2])^2))))
  expect_equal(told$largest[3], max(dist(x[, , 3])))
  profile <- separation_profile(maps)
  expect_identical(profile$pairs, 5 * (19:1))
  squares <- apply(x, 3, function(points) rowSums(diff(points, lag = 4)^2))
  expect_equal(profile$mean_square[4], mean(squares))
  expect_output(print(maps), "<distance_maps> 5 cells of 20 points")
  expect_output(print(distance_maps(x, "each")), "each map's radius of gyration")
})

test_that("maps are chosen, named and joined as vectors are", {
  named <- distance_maps(list(a = x[, , 1], b = x[, , 2], c = x[, , 3]))
  expect_identical(names(named[factor(c("c", "a"))]), c("c", "a"))
  expect_identical(named[], named)
  expect_identical(names(distance_maps(list(a = x[, , 1], x[, , 2]))), c("a", "2"))
  joined <- c(maps[1:2], maps[3:5])
  expect_identical(joined, maps)
  expect_identical(names(c(a = maps[1:2], maps[3])), c("a.1", "a.2", "3"))
  expect_ancify_error(c(maps, maps[2]), "input", "the name '2'", "c(a = x, b = y)")
  expect_ancify_error(c(maps, x), "input", "`...` must be the result of distance_maps()")
  expect_ancify_error(c(maps, distance_maps(x[1:19, , ])), "input", "not 20 and 19")
  each <- distance_maps(x, "each")
  expect_identical(c(each[1:3], each[4:5]), each)
  double <- distance_maps(x, 2)
  expect_identical(c(double[1], double[2:5]), double)
  for (other in list(each, each[1], double, double[2])) {
    expect_ancify_error(c(a = maps[1], b = other), "input", "the same `scale`")
  }
  perturbed <- perturb_maps(x, outliers = 0.1, missing = 0.1, seed = 1)
  expect_identical(c(perturbed[1:2], perturbed[3:5])[names(perturbed)], perturbed)
  expect_null(c(a = perturbed, b = maps)$outliers)
  names(joined) <- letters[1:5]
  expect_identical(joined["b"]$maps, maps[2]$maps)
  for (wrong in list(letters[1:4], c("a", "a", "b", "c", "d"), c(NA, letters[1:4]), NULL)) {
    expect_ancify_error(names(joined) <- wrong, "input", "one for each of 5 cells")
  }
  file <- withr::local_tempfile()
  saveRDS(perturbed, file)
  expect_identical(readRDS(file), perturbed)
})

test_that("cells without a distance are left out and named", {
  expect_left_out <- function(given, cells, message) {
    expect_warning(made <- distance_maps(given), message, class = "ancify_maps_warning")
    expect_identical(made$cells, setdiff(as.character(1:5), cells))
    kept <- as.integer(made$cells)
    expect_identical(made$maps, distance_maps(x[, , kept])$maps)
  }
  unseen <- x
  unseen[, , 4] <- NA
  expect_left_out(unseen, "4", "One cell has no distance.* '4'")
  unseen[-7, , 2] <- NA # a trace of one spot
  expect_left_out(unseen, c("2", "4"), "2 cells have no distance.* '2' and '4'")
  rows <- table_of(x)
  expect_left_out(rows[rows$cell != 3 | rows$point == 5, ], "3", "One cell has no distance.* '3'")
  whole <- as.array(maps)
  whole[, , 1] <- NA
  expect_left_out(whole, "1", "One cell has no distance.* '1'")
})

test_that("a point with several spots in a cell counts as not seen", {
  rows <- table_of(x)
  at <- function(cell, point) which(rows$cell == cell & rows$point == point)
  expect_no_warning(same <- distance_maps(rbind(rows, rows[at(1, 5), ])))
  expect_identical(same, distance_maps(rows))
  other <- transform(rows[c(at(1, 5), at(2, 7), at(2, 7)), ], x = x + 1:3)
  expect_warning(
    made <- distance_maps(rbind(rows, other)),
    "2 points have several spots.*point 5 of cell '1' in row 101", class = "ancify_maps_warning"
  )
  expect_identical(made, distance_maps(rows[-c(at(1, 5), at(2, 7)), ]))
  # A row without coordinates is no spot.
  none <- transform(rows[at(1, 5), ], x = NA_real_, y = NA_real_, z = NA_real_)
  for (both in list(rbind(rows, none), rbind(none, rows))) {
    expect_no_warning(expect_identical(distance_maps(both), distance_maps(rows)))
  }
})

test_that("maps of a thousand points are made, measured and drawn", {
  chains <- simulate_polymers(2, polymer_model(1000), seed = 1)
  many <- distance_maps(chains)
  expect_identical(dim(as.array(many)), c(1000L, 1000L, 2L))
  expect_equal(as.array(many)[3, 998, 2], sqrt(sum((chains[3, , 2] - chains[998, , 2])^2)),
               ignore_attr = TRUE)
  expect_identical(distance_maps(as.array(many))$maps, many$maps)
  expect_identical(map_metrics(many, many)$error, c(0, 0))
  expect_equal(distance_maps(map_structures(many))$maps, many$maps, tolerance = 1e-6)
  chains[400:409, , 1] <- NA
  expect_false(anyNA(complete_maps(distance_maps(chains))$maps))
  expect_ancify_error(fit_autoencoder(many), "input", "at most 512 points, not 1000")
  skip_if_not_installed("ggplot2")
  expect_identical(nrow(ggplot2::autoplot(many)$data), 1000000L)
})

test_that("bad input is an error that names the cell", {
  refuse <- function(x, ...) expect_ancify_error(distance_maps(x), "input", ...)
  refuse(x[1:7, , ], "8 to 5000 points, not 7")
  refuse(array(0, c(5001, 3, 1)), "not 5,001")
  expect_identical(distance_maps(x[1:8, , ])$points, 8L)
  refuse(list(x[, , 1], x[1:19, , 2]), "cell '1' has 20 x 3 and cell '2' 19 x 3")
  refuse(list(a = x[, , 1], b = "no"), "Cell 'b'", "a matrix of numbers")
  refuse(list(), "an empty list")
  refuse(array("1", dim(x)), "must be an array")
  refuse(1:10, "must be an array")
  refuse(x[, 1:2, ], "not 20 x 2 x 5")
  refuse(maps, "must be an array")
  refuse(replace(x, 7, Inf), "Point 7 of cell '1' has an infinite coordinate")
  refuse(replace(x, 67, NA), "Point 7 of cell '2' has only some coordinates")
  unseen <- x
  unseen[-3, , ] <- NA
  refuse(unseen, "No cell has two points that were seen", "'1', '2', '3', '4' and '5'")
  refuse(x * 1e101, "Point 1 of cell '1' has a coordinate beyond 1e+100")
  refuse(as.array(maps) * 1e101, "cell '1' has a distance beyond 1e+100, at points 2 and 1")
  refuse(list(a = x[, , 1], b = x[, , 2], a = x[, , 3]), "Two cells of `x` have the name 'a'")
  whole <- as.array(maps)
  refuse(replace(whole, 2, 99), "cell '1' is not symmetric, at points 2 and 1")
  refuse(replace(whole, 2, NA), "is not symmetric")
  refuse(replace(whole, c(2, 21), -1), "cell '1' has a negative or infinite distance")
  refuse(replace(whole, c(2, 21), Inf), "has a negative or infinite distance")
  refuse(replace(whole, 422, 1), "cell '2' has a diagonal that is not 0")
  rows <- table_of(x)
  refuse(rows[-5], "lacks `z`")
  refuse(rows[0, ], "no rows")
  refuse(transform(rows, point = point - 1), "`point` must be whole numbers from 1, not 0 in row 1")
  refuse(transform(rows, point = point + 0.5), "not 1.5 in row 1")
  refuse(transform(rows, point = "a"), "`point` must be whole numbers")
  refuse(transform(rows, x = "a"), "`x` must be numbers")
  refuse(replace(rows, 1, NA), "Row 1 of `x` has no cell")
  refuse(transform(rows, point = point * 1000), "not 20,000")
})

test_that("pictures are drawn, of the mean map and of cells", {
  holes <- perturb_maps(x, missing = 0.2, seed = 1)
  for (picture in list(ggplot2::autoplot(maps), ggplot2::autoplot(holes, cells = 1:4),
                       ggplot2::autoplot(maps["3"]))) {
    expect_s3_class(ggplot2::ggplot_build(picture), "ggplot_built")
  }
  drawn <- ggplot2::autoplot(maps)$data
  expect_equal(matrix(drawn$distance, 20), unname(apply(as.array(maps), 1:2, mean)))
  expect_match(ggplot2::autoplot(maps)$labels$title, "Mean distances in 5 cells")
  expect_identical(nlevels(ggplot2::autoplot(maps, cells = 2:3)$data$cell), 2L)
  expect_identical(nlevels(ggplot2::autoplot(maps, cells = c(2, 2))$data$cell), 2L)
  expect_ancify_error(ggplot2::autoplot(maps, cells = 7), "input", "There is no cell 7")
  expect_ancify_error(ggplot2::autoplot(maps, cells = rep(1, 13)), "input", "at most 12")
})

# ---- Structures ---------------------------------------------------------------------------------

test_that("structures have the distances of exact maps, with and without absent points", {
  found <- map_structures(maps)
  expect_equal(distance_maps(found)$maps, maps$maps, tolerance = 1e-10)
  # Up to a rotation and a mirror image: what is left after Procrustes' best rotation
  for (cell in 1:5) {
    parts <- svd(crossprod(x[, , cell], found[, , cell]))
    expect_equal(x[, , cell] %*% parts$u %*% t(parts$v), found[, , cell], tolerance = 1e-6,
                 ignore_attr = TRUE)
  }
  # In metres, and in a unit as much smaller; of a mirror image, and backwards
  for (unit in c(1e-9, 1e9)) {
    expect_equal(map_structures(distance_maps(x * unit)) / unit, found, tolerance = 1e-9)
  }
  x[, 1, ] <- -x[, 1, ]
  expect_identical(map_structures(distance_maps(x)), found)
  expect_equal(map_structures(distance_maps(x[20:1, , ]))[20:1, , ], found[, , ], tolerance = 1e-9)
  holes <- perturb_maps(x, missing = 0.3, seed = 1)
  expect_equal(distance_maps(map_structures(holes))$maps, holes$maps, tolerance = 1e-10)
  expect_identical(!is.na(unname(map_structures(holes)[, 1, ])), unname(holes$mask))
  expect_identical(map_structures(holes, threads = 1), map_structures(holes, threads = 2))
})

# Majorisation in plain R, from the same start.
plain_smacof <- function(map, start, steps) {
  n <- nrow(map)
  for (step in seq_len(steps)) {
    b <- -map / (plain_map(start) + diag(n))
    diag(b) <- -rowSums(b)
    start <- b %*% start / n
  }
  start
}

test_that("structures of inexact maps are those of plain majorisation", {
  set.seed(1)
  inexact <- maps
  inexact$maps <- inexact$maps * stats::runif(length(inexact$maps), 0.7, 1.3)
  start <- map_structures(inexact, iterations = 0)
  # Classical scaling by R
  for (cell in 1:5) {
    expect_equal(plain_map(start[, , cell]),
                 plain_map(stats::cmdscale(as.array(inexact)[, , cell], 3)), tolerance = 1e-7)
  }
  five <- map_structures(inexact, iterations = 5, tolerance = 1e-12)
  expect_identical(attr(five, "iterations"), rep(5L, 5))
  for (cell in 1:5) {
    map <- as.array(inexact)[, , cell]
    plain <- plain_smacof(map, start[, , cell], 5)
    expect_equal(plain_map(five[, , cell]), plain_map(plain), tolerance = 1e-10)
    stress <- sqrt(sum((map - plain_map(plain))^2) / sum(map^2))
    expect_equal(attr(five, "stress")[cell], stress, tolerance = 1e-9)
  }
  expect_true(all(attr(five, "stress") < attr(start, "stress")))
  expect_ancify_error(map_structures(x), "input", "the result of distance_maps()")
  for (wrong in list(-1, "a", c(1, 2), NULL)) {
    expect_ancify_error(map_structures(maps, iterations = wrong), "input", "`iterations`")
  }
  expect_ancify_error(map_structures(maps, tolerance = 0), "input", "`tolerance`")
})
