# Whether calls depend on the strand: sequences and their reverse complements must give calls that
# are reverse complements, byte by byte.
#
#   Rscript benchmarks/accuracy/strand.R [MILLIONS OF POSITIONS]      in the repository's root
#
# Random trees of 2 to 12 outgroups, random models and histories, a tenth of the bases missing; 10
# million positions of each method by default. The method ml is not among them: its features are
# those of a trained model. Prints the number of calls that differ, and stops if there are any.
library(ancify)
for (helper in c("files", "oracle", "trees")) {
  source(sprintf("tests/testthat/helper-%s.R", helper))
}

positions <- commandArgs(TRUE)
positions <- 1e6 * if (length(positions)) as.numeric(positions[1]) else 10
rounds <- 20
set.seed(1)

reverse <- function(texts) {
  vapply(texts, function(text) {
    rawToChar(rev(charToRaw(chartr("ACGTacgt", "TGCAtgca", text))))
  }, "")
}

# A model that is the same on both strands.
symmetric_model <- function() {
  at <- stats::runif(1, 0.2, 0.3)
  rates <- stats::runif(4, 0.3, 4)
  substitution_model(
    "GTR", rates = rates[c(1, 2, 3, 4, 2, 1)], base_freqs = c(at, 0.5 - at, 0.5 - at, at),
    alpha = if (stats::runif(1) < 0.5) stats::runif(1, 0.3, 3)
  )
}

# Further arguments of call_ancestral(). `inner`: which of the species are inner outgroups.
arguments_of <- function(method, species, inner) {
  tree <- random_tree(c(species, "focal"), merge = 0.3)
  switch(
    method,
    voting = list(
      min_inner_freq = sample(min(2, sum(inner)), 1),
      min_outer_freq = sample(min(2, sum(!inner)), 1)
    ),
    parsimony = list(tree = tree, focal = "focal"),
    likelihood = list(tree = tree, focal = "focal", model = symmetric_model()),
    coalescent = list(
      history = coalescent_history(
        stats::setNames(sort(stats::runif(length(species), 1e5, 1e6)), species), 3e4, 3e4
      ), model = symmetric_model()
    )
  )
}

for (method in c("voting", "parsimony", "likelihood", "coalescent")) {
  differ <- 0
  open <- 0
  for (round in seq_len(rounds)) {
    # Each outgroup of the coalescent multiplies its preparation by 15.
    species <- paste0("s", seq_len(sample(2:(if (method == "coalescent") 3 else 12), 1)))
    n <- positions / rounds
    sequences <- random_columns(species, n)
    inner <- seq_along(species) <= ceiling(length(species) / 2)
    arguments <- arguments_of(method, species, inner)
    call <- function(sequences) {
      do.call(call_ancestral, c(
        list(sequences[inner], sequences[!inner], method, low = 0.1), arguments
      ))
    }
    forward <- charToRaw(call(sequences))
    differ <- differ + sum(forward != charToRaw(reverse(call(reverse(sequences)))))
    open <- open + sum(forward == charToRaw("n"))
  }
  cat(sprintf("%-12s %12s positions, %5.2f %% open, %d calls differ between the strands\n", method,
              format(positions, big.mark = ","), 100 * open / positions, differ))
  if (differ > 0) stop("calls by ", method, " depend on the strand")
}
