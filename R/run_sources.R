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

# Of sequences that calling finds in their folders: what the record says they were projected from,
# or the files themselves where others made them. `on_record`: which is which, by species.
projected_sources <- function(config, manifest, on_record) {
  species <- names(on_record)
  sources <- lapply(species, function(name) {
    if (on_record[[name]]) {
      return(manifest$projected[[name]]$source)
    }
    list(files = unname(attr(config, "inputs")[projected_files(config, name)]))
  })
  stats::setNames(sources, species)
}

# Keys that change no call.
immaterial_keys <- c(
  "work_dir", "output_dir", "num_cpus", "backend", "gpu_devices", "gpu_memory", "keep_projected",
  "on_bad_block", "evaluation", "cluster", "chromosomes", "chromosome_lengths", "focal_fasta",
  "ml_training_reference"
)

settings_of_calls <- function(config) {
  settings <- raw_config(config)
  settings[immaterial_keys] <- NULL
  settings$outgroups <- split(config$outgroups$name, config$outgroups$tier)
  settings
}

# What calls are made from besides the lengths of their chromosomes, which their files tell.
call_sources <- function(config, sources) {
  settings <- settings_of_calls(config)
  files <- method_of(config)$files(config)
  settings[names(files)] <- lapply(files, function(path) input_identity(config, path))
  list(
    ancify = package_version_text(), settings = settings, sources = sources,
    # A fit is to all of a run's sites.
    fitted_to = if (fits_model(config)) as.list(config$lengths)
  )
}
