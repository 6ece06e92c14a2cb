# BGEN of layout 2 for tests: a plain writer, and the calls that its probabilities make.

bgen_number <- function(n, width) as.raw(n %/% 256^(seq_len(width) - 1) %% 256)

bgen_text <- function(text, width) c(bgen_number(nchar(text, "bytes"), width), charToRaw(text))

# The bytes of a variant. `stored`: a list with the bytes of each sample, one for each copy, or NULL
# for a missing diploid one. `variant`: chromosome, ID, rsID, position, alleles.
bgen_variant <- function(stored, variant, phased = FALSE, zlib = FALSE) {
  ploidy <- ifelse(lengths(stored) == 0, 2, lengths(stored))
  missing <- lengths(stored) == 0
  stored[missing] <- list(c(0, 0))
  block <- c(
    bgen_number(length(stored), 4), bgen_number(length(variant$alleles), 2),
    bgen_number(min(ploidy), 1), bgen_number(max(ploidy), 1), as.raw(ploidy + 128 * missing),
    as.raw(c(phased, 8)), as.raw(unlist(stored))
  )
  if (zlib) {
    packed <- memCompress(block, "gzip")
    block <- c(bgen_number(length(packed) + 4, 4), bgen_number(length(block), 4), packed)
  } else {
    block <- c(bgen_number(length(block), 4), block)
  }
  c(
    bgen_text(variant$id, 2), bgen_text(variant$rsid %||% variant$id, 2),
    bgen_text(variant$chromosome, 2), bgen_number(variant$position, 4),
    bgen_number(length(variant$alleles), 2),
    unlist(lapply(variant$alleles, bgen_text, 4)), block
  )
}

# `variants`: the bytes of each. `ids`: of samples; NULL for a file without them.
bgen_bytes <- function(variants, n, ids = NULL, layout = 2, compression = 0) {
  block <- if (!is.null(ids)) unlist(lapply(ids, bgen_text, 2))
  if (!is.null(ids)) block <- c(bgen_number(8 + length(block), 4), bgen_number(n, 4), block)
  header <- c(
    bgen_number(20, 4), bgen_number(length(variants), 4), bgen_number(n, 4), charToRaw("bgen"),
    as.raw(c(compression + 4 * layout, 0, 0, if (is.null(ids)) 0 else 128))
  )
  c(bgen_number(length(header) + length(block), 4), header, block, unlist(variants))
}

# Certain probabilities of calls, which count the second allele. Returns the path.
bgen_of_calls <- function(calls, ids = paste0("i", seq_len(nrow(calls))), zlib = FALSE,
                          path = tempfile(fileext = ".bgen")) {
  table <- plain_variants(ncol(calls))
  variants <- lapply(seq_len(ncol(calls)), function(j) {
    call <- ifelse(is.na(calls[, j]), 3, calls[, j])
    stored <- list(c(255, 0), c(0, 255), c(0, 0), NULL)[call + 1]
    bgen_variant(stored, list(
      id = table[[2]][j], chromosome = as.character(table[[1]][j]), position = table[[4]][j],
      alleles = c(table[[6]][j], table[[5]][j])
    ), zlib = zlib)
  })
  writeBin(bgen_bytes(variants, nrow(calls), ids, compression = as.integer(zlib)), path)
  path
}

# Writes a .sample beside a BGEN. Returns its path.
sample_beside <- function(path, ids, families = ids, columns = NULL, types = NULL) {
  table <- sub("[.]bgen$", ".sample", path)
  writeLines(c(
    paste(c("ID_1 ID_2 missing", names(columns)), collapse = " "),
    paste(c("0 0 0", types), collapse = " "), do.call(paste, c(list(families, ids, 0), columns))
  ), table)
  table
}

open_bgen_file <- function(path, ...) open_genotypes(path, ..., hard_call_threshold = 0.1)
