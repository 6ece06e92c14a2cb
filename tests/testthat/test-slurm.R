# Requests to Slurm. Tests with real jobs are in tests/slurm.

# Pretends that this machine has sbatch.
with_sbatch <- function(code) {
  folder <- new_folder()
  writeLines(c("#!/bin/sh", "echo slurm-wlm 22.05"), file.path(folder, "sbatch"))
  Sys.chmod(file.path(folder, "sbatch"), "755")
  path <- Sys.getenv("PATH")
  Sys.setenv(PATH = paste(folder, path, sep = ":"))
  on.exit(Sys.setenv(PATH = path))
  code
}

resources_of <- function(config, ...) {
  with_sbatch(slurm_param(config, verbose = FALSE, ...))$resources
}

# The path of a job's script as batchtools fills it in.
job_script <- function(resources, folder = "/tmp", array = FALSE) {
  read_template <- utils::getFromNamespace("cfReadBrewTemplate", "batchtools")
  template <- read_template(system.file("templates", "slurm.tmpl", package = "ancify"), "##")
  filled <- tempfile()
  job <- list2env(list(
    job.name = "job1", log.file = file.path(folder, paste0("job1.log", if (array) "_%a")),
    uri = file.path(folder, "job1.rds"), array.jobs = array, jobs = data.frame(job.id = 1:3),
    resources = resources
  ))
  utils::getFromNamespace("brew", "brew")(text = template, output = filled, envir = job)
  filled
}

script_of <- function(...) readLines(job_script(...))

test_that("jobs request the configured resources, or else those that the genome needs", {
  cluster_params("batchtools")
  config <- raw_config(ancify_example(new_folder()))
  config$num_cpus <- 3
  plain <- resources_of(config)
  expect_identical(
    plain, list(cpus = 3L, memory = "608M", time = NULL, partition = NULL, gpus = 0L)
  )
  asked <- list(cpus = 8L, memory = "12G", time = "1-12:30", partition = "short,long", gpus = 2L)
  config$cluster <- asked
  expect_identical(resources_of(config), asked)
  config$cluster <- list(time = "10")
  config$backend <- "gpu"
  expect_identical(resources_of(config)$gpus, 1L)

  script <- script_of(asked)
  expect_identical(grep("^#SBATCH", script, value = TRUE), paste0("#SBATCH --", c(
    "job-name=job1", "output=/dev/null", "ntasks=1", "cpus-per-task=8", "mem=12G",
    "time=1-12:30", "partition=short,long", "gpus=2"
  )))
  expect_match(script[length(script)], "'/tmp/job1.rds'$")
  expect_length(grep("time|partition|gpus", script_of(plain)), 0)
})

test_that("paths of jobs may have any character, and nothing in them is executed", {
  cluster_params("batchtools")
  bin <- new_folder()
  writeLines(
    c("#!/bin/sh", "printf %s \"$3\" >\"$ARGUMENT\"", "echo ran"), file.path(bin, "Rscript")
  )
  Sys.chmod(file.path(bin, "Rscript"), "755")
  names <- c(
    "a blank", "x';touch EXECUTED;echo '", "\"$(touch EXECUTED)", "`touch EXECUTED`",
    "a\n#SBATCH --job-name=b\nline", "\u00e9\u4e2d", "%j%a\\", "<%= 1 %>", "*", "-e"
  )
  for (name in names) {
    folder <- file.path(new_folder(), name)
    dir.create(folder)
    argument <- tempfile()
    for (array in c(FALSE, TRUE)) {
      script <- job_script(list(cpus = 1, memory = "1G"), folder, array)
      # sbatch reads the lines before the first command.
      lines <- readLines(script)
      expect_no_match(lines[seq_len(grep("^exec", lines) - 1)], "rds|log|name=b")
      with_folder(folder, {
        run <- run_program("env", paste0("PATH=", bin, ":", Sys.getenv("PATH")),
                           paste0("ARGUMENT=", argument), "SLURM_ARRAY_TASK_ID=2", "sh", script)
      })
      expect_identical(run$status, 0L)
      expect_identical(file_bytes(argument), charToRaw(file.path(folder, "job1.rds")))
      log <- file.path(folder, if (array) "job1.log_2" else "job1.log")
      expect_identical(readLines(log), "ran")
      expect_identical(content_of(folder), basename(log))
      unlink(log)
    }
  }
})

test_that("requested memory grows with the genome of a fit", {
  config <- ancify_example(new_folder())
  config$lengths <- c(chr1 = 3e9)
  small <- job_memory(config)
  expect_lt(small, 1e9)
  config$estimate <- TRUE
  config$method <- "coalescent"
  expect_gte(job_memory(config) - small, 3e9)
})

test_that("slurm_param() tells the requests of a job, or gives an error", {
  cluster_params("batchtools")
  config <- raw_config(ancify_example(new_folder()))
  config$num_cpus <- 1
  config$cluster <- list(memory = "2G")
  lines <- log_lines(with_sbatch(param <- slurm_param(config, workers = 7)))
  expect_identical(lines, "Each job requests 1 core and 2G of memory from Slurm\n")
  expect_s4_class(param, "BatchtoolsParam")
  expect_identical(BiocParallel::bpnworkers(param), 7L)
  config$cluster <- list(cpus = 2, gpus = 1)
  lines <- log_lines(with_sbatch(slurm_param(config)))
  expect_match(lines, paste(
    "2 cores and 544M of memory from Slurm \\(computed from the genome\\);",
    "jobs that call also request 1 GPU"
  ))

  copy <- tempfile()
  file.copy(system.file("templates", "slurm.tmpl", package = "ancify"), copy)
  expect_s4_class(with_sbatch(slurm_param(config, template = copy, verbose = FALSE)),
                  "BatchtoolsParam")
  gone <- tempfile()
  expect_ancify_error(slurm_param(config, template = gone), "file", gone)
  for (workers in list(0, "a", NULL)) {
    expect_ancify_error(slurm_param(config, workers = workers), "input", "`workers`")
  }
  path <- Sys.getenv("PATH")
  Sys.setenv(PATH = R.home("bin"))
  on.exit(Sys.setenv(PATH = path))
  expect_ancify_error(slurm_param(config), "file", "sbatch")
})

test_that("the command line's threads are cores of its jobs", {
  cluster_params("batchtools")
  config <- raw_config(ancify_example(new_folder()))
  cores <- function(threads) {
    utils::capture.output(type = "message", {
      param <- with_sbatch(cluster_option("slurm", config, threads))
    })
    as.numeric(param$resources$cpus)
  }
  expect_identical(cores(7), 7)
  expect_identical(cores(NULL), as.numeric(ancify_config(config)$num_cpus))
  config$cluster <- list(cpus = 2)
  expect_identical(cores(7), 2)
})

test_that("arguments of the run go before the configuration, for its jobs too", {
  cluster_params("batchtools")
  config <- raw_config(ancify_example(new_folder()))
  asked <- resources_of(config, threads = 6, backend = "gpu")
  expect_identical(asked[c("cpus", "gpus")], list(cpus = 6L, gpus = 1L))
  expect_ancify_error(slurm_param(config, backend = "tpu"), "input", "`backend`")
  expect_ancify_error(slurm_param(config, threads = 0), "input", "`threads`")
})

test_that("the submitting machine does not need the jobs' memory", {
  config <- ancify_example(new_folder())
  param <- cluster_params("batchtools")[[1]]
  cluster <- new_cluster(param, config$work_dir, config$backend, FALSE, identity)
  kind <- kind_of_run(NULL, cluster)
  expect_identical(kind, "jobs")
  expect_null(check_memory(config, c("project", "call"), kind))
  cluster <- new_cluster(cluster_params("snow")[[1]], config$work_dir, "cpu", FALSE, identity)
  expect_identical(kind_of_run(NULL, cluster), "tasks")
  expect_length(check_memory(config, c("project", "call"), "tasks"), 1)
  config$keep_projected <- FALSE
  for (kind in c("tasks", "jobs")) expect_false(can_run_as_one(config, c("project", "call"), kind))
})

test_that("jobs without a configuration request what is given, memory above all", {
  cluster_params("batchtools")
  asked <- list(memory = "16G", cpus = 4, time = "10")
  expect_identical(
    resources_of(list(cluster = asked)),
    list(cpus = 4L, memory = "16G", time = "10", partition = NULL, gpus = 0L)
  )
  lines <- log_lines(with_sbatch(slurm_param(list(cluster = asked), backend = "gpu")))
  expect_identical(lines, "Each job requests 4 cores and 16G of memory from Slurm, and 1 GPU\n")
  expect_ancify_error(slurm_param(list(cluster = list(cpus = 4))), "config", "`cluster.memory`")
  expect_ancify_error(slurm_param(list(cluster = list(memory = "much"))), "config", "megabytes")
  expect_ancify_error(slurm_param(list(cluster = list(ram = "1G"))), "config", "ram")
})

test_that("a template needs no GPUs", {
  expect_length(grep("gpus", script_of(list(cpus = 1, memory = "1G"))), 0)
})
