# Keeps the spectra of selected_spectra() in a folder, from which an interrupted call resumes. The
# files spectra-1.bin, spectra-2.bin, ... contain the cells of successive spectra as little-endian
# doubles. Their source in the folder's ledger is the fingerprint of the model and settings, and
# their facts are list(pts = the grids used for each spectrum).

# Calls do(part) for each part.
each_part <- function(parts, do, progress) {
  if (!progress || length(parts) < 2) {
    return(lapply(parts, do))
  }
  bar <- cli::cli_progress_bar("Spectra", total = length(parts), clear = TRUE, .auto_close = FALSE)
  on.exit(cli::cli_progress_done(id = bar))
  lapply(parts, function(part) {
    done <- do(part)
    cli::cli_progress_update(id = bar)
    done
  })
}

# The spectra of all parts, and the grids used for them: list(spectra =, pts =).
joined_parts <- function(found) {
  join <- function(name) unlist(lapply(found, `[[`, name), recursive = FALSE)
  list(spectra = join("spectra"), pts = join("pts"))
}

# The most spectra in a file, except with pairs.
most_of_part <- 10

# The indices of the spectra in each part. With pairs, a part has one coefficient of the second
# population.
spectra_parts <- function(settings) {
  n <- length(settings$gammas)
  spectra <- seq_len(if (settings$pairs) n^2 else n)
  unname(split(spectra, (spectra - 1) %/% if (settings$pairs) n else most_of_part))
}

spectra_files <- function(settings) {
  sprintf("spectra-%d.bin", seq_along(spectra_parts(settings)))
}

# `of`: the fingerprint.
spectra_in_folder <- function(cache, of, compute, progress) {
  locks <- lock_folders(cache, inform_ancify)
  on.exit(unlock_folders(locks))
  kind <- spectra_kind()
  files <- kind$files(of)
  parts <- spectra_parts(of$settings)
  ledger <- complete_parts(kind, cache, of, resume = TRUE, function(left, ledger) {
    each_part(left, function(k) {
      write_spectra(ledger, files[k], compute(parts[[k]]), of)
    }, progress)
  })
  spectra_of_files(ledger, files, of$settings)
}

# As for complete_parts().
spectra_kind <- function() {
  list(
    argument = "cache", made_by = "selected_spectra()", holds = "spectra",
    recorded = recorded_spectra, files = function(of) spectra_files(of$settings)
  )
}

# Writes the spectra of one part to a file.
write_spectra <- function(ledger, file, found, of) {
  cells <- unlist(lapply(found$spectra, function(one) as.vector(plain_array(one))))
  path <- ledger_paths(ledger, file)
  write_file_impl(path, writeBin(cells, raw(), endian = "little"))
  facts <- canonical_json(list(pts = lapply(found$pts, as.list)))
  complete_files(ledger, file, of, sums_of(path), facts)
  save_ledger(ledger, at_once = TRUE)
}

# Reads the spectra of complete files.
spectra_of_files <- function(ledger, files, settings) {
  sizes <- unlist(settings$sample_sizes)
  parts <- lengths(spectra_parts(settings))
  cells <- do.call(cbind, Map(function(path, spectra) {
    matrix(read_doubles(path, prod(sizes + 1) * spectra), ncol = spectra)
  }, ledger_paths(ledger, files), parts))
  mask <- corner_mask(sizes + 1)
  spectra <- lapply(seq_len(ncol(cells)), function(k) {
    new_sfs(array(cells[, k], sizes + 1), unlist(settings$populations), mask, FALSE)
  })
  facts <- recorded_facts(ledger, files, spectra_facts())
  pts <- unlist(lapply(facts, `[[`, "pts"), recursive = FALSE)
  list(spectra = spectra, pts = lapply(pts, function(points) as.integer(unlist(points))))
}

#' @rdname selected_spectra
#' @export
read_selected_spectra <- function(cache) {
  check_args(cache = one_path())
  whole <- whole_folder(spectra_kind(), cache)
  settings <- whole$of$settings
  found <- spectra_of_files(whole$ledger, whole$files, settings)
  new_selected_spectra(found$spectra, settings)
}

new_selected_spectra <- function(spectra, settings) {
  gammas <- as.numeric(settings$gammas)
  if (settings$pairs) dim(spectra) <- rep(length(gammas), 2)
  structure(list(gammas = gammas, spectra = spectra), class = "selected_spectra")
}

# ---- Fingerprints --------------------------------------------------------------------------------

# The fingerprint of the spectra in a ledger; NULL if it has none.
recorded_spectra <- function(ledger) {
  rows <- ledger_rows(ledger)
  is_part <- grepl("^spectra-[0-9]+[.]bin$", rows$path)
  of <- Find(Negate(is.null), recorded_sources(ledger, rows$path[is_part]))
  checked_record(with_numerics(of), spectra_record(), ledger)
  refuse_if(!is.null(of) && !identical(of$settings$numerics, spectra_numerics),
            "The spectra in %s are from a version of ancify with other numerics: %s `%s`.",
            quoted(ledger$folder), "compute them again with another", "cache")
  if (!is.null(of)) check_part_sizes(ledger, of$settings)
  of
}

# The version of the numerics. Increase it whenever the same settings give other spectra, so that
# spectra of two versions are never mixed.
spectra_numerics <- 2L

# Records of the first version lack the field `numerics`.
with_numerics <- function(of) {
  if (is.list(of) && is.list(of$settings)) of$settings$numerics <- of$settings$numerics %||% 1L
  of
}

# The fields of a fingerprint of spectra.
spectra_record <- function() {
  list(
    model = list(events = text_field),
    settings = list(
      sample_sizes = whole_field(1, 1e6, 1, 5), populations = record_field("text", 0, 5),
      pairs = record_field("flag"),
      gammas = record_field("text", 1, 1e5, function(x) abs(as.numeric(x)) <= 1e6),
      h = record_field("number"), pts = whole_field(1, 1e6, 1, 10), time = text_field,
      extrapolate = text_field, sampling = text_field,
      numerics = whole_field(1, 1e6)
    )
  )
}

# The fields of a file's facts: the grids of each spectrum.
spectra_facts <- function() {
  grids <- function(x) x >= 1 & x <= 1e6 & x == floor(x)
  list(pts = record_field("number", 1, 10, grids, each = TRUE))
}

# Sizes of the files of these parts, in bytes.
part_bytes <- function(settings, parts) {
  n <- length(settings$gammas)
  spectra <- if (settings$pairs) n else pmax(pmin(most_of_part, n - most_of_part * (parts - 1)), 0)
  8 * prod(unlist(settings$sample_sizes) + 1) * spectra
}

# Refuses settings that contradict the recorded sizes of files, before memory is allocated for the
# spectra.
check_part_sizes <- function(ledger, settings) {
  rows <- ledger_rows(ledger)
  rows <- rows[rows$state == "complete" & grepl("^spectra-[0-9]+[.]bin$", rows$path), ]
  parts <- as.numeric(gsub("[^0-9]", "", rows$path))
  if (!isTRUE(all(rows$size == part_bytes(settings, parts)))) {
    refuse_damaged_record(ledger, "its files have other sizes than the spectra of the run")
  }
}

# The checksum of core events. Functions of time are sampled at 33 times.
events_checksum <- function(events) {
  values_checksum(lapply(events, function(event) {
    times <- seq(event$start %||% 0, event$end %||% 0, length.out = 33)
    rapply(event, function(f) vapply(times, f, 0), "function", how = "replace")
  }))
}

# The checksum of a nested list of numbers and strings.
values_checksum <- function(x) {
  values <- rapply(list(x), function(value) {
    if (is.character(value)) value else exact_text(as.double(value))
  }, how = "unlist")
  texts_checksum_impl(paste(names(values), values))
}
