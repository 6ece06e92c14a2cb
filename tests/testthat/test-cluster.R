# Runs in tasks of BiocParallel.

long_test_that("a run in tasks gives the bytes of a plain run, and resumes it", {
  set.seed(801)
  cases <- list(
    evaluated = function() {
      case <- random_config(c(chr1 = 500, chr2 = 90, one = 1, chr3 = 400))
      folder <- calls_folder(case$calls)
      utils::modifyList(case$config, list(evaluation = list(reference_dir = folder)))
    },
    posterior = function() raw_config(example_with_posteriors()),
    fitted = function() {
      config <- raw_config(example_with_posteriors())
      config$estimate <- TRUE
      config$substitution_model <- "HKY85"
      config
    },
    not_kept = function() {
      config <- raw_config(ancify_example(new_folder()))
      config$keep_projected <- FALSE
      config
    }
  )
  # New processes start with the first run; later runs have workers that wait for them.
  waiting <- BiocParallel::bpstart(cluster_params("snow")[[1]])
  on.exit(BiocParallel::bpstop(waiting))
  for (name in names(cases)) {
    config <- cases[[name]]()
    expected <- run_quietly(in_other_folders(config))
    for (kind in c("serial", "multicore", "snow", "batchtools")) {
      mine <- in_other_folders(config)
      use_waiting <- kind == "snow" && name != "evaluated"
      run <- run_in_tasks(mine, if (use_waiting) waiting else cluster_params(kind)[[1]])
      expect_same_run(run, expected)
      expect_false(dir.exists(file.path(mine$work_dir, ".ancify", "not_kept")))
      # No work is left for either kind of run.
      skipped <- log_lines(ancify_run(mine, progress = FALSE))
      expect_match(skipped, "Calls of .*: kept from an earlier run", all = FALSE)
      expect_same_run(run_in_tasks(mine, cluster_params("serial")[[1]]), expected)
    }
  }
})

test_that("a run in tasks makes all anew with resume = FALSE", {
  set.seed(818)
  case <- random_config()
  run_quietly(case$config)
  for (keep in c(TRUE, FALSE)) {
    case$config$keep_projected <- keep
    lines <- log_lines(ancify_run(
      case$config, resume = FALSE, BPPARAM = cluster_params("serial")[[1]], progress = FALSE
    ))
    expect_match(lines, "Projected outer1", all = FALSE)
    expect_match(lines, "Called one", all = FALSE)
    expect_no_match(lines, "kept from an earlier run")
    expect_calls(case$config$output_dir, case$calls)
  }
})

test_that("a run in tasks resumes a plain run, and repairs damage", {
  set.seed(802)
  case <- random_config(c(chr1 = 500, chr2 = 90, one = 1))
  run_quietly(case$config)
  unlink(file.path(case$config$output_dir, "chr2.fa"))
  unlink(file.path(case$config$work_dir, "projected", "inner2"), recursive = TRUE)
  lines <- log_lines(
    ancify_run(case$config, BPPARAM = cluster_params("serial")[[1]], progress = FALSE)
  )
  expect_match(lines, "^Projections of inner1 and outer1: kept", all = FALSE)
  expect_match(lines, "^Calls of chr1 and one: kept", all = FALSE)
  expect_length(grep("^projection of inner2 .*: done in", lines), 1)
  expect_length(grep("^calls of chr2 .*: done in", lines), 1)
  expect_calls(case$config$output_dir, case$calls)
})

test_that("a MAF is one task for all its species, with a report for each", {
  set.seed(803)
  lengths <- c(chr1 = 300, chr2 = 80)
  case <- random_config(lengths, 1, 1)
  maf <- maf_file(random_maf(lengths))
  for (tier in c("inner", "outer")) case$config$outgroups[[tier]][[1]]$alignment <- maf
  case$config$outgroups$inner[[1]]$maf_name <- "near"
  case$config$outgroups$outer[[1]]$maf_name <- "f"
  case$config$focal_maf_name <- maf_focal
  quietly <- function(...) suppressWarnings(run_quietly(...))
  expected <- quietly(case$config)
  mine <- in_other_folders(case$config)
  run <- quietly(mine, BPPARAM = cluster_params("serial")[[1]])
  expect_same_run(run, expected)
  expect_length(list.files(file.path(mine$work_dir, ".ancify", "tasks"), "^project-"), 1)
})

test_that("phases can be run one by one", {
  set.seed(804)
  case <- random_config()
  param <- cluster_params("serial")[[1]]
  alignments <- ancify_project(case$config, BPPARAM = param, progress = FALSE, verbose = FALSE)
  expect_identical(alignments$species, c("inner1", "inner2", "outer1"))
  expect_projected(case$config$work_dir, case$projected)
  run <- ancify_call(case$config, BPPARAM = param, progress = FALSE, verbose = FALSE)
  expect_calls(case$config$output_dir, case$calls)
  evaluated <- ancify_evaluate(case$config, BPPARAM = param, progress = FALSE, verbose = FALSE)
  expect_identical(evaluated$high_confidence, run$high)
})

long_test_that("a failed task is named with its error, and the others finish", {
  set.seed(805)
  # After the text that is checked before the run.
  block <- axt_block("chr1", 2, strrep("ACGT", 20), strrep("AC-T", 20))
  many <- function() rep(block, 20000)
  case <- random_config(c(chr1 = 500, chr2 = 90), axt = few_bases(lengths, name))
  good <- c(many(), axt_block("chr2", 1, "A", "C"))
  outgroups <- case$config$outgroups
  write_axt(good, outgroups$inner[[1]]$alignment)
  write_axt(good, outgroups$outer[[1]]$alignment)
  write_axt(c(many(), axt_block("chr2", 89, "ACGT", "ACGT")), outgroups$inner[[2]]$alignment)
  bad <- outgroups$inner[[2]]$alignment
  for (kind in c("serial", "snow", "batchtools")) {
    mine <- in_other_folders(case$config)
    condition <- expect_ancify_error(
      run_in_tasks(mine, cluster_params(kind)[[1]]), "task", "1 of 3 tasks failed",
      "projection of inner2 failed on", Sys.info()[["nodename"]], bad
    )
    expect_s3_class(condition, "ancify_format_error")
    expect_identical(condition$file, bad)
    expect_identical(condition$line, 80001)
    expect_identical(condition$tasks, "projection of inner2")
    log <- readLines(Sys.glob(file.path(mine$work_dir, ".ancify/tasks/project-*/log"))[1])
    expect_match(log[1], "projection of .*, on ")
    expect_false(file.exists(mine$output_dir))
  }
  # Only the failed task is left.
  write_axt(good, bad)
  lines <- log_lines(ancify_run(mine, BPPARAM = cluster_params("snow")[[1]], progress = FALSE))
  expect_match(lines, "^Projections of inner1 and outer1: kept", all = FALSE)
  expect_length(grep("^projection of .*: done", lines), 1)
  expected <- in_other_folders(case$config)
  run_quietly(expected)
  expect_identical(files_of_run(mine), files_of_run(expected))
})

long_test_that("a killed worker loses only its own task", {
  set.seed(806)
  case <- slow_case()
  on.exit(unlink(case$slow))
  job <- start_program(rscript, run_script(case$config, "BiocParallel::SnowParam(2)"))
  on.exit(end_program(job), add = TRUE)
  # The largest file's task is the first.
  tools::pskill(process_of_task(case$config, "project-1"), tools::SIGKILL)
  wait_for(!is.null(job$status()))
  expect_identical(job$status(), 1L)
  expect_match(job$err(), "1 of 3 tasks failed", all = FALSE)
  expect_match(job$err(), "projection of inner1 ended without an outcome", all = FALSE)
  expect_match(job$err(), "projection of inner2 .*: done", all = FALSE)
  expect_match(job$err(), "projection of outer1 .*: done", all = FALSE)

  case$config$outgroups$inner[[1]]$alignment <- case$fast
  lines <- log_lines(run <- ancify_run(case$config, progress = FALSE))
  expect_match(lines, "^Projections of inner2 and outer1: kept", all = FALSE)
  expected <- in_other_folders(case$config)
  run_quietly(expected)
  expect_identical(files_of_run(case$config), files_of_run(expected))
})

long_test_that("Ctrl-C ends the tasks too", {
  set.seed(807)
  case <- slow_case()
  on.exit(unlink(case$slow))
  # One worker is busy; a second one is idle.
  params <- c("SnowParam(1)", "SnowParam(2)", "MulticoreParam(2)")
  for (param in paste0("BiocParallel::", params)) {
    config <- in_other_folders(case$config)
    job <- start_program(rscript, run_script(config, param))
    on.exit(end_program(job), add = TRUE)
    worker <- process_of_task(config, "project-1")
    wait_for(length(Sys.glob(file.path(config$work_dir, ".ancify/tasks/*/outcome.json"))) == 2 ||
               param == "BiocParallel::SnowParam(1)")
    # Only to the calling session, as in RStudio; a terminal also interrupts the workers.
    tools::pskill(job$pid, tools::SIGINT)
    expect_lt(wait_for(!is.null(job$status())), 6)
    expect_false(job$status() == 0)
    wait_for(!is_running(worker), 10)
    expect_false(any(file.exists(sequence_path(
      file.path(config$work_dir, "projected", "inner1"), c("chr1", "chr2")
    ))), info = param)
    # The next run can start, and no files stay.
    config$outgroups$inner[[1]]$alignment <- case$fast
    run_quietly(config)
    expected <- in_other_folders(config)
    run_quietly(expected)
    expect_identical(files_of_run(config), files_of_run(expected))
  }
})

long_test_that("tasks that outlive their session are named, and their files are used", {
  set.seed(808)
  case <- slow_case(5)
  on.exit(unlink(case$slow))
  job <- start_program(rscript, run_script(case$config, "BiocParallel::SnowParam(1)"))
  on.exit(end_program(job), add = TRUE)
  worker <- process_of_task(case$config, "project-1")
  tools::pskill(job$pid, tools::SIGKILL)
  wait_for(!is.null(job$status()))
  expect_ancify_error(
    run_quietly(case$config), "lock", "A task of an earlier run is still at work", "scancel, kill",
    "projection of inner1", paste("process", worker)
  )
  wait_for(!is_running(worker), 60)
  lines <- log_lines(ancify_run(case$config, "project", progress = FALSE))
  expect_match(lines, "^Projections of inner1: kept", all = FALSE)
  expect_length(grep("^Projected", lines), 2)
})

# A task of a running session, in a folder of its own.
one_task <- function(config) {
  config <- with_alignments(ancify_config(config), "project")
  cluster <- new_cluster(cluster_params("serial")[[1]], config$work_dir, "cpu", FALSE, identity)
  dir.create(cluster$folder, recursive = TRUE)
  writeLines(cluster$session, session_file(cluster$folder))
  parts <- parts_by_alignment(cluster, config)
  context <- with_ledgers(new_context(config, new_work(1)))
  claim_projections(context, config$outgroups$name)
  shared <- list(sources = alignment_sources(config))
  new_tasks(cluster, tasks_of_parts(cluster, "project", parts, shared))[[1]]
}

test_that("tasks of a dead session do nothing", {
  set.seed(809)
  task <- one_task(random_config()$config)
  tasks <- dirname(task$folder)
  writeLines("another", session_file(tasks))
  do_task(task)
  expect_false(has_begun(task) || has_outcome(task))
  # They do not block new tasks with the same names.
  lock <- lock_folder_impl(task$folder)
  expect_no_error(do_task(task))
  unlock_folder_impl(lock)
  writeLines(task$session, session_file(tasks))
  writeLines("", cancelled_file(tasks))
  do_task(task)
  expect_false(has_begun(task) || has_outcome(task))
  unlink(cancelled_file(tasks))
  do_task(task)
  expect_true(has_begun(task) && has_outcome(task))
  expect_null(read_outcome(task$folder, task_ledgers)$error)
})

test_that("a task's log follows no link", {
  set.seed(817)
  task <- one_task(random_config()$config)
  precious <- tempfile()
  writeLines("precious", precious)
  dir.create(task$folder)
  file.symlink(precious, log_file(task))
  do_task(task)
  expect_identical(readLines(precious), "precious")
  log <- readLines(log_file(task))
  expect_match(log[1], "projection of")
  expect_identical(log[length(log)], "done")
})

test_that("files of an earlier session's task count only if they are unchanged", {
  set.seed(815)
  config <- random_config()$config
  task <- one_task(config)
  do_task(task)
  species <- task$part$outgroups$name
  lines <- log_lines(ancify_run(config, "project", progress = FALSE))
  expect_match(lines, sprintf("^Projections of %s: kept", species), all = FALSE)

  config <- in_other_folders(config)
  do_task(one_task(config))
  path <- file.path(config$work_dir, "projected", species, "chr1.fa")
  bytes <- file_bytes(path)
  writeBin(replace(bytes, 30, as.raw(65 + (bytes[30] == 65))), path)
  run_quietly(config)
  expect_identical(file_bytes(path), bytes)
})

test_that("projections of tasks that are not kept are removed by the next plain run", {
  set.seed(816)
  config <- random_config(keep_projected = FALSE)$config
  expect_error(
    withCallingHandlers(
      ancify_run(config, BPPARAM = cluster_params("serial")[[1]], progress = FALSE),
      ancify_message = function(condition) {
        if (startsWith(conditionMessage(condition), "Phase project")) stop("ended here")
        invokeRestart("muffleMessage")
      }
    ),
    "ended here"
  )
  expect_length(list.files(tasks_not_kept(config), recursive = TRUE), 9)
  run_quietly(config)
  expect_false(file.exists(tasks_not_kept(config)))
})

test_that("a task that was killed before its first message is named", {
  set.seed(817)
  task <- one_task(random_config()$config)
  dir.create(task$folder)
  file.create(log_file(task))
  expect_ancify_error(throw_failures(list(task), list(NULL)), "task", "perhaps killed: project-1")
})

test_that("invalid outcomes of tasks are ignored", {
  set.seed(815)
  config <- random_config()$config
  run_in_tasks(config, cluster_params("serial")[[1]])
  files <- Sys.glob(file.path(config$work_dir, ".ancify", "tasks", "*", "outcome.json"))
  write_state(files[1], 1:3)
  write_state(files[2], list(ledgers = 5, task = "a"))
  writeLines("damaged", files[3])
  lines <- log_lines(ancify_run(config, progress = FALSE))
  expect_match(lines, "^Calls of chr1, chr2 and one: kept", all = FALSE)
})

test_that("a run restores workers and random numbers", {
  set.seed(816)
  config <- random_config()$config
  param <- cluster_params("batchtools")[[1]]
  BiocParallel::bpstart(param)
  on.exit(BiocParallel::bpstop(param))
  before <- list(param$resources, BiocParallel::bpstopOnError(param), param$registry$sleep)
  state <- .Random.seed
  run_in_tasks(config, param)
  expect_identical(.Random.seed, state)
  after <- list(param$resources, BiocParallel::bpstopOnError(param), param$registry$sleep)
  expect_identical(after, before)
})

test_that("a worker of another version is an error", {
  set.seed(810)
  task <- one_task(random_config()$config)
  task$version <- "0.0.1"
  do_task(task)
  outcome <- read_outcome(task$folder, task_ledgers)
  expect_s3_class(outcome$error, "ancify_package_error")
  expect_match(conditionMessage(outcome$error), "the calling session 0.0.1")
  expect_match(readLines(log_file(task)), "^failed: The worker has ancify", all = FALSE)
  expect_length(outcome$projected, 0)
})

test_that("workers that cannot start tasks are an error with a hint", {
  set.seed(814)
  config <- random_config()$config
  param <- cluster_params("snow")[[1]]
  BiocParallel::bpstart(param)
  on.exit(BiocParallel::bpstop(param))
  hidden <- BiocParallel::bplapply(1:2, function(i) {
    unlockBinding("setwd", baseenv())
    assign("setwd", function(...) stop("there is no such folder"), baseenv())
  }, BPPARAM = param)
  expect_ancify_error(
    run_in_tasks(config, param), "task", "None of 3 tasks was begun", "there is no such folder",
    "see the folder", config$work_dir
  )
})

test_that("chromosomes become few tasks, the long ones first", {
  groups <- function(lengths, ...) {
    parts <- parts_by_chromosome("a cluster", list(lengths = lengths), ...)
    lapply(parts, function(part) names(part$lengths))
  }
  lengths <- c(a = 10, b = 100, c = 9, d = 3, e = 2, f = 1, g = 50)
  expect_identical(unname(groups(lengths)), list("b", "g", "a", c("c", "d"), c("e", "f")))
  expect_named(groups(lengths), c("b", "g", "a", "c and 1 more", "e and 1 more"))
  expect_identical(unname(groups(lengths, c(2, 1, 2, 2, 2, 2, 1))),
                   list(c("b", "g"), c("a", "c", "d", "e", "f")))
  expect_identical(unname(groups(c(only = 5))), list("only"))
  set.seed(811)
  for (n in c(5, 1000, 20000)) {
    lengths <- stats::setNames(ceiling(stats::rlnorm(n, 10, 3)), paste0("c", seq_len(n)))
    found <- groups(lengths)
    expect_setequal(unlist(found), names(lengths))
    expect_identical(anyDuplicated(unlist(found)), 0L)
    expect_lte(length(found), most_call_tasks + 1)
    sums <- vapply(found, function(names) sum(lengths[names]), 0)
    expect_lte(max(sums), max(lengths, 2 * sum(lengths) / most_call_tasks, max(lengths) / 5))
  }
})

test_that("unusable workers are an error before any work", {
  set.seed(812)
  case <- random_config()
  dopar <- structure(list(), class = c("DoparParam", "BiocParallelParam"))
  for (param in list(2, "slurm", list(), dopar)) {
    expect_ancify_error(run_in_tasks(case$config, param), "input", "`BPPARAM`", "SnowParam")
  }
  for (param in list(cluster_params("multicore")[[1]], BiocParallel::SnowParam(2, "FORK"))) {
    expect_ancify_error(
      run_in_tasks(case$config, param, backend = "gpu"), "device", "forked", "SnowParam"
    )
  }
  expect_false(file.exists(case$config$work_dir))
})

test_that("each task has a GPU of its own", {
  task <- list(folder = file.path(new_folder(), "tasks", "call-1"))
  expect_identical(take_gpu(0:1, task), 0L)
  first <- tasks_here$gpu
  expect_identical(take_gpu(0:1, task), 1L)
  unlock_folder_impl(first)
  second <- tasks_here$gpu
  expect_identical(take_gpu(0:1, task), 0L)
  unlock_folder_impl(second)
  let_go_of_gpu()
  expect_identical(take_gpu(0:1, task), 0L)
  let_go_of_gpu()
  # Without GPUs, the backend is chosen as usual.
  expect_length(take_gpu(integer(), task), 0)
})

test_that("a model that changes during the run is not used", {
  set.seed(815)
  case <- random_config(c(chr1 = 200))
  config <- ancify_config(case$config)
  config$method <- "ml"
  config$ml_model_path <- tempfile()
  writeLines("one", config$ml_model_path)
  config <- with_inputs(config, config$ml_model_path)
  writeLines("another", config$ml_model_path)
  expect_ancify_error(
    call_part(new_context(config, new_work(1)), list(), NULL), "file",
    config$ml_model_path, "again"
  )
})

test_that("tasks that were not begun are named with BiocParallel's error", {
  folder <- new_folder()
  tasks <- lapply(c("a", "b"), function(name) {
    dir.create(file.path(folder, name))
    list(title = paste("calls of", name), folder = file.path(folder, name))
  })
  writeLines("here", log_file(tasks[[1]]))
  condition <- expect_ancify_error(
    throw_failures(tasks, list(NULL, NULL), simpleError("no such node")), "task",
    "calls of a ended without an outcome", "calls of b was not begun", "(no such node)"
  )
  expect_identical(condition$tasks, c("calls of a", "calls of b"))
  expect_silent(throw_failures(tasks, list(list(value = 1), list()), NULL))
})
