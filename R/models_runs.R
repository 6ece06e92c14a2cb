# Runs of embed_sequences() that go on where they were ended. The folder has run.json and the files
# part-1.bin, part-2.bin, ...: slices of the input in its own order. run.json is list(of = the
# fingerprint, parts = for each part that is done, list(part =, checksum =, has_unknown = the
# sequences with letters that are no residues, unknown = how many)). A part is done if it is
# recorded, and its file has the recorded checksum and the slice's ids.

run_embedding <- function(run, out, resume) {
  run$of <- embedding_fingerprint(run)
  locks <- lock_folders(out, inform_ancify)
  on.exit(unlock_folders(locks))
  unlink(leftovers_impl(out), expand = FALSE)
  parts <- recorded_parts(out, run$of, resume)
  slices <- part_slices(length(run$sequences$ids), run$of$settings$part_size)
  for (k in seq_along(slices)) {
    name <- as.character(k)
    if (!is_whole_part(parts[[name]], part_file(out, k), run$sequences$ids[slices[[k]]])) {
      parts[[name]] <- make_part(run, out, k, slices[[k]])
      record_parts(out, run$of, parts)
    }
  }
  done <- parts[as.character(seq_along(slices))]
  has_unknown <- unlist(lapply(done, function(part) part$has_unknown))
  tell_unknown(unlist(lapply(done, function(part) part$unknown)), run$sequences$ids[has_unknown])
  out
}

run_file <- function(out) file.path(out, "run.json")

part_file <- function(out, k) file.path(out, sprintf("part-%d.bin", k))

# Sequences of a part, which is in memory at once. The tests make it small.
part_size <- function(by_residue) {
  most <- if (by_residue) 100 else 10000
  check_whole_number(getOption("ancify.part_size", most), "options(ancify.part_size = )")
}

# A run of no sequences has one part, which tells its width.
part_slices <- function(n, size) {
  if (n == 0) list(integer()) else unname(split(seq_len(n), (seq_len(n) - 1) %/% size))
}

# What must be the same for the parts of two sessions to belong together: contents, not paths.
embedding_fingerprint <- function(run) {
  files <- c(run$model$weights, run$model$other)
  sums <- with_watch("Reading the model's files", function(watch) {
    checksums_impl(files, run$settings$backend$threads, watch)
  }, progress = interactive())
  list(
    input = list(
      sequences = length(run$sequences$ids), ids = texts_checksum_impl(run$sequences$ids),
      letters = texts_checksum_impl(run$sequences$sequences)
    ),
    model = stats::setNames(as.list(sums$checksum), basename(files)),
    settings = list(
      pool = if (run$by_residue) "residue" else "mean", long = run$settings$long,
      precision = "fp32", part_size = part_size(run$by_residue)
    )
  )
}

# The parts of run.json, named by their numbers. A new run gets one without parts.
recorded_parts <- function(out, of, resume) {
  if (!is_there(run_file(out))) {
    others <- setdiff(list.files(out, all.files = TRUE, no.. = TRUE), ".ancify.lock")
    if (length(others)) {
      abort_ancify(
        sprintf("`out` is %s, which has files of something else, such as %s: choose another.",
                quoted(out), quoted(others[1])),
        "file", file = out
      )
    }
    record_parts(out, of, list())
    return(list())
  }
  if (!resume) {
    abort_ancify(
      sprintf("`out` is %s, which has a run: remove it, choose another, or set `resume = TRUE`.",
              quoted(out)),
      "input"
    )
  }
  record <- read_run(out)
  refuse_other_run(record$of, of, out)
  record$parts
}

read_run <- function(out) {
  file <- run_file(out)
  check_is_file(file)
  record <- tryCatch(jsonlite::read_json(file), error = function(condition) NULL)
  if (!is_embedding_record(record)) {
    abort_ancify(
      sprintf("%s is damaged: remove it, and the parts beside it.", quoted(file)), "format",
      file = file, line = 0
    )
  }
  names(record$parts) <- vapply(record$parts, function(part) as.character(part$part), "")
  record
}

is_embedding_record <- function(record) {
  if (!is.list(record) || !is.list(record$of) || !is.list(record$parts)) {
    return(FALSE)
  }
  of <- record$of[c("input", "model", "settings")]
  all(vapply(of, is.list, NA)) && is_record_number(of$input$sequences, 0) &&
    is_record_number(of$settings$part_size, 1) && all(vapply(record$parts, is_part_record, NA))
}

is_part_record <- function(part) is.list(part) && is_record_number(part$part, 1)

is_record_number <- function(x, least) is.numeric(x) && length(x) == 1 && isTRUE(x >= least)

refuse_other_run <- function(of, now, out) {
  differs <- unlist(lapply(names(now), function(what) {
    keys <- union(names(now[[what]]), names(of[[what]]))
    same <- vapply(keys, function(key) same_json(of[[what]][[key]], now[[what]][[key]]), NA)
    sprintf("%s: %s", what, keys[!same])
  }))
  if (length(differs)) {
    abort_ancify(
      sprintf("The run in %s differs (%s): choose another `out`, or go on with what it was of.",
              quoted(out), enumerate(differs)),
      "input"
    )
  }
}

record_parts <- function(out, of, parts) {
  write_text(run_file(out), to_json(list(of = of, parts = unname(parts))))
}

is_whole_part <- function(record, file, ids) {
  if (is.null(record) || !is_file(file)) {
    return(FALSE)
  }
  found <- tryCatch(part_ids_impl(file), ancify_format_error = function(condition) NULL)
  identical(found$checksum, record$checksum) && identical(found$ids, ids)
}

make_part <- function(run, out, k, slice) {
  made <- with_watch(sprintf("Embedding, part %d", k), function(watch) {
    embed_part_impl(run$model$loaded, run$sequences$ids[slice], run$sequences$sequences[slice],
                    run$settings, run$by_residue, part_file(out, k), watch)
  }, progress = interactive())
  has <- which(made$unknown > 0)
  list(part = k, checksum = made$checksum, has_unknown = as.list(slice[has]),
       unknown = as.list(made$unknown[has]))
}

#' @rdname embed_sequences
#' @export
read_embeddings <- function(folder) {
  check_given()
  folder <- check_path(folder, "folder")
  run <- read_run(folder)
  n <- length(part_slices(run$of$input$sequences, run$of$settings$part_size))
  left <- setdiff(as.character(seq_len(n)), names(run$parts))
  if (length(left)) {
    abort_ancify(
      sprintf("The run in %s is not done, as %s of %d parts are left: call embed_sequences() %s",
              quoted(folder), length(left), n, "again."),
      "input"
    )
  }
  parts <- lapply(seq_len(n), function(k) {
    read_part(part_file(folder, k), run$parts[[as.character(k)]]$checksum)
  })
  if (run$of$settings$pool == "mean") do.call(rbind, parts) else do.call(c, parts)
}

# A matrix with a row a protein, or a list of matrices with a row a residue.
read_part <- function(file, checksum) {
  check_is_file(file)
  part <- read_part_impl(file)
  if (!identical(part$checksum, checksum)) {
    abort_ancify(
      sprintf("%s is not the part that run.json has: call embed_sequences() again.", quoted(file)),
      "format", file = file, line = 0
    )
  }
  part$values
}
