# How often each method is right where the focal species varies, and whether it says so.
# accuracy.R PYTHON FOLDER [--short]: simulates sites (simulate.py), calls them and prints a table.

library(ancify)
arguments <- commandArgs(TRUE)
python <- arguments[1]
folder <- arguments[2]
short <- "--short" %in% arguments
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "histories.R"))
bases <- c("A", "C", "G", "T")

# ---- Sites --------------------------------------------------------------------------------------

simulate_sites <- function(history, name, seed) {
  to <- file.path(folder, name)
  dir.create(to, recursive = TRUE, showWarnings = FALSE)
  input <- file.path(to, "history.json")
  fields <- c(history[setdiff(names(history), c("assumed", "missing"))], seed = seed)
  text <- jsonlite::toJSON(fields, auto_unbox = TRUE, digits = NA, null = "list")
  writeLines(text, input)
  status <- system2(python, c(file.path(here, "simulate.py"), input, to))
  if (status != 0) stop("simulate.py failed for the history ", name)
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
    `coalescent, nothing known` = call("coalescent", history = taken, posterior = TRUE)$posterior,
    `coalescent, alleles` = polarised(),
    `coalescent, alleles and counts` = polarised(sites$copies, history$haplotypes)
  )
}

# ---- Scores -------------------------------------------------------------------------------------

# called: share of sites with a base. right: share of these that is right. stated: their mean
# posterior. gap: mean distance of stated and right over groups of similar posteriors.
score <- function(result, sites) {
  weight <- sites$sites
  if (is.matrix(result)) {
    best <- max.col(result, ties.method = "first")
    stated <- result[cbind(seq_along(best), best)]
    base <- bases[best]
  } else {
    base <- ifelse(result == "n", "N", toupper(result))
    stated <- rep(NA_real_, length(base))
  }
  called <- base %in% bases
  right <- (base == sites$ancestor)[called]
  weight <- weight[called]
  stated <- stated[called]
  c(
    called = sum(weight) / sum(sites$sites), right = weighted.mean(right, weight),
    stated = weighted.mean(stated, weight), gap = gap_of(stated, right, weight)
  )
}

gap_of <- function(stated, right, weight) {
  if (anyNA(stated)) {
    return(NA)
  }
  groups <- cut(stated, c(0, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1))
  distance <- abs(tapply(weight * (stated - right), groups, sum))
  sum(distance, na.rm = TRUE) / sum(weight)
}

scores_of <- function(history, name, seed) {
  simulated <- simulate_sites(history, name, seed)
  results <- call_sites(history, simulated$patterns, simulated$varying)
  scores <- do.call(rbind, lapply(results, score, simulated$varying))
  data.frame(
    history = name, method = rownames(scores), scores, sites = sum(simulated$varying$sites),
    row.names = NULL
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
      of(method, "right") > of("parsimony", "right") + 0.005
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
scores <- do.call(rbind, Map(scores_of, all, names(all), 2025 + seq_along(all)))
print(scores, digits = 4, row.names = FALSE)
write.table(scores, file.path(folder, "scores.tsv"), sep = "\t", quote = FALSE, row.names = FALSE)
if (short) check_scores(scores)
