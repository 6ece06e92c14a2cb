# Starts workers of BiocParallel for a job, and stops them.

# Calls job() while the workers run.
with_workers <- function(cluster, job) {
  if (is.null(cluster)) {
    return(job())
  }
  dir.create(cluster$folder, recursive = TRUE, showWarnings = FALSE)
  write_text(session_file(cluster$folder), cluster$session)
  # batchtools draws its seeds from R's random number generator, so restore the state.
  random_state <- globalenv()$.Random.seed
  on.exit(set_random_state(random_state))
  start_workers(cluster)
  on.exit(stop_workers(cluster), add = TRUE, after = FALSE)
  job()
}

# Starts a copy of the given param, unless its workers already run. A param cannot be reused after
# one of its workers has died.
start_workers <- function(cluster) {
  if (!BiocParallel::bpisup(cluster$given)) {
    cluster$param <- BiocParallel::bpstart(unserialize(serialize(cluster$given, NULL)))
  }
}

stop_workers <- function(cluster) {
  if (BiocParallel::bpisup(cluster$given)) {
    return(invisible())
  }
  # Remove batchtools' registry without waiting. Hide errors about dead workers.
  options <- options(
    BIOCPARALLEL_BATCHTOOLS_REMOVE_REGISTRY_WAIT = 0, show.error.messages = FALSE
  )
  on.exit(options(options))
  try(BiocParallel::bpstop(cluster$param), silent = TRUE)
}
