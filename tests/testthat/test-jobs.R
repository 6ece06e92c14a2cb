# Threads, progress, interrupts and errors of native jobs.

test_that("threads come from the argument, the option or the default", {
  resolve <- ancify:::resolve_threads
  expect_identical(resolve(3), 3L)
  with_options(list(ancify.threads = NULL), {
    expect_identical(resolve(NULL), ancify:::default_threads())
  })
  with_options(list(ancify.threads = 5), {
    expect_identical(resolve(NULL), 5L)
    expect_identical(resolve(2L), 2L)
  })
  with_options(list(ancify.threads = "many"), {
    expect_ancify_error(resolve(NULL), "input", "`threads`", "'many'")
  })
  for (threads in list(0, -1, 1.5, NA, NA_real_, Inf, "2", 1:2, list(1), TRUE)) {
    expect_ancify_error(resolve(threads), "input", "`threads` must be a positive whole number")
  }
})

test_that("the default is all cores, fewer under a limit, and at most two in checks", {
  variables <- c("OMP_THREAD_LIMIT", "_R_CHECK_LIMIT_CORES_")
  old <- Sys.getenv(variables, NA, names = TRUE)
  on.exit(for (name in variables) {
    if (is.na(old[[name]])) Sys.unsetenv(name) else do.call(Sys.setenv, as.list(old[name]))
  })
  default <- function(limit, in_check, cores = 16L) {
    do.call(Sys.setenv, as.list(stats::setNames(c(limit, in_check), variables)))
    ancify:::default_threads(cores)
  }
  expect_identical(default("", ""), 16L)
  expect_identical(default("", "false"), 16L)
  for (in_check in c("TRUE", "true", "warn")) expect_identical(default("", in_check), 2L)
  expect_identical(default("3", ""), 3L)
  expect_identical(default("64", ""), 16L)
  expect_identical(default("1", "TRUE"), 1L)
  expect_identical(default("4", "TRUE"), 2L)
  expect_identical(default("", "TRUE", cores = 1L), 1L)
  for (limit in c("0", "-1", "many")) expect_identical(default(limit, ""), 16L)
})

test_that("more threads than cores give the same", {
  set.seed(1)
  sequence <- paste(sample(c("A", "C", "G", "T", "N"), 3 * 2^18, replace = TRUE), collapse = "")
  called <- lapply(c(64, 1), function(n) call_ancestral(sequence, sequence, threads = n))
  expect_true(identical(called[[1]], called[[2]]))
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  expect_identical(project_axt(axt, c(chr1 = 4), threads = 64), c(chr1 = "NGTN"))
})

test_that("choices are checked, and the first is the default", {
  choice <- ancify:::check_choice
  expect_identical(choice("b", c("a", "b"), "x"), "b")
  expect_identical(choice(c("a", "b"), c("a", "b"), "x"), "a")
  for (value in list("c", NULL, NA, 1, c("b", "a"), "A")) {
    expect_ancify_error(choice(value, c("a", "b"), "x"), "input", "`x` must be one of 'a' and 'b'")
  }
})

test_that("work is checked and resolved", {
  for (backend in c("auto", "cpu")) {
    work <- new_work(2, backend, 0.5, progress = TRUE)
    expect_identical(
      work[c("threads", "backend", "memory", "precision", "progress")],
      list(threads = 2L, backend = "cpu", memory = 1, precision = "fp32", progress = TRUE)
    )
    expect_identical(describe_work_impl(work), cpu_backend(2))
  }
  expect_lt(new_work(1, memory = NULL)$memory, most_bytes)
  expect_identical(new_work(1)$memory, most_bytes)
  expect_ancify_error(new_work(0), "input", "`threads`")
  expect_ancify_error(new_work(1, "tpu"), "input", "`backend`")
  expect_ancify_error(new_work(1, memory = -1), "input", "`memory`")
  expect_ancify_error(new_work(1, precision = "fp16"), "input", "`precision`")
  expect_ancify_error(new_work(1, progress = NA), "input", "`progress`")
})

test_that("a job is watched: the log is written, the bar drawn only if asked", {
  with_watch <- ancify:::with_watch
  job <- function(watch) {
    watch(0, character())
    watch(0.5, c("one", "two"))
    watch(2, character())
    "result"
  }
  expect_silent(expect_identical(with_watch("Doing", job), "result"))
  lines <- character()
  withCallingHandlers(with_watch("Doing", job, verbose = TRUE), ancify_message = function(line) {
    lines <<- c(lines, conditionMessage(line))
    invokeRestart("muffleMessage")
  })
  expect_identical(lines, c("one\n", "two\n"))
  # No bar is drawn before two seconds or without a terminal.
  expect_silent(with_watch("Doing", job, progress = TRUE))
  for (progress in list(NA, NULL, 1)) {
    expect_ancify_error(with_watch("Doing", job, progress = progress), "input", "`progress`")
  }
})

test_that("the bar shows progress below the log's lines, and disappears", {
  job <- function(watch) {
    # Without a terminal, cli draws once a second.
    for (i in 0:25) {
      watch(i / 25, if (i == 15) "a line")
      Sys.sleep(0.05)
    }
    stop("in the end")
  }
  shown <- character()
  remember <- function(condition) {
    shown <<- c(shown, conditionMessage(condition))
    invokeRestart("muffleMessage")
  }
  expect_error(
    with_options(
      list(cli.progress_show_after = 0, cli.dynamic = TRUE, cli.width = 80),
      withCallingHandlers(
        ancify:::with_watch("Doing", job, progress = TRUE, verbose = TRUE),
        message = remember
      )
    ),
    "in the end"
  )
  expect_match(shown, "^\rDoing.* [0-9]+%.*ETA", all = FALSE)
  expect_true("a line\n" %in% shown)
  expect_match(shown[length(shown)], "^\r +\r$")
})

test_that("progress = TRUE changes no result", {
  set.seed(2)
  lengths <- c(chr1 = 500)
  lines <- random_axt(lengths)
  axt <- write_axt(lines, tempfile())
  expect_silent(projected <- project_axt(axt, lengths, progress = TRUE))
  expect_identical(projected, oracle_project(lines, lengths))
})

test_that("an error in the watching function ends the job, and the next job works", {
  folder <- new_folder()
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  lengths <- c(chr1 = 4)
  enough <- function(share, lines, place) stop("enough")
  reading <- reading_of(lengths, new_work(2), "error", "score")
  alignment <- as_alignments("x", axt, folder = folder)
  expect_error(project_memory_impl(alignment, reading, enough), "enough")
  # The job is done before the first check, so its file is complete.
  expect_error(project_files_impl(alignment, reading, enough), "enough")
  expect_no_match(content_of(folder), "ancify-")
  # The next job works.
  expect_identical(project_axt(axt, lengths), c(chr1 = "NGTN"))
})

test_that("a log line is a message, an error and a warning carry their facts", {
  condition <- tryCatch(ancify:::inform_ancify("a line"), message = identity)
  expect_s3_class(condition, "ancify_message")
  expect_identical(conditionMessage(condition), "a line\n")
  condition <- tryCatch(ancify:::abort_ancify("no", "file", file = "x"), error = identity)
  expect_s3_class(
    condition, c("ancify_file_error", "ancify_error", "error", "condition"),
    exact = TRUE
  )
  expect_identical(condition$file, "x")
  condition <- tryCatch(ancify:::warn_ancify("well", "voting", tier = "inner"), warning = identity)
  expect_s3_class(
    condition, c("ancify_voting_warning", "ancify_warning", "warning", "condition"),
    exact = TRUE
  )
  expect_identical(condition$tier, "inner")
})

test_that("work goes on in forked processes, after threads have run in the parent", {
  require_package("parallel")
  set.seed(3)
  lengths <- c(chr1 = 3000, chr2 = 50)
  lines <- random_axt(lengths, n_blocks = 40)
  axt <- write_axt(lines, tempfile(), compression = "gzip")
  # In a separate process, so that the test ends even if a child hangs.
  result <- run_program(rscript, write_script(
    sprintf("axt <- %s", deparse1(axt)),
    "lengths <- c(chr1 = 3000, chr2 = 50)",
    "suppressMessages(library(ancify))",
    "sequence <- strrep('ACGTN', 2e5)",
    "work <- function(i) {",
    "  folder <- tempfile()",
    "  paths <- project_axt(axt, lengths, output_dir = folder, threads = 2)",
    "  list(",
    "    project_axt(axt, lengths, threads = 2), unname(lapply(paths, readLines)),",
    "    call_ancestral(sequence, rev(sequence), threads = 2),",
    "    tryCatch(project_axt('/none', lengths), ancify_file_error = function(e) 'no file')",
    "  )",
    "}",
    "before <- work(0)",
    "inside <- parallel::mclapply(1:2, work, mc.cores = 2)",
    "after <- work(0)",
    "stopifnot(identical(inside, list(before, before)), identical(after, before))",
    "cat(before[[1]], before[[4]], sep = '\\n')"
  ))
  expect_identical(result$err, character())
  expect_identical(result$status, 0L)
  expect_identical(result$out, c(unname(oracle_project(lines, lengths)), "no file"))
})

test_that("a fork before any threads works, also for a whole run", {
  require_package("parallel")
  result <- run_program(rscript, write_script(
    "config <- ancify::ancify_example(tempfile())",
    "counts <- function(i) {",
    "  config$output_dir <- tempfile()",
    "  config$work_dir <- tempfile()",
    "  run <- ancify::ancify_run(config, threads = 2, verbose = FALSE, progress = FALSE)",
    "  unlist(run[c('high', 'low', 'unresolved', 'missing')])",
    "}",
    "inside <- parallel::mclapply(1:2, counts, mc.cores = 2)",
    "stopifnot(identical(inside[[1]], counts(0)), identical(inside[[2]], counts(0)))",
    "cat('same')"
  ))
  expect_identical(result$err, character())
  expect_identical(result$out, "same")
})

test_that("there are at most 4096 threads", {
  expect_identical(resolve_threads(4096), 4096L)
  expect_ancify_error(resolve_threads(4097), "input", "up to 4,096")
})

test_that("texts that cannot be a path are errors, in arguments and configurations", {
  long <- strrep("a", 5000)
  for (wrong in list(long, "/tmp/\xff.fs")) {
    expect_warning({
      expect_ancify_error(read_sfs(wrong), "input", "`file`")
      expect_ancify_error(read_axt(wrong), "input", "`axt`")
      expect_ancify_error(compare_calls(wrong, wrong), "input", "`run 1`")
      expect_ancify_error(write_sfs(sfs(1:3), wrong), "input", "`file`")
      config <- random_config()$config
      config$output_dir <- wrong
      expect_ancify_error(ancify_config(config), "config", "`output_dir`")
      config <- random_config()$config
      config$outgroups$inner[[1]]$alignment <- wrong
      expect_ancify_error(ancify_config(config), "config", "alignment")
    }, NA)
  }
  expect_ancify_error(read_sfs(long), "input", "4,095 bytes")
})

test_that("a text is written whole or not at all, also on a full disk", {
  with_small_disk(65536, function(folder) {
    fill <- file.path(folder, "fill")
    suppressWarnings(writeBin(raw(60000), fill))
    # First more than the room left; then a text that R would write only on closing, without room.
    for (cells in c(20000, 3)) {
      expect_warning(
        expect_ancify_error(
          write_sfs(sfs(seq_len(cells) / 7), file.path(folder, "x.fs")), "file", "No space left"
        ),
        NA
      )
      expect_identical(content_of(folder), "fill")
      suppressWarnings(writeBin(raw(65536), fill))
    }
  })
})
