# The files to compare calls with, one per chromosome, or "" if none is requested. Missing files are
# an error before any work.
files_compared_with <- function(config) {
  evaluation <- config$evaluation
  if (!is.null(evaluation$vcf_dir)) check_htslib()
  list(
    references = evaluation_inputs(config, "reference"),
    variants = evaluation_inputs(config, "vcf")
  )
}

# The same files, with warnings and log lines for the user.
files_to_compare <- function(config, phases, log) {
  files <- files_compared_with(config)
  if (!"call" %in% phases) warn_about_other_settings(config)
  if (is.null(config$evaluation)) {
    log("The configuration has no `evaluation` block: only the calls' coverage is counted")
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
  refuse_file_if(
    length(missing), missing[1],
    paste(
      "%s: no such file. Correct `evaluation.%s_pattern`, or list only the chromosomes to",
      "evaluate in `chromosomes`."
    ),
    enumerate(quoted(missing)), kind
  )
  own <- files[is_written(files, config)]
  if (length(own)) {
    problem <- sprintf(
      "`evaluation.%s_pattern`: %s is an output of runs: give a file that no run writes.",
      kind, quoted(own[1])
    )
    abort_ancify(problem, "config", file = config$file, problems = problem)
  }
  files
}

run_evaluation <- function(context, files) {
  config <- context$config
  chromosomes <- names(config$lengths)
  check_calls(config)
  calls <- sequence_file(chromosomes)
  whole <- whole_files(context$ledgers$output, calls, work = context$work)
  config <- with_inputs(config, setdiff(unlist(files), ""))
  config <- with_seen(config, context$ledgers$output, calls[whole])
  # A file with the variants of all chromosomes is read only once.
  together <- if (any(nzchar(files$variants)) && anyDuplicated(files$variants)) files$variants
  parts <- parts_by_chromosome(context$cluster, config, together)
  counts <- do.call(rbind, in_parts(context, "evaluate", parts))
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
  evaluation <- evaluation_table(sections, chromosomes)
  context$config <- config
  write_evaluations(context, sections, evaluation, files, whole)
  list(evaluation = evaluation, calls = call_table(counts[call_counts], config))
}

# `whole`: whether the calls of each chromosome are on record; calls that no run wrote are not.
write_evaluations <- function(context, sections, evaluation, files, whole) {
  config <- context$config
  ledger <- context$ledgers$output
  chromosomes <- evaluation$chromosome
  paths <- evaluation_file(chromosomes)
  claim_files(ledger, paths)
  checksums <- complete_rows(ledger, sequence_file(chromosomes))$checksum
  lines <- evaluation_lines(sections)
  for (i in seq_along(paths)) write_text(ledger_paths(ledger, paths[i]), lines[i, ])
  facts <- data.frame(calls = ifelse(whole, checksums, NA))
  facts$row <- evaluation
  facts$compared_with <- as_json(sprintf("[%s]", inputs_as_json(config, files)))
  sums <- sums_of(ledger_paths(ledger, paths))
  complete_files(ledger, paths, evaluation_source(config), sums, json_texts(facts))
}

# The files that each chromosome is compared with, as members of a JSON array.
inputs_as_json <- function(config, files) {
  known <- setdiff(unlist(files), "")
  rows <- c("", json_texts(rows_of_json(inputs_on_record(config, known))))
  of <- lapply(files, function(paths) rows[match(paths, c("", known))])
  sub("^,|,$", "", paste(of$references, of$variants, sep = ","))
}

# The source of evaluations, apart from the calls and comparison files, which their facts name.
evaluation_source <- function(config) {
  list(ancify = package_version_text(), evaluation = config$evaluation)
}

# Evaluations on record whose calls are also on record: `chromosome`, `facts`, and their common
# `source`. The source is the configuration's or, with `of_any`, the last evaluation's.
evaluations_on_record <- function(context, chromosomes, of_any = FALSE) {
  ledger <- context$ledgers$output
  paths <- evaluation_file(chromosomes)
  checksum <- complete_rows(ledger, sequence_file(chromosomes))$checksum
  facts <- facts_of(ledger, paths)
  there <- file.exists(ledger_paths(ledger, paths))
  fits <- vapply(seq_along(facts), function(i) {
    there[i] && identical(facts[[i]]$calls, checksum[i])
  }, NA)
  from <- complete_rows(ledger, paths)$from
  wanted <- if (of_any) {
    last_source(ledger, paths[fits])
  } else {
    known_source(ledger, evaluation_source(context$config))
  }
  fits <- fits & from %in% wanted & !is.na(from)
  list(
    chromosome = chromosomes[fits], facts = facts[fits],
    source = if (any(fits)) made_from_of(ledger, paths[fits][1])[[1]]
  )
}

# A job of in_parts().
evaluate_part <- function(context) {
  config <- context$config
  others <- files_compared_with(config)
  files <- core_list(
    "EvaluatedFiles",
    calls = sequence_path(config$output_dir, names(config$lengths)),
    references = others$references, variants = others$variants
  )
  counts <- with_watch("Evaluating", function(watch) {
    evaluate_impl(config$lengths, files, context$work, watch)
  }, context$work$progress, context$verbose, expected_inputs(config))
  as.data.frame(counts)
}

check_calls <- function(config) {
  calls <- sequence_path(config$output_dir, names(config$lengths))
  missing <- calls[!file.exists(calls)]
  refuse_file_if(
    length(missing), missing[1],
    "%s: there are no such calls. Run the phase \"call\" first, or correct `output_dir`.",
    enumerate(quoted(missing))
  )
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

# A row for each chromosome.
evaluation_lines <- function(sections) {
  lines <- lapply(names(sections), function(section) {
    values <- lapply(sections[[section]], shortest_decimal)
    c(sprintf("[%s]", section), Map(sprintf, "  %s: %s", names(values), values), "")
  })
  do.call(cbind, unlist(lines, recursive = FALSE, use.names = FALSE))
}

# The shortest decimals that parse to identical numbers.
shortest_decimal <- function(x) {
  text <- ifelse(is.nan(x), "nan", "")
  left <- which(text == "")
  for (digits in 1:17) {
    text[left] <- sprintf("%.*g", digits, x[left])
    left <- left[as.numeric(text[left]) != x[left]]
  }
  # Counts are written in full: 1000000, not 1e+06.
  whole <- which(x == round(x))
  text[whole] <- sprintf("%.0f", x[whole])
  text
}

evaluation_table <- function(sections, chromosomes) {
  prefixes <- c(coverage = "", reference_comparison = "reference_", vcf_comparison = "vcf_")
  columns <- lapply(names(sections), function(section) {
    stats::setNames(sections[[section]], paste0(prefixes[[section]], names(sections[[section]])))
  })
  data.frame(chromosome = chromosomes, columns)
}
