# simulate_populations(folder): what the vignette "From alignments to a population's history" is
# about. Two populations of which everything is known: their gene trees by the coalescent, a genome
# of each of three outgroups, and files as a project has them.
#
# Time is in units of 2 N generations, where N is the size of the ancestral population, and sizes
# are in units of N. An ancestral population splits at `time` ago into A and B, of sizes nu1 and
# nu2, with migration at rate m in both directions. Loci do not recombine, and are independent of
# each other.

bases <- c("A", "C", "G", "T")

# Sequences are numbers from 0 to 3; Jukes and Cantor's model.
with_substitutions <- function(sequence, share) {
  hit <- which(runif(length(sequence)) < share)
  replace(sequence, hit, other_base(sequence[hit]))
}

other_base <- function(base) (base + sample(3, length(base), replace = TRUE)) %% 4

# A gene tree of haplotypes in the populations 1 and 2: of each branch its length, and which
# haplotypes are below it.
gene_tree <- function(population, history) {
  n <- length(population)
  # Nodes of the tree: haplotypes first, then their ancestors. `lineages` are those that there are
  # now, in the populations `population`.
  below <- matrix(FALSE, 2 * n - 1, n)
  below[cbind(1:n, 1:n)] <- TRUE
  lengths <- born <- numeric(2 * n - 1)
  lineages <- 1:n
  newest <- n
  now <- 0
  sizes <- c(history$nu1, history$nu2)
  rate <- history$m
  while (length(population) > 1) {
    counts <- tabulate(population, 2)
    rates <- c(counts * (counts - 1) / 2 / sizes, counts * rate)
    wait <- rexp(1, sum(rates))
    if (now < history$time && now + wait > history$time) {
      now <- history$time
      population[] <- 1L
      sizes[1] <- 1
      rate <- 0
      next
    }
    now <- now + wait
    what <- sample(4, 1, prob = rates)
    if (what > 2) {
      mover <- pick(which(population == what - 2), 1)
      population[mover] <- 5L - what
      next
    }
    pair <- pick(which(population == what), 2)
    parted <- lineages[pair]
    lengths[parted] <- now - born[parted]
    newest <- newest + 1
    born[newest] <- now
    below[newest, ] <- below[parted[1], ] | below[parted[2], ]
    lineages <- c(lineages[-pair], newest)
    population <- c(population[-pair], what)
  }
  list(lengths = lengths[-newest], below = below[-newest, ])
}

pick <- function(x, n) x[sample(length(x), n)]

# A row for each mutation: where in the locus, and which haplotypes have it.
mutations_of <- function(tree, theta, locus_length) {
  expected <- theta / 2 * tree$lengths
  n <- min(rpois(1, sum(expected)), locus_length)
  branch <- sample(length(expected), n, replace = TRUE, prob = expected)
  list(position = sort(sample(locus_length, n)), has = tree$below[branch, , drop = FALSE])
}

write_axt <- function(path, focal, other, block, keep) {
  starts <- lapply(focal, function(sequence) seq(1, length(sequence), by = block))
  lines <- lapply(names(focal), function(name) {
    lapply(starts[[name]][runif(length(starts[[name]])) < keep], function(start) {
      at <- start:min(start + block - 1, length(focal[[name]]))
      where <- sprintf("%s %.0f %.0f", name, start, max(at))
      rows <- c(letters_of(focal[[name]][at]), letters_of(other[[name]][at]))
      c(paste(where, where, "+ 9500"), rows, "")
    })
  })
  blocks <- do.call(c, lines)
  for (i in seq_along(blocks)) blocks[[i]][1] <- paste(i - 1, blocks[[i]][1])
  connection <- gzfile(path, "w")
  on.exit(close(connection))
  writeLines(unlist(blocks), connection)
}

letters_of <- function(sequence) paste(bases[sequence + 1], collapse = "")

write_vcf <- function(path, variants, genotypes, lengths) {
  samples <- paste0("s", seq_len(ncol(genotypes)))
  header <- c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=%s,length=%.0f>", names(lengths), lengths),
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">",
    paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", samples),
          collapse = "\t")
  )
  records <- paste(variants$chromosome, variants$position, ".", variants$ref, variants$alt, ".",
                   "PASS", ".", "GT", apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  connection <- gzfile(path, "w")
  on.exit(close(connection))
  writeLines(c(header, records), connection)
}

# Writes into the folder chrom.sizes, near1.axt.gz, near2.axt.gz, far.axt.gz, variants.vcf.gz and
# populations.txt. Gives a data frame of the variants, with the truly ancestral base. The reference
# genome is a haplotype of population A that is not among the samples. `theta` is 4 N times the
# mutation rate of a base.
simulate_populations <- function(folder, history, theta = 1e-3, diploids = c(A = 8, B = 8),
                                 loci = 2000, locus_length = 2000) {
  population <- c(rep(1:2, 2 * diploids), 1L)
  lengths <- c(chr1 = loci / 2, chr2 = loci / 2) * locus_length
  root <- sample(4, loci * locus_length, replace = TRUE) - 1
  inner <- with_substitutions(root, 0.022)
  ancestor <- with_substitutions(inner, 0.002)
  genomes <- list(
    near1 = with_substitutions(ancestor, 0.006), near2 = with_substitutions(inner, 0.008),
    far = with_substitutions(root, 0.03)
  )
  # The base of the haplotypes' common ancestor.
  common <- with_substitutions(ancestor, 0.0055)

  found <- lapply(seq_len(loci), function(i) {
    found <- mutations_of(gene_tree(population, history), theta * locus_length, locus_length)
    found$position <- found$position + (i - 1) * locus_length
    found
  })
  at <- unlist(lapply(found, `[[`, "position"))
  has <- do.call(rbind, lapply(found, `[[`, "has"))
  of_reference <- has[, length(population)]
  derived <- other_base(common[at])
  focal <- replace(common, at[of_reference], derived[of_reference])

  n <- length(population) - 1
  varies <- rowSums(has[, 1:n]) %in% seq_len(n - 1)
  in_chr2 <- at > lengths[["chr1"]]
  variants <- data.frame(
    chromosome = names(lengths)[1 + in_chr2], position = at - ifelse(in_chr2, lengths[["chr1"]], 0),
    ref = bases[focal[at] + 1], alt = bases[ifelse(of_reference, common[at], derived) + 1],
    ancestral = bases[common[at] + 1]
  )[varies, ]
  alternative <- (has[, 1:n] != of_reference)[varies, ] + 0
  first <- seq(1, n, by = 2)
  both <- paste(alternative[, first], alternative[, first + 1], sep = "|")
  genotypes <- matrix(both, ncol = n / 2)

  chromosome <- rep(names(lengths), lengths)
  focal <- split(focal, chromosome)
  for (name in names(genomes)) {
    write_axt(file.path(folder, paste0(name, ".axt.gz")), focal, split(genomes[[name]], chromosome),
              block = 50000, keep = if (name == "far") 0.9 else 0.98)
  }
  write_vcf(file.path(folder, "variants.vcf.gz"), variants, genotypes, lengths)
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), file.path(folder, "chrom.sizes"))
  writeLines(paste0("s", seq_len(n / 2), "\t", rep(names(diploids), diploids)),
             file.path(folder, "populations.txt"))
  variants
}
