# The command reml: a fit for each phenotype, as tables and JSON.

# `parsed`: options from the command line. Returns the exit status.
reml_command <- function(parsed) {
  threads <- threads_option(parsed)
  backend <- backend_option(parsed)
  files <- reml_files(parsed$out)
  study <- command_study(parsed)
  components <- if (!is.null(parsed$components)) read_components(parsed$components)
  fits <- list()
  for_phenotypes(study$formulas, function(formula, phenotype) {
    fits[[phenotype]] <<- fit_reml(
      formula, study$table, study$genotypes, components,
      chromosomes = chromosomes_option(parsed) %||% "autosomes", threads = threads,
      backend = backend, progress = isatty(stderr()), verbose = isTRUE(parsed$verbose)
    )
    print(summary(fits[[phenotype]]))
    cat("\n")
    # Write now, so that an error in the next phenotype does not discard this fit.
    write_reml_files(fits, files)
  })
  wrote(files)
  status_of_fits(fits)
}

# Calls work(formula, phenotype) for each phenotype. A phenotype that cannot be analysed, such as a
# constant one, is omitted with a warning, unless none remains.
for_phenotypes <- function(formulas, work) {
  refused <- list()
  for (phenotype in names(formulas)) {
    problem <- tryCatch({
      work(formulas[[phenotype]], phenotype)
      NULL
    }, ancify_input_error = identity)
    refused[[phenotype]] <- problem
  }
  if (length(refused) == length(formulas)) stop(refused[[1]])
  for (phenotype in names(refused)) {
    warn_ancify(
      sprintf("The phenotype %s is left out. %s", quoted(phenotype),
              conditionMessage(refused[[phenotype]])),
      "phenotype"
    )
  }
}

status_of_fits <- function(fits) if (all(vapply(fits, `[[`, NA, "converged"))) 0L else 3L

# Returns list(genotypes =, table =, formulas = by phenotype).
command_study <- function(parsed) {
  genotypes <- open_genotypes(c(parsed$genotypes, parsed$arguments))
  if (!is.null(parsed$split_par)) genotypes <- split_par(genotypes, parsed$split_par)
  data <- command_data(parsed, genotypes)
  if (!is.null(parsed$keep)) genotypes <- kept_genotypes(genotypes, parsed$keep)
  limits <- decimal_options(parsed, c("maf", "missing", "hwe"))
  if (length(limits)) genotypes <- do.call(filter_variants, c(list(genotypes), limits))
  terms <- vapply(data$covariates, function(name) deparse1(as.name(name), backtick = TRUE), "")
  formulas <- lapply(stats::setNames(nm = data$phenotypes), function(phenotype) {
    stats::reformulate(if (length(terms)) terms else "1", as.name(phenotype))
  })
  list(genotypes = genotypes, table = data$table, formulas = formulas)
}

# Returns list(table =, phenotypes =, covariates =). The table has the column id; the others name
# its columns of phenotypes and covariates.
command_data <- function(parsed, genotypes) {
  table <- if (is.null(parsed$pheno)) {
    phenotypes_beside(genotypes)
  } else {
    read_phenotypes(parsed$pheno)
  }
  phenotypes <- setdiff(names(table), "id")
  covariates <- character()
  if (!is.null(parsed$covar)) {
    others <- read_covariates(parsed$covar)
    covariates <- setdiff(names(others), "id")
    both <- intersect(covariates, phenotypes)
    refuse_if(length(both), "%s and %s both have a column %s: rename one.",
              quoted(parsed$pheno %||% genotypes$files[["samples"]]), quoted(parsed$covar),
              quoted(both[1]))
    table <- cbind(table, others[match(table$id, others$id), covariates, drop = FALSE])
  }
  list(table = table, phenotypes = phenotypes, covariates = covariates)
}

# The phenotypes in the samples' own table.
phenotypes_beside <- function(genotypes) {
  samples <- genotypes$samples
  others <- c("family", "father", "mother", "sex", "SID", "PAT", "MAT", "SEX")
  table <- samples[setdiff(names(samples), others)]
  table <- table[vapply(table, function(x) is.numeric(x) && !all(is.na(x)), NA) |
                   names(table) == "id"]
  refuse_if(ncol(table) == 1, "%s has no phenotype: give --pheno.",
            quoted(genotypes$files[["samples"]]))
  table
}

kept_genotypes <- function(genotypes, path) {
  keep <- read_keep(path)$id
  in_both <- genotypes$samples$id %in% keep
  refuse_if(!any(in_both),
            "%1$s has no sample of the genotypes: use their ids, such as %3$s, not %2$s.",
            quoted(path), quoted(keep[1]), quoted(genotypes$samples$id[1]))
  absent <- setdiff(keep, genotypes$samples$id)
  if (length(absent)) {
    warn_ancify(
      sprintf("%s of %s that the genotypes lack: %s.", count_of(length(absent), "sample"),
              quoted(path), enumerate(quoted(absent))),
      "samples"
    )
  }
  genotypes[in_both, ]
}

# ---- Files ---------------------------------------------------------------------------------------

reml_files <- function(out) files_of_out(out, c(".components.tsv", ".fixed.tsv", ".json"))

# The paths of a command's results. `out`: the prefix of the paths.
files_of_out <- function(out, endings) {
  out <- check_output_file(out, "--out", FALSE)
  folder <- dirname(out)
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  refuse_file_if(!dir.exists(folder) || file.access(folder, 2) != 0, folder,
                 "Cannot write to %s: choose another folder for --out.", quoted(folder))
  paste0(out, endings)
}

write_reml_files <- function(fits, files) {
  of_all <- function(table_of) {
    do.call(rbind, Map(function(fit, phenotype) {
      cbind(phenotype = rep(phenotype, nrow(table_of(fit))), table_of(fit))
    }, unname(fits), names(fits)))
  }
  write_tsv(files[1], of_all(function(fit) as.data.frame(fit)))
  write_tsv(files[2], of_all(fixed_table))
  write_text(files[3], to_json(lapply(fits, reml_facts_as_list)))
}

fixed_table <- function(fit) {
  fixed <- summary(fit)$fixed
  data.frame(effect = rownames(fixed), fixed, row.names = NULL)
}

reml_facts_as_list <- function(fit) {
  lrt <- genetic_lrt(fit)
  list(
    formula = deparse1(fit$formula), samples = length(fit$y), dropped = as.list(fit$dropped),
    variants = list(used = fit$n_variants, constant = fit$constant_variants,
                    in_no_component = fit$uncovered,
                    on_other_chromosomes = as.list(fit$left_out)),
    method = fit$path, converged = fit$converged, status = fit$status, passes = fit$passes,
    probes = fit$probes, log_likelihood = fit$log_likelihood,
    log_likelihood_null = fit$log_likelihood_null, lrt = as.list(lrt),
    h2 = as.list(variance_shares(fit)["h2", ]), components = as.data.frame(fit),
    fixed = fixed_table(fit)
  )
}
