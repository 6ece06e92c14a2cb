# Sites under the multispecies coalescent, one gene tree each, with a ladder of outgroups and Jukes
# and Cantor's model. Only gene trees with a mutation among the focal haplotypes' ancestors are
# kept; `weight` is their probability.

# The gene tree of one site: parents (0 for the root) and times of all nodes.
simulated_tree <- function(n, history) {
  outgroups <- length(history$splits)
  leaves <- n + outgroups
  parent <- time <- numeric(2 * leaves - 1)
  lineages <- seq_len(n)
  size <- history$focal_size[1]
  now <- 0
  node <- leaves
  # What ends a stretch of time: a change of the focal size, or an outgroup that joins.
  ends <- c(history$focal_times, history$splits, Inf)
  sizes <- c(history$focal_size[-1], history$sizes, NA)
  joining <- c(rep(0, length(history$focal_times)), seq_len(outgroups), 0)
  for (i in seq_along(ends)) {
    while (length(lineages) > 1) {
      now <- now + stats::rexp(1) * 2 * size / choose(length(lineages), 2)
      if (now > ends[i]) break
      pair <- sample(lineages, 2)
      node <- node + 1
      parent[pair] <- node
      time[node] <- now
      lineages <- c(setdiff(lineages, pair), node)
    }
    now <- ends[i]
    size <- sizes[i]
    if (joining[i] > 0) lineages <- c(lineages, n + joining[i])
  }
  list(parent = parent, time = time, leaves = leaves)
}

simulated_site <- function(n, history) {
  tree <- simulated_tree(n, history)
  root <- length(tree$parent)
  length <- c(tree$time[tree$parent[-root]], NA) - tree$time
  below <- c(rep(1, n), numeric(root - n))
  for (i in seq_len(root - 1)) {
    below[tree$parent[i]] <- below[tree$parent[i]] + if (i > tree$leaves || i <= n) below[i] else 0
  }
  within <- which(below > 0 & below < n & seq_len(root) < root)
  expected <- history$mutation_rate * length
  hits <- stats::rpois(root - 1, expected[-root])
  hits[within] <- 0
  sure <- sample(within, 1, prob = expected[within])
  hits[sure] <- 1
  base <- integer(root)
  base[root] <- sample(4, 1)
  for (i in rev(seq_len(root - 1))) {
    base[i] <- base[tree$parent[i]]
    for (hit in seq_len(hits[i])) base[i] <- sample(setdiff(1:4, base[i]), 1)
  }
  letters <- c("A", "C", "G", "T")[base]
  alleles <- unique(letters[seq_len(n)])
  data.frame(
    weight = sum(expected[within]), truth = letters[which(below == n)[1]],
    pattern = paste(letters[n + seq_along(history$splits)], collapse = ""),
    alleles = paste(alleles, collapse = "/"), count = sum(letters[seq_len(n)] == alleles[2])
  )
}

simulated_sites <- function(sites, n, history) {
  do.call(rbind, lapply(seq_len(sites), function(i) simulated_site(n, history)))
}

# ---- The oracle of sites that vary -------------------------------------------------------

# In one gene tree, for each count of the derived allele and each ancestral allele of `alleles`: the
# probability of the outgroups' bases and of one mutation among the focal haplotypes, by pruning.
counts_in_tree <- function(tree, n, pattern, alleles, mutation_rate) {
  root <- length(tree$parent)
  length <- c(tree$time[tree$parent[-root]], NA) - tree$time
  leaves <- seq_len(tree$leaves)
  focal <- c(rep(1, n), numeric(root - n))
  for (i in seq_len(root - 1)) focal[tree$parent[i]] <- focal[tree$parent[i]] + focal[i]
  is_within <- focal > 0 & focal < n
  within <- which(is_within)
  # Bases of focal lineages are known, and of the node that all of them come from.
  above <- vapply(seq_len(root), function(i) any(focal[tree$parent == i] == n), NA)
  known <- which(is_within | (focal == n & !above))
  only <- diag(4)
  dimnames(only) <- list(c("A", "C", "G", "T"), c("A", "C", "G", "T"))
  # A node's probability of what is below it, by its base
  at_leaves <- matrix(1, root, 4, dimnames = list(NULL, colnames(only)))
  for (i in leaves[leaves > n]) {
    base <- substr(pattern, i - n, i - n)
    if (base != "N") at_leaves[i, ] <- only[base, ]
  }
  stays <- (1 + 3 * exp(-4 / 3 * mutation_rate * length)) / 4
  in_subtree <- function(node, top) {
    while (node < top) node <- tree$parent[node]
    node == top
  }
  result <- matrix(0, n - 1, 2, dimnames = list(NULL, alleles))
  for (mutated in within) {
    derived <- vapply(known, in_subtree, NA, mutated)
    for (ancestral in 1:2) {
      partial <- at_leaves
      partial[known, ] <- only[alleles[ifelse(derived, 3 - ancestral, ancestral)], ]
      for (i in seq_len(root)) {
        if (i == root) next
        up <- if (is_within[i]) {
          if (i == mutated) rep(sum(partial[i, ]), 4) else partial[i, ]
        } else {
          stays[i] * partial[i, ] + (1 - stays[i]) / 3 * (sum(partial[i, ]) - partial[i, ])
        }
        partial[tree$parent[i], ] <- partial[tree$parent[i], ] * up
      }
      count <- focal[mutated]
      chance <- mutation_rate * length[mutated] * mean(partial[root, ])
      result[count, ancestral] <- result[count, ancestral] + chance
    }
  }
  result
}

# Means over gene trees, [count of the derived allele, ancestral allele].
oracle_tree_counts <- function(trees, n, pattern, alleles, mutation_rate) {
  all <- lapply(trees, counts_in_tree, n, pattern, alleles, mutation_rate)
  Reduce(`+`, all) / length(all)
}
