#' Write a report of a run
#'
#' @description
#' Writes a self-contained HTML page, to share and to archive:
#'
#' ```
#' ancify_report(run, "report.html")
#' ```
#'
#' @details
#' | Section | Content |
#' |:--------|:--------|
#' | What was run | species, method, backend, times, versions |
#' | Inputs | alignments, and their blocks used and omitted |
#' | Results by chromosome | counts and a picture of the calls |
#' | Calls along the chromosomes | the share of called positions in windows |
#' | Divergence of the outgroups | needs `focal_fasta` and `keep_projected: true` |
#' | Posteriors | the certainty of the calls, with `posterior: true` |
#' | Evaluation | results of [ancify_evaluate()], if that phase ran |
#' | Fit | the fitted model, with `estimate: true` |
#' | Comparison of runs | pictures of [plot.ancify_comparison()], with `comparison` |
#' | Settings | the configuration as YAML, ready to run again |
#'
#' @param run The value of [ancify_run()] with the phase `"call"`, or the path of its output folder,
#'   which contains the record `ancify_run.json`.
#' @param file Path of the page, ending in `.html`. An existing file is replaced when the new page
#'   is complete; a missing folder is created.
#' @param comparison The value of [compare_calls()], whose pictures are added; `NULL` (the default)
#'   for none.
#' @param template Path of an R Markdown file to render; `NULL` (the default) for the package's
#'   template.
#' @return `file`, invisibly.
#' @section Templates:
#' The page is an R Markdown document. Copy it, edit the copy, and give its path as `template`:
#'
#' ```
#' rmarkdown::draft("mine.Rmd", "report", package = "ancify", edit = FALSE)
#' ancify_report(run, "report.html", template = "mine.Rmd")
#' ```
#'
#' A comment in the copy describes its parameters, which hold all tables, texts and pictures. A
#' template is R code, which runs in this session: use only templates that you trust. Images and
#' style sheets beside the template become part of the page.
#'
#' @section Errors:
#' * `ancify_input_error`: the run has no calls, its files have been replaced, `comparison` is not
#'   from [compare_calls()], or a path has another ending. An error of
#'   the template has this class too, with R's message.
#' * `ancify_file_error`: the record is missing or cannot be read, `template` does not exist, or
#'   `file` cannot be written.
#' * `ancify_package_error`: ggplot2, rmarkdown or the program pandoc is not installed.
#' @seealso [ancify_run()], [compare_calls()], [plot.ancify_comparison()]
#' @export
#' @examplesIf requireNamespace("ggplot2") && isTRUE(try(rmarkdown::pandoc_available("2.0"), TRUE))
#' run <- ancify_run(ancify_example(), threads = 1, verbose = FALSE)
#' ancify_report(run, file.path(tempdir(), "report.html"))
ancify_report <- function(run, file, comparison = NULL, template = NULL) {
  check_given()
  # The record in a folder always describes the folder's current files.
  path <- if (is.character(run)) check_path(run, "run")
  if (!is.null(path)) run <- read_run_record(path)
  must_be(inherits(run, "ancify_run") && !is.null(attr(run, "config")), run, "run",
          "the value of ancify_run(), or its output folder")
  check_called(run)
  check_not_replaced(run, "run")
  check_args(comparison = optional(check_comparison), file = file_out())
  refuse_if(!grepl("\\.html?$", file), "`file` is %s: it must end in .html.", quoted(file))
  template <- check_template(template)
  need_ggplot2()
  need_rmarkdown()
  sections <- if (is.null(path)) {
    report_sections(run, comparison)
  } else {
    unless_damaged(record_file(path), report_sections(run, comparison))
  }
  species <- enc2utf8(attr(run, "config")$focal_species)
  write_bytes(file, render_template(template, list(species = species, sections = sections)))
  invisible(file)
}

# Each section is a list of parts: data frames, paragraphs, figures, and preformatted text in I().
report_sections <- function(run, comparison) {
  list(
    summary = list(confidence_in_words(run)),
    run = list(run_facts(run)),
    inputs = inputs_section(run),
    results = list(
      result_table(run),
      figure(autoplot.ancify_run(run), confidence_legend(nrow(run), 1), height_of(1, nrow(run)))
    ),
    along = along_section(run),
    divergence = divergence_section(run),
    posteriors = posterior_section(run),
    evaluation = evaluation_section(attr(run, "evaluation")),
    fit = fit_section(attr(run, "fit_facts") %||% fit_facts(attr(run, "fit"))),
    comparison = comparison_section(comparison),
    settings = list(I(yaml::as.yaml(raw_config(attr(run, "config")))))
  )
}

# ---- The run -----------------------------------------------------------------------

run_facts <- function(run) {
  config <- attr(run, "config")
  build <- attr(run, "made_with") %||% made_with()
  seconds <- attr(run, "seconds")
  facts <- c(
    `Focal species` = config$focal_species,
    Method = config$method,
    Outgroups = sprintf(
      "%d inner, %d outer", sum(config$outgroups$tier == "inner"),
      sum(config$outgroups$tier == "outer")
    ),
    Backend = attr(run, "backend"),
    Time = paste(sprintf("%s %.1f s", names(seconds), seconds), collapse = ", "),
    Calls = file.path(config$output_dir, "<chromosome>.fa"),
    `Run finished` = attr(run, "finished"), ancify = build$version, R = build$R,
    Compiler = build$compiler, `Gzip by` = build$inflater, System = build$system,
    `Report made` = format(Sys.time(), "%Y-%m-%d %H:%M %Z")
  )
  data.frame(Property = names(facts), Value = unname(facts))
}

inputs_section <- function(run) {
  config <- attr(run, "config")
  alignments <- attr(run, "alignments")
  if (is.null(alignments)) {
    outgroups <- config$outgroups
    return(list(
      data.frame(Species = outgroups$name, Tier = outgroups$tier, File = outgroups$alignment),
      earlier_in_words(names(attr(run, "seconds")))
    ))
  }
  list(
    data.frame(
      Species = alignments$species, Tier = alignments$tier, File = alignments$alignment,
      Bytes = bytes_of(alignments$alignment),
      `Blocks used` = format_count(alignments$used), `Bad, left out` = format_count(alignments$bad),
      `Passed over` = format_count(alignments$passed_over), check.names = FALSE
    ),
    paste(
      "Every block on the chosen chromosomes was checked. Its two rows must have equal lengths",
      "and only letters and gaps. Its coordinates must span the number of focal letters and lie",
      "inside the chromosome.", blocks_in_words(alignments),
      "Blocks passed over are on other chromosomes."
    )
  )
}

earlier_in_words <- function(phases) {
  if (!"call" %in% phases) {
    return(paste(
      "An earlier run made the calls, possibly with other settings than those below. This run only",
      "evaluated them."
    ))
  }
  paste(
    "An earlier run checked and projected the alignments. This run read the projected sequences",
    "and checked their names and lengths."
  )
}

# The current sizes of files; a file may have been removed since the run.
bytes_of <- function(files) {
  ifelse(file.exists(files), format_count(file.size(files)), "no longer there")
}

blocks_in_words <- function(alignments) {
  passed <- if (all(alignments$bad == 0)) {
    "All passed."
  } else {
    sprintf("Blocks that failed (%s) were left out.", format_count(sum(alignments$bad)))
  }
  told <- function(counts, text) {
    if (any(counts > 0)) sprintf(text, format_count(sum(counts)))
  }
  paste(c(
    passed,
    told(alignments$duplicates, "Blocks of MAF or TAF have further rows of a species (%s in all)."),
    told(alignments$secondary, "Secondary alignments (%s in all) were left out."),
    told(alignments$shared, "Several blocks of an alignment share positions (%s in all).")
  ), collapse = " ")
}

result_table <- function(run) {
  shares <- lapply(stats::setNames(confidences, confidences), function(confidence) {
    in_percent(run[[confidence]] / run$length)
  })
  data.frame(Chromosome = run$chromosome, Length = format_count(run$length), shares)
}

# NULL without a reference or variants: an earlier section covers the calls.
evaluation_section <- function(evaluation) {
  with_reference <- "reference_both_nonmissing" %in% names(evaluation)
  with_variants <- "vcf_num_variants" %in% names(evaluation)
  if (!with_reference && !with_variants) {
    return(NULL)
  }
  table <- data.frame(Chromosome = evaluation$chromosome)
  if (with_reference) {
    table$`In calls and reference` <- format_count(evaluation$reference_both_nonmissing)
    table$Agree <- in_percent(evaluation$reference_agreement_rate)
  }
  if (with_variants) {
    table$Variants <- format_count(evaluation$vcf_num_variants)
    table$Called <- in_percent(evaluation$vcf_prop_nonmissing)
    table$REF <- in_percent(evaluation$vcf_matches_ref)
    table$ALT <- in_percent(evaluation$vcf_matches_alt)
  }
  c(
    list(table),
    if (with_reference) reference_in_words(evaluation),
    if (with_variants) variants_in_words(evaluation)
  )
}

fit_section <- function(fit) {
  if (is.null(fit)) {
    return(NULL)
  }
  row <- function(numbers) data.frame(as.list(format(numbers, digits = 4)), check.names = FALSE)
  c(
    sprintf(
      "The model %s was fitted to %s sites before calling: log-likelihood %.2f, AIC %.2f. %s",
      fit$model, format_count(fit$sites), fit$log_likelihood, fit$AIC,
      if (fit$converged) "The fit converged." else "The fit did not converge: do not rely on it."
    ),
    list(row(fit$estimates), I(fit$tree)),
    if (!is.null(fit$classes)) {
      list(
        "Sites by their neighbouring bases have rates of their own, relative to all:",
        row(fit$classes)
      )
    }
  )
}

# ---- Descriptions ------------------------------------------------------------------

confidence_legend <- function(n_chromosomes, n_runs) {
  paste0(
    "Each bar is a chromosome", if (n_chromosomes > 1) "; the top one is all of them together",
    if (n_chromosomes > most_rows_drawn(n_runs)) ", the bottom one all shorter chromosomes",
    ". Its parts are the shares of positions with a call of high confidence (upper case in the ",
    "files), a call of low confidence (lower case), an unresolved base (n), and missing data (N)."
  )
}

confidence_in_words <- function(run) {
  total <- colSums(as.matrix(as.data.frame(unclass(run)[run_counts])))
  share <- function(name) in_percent(total[[name]] / total[["length"]])
  missing <- run$missing / run$length
  words <- sprintf(
    paste(
      "Of %s positions, %s have a call of high confidence and %s one of low confidence. %s are",
      "unresolved, and at %s too few outgroups have data."
    ),
    format_count(total[["length"]]), share("high"), share("low"), share("unresolved"),
    share("missing")
  )
  if (nrow(run) == 1) {
    return(words)
  }
  most <- which.max(missing)
  least <- which.min(missing)
  if (missing[most] == missing[least]) {
    return(paste(words, "The last share is the same on all chromosomes."))
  }
  paste(words, sprintf(
    "The last share is largest on %s (%s) and smallest on %s (%s).", run$chromosome[most],
    in_percent(missing[most]), run$chromosome[least], in_percent(missing[least])
  ))
}

reference_in_words <- function(evaluation) {
  both <- evaluation$reference_both_nonmissing
  if (sum(both) == 0) {
    return("At no position do both the calls and the reference have a base.")
  }
  equal <- ifelse(both > 0, both * evaluation$reference_agreement_rate, 0)
  sprintf(
    "Both the calls and the reference have a base at %s positions: the same base at %s of them.",
    format_count(sum(both)), in_percent(sum(equal) / sum(both))
  )
}

variants_in_words <- function(evaluation) {
  variants <- evaluation$vcf_num_variants
  called <- ifelse(variants > 0, variants * evaluation$vcf_prop_nonmissing, 0)
  share <- function(of) in_percent(sum(ifelse(called > 0, called * of, 0)) / sum(called))
  if (sum(called) == 0) {
    return(sprintf("None of %s variants is at a called position.",
                   format_count(sum(variants))))
  }
  sprintf(
    "Of %s variants, %s are called: %s of these as REF, %s as an ALT, %s as neither.",
    format_count(sum(variants)), in_percent(sum(called) / sum(variants)),
    share(evaluation$vcf_matches_ref), share(evaluation$vcf_matches_alt),
    share(1 - evaluation$vcf_matches_either)
  )
}

comparison_section <- function(comparison) {
  if (is.null(comparison)) {
    return(NULL)
  }
  summary <- summary(comparison)
  n_pairs <- nrow(summary)
  picture <- function(type) autoplot.ancify_comparison(comparison, type)
  chromosomes <- length(unique(comparison$windows$chromosome))
  list(
    data.frame(Run = comparison$runs$run, Folder = comparison$runs$folder),
    data.frame(
      First = summary$first, Second = summary$second, `Both call` = format_count(summary$both),
      Agree = in_percent(summary$agreement),
      `Agree, both high` = in_percent(summary$agreement_high),
      `Only first` = format_count(summary$only_first),
      `Only second` = format_count(summary$only_second),
      check.names = FALSE
    ),
    figure(picture("agreement"), agreement_in_words(summary), 4.5),
    figure(picture("confidence"), confidence_legend(chromosomes, nrow(comparison$runs)),
           height_of(nrow(comparison$runs), chromosomes)),
    figure(picture("overlap"), overlap_in_words(comparison), 4.5),
    figure(picture("windows"), windows_in_words(comparison$windows),
           height_of(n_pairs, chromosomes)),
    figure(picture("confusion"), confusion_in_words(summary), 2 + 1.8 * ceiling(n_pairs / 3))
  )
}

agreement_in_words <- function(summary) {
  known <- summary[is.finite(summary$agreement), ]
  if (nrow(known) == 0) {
    return("No two runs call a common position.")
  }
  pair <- function(i) {
    sprintf("%s and %s (%s)", known$first[i], known$second[i], in_percent(known$agreement[i]))
  }
  words <- "The share of positions with the same base, among those that both runs call."
  if (nrow(known) == 1) {
    return(paste(words, sprintf("Here: %s.", pair(1))))
  }
  if (diff(range(known$agreement)) == 0) {
    return(paste(words, sprintf("It is %s for all pairs.", in_percent(known$agreement[1]))))
  }
  paste(words, sprintf(
    "It is largest for %s, and smallest for %s.", pair(which.max(known$agreement)),
    pair(which.min(known$agreement))
  ))
}

overlap_in_words <- function(comparison) {
  sums <- tapply(comparison$called$positions, comparison$called$called_by, sum)
  share <- function(set) in_percent(sums[[set]] / sum(sums))
  everyone <- paste(comparison$runs$run, collapse = " + ")
  sprintf(
    paste(
      "Which runs call a position, whatever the base: all runs at %s of the positions, no run at",
      "%s, some runs at the rest."
    ),
    share(everyone), share("none")
  )
}

windows_in_words <- function(windows) {
  words <- paste(
    "Where two runs differ. The darker a window, the larger the share of different bases among the",
    "positions that both runs call. White windows have no such position."
  )
  share <- ifelse(windows$both > 0, windows$differ / windows$both, 0)
  if (all(share == 0)) {
    return(paste(words, "The runs do not differ."))
  }
  most <- windows[which.max(share), ]
  paste(words, sprintf(
    "The largest share is %s of %s positions, for %s and %s at %s:%.0f-%.0f.",
    in_percent(max(share)), format_count(most$both), most$first, most$second, most$chromosome,
    most$start, most$end
  ))
}

confusion_in_words <- function(summary) {
  transitions <- sum(summary$transitions)
  differ <- transitions + sum(summary$transversions)
  words <- paste(
    "The bases at positions where the two runs of a pair differ. Rows are bases of the first run,",
    "columns those of the second."
  )
  if (differ == 0) {
    return(paste(words, "No two runs differ."))
  }
  paste(words, sprintf(
    paste(
      "Over all pairs, %s of %s differences are transitions (A and G, C and T). With equal rates",
      "of all changes, a third would be."
    ),
    in_percent(transitions / differ), format_count(differ)
  ))
}
