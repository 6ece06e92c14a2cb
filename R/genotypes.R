#' Open genotypes
#'
#' Opens a file of hard-called genotypes with the tables beside it. The genotypes stay in the file.
#'
#' @param path Path of a PLINK 1 BED or a PLINK 2 PGEN, with or without its extension.
#' @return A list of class `ancify_genotypes`.
#' @export
open_genotypes <- function(path) {
  check_given()
  files <- genotype_files(check_path(path, "path"))
  samples <- genotype_samples(files$samples)
  variants <- with_watch("Reading", function(watch) read_variants_impl(files$variants, watch))
  g <- new_genotypes(
    files, c(samples = nrow(samples), variants = length(variants$id)), samples,
    list2DF(variants)
  )
  with_watch("Opening", function(watch) check_genotypes_impl(core_genotypes(g), watch))
  g
}

new_genotypes <- function(files, n_file, samples, variants) {
  structure(
    class = "ancify_genotypes",
    list(
      path = files$genotypes, n_file = n_file, samples = samples, variants = variants,
      sample_index = seq_len(nrow(samples)), variant_index = seq_len(nrow(variants)),
      files = files
    )
  )
}

# What the core needs of chosen genotypes.
core_genotypes <- function(g) {
  list(
    path = g$path, samples_in_file = g$n_file[["samples"]],
    variants_in_file = g$n_file[["variants"]], sample_index = g$sample_index - 1L,
    variant_index = as.numeric(g$variant_index) - 1
  )
}

# ---- Files --------------------------------------------------------------------------------------

# The paths of genotypes and their tables.
genotype_files <- function(path) {
  if (!is_file(path)) {
    found <- Filter(is_file, paste0(path, c(".bed", ".pgen")))
    if (length(found) > 1) {
      abort_ancify(
        sprintf("There are %s: give the one to open.", enumerate(quoted(found))), "input"
      )
    }
    path <- if (length(found)) found else path
  }
  check_is_file(path)
  path <- normalizePath(path)
  stem <- sub("[.](bed|pgen)$", "", path)
  newer_first <- endsWith(path, ".pgen")
  tables <- list(samples = c("fam", "psam"), variants = c("bim", "pvar"))
  if (newer_first) tables <- lapply(tables, rev)
  c(list(genotypes = path), lapply(tables, function(endings) table_beside(stem, endings)))
}

table_beside <- function(stem, endings) {
  candidates <- paste0(stem, ".", rep(endings, each = 2), c("", ".gz"))
  found <- Filter(is_file, candidates)
  if (length(found) == 0) {
    abort_ancify(
      sprintf("%s: there is no such file, nor %s. It must lie beside the genotypes.",
              quoted(candidates[1]), enumerate(quoted(candidates[-1]))),
      "file", file = candidates[1]
    )
  }
  found[1]
}

genotype_samples <- function(path) {
  table <- with_watch("Reading", function(watch) read_samples_impl(path, watch))
  n <- length(table$columns)
  names <- if (length(table$names)) table$names else fam_columns(n)
  columns <- stats::setNames(lapply(table$columns, sample_column), names)
  data.frame(
    family = table$family, id = table$id, columns, check.names = FALSE, stringsAsFactors = FALSE
  )
}

fam_columns <- function(n) {
  c("father", "mother", "sex", sprintf("pheno%d", seq_len(max(n - 3, 0))))[seq_len(n)]
}

sample_column <- function(text) {
  missing <- text %in% c("NA", "-9")
  numbers <- suppressWarnings(as.numeric(text[!missing]))
  if (anyNA(numbers)) {
    return(text)
  }
  values <- rep(NA_real_, length(text))
  values[!missing] <- numbers
  values
}

# ---- Methods ------------------------------------------------------------------------------------

#' @export
dim.ancify_genotypes <- function(x) c(length(x$sample_index), length(x$variant_index))

#' @export
dimnames.ancify_genotypes <- function(x) list(x$samples$id, x$variants$id)

#' @export
`[.ancify_genotypes` <- function(x, i, j, ...) {
  if (!missing(i)) {
    rows <- chosen_positions(i, x$samples$id, "sample")
    x$samples <- x$samples[rows, , drop = FALSE]
    rownames(x$samples) <- NULL
    x$sample_index <- x$sample_index[rows]
  }
  if (!missing(j)) {
    columns <- chosen_positions(j, x$variants$id, "variant")
    x$variants <- x$variants[columns, , drop = FALSE]
    rownames(x$variants) <- NULL
    x$variant_index <- x$variant_index[columns]
  }
  x
}

chosen_positions <- function(wanted, ids, what) {
  if (is.character(wanted)) {
    positions <- match(wanted, ids)
    if (anyNA(positions)) {
      abort_ancify(
        sprintf("There is no %s %s.", what, quoted(wanted[is.na(positions)][1])), "input"
      )
    }
    return(positions)
  }
  seq_along(ids)[wanted]
}

#' @export
as.matrix.ancify_genotypes <- function(x, ..., threads = NULL, progress = interactive()) {
  calls <- with_watch("Reading", function(watch) {
    genotype_matrix_impl(core_genotypes(x), resolve_threads(threads), watch)
  }, progress)
  dimnames(calls) <- dimnames(x)
  calls
}

#' @export
print.ancify_genotypes <- function(x, ...) {
  write_object(
    "ancify_genotypes",
    c(count_of(nrow(x), "sample"), count_of(ncol(x), "variant")), c(file = x$path)
  )
  invisible(x)
}
