#' Effects of derived alleles on proteins
#'
#' Finds the ancestral and the derived codon of each variant in a coding sequence, and classifies
#' the change: synonymous, missense, a stop gained or lost, or a start lost. Other tools compare
#' alleles with the reference genome, and so reverse the change if its base is derived.
#'
#' @details
#' Sites are the records that [sfs_from_vcf()] takes: SNPs with two alleles, of which one is
#' ancestral. A site has a row for each transcript that codes there.
#'
#' **Codons.** A codon has the ancestral or the derived base at the site. With
#' `background = "ancestral"`, the bases beside the site are ancestral where the call is upper case,
#' and from `reference` elsewhere. Such a mixture may make a stop codon, with the ancestral or the
#' derived base, although the bases of `reference` make none. Then the bases beside the site come
#' from `reference`, and `focal_codon` is `TRUE`.
#'
#' | `consequence` | The change |
#' | :--- | :--- |
#' | `synonymous`, `missense` | The same residue, or another one |
#' | `stop gained`, `stop lost` | The derived or the ancestral codon is a stop |
#' | `start lost` | The first codon was ATG, and no longer codes for methionine |
#' | `no sequence` | `reference` lacks the transcript, or a part of it |
#' | `partial codon` | The coding sequence begins or ends within the codon |
#' | `inner stop` | In `reference`, a codon before the last one is a stop |
#' | `unknown codon` | A base of the codon is missing |
#' | `no genetic code` | The chromosome is mitochondrial, and its genetic code is not given |
#'
#' With the last five, the change is unknown. In order of severity, the others are: stop gained,
#' start lost, stop lost, missense, synonymous. Among rows of equal severity, the first is the
#' worst.
#'
#' **Cut transcripts.** The start or end of a coding sequence may be unknown. Its complete codons
#' have consequences, and its incomplete codons are `partial codon`. Without a phase, codons are
#' counted from the first base. If the length of the sequence is then not a multiple of 3, all its
#' codons are `partial codon`. The phases of later parts must follow from the lengths of the parts
#' before. Otherwise the whole transcript is `partial codon`, with a warning.
#'
#' **Genetic codes.** A code that `genetic_code` names for a chromosome comes first. Next is the
#' `transl_table` of the gene models, then the code without a name. On a mitochondrial chromosome,
#' such as `chrM` or `MT`, this last code is used only if it is a mitochondrial one.
#'
#' **Proteins.** Transcripts are translated on the same background. With `"ancestral"`, a missense
#' change has the ancestral residue. If a codon has several such sites, the last one decides.
#'
#' **Canonical transcripts.** The canonical transcript of a gene has the tag `MANE_Select`, else
#' `Ensembl_canonical` or RefSeq's `RefSeq Select`. If no transcript has a tag, it is the transcript
#' with the longest coding sequence; among equally long ones, the first by name.
#' `rtracklayer::import()` keeps only one of several tags in a line of GTF, so give the path of such
#' a file.
#'
#' Gene models in GTF files exclude the stop codon, and in GFF3 files include it. A transcript has
#' no first codon if its first part has a phase other than 0, an open `start_range` or `end_range`,
#' or the tag `cds_start_NF`.
#'
#' @param vcf Path of a VCF or BCF, plain, gzip or bgzip, sorted. It needs no index and no
#'   genotypes.
#' @param ancestral The ancestral sequences, or `"AA"`, as in [annotate_vcf()]. With `"AA"` the
#'   bases beside a site come from `reference`.
#' @param genes Gene models: the path of a GFF3 or GTF file, plain or gzip; a `GRanges` that
#'   `rtracklayer::import()` made of one; or a `GRangesList` of coding parts by transcript, as
#'   `GenomicFeatures::cdsBy(txdb, "tx", use.names = TRUE)` makes it. Names of chromosomes may
#'   differ from the names in `vcf` by a leading `chr`.
#' @param reference The focal genome: a FASTA or 2bit file, or a path with `{chrom}`, as in
#'   [annotate_vcf()].
#' @param background Source of the bases beside a site: `"ancestral"` (the default) or `"focal"`.
#' @param genetic_code Numbers of genetic codes in NCBI's list, as [Biostrings::getGeneticCode()]
#'   takes them. `"1"` (the default) is the standard code, `"2"` the vertebrate mitochondrial code.
#'   Several codes are named by chromosomes, as in `c("1", chrM = "2")`. A code without a name
#'   applies to the other chromosomes.
#' @param populations The populations to count, in the forms of [sfs_from_vcf()], but any number of
#'   them. `NULL` (the default): all samples together; without samples, by `AC` and `AN` of INFO.
#' @inheritParams mutation_spectrum
#' @return A data frame of class `coding_changes` with a row for each site and transcript:
#'
#' | Column | Content |
#' | :--- | :--- |
#' | `chromosome`, `position` | The site, as in `vcf`. |
#' | `ancestral`, `derived` | Its bases, on the plus strand. |
#' | `posterior` | Posterior of the ancestral base; `NA` without posteriors. |
#' | `called`, `copies` | Haplotypes with a call, and with the derived base; `NA` without calls. |
#' | `called_POP`, `copies_POP` | With `populations`: both counts of each population. |
#' | `transcript`, `gene`, `strand` | From `genes`; `gene` is `NA` if unknown. |
#' | `codon`, `place` | Index of the whole codon, `NA` before the first; place in it, 1 to 3. |
#' | `ancestral_codon`, `derived_codon` | The codons' bases, in the direction of translation. |
#' | `ancestral_residue`, `derived_residue` | The residues of these codons. |
#' | `consequence` | A factor, see above. |
#' | `focal_codon` | `TRUE` if the bases beside the site are the focal ones. |
#' | `ref_is_ancestral` | `TRUE` if REF of the record is the ancestral base. |
#' | `protein` | For a missense change: name of its protein in the attribute `proteins`. |
#' | `genetic_code` | Number of the transcript's genetic code; `NA` if it is unknown. |
#' | `canonical` | `TRUE` for its gene's canonical transcript; `NA` without a gene. |
#' | `worst` | `TRUE` in one row of a site, with its most severe known consequence. |
#'
#' The attribute `records` is a data frame of `reason` and `records`: records left out, as in
#' [sfs_from_vcf()], then `NOT_CODING` and `CODING` sites.
#'
#' The attribute `proteins` is a data frame with a row for each transcript with a missense change.
#' Its columns are `protein`, `transcript`, `sequence` up to the stop, and `focal_codons`. A protein
#' is named after its transcript and the sequence's checksum. `focal_codons` is the number of codons
#' that keep the focal bases because the ancestral bases make a stop.
#' @section Errors:
#' * `ancify_input_error`: `genes` has no coding part with a transcript, or none on the chromosomes
#'   of `vcf`; a part lacks a position, strand or phase, or occurs twice; `genetic_code` is unknown;
#'   no record is a site.
#' * `ancify_format_error`, `ancify_file_error`: a file is damaged, or cannot be read. In a GFF3 or
#'   GTF file, the line is named.
#' * `ancify_annotation_warning`: as from [annotate_vcf()]; mitochondrial changes have no genetic
#'   code, or other changes have a mitochondrial one; coding parts have no phase, or phases that
#'   contradict their lengths; a transcript with parts on both strands is left out.
#' @seealso [sfs_from_vcf()] for the spectrum of each consequence; [annotate_vcf()]
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib) && requireNamespace("Biostrings", quietly = TRUE)
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
                           low_confidence = TRUE, threads = NULL, progress = interactive(),
                           populations = NULL, subset = FALSE) {
  check_args(vcf = one_path(), subset = flag())
  use_info <- is_info(ancestral)
  if (!use_info) ancestral <- folder_of_calls(ancestral, "ancestral")
  check_args(reference = one_path(), background = choice(c("ancestral", "focal")),
             mask = optional(one_path()), low_confidence = flag())
  work <- new_work(threads, progress = progress)
  check_htslib()
  codes <- codes_by_chromosome(genetic_code)
  given <- populations_given(populations, Inf) %||% all_samples(vcf)
  counts <- count_source(vcf, given, subset)
  found <- with_watch("Reading", function(watch) {
    chromosomes <- variant_chromosomes_impl(vcf, watch)
    parts <- coding_parts(genes, watch)
    warn_about_unused_codes(codes, unique(parts$chromosome))
    parts <- parts_on(parts, chromosomes, vcf)
    transcripts <- without_broken_frames(transcripts_of(parts), parts)
    transcripts$code <- codes_of_transcripts(transcripts, codes)
    tables <- code_tables(transcripts$code)
    options <- core_list(
      "CodingOptions",
      variants = vcf, use_info = use_info, low_confidence = low_confidence, mask = mask %||% "",
      focal = background == "focal", work = work,
      genetic_codes = as.character(apply(tables, 2, paste, collapse = ""))
    )
    sequences <- record_sequences(chromosomes, if (!use_info) ancestral, reference)
    genes <- genes_for_core(parts, transcripts, colnames(tables))
    found <- coding_changes_impl(counts, genes, sequences, options, watch)
    origin <- origin_of(vcf, mask, sequences, parts, transcripts$code, options)
    c(found, list(transcripts = transcripts, tables = tables, origin = origin))
  }, work$progress)
  if (!use_info) warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, use_info)
  warn_about_counts(found, vcf, "Their counts are NA")
  left_out <- records_left_out(found, low_confidence)
  check_any_site(
    found, left_out, vcf, use_info, use = "a change of a codon, which is a SNP of two alleles",
    words = c(INDEL = "with an allele that is not a single A, C, G or T")
  )
  records <- c(left_out, NOT_CODING = found$not_coding, CODING = found$coding)
  changes <- change_table(found)
  if (!is.null(populations)) changes <- with_populations(changes, found, given$names)
  warn_about_codes(changes, codes)
  proteins <- named_proteins(found$proteins, changes)
  changes$protein <- proteins$protein[changes$protein]
  structure(
    changes, records = data.frame(reason = names(records), records = unname(records)),
    proteins = proteins, origin = found$origin,
    class = c("coding_changes", "data.frame")
  )
}

# The parts on the VCF's chromosomes, under its names, and the index of each transcript. Parts of a
# transcript are in the direction of translation. A transcript with two coding sequences, or on two
# chromosomes (pseudoautosomal regions), counts as two.
parts_on <- function(parts, chromosomes, vcf) {
  there <- match_chromosomes(parts$chromosome, chromosomes)
  refuse_if(all(is.na(there)),
            "`genes` has no chromosome of %s: use the same names. It has %s, and the VCF has %s.",
            quoted(vcf), enumerate(quoted(unique(parts$chromosome))),
            enumerate(quoted(chromosomes)))
  parts$chromosome <- chromosomes[there]
  parts <- without_two_strands(parts[!is.na(there), ])
  is_reverse <- parts$strand == "-"
  along <- ifelse(is_reverse, -parts$end, parts$start)
  until <- ifelse(is_reverse, -parts$start, parts$end)
  # "radix" sorts names in the same order in every locale.
  parts <- parts[order(
    parts$chromosome, parts$strand, parts$transcript, parts$sequence, along, until,
    method = "radix"
  ), ]
  key <- paste(parts$chromosome, parts$strand, parts$transcript, parts$sequence)
  parts$number <- match(key, unique(key))
  refuse_repeats(parts)
  parts
}

# Leaves out transcripts on both strands, as by trans-splicing: codons across the change would be
# wrong.
without_two_strands <- function(parts) {
  sequence <- paste(parts$chromosome, parts$transcript, parts$sequence)
  both <- intersect(sequence[parts$strand == "+"], sequence[parts$strand == "-"])
  if (length(both) == 0) {
    return(parts)
  }
  left_out <- sequence %in% both
  problem <- sprintf(
    "%s coding parts on both strands of a chromosome, as after trans-splicing",
    count_with_verb(length(both), "transcript")
  )
  names <- enumerate(quoted(unique(parts$transcript[left_out])))
  refuse_if(all(left_out), "%s, and no other is left: %s.", problem, names)
  warn_ancify(
    sprintf("%s, and %s left out: %s.", problem, if (length(both) == 1) "is" else "are", names),
    "annotation"
  )
  parts[!left_out, ]
}

# A repeated part would be translated twice. Sorting has made repeats adjacent.
refuse_repeats <- function(parts) {
  twice <- which(
    diff(parts$number) == 0 & diff(parts$start) == 0 & diff(parts$end) == 0
  )[1]
  if (!is.na(twice)) {
    part <- parts[twice, ]
    refuse_input("`genes` has the same coding part twice, %s from %s to %s of %s: leave one out.",
                 part$chromosome, format(part$start), format(part$end), quoted(part$transcript))
  }
}

# A row for each transcript. `canonical` is true for the first transcript of a gene: by the best
# tag, then the longest coding sequence, then the first name. A gene on two chromosomes, as in
# pseudoautosomal regions, has a canonical transcript on each. Without a gene it is NA.
transcripts_of <- function(parts) {
  transcripts <- parts[!duplicated(parts$number), ]
  bases <- rowsum(parts$end - parts$start + 1, parts$number, reorder = FALSE)[, 1]
  order <- order(transcripts$rank, -bases)
  gene <- transcripts[c("chromosome", "gene")]
  first <- seq_along(order) %in% order[!duplicated(gene[order, ])]
  transcripts$canonical <- ifelse(is.na(transcripts$gene), NA, first)
  transcripts
}

# Transcripts whose phases contradict the lengths of their parts have no frame: the genome may have
# an insertion or deletion between parts, or the phases are wrong.
without_broken_frames <- function(transcripts, parts) {
  length <- parts$end - parts$start + 1
  first <- match(parts$number, parts$number)
  before <- cumsum(length) - length
  phase <- (parts$phase[first] - (before - before[first])) %% 3
  broken <- transcripts$number %in% parts$number[which(parts$phase != phase)]
  if (any(broken)) {
    names <- unique(transcripts$transcript[broken])
    warn_ancify(
      sprintf(
        paste(
          "The phases of the coding parts of %s contradict the parts' lengths, so the codons are",
          "unknown: %s. Correct the phases, or give all parts a dot to count codons from the first",
          "base."
        ),
        count_of(sum(broken), "transcript"), enumerate(quoted(names))
      ),
      "annotation"
    )
  }
  # An unknown phase and an open start tell the core that the frame is unknown.
  transcripts$phase[broken] <- NA
  transcripts$open_start[broken] <- TRUE
  transcripts
}

# A column of residues for each code in use, named by its number.
code_tables <- function(numbers) {
  numbers <- unique(numbers[!is.na(numbers)])
  tables <- lapply(stats::setNames(numbers, numbers), genetic_code_of)
  codons <- names(genetic_code_of("1"))
  matrix(as.character(unlist(tables)), length(codons), length(numbers),
         dimnames = list(codons, numbers))
}

# The genes for coding_changes_impl(). Transcripts count from 0 in each chromosome. `codes`: the
# numbers of the codes that the core gets.
genes_for_core <- function(parts, transcripts, codes) {
  lapply(split(parts, parts$chromosome), function(x) {
    of <- transcripts[transcripts$chromosome == x$chromosome[1], ]
    core_list(
      "Genes",
      transcript = match(x$number, of$number) - 1L, start = x$start, end = x$end,
      forward = of$strand != "-", phase = as.integer(of$phase), open_start = of$open_start,
      code = match(of$code, codes) - 1L
    )
  })
}

change_table <- function(found) {
  x <- found$changes
  called <- rowSums(found$called)
  if (!found$has_posteriors) x$posterior[] <- NA
  bases <- c("A", "C", "G", "T")
  chromosome <- found$chromosomes$chromosome[x$chromosome]
  # The core numbers transcripts within each chromosome.
  before <- match(chromosome, found$transcripts$chromosome) - 1
  transcript <- found$transcripts[before + x$transcript, ]
  tables <- found$tables
  residues <- function(codon) {
    at <- cbind(match(codon, rownames(tables)), match(transcript$code, colnames(tables)))
    residue <- tables[at]
    ifelse(is.na(residue), "X", residue)
  }
  known <- x$consequence < match("no sequence", consequences)
  only_known <- function(values) replace(values, !known, NA)
  site <- paste(x$chromosome, x$position, x$derived)
  data.frame(
    chromosome = chromosome, position = x$position, ancestral = bases[x$ancestral],
    derived = bases[x$derived], posterior = x$posterior,
    called = known_counts(called, called), copies = known_counts(rowSums(found$copies), called),
    transcript = transcript$transcript, gene = transcript$gene, strand = transcript$strand,
    codon = x$codon, place = x$place, ancestral_codon = only_known(x$ancestral_codon),
    derived_codon = only_known(x$derived_codon),
    ancestral_residue = only_known(residues(x$ancestral_codon)),
    derived_residue = only_known(residues(x$derived_codon)),
    consequence = factor(consequences[x$consequence], consequences),
    focal_codon = only_known(x$focal_codon), ref_is_ancestral = x$ref_is_ancestral,
    protein = x$protein, genetic_code = as.integer(transcript$code),
    canonical = transcript$canonical,
    worst = first_of_least(match(consequences[x$consequence], gravest), site)
  )
}

# Counts; NA where no haplotype is called.
known_counts <- function(counts, called) as.integer(replace(counts, called == 0, NA))

# The changes with two columns for each population.
with_populations <- function(changes, found, names) {
  for (k in seq_along(names)) {
    called <- found$called[, k]
    changes[[paste0("called_", names[k])]] <- known_counts(called, called)
    changes[[paste0("copies_", names[k])]] <- known_counts(found$copies[, k], called)
  }
  changes
}
