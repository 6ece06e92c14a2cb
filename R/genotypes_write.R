#' Write genotypes as BED
#'
#' Writes chosen genotypes as PLINK 1 `.bed`, `.bim` and `.fam`:
#' `write_bed(g[keep, ], "kept.bed")`. All three files appear, or none. If several processes write
#' the same files, one at a time puts its files in place, the `.bed` last. Calls are never all in
#' memory at once.
#'
#' The counted allele becomes A1, so that a BED and its copy count the same allele. Numeric sample
#' columns other than the sex become phenotypes, with -9 if missing. Genetic positions are 0.
#'
#' @param g Genotypes, as from [open_genotypes()].
#' @param path Path of the `.bed` to write, with or without this extension. Its folder is made if it
#'   is missing.
#' @param overwrite Whether to replace existing files; `FALSE` (the default). The files of `g` are
#'   never replaced.
#' @inheritParams genotype_methods
#' @return The path of the `.bed`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: `path` is a file of `g`, or a file exists and `overwrite` is `FALSE`; or
#'   the ID of a sample or variant has a blank.
#' * `ancify_file_error` (field `file`): a file cannot be written, or the file of `g` cannot be
#'   read.
#' * `ancify_format_error` (fields `file`, `line`): a record of a PGEN is damaged.
#' @seealso [open_genotypes()]
#' @export
#' @examples
#' stem <- tempfile()
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0xdc, 0x0f, 0xe7, 0x0f, 0x6b, 0x01)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 %d", 1:6, 1:6, 11:16), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:3, 1:3), paste0(stem, ".bim"))
#'
#' g <- open_genotypes(stem)
#' written <- write_bed(g[g$samples$pheno1 > 12, ], tempfile())
#' open_genotypes(written)
write_bed <- function(g, path, overwrite = FALSE, threads = NULL, progress = interactive()) {
  check_args(g = check_genotypes, path = one_path(), overwrite = flag())
  stem <- sub("[.]bed$", "", path)
  work <- new_work(threads, progress = progress)
  dir.create(dirname(stem), showWarnings = FALSE, recursive = TRUE)
  for (file in paste0(stem, c(".bed", ".bim", ".fam"))) check_free(file, g, overwrite)
  check_without_blanks(g$samples, c("family", "id", "father", "mother", "PAT", "MAT"), ".fam")
  check_without_blanks(g$variants, c("chromosome", "id", "counted", "other"), ".bim")
  with_watch("Writing", function(watch) {
    write_bed_impl(core_genotypes(g), bed_files(g, stem, overwrite, work), watch)
  }, work$progress)
  invisible(paste0(stem, ".bed"))
}

bed_files <- function(g, stem, overwrite, work) {
  core_list(
    "BedFiles",
    stem = stem, bim = bim_lines(g$variants), fam = fam_lines(g$samples), overwrite = overwrite,
    work = work
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
  sex <- match(toupper(column(c("sex", "SEX"), 0)), c("1", "2", "M", "F"), 0)
  used <- c("family", "id", "father", "mother", "sex", "PAT", "MAT", "SEX", "SID")
  further <- Filter(is.numeric, samples[setdiff(names(samples), used)])
  phenotypes <- lapply(further, function(values) {
    ifelse(is.na(values), "-9", exact_text(values))
  })
  columns <- list(
    samples$family, samples$id, column(c("father", "PAT"), "0"), column(c("mother", "MAT"), "0"),
    c(0, 1, 2, 1, 2)[sex + 1]
  )
  if (length(phenotypes) == 0) phenotypes <- list("-9")
  enc2utf8(do.call(paste, c(columns, unname(phenotypes), sep = "\t")))
}
