# Whether scans of cases and controls and PCGC regression are calibrated. Prints a table; ends with
# 1 if a line fails.
#
#   Rscript benchmarks/cases.R [TRAITS [REPLICATES]]      in the repository's root
#
# The defaults, 10 traits and 20 replicates, take minutes. With 50 traits, a million variants are
# tested.
library(ancify)
arguments <- as.numeric(commandArgs(TRUE))
traits <- c(arguments, 10)[1]
replicates <- c(arguments[-1], 20)[1]
failed <- FALSE

report <- function(what, value, good, goal) {
  failed <<- failed || !good
  cat(sprintf("%-64s %9.4f  %-18s %s\n", what, value, goal, if (good) "PASS" else "FAIL"))
}

# ---- Scans without an effect: families of 4 siblings, 1 % cases, at least 20 rare alleles --------

n <- 2000
m <- 20000
set.seed(1)
families <- rep(seq_len(n / 4), each = 4)
inherited <- function(parents) parents %/% 2 + (parents %% 2) * stats::rbinom(n, 1, 0.5)
draw_variant <- function(frequency) {
  parents <- replicate(2, stats::rbinom(n / 4, 2, frequency)[families])
  inherited(parents[, 1]) + inherited(parents[, 2])
}
calls <- vapply(exp(stats::runif(1.3 * m, log(0.004), log(0.5))), draw_variant, numeric(n))
copies <- pmin(colSums(calls), 2 * n - colSums(calls))
calls <- calls[, which(copies >= 20)[seq_len(m)]]
dimnames(calls) <- list(seq_len(n), NULL)
g <- open_genotypes(calls)
kernel <- outer(families, families, "==") / 2 + diag(n) / 2
root <- chol(kernel)

p <- c()
diverged <- 0
for (trait in seq_len(traits)) {
  liability <- sqrt(0.5) * drop(stats::rnorm(n) %*% root) + sqrt(0.5) * stats::rnorm(n)
  data <- data.frame(id = seq_len(n), case = rank(-liability) <= n / 100, age = stats::rnorm(n))
  fit <- fit_reml(case ~ age, data, kernels = list(family = kernel_matrix(kernel)),
                  verbose = FALSE)
  p <- c(p, tryCatch(scan_variants(fit, g, loco = FALSE)$p, ancify_input_error = function(error) {
    diverged <<- diverged + 1
    NULL
  }))
}
p <- p[!is.na(p)]
cat(sprintf("%d tests; %d of %d null models diverge\n", length(p), diverged, traits))
for (level in c(1e-2, 1e-3, 1e-4)) {
  expected <- level * length(p)
  # A share may be off by chance.
  off <- 2 * sqrt(expected)
  found <- sum(p < level)
  report(sprintf("share of p below %g, over that", level), found / expected,
         found > 0.7 * expected - off && found < 1.4 * expected + off, "0.7 to 1.4")
}

# ---- Heritability of liability by PCGC -----------------------------------------------------------

n <- 1000
m <- 400
h2 <- 0.5

# People in batches, until there are enough cases and controls: list(calls =, case =).
draw_study <- function(prevalence, share) {
  frequencies <- stats::runif(m, 0.05, 0.5)
  effects <- stats::rnorm(m) / sqrt(2 * frequencies * (1 - frequencies))
  effects <- effects * sqrt(h2 / sum(effects^2 * 2 * frequencies * (1 - frequencies)))
  wanted <- c(control = n - round(share * n), case = round(share * n))
  kept <- list(control = matrix(0, 0, m), case = matrix(0, 0, m))
  while (any(vapply(kept, nrow, 0L) < wanted)) {
    batch <- matrix(stats::rbinom(2000 * m, 2, rep(frequencies, each = 2000)), 2000)
    value <- drop((batch - rep(2 * frequencies, each = 2000)) %*% effects) +
      stats::rnorm(2000, sd = sqrt(1 - h2))
    case <- value > stats::qnorm(1 - prevalence)
    for (kind in names(wanted)) {
      is_kind <- case == (kind == "case")
      both <- rbind(kept[[kind]], batch[is_kind, , drop = FALSE])
      kept[[kind]] <- both[seq_len(min(nrow(both), wanted[[kind]])), , drop = FALSE]
    }
  }
  case <- rep(c(FALSE, TRUE), wanted)
  order <- sample(n)
  calls <- rbind(kept$control, kept$case)[order, ]
  dimnames(calls) <- list(seq_len(n), NULL)
  list(calls = calls, case = case[order])
}

for (prevalence in c(0.01, 0.05, 0.2)) {
  for (share in c(0.5, prevalence)) {
    found <- vapply(seq_len(replicates), function(i) {
      study <- draw_study(prevalence, share)
      data <- data.frame(id = seq_len(n), case = study$case)
      g <- open_genotypes(study$calls)
      fit <- pcgc(case ~ 1, data, g, prevalence = prevalence)
      reml <- fit_reml(case ~ 1, data, g, prevalence = prevalence, verbose = FALSE)
      c(fit$shares["h2", "share"], fit$shares["h2", "se"],
        ancify::liability(reml)["h2", "liability"])
    }, numeric(3))
    name <- sprintf("prevalence %g %%, cases %g %%", 100 * prevalence, 100 * share)
    bias <- mean(found[1, ]) - h2
    chance <- 2 * stats::sd(found[1, ]) / sqrt(replicates)
    report(paste("bias of PCGC:", name), bias, abs(bias) < 0.02 + chance,
           sprintf("within .02 + %.3f", chance))
    covered <- mean(abs(found[1, ] - h2) < stats::qnorm(0.975) * found[2, ])
    chance <- 2 * sqrt(0.05 * 0.95 / replicates)
    report("... intervals of 95 % with the truth", covered,
           covered >= 0.93 - chance && covered <= 0.97 + chance,
           sprintf(".93 to .97 +- %.3f", chance))
    report("... mean SE over SD", mean(found[2, ]) / stats::sd(found[1, ]), TRUE, "")
    report("... bias of REML on the liability scale", mean(found[3, ]) - h2, TRUE, "")
  }
}
quit(status = failed)
