# Mutation spectra of VCF files, against plain R.

require_htslib()

test_that("a small file has the known spectrum", {
  calls <- tempfile(fileext = ".fa")
  writeLines(c(">1", "ACACGTNACGaA"), calls)
  records <- vcf_records("1", c(1, 2, 4, 6, 8, 9, 11), c("A", "C", "T", "T", "A", "G", "A"),
                         c("G", "T", "C", "G", "C", "C", "C"))
  genotypes <- rbind(
    c("0/1", "0/0"), c("0/1", "0/0"), c("0|1", "1|1"), c("0/1", "0/0"), c("0/1", "0/1"),
    c("0/1", "0/1"), c("1/1", "0/1")
  )
  lines <- paste(records, "GT", apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  vcf <- write_vcf(lines, header = vcf_header(lines, more = c(
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">"
  )))
  x <- mutations_of(vcf, calls, populations = c(s1 = "A", s2 = "B"))
  # Position 4 is C in ACG, and derived T; 9 is C in ACG, and derived G; 11 is a in Gaa. The first,
  # sixth and eighth lack a base beside them.
  expect_identical(dim(x), c(96L, 2L))
  some <- as.matrix(x)[rowSums(as.matrix(x)) > 0, ]
  expect_identical(some[order(rownames(some)), ], rbind(
    "ACA>ATA" = c(A = 1, B = 0), "ACG>AGG" = c(1, 1), "ACG>ATG" = c(1, 0), "GAA>GCA" = c(0, 1)
  ))
  expect_identical(records_of_reason(x)[c("NO_CONTEXT", "USED")], c(NO_CONTEXT = 3, USED = 4))
  x <- mutations_of(vcf, calls, low_confidence = FALSE)
  expect_identical(records_of_reason(x)[c("LOW", "USED")], c(LOW = 1, USED = 3))
  expect_identical(colnames(x), "all")
  expect_match(capture.output(print(x)), "C>T CpG +1$", all = FALSE)
  x <- mutations_of(vcf, calls, samples = TRUE)
  expect_identical(as.matrix(x)["GAA>GCA", ], c(s1 = 2, s2 = 1))

  # A choice of types or columns may be empty.
  expect_identical(dim(x[rowSums(as.matrix(x)) > 1e9, ]), c(0L, 2L))
  expect_identical(dim(x[, colSums(as.matrix(x)) > 1e9]), c(96L, 0L))
  none <- x[character(), ]
  expect_identical(sum(as.matrix(none)), 0)
  expect_output(print(none), "0 types")
  uses <- list(plot, function(x) collapse_contexts(x, 1),
               function(x) mutation_contrasts(x, "A", "B"))
  for (use in uses) {
    expect_ancify_error(use(none), "input", "has no types")
  }
  expect_ancify_error(mutation_contrasts(x, "s1", NULL), "input", "each be one column")
})

test_that("spectra are those of the plain implementation", {
  for (seed in 1:2) {
    set.seed(seed)
    calls <- mutation_calls(c(chr1 = 900, chr2 = 400))
    folder <- calls_folder(calls)
    vcf <- mutation_vcf(calls)
    letters <- letters_of(calls)
    for (k in c(1, 3, 5, 7)) {
      for (low in c(TRUE, FALSE)) {
        x <- mutations_of(vcf, folder, k, two_columns, low_confidence = low)
        sites <- oracle_mutations(readLines(vcf), two_columns, letters, k, low)
        expect_mutations(x, sites)
        expect_identical(dim(x), c(as.integer(3 * 4^k / 2), 2L))
      }
    }
    expect_gt(min(records_of_reason(x)[c("LOW", "LOW_CONTEXT", "NO_CONTEXT", "INVARIANT")]), 0)
    each <- c(s1 = "s1", s2 = "s2", s3 = "s3", s4 = "s4", s5 = "s5")
    x <- mutations_of(vcf, folder, 3, each, TRUE, subset = TRUE)
    expect_mutations(x, oracle_mutations(readLines(vcf), each, letters), haplotypes = TRUE)
  }
})

test_that("posteriors count with exchanged alleles too, from a run or from INFO", {
  set.seed(3)
  calls <- mutation_calls(c(chr1 = 900, chr2 = 400))
  folder <- calls_folder(calls)
  vcf <- mutation_vcf(calls)
  letters <- letters_of(calls)
  phred <- lapply(letters, function(one) sample(c(0:40, 255), length(one), TRUE))
  for (name in names(phred)) {
    writeBin(as.raw(phred[[name]]), file.path(folder, paste0(name, ".phred")))
  }
  for (samples in c(FALSE, TRUE)) {
    columns <- if (samples) stats::setNames(names(two_columns), names(two_columns)) else two_columns
    x <- mutations_of(vcf, folder, populations = two_columns, samples = samples)
    sites <- oracle_mutations(readLines(vcf), columns, letters, phred = phred)
    expect_mutations(x, sites, samples)
  }
  used <- sites[sites$reason == "USED", ]
  p <- ifelse(is.na(used$posterior), 1, used$posterior)
  rates <- attr(x, "misidentification")
  expect_identical(names(rates), c("mutation", "cpg", "sites", "rate", "std_error"))
  expect_identical(sum(rates$sites), nrow(used) + 0)
  expect_equal(sum(rates$sites * rates$rate), sum(1 - p))
  middle <- substr(used$type, 2, 2)
  is_cpg <- substr(used$type, 2, 3) == "CG" & grepl(">.T", used$type)
  row <- rates$mutation == "C>T" & rates$cpg
  expect_gt(sum(row), 0)
  expect_equal(rates$rate[row], mean((1 - p)[is_cpg]))

  lines <- readLines(vcf)
  records <- which(!startsWith(lines, "#"))
  alleles <- strsplit(lines[records], "\t")
  base <- vapply(alleles, function(field) substr(field[sample(4:5, 1)], 1, 1), "")
  base[base %in% c("<", ".")] <- "N"
  info <- sprintf("AA=%s;AA_prob=%s", base, sample(1:8, length(base), TRUE) / 8)
  lines[records] <- mapply(function(field, info) {
    paste(c(field[1:7], info, field[-(1:8)]), collapse = "\t")
  }, alleles, info)
  vcf <- tempfile_of(lines)
  x <- mutations_of(vcf, folder, populations = two_columns, info = TRUE)
  expect_mutations(x, oracle_mutations(lines, two_columns, letters, info = TRUE))
})

test_that("masks, other references and other strands", {
  set.seed(4)
  calls <- mutation_calls(c(chr1 = 900, chr2 = 400))
  vcf <- mutation_vcf(calls)
  letters <- letters_of(calls)
  bed <- tempfile_of(c("1\t100\t300", "chr2\t0\t50", "chr2\t200\t201"))
  masked <- list(chr1 = 101:300, chr2 = c(1:50, 201))
  fasta <- write_fasta(calls, tempfile(fileext = ".fa"))
  x <- mutations_of(vcf, fasta, populations = two_columns, mask = bed)
  expect_mutations(x, oracle_mutations(readLines(vcf), two_columns, letters, masked = masked))
  expect_gt(records_of_reason(x)[["MASKED"]], 0)

  # A reference that has the ancestral base at no position, so that no REF is checked beside sites.
  other <- lapply(letters, function(one) sample(c("A", "C", "g", "T", "N"), length(one), TRUE))
  for (field in strsplit(grep("^#", readLines(vcf), value = TRUE, invert = TRUE), "\t")) {
    other[[field[1]]][as.numeric(field[2])] <- substr(field[4], 1, 1)
  }
  reference <- write_fasta(vapply(other, paste, "", collapse = ""), tempfile(fileext = ".fa"))
  x <- mutations_of(vcf, fasta, populations = two_columns, context = "reference",
                    reference = reference, low_confidence = FALSE)
  expect_mutations(x, oracle_mutations(readLines(vcf), two_columns, letters,
                                       low_confidence = FALSE, flanks = other))
  # Its opportunities are in lower case too.
  rates <- mutation_rates(x, count_contexts(reference, progress = FALSE))
  expect_equal(rates$rate, rates$count / rates$positions)
  expect_ancify_error(
    mutation_rates(x, count_contexts(reference, low_confidence = FALSE, progress = FALSE)), "input",
    "`low_confidence` FALSE"
  )

  x <- mutations_of(vcf, fasta, 5, two_columns, fold = "pyrimidine")
  sites <- oracle_mutations(readLines(vcf), two_columns, letters, 5, bases = c("C", "T"))
  expect_mutations(x, sites)
  # The other strand of everything has the same spectrum.
  turned <- vapply(letters, function(one) {
    paste(rev(chartr("ACGTacgt", "TGCAtgca", one)), collapse = "")
  }, "")
  lines <- readLines(vcf)
  fields <- strsplit(lines[!startsWith(lines, "#")], "\t")
  lines <- c(lines[startsWith(lines, "#")], rev(vapply(fields, function(field) {
    field[2] <- nchar(calls[[field[1]]]) + 1 - as.numeric(field[2])
    bases <- !grepl("[<.]", field[4:5])
    field[4:5][bases] <- chartr("ACGT", "TGCA", field[4:5][bases])
    paste(field, collapse = "\t")
  }, "")))
  strand <- mutations_of(tempfile_of(lines), write_fasta(turned, tempfile(fileext = ".fa")), 5,
                         two_columns, fold = "pyrimidine")
  expect_identical(as.matrix(strand), as.matrix(x))
})

test_that("by frequency each type has an sfs", {
  set.seed(5)
  calls <- mutation_calls(c(chr1 = 900), missing = 0.01)
  folder <- calls_folder(calls)
  writeBin(as.raw(sample(c(2:40, 255), 900, TRUE)), file.path(folder, "chr1.phred"))
  phred <- list(chr1 = as.numeric(readBin(file.path(folder, "chr1.phred"), "raw", 900)))
  vcf <- mutation_vcf(calls, 200)
  size <- c(YRI = 3, CEU = 2)
  x <- mutations_of(vcf, folder, populations = two_columns, by = "frequency", project = size)
  sites <- oracle_mutations(readLines(vcf), two_columns, letters_of(calls), phred = phred)
  used <- sites[sites$reason == "USED", ]
  p <- ifelse(is.na(used$posterior), 1, used$posterior)
  expect_identical(length(x), 96L)
  for (type in unique(c(used$type, used$reverse))) {
    forth <- used$type == type
    back <- used$reverse == type
    weights <- c(p[forth], 1 - p[back])
    derived <- rbind(used$derived[forth, , drop = FALSE],
                     (used$called - used$derived)[back, , drop = FALSE])
    called <- used$called[c(which(forth), which(back)), , drop = FALSE]
    expected <- array(0, unname(size) + 1)
    for (i in seq_along(weights)) {
      site <- oracle_sfs_of_sites(derived[i, , drop = FALSE], called[i, , drop = FALSE],
                                  unname(size))
      expected <- expected + weights[i] * site
    }
    expect_s3_class(x[[type]], "sfs")
    expect_equal(unname(plain_array(x[[type]])), expected, tolerance = 1e-12)
  }
  few <- rowSums(used$called < rep(size, each = nrow(used))) > 0
  expect_identical(records_of_reason(x)[c("TOO_FEW", "USED")],
                   c(TOO_FEW = sum(few) + 0, USED = sum(!few) + 0))
})

test_that("formats and threads do not change the spectrum", {
  set.seed(6)
  calls <- mutation_calls(c(chr1 = 900, chr2 = 400))
  folder <- calls_folder(calls)
  fasta <- write_fasta(calls, tempfile(fileext = ".fa"))
  vcf <- mutation_vcf(calls)
  make <- function(path, ancestral, threads) {
    set.seed(2)
    mutations_of(path, ancestral, 5, two_columns, windows = 100, replicates = 3, threads = threads)
  }
  x <- make(vcf, folder, 1)
  for (path in c(vcf, as_bgzip(vcf), as_bcf(vcf))) {
    for (threads in c(1, 4)) expect_identical(make(path, folder, threads), x)
  }
  expect_identical(make(vcf, fasta, 2), x)
  expect_identical(make(vcf, as_bgzip(fasta), 2), x)
  expect_identical(make(vcf, file.path(folder, "{chrom}.fa"), 2), x)
})

test_that("windows add up, and their standard errors are those of the draws", {
  set.seed(7)
  calls <- mutation_calls(c(chr1 = 950, chr2 = 400, chr3 = 30))
  vcf <- mutation_vcf(calls[1:2])
  x <- mutations_of(vcf, calls_folder(calls), 3, two_columns, windows = 100, replicates = 7)
  windows <- attr(x, "windows")
  expect_identical(windows$chromosome, rep(c("chr1", "chr2"), c(10, 4)))
  expect_identical(windows$start, c(0:9, 0:3) * 100 + 1)
  expect_identical(windows$end, c(1:9 * 100, 950, 1:4 * 100))
  whole <- mutations_of(vcf, calls_folder(calls), 3, two_columns)
  expect_identical(as.matrix(x), as.matrix(whole))
  sites <- oracle_mutations(readLines(vcf), two_columns, letters_of(calls))
  fields <- strsplit(grep("^#", readLines(vcf), value = TRUE, invert = TRUE), "\t")
  place <- vapply(fields, function(field) {
    paste(field[1], (as.numeric(field[2]) - 1) %/% 100 * 100 + 1)
  }, "")
  by_window <- as.data.frame(x, by_window = TRUE)
  for (one in unique(place)) {
    expected <- oracle_type_counts(sites[place == one, ])
    rows <- by_window[paste(by_window$chromosome, by_window$start) == one, ]
    expect_equal(sum(rows$count), sum(expected))
    expect_equal(rows$count, expected[cbind(rows$type, rows$population)])
  }
  table <- as.data.frame(x)
  draws <- attr(x, "draws")
  expect_identical(dim(draws), c(14L, 7L))
  row <- which.max(table$count)
  one <- by_window[by_window$type == table$type[row] &
                     by_window$population == table$population[row], ]
  window <- match(paste(one$chromosome, one$start), paste(windows$chromosome, windows$start))
  expect_equal(table$std_error[row], sd(vapply(1:7, function(i) {
    sum(draws[window, i] * one$count)
  }, 0)))
})

test_that("sites of a chromosome without a sequence have no context, whatever k is", {
  records <- vcf_records(
    rep(c("chr1", "chr2"), 3:2), c(5, 15, 25, 5, 15), "A", rep(c("C", "G"), 3:2), "AA=A"
  )
  vcf <- genotype_vcf(records, matrix(c("0/1", "0/0"), 5, 2, byrow = TRUE))
  populations <- c(s1 = "P", s2 = "P")
  only_chr2 <- calls_folder(c(chr2 = strrep("A", 30)))
  both <- calls_folder(c(chr1 = strrep("A", 100), chr2 = strrep("A", 30)))
  short <- calls_folder(c(chr1 = strrep("A", 20), chr2 = strrep("A", 30)))
  for (k in c(1, 3)) {
    found <- function(...) mutations_of(vcf, ..., k = k, populations = populations)
    by_info <- suppressWarnings(found(only_chr2, info = TRUE, windows = 10, replicates = 2))
    by_reference <- found(both, reference = only_chr2, context = "reference", windows = 10,
                          replicates = 2)
    for (x in list(by_info, by_reference)) {
      expect_equal(records_of_reason(x)[c("NO_CONTEXT", "USED")], c(NO_CONTEXT = 3, USED = 2))
      rows <- as.data.frame(x, by_window = TRUE)
      expect_identical(rows$chromosome, c("chr2", "chr2"))
      expect_identical(rows$start, c(1, 11))
      expect_identical(rows$mutation, c("A>G", "A>G"))
    }
    by_type <- suppressWarnings(found(only_chr2, info = TRUE, by = "frequency"))
    expect_equal(records_of_reason(by_type)[["NO_CONTEXT"]], 3)
    expect_ancify_error(found(short, info = TRUE), "format", "beyond the end")
    whole <- found(both, info = TRUE)
    expect_identical(attr(whole, "windows")$chromosome, c("chr1", "chr2"))
    expect_equal(sum(whole), 5)
  }
  # AA counts where no base is called, as with longer contexts.
  unknown <- calls_folder(c(chr1 = strrep("N", 100), chr2 = strrep("N", 30)))
  expect_equal(sum(mutations_of(vcf, unknown, 1, populations, info = TRUE)), 5)
})

test_that("bad input is refused", {
  set.seed(8)
  calls <- mutation_calls(c(chr1 = 300))
  folder <- calls_folder(calls)
  vcf <- mutation_vcf(calls, 40)
  refuses <- function(text, ..., ancestral = folder, class = "input") {
    expect_ancify_error(mutations_of(vcf, ancestral, ...), class, text)
  }
  refuses("`k` is 4", 4)
  refuses("up to 9", 11)
  refuses("`context = \"reference\"` needs", context = "reference")
  refuses("needs `by = \"frequency\"`", project = 3)
  refuses("at most 5", 7, by = "frequency")
  refuses("no windows", by = "frequency", windows = 10)
  refuses("no spectra of single samples", by = "frequency", samples = TRUE)
  refuses("in no population", populations = c(s1 = "A"))
  refuses("at least two windows", windows = 1000)
  refuses("has no file for", ancestral = calls_folder(c(chr7 = "ACGT")))
  refuses("has none of the chromosomes",
          ancestral = write_fasta(c(chr7 = "ACGT"), tempfile(fileext = ".fa")))
  refuses("beyond the end", ancestral = calls_folder(c(chr1 = "ACGT")), class = "format")
  refuses("has no region", mask = tempfile_of("chr9\t1\t5"))
  lines <- readLines(vcf)
  cut <- tempfile_of(sub("\tGT\t.*", "\tGT\t0/7\t0\t0\t0\t0\t0", lines))
  expect_ancify_error(mutations_of(cut, folder), "format", cut)
})
