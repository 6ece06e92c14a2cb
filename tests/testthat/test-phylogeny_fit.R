# Every pattern of a tree's leaves and its expected count.
tree_counts <- function(tree, model, sites) {
  species <- tree$tip.label
  columns <- as.matrix(expand.grid(rep(list(bases), length(species))))
  probability <- apply(columns, 1, function(column) {
    sum(oracle_joint(tree, model, stats::setNames(column, species)))
  })
  data.frame(pattern = apply(columns, 1, paste, collapse = ""), count = round(sites * probability))
}

three <- ape::read.tree(text = "((a:0.1,f:0.05):0.03,b:0.12,c:0.2);")

test_that("a fit to expected counts finds tree and model", {
  set.seed(71)
  frequencies <- c(0.3, 0.2, 0.15, 0.35)
  models <- list(
    substitution_model("JC69"), substitution_model("K80", kappa = 3),
    substitution_model("HKY85", kappa = 4, base_freqs = frequencies),
    substitution_model("GTR", rates = c(1, 3, 0.7, 1.4, 5, 1), base_freqs = frequencies),
    substitution_model("HKY85", kappa = 4, base_freqs = frequencies, alpha = 0.7)
  )
  for (model in models) {
    counts <- tree_counts(three, model, 1e12)
    for (frequencies in c("empirical", "ml")) {
      fit <- fit_substitution_model(
        counts, "((a,f),b,c);", model$name, gamma = !is.null(model$alpha),
        base_freqs = frequencies, species = three$tip.label, threads = 1
      )
      expect_true(fit$converged)
      expect_equal(fit$tree$edge.length, three$edge.length, tolerance = 1e-4)
      expect_equal(fit$model$rates, model$rates, tolerance = 1e-3)
      expect_equal(fit$model$base_freqs, model$base_freqs, tolerance = 1e-4)
      expect_equal(fit$model$alpha, model$alpha, tolerance = 1e-3)
      expect_equal(fit$log_likelihood, sum(counts$count * log(counts$count / sum(counts$count))),
                   tolerance = 1e-10)
    }
  }
})

# Given all leaves of all sites, the expected changes of a branch are those of the model.
test_that("substitutions by branch are the model's on expected counts", {
  set.seed(73)
  tree <- three
  tree$node.label <- c("", "af")
  model <- substitution_model(
    "HKY85", kappa = 4, base_freqs = c(0.3, 0.2, 0.15, 0.35), alpha = 0.7, invariant = 0.2
  )
  counts <- tree_counts(tree, model, 1e12)
  found <- branch_substitutions(counts, tree, model, species = tree$tip.label, threads = 1)
  expect_identical(unique(found$branch), c("af", "a", "f", "b", "c"))
  expect_identical(nrow(found), 60L)
  classes <- oracle_classes(model)
  for (edge in seq_len(nrow(tree$edge))) {
    joint <- Reduce(`+`, Map(function(rate, share) {
      share * model$base_freqs * oracle_transitions(model, rate * tree$edge.length[edge])
    }, classes$rate, classes$share))
    here <- found[12 * (edge - 1) + 1:12, ]
    pair <- cbind(match(here$from, bases), match(here$to, bases))
    expect_equal(here$substitutions, 1e12 * joint[pair], tolerance = 1e-6)
    expect_equal(here$sites, 1e12 * unname(model$base_freqs[pair[, 1]]), tolerance = 1e-6)
  }
  # The same from classes of sites that have one model
  by_class <- model
  by_class$classes <- lapply(
    stats::setNames(nm = neighbour_classes), function(name) with_rate(model, 1)
  )
  classed <- do.call(rbind, lapply(neighbour_classes, function(name) {
    data.frame(counts, neighbours = name)
  }))
  parts <- branch_substitutions(classed, tree, by_class, species = tree$tip.label, threads = 1)
  expect_equal(parts$substitutions, 4 * found$substitutions)
})

test_that("substitutions by branch need lengths, and take fits and configurations", {
  counts <- primate_counts()
  expect_error(branch_substitutions(counts, primate_topology, threads = 1),
               "lacks some or all branch lengths", class = "ancify_input_error")
  expect_error(branch_substitutions(counts, threads = 1), "`tree` is missing",
               class = "ancify_input_error")
  fit <- fit_substitution_model(counts, primate_topology, "HKY85", threads = 1)
  found <- branch_substitutions(counts, fit$tree, fit$model, threads = 1)
  # Differences between human and chimpanzee arose on their two branches.
  share <- function(branch) {
    here <- found[found$branch == branch, ]
    sum(here$substitutions) / sum(here$sites[!duplicated(here$from)])
  }
  bases_of <- function(i) substr(counts$pattern, i, i)
  both <- bases_of(1) != "N" & bases_of(4) != "N"
  differ <- both & bases_of(1) != bases_of(4)
  expect_equal(share("hg18") + share("panTro2"),
               sum(counts$count[differ]) / sum(counts$count[both]), tolerance = 0.05)
  # C to T and G to A are the most frequent changes.
  total <- rowsum(found$substitutions, paste0(found$from, found$to))
  expect_setequal(rownames(total)[order(-total)][1:4], c("CT", "GA", "TC", "AG"))

  # Support values name no branch, and a branch of length 0 allows no difference.
  named <- branch_substitutions(
    counts, "(((hg18:.01,panTro2:.01)100:.01,ponAbe2:.03)100:.02,rheMac2:.04);", threads = 1
  )
  expect_true("(hg18,panTro2)" %in% named$branch)
  expect_identical(anyDuplicated(named[c("branch", "from", "to")]), 0L)
  expect_error(
    branch_substitutions(counts, "(((hg18:0,panTro2:0):0,ponAbe2:0):0,rheMac2:1);", threads = 1),
    "impossible on this tree", class = "ancify_input_error"
  )

  folder <- command_folder()
  config <- file.path(folder, "ancify.yaml")
  of_config <- branch_substitutions(config, threads = 1)
  settings <- ancify_config(config)
  same <- branch_substitutions(
    count_patterns(config, threads = 1), settings$tree, "JC69", threads = 1
  )
  expect_equal(of_config, same)
  # A given tree is not fitted.
  estimating <- yaml::read_yaml(config)
  estimating$estimate <- TRUE
  yaml::write_yaml(estimating, config)
  expect_equal(branch_substitutions(config, settings$tree, "JC69", threads = 1), same)
  expect_false(isTRUE(all.equal(branch_substitutions(config, threads = 1), same)))
  expect_identical(unique(of_config$branch),
                   c("(focal,near1,near2)", "(focal,near1)", "focal", "near1", "near2", "far"))
})

test_that("a branch above many species has a short name of its own", {
  set.seed(60)
  tree <- ape::rtree(40)
  tree$tip.label <- paste0("s", 1:40)
  nodes <- tree$edge[, 2]
  names <- vapply(nodes, label_of_node, "", tree = tree)
  expect_identical(anyDuplicated(names), 0L)
  expect_lte(max(nchar(names)), nchar("(s10,s11,s12 and 37 more)"))
  ladder <- ape::read.tree(text = "(((((a,b),c),d),e),f);")
  expect_identical(vapply(8:11, label_of_node, "", tree = ladder),
                   c("(a,b,c and 2 more)", "(a,b,c,d)", "(a,b,c)", "(a,b)"))
})

test_that("a share of invariant sites is found", {
  model <- substitution_model("JC69", invariant = 0.3)
  far <- three
  far$edge.length <- 4 * three$edge.length
  fit <- fit_substitution_model(tree_counts(far, model, 1e12), "((a,f),b,c);", "JC69",
                                invariant = TRUE, species = three$tip.label, threads = 1)
  expect_equal(fit$model$invariant, 0.3, tolerance = 1e-3)
})

# IQ-TREE's ancestral states (-asr) ignore the class of invariant sites; its likelihood does not.
test_that("with gamma rates and invariant sites the likelihood is IQ-TREE's", {
  require_tool("iqtree2")
  set.seed(56)
  species <- c("a", "b", "c", "focal")
  sequences <- random_columns(species, 400)
  alignment <- tempfile(fileext = ".fa")
  writeLines(paste0(">", species, "\n", sequences), alignment)
  tree <- "(((focal:0.1,a:0.2):0.1,b:0.3):0.2,c:0.4);"
  topology <- tempfile(fileext = ".nwk")
  writeLines(tree, topology)
  prefix <- tempfile()
  result <- run_program(
    "iqtree2", "-s", alignment, "-te", topology, "-blfix", "-m",
    "HKY{4.9}+F{0.2,0.3,0.28,0.22}+I{0.25}+G4{0.6}", "-pre", prefix, "-nt", "1", "-quiet"
  )
  expect_identical(result$status, 0L)
  reported <- grep(
    "^Log-likelihood of the tree", readLines(paste0(prefix, ".iqtree")), value = TRUE
  )
  theirs <- as.numeric(sub(".*: (-[0-9.]+) .*", "\\1", reported))

  counts <- count_patterns(sequences[1:3], NULL, sequences["focal"], threads = 1)
  tree <- ape::read.tree(text = tree)
  model <- substitution_model(
    "HKY85", kappa = 4.9, base_freqs = c(0.2, 0.3, 0.28, 0.22), alpha = 0.6, invariant = 0.25
  )
  likelihood <- pattern_likelihood_impl(
    core_tree(tree, species[1:3], "focal"), 3L, counts$pattern, counts$count
  )
  lengths <- branch_lengths(tree)
  lengths[is.na(lengths)] <- 0 # the root's
  ours <- log_likelihood_impl(likelihood, lengths, core_model(model), new_work(1))
  expect_lt(abs(ours - theirs), 1e-3)
})

test_that("gradient and standard errors are derivatives of the log-likelihood", {
  set.seed(72)
  model <- substitution_model("GTR", rates = c(1, 3, 0.7, 1.4, 5, 1), alpha = 0.6, invariant = 0.2)
  tree <- ape::read.tree(text = "(((a:0.1,f:0.05):0.03,b:0.12):0.1,c:0.2);")
  counts <- tree_counts(tree, model, 10000)
  counts$count <- stats::rpois(nrow(counts), counts$count)
  sites <- counts_for_tree(structure(counts, species = tree$tip.label), tree, NULL, NULL)
  likelihood <- pattern_likelihood_impl(core_tree(tree, sites$species), 4L, sites$patterns,
                                        sites$counts)
  space <- parameter_space(tree, model, TRUE)
  expect_length(space$start, 5 + 5 + 3 + 2)
  slope <- slope_of(likelihood, space, new_work(1))
  value <- function(x) {
    at <- space$point(x)
    log_likelihood_impl(likelihood, at$lengths, at$model, new_work(1))
  }
  x <- space$start + stats::rnorm(length(space$start), 0, 0.1)
  numeric <- vapply(seq_along(x), function(i) {
    by <- replace(numeric(length(x)), i, 1e-5)
    (value(x + by) - value(x - by)) / 2e-5
  }, 0)
  expect_equal(slope(x)$value, value(x), tolerance = 1e-12)
  expect_equal(slope(x)$gradient, numeric, tolerance = 1e-5)

  # One parameter with a known standard error. p: the share of sites that differ.
  pairs <- data.frame(pattern = c("AA", "AC"), count = c(900, 100))
  fit <- fit_substitution_model(pairs, "(a,b);", "JC69", species = c("a", "b"))
  p <- 0.1
  expect_equal(fit$estimates$estimate, -0.75 * log(1 - p * 4 / 3), tolerance = 1e-6)
  expect_equal(fit$estimates$std_error, sqrt(p * (1 - p) / 1000) / (1 - p * 4 / 3),
               tolerance = 1e-4)
  expect_equal(fit$tree$edge.length, rep(fit$estimates$estimate / 2, 2))
})

test_that("two branches at the root are one, divided as in the given tree", {
  counts <- tree_counts(three, substitution_model("JC69"), 1e6)
  fit_on <- function(tree) {
    fit_substitution_model(counts, tree, "JC69", species = three$tip.label, threads = 1)
  }
  none <- fit_on("((a,f),(b,c));")
  given <- fit_on("((a:1,f:1):3,(b:1,c:1):1);")
  expect_identical(none$df, 5)
  length_at_root <- function(fit) {
    fit$tree$edge.length[fit$tree$edge[, 1] == 5]
  }
  expect_equal(length_at_root(none), rep(sum(length_at_root(none)) / 2, 2))
  expect_equal(length_at_root(given), sum(length_at_root(none)) * c(0.75, 0.25), tolerance = 1e-4)
  expect_equal(none$log_likelihood, given$log_likelihood, tolerance = 1e-10)
  # A node with one branch has no length of its own.
  single <- fit_on("(((a,f)),((b),c));")
  expect_equal(single$log_likelihood, none$log_likelihood)
})

test_that("the primates' fit is no worse than PHAST's, and its calls are usable", {
  counts <- primate_counts()
  folder <- dirname(test_data("primates_hg18_100k", "phast_hky85.mod"))
  phast <- read_phast(file.path(folder, "phast_hky85.mod"), "HKY85")

  # The file's log-likelihood is that of the outgroups alone, at its parameters.
  outgroups <- fit_substitution_model(counts, "((panTro2,ponAbe2),rheMac2);")
  expect_gt(outgroups$log_likelihood, phast$log_likelihood - 0.01)

  # With hg18, phyloFit's log-likelihood of the four rows.
  fit <- fit_substitution_model(counts, primate_topology)
  expect_gt(fit$log_likelihood, -187529.905365 - 0.01)
  theirs <- ape::read.tree(text = phast$tree)
  expect_equal(fit$tree$edge.length, theirs$edge.length, tolerance = 1e-4)
  expect_equal(fit$model$kappa, phast$model$kappa, tolerance = 1e-4)
  expect_lt(max(abs(fit$model$base_freqs - phast$model$base_freqs)), 1e-6)

  called <- call_ancestral(
    c(panTro2 = "ACGT", ponAbe2 = "AGGN"), c(rheMac2 = "AGTN"), "likelihood", fit$tree,
    focal = "hg18", model = fit$model
  )
  expect_identical(nchar(called), 4L)
  expect_lt(AIC(fit_substitution_model(counts, primate_topology, gamma = TRUE)), AIC(fit))
})

test_that("the fit's methods", {
  counts <- tree_counts(three, substitution_model("K80", kappa = 3), 1e5)
  sites <- sum(counts$count)
  fit <- fit_substitution_model(counts, "((a,f),b,c);", "K80", species = three$tip.label)
  expect_s3_class(logLik(fit), "logLik")
  expect_identical(attr(logLik(fit), "df"), 6)
  expect_identical(AIC(fit), -2 * fit$log_likelihood + 12)
  expect_equal(BIC(fit), -2 * fit$log_likelihood + 6 * log(sites))
  expect_equal(coef(fit)[["kappa"]], 3, tolerance = 0.01)
  expect_output(print(fit), "K80, [0-9,]+ sites, log-likelihood")
  expect_output(print(summary(fit)), "length \\(a,f\\) .*kappa +2.99")
})

test_that("a fit at the focal node takes the focal species' bases", {
  counts <- tree_counts(three, substitution_model("JC69"), 1e5)
  refused <- function(..., text) {
    expect_ancify_error(fit_substitution_model(...), "input", text)
  }
  without <- data.frame(
    pattern = paste0(substr(counts$pattern, 1, 1), substr(counts$pattern, 3, 4)),
    count = counts$count
  )
  refused(without, "((a,f),b,c);", "JC69", species = c("a", "b", "c"), text = "`tree` has 'f', but")
  # A tree without the focal species: its bases are not used.
  with_focal <- structure(
    counts, species = three$tip.label, focal = "f", class = c("ancify_patterns", "data.frame")
  )
  fit <- fit_substitution_model(with_focal, "(a,b,c);", "JC69")
  same <- fit_substitution_model(without, "(a,b,c);", "JC69", species = c("a", "b", "c"))
  expect_equal(fit$log_likelihood, same$log_likelihood)
})

test_that("counts that cannot be fitted are errors with the reason", {
  counts <- data.frame(pattern = c("AC", "AA"), count = 1:2)
  refused <- function(counts, ..., text) {
    expect_ancify_error(fit_substitution_model(counts, ...), "input", text)
  }
  refused(counts, "(a,b);", text = "`species`")
  refused(counts, "(a,b", species = c("a", "b"), text = "Newick")
  refused(counts, species = c("a", "b"), text = "`tree` is missing")
  refused(counts, "(a,b,c);", species = c("a", "b", "c"), text = "has 2 bases")
  refused(counts, "(a,c);", species = c("a", "b"), text = "'c'")
  refused(counts, "(a,b);", species = c("a", "b"), text = "No species has G and T")
  refused(counts, "(a,b);", "F81", species = c("a", "b"), text = "'F81'")
  refused(counts, "(a,b);", list(), species = c("a", "b"), text = "`model`")
  refused(counts, "(a,b);", gamma = NA, species = c("a", "b"), text = "`gamma`")
  refused(counts[0, ], "(a,b);", species = c("a", "b"), text = "no sites")
  refused(data.frame(pattern = "AC", n = 1), "(a,b);", species = c("a", "b"), text = "`count`")
  row <- function(pattern, count) data.frame(pattern = c("AC", pattern), count = c(1, count))
  refused(row("AA", 2^60), "(a,b);", text = "at most 2^53")
  one <- data.frame(pattern = "A", count = 1)
  refused(one, "(a);", species = "a", text = "at least two")
  refused(data.frame(pattern = c("AN", "CN"), count = 1:2), "(a,b);", species = c("a", "b"),
          text = "No site has a base of 'b'")
  refused(counts, "(a,b);", n_rates = 101, species = c("a", "b"), text = "`n_rates`")
  refused(row("AA", -1), "(a,b);",
          text = "Row 2 of `patterns` has the pattern 'AA' and the count -1")
  refused(row("AA", NA), "(a,b);", text = "the count NA")
  refused(row(NA, 1), "(a,b);", text = "Row 2 of `patterns` has the pattern missing (NA)")
  refused(row("AA", 1.5), "(a,b);", text = "Row 2 of `patterns` has the count 1.5")
  changed <- substitution_model("K80", kappa = 2)
  changed$kappa <- -1
  refused(counts, "(a,b);", changed, species = c("a", "b"), text = "`kappa`")
  changed$name <- NULL
  refused(counts, "(a,b);", changed, species = c("a", "b"), text = "`model$name`")
})

test_that("parameters at a bound have no standard error, also if all are", {
  same <- data.frame(pattern = c("AA", "CC", "GG", "TT"), count = 1000)
  fit <- fit_substitution_model(same, "(a,b);", "JC69", species = c("a", "b"), threads = 1)
  expect_lt(fit$estimates$estimate, 1e-7)
  expect_identical(fit$estimates$std_error, NA_real_)
})

test_that("only parameters that the data determine have standard errors", {
  flat <- inverse_curvature(rbind(c(2, 2, 0), c(2, 2, 0), c(0, 0, 4)))
  expect_identical(is.na(diag(flat)), c(TRUE, TRUE, FALSE))
  expect_equal(flat[3, 3], 0.25)
  whole <- crossprod(matrix(c(2, 1, 0, 1, 3, 1, 0, 1, 2), 3))
  expect_equal(inverse_curvature(whole), solve(whole))
  # Noise in place of a curvature, where eigen() would not end for numbers of many magnitudes
  noise <- diag(c(4, -9.09e-5, 9, 1))
  noise[1, 2] <- noise[2, 1] <- -4.9e-6
  noise[2, 4] <- noise[4, 2] <- 4.9e-6
  noise[1, 4] <- noise[4, 1] <- -5.28e-7
  expect_equal(diag(inverse_curvature(noise)), c(1 / 4, NA, 1 / 9, 1))
  expect_equal(inverse_curvature(diag(c(0, -1))), matrix(NA_real_, 2, 2))
})

test_that("`focal` is one species of the tree", {
  pairs <- data.frame(pattern = c("AAA", "ACC"), count = c(900, 100))
  refused <- function(focal, text) {
    expect_ancify_error(
      fit_substitution_model(pairs, "(a,b,f);", "JC69", species = c("a", "b", "f"), focal = focal),
      "input", text
    )
  }
  refused("zz", "no leaf")
  refused(c("f", "a"), "one species' name")
  refused(NA_character_, "one species' name")
  refused(1, "one species' name")
})

test_that("a fit prints and keeps names with blanks and quotes", {
  pairs <- data.frame(pattern = c("AA", "AC"), count = c(900, 100))
  tree <- "('Homo sapiens','it''s');"
  fit <- fit_substitution_model(pairs, tree, "JC69", species = c("Homo sapiens", "it's"))
  expect_output(print(fit), "('Homo sapiens':", fixed = TRUE)
  written <- parse_newick(fitted_model_keys(fit)$tree)
  expect_identical(written$tip.label, c("Homo sapiens", "it's"))
})

test_that("an unknown model name is an error with a suggestion", {
  patterns <- count_patterns(c(a = "ACGT"), c(b = "ACGA"), focal = c(f = "ACGT"))
  expect_ancify_error(
    fit_substitution_model(patterns, "((f,a),b);", model = "HKY8"), "input", "`model` must be",
    "did you mean 'HKY85'?"
  )
})
