# The method of Keightley and Jackson (2018, Genetics 209:897), as est-sfs has it, in plain R. One
# tree holds for all sites, with branch lengths of its own. Sites with the same number of copies of
# their minor allele share a weight: how often the major one is ancestral. EM finds the weights.

# Kimura's two-parameter model over a branch: transitions are kappa times as frequent.
kimura <- function(length, kappa) {
  rate <- 1 / (kappa + 2)
  slow <- exp(-4 * rate * length)
  fast <- exp(-2 * (kappa + 1) * rate * length)
  result <- matrix((1 - slow) / 4, 4, 4, dimnames = list(bases, bases))
  result[cbind(c("A", "C", "G", "T"), c("G", "T", "A", "C"))] <- (1 + slow) / 4 - fast / 2
  diag(result) <- (1 + slow) / 4 + fast / 2
  result
}

# [base]: the probability of what lies beyond a branch, given the base at its near end.
beyond <- function(tree, kappa, letters, node, from) {
  at <- if (node <= length(tree$tip.label)) letters[[tree$tip.label[node]]] else "N"
  result <- if (at == "N") rep(1, 4) else as.numeric(bases == at)
  for (edge in which(tree$edge[, 1] == node | tree$edge[, 2] == node)) {
    other <- setdiff(tree$edge[edge, ], node)
    if (other == from) next
    result <- result *
      (kimura(tree$edge.length[edge], kappa) %*% beyond(tree, kappa, letters, other, node))
  }
  as.vector(result)
}

# A row for each pattern of the outgroups: its probability for each base of the focal species.
given_focal_base <- function(patterns, species, tree, kappa) {
  focal <- match("focal", tree$tip.label)
  rows <- lapply(strsplit(patterns, ""), function(letters) {
    beyond(tree, kappa, c(stats::setNames(as.list(letters), species), focal = "N"), focal, 0)
  })
  matrix(unlist(rows), ncol = 4, byrow = TRUE, dimnames = list(patterns, bases))
}

# Posteriors, a row for each site, of sites with `alleles` and `copies` of the second among `n`.
est_sfs <- function(sites, n, species, fit) {
  chances <- given_focal_base(
    unique(sites$outgroups), species, fit$tree, fit$model$kappa
  )[sites$outgroups, ]
  first <- substr(sites$alleles, 1, 1)
  second <- substr(sites$alleles, 3, 3)
  second_is_major <- sites$copies > n / 2
  rows <- seq_len(nrow(sites))
  major <- chances[cbind(rows, match(ifelse(second_is_major, second, first), bases))]
  minor <- chances[cbind(rows, match(ifelse(second_is_major, first, second), bases))]
  group <- pmin(sites$copies, n - sites$copies)
  major_is_ancestral <- rep(0.5, nrow(sites))
  for (iteration in 1:200) {
    weight <- stats::ave(major_is_ancestral * sites$sites, group, FUN = sum) /
      stats::ave(sites$sites, group, FUN = sum)
    # Neither allele is the major one of a tie.
    weight[2 * group == n] <- 0.5
    major_is_ancestral <- weight * major / (weight * major + (1 - weight) * minor)
  }
  posterior <- matrix(0, nrow(sites), 4, dimnames = list(NULL, bases))
  posterior[cbind(rows, match(first, bases))] <-
    ifelse(second_is_major, 1 - major_is_ancestral, major_is_ancestral)
  posterior[cbind(rows, match(second, bases))] <-
    ifelse(second_is_major, major_is_ancestral, 1 - major_is_ancestral)
  posterior
}
