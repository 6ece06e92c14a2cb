# All methods on the same simulated sites, many with incomplete lineage sorting
# (inst/script/make_sites.R).

kinds <- read.delim(
  system.file("extdata", "lineage_sorting.tsv.gz", package = "ancify"), colClasses = "character"
)
kinds$copies <- as.integer(kinds$copies)
kinds$sites <- as.integer(kinds$sites)
polymorphic <- kinds[kinds$copies > 0, ]
bases <- c("A", "C", "G", "T")
history <- coalescent_history(
  c(near1 = 40000, near2 = 120000, far = 200000), 30000, 30000,
  model = substitution_model("K80", kappa = 4)
)

column <- function(sites, i) paste(substr(sites$outgroups, i, i), collapse = "")
near_of <- function(sites) c(near1 = column(sites, 1), near2 = column(sites, 2))
far_of <- function(sites) c(far = column(sites, 3))
letters_of <- function(text) strsplit(text, "")[[1]]

# Most methods see only the site pattern, so each pattern is called once.
call_kinds <- function(...) {
  call_ancestral(near_of(kinds), far_of(kinds), ..., posterior = TRUE, threads = 1)
}

# The share of sites with a called base, and the share of these that is right.
shares <- function(calls, sites) {
  called <- toupper(calls) %in% bases & calls != "n"
  right <- called & toupper(calls) == sites$ancestor
  sum_of <- function(chosen) sum(sites$sites[chosen])
  c(called = sum_of(called) / sum(sites$sites), right = sum_of(right) / sum_of(called))
}
scores <- function(calls, sites) {
  varies <- sites$copies > 0
  c(shares(calls, sites), varying = shares(calls[varies], sites[varies, ]))
}

best_base <- function(posterior) bases[max.col(posterior, ties.method = "first")]
# Mean maximum posterior
claimed <- function(posterior, sites) {
  weighted.mean(apply(posterior, 1, max), sites$sites)
}

polarised <- function(history) {
  as.matrix(polarise_sites(
    polymorphic$outgroups, paste(polymorphic$focal, polymorphic$other, sep = "/"),
    polymorphic$copies, 20, history
  )[bases])
}
with_alleles <- shares(best_base(polarised(history)), polymorphic)[["right"]]

pattern_counts <- data.frame(pattern = paste0(kinds$outgroups, kinds$focal), count = kinds$sites)
species <- c("near1", "near2", "far", "focal")

test_that("methods with more information call better", {
  fit <- fit_substitution_model(
    pattern_counts, "(((focal,near1),near2),far);", "K80", species = species, focal = "focal",
    threads = 1
  )
  expect_equal(fit$model$kappa, 4, tolerance = 0.03)
  voting <- call_ancestral(near_of(kinds), far_of(kinds), threads = 1)
  parsimony <- call_ancestral(
    near_of(kinds), far_of(kinds), "parsimony", fit$tree, focal = "focal", ties = "alphabet",
    threads = 1
  )
  likelihood <- call_kinds("likelihood", fit$tree, focal = "focal", model = fit$model)
  coalescent <- call_kinds("coalescent", history = history)
  table <- rbind(
    voting = scores(letters_of(voting), kinds),
    parsimony = scores(letters_of(parsimony), kinds),
    likelihood = scores(best_base(likelihood$posterior), kinds),
    coalescent = scores(best_base(coalescent$posterior), kinds)
  )

  # Parsimony takes any gene tree for the species tree. Voting leaves open where tiers disagree.
  right <- table[, "varying.right"]
  expect_lt(right[["parsimony"]], 0.94)
  expect_lt(table["voting", "varying.called"], 0.93)
  expect_gt(right[["voting"]], right[["coalescent"]])
  expect_gt(right[["coalescent"]], 0.975)
  expect_gt(right[["coalescent"]], right[["likelihood"]] - 0.001)
  expect_gt(with_alleles, 0.987)
  expect_gt(with_alleles, right[["coalescent"]] + 0.01)
  expect_equal(table[c("likelihood", "coalescent"), "called"], c(likelihood = 1, coalescent = 1))

  # Posteriors are calibrated.
  expect_lt(abs(claimed(coalescent$posterior, kinds) - table["coalescent", "right"]), 0.001)
  expect_lt(abs(claimed(polarised(history), polymorphic) - with_alleles), 0.003)
})

test_that("a history fitted to the sites polarises as well", {
  start <- history
  start$splits <- history$splits * c(1.3, 1.2, 0.8)
  start$sizes <- history$sizes * c(0.5, 2, 0.6)
  fit <- fit_history(pattern_counts, start, species, "focal")
  # The true values are within a few standard errors.
  true <- c(history$splits, history$sizes)
  expect_lt(max(abs(coef(fit) - true) / fit$estimates$std_error), 3)
  fitted <- shares(best_base(polarised(fit$history)), polymorphic)[["right"]]
  expect_gt(fitted, with_alleles - 0.003)
})

test_that("ml learns incomplete lineage sorting from such sites", {
  require_python_lightgbm()
  set.seed(6)
  drawn <- kinds[sample(nrow(kinds), 1e6, replace = TRUE, prob = kinds$sites), ]
  drawn$sites <- 1
  training <- drawn[1:3e5, ]
  other <- drawn[-(1:3e5), ]
  folder <- new_folder()
  focal <- paste(training$focal, collapse = "")
  outgroups <- c(near_of(training), far_of(training))
  alignments <- vapply(names(outgroups), function(name) {
    axt_file(axt_block("chr1", 1, focal, outgroups[[name]]), path = file.path(folder, name))
  }, "")
  one <- function(names) {
    lapply(names, function(name) list(name = name, alignment = alignments[[name]]))
  }
  sizes <- file.path(folder, "chrom.sizes")
  writeLines(paste("chr1", nrow(training), sep = "\t"), sizes)
  config <- list(
    focal_species = "focal", chromosome_lengths = sizes, work_dir = folder,
    outgroups = list(inner = one(c("near1", "near2")), outer = one("far")),
    ml_training_reference = calls_folder(list(chr1 = paste(training$ancestor, collapse = "")))
  )
  model <- ancify_train(
    config, rounds = 30, leaves = 15, threads = 2, progress = FALSE, verbose = FALSE
  )
  ml <- call_ancestral(
    near_of(other), far_of(other), "ml", model = model, posterior = TRUE, threads = 2
  )
  parsimony <- call_ancestral(
    near_of(other), far_of(other), "parsimony", "(((focal,near1),near2),far);", focal = "focal",
    ties = "alphabet", threads = 2 # as ml, a call of each site
  )
  of_ml <- scores(best_base(ml$posterior), other)
  of_parsimony <- scores(letters_of(parsimony), other)
  expect_gt(of_ml[["right"]], 0.998)
  expect_gt(of_ml[["varying.right"]], of_parsimony[["varying.right"]] + 0.02)
})
