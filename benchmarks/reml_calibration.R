# Whether estimates of fit_reml() and their errors are what they claim to be: bias, spread, tests
# without an effect, and the error of the probes. Prints a table; ends with 1 if a line fails.
#
#   Rscript benchmarks/reml_calibration.R [REPLICATES [SAMPLES]]      in the repository's root
#
# The defaults are 200 replicates of 2,000 samples. Each replicate is an exact fit.
library(ancify)
for (helper in c("files", "genotypes", "reml", "reml_calibration")) {
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

# Related samples: unrelated ones tell too little of h2 for errors that are normal.
set.seed(1)
calls <- simulate_calls(n, 2 * n, family = 4)
g <- open_genotypes(oracle_write_bed(calls))
unbounded <- reml_control(lower = -Inf)

for (h2 in c(0, 0.25, 0.5, 0.8)) {
  table <- calibrate_fits(g, calls, h2, replicates, control = unbounded)
  for (row in seq_len(nrow(table))) {
    name <- sprintf("%s, h2 %.2f", table$parameter[row], h2)
    bias <- table$bias[row] / table$bias_se[row]
    report(paste("bias over its standard error:", name), bias, abs(bias) < 2, "-2 to 2")
    spread <- table$spread[row]
    report(paste("SD over mean SE:", name), spread, abs(spread - 1) <= 0.1, "0.9 to 1.1")
  }
}

rejected <- calibrate_fits(g, calls, 0, replicates)$rejected[1]
likely <- stats::qbinom(c(0.025, 0.975), replicates, 0.05) / replicates
report("tests without an effect that are rejected", rejected,
       rejected >= likely[1] && rejected <= likely[2],
       sprintf("%.3f to %.3f", likely[1], likely[2]))

y <- unname(simulate_trait(calls, 0.5))
data <- data.frame(id = rownames(calls), y = y)
sets <- rep(c("first", "second"), c(floor(n / 2), 2 * n - floor(n / 2)))
for (components in list(NULL, sets)) {
  exact <- fit_reml(y ~ 1, data, g, components, method = "exact", verbose = FALSE)
  table <- calibrate_probes(g, data, components, max(replicates / 2, 20))
  for (row in seq_len(nrow(table))) {
    name <- sprintf("%s of %d", table$component[row], nrow(table) - 1)
    spread <- table$spread[row]
    report(paste("SD over seeds over mean MC SE:", name), spread, spread >= 0.8 && spread <= 1.25,
           "0.8 to 1.25")
    distance <- (table$mean[row] - exact$theta[[row]]) / table$mean_se[row]
    report(paste("... distance from exact over its error:", name), distance, abs(distance) < 3,
           "-3 to 3")
  }
}
quit(status = failed)
