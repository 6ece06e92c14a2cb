# Trees: from Newick text through ape's class phylo to the core's arrays.

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

# `shown`: the text or its file, for messages.
parse_newick <- function(text, shown = text) {
  tokens <- newick_tokens(text, shown)
  # ape changes blanks and quotes in names, so it reads the tree with substitute names.
  labels <- tokens$kind == "label"
  names <- unquoted_labels(tokens$text[labels])
  tokens$text[labels] <- paste0("L", seq_along(names))
  tree <- tryCatch(
    suppressWarnings(ape::read.tree(text = sub(";?$", ";", paste(tokens$text, collapse = "")))),
    error = function(condition) NULL
  )
  if (!inherits(tree, "phylo")) {
    fault(shown, "tree", "the package ape cannot read it as one tree in Newick form.")
  }
  named <- function(labels) ifelse(labels == "", "", names[as.integer(sub("L", "", labels))])
  tree$tip.label <- named(tree$tip.label)
  if (!is.null(tree$node.label)) tree$node.label <- named(tree$node.label)
  check_lengths_of_branches(tree, shown)
  tree
}

unquoted_labels <- function(labels) {
  is_quoted <- startsWith(labels, "'")
  inside <- substr(labels, 2, nchar(labels) - 1)
  ifelse(is_quoted, gsub("''", "'", inside, fixed = TRUE), labels)
}

# Quotes names that contain characters of Newick syntax.
quoted_labels <- function(names) {
  plain <- grepl("^[^]\\[\\s(),;:']+$", names, perl = TRUE)
  ifelse(plain, names, paste0("'", gsub("'", "''", names, fixed = TRUE), "'"))
}

# Text that parse_newick() reads as this tree. ape's own text changes names with blanks or quotes.
newick_text <- function(tree, digits) {
  n <- length(tree$tip.label)
  labels <- quoted_labels(c(tree$tip.label, tree$node.label))
  tree$tip.label <- paste0("L", seq_len(n))
  named <- nzchar(tree$node.label)
  if (length(named)) tree$node.label <- ifelse(named, paste0("L", n + seq_along(named)), "")
  text <- ape::write.tree(tree, digits = digits)
  found <- gregexpr("L[0-9]+", text)
  regmatches(text, found) <- list(labels[as.integer(sub("L", "", regmatches(text, found)[[1]]))])
  text
}

check_lengths_of_branches <- function(tree, value) {
  wrong <- which(tree$edge.length < 0 | is.infinite(tree$edge.length))
  if (length(wrong)) {
    fault(value, "tree", sprintf(
      "the branch above %s has the length %s: lengths are 0 or above.",
      node_name(tree, tree$edge[wrong[1], 2]), format(tree$edge.length[wrong[1]])
    ))
  }
}

# A leaf's name, or the leaves below an internal node.
node_name <- function(tree, node) {
  if (node <= length(tree$tip.label)) {
    return(quoted(tree$tip.label[node]))
  }
  paste("the ancestor of", enumerate(quoted(tree$tip.label[leaves_below(tree, node)])))
}

# The species below a node, in brackets if there are several.
clade_text <- function(tree, node) {
  leaves <- leaves_below(tree, node)
  text <- paste(tree$tip.label[leaves], collapse = ",")
  if (length(leaves) == 1) text else sprintf("(%s)", text)
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

# ---- Newick text ----------------------------------------------------------------

# The tokens of a tree without blanks and comments: `text` and `kind` ("label", "number" or the
# symbol itself). Invalid text is a fault with its position.
newick_tokens <- function(text, shown) {
  # Match bytes: in non-ASCII text R would count the characters before each token again.
  found <- gregexpr(newick_token, text, perl = TRUE, useBytes = TRUE)
  at <- as.integer(found[[1]])
  if (length(at) > most_newick_tokens) {
    fault(shown, "tree", sprintf(
      "it has more than %s names, numbers and signs, the limit for a tree.",
      format_count(most_newick_tokens)
    ))
  }
  pieces <- regmatches(text, found)[[1]]
  Encoding(pieces) <- Encoding(text)
  tokens <- data.frame(text = pieces, at = at[at > 0])
  end <- nchar(text, "bytes") + 1
  fail <- function(at, problem) {
    before <- rawToChar(charToRaw(text)[seq_len(at - 1)])
    Encoding(before) <- Encoding(text)
    at <- nchar(before) + 1
    fault(shown, "tree", sprintf(
      "this is not a tree in Newick form: %s at character %d (%s). An example is %s.", problem, at,
      if (at > nchar(text)) "its end" else quoted(cut_text(substring(text, at), 20)),
      "'((human,chimp),gorilla);'"
    ))
  }
  ends <- tokens$at + nchar(tokens$text, "bytes")
  gap <- which(c(1, ends) != c(tokens$at, end))
  tokens <- tokens[grepl("^[^\\s\\[]", tokens$text, perl = TRUE), ]
  if (length(gap)) tokens <- tokens[tokens$at < c(1, ends)[gap[1]], ]
  tokens$kind <- newick_kinds(tokens, fail, if (length(gap)) c(1, ends)[gap[1]], end)
  tokens
}

# A blank, a comment, a quoted name, a symbol, or a name or number.
newick_token <- "[ \\t-\\r]+|\\[[^]]*\\]|'[^']*+(?:''[^']*+)*+'|[(),;:]|[^]\\[ \\t-\\r(),;:']+"

# A tree of 100,000 species with branch lengths has 800,000 tokens.
most_newick_tokens <- 1e6

# The recursion depth at which ape can still read a tree.
most_newick_depth <- 5000

# The kind of each token. `broken`: position of the first text that is not a token, or NULL.
newick_kinds <- function(tokens, fail, broken, end) {
  kinds <- newick_kind(tokens$text)
  before <- c("start", kinds)
  depth <- c(0, cumsum((kinds == "(") - (kinds == ")")))
  here <- seq_along(kinds)
  wrong <- newick_problems(kinds, before[here], depth[here] > 0, tokens$text)
  deep <- depth[here + 1] > most_newick_depth
  wrong[is.na(wrong) & deep] <-
    sprintf("brackets within more than %s others", format_count(most_newick_depth))
  first <- which(!is.na(wrong))[1]
  if (!is.na(first)) fail(tokens$at[first], wrong[first])
  if (!is.null(broken)) fail(broken, "a quote or bracket is not closed")
  last <- utils::tail(before, 1)
  if (utils::tail(depth, 1) > 0) fail(end, "')' is missing")
  # The last ';' may be left out.
  problem <- if (last == "start") "there is no tree" else newick_problem(";", last, FALSE, FALSE)
  if (last != ";" && !is.null(problem)) fail(end, problem)
  kinds
}

newick_kind <- function(tokens) {
  after_colon <- c("", tokens)[seq_along(tokens)] == ":"
  is_sign <- tokens %in% c("(", ")", ",", ":", ";")
  ifelse(is_sign, tokens, ifelse(after_colon, "number", "label"))
}

# newick_problem() of each token, or NA.
newick_problems <- function(kind, before, inside, tokens) {
  is_number <- kind == "number"
  is_number[is_number] <- !is.na(suppressWarnings(as.numeric(tokens[is_number])))
  # Many tokens share few distinct cases.
  case <- paste(kind, before, inside, is_number)
  first <- which(!duplicated(case))
  problem <- function(i) newick_problem(kind[i], before[i], inside[i], is_number[i])
  problems <- vapply(first, function(i) problem(i) %||% NA_character_, "")
  problems[match(case, case[first])]
}

# Why a token of this kind cannot follow one of the kind `before`, or NULL. `inside`: whether it is
# inside brackets.
newick_problem <- function(kind, before, inside, is_number) {
  if (before == ";") {
    "there is text after the tree's end, but one tree is allowed,"
  } else if (before == ":") {
    if (!is_number) "a number is missing after ':'"
  } else if (before %in% c("start", "(", ",")) {
    if (!kind %in% c("(", "label")) "a name is missing"
  } else {
    problem_after_node(kind, before, inside)
  }
}

# After a node: a length, ',' or ')' or the tree's end.
problem_after_node <- function(kind, before, inside) {
  switch(kind,
    "(" = "',' is missing before '('",
    label = if (before != ")") "',' is missing before a name",
    ":" = if (before == "number") "there is a second length",
    ";" = if (inside) "')' is missing",
    if (!inside) sprintf("there is no '(' for '%s'", kind)
  )
}

# ---- Trees and species ------------------------------------------------------------

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
