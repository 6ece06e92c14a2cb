# A whole run on a MAF of many species, over inflating it: by gzip -dc, and by the library that
# PROGRAM was built with.
#
#   Rscript benchmarks/many_species.R PROGRAM [SPECIES] [MILLIONS OF BASES]      100 5
#
# PROGRAM is ancify_bench. Takes the installed package. The alignment is simulated along a random
# tree, in blocks of 20 to 400 columns; rows are missing from 15 % of the blocks, and 3 % of their
# bases are gaps.
library(ancify)
source("benchmarks/timing.R")

arguments <- commandArgs(TRUE)
program <- arguments[1]
numbers <- as.numeric(arguments[-1])
n_species <- if (length(numbers) > 0) numbers[1] else 100
n <- 1e6 * if (length(numbers) > 1) numbers[2] else 5
bases <- charToRaw("ACGT")
folder <- tempfile("many-species-")
dir.create(folder)
at <- function(name) file.path(folder, name)
set.seed(1)

# ---- The alignment -------------------------------------------------------------------------------

tree <- ape::rcoal(n_species, tip.label = c("focal", paste0("s", seq_len(n_species - 1))))
tree$edge.length <- tree$edge.length * 0.3 / max(ape::node.depth.edgelength(tree))
rates <- stats::rgamma(n, 0.6, 0.6)

# The sequences of all leaves, as codes from 0.
evolve <- function() {
  sequences <- list()
  below <- split(seq_len(nrow(tree$edge)), tree$edge[, 1])
  descend <- function(node, sequence) {
    if (node <= n_species) {
      sequences[[tree$tip.label[node]]] <<- sequence
      return(invisible())
    }
    for (edge in below[[as.character(node)]]) {
      chance <- 0.75 * (1 - exp(-4 / 3 * tree$edge.length[edge] * rates))
      changed <- which(stats::runif(n) < chance)
      child <- sequence
      step <- sample.int(3L, length(changed), TRUE)
      child[changed] <- (sequence[changed] + step) %% 4L
      descend(tree$edge[edge, 2], child)
    }
  }
  descend(n_species + 1, sample.int(4L, n, TRUE) - 1L)
  sequences
}

write_maf <- function(path) {
  sequences <- evolve()
  starts <- c(0, cumsum(sample(20:400, n / 100, TRUE)))
  starts <- starts[starts < n]
  sizes <- diff(c(starts, n))
  rows <- lapply(names(sequences), function(name) {
    text <- bases[1 + sequences[[name]]]
    gaps <- logical(n)
    if (name != "focal") gaps <- stats::runif(n) < 0.03
    text[gaps] <- charToRaw("-")
    pieces <- substring(rawToChar(text), starts + 1, starts + sizes)
    letters <- nchar(gsub("-", "", pieces, fixed = TRUE))
    line <- sprintf("s %s.chr1 %.0f %d + %.0f %s\n", name, starts, letters, n, pieces)
    line[letters == 0 | (name != "focal" & stats::runif(length(line)) < 0.15)] <- ""
    line
  })
  rows <- rows[order(names(sequences) != "focal")]
  file <- gzfile(path, "wb", compression = 4)
  on.exit(close(file))
  writeChar("##maf version=1\n", file, eos = NULL)
  at_once <- 1000
  for (first in seq(1, length(starts), at_once)) {
    some <- first:min(first + at_once - 1, length(starts))
    blocks <- do.call(paste0, c(list("a score=1\n"), lapply(rows, `[`, some), "\n"))
    writeChar(paste(blocks, collapse = ""), file, eos = NULL, useBytes = TRUE)
  }
}

maf <- at("all.maf.gz")
write_maf(maf)
writeLines(sprintf("chr1\t%.0f", n), at("chrom.sizes"))
outgroups <- lapply(setdiff(tree$tip.label, "focal"), function(name) {
  list(name = name, alignment = maf)
})
near <- seq_along(outgroups) <= length(outgroups) / 2
config <- list(
  focal_species = "focal", chromosome_lengths = at("chrom.sizes"), tree = ape::write.tree(tree),
  outgroups = list(inner = outgroups[near], outer = outgroups[!near]), work_dir = folder,
  output_dir = at("calls"), keep_projected = FALSE
)

# ---- Times ---------------------------------------------------------------------------------------

run_by <- function(method, threads) {
  config$method <- method
  function() {
    ancify_run(config, threads = threads, resume = FALSE, progress = FALSE, verbose = FALSE)
  }
}

cat(sprintf("%d species, %.0f Mb, a file of %.0f MB\n", n_species, n / 1e6, file.size(maf) / 1e6))
methods <- c("voting", "parsimony", "likelihood")
for (threads in 1:2) {
  own <- inflating(program, threads, maf)
  seconds <- both_medians(c(
    list(gzip = gunzip(maf)), stats::setNames(lapply(methods, run_by, threads), methods)
  ))
  for (time in rownames(seconds)) {
    floors <- c(seconds[time, "gzip"], own$seconds[[time]])
    names(floors) <- c("gzip -dc", own$library)
    for (floor in names(floors)) {
      what <- sprintf("%d thread%s, %s: ", threads, if (threads == 1) "" else "s", time)
      report(paste0(what, floor, " of the file, seconds"), floors[[floor]])
      for (method in methods) {
        report(sprintf("%swhole run by %s, over %s", what, method, floor),
               seconds[time, method] / floors[[floor]], "at most 2.5")
      }
    }
  }
}
unlink(folder, recursive = TRUE)
