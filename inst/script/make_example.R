# Makes inst/extdata/example: three chromosomes of a focal species, and pairwise
# alignments of three outgroups to it, simulated on the tree
# (((focal, near1), near2), far). Run it from the repository root:
#
#   Rscript inst/script/make_example.R
#
# Distances between focal and near1, near2 and far are 1.2, 1.6 and 6 percent, as
# between human and chimp, gorilla and macaque. Transitions are twice as frequent
# as transversions; indels are short; part of each genome is soft-masked; part of
# the focal genome is unaligned.

set.seed(20240607)
folder <- file.path("inst", "extdata", "example")
lengths <- c(chr1 = 40000, chr2 = 25000, chrX = 10000)
bases <- c("A", "C", "G", "T")

# A sequence is a data frame: `base`, `masked`, and `site`, which tells homologous
# positions of different species. Inserted bases get new sites, in between.

random_sequence <- function(n) {
  data.frame(
    base = sample(bases, n, replace = TRUE, prob = c(0.3, 0.2, 0.2, 0.3)),
    site = as.numeric(seq_len(n)),
    masked = masked_runs(n)
  )
}

# Alternating runs, about 40 % of the sequence masked.
masked_runs <- function(n) {
  runs <- 2 * ceiling(n / 200)
  ends <- cumsum(1 + rgeom(runs, rep(c(1 / 600, 1 / 400), length.out = runs)))
  findInterval(seq_len(n) - 1, ends) %% 2 == 1
}

substitute_bases <- function(base, share) {
  transition <- c(A = "G", C = "T", G = "A", T = "C")
  transversions <- list(A = c("C", "T"), C = c("A", "G"), G = c("C", "T"), T = c("A", "G"))
  for (i in which(runif(length(base)) < share)) {
    base[i] <- if (runif(1) < 2 / 3) {
      transition[[base[i]]]
    } else {
      sample(transversions[[base[i]]], 1)
    }
  }
  base
}

# One branch of the tree: substitutions, and an eighth as many indels.
evolve <- function(sequence, share) {
  sequence$base <- substitute_bases(sequence$base, share)
  n_indels <- rbinom(1, nrow(sequence), share / 8)
  for (start in sort(sample(nrow(sequence) - 30, n_indels), decreasing = TRUE)) {
    size <- 1 + min(rgeom(1, 0.3), 20)
    if (runif(1) < 0.5) {
      sequence <- sequence[-seq(start, length.out = size), ]
    } else {
      sequence <- insert(sequence, start, size)
    }
  }
  rownames(sequence) <- NULL
  sequence
}

insert <- function(sequence, after, size) {
  site <- sequence$site[after + 0:1]
  new <- data.frame(
    base = sample(bases, size, replace = TRUE),
    site = site[1] + diff(site) * sort(runif(size)),
    masked = sequence$masked[after]
  )
  rbind(sequence[seq_len(after), ], new, sequence[-seq_len(after), ])
}

letters_of <- function(sequence) {
  ifelse(sequence$masked, tolower(sequence$base), sequence$base)
}

# Rows of the alignment of two sequences: a column for each site of either.
align <- function(focal, other) {
  sites <- sort(union(focal$site, other$site))
  row <- function(sequence) {
    column <- letters_of(sequence)[match(sites, sequence$site)]
    ifelse(is.na(column), "-", column)
  }
  list(focal = row(focal), other = row(other))
}

# First and last columns of blocks. Half of them follow on the block before, and
# an unaligned stretch lies before each of the others.
block_bounds <- function(n, unaligned) {
  size <- 200 + rgeom(ceiling(n / 300), 1 / 1200)
  gap <- rbinom(length(size), 1, 0.5) * rgeom(length(size), 1 / (2800 * unaligned))
  ends <- matrix(cumsum(rbind(gap, size)), nrow = 2)
  bounds <- data.frame(first = ends[1, ] + 1, last = pmin(ends[2, ], n))
  bounds[bounds$first + 50 < n, ]
}

# A net alignment in AXT form, of focal's chromosome to one of the outgroup. A
# fifth of the blocks lie on the outgroup's minus strand, whose coordinates count
# from the other end.
axt_blocks <- function(rows, chromosome, unaligned) {
  bounds <- block_bounds(length(rows$focal), unaligned)
  position <- lapply(rows, function(row) cumsum(row != "-"))
  total <- position$other[length(position$other)]
  lapply(seq_len(nrow(bounds)), function(i) {
    columns <- seq(bounds$first[i], bounds$last[i])
    # Net blocks begin and end with an aligned column.
    aligned <- which(rows$focal[columns] != "-" & rows$other[columns] != "-")
    columns <- columns[seq(min(aligned), max(aligned))]
    ends <- range(columns)
    other <- position$other[ends]
    strand <- sample(c("+", "-"), 1, prob = c(0.8, 0.2))
    if (strand == "-") {
      other <- rev(total + 1 - other)
    }
    same <- toupper(rows$focal[columns]) == toupper(rows$other[columns])
    gap <- rows$focal[columns] == "-" | rows$other[columns] == "-"
    score <- 95 * sum(same) - 70 * sum(!same & !gap) - 30 * sum(gap)
    c(
      paste(
        chromosome, paste(position$focal[ends], collapse = " "),
        chromosome, paste(other, collapse = " "), strand, score
      ),
      paste(rows$focal[columns], collapse = ""),
      paste(rows$other[columns], collapse = ""),
      ""
    )
  })
}

write_gz <- function(lines, name) {
  connection <- gzfile(file.path(folder, name), "wb", compression = 9)
  on.exit(close(connection))
  writeLines(lines, connection)
}

simulate_chromosome <- function(n) {
  # A little longer at first, for deletions; cut to its length at the end.
  root <- random_sequence(n + 200)
  far <- evolve(root, 0.03)
  inner <- evolve(root, 0.022)
  near2 <- evolve(inner, 0.008)
  ancestor <- evolve(inner, 0.002)
  near1 <- evolve(ancestor, 0.006)
  focal <- evolve(ancestor, 0.006)[seq_len(n), ]
  last <- max(focal$site)
  c(
    list(focal = focal, ancestor = ancestor),
    lapply(list(near1 = near1, near2 = near2, far = far), function(s) s[s$site <= last, ])
  )
}

genomes <- lapply(lengths, simulate_chromosome)

dir.create(folder, showWarnings = FALSE, recursive = TRUE)
writeLines(
  paste(names(lengths), format(lengths, trim = TRUE, scientific = FALSE), sep = "\t"),
  file.path(folder, "chrom.sizes")
)

unaligned <- c(near1 = 0.02, near2 = 0.03, far = 0.12)
for (species in names(unaligned)) {
  blocks <- do.call(c, lapply(names(genomes), function(chromosome) {
    genome <- genomes[[chromosome]]
    axt_blocks(align(genome$focal, genome[[species]]), chromosome, unaligned[[species]])
  }))
  for (i in seq_along(blocks)) {
    blocks[[i]][1] <- paste(i - 1, blocks[[i]][1])
  }
  write_gz(c("##aligner=simulated", unlist(blocks)), paste0(species, ".axt.gz"))
}

fasta <- function(sequences) {
  rbind(paste0(">", names(sequences)), sequences)
}

one_line <- function(letters) {
  paste(letters, collapse = "")
}

focal <- vapply(genomes, function(genome) one_line(letters_of(genome$focal)), "")
write_gz(fasta(focal), "focal.fa.gz")
ancestral <- vapply(genomes, function(genome) {
  base <- genome$ancestor$base[match(genome$focal$site, genome$ancestor$site)]
  one_line(ifelse(is.na(base), "N", base))
}, "")
write_gz(fasta(ancestral), "ancestor.fa.gz")

# ---- Variants -------------------------------------------------------------------------------

# 1,000 sites at which ten diploid samples differ. Many derived alleles are rare, as in a population
# that has grown. The reference genome carries a derived allele as often as any haplotype does; such
# sites are where it differs from the ancestor.
genome <- data.frame(
  chromosome = rep(names(lengths), lengths), position = sequence(lengths),
  focal = unlist(strsplit(toupper(focal), "")), ancestor = unlist(strsplit(toupper(ancestral), ""))
)
genome <- genome[genome$focal %in% bases & genome$ancestor %in% bases, ]

set.seed(1)
haplotypes <- 20
number <- seq_len(haplotypes - 1)
derived <- sample(number, 1000, replace = TRUE, prob = number^-1.5)
derived_in_focal <- runif(1000) < derived / haplotypes
changed <- which(genome$focal != genome$ancestor)
rows <- integer(1000)
rows[derived_in_focal] <- sample(changed, sum(derived_in_focal))
rows[!derived_in_focal] <- sample(seq_len(nrow(genome))[-changed], sum(!derived_in_focal))
sites <- genome[rows, ]
transition <- c(A = "G", C = "T", G = "A", T = "C")
sites$alt <- ifelse(derived_in_focal, sites$ancestor, transition[sites$focal])
copies <- ifelse(derived_in_focal, haplotypes - derived, derived)

genotypes <- vapply(copies, function(n) {
  alleles <- sample(rep(c(1, 0), c(n, haplotypes - n)))
  paste(alleles[c(TRUE, FALSE)], alleles[c(FALSE, TRUE)], sep = "|", collapse = "\t")
}, "")
samples <- sprintf("s%02d", seq_len(haplotypes / 2))
header <- c(
  "##fileformat=VCFv4.2", sprintf("##contig=<ID=%s,length=%.0f>", names(lengths), lengths),
  "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">",
  paste(c("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT", samples), collapse = "\t")
)
records <- sprintf(
  "%s\t%d\t.\t%s\t%s\t.\tPASS\t.\tGT\t%s", sites$chromosome, sites$position, sites$focal,
  sites$alt, genotypes
)
in_order <- order(match(sites$chromosome, names(lengths)), sites$position)
write_gz(c(header, records[in_order]), "variants.vcf.gz")
