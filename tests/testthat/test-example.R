# The example data.

test_that("the example is complete and stays in its folder", {
  folder <- tempfile("example")
  config <- ancify_example(folder)
  expect_s3_class(config, "ancify_config")
  expect_identical(config$lengths, c(chr1 = 40000, chr2 = 25000, chrX = 10000))
  expect_identical(config$outgroups$name, c("near1", "near2", "far"))
  expect_identical(config$outgroups$tier, c("inner", "inner", "outer"))
  expect_identical(config$notes, character())
  paths <- c(config$outgroups$alignment, config$work_dir, config$output_dir, config$file)
  expect_true(all(startsWith(paths, normalizePath(folder))))
  expect_identical(ancify_config(file.path(folder, "config.yaml")), config)
  # Once more in the same place.
  expect_identical(ancify_example(folder), config)
})

test_that("the example's files are small and say the same", {
  folder <- system.file("extdata", "example", package = "ancify")
  files <- list.files(folder, full.names = TRUE)
  expect_lt(sum(file.size(files)), 3e5)
  lengths <- c(chr1 = 40000L, chr2 = 25000L, chrX = 10000L)
  for (file in c("focal.fa.gz", "ancestor.fa.gz")) {
    lines <- readLines(file.path(folder, file))
    expect_identical(lines[c(1, 3, 5)], paste0(">", names(lengths)))
    expect_identical(nchar(lines[c(2, 4, 6)]), unname(lengths))
  }
  # The alignments' focal rows are the focal genome.
  focal <- readLines(file.path(folder, "focal.fa.gz"))[c(2, 4, 6)]
  for (species in c("near1", "near2", "far")) {
    blocks <- oracle_blocks(readLines(file.path(folder, paste0(species, ".axt.gz"))))
    rows <- vapply(blocks, function(b) paste(b$focal[b$focal != "-"], collapse = ""), "")
    there <- vapply(blocks, function(b) {
      substr(focal[match(b$chromosome, names(lengths))], b$start, b$end)
    }, "")
    expect_identical(rows, there)
  }
})

test_that("a folder that can't be made is an error", {
  file <- tempfile()
  file.create(file)
  condition <- expect_error(ancify_example(file.path(file, "x")), class = "ancify_file_error")
  expect_identical(condition$file, file.path(file, "x"))
  expect_error(ancify_example(NULL), class = "ancify_input_error")
})

test_that("a user's own file is left alone", {
  folder <- tempfile()
  dir.create(folder)
  own <- file.path(folder, "config.yaml")
  writeLines("mine: true", own)
  condition <- expect_error(ancify_example(folder), class = "ancify_file_error")
  expect_identical(condition$file, file.path(normalizePath(folder), "config.yaml"))
  expect_identical(readLines(own), "mine: true")
})
