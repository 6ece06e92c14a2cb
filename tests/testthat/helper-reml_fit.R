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

# Fits, scans and predictions of genotypes have the bytes of a BED's, and so has the log-likelihood
# of a saved fit. Returns a function that computes it again.
expect_fits_of_bed <- function(g, bed, data, sets) {
  numbers <- function(fit) fit[c("theta", "information", "log_likelihood", "genetic", "divisors")]
  fit_bed <- quiet_fit(y ~ 1, data, bed, sets)
  fit <- quiet_fit(y ~ 1, data, g, sets)
  expect_identical(numbers(fit), numbers(fit_bed))
  expect_identical(predict(fit, g, progress = FALSE), predict(fit_bed, bed, progress = FALSE))
  expect_identical(scan_variants(fit, progress = FALSE), scan_variants(fit_bed, progress = FALSE),
                   ignore_attr = TRUE)
  again <- unserialize(serialize(fit, NULL))
  point <- c(0.2, 0.1, 0.7)
  likelihood_again <- function() reml_log_likelihood(again, point, progress = FALSE)
  expect_identical(likelihood_again(), reml_log_likelihood(fit_bed, point, progress = FALSE))
  likelihood_again
}

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
