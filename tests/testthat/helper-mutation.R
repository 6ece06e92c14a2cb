# A plain implementation of mutation spectra, and data for them.

# The type's name on the strand whose ancestral base is among `bases`.
oracle_type <- function(before, ancestral, derived, after, bases = c("A", "C")) {
  words <- c(paste(c(before, ancestral, after), collapse = ""),
             paste(c(before, derived, after), collapse = ""))
  if (!ancestral %in% bases) {
    words <- vapply(strsplit(chartr("ACGT", "TGCA", words), ""), function(letters) {
      paste(rev(letters), collapse = "")
    }, "")
  }
  paste(words, collapse = ">")
}

# What mutation_spectrum() says of each record: the data frame of oracle_vcf_sites() with reasons
# of contexts, and the types as counted and with exchanged alleles. `calls` and `flanks`: letters
# by chromosome; `masked`: positions by chromosome; `phred`: errors by chromosome.
oracle_mutations <- function(lines, populations, calls, k = 3, low_confidence = TRUE,
                             flanks = NULL, masked = list(), phred = NULL, info = FALSE,
                             bases = c("A", "C")) {
  sites <- oracle_vcf_sites(lines, populations, low_confidence, if (!info) calls)
  fields <- strsplit(lines[!startsWith(lines, "#")], "\t")
  sites$type <- sites$reverse <- NA_character_
  if (!info) sites$posterior <- NA
  for (i in seq_along(fields)) {
    chromosome <- fields[[i]][1]
    at <- as.numeric(fields[[i]][2])
    if (at %in% masked[[chromosome]] && !sites$reason[i] %in% c("INDEL", "MONOMORPHIC",
                                                                "MULTIALLELIC")) {
      sites$reason[i] <- "MASKED"
    }
    if (sites$reason[i] != "SITE") next
    half <- (k - 1) / 2
    beside <- at + setdiff(-half:half, 0)
    letters <- (if (is.null(flanks)) calls else flanks)[[chromosome]]
    around <- ifelse(beside < 1, NA, letters[pmax(beside, 1)])
    copies <- sum(sites$derived[i, ])
    sites$reason[i] <- if (!all(toupper(around) %in% c("A", "C", "G", "T"))) {
      "NO_CONTEXT"
    } else if (!low_confidence && is.null(flanks) && any(around != toupper(around))) {
      "LOW_CONTEXT"
    } else if (copies == 0 || copies == sum(sites$called[i, ])) {
      "INVARIANT"
    } else {
      "USED"
    }
    if (sites$reason[i] != "USED") next
    base <- if (info) sub(".*AA=([^;|]).*", "\\1", fields[[i]][8]) else calls[[chromosome]][at]
    alleles <- toupper(fields[[i]][4:5])
    derived <- setdiff(alleles, toupper(base))
    before <- toupper(around[seq_len(half)])
    after <- toupper(around[half + seq_len(half)])
    sites$type[i] <- oracle_type(before, toupper(base), derived, after, bases)
    sites$reverse[i] <- oracle_type(before, derived, toupper(base), after, bases)
    error <- phred[[chromosome]][at]
    if (length(error) && error != 255) sites$posterior[i] <- 1 - 10^(-error / 10)
  }
  sites
}

# The counts: a row for each type that has some, a column for each population.
oracle_type_counts <- function(sites, haplotypes = FALSE) {
  sites <- sites[sites$reason == "USED", ]
  p <- ifelse(is.na(sites$posterior), 1, sites$posterior)
  types <- sort(unique(c(sites$type, sites$reverse)))
  counts <- matrix(0, length(types), ncol(sites$derived),
                   dimnames = list(types, colnames(sites$derived)))
  for (i in seq_len(nrow(sites))) {
    derived <- sites$derived[i, ]
    called <- sites$called[i, ]
    varies <- derived > 0 & derived < called
    forth <- if (haplotypes) derived else varies
    back <- if (haplotypes) called - derived else varies
    counts[sites$type[i], ] <- counts[sites$type[i], ] + p[i] * forth
    counts[sites$reverse[i], ] <- counts[sites$reverse[i], ] + (1 - p[i]) * back
  }
  counts
}

# Positions of each context in a sequence of letters.
oracle_contexts <- function(letters, k, low_confidence = TRUE, masked = numeric(),
                            bases = c("A", "C"), positions = seq_along(letters)) {
  half <- (k - 1) / 2
  found <- character()
  for (at in setdiff(positions, masked)) {
    beside <- at + -half:half
    if (any(beside < 1)) next
    word <- letters[beside]
    upper <- toupper(word)
    if (!all(upper %in% c("A", "C", "G", "T"))) next
    if (!low_confidence && any(word != upper)) next
    found <- c(found, sub(">.*", "", oracle_type(
      upper[seq_len(half)], upper[half + 1], "A", upper[half + 1 + seq_len(half)], bases
    )))
  }
  table(found)
}

# Calls as text, with stretches of bases so that most sites have a context.
mutation_calls <- function(lengths, missing = 0.05) {
  vapply(lengths, function(n) {
    letters <- sample(c("A", "C", "G", "T"), n, TRUE)
    low <- runif(n) < 0.1
    letters[low] <- tolower(letters[low])
    gone <- runif(n) < missing
    letters[gone] <- sample(c("N", "n", "-"), sum(gone), TRUE)
    paste(letters, collapse = "")
  }, "")
}

letters_of <- function(calls) lapply(strsplit(calls, ""), identity)

# Records on these calls, of every reason, with six samples s1 to s6.
mutation_vcf <- function(calls, n = 150, missing = 0.1) {
  records <- unlist(lapply(names(calls), function(name) {
    letters <- strsplit(calls[[name]], "")[[1]]
    position <- sort(sample(length(letters), n))
    ref <- toupper(letters[position])
    ref[!ref %in% c("A", "C", "G", "T")] <- "A"
    alt <- vapply(ref, function(base) sample(setdiff(c("A", "C", "G", "T"), base), 1), "")
    swapped <- runif(n) < 0.4
    both <- cbind(ifelse(swapped, alt, ref), ifelse(swapped, ref, alt))
    both[sample(n, 4), 2] <- c(".", "AT", "A,C", "<DEL>")
    other <- sample(n, 4)
    both[other, ] <- c("A", "C", "G", "T")[c(1, 2, 3, 4, 2, 3, 4, 1)]
    vcf_records(name, position, both[, 1], both[, 2])
  }))
  genotypes <- random_genotypes(length(records), 6, 2, missing)
  alt <- vapply(strsplit(records, "\t"), `[`, "", 5)
  genotypes[alt == ".", ] <- "0/0"
  genotypes[sample(length(records), 5), ] <- "0/0"
  lines <- paste(records, "GT", apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  write_vcf(lines, header = vcf_header(lines, more = c(
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">", "##ALT=<ID=DEL,Description=\"d\">",
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">",
    "##INFO=<ID=AA_prob,Number=1,Type=Float,Description=\"p\">"
  )))
}

two_columns <- c(s1 = "YRI", s2 = "YRI", s3 = "YRI", s4 = "CEU", s5 = "CEU", s6 = "CEU")

mutations_of <- function(..., threads = 1) {
  suppressWarnings(
    mutation_spectrum(..., threads = threads, progress = FALSE), classes = "ancify_annotation_warning"
  )
}

# Expects the counts and reasons of an oracle.
expect_mutations <- function(x, sites, haplotypes = FALSE) {
  expected <- oracle_type_counts(sites, haplotypes)
  counts <- as.matrix(x)
  expect_true(all(rownames(expected) %in% rownames(counts)))
  expect_equal(counts[rownames(expected), , drop = FALSE], expected, tolerance = 1e-12)
  expect_equal(sum(counts), sum(expected))
  reasons <- records_of_reason(x)
  expect_identical(reasons, setNames(as.numeric(table(factor(sites$reason, names(reasons)))),
                                     names(reasons)))
  expect_identical(sum(reasons), nrow(sites) + 0)
}

# A Python with mutyper; the path of the program.
mutyper_program <- function() {
  python <- Sys.getenv("ANCIFY_MUTYPER_PYTHON", "python3")
  if (run_program(python, "-c", "import mutyper")$status != 0) {
    lacking("Python's mutyper (ANCIFY_MUTYPER_PYTHON says in which Python)")
  }
  python
}
