# Trees: ape's class phylo, checked against the species and turned into the core's arrays.

# A phylo from a phylo, Newick text or the path of a Newick file. Anything else is a fault.
as_phylo <- function(tree) {
  if (inherits(tree, "phylo")) {
    check_phylo(tree)
    # ape may have NA for no name.
    if (anyNA(tree$node.label)) tree$node.label[is.na(tree$node.label)] <- ""
    check_lengths_of_branches(tree, tree$tip.label)
    return(tree)
  }
  if (!is_scalar(tree) || !is.character(tree)) {
    fault(tree, "tree", "give Newick text, a file with it, or a tree of the package ape.")
  }
  parse_newick(read_tree(tree, "tree", new_origin()))
}

# A hand-made phylo may be invalid.
check_phylo <- function(tree) {
  damaged <- function(problem) fault(tree, "tree", paste("it is damaged:", problem))
  if (!is.list(tree)) damaged("a phylo is a list.")
  leaves <- tree$tip.label
  if (!is.character(leaves) || !length(leaves) || anyNA(leaves)) {
    damaged("`tip.label` must be the leaves' names.")
  }
  if (!is_edge_matrix(tree$edge) || !is_rooted_tree(tree$edge, length(leaves), tree$Nnode)) {
    damaged(paste(
      "`edge` and `Nnode` do not describe a rooted tree. Its root is the first node after the",
      "leaves; each other node has one parent."
    ))
  }
  if (!is_one_each(tree$edge.length, nrow(tree$edge), is.numeric)) {
    damaged("`edge.length` must be a number for each row of `edge`.")
  }
  if (!is_one_each(tree$node.label, tree$Nnode, is.character)) {
    damaged("`node.label` must have a name for each inner node.")
  }
}

is_edge_matrix <- function(edge) is.matrix(edge) && is.numeric(edge) && ncol(edge) == 2

is_rooted_tree <- function(edge, n_leaves, n_inner) {
  if (!is.numeric(n_inner) || !isTRUE(all.equal(n_inner, nrow(edge) + 1 - n_leaves))) {
    return(FALSE)
  }
  root <- n_leaves + 1
  nodes <- seq_len(nrow(edge) + 1)
  inner <- nodes[-seq_len(n_leaves)]
  if (!setequal(edge[, 2], setdiff(nodes, root)) || !setequal(edge[, 1], inner)) {
    return(FALSE)
  }
  parent <- edge[match(nodes, edge[, 2]), 1]
  parent[root] <- root
  # Each step doubles the number of generations climbed.
  above <- parent
  for (step in seq_len(ceiling(log2(length(nodes))))) above <- above[above]
  all(above == root)
}

# Whether `values` is NULL or has n valid elements.
is_one_each <- function(values, n, is_right) {
  is.null(values) || (is_right(values) && length(values) == n)
}

# Differences between a tree's leaves and the outgroups with, if given, the focal species.
tree_problems <- function(tree, species, focal = NULL) {
  leaves <- tree$tip.label
  report <- function(names, one, several) {
    what <- if (length(names) == 1) one else several
    if (length(names)) sprintf("`tree`: %s %s.", enumerate(quoted(names)), what)
  }
  c(
    report(unique(leaves[duplicated(leaves)]), "is a leaf twice: keep one",
           "are leaves twice: keep one of each"),
    report(
      setdiff(leaves, c(species, focal)),
      "is neither an outgroup nor the focal species: remove the leaf or name it so",
      "are neither outgroups nor the focal species: remove the leaves or name them so"
    ),
    report(setdiff(species, leaves), "is an outgroup but no leaf: add it to the tree",
           "are outgroups but no leaves: add them to the tree")
  )
}

# `species`: outgroups with a sequence. The focal species cannot be one of them.
check_focal <- function(focal, species = NULL) {
  refuse_if(!is_scalar(focal) || !is.character(focal) || !nzchar(focal),
            "`focal` must be one species' name, not %s.", show_value(focal))
  refuse_if(focal %in% species,
            "`focal` is %s, which is an outgroup with a sequence: leave out one of the two.",
            quoted(focal))
}

stop_on_tree_problems <- function(tree, species, focal = NULL) {
  problems <- c(
    if (!is.null(focal) && !focal %in% tree$tip.label) {
      sprintf("`focal` is %s, which is no leaf of `tree`: add it there.", quoted(focal))
    },
    tree_problems(tree, species, focal)
  )
  refuse_if(length(problems), paste(problems, collapse = "\n"))
}

# Whether each branch has a length.
has_lengths <- function(tree) {
  length(tree$edge.length) == nrow(tree$edge) && !anyNA(tree$edge.length)
}

lengths_missing <- paste(
  "`tree` lacks some or all branch lengths, which likelihood needs: add them, or fit them",
  "(`estimate: true` in a configuration, fit_substitution_model() in R)."
)

no_focal_in_tree <- function(focal) {
  sprintf(
    paste(
      "`tree` lacks the focal species %s, so calls are for the root of the outgroups' tree. As a",
      "leaf, it moves the calls to the node where its lineage joins the others. This is usually",
      "the ancestor of interest, and close relatives then weigh more."
    ),
    quoted(focal)
  )
}

# The number of an inner node, from its name, or from two or more species whose most recent common
# ancestor it is; NULL for NULL.
called_node <- function(tree, node) {
  if (is.null(node)) {
    return(NULL)
  }
  if (!is.character(node) || length(node) == 0 || !all(nzchar(node) & !is.na(node))) {
    fault(node, "node", "give the name of an inner node, or two or more species.")
  }
  node <- unique(node)
  check_node_names(tree, node)
  if (length(node) > 1) {
    return(ape::getMRCA(tree, match(node, tree$tip.label)))
  }
  if (node %in% tree$tip.label) {
    fault(node, "node", "this is a species: give an ancestor's name, or two or more species.")
  }
  inner <- which(tree$node.label == node)
  if (length(inner) > 1) fault(node, "node", "several nodes of `tree` have this name.")
  length(tree$tip.label) + inner
}

check_node_names <- function(tree, node) {
  unknown <- setdiff(node, c(tree$tip.label, tree$node.label))
  named <- setdiff(tree$node.label, "")
  if (length(unknown)) {
    fault(unknown, "node", paste("no such name in `tree`.", if (length(named)) {
      sprintf("Its inner nodes are %s.", enumerate(quoted(named)))
    } else {
      "Its inner nodes have no names: give two or more species, whose ancestor it is."
    }))
  }
  ancestors <- setdiff(node, tree$tip.label)
  if (length(node) > 1 && length(ancestors)) {
    fault(ancestors, "node", "give one name of a node, or species alone.")
  }
}

# The core's arrays, with an element for each node. `node`: as in called_node().
core_tree <- function(tree, species, focal = NULL, node = NULL) {
  n <- length(tree$tip.label) + tree$Nnode
  leaf <- match(tree$tip.label, species)
  leaf[tree$tip.label %in% focal] <- -1
  inner <- rep(0, tree$Nnode)
  core_list(
    "Tree",
    parent = replace(integer(n), tree$edge[, 2], tree$edge[, 1]),
    length = branch_lengths(tree),
    leaf = as.integer(c(leaf, inner)),
    name = c(tree$tip.label, tree$node.label %||% rep("", tree$Nnode)),
    called = as.integer(called_node(tree, node) %||% 0L)
  )
}

# Branch lengths by node; NA for the root and for branches without a length.
branch_lengths <- function(tree) {
  lengths <- rep(NA_real_, length(tree$tip.label) + tree$Nnode)
  if (!is.null(tree$edge.length)) lengths[tree$edge[, 2]] <- tree$edge.length
  lengths[is.nan(lengths)] <- NA
  lengths
}

# The text of the tree, or of the file if a path is given.
read_tree <- function(value, key, origin) {
  text <- read_text(value, key, origin)
  if (!is_newick(text)) {
    path <- read_input(text, key, origin)
    if (!file.exists(path)) {
      fault(as_path(text), key, "no such file, nor Newick text such as '((human,chimp),gorilla);'.")
    }
    text <- tryCatch(
      read_text_file(path),
      ancify_error = function(condition) fault(as_path(text), key, conditionMessage(condition))
    )
    text <- gsub("[\r\n]", "", text)
    # Faults in the text name the file here.
    parse_newick(trimws(text), as_path(path))
  }
  trimws(text)
}

# Newick text begins with the root's parenthesis, or a comment before it.
is_newick <- function(text) {
  grepl("^\\s*[[(]", text) || grepl(";\\s*$", text)
}
