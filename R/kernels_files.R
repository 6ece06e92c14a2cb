# Kernels in files of GCTA.

#' @rdname kernels
#' @export
kernel_gcta <- function(path) {
  check_args(path = one_path())
  files <- gcta_files(path)
  make <- if (is.na(files[["sparse"]])) dense_of_gcta else sparse_of_gcta
  tryCatch(make(files), ancify_input_error = function(condition) {
    file <- files[!is.na(files)][[1]]
    abort_ancify(paste0(quoted(file), ": ", conditionMessage(condition)), "format", file = file)
  })
}

# The paths of the `dense` or `sparse` entries, of which one is NA, of `counts` (or NA) and of
# `samples`.
gcta_files <- function(path) {
  stem <- sub("[.]grm([.](bin|sp|id|N[.]bin))?$", "", path)
  entries <- paste0(stem, c(dense = ".grm.bin", sparse = ".grm.sp"))
  given <- match(path, entries)
  there <- if (is.na(given)) is_file(entries) else seq_along(entries) == given
  refuse_if(all(there), "`path` may be %s or %s: give it with its extension.", quoted(entries[1]),
            quoted(entries[2]))
  refuse_file_if(!any(there), entries[1], "There is no file %s, nor %s.", quoted(entries[1]),
                 quoted(entries[2]))
  samples <- paste0(stem, ".grm.id")
  counts <- paste0(stem, ".grm.N.bin")
  check_is_file(entries[there])
  check_is_file(samples)
  entries[!there] <- NA
  c(dense = entries[1], sparse = entries[2], samples = samples,
    counts = if (there[1] && is_file(counts)) counts else NA)
}

dense_of_gcta <- function(files) {
  counts <- if (is.na(files[["counts"]])) "" else files[["counts"]]
  read <- with_watch("Reading", function(watch) {
    read_grm_impl(files[["samples"]], files[["dense"]], counts, watch)
  })
  check_kernel_entries(read$matrix, quoted(read$id))
  dimnames(read$matrix) <- list(read$id, read$id)
  new_kernel("matrix", read$id, length(read$id), matrix = read$matrix, counts = read$counts)
}

sparse_of_gcta <- function(files) {
  read <- with_watch("Reading", function(watch) {
    read_sparse_grm_impl(files[["samples"]], files[["sparse"]], watch)
  })
  sparse_kernel(list2DF(read[c("row", "column", "value")]), read$id, length(read$id))
}
