# Histories fitted to joint counts of outgroup patterns and allele counts.

grown <- coalescent_history(
  c(a = 40000, b = 90000), c(25000, 35000), c(50000, 8000), focal_times = 3000,
  model = list(rates = c(1, 4, 1, 1, 4, 1))
)
bases <- c("A", "C", "G", "T")
no_watch <- function(...) NULL

samples_of <- function(history, n) sample_probabilities(history, n, no_watch)

# Every kind of site with its expected number: list(patterns =, variants =).
expected_sites <- function(history, n, sites, called = 1) {
  outgroups <- do.call(paste0, do.call(expand.grid, rep(list(bases), 2)))
  codes <- pattern_codes(pattern_states(outgroups, 2)) + 1
  samples <- samples_of(history, n)[codes, , , ]
  one <- pattern_probabilities_impl(core_history(history), core_mutation_model(history), no_watch)
  one <- matrix(one, ncol = 5)[codes, 1:4]
  kinds <- expand.grid(pattern = seq_along(codes), first = 1:4, second = 1:4, counts = 1:(n - 1))
  kinds <- kinds[kinds$first != kinds$second, ]
  either <- samples[as.matrix(kinds)] +
    samples[cbind(kinds$pattern, kinds$second, kinds$first, n - kinds$counts)]
  list(
    patterns = data.frame(
      pattern = paste0(outgroups, rep(bases, each = length(codes))), count = sites * as.vector(one)
    ),
    # The focal haplotype has the first allele.
    variants = data.frame(
      pattern = outgroups[kinds$pattern],
      alleles = paste(bases[kinds$first], bases[kinds$second], sep = "/"), counts = kinds$counts,
      n = n, sites = sites * called * either * (n - kinds$counts) / n
    )
  )
}

test_that("joint probabilities are those of gene trees", {
  set.seed(5)
  n <- 4
  jukes <- coalescent_history(c(12000, 40000), 30000, c(30000, 6000), focal_times = 2000)
  trees <- lapply(1:1500, function(i) simulated_tree(n, jukes))
  samples <- samples_of(jukes, n)
  for (pattern in c("AA", "GA", "NG")) {
    expected <- oracle_tree_counts(trees, n, pattern, c("A", "G"), jukes$mutation_rate)
    code <- pattern_codes(pattern_states(pattern, 2)) + 1
    found <- cbind(samples[code, 1, 3, ], samples[code, 3, 1, ])
    # The oracle's mutation makes each of three bases.
    ratio <- 3 * found / expected
    expect_lt(max(abs(ratio - 1)), 0.2)
    expect_lt(abs(mean(ratio) - 1), 0.05)
  }
})

# Expected times with l lineages by small steps, in a population whose size changes.
plain_times <- function(n, sizes, times, end, steps = 20000) {
  chance <- c(numeric(n - 1), 1)
  total <- numeric(n)
  step <- end / steps
  rates <- seq_len(n) * (seq_len(n) - 1) / 2
  for (i in seq_len(steps)) {
    size <- sizes[findInterval((i - 0.5) * step, times) + 1]
    half <- chance + (c((rates * chance)[-1], 0) - rates * chance) * step / (4 * size)
    chance <- chance + (c((rates * half)[-1], 0) - rates * half) * step / (2 * size)
    total <- total + half * step
  }
  total
}

test_that("focal sizes that change give the spectrum of a plain death process", {
  n <- 6
  # Hardly any lineages reach the split.
  old <- coalescent_history(c(a = 4e5), 20000, c(20000, 3000, 15000), focal_times = c(2000, 5000))
  times <- plain_times(n, old$focal_size, old$focal_times, 4e5)
  l <- 2:n
  expected <- vapply(1:(n - 1), function(k) {
    sum(l * choose(n - k - 1, l - 2) / choose(n - 1, l - 1) * times[l])
  }, 0)
  # All patterns are those of missing bases; a mutation has each of three bases.
  found <- apply(samples_of(old, n)[5, , , ], 3, sum)
  expect_equal(found, old$mutation_rate * expected, tolerance = 2e-3)
  # One size in two parts is one size.
  parts <- coalescent_history(c(a = 30000), 20000, c(20000, 20000), focal_times = 7000)
  whole <- coalescent_history(c(a = 30000), 20000, 20000)
  expect_equal(samples_of(parts, n), samples_of(whole, n), tolerance = 1e-9)
})

test_that("samples are projected as their means over smaller samples", {
  variants <- data.frame(
    code = 7, first = 0, second = 2, copies = c(2, 5), n = c(6, 5), count = 3:4
  )
  found <- subsampled_sites(variants, 3)
  expect_equal(sum(found$count), 7)
  mean_over <- function(copies, n) {
    drawn <- utils::combn(rep(1:0, c(copies, n - copies)), 3, sum)
    tabulate(drawn + 1, 4) / length(drawn)
  }
  expected <- 3 * mean_over(2, 6) + 4 * mean_over(5, 5)
  expect_equal(found$count[match(0:3, found$copies)], expected)
})

test_that("a fit to expected joint counts finds splits, sizes and focal sizes", {
  expected <- expected_sites(grown, 6, 1e13)
  start <- grown
  start$splits <- grown$splits * c(1.2, 0.9)
  start$sizes <- grown$sizes * c(0.7, 1.3)
  start$focal_size <- c(20000, 20000)
  fit <- fit_history(expected$patterns, start, variants = expected$variants)
  expect_true(fit$converged)
  expect_equal(fit$history$splits, grown$splits, tolerance = 2e-3)
  expect_equal(fit$history$sizes, grown$sizes, tolerance = 2e-3)
  expect_equal(fit$history$focal_size, grown$focal_size, tolerance = 2e-3)
  expect_equal(fit$history$focal_times, grown$focal_times, tolerance = 2e-3)
  expect_identical(
    fit$estimates$parameter,
    c("split a", "split b", "size a", "size b", "focal size 1", "focal size 2", "focal time")
  )
  expect_equal(fit$variants$n, 6)
  expect_output(print(fit), "allele counts of .* variants\\s+in 6 focal haplotypes; 100 % of them")
  expect_equal(fit$variants$copies$copies, 1:3)
  expect_equal(fit$variants$copies$expected, fit$variants$copies$sites, tolerance = 1e-3)
  expect_lt(copies_amiss(fit$variants$copies), 1e-3)
  wrong <- suppressWarnings(
    fit_history(expected$patterns, start, variants = expected$variants, focal_sizes = 1),
    classes = "ancify_fit_warning"
  )
  expect_gt(copies_amiss(wrong$variants$copies), 0.02)
  expect_lt(wrong$log_likelihood, fit$log_likelihood)
  expect_output(print(fit), ", 8,000 from 3,000 generations on")
})

test_that("without several focal sizes a search begins with three equal ones", {
  one <- coalescent_history(c(a = 40000, b = 90000), 25000, 10000)
  begun <- with_focal_sizes(one, number_of_focal_sizes(NULL, one))
  expect_equal(begun$focal_size, rep(10000, 3))
  expect_equal(begun$focal_times, 20000 * c(0.09, 0.3))
  expect_identical(with_focal_sizes(grown, number_of_focal_sizes(NULL, grown)), grown)
  expect_identical(with_focal_sizes(grown, 1)$focal_times, numeric())
})

test_that("the share of known variants is taken into account, or found", {
  true <- coalescent_history(c(a = 40000, b = 90000), c(25000, 35000), 12000)
  expected <- expected_sites(true, 6, 1e13, called = 0.8)
  size <- function(called) {
    fit <- fit_history(
      expected$patterns, true, variants = expected$variants, called = called, focal_sizes = 1
    )
    c(fit$history$focal_size, fit$variants$called)
  }
  expect_equal(size(0.8), c(12000, 0.8), tolerance = 2e-3)
  expect_equal(size(NULL), c(12000, 0.8), tolerance = 1e-2)
  expect_lt(size(1)[1], 10500)
})

# Chromosomes with Poisson numbers of each kind of site, each site `times` times.
drawn_sites <- function(expected, chromosomes, times = 1) {
  set.seed(3)
  variants <- expected$variants
  positions <- paste0(variants$pattern, substr(variants$alleles, 1, 1))
  with_variants <- function(sites) {
    c(rowsum(sites, positions)[match(expected$patterns$pattern, sort(unique(positions))), 1])
  }
  rest <- expected$patterns$count - with_variants(variants$sites)
  draw <- function(mean) times * rpois(length(mean), mean / chromosomes)
  each <- lapply(paste0("chr", seq_len(chromosomes)), function(name) {
    sites <- draw(variants$sites)
    list(
      patterns = data.frame(
        chromosome = name, pattern = expected$patterns$pattern,
        count = draw(rest) + with_variants(sites)
      ),
      variants = data.frame(chromosome = name, variants[names(variants) != "sites"], sites = sites)
    )
  })
  lapply(c(patterns = "patterns", variants = "variants"), function(name) {
    do.call(rbind, lapply(each, `[[`, name))
  })
}

test_that("standard errors from chromosomes know that sites are not independent", {
  true <- coalescent_history(c(a = 40000, b = 90000), c(25000, 35000), 12000)
  expected <- expected_sites(true, 4, 2e8)
  fits <- lapply(c(1, 10), function(times) {
    drawn <- drawn_sites(expected, 12, times)
    fit <- function(variants) {
      fit_history(drawn$patterns, true, variants = variants, focal_sizes = 1)
    }
    unnamed <- drawn$variants[names(drawn$variants) != "chromosome"]
    list(drawn = drawn, blocks = fit(drawn$variants), independent = fit(unnamed))
  })
  errors <- lapply(fits, function(fit) {
    expect_equal(c(fit$blocks$blocks, fit$independent$blocks), c(12, 0))
    expect_equal(coef(fit$blocks), coef(fit$independent))
    cbind(fit$blocks$estimates$std_error, fit$independent$estimates$std_error)
  })
  ratios <- errors[[1]][, 1] / errors[[1]][, 2]
  expect_true(all(ratios > 0.5 & ratios < 1.7), info = ratios)
  expect_equal(errors[[2]][, 1], errors[[1]][, 1], tolerance = 0.02)
  expect_equal(errors[[2]][, 2], errors[[1]][, 2] / sqrt(10), tolerance = 0.02)
  expect_output(print(fits[[1]]$blocks), "errors +from the differences between 12 chromosomes")
  expect_output(print(fits[[1]]$independent), "errors +for independent sites")

  # Fewer chromosomes, and patterns alone
  drawn <- fits[[1]]$drawn
  few <- drawn$patterns$chromosome %in% paste0("chr", 1:9)
  expect_null(chromosome_blocks(drawn$patterns[few, ], NULL))
  expect_null(chromosome_blocks(drawn$patterns[few, ], drawn$variants))
  quietly <- function(...) {
    suppressWarnings(fit_history(..., focal = "focal"), classes = "ancify_fit_warning")
  }
  species <- c("a", "b", "focal")
  named <- quietly(drawn$patterns, true, species)
  unnamed <- quietly(drawn$patterns[c("pattern", "count")], true, species)
  expect_equal(c(named$blocks, unnamed$blocks), c(12, 0))
  expect_equal(coef(named), coef(unnamed))
  ratios <- named$estimates$std_error / unnamed$estimates$std_error
  expect_true(all(ratios > 0.5 & ratios < 1.7), info = ratios)
})

test_that("a fit says how sure posteriors at variants are, and how far they may be off", {
  true <- coalescent_history(c(a = 40000, b = 90000), c(25000, 35000), 12000)
  drawn <- drawn_sites(expected_sites(true, 4, 2e7), 12)
  fit <- fit_history(drawn$patterns, true, variants = drawn$variants, focal_sizes = 1)
  found <- with(drawn$variants, polarise_sites(pattern, alleles, counts, n, fit$history))
  best <- do.call(pmax, found[bases])
  stated <- stats::weighted.mean(best, drawn$variants$sites)
  expect_equal(fit$variants$confidence[["stated"]], stated, tolerance = 1e-8)
  expect_output(print(fit), "posteriors at the variants\\s+are [0-9.]+ % on\\s+average")

  # Histories as far from the fitted one as its errors say
  history <- true
  data <- joint_counts(
    total_counts(drawn$patterns), variants_for_history(drawn$variants, history), history
  )
  problem <- history_problem(with_focal_sizes(history, 1), data)
  x <- problem$start
  inner <- list(x = x, information = problem$expansion(x)$information, problem = problem)
  covariance <- history_covariance(inner, NULL) / 100
  confidence <- stated_confidence(inner, data, covariance)
  first <- function(x) {
    both <- allele_probabilities(problem$history(x), data)
    both[, 1] / rowSums(both)
  }
  takes_first <- first(x) >= 0.5
  set.seed(4)
  draws <- replicate(200, {
    at <- first(x + drop(crossprod(chol(covariance), rnorm(length(x)))))
    stats::weighted.mean(ifelse(takes_first, at, 1 - at), data$varying$count)
  })
  expect_equal(sd(draws), confidence[["std_error"]], tolerance = 0.15)
})

test_that("the information of blocks is the plain sum over them", {
  set.seed(6)
  counts <- matrix(rpois(7 * 11, 20), 7)
  slopes <- matrix(rnorm(7 * 2), 7)
  total <- colSums(rowSums(counts) * slopes)
  plain <- matrix(0, 2, 2)
  for (block in seq_len(11)) {
    score <- colSums(counts[, block] * slopes) - total * sum(counts[, block]) / sum(counts)
    plain <- plain + outer(score, score) * 11 / 10
  }
  expect_equal(information_of_blocks(counts, slopes), plain)
})

test_that("variants that cannot be used are errors", {
  expected <- expected_sites(grown, 4, 1e13)
  refused <- function(text, variants = expected$variants, ..., patterns = expected$patterns) {
    expect_ancify_error(fit_history(patterns, grown, variants = variants, ...), "input", text)
  }
  changed <- function(...) {
    variants <- expected$variants
    variants[names(list(...))] <- list(...)
    variants
  }
  refused("count_variants()", list())
  refused("'pattern', 'alleles', 'counts', 'n' and 'sites'", expected$variants[1:3])
  refused("site 1 are \"A/A\"", changed(alleles = "A/A"))
  refused("count of 9 among 4", changed(counts = 9))
  refused("`variants$sites[1]` is -1", changed(sites = -1))
  refused("no site with an outgroup's base", changed(pattern = "NN"))
  refused("no site with an outgroup's base", changed(counts = NA))
  refused("`called` is 2", called = 2)
  refused("`called` must be a number above 0", called = 0)
  refused("`focal_sizes`", focal_sizes = 1.5)
  few <- transform(expected$patterns, count = count / 1e4)
  refused("of the same genome build", patterns = few)
  other <- structure(expected$variants, species = c("a", "z"))
  refused("also needs those of 'b'", other)
})

test_that("times of focal sizes are checked", {
  refused <- function(sizes, times, text) {
    expect_ancify_error(
      coalescent_history(c(5000, 9000), 1e4, sizes, focal_times = times), "input", text
    )
  }
  refused(c(1e4, 2e4), NULL, "`focal_size` has 2 values and `focal_times` 0 values")
  refused(1e4, 300, "`focal_size` has 1 value and `focal_times` 1 value")
  refused(c(1e4, 2e4, 3e4), c(400, 300), "must increase")
  refused(c(1e4, 2e4), 6000, "up to the first split at 5,000")
  refused(c(1e4, 2e4), -1, "`focal_times` must be numbers above 0")
})
