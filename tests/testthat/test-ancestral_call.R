# call_ancestral(): arguments, calls and errors.

random_sequence <- function(n, junk = c("N", "n", "-", "R", "*", " ", "0", "@", "`", "{")) {
  letters <- c("A", "C", "G", "T", "a", "c", "g", "t", junk)
  prob <- c(rep(0.15, 4), rep(0.06, 4), rep(0.16 / length(junk), length(junk)))
  paste(sample(letters, n, replace = TRUE, prob = prob), collapse = "")
}

random_tier <- function(species, n, prefix) {
  setNames(vapply(seq_len(species), function(i) random_sequence(n), ""), paste0(prefix, 1:species))
}

# Another test is about warnings of minima above the number of species.
call_quietly <- function(...) {
  withCallingHandlers(
    call_ancestral(...),
    ancify_voting_warning = function(condition) invokeRestart("muffleWarning")
  )
}

test_that("random sequences are called as by the oracle", {
  set.seed(1)
  for (n_inner in 1:4) {
    for (n_outer in 1:4) {
      n <- sample(0:300, 1)
      inner <- random_tier(n_inner, n, "in")
      outer <- random_tier(n_outer, n, "out")
      for (minimum in 1:3) {
        minima <- c(minimum, sample(3, 1))
        expected <- vote_by_column(inner, outer, minima[1], minima[2])
        for (threads in 1:2) {
          called <- call_quietly(inner, outer, minima[1], minima[2], threads = threads)
          expect_identical(called, expected)
        }
      }
    }
  }
})

test_that("every column of up to three species is called correctly", {
  columns <- as.matrix(expand.grid(rep(list(c("A", "C", "G", "T", "N")), 3)))
  species <- apply(columns, 2, paste, collapse = "")
  for (n_inner in 1:2) {
    inner <- species[seq_len(n_inner)]
    outer <- species[(n_inner + 1):3]
    for (minima in list(c(1, 1), c(2, 1), c(1, 2), c(2, 2))) {
      expect_identical(
        call_quietly(inner, outer, minima[1], minima[2]),
        oracle_vote(inner, outer, minima[1], minima[2])
      )
    }
  }
})

test_that("many species, without a table of patterns, have the same calls", {
  set.seed(2)
  for (n_species in c(7:10, 15, 40)) {
    n_inner <- sample(n_species - 1, 1)
    inner <- random_tier(n_inner, 200, "in")
    outer <- random_tier(n_species - n_inner, 200, "out")
    for (minima in list(c(1, 1), c(3, 2), c(n_inner, 1))) {
      expected <- vote_by_column(inner, outer, minima[1], minima[2])
      for (threads in 1:2) {
        called <- call_quietly(inner, outer, minima[1], minima[2], threads = threads)
        expect_identical(called, expected)
      }
    }
  }
})

test_that("sequences of several chunks have correct calls at all borders", {
  set.seed(3)
  for (n_inner in c(2, 7)) {
    columns <- vapply(1:300, function(i) random_sequence(n_inner + 2), "")
    # The chunks have 2^18 positions.
    which <- sample(300, 2 * 2^18 + 12345, replace = TRUE)
    species <- seq_len(n_inner + 2)
    short <- vapply(species, function(i) paste(substr(columns, i, i), collapse = ""), "")
    stretch <- function(sequence) rawToChar(charToRaw(sequence)[which])
    long <- vapply(short, stretch, "")
    inner <- seq_len(n_inner)
    expected <- stretch(oracle_vote(short[inner], short[-inner], 2, 1))
    for (threads in 1:2) {
      called <- call_ancestral(unname(long[inner]), unname(long[-inner]), 2, 1, threads = threads)
      expect_true(identical(called, expected))
    }
  }
})

test_that("a minimum counts the votes for the most frequent base", {
  #          one vote  two for two bases  two for one  two and one
  inner <- c("A",      "A",               "A",         "A")
  more <- c("N",       "C",               "A",         "C")
  third <- c("N",      "N",               "N",         "C")
  tier <- vapply(list(inner, more, third), paste, "", collapse = "")
  expect_identical(call_ancestral(tier, "NNNN", min_inner_freq = 1), "anac")
  expect_identical(call_ancestral(tier, "NNNN", ties = "alphabet"), "aaac")
  expect_identical(call_ancestral(tier, "NNNN", min_inner_freq = 2), "NNac")
  expect_identical(call_ancestral(tier, "NNNN", min_inner_freq = 3), "NNNN")
  expect_identical(call_ancestral("NNNN", tier, min_outer_freq = 2), "NNac")
})

test_that("any byte but the bases' letters is missing", {
  bytes <- setdiff(1:255, utf8ToInt("ACGTacgt"))
  odd <- rawToChar(as.raw(bytes))
  n <- length(bytes)
  expect_identical(call_ancestral(odd, strrep("N", n)), strrep("N", n))
  expect_identical(call_ancestral(odd, strrep("t", n)), strrep("t", n))
  expect_identical(call_ancestral(strrep("G", n), odd), strrep("g", n))
})

test_that("lengths of 0 and 1, names or none", {
  expect_identical(call_ancestral("", ""), "")
  expect_identical(call_ancestral("a", "A"), "A")
  expect_identical(call_ancestral(c(x = "a"), "A"), "A")
  expect_identical(call_ancestral(c(x = "a"), c(y = "C")), "n")
  expect_identical(call_ancestral(c(x = "T", "T"), c("T", y = "T")), "T")
})

test_that("Biostrings' sequences are called, and keep their case", {
  require_package("Biostrings")
  set.seed(4)
  for (n in c(0, 1, 500)) {
    inner <- setNames(replicate(3, random_sequence(n, junk = c("N", "-", "R"))), paste0("in", 1:3))
    outer <- setNames(replicate(2, random_sequence(n, junk = c("N", "-", "R"))), c("o1", "o2"))
    expected <- Biostrings::BStringSet(vote_by_column(inner, outer))
    of_class <- list(
      list(Biostrings::DNAStringSet(inner), Biostrings::DNAStringSet(outer)),
      list(Biostrings::BStringSet(inner), Biostrings::BStringSet(outer)),
      list(Biostrings::DNAStringSet(inner), outer),
      list(inner, Biostrings::BStringSet(outer))
    )
    for (tiers in of_class) {
      called <- call_ancestral(tiers[[1]], tiers[[2]])
      expect_s4_class(called, "BStringSet")
      expect_identical(as.character(called), as.character(expected))
    }
  }
  # Low confidence stays low.
  called <- call_ancestral(Biostrings::DNAStringSet("ACG"), Biostrings::DNAStringSet("NCT"))
  expect_identical(as.character(called), "aCn")
})

test_that("a view of a longer sequence is called", {
  require_package("Biostrings")
  inner <- Biostrings::subseq(Biostrings::DNAStringSet(c(a = "TTTACGTTT", b = "GGGACNGGG")), 4, 6)
  expect_identical(as.character(call_ancestral(inner, "ATG")), "AnG")
})

test_that("sequences of different length are an error that names both", {
  refused <- function(inner, outer, ...) {
    expect_ancify_error(call_ancestral(inner, outer), "input", "same length", ...)
  }
  refused(c(a = "ACG", b = "AC"), c(c = "ACG"), "inner[1] ('a') has 3", "inner[2] ('b') has 2")
  refused(c(a = "ACG"), c(c = "ACG", d = ""), "inner[1] ('a') has 3", "outer[2] ('d') has 0")
  refused("ACG", "ACGT", "inner[1] has 3", "outer[1] has 4")
  refused(c("ACG", x = "A"), "ACG", "inner[1] has 3", "inner[2] ('x') has 1")
  long <- strrep("A", 123456)
  refused(long, "A", "123,456")
})

test_that("a species named twice is an error", {
  refused <- function(...) {
    expect_ancify_error(call_ancestral(...), "input", "'ape'", "more than once")
  }
  refused(c(ape = "A", ape = "A"), c(far = "A"))
  refused(c(ape = "A"), c(ape = "A"))
  refused(c(near = "A"), c(ape = "A", far = "C", ape = "A"))
})

test_that("invalid arguments are errors that name them", {
  refused <- function(argument, ...) {
    arguments <- list(inner = c(a = "A"), outer = c(b = "A"))
    changes <- list(...)
    arguments[names(changes)] <- changes
    expect_ancify_error(do.call(call_ancestral, arguments), "input", paste0("`", argument, "`"))
  }
  for (tier in list(character(), NA_character_, c(a = NA, b = "A"), 1, list("A"), factor("A"))) {
    refused("inner", inner = tier)
    refused("outer", outer = tier)
  }
  expect_ancify_error(call_ancestral(NULL, "A"), "input", "`inner`")
  for (minimum in list(0, -1, 1.5, NA, "1", c(1, 2), Inf, TRUE)) {
    refused("min_inner_freq", min_inner_freq = minimum)
    refused("min_outer_freq", min_outer_freq = minimum)
  }
  for (threads in list(0, -1, 1.5, NA, "2", c(1, 2))) refused("threads", threads = threads)
  for (backend in list("tpu", 1, NA, c("cpu", "gpu"), NULL)) refused("backend", backend = backend)
})

test_that("a minimum that no vote can reach is a warning, once a tier", {
  warned <- expect_one_warning(
    call_ancestral("A", "A", min_inner_freq = 2), "voting",
    "`min_inner_freq` is 2", "inner tier has 1 species"
  )
  expect_identical(warned$value, "a")
  warned <- expect_one_warning(
    call_ancestral(c("A", "A"), c("A", "C"), min_outer_freq = 3), "voting", "`min_outer_freq` is 3"
  )
  expect_identical(warned$value, "a")
  expect_no_warning(call_ancestral(c("A", "A"), c("A", "C"), 2, 2))
})

test_that("an unusable GPU is an error with the reason", {
  condition <- tryCatch(call_ancestral("A", "A", backend = "gpu"), error = identity)
  skip_if(is.character(condition), "a GPU is here")
  expect_s3_class(condition, "ancify_device_error")
  expect_match(conditionMessage(condition), "GPU|driver|CUDA")
  expect_identical(call_ancestral("A", "A", backend = "cpu"), "A")
  expect_identical(call_ancestral("A", "A", backend = "auto"), "A")
})

test_that("`focal` is one species that has no sequence", {
  refused <- function(focal, text) {
    expect_ancify_error(
      call_ancestral(c(a = "A"), c(b = "C"), "parsimony", "(a,b,f);", focal, threads = 1),
      "input", text
    )
  }
  refused(c("f", "g"), "one species' name")
  refused(NA_character_, "one species' name")
  refused(TRUE, "one species' name")
  refused("a", "an outgroup with a sequence")
  refused("zz", "no leaf")
})
