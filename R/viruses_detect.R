#' Detect viruses in sequences
#'
#' `detect_viruses("contigs.fa.gz", dna, protein, classifier, out = "viruses")` calls viral chunks
#' of DNA, like VirNucPro. It cuts sequences into chunks and extracts their reading frames. A DNA
#' model and a protein model embed each frame, and a classifier gives the probability that it is
#' viral.
#'
#' **Files.** The folder `out` contains the two files of VirNucPro, and a third one. Columns are
#' separated by tabs.
#'
#' * `prediction_results.txt`: a row per frame, in the order of the input. It has `Sequence_ID`;
#'   `Prediction`, which is `virus` or `others`; and `score1` and `score2`, the probabilities of
#'   `others` and of `virus`.
#' * `prediction_results_highestscore.csv`: a row per chunk that has a frame, sorted by
#'   `Modified_ID`, the chunk. `Is_Virus` is `True` or `False`; `max_score_0` and `max_score_1` are
#'   the largest probabilities of `others` and of `virus` among its frames. [chunk_calls()] gives
#'   the rule.
#' * `contigs.tsv`: a row per sequence, with the columns of [contig_calls()]. It also counts chunks
#'   without a frame.
#'
#' **Short sequences.** A few residues are uninformative. A chunk therefore has no verdict if none
#' of its frames has 20 known residues. If `size` is below 240, a quarter of a whole chunk's
#' residues is enough. A warning counts such chunks, and `not_called` marks them. As models and
#' classifiers are trained on whole chunks, another warning counts sequences below half of `size`.
#'
#' **Resumable runs.** The same call resumes an interrupted run, and gives the same files. The
#' folders `dna` and `protein` in `out` contain the embeddings of frames, in parts of 10,000, as in
#' [embed_sequences()]. [read_embeddings()] reads them, for instance for [train_classifier()].
#'
#' **Time.** The protein model takes most of the time. A model of 3 billion parameters takes 10 to
#' 20 seconds per frame on a core. Two frames per thread are therefore timed first, and a message
#' estimates the total if it is long. You may then interrupt the call: completed work is kept.
#'
#' **GPUs.** With `backend = "gpu"` all GPUs share the packs of frames, as in [embed_sequences()].
#' Both models are on the GPUs simultaneously.
#'
#' **Tested.** With small random models and a random classifier, the files agree with a
#' reimplementation in PyTorch and plain Python. No trained weights have been tested yet.
#'
#' @inheritParams chunk_sequences
#' @inheritParams six_frames
#' @param dna A DNA model such as DNABERT-S: the path of its folder, or a model from
#'   [sequence_model()].
#' @param protein A protein model, in the forms of `dna`.
#' @param classifier The path of a classifier's file, as for [read_classifier()], or a classifier.
#'   Its input is the embedding by the DNA model, followed by the embedding by the protein model.
#'   Its second class is viruses.
#' @param out Path of the folder to write.
#' @param chunk_rule,frame_rule Rules for cutting sequences and reading frames: `rule` of
#'   [chunk_sequences()] and of [six_frames()].
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @param backend,precision As in [embed_sequences()], for both models. The classifier runs on the
#'   processor.
#' @param resume Whether to continue a run in `out`. If `FALSE`, an existing run is an error.
#' @param BPPARAM Workers for the parts of the embeddings, as in [embed_sequences()]; `NULL` (the
#'   default): this session alone.
#' @return An object of class `virus_detection`, a list whose elements include:
#'   * `contigs`: the table of [contig_calls()];
#'   * `chunks`: a data frame with a row per chunk: `chunk`, its id; `sequence`, `start` and `end`,
#'     from 1; and the other columns of [chunk_calls()];
#'   * `frames`: the table of [six_frames()], and `virus`, the probability that a frame is viral;
#'   * `out`, the folder.
#'
#'   Chunks that have no frame or are too short have `NA`, and `not_called` gives the reason.
#' @section Errors:
#' * `ancify_input_error`: an argument has the wrong shape or is out of range; a model reads
#'   proteins instead of DNA, or DNA instead of proteins; the classifier's width differs from that
#'   of the embeddings (the message gives both), or viruses are its first class; or the run in `out`
#'   has a different input, model, classifier or setting, which the message names.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, or is not FASTA or FASTQ of
#'   DNA; two records have one name, or a record has no bases.
#' * `ancify_file_error` (field `file`): a file cannot be read, or a file in `out` would replace a
#'   file that no run wrote.
#' * `ancify_lock_error` (field `file`): another process is working in `out`.
#' * `ancify_device_error`: as for [embed_sequences()].
#' * `ancify_package_error`: Biostrings is not installed.
#' * `ancify_task_error`: as for [embed_sequences()].
#'
#' Warnings of class `ancify_sequence_warning` count letters that a model does not know, chunks that
#' are too short, and sequences below half of `size`.
#' @inherit chunk_sequences references
#' @seealso [print.virus_detection()]
#' @export
#' @examplesIf requireNamespace("Biostrings", quietly = TRUE)
#' # Random models and a classifier of random numbers show the usage, not biology.
#' folder <- function(name) system.file("extdata", name, package = "ancify")
#' set.seed(1)
#' group <- rep(1:10, each = 8)
#' numbers <- matrix(rnorm(80 * 56), 80) + group %% 2
#' classifier <- train_classifier(numbers, group %% 2, group, threads = 1)
#' contigs <- Biostrings::DNAStringSet(c(
#'   a = strrep("ATGGCACGTTCTGACC", 40), b = strrep("TTGACGATAGC", 30)
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
                           threads = NULL, backend = "auto", precision = NULL, resume = TRUE,
                           BPPARAM = NULL) {
  check_args(out = one_path(), resume = flag())
  work <- work_of_session(BPPARAM, threads, backend, precision)
  models <- list(dna = model_or_folder(dna, "dna"), protein = model_or_folder(protein, "protein"))
  classifier <- classifier_or_file(classifier)
  check_fit(models, classifier)
  contigs <- as_dna(x)
  refuse_dna(contigs, grepl("[\t\r\n]", names(contigs)), "%s: a name has a tab or a line break.")
  chunks <- chunk_sequences(contigs, size, chunk_rule)
  found <- six_frames(chunks, frame_rule, genetic_code)
  found <- frames_to_judge(found, size)
  # Weights are read last, as this can take minutes.
  runs <- Map(function(model, sequences) {
    frames_run(open_model(model), sequences, work, workers_of(BPPARAM, backend))
  }, models, found[names(models)])
  of <- detection_fingerprint(contigs, runs, classifier, list(
    size = size, chunk_rule = check_choice(chunk_rule, c("virnucpro", "even"), "chunk_rule"),
    frame_rule = check_choice(frame_rule, c("virnucpro", "strict"), "frame_rule"),
    genetic_code = as.character(genetic_code)
  ))
  hits <- detect_into(out, of, chunks, found$frames, runs, classifier, resume)
  warn_short(contigs, hits, size)
  hits
}

# ---- Arguments ----------------------------------------------------------------------------------

# A model, or the description of one whose weights are not yet read, with its `folder`. `what`:
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
    refuse_input("`%s` must be a model of %s, but %s reads %s.", what, kinds[1],
                 quoted(model$folder), kinds[2])
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
  check_parts(x, "classifier")
  x
}

# Whether the classifier accepts the models' output, and viruses are its second class.
check_fit <- function(models, classifier) {
  widths <- vapply(models, `[[`, 0, "width")
  refuse_if(sum(widths) != classifier$width,
            "`classifier` takes %s a frame, but `dna` gives %s and `protein` %s, together %s: %s.",
            count_of(classifier$width, "number"), format_count(widths[["dna"]]),
            format_count(widths[["protein"]]), format_count(sum(widths)),
            "use the models that it was trained on")
  refuse_if(
    tolower(classifier$classes[1]) %in% c("virus", "viral", "viruses"),
    "`classifier` has the classes %s, but viruses must be the second one: train it with %s.",
    enumerate(quoted(classifier$classes)), "a factor whose last level they are"
  )
}

# ---- Short sequences -----------------------------------------------------------------------------

# Minimum number of known residues in a chunk's frame: at most a quarter of a whole chunk's.
least_residues <- function(size) min(20, ceiling(size / 12))

# The result of six_frames(), with a single row "too_short" for each chunk that is too short.
frames_to_judge <- function(found, size) {
  known <- Biostrings::width(found$protein) -
    Biostrings::letterFrequency(found$protein, "X", as.prob = FALSE)[, 1]
  frames <- found$frames
  most <- tapply(known, factor(frames$sequence[!is.na(frames$id)]), max)
  short <- frames$sequence %in% names(most)[most < least_residues(size)]
  kept <- !short[!is.na(frames$id)]
  frames$frame[short] <- "too_short"
  frames$id[short] <- NA
  frames <- frames[!(short & duplicated(frames$sequence)), ]
  rownames(frames) <- NULL
  list(frames = frames, dna = found$dna[kept], protein = found$protein[kept])
}

warn_short <- function(contigs, hits, size) {
  short <- hits$chunks$chunk[hits$chunks$not_called %in% "too short"]
  if (length(short)) {
    warn_ancify(
      sprintf("%s too short to be judged (fewer than %d known residues): %s.",
              if (length(short) == 1) "1 chunk is" else
                sprintf("%s chunks are", format_count(length(short))),
              least_residues(size), enumerate(quoted(short))),
      "sequence"
    )
  }
  called <- hits$contigs$sequence[hits$contigs$called > 0]
  below <- intersect(names(contigs)[Biostrings::width(contigs) < size / 2], called)
  if (length(below)) {
    warn_ancify(
      sprintf("%s below half of `size`, %s bases: models trained on such lengths judge better: %s.",
              if (length(below) == 1) "1 sequence is" else
                sprintf("%s sequences are", format_count(length(below))),
              format_count(size), enumerate(quoted(below))),
      "sequence"
    )
  }
}

# ---- Work ---------------------------------------------------------------------------------------

detection_files <- c(
  frames = "prediction_results.txt", chunks = "prediction_results_highestscore.csv",
  contigs = "contigs.tsv"
)

# In the ledger of `out`, the row "run/" identifies the run before a file is complete.
run_row <- "run/"

recorded_detection <- function(ledger) {
  of <- made_from_of(ledger, run_row)[[1]]
  if (!is.null(of) && !are_lists(of)) refuse_run_record(ledger)
  of
}

# The embedding of all frames by one model, in the form of R/sequence_models_runs.R, with its
# `fingerprint`.
frames_run <- function(model, sequences, work, workers) {
  sequences <- as_model_input(sequences, model)
  run <- list(
    model = model, sequences = sequences, by_residue = FALSE, workers = workers,
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
  # A user's file of the same name is an error before the work, not afterwards.
  if (!is_done) claim_files(ledger, detection_files)
  complete_facts(ledger, run_row, of, "")
  save_ledger(ledger, at_once = TRUE)
  tell_duration(runs, folders)
  for (kind in names(runs)) {
    embed_into(runs[[kind]], folders[[kind]], resume, runs[[kind]]$fingerprint)
  }
  parts <- part_names(runs$dna$fingerprint)
  probability <- unlist(lapply(parts, function(part) {
    classify_part(file.path(folders, part), classifier, runs$dna$settings$work)
  }))
  hits <- new_detection(chunks, frames, probability, classifier, out)
  if (!is_done) write_detection(hits, ledger, of)
  hits
}

# Probabilities that frames are viral, named by their ids. `files`: the same part for all models.
classify_part <- function(files, classifier, work) {
  rows <- lapply(files, read_part_impl)
  if (!identical(rownames(rows[[1]]), rownames(rows[[2]]))) {
    abort_ancify(
      sprintf("%s and %s have different frames: remove them, and call detect_viruses() again.",
              quoted(files[1]), quoted(files[2])),
      "format", file = files[2], line = 0
    )
  }
  embeddings <- check_embeddings(do.call(cbind, rows), "embeddings", classifier$width)
  p <- class_probabilities(classifier, embeddings, work)
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

# VirNucPro's format. It reports the first class if both are equally probable.
frames_file <- function(frames) {
  frames <- frames[!is.na(frames$id), ]
  data.frame(
    Sequence_ID = frames$id, Prediction = ifelse(frames$virus > 0.5, "virus", "others"),
    score1 = 1 - frames$virus, score2 = frames$virus
  )
}

chunks_file <- function(chunks) {
  chunks <- chunks[!is.na(chunks$is_virus), ]
  # Byte order, as in Python's sort.
  chunks <- chunks[order(chunks$chunk, method = "radix"), ]
  data.frame(
    Modified_ID = chunks$chunk, Is_Virus = ifelse(chunks$is_virus, "True", "False"),
    max_score_0 = chunks$other, max_score_1 = chunks$virus
  )
}

# ---- Time ---------------------------------------------------------------------------------------

# Reports the duration of the remaining embedding, unless it is very short. This machine says
# nothing of the speed of workers.
tell_duration <- function(runs, folders) {
  if (!is.null(runs$dna$workers)) {
    return(invisible())
  }
  seconds <- mapply(seconds_left, runs, folders)
  if (sum(seconds) < 2) {
    return(invisible())
  }
  workers <- if (is.null(runs$dna$settings$devices)) {
    count_of(runs$dna$settings$work$threads, "thread")
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

# The time of two frames per thread, which share a pack, scaled to all remaining letters. More
# frames are timed if two are too quick to measure; the result is 0 if all would be timed.
seconds_left <- function(run, folder) {
  of <- run$fingerprint
  slices <- part_slices(length(run$sequences$ids), of$settings$part_size)
  left <- unlist(slices[parts_left(open_ledger(folder), of)])
  letters <- nchar(run$sequences$sequences)
  n <- 2 * run$settings$work$threads
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
    embed_impl(run$model$loaded, run$sequences$sequences[which], model_run(run$settings), FALSE,
      watch)
  }, run$settings$work$progress)
  proc.time()[["elapsed"]] - started
}
