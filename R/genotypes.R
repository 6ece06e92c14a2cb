#' Open genotypes
#'
#' Opens hard-called genotypes of PLINK, a VCF or BCF, or a matrix:
#' `g <- open_genotypes("mice.bed")`. `g[samples, variants]` chooses a subset, and
#' [summary()][summary.ancify_genotypes] counts calls.
#'
#' **PLINK.** `mice.bed` needs `mice.fam` and `mice.bim` beside it, `mice.pgen` needs `mice.psam`
#' and `mice.pvar`. A PGEN may also have a `.fam` and a `.bim`. The tables may be compressed by gzip
#' or Zstandard (`.pvar.zst`). The calls stay in the file. If [write_bed()] is replacing the files,
#' they are read again, so that all three are from the same write.
#'
#' **VCF and BCF** are read once, and again after a saved fit is loaded. Their biallelic SNPs are
#' kept in memory, at two bits a call. `left_out` counts records with more alleles, with equal
#' alleles or an allele that is not a single base, and without GT. A haploid call counts as
#' homozygous, as in PLINK. A genotype with one missing allele is missing.
#'
#' **Matrices** have a row for each sample, named by its ID, and a column for each variant. Values
#' are 0, 1, 2 or `NA`. A `SnpMatrix` of snpStats counts its second allele. Calls are kept in
#' memory, at two bits each, and saved with a fit.
#'
#' **Samples** are identified by their IID, which must be unique. Further columns that contain only
#' numbers are numeric, with `NA` for NA and -9. The columns of a `.fam` are `father`, `mother`,
#' `sex`, `pheno1`, `pheno2` and so on; a `.psam` keeps its names.
#'
#' **Calls** are copies of the counted allele: A1 of a `.bim`, ALT of a `.pvar` or VCF. From a PGEN,
#' only hard calls are read, without phase. A warning counts variants with dosages. Variants with
#' several ALT alleles are left out and counted, as in a VCF.
#'
#' **Choices.** Samples and variants are chosen by index, by a logical vector, or by IID and variant
#' ID. The result keeps the order of the choice. Each can be chosen only once.
#'
#' @param source Path of a `.bed` or `.pgen`, with or without this extension; path of a VCF or BCF;
#'   or a matrix.
#' @param variants For a matrix: a data frame with a row for each of its columns. It may have
#'   `chromosome`, `id`, `position`, `counted` and `other`, also under their names in snpStats's
#'   `read.plink()`. Missing columns are 0, except the IDs, which are then the matrix's column
#'   names. Rows whose IDs or row names are the column names are sorted in the order of the columns.
#'   `NULL` (the default): none.
#' @return A list of class `ancify_genotypes`, with a method for `[`:
#'
#' | Field | Content |
#' | :--- | :--- |
#' | `path` | Absolute path of the genotypes; for a matrix, a name derived from its values. |
#' | `n_file` | Numbers of `samples` and `variants` in the file; for a VCF, those that are read. |
#' | `samples` | Data frame of the chosen samples: `family`, `id`, and the table's other columns. |
#' | `variants` | Data frame: `chromosome`, `id`, `position`, `counted` and `other` allele. |
#' | `sample_index`, `variant_index` | Indices of samples and variants in the file, from 1. |
#' | `left_out` | Numbers of `multiallelic` records; in a VCF also `not_snp`, `without_genotypes`. |
#' @section Errors:
#' * `ancify_file_error` (field `file`): a file is missing, cannot be read, or was changed after it
#'   was opened.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, or does not match the others.
#'   Cases: a BED of another size, or in sample-major order; an IID that occurs twice; a position
#'   that is not an integer; a PGEN of an unsupported storage mode; no biallelic variant; a genotype
#'   of three alleles, or no SNP, in a VCF.
#' * `ancify_input_error`: a choice names no sample or variant of `g`, or one of them twice; a
#'   matrix has another value, or rows without unique names.
#' * `ancify_dosage_warning`: a PGEN has dosages, but only its hard calls are read.
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
#'
#' calls <- matrix(c(0, 1, 2, NA), 2, dimnames = list(c("a", "b"), c("snp1", "snp2")))
#' open_genotypes(calls, data.frame(chromosome = "1", position = c(100, 200)))
open_genotypes <- function(source, variants = NULL) {
  check_given()
  kind <- names(genotype_sources)[vapply(genotype_sources, function(row) row$is(source), NA)][1]
  found <- genotype_sources[[kind]]$open(source, variants)
  rows <- seq_len(nrow(found$variants))
  structure(
    class = "ancify_genotypes",
    list(
      path = found$path, n_file = c(samples = nrow(found$samples),
                 variants = found$n_variants %||% length(rows)),
      samples = found$samples, variants = found$variants,
      chromosomes = unique(as.character(found$variants$chromosome)),
      sample_index = seq_len(nrow(found$samples)),
      variant_index = found$variant_index %||% rows,
      left_out = found$left_out, file_ids = found$samples$id, files = found$files,
      identity = found$identity, kind = kind,
      memory = list2env(list(calls = found$calls, checksum = found$checksum, token = new.env())),
      known = new.env()
    )
  )
}

# Sources of genotypes; the first row whose is() is TRUE counts. open() returns path, files, samples
# and variants; variant_index and n_variants if some are left out; and calls kept in memory: bytes,
# or a pointer to them. A saved fit loses the pointer, and again() reads the calls again; their
# checksum must agree.
genotype_sources <- list(
  matrix = list(
    is = function(source) is.matrix(source) || methods::is(source, "SnpMatrix"),
    open = function(...) open_matrix(...)
  ),
  records = list(
    is = function(source) is_record_file(source), open = function(...) open_records(...),
    again = function(...) calls_again(...)
  ),
  plink = list(is = function(source) TRUE, open = function(...) open_plink(...))
)

# The chosen genotypes for the core. The file must not have changed since it was opened.
core_genotypes <- function(g) {
  refuse_file_if(!is.null(g$identity) && !identical(identity_of(g$path), g$identity), g$path,
                 "%s was changed since open_genotypes() opened it: open it again.", quoted(g$path))
  core_list(
    "ChosenGenotypes",
    path = g$path, identity = g$identity, samples_in_file = g$n_file[["samples"]],
    variants_in_file = g$n_file[["variants"]], sample_index = g$sample_index - 1L,
    variant_index = g$variant_index - 1, calls = calls_in_memory(g)
  )
}

# NULL if the core reads calls from their file. Saving a session loses the pointer to calls.
calls_in_memory <- function(g) {
  if (is_null_pointer(g$memory$calls)) {
    g$memory$calls <- genotype_sources[[g$kind]]$again(g$path, g$identity, g$memory$checksum)
  }
  g$memory$calls
}
