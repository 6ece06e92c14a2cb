# Trees as Newick text: its tokens and their errors, reading by ape, and writing.

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
