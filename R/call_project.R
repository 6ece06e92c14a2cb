#' Project an outgroup onto the focal genome's coordinates
#'
#' Reads an alignment once, AXT or MAF, and writes, for every chromosome of the
#' focal genome, the outgroup's base at each position.
#'
#' Every column of a block whose focal character is a letter stands for one
#' position; the outgroup's character is written there as it is, case and `-`
#' included. Positions that no block covers are `N`. Where blocks overlap, the
#' later one in the file wins. Each block is checked: two rows of equal length,
#' of letters and `-` only, coordinates inside the chromosome, and as many focal
#' letters as the coordinates span. Blocks on chromosomes that were not asked for
#' are passed over.
#'
#' In a MAF file a row's source is `<name>.<chromosome>`. The focal species' row of a
#' block is the first whose source is `focal_maf_name`, a dot and a chromosome of
#' `chrom_lengths`; the outgroup's the first whose source is `maf_name`, alone or
#' with a dot and anything behind it. Further rows of the two are left out and counted.
#' A focal row on the minus strand turns its block round. Both rows are checked: as
#' many bases as their size, coordinates inside their sequence, and the focal one's
#' length that of `chrom_lengths`. A block without a focal row is bad; one without
#' the outgroup's has nothing of it. Rows of other species, and `i`, `e` and `q`
#' lines, are not looked at.
#'
#' A line or a block may have at most a 32nd of the computer's memory (of its control
#' group's or `ulimit -v`'s, if that is less), at least 256 MB and at most 2 GB; one that
#' is longer is an error, so that no file takes more than a fifth of the memory. Names of
#' chromosomes have at most 200 bytes, neither blanks nor `/`.
#'
#' The work can be interrupted at any time and leaves no file then. In a process
#' forked by [parallel::mclapply()] it runs on one thread.
#'
#' @param axt Path of an alignment in UCSC's AXT or MAF format, plain, gzip or bgzip
#'   (all told apart by content). In AXT the focal genome is the first of each pair
#'   of rows.
#' @param chrom_lengths Lengths of the focal chromosomes in bases: the path of a
#'   file with a name and a length on each line (`chrom.sizes` or `.fai`), or a
#'   named numeric vector.
#' @param chromosomes Names of the chromosomes to project, in the order wanted;
#'   `NULL` (the default) for all of `chrom_lengths`.
#' @param output_dir Folder for `<chromosome>.fa`, made if need be; files that
#'   exist are replaced when all is done. `NULL` (the default) returns the
#'   sequences instead.
#' @param on_bad_block `"error"` (the default) stops at a block that fails its
#'   checks; `"skip"` leaves it out and warns at the end.
#' @param maf_name,focal_maf_name For a MAF file, what the sources of the outgroup and
#'   of the focal species begin with, such as `"panTro6"` and `"hg38"`; each one text.
#'   For AXT `NULL` (the default).
#' @param threads Threads; `NULL` (the default) for `getOption("ancify.threads")`
#'   or else all cores. One inflates while another projects, and the blocks of a
#'   bgzip file are inflated on all of them.
#' @param backend `"auto"` (the default) or `"cpu"`: projection has no GPU code
#'   in this version, and `"gpu"` is an error.
#' @param progress Whether to show a progress bar if it takes more than two seconds; by default
#'   in interactive sessions alone.
#' @return With `output_dir` the paths of the files, otherwise the sequences: a
#'   character vector with the chromosomes' names.
#' @section Errors:
#' `ancify_input_error` for arguments that can't be used; `ancify_file_error` (field `file`) for
#' files that can't be read or written; `ancify_format_error` (fields `file` and `line`) for text
#' that is neither AXT nor MAF, bad blocks, damaged compression, and where none of the chromosomes,
#' or in a MAF the outgroup, occurs in the file; `ancify_device_error` for the backend `"gpu"`.
#' After an error nothing is written. Chromosomes without a block and blocks and rows left out are
#' an `ancify_projection_warning`.
#' @references The formats: <https://genome.ucsc.edu/goldenPath/help/axt.html>,
#'   <https://genome.ucsc.edu/FAQ/FAQformat.html#format5>
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
                        backend = c("auto", "cpu", "gpu"), progress = interactive()) {
  check_given()
  axt <- check_path(axt, "axt")
  on_bad_block <- check_choice(on_bad_block, c("error", "skip"), "on_bad_block")
  all_lengths <- wanted_lengths(chrom_lengths, NULL)
  lengths <- wanted_lengths(all_lengths, chromosomes)
  check_maf_names_given(axt, maf_name, focal_maf_name)
  refuse_gpu_projection(check_choice(backend, backends, "backend"))
  reading <- reading_of(
    lengths, choose_backend("cpu", threads), on_bad_block, focal_maf_name %||% "",
    names(all_lengths)
  )

  if (is.null(output_dir)) {
    check_fits_in_strings(lengths)
    result <- with_watch("Projecting", function(watch) {
      project_memory_impl(as_alignments(basename(axt), axt, maf_name %||% ""), reading, watch)
    }, progress)
    warn_about_projection(result$report, axt, lengths)
    return(result$sequences)
  }
  output_dir <- check_path(output_dir, "output_dir")
  reports <- with_watch("Projecting", function(watch) {
    alignments <- as_alignments(basename(axt), axt, maf_name %||% "", output_dir)
    project_files_impl(alignments, reading, watch)
  }, progress)
  warn_about_projection(reports[[1]], axt, lengths)
  stats::setNames(sequence_path(output_dir, names(lengths)), names(lengths))
}

# ---- For the core ----------------------------------------------------------------------------

# A row an alignment. `name_in_file`: of the species, where a file has several; `folder`: where its
# projected sequences are kept; both may be "".
as_alignments <- function(species, file, name_in_file = "", folder = "", inner = TRUE) {
  n <- length(species)
  list(
    species = species, file = file, name_in_file = rep_len(name_in_file, n),
    folder = rep_len(folder, n), inner = rep_len(inner, n)
  )
}

# How alignments are read. `focal_name` and `focal_chromosomes` are the focal species' in a file of
# several species; `focal_folder` or else `focal_fasta` has its bases, to compare blocks with. All
# may be "".
reading_of <- function(lengths, backend, on_bad_block, focal_name = "",
                       focal_chromosomes = character(), focal_folder = "", focal_fasta = "") {
  list(
    lengths = lengths, backend = backend, on_bad_block = on_bad_block, chunk_size = chunk_size(),
    focal_name = focal_name, focal_chromosomes = focal_chromosomes, focal_folder = focal_folder,
    focal_fasta = focal_fasta
  )
}

# Without names the core tells those there are.
check_maf_names_given <- function(axt, maf_name, focal_maf_name) {
  if (!is.null(maf_name)) check_text(maf_name, "maf_name")
  if (!is.null(focal_maf_name)) check_text(focal_maf_name, "focal_maf_name")
  if (!is.null(maf_name) && identical(maf_name, focal_maf_name)) {
    abort_ancify("`maf_name` and `focal_maf_name` are one species: name two.", "input")
  }
  # Of an empty file the core says that it has no block.
  if (!is.null(c(maf_name, focal_maf_name)) && !has_many_species_impl(axt) && file.size(axt) > 0) {
    abort_ancify(
      sprintf("`maf_name` and `focal_maf_name` are for MAF files, and %s is none: leave them out.",
              quoted(axt)),
      "input"
    )
  }
}

refuse_gpu_projection <- function(backend) {
  if (backend == "gpu") {
    abort_ancify(
      paste(
        "Projection has no GPU code in this version: leave `backend` at \"auto\",",
        "or set it to \"cpu\"."
      ),
      "device"
    )
  }
}

# The lengths of the chromosomes asked for, by name, in their order.
wanted_lengths <- function(chrom_lengths, chromosomes) {
  lengths <- lengths_given(chrom_lengths, "chrom_lengths")
  if (is.null(chromosomes)) {
    return(lengths)
  }
  if (!is.atomic(chromosomes)) {
    abort_ancify(
      sprintf("`chromosomes` must be names, not %s.", show_value(chromosomes)), "input"
    )
  }
  chromosomes <- as.character(chromosomes)
  unknown <- setdiff(chromosomes, names(lengths))
  if (length(unknown) || length(chromosomes) == 0 || anyDuplicated(chromosomes)) {
    abort_ancify(
      sprintf(
        "`chromosomes` must name chromosomes of `chrom_lengths` (%s), each once, not %s.",
        enumerate(quoted(names(lengths))), show_value(if (length(unknown)) unknown else chromosomes)
      ),
      "input"
    )
  }
  lengths[chromosomes]
}

# Of a file or a vector.
lengths_given <- function(lengths, name) {
  if (is.character(lengths)) {
    return(read_chromosome_lengths(check_path(lengths, name)))
  }
  check_lengths(lengths, name)
}

names_a_file <- function(names) {
  # As is_safe_file_name() in the core.
  !is.na(names) & names_a_path(names) & !grepl("[\\x01-\\x20\\x7f]", names, perl = TRUE)
}

check_lengths <- function(lengths, name = "chrom_lengths") {
  fail <- function(what) {
    abort_ancify(
      paste0(
        "`", name, "` must be a path or a named vector of positive whole numbers, ",
        "each chromosome once; ", what, "."
      ),
      "input"
    )
  }
  if (!is.numeric(lengths) || length(lengths) == 0) {
    fail(paste("it is", show_value(lengths)))
  }
  if (is.null(names(lengths)) || !all(names_a_file(names(lengths)))) {
    fail("a name is missing, or cannot name both a file and a sequence")
  }
  if (anyDuplicated(names(lengths))) {
    fail(paste(quoted(names(lengths)[anyDuplicated(names(lengths))]), "stands there twice"))
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
  if (length(long)) {
    abort_ancify(
      sprintf(
        "%s is longer than R's strings can be (2^31 - 1): give %s.", enumerate(quoted(long)),
        way_out
      ),
      "input"
    )
  }
}

# Says once what the alignment lacks, before its result can be mistaken for data.
warn_about_projection <- function(report, axt, lengths) {
  empty <- names(lengths)[report$blocks == 0]
  problems <- c(
    if (length(empty)) {
      sprintf(
        "it has no block on %s, whose sequence%s all N%s", enumerate(quoted(empty)),
        if (length(empty) == 1) " is" else "s are",
        if (any(empty %in% report$other_prefix)) {
          " (but it has blocks on names that differ only by a leading 'chr')"
        } else {
          ""
        }
      )
    },
    if (report$bad > 0) {
      sprintf(
        "%s bad block%s left out, the first at line %s: %s", format_count(report$bad),
        if (report$bad == 1) " was" else "s were", format(report$bad_lines[1], scientific = FALSE),
        report$bad_problems[1]
      )
    },
    if (report$duplicates > 0) {
      sprintf(
        "%s row%s of a species that the block had already %s left out",
        format_count(report$duplicates), if (report$duplicates == 1) "" else "s",
        if (report$duplicates == 1) "was" else "were"
      )
    }
  )
  if (length(problems)) {
    warn_ancify(
      sprintf("%s: %s.", quoted(axt), paste(problems, collapse = "; ")), "projection",
      file = axt, chromosomes = empty, bad_blocks = report$bad, lines = report$bad_lines,
      duplicates = report$duplicates
    )
  }
}
