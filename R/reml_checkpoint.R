# Checkpoints of stochastic fits. The file has a line with the digest of all that changes the fit's
# numbers, a line with the checksum of the rest, a line of JSON that says which vectors follow, and
# these vectors' bytes. R's own format might hold code.

# list(state = the last one or NULL, save = a function that takes the next), or NULL without a file.
open_checkpoint <- function(path, problem, file) {
  if (is.null(path)) {
    return(NULL)
  }
  line <- checkpoint_line(digest_of(problem, file))
  list(
    state = earlier_state(path, line),
    save = function(state) {
      bytes <- state_bytes(state)
      write_file_impl(path, c(line, checksum_line(bytes), bytes))
    }
  )
}

checksum_line <- function(bytes) charToRaw(paste0(bytes_checksum_impl(bytes), "\n"))

checkpoint_line <- function(digest) charToRaw(sprintf("ancify reml checkpoint %s\n", digest))

earlier_state <- function(path, line) {
  if (!is_file(path)) {
    return(NULL)
  }
  bytes <- readBin(path, "raw", file.size(path))
  name <- seq_len(length(checkpoint_line("")) - 1)
  refuse <- function() {
    abort_ancify(
      sprintf("%s is no whole checkpoint: remove it, or choose another file for `checkpoint`.",
              quoted(path)),
      "format", file = path
    )
  }
  if (!identical(bytes[name], line[name])) refuse()
  if (!identical(bytes[seq_along(line)], line)) {
    abort_ancify(
      sprintf("%s is the checkpoint of a fit with other inputs or settings: %s.", quoted(path),
              "remove it, or choose another file"),
      "input", file = path
    )
  }
  bytes <- bytes[-seq_along(line)]
  sum <- seq_along(checksum_line(raw()))
  if (!identical(bytes[sum], checksum_line(bytes[-sum]))) refuse()
  state_of(bytes[-sum])
}

# A digest of a problem and its file.
digest_of <- function(problem, file) {
  problem[c("threads", "simd", "memory", "backend")] <- NULL
  problem$genotypes$path <- NULL
  problem$kernels <- lapply(problem$kernels, function(kernel) {
    if (!is.list(kernel)) {
      return(kernel)
    }
    # A function is known by what it gives.
    if (!is.null(kernel$products)) kernel$products <- kernel$products(as.matrix(problem$y))
    kernel$genotypes$path <- NULL
    kernel$file <- kernel$file[c("size", "checksum")]
    kernel
  })
  whole <- tempfile("ancify-digest-")
  on.exit(unlink(whole))
  saveRDS(
    list(package_version_text(), problem, file$size, file$checksum), whole, compress = FALSE
  )
  unname(tools::md5sum(whole))
}

# ---- A state as bytes ----------------------------------------------------------------------------

# A state is a nested list of named vectors and matrices. Texts stand in the JSON.
state_bytes <- function(state) {
  leaves <- leaves_of(state, character())
  index <- lapply(leaves, function(leaf) {
    value <- leaf$value
    list(
      path = as.list(leaf$path), type = typeof(value), length = length(value),
      dim = as.list(dim(value)), text = if (is.character(value)) as.list(value)
    )
  })
  numbers <- lapply(leaves, function(leaf) {
    if (!is.character(leaf$value)) writeBin(as.vector(leaf$value), raw(), endian = "little")
  })
  c(charToRaw(enc2utf8(paste0(to_json(index, pretty = FALSE), "\n"))), unlist(numbers))
}

leaves_of <- function(x, path) {
  if (!is.list(x)) {
    return(list(list(path = path, value = x)))
  }
  unlist(lapply(names(x), function(name) leaves_of(x[[name]], c(path, name))), recursive = FALSE)
}

state_of <- function(bytes) {
  end <- match(as.raw(10), bytes)
  index <- jsonlite::fromJSON(rawToChar(bytes[seq_len(end - 1)]), simplifyVector = FALSE)
  connection <- rawConnection(bytes[-seq_len(end)])
  on.exit(close(connection))
  state <- list()
  for (leaf in index) {
    value <- if (leaf$type == "character") {
      as.character(leaf$text)
    } else {
      readBin(connection, leaf$type, leaf$length, endian = "little")
    }
    stopifnot(length(value) == leaf$length)
    if (length(leaf$dim)) dim(value) <- unlist(leaf$dim)
    state <- with_leaf(state, unlist(leaf$path), value)
  }
  state
}

with_leaf <- function(x, path, value) {
  x <- as.list(x)
  x[[path[1]]] <- if (length(path) > 1) with_leaf(x[[path[1]]], path[-1], value) else value
  x
}
