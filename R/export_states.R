#' Export ancestral states to other programs
#'
#' Writes the calls of a run in the formats in which other programs read ancestral states:
#' `export_states(run, "tsinfer", "states.tsv", sites = "variants.vcf.gz")`.
#'
#' | `format` | Program | `out` | Content |
#' | --- | --- | --- | --- |
#' | `tsinfer` | tsinfer (`VariantData`) | a file | table of the states of `sites`, in their order |
#' | `relate` | Relate | a folder | FASTA, `<chromosome>.fa`; `N` without a call |
#' | `slim` | SLiM, nucleotide-based models | a folder | FASTA, `<chromosome>.fa`; only A, C, G, T |
#' | `fasta` | samtools, bcftools, ANGSD, VEP | a file | FASTA of all chromosomes, with an index |
#' | `bed` | genome browsers, bedtools | a file | BED, whose names are confidences |
#' | `bigbed` | genome browsers | a file | BED's rows in bigBed format, by the package rtracklayer |
#'
#' All bases are in upper case, even with low confidence; only `fasta` keeps the letters of the run.
#' An existing file is replaced when the new one is complete.
#'
#' @section tsinfer:
#' The table has the tab-separated columns `chromosome`, `position` and `ancestral_state`: A, C, G
#' or T, else `N`, which tsinfer takes for unknown. It has a row for each record of the VCF, and so
#' matches the VCF Zarr that `vcf2zarr` makes from the same file. In Python:
#'
#' ```python
#' states = numpy.loadtxt("states.tsv", dtype=str, skiprows=1, usecols=2, ndmin=1)
#' data = tsinfer.VariantData("variants.vcz", ancestral_state=states)
#' ```
#'
#' With a `site_mask` of sites to leave out, give `states[~site_mask]`.
#'
#' @section Relate:
#' Relate drops variants without a base:
#'
#' ```sh
#' RelateFileFormats --mode FlipHapsUsingAncestor --ancestor relate/chr1.fa \
#'   --haps chr1.haps --sample chr1.sample -o chr1_ancestral
#' ```
#'
#' @section SLiM:
#' SLiM does not allow unknown bases. A position without a call gets the base of `reference`, as if
#' it had not changed. A position without either base, such as in a centromere, gets `A`. The result
#' counts both kinds; leave such positions out of analyses. In Eidos, after
#' `initializeSLiMOptions(nucleotideBased=T)`:
#'
#' ```
#' initializeAncestralNucleotides("slim/chr1.fa");
#' ```
#'
#' @section FASTA of all chromosomes:
#' Chromosomes have the order of the run. The letters of the run stay unchanged: lower case for low
#' confidence, `n` for unresolved positions, and `N` for missing ones.
#'
#' A name in `.fa`, `.fasta` or `.fna` gives plain text. A further `.gz` gives text compressed by
#' bgzip. The index `<out>.fai` is written too, for bgzip also `<out>.gzi`, so programs find any
#' region at once:
#'
#' ```sh
#' samtools faidx ancestral.fa.gz chr1:2001-2010
#' angsd -bam bams.txt -anc ancestral.fa.gz -doSaf 1 -GL 1 -out saf
#' bcftools +fill-from-fasta in.vcf.gz -- -c AA -f ancestral.fa.gz -h aa.hdr -i 'TYPE="snp"'
#' zcat ancestral.fa.gz | sed 's/^>/>ancestral:run:/' | bgzip > vep.fa.gz
#' vep -i in.vcf.gz --cache --plugin AncestralAllele,vep.fa.gz
#' ```
#'
#' VEP's plugin AncestralAllele takes the third part of a name, as in Ensembl's files, hence the
#' `sed`. The file `aa.hdr` has the line
#' `##INFO=<ID=AA,Number=1,Type=String,Description="Ancestral allele">`.
#'
#' In R, `Rsamtools::FaFile(out)` has methods `seqinfo()` and `getSeq()`. `getSeq()`, bcftools and
#' ANGSD ignore the case, and so take calls of low confidence too. `low_confidence = FALSE` writes
#' `N` for them. ANGSD requires an index that is newer than its file, so the FASTA file is dated a
#' second back.
#'
#' Unlike [annotate_vcf()], these programs do not leave out masked positions, or records whose REF
#' differs from the genome.
#'
#' @section BED and bigBed:
#' With `sites`, the file has a row for each single-base position, sorted and without repeats.
#' Otherwise it has a row for each stretch of equal confidence. Names are `high`, `low`,
#' `unresolved` and `missing`, as in [read_confidence()].
#'
#' @section ARGweaver:
#' ARGweaver takes no ancestral states: it has Jukes and Cantor's mutation model. To mask positions
#' without a call (`--maskmap`), use the rows `missing` and `unresolved` of a `bed`.
#'
#' @param run The result of [ancify_run()], or its output folder, as in [read_ancestral()].
#' @param format The program or format, as in the table.
#' @param out Path of the file or folder to write, see the table. Missing folders are created.
#' @param sites Positions, required by `tsinfer` and optional for `bed` and `bigbed`. `NULL` (the
#'   default): none. Otherwise:
#'   * the path of a VCF or BCF, or a `VcfFile`. Records with an allele that is not a single base
#'     get `N`, and no row of a BED. Records whose `AA_reason` is `MASKED` or `REF_MISMATCH` are
#'     treated likewise;
#'   * a data frame of `chromosome` and `position`, from 1;
#'   * a `GRanges`, or other regions that [read_ancestral()] takes; regions of several bases are
#'     also treated likewise.
#' @param reference The focal genome, required by `slim` and not allowed with other formats. A FASTA
#'   or 2bit file, a folder of `<chromosome>.fa`, or a path with `{chrom}` or `{chrom_id}`, as in
#'   [annotate_vcf()].
#' @param chromosomes Names of the chromosomes to write; `NULL` (the default) for all. Not with
#'   `sites`.
#' @param low_confidence Whether to use calls of low confidence; `TRUE` (the default). With `FALSE`,
#'   they count as missing. Not for `bed` and `bigbed`, which name each confidence.
#' @param width Number of letters in a line of a `fasta`; `NULL` (the default) for 60. Not allowed
#'   with other formats.
#' @param threads Number of threads that compress a `fasta`; `NULL` (the default) for
#'   `getOption("ancify.threads")`, or all cores.
#' @inheritParams project_axt
#' @return A data frame with a row for each written file, except indexes:
#'
#'   | Column | Value |
#'   | --- | --- |
#'   | `chromosome` | its chromosome; `NA` for a file of all chromosomes |
#'   | `file` | its path |
#'   | `called` | number of positions (or sites) with a call |
#'   | `filled` | number of positions without a call that get the base of `reference` |
#'   | `unknown` | number of positions without either |
#' @section Errors:
#' * `ancify_calls_warning`: calls of several configurations in one folder are read together.
#' * `ancify_input_error`: `format` is unknown, lacks an argument or does not take a given one. Or
#'   `sites` are of another type, have no chromosome of the run, or lie beyond its end. Or
#'   `reference` lacks a chromosome or has another length. Or `out` would replace an input file, or
#'   be read as a chromosome of the run.
#' * `ancify_file_error`: a file cannot be read or written.
#' * `ancify_format_error`: calls are not one-line FASTA, or the VCF is damaged.
#' * `ancify_package_error`: ancify was built without htslib (for a VCF, or a `fasta` in `.gz`), or
#'   rtracklayer is not installed (for `bigbed`).
#' * `ancify_annotation_warning`: some chromosomes of `sites` have no calls.
#' @references
#' Kelleher and others (2019) Inferring whole-genome histories in large population datasets. Nature
#' Genetics 51:1330-1338.
#'
#' Speidel and others (2019) A method for genome-wide genealogy estimation for thousands of samples.
#' Nature Genetics 51:1321-1329.
#'
#' Haller and Messer (2019) SLiM 3: forward genetic simulations beyond the Wright-Fisher model.
#' Molecular Biology and Evolution 36:632-637.
#' Danecek and others (2021) Twelve years of SAMtools and BCFtools. GigaScience 10:giab008.
#' @seealso [annotate_vcf()] for programs that read `AA` of a VCF, and for polarised genotypes;
#'   [read_confidence()] for ranges of equal confidence; [export_posterior()], [read_ancestral()]
#' @export
#' @examples
#' run <- ancify_run(ancify_example(), threads = 1, verbose = FALSE)
#' out <- tempfile()
#'
#' sites <- data.frame(chromosome = "chr1", position = c(2001, 2005, 2040))
#' export_states(run, "tsinfer", file.path(out, "states.tsv"), sites = sites)
#' readLines(file.path(out, "states.tsv"))
#'
#' export_states(run, "relate", file.path(out, "relate"))
#' export_states(run, "bed", file.path(out, "confidence.bed"), chromosomes = "chr1")
#' readLines(file.path(out, "confidence.bed"), 3)
#'
#' fasta <- file.path(out, "ancestral.fa")
#' export_states(run, "fasta", fasta, threads = 1)
#' readLines(paste0(fasta, ".fai"))
#' \donttest{ # Rsamtools alone takes seconds to load
#' if (requireNamespace("Rsamtools", quietly = TRUE)) {
#'   genome <- Rsamtools::FaFile(fasta)
#'   print(Rsamtools::seqinfo(genome))
#'   print(Rsamtools::getSeq(genome, GenomicRanges::GRanges("chr1:2001-2040")))
#' }
#' }
export_states <- function(run, format, out, sites = NULL, reference = NULL, chromosomes = NULL,
                          low_confidence = TRUE, width = NULL, threads = NULL,
                          progress = interactive()) {
  check_args(format = choice(names(state_formats())))
  row <- state_formats()[[format]]
  check_for_format(sites, "sites", row$sites, format)
  check_for_format(reference, "reference", row$reference, format)
  check_flag(low_confidence, "low_confidence")
  if (!low_confidence) check_for_format(low_confidence, "low_confidence", row$confidence, format)
  check_for_format(width, "width", row$width, format)
  work <- new_work(threads, progress = progress)
  calls <- call_files(run)
  files <- files_to_export(calls, chromosomes, sites)
  check_args(out = one_path(), reference = optional(one_path()), width = optional(whole()))
  sites <- read_sites(sites, progress)
  # `calls` has all chromosomes: calls that are not exported must not be replaced either.
  written <- paste0(out, c("", row$indexes))
  for (path in written) {
    refuse_same_file(path, run = c(calls$file, inputs_of_run(run)), sites = attr(sites, "path"))
  }
  row$write(
    files = files, out = out, sites = sites, reference = reference,
    low_confidence = low_confidence, width = width, work = work, progress = progress
  )
}

# The files that a run read, as far as its configuration is known.
inputs_of_run <- function(run) {
  recorded <- !inherits(run, "ancify_run") && !is.null(record_in(run))
  config <- attr(if (recorded) read_run_record(run) else run, "config")
  paths <- unlist(Filter(is.character, list(
    config$file, config$chromosome_lengths, config$chromosome_aliases, config$focal_fasta,
    config$outgroups$alignment, config$outgroups$twobit
  )))
  paths[!is.na(paths)]
}

# The table of formats. Each has a function that gets all arguments by name and returns the table of
# the help page. Each also states whether an optional argument is required, allowed or refused.
state_formats <- function() {
  format <- function(write, sites = "never", reference = "never", confidence = "may",
                     width = "never", indexes = NULL) {
    list(write = write, sites = sites, reference = reference, confidence = confidence,
         width = width, indexes = indexes)
  }
  list(
    tsinfer = format(export_tsinfer, sites = "must"),
    relate = format(export_relate),
    slim = format(export_slim, reference = "must"),
    fasta = format(export_fasta, width = "may", indexes = c(".fai", ".gzi")),
    bed = format(export_bed, sites = "may", confidence = "never"),
    bigbed = format(export_bigbed, sites = "may", confidence = "never")
  )
}

check_for_format <- function(value, name, use, format) {
  problem <- if (use == "must" && is.null(value)) {
    "needs `%s`: give it"
  } else if (use == "never" && !is.null(value)) {
    "does not take `%s`: leave it out"
  }
  refuse_if(!is.null(problem), paste0("Format %s ", problem, "."), quoted(format), name)
}

# The rows of call_files() for these chromosomes.
files_to_export <- function(files, chromosomes, sites) {
  if (is.null(chromosomes)) {
    return(files)
  }
  refuse_if(!is.null(sites), "`sites` have chromosomes of their own: leave `chromosomes` out.")
  unknown <- setdiff(chromosomes, files$chromosome)
  must_be(is.character(chromosomes) && length(chromosomes) && !length(unknown), chromosomes,
          "chromosomes", sprintf("among %s", enumerate(quoted(files$chromosome))))
  files[match(unique(chromosomes), files$chromosome), ]
}
