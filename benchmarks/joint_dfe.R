# Spectra of pairs of selection coefficients, and their sum under a joint distribution of fitness
# effects, beside dadi's Cache2D, on one thread each. Needs a Python with dadi 2.4.3:
#
#   ANCIFY_DADI_PYTHON=python3 Rscript benchmarks/joint_dfe.R
library(ancify)

python <- Sys.getenv("ANCIFY_DADI_PYTHON", "python3")
Sys.setenv(OMP_NUM_THREADS = 1, OPENBLAS_NUM_THREADS = 1)
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))
script <- file.path(here, "joint_dfe.py")

n <- 8
gammas <- -exp(seq(log(1e-2), log(100), length.out = n))
split_mig <- list(
  event_equilibrium(), event_split(1), event_epoch(0.05, nu = c(2, 0.5), m = 1)
)
seconds <- function(code) system.time(code)[["elapsed"]]
ours_made <- seconds(spectra <- selected_spectra(
  split_mig, NULL, c(A = 20, B = 20), c(70, 90, 110), gammas, pairs = TRUE, threads = 1
))
joint <- dfe_bivariate_lognormal(1, 1, 0.5)
ours_summed <- seconds(for (i in 1:10) ours <- dfe_sfs(spectra, joint)) / 10

lines <- system2(python, c(script, n), stdout = TRUE)
theirs <- scan(text = lines[1], quiet = TRUE)
fs <- matrix(scan(text = lines[2], quiet = TRUE), 21, byrow = TRUE)
row <- function(what, ratio, least) cat(sprintf("%-66s %6.2f  at least %d\n", what, ratio, least))
row(sprintf("dadi's Cache2D over our pairs, %d x %d coefficients, 1 thread", n, n),
    theirs[1] / ours_made, 5)
cat(sprintf("Seconds: pairs %.1f and %.1f, a sum %.3f and %.3f\n", theirs[1], ours_made, theirs[2],
            ours_summed))

# The sum over 16 coefficients is the limit; its own error is far smaller.
more <- -exp(seq(log(1e-2), log(100), length.out = 16))
fine <- dfe_sfs(selected_spectra(
  split_mig, NULL, c(A = 20, B = 20), c(70, 90, 110), more, pairs = TRUE
), joint)
cells <- which(!attr(fine, "mask"))
error <- function(x) sum(abs(c(x)[cells] - c(fine)[cells])) / sum(c(fine)[cells])
theirs_error <- error(fs)
ours_error <- error(unclass(ours))
row("dadi's relative error of the sum over ours", theirs_error / ours_error, 5)
cat(sprintf("Relative errors: %.4f and %.4f\n", theirs_error, ours_error))
