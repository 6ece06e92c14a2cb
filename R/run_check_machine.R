# Checks of disk, permissions and memory for ancify_check().

# The folders that the phases write to, and the bytes that they add. Existing files of the expected
# size count as kept.
written_folders <- function(config, phases, kind) {
  in_files <- keeps_projections(config, phases) || !can_run_as_one(config, phases, kind)
  names <- names(config$lengths)
  sizes <- fasta_size(config$lengths)
  rbind(
    # A run may need the folder only for its ledger or tasks.
    if (any(c("project", "call") %in% phases) || kind %in% c("tasks", "jobs")) {
      folders <- if (in_files) projected_folder(config, species_projected(config, phases))
      data.frame(
        key = "work_dir", path = config$work_dir,
        bytes = sum(vapply(folders, function(folder) {
          missing_bytes(sequence_path(folder, names), sizes)
        }, 0))
      )
    },
    if (any(c("call", "evaluate") %in% phases)) {
      calls <- "call" %in% phases
      phred <- calls && config$posterior
      data.frame(
        key = "output_dir", path = config$output_dir,
        bytes = calls * missing_bytes(sequence_path(config$output_dir, names), sizes) +
          phred * missing_bytes(phred_path(config$output_dir, names), unname(config$lengths))
      )
    }
  )
}

check_permission <- function(config, phases, kind) {
  written <- written_folders(config, phases, kind)
  all_findings(lapply(seq_len(NROW(written)), function(i) {
    key <- written$key[i]
    found <- function(status, folder, ...) {
      finding("permission", key, status, sprintf(...), folder)
    }
    inside <- file.path(written$path[i], folders_inside(config, phases, key))
    there <- existing_folder(written$path[i])
    # Inner folders need not be writable: their files may already be complete.
    inside <- vapply(inside, existing_folder, "")
    no_folder <- Filter(Negate(dir.exists), c(there, inside))
    if (length(no_folder)) {
      found("error", no_folder[1], "%s is not a folder: choose another `%s`, or move it away.",
            quoted(no_folder[1]), key)
    } else if (file.access(there, 3) != 0) {
      found("error", there,
            "%s cannot be written to: choose another `%s`, or change its permissions.",
            quoted(there), key)
    } else {
      found("ok", there, "%s can be written to", quoted(there))
    }
  }))
}

# Folders that runs create inside the folder of this setting.
folders_inside <- function(config, phases, key) {
  if (key == "output_dir") {
    c(
      ".ancify",
      if ("call" %in% phases && config$posterior) "posterior",
      if ("evaluate" %in% phases) "evaluation"
    )
  } else {
    c(
      ".ancify",
      if (keeps_projections(config, phases) || !"project" %in% phases) {
        file.path("projected", species_projected(config, phases))
      }
    )
  }
}

check_disk <- function(config, phases, kind) {
  written <- written_folders(config, phases, kind)
  if (is.null(written)) {
    return(NULL)
  }
  system <- file_systems_impl(vapply(written$path, existing_folder, ""))
  all_findings(lapply(split(seq_len(nrow(written)), system$number), function(i) {
    needed <- sum(written$bytes[i])
    free <- system$available[i[1]]
    keys <- paste(written$key[i], collapse = ", ")
    found <- function(status, ...) {
      finding("disk", keys, status, sprintf(...), written$path[i[1]])
    }
    if (is.na(free)) {
      found("note", "%s will be written; the system does not tell how much is free",
            show_bytes(needed))
    } else if (needed > free) {
      found(
        "error", "%s will be written to %s, only %s are free: make room, or choose another `%s`.",
        show_bytes(needed), quoted(written$path[i[1]]), show_bytes(free), written$key[i[1]]
      )
    } else {
      found("ok", "%s will be written, %s are free", show_bytes(needed), show_bytes(free))
    }
  }))
}

# Memory in bytes for sorted alignments: buffers of threads and readers; windows of each outgroup;
# and either half a byte per position for a focal genome in memory, or a byte per position for focal
# rows.
memory_needed <- function(config, phases, kind) {
  genome <- sum(config$lengths)
  as_one <- can_run_as_one(config, phases, kind)
  in_windows <- as_one * nrow(config$outgroups) * min(genome / 2, 2^24)
  packs_focal <- as_one && !keeps_projections(config, phases) && !is.null(config$focal_fasta)
  from_rows <- "project" %in% phases && needs_focal(config) && is.null(config$focal_fasta)
  2^25 * config$num_cpus + in_windows + genome * max(packs_focal / 2, from_rows)
}

check_memory <- function(config, phases, kind) {
  # Batch jobs request memory on their own machines.
  if (kind == "jobs") {
    return(NULL)
  }
  needed <- memory_needed(config, phases, kind)
  available <- available_memory()
  if (is.na(available)) {
    return(NULL)
  }
  enough <- needed <= available
  packs_focal <- !is.null(config$focal_fasta) && !keeps_projections(config, phases)
  finding("memory", "this machine", if (enough) "ok" else "error", sprintf(
    "about %s are needed, %s are available%s", show_bytes(needed), show_bytes(available),
    if (enough) "" else if (packs_focal) ": set `keep_projected: true`, which needs little." else
      ": use a machine with more."
  ))
}
