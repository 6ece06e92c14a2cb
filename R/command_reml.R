# The command reml: a fit for each phenotype, as tables and JSON.

# `parsed`: options from the command line. Returns the exit status.
reml_command <- function(parsed) {
  threads <- threads_option(parsed)
  backend <- backend_option(parsed)
  files <- reml_files(parsed$out)
  study <- command_study(parsed)
  if (isTRUE(parsed$together)) study <- joint_study(study)
  components <- if (!is.null(parsed$components)) command_components(parsed$components, study)
  prevalence <- decimal_options(parsed, "prevalence")$prevalence
  if (!is.null(prevalence) && !isTRUE(parsed$binary)) usage_error("--prevalence needs --binary")
  fits <- list()
  for_phenotypes(study, files[1], function(formula, phenotype) {
    fits[[phenotype]] <<- fit_reml(
      formula, study$table, study$genotypes, components,
      chromosomes = chromosomes_option(parsed) %||% "autosomes",
      family = study$family, prevalence = prevalence, threads = threads, backend = backend,
      progress = isatty(stderr()), verbose = isTRUE(parsed$verbose)
    )
    print(summary(fits[[phenotype]]))
    cat("\n")
    # Write now, so that an error in the next phenotype does not discard this fit.
    write_reml_files(fits, files[-1])
    trait_of_fit(fits[[phenotype]])
  })
  wrote(files)
  status_of_fits(fits)
}

# Indices of variants in a file are those of the opened genotypes, before filters.
command_components <- function(file, study) {
  components <- read_components(file)
  if (is.null(components$variants)) components_by_place(components, study$opened) else components
}

status_of_fits <- function(fits) if (all(vapply(fits, `[[`, NA, "converged"))) 0L else 3L

# ---- Files ---------------------------------------------------------------------------------------

reml_files <- function(out) {
  files_of_out(out, c(".traits.tsv", ".components.tsv", ".fixed.tsv", ".json"))
}

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
  if (is_joint(fit)) {
    return(fixed)
  }
  data.frame(effect = rownames(fixed), fixed, row.names = NULL)
}

liability_as_list <- function(fit) {
  table <- liability(fit)
  list(prevalence = fit$prevalence, cases = mean(fit$y),
       shares = data.frame(component = rownames(table), table, row.names = NULL))
}

reml_facts_as_list <- function(fit) {
  if (is_joint(fit)) {
    return(joint_facts_as_list(fit))
  }
  lrt <- genetic_lrt(fit)
  facts <- list(
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
  if (!is.null(fit$prevalence)) facts$liability <- liability_as_list(fit)
  facts
}
