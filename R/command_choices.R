# Samples, variants and covariates that options of the commands choose.

has_genotypes <- function(parsed) length(c(parsed$genotypes, parsed$arguments)) > 0

# The listed samples, and the listed variants that pass the limits
chosen_genotypes <- function(genotypes, parsed) {
  ids <- list(genotypes$samples$id, as.character(genotypes$variants$id))
  samples <- chosen_ids(ids[[1]], parsed, c("keep", "remove"), "sample", "the genotypes")
  variants <- chosen_ids(ids[[2]], parsed, c("extract", "exclude"), "variant", "the genotypes")
  if (!all(samples)) genotypes <- genotypes[samples, ]
  if (!all(variants)) genotypes <- genotypes[, variants]
  limits <- decimal_options(parsed, c("maf", "missing", "hwe", "info"))
  if (length(limits)) do.call(filter_variants, c(list(genotypes), limits)) else genotypes
}

# The rows of a study without genotypes
chosen_samples_of_table <- function(table, parsed) {
  without <- setdiff(options_of_genotypes, c("keep", "remove", "chromosomes"))
  given <- intersect(without, names(parsed))
  if (length(given)) usage_error(long_name(given[1]), " needs --genotypes")
  ids <- table$id
  table[chosen_ids(ids, parsed, c("keep", "remove"), "sample", "the phenotypes"), , drop = FALSE]
}

# True for ids in the list of the first option, if given, and not in the list of the second. `of`:
# the source of the ids, for messages.
chosen_ids <- function(ids, parsed, options, what, of) {
  stays <- rep(TRUE, length(ids))
  for (option in intersect(options, names(parsed))) {
    path <- parsed[[option]]
    listed <- listed_ids(path, what)
    is_listed <- ids %in% listed
    is_choice <- option == options[1]
    refuse_if(is_choice && !any(is_listed),
              "%1$s has no %2$s of %3$s: use their ids, such as %5$s, not %4$s.", quoted(path),
              what, of, quoted(listed[1]), quoted(ids[1]))
    tell_of_absent(setdiff(listed, ids), path, what, of)
    stays <- stays & is_listed == is_choice
  }
  refuse_if(!any(stays), "No %s remains: %s leave out all of %s.", what,
            enumerate(quoted(unlist(parsed[options]))), of)
  stays
}

listed_ids <- function(path, what) {
  if (what == "sample") {
    return(read_keep(path)$id)
  }
  ids <- read_words(check_file(path, "path"))$columns[[1]]
  if (length(ids) == 0) {
    abort_ancify(sprintf("%s has no variant.", quoted(path)), "format", file = path)
  }
  ids
}

tell_of_absent <- function(absent, path, what, of) {
  if (length(absent)) {
    warn_ancify(
      sprintf("%s of %s that %s lack: %s.", count_of(length(absent), what), quoted(path), of,
              enumerate(quoted(absent))),
      paste0(what, "s")
    )
  }
}

# ---- Covariates ----------------------------------------------------------------------------------

# The covariates that --covariates chooses from up to two files, one of numbers and one of labels.
# Samples that one file lacks have missing values. NULL without a file.
command_covariates <- function(covar, factors, parsed) {
  na <- split_option(parsed$na)
  tables <- c(
    if (!is.null(covar)) list(read_covariates(covar, na)),
    if (!is.null(factors)) list(labels_in(factors, na))
  )
  if (length(tables) == 0) {
    if (!is.null(parsed$chosen_covariates)) usage_error("--covariates needs --covar or --factors")
    return(NULL)
  }
  names <- unlist(lapply(tables, function(table) names(table)[-1]))
  twice <- anyDuplicated(names)
  refuse_if(twice, "%s and %s both have a column %s: rename one.", quoted(covar),
            quoted(factors), quoted(names[twice]))
  ids <- unique(unlist(lapply(tables, `[[`, "id")))
  all <- do.call(cbind, c(list(data.frame(id = ids)), lapply(tables, function(table) {
    table[match(ids, table$id), -1, drop = FALSE]
  })))
  rownames(all) <- NULL
  all[c("id", chosen_covariates(names, parsed$chosen_covariates, c(covar, factors)))]
}

# Covariates as factors. Without a header, their names are factor1 and so on, unlike the names of
# --covar.
labels_in <- function(path, na) {
  table <- read_covariates(path, na)
  table[-1] <- lapply(table[-1], factor)
  names(table) <- sub("^covar([0-9]+)$", "factor\\1", names(table))
  table
}

chosen_covariates <- function(all, chosen, files) {
  if (is.null(chosen)) {
    return(all)
  }
  chosen <- unique(split_option(chosen))
  unknown <- setdiff(chosen, all)
  refuse_if(length(unknown), "%s has no covariate %s%s It has %s.", enumerate(quoted(files)),
            quoted(unknown[1]), did_you_mean(unknown[1], all), enumerate(quoted(all)))
  chosen
}
