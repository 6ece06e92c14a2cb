# Polarising a VCF in one call, from any source of ancestral alleles.

#' Polarise a VCF
#'
#' Writes a VCF or BCF whose REF is the ancestral allele:
#' `polarise("in.vcf.gz", c(chimp = "hg38.panTro6.net.axt.gz"), "out.vcf.gz")`. It finds ancestral
#' alleles as [ancify_run()] does, and exchanges alleles as [annotate_vcf()] does, whose help
#' describes all fields.
#'
#' @section Sources:
#' | `from` | Ancestral alleles |
#' | --- | --- |
#' | named paths: `c(chimp = "a.axt.gz", gorilla = "b.maf")` | called from these alignments |
#' | `"samples:chimp,gorilla"` | called from these samples of `vcf`, or of another VCF |
#' | the folder of a run, or its `ancify_run` | its calls |
#' | a FASTA file, or a path with `{chrom}` | its bases, such as Ensembl's EPO |
#' | `"AA"` | the records' own `AA` |
#'
#' @section From alignments:
#' Each alignment is named after one outgroup, and aligns it to the VCF's genome. Chains, and PAF
#' without `cs:Z:` in the long form, need the outgroup's 2bit file:
#' `list(chimp = c("a.chain.gz", twobit = "panTro6.2bit"))`. Several chains also need `reference`, a
#' file with the genome of the VCF. Only chromosomes with records are called.
#'
#' @section From samples:
#' Each sample is an outgroup. A name makes several samples one outgroup:
#' `c(chimp = "samples:P1,P2", gorilla = "samples:G1")`. Samples of another VCF or BCF of the same
#' genome build have its path: `"samples:chimp,gorilla@apes.vcf.gz"`. Their bases are unknown where
#' that file has no record; `bcftools merge --missing-to-ref` makes such positions REF.
#'
#' In a gVCF, reference blocks have a base at each position up to `END`: the REF of `vcf`. A record
#' without an ALT other than `<NON_REF>` or `<*>` is such a block. Samples whose `GQ`, `DP` or
#' `MIN_DP` is 0 there have no base, and the log counts these bases.
#'
#' An outgroup's base is the allele of most of its haplotypes, and unknown if two are equally
#' frequent. Calls are made as from alignments. For the fit of the model, positions without a record
#' count as equal in all species, as the log says.
#'
#' @section Calls:
#' One outgroup gives its own bases; lower case, often a repeat, counts as `LOW`. From several
#' outgroups, ancestral alleles are called by maximum likelihood. The HKY85 model and the branch
#' lengths are fitted to the data. Without a `tree`, one is guessed by neighbour joining of
#' Jukes-Cantor distances, with the root on the branch to the most distant outgroup. `method` and
#' `tree` overrule this. The log names the method and the tree. `AA_prob` is the posterior of `AA`,
#' except by parsimony.
#'
#' The method `"coalescent"` is the most accurate for a VCF of a whole genome, see
#' `vignette("methods")`. It fits the history of the species, and also uses the alleles and their
#' counts among the samples of `vcf`. These must be of one population. It takes at most six
#' outgroups, and seconds to minutes for the fit.
#'
#' @section Records that cannot be polarised:
#' REF stays if a record's ancestral allele is uncertain, or is neither REF nor the only ALT.
#' `AA_reason` says why. By default the record gets `NOT_POLARISED` in FILTER, so that
#' `bcftools view -f PASS,.` leaves it out.
#'
#' @param vcf,reference,mask,also,keep_fields,threads,progress As for [annotate_vcf()].
#' @param from The source of ancestral alleles, as above.
#' @param out Path of the result. Its ending sets the format: `.vcf`, `.vcf.gz` (bgzip) or `.bcf`;
#'   `"-"` writes VCF to the standard output. Compression is as in [annotate_vcf()].
#' @param unpolarised The fate of records that cannot be polarised. `"flag"` (the default) marks
#'   them in FILTER, `"drop"` leaves them out, and `"keep"` writes them like others.
#' @param focal The name of the VCF's species, as a leaf of `tree` or a species of MAF and
#'   TAF files; `"focal"` by default.
#' @param method With several outgroups: `"likelihood"` (the default), `"parsimony"` or
#'   `"coalescent"`, methods of [call_ancestral()]. For others use [ancify_run()].
#' @param tree With several outgroups: a Newick text or a file with one; `NULL` (the default)
#'   guesses it.
#' @param chrom_lengths With outgroups: lengths of chromosomes, as for [project_axt()]. `NULL` (the
#'   default): the lengths in the header of `vcf`.
#' @param verbose `TRUE` (the default) logs the method, the tree and the record counts, as messages
#'   of class `ancify_message`.
#' @return The value of [annotate_vcf()]: records by reason, with attributes. From several
#'   alignments it also has the attribute `run`, an `ancify_run` with the tree, the fit and the
#'   block counts. It has no files, and has call counts only with `"coalescent"` or indels.
#' @section Errors:
#' * Errors of [annotate_vcf()] and, with alignments, of [ancify_run()].
#' * `ancify_input_error`: the header of `vcf` does not declare the length of a chromosome, and
#'   `chrom_lengths` is not given. Or a sample of `from` is not in its file, or has no base at any
#'   site. Or the leaves of `tree` are other species.
#' * `ancify_format_error`: another VCF has another REF.
#' @references
#' Saitou and Nei (1987) The neighbor-joining method. Molecular Biology and Evolution 4:406.
#' @seealso [annotate_vcf()], [ancify_run()] for calls of a whole genome
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' config <- ancify_example()
#' lengths <- config$lengths
#' vcf <- tempfile(fileext = ".vcf")
#' writeLines(c(
#'   "##fileformat=VCFv4.2", sprintf("##contig=<ID=chr1,length=%d>", lengths[["chr1"]]),
#'   "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
#'   sprintf("chr1\t%d\t.\tA\tC\t.\t.\t.", 1:20)
#' ), vcf)
#' outgroups <- stats::setNames(config$outgroups$alignment, config$outgroups$name)
#' polarise(vcf, outgroups, tempfile(fileext = ".vcf"), threads = 1)
polarise <- function(vcf, from, out, unpolarised = c("flag", "drop", "keep"), reference = NULL,
                     mask = NULL, also = NULL, keep_fields = character(), focal = "focal",
                     method = c("likelihood", "parsimony", "coalescent"), tree = NULL,
                     chrom_lengths = NULL, threads = NULL, progress = interactive(),
                     verbose = TRUE) {
  check_args(
    vcf = one_path(), focal = text("a name"), unpolarised = choice(c("flag", "drop", "keep")),
    method = choice(c("likelihood", "parsimony", "coalescent")), verbose = flag()
  )
  run <- NULL
  folder <- tempfile("ancify-polarise-")
  if (has_samples(from)) {
    refuse_if("indels" %in% also, "`also = \"indels\"` needs alignments: give them as `from`.")
    outgroups <- sample_outgroups(from, vcf)
    check_polarised_species(outgroups$name, focal, tree, method)
    out <- check_variant_output(out)
    refuse_same_file(out, vcf = vcf, from = outgroups$path)
    work <- new_work(threads, progress = progress)
    from <- call_samples(outgroups, vcf, focal, method, tree, chrom_lengths, work, verbose)
  } else if (is_alignments(from)) {
    check_polarised_species(names(from), focal, tree, method)
    missing <- Filter(Negate(is_there), unlist(from))
    refuse_if(length(missing), "`from` has %s: there is no such file.", enumerate(quoted(missing)))
    out <- check_variant_output(out)
    refuse_same_file(out, vcf = vcf, from = unlist(from))
    dir.create(folder)
    on.exit(unlink(folder, recursive = TRUE))
    work <- new_work(threads, progress = progress)
    sites <- read_record_sites(vcf, length(from), work$progress)
    lengths <- lengths_of_records(sites$lengths, chrom_lengths)
    config <- config_of_alignments(from, method, focal, lengths, folder)
    config$focal_fasta <- focal_of_alignments(from, reference)
    # Without records, no alignment is needed. Histories and indels need the whole genome's calls.
    if (!length(lengths)) {
      from <- "AA"
    } else if ("indels" %in% also || (fits_history_of(method) && length(from) > 1)) {
      if (fits_history_of(method)) config$variants <- vcf
      from <- call_genome(config, method, tree, threads, progress, verbose)
      if (inherits(from, "ancify_run")) run <- from
    } else {
      called <- call_at_records(config, sites, method, tree, work, verbose)
      from <- called$calls
      run <- called$run
    }
  }
  result <- without_messages_of(folder, annotate_vcf(
    vcf, from, out, reference, mask,
    polarise = TRUE, unpolarised = unpolarised, keep_fields = keep_fields, also = also,
    threads = threads, progress = progress, verbose = verbose
  ))
  attr(result, "run") <- run
  result
}

# Drops log lines that name files in `folder`, which no longer exist when the log is read.
without_messages_of <- function(folder, code) {
  withCallingHandlers(code, ancify_message = function(condition) {
    if (grepl(folder, conditionMessage(condition), fixed = TRUE)) invokeRestart("muffleMessage")
  })
}

is_alignments <- function(from) {
  !inherits(from, "ancify_run") && length(names(from)) > 0 && all(nzchar(names(from)))
}

# The focal genome, if several outgroups are compared with it and an alignment may lack its bases,
# as chains and some PAF files do.
focal_of_alignments <- function(from, reference) {
  files <- vapply(from, `[[`, "", 1)
  has_genome <- vapply(from, function(paths) "twobit" %in% names(paths), NA)
  if (length(from) == 1 || !any(has_genome)) {
    return(NULL)
  }
  chains <- files[formats_of(files)$needs_genome %in% TRUE]
  refuse_if(length(chains) && is.null(reference),
            paste("%s has no focal bases, which several outgroups are compared with: give the",
                  "focal genome, FASTA or 2bit, as `reference`."), quoted(chains[1]))
  reference
}
