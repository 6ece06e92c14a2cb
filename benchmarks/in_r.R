# Figures that need R; benchmarks/run calls it with the benchmark program and the data's folder:
#
#   Rscript benchmarks/in_r.R PROGRAM FOLDER
#
# It takes the installed package, and CNEr from Bioconductor for the comparison with its reader.
library(ancify)
source("benchmarks/simulated.R")

args <- commandArgs(TRUE)
program <- args[1]
folder <- args[2]
rounds <- 5

best <- function(run) {
  min(replicate(rounds, {
    gc()
    system.time(run())[["elapsed"]]
  }))
}

report <- function(what, ratio, must) {
  cat(sprintf("%-72s %6.2f  %s\n", what, ratio, must))
}

# Whole runs, with the look before them, checksums and records, over inflating their files and, if
# projections are kept, writing as many bytes; and the least that was outside the phases. Each run
# begins with empty folders, which are emptied outside the time.
run_over_floor <- function(n, length, threads, kept, must) {
  floor <- scan(text = system2(
    program, c("--floor", shQuote(folder), n, format(length, scientific = FALSE), threads),
    stdout = TRUE
  ), quiet = TRUE)[1 + kept]
  config <- config_of(folder, n, length)
  config$keep_projected <- kept
  outside <- Inf
  run <- min(replicate(rounds, {
    unlink(config$work_dir, recursive = TRUE)
    gc()
    seconds <- system.time(run <- ancify_run(
      config, threads = threads, progress = FALSE, verbose = FALSE
    ))[["elapsed"]]
    outside <<- min(outside, seconds - sum(unlist(attr(run, "seconds"))))
    seconds
  }))
  what <- sprintf(
    "%d x %.0f Mb, projections %s, %d thread%s, whole run in R, over %s", n, length / 1e6,
    if (kept) "kept" else "not kept", threads, if (threads == 1) "" else "s",
    if (kept) "inflating and writing" else "inflating"
  )
  report(what, run / floor, must)
  cat(sprintf("... outside the phases: look and records, %.0f ms\n", 1e3 * outside))
}

for (threads in 1:2) {
  run_over_floor(8, 5e7, threads, FALSE, "at most 1.3")
  run_over_floor(8, 5e7, threads, TRUE, "at most 1.3")
  run_over_floor(1, 5e7, threads, FALSE, if (threads == 1) "at most 1.4" else "at most 1.5")
}
run_over_floor(24, 1e6, 2, FALSE, "")

# Seconds of a run's phases by each backend, the least of the rounds, which take turns.
phases_side_by_side <- function(backends, kept) {
  config <- config_of(folder, 1, 1e8)
  config$keep_projected <- kept
  seconds <- replicate(rounds, lapply(backends, function(backend) {
    run <- ancify_run(
      config, backend = backend, threads = 2, resume = FALSE, progress = FALSE, verbose = FALSE
    )
    unlist(attr(run, "seconds"))
  }), simplify = FALSE)
  least <- lapply(seq_along(backends), function(i) do.call(pmin, lapply(seconds, `[[`, i)))
  for (phase in Reduce(union, lapply(least, names))) {
    of <- vapply(least, function(one) one[phase], 0)
    cat(sprintf(
      "%-72s %s\n",
      sprintf("1 x 100 Mb, projections %s, 2 threads, phase %s, seconds",
              if (kept) "kept" else "not kept", phase),
      paste(backends, sprintf("%.2f", of), collapse = "  ")
    ))
  }
}

if (nrow(available_gpus())) {
  for (kept in c(TRUE, FALSE)) phases_side_by_side(c("cpu", "gpu"), kept)
} else {
  cat("Phases are not compared with a GPU's:", attr(available_gpus(), "reason"), "\n")
}

# HKY85 with gamma rates, on the counts of the same run; a genome has as many patterns.
config <- config_of(folder, 24, 1e6)
ancify_run(config, "project", threads = 2, progress = FALSE, verbose = FALSE)
counts <- count_patterns(config, threads = 2)
counts$count <- counts$count * 100
fit <- best(function() {
  fit_substitution_model(counts, "((((focal,s0),s1),s2),s3);", gamma = TRUE, threads = 2)
})
unlink(file.path(folder, "out"), recursive = TRUE)
what <- sprintf("fitting HKY85 with gamma to %d patterns of 5 species, seconds", nrow(
  unique(counts["pattern"])
))
report(what, fit, "below 5")

# Reading the human-chicken alignment of chromosome 4.
if (requireNamespace("CNEr", quietly = TRUE)) {
  axt <- system.file("extdata", "chr4.hg19.galGal3.net.axt.gz", package = "CNEr")
  theirs <- best(function() suppressWarnings(CNEr::readAxt(axt)))
  ours <- best(function() project_axt(axt, c(chr4 = 191154276), progress = FALSE))
  to_files <- best(function() {
    project_axt(axt, c(chr4 = 191154276), output_dir = file.path(folder, "out"), progress = FALSE)
  })
  projected <- shQuote(file.path(folder, "out", "chr4.fa"))
  copying <- best(function() {
    unlink(file.path(folder, "out", "copy"))
    system2("cp", c(projected, shQuote(file.path(folder, "out", "copy"))))
  })
  unlink(file.path(folder, "out"), recursive = TRUE)
  report("CNEr::readAxt over project_axt into memory", theirs / ours, "")
  report("CNEr::readAxt over project_axt into files", theirs / to_files, "at least 10")
  report("CNEr::readAxt over cp of what project_axt wrote", theirs / copying, "")
} else {
  cat("CNEr is not installed: its reader is not compared.\n")
}

# Evaluating 100 Mb of calls against a reference in lines of 100 bases, over R's reading of both
# as bytes, and over cat's.
n <- 1e8
letters <- sample(c("A", "C", "G", "T", "a", "n", "N"), 1e6, TRUE)
calls <- strrep(paste(letters, collapse = ""), n / 1e6)
evaluated <- file.path(folder, "evaluated")
dir.create(file.path(evaluated, "calls"), recursive = TRUE)
dir.create(file.path(evaluated, "reference"))
files <- file.path(evaluated, c("calls", "reference"), "chr1.fa")
writeLines(c(">chr1", calls), files[1])
lines <- substring(calls, seq(1, 1e6, 100), seq(100, 1e6, 100))
writeLines(c(">chr1", rep(lines, n / 1e6)), files[2])
sizes <- file.path(evaluated, "chrom.sizes")
writeLines(sprintf("chr1\t%.0f", n), sizes)
config <- list(
  focal_species = "focal", chromosome_lengths = sizes,
  outgroups = list(inner = species[1], outer = species[4]),
  work_dir = evaluated, output_dir = file.path(evaluated, "calls"),
  evaluation = list(reference_dir = file.path(evaluated, "reference"))
)
ours <- best(function() ancify_evaluate(config, threads = 1, progress = FALSE, verbose = FALSE))
in_r <- best(function() for (file in files) readBin(file, "raw", file.size(file)))
cat_too <- best(function() system2("cat", shQuote(files), stdout = FALSE))
unlink(evaluated, recursive = TRUE)
report("evaluating 100 Mb against a FASTA over readBin of both", ours / in_r, "")
report("evaluating 100 Mb against a FASTA over cat of both", ours / cat_too, "")

# Annotating a million records of ten samples, over bcftools copying them with as many threads.
if (nzchar(Sys.which("bcftools"))) {
  n <- 1e6
  set.seed(1)
  bases <- c("A", "C", "G", "T")
  variants <- file.path(folder, "variants.vcf")
  writeLines(c(
    "##fileformat=VCFv4.2", "##contig=<ID=chr1>",
    "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"copies\">",
    "##INFO=<ID=AF,Number=A,Type=Float,Description=\"frequency\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"genotype\">",
    paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", 1:10),
          collapse = "\t"),
    paste("chr1", sprintf("%d", seq_len(n) * 30), ".", sample(bases, n, TRUE),
          sample(bases, n, TRUE), "100", "PASS", sprintf("AC=%d;AF=%.4f", sample(20, n, TRUE),
                                                         runif(n)),
          "GT", paste(rep("0|1", 10), collapse = "\t"), sep = "\t")
  ), variants)
  system2("bcftools", c("view", "-Oz", "-o", shQuote(paste0(variants, ".gz")), shQuote(variants)))
  calls <- file.path(folder, "chr1.fa")
  writeLines(c(">chr1", paste(sample(c(bases, "a", "n", "N"), 30 * n, TRUE), collapse = "")), calls)
  from <- paste0(variants, ".gz")
  for (ending in c(".vcf.gz", ".bcf")) {
    to <- file.path(folder, paste0("annotated", ending))
    format <- if (ending == ".bcf") "-Ob" else "-Oz"
    theirs <- best(function() {
      system2("bcftools", c("view", "--threads", 1, format, "-o", shQuote(to), shQuote(from)))
    })
    ours <- best(function() annotate_vcf(from, calls, to, threads = 2, verbose = FALSE))
    report(sprintf("annotate_vcf, 2 threads, speed over bcftools view, %s", ending),
           theirs / ours, "at least 0.7")
  }
  unlink(c(variants, from, calls, file.path(folder, c("annotated.vcf.gz", "annotated.bcf"))))
} else {
  cat("bcftools is not installed: annotating is not compared.\n")
}
