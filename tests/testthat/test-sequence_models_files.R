# Files of models: names that other programs give, and models of other kinds, which are refused.

set.seed(31)
weights <- random_esm2()
reference <- embed_sequences("MKTAYIAKQR", sequence_model(write_esm2(weights)))

refused_model <- function(folder, says, class = "format") {
  expect_match(conditionMessage(expect_ancify_error(sequence_model(folder), class)), says)
}

# A file of tensors by these names, in a folder with the other files of ESM-2.
write_named <- function(w, rename, config = esm2_config(weights)) {
  folder <- write_esm2(weights, config = config)
  names(w) <- rename(names(w))
  writeBin(safetensors_bytes(w), file.path(folder, "model.safetensors"))
  folder
}

hugging_face <- function(names) {
  is_layer <- startsWith(names, "layer.") | startsWith(names, "emb_layer")
  paste0(ifelse(startsWith(names, "lm_head"), "", "esm."), ifelse(is_layer, "encoder.", ""), names)
}

fair_esm <- function(names) {
  pairs <- c(
    "embeddings.word_embeddings" = "embed_tokens", "attention.LayerNorm" = "self_attn_layer_norm",
    "attention.self.rotary_embeddings" = "self_attn.rot_emb", "attention.self.query" =
      "self_attn.q_proj", "attention.self.key" = "self_attn.k_proj", "attention.self.value" =
      "self_attn.v_proj", "attention.output.dense" = "self_attn.out_proj", "LayerNorm" =
      "final_layer_norm", "intermediate.dense" = "fc1", "output.dense" = "fc2"
  )
  for (old in names(pairs)) names <- sub(old, pairs[[old]], names, fixed = TRUE)
  is_head <- startsWith(names, "lm_head")
  paste0(ifelse(is_head, "encoder.", "encoder.sentence_encoder."),
         sub("^layer[.]", "layers.", names))
}

test_that("names of norms and what programs put before names do not matter", {
  old_norms <- function(names) {
    sub("LayerNorm.bias", "LayerNorm.beta",
        sub("LayerNorm.weight", "LayerNorm.gamma", hugging_face(names), fixed = TRUE), fixed = TRUE)
  }
  ways <- list(
    hugging_face, old_norms, fair_esm,
    function(names) paste0("module.", hugging_face(names)),
    function(names) paste0("_orig_mod.module.", old_norms(names)),
    function(names) sub("esm.encoder.", "", hugging_face(names), fixed = TRUE)
  )
  for (way in ways) {
    expect_identical(embed_sequences("MKTAYIAKQR", sequence_model(write_named(weights, way))),
                     reference)
  }
  twice <- c(weights, layer.0.LayerNorm.gamma = list(weights$layer.0.LayerNorm.weight))
  refused_model(write_named(twice, hugging_face), "LayerNorm.(gamma|weight)' occurs twice")
})

test_that("DNABERT-S takes the old names of norms too", {
  folder <- new_folder()
  from <- model_fixture("dnabert3")
  file.copy(list.files(from, full.names = TRUE), folder)
  file <- file.path(folder, "model.safetensors")
  bytes <- file_bytes(file)
  n <- sum(as.integer(bytes[1:4]) * 256^(0:3))
  header <- rawToChar(bytes[8 + seq_len(n)])
  renamed <- gsub("(LayerNorm|layernorm)[.]weight", "\\1.gamma",
                  gsub("(LayerNorm|layernorm)[.]bias", "\\1.beta", header))
  expect_false(identical(renamed, header))
  size <- writeBin(c(nchar(renamed), 0L), raw(), endian = "little")
  writeBin(c(size, charToRaw(renamed), bytes[-seq_len(8 + n)]), file)
  expect_identical(embed_sequences("ACGTACGT", sequence_model(folder)),
                   embed_sequences("ACGTACGT", sequence_model(from)))
})

test_that("a folder of a recent transformers is read, with tokenizer.json and unused positions", {
  config <- c(esm2_config(weights), dtype = "float32", transformers_version = "5.10.0",
              mask_token_id = 32, pad_token_id = 1, max_position_embeddings = 1026,
              rope_parameters = list(list(rope_theta = 10000)))
  more <- list(
    embeddings.position_embeddings.weight = matrix(0.5, 7, 32), embeddings.position_ids = 1:4 / 1,
    contact_head.regression.weight = matrix(1, 1, 4), contact_head.regression.bias = 1,
    pooler.dense.weight = diag(32), pooler.dense.bias = numeric(32)
  )
  folder <- write_named(c(weights, more), hugging_face, config)
  expect_identical(embed_sequences("MKTAYIAKQR", sequence_model(folder)), reference)
  # The same vocabulary, in another order than that of a file's lines
  vocabulary <- stats::setNames(as.list(seq_along(esm2_tokens) - 1), esm2_tokens)
  unlink(file.path(folder, "vocab.txt"))
  json <- file.path(folder, "tokenizer.json")
  writeLines(to_json(list(
    added_tokens = list(list(id = 32, content = "<mask>")),
    model = list(type = "WordLevel", vocab = rev(vocabulary))
  )), json)
  model <- sequence_model(folder)
  expect_identical(model$tokens, esm2_tokens)
  expect_identical(embed_sequences("MKTAYIAKQR", model), reference)
  writeLines(to_json(list(model = list(vocab = vocabulary[-7]))), json)
  refused_model(folder, "tokenizer.json': no token has the number 6")
  writeLines(to_json(list(model = list(vocab = c(vocabulary, XX = 5)))), json)
  refused_model(folder, "have one number")
  writeLines("{\"model\": {\"vocab\": [[\"<cls>\", 0.1]]}}", json)
  refused_model(folder, "no 'vocab' that numbers tokens")
})

test_that("models with other parts than ESM-2 are refused by the name of a tensor", {
  positions <- matrix(0.5, 1026, 32)
  norm <- list(emb_layer_norm_before.weight = rep(1, 32), emb_layer_norm_before.bias = rep(0, 32))
  heads <- list(num_attention_heads = 2)
  for (config in list(heads, esm2_config(weights))) {
    refused_model(
      write_named(c(weights, list(embed_positions.weight = positions)), fair_esm, config),
      "'embed_positions.weight' has learned positions, as ESM-1b.*only ESM-2 and DNABERT-S are read"
    )
    refused_model(write_named(c(weights, norm), fair_esm, config), "a norm before the first layer")
  }
  # Positions of Hugging Face are unused only where config.json says that ESM-2 rotates.
  learned <- c(weights, list(embeddings.position_embeddings.weight = positions))
  refused_model(write_named(learned, hugging_face, heads), "has learned positions")
  unnamed <- weights[!grepl("inv_freq", names(weights), fixed = TRUE)]
  refused_model(write_named(unnamed, hugging_face, heads),
                "nothing says that positions are rotated")
  others <- list(
    layer.0.attention.self.query.lora_A.weight = "is an adapter",
    layer.0.crossattention.self.key.bias = "decoders",
    layer.0.extra.bias = "tensor 'esm.encoder.layer.0.extra.bias' is none of ESM-2",
    layer.7.LayerNorm.bias = "layer.7.LayerNorm.bias' is none of ESM-2",
    embeddings.word_scale = "word_scale' is none of ESM-2"
  )
  for (name in names(others)) {
    refused_model(write_named(c(weights, stats::setNames(list(rep(1, 32)), name)), hugging_face),
                  others[[name]])
  }
  two <- c(weights, list(a.bias = 1, b.bias = 2))
  refused_model(write_named(two, hugging_face), "'esm.a.bias' \\(and 1 other\\) is none of ESM-2")
  part <- weights[!names(weights) %in% "lm_head.dense.bias"]
  refused_model(write_named(part, hugging_face), "there is no tensor 'lm_head.dense.bias'")
})

test_that("settings that contradict the weights or are of no such kind are named", {
  config <- esm2_config(weights)
  wrong <- list(
    position_embedding_type = "relative_key", emb_layer_norm_before = "yes", token_dropout = 1,
    mask_token_id = 4, hidden_act = 3, vocab_size = 34, layer_norm_eps = "small",
    is_decoder = TRUE, rope_theta = -1
  )
  for (key in names(wrong)) {
    refused_model(write_esm2(weights, config = utils::modifyList(config, wrong[key])),
                  paste0("config.json': ", key, " is"))
  }
})

test_that("a vocabulary without residues or bases is refused", {
  pairs <- paste0(rep(c("A", "C", "D", "E"), each = 7), c("p", "y", "n", "w", "r", "q", "h"))
  without <- list(
    pairs = c("<cls>", "<pad>", "<eos>", "<unk>", pairs, "<mask>"),
    lower = tolower(esm2_tokens), one = setdiff(esm2_tokens, "W"),
    dna = c("<cls>", "<pad>", "<eos>", "<unk>", "A", "C", "G", "T", "N", "<mask>")
  )
  for (tokens in without) {
    folder <- write_esm2(weights)
    writeLines(tokens, file.path(folder, "vocab.txt"))
    refused_model(folder, "vocab.txt': the token [A-Z] is missing.*each residue is a token")
  }
  # Without any vocabulary, only that of ESM-2 itself fits.
  wider <- weights
  wider[[1]] <- rbind(weights[[1]], weights[[1]][1:3, ])
  wider[["lm_head.bias"]] <- c(weights[["lm_head.bias"]], 0, 0, 0)
  folder <- write_esm2(wider, config = NULL)
  expect_s3_class(sequence_model(folder), "sequence_model")
  unlink(file.path(folder, "vocab.txt"))
  refused_model(folder, "36 rows, and ESM-2 has 33 tokens: put the model's vocab.txt beside it")

  folder <- new_folder()
  from <- model_fixture("dnabert3")
  file.copy(list.files(from, full.names = TRUE), folder)
  file <- file.path(folder, "tokenizer.json")
  tokeniser <- list(
    pre_tokenizer = list(type = "Whitespace"),
    model = list(type = "BPE", unk_token = "[UNK]", merges = list(),
                 vocab = list("[UNK]" = 0, "[CLS]" = 1, "[SEP]" = 2, A = 3, C = 4, G = 5))
  )
  writeLines(to_json(tokeniser), file)
  refused_model(folder, "the base T is no token")
})

test_that("pointers and pages in place of files are called so", {
  pointer <- c("version https://git-lfs.github.com/spec/v1",
               paste0("oid sha256:", strrep("0", 64)), "size 36810")
  page <- c("<!DOCTYPE html>", "<html><body>404</body></html>")
  for (name in c("model.safetensors", "config.json", "vocab.txt")) {
    for (told in list(list(pointer, "a pointer of Git LFS"), list(page, "a page of HTML"))) {
      folder <- write_esm2(weights)
      writeLines(told[[1]], file.path(folder, name))
      refused_model(folder, paste0(name, ".*this is ", told[[2]]))
    }
  }
  folder <- write_esm2(weights)
  unlink(file.path(folder, "model.safetensors"))
  for (name in c("weights.pt", "pytorch_model.bin.index.json")) {
    writeLines(pointer, file.path(folder, name))
    refused_model(folder, "a pointer of Git LFS")
    unlink(file.path(folder, name))
  }
  classifier <- tempfile(fileext = ".pth")
  writeLines(pointer, classifier)
  expect_ancify_error(read_classifier(classifier), "format", "a pointer of Git LFS")
  # A header of this length begins as a file of R does.
  text <- sprintf("%-2648s", "{}")
  writeBin(c(writeBin(c(2648L, 0L), raw(), endian = "little"), charToRaw(text)), classifier)
  expect_ancify_error(read_classifier(classifier), "format", "it has no classifier")
})
