# The command line, exec/ancify. run_command_line() gives the exit status: 0 if all is done, 1 for
# an error, 2 for wrong arguments, 3 for a fit that has not converged, 130 for Ctrl-C.

command_usage <- "usage: ancify COMMAND [options]

commands
  init      write an annotated configuration to start from (-o FILE)
  check     check a run's inputs before it starts; status 1 if there is an error
  run       project and call; evaluate if the configuration has that block
  project   project the outgroups' alignments onto the focal genome
  call      call ancestral bases from projected sequences
  evaluate  compare calls with a reference and with known variants
  train     train a model for the method ml (-o FILE)
  reml      estimate heritability from genotypes; status 3 if not converged

options, before or after the command
  -c, --config FILE   the configuration (all commands but init and reml)
  -n, --threads N     threads; default: num_cpus of the configuration, or all
      --cluster NAME  slurm: do project, call, evaluate or run in jobs of Slurm
  -o, --output FILE   output of init or train; default: ancify.yaml, or
                      ml_model_path of the configuration
      --genotypes FILE, --out PREFIX, and if wanted --pheno FILE, --covar FILE,
      --keep FILE and --components FILE: inputs and results of reml
  -v, --verbose       log the run
  -h, --help          print this text
      --version       print the version
"

run_command_line <- function(args) {
  tryCatch(
    withCallingHandlers(
      run_command(parse_command_line(args)),
      warning = function(condition) {
        print_problem("warning: ", conditionMessage(condition))
        invokeRestart("muffleWarning")
      }
    ),
    ancify_usage_error = function(condition) {
      print_problem(conditionMessage(condition), "; see ancify --help")
      2L
    },
    error = function(condition) {
      print_problem("error: ", conditionMessage(condition))
      1L
    },
    interrupt = function(condition) {
      print_problem("interrupted")
      130L
    }
  )
}

print_problem <- function(...) {
  cat("ancify: ", ..., "\n", sep = "", file = stderr())
}

usage_error <- function(...) {
  abort_ancify(paste0(...), "usage")
}

value_options <- c(
  "-c" = "config", "--config" = "config", "-n" = "threads", "--threads" = "threads",
  "-o" = "output", "--output" = "output", "--cluster" = "cluster", "--out" = "output",
  "--genotypes" = "genotypes", "--pheno" = "pheno", "--covar" = "covar", "--keep" = "keep",
  "--components" = "components"
)

reml_inputs <- c("genotypes", "pheno", "covar", "keep", "components")

flag_options <- c(
  "-v" = "verbose", "--verbose" = "verbose", "-h" = "help", "--help" = "help",
  "--version" = "version"
)

# Gives the command and the options under their long names; absent values are NULL.
parse_command_line <- function(args) {
  parsed <- list(verbose = FALSE, help = FALSE, version = FALSE)
  while (length(args)) {
    arg <- args[1]
    args <- args[-1]
    # --config=FILE is --config FILE. Values may have = too: take only the first.
    if (grepl("^--[a-z]+=", arg)) {
      args <- c(sub("^[^=]*=", "", arg), args)
      arg <- sub("=.*", "", arg)
    }
    if (arg %in% names(value_options)) {
      if (!length(args)) usage_error(arg, " needs a value")
      parsed[[value_options[[arg]]]] <- args[1]
      args <- args[-1]
    } else if (arg %in% names(flag_options)) {
      parsed[[flag_options[[arg]]]] <- TRUE
    } else if (startsWith(arg, "-")) {
      usage_error("there is no option ", arg)
    } else if (!is.null(parsed$command)) {
      usage_error("give one command, not both ", parsed$command, " and ", arg)
    } else {
      parsed$command <- arg
    }
  }
  parsed
}

command_rows <- c("check", "init", "project", "call", "evaluate", "run", "train", "reml")

run_command <- function(parsed) {
  if (parsed$help) {
    cat(command_usage)
  } else if (parsed$version) {
    cat("ancify ", as.character(utils::packageVersion("ancify")), "\n", sep = "")
  } else if (is.null(parsed$command)) {
    usage_error("no command given")
  } else if (!parsed$command %in% command_rows) {
    usage_error("there is no command ", parsed$command)
  } else if (parsed$command == "reml") {
    return(fit_command(parsed))
  } else {
    of_reml <- intersect(reml_inputs, names(parsed))
    if (length(of_reml)) usage_error("--", of_reml[1], " is only for reml")
    return(run_of_config(parsed))
  }
  0L
}

run_of_config <- function(parsed) {
  if (parsed$command == "init") {
    if (!is.null(c(parsed$config, parsed$threads, parsed$cluster))) {
      usage_error("init takes only -o FILE")
    }
    cat("Wrote ", ancify_init(parsed$output %||% "ancify.yaml"), "\n", sep = "")
  } else if (is.null(parsed$config)) {
    usage_error(parsed$command, " needs -c FILE")
  } else if (!is.null(parsed$cluster) && !parsed$command %in% c(all_phases, "run")) {
    usage_error("--cluster is only for project, call, evaluate and run")
  } else if (parsed$command == "train") {
    train_command(parsed)
  } else if (parsed$command == "check") {
    return(check_command(parsed))
  } else {
    run_phases(parsed)
  }
  0L
}

train_command <- function(parsed) {
  path <- ancify_train(
    parsed$config,
    file = parsed$output,
    threads = threads_option(parsed$threads),
    progress = isatty(stderr()),
    verbose = parsed$verbose
  )
  cat("Wrote ", path, "\n", sep = "")
}

check_command <- function(parsed) {
  if (!is.null(parsed$output)) usage_error("-o is only for init and train")
  checks <- ancify_check(
    parsed$config,
    threads = threads_option(parsed$threads), progress = isatty(stderr())
  )
  print(checks)
  if (any(checks$status == "error")) 1L else 0L
}

fit_command <- function(parsed) {
  other <- intersect(c("config", "cluster"), names(parsed))
  if (length(other)) usage_error("reml takes no --", other[1])
  lacking <- setdiff(c("genotypes", "output"), names(parsed))
  if (length(lacking)) usage_error("reml needs --", sub("output", "out", lacking[1]))
  reml_command(parsed, threads_option(parsed$threads))
}

run_phases <- function(parsed) {
  if (!is.null(parsed$output)) usage_error("-o is only for init and train")
  threads <- threads_option(parsed$threads)
  param <- cluster_option(parsed$cluster, parsed$config, threads)
  run <- ancify_run(
    parsed$config,
    phases = if (parsed$command == "run") all_phases else parsed$command,
    threads = threads,
    BPPARAM = param,
    progress = isatty(stderr()),
    verbose = parsed$verbose
  )
  print(run)
  done <- names(attr(run, "seconds"))
  if (any(c("call", "project and call") %in% done)) cat(run$file, sep = "\n")
  if ("evaluate" %in% done) {
    cat(file.path(attr(run, "config")$output_dir, evaluation_file(run$chromosome)), sep = "\n")
  }
}

cluster_option <- function(name, config, threads) {
  if (is.null(name)) {
    return(NULL)
  }
  if (name != "slurm") usage_error("--cluster must be slurm, not ", name)
  withCallingHandlers(
    slurm_param(config, threads),
    ancify_message = function(condition) {
      print_problem(trimws(conditionMessage(condition)))
      invokeRestart("muffleMessage")
    }
  )
}

threads_option <- function(text) {
  if (is.null(text)) {
    return(NULL)
  }
  if (!grepl("^[1-9][0-9]{0,8}$", text)) {
    usage_error("-n must be a positive whole number, not ", text)
  }
  as.numeric(text)
}
