# Sources of projections and calls: inputs and settings, as recorded in the ledger.

# Sources of the projections, by species.
alignment_sources <- function(config) {
  outgroups <- config$outgroups
  many <- formats_of(outgroups$alignment)$many_species %in% TRUE
  # The species of a MAF row depends on the names of all chromosomes.
  lengths <- if (any(many)) input_identity(config, config$chromosome_lengths)
  # Blocks that differ from the focal genome are bad, so it is part of the source.
  focal <- if (!is.null(config$focal_fasta)) input_identity(config, config$focal_fasta)
  aliases <- aliases_source(config)
  version <- package_version_text()
  names <- names_in_maf(outgroups)
  sources <- lapply(seq_len(nrow(outgroups)), function(i) {
    list(
      ancify = version, alignment = input_identity(config, outgroups$alignment[i]),
      twobit = if (!is.na(outgroups$twobit[i])) input_identity(config, outgroups$twobit[i]),
      on_bad_block = config$on_bad_block, overlaps = config$overlaps, compared_with = focal,
      aliases = aliases,
      maf = if (many[i]) {
        list(names[i], names[longer_named(outgroups, i)], focal_in_maf(config), lengths)
      }
    )
  })
  stats::setNames(sources, outgroups$name)
}

aliases_source <- function(config) {
  if (!is.null(config$chromosome_aliases)) input_identity(config, config$chromosome_aliases)
}

# Outgroups of the same MAF whose names begin with outgroup i's name and a dot. Rows that match both
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

# Sources of the projections that calling reads. They are from the ledger, or the files themselves
# if no run made them.
projected_sources <- function(config, species, on_record) {
  sources <- lapply(species, function(name) {
    on_record[[name]] %||%
      list(files = unname(attr(config, "inputs")[projected_files(config, name)]))
  })
  stats::setNames(sources, species)
}

# The settings that affect calls; a method's files are represented by their identities.
settings_of_calls <- function(config) {
  settings <- raw_config(config)
  changes <- vapply(config_keys(), `[[`, "", "changes")
  settings[names(changes)[changes != "calls"]] <- NULL
  settings$outgroups <- split(config$outgroups$name, config$outgroups$tier)
  files <- method_of(config)$files(config)
  settings[names(files)] <- lapply(files, function(path) {
    input_identity(config, path) %||% identity_if_readable(path)
  })
  # Sources are compared as text, so the order of the table of settings must not matter.
  settings[order(names(settings), method = "radix")]
}

# The source of calls. It omits the lengths of their chromosomes, which the files determine.
call_sources <- function(config, sources) {
  list(
    ancify = package_version_text(), settings = settings_of_calls(config), sources = sources,
    # A fit uses all of a run's sites.
    fitted_to = if (fits_model(config)) config$lengths
  )
}

# Settings that differ between the calls in the output folder and this configuration, as text for
# messages.
other_settings <- function(config, ledger) {
  other_keys(
    settings_of_calls(config),
    sources_of_files(ledger, sequence_file(names(config$lengths)))$sources
  )
}

# Settings that differ between sources and `now`, except settings that do not affect bases.
other_keys <- function(now, sources) {
  differs <- function(key) {
    any(!vapply(sources, function(then) same_json(now[[key]], then$settings[[key]]), NA))
  }
  sprintf("`%s`", Filter(differs, setdiff(names(now), "posterior")))
}

# Warns if calls that are read together are of several configurations.
warn_about_mixed_calls <- function(files) {
  folder <- dirname(files[1])
  ledger <- if (length(files) > 1) ledger_to_ask(folder)
  if (is.null(ledger)) {
    return(invisible())
  }
  found <- sources_of_files(ledger, basename(files))
  if (length(found$sources) < 2) {
    return(invisible())
  }
  now <- found$sources[[1]]$settings
  is_other <- vapply(found$sources, function(one) length(other_keys(now, list(one))) > 0, NA)
  if (any(is_other)) {
    chromosomes <- sub("[.]fa$", "", basename(files))
    other <- chromosomes[is_other[found$number] %in% TRUE]
    warn_ancify(
      sprintf(
        "The calls in %s are of several configurations: %s %s made with another %s than %s. %s.",
        quoted(folder), enumerate(other), if (length(other) == 1) "was" else "were",
        enumerate(other_keys(now, found$sources[is_other])),
        chromosomes[which(found$number == 1)[1]], "Give each configuration its own `output_dir`"
      ),
      "calls"
    )
  }
}

# A folder's ledger, for warnings; NULL if it cannot be read.
ledger_to_ask <- function(folder) {
  if (is_file(ledger_file(folder))) {
    tryCatch(open_ledger(folder), ancify_error = function(condition) NULL)
  }
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

# Warns about outdated projections, which the phase "call" alone would use unchanged.
warn_about_old_projections <- function(config, on_record) {
  outgroups <- config$outgroups
  old <- vapply(seq_len(nrow(outgroups)), function(i) {
    then <- on_record[[outgroups$name[i]]]
    any(vapply(c("alignment", "twobit"), function(key) {
      now <- if (!is.na(outgroups[[key]][i])) input_identity(config, outgroups[[key]][i])
      !is.null(then[[key]]) && !is.null(now) && !same_json(then[[key]], now)
    }, NA))
  }, NA)
  if (any(old)) {
    warn_ancify(
      sprintf(
        "The projections of %s were made from another alignment than the configuration names. %s.",
        enumerate(outgroups$name[old]), "Run the phase \"project\" to make them again"
      ),
      "projection"
    )
  }
}

# Warns about outdated projections that are read outside a run. A deleted alignment gives no
# warning.
warn_about_kept_projections <- function(config) {
  ledger <- ledger_to_ask(config$work_dir)
  if (is.null(ledger)) {
    return(invisible())
  }
  names <- config$outgroups$name
  made_from <- made_from_of(ledger, projections_of(names, names(config$lengths)[1]))
  warn_about_old_projections(with_alignments(config, "call"), stats::setNames(made_from, names))
}

# Adds the identities of alignments and genomes, which may be missing if nothing is projected.
with_alignments <- function(config, phases) {
  identify <- if ("project" %in% phases) file_identity else identity_if_readable
  outgroups <- config$outgroups
  with_inputs(
    config, c(outgroups$alignment, stats::na.omit(outgroups$twobit), config$focal_fasta), identify
  )
}

# with_inputs() for files that this session wrote or verified by checksum.
with_seen <- function(config, ledger, paths) {
  known <- mget(paths, ledger$seen, ifnotfound = list(NULL))
  attr(config, "inputs")[ledger_paths(ledger, paths)] <- lapply(known, function(identity) {
    list(identity = identity)
  })
  config
}
