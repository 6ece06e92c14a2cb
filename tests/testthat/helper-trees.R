# Oracles for trees: they try all assignments of bases to the inner nodes.

bases <- c("A", "C", "G", "T")

# A tree of named leaves with random lengths. `merge`: the share of inner branches to remove, which
# makes multifurcations.
random_tree <- function(species, merge = 0) {
  tree <- ape::rtree(length(species), tip.label = sample(species), br = function(n) {
    stats::runif(n, 0.01, 0.5)
  })
  inner <- tree$edge[, 2] > length(species)
  tree$edge.length[inner & stats::runif(length(inner)) < merge] <- 0
  ape::di2multi(tree)
}

# Random columns with missing bases: a character vector of sequences, named by species.
random_columns <- function(species, n, missing = 0.1) {
  columns <- matrix(sample(bases, n * length(species), replace = TRUE), nrow = n)
  # Related, because calls from random bases are all alike.
  columns[, -1] <- ifelse(
    stats::runif(n * (length(species) - 1)) < 0.6, columns[, 1], columns[, -1]
  )
  columns[stats::runif(length(columns)) < missing] <- "N"
  stats::setNames(apply(columns, 2, paste, collapse = ""), species)
}

# The node called: `node` or, by default, the focal leaf's parent, or the root.
oracle_node <- function(tree, focal, node = NULL) {
  if (!is.null(node)) {
    return(node)
  }
  if (is.null(focal)) {
    return(length(tree$tip.label) + 1)
  }
  tree$edge[tree$edge[, 2] == match(focal, tree$tip.label), 1]
}

# All assignments of bases (1 to 4) to the nodes: a matrix with a row for each. Leaves are as in
# `column`; a missing one can be any base.
assignments <- function(tree, column) {
  states <- c(
    lapply(match(column[tree$tip.label], bases), function(base) if (is.na(base)) 1:4 else base),
    rep(list(1:4), tree$Nnode)
  )
  as.matrix(expand.grid(states))
}

# One column's call: the bases at the node that need the fewest changes.
oracle_parsimony <- function(tree, column, focal = NULL, ties = "open", node = NULL) {
  column <- replace(column, focal, "N")[tree$tip.label]
  if (!any(column %in% bases)) {
    return("N")
  }
  all <- assignments(tree, column)
  changes <- rowSums(all[, tree$edge[, 1], drop = FALSE] != all[, tree$edge[, 2], drop = FALSE])
  best <- bases[sort(unique(all[changes == min(changes), oracle_node(tree, focal, node)]))]
  if (length(best) == 1) {
    best
  } else if (length(best) == 4 || ties == "open") {
    "n"
  } else {
    tolower(best[1])
  }
}

# exp(Q t) by its series, after halving t twenty times.
oracle_transitions <- function(model, time) {
  exchange <- matrix(0, 4, 4)
  exchange[lower.tri(exchange)] <- model$rates
  rates <- (exchange + t(exchange)) * rep(model$base_freqs, each = 4)
  diag(rates) <- -rowSums(rates)
  rates <- rates / -sum(model$base_freqs * diag(rates))
  step <- rates * time / 2^20
  result <- diag(4) + step + step %*% step / 2
  for (i in 1:20) result <- result %*% result
  result
}

# The rate of each class and its share: means of the gamma distribution's quantiles.
oracle_classes <- function(model) {
  rates <- 1
  if (!is.null(model$alpha)) {
    n <- model$n_rates
    cuts <- stats::qgamma(seq(0, 1, length.out = n + 1), model$alpha, model$alpha)
    rates <- n * diff(stats::pgamma(cuts, model$alpha + 1, model$alpha))
  }
  varying <- 1 - model$invariant
  list(
    rate = c(rates / varying, if (model$invariant > 0) 0),
    share = c(rep(varying / length(rates), length(rates)), if (model$invariant > 0) model$invariant)
  )
}

# The joint probabilities of a column and of each base at the node.
oracle_joint <- function(tree, model, column, focal = NULL, node = NULL) {
  column <- replace(column, focal, "N")
  all <- assignments(tree, column)
  classes <- oracle_classes(model)
  total <- 0
  for (i in seq_along(classes$rate)) {
    probability <- model$base_freqs[all[, length(tree$tip.label) + 1]]
    for (edge in seq_len(nrow(tree$edge))) {
      change <- oracle_transitions(model, tree$edge.length[edge] * classes$rate[i])
      probability <- probability * change[all[, tree$edge[edge, ]]]
    }
    total <- total + classes$share[i] * probability
  }
  node <- factor(all[, oracle_node(tree, focal, node)], 1:4)
  as.numeric(tapply(total, node, sum, default = 0))
}

column_of <- function(sequences, i) {
  vapply(sequences, substr, "", i, i)
}

# The primates' sequences in hg18's coordinates, hg18 last.
primates <- function() {
  folder <- dirname(test_data("primates_hg18_100k", "config.yaml"))
  project <- function(name) {
    project_axt(file.path(folder, paste0(name, ".axt")), c(chr1 = 1e5), progress = FALSE)[[1]]
  }
  c(
    vapply(c("panTro2", "ponAbe2", "rheMac2"), project, ""),
    hg18 = paste(readLines(file.path(folder, "ref.fa"))[-1], collapse = "")
  )
}

primate_counts <- function() {
  species <- primates()
  count_patterns(species[1:2], species[3], focal = species[4], progress = FALSE)
}

primate_topology <- "(((hg18,panTro2),ponAbe2),rheMac2);"

# PHAST's model file: list(tree =, model =, log_likelihood =).
read_phast <- function(path, name) {
  lines <- readLines(path)
  after <- function(label) sub(paste0("^", label, ": *"), "", grep(label, lines, value = TRUE))
  frequencies <- scan(text = after("BACKGROUND"), quiet = TRUE)
  rates <- as.matrix(utils::read.table(text = lines[grep("RATE_MAT", lines) + 1:4]))
  exchange <- rates / rep(frequencies, each = 4)
  exchange <- exchange[lower.tri(exchange)]
  model <- switch(name,
    JC69 = substitution_model("JC69"),
    HKY85 = substitution_model("HKY85", kappa = exchange[2] / exchange[1], frequencies),
    GTR = substitution_model("GTR", rates = exchange, base_freqs = frequencies)
  )
  list(
    tree = after("TREE"), model = model,
    log_likelihood = as.numeric(after("TRAINING_LNL"))
  )
}

# IQ-TREE's posteriors at named nodes, given the tree, its lengths and a model in IQ-TREE's words: a
# matrix for each node, with a row for each column of the alignment.
iqtree_posteriors <- function(alignment, tree, model, nodes) {
  prefix <- tempfile()
  topology <- paste0(prefix, ".nwk")
  writeLines(tree, topology)
  result <- run_program(
    "iqtree2", "-s", alignment, "-te", topology, "-blfix", "-m", model, "-asr", "-pre", prefix,
    "-nt", "1", "-redo", "-quiet"
  )
  testthat::expect_identical(result$status, 0L)
  table <- utils::read.table(paste0(prefix, ".state"), header = TRUE, comment.char = "#")
  sapply(nodes, function(node) {
    rows <- table[table$Node == node, ]
    as.matrix(rows[order(rows$Site), paste0("p_", bases)])
  }, simplify = FALSE)
}

# Every pattern of the primates' outgroups in one alignment. hg18 has a base in the last column
# alone: programs refuse sequences without a base.
masked_alignment <- function(path = tempfile(fileext = ".fa")) {
  columns <- as.matrix(expand.grid(rep(list(c(bases, "N")), 3)))
  columns <- columns[rowSums(columns != "N") > 0, ]
  outgroups <- apply(rbind(columns, "A"), 2, paste, collapse = "")
  names(outgroups) <- c("panTro2", "ponAbe2", "rheMac2")
  hg18 <- paste0(strrep("N", nrow(columns)), "A")
  all <- c(hg18 = hg18, outgroups)
  writeLines(paste0(">", names(all), "\n", all), path)
  list(path = path, outgroups = outgroups, sites = nrow(columns))
}

# Posteriors at hg18's node, and with hg18's lineage on the node above (PHAST's "ape").
primate_posteriors <- function(outgroups, tree, model, node = c("focal", "ape", "root")) {
  node <- match.arg(node)
  if (node == "root") {
    tree <- ape::drop.tip(ape::read.tree(text = tree), "hg18")
    focal <- NULL
  } else {
    focal <- "hg18"
  }
  if (node == "ape") {
    below <- ape::drop.tip(ape::read.tree(text = tree), "hg18")
    # hg18 has no base, so its branch may have any length.
    tree <- ape::bind.tree(
      below, ape::read.tree(text = "(hg18:1);"),
      where = ape::getMRCA(below, c("panTro2", "ponAbe2"))
    )
  }
  call_ancestral(
    outgroups[1:2], outgroups[3], "likelihood", tree, focal = focal, model = model,
    posterior = TRUE, threads = 1
  )$posterior
}

# A posterior at the focal leaf's parent by pruning from it, for trees of any size.
pruned_posterior <- function(tree, model, column, focal) {
  neighbours <- function(node) {
    list(
      node = c(tree$edge[tree$edge[, 1] == node, 2], tree$edge[tree$edge[, 2] == node, 1]),
      length = c(tree$edge.length[tree$edge[, 1] == node], tree$edge.length[tree$edge[, 2] == node])
    )
  }
  below <- function(node, from) {
    if (node <= length(tree$tip.label)) {
      base <- match(column[tree$tip.label[node]], bases)
      return(if (is.na(base)) rep(1, 4) else as.numeric(1:4 == base))
    }
    near <- neighbours(node)
    result <- rep(1, 4)
    for (i in which(near$node != from)) {
      change <- oracle_transitions(model, near$length[i])
      result <- result * as.vector(change %*% below(near$node[i], node))
    }
    result
  }
  joint <- model$base_freqs * below(oracle_node(tree, focal), 0)
  as.numeric(joint / sum(joint))
}
