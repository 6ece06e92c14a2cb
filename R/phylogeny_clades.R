# Clades of a tree: their leaves, and how messages name them.

# A leaf's name, or the leaves below an internal node.
node_name <- function(tree, node) {
  if (node <= length(tree$tip.label)) {
    return(quoted(tree$tip.label[node]))
  }
  paste("the ancestor of", enumerate(quoted(tree$tip.label[leaves_below(tree, node)])))
}

# The species below a node, in brackets if there are several. Of many, only the first are named.
# Clades with the same first species are nested, so their numbers of others differ.
clade_text <- function(tree, node) {
  species <- tree$tip.label[leaves_below(tree, node)]
  others <- if (length(species) > 4) length(species) - 3 else 0
  text <- paste(utils::head(species, length(species) - others), collapse = ",")
  if (others > 0) text <- sprintf("%s and %s more", text, format_count(others))
  if (length(species) == 1) text else sprintf("(%s)", text)
}

leaves_below <- function(tree, node) {
  # Descend level by level: a tree may be deeper than R's call stack.
  below <- integer()
  while (length(node)) {
    below <- c(below, node)
    node <- tree$edge[tree$edge[, 1] %in% node, 2]
  }
  sort(below[below <= length(tree$tip.label)])
}
