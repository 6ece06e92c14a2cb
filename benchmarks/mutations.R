# Mutation spectra beside spectra of frequencies, and beside mutyper:
#
#   Rscript benchmarks/mutations.R [FOLDER]
#
# It takes the installed package, bgzip, and the Python that ANCIFY_MUTYPER_PYTHON names.
library(ancify)
source("benchmarks/timing.R")

folder <- c(commandArgs(TRUE), tempfile("mutations"))[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
set.seed(1)

# 100,000 sites of 100 samples on 20 Mb.
n <- 1e5
length <- 2e7
bases <- c("A", "C", "G", "T")
letters <- sample(bases, length, TRUE)
calls <- file.path(folder, "calls.fa")
writeLines(c(">chr1", paste(letters, collapse = "")), calls)
position <- sort(sample(10:(length - 10), n))
ancestral <- letters[position]
derived <- bases[(match(ancestral, bases) + sample(0:2, n, TRUE)) %% 4 + 1]
swapped <- runif(n) < 0.1
patterns <- replicate(500, {
  share <- runif(1)
  paste(sample(c("0|0", "0|1", "1|0", "1|1"), 100, TRUE, c((1 - share)^2, 1, 1, 1) + 0.01),
        collapse = "\t")
})
vcf <- file.path(folder, "sites.vcf")
writeLines(c(
  "##fileformat=VCFv4.2", sprintf("##contig=<ID=chr1,length=%d>", length),
  "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"copies\">",
  "##INFO=<ID=AN,Number=1,Type=Integer,Description=\"haplotypes\">",
  "##INFO=<ID=AF,Number=A,Type=Float,Description=\"frequency\">",
  "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"genotype\">",
  paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT",
          paste0("s", 1:100)), collapse = "\t"),
  paste("chr1", position, ".", ifelse(swapped, derived, ancestral),
        ifelse(swapped, ancestral, derived), ".", "PASS", "AC=50;AN=200;AF=0.25", "GT",
        sample(patterns, n, TRUE), sep = "\t")
), vcf)
system2("bgzip", c("-f", shQuote(vcf)))
vcf <- paste0(vcf, ".gz")
populations <- stats::setNames(rep(c("A", "B"), 50), paste0("s", 1:100))

side_by_side <- function(...) medians(list(...))

for (threads in 1:2) {
  seconds <- side_by_side(
    spectrum = function() {
      mutation_spectrum(vcf, calls, 3, populations, threads = threads, progress = FALSE)
    },
    sfs = function() {
      sfs_from_vcf(vcf, populations, ancestral = calls, threads = threads, progress = FALSE)
    }
  )
  report(sprintf("3-mer spectrum over sfs_from_vcf(), %d thread%s", threads,
                 if (threads == 1) "" else "s"), seconds[["spectrum"]] / seconds[["sfs"]],
         "at most 1.15")
  if (threads == 1) alone <- seconds[["spectrum"]]
}

python <- Sys.getenv("ANCIFY_MUTYPER_PYTHON", "python3")
program <- paste(shQuote(python), "-c 'from mutyper.cli import main; main()'")
typed <- file.path(folder, "typed.vcf")
run_theirs <- function(...) stopifnot(system(paste(program, ...)) == 0)
seconds <- side_by_side(
  variants = function() run_theirs("variants", shQuote(calls), shQuote(vcf), ">", shQuote(typed)),
  population = function() run_theirs("spectra --population", shQuote(typed), "> /dev/null"),
  samples = function() run_theirs("spectra", shQuote(typed), "> /dev/null"),
  ours = function() {
    mutation_spectrum(vcf, calls, 3, samples = TRUE, threads = 1, progress = FALSE)
  }
)
theirs <- seconds[["variants"]] + seconds[c("population", "samples")]
report("mutyper's types and spectrum over 3-mer spectrum", theirs[["population"]] / alone,
       "at least 20")
report("the same of each sample, samples = TRUE", theirs[["samples"]] / seconds[["ours"]], "")

# R's copies, into fresh memory
bytes <- readBin(calls, "raw", file.size(calls))
copies <- 20
seconds <- side_by_side(
  contexts = function() count_contexts(calls, 7, threads = 1, progress = FALSE),
  copy = function() {
    for (i in seq_len(copies)) {
      copy <- bytes
      copy[1] <- as.raw(0)
    }
  }
)
report("contexts of 20 Mb, k = 7, over R's copy of the calls",
       seconds[["contexts"]] / (seconds[["copy"]] / copies), "at most 4")
