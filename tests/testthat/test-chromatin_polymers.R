# Simulated polymers against closed forms, and what perturbation does.

# The mean squared distances by the pseudo-inverse, as the help says.
plain_squares <- function(springs) {
  laplacian <- diag(rowSums(springs)) - springs
  parts <- eigen(laplacian, symmetric = TRUE)
  kept <- parts$values > 1e-9
  inverse <- parts$vectors[, kept] %*% (t(parts$vectors[, kept]) / parts$values[kept])
  3 * (outer(diag(inverse), diag(inverse), `+`) - 2 * inverse)
}

test_that("expected squares are those of the pseudo-inverse", {
  ideal <- polymer_model(12)
  expect_equal(expected_squares(ideal), 3 * abs(outer(1:12, 1:12, `-`)))
  expect_equal(expected_squares(polymer_model(12, backbone = 2)), expected_squares(ideal) / 2)
  springs <- 1 * (abs(outer(1:12, 1:12, `-`)) == 1)
  domain <- rep(1:2, c(5, 7))
  springs <- springs + 0.1 * outer(domain, domain, `==`) * (1 - diag(12))
  springs[2, 9] <- springs[9, 2] <- 0.5
  model <- polymer_model(12, c(5, 7), c(2, 9), domain_spring = 0.1, loop_spring = 0.5)
  expect_equal(expected_squares(model), plain_squares(springs))
  # A ring: two strands side by side
  ring <- expected_squares(polymer_model(10, loops = c(1, 10)))
  expect_equal(ring[1, 1:10], 3 * (0:9) * (10 - 0:9) / 10)
  # In metres, with bonds of 100 nm
  for (unit in c(1e-14, 1e14)) {
    metres <- polymer_model(12, c(5, 7), backbone = 1 / unit, domain_spring = 0.02 / unit)
    expect_equal(expected_squares(metres) / unit, expected_squares(polymer_model(12, c(5, 7))))
    expect_equal(simulate_polymers(2, metres, seed = 1) / sqrt(unit),
                 simulate_polymers(2, polymer_model(12, c(5, 7)), seed = 1))
  }
  expect_ancify_error(polymer_model(12, 12, domain_spring = 1e9), "input",
                      "1.0e+09 times as strong")
  expect_ancify_error(expected_squares(self_avoiding_model(20)), "input", "Only chains of springs")
})

test_that("simulated squares are the expected ones within their sampling error", {
  models <- list(
    ideal = polymer_model(16), domains = polymer_model(16, c(6, 10), domain_spring = 0.2),
    loops = polymer_model(16, loops = rbind(c(2, 9), c(9, 15)))
  )
  cells <- 6000
  for (model in models) {
    squares <- as.matrix(distance_maps(simulate_polymers(cells, model, seed = 1)))^2
    expected <- expected_squares(model)
    expected <- expected[upper.tri(expected)]
    # A sum of three squared normal numbers has a variance of 2/3 its squared mean.
    z <- (colMeans(squares) / expected - 1) / sqrt(2 / 3 / cells)
    expect_lt(max(abs(z)), 4.5)
    expect_lt(mean(z^2), 3)
    expect_equal(mean(apply(squares, 2, var) / expected^2), 2 / 3, tolerance = 0.05)
  }
})

test_that("self-avoiding chains keep their rules", {
  model <- self_avoiding_model(30, diameter = 0.9, radius = 4)
  x <- simulate_polymers(40, model, seed = 1)
  maps <- distance_maps(x)
  whole <- as.array(maps)
  separation <- abs(outer(1:30, 1:30, `-`))
  expect_equal(whole[separation == 1], rep(1, 58 * 40), tolerance = 1e-9)
  expect_gte(min(apply(whole, 3, function(map) min(map[separation > 1]))), 0.9 - 1e-9)
  expect_lte(max(whole), 8)
  # Balls swell a chain beyond its freely jointed size.
  free <- distance_maps(simulate_polymers(400, self_avoiding_model(30, 0, 100), seed = 1))
  swollen <- distance_maps(simulate_polymers(400, self_avoiding_model(30, 1, 100), seed = 1))
  expect_equal(separation_profile(free)$mean_square[29], 29, tolerance = 0.15)
  expect_gt(separation_profile(swollen)$mean_square[29], 1.4 * 29)
  expect_ancify_error(simulate_polymers(1, self_avoiding_model(64, radius = 2)), "input",
                      "`radius` must be at least 2.59")
  expect_output(print(model), "self-avoiding")
})

test_that("draws are repeatable, on any number of threads, and leave the session's numbers", {
  models <- list(a = polymer_model(20), b = self_avoiding_model(20))
  set.seed(5)
  expected <- stats::runif(2)
  set.seed(5)
  one <- simulate_polymers(50, models, seed = 3, threads = 1)
  expect_identical(stats::runif(1), expected[1])
  given <- perturb_maps(one, noise = 0.1, outliers = 0.1, missing = 0.1, seed = 4, threads = 1)
  expect_identical(stats::runif(1), expected[2])
  expect_identical(simulate_polymers(50, models, seed = 3, threads = 2), one)
  expect_identical(
    perturb_maps(one, noise = 0.1, outliers = 0.1, missing = 0.1, seed = 4, threads = 2), given
  )
  expect_false(identical(simulate_polymers(50, models, seed = 4), one))
  expect_false(identical(simulate_polymers(50, models), simulate_polymers(50, models)))
  set.seed(3)
  by_session <- simulate_polymers(50, models)
  expect_identical(by_session, one)
  expect_identical(attr(one, "model"), factor(rep(c("a", "b"), 25)))
  names(models) <- c("a", "")
  expect_identical(levels(attr(simulate_polymers(2, models), "model")), c("a", "2"))
  expect_equal(apply(one, 2:3, mean), matrix(0, 3, 50), ignore_attr = TRUE)
})

test_that("perturbed maps are maps of points, with as many errors as asked for", {
  x <- simulate_polymers(200, polymer_model(40), seed = 1)
  truth <- distance_maps(x)
  given <- perturb_maps(x, outliers = 0.1, missing = 0.2, seed = 2)
  expect_identical(colSums(given$outliers), rep(4, 200))
  expect_identical(colSums(!given$mask), rep(8, 200))
  expect_false(any(given$outliers & !given$mask))
  expect_true(all(map_metrics(complete_maps(given), truth, given)$triangles == 0))
  # Pairs of points that stay are as they were.
  at <- map_pairs(40)
  moved <- given$outliers[at$first, ] | given$outliers[at$second, ]
  same <- !moved & !is.na(given$maps)
  expect_identical(given$maps[same], truth$maps[same])
  # Outliers move by the radius of gyration along each axis.
  expect_equal(mean(given$maps[moved]^2, na.rm = TRUE) / mean(truth$maps^2), 2.5, tolerance = 0.1)
  noisy <- perturb_maps(0 * x, noise = 0.5, seed = 2)
  expect_equal(mean(noisy$maps^2), 6 * 0.5^2, tolerance = 0.05)
  expect_null(noisy$outliers)
  expect_identical(given[3:4]$outliers, given$outliers[, 3:4])
  # From maps, in their unit
  from_maps <- perturb_maps(distance_maps(x, 2), seed = 1)
  expect_equal(from_maps$maps, truth$maps / 2)
  expect_identical(from_maps$scale, 2)
})

test_that("bad arguments are errors", {
  refuse <- function(code, ...) expect_ancify_error(code, "input", ...)
  refuse(polymer_model(7), "8 to 5000")
  refuse(polymer_model(10.5), "`n`")
  refuse(polymer_model(20, c(10, 11)), "add up to 20, not [10, 11]")
  refuse(polymer_model(20, loops = c(3, 21)), "`loops` must be pairs")
  refuse(polymer_model(20, loops = c(3, 3)), "`loops` must be pairs")
  refuse(polymer_model(20, domain_spring = 0), "`domain_spring`")
  refuse(self_avoiding_model(20, diameter = 2), "`diameter`")
  refuse(self_avoiding_model(20, moves = 0), "`moves`")
  refuse(simulate_polymers(0), "`cells`")
  refuse(simulate_polymers(2, "ideal"), "the result of polymer_model()")
  refuse(simulate_polymers(2, list()), "the result of polymer_model()")
  refuse(simulate_polymers(2, list(polymer_model(20), polymer_model(30))), "20 and 30")
  refuse(simulate_polymers(2, seed = -1), "`seed`")
  x <- simulate_polymers(2, polymer_model(20), seed = 1)
  refuse(perturb_maps(x, noise = -1), "`noise`")
  refuse(perturb_maps(x, outliers = 1), "`outliers`")
  refuse(perturb_maps(x, missing = NA), "`missing`")
  refuse(perturb_maps(x, outliers = 0.4, missing = 0.5), "8 would be outliers and 10 missing")
  refuse(perturb_maps(as.array(distance_maps(x))), "must be coordinates")
  x[3:20, , 2] <- NA
  expect_warning(
    left <- perturb_maps(x, outliers = 0.1, missing = 0.7, seed = 1),
    "One cell has no distance.* '2'", class = "ancify_maps_warning"
  )
  expect_identical(dim(left$outliers), c(20L, 1L))
  expect_output(print(polymer_model(20, c(8, 12), c(3, 9))), "3-9")
})
