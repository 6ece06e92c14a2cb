# Sources of projections and calls: inputs and settings, as the ledger records them.

# Sources of the projections, by species.
alignment_sources <- function(config) {
  outgroups <- config$outgroups
  many <- formats_of(outgroups$alignment)$many_species %in% TRUE
  # In a MAF, the names of all chromosomes decide which species a row belongs to.
  lengths <- if (any(many)) input_identity(config, config$chromosome_lengths)
  # Blocks that differ from the focal genome are bad.
  focal <- if (!is.null(config$focal_fasta)) input_identity(config, config$focal_fasta)
  aliases <- aliases_source(config)
  sources <- lapply(seq_len(nrow(outgroups)), function(i) {
    list(
      ancify = package_version_text(), alignment = input_identity(config, outgroups$alignment[i]),
      twobit = if (!is.na(outgroups$twobit[i])) input_identity(config, outgroups$twobit[i]),
      on_bad_block = config$on_bad_block, compared_with = focal, aliases = aliases,
      maf = if (many[i]) {
        names <- names_in_maf(outgroups)
        list(names[i], names[longer_named(outgroups, i)], focal_in_maf(config), lengths)
      }
    )
  })
  stats::setNames(sources, outgroups$name)
}

aliases_source <- function(config) {
  if (!is.null(config$chromosome_aliases)) input_identity(config, config$chromosome_aliases)
}

# Outgroups of the same MAF whose names begin with outgroup i's name and a dot. Rows that fit both
# names belong to the longer one.
longer_named <- function(outgroups, i) {
  names <- names_in_maf(outgroups)
  which(outgroups$alignment == outgroups$alignment[i] & startsWith(names, paste0(names[i], ".")))
}

# The source of the focal species' own bases.
focal_source <- function(config, sources) {
  if (is.null(config$focal_fasta)) {
    return(list(focal_rows = unname(sources)))
  }
  focal <- input_identity(config, config$focal_fasta)
  list(ancify = package_version_text(), focal_fasta = focal, aliases = aliases_source(config))
}

# Sources of the projections that calling reads: from the ledger, or the files themselves if no run
# made them.
projected_sources <- function(config, species, on_record) {
  sources <- lapply(species, function(name) {
    on_record[[name]] %||%
      list(files = unname(attr(config, "inputs")[projected_files(config, name)]))
  })
  stats::setNames(sources, species)
}

# The settings that change calls; a method's files by their identities.
settings_of_calls <- function(config) {
  settings <- raw_config(config)
  changes <- vapply(config_keys(), `[[`, "", "changes")
  settings[names(changes)[changes != "calls"]] <- NULL
  settings$outgroups <- split(config$outgroups$name, config$outgroups$tier)
  files <- method_of(config)$files(config)
  settings[names(files)] <- lapply(files, function(path) {
    input_identity(config, path) %||% identity_if_readable(path)
  })
  # Compared as text, so the order of the table of settings must not matter.
  settings[order(names(settings), method = "radix")]
}

# The source of calls, without the lengths of their chromosomes, which their files have.
call_sources <- function(config, sources) {
  list(
    ancify = package_version_text(), settings = settings_of_calls(config), sources = sources,
    # A fit is to all of a run's sites.
    fitted_to = if (fits_model(config)) as.list(config$lengths)
  )
}

# Settings, as messages name them, that differ between the calls in the output folder and this
# configuration.
other_settings <- function(config, ledger) {
  made_from <- made_from_of(ledger, sequence_file(names(config$lengths)))
  made_from <- Filter(Negate(is.null), made_from)
  if (length(made_from) == 0) {
    return(NULL)
  }
  then <- made_from[[1]]$settings
  now <- settings_of_calls(config)
  keys <- setdiff(names(now), "posterior")
  other <- Filter(function(key) !same_json(now[[key]], then[[key]]), keys)
  sprintf("`%s`", other)
}

# Warns if the calls to evaluate were made with other settings.
warn_about_other_settings <- function(config) {
  other <- other_settings(config, open_ledger(config$output_dir))
  if (length(other)) {
    warn_ancify(
      sprintf(
        "The calls in %s were made with another %s than in this configuration. %s.",
        quoted(config$output_dir), enumerate(other),
        "Run the phase \"call\" first, or correct the configuration"
      ),
      "evaluation"
    )
  }
}
