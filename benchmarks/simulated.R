# What benchmarks/run has simulated, for the scripts in R.

# A configuration of the alignments of so many chromosomes in `folder`.
config_of <- function(folder, n, length) {
  files <- file.path(folder, sprintf("%d x %.0f Mb", n, length / 1e6))
  lengths <- file.path(files, "chrom.sizes")
  dir.create(files, showWarnings = FALSE)
  writeLines(sprintf("chr%d\t%.0f", seq_len(n), length), lengths)
  species <- Map(
    list, name = paste0("s", 0:3), alignment = file.path(files, sprintf("%d.axt.gz", 0:3)),
    USE.NAMES = FALSE
  )
  list(
    focal_species = "focal", chromosome_lengths = lengths,
    outgroups = list(inner = species[1:3], outer = species[4]),
    work_dir = file.path(folder, "out"), output_dir = file.path(folder, "out", "calls")
  )
}
