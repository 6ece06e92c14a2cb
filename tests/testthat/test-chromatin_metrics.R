# Figures against their definitions.

x <- simulate_polymers(6, polymer_model(20), seed = 1)
truth <- distance_maps(x)
given <- perturb_maps(x, missing = 0.2, seed = 2)
done <- complete_maps(given)

test_that("figures of maps are those of their definitions", {
  figures <- map_metrics(done, truth, given, contact = 2)
  bond <- mean(vapply(1:6, function(cell) mean(sqrt(rowSums(diff(x[, , cell])^2))), 0))
  for (cell in 1:6) {
    chosen <- is.na(given$maps[, cell])
    guess <- done$maps[chosen, cell]
    true <- truth$maps[chosen, cell]
    expect_identical(figures$pairs[cell], sum(chosen) + 0)
    expect_equal(figures$error[cell], mean(abs(guess - true)) / bond)
    expect_equal(figures$squared[cell], mean((guess - true)^2) / bond^2)
    expect_equal(figures$spearman[cell], stats::cor(guess, true, method = "spearman"))
    # The chance that a true contact is nearer than a pair that is none
    pairs <- outer(guess[true < 2], guess[true >= 2], function(a, b) (a < b) + (a == b) / 2)
    expect_equal(figures$contacts[cell], mean(pairs))
  }
  expect_identical(figures$triangles, rep(0, 6))
  whole <- map_metrics(truth, truth)
  expect_identical(whole$error, rep(0, 6))
  expect_equal(whole$spearman, rep(1, 6))
  expect_equal(whole$contacts, rep(1, 6))
  expect_identical(map_metrics(done, truth, threads = 1), map_metrics(done, truth, threads = 2))
  nothing <- map_metrics(truth, truth, truth)
  expect_identical(nothing$pairs, rep(0, 6))
  expect_true(all(is.na(nothing[c("error", "squared", "spearman", "contacts")])))
})

test_that("broken triangles are counted", {
  broken <- as.array(truth)[, , 1]
  broken[3, 9] <- broken[9, 3] <- 1e3
  triples <- utils::combn(20, 3)
  sides <- rbind(broken[t(triples[c(1, 2), ])], broken[t(triples[c(1, 3), ])],
                 broken[t(triples[c(2, 3), ])])
  plain <- mean(apply(sides, 2, max) > colSums(sides) / 2)
  expect_equal(map_metrics(distance_maps(list("1" = broken)), truth[1])$triangles, plain)
  expect_equal(plain, 18 / 1140)
})

test_that("maps that cannot be compared are an error", {
  refuse <- function(...) expect_ancify_error(map_metrics(...), "input")
  expect_match(conditionMessage(refuse(done[1:3], truth)), "other cells")
  expect_match(conditionMessage(refuse(distance_maps(x[1:19, , ]), truth)), "19 points instead")
  expect_match(conditionMessage(refuse(distance_maps(x, 2), truth)), "another `scale`")
  tiny <- lapply(c(1e-9, 2e-9), function(scale) distance_maps(x, scale))
  expect_match(conditionMessage(refuse(tiny[[1]], tiny[[2]])), "another `scale`")
  expect_match(conditionMessage(refuse(given, truth)), "lacks a pair")
  expect_match(conditionMessage(refuse(done, truth, given[6:1])), "`given` has other cells")
  expect_match(conditionMessage(refuse(x, truth)), "`estimate` must be")
  expect_match(conditionMessage(refuse(done, truth, contact = -1)), "`contact`")
})

# Over all pairs of cells, by the definition of the index.
plain_rand <- function(a, b) {
  pairs <- utils::combn(length(a), 2)
  in_a <- a[pairs[1, ]] == a[pairs[2, ]]
  in_b <- b[pairs[1, ]] == b[pairs[2, ]]
  chance <- mean(in_a) * mean(in_b)
  (mean(in_a & in_b) - chance) / ((mean(in_a) + mean(in_b)) / 2 - chance)
}

test_that("the adjusted Rand index and silhouettes are those of all pairs", {
  set.seed(1)
  for (round in 1:5) {
    a <- sample(3, 30, TRUE)
    b <- ifelse(stats::runif(30) < 0.5, a, sample(4, 30, TRUE))
    expect_equal(cluster_metrics(a, b)[["adjusted_rand"]], plain_rand(a, b))
  }
  expect_identical(cluster_metrics(1:5, letters[1:5]), c(adjusted_rand = 1))
  expect_identical(cluster_metrics(rep(1, 5), rep("a", 5)), c(adjusted_rand = 1))
  expect_identical(cluster_metrics(c(1, 1, 2), factor(c("b", "b", "a"))), c(adjusted_rand = 1))

  scores <- matrix(stats::rnorm(90), 30) + a
  distances <- as.matrix(stats::dist(scores))
  widths <- vapply(1:30, function(i) {
    means <- tapply(distances[i, -i], factor(a[-i], 1:3), mean)
    (min(means[-a[i]]) - means[a[i]]) / max(min(means[-a[i]]), means[a[i]])
  }, 0)
  for (offset in c(0, 1e9)) {
    expect_equal(cluster_metrics(b, a, scores + offset)[["silhouette"]], mean(widths),
                 tolerance = 1e-6)
  }
  # More cells than are taken at once; two classes far apart
  far <- cbind(rep(c(0, 100), 600) + stats::runif(1200))
  expect_gt(cluster_metrics(rep(1:2, 600), rep(1:2, 600), far)[["silhouette"]], 0.98)
  expect_equal(silhouette_widths(cbind(c(0, 1, 5)), c(1, 1, 2)), c(4 / 5, 3 / 4, 0))
  for (wrong in list(list(1:3, 1:2), list(c(1, NA), 1:2), list(1, 1), list(1:3, 1:3, matrix(0, 2)),
                     list(1:3, c(1, 1, 1), matrix(0, 3)), list(1:3, 1:3, 1:3),
                     list(1:3, 1:3, cbind(c(1, Inf, 2))), list(as.list(1:3), 1:3))) {
    expect_ancify_error(do.call(cluster_metrics, wrong), "input")
  }
})

test_that("the ROC of scores is that of all thresholds", {
  set.seed(2)
  scores <- round(stats::rnorm(60), 1)
  truth <- scores + stats::rnorm(60) > 0.5
  curve <- outlier_roc(scores, truth)
  expect_identical(curve$threshold, sort(unique(scores), decreasing = TRUE))
  for (row in c(1, 5, nrow(curve))) {
    called <- scores >= curve$threshold[row]
    expect_equal(curve$true_positive[row], mean(called[truth]))
    expect_equal(curve$false_positive[row], mean(called[!truth]))
  }
  # The area below the straight lines between its points
  across <- c(0, curve$false_positive)
  up <- c(0, curve$true_positive)
  trapezia <- sum(diff(across) * (utils::head(up, -1) + up[-1]) / 2)
  expect_equal(attr(curve, "area"), trapezia)
  expect_identical(outlier_roc(c(scores, NA), c(truth, TRUE)), curve)
  expect_ancify_error(outlier_roc(scores, !logical(60)), "input", "outliers and other points")
  expect_ancify_error(outlier_roc(scores, truth[-1]), "input", "of one length")
})
