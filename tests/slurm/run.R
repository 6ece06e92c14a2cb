# What a user of Slurm does, by real jobs: the bytes are those of a run without, also where a job is
# cancelled in the middle, a node is drained, or the run is interrupted. tests/slurm/run starts it.
suppressPackageStartupMessages(library(ancify))
for (file in c("oracle", "files", "expect", "run", "machine", "axt", "cluster")) {
  helper <- file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                      "..", "testthat", sprintf("helper-%s.R", file))
  if (file.exists(helper)) sys.source(helper, asNamespace("ancify"))
}
