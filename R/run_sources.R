# What projections and calls are made from: sources and settings, as they go on record.

# What each outgroup is projected from, by species.
alignment_sources <- function(config) {
  outgroups <- config$outgroups
  many <- have_many_species(outgroups$alignment) %in% TRUE
  # Rows of several species are told apart by the names of all chromosomes.
  lengths <- if (any(many)) input_identity(config, config$chromosome_lengths)
  # Blocks that differ from it are bad.
  focal <- if (!is.null(config$focal_fasta)) input_identity(config, config$focal_fasta)
  sources <- lapply(seq_len(nrow(outgroups)), function(i) {
    list(
      ancify = package_version_text(), alignment = input_identity(config, outgroups$alignment[i]),
      on_bad_block = config$on_bad_block, compared_with = focal,
      maf = if (many[i]) {
        names <- names_in_maf(outgroups)
        list(names[i], names[longer_named(outgroups, i)], focal_in_maf(config), lengths)
      }
    )
  })
  stats::setNames(sources, outgroups$name)
}

# Outgroups of the same file whose names there go on behind that of outgroup i and a dot: of a MAF's
# rows that fit both names, theirs are those of the longer one.
longer_named <- function(outgroups, i) {
  names <- names_in_maf(outgroups)
  which(outgroups$alignment == outgroups$alignment[i] & startsWith(names, paste0(names[i], ".")))
}

# What the focal species' own bases are taken from.
focal_source <- function(config, sources) {
  if (is.null(config$focal_fasta)) {
    return(list(focal_rows = unname(sources)))
  }
  focal <- input_identity(config, config$focal_fasta)
  list(ancify = package_version_text(), focal_fasta = focal)
}

# Of sequences that calling finds in their folders: what the ledger says they were projected from,
# or the files themselves where others made them.
projected_sources <- function(config, species, on_record) {
  sources <- lapply(species, function(name) {
    on_record[[name]] %||%
      list(files = unname(attr(config, "inputs")[projected_files(config, name)]))
  })
  stats::setNames(sources, species)
}

# Files of a method by their identities
settings_of_calls <- function(config) {
  settings <- raw_config(config)
  changes <- vapply(config_keys(), `[[`, "", "changes")
  settings[names(changes)[changes != "calls"]] <- NULL
  settings$outgroups <- split(config$outgroups$name, config$outgroups$tier)
  files <- method_of(config)$files(config)
  settings[names(files)] <- lapply(files, function(path) {
    input_identity(config, path) %||% identity_if_readable(path)
  })
  settings
}

# What calls are made from besides the lengths of their chromosomes, which their files tell.
call_sources <- function(config, sources) {
  list(
    ancify = package_version_text(), settings = settings_of_calls(config), sources = sources,
    # A fit is to all of a run's sites.
    fitted_to = if (fits_model(config)) as.list(config$lengths)
  )
}

# Settings, as messages name them, with which the calls in the output folder were made, and which
# are others in this configuration.
other_settings <- function(config, ledger) {
  made_from <- made_from_of(ledger, sequence_file(names(config$lengths)))
  made_from <- Filter(Negate(is.null), made_from)
  if (length(made_from) == 0) {
    return(NULL)
  }
  then <- made_from[[1]]$settings
  now <- settings_of_calls(config)
  keys <- setdiff(union(names(now), names(then)), "posterior")
  other <- Filter(function(key) !same_json(now[[key]], then[[key]]), keys)
  sprintf("`%s`", other)
}

# Who evaluates calls takes them for those of the configuration.
warn_about_other_settings <- function(config) {
  other <- other_settings(config, open_ledger(config$output_dir))
  if (length(other)) {
    warn_ancify(
      sprintf(
        "The calls in %s were made with another %s than this configuration has: %s.",
        quoted(config$output_dir), enumerate(other),
        "run the phase \"call\" too, or correct the configuration"
      ),
      "evaluation"
    )
  }
}
