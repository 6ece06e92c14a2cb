# Calling methods against oracles and other programs.

test_that("parsimony is the oracle's on any tree", {
  set.seed(51)
  for (i in 1:30) {
    n <- sample(2:5, 1)
    outgroups <- paste0("s", seq_len(n))
    sequences <- random_columns(outgroups, 40, missing = 0.2)
    focal <- if (i %% 2) "focal"
    tree <- random_tree(c(outgroups, focal), merge = 0.4)
    expected <- vapply(1:40, function(j) {
      oracle_parsimony(tree, c(column_of(sequences, j), focal = "A"), focal)
    }, "")
    # Either tier may be empty. The tier of a species does not matter.
    is_inner <- seq_len(n) <= sample(0:n, 1)
    called <- call_ancestral(
      sequences[is_inner], sequences[!is_inner], "parsimony", tree, focal = focal
    )
    expect_identical(called, paste(expected, collapse = ""))
  }
})

test_that("parsimony's sets are phangorn's", {
  require_package("phangorn")
  set.seed(52)
  for (i in 1:5) {
    species <- paste0("s", 1:6)
    sequences <- random_columns(species, 60, missing = 0)
    # As in phangorn, the root has three branches, and the call is there.
    tree <- ape::unroot(random_tree(species))
    columns <- do.call(rbind, strsplit(sequences, ""))
    data <- phangorn::phyDat(tolower(columns), type = "DNA")
    at_nodes <- phangorn::ancestral.pars(tree, data, type = "MPR")
    root <- at_nodes[[length(species) + 1]][attr(data, "index"), ]
    expected <- apply(root > 0, 1, function(set) {
      set <- bases[set]
      if (length(set) == 4) "n" else if (length(set) > 1) tolower(set[1]) else set
    })
    called <- call_ancestral(
      sequences[1:3], sequences[4:6], "parsimony", tree, ties = "alphabet"
    )
    expect_identical(called, paste(expected, collapse = ""))
  }
})

test_that("complemented bases give complemented calls", {
  set.seed(54)
  complement <- function(x) chartr("ACGTacgt", "TGCAtgca", x)
  tree <- "(((focal:1,a:1):1,b:1):1,(c:1,d:1):1);"
  history <- coalescent_history(
    splits = c(a = 2e5, b = 2.5e5, c = 6e5, d = 7e5), sizes = 2e4
  )
  for (method in c("voting", "parsimony", "likelihood", "coalescent")) {
    call <- function(inner, outer, ...) {
      arguments <- switch(
        method,
        voting = list(min_inner_freq = sample(2, 1)),
        coalescent = list(history = history, low = 0.1),
        list(tree = tree, focal = "focal", low = 0.1)
      )
      do.call(call_ancestral, c(list(inner, outer, method, threads = 1), arguments, ...))
    }
    species <- random_columns(letters[1:4], 400, missing = 0.1)
    set.seed(1)
    called <- call(species[1:2], species[3:4])
    set.seed(1)
    expect_identical(call(complement(species[1:2]), complement(species[3:4])), complement(called))
    if (method %in% c("voting", "parsimony")) expect_match(called, "n")
  }
  # By the alphabet they do not.
  expect_identical(call_ancestral(c(a = "CG", b = "TA"), c(c = "CA"), ties = "alphabet"), "CA")
  expect_identical(call_ancestral(c(a = "CG", b = "TA"), c(c = "TG"), ties = "alphabet"), "nn")
  expect_identical(call_ancestral(c(a = "CG", b = "TA"), c(c = "TG")), "nn")
})

random_model <- function(name) {
  frequencies <- stats::runif(4, 0.5, 2)
  substitution_model(
    name,
    kappa = if (name %in% c("K80", "HKY85")) stats::runif(1, 1, 6),
    base_freqs = if (name %in% c("HKY85", "GTR")) frequencies / sum(frequencies),
    rates = if (name == "GTR") stats::runif(6, 0.3, 4),
    alpha = if (stats::runif(1) < 0.5) stats::runif(1, 0.3, 3),
    invariant = sample(c(0, 0.3), 1)
  )
}

test_that("likelihood's posteriors are the oracle's on any tree", {
  set.seed(53)
  for (name in c("JC69", "K80", "HKY85", "GTR")) {
    for (focal in list(NULL, "focal")) {
      outgroups <- paste0("s", 1:4)
      sequences <- random_columns(outgroups, 12, missing = 0.2)
      tree <- random_tree(c(outgroups, focal), merge = 0.3)
      model <- random_model(name)
      expected <- t(vapply(1:12, function(j) {
        joint <- oracle_joint(tree, model, c(column_of(sequences, j), focal = "C"), focal)
        joint / sum(joint)
      }, numeric(4)))
      called <- call_ancestral(
        sequences[1:3], sequences[4], "likelihood", tree, focal = focal, model = model,
        posterior = TRUE, high = 0.9, low = 0.6
      )
      with_data <- vapply(1:12, function(j) any(column_of(sequences, j) != "N"), NA)
      expect_equal(called$posterior[with_data, ], expected[with_data, ], tolerance = 1e-8,
                   ignore_attr = TRUE)
      expect_identical(colnames(called$posterior), bases)
      best <- bases[apply(expected, 1, which.max)]
      most <- apply(expected, 1, max)
      calls <- ifelse(most >= 0.9, best, ifelse(most >= 0.6, tolower(best), "n"))
      expect_identical(called$calls, paste(ifelse(with_data, calls, "N"), collapse = ""))
    }
  }
})

test_that("calls at any node are the oracle's", {
  set.seed(55)
  for (i in 1:12) {
    outgroups <- paste0("s", 1:4)
    focal <- if (i %% 2) "focal"
    sequences <- random_columns(outgroups, 12, missing = 0.2)
    tree <- random_tree(c(outgroups, focal), merge = 0.2)
    leaves <- length(tree$tip.label)
    tree$node.label <- paste0("n", seq_len(tree$Nnode))
    model <- random_model("GTR")
    node <- leaves + sample(tree$Nnode, 1)
    # By name, and by leaves below different children
    below <- lapply(tree$edge[tree$edge[, 1] == node, 2], function(child) {
      leaves_below(tree, child)[1]
    })
    names <- list(tree$node.label[node - leaves], tree$tip.label[unlist(below)])
    columns <- lapply(1:12, function(j) c(column_of(sequences, j), focal = "C"))
    fewest <- vapply(columns, function(column) {
      oracle_parsimony(tree, column, focal, node = node)
    }, "")
    joint <- t(vapply(columns, function(column) {
      oracle_joint(tree, model, column, focal, node)
    }, numeric(4)))
    with_data <- vapply(columns, function(column) any(column[outgroups] != "N"), NA)
    for (name in names) {
      call <- function(...) {
        call_ancestral(sequences[1:2], sequences[3:4], tree = tree, focal = focal, node = name, ...)
      }
      expect_identical(call("parsimony"), paste(fewest, collapse = ""))
      called <- call("likelihood", model = model, posterior = TRUE)
      expect_equal(called$posterior[with_data, ], (joint / rowSums(joint))[with_data, ],
                   tolerance = 1e-8, ignore_attr = TRUE)
    }
  }
})

test_that("an ancestor of the focal species alone is called on its branch", {
  tree <- ape::read.tree(text = "(((human:0.3)H:0.3,chimp:0.01)HC:0.03,macaque:0.04)R;")
  inner <- c(chimp = "ACG")
  outer <- c(macaque = "AAC")
  called <- call_ancestral(inner, outer, "likelihood", tree, focal = "human", node = "H",
                           posterior = TRUE)
  node <- length(tree$tip.label) + match("H", tree$node.label)
  joint <- t(vapply(1:3, function(j) {
    column <- c(column_of(c(inner, outer), j), human = "N")
    oracle_joint(tree, substitution_model("JC69"), column, "human", node)
  }, numeric(4)))
  expect_equal(called$posterior, joint / rowSums(joint), tolerance = 1e-8, ignore_attr = TRUE)
  expect_identical(
    call_ancestral(inner, outer, "parsimony", tree, focal = "human", node = "H"),
    call_ancestral(inner, outer, "parsimony", tree, focal = "human")
  )
})

test_that("a node that is not there is refused", {
  inner <- c(a = "ACGT", b = "ACGA")
  outer <- c(c = "ACCA")
  tree <- "((a:1,b:1)ab:1,c:2)root;"
  call <- function(node, method = "likelihood", tree = "((a:1,b:1)ab:1,c:2)root;") {
    call_ancestral(inner, outer, method, tree, node = node)
  }
  expect_error(call("abc"), "inner nodes are 'root' and 'ab'", class = "ancify_input_error")
  expect_error(call("abc", tree = "((a:1,b:1):1,c:2);"), "give two or more species",
               class = "ancify_input_error")
  expect_error(call("a"), "this is a species", class = "ancify_input_error")
  expect_error(call(c("a", "a")), "this is a species", class = "ancify_input_error")
  expect_error(call(c("a", "ab")), "one name of a node, or species alone",
               class = "ancify_input_error")
  expect_error(call("", tree = "((a:1,b:1):1,c:2)root;"), "name of an inner node",
               class = "ancify_input_error")
  expect_error(call("x", tree = "((a:1,b:1)x:1,c:2)x;"), "several nodes",
               class = "ancify_input_error")
  expect_error(call(1), "name of an inner node", class = "ancify_input_error")
  expect_error(call("ab", "voting", NULL), "takes no `node`", class = "ancify_input_error")
})

test_that("posteriors at three nodes are PHAST's to their 4 decimals", {
  folder <- dirname(test_data("primates_hg18_100k", "phast_hky85.mod"))
  phast <- read_phast(file.path(folder, "phast_hky85.mod"), "HKY85")
  table <- utils::read.delim(file.path(folder, "phast_hky85_posteriors.tsv"), comment.char = "#")
  table <- table[table$pattern != "NNNN", ]
  outgroups <- vapply(2:4, function(i) paste(substr(table$pattern, i, i), collapse = ""), "")
  names(outgroups) <- c("panTro2", "ponAbe2", "rheMac2")
  for (node in c("root", "ape", "focal")) {
    ours <- primate_posteriors(outgroups, phast$tree, phast$model, node)
    theirs <- as.matrix(table[paste0(node, "_", bases)])
    # Half of the last decimal, and the rounding of the model file.
    expect_lt(max(abs(ours - theirs)), 0.6e-4)
  }
})

test_that("posteriors under three models are those that phyloFit computes now", {
  require_tool("phyloFit")
  alignment <- masked_alignment()
  counts <- primate_counts()
  all <- tempfile(fileext = ".fa")
  species <- gsub("[^ACGT]", "N", toupper(primates()))
  writeLines(paste0(">", names(species), "\n", species), all)
  for (name in c(JC69 = "JC69", HKY85 = "HKY85", GTR = "REV")) {
    own <- c(REV = "GTR")[name]
    own <- if (is.na(own)) name else unname(own)
    prefix <- tempfile()
    fitted <- run_program(
      "phyloFit", "--subst-mod", name, "--tree", primate_topology, "--precision", "HIGH", all,
      "-o", prefix
    )
    expect_identical(fitted$status, 0L)
    phast <- read_phast(paste0(prefix, ".mod"), own)

    fit <- fit_substitution_model(counts, primate_topology, own)
    expect_true(fit$converged)
    expect_gt(fit$log_likelihood, phast$log_likelihood - 0.01)

    result <- run_program(
      "phyloFit", "--post-probs", "--lnl", "--init-model", paste0(prefix, ".mod"), alignment$path,
      "-o", prefix
    )
    expect_identical(result$status, 0L)
    table <- utils::read.table(paste0(prefix, ".postprob"), comment.char = "#")
    ours_of <- paste0("N", vapply(seq_len(alignment$sites), function(i) {
      paste(column_of(alignment$outgroups, i), collapse = "")
    }, ""))
    rows <- match(ours_of, table[[2]])
    expect_false(anyNA(rows))
    for (node in 0:2) {
      ours <- primate_posteriors(
        alignment$outgroups, phast$tree, phast$model, c("root", "ape", "focal")[node + 1]
      )
      theirs <- as.matrix(table[rows, 2 + 4 * node + 1:4])
      expect_lt(max(abs(ours[seq_len(alignment$sites), ] - theirs)), 1e-4)
    }
  }
})

test_that("posteriors under four models, also with gamma rates, are IQ-TREE's", {
  require_tool("iqtree2")
  alignment <- masked_alignment()
  tree <- "(((hg18:0.012,panTro2:0.013)focal:0.021,ponAbe2:0.033)ape:0.04,rheMac2:0.04);"
  frequencies <- c(0.2, 0.3, 0.28, 0.22)
  cases <- list(
    list("JC", substitution_model("JC69")),
    list("HKY{4.9}+F{0.2,0.3,0.28,0.22}",
         substitution_model("HKY85", kappa = 4.9, base_freqs = frequencies)),
    list("GTR{1.1,5.2,0.85,0.98,4.6}+F{0.2,0.3,0.28,0.22}",
         substitution_model("GTR", rates = c(1.1, 5.2, 0.85, 0.98, 4.6, 1),
                            base_freqs = frequencies)),
    list("HKY{4.9}+F{0.2,0.3,0.28,0.22}+G4{0.6}",
         substitution_model("HKY85", kappa = 4.9, base_freqs = frequencies, alpha = 0.6))
  )
  for (case in cases) {
    theirs <- iqtree_posteriors(alignment$path, tree, case[[1]], c("ape", "focal"))
    sites <- seq_len(alignment$sites)
    for (node in names(theirs)) {
      ours <- primate_posteriors(alignment$outgroups, tree, case[[2]], node)
      expect_lt(max(abs(ours[sites, ] - theirs[[node]][sites, ])), 2e-5)
    }
  }
})

long_test_that("posteriors at three named nodes of many species are IQ-TREE's to its 5 decimals", {
  require_tool("iqtree2")
  set.seed(60)
  species <- paste0("s", 1:24)
  sequences <- random_columns(species, 2000)
  alignment <- tempfile(fileext = ".fa")
  writeLines(paste0(">", species, "\n", sequences), alignment)
  tree <- ape::unroot(random_tree(species))
  tree$node.label <- paste0("n", seq_len(tree$Nnode))
  frequencies <- c(0.2, 0.3, 0.28, 0.22)
  models <- list(
    JC = substitution_model("JC69"),
    "HKY{4.9}+F{0.2,0.3,0.28,0.22}" =
      substitution_model("HKY85", kappa = 4.9, base_freqs = frequencies)
  )
  nodes <- tree$node.label[c(1, 8, 15)]  # the first is the root
  for (model in names(models)) {
    theirs <- iqtree_posteriors(alignment, ape::write.tree(tree), model, nodes)
    for (node in nodes) {
      ours <- call_ancestral(sequences[1:12], sequences[13:24], "likelihood", tree,
                             model = models[[model]], node = node, posterior = TRUE)$posterior
      expect_lt(max(abs(ours - theirs[[node]])), 5e-6 + 1e-9)  # half of the last decimal
    }
  }
})

test_that("calls of many species equal those of single columns", {
  set.seed(54)
  for (n in c(9, 20)) {
    species <- paste0("s", seq_len(n))
    sequences <- random_columns(species, 50)
    tree <- random_tree(c(species, "focal"))
    model <- substitution_model("K80", kappa = 3)
    called <- call_ancestral(
      sequences[1:4], sequences[-(1:4)], "likelihood", tree, focal = "focal", model = model,
      posterior = TRUE, threads = 2
    )
    expected <- t(vapply(1:50, function(j) {
      pruned_posterior(tree, model, column_of(sequences, j), "focal")
    }, numeric(4)))
    expect_equal(unname(called$posterior), expected, tolerance = 1e-8)
  }
})

test_that("the coalescent's splits are matched to the species by their names", {
  history <- coalescent_history(c(a = 240000, b = 320000, c = 1100000), c(5e4, 4e4, 6e4), 10000)
  sequences <- c(c = "AAGNC", a = "AGGNT", b = "ACTNN")
  by_name <- call_ancestral(sequences[1], sequences[2:3], "coalescent", history = history,
                            posterior = TRUE)
  in_order <- call_ancestral(sequences[c("a", "b")], sequences["c"], "coalescent",
                             history = history, posterior = TRUE)
  expect_equal(by_name, in_order)
  unnamed <- history
  names(unnamed$splits) <- NULL
  expect_equal(
    call_ancestral(unname(sequences[c("a", "b", "c")]), NULL, "coalescent", history = unnamed,
                   posterior = TRUE),
    in_order
  )
  expect_equal(rowSums(in_order$posterior)[-4], rep(1, 4))
  expect_identical(substr(in_order$calls, 4, 4), "N")
  into <- coalescent_history(c(far = 3e5, near = 1e5), 2e4, 1e4, into = c("0", "far"))
  turned <- history_of_species(into, c("near", "far"))
  expect_identical(turned$into, c(2L, 0L))
  expect_identical(turned$splits, c(near = 1e5, far = 3e5))

  refused <- function(...) expect_ancify_error(call_ancestral(..., method = "coalescent"), "input")
  expect_match(conditionMessage(refused(sequences, NULL)), "`history`")
  expect_match(conditionMessage(refused(sequences[1:2], NULL, history = history)), "a split for")
  other <- stats::setNames(sequences, c("a", "b", "d"))
  expect_match(conditionMessage(refused(other, NULL, history = history)), "'d'")
})

test_that("ml calls by the model of its file", {
  set.seed(55)
  sequences <- stats::setNames(random_species(300, 3, changed = 0.4), c("a", "b", "c"))
  path <- test_path("fixtures", "ml_model_nan.lgb")
  called <- call_ancestral(sequences[1:2], sequences[3], "ml", model = path, posterior = TRUE,
                           high = 0.5, low = 0.4)
  expected <- predict_with(path, features_of(sequences, 2))
  with_data <- !is.nan(called$posterior[, 1])
  expect_gt(sum(with_data), 200)
  expect_equal(unname(called$posterior[with_data, ]), expected[with_data, ])
  expect_identical(
    call_ancestral(sequences[1:2], sequences[3], "ml", model = path, high = 0.5, low = 0.4),
    called$calls
  )
  # A model for another number of species.
  expect_ancify_error(
    call_ancestral(sequences[1], sequences[3], "ml", model = path), "format", "feature"
  )
})

test_that("invalid arguments of methods are errors with the reason", {
  refused <- function(..., text, class = "input") {
    expect_ancify_error(call_ancestral(c(a = "A"), c(b = "C"), ...), class, text)
  }
  tree <- "(a:1,b:1);"
  refused("vote", text = "`method`")
  refused("voting", posterior = TRUE, text = "no posterior")
  refused(tree = tree, text = "takes no `tree`")
  refused("voting", history = 1, text = "takes no `history`")
  refused("ml", tree, model = "x", text = "takes no `tree`")
  refused("parsimony", tree, posterior = TRUE, text = "no posterior")
  refused("likelihood", tree, high = 0.4, low = 0.5, text = "exchange them")
  refused("likelihood", tree, high = 1.5, text = "`high`")
  refused("likelihood", tree, model = "HKY", text = "`model` must be one of")
  refused("likelihood", tree, model = list(1), text = "`model`")
  refused("ml", text = "`model`")
  refused("ml", model = tempfile(), class = "file", text = "no such file")
  expect_ancify_error(call_ancestral(NULL, NULL, "parsimony", tree), "input", "both empty")
  expect_ancify_error(call_ancestral(NULL, "A", "ml", model = "x"), "input", "`inner`")
})

test_that("invalid models are errors with the reason", {
  refused <- function(..., text) expect_ancify_error(substitution_model(...), "input", text)
  refused("F81", text = "'F81'")
  refused("JC69", kappa = 2, text = "JC69 has no `kappa`")
  refused("K80", base_freqs = rep(0.25, 4), text = "K80 has no `base_freqs`")
  refused("HKY85", rates = rep(1, 6), text = "HKY85 has no `rates`")
  refused("GTR", kappa = 2, text = "GTR has no `kappa`")
  refused("HKY85", base_freqs = c(0.3, 0.3, 0.3, 0.3), text = "sum to 1.2")
  refused("HKY85", base_freqs = c(0.5, 0.5), text = "4 numbers")
  refused("GTR", rates = c(1, 1, 1, 1, 1, -1), text = "6 numbers")
  rates <- c(AC = 1, AG = 4, AT = 0.8, CG = 1.2, CT = 4.5, GT = 1)
  refused("GTR", rates = c(rates[-1], XY = 1), text = "6 numbers")
  refused("GTR", rates = rates[c(1:5, 5)], text = "6 numbers")
  refused("GTR", rates = c(rates, AC = 1), text = "6 numbers")
  refused("K80", kappa = 0, text = "`kappa`")
  refused(alpha = -1, text = "`alpha`")
  refused(invariant = 1, text = "`invariant`")
  refused(n_rates = 0, text = "`n_rates`")
  expect_message(
    model <- substitution_model("HKY85", base_freqs = c(0.3, 0.2, 0.2, 0.305)), "scaled",
    class = "ancify_log_message"
  )
  expect_equal(sum(model$base_freqs), 1)
})

test_that("named rates and frequencies may have any order", {
  rates <- c(AC = 1, AG = 4, AT = 0.8, CG = 1.2, CT = 4.5, GT = 1.1)
  frequencies <- c(A = 0.4, C = 0.3, G = 0.2, T = 0.1)
  expected <- substitution_model("GTR", base_freqs = unname(frequencies), rates = unname(rates))
  for (mixed in list(rates, rev(rates), rates[c(2, 5, 1, 3, 4, 6)], as.list(rev(rates)))) {
    expect_identical(
      substitution_model("GTR", base_freqs = rev(frequencies), rates = mixed), expected
    )
  }
})

test_that("models print their values", {
  expect_output(print(substitution_model("HKY85", kappa = 4)), "kappa +4")
  expect_output(print(substitution_model("GTR", alpha = 0.5, invariant = 0.2)),
                "shape 0.5, 4 classes\n +invariant +0.2")
  expect_identical(capture.output(print(substitution_model())), "<ancify_model> JC69")
})
