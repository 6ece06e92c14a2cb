# The oracle: position by position, in plain R.
called <- function(calls) calls %in% c("A", "C", "G", "T", "a", "c", "g", "t")

confidence_of <- function(calls) {
  ifelse(calls %in% c("A", "C", "G", "T"), "high",
         ifelse(called(calls), "low", ifelse(calls == "n", "unresolved", "missing")))
}

# `runs`: for each run the sequences of calls, named by chromosome. Gives lists of single calls.
split_calls <- function(runs) {
  lapply(runs, function(run) lapply(run, function(calls) strsplit(calls, "")[[1]]))
}

expect_same_rows <- function(got, expected, keys) {
  sorted <- function(table) {
    table <- table[do.call(order, lapply(keys, function(key) as.character(table[[key]]))), ]
    rownames(table) <- NULL
    table[names(expected)]
  }
  expect_equal(sorted(got), sorted(expected))
}

expect_comparison <- function(comparison, runs, window) {
  calls <- split_calls(runs)
  pairs <- utils::combn(names(runs), 2, simplify = FALSE)
  per_chromosome <- function(make) {
    tables <- lapply(names(runs[[1]]), function(name) {
      lapply(pairs, function(pair) {
        make(name, pair[1], pair[2], calls[[pair[1]]][[name]], calls[[pair[2]]][[name]])
      })
    })
    do.call(rbind, unlist(tables, recursive = FALSE))
  }

  expect_same_rows(comparison$pairs, per_chromosome(function(name, first, second, a, b) {
    both <- called(a) & called(b)
    data.frame(
      chromosome = name, first = first, second = second, both = sum(both),
      same = sum(both & toupper(a) == toupper(b)), only_first = sum(called(a) & !called(b)),
      only_second = sum(!called(a) & called(b))
    )
  }), c("chromosome", "first", "second"))

  expect_same_rows(comparison$agreement, per_chromosome(function(name, first, second, a, b) {
    cases <- expand.grid(
      first_confidence = c("high", "low"), second_confidence = c("high", "low"),
      stringsAsFactors = FALSE
    )
    both <- Map(
      function(x, y) confidence_of(a) == x & confidence_of(b) == y, cases[[1]], cases[[2]]
    )
    data.frame(
      chromosome = name, first = first, second = second, cases,
      both = vapply(both, sum, 0L),
      same = vapply(both, function(x) sum(toupper(a)[x] == toupper(b)[x]), 0L)
    )
  }), c("chromosome", "first", "second", "first_confidence", "second_confidence"))

  expect_same_rows(comparison$windows, per_chromosome(function(name, first, second, a, b) {
    start <- seq(1, length(a), window)
    end <- pmin(start + window - 1, length(a))
    both <- called(a) & called(b)
    differ <- both & toupper(a) != toupper(b)
    sums <- function(x) mapply(function(from, to) sum(x[from:to]), start, end)
    data.frame(
      chromosome = name, start = start, end = end, first = first, second = second,
      both = sums(both), differ = sums(differ)
    )
  }), c("chromosome", "first", "second", "start"))

  for (name in names(runs[[1]])) {
    sets <- Reduce(function(sets, run) {
      yes <- called(calls[[run]][[name]])
      ifelse(!yes, sets, ifelse(sets == "none", run, paste(sets, run, sep = " + ")))
    }, names(runs), rep("none", length(calls[[1]][[name]])))
    got <- comparison$called[comparison$called$chromosome == name, ]
    expected <- table(factor(sets, got$called_by))
    expect_identical(got$positions, as.vector(expected) + 0)
    expect_identical(sum(got$positions), length(sets) + 0)
    for (run in names(runs)) {
      row <- comparison$confidence[
        comparison$confidence$run == run & comparison$confidence$chromosome == name,
      ]
      counts <- table(factor(confidence_of(calls[[run]][[name]]), confidences))
      expect_equal(unlist(row[confidences]), c(counts), ignore_attr = TRUE)
      expect_equal(row$length, length(sets))
    }
  }
  for (pair in pairs) {
    a <- toupper(unlist(calls[[pair[1]]]))
    b <- toupper(unlist(calls[[pair[2]]]))
    both <- called(unlist(calls[[pair[1]]])) & called(unlist(calls[[pair[2]]]))
    got <- comparison$confusion[
      comparison$confusion$first == pair[1] & comparison$confusion$second == pair[2],
    ]
    expected <- table(a[both], b[both])[cbind(got$first_base, got$second_base)]
    expect_equal(got$positions, expected, ignore_attr = TRUE)
  }
}

test_that("comparisons are those of the oracle", {
  set.seed(91)
  for (names in list(c("one", "two"), c("c", "a", "b", "d"))) {
    runs <- random_runs(names, c(chr1 = 700, chr2 = 3000, chr10 = 1))
    folders <- lapply(runs, calls_folder)
    one <- compare_calls(folders, window = 250, threads = 1)
    expect_comparison(one, runs, 250)
    expect_identical(do.call(compare_calls, c(folders, window = 250, threads = 2)), one)
  }
})

test_that("the summary has the sums of the tables", {
  folders <- Map(calls_folder, list(
    a = c(chr1 = "ACGTacgtNn", chr2 = "AAAA"), b = c(chr1 = "GCGTCCgtAA", chr2 = "NNNN")
  ))
  comparison <- compare_calls(folders)
  summary <- summary(comparison)
  expect_s3_class(summary, "summary.ancify_comparison")
  expected <- data.frame(
    first = "a", second = "b", both = 8, agreement = 6 / 8, both_high = 4, agreement_high = 3 / 4,
    only_first = 4, only_second = 2, transitions = 1, transversions = 1
  )
  expect_equal(as.data.frame(unclass(summary)), expected)
  expect_output(print(comparison), "2 runs, 2 chromosomes, 14 positions")
  expect_output(print(comparison), "75.000 %")
  expect_output(print(summary), "transversions")
  nothing <- compare_calls(a = calls_folder(c(x = "NN")), b = calls_folder(c(x = "nn")))
  expect_output(print(nothing), "1 chromosome, 2 positions")
  expect_identical(summary(nothing)$agreement, NaN)
})

test_that("runs have their arguments' or their folders' names", {
  case <- random_config()
  run <- run_quietly(case$config)
  copy <- file.path(new_folder(), "copy")
  dir.create(copy)
  file.copy(run$file, copy)
  comparison <- compare_calls(run, copy)
  expect_identical(comparison$runs$run, c("calls", "copy"))
  expect_true(all(summary(comparison)$agreement == 1))
  expect_identical(compare_calls(first = run, copy)$runs$run, c("first", "copy"))
  expect_ancify_error(compare_calls(run, run), "input", "'calls'", "name them")
})

test_that("runs that cannot be compared are errors with the reason", {
  a <- calls_folder(c(chr1 = "ACGT", chr2 = "AC"))
  expect_ancify_error(compare_calls(a), "input", "2 to 12", "not 1")
  expect_ancify_error(compare_calls(as.list(rep(a, 13))), "input", "not 13")
  expect_ancify_error(compare_calls(a, b = new_folder()), "file", "`b`", "no calls")
  expect_ancify_error(compare_calls(a = a, b = 5), "input", "`b`")
  expect_ancify_error(compare_calls(a = a, none = a), "input", "'none'")
  expect_ancify_error(compare_calls(`a + b` = a, b = a), "input", "'a + b'")
  expect_ancify_error(compare_calls(a = a, b = a, window = 0), "input", "`window`")
  expect_ancify_error(
    compare_calls(a = a, b = calls_folder(c(chrX = "AC"))), "input", "in common", "a has 'chr1'"
  )
  expect_ancify_error(
    compare_calls(a = a, b = calls_folder(c(chr1 = "ACGT", chr2 = "A"))), "input",
    "'chr2' has 2 bases in 'a', but 1 in 'b'"
  )
  expect_ancify_error(check_windows(c(chr1 = 1e8), 10, 66), "input", "660,000,000 windows")
  expect_null(check_windows(c(chr1 = 1e8), 1, 1))
  for (odd in c("ACGR", "AC T")) {
    expect_ancify_error(
      compare_calls(a = a, b = calls_folder(c(chr1 = odd, chr2 = "AC"))), "input", "run 2",
      "'chr1'", "not calls"
    )
  }
  some <- expect_one_warning(
    compare_calls(a = a, b = calls_folder(c(chr1 = "ACGT"))), "comparison", "'chr2'"
  )
  expect_identical(unique(some$value$pairs$chromosome), "chr1")
})

test_that("a changed comparison is an error that names the table", {
  a <- calls_folder(c(chr1 = "ACGT"))
  comparison <- compare_calls(a = a, b = a)
  for (table in names(comparison)) {
    changed <- list(comparison, comparison, comparison)
    changed[[1]][[table]] <- NULL
    changed[[2]][[table]] <- changed[[2]][[table]][0, ]
    changed[[3]][[table]][[ncol(comparison[[table]])]] <- NULL
    for (one in changed) {
      what <- sprintf("`%s`", table)
      expect_ancify_error(summary(one), "input", what)
      expect_ancify_error(print(one), "input", what)
      expect_ancify_error(plot(one), "input", what)
    }
  }
  comparison$pairs$both <- "a"
  expect_ancify_error(summary(comparison), "input", "`pairs`")
})
