# Sequences that models read, and warnings about them.

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
  if (is.character(x)) check_model_texts(texts, model)
  sequences
}

# Texts are sequences, never paths. Non-ASCII letters count as unknown letters.
check_model_texts <- function(texts, model) {
  plain <- gsub("<mask>", "N", iconv(texts, "UTF-8", "ASCII", sub = "N"), fixed = TRUE)
  if (model$reads_dna) {
    check_sequence_texts(plain, "x", "DNA", "ACGTUMRWSYKVHDBN.+-",
                         "Biostrings::readDNAStringSet()")
  } else {
    check_sequence_texts(plain, "x", "residues", "A-Z.*-", "Biostrings::readAAStringSet()")
    tell_dna(plain)
  }
}

# DNA would pass as protein, because its letters are residues too.
tell_dna <- function(texts) {
  letters <- 50 # so many residues are rarely of only four kinds
  if (sum(nchar(texts)) >= letters && !any(grepl("[^ACGTUN.*-]", texts, ignore.case = TRUE))) {
    warn_ancify(
      "All of `x` has letters of DNA alone, and the model reads proteins: translate it first.",
      "sequence"
    )
  }
}

refuse_sequences <- function(sequences, which, format) {
  if (any(which)) {
    named <- sprintf("%s '%s'", sequences$called, sequences$ids[which])
    abort_ancify(sprintf(format, enumerate(named)), "input")
  }
}

# Settings for jobs of the core. `work`: list(threads =, backend =, precision =).
sequence_settings <- function(sequences, model, long, work) {
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
  c(list(long = long), model_backend(model, work))
}

# The core's form of sequence_settings().
model_run <- function(settings) {
  core_list(
    "ModelRun",
    truncate = settings$long == "truncate", backend = settings$backend, devices = settings$devices
  )
}

# list(backend =, precision =), as jobs of the core take them. If `work$param` has workers, each
# chooses the backend of its own machine.
check_work <- function(work) {
  on_workers <- !is.null(work$param)
  if (on_workers) check_workers(work$param, work$backend)
  backend <- choose_backend(if (on_workers) "cpu" else work$backend, work$threads)
  on_gpu <- if (on_workers) identical(work$backend, "gpu") else backend$kind == "gpu"
  precision <- check_choice(work$precision %||% if (on_gpu) "fp16" else "fp32", c("fp32", "fp16"),
                            "precision")
  refuse_if(precision == "fp16" && !on_gpu,
            "`precision` \"fp16\" is for GPUs alone: choose \"fp32\", or set `backend` to \"gpu\".")
  list(backend = backend, precision = precision)
}

# The checked work, with `devices`: the weights on GPUs, or NULL.
model_backend <- function(model, work) on_devices(model, check_work(work))

on_devices <- function(model, work) {
  devices <- if (work$backend$kind == "gpu") {
    with_watch("Copying weights", function(watch) {
      model_on_devices_impl(model$loaded, work$backend, work$precision == "fp16", watch)
    }, progress = interactive())
  }
  c(work, list(devices = devices))
}

tell_repeated <- function(settings) {
  n <- if (is.null(settings$devices)) 0 else repeated_packs_impl(settings$devices)
  if (n > 0) {
    inform_ancify(sprintf(
      "%s of sequences had numbers beyond half precision: the CPU computed %s in single precision.",
      count_of(n, "pack"), if (n == 1) "it" else "them"
    ))
  }
}

# `unknown`: counts of unknown letters in the sequences with these `ids`. `texts`: all sequences.
tell_unknown <- function(unknown, ids, texts) {
  if (sum(unknown) > 0) {
    named <- sprintf("'%s'", ids[unknown > 0])
    share <- sum(unknown) / sum(nchar(gsub("<mask>", "X", texts, fixed = TRUE)))
    warn_ancify(
      sprintf(
        "%s that the model does not know, in %s: read as its token for unknown letters.%s",
        count_of(sum(unknown), "letter"), enumerate(named),
        if (share > 0.1) sprintf(" That is %.0f %% of all: check the input.", 100 * share) else ""
      ),
      "sequence"
    )
  }
}
