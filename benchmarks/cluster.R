# Runs in tasks (BPPARAM): what a task costs, one and two workers, and by a simulation what a
# hundred genomes take on 64 nodes with a shared disk.
#
#   Rscript benchmarks/cluster.R FOLDER      in the repository's root
#
# FOLDER has the simulated alignments of benchmarks/run.
suppressPackageStartupMessages(library(ancify))
source("benchmarks/simulated.R")
folder <- commandArgs(TRUE)[1]
rounds <- 3

best <- function(run) {
  min(replicate(rounds, system.time(run())[["elapsed"]]))
}

run <- function(config, param, phases = c("project", "call")) {
  ancify_run(config, phases, BPPARAM = param, resume = FALSE, progress = FALSE, verbose = FALSE)
}

# ---- Measured ------------------------------------------------------------------------------------

length <- 240e6
config <- config_of(folder, 24, length / 24)
config$num_cpus <- 1

# Workers that are there already, as those of a batch system are not: see below.
seconds <- vapply(1:2, function(workers) {
  param <- BiocParallel::bpstart(BiocParallel::SnowParam(workers))
  on.exit(BiocParallel::bpstop(param))
  run(config, param)
  best(function() run(config, param))
}, 0)
alone <- best(function() run(config, NULL))
cat(sprintf(
  "%-66s %6.2f\n", "24 x 10 Mb in 28 tasks, 1 worker, over a run without", seconds[1] / alone
))
cat(sprintf("%-66s %6.2f\n", "2 workers, speed over 1", seconds[1] / seconds[2]))

param <- BiocParallel::bpstart(BiocParallel::SnowParam(1))
example <- ancify_example()
tasks <- nrow(example$outgroups) + 3
with <- best(function() run(example, param))
without <- best(function() run(example, NULL))
BiocParallel::bpstop(param)
overhead <- (with - without) / tasks
cat(sprintf("%-66s %6.0f ms\n", "a task costs more than its work", 1000 * overhead))

# What a process has to load first, once a job of a batch system.
start <- best(function() {
  system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote("library(ancify)")), stdout = FALSE,
          stderr = FALSE)
})
cat(sprintf("%-66s %6.2f s\n", "starting R and loading the package", start))

# Seconds of one thread for a base of an outgroup, and for a position called.
project <- best(function() run(config, NULL, "project")) / (4 * length)
call <- best(function() run(config, NULL, "call")) / length
packed <- sum(file.size(file.path(dirname(config$chromosome_lengths), sprintf("%d.axt.gz", 0:3)))) /
  (4 * length)
unlink(config$work_dir, recursive = TRUE)
cat(sprintf("%-66s %6.2f s\n", "projecting 1 Gb of an outgroup, one thread", 1e9 * project))
cat(sprintf("%-66s %6.2f s\n", "calling 1 Gb from four outgroups, one thread", 1e9 * call))
cat(sprintf("%-66s %6.2f\n", "bytes of gzip a base of an outgroup", packed))

# ---- Simulated -----------------------------------------------------------------------------------

# Tasks of genomes like hg38: processor seconds, and bytes that go through the shared disk.
genome <- 3.1e9
call_tasks <- 30
tasks_of <- function(outgroups) {
  list(
    project = list(n = outgroups, seconds = start + overhead + project * genome,
                   bytes = (packed + 1) * genome),
    call = list(n = call_tasks,
                seconds = start + overhead + call * genome / call_tasks * outgroups / 4,
                bytes = (outgroups + 1) * genome / call_tasks)
  )
}

# Hours until the last of the genomes is called. All tasks that run are slowed down alike where
# together they ask for more than the disk has. `slots` tasks run at a time; a genome's calls wait
# for its projections, and go before projections of later genomes.
hours <- function(genomes, outgroups, slots, disk) {
  kinds <- tasks_of(outgroups)
  rate <- vapply(kinds, function(kind) kind$bytes / kind$seconds, 0)
  waiting <- list(project = rep(kinds$project$n, genomes), call = rep(0, genomes))
  unfinished <- waiting$project
  running <- data.frame(kind = character(), genome = integer(), left = numeric())
  now <- 0
  begin <- function(kind) {
    for (g in which(waiting[[kind]] > 0)) {
      n <- min(waiting[[kind]][g], slots - nrow(running))
      if (n == 0) break
      begun <- data.frame(kind, genome = g, left = rep(kinds[[kind]]$seconds, n))
      running <<- rbind(running, begun)
      waiting[[kind]][g] <<- waiting[[kind]][g] - n
    }
  }
  repeat {
    begin("call")
    begin("project")
    if (nrow(running) == 0) {
      return(now / 3600)
    }
    speed <- min(1, disk / sum(rate[running$kind]))
    step <- min(running$left)
    now <- now + step / speed
    running$left <- running$left - step
    ended <- running[running$left <= 1e-9, ]
    running <- running[running$left > 1e-9, ]
    for (g in ended$genome[ended$kind == "project"]) {
      unfinished[g] <- unfinished[g] - 1
      if (unfinished[g] == 0) waiting$call[g] <- kinds$call$n
    }
  }
}

cat("\nSimulated from these rates: minutes for 100 genomes like hg38, a task a node\n")
nodes <- c(1, 4, 16, 64)
for (outgroups in c(4, 40)) {
  table <- vapply(c(0.5, 2, 8, 32, Inf) * 1e9, function(disk) {
    vapply(nodes, function(n) 60 * hours(100, outgroups, n, disk), 0)
  }, nodes)
  dimnames(table) <- list(
    sprintf("%d nodes", nodes), c("disk 0.5 GB/s", "2 GB/s", "8 GB/s", "32 GB/s", "no limit")
  )
  cat(sprintf("\n%d outgroups\n", outgroups))
  print(round(table, 1))
}
