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
