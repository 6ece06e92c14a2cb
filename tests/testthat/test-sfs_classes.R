# Spectra of classes of sites.

require_htslib()

test_that("the spectrum of a class is that of a VCF with its sites alone", {
  set.seed(1)
  position <- rep(sort(sample(500, 60)), each = 2)
  ref <- rep(c("A", "C"), each = 2, length.out = 120)
  alt <- rep(c("G", "T"), 60)
  records <- vcf_records(rep(c("chr1", "chr2"), each = 60), position, ref, alt,
                         paste0("AA=", ref))
  genotypes <- matrix(sample(c("0/0", "0/1", "1/1", "./."), 120 * 5, TRUE, c(4, 3, 2, 1)), 120)
  lines <- paste(records, "GT", apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  populations <- c(s1 = "p", s2 = "p", s3 = "q", s4 = "q", s5 = "q")
  spectrum <- function(lines, ...) {
    sfs_from_vcf(write_vcf(lines), populations, c(p = 3, q = 4), ..., threads = 1, progress = FALSE)
  }
  sites <- data.frame(
    chromosome = rep(c("1", "2"), each = 60), position = position, derived = alt,
    class = sample(c("a", "b", NA), 120, TRUE)
  )
  sites <- sites[order(runif(120)), ]
  found <- spectrum(lines, classes = sites[!is.na(sites$class), ])
  expect_setequal(names(found), c("a", "b"))
  key <- paste(sub("chr", "", sub("\t.*", "", lines)), position, alt)
  class <- sites$class[match(key, paste(sites$chromosome, sites$position, sites$derived))]
  for (name in c("a", "b")) {
    expect_identical(as.array(found[[name]]), as.array(spectrum(lines[class %in% name])))
  }
  records <- attr(found, "records")
  expect_identical(records$records[records$reason == "UNCLASSED"], as.numeric(sum(is.na(class))))
  expect_identical(sum(records$records), 120)

  # Without the derived base, a class has all records of a position.
  whole <- unique(data.frame(sites[1:2], class = factor(sites$position %% 2)))
  found <- spectrum(lines, classes = whole)
  expect_identical(names(found), c("0", "1"))
  expect_identical(as.array(found[["1"]]), as.array(spectrum(lines[position %% 2 == 1])))

  # A level without sites has an empty spectrum.
  levels(whole$class) <- c("0", "1", "none")
  found <- spectrum(lines, classes = whole)
  expect_identical(names(found), c("0", "1", "none"))
  expect_identical(sum(as.array(found$none), na.rm = TRUE), 0)
})

test_that("consequences of coding changes are classes", {
  x <- small_files()
  lines <- paste(readLines(x$vcf)[-(1:3)], "GT", "0/1", sep = "\t")
  vcf <- write_vcf(lines)
  found <- sfs_from_vcf(vcf, c(s1 = "p"), ancestral = x$ancestral, threads = 1, progress = FALSE,
                        classes = changes_of(x))
  expect_identical(names(found), c("synonymous", "missense", "stop gained", "start lost"))
  expect_identical(vapply(found, function(x) as.array(x)[2], 0, USE.NAMES = FALSE), c(2, 1, 1, 1))

  # Of chosen transcripts, the worst change that they have
  lines <- c(readLines(x$gff), "1\t.\tCDS\t3\t8\t.\t+\t0\tID=c2;Parent=t2")
  writeLines(lines, x$gff)
  both <- changes_of(x)
  expect_true(any(both$worst & both$transcript == "t2"))
  again <- sfs_from_vcf(vcf, c(s1 = "p"), ancestral = x$ancestral, threads = 1, progress = FALSE,
                        classes = both[both$transcript == "t1", ])
  expect_identical(lapply(again, as.array), lapply(found, as.array))
})

test_that("bad classes are named", {
  x <- small_files()
  vcf <- write_vcf(paste(readLines(x$vcf)[-(1:3)], "GT", "0/1", sep = "\t"))
  spectrum <- function(classes, ...) {
    sfs_from_vcf(vcf, c(s1 = "p"), ancestral = x$ancestral, threads = 1, progress = FALSE,
                 classes = classes, ...)
  }
  sites <- data.frame(chromosome = "1", position = c(6, 7, 6), class = c("a", "a", "b"))
  expect_ancify_error(spectrum(sites), "input", "position 6, in two classes, 'a' and 'b'")
  expect_ancify_error(spectrum(sites[1:2]), "input", "`classes` must be")
  expect_ancify_error(spectrum(sites[1:2, ], window = 5), "input", "exclude each other")
  for (wrong in list(list(class = NA), list(chromosome = NA), list(position = 5.5),
                     list(position = factor(6)), list(derived = "X"))) {
    row <- sites[1, ]
    row[names(wrong)] <- wrong
    expect_ancify_error(spectrum(row), "input", "row, number 1")
  }
  expect_ancify_error(spectrum(changes_of(x)[c("chromosome", "position")]), "input",
                      "`classes` must be")
  sites <- data.frame(chromosome = "7", position = 6, class = "a")
  expect_ancify_error(spectrum(sites), "input", "5 UNCLASSED")
})
