report_text <- function(...) {
  file <- tempfile(fileext = ".html")
  value <- withVisible(ancify_report(..., file = file))
  expect_identical(value, list(value = file, visible = FALSE))
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  gsub("&nbsp;", " ", text, fixed = TRUE)
}

expect_holds <- function(text, ...) {
  for (part in c(...)) expect_true(grepl(part, text, fixed = TRUE), label = part)
}

# Nothing is fetched: no address but that of the pictures, which are in the page.
expect_self_contained <- function(text) {
  sources <- regmatches(text, gregexpr("(src|href)=\"[^\"]{1,22}", text))[[1]]
  expect_true(all(sources == "src=\"data:image/png;base64,"))
  expect_false(grepl("<script|<link|url\\(|@import", text))
  expect_identical(lengths(regmatches(text, gregexpr("<figure>", text))), length(sources))
  length(sources)
}

test_that("a report has what was run, the inputs, the results and the settings", {
  require_package("ggplot2")
  require_package("knitr")
  set.seed(95)
  case <- random_config(focal_species = "A < B & \"C\"")
  run <- run_quietly(case$config)
  text <- report_text(run)
  expect_identical(expect_self_contained(text), 1L)
  expect_holds(
    text, "<title>Ancestral alleles of A &lt; B &amp; &quot;C&quot;</title>", "voting",
    attr(run, "backend"), as.character(utils::packageVersion("ancify")), "2 inner, 1 outer",
    "inner1.axt", "All passed.", "output_dir: ", "Of 591 positions",
    sprintf("%.2f %%", 100 * sum(run$high) / 591), ">chr2<", ">one<"
  )
  expect_false(grepl("A < B", text, fixed = TRUE))
  expect_holds(report_text(run_quietly(case$config, "call")), "projected by an earlier run")
})

test_that("a report of a fit and of a comparison has their figures too", {
  require_package("ggplot2")
  require_package("knitr")
  config <- ancify_example(new_folder())
  voting <- run_quietly(config)
  config$method <- "likelihood"
  config$tree <- "(((focal:0.02,near1:0.02):0.01,near2:0.03):0.05,far:0.08);"
  config$estimate <- TRUE
  config$output_dir <- file.path(new_folder(), "likelihood")
  run <- run_quietly(config)
  comparison <- compare_calls(voting = voting, likelihood = run, window = 5000)
  text <- report_text(run, comparison = comparison)
  expect_identical(expect_self_contained(text), 6L)
  summary <- summary(comparison)
  expect_holds(
    text, "The model JC69 was fitted to 75,000 sites", "The fit converged.",
    sprintf("voting and likelihood (%.2f %%).", 100 * summary$agreement),
    sprintf("all of them at %.2f %%", 100 * summary$both / 75000),
    sprintf("%.2f %% of %d differences are transitions",
            100 * summary$transitions / (summary$transitions + summary$transversions),
            as.integer(summary$transitions + summary$transversions)),
    "Most differ voting and likelihood at chr"
  )
})

test_that("comparisons without calls or differences are told in words too", {
  nothing <- compare_calls(a = calls_folder(c(x = "NN")), b = calls_folder(c(x = "nn")))
  expect_match(agreement_in_words(summary(nothing)), "nothing to agree on")
  expect_match(windows_in_words(nothing$windows), "Nowhere do they differ")
  expect_match(confusion_in_words(summary(nothing)), "No two runs differ")
  expect_match(overlap_in_words(nothing), "all of them at 0.00 %")
})

test_that("what can't be reported on is an error, and leaves no file", {
  require_package("ggplot2")
  require_package("knitr")
  run <- run_quietly(random_config()$config)
  file <- tempfile()
  expect_ancify_error(ancify_report("calls", file), "input", "`run`", "'calls'")
  expect_ancify_error(ancify_report(run, file, run), "input", "`comparison`")
  expect_ancify_error(ancify_report(run, NULL), "input", "`file`")
  expect_ancify_error(ancify_report(run, run$file[1]), "input", "`file`", ".html")
  expect_ancify_error(ancify_report(run, tempdir()), "file", "`file`", "is a folder")
  expect_ancify_error(ancify_report(run, "/proc/report.html"), "file", "/proc/report.html")
  run$high <- NA
  expect_ancify_error(ancify_report(run, file), "input", "\"call\"")
  expect_false(file.exists(file))
})
