# The command sparse: single variants beside a fit's kernels, for each phenotype.

# `parsed`: options from the command line. Returns the exit status.
sparse_command <- function(parsed) {
  check_model_options("sparse", parsed)
  backend_option(parsed)
  files <- sparse_files(parsed$out)
  study <- command_study(parsed)
  model <- by_threads(parsed, command_model(parsed, study))
  write_further <- writer_of_tables(parsed, study)
  fits <- list()
  for_phenotypes(study, files[1], function(formula, phenotype) {
    fit <- fit_sparse_reml(
      fit_of_command(formula, study, model, parsed), progress = isatty(stderr()),
      verbose = isTRUE(parsed$verbose)
    )
    print(summary(fit))
    cat("\n")
    write_further(fit, phenotype)
    fits[[phenotype]] <<- fit
    write_tsv(files[2], of_phenotypes(lapply(fits, as.data.frame)))
    write_tsv(files[3], of_phenotypes(lapply(fits, variances_table)))
    write_tsv(files[4], of_phenotypes(lapply(fits, effects_table)))
    trait_of_sparse(fit)
  })
  wrote(c(files, names(further_tables(parsed))))
  status_of_fits(fits)
}

sparse_files <- function(out) {
  files_of_out(out, c(".traits.tsv", ".support.tsv", ".variances.tsv", ".fixed.tsv"))
}

variances_table <- function(fit) {
  table <- summary(fit)$variances
  data.frame(component = rownames(table), table, row.names = NULL)
}

effects_table <- function(fit) {
  fixed <- stats::coef(fit, "fixed")
  data.frame(effect = names(fixed), estimate = unname(fixed))
}

# The heritability is the share of the support and of all genetic components.
trait_of_sparse <- function(fit) {
  residual <- fit$variances[["residual"]]
  trait_row(
    if (fit$converged) "converged" else "not converged", length(fit$fit$y),
    1 - residual / sum(fit$variances), reason = if (fit$converged) "" else "supports alternate"
  )
}
