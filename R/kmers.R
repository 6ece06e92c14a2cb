#' Count k-mers
#'
#' Counts all words of k bases in reads or sequences: `count_kmers("reads.fastq.gz", 25)`. The
#' result is held in memory, or written as a database that KMC's tools read.
#'
#' **k-mers.** A letter other than A, C, G and T ends a stretch, and no k-mer goes across it. Lower
#' case counts as upper case. A canonical k-mer is the smaller of the k-mer and its reverse
#' complement, in the order A, C, G, T. So both strands count as one, and a palindrome counts once.
#'
#' **Memory.** Up to k = 12, each thread counts in a table of all k-mers, with 8 bytes for each.
#' Above, k-mers are collected in 512 parts by their minimizers. Parts that do not fit in `memory`
#' go to a temporary file in the folder of `out`, or in `tempdir()`. Each part is then sorted and
#' counted by itself. The result does not depend on `memory`, `threads` and `backend`, to the last
#' byte.
#'
#' **GPUs.** With `backend = "gpu"` the parts of k-mers above k = 12 are sorted and counted on all
#' GPUs. Reading, cutting and writing stay on the CPU, and may limit the speed. No GPU has been
#' faster yet, so `"auto"` is the CPU.
#'
#' **Database.** `<out>.kmc_pre` and `<out>.kmc_suf` are the sorted files of KMC 3. So `kmc_tools`
#' and `kmc_dump` read them, and [read_kmers()] reads those of KMC. The files appear both or not at
#' all. A count has as many bytes as the largest count needs.
#'
#' @param x Paths of FASTA or FASTQ files, plain, gzip or bgzip, or a `DNAStringSet`. A file that
#'   begins with `@` is FASTQ, with four lines a read.
#' @param k Bases of a k-mer, 1 to 64.
#' @param canonical Whether both strands count as one.
#' @param min_count,max_count Smallest and largest count of the k-mers that are kept, 1 to 2^32 - 1.
#'   A larger count is 2^32 - 1.
#' @param memory Bytes of memory to use, roughly; half of the machine's if `NULL`. It limits the
#'   k-mers collected, but neither a result in memory nor the tables up to k = 12.
#' @param out Path of the database to write, without extension; `NULL`: in memory.
#' @param threads Number of threads; `NULL`: `getOption("ancify.threads")`, else all cores.
#' @param backend `"auto"` (the default) or `"cpu"`: the processor. `"gpu"`: all GPUs of
#'   [available_gpus()], each as much as its memory allows.
#' @return An object of class `kmers`; see [kmer_methods].
#' @section Errors:
#' * `ancify_device_error`: `backend` is `"gpu"`, and no GPU can be used, or one fails or has too
#'   little memory.
#' * `ancify_input_error`: an argument has another shape or range, or `out` is one of `x`.
#' * `ancify_format_error` (fields `file`, `line`): a file is no FASTA or FASTQ, or was cut short.
#'   In a FASTQ, qualities of another number than the bases; the message has the record's number.
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
  work <- kmer_work(memory, out, threads, if (sequences$are_files) sequences$x)
  backend <- choose_backend(backend, threads)
  made <- with_watch("Counting k-mers", function(watch) {
    count_kmers_impl(sequences$x, sequences$are_files, settings, work, backend, watch)
  }, progress = interactive())
  new_kmers(made, out)
}

most_k <- 64

most_count <- 2^32 - 1

# list(x = paths, or sequences as the core takes them, are_files =).
kmer_sequences <- function(x) {
  x <- dna_or_paths(x)
  list(x = core_sequences(x), are_files = !is_dna(x))
}

kmer_settings <- function(k, canonical, min_count, max_count) {
  check_whole_number(min_count, "min_count", most_count)
  check_whole_number(max_count, "max_count", most_count)
  if (min_count > max_count) {
    abort_ancify(
      sprintf("`min_count` is %s, above `max_count`, %s: no k-mer could be kept.",
              format_count(min_count), format_count(max_count)),
      "input"
    )
  }
  list(k = as.integer(k), canonical = canonical, min_count = min_count, max_count = max_count)
}

# What a job may use, and where its result goes. `inputs`: paths that must not be written over.
kmer_work <- function(memory, out, threads, inputs = NULL) {
  if (!is.null(memory)) check_positive(memory, "memory", 1)
  if (!is.null(out)) {
    out <- check_output_file(out, "out")
    for (file in kmc_paths(out)) refuse_same_file(file, x = inputs)
  }
  list(
    memory = if (is.null(memory)) 0 else min(max(memory, 1), 2^52), out = out %||% "",
    scratch = if (is.null(out)) tempdir() else dirname(out), threads = resolve_threads(threads)
  )
}

kmc_paths <- function(stem) paste0(stem, c(".kmc_pre", ".kmc_suf"))

# The files of a database; none if it is in memory.
kmc_files <- function(x) if (length(x$path)) kmc_paths(x$path)

new_kmers <- function(made, path = NULL) {
  force(made) # writes the files of `path`
  path <- if (!is.null(path)) normalizePath(kmc_paths(path)[1])
  structure(c(made, list(path = sub("[.]kmc_pre$", "", path))), class = "kmers")
}

# Databases in files are opened again where a session has restored the object.
opened <- function(x) {
  if (!is_null_pointer(x$database)) {
    return(x)
  }
  if (length(x$path) == 0) {
    abort_ancify(
      paste(
        "These k-mers were in the memory of another session: count them again. To keep k-mers",
        "for later sessions, write them with write_kmers()."
      ),
      "input"
    )
  }
  open_database(x$path)
}

open_database <- function(stem) {
  for (file in kmc_paths(stem)) check_is_file(file)
  new_kmers(with_watch("Opening", function(watch) open_kmers_impl(stem, watch)), stem)
}

check_kmers <- function(x, name = "x") {
  if (!inherits(x, "kmers")) {
    abort_ancify(
      sprintf("`%s` must be k-mers of count_kmers() or read_kmers(), not %s.", name, show_value(x)),
      "input"
    )
  }
  opened(x)
}
