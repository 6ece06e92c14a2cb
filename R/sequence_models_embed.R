#' Embed proteins or DNA
#'
#' `embed_sequences(proteins, model)` gives a vector for each protein: the mean of the model's last
#' layer over its residues.
#'
#' **DNA.** A model such as DNABERT-S reads DNA in tokens of several bases. The mean is over all
#' tokens, including `[CLS]` before and `[SEP]` after the sequence. `long` does not apply: sequences
#' are read whole. Time grows with the square of their length, so cut long ones with
#' [chunk_sequences()].
#'
#' **Letters.** Case is ignored. `<mask>` in a text stands for one masked residue. Any other letter
#' that the model does not know is read as `<unk>`; a warning counts such letters, and gives their
#' share if it exceeds a tenth.
#'
#' **Texts** are sequences, never paths. A file's path is an error, because its letters would
#' otherwise be embedded. So is a text with a character that no sequence has, such as a digit or a
#' blank. Proteins have letters, `-`, `.` and `*`. DNA has IUPAC letters, `-`, `.` and `+`. Read
#' files with [Biostrings::readAAStringSet()] or [Biostrings::readDNAStringSet()].
#'
#' **Long proteins.** ESM-2 was trained on up to 1022 residues. `long = "window"` reads longer
#' proteins in windows of 1022 that advance by 511; the last ends at the protein's end. Each residue
#' is taken from the window whose centre is nearest. `"truncate"` reads the first 1022 residues, and
#' a warning counts the truncated proteins.
#'
#' **Computation.** Sequences are packed without padding, and all threads share packs. The result is
#' identical with any number of threads, to the last bit. Instruction sets of processors round
#' differently, by about 1e-6 of the largest value.
#'
#' **GPUs.** With `backend = "gpu"` weights are copied to all GPUs, which share packs. cuBLAS, a
#' part of CUDA, multiplies matrices. With `"fp16"` the matrices have half precision, as do the
#' inputs of attention and activations; sums, norms and softmax stay in single precision. If a pack
#' has values beyond half precision (65504), the CPU recomputes it, with a message. Results differ
#' from the CPU's by about 1e-6 of the largest value with `"fp32"`, and 1e-3 with `"fp16"`. `"auto"`
#' means the CPU, because other users may need the GPU.
#'
#' **Resumable runs.** With `out` the result is written to a folder, in parts of 10,000 sequences
#' (100 with `pool = "residue"`). Each part is a file that appears only when complete.
#' `.ancify/ledger` records the settings and the checksums of parts, input and model files. The same
#' call resumes an interrupted run: it keeps intact parts and makes the other parts.
#'
#' @param x Proteins: an `AAStringSet`, or texts. For a DNA model: a `DNAStringSet`, or texts. Names
#'   serve as ids; unnamed sequences are numbered.
#' @param model A model from [sequence_model()].
#' @param pool `"mean"`: one row per protein, the mean over its residues. `"residue"`: one row per
#'   residue, or per token of DNA.
#' @param long Treatment of proteins of more than 1022 residues: `"window"`, `"truncate"` or
#'   `"error"`.
#' @param out Path of a folder to write; `NULL`: the result is returned.
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @param backend `"auto"` (the default) or `"cpu"`: the processor. `"gpu"`: all GPUs of
#'   [available_gpus()].
#' @param precision Precision of matrix products: `"fp32"` (single), or on GPUs `"fp16"` (half).
#'   `NULL`: half on GPUs, single on the processor.
#' @param resume Whether to continue a run in `out`. If `FALSE`, an existing run is an error.
#' @param BPPARAM Workers of BiocParallel for the parts of `out`, such as
#'   `BiocParallel::SnowParam(4)` or [slurm_param()]; `NULL` (the default): this session alone.
#' @param folder Path of a folder that `embed_sequences()` wrote.
#' @return `embed_sequences()`: with `pool = "mean"` a matrix with a row per protein, named by its
#'   id. With `pool = "residue"` a list with a matrix for each protein, which has a row per residue.
#'   The attribute `unknown` counts each protein's letters that are not residues. With `out`: its
#'   path, invisibly.
#'
#'   `read_embeddings()`: the same result from a folder, without `unknown`.
#' @section Errors:
#' * `ancify_device_error`: `backend` is `"gpu"`, but no GPU can be used, a GPU fails or has too
#'   little memory, or cuBLAS is missing.
#' * `ancify_input_error`: an argument has another shape or range; a text is a path, or has a
#'   character that no sequence has; DNA is given to a protein model, or the reverse; a protein has
#'   no residue, or is too long and `long` is `"error"`; the run in `out` has another input, model
#'   or setting, which the message names; or the run in `folder` is incomplete.
#' * `ancify_format_error` (field `file`): a file in `out` is damaged.
#' * `ancify_file_error` (field `file`): a part would replace a file that no run wrote, `out` cannot
#'   be written, or `folder` has no embeddings.
#' * `ancify_lock_error` (field `file`): another process is working in `out`.
#' * `ancify_task_error` (field `tasks`): tasks failed on workers.
#' * `ancify_package_error`: BiocParallel is not installed, or a worker has another version.
#'
#' Warnings of class `ancify_sequence_warning` count letters that are not residues, and truncated
#' proteins, or report that all proteins look like DNA.
#' @seealso [residue_log_probs()]
#' @export
#' @examples
#' model <- sequence_model(system.file("extdata", "esm2_random", package = "ancify"))
#' proteins <- c(one = "MKTAYIAKQR", two = "GSHMSLFDFFKNKGSAA")
#' embeddings <- embed_sequences(proteins, model)
#' dim(embeddings)
#' embed_sequences(proteins, model, pool = "residue")$one[1:2, 1:4]
#'
#' out <- file.path(tempdir(), "embeddings")
#' embed_sequences(proteins, model, out = out)
#' identical(read_embeddings(out)["one", ], embeddings["one", ])
embed_sequences <- function(x, model, pool = c("mean", "residue"),
                            long = c("window", "truncate", "error"), out = NULL, threads = NULL,
                            backend = "auto", precision = NULL, resume = TRUE, BPPARAM = NULL) {
  check_given()
  refuse_if(!is.null(BPPARAM) && is.null(out),
            "`BPPARAM` needs `out`, a folder that the workers share with this session.")
  model <- check_sequence_model(model)
  sequences <- as_model_input(x, model)
  by_residue <- check_choice(pool, c("mean", "residue"), "pool") == "residue"
  work <- work_of_session(BPPARAM, threads, backend, precision)
  check_flag(resume, "resume")
  settings <- sequence_settings(sequences, model, long, work)
  if (!is.null(out)) {
    run <- list(model = model, sequences = sequences, settings = settings, by_residue = by_residue,
                workers = workers_of(BPPARAM, backend))
    return(invisible(run_embedding(run, check_path(out, "out"), resume)))
  }
  made <- with_watch("Embedding", function(watch) {
    embed_impl(model$loaded, sequences$sequences, model_run(settings), by_residue, watch)
  }, work$progress)
  tell_repeated(settings)
  tell_unknown(made$unknown, sequences$ids, sequences$sequences)
  named_by_sequence(made, sequences$ids)
}

#' Log-probabilities of residues
#'
#' `residue_log_probs(proteins, model)` gives the log-probability of every token of the model at
#' each residue of a protein. The model sees the residue itself, unless `<mask>` replaces it in the
#' text.
#'
#' @inheritParams embed_sequences
#' @return A list with a matrix for each protein, named by its id. It has a row per residue and a
#'   column per token of the model, such as `"A"`. The exponentials of a row sum to 1, or to less if
#'   the model has more outputs than tokens. The attribute `unknown` counts each protein's letters
#'   that are not residues.
#' @section Errors:
#' As in [embed_sequences()]; also `ancify_input_error` if the model's weights have no language
#' head.
#' @seealso [embed_sequences()], which explains the treatment of long proteins and unknown letters
#' @export
#' @examples
#' model <- sequence_model(system.file("extdata", "esm2_random", package = "ancify"))
#' p <- residue_log_probs(c(one = "MKT<mask>YIAKQR"), model)$one
#' p[4, c("A", "G", "V")]
residue_log_probs <- function(x, model, long = c("window", "truncate", "error"), threads = NULL,
                              backend = "auto", precision = NULL) {
  check_args(model = check_sequence_model)
  sequences <- as_model_input(x, model)
  work <- new_work(threads, backend, precision = precision, progress = interactive())
  settings <- sequence_settings(sequences, model, long, work)
  made <- with_watch("Predicting", function(watch) {
    log_probs_impl(model$loaded, sequences$sequences, model_run(settings), watch)
  }, work$progress)
  tell_repeated(settings)
  tell_unknown(made$unknown, sequences$ids, sequences$sequences)
  # Drop outputs beyond the tokens, which some models have.
  tokens <- model$tokens
  made$values <- lapply(made$values, function(rows) {
    rows <- rows[, seq_along(tokens), drop = FALSE]
    colnames(rows) <- tokens
    rows
  })
  named_by_sequence(made, sequences$ids)
}

named_by_sequence <- function(made, ids) {
  values <- made$values
  if (is.matrix(values)) rownames(values) <- ids else names(values) <- ids
  attr(values, "unknown") <- stats::setNames(made$unknown, ids)
  values
}
