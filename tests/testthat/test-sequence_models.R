# Files of sequence models: what is read, and which problems are told.

problem_of <- function(class, code) conditionMessage(expect_ancify_error(code, class))

test_that("a model says what it is", {
  model <- sequence_model(paste0(model_fixture("safetensors"), "/"))
  expect_identical(unlist(model[c("layers", "width", "heads", "hidden", "vocabulary")]),
                   c(layers = 2, width = 32, heads = 2, hidden = 40, vocabulary = 33))
  expect_true(model$has_head && model$frequencies_from_file)
  expect_identical(model$tokens, esm2_tokens)
  lines <- capture.output(print(model))
  expect_match(lines[1], "<sequence_model> ESM-2, [0-9.]+k parameters")
  expect_match(lines, "2 layers, width 32, 2 heads, feed-forward width 40", all = FALSE)
  expect_match(lines, "inv_freq +read from the weights", all = FALSE)
  expect_identical(vapply(c(7.5e6, 651043254, 2.8e9, 12), short_count, ""),
                   c("7.5M", "651M", "2.8B", "12"))
})

test_that("files of all kinds are one model", {
  x <- c("MKTAYIAK", "ACD<mask>W")
  one <- embed_sequences(x, sequence_model(model_fixture("safetensors")))
  for (kind in c("index", "fair", "bin")) {
    expect_identical(embed_sequences(x, sequence_model(model_fixture(kind))), one)
  }
})

test_that("an index may name files of torch", {
  folder <- new_folder()
  file.copy(list.files(model_fixture("bin"), full.names = TRUE), folder)
  file.rename(file.path(folder, "pytorch_model.bin"), file.path(folder, "part-1.bin"))
  writeLines('{"weight_map": {"x": "part-1.bin"}}',
             file.path(folder, "pytorch_model.bin.index.json"))
  file.create(file.path(folder, "training_args.bin"))
  expect_identical(embed_sequences("MKT", sequence_model(folder)),
                   embed_sequences("MKT", sequence_model(model_fixture("bin"))))
})

test_that("numbers of all types are read", {
  set.seed(1)
  w <- random_esm2(layers = 1)
  expected <- embed_sequences("MKT", sequence_model(write_esm2(w)))
  for (type in c("F16", "BF16", "F64")) {
    expect_identical(embed_sequences("MKT", sequence_model(write_esm2(w, types = type))), expected)
  }
})

test_that("frequencies that a file lacks are computed, rounded to half precision, and told", {
  set.seed(2)
  w <- random_esm2(layers = 1, head_width = 24)
  is_frequency <- grepl("inv_freq", names(w), fixed = TRUE)
  config <- esm2_config(w)
  model <- sequence_model(write_esm2(w[!is_frequency], config = config))
  expect_match(capture.output(print(model)), "computed, and rounded to half", all = FALSE)
  exact <- 10000^(-2 * (0:11) / 24)
  unit <- 2^(floor(log2(exact)) - 10)
  w[is_frequency] <- list(round(exact / unit) * unit)
  x <- random_proteins(200)
  expect_identical(embed_sequences(x, model), embed_sequences(x, sequence_model(write_esm2(w))))
  expect_match(problem_of("format", sequence_model(write_esm2(w[!is_frequency], config = NULL))),
               "the number of heads is unknown")
})

test_that("frequencies of a whole model, or of another base, are those that are used", {
  set.seed(2)
  w <- random_esm2(layers = 2, head_width = 24)
  is_frequency <- grepl("inv_freq", names(w), fixed = TRUE)
  config <- esm2_config(w)
  x <- random_proteins(200)
  expected <- embed_sequences(x, sequence_model(write_esm2(w)))
  for (name in c("rotary_embeddings.inv_freq",
                 "layer.*.attention.self.rotary_embeddings.inv_freq")) {
    one <- c(w[!is_frequency], stats::setNames(w[is_frequency][1], name))
    model <- sequence_model(write_esm2(one, config = config))
    expect_match(capture.output(print(model)), "inv_freq +read from the weights", all = FALSE)
    expect_identical(embed_sequences(x, model), expected)
  }
  other <- c(w, list(rotary_embeddings.inv_freq = 2 * w[is_frequency][[1]]))
  expect_match(problem_of("format", embed_sequences(x, sequence_model(write_esm2(other)))),
               "differs from other frequencies")
  wide <- utils::modifyList(config, list(rope_theta = 50000))
  model <- sequence_model(write_esm2(w[!is_frequency], config = wide))
  expect_match(capture.output(print(model)), "rope_theta of config.json, 50000", all = FALSE)
  w[is_frequency] <- list(50000^(-2 * (0:11) / 24))
  expect_equal(embed_sequences(x, model), embed_sequences(x, sequence_model(write_esm2(w))),
               tolerance = 1e-5)
})

test_that("a folder without weights says what is wanted, and that nothing is fetched", {
  folder <- new_folder()
  expect_match(problem_of("file", sequence_model(file.path(folder, "no"))), "no such folder")
  told <- problem_of("file", sequence_model(folder))
  expect_match(told, "model.safetensors or pytorch_model.bin .*fair-esm's .pt")
  expect_match(told, "Nothing is ever downloaded")
  file.create(file.path(folder, c("a.pt", "b.bin", "esm2-contact-regression.pt")))
  expect_match(problem_of("file", sequence_model(folder)),
               "several files of weights, such as .*a.pt")
  expect_ancify_error(sequence_model(), "input")
  expect_ancify_error(sequence_model(c("a", "b")), "input")
})

test_that("files that disagree or are damaged are named", {
  set.seed(3)
  w <- random_esm2(layers = 1)
  config <- esm2_config(w)
  disagrees <- list(
    num_hidden_layers = 3, hidden_size = 64, num_attention_heads = 4, intermediate_size = 7,
    vocab_size = 20
  )
  for (key in names(disagrees)) {
    told <- problem_of("format", {
      sequence_model(write_esm2(w, config = utils::modifyList(config, disagrees[key])))
    })
    expect_match(told, sprintf("config.json': %s is %d, but the weights have", key,
                               disagrees[[key]]))
  }
  others <- list(model_type = "bert", position_embedding_type = "absolute", hidden_act = "relu",
                 emb_layer_norm_before = TRUE, layer_norm_eps = -1)
  for (key in names(others)) {
    expect_match(problem_of("format", {
      sequence_model(write_esm2(w, config = utils::modifyList(config, others[key])))
    }), key)
  }
  without <- w[names(w) != "layer.0.output.dense.bias"]
  expect_match(problem_of("format", sequence_model(write_esm2(without))),
               "there is no tensor 'layer.0.output.dense.bias'")
  w$emb_layer_norm_after.bias <- c(w$emb_layer_norm_after.bias, 1)
  expect_match(problem_of("format", sequence_model(write_esm2(w))),
               "'emb_layer_norm_after.bias' is 33, where 32 is needed")

  folder <- write_esm2(random_esm2(layers = 1))
  file <- file.path(folder, "model.safetensors")
  bytes <- readBin(file, "raw", file.size(file))
  writeBin(utils::head(bytes, -100), file)
  expect_match(problem_of("format", sequence_model(folder)), "model.safetensors': the file was cut")
  writeBin(bytes, file)
  writeLines(c("<cls>", "A"), file.path(folder, "vocab.txt"))
  expect_match(problem_of("format", sequence_model(folder)), "<eos> is missing")
  writeLines("{", file.path(folder, "config.json"))
  expect_match(problem_of("format", sequence_model(folder)), "config.json', line 2: no JSON text")
})

test_that("a pickle that wants more than tensors is refused, and nothing of it runs", {
  folder <- new_folder()
  flag <- file.path(folder, "ran")
  command <- charToRaw(paste("touch", flag))
  pickle <- c(as.raw(c(0x80, 2)), charToRaw("cposix\nsystem\nU"), as.raw(length(command)), command,
              as.raw(0x85), charToRaw("R."))
  writeBin(pickle, file.path(folder, "data.pkl"))
  here <- setwd(folder)
  on.exit(setwd(here))
  utils::zip("x.pt", "data.pkl", flags = "-0 -q -X")
  expect_match(problem_of("format", sequence_model(folder)), "wants 'posix.system'")
  expect_false(file.exists(flag))
  unlink("x.pt")
  file.rename("data.pkl", "old.pt")
  expect_match(problem_of("format", sequence_model(folder)), "before version 1.6")
})

test_that("memory is asked for before weights are read", {
  about <- sequence_model(model_fixture("safetensors"))
  told <- problem_of("system", check_model_memory(about, "folder", 1000))
  expect_match(told, "'folder' needs 2.[0-9]+ MB of memory, and 1 kB are free")
  expect_silent(check_model_memory(about, "folder", NA))
  expect_silent(check_model_memory(about, "folder", 1e9))
})

test_that("a model that was saved is read again", {
  model <- sequence_model(model_fixture("safetensors"))
  restored <- unserialize(serialize(model, NULL))
  expect_identical(embed_sequences("MKT", restored), embed_sequences("MKT", model))
  empty <- structure(list(), class = "sequence_model")
  expect_match(problem_of("input", embed_sequences("MKT", empty)), "must be a model")
})
