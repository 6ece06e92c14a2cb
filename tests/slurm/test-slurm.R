# A user's steps with real jobs, on the two nodes that tests/slurm/run has started.

with_slurm <- function(config) {
  config$cluster <- list(partition = "main", time = "00:10:00", memory = "1G", cpus = 1)
  config$num_cpus <- 1
  config
}

# Another session that runs a configuration by jobs.
slurm_session <- function(config, env = library_environment()) {
  start_program(rscript, run_script(config, "ancify::slurm_param(config)"), env = env)
}

job_of_task <- function(config, task) {
  process_of_task(config, task)
  log <- file.path(config$work_dir, ".ancify", "tasks", task, "log")
  sub(".*, Slurm job ([0-9]+)$", "\\1", readLines(log)[1])
}

jobs_there_are <- function() {
  run_program("squeue", "--noheader", "--format=%i %T")$out
}

expect_as_without <- function(config) {
  expected <- in_other_folders(config)
  run_quietly(expected)
  expect_identical(files_of_run(config), files_of_run(expected))
}

interrupt_session <- function(session) {
  tools::pskill(session$pid, tools::SIGINT)
  wait_for(!is.null(session$status()), 60)
}

# The tasks in a session's log, by place.
nodes_in <- function(lines) {
  table(sub(".*\\((n[12]), Slurm job [0-9]+\\).*", "\\1", grep(": done in", lines, value = TRUE)))
}

test_that("the command line runs in jobs, with the bytes of a plain run", {
  set.seed(901)
  folder <- new_folder()
  config <- with_slurm(raw_config(example_with_posteriors()))
  config[c("work_dir", "output_dir")] <- file.path(folder, c("work", "calls"))
  path <- file.path(folder, "config.yaml")
  yaml::write_yaml(config, path)
  ancify <- system.file("exec", "ancify", package = "ancify")
  run <- run_program(rscript, ancify, "run", "-v", "-c", path, "--cluster", "slurm",
                     timeout = 180)
  expect_identical(run$status, 0L)
  expect_match(run$err, "Each job requests 1 core and 1G of memory from Slurm", all = FALSE)
  expect_match(run$err, "Using BatchtoolsParam on slurm", all = FALSE)
  # Six jobs on two nodes with two cores each.
  expect_named(nodes_in(run$err), c("n1", "n2"))
  expect_as_without(config)
  expect_length(jobs_there_are(), 0)
  expect_identical(list.files(file.path(config$work_dir, ".ancify")),
                   c("ledger", "ledger.copy", "tasks"))
})

test_that("folders may have any name, even if jobs do not get the session's environment", {
  set.seed(906)
  Sys.setenv(SBATCH_EXPORT = "NONE")
  on.exit(Sys.unsetenv("SBATCH_EXPORT"))
  folder <- file.path(
    new_folder(),
    "x';touch EXECUTED;' \"$(touch EXECUTED)`touch EXECUTED`\n#SBATCH --hold\n\u00e9\u4e2d%j"
  )
  dir.create(folder)
  config <- with_slurm(in_other_folders(random_config()$config, folder))
  with_folder(folder, run_quietly(config, BPPARAM = slurm_param(config, verbose = FALSE)))
  expect_as_without(config)
  expect_identical(list.files(folder), c("calls", "work"))
})

test_that("a cancelled job is named, and the next run does what is left", {
  set.seed(902)
  case <- slow_case()
  on.exit(unlink(case$slow))
  config <- with_slurm(case$config)
  session <- slurm_session(config)
  on.exit(end_program(session), add = TRUE)
  job <- job_of_task(config, "project-1")
  run_program("scancel", job)
  wait_for(!is.null(session$status()), 120)
  expect_identical(session$status(), 1L)
  expect_match(session$err(), "1 of 3 tasks failed", all = FALSE)
  ended <- sprintf("projection of inner1 ended without an outcome.*Slurm job %s", job)
  expect_match(session$err(), ended, all = FALSE)
  expect_match(session$err(), "projection of outer1 .*: done in", all = FALSE)

  session <- slurm_session(config)
  wait_for(!is.null(session$status()), 120)
  expect_identical(session$status(), 0L)
  expect_match(session$err(), "^Projections of inner2 and outer1: kept", all = FALSE)
  expect_as_without(config)
})

test_that("a run ends though a node is drained", {
  set.seed(903)
  case <- slow_case(10)
  on.exit(unlink(case$slow))
  config <- with_slurm(case$config)
  session <- slurm_session(config)
  on.exit(end_program(session), add = TRUE)
  job_of_task(config, "project-1")
  drain <- function(state) {
    run_program("scontrol", "update", "nodename=n1", paste0("state=", state), "reason=test")
  }
  drain("drain")
  on.exit(drain("resume"), add = TRUE)
  wait_for(!is.null(session$status()), 120)
  expect_identical(session$status(), 0L)
  # Later tasks run on the other node.
  expect_named(nodes_in(grep("^calls", session$err(), value = TRUE)), "n2")
  expect_as_without(config)
})

test_that("Ctrl-C cancels jobs that run and those that wait", {
  set.seed(904)
  case <- slow_case()
  on.exit(unlink(case$slow))
  config <- with_slurm(case$config)
  drain <- function(state) {
    run_program("scontrol", "update", "nodename=n1,n2", paste0("state=", state), "reason=test")
  }
  session <- slurm_session(config)
  on.exit(end_program(session), add = TRUE)
  job_of_task(config, "project-1")
  process <- process_of_task(config, "project-1")
  interrupt_session(session)
  expect_false(session$status() == 0)
  wait_for(length(jobs_there_are()) == 0, 20)
  # No job goes on, and the next run need not wait.
  wait_for(!tools::pskill(process, 0), 60)
  config$outgroups$inner[[1]]$alignment <- case$fast
  run_quietly(config)
  expect_as_without(config)

  # No job can begin.
  drain("drain")
  on.exit(drain("resume"), add = TRUE)
  config <- in_other_folders(config)
  session <- slurm_session(config)
  wait_for(length(jobs_there_are()) == 3)
  interrupt_session(session)
  wait_for(length(jobs_there_are()) == 0, 20)

  # An interrupt while sbatch has submitted a job and not yet ended.
  bin <- new_folder()
  writeLines(
    c("#!/bin/sh", paste(Sys.which("sbatch"), '"$@"'), "sleep 3"), file.path(bin, "sbatch")
  )
  Sys.chmod(file.path(bin, "sbatch"), "755")
  path <- paste0("PATH=", bin, ":", Sys.getenv("PATH"))
  session <- slurm_session(config, c(library_environment(), path))
  wait_for(length(jobs_there_are()) == 1)
  interrupt_session(session)
  wait_for(length(jobs_there_are()) == 0, 20)
})

test_that("embeddings are made by jobs, as by a session", {
  options(ancify.part_size = 2)
  on.exit(options(ancify.part_size = NULL))
  model <- sequence_model(system.file("extdata", "esm2_random", package = "ancify"))
  proteins <- c(a = "MKTAYIAKQR", b = "GSHMSLFDFF", c = "MKV", d = "ACDEFGH", e = "WWYY")
  out <- new_folder()
  jobs <- list(cluster = list(partition = "main", time = "00:10:00", memory = "1G", cpus = 1))
  folder <- new_folder()
  with_folder(folder, {
    lines <- log_lines(embed_sequences(
      proteins, model, out = out, threads = 1, BPPARAM = slurm_param(jobs, verbose = FALSE)
    ))
  })
  expect_length(grep("^part-[1-3].bin .*Slurm job [0-9]+.*: done in", lines), 3)
  expected <- embed_sequences(proteins, model, threads = 1)
  attr(expected, "unknown") <- NULL
  expect_identical(read_embeddings(out), expected)
  expect_identical(list.files(folder), character())
  expect_length(jobs_there_are(), 0)
})

test_that("the command line detects viruses in jobs, as in a session", {
  out <- file.path(new_folder(), c("session", "jobs"))
  fixture <- function(name) test_path("..", "testthat", "fixtures", "virus_detection", name)
  ancify <- c(
    rscript, system.file("exec", "ancify", package = "ancify"), "viruses", "-n", "1",
    "--size", "60", "-i", fixture("contigs.fa"), "--dna", example_model("dnabert_random"),
    "--protein", example_model("esm2_random"), "--classifier", fixture("classifier.pth")
  )
  here <- do.call(run_program, as.list(c(ancify, "-o", out[1])))
  jobs <- do.call(run_program, as.list(c(
    ancify, "-o", out[2], "--cluster", "slurm", "--job-memory", "1G", "--job-time", "00:10:00",
    "--partition", "main"
  )))
  expect_identical(c(here$status, jobs$status), c(0L, 0L))
  expect_match(jobs$err, "Each job requests 1 core and 1G of memory from Slurm", all = FALSE)
  sums <- lapply(out, function(folder) unname(tools::md5sum(file.path(folder, detection_files))))
  expect_identical(sums[[2]], sums[[1]])
  expect_length(jobs_there_are(), 0)
})

test_that("jobs that outlive their session are named", {
  set.seed(905)
  case <- slow_case(10)
  on.exit(unlink(case$slow))
  config <- with_slurm(case$config)
  session <- slurm_session(config)
  job <- job_of_task(config, "project-1")
  tools::pskill(session$pid, tools::SIGKILL)
  wait_for(!is.null(session$status()))
  expect_ancify_error(
    run_quietly(config), "lock", "projection of inner1", paste("Slurm job", job), "scancel"
  )
  process <- process_of_task(config, "project-1")
  run_program("scancel", job)
  # Wait until the process is gone: until then no run touches its files.
  wait_for(!tools::pskill(process, 0), 60)
  wait_for(length(jobs_there_are()) == 0, 60)
  config$outgroups$inner[[1]]$alignment <- case$fast
  run_quietly(config)
  expect_as_without(config)
})
