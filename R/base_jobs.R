# Threads, backend and progress of jobs in the core.

# Threads to use: `threads`, else options(ancify.threads =), else the number in the environment
# variable RCPP_PARALLEL_NUM_THREADS, else all cores.
resolve_threads <- function(threads) {
  threads <- threads %||% getOption("ancify.threads", RcppParallel::defaultNumThreads())
  as.integer(check_whole_number(threads, "threads", core_limits()$threads))
}

backends <- c("auto", "cpu", "gpu")

# `devices` and `gpu_memory` are those of a configuration: NULL for all devices.
choose_backend <- function(backend, threads, devices = NULL, gpu_memory = NULL) {
  if (identical(backend, "gpu") && !is.null(devices) && length(devices) == 0) {
    abort_ancify(
      paste(
        "`gpu_devices` is empty, so `backend` 'gpu' has no device. List devices, leave the setting",
        "out for all devices, or choose 'cpu'."
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

# Runs job(watch). The core calls watch() 20 times a second with the share done, new lines for the
# log, and the chromosome at work or "". cli draws the bar after two seconds, on terminals only.
# `inputs`: identities of the files that the job reads, by expected_inputs(). `tell`: functions that
# the core calls with each finished result.
with_watch <- function(label, job, progress = FALSE, verbose = FALSE, inputs = NULL, tell = NULL) {
  bar <- NULL
  if (check_flag(progress, "progress")) {
    bar <- cli::cli_progress_bar(label, total = 1000, clear = TRUE, .auto_close = FALSE)
    on.exit(cli::cli_progress_done(id = bar))
  }
  watch <- function(share, lines, place = "") {
    end_if_cancelled()
    if (verbose) {
      for (line in lines) inform_ancify(line)
    }
    if (!is.null(bar)) {
      cli::cli_progress_update(
        set = floor(min(share, 0.999) * 1000), status = place, id = bar
      )
    }
    NULL
  }
  attr(watch, "inputs") <- inputs
  attr(watch, "tell") <- Filter(Negate(is.null), tell)
  job(watch)
}

# Bytes of text that a job handles at a time. The tests make it small.
chunk_size <- function() {
  check_whole_number(getOption("ancify.chunk_size", 2^18), "options(ancify.chunk_size = )")
}

cancelled_file <- function(folder) file.path(folder, "cancelled")

tasks_here <- new.env(parent = emptyenv())

# Ends a cancelled task. Jobs ask 20 times a second; the file is looked for once a second.
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

# Whether a pointer to memory of the core is lost, as after a session.
is_null_pointer <- function(pointer) identical(pointer, methods::new("externalptr"))
