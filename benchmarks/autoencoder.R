# An epoch of fit_autoencoder() on a CPU beside PyTorch's eager epoch of the same network
# (autoencoder.py), in turns:
#
#   ANCIFY_TORCH_PYTHON=python3 Rscript benchmarks/autoencoder.R [ROUNDS] [THREADS]     5 1
#
# Both meet 512 maps of 64 points, and ours corrupts them and judges 128 more. Times are of the
# processor, medians over rounds. Ours are of epochs alone: those of five epochs less those of one.
# A round takes 20 to 40 seconds. Ends with 77 where there is no PyTorch.
library(ancify)

given <- as.integer(commandArgs(TRUE))
rounds <- if (is.na(given[1])) 5 else given[1]
threads <- if (is.na(given[2])) 1 else given[2]
options(ancify.threads = threads)
tasks <- c("cluster", "denoise", "inpaint")
model <- polymer_model(64, c(20, 24, 20), domain_spring = 0.02)
maps <- distance_maps(simulate_polymers(640, model, seed = 1))

seconds <- function(task, epochs) {
  sum(system.time(fit_autoencoder(maps, task, epochs = epochs, seed = 1))[1:2])
}
ours <- function(task) (seconds(task, 5) - seconds(task, 1)) / 4

here <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))
call <- c(file.path(here, "autoencoder.py"), "cpu", threads)
theirs <- function() {
  lines <- suppressWarnings(
    system2(Sys.getenv("ANCIFY_TORCH_PYTHON", "python3"), call, stdout = TRUE)
  )
  status <- attr(lines, "status")
  if (!is.null(status)) {
    writeLines(lines)
    quit(status = status)
  }
  row <- "^an epoch to (\\w+) .*: ([0-9.]+) s,.*"
  found <- grep(row, lines, value = TRUE)
  stats::setNames(as.numeric(sub(row, "\\2", found)), sub(row, "\\1", found))[tasks]
}

times <- replicate(rounds, rbind(theirs = theirs(), ours = vapply(tasks, ours, 0)))
for (task in tasks) {
  taken <- apply(times[, task, , drop = FALSE], 1, stats::median)
  ratios <- times["ours", task, ] / times["theirs", task, ]
  cat(sprintf("%-40s %5.2f  at most 1.3  (%.2f to %.2f; %.2f s over %.2f s)\n",
              paste0("our epoch over PyTorch's: ", task), stats::median(ratios),
              min(ratios), max(ratios), taken["ours"], taken["theirs"]))
}
