# Commands for analyses of calls: variants, spectra, comparisons, reports, exports, posteriors.

annotate_command <- function(parsed) {
  reasons <- annotate_vcf(
    parsed$arguments[1], parsed$arguments[2], parsed$output,
    reference = parsed$reference, mask = parsed$mask, polarise = isTRUE(parsed$polarise),
    unpolarised = parsed$unpolarised %||% "keep",
    keep_fields = split_option(parsed$keep_fields), threads = threads_option(parsed),
    progress = isatty(stderr()), verbose = isTRUE(parsed$verbose), also = split_option(parsed$also)
  )
  print_beside(parsed$output, reasons, row.names = FALSE)
}

polarise_command <- function(parsed) {
  reasons <- polarise(
    parsed$arguments[1], source_words(c(parsed$from, parsed$arguments[-1])), parsed$output,
    unpolarised = parsed$unpolarised %||% "flag", reference = parsed$reference, mask = parsed$mask,
    also = split_option(parsed$also), keep_fields = split_option(parsed$keep_fields),
    focal = parsed$focal %||% "focal", method = parsed$method %||% "likelihood", tree = parsed$tree,
    chrom_lengths = parsed$chrom_lengths, threads = threads_option(parsed),
    progress = isatty(stderr())
  )
  print_beside(parsed$output, reasons, row.names = FALSE)
}

# SPECIES=ALIGNMENT words, with a 2bit file after a comma; words of samples; or one other source
source_words <- function(words) {
  samples <- regmatches(words, regexec("^(([^=/:]+)=)?(samples:.*)$", words))
  if (all(lengths(samples) > 0)) {
    return(stats::setNames(vapply(samples, `[`, "", 4), vapply(samples, `[`, "", 3)))
  }
  parts <- regmatches(words, regexec("^([^=/]+)=(.+)$", words))
  named <- lengths(parts) > 0
  if (!any(named) && length(words) == 1) {
    return(words)
  }
  if (!all(named)) {
    usage_error(
      "polarise takes one source, alignments as SPECIES=FILE, or samples:NAMES, not also ",
      words[!named][1],
      command = "polarise"
    )
  }
  paths <- lapply(parts, function(part) {
    files <- strsplit(part[3], ",", fixed = TRUE)[[1]]
    if (length(files) > 1) c(files[1], twobit = files[2]) else files
  })
  stats::setNames(paths, vapply(parts, `[`, "", 2))
}

sfs_command <- function(parsed) {
  output <- parsed$output %||% "-"
  if (!is.null(parsed$window) && output == "-") usage_error("--window needs -o FILE")
  sizes <- vapply(split_option(parsed$project), number_option, 0, "each size of --project")
  spectrum <- sfs_from_vcf(
    parsed$arguments, populations_option(parsed), if (length(sizes)) unname(sizes),
    parsed$ancestral, parsed$reference, subset = TRUE,
    window = number_option(parsed$window, "--window"), threads = threads_option(parsed),
    progress = isatty(stderr()), kind = parsed$kind %||% "snps", folded = isTRUE(parsed$folded),
    low_confidence = is.null(parsed$no_low_confidence), mask = parsed$mask
  )
  write_lines(output, sfs_lines(spectrum))
  bootstraps <- attr(spectrum, "bootstrap")
  files <- sprintf("%s.%d.fs", sub("\\.fs$", "", output), seq_along(bootstraps))
  Map(write_sfs, bootstraps, files)
  print_beside(output, attr(spectrum, "records"), row.names = FALSE)
  if (output != "-") wrote(output)
  if (length(files)) wrote(paste(files[c(1, length(files))], collapse = " to "))
}

scan_selection_command <- function(parsed) {
  output <- parsed$output %||% "-"
  sizes <- vapply(split_option(parsed$project), number_option, 0, "each size of --project")
  scan <- selection_scan(
    parsed$arguments, populations_option(parsed), number_option(parsed$window, "--window"),
    number_option(parsed$step, "--step"), if (length(sizes)) unname(sizes), parsed$ancestral,
    if (isTRUE(parsed$hard)) "hard" else "posterior", parsed$reference, parsed$mask,
    is.null(parsed$no_low_confidence), subset = TRUE, threads = threads_option(parsed),
    progress = isatty(stderr())
  )
  if (grepl("[.]bedgraph$", output, ignore.case = TRUE)) {
    write_bedgraph(scan, output, parsed$statistic %||% "zeng_h")
  } else {
    if (!is.null(parsed$statistic)) usage_error("--statistic needs -o FILE.bedgraph")
    write_tsv(output, as.data.frame(scan))
  }
  print_beside(output, attr(scan, "records"), row.names = FALSE)
  if (output != "-") wrote(output)
}

populations_option <- function(parsed) {
  words <- split_option(parsed$info_populations)
  if (!length(words)) {
    return(parsed$populations)
  }
  if (!is.null(parsed$populations)) {
    usage_error("--populations names samples, and --info-populations fields of INFO: give one")
  }
  info_populations(words)
}

mutations_command <- function(parsed) {
  calls <- folder_of_run(parsed$config)
  output <- parsed$output %||% "-"
  k <- number_option(parsed$k, "-k") %||% 3
  window <- number_option(parsed$window, "--window")
  low_confidence <- is.null(parsed$no_low_confidence)
  threads <- threads_option(parsed)
  progress <- isatty(stderr())
  spectrum <- mutation_spectrum(
    parsed$vcf, calls, k, populations_option(parsed), mask = parsed$mask, windows = window,
    low_confidence = low_confidence, subset = TRUE, threads = threads, progress = progress
  )
  contexts <- count_contexts(
    calls, k, parsed$mask, window, low_confidence, threads = threads, progress = progress
  )
  write_tsv(output, mutation_rates(spectrum, contexts))
  print_beside(output, attr(spectrum, "records"), row.names = FALSE)
  if (output != "-") wrote(output)
}

branches_command <- function(parsed) {
  output <- parsed$output %||% "-"
  write_tsv(output, branch_substitutions(parsed$config, threads = threads_option(parsed)))
  if (output != "-") wrote(output)
}

compare_command <- function(parsed) {
  runs <- vapply(parsed$arguments, folder_of_run, "")
  names(runs) <- make.unique(basename(normalizePath(runs, mustWork = FALSE)))
  window <- number_option(parsed$window, "--window")
  comparison <- compare_calls(
    as.list(runs),
    window = window %||% 1e6, threads = threads_option(parsed), progress = isatty(stderr())
  )
  output <- parsed$output %||% ""
  print_beside(output, comparison)
  if (nzchar(output)) write_tsv(output, comparison$windows)
}

report_command <- function(parsed) {
  wrote(ancify_report(
    folder_of_run(parsed$arguments), parsed$output %||% "report.html",
    template = parsed$template
  ))
}

export_command <- function(parsed) {
  written <- export_states(
    folder_of_run(parsed$arguments), parsed$format, parsed$output,
    sites = parsed$sites, reference = parsed$reference,
    chromosomes = chromosomes_option(parsed),
    low_confidence = is.null(parsed$no_low_confidence),
    width = number_option(parsed$width, "--width"), threads = threads_option(parsed),
    progress = isatty(stderr())
  )
  print(written, row.names = FALSE)
}

# The folder of a run's calls, given the folder itself or the configuration.
folder_of_run <- function(path) {
  if (grepl("\\.ya?ml$", path) && !dir.exists(path)) ancify_config(path)$output_dir else path
}

# Writes one line per position. It works in parts, because chromosomes are long.
posterior_command <- function(parsed) {
  position <- function(i, name, default) {
    text <- parsed$arguments[i]
    if (is.na(text)) default else number_option(text, name)
  }
  chromosome <- parsed$arguments[2]
  folder <- folder_of_run(parsed$arguments[1])
  file <- posterior_file(folder_of_calls(folder, "run"), chromosome)
  first <- position(3, "START", 1)
  end <- position(4, "END", file.size(file))
  check_range(first, end, file.size(file), file)
  write_lines("-", "chromosome\tposition\tphred\tposterior")
  while (first <= end) {
    last <- min(first + 99999, end)
    phred <- read_posterior(folder, chromosome, first, last)
    posterior <- ifelse(is.na(phred), "NA", sprintf("%.15g", 1 - 10^(-phred / 10)))
    write_lines("-", sprintf("%s\t%.0f\t%d\t%s", chromosome, first:last, phred, posterior))
    first <- last + 1
  }
}
