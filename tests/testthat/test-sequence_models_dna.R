# Models of DNA: what is read, and embeddings against states in double precision.

# A matrix of the doubles of a safetensors file.
tensor_of <- function(file, name) {
  bytes <- readBin(file, "raw", file.size(file))
  size <- sum(as.integer(bytes[1:8]) * 256^(0:7))
  place <- jsonlite::fromJSON(rawToChar(bytes[8 + seq_len(size)]))[[name]]
  from <- 8 + size + place$data_offsets
  values <- readBin(bytes[(from[1] + 1):from[2]], "double", prod(place$shape), endian = "little")
  matrix(values, place$shape[1], byrow = TRUE)
}

# A copy of a fixture, of which files can be changed.
copied <- function(name) {
  folder <- new_folder()
  file.copy(list.files(model_fixture(name), full.names = TRUE), folder)
  folder
}

with_setting <- function(key, value, name = "dnabert3") {
  folder <- copied(name)
  config <- jsonlite::read_json(file.path(folder, "config.json"))
  config[[key]] <- value
  writeLines(to_json(config), file.path(folder, "config.json"))
  folder
}

test_that("embeddings are the means of states in double precision", {
  for (name in c("dnabert3", "dnabert12")) {
    model <- sequence_model(model_fixture(name))
    x <- readLines(model_fixture(name, "sequences.txt"))
    means <- suppressWarnings(embed_sequences(x, model))
    rows <- suppressWarnings(embed_sequences(x, model, pool = "residue"))
    for (i in seq_along(x)) {
      states <- tensor_of(model_fixture(name, "expected.tensors"), sprintf("states.%d.2", i - 1))
      expect_lt(relative_error(rows[[i]], states), 1e-5)
      expect_lt(relative_error(means[i, , drop = FALSE], t(colMeans(states))), 1e-5)
      alone <- suppressWarnings(embed_sequences(x[i], model))
      expect_lt(relative_error(alone, means[i, , drop = FALSE]), 1e-6)
    }
  }
})

test_that("a model of DNA says what it is", {
  model <- sequence_model(model_fixture("dnabert12"))
  lines <- capture.output(print(model))
  expect_match(lines[1], "<sequence_model> DNABERT-S, [0-9.]+k parameters")
  expect_match(lines, "2 layers, width 48, 12 heads, feed-forward width 40", all = FALSE)
  expect_match(lines, "tokens +90, of several bases each", all = FALSE)
  expect_identical(model$tokens[1:3], c("[UNK]", "[CLS]", "[SEP]"))
  expect_ancify_error(residue_log_probs("ACGT", model), "input", "no language head")
})

test_that("sets, texts and lower case are one input, and length has no bound", {
  require_package("Biostrings")
  set.seed(1)
  model <- sequence_model(model_fixture("dnabert3"))
  x <- c(a = random_bases(3000), b = "ACG")
  expected <- embed_sequences(x, model)
  expect_identical(rownames(expected), c("a", "b"))
  expect_identical(embed_sequences(Biostrings::DNAStringSet(x), model), expected)
  expect_identical(embed_sequences(tolower(x), model, long = "error"), expected)
  expect_identical(embed_sequences(x, model, long = "truncate", threads = 2), expected)
  expect_warning(
    counted <- embed_sequences(c(n = "ACGNNT"), model), "2 letters that the model does not know"
  )
  expect_identical(attr(counted, "unknown"), c(n = 2))
})

test_that("DNA and proteins are not exchanged", {
  require_package("Biostrings")
  dna <- sequence_model(model_fixture("dnabert3"))
  protein <- sequence_model(model_fixture("safetensors"))
  expect_ancify_error(embed_sequences(Biostrings::AAStringSet("MK"), dna), "input",
                      "`x` must be a DNAStringSet or texts of DNA for this model")
  expect_ancify_error(embed_sequences(Biostrings::DNAStringSet("AC"), protein), "input",
                      "`x` must be an AAStringSet or texts of proteins for this model")
  expect_ancify_error(embed_sequences(c(a = "A", b = ""), dna), "input",
                      "Sequence 'b': there is no base")
})

test_that("runs go on", {
  set.seed(2)
  model <- sequence_model(model_fixture("dnabert12"))
  x <- vapply(c(a = 30, b = 200, c = 5), random_bases, "")
  expected <- embed_sequences(x, model)
  old <- options(ancify.part_size = 2)
  on.exit(options(old))
  out <- file.path(new_folder(), "run")
  embed_sequences(x, model, out = out)
  unlink(file.path(out, "part-2.bin"))
  embed_sequences(x, model, out = out)
  expect_lt(relative_error(read_embeddings(out), expected), 1e-6)
  expect_named(recorded_run(open_ledger(out))$model,
               c("pytorch_model.bin", "config.json", "tokenizer.json"))
})

test_that("files that are missing or disagree are named", {
  for (file in c("config.json", "tokenizer.json")) {
    folder <- copied("dnabert3")
    unlink(file.path(folder, file))
    expect_ancify_error(sequence_model(folder), "file", file, "which DNABERT-S has")
  }
  disagrees <- list(num_hidden_layers = 3, hidden_size = 64, intermediate_size = 7, vocab_size = 20)
  for (key in names(disagrees)) {
    expect_ancify_error(sequence_model(with_setting(key, disagrees[[key]])), "format",
                        sprintf("config.json': %s is %d, but the", key, disagrees[[key]]))
  }
  expect_ancify_error(sequence_model(with_setting("num_attention_heads", 5)), "format",
                      "a width of 24 cannot be 5 heads")
  expect_ancify_error(sequence_model(with_setting("num_attention_heads", NULL)), "format",
                      "num_attention_heads is missing")
  expect_ancify_error(sequence_model(with_setting("hidden_act", "relu")), "format",
                      "hidden_act is 'relu', but DNABERT-S has 'gelu'")
  folder <- copied("dnabert3")
  writeLines("{}", file.path(folder, "tokenizer.json"))
  expect_ancify_error(sequence_model(folder), "format", "tokenizer.json': 'model' is missing")
  file <- file.path(folder, "model.safetensors")
  writeBin(utils::head(readBin(file, "raw", file.size(file)), -10), file)
  expect_ancify_error(sequence_model(folder), "format", "the file was cut")
})
