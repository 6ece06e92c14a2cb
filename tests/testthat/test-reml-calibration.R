# Fits of simulated traits: whether estimates and their errors are what they claim to be. A longer
# version is benchmarks/reml_calibration.R.

long_test_that("estimates have no bias, and the spread that their standard errors say", {
  set.seed(61)
  calls <- simulate_calls(300, 600, family = 5)
  g <- open_genotypes(oracle_write_bed(calls))
  # Without the bound at 0, which would add to the mean where h2 is 0.
  unbounded <- reml_control(lower = -Inf)
  for (h2 in c(0, 0.5)) {
    table <- calibrate_fits(g, calls, h2, replicates = 200, control = unbounded)
    expect_true(all(abs(table$bias) < 3 * table$bias_se))
    # The standard deviation of 200 values has an error of 5 %, and so few samples add some.
    expect_true(all(abs(table$spread - 1) < 0.2))
  }
  # 200 tests at 5 %: 10, with an error of 3.
  expect_lt(abs(calibrate_fits(g, calls, 0, replicates = 200)$rejected[1] - 0.05), 0.047)
})

long_test_that("the error of the probes is what fits say it is", {
  set.seed(62)
  calls <- simulate_calls(300, 600, family = 3)
  y <- unname(simulate_trait(calls, 0.5))
  data <- data.frame(id = rownames(calls), y = y)
  g <- open_genotypes(oracle_write_bed(calls))
  sets <- rep(c("first", "second"), c(200, 400))
  for (components in list(NULL, sets)) {
    exact <- fit_reml(y ~ 1, data, g, components, method = "exact", threads = 2, verbose = FALSE)
    # So few that they are random: with 299 orthogonal ones all traces would be exact.
    table <- calibrate_probes(
      g, data, components, seeds = 40, mc_tolerance = 0.15, max_probes = 200
    )
    # 40 seeds: an error of 11 % of the standard deviation.
    expect_true(all(table$spread > 0.65 & table$spread < 1.4))
    expect_true(all(abs(table$mean - exact$theta) < 4 * table$mean_se))
  }
})
