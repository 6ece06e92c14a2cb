# Scans of a genome by spectra of windows.

# ---- Constants -----------------------------------------------------------------------------------

test_that("constants of tests are those of their papers", {
  for (n in c(4, 5, 10, 11, 30)) {
    constants <- test_constants(n)
    a <- sum(1 / seq_len(n - 1))
    b <- sum(1 / seq_len(n - 1)^2)
    expect_equal(constants$a[["all"]], a)
    # The covariances of Fu (1995) add up to Watterson's (1975) variance of S.
    expect_equal(constants$b[["all"]], b)
    s <- 17
    theta <- s / a
    squared <- s * (s - 1) / (a^2 + b)
    variance <- function(test) {
      constants$alpha[[test]] * theta + constants$beta[[test]] * squared
    }
    expect_equal(variance("tajima_d"), tajima_variance(n, s))
    # Fu and Li (1993), with D* as Simonsen and others (1995) give it
    c <- 2 * (n * a - 2 * (n - 1)) / ((n - 1) * (n - 2))
    v <- 1 + a^2 / (b + a^2) * (c - (n + 1) / (n - 1))
    expect_equal(variance("fu_li_d") * a^2, (a - 1 - v) * s + v * s^2)
    d <- c + (n - 2) / (n - 1)^2 + 2 / (n - 1) * (1.5 - (2 * (a + 1 / n) - 3) / (n - 2) - 1 / n)
    v <- ((n / (n - 1))^2 * b + a^2 * d - 2 * n * a * (a + 1) / (n - 1)^2) / (a^2 + b)
    u <- n / (n - 1) * (a - n / (n - 1)) - v
    expect_equal(variance("fu_li_d_star") * (a * n / (n - 1))^2, u * s + v * s^2)
    # Zeng and others (2006)
    next_b <- b + 1 / n^2
    of_h <- (18 * n^2 * (3 * n + 2) * next_b - (88 * n^3 + 9 * n^2 - 13 * n + 6)) /
      (9 * n * (n - 1)^2)
    expect_equal(variance("zeng_h"), (n - 2) / (6 * (n - 1)) * theta + of_h * squared)
    of_e <- b / a^2 + 2 * (n / (n - 1))^2 * b - 2 * (n * b - n + 1) / ((n - 1) * a) -
      (3 * n + 1) / (n - 1)
    expect_equal(variance("zeng_e"), (n / (2 * (n - 1)) - 1 / a) * theta + of_e * squared)
  }
})

test_that("estimators are unbiased: their weights sum to 1", {
  for (n in c(4, 7, 20)) expect_equal(unname(colSums(theta_weights(n))), rep(1, 10))
})

# ---- Scans ---------------------------------------------------------------------------------------

# A VCF of random sites on two chromosomes. Some calls are missing, some ancestral alleles
# uncertain. `field`: AA_prob, by outgroups alone, or AA_post, by the sample's counts too.
scan_case <- function(n_sites = 300, n_samples = 6, posterior = TRUE, field = "AA_prob") {
  position <- lapply(1:2, function(i) sort(sample(1e4, n_sites / 2)))
  calls <- matrix(sample(c("0", "1", "."), 2 * n_samples * n_sites, TRUE, c(0.6, 0.38, 0.02)),
                  n_sites)
  p <- if (posterior) round(runif(n_sites, 0.6, 1), 4) else rep(1, n_sites)
  ancestral <- sample(c("A", "C"), n_sites, TRUE)
  genotypes <- sapply(seq_len(n_samples), function(i) {
    paste(calls[, 2 * i - 1], calls[, 2 * i], sep = "|")
  })
  of <- function(base) ifelse(ancestral == base, p, 1 - p)
  posteriors <- list(
    AA_prob = paste0(";AA_prob=", p), AA_post = sprintf(";AA_post=%.4f,%.4f,0,0", of("A"), of("C"))
  )
  path <- tempfile(fileext = ".vcf")
  samples <- paste0("s", seq_len(n_samples))
  writeLines(c(
    "##fileformat=VCFv4.2", "##contig=<ID=chrA,length=10000>", "##contig=<ID=chrB,length=10000>",
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"\">",
    "##INFO=<ID=AA_prob,Number=1,Type=Float,Description=\"\">",
    "##INFO=<ID=AA_post,Number=4,Type=Float,Description=\"\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">",
    paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", samples),
          collapse = "\t"),
    paste(rep(c("chrA", "chrB"), each = n_sites / 2), unlist(position), ".", "A", "C", ".", ".",
          paste0("AA=", ancestral, if (posterior) posteriors[[field]]), "GT",
          apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  ), path)
  list(vcf = path, field = field, calls = calls, posterior = p, ancestral = ancestral,
       chromosome = rep(c("chrA", "chrB"), each = n_sites / 2), position = unlist(position),
       populations = stats::setNames(rep("P", n_samples), samples))
}

# The statistics of each window, by the spectrum of its sites and the definitions.
plain_scan <- function(case, window, step, n, hard = FALSE) {
  called <- rowSums(case$calls != ".")
  alternative <- rowSums(case$calls == "1")
  derived <- ifelse(case$ancestral == "A", alternative, called - alternative)
  p <- case$posterior
  by_outgroups <- case$field == "AA_prob" && !hard
  used <- !by_outgroups | p >= 0.75
  w <- if (hard) rep(1, length(p)) else if (by_outgroups) p / (2 * p - 1) else p
  case <- lapply(case, function(x) if (length(x) == length(used)) x[used] else x)
  called <- called[used]
  derived <- derived[used]
  w <- w[used]
  last <- tapply(case$position, case$chromosome, function(at) (max(at) - 1) %/% step)
  first <- tapply(case$position, case$chromosome, function(at) (min(at) - 1) %/% step)
  rows <- lapply(names(last), function(chromosome) {
    starts <- seq(first[[chromosome]], max(first[[chromosome]], last[[chromosome]] -
                                             window / step + 1)) * step
    do.call(rbind, lapply(starts, function(start) {
      here <- case$chromosome == chromosome & case$position > start &
        case$position <= start + window & called >= n
      i <- seq_len(n - 1)
      x <- vapply(i, function(i) {
        drawn <- function(d) stats::dhyper(i, d, called[here] - d, n)
        sum(w[here] * drawn(derived[here]) + (1 - w[here]) * drawn(called[here] - derived[here]))
      }, 0)
      s <- sum(x)
      pi <- sum(x * i * (n - i)) / choose(n, 2)
      theta_h <- sum(x * i^2) / choose(n, 2)
      theta_l <- sum(x * i) / (n - 1)
      watterson <- s / sum(1 / i)
      data.frame(
        chromosome = chromosome, start = start + 1, sites = sum(here), segregating = s, watterson,
        pi, theta_h, theta_l, fay_wu_h = pi - theta_h,
        tajima_d = if (s > 0) (pi - watterson) / sqrt(tajima_variance(n, s)) else NaN
      )
    }))
  })
  do.call(rbind, rows)
}

test_that("windows have the statistics of their spectra, weighted and hard, sliding and not", {
  set.seed(1)
  for (field in c("AA_prob", "AA_post")) {
    case <- scan_case(field = field)
    for (how in list(list(2000, "posterior"), list(500, "posterior"), list(500, "hard"))) {
      step <- how[[1]]
      calls <- how[[2]]
      scan <- selection_scan(case$vcf, case$populations, 2000, step, 10, calls = calls,
                             threads = 1)
      expected <- plain_scan(case, 2000, step, 10, calls == "hard")
      found <- as.data.frame(scan)[names(expected)]
      # Tests of few sites have no variance above 0.
      found$tajima_d[expected$segregating <= 1] <- expected$tajima_d[expected$segregating <= 1]
      # Posteriors in a VCF have single precision.
      expect_equal(found, expected, ignore_attr = "row.names", tolerance = 1e-6)
      expect_identical(scan$end - scan$start + 1, rep(2000, nrow(scan)))
    }
  }
})

test_that("posteriors by outgroups undo the bias of wrong ancestral alleles", {
  set.seed(7)
  n <- 10
  n_sites <- 4e4
  copies <- sample(seq_len(n - 1), n_sites, TRUE, 1 / seq_len(n - 1))
  wrong <- runif(n_sites) < 0.02
  path <- tempfile(fileext = ".vcf")
  genotypes <- vapply(copies, function(k) {
    paste(rep(c("1", "0"), c(k, n - k)), collapse = "\t")
  }, "")
  lines <- c(
    "##fileformat=VCFv4.2", "##INFO=<ID=AA,Number=1,Type=String,Description=\"\">",
    "##INFO=<ID=AA_prob,Number=1,Type=Float,Description=\"\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">",
    paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT",
            paste0("s", seq_len(n))), collapse = "\t")
  )
  scan <- function(ancestral, probability, ...) {
    writeLines(c(lines, paste(
      "1", seq_len(n_sites), ".", "A", "C", ".", ".",
      sprintf("AA=%s;AA_prob=%s", ancestral, probability), "GT", genotypes, sep = "\t"
    )), path)
    populations <- stats::setNames(rep("P", n), paste0("s", seq_len(n)))
    selection_scan(path, populations, n_sites, threads = 1, ...)
  }
  truth <- scan(rep("A", n_sites), 1)$theta_h
  called <- ifelse(wrong, "C", "A")
  error <- function(...) scan(called, 0.98, ...)$theta_h / truth - 1
  # The standard deviation of the weighted estimate is 0.4 %.
  expect_lt(abs(error()), 0.012)
  expect_gt(error(calls = "hard"), 0.04)
})

test_that("certain ancestral alleles give one scan, hard or not", {
  set.seed(2)
  case <- scan_case(posterior = FALSE)
  scan <- function(...) selection_scan(case$vcf, case$populations, 5000, project = 10, ...)
  expect_identical(as.data.frame(scan()), as.data.frame(scan(calls = "hard")))
  expect_false(attr(scan(), "scan")$posteriors)
  records <- attr(scan(), "records")
  expect_identical(sum(records$records), 300)
})

test_that("populations are scanned by their own samples", {
  set.seed(3)
  case <- scan_case(n_samples = 8)
  both <- stats::setNames(rep(c("P", "Q"), each = 4), names(case$populations))
  scan <- selection_scan(case$vcf, both, 5000, project = c(P = 6, Q = 4), threads = 1)
  expect_identical(unique(scan$population), c("P", "Q"))
  alone <- selection_scan(case$vcf, both[5:8], 5000, project = 4, subset = TRUE, threads = 1)
  expect_equal(as.data.frame(scan)[scan$population == "Q", ], as.data.frame(alone),
               ignore_attr = "row.names")
})

test_that("windows without sites have zeros, and no tests", {
  set.seed(4)
  case <- scan_case(4)
  scan <- selection_scan(case$vcf, case$populations, 100, project = 10, threads = 1)
  empty <- scan[scan$sites == 0, ]
  expect_gt(nrow(empty), 0)
  expect_true(all(empty$pi == 0))
  expect_true(all(is.nan(empty$tajima_d)))
})

test_that("scans are printed, drawn and written", {
  set.seed(5)
  case <- scan_case()
  scan <- selection_scan(case$vcf, case$populations, 2000, project = 10, threads = 1)
  shown <- paste(utils::capture.output(print(scan)), collapse = "\n")
  expect_match(shown, "<selection_scan> 10 rows in windows of 2,000")
  expect_match(shown, "P (10 haplotypes)", fixed = TRUE)
  expect_match(shown, "weighted by their posteriors")
  skip_if_not_installed("ggplot2")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_s3_class(ggplot2::autoplot(scan, "tajima_d"), "ggplot")
  expect_invisible(plot(scan))
  file <- write_bedgraph(scan, tempfile(), "pi")
  lines <- readLines(file)
  expect_identical(lines[1], "track type=bedGraph name=\"pi P\"")
  table <- utils::read.delim(text = lines[-1], header = FALSE)
  expect_equal(table$V4, scan$pi)
  expect_equal(table$V2, scan$start - 1)
  sliding <- selection_scan(case$vcf, case$populations, 2000, 1000, 10, threads = 1)
  expect_ancify_error(write_bedgraph(sliding, tempfile()), "input", "overlap", "`step`")
  expect_ancify_error(plot(scan, "start_d"), "input", "`statistic`")
  expect_ancify_error(plot(scan, population = "Q"), "input", "`population`")
})

test_that("wrong arguments are refused", {
  set.seed(6)
  case <- scan_case(20)
  refused <- function(...) {
    expect_ancify_error(selection_scan(case$vcf, case$populations, threads = 1, ...), "input")
  }
  expect_match(conditionMessage(refused(window = 1000, step = 300)), "does not divide")
  expect_match(conditionMessage(refused(window = 1000, project = 3)), "takes 4 to 2,000")
  refused(window = 0)
  refused(window = 1000, calls = "soft")
})
