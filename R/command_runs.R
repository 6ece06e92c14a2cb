# Commands of a configuration's run.

init_command <- function(parsed) {
  path <- parsed$output %||% "ancify.yaml"
  if (path == "-") write_lines(path, config_template()) else wrote(ancify_init(path))
}

train_command <- function(parsed) {
  wrote(ancify_train(
    parsed$config,
    file = parsed$output,
    threads = threads_option(parsed),
    progress = isatty(stderr()),
    verbose = isTRUE(parsed$verbose)
  ))
}

check_command <- function(parsed) {
  checks <- ancify_check(
    parsed$config,
    threads = threads_option(parsed), progress = isatty(stderr())
  )
  checks$finding <- shell_words(checks$finding, "check", parsed$rows)
  print(checks)
  if (any(checks$status == "error")) 1L else 0L
}

# The command that runs these phases
phases_command <- function(phases) {
  function(parsed) {
    threads <- threads_option(parsed)
    param <- cluster_option(parsed$cluster, parsed$config, threads)
    run <- ancify_run(
      parsed$config,
      phases = phases,
      threads = threads,
      BPPARAM = param,
      progress = isatty(stderr()),
      verbose = isTRUE(parsed$verbose)
    )
    print(run)
    done <- names(attr(run, "seconds"))
    if (any(c("call", "project and call") %in% done)) writeLines(run$file)
    if ("evaluate" %in% done) {
      writeLines(file.path(attr(run, "config")$output_dir, evaluation_file(run$chromosome)))
    }
  }
}

cluster_option <- function(name, config, threads, backend = NULL) {
  if (is.null(name)) {
    return(NULL)
  }
  if (name != "slurm") usage_error("--cluster must be slurm, not ", name)
  withCallingHandlers(
    slurm_param(config, threads, backend),
    ancify_message = function(condition) {
      message("ancify: ", trimws(conditionMessage(condition)))
      invokeRestart("muffleMessage")
    }
  )
}
