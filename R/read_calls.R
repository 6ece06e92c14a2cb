#' Read ancestral calls of regions
#'
#' `read_ancestral(run, "chr1:2001-2040")` gives the calls of regions as sequences, and
#' `read_confidence()` gives their confidence as ranges. Both read only these parts of the files.
#'
#' | Strand | Sequence |
#' | --- | --- |
#' | `+`, `*` | as in the file |
#' | `-` | the reverse complement; each base keeps its case, which marks confidence |
#'
#' `read_confidence()` gives a range for each run of positions with equal confidence within a
#' region. Overlapping regions have separate ranges. `name` is the name column of BED files, so
#' `rtracklayer::export(ranges, "calls.bed")` writes it.
#'
#' | `name` | Calls |
#' | --- | --- |
#' | `high` | `A`, `C`, `G`, `T` |
#' | `low` | `a`, `c`, `g`, `t` |
#' | `unresolved` | `n` |
#' | `missing` | `N`; `-` and `.` in references |
#'
#' @param run The result of [ancify_run()], or its output folder with one-line FASTA files
#'   `<chromosome>.fa`. A folder's chromosomes are sorted naturally by name, `chr2` before
#'   `chr10`.
#' @param regions `NULL` (the default) for whole chromosomes; a `GRanges`; a `VCF` (the positions of
#'   its variants); text such as `"chr1:2,001-2,040"` or `"chr1:2001-2040:-"`; or a data frame (or
#'   `DataFrame`) of `chromosome` (or `seqnames`), `start`, `end` and optionally `strand`. Positions
#'   count from 1, and ends are inclusive. Positions beyond 2^31 - 1, the limit of `GRanges`, need
#'   text or a data frame. A region has at most 2^31 - 1 positions.
#' @param as For `read_confidence()`: `"ranges"` (the default) or `"rle"`.
#' @inheritParams project_axt
#' @return `read_ancestral()`: a `BStringSet` of the package Biostrings with a sequence for each
#'   region, in their order and named by region or chromosome. (A `DNAStringSet` would lose the
#'   case.)
#'
#'   `read_confidence()`: a `GRanges` in the order of the regions, with the factor `name` and the
#'   `seqinfo()` of the run. With `as = "rle"` an `RleList`, named like the sequences, with a factor
#'   for each region that has a value per position. It stores about one integer per run of equal
#'   values.
#' @section Errors:
#' * `ancify_calls_warning`: a folder mixes calls of several configurations.
#' * `ancify_input_error`: regions have another type, lie on a chromosome without calls, or extend
#'   beyond its end. In `read_confidence()` also: beyond position 2^31 - 1.
#' * `ancify_file_error`: the folder has no calls, or a file cannot be read.
#' * `ancify_format_error`: a file is not one-line FASTA, or differs in length from the file that
#'   the run wrote. In `read_confidence()` also: a letter is not a call.
#' * `ancify_package_error`: Biostrings or GenomicRanges is not installed.
#' @seealso [ancify_run()], [read_posterior()]; [compare_calls()] for several runs
#' @export
#' @examplesIf length(find.package(c("Biostrings", "GenomicRanges"), quiet = TRUE)) == 2
#' run <- ancify_run(ancify_example(), threads = 1, verbose = FALSE)
#' \donttest{ # GenomicRanges alone takes seconds to load
#' regions <- GenomicRanges::GRanges(c(site = "chr1:2001-2040:+", same = "chr1:2001-2040:-"))
#' read_ancestral(run, regions)
#' read_confidence(run, regions["site"])
#' }
read_ancestral <- function(run, regions = NULL, progress = interactive()) {
  check_given()
  need_bioconductor("Biostrings", "Calls as sequences")
  places <- find_regions(run, regions)
  calls <- read_places(read_regions_impl, places, progress)
  calls[places$region] <- calls
  calls <- Biostrings::BStringSet(calls)
  names(calls) <- region_names(regions, places)
  minus <- places$minus
  calls[minus] <- Biostrings::reverse(chartr("ACGTacgt", "TGCAtgca", calls[minus]))
  calls
}

# Names of the regions: of chromosomes or ranges, or the text.
region_names <- function(regions, places) {
  if (is.null(regions)) {
    places$files$chromosome
  } else if (is.character(regions)) {
    names(regions) %||% regions
  } else if (!is.data.frame(plain_table(regions))) {
    names(regions)
  }
}

#' @rdname read_ancestral
#' @export
read_confidence <- function(run, regions = NULL, as = c("ranges", "rle"),
                            progress = interactive()) {
  check_args(as = choice(c("ranges", "rle")))
  need_bioconductor(c("GenomicRanges", "IRanges"), "Calls as ranges")
  places <- find_regions(run, regions)
  if (as == "ranges") check_fit_in_ranges(places)
  runs <- read_places(confidence_runs_impl, places, progress)
  name <- factor(confidences[runs$confidence], confidences)
  if (as == "rle") {
    return(confidence_rle(runs, name, places, region_names(regions, places)))
  }
  all <- with_lengths(call_files(run))
  genome <- if (inherits(run, "ancify_run")) attr(run, "config")$genome
  ranges <- GenomicRanges::GRanges(
    factor(places$files$chromosome[places$file[runs$region]], all$chromosome),
    IRanges::IRanges(runs$start, width = runs$width), name = name,
    seqinfo = seqinfo_of(all$chromosome, all$length, genome)
  )
  ranges[order(places$region[runs$region])]
}

# A factor for each region, with its name.
confidence_rle <- function(runs, name, places, names) {
  rows <- split(seq_along(name), factor(runs$region, seq_along(places$region)))
  each <- lapply(rows, function(rows) S4Vectors::Rle(name[rows], runs$width[rows]))
  each[places$region] <- each
  do.call(IRanges::RleList, c(unname(each), list(compress = FALSE))) |> stats::setNames(names)
}

# `read`: an export that reads such places as find_regions() gives.
read_places <- function(read, places, progress) {
  with_watch("Reading calls", function(watch) {
    read(places$files$file, places$files$chromosome,
         core_regions(places$file, places$start, places$width), watch)
  }, progress)
}

# The regions, chromosome by chromosome: list(files = table of the chromosomes, file = its rows,
# start =, width =, region = the regions' indices, minus = whether each is on the minus strand).
find_regions <- function(run, regions) {
  files <- call_files(run)
  if (is.null(regions)) {
    files <- with_lengths(files)
    all <- seq_len(nrow(files))
    check_fits_in_strings(stats::setNames(files$length, files$chromosome), "`regions`")
    return(list(
      files = files, file = all, start = rep(1L, nrow(files)), width = files$length,
      region = all, minus = rep(FALSE, nrow(files))
    ))
  }
  regions <- region_table(regions)
  check_have_calls(unique(regions$chromosome), files)
  files <- with_lengths(files[files$chromosome %in% regions$chromosome, ])
  file <- match(regions$chromosome, files$chromosome)
  check_inside(regions, files$length[file])
  region <- order(file)
  list(
    files = files, file = file[region], start = regions$start[region],
    width = (regions$end - regions$start + 1)[region], region = region,
    minus = regions$strand == "-"
  )
}

# The chromosome, start, end and strand of the user's regions.
region_table <- function(regions) {
  table <- as_region_table(regions)
  refuse_if(
    is.null(table),
    paste("`regions` must be a GRanges, a VCF, text such as \"chr1:1-20\", a data frame of",
          "`chromosome` (or `seqnames`), `start`, `end` and maybe `strand` (+, - or *), or NULL",
          "(whole chromosomes), not %s."), show_value(regions)
  )
  as.list(table)
}

# IRanges have integer positions.
check_fit_in_ranges <- function(places) {
  beyond <- which(places$start + places$width - 1 > .Machine$integer.max)[1]
  refuse_if(!is.na(beyond),
            "A region of %s reaches beyond position 2^31 - 1, the limit of GRanges: %s.",
            quoted(places$files$chromosome[places$file[beyond]]),
            "use read_ancestral() with a data frame of regions")
}

# A run's call files: chromosome, file, and length (NA if unknown).
call_files <- function(run, name = "run") {
  if (inherits(run, "ancify_run")) {
    check_called(run, name)
    check_not_replaced(run, name)
    return(data.frame(chromosome = run$chromosome, file = run$file, length = run$length))
  }
  folder <- check_path(run, name)
  chromosomes <- sub("\\.fa$", "", list.files(folder, "\\.fa$", all.files = TRUE))
  refuse_file_if(length(chromosomes) == 0, folder, "`%s`: %s %s.", name, quoted(folder),
                 if (dir.exists(folder)) "has no calls (<chromosome>.fa)" else "is not a folder")
  chromosomes <- chromosomes[natural_order(chromosomes)]
  data.frame(
    chromosome = chromosomes, file = sequence_path(folder, chromosomes), length = NA_real_
  )
}

# The folder of calls of a run or a path. For a run it has the attribute `chromosomes`, as the
# folder may contain chromosomes of another run.
folder_of_calls <- function(run, name) {
  if (!inherits(run, "ancify_run")) {
    return(check_path(run, name))
  }
  check_called(run, name)
  check_not_replaced(run, name)
  folder <- check_path(attr(run, "config")$output_dir %||% dirname(run$file[1]), name)
  structure(folder, chromosomes = run$chromosome)
}

# Files in a folder of calls; NA for chromosomes of other runs.
only_of_run <- function(files, folder) {
  chromosomes <- attr(folder, "chromosomes")
  if (is.null(chromosomes)) {
    return(files)
  }
  replace(files, !sub("[.][^.]*$", "", basename(files)) %in% chromosomes, NA)
}

# Sorts chr2 before chr10.
natural_order <- function(names) {
  digits <- gregexpr("[0-9]+", names)
  padded <- names
  regmatches(padded, digits) <- lapply(regmatches(names, digits), function(number) {
    sprintf("%s%s", strrep("0", pmax(20 - nchar(number), 0)), number)
  })
  order(padded, names, method = "radix")
}

# Regions in the core's form. `file`: the index of each region's file.
core_regions <- function(file, start, width) {
  core_list("Regions", file = file, start = start, width = width)
}

# Adds the lengths of sequences, after reading all files. They must match the run's lengths.
with_lengths <- function(files) {
  warn_about_mixed_calls(files$file)
  lengths <- sequence_lengths_impl(files$file, files$chromosome)
  changed <- which(lengths != files$length)[1]
  if (!is.na(changed)) {
    abort_ancify(
      sprintf(
        "%s has %s bases, but the run wrote %s. The file was changed: run again.",
        quoted(files$file[changed]), format_count(lengths[changed]),
        format_count(files$length[changed])
      ),
      "format", file = files$file[changed], line = 2
    )
  }
  files$length <- lengths
  files
}

check_have_calls <- function(chromosomes, files) {
  unknown <- setdiff(chromosomes, files$chromosome)
  if (length(unknown) == 0) {
    return(invisible())
  }
  refuse_input(
    "`regions` has %s, but there are only calls of %s%s.", enumerate(quoted(unknown)),
    enumerate(quoted(files$chromosome)),
    if (any(!is.na(match_chromosomes(unknown, files$chromosome)))) {
      ". The names differ by a leading 'chr': change them by GenomeInfoDb::seqlevelsStyle()"
    } else {
      ""
    }
  )
}

check_inside <- function(regions, lengths) {
  fail <- function(wrong, problem) {
    i <- which(wrong)[1]
    if (is.na(i)) {
      return(invisible())
    }
    refuse_input("`regions[%d]`, %s:%s-%s, %s.", i, regions$chromosome[i],
                 number_text(regions$start[i]), number_text(regions$end[i]),
                 sub("%s", format_count(lengths[i]), problem, fixed = TRUE))
  }
  start <- regions$start
  end <- regions$end
  fail(start != round(start) | end != round(end) | end < start - 1, "is no range of positions")
  fail(start < 1 | end > lengths, "is not inside its chromosome of %s bases")
  fail(end - start >= .Machine$integer.max, "is longer than an R string (2^31 - 1)")
}
