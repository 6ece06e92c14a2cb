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
  ratios <- ld_ratios(x, "CEU")
  expect_equal(ratios$values[, "pi2.CEU.CEU.CEU.CEU"], c(1, 1, 1), ignore_attr = TRUE)
  expect_equal(
    ratios$values[, "DD.YRI.YRI"], x$values[, "DD.YRI.YRI"] / x$values[, "pi2.CEU.CEU.CEU.CEU"]
  )
  expect_identical(ratios$heterozygosity[["H.CEU.CEU"]], 1)
  expect_error(ld_ratios(ratios), "already", class = "ancify_input_error")
  expect_error(ld_ratios(x, "MKK"), class = "ancify_input_error")
  expect_error(ld_ratios(1), class = "ancify_input_error")
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
  ratios <- ld_ratios(whole)
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
  expect_output(print(ld_ratios(x)), "ratios to YRI")
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

test_that("covariances of heterozygosity are those of unequal blocks", {
  set.seed(4)
  position <- sort(sample(5.5e6, 550))
  calls <- matrix(rbinom(550 * 20, 2, 0.4), 20, dimnames = list(paste0("s", 1:20), NULL))
  g <- open_genotypes(calls, data.frame(chromosome = "1", position = position))
  measured <- function(...) {
    ld_statistics(g, map = 1e-8, bins = c(0, 0.001, 0.01), blocks = 1e6, threads = 1, ...)
  }
  jackknife <- function(sums, weights) {
    left <- vapply(seq_along(sums), function(b) sum(sums[-b]) / sum(weights[-b]), 0)
    k <- length(sums)
    (k - 1) / k * sum((left - mean(left))^2)
  }
  x <- measured()
  sums <- x$blocks$heterozygosity[, 1]
  sites <- tabulate((position - 1) %/% 1e6 + 1)
  expect_identical(x$blocks$sites, sites)
  expect_equal(vcov(x)["H.all.all", "H.all.all"], jackknife(sums, sites))
  x <- measured(length = 4e6)
  bases <- c(1e6 - min(position) + 1, rep(1e6, 4), max(position) - 5e6)
  expect_equal(x$blocks$bases, bases)
  expect_equal(vcov(x)["H.all.all", "H.all.all"], jackknife(sums, bases * 4e6 / sum(bases)))
  both <- c(x, x)
  expect_length(both$blocks$sites, 12)
  expect_equal(vcov(both)["H.all.all", "H.all.all"],
               jackknife(rep(sums, 2), rep(bases * 4e6 / sum(bases), 2)))
})

test_that("chromosomes count by their lengths where each is a block", {
  set.seed(5)
  part <- function(sites, length, blocks = NULL) {
    calls <- matrix(rbinom(20 * sites, 2, 0.4), 20, dimnames = list(paste0("s", 1:20), NULL))
    position <- sort(sample(min(length, 1e6), sites))
    ld_statistics(open_genotypes(calls, data.frame(chromosome = "1", position)), map = 1e-8,
                  bins = c(0, 1e-4, 1e-3), threads = 1, length = length, blocks = blocks)
  }
  lengths <- c(9e5, 3e5, 1e5)
  parts <- Map(part, c(900, 300, 100), lengths)
  sums <- vapply(parts, `[[`, 0, "heterozygosity") * lengths
  left <- vapply(1:3, function(k) sum(sums[-k]) / sum(lengths[-k]), 0)
  expected <- 2 / 3 * sum((left - mean(left))^2)
  both <- list(do.call(c, parts), c(c(parts[[1]], parts[[2]]), parts[[3]]))
  for (x in both) {
    expect_equal(x$blocks$bases, lengths)
    expect_equal(vcov(x)[["H.all.all", "H.all.all"]], expected)
  }
  # Parts whose blocks span other shares of their lengths
  x <- c(part(900, 4e5, 1e5), parts[[2]])
  expect_equal(sum(x$blocks$bases), 7e5)
  expect_equal(x$blocks$bases[length(x$blocks$bases)], 3e5)
})

test_that("blocks begin at the first site of a chromosome and end at the last", {
  calls <- random_calls(12, 60, 6)
  from <- c(5050000, 350)
  variants <- data.frame(chromosome = rep(c("1", "2"), each = 30),
                         position = rep(from, each = 30) + 10000 * (0:29))
  x <- ld_statistics(open_genotypes(calls, variants), map = 1e-8, bins = c(0, 1e-3), blocks = 1e5,
                     threads = 1)
  expect_equal(x$blocks$bases, c(50001, 1e5, 1e5, 40000, 99651, 1e5, 90350))
  # All in one block
  x <- ld_statistics(open_genotypes(calls, variants), map = 1e-8, bins = c(0, 1e-3), blocks = 1e8,
                     threads = 1)
  expect_equal(x$blocks$bases, rep(290001, 2))
})

test_that("bins have pairs at their lower limits, in spite of rounding", {
  calls <- random_calls(20, 101, 7, 0)
  bins <- c(0, 1, 2, 5, 10, 20, 50)
  apart <- outer(1:101, 1:101, function(i, j) j - i)
  expected <- tabulate(findInterval(apart[apart > 0], bins), 7)[1:6]
  pairs <- function(position, map, unit) {
    g <- open_genotypes(calls, data.frame(chromosome = "1", position = position))
    unname(ld_statistics(g, map = map, bins = bins * unit, threads = 1)$pairs)
  }
  for (rate in c(1e-8, 1.3e-8, 1e-10)) {
    expect_equal(pairs(1000 * 1:101, rate, 1000 * rate), expected)
    expect_equal(pairs(2e8 + 1000 * 1:101, rate, 1000 * rate), expected)
    ends <- c(1, 2.5e8)
    map <- data.frame(chromosome = "1", position = ends, centimorgans = 100 * rate * ends)
    expect_equal(pairs(7e7 + 1000 * 1:101, map, 1000 * rate), expected)
    # A base less is a bin less.
    shorter <- tabulate(findInterval(999 * apart[apart > 0], 1000 * bins), 7)[1:6]
    expect_equal(pairs(2e8 + 999 * 1:101, rate, 1000 * rate), shorter)
  }
})

test_that("records with one base as REF and ALT are no SNPs", {
  lines <- readLines(moments_vcf)
  same <- function(line, alt) sub("^((\\S+\t){4})\\S+", paste0("\\1", alt), line)
  ref <- strsplit(lines[10], "\t")[[1]][4]
  vcf <- withr::local_tempfile(fileext = ".vcf")
  for (alt in c(ref, tolower(ref))) {
    writeLines(replace(lines, 10, same(lines[10], alt)), vcf)
    x <- measure(x = vcf)
    expect_identical(x$records$records[x$records$reason == "NOT_SNP"], 1)
    writeLines(lines[-10], vcf)
    expect_identical(x$values, measure(x = vcf)$values)
  }
})

test_that("X, Y and MT are told, of genotypes and of records", {
  calls <- random_calls(12, 40, 3)
  measured <- function(names, chosen = 1:40) {
    variants <- replace(places(40), "chromosome", list(rep(names, each = 20)))
    g <- open_genotypes(calls, variants)[, chosen]
    ld_statistics(g, NULL, 1e-8, c(0, 1e-4), threads = 1)
  }
  for (name in c("X", "23", "chrX", "24", "MT")) {
    expect_warning(measured(c("1", name)), "chromosome (X|Y|MT) are paired as autosomes",
                   class = "ancify_chromosome_warning")
    expect_no_warning(measured(c("1", name), 1:20))
  }
  # Beyond 26 they are the species' own numbers, also where these are not chosen.
  for (names in list(c("1", "2"), c("1", "25"), c("23", "29"))) {
    expect_no_warning(measured(names, 1:20))
  }
  vcf <- withr::local_tempfile(fileext = ".vcf")
  writeLines(sub("^(##contig=<ID=)?22\\b", "\\1chrX", readLines(moments_vcf)), vcf)
  on_x <- replace(moments_map, "chromosome", list("chrX"))
  expect_warning(x <- measure(x = vcf, map = on_x), "chromosome X are paired",
                 class = "ancify_chromosome_warning")
  expect_identical(x$values, measure()$values)
})

test_that("split ALT alleles are no pair of sites", {
  set.seed(11)
  records <- vapply(1:30, function(j) {
    alts <- 1 + (j %% 5 == 0)
    draw <- function() sample(0:alts, 12, replace = TRUE)
    paste(c(1, 100 * j, paste0("v", j), "A", c("C", "C,G")[alts], ".", ".", ".", "GT",
            paste(draw(), draw(), sep = "/")), collapse = "\t")
  }, "")
  vcf <- vcf_file(records, paste0("s", 1:12))
  of <- function(x) ld_statistics(x, map = 1e-8, bins = c(0, 1e-5, 1e-4), threads = 1)
  g <- open_genotypes(vcf)
  expect_identical(ncol(g), 36L)
  expect_equal(of(g)$values, of(vcf)$values, tolerance = 1e-12)
  expect_identical(of(g)$records, of(vcf)$records)
})
