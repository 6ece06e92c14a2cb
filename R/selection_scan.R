#' Scan a genome for selection by spectra of windows
#'
#' Computes estimates of theta and tests of neutrality in windows of a VCF or BCF, in one pass:
#' `selection_scan("in.vcf.gz", "samples.txt", window = 50000)`. Posteriors of ancestral alleles
#' weight each site, so that errors of polarising do not look like sweeps.
#'
#' @details
#' **Sites** and their ancestral alleles are as in [sfs_from_vcf()]. Each is projected to `project`
#' haplotypes.
#'
#' **Posteriors.** A wrong ancestral allele turns a rare derived allele into a frequent one, as a
#' sweep would. So each site adds its statistics as called, with a weight w, and its statistics with
#' exchanged alleles, with the weight 1 - w. Posteriors p of `AA_post` depend on the sample's own
#' counts ([annotate_vcf()] with a `history`), so that w = p. Other posteriors come from outgroups
#' alone: a share p of such calls is right, at any count. Then w = p / (2p - 1) gives the true
#' alleles' statistics in expectation, whereas w = p would double the errors. Such sites with a
#' posterior below 0.75 are left out (`DOUBTFUL`). With `calls = "hard"`, the ancestral alleles
#' count as certain.
#'
#' **Statistics.** With \eqn{\xi_i}{x[i]} sites of i derived copies among n haplotypes, estimates of
#' theta are weighted sums of \eqn{i \xi_i}{i x[i]}, and so are tests, which are differences of two
#' estimates:
#'
#' | Column | Definition | Source |
#' | --- | --- | --- |
#' | `segregating` | sites that vary in n haplotypes | |
#' | `watterson` | \eqn{S / \sum 1/i}{S / sum(1/i)} | Watterson 1975 |
#' | `pi` | mean differences of two haplotypes | Tajima 1983 |
#' | `theta_h` | weights proportional to i | Fay and Wu 2000 |
#' | `theta_l` | equal weights | Zeng and others 2006 |
#' | `tajima_d` | `pi` - `watterson` | Tajima 1989 |
#' | `fay_wu_h` | `pi` - `theta_h`, not normalised | Fay and Wu 2000 |
#' | `zeng_h` | `pi` - `theta_l`: H, normalised | Zeng and others 2006 |
#' | `zeng_e` | `theta_l` - `watterson` | Zeng and others 2006 |
#' | `fu_li_d`, `fu_li_f` | `watterson` or `pi` minus derived singletons | Fu and Li 1993 |
#' | `fu_li_d_star`, `fu_li_f_star` | as these, with singletons of either allele | Fu and Li 1993 |
#' | `achaz_y`, `achaz_y_star` | Tajima's D without derived or any singletons | Achaz 2008 |
#'
#' All tests but `fay_wu_h` are divided by their standard deviation in a population of constant size
#' without recombination. It comes from the covariances of Fu (1995), and from the estimates of
#' theta and its square by S (Achaz 2009). Estimates are of whole windows: divide by the called
#' bases of a window for estimates by base.
#'
#' @param window Length of windows in bases.
#' @param step Distance of the beginnings of windows; a divisor of `window`. `NULL` (the default):
#'   `window`, for windows without overlap.
#' @param project Haplotypes of each population, in order or named: 4 to 2,000. Default: the maximum
#'   called at any site.
#' @param calls `"posterior"` (the default) weights sites by the posteriors of their ancestral
#'   alleles. `"hard"` takes ancestral alleles as certain.
#' @inheritParams sfs_from_vcf
#' @return A data frame of class `selection_scan`. It has a row for each population and window, from
#'   the first to the last window with a site on a chromosome: `chromosome`, `start` and `end` (from
#'   1, inclusive), `population`, `haplotypes`, `sites` (used in the window, with invariant ones),
#'   and the statistics. Tests are `NaN` in windows without variable sites. Attributes: `records` as
#'   from [sfs_from_vcf()], and `scan`, a list of `window`, `step`, `calls` and `posteriors` (`TRUE`
#'   if the sites have any).
#' @section Errors:
#' As from [sfs_from_vcf()], and `ancify_input_error`: `step` does not divide `window`, or `project`
#' is not between 4 and 2,000.
#' @references
#' Achaz (2008) Testing for neutrality in samples with sequencing errors. Genetics 179:1409.
#'
#' Achaz (2009) Frequency spectrum neutrality tests: one for all and all for one. Genetics 183:249.
#'
#' Fay and Wu (2000) Hitchhiking under positive Darwinian selection. Genetics 155:1405.
#'
#' Fu (1995) Statistical properties of segregating sites. Theoretical Population Biology 48:172.
#'
#' Fu and Li (1993) Statistical tests of neutrality of mutations. Genetics 133:693.
#'
#' Tajima (1989) Statistical method for testing the neutral mutation hypothesis by DNA polymorphism.
#' Genetics 123:585.
#'
#' Zeng, Fu, Shi and Wu (2006) Statistical tests for detecting positive selection by utilizing
#' high-frequency variants. Genetics 174:1431.
#' @seealso [plot.selection_scan()], [sfs_statistics()] for a whole spectrum, [polarise()] for
#'   ancestral alleles
#' @export
#' @examplesIf !is.na(ancify_build_info()$htslib)
#' set.seed(1)
#' genotypes <- function() paste(sample(c("0|0", "0|1", "1|1"), 4, TRUE), collapse = "\t")
#' records <- sprintf("1\t%d\t.\tA\tC\t.\t.\tAA=A\tGT\t%s", sort(sample(1e5, 50)),
#'                    replicate(50, genotypes()))
#' vcf <- tempfile(fileext = ".vcf")
#' columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts1\ts2\ts3\ts4"
#' writeLines(c("##fileformat=VCFv4.2", columns, records), vcf)
#'
#' populations <- c(s1 = "YRI", s2 = "YRI", s3 = "YRI", s4 = "YRI")
#' scan <- selection_scan(vcf, populations, window = 20000, step = 10000, threads = 1)
#' scan
#' plot(scan, "zeng_h")
selection_scan <- function(vcf, populations, window, step = NULL, project = NULL, ancestral = NULL,
                           calls = c("posterior", "hard"), reference = NULL, mask = NULL,
                           low_confidence = TRUE, subset = FALSE, threads = NULL,
                           progress = interactive()) {
  check_args(
    vcf = one_path(), window = whole(2^31), step = optional(whole(2^31)),
    calls = choice(c("posterior", "hard")), low_confidence = flag(), subset = flag(),
    reference = optional(one_path()), mask = optional(one_path())
  )
  step <- step %||% window
  refuse_if(window %% step != 0, "`step` is %s, which does not divide `window`, %s.",
            format_count(step), format_count(window))
  if (is_info(ancestral)) ancestral <- NULL
  if (!is.null(ancestral)) ancestral <- folder_of_calls(ancestral, "ancestral")
  work <- new_work(threads, progress = progress)
  check_htslib()
  given <- counts_for_spectrum(vcf, populations, project, subset)
  found <- with_watch("Reading", function(watch) {
    tabulate_vcf(vcf, given$counts, ancestral, reference, mask, low_confidence, step, "snps", NULL,
                 FALSE, work, watch, if (calls == "posterior") least_scan_posterior else 0)
  }, work$progress)
  of_info <- is.null(ancestral)
  if (!of_info) warn_about_unmatched(found$chromosomes, ancestral)
  warn_about_positions(found, vcf, of_info)
  warn_about_counts(found, vcf)
  left_out <- records_left_out(found, low_confidence, reasons_for("snps", given$counts$named))
  check_any_site(found, left_out, vcf, of_info)
  sizes <- scan_sizes(project, found$most, given$names)

  rows <- variant_rows_impl(found$table)
  if (calls == "hard") {
    rows$as_counted <- rows$as_counted + rows$swapped
    rows$swapped <- 0 * rows$swapped
  }
  labels <- given$names %||% paste("population", seq_along(sizes))
  tables <- lapply(seq_along(sizes), function(k) {
    windows <- scan_windows(rows, k, sizes[k], window / step)
    data.frame(
      chromosome = found$chromosomes$chromosome[windows$chromosome],
      start = windows$index * step + 1, end = windows$index * step + window,
      population = labels[k], haplotypes = sizes[k], sites = windows$sums[, "sites"],
      window_statistics(windows$sums, sizes[k])
    )
  })
  table <- do.call(rbind, tables)
  records <- c(left_out, DOUBTFUL = found$doubtful, USED = sum(rows$as_counted + rows$swapped))
  structure(
    table, records = data.frame(reason = names(records), records = unname(records)),
    scan = list(window = window, step = step, calls = calls, posteriors = found$has_posteriors),
    class = c("selection_scan", "data.frame")
  )
}

most_scan_haplotypes <- 2000

# Weights of less certain sites would be large: 1.5 and -0.5 here.
least_scan_posterior <- 0.75

scan_sizes <- function(project, most, names) {
  sizes <- sizes_to_project(project, most, names)
  wrong <- which(sizes < 4 | sizes > most_scan_haplotypes)
  refuse_if(
    length(wrong), "%s has %s: a scan takes 4 to %s, see `project`.",
    (names %||% paste("population", seq_along(sizes)))[wrong[1]],
    count_of(sizes[wrong[1]], "haplotype"), format_count(most_scan_haplotypes)
  )
  sizes
}

# list(chromosome =, index = of each window's first step, sums = a matrix). `rows`: as from
# variant_rows_impl(), whose windows are steps; a window has `width` of them.
scan_windows <- function(rows, population, n, width) {
  called <- rows$called[, population]
  derived <- rows$derived[, population]
  used <- called >= n
  values <- projected_values(called[used], derived[used], n)
  swapped <- projected_values(called[used], called[used] - derived[used], n)
  all <- rows$as_counted[used] + rows$swapped[used]
  steps <- rowsum(
    cbind(sites = all, values * rows$as_counted[used] + swapped * rows$swapped[used]),
    factor(rows$window[used], seq_along(rows$index))
  )
  known <- as.integer(rownames(steps))
  chromosome <- rows$chromosome[known]
  index <- rows$index[known]
  parts <- lapply(unique(chromosome), function(one) {
    here <- which(chromosome == one)
    first <- min(index[here])
    filled <- matrix(0, max(index[here]) - first + 1, ncol(steps),
                     dimnames = list(NULL, colnames(steps)))
    filled[index[here] - first + 1, ] <- steps[here, ]
    sums <- moving_sums(filled, min(width, nrow(filled)))
    list(chromosome = rep(one, nrow(sums)), index = first + seq_len(nrow(sums)) - 1, sums = sums)
  })
  list(
    chromosome = unlist(lapply(parts, `[[`, "chromosome")),
    index = unlist(lapply(parts, `[[`, "index")), sums = do.call(rbind, lapply(parts, `[[`, "sums"))
  )
}

# The expected values of sites with so many derived of the called haplotypes, of which n are drawn.
# Rows of equal counts are computed once.
projected_values <- function(called, derived, n) {
  key <- called * (max(called, 0) + 1) + derived
  distinct <- !duplicated(key)
  values <- site_values(n)
  chances <- vapply(which(distinct), function(i) {
    stats::dhyper(0:n, derived[i], called[i] - derived[i], n)
  }, numeric(n + 1))
  crossprod(chances, values)[match(key, key[distinct]), , drop = FALSE]
}

# The sums of `width` successive rows.
moving_sums <- function(x, width) {
  if (width == 1) {
    return(x)
  }
  starts <- seq_len(nrow(x) - width + 1)
  Reduce(`+`, lapply(seq_len(width) - 1, function(by) x[starts + by, , drop = FALSE]))
}
