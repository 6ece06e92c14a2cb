#' Chunks of DNA, and their reading frames
#'
#' `chunk_sequences("contigs.fa.gz")` cuts long sequences into chunks, for virus detection.
#' `six_frames()` translates each sequence in six frames, and keeps frames without a stop.
#'
#' **Chunks.** A sequence of L bases has n = ceiling(L / `size`) chunks, named `<id>_chunk_<i>`,
#' with i from 1.
#'
#' * `"virnucpro"`: the rule of VirNucPro. The surplus of n `size` - L bases is divided among all
#'   n chunks as overlaps, although the last has none. The last chunk is therefore often short: 501
#'   bases give chunks of 500 and 251.
#' * `"even"`: all chunks have `size` bases, and their starts are evenly spaced. A sequence shorter
#'   than `size` is one chunk.
#'
#' **Frames.** F1, F2 and F3 begin at the first, second and third base, and R1, R2 and R3 at those
#' bases of the opposite strand. A frame is kept if its protein has a residue and no stop. Its id
#' joins the sequence's id and the frame, such as `a_chunk_1F2`.
#'
#' * `"virnucpro"`: a codon with a letter other than A, C, G and T is omitted. The bases of a frame
#'   are 3 for each residue, plus one more if the sequence has it. Other letters are not
#'   complemented on the opposite strand.
#' * `"strict"`: such a codon is X. The bases are all translated bases. Other letters are
#'   complemented.
#'
#' The classifier of VirNucPro was trained with the `"virnucpro"` rules.
#'
#' @param x Paths of FASTA or FASTQ files, plain, gzip or bgzip, or a `DNAStringSet`. Lower case
#'   counts as upper case, and `U` in files as `T`. Sequences of a set without names are numbered.
#'   If files share names, like mates of paired reads, all names get the suffix of their file,
#'   `/1`, `/2` and so on. A message says so.
#' @param size Bases per chunk.
#' @param rule The rule for cutting sequences or reading frames; see above.
#' @param genetic_code Identifier of a genetic code in NCBI's list, as for
#'   [Biostrings::getGeneticCode()]. The rule `"virnucpro"` uses the standard code, `"1"`.
#' @return `chunk_sequences()`: a `DNAStringSet`, named by chunk. Its metadata columns are
#'   `sequence`, the id, and `start` and `end`, which count from 1.
#'
#'   `six_frames()`: a list of three elements.
#'   * `frames`: a data frame with a row per kept frame: `sequence` (its id), `frame` and `id`. A
#'     sequence without such a frame has one row, with `"no_frame"` for `frame` and `NA` for
#'     `id`.
#'   * `dna`, a `DNAStringSet`, and `protein`, an `AAStringSet`: the bases and residues of the
#'     kept frames, named by their ids.
#' @section Errors:
#' * `ancify_input_error`: an argument has the wrong shape or is out of range; a sequence of a set
#'   has no bases, or a duplicate name; or `genetic_code` is unknown, or not `"1"` with
#'   `"virnucpro"`.
#' * `ancify_format_error` (fields `file`, `line`): a file is not FASTA or FASTQ, or is truncated; a
#'   record has no name, no bases, a duplicate name, or a name that is not UTF-8 text; or a letter
#'   does not represent a base, as in a protein file.
#' * `ancify_file_error` (field `file`): a file cannot be read.
#' * `ancify_package_error`: Biostrings is not installed.
#' @references
#' Li J, Mi J, Lin W, et al. (2025) VirNucPro: an identifier for the identification of viral short
#' sequences using six-frame translation and large language models. Briefings in Bioinformatics
#' 26: bbaf224.
#' @seealso [embed_sequences()], [chunk_calls()]
#' @export
#' @examplesIf requireNamespace("Biostrings", quietly = TRUE)
#' fasta <- tempfile(fileext = ".fa")
#' writeLines(c(">a", strrep("ATGGCACGTTCTGAC", 40)), fasta)
#' chunks <- chunk_sequences(fasta)
#' chunks
#' six_frames(chunks)
chunk_sequences <- function(x, size = 500, rule = c("virnucpro", "even")) {
  check_args(size = whole(), rule = choice(c("virnucpro", "even")))
  x <- as_dna(x)
  chunks <- chunks_impl(enc2utf8(names(x)), Biostrings::width(x), size, rule == "even")
  ids <- names(x)[chunks$sequence]
  set <- Biostrings::subseq(unname(x)[chunks$sequence], chunks$start, chunks$end)
  names(set) <- chunks$name
  # The constructor of DataFrames takes several times as long.
  S4Vectors::mcols(set) <- methods::as(data.frame(
    sequence = ids, start = as.integer(chunks$start), end = as.integer(chunks$end)
  ), "DataFrame")
  set
}

#' @rdname chunk_sequences
#' @export
six_frames <- function(x, rule = c("virnucpro", "strict"), genetic_code = "1") {
  check_args(rule = choice(c("virnucpro", "strict")))
  strict <- rule == "strict"
  code <- genetic_code_of(genetic_code)
  refuse_if(
    !strict && !identical(code, genetic_code_of("1")),
    paste(
      "`genetic_code` must be \"1\" with the rule \"virnucpro\": choose `rule = \"strict\"` for",
      "another."
    )
  )
  x <- as_dna(x)
  frames <- core_list(
    "ReadingFrames",
    residues = paste(code, collapse = ""), strict = strict, dna = joined_as("DNAString"),
    aa = joined_as("AAString")
  )
  made <- with_watch("Translating", function(watch) {
    six_frames_impl(core_sequences(x), frames, watch)
  }, progress = interactive())
  frame <- frame_names[made$frame]
  ids <- paste0(names(x)[made$sequence], frame)
  list(
    frames = frame_table(names(x), made$sequence, frame, ids),
    dna = set_of_joined(made$bases, "DNAString", ids),
    protein = set_of_joined(made$protein, "AAString", ids)
  )
}

frame_names <- c("F1", "F2", "F3", "R1", "R2", "R3")

# Sequences without a frame also have a row. `sequence`: indices of the frames' sequences.
frame_table <- function(sequences, sequence, frame, ids) {
  without <- setdiff(seq_along(sequences), sequence)
  of <- c(sequence, without)
  at <- order(of)
  data.frame(
    sequence = sequences[of[at]],
    frame = c(frame, rep("no_frame", length(without)))[at],
    id = c(ids, rep(NA_character_, length(without)))[at]
  )
}

# A DNAStringSet of non-empty sequences with unique names.
as_dna <- function(x) {
  x <- dna_or_paths(x)
  need_bioconductor("Biostrings", "DNAStringSets")
  if (!is_dna(x)) {
    refuse_file_twice(x)
    read <- with_watch("Reading", function(watch) {
      read_dna_impl(x, joined_as("DNAString"), watch)
    }, progress = interactive())
    warn_empty_files(read$empty)
    if (read$share_ids) {
      inform_ancify(sprintf(
        "Files have records of equal names, as paired reads do: %s after names tell the file.",
        enumerate(quoted(paste0("/", seq_along(x))))
      ))
    }
    return(set_of_joined(read$bases, "DNAString", read$ids))
  }
  names(x) <- numbered_ids(names(x), length(x))
  refuse_dna(x, duplicated(names(x)), "%s: a sequence before has the same name.")
  refuse_dna(x, Biostrings::width(x) == 0, "%s: there is no base.")
  x
}

# Records of a file given twice would be duplicated, which would look like mates.
refuse_file_twice <- function(paths) {
  again <- duplicated(normalizePath(paths))
  refuse_if(any(again), "`x` has %s twice: give each file once.",
            enumerate(quoted(unique(paths[again]))))
}

refuse_dna <- function(x, which, format) {
  refuse_if(any(which), format, enumerate(sprintf("Sequence '%s'", names(x)[which])))
}
