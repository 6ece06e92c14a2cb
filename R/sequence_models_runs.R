# Resumable runs of embed_sequences(). The files part-1.bin, part-2.bin, ... hold the embeddings of
# consecutive slices of the input. The folder's ledger records the run's fingerprint as their
# source. Their facts are list(has_unknown = indices of sequences with letters that are not
# residues, unknown = the numbers of such letters).

run_embedding <- function(run, out, resume) {
  of <- embedding_fingerprint(run)
  locks <- lock_folders(out, inform_ancify)
  on.exit(unlock_folders(locks))
  embed_into(run, out, resume, of)
}

# As for complete_parts().
embeddings_kind <- function() {
  list(
    argument = "out", made_by = "embed_sequences()", holds = "embeddings",
    recorded = recorded_run, files = part_names
  )
}

# Runs in a locked folder. `of`: the run's fingerprint.
embed_into <- function(run, out, resume, of) {
  slices <- part_slices(length(run$sequences$ids), of$settings$part_size)
  files <- part_names(of)
  ledger <- complete_parts(embeddings_kind(), out, of, resume, function(left, ledger) {
    parts <- Map(function(file, slice) {
      list(file = file, numbers = slice, ids = run$sequences$ids[slice],
           sequences = run$sequences$sequences[slice])
    }, files[left], slices[left])
    if (is.null(run$workers)) {
      for (part in parts) make_part(run, ledger, part, of)
    } else {
      make_parts_in_tasks(run, ledger, parts, of)
    }
  }, function(ledger) {
    mapply(is_count_of_unknown, facts_of(ledger, files), slices)
  }, run$settings$work)
  tell_repeated(run$settings)
  facts <- facts_of(ledger, files)
  has_unknown <- unlist(lapply(facts, function(part) part$has_unknown))
  tell_unknown(unlist(lapply(facts, function(part) part$unknown)), run$sequences$ids[has_unknown],
               run$sequences$sequences)
  out
}

# Whether recorded facts belong to a part of these sequences.
is_count_of_unknown <- function(facts, slice) {
  if (!is.list(facts) || !setequal(names(facts), c("has_unknown", "unknown"))) {
    return(FALSE)
  }
  which <- suppressWarnings(as.double(unlist(facts$has_unknown)))
  counts <- suppressWarnings(as.double(unlist(facts$unknown)))
  length(which) == length(counts) && all(which %in% slice) && !anyDuplicated(which) &&
    all(is.finite(counts) & counts >= 1 & counts %% 1 == 0)
}

# `part`: list(file =, numbers = the indices of its sequences, ids =, sequences =).
make_part <- function(run, ledger, part, of) {
  path <- ledger_paths(ledger, part$file)
  unknown <- with_watch(sprintf("Embedding, %s", part$file), function(watch) {
    wanted <- core_list(
      "EmbeddingPart",
      ids = part$ids, sequences = part$sequences, by_residue = run$by_residue, path = path
    )
    embed_part_impl(run$model$loaded, wanted, model_run(run$settings), watch)
  }, run$settings$work$progress)
  has <- which(unknown > 0)
  facts <- list(has_unknown = as.list(part$numbers[has]), unknown = as.list(unknown[has]))
  complete_files(ledger, part$file, of, sums_of(path), canonical_json(facts))
}

# ---- Tasks -------------------------------------------------------------------------------------

# One task per part, on the workers of a run, by workers_of().
make_parts_in_tasks <- function(run, ledger, parts, of) {
  param <- run$workers$param
  cluster <- new_cluster(param, ledger$folder, run$workers$backend, run$settings$work$progress,
                         inform_ancify)
  shared <- list(
    folder = run$model$folder, by_residue = run$by_residue, long = run$settings$long,
    precision = run$settings$work$precision, threads = run$settings$work$threads,
    backend = run$workers$backend, of = of
  )
  # A forked process can use one thread and no GPU.
  if (forks(param)) shared[c("threads", "backend")] <- list(1L, "cpu")
  tasks <- lapply(parts, function(part) {
    task_of("embed", "do_embedding_task", part$file, part, shared, c(out = ledger$folder),
            uses_gpu = TRUE)
  })
  with_workers(cluster, function() {
    run_tasks(cluster, new_tasks(cluster, tasks), list(out = ledger))
  })
}

# In the task's process.
do_embedding_task <- function(task, ledgers) {
  shared <- task$shared
  model <- model_of_tasks(shared$folder)
  work <- task_work(task, shared$threads, shared$backend, precision = shared$precision)
  run <- list(
    model = model, by_residue = shared$by_residue,
    settings = list(long = shared$long, work = work, devices = model_on_devices(model, work))
  )
  make_part(run, ledgers$out, task$part, shared$of)
  tell_repeated(run$settings)
}

# A process does several tasks with one model, whose weights it reads once.
model_of_tasks <- function(folder) {
  if (!identical(tasks_here$model$folder, folder)) tasks_here$model <- load_model(folder)
  tasks_here$model
}

# ---- Parts -------------------------------------------------------------------------------------

part_names <- function(of) sprintf("part-%d.bin", seq_len(count_parts(of)))

count_parts <- function(of) max(1, ceiling(of$input$sequences / of$settings$part_size))

# Whether each part remains to be made, by the ledger alone.
parts_left <- function(ledger, of) !are_complete(ledger, part_names(of), known_source(ledger, of))

# The number of sequences per part. Parts are held in memory whole; tests make them small.
part_size <- function(by_residue) {
  most <- if (by_residue) 100 else 10000
  check_whole_number(getOption("ancify.part_size", most), "options(ancify.part_size = )")
}

# A run without sequences has one part, which records its width.
part_slices <- function(n, size) {
  if (n == 0) list(integer()) else unname(split(seq_len(n), (seq_len(n) - 1) %/% size))
}

# Sessions share parts only if their fingerprints agree. Fingerprints cover contents, not paths.
embedding_fingerprint <- function(run) {
  files <- c(run$model$weights, run$model$other)
  sums <- with_watch("Reading the model's files", function(watch) {
    checksums_impl(files, run$settings$work, watch)
  }, run$settings$work$progress)
  list(
    input = list(
      sequences = length(run$sequences$ids), ids = texts_checksum_impl(run$sequences$ids),
      letters = texts_checksum_impl(run$sequences$sequences)
    ),
    model = stats::setNames(as.list(sums$checksum), basename(files)),
    settings = list(
      pool = if (run$by_residue) "residue" else "mean", long = run$settings$long,
      precision = run$settings$work$precision, part_size = part_size(run$by_residue)
    )
  )
}

# The fingerprint of the run whose parts are in the ledger; NULL without such a run.
recorded_run <- function(ledger) {
  rows <- ledger_rows(ledger)
  is_part <- grepl("^part-[0-9]+[.]bin$", rows$path)
  recorded <- Filter(Negate(is.null), made_from_of(ledger, rows$path[is_part]))
  if (length(recorded) == 0) {
    return(NULL)
  }
  if (!is_fingerprint(recorded[[1]])) refuse_run_record(ledger)
  recorded[[1]]
}

most_parts <- 1e6

# Whether embedding_fingerprint() made a record.
is_fingerprint <- function(of) {
  has_fingerprint_names(of) &&
    is_whole_from(of$input$sequences, 0) && is_whole_from(of$settings$part_size, 1) &&
    count_parts(of) <= most_parts && isTRUE(of$settings$pool %in% c("mean", "residue"))
}

has_fingerprint_names <- function(of) {
  has <- function(part, names) setequal(names(part), names)
  are_lists(of) && has(of, c("input", "model", "settings")) &&
    has(of$input, c("sequences", "ids", "letters")) &&
    has(of$settings, c("pool", "long", "precision", "part_size"))
}

# ---- Reading -----------------------------------------------------------------------------------

#' @rdname embed_sequences
#' @export
read_embeddings <- function(folder) {
  check_args(folder = one_path())
  whole <- whole_folder(embeddings_kind(), folder, "folder")
  of <- whole$of
  # A part is a matrix with a row per protein, or a list of matrices with a row per residue.
  values <- lapply(ledger_paths(whole$ledger, whole$files), read_part_impl)
  by_residue <- of$settings$pool == "residue"
  widths <- unlist(lapply(values, function(x) if (is.list(x)) vapply(x, ncol, 0L) else ncol(x)))
  n <- sum(vapply(values, NROW, 0L))
  fit <- all(vapply(values, is.list, NA) == by_residue) && length(unique(widths)) < 2 &&
    n == of$input$sequences
  if (!fit) refuse_run_record(whole$ledger)
  do.call(if (by_residue) c else rbind, values)
}
