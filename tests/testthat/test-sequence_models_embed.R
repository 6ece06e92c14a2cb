# Embeddings and log-probabilities against the plain forward in double precision.

set.seed(7)
weights <- random_esm2(heads = 2, head_width = 16)
model <- sequence_model(write_esm2(weights))
proteins <- random_proteins(c(1, 2, 17, 80))
proteins[3] <- paste0("mk<mask>", proteins[3], "XBUZO.-<mask>")
tolerance <- 1e-5

test_that("a head that is not tied to the embedding is taken from the file", {
  set.seed(9)
  w <- random_esm2(layers = 1)
  tied <- residue_log_probs("MKT", sequence_model(write_esm2(w)))[[1]]
  w[["lm_head.decoder.weight"]] <- w[["embeddings.word_embeddings.weight"]]
  expect_identical(residue_log_probs("MKT", sequence_model(write_esm2(w)))[[1]], tied)
  w[["lm_head.decoder.weight"]] <- as_bfloat(w[["lm_head.decoder.weight"]] * 1.5)
  own <- residue_log_probs("MKT", sequence_model(write_esm2(w)))[[1]]
  expect_lt(relative_error(own, oracle_log_probs(w, "MKT")), tolerance)
})

test_that("all head widths give the states of the plain forward", {
  set.seed(8)
  for (shape in list(c(2, 16), c(2, 24), c(1, 32), c(2, 64))) {
    w <- random_esm2(shape[1], shape[2])
    of <- sequence_model(write_esm2(w))
    x <- random_proteins(c(1, 40, 257))
    x[2] <- paste0(x[2], "<mask>BZ")
    residues <- embed_sequences(x, of, pool = "residue")
    means <- embed_sequences(x, of)
    logs <- residue_log_probs(x, of)
    for (i in seq_along(x)) {
      expected <- oracle_residues(w, x[i])
      expect_lt(relative_error(residues[[i]], expected), tolerance)
      expect_lt(relative_error(means[i, , drop = FALSE], t(colMeans(expected))), tolerance)
      expect_lt(relative_error(logs[[i]], oracle_log_probs(w, x[i])), tolerance)
    }
  }
})

test_that("small embeddings show the epsilon of the norms", {
  set.seed(9)
  w <- random_esm2(small = TRUE, layers = 1)
  found <- embed_sequences("MKTAYIAKQR", sequence_model(write_esm2(w)), pool = "residue")[[1]]
  expect_lt(relative_error(found, oracle_residues(w, "MKTAYIAKQR")), tolerance)
  expect_gt(relative_error(found, oracle_residues(w, "MKTAYIAKQR", "other epsilon")),
            10 * tolerance)
})

test_that("the oracle's states are those of the NumPy forward, which agree with transformers'", {
  read <- function(file) {
    bytes <- readBin(file, "raw", file.size(file))
    n <- readBin(bytes, "integer", 1)
    header <- jsonlite::fromJSON(rawToChar(bytes[8 + seq_len(n)]))
    header[["__metadata__"]] <- NULL
    lapply(header, function(x) {
      from <- 8 + n + x$data_offsets
      size <- if (x$dtype == "F64") 8 else 4
      numbers <- readBin(bytes[(from[1] + 1):from[2]], "double", prod(x$shape), size)
      if (length(x$shape) == 2) matrix(numbers, x$shape[1], byrow = TRUE) else numbers
    })
  }
  folder <- model_fixture()
  w <- read(file.path(folder, "safetensors", "model.safetensors"))
  names(w) <- sub("^(esm[.])?(encoder[.])?", "", names(w))
  expected <- read(file.path(folder, "expected.safetensors"))
  texts <- readLines(file.path(folder, "sequences.txt"))
  for (i in seq_along(texts)) {
    states <- oracle_esm2_states(w, oracle_tokens(texts[i]))
    for (j in seq_along(states)) {
      expect_lt(relative_error(states[[j]], expected[[sprintf("states.%d.%d", i - 1, j - 1)]]),
                1e-12)
    }
  }
})

test_that("wrong variants would be seen: each moves the output by more than 10 tolerances", {
  set.seed(10)
  w <- random_esm2(small = TRUE)
  text <- "MKT<mask>AYIAKQRQISFVKS"
  right <- oracle_residues(w, text)
  for (wrong in wrong_variants) {
    expect_gt(relative_error(oracle_residues(w, text, wrong), right), 10 * tolerance, label = wrong)
  }
  # Means are of residues alone.
  states <- oracle_esm2_states(w, oracle_tokens(text))
  all <- states[[length(states)]]
  for (rows in list(-1, -nrow(all), TRUE)) {
    expect_gt(relative_error(colMeans(all[rows, ]), colMeans(right)), 10 * tolerance)
  }
})

test_that("threads, packs and instruction sets do not matter", {
  set.seed(11)
  x <- random_proteins(sample(1:60, 80, TRUE))
  one <- embed_sequences(x, model, threads = 1)
  expect_identical(embed_sequences(x, model, threads = 2), one)
  expect_lt(relative_error(embed_sequences(x[5], model), one[5, , drop = FALSE]), 1e-6)
  old <- options(ancify.simd = "scalar")
  on.exit(options(old))
  expect_lt(relative_error(embed_sequences(x, model), one), 1e-5)
})

test_that("long proteins are read in windows, cut or refused", {
  set.seed(12)
  x <- c(a = random_proteins(1600), b = random_proteins(1022))
  expect_silent(rows <- embed_sequences(x, model, pool = "residue"))
  expect_identical(vapply(rows, nrow, 0L), c(a = 1600L, b = 1022L))
  # Windows begin at 0, 511 and 578; residues come from the one whose centre is nearest.
  alone <- function(first) {
    embed_sequences(substr(x[["a"]], first + 1, first + 1022), model, pool = "residue")[[1]]
  }
  expect_lt(relative_error(rows$a[1:767, ], alone(0)[1:767, ]), 1e-6)
  expect_lt(relative_error(rows$a[768:1056, ], alone(511)[768:1056 - 511, ]), 1e-6)
  expect_lt(relative_error(rows$a[1057:1600, ], alone(578)[1057:1600 - 578, ]), 1e-6)
  expect_lt(relative_error(embed_sequences(x, model)["a", ], colMeans(rows$a)), 1e-6)
  told <- expect_warning(cut <- embed_sequences(x, model, long = "truncate"),
                         class = "ancify_sequence_warning")
  expect_match(conditionMessage(told), "Of 1 protein the first 1022 residues are read")
  first <- embed_sequences(substr(x, 1, 1022), model)
  expect_lt(relative_error(cut, first), 1e-6)
  told <- expect_ancify_error(embed_sequences(x, model, long = "error"), "input")
  expect_match(conditionMessage(told), "Protein 'a': more than 1022 residues")
})

test_that("letters that are no residues are counted and told", {
  x <- c(good = "MKT", bad = "MJ*K", lower = "mkt")
  told <- expect_warning(e <- embed_sequences(x, model), class = "ancify_sequence_warning")
  expect_match(conditionMessage(told), "2 letters that the model does not know, in 'bad'")
  expect_identical(attr(e, "unknown"), c(good = 0, bad = 2, lower = 0))
  expect_identical(e["good", ], e["lower", ])
  expect_lt(relative_error(e["bad", ], colMeans(oracle_residues(weights, "MJ*K"))), tolerance)
})

test_that("a letter is one residue in any encoding, and proteins without names are numbered", {
  x <- c(a = "MK\u00e9", "MKT")
  expect_warning(rows <- embed_sequences(x, model, pool = "residue"), "1 letter .* in 'a'",
                 class = "ancify_sequence_warning")
  expect_identical(vapply(rows, nrow, 0L), c(a = 3L, "2" = 3L))
  expect_identical(nrow(suppressWarnings(
    embed_sequences(iconv(x, "UTF-8", "latin1"), model, pool = "residue")
  )$a), 3L)
  bad <- "MK\xe9"
  Encoding(bad) <- "bytes"
  expect_ancify_error(embed_sequences(bad, model), "input")
})

test_that("input that is no protein is named", {
  problem <- function(...) {
    conditionMessage(expect_ancify_error(embed_sequences(...), "input"))
  }
  expect_match(problem(c(a = "MK", b = ""), model), "Protein 'b': there is no residue")
  expect_match(problem(c("MK", NA), model), "Protein '2': there is no residue")
  expect_match(problem(7, model), "`x` must be an AAStringSet or texts")
  expect_match(problem("MK", "model"), "`model` must be a model of sequence_model\\(\\)")
  expect_match(problem("MK", model, pool = "max"), "`pool` must be one of")
  expect_match(problem("MK", model, threads = 0), "`threads`")
  headless <- sequence_model(write_esm2(weights[!startsWith(names(weights), "lm_head")]))
  expect_match(capture.output(print(headless)), "none: embeddings only", all = FALSE)
  told <- expect_ancify_error(residue_log_probs("MK", headless), "input")
  expect_match(conditionMessage(told), "no language head")
  expect_identical(dim(embed_sequences(character(), model)), c(0L, 32L))
})

test_that("AAStringSets are proteins, and columns of probabilities are tokens", {
  set <- Biostrings::AAStringSet(c(one = "MKTAYIAK", two = "ACD"))
  expect_identical(embed_sequences(set, model), embed_sequences(as.character(set), model))
  p <- residue_log_probs(set, model)
  expect_identical(names(p), c("one", "two"))
  expect_identical(colnames(p$two), esm2_tokens)
  expect_equal(rowSums(exp(p$one)), rep(1, 8), tolerance = 1e-6)
})

test_that("a backend and a precision that cannot be used are errors", {
  calls <- list(
    function(...) embed_sequences("MKT", model, ...),
    function(...) residue_log_probs("MKT", model, ...),
    function(...) score_missense(changes_in_protein("MKT", 2L, "A"), model, ...)
  )
  for (call in calls) {
    expect_equal(call(backend = "cpu", precision = "fp32"), call())
    expect_ancify_error(call(precision = "fp16"), "input", "is for GPUs alone")
    expect_ancify_error(call(precision = "fp64"), "input", "`precision`")
    expect_ancify_error(call(backend = "tpu"), "input", "`backend`")
    if (nrow(available_gpus()) == 0) expect_ancify_error(call(backend = "gpu"), "device")
  }
})
