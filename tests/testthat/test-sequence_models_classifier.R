# Classifiers of embeddings: files, probabilities, training, and which problems are told.

classifier_fixture <- function(name) test_path("fixtures", "classifier", name)

# The probability of the second class, by the tensors of a classifier.
oracle_probability <- function(classifier, x) {
  w <- classifier$tensors
  h <- x %*% matrix(w[[1]], ncol(x))
  normal <- function(h) sweep(sweep(h, 2, w[[5]]), 2, sqrt(w[[6]] + 1e-5), "/")
  h <- sweep(sweep(normal(sweep(h, 2, w[[2]], "+")), 2, w[[3]], "*"), 2, w[[4]], "+")
  logits <- pmax(h, 0) %*% matrix(w[[7]], ncol(h))
  stats::plogis(logits[, 2] + w[[8]][2] - logits[, 1] - w[[8]][1])
}

# Groups of 6 rows; the means of even ones lie apart.
random_embeddings <- function(groups = 20, width = 5) {
  group <- rep(seq_len(groups), each = 6)
  list(x = matrix(stats::rnorm(length(group) * width), ncol = width) + 1.5 * (group %% 2 == 0),
       labels = ifelse(group %% 2 == 0, "virus", "others"), groups = paste0("g", group))
}

train_on <- function(data, ...) {
  train_classifier(data$x, data$labels, data$groups, threads = 1, ...)
}

test_that("files of all kinds are one classifier, with PyTorch's probabilities", {
  one <- read_classifier(classifier_fixture("classifier.safetensors"))
  for (name in c("state.pth", "whole.pth", "whole_ordered.pth")) {
    expect_identical(read_classifier(classifier_fixture(name)), one)
  }
  expect_identical(one$classes, c("others", "virus"))
  set.seed(1)
  x <- matrix(rnorm(600 * 6), 600, dimnames = list(paste0("r", 1:600), NULL))
  p <- predict(one, x, threads = 1)
  expect_identical(dimnames(p), list(rownames(x), c("others", "virus")))
  expect_lt(max(abs(p[, 2] - oracle_probability(one, x))), 1e-6)
  expect_equal(rowSums(p), setNames(rep(1, 600), rownames(x)))
  expect_identical(predict(one, x, threads = 2), p)
  expect_identical(dim(predict(one, x[0, ])), c(0L, 2L))
})

test_that("a trained classifier is the same at any number of threads, saved and read", {
  set.seed(2)
  data <- random_embeddings()
  fit <- train_on(data)
  expect_identical(train_classifier(data$x, data$labels, data$groups, threads = 2), fit)
  expect_false(identical(train_on(data, seed = 2)$tensors, fit$tensors))
  again <- read_classifier(save_model(fit, tempfile(fileext = ".safetensors")))
  shared <- c("width", "hidden", "classes", "tensors")
  expect_identical(unclass(again)[shared], unclass(fit)[shared])
  copy <- tempfile(fileext = ".rds")
  saveRDS(fit, copy)
  expect_identical(predict(readRDS(copy), data$x, 1), predict(again, data$x, 1))
})

test_that("what is held out is whole groups of both classes, and is judged", {
  set.seed(3)
  data <- random_embeddings()
  fit <- train_on(data)
  out <- fit$held_out
  expect_identical(sort(unique(table(out$group))), 6L)
  expect_identical(as.vector(table(unique(out[c("group", "label")])$label)), c(2L, 2L))
  expect_identical(fit$training, c(rows = 96L, groups = 16L))
  p <- predict(fit, data$x)[out$row, 2]
  expect_identical(out$probability, p)
  pairs <- outer(p[out$label == "virus"], p[out$label == "others"], "-")
  expect_equal(fit$auc, mean((sign(pairs) + 1) / 2))
  expect_gt(fit$auc, 0.95)
  expect_identical(sum(fit$calibration$n), nrow(out))
  expect_equal(sum(fit$calibration$n * fit$calibration$observed), sum(out$label == "virus"))
  expect_equal(sum(fit$calibration$n * fit$calibration$predicted), sum(p))
  expect_identical(fit$best, as.numeric(which.min(fit$epochs$held_out_loss)))
  second <- out$label == "virus"
  expect_equal(min(fit$epochs$held_out_loss), -mean(log(ifelse(second, p, 1 - p))),
               tolerance = 1e-6)
  named <- train_on(data, held_out = c("g1", "g2", "g3"))
  expect_setequal(named$held_out$group, c("g1", "g2", "g3"))
  numbers <- rep(seq_len(20) * 50000L, each = 6)
  numbered <- train_classifier(data$x, data$labels, numbers, c(50000, 100000), threads = 1)
  expect_setequal(numbered$held_out$group, c("50000", "100000"))
})

test_that("each kind of group is drawn from", {
  second <- c(0, 0, 1, 1, 0, 1, 0, 1)
  groups <- c("a", "b", "c", "d", "e", "e", "f", "f")
  for (seed in 1:5) {
    drawn <- seeded(seed, draw_groups(second, groups, 0.2))
    expect_length(drawn, 3)
    expect_true(sum(drawn %in% c("a", "b")) == 1 && sum(drawn %in% c("c", "d")) == 1)
  }
  expect_identical(auc_of(c(0.1, 0.4, 0.4, 0.9), c(0, 0, 1, 1)), 3.5 / 4)
  table <- calibration_of(c(0, 0.05, 0.95, 1), c(0, 1, 1, 1))
  expect_equal(table, data.frame(from = c(0, 0.9), to = c(0.1, 1), n = c(2L, 2L),
                                 predicted = c(0.025, 0.975), observed = c(0.5, 1)))
  expect_equal(calibration_error(table), (0.475 + 0.025) / 2)
})

test_that("labels are factors, flags or two values", {
  set.seed(4)
  data <- random_embeddings(8)
  is_virus <- data$labels == "virus"
  as_flags <- train_classifier(data$x, is_virus, data$groups)
  expect_identical(as_flags$classes, c("FALSE", "TRUE"))
  turned <- train_classifier(data$x, factor(data$labels, c("virus", "none", "others")), data$groups)
  expect_identical(turned$classes, c("virus", "others"))
  expect_identical(train_on(data)$tensors, as_flags$tensors)
})

test_that("printing and pictures say how good it is", {
  set.seed(5)
  fit <- train_on(random_embeddings(8))
  lines <- capture.output(expect_identical(print(fit), fit))
  expect_match(lines[1], "<embedding_classifier> 'others' or 'virus'")
  expect_match(lines, "5 numbers, 512 hidden units, 2 classes", all = FALSE)
  expect_match(lines, "36 rows of 6 groups; epoch [0-9]+ of [0-9]+ is kept", all = FALSE)
  expect_match(lines, "12 rows of 2 groups: AUC [01].[0-9]+, mean error", all = FALSE)
  read <- read_classifier(classifier_fixture("state.pth"))
  expect_match(capture.output(print(read)), "read from a file", all = FALSE)
  for (type in c("training", "calibration")) {
    expect_no_warning(ggplot2::ggplot_build(ggplot2::autoplot(fit, type)))
  }
  expect_ancify_error(plot(read), "input")
  expect_ancify_error(plot(fit, "other"), "input")
})

test_that("bad input is told", {
  set.seed(6)
  data <- random_embeddings(8)
  told <- function(code) conditionMessage(expect_ancify_error(code, "input"))
  one <- read_classifier(classifier_fixture("state.pth"))
  expect_match(told(predict(one, data$x)), "takes 6 numbers a row, but `newdata` has 5")
  expect_match(told(predict(one, 1:6)), "must be a matrix")
  expect_match(told(predict(one, matrix("a", 1, 6))), "one of type character")
  expect_match(told(predict(one, matrix(c(1, NA), 2, 6))), "not finite in 1 row, such as row 2")
  expect_match(told(predict(one, matrix(1e39, 2, 6))), "not finite in 2 rows")
  other <- function(...) do.call(train_on, list(utils::modifyList(data, list(...))))
  expect_match(told(other(labels = rep("virus", 48))), "must have two classes, not 1: 'virus'")
  expect_match(told(other(labels = data$labels[-1])), "a value for each of 48 rows, not 47")
  expect_match(told(other(groups = c(NA, data$groups[-1]))), "not missing values")
  expect_match(told(other(groups = rep("a", 48))), "only 'a', but one is needed")
  expect_match(told(other(x = data$x[, 0])), "no columns")
  expect_match(told(other(groups = ifelse(data$labels == "virus", "v", data$groups))),
               "What is held out has one class only, 'others', in 1 group.*name groups")
  expect_match(told(other(groups = ifelse(data$labels == "virus", "v", "o"))),
               "held out has no row")
  expect_match(told(train_on(data, held_out = unique(data$groups)[-1])),
               "Training has one class only, 'others', in 1 group")
  expect_match(told(train_on(data, held_out = unique(data$groups))), "Training has no row")
  expect_match(told(train_on(data, held_out = c("g1", "x"))), "not 'x'")
  expect_match(told(train_on(data, held_out = 1.5)), "not '1.5'")
  expect_match(told(other(x = data$x * 1e30)), "not finite: scale the embeddings")
  expect_ancify_error(train_on(data, seed = 0), "input")
  expect_ancify_error(train_classifier(data$x), "input")
  expect_match(told(save_model(1, tempfile())), "must be a trained model")
  changes <- list(width = 7, hidden = NULL, classes = "a", tensors = one$tensors[-1],
                  tensors = lapply(one$tensors, as.character),
                  tensors = lapply(one$tensors, function(x) replace(x, 1, NaN)))
  for (i in seq_along(changes)) {
    changed <- one
    changed[[names(changes)[i]]] <- changes[[i]]
    expect_match(told(save_model(changed, tempfile())), "was changed: its parts do not fit")
    expect_match(told(predict(changed, matrix(0, 1, 6))), "was changed")
  }
  expect_match(told(read_classifier(classifier_fixture("state.pth"), c("a", "a"))),
               "two different")
})

test_that("files that are no classifier are named", {
  file <- model_fixture("safetensors", "model.safetensors")
  told <- expect_ancify_error(read_classifier(file), "format")
  expect_match(conditionMessage(told), "model.safetensors.*no classifier: the matrix 'hidden_layer")
  expect_ancify_error(read_classifier(tempfile()), "file")
  bytes <- readBin(classifier_fixture("classifier.safetensors"), raw(), 1e4)
  cut <- tempfile()
  writeBin(utils::head(bytes, -10), cut)
  expect_ancify_error(read_classifier(cut), "format")
  bytes <- file_bytes(classifier_fixture("state.pth"))
  weights <- read_classifier(classifier_fixture("state.pth"))$tensors[[1]]
  first <- grepRaw(writeBin(weights, raw(), size = 4), bytes, fixed = TRUE)
  bytes[first] <- xor(bytes[first], as.raw(1))
  writeBin(bytes, cut)
  expect_ancify_error(read_classifier(cut), "format", "is damaged: the checksum is another")
  set.seed(7)
  fit <- train_on(random_embeddings(8))
  expect_ancify_error(save_model(fit, file.path(tempfile(), "no", "c.safetensors")), "file")
  saved <- save_model(fit, tempfile())
  expect_ancify_error(read_classifier(saved, c("no", "yes")), "input")
  expect_identical(read_classifier(saved, fit$classes)$tensors, fit$tensors)
})

test_that("named columns are matched by name, and unnamed ones by place", {
  set.seed(8)
  group <- rep(1:20, each = 10)
  x <- cbind(signal = rnorm(200) + 3 * (group %% 2), noise = rnorm(200))
  fit <- train_classifier(x, group %% 2, group, threads = 1)
  p <- predict(fit, x, threads = 1)
  expect_identical(predict(fit, x[, 2:1], threads = 1), p)
  expect_identical(predict(fit, unname(x), threads = 1), p)
  expect_error(predict(fit, x[, c(1, 1)], threads = 1), "no column 'noise' of the training data",
               class = "ancify_input_error")
  unnamed <- train_classifier(unname(x), group %% 2, group, threads = 1)
  expect_identical(predict(unnamed, x, threads = 1), p)
})
