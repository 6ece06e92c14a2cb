# Genotypes for tests: plain readers and writers of BED and PGEN, random calls, and PLINK.

# `calls`: a matrix of 0, 1, 2 and NA with a row for each sample. Returns the path of the .bed.
bed_fileset <- function(calls, stem = tempfile("genotypes-"), samples = plain_samples(nrow(calls)),
                        variants = plain_variants(ncol(calls))) {
  writeBin(bed_bytes(calls), paste0(stem, ".bed"))
  write_columns(samples, paste0(stem, ".fam"))
  write_columns(variants, paste0(stem, ".bim"))
  paste0(stem, ".bed")
}

write_columns <- function(table, path) {
  utils::write.table(table, path, quote = FALSE, row.names = FALSE, col.names = FALSE)
}

plain_samples <- function(n) {
  data.frame(paste0("f", seq_len(n) %% 3), paste0("i", seq_len(n)), 0, 0, seq_len(n) %% 3, -9)
}

plain_variants <- function(n) {
  data.frame(
    1 + (22 * (seq_len(n) - 1)) %/% n, paste0("v", seq_len(n)), 0, 10 * seq_len(n), "A",
    rep_len(c("C", "G", "T"), n)
  )
}

bed_bytes <- function(calls) {
  codes <- matrix(c(3, 2, 0)[calls + 1], nrow(calls))
  codes[is.na(codes)] <- 1
  as.raw(c(0x6c, 0x1b, 0x01, packed_bytes(codes, 4)))
}

# `values`: a column for each record, which starts a byte. So many values are in a byte.
packed_bytes <- function(values, per_byte) {
  values <- as.matrix(values)
  padding <- matrix(0, -nrow(values) %% per_byte, ncol(values))
  groups <- matrix(rbind(values, padding), per_byte)
  colSums(groups * (256^(1 / per_byte))^(seq_len(per_byte) - 1))
}

# Values of `bits` bits, n of them.
unpacked <- function(bytes, bits, n) {
  base <- 2^bits
  places <- base^(seq_len(8 / bits) - 1)
  as.vector(outer(places, bytes, function(place, byte) byte %/% place %% base))[seq_len(n)]
}

# The calls in the bytes of a BED.
plain_bed <- function(path, n_samples) {
  bytes <- as.integer(file_bytes(path))
  stopifnot(identical(bytes[1:3], c(108L, 27L, 1L)))
  # A column for each value of a byte
  of_byte <- matrix(c(2L, NA, 1L, 0L)[unpacked(0:255, 2, 4 * 256) + 1], 4)
  calls <- matrix(of_byte[, bytes[-(1:3)] + 1], 4 * ceiling(n_samples / 4))
  calls[seq_len(n_samples), , drop = FALSE]
}

# ---- PGEN ---------------------------------------------------------------------------------------

# The calls in a PGEN of up to 65,536 variants of storage mode 10. The attribute `tracks` has how
# each variant is stored.
plain_pgen <- function(path) {
  bytes <- as.integer(file_bytes(path))
  number <- function(at, n) sum(bytes[at + seq_len(n) - 1] * 256^(seq_len(n) - 1))
  n_variants <- number(4, 4)
  n_samples <- number(8, 4)
  control <- bytes[12]
  stopifnot(identical(bytes[1:3], c(108L, 27L, 16L)), control %% 16 < 8, control %/% 16 %% 4 == 0)
  type_bits <- if (control %% 8 < 4) 4 else 8
  type_bytes <- ceiling(n_variants * type_bits / 8)
  tracks <- unpacked(bytes[20 + seq_len(type_bytes)], type_bits, n_variants)
  width <- 1 + control %% 4
  lengths <- vapply(seq_len(n_variants), function(j) {
    number(21 + type_bytes + (j - 1) * width, width)
  }, 0)
  ends <- number(13, 8) + cumsum(lengths)
  calls <- matrix(NA_integer_, n_samples, n_variants)
  for (j in seq_len(n_variants)) {
    record <- bytes[ends[j] - lengths[j] + seq_len(lengths[j])]
    calls[, j] <- plain_pgen_record(tracks[j], record, n_samples, if (j > 1) base)
    if (!tracks[j] %in% 2:3) base <- calls[, j]
  }
  calls[calls == 3] <- NA
  structure(calls, tracks = tracks)
}

# Calls, with 3 for a missing one.
plain_pgen_record <- function(track, record, n, base) {
  stopifnot(track %in% c(0:4, 6, 7))
  if (track == 0) {
    return(as.integer(unpacked(record, 2, n)))
  }
  if (track == 1) {
    bits <- seq_len(ceiling(n / 8)) + 1
    base <- record[1] %/% 4 + record[1] %% 4 * unpacked(record[bits], 1, n)
    record <- record[-c(1, bits)]
  } else if (track >= 4) {
    base <- rep(track %% 4, n)
  }
  calls <- plain_differences(record, base)
  as.integer(if (track == 3) c(2, 1, 0, 3)[calls + 1] else calls)
}

plain_differences <- function(record, calls) {
  take <- function(n) {
    taken <- record[seq_len(n)]
    record <<- record[-seq_len(n)]
    taken
  }
  varint <- function() {
    value <- 0
    place <- 1
    repeat {
      byte <- take(1)
      value <- value + byte %% 128 * place
      if (byte < 128) {
        return(value)
      }
      place <- 128 * place
    }
  }
  n <- varint()
  if (n == 0) {
    return(calls)
  }
  groups <- ceiling(n / 64)
  width <- which(length(calls) < 256^(1:4))[1]
  firsts <- colSums(matrix(take(groups * width), width) * 256^(seq_len(width) - 1))
  if (groups > 1) take(groups - 1)
  values <- unpacked(take(ceiling(n / 4)), 2, n)
  sample <- 0
  for (k in seq_len(n)) {
    sample <- if (k %% 64 == 1) firsts[(k + 63) / 64] else sample + varint()
    calls[sample + 1] <- values[k]
  }
  stopifnot(length(record) == 0)
  calls
}

# Writes a PGEN of storage mode 10 again, with its index beside it (`.pgen.pgi`). `extensions`:
# bytes that follow the index. Returns the path.
with_index_beside <- function(path, extensions = raw()) {
  bytes <- file_bytes(path)
  numbers <- as.integer(bytes)
  blocks <- ceiling(sum(numbers[4:7] * 256^(0:3)) / 65536)
  places <- 12 + outer(1:8, 8 * (seq_len(blocks) - 1), `+`)
  begins <- colSums(matrix(numbers[places], 8) * 256^(0:7))
  index <- bytes[seq_len(begins[1])]
  index[places] <- as.raw(vapply(begins - begins[1] + 3, function(n) n %/% 256^(0:7) %% 256,
                                 numeric(8)))
  mode <- length(extensions) > 0
  index[3] <- as.raw(0x30 + mode)
  writeBin(c(index, extensions), paste0(path, ".pgi"))
  writeBin(c(bytes[1:2], as.raw(0x20 + mode), bytes[-seq_len(begins[1])]), path)
  path
}

# A PGEN of storage mode 02, with a .psam and a .pvar. Returns its path.
pgen_fileset <- function(calls, stem = tempfile("genotypes-")) {
  number <- function(n) n %/% 256^(0:3) %% 256
  calls[is.na(calls)] <- 3
  header <- c(0x6c, 0x1b, 0x02, number(ncol(calls)), number(nrow(calls)), 0x40)
  writeBin(as.raw(c(header, packed_bytes(calls, 4))), paste0(stem, ".pgen"))
  samples <- plain_samples(nrow(calls))
  writeLines(c("#FID\tIID\tSEX", paste(samples[[1]], samples[[2]], samples[[5]], sep = "\t")),
             paste0(stem, ".psam"))
  variants <- plain_variants(ncol(calls))
  writeLines(c(
    "##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT",
    do.call(paste, c(variants[c(1, 4, 2, 6, 5)], sep = "\t"))
  ), paste0(stem, ".pvar"))
  paste0(stem, ".pgen")
}

# ---- VCF ----------------------------------------------------------------------------------------

vcf_file <- function(records, ids, path = tempfile(fileext = ".vcf")) {
  chromosomes <- unique(sub("\t.*", "", records))
  writeLines(c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=%s>", chromosomes),
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">",
    "##FILTER=<ID=PASS,Description=\"All passed\">",
    paste(c("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT", ids), collapse = "\t"), records
  ), path)
  path
}

# ---- Data ---------------------------------------------------------------------------------------

# A matrix without names
bare <- function(x) {
  attributes(x) <- list(dim = dim(x))
  x
}

random_calls <- function(n, m, missing = 0.05) {
  calls <- matrix(stats::rbinom(n * m, 2, rep(stats::runif(m), each = n)), n)
  calls[stats::runif(n * m) < missing] <- NA
  calls
}

# Variants that PLINK 2 stores by each of its tracks: rare ones, neighbours that are nearly alike or
# nearly exchanged, and those with two calls alone or nearly all missing.
calls_of_all_tracks <- function(n, m) {
  change <- function(calls, share = 0.02) {
    at <- which(stats::runif(n) < share)
    replace(calls, at, sample(c(0:2, NA), length(at), replace = TRUE))
  }
  base <- stats::rbinom(n, 2, 0.4)
  columns <- lapply(seq_len(m), function(j) {
    switch(j %% 9 + 1,
      base <<- change(stats::rbinom(n, 2, 0.4)),
      change(base), change(2 - base),
      change(rep(0, n), 0.01), change(rep(2, n), 0.01), change(rep(NA, n), 0.01),
      stats::rbinom(n, 1, 0.5), change(2 * stats::rbinom(n, 1, 0.5)),
      stats::rbinom(n, 2, 0.5)
    )
  })
  matrix(as.integer(unlist(columns)), n)
}

# Runs PLINK, which must succeed. Returns the stem of its results.
run_plink <- function(program, ...) {
  require_tool(program)
  out <- tempfile("plink-")
  result <- run_program(program, ..., "--out", out)
  if (result$status != 0) stop(paste(c(result$out, result$err), collapse = "\n"))
  out
}
