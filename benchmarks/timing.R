# How scripts in R measure jobs that take turns, and print the figures.

# The median seconds of each job over some rounds, in which the jobs take turns.
medians <- function(jobs, rounds = 3) {
  seconds <- replicate(rounds, vapply(jobs, function(job) {
    gc()
    system.time(job())[["elapsed"]]
  }, 0))
  apply(seconds, 1, stats::median)
}

report <- function(what, value, goal = "") cat(sprintf("%-72s %9.3f  %s\n", what, value, goal))
