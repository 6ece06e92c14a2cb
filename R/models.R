#' Open a language model of proteins or DNA
#'
#' `sequence_model("esm2_t33_650M")` reads an ESM-2 model of any size from a folder, for
#' [embed_sequences()] and [residue_log_probs()]. DNABERT-S, a model of DNA, is read too, for
#' [embed_sequences()]. Nothing is ever downloaded: the folder must have the model's files.
#'
#' **Files.** Weights, `config.json` and, of ESM-2, `vocab.txt`; a folder of ESM-2 may lack the last
#' two. DNABERT-S needs `config.json` and `tokenizer.json`. Names of tensors tell which model it is.
#' Weights are one of these:
#'
#' * `model.safetensors`, or `model.safetensors.index.json` and the files that it names;
#' * `pytorch_model.bin`, or `pytorch_model.bin.index.json` and the files that it names;
#' * fair-esm's `.pt`. This and `.bin` are zip files of torch 1.6 or later. No pickled code in them
#'   is ever run, and older files are refused;
#' * the only file in the folder that ends in `.safetensors`, `.pt`, `.pth` or `.bin`.
#'
#' Tensors have the names of Hugging Face or of fair-esm, and numbers of 16, 32 or 64 bits. They are
#' computed with in single precision. Shapes come from the tensors. `config.json` must agree with
#' them.
#'
#' **Rotation.** ESM-2 was trained with rotary frequencies that were rounded to half precision. They
#' are read from the weights (`inv_freq`). If the weights lack them, they are computed and rounded
#' in the same way, and `print()` says so. DNABERT-S has no rotation: attention falls with distance,
#' by a slope of each head.
#'
#' **Tested.** Small random models agree with plain implementations in double precision, and with
#' PyTorch. No weights of a trained model have been run yet.
#'
#' @param folder Path of the folder.
#' @param x A model.
#' @param ... Not used.
#' @return An object of class `sequence_model`. `print()` returns `x`, invisibly.
#' @section Errors:
#' * `ancify_file_error` (field `file`): there is no such folder, or it has no weights or several
#'   files of them, or lacks a file of DNABERT-S. The message names the files that are looked for.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, cut, of another model, or
#'   disagrees with `config.json`; a tensor is missing or has another shape; a pickle contains more
#'   than tensors.
#' * `ancify_system_error`: there is too little memory, which is checked before weights are read.
#' @references
#' Lin Z, Akin H, Rao R, et al. (2023) Evolutionary-scale prediction of atomic-level protein
#' structure with a language model. Science 379: 1123-1130.
#'
#' Zhou Z, Wu W, Ho H, et al. (2024) DNABERT-S: pioneering species differentiation with
#' species-aware DNA embeddings. arXiv:2402.08777.
#' @seealso [embed_sequences()], [residue_log_probs()]
#' @export
#' @examples
#' # A random model, which the package has for examples
#' model <- sequence_model(system.file("extdata", "esm2_random", package = "ancify"))
#' model
sequence_model <- function(folder) {
  check_given()
  # The core's messages name files in it.
  folder <- sub("(.)/+$", "\\1", check_path(folder, "folder"))
  load_model(folder)
}

load_model <- function(folder) {
  about <- describe_model_impl(folder)
  check_model_memory(about, folder)
  loaded <- with_watch("Reading weights", function(watch) load_model_impl(about$files, watch))
  about$files <- NULL
  structure(c(about, list(folder = normalizePath(folder), loaded = loaded)),
            class = "sequence_model")
}

# `available`: bytes of memory, or NA if unknown.
check_model_memory <- function(about, folder, available = available_memory()) {
  # Weights, the largest tensor once more, and a thread's pack: about 5 numbers a token and unit.
  numbers <- about$parameters + about$width * max(3 * about$width, about$hidden) +
    5 * about$pack_tokens * about$width
  wanted <- 4 * numbers
  if (isTRUE(wanted > available)) {
    abort_ancify(
      sprintf(
        "%s needs %s of memory, and %s are free: free some, or take a smaller model.",
        quoted(folder), show_bytes(wanted), show_bytes(available)
      ),
      "system"
    )
  }
}

check_sequence_model <- function(model) {
  if (!inherits(model, "sequence_model") || typeof(model$loaded) != "externalptr") {
    abort_ancify(
      sprintf("`model` must be a model of sequence_model(), not %s.", show_value(model)), "input"
    )
  }
  # The weights of another session are read again.
  if (is_null_pointer(model$loaded)) load_model(model$folder) else model
}

#' @rdname sequence_model
#' @export
print.sequence_model <- function(x, ...) {
  check_no_more(...)
  of_proteins <- list(
    inv_freq = if (x$frequencies_from_file) {
      "read from the weights"
    } else {
      "not in the weights: computed, and rounded to half precision"
    },
    head = if (!x$has_head) "none: embeddings only" else "for log-probabilities of residues"
  )
  of_dna <- list(tokens = sprintf("%s, of several bases each", length(x$tokens)))
  name <- if (x$reads_dna) "DNABERT-S" else "ESM-2"
  title <- sprintf("%s, %s parameters", name, short_count(x$parameters))
  write_object("sequence_model", title, c(
    encoder = sprintf("%s layers, width %s, %s heads, feed-forward width %s", x$layers, x$width,
                      x$heads, x$hidden),
    unlist(if (x$reads_dna) of_dna else of_proteins),
    folder = x$folder
  ))
  invisible(x)
}

# 651043254 is "651M".
short_count <- function(n) {
  power <- min(max(floor(log10(max(n, 1)) / 3), 0), 3)
  paste0(signif(n / 1000^power, 3), c("", "k", "M", "B")[power + 1])
}
