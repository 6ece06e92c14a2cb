# Genotypes of PLINK: a .bed or .pgen and the tables beside it.

# Genotype files come with their own tables of variants.
refuse_variants <- function(variants) {
  refuse_if(!is.null(variants), "`variants` is for a matrix: a file says what its variants are.")
}

open_plink <- function(source, how) {
  refuse_variants(how$variants)
  check_text(path_of(source), "source", "path or matrix")
  files <- genotype_files(check_path(source, "source"))
  set <- read_whole_set(files[["genotypes"]], function() read_set(files))
  found <- c(set$content, identity = set$identity)
  if (wants_dosages(how)) {
    found$dosages <- found$dosages > 0
  } else {
    warn_of_dosages(found$dosages, files[["genotypes"]])
    found$dosages <- FALSE
  }
  c(list(path = files[["genotypes"]], files = c(files, index = names(found$index_identity))),
    replace(found, "variants", NULL), by_alt(found$variants, found$alts, how, files))
}

# The tables beside a genotype file, the number of variants with dosages, and the numbers of ALT
# alleles; NULL if all variants have one.
read_set <- function(files) {
  path <- files[["genotypes"]]
  samples <- genotype_samples(files[["samples"]], path)
  n <- nrow(samples)
  variants <- list2DF(with_watch("Reading", function(watch) {
    read_variants_impl(files[["variants"]], path, n, watch)
  }))
  is_pgen <- endsWith(files[["variants"]], ".pvar") || grepl("[.]pvar[.]", files[["variants"]])
  several <- if (is_pgen) grep(",", variants$counted, fixed = TRUE)
  alts <- if (length(several)) replace(rep(1L, nrow(variants)), several,
                                       lengths(strsplit(variants$counted[several], ",")))
  index_identity <- index_identity_of(path)
  dosages <- with_watch("Opening", function(watch) {
    check_genotypes_impl(path, n, nrow(variants), as.integer(alts), watch)
  }, inputs = index_identity)
  list(samples = samples, variants = variants, dosages = dosages, alts = alts,
       index_identity = index_identity)
}

# Splits variants with several ALT alleles, or leaves them out. Returns the table, the variants'
# indices among all alleles, the number of alleles, and counts of such variants.
by_alt <- function(variants, alts, how, files) {
  if (is.null(alts)) {
    return(list(variants = variants))
  }
  several <- rep(alts > 1, alts)
  n_split <- as.numeric(sum(alts > 1))
  rows <- chosen_rows(variants, rep(seq_along(alts), alts))
  if (how$multiallelic == "split") {
    rows$counted[several] <- unlist(strsplit(variants$counted[alts > 1], ",", fixed = TRUE))
    return(list(variants = rows, split = n_split))
  }
  if (all(several)) {
    abort_ancify(
      sprintf("%s has no variant of two alleles: it has %s with several ALT alleles.",
              quoted(files[["variants"]]), count_of(length(alts), "variant")),
      "format", file = files[["variants"]]
    )
  }
  list(variants = chosen_rows(rows, which(!several)), variant_index = which(!several),
       n_variants = length(several), left_out = c(multiallelic = n_split))
}

# `n`: the number of variants with dosages.
warn_of_dosages <- function(n, path) {
  if (n > 0) {
    warn_ancify(
      sprintf(
        paste("%s has dosages of %s, of which only the hard calls are read: set `dosages = TRUE`",
              "to read dosages, or write other calls with plink2 --hard-call-threshold."),
        quoted(path), count_of(n, "variant")
      ),
      "dosage", file = path
    )
  }
}

# The identity of a PGEN's index, named by its path; empty if the index is no file of its own.
index_identity_of <- function(path) {
  index <- Filter(is_file, paste0(path, ".pgi"))
  vapply(stats::setNames(nm = index), identity_of, "")
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
  stem <- sub("[.]bed$", "", path)
  await_writer(paste0(stem, ".bed"), c(path, paste0(path, c(".bed", ".pgen"))))
  if (!is_file(path)) {
    found <- Filter(is_file, paste0(path, c(".bed", ".pgen")))
    refuse_if(length(found) > 1, "`source` may be %s or %s: give it with its extension.",
              quoted(found[1]), quoted(found[2]))
    if (length(found)) path <- found
  }
  check_is_file(path)
  normalizePath(path, mustWork = FALSE)
}

table_beside <- function(stem, endings) {
  paths <- paste0(stem, ".", rep(endings, each = 3), c("", ".gz", ".zst"))
  found <- Filter(is_file, paths)
  refuse_file_if(length(found) == 0, paths[1],
                 "%s: there is no such file beside the genotypes, nor a .%s.", quoted(paths[1]),
                 endings[2])
  found[1]
}

genotype_samples <- function(path, genotypes, na = "-9") {
  sample_frame(with_watch("Reading", function(watch) read_samples_impl(path, genotypes, watch)), na)
}

# `table`: from the core's reader. `na`: strings that represent a missing phenotype, as in
# read_phenotypes().
sample_frame <- function(table, na = "-9") {
  names <- if (length(table$names)) table$names else fam_columns(length(table$columns))
  columns <- Map(function(text, name) {
    numbers <- if (!name %in% columns_of_ids) numbers_of_impl(text, na)
    if (is.numeric(numbers)) numbers else text
  }, table$columns, names)
  names(columns) <- make.unique(c("family", "id", names))[-(1:2)]
  list2DF(c(table[c("family", "id")], columns))
}

# IDs such as 007 must stay strings.
columns_of_ids <- c("father", "mother", "PAT", "MAT", "SID")

# Names of the columns of a .fam after FID and IID
fam_columns <- function(n) {
  c("father", "mother", "sex", sprintf("pheno%d", seq_len(max(n - 3, 0))))[seq_len(n)]
}
