# Which files a run makes again, and which it keeps.

# The lines of a run's log about projecting, calling and fitting.
work_of <- function(config, ...) {
  lines <- log_lines(ancify_run(config, progress = FALSE, ...))
  sub("\n", "", grep("^(Projected|Called|Fitted) ", lines, value = TRUE))
}

# Size, time and content of all files that a run makes, except its records.
state_of <- function(config) {
  files <- list.files(unlist(config[c("work_dir", "output_dir")]), recursive = TRUE,
                      full.names = TRUE)
  files <- files[basename(files) != "ancify_run.json"]
  data.frame(file = files, md5 = tools::md5sum(files), time = file.mtime(files))
}

everything <- c(
  "Called chr1", "Called chr2", "Called one", "Projected inner1", "Projected inner2",
  "Projected outer1"
)

test_that("a finished run does nothing when it is started again", {
  set.seed(201)
  for (keep in c(TRUE, FALSE)) {
    case <- random_config(keep_projected = keep)
    expect_identical(sort(work_of(case$config)), everything)
    run <- run_quietly(case$config)
    before <- state_of(case$config)
    lines <- log_lines(again <- ancify_run(case$config, progress = FALSE))
    expect_match(lines, "^Calls of chr1, chr2 and one: kept from an earlier run", all = FALSE)
    expect_identical(work_of(case$config), character())
    expect_identical(state_of(case$config), before)
    expect_identical(columns_of(again), columns_of(run))
    expect_identical(attr(again, "alignments"), attr(run, "alignments"))
    expect_identical(sort(work_of(case$config, resume = FALSE)), everything)
    expect_calls(case$config$output_dir, case$calls)
  }
})

test_that("the files of a phase are on record when it ends", {
  set.seed(211)
  config <- random_config()$config
  on_record <- list()
  withCallingHandlers(
    for (phase in c("project", "call")) ancify_run(config, phase, progress = FALSE),
    ancify_message = function(condition) {
      phase <- sub("^Phase (.*) took .*\n$", "\\1", conditionMessage(condition))
      if (!startsWith(conditionMessage(condition), "Phase ")) {
        return()
      }
      on_record[[phase]] <<- lapply(config[c("work_dir", "output_dir")], function(folder) {
        rows <- ledger_rows(open_ledger(folder))
        rows$path[rows$state == "complete"]
      })
    }
  )
  files <- sequence_file(c("chr1", "chr2", "one"))
  expect_setequal(
    on_record$project$work_dir,
    c(outer(c("projected/inner1/", "projected/inner2/", "projected/outer1/"), c("", files), paste0))
  )
  expect_length(on_record$project$output_dir, 0)
  expect_setequal(on_record$call$output_dir, files)
})

test_that("only missing or damaged files are made again", {
  set.seed(202)
  case <- random_config()
  config <- case$config
  run_quietly(config)
  projected <- function(species, file) file.path(config$work_dir, "projected", species, file)
  calls <- function(file) file.path(config$output_dir, file)
  flip <- function(path) {
    bytes <- file_bytes(path)
    bytes[30] <- xor(bytes[30], as.raw(1))
    time <- file.mtime(path)
    writeBin(bytes, path)
    Sys.setFileTime(path, time)
  }
  faults <- list(
    list(function() unlink(calls("chr2.fa")), "Called chr2"),
    list(function() flip(calls("chr1.fa")), "Called chr1"),
    list(function() cat("x", file = calls("one.fa"), append = TRUE), "Called one"),
    list(function() flip(projected("inner1", "chr1.fa")), "Projected inner1"),
    list(function() unlink(projected("outer1", "one.fa")), "Projected outer1"),
    list(function() unlink(dirname(projected("inner2", "one.fa")), recursive = TRUE),
         "Projected inner2")
  )
  for (fault in faults) {
    fault[[1]]()
    expect_identical(work_of(config), fault[[2]])
    expect_projected(config$work_dir, case$projected)
    expect_calls(config$output_dir, case$calls)
  }
  # The phase "call" alone calls a damaged projection as it is.
  flip(projected("inner1", "chr1.fa"))
  expect_identical(sort(work_of(config, phases = "call")), everything[1:3])
})

test_that("after a change of an input or setting, the files that depend on it are made again", {
  set.seed(203)
  for (keep in c(TRUE, FALSE)) {
    case <- random_config(keep_projected = keep)
    config <- case$config
    run_quietly(config)
    done <- function(config) sort(work_of(config))
    if (keep) {
      # The same bytes with another time are another input.
      Sys.setFileTime(config$outgroups$inner[[2]]$alignment, Sys.time() + 5)
      expect_identical(done(config), c(everything[1:3], "Projected inner2"))
    }
    lines <- random_axt(case$lengths, n_blocks = 20)
    write_axt(lines, config$outgroups$outer[[1]]$alignment)
    expect_identical(done(config), c(everything[1:3], if (keep) everything[6] else everything[4:6]))
    case$projected$outer1 <- oracle_project(lines, case$lengths)
    expect_calls(config$output_dir, expected_calls(case$projected, 2))

    config$min_inner_freq <- 2
    expect_identical(done(config), if (keep) everything[1:3] else everything)
    expect_calls(config$output_dir, expected_calls(case$projected, 2, 2, 1))
    # These settings change no call.
    config$num_cpus <- 1
    config$backend <- "cpu"
    expect_identical(done(config), character())

    config$outgroups$inner <- rev(config$outgroups$inner)
    expect_identical(done(config), if (keep) everything[1:3] else everything)
  }
})

test_that("with a longer list of chromosomes, existing calls are kept", {
  set.seed(204)
  case <- random_config(chromosomes = c("chr2", "one"))
  run_quietly(case$config)
  case$config$chromosomes <- NULL
  expect_identical(sort(work_of(case$config)), everything[c(1, 4:6)])
  expect_calls(case$config$output_dir, case$calls)
  # A shorter list needs no work, and its report is that of a fresh run.
  case$config$chromosomes <- "chr1"
  run <- run_quietly(case$config)
  expect_identical(work_of(case$config), character())
  anew <- run_quietly(case$config, resume = FALSE)
  expect_identical(columns_of(run), columns_of(anew))
  expect_identical(attr(run, "alignments"), attr(anew, "alignments"))
})

test_that("two output folders share projections, and each records its own calls", {
  set.seed(205)
  case <- random_config()
  other <- case$config
  other$output_dir <- file.path(case$folder, "other")
  other$min_inner_freq <- 2
  run_quietly(case$config)
  expect_identical(sort(work_of(other)), everything[1:3])
  expect_identical(work_of(case$config), character())
  expect_identical(work_of(other), character())
})

test_that("a fit is not made again, nor are its calls", {
  set.seed(206)
  for (keep in c(TRUE, FALSE)) {
    case <- random_config(
      method = "likelihood", tree = "(((focal,inner1),inner2),outer1);", estimate = TRUE,
      keep_projected = keep, posterior = TRUE
    )
    run <- run_quietly(case$config)
    before <- state_of(case$config)
    again <- run_quietly(case$config)
    expect_identical(work_of(case$config), character())
    expect_identical(state_of(case$config)[c("file", "md5")], before[c("file", "md5")])
    expect_equal(attr(again, "fit"), attr(run, "fit"))
    expect_identical(columns_of(again), columns_of(run))
    # For missing calls the same fit is used.
    unlink(file.path(case$config$output_dir, "posterior", "chr2.phred"))
    work <- work_of(case$config)
    expect_true("Called chr2" %in% work)
    expect_no_match(work, "Fitted|chr1")
    expect_identical(state_of(case$config)[c("file", "md5")], before[c("file", "md5")])
  }
})

test_that("a run resumes after an error", {
  set.seed(208)
  case <- random_config(num_cpus = 1)
  in_the_way <- file.path(case$config$output_dir, "one.fa")
  expect_ancify_error(
    once_calls_begin(function() dir.create(in_the_way), run_quietly(case$config)), "file", "one.fa",
    "a folder has the name of this file"
  )
  expect_identical(content_of(case$config$output_dir), c("chr1.fa", "chr2.fa", "one.fa"))
  unlink(in_the_way, recursive = TRUE)
  expect_identical(work_of(case$config), "Called one")
  expect_calls(case$config$output_dir, case$calls)
})

test_that("the bytes are the same, whichever files existed before", {
  set.seed(209)
  case <- random_config(posterior = TRUE, method = "likelihood",
                        tree = "(((focal:0.1,inner1:0.1):0.1,inner2:0.2):0.1,outer1:0.3);")
  run_quietly(case$config)
  expected <- state_of(case$config)[c("file", "md5")]
  for (i in 1:15) {
    files <- expected$file[grepl("\\.(fa|phred)$", expected$file)]
    unlink(sample(files, sample(length(files), 1)))
    run_quietly(case$config, threads = sample(2, 1))
    expect_identical(state_of(case$config)[c("file", "md5")], expected)
  }
})

test_that("training makes and records projections like runs", {
  set.seed(210)
  case <- random_config()
  context <- new_context(read_config(case$config), new_work(1))
  work_in(context, "project", project_where_missing)
  expect_identical(sort(work_of(case$config)), everything[1:3])
})

test_that("an evaluation leaves the ledger unchanged, and is silent if verbose is FALSE", {
  set.seed(240)
  case <- random_config()
  run_quietly(case$config)
  fitted <- file.path(case$config$work_dir, ".ancify", "fitted.json")
  writeLines("of an earlier run", fitted)
  expect_no_message(ancify_evaluate(case$config, progress = FALSE, verbose = FALSE))
  expect_true(file.exists(fitted))
})

test_that("MAF names that begin like other names get the rows of a fresh run", {
  set.seed(241)
  case <- random_config()
  config <- case$config
  maf <- file.path(case$folder, "all.maf")
  writeLines(random_maf(case$lengths), maf)
  entries <- lapply(seq_along(maf_outgroups), function(i) {
    list(name = paste0("m", i), alignment = maf, maf_name = maf_outgroups[i])
  })
  config$focal_maf_name <- maf_focal
  config$on_bad_block <- "skip"
  config$outgroups <- list(inner = entries[1:2], outer = entries[3:4])
  quietly <- function(config) suppressWarnings(run_quietly(config))
  projected <- function() content_of_files(file.path(config$work_dir, "projected"))
  quietly(config)
  fresh <- projected()
  for (species in c("m1", "m3")) {
    unlink(file.path(config$work_dir, "projected", species), recursive = TRUE)
    quietly(config)
    expect_identical(projected(), fresh)
  }
  # A second outgroup of the file takes rows from the first one.
  less <- config
  less$outgroups <- list(inner = entries[1], outer = entries[3])
  quietly(less)
  quietly(config)
  expect_identical(projected(), fresh)
})

test_that("a run resumes on chromosomes on which an alignment has no block", {
  set.seed(242)
  config <- random_config(keep_projected = FALSE)$config
  write_axt(axt_block("chr1", 5, "ACGT", "AC-T"), config$outgroups$inner[[2]]$alignment)
  quietly <- function(config) suppressWarnings(run_quietly(config))
  quietly(config)
  before <- state_of(config)[c("file", "md5")]
  unlink(file.path(config$output_dir, "one.fa"))
  quietly(config)
  expect_identical(state_of(config)[c("file", "md5")], before)
  # Errors are those of a fresh run.
  for (keep in c(FALSE, TRUE)) {
    config[c("keep_projected", "chromosomes")] <- list(keep, NULL)
    quietly(config)
    config$chromosomes <- "one"
    expect_ancify_error(quietly(config), "format", "inner2.axt", "no block")
  }
})

test_that("another length of a chromosome gives another report", {
  set.seed(246)
  config <- random_config(keep_projected = FALSE, on_bad_block = "skip")$config
  run_quietly(config)
  writeLines(c("chr1\t400", "chr2\t90", "one\t1"), config$chromosome_lengths)
  run <- suppressWarnings(run_quietly(config))
  anew <- suppressWarnings(run_quietly(config, resume = FALSE))
  expect_identical(attr(run, "alignments"), attr(anew, "alignments"))
  expect_identical(columns_of(run), columns_of(anew))
})

test_that("an invalid saved fit is ignored", {
  set.seed(243)
  case <- random_config(method = "likelihood", tree = "(((focal,inner1),inner2),outer1);",
                        estimate = TRUE)
  run_quietly(case$config)
  write_state(file.path(case$config$work_dir, ".ancify", "fitted.json"), 1)
  work <- work_of(case$config)
  expect_match(work, "^Fitted", all = FALSE)
  # A fit of a version with another form of state.
  ledger <- open_ledger(case$config$work_dir, "work_dir")
  made_from <- made_from_of(ledger, fit_file)[[1]]
  write_own(ledger, fit_file, made_from, '{"fit":{}}')
  save_ledger(ledger, at_once = TRUE)
  lines <- log_lines(ancify_run(case$config, progress = FALSE))
  expect_match(lines, "saved fit is of another version of ancify: the model is fitted", all = FALSE)
  expect_match(lines, "^Fitted", all = FALSE)
})

test_that("damaged bases of the focal genome are made again", {
  set.seed(244)
  case <- with_genome(related_case(keep_projected = TRUE))
  run_quietly(case$config)
  file <- file.path(case$config$work_dir, "projected", "focal", "chr1.fa")
  bytes <- file_bytes(file)
  writeBin(rev(bytes), file)
  run_quietly(case$config)
  expect_identical(file_bytes(file), bytes)
})

test_that("calls use the model that was read, not one written since", {
  set.seed(245)
  model <- tempfile(fileext = ".lgb")
  models <- test_path("fixtures", c("ml_model_nan.lgb", "ml_model_zero.lgb"))
  file.copy(models[1], model)
  read <- file_identity(model)
  case <- random_config(method = "ml", ml_model_path = model)
  withCallingHandlers(
    ancify_run(case$config, progress = FALSE),
    ancify_message = function(condition) {
      if (startsWith(conditionMessage(condition), "Phase project")) {
        file.copy(models[2], model, overwrite = TRUE)
      }
      invokeRestart("muffleMessage")
    }
  )
  record <- jsonlite::read_json(run_record_path(case$config$output_dir))
  expect_identical(record$other_inputs$ml_model_path$sample_checksum, read$sample_checksum)
  expect_identical(sort(work_of(case$config)), everything[1:3])
})

test_that("calls from projections of an earlier alignment come with a warning", {
  set.seed(245)
  case <- random_config()
  run_quietly(case$config, "project")
  expect_silent(run_quietly(case$config, "call"))
  path <- case$config$outgroups$inner[[1]]$alignment
  write_axt(random_axt(case$lengths, n_blocks = 20), path)
  expect_warning(
    run_quietly(case$config, "call"), "projections of inner1 were made from another alignment",
    class = "ancify_projection_warning"
  )
  expect_calls(case$config$output_dir, case$calls)
  expect_warning(
    count_patterns(case$config, focal = FALSE, progress = FALSE), "of inner1 were made",
    class = "ancify_projection_warning"
  )
  expect_silent(run_quietly(case$config))
  expect_silent(run_quietly(case$config, "call"))
  expect_silent(count_patterns(case$config, focal = FALSE, progress = FALSE))
})
