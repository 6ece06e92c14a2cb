# Templates of configurations.

test_that("the template is accepted once its paths are filled in", {
  folder <- tempfile("init")
  dir.create(folder)
  path <- file.path(folder, "ancify.yaml")
  shown <- withVisible(ancify_init(path))
  expect_false(shown$visible)
  expect_identical(shown$value, path)
  expect_error(ancify_config(path), class = "ancify_config_error")

  example <- ancify_example(file.path(folder, "example"))
  lines <- sub(
    "(chrom[.]sizes|(near1|near2|far)[.]axt[.]gz)", file.path(folder, "example", "\\1"),
    readLines(path)
  )
  writeLines(lines, path)
  config <- ancify_config(path)
  expect_identical(config$outgroups, example$outgroups)
  # Nothing in the template differs from the defaults.
  same <- setdiff(names(config), c("file", "work_dir", "output_dir"))
  expect_identical(config[same], example[same])
})

test_that("the template has every key, and its examples are valid", {
  template <- readLines(ancify_init(tempfile()))
  expect_true(all(nchar(template) <= 80))
  for (key in names(config_keys())) {
    expect_match(template, paste0("^(# )?", key, ":"), all = FALSE)
  }

  # With all that is commented out, and the files that it names.
  folder <- tempfile("init")
  dir.create(folder)
  names <- sub(".*[.]", "", ancify_settings()$setting)
  keys <- grepl(sprintf("^# +(%s):( |$)", paste(names, collapse = "|")), template)
  template[keys] <- sub("^# ", "", template[keys])
  path <- file.path(folder, "ancify.yaml")
  writeLines(template, path)
  writeLines(paste(c("chr1", "chr2", "chrX"), 10), file.path(folder, "chrom.sizes"))
  file.create(file.path(
    folder, c("near1.axt.gz", "near2.axt.gz", "far.axt.gz", "focal.fa.gz")
  ))
  writeLines("chr1\t1", file.path(folder, "hg38.chromAlias.txt"))
  dir.create(file.path(folder, "reference"))
  dir.create(file.path(folder, "variants"))
  require_package("ape")
  config <- ancify_config(path)
  for (key in names(config_keys())) {
    default <- config_keys()[[key]]$default
    if (!is.null(default)) expect_identical(config[[key]], default)
  }
})

test_that("a file that exists is kept", {
  path <- tempfile()
  writeLines("mine", path)
  condition <- expect_error(ancify_init(path), "remove it", class = "ancify_file_error")
  expect_identical(condition$file, path)
  expect_identical(readLines(path), "mine")
})

test_that("a path that can't be written is an error", {
  expect_error(ancify_init(file.path(tempfile(), "a.yaml")), class = "ancify_file_error")
  expect_error(ancify_init(c("a", "b")), class = "ancify_input_error")
})
