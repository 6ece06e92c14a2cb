#' Write ancestral alleles into a VCF
#'
#' Copies a VCF or BCF, record by record and in their order, and puts the ancestral
#' allele of each into its INFO: what tools for site frequency spectra read.
#'
#' These fields are written, declared in the header; what was there under their names is
#' replaced or removed. The rest of a record stays as it is, but for how htslib keeps numbers:
#' QUAL and fields of the type Float with six digits (`0.000` becomes `0`), and in fields of the
#' type Integer the whole number that a value begins with (`59.8` becomes `59`), or `.` where there
#' is none of 32 bits.
#' * `AA`: the base called, in upper case where the call's confidence is high and in lower
#'   case where it is low, as the calls have it. It is left out where no base is called, and
#'   where an allele is no single base.
#' * `AA_prob`: the posterior of `AA`, where `ancestral` is the folder of a run with
#'   `posterior: true` (the files have it to a phred, 1 - 10^(-q / 10)), or with a `history`.
#' * `AA_post`: only with a `history`, the posteriors of A, C, G and T; a run's files do not
#'   have those of all four.
#' * `AA_reason`: whether the record's ancestral allele can be used, the first that holds:
#'
#'   | | |
#'   | --- | --- |
#'   | `INDEL` | an allele is not one of A, C, G, T (also `N`, `*` and `<DEL>`) |
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
#' **With a history** the posteriors of a record are what [polarise_sites()] gives for the
#' outgroups' bases, its two alleles and how many of the samples' haplotypes have the ALT;
#' missing genotypes count for none. `AA` is the call all the same, so that `AA_prob` says how
#' probable the call is once the sample is looked at, and is 0 where it is neither allele;
#' where no base is called there can be an `AA_post` without `AA`. There is no `AA_post`, and
#' `AA_prob` is the run's, if it has one, unless there are two alleles of one base, both are in
#' the samples, an outgroup has a base, and the history gives the record any chance.
#'
#' **Polarising.** With `polarise = TRUE` REF and ALT are exchanged in records of the reasons
#' `LOW` and `OK` whose ALT is ancestral, so that in all records of these two REF is the
#' ancestral and ALT the derived allele; the others stay as they are. `AA_old_ref` has REF as
#' it was, in exchanged records alone: if a later call exchanges them again, it goes. `AA`,
#' `AA_prob` and `AA_post` are of bases, so that they stay what they are. In each exchanged record
#' * genotypes (`GT`) name the other allele; phase, ploidy and what is missing stay;
#' * fields declared `Number=R` have the alleles' values in the other order, and those declared
#'   `Number=G` the genotypes', of any ploidy;
#' * `AC` becomes `AN` - `AC`, and `AF` 1 - `AF`;
#' * what can't be had is taken out, and counted in the result: other fields declared
#'   `Number=A`, those of local alleles (`Number=LA`, `LR` and `LG`), `AC` without `AN`, `AC` and
#'   `AF` that are not declared as numbers, and fields with more or fewer values than they should
#'   have, such as the `PL` of a record that was split by ALT while they stayed as they were (a
#'   haploid sample may have as many as the others);
#' * fields that VCF itself reserves (`AC`, `AF`, `CIGAR`, `AD`, `ADF`, `ADR`, `EC`, `GL`, `GP`,
#'   `PL`, `PP`, and `GLE` and the local alleles `LAA`, `LGT`, `LAD`, ..., which go) count as VCF
#'   has them, whatever the header declares: old files often have `Number=.` or `1`.
#'
#' All else stays as it was, also what is told of an allele without being declared so, such as a
#' dosage `DS`, a population's `EUR_AF` with `Number=1`, bcftools' `DP4` or GATK's `PGT`: remove it
#' (`bcftools annotate -x`) or compute it anew. In records that were split by ALT (`bcftools norm
#' --multiallelics -`) a 0 in a genotype can stand for the other ALT, which polarising can't know:
#' leave positions with several such records out. After polarising, REF is not everywhere the
#' reference's base, as the header line `##ancify_polarised` says: tools that compare them
#' (`bcftools norm --check-ref`, `bcftools consensus`, liftover, also `reference` here) complain or
#' go wrong, and such a file can't be merged with others. Keep the original for these.
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted; no index is needed.
#' @param ancestral What is ancestral: the output folder of a run (or the `ancify_run`), a
#'   FASTA file of one or many sequences, also Ensembl EPO's (plain, gzip or bgzip; all
#'   sequences of the VCF's chromosomes are then in memory), or a path with `{chrom}` or
#'   `{chrom_id}` in it, which stand for a chromosome's name and for it without `chr`: one
#'   file of one sequence for each chromosome. Case says the confidence.
#' @param out Path to write, of which the ending tells the format: `.vcf`, `.vcf.gz`
#'   (bgzip) or `.bcf`. A file that exists is replaced when the new one is complete; an index of
#'   it has to be made anew (`bcftools index`).
#' @param reference The genome's own sequence, in any of these forms, to find records whose
#'   REF is another base; `NULL` (the default) for none.
#' @param mask A BED file, plain or gzip, of regions not to use; `NULL` (the default) for none.
#' @param polarise Whether to exchange alleles so that REF is ancestral, as below; `FALSE` (the
#'   default) leaves them as they are.
#' @param history A [coalescent_history()] of the focal species and its outgroups, named by
#'   the outgroups, for posteriors from the samples' genotypes; `NULL` (the default) for none.
#' @param projected The folder with the outgroups' projected sequences, `<work_dir>/projected`
#'   of a run; by default that of `ancestral`, if this is an `ancify_run`. Only with a `history`.
#' @param samples Names of the samples whose alleles are counted, of one population; `NULL` (the
#'   default) for all of the file. Only with a `history`.
#' @param threads Threads; `NULL` (the default) for `getOption("ancify.threads")` or else all
#'   cores.
#' @param progress Whether to show a progress bar after two seconds; by default in interactive
#'   sessions alone.
#' @param verbose Whether to tell, as by default, which sequence each chromosome got, how many
#'   records got posteriors from the history, and what polarising did, as messages of class
#'   `ancify_message`.
#' @return A data frame with a row for each reason, in the order above: `reason` and the
#'   number of `records`, which add up to those of the file. The attribute `chromosomes` is
#'   a data frame of the chromosomes that have records: `chromosome`, `sequence` (its name or
#'   file in `ancestral`, `NA` for none) and `records`. With a `history` the attribute
#'   `posteriors` is the number of records with `AA_post`. With `polarise` the attribute
#'   `swapped` is the number of records whose alleles were exchanged, and `dropped` a data frame
#'   of the fields taken out of these: `field`, such as `"INFO/MLEAC"`, and the number of
#'   `records`.
#' @section Errors:
#' `ancify_format_error`, with the record and its line, for a VCF that is damaged, cut short or not
#' sorted, has samples that its header does not name, or a chromosome that it does not declare
#' though it declares others, for a position behind the end of its sequence or the length that the
#' header declares, and for genotypes that name an allele that is not there; with the line for a
#' FASTA or BED that is none;
#' `ancify_file_error` for files that can't be read or written; `ancify_input_error` where no
#' chromosome of the VCF is in `ancestral`, in `reference`, in `mask` or in `projected`, for samples
#' that it does not have, for histories that [polarise_sites()] refuses, and for arguments that
#' can't be used; `ancify_package_error` where the package was built without htslib. Chromosomes
#' with records and without a sequence are an `ancify_annotation_warning`, and so is what shows that
#' the VCF is of another build of the genome: of a thousand records or more, of all chromosomes or
#' one of them, above 1 % that are REF_MISMATCH, or a quarter of those called that are
#' NEITHER_ALLELE.
#' @references
#' Danecek and others (2011) The variant call format and VCFtools. Bioinformatics 27:2156.
#' @seealso [ancify_evaluate()] for how often calls are an allele of a variant,
#'   [polarise_sites()] for posteriors from allele counts, [coalescent_history()]
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
#'
#' polarised <- annotate_vcf(vcf, folder, file.path(folder, "polarised.vcf"), polarise = TRUE)
#' attr(polarised, "swapped")
#' readLines(file.path(folder, "polarised.vcf")) |> tail(6)
annotate_vcf <- function(vcf, ancestral, out, reference = NULL, mask = NULL, polarise = FALSE,
                         history = NULL, projected = NULL, samples = NULL, threads = NULL,
                         progress = interactive(), verbose = TRUE) {
  check_given()
  vcf <- check_path(vcf, "vcf")
  history <- check_sample_history(history, projected, samples, ancestral)
  ancestral <- folder_of_calls(ancestral, "ancestral")
  out <- check_variant_output(out)
  if (!is.null(reference)) reference <- check_path(reference, "reference")
  if (!is.null(mask)) mask <- check_path(mask, "mask")
  refuse_same_file(out, ancestral = ancestral, reference = reference, mask = mask)
  check_flag(polarise, "polarise")
  threads <- resolve_threads(threads)
  check_flag(verbose, "verbose")
  check_htslib()

  chromosomes <- with_watch("Reading", function(watch) variant_chromosomes_impl(vcf, watch))
  report <- with_watch("Annotating", function(watch) {
    options <- list(
      mask = mask %||% "", polarise = polarise,
      history = core_sample_history(history, chromosomes), threads = threads
    )
    annotate_impl(vcf, out, record_sequences(chromosomes, ancestral, reference), options, watch)
  }, progress)
  found <- report$chromosomes
  if (verbose) {
    lines <- c(
      describe_matches(found),
      if (!is.null(history)) {
        sprintf("Posteriors from the history in %s records", format_count(report$posteriors))
      },
      if (polarise) describe_swaps(report)
    )
    for (line in lines) inform_ancify(line)
  }
  warn_about_unmatched(found, ancestral)
  warn_about_positions(report, vcf)
  sums <- colSums(report$reasons)
  reasons <- data.frame(reason = names(sums), records = unname(sums))
  attr(reasons, "chromosomes") <- found
  if (!is.null(history)) attr(reasons, "posteriors") <- report$posteriors
  if (polarise) attributes(reasons)[c("swapped", "dropped")] <- report[c("swapped", "dropped")]
  reasons
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

# The sequences that a VCF's records are compared with; `ancestral` and `reference` may be NULL.
record_sequences <- function(chromosomes, ancestral, reference) {
  list(
    chromosomes = chromosomes, ancestral = sequence_files(ancestral, chromosomes, "ancestral"),
    phred = run_posteriors(ancestral %||% "", chromosomes),
    reference = sequence_files(reference, chromosomes, "reference")
  )
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
    fill_pattern(pattern, chromosomes), fill_pattern(pattern, other_prefix(chromosomes))
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
    find_phred(path, chromosomes), find_phred(path, other_prefix(chromosomes))
  )
  data.frame(chromosome = chromosomes, path = files)[!is.na(files), ]
}

# list(history =, projected =, samples =), or NULL without a history.
check_sample_history <- function(history, projected, samples, ancestral) {
  if (is.null(history)) {
    given <- c("projected", "samples")[c(!is.null(projected), !is.null(samples))]
    if (length(given)) {
      abort_ancify(
        sprintf("`%s` is only of use with a `history`: give one, or leave it out.", given[1]),
        "input"
      )
    }
    return(NULL)
  }
  history <- check_history(history)
  if (is.null(names(history$splits))) {
    abort_ancify(
      "The splits of `history` have no names: name them by the outgroups, as in `projected`.",
      "input"
    )
  }
  list(
    history = history, samples = check_sample_names(samples),
    projected = check_path(projected %||% run_projected(ancestral), "projected")
  )
}

core_sample_history <- function(given, chromosomes) {
  if (is.null(given)) {
    return(NULL)
  }
  history <- given$history
  list(
    history = core_history(history), model = core_mutation_model(history),
    outgroups = outgroup_files(given$projected, names(history$splits), chromosomes),
    samples = given$samples
  )
}

check_sample_names <- function(samples) {
  if (is.null(samples)) {
    return(character())
  }
  if (!is.character(samples) || !length(samples) || anyNA(samples) || anyDuplicated(samples)) {
    abort_ancify(
      sprintf("`samples` must be names of samples, each once, not %s.", show_value(samples)),
      "input"
    )
  }
  enc2utf8(samples)
}

run_projected <- function(ancestral) {
  if (!inherits(ancestral, "ancify_run")) {
    abort_ancify(
      paste(
        "`projected` is missing: with a `history` give the folder of the outgroups' projected",
        "sequences, or an ancify_run as `ancestral`."
      ),
      "input"
    )
  }
  file.path(attr(ancestral, "config")$work_dir, "projected")
}

# A data frame of chromosome, the name that it has in the files, and path, each chromosome's rows in
# the order of the species. A chromosome that the first of them does not have is left out.
outgroup_files <- function(folder, species, chromosomes) {
  folders <- file.path(folder, species)
  absent <- folders[!dir.exists(folders)]
  if (length(absent)) {
    abort_ancify(
      sprintf(
        paste(
          "%s is not there: `projected` must have a folder of projected sequences for each of the",
          "history's outgroups, as a run with `keep_projected: true` leaves it."
        ),
        quoted(absent[1])
      ),
      "file", file = absent[1]
    )
  }
  first <- sequence_files(folders[1], chromosomes, "projected")
  files <- basename(first$path)
  data.frame(
    chromosome = rep(first$chromosome, each = length(species)),
    name = rep(sub("[.]fa$", "", files), each = length(species)),
    path = file.path(rep(folders, length(files)), rep(files, each = length(species)))
  )
}

has_placeholder <- function(path) {
  grepl("{chrom}", path, fixed = TRUE) || grepl("{chrom_id}", path, fixed = TRUE)
}

first_existing <- function(paths, others) {
  ifelse(file.exists(paths), paths, ifelse(file.exists(others), others, NA_character_))
}
