# How fast chunks and reading frames are made, beside Biostrings::translate() of six frames.
#
#   Rscript benchmarks/viruses.R [ROUNDS] [MILLIONS OF BASES]      in the repository's root
#
# It takes the installed package, and simulates a FASTA file of contigs (1 to 50 kb). Jobs take
# turns; ratios are of medians.
library(ancify)
suppressPackageStartupMessages(library(Biostrings))

arguments <- as.numeric(commandArgs(TRUE))
rounds <- if (length(arguments)) arguments[1] else 5
bases <- 1e6 * if (length(arguments) > 1) arguments[2] else 5
fasta <- tempfile(fileext = ".fa")
set.seed(1)
genome <- paste(sample(c("A", "C", "G", "T"), bases, replace = TRUE), collapse = "")
cuts <- unique(c(0, cumsum(sample(1000:50000, bases / 1000, replace = TRUE))))
cuts <- c(cuts[cuts < bases], bases)
contigs <- substring(genome, head(cuts, -1) + 1, cuts[-1])
writeXStringSet(setNames(DNAStringSet(contigs), paste0("contig", seq_along(contigs))), fasta)
chunks <- chunk_sequences(fasta)

translate_six <- function() {
  for (strand in list(chunks, reverseComplement(chunks))) {
    for (first in 1:3) {
      frame <- subseq(strand, first)
      translate(subseq(frame, 1, 3 * (width(frame) %/% 3)), no.init.codon = TRUE,
                if.fuzzy.codon = "solve")
    }
  }
}
jobs <- list(
  theirs = translate_six,
  ours = function() six_frames(chunk_sequences(fasta)),
  chunks = function() chunk_sequences(fasta),
  frames = function() six_frames(chunks)
)
times <- replicate(rounds, vapply(jobs, function(job) {
  gc()
  sum(system.time(job())[1:2])
}, 0))
medians <- apply(times, 1, stats::median)
print(medians)
cat(sprintf("translate() of six frames over chunks and frames from FASTA (at least 10): %.1f\n",
            medians[["theirs"]] / medians[["ours"]]))
