#' Read and write k-mers
#'
#' `read_kmers("reads")` opens a database of [count_kmers()] or of KMC 3, or reads a text of k-mers
#' and counts. `write_kmers()` writes either.
#'
#' **Databases** are the files `<path>.kmc_pre` and `<path>.kmc_suf`. They stay on disk, and are
#' read as needed. Databases that `kmc` writes for k above 13 are divided into bins: each pass over
#' the k-mers sorts them anew, and `write_kmers()` writes them sorted. Without counters, as from
#' `kmc -cs1`, each count is 1.
#'
#' **Text** has a k-mer and its count per line, separated by a blank (`jellyfish dump -c`) or a tab
#' (`kmc_dump`). It may be in any order, and compressed by gzip. It is read into memory.
#'
#' @param path Path of a database, with or without `.kmc_pre` or `.kmc_suf`, or of a text file.
#' @param canonical Whether the k-mers of a text are canonical, as from `jellyfish count -C`. A
#'   database records this itself.
#' @param x An object of class `kmers`.
#' @param format `"kmc"`: a database, or `"text"`.
#' @return `read_kmers()`: an object of class `kmers`. `write_kmers()`: `path`, invisibly, for a
#'   database without its extension.
#' @section Errors:
#' * `ancify_file_error` (field `file`): there is no such file, or it cannot be read or written.
#' * `ancify_format_error` (fields `file`, `line`): a database is truncated or damaged, or has a k
#'   above 64. A line of a text has no k-mer and count, or repeats a k-mer.
#' * `ancify_input_error`: `path` is the database of `x` itself, or names both a text and a
#'   database; the name of a text ends in `.gz`, although `write_kmers()` does not compress.
#' @seealso [count_kmers()]
#' @export
#' @examples
#' text <- tempfile()
#' writeLines(c("ACA 3", "AAA 12"), text)
#' x <- read_kmers(text)
#' write_kmers(x, file.path(tempdir(), "three"))
#' as.data.frame(read_kmers(file.path(tempdir(), "three")))
read_kmers <- function(path, canonical = TRUE) {
  check_args(canonical = flag(), path = one_path())
  stem <- kmc_stem(path)
  if (stem == path && is_file(path)) {
    refuse_if(is_file(kmc_paths(path)[1]),
              "%s names both a text and a database: give %s for the database, or rename the text.",
              quoted(path), quoted(kmc_paths(path)[1]))
    return(new_kmers(with_watch("Reading", function(watch) {
      read_kmer_text_impl(path, canonical, kmer_output(NULL, new_work(memory = NULL)), watch)
    })))
  }
  open_database(stem)
}

#' @rdname read_kmers
#' @export
write_kmers <- function(x, path, format = c("kmc", "text")) {
  check_args(x = check_kmers)
  is_text <- check_choice(format, c("kmc", "text"), "format") == "text"
  path <- check_output_file(path, "path", is_text)
  if (!is_text) path <- kmc_stem(path)
  for (file in if (is_text) path else kmc_paths(path)) {
    refuse_same_file(file, x = kmc_files(x), name = "path")
  }
  write <- if (is_text) write_kmer_text_impl else write_kmer_files_impl
  with_watch("Writing", function(watch) write(x$database, path, watch))
  invisible(path)
}
