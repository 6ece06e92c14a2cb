# Reads files that belong together, such as a BED and its tables, all from a single write.

# A folder is a VCF Zarr store.
identity_of <- function(path) {
  if (dir.exists(path)) vcf_zarr_identity_impl(path) else file_identity_impl(path)$identity
}

# Reads a consistent set of files: list(content = of read(), identity = of the key). Writers remove
# the key first and put it in place last (`core/io/file_set.h`). A read is therefore consistent if
# the key has not changed during it; otherwise it is repeated.
read_whole_set <- function(key, read, tries = most_tries) {
  identity_now <- function() {
    tryCatch(identity_of(key), ancify_file_error = function(condition) NULL)
  }
  before <- identity_now()
  content <- tryCatch(read(), ancify_error = identity)
  if (!is.null(before) && identical(before, identity_now())) {
    if (inherits(content, "error")) stop(content)
    return(list(content = content, identity = before))
  }
  refuse_file_if(tries == 0, key,
                 "%s is replaced or removed while it is read: try again when its writer has ended.",
                 quoted(key))
  Sys.sleep(seconds_between_tries)
  read_whole_set(key, read, tries - 1)
}

# Waits while a writer replaces a set and has removed its key. `others`: files that serve equally
# well.
await_writer <- function(key, others = character()) {
  lock <- file.path(dirname(key), sprintf(".%s.ancify.lock", basename(key)))
  for (i in seq_len(most_tries)) {
    if (any(is_file(c(key, others))) || !is_file(lock)) break
    Sys.sleep(seconds_between_tries)
  }
}

# Writers replace a set almost instantly.
most_tries <- 200
seconds_between_tries <- 0.01
