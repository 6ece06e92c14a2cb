# Repeats fits of simulated traits, for the tests and for benchmarks/reml_calibration.R.

# Fits `replicates` traits of which the kernel of `calls` makes h2. A row for theta of the genotypes
# and one for h2: mean error, its standard error, and the standard deviation of the estimates over
# the mean of their standard errors. `rejected`: share of p-values below 0.05.
calibrate_fits <- function(g, calls, h2, replicates, ...) {
  columns <- oracle_columns(calls)
  fits <- lapply(seq_len(replicates), function(replicate) {
    y <- simulate_trait(calls, h2, columns = columns)
    data <- data.frame(id = rownames(calls), y = unname(y))
    fit <- fit_reml(y ~ 1, data, g, threads = 2, progress = FALSE, verbose = FALSE, ...)
    h2 <- heritability(fit)["h2", ]
    c(
      theta = fit$theta[[1]], theta_se = as.data.frame(fit)$se[1], h2 = h2$share, h2_se = h2$se,
      p = anova(fit)$`Pr(>LRT)`[2]
    )
  })
  fits <- as.data.frame(do.call(rbind, fits))
  of <- function(name) {
    errors <- fits[[name]] - h2
    data.frame(
      parameter = name, true = h2, bias = mean(errors),
      bias_se = stats::sd(errors) / sqrt(replicates),
      spread = stats::sd(errors) / mean(fits[[paste0(name, "_se")]], na.rm = TRUE),
      rejected = mean(fits$p < 0.05)
    )
  }
  rbind(of("theta"), of("h2"))
}

# Fits the same data with other probes: for each variance the mean over seeds, its error, and the
# standard deviation over the mean of the errors that the fits state.
calibrate_probes <- function(g, data, components, seeds, ...) {
  fits <- lapply(seq_len(seeds), function(seed) {
    fit <- fit_reml(
      y ~ 1, data, g, components, method = "stochastic", threads = 2, progress = FALSE,
      verbose = FALSE, control = reml_control(seed = seed, ...)
    )
    as.data.frame(fit)[c("component", "theta", "mc_se")]
  })
  theta <- vapply(fits, `[[`, fits[[1]]$theta, "theta")
  mc_se <- vapply(fits, `[[`, fits[[1]]$theta, "mc_se")
  spread <- apply(theta, 1, stats::sd)
  data.frame(
    component = fits[[1]]$component, mean = rowMeans(theta), mean_se = spread / sqrt(seeds),
    spread = spread / rowMeans(mc_se)
  )
}
