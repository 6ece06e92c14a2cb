# Contexts, rates, contrasts, parts and pictures of mutation spectra.

require_htslib()

contexts_of <- function(...) count_contexts(..., threads = 1, progress = FALSE)

test_that("contexts are those of the plain implementation", {
  set.seed(11)
  calls <- mutation_calls(c(chr1 = 700, chr2 = 90, chr10 = 4), missing = 0.02)
  letters <- letters_of(calls)
  folder <- calls_folder(calls)
  bed <- tempfile_of(c("1\t100\t300", "1\t310\t311", "chr2\t0\t2", "chr2\t89\t90"))
  masked <- list(chr1 = c(101:300, 311), chr2 = c(1, 2, 90))
  expect_contexts <- function(x, k, ...) {
    each <- lapply(names(letters), function(name) {
      oracle_contexts(letters[[name]], k, ..., masked = masked[[name]])
    })
    names <- unlist(lapply(each, names))
    counts <- vapply(split(unlist(lapply(each, as.vector)), names), sum, 0)
    expect_identical(sum(x), sum(counts))
    expect_equal(as.vector(x[names(counts)]), unname(counts))
  }
  for (k in c(1, 3, 5, 9)) {
    for (low in c(TRUE, FALSE)) {
      x <- contexts_of(folder, k, bed, low_confidence = low)
      expect_contexts(unclass(x), k, low_confidence = low)
      expect_identical(length(x), as.integer(2 * 4^(k - 1)))
    }
  }
  x <- contexts_of(folder, 5, bed, fold = "pyrimidine")
  expect_contexts(unclass(x), 5, bases = c("C", "T"))
  expect_identical(attr(x, "windows")$chromosome, c("chr1", "chr2", "chr10"))

  # Windows, in files of any form
  plain <- write_fasta(calls, tempfile(fileext = ".fa"))
  named <- write_fasta(stats::setNames(calls, sprintf("ANCESTOR_for_chromosome:X:%s:1:%d:1",
                                                      names(calls), nchar(calls))),
                       tempfile(fileext = ".fa"))
  x <- contexts_of(folder, 3, bed, 50)
  for (path in c(plain, as_bgzip(plain), named, file.path(folder, "chr{chrom_id}.fa"))) {
    same <- count_contexts(path, 3, bed, 50, threads = 3, progress = FALSE)
    expect_identical(as.data.frame(same)$count, as.data.frame(x)$count)
    expect_identical(attr(same, "by_window")$count, attr(x, "by_window")$count)
  }
  by_window <- as.data.frame(x, by_window = TRUE)
  expect_identical(nrow(attr(x, "windows")), 14L + 2L + 1L)
  for (start in c(1, 51, 301)) {
    some <- by_window[by_window$chromosome == "chr1" & by_window$start == start, ]
    expected <- oracle_contexts(letters$chr1, 3, masked = masked$chr1,
                                positions = start + 0:49)
    expect_identical(sum(some$count), sum(expected) + 0)
    expect_equal(some$count, as.vector(expected[some$context]))
  }
  expect_match(capture.output(print(x)), "17 of 50 bases on 3 chromosomes", all = FALSE)
})

test_that("contexts refuse bad input", {
  folder <- calls_folder(c(chr1 = "ACGTACGT"))
  refuses <- function(text, path = folder, ..., class = "input") {
    expect_ancify_error(contexts_of(path, ...), class, text)
  }
  refuses("`k` is 2", k = 2)
  refuses("has no region", mask = tempfile_of("chr2\t0\t4"))
  refuses("no file like", new_folder())
  refuses("no file like", file.path(folder, "{chrom}.fasta"))
  refuses("a second sequence for chromosome 'a'", class = "format",
          write_fasta(c(a = "ACG", a = "ACG"), tempfile()))
  refuses("nope.fa", "nope.fa", class = "file")
  refuses("must be a positive whole number", windows = 0)
  refuses("must be TRUE or FALSE", low_confidence = NA)
})

# Sites at random, on random calls, at these rates for each type: a VCF of one haploid sample for
# each population, and the calls.
simulated_mutations <- function(rates, n = 60000, populations = 1) {
  bases <- c("A", "C", "G", "T")
  letters <- sample(bases, n, TRUE)
  at <- 2:(n - 1)
  lines <- lapply(seq_len(populations), function(p) {
    unlist(lapply(1:3, function(turn) {
      derived <- bases[(match(letters[at], bases) + turn - 1) %% 4 + 1]
      word <- paste0(letters[at - 1], letters[at], letters[at + 1])
      turned <- !letters[at] %in% c("A", "C")
      mutated <- paste0(letters[at - 1], derived, letters[at + 1])
      type <- paste(ifelse(turned, reverse_complement(word), word),
                    ifelse(turned, reverse_complement(mutated), mutated), sep = ">")
      hit <- runif(length(at)) < rates[type, p]
      genotypes <- matrix("0", sum(hit), populations + 1)
      genotypes[, p] <- "1"
      record <- vcf_records("chr1", at[hit], letters[at][hit], derived[hit])
      stats::setNames(
        paste(record, "GT", apply(genotypes, 1, paste, collapse = "\t"), sep = "\t"), at[hit]
      )
    }))
  })
  lines <- unlist(lines)
  lines <- lines[order(as.numeric(names(lines)))]
  list(
    calls = calls_folder(c(chr1 = paste(letters, collapse = ""))),
    vcf = write_vcf(unname(lines), header = vcf_header(lines, more = c(
      "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">"
    )))
  )
}

test_that("simulated rates are recovered, with their standard errors", {
  set.seed(12)
  types <- mutation_types(3, "AC")$type
  rates <- matrix(runif(96, 0.01, 0.05), dimnames = list(types, NULL))
  rates[is_cpg_type(types), ] <- 3 * rates[is_cpg_type(types), ]
  data <- simulated_mutations(rates)
  x <- mutations_of(data$vcf, data$calls, windows = 500, replicates = 50)
  contexts <- contexts_of(data$calls, windows = 500)
  table <- mutation_rates(x, contexts)
  expect_identical(table$type, types)
  z <- (table$rate - rates[, 1]) / table$std_error
  expect_lt(max(abs(z)), 4)
  expect_lt(mean(z^2), 1.5)
  expect_gt(mean(z^2), 0.6)
  # Sites are nearly independent, so that counts are binomial.
  expected <- sqrt(rates[, 1] * (1 - rates[, 1]) / table$positions)
  expect_gt(min(table$std_error / expected), 0.6)
  expect_lt(max(table$std_error / expected), 1.5)
})

test_that("rates and contrasts are quotients and plain chi-squared tests", {
  set.seed(13)
  calls <- mutation_calls(c(chr1 = 900, chr2 = 500, chr3 = 200))
  vcf <- mutation_vcf(calls[1:2], 300)
  folder <- calls_folder(calls)
  x <- mutations_of(vcf, folder, populations = two_columns, windows = 100, replicates = 5)
  contexts <- contexts_of(folder, windows = 100)
  table <- mutation_rates(x, contexts)
  without <- contexts_of(calls_folder(calls[1:2]), windows = 100)
  expect_equal(table$positions, as.vector(without[table$context]))
  expect_equal(table$rate, as.vector(as.matrix(x)) / table$positions)
  # Errors of counts and positions that are drawn together
  row <- which.max(table$count)
  draws <- attr(x, "draws")
  sums <- function(table, windows, chosen) {
    one <- table[chosen, ]
    window <- match(paste(one$chromosome, one$start), paste(windows$chromosome, windows$start))
    colSums(draws[window, ] * one$count)
  }
  counted <- as.data.frame(x, by_window = TRUE)
  there <- as.data.frame(without, by_window = TRUE)
  windows <- attr(x, "windows")
  counts <- sums(counted, windows, counted$type == table$type[row] &
                   counted$population == table$population[row])
  positions <- sums(there, windows, there$context == table$context[row])
  expect_equal(table$std_error[row], sd(counts / positions))

  contrasts <- mutation_contrasts(x, "CEU", "YRI")
  counts <- as.matrix(x)
  for (row in order(-rowSums(counts))[c(1, 5, 20)]) {
    pair <- rbind(counts[row, c("CEU", "YRI")], colSums(counts[-row, c("CEU", "YRI")]))
    test <- suppressWarnings(stats::chisq.test(pair, correct = FALSE))
    expect_equal(contrasts$statistic[row], unname(test$statistic))
    expect_equal(contrasts$p_value[row], test$p.value)
    expect_equal(contrasts$ratio[row], pair[1, 1] / sum(pair[, 1]) / (pair[1, 2] / sum(pair[, 2])),
                 ignore_attr = TRUE)
  }

  refuses <- function(text, ...) {
    expect_ancify_error(mutation_rates(x, contexts_of(...)), "input", text)
  }
  refuses("with `k` 5", folder, 5, windows = 100)
  refuses("with `windows` 'none'", folder)
  refuses("with `low_confidence` FALSE", folder, windows = 100, low_confidence = FALSE)
  refuses("with `mask`", folder, windows = 100, mask = tempfile_of("chr1\t1\t2"))
  refuses("with `fold` 'pyrimidine'", folder, windows = 100, fold = "pyrimidine")
  refuses("lack 'chr2'", calls_folder(calls[1]), windows = 100)
  longer <- c(chr1 = paste0(calls[["chr1"]], "A"), calls[2])
  refuses("'chr1' has 901 bases", calls_folder(longer), windows = 100)
  expect_ancify_error(mutation_rates(x, 1:96), "input", "count_contexts()")
  expect_ancify_error(mutation_rates(1, contexts), "input", "mutation_spectrum()")
  expect_ancify_error(mutation_contrasts(x, "CEU", "JPT"), "input", "'JPT'")
  expect_ancify_error(mutation_contrasts(x[1:4, ], "CEU", "YRI"), "input", "4 of 96 types")
})

test_that("parts, shorter contexts and other forms", {
  set.seed(14)
  calls <- mutation_calls(c(chr1 = 900, chr2 = 500), missing = 0)
  vcf <- mutation_vcf(calls, 300)
  folder <- calls_folder(calls)
  for (fold in c("AC", "pyrimidine")) {
    make <- function(k) {
      set.seed(1)
      mutations_of(vcf, folder, k, two_columns, windows = 100, replicates = 3, fold = fold)
    }
    x <- make(7)
    inner <- collapse_contexts(x, 3)
    expect_identical(rownames(inner), mutation_types(3, fold)$type)
    expect_identical(as.matrix(collapse_contexts(collapse_contexts(x, 5), 3)), as.matrix(inner))
    sites <- oracle_mutations(readLines(vcf), two_columns, letters_of(calls), 7,
                              bases = if (fold == "AC") c("A", "C") else c("C", "T"))
    counts <- oracle_type_counts(sites)
    expected <- rowsum(counts, paste0(substr(rownames(counts), 3, 5), ">",
                                      substr(rownames(counts), 11, 13)))
    expect_equal(as.matrix(inner)[rownames(expected), ], expected)
    expect_identical(sum(inner), sum(counts))
    expect_equal(colSums(as.matrix(inner[, "CEU"])), colSums(as.matrix(x))["CEU"])
    expect_identical(attr(inner, "draws"), attr(x, "draws"))
    errors <- as.data.frame(collapse_contexts(x, 1))
    whole <- as.data.frame(x, by_window = TRUE)
    one <- whole[whole$mutation == errors$mutation[3] & whole$population == "YRI", ]
    windows <- attr(x, "windows")
    window <- match(paste(one$chromosome, one$start), paste(windows$chromosome, windows$start))
    expect_equal(errors$std_error[3], sd(colSums(attr(x, "draws")[window, ] * one$count)))
  }
  x <- make(3)
  part <- x[c("CCG>CTG", "ACA>AAA"), "CEU"]
  expect_s3_class(part, "mutation_spectrum")
  expect_identical(as.matrix(part), as.matrix(x)[c("CCG>CTG", "ACA>AAA"), "CEU", drop = FALSE])
  expect_equal(as.data.frame(part)$std_error,
               as.data.frame(x)$std_error[match(c("CCG>CTG", "ACA>AAA"), rownames(x))
                                          + 96 * (match("CEU", colnames(x)) - 1)])
  expect_identical(x[1:3, , drop = TRUE], as.matrix(x)[1:3, ])
  expect_identical(x[c(5, 100)], as.matrix(x)[c(5, 100)])
  expect_identical(dim(x[rowSums(x) > 0, ]), c(sum(rowSums(as.matrix(x)) > 0), 2L))
  expect_identical(x / 2, as.matrix(x) / 2)
  expect_identical(log(x + 1), log(as.matrix(x) + 1))
  expect_identical(-x, -as.matrix(x))
  expect_ancify_error(x["CCG>CTT", ], "input", "'CCG>CTT'")
  expect_ancify_error(x[c(1, 1), ], "input", "taken twice")
  expect_ancify_error(x[, 3], "input", "no column 3")
  expect_ancify_error(collapse_contexts(x, 5), "input", "have 3 bases")
  expect_ancify_error(collapse_contexts(x, 2), "input", "odd number")
  expect_ancify_error(collapse_contexts(x[1:5, ], 1), "input", "5 of 96 types")

  signatures <- signature_table(x)
  expect_identical(rownames(signatures)[c(1, 2, 5, 17, 96)],
                   c("A[C>A]A", "A[C>A]C", "C[C>A]A", "A[C>G]A", "T[T>G]T"))
  expect_identical(signatures["T[C>T]G", ], as.matrix(x)["TCG>TTG", ])
  set.seed(1)
  other <- mutations_of(vcf, folder, 3, two_columns)
  expect_identical(signature_table(other), signatures)
})

test_that("pictures have a bar or a cell for each type", {
  set.seed(15)
  calls <- mutation_calls(c(chr1 = 9000), missing = 0)
  x <- mutations_of(mutation_vcf(calls, 2000), calls_folder(calls), 5, two_columns)
  drawn <- function(...) {
    path <- tempfile(fileext = ".svg")
    grDevices::svg(path, 10, 5)
    on.exit(unlink(path))
    tryCatch(plot(x, ...), finally = grDevices::dev.off())
    text <- paste(readLines(path, warn = FALSE), collapse = "")
    lengths(regmatches(text, gregexpr("<path[^>]*fill-rule", text)))
  }
  expect_gte(drawn(), 2 * 96)
  expect_gte(drawn(ratio = c("CEU", "YRI"), main = "A title"), 96)
  expect_ancify_error(plot(x, ratio = c("CEU", "JPT")), "input", "'JPT'")
  expect_ancify_error(plot(x, ratio = "CEU"), "input", "two columns")
  expect_ancify_error(plot(collapse_contexts(x, 1), ratio = c("CEU", "YRI")), "input", "3 bases")
  expect_ancify_error(plot(x[1:5, ]), "input", "5 of 1,536 types")
  expect_ancify_error(plot(x[, 0]), "input", "no columns")
})
