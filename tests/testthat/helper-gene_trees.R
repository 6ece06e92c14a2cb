# Sites under the multispecies coalescent, one gene tree each, with a ladder of outgroups and Jukes
# and Cantor's model. Only gene trees with a mutation among the focal haplotypes' ancestors are
# kept; `weight` is their probability.

# The gene tree of one site: parents (0 for the root) and times of all nodes.
simulated_tree <- function(n, history) {
  outgroups <- length(history$splits)
  leaves <- n + outgroups
  parent <- time <- numeric(2 * leaves - 1)
  lineages <- seq_len(n)
  size <- history$focal_size
  now <- 0
  node <- leaves
  for (split in c(seq_len(outgroups), Inf)) {
    end <- if (is.finite(split)) history$splits[[split]] else Inf
    while (length(lineages) > 1) {
      now <- now + stats::rexp(1) * 2 * size / choose(length(lineages), 2)
      if (now > end) break
      pair <- sample(lineages, 2)
      node <- node + 1
      parent[pair] <- node
      time[node] <- now
      lineages <- c(setdiff(lineages, pair), node)
    }
    if (is.finite(split)) {
      now <- end
      size <- history$sizes[[split]]
      lineages <- c(lineages, n + split)
    }
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
