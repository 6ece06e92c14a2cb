# Files of genotypes that a fit has used, by which later sessions recognise them.

# A file's path, and size and checksum (also of a PGEN's index), by which a later session recognises
# it. The `identity` of each file, named by its path, changes whenever the file is written.
genotype_file_facts <- function(part) {
  # A matrix is saved with the fit.
  if (is.null(part$identity)) {
    return(list(path = part$path, size = length(part$memory$calls), checksum = part$path))
  }
  file_facts(part$path)
}

file_facts <- function(path) {
  files <- c(path, names(index_identity_of(path)))
  facts <- with_watch("Reading genotypes", function(watch) {
    if (dir.exists(path)) {
      vcf_zarr_checksum_impl(path, watch)
    } else {
      checksums_impl(files, new_work(1), watch)
    }
  })
  if (anyNA(facts$checksum)) {
    unread <- files[is.na(facts$checksum)][1]
    abort_ancify(sprintf("%s cannot be read.", quoted(unread)), "file", file = unread)
  }
  list(
    path = path, size = sum(facts$size), checksum = paste(facts$checksum, collapse = " "),
    identity = stats::setNames(facts$identity, files)
  )
}

# The identities of a file and of a PGEN's index, named by their paths.
file_identities <- function(path) {
  c(stats::setNames(identity_of(path), path), index_identity_of(path))
}

# The facts of a file, which is read again only if its identity has changed.
known_facts <- function(path, known) {
  if (identical(known$identity, file_identities(path))) {
    return(known)
  }
  file_facts(path)
}

# A model and its kernels, with the facts of their genotypes' files. Each file is read once.
with_file_facts <- function(model) {
  known <- list()
  facts_of <- function(part) {
    known[[part$path]] <<- known[[part$path]] %||% genotype_file_facts(part)
    known[[part$path]]
  }
  with_own <- function(x) {
    if (is.list(x) && !is.null(x$genotypes)) x$files <- lapply(x$genotypes$parts, facts_of)
    x
  }
  model$kernels <- lapply(model$kernels, change_parts, with_own)
  with_own(model)
}

# The facts of all files of a fit and its kernels.
fit_files <- function(fit) {
  kernels <- unlist(lapply(unname(fit$kernels), all_parts), recursive = FALSE)
  unlist(lapply(c(list(fit), kernels), `[[`, "files"), recursive = FALSE)
}

# Sizes and checksums, which tell whether files are the same.
contents_of <- function(files) lapply(files, `[`, c("size", "checksum"))

# Identities of all files that a fit reads, by path.
fit_inputs <- function(fit) {
  inputs <- unlist(lapply(fit_files(fit), `[[`, "identity"))
  inputs[!duplicated(names(inputs))]
}

# The fit with all genotypes as this session finds them.
with_genotypes <- function(fit) {
  fit <- with_own_genotypes(fit)
  fit$kernels <- lapply(fit$kernels, change_parts, with_own_genotypes)
  fit
}

with_own_genotypes <- function(fit) {
  for (i in seq_along(fit$files)) {
    # A matrix has no identity.
    if (is.null(fit$files[[i]]$identity)) next
    facts <- facts_found_again(fit$files[[i]])
    fit$genotypes$parts[[i]][c("path", "identity")] <- list(facts$path, facts$identity[[1]])
    fit$genotypes$parts[[i]]$index_identity <- facts$identity[-1]
    fit$genotypes$path[i] <- facts$path
    fit$files[[i]] <- facts
  }
  fit
}

# The facts of a file of a fit, which is searched by its path, then in the working directory.
facts_found_again <- function(file) {
  paths <- Filter(is_there, unique(c(file$path, basename(file$path))))
  for (path in paths) {
    facts <- known_facts(normalizePath(path), file)
    if (identical(contents_of(list(facts)), contents_of(list(file)))) {
      return(facts)
    }
  }
  refuse_file(
    file$path, "%s %s: put the file of the fit there, or into the working directory.",
    quoted(c(paths, file$path)[1]),
    if (length(paths)) {
      "has changed since the fit, which needs its genotypes"
    } else {
      "does not exist, but the fit needs its genotypes"
    }
  )
}
