# How fast k-mers are counted and merged, beside Debian's kmc and kmc_tools.
#
#   Rscript benchmarks/kmers.R [ROUNDS] [MILLIONS OF BASES]      in the repository's root
#
# It takes the installed package, and simulates reads of a genome (5 Mb) 100 times over: 150 bases,
# 3 errors in 1,000, FASTQ by gzip. Jobs take turns; ratios are of medians.
library(ancify)
source("tests/testthat/helper-files.R")

arguments <- as.numeric(commandArgs(TRUE))
rounds <- if (length(arguments)) arguments[1] else 3
bases <- 1e6 * if (length(arguments) > 1) arguments[2] else 5
threads <- 2
memory <- 2e9
folder <- new_folder()
at <- function(name) file.path(folder, name)

# ---- Reads --------------------------------------------------------------------------------------

letters_of <- charToRaw("ACGT")

write_reads <- function(path, genome, coverage, length = 150, errors = 0.003) {
  file <- gzfile(path, "wb", compression = 1)
  on.exit(close(file))
  n <- bases * coverage / length
  at_once <- 20000
  for (first in seq(1, n, at_once)) {
    numbers <- seq(first, min(first + at_once - 1, n))
    starts <- sample.int(bases - length, length(numbers), replace = TRUE)
    read <- matrix(genome[outer(seq_len(length) - 1, starts, `+`)], length)
    turned <- stats::runif(length(numbers)) < 0.5
    read[, turned] <- 3L - read[length:1, turned]
    wrong <- which(stats::runif(length(read)) < errors)
    read[wrong] <- sample(0:3, length(wrong), replace = TRUE)
    quality <- matrix(sample(c(70L, 70L, 70L, 58L, 44L), length(read), replace = TRUE), length)
    texts <- function(codes) {
      substring(rawToChar(as.raw(codes)), (seq_along(numbers) - 1) * length + 1,
                seq_along(numbers) * length)
    }
    sequences <- texts(as.integer(letters_of)[read + 1])
    writeLines(as.vector(rbind(paste0("@read.", numbers), sequences, "+", texts(quality))), file)
  }
}

set.seed(1)
genome <- sample(0:3, bases, replace = TRUE)
write_reads(at("reads.fastq.gz"), genome, 100)
changed <- sample.int(bases, bases / 100)
other <- replace(genome, changed, sample(0:3, length(changed), replace = TRUE))
write_reads(at("other.fastq.gz"), other, 20)

# ---- Jobs ---------------------------------------------------------------------------------------

run <- function(...) stopifnot(system2(..., stdout = FALSE, stderr = FALSE) == 0)

kmc <- function(reads, out, k, more = NULL) {
  dir.create(at("work"), showWarnings = FALSE)
  run("kmc", c(paste0("-k", k), "-ci1", "-fq", paste0("-t", threads), "-m2", more, at(reads),
               at(out), at("work")))
}
ours <- function(reads, out, k) {
  count_kmers(at(reads), k, out = at(out), threads = threads, memory = memory)
}

# Seconds elapsed, and of the processor with that of programs.
seconds_of <- function(job) {
  gc()
  time <- system.time(job())
  c(elapsed = time[["elapsed"]], processor = sum(time[-3]))
}

# Medians over rounds in which the jobs take turns.
medians <- function(jobs) {
  times <- replicate(rounds, vapply(jobs, seconds_of, c(elapsed = 0, processor = 0)))
  apply(times, 1:2, stats::median)
}

report <- function(what, ratios) {
  cat(sprintf("%-52s elapsed %6.2f  processor %6.2f\n", what, ratios[1], ratios[2]))
}

counting <- medians(list(
  kmc = function() kmc("reads.fastq.gz", "theirs", 25),
  kmc_r = function() kmc("reads.fastq.gz", "theirs_r", 25, "-r"),
  ours = function() ours("reads.fastq.gz", "ours", 25),
  long = function() ours("reads.fastq.gz", "long", 55)
))
print(counting)
report("k = 25: time of KMC 3 over ours (at least 1.0)", counting[, "kmc"] / counting[, "ours"])
report("the same with its -r", counting[, "kmc_r"] / counting[, "ours"])
report("k = 55 over k = 25 (at most 2.2)", counting[, "long"] / counting[, "ours"])

# FASTA, beside R's copies of 8 bytes a k-mer into fresh memory
system2("sh", c("-c", shQuote(sprintf(
  "gzip -dc %s | awk 'NR %% 4 == 1 { print \">\" NR } NR %% 4 == 2' > %s",
  at("reads.fastq.gz"), at("reads.fa")
))))
histogram <- kmer_histogram(read_kmers(at("ours")))
kmers <- sum(histogram$count * histogram$kmers)
block <- raw(2^26)
fasta <- medians(list(
  ours = function() ours("reads.fa", "fasta", 25),
  copies = function() {
    for (i in seq_len(kmers * 8 / length(block))) {
      copy <- block
      copy[1] <- as.raw(1)
    }
  }
))
print(fasta)
report("k = 25 from FASTA over copies of 8 bytes a k-mer (at most 8)", fasta[, 1] / fasta[, 2])

y <- ours("other.fastq.gz", "other", 25)
x <- read_kmers(at("ours"))
tools <- function(operation) {
  function() {
    run("kmc_tools", c(paste0("-t", threads), "simple", at("ours"), at("other"), operation,
                       at("set")))
  }
}
sets <- medians(list(
  union_theirs = tools("union"), intersect_theirs = tools("intersect"),
  union = function() kmer_union(x, y, out = at("union"), threads = threads),
  intersect = function() kmer_intersect(x, y, out = at("intersect"), threads = threads)
))
print(sets)
report("union: time of kmc_tools over ours (at least 1.5)", sets[, 1] / sets[, 3])
report("intersection: the same", sets[, 2] / sets[, 4])
