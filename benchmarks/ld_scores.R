# LD scores of 50,000 variants in 2,000 samples, each with 500 variants on either side, beside sums
# of `plink1.9 --r2`. Prints the processor time of either and their ratio, for complete calls and
# with 1 % missing. The time of plink1.9 includes its table of pairs, which has 6 digits, but not
# the sums over it.
#
#   Rscript benchmarks/ld_scores.R [VARIANTS [SAMPLES [WINDOW]]]
suppressPackageStartupMessages(library(ancify))

arguments <- as.numeric(commandArgs(trailingOnly = TRUE))
size <- ifelse(is.na(arguments[1:3]), c(50000, 2000, 500), arguments[1:3])
threads <- min(2, parallel::detectCores())

# Each haplotype copies its last allele with a probability of 0.9, else draws a new one.
simulate <- function(n_variants, n_samples, missing) {
  frequency <- runif(n_variants, 0.05, 0.95)
  level <- runif(2 * n_samples)
  calls <- matrix(0L, n_samples, n_variants)
  for (j in seq_len(n_variants)) {
    drawn <- which(runif(2 * n_samples) > 0.9)
    level[drawn] <- runif(length(drawn))
    alleles <- level < frequency[j]
    calls[, j] <- alleles[seq_len(n_samples)] + alleles[n_samples + seq_len(n_samples)]
  }
  if (missing > 0) calls[sample(length(calls), missing * length(calls))] <- NA
  dimnames(calls) <- list(paste0("s", seq_len(n_samples)), paste0("v", seq_len(n_variants)))
  calls
}

# Of the processor, in this process and its children
seconds <- function(code) sum(system.time(code)[-3])

compare <- function(missing) {
  stem <- tempfile()
  on.exit(unlink(paste0(stem, "*")))
  calls <- simulate(size[1], size[2], missing)
  variants <- data.frame(chromosome = "1", position = 1000 * seq_len(ncol(calls)), counted = "A",
                         other = "G")
  write_bed(open_genotypes(calls, variants), stem)
  g <- open_genotypes(stem)
  ours <- seconds(scores <- ld_scores(g, 1000 * size[3], threads = threads))
  theirs <- seconds(system2("plink1.9", c(
    "--bfile", stem, "--r2", "--ld-window-r2", 0, "--ld-window", size[3] + 1, "--ld-window-kb",
    size[3], "--threads", threads, "--out", stem
  ), stdout = FALSE, stderr = FALSE))
  pairs <- scan(paste0(stem, ".ld"), list(0, 0, "", 0, 0, "", 0), skip = 1, quiet = TRUE)
  row <- match(unlist(pairs[c(3, 6)]), scores$id)
  sums <- 1 + rowsum(rep(pairs[[7]], 2), factor(row, seq_len(nrow(scores))))
  cat(sprintf(
    "%g %% missing: ancify %.2f s, plink1.9 %.1f s, %.1f times; scores differ by up to %.1g\n",
    100 * missing, ours, theirs, theirs / ours, max(abs(sums / scores$score - 1))
  ))
}

set.seed(1)
cat(sprintf("%g variants, %g samples, %g variants on either side, %d threads\n", size[1], size[2],
            size[3], threads))
for (missing in c(0, 0.01)) compare(missing)
