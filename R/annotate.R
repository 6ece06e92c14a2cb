#' Write ancestral alleles into a VCF
#'
#' Copies a VCF or BCF, record by record and in their order, and puts the ancestral
#' allele of each into its INFO: what tools for site frequency spectra read.
#'
#' Three fields are written, declared in the header; what was there under these names is
#' replaced, and an `AA_post` of other calls removed. The rest of a record stays as it is,
#' but for how htslib keeps numbers: QUAL and fields of the type Float with six digits
#' (`0.000` becomes `0`), and what is no 32-bit number in a field of the type Integer as `.`.
#' * `AA`: the base called, in upper case where the call's confidence is high and in lower
#'   case where it is low, as the calls have it. It is left out where no base is called, and
#'   where an allele is no single base.
#' * `AA_prob`: the posterior of `AA`, where `ancestral` is the folder of a run with
#'   `posterior: true`; the files have it to a phred, 1 - 10^(-q / 10).
#' * `AA_reason`: whether the record's ancestral allele can be used, the first that holds:
#'
#'   | | |
#'   | --- | --- |
#'   | `INDEL` | an allele is no single base (also `*` and `<DEL>`) |
#'   | `MULTIALLELIC` | there are several ALTs |
#'   | `REF_MISMATCH` | REF is another base than `reference` has there |
#'   | `MASKED` | it is in `mask` |
#'   | `NO_COVERAGE` | the call is `N` (elsewhere also `-` or `.`), or there is no sequence |
#'   | `UNRESOLVED` | the call is `n` |
#'   | `NEITHER_ALLELE` | the base called is neither REF nor ALT |
#'   | `LOW` | it is one of them, of low confidence |
#'   | `OK` | it is one of them, of high confidence |
#'
#' Chromosomes may be named with or without a leading `chr` in all files; a name that is the
#' same comes first. Ensembl's names of sequences
#' (`ANCESTOR_for_chromosome:GRCh38:22:1:50818468:1`) are understood; one that begins behind
#' the chromosome's first position is taken from there.
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted; no index is needed.
#' @param ancestral What is ancestral: the output folder of a run (or the `ancify_run`), a
#'   FASTA file of one or many sequences, also Ensembl EPO's (plain, gzip or bgzip; all
#'   sequences of the VCF's chromosomes are then in memory), or a path with `{chrom}` or
#'   `{chrom_id}` in it, which stand for a chromosome's name and for it without `chr`: one
#'   file of one sequence for each chromosome. Case says the confidence.
#' @param out Path to write, of which the ending tells the format: `.vcf`, `.vcf.gz`
#'   (bgzip) or `.bcf`. A file that exists is replaced when the new one is complete.
#' @param reference The genome's own sequence, in any of these forms, to find records whose
#'   REF is another base; `NULL` (the default) for none.
#' @param mask A BED file, plain or gzip, of regions not to use; `NULL` (the default) for none.
#' @param threads Threads; `NULL` (the default) for all, or as many as
#'   `options(ancify.threads = )` says.
#' @param verbose Whether to tell which sequence each chromosome got, as messages of class
#'   `ancify_message`.
#' @return A data frame with a row for each reason, in the order above: `reason` and the
#'   number of `records`, which add up to those of the file. The attribute `chromosomes` is
#'   a data frame of the chromosomes that have records: `chromosome`, `sequence` (its name or
#'   file in `ancestral`, `NA` for none) and `records`.
#' @section Errors:
#' `ancify_format_error`, with the record and its line, for a VCF that is damaged, cut short
#' or not sorted, has samples that its header does not name, and for a position behind the end
#' of its sequence; with the line for a FASTA
#' or BED that is none; `ancify_file_error` for files that can't be read or written;
#' `ancify_input_error` where no chromosome of the VCF is in `ancestral`, in `reference` or in
#' `mask`, and for arguments that can't be used; `ancify_package_error` where the package was
#' built without htslib. Chromosomes with records and without a sequence are an
#' `ancify_annotation_warning`.
#' @seealso [ancify_evaluate()] for how often calls are an allele of a variant,
#'   [polarise_sites()] for posteriors from allele counts
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' folder <- tempfile()
#' dir.create(folder)
#' writeLines(c(">chr1", "ACgTnN"), file.path(folder, "chr1.fa"))
#' vcf <- file.path(folder, "variants.vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
#' records <- sprintf("1\t%d\t.\t%s\t%s\t.\t.\t.", 1:6, "A", c("C", "C", "G", "G,T", "G", "T"))
#' writeLines(c("##fileformat=VCFv4.2", columns, records), vcf)
#'
#' annotate_vcf(vcf, folder, file.path(folder, "annotated.vcf"))
#' readLines(file.path(folder, "annotated.vcf")) |> tail(6)
annotate_vcf <- function(vcf, ancestral, out, reference = NULL, mask = NULL, threads = NULL,
                         verbose = TRUE) {
  vcf <- check_path(vcf, "vcf")
  if (inherits(ancestral, "ancify_run")) ancestral <- attr(ancestral, "config")$output_dir
  ancestral <- check_path(ancestral, "ancestral")
  out <- check_variant_output(out)
  if (!is.null(reference)) reference <- check_path(reference, "reference")
  if (!is.null(mask)) mask <- check_path(mask, "mask")
  refuse_same_file(out, ancestral = ancestral, reference = reference, mask = mask)
  threads <- resolve_threads(threads)
  check_flag(verbose, "verbose")
  check_htslib()

  chromosomes <- with_watch("Reading", function(watch) variant_chromosomes_impl(vcf, watch))
  report <- with_watch("Annotating", function(watch) {
    annotate_impl(
      vcf, out, chromosomes, sequence_files(ancestral, chromosomes, "ancestral"),
      run_posteriors(ancestral, chromosomes), sequence_files(reference, chromosomes, "reference"),
      mask %||% "", threads, watch
    )
  })
  found <- report$chromosomes
  if (verbose) for (line in describe_matches(found)) inform_ancify(line)
  warn_about_unmatched(found, ancestral)
  structure(data.frame(reason = names(report$reasons), records = unname(report$reasons)),
            chromosomes = found)
}

# The input would be gone; `vcf` itself may be replaced by what it becomes.
refuse_same_file <- function(out, ...) {
  inputs <- list(...)
  for (name in names(inputs)) {
    path <- inputs[[name]]
    if (!is.null(path) && normalizePath(path, mustWork = FALSE) ==
      normalizePath(out, mustWork = FALSE)) {
      abort_ancify(
        sprintf("`out` and `%s` are one file, %s: name another.", name, quoted(out)), "input"
      )
    }
  }
}

check_variant_output <- function(out) {
  out <- check_path(out, "out")
  if (!grepl("\\.(vcf|vcf\\.gz|bcf)$", out)) {
    abort_ancify(
      sprintf("`out` is %s: it must end in .vcf, .vcf.gz or .bcf.", quoted(out)), "input"
    )
  }
  check_output_file(out, "out")
}

# A data frame of SequenceFile: the chromosome, "" where the file says it, and the path.
sequence_files <- function(path, chromosomes, name) {
  # Without records nothing is looked up.
  if (is.null(path) || length(chromosomes) == 0) {
    return(data.frame(chromosome = character(), path = character()))
  }
  if (!dir.exists(path) && !has_placeholder(path)) {
    return(data.frame(chromosome = "", path = path))
  }
  pattern <- if (dir.exists(path)) file.path(path, "{chrom}.fa") else path
  files <- first_existing(
    fill_pattern(pattern, chromosomes), fill_pattern(pattern, with_other_prefix(chromosomes))
  )
  if (all(is.na(files))) {
    abort_ancify(
      sprintf(
        paste(
          "`%s` is %s, which has no file for %s, with or without a leading chr",
          "(looked for: %s)."
        ),
        name, quoted(path), enumerate(quoted(chromosomes)),
        quoted(fill_pattern(pattern, chromosomes[1]))
      ),
      "input"
    )
  }
  data.frame(chromosome = chromosomes, path = files)[!is.na(files), ]
}

# What a run with `posterior: true` wrote beside the calls, by chromosome.
run_posteriors <- function(path, chromosomes) {
  if (!dir.exists(path) || length(chromosomes) == 0) {
    return(data.frame(chromosome = character(), path = character()))
  }
  files <- first_existing(
    posterior_path(path, chromosomes), posterior_path(path, with_other_prefix(chromosomes))
  )
  data.frame(chromosome = chromosomes, path = files)[!is.na(files), ]
}

has_placeholder <- function(path) {
  grepl("{chrom}", path, fixed = TRUE) || grepl("{chrom_id}", path, fixed = TRUE)
}

first_existing <- function(paths, others) {
  ifelse(file.exists(paths), paths, ifelse(file.exists(others), others, NA_character_))
}

# The same names with a leading chr put on or taken off.
with_other_prefix <- function(chromosomes) {
  ifelse(startsWith(chromosomes, "chr"), sub("^chr", "", chromosomes), paste0("chr", chromosomes))
}

describe_matches <- function(found) {
  sprintf(
    "%s: %s records, ancestral sequence %s", found$chromosome,
    vapply(found$records, format_count, ""),
    ifelse(is.na(found$sequence), "not there", quoted(found$sequence))
  )
}

warn_about_unmatched <- function(found, ancestral) {
  without <- found[is.na(found$sequence), ]
  if (nrow(without)) {
    warn_ancify(
      sprintf(
        "%s has no sequence for %s: %s records are NO_COVERAGE or of an earlier reason.",
        quoted(ancestral), enumerate(quoted(without$chromosome)), format_count(sum(without$records))
      ),
      "annotation"
    )
  }
}
