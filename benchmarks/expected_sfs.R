# Expected spectra beside dadi's, by each level of vector instructions: the same time steps and
# grids, on one thread each, in seconds of the processor. Needs a Python with dadi:
#
#   ANCIFY_DADI_PYTHON=python3 Rscript benchmarks/expected_sfs.R
library(ancify)

python <- Sys.getenv("ANCIFY_DADI_PYTHON", "python3")
Sys.setenv(OMP_NUM_THREADS = 1, OPENBLAS_NUM_THREADS = 1)
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))
script <- file.path(here, "expected_sfs.py")
rounds <- 3

# Published models go to dadi as Demes files; the reference size does not matter.
published <- data.frame(
  name = c("OutOfAfrica_2L06", "OutOfAfrica_3G09", "NewWorld_4G09_no_admixture",
           "ArchaicAdmixture_5R19"),
  populations = c(2, 3, 4, 3), haplotypes = c(20, 12, 6, 4), grid = c(60, 30, 14, 10),
  spacing = c(10, 10, 3, 2)
)
models <- list(split_mig = list(
  model = demography_model("split_mig"), params = c(1.5, 0.6, 0.3, 2), sizes = c(20, 20),
  pts = c(60, 70, 80)
))
for (i in seq_len(nrow(published))) {
  row <- published[i, ]
  models[[row$name]] <- list(
    model = demography_model(row$name), params = NULL, sizes = rep(row$haplotypes, row$populations),
    pts = row$grid + 0:2 * row$spacing
  )
}

# Steps and grids are dadi's, which are coarse for some of these; both have them.
spectrum_of <- function(of) {
  suppressWarnings(
    expected_sfs(of$model, of$params, of$sizes, of$pts, "dadi", "log", threads = 1),
    "ancify_grid_warning"
  )
}

dadi_of <- function(of) {
  file <- tempfile(fileext = ".yaml")
  on.exit(unlink(file))
  write_demes(of$model, file, of$params, reference_size = 1e4)
  grids <- paste(of$pts, collapse = ",")
  said <- system2(python, c(script, file, paste(of$sizes, collapse = ","), grids), stdout = TRUE)
  scan(text = said, quiet = TRUE)
}

best <- match(ancify_build_info()$simd, c("AVX2", "AVX-512"), nomatch = 0)
levels <- rev(c("scalar", "avx2", "avx512")[seq_len(best + 1)])

# R's clock has milliseconds, so short spectra are made ten at a time.
seconds <- function(of) {
  mean_of <- function(n) {
    sum(system.time(for (i in seq_len(n)) spectrum_of(of))[c("user.self", "sys.self")]) / n
  }
  n <- if (mean_of(1) < 0.1) 10 else 1
  min(vapply(1:3, function(i) mean_of(n), 0))
}

cat(sprintf("%-26s %-7s %10s %10s %8s\n", "model", "level", "dadi", "ancify", "ratio"))
for (name in names(models)) {
  times <- array(0, c(rounds, length(levels) + 1), list(NULL, c("dadi", levels)))
  for (round in seq_len(rounds)) {
    dadi <- dadi_of(models[[name]])
    times[round, "dadi"] <- dadi[1]
    for (level in levels) {
      options(ancify.simd = level)
      times[round, level] <- seconds(models[[name]])
    }
  }
  largest <- max(spectrum_of(models[[name]]), na.rm = TRUE)
  if (abs(largest / dadi[2] - 1) > 1e-6) {
    stop(sprintf("%s: the largest cell is %g, and dadi's %g", name, largest, dadi[2]))
  }
  medians <- apply(times, 2, stats::median)
  for (level in levels) {
    cat(sprintf("%-26s %-7s %10.3f %10.3f %8.1f\n", name, level, medians["dadi"], medians[level],
                medians["dadi"] / medians[level]))
  }
}
