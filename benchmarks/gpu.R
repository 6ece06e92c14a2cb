# Where a GPU helps: whole jobs on the CPU, with all of its threads, and on the machine's card.
#
#   Rscript benchmarks/gpu.R [ROUNDS]      3; in the repository's root
#
# It takes the installed package, built with CUDA. A line has seconds on the CPU, on the card, and
# their ratio. Without a card it ends with 77.
library(ancify)
source("benchmarks/simulated.R")
source("benchmarks/timing.R")
helpers <- new.env(parent = asNamespace("ancify"))
for (helper in c("files", "genotypes", "sequence_models")) {
  source(sprintf("tests/testthat/helper-%s.R", helper), local = helpers)
}
attach(helpers)

if (nrow(available_gpus()) == 0) {
  cat("NOT RUN:", attr(available_gpus(), "reason"), "\n")
  quit(status = 77)
}
options(ancify.threads = parallel::detectCores())
rounds <- if (length(commandArgs(TRUE))) as.integer(commandArgs(TRUE)[1]) else 3
set.seed(1)

# job(backend): the work. The card works once before, so that no driver is loaded in the time.
compare <- function(what, job) {
  job("gpu")
  seconds <- medians(list(cpu = function() job("cpu"), gpu = function() job("gpu")), rounds)
  cat(sprintf("%-64s %8.2f %8.2f %8.1f\n", what, seconds[["cpu"]], seconds[["gpu"]],
              seconds[["cpu"]] / seconds[["gpu"]]))
}
cat(sprintf("%s, %d CPU threads\n", available_gpus()$name[1], getOption("ancify.threads")))

for (n in c(2000, 20000, 50000)) {
  stem <- tempfile("study")
  write_many_calls(stem, n, 50000)
  g <- open_genotypes(stem)
  traits <- data.frame(id = g$samples$id, y = stats::rnorm(n))
  size <- sprintf("%d x 50000", n)
  compare(paste("scan_variants() by OLS,", size), function(on) {
    scan_variants(y ~ 1, traits, g, backend = on, progress = FALSE)
  })
  compare(paste("fit_reml(), stochastic, one component,", size), function(on) {
    fit_reml(y ~ 1, traits, g, method = "stochastic", backend = on, progress = FALSE,
             verbose = FALSE)
  })
  unlink(paste0(stem, c(".bed", ".bim", ".fam")))
}

proteins <- random_proteins(pmin(round(stats::rlnorm(100, log(300), 0.5)), 1022))
names(proteins) <- paste0("p", seq_along(proteins))
encoder <- sequence_model(write_esm2(random_esm2(20, 24, 12, 1920)))
compare("embed_sequences(), 100 proteins, 35M weights, fp32", function(on) {
  embed_sequences(proteins, encoder, backend = on, precision = "fp32")
})
compare("... fp16 on the card", function(on) {
  embed_sequences(proteins, encoder, backend = on)
})

model <- demography_model("OutOfAfrica_3G09")
for (points in list(c(30, 40, 50), c(80, 100, 120))) {
  compare(sprintf("expected_sfs(), three populations, grids up to %d", max(points)), function(on) {
    expected_sfs(model, NULL, c(10, 10, 10), points, backend = on)
  })
}

fasta <- file.path(tempdir(), "genome.fa")
writeLines(c(">chr1", vapply(1:1000, function(i) {
  paste(sample(c("A", "C", "G", "T"), 1e5, TRUE), collapse = "")
}, "")), fasta)
for (k in c(25, 55)) {
  compare(sprintf("count_kmers(), k = %d, 100 Mb", k), function(on) {
    count_kmers(fasta, k, out = tempfile("counted"), backend = on)
  })
}

split <- demography_model("split_mig")
truth <- c(nu1 = 2, nu2 = 0.5, time = 0.1, m = 1)
grids <- c(40, 50, 60)
data <- expected_sfs(split, truth, c(20, 20), grids) * 2000
compare("fit_demography(), two populations, grids up to 60, 4 starts", function(on) {
  fit_demography(split, data, truth * 1.2, starts = 4, pts = grids, backend = on, progress = FALSE)
})
