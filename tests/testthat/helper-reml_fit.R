# A small study for tests of fit_reml(): genotypes in a file, and a table of its samples.

# Four chromosomes of equal size. Variant 5 does not vary.
reml_case <- function(n = 80, m = 60, h2 = 0.5, missing = 0.01) {
  calls <- simulate_calls(n, m, family = 2, missing = missing)
  calls[, 5] <- 1L
  file <- oracle_write_bed(calls, chromosome = rep(1:4, length.out = m) |> sort())
  y <- simulate_trait(calls, h2)
  data <- data.frame(
    id = rownames(calls), y = y, sex = rep(c("f", "m"), length.out = n), age = stats::rnorm(n)
  )
  list(calls = calls, file = file, g = open_genotypes(file), data = data)
}

quiet_fit <- function(...) fit_reml(..., threads = 1, progress = FALSE, verbose = FALSE)

# Expects each case's code to give an error of the class "input" whose message holds the texts.
# `cases`: lists of a function without arguments, and texts.
expect_refusals <- function(cases, class = "input") {
  for (case in cases) expect_ancify_error(case[[1]](), class, unlist(case[-1]))
}

# The texts that `code` draws on a page of `height` inches.
drawn_texts <- function(code, height = 7) {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file, height = height, compress = FALSE, useKerning = FALSE)
  tryCatch(code, finally = grDevices::dev.off())
  lines <- grep(") Tj", readLines(file, warn = FALSE), fixed = TRUE, value = TRUE)
  sub(".*[(](.*)[)] Tj.*", "\\1", lines)
}
