# The memory that a run takes above R's own, at the lengths of hg38's chromosomes:
#
#   Rscript benchmarks/memory.R FOLDER
#
# It takes the installed package. All outgroups have copies of an alignment, whose blocks are so far
# apart that it is small, and so close that they are in all windows of all outgroups.
library(ancify)

folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE)

megabases <- c(
  248.956422, 242.193529, 198.295559, 190.214555, 181.538259, 170.805979, 159.345973, 145.138636,
  138.394717, 133.797422, 135.086622, 133.275309, 114.364328, 107.043718, 101.991189, 90.338345,
  83.257441, 80.373285, 58.617616, 64.444167, 46.709983, 50.818468, 156.040895, 57.227415
)
lengths <- stats::setNames(1e6 * megabases, paste0("chr", c(1:22, "X", "Y")))
sizes <- file.path(folder, "chrom.sizes")
writeLines(sprintf("%s\t%.0f", names(lengths), lengths), sizes)

set.seed(1)
bases <- paste(sample(c("A", "C", "G", "T"), 2e5, TRUE), collapse = "")
axt <- file.path(folder, "blocks.axt.gz")
out <- gzfile(axt, "w")
for (name in names(lengths)) {
  starts <- seq(1, lengths[[name]] - 1000, by = 1e5)
  rows <- substring(bases, 1 + starts %% 1e5, 1000 + starts %% 1e5)
  writeLines(sprintf(
    "%d %s %.0f %.0f q 1 1000 + 9\n%s\n%s\n", seq_along(starts), name, starts, starts + 999, rows,
    rows
  ), out)
}
close(out)

# Megabytes of memory in use at most, since the last time it was set back
most_used <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("VmHWM", status, value = TRUE))) / 1024
}

for (n in c(4, 40)) {
  entries <- lapply(seq_len(n), function(i) {
    copy <- file.path(folder, sprintf("s%d.axt.gz", i))
    file.copy(axt, copy)
    list(name = paste0("s", i), alignment = copy)
  })
  config <- list(
    focal_species = "focal", chromosome_lengths = sizes,
    outgroups = list(inner = entries[-n], outer = entries[n]),
    work_dir = file.path(folder, "out"), output_dir = file.path(folder, "out", "calls")
  )
  gc()
  writeLines("5", "/proc/self/clear_refs")
  before <- most_used()
  ancify_run(config, threads = 2, resume = FALSE, progress = FALSE, verbose = FALSE)
  cat(sprintf(
    "%d outgroups at hg38's lengths, nothing kept, 2 threads: %.0f MB above R's own\n", n,
    most_used() - before
  ))
}
unlink(file.path(folder, "out"), recursive = TRUE)
