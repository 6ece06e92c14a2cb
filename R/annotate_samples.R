# Ancestral alleles from outgroups that are samples of a VCF.

# Words that name samples, as in "samples:chimp,gorilla" and "samples:gorilla@apes.vcf.gz"
samples_prefix <- "samples:"

has_samples <- function(from) {
  is.vector(from) && any(vapply(from, is_samples, NA))
}

is_samples <- function(word) {
  is_scalar(word) && is.character(word) && startsWith(word, samples_prefix)
}

# list(name =, path =, samples =) of the outgroups. A named word is one outgroup; otherwise each
# sample is one.
sample_outgroups <- function(from, vcf) {
  others <- from[!vapply(from, is_samples, NA)]
  refuse_if(length(others), "`from` has samples and %s: give all outgroups as samples, or none.",
            show_value(others[[1]]))
  from <- unlist(from)
  given <- names(from) %||% rep("", length(from))
  words <- substring(from, nchar(samples_prefix) + 1)
  path <- ifelse(grepl("@", words, fixed = TRUE), sub("^[^@]*@", "", words), vcf)
  missing <- Filter(Negate(is_there), path)
  refuse_if(length(missing), "`from` has %s: there is no such file.", enumerate(quoted(missing)))
  # Recognise the VCF under any path, because its outgroups are not focal samples.
  path[normalizePath(path) == normalizePath(vcf, mustWork = FALSE)] <- vcf
  samples <- lapply(strsplit(paste0(sub("@.*$", "", words), ","), ",", fixed = TRUE), trimws)
  check_samples_named(from, samples, path)
  single <- !nzchar(given)
  list(
    name = unlist(Map(function(name, samples) if (nzchar(name)) name else samples, given, samples),
                  use.names = FALSE),
    path = rep(path, ifelse(single, lengths(samples), 1)),
    samples = unlist(Map(function(one, samples) if (one) as.list(samples) else list(samples),
                         single, samples, USE.NAMES = FALSE), recursive = FALSE)
  )
}

check_samples_named <- function(from, samples, path) {
  empty <- which(vapply(samples, function(names) !length(names) || !all(nzchar(names)), NA))
  refuse_if(length(empty), "`from` has %s: name samples, as in \"samples:chimp,gorilla\".",
            quoted(from[empty[1]]))
  each <- paste(rep(path, lengths(samples)), unlist(samples), sep = "\n")
  twice <- unlist(samples)[duplicated(each)]
  refuse_if(length(twice), "`from` has the sample %s twice: name each once.", quoted(twice[1]))
}

# A source for annotate_vcf(): a letter for each kind of site.
call_samples <- function(outgroups, vcf, focal, method, tree, chrom_lengths, work, verbose) {
  log <- log_where(verbose)
  found <- read_sample_patterns(outgroups, vcf, fits_history_of(method), work$progress)
  with_base <- sites_with_base(found, outgroups$name, vcf)
  log(describe_bases(found, with_base))
  if (found$unsupported > 0) {
    log(sprintf("Bases of REF left out, as their GQ, DP or MIN_DP is 0: %s",
                format_count(found$unsupported)))
  }
  sequences <- sequences_of_patterns(found, outgroups$name)
  if (length(sequences) == 1) {
    log(sprintf("Ancestral alleles are the bases of %s", outgroups$name))
    return(new_record_calls(found, unname(sequences)))
  }
  if (!length(found$count)) {
    return(new_record_calls(found, ""))
  }
  length <- sum(lengths_of_records(found$lengths, chrom_lengths))
  patterns <- patterns_of_samples(found, outgroups$name, focal, length)
  log(sprintf(
    "Positions without a record count as equal in all species: %s of %s",
    format_count(sum(patterns$count) - sum(found$count)), format_count(length)
  ))
  guessed <- is.null(tree)
  if (guessed) tree <- guess_tree(patterns)
  log_method(log, method, length(sequences), tree, guessed)
  calls <- if (fits_history_of(method)) {
    call_by_history(found, sequences, patterns, tree, method, work$threads, log)
  } else {
    call_on_tree(sequences, patterns, tree, focal, method, work$threads)
  }
  new_record_calls(found, calls$calls, calls$posterior)
}

# `counted`: true to return the focal species' alleles and their counts.
read_sample_patterns <- function(outgroups, vcf, counted, progress) {
  with_watch("Reading genotypes", function(watch) {
    columns <- core_list("OutgroupSamples", path = outgroups$path, samples = outgroups$samples)
    sample_patterns_impl(vcf, columns, if (counted) unknown_haplotypes else 0L, watch)
  }, progress)
}

# The assumed number of haplotypes at a site with unknown allele counts
unknown_haplotypes <- 20L

# Calls by the fitted history, and also by the focal species' alleles and their counts where it has
# two.
call_by_history <- function(found, sequences, patterns, tree, method, threads, log) {
  start <- start_of_history(tree, patterns)
  model <- fit_substitution_model(patterns, tree, "HKY85", threads = threads)$model
  start <- suppressMessages(
    coalescent_history(start$splits, start$sizes, into = start$into, model = model)
  )
  varies <- which(!is.na(found$alleles))
  variants <- structure(
    data.frame(
      pattern = substr(found$pattern, 1, length(sequences)), alleles = found$alleles,
      counts = found$counts, n = found$n, sites = found$count
    )[varies, ],
    species = names(sequences)
  )
  log(sprintf("Sites with two focal alleles: %s, among up to %s haplotypes of the other samples",
              format_count(sum(variants$sites)), format_count(max(variants$n, 0))))
  history <- suppressMessages(
    fit_history(patterns, start, variants = if (length(varies)) variants)
  )$history
  log(describe_fitted_history(history))
  all <- call_ancestral(
    sequences, NULL, method, history = history, posterior = TRUE, threads = threads
  )
  letters <- strsplit(all$calls, "")[[1]]
  if (length(varies)) {
    called <- polarise_sites(
      variants$pattern, variants$alleles, variants$counts, variants$n, history
    )
    known <- !is.na(called$ancestral)
    letters[varies[known]] <- called$ancestral[known]
    all$posterior[varies[known], ] <- as.matrix(called[rate_labels$base])[known, ]
  }
  list(calls = paste(letters, collapse = ""), posterior = all$posterior)
}

# The number of sites where each outgroup has a base. Zero is an error.
sites_with_base <- function(found, outgroups, vcf) {
  sites <- vapply(seq_along(outgroups), function(i) {
    sum(found$count[substr(found$pattern, i, i) != "N"])
  }, 0)
  names(sites) <- outgroups
  none <- outgroups[sites == 0]
  refuse_if(length(none) && length(found$count),
            "At the sites of %s, no base of %s is known: check genotypes and chromosomes' names.",
            quoted(vcf), enumerate(quoted(none)))
  sites
}

describe_bases <- function(found, sites) {
  sprintf("Sites with a base, of %s: %s", format_count(sum(found$count)),
          paste(names(sites), vapply(sites, format_count, ""), collapse = ", "))
}

# Site patterns of the outgroups and REF. Positions without a record count as identical bases, in
# the proportions of REF. Without them, all distances would be too large.
patterns_of_samples <- function(found, outgroups, focal, length) {
  width <- length(outgroups) + 1
  bases <- c("A", "C", "G", "T")
  ref <- factor(substr(found$pattern, width, width), bases)
  share <- tapply(found$count, ref, sum, default = 0) / sum(found$count)
  equal <- max(length - sum(found$count), 0)
  counts <- list(
    pattern = c(found$pattern, strrep(bases, width)),
    count = c(found$count, round(equal * unname(share)))
  )
  new_patterns(list(all = counts), c(outgroups, focal), focal, NULL)
}
