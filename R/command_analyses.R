# Commands of what follows calls: variants, spectra, comparisons, reports, posteriors, models.

annotate_command <- function(parsed) {
  out <- parsed$output
  fields <- if (is.null(parsed$keep_fields)) character() else split_list(parsed$keep_fields)
  reasons <- write_output(out, ".vcf", function(path) {
    annotate_vcf(
      input_path(parsed$arguments[1]), parsed$arguments[2], path,
      reference = parsed$reference, mask = parsed$mask, polarise = isTRUE(parsed$polarise),
      keep_fields = fields, threads = threads_option(parsed), progress = isatty(stderr()),
      verbose = isTRUE(parsed$verbose)
    )
  })
  print_beside(out, as.data.frame(reasons))
}

sfs_command <- function(parsed) {
  project <- if (!is.null(parsed$project)) {
    vapply(split_list(parsed$project), number_option, 0, "--project", USE.NAMES = FALSE)
  }
  spectrum <- sfs_from_vcf(
    input_path(parsed$arguments), parsed$populations, project, parsed$ancestral, parsed$reference,
    window = number_option(parsed$window, "--window"), subset = TRUE,
    threads = threads_option(parsed), progress = isatty(stderr())
  )
  out <- parsed$output %||% "-"
  write_output(out, ".fs", function(path) write_sfs(spectrum, path))
  if (out != "-") print(spectrum)
  if (isTRUE(parsed$verbose)) print_beside("-", attr(spectrum, "records"))
}

compare_command <- function(parsed) {
  folders <- parsed$arguments
  names(folders) <- make.unique(basename(folders))
  comparison <- do.call(compare_calls, c(
    as.list(folders),
    list(
      window = number_option(parsed$window, "--window") %||% 1e6,
      threads = threads_option(parsed), progress = isatty(stderr())
    )
  ))
  print(summary(comparison))
  if (!is.null(parsed$output)) {
    write_output(parsed$output, ".tsv", function(path) {
      write_tsv(path, comparison$windows)
    })
  }
}

report_command <- function(parsed) {
  cat("Wrote ", ancify_report(parsed$arguments, parsed$output %||% "report.html"), "\n", sep = "")
}

# A table of positions, in parts, as a chromosome may be long.
posterior_command <- function(parsed) {
  at <- function(i) if (length(parsed$arguments) >= i) number_option(parsed$arguments[i], "START")
  folder <- parsed$arguments[1]
  chromosome <- parsed$arguments[2]
  start <- at(3) %||% 1
  end <- at(4) %||% file.size(posterior_file(folder_of_calls(folder, "CALLS"), chromosome))
  cat("chromosome\tposition\tphred\tposterior\n")
  most <- 1e5
  for (first in seq(start, end, by = most)) {
    last <- min(first + most - 1, end)
    phred <- read_posterior(folder, chromosome, first, last)
    cat(sprintf(
      "%s\t%.0f\t%s\t%s", chromosome, first:last, phred, format_posterior(phred)
    ), sep = "\n")
  }
}

format_posterior <- function(phred) {
  ifelse(is.na(phred), "NA", sprintf("%.6g", 1 - 10^(-phred / 10)))
}

demography_command <- function(parsed) {
  model <- demography_model(parsed$model)
  start <- start_values(parsed$start, parsed$model, model$params)
  spectrum <- read_sfs(input_path(parsed$arguments))
  fit <- fit_demography(
    model, spectrum, start, starts = number_option(parsed$starts, "--starts") %||% 20,
    threads = threads_option(parsed), progress = isatty(stderr())
  )
  print(summary(fit))
  if (!is.null(parsed$output)) {
    estimates <- data.frame(parameter = names(stats::coef(fit)), estimate = unname(stats::coef(fit)))
    write_output(parsed$output, ".tsv", function(path) write_tsv(path, estimates))
  }
  if (isTRUE(fit$converged)) 0L else 3L
}

start_values <- function(text, name, params) {
  parts <- strsplit(split_list(text), "=", fixed = TRUE)
  values <- suppressWarnings(as.numeric(vapply(parts, function(part) part[2], "")))
  names(values) <- vapply(parts, `[`, "", 1)
  if (anyNA(values) || !setequal(names(values), params)) {
    usage_error("--start must give ", enumerate(params), " of ", name, ", such as ",
                paste0(params, "=1", collapse = ","))
  }
  values[params]
}

split_list <- function(text) strsplit(text, ",", fixed = TRUE)[[1]]
