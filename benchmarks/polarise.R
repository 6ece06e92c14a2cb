# polarise() of a million records from four alignments, over inflating the inputs: by gzip -dc, and
# by the library that PROGRAM was built with.
#
#   Rscript benchmarks/polarise.R PROGRAM [FOLDER] [MILLIONS OF RECORDS]      a temporary one, 1
#
# PROGRAM is ancify_bench, which also simulates the alignments. Takes the installed package. A
# record stands at every hundredth base, and has the genotypes of five samples. On a busy machine,
# processor times are the better ones.
library(ancify)
source("benchmarks/simulated.R")
source("benchmarks/timing.R")

arguments <- commandArgs(TRUE)
program <- arguments[1]
folder <- if (length(arguments) > 1) arguments[2] else tempfile("polarise-")
n <- 1e6 * if (length(arguments) > 2) as.numeric(arguments[3]) else 1
length <- 100 * n
dir.create(folder, showWarnings = FALSE)
at <- function(name) file.path(folder, name)
set.seed(1)

# ---- The inputs ----------------------------------------------------------------------------------

invisible(system2(program, c("--floor", shQuote(folder), 1, sprintf("%.0f", length), 1),
                  stdout = TRUE))
config <- config_of(folder, 1, length)
invisible(ancify_run(config, "project", progress = FALSE, verbose = FALSE))
invisible(count_patterns(config))
focal <- readLines(file.path(config$work_dir, "projected", "focal", "chr1.fa"))[2]
unlink(config$work_dir, recursive = TRUE)

# REF is the focal base, and ALT a transition.
write_vcf <- function(path) {
  position <- 100 * seq_len(n)
  ref <- toupper(substring(focal, position, position))
  copies <- matrix(sample(c("0/0", "0/1", "1/1"), 5 * n, TRUE, c(0.6, 0.3, 0.1)), ncol = 5)
  records <- paste("chr1", sprintf("%.0f", position), ".", ref, chartr("ACGTN", "GTACA", ref),
                   "50", "PASS", sprintf("DP=%d", sample(20:60, n, TRUE)), "GT",
                   do.call(paste, c(asplit(copies, 2), sep = "\t")), sep = "\t")
  writeLines(c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=chr1,length=%.0f>", length),
    "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"depth\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"genotype\">",
    paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT",
            paste0("s", 1:5)), collapse = "\t"),
    records[ref != "N"]
  ), path)
}
write_vcf(at("in.vcf"))
vcf <- at("in.vcf.gz")
system2("bgzip", c("-c", shQuote(at("in.vcf"))), stdout = vcf)
axt <- stats::setNames(vapply(
  c(config$outgroups$inner, config$outgroups$outer), function(one) one$alignment, ""
), paste0("s", 0:3))

# ---- Times ---------------------------------------------------------------------------------------

for (threads in 1:2) {
  own <- inflating(program, threads, c(axt, vcf))
  to <- function(ending) {
    function() {
      polarise(vcf, axt, at(paste0("out", ending)), threads = threads, progress = FALSE,
               verbose = FALSE)
    }
  }
  compressing <- function() {
    system2("bgzip", c("-@", threads, "-c", shQuote(at("out.vcf"))), stdout = "/dev/null")
  }
  seconds <- both_medians(list(
    gzip = gunzip(c(axt, vcf)), text = to(".vcf"), bgzip = to(".vcf.gz"), compressing = compressing
  ))
  for (time in rownames(seconds)) {
    what <- sprintf("%d thread%s, %s: ", threads, if (threads == 1) "" else "s", time)
    floors <- c(seconds[time, "gzip"], own$seconds[[time]])
    names(floors) <- c("gzip -dc", own$library)
    for (floor in names(floors)) {
      over <- paste("over", floor)
      report(paste0(what, floor, " of the inputs, seconds"), floors[[floor]])
      report(paste0(what, "polarise() to .vcf, ", over), seconds[time, "text"] / floors[[floor]],
             "at most 1.5")
      report(paste0(what, "polarise() to .vcf.gz, ", over),
             seconds[time, "bgzip"] / floors[[floor]])
    }
    report(paste0(what, "bgzip of the .vcf alone, seconds"), seconds[time, "compressing"])
  }
}
cat("md5 of the .vcf:", tools::md5sum(at("out.vcf")), "\n")
if (length(arguments) < 2) unlink(folder, recursive = TRUE)
