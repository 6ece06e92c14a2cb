# Files that are exchanged or changed while a run reads them, and the record of them.

# Calls swap() when a run enters the package's function `at`, expects an error with the text
# `expected`, and calls back().
run_with_swap <- function(config, at, swap, back, expected, ...) {
  where <- asNamespace("ancify")
  done <- FALSE
  swap_once <- function() {
    if (!done) swap()
    done <<- TRUE
  }
  act <- bquote(.(swap_once)())
  suppressMessages(trace(at, act, where = where, print = FALSE))
  on.exit(suppressMessages(untrace(at, where = where)))
  expect_ancify_error(run_quietly(config, ...), "file", expected)
  expect_true(done)
  back()
}

# Ways to put another file under a path for a while, by name: functions of the path and the other
# file.
ways_to_swap <- list(
  "renamed" = function(path, other) {
    list(swap = function() {
      file.rename(path, paste0(path, ".aside"))
      file.copy(other, path, copy.date = TRUE)
    }, back = function() file.rename(paste0(path, ".aside"), path))
  },
  # The target of a link has not changed when the link is put back.
  "linked" = function(path, other) {
    real <- paste0(path, ".real")
    file.rename(path, real)
    file.symlink(real, path)
    point_to <- function(target) {
      file.symlink(target, paste0(path, ".new"))
      file.rename(paste0(path, ".new"), path)
    }
    list(swap = function() point_to(other), back = function() point_to(real))
  },
  # A file in a moved folder has not changed either.
  "in a folder" = function(path, other) {
    folder <- dirname(path)
    there <- paste0(folder, c(".there", ".aside"))
    dir.create(there[1])
    file.copy(list.files(folder, full.names = TRUE), there[1], copy.date = TRUE)
    file.copy(other, file.path(there[1], basename(path)), overwrite = TRUE)
    list(swap = function() {
      file.rename(folder, there[2])
      file.rename(there[1], folder)
    }, back = function() {
      file.rename(folder, there[1])
      file.rename(there[2], folder)
    })
  },
  "written over" = function(path, other) {
    own <- file_bytes(path)
    time <- file.mtime(path)
    write <- function(bytes) {
      writeBin(bytes, path)
      Sys.setFileTime(path, time)
    }
    list(swap = function() write(file_bytes(other)), back = function() write(own))
  }
)

# A case with a folder for its alignments, which can be moved without the run's folders.
case_to_swap <- function(...) {
  case <- random_config(...)
  inputs <- file.path(case$folder, "inputs")
  dir.create(inputs)
  for (tier in c("inner", "outer")) {
    for (i in seq_along(case$config$outgroups[[tier]])) {
      path <- case$config$outgroups[[tier]][[i]]$alignment
      file.rename(path, file.path(inputs, basename(path)))
      case$config$outgroups[[tier]][[i]]$alignment <- file.path(inputs, basename(path))
    }
  }
  case
}

test_that("no call from a swapped alignment is on record, whatever the way of swapping", {
  set.seed(261)
  for (way in names(ways_to_swap)) {
    for (keep in c(TRUE, FALSE)) {
      for (put_back in c(TRUE, FALSE)) {
        case <- case_to_swap(keep_projected = keep)
        config <- case$config
        path <- config$outgroups$inner[[1]]$alignment
        lines <- random_axt(case$lengths, n_blocks = 20)
        other <- file.path(case$folder, "other.axt")
        write_axt(lines, other)
        swap <- ways_to_swap[[way]](path, other)
        run_with_swap(
          config, "unkept_left", swap$swap,
          if (put_back) swap$back else function() NULL,
          c("inner1.axt", "was replaced or changed since the run began. Start it again")
        )
        if (!put_back) case$projected$inner1 <- oracle_project(lines, case$lengths)
        run_quietly(config)
        expect_calls(config$output_dir, expected_calls(case$projected, 2))
      }
    }
  }
})

# run_with_swap() of a file that a run wrote, for a file with other bases.
run_with_own_swapped <- function(config, at, path, ..., way = "renamed") {
  back <- NULL
  swap <- function() {
    lines <- readLines(path)
    other <- tempfile()
    writeLines(c(lines[1], chartr("ACGTacgtN", "CGTAcgtaA", lines[2])), other)
    ways <- ways_to_swap[[way]](path, other)
    back <<- ways$back
    ways$swap()
  }
  changed <- "was replaced or changed since the run began. Start it again"
  run_with_swap(config, at, swap, function() back(), c(basename(path), changed), ...)
}

test_that("no call from a swapped projection is on record, whatever the way of swapping", {
  skip_if_not_installed("BiocParallel")
  set.seed(262)
  for (way in c("renamed", "in a folder", "written over")) {
    for (found in c(TRUE, FALSE)) {
      case <- random_config()
      path <- file.path(case$config$work_dir, "projected", "inner1", "chr1.fa")
      if (found) {
        run_quietly(case$config, "project")
        run_with_own_swapped(case$config, "call_part", path, "call", way = way)
      } else {
        serial <- BiocParallel::SerialParam() # so that projections are read again
        run_with_own_swapped(case$config, "call_part", path, BPPARAM = serial, way = way)
      }
      run_quietly(case$config)
      expect_calls(case$config$output_dir, case$calls)
    }
  }
})

test_that("a fit, a comparison with the focal genome and an evaluation read the run's own files", {
  set.seed(266)
  case <- random_config(
    method = "likelihood", estimate = TRUE, tree = "((focal,inner1),inner2,outer1);"
  )
  projected <- file.path(case$config$work_dir, "projected")
  run_with_own_swapped(case$config, "fit_part", file.path(projected, "outer1", "chr1.fa"))
  expect_false(file.exists(file.path(case$config$work_dir, ".ancify", "fitted.json")))

  case <- with_genome(related_case())
  projected <- file.path(case$config$work_dir, "projected")
  run_with_own_swapped(
    case$config, "project_part", file.path(projected, "focal", "chr1.fa"), "project"
  )

  case <- random_config(evaluation = list())
  run_with_own_swapped(
    case$config, "evaluate_part", file.path(case$config$output_dir, "chr1.fa")
  )
})

test_that("a touched file is another input", {
  set.seed(263)
  case <- random_config()
  run_quietly(case$config)
  path <- case$config$outgroups$outer[[1]]$alignment
  bytes <- file_bytes(path)
  time <- file.mtime(path)
  # A user can set back the time of the last change, but not the system's own time.
  Sys.sleep(0.02)
  writeBin(bytes, path)
  Sys.setFileTime(path, time)
  lines <- log_lines(ancify_run(case$config, progress = FALSE))
  expect_match(lines, "^Projected outer1", all = FALSE)
  expect_calls(case$config$output_dir, case$calls)
})

test_that("a run uses the trained model of its beginning", {
  set.seed(264)
  models <- test_path("fixtures", c("ml_model_nan.lgb", "ml_model_zero.lgb"))
  model <- tempfile(fileext = ".lgb")
  file.copy(models[1], model)
  case <- random_config(method = "ml", ml_model_path = model)
  swap <- ways_to_swap$renamed(model, models[2])
  run_with_swap(case$config, "config_caller", swap$swap, swap$back,
                c(basename(model), "was replaced or changed since the run began"))
  expect_false(dir.exists(case$config$output_dir))
})

test_that("a run uses the table of lengths that its configuration read", {
  set.seed(265)
  case <- random_config()
  sizes <- case$config$chromosome_lengths
  other <- tempfile()
  writeLines("chr1\t400", other)
  swap <- ways_to_swap$renamed(sizes, other)
  run_with_swap(case$config, "lengths_of_genome", swap$swap, swap$back,
                c(basename(sizes), "was replaced or changed since the run began"))
})

test_that("a phase uses foreign projections as they were at its beginning", {
  set.seed(266)
  case <- random_config()
  made <- case$config
  run_quietly(made, phases = "project")
  # Without a ledger they count as foreign.
  unlink(file.path(made$work_dir, ".ancify"), recursive = TRUE)
  path <- file.path(made$work_dir, "projected", "inner1", "chr1.fa")
  other <- tempfile()
  bytes <- file_bytes(path)
  bytes[8:500] <- as.raw(65)
  writeBin(bytes, other)
  swap <- ways_to_swap$renamed(path, other)
  run_with_swap(made, "chromosomes_left", swap$swap, swap$back,
                c("inner1/chr1.fa", "was replaced or changed since the run began"),
                phases = "call")
  run_quietly(made, phases = "call")
  expect_calls(made$output_dir, case$calls)
})

test_that("tasks read the files that the session saw", {
  require_package("BiocParallel")
  set.seed(267)
  case <- random_config()
  path <- case$config$outgroups$inner[[1]]$alignment
  other <- tempfile()
  write_axt(random_axt(case$lengths, n_blocks = 20), other)
  swap <- ways_to_swap$renamed(path, other)
  run_with_swap(
    case$config, "new_tasks", swap$swap, swap$back,
    c("projection of inner1", "was replaced or changed since the run began"),
    BPPARAM = BiocParallel::SnowParam(2)
  )
  run_quietly(case$config)
  expect_calls(case$config$output_dir, case$calls)
})

test_that("a run uses the focal genome of its beginning", {
  set.seed(268)
  for (keep in c(TRUE, FALSE)) {
    case <- with_genome(related_case())
    case$config$keep_projected <- keep
    path <- case$config$focal_fasta
    other <- tempfile()
    writeLines(toupper(chartr("ACGT", "CATG", readLines(path))), other)
    swap <- ways_to_swap$renamed(path, other)
    run_with_swap(
      case$config, "unkept_left", swap$swap, swap$back,
      c(basename(path), "was replaced or changed since the run began")
    )
    run_quietly(case$config)
  }
})

test_that("an evaluation uses the files of its beginning", {
  set.seed(269)
  case <- random_config()
  references <- new_folder()
  paths <- file.path(references, paste0(names(case$calls), ".fa"))
  for (i in seq_along(paths)) {
    writeLines(c(paste0(">", names(case$calls)[i]), case$calls[[i]]), paths[i])
  }
  other <- tempfile()
  writeLines(c(">chr1", strrep("A", case$lengths[["chr1"]])), other)
  run_quietly(case$config)
  case$config$evaluation <- list(reference_dir = references)
  swap <- ways_to_swap$linked(paths[1], other)
  run_with_swap(case$config, "parts_by_chromosome", swap$swap, swap$back,
                c("chr1.fa", "was replaced or changed since the run began"), phases = "evaluate")
})
