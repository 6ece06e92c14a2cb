# Threads, backend and progress of jobs in the core.

# The number of threads: `threads`, else options(ancify.threads =), else default_threads().
resolve_threads <- function(threads) {
  threads <- threads %||% getOption("ancify.threads", default_threads())
  as.integer(check_whole_number(threads, "threads", core_limits()$threads))
}

# The environment variable RCPP_PARALLEL_NUM_THREADS, else the number of cores; at most
# OMP_THREAD_LIMIT, and at most two in checks of packages.
default_threads <- function(cores = RcppParallel::defaultNumThreads()) {
  limit <- suppressWarnings(as.integer(Sys.getenv("OMP_THREAD_LIMIT")))
  in_check <- !tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_")) %in% c("", "false")
  min(cores, if (!is.na(limit) && limit > 0) limit, if (in_check) 2L)
}

backends <- c("auto", "cpu", "gpu")

# `devices` and `gpu_memory`: as in a configuration; NULL for all devices, and for no limit.
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
  backend_impl(core_list(
    "BackendWish",
    kind = check_choice(backend, backends, "backend"), devices = as.integer(devices),
    threads = resolve_threads(threads), simd = simd,
    gpus_per_card = gpus_per_card(),
    # 0 means no limit; no device has more than 2^52 bytes.
    gpu_memory = if (is.null(gpu_memory)) 0 else min(max(gpu_memory, 1), 2^52)
  ))
}

# Runs job(watch). The core calls watch() 20 times a second with the completed share, new log lines,
# and the current chromosome or "". cli draws the bar after two seconds, on terminals only.
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

# The bytes of text that a job processes at a time. Tests reduce this number.
chunk_size <- function() {
  check_whole_number(getOption("ancify.chunk_size", 2^18), "options(ancify.chunk_size = )")
}

cancelled_file <- function(folder) file.path(folder, "cancelled")

tasks_here <- new.env(parent = emptyenv())

# Ends a cancelled task. Jobs poll 20 times a second; the file is checked once a second.
end_if_cancelled <- function() {
  if (is.null(tasks_here$current)) {
    return(invisible())
  }
  now <- proc.time()[["elapsed"]]
  if (now < tasks_here$next_look %||% 0) {
    return(invisible())
  }
  tasks_here$next_look <- now + 1
  if (file.exists(cancelled_file(dirname(tasks_here$current$folder)))) {
    abort_ancify("This task was cancelled by the session that started it.", "cancelled")
  }
}

# Whether a pointer to the core's memory is lost, for example in an object saved by another session.
is_null_pointer <- function(pointer) identical(pointer, methods::new("externalptr"))

# A list for the core, with the fields of a struct's table in src/rcpp_*. A single call makes each
# struct's list, and `./check` compares the call's names with the table.
core_list <- function(struct, ...) list(...)
