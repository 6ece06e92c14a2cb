# Trees: Newick, phylo and their errors.

sequences <- c(a = "ACGT", b = "ACGA", c = "ATGN")

called_on <- function(tree, ..., species = sequences, method = "parsimony") {
  call_ancestral(species, NULL, method, tree, ..., threads = 1)
}

test_that("invalid Newick text is an error with its position", {
  refused <- function(tree, at, text) {
    expect_ancify_error(called_on(tree), "input", "Newick", text, paste("at character", at))
  }
  refused("((a,b),c", 9, "')' is missing")
  refused("((a,b),c):", 11, "a number is missing")
  refused("((a,b),c));", 10, "there is no '('")
  refused("((a,b),,c);", 8, "a name is missing")
  refused("((a:1,b:x),c);", 9, "a number is missing")
  refused("((a:1:2,b),c);", 6, "a second length")
  refused("((a b),c);", 5, "',' is missing before a name")
  refused("((a,b)(c));", 7, "',' is missing before '('")
  refused("((a,'b),c);", 5, "not closed")
  refused("((a,b)[x,c);", 7, "not closed")
  refused("((a,b),c);(a,b);", 11, "one tree")
  refused("(", 2, "')' is missing")
})

test_that("quotes, comments, blanks, inner names and nodes with one branch", {
  expected <- called_on("((a,b),c);")
  expect_identical(called_on(" ( (a , b)ab:0.1 , [a, comment] c )root ; "), expected)
  expect_identical(called_on("((((a)),(b:1)),(c));"), expected)
  expect_identical(called_on("((a,b),c)"), expected)
  expect_identical(called_on("((a,b),c):0.5 [no ';']"), expected)
  odd <- stats::setNames(sequences, c("it's", "a b", "(c,d):1"))
  expect_identical(called_on("(('it''s','a b'),'(c,d):1');", species = odd), expected)
  expect_identical(called_on(ape::read.tree(text = "((a,b),c);")), expected)
  path <- tempfile(fileext = ".nwk")
  writeLines(c("((a,", " b),", "c);"), path)
  expect_identical(called_on(path), expected)
})

test_that("leaves are the species", {
  refused <- function(tree, ...) expect_ancify_error(called_on(tree), "input", ...)
  refused("((a,b),c,d);", "'d'", "neither an outgroup nor the focal species")
  refused("(a,b);", "'c'", "no leaf")
  refused("((a,b),c,a);", "'a'", "twice")
  refused("((a,b),c,(d,e));", "'d' and 'e' are neither outgroups")
  refused("(a);", "'b' and 'c' are outgroups but no leaves")
  expect_ancify_error(called_on("((a,b),c);", focal = "human"), "input", "`focal`", "'human'")
  expect_ancify_error(called_on("gone.nwk"), "input", "'gone.nwk'", "no such file")
  expect_ancify_error(called_on(NULL), "input", "`tree` is missing", "'parsimony'")
  expect_ancify_error(called_on(5), "input", "`tree` is 5")
})

test_that("a phylo that is no tree is an error with the reason", {
  tree <- ape::read.tree(text = "((a:1,b:1)x:1,c:1)y;")
  refused <- function(..., text) {
    damaged <- tree
    damaged[names(list(...))] <- list(...)
    expect_ancify_error(called_on(damaged), "input", "damaged", text)
  }
  refused(tip.label = NULL, text = "tip.label")
  refused(tip.label = 1:3, text = "tip.label")
  refused(tip.label = c("a", NA, "c"), text = "tip.label")
  refused(tip.label = c("a", "b"), text = "`edge`")
  refused(Nnode = 1, text = "`edge`")
  refused(Nnode = NULL, text = "`edge`")
  refused(edge = NULL, text = "`edge`")
  refused(edge = tree$edge[-1, ], text = "`edge`")
  refused(edge = rbind(c(4, 1), c(4, 2), c(4, 3), c(5, 5)), text = "`edge`")
  refused(edge = rbind(c(4, 5), c(5, 1), c(5, 1), c(4, 3)), text = "`edge`")
  refused(edge = rbind(c(1, 5), c(5, 4), c(5, 2), c(4, 3)), text = "`edge`")
  refused(edge.length = 1:3, text = "`edge.length`")
  refused(edge.length = letters[1:4], text = "`edge.length`")
  refused(node.label = "x", text = "`node.label`")
  refused(node.label = list(1, 2), text = "`node.label`")
  refused(Nnode = 2e9, text = "`edge`")
  refused(Nnode = 2.5, text = "`edge`")
  expect_ancify_error(called_on(structure(1, class = "phylo")), "input", "a phylo is a list")
})

test_that("lengths below 0, and missing ones for likelihood, are errors", {
  for (method in c("parsimony", "likelihood")) {
    expect_ancify_error(
      called_on("((a:1,b:-0.5):1,c:1);", method = method), "input", "'b'", "-0.5"
    )
    expect_ancify_error(
      called_on("((a:1,b:1):-2,c:1);", method = method), "input", "ancestor of 'a' and 'b'", "-2"
    )
  }
  expect_ancify_error(called_on("((a,b),c);", method = "likelihood"), "input", "length")
  expect_ancify_error(called_on("((a:1,b):1,c:1);", method = "likelihood"), "input", "length")
  expect_type(called_on("((a:1,b:1):1,c:1):3;", method = "likelihood"), "character")
})

test_that("a tree's text gives the same tree for any names", {
  names <- c("Homo sapiens", "it's", "a[b]", "L1", "x,(y):1;", "under_score", "plain")
  text <- sprintf("((%s:0.1,L1:0.25):1e-07,(%s:0.5,%s:1):0.3,%s:2,under_score:0,plain:3);",
                  "'Homo sapiens'", "'it''s'", "'a[b]'", "'x,(y):1;'")
  tree <- parse_newick(text)
  expect_setequal(tree$tip.label, names)
  expect_identical(newick_text(tree, 10), text)
  expect_equal(parse_newick(newick_text(tree, 10)), tree)
})

test_that("faults in a tree's file name the whole path, of any length", {
  folder <- file.path(new_folder(), strrep("long", 30))
  dir.create(folder)
  file <- file.path(folder, "tree.nwk")
  writeLines("((a,b),;", file)
  for (path in c(file, file.path(folder, "none.nwk"))) {
    expect_ancify_error(call_ancestral(c(a = "A"), c(b = "A"), "parsimony", path), "input", path)
  }
})
