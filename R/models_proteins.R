# Proteins that models read, and what is told of them.

# list(ids =, sequences = texts).
as_proteins <- function(x) {
  if (inherits(x, "AAStringSet")) {
    need_bioconductor("Biostrings", "AAStringSets")
  } else if (!is.character(x)) {
    abort_ancify(
      sprintf("`x` must be an AAStringSet or texts of proteins, not %s.", show_value(x)), "input"
    )
  }
  ids <- numbered_ids(names(x), length(x))
  sequences <- enc2utf8(unname(as.character(x)))
  proteins <- list(ids = enc2utf8(ids), sequences = sequences)
  refuse_proteins(proteins, !validUTF8(proteins$ids) | !validUTF8(sequences),
                  "%s: not valid text in this session's encoding.")
  refuse_proteins(
    proteins, is.na(sequences) | !nzchar(sequences, keepNA = FALSE), "%s: there is no residue."
  )
  proteins
}

refuse_proteins <- function(proteins, which, format) {
  if (any(which)) {
    named <- sprintf("Protein '%s'", proteins$ids[which])
    abort_ancify(sprintf(format, enumerate(named)), "input")
  }
}

# What jobs of the core take.
protein_settings <- function(proteins, model, long, threads) {
  long <- check_choice(long, c("window", "truncate", "error"), "long")
  most <- model$most_residues
  lengths <- nchar(gsub("<mask>", "X", proteins$sequences, fixed = TRUE))
  is_long <- lengths > most
  if (long == "error") {
    refuse_proteins(proteins, is_long, paste0(
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
      sprintf("%s that the model does not know: in %s. They are read as <unk>.",
              count_of(sum(unknown), "letter"), enumerate(named)),
      "sequence"
    )
  }
}
