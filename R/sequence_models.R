#' Open a language model of proteins or DNA
#'
#' `sequence_model("esm2_t33_650M")` reads an ESM-2 model of any size from a folder, for
#' [embed_sequences()] and [residue_log_probs()]. It also reads DNABERT-S, a DNA model, for
#' [embed_sequences()]. Nothing is ever downloaded: the folder must contain the model's files.
#'
#' **Files.** An ESM-2 folder needs only weights; `config.json`, and `vocab.txt` or
#' `tokenizer.json`, are optional. DNABERT-S also needs `config.json` and `tokenizer.json`. The
#' names of the tensors identify the model. The weights are one of the following:
#'
#' * `model.safetensors`, or `model.safetensors.index.json` and the files that it lists;
#' * `pytorch_model.bin`, or `pytorch_model.bin.index.json` and the files that it lists;
#' * fair-esm's `.pt`. Files `.pt` and `.bin` must be zip files of torch 1.6 or later; older files
#'   are refused. Their pickled code is never run;
#' * the only file in the folder that ends in `.safetensors`, `.pt`, `.pth` or `.bin`.
#'
#' Tensors are named as in Hugging Face or fair-esm, and hold values of 16, 32 or 64 bits.
#' Computations use single precision. Shapes come from the tensors, and `config.json` must agree
#' with them. Parameters of norms may be named `gamma` and `beta`, as in transformers since 5.10.
#'
#' **Other models.** ESM-1b, ESM-1v, adapters and other relatives of ESM-2 have additional tensors.
#' Each such tensor is an error whose message names it. Heads for other tasks are ignored. The
#' vocabulary must contain the 20 residues, or the four bases, as tokens of one letter.
#'
#' **Rotation.** ESM-2 was trained with rotary frequencies rounded to half precision. They are read
#' from the weights (`inv_freq`). If the weights lack them, they are computed and rounded likewise,
#' or computed from another `rope_theta` in `config.json`; `print()` reports this. DNABERT-S has no
#' rotation: its attention decreases linearly with distance, with a slope for each head.
#'
#' **Tested.** Small random models agree with plain implementations in double precision and with
#' PyTorch. No weights of a trained model have been tested yet.
#'
#' @param folder Path of the folder.
#' @param x A model.
#' @param ... Not used.
#' @return An object of class `sequence_model`. `print()` returns `x`, invisibly.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the folder does not exist, has no weights or ambiguous
#'   ones, or lacks a file of DNABERT-S. The message names the files that were sought.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, truncated, a Git LFS pointer,
#'   from another model, or inconsistent with `config.json`; a tensor is missing, has another shape
#'   or does not belong to the model; the vocabulary lacks a residue or a base; a pickle contains
#'   more than tensors.
#' * `ancify_system_error`: memory is insufficient; this is checked before weights are read.
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
  # Remove final slashes, because the core's messages append names of files to the folder.
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
  # The weights, a second copy of the largest tensor, and a thread's pack: about 5 values per token
  # and unit of width.
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

check_sequence_model <- function(model, name = "model") {
  good <- inherits(model, "sequence_model") && typeof(model$loaded) == "externalptr"
  must_be(good, model, name, "a model of sequence_model()")
  # The pointer is lost in another session, so the weights are read again.
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
      of_formula(x$rotation_base)
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

of_formula <- function(base) {
  if (base == 10000) return("not in the weights: computed, and rounded to half precision")
  sprintf("not in the weights: computed by the rope_theta of config.json, %g", base)
}

# A count in short form: 651043254 is "651M".
short_count <- function(n) {
  power <- min(max(floor(log10(max(n, 1)) / 3), 0), 3)
  paste0(signif(n / 1000^power, 3), c("", "k", "M", "B")[power + 1])
}
