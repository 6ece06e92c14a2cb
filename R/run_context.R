# The context that all work of a run shares.

# A context is a list: config, backend, cluster, progress, verbose and log; work and output, the
# ledgers of the two folders; projections, the ledger of the projections from which calls are made.
new_context <- function(config, backend, cluster = NULL, progress = FALSE, verbose = FALSE) {
  list(
    config = config, backend = backend, cluster = cluster, progress = progress, verbose = verbose,
    log = log_where(verbose)
  )
}

# The two folders may coincide. Without `resume` only files of this session count as complete.
with_ledgers <- function(context, resume = TRUE) {
  config <- context$config
  context$work <- open_ledger(config$work_dir)
  context$work$resume <- resume
  same <- normalizePath(config$work_dir, mustWork = FALSE) ==
    normalizePath(config$output_dir, mustWork = FALSE)
  context$output <- if (same) context$work else open_ledger(config$output_dir)
  context$output$resume <- resume
  context$projections <- context$work
  context
}

claim_projections <- function(context, species) {
  claim_files(context$projections, projections_of(species, names(context$config$lengths)))
}
