# The context that all work of a run shares.

# A context is a list: config, work, cluster, verbose and log; ledgers, which are work and output,
# of the two folders, and projections, of the projections from which calls are made.
new_context <- function(config, work, cluster = NULL, verbose = FALSE) {
  list(
    config = config, work = work, cluster = cluster, verbose = verbose, log = log_where(verbose)
  )
}

# The two folders may coincide. Without `resume` only files of this session count as complete.
with_ledgers <- function(context, resume = TRUE) {
  config <- context$config
  context$ledgers$work <- open_ledger(config$work_dir)
  context$ledgers$work$resume <- resume
  same <- normalizePath(config$work_dir, mustWork = FALSE) ==
    normalizePath(config$output_dir, mustWork = FALSE)
  context$ledgers$output <- if (same) context$ledgers$work else open_ledger(config$output_dir)
  context$ledgers$output$resume <- resume
  context$ledgers$projections <- context$ledgers$work
  context
}

claim_projections <- function(context, species) {
  claim_files(context$ledgers$projections, projections_of(species, names(context$config$lengths)))
}
