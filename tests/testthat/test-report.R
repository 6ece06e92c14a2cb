# The page of a run.

report_text <- function(...) {
  file <- tempfile(fileext = ".html")
  value <- withVisible(ancify_report(..., file = file))
  expect_identical(value, list(value = file, visible = FALSE))
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  gsub("\u00a0", " ", text, fixed = TRUE)
}

expect_holds <- function(text, ...) {
  for (part in c(...)) expect_true(grepl(part, text, fixed = TRUE), label = part)
}

# The page fetches nothing: its only addresses are embedded pictures.
expect_self_contained <- function(text) {
  sources <- regmatches(text, gregexpr("(src|href)=\"[^\"]{1,22}", text))[[1]]
  expect_true(all(sources == "src=\"data:image/png;base64,"))
  expect_false(grepl("<script|<link|url\\(|@import", text))
  expect_identical(lengths(regmatches(text, gregexpr("<figure>", text))), length(sources))
  length(sources)
}

test_that("a report has versions, inputs, results and settings", {
  require_reports()
  set.seed(95)
  case <- random_config(focal_species = "A < B & \"C\"")
  run <- run_quietly(case$config)
  text <- report_text(run)
  expect_identical(expect_self_contained(text), 2L)
  expect_holds(
    text, "<title>Ancestral alleles of A &lt; B &amp; &quot;C&quot;</title>", "voting",
    attr(run, "backend"), as.character(utils::packageVersion("ancify")), "2 inner, 1 outer",
    "inner1.axt", "All passed.", "output_dir: ", "Of 591 positions",
    sprintf("%.2f %%", 100 * sum(run$high) / 591), "> chr2 <", "> one <"
  )
  expect_false(grepl("A < B", text, fixed = TRUE))
  expect_holds(
    report_text(run_quietly(case$config, "call")), "An earlier run checked and projected"
  )
})

test_that("a report of a fit and of a comparison has their figures too", {
  require_reports()
  config <- ancify_example(new_folder())
  config$ties <- "alphabet"
  voting <- run_quietly(config)
  config$method <- "likelihood"
  config$tree <- "(((focal:0.02,near1:0.02):0.01,near2:0.03):0.05,far:0.08);"
  config$estimate <- TRUE
  config$output_dir <- file.path(new_folder(), "likelihood")
  run <- run_quietly(config)
  comparison <- compare_calls(voting = voting, likelihood = run, window = 5000)
  text <- report_text(run, comparison = comparison)
  expect_identical(expect_self_contained(text), 8L)
  summary <- summary(comparison)
  expect_holds(
    text, "The model JC69 was fitted to 75,000 sites", "The fit converged.",
    sprintf("voting and likelihood (%.2f %%).", 100 * summary$agreement),
    sprintf("all runs at %.2f %%", 100 * summary$both / 75000),
    sprintf("%.2f %% of %d differences are transitions",
            100 * summary$transitions / (summary$transitions + summary$transversions),
            as.integer(summary$transitions + summary$transversions)),
    "positions, for voting and likelihood at chr"
  )
})

test_that("comparisons without calls or differences have captions too", {
  nothing <- compare_calls(a = calls_folder(c(x = "NN")), b = calls_folder(c(x = "nn")))
  expect_match(agreement_in_words(summary(nothing)), "No two runs call a common position")
  expect_match(windows_in_words(nothing$windows), "The runs do not differ")
  expect_match(confusion_in_words(summary(nothing)), "No two runs differ")
  expect_match(overlap_in_words(nothing), "all runs at 0.00 %")
})

test_that("a report has the results of an evaluation", {
  require_reports()
  case <- random_config(c(chr1 = 50, chr2 = 9), axt = few_bases(lengths, name))
  run <- run_quietly(case$config)
  folder <- calls_folder(vapply(case$calls, chartr, "", old = "ACGT", new = "ACGA"))
  case$config$evaluation <- list(reference_dir = folder)
  run <- run_quietly(case$config, "evaluate")
  evaluation <- attr(run, "evaluation")
  both <- sum(evaluation$reference_both_nonmissing)
  text <- report_text(run)
  expect_holds(
    text, ">Evaluation<", "In calls and reference", "possibly with other settings",
    sprintf("have a base at %d positions: the same base at", both)
  )
  expect_false(grepl("An earlier run checked and projected", text))
  expect_identical(variants_in_words(data.frame(
    vcf_num_variants = c(10, 0, 30), vcf_prop_nonmissing = c(1, NaN, 1 / 3),
    vcf_matches_ref = c(0.5, NaN, 0), vcf_matches_alt = c(0.5, NaN, 0.9),
    vcf_matches_either = c(1, NaN, 0.9)
  )), paste(
    "Of 40 variants, 50.00 % are called: 25.00 % of these as REF, 70.00 % as an ALT, 5.00 % as",
    "neither."
  ))
  expect_match(variants_in_words(data.frame(vcf_num_variants = 0, vcf_prop_nonmissing = NaN)),
               "None of 0 variants")
  expect_match(
    reference_in_words(data.frame(reference_both_nonmissing = 0, reference_agreement_rate = NaN)),
    "no position"
  )
  expect_null(evaluation_section(evaluation[1:8]))
})

test_that("sentences are right for unusual runs", {
  require_reports()
  # There are data, but too few.
  case <- random_config(c(chr1 = 50, chr2 = 50), axt = few_bases(lengths, name), min_inner_freq = 3,
                        min_outer_freq = 2)
  run <- suppressWarnings(run_quietly(case$config))
  unlink(case$config$outgroups$inner[[1]]$alignment)
  text <- report_text(run)
  expect_holds(text, "at 100.00 % too few outgroups have data", "the same on all chromosomes",
               "no longer there", "the top one is all of them together")
  expect_false(grepl("all shorter chromosomes", text))

  lengths <- stats::setNames(rep(5, 40), paste0("c", 1:40))
  run <- run_quietly(random_config(lengths, axt = few_bases(lengths, name))$config)
  expect_holds(report_text(run), "the bottom one all shorter chromosomes")
  one <- report_text(run_quietly(random_config(c(chr1 = 9), axt = few_bases(lengths, name))$config))
  expect_holds(one, "Each bar is a chromosome. Its parts")

  alike <- lapply(stats::setNames(nm = c("a", "b", "c")), function(run) calls_folder(c(x = "ACGT")))
  expect_match(agreement_in_words(summary(compare_calls(alike))), "It is 100.00 % for all pairs")
  expect_match(
    blocks_in_words(data.frame(bad = c(0, 1200), duplicates = c(0, 3), shared = c(7000, 0))),
    paste("(1,200) were left out. Blocks of MAF or TAF have further rows of a species (3 in all).",
          "Several blocks of an alignment share positions (7,000 in all)."),
    fixed = TRUE
  )
})

test_that("names are shown as they are: none is HTML, Markdown or R code", {
  require_reports()
  name <- "<script>`r 6*7`</script>|**b**$x$```{=html}\\&amp;&#65;<!--x-->\"C\""
  name <- gsub("/", "", name, fixed = TRUE)
  species <- paste(name, "*A* -- 'B'")
  name <- gsub(" ", "", name, fixed = TRUE) # names of chromosomes have no blanks
  lengths <- stats::setNames(c(50, 9), c(name, "_a_"))
  case <- random_config(lengths, axt = few_bases(lengths, name), focal_species = species)
  text <- report_text(run_quietly(case$config))
  expect_identical(expect_self_contained(text), 2L)
  settings <- sub("</pre>.*", "", sub(".*<pre>", "", text))
  for (sign in list(c("&lt;", "<"), c("&gt;", ">"), c("&amp;", "&"))) {
    settings <- gsub(sign[1], sign[2], settings)
  }
  expect_identical(yaml::yaml.load(settings)$focal_species, species)
  for (sign in list(c("&quot;", "\""), c("&#39;", "'"), c("\\s+", " "))) {
    text <- gsub(sign[1], sign[2], text)
  }
  escaped <- function(text) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text)))
  title <- paste("Ancestral alleles of", escaped(species))
  expect_holds(
    text, sprintf("<title>%s</title>", title), sprintf("<h1 class=\"title\">%s</h1>", title),
    sprintf("> %s <", escaped(c(species, names(lengths)))),
    sprintf("is largest on %s (", escaped(name))
  )
  expect_false(grepl("<(strong|b|em|code|span|a)[ >]", text))
})

test_that("an impossible report is an error, and leaves no file", {
  require_reports()
  run <- run_quietly(random_config()$config)
  file <- tempfile()
  expect_ancify_error(ancify_report(list(), file), "input", "`run`", "empty")
  expect_ancify_error(ancify_report("calls", file), "file", "'calls'", "does not exist")
  expect_ancify_error(ancify_report(run, file, run), "input", "`comparison`")
  expect_ancify_error(ancify_report(run, NULL), "input", "`file`")
  expect_ancify_error(ancify_report(run, run$file[1]), "input", "`file`", ".html")
  expect_ancify_error(ancify_report(run, tempdir()), "file", "`file`", "is a folder")
  expect_ancify_error(ancify_report(run, "/proc/report.html"), "file", "/proc/report.html")
  expect_ancify_error(ancify_report(run[0, ], file), "input", "`run`")
  file <- paste0(file, ".html")
  expect_ancify_error(ancify_report(run, file, template = "no.Rmd"), "file", "'no.Rmd'")
  expect_ancify_error(ancify_report(run, file, template = run$file[1]), "input", "end in .Rmd")
  local({
    old <- Sys.getenv(c("PATH", "RSTUDIO_PANDOC"))
    on.exit({
      do.call(Sys.setenv, as.list(old))
      rmarkdown::find_pandoc(cache = FALSE)
    })
    Sys.setenv(PATH = new_folder(), RSTUDIO_PANDOC = "")
    rmarkdown::find_pandoc(cache = FALSE)
    expect_ancify_error(ancify_report(run, file), "package", "pandoc", "install.packages")
  })
  run$high <- NA
  expect_ancify_error(ancify_report(run, file), "input", "\"call\"")
  expect_false(file.exists(file))
})

# A copy of the template with changes: a pattern and its replacement each.
edited_template <- function(..., folder = new_folder()) {
  file <- rmarkdown::draft(file.path(folder, "mine.Rmd"), "report", "ancify", edit = FALSE)
  text <- paste(readLines(file), collapse = "\n")
  for (change in list(...)) {
    expect_true(grepl(change[1], text, fixed = TRUE))
    text <- sub(change[1], change[2], text, fixed = TRUE)
  }
  writeLines(text, file)
  file
}

test_that("a page is made by an edited template, which stays alone in its folder", {
  require_reports()
  run <- run_quietly(random_config(focal_species = "one_species")$config)
  folder <- new_folder()
  grDevices::png(file.path(folder, "logo.png"))
  graphics::plot.new()
  grDevices::dev.off()
  writeLines("h1 { color: green; }", file.path(folder, "style.css"))
  file <- edited_template(
    c("Ancestral alleles of", "Alleles in"),
    c("    theme: null", "    css: style.css\n    toc: true"),
    c("```{r}\nsections <-", "![Ours](logo.png)\n\n```{r}\nsections <-"),
    c("\"Inputs\")", "\"What was read\")"),
    c("section(sections$settings, \"Settings\")", "n <- 6 * 7\nn"), folder = folder
  )
  there <- function() list.files(c(folder, tempdir()), all.files = TRUE)
  before <- there()
  text <- with_folder(folder, report_text(run, template = "mine.Rmd"))
  expect_match(setdiff(there(), before), "^file.*[.]html$")
  expect_length(setdiff(there(), before), 1)
  expect_length(regmatches(text, gregexpr("src=\"data:image/png;base64,", text))[[1]], 3)
  expect_holds(
    text, "<title>Alleles in one_species<", ">What was read</h2>", "href=\"#what-was-read\"",
    "h1 { color: green; }", "alt=\"Ours\"", "[1] 42", ">Results by chromosome</h2>"
  )
  expect_false(grepl("src=\"[^d]", text))
  expect_false(grepl("output_dir", text))
  expect_false(exists("n", globalenv(), inherits = FALSE))
})

test_that("an error of a template is an error with its name, and leaves the earlier page", {
  require_reports()
  run <- run_quietly(random_config()$config)
  file <- tempfile(fileext = ".html")
  writeLines("earlier", file)
  for (change in list(
    c("tags <- htmltools::tags", "stop(\"a fault of mine\")"), c("lang: en", "lang: [")
  )) {
    template <- edited_template(change)
    error <- expect_ancify_error(ancify_report(run, file, template = template), "input", template)
    expect_identical(error$file, template)
    if (grepl("stop", change[2])) expect_match(conditionMessage(error), "a fault of mine")
  }
  expect_identical(readLines(file), "earlier")
  expect_identical(grep("^report-", list.files(tempdir()), value = TRUE), character())
})

test_that("a document may write reports, whatever the names of its chunks", {
  require_reports()
  run <- run_quietly(random_config()$config)
  folder <- new_folder()
  inner <- file.path(folder, "inner.html")
  document <- file.path(folder, "outer.Rmd")
  writeLines(c(
    "---", "title: Outer", "---", "", "```{r setup}", "x <- 6 * 7",
    "ancify_report(run, inner, template = template)", "```", "", "```{r}", "cat(\"x is\", x)", "```"
  ), document)
  template <- edited_template(c("{r, include", "{r setup, include"))
  page <- rmarkdown::render(document, envir = environment(), quiet = TRUE)
  expect_match(readLines(page), "x is 42", fixed = TRUE, all = FALSE)
  expect_true(file.exists(inner))
})

test_that("windows count the calls in their positions, and posteriors theirs", {
  require_reports()
  case <- random_config(
    lengths = c(chr1 = 5000, chr2 = 90), method = "likelihood", posterior = TRUE,
    tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);"
  )
  run <- run_quietly(case$config)
  windows <- call_windows(run)
  expect_identical(windows$end - windows$start + 1, rep(c(20, 10), c(254, 1)))
  calls <- vapply(unname(run$file), function(file) readLines(file)[2], "", USE.NAMES = FALSE)
  letters <- substring(calls[match(windows$chromosome, run$chromosome)], windows$start, windows$end)
  count <- function(kind) nchar(gsub(sprintf("[^%s]", kind), "", letters))
  expect_equal(windows$high, count("ACGT"))
  expect_equal(windows$low, count("acgt"))
  expect_equal(windows$unresolved, count("n"))
  expect_equal(windows$missing, count("N"))
  text <- report_text(run)
  expect_identical(expect_self_contained(text), 3L)
  phred <- unlist(lapply(run$chromosome, function(name) read_posterior(run, name)))
  phred <- phred[!is.na(phred)]
  expect_holds(text, sprintf(
    "at the %s positions with a posterior. It is at least 0.9 at %.2f %%",
    format_count(length(phred)), 100 * mean(phred >= 10)
  ))
  expect_identical(round_up(c(17)), 20)
  expect_identical(vapply(c(0.2, 1, 2, 3, 700000, 1e6), round_up, 0), c(1, 1, 2, 5, 1e6, 1e6))
})

test_that("divergences are shares of different bases, where the projections are kept", {
  require_reports()
  config <- ancify_example(new_folder())
  config$focal_fasta <- system.file("extdata", "example", "focal.fa.gz", package = "ancify")
  config$keep_projected <- TRUE
  run <- run_quietly(config)
  letters_of <- function(species, chromosome) {
    lines <- readLines(file.path(config$work_dir, "projected", species, paste0(chromosome, ".fa")))
    strsplit(toupper(lines[2]), "")[[1]]
  }
  differences <- function(species, chromosome, at = TRUE) {
    pair <- cbind(letters_of("focal", chromosome), letters_of(species, chromosome))[at, ]
    both <- rowSums(matrix(pair %in% c("A", "C", "G", "T"), nrow(pair))) == 2
    c(differ = sum(pair[both, 1] != pair[both, 2]), both = sum(both))
  }
  config <- attr(run, "config")
  config$lengths <- setNames(run$length, run$chromosome)
  windows <- divergence_windows("near2", config)
  expect_identical(
    unlist(windows[3, c("differ", "both")]),
    differences("near2", windows$chromosome[3], windows$start[3]:windows$end[3]) + 0
  )
  species <- c("near1", "near2", "far")
  shares <- vapply(species, function(name) {
    sums <- rowSums(vapply(run$chromosome, function(one) differences(name, one), c(0, 0)))
    sums[1] / sums[2]
  }, 0)
  text <- report_text(run)
  expect_holds(text, enumerate(sprintf("%.2f %% for %s", 100 * shares, species)))
  unlink(file.path(config$work_dir, "projected", "far"), recursive = TRUE)
  expect_false(any(grepl("Divergence of the outgroups", report_text(run))))
})
