# The work of jobs in the core: threads, backend, memory, precision and progress.

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

# The resources that a job may use. An exported function makes this list from its arguments, and
# hands it down to the core. Results do not depend on it, except on `precision`. `memory`: bytes,
# without a limit by default, and half of the free memory if NULL. `precision`: "fp32" or "fp16";
# NULL chooses by the backend. `gpu_devices` and `gpu_memory`: as in a configuration.
new_work <- function(threads = NULL, backend = "cpu", memory = most_bytes, precision = NULL,
                     progress = FALSE, gpu_devices = NULL, gpu_memory = NULL) {
  refuse_if_no_device(backend, gpu_devices)
  if (!is.null(memory)) check_positive(memory, "memory", 1)
  work <- core_list(
    "Work",
    threads = resolve_threads(threads), backend = check_choice(backend, backends, "backend"),
    devices = as.integer(gpu_devices), gpus_per_card = gpus_per_card(),
    # 0 means no limit.
    gpu_memory = if (is.null(gpu_memory)) 0 else as_bytes(gpu_memory),
    simd = check_choice(
      getOption("ancify.simd", "auto"), c("auto", "scalar", "avx2", "avx512"),
      "options(ancify.simd = )"
    ),
    memory = as_bytes(memory %||% default_memory()), precision = "fp32",
    progress = check_flag(progress, "progress")
  )
  chosen <- backend_impl(work$backend, work$devices, work$gpus_per_card, work$simd)
  work[c("backend", "devices")] <- chosen[c("kind", "devices")]
  work$precision <- checked_precision(precision, work$backend == "gpu")
  work
}

refuse_if_no_device <- function(backend, gpu_devices) {
  if (identical(backend, "gpu") && !is.null(gpu_devices) && length(gpu_devices) == 0) {
    abort_ancify(
      paste(
        "`gpu_devices` is empty, so `backend` 'gpu' has no device. List devices, leave the setting",
        "out for all devices, or choose 'cpu'."
      ),
      "device"
    )
  }
}

# More bytes than any machine has.
most_bytes <- 2^52

as_bytes <- function(memory) min(max(memory, 1), most_bytes)

# Half of the memory that this process can still allocate.
default_memory <- function() {
  available <- available_memory()
  if (is.na(available)) 2^33 else available / 2
}

checked_precision <- function(precision, on_gpu) {
  precision <- check_choice(precision %||% if (on_gpu) "fp16" else "fp32", c("fp32", "fp16"),
                            "precision")
  refuse_if(precision == "fp16" && !on_gpu,
            "`precision` \"fp16\" is for GPUs alone: choose \"fp32\", or set `backend` to \"gpu\".")
  precision
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

# True if a pointer to the core's memory is lost, for example in an object saved by another session.
is_null_pointer <- function(pointer) identical(pointer, methods::new("externalptr"))

# A list for the core, with the fields of a struct's table in src/rcpp_*. A single call makes each
# struct's list, and `./check` compares the call's names with the table.
core_list <- function(struct, ...) list(...)
