# Ancestral sequences for programs that read a FASTA file of one chromosome.

export_relate <- function(files, out, low_confidence, progress, ...) {
  export_fasta(files, out, low_confidence, progress, NULL, "N")
}

export_slim <- function(files, out, reference, low_confidence, progress, ...) {
  export_fasta(files, out, low_confidence, progress, reference, "A")
}

# `unknown`: the letter of positions where neither the calls nor the reference have a base.
export_fasta <- function(files, out, low_confidence, progress, reference, unknown) {
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
