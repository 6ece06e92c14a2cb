#' Read posteriors
#'
#' `read_posterior("ancestral", "chr1", 2001, 2010)` reads the posteriors of ten positions from a
#' run with `posterior: true`. A posterior gives the certainty of a call as a Phred value.
#'
#' A value q means that the called base is wrong with probability 10^(-q / 10). A posterior of 0.9
#' is 10, and 0.999 is 30. Values are rounded; 254 means 254 or more.
#'
#' @param run The result of [ancify_run()], its output folder, or a `.phred` file.
#' @param chromosome The chromosome's name. A `.phred` file has one chromosome, so leave it `NULL`
#'   (the default).
#' @param start,end First and last position, from 1 and inclusive; the whole chromosome by default.
#' @return An integer vector with a value for each position; `NA` without a posterior.
#' @section Errors:
#' * `ancify_file_error`: the file does not exist or cannot be read.
#' * `ancify_input_error`: positions are outside the chromosome.
#' @seealso [ancify_run()], [export_posterior()]
#' @export
#' @examples
#' config <- ancify_example()
#' config$method <- "likelihood"
#' config$tree <- "(((focal:0.02,near1:0.02):0.01,near2:0.03):0.05,far:0.08);"
#' config$posterior <- TRUE
#' ancify_run(config, threads = 1, verbose = FALSE)
#' phred <- read_posterior(config$output_dir, "chr1", 2001, 2010)
#' 1 - 10^(-phred / 10)
read_posterior <- function(run, chromosome = NULL, start = 1, end = NULL) {
  check_given()
  file <- posterior_file(folder_of_calls(run, "run"), chromosome)
  length <- file.size(file)
  end <- end %||% length
  check_range(start, end, length, file)
  values <- as.integer(read_range_impl(file, start, end))
  values[values == no_posterior] <- NA
  values
}

no_posterior <- 255L

posterior_file <- function(path, chromosome) {
  if (dir.exists(path)) {
    refuse_if(is.null(chromosome), "`run` is a folder, but `chromosome` is missing: give its name.")
    chromosome <- check_path(chromosome, "chromosome")
    must_be(names_a_path(chromosome), chromosome, "chromosome", "a chromosome's name")
    run <- attr(path, "chromosomes")
    refuse_if(!is.null(run) && !chromosome %in% run,
              "`chromosome` is %s, which the run lacks: it has %s.", quoted(chromosome),
              enumerate(quoted(run)))
    path <- find_phred(path, chromosome)
  } else if (!is.null(chromosome) && file.exists(path)) {
    abort_ancify("`chromosome` is for a folder, but `run` is a file: leave it out.", "input")
  }
  if (!file.exists(path)) {
    others <- sub("[.]phred$", "", list.files(dirname(path), "[.]phred$"))
    stop_on_file(path, if (length(others)) {
      sprintf("does not exist; there are posteriors of %s", enumerate(quoted(others)))
    } else {
      "does not exist: run with `posterior: true`, which writes it"
    })
  }
  path
}

# Looks in a run's folder of posteriors, or in its output folder.
find_phred <- function(folder, chromosome) {
  here <- file.path(folder, basename(phred_file(chromosome)))
  ifelse(file.exists(here), here, phred_path(folder, chromosome))
}

check_range <- function(start, end, length, file) {
  refuse_if(!is_position(start, 1, length + 1) || !is_position(end, start - 1, length),
            "`start` and `end` are %s and %s, but %s has positions 1 to %s.", show_value(start),
            show_value(end), quoted(file), format_count(length))
}

is_position <- function(x, lowest, highest) {
  is.numeric(x) && length(x) == 1 && isTRUE(x == round(x) & x >= lowest & x <= highest)
}

#' Export posteriors to bigWig files
#'
#' Writes a bigWig file of each chromosome's posteriors, for genome browsers, through the package
#' rtracklayer. The values equal those of [read_posterior()].
#'
#' | Case | Result |
#' | --- | --- |
#' | a position without a posterior | no value |
#' | a chromosome without a posterior | no file, and a message: the format has no empty files |
#'
#' Only one chromosome is in memory at a time.
#'
#' @param run The result of [ancify_run()], or its output folder.
#' @param chromosomes Names of chromosomes; `NULL` (the default) for all with posteriors.
#' @param output_dir Folder for `<chromosome>.bw`; `NULL` (the default) for the posteriors' folder.
#'   An existing file is replaced when the new one is complete.
#' @return The paths of the written files, named by chromosome, invisibly.
#' @section Errors:
#' * `ancify_package_error`: rtracklayer is not installed.
#' * `ancify_file_error`: posteriors are missing, or a file cannot be written.
#' * `ancify_input_error`: `chromosomes` are not names, or a chromosome has more than 2^31 - 1
#'   positions.
#' @seealso [read_posterior()]
#' @export
#' @examplesIf nzchar(system.file(package = "rtracklayer"))
#' config <- ancify_example()
#' config$method <- "likelihood"
#' config$tree <- "(((focal:0.02,near1:0.02):0.01,near2:0.03):0.05,far:0.08);"
#' config$posterior <- TRUE
#' ancify_run(config, threads = 1, verbose = FALSE)
#' \donttest{ # rtracklayer alone takes seconds to load
#' export_posterior(config$output_dir, "chrX")
#' }
export_posterior <- function(run, chromosomes = NULL, output_dir = NULL) {
  check_given()
  folder <- folder_of_calls(run, "run")
  need_bioconductor("rtracklayer", "bigWig files")
  there <- list.files(file.path(folder, "posterior"), "\\.phred$", all.files = TRUE)
  there <- stats::na.omit(only_of_run(there, folder))
  chromosomes <- chromosomes %||% sub("\\.phred$", "", there)
  if (length(chromosomes) == 0) {
    stop_on_file(folder, "has no posteriors: run with `posterior: true`, which writes them")
  }
  refuse_if(!is.character(chromosomes) || !all(names_a_path(chromosomes)),
            "`chromosomes` must be names of chromosomes, not %s.", show_value(chromosomes))
  for (chromosome in chromosomes) posterior_file(folder, chromosome)
  output_dir <- check_path(output_dir %||% file.path(folder, "posterior"), "output_dir")
  files <- stats::setNames(file.path(output_dir, paste0(chromosomes, ".bw")), chromosomes)
  written <- vapply(chromosomes, function(chromosome) {
    export_chromosome(folder, chromosome, files[[chromosome]])
  }, NA)
  invisible(files[written])
}

# Whether a file was written.
export_chromosome <- function(folder, chromosome, file) {
  ranges <- posterior_ranges(folder, chromosome)
  if (length(ranges) == 0) {
    inform_ancify(sprintf("%s has no posteriors, so it gets no file", quoted(chromosome)))
    return(FALSE)
  }
  write_whole(file, function(temporary) {
    tryCatch(
      rtracklayer::export(ranges, temporary, format = "bigWig"),
      error = function(condition) {
        refuse_file(file, "rtracklayer cannot write %s: %s", quoted(file),
                    conditionMessage(condition))
      }
    )
  })
  TRUE
}

posterior_ranges <- function(folder, chromosome) {
  length <- file.size(posterior_file(folder, chromosome))
  refuse_if(length > .Machine$integer.max,
            "%s has %s positions, but bigWig files have at most 2^31 - 1: use read_posterior().",
            quoted(chromosome), format_count(length))
  runs <- rle(read_posterior(folder, chromosome) |> replace_na(no_posterior))
  ends <- cumsum(as.numeric(runs$lengths))
  known <- runs$values != no_posterior
  GenomicRanges::GRanges(
    rep(chromosome, sum(known)),
    IRanges::IRanges(end = ends[known], width = runs$lengths[known]),
    score = as.numeric(runs$values[known]), seqinfo = seqinfo_of(chromosome, length)
  )
}

# rle() does not merge NA, so another value must replace it.
replace_na <- function(x, value) {
  x[is.na(x)] <- value
  x
}
