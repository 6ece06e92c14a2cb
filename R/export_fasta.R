# Ancestral sequences in FASTA: files of one chromosome each, or one file of all.

export_relate <- function(files, out, low_confidence, progress, ...) {
  export_each(files, out, low_confidence, progress, NULL, "N")
}

export_slim <- function(files, out, reference, low_confidence, progress, ...) {
  export_each(files, out, low_confidence, progress, reference, "A")
}

# `unknown`: the letter of positions where neither the calls nor the reference have a base.
export_each <- function(files, out, low_confidence, progress, reference, unknown) {
  paths <- sequence_path(out, files$chromosome)
  sources <- sequence_files(reference, files$chromosome, "reference")
  for (path in paths) refuse_same_file(path, run = files$file, reference = sources$path)
  counts <- with_watch("Writing", function(watch) {
    settings <- core_list(
      "CallExport",
      paths = files$file, chromosomes = files$chromosome, folder = out,
      low_confidence = low_confidence, reference = sources, unknown = unknown
    )
    export_calls_impl(settings, watch)
  }, progress)
  exported(
    paths, called = counts[, "called"], unknown = counts[, "unknown"],
    filled = counts[, "filled"], chromosome = files$chromosome
  )
}

export_fasta <- function(files, out, low_confidence, width, work, progress, ...) {
  out <- check_fasta_file(out, files)
  counts <- with_watch("Writing", function(watch) {
    settings <- core_list(
      "GenomeExport",
      paths = files$file, chromosomes = files$chromosome, file = out, width = width %||% 60,
      low_confidence = low_confidence
    )
    export_genome_impl(settings, work, watch)
  }, progress)
  exported(out, called = counts[["called"]], unknown = counts[["unknown"]])
}

check_fasta_file <- function(out, files) {
  refuse_if(!grepl("[.](fa|fasta|fna)([.]gz)?$", out),
            "`out` is %s: end its name in .fa for plain text, or in .fa.gz for bgzip.", quoted(out))
  out <- check_output_file(out, "out", whole = FALSE)
  if (endsWith(out, ".gz")) {
    check_htslib(use = "compresses by bgzip (a name without .gz gives plain text)")
  }
  folders <- normalizePath(dirname(c(out, files$file)), mustWork = FALSE)
  refuse_if(endsWith(out, ".fa") && folders[1] %in% folders[-1],
            "`out` is %s: it would be read as a chromosome of the run. Choose another folder.",
            quoted(out))
  out
}
