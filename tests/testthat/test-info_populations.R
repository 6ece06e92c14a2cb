# Allele counts of populations in INFO: the same results as from the genotypes that were counted.

require_htslib()

# A file without samples whose INFO counts the alleles of each population, as bcftools +fill-tags
# does. `populations`: named by samples.
sites_of_genotypes <- function(vcf, populations, words = tolower) {
  lines <- readLines(vcf)
  header <- startsWith(lines, "#")
  fields <- do.call(rbind, strsplit(lines[!header], "\t"))
  samples <- strsplit(utils::tail(lines[header], 1), "\t")[[1]][-(1:9)]
  has_gt <- grepl("^GT", fields[, 9])
  genotypes <- fields[, -(1:9)]
  genotypes[] <- sub(":.*", "", genotypes)
  genotypes[!has_gt, ] <- "."
  alts <- ifelse(fields[, 5] == ".", 0, lengths(strsplit(fields[, 5], ",")))
  names <- unique(unname(populations))
  for (name in names) {
    columns <- match(names(populations)[populations == name], samples)
    counts <- vapply(seq_len(nrow(fields)), function(i) {
      alleles <- unlist(strsplit(genotypes[i, columns], "[/|]"))
      copies <- vapply(seq_len(alts[i]), function(alt) sum(alleles == alt), 0)
      paste0(
        if (alts[i] > 0) sprintf(";AC_%s=%s", words(name), paste(copies, collapse = ",")),
        sprintf(";AN_%s=%d", words(name), sum(alleles != "."))
      )
    }, "")
    fields[, 8] <- paste0(fields[, 8], counts)
  }
  declared <- count_declarations(c(outer(c("AC_", "AN_"), words(names), paste0)))
  header <- c(utils::head(lines[header], -1), declared)
  header <- header[!grepl("^##FORMAT", header)]
  columns <- "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
  fields[, 8] <- sub("^[.];", "", fields[, 8])
  write_vcf(apply(fields[, 1:8], 1, paste, collapse = "\t"), header = c(header, columns))
}

two_populations <- c(s2 = "YRI", s1 = "YRI", s5 = "CEU", s6 = "CEU", s3 = "YRI", s4 = "CEU")
in_info <- info_populations(c(YRI = "yri", CEU = "ceu"))

# Only the counts of reasons differ: of INFO there are two more.
expect_same_result <- function(x, y) {
  records <- attr(x, "records")
  added <- records$reason %in% c("NO_COUNTS", "BAD_COUNTS")
  expect_identical(records$records[added], c(0, 0))
  attr(x, "records") <- `rownames<-`(records[!added, ], NULL)
  expect_identical(x, y)
}

# Records of SNPs, of which some have no ALT, several or *, with posteriors.
varied_vcf <- function(n = 150, indels = FALSE, genotypes_of = random_genotypes) {
  position <- sort(sample(2000, n, TRUE))
  alt <- sample(if (indels) c("AT", "ATG", "C") else c("C", "G", "*,C", "C,*", "C,T", "."), n, TRUE)
  ancestral <- sample(c("A", "a", "C", "AT", "N"), n, TRUE)
  info <- paste0("AA=", ancestral, sample(c("", ";AA_prob=0.75"), n, TRUE))
  alleles <- 1 + ifelse(alt == ".", 0, lengths(strsplit(alt, ",")))
  genotype_vcf(vcf_records("1", position, "A", alt, info), genotypes_of(n, 6, alleles))
}

test_that("spectra are those of genotypes, to the last bit", {
  set.seed(61)
  fasta <- tempfile(fileext = ".fa")
  writeLines(c(">1", paste(sample(c("A", "a", "C", "N"), 2000, TRUE), collapse = "")), fasta)
  for (round in 1:3) {
    vcf <- varied_vcf()
    sites <- sites_of_genotypes(vcf, two_populations)
    classes <- data.frame(chromosome = "1", position = 1:2000, class = c("a", "b"))
    for (arguments in list(
      list(), list(project = c(CEU = 3, YRI = 4)), list(project = c(3, 4), folded = TRUE),
      list(project = c(2, 2), ancestral = fasta, low_confidence = FALSE),
      list(project = c(3, 3), window = 150, replicates = 3), list(project = 2:3, classes = classes)
    )) {
      run <- function(...) {
        set.seed(1)
        do.call(sfs_of_vcf, c(list(...), arguments))
      }
      of_sites <- run(sites, in_info)
      of_genotypes <- run(vcf, two_populations)
      if (length(arguments)) expect_gt(sum(if (is_sfs(of_sites)) of_sites else of_sites$a), 0)
      expect_same_result(of_sites, of_genotypes)
    }
  }
  vcf <- varied_vcf(indels = TRUE)
  sites <- sites_of_genotypes(vcf, two_populations)
  expect_same_result(sfs_of_vcf(sites, in_info, c(3, 3), kind = "indels"),
                     sfs_of_vcf(vcf, two_populations, c(3, 3), kind = "indels"))
  for (path in c(as_bgzip(sites), as_bcf(sites))) {
    for (threads in 1:2) {
      expect_identical(sfs_of_vcf(path, in_info, c(3, 3), threads = threads),
                       sfs_of_vcf(sites, in_info, c(3, 3)))
    }
  }
})

test_that("bcftools +fill-tags counts as the genotypes do", {
  require_tool("bcftools")
  plugins <- run_program("bcftools", "plugin", "-l")$out
  if (!"fill-tags" %in% plugins) lacking("bcftools' plugin fill-tags")
  set.seed(62)
  # It leaves out genotypes of which one allele is missing, and takes no names of two letters.
  vcf <- varied_vcf(genotypes_of = function(n, samples, alleles) {
    alleles <- rep(alleles, samples)
    one <- function() floor(runif(n * samples) * alleles)
    drawn <- ifelse(runif(n * samples) < 0.1, "./.", paste(one(), one(), sep = "/"))
    matrix(drawn, n, samples)
  })
  named <- function(samples) sub("^s", "sample", samples)
  lines <- readLines(vcf)
  columns <- startsWith(lines, "#CHROM")
  lines[columns] <- gsub("\ts", "\tsample", lines[columns])
  writeLines(lines, vcf)
  two_populations <- stats::setNames(two_populations, named(names(two_populations)))
  groups <- tempfile()
  writeLines(paste(names(two_populations), two_populations, sep = "\t"), groups)
  filled <- tempfile(fileext = ".vcf")
  done <- run_program("bcftools", "+fill-tags", vcf, "-o", filled, "--", "-S", groups, "-t",
                      "AN,AC")
  expect_identical(done$status, 0L)
  bare <- tempfile(fileext = ".vcf")
  writeLines(bcftools_lines("view", filled, "-G"), bare)
  fields <- info_populations(c("YRI", "CEU"))
  for (path in c(filled, bare)) {
    expect_same_result(sfs_of_vcf(path, fields, c(3, 3)),
                       sfs_of_vcf(vcf, two_populations, c(3, 3)))
  }
  # All samples together
  all <- replace(two_populations, TRUE, "all")
  expect_same_result(sfs_of_vcf(bare, info_populations("all", "AC", "AN"), 6),
                     sfs_of_vcf(vcf, all, 6))
})

test_that("mutation spectra are those of genotypes, to the last bit", {
  set.seed(63)
  calls <- mutation_calls(c(chr1 = 900, chr2 = 400))
  folder <- calls_folder(calls)
  vcf <- mutation_vcf(calls)
  sites <- sites_of_genotypes(vcf, two_columns)
  for (arguments in list(
    list(), list(k = 1, low_confidence = FALSE), list(windows = 200, replicates = 3),
    list(k = 1, by = "frequency", project = c(2, 3)), list(fold = "pyrimidine")
  )) {
    run <- function(...) {
      set.seed(1)
      do.call(mutations_of, c(list(...), arguments))
    }
    expect_same_result(run(sites, folder, populations = in_info),
                       run(vcf, folder, populations = two_columns))
  }
  # Without populations: AC and AN
  all <- stats::setNames(rep("all", 6), paste0("s", 1:6))
  sites <- sites_of_genotypes(vcf, all, function(name) "x")
  lines <- gsub("AN_x", "AN", gsub("AC_x", "AC", readLines(sites)))
  writeLines(lines, sites)
  expect_identical(mutations_of(sites, folder), mutations_of(vcf, folder))
  expect_ancify_error(mutations_of(sites, folder, samples = TRUE), "input", "`samples = TRUE`")
  expect_ancify_error(mutations_of(vcf, folder, populations = in_info, samples = TRUE), "input",
                      "`samples = TRUE`")
})

test_that("coding changes count as genotypes do, together and by population", {
  require_package("Biostrings")
  set.seed(64)
  x <- coding_example()
  y <- x
  records <- grep("^[^#]", readLines(x$vcf), value = TRUE)
  x$vcf <- genotype_vcf(records, random_genotypes(length(records), 6))
  plain <- function(x) as.data.frame(x, stringsAsFactors = FALSE)
  y$vcf <- sites_of_genotypes(x$vcf, two_populations)
  by_samples <- changes_of(x, populations = two_populations)
  by_info <- changes_of(y, populations = in_info)
  attr(by_info, "origin") <- attr(by_samples, "origin")
  expect_identical(by_info, by_samples)
  all <- changes_of(x)
  expect_identical(all$called, by_samples$called)
  expect_identical(all$copies, by_samples$copies)
  known <- !is.na(by_info$called_YRI) & !is.na(by_info$called_CEU)
  expect_identical(by_info$copies[known], (by_info$copies_YRI + by_info$copies_CEU)[known])
  expect_false("called_YRI" %in% names(all))
  # AC and AN, without populations
  one <- stats::setNames(rep("all", 6), paste0("s", 1:6))
  y$vcf <- sites_of_genotypes(x$vcf, one, function(name) "x")
  writeLines(gsub("AN_x", "AN", gsub("AC_x", "AC", readLines(y$vcf))), y$vcf)
  found <- changes_of(y)
  attr(found, "origin") <- attr(all, "origin")
  expect_identical(found, all)
  # Counts that are missing or impossible
  lines <- readLines(y$vcf)
  first <- grep("^[^#]", lines)
  lines[first] <- sub(";AN=[0-9]+", "", lines[first])
  writeLines(lines, y$vcf)
  odd <- expect_one_warning(changes_of(y, populations = info_populations("p", "AC", "AN")),
                            "annotation", "sites lack AC or AN", "Their counts are NA")$value
  expect_true(all(is.na(odd$called)))
  expect_true(all(is.na(odd$copies_p)))
})

test_that("sites without possible counts are left out by reason, with one warning", {
  site <- function(position, info, alt = "C") vcf_records("1", position, "A", alt, info)
  records <- c(
    site(1, "AC_a=1;AN_a=4;AC_b=2;AN_b=2"), site(2, "AC_a=1;AN_a=4;AC_b=2"),
    site(3, "AC_a=.;AN_a=4;AC_b=0;AN_b=2"), site(4, "AC_a=5;AN_a=4;AC_b=0;AN_b=2"),
    site(5, "AC_a=0;AN_a=0;AC_b=0;AN_b=2"), site(6, "AC_a=1;AN_a=2;AC_b=1;AN_b=2"),
    site(7, "AC_a=1,1;AN_a=4;AC_b=0,1;AN_b=2", "C,T"), site(8, "AC_a=1;AN_a=4;AC_b=0,1;AN_b=2"),
    site(9, "AC_a=9;AN_a=4;AC_b=1")
  )
  header <- count_declarations(c("AC_a", "AN_a", "AC_b", "AN_b"))
  vcf <- write_vcf(records, header = vcf_header(records, more = header))
  fields <- info_populations(c("a", "b"))
  x <- expect_one_warning(
    sfs_of_vcf(vcf, fields, folded = TRUE, project = c(4, 2)), "annotation", vcf,
    "4 sites lack AC or AN of a population and 1 sites have an AC above its AN", "They are left out"
  )$value
  reasons <- records_of_reason(x)
  expect_identical(reasons[reasons > 0], c(MULTIALLELIC = 1, NO_COUNTS = 4, BAD_COUNTS = 1,
                                           TOO_FEW = 2, USED = 1))
  expect_identical(sum(reasons), 9)
  # Copies of the rarer allele: 1 + 2 of 6 is a tie.
  expect_identical(unclass(x)["1", "2"] + unclass(x)["3", "0"], 1)
  one <- suppressWarnings(sfs_of_vcf(vcf, info_populations("a"), folded = TRUE, project = 2))
  expect_identical(records_of_reason(one)[c("NO_COUNTS", "BAD_COUNTS")],
                   c(NO_COUNTS = 1, BAD_COUNTS = 2))
  none <- write_vcf(records[2], header = vcf_header(records, more = header))
  expect_ancify_error(sfs_of_vcf(none, info_populations("b"), folded = TRUE), "format", none,
                      "no site has AC_b and AN_b")
  bad <- write_vcf(records[4], header = vcf_header(records, more = header))
  expect_ancify_error(
    suppressWarnings(sfs_of_vcf(bad, info_populations("a"), folded = TRUE)), "input",
    "1 BAD_COUNTS"
  )
  for (wrong in c("AC_a=1x;AN_a=4", "AC_a=1;AN_a=1e3", "AC_a=1;AN_a=4;AC_a=1")) {
    odd <- write_vcf(site(1, wrong), header = vcf_header(records, more = header))
    expect_ancify_error(sfs_of_vcf(odd, info_populations("a"), folded = TRUE), "format", odd)
  }
})

test_that("the header must declare the fields", {
  record <- vcf_records("1", 1, "A", "C", "AC_a=1;AN_a=4")
  refused <- function(fields, ..., populations = info_populations("a")) {
    vcf <- write_vcf(record, header = vcf_header(record, more = fields))
    expect_ancify_error(sfs_of_vcf(vcf, populations, folded = TRUE), "format", vcf, ...)
  }
  fields <- c("AC_a", "AN_a")
  refused(character(), "no field 'AC_a' of INFO")
  refused(count_declarations(c("AC_b", "AC_c", "AN_a")), "'AC_a'", "'AC_b', 'AC_c'")
  refused(count_declarations("AC_a"), "no field 'AN_a'")
  refused(count_declarations(fields, c(".", "1")), "'AC_a'", "Number=A,Type=Integer")
  refused(count_declarations(fields, c("1", "1")), "'AC_a'")
  refused(count_declarations(fields, c("A", "A")), "'AN_a'", "Number=1,Type=Integer")
  refused(count_declarations(fields, c("A", "2")), "'AN_a'")
  refused(count_declarations(fields, type = c("Float", "Integer")), "'AC_a'")
  refused(count_declarations(fields, type = c("Integer", "String")), "'AN_a'")
})

test_that("populations of INFO have names, words and patterns", {
  one <- info_populations(c(AFR = "afr", "nfe"))
  expect_identical(one$population, c("AFR", "nfe"))
  expect_identical(one$copies, c("AC_afr", "AC_nfe"))
  expect_identical(info_populations("EUR", "{pop}_AC", "{pop}_AN")$called, "EUR_AN")
  expect_ancify_error(info_populations(1), "input", "`populations`")
  expect_ancify_error(info_populations(character()), "input", "`populations`")
  expect_ancify_error(info_populations(c(a = "x", a = "y")), "input", "unique")
  expect_ancify_error(info_populations(c(a = "x", b = "x")), "input", "{pop}")
  expect_ancify_error(info_populations(c("x", "y"), called = "AN"), "input", "`called`", "'AN'")
  expect_ancify_error(info_populations("a;b"), "input", "'AC_a;b'")
  expect_ancify_error(info_populations(""), "input")
  expect_ancify_error(info_populations(NA_character_), "input")
  expect_ancify_error(info_populations("a", copies = 1), "input", "`copies`")
  vcf <- varied_vcf(5)
  six <- info_populations(letters[1:6])
  expect_ancify_error(sfs_of_vcf(vcf, six), "input", "6 populations")
  expect_ancify_error(sfs_of_vcf(vcf, in_info, project = 1:3), "input", "`project`")
  expect_ancify_error(sfs_from_likelihoods(vcf, in_info, progress = FALSE), "input",
                      "needs genotypes")
})

long_test_that("a catalogue of 800,000 diploids is projected, and nothing grows with its square", {
  set.seed(65)
  n <- 400
  called <- 1600000L - sample(2000L, n, TRUE)
  copies <- pmin(called, as.integer(1 + rexp(n, 1 / 2000)))
  header <- count_declarations(c("AC_a", "AN_a", "AC_b", "AN_b"))
  records <- vcf_records("1", seq_len(n), "A", "C", sprintf(
    "AA=A;AC_a=%d;AN_a=%d;AC_b=%d;AN_b=%d", copies, called, copies %/% 2L, called %/% 2L
  ))
  vcf <- write_vcf(records, header = vcf_header(records, more = c(header, vcf_info)))
  both <- info_populations(c("a", "b"))
  expect_ancify_error(sfs_of_vcf(vcf, info_populations("a")), "input", "a has up to 1,59",
                      "give `project`")
  expect_ancify_error(sfs_of_vcf(vcf, both), "input", "smaller `project`")
  expect_ancify_error(sfs_of_vcf(vcf, both, project = c(1e6, 5e5)), "input", "smaller `project`")
  expect_ancify_error(
    sfs_of_vcf(vcf, info_populations("a"), 1.5e6, window = 100, replicates = 1000), "input",
    "1,001 spectra", "smaller `project`"
  )
  x <- sfs_of_vcf(vcf, both, project = c(20, 10))
  counts <- cbind(a = copies, b = copies %/% 2L)
  same <- sfs_from_sites(counts, cbind(called, called %/% 2L), project = c(20, 10), threads = 1)
  expect_identical(plain_array(x), plain_array(same))
  expected <- Reduce(`+`, lapply(seq_len(n), function(i) {
    stats::dhyper(0:20, copies[i], called[i] - copies[i], 20) %o%
      stats::dhyper(0:10, copies[i] %/% 2L, called[i] %/% 2L - copies[i] %/% 2L, 10)
  }))
  expect_equal(unname(plain_array(x)), expected, tolerance = 1e-10)
  # One population may stay as large as it is.
  most <- max(called)
  whole <- sfs_of_vcf(vcf, info_populations("a"), project = most)
  expect_identical(length(whole), most + 1L)
  expect_identical(attr(whole, "sites")$used, as.numeric(sum(called == most)))
  expect_lt(as.numeric(utils::object.size(whole)), 5e8)
  small <- project_sfs(whole, 10)
  expect_equal(sum(plain_array(small)), sum(plain_array(whole)))
})

test_that("polarising exchanges the counts, so that the spectrum stays", {
  set.seed(66)
  n <- 80
  called <- matrix(sample(6:12, 2 * n, TRUE), n)
  copies <- matrix(rbinom(2 * n, called, 0.4), n)
  info <- sprintf("AA=%s;AC_yri=%d;AN_yri=%d;AC_ceu=%d;AN_ceu=%d", sample(c("A", "c"), n, TRUE),
                  copies[, 1], called[, 1], copies[, 2], called[, 2])
  records <- vcf_records("1", seq_len(n), "A", "C", info)
  vcf <- write_vcf(records, header = vcf_header(records, more = c(
    vcf_info, count_declarations(c("AC_yri", "AN_yri", "AC_ceu", "AN_ceu"))
  )))
  out <- tempfile(fileext = ".vcf")
  result <- polarise(vcf, "AA", out, verbose = FALSE)
  expect_gt(attr(result, "swapped"), 20)
  expect_identical(sfs_of_vcf(out, in_info, c(5, 5)), sfs_of_vcf(vcf, in_info, c(5, 5)))
})
