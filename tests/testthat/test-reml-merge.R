# Weak components become one.

set.seed(16)
case <- reml_case(120, 80, h2 = 0.5, missing = 0)
g <- case$g
sets <- list(a = 1:20, b = 21:40, c = 41:60, d = 61:80)
# The first set alone has an effect.
case$data$y <- simulate_trait(case$calls[, 1:20], 0.6)
fit <- quiet_fit(y ~ sex, case$data, g, sets)

test_that("components are judged by the inverse of the whole information", {
  # Of a fit with one of them at its bound
  expect_true(any(fit$at_bound))
  kernels <- lapply(sets, function(set) oracle_kernel(case$calls[, set]))
  at <- oracle_reml_at(fit$theta, case$data$y, model.matrix(~sex, case$data), kernels)
  se <- sqrt(diag(solve(at$average)))[1:4]
  merged <- merge_components(fit, progress = FALSE)
  expect_equal(merged$merged$se, unname(se), tolerance = 1e-5)
  expect_equal(merged$merged$z, unname(fit$theta[1:4] / se), tolerance = 1e-5)
  expect_identical(merged$merged$weak, merged$merged$z < 1.6449)
  expect_identical(merged$merged$into, c("a", "background", "background", "background"))
})

test_that("the new fit is that of the merged sets", {
  merged <- merge_components(fit, progress = FALSE)
  by_hand <- quiet_fit(y ~ sex, case$data, g, list(a = 1:20, background = 21:80))
  expect_equal(merged$theta, by_hand$theta, tolerance = 1e-9)
  expect_equal(merged$log_likelihood, by_hand$log_likelihood, tolerance = 1e-12)
  expect_equal(heritability(merged), heritability(by_hand), tolerance = 1e-8)
  expect_identical(sort(names(merged)), sort(c(names(fit), "merged")))
  expect_false(anyDuplicated(names(merged)) > 0)
  expect_equal(predict(merged, g, case$data), predict(by_hand, g, case$data), tolerance = 1e-7)
  expect_s3_class(anova(fit, merged), "data.frame")
  expect_output(print(merged), "Merged components.*d .*background")
  # Once more, there is one weak component, which stays.
  again <- merge_components(merged, progress = FALSE)
  expect_identical(again$theta, merged$theta)
  expect_identical(again$merged$into, c("a", "background"))
})

test_that("which are weak depends on z", {
  expect_identical(merge_components(fit, -1)$theta, fit$theta)
  all <- merge_components(fit, 1000, "all", progress = FALSE)
  expect_equal(unname(all$theta), unname(quiet_fit(y ~ sex, case$data, g)$theta), tolerance = 1e-9)
  expect_identical(all$names, "all")
})

test_that("weights add up, and bounds are the least", {
  weights <- cbind(p = rep(c(2, 0), c(20, 60)), q = rep(c(0, 1, 3), c(20, 30, 30)),
                   r = rep(c(0, 2), c(40, 40)))
  control <- reml_control(lower = c(p = 0, q = -0.02, r = 0))
  weighted <- quiet_fit(y ~ 1, case$data, g, weights, overlap = TRUE, control = control)
  merged <- merge_components(weighted, progress = FALSE)
  expect_identical(merged$merged$into, c("p", "background", "background"))
  sums <- cbind(p = weights[, 1], background = weights[, 2] + weights[, 3])
  control <- reml_control(lower = c(background = -0.02))
  by_hand <- quiet_fit(y ~ 1, case$data, g, sums, control = control)
  expect_equal(merged$theta, by_hand$theta, tolerance = 1e-8)
})

test_that("groups of blocks merge, other kernels stay", {
  blocks <- lapply(c(20, 20, 25, 15), diag)
  k <- oracle_kernel(case$calls[, 30:80])
  kernels <- list(ld = kernel_weighted(g, blocks, c("a", "b", "c", "d"), "rank", c(20, 20, 25, 15)),
                  k = kernel_matrix(k))
  fit <- quiet_fit(y ~ 1, case$data, kernels = kernels)
  merged <- merge_components(fit, progress = FALSE)
  expect_identical(merged$merged$into, c("ld.a", rep("ld.background", 3), "k"))
  kernels$ld <- kernel_weighted(g, blocks, c("a", "background")[c(1, 2, 2, 2)], "rank",
                                c(20, 20, 25, 15))
  by_hand <- quiet_fit(y ~ 1, case$data, kernels = kernels)
  expect_equal(merged$theta, by_hand$theta, tolerance = 1e-9)
  expect_identical(merged$divisors, by_hand$divisors)
})

test_that("what cannot be merged is refused", {
  expect_refusals(list(
    list(function() merge_components(1), "`fit`"),
    list(function() merge_components(fit, NA), "`z`"),
    list(function() merge_components(fit, background = ""), "`background`"),
    list(function() merge_components(fit, background = "a"), "'a'", "two components"),
    list(function() merge_components(replace(fit, "information", list(0 * fit$information))),
         "no inverse")
  ))
})
