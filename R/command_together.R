# The option --together of the command reml: one fit of all chosen phenotypes.

# The study with one formula, of all phenotypes.
joint_study <- function(study) {
  traits <- names(study$formulas)
  if (study$family == "binary") usage_error("--together is for quantitative phenotypes")
  if (length(traits) < 2) usage_error("--together needs two or more phenotypes, by --trait")
  for (trait in traits) {
    fault <- study$faults[[trait]]
    refuse_if(!is.null(fault), "The phenotype %s cannot be fitted. %s", quoted(trait), fault)
  }
  formula <- study$formulas[[1]]
  formula[[2]] <- as.call(c(as.name("cbind"), lapply(traits, as.name)))
  study$formulas <- stats::setNames(list(formula), paste(traits, collapse = ","))
  study
}

joint_facts_as_list <- function(fit) {
  list(
    formula = deparse1(fit$formula), samples = length(fit$ids), dropped = as.list(fit$dropped),
    variants = list(in_no_component = fit$uncovered,
                    on_other_chromosomes = as.list(fit$left_out)),
    method = fit$path, converged = fit$converged, status = fit$status, passes = fit$passes,
    probes = fit$probes, log_likelihood = fit$log_likelihood,
    heritability = heritability(fit), components = as.data.frame(fit),
    correlations = genetic_correlation(fit, progress = FALSE), fixed = summary(fit)$fixed
  )
}
