# Oracles of sequence models: a plain forward of ESM-2 in double precision, after
# Lin Z et al. (2023) Science 379: 1123-1130, and random models in files.

esm2_tokens <- c(
  "<cls>", "<pad>", "<eos>", "<unk>", strsplit("LAGVSERTIDPKQNFYMHWCXBUZO.-", "")[[1]],
  "<null_1>", "<mask>"
)

model_fixture <- function(...) testthat::test_path("fixtures", "sequence_models", ...)

oracle_tokens <- function(text) {
  letters <- toupper(regmatches(text, gregexpr("<mask>|.", text))[[1]])
  at <- match(sub("<MASK>", "<mask>", letters), esm2_tokens)
  at[is.na(at)] <- 4 # <unk>
  c(1, at, 3)
}

# What a wrong implementation would do. Each must move the output far beyond the tolerance.
wrong_variants <- c(
  "no scale", "scale of masks ignored", "mask not zeroed", "interleaved rotation", "no rotation",
  "reversed rotation", "rotation of values", "tanh", "other epsilon", "no query bias",
  "no value bias", "no output bias", "no scale of queries", "attention across sequences",
  "post-norm", "no last norm"
)

oracle_norm <- function(x, w, name, eps) {
  centred <- x - rowMeans(x)
  x <- centred / sqrt(rowMeans(centred^2) + eps)
  sweep(sweep(x, 2, w[[paste0(name, ".weight")]], "*"), 2, w[[paste0(name, ".bias")]], "+")
}

oracle_linear <- function(x, w, name, bias = TRUE) {
  y <- x %*% t(w[[paste0(name, ".weight")]])
  if (bias) sweep(y, 2, w[[paste0(name, ".bias")]], "+") else y
}

oracle_gelu <- function(x, wrong) {
  if (wrong == "tanh") 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) else x * pnorm(x)
}

oracle_rotate <- function(x, frequencies, wrong) {
  half <- length(frequencies)
  angles <- outer(seq_len(nrow(x)) - 1, frequencies)
  if (wrong == "reversed rotation") angles <- -angles
  pairs <- cbind(seq_len(half), half + seq_len(half))
  if (wrong == "interleaved rotation") pairs <- cbind(2 * seq_len(half) - 1, 2 * seq_len(half))
  if (wrong == "no rotation") angles[] <- 0
  low <- x[, pairs[, 1], drop = FALSE]
  high <- x[, pairs[, 2], drop = FALSE]
  x[, pairs[, 1]] <- low * cos(angles) - high * sin(angles)
  x[, pairs[, 2]] <- high * cos(angles) + low * sin(angles)
  x
}

oracle_attention <- function(h, w, front, frequencies, wrong) {
  part <- function(name, bias) oracle_linear(h, w, paste0(front, "attention.self.", name), bias)
  q <- part("query", wrong != "no query bias")
  k <- part("key", TRUE)
  v <- part("value", wrong != "no value bias")
  wide <- 2 * length(frequencies)
  heads <- lapply(split(seq_len(ncol(h)), (seq_len(ncol(h)) - 1) %/% wide), function(j) {
    one <- function(x) x[, j, drop = FALSE]
    logits <- oracle_rotate(one(q), frequencies, wrong) %*%
      t(oracle_rotate(one(k), frequencies, wrong))
    if (wrong != "no scale of queries") logits <- logits / sqrt(wide)
    p <- exp(logits - apply(logits, 1, max))
    values <- if (wrong == "rotation of values") oracle_rotate(one(v), frequencies, "") else one(v)
    (p / rowSums(p)) %*% values
  })
  do.call(cbind, heads)
}

# The states after each layer and after the last norm, a list of matrices with a row a token.
oracle_esm2_states <- function(w, tokens, wrong = "") {
  eps <- if (wrong == "other epsilon") 1e-12 else 1e-5
  x <- w[["embeddings.word_embeddings.weight"]][tokens, , drop = FALSE]
  masked <- tokens == match("<mask>", esm2_tokens)
  if (wrong != "mask not zeroed") x[masked, ] <- 0
  share <- if (wrong == "scale of masks ignored") 0 else mean(masked)
  if (wrong != "no scale") x <- x * 0.88 / (1 - share)
  states <- list(x)
  frequencies <- w[["layer.0.attention.self.rotary_embeddings.inv_freq"]]
  n <- sum(grepl("attention.self.query.weight", names(w), fixed = TRUE))
  for (layer in seq_len(n) - 1) {
    front <- sprintf("layer.%d.", layer)
    norm <- function(x, name) oracle_norm(x, w, paste0(front, name), eps)
    before <- function(x, name) if (wrong == "post-norm") x else norm(x, name)
    after <- function(x, name) if (wrong == "post-norm") norm(x, name) else x
    a <- oracle_attention(before(x, "attention.LayerNorm"), w, front, frequencies, wrong)
    a <- oracle_linear(a, w, paste0(front, "attention.output.dense"), wrong != "no output bias")
    x <- after(x + a, "attention.LayerNorm")
    up <- oracle_linear(before(x, "LayerNorm"), w, paste0(front, "intermediate.dense"))
    down <- oracle_linear(oracle_gelu(up, wrong), w, paste0(front, "output.dense"))
    x <- after(x + down, "LayerNorm")
    states <- c(states, list(x))
  }
  last <- if (wrong == "no last norm") x else oracle_norm(x, w, "emb_layer_norm_after", eps)
  c(states, list(last))
}

oracle_residues <- function(w, text, wrong = "") {
  tokens <- oracle_tokens(text)
  if (wrong == "attention across sequences") tokens <- c(tokens, oracle_tokens("ACDWY"))
  states <- oracle_esm2_states(w, tokens, wrong)
  states[[length(states)]][seq_len(length(oracle_tokens(text)) - 2) + 1, , drop = FALSE]
}

oracle_log_probs <- function(w, text, wrong = "") {
  r <- oracle_gelu(oracle_linear(oracle_residues(w, text, wrong), w, "lm_head.dense"), wrong)
  r <- oracle_norm(r, w, "lm_head.layer_norm", 1e-5)
  out <- w[["lm_head.decoder.weight"]] %||% w[["embeddings.word_embeddings.weight"]]
  logits <- r %*% t(out)
  logits <- sweep(logits, 2, w[["lm_head.bias"]], "+")
  logits - log(rowSums(exp(logits)))
}

# ---- Models -------------------------------------------------------------------------------------

# Every parameter is random: biases of SD 0.3, gains around 1, attention logits of SD about 3. All
# are bfloat16 numbers, so that files of any type have the same ones.
random_esm2 <- function(heads = 2, head_width = 16, layers = 2, hidden = 40, small = FALSE) {
  width <- heads * head_width
  draw <- function(n, sd, mean = 0) as_bfloat(stats::rnorm(n, mean, sd))
  matrix_of <- function(rows, columns, sd) matrix(draw(rows * columns, sd), rows)
  w <- list("embeddings.word_embeddings.weight" =
              matrix_of(33, width, if (small) 0.01 else 1))
  add_linear <- function(name, out, into, sd = 1) {
    w[[paste0(name, ".weight")]] <<- matrix_of(out, into, sd / sqrt(into))
    w[[paste0(name, ".bias")]] <<- draw(out, 0.3)
  }
  add_norm <- function(name) {
    w[[paste0(name, ".weight")]] <<- draw(width, 0.3, 1)
    w[[paste0(name, ".bias")]] <<- draw(width, 0.3)
  }
  frequencies <- as_bfloat(10000^(-2 * (seq_len(head_width / 2) - 1) / head_width) * 1.1)
  for (layer in seq_len(layers) - 1) {
    front <- sprintf("layer.%d.", layer)
    add_norm(paste0(front, "attention.LayerNorm"))
    add_linear(paste0(front, "attention.self.query"), width, width, sqrt(3))
    add_linear(paste0(front, "attention.self.key"), width, width, sqrt(3))
    add_linear(paste0(front, "attention.self.value"), width, width)
    add_linear(paste0(front, "attention.output.dense"), width, width)
    add_norm(paste0(front, "LayerNorm"))
    add_linear(paste0(front, "intermediate.dense"), hidden, width)
    add_linear(paste0(front, "output.dense"), width, hidden)
    w[[paste0(front, "attention.self.rotary_embeddings.inv_freq")]] <- frequencies
  }
  add_norm("emb_layer_norm_after")
  add_linear("lm_head.dense", width, width)
  add_norm("lm_head.layer_norm")
  w[["lm_head.bias"]] <- draw(33, 0.3)
  w
}

# Numbers with 8 significant bits.
as_bfloat <- function(x) {
  unit <- 2^(floor(log2(abs(x))) - 7)
  ifelse(x == 0, 0, round(x / unit) * unit)
}

# Bytes of a safetensors file. `types`: F32, F16, BF16 or F64, recycled over the tensors.
safetensors_bytes <- function(tensors, types = "F32") {
  types <- rep_len(types, length(tensors))
  pieces <- Map(function(x, type) float_bytes(if (is.matrix(x)) t(x) else x, type), tensors, types)
  ends <- cumsum(lengths(pieces))
  header <- Map(function(x, type, from, to) {
    list(dtype = type, shape = as.list(dim(x) %||% length(x)), data_offsets = c(from, to))
  }, tensors, types, c(0, utils::head(ends, -1)), ends)
  text <- charToRaw(as.character(to_json(header, pretty = FALSE)))
  size <- c(writeBin(length(text), raw(), endian = "little"), raw(4))
  c(size, text, unlist(pieces, use.names = FALSE))
}

float_bytes <- function(x, type) {
  x <- as.vector(x)
  switch(type,
    F64 = writeBin(x, raw(), size = 8, endian = "little"),
    F32 = writeBin(x, raw(), size = 4, endian = "little"),
    BF16 = matrix(writeBin(x, raw(), size = 4, endian = "little"), 4)[3:4, ],
    F16 = writeBin(half_bits(x), raw(), size = 2, endian = "little")
  ) |> as.vector()
}

half_bits <- function(x) {
  exponent <- pmax(floor(log2(pmax(abs(x), 2^-30))), -14)
  steps <- abs(x) / 2^(exponent - 10) # 1024 to 2047, or below for subnormal numbers
  bits <- ifelse(steps >= 1024, (exponent + 15) * 1024 + steps - 1024, steps)
  as.integer(round(bits) + ifelse(x < 0, -32768, 0))
}

esm2_config <- function(w) {
  frequencies <- w[["layer.0.attention.self.rotary_embeddings.inv_freq"]]
  width <- ncol(w[["embeddings.word_embeddings.weight"]])
  list(
    model_type = "esm", position_embedding_type = "rotary", hidden_act = "gelu",
    hidden_size = width, num_hidden_layers = sum(grepl("query.weight", names(w))),
    num_attention_heads = width / (2 * length(frequencies)), vocab_size = 33,
    intermediate_size = nrow(w[["layer.0.intermediate.dense.weight"]]),
    layer_norm_eps = 1e-5, token_dropout = TRUE, emb_layer_norm_before = FALSE
  )
}

# A folder as Hugging Face has it.
write_esm2 <- function(w, folder = tempfile("esm2"), types = "F32", config = esm2_config(w)) {
  dir.create(folder, showWarnings = FALSE)
  named <- w
  is_body <- !startsWith(names(w), "lm_head")
  is_layer <- startsWith(names(w), "layer.") | startsWith(names(w), "emb_layer")
  names(named) <- paste0(ifelse(is_body, "esm.", ""), ifelse(is_layer, "encoder.", ""), names(w))
  writeBin(safetensors_bytes(named, types), file.path(folder, "model.safetensors"))
  writeLines(esm2_tokens, file.path(folder, "vocab.txt"))
  if (!is.null(config)) writeLines(to_json(config), file.path(folder, "config.json"))
  folder
}

random_proteins <- function(lengths, letters = esm2_tokens[5:24]) {
  vapply(lengths, function(n) paste(sample(letters, n, TRUE), collapse = ""), "")
}

# Largest difference, in units of the largest number of the reference.
relative_error <- function(x, reference) {
  attr(x, "unknown") <- NULL
  max(abs(unname(as.matrix(x)) - unname(as.matrix(reference)))) / max(abs(reference))
}
