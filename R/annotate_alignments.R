# Calls ancestral alleles from alignments, which are read once: only at the records of a VCF, or for
# a whole genome.

# All outgroups are in the inner tier, because the methods that polarise() chooses ignore tiers.
config_of_alignments <- function(from, method, focal, lengths, folder) {
  file <- file.path(folder, "chrom.sizes")
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), file)
  inner <- Map(function(name, paths) {
    paths <- as.list(paths)
    c(list(name = name, alignment = paths[[1]]), paths["twobit" == names(paths)])
  }, names(from), from, USE.NAMES = FALSE)
  config <- list(
    focal_species = focal, chromosome_lengths = file, outgroups = list(inner = inner),
    work_dir = folder, output_dir = file.path(folder, "calls"), keep_projected = TRUE,
    method = method, posterior = has_posterior(method_row(method))
  )
  fits_model <- "model" %in% method_row(method)$fits
  if (fits_model) config[c("substitution_model", "estimate")] <- list("HKY85", TRUE)
  config
}

# A configuration needs a tree, but projected bases do not depend on it.
with_any_tree <- function(config) {
  outgroups <- vapply(config$outgroups$inner, function(one) one$name, "")
  replace(config, "tree", paste0(Reduce(
    function(tree, name) sprintf("(%s,%s)", tree, name),
    quoted_labels(c(config$focal_species, outgroups))
  ), ";"))
}

# ---- At records ----------------------------------------------------------------------------------

# The sites of a VCF, for call_at_records(): a pointer, and the lengths that its header declares.
read_record_sites <- function(vcf, outgroups, progress) {
  with_watch("Reading", function(watch) record_sites_impl(vcf, outgroups, watch), progress)
}

# list(calls =, run =): a source for annotate_vcf(), a letter for each kind of site, and an
# ancify_run without files. With one outgroup, `run` is NULL.
call_at_records <- function(given, sites, method, tree, work, verbose) {
  log <- log_where(verbose)
  started <- proc.time()[["elapsed"]]
  config <- with_alignments(read_config(with_any_tree(given), "project"), "project")
  tell_findings(look_at_texts(config, work), function(line) NULL)
  found <- read_alignments_once(config, sites, work)
  context <- list(config = config, log = function(line) NULL)
  table <- tell_about_projection(context, found$reports)
  outgroups <- config$outgroups$name
  sequences <- sequences_of_patterns(found, outgroups)
  if (length(outgroups) == 1) {
    log(sprintf("Ancestral alleles are the bases of %s", outgroups))
    return(list(calls = new_record_calls(sites, unname(sequences))))
  }
  focal <- config$focal_species
  patterns <- new_patterns(found$counts_of_all, c(outgroups, focal), focal, NULL)
  guessed <- is.null(tree)
  given$tree <- tree %||% guess_tree(patterns)
  log_method(log, method, length(outgroups), given$tree, guessed)
  called <- call_on_tree(sequences, patterns, given$tree, focal, method, work$threads)
  seconds <- c(project = proc.time()[["elapsed"]] - started)
  config <- read_config(given, "project")
  list(
    calls = new_record_calls(sites, called$calls, as_in_files(called$posterior)),
    run = new_run(config, list(alignments = table, fit = called$fit), describe_work_impl(work),
                  seconds)
  )
}

read_alignments_once <- function(config, sites, work) {
  with_watch("Reading alignments", function(watch) {
    reading <- config_reading(config, work, focal_fasta = config$focal_fasta %||% "")
    take_alignments_impl(sites$pointer, config_alignments(config), reading, watch)
  }, work$progress, inputs = expected_inputs(config))
}

# The letters of each outgroup, one for each pattern.
sequences_of_patterns <- function(found, outgroups) {
  sequences <- vapply(seq_along(outgroups), function(i) {
    paste(substr(found$pattern, i, i), collapse = "")
  }, "")
  stats::setNames(sequences, outgroups)
}

# list(calls =, posterior =, fit =); parsimony gives only `calls`.
call_on_tree <- function(sequences, patterns, tree, focal, method, threads) {
  fit <- NULL
  if ("model" %in% method_row(method)$fits) {
    fit <- fit_substitution_model(patterns, tree, "HKY85", threads = threads)
    tree <- fit$tree
  }
  joins <- focal %in% as_phylo(tree)$tip.label
  has_posterior <- has_posterior(method_row(method))
  called <- call_ancestral(
    sequences, NULL, method, tree, if (joins) focal, fit$model, posterior = has_posterior,
    threads = threads
  )
  c(if (has_posterior) called else list(calls = called), list(fit = fit))
}

# The posterior of the called base, rounded to a Phred score as in a run's files.
as_in_files <- function(posterior) {
  if (is.null(posterior)) {
    return(NULL)
  }
  known <- which(!is.na(posterior[, 1]))
  called <- cbind(known, max.col(posterior[known, , drop = FALSE], "first"))
  error <- rowSums(replace(posterior, called, 0)[known, , drop = FALSE])
  replace(posterior, called, 1 - 10^(-pmin(round(-10 * log10(error)), 254) / 10))
}

# `posterior`: a matrix with a row for each call, or NULL.
new_record_calls <- function(found, calls, posterior = NULL) {
  base <- match(toupper(strsplit(calls, "")[[1]]), rate_labels$base)
  calls <- core_list(
    "CallsAtRecords",
    patterns = found$pointer, calls = calls,
    posteriors = if (is.null(posterior)) numeric() else posterior[cbind(seq_along(base), base)]
  )
  structure(calls, class = "ancify_record_calls")
}

# ---- Of a whole genome ---------------------------------------------------------------------------

# Returns a source for annotate_vcf(). Alignments are read once: the guess of the tree and the calls
# use their projections.
call_genome <- function(config, method, tree, threads, progress, verbose) {
  outgroups <- vapply(config$outgroups$inner, function(one) one$name, "")
  run_phase <- function(config, phase) {
    ancify_run(config, phase, threads = threads, progress = progress, verbose = FALSE)
  }
  log <- log_where(verbose)
  any_tree <- with_any_tree(config)
  if (length(outgroups) == 1) {
    log(sprintf("Ancestral alleles are the bases of %s", outgroups))
    run_phase(any_tree, "project")
    return(file.path(config$work_dir, "projected", outgroups, "{chrom}.fa"))
  }
  if (is.null(tree) || fits_history_of(method)) {
    run_phase(any_tree, "project")
    patterns <- count_patterns(any_tree, threads = threads, progress = progress)
  }
  config$tree <- tree %||% guess_tree(patterns)
  if (fits_history_of(method)) config$history <- start_of_history(config$tree, patterns)
  log_method(log, method, length(outgroups), config$tree, is.null(tree))
  run_phase(config, c("project", "call"))
}
