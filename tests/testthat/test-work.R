# Work folders: locks, leftovers and foreign files.

test_that("a second run in the same folders is an error that names the first", {
  set.seed(221)
  case <- random_config()
  for (key in c("work_dir", "output_dir")) {
    lock <- lock_folder_impl(case$config[[key]])
    expect_ancify_error(
      run_quietly(case$config), "lock", sprintf("process %d on ", Sys.getpid()), case$config[[key]]
    )
    unlock_folder_impl(lock)
  }
  # Neither folder was made.
  expect_false(any(dir.exists(unlist(case$config[c("work_dir", "output_dir")]))))
  run_quietly(case$config)
  expect_calls(case$config$output_dir, case$calls)
})

test_that("a lock exists while a run works, and ends with it", {
  set.seed(222)
  case <- random_config()
  seen <- NULL
  withCallingHandlers(
    ancify_run(case$config, progress = FALSE),
    ancify_message = function(condition) {
      seen <<- c(seen, list.files(unlist(case$config[c("work_dir", "output_dir")]),
                                  "^\\.ancify\\.lock$", all.files = TRUE))
      invokeRestart("muffleMessage")
    }
  )
  expect_true(".ancify.lock" %in% seen)
  expect_no_match(content_of(case$folder), "lock")
  # The file that a killed process left is no lock.
  writeLines("1 on elsewhere", file.path(case$config$work_dir, ".ancify.lock"))
  expect_s3_class(run_quietly(case$config), "ancify_run")
})

test_that("a file that is no lock of a run is not followed, changed or removed", {
  set.seed(225)
  case <- random_config()
  others <- new_folder()
  precious <- file.path(others, "precious")
  writeLines("precious", precious)
  put <- list(
    link = function(path) file.symlink(precious, path),
    hard_link = function(path) file.link(precious, path),
    file = function(path) writeLines("precious", path),
    folder = dir.create, fifo = function(path) run_program("mkfifo", path)
  )
  for (key in c("work_dir", "output_dir")) {
    for (name in names(put)) {
      config <- in_other_folders(case$config)
      dir.create(config[[key]])
      path <- file.path(config[[key]], ".ancify.lock")
      put[[name]](path)
      condition <- expect_ancify_error(
        run_quietly(config), "file", path, "Move it, or choose another folder"
      )
      expect_identical(condition$file, path)
      expect_identical(readLines(precious), "precious")
      if (name == "file") expect_identical(readLines(path), "precious")
      expect_true(is_there(path))
      unlink(path, recursive = TRUE)
      expect_s3_class(run_quietly(config), "ancify_run")
    }
  }
  # The path of the folder itself may be a link.
  config <- in_other_folders(case$config)
  file.symlink(others, config$output_dir)
  run_quietly(config)
  expect_identical(readLines(precious), "precious")
  expect_true(file.exists(sequence_path(others, "chr1")))
})

test_that("both folders may be one, with two names", {
  set.seed(224)
  case <- random_config()
  with_folder(case$folder, {
    case$config[c("work_dir", "output_dir")] <- c("both", "./both")
    run <- run_quietly(case$config)
  })
  expect_false(anyNA(run$high))
})

test_that("a run removes only the leftovers of a killed run", {
  set.seed(223)
  case <- random_config()
  run_quietly(case$config)
  pid <- as.integer(run_program("sh", "-c", "echo $$")$out)
  left <- file.path(case$config[c(
    "work_dir", "output_dir", "output_dir", "work_dir", "work_dir"
  )], c(
    "projected/inner1/chr1.fa.ancify-tmp-%d-0", "chr2.fa.ancify-tmp-%d-12",
    "ancify_run.json.ancify-tmp-%d-3", "not_kept.ancify-tmp-%d-3f/projected/inner1/chr1.fa",
    ".ancify/ledger.ancify-tmp-%d-0"
  ))
  # Process 1 always exists.
  stays <- sprintf(left[1:2], 1L)
  stays <- c(stays, file.path(
    case$config$output_dir, c("notes.txt", "chr1.fa.ancify-tmp-copy", "old.ancify-2026-11-22")
  ))
  left <- sprintf(left, pid)
  for (path in c(left, stays)) {
    dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
    writeLines("x", path)
  }
  run_quietly(case$config)
  expect_identical(file.exists(left), rep(FALSE, length(left)))
  expect_false(dir.exists(dirname(dirname(dirname(left[4])))))
  expect_true(all(file.exists(stays)))
  # A folder that this run does not lock may belong to another run.
  for (path in left[1:2]) writeLines("x", path)
  run_quietly(case$config, "evaluate")
  expect_identical(file.exists(left[1:2]), c(TRUE, FALSE))
  run_quietly(case$config, "project")
  expect_false(file.exists(left[1]))
})
