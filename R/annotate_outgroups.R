# Facts about outgroups that polarise() establishes before it calls: species, lengths, tree and
# history.

# `tree`: the user's tree. If it lacks the focal species, calls are for its root.
check_polarised_species <- function(outgroups, focal, tree, method) {
  twice <- outgroups[duplicated(outgroups)]
  refuse_if(length(twice), "`from` has the outgroup %s twice: name each once.", quoted(twice[1]))
  refuse_if(focal %in% outgroups,
            "%s is an outgroup and `focal`: give the focal species another name.", quoted(focal))
  problem <- if (fits_history_of(method)) too_many_for_coalescent(length(outgroups))
  refuse_if(!is.null(problem), "`from`: %s", problem)
  if (is.null(tree) || length(outgroups) == 1) {
    return(invisible())
  }
  leaves <- input_faults(as_phylo(tree))$tip.label
  may_lack <- if (!fits_history_of(method)) focal
  refuse_if(!setequal(c(leaves, may_lack), c(focal, outgroups)),
            "The leaves of `tree` are %s, but the species are %s: name the leaves alike.",
            enumerate(quoted(leaves)), enumerate(quoted(c(focal, outgroups))))
}

# The lengths of the chromosomes with records: the `given` ones, or else `declared` by the VCF's
# header.
lengths_of_records <- function(declared, given) {
  lengths <- declared
  if (!is.null(given)) {
    all <- lengths_given(given, "chrom_lengths")
    lengths[] <- all[names(lengths)]
  }
  unknown <- names(lengths)[is.na(lengths) | lengths == 0]
  refuse_if(length(unknown), "The length of %s is not %s: give `chrom_lengths`.",
            enumerate(quoted(unknown)),
            if (is.null(given)) "in the VCF's header" else "in `chrom_lengths`")
  lengths
}

fits_history_of <- function(method) "history" %in% method_row(method)$fits

log_method <- function(log, method, outgroups, tree, guessed) {
  log(sprintf("Ancestral alleles by %s from %s", method, count_of(outgroups, "outgroup")))
  log(sprintf("Tree%s: %s", if (guessed) ", guessed by divergence" else "", tree))
}

# A Newick tree of the patterns' species, without branch lengths. The root is on the branch to the
# species most distant from the focal one.
guess_tree <- function(patterns) {
  distances <- jukes_cantor(patterns)
  focal <- attr(patterns, "focal")
  species <- rownames(distances)
  if (length(species) == 2) {
    return(sprintf("(%s);", paste(quoted_labels(species), collapse = ",")))
  }
  far <- species[which.max(distances[, focal])]
  rooted <- ape::root(ape::nj(distances), outgroup = far, resolve.root = TRUE)
  rooted$edge.length <- NULL
  newick_text(rooted, 10)
}

# Jukes-Cantor distances from the counts of site patterns. Saturated pairs, and pairs that share no
# position, get the largest distance.
jukes_cantor <- function(patterns) {
  species <- attr(patterns, "species")
  bases <- do.call(rbind, strsplit(toupper(patterns$pattern), ""))
  known <- matrix(bases %in% c("A", "C", "G", "T"), nrow(bases))
  distance <- matrix(0, length(species), length(species), dimnames = list(species, species))
  for (i in seq_along(species)) {
    for (j in seq_len(i - 1)) {
      both <- known[, i] & known[, j]
      differ <- both & bases[, i] != bases[, j]
      share <- sum(patterns$count[differ]) / max(sum(patterns$count[both]), 1)
      if (!any(both)) share <- 0.75
      distance[i, j] <- distance[j, i] <- -0.75 * log(max(1 - 4 / 3 * share, 1e-3))
    }
  }
  distance
}

# The start of a search for a history: list(splits =, sizes =, into =), named by the outgroups. Two
# clades split at their mean distance. The focal species, or else the first outgroup, represents a
# clade.
start_of_history <- function(tree, patterns) {
  distances <- jukes_cantor(patterns)
  tree <- ape::reorder.phylo(as_phylo(tree), "postorder")
  focal <- attr(patterns, "focal")
  clades <- as.list(tree$tip.label)
  ages <- rep(0, length(clades))
  splits <- numeric()
  into <- character()
  for (node in unique(tree$edge[, 1])) {
    children <- tree$edge[tree$edge[, 1] == node, 2]
    clades[[node]] <- clades[[children[1]]]
    ages[node] <- ages[children[1]]
    for (child in children[-1]) {
      pair <- list(clades[[node]], clades[[child]])
      if (focal %in% pair[[2]]) pair <- rev(pair)
      age <- split_by_divergence(mean(distances[pair[[1]], pair[[2]]]))
      ages[node] <- max(age, 1.01 * ages[c(node, child)], 1)
      head <- pair[[1]][1]
      splits[pair[[2]][1]] <- ages[node]
      into[pair[[2]][1]] <- if (head == focal) "0" else head
      clades[[node]] <- unlist(pair)
    }
  }
  outgroups <- setdiff(attr(patterns, "species"), focal)
  splits <- splits[outgroups]
  list(splits = splits, sizes = size_by_split(splits), into = into[outgroups])
}
