# Counts of patterns by table().
oracle_patterns <- function(sequences) {
  columns <- do.call(cbind, strsplit(gsub("[^ACGT]", "N", toupper(sequences)), ""))
  table <- table(apply(columns, 1, paste, collapse = ""))
  data.frame(pattern = names(table), count = as.numeric(table))
}

expect_counts <- function(counts, expected) {
  counts <- data.frame(pattern = counts$pattern, count = counts$count)
  sorted <- function(x) data.frame(x[order(x$pattern), ], row.names = NULL)
  expect_equal(sorted(counts), sorted(expected))
}

test_that("patterns in memory are counted as table() counts them", {
  set.seed(61)
  for (n in c(1, 3, 8, 9, 12)) {
    species <- paste0("s", seq_len(n))
    sequences <- stats::setNames(random_species(2000, n), species)
    counts <- count_patterns(sequences, focal = FALSE, threads = 2)
    expect_counts(counts, oracle_patterns(sequences))
    expect_identical(attr(counts, "species"), species)
    expect_null(attr(counts, "focal"))
  }
  counts <- count_patterns(c(a = "AAC"), c(b = "ACN"), focal = c(f = "gG-"))
  for (focal in list(c(f = "AAA", g = "CCC"), "AAA")) {
    expect_ancify_error(count_patterns(c(a = "AAC"), focal = focal), "input", "one sequence with")
  }
  expect_counts(counts, data.frame(pattern = c("AAG", "ACG", "CNN"), count = 1))
  expect_identical(attr(counts, "focal"), "f")
  expect_identical(unique(counts$chromosome), "sequences")
  expect_output(print(counts), "3 sites, 3 patterns of a, b and f")
})

# Each alignment's blocks have the focal genome's bases.
focal_config <- function(...) {
  lengths <- c(chr1 = 300, chr2 = 80)
  focal <- vapply(lengths, function(n) paste(sample(bases, n, TRUE), collapse = ""), "")
  blocks <- function() {
    unlist(lapply(names(lengths), function(name) {
      start <- sample(20, 1)
      row <- substr(focal[[name]], start, lengths[[name]] - sample(20, 1))
      outgroup <- paste(sample(c(bases, "-"), nchar(row), TRUE), collapse = "")
      axt_block(name, start, row, outgroup)
    }))
  }
  case <- do.call(random_config, list(lengths = lengths, ..., axt = as.call(list(blocks))))
  case$focal <- focal
  case
}

test_that("projected sequences are counted by chromosome, with focal bases from the alignments", {
  set.seed(62)
  case <- focal_config()
  run_quietly(case$config, "project")
  counts <- count_patterns(case$config)
  expect_identical(attr(counts, "species"), c("inner1", "inner2", "outer1", "focal"))
  expect_identical(unique(counts$chromosome), names(case$lengths))
  folder <- file.path(case$config$work_dir, "projected", "focal")
  expect_identical(content_of(folder), c("chr1.fa", "chr2.fa"))
  for (name in names(case$lengths)) {
    focal <- readLines(file.path(folder, paste0(name, ".fa")))[2]
    known <- strsplit(focal, "")[[1]] != "N"
    expect_identical(strsplit(focal, "")[[1]][known], strsplit(case$focal[[name]], "")[[1]][known])
    expect_gt(mean(known), 0.8)
    species <- c(vapply(case$projected, `[[`, "", name), focal)
    expect_counts(counts[counts$chromosome == name, ], oracle_patterns(species))
  }
  without <- count_patterns(case$config, focal = FALSE)
  expect_identical(attr(without, "species"), c("inner1", "inner2", "outer1"))
  expect_identical(sum(without$count), sum(case$lengths))
})

test_that("a focal genome gives its bases where no alignment has any", {
  set.seed(63)
  case <- focal_config()
  fasta <- file.path(case$folder, "focal.fa")
  writeLines(unlist(Map(function(name, bases) {
    c(paste0(">", name, " a comment"), substring(bases, c(1, 61), c(60, nchar(bases))))
  }, names(case$focal), case$focal)), fasta)
  case$config$focal_fasta <- fasta
  run_quietly(case$config, "project")
  counts <- count_patterns(case$config)
  species <- c(vapply(case$projected, `[[`, "", "chr2"), case$focal[["chr2"]])
  expect_counts(counts[counts$chromosome == "chr2", ], oracle_patterns(species))
})

test_that("sequences that cannot be counted are errors with the reason", {
  expect_ancify_error(count_patterns(c(a = "AC"), c(b = "A")), "input", "same length")
  expect_ancify_error(count_patterns(c(a = "A"), c(a = "A")), "input", "more than once")
  expect_ancify_error(count_patterns("gone.yaml"), "file", "'gone.yaml'")
  set.seed(64)
  case <- focal_config()
  expect_ancify_error(count_patterns(case$config, focal = FALSE), "file", "inner1/chr1.fa")
  run_quietly(case$config, "project")
  unlink(case$config$outgroups$inner[[1]]$alignment)
  expect_ancify_error(count_patterns(case$config), "config", "inner1",
                      "cannot be read")
  case$config$focal_fasta <- file.path(case$folder, "gone.fa")
  expect_ancify_error(count_patterns(case$config), "config", "`focal_fasta`", "no such file")
})
