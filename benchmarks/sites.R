# Spectra of a catalogue of sites, beside the reading of its file by bcftools:
#
#   Rscript benchmarks/sites.R [FOLDER [SITES]]
#
# It takes the installed package, bgzip and bcftools. The file of a million sites takes 0.6 GB; it
# is made once in FOLDER.
library(ancify)
source("benchmarks/timing.R")

arguments <- commandArgs(TRUE)
folder <- c(arguments, tempfile("sites"))[1]
n <- as.numeric(c(arguments, NA, 1e6)[2 + (length(arguments) < 2)])
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
set.seed(1)

# Fields as in gnomAD: AC, AN and AF of 40 populations, and the consequences by transcript.
words <- c("afr", "nfe", paste0(rep(c("amr", "asj", "eas", "fin", "mid", "sas"), each = 6), "_",
                                c("XX", "XY", "raw", "joint", "adj", "non")), "ami", "remaining")
most <- c(75e3, 1.2e6, rep(4e4, length(words) - 2))
length <- 2 * n
bases <- c("A", "C", "G", "T")
letters <- sample(bases, length, TRUE)
calls <- file.path(folder, "calls.fa")
writeLines(c(">chr1", paste(letters, collapse = "")), calls)

consequence <- function(n) {
  number <- function() sprintf("%011d", sample(1e9, n, TRUE))
  sprintf("T|missense_variant|MODERATE|G%d|ENSG%s|Transcript|ENST%s|protein_coding|%d/12||ENST%s",
          sample(2e4, n, TRUE), number(), number(), sample(12, n, TRUE), number()) |>
    paste0(".4:c.", sample(3000, n, TRUE), "C>T|ENSP", number(), ".1:p.Ala12Val|312|243|81|A/V|gCg",
           "/gTg|1||1||SNV||HGNC|HGNC:12|YES|NM_001005484.2||1|P1|CCDS30547.1||tolerated(0.07)")
}

# The records at some positions, in the columns of a VCF.
records_at <- function(position) {
  n <- length(position)
  counts <- lapply(seq_along(words), function(k) {
    called <- 2 * sample(most[k] / 2 * c(0.9, 1), n, TRUE) - 2 * sample(500, n, TRUE)
    copies <- pmin(called, rgeom(n, 1 / (1 + called / sample(c(1e5, 1e3, 10), n, TRUE))))
    sprintf("AC_%1$s=%2$.0f;AN_%1$s=%3$.0f;AF_%1$s=%4$.5e", words[k], copies, called,
            copies / called)
  })
  ancestral <- letters[position]
  derived <- bases[match(ancestral, bases) %% 4 + 1]
  swapped <- runif(n) < 0.1
  vep <- paste(consequence(n), consequence(n), consequence(n), sep = ",")
  paste("chr1", position, ".", ifelse(swapped, derived, ancestral),
        ifelse(swapped, ancestral, derived), ".", "PASS",
        paste(do.call(paste, c(counts, sep = ";")), paste0("vep=", vep), sep = ";"), sep = "\t")
}

vcf <- file.path(folder, sprintf("sites_%.0f.vcf.gz", n))
if (!file.exists(vcf)) {
  declared <- function(names, number, type) {
    sprintf("##INFO=<ID=%s,Number=%s,Type=%s,Description=\"x\">", names, number, type)
  }
  part <- paste0(vcf, ".part")
  pipe <- pipe(paste("bgzip -@ 2 >", shQuote(part)), "w")
  writeLines(c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=chr1,length=%.0f>", length),
    declared(paste0("AC_", words), "A", "Integer"), declared(paste0("AN_", words), "1", "Integer"),
    declared(paste0("AF_", words), "A", "Float"), declared("vep", ".", "String"),
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
  ), pipe)
  for (first in seq(1, n, 20000)) {
    writeLines(records_at(2L * as.integer(seq(first, min(first + 19999, n)))), pipe)
  }
  stopifnot(close(pipe) %in% list(NULL, 0L), file.rename(part, vcf))
}

populations <- info_populations(c("afr", "nfe"))
for (threads in 1:2) {
  seconds <- medians(list(
    spectrum = function() {
      sfs_from_vcf(vcf, populations, c(50, 50), calls, threads = threads, progress = FALSE)
    },
    view = function() {
      command <- sprintf("bcftools view -H --threads %d %s > /dev/null", threads - 1, shQuote(vcf))
      stopifnot(system(command) == 0)
    }
  ))
  report(sprintf("bcftools view over sfs_from_vcf() of two populations, %d thread%s", threads,
                 if (threads == 1) "" else "s"), seconds[["view"]] / seconds[["spectrum"]],
         "at least 0.7")
}
