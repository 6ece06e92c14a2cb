# How often neutral windows look selected if ancestral alleles are wrong: by posteriors, by hard
# calls, and with the truth.
#
#   Rscript benchmarks/selection.R [WINDOWS] [ERROR]      4000 .02
#
# Takes the installed package. A window is a sample of 20 haplotypes from a population of constant
# size without recombination. A test rejects below the 5 % quantile of other, error-free windows.
library(ancify)

numbers <- as.numeric(commandArgs(TRUE))
windows <- if (length(numbers) > 0) numbers[1] else 4000
error <- if (length(numbers) > 1) numbers[2] else 0.02
n <- 20
theta <- 15
length <- 1000
set.seed(1)

# The haplotypes with the derived allele of each site of a coalescent tree.
simulate_window <- function() {
  lineages <- as.list(seq_len(n))
  sites <- list()
  for (k in n:2) {
    time <- stats::rexp(1, choose(k, 2))
    for (lineage in lineages) {
      sites <- c(sites, rep(list(lineage), stats::rpois(1, theta / 2 * time)))
    }
    pair <- sample.int(k, 2)
    lineages <- c(lineages[-pair], list(unlist(lineages[pair])))
  }
  sites[seq_len(min(length(sites), length))]
}

write_windows <- function(path, windows) {
  rows <- lapply(seq_along(windows), function(w) {
    sites <- windows[[w]]
    if (!length(sites)) {
      return(NULL)
    }
    genotypes <- vapply(sites, function(carriers) {
      paste(replace(rep("0", n), carriers, "1"), collapse = "\t")
    }, "")
    data.frame(position = (w - 1) * length + seq_along(sites), genotypes)
  })
  table <- do.call(rbind, rows)
  wrong <- stats::runif(nrow(table)) < error
  header <- c(
    "##fileformat=VCFv4.2", "##INFO=<ID=AA,Number=1,Type=String,Description=\"\">",
    "##INFO=<ID=AA_prob,Number=1,Type=Float,Description=\"\">",
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">",
    paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT",
            paste0("s", seq_len(n))), collapse = "\t")
  )
  for (called in c("truth", "calls")) {
    ancestral <- if (called == "truth") "A" else ifelse(wrong, "C", "A")
    writeLines(c(header, paste(
      "1", sprintf("%.0f", table$position), ".", "A", "C", ".", ".",
      paste0("AA=", ancestral, ";AA_prob=", if (called == "truth") 1 else 1 - error), "GT",
      table$genotypes, sep = "\t"
    )), paste0(path, ".", called, ".vcf"))
  }
}

path <- tempfile()
write_windows(path, replicate(2 * windows, simulate_window(), simplify = FALSE))
populations <- stats::setNames(rep("P", n), paste0("s", seq_len(n)))
scan <- function(called, calls) {
  selection_scan(paste0(path, ".", called, ".vcf"), populations, length, calls = calls,
                 progress = FALSE)
}
scans <- list(truth = scan("truth", "hard"), posteriors = scan("calls", "posterior"),
              hard = scan("calls", "hard"))
tests <- c("fay_wu_h", "zeng_h", "zeng_e", "tajima_d")
null <- seq_len(windows)
bounds <- vapply(tests, function(test) {
  stats::quantile(scans$truth[[test]][null], 0.05, na.rm = TRUE)
}, 0)
rejected <- vapply(scans, function(scan) {
  vapply(tests, function(test) mean(scan[[test]][-null] < bounds[[test]], na.rm = TRUE), 0)
}, numeric(length(tests)))
cat(sprintf("Share of %.0f neutral windows below the 5 %% quantile; %g of sites have the wrong",
            windows, error), "ancestral allele\n")
print(round(rejected, 4))
cat(sprintf("Standard error: %.4f\n", sqrt(0.05 * 0.95 * 2 / windows)))
