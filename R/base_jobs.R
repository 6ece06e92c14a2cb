# What the native jobs need from R: threads, a backend, and someone who watches.

# Threads to use: as asked, else options(ancify.threads =), else all cores
# (or as many as the environment variable RCPP_PARALLEL_NUM_THREADS says).
resolve_threads <- function(threads) {
  threads <- threads %||% getOption("ancify.threads", RcppParallel::defaultNumThreads())
  as.integer(check_whole_number(threads, "threads", core_limits()$threads))
}

backends <- c("auto", "cpu", "gpu")

# `devices` and `gpu_memory` as a configuration has them: NULL for all devices.
choose_backend <- function(backend, threads, devices = NULL, gpu_memory = NULL) {
  if (identical(backend, "gpu") && !is.null(devices) && length(devices) == 0) {
    abort_ancify(
      paste(
        "`gpu_devices` is empty, and leaves `backend` 'gpu' no device: list devices, leave the",
        "key out for all, or choose 'cpu'."
      ),
      "device"
    )
  }
  simd <- check_choice(
    getOption("ancify.simd", "auto"), c("auto", "scalar", "avx2", "avx512"),
    "options(ancify.simd = )"
  )
  backend_impl(list(
    kind = check_choice(backend, backends, "backend"), devices = as.integer(devices),
    threads = resolve_threads(threads), simd = simd,
    gpus_per_card = gpus_per_card(),
    # No limit is 0; no device has more than 2^52 bytes.
    gpu_memory = if (is.null(gpu_memory)) 0 else min(max(gpu_memory, 1), 2^52)
  ))
}

# Runs job(watch), where a native job calls watch() 20 times a second with the
# share done and new lines for the log. The bar is cli's: it shows up after two
# seconds, and only where there is a terminal to draw it on. The files that the job reads have the
# identities in `inputs`, as expected_inputs() gives them; the functions in the list `tell` are told
# of what the job has finished.
with_watch <- function(label, job, progress = FALSE, verbose = FALSE, inputs = NULL, tell = NULL) {
  bar <- NULL
  if (check_flag(progress, "progress")) {
    bar <- cli::cli_progress_bar(label, total = 1000, clear = TRUE, .auto_close = FALSE)
    on.exit(cli::cli_progress_done(id = bar))
  }
  watch <- function(share, lines) {
    end_if_cancelled()
    if (verbose) {
      for (line in lines) inform_ancify(line)
    }
    if (!is.null(bar)) {
      cli::cli_progress_update(set = floor(min(share, 0.999) * 1000), id = bar)
    }
    NULL
  }
  attr(watch, "inputs") <- inputs
  attr(watch, "tell") <- Filter(Negate(is.null), tell)
  job(watch)
}

# Bytes of text a job handles at a time; the tests make it small.
chunk_size <- function() {
  check_whole_number(getOption("ancify.chunk_size", 2^18), "options(ancify.chunk_size = )")
}

cancelled_file <- function(folder) file.path(folder, "cancelled")

tasks_here <- new.env(parent = emptyenv())

# Ends a task that has been cancelled: native jobs ask 20 times a second, a file system once.
end_if_cancelled <- function() {
  now <- proc.time()[["elapsed"]]
  if (is.null(tasks_here$current) || now < tasks_here$next_look %||% 0) {
    return(invisible())
  }
  tasks_here$next_look <- now + 1
  if (file.exists(cancelled_file(dirname(tasks_here$current$folder)))) {
    abort_ancify("This task was cancelled by the session that started it.", "cancelled")
  }
}
