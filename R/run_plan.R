# The plan of a run: phases, alignments, species and settings of its configuration.

# The species whose sequences the phases write. Calling with a fit also writes missing focal bases.
species_projected <- function(config, phases) {
  projects <- "project" %in% phases
  with_focal <- (projects && !is.null(config$focal_fasta)) ||
    (any(c("project", "call") %in% phases) && needs_focal(config))
  c(if (projects) config$outgroups$name, if (with_focal) config$focal_species)
}

missing_bytes <- function(paths, sizes) {
  there <- file.size(paths) == sizes
  sum(sizes[!there %in% TRUE])
}

# Whether the projections of these phases stay on disk.
keeps_projections <- function(config, phases) {
  if (is.logical(config$keep_projected)) {
    return(config$keep_projected)
  }
  !all(c("project", "call") %in% phases) || fits_model(config)
}

# Bytes for bases that await calling: the configured limit, but at most half of available memory.
memory_to_take <- function(config) min(config$memory, available_memory() / 2, na.rm = TRUE)

# Whether a fit precedes this configuration's calls.
fits_model <- function(config) {
  config$estimate && length(method_of(config)$fits) > 0
}

fits_history <- function(config) fits_model(config) && "history" %in% method_of(config)$fits

# A history always includes the focal lineage.
needs_focal <- function(config) {
  fits_model(config) && (fits_history(config) || tree_names_focal(config))
}

# The genome's chromosomes, named by their aliases.
aliases_of_genome <- function(config) {
  path <- config$chromosome_aliases
  if (is.null(path)) {
    return(character())
  }
  read_chromosome_aliases(
    path, names(lengths_of_genome(config)), input_identity(config, path)$identity %||% ""
  )
}

has_focal <- function(config) {
  folder <- projected_folder(config, config$focal_species)
  all(file.exists(sequence_path(folder, names(config$lengths))))
}

can_run_as_one <- function(config, phases, kind) {
  all(c("project", "call") %in% phases) && !fits_model(config) && kind %in% c("cpu", "gpu")
}

check_phases <- function(phases) {
  refuse_if(!is.character(phases) || length(phases) == 0 || !all(phases %in% all_phases),
            "`phases` must be among %s, not %s.", enumerate(quoted(all_phases)), show_value(phases))
  unique(phases)
}

# Without an `evaluation` block, the phase "evaluate" runs only if it is the only phase.
phases_asked_for <- function(phases, config) {
  if (is.null(config$evaluation) && length(phases) > 1) setdiff(phases, "evaluate") else phases
}

# Only calls of the same run can use temporary projections.
refuse_unkept_alone <- function(config, phases) {
  if ("project" %in% phases && !"call" %in% phases && isFALSE(config$keep_projected)) {
    problem <- paste(
      "With `keep_projected: false` only calls of the same run can use the projections. Run the",
      "phase \"call\" too, or set `keep_projected: true`."
    )
    abort_ancify(problem, "config", file = config$file, problems = problem)
  }
}

config_alignments <- function(config, folders = "") {
  outgroups <- config$outgroups
  as_alignments(
    outgroups$name, outgroups$alignment, names_in_maf(outgroups), folders,
    outgroups$tier == "inner"
  )
}

config_work <- function(config, progress = FALSE) {
  new_work(
    config$num_cpus, config$backend, progress = progress, gpu_devices = config$gpu_devices,
    gpu_memory = config$gpu_memory
  )
}

config_reading <- function(config, work, focal_folder = "", focal_fasta = "") {
  reading_of(
    config$lengths, work, config$on_bad_block, config$overlaps, focal_in_maf(config),
    names(lengths_of_genome(config)), aliases_of_genome(config), focal_folder, focal_fasta,
    genomes_by_alignment(config$outgroups$alignment, config$outgroups$twobit)
  )
}

# Finds errors that would otherwise stop the run after the projection, and logs notes on the method.
check_before_work <- function(config, log) {
  row <- method_of(config)
  check_method_files(config, row)
  if (takes_variants(row)) check_chromosomes_of_variants(config, log)
  check_focal_bases(config)
  row$look(config, species_of_tiers(config))
  log_called_node(config, row, log)
  if (config$estimate && !fits_model(config)) {
    log(sprintf("`estimate: true` has no effect: `method` %s has nothing to fit",
                quoted(config$method)))
  }
  if (!is.null(config$variants) && !takes_variants(row)) {
    log(sprintf("`variants` has no effect: `method` %s does not know that sites vary",
                quoted(config$method)))
  }
}

# Files with a `twobit` contain no focal bases.
check_focal_bases <- function(config) {
  lacking <- config$outgroups$name[!is.na(config$outgroups$twobit)]
  if (length(lacking) && needs_focal(config) && is.null(config$focal_fasta)) {
    problem <- sprintf(
      "`estimate` needs focal bases, which the files with a `twobit` lack (%s): set `focal_fasta`.",
      enumerate(quoted(lacking))
    )
    abort_ancify(problem, "config", file = config$file, problems = problem)
  }
}

# Only calling needs these files: training itself writes the model.
check_method_files <- function(config, row) {
  files <- row$files(config)
  problems <- unlist(Map(input_problem, names(files), files, FALSE), use.names = FALSE)
  if (!is.null(problems)) {
    abort_ancify(problems[1], "config", file = config$file, problems = problems)
  }
}

takes_variants <- function(row) "variants" %in% row$arguments

# A file of other chromosomes would be mistaken for a genome without variation.
check_chromosomes_of_variants <- function(config, log) {
  if (is.null(config$variants)) {
    return(invisible())
  }
  check_htslib()
  chromosomes <- names(lengths_of_genome(config))
  files <- variants_files(config)
  fail <- function(problem) {
    abort_ancify(problem, "config", file = config$variants, problems = problem)
  }
  if (!length(files)) fail(no_variants_file("variants", config))
  there <- unlist(lapply(files, function(path) {
    with_watch("Reading", function(watch) variant_chromosomes_impl(path, watch))
  }))
  if (all(is.na(match_chromosomes(there, chromosomes)))) {
    fail(sprintf(
      "`variants` is %s, which has no chromosome of the run, with or without a leading 'chr'.",
      quoted(config$variants)
    ))
  }
  without <- chromosomes[!paste("variants of", chromosomes) %in% names(files)]
  if (has_placeholder(config$variants) && length(without)) {
    log(paste("`variants` has no file for", enumerate(quoted(without))))
  }
}

# Names by tier, in the order of the table of outgroups: inner outgroups first.
species_of_tiers <- function(config) {
  split(config$outgroups$name, factor(config$outgroups$tier, c("inner", "outer")))
}

config_caller <- function(config, settings, work, verbose = FALSE) {
  make_caller(
    core_method(method_of(config), species_of_tiers(config), settings), config$posterior, work,
    verbose, expected_inputs(config)
  )
}

log_called_node <- function(config, row, log) {
  node <- config$node
  if (!is.null(node) && !needs_tree(row)) {
    log(sprintf("`node` has no effect: `method` %s has no tree", quoted(config$method)))
  } else if (!is.null(node)) {
    log(paste0("Calls are for the ancestor ", if (length(node) > 1) "of ", enumerate(quoted(node))))
  } else if (needs_tree(row) && !tree_names_focal(config)) {
    log(no_focal_in_tree(config$focal_species))
  }
}

# The settings for core_method(), from the configuration alone.
run_settings <- function(config, verbose) {
  row <- method_of(config)
  threshold <- function(which) {
    if (has_posterior(row)) config[[sprintf("%s_%s_threshold", row$thresholds, which)]]
  }
  settings <- list(
    min_inner_freq = config$min_inner_freq, min_outer_freq = config$min_outer_freq,
    ties = config$ties, high = threshold("high"), low = threshold("low"),
    model = config_model(config)
  )
  if (!is.null(config$tree)) {
    settings$tree <- parse_newick(config$tree)
    settings$focal <- if (tree_names_focal(config)) config$focal_species
    settings$node <- config$node
  }
  quietly <- if (verbose) identity else suppressMessages
  c(settings, quietly(row$configured(config)))
}

tree_names_focal <- function(config) {
  !is.null(config$tree) && config$focal_species %in% parse_newick(config$tree)$tip.label
}

call_table <- function(counts, config) {
  data.frame(counts, file = sequence_path(config$output_dir, names(config$lengths)))
}
