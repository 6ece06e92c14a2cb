# Sequences that models read, and warnings about them.

# list(ids =, sequences = texts). A model reads either proteins or DNA.
as_model_input <- function(x, model) {
  set <- if (model$reads_dna) "DNAStringSet" else "AAStringSet"
  if (inherits(x, set)) {
    need_bioconductor("Biostrings", paste0(set, "s"))
  } else if (!is.character(x)) {
    wanted <- if (model$reads_dna) "a DNAStringSet or texts of DNA" else
      "an AAStringSet or texts of proteins"
    refuse_input("`x` must be %s for this model, not %s.", wanted, show_value(x))
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

# Settings for jobs of the core.
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
  list(long = long, work = work, devices = model_on_devices(model, work))
}

# The core's form of sequence_settings().
model_run <- function(settings) {
  core_list(
    "ModelRun",
    truncate = settings$long == "truncate", work = settings$work, devices = settings$devices
  )
}

# The session's work. If `param` has workers, each chooses the backend of its own machine.
work_of_session <- function(param, threads, backend, precision) {
  if (is.null(param)) {
    return(new_work(threads, backend, precision = precision, progress = interactive()))
  }
  check_workers(param, check_choice(backend, backends, "backend"))
  work <- new_work(threads, progress = interactive())
  work$precision <- checked_precision(precision, backend == "gpu")
  work
}

# The workers of a run, and the backend that each is asked for; NULL without any.
workers_of <- function(param, backend) {
  if (!is.null(param)) list(param = param, backend = backend)
}

# The weights on GPUs, or NULL.
model_on_devices <- function(model, work) {
  if (work$backend == "gpu") {
    with_watch("Copying weights", function(watch) {
      model_on_devices_impl(model$loaded, work, watch)
    }, work$progress)
  }
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
