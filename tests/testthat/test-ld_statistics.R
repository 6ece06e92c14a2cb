# A VCF of populations with phased genotypes at 40 sites, and their statistics by moments.
moments_vcf <- test_path("fixtures", "moments_ld.vcf")
moments_bins <- c(0, 2.001e-6, 1.0011e-5, 3.0011e-5)
moments_map <- data.frame(
  chromosome = "22", position = c(0, 2000, 5000), centimorgans = c(0, 0.001, 0.01)
)
samples <- strsplit(readLines(moments_vcf, 4)[4], "\t")[[1]][-(1:9)]
populations <- stats::setNames(substr(samples, 1, 3), samples)

measure <- function(..., x = moments_vcf, map = moments_map, bins = moments_bins, threads = 1) {
  ld_statistics(x, populations, map, bins, ..., threads = threads)
}

# Genotypes of `sites` at random positions of two chromosomes, with neighbours alike.
random_calls <- function(samples, sites, seed, missing = 0.05) {
  set.seed(seed)
  calls <- matrix(stats::rbinom(samples * sites, 2, 0.4), samples)
  like <- stats::runif(sites) < 0.5
  calls[, which(like[-1]) + 1] <- calls[, which(like[-1])]
  calls[stats::runif(length(calls)) < missing] <- NA
  rownames(calls) <- paste0("s", seq_len(samples))
  calls
}

places <- function(sites) {
  half <- sites / 2
  data.frame(chromosome = rep(c("1", "2"), each = half), position = rep(1000 * seq_len(half), 2))
}

test_that("sums are those of moments, of genotypes and of haplotypes", {
  rows <- utils::read.csv(test_path("fixtures", "moments_ld.csv"))
  # moments takes a missing genotype for one of two REF alleles, but leaves out missing haplotypes.
  as_moments <- withr::local_tempfile(fileext = ".vcf")
  writeLines(gsub(".|.", "0|0", readLines(moments_vcf), fixed = TRUE), as_moments)
  for (phased in c(FALSE, TRUE)) {
    x <- measure(phased = phased, x = if (phased) moments_vcf else as_moments)
    wanted <- rows[rows$phased == if (phased) "True" else "False", ]
    sums <- x$values * x$pairs
    for (bin in 1:3) {
      # Of haplotypes, moments takes one population's right site here, without the mean of both.
      compared <- !(phased & colnames(sums) %in% c("pi2.YRI.YRI.YRI.CEU", "pi2.YRI.CEU.CEU.CEU"))
      ours <- unname(sums[bin, compared])
      expect_equal(ours, wanted$sum[wanted$bin == bin][compared], tolerance = 1e-10)
    }
    numbers <- c("0" = "YRI", "1" = "CEU")
    names <- strsplit(wanted$statistic[wanted$bin == 1], "_")
    names <- vapply(names, function(n) paste(c(n[1], numbers[n[-1]]), collapse = "."), "")
    expect_identical(colnames(x$values), names)
    h <- unname(measure(phased = phased)$heterozygosity) * x$sites
    expect_equal(h, wanted$sum[wanted$bin == 4], tolerance = 1e-10)
  }
})

test_that("values are means over all choices of different units", {
  calls <- random_calls(12, 4, 1, 0)
  groups <- stats::setNames(rep(c("A", "B"), each = 6), rownames(calls))
  calls[c(1, 7), 2] <- NA
  g <- open_genotypes(calls, data.frame(chromosome = "1", position = c(10, 20, 40, 80)))
  x <- ld_statistics(g, groups, 1e-3, c(0, 0.015, 0.025, 0.05), threads = 1)
  for (bin in 1:2) {
    pair <- list(1:2, 2:3)[[bin]]
    wanted <- oracle_pair(calls[, pair[1]], calls[, pair[2]], groups, c("A", "B"), 2)
    expect_equal(x$values[bin, ], wanted)
  }
  expect_identical(unname(x$pairs), c(1, 1, 2))
})

# Values of single pairs, each of a chromosome of its own. `first`, `second`: units x pairs.
values_of_pairs <- function(first, second) {
  n <- ncol(first)
  calls <- matrix(rbind(first, second), nrow(first))
  rownames(calls) <- paste0("s", seq_len(nrow(calls)))
  g <- open_genotypes(
    calls, data.frame(chromosome = rep(seq_len(n), each = 2), position = rep(c(1, 11), n))
  )
  x <- ld_statistics(g, NULL, 1e-8, c(0, 1e-3), blocks = 1000, threads = 1)
  # Blocks of chromosomes with a site that varies, in order
  varies <- colSums(abs(sweep(calls, 2, calls[1, ]))) > 0 | calls[1, ] == 1
  known <- unique(rep(seq_len(n), each = 2)[varies])
  values <- matrix(0, n, 3)
  values[known, ] <- matrix(x$blocks$sums, ncol = 3)
  values
}

test_that("estimates are unbiased: their mean over all samples is the population's value", {
  # Two-locus genotypes under random mating of haplotypes 00, 01, 10 and 11
  shares <- c(0.4, 0.1, 0.2, 0.3)
  haplotypes <- expand.grid(first = 1:4, second = 1:4)
  chance <- shares[haplotypes$first] * shares[haplotypes$second]
  left <- c(0, 0, 1, 1)[haplotypes$first] + c(0, 0, 1, 1)[haplotypes$second]
  right <- c(0, 1, 0, 1)[haplotypes$first] + c(0, 1, 0, 1)[haplotypes$second]
  chances <- as.vector(tapply(chance, 3 * left + right, sum))
  expect_length(chances, 9)
  kinds <- 0:8
  # Samples of four genotypes, without regard to their order
  samples <- as.matrix(expand.grid(kinds, kinds, kinds, kinds))
  samples <- samples[apply(samples, 1, function(s) !is.unsorted(s)), ]
  counts <- t(apply(samples + 1, 1, tabulate, nbins = 9))
  chance_of_sample <- apply(counts, 1, stats::dmultinom, prob = chances)
  expect_equal(sum(chance_of_sample), 1)
  values <- values_of_pairs(t(samples %/% 3), t(samples %% 3))
  d <- shares[4] * shares[1] - shares[2] * shares[3]
  p <- shares[3] + shares[4]
  q <- shares[2] + shares[4]
  wanted <- c(d^2, d * (1 - 2 * p) * (1 - 2 * q), p * (1 - p) * q * (1 - q))
  expect_equal(colSums(values * chance_of_sample), wanted)
})

test_that("VCF, opened VCF, threads and instructions give the same", {
  x <- measure()
  g <- open_genotypes(moments_vcf)
  same <- c("values", "heterozygosity", "pairs", "sites", "blocks")
  expect_identical(unclass(measure(x = g))[same], unclass(x)[same])
  calls <- random_calls(40, 600, 2)
  g <- open_genotypes(calls, places(600))
  groups <- stats::setNames(rep(c("A", "B"), each = 20), rownames(calls))
  of <- function(threads) {
    ld_statistics(g, groups, 1e-8, c(0, 1e-5, 1e-4, 1e-3), blocks = 1e5, threads = threads)
  }
  one <- of(1)
  expect_identical(of(3), one)
  withr::local_options(ancify.simd = "scalar")
  expect_identical(of(1), one)
})

test_that("the alleles' order does not matter", {
  calls <- random_calls(12, 20, 3)
  other <- calls
  other[, c(2, 5, 7)] <- 2 - other[, c(2, 5, 7)]
  of <- function(calls) {
    ld_statistics(open_genotypes(calls, places(20)), NULL, 1e-8, c(0, 1e-4), threads = 1)
  }
  expect_equal(of(calls)$values, of(other)$values)
})

test_that("populations are chosen as if they alone were measured", {
  both <- measure()
  one <- ld_statistics(
    moments_vcf, populations[populations == "CEU"], moments_map, moments_bins, subset = TRUE,
    threads = 1
  )
  # Sites that are fixed in CEU add pairs, but nothing to the sums.
  expect_equal(both["CEU"]$values * both$pairs, one$values * one$pairs)
  turned <- both[c("CEU", "YRI")]
  expect_identical(colnames(turned$values), ld_statistics_names(c("CEU", "YRI")))
  direct <- ld_statistics(
    moments_vcf, rev(populations), moments_map, moments_bins, threads = 1
  )
  expect_equal(turned$values, direct$values)
  expect_equal(turned$heterozygosity, direct$heterozygosity)
  expect_equal(dimnames(turned$blocks$sums)[[3]], colnames(turned$values))
  expect_error(both["MKK"], class = "ancify_input_error")
})

test_that("ratios are to pi2 of the reference", {
  x <- measure(length = 4000)
  ratios <- normalise(x, "CEU")
  expect_equal(ratios$values[, "pi2.CEU.CEU.CEU.CEU"], c(1, 1, 1), ignore_attr = TRUE)
  expect_equal(
    ratios$values[, "DD.YRI.YRI"], x$values[, "DD.YRI.YRI"] / x$values[, "pi2.CEU.CEU.CEU.CEU"]
  )
  expect_identical(ratios$heterozygosity[["H.CEU.CEU"]], 1)
  expect_error(normalise(ratios), "already", class = "ancify_input_error")
  expect_error(normalise(x, "MKK"), class = "ancify_input_error")
  expect_error(normalise(1), class = "ancify_input_error")
})

test_that("covariances are the jackknife's, and chromosomes can be put together", {
  calls <- random_calls(12, 120, 4)
  variants <- places(120)
  of <- function(keep) {
    ld_statistics(
      open_genotypes(calls[, keep], variants[keep, ]), NULL, 1e-8, c(0, 2e-5, 1e-4),
      blocks = 20000, threads = 1
    )
  }
  whole <- of(1:120)
  together <- c(of(1:60), of(61:120))
  same <- c("values", "pairs", "blocks", "heterozygosity", "sites", "records")
  expect_equal(unclass(together)[same], unclass(whole)[same])
  ratios <- normalise(whole)
  n <- nrow(whole$blocks$pairs)
  expect_identical(n, 6L)
  left <- vapply(seq_len(n), function(b) {
    sums <- colSums(whole$blocks$sums[-b, , ])
    sums[, "DD.all.all"] / sums[, "pi2.all.all.all.all"]
  }, numeric(2))
  wanted <- rowSums((left - rowMeans(left))^2) * (n - 1) / n
  v <- vcov(ratios)
  expect_equal(unname(diag(v)[c("DD.all.all[1]", "DD.all.all[2]")]), unname(wanted))
  expect_identical(dim(v), c(7L, 7L))
  table <- as.data.frame(ratios)
  expect_identical(nrow(table), 6L)
  expect_equal(table$std_error[1:2], unname(sqrt(wanted)))
  expect_error(c(ratios, ratios), class = "ancify_input_error")
  expect_error(vcov(measure()), "blocks", class = "ancify_input_error")
})

test_that("objects are printed and drawn", {
  x <- measure(blocks = 1000)
  expect_output(print(x), "<ld_statistics> 2 populations, 3 bins")
  expect_output(print(normalise(x)), "ratios to YRI")
  expect_output(print(summary(x)), "DD.YRI.CEU")
  skip_if_not_installed("ggplot2")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  model <- new_ld_statistics(
    x$values * 2, x$bins, x$populations, x$heterozygosity, source = "a model"
  )
  picture <- plot(x, model = model)
  expect_identical(nrow(ggplot2::layer_data(picture, 3)), 9L)
  expect_error(plot(x, model = model["CEU"]), class = "ancify_input_error")
  expect_error(plot(x, statistics = "LD"), class = "ancify_input_error")
})

test_that("maps are interpolated, and sites outside are left out", {
  x <- measure(map = transform(moments_map, position = c(200, 2000, 3000)))
  off <- x$records$records[x$records$reason == "OFF_MAP"]
  expect_gt(off, 0)
  expect_identical(sum(x$records$records), 40)
  rate <- measure(map = 5e-9)
  table <- measure(map = data.frame(
    chromosome = "chr22", position = c(0, 5000), centimorgans = c(0, 5000 * 5e-7)
  ))
  expect_equal(rate$values, table$values)
  file <- withr::local_tempfile()
  writeLines(c("22 a 0 10", "22 b 0.5 9"), file)
  error <- expect_error(read_recombination_map(file), class = "ancify_format_error")
  expect_identical(error$line, 2)
  expect_match(conditionMessage(error), "position 9 comes after 10")
  writeLines(c("Chromosome Position(bp) Rate(cM/Mb) Map(cM)", "22 10 0 0", "22 20 1 0.5"), file)
  expect_identical(
    read_recombination_map(file),
    data.frame(chromosome = "22", position = c(10, 20), centimorgans = c(0, 0.5))
  )
})

test_that("wrong input is refused", {
  refused <- function(code, text, class = "ancify_input_error") {
    expect_error(code, text, class = class)
  }
  refused(measure(map = transform(moments_map, chromosome = "21")), "no chromosome '22'")
  refused(measure(map = moments_map[3:1, ]), "Row 2 of `map` goes back")
  refused(measure(map = 2), "recombination rate per base")
  refused(measure(map = moments_map[1]), "columns")
  refused(measure(bins = c(1e-5, 1e-6)), "increasing")
  refused(measure(bins = c(1, 2)), "no pair of sites")
  refused(ld_statistics(moments_vcf, c(nobody = "YRI"), 1e-8), "no sample 'nobody'")
  refused(
    ld_statistics(moments_vcf, populations[c(1:3, 9:14)], 1e-8, subset = TRUE), "has 3 samples"
  )
  refused(measure(x = open_genotypes(moments_vcf), phased = TRUE), "have no phase")
  lines <- readLines(moments_vcf)
  vcf <- withr::local_tempfile(fileext = ".vcf")
  writeLines(sub("0|1", "0/1", lines, fixed = TRUE), vcf)
  refused(measure(x = vcf, phased = TRUE), "phase is not known", "ancify_format_error")
  expect_identical(measure(x = vcf)$values, measure()$values)
  writeLines(lines[c(1:4, 44:5)], vcf)
  refused(measure(x = vcf), "sort the file", "ancify_format_error")
  writeLines(sub("0|1", "1", lines, fixed = TRUE), vcf)
  refused(measure(x = vcf), "has one allele", "ancify_format_error")
  expect_s3_class(measure(x = vcf, phased = TRUE), "ld_statistics")
  writeLines(c(lines[1:4], gsub("[01.][|][01.]", "0|0", lines[-(1:4)])), vcf)
  refused(measure(x = vcf), "40 FIXED")
  calls <- random_calls(8, 4, 5)
  variants <- data.frame(chromosome = "1", position = c(10, 5, 20, 30))
  refused(ld_statistics(open_genotypes(calls, variants), NULL, 1e-8), "not sorted")
  refused(ld_statistics(open_genotypes(calls), NULL, 1e-8), "no position")
})
