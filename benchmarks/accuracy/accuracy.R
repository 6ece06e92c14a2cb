# How often each method is right where the focal species varies, and whether it says so.
# accuracy.R PYTHON FOLDER [--short | CURVES]: simulates sites (simulate.py), calls them and prints
# a table. Writes how often posteriors come true into the file CURVES.

library(ancify)
arguments <- commandArgs(TRUE)
python <- arguments[1]
folder <- arguments[2]
short <- "--short" %in% arguments
curves_file <- setdiff(arguments[-(1:2)], "--short")
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "histories.R"))
source(file.path(here, "est_sfs.R"))
bases <- c("A", "C", "G", "T")

# ---- Sites --------------------------------------------------------------------------------------

simulate_sites <- function(history, name, seed) {
  script <- file.path(here, "simulate.py")
  to <- simulate_history(script, python, history, seed, file.path(folder, name))
  read <- function(file) read.delim(file.path(to, file), colClasses = "character")
  patterns <- read("patterns.tsv")
  patterns$count <- as.numeric(patterns$count)
  sites <- read("varying.tsv")
  sites[c("copies", "sites")] <- lapply(sites[c("copies", "sites")], as.numeric)
  if (history$missing > 0) sites <- with_missing(sites, history$missing, seed)
  list(patterns = patterns, varying = sites)
}

# Each outgroup's base is missing with this probability; a row a site.
with_missing <- function(sites, share, seed) {
  set.seed(seed)
  sites <- sites[rep(seq_len(nrow(sites)), sites$sites), ]
  sites$sites <- 1
  letters <- do.call(rbind, strsplit(sites$outgroups, ""))
  letters[runif(length(letters)) < share] <- "N"
  sites$outgroups <- apply(letters, 1, paste, collapse = "")
  sites[grepl("[ACGT]", sites$outgroups), ]
}

# ---- Methods ------------------------------------------------------------------------------------

assumed_history <- function(history) {
  taken <- modifyList(history, history$assumed)
  coalescent_history(
    taken$splits, taken$sizes, taken$focal_size, taken$haplotypes, taken$mutation_rate,
    substitution_model("K80", kappa = taken$kappa), taken$into
  )
}

# Posteriors by histories that are fitted to the same sites, from a start that is somewhat wrong.
call_by_fits <- function(history, simulated) {
  start <- assumed_history(history)
  names(start$splits) <- paste0("o", seq_along(start$splits))
  start$splits <- start$splits * 1.2
  start$sizes <- start$sizes * 0.7
  start["focal_size"] <- list(NULL)
  sites <- simulated$varying
  variants <- data.frame(
    pattern = sites$outgroups, sites["alleles"], counts = sites$copies, n = history$haplotypes,
    sites = sites$sites
  )
  fitted <- function(...) {
    fit <- fit_history(simulated$patterns, start, c(names(start$splits), "focal"), "focal", ...)
    as.matrix(polarise_sites(
      sites$outgroups, sites$alleles, sites$copies, history$haplotypes, fit$history
    )[bases])
  }
  list(
    `fitted to one haplotype` = fitted(), `fitted to allele counts` = fitted(variants = variants)
  )
}

# The species' tree as Newick, its splits in the order of time.
topology <- function(history) {
  at <- c("focal", paste0("o", seq_along(history$splits)))
  for (i in order(history$splits)) {
    into <- history$into[i] + 1
    at[into] <- sprintf("(%s,%s)", at[into], at[i + 1])
  }
  paste0(at[1], ";")
}

# A list of posteriors or calls by method.
call_sites <- function(history, patterns, sites) {
  species <- paste0("o", seq_along(history$splits))
  column <- function(i) paste(substr(sites$outgroups, i, i), collapse = "")
  outgroups <- stats::setNames(vapply(seq_along(species), column, ""), species)
  outer <- which.max(history$splits)
  call <- function(...) call_ancestral(outgroups[-outer], outgroups[outer], ..., threads = 1)
  letters_of <- function(text) strsplit(text, "")[[1]]
  tree <- topology(history)
  fit <- fit_substitution_model(
    patterns, tree, "K80", species = c(species, "focal"), focal = "focal", threads = 1
  )
  taken <- assumed_history(history)
  names(taken$splits) <- species
  polarised <- function(...) {
    as.matrix(polarise_sites(sites$outgroups, sites$alleles, ..., history = taken)[bases])
  }
  list(
    voting = letters_of(call()),
    parsimony = letters_of(call("parsimony", tree, focal = "focal")),
    likelihood = call(
      "likelihood", fit$tree, focal = "focal", model = fit$model, posterior = TRUE
    )$posterior,
    `est-sfs's method` = est_sfs(sites, history$haplotypes, species, fit),
    `coalescent, nothing known` = call("coalescent", history = taken, posterior = TRUE)$posterior,
    `coalescent, alleles` = polarised(),
    `coalescent, alleles and counts` = polarised(sites$copies, history$haplotypes)
  )
}

# ---- Scores -------------------------------------------------------------------------------------

# The sites with a base: what is stated (NA if the method has no posterior), whether it is right,
# and how many such sites there are.
calls_of <- function(result, sites) {
  weight <- sites$sites
  if (is.matrix(result)) {
    best <- max.col(result, ties.method = "first")
    stated <- result[cbind(seq_along(best), best)]
    base <- bases[best]
  } else {
    base <- ifelse(result == "n", "N", toupper(result))
    stated <- rep(NA_real_, length(base))
  }
  data.frame(stated, right = base == sites$ancestor, sites = weight)[base %in% bases, ]
}

# called: share of sites with a base. right: share of these that is right. stated: their mean
# posterior. gap: mean distance of stated and right over groups of similar posteriors.
score <- function(calls, all) {
  groups <- curve_of(calls)
  c(
    called = sum(calls$sites) / all, right = weighted.mean(calls$right, calls$sites),
    stated = weighted.mean(calls$stated, calls$sites),
    gap = weighted.mean(abs(groups$stated - groups$right), groups$sites)
  )
}

# The mean posterior of groups of calls, and the share that is right.
curve_of <- function(calls) {
  ends <- c(0, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1)
  groups <- split(calls, cut(calls$stated, ends), drop = TRUE)
  mean_of <- function(column) {
    vapply(groups, function(x) weighted.mean(x[[column]], x$sites), 0)
  }
  data.frame(
    stated = mean_of("stated"), right = mean_of("right"),
    sites = vapply(groups, function(x) sum(x$sites), 0)
  )
}

# One table of all methods'.
bind_methods <- function(tables, history) {
  do.call(rbind, Map(function(table, method) {
    if (nrow(table)) data.frame(history, method, table, row.names = NULL)
  }, tables, names(tables)))
}

scores_of <- function(history, name, seed) {
  simulated <- simulate_sites(history, name, seed)
  results <- call_sites(history, simulated$patterns, simulated$varying)
  # Missing bases are not in the patterns, and a focal size that is wrong is not used.
  if (!short && history$missing == 0 && !length(history$assumed)) {
    results <- c(results, call_by_fits(history, simulated))
  }
  calls <- lapply(results, calls_of, simulated$varying)
  sites <- sum(simulated$varying$sites)
  list(
    scores = bind_methods(
      lapply(calls, function(x) data.frame(t(score(x, sites)), sites = sites)), name
    ),
    curves = bind_methods(lapply(calls[!startsWith(names(calls), "fitted")], curve_of), name)
  )
}

# Loose bounds for a small simulation.
check_scores <- function(scores) {
  of <- function(method, column) scores[scores$method == method, column]
  nothing <- "coalescent, nothing known"
  for (method in c("coalescent, alleles", "coalescent, alleles and counts")) {
    stopifnot(
      of(method, "right") > of(nothing, "right") + 0.005,
      abs(of(method, "stated") - of(method, "right")) < 0.012,
      of(method, "gap") < of(nothing, "gap"),
      of(method, "right") > of("parsimony", "right") + 0.005,
      of(method, "right") > of("est-sfs's method", "right") - 0.002
    )
  }
  stopifnot(
    of("coalescent, alleles and counts", "right") > of("coalescent, alleles", "right") - 0.002,
    all(scores$sites > 5000)
  )
}

all <- histories()
if (short) {
  all <- all["strong"]
  all$strong$length <- 2e6
}
results <- Map(scores_of, all, names(all), 2025 + seq_along(all))
scores <- do.call(rbind, lapply(results, `[[`, "scores"))
print(scores, digits = 4, row.names = FALSE)
if (short) check_scores(scores)
if (length(curves_file)) {
  curves <- do.call(rbind, lapply(results, `[[`, "curves"))
  curves[c("stated", "right")] <- round(curves[c("stated", "right")], 5)
  write.table(curves, curves_file, sep = "\t", quote = FALSE, row.names = FALSE)
}
