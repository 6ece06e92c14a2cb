# Makes inst/extdata/lineage_sorting.tsv.gz: four million sites of a focal species and three
# outgroups in a ladder, near enough to each other that at many sites the gene tree is not the
# species tree. Run it from the repository root (a few minutes):
#
#   Rscript inst/script/make_sites.R
#
# All populations have a size of 30,000, the splits are 40,000, 120,000 and 200,000 generations ago,
# and bases mutate with a rate of 1.25e-8 a generation, transitions four times as often as each
# transversion (K80). 20,000 gene trees of 20 focal haplotypes and one of each outgroup have 200
# sites each. A row of the file is a kind of site: the outgroups' bases, that of the first focal
# haplotype, the other allele and its copies (`.` and 0 where all are the same), the base of the
# haplotypes' most recent common ancestor, and how many sites are so. The few sites with three
# alleles are left out.

# For simulated_tree
source(file.path("tests", "testthat", "helper-gene_trees.R"))

set.seed(20261121)
haplotypes <- 20
history <- list(
  splits = c(near1 = 40000, near2 = 120000, far = 200000), sizes = rep(30000, 3),
  focal_size = 30000
)
trees <- 20000
sites_a_tree <- 200
rate <- 1.25e-8
bases <- c("A", "C", "G", "T")
transition <- c(A = "G", C = "T", G = "A", T = "C")
transversions <- list(A = c("C", "T"), C = c("A", "G"), G = c("C", "T"), T = c("A", "G"))

mutated <- function(base) {
  if (runif(1) < 4 / 6) transition[[base]] else sample(transversions[[base]], 1)
}

# Which nodes have all of the focal haplotypes below them; the lowest is their common ancestor.
common_ancestor <- function(tree) {
  below <- numeric(length(tree$parent))
  below[seq_len(haplotypes)] <- 1
  for (i in seq_len(length(below) - 1)) {
    below[tree$parent[i]] <- below[tree$parent[i]] + below[i]
  }
  which(below == haplotypes)[1]
}

# The bases of all nodes at one site with a mutation on each of `branches`.
evolved <- function(tree, branches) {
  root <- length(tree$parent)
  base <- character(root)
  base[root] <- sample(bases, 1)
  for (i in rev(seq_len(root - 1))) {
    base[i] <- base[tree$parent[i]]
    for (hit in which(branches == i)) base[i] <- mutated(base[i])
  }
  base
}

kind_of_site <- function(base, tree, ancestor) {
  focal <- base[seq_len(haplotypes)]
  other <- setdiff(focal, focal[1])
  if (length(other) > 1) return(NULL)
  outgroups <- paste(base[haplotypes + seq_along(history$splits)], collapse = "")
  paste(
    outgroups, focal[1], if (length(other)) other else ".", sum(focal != focal[1]), base[ancestor],
    sep = "\t"
  )
}

sites_of_tree <- function() {
  tree <- simulated_tree(haplotypes, history)
  ancestor <- common_ancestor(tree)
  root <- length(tree$parent)
  lengths <- tree$time[tree$parent[-root]] - tree$time[-root]
  hits <- rpois(1, rate * sum(lengths) * sites_a_tree)
  branches <- sample(root - 1, hits, replace = TRUE, prob = lengths)
  varied <- split(branches, sample(sites_a_tree, hits, replace = TRUE))
  kinds <- lapply(varied, function(branches) {
    kind_of_site(evolved(tree, branches), tree, ancestor)
  })
  constant <- sample(bases, sites_a_tree - length(varied), replace = TRUE)
  c(unlist(kinds), sprintf("%s\t%s\t.\t0\t%s", strrep(constant, 3), constant, constant))
}

count <- table(unlist(lapply(seq_len(trees), function(i) sites_of_tree())))
file <- gzfile(file.path("inst", "extdata", "lineage_sorting.tsv.gz"), "w", compression = 9)
header <- "outgroups\tfocal\tother\tcopies\tancestor\tsites"
writeLines(c(header, paste(names(count), count, sep = "\t")), file)
close(file)
