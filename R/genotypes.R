#' Open genotypes
#'
#' Opens genotypes of PLINK, a VCF or BCF, VCF Zarr, a BGEN, or a matrix, as hard calls or dosages:
#' `g <- open_genotypes("mice.bed")`. `g[samples, variants]` chooses a subset, and
#' [summary()][summary.ancify_genotypes] counts calls.
#'
#' **PLINK.** `mice.bed` needs `mice.fam` and `mice.bim` beside it, `mice.pgen` needs `mice.psam`
#' and `mice.pvar`. A PGEN may also have a `.fam` and a `.bim`. The tables may be compressed by gzip
#' or Zstandard (`.pvar.zst`). A PGEN whose index is a file of its own needs it beside:
#' `mice.pgen.pgi`. The calls stay in the file. If [write_bed()] is replacing the files,
#' they are read again, so that all three are from the same write.
#'
#' **VCF and BCF** are read once, and again after a saved fit is loaded. Their SNPs are kept in
#' memory, at two bits a call and two bytes a dosage. `left_out` counts records with equal alleles
#' or an allele that is not a single base, and without GT (or dosages, if they are read). A haploid
#' call counts as homozygous, as in PLINK. A genotype with one missing allele is missing.
#'
#' **VCF Zarr** of version 0.4, such as `vcf2zarr convert` writes, is a folder: `cohort.vcz`. It has
#' the variants and calls that its VCF would have, but the calls stay in the folder. Chunks of calls
#' used last are kept in memory, at two bits a call: 256 MB, or two chunks of variants if these are
#' larger. Sites without GT have missing calls. Zarr's format 2 is read in C order, with Blosc,
#' Zstandard, zlib or no compression. Zarr's format 3 is not read: write the store with
#' `--zarr-format 2`. A chunk whose alleles are all equal need not be a file; a warning counts such
#' chunks, as they are missing in a partial copy too. Dosages of `call_DS` or `call_GP` are those of
#' the VCF, and kept in memory.
#'
#' **Several ALT alleles.** A variant of a PGEN, VCF, BCF or VCF Zarr with several ALT alleles is
#' split: each ALT allele becomes a variant with the same ID, and all other alleles count as the
#' other one. `bcftools norm -m -` splits them in the same way. ALT alleles of a VCF or VCF Zarr
#' that are no single base are left out, and calls of `*` are missing there. `split` counts these
#' variants; `multiallelic = "drop"` leaves them out.
#'
#' **BGEN** of layout 2 (versions 1.2 and 1.3) stays in the file. A call is the nearest whole number
#' of copies if the dosage is at most `hard_call_threshold` away, else missing, as in PLINK 2. A
#' haploid sample counts as homozygous, or is missing. `summary()` counts the dosages without a call
#' as `uncertain`. Chromosomes 01 to 09 are named 1 to 9. Variants are named by their rsID, or else
#' by their other ID. `left_out` counts variants of more than two alleles, and of one, which
#' are not read. PLINK 2 writes ALT as the second allele with `--export bgen-1.2 ref-first`.
#'
#' The samples of a BGEN are those of the `.sample` beside it, or else those in the file. The
#' `.sample` of Oxford has a line of names, a line of types, and a line for each sample. Its column
#' `missing` is not kept. If the BGEN has IDs too, they must agree with it. IDs of a `.sample` that
#' is given replace those of the BGEN.
#'
#' **Matrices** have a row for each sample, named by its ID, and a column for each variant. Values
#' are 0, 1, 2 or `NA`, or dosages. A `SnpMatrix` of snpStats counts its second allele. Calls are
#' kept in memory, at two bits each, and saved with a fit.
#'
#' **Samples** are identified by their IID, which must be unique. Further columns that contain only
#' numbers are numeric, with `NA` for NA and -9. The columns of a `.fam` are `father`, `mother`,
#' `sex`, `pheno1`, `pheno2` and so on; a `.psam` keeps its names.
#'
#' **Calls** are copies of the counted allele: A1 of a `.bim`, ALT of a `.pvar` or VCF, the second
#' allele of a BGEN. They have no phase.
#'
#' **Dosages** are expected numbers of copies, from 0 to 2. With `dosages = TRUE`, they are read
#' from a PGEN in steps of 1/16384, as they are stored there. A sample without a dosage has its
#' call, and a haploid one counts twice. Those of a BGEN are exact for probabilities of up to 14
#' bits, and rounded to 1/16384 otherwise. Those of a record of a VCF come from DS if it has that,
#' else from GP (the probabilities of genotypes). `dosages = "GP"` chooses a field, and a message
#' tells it. Up to 4 decimals are exact; other values are rounded to 1/16384 and counted. As in
#' PLINK 2, a sample without DS has its call, a haploid DS from 0 to 1 counts twice, and calls are
#' dosages at most 0.1 away. Beyond 6 decimals, dosages may differ from PLINK 2's by 1/16384, since
#' htslib reads them as 32-bit numbers. Matrices may hold dosages, with the same precision.
#' [summary()][summary.ancify_genotypes] and
#' [filter_variants()] then tell how well variants are imputed. Without `dosages = TRUE`, a warning
#' counts the variants of a PGEN with dosages. Dosages of several ALT alleles in a PGEN are an
#' error; PLINK 2 does not write them.
#'
#' **Several files** are one set: `open_genotypes(c("chr1.bed", "chr2.bed"))`,
#' `open_genotypes("chr{1:22,X}.pgen")`, or a list with a path in each line, whose name ends in
#' `.txt` or `.list`. Relative paths start at the working directory. Formats may differ. The
#' variants of one file follow those of another. Samples are matched by IID, in the order of the
#' first file. It gives their other columns; a sex may come from any file. A warning counts samples
#' that are not in all files: they are left out.
#'
#' **Sex.** A column `sex` (or `SEX`) of the samples says 1, `M` or `male`, or 2, `F` or `female`;
#' all else is unknown. To give it for a matrix or a VCF, set `g$samples$sex`. Analyses use it for
#' variants of X and Y. Pseudoautosomal variants are those of chromosome XY (25, PAR1, PAR2), see
#' [split_par()].
#'
#' **Choices.** Samples and variants are chosen by index, by a logical vector, or by IID and variant
#' ID. The result keeps the order of the choice. Each can be chosen only once.
#'
#' @param source Path of a `.bed` or `.pgen`, with or without this extension; path of a VCF,
#'   BCF or `.bgen`; path of a folder of VCF Zarr; several such paths, a pattern of paths such as
#'   `"chr{1:22}.bed"`, or a list of paths in a file; or a matrix.
#' @param variants For a matrix: a data frame with a row for each of its columns. It may have
#'   `chromosome`, `id`, `position`, `counted` and `other`, also under their names in snpStats's
#'   `read.plink()`. Missing columns are 0, except the IDs, which are then the matrix's column
#'   names. Rows whose IDs or row names are the column names are sorted in the order of the columns.
#'   `NULL` (the default): none.
#' @param multiallelic `"split"` (the default) or `"drop"`: what becomes of variants with several
#'   ALT alleles.
#' @param samples For BGENs: path of their `.sample`. `NULL` (the default): the file of the same
#'   name beside each, if there is one.
#' @param hard_call_threshold For BGENs: the largest distance of a dosage from its call, from 0 to
#'   0.5. `NULL` (the default): 0.1, as in PLINK 2, with a warning.
#' @param dosages Whether to read dosages; `FALSE` (the default). For a VCF or VCF Zarr also `"DS"`
#'   or `"GP"`, a field of FORMAT. Of several files, at least one must have dosages. Others give
#'   calls.
#' @return A list of class `ancify_genotypes`, with a method for `[`:
#'
#' | Field | Content |
#' | :--- | :--- |
#' | `path` | Absolute paths of the genotypes; for a matrix, a name derived from its values. |
#' | `n_file` | Numbers of `samples` in all files, and of `variants` (ALT alleles, SNPs of a VCF). |
#' | `samples` | Data frame of the chosen samples: `family`, `id`, and the table's other columns. |
#' | `variants` | Data frame: `chromosome`, `id`, `position`, `counted` and `other` allele. |
#' | `sample_index`, `variant_index` | Indices of the chosen ones among those of `n_file`, from 1. |
#' | `left_out` | Record counts: `multiallelic`, `not_snp`, `without_genotypes`, `one_allele`. |
#' | `split` | Number of variants with several ALT alleles that were split. |
#' @section Errors:
#' * `ancify_file_error` (field `file`): a file is missing, cannot be read, or was changed after it
#'   was opened.
#' * `ancify_format_error` (fields `file`, `line`): a file is damaged, or does not match the others.
#'   Cases: a BED of another size, or in sample-major order; an IID that occurs twice; a position
#'   that is not an integer; a PGEN of an unsupported storage mode; a BGEN of layout 1, or without
#'   IDs and `.sample`; no biallelic variant; a genotype of three alleles, a dosage beyond the
#'   copies, or no SNP, in a VCF; VCF Zarr of another layout, with a damaged chunk, or with arrays
#'   that do not fit together.
#' * `ancify_input_error`: a choice names no sample or variant of `g`, or one of them twice; a
#'   matrix has another value, or rows without unique names; files of a set share a variant, or no
#'   sample; `dosages` are wanted of files that have only hard calls.
#' * `ancify_samples_warning`: the files of a set have different samples.
#' * `ancify_chunks_warning` (field `file`): chunks of a VCF Zarr store are no files.
#' * `ancify_dosage_warning`: a PGEN has dosages, or a VCF or VCF Zarr has DS, but only hard calls
#'   are read; a BGEN is read without a `hard_call_threshold`.
#' @references
#' Purcell S et al. (2007) PLINK: a tool set for whole-genome association and population-based
#' linkage analyses. American Journal of Human Genetics 81: 559-575.
#'
#' Chang CC et al. (2015) Second-generation PLINK: rising to the challenge of larger and richer
#' datasets. GigaScience 4: 7.
#'
#' Band G, Marchini J (2018) BGEN: a binary file format for imputed genotype and haplotype data.
#' bioRxiv 308296.
#'
#' Czech E et al. (2024) Analysis-ready VCF at Biobank scale using Zarr. bioRxiv 2024.06.11.598241.
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
open_genotypes <- function(source, variants = NULL, multiallelic = "split", samples = NULL,
                           hard_call_threshold = NULL, dosages = FALSE) {
  check_args(multiallelic = choice(c("split", "drop")), samples = optional(file_in()),
             hard_call_threshold = optional(number(0, 0.5)), dosages = check_dosages)
  how <- list(variants = variants, multiallelic = multiallelic, samples = samples,
              hard_call_threshold = hard_call_threshold, dosages = dosages)
  parts <- lapply(genotype_sources_of(source), open_source, how)
  check_bgen_arguments(parts, how)
  check_dosages_of(parts, how)
  check_variants_once(parts)
  samples <- shared_samples(parts)
  left_out <- unlist(lapply(parts, `[[`, "left_out"))
  table <- do.call(Map, c(list(c), unname(lapply(parts, `[[`, "variants"))))
  begins <- part_begins(lapply(parts, `[[`, "n_variants"))
  structure(
    class = "ancify_genotypes",
    list(
      path = vapply(parts, `[[`, "", "path"),
      n_file = c(samples = nrow(samples), variants = begins[length(begins)]),
      samples = samples, variants = list2DF(table),
      chromosomes = lapply(parts, function(part) unique(as.character(part$variants$chromosome))),
      sample_index = seq_len(nrow(samples)),
      variant_index = unlist(Map(function(part, begin) begin + part$variant_index, parts,
                                 begins[-length(begins)])),
      left_out = if (length(left_out)) c(tapply(left_out, names(left_out), sum)),
      split = sum(0, unlist(lapply(parts, `[[`, "split"))),
      file_ids = samples$id, files = unlist(lapply(parts, `[[`, "files")),
      parts = lapply(parts, genotype_part, samples$id), token = new.env(), known = new.env()
    )
  )
}

# The source's path, files, samples, variants and so on, as its row of genotype_sources says.
open_source <- function(source, how) {
  kind <- Find(function(kind) genotype_sources[[kind]]$is(source), names(genotype_sources))
  found <- genotype_sources[[kind]]$open(source, how)
  n <- nrow(found$variants)
  found$variant_index <- found$variant_index %||% seq_len(n)
  found$n_variants <- found$n_variants %||% n
  c(found, kind = kind)
}

# Sources of genotypes; the first row whose is() is TRUE counts. open(source, how), where `how` has
# the further arguments of open_genotypes(), returns path, files, samples and variants. If some
# variants are left out, it also returns variant_index and n_variants. If some have several ALT
# alleles, it returns `alts`; for a BGEN, block_begins and hard_call_threshold; for a VCF Zarr
# store, places. `dosages` says whether analyses use the dosages of the file. `calls`
# are kept in memory: bytes, a list with dosages, or a pointer to them. A saved fit loses the
# pointer, and again(part) reads the calls again; their checksum must agree.
genotype_sources <- list(
  matrix = list(
    is = function(source) is.matrix(source) || methods::is(source, "SnpMatrix"),
    open = function(...) open_matrix(...)
  ),
  bgen = list(is = function(source) is_bgen_path(source), open = function(...) open_bgen(...)),
  vcf_zarr = list(
    is = function(source) is_vcf_zarr(source), open = function(...) open_vcf_zarr(...),
    again = function(...) dosages_of_store_again(...)
  ),
  records = list(
    is = function(source) is_record_file(source), open = function(...) open_records(...),
    again = function(...) calls_again(...)
  ),
  plink = list(is = function(source) TRUE, open = function(...) open_plink(...))
)

# The chosen genotypes for the core. No file may have changed since it was opened.
core_genotypes <- function(g) {
  core_list(
    "ChosenGenotypes",
    parts = lapply(g$parts, core_part), sample_index = g$sample_index - 1L,
    variant_index = g$variant_index - 1, masks = masks_of(g)
  )
}

core_part <- function(part) {
  refuse_file_if(!is.null(part$identity) && !identical(identity_of(part$path), part$identity),
                 part$path, "%s was changed since open_genotypes() opened it: open it again.",
                 quoted(part$path))
  core_list(
    "GenotypesOfPart",
    path = part$path, identity = part$identity, index_identity = part$index_identity,
    samples = part$samples,
    variants = if (is.null(part$alts)) part$variants else length(part$alts),
    order = if (!is.null(part$order)) part$order - 1, alts = part$alts,
    block_begins = part$block_begins, hard_call_threshold = part$hard_call_threshold,
    places = part$places, dosages = part$dosages,
    calls = calls_in_memory(part)
  )
}

# The parts of core_genotypes() without these fields; NULL for no genotypes.
without_fields <- function(chosen, fields) {
  if (!is.null(chosen)) {
    chosen$parts <- lapply(chosen$parts, function(part) part[setdiff(names(part), fields)])
  }
  chosen
}

# NULL if the core reads calls from their file. Saving a session loses the pointer to calls.
calls_in_memory <- function(part) {
  memory <- part$memory
  if (is_null_pointer(memory$calls)) {
    memory$calls <- genotype_sources[[part$kind]]$again(part)
  }
  memory$calls
}
