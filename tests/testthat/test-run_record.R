# The record of a run.

record_of <- function(config) {
  jsonlite::read_json(file.path(config$output_dir, "ancify_run.json"))
}

test_that("a run leaves its record beside its calls", {
  set.seed(231)
  case <- random_config(evaluation = list(), min_inner_freq = 2)
  run <- run_quietly(case$config)
  record <- record_of(case$config)
  expect_identical(record$made_with$version, as.character(utils::packageVersion("ancify")))
  expect_identical(record$backend, attr(run, "backend"))
  expect_identical(names(record$seconds), c("project and call", "evaluate"))
  expect_identical(record$settings$min_inner_freq, 2L)
  column <- function(rows, name) vapply(rows, `[[`, record$chromosomes[[1]][[name]] %||% "", name)
  expect_identical(column(record$chromosomes, "chromosome"), run$chromosome)
  expect_equal(column(record$chromosomes, "high"), run$high)
  # Checksums are CRC-32, as in gzip, so that other programs can compute them.
  for (row in record$chromosomes) {
    expect_identical(row$size, as.integer(file.size(row$file)))
    expect_identical(row$checksum, crc32_by_gzip(row$file))
  }
  for (i in seq_along(record$alignments)) {
    row <- record$alignments[[i]]
    expect_identical(row$sample_checksum, crc32_by_gzip(row$alignment))
    expect_equal(row$used, attr(run, "alignments")$used[i])
  }
  expect_identical(record$other_inputs$chromosome_lengths$sample_checksum,
                   crc32_by_gzip(case$config$chromosome_lengths))
})

test_that("the report from a record is the report from the run", {
  require_reports()
  set.seed(232)
  cases <- list(
    random_config(),
    random_config(
      method = "likelihood", tree = "(((focal,inner1),inner2),outer1);", estimate = TRUE,
      substitution_model = "HKY85", model_base_freqs = c(A = 0.3, C = 0.2, G = 0.2, T = 0.3),
      history = list(splits = c(inner1 = 1e5, inner2 = 2e5, outer1 = 4e5), sizes = 1e4)
    )
  )
  for (case in cases) {
    run <- run_quietly(case$config)
    pages <- file.path(new_folder(), c("of_run.html", "of_folder.html"))
    ancify_report(run, pages[1])
    # As in another session with other inputs.
    ancify_report(case$config$output_dir, pages[2])
    text <- lapply(pages, function(page) {
      # A line for each row of a table
      lines <- gsub("\n *(<td|</tr>)", "\\1", paste(readLines(page), collapse = "\n"))
      lines <- strsplit(lines, "\n")[[1]]
      lines[!grepl("Run finished|Report made|data:image", lines)]
    })
    expect_identical(text[[2]], text[[1]])
    restored <- read_run_record(case$config$output_dir)
    expect_equal(columns_of(restored), columns_of(run))
    expect_identical(raw_config(attr(restored, "config"))[-4], raw_config(attr(run, "config"))[-4])
  }
})

test_that("a record belongs to the present calls", {
  set.seed(233)
  case <- random_config()
  run_quietly(case$config)
  path <- file.path(case$config$output_dir, "ancify_run.json")
  # A later run that fails while it calls leaves no record.
  file <- file.path(case$config$work_dir, "projected", "inner2", "chr2.fa")
  writeLines(c(">chr2", sub("^(.{60}).", "\\1\n", readLines(file)[2])), file)
  expect_error(run_quietly(case$config, "call"), class = "ancify_format_error")
  expect_false(file.exists(path))
  expect_ancify_error(ancify_report(case$config$output_dir, tempfile(fileext = ".html")), "file",
                      "ancify_run.json", "does not exist")
  for (text in c("", "{}", "[]", "1", "{\"format\": 99}", "{\"format\": 1}",
                 "{\"format\": 1, \"settings\": {}, \"alignments\": [], \"chromosomes\": []}")) {
    writeLines(text, path)
    expect_ancify_error(ancify_report(path, tempfile(fileext = ".html")), "file", path)
  }
})

test_that("a record counts blocks on the chromosomes of its run", {
  set.seed(234)
  case <- random_config()
  run_quietly(case$config)
  case$config$chromosomes <- "chr1"
  run <- run_quietly(case$config)
  rows <- rows_of_json(record_of(case$config)$alignments)
  expect_equal(rows[c("used", "passed_over")], attr(run, "alignments")[c("used", "passed_over")])
})

test_that("an evaluation of existing calls goes into their record", {
  set.seed(235)
  case <- random_config()
  folder <- new_folder()
  case$config$evaluation <- list(reference_dir = folder)
  for (base in c("A", "C")) {
    for (name in names(case$lengths)) {
      writeLines(c(paste0(">", name), strrep(base, case$lengths[[name]])),
                 file.path(folder, paste0(name, ".fa")))
    }
    if (base == "A") run <- run_quietly(case$config)
    evaluation <- ancify_evaluate(case$config, progress = FALSE, verbose = FALSE)
    restored <- read_run_record(case$config$output_dir)
    expect_equal(attr(restored, "evaluation"), evaluation)
    expect_equal(columns_of(restored), columns_of(run))
    expect_identical(raw_config(attr(restored, "config"))[-4], raw_config(attr(run, "config"))[-4])
    # The record has the files of the comparison as they were then.
    inputs <- rows_of_json(record_of(case$config)$compared_with)
    expect_identical(basename(inputs$path), paste0(names(case$lengths), ".fa"))
    checksums <- vapply(inputs$path, crc32_by_gzip, "", USE.NAMES = FALSE)
    expect_identical(inputs$sample_checksum, checksums)
  }

  # Evaluations of other chromosomes stay if they compared with the same files.
  some <- case$config
  some$chromosomes <- "chr2"
  ancify_evaluate(some, progress = FALSE, verbose = FALSE)
  restored <- read_run_record(case$config$output_dir)
  expect_equal(attr(restored, "evaluation"), evaluation, ignore_attr = "row.names")
  expect_length(record_of(case$config)$compared_with, 3)
  some$evaluation$reference_pattern <- "{chrom_id}.fa"
  file.copy(file.path(folder, "chr2.fa"), file.path(folder, "2.fa"))
  ancify_evaluate(some, progress = FALSE, verbose = FALSE)
  restored <- read_run_record(case$config$output_dir)
  expect_identical(attr(restored, "evaluation")$chromosome, "chr2")

  # They also stay if nothing was left to call.
  case$config["evaluation"] <- list(NULL)
  run_quietly(case$config)
  restored <- read_run_record(case$config$output_dir)
  expect_identical(attr(restored, "evaluation")$chromosome, "chr2")
  compared_with <- record_of(case$config)$compared_with
  expect_identical(basename(compared_with[[1]]$path), "2.fa")
  expect_length(compared_with, 1)
})

test_that("an invalid record is refused, whatever its keys hold", {
  folder <- new_folder()
  record <- function(chromosomes, evaluation = "[]") {
    sprintf("{\"format\":1,\"settings\":{},\"alignments\":[],\"chromosomes\":%s,\"evaluation\":%s}",
            chromosomes, evaluation)
  }
  for (text in c("{\"format\":1,\"settings\":1,\"alignments\":1,\"chromosomes\":1}",
                 "{\"format\":\"x\"}", "[]", record("[1, 2]"), record("[{\"length\":1}]"),
                 record("[{\"chromosome\":null}]"), record("[{\"chromosome\":[\"a\",\"b\"]}]"),
                 record("[{\"chromosome\":\"a\",\"checksum\":{\"a\":1}}]"),
                 record("[]", "[[1]]"))) {
    writeLines(text, file.path(folder, "ancify_run.json"))
    expect_ancify_error(ancify_report(folder, "a.html"), "file", "ancify_run.json")
  }
})

test_that("an evaluation on record fits the calls and the settings", {
  case <- random_config()
  folders <- c(own = new_folder(), other = new_folder())
  run <- run_quietly(case$config)
  file.copy(run$file, folders[["own"]])
  for (i in seq_len(nrow(run))) {
    writeLines(c(paste0(">", run$chromosome[i]), strrep("A", run$length[i])),
               file.path(folders[["other"]], basename(run$file[i])))
  }
  evaluate <- function(config) ancify_evaluate(config, progress = FALSE, verbose = FALSE)
  on_record <- function() record_of(case$config)$settings$evaluation$reference_dir
  evaluated <- function() attr(read_run_record(case$config$output_dir), "evaluation")
  case$config$evaluation <- list(reference_dir = folders[["own"]])
  whole <- evaluate(case$config)

  # A run without an evaluation keeps it and its settings on record.
  plain <- case$config
  plain["evaluation"] <- list(NULL)
  run_quietly(plain)
  expect_equal(evaluated(), whole)
  expect_identical(on_record(), folders[["own"]])
  plain$chromosomes <- "chr2"
  coverage <- evaluate(plain)
  expect_equal(evaluated(), coverage, ignore_attr = "row.names")

  # A run with other files to compare with removes it.
  evaluate(case$config)
  case$config$evaluation <- list(reference_dir = folders[["other"]])
  run_quietly(case$config, c("project", "call"))
  expect_null(evaluated())
  expect_identical(on_record(), folders[["other"]])
  case$config$chromosomes <- "chr2"
  expect_equal(evaluated_now <- evaluate(case$config), evaluated(), ignore_attr = "row.names")
  expect_identical(evaluated_now$chromosome, "chr2")
})

test_that("new calls keep the evaluations of other chromosomes on record", {
  case <- random_config(evaluation = list())
  run <- run_quietly(case$config)
  unlink(run$file[2])
  run_quietly(case$config, c("project", "call"))
  evaluation <- attr(read_run_record(case$config$output_dir), "evaluation")
  expect_equal(evaluation, attr(run, "evaluation")[-2, ], ignore_attr = "row.names")
})

test_that("an evaluation of calls that are not on record is not recorded", {
  case <- random_config(evaluation = list())
  case$config$chromosomes <- c("chr1", "chr2")
  run_quietly(case$config, c("project", "call"))
  one <- case$config
  one$chromosomes <- "one"
  one$min_inner_freq <- 2L
  run_quietly(one, c("project", "call"))
  before <- record_of(case$config)
  suppressWarnings(ancify_evaluate(case$config, progress = FALSE, verbose = FALSE))
  expect_identical(record_of(case$config), before)
})

test_that("a run lists only existing files", {
  case <- random_config(method = "likelihood", tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);",
                        evaluation = list())
  run_quietly(case$config)
  case$config$posterior <- TRUE
  suppressWarnings(found <- run_quietly(case$config, "evaluate"))
  run_quietly(case$config)
  expect_length(read_posterior(found, "chr1", 1, 5), 5)
})

test_that("a subset of a run's rows is protected like the whole run", {
  case <- random_config()
  run <- run_quietly(case$config)
  case$config$min_inner_freq <- 2L
  run_quietly(case$config)
  region <- data.frame(chromosome = "chr1", start = 1, end = 9)
  some <- subset(run, chromosome == "chr1")
  expect_ancify_error(read_ancestral(some, region), "input", "replaced")
  expect_identical(names(run[, c("chromosome", "high")]), c("chromosome", "high"))
  expect_identical(run[, "high"], run$high)
})

test_that("a record that somebody has changed counts as damaged", {
  require_reports()
  case <- random_config()
  run_quietly(case$config)
  file <- file.path(case$config$output_dir, "ancify_run.json")
  whole <- record_of(case$config)
  for (key in c("alignments", "made_with", "settings")) {
    record <- replace(whole, key, list(list(1)))
    writeLines(to_json(record), file)
    expect_ancify_error(ancify_report(file, tempfile(fileext = ".html")), "file", "ancify_run.json")
  }
})

test_that("a record that no run wrote is left unchanged", {
  case <- random_config(evaluation = list())
  run <- run_quietly(case$config)
  first <- case$config$output_dir
  case$config$output_dir <- new_folder()
  file.copy(run$file, case$config$output_dir)
  evaluate <- function() ancify_evaluate(case$config, progress = FALSE, verbose = FALSE)
  evaluate()
  file.copy(file.path(first, "ancify_run.json"), case$config$output_dir)
  before <- record_of(case$config)
  evaluate()
  expect_identical(record_of(case$config), before)
})

test_that("a record names only inputs that the calls were made from", {
  case <- random_config()
  run_quietly(case$config)
  on_record <- function(config, phases = "call") {
    run_quietly(config, phases)
    record_of(config)
  }
  used <- function(record) vapply(record$alignments, function(row) row$used %||% NA_real_, 0)
  expect_false(anyNA(used(on_record(case$config))))

  # The configuration names another alignment than the projections' one, missing or not.
  other <- case$config
  other$outgroups$inner[[1]]$alignment <- alignment <- file.path(case$folder, "other.axt")
  other$output_dir <- new_folder()
  for (there in c(FALSE, TRUE)) {
    if (there) write_axt(random_axt(case$lengths, n_blocks = 5), alignment)
    record <- on_record(other)
    expect_identical(is.na(used(record)), c(TRUE, FALSE, FALSE))
    row <- record$alignments[[1]]
    expect_null(unlist(row[c("size", "modified", "sample_checksum", "used", "bad")]))
  }

  # No run has read the focal genome.
  genome <- file.path(case$folder, "focal.fa")
  writeLines(unlist(Map(function(name, length) {
    c(paste0(">", name), strrep("N", length))
  }, names(case$lengths), case$lengths)), genome)
  case$config$focal_fasta <- genome
  record <- on_record(case$config)
  expect_null(record$other_inputs$focal_fasta)
  expect_false(anyNA(used(record)))

  # No run made the projections.
  file <- file.path(case$config$work_dir, "projected", "inner1", "chr1.fa")
  writeLines(c(">chr1", strrep("N", case$lengths[["chr1"]])), file)
  expect_identical(is.na(used(on_record(case$config))), c(TRUE, FALSE, FALSE))
})

test_that("a record names the focal genome that this or an earlier run has read", {
  case <- with_genome(related_case(
    method = "likelihood", tree = "(((focal,near1),near2),far);", estimate = TRUE
  ))
  focal_on_record <- function(...) {
    run_quietly(case$config, ...)
    record_of(case$config)$other_inputs$focal_fasta
  }
  expected <- crc32_by_gzip(case$config$focal_fasta)
  expect_identical(focal_on_record()$sample_checksum, expected)
  expect_identical(focal_on_record("call")$sample_checksum, expected)
  # The focal genome is read only for the fit.
  plain <- case$config
  plain$focal_fasta <- NULL
  plain$work_dir <- case$config$work_dir <- new_folder()
  run_quietly(plain, "project")
  unlink(file.path(plain$work_dir, "projected", "focal"), recursive = TRUE)
  for (i in 1:2) expect_identical(focal_on_record("call")$sample_checksum, expected)
  writeLines(c(readLines(case$config$focal_fasta), ">more", "A"), case$config$focal_fasta)
  expect_null(focal_on_record("call"))
})

test_that("an evaluation of other calls is neither recorded nor left beside these calls", {
  evaluated <- function(config) attr(read_run_record(config$output_dir), "evaluation")
  file_of <- function(config, chromosome) {
    file.path(config$output_dir, "evaluation", paste0(chromosome, ".evaluation.txt"))
  }

  # A copy of these calls is put over another configuration's calls.
  case <- random_config(lengths = c(chr1 = 500, chr2 = 90))
  run <- run_quietly(case$config)
  backup <- new_folder()
  file.copy(run$file, backup)
  other <- case$config
  other$work_dir <- new_folder()
  other$min_inner_freq <- 2L
  other["evaluation"] <- list(list())
  run_quietly(other)
  file.copy(file.path(backup, basename(run$file)), case$config$output_dir, overwrite = TRUE)
  run_quietly(case$config)
  expect_null(evaluated(case$config))
  expect_false(any(file.exists(file_of(case$config, run$chromosome))))

  # Foreign calls are there for a while.
  run <- run_quietly(other)
  calls <- readLines(run$file[1])
  writeLines(c(calls[1], strrep("N", run$length[1])), run$file[1])
  ancify_evaluate(other, progress = FALSE, verbose = FALSE)
  second <- attr(run, "evaluation")[2, ]
  expect_equal(evaluated(other), second, ignore_attr = "row.names")
  writeLines(calls, run$file[1])
  run_quietly(other, c("project", "call"))
  expect_equal(evaluated(other), second, ignore_attr = "row.names")
  expect_identical(file.exists(file_of(other, run$chromosome)), c(FALSE, TRUE))
})
