# Sequences that models read, and what is told of them.

# list(ids =, sequences = texts). A model reads either proteins or DNA.
as_model_input <- function(x, model) {
  set <- if (model$reads_dna) "DNAStringSet" else "AAStringSet"
  if (inherits(x, set)) {
    need_bioconductor("Biostrings", paste0(set, "s"))
  } else if (!is.character(x)) {
    wanted <- if (model$reads_dna) "a DNAStringSet or texts of DNA" else
      "an AAStringSet or texts of proteins"
    abort_ancify(
      sprintf("`x` must be %s for this model, not %s.", wanted, show_value(x)), "input"
    )
  }
  ids <- numbered_ids(names(x), length(x))
  texts <- enc2utf8(unname(as.character(x)))
  sequences <- list(
    ids = enc2utf8(ids), sequences = texts, called = if (model$reads_dna) "Sequence" else "Protein"
  )
  refuse_sequences(sequences, !validUTF8(sequences$ids) | !validUTF8(texts),
                   "%s: not valid text in this session's encoding.")
  refuse_sequences(
    sequences, is.na(texts) | !nzchar(texts, keepNA = FALSE),
    if (model$reads_dna) "%s: there is no base." else "%s: there is no residue."
  )
  sequences
}

refuse_sequences <- function(sequences, which, format) {
  if (any(which)) {
    named <- sprintf("%s '%s'", sequences$called, sequences$ids[which])
    abort_ancify(sprintf(format, enumerate(named)), "input")
  }
}

# What jobs of the core take.
sequence_settings <- function(sequences, model, long, threads) {
  long <- check_choice(long, c("window", "truncate", "error"), "long")
  most <- model$most_residues
  lengths <- nchar(gsub("<mask>", "X", sequences$sequences, fixed = TRUE))
  is_long <- lengths > most
  if (long == "error") {
    refuse_sequences(sequences, is_long, paste0(
      "%s: more than ", most, " residues; `long` can be \"window\" or \"truncate\"."
    ))
  }
  if (long == "truncate" && any(is_long)) {
    warn_ancify(
      sprintf("Of %s the first %d residues are read, and the others are not.",
              count_of(sum(is_long), "protein"), most),
      "sequence"
    )
  }
  list(truncate = long == "truncate", backend = choose_backend("cpu", threads), long = long)
}

tell_unknown <- function(unknown, ids) {
  if (sum(unknown) > 0) {
    named <- sprintf("'%s'", ids[unknown > 0])
    warn_ancify(
      sprintf(
        "%s that the model does not know: in %s. They are read as its token for the unknown.",
        count_of(sum(unknown), "letter"), enumerate(named)
      ),
      "sequence"
    )
  }
}
