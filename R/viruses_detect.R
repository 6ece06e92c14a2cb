#' Detect viruses in sequences
#'
#' `detect_viruses("contigs.fa.gz", dna, protein, classifier, out = "viruses")` says which chunks of
#' DNA are viral, as VirNucPro does. It cuts sequences into chunks and reads their frames. Each
#' frame is embedded by a model of DNA and one of proteins, and a classifier gives the probability
#' that it is viral.
#'
#' **Files.** The folder `out` gets the two files of VirNucPro, and a third one. All have tabs
#' between columns.
#'
#' * `prediction_results.txt`: a row a frame, in the order of the input. It has `Sequence_ID`;
#'   `Prediction`, which is `virus` or `others`; and `score1` and `score2`, the probabilities of
#'   others and of virus.
#' * `prediction_results_highestscore.csv`: a row a chunk that has a frame, sorted by `Modified_ID`,
#'   the chunk. `Is_Virus` is `True` or `False`; `max_score_0` and `max_score_1` are the largest
#'   probabilities of a frame for others and for virus. [chunk_calls()] tells the rule.
#' * `contigs.tsv`: a row a sequence, with the columns of [contig_calls()]. It counts chunks without
#'   a frame too.
#'
#' **Runs that resume.** The same call goes on where a run was ended, and gives the same files. The
#' folders `dna` and `protein` in `out` have the embeddings of frames, in parts of 10,000:
#' [embed_sequences()] tells how. [read_embeddings()] reads them, such as for [train_classifier()].
#'
#' **Time.** Most of it goes to the model of proteins. One of 3 billion parameters takes 10 to 20
#' seconds a frame on a core. So two frames a thread are timed first, and a message says how long
#' all will take if it is long. You may interrupt the call then: what was done is kept.
#'
#' **GPUs.** With `backend = "gpu"` all GPUs share the packs of frames, as in [embed_sequences()].
#' The two models are on the GPUs at once.
#'
#' **Tested.** With small random models and a random classifier, files are those of the same steps
#' in PyTorch and plain Python. No trained weights have been run yet.
#'
#' @inheritParams chunk_sequences
#' @inheritParams six_frames
#' @param dna A model of DNA such as DNABERT-S: the path of its folder, or one of
#'   [sequence_model()].
#' @param protein A model of proteins, in the same forms.
#' @param classifier The path of a classifier's file, as [read_classifier()] takes it, or a
#'   classifier. Its input is the embedding by the model of DNA, then that by the model of proteins.
#'   Its second class is that of viruses.
#' @param out Path of the folder to write.
#' @param chunk_rule,frame_rule How sequences are cut and frames are read: `rule` of
#'   [chunk_sequences()] and of [six_frames()].
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @param backend,precision As in [embed_sequences()], for both models. The classifier works on the
#'   processor.
#' @param resume Whether to go on with a run in `out`. If `FALSE`, a run there is an error.
#' @return An object of class `virus_detection`, a list with these elements among others:
#'   * `contigs`: the table of [contig_calls()];
#'   * `chunks`: a data frame with a row a chunk: `chunk`, its id; `sequence`, `start` and `end`,
#'     from 1; and `frames`, `other`, `virus` and `is_virus` of [chunk_calls()];
#'   * `frames`: the table of [six_frames()], and `virus`, the probability that a frame is viral;
#'   * `out`, the folder.
#'
#'   Chunks without a frame are rows with `NA`.
#' @section Errors:
#' * `ancify_input_error`: an argument has another shape or range. A model reads proteins in place
#'   of DNA, or DNA in place of proteins. The classifier has another width than the embeddings (the
#'   message gives both), or viruses are its first class. The run in `out` is of another input,
#'   model, classifier or setting, which the message names.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, or is no FASTA or FASTQ of
#'   DNA; two records have one name, or a record has no bases.
#' * `ancify_file_error` (field `file`): a file cannot be read, or one of `out` would replace a file
#'   that no run wrote.
#' * `ancify_lock_error` (field `file`): another process works in `out`.
#' * `ancify_device_error`: as from [embed_sequences()].
#' * `ancify_package_error`: Biostrings is not installed.
#'
#' A warning of class `ancify_sequence_warning` counts letters that a model does not know.
#' @inherit chunk_sequences references
#' @seealso [print.virus_detection()]
#' @export
#' @examplesIf requireNamespace("Biostrings", quietly = TRUE)
#' # Random models, and a classifier of random numbers: this shows the way, not biology.
#' folder <- function(name) system.file("extdata", name, package = "ancify")
#' set.seed(1)
#' group <- rep(1:10, each = 8)
#' numbers <- matrix(rnorm(80 * 56), 80) + group %% 2
#' classifier <- train_classifier(numbers, group %% 2, group, threads = 1)
#' contigs <- Biostrings::DNAStringSet(c(
#'   a = strrep("ATGGCACGTTCTGACC", 40), b = strrep("TTGACGATAGC", 20)
#' ))
#' hits <- detect_viruses(
#'   contigs, folder("dnabert_random"), folder("esm2_random"), classifier,
#'   out = tempfile("viruses"), threads = 1
#' )
#' hits
#' as.data.frame(hits)
detect_viruses <- function(x, dna, protein, classifier, out, size = 500,
                           chunk_rule = c("virnucpro", "even"),
                           frame_rule = c("virnucpro", "strict"), genetic_code = "1",
                           threads = NULL, backend = "auto", precision = NULL, resume = TRUE) {
  check_given()
  out <- check_path(out, "out")
  check_flag(resume, "resume")
  work <- list(threads = threads, backend = backend, precision = precision)
  check_work(work)
  models <- list(dna = model_or_folder(dna, "dna"), protein = model_or_folder(protein, "protein"))
  classifier <- classifier_or_file(classifier)
  check_fit(models, classifier)
  contigs <- as_dna(x)
  refuse_dna(contigs, grepl("[\t\r\n]", names(contigs)), "%s: a name has a tab or a line break.")
  chunks <- chunk_sequences(contigs, size, chunk_rule)
  found <- six_frames(chunks, frame_rule, genetic_code)
  # Weights are read last: they can take minutes.
  runs <- Map(function(model, sequences) {
    frames_run(open_model(model), sequences, work)
  }, models, found[names(models)])
  of <- detection_fingerprint(contigs, runs, classifier, list(
    size = size, chunk_rule = check_choice(chunk_rule, c("virnucpro", "even"), "chunk_rule"),
    frame_rule = check_choice(frame_rule, c("virnucpro", "strict"), "frame_rule"),
    genetic_code = as.character(genetic_code)
  ))
  detect_into(out, of, chunks, found$frames, runs, classifier, resume)
}

# ---- Arguments ----------------------------------------------------------------------------------

# A model, or the description of one whose weights are still to be read, with its `folder`. `what`:
# "dna" or "protein".
model_or_folder <- function(x, what) {
  model <- if (inherits(x, "sequence_model")) {
    x
  } else {
    folder <- check_path(x, what)
    c(describe_model_impl(folder), list(folder = folder))
  }
  if (model$reads_dna != (what == "dna")) {
    kinds <- c("proteins", "DNA")[c(what == "dna", what != "dna") + 1]
    abort_ancify(
      sprintf("`%s` must be a model of %s, but %s reads %s.", what, kinds[1],
              quoted(model$folder), kinds[2]),
      "input"
    )
  }
  model
}

open_model <- function(model) {
  if (inherits(model, "sequence_model")) {
    check_sequence_model(model)
  } else {
    sequence_model(model$folder)
  }
}

classifier_or_file <- function(x) {
  if (!inherits(x, "embedding_classifier")) {
    return(read_classifier(check_path(x, "classifier")))
  }
  check_parts(x)
  x
}

# Whether the classifier takes what the models give, and viruses are its second class.
check_fit <- function(models, classifier) {
  widths <- vapply(models, `[[`, 0, "width")
  if (sum(widths) != classifier$width) {
    abort_ancify(
      sprintf(
        "`classifier` takes %s a frame, but `dna` gives %s and `protein` %s, together %s: %s.",
        count_of(classifier$width, "number"), format_count(widths[["dna"]]),
        format_count(widths[["protein"]]), format_count(sum(widths)),
        "use the models that it was trained on"
      ),
      "input"
    )
  }
  if (tolower(classifier$classes[1]) %in% c("virus", "viral", "viruses")) {
    abort_ancify(
      sprintf(
        "`classifier` has the classes %s, but viruses must be the second one: train it with %s.",
        enumerate(quoted(classifier$classes)), "a factor whose last level they are"
      ),
      "input"
    )
  }
}

# ---- Work ---------------------------------------------------------------------------------------

detection_files <- c(
  frames = "prediction_results.txt", chunks = "prediction_results_highestscore.csv",
  contigs = "contigs.tsv"
)

# In the ledger of `out`, the row "run/" says what the run is of before a file is complete.
run_row <- "run/"

recorded_detection <- function(ledger) made_from_of(ledger, run_row)[[1]]

# The embedding of all frames by one model, as R/models_runs.R takes it, with its `fingerprint`.
frames_run <- function(model, sequences, work) {
  sequences <- as_model_input(sequences, model)
  run <- list(
    model = model, sequences = sequences, by_residue = FALSE,
    settings = sequence_settings(sequences, model, "window", work)
  )
  run$fingerprint <- embedding_fingerprint(run)
  run
}

detection_fingerprint <- function(contigs, runs, classifier, settings) {
  numbers <- as.double(unlist(classifier$tensors))
  list(
    input = list(
      sequences = length(contigs), ids = texts_checksum_impl(names(contigs)),
      letters = texts_checksum_impl(core_sequences(contigs))
    ),
    dna = runs$dna$fingerprint$model, protein = runs$protein$fingerprint$model,
    classifier = list(numbers = bytes_checksum_impl(writeBin(numbers, raw()))),
    settings = c(settings, runs$dna$fingerprint$settings[c("precision", "part_size")])
  )
}

detect_into <- function(out, of, chunks, frames, runs, classifier, resume) {
  folders <- stats::setNames(file.path(out, names(runs)), names(runs))
  locks <- lock_folders(c(out, folders), inform_ancify)
  on.exit(unlock_folders(locks))
  ledger <- open_run(out, of, recorded_detection, resume)
  on.exit(close_run(ledger), add = TRUE, after = FALSE)
  is_done <- all(whole_files(ledger, detection_files, known_source(ledger, of)))
  # A file of a user is told before the work, not after it.
  if (!is_done) claim_files(ledger, detection_files)
  complete_facts(ledger, run_row, of, "")
  save_ledger(ledger, at_once = TRUE)
  tell_duration(runs, folders)
  for (kind in names(runs)) {
    embed_into(runs[[kind]], folders[[kind]], resume, runs[[kind]]$fingerprint)
  }
  parts <- part_names(runs$dna$fingerprint)
  probability <- unlist(lapply(parts, function(part) {
    classify_part(file.path(folders, part), classifier, run_threads(runs$dna))
  }))
  hits <- new_detection(chunks, frames, probability, classifier, out)
  if (!is_done) write_detection(hits, ledger, of)
  hits
}

# Probabilities that frames are viral, named by their ids. `files`: the same part of all models.
classify_part <- function(files, classifier, threads) {
  rows <- lapply(files, read_part_impl)
  if (!identical(rownames(rows[[1]]), rownames(rows[[2]]))) {
    abort_ancify(
      sprintf("%s and %s have different frames: remove them, and call detect_viruses() again.",
              quoted(files[1]), quoted(files[2])),
      "format", file = files[2], line = 0
    )
  }
  p <- stats::predict(classifier, do.call(cbind, rows), threads)
  stats::setNames(p[, 2], rownames(rows[[1]]))
}

new_detection <- function(chunks, frames, probability, classifier, out) {
  calls <- chunk_calls(frames, probability %||% numeric())
  frames$virus <- unname(probability[frames$id])
  places <- as.data.frame(S4Vectors::mcols(chunks, use.names = FALSE))
  structure(
    list(
      contigs = contig_calls(calls), chunks = cbind(calls["chunk"], places, calls[-1]),
      frames = frames, classes = classifier$classes, out = out
    ),
    class = "virus_detection"
  )
}

write_detection <- function(hits, ledger, of) {
  tables <- list(frames = frames_file(hits$frames), chunks = chunks_file(hits$chunks),
                 contigs = hits$contigs)
  for (name in names(tables)) {
    write_own(ledger, detection_files[[name]], of, tsv_lines(tables[[name]]))
  }
}

# As VirNucPro has them. It takes the first class if both are as probable.
frames_file <- function(frames) {
  frames <- frames[!is.na(frames$id), ]
  data.frame(
    Sequence_ID = frames$id, Prediction = ifelse(frames$virus > 0.5, "virus", "others"),
    score1 = 1 - frames$virus, score2 = frames$virus
  )
}

chunks_file <- function(chunks) {
  chunks <- chunks[!is.na(chunks$is_virus), ]
  # The order of bytes, as Python sorts.
  chunks <- chunks[order(chunks$chunk, method = "radix"), ]
  data.frame(
    Modified_ID = chunks$chunk, Is_Virus = ifelse(chunks$is_virus, "True", "False"),
    max_score_0 = chunks$other, max_score_1 = chunks$virus
  )
}

# ---- Time ---------------------------------------------------------------------------------------

# Says how long the embedding of what is left will take, unless one would hardly wait for it.
tell_duration <- function(runs, folders) {
  seconds <- mapply(seconds_left, runs, folders)
  if (sum(seconds) < 2) {
    return(invisible())
  }
  workers <- if (is.null(runs$dna$settings$devices)) {
    count_of(run_threads(runs$dna), "thread")
  } else {
    "GPUs"
  }
  cli::cli_alert_info(sprintf(
    "Embedding will take about %s: %s by the model of DNA, %s by that of proteins, on %s. %s",
    show_duration(sum(seconds)), show_duration(seconds[["dna"]]),
    show_duration(seconds[["protein"]]), workers,
    "A smaller model of proteins, with a classifier trained on it, or more threads are faster."
  ))
}

# The time of two frames a thread, which share a pack, in proportion to all letters that are left.
# More are timed if that is too quick to tell; 0 if all would be.
seconds_left <- function(run, folder) {
  of <- run$fingerprint
  slices <- part_slices(length(run$sequences$ids), of$settings$part_size)
  left <- unlist(slices[parts_left(open_ledger(folder), of)])
  letters <- nchar(run$sequences$sequences)
  n <- 2 * run_threads(run)
  while (n < length(left)) {
    timed <- left[round(seq(1, length(left), length.out = n))]
    took <- seconds_of_embedding(run, timed)
    if (took > 0.5) {
      return(took * sum(letters[left]) / sum(letters[timed]))
    }
    n <- 4 * n
  }
  0
}

seconds_of_embedding <- function(run, which) {
  started <- proc.time()[["elapsed"]]
  with_watch("Timing", function(watch) {
    embed_impl(run$model$loaded, run$sequences$sequences[which], run$settings, FALSE, watch)
  }, progress = interactive())
  proc.time()[["elapsed"]] - started
}
