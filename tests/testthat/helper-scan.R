# Tests of single variants in plain R, and by other programs.

# Least squares by lm(), a variant after the other: effect, se, statistic and p. `x` has the fixed
# effects, `calls` the variants.
oracle_ols <- function(y, x, calls) {
  t(apply(calls, 2, function(call) {
    if (all(is.na(call))) {
      return(rep(NA, 4))
    }
    z <- replace(call, is.na(call), mean(call, na.rm = TRUE))
    found <- summary(stats::lm(y ~ x + z))$coefficients
    if ("z" %in% rownames(found)) found["z", ] else rep(NA, 4)
  }))
}

# Generalised least squares by the whole covariance: effect and se.
oracle_gls <- function(y, x, calls, theta, kernels) {
  h <- Reduce(`+`, Map(`*`, theta, c(kernels, list(diag(length(y))))))
  h_inverse <- solve(h)
  t(apply(calls, 2, function(call) {
    z <- replace(call, is.na(call), mean(call, na.rm = TRUE))
    both <- cbind(x, z)
    covariance <- solve(crossprod(both, h_inverse %*% both))
    effect <- covariance %*% crossprod(both, h_inverse %*% y)
    c(effect = effect[ncol(both)], se = sqrt(covariance[ncol(both), ncol(both)]))
  }))
}

# ---- plink2 --------------------------------------------------------------------------------------

# Files of a data frame of `id`, `y` and covariates, for plink2_glm() of the BED with this stem.
plink2_files <- function(stem, data, covariates) {
  folder <- new_folder()
  families <- utils::read.table(paste0(stem, ".fam"), colClasses = "character")
  write_columns <- function(names, file) {
    path <- file.path(folder, file)
    family <- families$V1[match(data$id, families$V2)]
    table <- data.frame(`#FID` = family, IID = data$id, data[names], check.names = FALSE)
    utils::write.table(table, path, quote = FALSE, row.names = FALSE, sep = "\t")
    path
  }
  list(pheno = write_columns("y", "pheno"), covar = write_columns(covariates, "covar"))
}

# plink2 --glm of a BED, or of a PGEN with `option` --pfile: a data frame of BETA, SE, T_STAT and P
# by ID, for A1. With "firth" as `method`, y is 1 for controls and 2 for cases, and Z_STAT replaces
# T_STAT.
plink2_glm <- function(stem, files, threads = 1, option = "--bfile", method = "linear") {
  out <- tempfile("glm")
  run_tool("plink2", c(
    option, stem, "--glm", "hide-covar", if (method == "firth") c("firth", "cols=+beta,-orbeta"),
    "--pheno", files$pheno, "--covar", files$covar,
    "--covar-variance-standardize", "--threads", threads, "--out", out
  ))
  utils::read.delim(paste0(out, ".y.glm.", method), check.names = FALSE)
}

# ---- GEMMA ---------------------------------------------------------------------------------------

# GEMMA's score test (-lmm 3) of a BED with a phenotype in its .fam.
gemma_scan <- function(stem, kinship) {
  folder <- new_folder()
  run_tool("gemma", c(
    "-bfile", stem, "-k", kinship, "-lmm", "3", "-maf", "0", "-miss", "1", "-r2", "1",
    "-outdir", folder, "-o", "scan"
  ))
  utils::read.delim(file.path(folder, "scan.assoc.txt"))
}

# ---- Cases and controls --------------------------------------------------------------------------

# -log10 of both saddlepoint tails beyond a score s = sum g (y - m), over all samples. A tail that
# needs a larger t than 100 is negligible.
oracle_saddlepoint <- function(g, m, s) {
  tail <- function(s) {
    tilted_at <- function(t) stats::plogis(stats::qlogis(m) + g * t)
    slope <- function(t) sum(g * (tilted_at(t) - m)) - s
    if (slope(100) < 0 || slope(-100) > 0) {
      return(0)
    }
    t <- stats::uniroot(slope, c(-100, 100), tol = 1e-12)$root
    tilted <- tilted_at(t)
    k <- sum(log(1 - m + m * exp(g * t)) - t * g * m)
    w <- sign(t) * sqrt(2 * (t * s - k))
    v <- t * sqrt(sum(g^2 * tilted * (1 - tilted)))
    stats::pnorm(-abs(w + log(v / w) / w))
  }
  -log10(tail(abs(s)) + tail(-abs(s)))
}

# Firth's penalised likelihood with the columns `d`: the last one's effect and standard error.
oracle_firth <- function(y, d, offset = 0) {
  b <- numeric(ncol(d))
  repeat {
    m <- stats::plogis(offset + drop(d %*% b))
    w <- m * (1 - m)
    inverse <- solve(crossprod(d, w * d))
    leverages <- w * rowSums(d %*% inverse * d)
    score <- crossprod(d, y - m + leverages * (0.5 - m))
    step <- drop(inverse %*% score)
    b <- b + step / max(1, abs(step))
    if (sum(step * score) < 1e-18) break
  }
  unname(c(b[ncol(d)], sqrt(inverse[ncol(d), ncol(d)])))
}
