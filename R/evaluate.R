#' Evaluate the calls of a run
#'
#' How much of each chromosome is called, how far the calls agree with a reference,
#' and how often they are an allele of a known variant.
#'
#' The calls are `<output_dir>/<chromosome>.fa`, as [ancify_run()] wrote them. With what
#' they are compared stands in the configuration's `evaluation`:
#' * `reference_dir` and `reference_pattern`: a FASTA file a chromosome, such as
#'   Ensembl's EPO ancestral sequences (plain, gzip or bgzip; any name in the header,
#'   lines of any length), exactly as long as the chromosome, or called as Ensembl calls a
#'   part of it (`ANCESTOR_for_chromosome:GRCh37:Y:2649521:59034049:1`). Case is ignored, and
#'   all but A, C, G and T is missing (EPO's `-`, `.` and `N` too).
#' * `vcf_dir` and `vcf_pattern`: a VCF or BCF file a chromosome, or one for all,
#'   sorted; with or without an index. Chromosomes may be named with or without a leading
#'   `chr`. A variant is a record whose REF is one base and of which an ALT is; other ALTs
#'   of the record do not count.
#'
#' In the patterns `{chrom}` stands for the chromosome's name and `{chrom_id}` for the
#' name without a leading `chr`, in upper case too.
#'
#' The results also go to `<output_dir>/evaluation/<chromosome>.evaluation.txt`, in the
#' sections `[coverage]`, `[reference_comparison]` and `[vcf_comparison]`, the last two
#' where they were asked for, with the keys below; there the last two sections' keys stand
#' without the prefix, and `nan` is what has nothing to divide by.
#'
#' @inheritParams ancify_run
#' @return A data frame with a row a chromosome, `chromosome` its name.
#'
#'   Coverage: `total_positions`; of these `high_confidence`, `low_confidence`, `missing`
#'   (`N`); the shares of them `prop_nonmissing` (called with either confidence) and
#'   `prop_high_confidence`; `unresolved` (`n`).
#'
#'   With a reference: `reference_test_nonmissing` and `reference_ref_nonmissing`, the
#'   shares of positions that the calls and the reference have a base for;
#'   `reference_both_nonmissing`, how many both have; `reference_agreement_rate` and
#'   `reference_disagreement_rate`, shares of these.
#'
#'   With variants: `vcf_num_variants`; `vcf_prop_nonmissing`, the share of them that is
#'   called; of those called the shares `vcf_matches_ref`, `vcf_matches_alt` and
#'   `vcf_matches_either`; how many are `vcf_unresolved` (`n`) and `vcf_missing` (`N`);
#'   `vcf_other_records`, records of the chromosome that are no variant as above.
#' @section Errors:
#' `ancify_file_error` for files that are missing or can't be read or written;
#' `ancify_format_error`, with the record and its line, for a VCF that is damaged, cut
#' short or not sorted, lacks a header or the chromosome, or has positions behind its end,
#' and for a reference, or calls, of another length; `ancify_package_error` where variants are asked
#' for and the package was built without htslib; `ancify_config_error` for the
#' configuration; `ancify_check_error` where files that no run wrote are in the way;
#' `ancify_lock_error` and `ancify_task_error` as [ancify_run()] gives them. Calls
#' that a run with other settings made are an `ancify_evaluation_warning`; where `config` is a run
#' whose files are others by now, that is an `ancify_input_error`.
#' @references Paten et al. (2008) Genome-wide nucleotide-level mammalian ancestor
#'   reconstruction. Genome Research 18:1829 (EPO).
#' @seealso [ancify_run()], whose phase `"evaluate"` does the same
#' @export
#' @examples
#' config <- ancify_example()
#' ancify_run(config, threads = 1, verbose = FALSE)
#' ancify_evaluate(config, threads = 1, verbose = FALSE)
ancify_evaluate <- function(config, threads = NULL, BPPARAM = NULL, progress = interactive(),
                            verbose = TRUE) {
  check_given()
  run <- ancify_run(config, "evaluate", threads, "cpu", TRUE, BPPARAM, progress, verbose)
  attr(run, "evaluation")
}

# Before any work: what to compare with, by chromosome; "" where it is not asked for.
files_compared_with <- function(config) {
  evaluation <- config$evaluation
  if (!is.null(evaluation$vcf_dir)) check_htslib()
  list(
    references = evaluation_inputs(config, "reference"),
    variants = evaluation_inputs(config, "vcf")
  )
}

# The same, with what the user should know of it.
files_to_compare <- function(config, phases, log) {
  files <- files_compared_with(config)
  if (!"call" %in% phases) warn_about_other_settings(config)
  if (is.null(config$evaluation)) {
    log("There is no `evaluation` in the configuration: calls are compared with nothing")
  }
  files
}

evaluation_inputs <- function(config, kind) {
  chromosomes <- names(config$lengths)
  folder <- config$evaluation[[paste0(kind, "_dir")]]
  if (is.null(folder)) {
    return(rep("", length(chromosomes)))
  }
  pattern <- config$evaluation[[paste0(kind, "_pattern")]]
  files <- file.path(folder, fill_pattern(pattern, chromosomes))
  missing <- unique(files[!file.exists(files)])
  if (length(missing)) {
    abort_ancify(
      sprintf(
        paste(
          "%s: no such file. Correct `evaluation.%s_pattern`, or list in `chromosomes` those to",
          "evaluate."
        ),
        enumerate(quoted(missing)), kind
      ),
      "file",
      file = missing[1]
    )
  }
  own <- files[is_written(files, config)]
  if (length(own)) {
    problem <- sprintf(
      "`evaluation.%s_pattern`: %s is a file that runs write: calls can't be compared with it.",
      kind, quoted(own[1])
    )
    abort_ancify(problem, "config", file = config$file, problems = problem)
  }
  files
}

# A file's name for each chromosome; what looks like a mark in a chromosome's name is none. Some
# genomes have Chr1, of which the Python tool makes 1 too.
fill_pattern <- function(pattern, chromosomes) {
  ids <- sub("^chr", "", chromosomes, ignore.case = TRUE)
  names <- list(`{chrom}` = chromosomes, `{chrom_id}` = ids)
  found <- gregexpr("\\{chrom(_id)?\\}", pattern)
  marks <- regmatches(pattern, found)[[1]]
  between <- regmatches(pattern, found, invert = TRUE)[[1]]
  filled <- rep(between[1], length(chromosomes))
  for (i in seq_along(marks)) filled <- paste0(filled, names[[marks[i]]], between[i + 1])
  filled
}

run_evaluation <- function(config, files, manifest, cluster, backend, progress, verbose) {
  chromosomes <- names(config$lengths)
  check_calls(config)
  compared_with <- setdiff(unlist(files), "")
  config <- with_inputs(config, compared_with)
  config <- with_whole(config, manifest, sequence_path(config$output_dir, chromosomes))
  # A file of all chromosomes' variants is read once.
  together <- if (any(nzchar(files$variants)) && anyDuplicated(files$variants)) files$variants
  parts <- parts_by_chromosome(cluster, config, together)
  counts <- do.call(rbind, in_parts(
    cluster, "evaluate", parts, list(), manifest, backend, progress, verbose
  ))
  called <- unlist(lapply(parts, function(part) names(part$lengths)))
  counts <- counts[match(chromosomes, called), ]
  sections <- list(
    coverage = coverage_section(counts, config$lengths),
    reference_comparison = if (any(nzchar(files$references))) {
      reference_section(counts, config$lengths)
    },
    vcf_comparison = if (any(nzchar(files$variants))) vcf_section(counts)
  )
  sections <- Filter(Negate(is.null), sections)
  claim_files(calls_place(config), evaluation_file(chromosomes))
  paths <- file.path(config$output_dir, evaluation_file(chromosomes))
  for (i in seq_along(paths)) {
    # A row of a data frame would cost as much as the frame is long.
    rows <- lapply(sections, function(section) lapply(unclass(section), `[`, i))
    write_text(paths[i], evaluation_lines(rows))
  }
  list(
    evaluation = evaluation_table(sections, names(config$lengths)),
    compared_with = inputs_on_record(config, compared_with),
    calls = call_table(counts[call_counts], config)
  )
}

# A job of in_parts().
evaluate_part <- function(config, manifest, backend, progress, verbose) {
  files <- files_compared_with(config)
  calls <- sequence_path(config$output_dir, names(config$lengths))
  counts <- with_watch("Evaluating", function(watch) {
    evaluate_impl(config$lengths, c(list(calls = calls), files), backend, watch)
  }, progress, verbose, expected_inputs(config))
  as.data.frame(counts)
}

# In the output folder of a run.
evaluation_file <- function(chromosome) {
  file.path("evaluation", paste0(chromosome, ".evaluation.txt", recycle0 = TRUE))
}

check_calls <- function(config) {
  calls <- sequence_path(config$output_dir, names(config$lengths))
  missing <- calls[!file.exists(calls)]
  if (length(missing)) {
    abort_ancify(
      sprintf(
        "%s: no such calls. Run the phase \"call\" first, or correct `output_dir`.",
        enumerate(quoted(missing))
      ),
      "file",
      file = missing[1]
    )
  }
  check_sequences_impl(calls, names(config$lengths), config$lengths)
}

coverage_section <- function(counts, lengths) {
  total <- unname(lengths)
  data.frame(
    total_positions = total,
    high_confidence = counts$high,
    low_confidence = counts$low,
    missing = counts$missing,
    prop_nonmissing = (counts$high + counts$low) / total,
    prop_high_confidence = counts$high / total,
    unresolved = counts$unresolved
  )
}

reference_section <- function(counts, lengths) {
  total <- unname(lengths)
  data.frame(
    test_nonmissing = counts$test / total,
    ref_nonmissing = counts$reference / total,
    both_nonmissing = counts$both,
    agreement_rate = counts$equal / counts$both,
    disagreement_rate = (counts$both - counts$equal) / counts$both
  )
}

vcf_section <- function(counts) {
  data.frame(
    num_variants = counts$variants,
    prop_nonmissing = counts$called / counts$variants,
    matches_ref = counts$ref / counts$called,
    matches_alt = counts$alt / counts$called,
    matches_either = counts$either / counts$called,
    unresolved = counts$vcf_unresolved,
    missing = counts$vcf_missing,
    other_records = counts$other
  )
}

evaluation_lines <- function(rows) {
  unlist(lapply(names(rows), function(section) {
    values <- vapply(rows[[section]], shortest_decimal, "")
    c(sprintf("[%s]", section), sprintf("  %s: %s", names(values), values), "")
  }))
}

# The shortest that reads back as the same number.
shortest_decimal <- function(x) {
  if (is.nan(x)) {
    return("nan")
  }
  for (digits in 1:17) {
    text <- sprintf("%.*g", digits, x)
    if (as.numeric(text) == x) break
  }
  # 1e+06 is 1000000 to who reads a count.
  if (x == round(x)) sprintf("%.0f", x) else text
}

evaluation_table <- function(sections, chromosomes) {
  prefixes <- c(coverage = "", reference_comparison = "reference_", vcf_comparison = "vcf_")
  columns <- lapply(names(sections), function(section) {
    stats::setNames(sections[[section]], paste0(prefixes[[section]], names(sections[[section]])))
  })
  data.frame(chromosome = chromosomes, columns)
}
