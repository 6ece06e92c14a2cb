# Whether polarity at CpG sites gains by rates of their own: one model for all sites, beside one by
# cpg_class().
# cpg.R PYTHON LOCI: simulates loci of 1,000 bases (simulate_cpg.py), polarises the sites that vary
# and prints a table.

library(ancify)
arguments <- commandArgs(TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "histories.R"))
bases <- c("A", "C", "G", "T")

simulate_cpg <- function(history, seed) {
  script <- file.path(here, "simulate_cpg.py")
  to <- simulate_history(script, arguments[1], history, seed, tempfile(), arguments[2])
  lapply(c(patterns = "patterns.tsv", varying = "varying.tsv"), function(file) {
    read.delim(file.path(to, file))
  })
}

# The history with a model that is fitted to the patterns. The simulation's mutation rate is that of
# sites without a CpG, and a history's that of all sites.
fitted_history <- function(history, patterns) {
  attr(patterns, "species") <- c(paste0("o", seq_along(history$splits)), "focal")
  attr(patterns, "focal") <- "focal"
  patterns$count <- as.numeric(patterns$count)
  model <- substitution_model("GTR", by = "cpg")
  fit <- fit_substitution_model(patterns, "(((focal,o1),o2),o3);", model, threads = 1)
  coalescent_history(
    history$splits, history$sizes, history$focal_size, history$haplotypes,
    history$mutation_rate / fit$model$classes$other$relative_rate, fit$model
  )
}

scores_of <- function(history, name, seed) {
  simulated <- simulate_cpg(history, seed)
  sites <- simulated$varying
  by_class <- fitted_history(history, simulated$patterns)
  one_model <- by_class
  one_model$model$classes <- NULL
  posterior <- function(history, ...) {
    as.matrix(polarise_sites(
      sites$outgroups, sites$alleles, sites$copies, history$focal_lineages, history, ...
    )[bases])
  }
  one <- posterior(one_model)
  own <- posterior(by_class, sites$neighbours)
  decays <- (sites$alleles == "C/T" & sites$neighbours %in% c("NpG", "CpNpG")) |
    (sites$alleles == "A/G" & sites$neighbours %in% c("CpN", "CpNpG"))
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
