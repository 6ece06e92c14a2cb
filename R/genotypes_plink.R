# Genotypes of PLINK: a .bed or .pgen and the tables beside it.

genotype_identity <- function(path) file_identity_impl(path)$identity

# Files have their own tables of variants.
refuse_variants <- function(variants) {
  if (!is.null(variants)) {
    abort_ancify("`variants` is for a matrix: a file says what its variants are.", "input")
  }
}

open_plink <- function(source, variants) {
  refuse_variants(variants)
  check_text(path_of(source), "source", "path or matrix")
  files <- genotype_files(check_path(source, "source"))
  list(
    path = files[["genotypes"]], identity = genotype_identity(files[["genotypes"]]), files = files,
    samples = genotype_samples(files[["samples"]]),
    variants = list2DF(with_watch("Reading", function(watch) {
      read_variants_impl(files[["variants"]], watch)
    }))
  )
}

# The paths of genotypes, samples and variants.
genotype_files <- function(path) {
  path <- path_of_genotypes(path)
  stem <- sub("[.](bed|pgen)$", "", path)
  endings <- list(samples = c("fam", "psam"), variants = c("bim", "pvar"))
  if (endsWith(path, ".pgen")) endings <- lapply(endings, rev)
  c(genotypes = path, vapply(endings, function(some) table_beside(stem, some), ""))
}

path_of_genotypes <- function(path) {
  if (!is_file(path)) {
    found <- Filter(is_file, paste0(path, c(".bed", ".pgen")))
    if (length(found) > 1) {
      abort_ancify(
        sprintf("`source` may be %s or %s: give it with its extension.", quoted(found[1]),
                quoted(found[2])),
        "input"
      )
    }
    if (length(found)) path <- found
  }
  check_is_file(path)
  normalizePath(path)
}

table_beside <- function(stem, endings) {
  paths <- paste0(stem, ".", rep(endings, each = 2), c("", ".gz"))
  found <- Filter(is_file, paths)
  if (length(found) == 0) {
    packed <- Filter(is_file, paste0(stem, ".", endings, ".zst"))
    abort_ancify(
      if (length(packed)) {
        sprintf("%s is compressed by Zstandard, which is not read: inflate it with zstd -d.",
                quoted(packed[1]))
      } else {
        sprintf("%s: there is no such file beside the genotypes, nor a .%s.", quoted(paths[1]),
                endings[2])
      },
      "file", file = paths[1]
    )
  }
  found[1]
}

genotype_samples <- function(path) {
  table <- with_watch("Reading", function(watch) read_samples_impl(path, watch))
  names <- if (length(table$names)) table$names else fam_columns(length(table$columns))
  columns <- Map(function(text, name) {
    if (!name %in% columns_of_ids) numbers_of(text, c("NA", "-9")) %||% text else text
  }, table$columns, names)
  names(columns) <- make.unique(c("family", "id", names))[-(1:2)]
  list2DF(c(table[c("family", "id")], columns))
}

# IDs such as 007 are no numbers.
columns_of_ids <- c("father", "mother", "PAT", "MAT", "SID")

# Names of the columns of a .fam after FID and IID
fam_columns <- function(n) {
  c("father", "mother", "sex", sprintf("pheno%d", seq_len(max(n - 3, 0))))[seq_len(n)]
}

# Texts as numbers, with NA for those that mean a missing one; NULL if another is no number.
numbers_of <- function(text, na) {
  numbers <- suppressWarnings(as.numeric(text))
  missing_numbers <- suppressWarnings(as.numeric(na))
  missing <- text %in% na | numbers %in% missing_numbers[!is.na(missing_numbers)]
  if (all(missing | is.finite(numbers))) replace(numbers, missing, NA)
}
