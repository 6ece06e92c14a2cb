# Draws a picture without output.
expect_drawn <- function(picture) {
  expect_s3_class(picture, "ggplot")
  expect_warning(built <- ggplot2::ggplot_build(picture), NA)
  expect_s3_class(ggplot2::ggplotGrob(picture), "gtable")
  invisible(built)
}

random_comparison <- function(names, lengths, window = 100) {
  compare_calls(lapply(random_runs(names, lengths), calls_folder), window = window)
}

test_that("every picture of every kind of comparison can be drawn", {
  require_package("ggplot2")
  set.seed(92)
  names <- c("voting", "a run with a very long name of many words", "c", "d", "e")
  many <- stats::setNames(sample(50:99, 35), paste0("chrUn_a_scaffold_with_a_long_name_", 1:35))
  comparisons <- list(
    random_comparison(names[1:2], c(chr1 = 500)), random_comparison(names, many),
    compare_calls(a = calls_folder(c(x = "NN")), b = calls_folder(c(x = "nn"))),
    compare_calls(a = calls_folder(c(x = "AC")), b = calls_folder(c(x = "AC")))
  )
  for (comparison in comparisons) {
    for (type in names(picture_titles)) expect_drawn(ggplot2::autoplot(comparison, type))
  }
})

test_that("pictures show the shares in the tables", {
  require_package("ggplot2")
  folders <- Map(calls_folder, list(
    a = c(chr1 = "ACGTacgtNn", chr2 = "AAAA"), b = c(chr1 = "GCGTCCgtAA", chr2 = "NNNN")
  ))
  comparison <- compare_calls(folders, window = 5)
  picture <- function(type) ggplot2::autoplot(comparison, type)$data
  expect_identical(picture("agreement")$label, "75.00 %")
  expect_identical(ggplot2::autoplot(comparison, "overlap")$labels$title,
                   "Positions that the same runs call")
  windows <- picture("windows")
  expect_equal(windows$share, c(2 / 5, 0, NA))
  overlap <- picture("overlap")
  expect_equal(overlap$share, c(8, 4, 2) / 14)
  expect_identical(name_sets(c("none", "a + b", "b"), c("a", "b")), c("none", "a + b", "b"))
  expect_identical(name_sets(c("a + b + c", "a + c", "b"), c("a", "b", "c")),
                   c("all", "all but b", "b"))
  confusion <- picture("confusion")
  expect_equal(sum(confusion$share), 1)
  expect_equal(
    confusion$share[confusion$first_base == "A" & confusion$second_base == "G"], 1 / 2
  )
  confidence <- picture("confidence")
  all_of_b <- confidence[confidence$run == "b" & confidence$chromosome == "all", ]
  expect_equal(all_of_b$share[all_of_b$confidence == "missing"], 4 / 14)
})

test_that("long names that differ only in the middle stay different", {
  require_package("ggplot2")
  name <- function(middle) paste0("a_long_beginning_", middle, "_and_a_long_end")
  runs <- stats::setNames(c("A", "C", "G"), vapply(c("x", "y", "z"), name, ""))
  comparison <- compare_calls(lapply(runs, function(calls) calls_folder(c(chr1 = calls))))
  for (type in names(picture_titles)) expect_drawn(ggplot2::autoplot(comparison, type))
  expect_identical(nlevels(ggplot2::autoplot(comparison, "windows")$data$panel), 3L)
  expect_identical(nlevels(ggplot2::autoplot(comparison, "confidence")$data$run), 3L)
  expect_identical(nchar(shorten(c("short", name("x")))), c(5L, 27L))
})

test_that("of many chromosomes, the longest and the sum of the others are drawn", {
  counts <- data.frame(
    run = "", chromosome = paste0("c", 1:40), length = 40:1 * 10, high = 40:1 * 4, low = 0,
    unresolved = 0, missing = 40:1 * 6
  )
  short <- sum_up_short(counts, 30)
  expect_identical(short$chromosome, c("all", paste0("c", 1:30), "10 others"))
  expect_equal(short$length[c(1, 32)], c(sum(counts$length), sum(counts$length[31:40])))
})

test_that("a run is drawn too, and one without calls is an error", {
  require_package("ggplot2")
  run <- run_quietly(random_config()$config)
  expect_drawn(ggplot2::autoplot(run))
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  plotted <- withVisible(plot(run))
  compared <- plot(compare_calls(a = run, b = run), "overlap")
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
  expect_false(plotted$visible)
  expect_s3_class(compared, "ggplot")
  expect_ancify_error(
    plot(compare_calls(a = run, b = run), "pie"), "input", "`type`", "'pie'", "'windows'"
  )
  expect_ancify_error(plot(run[0, ]), "input", "`object`", "give its whole result")
  changed <- run
  changed$low <- as.character(run$low)
  expect_ancify_error(plot(changed), "input", "rows or columns")
  run$high <- NA
  expect_ancify_error(plot(run), "input", "\"call\"")
})
