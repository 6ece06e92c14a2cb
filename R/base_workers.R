# Work on workers of BiocParallel.

check_workers <- function(param, backend) {
  # BiocParallel cannot start foreach's workers.
  must_be(inherits(param, "BiocParallelParam") && !inherits(param, "DoparParam"), param, "BPPARAM",
          "NULL or a BiocParallelParam, as BiocParallel::SnowParam(2) is")
  need_bioconductor("BiocParallel", "Workers")
  if (forks(param) && identical(backend, "gpu")) {
    abort_ancify(
      paste(
        "The workers of MulticoreParam are forked, and a forked process cannot use a GPU.",
        "Use SnowParam, or set `backend` to \"cpu\"."
      ),
      "device"
    )
  }
}

# MulticoreParam inherits from SnowParam; its workers are forked.
forks <- function(param) {
  if (is_batch(param)) {
    return(param$cluster == "multicore")
  }
  inherits(param, "SnowParam") && identical(param$.clusterargs$type, "FORK")
}

is_batch <- function(param) inherits(param, "BatchtoolsParam")

# Calls do(part) for each of `parts`, in order: in this session, or on the workers of `param`.
# Both ways raise equal errors and warnings. The progress bar shows `label`.
over_parts <- function(parts, do, param, label, progress) {
  if (!is.null(param)) {
    return(lapply(sent_parts(parts, do, param), value_of_part))
  }
  if (!progress) {
    return(lapply(parts, do))
  }
  bar <- cli::cli_progress_bar(label, total = length(parts), clear = TRUE, .auto_close = FALSE)
  on.exit(cli::cli_progress_done(id = bar))
  lapply(parts, function(part) {
    value <- do(part)
    cli::cli_progress_update(id = bar)
    value
  })
}

sent_parts <- function(parts, do, param) {
  work <- list2env(list(libraries = .libPaths()), parent = emptyenv())
  if (forks(param) || inherits(param, "SerialParam")) {
    work$do <- do
  } else {
    # Serialize the function, because a worker that has not loaded the package would alter it.
    work$packed <- serialize(do, NULL)
  }
  tryCatch(
    BiocParallel::bplapply(parts, do_part_anywhere, work = work, BPPARAM = param),
    error = function(e) {
      abort_ancify(sprintf("A worker of `BPPARAM` has failed: %s.", conditionMessage(e)), "task")
    }
  )
}

# The function that workers receive. It needs only a library with this package. Parts sent together
# to a worker share the environment `work`, and so the objects unpacked or read into it.
do_part_anywhere <- function(part, work) {
  if (is.null(work$do)) {
    .libPaths(work$libraries)
    asNamespace("ancify")
    work$do <- unserialize(work$packed)
  }
  get("do_part", asNamespace("ancify"))(part, work$do)
}

environment(do_part_anywhere) <- baseenv()

# Runs on a worker, with one thread, because other cores belong to other workers. Returns conditions
# as values, because BiocParallel would turn them into text.
do_part <- function(part, do) {
  old <- options(ancify.threads = 1)
  on.exit(options(old))
  warnings <- list()
  value <- tryCatch(
    withCallingHandlers(do(part), warning = function(condition) {
      warnings <<- c(warnings, list(condition))
      invokeRestart("muffleWarning")
    }),
    error = function(condition) structure(list(condition = condition), class = "failed_part")
  )
  list(value = value, warnings = warnings)
}

value_of_part <- function(outcome) {
  for (condition in outcome$warnings) warning(condition)
  if (inherits(outcome$value, "failed_part")) stop(outcome$value$condition)
  outcome$value
}

# Wraps do() to attach ancify on a worker, because users' functions may call ancify's.
with_ancify <- function(do) {
  function(part) {
    if (!"package:ancify" %in% search()) {
      attachNamespace("ancify")
      on.exit(detach("package:ancify"))
    }
    do(part)
  }
}
