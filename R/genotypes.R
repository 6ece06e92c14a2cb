#' Open genotypes
#'
#' Opens the hard-called genotypes of a PLINK 1 BED or a PLINK 2 PGEN, with the tables beside it:
#' `g <- open_genotypes("mice.bed")`. The calls stay in the file. `g[samples, variants]` chooses
#' some of them, and [summary()][summary.ancify_genotypes] counts them.
#'
#' **Files.** Beside `mice.bed` lie `mice.fam` and `mice.bim`, beside `mice.pgen` lie `mice.psam`
#' and `mice.pvar`. A PGEN may have a `.fam` and a `.bim` too. The tables may be compressed by gzip.
#'
#' **Samples** are known by their IID, which must be unique. A further column of numbers is numeric,
#' with `NA` for NA and -9. The columns of a `.fam` are `father`, `mother`, `sex`, `pheno1`,
#' `pheno2` and so on; a `.psam` keeps its names.
#'
#' **Calls** are copies of the counted allele: A1 of a `.bim`, ALT of a `.pvar`. A PGEN must have
#' hard calls of two alleles alone. The error for any other says how PLINK 2 makes one of it.
#'
#' **Choices.** Samples and variants are chosen by position, by a logical vector, or by IID and
#' variant ID. They keep the order that is asked for, and each can be there only once.
#'
#' @param path Path of a `.bed` or `.pgen`, with or without this extension.
#' @return A list of class `ancify_genotypes`, with a method for `[`:
#'
#' | Field | Content |
#' | :--- | :--- |
#' | `path` | Absolute path of the genotypes. |
#' | `n_file` | Numbers of `samples` and `variants` in the file. |
#' | `samples` | Data frame of the chosen samples: `family`, `id`, and the table's other columns. |
#' | `variants` | Data frame: `chromosome`, `id`, `position`, `counted` and `other` allele. |
#' | `sample_index`, `variant_index` | Their numbers in the file, from 1. |
#' @section Errors:
#' * `ancify_file_error` (field `file`): a file is missing, cannot be read, or was changed since.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, or does not fit the others.
#'   Cases: a BED of another size, or stored sample by sample; an IID that is there twice; a
#'   position that is no whole number; dosages, phased calls or several ALT alleles in a PGEN.
#' * `ancify_input_error`: a choice names no sample or variant of `g`, or one of them twice.
#' @references
#' Purcell S et al. (2007) PLINK: a tool set for whole-genome association and population-based
#' linkage analyses. American Journal of Human Genetics 81: 559-575.
#'
#' Chang CC et al. (2015) Second-generation PLINK: rising to the challenge of larger and richer
#' datasets. GigaScience 4: 7.
#' @seealso [genotype_methods] for `dim()`, `as.matrix()` and others; [write_bed()],
#'   [read_phenotypes()]
#' @export
#' @examples
#' # Six samples and three variants
#' stem <- tempfile()
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0xdc, 0x0f, 0xe7, 0x0f, 0x6b, 0x01)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 %d", 1:6, 1:6, 11:16), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:3, 1:3), paste0(stem, ".bim"))
#'
#' g <- open_genotypes(stem)
#' g
#' as.matrix(g)
#' as.matrix(g[c("sample3", "sample1"), -1])
open_genotypes <- function(path) {
  check_given()
  files <- genotype_files(check_path(path, "path"))
  samples <- genotype_samples(files[["samples"]])
  variants <- list2DF(with_watch("Reading", function(watch) {
    read_variants_impl(files[["variants"]], watch)
  }))
  g <- structure(
    class = "ancify_genotypes",
    list(
      path = files[["genotypes"]], n_file = c(samples = nrow(samples), variants = nrow(variants)),
      samples = samples, variants = variants,
      sample_index = seq_len(nrow(samples)), variant_index = seq_len(nrow(variants)),
      file_ids = samples$id,
      files = files, identity = genotype_identity(files[["genotypes"]]), known = new.env()
    )
  )
  with_watch("Opening", function(watch) check_genotypes_impl(core_genotypes(g), watch))
  g
}

# What the core needs of chosen genotypes. The file must be the one that was opened.
core_genotypes <- function(g) {
  if (!identical(genotype_identity(g$path), g$identity)) {
    abort_ancify(
      sprintf("%s was changed since open_genotypes() opened it: open it again.", quoted(g$path)),
      "file", file = g$path
    )
  }
  list(
    path = g$path, samples_in_file = g$n_file[["samples"]],
    variants_in_file = g$n_file[["variants"]], sample_index = g$sample_index - 1L,
    variant_index = g$variant_index - 1
  )
}

genotype_identity <- function(path) file_identity_impl(path)$identity

# ---- Files --------------------------------------------------------------------------------------

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
        sprintf("`path` may be %s or %s: give it with its extension.", quoted(found[1]),
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
