# Shared by the scripts of this folder: small runs of four kinds, in this process or in their own.
# Files of runs are compared.

suppressPackageStartupMessages(library(ancify))

`%||%` <- function(x, y) if (is.null(x)) y else x

option <- function(name, default) {
  args <- commandArgs(TRUE)
  at <- match(paste0("--", name), args)
  if (is.na(at)) default else as.numeric(args[at + 1])
}

# ---- Inputs --------------------------------------------------------------------------

# Writes one outgroup's blocks of 500 columns, with substitutions and gaps.
write_alignment <- function(path, genome) {
  connection <- gzfile(path, "w")
  on.exit(close(connection))
  for (name in names(genome)) {
    for (start in seq(1, length(genome[[name]]) - 600, by = 600)) {
      focal <- genome[[name]][start + 0:499]
      other <- ifelse(runif(500) < 0.1, sample(c("a", "C", "G", "t", "-"), 500, TRUE), focal)
      row <- function(bases) paste(bases, collapse = "")
      writeLines(c(sprintf("0 %s %.0f %.0f q 1 500 + 9", name, start, start + 499), row(focal),
                   row(other), ""), connection)
    }
  }
}

make_inputs <- function(folder) {
  lengths <- structure(c(rep(60000, 10), 3e6), names = c(paste0("chr", 1:10), "long"))
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), file.path(folder, "sizes"))
  species <- c("near1", "near2", "far")
  paths <- file.path(folder, paste0(species, ".axt.gz"))
  genome <- lapply(lengths, function(n) sample(c("A", "C", "G", "T"), n, TRUE))
  for (path in paths) write_alignment(path, genome)
  entry <- function(i) list(name = species[i], alignment = paths[i])
  list(
    focal_species = "focal", chromosome_lengths = file.path(folder, "sizes"),
    outgroups = list(inner = list(entry(1), entry(2)), outer = list(entry(3))),
    method = "likelihood", tree = "(((focal:0.1,near1:0.1):0.1,near2:0.2):0.1,far:0.3);",
    posterior = TRUE, num_cpus = 2
  )
}

# ---- Runs ----------------------------------------------------------------------------

ways <- list(
  kept = list(keep_projected = TRUE), unkept = list(keep_projected = FALSE),
  fitted = list(estimate = TRUE), fitted_unkept = list(estimate = TRUE, keep_projected = FALSE)
)

config_in <- function(inputs, way, folder) {
  config <- utils::modifyList(inputs, ways[[way]])
  config$work_dir <- file.path(folder, "work")
  config$output_dir <- file.path(folder, "calls")
  config
}

# The md5 sums of a run's files, by path, without its records.
files_of <- function(config) {
  folders <- c(config$work_dir, config$output_dir)
  files <- list.files(folders, all.files = TRUE, recursive = TRUE, full.names = TRUE)
  files <- files[!grepl("/\\.ancify/|ancify_run\\.json$", files)]
  sums <- tools::md5sum(files)
  names(sums) <- sub(dirname(config$work_dir), "", files, fixed = TRUE)
  sums
}

# Runs in this process; first waits for tasks that outlive their session.
run_here <- function(config) {
  run <- function() suppressWarnings(ancify_run(config, progress = FALSE, verbose = FALSE))
  repeat {
    problem <- tryCatch(
      return(run()),
      ancify_lock_error = identity
    )
    if (!grepl("still at work", conditionMessage(problem))) stop(problem)
    Sys.sleep(0.05)
  }
}

# Starts a process that runs a configuration: see start_process().
start_run <- function(config, log, param) {
  saved <- tempfile(fileext = ".rds")
  saveRDS(config, saved)
  start_process(
    sprintf("config <- readRDS(%s)", deparse1(saved)),
    sprintf(
      "suppressWarnings(ancify_run(config, BPPARAM = %s, progress = FALSE, verbose = FALSE))", param
    ),
    log
  )
}

# Starts a process that evaluates `before`, and `run` once the file <log>.go appears; gives its
# number. It writes <log>.done after a complete run, and <log>.ended at its end.
start_process <- function(before, run, log) {
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "suppressPackageStartupMessages(library(ancify))",
    before,
    sprintf("cat(Sys.getpid(), '\\n', file = %s)", deparse1(paste0(log, ".pid"))),
    sprintf("while (!file.exists(%s)) Sys.sleep(0.002)", deparse1(paste0(log, ".go"))),
    run,
    sprintf("cat('done', file = %s)", deparse1(paste0(log, ".done")))
  ), script)
  unlink(paste0(log, c(".pid", ".go", ".done")))
  command <- sprintf(
    "%s %s > %s 2>&1; echo > %s", shQuote(file.path(R.home("bin"), "Rscript")),
    shQuote(script), shQuote(log), shQuote(paste0(log, ".ended"))
  )
  unlink(paste0(log, ".ended"))
  # A process group of its own, with its workers
  system2("setsid", c("sh", "-c", shQuote(command)), wait = FALSE)
  while (!isTRUE(file.size(paste0(log, ".pid")) > 0)) Sys.sleep(0.005)
  as.integer(readLines(paste0(log, ".pid")))
}

seconds_of_run <- function(config, param) {
  log <- tempfile()
  start_run(config, log, param)
  started <- proc.time()[["elapsed"]]
  file.create(paste0(log, ".go"))
  while (!file.exists(paste0(log, ".done"))) {
    if (file.exists(paste0(log, ".ended"))) stop(paste(readLines(log), collapse = "\n"))
    Sys.sleep(0.002)
  }
  proc.time()[["elapsed"]] - started
}

compare <- function(config, expected, what) {
  found <- files_of(config)
  if (!identical(found, expected)) {
    differ <- setdiff(union(names(found), names(expected)),
                      names(which(found[names(expected)] == expected)))
    stop(sprintf("%s: %s differ", what, paste(differ, collapse = ", ")), call. = FALSE)
  }
}

# Mounts a file system, and says whether this user may do so.
mount <- function(...) {
  suppressWarnings(system2("mount", c(...), stdout = FALSE, stderr = FALSE)) == 0
}
