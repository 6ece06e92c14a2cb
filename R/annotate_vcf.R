#' Annotate a VCF with ancestral alleles
#'
#' Copies a VCF or BCF and writes the ancestral allele of each record into its INFO, as tools for
#' site frequency spectra expect it: `annotate_vcf("in.vcf.gz", "ancestral", "out.vcf.gz")`.
#'
#' @section Fields:
#' The header declares these fields. Earlier values of them are replaced or removed.
#'
#' | Field | Value |
#' | --- | --- |
#' | `AA` | the called base, in the case of the call: upper for high confidence, lower for low |
#' | `AA_prob` | the posterior of `AA`, from a run with `posterior: true` or from a `history` |
#' | `AA_post` | the posteriors of A, C, G and T, only with a `history` |
#' | `AA_reason` | why the ancestral allele can or cannot be used, as below |
#' | `MLR`, `MLRT` | the lowest missense score and its transcript, only with `scores` |
#'
#' `AA` is absent if no base is called, or if the position is masked or its REF differs. It is also
#' absent if an allele is not a single base, unless `also` says otherwise. A run's `AA_prob` has the
#' precision of a Phred score: 1 - 10^(-q / 10).
#'
#' `AA_reason` is the first reason that applies:
#'
#' | Reason | Condition |
#' | --- | --- |
#' | `INDEL` | an allele is not one of A, C, G and T, such as `AC`, `N` or `<DEL>` |
#' | `MULTIALLELIC` | there are several ALTs |
#' | `REF_MISMATCH` | REF differs from `reference`; the record gets no `AA` |
#' | `MASKED` | a base of REF is in `mask`; the record gets no `AA` |
#' | `NO_COVERAGE` | the call is `N` (`-` or `.` in other sources), or there is no sequence |
#' | `UNRESOLVED` | the call is `n` |
#' | `NEITHER_ALLELE` | the called base is neither REF nor ALT |
#' | `LOW` | the called base is an allele, with low confidence |
#' | `OK` | the called base is an allele, with high confidence |
#'
#' A position that is masked, or where REF differs, has no `AA`, posterior or score, even if an
#' earlier reason applies. Functions that need ancestral alleles leave out records with these two
#' reasons: spectra, codon changes, `variants` of a run, fits and exports of states. Genotypes and
#' LD need no ancestral alleles and use all records.
#'
#' Some ALTs are not alleles of the record: `*`, a deletion that began before it, and `<*>`,
#' `<NON_REF>` and `<X>`, unobserved alleles. They do not count as ALTs here, nor in spectra,
#' genotypes and LD: `T>A,*` is a SNP. In genotypes they are missing.
#'
#' The rest of a record stays unchanged, except that htslib reformats numbers. QUAL and Float fields
#' get six digits (`0.000` becomes `0`). Integer fields keep their leading integer (`59.8` becomes
#' `59`), or become `.` if it does not fit 32 bits.
#'
#' @section Insertions and deletions:
#' With `also = "indels"`, insertions, deletions and substitutions of several bases get an ancestral
#' allele too. `AA` is the whole ancestral allele, in the case of the call. `INDEL` remains for
#' other alleles, such as `N` or `<DEL>`.
#'
#' The run's alignments are read again around these records, so the files must still exist. In a
#' repeat, the same change can be written at several positions. Alleles are therefore compared as
#' sequences of the whole stretch of `reference` in which the change can be placed.
#'
#' | The outgroup's bases in this stretch | Counts as |
#' | --- | --- |
#' | as many as in only one allele | this allele; substitutions do not matter |
#' | as many as in several alleles | the one with the fewest differences |
#' | another number, or a gap reaches beyond the stretch | another allele |
#' | over half of the bases differ from that allele | another allele |
#' | some are unknown, or unconnected blocks meet within the stretch | no data |
#'
#' The ancestral allele is then called from the outgroups' alleles: by parsimony if the run's
#' configuration has a `tree`, otherwise by the vote of the tiers, see [call_ancestral()]. A tie is
#' `UNRESOLVED`. `NEITHER_ALLELE` means that another allele is called. The reasons are as above; REF
#' is compared and masked as a whole.
#'
#' Long gaps are often not aligned: net AXT files and chains bridge at most 100 bases, while PAF has
#' no such limit. In microsatellites, the same allele often arises repeatedly, so even an `OK` is
#' less certain.
#'
#' With `also = "multiallelic"` the ancestral allele may be any of several ALTs. Such records are
#' not exchanged by `polarise`.
#'
#' @section Names of chromosomes:
#' Names may differ between files by a leading `chr`, and `MT` is `chrM`; an identical name is
#' preferred. Ensembl's names, such as `ANCESTOR_for_chromosome:GRCh38:22:1:50818468:1`, are
#' understood. Such a sequence may begin after the chromosome's first position.
#'
#' @section A VCF's own AA:
#' With `ancestral = "AA"` each record's ancestral base is its `AA`, by the convention of the 1000
#' Genomes Project. Text after a bar, as in `A|||`, is ignored. `AA`, `AA_prob` and `AA_post` stay
#' as they are; only `AA_reason` is added, and `polarise` may exchange alleles. Records that are
#' `REF_MISMATCH` or `MASKED`, here or in an earlier annotation, lose all three.
#'
#' | Letter | Meaning |
#' | --- | --- |
#' | `high` | `A`, `C`, `G` or `T` |
#' | `low` | `a`, `c`, `g` or `t`: low confidence |
#' | `.` | unknown |
#' | `-` | the ancestor has a gap |
#' | `N` | undecided; `n` too, which is `UNRESOLVED` |
#' | `other` | other text, such as the allele of an indel, which `also` may use |
#' | `absent` | the record has no `AA` |
#'
#' @section With a history:
#' [polarise_sites()] computes the posteriors from the outgroups' bases, the two alleles, and the
#' samples' copies of ALT. Missing genotypes are not counted.
#'
#' For a record without `GT`, counts come from `AC` and `AN` in INFO, unless `samples` are given;
#' they must be of one population too. Without `AC` and `AN`, the record counts as polymorphic with
#' unknown counts. [polarise_sites()] then computes its posterior without `counts`, for the
#' history's `focal_lineages`. The log gives the number of such records.
#'
#' If the history's model has classes, [cpg_class()] gives the class of a record.
#'
#' `AA` remains the call. `AA_prob` is then the posterior of this call given the sample, and 0 if
#' the call is neither allele. A record without a called base can have `AA_post` without `AA`.
#'
#' A record gets `AA_post` if all of these conditions hold; otherwise it keeps the run's `AA_prob`,
#' if any:
#' * REF and ALT are single bases, and the samples have both alleles if counts are known;
#' * an outgroup has a base;
#' * the record is possible under the history.
#'
#' @section Polarising:
#' `polarise = TRUE` exchanges REF and ALT of `LOW` and `OK` records whose ALT is ancestral. In all
#' `LOW` and `OK` records REF is then the ancestral and ALT the derived allele. Other records and
#' records of several ALTs stay unchanged: `unpolarised` keeps, flags or drops them. A warning
#' counts the records kept, because programs that take REF for ancestral would use them. `AA`,
#' `AA_prob` and `AA_post` refer to bases, and stay too.
#'
#' | Field of an exchanged record | Change |
#' | --- | --- |
#' | `AA_old_ref` | the old REF; removed if a later call exchanges the alleles again |
#' | `GT` | names the other allele; phase, ploidy and missing alleles stay |
#' | `Number=R` | values of the alleles in the new order |
#' | `Number=G` | values of the genotypes in the new order, at any ploidy |
#' | `AF`, `LDAF`, and names with the word `AF`, such as `EUR_AF` and `AF_afr` | 1 - `AF` |
#' | `AC`, and names with the word `AC`, such as `AC_afr` | `AN` - `AC`, `AN_afr` - `AC_afr` |
#' | `DS` of samples | the sample's ploidy - `DS` |
#' | `AF`, `HDS`, `AP1`, `AP2` of samples | 1 - each |
#' | `DP4`; `SB` and `SAC` of samples | the two halves are exchanged |
#' | `PGT` | names the other allele |
#' | `AC` without its `AN`, also of samples; counts and frequencies of other types | removed |
#' | maxima and minima over populations, such as `AF_popmax`, `MAX_AF` and `POPMAX` | removed |
#' | names with the words `faf95`, `faf99` or `nhomalt` | removed |
#' | `END` and `SVLEN`, if the alleles differ in length | removed |
#' | counts, shares and tests of one allele, such as `RO`, `AO`, `VAF`, `BaseQRankSum` | removed |
#' | other `Number=A`; local alleles (`Number=LA`, `LR`, `LG`) | removed |
#' | GATK's strings by allele, such as `AS_SB_TABLE`; `I16` of bcftools | removed |
#' | fields with a wrong number of values, or values out of range | removed |
#' | all others | none |
#'
#' Words in names are separated by `_` and may have either case: `af_eas` is treated as `AF_EAS`.
#' Removed fields are counted in the result and in the log. `keep_fields` names fields that stay as
#' they are. A haploid sample may have as many values as the other samples. Records that were split
#' by ALT often have a wrong number of values, such as the old `PL`. A sample whose `GT` is a dot
#' has the ploidy of the other samples; if they differ in ploidy, `DS` is removed.
#'
#' Reserved fields of VCF follow the standard, whatever `Number` the header declares: `AC`, `AF`,
#' `CIGAR`, `AD`, `ADF`, `ADR`, `EC`, `GL`, `GP`, `PL` and `PP`. `GLE` and the local alleles (`LAA`,
#' `LGT`, `LAD`, ...) are removed. Old files often declare `Number=.` or `1`.
#'
#' Before you use a polarised file:
#' * Other fields may depend on the alleles although the header does not say so. They stay
#'   unchanged: remove them (`bcftools annotate -x`) or compute them again.
#' * After `bcftools norm --multiallelics -`, a 0 in a genotype can mean another ALT. Leave out
#'   positions with several such records.
#' * REF is no longer always the base of the reference genome, as the header line
#'   `##ancify_polarised` says. `bcftools norm --check-ref`, `bcftools consensus`, liftover and
#'   `reference` here fail or give wrong results. Such a file cannot be merged with others. Keep the
#'   original.
#'
#' @param vcf Path of a sorted VCF or BCF: plain, gzip or bgzip. It needs no index.
#' @param ancestral The ancestral sequences, whose case is the confidence. One of:
#'   * the output folder of a run, or its `ancify_run`;
#'   * a FASTA file of one or many sequences, also Ensembl's EPO (plain, gzip or bgzip). The
#'     sequences of the VCF's chromosomes are kept in memory;
#'   * a path with `{chrom}` (the chromosome's name) or `{chrom_id}` (without `chr`), for one
#'     sequence per file;
#'   * `"AA"`: the records' own `AA`, as below.
#' @param out Path of the result. Its ending sets the format: `.vcf`, `.vcf.gz` (bgzip) or `.bcf`.
#'   `"-"` writes VCF to the standard output. An existing file is replaced when the new one is
#'   complete, but `out` cannot be an input file. Make its index again (`bcftools index`).
#'   Compressed files have bgzip's level 5, which takes about half the time of its default, 6, and 2
#'   to 5 % more space.
#' @param reference The reference genome, in any form of `ancestral` or as a 2bit file, for finding
#'   records whose REF differs; `NULL` (the default) for none.
#' @param mask A BED file, plain or gzip, of regions to exclude; `NULL` (the default) for none.
#' @param polarise `TRUE` exchanges alleles so that REF is ancestral; `FALSE` (the default) leaves
#'   them as they are.
#' @param unpolarised With `polarise`: the fate of records whose REF may not be ancestral.
#'   `"keep"` (the default) writes them like others, `"flag"` with `NOT_POLARISED` in FILTER, and
#'   `"drop"` leaves them out.
#' @param keep_fields With `polarise`: fields that stay as they are, such as `"INFO/DB_AF"` or
#'   `"FORMAT/DS"`; none by default. `FORMAT/GT` always follows the alleles.
#' @param history A [coalescent_history()] of the focal species, whose splits are named after the
#'   outgroups. It gives posteriors from the samples' genotypes, or from the alleles alone. `NULL`
#'   (the default) for none.
#' @param projected For a `history`: the folder of the outgroups' projected sequences,
#'   `<work_dir>/projected` of a run. Default: the folder of `ancestral`, if it is an `ancify_run`.
#' @param samples For a `history`: names of the samples to count, of one population; or
#'   [info_populations()] of one, to count by its fields of INFO. `NULL` (the default) for all
#'   samples.
#' @param threads Number of threads; `NULL` (the default) for `getOption("ancify.threads")`, or
#'   all cores.
#' @param progress `TRUE` shows a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @param verbose `TRUE` (the default) logs the sequence of each chromosome, and the counts of
#'   posteriors and exchanged records, as messages of class `ancify_message`.
#' @param scores A result of [score_missense()], or some of its rows, such as the canonical
#'   transcripts. `OK` and `LOW` records with a score's ancestral and derived bases get `MLR` and
#'   `MLRT`. `NULL` (the default): none.
#' @param also Further records to give an ancestral allele: `"multiallelic"` for several ALTs,
#'   `"indels"` for alleles of several bases, or both. `NULL` (the default) for none. `"indels"`
#'   needs `reference`, and a run as `ancestral`, or `"AA"`.
#' @return A data frame with a row for each `reason` above and its number of `records`, which sum to
#'   all records of the file. Its attributes:
#'
#'   | Attribute | Value |
#'   | --- | --- |
#'   | `chromosomes` | data frame: `chromosome`, `sequence` (name or file, or `NA`), `records` |
#'   | `letters` | with `ancestral = "AA"`: data frame of `letter`, as above, and `records` |
#'   | `posteriors` | with a `history`: number of records with `AA_post` |
#'   | `counted` | with a `history`: number of records with `AA_post` and known allele counts |
#'   | `scored` | with `scores`: number of records with `MLR` |
#'   | `swapped` | with `polarise`: number of records with exchanged alleles |
#'   | `not_polarised` | with `polarise`: number of records whose REF may not be ancestral |
#'   | `dropped` | with `polarise`: data frame of removed fields: `field`, `records` |
#' @section Errors:
#' * `ancify_format_error` (with record and line): the VCF is damaged, cut short or not sorted.
#'   Or a record has more samples than the header names, or a chromosome that the header lacks
#'   although it declares others.
#' * `ancify_format_error`: a position is beyond the end of its sequence or the declared length, or
#'   a genotype names an allele that does not exist.
#' * `ancify_format_error` (with line): a FASTA or BED file is invalid.
#' * `ancify_file_error`: a file cannot be read or written.
#' * `ancify_input_error`: no chromosome of the VCF is in `ancestral`, or in `reference`, `mask` or
#'   `projected` if given.
#' * `ancify_input_error`: `ancestral` is `"AA"`, but no record has `AA`.
#' * `ancify_input_error`: the VCF lacks a sample, [polarise_sites()] refuses the history, or an
#'   argument cannot be used.
#' * `ancify_package_error`: the package was built without htslib.
#' * `ancify_input_error`: `out` is an input file, or `keep_fields` names a field that the header
#'   does not declare.
#' * `ancify_input_error`: `scores` is no result of [score_missense()], or has no scored site on a
#'   chromosome of the VCF.
#' * `ancify_input_error`: `also = "indels"` lacks `reference` or a run. Or the run has neither a
#'   tree nor outgroups in both tiers.
#' * `ancify_file_error`: with `also = "indels"`, an alignment is missing, or changed after the run
#'   read it.
#' * `ancify_annotation_warning`: chromosomes with records have no sequence.
#' * `ancify_calls_warning`: calls of several configurations in one folder are read together.
#' * `ancify_projection_warning`: a history's projections were made from another alignment than the
#'   configuration names.
#' * `ancify_annotation_warning`: `polarise` keeps the REF of some records, whose ancestral allele
#'   is unknown or one of several ALTs.
#' * `ancify_annotation_warning`: an index of an earlier `out` lies beside it and no longer fits.
#' * `ancify_annotation_warning`: the VCF seems to be of another genome build. Among at least 1,000
#'   records, in total or on one chromosome, over 1 % are `REF_MISMATCH`, or over a quarter of the
#'   called records `NEITHER_ALLELE`.
#' @references
#' Danecek and others (2011) The variant call format and VCFtools. Bioinformatics 27:2156.
#' @seealso [ancify_evaluate()] for the share of calls that are an allele of a variant,
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
                         keep_fields = character(), history = NULL, projected = NULL,
                         samples = NULL, threads = NULL, progress = interactive(), verbose = TRUE,
                         also = NULL, scores = NULL, unpolarised = c("keep", "flag", "drop")) {
  check_args(vcf = one_path())
  history <- check_sample_history(history, projected, samples, ancestral)
  source <- ancestral_source(ancestral)
  use_info <- source$use_info
  check_also(also)
  run <- ancestral
  ancestral <- source$folder
  out <- check_variant_output(out)
  check_args(reference = optional(one_path()), mask = optional(one_path()))
  refuse_same_file(out, vcf = vcf, ancestral = ancestral, reference = reference, mask = mask)
  check_args(polarise = flag(), unpolarised = choice(c("keep", "flag", "drop")))
  refuse_if(unpolarised != "keep" && !polarise,
            "`unpolarised` needs `polarise = TRUE`: set it, or leave `unpolarised` out.")
  check_keep_fields(keep_fields, polarise)
  work <- new_work(threads, progress = progress)
  check_flag(verbose, "verbose")
  check_htslib()
  beyond <- beyond_snps(also, use_info, run, reference, work)
  refuse_same_file(out, alignments = beyond$indel_sources$alignments$file)

  chromosomes <- with_watch("Reading", function(watch) variant_chromosomes_impl(vcf, watch))
  report <- with_watch("Annotating", function(watch) {
    options <- core_list(
      "AnnotationOptions",
      use_info = use_info, record_calls = source$record_calls, mask = mask %||% "",
      polarise = polarise, unpolarised = unpolarised,
      keep_fields = keep_fields, history = core_sample_history(history, chromosomes), work = work,
      scores = core_scores(scores, chromosomes), multiallelic = beyond$multiallelic,
      indels = beyond$indels, indel_sources = beyond$indel_sources
    )
    annotate_impl(vcf, out, record_sequences(chromosomes, ancestral, reference), options, watch)
  }, work$progress)
  found <- report$chromosomes
  if (verbose) {
    lines <- c(
      describe_source(source, report),
      if (!is.null(history)) describe_posteriors(report),
      if (polarise) describe_swaps(report)
    )
    for (line in lines) inform_ancify(line)
  }
  if (!is.null(ancestral)) warn_about_unmatched(found, ancestral)
  warn_about_positions(report, vcf, use_info)
  if (unpolarised == "keep") warn_about_not_polarised(report, out, beyond$multiallelic)
  warn_about_index(out)
  sums <- colSums(report$reasons)
  reasons <- data.frame(reason = names(sums), records = unname(sums))
  attr(reasons, "chromosomes") <- found
  if (use_info) attr(reasons, "letters") <- report$letters
  if (!is.null(history)) {
    attributes(reasons)[c("posteriors", "counted")] <- report[c("posteriors", "counted")]
  }
  if (!is.null(scores)) attr(reasons, "scored") <- report$scored
  polarised <- if (polarise) c("swapped", "not_polarised", "dropped")
  attributes(reasons)[polarised] <- report[polarised]
  reasons
}

# The source of ancestral alleles: the records' AA, calls at records, or a folder of sequences.
ancestral_source <- function(ancestral) {
  use_info <- is_info(ancestral)
  use_records <- inherits(ancestral, "ancify_record_calls")
  list(
    use_info = use_info, record_calls = if (use_records) unclass(ancestral),
    folder = if (!use_info && !use_records) folder_of_calls(ancestral, "ancestral")
  )
}

check_variant_output <- function(out) {
  out <- check_path(out, "out")
  if (out == "-") {
    return(out)
  }
  refuse_if(!grepl("\\.(vcf|vcf\\.gz|bcf)$", out),
            "`out` is %s: it must end in .vcf, .vcf.gz or .bcf.", quoted(out))
  check_output_file(out, "out")
}

check_keep_fields <- function(fields, polarise) {
  known <- is.character(fields) && all(grepl("^(INFO|FORMAT)/[^/]+$", fields)) &&
    !"FORMAT/GT" %in% fields
  must_be(known, fields, "keep_fields", "names such as \"INFO/DB_AF\" or \"FORMAT/DS\"")
  refuse_if(length(fields) && !polarise,
            "`keep_fields` needs `polarise = TRUE`: set it, or leave `keep_fields` out.")
}
