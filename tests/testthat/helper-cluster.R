# Runs whose parts are tasks.

# Params with two workers, named as test messages name them.
cluster_params <- function(names = c("serial", "multicore", "snow", "batchtools")) {
  if (!requireNamespace("BiocParallel", quietly = TRUE)) lacking("BiocParallel")
  if ("batchtools" %in% names && !requireNamespace("batchtools", quietly = TRUE)) {
    lacking("batchtools")
  }
  make <- list(
    serial = function() BiocParallel::SerialParam(),
    multicore = function() BiocParallel::MulticoreParam(2),
    snow = function() BiocParallel::SnowParam(2),
    batchtools = function() {
      BiocParallel::BatchtoolsParam(
        2, "multicore",
        registryargs = BiocParallel::batchtoolsRegistryargs(file.dir = tempfile())
      )
    }
  )
  lapply(make[names], function(one) one())
}

run_in_tasks <- function(config, param, ...) {
  run_quietly(config, BPPARAM = param, ...)
}

# A configuration like another, in folders of its own.
in_other_folders <- function(config, folder = new_folder()) {
  config[c("work_dir", "output_dir")] <- file.path(folder, c("work", "calls"))
  config
}

# Checksums of all files of a run, except those that contain times.
files_of_run <- function(config) {
  folders <- unlist(config[c("work_dir", "output_dir")])
  files <- lapply(folders, function(folder) list.files(folder, recursive = TRUE))
  paths <- file.path(rep(folders, lengths(files)), unlist(files))
  sums <- stats::setNames(unname(tools::md5sum(paths)), unlist(files))
  sums[names(sums) != "ancify_run.json"]
}

expect_same_run <- function(run, expected) {
  expect_identical(columns_of(run)[1:6], columns_of(expected)[1:6])
  for (name in c("alignments", "evaluation")) {
    expect_identical(attr(run, name), attr(expected, name))
  }
  expect_identical(files_of_run(attr(run, "config")), files_of_run(attr(expected, "config")))
}

# Lines of a program that runs a configuration with tasks.
run_script <- function(config, param, before = NULL) {
  path <- tempfile(fileext = ".rds")
  saveRDS(config, path)
  write_script(
    before, sprintf("config <- readRDS(%s)", deparse1(path)),
    sprintf("ancify::ancify_run(config, BPPARAM = %s, progress = FALSE)", param),
    "cat('done')"
  )
}

# Waits until a process works on a task and has logged it; gives the process.
process_of_task <- function(config, task) {
  lock <- file.path(config$work_dir, ".ancify", "tasks", task, ".ancify.lock")
  written <- c(lock, file.path(dirname(lock), "log"))
  wait_for(all(file.size(written) > 0))
  as.integer(sub(" .*", "", readLines(lock, warn = FALSE)))
}

is_running <- function(pid) {
  tools::pskill(pid, 0) && !any(grepl("^State:\\sZ", lines_of(sprintf("/proc/%d/status", pid))))
}

# One alignment that takes long, and two that do not.
slow_case <- function(gigabytes = 20) {
  case <- random_config(c(chr1 = 2^20, chr2 = 90), axt = few_bases(lengths, name))
  case$slow <- long_alignment(gigabytes)
  connection <- file(case$slow, "ab")
  on.exit(close(connection))
  last <- paste0(axt_block("chr2", 1, "A", "C"), "\n", collapse = "")
  writeBin(gzip_member(charToRaw(last)), connection)
  case$fast <- case$config$outgroups$inner[[1]]$alignment
  case$config$outgroups$inner[[1]]$alignment <- case$slow
  case$config$num_cpus <- 1
  case
}
