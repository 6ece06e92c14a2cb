# How much the true gene tree of each site would tell beyond what the site tells by itself. It is
# the most that any method can gain from neighbouring sites: given the trees, mutations at
# different sites are independent.
# gene_trees.R PYTHON BLOCKS: simulates blocks of 2 Mb (gene_trees.py), polarises the sites that
# vary and prints a table.

library(ancify)
arguments <- commandArgs(TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "histories.R"))
bases <- c("A", "C", "G", "T")

simulate_block <- function(history, seed) {
  to <- simulate_history(file.path(here, "gene_trees.py"), arguments[1], history, seed)
  read.delim(file.path(to, "sites.tsv"), colClasses = c(alleles = "character"))
}

true_history <- function(history) {
  changes <- do.call(rbind, as.list(history$focal_changes))
  coalescent_history(
    history$splits, history$sizes, c(history$focal_size, changes[, 2]), history$haplotypes,
    history$mutation_rate, substitution_model("K80", kappa = history$kappa), history$into,
    focal_times = as.numeric(changes[, 1])
  )
}

# Whether the more probable allele is the ancestor's, and its probability.
judged <- function(second, sites) {
  allele <- ifelse(second > 0.5, substr(sites$alleles, 3, 3), substr(sites$alleles, 1, 1))
  data.frame(right = allele == sites$ancestor, stated = pmax(second, 1 - second))
}

scores_of <- function(history, name, seed) {
  history$length <- 2e6
  taken <- true_history(history)
  blocks <- lapply(seq_len(as.integer(arguments[2])), function(i) {
    sites <- simulate_block(history, seed + 10 * i)
    posterior <- as.matrix(polarise_sites(
      sites$outgroups, sites$alleles, sites$copies, history$haplotypes, taken
    )[bases])
    second <- posterior[cbind(seq_len(nrow(sites)), match(substr(sites$alleles, 3, 3), bases))]
    lapply(list(site = second, order = sites$by_order, tree = sites$by_tree), judged, sites)
  })
  joined <- function(known) do.call(rbind, lapply(blocks, `[[`, known))
  by_site <- joined("site")
  do.call(rbind, lapply(c("site", "order", "tree"), function(known) {
    gains <- vapply(blocks, function(x) mean(x[[known]]$right) - mean(x$site$right), 0)
    calls <- joined(known)
    data.frame(
      history = name, known, sites = nrow(calls), right = mean(calls$right),
      stated = mean(calls$stated), gain = mean(calls$right) - mean(by_site$right),
      std_error = stats::sd(gains) / sqrt(length(gains))
    )
  }))
}

chosen <- histories()[c("human", "near", "strong", "uneven", "sisters", "missing")]
# Ancestral populations sort far more than the focal one
chosen$quick <- simulated(c(60000, 70000, 80000), 80000, 15000, 2e6)
scores <- Map(scores_of, chosen, names(chosen), 7000 * seq_along(chosen))
print(do.call(rbind, scores), digits = 4, row.names = FALSE)
