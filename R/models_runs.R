# Runs of embed_sequences() that go on where they were ended. The files part-1.bin, part-2.bin, ...
# are slices of the input in its own order. In the folder's ledger, they are made from the
# fingerprint of the run. Their facts are list(has_unknown = the sequences with letters that are no
# residues, unknown = how many).

run_embedding <- function(run, out, resume) {
  of <- embedding_fingerprint(run)
  locks <- lock_folders(out, inform_ancify)
  on.exit(unlock_folders(locks))
  embed_into(run, out, resume, of)
}

# The same in a folder that is locked. `of`: the run's fingerprint.
embed_into <- function(run, out, resume, of) {
  ledger <- open_run(out, of, recorded_run, resume)
  on.exit(close_run(ledger))
  slices <- part_slices(length(run$sequences$ids), of$settings$part_size)
  parts <- part_names(of)
  whole <- whole_files(ledger, parts, known_source(ledger, of), threads = run_threads(run))
  for (k in which(!whole)) make_part(run, ledger, parts[k], slices[[k]], of)
  tell_repeated(run$settings)
  facts <- facts_of(ledger, parts)
  has_unknown <- unlist(lapply(facts, function(part) part$has_unknown))
  tell_unknown(unlist(lapply(facts, function(part) part$unknown)), run$sequences$ids[has_unknown])
  out
}

# The ledger of a locked folder, ready for work. `recorded`: a function that gives the fingerprint
# of the run that a ledger has. `argument`: the name of the folder's argument.
open_run <- function(out, of, recorded, resume, argument = "out") {
  unlink(c(leftovers_impl(out), leftovers_impl(file.path(out, ".ancify"))), expand = FALSE)
  ledger <- open_ledger(out, argument)
  refuse_other_run(ledger, recorded(ledger), of, resume)
  release_claims(ledger)
  ledger
}

close_run <- function(ledger) {
  release_claims(ledger)
  save_ledger(ledger, at_once = TRUE)
}

run_threads <- function(run) run$settings$backend$threads

make_part <- function(run, ledger, part, slice, of) {
  claim_files(ledger, part)
  path <- ledger_paths(ledger, part)
  unknown <- with_watch(sprintf("Embedding, %s", part), function(watch) {
    embed_part_impl(run$model$loaded, run$sequences$ids[slice], run$sequences$sequences[slice],
                    run$settings, run$by_residue, path, watch)
  }, progress = interactive())
  has <- which(unknown > 0)
  facts <- list(has_unknown = as.list(slice[has]), unknown = as.list(unknown[has]))
  complete_files(ledger, part, of, sums_of(path), canonical_json(facts))
}

# ---- Parts -------------------------------------------------------------------------------------

part_names <- function(of) {
  slices <- part_slices(of$input$sequences, of$settings$part_size)
  sprintf("part-%d.bin", seq_along(slices))
}

# Which parts are to be made, by the ledger alone.
parts_left <- function(ledger, of) !are_complete(ledger, part_names(of), known_source(ledger, of))

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
    checksums_impl(files, run_threads(run), watch)
  }, progress = interactive())
  list(
    input = list(
      sequences = length(run$sequences$ids), ids = texts_checksum_impl(run$sequences$ids),
      letters = texts_checksum_impl(run$sequences$sequences)
    ),
    model = stats::setNames(as.list(sums$checksum), basename(files)),
    settings = list(
      pool = if (run$by_residue) "residue" else "mean", long = run$settings$long,
      precision = run$settings$precision, part_size = part_size(run$by_residue)
    )
  )
}

# The fingerprint of the run whose parts the ledger has; NULL without one.
recorded_run <- function(ledger) {
  rows <- ledger_rows(ledger)
  is_part <- grepl("^part-[0-9]+[.]bin$", rows$path)
  Find(is_fingerprint, made_from_of(ledger, rows$path[is_part]))
}

is_fingerprint <- function(of) is.list(of) && setequal(names(of), c("input", "model", "settings"))

# `of`: the fingerprint on record, or NULL; `now`: that of this run.
refuse_other_run <- function(ledger, of, now, resume) {
  if (is.null(of)) {
    return(invisible())
  }
  if (!resume) {
    abort_ancify(
      sprintf("`%s` is %s, which has a run: remove it, choose another, or set `resume = TRUE`.",
              ledger$argument, quoted(ledger$folder)),
      "input"
    )
  }
  differs <- unlist(lapply(names(now), function(what) {
    keys <- union(names(now[[what]]), names(of[[what]]))
    same <- vapply(keys, function(key) same_json(of[[what]][[key]], now[[what]][[key]]), NA)
    sprintf("%s: %s", what, keys[!same])
  }))
  if (length(differs)) {
    abort_ancify(
      sprintf("The run in %s differs (%s): choose another `%s`, or give all as it was then.",
              quoted(ledger$folder), enumerate(differs), ledger$argument),
      "input"
    )
  }
}

# ---- Reading -----------------------------------------------------------------------------------

#' @rdname embed_sequences
#' @export
read_embeddings <- function(folder) {
  check_given()
  folder <- check_path(folder, "folder")
  ledger <- open_ledger(folder, "folder")
  of <- recorded_run(ledger)
  if (is.null(of)) {
    abort_ancify(
      sprintf("%s has no embeddings: give a folder that embed_sequences() wrote.", quoted(folder)),
      "file", file = folder
    )
  }
  parts <- part_names(of)
  left <- sum(parts_left(ledger, of))
  if (left) {
    abort_ancify(
      sprintf("The run in %s is incomplete: %s of %d parts are missing. Call embed_sequences() %s",
              quoted(folder), left, length(parts), "again."),
      "input"
    )
  }
  damaged <- ledger_paths(ledger, parts[!whole_files(ledger, parts)])
  if (length(damaged)) {
    abort_ancify(
      sprintf("%s is damaged or was changed: call embed_sequences() again.", quoted(damaged[1])),
      "format", file = damaged[1], line = 0
    )
  }
  # A part is a matrix with a row a protein, or a list of matrices with a row a residue.
  values <- lapply(ledger_paths(ledger, parts), read_part_impl)
  if (of$settings$pool == "mean") do.call(rbind, values) else do.call(c, values)
}
