# How well traits of mice are predicted that a fit has not seen: five-fold cross-validation.
#
#   Rscript benchmarks/prediction.R      in the repository's root
#
# It takes the installed package, and Debian's gemma-doc. Each way gives the correlation of the
# predicted with the observed trait, over all held-out mice.
library(ancify)
for (helper in c("files", "oracle", "genotypes", "reml", "reml_programs")) {
  source(sprintf("tests/testthat/helper-%s.R", helper))
}

g <- open_genotypes(mouse_cd8_files())
data <- data.frame(id = g$samples$id, y = g$samples$pheno1)
set.seed(1)
fold <- sample(rep(1:5, length.out = nrow(data)))

# The calls of these mice, missing ones as the mean of the mice that the effects are from.
score <- function(mice, variants, effects, means) {
  calls <- as.matrix(g[mice, variants])
  missing <- which(is.na(calls), arr.ind = TRUE)
  calls[missing] <- means[missing[, 2]]
  drop(calls %*% effects)
}

ways <- list(
  "variance components" = function(seen, held_out) {
    fit <- fit_reml(y ~ 1, data, g[seen, ], progress = FALSE, verbose = FALSE)
    predict(fit, g[held_out, ])
  },
  "variance components and sparse effects" = function(seen, held_out) {
    fit <- fit_reml(y ~ 1, data, g[seen, ], progress = FALSE, verbose = FALSE)
    # The least EBIC is far above the path's end.
    lambda <- 250 * 0.05^((0:30) / 59)
    sparse <- fit_sparse_reml(fit, lambda = lambda, progress = FALSE, verbose = FALSE)
    predict(sparse, g[held_out, ])
  },
  "polygenic score, all variants" = function(seen, held_out) {
    scan <- scan_variants(y ~ 1, data, g[seen, ], progress = FALSE)
    used <- which(!is.na(scan$effect))
    score(held_out, used, scan$effect[used], 2 * scan$frequency[used])
  },
  "polygenic score, p below 5e-8" = function(seen, held_out) {
    scan <- scan_variants(y ~ 1, data, g[seen, ], progress = FALSE)
    used <- which(scan$p < 5e-8)
    score(held_out, used, scan$effect[used], 2 * scan$frequency[used])
  },
  "least squares of the best 20 variants" = function(seen, held_out) {
    scan <- scan_variants(y ~ 1, data, g[seen, ], progress = FALSE)
    used <- order(scan$p)[1:20]
    calls <- as.matrix(g[seen, used])
    calls[is.na(calls)] <- 0
    effects <- stats::lm(data$y[seen] ~ calls)$coefficients[-1]
    score(held_out, used, ifelse(is.na(effects), 0, effects), 2 * scan$frequency[used])
  }
)
for (name in names(ways)) {
  predicted <- numeric(nrow(data))
  for (k in 1:5) predicted[fold == k] <- ways[[name]](which(fold != k), which(fold == k))
  cat(sprintf("%-40s %.3f\n", name, cor(predicted, data$y)))
}
