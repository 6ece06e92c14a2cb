# Phenotypes of the commands: their choice, their covariates, and the table of their outcomes.

# Returns list(genotypes = or NULL, opened = genotypes before filters, table =, formulas = by
# phenotype, faults = reasons why phenotypes have no values, by phenotype, chosen = true if the user
# chose phenotypes, family =).
command_study <- function(parsed) {
  opened <- if (has_genotypes(parsed)) by_threads(parsed, command_genotypes(parsed))
  data <- command_data(parsed, opened)
  genotypes <- if (!is.null(opened)) by_threads(parsed, chosen_genotypes(opened, parsed))
  if (is.null(opened)) data$table <- chosen_samples_of_table(data$table, parsed)
  terms <- vapply(data$covariates, function(name) deparse1(as.name(name), backtick = TRUE), "")
  formulas <- lapply(stats::setNames(nm = data$traits), function(trait) {
    stats::reformulate(if (length(terms)) terms else "1", as.name(trait))
  })
  if (isTRUE(parsed$binary)) {
    traits <- setdiff(data$traits, names(data$faults))
    data$table[traits] <- lapply(data$table[traits], cases_as_plink)
  }
  list(genotypes = genotypes, opened = opened, table = data$table, formulas = formulas,
       faults = data$faults, chosen = !is.null(parsed$trait),
       family = if (isTRUE(parsed$binary)) "binary" else "gaussian")
}

# PLINK's code: in a phenotype that has the value 2, 0 is a missing value.
cases_as_plink <- function(values) {
  if (any(values == 2, na.rm = TRUE)) replace(values, which(values == 0), NA) else values
}

# Genotypes by their options, before choices of samples and variants
command_genotypes <- function(parsed) {
  genotypes <- open_genotypes(
    c(parsed$genotypes, parsed$arguments), multiallelic = parsed$multiallelic %||% "split",
    samples = parsed$samples,
    hard_call_threshold = decimal_options(parsed, "hard_call_threshold")$hard_call_threshold,
    dosages = isTRUE(parsed$dosages)
  )
  if (is.null(parsed$split_par)) genotypes else split_par(genotypes, parsed$split_par)
}

# Returns list(table =, traits =, covariates =, faults =). The table has the column id; the others
# name its columns.
command_data <- function(parsed, genotypes) {
  na <- if (!is.null(parsed$na)) split_option(parsed$na)
  file <- parsed$pheno %||% genotypes$files[["samples"]]
  found <- if (is.null(parsed$pheno)) {
    phenotypes_beside(genotypes, na)
  } else {
    faulty_phenotypes(parsed$pheno, na %||% "-9")
  }
  traits <- chosen_traits(found, split_option(parsed$trait), file)
  table <- found$table[c("id", setdiff(traits, names(found$faults)))]
  others <- command_covariates(parsed$covar, parsed$factors, parsed)
  covariates <- setdiff(names(others), "id")
  both <- intersect(covariates, traits)
  refuse_if(length(both), "%s and %s both have a column %s: rename one.", quoted(file),
            enumerate(quoted(c(parsed$covar, parsed$factors))), quoted(both[1]))
  if (length(covariates)) {
    table <- cbind(table, others[match(table$id, others$id), covariates, drop = FALSE])
  }
  list(table = table, traits = traits, covariates = covariates, faults = found$faults)
}

# The phenotypes in the samples' own table, in the form of faulty_phenotypes(). Columns without any
# number are taken only if they are chosen: `others`.
phenotypes_beside <- function(genotypes, na) {
  file <- genotypes$files[["samples"]]
  refuse_if(is.null(file), "%s has no phenotype: give --pheno.", quoted(genotypes$path))
  samples <- genotypes$samples
  of_samples <- c("family", "father", "mother", "sex", "SID", "PAT", "MAT", "SEX")
  # A VCF has no columns beside the ids.
  if (!is.null(na) && !all(names(samples) %in% c("id", of_samples))) {
    first <- genotypes$parts[[1]]
    samples <- if (first$kind == "bgen") {
      oxford_samples(file, first$samples, na)
    } else {
      genotype_samples(file, first$path, na)
    }
  }
  columns <- samples[setdiff(names(samples), of_samples)]
  is_text <- vapply(columns, is.character, NA) & names(columns) != "id"
  is_empty <- vapply(columns, function(x) all(is.na(x)), NA)
  list(
    table = columns[!is_text], names = setdiff(names(columns), "id"),
    others = names(columns)[is_text | is_empty],
    faults = lapply(columns[is_text], function(texts) {
      sprintf("It has texts, such as %s.", quoted(texts[1]))
    })
  )
}

# The phenotypes in `names`, or all. `found`: phenotypes of `file`.
chosen_traits <- function(found, names, file) {
  all <- setdiff(found$names, found$others)
  unknown <- setdiff(names, found$names)
  refuse_if(length(unknown), "%s has no phenotype %s%s It has %s.", quoted(file),
            quoted(unknown[1]), did_you_mean(unknown[1], found$names),
            enumerate(quoted(found$names)))
  refuse_if(length(names) + length(all) == 0, "%s has no phenotype: give --pheno.", quoted(file))
  if (length(names)) unique(names) else all
}

# ---- Work for each phenotype ---------------------------------------------------------------------

# Calls work(formula, phenotype) for each phenotype, and writes the rows that it returns to `file`.
# A phenotype that cannot be analysed, such as a constant one, is omitted with a warning, unless
# none remains.
for_phenotypes <- function(study, file, work) {
  if (!study$chosen && length(study$formulas) > 1) {
    cat("Phenotypes, of which --trait chooses:", enumerate(names(study$formulas)), "\n\n")
  }
  rows <- list()
  refused <- list()
  for (phenotype in names(study$formulas)) {
    rows[[phenotype]] <- tryCatch({
      fault <- study$faults[[phenotype]]
      refuse_if(!is.null(fault), "%s", fault)
      work(study$formulas[[phenotype]], phenotype)
    }, ancify_input_error = function(condition) {
      refused[[phenotype]] <<- condition
      trait_row("left out", reason = conditionMessage(condition))
    })
    write_tsv(file, cbind(phenotype = names(rows), do.call(rbind, unname(rows))))
  }
  if (length(refused) == length(rows)) stop(refused[[1]])
  for (phenotype in names(refused)) {
    warn_ancify(
      sprintf("The phenotype %s is left out. %s", quoted(phenotype),
              conditionMessage(refused[[phenotype]])),
      "phenotype"
    )
  }
}

trait_row <- function(status, samples = NA, h2 = NA, se = NA, reason = "") {
  data.frame(status = status, samples = samples, h2 = h2, se = se, reason = reason)
}

is_joint <- function(fit) inherits(fit, "reml_traits_fit")

# A joint fit has a heritability for each of its traits, in its own tables.
trait_of_fit <- function(fit) {
  h2 <- if (is_joint(fit)) list(estimate = NA, se = NA) else variance_shares(fit)["h2", ]
  status <- if (fit$converged) "converged" else "not converged"
  trait_row(status, length(fit$ids), h2$estimate, h2$se, if (fit$converged) "" else fit$message)
}
