# The table of settings.

test_that("each setting has a row with all of its words", {
  settings <- ancify_settings()
  expect_identical(anyDuplicated(settings$setting), 0L)
  expect_true(all(names(config_keys()) %in% settings$setting))
  for (column in c("setting", "topic", "type", "default", "meaning")) {
    expect_true(all(nzchar(settings[[column]])), info = column)
    expect_type(settings[[column]], "character")
  }
  expect_setequal(settings$changes, c("projections", "calls", "nothing"))
  sentence <- grepl("^[A-Z].*[.]$", settings$meaning)
  expect_identical(settings$setting[!sentence], character())
  expect_lte(max(lengths(strsplit(unlist(strsplit(settings$meaning, "[.:;] ")), " "))), 25)
})

test_that("defaults stand there as YAML has them", {
  default <- function(name) with(ancify_settings(), default[setting == name])
  expect_identical(default("focal_species"), "required")
  expect_identical(default("chromosomes"), "all in `chromosome_lengths`")
  expect_identical(default("keep_projected"), "`auto`")
  expect_identical(default("model_base_freqs"), "`[0.25, 0.25, 0.25, 0.25]`")
  expect_identical(default("evaluation.vcf_pattern"), "`\"{chrom}.vcf.gz\"`")
  expect_identical(default("history.mutation_rate"), "`1.25e-08`")
})

test_that("what a setting changes is what a run makes again", {
  config <- ancify_example(new_folder())
  again <- function(...) {
    changed <- utils::modifyList(unclass(config), list(...))
    !identical(settings_of_calls(ancify_config(structure(changed, class = class(config)))),
               settings_of_calls(config))
  }
  expect_true(again(min_inner_freq = 2))
  expect_true(again(method = "likelihood", tree = "((near1:1,near2:1):1,far:1);"))
  expect_false(again(num_cpus = 1, backend = "cpu", keep_projected = FALSE))
  expect_false(again(on_bad_block = "skip"))
})

test_that("calls have the same identity in any order of the settings", {
  config <- ancify_example(new_folder())
  settings <- settings_of_calls(config)
  expect_identical(names(settings), sort(names(settings), method = "radix"))
})
