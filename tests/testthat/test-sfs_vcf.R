# Spectra from VCF files.

# Records of every reason on two chromosomes, with samples s1 to s6.
random_spectrum_vcf <- function(n = 120, posteriors = TRUE) {
  records <- random_vcf(c(chr1 = 400, chr2 = 300), n)
  fields <- do.call(rbind, strsplit(records, "\t"))
  alts <- strsplit(fields[, 5], ",")
  alleles <- 1 + ifelse(fields[, 5] == ".", 0, lengths(alts))
  base <- ifelse(runif(nrow(fields)) < 0.5, fields[, 4], vapply(alts, `[`, "", 1))
  base <- ifelse(runif(nrow(fields)) < 0.3, tolower(base), base)
  other <- sample(c("A", "t", "n", "N", "-", ".", "CA", "?"), nrow(fields), TRUE)
  base <- ifelse(runif(nrow(fields)) < 0.2 | grepl("[*<]", base), other, base)
  info <- paste0("AA=", base, ifelse(runif(nrow(fields)) < 0.1, "|||", ""))
  info[sample(nrow(fields), 5)] <- "."
  if (posteriors) {
    # Eighths are exact floats. The sum of AA_post may be any number.
    p <- sample(8, nrow(fields), TRUE) / 8
    each <- matrix(sample(8, 4 * nrow(fields), TRUE) / 8, ncol = 4)
    info <- paste0(info, sample(c("", "prob", "post", "both"), nrow(fields), TRUE) |> vapply(
      switch, "", prob = ";AA_prob=%s", post = ";AA_post=%s", both = ";AA_prob=%s;AA_post=%s", ""
    ))
    each <- apply(each, 1, paste, collapse = ",")
    for (i in seq_along(info)) {
      info[i] <- sub("AA_post=%s", paste0("AA_post=", each[i]), info[i])
      info[i] <- sub("AA_prob=%s", paste0("AA_prob=", p[i]), info[i])
    }
    info <- sub("^\\.;", "", info)
  }
  fields[, 8] <- info
  genotypes <- random_genotypes(nrow(fields), 6, alleles)
  genotypes[] <- paste0(genotypes, ":7")
  records <- apply(fields, 1, paste, collapse = "\t")
  has_none <- seq_along(records) %% 50 == 0
  genotypes[has_none, ] <- "7"
  genotype_vcf(records, genotypes, ifelse(has_none, "DP", "GT:DP"))
}

two_populations <- c(s2 = "YRI", s1 = "YRI", s5 = "CEU", s6 = "CEU", s3 = "YRI", s4 = "CEU")

test_that("a small file has the known spectrum", {
  require_htslib()
  records <- vcf_records("1", 1:9, c("A", "A", "C", "G", "T", "A", "A", "AC", "A"),
                         c("C", "C", "T", "T", "C", "C,G", ".", "A", "G"),
                         paste0("AA=", c("A", "c", "C", "A", ".", "A", "A", "A", "A")))
  genotypes <- rbind(
    c("0|1", "1/1", "0"), c("0|1", "0/0", "1"), c("./1", "0/0", "0"), c("0/1", "0/1", "1"),
    c("0/1", "0/1", "1"), c("0/1", "1/2", "1"), c("0/0", "0/0", "0"), c("0/1", "0/1", "1"),
    c("0|0", "0|0", ".")
  )
  vcf <- genotype_vcf(records, genotypes)
  populations <- c(s1 = "A", s2 = "A", s3 = "B")
  x <- sfs_of_vcf(vcf, populations)
  # The first two have 3 of 4 derived copies in A and none in B. The third lacks an allele in A, and
  # the last all alleles of B.
  expected <- array(0, c(5, 2))
  expected[4, 1] <- 2
  expect_identical(unname(plain_array(x)), expected)
  expect_identical(dimnames(x), list(A = as.character(0:4), B = c("0", "1")))
  expect_identical(
    attr(x, "records"),
    data.frame(
      reason = c("INDEL", "MONOMORPHIC", "MULTIALLELIC", "REF_MISMATCH", "MASKED", "NO_COVERAGE",
                 "UNRESOLVED", "NEITHER_ALLELE", "LOW", "TOO_FEW", "USED"),
      records = c(1, 1, 1, 0, 0, 1, 0, 1, 0, 2, 2)
    )
  )
  expect_identical(attr(x, "sites"), list(given = 4, used = 2, too_few = c(A = 1, B = 1)))
  expect_null(attr(x, "misidentification"))

  # Three of the third's haplotypes are called, one of them derived.
  x <- sfs_of_vcf(vcf, populations, project = c(B = 1, A = 3))
  expected <- array(0, c(4, 2))
  expected[c(3, 4), 1] <- 2 * c(3, 1) / 4
  expected[2, 1] <- 1
  expect_equal(unname(plain_array(x)), expected)
  x <- sfs_of_vcf(vcf, populations, project = c(4, 1), low_confidence = FALSE)
  expect_identical(sum(x), 1)
  expect_identical(records_of_reason(x)[["LOW"]], 1)
  expect_match(format_sfs(x)[3:4], "^  (records  9, left out 1 INDEL, | +.*NEITHER_ALLELE, 1 LOW)")
  expect_match(format_sfs(x), "given +3 sites, 2 with too few", all = FALSE)
})

test_that("spectra are those of the plain implementation and of sfs_from_sites()", {
  require_htslib()
  set.seed(21)
  vcf <- random_spectrum_vcf()
  size <- c(YRI = 3, CEU = 4)
  for (low in c(TRUE, FALSE)) {
    sites <- oracle_vcf_sites(readLines(vcf), two_populations, low, window = 100)
    set.seed(1)
    x <- sfs_of_vcf(vcf, two_populations, size, low_confidence = low, window = 100, replicates = 3)
    sure <- ifelse(is.na(sites$posterior), 1, sites$posterior)
    is_site <- sites$reason == "SITE"
    given <- sites[is_site, ]
    expected <- oracle_sfs_of_sites(given$derived, given$called, unname(size), sure[is_site])
    expect_equal(unname(plain_array(x)), expected, tolerance = 1e-12)
    reasons <- records_of_reason(x)
    expect_identical(sum(reasons), 240)
    left <- setdiff(names(reasons), c("TOO_FEW", "USED"))
    expect_identical(unname(reasons[left]), as.numeric(table(factor(sites$reason, left))))

    # Counts become a spectrum as in sfs_from_sites().
    set.seed(1)
    same <- sfs_from_sites(
      given$derived, given$called, project = size, posterior = sure[is_site],
      mutation = given$mutation, windows = given$window, replicates = 3, threads = 1
    )
    for (what in c("sites", "bootstrap", "misidentification")) {
      expect_equal(attr(x, what), attr(same, what), tolerance = 1e-12, info = what)
    }
    expect_identical(as.vector(unclass(x)), as.vector(unclass(same)))
  }
  expect_true(all(reasons[setdiff(names(reasons), c("REF_MISMATCH", "MASKED"))] > 0))
})

test_that("default sizes are the most called haplotypes", {
  require_htslib()
  set.seed(22)
  records <- vcf_records("1", 1:60, "A", "C", "AA=A")
  vcf <- genotype_vcf(records, random_genotypes(60, 3, missing = 0.02))
  x <- sfs_of_vcf(vcf, c(s1 = "A", s2 = "B", s3 = "A"))
  sites <- oracle_vcf_sites(readLines(vcf), c(s1 = "A", s2 = "B", s3 = "A"))
  expect_identical(dim(x) - 1L, unname(as.integer(apply(sites$called, 2, max))))
  same <- sfs_from_sites(sites$derived, sites$called, threads = 1)
  expect_identical(plain_array(x), plain_array(same))
  expect_identical(attr(x, "sites"), attr(same, "sites"))
})

test_that("formats and threads do not change the spectrum", {
  require_htslib()
  set.seed(23)
  vcf <- random_spectrum_vcf()
  make <- function(path, threads) {
    set.seed(2)
    sfs_of_vcf(path, two_populations, c(4, 4), window = 50, replicates = 2, threads = threads)
  }
  x <- make(vcf, 1)
  for (path in c(vcf, as_bgzip(vcf), as_bcf(vcf))) {
    for (threads in c(1, 4)) expect_identical(make(path, threads), x)
  }
})

test_that("the reference shows CpG sites and wrong REF bases", {
  require_htslib()
  set.seed(24)
  vcf <- random_spectrum_vcf()
  sequence <- function(n) sample(c("A", "C", "G", "g", "T", "N"), n, TRUE, c(1, 3, 3, 1, 1, 2))
  reference <- list(chr1 = sequence(400), chr2 = sequence(300))
  # Most records have the right REF.
  for (field in strsplit(readLines(vcf), "\t")) {
    if (length(field) < 8 || field[1] == "#CHROM" || runif(1) < 0.2) next
    reference[[field[1]]][as.numeric(field[2])] <- substr(field[4], 1, 1)
  }
  fasta <- tempfile(fileext = ".fa")
  writeLines(unlist(Map(function(name, bases) c(paste0(">", name), paste(bases, collapse = "")),
                        sub("chr", "", names(reference)), reference)), fasta)
  sites <- oracle_vcf_sites(readLines(vcf), two_populations, reference = reference)
  x <- sfs_of_vcf(vcf, two_populations, c(2, 2), reference = fasta)
  expect_identical(records_of_reason(x)[["REF_MISMATCH"]], sum(sites$reason == "REF_MISMATCH") + 0)
  given <- sites[sites$reason == "SITE", ]
  same <- sfs_from_sites(
    given$derived, given$called, project = c(2, 2), threads = 1,
    posterior = ifelse(is.na(given$posterior), 1, given$posterior), mutation = given$mutation,
    cpg = ifelse(is.na(given$cpg), FALSE, given$cpg)
  )
  expect_equal(plain_array(x), plain_array(same), tolerance = 1e-12)
  rates <- attr(x, "misidentification")
  expect_identical(names(rates), c("mutation", "cpg", "sites", "rate", "std_error"))
  varies <- rowSums(given$called >= 2) == 2 & rowSums(given$derived) > 0 &
    rowSums(given$derived) < rowSums(given$called)
  counts <- table(
    given$mutation[varies], factor(given$cpg[varies], c(FALSE, TRUE, NA), exclude = NULL)
  )
  expect_true(all(colSums(counts) > 0))
  for (i in seq_len(nrow(rates))) {
    column <- match(rates$cpg[i], c(FALSE, TRUE, NA))
    expect_identical(rates$sites[i], as.numeric(counts[rates$mutation[i], column]))
  }
  expect_identical(nrow(rates), sum(counts > 0))
  certain <- given$cpg %in% TRUE & varies & given$mutation == "C>T"
  p <- ifelse(is.na(given$posterior), 1, given$posterior)[certain]
  row <- which(rates$mutation == "C>T" & rates$cpg %in% TRUE)
  expect_equal(rates$rate[row], mean(1 - p))
  expect_equal(rates$std_error[row], sqrt(sum(p * (1 - p))) / length(p))
})

test_that("ancestral alleles come from a FASTA file or a run", {
  require_htslib()
  config <- example_with_posteriors()
  run <- run_quietly(config, threads = 2)
  set.seed(25)
  chromosome <- rep(c("chr1", "2"), each = 300)
  position <- c(sort(sample(20000, 300)), sort(sample(20000, 300)))
  calls <- lapply(run$file[1:2], function(file) strsplit(readLines(file)[2], "")[[1]])
  names(calls) <- c("chr1", "2")
  call <- mapply(function(name, at) calls[[name]][at], chromosome, position)
  ref <- ifelse(toupper(call) %in% "A", "A", "C")
  alt <- sample(c("G", "T"), 600, TRUE)
  # AA names another base.
  vcf <- genotype_vcf(vcf_records(chromosome, position, ref, alt, paste0("AA=", alt)),
                      random_genotypes(600, 3))
  populations <- c(s1 = "A", s2 = "A", s3 = "B")
  sites <- oracle_vcf_sites(readLines(vcf), populations, ancestral = calls)
  is_site <- sites$reason == "SITE"
  phred <- mapply(function(name, at) read_posterior(config$output_dir, name, at, at),
                  sub("^2", "chr2", chromosome), position)
  given <- sites[is_site, ]
  from_run <- sfs_from_sites(given$derived, given$called, project = c(3, 1), threads = 1,
                             posterior = 1 - 10^(-phred[is_site] / 10), mutation = given$mutation)
  for (ancestral in list(run, config$output_dir)) {
    x <- sfs_of_vcf(vcf, populations, c(3, 1), ancestral = ancestral)
    expect_identical(as.vector(unclass(x)), as.vector(unclass(from_run)))
    expect_equal(attr(x, "misidentification"), attr(from_run, "misidentification"))
    expect_identical(records_of_reason(x)[["NEITHER_ALLELE"]],
                     sum(sites$reason == "NEITHER_ALLELE") + 0)
  }
  pattern <- file.path(config$output_dir, "{chrom}.fa")
  x <- sfs_of_vcf(vcf, populations, c(3, 1), ancestral = pattern)
  sure <- sfs_from_sites(given$derived, given$called, project = c(3, 1), threads = 1)
  expect_identical(as.vector(unclass(x)), as.vector(unclass(sure)))
  expect_null(attr(x, "misidentification"))
  one <- vcf_records(c("chr1", "chr9"), 1, "A", "C")
  fasta <- tempfile()
  writeLines(c(">1", "a"), fasta)
  caught <- expect_one_warning(
    sfs_of_vcf(genotype_vcf(one, cbind(c("0/1", "0/1"))), c(s1 = "A"), ancestral = fasta),
    "annotation", "'chr9'", "1 records"
  )
  expect_identical(records_of_reason(caught$value)[c("NO_COVERAGE", "USED")],
                   c(NO_COVERAGE = 1, USED = 1))
})

test_that("real variants give the spectrum of the plain implementation", {
  require_htslib()
  vcf <- variant_annotation_vcf()
  lines <- readLines(vcf)
  samples <- utils::tail(strsplit(grep("^#CHROM", lines, value = TRUE), "\t")[[1]], 5)
  populations <- stats::setNames(c("one", "two", "one", "two", "one"), samples)
  kept <- c(grep("^#CHROM", lines), which(!startsWith(lines, "#"))[seq_len(2000)])
  sites <- oracle_vcf_sites(lines[kept], populations)
  short <- tempfile(fileext = ".vcf")
  writeLines(c(lines[startsWith(lines, "#")], lines[kept[-1]]), short)
  x <- sfs_of_vcf(short, populations)
  given <- sites[sites$reason == "SITE", ]
  same <- sfs_from_sites(given$derived, given$called, threads = 1)
  expect_identical(plain_array(x), plain_array(same))
  left <- setdiff(attr(x, "records")$reason, c("TOO_FEW", "USED"))
  expect_identical(unname(records_of_reason(x)[left]),
                   as.numeric(table(factor(sites$reason, left))))
  # INFO/AC and AN count all samples of the project, so only the number of records is compared.
  expect_identical(sum(attr(sfs_of_vcf(vcf, populations), "records")$records), 10376)
})

test_that("populations may have any form", {
  require_htslib()
  set.seed(26)
  records <- vcf_records("1", 1:20, "A", "C", "AA=A")
  vcf <- genotype_vcf(records, random_genotypes(20, 4, missing = 0))
  populations <- c(s3 = "B\u00e4r", s1 = "B\u00e4r", s4 = "W")
  x <- sfs_of_vcf(vcf, populations, subset = TRUE)
  expect_identical(names(dimnames(x)), c("B\u00e4r", "W"))
  table <- data.frame(population = factor(populations, c("other", "W", "B\u00e4r")),
                      sample = names(populations), more = 1)
  expect_identical(sfs_of_vcf(vcf, table, subset = TRUE), x)
  file <- tempfile()
  rows <- paste0(names(populations), c("\t", "  ", " \t "), populations, c("", " EUR", "\tEUR\tm"))
  writeLines(enc2utf8(c("# a comment", "", rows)), file, useBytes = TRUE)
  expect_identical(sfs_of_vcf(vcf, file, subset = TRUE), x)
  # Populations keep the order of the table. With tabs, names may have blanks.
  lines <- sub("s1\ts2", "s 1\ts2", readLines(vcf))
  writeLines(lines, vcf)
  writeLines(c("s4\tW", "s 1\tX Y"), file)
  expect_identical(names(dimnames(sfs_of_vcf(vcf, file, subset = TRUE))), c("W", "X Y"))
})

test_that("invalid arguments and files are errors that say why", {
  require_htslib()
  records <- vcf_records("1", c(5, 9, 20), "A", "C", "AA=A")
  genotypes <- matrix(c("0/1", "1/1", "0/0"), 3, 2)
  good <- genotype_vcf(records, genotypes)
  refused <- function(class, ..., vcf = good, populations = c(s1 = "A", s2 = "B"), texts) {
    expect_ancify_error(sfs_of_vcf(vcf, populations, ...), class, texts)
  }
  refused("input", populations = c(s1 = "A"), texts = c(good, "'s2'", "subset = TRUE"))
  refused("input", populations = c(s1 = "A", s2 = "A", x = "A"), texts = c("no sample 'x'", "'s1'"))
  refused("input", populations = c(s1 = "A", s2 = "A", x = "B"),
          texts = "none of the population 'B'")
  refused("input", populations = c(s1 = "A", s2 = NA), texts = c("'s2'", "'NA'"))
  refused("input", populations = c(s1 = "A", s1 = "B"), texts = c("'s1' twice"))
  refused("input", populations = stats::setNames(letters[1:6], paste0("s", 1:6)),
          texts = c("6 populations", "1 to 5"))
  refused("input", populations = c(s1 = "A", s2 = "\"B"), texts = "`populations[2]`")
  refused("input", populations = data.frame(sample = "s1"),
          texts = "the columns 'sample', but needs")
  refused("input", populations = data.frame(sample = character(), population = character()),
          texts = "0 populations")
  refused("input", populations = c("A", "B"), texts = "`populations` must be populations named")
  refused("input", populations = factor("A"), texts = "`populations` must be")
  refused("input", populations = list("s1"), texts = "`populations` must be")
  refused("input", populations = 1, texts = "`populations` must be")
  refused("file", populations = "nowhere.txt", texts = "nowhere.txt")
  file <- tempfile()
  writeLines(c("s1\tA", "s2"), file)
  condition <- refused("format", populations = file, texts = c(file, "line 2", "'s2'"))
  expect_identical(condition$line, 2)
  writeLines(c("s1\tA", "", "s1 B"), file)
  refused("format", populations = file, texts = c("line 3", "'s1'", "twice"))
  writeLines(character(), file)
  refused("input", populations = file, texts = "0 populations")
  writeBin(as.raw(c(0x73, 0x31, 0x09, 0xe4, 0x0a)), file)
  refused("format", populations = file, texts = "line 1")
  writeBin(as.raw(c(0x73, 0x31, 0x09, 0x41, 0x00, 0x0a)), file)
  refused("format", populations = file, texts = "line 1")

  refused("input", project = c(3, 2), texts = c("`project` is 3 for A", "from 1 to 2,"))
  refused("input", project = c(A = 2), texts = "`project` names 'A'")
  refused("input", project = c(1, 0), texts = "`project` is 0 for B")
  refused("input", vcf = genotype_vcf(records[1], cbind("0/1", "./.")),
          texts = "No site has a called haplotype in B")
  refused("input", window = 100, texts = "only one")
  refused("input", window = 0, texts = "`window`")
  refused("input", window = 5, replicates = 0, texts = "`replicates`")
  refused("input", low_confidence = NA, texts = "`low_confidence`")
  refused("input", subset = "yes", texts = "`subset`")
  refused("input", ancestral = 3, texts = "`ancestral`")
  refused("input", reference = new_folder(), texts = c("`reference`", "no file for '1'"))
  refused("input", vcf = 1, texts = "`vcf`")
  refused("file", vcf = "nowhere.vcf", texts = "nowhere.vcf")

  # Faults of the file.
  changed <- function(pattern, with, at = TRUE) {
    lines <- readLines(good)
    is_record <- which(!startsWith(lines, "#"))[at]
    lines[is_record] <- sub(pattern, with, lines[is_record])
    path <- tempfile(fileext = ".vcf")
    writeLines(lines, path)
    path
  }
  n <- length(readLines(good))
  third <- sprintf("line %d", n)
  condition <- refused("format", vcf = changed("0/0", "0/7", 3),
                       texts = c(third, "record 3", "'s1' has the allele 7"))
  expect_identical(condition$line, as.numeric(n))
  refused("format", vcf = changed("0/0$", "x", 3), texts = c(third, "record 3"))
  refused("format", vcf = changed("\t0/0$", "", 3), texts = c(third, "number of samples"))
  refused("format", vcf = changed("$", "\t0/0", 3), texts = c(third, "number of samples"))
  refused("format", vcf = changed("AA=A", "AA=A;AA_prob=1.5", 3),
          texts = c(third, "AA_prob is 1.5"))
  refused("format", vcf = changed("AA=A", "AA=A;AA_prob=nan,1", 3), texts = c(third, "AA_prob"))
  refused("format", vcf = changed("AA=A", "AA=A;AA_prob=high", 3),
          texts = c(third, "AA_prob is 'high', not a number"))
  refused("format", vcf = changed("AA=A", "AA_post=1,0,0,0.x;AA=A", 3),
          texts = c(third, "AA_post is '0.x', not a number"))
  refused("format", vcf = changed("AA=A", "AA=A;AA_post=1,0", 3), texts = c(third, "AA_post"))
  refused("format", vcf = changed("AA=A", "AA=A;AA_post=0,0,1,0", 3),
          texts = c(third, "0 for both"))
  refused("format", vcf = changed("\t20\t", "\t8\t", 3), texts = c(third, "sort"))
  refused("format", vcf = changed("\tGT\t.*", "", 3), texts = c(third, "number of samples"))
  refused("format", vcf = changed("GT", "XX"), texts = "no record has genotypes")
  refused("format", vcf = write_vcf(records), texts = "no samples")
  lines <- readLines(good)
  twice <- tempfile(fileext = ".vcf")
  writeLines(sub("\ts2", "\ts1", lines), twice)
  refused("format", vcf = twice, texts = c("#CHROM", "repeats a sample"))
  latin1 <- tempfile(fileext = ".vcf")
  writeLines(sub("\ts1", "\ts\xe4", lines, useBytes = TRUE), latin1, useBytes = TRUE)
  refused("format", vcf = latin1, texts = c("'s?'", "UTF-8"))
  refused("format", vcf = write_vcf(records, header = character()), texts = "neither VCF nor BCF")
  refused("input", vcf = changed("AA=A", "."),
          texts = c("no record for a spectrum", "3 NO_COVERAGE", "`ancestral`"))
  refused("input", vcf = write_vcf(character(), header = lines[seq_len(n - 3)]),
          texts = "has no records")
  fasta <- tempfile()
  writeLines(c(">1", strrep("A", 19)), fasta)
  refused("format", ancestral = fasta, texts = c(third, "position 20", "19 bases"))
  refused("format", reference = fasta, texts = c(third, "reference", "19 bases"))
  writeLines(c(">2", "A"), fasta)
  refused("input", ancestral = fasta, texts = c("none of the chromosomes", "'1'"))
  cut <- as_bgzip(good)
  writeBin(utils::head(file_bytes(cut), -20), cut)
  refused("format", vcf = cut, texts = "cut short")
})

test_that("a mask excludes sites as an annotation by it does", {
  require_htslib()
  set.seed(29)
  n <- 200
  base <- sample(bases, n, TRUE)
  other <- bases[1 + (match(base, bases) + sample(0:2, n, TRUE)) %% 4]
  ancestral <- ifelse(stats::runif(n) < 0.3, other, base)
  ancestral <- ifelse(stats::runif(n) < 0.2, tolower(ancestral), ancestral)
  genotypes <- matrix(sample(c("0/0", "0/1", "1/1"), 4 * n, TRUE), n)
  vcf <- genotype_vcf(
    vcf_records("chr1", 10 * seq_len(n), base, other, paste0("AA=", ancestral)), genotypes
  )
  mask <- tempfile(fileext = ".bed")
  writeLines(c("1\t95\t300", "1\t1000\t1001", "1\t1500\t1700"), mask)
  samples <- stats::setNames(rep(c("a", "b"), each = 2), paste0("s", 1:4))
  annotated <- tempfile(fileext = ".vcf")
  annotate_vcf(vcf, "AA", annotated, mask = mask, threads = 1, verbose = FALSE, progress = FALSE)
  for (low in c(TRUE, FALSE)) {
    expected <- sfs_of_vcf(annotated, samples, low_confidence = low)
    found <- sfs_of_vcf(vcf, samples, low_confidence = low, mask = mask)
    expect_identical(as.numeric(found), as.numeric(expected))
    expect_identical(attr(found, "records"), attr(expected, "records"))
    masked <- attr(found, "records")
    # Positions 100 to 300, and 1510 to 1700, in steps of 10
    expect_identical(masked$records[masked$reason == "MASKED"], 21 + 20)
  }
  expect_error(sfs_of_vcf(vcf, samples, mask = tempfile()), class = "ancify_file_error")
})
