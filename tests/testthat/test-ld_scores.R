# LD scores against plain R and plink1.9, and the components that they make.

# Haplotypes that copy their last allele in most steps, with missing and constant variants
ld_case <- function(n = 60, m = 80, missing = 0.05) {
  level <- stats::runif(2 * n)
  calls <- vapply(seq_len(m), function(j) {
    drawn <- stats::runif(2 * n) > 0.8
    level[drawn] <<- stats::runif(sum(drawn))
    alleles <- level < stats::runif(1, 0.05, 0.95)
    alleles[seq_len(n)] + alleles[n + seq_len(n)]
  }, numeric(n))
  calls[sample(length(calls), missing * length(calls))] <- NA
  calls[, 7] <- 2
  calls[, 8] <- NA
  dimnames(calls) <- list(paste0("s", seq_len(n)), paste0("v", seq_len(m)))
  calls
}

ld_variants <- function(m) {
  data.frame(chromosome = rep(c("1", "2"), c(m - 30, 30)),
             position = c(sort(sample(1e5, m - 30)), sort(sample(1e5, 30))),
             counted = "A", other = "C")
}

# By the correlations of all pairs, with a bound on their distance
oracle_ld_scores <- function(calls, place, chromosome, window) {
  r2 <- suppressWarnings(stats::cor(calls, use = "pairwise.complete.obs"))^2
  n <- crossprod(!is.na(calls))
  near <- abs(outer(place, place, "-")) <= window & outer(chromosome, chromosome, "==")
  used <- near & !is.na(r2)
  sums <- function(values) {
    ifelse(is.na(diag(r2)), NA, rowSums(ifelse(used, values, 0)))
  }
  data.frame(score = sums(r2), corrected = sums(r2 - (1 - r2) / pmax(n - 2, 1)),
             n_variants = rowSums(used))
}

test_that("LD scores are sums over correlations", {
  set.seed(71)
  for (missing in c(0, 0.05, 0.9)) {
    calls <- ld_case(missing = missing)
    variants <- ld_variants(ncol(calls))
    g <- open_genotypes(calls, variants)
    for (window in c(0, 5000, 1e6)) {
      found <- ld_scores(g, window, threads = 2)
      expect_equal(
        found[c("score", "corrected", "n_variants")],
        oracle_ld_scores(calls, variants$position, variants$chromosome, window),
        tolerance = 1e-12, ignore_attr = TRUE
      )
    }
    by_number <- ld_scores(g, 5, "variants", threads = 1)
    expected <- oracle_ld_scores(calls, seq_len(ncol(calls)), variants$chromosome, 5)
    expect_equal(by_number$score, expected$score, tolerance = 1e-12)
    expect_true(is.na(by_number$score[7]) && by_number$n_variants[8] == 0)
  }
  # Chosen samples and variants, other levels and threads
  chosen <- g[c(50:3, 55), -(20:25)]
  scores <- ld_scores(chosen, 5000, threads = 1)
  expect_equal(
    scores$score,
    oracle_ld_scores(calls[c(50:3, 55), -(20:25)], variants$position[-(20:25)],
                     variants$chromosome[-(20:25)], 5000)$score
  )
  for (simd in simd_levels()) {
    expect_identical(
      with_options(list(ancify.simd = simd), ld_scores(chosen, 5000, threads = 3)), scores
    )
  }
})

test_that("LD scores are sums of plink1.9's r^2", {
  set.seed(72)
  calls <- ld_case(100, 150)
  variants <- ld_variants(150)
  g <- open_genotypes(calls, variants)
  stem <- tempfile()
  write_bed(g, stem)
  out <- run_plink("plink1.9", "--bfile", stem, "--r2", "square", "bin")
  r2 <- matrix(readBin(paste0(out, ".ld.bin"), "double", 150^2), 150)
  near <- abs(outer(variants$position, variants$position, "-")) <= 10000 &
    outer(variants$chromosome, variants$chromosome, "==")
  diag(r2) <- ifelse(seq_len(150) %in% 7:8, NaN, 1)
  expected <- rowSums(ifelse(near & !is.nan(r2), r2, 0))
  found <- ld_scores(open_genotypes(stem), 10000, threads = 1)
  expect_equal(found$score[-(7:8)], expected[-(7:8)], tolerance = 1e-9)
  # Its table of pairs in a window
  out <- run_plink("plink1.9", "--bfile", stem, "--r2", "--ld-window-r2", "0", "--ld-window",
                   "99999", "--ld-window-kb", "10")
  pairs <- utils::read.table(paste0(out, ".ld"), header = TRUE)
  expect_identical(nrow(pairs), as.integer(sum(found$n_variants - 1, 2) / 2))
})

test_that("LD scores refuse what they cannot use", {
  set.seed(73)
  calls <- ld_case()
  variants <- ld_variants(80)
  g <- open_genotypes(calls, variants)
  back <- open_genotypes(calls, variants[c(2, 1, 3:80), ])
  expect_refusals(list(
    list(function() ld_scores(back), "not sorted"),
    list(function() ld_scores(open_genotypes(calls)), "position"),
    list(function() ld_scores(g[, c(1, 60, 2)], 5, "variants"), "not sorted", "chromosome 1"),
    list(function() ld_scores(g, -1), "window"),
    list(function() ld_scores(g, memory = 1000), "memory", "80 variants")
  ))
  expect_identical(ld_scores(open_genotypes(calls), 3, "variants", threads = 1)$n_variants[1], 4)
  expect_message(ld_scores(open_genotypes(calls / 1.5, variants, dosages = TRUE), threads = 1),
                 "hard calls")
  variants$chromosome[51:80] <- "X"
  expect_warning(ld_scores(open_genotypes(calls, variants), threads = 1),
                 class = "ancify_chromosome_warning")
})

test_that("components by LD score are quantiles, also of segments and crossed with frequency", {
  set.seed(74)
  calls <- ld_case(80, 100)
  variants <- ld_variants(100)
  g <- open_genotypes(calls, variants)
  scores <- ld_scores(g, 20000, threads = 1)
  score <- scores$score
  quarter <- function(score) {
    as.integer(cut(score, stats::quantile(score, 0:4 / 4, na.rm = TRUE), include.lowest = TRUE))
  }
  of_variants <- function(components, names = components$names) {
    table <- as.data.frame(components_on(components, g))
    as.integer(factor(table$component, names))[match(g$variants$id, table$variant)]
  }
  found <- components_by_ld(g, scores = scores)
  expect_identical(of_variants(found), quarter(score))
  expect_output(print(found), "4 components.*25 variants.*left out +2")
  expect_identical(of_variants(components_by_ld(g[, 100:1], scores = scores)), quarter(score))
  expect_identical(of_variants(components_by_ld(g, scores = scores, corrected = TRUE)),
                   quarter(scores$corrected))
  expect_identical(of_variants(components_by_ld(g, c(0, 3, 1000), scores)), 1L + (score > 3))
  # Segments: the mean over both tiles of 30,000 bases
  mean_near <- function(j, shift) {
    tile <- (variants$position - 1 + shift) %/% 30000
    mean(score[tile == tile[j] & variants$chromosome == variants$chromosome[j]], na.rm = TRUE)
  }
  of_segments <- vapply(seq_len(100), function(j) mean(c(mean_near(j, 0), mean_near(j, 15000))), 0)
  of_segments[is.na(score)] <- NA
  expect_identical(of_variants(components_by_ld(g, scores = scores, segment = 30000)),
                   quarter(of_segments))
  # Crossed
  frequency <- unname(colMeans(calls, na.rm = TRUE)) / 2
  minor <- pmin(frequency, 1 - frequency)
  crossed <- components_by_ld(g, 2, scores, frequency = c(0, 0.2, 0.5))
  half <- as.integer(cut(score, stats::quantile(score, 0:2 / 2, na.rm = TRUE),
                         include.lowest = TRUE))
  expect_identical(of_variants(crossed), 2L * (half - 1L) + 1L + (minor > 0.2))
  expect_match(crossed$names[4], "^LD .* MAF [(]0[.]2,0[.]5[]]$")
  expect_message(
    rare <- components_by_ld(g, 2, scores, frequency = c(0, 1e-9, 0.5)),
    "Without a variant, and left out: 2 of 4 components"
  )
  expect_identical(of_variants(rare), half)
})

test_that("components by LD score and derived frequency divide uncertain variants", {
  set.seed(75)
  calls <- ld_case(80, 60, missing = 0)
  g <- open_genotypes(calls, ld_variants(60))
  scores <- ld_scores(g, 20000, threads = 1)
  p <- sample(c(0, 0.3, 1), 60, replace = TRUE)
  posterior <- data.frame(A = p, C = 1 - p, G = 0, T = 0)
  found <- components_by_ld(g, 2, scores, frequency = c(0, 0.5, 1), ancestral = posterior)
  expect_true(found$alternatives)
  table <- as.data.frame(found)
  of_variants <- function(values) c(tapply(values, table$variant, sum))[colnames(calls)[-(7:8)]]
  expect_equal(unname(of_variants(table$weight)), rep(1, 58))
  frequency <- colMeans(calls) / 2
  # A is the counted allele.
  of_high <- (1 - p) * (frequency > 0.5) + p * (1 - frequency > 0.5)
  high <- of_variants(table$weight * grepl("DAF (0.5,1]", table$component, fixed = TRUE))
  expect_equal(unname(high), unname(of_high[-(7:8)]))
  expect_refusals(list(
    list(function() components_by_ld(g, scores = scores, ancestral = posterior), "frequency"),
    list(function() components_by_ld(g, scores = scores[-1, ]), "lacks 1 variant"),
    list(function() components_by_ld(g, scores = 1), "ld_scores"),
    list(function() components_by_ld(g, 2.5, scores), "breaks"),
    list(function() ld_scores(g[, 2:1]), "`g` is not sorted"),
    list(function() components_by_ld(g, c(3, 1), scores), "breaks"),
    list(function() components_by_ld(g, c(1e8, 1e9), scores), "No variant of `g` is in a bin"),
    list(function() components_by_ld(g, 4, ld_scores(g, 0, threads = 1)), "LD score 1")
  ))
})
