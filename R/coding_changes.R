#' What derived alleles change in proteins
#'
#' Finds the codon of each variant in a coding sequence, as it was in the ancestor and as the
#' derived allele makes it: synonymous, missense, a stop gained or lost, or a start lost. Other
#' tools compare with the reference genome. Where its base is derived, they reverse the change.
#'
#' @details
#' Sites are the records that [sfs_from_vcf()] takes: SNPs with two alleles, of which one is
#' ancestral. A site has a row for each transcript that codes there.
#'
#' **Codons.** The site has its ancestral or its derived base. With `background = "ancestral"` the
#' bases beside it are those of the ancestor where its call is upper case, and those of `reference`
#' elsewhere. Where such a mixture makes a stop, the codon has the bases of `reference`, and
#' `focal_codon` is `TRUE`.
#'
#' | `consequence` | The change |
#' | :--- | :--- |
#' | `synonymous`, `missense` | The same residue, or another one |
#' | `stop gained`, `stop lost` | The derived or the ancestral codon is a stop |
#' | `start lost` | The first codon was ATG, and no longer codes for methionine |
#' | `no sequence` | `reference` lacks the transcript, or a part of it |
#' | `partial codon` | The coding sequence's length is no multiple of 3 |
#' | `inner stop` | In `reference`, a codon before the last one is a stop |
#' | `unknown codon` | A base of the codon is missing |
#'
#' With the last four, the change is unknown. From the gravest, the others are: stop gained, start
#' lost, stop lost, missense, synonymous. Of equal ones, the first row is the worst.
#'
#' **Proteins.** Transcripts are translated on the same background. With `"ancestral"`, the residue
#' of a missense change is the ancestral one. If a codon has several such sites, it is that of the
#' last.
#'
#' **Canonical transcripts.** The canonical transcript of a gene has the tag `MANE_Select`, else
#' `Ensembl_canonical` or RefSeq's `RefSeq Select`. Where no transcript has one, it has the longest
#' coding sequence; of equal ones, the first by name. `rtracklayer::import()` keeps one of several
#' tags of a line of GTF, so give the path of such a file.
#'
#' Gene models of GTF files have no stop codon, and those of GFF3 files have one. A transcript that
#' begins within its gene, by the phase of its first part, has no first codon.
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted. It needs no index and no
#'   genotypes.
#' @param ancestral The ancestral sequences, or `"AA"`, as in [annotate_vcf()]. With `"AA"` the
#'   bases beside a site are those of `reference`.
#' @param genes Gene models: the path of a GFF3 or GTF file, plain or gzip; a `GRanges` that
#'   `rtracklayer::import()` made of one; or a `GRangesList` of coding parts by transcript, as
#'   `GenomicFeatures::cdsBy(txdb, "tx", use.names = TRUE)` makes it. Names of chromosomes may
#'   differ from those of `vcf` by a leading `chr`.
#' @param reference The focal genome: a FASTA or 2bit file, or a path with `{chrom}`, as in
#'   [annotate_vcf()].
#' @param background Where the bases beside a site come from: `"ancestral"` (the default) or
#'   `"focal"`.
#' @param genetic_code Number of a genetic code in NCBI's list, as [Biostrings::getGeneticCode()]
#'   takes it: `"1"` (the default) is the standard code, `"2"` that of vertebrates' mitochondria.
#' @inheritParams mutation_spectrum
#' @return A data frame of class `coding_changes` with a row for each site and transcript:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `chromosome`, `position` | The site, as in `vcf`. |
#' | `ancestral`, `derived` | Its bases, on the plus strand. |
#' | `posterior` | Of the ancestral base; `NA` without posteriors. |
#' | `called`, `copies` | Haplotypes with a call, and with the derived base; `NA` without any. |
#' | `transcript`, `gene`, `strand` | From `genes`; `gene` is `NA` where it is not known. |
#' | `codon`, `place` | Number of the codon in the transcript; place of the site in it, 1 to 3. |
#' | `ancestral_codon`, `derived_codon` | Their bases, in the direction of translation. |
#' | `ancestral_residue`, `derived_residue` | What these are translated to. |
#' | `consequence` | A factor, see above. |
#' | `focal_codon` | Whether the codon has the focal bases beside the site. |
#' | `ref_is_ancestral` | Whether REF of the record is the ancestral base. |
#' | `protein` | With a missense change: the row of the attribute `proteins`. |
#' | `canonical` | Whether the transcript is its gene's canonical one; `NA` without a gene. |
#' | `worst` | `TRUE` in one row of a site, that of its gravest known consequence. |
#'
#' The attribute `records` is a data frame of `reason` and `records`: the records that are no
#' sites, as in [sfs_from_vcf()], then `NOT_CODING` and `CODING` sites.
#'
#' The attribute `proteins` is a data frame with a row for each transcript with a missense change:
#' `transcript`, `sequence` up to the stop, and `focal_codons`, the number of codons that keep the
#' focal bases because the ancestral ones make a stop.
#' @section Errors:
#' * `ancify_input_error`: `genes` has no coding part with a transcript, or none on the
#'   chromosomes of `vcf`; `genetic_code` is not known; no record is a site.
#' * `ancify_format_error`, `ancify_file_error`: a file is damaged, or cannot be read.
#' * `ancify_annotation_warning`: as from [annotate_vcf()].
#' @seealso [sfs_from_vcf()] for the spectrum of each consequence; [annotate_vcf()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib) && requireNamespace("rtracklayer", quietly = TRUE)
#' # ATG GCA TGG TAA: Met, Ala, Trp, stop
#' focal <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "CATGGCATGGTAAC"), focal)
#' ancestor <- tempfile(fileext = ".fa")
#' writeLines(c(">1", "CATGGCCTGGTAAC"), ancestor)
#' genes <- tempfile(fileext = ".gff3")
#' writeLines(c(
#'   "##gff-version 3", "1\t.\tmRNA\t2\t13\t.\t+\t.\tID=t1;Parent=g1",
#'   "1\t.\tCDS\t2\t13\t.\t+\t0\tID=c1;Parent=t1"
#' ), genes)
#' vcf <- tempfile(fileext = ".vcf")
#' records <- c("1\t6\t.\tC\tT\t.\t.\t.", "1\t7\t.\tA\tC\t.\t.\t.", "1\t10\t.\tG\tA\t.\t.\t.")
#' writeLines(c("##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO", records),
#'            vcf)
#'
#' changes <- coding_changes(vcf, ancestor, genes, focal, threads = 1)
#' changes
#' attr(changes, "records")
coding_changes <- function(vcf, ancestral, genes, reference,
                           background = c("ancestral", "focal"), genetic_code = "1", mask = NULL,
                           low_confidence = TRUE, threads = NULL, progress = interactive()) {
  check_given()
  vcf <- check_path(vcf, "vcf")
  use_info <- is_info(ancestral)
  if (!use_info) ancestral <- folder_of_calls(ancestral, "ancestral")
  reference <- check_path(reference, "reference")
  background <- check_choice(background, c("ancestral", "focal"), "background")
  if (!is.null(mask)) mask <- check_path(mask, "mask")
  check_flag(low_confidence, "low_confidence")
  threads <- resolve_threads(threads)
  check_htslib()
  code <- genetic_code_of(genetic_code)
  options <- list(
    use_info = use_info, low_confidence = low_confidence, mask = mask %||% "",
    focal = background == "focal", genetic_code = paste(code, collapse = ""), threads = threads
  )
  found <- with_watch("Reading", function(watch) {
    chromosomes <- variant_chromosomes_impl(vcf, watch)
    parts <- parts_on(coding_parts(genes), chromosomes, vcf)
    sequences <- record_sequences(chromosomes, if (!use_info) ancestral, reference)
    found <- coding_changes_impl(vcf, genes_for_core(parts), sequences, options, watch)
    c(found, list(transcripts = transcripts_of(parts)))
  }, progress)
  if (!use_info) warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, use_info)
  left_out <- records_left_out(found, low_confidence, reasons_with_mask)
  check_any_site(found, left_out, vcf, use_info)
  records <- c(left_out, NOT_CODING = found$not_coding, CODING = found$coding)
  changes <- change_table(found, code)
  proteins <- data.frame(
    transcript = changes$transcript[match(seq_along(found$proteins$sequence), changes$protein)],
    found$proteins
  )
  structure(
    changes, records = data.frame(reason = names(records), records = unname(records)),
    proteins = proteins,
    class = c("coding_changes", "data.frame")
  )
}

# Residues named by codons, in the core's order: AAA, AAC, AAG, AAT, ACA and so on.
genetic_code_of <- function(number) {
  need_bioconductor("Biostrings", "A genetic code")
  code <- tryCatch(Biostrings::getGeneticCode(as.character(number)), error = function(condition) {
    abort_ancify(
      sprintf(
        paste(
          "`genetic_code` must be the number of one of NCBI's genetic codes, such as \"1\", not",
          "%s: see `Biostrings::GENETIC_CODE_TABLE`."
        ),
        show_value(number)
      ),
      "input"
    )
  })
  bases <- c("A", "C", "G", "T")
  code[paste0(rep(bases, each = 16), rep(rep(bases, each = 4), 4), bases)]
}

# The parts on the VCF's chromosomes, by its names, and the number of each transcript. Parts of a
# transcript are in the direction of translation. A transcript that has two coding sequences, or is
# on two chromosomes or strands, as in pseudoautosomal regions, is two.
parts_on <- function(parts, chromosomes, vcf) {
  there <- match(bare_names(parts$chromosome), bare_names(chromosomes))
  if (all(is.na(there))) {
    abort_ancify(
      sprintf(
        "`genes` has no chromosome of %s: use the same names. It has %s, and the VCF has %s.",
        quoted(vcf), enumerate(quoted(unique(parts$chromosome))), enumerate(quoted(chromosomes))
      ),
      "input"
    )
  }
  parts$chromosome <- chromosomes[there]
  parts <- parts[!is.na(there), ]
  along <- ifelse(parts$strand == "-", -parts$end, parts$start)
  # "radix" sorts names alike in every locale.
  parts <- parts[order(
    parts$chromosome, parts$strand, parts$transcript, parts$sequence, along, method = "radix"
  ), ]
  key <- paste(parts$chromosome, parts$strand, parts$transcript, parts$sequence)
  parts$number <- match(key, unique(key))
  parts
}

# A row a transcript, and whether it is its gene's canonical one: the one with the best tag, then
# with the longest coding sequence, then the first by name. A gene on two chromosomes, as in
# pseudoautosomal regions, has one on each. Without genes it is not known.
transcripts_of <- function(parts) {
  transcripts <- parts[!duplicated(parts$number), ]
  bases <- rowsum(parts$end - parts$start + 1, parts$number, reorder = FALSE)[, 1]
  order <- order(transcripts$rank, -bases)
  gene <- transcripts[c("chromosome", "gene")]
  first <- seq_along(order) %in% order[!duplicated(gene[order, ])]
  transcripts$canonical <- ifelse(is.na(transcripts$gene), NA, first)
  transcripts
}

# The list of coding_changes_impl(). Transcripts count from 0 in each chromosome.
genes_for_core <- function(parts) {
  lapply(split(parts, parts$chromosome), function(x) {
    first <- !duplicated(x$number)
    list(
      transcript = match(x$number, x$number[first]) - 1L, start = x$start, end = x$end,
      forward = x$strand[first] != "-", phase = as.integer(x$phase[first])
    )
  })
}

change_table <- function(found, code) {
  x <- found$changes
  if (!found$has_posteriors) x$posterior[] <- NA
  bases <- c("A", "C", "G", "T")
  chromosome <- found$chromosomes$chromosome[x$chromosome]
  # The core counts transcripts in each chromosome.
  before <- match(chromosome, found$transcripts$chromosome) - 1
  transcript <- found$transcripts[before + x$transcript, ]
  residues <- function(codon) {
    residue <- unname(code[codon])
    ifelse(is.na(residue), "X", residue)
  }
  known <- x$consequence < match("no sequence", consequences)
  only_known <- function(values) replace(values, !known, NA)
  site <- paste(x$chromosome, x$position, x$derived)
  data.frame(
    chromosome = chromosome, position = x$position, ancestral = bases[x$ancestral],
    derived = bases[x$derived], posterior = x$posterior,
    called = replace(x$called, x$called == 0, NA), copies = replace(x$copies, x$called == 0, NA),
    transcript = transcript$transcript, gene = transcript$gene, strand = transcript$strand,
    codon = x$codon, place = x$place, ancestral_codon = only_known(x$ancestral_codon),
    derived_codon = only_known(x$derived_codon),
    ancestral_residue = only_known(residues(x$ancestral_codon)),
    derived_residue = only_known(residues(x$derived_codon)),
    consequence = factor(consequences[x$consequence], consequences),
    focal_codon = only_known(x$focal_codon), ref_is_ancestral = x$ref_is_ancestral,
    protein = x$protein, canonical = transcript$canonical,
    worst = first_of_least(match(consequences[x$consequence], gravest), site)
  )
}

#' @export
print.coding_changes <- function(x, ...) {
  counts <- table(x$consequence)
  counts <- counts[counts > 0]
  sites <- nrow(unique(data.frame(x$chromosome, x$position)))
  write_object("coding_changes", NULL, c(
    sites = format_count(sites),
    transcripts = format_count(length(unique(x$transcript))),
    stats::setNames(vapply(counts, format_count, ""), names(counts))
  ))
  shown <- c("chromosome", "position", "transcript", "codon", "ancestral_residue",
             "derived_residue", "consequence")
  if (nrow(x) > 0 && all(shown %in% names(x))) {
    print(utils::head(as.data.frame(x)[shown], 6), row.names = FALSE)
  }
  invisible(x)
}

#' @export
as.data.frame.coding_changes <- function(x, ...) {
  attributes(x)[c("records", "proteins")] <- NULL
  class(x) <- "data.frame"
  x
}
