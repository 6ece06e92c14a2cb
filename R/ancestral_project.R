#' Project an outgroup onto the focal genome
#'
#' Reads an alignment in AXT, MAF, TAF, chain or PAF format once. For each focal chromosome it gives
#' the outgroup's base at each position, as sequences or as FASTA files:
#' `project_axt("hg38.panTro6.axt.gz", "hg38.chrom.sizes", output_dir = "chimp")`.
#'
#' | Case | Result |
#' | --- | --- |
#' | a column with a focal letter | the outgroup's character, in its case, `-` included |
#' | a column with a focal gap | no position |
#' | a position without a block | `N` |
#' | several blocks at a position | the one with the best score (`overlaps`); counted |
#' | a block on a chromosome that was not asked for | ignored |
#' | a bad block | an error, or left out (`on_bad_block`) |
#'
#' A block is good if its two rows have the same length and contain only letters and `-`. Its
#' coordinates must lie inside the chromosome and span as many positions as the focal row has
#' letters.
#'
#' @section MAF files:
#' The source of a row is `<name>.<chromosome>`.
#'
#' | Row of a block | Use |
#' | --- | --- |
#' | each of `focal_maf_name` on a chromosome of `chrom_lengths` | a focal row |
#' | `maf_name`, with or without a dot and further text | the outgroup's row |
#' | several rows of the outgroup | the one that shares the most bases with the focal row; counted |
#' | rows of other species; `i`, `e` and `q` lines | ignored |
#'
#' The order of rows does not matter. If two outgroup rows are equally close to the focal row,
#' positions at which they differ become `N`. With `overlaps = "missing"`, positions at which any
#' outgroup rows differ become `N`. A block with several focal rows is projected to the positions of
#' each.
#'
#' A block without a focal row is bad. A block without an outgroup row has no outgroup data. A block
#' with the focal row on the minus strand is reverse-complemented. Each row must have as many bases
#' as its size states, and coordinates inside its sequence. The length of the focal sequence must
#' agree with `chrom_lengths`.
#'
#' @section TAF files:
#' TAF is the format of the program taffy, for alignments by Cactus. It has the columns of a MAF one
#' by one, as plain or run-length encoded bases, and states coordinates where they change. The
#' columns between two statements of coordinates, at most 65,536, form a block. So a TAF gives the
#' bases of its MAF, with two exceptions. It has no scores, and a block may be cut elsewhere, so
#' that another of several rows of an outgroup is the closest.
#'
#' Names and rows are as in MAF. A block may lack focal bases; it then has no position. A column
#' with a wrong number of bases or a wrong character makes its block bad. The blocks after it are
#' bad too, until a line states all coordinates of the focal species and the outgroups again. A
#' change of rows that cannot be read is always an error. A lost line shifts the columns after it;
#' only a check against `focal_fasta` reveals this.
#'
#' @section Chain files:
#' A chain has no bases; the outgroup's bases come from its genome, `twobit`.
#'
#' | Case | Result |
#' | --- | --- |
#' | an ungapped block | the outgroup's bases, from the chain's strand |
#' | at most 100 focal bases that the outgroup lacks, between two blocks | `-` |
#' | other positions between blocks | `N` |
#'
#' So a chain file gives the same bases as the net AXT file made from its chains. Use UCSC's
#' `over.chain` files, which cover each focal position at most once. Where chains overlap, as in
#' `all.chain`, the one with the best score wins.
#'
#' A chain is good or bad as a whole. Its blocks must fit the ranges in its header. Its sequences
#' must have the lengths in `chrom_lengths` and in `twobit`. Each of its blocks counts as a block.
#'
#' @section PAF files:
#' minimap2 and wfmash write PAF. The focal genome is the target, which comes first in
#' `minimap2 -c --cs=long focal.fa outgroup.fa`. A row needs its CIGAR (`cg:Z:`) or its difference
#' string (`cs:Z:`).
#'
#' | Outgroup's bases | From |
#' | --- | --- |
#' | with `twobit` | this genome, in its case |
#' | without it | `cs:Z:` in the long form, in upper case |
#'
#' | Case | Result |
#' | --- | --- |
#' | an aligned column | the outgroup's base, along the focal strand |
#' | focal bases that the outgroup lacks | `-` |
#' | a row with `tp:A:S` or `tp:A:i` | left out, as a better alignment exists; counted |
#' | a query without an alignment (strand `*`), a line that begins with `#` | ignored |
#'
#' The score is `AS:i:` or, without it, the number of matching bases. The columns must fit the
#' ranges, and the sequences must have the lengths in `chrom_lengths` and in `twobit`. Bases in
#' `cs:Z:` must be those of `twobit`. Each ungapped stretch counts as a block.
#'
#' @section Blocks that overlap:
#' Net AXT files cover each position at most once. In other files several blocks may cover a
#' position, for instance in duplicated sequences. A warning counts such positions.
#'
#' | `overlaps` | The blocks that count |
#' | --- | --- |
#' | `"score"` | the one with the best score in the file; blocks without a score come last |
#' | `"missing"` | all |
#' | `"last"` | the last one in the file, including its `-` and `N` |
#'
#' If the blocks that count have different letters, as two of equal score may, the result is `N`. So
#' with `"score"` and `"missing"` the order of blocks does not matter. Scores of different programs
#' have different scales, so do not join their files.
#'
#' @section Limits:
#' A line or a block may take up to 1/32 of the memory; this limit is at least 256 MB and at most 2
#' GB. A longer one is an error, so that no file takes more than a fifth of the memory. Memory means
#' the computer's memory, or the limit of its control group or `ulimit -v` if lower. Names of
#' chromosomes have at most 200 bytes, without blanks and `/`.
#'
#' An interrupted call leaves no files. In a process forked by [parallel::mclapply()] it runs on one
#' thread.
#'
#' @param axt Path of an alignment in AXT, MAF, TAF, chain or PAF format: plain, gzip or
#'   bgzip, recognised by content. In AXT the focal genome is the first row of each pair, and in a
#'   chain or PAF it is the target. Chromosome names may differ from `chrom_lengths` by a leading
#'   `chr`.
#' @param chrom_lengths Lengths of the focal chromosomes in bases: a named numeric vector, or the
#'   path of a file with a name and a length on each line (`chrom.sizes` or `.fai`). It can also be
#'   the path of a 2bit genome, a `Seqinfo`, or an object with one, such as a `BSgenome` or a
#'   `TwoBitFile`.
#' @param chromosomes Names of the chromosomes to project, in the order wanted; `NULL` (the
#'   default) for all of `chrom_lengths`.
#' @param output_dir Folder for `<chromosome>.fa`, created if necessary. Existing files are
#'   replaced at the end. `NULL` (the default) returns the sequences instead.
#' @param on_bad_block `"error"` (the default) stops at a bad block; `"skip"` leaves it out and
#'   warns at the end.
#' @param overlaps The rule for several blocks at a position: `"score"` (the default), `"missing"`
#'   or `"last"`; see the section on blocks that overlap.
#' @param maf_name,focal_maf_name For MAF and TAF: prefixes of the sources of the outgroup and of
#'   the focal species, such as `"panTro6"` and `"hg38"`. For other formats `NULL` (the default).
#' @param twobit For chains, and for PAF without `cs:Z:` in the long form: path of the outgroup's
#'   genome in UCSC's 2bit format, such as `"panTro6.2bit"`. Its sequence names may differ by a
#'   leading `chr` from the alignment's. For other formats `NULL` (the default).
#' @param threads Number of threads; `NULL` (the default) for `getOption("ancify.threads")`, or all
#'   cores. One thread decompresses while another projects; bgzip files are decompressed on all
#'   threads.
#' @param backend `"auto"` (the default) or `"cpu"`. Projection has no GPU code in this version, so
#'   `"gpu"` is an error.
#' @param progress `TRUE` shows a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @return With `output_dir` the paths of the files, otherwise the sequences: a character vector
#'   named by chromosome.
#' @section Errors:
#' Nothing is written after an error.
#' * `ancify_input_error`: an argument cannot be used.
#' * `ancify_file_error` (field `file`): a file cannot be read or written.
#' * `ancify_format_error` (fields `file` and `line`): the text is in none of the formats, a block
#'   is bad, or the compression or `twobit` is damaged.
#' * `ancify_format_error`: the file has none of the chromosomes, or a MAF or TAF lacks the
#'   outgroup.
#' * `ancify_device_error`: the backend is `"gpu"`.
#' * `ancify_projection_warning`: chromosomes have no block, blocks, rows or secondary alignments
#'   were left out, or blocks overlap.
#' @references The formats: <https://genome.ucsc.edu/goldenPath/help/axt.html>,
#'   <https://genome.ucsc.edu/FAQ/FAQformat.html#format5>,
#'   <https://github.com/ComparativeGenomicsToolkit/taffy/blob/main/docs/taf_format.md>,
#'   <https://genome.ucsc.edu/goldenPath/help/chain.html>,
#'   <https://genome.ucsc.edu/FAQ/FAQformat.html#format7>,
#'   <https://lh3.github.io/minimap2/minimap2.html>
#' @seealso [call_ancestral()], [ancify_run()], [read_axt()] for an alignment's blocks
#' @export
#' @examples
#' config <- ancify_example()
#' axt <- config$outgroups$alignment[1]
#' sequences <- project_axt(axt, config$chromosome_lengths, threads = 1)
#' nchar(sequences)
#' substr(sequences["chr1"], 2001, 2060)
#'
#' # One species of a multiple alignment
#' maf <- tempfile(fileext = ".maf")
#' writeLines(c(
#'   "##maf version=1", "a score=0",
#'   "s hg38.chr1    2 5 + 10 ACG-TA", "s panTro6.chr1 0 6 + 20 ACGTTA"
#' ), maf)
#' project_axt(maf, c(chr1 = 10), maf_name = "panTro6", focal_maf_name = "hg38", threads = 1)
project_axt <- function(axt, chrom_lengths, chromosomes = NULL, output_dir = NULL,
                        on_bad_block = c("error", "skip"), maf_name = NULL,
                        focal_maf_name = NULL, threads = NULL,
                        backend = c("auto", "cpu", "gpu"), progress = interactive(),
                        twobit = NULL, overlaps = c("score", "missing", "last")) {
  check_args(axt = one_path(), twobit = optional(one_path()),
             on_bad_block = choice(c("error", "skip")), overlaps = choice(overlap_rules))
  all_lengths <- wanted_lengths(chrom_lengths, NULL)
  lengths <- wanted_lengths(all_lengths, chromosomes)
  check_maf_names_given(axt, maf_name, focal_maf_name)
  check_twobit_given(axt, twobit)
  refuse_gpu_projection(backend)
  work <- new_work(threads, backend, progress = progress)
  reading <- reading_of(
    lengths, work, on_bad_block, overlaps, focal_maf_name %||% "",
    names(all_lengths), genomes = genomes_by_alignment(axt, twobit)
  )

  if (is.null(output_dir)) {
    check_fits_in_strings(lengths)
    result <- with_watch("Projecting", function(watch) {
      project_memory_impl(as_alignments(basename(axt), axt, maf_name %||% ""), reading, watch)
    }, work$progress)
    warn_about_projection(result$report, axt, lengths, overlaps)
    return(result$sequences)
  }
  output_dir <- check_path(output_dir, "output_dir")
  reports <- with_watch("Projecting", function(watch) {
    alignments <- as_alignments(basename(axt), axt, maf_name %||% "", output_dir)
    project_files_impl(alignments, reading, watch)
  }, work$progress)
  warn_about_projection(reports[[1]], axt, lengths, overlaps)
  stats::setNames(sequence_path(output_dir, names(lengths)), names(lengths))
}

# ---- For the core ----------------------------------------------------------------------------

# One row for each alignment. `name_in_file`: the species' name in a file of several species.
# `folder`: the folder of its projected sequences. Both may be "".
as_alignments <- function(species, file, name_in_file = "", folder = "", inner = TRUE) {
  n <- length(species)
  core_list(
    "Alignments",
    species = species, file = file, name_in_file = rep_len(name_in_file, n),
    folder = rep_len(folder, n), inner = rep_len(inner, n)
  )
}

# Rules for positions that several blocks cover.
overlap_rules <- c("score", "missing", "last")

# Settings for reading alignments. `focal_name` and `focal_chromosomes`: the focal species in a file
# of several species. `focal_folder` or else `focal_fasta`: its bases, to check blocks. All may be
# "". `genomes`: from genomes_by_alignment().
reading_of <- function(lengths, work, on_bad_block, overlaps, focal_name = "",
                       focal_chromosomes = character(), aliases = character(), focal_folder = "",
                       focal_fasta = "", genomes = character()) {
  core_list(
    "Reading",
    lengths = lengths, work = work, on_bad_block = on_bad_block, overlaps = overlaps,
    chunk_size = chunk_size(), focal_name = focal_name,
    focal_chromosomes = c(focal_chromosomes, names(aliases)),
    aliases = aliases, focal_folder = focal_folder, focal_fasta = focal_fasta, genomes = genomes
  )
}

# The 2bit genomes of outgroups, if given, named by alignment.
genomes_by_alignment <- function(alignment, twobit) {
  genomes <- stats::setNames(as.character(twobit), alignment[seq_along(twobit)])
  genomes[!is.na(genomes)]
}

# If names are missing for a MAF, the core's error lists the names in the file.
check_maf_names_given <- function(axt, maf_name, focal_maf_name) {
  check_args(maf_name = optional(text()), focal_maf_name = optional(text()))
  refuse_if(!is.null(maf_name) && identical(maf_name, focal_maf_name),
            "`maf_name` and `focal_maf_name` are the same: name two species.")
  # For an empty file the core's error says that it has no block.
  refuse_if(!is.null(c(maf_name, focal_maf_name)) && !alignment_format_impl(axt)$many_species &&
              file.size(axt) > 0,
            "`maf_name` and `focal_maf_name` are for MAF and TAF, but %s is not MAF or TAF: %s.",
            quoted(axt), "leave them out")
}

# If `twobit` is missing, the core's error says so.
check_twobit_given <- function(axt, twobit) {
  refuse_if(!is.null(twobit) && !alignment_format_impl(axt)$takes_genome && file.size(axt) > 0,
            "`twobit` is for chain and PAF files, but %s is neither: leave it out.", quoted(axt))
}

refuse_gpu_projection <- function(backend) {
  if (identical(backend, "gpu")) {
    abort_ancify(
      paste(
        "Projection has no GPU code in this version: leave `backend` at \"auto\",",
        "or set it to \"cpu\"."
      ),
      "device"
    )
  }
}

# The lengths of the requested chromosomes, named and in the requested order.
wanted_lengths <- function(chrom_lengths, chromosomes) {
  lengths <- lengths_given(chrom_lengths, "chrom_lengths")
  if (is.null(chromosomes)) {
    return(lengths)
  }
  must_be(is.atomic(chromosomes), chromosomes, "chromosomes", "names")
  chromosomes <- as.character(chromosomes)
  unknown <- setdiff(chromosomes, names(lengths))
  refuse_if(length(unknown) || length(chromosomes) == 0 || anyDuplicated(chromosomes),
            "`chromosomes` must be names in `chrom_lengths` (%s), each once, not %s.",
            enumerate(quoted(names(lengths))),
            show_value(if (length(unknown)) unknown else chromosomes))
  lengths[chromosomes]
}

# Lengths from a file or a vector.
lengths_given <- function(lengths, name) {
  if (is.character(lengths)) {
    return(read_chromosome_lengths(check_path(lengths, name)))
  }
  if (isS4(lengths)) lengths <- lengths_of_seqinfo(lengths, name)
  check_lengths(lengths, name)
}

lengths_of_genome <- function(config) {
  path <- config$chromosome_lengths
  read_chromosome_lengths(path, input_identity(config, path)$identity %||% "")
}

check_lengths <- function(lengths, name = "chrom_lengths") {
  fail <- function(what) {
    refuse_input(
      paste0(
        "`", name, "` must be a path or a named vector of positive whole numbers, ",
        "each chromosome once; ", what, "."
      )
    )
  }
  if (!is.numeric(lengths) || length(lengths) == 0) {
    fail(paste("it is", show_value(lengths)))
  }
  if (is.null(names(lengths)) || !all(names_a_path(names(lengths)))) {
    fail("a name is missing, or not possible for a file and a sequence")
  }
  if (anyDuplicated(names(lengths))) {
    fail(paste(quoted(names(lengths)[anyDuplicated(names(lengths))]), "occurs twice"))
  }
  bad <- !is.finite(lengths) | lengths < 1 | lengths != round(lengths) | lengths > 2^53
  if (any(bad)) {
    fail(sprintf("%s has %s", quoted(names(lengths)[bad][1]), show_value(unname(lengths[bad][1]))))
  }
  lengths
}

# R's strings hold at most 2^31 - 1 bytes.
check_fits_in_strings <- function(lengths, way_out = "`output_dir` to write files") {
  long <- names(lengths)[lengths > .Machine$integer.max]
  refuse_if(length(long), "%s is longer than an R string (2^31 - 1): give %s.",
            enumerate(quoted(long)), way_out)
}

# One warning about everything that an alignment lacks, so that missing data are not mistaken for
# data.
warn_about_projection <- function(report, axt, lengths, overlaps) {
  empty <- names(lengths)[report$blocks == 0]
  problems <- c(
    if (length(empty)) {
      sprintf(
        "it has no block on %s, whose sequence%s all N", enumerate(quoted(empty)),
        if (length(empty) == 1) " is" else "s are"
      )
    },
    if (report$bad > 0) {
      sprintf(
        "%s left out, the first at line %s: %s", count_of(report$bad, "bad block"),
        number_text(report$bad_lines[1]), report$bad_problems[1]
      )
    },
    if (report$duplicates > 0) {
      sprintf(
        "%s of a species that its block has already, where %s", count_of(report$duplicates, "row"),
        if (overlaps == "missing") {
          "`N` stands unless all agree"
        } else {
          "the row nearest to the focal one counts, and `N` stands where equally near ones differ"
        }
      )
    },
    if (report$secondary > 0) paste(count_of(report$secondary, "secondary alignment"), "left out"),
    if (report$shared > 0) {
      sprintf("blocks overlap at %s, where %s",
              count_of(report$shared, "position"), overlaps_in_words(overlaps))
    }
  )
  if (length(problems)) {
    warn_ancify(
      sprintf("%s: %s.", quoted(axt), paste(problems, collapse = "; ")), "projection",
      file = axt, chromosomes = empty, bad_blocks = report$bad, lines = report$bad_lines,
      duplicates = report$duplicates, shared = report$shared, secondary = report$secondary
    )
  }
}

overlaps_in_words <- function(overlaps) {
  paste(
    switch(
      overlaps,
      score = "the best score counts, and `N` stands where equal scores differ",
      missing = "`N` stands unless all agree",
      last = "the last one in the file counts"
    ),
    "(`overlaps` sets the rule; a net file has no overlap)"
  )
}
