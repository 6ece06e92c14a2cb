# How fast scans of single variants are, beside plink2 and GEMMA.
#
#   Rscript benchmarks/scan.R [mice] [large]      in the repository's root
#
# It takes the installed package, and Debian's plink2, gemma, gemma-doc and OpenBLAS as R's BLAS.
library(ancify)
source("benchmarks/simulated.R")
source("benchmarks/timing.R")
for (helper in c("files", "oracle", "genotypes", "reml", "reml_programs", "scan")) {
  source(sprintf("tests/testthat/helper-%s.R", helper))
}

parts <- commandArgs(TRUE)
if (length(parts) == 0) parts <- c("mice", "large")
threads <- 2

# The mixed model of the mice's CD8, with its fit.
mice <- function() {
  stem <- mouse_cd8_files()
  g <- open_genotypes(stem)
  data <- data.frame(id = g$samples$id, y = g$samples$pheno1)
  ours <- function() {
    fit <- fit_reml(y ~ 1, data, open_genotypes(stem), threads = threads, progress = FALSE,
                    verbose = FALSE)
    scan_variants(fit, loco = FALSE, progress = FALSE)
  }
  theirs <- function() gemma_scan(stem, gemma_kinship(stem))
  seconds <- medians(list(ours = ours, gemma = theirs))
  report("mixed scan of CD8 with its fit, s", seconds[["ours"]])
  report("... GEMMA's -gk and -lmm 3 over it", seconds[["gemma"]] / seconds[["ours"]],
         "at least 10")
}

# Least squares with covariates.
large <- function(n = 5000, m = 20000) {
  set.seed(1)
  study <- simulate_study(tempfile("study"), n, m, 0.3)
  data <- cbind(study$data, sex = rbinom(n, 1, 0.5), age = rnorm(n))
  files <- plink2_files(study$stem, data, c("sex", "age"))
  ours <- function() {
    scan_variants(y ~ sex + age, data, open_genotypes(study$stem), threads = threads,
                  progress = FALSE)
  }
  theirs <- function() plink2_glm(study$stem, files, threads)
  seconds <- medians(list(ours = ours, plink2 = theirs))
  report(sprintf("least squares, n = %d, m = %d, two covariates, s", n, m), seconds[["ours"]])
  report("... plink2 --glm over it", seconds[["plink2"]] / seconds[["ours"]], "at least 2")
}

for (part in parts) match.fun(part)()
