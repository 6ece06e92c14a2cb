# Whether polarity at CpG sites gains by models of their own: one model for all sites, beside a
# model for each class of neighbouring bases.
# cpg.R PYTHON LOCI: simulates loci of 1,000 bases (simulate_cpg.py), polarises the sites that vary
# and prints a table.

library(ancify)
arguments <- commandArgs(TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "histories.R"))
bases <- c("A", "C", "G", "T")

simulate_cpg <- function(history, seed) {
  to <- tempfile()
  dir.create(to)
  fields <- c(history[setdiff(names(history), c("assumed", "missing"))], seed = seed)
  input <- file.path(to, "history.json")
  writeLines(jsonlite::toJSON(fields, auto_unbox = TRUE, digits = NA, null = "list"), input)
  command <- c(file.path(here, "simulate_cpg.py"), input, to, arguments[2])
  if (system2(arguments[1], command) != 0) stop("simulate_cpg.py failed")
  lapply(c(patterns = "patterns.tsv", varying = "varying.tsv"), function(file) {
    read.delim(file.path(to, file))
  })
}

# Posteriors by a model that is fitted to the patterns. `plain`: the summed branches of the sites
# without a CpG, which have the history's mutation rate.
posteriors_by <- function(history, patterns, sites, plain = NULL) {
  species <- paste0("o", seq_along(history$splits))
  totals <- aggregate(count ~ pattern, patterns, sum)
  totals$count <- as.numeric(totals$count)
  tree <- "(((focal,o1),o2),o3);"
  fit <- fit_substitution_model(
    totals, tree, "GTR", species = c(species, "focal"), focal = "focal", threads = 1
  )
  length <- sum(fit$tree$edge.length)
  by <- coalescent_history(
    history$splits, history$sizes, history$focal_size, history$haplotypes,
    history$mutation_rate * length / (if (is.null(plain)) length else plain), fit$model
  )
  list(length = length, posterior = if (nrow(sites)) as.matrix(polarise_sites(
    sites$outgroups, sites$alleles, sites$copies, history$haplotypes, by
  )[bases]))
}

scores_of <- function(history, name, seed) {
  simulated <- simulate_cpg(history, seed)
  patterns <- simulated$patterns
  sites <- simulated$varying
  plain <- posteriors_by(history, patterns[patterns$beside == 0, ], sites[0, ])$length
  one <- posteriors_by(history, patterns, sites, plain)$posterior
  own <- one
  for (kind in unique(sites$beside)) {
    at <- sites$beside == kind
    own[at, ] <- posteriors_by(
      history, patterns[patterns$beside == kind, ], sites[at, ], plain
    )$posterior
  }
  decays <- (sites$alleles == "C/T" & sites$beside %in% c(1, 3)) |
    (sites$alleles == "A/G" & sites$beside %in% c(2, 3))
  score <- function(posterior, chosen) {
    best <- max.col(posterior, ties.method = "first")
    weight <- sites$sites[chosen]
    truth <- posterior[cbind(seq_along(best), match(sites$ancestor, bases))]
    c(
      right = weighted.mean((bases[best] == sites$ancestor)[chosen], weight),
      stated = weighted.mean(posterior[cbind(seq_along(best), best)][chosen], weight),
      log_score = weighted.mean(log(truth)[chosen], weight)
    )
  }
  rows <- list(list("CpG", decays), list("others", !decays))
  do.call(rbind, lapply(rows, function(row) {
    data.frame(
      history = name, where = row[[1]], model = c("one", "by class"),
      sites = sum(sites$sites[row[[2]]]), rbind(score(one, row[[2]]), score(own, row[[2]]))
    )
  }))
}

chosen <- histories()[c("human", "near", "strong")]
scores <- Map(scores_of, chosen, names(chosen), 11:13)
print(do.call(rbind, scores), digits = 4, row.names = FALSE)
