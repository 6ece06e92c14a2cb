# Sequencing at low depth, simulated read by read.

# A site a row, of individuals with `derived` copies among their haplotypes: matrices of depths and
# of derived reads, with a row a site and a column an individual. `individuals`: of each population;
# `derived`: a column for each.
simulate_reads <- function(derived, individuals, depth) {
  genotypes <- do.call(cbind, lapply(seq_along(individuals), function(k) {
    n <- individuals[k]
    t(vapply(derived[, k], function(copies) {
      haplotypes <- sample.int(2 * n) <= copies
      haplotypes[seq_len(n)] + haplotypes[n + seq_len(n)]
    }, numeric(n)))
  }))
  depths <- matrix(stats::rpois(length(genotypes), depth), nrow(genotypes))
  list(
    depths = depths,
    reads = matrix(stats::rbinom(length(depths), depths, genotypes / 2), nrow(genotypes))
  )
}

# Phred-scaled likelihoods of 0, 1 and 2 copies, with reads of this error.
phred_of_reads <- function(reads, depths, error = 1e-3) {
  powers <- lapply(c(error, 0.5, 1 - error), function(p) {
    reads * log10(p) + (depths - reads) * log10(1 - p)
  })
  best <- do.call(pmax, powers)
  lapply(powers, function(power) round(-10 * (power - best)))
}

# A VCF of the sites that have enough derived reads. Every other site has the derived base in REF.
# `error`: of a read, by its quality.
write_reads_vcf <- function(simulated, reads = 2, error = 1e-3,
                            path = tempfile(fileext = ".vcf")) {
  found <- rowSums(simulated$reads) >= reads
  t <- simulated$reads[found, , drop = FALSE]
  depths <- simulated$depths[found, , drop = FALSE]
  swapped <- seq_len(nrow(t)) %% 2 == 0
  t[swapped, ] <- depths[swapped, ] - t[swapped, ]
  call <- ifelse(depths == 0, "./.", ifelse(t == 0, "0/0", ifelse(t == depths, "1/1", "0/1")))
  pl <- do.call(paste, c(lapply(phred_of_reads(t, depths, error), as.vector), sep = ","))
  cells <- matrix(paste(call, depths, pl, sep = ":"), nrow(t))
  sites <- paste("1", sprintf("%d", 10L * seq_len(nrow(t))), ".", "A", "C", ".", ".",
                 ifelse(swapped, "AA=C", "AA=A"), "GT:DP:PL", sep = "\t")
  declared <- c(
    "##fileformat=VCFv4.2", "##contig=<ID=1>",
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">",
    "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"d\">",
    "##FORMAT=<ID=PL,Number=G,Type=Integer,Description=\"p\">"
  )
  columns <- c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT",
               paste0("s", seq_len(ncol(t))))
  writeLines(c(
    declared, paste(columns, collapse = "\t"),
    paste(sites, apply(cells, 1, paste, collapse = "\t"), sep = "\t")
  ), path)
  path
}

# The samples' populations in such a file.
populations_of_reads <- function(individuals) {
  stats::setNames(rep(names(individuals), individuals), paste0("s", seq_len(sum(individuals))))
}

# Sites drawn from a spectrum of all haplotypes: a row of derived copies each.
draw_sites <- function(spectrum) {
  counts <- stats::rpois(length(spectrum), ifelse(attr(spectrum, "mask"), 0, spectrum))
  arrayInd(rep(seq_along(counts), counts), dim(spectrum)) - 1
}

# ---- Oracles -------------------------------------------------------------------------------------

# All placements of copies, all depths and all reads, one by one: the chance that `copies` of one
# population are seen as 0 to `size`, for each number of derived reads up to `reads`.
oracle_called <- function(copies, depths, individuals, reads, size) {
  result <- matrix(0, size + 1, reads + 1)
  all_depths <- as.matrix(expand.grid(rep(list(seq_along(depths) - 1), individuals)))
  placements <- utils::combn(2 * individuals, copies, simplify = FALSE)
  for (placed in placements) {
    genotype <- tabulate((placed + 1) %/% 2, individuals)
    for (i in seq_len(nrow(all_depths))) {
      depth <- all_depths[i, ]
      chance <- prod(depths[depth + 1]) / length(placements)
      read <- as.matrix(expand.grid(lapply(depth, seq, from = 0)))
      for (j in seq_len(nrow(read))) {
        t <- read[j, ]
        called <- 2 * sum(depth > 0)
        if (called < size) next
        seen <- sum(ifelse(depth == 0 | t == 0, 0, ifelse(t == depth, 2, 1)))
        p <- chance * prod(stats::dbinom(t, depth, genotype / 2)) *
          stats::dhyper(0:size, seen, called - seen, size)
        to <- min(sum(t), reads) + 1
        result[, to] <- result[, to] + p
      }
    }
  }
  result
}

# The likelihood of each number of copies, from likelihoods of each individual's genotypes (a column
# each), by all genotypes one by one.
oracle_sample_likelihoods <- function(likelihoods) {
  n <- ncol(likelihoods)
  all <- as.matrix(expand.grid(rep(list(0:2), n)))
  sums <- numeric(2 * n + 1)
  for (i in seq_len(nrow(all))) {
    g <- all[i, ]
    chance <- prod(choose(2, g) * likelihoods[cbind(g + 1, seq_len(n))])
    sums[sum(g) + 1] <- sums[sum(g) + 1] + chance
  }
  sums / choose(2 * n, 0:(2 * n))
}

# Plain EM of spectra: `sites` is a list of arrays, the likelihood of each cell.
oracle_spectrum_em <- function(sites, chances = 1, steps = 1000) {
  chances <- array(chances, dim(sites[[1]]))
  share <- array(1, dim(sites[[1]])) * (chances > 0)
  share <- share / sum(share)
  for (step in seq_len(steps)) {
    of_sites <- lapply(sites, function(one) {
      p <- ifelse(chances > 0, share / chances * one, 0)
      p / sum(p)
    })
    share <- Reduce(`+`, of_sites) / length(sites)
  }
  ifelse(chances > 0, share * length(sites) / chances, 0)
}
