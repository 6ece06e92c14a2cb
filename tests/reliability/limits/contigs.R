# Measures the CPU time of each phase and the peak memory of runs with 10,000 and 100,000 contigs:
# Rscript contigs.R [contigs ...]. Uses the installed package. With a folder in memory
# (TMPDIR=/dev/shm) the disk does not affect the figures.
library(ancify)

write_inputs <- function(n) {
  names <- sprintf("contig_%06d", seq_len(n))
  writeLines(paste0(names, "\t60"), "lengths")
  row <- strrep("ACGTA", 6)
  for (species in c("near", "far")) {
    writeLines(sprintf("0 %s 11 40 c 1 30 + 0\n%s\n%s\n", names, row, row), species)
  }
  dir.create("references")
  for (name in names) {
    writeLines(c(">x", strrep("A", 60)), file.path("references", paste0(name, ".fa")))
  }
}

seconds <- function(code) {
  time <- system.time(code)
  time[["user.self"]] + time[["sys.self"]]
}

most_memory <- function() {
  line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

time_contigs <- function(n) {
  folder <- tempfile("contigs-")
  dir.create(folder)
  old <- setwd(folder)
  on.exit({
    setwd(old)
    unlink(folder, recursive = TRUE)
  })
  write_inputs(n)
  outgroup <- function(name) list(list(name = name, alignment = name))
  config <- list(
    focal_species = "focal", chromosome_lengths = "lengths",
    outgroups = list(inner = outgroup("near"), outer = outgroup("far")),
    evaluation = list(reference_dir = "references"), num_cpus = 2
  )
  unkept <- c(config, keep_projected = FALSE)
  run <- function(...) ancify_run(..., verbose = FALSE)
  times <- c(
    config = seconds(ancify_config(config)), project = seconds(run(config, "project")),
    call = seconds(run(config, "call")), unkept = seconds(run(unkept, c("project", "call"))),
    evaluate = seconds(result <- run(config, "evaluate")),
    print = seconds(utils::capture.output(print(result))),
    report = seconds(ancify_report(result, "report.html")),
    compare = seconds(compare_calls(a = result, b = result))
  )
  c(times, megabytes = most_memory())
}

sizes <- as.numeric(commandArgs(TRUE))
if (length(sizes) == 0) sizes <- c(10000, 100000)
figures <- vapply(sizes, time_contigs, numeric(9))
colnames(figures) <- format(sizes, big.mark = ",", scientific = FALSE)
print(round(figures, 2))
