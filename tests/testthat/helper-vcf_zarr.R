# VCF Zarr stores for tests: a plain writer, and bio2zarr.

# Writes arrays as list(name = list(values =, chunks =, ...)) with further members of a .zarray.
# `values`: an array of integers or texts, in R's order of dimensions. Returns the folder's path.
vcf_zarr <- function(arrays, path = tempfile(fileext = ".vcz"), consolidated = FALSE) {
  dir.create(path)
  writeLines('{"zarr_format": 2}', file.path(path, ".zgroup"))
  metadata <- lapply(names(arrays), function(name) {
    do.call(write_zarr_array, c(list(file.path(path, name)), arrays[[name]]))
  })
  names(metadata) <- sprintf("%s/.zarray", names(arrays))
  if (consolidated) {
    write_json(list(zarr_consolidated_format = 1, metadata = metadata),
               file.path(path, ".zmetadata"))
    unlink(file.path(path, names(arrays), ".zarray"))
  }
  path
}

write_json <- function(value, path) {
  writeLines(jsonlite::toJSON(value, auto_unbox = TRUE, null = "null"), path)
}

# `compressor`: "zlib" or NULL. `left_out`: chunks that are not written, by their names.
write_zarr_array <- function(folder, values, chunks, dtype, fill = NULL, separator = ".",
                             compressor = "zlib", packbits = FALSE, left_out = character(),
                             changes = list()) {
  dir.create(folder)
  shape <- dim(values) %||% length(values)
  values <- array(values, shape)
  filters <- if (dtype == "|O") "vlen-utf8" else if (packbits) "packbits"
  metadata <- list(
    zarr_format = 2, shape = as.list(shape), chunks = as.list(chunks), dtype = dtype,
    fill_value = fill, order = "C", dimension_separator = separator,
    filters = if (!is.null(filters)) list(list(id = filters)),
    compressor = if (!is.null(compressor)) list(id = compressor, level = 1)
  )
  metadata[names(changes)] <- changes
  write_json(metadata, file.path(folder, ".zarray"))
  grid <- as.matrix(expand.grid(lapply(ceiling(shape / chunks), seq_len)))
  for (row in seq_len(nrow(grid))) {
    index <- unname(grid[row, ]) - 1
    name <- paste(index, collapse = separator)
    if (name %in% left_out) next
    bytes <- zarr_chunk_bytes(zarr_chunk(values, index, chunks, dtype), dtype, packbits)
    file <- file.path(folder, name)
    dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
    writeBin(if (is.null(compressor)) bytes else memCompress(bytes, "gzip"), file)
  }
  metadata
}

# The values of a whole chunk in C's order; those beyond the edge are empty or 99.
zarr_chunk <- function(values, index, chunks, dtype) {
  chunk <- array(if (dtype == "|O") "" else 99L, chunks)
  at <- Map(function(i, size, n) i * size + seq_len(min(size, n - i * size)), index, chunks,
            dim(values))
  inside <- do.call(`[`, c(list(values), unname(at), list(drop = FALSE)))
  to <- lapply(dim(inside), seq_len)
  chunk <- do.call(`[<-`, c(list(chunk), to, list(value = inside)))
  as.vector(aperm(chunk))
}

zarr_chunk_bytes <- function(values, dtype, packbits) {
  if (dtype == "|O") {
    lengths <- writeBin(nchar(values, "bytes"), raw(), size = 4, endian = "little")
    texts <- Map(function(text, i) c(lengths[4 * i - 3:0], charToRaw(text)), values,
                 seq_along(values))
    return(c(writeBin(length(values), raw(), size = 4, endian = "little"), unlist(texts)))
  }
  if (packbits) {
    n <- length(values)
    bits <- matrix(c(values == 1, logical(-n %% 8)), 8)[8:1, , drop = FALSE]
    return(c(as.raw(-n %% 8), packBits(as.vector(bits))))
  }
  writeBin(as.integer(values), raw(), size = as.integer(substr(dtype, 3, 3)), endian = "little")
}

# The arrays of a store whose samples have these alleles: an array of sites, samples and copies,
# with -1 if missing and -2 after the end of a call. `alleles`: a list with those of each site.
vcf_zarr_arrays <- function(calls, alleles, chunks = c(3, 2)) {
  sites <- dim(calls)[1]
  most <- max(lengths(alleles))
  padded <- t(vapply(alleles, function(some) c(some, rep("", most))[seq_len(most)], rep("", most)))
  list(
    call_genotype = list(values = calls, chunks = c(chunks, dim(calls)[3]), dtype = "|i1"),
    sample_id = list(values = paste0("i", seq_len(dim(calls)[2])), chunks = 2, dtype = "|O"),
    contig_id = list(values = c("1", "X"), chunks = 2, dtype = "|O"),
    variant_allele = list(values = matrix(padded, sites), chunks = c(chunks[1], most),
                          dtype = "|O"),
    variant_contig = list(values = rep(0:1, c(sites - sites %/% 2, sites %/% 2)),
                          chunks = chunks[1], dtype = "|i1"),
    variant_position = list(values = 10L * seq_len(sites), chunks = chunks[1], dtype = "<i4"),
    variant_id = list(values = paste0("v", seq_len(sites)), chunks = chunks[1], dtype = "|O"),
    variant_id_mask = list(values = rep(0L, sites), chunks = chunks[1], dtype = "|b1")
  )
}

# Diploid alleles of a matrix of calls with a row for each sample
alleles_of_calls <- function(calls) {
  calls <- t(calls)
  first <- ifelse(is.na(calls), -1L, as.integer(calls == 2))
  second <- ifelse(is.na(calls), -1L, as.integer(calls > 0))
  array(c(first, second), c(dim(calls), 2))
}

# The calls of bed_fileset() in a store, with its variants
vcf_zarr_of_calls <- function(calls, table = plain_variants(ncol(calls))) {
  arrays <- vcf_zarr_arrays(alleles_of_calls(calls), Map(c, table[[6]], table[[5]]), c(7, 4))
  arrays$contig_id <- list(values = as.character(1:22), chunks = 22, dtype = "|O")
  arrays$variant_contig$values <- table[[1]] - 1L
  arrays$variant_position$values <- table[[4]]
  arrays$variant_id$values <- table[[2]]
  vcf_zarr(arrays)
}

# The Python of tsinfer's tests, with bio2zarr
bio2zarr_python <- function() {
  python <- Sys.getenv("ANCIFY_TSINFER_PYTHON", "python3")
  if (run_program(python, "-c", "import bio2zarr, cyvcf2, numcodecs")$status != 0) {
    lacking("Python's bio2zarr[vcf] (ANCIFY_TSINFER_PYTHON says in which Python)")
  }
  if (is.na(ancify_build_info()$blosc)) lacking("libblosc")
  python
}

succeeded <- function(result) {
  if (result$status != 0) stop(paste(utils::tail(result$err, 6), collapse = "\n"))
}

# The store that bio2zarr writes of a VCF, with chunks of so many variants and samples
vcf_zarr_of_vcf <- function(vcf, chunks = c(1000, 10000)) {
  python <- bio2zarr_python()
  indexed <- as_bgzip(vcf)
  succeeded(run_program("tabix", "-f", "-p", "vcf", indexed))
  path <- tempfile(fileext = ".vcz")
  succeeded(run_program(python, "-m", "bio2zarr", "vcf2zarr", "convert", "--no-progress", "-l",
                        chunks[1], "-w", chunks[2], indexed, path))
  path
}

# Compresses all chunks of a store anew. `codec`: JSON of numcodecs, or null
compress_again <- function(path, codec) {
  script <- tempfile(fileext = ".py")
  writeLines(c(
    "import json, pathlib, sys, numcodecs, numpy",
    "store, config = sys.argv[1], json.loads(sys.argv[2])",
    "codec = numcodecs.get_codec(config) if config else None",
    "pathlib.Path(store, '.zmetadata').unlink(missing_ok=True)",
    "for meta in pathlib.Path(store).glob('*/.zarray'):",
    "    array = json.loads(meta.read_text())",
    "    old = array['compressor'] and numcodecs.get_codec(array['compressor'])",
    "    for chunk in meta.parent.rglob('*'):",
    "        if chunk.is_dir() or chunk.name.startswith('.'): continue",
    "        raw = chunk.read_bytes()",
    "        raw = bytes(old.decode(raw)) if old else raw",
    "        kind = 'u1' if array['dtype'] == '|O' else array['dtype']",
    "        values = numpy.frombuffer(raw, kind)",
    "        chunk.write_bytes(codec.encode(values) if codec else raw)",
    "    array['compressor'] = codec.get_config() if codec else None",
    "    meta.write_text(json.dumps(array))"
  ), script)
  succeeded(run_program(bio2zarr_python(), script, path, codec))
}
