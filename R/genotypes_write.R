#' Write genotypes
#'
#' `write_bed(g[keep, ], "kept.bed")` writes chosen genotypes as PLINK 1 `.bed`, `.bim` and `.fam`;
#' `write_pgen()` writes them as PLINK 2 `.pgen`, `.pvar` and `.psam`. All three files appear, or
#' none. If several processes write the same files, one at a time puts its files in place, the calls
#' last. Calls are never all in memory at once.
#'
#' **BED.** The counted allele becomes A1, so that a BED and its copy count the same allele. Numeric
#' sample columns other than the sex become phenotypes, with -9 if missing. Genetic positions are 0.
#'
#' **PGEN.** The counted allele becomes ALT, and the other one REF. It is noted as provisional if
#' `g` comes from a BED, a BGEN or a matrix. The `.psam` has all sample columns that are numbers or
#' texts, with NA if missing. Calls have two bits each, as in storage mode 02.
#'
#' **Dosages** of `g` are written by `write_pgen()` in steps of 1/16384, beside calls, as in storage
#' mode 03. A BED has calls alone, which a message tells: those of `g`, for example dosages at most
#' 0.1 away.
#'
#' @param g Genotypes, as from [open_genotypes()].
#' @param path Path of the `.bed` or `.pgen` to write, with or without this extension. Its folder is
#'   made if it is missing.
#' @param overwrite Whether to replace existing files; `FALSE` (the default). The files of `g` are
#'   never replaced.
#' @inheritParams genotype_methods
#' @return The path of the `.bed` or `.pgen`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `path` is a file of `g`, or a file exists and `overwrite` is `FALSE`; or
#'   the ID of a sample or variant, or a sample's text, has a blank.
#' * `ancify_file_error` (field `file`): a file cannot be written, or the file of `g` cannot be
#'   read.
#' * `ancify_format_error` (fields `file`, `line`): a record of a PGEN is damaged.
#' @references
#' Chang CC et al. (2015) Second-generation PLINK: rising to the challenge of larger and richer
#' datasets. GigaScience 4: 7.
#' @seealso [open_genotypes()]
#' @name write_genotypes
#' @examples
#' stem <- tempfile()
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0xdc, 0x0f, 0xe7, 0x0f, 0x6b, 0x01)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 %d", 1:6, 1:6, 11:16), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:3, 1:3), paste0(stem, ".bim"))
#'
#' g <- open_genotypes(stem)
#' written <- write_bed(g[g$samples$pheno1 > 12, ], tempfile())
#' open_genotypes(written)
#' written <- write_pgen(open_genotypes(written), tempfile())
#' open_genotypes(written)
NULL

#' @rdname write_genotypes
#' @export
write_bed <- function(g, path, overwrite = FALSE, threads = NULL, progress = interactive()) {
  check_args(g = check_genotypes, path = one_path(), overwrite = flag())
  check_without_blanks(g$samples, c("family", "id", "father", "mother", "PAT", "MAT"), ".fam")
  check_without_blanks(g$variants, c("chromosome", "id", "counted", "other"), ".bim")
  if (gives_dosages(g)) {
    inform_ancify("A BED has no dosages: their hard calls are written. write_pgen() keeps dosages.")
  }
  tables <- list(bim_lines(g$variants), fam_lines(g$samples))
  write_genotypes(g, path, "bed", tables, overwrite, new_work(threads, progress = progress))
}

#' @rdname write_genotypes
#' @export
write_pgen <- function(g, path, overwrite = FALSE, threads = NULL, progress = interactive()) {
  check_args(g = check_genotypes, path = one_path(), overwrite = flag())
  columns <- psam_columns(g$samples)
  check_without_blanks(columns, names(columns), ".psam")
  check_without_blanks(list(name = names(columns)), "name", ".psam")
  check_without_blanks(g$variants, c("chromosome", "id", "counted", "other"), ".pvar")
  tables <- list(pvar_lines(g$variants), lines_of_columns(columns))
  write_genotypes(g, path, "pgen", tables, overwrite, new_work(threads, progress = progress))
}

# Endings of the files of a format, that of the calls first.
genotype_endings <- list(bed = c(".bed", ".bim", ".fam"), pgen = c(".pgen", ".pvar", ".psam"))

# `tables`: lines of the table of variants, and of that of samples.
write_genotypes <- function(g, path, format, tables, overwrite, work) {
  endings <- genotype_endings[[format]]
  others <- vapply(genotype_endings[names(genotype_endings) != format], `[`, "", 1)
  refuse_if(any(endsWith(path, others)), "`path` is %s, but a %s is written: end it with %s.",
            quoted(path), toupper(format), quoted(endings[1]))
  stem <- if (endsWith(path, endings[1])) sub("[.][a-z]+$", "", path) else path
  dir.create(dirname(stem), showWarnings = FALSE, recursive = TRUE)
  for (file in paste0(stem, endings)) check_free(file, g, overwrite)
  with_watch("Writing", function(watch) {
    files <- files_to_write(g, stem, format, tables, overwrite, work)
    write_genotypes_impl(core_genotypes(g), files, watch)
  }, work$progress)
  invisible(paste0(stem, endings[1]))
}

files_to_write <- function(g, stem, format, tables, overwrite, work) {
  core_list(
    "GenotypeFiles",
    format = format, stem = stem, variants = tables[[1]], samples = tables[[2]],
    known_reference = has_reference_alleles(g), overwrite = overwrite, work = work
  )
}

check_genotypes <- of_class("ancify_genotypes", "genotypes as from open_genotypes()")

check_free <- function(file, g, overwrite) {
  if (!is_there(file)) {
    return(invisible())
  }
  refuse_if(normalizePath(file, mustWork = FALSE) %in% normalizePath(g$files),
            "%s is a file of `g`, which is read: choose another `path`.", quoted(file))
  refuse_if(!overwrite, "%s exists: choose another `path`, or set `overwrite = TRUE`.",
            quoted(file))
}

# Blanks separate the columns of PLINK's tables.
check_without_blanks <- function(table, columns, ending) {
  for (name in intersect(columns, names(table))) {
    bad <- grep("^$|[[:space:]]", table[[name]])
    refuse_if(length(bad),
              "A %s cannot hold the %s %s, which is empty or has a blank: rename it first.", ending,
              name, quoted(table[[name]][bad[1]]))
  }
}

bim_lines <- function(variants) {
  columns <- variants[c("chromosome", "id", "position", "counted", "other")]
  columns <- append(as.list(columns), 0, after = 2) # centimorgans
  enc2utf8(do.call(paste, c(unname(columns), sep = "\t")))
}

fam_lines <- function(samples) {
  column <- function(names, otherwise) {
    found <- intersect(names, names(samples))
    if (length(found)) samples[[found[1]]] else rep(otherwise, nrow(samples))
  }
  sex <- sex_codes(column(c("sex", "SEX"), 0))
  used <- c("family", "id", "father", "mother", "sex", "PAT", "MAT", "SEX", "SID")
  further <- Filter(is.numeric, samples[setdiff(names(samples), used)])
  phenotypes <- lapply(further, function(values) {
    ifelse(is.na(values), "-9", exact_text(values))
  })
  columns <- list(
    samples$family, samples$id, column(c("father", "PAT"), "0"), column(c("mother", "MAT"), "0"),
    sex
  )
  if (length(phenotypes) == 0) phenotypes <- list("-9")
  enc2utf8(do.call(paste, c(columns, unname(phenotypes), sep = "\t")))
}

# Whether other alleles are those of the reference genome: REF, and not A2 or of a matrix.
has_reference_alleles <- function(g) {
  all(vapply(g$parts, function(part) {
    part$kind %in% c("records", "vcf_zarr") ||
      part$kind == "plink" && !endsWith(part$path, ".bed")
  }, NA))
}

pvar_lines <- function(variants) {
  columns <- stats::setNames(variants[c("chromosome", "position", "id", "other", "counted")],
                             c("#CHROM", "POS", "ID", "REF", "ALT"))
  lines_of_columns(columns)
}

# The columns of a .psam: IDs, parents, sex, then the others.
psam_columns <- function(samples) {
  named <- c(family = "#FID", id = "IID", SID = "SID", father = "PAT", PAT = "PAT",
             mother = "MAT", MAT = "MAT", sex = "SEX", SEX = "SEX")
  first <- intersect(names(named), names(samples))
  columns <- stats::setNames(samples[first], named[first])
  if (!is.null(columns$SEX)) columns$SEX <- sex_codes(columns$SEX)
  others <- Filter(function(x) is.numeric(x) || is.character(x),
                   samples[setdiff(names(samples), first)])
  lapply(c(as.list(columns), others), function(values) {
    text <- if (is.numeric(values)) exact_text(values) else values
    ifelse(is.na(values) | !nzchar(text), "NA", text)
  })
}

# A header and a line for each row, separated by tabs.
lines_of_columns <- function(columns) {
  rows <- do.call(paste, c(unname(as.list(columns)), sep = "\t"))
  enc2utf8(c(paste(names(columns), collapse = "\t"), rows))
}
