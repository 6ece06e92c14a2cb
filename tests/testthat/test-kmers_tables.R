# What is made of counted k-mers: tables, sets, matrices and distances.

test_that("the histogram and looked-up counts are those of the table", {
  set.seed(1)
  sequences <- some_sequences()
  for (k in c(3, 15, 40)) {
    x <- count_kmers(fasta_of(sequences), k)
    table <- as.data.frame(x)
    counts <- table(table$count)
    expect_identical(
      kmer_histogram(x),
      data.frame(count = as.numeric(names(counts)), kmers = as.numeric(counts))
    )
    expect_identical(head(x, 4), head(table, 4))
    some <- table[sample(nrow(table), 10), ]
    expect_identical(x[some$kmer], stats::setNames(some$count, some$kmer))
    reversed <- vapply(some$kmer, oracle_reverse_complement, "", USE.NAMES = FALSE)
    expect_identical(unname(x[reversed]), some$count)
    lacking <- if (k > 3) 0 else unname(x["CGC"])
    expect_identical(unname(x[c(strrep("N", k), substr(strrep("CG", k), 1, k))]), c(NA, lacking))
  }
})

test_that("a profile has the count at each position", {
  set.seed(2)
  sequences <- some_sequences()
  x <- count_kmers(fasta_of(sequences), 14)
  profiles <- kmer_profile(x, sequences)
  expect_identical(names(profiles), names(sequences))
  expect_identical(profiles$short, numeric())
  bases <- toupper(sequences[["one"]])
  starts <- seq_len(nchar(bases) - 13)
  words <- substring(bases, starts, starts + 13)
  table <- as.data.frame(x)
  expected <- vapply(words, function(word) {
    if (!grepl("^[ACGT]+$", word)) {
      return(NA_real_)
    }
    table$count[table$kmer == min(word, oracle_reverse_complement(word))]
  }, 0)
  expect_identical(profiles$one, unname(expected))
})

test_that("set operations are those of plain tables", {
  set.seed(3)
  sequences <- some_sequences()
  others <- c(sequences[2], other = random_bases(400))
  for (k in c(3, 20, 50)) {
    x <- count_kmers(fasta_of(sequences), k)
    y <- count_kmers(fasta_of(others), k)
    both <- merge(as.data.frame(x), as.data.frame(y), by = "kmer", all = TRUE)
    both <- both[order(both$kmer, method = "radix"), ]
    expect_set <- function(set, count) {
      keep <- !is.na(count) & count > 0
      expect_identical(
        as.data.frame(set), data.frame(kmer = both$kmer[keep], count = as.numeric(count[keep]))
      )
    }
    either <- function(joined) {
      ifelse(is.na(both$count.x), both$count.y,
             ifelse(is.na(both$count.y), both$count.x, joined))
    }
    expect_set(kmer_union(x, y), either(both$count.x + both$count.y))
    expect_set(kmer_union(x, y, "max"), either(pmax(both$count.x, both$count.y)))
    expect_set(kmer_intersect(x, y), pmin(both$count.x, both$count.y))
    shared <- !is.na(both$count.x) & !is.na(both$count.y)
    expect_set(kmer_intersect(x, y, "left"), ifelse(shared, both$count.x, NA))
    expect_set(kmer_intersect(x, y, "right"), ifelse(shared, both$count.y, NA))
    expect_set(kmer_subtract(x, y), ifelse(is.na(both$count.y), both$count.x, NA))
    left <- both$count.x - ifelse(is.na(both$count.y), 0, both$count.y)
    expect_set(kmer_subtract(x, y, "diff"), left)
  }
})

test_that("databases of two sequences make that of both", {
  set.seed(4)
  sequences <- some_sequences()
  stems <- file.path(new_folder(), c("union", "whole"))
  halves <- lapply(list(1:2, 3:4), function(some) count_kmers(fasta_of(sequences[some]), 22))
  kmer_union(halves[[1]], halves[[2]], out = stems[1], threads = 2)
  count_kmers(fasta_of(sequences), 22, out = stems[2])
  expect_identical(database_bytes(stems[1]), database_bytes(stems[2]))
})

test_that("a matrix has the counts of each sequence", {
  require_package("Matrix")
  set.seed(5)
  sequences <- some_sequences()
  for (k in c(1, 2, 3, 4)) {
    for (canonical in c(TRUE, FALSE)) {
      plain <- kmer_matrix(sequences, k, canonical)
      expect_identical(rownames(plain), names(sequences))
      for (name in names(sequences)) {
        counts <- oracle_kmers(sequences[[name]], k, canonical)
        expect_identical(unname(plain[name, counts$kmer]), as.integer(counts$count))
        expect_equal(sum(plain[name, ]), sum(counts$count))
      }
      sparse <- kmer_matrix(sequences, k, canonical, sparse = TRUE)
      expect_s4_class(sparse, "dgCMatrix")
      expect_equal(as.matrix(sparse), plain)
    }
  }
  expect_ancify_error(
    kmer_matrix(rep("A", 200), 12, FALSE, sparse = FALSE), "input", "cells", "sparse = TRUE"
  )
  expect_ancify_error(kmer_matrix("A", 13), "input", "`k`")
})

test_that("paths and other texts are not taken for sequences", {
  require_package("Matrix")
  folder <- new_folder()
  old <- setwd(folder)
  on.exit(setwd(old))
  fasta <- fasta_of(c(a = "ACGTTGCA"), file.path(folder, "x.fa"))
  file.copy(fasta, "data")
  file.copy(fasta, "ACGT")
  x <- count_kmers(fasta, 3)
  for (path in c(fasta, "x.fa", "data", "../other.fa", "seqs/b.fasta.gz")) {
    expect_ancify_error(kmer_matrix(path, 3), "input", "`x`", "is a path", "readDNAStringSet")
    expect_ancify_error(kmer_profile(x, c("ACGT", path)), "input", "`sequences`", "is a path")
  }
  for (text in c("MKVLAT", "ACGT ACGT", "y.fa", "AC5")) {
    expect_ancify_error(kmer_matrix(c(a = "ACG", b = text), 3), "input", "has the letter")
    expect_ancify_error(kmer_profile(x, text), "input", "position")
  }
  expect_ancify_error(kmer_matrix(NA_character_, 3), "input", "`x`")
  # Letters of sequences are taken, also where a file has the name of one.
  expect_identical(sum(kmer_matrix(c("ACGT", "acgn", "ACGKR-.TTA"), 3)), 5L)
  expect_identical(kmer_profile(x, "ACGT")[[1]], unname(x[c("ACG", "CGT")]))
})

test_that("a sample without k-mers shares nothing, and is named", {
  require_package("Matrix")
  m <- kmer_matrix(c(a = "ACGTTGCA", b = "ACGTTGCC", none = "NN", short = "AC"), 3)
  kmers <- lapply(c(a = "ACGTTGCA", b = "ACGTTGCC", none = "NN", short = "AC"), function(bases) {
    suppressWarnings(count_kmers(fasta_of(c(x = bases)), 3))
  })
  alone <- c(
    jaccard = 1, containment = 1, mash = Inf, bray = 1, cosine = 1, d2s = 0.5, d2star = 0.5
  )
  for (method in names(alone)) {
    for (x in list(m, kmer_matrix(c(a = "ACGTTGCA", b = "ACGTTGCC", none = "NN", short = "AC"), 3,
                                  sparse = TRUE), kmers)) {
      expect_warning(
        distances <- as.matrix(kmer_distance(x, method)), "2 samples have.*'none' and 'short'",
        class = "ancify_sequence_warning"
      )
      expect_identical(unname(distances["a", c("none", "short")]), rep(alone[[method]], 2))
      expect_true(is.nan(distances["none", "short"]))
      expect_true(is.finite(distances["a", "b"]))
    }
    if (method != "mash") {
      suppressWarnings(expect_no_error(stats::hclust(kmer_distance(kmers[1:3], method))))
    }
  }
  expect_no_warning(kmer_distance(m[1:2, ], "cosine"))
})

test_that("distances are those of plain formulas, from matrices and from k-mers", {
  set.seed(6)
  base <- random_bases(300)
  sequences <- c(a = base, b = paste0(substr(base, 1, 200), random_bases(100)),
                 c = random_bases(300))
  m <- kmer_matrix(sequences, 6)
  kmers <- lapply(sequences, function(bases) count_kmers(fasta_of(c(x = bases)), 6))
  sets <- apply(m > 0, 1, which, simplify = FALSE)
  shared <- length(intersect(sets$a, sets$b))
  jaccard <- shared / length(union(sets$a, sets$b))
  expected <- c(
    jaccard = 1 - jaccard, containment = 1 - shared / min(lengths(sets[c("a", "b")])),
    mash = -log(2 * jaccard / (1 + jaccard)) / 6,
    bray = sum(abs(m["a", ] - m["b", ])) / sum(m[c("a", "b"), ]),
    cosine = 1 - sum(m["a", ] * m["b", ]) / sqrt(sum(m["a", ]^2) * sum(m["b", ]^2))
  )
  for (method in names(expected)) {
    distances <- kmer_distance(m, method)
    expect_s3_class(distances, "dist")
    expect_equal(as.matrix(distances)["a", "b"], expected[[method]])
    expect_equal(kmer_distance(kmers, method), distances, ignore_attr = "call")
  }
  expect_ancify_error(kmer_distance(kmers[1]), "input", "two samples")
  expect_ancify_error(kmer_distance(1), "input", "`x`")
  expect_ancify_error(kmer_distance(diag(3)), "input", "`x`")
  for (count in list(NA, -1, Inf)) {
    for (wrong in list(replace(m, 2, count), Matrix::Matrix(replace(m, 2, count), sparse = TRUE))) {
      expect_ancify_error(kmer_distance(wrong, "bray"), "input", format(count))
    }
  }
  genes <- matrix(1:4, 2, dimnames = list(NULL, c("TAT", "brca1")))
  expect_ancify_error(kmer_distance(genes, "mash"), "input", "'brca1'")
  expect_ancify_error(kmer_distance(m, "jacard"), "input", "jaccard")
})

# The chance of each word, base by base: the model of `order` is fitted to the words' first bases.
oracle_chances <- function(counts, order) {
  starts <- substr(names(counts), 1, order + 1)
  share <- function(begin) sum(counts[startsWith(starts, begin)]) / sum(counts)
  vapply(names(counts), function(word) {
    chance <- share(substr(word, 1, order + 1))
    for (at in seq_len(nchar(word) - order - 1)) {
      before <- share(substr(word, at + 1, at + order))
      both <- share(substr(word, at + 1, at + order + 1))
      chance <- if (before > 0) chance * both / before else 0
    }
    chance
  }, 0)
}

test_that("distances by chance are those of plain formulas", {
  set.seed(7)
  sequences <- c(a = random_bases(300), b = random_bases(200, c("A", "A", "A", "C", "T", "G")),
                 c = random_bases(90, c("A", "C")))
  half_less <- function(products, x_squares, y_squares) {
    0.5 * (1 - sum(products, na.rm = TRUE) /
             sqrt(sum(x_squares, na.rm = TRUE) * sum(y_squares, na.rm = TRUE)))
  }
  for (canonical in c(FALSE, TRUE)) {
    m <- kmer_matrix(sequences, 4, canonical)
    kmers <- lapply(sequences, function(bases) count_kmers(fasta_of(c(x = bases)), 4, canonical))
    opposite <- vapply(colnames(m), oracle_reverse_complement, "")
    for (order in 0:2) {
      centred <- lapply(rownames(m), function(name) {
        counts <- m[name, ]
        chance <- if (!canonical) oracle_chances(counts, order)
        if (canonical) {
          both <- tapply(c(counts, counts), c(colnames(m), opposite), sum)
          chances <- oracle_chances(both, order)
          chance <- chances[colnames(m)] + ifelse(opposite == colnames(m), 0, chances[opposite])
        }
        list(x = counts - sum(counts) * chance, e = sum(counts) * chance)
      })
      for (pair in list(1:2, 2:3)) {
        x <- centred[[pair[1]]]
        y <- centred[[pair[2]]]
        size <- sqrt(x$x^2 + y$x^2)
        expected <- c(
          d2s = half_less(x$x * y$x / size, x$x^2 / size, y$x^2 / size),
          d2star = half_less(x$x * y$x / sqrt(x$e * y$e), x$x^2 / x$e, y$x^2 / y$e)
        )
        for (method in names(expected)) {
          distances <- kmer_distance(m, method, order)
          expect_equal(as.matrix(distances)[pair[1], pair[2]], expected[[method]])
          expect_equal(kmer_distance(kmers, method, order), distances, ignore_attr = "call")
        }
      }
    }
  }
  expect_ancify_error(kmer_distance(m, "d2s", 3), "input", "`order`")
  expect_ancify_error(kmer_distance(m[, -1], "d2s"), "input", "all columns")
  long <- lapply(sequences, function(bases) count_kmers(fasta_of(c(x = bases)), 13))
  expect_ancify_error(kmer_distance(long, "d2s"), "input", "at most 12")
})

test_that("k-mers in files outlive a session, those in memory say that they do not", {
  stem <- file.path(new_folder(), "x")
  held <- count_kmers(fasta_of(c(a = "ACGTTTGCA")), 3)
  kept <- count_kmers(fasta_of(c(a = "ACGTTTGCA")), 3, out = stem)
  restored <- function(x) {
    saveRDS(x, path <- tempfile())
    readRDS(path)
  }
  expect_identical(as.data.frame(restored(kept)), as.data.frame(held))
  expect_ancify_error(as.data.frame(restored(held)), "input", "another session")
  # A path that is given from the working directory is kept as a whole one.
  folder <- setwd(dirname(stem))
  both <- kmer_union(held, kept, out = "both")
  setwd(folder)
  expect_identical(as.data.frame(restored(both)), as.data.frame(kmer_union(held, held)))
  expect_output(print(held), "in memory")
  expect_output(print(kept), "canonical")
})
