# How scripts in R measure jobs that take turns, and print the figures.

# The median seconds of each job over some rounds, in which the jobs take turns.
medians <- function(jobs, rounds = 3) {
  seconds <- replicate(rounds, vapply(jobs, function(job) {
    gc()
    system.time(job())[["elapsed"]]
  }, 0))
  apply(seconds, 1, stats::median)
}

# The median elapsed and processor seconds of each job, in turns: a column a job.
both_medians <- function(jobs, rounds = 3) {
  seconds <- replicate(rounds, vapply(jobs, function(job) {
    gc()
    time <- system.time(job())
    c(elapsed = time[["elapsed"]], processor = sum(time[-3]))
  }, numeric(2)))
  apply(seconds, 1:2, stats::median)
}

# list(seconds = elapsed and of the processor, library =) of ancify_bench, which inflates the files
# as a run does.
inflating <- function(program, threads, files) {
  words <- scan(text = system2(program, c("--inflate", threads, shQuote(files)), stdout = TRUE),
                what = "", sep = "\t", quiet = TRUE)
  list(seconds = c(elapsed = as.numeric(words[1]), processor = as.numeric(words[2])),
       library = words[3])
}

# A job that inflates the files by the command that users would take.
gunzip <- function(files) {
  function() system2("gzip", c("-dc", shQuote(files)), stdout = "/dev/null")
}

report <- function(what, value, goal = "") cat(sprintf("%-72s %9.3f  %s\n", what, value, goal))
