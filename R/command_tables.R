# Tables of the commands for phenotypes: their paths, and the further tables that options request.

# The paths of a command's results. `out`: the prefix of the paths.
files_of_out <- function(out, endings) {
  out <- check_output_file(out, "--out", FALSE)
  folder <- dirname(out)
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  refuse_file_if(!dir.exists(folder) || file.access(folder, 2) != 0, folder,
                 "Cannot write to %s: choose another folder for --out.", quoted(folder))
  paste0(out, endings)
}

# Tables of phenotypes as one, with their names
of_phenotypes <- function(tables) {
  do.call(rbind, Map(function(table, phenotype) {
    cbind(phenotype = rep(phenotype, nrow(table)), table)
  }, unname(tables), names(tables)))
}

# ---- Further tables ------------------------------------------------------------------------------

exported_tables <- c("information", "genetic", "samples")

# The kinds of the further tables of a command, named by their paths
further_tables <- function(parsed) {
  kinds <- unique(c(
    if (isTRUE(parsed$merge)) "merged", if (isTRUE(parsed$effects)) c("effects", "genetic"),
    if (!is.null(parsed$predict)) "predicted", split_option(parsed$export)
  ))
  if (length(kinds) == 0) {
    return(character())
  }
  stats::setNames(kinds, files_of_out(parsed$out, sprintf(".%s.tsv", kinds)))
}

# `test`: the genotypes of --predict, or NULL; `covariates`: a table of their samples, or NULL.
further_table <- function(kind, fit, study, test, covariates) {
  switch(
    kind,
    merged = fit$merged,
    effects = variant_effects(fit, progress = FALSE),
    genetic = genetic_table(fit),
    predicted = predicted_table(fit, test, covariates),
    information = information_table(fit),
    samples = samples_table(fit, study)
  )
}

# A row for each sample and component
genetic_table <- function(fit) {
  data.frame(
    IID = rep(fit$ids, ncol(fit$genetic)),
    component = rep(colnames(fit$genetic), each = length(fit$ids)), value = as.vector(fit$genetic)
  )
}

# A row for each pair of components, with their scores
information_table <- function(fit) {
  names <- names(fit$theta)
  one <- rep(seq_along(names), each = length(names))
  data.frame(
    component = names[one], with = rep(names, length(names)),
    information = as.vector(fit$information), score = unname(fit$score)[one]
  )
}

samples_table <- function(fit, study) {
  ids <- if (is.null(study$genotypes)) study$table$id else study$genotypes$samples$id
  data.frame(IID = ids, used = ids %in% fit$ids)
}

predicted_table <- function(fit, test, covariates) {
  ids <- test$samples$id
  data <- if (length(covariates) > 1) {
    data.frame(id = ids, covariates[match(ids, covariates$id), -1, drop = FALSE],
               check.names = FALSE)
  }
  predicted <- in_words_of_predict(stats::predict(fit, test, data, progress = FALSE))
  if (anyNA(predicted)) {
    warn_ancify(
      sprintf("%s without all covariates are not predicted, such as %s: give them by %s.",
              count_of(sum(is.na(predicted)), "sample"), quoted(ids[is.na(predicted)][1]),
              "--predict-covar or --predict-factors"),
      "samples"
    )
  }
  # The call above has already warned about these genotypes.
  genetic <- suppressWarnings(stats::predict(fit, test, type = "genetic", progress = FALSE))
  data.frame(IID = ids, genetic = as.vector(genetic), predicted = as.vector(predicted))
}

# Evaluates `code`, and rewords its errors and warnings: `genotypes` becomes `--predict`.
in_words_of_predict <- function(code) {
  reworded <- function(condition) {
    condition$message <- gsub("`genotypes`", "`--predict`", conditionMessage(condition))
    condition
  }
  withCallingHandlers(
    code,
    warning = function(condition) {
      warning(reworded(condition))
      invokeRestart("muffleWarning")
    },
    error = function(condition) stop(reworded(condition))
  )
}

# list(test =, covariates =) of --predict; NULL without it
command_test <- function(parsed, study) {
  if (is.null(parsed$predict)) {
    return(NULL)
  }
  list(
    test = by_threads(parsed, open_genotypes(parsed$predict, dosages = isTRUE(parsed$dosages))),
    covariates = command_covariates(
      parsed$covar_to_predict %||% parsed$covar, parsed$factors_to_predict %||% parsed$factors,
      parsed
    )
  )
}

# A function(fit, phenotype) that writes the further tables of all phenotypes up to this one.
writer_of_tables <- function(parsed, study) {
  kinds <- further_tables(parsed)
  other <- command_test(parsed, study)
  tables <- lapply(kinds, function(kind) list())
  function(fit, phenotype) {
    made <- lapply(kinds, further_table, fit, study, other$test, other$covariates)
    for (file in names(kinds)) {
      tables[[file]][[phenotype]] <<- made[[file]]
      write_tsv(file, of_phenotypes(tables[[file]]))
    }
  }
}
