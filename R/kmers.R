#' Count k-mers
#'
#' Counts all words of k bases in reads or sequences: `count_kmers("reads.fastq.gz", 25)`. The
#' result is held in memory, or written as a database that KMC's tools read.
#'
#' **k-mers.** No k-mer spans a letter other than A, C, G and T. Lower case counts as upper case. A
#' canonical k-mer is the smaller of the k-mer and its reverse complement, in the order A, C, G, T.
#' So both strands count as one, and a palindrome counts once.
#'
#' **Memory.** Up to k = 12, each thread counts in a table of all k-mers, with 8 bytes for each. For
#' larger k, k-mers are collected in 512 parts by their minimizers. Parts that do not fit in
#' `memory` go to a temporary file in the folder of `out`, or in `tempdir()`. Each part is then
#' sorted and counted by itself. The result does not depend on `memory`, `threads` or `backend`: it
#' is identical to the byte.
#'
#' **GPUs.** With `backend = "gpu"` the parts of k-mers above k = 12 are sorted and counted on all
#' GPUs. Reading, cutting and writing stay on the CPU, and may limit the speed. No GPU tested so far
#' has been faster, so `"auto"` is the CPU.
#'
#' **Database.** `<out>.kmc_pre` and `<out>.kmc_suf` have the sorted format of KMC 3. So `kmc_tools`
#' and `kmc_dump` read them, and [read_kmers()] reads all databases of KMC. Either both files
#' appear, or neither. Each count has as many bytes as the largest count needs.
#'
#' @param x Paths of FASTA or FASTQ files, plain, gzip or bgzip, or a `DNAStringSet`. A file that
#'   begins with `@` is FASTQ, with four lines per read.
#' @param k Bases of a k-mer, 1 to 64.
#' @param canonical Whether both strands count as one.
#' @param min_count,max_count Smallest and largest count of the k-mers to keep, 1 to 2^32 - 1.
#'   Larger counts are stored as 2^32 - 1.
#' @param memory Approximate memory in bytes; `NULL`: half of the free memory. It limits the
#'   collected k-mers, but neither a result in memory nor the tables up to k = 12.
#' @param out Path of the database to write, without extension; `NULL`: in memory.
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @param backend `"auto"` (the default) or `"cpu"`: the processor. `"gpu"`: all GPUs of
#'   [available_gpus()], each as much as its memory allows.
#' @return An object of class `kmers`; see [kmer_methods].
#' @section Warnings:
#' `ancify_sequence_warning`: files without bases are left out, or there are no k-mers.
#' @section Errors:
#' * `ancify_device_error`: `backend` is `"gpu"`, and no GPU can be used, or one fails or has too
#'   little memory.
#' * `ancify_input_error`: an argument has the wrong shape or is out of range, or `out` is one of
#'   `x`.
#' * `ancify_format_error` (fields `file`, `line`): a file is not FASTA or FASTQ, is truncated, or
#'   begins with protein or RNA sequences; no file has a sequence; or a FASTQ record has different
#'   numbers of bases and qualities. The message then gives the record's number.
#' * `ancify_file_error` (field `file`): a file cannot be read or written, or the disk is full.
#' @references
#' Kokot M, Dlugosz M, Deorowicz S (2017) KMC 3: counting and manipulating k-mer statistics.
#' Bioinformatics 33: 2759-2761.
#' @seealso [kmer_histogram()], [kmer_profile()], [kmer_union()], [kmer_matrix()],
#'   [kmer_distance()], [write_kmers()]
#' @export
#' @examples
#' fasta <- tempfile(fileext = ".fa")
#' writeLines(c(">one", "ACGTACGTNACGTT", ">two", "TTACGTAA"), fasta)
#' x <- count_kmers(fasta, 4)
#' x
#' as.data.frame(x)
#' x["ACGT"]
count_kmers <- function(x, k, canonical = TRUE, min_count = 1, max_count = 2^32 - 1, memory = NULL,
                        out = NULL, threads = NULL, backend = "auto") {
  check_given()
  sequences <- kmer_sequences(x)
  settings <- kmer_settings(
    check_whole_number(k, "k", most_k), check_flag(canonical, "canonical"), min_count, max_count
  )
  work <- new_work(threads, backend, memory, progress = interactive())
  output <- kmer_output(out, work, if (sequences$are_files) sequences$x)
  made <- with_watch("Counting k-mers", function(watch) {
    count_kmers_impl(sequences$x, settings, output, watch)
  }, work$progress)
  if (sequences$are_files) {
    warn_empty_files(sequences$x[made$letters == 0 & any(made$letters > 0)])
  }
  made$letters <- NULL
  warn_no_kmers(made)
  new_kmers(made, out)
}

most_k <- 64

most_count <- 2^32 - 1

warn_no_kmers <- function(made) {
  if (made$n == 0) {
    warn_ancify(
      sprintf("There is no k-mer to count: no stretch of A, C, G and T has %s%s.",
              count_of(made$k, "base"), if (made$min_count > 1 || made$max_count < most_count) {
                ", or no k-mer has a count that is kept"
              } else {
                ""
              }),
      "sequence"
    )
  }
}

# list(x = paths, or sequences as the core takes them, are_files =).
kmer_sequences <- function(x) {
  x <- dna_or_paths(x)
  list(x = core_sequences(x), are_files = !is_dna(x))
}

kmer_settings <- function(k, canonical, min_count, max_count) {
  check_args(min_count = whole(most_count), max_count = whole(most_count))
  refuse_if(min_count > max_count,
            "`min_count` is %s, above `max_count`, %s: no k-mer could be kept.",
            format_count(min_count), format_count(max_count))
  core_list(
    "KmerSettings",
    k = k, canonical = canonical, min_count = min_count, max_count = max_count
  )
}

# A job's output. `inputs`: paths that must not be overwritten.
kmer_output <- function(out, work, inputs = NULL) {
  if (!is.null(out)) {
    out <- kmc_stem(check_output_file(out, "out", FALSE))
    for (file in kmc_paths(out)) refuse_same_file(file, x = inputs)
  }
  core_list(
    "KmerOutput",
    work = work, out = out %||% "", scratch = if (is.null(out)) tempdir() else dirname(out)
  )
}

# The path of a database without extension.
kmc_stem <- function(path) sub("[.]kmc_(pre|suf)$", "", path)

kmc_paths <- function(stem) paste0(stem, c(".kmc_pre", ".kmc_suf"))

# The files of a database; none if it is in memory.
kmc_files <- function(x) if (length(x$path)) kmc_paths(x$path)

new_kmers <- function(made, path = NULL) {
  force(made) # writes the files of `path`
  path <- if (!is.null(path)) file.path(normalizePath(dirname(path)), basename(kmc_stem(path)))
  structure(c(made, list(path = as.character(path))), class = "kmers")
}

# Reopens a database file if the object was restored from another session.
opened <- function(x) {
  if (!is_null_pointer(x$database)) {
    return(x)
  }
  refuse_if(
    length(x$path) == 0,
    paste("These k-mers were in the memory of another session: count them again. To keep k-mers",
          "for later sessions, write them with write_kmers().")
  )
  open_database(x$path)
}

open_database <- function(stem) {
  files <- kmc_paths(stem)
  await_writer(files[1])
  check_is_file(files[1])
  set <- read_whole_set(files[1], function() {
    check_is_file(files[2])
    with_watch("Opening", function(watch) open_kmers_impl(stem, watch))
  })
  new_kmers(set$content, stem)
}

check_kmers <- function(x, name = "x") {
  must_be(inherits(x, "kmers"), x, name, "k-mers of count_kmers() or read_kmers()")
  opened(x)
}
