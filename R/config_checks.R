# Problems of a configuration whose settings are valid individually.

check_tiers <- function(config, origin) {
  tiers <- c("inner", "outer")
  failed <- c("outgroups", paste0("outgroups.", tiers)) %in% origin$failed
  empty <- tiers[lengths(config$outgroups)[tiers] == 0]
  if (any(failed) || length(empty) == 0) {
    return(invisible())
  }
  if (length(empty) == 2) {
    add_problem(origin, "`outgroups` names no species: list them with their alignments.")
  } else if (isTRUE(method_of(config)$both_tiers)) {
    add_problem(
      origin, "`outgroups.%s` is empty: `method` %s needs a species in both tiers.",
      empty, quoted(config$method)
    )
  }
}

check_species <- function(config, origin) {
  names <- config$outgroups$name
  for (name in unique(names[duplicated(names)])) {
    tiers <- unique(config$outgroups$tier[names == name])
    add_problem(
      origin, "`outgroups.%s`: %s is named twice and would count twice; keep one.",
      paste(tiers, collapse = "` and `outgroups."), quoted(name)
    )
  }
  if (isTRUE(config$focal_species %in% names)) {
    add_problem(
      origin, "`outgroups`: %s is the focal species and would confirm itself; take it out.",
      quoted(config$focal_species)
    )
  }
}

# An alignment, or a species of a MAF, would confirm itself under a second name.
check_alignments_once <- function(config, origin) {
  outgroups <- config$outgroups
  files <- normalizePath(outgroups$alignment, mustWork = FALSE)
  formats <- formats_of(files)
  many <- formats$many_species
  for (file in unique(files[duplicated(files) & many %in% FALSE])) {
    add_problem(
      origin, "`outgroups`: %s have the same alignment, %s, and would confirm each other.",
      enumerate(quoted(outgroups$name[files %in% file])), quoted(file)
    )
  }
  check_maf_names(config, files, many, origin)
  check_twobits(outgroups, formats, origin)
}

check_twobits <- function(outgroups, formats, origin) {
  given <- !is.na(outgroups$twobit)
  for (i in which(formats$needs_genome & !given)) {
    add_problem(
      origin, "`outgroups.%s: %s` has a chain file, %s, without bases: set `twobit`, its genome.",
      outgroups$tier[i], outgroups$name[i], quoted(outgroups$alignment[i])
    )
  }
  for (i in which(!formats$takes_genome & given)) {
    add_problem(
      origin,
      "`outgroups.%s: %s` has a `twobit`, but %s is no chain file and no PAF: take it out.",
      outgroups$tier[i], outgroups$name[i], quoted(outgroups$alignment[i])
    )
  }
}

check_maf_names <- function(config, files, many, origin) {
  outgroups <- config$outgroups
  for (i in which(!many & !is.na(outgroups$maf_name))) {
    add_problem(
      origin, "`outgroups.%s: %s` has a `maf_name`, but %s is no MAF file and no TAF: take it out.",
      outgroups$tier[i], outgroups$name[i], quoted(outgroups$alignment[i])
    )
  }
  in_maf <- many %in% TRUE
  names <- names_in_maf(outgroups)
  for (i in which(in_maf & names %in% focal_in_maf(config))) {
    add_problem(
      origin, "`outgroups.%s: %s` is %s in %s, and so is the focal species: set `%s`.",
      outgroups$tier[i], outgroups$name[i], quoted(names[i]), quoted(outgroups$alignment[i]),
      if (is.null(config$focal_maf_name)) "maf_name` or `focal_maf_name" else "maf_name"
    )
  }
  for (same in split(which(in_maf), data.frame(files, names)[in_maf, ], drop = TRUE)) {
    if (length(same) > 1) {
      add_problem(
        origin, "`outgroups`: %s are all %s in %s, and would confirm each other: set `maf_name`.",
        enumerate(quoted(outgroups$name[same])), quoted(names[same[1]]),
        quoted(outgroups$alignment[same[1]])
      )
    }
  }
}

names_in_maf <- function(outgroups) {
  ifelse(is.na(outgroups$maf_name), outgroups$name, outgroups$maf_name)
}

focal_in_maf <- function(config) {
  config$focal_maf_name %||% config$focal_species
}

# Properties of alignment files by their formats, list(many_species =, needs_genome =,
# takes_genome =): true if they have rows of several species, and if they need or take the
# outgroup's genome. NA if a file is missing or damaged, which is reported later.
formats_of <- function(files) {
  unknown <- list(many_species = NA, needs_genome = NA, takes_genome = NA)
  formats <- lapply(unique(files), function(file) {
    tryCatch(alignment_format_impl(file), ancify_error = function(condition) unknown)
  })[match(files, unique(files))]
  lapply(stats::setNames(nm = names(unknown)), function(field) vapply(formats, `[[`, NA, field))
}

# Calls must not replace projected sequences, references or a genome, whose files may have the same
# names.
check_outputs <- function(config, origin) {
  if (any(c("work_dir", "output_dir") %in% origin$failed)) {
    return(invisible())
  }
  full <- function(path) normalizePath(path, mustWork = FALSE)
  output <- full(config$output_dir)
  projected <- file.path(full(config$work_dir), "projected")
  if (startsWith(paste0(output, "/"), paste0(projected, "/"))) {
    add_problem(
      origin, "`output_dir` is %s, inside the folder of projected sequences: choose another.",
      quoted(config$output_dir)
    )
  }
  for (key in c("evaluation.reference_dir", "ml_training_reference")) {
    input <- if (key == "ml_training_reference") config[[key]] else config$evaluation$reference_dir
    if (!is.null(input) && full(input) == output) {
      add_problem(
        origin, "`output_dir` is %s, the folder of `%s`: choose another.",
        quoted(config$output_dir), key
      )
    }
  }
  if (!is.null(config$focal_fasta) && is_written(config$focal_fasta, config)) {
    add_problem(
      origin, "`focal_fasta` is %s, where a run would write: choose another `%s`.",
      quoted(config$focal_fasta), "output_dir` or `work_dir"
    )
  }
}

check_tree <- function(config, origin) {
  if (is.null(config$tree)) {
    if (isTRUE(nzchar(method_of(config)$tree)) && !"tree" %in% origin$failed) {
      add_problem(
        origin, "`tree` is missing: `method` %s needs one (Newick text, or a file with it).",
        quoted(config$method)
      )
    }
    return(invisible())
  }
  tree <- attempt(origin, parse_newick(config$tree), "tree")
  if (is.null(tree)) {
    return(invisible())
  }
  problems <- tree_problems(tree, config$outgroups$name, config$focal_species)
  attempt(origin, called_node(tree, config$node), "node")
  wants_lengths <- identical(method_of(config)$tree, "lengths") && !isTRUE(config$estimate)
  if (wants_lengths && !has_lengths(tree)) {
    problems <- c(problems, lengths_missing)
  }
  origin$problems <- c(origin$problems, problems)
}

check_model_classes_key <- function(config, origin) {
  has_model <- "model" %in% method_of(config)$fits
  if (is.character(config$model_classes) && has_model && !isTRUE(config$estimate)) {
    add_problem(
      origin, paste(
        "`model_classes` is %s, so rates by class have to be fitted: set `estimate: true`, or give",
        "the rates that a fit wrote to `fitted_model.yml`."
      ),
      config$model_classes
    )
  }
}

check_posterior_key <- function(config, origin) {
  if (isTRUE(config$posterior) && !has_posterior(method_of(config))) {
    add_problem(
      origin, "`posterior` is true, but `method` %s has none: set it to false, or choose %s.",
      quoted(config$method), paste(names_with_posterior(), collapse = ", ")
    )
  }
}

check_thresholds <- function(config, method, origin) {
  low <- config[[paste0(method, "_low_threshold")]]
  high <- config[[paste0(method, "_high_threshold")]]
  if (isTRUE(low > high)) {
    add_problem(
      origin, "`%s_low_threshold` is %s, above `%s_high_threshold`, %s: exchange them.",
      method, low, method, high
    )
  }
}

# Problems of the input files that the phases need.
missing_inputs <- function(config, phases) {
  unique(unlist(.mapply(
    function(key, path, folder, phase) {
      if (phase %in% phases && !is.na(path)) input_problem(key, path, folder)
    },
    input_table(config), NULL
  )))
}

input_table <- function(config) {
  outgroups <- config$outgroups
  one <- function(key, path, folder, phase) {
    if (!is.null(path)) data.frame(key = key, path = path, folder = folder, phase = phase)
  }
  rbind(
    data.frame(
      key = sprintf("outgroups.%s: %s", outgroups$tier, outgroups$name),
      path = outgroups$alignment,
      folder = rep(FALSE, nrow(outgroups)),
      phase = rep("project", nrow(outgroups))
    ),
    data.frame(
      key = sprintf("outgroups.%s: %s: twobit", outgroups$tier, outgroups$name),
      path = outgroups$twobit,
      folder = rep(FALSE, nrow(outgroups)),
      phase = rep("project", nrow(outgroups))
    ),
    one("focal_fasta", config$focal_fasta, FALSE, c("project", "call")),
    one("evaluation.reference_dir", config$evaluation$reference_dir, TRUE, "evaluate"),
    one("evaluation.vcf_dir", config$evaluation$vcf_dir, TRUE, "evaluate"),
    one("ml_training_reference", config$ml_training_reference, TRUE, "train")
  )
}
