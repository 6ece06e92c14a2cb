# The model of the commands reml and sparse by their options, and its fit.

# ---- Model ---------------------------------------------------------------------------------------

# Refuses options that exclude or need one another, before any file is read.
check_model_options <- function(name, parsed) {
  given <- function(options) intersect(options, names(parsed))
  refuse_both <- function(one, others, problem) {
    if (length(given(one)) && length(given(others))) {
      usage_error(long_name(given(one)[1]), problem, long_name(given(others)[1]))
    }
  }
  parts <- given(c("components", "by", "weights", "admixture"))
  if (length(parts) > 1) refuse_both(parts[1], parts[2], " cannot stand beside ")
  refuse_both("overlap", c("by", "weights", "admixture"), " is for --components, not for ")
  refuse_both(c("effects", "predict"), c("grm", "admixture"),
              " needs effects of variants, which are unknown with ")
  refuse_both("together", c("merge", "effects", "predict", "export"),
              " fits traits jointly, so it cannot stand beside ")
  if (!has_genotypes(parsed)) refuse_without_genotypes(name, given)
  of_prediction <- given(c("covar_to_predict", "factors_to_predict"))
  if (length(of_prediction) && is.null(parsed$predict)) {
    usage_error(long_name(of_prediction[1]), " needs --predict")
  }
  check_word_option(parsed, "by", c("file", "chromosome"))
  check_word_option(parsed, "method", c("auto", "exact", "stochastic"))
  check_word_option(parsed, "export", exported_tables)
  number_option(parsed$probes, "--probes")
}

refuse_without_genotypes <- function(name, given) {
  if (!length(given("grm"))) {
    usage_error(name, " needs --genotypes FILE", if (name == "reml") " or --grm PREFIXES")
  }
  if (!length(given("pheno"))) usage_error("--grm needs --pheno or --genotypes")
  needy <- given(c("components", "by", "weights", "overlap", "chromosomes"))
  if (length(needy)) usage_error(long_name(needy[1]), " needs --genotypes")
}

check_word_option <- function(parsed, option, words) {
  wrong <- setdiff(split_option(parsed[[option]]), words)
  if (length(wrong)) {
    usage_error(long_name(option), " must be ", paste(words, collapse = " or "), ", not ", wrong[1])
  }
}

# list(genotypes =, components =, kernels =, control =, chromosomes =), for fit_reml()
command_model <- function(parsed, study) {
  in_kernel <- !is.null(parsed$weights) || !is.null(parsed$admixture)
  list(
    genotypes = if (!in_kernel) study$genotypes,
    components = if (!is.null(parsed$components)) {
      command_components(parsed$components, study)
    } else if (!is.null(parsed$by)) {
      by <- switch(parsed$by, file = components_by_file, chromosome = components_by_chromosome)
      by(study$genotypes)
    },
    kernels = command_kernels(parsed, study$genotypes),
    control = do.call(reml_control, c(
      list(), probes = number_option(parsed$probes, "--probes"), decimal_options(parsed, "seed")
    )),
    chromosomes = chromosomes_option(parsed) %||% "autosomes"
  )
}

# Indices of variants in a file refer to the opened genotypes, before filters.
command_components <- function(file, study) {
  components <- read_components(file)
  if (is.null(components$variants)) components_by_place(components, study$opened) else components
}

# NULL if there are none.
command_kernels <- function(parsed, genotypes) {
  prefixes <- split_option(parsed$grm)
  kernels <- stats::setNames(lapply(prefixes, kernel_gcta), names_of_matrices(prefixes))
  if (!is.null(parsed$weights)) kernels$weighted <- kernel_in_blocks(parsed, genotypes)
  if (!is.null(parsed$admixture)) {
    kernels$admixture <- kernel_admixture(
      genotypes, parsed$admixture, chromosomes = chromosomes_option(parsed) %||% "autosomes"
    )
  }
  if (length(kernels)) kernels
}

# Names of files without folders, or the paths if such names are equal.
names_of_matrices <- function(prefixes) {
  names <- sub("[.]grm([.](bin|sp|id|N[.]bin))?$", "", basename(prefixes))
  if (anyDuplicated(names)) prefixes else names
}

# The kernel of A1,A2;B1: files of blocks, in groups if there are semicolons. Blocks are for all
# variants, whatever their chromosome.
kernel_in_blocks <- function(parsed, genotypes) {
  groups <- lapply(strsplit(parsed$weights, ";", fixed = TRUE)[[1]], split_option)
  if (!all(lengths(groups))) usage_error("--weights has a group without a file")
  files <- unlist(groups)
  # An archive may hold any number of blocks, but groups need one block in each file.
  blocks <- lapply(files, weight_blocks_in)
  group <- rep(rep(paste0("group", seq_along(groups)), lengths(groups)), lengths(blocks))
  chromosomes <- chromosomes_option(parsed) %||% "all"
  kernel_weighted(
    genotypes_on(genotypes, chromosomes, "the kernel"), unlist(blocks, recursive = FALSE),
    if (length(groups) > 1) group
  )
}

# ---- Fit -----------------------------------------------------------------------------------------

# `formula`: of a phenotype of the study; `model`: from command_model().
fit_of_command <- function(formula, study, model, parsed) {
  fit <- fit_reml(
    formula, study$table, model$genotypes, model$components, model$kernels,
    overlap = isTRUE(parsed$overlap), chromosomes = model$chromosomes,
    method = parsed$method %||% "auto", control = model$control, family = study$family,
    prevalence = decimal_options(parsed, "prevalence")$prevalence,
    threads = threads_option(parsed), backend = backend_option(parsed),
    progress = isatty(stderr()), verbose = isTRUE(parsed$verbose)
  )
  # GPU_REML's bound, a one-sided test at 5 %
  if (isTRUE(parsed$merge)) merge_components(fit, stats::qnorm(0.95), progress = FALSE) else fit
}
