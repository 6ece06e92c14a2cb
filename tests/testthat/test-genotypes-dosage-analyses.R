# Analyses of dosages, against plain R with a matrix of doubles.

# A BGEN of 8 bits. Returns the genotypes and their dosages, a row for each sample.
dosage_study <- function(n = 90, m = 300, missing = 0.03) {
  set.seed(5)
  frequency <- stats::runif(m, 0.05, 0.95)
  dosages <- matrix(NA_real_, n, m, dimnames = list(paste0("i", seq_len(n)), NULL))
  variants <- lapply(seq_len(m), function(j) {
    doubt <- sample(0:60, n, TRUE)
    stored <- lapply(seq_len(n), function(i) {
      if (stats::runif(1) < missing) {
        return(NULL)
      }
      switch(stats::rbinom(1, 2, frequency[j]) + 1, c(255 - doubt[i], doubt[i]),
             c(doubt[i], 255 - doubt[i]), c(0, doubt[i]))
    })
    numerators <- vapply(stored, function(p) if (is.null(p)) NA else 510 - 2 * p[1] - p[2], 0)
    dosages[, j] <<- numerators / 255
    bgen_variant(stored, list(id = paste0("v", j), chromosome = as.character(1 + j %% 2),
                              position = 10 * j, alleles = c("A", "C")))
  })
  path <- tempfile(fileext = ".bgen")
  writeBin(bgen_bytes(variants, n, rownames(dosages)), path)
  list(path = path, g = open_genotypes(path, dosages = TRUE), dosages = dosages,
       data = data.frame(id = rownames(dosages), age = stats::rnorm(n), y = stats::rnorm(n) +
                           2 * replace(dosages[, 7], is.na(dosages[, 7]), 1)))
}

# Standardised over observed dosages; missing ones are 0.
standardised_dosages <- function(dosages) {
  apply(dosages, 2, function(x) {
    centred <- x - mean(x, na.rm = TRUE)
    z <- centred / sqrt(mean(centred^2, na.rm = TRUE))
    replace(z, is.na(z), 0)
  })
}

test_that("kernels and fits of dosages are those of plain R", {
  study <- dosage_study()
  z <- standardised_dosages(study$dosages)
  kernel <- unname(tcrossprod(z)) / ncol(z)
  v <- matrix(stats::rnorm(3 * nrow(z)), nrow(z))
  of_genotypes <- kernel_grm(study$g)
  expect_equal(kernel_times(of_genotypes, v, threads = 1), kernel %*% v, tolerance = 1e-7)
  expect_identical(kernel_times(of_genotypes, v, threads = 2),
                   kernel_times(of_genotypes, v, threads = 1))
  expect_identical(kernel_times(of_genotypes, v, memory = 2^20),
                   kernel_times(of_genotypes, v, threads = 1))
  dimnames(kernel) <- list(study$data$id, study$data$id)
  fit <- fit_reml(y ~ age, study$data, study$g, verbose = FALSE)
  plain <- fit_reml(y ~ age, study$data, kernels = list(genotypes = kernel_matrix(kernel)),
                    verbose = FALSE)
  expect_equal(fit$theta, plain$theta, tolerance = 1e-6)
  expect_equal(fit$log_likelihood, plain$log_likelihood, tolerance = 1e-8)
  expect_equal(as.vector(predict(fit, study$g, study$data, type = "genetic")),
               unname(rowSums(fit$genetic)), tolerance = 1e-6)
  saved <- tempfile(fileext = ".rds")
  saveRDS(fit, saved)
  expect_identical(predict(readRDS(saved), study$g[9:1, ], study$data),
                   predict(fit, study$g[9:1, ], study$data))
})

test_that("scans of dosages are least squares", {
  study <- dosage_study(missing = 0)
  scan <- scan_variants(y ~ age, study$data, study$g, threads = 1)
  expected <- t(apply(study$dosages, 2, function(x) {
    stats::coef(summary(stats::lm(y ~ age + x, study$data)))["x", ]
  }))
  expect_equal(scan$effect, unname(expected[, 1]), tolerance = 1e-10)
  expect_equal(scan$se, unname(expected[, 2]), tolerance = 1e-10)
  expect_equal(scan$log10_p, -log10(unname(expected[, 4])), tolerance = 1e-8)
  expect_equal(scan$frequency, unname(colMeans(study$dosages)) / 2, tolerance = 1e-12)
  fit <- fit_reml(y ~ age, study$data, study$g, verbose = FALSE)
  mixed <- scan_variants(fit, loco = FALSE)
  kernel <- tcrossprod(standardised_dosages(study$dosages)) / ncol(study$dosages)
  h <- fit$theta[[1]] * kernel + fit$theta[[2]] * diag(nrow(kernel))
  half <- solve(t(chol(h)))
  x <- half %*% cbind(1, study$data$age, study$dosages[, 7])
  expect_equal(mixed$effect[7], unname(stats::lm.fit(x, half %*% study$data$y)$coefficients[3]),
               tolerance = 1e-6)
})

test_that("scans of dosages are those of plink2 --glm", {
  set.seed(6)
  dosages <- random_dosages(200, 2000, missing = 0)
  vcf <- vcf_of_fields(fields_of_dosages(dosages), "GT:DS")
  stem <- run_plink("plink2", "--vcf", vcf, "dosage=DS", "--make-pgen")
  writeLines(sprintf("0 s%d 0 0 0 -9", 1:200), paste0(stem, ".fam"))
  data <- data.frame(id = paste0("s", 1:200), age = stats::rnorm(200))
  data$y <- stats::rnorm(200) + dosages[, 3] + data$age
  theirs <- plink2_glm(stem, plink2_files(stem, data, "age"), option = "--pfile")
  g <- open_genotypes(paste0(stem, ".pgen"), dosages = TRUE)
  ours <- scan_variants(y ~ age, data, g, threads = 1)
  at <- match(theirs$ID, ours$id)
  sign <- ifelse(theirs$A1 == ours$counted[at], 1, -1)
  tested <- theirs$P != "NA"
  expect_gt(sum(tested), 1900)
  expect_lt(max(abs(ours$log10_p[at] + log10(as.numeric(theirs$P)))[tested]), 1e-4)
  expect_lt(max(abs(ours$effect[at] - sign * as.numeric(theirs$BETA))[tested]), 1e-4)
})

test_that("weighted kernels take dosages", {
  study <- dosage_study()
  z <- standardised_dosages(study$dosages)
  set.seed(1)
  sizes <- c(100, 200)
  blocks <- lapply(sizes, function(size) crossprod(matrix(stats::rnorm(size * 5), 5)))
  begins <- c(0, 100)
  sum_of <- Reduce(`+`, Map(function(w, begin, size) {
    own <- z[, begin + seq_len(size)]
    own %*% w %*% t(own)
  }, blocks, begins, sizes))
  expected <- sum_of / mean(diag(sum_of))
  v <- stats::rnorm(nrow(z))
  expect_equal(drop(kernel_times(kernel_weighted(study$g, blocks), v)),
               unname(drop(expected %*% v)),
               tolerance = 1e-6)
})

test_that("whole dosages are calls, to the byte", {
  set.seed(2)
  calls <- matrix(sample(c(0:2, NA), 40 * 30, TRUE), 40)
  g <- open_genotypes(bgen_of_calls(calls), dosages = TRUE)
  bed <- open_genotypes(bed_fileset(calls))
  v <- stats::rnorm(40)
  expect_identical(kernel_times(kernel_grm(g), v), kernel_times(kernel_grm(bed), v))
})

test_that("a certain copy of a haploid male is missing, a doubtful one is not", {
  stored <- list(c(0, 255), c(0, 200), c(255, 0), c(0, 255), c(0, 0), c(255, 0))
  path <- tempfile(fileext = ".bgen")
  writeBin(bgen_bytes(list(bgen_variant(stored, list(
    id = "x", chromosome = "X", position = 5e6, alleles = c("A", "C")
  ))), 6, paste0("s", 1:6)), path)
  g <- open_genotypes(path, dosages = TRUE)
  g$samples$sex <- c(1, 1, 1, 2, 2, 2)
  data <- data.frame(id = g$samples$id, y = c(1, 3, 2, 5, 4, 7))
  expect_warning(scan <- scan_variants(y ~ 1, data, g, threads = 1), "One heterozygous call is set")
  expect_identical(scan$n, 5)
})

test_that("components by frequency are those of dosages", {
  study <- dosage_study()
  frequency <- colMeans(study$dosages, na.rm = TRUE) / 2
  breaks <- c(0, 0.25, 0.5)
  component_of <- function(frequency) as.character(cut(frequency, breaks, include.lowest = TRUE))
  made <- as.data.frame(components_by_frequency(study$g, breaks))
  expect_identical(as.character(made$component[match(study$g$variants$id, made$variant)]),
                   component_of(pmin(frequency, 1 - frequency)))
  called <- summary(study$g)
  of_calls <- (2 * called$hom_counted + called$het) / (2 * (called$n - called$uncertain))
  expect_false(identical(component_of(pmin(of_calls, 1 - of_calls)),
                         component_of(pmin(frequency, 1 - frequency))))
  without <- open_genotypes(cbind(x = c(a = NA, b = NA), y = c(0.2, 0.3)), dosages = TRUE)
  expect_identical(as.data.frame(components_by_frequency(without, c(0, 0.5)))$variant, "y")
})

test_that("two-locus statistics of dosages are those of hard calls, and say so", {
  set.seed(4)
  dosages <- random_dosages(30, 20)
  dimnames(dosages) <- list(paste0("s", 1:30), paste0("v", 1:20))
  variants <- data.frame(chromosome = "1", position = 1000 * 1:20, counted = "A", other = "C")
  g <- open_genotypes(dosages, variants, dosages = TRUE)
  near <- abs(dosages - round(dosages)) <= 0.1 + 1e-9
  calls <- ifelse(near, round(dosages), NA)
  statistics <- function(g) ld_statistics(g, map = 1e-8, bins = c(0, 1e-4), threads = 1)$values
  expect_message(of_dosages <- statistics(g), "of hard calls", class = "ancify_message")
  expect_identical(of_dosages, statistics(open_genotypes(calls, variants)))
})
