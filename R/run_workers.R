# Workers of BiocParallel, started and stopped with a run.

# Calls job() with the workers there.
with_workers <- function(cluster, job) {
  if (is.null(cluster)) {
    return(job())
  }
  dir.create(cluster$folder, recursive = TRUE, showWarnings = FALSE)
  write_text(session_file(cluster$folder), cluster$session)
  # From which batchtools draws its seeds.
  random_state <- globalenv()$.Random.seed
  on.exit(set_random_state(random_state))
  start_workers(cluster)
  on.exit(stop_workers(cluster), add = TRUE, after = FALSE)
  job()
}

# NULL for a session that has drawn nothing yet.
set_random_state <- function(state) {
  if (!is.null(state)) {
    assign(".Random.seed", state, globalenv())
  } else if (exists(".Random.seed", globalenv(), inherits = FALSE)) {
    rm(".Random.seed", envir = globalenv())
  }
}

# Workers that are there already are used; else a copy of what is given starts them, as it can't be
# used again when one of them has died.
start_workers <- function(cluster) {
  if (!BiocParallel::bpisup(cluster$given)) {
    cluster$param <- BiocParallel::bpstart(unserialize(serialize(cluster$given, NULL)))
  }
}

stop_workers <- function(cluster) {
  if (BiocParallel::bpisup(cluster$given)) {
    return(invisible())
  }
  # A registry of batchtools is of no more use: nothing to wait for before it is removed. What a
  # worker that has died can't be told is no news.
  options <- options(
    BIOCPARALLEL_BATCHTOOLS_REMOVE_REGISTRY_WAIT = 0, show.error.messages = FALSE
  )
  on.exit(options(options))
  try(BiocParallel::bpstop(cluster$param), silent = TRUE)
}
