# Whether correlations of fit_reml(cbind(a, b) ~ 1, ...) and their errors are what they claim to be:
# bias, coverage of 95 % intervals, tests without an effect; and the time of two traits over that of
# one on the stochastic path. Prints a table; ends with 1 if a line fails.
#
#   Rscript benchmarks/reml_traits.R [REPLICATES [SAMPLES]]      in the repository's root
#
# The defaults are 200 replicates of 2,000 samples.
library(ancify)
for (helper in c("files", "genotypes", "reml", "reml_fit")) {
  source(sprintf("tests/testthat/helper-%s.R", helper))
}
arguments <- as.numeric(commandArgs(TRUE))
replicates <- c(arguments, 200)[1]
n <- c(arguments[-1], 2000)[1]
failed <- FALSE

report <- function(what, value, good, goal) {
  failed <<- failed || !good
  cat(sprintf("%-60s %8.3f  %-14s %s\n", what, value, goal, if (good) "PASS" else "FAIL"))
}

set.seed(1)
kernel <- oracle_kernel(simulate_calls(n, 2 * n, family = 4))
kernel <- (kernel + t(kernel)) / 2
root <- t(chol(kernel + 1e-8 * diag(n)))
kernels <- list(k = kernel_matrix(kernel))
h2 <- c(0.5, 0.3)
residual <- 0.2

for (rg in c(0, 0.5, 0.9)) {
  genetic <- diag(sqrt(h2)) %*% matrix(c(1, rg, rg, 1), 2) %*% diag(sqrt(h2))
  noise <- diag(sqrt(1 - h2)) %*% matrix(c(1, residual, residual, 1), 2) %*% diag(sqrt(1 - h2))
  tables <- lapply(seq_len(replicates), function(replicate) {
    y <- root %*% matrix(stats::rnorm(2 * n), n) %*% chol(genetic) +
      matrix(stats::rnorm(2 * n), n) %*% chol(noise)
    data <- data.frame(id = seq_len(n), a = y[, 1], b = y[, 2])
    fit <- fit_reml(cbind(a, b) ~ 1, data, kernels = kernels, verbose = FALSE)
    cbind(genetic_correlation(fit, tests = FALSE), p = if (rg == 0) genetic_correlation(fit)$p_0
                                                      else NA)
  })
  for (row in 1:2) {
    found <- do.call(rbind, lapply(tables, function(table) table[row, ]))
    truth <- c(rg, residual)[row]
    name <- sprintf("%s, rg %.1f", found$component[1], rg)
    bias <- (mean(found$rg) - truth) / (stats::sd(found$rg) / sqrt(replicates))
    report(paste("bias over its standard error:", name), bias, abs(bias) < 2, "-2 to 2")
    # An estimate at 1 has no error.
    inside <- abs(found$rg - truth) <= stats::qnorm(0.975) * found$se
    likely <- stats::qbinom(c(0.025, 0.975), sum(!is.na(inside)), 0.95) / sum(!is.na(inside))
    report(paste("coverage of 95 % intervals:", name), mean(inside, na.rm = TRUE),
           mean(inside, na.rm = TRUE) >= likely[1], sprintf("%.3f or more", likely[1]))
    report(paste("estimates at 1:", name), mean(is.na(inside)), TRUE, "")
  }
  if (rg == 0) {
    p <- vapply(tables, function(table) table$p[1], 0)
    likely <- stats::qbinom(c(0.025, 0.975), replicates, 0.05) / replicates
    report("tests of rg = 0 that are rejected", mean(p < 0.05),
           mean(p < 0.05) >= likely[1] && mean(p < 0.05) <= likely[2],
           sprintf("%.3f to %.3f", likely[1], likely[2]))
  }
}
# Seconds of processors for two traits over those for one, with Monte Carlo errors of the same share
# of the standard errors.
case <- reml_case(3000, 6000)
case$data$z <- case$data$y + stats::rnorm(3000, sd = stats::sd(case$data$y))
halves <- list(a = 1:3000, b = 3001:6000)
seconds <- function(formula, components) {
  sum(system.time(fit_reml(formula, case$data, case$g, components, method = "stochastic",
                           verbose = FALSE))[c("user.self", "sys.self")])
}
for (components in list(NULL, halves)) {
  ratio <- seconds(cbind(y, z) ~ 1, components) / seconds(y ~ 1, components)
  report(sprintf("two traits over one, components: %d", max(length(components), 1)), ratio,
         ratio <= 2.2, "at most 2.2")
}
quit(status = as.integer(failed))
