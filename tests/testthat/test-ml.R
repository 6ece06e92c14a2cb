# ---- Features ------------------------------------------------------------------------

test_that("features are the oracle's on chromosomes of any length", {
  set.seed(1)
  for (n in c(1:6, 49:52, 99:103, 127:130, 400, 1500)) {
    n_inner <- sample(3, 1)
    sequences <- random_species(n, n_inner + sample(2, 1), changed = 0.3)
    expected <- as_float(oracle_features(sequences, n_inner) + 0)
    for (piece in c(128, 256, 4096)) {
      expect_identical(features_of(sequences, n_inner, piece), expected)
    }
  }
})

test_that("features without data, and at the ends", {
  expect_identical(
    features_of(c("N", "-"), 1), matrix(c(-1, -1, 0, 0, 4, 4, 0, 0, 0, 4, 4), 1)
  )
  expect_identical(
    features_of(c("CG", "cg"), 1),
    rbind(c(1, 1, 2, 1, 1, 1, 1, 1, 1, 4, 2), c(2, 2, 2, 1, 2, 2, 1, 1, 1, 1, 4))
  )
})

# ---- Models --------------------------------------------------------------------------

fixture <- function(...) testthat::test_path("fixtures", paste0(...))

read_matrix <- function(path) {
  unname(as.matrix(utils::read.csv(path, header = FALSE)))
}

test_that("the committed models give what LightGBM gave", {
  features <- read_matrix(fixture("ml_features.csv"))
  expect_true(anyNA(features))
  for (kind in c("nan", "zero")) {
    model <- fixture("ml_model_", kind, ".lgb")
    expected <- read_matrix(fixture("ml_probabilities_", kind, ".csv"))
    expect_identical(dim(expected), c(150L, 4L))
    expect_gt(min(apply(expected, 2, stats::sd)), 0.1)
    for (simd in c("scalar", "auto")) {
      got <- with_options(list(ancify.simd = simd), predict_with(model, features))
      expect_lt(max(abs(got - expected)), 1e-9)
    }
  }
})

test_that("a model that Python's lightgbm trains gives the same probabilities", {
  lightgbm <- require_python_lightgbm()
  set.seed(2)
  sequences <- random_species(6000, 4)
  features <- features_of(sequences, 3)
  labels <- ifelse(runif(6000) < 0.8, pmax(features[, 1], 0), sample(0:3, 6000, replace = TRUE))
  variants <- list(
    list(), list(num_leaves = 300L, min_data_in_leaf = 2L), list(zero_as_missing = TRUE),
    list(use_missing = FALSE, max_bin = 600L, min_data_in_bin = 1L), list(boosting = "dart")
  )
  with_gaps <- features
  with_gaps[sample(length(with_gaps), 6000)] <- NaN
  for (variant in variants) {
    for (rows in list(features, with_gaps)) {
      parameters <- utils::modifyList(list(
        objective = "multiclass", num_class = 4L, verbosity = -1L, num_threads = 1L,
        feature_pre_filter = FALSE
      ), variant)
      rows <- reticulate::r_to_py(rows)$astype("float32")
      data <- lightgbm$Dataset(rows, label = reticulate::np_array(labels))
      model <- lightgbm$train(parameters, data, num_boost_round = 5L)
      path <- tempfile(fileext = ".lgb")
      model$save_model(path)
      values <- reticulate::py_to_r(rows)
      expect_lt(max(abs(predict_with(path, values) - model$predict(rows))), 1e-9)
      raw <- model$predict(rows, raw_score = TRUE)
      expect_identical(predict_with(path, values, raw = TRUE), unname(raw))
      expect_identical(
        predict_with(path, values, threads = 1), predict_with(path, values, threads = 3)
      )
    }
  }
})

test_that("a model of another kind is an error with its line", {
  model <- fixture("ml_model_nan.lgb")
  features <- read_matrix(fixture("ml_features.csv"))
  condition <- expect_ancify_error(
    predict_with(model, features[, -1]), "format", model, "takes 12 features", "have 11"
  )
  expect_identical(condition$line, 6)
  lines <- readLines(model)
  path <- tempfile()
  writeLines(sub("objective=multiclass", "objective=multiclassova", lines), path)
  condition <- expect_ancify_error(predict_with(path, features), "format", path, "multiclassova")
  expect_identical(condition$line, 7)
  writeLines(utils::head(lines, 100), path)
  expect_ancify_error(predict_with(path, features), "format", path, "cut")
})

# ---- Calls ---------------------------------------------------------------------------

test_that("calls follow the probabilities and the thresholds, on any number of threads", {
  set.seed(3)
  sequences <- random_species(70000, 3, changed = 0.4)
  model <- fixture("ml_model_nan.lgb")
  called <- function(threads) {
    called_by_model(sequences, ml_method(2, 1, model, 0.5, 0.4), TRUE, threads)
  }
  result <- called(1)
  expect_identical(called(2), result)
  expect_identical(called(3), result)

  features <- features_of(sequences, 2)
  probabilities <- predict_with(model, features)
  with_data <- features[, 4] > 0
  expect_identical(unname(result$posterior[with_data, ]), probabilities[with_data, ])
  expect_true(all(is.nan(result$posterior[!with_data, ])))
  best <- max.col(probabilities, "first")
  most <- probabilities[cbind(seq_along(best), best)]
  base <- c("A", "C", "G", "T")[best]
  expected <- ifelse(most >= 0.5, base, ifelse(most >= 0.4, tolower(base), "n"))
  expected[!with_data] <- "N"
  expect_identical(result$calls, paste(expected, collapse = ""))
  expect_setequal(unique(expected), c("A", "C", "G", "T", "a", "c", "g", "t", "n", "N"))
})
