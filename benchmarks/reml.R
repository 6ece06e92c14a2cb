# How fast fits of variance components are, beside GEMMA, BOLT-REML and eigen(), and how much memory
# they take.
#
#   Rscript benchmarks/reml.R [mice] [large] [memory]      in the repository's root
#
# It takes the installed package, Debian's gemma, gemma-doc and bolt-lmm, and OpenBLAS as R's BLAS.
library(ancify)
source("benchmarks/simulated.R")
source("benchmarks/timing.R")
for (helper in c("files", "oracle", "genotypes", "reml", "reml_programs")) {
  source(sprintf("tests/testthat/helper-%s.R", helper))
}

parts <- commandArgs(TRUE)
if (length(parts) == 0) parts <- c("mice", "large", "memory")
threads <- 2

fit <- function(...) {
  fit_reml(..., threads = threads, progress = FALSE, verbose = FALSE)
}

# The largest distance of variances from those of an exact fit, in its standard errors.
distance <- function(theta, exact) max(abs(theta - exact$theta) / as.data.frame(exact)$se)

# ---- Mice ----------------------------------------------------------------------------------------

mice <- function() {
  stem <- mouse_cd8_files()
  g <- open_genotypes(stem)
  data <- data.frame(id = g$samples$id, y = g$samples$pheno1)
  from_bed <- function(sets = NULL, ...) fit(y ~ 1, data, open_genotypes(stem), sets, ...)
  k <- oracle_kernel(as.matrix(g))
  gemma <- function() gemma_reml(paste0(stem, ".pheno"), gemma_kinship(stem))
  theirs <- NULL
  bolt <- function() theirs <<- bolt_reml(stem, data, threads = threads)
  seconds <- medians(list(
    exact = function() from_bed(), eigen = function() eigen(k, symmetric = TRUE), gemma = gemma,
    bolt = bolt
  ))
  report("exact CD8 from the BED, s", seconds[["exact"]])
  report("... over eigen() of its kernel", seconds[["exact"]] / seconds[["eigen"]], "at most 1")
  report("... GEMMA's -gk 2 and -vc 2 over it", seconds[["gemma"]] / seconds[["exact"]],
         "at least 5")
  report("... BOLT-REML over it", seconds[["bolt"]] / seconds[["exact"]], "at least 100")
  exact <- from_bed()
  report("... BOLT-REML's distance from it, SE", distance(theirs$theta, exact))

  took <- system.time(one <- from_bed(method = "stochastic"))[["elapsed"]]
  report("stochastic CD8, s", took)
  report("... passes over the genotypes", one$passes, "at most 60")
  report("... distance from exact, SE", distance(one$theta, exact))
  sets <- mouse_halves(g$variants$chromosome)
  for (tolerance in c(0.05, 0.01)) {
    control <- reml_control(mc_tolerance = tolerance, max_probes = 5000)
    took <- system.time(
      two <- from_bed(sets, method = "stochastic", control = control)
    )[["elapsed"]]
    report(sprintf("stochastic CD8, two components, mc_tolerance %g, s", tolerance), took,
           "at most 60")
    report("... distance from exact, SE", distance(two$theta, from_bed(sets)), "at most 0.02")
    report("... probes", two$probes)
  }
}

# ---- Beside BOLT-REML ----------------------------------------------------------------------------

large <- function(n = 6000, m = 50000) {
  set.seed(1)
  study <- simulate_study(tempfile("study"), n, m, c(0.2, 0.3))
  g <- open_genotypes(study$stem)
  for (sets in list(NULL, study$sets)) {
    what <- sprintf(
      "stochastic, %d x %d, %s", n, m, if (is.null(sets)) "one component" else "two components"
    )
    exact <- fit(y ~ 1, study$data, g, sets, method = "exact")
    labels <- if (!is.null(sets)) stats::setNames(sets, g$variants$id)
    ours <- theirs <- NULL
    seconds <- medians(list(
      ours = function() ours <<- fit(y ~ 1, study$data, g, sets, method = "stochastic"),
      bolt = function() theirs <<- bolt_reml(study$stem, study$data, labels, threads = threads)
    ))
    errors <- as.data.frame(ours)
    report(paste0(what, ", s"), seconds[["ours"]])
    report("... BOLT-REML over it", seconds[["bolt"]] / seconds[["ours"]], "at least 10")
    report("... MC error, SE", max(errors$mc_se / errors$se), "BOLT's distance")
    report("... distance from exact, SE", distance(ours$theta, exact))
    report("... BOLT-REML's distance from exact, SE", distance(theirs$theta, exact))
    report("... passes over the genotypes", ours$passes)
  }
}

# ---- Memory --------------------------------------------------------------------------------------

# The most memory that another R had, in bytes, after a fit with `arguments`.
peak_of <- function(stem, arguments) {
  code <- sprintf(paste(
    "library(ancify); set.seed(1); g <- open_genotypes(%s)",
    "data <- data.frame(id = g$samples$id, y = rnorm(nrow(g)))",
    "control <- reml_control(max_probes = 32, mc_tolerance = 0.5)",
    "fit <- fit_reml(y ~ 1, data, g, method = 'stochastic', threads = %d, control = control%s)",
    "cat(grep('VmHWM', readLines('/proc/self/status'), value = TRUE))", sep = "; "
  ), deparse(stem), threads, arguments)
  lines <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE)
  1024 * numbers_after(lines, "VmHWM:")
}

memory <- function(n = 20000, m = 100000) {
  stem <- tempfile("many")
  write_many_calls(stem, n, m)
  packed <- n * m / 4
  for (arguments in c("", ", memory = 256e6")) {
    took <- system.time(peak <- peak_of(stem, arguments))[["elapsed"]]
    if (arguments == "") {
      report("peak memory, 20,000 x 100,000, over the packed size", peak / packed, "at most 1.5")
    } else {
      report("... streaming with memory = 256e6, GB in all", peak / 1e9, "at most 0.4")
    }
    report("... s", took)
  }
}

for (part in parts) get(part)()
