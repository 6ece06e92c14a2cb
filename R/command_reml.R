# The command reml: a fit for each phenotype, as tables and JSON.

# `parsed`: options from the command line. Returns the exit status.
reml_command <- function(parsed) {
  check_model_options("reml", parsed)
  if (!is.null(parsed$prevalence) && !isTRUE(parsed$binary)) {
    usage_error("--prevalence needs --binary")
  }
  backend_option(parsed)
  files <- reml_files(parsed$out)
  study <- command_study(parsed)
  if (isTRUE(parsed$together)) study <- joint_study(study)
  model <- by_threads(parsed, command_model(parsed, study))
  write_further <- writer_of_tables(parsed, study)
  fits <- list()
  for_phenotypes(study, files[1], function(formula, phenotype) {
    fit <- fit_of_command(formula, study, model, parsed)
    print(summary(fit))
    cat("\n")
    # Write now, so that an error in the next phenotype does not discard this fit.
    write_further(fit, phenotype)
    fits[[phenotype]] <<- fit
    write_reml_files(fits, files[-1])
    trait_of_fit(fit)
  })
  wrote(c(files, names(further_tables(parsed))))
  status_of_fits(fits)
}

status_of_fits <- function(fits) if (all(vapply(fits, `[[`, NA, "converged"))) 0L else 3L

# ---- Files ---------------------------------------------------------------------------------------

reml_files <- function(out) {
  files_of_out(out, c(".traits.tsv", ".components.tsv", ".fixed.tsv", ".json"))
}

write_reml_files <- function(fits, files) {
  write_tsv(files[1], of_phenotypes(lapply(fits, as.data.frame)))
  write_tsv(files[2], of_phenotypes(lapply(fits, fixed_table)))
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
    log_likelihood_null = fit$log_likelihood_null,
    lrt = c(as.list(lrt), p_is_bound = lrt_is_bound(fit)),
    h2 = as.list(variance_shares(fit)["h2", ]), components = as.data.frame(fit),
    fixed = fixed_table(fit)
  )
  if (!is.null(fit$prevalence)) facts$liability <- liability_as_list(fit)
  facts
}
